"""Reading: containers, identity, what the calls of a text are, results in repeated histories, large files."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hub_openai_messages.markup import call_in_content
from hub_openai_messages.row_reading import said_as_written
from hub_openai_messages.row_turns import Conversation
from hub_openai_messages.values import has_value

import hub
from hub import Source
from hub.conversion import read_documents

from .builders import (
    a,
    fields,
    lines,
    parse,
    parse_one,
    problems,
    read,
    read_one,
    result,
    row,
    rows_of,
    tc,
    tool,
    turns,
    u,
    written,
)

Json = Any

CHAT = {"messages": [u("hi"), a("yo")]}


class TestContainers:
    def test_rows_are_one_document(self) -> None:
        """Rows in an array, in lines and in an object are the same."""
        rows = [row(response=a("x")), row(session_id="t", response=a("y"))]
        shown = [
            [(one.session_id, one.node) for one in found]
            for found in (read(rows), read(*rows), read({"session_steps": rows}))
        ]
        assert shown[0] == shown[1] == [("s", "/0"), ("t", "/1")]
        assert shown[2] == [("s", "/session_steps/0"), ("t", "/session_steps/1")]

    def test_one_row(self) -> None:
        """One row is a document as well."""
        assert read_one(row(response=a("x")))["session"] == "s"

    def test_mixed_lines(self) -> None:
        """Rows, objects of rows and chats may stand in one file; the rows come together, last."""
        found = read(CHAT, row(response=a("x")), {"session_steps": [row(session_id="t")]})
        assert [one.session_id for one in found] == ["chat-07f65e56b8f53751", "t", "s"]

    def test_document_ids(self) -> None:
        """Objects in a container are told apart by their place."""
        ids = [
            [one.value.document_id for one in parse(*found, name="d/ft.jsonl")]
            for found in ((CHAT, CHAT), ([CHAT, CHAT],), (CHAT,))
        ]
        assert ids == [
            ["d/ft.jsonl#1", "d/ft.jsonl#2"],
            ["d/ft.jsonl#0", "d/ft.jsonl#1"],
            ["d/ft.jsonl"],
        ]

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            (None, "stdin.json"),
            ("a.json", "a.json"),
            ("./d//a.json", "d/a.json"),
            ("/home/d/a.json", "a.json"),
            ("../a.json", "a.json"),
            ("d\\a.json", "d/a.json"),
            ("C:\\d\\a.json", "a.json"),
        ],
    )
    def test_path(self, name: Any, expected: str) -> None:
        """The path below the working directory is the id; of any other, the name of the file."""
        assert parse_one(CHAT, name=name).value.document_id == expected

    def test_root_members(self) -> None:
        """Members beside the rows are kept in every Storyline, and come back once."""
        value = {
            "session_steps": [row(response=a("x")), row(session_id="t", response=a("y"))],
            "v/1": {"k": 1},
        }
        for one in read(value):
            assert one.unknown_fields["openai-msg"].fields == {"/v~11": {"k": 1}}
        assert written(value)["v/1"] == {"k": 1}

    def test_an_array_with_strange_elements(self) -> None:
        """In an array of messages one without a role is one as well."""
        assert problems([u("x"), {"content": "y"}]) == [
            ("error", "openai.role", "/messages/1/role")
        ]
        assert turns([u("x"), {"content": "y"}])[1]["src"] == "unknown"


class TestIdentity:
    @pytest.mark.parametrize("key", ["session_id", "conversation_id", "id"])
    def test_session(self, key: str) -> None:
        """A chat that names its session has that one, and keeps the member."""
        value = {**CHAT, key: "c1"}
        assert read_one(value)["session"] == "c1"
        assert fields(value) == {f"/{key}": "c1"}
        assert written(value) == value

    def test_model_and_tools(self) -> None:
        """Model and tools are the agent's; of another type they are residuals."""
        value = {**CHAT, "model": "m", "tools": [{"x": 1}]}
        assert read_one(value)["agent"] == {
            "id": "m",
            "name": "m",
            "model": "m",
            "tools": [{"x": 1}],
        }
        for model in ("m", ""):
            value = {**CHAT, "model": model, "tools": [{"x": 1}]}
            assert fields(value) == {}
            assert written(value) == value
        odd = {**CHAT, "model": 5, "tools": {}, "functions": []}
        assert fields(odd) == {"/model": 5, "/tools": {}, "/functions": []}
        assert written(odd) == odd


