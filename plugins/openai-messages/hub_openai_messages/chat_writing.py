"""Storylines to chats: as they were read, or as the API and fine-tuning take them.

Source: openai-messages.md B5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hub import Json, Storyline, Turn, WriteOptions, equal, pointer
from hub_openai_messages import rules
from hub_openai_messages.calls import calls_of_chat
from hub_openai_messages.chat_reading import ChatTurns
from hub_openai_messages.messages import (
    Message,
    Style,
    messages_of_turn,
    restored_chat,
    with_prompt_turns,
)
from hub_openai_messages.model import ARRAY, CHAT, LINES, LIST, SOURCE
from hub_openai_messages.placing import Fields, place
from hub_openai_messages.values import is_text


def documents_from_chats(
    storylines: Sequence[Storyline], options: WriteOptions, variant: str
) -> Iterator[Json]:
    """Yield a conversation each; *variant* `auto-chat`: in the container that the first one had."""
    tag = _tag(storylines[0]) if variant == "auto-chat" else None
    if tag == LINES or variant == "chat-jsonl":
        options.container = options.container or "lines"
    elif tag == LIST:
        options.container = options.container or "array"
    is_bare = tag == ARRAY and len(storylines) == 1 and options.container in (None, "object", "dir")
    for storyline in storylines:
        document = conversation_from_storyline(storyline, options)
        is_array = is_bare and document.keys() == {"messages"} and document["messages"]
        yield document["messages"] if is_array else document


def _tag(storyline: Storyline) -> str | None:
    tag = None if storyline.origin is None else storyline.origin.schema_version
    return tag if tag is not None and storyline.is_from(SOURCE) and tag.startswith(CHAT) else None


def conversation_from_storyline(storyline: Storyline, options: WriteOptions) -> dict[str, Json]:
    """Return the conversation object of *storyline*."""
    residuals = storyline.unknown_fields.get(SOURCE)
    fields = {} if residuals is None else residuals.fields
    if _tag(storyline) is not None and not options.conform:
        return _restored(storyline, fields, options)
    for at, value in fields.items():
        options.unplaced(storyline, at, value)
    style = Style.of(options, restored=False, is_chat=True)
    document: dict[str, Json] = {"messages": conformed_chat(storyline, style)}
    tools = storyline.agent.tool_definitions
    if options.options.get("tools") != "no" and are_functions(tools):
        document["tools"] = tools
    return document


def are_functions(tools: Json) -> bool:
    """Tell whether *tools* are definitions as the API takes them."""
    return (
        type(tools) is list
        and bool(tools)
        and all(
            type(tool) is dict
            and tool.keys() == {"type", "function"}
            and tool["type"] == "function"
            and type(tool["function"]) is dict
            and is_text(tool["function"].get("name"))
            for tool in tools
        )
    )


# As they were read


def _restored(
    storyline: Storyline, fields: Mapping[str, Json], options: WriteOptions
) -> dict[str, Json]:
    style = Style.of(options, restored=True, is_chat=True)
    messages = restored_chat(storyline.turns, style)
    own, root, unplaced = _divided(fields, len(messages))
    if "/messages" in fields:
        messages = _whole(storyline, messages, fields["/messages"], style, options)
        unplaced.update(_pointers(own))
        own = {}
    for index, of_message in own.items():
        chosen = {at: one for at, one in of_message.items() if _is_wanted(at, style)}
        left = place(messages[index], chosen)
        unplaced.update(_pointers({index: left}))
    document: dict[str, Json] = {"messages": messages}
    tools, model = storyline.agent.tool_definitions, storyline.agent.model_name
    if type(tools) is list and options.options.get("tools") != "no":
        document["tools"] = tools
    if model is not None:
        document["model"] = model
    for key, value in root.items():
        if key in document:
            unplaced[f"/{pointer.escape(key)}"] = value
        else:
            document[key] = value
    for at, value in unplaced.items():
        options.unplaced(storyline, at, value)
    return document


def _pointers(own: Mapping[int, Fields]) -> Fields:
    """Return residuals by message as those of the conversation."""
    return {
        f"/messages/{index}{at}": one for index, fields in own.items() for at, one in fields.items()
    }


def _divided(
    fields: Mapping[str, Json], count: int
) -> tuple[dict[int, Fields], dict[str, Json], Fields]:
    """Return residuals by message, those of the root by key, and those that have no place."""
    own: dict[int, Fields] = {}
    root: dict[str, Json] = {}
    unplaced: Fields = {}
    for at, value in fields.items():
        tokens = at.split("/")[1:]
        if tokens == ["messages"]:
            continue
        if len(tokens) == 1:
            root[pointer.unescape(tokens[0])] = value
        elif tokens[:1] == ["messages"] and len(tokens) > 2 and _is_below(tokens[1], count):  # noqa: PLR2004
            own.setdefault(int(tokens[1]), {})["".join(f"/{one}" for one in tokens[2:])] = value
        else:
            unplaced[at] = value
    return own, root, unplaced


MAX_DIGITS = 9
"""No chat has as many messages."""


def _is_below(token: str, count: int) -> bool:
    return pointer.is_index(token) and len(token) <= MAX_DIGITS and int(token) < count


def _is_wanted(at: str, style: Style) -> bool:
    """Tell whether a residual may be put back, where an option asks for another spelling."""
    if at.endswith("/arguments"):
        return not style.calls.as_object
    return not (at == "/content" and style.empty_content)


def _whole(
    storyline: Storyline,
    messages: list[Message],
    source: Json,
    style: Style,
    options: WriteOptions,
) -> list[Message]:
    """Return the messages that were read, if they are read as the same turns again, and nothing else is asked for."""
    if not style.is_plain:
        options.unplaced(storyline, "/messages", source)
        return messages
    if type(source) is list and all(type(one) is dict for one in source):
        again = [one.turn for one in ChatTurns(source, calls_of_chat(source)).turns]
        if len(again) == len(storyline.turns) and all(map(_is_same, storyline.turns, again)):
            return source
    message = "the Storyline was edited, so what was read here no longer fits; dropped"
    options.warn(rules.LAYOUT.at("/messages", source, message=message), storyline)
    return messages


def _is_same(turn: Turn, other: Turn) -> bool:
    """Tell whether two turns say the same, make the same calls and got the same results."""
    calls, others = turn.tool_calls or (), other.tool_calls or ()
    return (
        turn.source == other.source
        and equal(turn.message, other.message)
        and turn.reasoning_content == other.reasoning_content
        and equal(turn.observation, other.observation)
        and len(calls) == len(others)
        and all(
            (one.tool_call_id, one.function_name, one.kind)
            == (two.tool_call_id, two.function_name, two.kind)
            and equal(one.arguments, two.arguments)
            for one, two in zip(calls, others, strict=True)
        )
    )


# As the API takes them


def conformed_chat(storyline: Storyline, style: Style) -> list[Message]:
    """Return messages that obey the rules of the API and of fine-tuning."""
    said = [
        message
        for turn in with_prompt_turns(storyline)
        for message in messages_of_turn(turn, style)
    ]
    return list(with_answers(said)) or [{"role": "system", "content": ""}]


def with_answers(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield *messages*, with an empty answer for each call that has none before something else is said."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] in waiting:
                waiting.remove(message["tool_call_id"])
        else:
            for call_id in waiting:
                yield {"role": "tool", "tool_call_id": call_id, "content": ""}
            waiting = [call["id"] for call in message.get("tool_calls", ())]
        yield message
