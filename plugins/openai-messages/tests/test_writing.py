"""Writing: what each option does, what is put together, and what becomes of an edited Storyline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

import hub
from hub import Source, Storyline, WriteOptions, add_residuals
from hub.conversion import write_documents
from hub.testing import to_wire

from . import strict
from .builders import (
    a,
    call,
    fields,
    lines,
    problems,
    read,
    read_one,
    result,
    row,
    rows_of,
    storyline,
    tc,
    tool,
    turns,
    u,
    write,
    written,
)

Json = Any

FORMAT = hub.formats["openai-messages"]
CHAT = {"messages": [u("hi"), a("yo")]}


def sealed(one: Storyline, **settings: Any) -> Json:
    """Return the document of *one*, with what it carries."""
    (found,) = write_documents(FORMAT, [one], WriteOptions(**settings))
    return found.document


def agent(msg: Json = "", **members: Json) -> Json:
    """Return an agent's turn of another format."""
    return {"id": 1, "src": "agent", "msg": msg, **members}


def chat(*turns: Json, storyline_members: Json = None, **options: str) -> Json:
    """Return the messages that turns of another format are shown as."""
    numbered = [{**turn, "id": number} for number, turn in enumerate(turns, start=1)]
    one = storyline(*numbered, **(storyline_members or {}))
    (document,) = write([one], None, variant="chat", **options)
    assert strict.errors(document) == [] or options
    return document["messages"]


class TestVariants:
    def test_auto(self) -> None:
        """What was read from chats is written as chats, anything else as rows."""
        chats, foreign = read(CHAT), [storyline(agent("x"))]
        assert write(chats) == [CHAT]
        assert [list(one) for one in write([*chats, *foreign])] == [["session_steps"]]

    def test_rows_of_a_chat(self) -> None:
        """A chat can be written as rows, with its residuals in the envelope."""
        (one,) = read({**CHAT, "seed": 1})
        options = WriteOptions(options={"variant": "rows"})
        (document,) = write([one], options)
        assert document["session_steps"][0]["response"] == a("yo")
        assert list(options.unplaced_residuals.values()) == [{"/seed": 1}]

    def test_chat_of_rows(self) -> None:
        """Rows can be written as a chat."""
        found = read([row(messages=[{"role": "system", "content": "s"}, u("q")], response=a("x"))])
        assert write(found, None, variant="chat") == [
            {"messages": [{"role": "system", "content": "s"}, u("q"), a("x")]}
        ]

    @pytest.mark.parametrize(
        ("value", "options", "container"),
        [
            ([CHAT], {}, "array"),
            (CHAT, {}, None),
            (CHAT, {"variant": "chat-jsonl"}, "lines"),
            ([row(response=a("x"))], {}, None),
        ],
    )
    def test_containers(self, value: Json, options: dict[str, str], container: Any) -> None:
        """A writer says which container it prefers."""
        settings = WriteOptions(options=options)
        write(read(value), settings)
        assert settings.container == container

    def test_lines(self) -> None:
        """Chats from lines are lines again."""
        settings = WriteOptions()
        assert write(read(CHAT, CHAT), settings) == [CHAT, CHAT]
        assert settings.container == "lines"

    def test_bare_array(self) -> None:
        """An array of messages is one again, but not in lines, and not beside others."""
        messages = CHAT["messages"]
        assert write(read(messages)) == [messages]
        assert write(read(messages), WriteOptions(container="lines")) == [CHAT]
        assert write(read(messages) * 2) == [CHAT, CHAT]

    def test_rows_in_lines(self) -> None:
        """In lines each row is one, and members beside the rows have no place."""
        (one,) = read({"session_steps": [row(response=a("x"))], "v": 1})
        settings = WriteOptions(container="lines")
        assert write([one], settings) == [[{**row(response=a("x")), "agent_id": "openai-import"}]]
        assert list(settings.unplaced_residuals.values()) == [{"/v": 1}]


