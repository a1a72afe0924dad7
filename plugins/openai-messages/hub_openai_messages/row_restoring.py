"""Restoring rows: residuals go back to where they were read, unless the Storyline says something else there.

Source: openai-messages.md A8.2; residuals.md 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hub import MISSING, Json, Storyline, Turn, WriteOptions, equal, pointer, restore
from hub_openai_messages import rules
from hub_openai_messages.placing import Fields, place
from hub_openai_messages.row_turns import RESPONSE, Conversation

Row = dict[str, Json]

FILLERS = frozenset({
    "agent_id", "job_id", "run_id", "run_bucket", "agent_model", "llm_model", "env_name", "dataset_type", "dt",
    "meta_json", "step_id",
})  # fmt: skip
"""Members of a row that repeat what the whole session says, or where the row stands in it."""


class RowFields:
    """The residuals of one row."""

    __slots__ = ("messages", "response", "row", "whole")

    def __init__(self) -> None:
        self.row: Fields = {}
        self.messages: dict[int, Fields] = {}
        """By message, relative to it."""
        self.response: Fields = {}
        self.whole: Fields = {}
        """Of `messages` and `response`, what takes their place as it is."""

    def add(self, tokens: Sequence[str], value: Json, *, messages: bool) -> bool:
        """Add a residual; tell whether there can be a place for it.

        *messages*: whether messages are spelled as they were read, so that theirs have a place.
        """
        match tokens:
            case []:
                return False
            case ["messages" | "response", *_] if not messages:
                return False
            case ["messages" | "response" as key]:
                self.whole[key] = value
            case ["messages", index, _, *_] if pointer.is_index(index) and len(index) <= MAX_DIGITS:
                self.messages.setdefault(int(index), {})[_joined(tokens[2:])] = value
            case ["messages", *_]:
                return False
            case ["response", *rest]:
                self.response[_joined(rest)] = value
            case _:
                self.row[_joined(tokens)] = value
        return True


MAX_DIGITS = 9
"""No row has as many messages."""


def _joined(escaped: Sequence[str]) -> str:
    return "".join(f"/{token}" for token in escaped)


class Written(NamedTuple):
    """A session as it was written, and of what."""

    storyline: Storyline
    context: Sequence[Turn]
    turns: Sequence[tuple[Sequence[Turn], Turn | None]]
    """Of each row: what is new, and the response."""
    numbers: Sequence[int]
    """Of the steps."""
    rows: Sequence[Row]


def put_back(written: Written, fields: Sequence[RowFields], options: WriteOptions) -> None:
    """Put *fields* back into the rows; name those without a place."""
    for rank, (row, own) in enumerate(zip(written.rows, fields, strict=True)):
        _put_into_row(written.storyline, rank, row, own, options)
    _put_whole(written, fields, options)


def _put_into_row(
    storyline: Storyline, rank: int, row: Row, fields: RowFields, options: WriteOptions
) -> None:
    at = f"/session_steps/{rank}"
    left: Fields = {}
    messages = row["messages"]
    for index, own in fields.messages.items():
        if "messages" in fields.whole:
            continue
        unplaced = own
        if index < len(messages):
            messages[index] = _copy(messages[index])
            unplaced = place(messages[index], own)
        left.update({f"{at}/messages/{index}{key}": one for key, one in unplaced.items()})
    if fields.response:
        row[RESPONSE] = _copy(row.get(RESPONSE, {"role": "assistant", "content": None}))
        unplaced = place(row[RESPONSE], fields.response)
        left.update({f"{at}/{RESPONSE}{key}": one for key, one in unplaced.items()})
    left.update({f"{at}{key}": one for key, one in _put_members(row, fields.row).items()})
    for pointer_, value in left.items():
        options.unplaced(storyline, pointer_, value)


def _copy(message: Row) -> Row:
    """Return a message that may be changed; calls are what is changed below its members."""
    copied = dict(message)
    if "tool_calls" in copied:
        copied["tool_calls"] = [
            {**call, "function": dict(call["function"])} if "function" in call else dict(call)
            for call in copied["tool_calls"]
        ]
    return copied


def _put_members(row: Row, fields: Mapping[str, Json]) -> Fields:
    """Put the residuals of a row beside its messages back; return those without a place."""
    if not fields:
        return {}
    for at in fields:
        tokens = at.split("/")[1:-1]
        if tokens in (["meta_json"], ["meta_json", "env_state"]):
            holder = row
            for token in tokens:
                holder = holder.setdefault(token, {})
    return restore(row, fields, _gives_way, places=("/_storyline",))


def _gives_way(tokens: Sequence[str], written: Json, residual: Json) -> bool:
    """Tell whether a member of a row repeats what the session says, or stands for what is not known."""
    del written, residual  # whatever they are
    return tokens[0] in FILLERS


# Messages and responses as a whole


def _put_whole(written: Written, fields: Sequence[RowFields], options: WriteOptions) -> None:
    """Put back what takes the place of messages and responses, where the row is then read as the same turns."""
    rows = written.rows
    placed = {rank for rank, own in enumerate(fields) if own.whole}
    while placed:
        tried = [
            {**row, **fields[rank].whole} if rank in placed else row
            for rank, row in enumerate(rows)
        ]
        wrong = _rows_that_differ(written, tried, placed)
        if not wrong:
            break
        placed -= wrong
    for rank, own in enumerate(fields):
        if rank in placed:
            rows[rank].update(own.whole)
        else:
            for key, value in own.whole.items():
                at = f"/session_steps/{rank}/{key}"
                options.warn(rules.LAYOUT.at(at, value, message=DROPPED), written.storyline)


DROPPED = "the Storyline was edited, so what was read here no longer fits; dropped"


def _rows_that_differ(written: Written, rows: Sequence[Row], placed: set[int]) -> set[int]:
    """Return those of the rows *placed* because of which *rows* are not read as what was written."""
    context = written.context
    again = Conversation(rows, written.numbers)
    wrong = set()
    if not _are_same(context, again.context):
        wrong.add(0)
    misled: set[Json] = set()
    for rank, (row, (news, response)) in enumerate(zip(again.rows, written.turns, strict=True)):
        request = [] if row.request is None else [row.request]
        if response is None or not _are_same(news, request) or not _is_said(response, row.response):
            wrong.add(rank)
        elif not equal(response.observation, row.response.observation):
            wrong.add(rank)
            misled |= _named(response) | _named(row.response)
    for turn, other in zip(context, again.context, strict=False):
        if not equal(turn.observation, other.observation):
            misled |= _named(turn) | _named(other)
    if misled:
        wrong |= {rank for rank in placed if not misled.isdisjoint(_answered(rows[rank]))}
    found = wrong & placed
    return found or (set(placed) if wrong else set())


def _are_same(turns: Sequence[Turn], others: Sequence[Turn]) -> bool:
    return len(turns) == len(others) and all(map(_is_said, turns, others))


def _is_said(turn: Turn, other: Turn) -> bool:
    """Tell whether two turns say the same and make the same calls."""
    return (
        turn.source == other.source
        and equal(turn.message, other.message)
        and turn.reasoning_content == other.reasoning_content
        and _calls(turn) == _calls(other)
        and all(
            equal(one.arguments, two.arguments)
            for one, two in zip(turn.tool_calls or (), other.tool_calls or (), strict=True)
        )
    )


def _calls(turn: Turn) -> list[tuple[str, str]]:
    return [(call.tool_call_id, call.function_name) for call in turn.tool_calls or ()]


def _named(turn: Turn) -> set[Json]:
    """Return what the results of *turn* name, and its calls, without the numbers that make them differ."""
    observation = turn.observation
    results = observation.get("results") if type(observation) is dict else None
    names = [one.get("source_call_id") for one in results or () if type(one) is dict]
    names += [call.tool_call_id for call in turn.tool_calls or ()]
    texts = [name for name in names if type(name) is str]
    return {*texts, *(name.rpartition("#")[0] for name in texts)}


def _answered(row: Mapping[str, Json]) -> set[str]:
    """Return the ids that the tool messages of a row name."""
    messages = row.get("messages", MISSING)
    return {
        message["tool_call_id"]
        for message in (messages if type(messages) is list else ())
        if type(message) is dict and type(message.get("tool_call_id")) is str
    }
