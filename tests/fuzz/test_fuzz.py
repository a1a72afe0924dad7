"""A short run of the fuzzer, and what its long runs have found: `make fuzz` is the long one."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hub
from hub.json import dumps

from .mutations import FORMATS, check, inputs, mutants, torn

FOUND = [
    ("openai-messages", b'{"messages": [{"content": "x", "name": "no role"}]}'),
    ("storyline", b'{"a\\x\x01": 1'),
    ("storyline", b'{"a": {"\\ud8\0": 1, "\\"": 2}'),
]
"""Texts that broke something once, with the format that they were read as."""


class TestFuzz:
    @given(st.integers(0, 2**32), st.sampled_from(FORMATS))
    def test_mutants(self, seed: int, target: str) -> None:
        """A document with a few changes gives a result or an error of the hub, in a time that is in proportion."""
        source, data = next(mutants(Random(seed)))

        check(data, source, target)

    @given(st.binary(max_size=200), st.sampled_from(FORMATS), st.sampled_from(FORMATS))
    def test_bytes(self, data: bytes, format: str, target: str) -> None:
        """So do any bytes."""
        check(data, format, target)

    @given(st.integers(0, 2**32), st.sampled_from(FORMATS))
    def test_torn(self, seed: int, target: str) -> None:
        """So does the text of a document with a few bytes replaced."""
        chance = Random(seed)
        source, value = chance.choice(inputs())

        check(torn(dumps(value), chance), source, target)

    @pytest.mark.parametrize(("format", "data"), FOUND)
    @pytest.mark.parametrize("target", FORMATS)
    def test_found(self, format: str, data: bytes, target: str) -> None:
        """What broke something once does not any more."""
        if format not in hub.formats:
            pytest.skip("not installed")

        check(data, format, target)
