"""The fast question has the answer of the close look."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import pytest
from hub_ale import completing, intact
from hypothesis import given, settings
from hypothesis import strategies as st

from hub import Document
from hub.testing.strategies import json_values

from .builders import document
from .strategies import trajectories
from .strict import whole

Json = Any

KEYS = st.sampled_from(["foo", "", "step_id", "extra", "text", "steps", "agent"])
ODD: st.SearchStrategy[Json] = st.one_of(
    json_values(3),
    st.sampled_from(
        [True, 1, 1.0, 1.5, 2**63, -(2**63), "", [], {}, None, [None], [5], [{}], {"type": "text"}]
    ),
)


@st.composite
def spoiled(draw: st.DrawFn) -> Json:
    """Return a document in which every key is there, and then one value anywhere is another one, gone, or new."""
    source = whole(draw(trajectories(depth=0)))
    todo: list[Json] = [source]
    holders: list[Json] = []
    while todo:
        value = todo.pop()
        holders.append(value)
        members = value.values() if isinstance(value, dict) else value
        todo.extend(member for member in members if isinstance(member, dict | list) and member)
    holder = draw(st.sampled_from(holders))
    if isinstance(holder, list):
        holder[draw(st.integers(0, len(holder) - 1))] = draw(ODD)
        return source
    key = draw(st.sampled_from(sorted(holder)))
    change = draw(st.sampled_from(["other", "other", "gone", "new"]))
    if change == "gone":
        del holder[key]
    else:
        holder[draw(KEYS) if change == "new" else key] = draw(ODD)
    return source


def closely(source: Json) -> Document[Any]:
    """Return the document as the close look alone sees it."""
    with ExitStack() as stack:
        for name in ("is_step", "is_call", "is_part", "is_result"):
            stack.enter_context(patch.object(completing, name, return_value=False))
        return document(source)


class TestAgreement:
    @settings(deadline=None)
    @given(spoiled())
    def test_same(self, source: Json) -> None:
        """Whatever is wrong with a document, it is found and set aside either way."""
        fast, close = document(source), closely(source)

        assert close.problems == fast.problems
        assert close.residuals == fast.residuals
        assert close.value == fast.value

    def test_no_copies(self) -> None:
        """A step that is whole is not copied."""
        source = whole(
            {
                "schema_version": "ALE-v1.0",
                "episode_id": "e",
                "agent": {"name": "a"},
                "task_path": "t",
                "variant_index": 0,
                "steps": [
                    {"step_id": 1, "source": "user", "timestamp": "2026-06-05T03:11:01.000000Z"}
                ],
            }
        )

        (node,) = document(source).value

        assert node.trajectory["steps"][0] is source["steps"][0]


IMAGE: Json = {
    "type": "path",
    "path": "a.png",
    "url": None,
    "data": None,
    "media_type": "image/png",
    "alt_text": None,
}
PART: Json = {"type": "image", "text": None, "image": IMAGE}
CALL: Json = {"id": "c", "name": "f", "arguments": {}}
RESULT: Json = {"tool_call_id": "c", "content": [PART], "is_error": False}
OBSERVATION: Json = {"results": [RESULT], "error": None}
METRICS: Json = {
    "input_tokens": 1,
    "output_tokens": 2,
    "cache_read_tokens": 3,
    "cache_creation_tokens": 4,
    "cost_usd": 0.5,
    "duration_ms": 5,
}
STEP: Json = {
    "step_id": 1,
    "timestamp": "2026-06-05T03:11:01.000000Z",
    "source": "agent",
    "message": "m",
    "reasoning": "r",
    "tool_calls": [CALL],
    "observation": OBSERVATION,
    "metrics": METRICS,
    "extra": {"a": 1},
}
WHOLE: dict[str, Json] = {
    "step": STEP,
    "call": CALL,
    "observation": OBSERVATION,
    "result": RESULT,
    "part": PART,
    "image": IMAGE,
    "metrics": METRICS,
}
"""An object of each kind with every key, as ale.md 1 has them."""

Values = tuple[Json, ...]

TEXT: tuple[Values, Values] = ("", "x"), (None, 5, True, [], {})
TEXT_OR_NULL: tuple[Values, Values] = ("", "x", None), (5, False, [], {})
INTEGER = (0, -(2**63), 2**63 - 1), (None, True, 1.0, "1", 2**63, -(2**63) - 1)
INTEGER_OR_NULL = (*INTEGER[0], None), INTEGER[1][1:]
TYPES: dict[str, dict[str, tuple[Values, Values]]] = {
    "step": {
        "step_id": INTEGER,
        "timestamp": TEXT,
        "source": TEXT,
        "message": ((None, "", [], [PART]), (5, {}, PART, [PART, 5], ["x"])),
        "reasoning": TEXT_OR_NULL,
        "tool_calls": (([], [CALL, CALL]), (None, {}, "x", [CALL, {}], [5])),
        "observation": ((None, OBSERVATION), ({}, [], "x", 5)),
        "metrics": ((None, METRICS), ({}, [], "x", 5)),
        "extra": (({}, {"a": None}), (None, [], "x")),
    },
    "call": {"id": TEXT, "name": TEXT, "arguments": (({}, {"a": None}), (None, [], "{}"))},
    "observation": {
        "results": (([], [RESULT, RESULT]), (None, {}, RESULT, [RESULT, {}], [None])),
        "error": TEXT_OR_NULL,
    },
    "result": {
        "tool_call_id": TEXT,
        "content": (([], [PART, PART]), (None, "x", {}, PART, [PART, {}], ["x"])),
        "is_error": ((True, False), (None, 0, 1, "x")),
    },
    "part": {
        "type": TEXT,
        "text": TEXT_OR_NULL,
        "image": ((None, IMAGE), ({}, [], "x", 5)),
    },
    "image": {
        "type": TEXT,
        "path": TEXT_OR_NULL,
        "url": TEXT_OR_NULL,
        "data": TEXT_OR_NULL,
        "media_type": TEXT,
        "alt_text": TEXT_OR_NULL,
    },
    "metrics": {
        "input_tokens": INTEGER_OR_NULL,
        "output_tokens": INTEGER_OR_NULL,
        "cache_read_tokens": INTEGER_OR_NULL,
        "cache_creation_tokens": INTEGER_OR_NULL,
        "cost_usd": ((0.0, -1.5, None), (0, True, "0.5")),
        "duration_ms": INTEGER_OR_NULL,
    },
}
"""For each member what may stand there, and what is looked at closely."""


def is_intact(kind: str, value: Json) -> bool:
    """Return the answer of the fast question for an object of *kind*."""
    answer = getattr(intact, f"is_{kind}")(value)
    assert type(answer) is bool
    return answer


@pytest.mark.parametrize("kind", WHOLE)
class TestFastQuestion:
    """Each kind of object by itself: what is whole is seen to be so, and nothing else."""

    def test_types(self, kind: str) -> None:
        """Each member has the type that the format gives it, whatever its value."""
        assert WHOLE[kind].keys() == TYPES[kind].keys()
        for key, (right, wrong) in TYPES[kind].items():
            for value in right:
                assert is_intact(kind, {**WHOLE[kind], key: value}), (key, value)
            for value in wrong:
                assert not is_intact(kind, {**WHOLE[kind], key: value}), (key, value)

    def test_keys(self, kind: str) -> None:
        """Each key is there, and no other one."""
        assert not is_intact(kind, {**WHOLE[kind], "more": None})
        for key in WHOLE[kind]:
            less = {name: value for name, value in WHOLE[kind].items() if name != key}
            assert not is_intact(kind, less), key
            assert not is_intact(kind, {**less, "more": None}), key

    @pytest.mark.parametrize("value", [None, [], "type", 5])
    def test_no_object(self, kind: str, value: Json) -> None:
        """Nothing but an object is one of them."""
        assert not is_intact(kind, value)
