"""Event arrays: example 26 of actf.md 8, and its section 4."""

from __future__ import annotations

from typing import Any

import pytest

from .builders import (
    FILLER,
    T,
    attempt,
    document,
    fields,
    problems,
    read_one,
    written,
    written_step,
)

Json = Any

EVENTS: list[Json] = [
    {
        "type": "session",
        "id": "sess-1",
        "timestamp": "2026-06-17T07:26:27.170Z",
        "cwd": "/root",
    },
    {"type": "model_change", "timestamp": "2026-06-17T07:26:27.225Z", "modelId": "qwen"},
    {
        "type": "message",
        "timestamp": "2026-06-17T07:26:28Z",
        "message": {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image", "x": 1},
                {"type": "text", "text": "b"},
            ],
        },
    },
    {
        "type": "message",
        "timestamp": "2026-06-17T07:26:29Z",
        "message": {
            "role": "assistant",
            "model": "qwen2",
            "usage": {"input": 3},
            "content": [
                {"type": "thinking", "thinking": "plan"},
                {"type": "text", "text": "listing"},
                {
                    "type": "toolCall",
                    "id": "c1",
                    "name": "exec",
                    "arguments": {"command": "ls"},
                },
                {"type": "toolCall", "id": "", "name": "zz"},
            ],
        },
    },
    {
        "type": "message",
        "timestamp": "2026-06-17T07:26:30Z",
        "message": {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "exec",
            "content": [{"type": "text", "text": "ok"}],
            "details": {
                "status": "completed",
                "exitCode": 0,
                "durationMs": 12,
                "aggregated": "AG",
            },
        },
    },
    {
        "type": "message",
        "timestamp": "2026-06-17T07:26:31Z",
        "message": {"role": "toolResult", "toolCallId": "nope", "content": "lost"},
    },
    {"type": "message", "message": {"role": "toolResult", "content": "noid"}},
    {
        "type": "message",
        "timestamp": "2026-06-17T07:26:32Z",
        "message": {"role": "system", "content": "x"},
    },
    {"type": "message", "message": {"role": "assistant", "content": "plain"}},
]
WARNING = f"{T}: warning: an event array: read one way, what is not mapped is dropped [actf.events]"


def log(*events: Json) -> Json:
    """Return a document whose attempt has an event array."""
    return document(attempts={"1": attempt(trajectory=list(events))})


def message(role: str, content: Json = "", **members: Json) -> Json:
    """Return a message event."""
    return {"type": "message", "message": {"role": role, "content": content, **members}}


def calling(*ids: str, **members: Json) -> Json:
    """Return an answer that makes calls of these ids."""
    parts = [{"type": "toolCall", "id": one, "name": "f", **members} for one in ids]
    return message("assistant", parts)


def result(call_id: Json, content: Json = "r", **members: Json) -> Json:
    """Return a result of that call."""
    return message("toolResult", content, toolCallId=call_id, **members)


