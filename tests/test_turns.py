"""The difference of two turns is that of their wire JSON."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.difference import Change, Known, compare
from hub.errors import Json
from hub.patch import Budget
from hub.storyline.model import Env, Prompt, Response, Storyline, ToolCall, Turn
from hub.testing.strategies import storylines
from hub.turns import compare_turns
from hub.wire import object_to_wire, turn_to_wire

TEXT = "0123456789abcdef" * 8
"""A string of 128 characters."""
FULL = Turn(
    turn_id=3,
    source="agent",
    message=None,
    kind="llm",
    timestamp="2026-01-01T00:00:00Z",
    reasoning_content="why",
    reasoning_effort="low",
    tool_calls=[
        ToolCall(
            tool_call_id="c",
            function_name="f",
            arguments=None,
            result=[],
            duration_ms=1,
            extra={"a": 1},
            kind="function",
            response=Response(),
        )
    ],
    observation={"results": []},
    metrics={"n": 1},
    model_name="m",
    llm_call_count=1,
    is_copied_context=False,
    latency_ms=2,
    ttft_ms=3,
    extra={},
    env=Env(state={"cwd": "/"}),
    prompt=Prompt(system=TEXT, user="u"),
    finished_at=4.5,
)
BARE = Turn(turn_id=3, source="agent", message=None)


def found(plain: Turn, intended: Turn) -> list[dict[str, Json]]:
    """Return the operations, after a check that the wire JSON of the turns gives the same ones."""
    operations = compare_turns(plain, intended, {})
    assert compare(turn_to_wire(plain), turn_to_wire(intended)) == operations
    return operations


class TestWire:
    """The JSON of a turn is what its fields say."""

    @pytest.mark.parametrize("turn", [BARE, FULL])
    def test_every_field(self, turn: Turn) -> None:
        """The members in the order of the fields, as they are made of any object of the model."""
        assert list(object_to_wire(turn).items()) == list(turn_to_wire(turn).items())
        assert len(attrs.fields(Turn)) == len(turn_to_wire(FULL))
        assert 8 == len(turn_to_wire(FULL)["tool_calls"][0])

    @given(storylines())
    def test_any_turn(self, storyline: Storyline) -> None:
        """Whatever a turn holds."""
        for turn in storyline.turns:
            assert list(object_to_wire(turn).items()) == list(turn_to_wire(turn).items())


class TestCompareTurns:
    """Operations as `compare` finds them on the JSON."""

    def test_all_added(self) -> None:
        """A member that only the intended turn has is added; the message, which is always there, is not."""
        operations = found(BARE, FULL)
        assert {"add"} == {one["op"] for one in operations}
        assert sorted(turn_to_wire(FULL).keys() - {"id", "src", "msg"}) == [
            one["path"][1:] for one in operations
        ]

    def test_all_removed(self) -> None:
        """A member that only the plain turn has is removed."""
        assert {"remove"} == {one["op"] for one in found(FULL, BARE)}

    def test_null_message(self) -> None:
        """A message of null is a value, not an absent one."""
        said = attrs.evolve(BARE, message="hi")
        assert [{"op": "replace", "path": "/msg", "value": "hi"}] == found(BARE, said)
        assert [{"op": "replace", "path": "/msg", "value": None}] == found(said, BARE)

    @pytest.mark.parametrize(
        ("changes", "operation"),
        [
            ({"arguments": {}}, {"op": "replace", "path": "/tool_calls/0/args", "value": {}}),
            ({"result": None}, {"op": "remove", "path": "/tool_calls/0/result"}),
            (
                {"duration_ms": 1.0},
                {"op": "replace", "path": "/tool_calls/0/duration_ms", "value": 1.0},
            ),
            (
                {"extra": {"a": True}},
                {"op": "replace", "path": "/tool_calls/0/extra", "value": {"a": True}},
            ),
            (
                {"response": Response(status="ok")},
                {"op": "replace", "path": "/tool_calls/0/response", "value": {"status": "ok"}},
            ),
            ({"response": None}, {"op": "remove", "path": "/tool_calls/0/response"}),
        ],
    )
    def test_a_call(self, changes: dict[str, Any], operation: dict[str, Json]) -> None:
        """A change in a call is one of its members."""
        assert FULL.tool_calls is not None
        changed = attrs.evolve(FULL, tool_calls=[attrs.evolve(FULL.tool_calls[0], **changes)])
        assert [operation] == found(FULL, changed)

    def test_as_many_changes_as_leaves(self) -> None:
        """A call of which nothing is kept is replaced by one operation."""
        plain = attrs.evolve(
            BARE, tool_calls=[ToolCall(tool_call_id="a", function_name="f", arguments=1)]
        )
        intended = attrs.evolve(
            BARE, tool_calls=[ToolCall(tool_call_id="b", function_name="g", arguments=2)]
        )
        value = {"tcid": "b", "fn": "g", "args": 2}
        assert [{"op": "replace", "path": "/tool_calls/0", "value": value}] == found(
            plain, intended
        )

    @given(st.data())
    def test_any_two_turns(self, data: st.DataObject) -> None:
        """Two turns of any two Storylines."""
        turns = [*data.draw(storylines()).turns, *data.draw(storylines()).turns, BARE, FULL]
        for plain in turns:
            for intended in turns[:6]:
                found(plain, intended)

    def test_equal_turns(self) -> None:
        """Equal values that are not one object make no operation."""
        other = attrs.evolve(
            FULL,
            prompt=Prompt(system=TEXT, user="u"),
            env=Env(state={"cwd": "/"}),
            metrics={"n": 1},
            observation={"results": []},
        )
        assert [] == found(FULL, other)


class TestKnownValues:
    """What was made for the texts of a value serves again where that value comes again."""

    def patches(self, homes: dict[str, str], budget: Budget) -> list[list[dict[str, Json]]]:
        """Return the patches of two turns that lack one and the same prompt, and of one that also lacks a metric."""
        known: Known = {}
        prompts: dict[int, Any] = {}
        prompt = Prompt(system=TEXT, user="u")
        turns = [
            attrs.evolve(BARE, prompt=prompt),
            attrs.evolve(BARE, prompt=prompt),
            attrs.evolve(BARE, prompt=prompt, metrics=1),
        ]
        changes = [
            Change(compare_turns(BARE, turn, prompts), turn_to_wire(BARE), dict, known)
            for turn in turns
        ]
        return [change.patch(homes, budget) for change in changes]

    def test_copied_from_the_table(self) -> None:
        """Each turn copies the text into the place that was left empty."""
        add = {"op": "add", "path": "/prompt", "value": {"system": "", "user": "u"}}
        copy = {"op": "copy", "from": "/$texts/0", "path": "/prompt/system"}
        metrics = {"op": "add", "path": "/metrics", "value": 1}
        assert [[add, copy], [add, copy], [metrics, add, copy]] == self.patches(
            {TEXT: "/$texts/0"}, Budget()
        )

    def test_written_out(self) -> None:
        """Without a home a text stands where it belongs."""
        add = {"op": "add", "path": "/prompt", "value": {"system": TEXT, "user": "u"}}
        first, second, _ = self.patches({}, Budget())
        assert [[add], [add]] == [first, second]

    def test_budget_is_spent(self) -> None:
        """When no more may be copied, the text is written out again."""
        first, second, third = self.patches({TEXT: "/$texts/0"}, Budget(len(TEXT)))
        assert "" == first[0]["value"]["system"]
        assert TEXT == second[0]["value"]["system"] == third[1]["value"]["system"]
