"""The fast question has the answer of the close look."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from hub_ale import completing
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
