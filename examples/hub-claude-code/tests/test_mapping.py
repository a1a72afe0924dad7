"""What of a session goes where, and what every other format makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hub
from hub import Storyline, completion_tokens, prompt_tokens
from hub.testing import call

Json = Any

CART = Path(__file__).parent / "samples" / "cart.jsonl"
PARALLEL = CART.with_name("parallel.jsonl")
"""Two sub-agents side by side without ids, results between the lines of a message, a search, an interruption."""
SESSION = "5b2c7d1e-0a4f-4c3b-9a57-6d1f0c2e8a11"
HELPER = f"{SESSION}/7f3a"


@pytest.fixture
def both() -> list[Storyline]:
    """The main agent and its helper."""
    return list(hub.read(CART))


def session(*lines: Json) -> list[Storyline]:
    """Return the Storylines of a session with *lines*."""
    usual = {"sessionId": "s", "uuid": "u", "parentUuid": None}
    return list(hub.read(hub.Source.of_array([usual | one for one in lines]), format="claude-code"))


def said(*blocks: Json, **message: Json) -> Json:
    """Return a line of the model's."""
    return {
        "type": "assistant",
        "message": {"role": "assistant", "content": list(blocks), **message},
    }


def told(content: Json, **members: Json) -> Json:
    """Return a line of the user's, or of tools."""
    return {"type": "user", "message": {"role": "user", "content": content}, **members}


def use(call_id: str, name: str = "Bash", **input: Json) -> Json:
    """Return a call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": input}


def back(call_id: str, content: Json) -> Json:
    """Return what came back."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def shown(path: Path) -> list[bytes]:
    """Return the Storylines of a file as text, in an order of their own."""
    return sorted(hub.canonical(hub.to_wire(one)) for one in hub.read(path))


class TestMain:
    def test_speakers(self, both: list[Storyline]) -> None:
        """The lines of one message are one turn, and results are no turns."""
        speakers = [turn.source for turn in both[0].turns]
        assert ["user", "user", "agent", "agent", "system", "agent"] == speakers

    def test_message(self, both: list[Storyline]) -> None:
        """Text, thinking and calls of a message stand in one turn, with what came back."""
        turn = both[0].turns[2]
        assert "I read the code and let a helper look for tests." == turn.message
        assert "Tests first, then the sources." == turn.reasoning_content
        assert turn.tool_calls is not None
        assert ["toolu_01", "toolu_02"] == [one.tool_call_id for one in turn.tool_calls]
        assert turn.observation == {
            "results": [
                {
                    "source_call_id": "toolu_01",
                    "content": "1\tdef total(items):\n2\t    return round(sum(items), 1)",
                },
                {
                    "source_call_id": "toolu_02",
                    "content": [{"type": "text", "text": "tests/test_cart.py"}],
                },
            ]
        }

    def test_failed_call(self, both: list[Storyline]) -> None:
        """A result that is an error says so."""
        assert both[0].turns[3].observation == {
            "results": [{"source_call_id": "toolu_04", "content": "1 failed", "is_error": True}]
        }

    def test_tokens_count_once(self, both: list[Storyline]) -> None:
        """A message of four lines has the counts of its last one; those before are kept, not counted."""
        turns = both[0].turns
        assert [None, None, 260, 50, None, 31] == [completion_tokens(one.metrics) for one in turns]
        assert 3 + 12000 + 900 == prompt_tokens(turns[2].metrics)
        kept = both[0].unknown_fields["claude-code"].fields
        assert [1, 1, 212] == [kept[f"/{at}/message/usage"]["output_tokens"] for at in (4, 5, 6)]

    def test_image(self, both: list[Storyline]) -> None:
        """An image is a part of the message, as it was read."""
        parts = list(hub.parts(both[0].turns[1].message))
        assert ["text", "image"] == [part.kind for part in parts]
        assert "image/png" == parts[1].media_type

    def test_summary(self, both: list[Storyline]) -> None:
        """Summaries are notes."""
        assert "Rounding in the cart" == both[0].notes

    def test_flags(self, both: list[Storyline]) -> None:
        """What kind of message it is stands beside it."""
        assert {"subtype": "informational", "level": "warning", "isMeta": False} == both[0].turns[
            4
        ].extra

    def test_agent(self, both: list[Storyline]) -> None:
        """Program, version and model make the agent."""
        agent = both[0].agent
        assert ("claude-code", "2.1.38", "claude-opus-4-5") == (
            agent.agent_id,
            agent.version,
            agent.model_name,
        )

    def test_nothing_is_left_out(self, both: list[Storyline]) -> None:
        """Every text of the file is in a Storyline."""
        shown = json.dumps([hub.to_wire(one) for one in both])
        texts = set()
        todo: list[Json] = [json.loads(one) for one in CART.read_text().splitlines()]
        for one in todo:  # grows on the way
            if isinstance(one, dict):
                todo.extend(one.values())
            elif isinstance(one, list):
                todo.extend(one)
            elif isinstance(one, str) and one not in (
                "assistant",
                "message",
                "thinking",
                "tool_use",
            ):
                texts.add(one)
        assert [] == [one for one in texts - {"tool_result"} if json.dumps(one)[1:-1] not in shown]