class TestUnknownMembers:
    @pytest.mark.parametrize("key", ["", "/", "~", "x"])
    def test_of_a_call(self, key: str) -> None:
        """A member of a call comes back whatever its name is, and the call with it."""
        source = {"messages": [u("q"), a(None, tool_calls=[{**tc("k"), key: None}])]}
        assert write(read(source)) == [source]

    @pytest.mark.parametrize("key", ["", "/", "~", "a~1b", "x"])
    def test_of_a_message(self, key: str) -> None:
        """So does one of a message, and of a response."""
        message = {**u("q"), key: 1}
        chat = {"messages": [message, {**a("x"), key: 2}]}
        rows = [row(messages=[message], response={**a("x"), key: 2}, agent_id="openai-import")]

        assert write(read(chat)) == [chat]
        assert write(read(rows)) == [{"session_steps": rows}]

    F: ClassVar = {"name": "f", "arguments": "{}"}

    @pytest.mark.parametrize(
        ("call", "left"),
        [
            ({"id": "k", "type": "function", "function": F}, {}),
            ({"id": "k", "type": "function", "function": {"name": "f"}}, {}),
            ({"id": "k", "type": "function", "function": F | {"x": 1}}, {"/function/x": 1}),
            ({"id": "k", "type": "function", "function": F, "x": 1}, {"/x": 1}),
            ({"id": "k", "type": "x", "function": F}, {"/type": "x"}),
            ({"id": "call-x", "type": "function", "function": F}, {}),
            ({"id": "call-3-0", "type": "function", "function": F}, {}),
            ({"id": "k", "function": F}, None),
            ({"id": "k", "x": 1, "function": F}, None),
            ({"type": "function", "function": F}, {}),
            ({"id": "", "type": "function", "function": F}, {"/id": ""}),
            ({"id": "call-2-0", "type": "function", "function": F}, {"/id": "call-2-0"}),
            ({"id": "k", "type": "function", "function": F | {"arguments": {}}}, None),
            (
                {"id": "k", "type": "function", "function": F | {"arguments": None}},
                {"/function/arguments": None},
            ),
            ({"id": "k", "type": "function", "function": F | {"arguments": "no JSON"}}, {}),
            (
                {"id": "k", "type": "function", "function": F | {"arguments": '"x"'}},
                {"/function/arguments": '"x"'},
            ),
            ({"id": "k", "type": "custom", "custom": {"name": "f", "input": "x"}}, {}),
            ({"id": "k", "type": "custom", "custom": {"name": "f", "input": "x", "y": 1}}, None),
            ({"id": "k", "type": "custom", "custom": {"name": "f"}}, None),
        ],
    )
    def test_calls(self, call: Json, left: Json) -> None:
        """A call of a chat comes back as it was, by what is *left* of it, or else by all messages."""
        for calls in ([call], [call, tc("l")]):
            source = {"messages": [u("q"), a("x", tool_calls=calls)]}
            made = turns(source)[1]["tool_calls"]

            assert [one["fn"] for one in made] == ["f"] * len(calls)
            assert fields(source) == (
                {"/messages": source["messages"]}
                if left is None
                else {f"/messages/1/tool_calls/0{at}": value for at, value in left.items()}
            )
            settings = WriteOptions()
            assert write(read(source), settings) == [source]
            assert settings.unplaced_residuals == {}
            assert settings.problems == []

    @pytest.mark.parametrize(
        ("element", "left"),
        [
            (5, {"": 5}),
            (None, {"": None}),
            ("x", {"": "x"}),
            ({"id": "n"}, {"/id": "n"}),
            ({"id": "n", "function": {}}, {"/id": "n", "/function": {}}),
            ({"function": {"name": ""}, "a/b": 1}, {"/function/name": "", "/a~1b": 1}),
            ({"function": {"arguments": "{}"}, "id": 5}, {"/function/arguments": "{}", "/id": 5}),
            ({"type": "custom", "id": "n"}, {"/type": "custom", "/id": "n"}),
            ({"custom": {}}, {"/custom": {}}),
        ],
    )
    @pytest.mark.parametrize("position", [0, 1, 2])
    def test_no_calls(self, position: int, element: Json, left: Json) -> None:
        """What makes no call between others comes back in its place, member by member."""
        listed: list[Json] = [tc("k"), tc("l", '{"y": 1}')]
        listed.insert(position, element)
        source = {"messages": [u("q"), a("x", tool_calls=listed)]}
        at = "/messages/1/tool_calls"
        spelled = {f"{at}/{1 if position == 2 else 2}/function/arguments": '{"y": 1}'}

        assert [one["tcid"] for one in turns(source)[1]["tool_calls"]] == ["k", "l"]
        assert fields(source) == {
            **spelled,
            **{f"{at}/{position}{key}": value for key, value in left.items()},
        }
        assert write(read(source)) == [source]

    @pytest.mark.parametrize(
        ("element", "left"),
        [
            (5, {"": 5}),
            ({"id": "n"}, {"/id": "n"}),
            ({"id": "n", "function": {"name": ""}}, {"/id": "n", "/function/name": ""}),
            ({"id": "", "function": {"name": "g"}}, {"/id": "", "/function/name": "g"}),
            (
                {"id": "n", "type": "custom", "custom": {"name": "g", "input": "x"}},
                {"/id": "n", "/type": "custom", "/custom": {"name": "g", "input": "x"}},
            ),
            ({"id": "n", "function": F, "x": 1}, {"/x": 1}),
            ({"id": "n", "function": F | {"x": 1}}, {"/function/x": 1}),
        ],
    )
    def test_of_a_response(self, element: Json, left: Json) -> None:
        """So do those of a response: openai-messages.md A4.1 and A7."""
        listed: Json = [tc("k"), element, tc("l")]
        value = [row(response=a("x", tool_calls=listed), agent_id="openai-import")]
        is_call = set(left) <= {"/x", "/function/x"}
        at = "/session_steps/0/response/tool_calls/1"

        assert [one["tcid"] for one in turns(value)[1]["tool_calls"]] == (
            ["k", "n", "l"] if is_call else ["k", "l"]
        )
        assert fields(value) == {f"{at}{key}": one for key, one in left.items()}
        (again,) = rows_of(value)
        if is_call:
            again["response"]["tool_calls"][1].pop("type")
        assert [again] == value

    @pytest.mark.parametrize("listed", [[], [5], [{}], {}, "x", None])
    def test_nothing_called(self, listed: Json) -> None:
        """So does a list without any call, and what is none."""
        source = {"messages": [u("q"), a("x", tool_calls=listed)]}

        assert "tool_calls" not in turns(source)[1]
        assert write(read(source)) == [source]

    @pytest.mark.parametrize(
        ("call", "left"),
        [
            ({"name": "f", "arguments": "{}"}, {}),
            ({"name": "f"}, {}),
            ({"name": "f", "arguments": "{ }"}, {"/arguments": "{ }"}),
            ({"name": "f", "arguments": "{}", "x": 1}, {"/x": 1}),
        ],
    )
    def test_function_call(self, call: Json, left: Json) -> None:
        """The deprecated call comes back as it was, and what answers it."""
        answered = {"role": "function", "name": "f", "content": "out"}
        source = {"messages": [u("q"), a("x", function_call=call), answered]}

        assert turns(source)[1]["tool_calls"][0]["tcid"] == "function_call:1"
        assert fields(source) == {
            f"/messages/1/function_call{at}": value for at, value in left.items()
        }
        assert write(read(source)) == [source]


