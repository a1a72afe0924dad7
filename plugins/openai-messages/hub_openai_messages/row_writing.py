"""Storylines to rows: each agent turn closes a row, which holds what is new since the row before, or everything so far.

Source: openai-messages.md A8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hub import (
    Agent,
    Env,
    Json,
    Residuals,
    Storyline,
    Turn,
    WriteOptions,
    completion_tokens,
    effective_env,
    merge,
    pointer,
    prompt_tokens,
)
from hub_openai_messages.layout import History, RowMessages
from hub_openai_messages.messages import Message, Style, messages_of_turn, with_prompt_turns
from hub_openai_messages.model import (
    ENV_STATE,
    NEW_ROWS,
    NO_RESPONSE,
    ROW_METRICS,
    ROW_STATE,
    RUN_KEYS,
    SOURCE,
    STATE_METRICS,
)
from hub_openai_messages.placing import Fields
from hub_openai_messages.row_restoring import RowFields, Written, put_back
from hub_openai_messages.row_turns import passes

Row = dict[str, Json]


class WrittenRow(NamedTuple):
    """The turns that make one row."""

    news: Sequence[Turn]
    response: Turn | None
    """None: the row has the placeholder."""


def document_from_group(
    group: Sequence[Storyline], options: WriteOptions, *, restored: bool
) -> Json:
    """Return the document of a *group*: an object with its rows, or in lines the rows themselves."""
    rows: list[Row] = []
    sessions: set[str] = set()
    is_lines = options.container == "lines"
    for storyline in group:
        session_id = _session_id(storyline, sessions)
        rows += _Writer(storyline, options, restored=restored).rows(session_id)
    if is_lines:
        document: Json = rows
    else:
        document = {"session_steps": rows}
    if restored:
        _put_back_root(group, document, options)
    return document


def _session_id(storyline: Storyline, taken: set[str]) -> str:
    """Return a session id that no earlier Storyline of the document has."""
    session_id = storyline.session_id
    if session_id in taken:
        base = session_id = storyline.document_id
        number = 1
        while session_id in taken:
            number += 1
            session_id = f"{base}#{number}"
    taken.add(session_id)
    return session_id


def _put_back_root(group: Sequence[Storyline], document: Json, options: WriteOptions) -> None:
    """Put the members beside `session_steps` back, which every Storyline of the document has."""
    bare = []
    for storyline in group:
        residuals = storyline.unknown_fields.get(SOURCE)
        if residuals is None:
            continue
        own = {at: one for at, one in residuals.fields.items() if not is_of_row(at)}
        for at, value in own.items():
            if type(document) is list or at == "/session_steps" or at.count("/") != 1:
                options.unplaced(storyline, at, value)
        shared = Residuals(source_document_id=residuals.source_document_id, fields=own)
        bare.append(
            Storyline(
                session_id=storyline.session_id,
                agent=Agent(agent_id=storyline.agent.agent_id),
                turns=[],
                unknown_fields={SOURCE: shared} if own else {},
            )
        )
    merged = merge(bare, SOURCE)
    if merged is None or type(document) is list:
        return
    for at, value in merged.fields.items():
        if at.count("/") == 1 and at != "/session_steps":
            document[pointer.unescape(at[1:])] = value


def is_of_row(at: str) -> bool:
    """Tell whether a residual is one of a row."""
    return at.startswith("/session_steps/")


class _Writer:
    """Writes one Storyline."""

    def __init__(self, storyline: Storyline, options: WriteOptions, *, restored: bool) -> None:
        self.storyline = storyline
        self.options = options
        self.restored = restored
        self.style = Style.of(options, restored=restored, is_chat=False)
        history = options.options.get("history", "auto")
        was_new = storyline.origin is not None and storyline.origin.schema_version == NEW_ROWS
        self.was_full = restored and not was_new
        self.full = self.was_full if history == "auto" else history == "full"
        self.names_models = any(turn.model_name for turn in storyline.turns)

    def rows(self, session_id: str) -> list[Row]:
        """Return the rows of the Storyline."""
        turns = self.storyline.turns if self.restored else list(with_prompt_turns(self.storyline))
        context, rows = split(turns)
        history = History(
            [one for turn in context for one in messages_of_turn(turn, self.style)],
            [self._messages(row) for row in rows],
        )
        numbers = self._numbers(len(context), rows)
        fields = self._fields(len(rows))
        written = []
        for rank, row in enumerate(rows):
            own = fields[rank].row if fields is not None else {}
            written.append(
                {
                    "session_id": session_id,
                    "step_id": numbers[rank],
                    **self._created_at(row),
                    "messages": history.messages(rank, full=self.full),
                    **self._response(history.rows[rank].said),
                    **self._about(row, own),
                }
            )
        if fields is not None:
            of_rows = [(row.news, row.response) for row in rows]
            session = Written(self.storyline, context, of_rows, numbers, written)
            put_back(session, fields, self.options)
        return written

    def _fields(self, count: int) -> list[RowFields] | None:
        """Return the residuals of each row; None where none are put back."""
        residuals = self.storyline.unknown_fields.get(SOURCE)
        if residuals is None:
            return None
        own = {
            at: one for at, one in residuals.fields.items() if not self.restored or is_of_row(at)
        }
        if not self.restored:
            for at, value in own.items():
                self.options.unplaced(self.storyline, at, value)
            return None
        found = [RowFields() for _ in range(count)]
        is_same_layout = self.style.is_plain and self.full == self.was_full
        for at, value in own.items():
            if not _add_field(found, at, value, messages=is_same_layout):
                self.options.unplaced(self.storyline, at, value)
        return found

    def _messages(self, row: WrittenRow) -> RowMessages:
        news = [one for turn in row.news for one in messages_of_turn(turn, self.style)]
        if row.response is None:
            return RowMessages(news, {"role": "assistant", "content": NO_RESPONSE}, [])
        said, *results = messages_of_turn(row.response, self.style)
        if not self.restored and not passes(said):
            said = {**said, "content": NO_RESPONSE}
        return RowMessages(news, said, results)

    def _response(self, said: Message) -> Row:
        """Return the response; a row that was read without an output has none."""
        says_nothing = said.keys() == {"role", "content"} and said["content"] is None
        return {} if self.restored and says_nothing else {"response": said}

    def _numbers(self, context: int, rows: Sequence[WrittenRow]) -> Sequence[int]:
        """Return the step numbers: those that were read, as far as the turns tell."""
        positions = range(1, len(rows) + 1)
        if not self.restored:
            return positions
        numbers: list[int] = []
        for row in rows:
            if row.response is None:
                numbers.append(numbers[-1] + 1 if numbers else 1)
                continue
            number, rest = divmod(row.response.turn_id - context, 2)
            if rest or number < 1:
                return positions
            numbers.append(number)
        return numbers if len(set(numbers)) == len(numbers) else positions

    def _created_at(self, row: WrittenRow) -> Row:
        turns = [row.response, *(row.news if self.restored or row.response is None else ())]
        times = (turn.timestamp for turn in turns if turn is not None)
        time = next((time for time in times if time is not None), None)
        return {} if time is None else {"created_at": time}

    # What a row says beside its messages: openai-messages.md A8

    def _about(self, row: WrittenRow, fields: Fields) -> Row:
        turn = row.response
        found: Row = {"agent_id": self.storyline.agent.agent_id}
        if self.storyline.run_id:
            key = next((one for one in WRITTEN_RUN if f"/{one}" not in fields), WRITTEN_RUN[0])
            found[key] = self.storyline.run_id
        model = self._model(turn)
        if model:
            key = "agent_model" if "/agent_model" not in fields else "llm_model"
            found[key] = model
        metrics = turn.metrics if turn is not None and type(turn.metrics) is dict else {}
        found.update({key: metrics[key] for key in ROW_METRICS if key in metrics})
        env = effective_env(self.storyline, turn) if turn is not None else self._task_env()
        state = env.state or {}
        of_row = {"env_name": env.name, "id": env.env_id, **_some(state, ROW_STATE)}
        found.update({key: value for key, value in of_row.items() if value not in (None, "")})
        meta: Row = {}
        if state.get("group_id") is not None:
            meta["group_id"] = state["group_id"]
        if "/agent_id" in fields and "/meta_json/source" not in fields:
            meta["source"] = (
                self.storyline.agent.agent_id
            )  # where it is read, the other being taken
        env_state = self._env_state(turn, metrics, env)
        if env_state:
            meta["env_state"] = env_state
        if meta:
            found["meta_json"] = meta
        return found

    def _model(self, turn: Turn | None) -> str | None:
        """Return the model of a row: the turn's, else the agent's, but for rows that were read without one."""
        if turn is not None and turn.model_name:
            return turn.model_name
        is_known = self.restored and self.names_models
        return None if is_known else self.storyline.agent.model_name

    def _task_env(self) -> Env:
        task = self.storyline.task
        return Env() if task is None or task.env is None else task.env

    def _env_state(self, turn: Turn | None, metrics: Mapping[str, Json], env: Env) -> Row:
        found = {
            key: metrics[key] for key in STATE_METRICS if key in metrics and key not in ROW_METRICS
        }
        if turn is not None:
            measured: dict[str, Json] = {
                "total_latency_ms": turn.latency_ms,
                "ttft_ms": turn.ttft_ms,
            }
            if not self.restored:
                measured["prompt_tokens"] = prompt_tokens(turn.metrics)
                measured["completion_tokens"] = completion_tokens(turn.metrics)
            found.update({
                key: value
                for key, value in measured.items()
                if key not in found and value is not None
            })  # fmt: skip
        said = {
            "endpoint": env.endpoint,
            "event_type": env.event_type,
            "request_id": env.request_id,
        }
        found.update({key: value for key, value in said.items() if value})
        found.update(_some(env.state or {}, ENV_STATE))
        return found


WRITTEN_RUN = ("job_id", *(key for key in RUN_KEYS if key != "job_id"))
"""Members that may hold the run, in the order in which one is chosen."""


def _some(members: Mapping[str, Json], keys: Iterable[str]) -> Row:
    return {key: members[key] for key in keys if members.get(key) is not None}


def _add_field(found: Sequence[RowFields], at: str, value: Json, *, messages: bool) -> bool:
    """Add a residual to those of its row; tell whether there is such a row, and the place can be one of it."""
    _, _, rank, *tokens = at.split("/")
    if not pointer.is_index(rank) or len(rank) > MAX_DIGITS or int(rank) >= len(found):
        return False
    return found[int(rank)].add(tokens, value, messages=messages)


MAX_DIGITS = 9
"""No session has as many rows."""


def split(turns: Sequence[Turn]) -> tuple[list[Turn], list[WrittenRow]]:
    """Return the context, which is copied, and the turns of each row."""
    start = next(
        (index for index, turn in enumerate(turns) if turn.is_copied_context is not True),
        len(turns),
    )
    rows: list[WrittenRow] = []
    news: list[Turn] = []
    for turn in turns[start:]:
        if turn.source == "agent":
            rows.append(WrittenRow(news, turn))
            news = []
        else:
            news.append(turn)
    if news or not rows:
        rows.append(WrittenRow(news, None))
    return list(turns[:start]), rows