class TestHelpers:
    def test_linked(self, both: list[Storyline]) -> None:
        """A sub-agent names the call that started it, and its parent names it."""
        main, helper = both
        assert HELPER == helper.document_id
        assert [HELPER] == main.child_ids
        assert helper.parent == hub.Parent(session_id=SESSION, call_id="toolu_02", turn_id=3)
        assert ("Explore", "claude-haiku-4-5") == (helper.agent.agent_id, helper.agent.model_name)

    def test_turns(self, both: list[Storyline]) -> None:
        """It has its own turns, calls and counts."""
        helper = both[1]
        assert ["user", "agent", "agent"] == [turn.source for turn in helper.turns]
        assert [call("toolu_03", "Grep", {"pattern": "cart", "path": "tests"})] == helper.turns[
            1
        ].tool_calls
        assert [None, 40, 9] == [completion_tokens(turn.metrics) for turn in helper.turns]

    def test_by_prompt(self) -> None:
        """Without an id, two that run side by side are told apart by their prompts."""
        main, *helpers = session(
            said(use("c1", "Task", prompt="one"), use("c2", "Task", prompt="two")),
            told("two", isSidechain=True, uuid="h2"),
            told("one", isSidechain=True, uuid="h1"),
            said({"type": "text", "text": "2"}) | {"isSidechain": True, "parentUuid": "h2"},
        )
        assert ["s/h2", "s/h1"] == main.child_ids
        assert ["c2", "c1"] == [one.parent.call_id for one in helpers if one.parent]
        assert [2, 1] == [len(one.turns) for one in helpers]

    def test_by_line(self) -> None:
        """One that begins with something else is linked by the line that it follows."""
        _, helper = session(
            said(use("c1", "Agent", prompt="p")) | {"uuid": "a"},
            told("warm up", isSidechain=True, uuid="h", parentUuid="a"),
        )
        assert helper.parent == hub.Parent(session_id="s", call_id="c1", turn_id=1)

    def test_alone(self) -> None:
        """A file of a sub-agent alone names its session as its parent."""
        (helper,) = session(told("p", isSidechain=True, agentId="x"))
        assert ("s/x", hub.Parent(session_id="s")) == (helper.document_id, helper.parent)


