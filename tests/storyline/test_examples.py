"""The worked examples of storyline.md 10, by their numbers."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import pytest

from hub.codec import from_wire
from hub.errors import InvalidDocument, Json, UnsupportedVersion
from hub.registry import Formats
from hub.source import Source
from hub.storyline.conversation import effective_env, effective_prompt
from hub.storyline.identity import with_unique_ids
from hub.storyline.model import Env, Storyline
from hub.storyline.times import instant
from hub.wire import to_wire

B: dict[str, Json] = {"schema_version": "storyline/v1", "session": "s", "agent": {"id": "a"}}


def turn(**members: Json) -> dict[str, Json]:
    return {"id": 1, "src": "user", "msg": "m", **members}


def agent_turn(**members: Json) -> dict[str, Json]:
    return turn(src="agent", **members)


def call(**members: Json) -> dict[str, Json]:
    return {"tcid": "x", "fn": "f", "args": {}, **members}


REJECTED = {
    "1": ({"session": "s", "agent": {"id": "a"}, "turns": []}, "required", "/schema_version"),
    "2": ({**B, "schema_version": "storyline/v2", "turns": []}, "version", "/schema_version"),
    "3": ({**B, "turns": [], "session_id": "x"}, "unknown-key", "/session_id"),
    "4": ({**B, "turns": [turn(msg="x"), turn(msg="y")]}, "turn-id", "/turns/1/id"),
    "5": (
        {**B, "turns": [agent_turn(tool_calls=[call()]), agent_turn(id=2, tool_calls=[call()])]},
        "call-id-unique",
        "/turns/1/tool_calls/0/tcid",
    ),
    "6": (
        {**B, "turns": [agent_turn(tool_calls=[call(fn="")])]},
        "function",
        "/turns/0/tool_calls/0/fn",
    ),
    "7": ({**B, "turns": [turn(ts="2026/01/01")]}, "time", "/turns/0/ts"),
    "8": ({**B, "turns": [turn(ts=1.0000000001)]}, "time", "/turns/0/ts"),
    "9": ({**B, "turns": [turn(ts=10000000000)]}, "time", "/turns/0/ts"),
    "11a": ({**B, "turns": [], "task": {}}, "task-empty", "/task"),
    "11b": ({**B, "turns": [], "task": {"result": {}}}, "task-empty", "/task"),
    "11c": ({**B, "turns": [], "task": {"env": {"state": {}}}}, "task-empty", "/task"),
    "12": ({**B, "turns": [], "prompt": {"system": "", "user": ""}}, "prompt", "/prompt"),
    "13": ({**B, "turns": [agent_turn(prompt={"system": ""})]}, "prompt", "/turns/0/prompt"),
    "14": (
        {**B, "turns": [agent_turn(copied=True, prompt={"system": "x"})]},
        "copied-prompt",
        "/turns/0/prompt",
    ),
    "15": (
        {**B, "turns": [agent_turn(tool_calls=[call(response={})])]},
        "response",
        "/turns/0/tool_calls/0/response",
    ),
    "16": (
        {
            **B,
            "turns": [],
            "unknown_fields": {
                "sources": {"atif": {"source_document_id": "d", "fields": {"/a": 1}}}
            },
        },
        "counts",
        "/unknown_key_counts",
    ),
    "25": ({**B, "turns": [turn(id=1.0)]}, "type", "/turns/0/id"),
}

ACCEPTED: dict[str, tuple[Json, Json]] = {
    "10": ({**B, "turns": [turn(ts=None)]}, {**B, "turns": [turn()]}),
    "17": ({**B, "turns": [turn(ts=1785578400.25)]}, {**B, "turns": [turn(ts=1785578400.25)]}),
    "18": (
        {
            **B,
            "turns": [agent_turn(tool_calls=[])],
            "extra": {},
            "notes": "",
            "unknown_fields": {"sources": {}},
        },
        {**B, "turns": [agent_turn(tool_calls=[])], "extra": {}, "notes": ""},
    ),
    "19": (
        {
            **B,
            "turns": [
                agent_turn(msg=None, tool_calls=[call(args=None, result=None, extra=None)]),
            ],
            "notes": None,
            "task": None,
        },
        {**B, "turns": [agent_turn(msg=None, tool_calls=[call(args=None)])]},
    ),
    "20": (
        {
            **B,
            "turns": [
                agent_turn(msg="a", prompt={"system": "", "user": ""}),
                agent_turn(id=2, msg="b"),
                agent_turn(id=3, msg="c", prompt={"user": "U2", "system": ""}),
            ],
            "prompt": {"system": "S", "user": ""},
        },
        {
            **B,
            "turns": [
                agent_turn(msg="a", prompt={"system": "", "user": ""}),
                agent_turn(id=2, msg="b"),
                agent_turn(id=3, msg="c", prompt={"user": "U2"}),
            ],
            "prompt": {"system": "S"},
        },
    ),
    "23": (
        {**B, "turns": [], "task": {"result": {"correct": True, "foo": "bar", "score": None}}},
        {**B, "turns": [], "task": {"result": {"correct": True, "foo": "bar"}}},
    ),
}


@pytest.mark.parametrize("number", REJECTED)
def test_rejected(number: str) -> None:
    """An example that is refused breaks exactly the rule that the specification names."""
    wire, rule, pointer = REJECTED[number]

    with pytest.raises(InvalidDocument) as caught:
        from_wire(wire)

    assert [(f"storyline.{rule}", pointer)] == [
        (problem.rule, problem.pointer) for problem in caught.value.problems
    ]
    assert ("2" == number) is isinstance(caught.value, UnsupportedVersion)


@pytest.mark.parametrize("number", ACCEPTED)
def test_accepted(number: str) -> None:
    """An example that is accepted is written as the specification says."""
    wire, written = ACCEPTED[number]

    assert written == to_wire(from_wire(wire))


class TestReadings:
    def test_instant(self) -> None:
        """17: a number of seconds is an instant, its fraction as it is spelled."""
        (one,) = from_wire(ACCEPTED["17"][0]).turns

        assert 1785578400250000000 == instant(one.timestamp)

    def test_effective_prompts(self) -> None:
        """20: a turn's prompt replaces the document's whole; earlier turns are not asked."""
        storyline = from_wire(ACCEPTED["20"][0])

        assert [("", ""), ("S", ""), ("", "U2")] == [
            effective_prompt(storyline, one) for one in storyline.turns
        ]

    def test_effective_environment(self) -> None:
        """21: the environment of a turn is laid over that of the task, shallowly."""
        storyline = from_wire(
            {
                **B,
                "task": {"env": {"name": "e", "state": {"a": 1, "b": 2}}},
                "turns": [agent_turn(env={"id": "i", "state": {"b": 3}})],
            }
        )

        assert Env(name="e", env_id="i", state={"a": 1, "b": 3}) == effective_env(
            storyline, storyline.turns[0]
        )

    def test_empty_array(self) -> None:
        """22: an empty array holds no document."""
        with pytest.raises(InvalidDocument) as caught:
            list(Formats([])["storyline"].parse(Source(b"[]")))

        assert ["input.no-documents"] == [problem.rule for problem in caught.value.problems]

    def test_store(self) -> None:
        """24: the second story of a name takes the next free one."""

        def stories() -> Iterator[Storyline]:
            for session in ("a", "b", "a"):
                yield attrs.evolve(from_wire({**B, "turns": []}), session_id=session)

        renamed = list(with_unique_ids(stories()))

        assert ["a", "b", "a#1"] == [storyline.session_id for storyline, _ in renamed]
        assert [None, None, "storyline.document-id"] == [
            problem and problem.rule for _, problem in renamed
        ]
