"""The documented rules of the API and of fine-tuning files, written down apart from those that the plugin reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = Any

MEMBERS = {
    "system": ({"role", "content"}, {"name"}),
    "developer": ({"role", "content"}, {"name"}),
    "user": ({"role", "content"}, {"name"}),
    "assistant": ({"role"}, {"content", "refusal", "name", "tool_calls", "weight"}),
    "tool": ({"role", "content", "tool_call_id"}, set()),
}
"""Members that a message must and may have, without deprecated ones."""


def errors(chat: Json) -> list[str]:
    """Return what a fine-tuning file may not have."""
    found = [f"member {key}" for key in chat.keys() - {"messages", "tools"}]
    if not chat["messages"]:
        found.append("no message")
    if "tools" in chat:
        found += [f"tool {tool}" for tool in chat["tools"] if tool.get("type") != "function"]
    for index, message in enumerate(chat["messages"]):
        found += [f"message {index}: {error}" for error in _message_errors(message)]
    return [*found, *_pairing_errors(chat["messages"])]


def _message_errors(message: Json) -> Iterator[str]:
    if message.get("role") not in MEMBERS:
        yield f"role {message.get('role')}"
        return
    required, allowed = MEMBERS[message["role"]]
    yield from (f"no {key}" for key in required - message.keys())
    yield from (f"member {key}" for key in message.keys() - required - allowed)
    content = message.get("content")
    if message["role"] == "user" and isinstance(content, list):
        yield from (f"part {part}" for part in content if not _is_part(part))
    elif content is None:
        if message["role"] != "assistant" or not message.get("tool_calls"):
            yield "no content"
    elif not isinstance(content, str):
        yield f"content {content}"
    for call in message.get("tool_calls", ()):
        yield from _call_errors(call)


def _is_part(part: Json) -> bool:
    match part:
        case {"type": "text", "text": str()} if len(part) == 2:
            return True
        case {"type": "image_url", "image_url": {"url": str()}} if len(part) == 2:
            return True
        case {"type": "input_audio", "input_audio": {"data": str(), "format": "wav" | "mp3"}}:
            return len(part) == 2
    return False


def _call_errors(call: Json) -> Iterator[str]:
    match call:
        case {
            "id": str(id_),
            "type": "function",
            "function": {"name": str(name), "arguments": str()},
        }:
            if not id_ or not name or len(call) != 3 or len(call["function"]) != 2:
                yield f"call {call}"
        case {"id": str(id_), "type": "custom", "custom": {"name": str(name), "input": str()}}:
            if not id_ or not name or len(call) != 3 or len(call["custom"]) != 2:
                yield f"call {call}"
        case _:
            yield f"call {call}"


def _pairing_errors(messages: Json) -> Iterator[str]:
    open_calls: set[str] = set()
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                yield f"message {index}: answers nothing"
            open_calls.discard(message.get("tool_call_id"))
            continue
        if open_calls:
            yield f"message {index}: before {sorted(open_calls)} are answered"
        open_calls = {call.get("id") for call in message.get("tool_calls", ())}
        if len(open_calls) < len(message.get("tool_calls", ())) or open_calls & seen:
            yield f"message {index}: a call id twice"
        seen |= open_calls
