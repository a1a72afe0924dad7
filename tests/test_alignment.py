"""What belongs together: Storylines, turns; and which turns are the same."""

from __future__ import annotations

import time

import attrs
import pytest

from hub.alignment import MAX_BLOCK, Matching, align, is_same, match
from hub.errors import Json
from hub.storyline.model import Agent, Env, Prompt, Response, Storyline, ToolCall, Turn


def storyline(session: str = "s", **members: Json) -> Storyline:
    return Storyline(session_id=session, agent=Agent(agent_id="a"), turns=[], **members)


def turn(message: Json, *calls: str) -> Turn:
    made = [ToolCall(tool_call_id=call, function_name="f", arguments={}) for call in calls]
    return Turn(turn_id=1, source="agent", message=message, tool_calls=made or None)


def turns(*messages: Json) -> list[Turn]:
    return [turn(message) for message in messages]


class TestMatch:
    def test_document_ids(self) -> None:
        """Storylines with one document id, unique on both sides, are pairs."""
        first = [storyline("a"), storyline("x", trajectory_id="b")]
        second = [storyline("b"), storyline("a")]

        assert Matching([(0, 1), (1, 0)], [], []) == match(first, second)

    def test_attempts(self) -> None:
        """Of the rest those with one run and attempt are, where both are set."""
        first = [storyline("1", run_id="r", attempt_id=key) for key in "ab"]
        second = [storyline("2", run_id="r", attempt_id=key) for key in "ba"]

        assert Matching([(0, 1), (1, 0)], [], []) == match(first, second)

    def test_incomplete_attempts(self) -> None:
        """A run alone says nothing."""
        first = [storyline("1", run_id="r"), storyline("2", run_id="q")]
        second = [storyline("3", run_id="q"), storyline("4", run_id="r")]

        assert Matching([(0, 0), (1, 1)], [], []) == match(first, second)

    def test_ids_that_are_not_unique(self) -> None:
        """A key that one side has twice does not count; the rest goes in order."""
        first = [storyline("a"), storyline("a"), storyline("b")]
        second = [storyline("b"), storyline("a"), storyline("c")]

        assert Matching([(0, 1), (1, 2), (2, 0)], [], []) == match(first, second)

    def test_without_a_partner(self) -> None:
        """What one side has more of is left over."""
        assert Matching([(1, 0)], [0], []) == match(
            [storyline("x"), storyline("a")], [storyline("a")]
        )
        assert Matching([(0, 0)], [], [1]) == match(
            [storyline("a")], [storyline("b"), storyline("c")]
        )
        assert Matching([], [], []) == match([], [])


class TestAlign:
    def test_equal(self) -> None:
        """Equal turns are pairs."""
        assert [(0, 0), (1, 1)] == align(turns("a", "b"), turns("a", "b"))

    def test_head_and_tail(self) -> None:
        """Common turns at both ends are pairs; what is between them is paired in order."""
        assert [(0, 0), (1, 1), (2, 2), (3, 3)] == align(
            turns("a", "b", "c", "z"), turns("a", "x", "y", "z")
        )

    def test_added_and_removed(self) -> None:
        """A turn that only one side has is without a partner."""
        assert [(0, 0), (None, 1), (1, 2)] == align(turns("a", "z"), turns("a", "b", "z"))
        assert [(0, 0), (1, None), (2, 1)] == align(turns("a", "b", "z"), turns("a", "z"))
        assert [(None, 0)] == align([], turns("a"))
        assert [] == align([], [])

    def test_blocks(self) -> None:
        """Between the ends, blocks are those of the difference of the keys."""
        assert [(0, None), (1, 0), (2, 1), (None, 2)] == align(
            turns("a", "b", "c"), turns("b", "x", "d")
        )

    def test_longer_block(self) -> None:
        """Of a block, as many turns as both sides have are pairs."""
        assert [(0, 0), (1, 1), (2, None), (3, None), (4, 2)] == align(
            turns("a", "b", "c", "d", "e"), turns("x", "y", "e")
        )

    def test_calls(self) -> None:
        """Call ids are part of the key."""
        assert [(None, 0), (0, 1)] == align([turn("", "c")], [turn("", "d"), turn("", "c")])

    def test_messages_that_are_no_text(self) -> None:
        """A message that is no text is compared by its canonical JSON."""
        assert [(None, 0), (0, 1)] == align(
            turns({"a": 1, "b": 2}), turns({"a": 2}, {"b": 2, "a": 1})
        )
        assert [(None, 0), (0, 1)] == align(turns('{"a":1}'), turns("x", {"a": 1}))

    def test_too_many(self) -> None:
        """What would take too long is one block."""
        size = int(MAX_BLOCK**0.5) + 1
        first = turns(*map(str, range(size + 1)))
        second = turns(*(str(number + 1) for number in range(size)), "end")

        assert [(index, index) for index in range(size + 1)] == align(first, second)