class TestExample:
    """The whole log of the example."""

    def test_turns(self) -> None:
        """Messages are turns, results are folded into the turn that called for them."""
        assert read_one(log(*EVENTS))["turns"] == [
            {"id": 1, "src": "user", "msg": "a\nb", "ts": "2026-06-17T07:26:28Z"},
            {
                "id": 2,
                "src": "agent",
                "kind": "autonomous",
                "msg": "listing",
                "reason": "plan",
                "model": "qwen2",
                "nllm": 1,
                "metrics": {"input": 3},
                "ts": "2026-06-17T07:26:29Z",
                "tool_calls": [
                    {
                        "tcid": "c1",
                        "fn": "exec",
                        "args": {"command": "ls"},
                        "kind": "function",
                        "result": "ok",
                        "duration_ms": 12,
                        "response": {"status": "completed", "exit_code": 0},
                    }
                ],
                "observation": {
                    "results": [
                        {
                            "content": "ok",
                            "tool_use_id": "c1",
                            "source_call_id": "c1",
                            "name": "exec",
                            "status": "completed",
                            "exit_code": 0,
                            "duration_ms": 12,
                            "aggregated_output": "AG",
                        }
                    ]
                },
            },
            {
                "id": 5,
                "src": "agent",
                "msg": "noid",
                "observation": {"results": [{"content": "noid"}]},
                "extra": {"openclaw_role": "toolResult", "toolCallId": None, "toolName": None},
            },
            {"id": 6, "src": "agent", "msg": "plain", "reason": "plain", "nllm": 1},
        ]

    def test_the_rest(self) -> None:
        """Session, model and times are those of the Storyline; nothing below the trajectory is a residual."""
        found = read_one(log(*EVENTS))

        assert found["origin"] == {"format": "actf", "schema_version": "ACTF_v1.0"}
        assert found["started_at"] == "2026-06-17T07:26:27.170Z"
        assert found["finished_at"] == "2026-06-17T07:26:32Z"
        assert found["agent"] == {"id": "actf-agent", "name": "ACTF Agent", "model": "qwen"}
        assert found["task"]["env"] == {"id": "sess-1", "state": {"cwd": "/root"}}
        assert problems(log(*EVENTS)) == [WARNING]
        assert fields(log(*EVENTS)) == {}

    def test_writing(self) -> None:
        """What is written is an ordinary trajectory."""
        inner = written(log(*EVENTS))["attempts"]["1"]["trajectory"]
        first, second, third, fourth = inner["steps"]

        assert [one["step_id"] for one in inner["steps"]] == [1, 2, 5, 6]
        assert (first["user_content"], first["assistant_content"]["content"]) == ("a\nb", "")
        assert second["tools"] == [
            {
                "id": "c1",
                "type": "function",
                "name": "exec",
                "input": {"command": "ls"},
                "aggregated_output": "ok",
                "status": "completed",
                "exit_code": 0,
            }
        ]
        assert third == written_step(
            step_id=5,
            content="noid",
            observation=[{"content": "noid"}],
            started_at=FILLER,
            finished_at=FILLER,
        )
        assert (fourth["started_at"], fourth["finished_at"]) == (FILLER, FILLER)


class TestEvents:
    """Events of each type, and what is no event."""

    def test_nothing(self) -> None:
        """An empty log has no turns, and no times."""
        found = read_one(log())

        assert found["turns"] == []
        assert {"started_at", "finished_at"}.isdisjoint(found)

    @pytest.mark.parametrize(
        "event",
        [
            5,
            None,
            [],
            {},
            {"type": ["message"]},
            {"type": "message", "message": 5},
            {"type": "message", "message": {"role": ["user"]}},
            {"type": "other", "message": {"role": "user", "content": "x"}},
        ],
    )
    def test_what_is_passed_over(self, event: Json) -> None:
        """What is no event of a known type takes no id."""
        turns = read_one(log(event, message("user", "u")))["turns"]

        assert [turn["id"] for turn in turns] == [1]

    def test_sessions(self) -> None:
        """The last session that says something is the environment, as a whole."""
        events = [
            {"type": "session", "id": "a", "cwd": "/"},
            {"type": "session", "id": "b"},
            {"type": "session", "id": "", "cwd": 5},
        ]

        assert read_one(log(*events))["task"]["env"] == {"id": "b"}
        assert "env" not in read_one(log(events[2]))["task"]

    def test_models(self) -> None:
        """The last change of the model decides, also one to nothing."""
        change = {"type": "model_change", "modelId": "m"}

        assert read_one(log(change))["agent"]["model"] == "m"
        assert "model" not in read_one(log(change, {"type": "model_change"}))["agent"]

    @pytest.mark.parametrize("role", ["user", "assistant"])
    def test_models_of_messages(self, role: str) -> None:
        """A message may name the model of its turn, by a text."""
        models: Json = [{"model": "m"}, {"model": 5}, {}]
        events = [
            {"type": "message", "message": {"role": role, "content": "x", **one}} for one in models
        ]

        assert [one.get("model") for one in read_one(log(*events))["turns"]] == ["m", None, None]

    @pytest.mark.parametrize(
        ("content", "text", "thought"),
        [
            ("s", "s", "s"),
            ("", "", None),
            (5, "", None),
            ([{"type": "text", "text": "a"}, {"type": "text", "text": 5}, "b"], "a", None),
            ([{"type": "thinking", "text": "t"}], "", "t"),
            ([{"type": "thinking", "thinking": None, "text": "t"}], "", None),
        ],
    )
    def test_texts(self, content: Json, text: str, thought: str | None) -> None:
        """Texts of the parts are joined; a string is the text, and the thought as well."""
        (turn,) = read_one(log(message("assistant", content)))["turns"]

        assert (turn["msg"], turn.get("reason")) == (text, thought)

    def test_times(self) -> None:
        """A time that is no Storyline time is dropped and reported once, wherever it would have stood."""
        events = [
            {**message("user"), "timestamp": "2026-06-17 07:26:28"},
            {**message("user"), "timestamp": 1781681188000},
        ]
        found = read_one(log(*events))

        assert ["ts" in turn for turn in found["turns"]] == [False, False]
        assert {"started_at", "finished_at"}.isdisjoint(found)
        assert problems(log(*events)) == [
            WARNING,
            (
                f"{T}/0/timestamp: warning: expected a date-time with an offset, found "
                '"2026-06-17 07:26:28"; --assume-timezone ZONE reads it [actf.time]'
            ),
            (
                f"{T}/1/timestamp: warning: expected a date-time with an offset, found "
                "1781681188000 [actf.time]"
            ),
        ]
        assert fields(log(*events)) == {}