class TestHistory:
    ROWS: ClassVar = {
        "full": [[u("q")], [u("q"), a("x"), u("p")]],
        "new": [[u("q")], [u("p")]],
    }

    @pytest.mark.parametrize("history", ["full", "new"])
    def test_asked_for(self, history: str) -> None:
        """Each row has the whole conversation, or what is new."""
        turns = [
            {"id": 1, "src": "user", "msg": "q"},
            agent("x", id=2),
            {"id": 3, "src": "user", "msg": "p"},
            agent("y", id=4),
        ]
        (document,) = write([storyline(*turns)], None, history=history)
        assert [one["messages"] for one in document["session_steps"]] == self.ROWS[history]

    @pytest.mark.parametrize("history", ["full", "new"])
    def test_of_rows(self, history: str) -> None:
        """Rows can be written in the other way, and what was beside their messages is named to the hub."""
        value = [
            row(messages=[u("q") | {"name": "n"}], response=a("x")),
            row(step_id=2, messages=[u("q"), a("x"), u("p")], response=a("y")),
        ]
        settings = WriteOptions(options={"history": history})
        (document,) = write(read(value), settings)
        found = [one["messages"] for one in document["session_steps"]]
        if history == "new":
            assert found == self.ROWS["new"]
            assert list(settings.unplaced_residuals.values()) == [
                {"/session_steps/0/messages/0/name": "n"}
            ]
        else:
            assert found == [one["messages"] for one in value]


class TestOptions:
    CALLS: ClassVar = [call("k", {"x": 1}), call("l", None), call("m", "{bad"), call("n", [1])]

    def test_arguments(self) -> None:
        """Arguments are text, or an object whatever they are."""
        ask = agent("x", tool_calls=self.CALLS)
        shown = {
            option: [
                one["function"]["arguments"] for one in chat(ask, arguments=option)[0]["tool_calls"]
            ]
            for option in ("string", "object")
        }
        assert shown == {
            "string": ['{"x":1}', "{}", "{bad", "[1]"],
            "object": [{"x": 1}, {}, {"value": "{bad"}, {"value": [1]}],
        }

    @pytest.mark.parametrize(("option", "content"), [("keep", None), ("empty", "")])
    def test_null_content(self, option: str, content: Json) -> None:
        """Without text a message with calls has `null`, or an empty text."""
        ask = agent(None, tool_calls=[call("k", {})])
        assert chat(ask, null_content=option)[0]["content"] == content
        assert chat(agent(None), null_content=option)[0]["content"] == ""

    @pytest.mark.parametrize(("option", "shown"), [("auto", False), ("yes", True), ("no", False)])
    def test_reasoning(self, option: str, shown: bool) -> None:  # noqa: FBT001
        """Reasoning is shown in a chat when it is asked for."""
        (message,) = chat(agent("x", reason="r"), reasoning=option)
        assert ("reasoning_content" in message) == shown

    def test_reasoning_in_rows(self) -> None:
        """In rows it is shown unless it is not wanted."""
        one = storyline(agent("x", reason="r"))
        shown = [
            write([one], None, reasoning=option)[0]["session_steps"][0]["response"]
            for option in ("auto", "no")
        ]
        assert shown == [a("x", reasoning_content="r"), a("x")]

    def test_tools(self) -> None:
        """Tool definitions are at the root, if they are the API's and wanted."""
        tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]

        def root(definitions: Json, **options: str) -> Json:
            one = storyline(agent("x"), agent={"id": "a", "tools": definitions})
            return write([one], None, variant="chat", **options)[0].get("tools")

        assert root(tools) == tools
        assert root(tools, tools="no") is None
        others: list[Json] = [[], {}, [{"name": "f"}], [{"type": "function", "function": {}}], "x"]
        assert [root(one) for one in others] == [None] * len(others)

    def test_of_a_chat(self) -> None:
        """What was read from a chat is spelled as the options say."""
        value = {
            "messages": [
                u("q"),
                a(None, tool_calls=[tc("k", '{"x": 1}')], reasoning_content="r"),
                tool("k", "R"),
            ],
            "tools": [],
        }
        assert written(value) == value
        found = written(value, arguments="object", null_content="empty", reasoning="no", tools="no")
        assert found == {
            "messages": [u("q"), a("", tool_calls=[tc("k", {"x": 1})]), tool("k", "R")]
        }

    def test_of_a_chat_that_is_kept_whole(self) -> None:
        """Also where all messages were kept, because turns do not say how they were."""
        value = {"messages": [{"role": "user"}, a(None, tool_calls=[tc("k", {"x": 1})])]}
        assert list(fields(value)) == ["/messages"]
        settings = WriteOptions(options={"arguments": "object"})
        (document,) = write(read(value), settings)
        assert document["messages"][1] == a_without_content(tc("k", {"x": 1}))
        assert list(settings.unplaced_residuals.values()) == [{"/messages": value["messages"]}]

    def test_of_rows(self) -> None:
        """So is what was read from rows."""
        value = [row(response=a(None, tool_calls=[tc("k", '{"x": 1}')]))]
        (found,) = rows_of(value, arguments="object", null_content="empty")
        assert found["response"] == a("", tool_calls=[tc("k", {"x": 1})])


