"""Every rule: where it is reported, how grave it is, and what is kept."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hub_openai_messages import plugin, rules
from hub_openai_messages.calls import calls_of_chat
from hub_openai_messages.rules import RULES
from hypothesis import given
from hypothesis import strategies as st

import hub
from hub import Source

from .builders import a, fields, lines, parse, parse_one, problems, row, tc, tool, turns, u

Json = Any

R = "/session_steps/0"


def found(value: Json) -> list[tuple[str, str, str]]:
    """Return what is found in a row with these members, that says something; by place."""
    return sorted(problems([row(**{"response": a("ok"), **value})]), key=lambda one: one[2])


class TestRows:
    def test_sound(self) -> None:
        """A sound row has no problem."""
        assert found({}) == []

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ({"messages": 5}, ("error", "openai.type", "messages")),
            ({"agent_id": 5}, ("error", "openai.type", "agent_id")),
            ({"llm_model": []}, ("error", "openai.type", "llm_model")),
            ({"job_id": True}, ("error", "openai.type", "job_id")),
            ({"created_at": True}, ("error", "openai.type", "created_at")),
            ({"created_at": "2026-01-01"}, ("warning", "openai.time", "created_at")),
            ({"created_at": 1e300}, ("warning", "openai.time", "created_at")),
            ({"meta_json": "[1]"}, ("warning", "openai.meta", "meta_json")),
            ({"meta_json": [1]}, ("error", "openai.type", "meta_json")),
            (
                {"meta_json": {"env_state": "{"}},
                ("warning", "openai.meta", "meta_json/env_state"),
            ),
        ],
    )
    def test_member(self, value: Json, problem: tuple[str, str, str]) -> None:
        """A member of a wrong type, or without a meaning, is reported, and is a residual."""
        severity, rule, place = problem
        assert found(value) == [(severity, rule, f"{R}/{place}")]
        kept = fields([row(**{"response": a("ok"), **value})])
        assert list(kept) == [f"{R}/{place}"]

    def test_response(self) -> None:
        """A response that is no object is no output."""
        assert found({"response": 5}) == [
            ("error", "openai.type", f"{R}/response"),
            ("error", "openai.output", f"{R}/response"),
        ]
        assert fields([row(response=5)]) == {f"{R}/response": 5}

    def test_calls(self) -> None:
        """Calls that are none, and arguments that are no JSON, are reported where they make a turn."""
        calls = [tc("k", "{bad"), tc(""), 5]
        assert found({"response": a("ok", tool_calls=calls)}) == [
            ("warning", "openai.arguments", f"{R}/response/tool_calls/0/function/arguments"),
            ("error", "openai.call", f"{R}/response/tool_calls/1"),
            ("error", "openai.call", f"{R}/response/tool_calls/2"),
        ]
        assert found({"response": a("ok", tool_calls="x")}) == [
            ("error", "openai.call", f"{R}/response/tool_calls")
        ]

    def test_results(self) -> None:
        """A result without a call stays with its row; a call id that comes back is renamed."""
        value = [
            row(response=a("x", tool_calls=[tc("k")])),
            row(
                step_id=2,
                messages=[tool("zz", "late"), u("q")],
                response=a("y", tool_calls=[tc("k")]),
            ),
        ]
        assert problems(value) == [
            (
                "warning",
                "openai.call-id-unique",
                "/session_steps/1/response/tool_calls/0/id",
            ),
            ("warning", "openai.result-call", "/session_steps/1/messages/0"),
        ]
        assert turns(value)[3]["observation"] == {
            "results": [{"source_call_id": "zz", "content": "late"}]
        }

    def test_order(self) -> None:
        """Rows that are not in order, and sessions that are interleaved, are worth knowing."""
        first, second, other = (
            row(response=a("x")),
            row(step_id=2, response=a("y")),
            row(session_id="o", response=a("z")),
        )
        order = ("info", "openai.row-order")
        assert problems([second, first]) == [(*order, "/session_steps/0")]
        assert problems([first, other, second]) == [(*order, "/session_steps/2")]
        assert problems([first, second, other]) == []

    def test_huge_step(self) -> None:
        """A step id from which no turn id can be made is none."""
        assert found({"step_id": 2**62}) == [("error", "openai.step-id", f"{R}/step_id")]
        assert turns([row(step_id=2**61, response=a("x"))])[1]["id"] == 2**62

    def test_broken_row_among_others(self) -> None:
        """A row that cannot be read is a document of its own, so that the others can be."""
        bad = {"session_id": 5, "step_id": 1}
        documents = parse([row(response=a("x")), bad, row(step_id=2, response=a("y"))])
        assert [one.is_fatal for one in documents] == [True, False]
        assert [one.rule for one in documents[0].problems] == ["openai.session-id"]

    def test_zone(self) -> None:
        """A time without a zone gets the one that is assumed, and its text is kept."""
        text = lines(row(created_at="2026-01-01T00:00:00", response=a("x")))
        (one,) = hub.read(Source(text, name="x.json", zone=_zone()), format="openai-messages")
        assert one.turns[0].timestamp == "2026-01-01T00:00:00+08:00"
        kept = one.unknown_fields["openai-msg"].fields
        assert kept == {f"{R}/created_at": "2026-01-01T00:00:00"}


def _zone() -> Any:
    from hub.storyline.times import Zone

    return Zone("+08:00")


def chat(*messages: Json) -> list[tuple[str, str, str]]:
    """Return what is found in a chat."""
    return problems({"messages": list(messages)})


def error(rule: str, place: str) -> tuple[str, str, str]:
    """Return an error at a place below the messages."""
    return ("error", f"openai.{rule}", f"/messages{place}")


class TestChats:
    @pytest.mark.parametrize(
        ("value", "place"),
        [
            ({"messages": 5}, "/messages"),
            ({"messages": [u("x"), 5]}, "/messages/1"),
            ({"x": 1}, "/messages"),
            (5, "/messages"),
        ],
    )
    def test_fatal(self, value: Json, place: str) -> None:
        """Messages are objects in an array."""
        assert problems(value) == [("fatal", "openai.messages", place)]

    def test_lines_of_messages(self) -> None:
        """Lines of messages are no chat."""
        assert problems(u("a"), u("b")) == [("fatal", "openai.messages", "/messages")] * 2

    def test_empty(self) -> None:
        """There is a message."""
        assert chat() == [error("messages-empty", "")]

    @pytest.mark.parametrize("role", [{}, {"role": 5}, {"role": "critic"}])
    def test_role(self, role: Json) -> None:
        """The role is one of six."""
        assert chat({**role, "content": "x"}) == [error("role", "/0/role")]

    @pytest.mark.parametrize(
        ("message", "place"),
        [
            (u(5), "/0/content"),
            (u(None), "/0/content"),
            ({"role": "user"}, "/0/content"),
            ({"role": "assistant"}, "/0/content"),
            (u([{"type": "text"}]), "/0/content/0"),
            (u(["x"]), "/0/content/0"),
            (u([{"type": "refusal", "refusal": "x"}]), "/0/content/0"),
            (u([{"type": "image_url", "image_url": "x"}]), "/0/content/0"),
            (
                u([{"type": "input_audio", "input_audio": {"data": "x", "format": "ogg"}}]),
                "/0/content/0",
            ),
            (u([{"type": "file", "file": 5}]), "/0/content/0"),
            (a([{"type": "image_url", "image_url": {"url": "x"}}]), "/0/content/0"),
            ({"role": "system", "content": [{"type": "image_url"}]}, "/0/content/0"),
        ],
    )
    def test_content(self, message: Json, place: str) -> None:
        """The content is what the role allows."""
        assert chat(message) == [error("content", place)]

    @pytest.mark.parametrize(
        "message",
        [
            a(None),
            a([{"type": "refusal", "refusal": "no"}]),
            u([{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "x"}}]),
            u([{"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}}]),
            u([{"type": "file", "file": {"file_id": "f"}}]),
            {"role": "developer", "content": [{"type": "text", "text": "x"}], "name": "n"},
            a("x", weight=0, refusal=None, annotations=[]),
        ],
    )
    def test_sound(self, message: Json) -> None:
        """What the API knows is no problem."""
        assert chat(message) == []

    @pytest.mark.parametrize(
        ("call", "place"),
        [
            ({"function": {"name": "f"}}, "/0/tool_calls/0"),
            ({"id": "", "type": "function", "function": {"name": "f"}}, "/0/tool_calls/0"),
            ({"id": "k", "function": {"name": "f"}}, "/0/tool_calls/0"),
            ({"id": "k", "type": "function", "function": {"name": ""}}, "/0/tool_calls/0"),
            ({"id": "k", "type": "x", "x": {"name": "f"}}, "/0/tool_calls/0"),
            (5, "/0/tool_calls/0"),
        ],
    )
    def test_call(self, call: Json, place: str) -> None:
        """A call has an id, a type and a name."""
        assert [one for one in chat(a(None, tool_calls=[call])) if "call" in one[1]] == [
            error("call", place)
        ]

    def test_other_calls(self) -> None:
        """Calls are in an array; the deprecated one has a name; custom ones are calls."""
        assert chat(a(None, tool_calls="x")) == [error("call", "/0/tool_calls")]
        assert chat(a(None, function_call={})) == [error("call", "/0/function_call")]
        custom = {"id": "k", "type": "custom", "custom": {"name": "c", "input": "{bad"}}
        assert chat(a(None, tool_calls=[custom]), tool("k", "x")) == []

    def test_arguments(self) -> None:
        """Arguments are JSON text."""
        place = "/0/tool_calls/0/function/arguments"
        for arguments in ("{bad", {"a": 1}, ""):
            assert chat(a(None, tool_calls=[tc("k", arguments)])) == [
                ("warning", "openai.arguments", f"/messages{place}")
            ]
        assert chat(a(None, function_call={"name": "f", "arguments": "{"})) == [
            ("warning", "openai.arguments", "/messages/0/function_call/arguments")
        ]

    def test_pairing(self) -> None:
        """Every call is answered before something else is said, and every answer has a call."""
        ask = a(None, tool_calls=[tc("1"), tc("2")])
        assert chat(ask, tool("1", "A"), tool("2", "B"), u("x")) == []
        assert chat(ask) == []
        assert chat(ask, tool("2", "B"), u("x")) == [error("unanswered", "/0/tool_calls/0")]
        assert chat(ask, tool("zz", "A")) == [error("result-call", "/1/tool_call_id")]
        assert chat(ask, tool("1", "A"), tool("2", "B"), a("x"), tool("1", "C")) == [
            error("result-call", "/4/tool_call_id")
        ]
        assert chat(u("x"), tool("1", "A")) == [error("result-call", "/1/tool_call_id")]

    def test_function_pairing(self) -> None:
        """The deprecated call is answered by name."""
        ask = a(None, function_call={"name": "f", "arguments": "{}"})
        answer = {"role": "function", "name": "f", "content": "x"}
        assert chat(ask, answer, u("x")) == []
        assert chat(ask, u("x")) == [error("unanswered", "/0/function_call")]
        assert chat(ask, {**answer, "name": "g"}) == [error("result-call", "/1/name")]

    def test_message_of_pairing(self) -> None:
        """The message names the calls that could have been answered."""
        (document,) = parse({"messages": [a(None, tool_calls=[tc("1"), tc("2")]), tool("zz", "A")]})
        assert [one.message for one in document.problems] == [
            'expected one of "1", "2", found "zz"'
        ]

    def test_unique(self) -> None:
        """No two calls have one id."""
        twice = [a(None, tool_calls=[tc("1")]), tool("1", "A")] * 2
        assert chat(*twice) == [error("call-id-unique", "/2/tool_calls/0/id")]

    def test_unknown(self) -> None:
        """Members that the API does not know are worth a warning."""
        assert chat(a("x", reasoning_content="r"), u("y") | {"a/b": 1}) == [
            ("warning", "openai.unknown-key", "/messages/0/reasoning_content"),
            ("warning", "openai.unknown-key", "/messages/1/a~1b"),
        ]

    PAYLOADS: ClassVar = {
        "text": {"type": "text", "text": "x"},
        "refusal": {"type": "refusal", "refusal": "x"},
        "image_url": {"type": "image_url", "image_url": {"url": "u"}},
        "input_audio": {"type": "input_audio", "input_audio": {"data": "d", "format": "wav"}},
        "file": {"type": "file", "file": {}},
    }

    @pytest.mark.parametrize(
        ("role", "kinds"),
        [
            ("developer", {"text"}),
            ("system", {"text"}),
            ("user", {"text", "image_url", "input_audio", "file"}),
            ("assistant", {"text", "refusal"}),
            ("tool", {"text"}),
            ("function", set()),
        ],
    )
    def test_parts_of_a_role(self, role: str, kinds: set[str]) -> None:
        """Each role has parts of its own."""
        content = list(self.PAYLOADS.values())
        found = chat({"role": role, "content": content, "tool_call_id": "k"})
        wrong = [place for _, rule, place in found if rule == "openai.content"]

        assert wrong == [
            f"/messages/0/content/{index}"
            for index, kind in enumerate(self.PAYLOADS)
            if kind not in kinds
        ]

    @pytest.mark.parametrize(
        ("role", "keys"),
        [
            ("developer", {"name"}),
            ("system", {"name"}),
            ("user", {"name"}),
            (
                "assistant",
                {
                    "name",
                    "refusal",
                    "audio",
                    "tool_calls",
                    "function_call",
                    "annotations",
                    "weight",
                },
            ),
            ("tool", {"tool_call_id"}),
            ("function", {"name"}),
        ],
    )
    def test_keys_of_a_role(self, role: str, keys: set[str]) -> None:
        """And keys of its own; any other one is a warning."""
        every = [
            "annotations",
            "audio",
            "function_call",
            "name",
            "refusal",
            "tool_call_id",
            "tool_calls",
            "weight",
            "x",
        ]
        found = chat({"role": role, "content": "c", **dict.fromkeys(every)})
        unknown = [place for _, rule, place in found if rule == "openai.unknown-key"]

        assert unknown == [f"/messages/0/{key}" for key in every if key not in keys]

    @pytest.mark.parametrize(
        ("wrong", "expected"),
        [
            ({"messages": {}}, "an array or null"),
            ({"response": []}, "an object or null"),
            ({"agent_id": 5}, "a string or null"),
            ({"job_id": 5}, "a string or null"),
            ({"created_at": []}, "a string, a number or null"),
            ({"meta_json": 5}, "an object, or a text that holds one"),
        ],
    )
    def test_words(self, wrong: dict[str, Json], expected: str) -> None:
        """A member of another type is told what it may be."""
        document = parse_one([row(**{"response": a("x"), **wrong})])
        list(plugin.to_storyline(document))
        messages = [one.message for one in document.problems if one.rule == "openai.type"]

        assert len(messages) == 1
        assert f"expected {expected}, found" in messages[0]

    def test_message_of_unknown(self) -> None:
        """The message names the key."""
        (document,) = parse({"messages": [u("y") | {"get_weather": 1}]})
        assert [one.message for one in document.problems] == [
            'expected a key that the API knows, found "get_weather"'
        ]

    @pytest.mark.parametrize(
        ("call", "found"),
        [
            ({"type": "function", "function": {"name": "f"}}, "one without an id"),
            ({"id": "1", "type": "x", "function": {"name": "f"}}, "one without a known type"),
            ({"id": "1", "type": "function", "function": {}}, "one without a name"),
            (5, "5"),
        ],
    )
    def test_message_of_call(self, call: Json, found: str) -> None:
        """The message says what a call lacks."""
        (document,) = parse({"messages": [a("x", tool_calls=[call])]})
        assert f"expected a call with an id, a name and a known type, found {found}" in [
            one.message for one in document.problems
        ]


USUAL_CALL: Json = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
MESSAGES: st.SearchStrategy[Json] = st.sampled_from([
    u("y"),
    {"role": "system", "content": "s"},
    a("x"),
    a(None),
    a("x", tool_calls=[USUAL_CALL]),
    a(None, tool_calls=[USUAL_CALL | {"id": "2"}, USUAL_CALL | {"id": "3"}]),
    a("x", tool_calls=[USUAL_CALL, USUAL_CALL]),
    a("x", tool_calls=[USUAL_CALL | {"type": "x"}]),
    a("x", tool_calls=[]),
    a("x", tool_calls=5),
    a("x", function_call={"name": "f", "arguments": "{}"}),
    {"role": "assistant", "tool_calls": [USUAL_CALL], "name": "n"},
    {"role": "assistant", "weight": 1},
    tool("1", "r"),
    tool("2", "r"),
    tool("3", "r"),
    tool("1", None),
    {"role": "function", "name": "f", "content": "r"},
    {"role": "user", "content": None},
    {"role": "x", "content": "x"},
])  # fmt: skip


class TestPlainMessages:
    """Messages that are seen to break no rule without asking each rule."""

    @given(st.lists(MESSAGES, max_size=8))
    def test_same_problems(self, messages: list[Json]) -> None:
        """The quick look finds what asking each rule finds."""
        calls = calls_of_chat(messages)
        quick = list(rules.chat(messages, calls))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("hub_openai_messages.rules._Pairing.is_plain", lambda *_: False)
            assert list(rules.chat(messages, calls)) == quick


class TestCatalogue:
    def test_every_rule_is_named(self) -> None:
        """The rules of the format are those of this plugin, each once."""
        names = [rule.rule for rule in RULES]
        assert len(set(names)) == len(names) == 22
        assert all(name.startswith("openai.") for name in names)
        assert list(hub.formats["openai-messages"].rules) == list(RULES)
