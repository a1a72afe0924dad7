"""Rows to Storylines: a session is one Storyline, and what no field holds is kept by the rank of its row.

Source: openai-messages.md A2 to A7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hub import (
    MISSING,
    Agent,
    Document,
    Json,
    Origin,
    Residuals,
    Rule,
    Storyline,
    Task,
    pointer,
)
from hub_openai_messages import rules
from hub_openai_messages.calls import SourceCall, is_row_call, same_arguments
from hub_openai_messages.documents import Corpus, Session
from hub_openai_messages.layout import (
    History,
    fields_of_row,
    history_of,
    is_same_message,
    rest_of_call,
)
from hub_openai_messages.messages import Message
from hub_openai_messages.model import EMPTY_IN_MESSAGE, NEW_ROWS, SOURCE, SOURCE_OF_ROLE
from hub_openai_messages.placing import Fields, place
from hub_openai_messages.row_facts import SessionFacts
from hub_openai_messages.row_turns import RESPONSE, Conversation, RowTurns
from hub_openai_messages.values import has_value, is_empty, is_text


def storylines_from_rows(document: Document[Any], corpus: Corpus) -> Iterator[Storyline]:
    """Yield one Storyline a session, in the order of the first rows."""
    shared = {f"/{pointer.escape(key)}": value for key, value in corpus.root.items()}
    for session in corpus.sessions:
        yield _SessionReader(document, corpus, session, shared).storyline()


class _SessionReader:
    """Reads the rows of one session."""

    def __init__(
        self, document: Document[Any], corpus: Corpus, session: Session, shared: Fields
    ) -> None:
        self.document = document
        self.corpus = corpus
        self.session = session
        self.fields: Fields = dict(shared)

    def storyline(self) -> Storyline:
        session, corpus = self.session, self.corpus
        for rank in session.replaced:
            self.fields[f"/session_steps/{rank}/step_id"] = session.rows[rank]["step_id"]
        self._check_shapes()
        conversation = Conversation(session.rows, session.numbers, self._report)
        facts = SessionFacts(self.document, session, self.fields)
        self._add_facts(conversation, facts)
        tag = self._read_layout(conversation)
        env = facts.task_env()
        node = f"{corpus.nodes}/{session.indices[0]}"
        for index in session.indices[1:]:
            self.document.aliases[f"{corpus.nodes}/{index}"] = node
        residuals = Residuals(source_document_id=corpus.document_id, fields=self.fields)
        return Storyline(
            session_id=session.session_id,
            run_id=facts.run,
            agent=Agent(agent_id=facts.agent_id, name=facts.agent_id, model_name=facts.model),
            origin=Origin(format=SOURCE, schema_version=tag, document_id=corpus.document_id),
            task=None if env is None else Task(env=env),
            turns=conversation.turns,
            final_metrics=conversation.rows[-1].response.metrics,
            unknown_fields={SOURCE: residuals} if self.fields else {},
            node=node,
        )

    def _report(self, rank: int, place: str, rule: Rule, value: Json, expected: str | None) -> None:
        at = f"/session_steps/{self.session.indices[rank]}/{place}"
        self.document.report(rule.at(at, value, expected=expected))

    def _check_shapes(self) -> None:
        """`messages` is an array, `response` an object."""
        for rank, row in enumerate(self.session.rows):
            for key, kind, expected in SHAPES:
                value = row.get(key)
                if value is not None and type(value) is not kind:
                    self._report(rank, key, rules.TYPE, value, expected)

    def _add_facts(self, conversation: Conversation, facts: SessionFacts) -> None:
        """Add what a row says of its turns."""
        for row, own in zip(conversation.rows, facts.rows(), strict=True):
            if row.request is not None:
                row.request.timestamp = own.timestamp
            turn = row.response
            turn.timestamp = own.timestamp
            turn.model_name = own.model
            turn.metrics = own.metrics
            turn.latency_ms = own.latency_ms
            turn.ttft_ms = own.ttft_ms
            turn.env = own.env

    # Layout

    def _read_layout(self, conversation: Conversation) -> str | None:
        """Keep what is left of messages and responses; return the tag of the layout that most rows have."""
        said = said_as_written(self.session.rows, conversation)
        history = history_of(conversation, said)
        full = self._row_fields(history, full=True)
        found, tag = full, None
        if None in full:
            new = self._row_fields(history, full=False)
            if new.count(None) < full.count(None):
                found, tag = new, NEW_ROWS
        calls = {id(made.turn): made.calls for made in conversation.made}
        for rank, (row, fields) in enumerate(zip(self.session.rows, found, strict=True)):
            at = f"/session_steps/{rank}"
            if fields is None:
                self.fields[f"{at}/messages"] = row.get("messages", [])
            elif fields:
                self.fields.update({f"{at}/messages{key}": one for key, one in fields.items()})
            if RESPONSE in row:
                turns = conversation.rows[rank]
                own = calls.get(id(turns.response), ())
                self._read_response(row[RESPONSE], turns, rank, own, history.rows[rank].said)
        return tag

    def _row_fields(self, history: History, *, full: bool) -> list[Fields | None]:
        return [
            fields_of_row(row.get("messages"), history, rank, full=full)
            for rank, row in enumerate(self.session.rows)
        ]

    def _read_response(
        self,
        response: Json,
        row: RowTurns,
        rank: int,
        calls: Sequence[SourceCall],
        written: Message,
    ) -> None:
        at = f"/session_steps/{rank}/{RESPONSE}"
        fields = None
        if row.place == RESPONSE:
            fields = fields_of_response(response, row, calls, written)
        if fields is None:
            self.fields[at] = response
        else:
            self.fields.update({f"{at}{key}": value for key, value in fields.items()})


SHAPES: Sequence[tuple[str, type, str]] = (
    ("messages", list, "an array or null"),
    (RESPONSE, dict, "an object or null"),
)


_USUAL = frozenset({"role", "content", "reasoning_content", "tool_calls"})


def said_as_written(
    rows: Sequence[Mapping[str, Json]], conversation: Conversation
) -> dict[int, Message]:
    """Return the responses that certainly are what is written of their turns, by the identity of these."""
    calls = {id(made.turn): len(made.calls) for made in conversation.made_as_written()}
    found: dict[int, Message] = {}
    for row, turns in zip(rows, conversation.rows, strict=True):
        if turns.place != RESPONSE:
            continue
        response, turn = row[RESPONSE], turns.response
        listed = response.get("tool_calls", MISSING)
        if (
            response.keys() <= _USUAL
            and response.get("role") == "assistant"
            and "content" in response
            and type(response.get("reasoning_content", "")) is str
            and (
                turn.tool_calls is None
                if listed is MISSING
                else type(listed) is list and len(listed) == calls.get(id(turn))
            )
        ):
            found[id(turn)] = response
    return found


def fields_of_response(
    response: Mapping[str, Json], row: RowTurns, calls: Sequence[SourceCall], written: Message
) -> Fields | None:
    """Return what is left of the message that came out; None where that cannot be said member by member."""
    if is_same_message(response, written):
        return {}
    if "content" not in response:
        return None
    found: Fields = {}
    refusal = response.get("refusal")
    for key, value in response.items():
        if key == "content":
            continue
        if key == "tool_calls" and value and type(value) is list:
            own = _fields_of_calls(value, row, calls, written)
            if own is None:
                return None
            found.update(own)
        elif not _is_held(key, value, response, refusal):
            found[f"/{pointer.escape(key)}"] = value
    return found


def _is_held(key: str, value: Json, response: Mapping[str, Json], refusal: Json) -> bool:
    """Tell whether the turn holds a member of the response, or the member says nothing."""
    if key == "role":
        is_linked = value == "tool" and is_text(response.get("tool_call_id"))
        return is_linked or (type(value) is str and value in SOURCE_OF_ROLE)
    if key == "reasoning_content":
        return value is None or type(value) is str
    if key == "refusal" and has_value(refusal):
        return not has_value(response["content"])
    if key == "tool_call_id" and response.get("role") == "tool":
        return is_text(value)
    return key in EMPTY_IN_MESSAGE and is_empty(value)


def _fields_of_calls(
    listed: Sequence[Json], row: RowTurns, calls: Sequence[SourceCall], written: Message
) -> Fields | None:
    """Return what is left of the calls of a response; None where they would not come back in their places."""
    by_position = {call.position: call for call in calls}
    named = {
        call.position: made.tool_call_id
        for call, made in zip(calls, row.response.tool_calls or (), strict=True)
    }
    spelled: Sequence[Message] = written.get("tool_calls", ())
    functions = dict(zip(by_position, (call["function"] for call in spelled), strict=False))
    found: Fields = {}
    for position, call in enumerate(listed):
        at = f"/tool_calls/{position}"
        if call is None:
            return None
        if position not in named:
            found.update(_fields_of_skipped(call, at))
            continue
        found.update({f"{at}{key}": value for key, value in rest_of_call(call).items()})
        if call["id"] != named[position]:
            found[f"{at}/id"] = call["id"]
        function = call["function"]
        for key, value in function.items():
            if key not in ("name", "arguments"):
                found[f"{at}/function/{pointer.escape(key)}"] = value
        spelling = function.get("arguments")
        expected = functions.get(position, {}).get("arguments", MISSING)
        if type(spelling) is str and spelling != expected:
            found[f"{at}/function/arguments"] = spelling
    return found if _comes_back(listed, spelled, found) else None


def _fields_of_skipped(call: Json, at: str) -> Fields:
    """Return all members of an element that makes no call."""
    if type(call) is not dict:
        return {at: call}
    found: Fields = {}
    for key, value in call.items():
        if key == "function" and type(value) is dict and value:
            for name, one in value.items():
                found[f"{at}/function/{pointer.escape(name)}"] = one
        else:
            found[f"{at}/{pointer.escape(key)}"] = value
    return found


def _comes_back(listed: Sequence[Json], written: Sequence[Message], fields: Fields) -> bool:
    """Tell whether the elements that make no call come back between those that do."""
    if len(listed) == len(written) and all(map(is_row_call, listed)):
        return True
    copies = [{**call, "function": dict(call["function"])} for call in written]
    message: Message = {"tool_calls": copies}
    if place(message, fields):
        return False
    again = message["tool_calls"]
    return len(again) == len(listed) and all(
        _is_same(one, other) for one, other in zip(listed, again, strict=True)
    )


def _is_same(source: Json, again: Json) -> bool:
    """Tell whether a call comes back; that which makes one of a turn, by id, name and arguments."""
    if not is_row_call(source):
        return bool(source == again)
    return (
        is_row_call(again)
        and source["id"] == again["id"]
        and source["function"]["name"] == again["function"]["name"]
        and (
            type(source["function"].get("arguments")) is not str
            or same_arguments(source["function"]["arguments"], again["function"].get("arguments"))
        )
    )