def a_without_content(*calls: Json) -> Json:
    """Return a message of calls."""
    return {"role": "assistant", "tool_calls": list(calls)}


class TestConformed:
    def test_sources(self) -> None:
        """Whoever is neither system, user nor agent is shown as the environment, if anything was said."""
        shown = chat(
            {"src": "system", "msg": "s"},
            {"src": "environment", "msg": "e"},
            {"src": "environment", "msg": ""},
            {"src": "environment", "msg": None},
            {"src": "critic", "msg": {"a": 1}},
        )
        said = {"role": "user", "name": "environment"}
        assert shown == [
            {"role": "system", "content": "s"},
            {**said, "content": "e"},
            {**said, "content": '{"a":1}'},
        ]

    def test_results(self) -> None:
        """Results of one call are joined, those without a call come behind, an open call gets an empty answer."""
        ask = agent(
            "x",
            tool_calls=[call("k", {}), call("l", {}, result="own"), call("m", {})],
            observation={
                "results": [result("k", "1"), {"content": "loose"}, result("k", {"a": 2})]
            },
        )
        assert chat(ask, {"src": "user", "msg": "q"})[1:] == [
            tool("k", '1\n{"a":2}'),
            tool("l", "own"),
            tool("m", ""),
            {"role": "user", "name": "environment", "content": "loose"},
            u("q"),
        ]

    def test_results_of_others(self) -> None:
        """What came back to who is no agent is said by the environment."""
        observed = {"results": [result("k", "R"), "plain"]}
        said = [{"role": "user", "name": "environment", "content": one} for one in ("R", "plain")]

        assert chat({"src": "user", "msg": "q", "observation": observed}) == [u("q"), *said]
        assert chat({"src": "environment", "msg": "", "observation": observed}) == said
        assert chat({"src": "environment", "msg": "m"}) == [{**said[0], "content": "m"}]
        assert chat({"src": "critic", "msg": ""}) == [{**said[0], "content": ""}]

    def test_open_at_the_end(self) -> None:
        """Calls at the end of a conversation may be open."""
        assert chat(agent("x", tool_calls=[call("k", {})])) == [a("x", tool_calls=[tc("k")])]

    def test_prompts(self) -> None:
        """Prompts are messages before the turn that they are for."""
        found = chat(
            agent("x"),
            agent("y", prompt={"system": "T", "user": "P"}),
            storyline_members={"prompt": {"system": "S", "user": "P"}},
        )
        system = [{"role": "system", "content": one} for one in "ST"]
        assert found == [system[0], u("P"), a("x"), system[1], a("y")]

    def test_nothing(self) -> None:
        """A Storyline without turns is an empty system message."""
        assert chat() == [{"role": "system", "content": ""}]

    @pytest.mark.parametrize(
        ("part", "user", "text"),
        [
            ("x", None, "x"),
            ({"type": "text", "text": "x"}, None, "x"),
            ({"x": 1}, None, '{"x":1}'),
            (
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "AA"},
                },
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
                "[image: data:image/png]",
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
                {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
                "[audio: data:audio/wav]",
            ),
            (
                {
                    "type": "audio",
                    "source": {"media_type": "audio/mpeg", "path": "data:audio/mpeg;base64,AA"},
                },
                {"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}},
                "[audio: data:audio/mpeg]",
            ),
            (
                {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}},
                None,
                "[audio: a.wav]",
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "AA", "format": "ogg"}},
                None,
                "[audio: data:audio/ogg]",
            ),
        ],
    )
    def test_parts(self, part: Json, user: Json, text: str) -> None:
        """Media of users are parts of the API where it has such, and texts everywhere else."""
        shown = chat({"src": "user", "msg": [part, "t"]}, agent([part, "t"]))
        texts = f"{text}\nt"
        asked = texts if user is None else [user, {"type": "text", "text": "t"}]
        assert shown == [u(asked), a(texts)]

    def test_custom_calls(self) -> None:
        """Custom calls stay what they are; every other kind is a function."""
        ask = agent(
            "x",
            tool_calls=[
                call("k", "in", kind="custom"),
                call("l", {}, kind="bash"),
                call("m", 1, kind="custom"),
            ],
        )
        assert chat(ask)[0]["tool_calls"] == [
            {"id": "k", "type": "custom", "custom": {"name": "f", "input": "in"}},
            tc("l"),
            {"id": "m", "type": "custom", "custom": {"name": "f", "input": "1"}},
        ]
        (document,) = write([storyline(ask)])
        kinds = [one["type"] for one in document["session_steps"][0]["response"]["tool_calls"]]
        assert kinds == ["function"] * 3

    def test_of_its_own(self) -> None:
        """Asked for, a chat with faults is written without them, and what has no place is named."""
        value = {
            "messages": [
                {"role": "developer", "content": None},
                {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}], "weight": 0},
                {"role": "tool", "content": 5},
                {"role": "critic", "content": ["x"]},
            ],
            "seed": 1,
        }
        settings = WriteOptions(options={"conform": "yes"})
        (document,) = write(read(value), settings)
        assert strict.errors(document) == []
        assert document["messages"] == [
            {"role": "system", "content": ""},
            a(None, tool_calls=[tc("call-2-0")]),
            tool("call-2-0", ""),
            {"role": "user", "name": "environment", "content": "5"},
            {"role": "user", "name": "environment", "content": "x"},
        ]
        assert len(settings.unplaced_residuals) == 1


