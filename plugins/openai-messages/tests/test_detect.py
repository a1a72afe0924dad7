"""Detection: detection.md 3, 6 and 7."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hub_openai_messages import plugin

from hub import Detection, Sample

from .builders import a, row, tc, u

Json = Any

Container = Literal["object", "array", "lines", "text", "directory"]


def detect(
    *records: Json, container: Container = "object", complete: bool = True
) -> Detection | None:
    """Return the answer for a sample of *records*."""
    found: Detection | None = plugin.detect(Sample(None, container, list(records), complete, None))
    return found


CHAT = {"messages": [u("hi"), a("yo")]}
ROWS = Detection(90, "session_id and step_id at /", "rows")


class TestRows:
    @pytest.mark.parametrize("container", ["object", "array", "lines"])
    def test_rows(self, container: Container) -> None:
        """Rows are known by their ids, in every container."""
        assert detect(row(), row(), container=container) == ROWS

    def test_response_only(self) -> None:
        """A row needs no messages."""
        assert detect({"session_id": "s", "step_id": 1, "response": a("x")}) == ROWS

    @pytest.mark.parametrize("steps", [[], [row()]])
    def test_session_steps(self, steps: Json) -> None:
        """So is an object with rows, also with none."""
        assert detect({"session_steps": steps}) == Detection(90, "session_steps at /", "rows")

    @pytest.mark.parametrize(("complete", "steps"), [(False, [{}]), (True, [{"session_id": "s"}])])
    def test_half_seen(self, complete: bool, steps: Json) -> None:  # noqa: FBT001
        """Where the ids are not visible, or one is missing, less sure."""
        found = detect({"session_steps": steps}, complete=complete)
        assert found == Detection(70, "session_steps at /", "rows")

    @pytest.mark.parametrize("steps", [[{}], [5], 5, {"a": 1}])
    def test_others(self, steps: Json) -> None:
        """Steps without ids are none."""
        assert detect({"session_steps": steps}) is None

    def test_foreign_marker(self) -> None:
        """The marker of another format leaves a hint."""
        found = detect({"schema_version": "ATIF-v1.7", "session_steps": []})
        assert found == Detection(50, "session_steps at /", "rows")

    def test_mixed(self) -> None:
        """A record that is something else makes the input none."""
        assert detect(row(), {"x": 1}, container="lines") is None
        assert detect(row(), 5, container="array") is None
        assert detect("x", container="text") is None


class TestChats:
    @pytest.mark.parametrize(
        ("container", "tag"),
        [("object", "chat/object"), ("array", "chat/list"), ("lines", "chat/jsonl")],
    )
    def test_object(self, container: Container, tag: str) -> None:
        """Messages with roles are a chat."""
        expected = Detection(85, "messages with roles at /messages", tag)
        assert detect(CHAT, container=container) == expected
        assert detect({**CHAT, "tools": [], "model": "m"}, container=container) == expected

    def test_unknown_member(self) -> None:
        """An unknown member makes it less sure."""
        assert detect({**CHAT, "images": []}) == Detection(
            70, "messages with roles at /messages", "chat/object"
        )

    def test_empty(self) -> None:
        """So do empty messages."""
        assert detect({"messages": []}) == Detection(
            60, "empty messages at /messages", "chat/object"
        )

    def test_array(self) -> None:
        """An array of messages is one as well, if they say something."""
        expected = Detection(85, "an array of messages with roles", "chat/array")
        assert detect(u("hi"), a(None, tool_calls=[tc("k")]), container="array") == expected
        only_roles = detect({"role": "user"}, container="array")
        assert only_roles is not None
        assert only_roles.confidence == 50

    def test_lines_of_messages(self) -> None:
        """Lines of messages are none: where does a conversation end?"""
        assert detect(u("hi"), a("yo"), container="lines") is None
        assert detect(u("hi")) is None

    def test_variants(self) -> None:
        """Rows and chats in one input have no variant."""
        found = detect(row(), CHAT, container="lines")
        assert found == Detection(85, "messages with roles at /messages", None)


def message(**members: Json) -> Json:
    """Return a chat with one message of these members."""
    return {"messages": [{"role": "user", "content": "x", **members}]}


class TestNearMisses:
    @pytest.mark.parametrize(
        "record",
        [
            {**CHAT, "system": "S"},
            {**CHAT, "trajectory_format": "mini-swe-agent-1", "info": {}},
            {**CHAT, "info": {}},
            {**CHAT, "epoch": 1, "target": "t"},
            {**CHAT, "object": "chat.completion"},
            {"input": CHAT, "preferred_output": [], "non_preferred_output": []},
            {"type": "user", "uuid": "u", "sessionId": "s", "message": u("hi")},
            {"trajectory": [], "history": [u("x")], "info": {}},
            {"resourceSpans": []},
            {"messages": "x"},
            {"messages": [5]},
            {"messages": [{"role": "human", "content": "x"}]},
            {"messages": [{"content": "x"}]},
            message(uuid="u"),
            message(agent="main"),
            message(parts=[]),
            message(content=5),
            message(content=[{"type": "tool_result", "tool_use_id": "t"}]),
            message(content=[{"type": "image", "source": {"type": "base64"}}]),
            {"role": "human", "content": "x"},
            {"name": "x", "version": "1.0.0"},
            {},
            5,
            None,
        ],
    )
    def test_not_claimed(self, record: Json) -> None:
        """What only looks like a chat is none."""
        assert detect(record) is None
        assert detect(record, container="array") is None

    def test_response(self) -> None:
        """An API response is told from a conversation."""
        record = {"object": "chat.completion", "choices": [{"message": a("yo")}]}
        assert detect(record) == Detection(40, "an API response, not a conversation")

    def test_marker_in_a_text(self) -> None:
        """Markers of other formats in a text are text."""
        assert detect(message(content="schema_version ATIF-v1.7")) is not None

    def test_parts(self) -> None:
        """Parts that are no objects, or images without a source, are no stop sign."""
        assert detect(message(content=["x", {"type": "image", "image": "y"}])) is not None
