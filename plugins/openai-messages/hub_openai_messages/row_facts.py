"""What rows say beside their messages: who acted, in which run and environment, and what was measured.

Source: openai-messages.md A5, A6 and A7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hub import (
    Document,
    Env,
    ExactNumber,
    Json,
    Rule,
    are_timestamps,
    equal,
    is_integer,
    pointer,
    show,
)
from hub_openai_messages import rules
from hub_openai_messages.documents import Session
from hub_openai_messages.model import (
    DEFAULT_AGENT,
    ENV_STATE,
    KNOWN_EMPTY,
    MODEL_KEYS,
    ROW_METRICS,
    RUN_KEYS,
    STATE_METRICS,
)
from hub_openai_messages.placing import Fields
from hub_openai_messages.values import is_empty, is_text, object_of

NOTHING: Mapping[str, Json] = {}
MAPPED_ELSEWHERE = frozenset({"session_id", "step_id", "messages", "response", "created_at"})
METRICS = frozenset(ROW_METRICS)
TEXT = {str}
METRICS_OF_STATE = frozenset(STATE_METRICS)


class RowFacts(NamedTuple):
    """What one row says of its response."""

    model: str | None
    timestamp: str | int | float | None
    metrics: dict[str, Json] | None
    latency_ms: int | None
    ttft_ms: int | None
    env: Env | None


class SessionFacts:
    """What the rows of one session say; residuals go into *fields*, by rank."""

    def __init__(self, document: Document[Any], session: Session, fields: Fields) -> None:
        self.document = document
        self.session = session
        self.fields = fields
        self.metas = [_object(row.get("meta_json")) for row in session.rows]
        self.states = [_object(meta.get("env_state")) for meta in self.metas]
        times: list[Json] = [row.get("created_at") for row in session.rows]
        self.are_times = set(map(type, times)) == TEXT and are_timestamps(set(times))
        """Whether each row has a usual time, as most have: told of all together."""
        self.models = [_first_text(row, MODEL_KEYS) for row in session.rows]
        self.model = next((model for model in self.models if model), None)
        self.run = next(filter(None, (_first_text(row, RUN_KEYS) for row in session.rows)), None)
        self.agent_id = self._agent_id()
        self.env: dict[str, Json] = {}
        """Of the task: `name`, `endpoint`."""
        self.state: dict[str, Json] = {}

    def _agent_id(self) -> str:
        found = [row.get("agent_id") for row in self.session.rows]
        found += [meta.get("source") for meta in self.metas]
        return next(filter(is_text, found), None) or self.model or DEFAULT_AGENT

    def rows(self) -> Iterator[RowFacts]:
        """Yield the facts of each row."""
        known = _KnownAgent()
        for rank, row in enumerate(self.session.rows):
            known.add(row, self.metas[rank], self.models[rank])
            yield self._row(rank, row, known.agent_id)

    def task_env(self) -> Env | None:
        """Return the environment of the task, when all rows were read."""
        if not self.env and not self.state:
            return None
        return Env(**self.env, state=self.state or None)

    def _row(self, rank: int, row: Mapping[str, Json], agent_id: str | None) -> RowFacts:
        delta = _Delta(self)
        meta, state, model = self.metas[rank], self.states[rank], self.models[rank]
        metrics = {key: row[key] for key in ROW_METRICS if key in row}
        for key, value in row.items():
            if key in MAPPED_ELSEWHERE or key in METRICS:
                continue
            if not self._is_held(rank, key, value, model, agent_id, delta):
                self._keep(rank, key, value=value)
        if meta:
            self._meta(rank, meta, delta)
        if state:
            self._state(rank, state, metrics, delta)
        return RowFacts(
            model,
            self._time(rank, row.get("created_at")),
            metrics or None,
            _milliseconds(state.get("total_latency_ms")),
            _milliseconds(state.get("ttft_ms")),
            delta.env(),
        )

    def _is_held(  # noqa: PLR0913, PLR0917  # what a row says of itself
        self,
        rank: int,
        key: str,
        value: Json,
        model: str | None,
        agent_id: str | None,
        delta: _Delta,
    ) -> bool:
        """Tell whether the Storyline holds a member of the row; report what breaks a rule."""
        match key:
            case "agent_model" | "llm_model":
                return self._is_optional_text(rank, key, value) and value in (None, model)
            case "agent_id":
                return self._is_optional_text(rank, key, value) and value in (None, agent_id)
            case "run_id" | "run_bucket" | "job_id":
                return self._is_optional_text(rank, key, value) and self._is_run(rank, key, value)
            case "env_name":
                return value is None or delta.stable("name", value)
            case "dataset_type" | "dt":
                return delta.of_state(key, value)
            case "id":
                return value is None or delta.own("env_id", value)
            case "meta_json":
                return self._is_object(rank, value, "meta_json")
        is_session = key == "env_id" and value == self.session.session_id
        return is_session or (key in KNOWN_EMPTY and is_empty(value))

    def _is_optional_text(self, rank: int, key: str, value: Json) -> bool:
        if value is None or type(value) is str:
            return True
        self._report(rules.TYPE, rank, key, value=value, expected="a string or null")
        return False

    def _is_run(self, rank: int, key: str, value: Json) -> bool:
        """The run of a row is that of the session."""
        if value is None or value == self.run:
            return True
        if is_text(value) and value == _first_text(self.session.rows[rank], RUN_KEYS):
            self._report(rules.RUN, rank, key, value=value, expected=f"{show(self.run)}")
        return False

    def _is_object(self, rank: int, value: Json, *place: str) -> bool:
        """A member that holds an object, as one or as a text."""
        if is_empty(value) or object_of(value) is not None:
            return True
        if type(value) is str:
            self._report(rules.META, rank, *place, value=value)
        else:
            expected = "an object, or a text that holds one"
            self._report(rules.TYPE, rank, *place, value=value, expected=expected)
        return False

    def _meta(self, rank: int, meta: Mapping[str, Json], delta: _Delta) -> None:
        for key, value in meta.items():
            if key == "source":
                is_held = bool(value == self.agent_id)
            elif key == "group_id":
                is_held = delta.of_state(key, value)
            elif key == "env_state":
                is_held = self._is_object(rank, value, "meta_json", "env_state")
            else:
                is_held = False
            if not is_held:
                self._keep(rank, "meta_json", key, value=value)

    def _state(
        self,
        rank: int,
        state: Mapping[str, Json],
        metrics: dict[str, Json],
        delta: _Delta,
    ) -> None:
        of_row = set(metrics)
        for key in STATE_METRICS:
            if key in state and key not in of_row:
                metrics[key] = state[key]
        for key, value in state.items():
            if key in METRICS_OF_STATE:
                is_held = key not in of_row or equal(value, metrics[key])
            else:
                is_held = self._is_held_state(rank, key, value, delta)
            if not is_held:
                self._keep(rank, "meta_json", "env_state", key, value=value)

    def _is_held_state(self, rank: int, key: str, value: Json, delta: _Delta) -> bool:
        match key:
            case "endpoint":
                return value is None or delta.stable("endpoint", value)
            case "event_type" | "request_id":
                return value is None or delta.own(key, value)
            case "session_id":
                return bool(value == self.session.session_id)
            case "requested_model":
                return value is not None and value == self.models[rank]
            case "llm_step_index":
                return type(value) is int and value == self.session.numbers[rank]
        return key in ENV_STATE and delta.of_state(key, value)

    def _time(self, rank: int, value: Json) -> str | int | float | None:
        """Return when the row was made: storyline.md 6.4, numbers are Unix seconds."""
        if value is None or self.are_times:
            known: str | None = value
            return known
        if type(value) not in (str, int, float, ExactNumber):
            expected = "a string, a number or null"
            self._report(rules.TYPE, rank, "created_at", value=value, expected=expected)
            self._keep(rank, "created_at", value=value)
            return None
        place = self.pointer(rank, "created_at")
        time = self.document.read_time(value, place, rules.TIME, numbers=True)
        if place in self.document.residuals:
            self._keep(rank, "created_at", value=self.document.residuals.pop(place))
        return time

    def pointer(self, rank: int, *tokens: object) -> str:
        """Return the pointer of a member of a row in the source."""
        return pointer.join("session_steps", self.session.indices[rank], *tokens)

    def _report(
        self, rule: Rule, rank: int, *tokens: str, value: Json, expected: str | None = None
    ) -> None:
        self.document.report(rule.at(self.pointer(rank, *tokens), value, expected=expected))

    def _keep(self, rank: int, *tokens: str, value: Json) -> None:
        self.fields[pointer.join("session_steps", rank, *tokens)] = value


class _KnownAgent:
    """The agent's id as it is known at a row: openai-messages.md A7."""

    def __init__(self) -> None:
        self._found: list[str | None] = [None, None, None]

    def add(self, row: Mapping[str, Json], meta: Mapping[str, Json], model: str | None) -> None:
        found = self._found
        for place, candidate in enumerate((row.get("agent_id"), meta.get("source"), model)):
            if found[place] is None and is_text(candidate):
                found[place] = candidate

    @property
    def agent_id(self) -> str | None:
        """The first agent id, else the first source, else the first model so far."""
        return next(filter(None, self._found), None)


