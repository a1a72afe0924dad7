"""Detection: how sure one may be that a sample is rows or chats, and by which evidence.

Source: detection.md 3.
"""

from __future__ import annotations

from hub import Detection, Json, Sample

ROLES = frozenset({"developer", "system", "user", "assistant", "tool", "function"})
FOREIGN = ("storyline/", "ATIF", "ALE-v", "ACTF_")
"""How the version markers of other formats begin."""
HINT = 50

KNOWN = frozenset({
    "messages", "tools", "functions", "parallel_tool_calls", "tool_choice", "model", "id", "session_id",
    "conversation_id", "metadata", "temperature", "top_p", "max_tokens", "n", "stop", "stream", "seed", "user",
    "response_format", "weight", "source", "category", "_storyline",
})  # fmt: skip
"""Members that may be beside `messages` without a doubt."""

STOPS = frozenset({
    "system", "anthropic_version", "choices", "trajectory_format", "trajectory", "history", "samples", "eval",
    "resourceSpans", "uuid", "sessionId", "payload", "preferred_output",
})  # fmt: skip
"""Members of the root by which other formats are known."""
MESSAGE_STOPS = frozenset({"uuid", "agent", "parts"})
PART_STOPS = ("tool_use", "tool_result", "thinking")
OUTPUTS = frozenset({"content", "tool_calls", "function_call", "refusal"})
CHATS = {"object": "chat/object", "array": "chat/list", "lines": "chat/jsonl"}


def detect_sample(sample: Sample) -> Detection | None:
    """Answer for all records shown: as sure as of the least sure one."""
    if sample.container not in CHATS:
        return None
    answers = [_record(record, sample) for record in sample.records]
    sure = [answer for answer in answers if answer is not None]
    if not sure or len(sure) < len(answers):
        return None
    least = min(sure, key=lambda answer: answer.confidence)
    is_uniform = {answer.variant for answer in sure} == {least.variant}
    return least if is_uniform else least._replace(variant=None)


def _record(record: Json, sample: Sample) -> Detection | None:
    """Answer for one record; the version marker of another format leaves no more than a hint."""
    if not isinstance(record, dict):
        return None
    version = record.get("schema_version")
    answer = _rows(record, complete=sample.complete) or _other(record, sample)
    if answer is not None and isinstance(version, str) and version.startswith(FOREIGN):
        return answer._replace(confidence=min(answer.confidence, HINT))
    return answer


def _rows(record: dict[str, Json], *, complete: bool) -> Detection | None:
    """Rows, in an object or one by one."""
    steps = record.get("session_steps")
    if isinstance(steps, list):
        seen = set(steps[0]) if steps and isinstance(steps[0], dict) else set()
        if not steps or {"session_id", "step_id"} <= seen:
            return Detection(90, "session_steps at /", "rows")
        is_visible = complete and "session_id" not in seen
        return None if is_visible else Detection(70, "session_steps at /", "rows")
    if {"session_id", "step_id"} <= record.keys() and {"messages", "response"} & record.keys():
        return Detection(90, "session_id and step_id at /", "rows")
    return None


def _other(record: dict[str, Json], sample: Sample) -> Detection | None:
    """A chat, or a message of one that is an array; nothing where a stop sign is."""
    if _is_stopped(record):
        if "choices" in record:
            return Detection(40, "an API response, not a conversation")
        return None
    if "messages" in record:
        return _chat(record, sample)
    return _message(record) if sample.container == "array" else None


def _is_stopped(record: dict[str, Json]) -> bool:
    kind = record.get("object")
    return (
        not STOPS.isdisjoint(record)
        or (isinstance(kind, str) and kind.startswith("chat.completion"))
        or ("epoch" in record and "target" in record)
        or ("info" in record and "messages" in record)
    )


def _chat(record: dict[str, Json], sample: Sample) -> Detection | None:
    messages = record["messages"]
    if not isinstance(messages, list) or not all(map(_is_message, messages)):
        return None
    variant = CHATS[sample.container]
    if not messages:
        return Detection(60, "empty messages at /messages", variant)
    confidence = 85 if record.keys() <= KNOWN else 70
    return Detection(confidence, "messages with roles at /messages", variant)


def _message(record: dict[str, Json]) -> Detection | None:
    if not _is_message(record):
        return None
    confidence = HINT if OUTPUTS.isdisjoint(record) else 85
    return Detection(confidence, "an array of messages with roles", "chat/array")


def _is_message(message: Json) -> bool:
    """Tell whether *message* has one of the six roles, and no stop sign."""
    if not isinstance(message, dict) or not MESSAGE_STOPS.isdisjoint(message):
        return False
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or role not in ROLES:
        return False
    if isinstance(content, list):
        return not any(map(_is_foreign_part, content))
    return content is None or isinstance(content, str)


def _is_foreign_part(part: Json) -> bool:
    if not isinstance(part, dict):
        return False
    kind = part.get("type")
    return kind in PART_STOPS or (kind == "image" and isinstance(part.get("source"), dict))