class TestCalls:
    """Calls and results."""

    @pytest.mark.parametrize(
        ("part", "arguments"),
        [({}, {}), ({"arguments": None}, None), ({"arguments": "{}"}, "{}")],
    )
    def test_arguments(self, part: Json, arguments: Json) -> None:
        """Missing arguments are none; whatever is there is copied."""
        (turn,) = read_one(log(calling("c", **part)))["turns"]

        assert turn["tool_calls"] == [
            {"tcid": "c", "fn": "f", "args": arguments, "kind": "function"}
        ]

    def test_a_later_result_wins(self) -> None:
        """Of two results of a call both are shown, and the later one is the call's."""
        first = result("c", "1", details={"status": "s", "exitCode": 1, "durationMs": 5})
        (turn,) = read_one(log(calling("c"), first, result("c", "2")))["turns"]

        assert turn["tool_calls"] == [
            {"tcid": "c", "fn": "f", "args": {}, "kind": "function", "result": "2"}
        ]
        assert [one["content"] for one in turn["observation"]["results"]] == ["1", "2"]

    @pytest.mark.parametrize(
        ("details", "expected"),
        [
            ({"status": 5, "exitCode": "0", "durationMs": 1.5}, {}),
            ({"status": ""}, {"response": {"status": ""}}),
            ({"exitCode": 2}, {"response": {"exit_code": 2}}),
            ([], {}),
        ],
    )
    def test_details(self, details: Json, expected: Json) -> None:
        """Details count on the call if they have the right type."""
        (turn,) = read_one(log(calling("c"), result("c", details=details)))["turns"]

        (call,) = turn["tool_calls"]
        assert {key: call[key] for key in call if key in ("response", "duration_ms")} == expected

    def test_the_nearest_earlier_call(self) -> None:
        """A result answers the nearest turn before it; an id that repeats is renamed."""
        one, two = read_one(log(calling("c"), result("c", "1"), calling("c"), result("c", "2")))[
            "turns"
        ]

        assert [turn["tool_calls"][0]["tcid"] for turn in (one, two)] == ["c", "c#2"]
        assert [turn["tool_calls"][0]["result"] for turn in (one, two)] == ["1", "2"]
        (shown,) = two["observation"]["results"]
        assert (shown["tool_use_id"], shown["source_call_id"]) == ("c", "c#2")

    def test_no_later_call(self) -> None:
        """A result before its call answers none, and is dropped."""
        (turn,) = read_one(log(result("c"), calling("c")))["turns"]

        assert (turn["id"], "observation" in turn) == (2, False)

    def test_one_id_twice_in_a_turn(self) -> None:
        """Results are given to the calls of one id in turn."""
        (turn,) = read_one(log(calling("c", "c"), result("c", "1"), result("c", "2")))["turns"]

        assert [(call["tcid"], call["result"]) for call in turn["tool_calls"]] == [
            ("c", "1"),
            ("c#2", "2"),
        ]

    @pytest.mark.parametrize("call_id", [None, 5])
    def test_a_result_without_an_id(self, call_id: Json) -> None:
        """A result that names no call stays a turn, with what it said."""
        (turn,) = read_one(log(result(call_id, "r", toolName="f")))["turns"]

        assert turn["observation"] == {
            "results": [
                {"content": "r", "tool_use_id": call_id, "source_call_id": call_id, "name": "f"}
            ]
        }
        assert turn["extra"] == {
            "openclaw_role": "toolResult",
            "toolCallId": call_id,
            "toolName": "f",
        }
