"""Chats to Storylines: a message is a turn, a tool message is a result of the turn that made the call.

Source: openai-messages.md B2 to B4.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hub import (
    MISSING,
    PLACEHOLDER,
    Agent,
    CallIndex,
    Document,
    Json,
    Origin,
    Problem,
    Residuals,
    Storyline,
    ToolCall,
    Turn,
    canonical,
    equal,
    pointer,
    unique_call_ids,
)
from hub_openai_messages import rules
from hub_openai_messages.calls import (
    CUSTOM,
    FUNCTION_CALL,
    SourceCall,
    chat_calls,
    is_no_json,
    positional_id,
)
from hub_openai_messages.documents import Chat
from hub_openai_messages.messages import Message, restored_chat
from hub_openai_messages.model import DEFAULT_AGENT, ENVIRONMENT, ROLE_OF_SOURCE, SOURCE
from hub_openai_messages.placing import Fields, place
from hub_openai_messages.values import has_value, is_text

SESSION_KEYS = ("session_id", "conversation_id", "id")
SOURCES = {"system": "system", "developer": "system", "user": "user", "assistant": "agent"}
KINDS = {"system": "context", "user": "llm.request", "agent": "llm.response"}


def storyline_from_chat(document: Document[Any], chat: Chat) -> Storyline:
    """Return the Storyline of a conversation."""
    value = chat.value
    conversation = ChatTurns(chat.messages)
    document.problems.extend(_broken_arguments(conversation))
    model, tools = value.get("model"), value.get("tools")
    fields = fields_of_chat(chat.messages, conversation)
    for key, member in value.items():
        is_held = (key == "model" and type(member) is str) or (
            key == "tools" and type(member) is list
        )
        if key != "messages" and not is_held:
            fields[f"/{pointer.escape(key)}"] = member
    agent_id = model if is_text(model) else DEFAULT_AGENT
    residuals = Residuals(source_document_id=chat.document_id, fields=fields)
    return Storyline(
        session_id=session_of(value),
        agent=Agent(
            agent_id=agent_id,
            name=agent_id,
            model_name=model if type(model) is str else None,
            tool_definitions=tools if type(tools) is list else None,
        ),
        origin=Origin(format=SOURCE, schema_version=chat.tag, document_id=chat.document_id),
        turns=conversation.turns,
        unknown_fields={SOURCE: residuals} if fields else {},
    )


def session_of(value: Mapping[str, Json]) -> str:
    """Return the session of a conversation: the one that it names, else one that its content gives."""
    for key in SESSION_KEYS:
        named = value.get(key)
        if is_text(named):
            return named
    return f"chat-{hashlib.sha256(canonical(value)).hexdigest()[:16]}"


def _broken_arguments(conversation: ChatTurns) -> Iterator[Problem]:
    """Yield arguments that are no JSON text."""
    rows = zip(conversation.indices, conversation.calls, conversation.turns, strict=True)
    for message, calls, turn in rows:
        for call, made in zip(calls, turn.tool_calls or (), strict=True):
            if is_no_json(call, made.arguments):
                place = (
                    FUNCTION_CALL if call.position < 0 else f"tool_calls/{call.position}/function"
                )
                yield rules.ARGUMENTS.at(f"/messages/{message}/{place}/arguments", call.spelling)


class ChatTurns:
    """The turns of a conversation, and which messages made them."""

    def __init__(self, messages: Sequence[Mapping[str, Json]]) -> None:
        self.turns: list[Turn] = []
        self.indices: list[int] = []
        """Of the message of each turn."""
        self.calls: list[Sequence[SourceCall]] = []
        """Of each turn, as the message has them."""
        self.results: list[list[int]] = []
        """Of each turn, the messages that are its results."""
        self._names = _named_calls(messages)
        self._index = CallIndex()
        self._functions: dict[str, list[tuple[int, str]]] = {}
        """Calls by `function_call` that have no answer yet, by name, the latest last."""
        for index, message in enumerate(messages):
            self._read(index, message)

    def _read(self, index: int, message: Mapping[str, Json]) -> None:
        role = message.get("role")
        if type(role) is not str or not role:
            role = PLACEHOLDER
        if role in ("tool", "function"):
            answered = self._answered(role, message)
            if answered is not None:
                self._add_result(index, message, *answered)
                return
            source = ENVIRONMENT
        else:
            source = SOURCES.get(role, role)
        turn = Turn(turn_id=index + 1, source=source, message=message.get("content"))
        turn.kind = KINDS.get(source, "dialogue") if role in SOURCES else "dialogue"
        self.turns.append(turn)
        self.indices.append(index)
        self.results.append([])
        self.calls.append(())
        if role == "assistant":
            self._read_assistant(turn, index, message)

    def _read_assistant(self, turn: Turn, index: int, message: Mapping[str, Json]) -> None:
        turn.llm_call_count = 1
        reasoning = message.get("reasoning_content")
        if type(reasoning) is str:
            turn.reasoning_content = reasoning
        if "refusal" in message and not has_value(turn.message) and has_value(message["refusal"]):
            turn.message = message["refusal"]
        named = self._names.get(index)
        if not named:
            return
        turn.kind = "autonomous"
        turn.tool_calls = [
            ToolCall(
                tool_call_id=name,
                function_name=call.name,
                arguments=call.arguments,
                kind=call.kind,
            )
            for call, name in named
        ]
        self.calls[-1] = [call for call, _ in named]
        at = len(self.turns) - 1
        for call, name in named:
            if call.source_id is not None:
                self._index.add(at, call.source_id, name)
            elif call.kind == FUNCTION_CALL:
                self._functions.setdefault(call.name, []).append((at, name))

    def _answered(self, role: str, message: Mapping[str, Json]) -> tuple[int, str] | None:
        """Return the turn whose call a message answers, and the call."""
        if role == "tool":
            call_id = message.get("tool_call_id")
            return self._index.answer(call_id) if is_text(call_id) else None
        name = message.get("name")
        waiting = self._functions.get(name) if type(name) is str else None
        return waiting.pop() if waiting else None

    def _add_result(
        self, index: int, message: Mapping[str, Json], turn_index: int, call_id: str
    ) -> None:
        turn = self.turns[turn_index]
        if turn.observation is None:
            turn.observation = {"results": []}
        result: dict[str, Json] = {"source_call_id": call_id}
        if "content" in message:
            result["content"] = message["content"]
        turn.observation["results"].append(result)
        self.results[turn_index].append(index)


def _named_calls(
    messages: Sequence[Mapping[str, Json]],
) -> dict[int, list[tuple[SourceCall, str]]]:
    """Return the calls of each message that makes some, each with an id that no other has: storyline.md 5.2."""
    found = {
        index: list(chat_calls(message))
        for index, message in enumerate(messages)
        if message.get("role") == "assistant"
        and ("tool_calls" in message or FUNCTION_CALL in message)
    }
    every = [(index, call) for index, calls in found.items() for call in calls]
    references = (one.get("tool_call_id") for one in messages if one.get("role") == "tool")
    names = unique_call_ids(
        [call.source_id for _, call in every],
        [positional_id(index, call.position, call.kind) for index, call in every],
        reserved=[one for one in references if type(one) is str],
    )
    named: dict[int, list[tuple[SourceCall, str]]] = {}
    for (index, call), name in zip(every, names, strict=True):
        named.setdefault(index, []).append((call, name))
    return named


# Residuals: openai-messages.md B4


def fields_of_chat(messages: Sequence[Message], conversation: ChatTurns) -> Fields:
    """Return what the turns do not hold, by pointer: member by member, or all messages where that is not enough."""
    order = [
        one
        for index, results in zip(conversation.indices, conversation.results, strict=True)
        for one in (index, *results)
    ]
    if order != list(range(len(messages))):
        return {"/messages": messages}
    found: Fields = {}
    rows = zip(conversation.turns, conversation.indices, conversation.results, strict=True)
    for turn, first, results in rows:
        if not results and is_plain(turn, messages[first]):
            continue
        for index, written in zip((first, *results), restored_chat([turn]), strict=True):
            fields = fields_of_message(messages[index], written)
            if fields is None:
                return {"/messages": messages}
            for at, value in fields.items():
                found[f"/messages/{index}{at}"] = value
    return found


def is_plain(turn: Turn, source: Message) -> bool:
    """Tell whether a message has nothing but the role and the content of *turn*, as most have."""
    return (
        len(source) == 2  # noqa: PLR2004  # these two
        and turn.message is not None
        and source.get("content") is turn.message
        and source.get("role", MISSING) == ROLE_OF_SOURCE.get(turn.source)
    )


def fields_of_message(source: Message, written: Message) -> Fields | None:
    """Return what has to be put back into *written* to get *source*; None if that cannot be done."""
    fields: Fields = {}
    is_sure = True
    for key, value in source.items():
        expected: Json = written.get(key, MISSING)
        if value is expected or (type(value) is str and value == expected):
            continue
        if expected is MISSING:
            fields[f"/{pointer.escape(key)}"] = value
        elif key == "tool_calls" and type(value) is list:
            is_sure &= _add_fields_of_calls(fields, value, expected)
        elif not equal(value, expected):
            is_sure = False
            if key == FUNCTION_CALL and type(value) is dict:
                fields.update(_members(value, expected, f"/{FUNCTION_CALL}"))
            else:
                fields[f"/{pointer.escape(key)}"] = value
    if not written.keys() <= source.keys():
        return None
    if is_sure:
        return fields
    again = copy_of_message(written)
    return None if place(again, fields) or not equal(again, source) else fields


def _add_fields_of_calls(
    fields: Fields, source: Sequence[Json], written: Sequence[Message]
) -> bool:
    """Add what has to be put back into the calls of a message; tell whether that is sure to give them again.

    It is where every element is a call, and differs from what is written in further members and in the spelling of its
    arguments only.
    """
    if len(source) != len(written):
        _add_fields_between(fields, source, written)
        return False
    is_sure = True
    for position, (call, expected) in enumerate(zip(source, written, strict=True)):
        at = f"/tool_calls/{position}"
        for key, value in call.items():
            inner: Json = expected.get(key, MISSING)
            if key == "function" and type(value) is dict and type(inner) is dict:
                is_sure &= _add_function(fields, value, inner, f"{at}/{key}")
            elif not equal(value, inner):
                is_sure &= inner is MISSING
                fields[f"{at}/{pointer.escape(key)}"] = value
        is_sure &= expected.keys() <= call.keys()
    return is_sure


def _add_function(fields: Fields, source: Message, written: Message, at: str) -> bool:
    is_sure = True
    for key, value in source.items():
        expected: Json = written.get(key, MISSING)
        if value is not expected and not equal(value, expected):
            is_sure &= expected is MISSING or (key == "arguments" and type(value) is str)
            fields[f"{at}/{pointer.escape(key)}"] = value
    return is_sure and written.keys() <= source.keys()


def _add_fields_between(fields: Fields, source: Sequence[Json], written: Sequence[Message]) -> None:
    """Add what has to be put back where elements make no call of the turn."""
    left = list(reversed(written))
    for position, call in enumerate(source):
        at = f"/tool_calls/{position}"
        if type(call) is not dict:
            fields[at] = call
            continue
        is_read = any(True for _ in chat_calls({"tool_calls": [call]}))
        expected: Json = left.pop() if is_read and left else {}
        for key, value in call.items():
            inner: Json = expected.get(key, MISSING)
            if key in ("function", CUSTOM) and type(value) is dict and (value or expected):
                fields.update(_members(value, {} if inner is MISSING else inner, f"{at}/{key}"))
            elif not equal(value, inner):
                fields[f"{at}/{pointer.escape(key)}"] = value


def _members(source: Message, written: Message, at: str) -> Fields:
    return {
        f"{at}/{pointer.escape(key)}": value
        for key, value in source.items()
        if not equal(value, written.get(key, MISSING))
    }


def copy_of_message(message: Message) -> Message:
    """Return a message that residuals may be put into."""
    copied = dict(message)
    if FUNCTION_CALL in copied:
        copied[FUNCTION_CALL] = dict(copied[FUNCTION_CALL])
    if "tool_calls" in copied:
        copied["tool_calls"] = [
            {key: dict(value) if type(value) is dict else value for key, value in call.items()}
            for call in copied["tool_calls"]
        ]
    return copied