FULL = Turn(
    turn_id=1,
    source="agent",
    message=["m"],
    kind="k",
    timestamp=1,
    reasoning_content="r",
    reasoning_effort=1,
    tool_calls=[
        ToolCall(
            tool_call_id="c",
            function_name="f",
            arguments={"a": 1},
            result=1,
            duration_ms=1,
            extra={"a": 1},
            kind="k",
            response=Response(status="ok", exit_code=1),
        )
    ],
    observation={"a": 1},
    metrics={"a": 1},
    model_name="m",
    llm_call_count=1,
    is_copied_context=False,
    latency_ms=1,
    ttft_ms=1,
    extra={"a": 1},
    env=Env(name="e", state={"a": 1}),
    prompt=Prompt(system="s", user="u"),
    finished_at=1,
)
OTHER = {int: 2, str: "other", bool: True, list: [], dict: {"a": 1.0}}


def changed(turn: Turn, name: str, value: Json) -> Turn:
    """Return *turn* with another value of one field."""
    new: Turn = attrs.evolve(turn, **{name: value})
    return new


def other(value: Json) -> Json:
    """Return another value of the same type."""
    if attrs.has(type(value)):
        field = attrs.fields(type(value))[0]
        return attrs.evolve(value, **{field.name: "other"})
    return OTHER[type(value)]


class TestIsSame:
    def test_copy(self) -> None:
        """A copy is the same."""
        calls = [attrs.evolve(call) for call in FULL.tool_calls or ()]
        copied = attrs.evolve(FULL, tool_calls=calls, env=Env(name="e", state={"a": 1}))

        assert is_same(FULL, copied)
        assert is_same(turn("m"), turn("m"))

    @pytest.mark.parametrize("name", [field.name for field in attrs.fields(Turn)])
    def test_every_field_of_a_turn(self, name: str) -> None:
        """Every field counts."""
        value = getattr(FULL, name)

        assert not is_same(FULL, changed(FULL, name, other(value)))
        if attrs.fields_dict(Turn)[name].default is None:
            assert not is_same(FULL, changed(FULL, name, None))
            assert not is_same(changed(FULL, name, None), FULL)

    @pytest.mark.parametrize("name", [field.name for field in attrs.fields(ToolCall)])
    def test_every_field_of_a_call(self, name: str) -> None:
        """So does every field of a call."""
        assert FULL.tool_calls is not None
        (call,) = FULL.tool_calls
        calls: Json = [attrs.evolve(call, **{name: other(getattr(call, name))})]

        assert not is_same(FULL, attrs.evolve(FULL, tool_calls=calls))
        assert not is_same(FULL, attrs.evolve(FULL, tool_calls=[call, call]))

    @pytest.mark.parametrize("name", ["timestamp", "finished_at", "reasoning_effort", "metrics"])
    def test_integer_and_float(self, name: str) -> None:
        """The type of a number counts."""
        assert is_same(changed(turn("m"), name, 1), changed(turn("m"), name, 1))
        assert not is_same(changed(turn("m"), name, 1), changed(turn("m"), name, 1.0))

    def test_state_of_an_environment(self) -> None:
        """So it does in the state of an environment."""
        one = attrs.evolve(FULL, env=Env(state={"a": 1}))

        assert is_same(one, attrs.evolve(one, env=Env(state={"a": 1})))
        assert not is_same(one, attrs.evolve(one, env=Env(state={"a": 1.0})))


class TestWork:
    def test_same_messages_between_others(self) -> None:
        """A few messages that come again and again, between others that differ, do not take the third power of time."""
        sides = [
            turns(*(text for number in range(900) for text in ("again", f"{side}{number}")))
            for side in "ab"
        ]
        start = time.process_time()

        pairs = align(*sides)

        assert [(index, index) for index in range(1800)] == pairs
        assert time.process_time() - start < 5
