"""Residuals of a chat: what its turns do not hold, message by message, so that it is written again as it was.

Source: openai-messages.md B4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub import MISSING, Json, Turn, equal, pointer
from hub_openai_messages.calls import (
    CUSTOM,
    FUNCTION_CALL,
    POSITIONAL,
    SourceCall,
    chat_calls,
)
from hub_openai_messages.messages import Message, restored_chat
from hub_openai_messages.placing import Fields, place


class ReadTurn:
    """A turn, and what it was read of."""

    __slots__ = ("are_held", "calls", "fields", "index", "results", "turn")

    def __init__(self, turn: Turn, index: int) -> None:
        self.turn = turn
        self.index = index
        """Of its message."""
        self.calls: Sequence[SourceCall] = ()
        """As the message has them."""
        self.are_held: Sequence[bool | None] = ()
        """Whether the turn's say all that these say, as `hub_openai_messages.calls.are_held` tells."""
        self.results: list[int] = []
        """Messages that are its results."""
        self.fields: Fields | None = None
        """What the turn does not hold of all these, by pointer; None: that takes a comparison."""


def fields_of_chat(messages: Sequence[Message], turns: Sequence[ReadTurn]) -> Fields:
    """Return what *turns* do not hold, by pointer: member by member, or all messages where that is not enough."""
    order = [index for one in turns for index in (one.index, *one.results)]
    if order != list(range(len(messages))):
        return {"/messages": messages}
    found: Fields = {}
    for one in turns:
        fields = compared_fields(one, messages) if one.fields is None else one.fields
        if fields is None:
            return {"/messages": messages}
        if fields:
            found.update(fields)
    return found


# Messages with the usual members: how they are written is known without writing them


NOTHING: Fields = {}
RESPONSE = frozenset({"role", "content", "reasoning_content", "tool_calls"})


def usual_fields(one: ReadTurn, source: Mapping[str, Json]) -> Fields | None:
    """Return what a turn does not hold of its message; None if that has an unusual member."""
    role = source.get("role")
    if role != "assistant":
        is_usual = role in ("system", "user") and len(source) == 2 and "content" in source  # noqa: PLR2004  # these two
        return NOTHING if is_usual else None
    turn = one.turn
    if not source.keys() <= RESPONSE or (
        turn.reasoning_content is None and "reasoning_content" in source
    ):
        return None
    fields = _usual_calls(one, source["tool_calls"]) if "tool_calls" in source else {}
    if fields is not None and turn.message is None and "content" in source:
        fields[f"/messages/{one.index}/content"] = None
    return fields


def _usual_calls(one: ReadTurn, listed: Json) -> Fields | None:
    """Return the arguments that are spelled otherwise than they are written; None if that takes a comparison."""
    if type(listed) is not list or not len(listed) == len(one.calls) > 0 or None in one.are_held:
        return None
    positional = f"{POSITIONAL}{one.index + 1}-"
    for call in one.calls:
        if call.source_id is None or call.source_id.startswith(positional):
            return None
    if False not in one.are_held:
        return {}
    return {
        f"/messages/{one.index}/tool_calls/{call.position}/function/arguments": call.spelling
        for call, is_held in zip(one.calls, one.are_held, strict=True)
        if not is_held
    }


# Any other: they are written and compared


def compared_fields(one: ReadTurn, messages: Sequence[Message]) -> Fields | None:
    """Return what a turn does not hold of its messages; None if putting that back does not give them again."""
    found: Fields = {}
    for index, written in zip((one.index, *one.results), restored_chat([one.turn]), strict=True):
        fields = fields_of_message(messages[index], written)
        if fields is None:
            return None
        found |= {f"/messages/{index}{at}": value for at, value in fields.items()}
    return found


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
        is_read = bool(chat_calls({"tool_calls": [call]}))
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