class TestRows:
    def test_facts(self) -> None:
        """What a Storyline of another format says of its turns has its members in a row."""
        one = storyline(
            agent(
                "x",
                ts=1.5,
                model="tm",
                metrics={"reward": 1, "input_tokens": 3, "output_tokens": 2, "zz": 0},
                latency_ms=7,
                ttft_ms=3,
                env={
                    "id": "e",
                    "event_type": "t",
                    "request_id": "r",
                    "state": {"dt": "d", "weight_version": 2},
                },
            ),
            run="job",
            agent={"id": "ag", "model": "am"},
            task={
                "env": {
                    "name": "n",
                    "endpoint": "/v1",
                    "state": {"group_id": "g", "dt": "x", "other": 1},
                }
            },
        )
        (document,) = write([one])
        assert document["session_steps"] == [
            {
                "session_id": "s",
                "step_id": 1,
                "created_at": 1.5,
                "messages": [],
                "response": a("x"),
                "agent_id": "ag",
                "job_id": "job",
                "agent_model": "tm",
                "reward": 1,
                "env_name": "n",
                "id": "e",
                "dt": "d",
                "meta_json": {
                    "group_id": "g",
                    "env_state": {
                        "total_latency_ms": 7,
                        "ttft_ms": 3,
                        "prompt_tokens": 3,
                        "completion_tokens": 2,
                        "endpoint": "/v1",
                        "event_type": "t",
                        "request_id": "r",
                        "weight_version": 2,
                    },
                },
            }
        ]
        assert problems(document) == []
        assert fields(document) == {}

    def test_times(self) -> None:
        """A row has the time of its answer, and one without an answer that of what was said."""
        asked = {"src": "user", "msg": "q", "ts": 1}
        said = [{**asked, "id": 1}, agent("x", id=2), {**asked, "id": 3, "ts": 2}]
        (document,) = write([storyline(*said)])

        assert [one.get("created_at") for one in document["session_steps"]] == [None, 2]
        said[1]["ts"] = "2026-01-01T00:00:00Z"
        (document,) = write([storyline(*said)])
        assert document["session_steps"][0]["created_at"] == "2026-01-01T00:00:00Z"

    def test_reasoning_only(self) -> None:
        """An agent who only thought has a placeholder for what was said."""
        (document,) = write([storyline(agent("", reason="r"))])
        assert document["session_steps"][0]["response"] == a("[no response]", reasoning_content="r")

    def test_sessions(self) -> None:
        """No two Storylines of a document have one session."""
        batch = [
            storyline(agent("a")),
            storyline(agent("b"), trajectory="t"),
            storyline(agent("c"), trajectory="t"),
            storyline(agent("d")),
        ]
        (document,) = write(batch)
        assert [one["session_id"] for one in document["session_steps"]] == ["s", "t", "t#2", "s#2"]

    def test_documents(self) -> None:
        """Storylines of one document are together again, those of other formats apart from them."""
        first = read([row(response=a("x"))], name="1.json")
        second = read([row(response=a("y"), vendor=1)], name="2.json")
        documents = write(
            [*first, storyline(agent("z")), *second, *read([row(session_id="t")], name="1.json")]
        )
        assert [[one["session_id"] for one in each["session_steps"]] for each in documents] == [
            ["s", "t"],
            ["s"],
            ["s"],
        ]

    def test_conflicts(self) -> None:
        """Members beside the rows that differ cannot be written into one document."""
        (one,) = read({"session_steps": [row(response=a("x"))], "v": 1})
        (other,) = read({"session_steps": [row(session_id="t")], "v": 2})
        with pytest.raises(hub.InvalidDocument, match=r"residual\.conflict"):
            write([one, other])

    def test_envelope(self) -> None:
        """What rows do not show of another format travels in the first row of the session."""
        one = storyline(agent("x", extra={"k": 1}), agent("y", id=2), notes="n")
        document = sealed(one)
        assert [("_storyline" in each) for each in document["session_steps"]] == [True, False]
        (back,) = hub.read(Source.of(document), format="openai-messages")
        assert to_wire(back) == to_wire(one)

    def test_envelope_in_lines(self) -> None:
        """In lines too, and whatever the file is called."""
        one = storyline(agent("x", extra={"k": 1}), agent("y", id=2), notes="n")
        document = sealed(one, container="lines")
        (back,) = hub.read(Source(lines(*document), name="other.jsonl"), format="openai-messages")
        assert to_wire(back) == to_wire(one)

    def test_moved_envelope(self) -> None:
        """An envelope in a later row stands for its session."""
        one = storyline(agent("x"), agent("y", id=2), notes="n")
        document = sealed(one)
        rows = document["session_steps"]
        rows[1]["_storyline"] = rows[0].pop("_storyline")
        (back,) = hub.read(Source.of(document), format="openai-messages")
        assert back.notes == "n"

    def test_messages_that_are_not_read(self) -> None:
        """What rows show but do not read is no residual of another format's Storyline."""
        one = storyline(
            agent("x"),
            {"id": 2, "src": "user", "msg": "first"},
            {"id": 3, "src": "user", "msg": "second"},
            {"id": 4, "src": "environment", "msg": "e"},
            agent("y", id=5),
        )
        document = sealed(one)
        (back,) = hub.read(Source.of(document), format="openai-messages")
        assert to_wire(back) == to_wire(one)
        assert back.unknown_fields == {}

    def test_own_without_envelope(self) -> None:
        """Rows that were read need none."""
        (one,) = read([row(response=a("x"), vendor=1)])
        document = sealed(one)
        assert "_storyline" not in document["session_steps"][0]


