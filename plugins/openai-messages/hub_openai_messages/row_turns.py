"""The turns of a session: context, then for each row what was asked and what came out, with the results of calls.

Source: openai-messages.md A3 and A4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from hub import MISSING, Json, Rule, ToolCall, Turn, equal, unique_call_ids
from hub_openai_messages import rules
from hub_openai_messages.calls import (
    EMBEDDED,
    SourceCall,
    are_held,
    is_no_json,
    is_row_call,
    row_calls,
    values_of,
)
from hub_openai_messages.markup import call_in_content
from hub_openai_messages.messages import is_markup
from hub_openai_messages.model import SOURCE_OF_ROLE
from hub_openai_messages.values import has_value

Report = Callable[[int, str, Rule, Json, str | None], None]
"""Called with rank, place in the row, rule, value, and what was expected."""

RESPONSE = "response"


class Made(NamedTuple):
    """A turn that made calls, and where it was read."""

    turn: Turn
    calls: Sequence[SourceCall]
    rank: int
    place: str
    """In the row: `response`, `messages/3`."""


class RowTurns(NamedTuple):
    """The turns of one row."""

    request: Turn | None
    response: Turn
    place: str | None
    """Where the output was read; None: there is none."""


class Conversation:
    """The turns of one session; what breaks a rule is told to *report*."""

    def __init__(
        self,
        rows: Sequence[Mapping[str, Json]],
        numbers: Sequence[int],
        report: Report | None = None,
    ) -> None:
        self.context: list[Turn] = []
        self.rows: list[RowTurns] = []
        self.made: list[Made] = []
        self.messages = [_messages(row) for row in rows]
        self._report = report
        for rank, row in enumerate(rows):
            self._read_row(rank, row, numbers[rank])
        self._read_arguments()
        self._name_calls(numbers)
        results = _Results(self)
        for rank in range(len(rows)):
            results.add_row(rank)

    @property
    def turns(self) -> list[Turn]:
        """All turns, in order."""
        turns = list(self.context)
        for row in self.rows:
            if row.request is not None:
                turns.append(row.request)
            turns.append(row.response)
        return turns

    def report(
        self, rank: int, place: str, rule: Rule, value: Json, expected: str | None = None
    ) -> None:
        """Report what breaks *rule*, if anybody asks."""
        if self._report is not None:
            self._report(rank, place, rule, value, expected)

    def _read_row(self, rank: int, row: Mapping[str, Json], number: int) -> None:
        messages = self.messages[rank]
        last = _last_user(messages)
        if rank == 0 and last is not None and "content" in messages[last]:
            self._read_context(messages[:last])
        at = len(self.context) + 2 * number
        request = None
        if last is not None and "content" in messages[last]:
            content = messages[last]["content"]
            request = Turn(turn_id=at - 1, source="user", message=content, kind="llm.request")
        self.rows.append(self._response(rank, row, at, request))

    def _read_context(self, messages: Sequence[Json]) -> None:
        for index, message in enumerate(messages):
            role = message.get("role") if type(message) is dict else None
            source = SOURCE_OF_ROLE.get(role) if type(role) is str else None
            if source is None:
                continue
            turn = Turn(
                turn_id=len(self.context) + 1,
                source=source,
                message=message.get("content"),
                is_copied_context=True,
                kind={"user": "llm.request", "system": "context"}.get(source, "llm.response"),
            )
            if source == "agent":
                turn.reasoning_content = _text(message.get("reasoning_content"))
                self._add_calls(turn, message, 0, f"messages/{index}")
            self.context.append(turn)

    def _response(
        self, rank: int, row: Mapping[str, Json], turn_id: int, request: Turn | None
    ) -> RowTurns:
        message, place = self._output(rank, row)
        turn = Turn(
            turn_id=turn_id,
            source="agent",
            message=_said(message),
            kind="llm.response",
            llm_call_count=1,
        )
        if place is None:
            self.report(rank, RESPONSE, rules.OUTPUT, row.get(RESPONSE, MISSING))
            return RowTurns(request, turn, None)
        turn.reasoning_content = _text(message.get("reasoning_content"))
        self._add_calls(turn, message, rank, place)
        if not turn.tool_calls:
            self._add_markup(turn, message, rank, place)
        return RowTurns(request, turn, place)

    def _output(self, rank: int, row: Mapping[str, Json]) -> tuple[Mapping[str, Json], str | None]:
        """Return the message that came out, and where it stands."""
        response = row.get(RESPONSE)
        if type(response) is dict and passes(response):
            return response, RESPONSE
        messages = self.messages[rank]
        for index in range(len(messages) - 1, -1, -1):
            message = messages[index]
            if type(message) is dict and message.get("role") == "assistant" and passes(message):
                return message, f"messages/{index}"
        return {}, None

    # Calls

    def _add_calls(self, turn: Turn, message: Mapping[str, Json], rank: int, place: str) -> None:
        listed = message.get("tool_calls")
        if not listed:
            return
        calls = row_calls(message)
        if calls:
            turn.kind = "autonomous"
            turn.tool_calls = [
                ToolCall(
                    tool_call_id=call.source_id or call.name,
                    function_name=call.name,
                    arguments=None,  # see _read_arguments
                )
                for call in calls
            ]
            self.made.append(Made(turn, calls, rank, place))
        if self._report is not None:
            self._check_calls(listed, calls, rank, place)

    def _check_calls(
        self, listed: Json, calls: Sequence[SourceCall], rank: int, place: str
    ) -> None:
        if type(listed) is not list:
            self.report(rank, f"{place}/tool_calls", rules.CALL, listed, "an array of calls")
            return
        if len(calls) < len(listed):
            for position, call in enumerate(listed):
                if call is not None and not is_row_call(call):
                    self.report(rank, f"{place}/tool_calls/{position}", rules.CALL, call)

    def _read_arguments(self) -> None:
        """Give each listed call its arguments, the texts of the whole session being read together."""
        listed = [
            (made, source, call)
            for made in self.made
            for source, call in zip(made.calls, made.turn.tool_calls or (), strict=True)
            if source.position >= 0
        ]
        arguments = values_of([source for _, source, _ in listed])
        for (made, source, call), value in zip(listed, arguments, strict=True):
            call.arguments = value
            if type(source.spelling) is str and is_no_json(source, value):
                at = f"{made.place}/tool_calls/{source.position}/function/arguments"
                self.report(made.rank, at, rules.ARGUMENTS, source.spelling)

    def _add_markup(self, turn: Turn, message: Mapping[str, Json], rank: int, place: str) -> None:
        found = call_in_content(message.get("content"))
        if found is None:
            return
        turn.kind = "autonomous"
        turn.tool_calls = [
            ToolCall(tool_call_id=found.name, function_name=found.name, arguments=found.arguments)
        ]
        call = SourceCall(-1, None, found.name, MISSING)
        self.made.append(Made(turn, [call], rank, place))

    def _name_calls(self, numbers: Sequence[int]) -> None:
        """Give every call an id that no other has: storyline.md 5.2."""
        ids = [call.source_id for made in self.made for call in made.calls]
        if len(set(ids)) == len(ids) and None not in ids:
            return
        positional = [
            f"{EMBEDDED}{numbers[made.rank]}-{call.name}"
            for made in self.made
            for call in made.calls
        ]
        unique = iter(unique_call_ids(ids, positional))
        for made in self.made:
            for source, call in zip(made.calls, made.turn.tool_calls or (), strict=True):
                call.tool_call_id = next(unique)
                if source.source_id not in (None, call.tool_call_id):
                    at = f"{made.place}/tool_calls/{source.position}/id"
                    self.report(
                        made.rank, at, rules.as_warning(rules.CALL_ID_UNIQUE), source.source_id
                    )

    def made_as_written(self) -> Iterator[Made]:
        """Yield what was made whose calls, as they were read, certainly are as they are written."""
        calls = [call for made in self.made for call in made.calls]
        named = [call for made in self.made for call in made.turn.tool_calls or ()]
        are_all = iter(
            are_held(calls, [one.tool_call_id for one in named], [one.arguments for one in named])
        )
        for made in self.made:
            if all(list(islice(are_all, len(made.calls)))) and not is_markup(made.turn):
                yield made


class _Results:
    """What came back, added to the turns that made the calls: openai-messages.md A4.3."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._of_rank: dict[int, list[Made]] = {}
        for made in conversation.made:
            is_context = made.turn.is_copied_context
            self._of_rank.setdefault(-1 if is_context else made.rank, []).append(made)
        self._calls: dict[str, list[list[tuple[Turn, str]]]] = {}
        """By source id: for each turn with such calls, in order, the turn and the id of each call."""
        self._known: dict[tuple[int, str], list[Json]] = {}
        """Contents of the results so far, by turn and call."""
        self._settled: dict[str, list[str]] = {}
        """The texts among them that came to ids which only one call has: a repeated history has nothing to add."""
        self._add_calls(-1)

    def _add_calls(self, rank: int) -> None:
        """Take the calls of a row's response into account; its context comes before all of them."""
        for made in self._of_rank.get(rank, ()):
            turn = made.turn
            for source, call in zip(made.calls, turn.tool_calls or (), strict=True):
                name, own = source.source_id or call.tool_call_id, (turn, call.tool_call_id)
                known = self._calls.get(name)
                if known is None:
                    self._calls[name] = [[own]]
                    continue
                if known[-1][0][0] is turn:
                    known[-1].append(own)
                else:
                    known.append([own])
                self._settled.pop(name, None)

    def add_row(self, rank: int) -> None:
        """Add the results among the messages of a row, before its response is there."""
        messages = self._conversation.messages[rank]
        settled = self._settled
        found = []
        for index, message in enumerate(messages):
            if type(message) is dict and message.get("role") == "tool":
                call_id = message.get("tool_call_id")
                if type(call_id) is not str:
                    continue
                known = settled.get(call_id)
                if known is None or message.get("content") not in known:
                    found.append((index, message))
        if found:
            self._add(rank, messages, found)
        self._add_calls(rank)

    def _add(
        self, rank: int, messages: Sequence[Json], found: Sequence[tuple[int, Mapping[str, Json]]]
    ) -> None:
        times: dict[tuple[int, str], int] = {}
        before = _CallsBefore(messages)
        for index, message in found:
            call_id, content = message["tool_call_id"], message.get("content")
            if not call_id:
                continue
            turns = self._calls.get(call_id)
            if turns is None:
                self._conversation.report(
                    rank, f"messages/{index}", rules.as_warning(rules.RESULT_CALL), message
                )
                self._add_result(self._conversation.rows[rank].response, call_id, content)
                continue
            calls = turns[-1]
            if len(turns) > 1:
                calls = turns[before.nearest(index, call_id, len(turns))]
            turn, name = calls[0]
            if len(calls) > 1:
                seen = times[id(turn), call_id] = times.get((id(turn), call_id), -1) + 1
                turn, name = calls[seen if seen < len(calls) else 0]
            self._add_result(turn, name, content)
            if len(turns) == len(calls) == 1 and type(content) is str:
                self._settled.setdefault(call_id, []).append(content)

    def _add_result(self, turn: Turn, call_id: str, content: Json) -> None:
        """Add a result to *turn*, unless an equal one is there."""
        known = self._known.setdefault((id(turn), call_id), [])
        for one in known:
            if one is content or equal(one, content):
                return
        known.append(content)
        if turn.observation is None:
            turn.observation = {"results": []}
        turn.observation["results"].append({"source_call_id": call_id, "content": content})