class TestValues:
    @pytest.mark.parametrize(
        ("value", "is_said"),
        [
            (None, False),
            ("", False),
            (" ", True),
            (0, True),
            (False, True),
            ([], False),
            ([None, "", [], {}], False),
            ([None, ["", {"text": "x"}]], True),
            ({}, False),
            ({"x": None}, True),
            ({"text": ""}, False),
            ({"text": None, "x": 1}, False),
            ({"text": ["", "x"]}, True),
            ([{"type": "text", "text": ""}], False),
            ([{"type": "text", "text": "x"}], True),
        ],
    )
    def test_has_value(self, value: Json, is_said: bool) -> None:  # noqa: FBT001  # a column
        """Whether a value says something: an array if an element does, an object with a text if that does."""
        assert has_value(value) is is_said
        (found,) = [row(messages=[u("q"), a("before")], response=a(value))]
        assert turns([found])[1]["msg"] == (value if is_said else "before")


class TestMarkup:
    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("no call", None),
            ("a < b", None),
            ("<tool_call>", None),
            ("<tool_call> \n", None),
            ("<function=>x", None),
            ("<tool_call>f", ("f", {})),
            ("<function=f><parameter=a>1", ("f", {"a": "1"})),
            ("<function=f><parameter=a", ("f", {})),
            ("<function=f><parameter=>0</parameter><parameter=a>1</parameter>", ("f", {"a": "1"})),
            ("<function=f><parameter=a>1</parameter><parameter=a>2</parameter>", ("f", {"a": "2"})),
            ("<parameter=a>0</parameter><tool_call>f", ("f", {"a": "0"})),
            ('<tool_call>{"name":"f","parameters":{"a":1}}</tool_call>', ("f", {"a": 1})),
            ('<tool_call>{"name":"f"}</tool_call>', ("f", {})),
            ('<tool_call>{"name":""}</tool_call>', ('{"name":""}', {})),
            ([{"type": "text", "text": "<function=f>"}, "x", {"text": 5}, 5], ("f", {})),
            ({"text": "<function=f>"}, ("f", {})),
            ({"text": 5}, None),
            (5, None),
            (None, None),
        ],
    )
    def test_call(self, content: Json, expected: Any) -> None:
        """A text holds at most one call."""
        assert call_in_content(content) == expected

    def test_structured_calls_come_first(self) -> None:
        """Markup is text where there are structured calls."""
        found = turns([row(response=a("<function=f>", tool_calls=[tc("k")]))])
        assert [one["tcid"] for one in found[1]["tool_calls"]] == ["k"]

    def test_not_in_chats(self) -> None:
        """In chats markup is text."""
        assert "tool_calls" not in turns({"messages": [a("<function=f>")]})[0]