def edited(value: Json, change: Any) -> tuple[Json, list[str]]:
    """Return the rows of a Storyline after *change*, and the rules of the warnings."""
    (one,) = read(value)
    change(one)
    settings = WriteOptions()
    (document,) = write([one], settings)
    return document["session_steps"], [problem.rule for _, problem in settings.problems]


class TestEdits:
    LOOP: ClassVar = [
        row(response=a(None, tool_calls=[tc("k")])),
        row(
            step_id=2,
            messages=[u("q"), a(None, tool_calls=[tc("k")]), tool("k", "r", name="f")],
            response=a("done"),
        ),
    ]

    def test_text(self) -> None:
        """Messages that no longer fit an edited Storyline are dropped, with a warning."""

        def change(one: Storyline) -> None:
            one.turns[2].message = "edited"

        rows, warnings = edited(self.LOOP, change)
        assert warnings == ["openai.layout"]
        assert rows[1]["messages"] == [
            u("q"),
            a(None, tool_calls=[tc("k")]),
            tool("k", "r"),
            u("edited"),
        ]

    def test_result(self) -> None:
        """So it is with a result."""

        def change(one: Storyline) -> None:
            one.turns[1].observation = {"results": [result("k", "edited")]}

        rows, warnings = edited(self.LOOP, change)
        assert warnings == ["openai.layout"]
        assert tool("k", "edited") in rows[1]["messages"]

    def test_response(self) -> None:
        """What is edited elsewhere leaves them alone."""

        def change(one: Storyline) -> None:
            one.turns[3].message = "edited"

        rows, warnings = edited(self.LOOP, change)
        assert warnings == []
        assert rows[1]["messages"] == self.LOOP[1]["messages"]
        assert rows[1]["response"] == a("edited")

    @pytest.mark.parametrize(
        ("value", "place"),
        [
            ({"messages": [a("x", tool_calls=[tc("k", '{"x": 1}')])]}, "/messages/0"),
            (
                [row(messages=[], response=a("x", tool_calls=[tc("k", '{"x": 1}')]))],
                "/session_steps/0/response",
            ),
        ],
    )
    def test_arguments(self, value: Json, place: str) -> None:
        """Arguments that were edited are written as they are now; how they were spelled has no place."""
        (one,) = read(value)
        (made,) = list(one.turns[0].tool_calls or ())
        made.arguments = {"x": 2}
        settings = WriteOptions()
        (document,) = write([one], settings)
        message = next(iter(document.values()))[0]
        message = message.get("response", message)

        assert message["tool_calls"] == [tc("k", '{"x":2}')]
        assert list(settings.unplaced_residuals.values()) == [
            {f"{place}/tool_calls/0/function/arguments": '{"x": 1}'}
        ]

    def test_made_up_ids(self) -> None:
        """An id that was made up, and then made to differ, gives way to the empty one that was read."""
        listed: Json = [tc("call-1-1"), tc("")]
        source = {"messages": [a("x", tool_calls=listed)]}
        (one,) = read(source)

        assert [made.tool_call_id for made in one.turns[0].tool_calls or ()] == [
            "call-1-1",
            "call-1-1#2",
        ]
        assert fields(source) == {"/messages/0/tool_calls/1/id": ""}
        assert write([one]) == [source]

    def test_other_names(self) -> None:
        """What a message says itself is not overwritten."""
        source = {
            "messages": [
                a("x", function_call={"name": "f", "arguments": "{}"}),
                {"role": "function", "name": "f", "content": "out"},
            ]
        }
        strange = {"/messages/1/name": "g", "/messages/0/function_call/name": "g"}
        (one,) = read(source)
        add_residuals(one, "openai-msg", "x.json", strange)
        settings = WriteOptions()
        assert write([one], settings) == [source]
        assert list(settings.unplaced_residuals.values()) == [strange]

    def test_another_kind(self) -> None:
        """How arguments were spelled has no place in a call that became one of another kind."""
        (one,) = read({"messages": [a("x", tool_calls=[tc("k", '{"x": 1}')])]})
        (made,) = list(one.turns[0].tool_calls or ())
        made.kind = "custom"
        settings = WriteOptions()
        (document,) = write([one], settings)

        custom = {"id": "k", "type": "custom", "custom": {"name": "f", "input": '{"x":1}'}}
        assert document == {"messages": [a("x", tool_calls=[custom])]}
        assert list(settings.unplaced_residuals.values()) == [
            {"/messages/0/tool_calls/0/function/arguments": '{"x": 1}'}
        ]

    def test_without_an_answer(self) -> None:
        """A session of which no answer is left is one row, the first."""

        def change(one: Storyline) -> None:
            del one.turns[1:]

        rows, _ = edited([row(step_id=3, response=a("x"))], change)
        assert [(one["step_id"], one["response"]) for one in rows] == [(1, a("[no response]"))]

    @pytest.mark.parametrize("ids", [[1, 2, 3, 5], [1, 0, 3, 4], [1, 4, 3, 4]])
    def test_numbers(self, ids: list[int]) -> None:
        """Where ids of turns do not tell the numbers of the steps, these are the positions."""

        def change(one: Storyline) -> None:
            for turn, turn_id in zip(one.turns, ids, strict=True):
                turn.turn_id = turn_id

        value = [row(step_id=3, response=a("x")), row(step_id=7, response=a("y"))]
        rows, _ = edited(value, change)
        assert [one["step_id"] for one in rows] == [1, 2]

    def test_results_that_name_nothing(self) -> None:
        """A result that names no call is left to the carrier."""
        for value in (CHAT, [row(response=a("x"))]):
            (one,) = read(value)
            one.turns[1].observation = {"results": ["plain", {"source_call_id": 5}, result("k", 1)]}
            (document,) = write([one])
            messages = document.get("messages") or document["session_steps"][0]["messages"]
            assert messages[-1] == tool("k", 1)
            assert len(messages) == (3 if value is CHAT else 2)

    def test_added_turn(self) -> None:
        """A turn at the end is a row with a placeholder, whose number goes on."""

        def change(one: Storyline) -> None:
            one.turns.append(storyline({"id": 99, "src": "user", "msg": "more"}).turns[0])

        rows, _ = edited([row(step_id=5, response=a("x"))], change)
        assert [one["step_id"] for one in rows] == [5, 6]
        assert rows[1]["messages"][-1] == u("more")
        assert rows[1]["response"] == a("[no response]")

    def test_removed_turn(self) -> None:
        """Residuals of a row that is gone have no place."""
        (one,) = read([*self.LOOP[:1], {**self.LOOP[1], "vendor": 1}])
        del one.turns[2:]
        settings = WriteOptions()
        (document,) = write([one], settings)
        assert len(document["session_steps"]) == 1
        unplaced = next(iter(settings.unplaced_residuals.values()))
        assert unplaced["/session_steps/1/vendor"] == 1

    def test_context(self) -> None:
        """A context that was edited is what is written."""
        value = [
            row(messages=[{"role": "developer", "content": "d"}, u("p"), u("q")], response=a("x"))
        ]

        def change(one: Storyline) -> None:
            one.turns[0].message = "edited"

        rows, warnings = edited(value, change)
        assert warnings == ["openai.layout"]
        assert rows[0]["messages"] == [u("edited"), u("q")]

    def test_context_results(self) -> None:
        """Nor do results of the context fit that were edited."""
        value = [
            row(
                messages=[a(None, tool_calls=[tc("k")]), tool("k", "r"), {"role": "tool"}, u("q")],
                response=a("x"),
            )
        ]

        def change(one: Storyline) -> None:
            one.turns[0].observation = {"results": [result("k", "edited")]}

        rows, warnings = edited(value, change)
        assert warnings == ["openai.layout"]
        assert rows[0]["messages"] == [a(None, tool_calls=[tc("k")]), tool("k", "edited"), u("q")]

    def test_chat(self) -> None:
        """Messages of a chat that were kept whole are dropped as well."""
        (one,) = read({"messages": [{"role": "user"}, a("x")]})
        one.turns[1].message = "edited"
        settings = WriteOptions()
        assert write([one], settings) == [{"messages": [u(None), a("edited")]}]
        assert [(problem.rule, problem.pointer) for _, problem in settings.problems] == [
            ("openai.layout", "/messages")
        ]

    @pytest.mark.parametrize("whole", [5, [5]])
    def test_strange_messages_of_a_chat(self, whole: Json) -> None:
        """Nor are messages put back that nobody read."""
        (one,) = read(CHAT)
        add_residuals(one, "openai-msg", "x.json", {"/messages": whole})
        assert write([one]) == [CHAT]

    def test_calls_of_a_chat(self) -> None:
        """Residuals of calls that a message has no longer have no place."""
        (one,) = read(
            {"messages": [a("x", tool_calls=[{"id": "k", "function": {"name": "f"}, "x": 1}])]}
        )
        one.turns[0].tool_calls = None
        assert write([one]) == [{"messages": [a("x")]}]

    def test_empty_chat(self) -> None:
        """An array of messages of which none is left is an object."""
        (one,) = read(CHAT["messages"])
        one.turns.clear()
        assert write([one]) == [{"messages": []}]

    def test_strange_residuals(self) -> None:
        """Residuals that nobody read have no place, and never make writing fail."""
        strange = {
            "": 1,
            "/session_steps": 1,
            "/session_steps/x/a": 1,
            "/session_steps/9/a": 1,
            "/session_steps/0": 1,
            "/session_steps/0/messages/9/a": 1,
            "/session_steps/0/messages/x/a": 1,
            "/session_steps/0/messages/0": 1,
            "/session_steps/0/session_id": "other",
            "/session_steps/0/_storyline": 1,
            "/session_steps/0/response/content": "other",
            "/session_steps/0/messages/0/role": "system",
            "/session_steps/0/response/tool_calls/7/a": 1,
            "/session_steps/0/a/b": 1,
            "/session_steps/0/meta_json/a/b": 1,
            "/session_steps/0/b/env_state/c": 1,
            "/a/b": 1,
        }
        (one,) = read([row(response=a("x", tool_calls=[tc("k")]))])
        add_residuals(one, "openai-msg", "x.json", strange)
        settings = WriteOptions()
        (document,) = write([one], settings)
        assert document == {
            "session_steps": [
                {**row(response=a("x", tool_calls=[tc("k")])), "agent_id": "openai-import"}
            ]
        }
        assert list(settings.unplaced_residuals.values()) == [strange]

    def test_strange_residuals_of_a_chat(self) -> None:
        """Nor those of a chat."""
        strange = {
            "": 1,
            "/messages/9/a": 1,
            "/messages/0": 1,
            "/messages/0/content": "o",
            "/model/x": 1,
            "/tools": 5,
        }
        (one,) = read({**CHAT, "tools": []})
        add_residuals(one, "openai-msg", "x.json", strange)
        settings = WriteOptions()
        assert write([one], settings) == [{**CHAT, "tools": []}]
        assert list(settings.unplaced_residuals.values()) == [strange]