class TestDirectories:
    @pytest.mark.parametrize("place", [f"{SESSION}/subagents/agent-7f3a.jsonl", "agent-7f3a.jsonl"])
    def test_files_of_helpers(self, place: str, tmp_path: Path, both: list[Storyline]) -> None:
        """A sub-agent in a file of its own is linked as one in the file of its session."""
        lines = CART.read_text().splitlines(keepends=True)
        helper = [one for one in lines if '"isSidechain": true' in one]
        path = tmp_path / "runs" / place
        path.parent.mkdir(parents=True)
        path.write_text("".join(helper))
        main = tmp_path / "runs" / f"{SESSION}.jsonl"
        main.write_text("".join(one for one in lines if one not in helper))
        assert "claude-code" == hub.detect(tmp_path / "runs").format
        found = list(hub.read(tmp_path / "runs"))
        assert [one.turns for one in both] == [one.turns for one in found]
        assert [one.parent for one in both] == [one.parent for one in found]
        assert [HELPER] == found[0].child_ids

    def test_torn_file(self, tmp_path: Path) -> None:
        """A file that cannot be read costs itself only."""
        (tmp_path / "agent-1.jsonl").write_text('{"type": ')
        (tmp_path / f"{SESSION}.jsonl").write_bytes(CART.read_bytes())
        output = tmp_path / "out.json"
        done = hub.convert(tmp_path, output, to="storyline", on_error="skip")
        assert (2, 1) == (done.storylines, done.skipped)


class TestCalls:
    def test_side_by_side(self) -> None:
        """Results find their calls in any order."""
        (one,) = session(said(use("a"), use("b"), id="m"), told([back("b", "2"), back("a", "1")]))
        assert one.turns[0].observation == {
            "results": [
                {"source_call_id": "b", "content": "2"},
                {"source_call_id": "a", "content": "1"},
            ]
        }

    def test_with_words(self) -> None:
        """What the user says beside a result is a turn."""
        (one,) = session(said(use("a")), told([back("a", "1"), {"type": "text", "text": "Stop."}]))
        assert ["", "Stop."] == [turn.message for turn in one.turns]

    def test_without_a_call(self) -> None:
        """A result without a call is a turn of the environment."""
        (one,) = session(told([back("gone", "late")]))
        assert "environment" == one.turns[0].source
        assert one.turns[0].observation == {
            "results": [{"source_call_id": "gone", "content": "late"}]
        }

    def test_of_the_api(self) -> None:
        """A tool that the API runs has its result in the same message."""
        search = {
            "type": "server_tool_use",
            "id": "s1",
            "name": "web_search",
            "input": {"query": "q"},
        }
        found = [{"type": "web_search_result", "url": "https://example.org"}]
        came = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": found}
        (one,) = session(said(search, came, {"type": "text", "text": "There."}))
        assert "There." == one.turns[0].message
        assert [call("s1", "web_search", {"query": "q"})] == one.turns[0].tool_calls
        assert {"results": [{"source_call_id": "s1", "content": found}]} == one.turns[0].observation
        kept = one.unknown_fields["claude-code"].fields
        assert ["server_tool_use", "web_search_tool_result"] == [
            kept[f"/0/message/content/{index}/type"] for index in (0, 1)
        ]

    def test_result_of_the_api_without_a_call(self) -> None:
        """Such a result without its call stays a part of the message."""
        came = {"type": "web_search_tool_result", "tool_use_id": "gone", "content": []}
        (one,) = session(said(came))
        assert [came] == one.turns[0].message

    def test_redacted_thinking(self) -> None:
        """Thinking that nobody can read is no part of the message, and is kept."""
        hidden = {"type": "redacted_thinking", "data": "EmwK"}
        (one,) = session(said(hidden, {"type": "text", "text": "Done."}))
        assert ("Done.", None) == (one.turns[0].message, one.turns[0].reasoning_content)
        assert hidden == one.unknown_fields["claude-code"].fields["/0/message/content/0"]

    def test_one_id_twice(self) -> None:
        """The second call with an id gets a number, and its result finds it."""
        (one,) = session(
            said(use("a")), told([back("a", "1")]), said(use("a")), told([back("a", "2")])
        )
        ids = [made.tool_call_id for turn in one.turns for made in turn.tool_calls or ()]
        assert ["a", "a#2"] == ids
        assert one.turns[1].observation == {"results": [{"source_call_id": "a#2", "content": "2"}]}


