"""From the lines of one thread to its turns: lines of one message become one turn, results go to their calls.

The usage of a message stands in each of its lines; the last one counts, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hub import MISSING, CallIndex, Document, Json, ToolCall, Turn, pointer, unique_call_ids
from hub_claude_code import rules
from hub_claude_code.model import CALLS, FLAGS, MAPPED, MAPPED_IN_MESSAGE
from hub_claude_code.parsing import Session, Spoken, Thread


class Turns:
    """The turns of a thread, as far as they are made."""

    def __init__(self, document: Document[Session], thread: Thread) -> None:
        self.turns: list[Turn] = []
        self.residuals: dict[str, Json] = {}
        self.turn_of_line: dict[str, Turn] = {}
        """By the `uuid` of each line of the model's."""
        self.call_of_agent: dict[str, str] = {}
        """Ids of the calls that started sub-agents, by the id of the sub-agent."""
        self._document = document
        self._by_message: dict[str, int] = {}
        self._usage_at: dict[int, str] = {}
        self._parts: dict[int, list[dict[str, Any]]] = {}
        """Content of the turns of the model, as far as it was said."""
        self._calls = CallIndex()
        self._call_ids = self._unique_call_ids(thread)
        for line in thread.lines:
            self._add(line)

    def _unique_call_ids(self, thread: Thread) -> Iterator[str]:
        """Return an id for each call of the thread, in order; one that is taken gets a number."""
        given = [
            (f"{line.at}/message/content/{index}/id", block["id"])
            for line in thread.lines
            if line.value["type"] == "assistant"
            for index, block in enumerate(_blocks(line))
            if _is_call(block)
        ]
        ids = [call_id for _, call_id in given]
        unique = unique_call_ids(ids, ids)
        for (place, call_id), chosen in zip(given, unique, strict=True):
            if chosen != call_id:
                self._document.report(rules.CALL_ID.at(place, call_id))
                self.residuals[place] = call_id
        return iter(unique)

    # Lines

    def _add(self, line: Spoken) -> None:
        kind = line.value["type"]
        if kind == "assistant":
            self._add_of_model(line)
        elif kind == "user":
            self._add_of_user(line)
        else:
            self._new(line, "system", line.value["content"])
        self._keep_rest(line)

    def _new(self, line: Spoken, source: str, message: Json) -> Turn:
        time = self._time(line)
        flags = {key: line.value[key] for key in FLAGS if key in line.value}
        turn = Turn(
            turn_id=len(self.turns) + 1,
            source=source,
            message=message,
            timestamp=time,
            extra=flags or None,
        )
        self.turns.append(turn)
        return turn

    def _time(self, line: Spoken) -> str | int | float | None:
        value, at = line.value.get("timestamp"), f"{line.at}/timestamp"
        if value is None or isinstance(value, str):
            return self._document.read_time(value, at, rules.TIME)
        self._document.set_aside(at, value, rules.TIME.at(at, value))
        return None

    def _add_of_model(self, line: Spoken) -> None:
        message = line.value["message"]
        message_id = message.get("id")
        known = self._by_message.get(message_id) if isinstance(message_id, str) else None
        if known is None:
            turn = self._new(line, "agent", "")
            model = message.get("model")
            turn.model_name = model if isinstance(model, str) else None
            if isinstance(message_id, str):
                self._by_message[message_id] = len(self.turns) - 1
        else:
            turn = self.turns[known]
            self._keep(f"{line.at}/timestamp", line.value.get("timestamp", MISSING))
        if message.get("model") != turn.model_name:
            self._keep(f"{line.at}/message/model", message.get("model", MISSING))
        self._add_usage(turn, message, line)
        self._add_blocks(turn, line)
        uuid = line.value.get("uuid")
        if isinstance(uuid, str):
            self.turn_of_line[uuid] = turn

    def _add_usage(self, turn: Turn, message: dict[str, Any], line: Spoken) -> None:
        """Let the usage of *line* be that of its message; an earlier one, of fewer blocks, is a residual."""
        usage, at = message.get("usage"), f"{line.at}/message/usage"
        if not isinstance(usage, dict):
            self._keep(at, message.get("usage", MISSING))
            return
        before = self._usage_at.get(turn.turn_id)
        if before is not None:
            self._keep(before, turn.metrics)
        turn.metrics, self._usage_at[turn.turn_id] = usage, at

    def _add_blocks(self, turn: Turn, line: Spoken) -> None:
        parts = self._parts.setdefault(turn.turn_id, [])
        for index, block in enumerate(_blocks(line)):
            at = f"{line.at}/message/content/{index}"
            if _is_call(block):
                self._add_call(turn, block, at)
                continue
            if self._is_result(block):
                self._add_result(line, block, f"{at}/tool_use_id")
                self._keep(f"{at}/type", block["type"])
                continue
            if block.get("type") == "redacted_thinking":
                self._keep(at, block)
                continue
            thinking = block.get("thinking")
            if block.get("type") == "thinking" and isinstance(thinking, str):
                before = f"{turn.reasoning_content}\n\n" if turn.reasoning_content else ""
                turn.reasoning_content = before + thinking
                self._keep_others(block, at, ("type", "thinking"))
                continue
            if block.get("type") == "tool_use":
                self._document.report(rules.CALL.at(at, block))
            parts.append(block)
        turn.message = _message(parts)

    def _add_call(self, turn: Turn, block: dict[str, Any], at: str) -> None:
        call = ToolCall(
            tool_call_id=next(self._call_ids),
            function_name=block["name"],
            arguments=block.get("input"),
        )
        turn.tool_calls = [*(turn.tool_calls or ()), call]
        self._calls.add(turn.turn_id - 1, block["id"], call.tool_call_id)
        self._keep_others(block, at, ("type", "id", "name", "input"))
        if block["type"] != "tool_use":
            self._keep(f"{at}/type", block["type"])

    def _is_result(self, block: dict[str, Any]) -> bool:
        """Tell whether a *block* of the model's is what came back of a tool that the API runs itself."""
        kind, source_id = block.get("type"), block.get("tool_use_id")
        is_result = isinstance(kind, str) and kind.endswith("_tool_result")
        return is_result and isinstance(source_id, str) and self._calls.find(source_id) is not None

    def _add_of_user(self, line: Spoken) -> None:
        content = line.value["message"]["content"]
        if isinstance(content, str):
            self._new(line, "user", content)
            return
        results = [one for one in content if one.get("type") == "tool_result"]
        parts = [one for one in content if one.get("type") != "tool_result"]
        for index, block in enumerate(content):
            if block.get("type") == "tool_result":
                self._add_result(line, block, f"{line.at}/message/content/{index}/tool_use_id")
        if results and not parts:
            self._keep(f"{line.at}/timestamp", line.value.get("timestamp", MISSING))
        else:
            self._new(line, "user", _message(parts))

    def _add_result(self, line: Spoken, block: dict[str, Any], at: str) -> None:
        """Put a result into the turn that made the call; one without a call is a turn of the environment."""
        source_id = block.get("tool_use_id")
        answered = self._calls.answer(source_id) if isinstance(source_id, str) else None
        result = {key: one for key, one in block.items() if key not in ("type", "tool_use_id")}
        if answered is None:
            self._document.report(rules.RESULT_CALL.at(at, block.get("tool_use_id", MISSING)))
            turn = self._new(line, "environment", "")
            if isinstance(source_id, str):
                result["source_call_id"] = source_id
        else:
            turn = self.turns[answered[0]]
            result["source_call_id"] = answered[1]
            told = line.value.get("toolUseResult")
            agent_id = told.get("agentId") if isinstance(told, dict) else None
            if isinstance(agent_id, str):
                self.call_of_agent[agent_id] = answered[1]
        observation = turn.observation or {"results": []}
        turn.observation = {"results": [*observation["results"], result]}

    # What no field takes

    def _keep_rest(self, line: Spoken) -> None:
        value = line.value
        mapped = {*MAPPED, *FLAGS, *(("content",) if value["type"] == "system" else ())}
        self._keep_others(value, line.at, tuple(mapped))
        if value["type"] == "system":
            self._keep(f"{line.at}/message", value.get("message", MISSING))
            return
        self._keep_others(value["message"], f"{line.at}/message", tuple(MAPPED_IN_MESSAGE))
        if not isinstance(value.get("isSidechain", False), bool):
            self._keep(f"{line.at}/isSidechain", value["isSidechain"])
        for key in ("model", "usage") if value["type"] == "user" else ():
            self._keep(f"{line.at}/message/{key}", value["message"].get(key, MISSING))

    def _keep_others(self, value: dict[str, Any], at: str, mapped: tuple[str, ...]) -> None:
        for key, member in value.items():
            if key not in mapped:
                self._keep(f"{at}/{pointer.escape(key)}", member)

    def _keep(self, at: str, value: Json) -> None:
        if value is not MISSING:
            self.residuals[at] = value


def _blocks(line: Spoken) -> list[dict[str, Any]]:
    content = line.value["message"]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _is_call(block: dict[str, Any]) -> bool:
    return block.get("type") in CALLS and all(
        isinstance(block.get(key), str) and block[key] for key in ("id", "name")
    )


def _message(parts: list[dict[str, Any]]) -> Json:
    """Return the message of *parts*: a text where that says it all."""
    if not parts:
        return ""
    texts = [part for part in parts if part.keys() == {"type", "text"} and part["type"] == "text"]
    if len(texts) == len(parts) == 1 and isinstance(parts[0]["text"], str):
        return parts[0]["text"]
    return parts