class TestHistories:
    def test_repeated(self) -> None:
        """A result that each row repeats is one result."""
        ask, back = a(None, tool_calls=[tc("k")]), tool("k", "r")
        value = [
            row(response=ask),
            row(step_id=2, messages=[u("q"), ask, back, u("p")], response=a("x")),
            row(step_id=3, messages=[u("q"), ask, back, u("p"), a("x"), u("o")], response=a("y")),
        ]
        assert turns(value)[1]["observation"] == {"results": [result("k", "r")]}
        assert fields(value) == {}
        assert rows_of(value) == [{**one, "agent_id": "openai-import"} for one in value]

    def test_ids_that_come_back(self) -> None:
        """Where calls have one id in every turn, each result is with its own."""
        asks = [a(None, tool_calls=[tc("c")]) for _ in range(2)]
        history = [u("q"), asks[0], tool("c", "one")]
        value = [
            row(response=asks[0]),
            row(step_id=2, messages=history, response=asks[1]),
            row(step_id=3, messages=[*history, asks[1], tool("c", "two")], response=a("x")),
        ]
        made = [one["observation"]["results"] for one in turns(value) if "observation" in one]
        assert made == [[result("c", "one")], [result("c#2", "two")]]
        assert rows_of(value) == [{**one, "agent_id": "openai-import"} for one in value]

    def test_one_id_twice_in_a_turn(self) -> None:
        """Of two calls with one id in a turn the first answer is the first one's."""
        ask = a(None, tool_calls=[tc("c"), tc("c")])
        value = [
            row(response=ask),
            row(
                step_id=2,
                messages=[u("q"), ask, tool("c", "one"), tool("c", "two")],
                response=a("x"),
            ),
        ]
        assert turns(value)[1]["observation"] == {
            "results": [result("c", "one"), result("c#2", "two")]
        }

    def test_ids_that_come_back_without_a_history(self) -> None:
        """Where a row has only what is new, a result is with the latest call of its id."""
        asks = [a(None, tool_calls=[tc("c")]) for _ in range(2)]
        value = [
            row(response=asks[0]),
            row(step_id=2, messages=[tool("c", "one")], response=asks[1]),
            row(step_id=3, messages=[tool("c", "two"), u("p")], response=a("x")),
        ]
        made = [one["observation"]["results"] for one in turns(value) if "observation" in one]
        assert made == [[result("c", "one")], [result("c#2", "two")]]
        assert rows_of(value) == [{**one, "agent_id": "openai-import"} for one in value]

    def test_a_result_without_an_id(self) -> None:
        """A result that names no call is none; those behind it are."""
        ask = a(None, tool_calls=[tc("k")])
        messages = [u("q"), ask, tool("", "lost"), {"role": "tool"}, tool("k", "r")]
        value = [row(response=ask), row(step_id=2, messages=messages, response=a("x"))]

        assert turns(value)[1]["observation"] == {"results": [result("k", "r")]}
        assert fields(value) == {"/session_steps/1/messages": messages}
        assert rows_of(value) == [{**one, "agent_id": "openai-import"} for one in value]

    def test_results_without_their_calls(self) -> None:
        """Results that answer no call are of the row in which they stand, each of them, and are reported."""
        ask = a(None, tool_calls=[tc("k")])
        messages = [u("q"), ask, tool("x", "1"), tool("k", "r"), tool("y", "2")]
        value = [row(response=ask), row(step_id=2, messages=messages, response=a("x"))]
        _, first, _, second = turns(value)

        assert first["observation"] == {"results": [result("k", "r")]}
        assert second["observation"] == {"results": [result("x", "1"), result("y", "2")]}
        assert problems(value) == [
            ("warning", "openai.result-call", "/session_steps/1/messages/2"),
            ("warning", "openai.result-call", "/session_steps/1/messages/4"),
        ]
        assert rows_of(value) == [{**one, "agent_id": "openai-import"} for one in value]

    def test_problems_of_the_context(self) -> None:
        """What is wrong with calls of the context is named where it stands."""
        messages = [
            u("p"),
            a("x", tool_calls=[tc("k", "{"), 5]),
            a("z", tool_calls=[tc("k")]),
            u("q"),
        ]
        place = "/session_steps/0/messages"

        assert problems([row(messages=messages, response=a("x"))]) == [
            ("error", "openai.call", f"{place}/1/tool_calls/1"),
            ("warning", "openai.arguments", f"{place}/1/tool_calls/0/function/arguments"),
            ("warning", "openai.call-id-unique", f"{place}/2/tool_calls/0/id"),
        ]

    def test_results_of_the_last_row(self) -> None:
        """The last row has the results of its own calls at its end."""
        ask = a(None, tool_calls=[tc("k")])
        value = [
            row(response=a("x")),
            row(
                step_id=2,
                messages=[u("q"), a("x"), u("p"), tool("k", "r")],
                response=ask,
            ),
        ]
        assert turns(value)[3]["observation"] == {"results": [result("k", "r")]}
        assert fields(value) == {}
        assert rows_of(value) == [{**one, "agent_id": "openai-import"} for one in value]

    def test_results_of_the_last_row_alone(self) -> None:
        """So it has where rows hold what is new."""
        value = [
            row(response=a("x")),
            row(
                step_id=2,
                messages=[u("p"), tool("k", "r")],
                response=a(None, tool_calls=[tc("k")]),
            ),
        ]
        assert read_one(value)["origin"]["schema_version"] == "rows/new"
        assert fields(value) == {}
        assert rows_of(value) == [{**one, "agent_id": "openai-import"} for one in value]

    def test_only_what_is_new(self) -> None:
        """Rows that hold what is new are known as that, and written so."""
        ask = a(None, tool_calls=[tc("k")])
        value = [
            row(response=ask),
            row(step_id=2, messages=[tool("k", "r")], response=a("x")),
            row(step_id=3, messages=[u("p") | {"name": "n"}], response=a("y")),
        ]
        assert read_one(value)["origin"]["schema_version"] == "rows/new"
        assert fields(value) == {"/session_steps/2/messages/0/name": "n"}
        assert rows_of(value) == [{**one, "agent_id": "openai-import"} for one in value]

    def test_unknown_members_in_a_history(self) -> None:
        """Members that no turn holds come back in every message."""
        value = [
            row(messages=[u("q") | {"name": "n"}], response=a("x", id="r1")),
            row(
                step_id=2,
                messages=[u("q") | {"name": "n"}, a("x", audio={}), u("p")],
                response=a("y"),
            ),
        ]
        assert fields(value) == {
            "/session_steps/0/messages/0/name": "n",
            "/session_steps/0/response/id": "r1",
            "/session_steps/1/messages/0/name": "n",
            "/session_steps/1/messages/1/audio": {},
        }
        assert rows_of(value) == [{**one, "agent_id": "openai-import"} for one in value]

    def test_members_that_say_nothing(self) -> None:
        """What says nothing in a history is left out, and what stands behind it is not."""
        empty: Json = {"reasoning_content": None, "name": None, "tool_calls": [], "refusal": {}}
        value = [
            row(response=a("x")),
            row(step_id=2, messages=[u("q"), a("x", **empty, vendor=1), u("p")], response=a("y")),
        ]
        assert fields(value) == {"/session_steps/1/messages/1/vendor": 1}

    def test_spelling_of_arguments(self) -> None:
        """White space in arguments comes back."""
        value = [row(response=a(None, tool_calls=[tc("k", '{"x": 1}')]))]
        at = "/session_steps/0/response/tool_calls/0/function/arguments"
        assert fields(value) == {at: '{"x": 1}'}
        assert rows_of(value)[0]["response"] == value[0]["response"]


