"""Layout: the messages that the turns of a session give, row by row, and how those that were read compare.

Source: openai-messages.md A7, layout, and A8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hub import MISSING, Json, equal, pointer
from hub_openai_messages.calls import same_arguments
from hub_openai_messages.messages import (
    READ_ROWS,
    Message,
    messages_of_turn,
    restored_message,
    restored_results,
)
from hub_openai_messages.model import EMPTY_IN_MESSAGE
from hub_openai_messages.placing import Fields
from hub_openai_messages.row_turns import Conversation
from hub_openai_messages.values import is_empty


class RowMessages(NamedTuple):
    """The messages of one row."""

    news: Sequence[Message]
    """What is new since the row before."""
    said: Message
    """The response."""
    results: Sequence[Message]
    """What came back to it."""


class History:
    """The messages of a session, and of them those that go into each row."""

    def __init__(self, context: Sequence[Message], rows: Sequence[RowMessages]) -> None:
        self.context = context
        self.rows = rows
        self._lengths: list[int] = []
        length = len(context)
        for row in rows:
            self._lengths.append(length + len(row.news))
            length += len(row.news) + 1 + len(row.results)

    def length(self, rank: int, *, full: bool) -> int:
        """Return how many messages a row has."""
        own = len(self._own_results(rank))
        if full:
            return self._lengths[rank] + own
        before = self.rows[rank - 1].results if rank else self.context
        return len(before) + len(self.rows[rank].news) + own

    def messages(self, rank: int, *, full: bool) -> list[Message]:
        """Return the messages of a row: the whole conversation so far, or what is new."""
        if full:
            found = list(self.context)
            for row in self.rows[:rank]:
                found += (*row.news, row.said, *row.results)
        else:
            found = list(self.rows[rank - 1].results if rank else self.context)
        return [*found, *self.rows[rank].news, *self._own_results(rank)]

    def _own_results(self, rank: int) -> Sequence[Message]:
        """Return the results that a row has of its own calls: only the last one, which no row follows."""
        return self.rows[rank].results if rank == len(self.rows) - 1 else ()


def history_of(conversation: Conversation, known: Mapping[int, Message]) -> History:
    """Return the messages that a conversation gives; *known* are those of turns, by their identity."""
    context = [
        message for turn in conversation.context for message in messages_of_turn(turn, READ_ROWS)
    ]
    rows = []
    for row in conversation.rows:
        said = known.get(id(row.response)) or restored_message(row.response, READ_ROWS)
        results = () if row.response.observation is None else restored_results(row.response)
        news = () if row.request is None else messages_of_turn(row.request, READ_ROWS)
        rows.append(RowMessages(news, said, results))
    return History(context, rows)


def fields_of_row(source: Json, history: History, rank: int, *, full: bool) -> Fields | None:
    """Return what is left of the messages of a row, by pointer; None: they are not those that are written."""
    listed = [] if source is None else source
    if type(listed) is not list or len(listed) != history.length(rank, full=full):
        return None
    found: Fields = {}
    for index, (one, written) in enumerate(
        zip(listed, history.messages(rank, full=full), strict=True)
    ):
        fields = fields_of_message(one, written)
        if fields is None:
            return None
        for at, value in fields.items():
            found[f"/{index}{at}"] = value
    return found


NOTHING: Fields = {}


def fields_of_message(source: Json, written: Message) -> Fields | None:
    """Return the members of *source* that *written* has not; None: the two say something else."""
    if type(source) is not dict:
        return None
    if is_same_message(source, written):
        return NOTHING
    found: Fields = {}
    for key, value in source.items():
        expected: Json = written.get(key, MISSING)
        if expected is MISSING:
            if key == "reasoning_content" and written["role"] == "assistant":
                if type(value) is str:
                    return None
                if value is None:
                    continue
            if not (key in EMPTY_IN_MESSAGE and is_empty(value)):
                found[f"/{pointer.escape(key)}"] = value
        elif key == "tool_calls":
            calls = fields_of_calls(value, expected)
            if calls is None:
                return None
            found.update(calls)
        elif value is not expected and not equal(value, expected):
            return None
    return None if written.keys() - source.keys() else found


def is_same_message(source: Mapping[str, Json], written: Message) -> bool:
    """Tell whether *source* certainly is *written*, which beside its content has texts only; False says nothing."""
    if source is written:
        return True
    content = source.get("content")
    if type(content) is not str and content is not written.get("content"):
        return False  # 1 and 1.0 may be in it
    return source == written


def fields_of_calls(source: Json, written: Sequence[Message]) -> Fields | None:
    """Return what is left of the calls of a message; None: they are others."""
    if type(source) is not list or len(source) != len(written):
        return None
    found: Fields = {}
    for position, (call, expected) in enumerate(zip(source, written, strict=True)):
        function = call.get("function") if type(call) is dict else None
        if type(function) is not dict or call.get("id") != expected["id"]:
            return None
        at = f"/tool_calls/{position}"
        own = fields_of_function(function, expected["function"])
        if own is None:
            return None
        for key, value in own.items():
            found[f"{at}/function{key}"] = value
        found.update({f"{at}{key}": value for key, value in rest_of_call(call).items()})
    return found


def fields_of_function(source: Message, written: Message) -> Fields | None:
    """Return what is left of a function: unknown members, and arguments that are spelled otherwise."""
    if source.get("name") != written["name"]:
        return None
    spelling, expected = source.get("arguments", MISSING), written.get("arguments", MISSING)
    if spelling is not expected and not same_arguments(spelling, expected):
        return None
    found = {
        f"/{pointer.escape(key)}": value
        for key, value in source.items()
        if key not in ("name", "arguments")
    }
    if spelling is not expected and spelling != expected:
        found["/arguments"] = spelling
    return found


def rest_of_call(call: Message) -> Fields:
    """Return the members of a call beside its id and function; `type` says nothing when it is the usual one."""
    return {
        f"/{pointer.escape(key)}": value
        for key, value in call.items()
        if key not in ("id", "function") and not (key == "type" and value == "function")
    }