class TestParallel:
    def test_links(self) -> None:
        """Sub-agents whose lines alternate are told apart, and each is linked to its call."""
        main, *helpers = hub.read(PARALLEL)
        assert [one.document_id for one in helpers] == main.child_ids
        assert [("Explore", "toolu_01task1"), ("general-purpose", "toolu_01task2")] == [
            (one.agent.agent_id, one.parent.call_id) for one in helpers if one.parent
        ]

    def test_results(self) -> None:
        """Every call has its result, also one whose result stands between the lines of its message."""
        for one in hub.read(PARALLEL):
            for turn in one.turns:
                calls = [made.tool_call_id for made in turn.tool_calls or ()]
                answered = [result["source_call_id"] for result in hub.visible_results(turn)]
                assert sorted(calls) == sorted(answered)

    def test_tokens(self) -> None:
        """The counts of each message are there once: not once a line, and not again in the result of its sub-agent."""
        sums = [
            (
                sum(prompt_tokens(turn.metrics) or 0 for turn in one.turns),
                sum(completion_tokens(turn.metrics) or 0 for turn in one.turns),
            )
            for one in hub.read(PARALLEL)
        ]
        assert [(87232, 611), (2010, 48), (2012, 40)] == sums


class TestOtherFormats:
    @pytest.mark.skipif("openai-messages" not in hub.formats, reason="needs OpenAI messages")
    @pytest.mark.parametrize("session", [CART, PARALLEL], ids=lambda one: one.stem)
    def test_chat_lines(self, session: Path, tmp_path: Path) -> None:
        """Each agent is a line, in which every call is answered by the messages behind it."""
        output = tmp_path / "out.jsonl"
        hub.convert(session, output, to="openai-messages", options={"variant": "chat-jsonl"})
        chats = [json.loads(line)["messages"] for line in output.read_text().splitlines()]
        assert len(list(hub.read(session))) == len(chats)
        for messages in chats:
            calls = [made["id"] for one in messages for made in one.get("tool_calls", ())]
            answers = [one["tool_call_id"] for one in messages if one["role"] == "tool"]
            assert sorted(calls) == sorted(answers)

    @pytest.mark.parametrize("format", ["actf", "ale", "atif", "openai-messages"])
    def test_converted(self, format: str, tmp_path: Path) -> None:
        """A session becomes every other format without an error, and comes back as the Storylines that it was."""
        if format not in hub.formats:
            pytest.skip(f"{format} is not installed")
        output, again = tmp_path / "out.json", tmp_path / "again.json"
        hub.convert(CART, output, to=format)
        assert hub.validate(output, format=format).is_valid
        hub.convert(output, again, to="storyline", format=format)
        assert shown(CART) == shown(again)

    @pytest.mark.parametrize("format", ["actf", "ale", "atif", "openai-messages"])
    def test_pairs_and_counts(self, format: str, tmp_path: Path) -> None:
        """Without the envelope the formats themselves have the calls with their results, and count tokens once."""
        if format not in hub.formats:
            pytest.skip(f"{format} is not installed")
        output = tmp_path / "out.json"
        hub.convert(CART, output, to=format, carry=False)
        found = list(hub.read(output, format=format))
        turns = [turn for one in found for turn in one.turns]
        calls = [made.tool_call_id for turn in turns for made in turn.tool_calls or ()]
        assert ["toolu_01", "toolu_02", "toolu_03", "toolu_04"] == sorted(calls)
        answered = {
            result.get("source_call_id") for turn in turns for result in hub.visible_results(turn)
        }
        assert set(calls) <= answered
        counts = [completion_tokens(turn.metrics) for turn in turns]
        assert 260 + 50 + 31 + 40 + 9 == sum(one for one in counts if one)