class _CallsBefore:
    """How many messages of a row, up to one of them, call each id."""

    def __init__(self, messages: Sequence[Json]) -> None:
        self._messages = messages
        self._position = 0
        self._counts: dict[str, int] = {}

    def nearest(self, index: int, call_id: str, number: int) -> int:
        """Return which of *number* turns with calls of one id the message at *index* answers.

        Where the history is repeated, so many calls with that id stand before it; otherwise the latest. Indices rise.
        """
        for message in self._messages[self._position : index]:
            if type(message) is dict and message.get("role") == "assistant":
                for name in {call.source_id or "" for call in row_calls(message)}:
                    self._counts[name] = self._counts.get(name, 0) + 1
        self._position = index
        before = self._counts.get(call_id, 0)
        return before - 1 if 0 < before <= number else -1


def passes(message: Mapping[str, Json]) -> bool:
    """Tell whether a message says anything: the output test of openai-messages.md A3."""
    calls = message.get("tool_calls")
    if type(calls) is list and calls:
        return True
    return has_value(message.get("content")) or has_value(message.get("refusal"))


def _said(message: Mapping[str, Json]) -> Json:
    """Return what an assistant said: the content, or for want of one the refusal."""
    content = message.get("content")
    if not has_value(content) and has_value(message.get("refusal")):
        return message["refusal"]
    return content


def _text(value: Json) -> str | None:
    return value if type(value) is str else None


def _messages(row: Mapping[str, Json]) -> Sequence[Json]:
    messages = row.get("messages")
    return messages if type(messages) is list else ()


def _last_user(messages: Sequence[Json]) -> int | None:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if type(message) is dict and message.get("role") == "user":
            return index
    return None