class TestSpellingOfChats:
    """How the arguments of a chat's calls were spelled comes back, whatever they are."""

    @pytest.mark.parametrize(
        ("spelled", "is_held"),
        [
            ('{"x":1}', True),
            ('{"x": 1}', False),
            ("{}", True),
            ("[1]", True),
            ("[1, 2]", False),
            ("5", True),
            ("5.0", True),
            ("5.00", False),
            ("true", True),
            ("null", False),
            ('"x"', False),
        ],
    )
    def test_arguments(self, *, spelled: str, is_held: bool) -> None:
        """Only what would be written otherwise is kept beside the value."""
        calls = [tc("k", '{"x":1}'), tc("l", spelled), tc("m", '{"x": 2}')]
        chat = {"messages": [u("q"), a(None, tool_calls=calls), *(tool(one, "r") for one in "klm")]}
        kept = {"/messages/1/tool_calls/2/function/arguments": '{"x": 2}'}
        if not is_held:
            kept["/messages/1/tool_calls/1/function/arguments"] = spelled
        found = {at: value for at, value in fields(chat).items() if at.endswith("/arguments")}
        assert kept == found
        assert chat == written(chat)


ASK = a("x", tool_calls=[tc("k", '{"n":1}')], reasoning_content="r")


MARKUP = "<tool_call>f\n<parameter=a>1</parameter></tool_call>"


class TestSaidAsWritten:
    """Which responses certainly are what is written of their turns."""

    @pytest.mark.parametrize(
        ("response", "is_known"),
        [
            (a("x"), True),
            (a(None, tool_calls=[tc("k", '{"n":1}'), tc("l", "{}")]), True),
            (a([{"type": "text", "text": "x"}], reasoning_content=""), True),
            (a("x", reasoning_content=None), False),
            (a("x", refusal=None), False),
            (a("x", tool_calls=[]), False),
            (a("x", tool_calls=5), False),
            (a("x", tool_calls=[tc("k", '{"n": 1}')]), False),
            (a("x", tool_calls=[tc("k", "null")]), False),
            (a("x", tool_calls=[tc("k", "{}"), None]), False),
            (a("x", tool_calls=[tc("k"), tc("k")]), False),
            (a("x", tool_calls=[tc("embedded-1-f")]), True),
            (a(MARKUP, tool_calls=[tc("embedded-1-f", '{"a":"2"}')]), True),
            (a(MARKUP, tool_calls=[tc("embedded-1-f", '{"a":"1"}')]), False),
            (a(MARKUP), False),
            ({"role": "tool", "content": "x"}, False),
            ({"role": "assistant", "tool_calls": [tc("k")]}, False),
        ],
    )
    def test_response(self, response: Json, *, is_known: bool) -> None:
        """Those with the usual members, whose calls have their own ids and are spelled as they would be."""
        rows = [row(response=response)]
        conversation = Conversation(rows, [1])

        known = said_as_written(rows, conversation)

        assert [response] * is_known == list(known.values())


