"""A glance at a whole text shows what a scan shows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.glance import glance
from hub.grammar import MAX_STRING
from hub.scanner import MAX_ELEMENTS, MAX_LEVELS, MAX_MEMBERS, scan

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(), inner, max_size=6),
    max_leaves=60,
)


def nested(levels: int, value: object) -> object:
    """Return *value* in as many arrays."""
    for _ in range(levels):
        value = [value]
    return value


class TestGlance:
    @given(st.lists(VALUES) | st.dictionaries(st.text(), VALUES), st.sampled_from([None, 2]))
    def test_as_a_scan(self, value: object, indent: int | None) -> None:
        """Of any value a glance shows what a scan shows."""
        text = json.dumps(value, indent=indent).encode("utf-8", "surrogatepass")
        assert scan(text) == glance(text)

    @pytest.mark.parametrize(
        "value",
        [
            {"a": "x" * (MAX_STRING + 1), "x" * (MAX_STRING + 1): 1},
            {str(number): number for number in range(MAX_MEMBERS + 1)},
            list(range(MAX_ELEMENTS + 1)),
            {"a": list(range(MAX_ELEMENTS + 1))},
            {"a": nested(MAX_LEVELS - 2, [])},
            {"a": nested(MAX_LEVELS - 1, [])},
            {"a": nested(MAX_LEVELS, 1)},
            {"a": nested(MAX_LEVELS - 2, {"b": 1})},
            {"a": nested(MAX_LEVELS - 1, {"b": 1})},
            [],
            {},
            {"a": 2**63, "b": 0.1},
        ],
    )
    def test_limits(self, value: Any) -> None:
        """At the limits too, and both know whether something was cut."""
        text = json.dumps(value).encode()
        assert scan(text) == glance(text)

    @pytest.mark.parametrize(
        "text",
        [
            *(b"", b"{", b"{}\n{}", b"12", b'"a"', b"words", b"[" * 900),
            *(b"[%d]" % 2**70, b'["\\ud800"]'),
        ],
    )
    def test_what_a_scan_must_tell(self, text: bytes) -> None:
        """What is no single object or array, or is not read at once, is left to the scan."""
        assert None is glance(text)
