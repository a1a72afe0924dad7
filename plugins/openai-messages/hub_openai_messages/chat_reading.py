"""Chats to Storylines: a message is a turn, a tool message is a result of the turn that made the call.

Source: openai-messages.md B2 and B3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from hub import (
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
    canonical_pieces,
    pointer,
    unique_call_ids,
)
from hub_openai_messages import rules
from hub_openai_messages.calls import (
    FUNCTION_CALL,
    SourceCall,
    are_held,
    is_no_json,
    positional_id,
    values_of,
)
from hub_openai_messages.chat_residuals import (
    ReadTurn,
    fields_of_chat,
    usual_fields,
)
from hub_openai_messages.documents import Chat
from hub_openai_messages.model import DEFAULT_AGENT, ENVIRONMENT, SOURCE
from hub_openai_messages.values import has_value, is_text

SESSION_KEYS = ("session_id", "conversation_id", "id")
TURNS = {
    "system": ("system", "context"),
    "developer": ("system", "context"),
    "user": ("user", "llm.request"),
    "assistant": ("agent", "llm.response"),
    "tool": (ENVIRONMENT, "dialogue"),
    "function": (ENVIRONMENT, "dialogue"),
}
"""Source and kind of a turn, by the role of its message; a result that answers a call makes none."""

RESULTS = ("tool", "function")
"""Roles of messages that answer a call."""


def storyline_from_chat(document: Document[Any], chat: Chat) -> Storyline:
    """Return the Storyline of a conversation."""
    value = chat.value
    read = ChatTurns(chat.messages, chat.calls)
    document.problems.extend(read.problems)
    model, tools = value.get("model"), value.get("tools")
    fields = fields_of_chat(chat.messages, read.turns)
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
        turns=[one.turn for one in read.turns],
        unknown_fields={SOURCE: residuals} if fields else {},
    )


def session_of(value: Mapping[str, Json]) -> str:
    """Return the session of a conversation: the one that it names, else one that its content gives."""
    for key in SESSION_KEYS:
        named = value.get(key)
        if is_text(named):
            return named
    digest = hashlib.sha256()
    for piece in canonical_pieces(value):
        digest.update(piece)
    return f"chat-{digest.hexdigest()[:16]}"


class ChatTurns:
    """The turns of a conversation, each with what it was read of."""

    def __init__(
        self,
        messages: Sequence[Mapping[str, Json]],
        calls_of: Mapping[int, Sequence[SourceCall]],
    ) -> None:
        """Read *messages*, which make the calls that `calls_of_chat` returned."""
        self.turns: list[ReadTurn] = []
        self.problems: list[Problem] = []
        self._calls = calls_of
        calls = [call for own in self._calls.values() for call in own]
        names, arguments = _names(self._calls, messages), list(values_of(calls))
        self._made = zip(names, arguments, are_held(calls, names, arguments), strict=True)
        """What becomes of each call: its id and arguments, and whether they are all of it."""
        self._index = CallIndex()
        self._functions: dict[str, list[tuple[int, str]]] = {}
        """Calls by `function_call` that have no answer yet, by name, the latest last."""
        for index, message in enumerate(messages):
            role = message.get("role")
            if type(role) is not str or not role:
                role = PLACEHOLDER
            answered = self._answered(role, message) if role in RESULTS else None
            if answered is None:
                self._add_turn(index, role, message)
            else:
                self._add_result(index, message, *answered)

    def _add_turn(self, index: int, role: str, message: Mapping[str, Json]) -> None:
        source, kind = TURNS.get(role) or (role, "dialogue")
        turn = Turn(turn_id=index + 1, source=source, message=message.get("content"), kind=kind)
        read = ReadTurn(turn, index)
        if role == "assistant":
            self._add_response(turn, message)
            calls = self._calls.get(index)
            if calls is not None:
                self._add_calls(read, calls)
        read.fields = usual_fields(read, message)
        self.turns.append(read)

    def _add_response(self, turn: Turn, message: Mapping[str, Json]) -> None:
        turn.llm_call_count = 1
        reasoning = message.get("reasoning_content")
        if type(reasoning) is str:
            turn.reasoning_content = reasoning
        if "refusal" in message and not has_value(turn.message) and has_value(message["refusal"]):
            turn.message = message["refusal"]

    def _add_calls(self, read: ReadTurn, calls: Sequence[SourceCall]) -> None:
        read.calls = calls
        read.turn.kind = "autonomous"
        read.turn.tool_calls = made = []
        at = len(self.turns)
        read.are_held = held = []
        for call, (name, arguments, is_held) in zip(calls, self._made, strict=False):
            made.append(
                ToolCall(
                    tool_call_id=name,
                    function_name=call.name,
                    arguments=arguments,
                    kind=call.kind,
                )
            )
            held.append(is_held)
            if is_no_json(call, arguments):
                self.problems.append(_broken_arguments(read.index, call))
            if call.source_id is not None:
                self._index.add(at, call.source_id, name)
            elif call.kind == FUNCTION_CALL:
                self._functions.setdefault(call.name, []).append((at, name))

    def _answered(self, role: str, message: Mapping[str, Json]) -> tuple[int, str] | None:
        """Return the turn whose call a message answers, and the call; None if it answers none."""
        if role == "tool":
            call_id = message.get("tool_call_id")
            return self._index.answer(call_id) if type(call_id) is str else None
        name = message.get("name")
        waiting = self._functions.get(name) if type(name) is str else None
        return waiting.pop() if waiting else None

    def _add_result(
        self, index: int, message: Mapping[str, Json], turn_index: int, call_id: str
    ) -> None:
        read = self.turns[turn_index]
        result: dict[str, Json] = {"source_call_id": call_id}
        if "content" in message:
            result["content"] = message["content"]
        if read.turn.observation is None:
            read.turn.observation = {"results": [result]}
        else:
            read.turn.observation["results"].append(result)
        read.results.append(index)
        if not _is_usual_result(message, call_id):
            read.fields = None


def _is_usual_result(message: Mapping[str, Json], call_id: str) -> bool:
    """Tell whether a message is written of its result as it is: the role `tool`, this id, a content, no more."""
    return (
        len(message) == 3  # noqa: PLR2004  # these
        and "content" in message
        and message.get("tool_call_id") == call_id
    )


def _names(
    calls: Mapping[int, Sequence[SourceCall]], messages: Sequence[Mapping[str, Json]]
) -> list[str]:
    """Return an id for each call, in order, all different: storyline.md 5.2."""
    references = (one.get("tool_call_id") for one in messages if one.get("role") == "tool")
    return unique_call_ids(
        [call.source_id for own in calls.values() for call in own],
        (
            positional_id(index, call.position, call.kind)
            for index, own in calls.items()
            for call in own
        ),
        reserved=(one for one in references if type(one) is str),
    )


def _broken_arguments(index: int, call: SourceCall) -> Problem:
    """Return what is wrong with arguments that are no JSON text, in the message at *index*."""
    place = FUNCTION_CALL if call.position < 0 else f"tool_calls/{call.position}/function"
    return rules.ARGUMENTS.at(f"/messages/{index}/{place}/arguments", call.spelling)