class TestLayout:
    """A history that says something else than the turns is kept whole."""

    @pytest.mark.parametrize(
        ("said", "left"),
        [
            (ASK, {}),
            (ASK | {"name": None, "refusal": None}, {}),
            (ASK | {"vendor": 1}, {"/vendor": 1}),
            (
                ASK | {"tool_calls": [tc("k", '{"n": 1}') | {"index": 0}]},
                {"/tool_calls/0/function/arguments": '{"n": 1}', "/tool_calls/0/index": 0},
            ),
        ],
    )
    def test_same(self, said: Json, left: Json) -> None:
        """Members that no turn has are kept one by one."""
        value = [
            row(response=ASK),
            row(step_id=2, messages=[u("q"), said, u("p")], response=a("y")),
        ]
        at = "/session_steps/1/messages/1"
        assert fields(value) == {f"{at}{key}": one for key, one in left.items()}
        assert rows_of(value)[1]["messages"][1] == {
            key: one for key, one in said.items() if one is not None
        }

    @pytest.mark.parametrize(
        "said",
        [
            5,
            u("x"),
            a("other", tool_calls=ASK["tool_calls"], reasoning_content="r"),
            a("x", tool_calls=ASK["tool_calls"]),
            a("x", reasoning_content="r"),
            ASK | {"tool_calls": []},
            ASK | {"tool_calls": "k"},
            ASK | {"tool_calls": [5]},
            ASK | {"tool_calls": [tc("other", '{"n":1}')]},
            ASK | {"tool_calls": [tc("k", '{"n":1}', "other")]},
            ASK | {"tool_calls": [tc("k", '{"n":1.0}')]},
            ASK | {"tool_calls": [tc("k", {"n": 1})]},
            ASK | {"tool_calls": [{"id": "k", "function": {"name": "f"}}]},
        ],
    )
    def test_other(self, said: Json) -> None:
        """Where it says something else all messages of the row are kept."""
        messages = [u("q"), said, u("p")]
        value = [row(response=ASK), row(step_id=2, messages=messages, response=a("y"))]
        assert fields(value) == {"/session_steps/1/messages": messages}
        assert rows_of(value)[1]["messages"] == messages

    @pytest.mark.parametrize(("thought", "is_kept"), [("r", True), (None, False), (5, True)])
    def test_thought(self, thought: Json, is_kept: bool) -> None:  # noqa: FBT001
        """Reasoning that only the history has is kept; none is none."""
        messages = [u("q"), a("x", reasoning_content=thought), u("p")]
        value = [row(response=a("x")), row(step_id=2, messages=messages, response=a("y"))]
        assert bool(fields(value)) == is_kept
        if is_kept:
            assert rows_of(value)[1]["messages"] == messages

    @pytest.mark.parametrize(
        "response",
        [
            {"role": "assistant", "tool_calls": [tc("k")]},
            a("x", tool_calls=[None, tc("k")]),
            a("x", tool_calls=[{"type": "custom", "custom": {}}, tc("k"), {}]),
            a("x", tool_calls=[tc("k"), {"id": "k", "x": 1}, tc("l")]),
            a("x", tool_calls={"a": 1}),
            a("x", tool_calls=[5, tc("k", '"s"'), tc("l", '"1"')]),
            {"role": "critic", "content": "x", "name": "n", "refusal": "r"},
            {"role": "tool", "content": "x", "tool_call_id": 5},
        ],
    )
    def test_response(self, response: Json) -> None:
        """A response comes back exactly, member by member or whole."""
        assert rows_of([row(response=response)])[0]["response"] == response

    def test_refusal_with_markup(self) -> None:
        """A refusal makes no call, also when it is written again."""
        for response in (a(None, refusal="<function=f>"), None):
            messages = [u("q"), a("", refusal="<function=f>")]
            value = [row(messages=messages, response=response)]
            assert "tool_calls" not in turns(value)[1]
            (again,) = rows_of(value)
            assert again["messages"] == messages
            assert again.get("response") == response
            assert "tool_calls" not in turns({"session_steps": [again]})[1]

    def test_missing(self) -> None:
        """Rows without messages have none, and `null` counts as none."""
        value = [row(response=a("x")), row(step_id=2, messages=None, response=a("y"))]
        value.append({"session_id": "s", "step_id": 3, "response": a("z")})
        assert read_one(value)["origin"]["schema_version"] == "rows/new"
        assert [one["messages"] for one in rows_of(value)] == [[u("q")], [], []]
        assert [one["msg"] for one in turns(value)] == ["q", "x", "y", "z"]


