"""Calls: those of an assistant message and those of a turn, the pair side by side.

Source: openai-messages.md A4.1, A8.1, B3 and B5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from hub import (
    MISSING,
    Json,
    ToolCall,
    are_compact,
    compact,
    equal,
    value_of_text,
    values_of_texts,
)
from hub_openai_messages.values import is_text, value_of_arguments

CUSTOM, FUNCTION_CALL = "custom", "function_call"
"""Kinds of calls that are no functions, or not in the list."""


class SourceCall(NamedTuple):
    """A call as a message has it."""

    position: int
    """In `tool_calls`; -1 for `function_call`."""
    source_id: str | None
    """None: none that is usable."""
    name: str
    spelling: Json
    """The arguments as they are written; `MISSING` if they are not."""
    kind: str | None = None
    is_usual: bool = False
    """Whether the message has nothing of it but id, type, and a function of a name and a text of arguments."""

    @property
    def is_json(self) -> bool:
        """Whether the arguments are a text that should spell JSON."""
        return type(self.spelling) is str and self.kind != CUSTOM


def values_of(calls: Sequence[SourceCall]) -> Iterator[Json]:
    """Yield the arguments of each of *calls* as a value; a text that is no JSON as it is."""
    are_json = [call.is_usual or call.is_json for call in calls]
    spelled = values_of_texts([call.spelling for call in compress(calls, are_json)])
    for call, is_json in zip(calls, are_json, strict=True):
        value = next(spelled) if is_json else call.spelling
        if value is not MISSING:
            yield value
        else:
            yield None if call.spelling is MISSING else call.spelling


def is_no_json(call: SourceCall, arguments: Json) -> bool:
    """Tell whether what *call* has, and is read as *arguments*, should be JSON text and is none."""
    return arguments is call.spelling and call.kind != CUSTOM


# Rows: openai-messages.md A4.1


def row_calls(message: Mapping[str, Json]) -> list[SourceCall]:
    """Return the calls of a message of a row: those with an id and a function with a name."""
    listed = message.get("tool_calls")
    if type(listed) is not list:
        return []
    return [
        SourceCall(
            position,
            call["id"],
            (function := call["function"])["name"],
            spelling := function.get("arguments", MISSING),
            None,
            _is_usual(call, function, spelling),
        )
        for position, call in enumerate(listed)
        if is_row_call(call)
    ]


def is_row_call(call: Json) -> bool:
    """Tell whether *call* makes a call of a turn."""
    if type(call) is not dict or not is_text(call.get("id")):
        return False
    function = call.get("function")
    return type(function) is dict and is_text(function.get("name"))


# Chats: openai-messages.md B3


def calls_of_chat(messages: Sequence[Mapping[str, Json]]) -> dict[int, list[SourceCall]]:
    """Return the calls of each message that makes some, by its index."""
    found = {}
    for index, message in enumerate(messages):
        if ("tool_calls" in message or FUNCTION_CALL in message) and (
            message.get("role") == "assistant"
        ):
            calls = chat_calls(message)
            if calls:
                found[index] = calls
    return found


def chat_calls(message: Mapping[str, Json]) -> list[SourceCall]:
    """Return the calls of an assistant message: functions, custom ones, and the deprecated one last."""
    listed = message.get("tool_calls")
    found = []
    for position, call in enumerate(listed if type(listed) is list else ()):
        made = _listed_call(position, call) if type(call) is dict else None
        if made is not None:
            found.append(made)
    function = message.get(FUNCTION_CALL)
    if type(function) is dict and is_text(function.get("name")):
        spelling = function.get("arguments", MISSING)
        found.append(SourceCall(-1, None, function["name"], spelling, FUNCTION_CALL))
    return found


def _listed_call(position: int, call: Mapping[str, Json]) -> SourceCall | None:
    """Return what an element of `tool_calls` calls; None: nothing."""
    source_id, function = call.get("id"), call.get("function")
    if type(source_id) is not str or not source_id:
        source_id = None
    if type(function) is dict and type(name := function.get("name")) is str and name:
        spelling = function.get("arguments", MISSING)
        is_usual = source_id is not None and _is_usual(call, function, spelling)
        return SourceCall(position, source_id, name, spelling, None, is_usual)
    custom = call.get("custom")
    if call.get("type") == CUSTOM and type(custom) is dict and is_text(custom.get("name")):
        spelling = custom.get("input", MISSING)
        return SourceCall(position, source_id, custom["name"], spelling, CUSTOM)
    return None


def _is_usual(call: Mapping[str, Json], function: Mapping[str, Json], spelling: Json) -> bool:
    """Tell whether a *call* with an id has nothing else but a type and a *function* of a name and a text."""
    return (
        type(spelling) is str
        and len(function) == 2  # noqa: PLR2004  # name and arguments
        and len(call) == 3  # noqa: PLR2004  # id, type and function
        and call.get("type") == "function"
    )


def are_held(
    calls: Sequence[SourceCall], names: Sequence[str], arguments: Sequence[Json]
) -> list[bool | None]:
    """Tell of each of *calls* whether its id in the turn and its arguments there say all of it; None: that is not sure.

    False: all but how the arguments are spelled.
    """
    are_usual = [
        call.is_usual and call.source_id == name and value is not None and type(value) is not str
        for call, name, value in zip(calls, names, arguments, strict=True)
    ]
    texts = [call.spelling for call in compress(calls, are_usual)]
    are_written = iter(are_compact(texts, list(compress(arguments, are_usual))))
    return [next(are_written) if is_usual else None for is_usual in are_usual]


EMBEDDED = "embedded-"
"""How the id of a call begins that stands in a text."""
POSITIONAL = "call-"
"""How the id of a listed call begins that has none."""


def positional_id(index: int, position: int, kind: str | None) -> str:
    """Return the id of a call that has none, from its place."""
    return (
        f"{FUNCTION_CALL}:{index}"
        if kind == FUNCTION_CALL
        else f"{POSITIONAL}{index + 1}-{position}"
    )


def is_positional(call_id: str, index: int, position: int) -> bool:
    """Tell whether *call_id* is that of a listed call that has none."""
    return call_id.startswith(POSITIONAL) and call_id == positional_id(index, position, None)


# Writing: openai-messages.md A8.1


class CallStyle(NamedTuple):
    """How calls are written."""

    restored: bool
    as_object: bool = False
    """Arguments as a JSON value."""


def written_arguments(arguments: Json, style: CallStyle) -> Json:
    """Return the *arguments* of a call as they are written; `MISSING`: not at all."""
    if style.as_object:
        value = value_of_arguments(arguments)
        return value if type(value) is dict else {} if value is None else {"value": value}
    if type(arguments) is str:
        # A text that spells JSON would be read as that.
        is_json = style.restored and value_of_text(arguments) is not MISSING
        return compact(arguments) if is_json else arguments
    if arguments is None:
        return MISSING if style.restored else "{}"
    return compact(arguments)


def written_function(call: ToolCall, style: CallStyle) -> dict[str, Json]:
    """Return name and arguments of *call*."""
    arguments = written_arguments(call.arguments, style)
    if arguments is MISSING:
        return {"name": call.function_name}
    return {"name": call.function_name, "arguments": arguments}


def written_call(call: ToolCall, style: CallStyle) -> dict[str, Json]:
    """Return *call* as a function."""
    function = written_function(call, style)
    return {"id": call.tool_call_id, "type": "function", "function": function}


def custom_call(call: ToolCall) -> dict[str, Json]:
    """Return *call* as a custom one, whose input is a text."""
    arguments = call.arguments
    text = arguments if type(arguments) is str else compact(arguments)
    custom = {"name": call.function_name, "input": text}
    return {"id": call.tool_call_id, "type": CUSTOM, "custom": custom}


def same_arguments(one: Json, other: Json) -> bool:
    """Tell whether two spellings of arguments are one text, or are read as equal JSON."""
    if type(one) is not str or type(other) is not str:
        return equal(one, other)
    if one == other:
        return True
    value = value_of_arguments(other)
    # Most are spelled from one value; then comparing texts is quicker than reading both.
    is_spelled = type(value) is not str and compact(value) == one
    return is_spelled or equal(value_of_arguments(one), value)