class TestCommand:
    @staticmethod
    def convert(source: Path, target: Path, *options: str) -> str:
        """Convert on the command line, and return what it says."""
        given = [word for one in options for word in ("--option", one)]
        command = [sys.executable, "-m", "hub", "convert", str(source), "--to", "openai-msg"]
        done = subprocess.run(  # noqa: S603  # the hub
            [*command, "--output", str(target), *given],
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
        return done.stderr

    def test_lines(self, tmp_path: Path) -> None:
        """A conversation a line, whatever the file is called."""
        source, target = tmp_path / "in.json", tmp_path / "out.json"
        source.write_text(json.dumps([row(response=a("x")), row(session_id="t", response=a("y"))]))
        self.convert(source, target, "variant=chat-jsonl")
        assert list(map(json.loads, target.read_text().splitlines())) == [
            {"messages": [u("q"), a(one)]} for one in "xy"
        ]

    def test_rows_in_lines(self, tmp_path: Path) -> None:
        """Rows go a line each into a file of lines, and come back from there."""
        source, target = tmp_path / "in.json", tmp_path / "out.jsonl"
        source.write_text(
            json.dumps(
                {
                    "session_steps": [
                        row(response=a("x")),
                        row(step_id=2, messages=[], response=a("y")),
                    ],
                    "v": 1,
                }
            )
        )
        self.convert(source, target)
        first, second = map(json.loads, target.read_text().splitlines())
        assert (first["step_id"], second["step_id"]) == (1, 2)
        (back,) = hub.read(target)
        assert back.unknown_fields["openai-msg"].fields["/v"] == 1

    def test_unknown_value(self, tmp_path: Path) -> None:
        """A value that an option does not take is refused, with those that it takes."""
        source = tmp_path / "in.json"
        source.write_text(json.dumps(CHAT))
        said = self.convert(source, tmp_path / "out.json", "variant=lines")
        assert "takes auto or rows or chat or chat-jsonl, not 'lines'" in said

    def test_options_are_listed(self) -> None:
        """Every option is in what `hub formats` tells."""
        done = subprocess.run(
            [sys.executable, "-m", "hub", "formats", "openai-messages"],
            capture_output=True,
            encoding="utf-8",
            check=True,
            env={**os.environ, "COLUMNS": "200"},
        )
        for name in (
            "contiguous",
            "variant",
            "history",
            "arguments",
            "null-content",
            "tools",
            "reasoning",
            "conform",
        ):
            assert name in done.stdout


class TestLightImport:
    def test_plugin(self) -> None:
        """Describing the format and detecting load neither model nor mapping."""
        script = (
            "import sys\n"
            "from hub import Sample\n"
            "from hub_openai_messages import plugin\n"
            "plugin.format_info()\n"
            "plugin.detect(Sample(None, 'object', [{'messages': []}], True, None))\n"
            "print(sorted(name for name in sys.modules if name.startswith('hub_openai_messages.')))\n"
            "print('attrs' in sys.modules)"
        )
        done = subprocess.run(  # noqa: S603  # our own script
            [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
        )
        loaded = ["hub_openai_messages.detection", "hub_openai_messages.plugin"]
        assert done.stdout.splitlines() == [repr(loaded), "False"]


def test_read_one_is_whole() -> None:
    """The builders leave nothing out of a Storyline but what is derived."""
    assert turns(CHAT) == read_one(CHAT)["turns"]
