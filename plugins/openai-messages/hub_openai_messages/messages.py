"""Turns to messages: as they were read, or as the API and fine-tuning take them.

Source: openai-messages.md A8.1 and B5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from hub import (
    Json,
    Part,
    Storyline,
    ToolCall,
    Turn,
    WriteOptions,
    compact,
    document_prompt_turns,
    equal,
    observed_results,
    parts,
    turn_prompt_turns,
    visible_results,
)
from hub_openai_messages.calls import (
    CUSTOM,
    EMBEDDED,
    FUNCTION_CALL,
    CallStyle,
    custom_call,
    is_positional,
    written_call,
    written_function,
)
from hub_openai_messages.markup import call_in_content
from hub_openai_messages.model import ENVIRONMENT, ROLE_OF_SOURCE

Message = dict[str, Json]


class Style(NamedTuple):
    """How the turns of one Storyline become messages."""

    restored: bool
    is_chat: bool
    calls: CallStyle
    empty_content: bool = False
    """An assistant message without text has `""`, not `null`."""
    reasoning: bool = True
    is_plain: bool = True
    """No option asks for another spelling than the one that was read."""

    @classmethod
    def of(cls, options: WriteOptions, *, restored: bool, is_chat: bool) -> Style:
        """Return the style that *options* ask for."""
        given = options.options
        as_object = given.get("arguments") == "object"
        empty_content = given.get("null-content") == "empty"
        reasoning = given.get("reasoning", "auto")
        return cls(
            restored=restored,
            is_chat=is_chat,
            calls=CallStyle(restored, as_object),
            empty_content=empty_content,
            reasoning=reasoning == "yes" or (reasoning == "auto" and (restored or not is_chat)),
            is_plain=not as_object and not empty_content and reasoning != "no",
        )


READ_ROWS = Style(restored=True, is_chat=False, calls=CallStyle(restored=True))
READ_CHAT = Style(restored=True, is_chat=True, calls=CallStyle(restored=True))
"""How messages are written that come back as they were read."""


def messages_of_turn(turn: Turn, style: Style) -> list[Message]:
    """Return the messages that *turn* is: its own, then one for each result."""
    if style.restored:
        message = restored_message(turn, style)
        return [message, *restored_results(turn)] if turn.observation is not None else [message]
    return list(conformed_messages(turn, style))


def with_prompt_turns(storyline: Storyline) -> Iterator[Turn]:
    """Yield the turns, with those that say the prompts: storyline.md 4.2."""
    for said in document_prompt_turns(storyline):
        yield Turn(turn_id=0, source=said.source, message=said.text)
    for turn, prompts in turn_prompt_turns(storyline):
        for said in prompts:
            yield Turn(turn_id=0, source=said.source, message=said.text)
        yield turn


# As it was read


def restored_message(turn: Turn, style: Style) -> Message:
    """Return the message of *turn*, with values as they are."""
    message: Message = {"role": ROLE_OF_SOURCE.get(turn.source, turn.source)}
    if turn.source != "agent":
        message["content"] = turn.message
        return message
    content = turn.message
    if content is None and style.empty_content:
        content = ""
    if content is not None or not style.is_chat:
        message["content"] = content
    if turn.reasoning_content is not None and style.reasoning:
        message["reasoning_content"] = turn.reasoning_content
    if turn.tool_calls:
        if style.is_chat or not is_markup(turn):
            _add_calls(message, turn.tool_calls, style)
    elif not style.is_chat and not turn.is_copied_context and call_in_content(content) is not None:
        # A text that makes no call was a refusal; as a content it would make one.
        message |= {"content": None, "refusal": content}
    return message


def _add_calls(message: Message, calls: Iterable[ToolCall], style: Style) -> None:
    """Add *calls* to a restored message; in a chat each in its own kind."""
    listed: list[Json] = []
    for call in calls:
        if style.is_chat and call.kind == FUNCTION_CALL and FUNCTION_CALL not in message:
            message[FUNCTION_CALL] = written_function(call, style.calls)
        elif style.is_chat and call.kind == CUSTOM:
            listed.append(custom_call(call))
        else:
            listed.append(written_call(call, style.calls))
    if listed:
        message["tool_calls"] = listed


def is_markup(turn: Turn) -> bool:
    """Tell whether the only call of *turn* is the one that its text holds, so that it is read again from there."""
    calls = turn.tool_calls or ()
    if len(calls) != 1:
        return False
    call = calls[0]
    if not call.tool_call_id.startswith(EMBEDDED):
        return False
    found = call_in_content(turn.message)
    return (
        found is not None
        and found.name == call.function_name
        and equal(found.arguments, call.arguments)
    )


def restored_results(turn: Turn) -> list[Message]:
    """Return the results of *turn* that name a call."""
    found: list[Message] = []
    functions = {
        call.tool_call_id: call.function_name
        for call in turn.tool_calls or ()
        if call.kind == FUNCTION_CALL
    }
    for result in observed_results(turn):
        call_id = result.get("source_call_id")
        if type(call_id) is not str:
            continue
        message: Message = (
            {"role": "function", "name": functions[call_id]}
            if functions and call_id in functions
            else {"role": "tool", "tool_call_id": call_id}
        )
        if "content" in result:
            message["content"] = result["content"]
        found.append(message)
    return found


def restored_chat(turns: Iterable[Turn], style: Style = READ_CHAT) -> list[Message]:
    """Return the messages of *turns* that were read from a chat."""
    return [message for turn in turns for message in _restored_messages(turn, style)]


def _restored_messages(turn: Turn, style: Style) -> list[Message]:
    messages = messages_of_turn(turn, style)
    for position, call in enumerate(messages[0].get("tool_calls", ())):
        if is_positional(call["id"], turn.turn_id - 1, position):
            del call["id"]
    return messages


# As the API takes it


def conformed_messages(turn: Turn, style: Style) -> Iterator[Message]:
    """Yield the messages that show *turn*, results directly behind the calls."""
    if turn.source == "agent":
        yield from _agent_messages(turn, style)
        return
    role = ROLE_OF_SOURCE.get(turn.source)
    if role is not None:
        yield {"role": role, "content": conformed_content(turn.message, role)}
    elif turn.message not in (None, "") or turn.source != ENVIRONMENT:
        yield said_by_environment(turn.message)
    for result in visible_results(turn):
        yield said_by_environment(result.get("content"))


def _agent_messages(turn: Turn, style: Style) -> Iterator[Message]:
    calls = turn.tool_calls or ()
    content: Json = conformed_content(turn.message, "assistant")
    if turn.message is None and calls and not style.empty_content:
        content = None
    message: Message = {"role": "assistant", "content": content}
    if turn.reasoning_content is not None and style.reasoning:
        message["reasoning_content"] = turn.reasoning_content
    if calls:
        message["tool_calls"] = [
            custom_call(call)
            if style.is_chat and call.kind == CUSTOM
            else written_call(call, style.calls)
            for call in calls
        ]
    yield message
    answers: dict[str, list[str]] = {}
    others: list[Message] = []
    ids = {call.tool_call_id for call in calls}
    for result in visible_results(turn):
        call_id = result.get("source_call_id")
        if type(call_id) is str and call_id in ids:
            answers.setdefault(call_id, []).append(text_of_value(result.get("content")))
        else:
            others.append(said_by_environment(result.get("content")))
    for call_id, texts in answers.items():
        yield {"role": "tool", "tool_call_id": call_id, "content": "\n".join(texts)}
    yield from others


def said_by_environment(value: Json) -> Message:
    """Return the message that shows what nobody said."""
    return {"role": "user", "name": ENVIRONMENT, "content": text_of_value(value)}


def conformed_content(value: Json, role: str) -> Json:
    """Return *value* as the content of a message: a text, or for a user with media an array of parts."""
    if type(value) is str:
        return value
    if role != "user" or type(value) is not list:
        return text_of_value(value)
    shown = [(api_part(one), one) for one in parts(value)]
    if all(media is None for media, _ in shown):
        return text_of_value(value)
    return [media or {"type": "text", "text": text_of_part(one)} for media, one in shown]


def text_of_value(value: Json) -> str:
    """Return *value* as a text: of an array the texts of its parts, a line each; of other JSON its text."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is list:
        return "\n".join(map(text_of_part, parts(value)))
    return compact(value)


def text_of_part(one: Part) -> str:
    """Return a content part as a text; media by their location."""
    if one.kind not in ("image", "audio") or one.location is None:
        return one.text
    location = one.location
    if location.startswith("data:"):
        location = f"data:{one.media_type or ''}"
    return f"[{one.kind}: {location}]"


AUDIO_FORMATS: Mapping[str | None, str] = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
}


def api_part(one: Part) -> Message | None:
    """Return a content part with media as a user's message may have it; None if it is none, or must be a text."""
    location = one.location
    if one.kind == "image" and location is not None:
        return {"type": "image_url", "image_url": {"url": location}}
    audio = AUDIO_FORMATS.get(one.media_type)
    if one.kind == "audio" and audio is not None and location is not None:
        head, is_inline, data = location.partition(";base64,")
        if is_inline and head.startswith("data:"):
            return {"type": "input_audio", "input_audio": {"data": data, "format": audio}}
    return None