class TestContiguous:
    def test_a_session_at_a_time(self) -> None:
        """A session is a document as soon as another one begins."""
        rows = [
            row(response=a("x")),
            row(step_id=2, response=a("y")),
            row(session_id="t", response=a("z")),
        ]
        documents = parse(*rows, contiguous="yes")
        assert [[one.session_id for one in document.value.sessions] for document in documents] == [
            ["s"],
            ["t"],
        ]
        assert [len(one.turns) for one in read(*rows, contiguous="yes")] == [4, 2]

    def test_reopened(self) -> None:
        """A session that comes back is fatal, and the message says what to do."""
        rows = [
            row(response=a("x")),
            row(session_id="t"),
            row(step_id=2),
            row(session_id="t", step_id=2),
        ]
        documents = parse(*rows, contiguous="yes")
        (problem,) = documents[1].problems
        assert (problem.rule, problem.pointer) == (
            "openai.session-reopened",
            "/session_steps/2/session_id",
        )
        assert (
            problem.message
            == "the session comes back after another one; read without contiguous=yes"
        )
        assert [one.is_fatal for one in documents] == [False, True, False]

    def test_same_bytes(self, tmp_path: Path) -> None:
        """Lines of rows are the same lines, however they are read."""
        rows = [
            row(session_id=f"s{number // 3}", step_id=number % 3 + 1, response=a("x"))
            for number in range(30)
        ]
        source = tmp_path / "rows.jsonl"
        source.write_bytes(lines(*rows))
        for name, options in (("a.jsonl", {}), ("b.jsonl", {"contiguous": "yes"})):
            hub.convert(source, tmp_path / name, to="openai-messages", options=options)
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()

    def test_bounded_memory(self, tmp_path: Path) -> None:
        """What is held does not grow with the number of sessions."""
        source = tmp_path / "rows.jsonl"
        peaks = []
        for count in (40, 400):
            long = [u("x" * 50_000)]
            rows = [
                row(session_id=f"s{number}", messages=long, response=a("y"))
                for number in range(count)
            ]
            source.write_bytes(lines(*rows))
            found = hub.read(source, format="openai-messages", options={"contiguous": "yes"})
            next(found)
            tracemalloc.start()
            assert sum(1 for _ in found) == count - 1
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] < peaks[0] * 1.5


class TestHostile:
    @pytest.mark.parametrize(
        "value",
        [
            {"session_steps": 5},
            {"session_steps": [None]},
            {"session_steps": {}},
            [[u("x")]],
            {"messages": [{"role": "assistant", "tool_calls": [[], {}, None, {"function": []}]}]},
            {"messages": [{"content": "x", "name": "y"}]},
            {"messages": [{"role": "tool", "tool_call_id": []}, {"role": "function", "name": []}]},
            {"messages": [{"role": "user", "content": {"text": {"text": {"text": []}}}}]},
            [row(messages=[None, 5, [], {"role": []}, {"role": "tool", "tool_call_id": {}}])],
            [row(response={"role": [], "content": [[[]]], "tool_calls": {"a": 1}})],
            [row(agent_id=[], run_id={}, id=[], env_name=[], dt=[], meta_json={"env_state": []})],
        ],
    )
    def test_no_traceback(self, value: Json) -> None:
        """Whatever is read gives Storylines or problems."""
        readings = list(read_documents(hub.formats["openai-messages"], Source.of(value)))
        assert readings
        assert all(one.storylines or one.is_fatal for one in readings)

    def test_deep(self) -> None:
        """Arguments that are nested too deep stay a text, and deep contents have a value or none."""
        deep = "[" * 400 + "]" * 400
        value = {"messages": [a(None, tool_calls=[tc("k", deep)])]}
        assert turns(value)[0]["tool_calls"][0]["args"] == deep
        assert written(value) == value
        content: Json = []
        for _ in range(400):
            content = [content]
        assert turns([row(response=a(content))])[1]["msg"] is None

    def test_many_calls(self) -> None:
        """A long history is read in time that grows with its length."""
        history: list[Json] = [u("q")]
        rows = []
        for number in range(1, 300):
            ask = a(None, tool_calls=[tc("same")])
            rows.append(row(step_id=number, messages=list(history), response=ask))
            history += [ask, tool("same", f"r{number}")]
        made = turns(rows)
        assert [
            one["observation"]["results"][0]["content"] for one in made if "observation" in one
        ] == [f"r{number}" for number in range(1, 299)]