class _Delta:
    """The environment of one row, as far as it is not that of the session."""

    def __init__(self, facts: SessionFacts) -> None:
        self._facts = facts
        self._own: dict[str, str] = {}
        self._state: dict[str, Json] = {}

    def own(self, name: str, value: Json) -> bool:
        """Take a value that is always the row's own; tell whether it is one."""
        if not is_text(value):
            return False
        self._own[name] = value
        return True

    def stable(self, name: str, value: Json) -> bool:
        """Take a value that the session has, unless the row has another one."""
        if not is_text(value):
            return False
        if self._facts.env.setdefault(name, value) != value:
            self._own[name] = value
        return True

    def of_state(self, name: str, value: Json) -> bool:
        """Take a member of the state; `null` says nothing."""
        if value is not None and not equal(self._facts.state.setdefault(name, value), value):
            self._state[name] = value
        return True

    def env(self) -> Env | None:
        """Return what the row has of its own; None if that is nothing."""
        if not self._own and not self._state:
            return None
        return Env(**self._own, state=self._state or None)


def _object(value: Json) -> Mapping[str, Json]:
    if type(value) is dict:
        return value
    return NOTHING if value is None else object_of(value) or NOTHING


def _first_text(row: Mapping[str, Json], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = row.get(key)
        if type(value) is str and value:
            return value
    return None


def _milliseconds(value: Json) -> int | None:
    """Return a number truncated toward zero."""
    if type(value) is float:
        value = int(value)
    return value if is_integer(value) else None
