"""Splitting: a Storyline becomes a run row, a row for each turn, and one for each tool call.

Rows are tuples in the order of the columns of `hub_lance.schema`; JSON text is UTF-8 already, as Arrow takes it.
Source: storyline.md, A.2 and A.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hub import (
    InvalidDocument,
    Json,
    Storyline,
    Turn,
    dumps,
    effective_kind,
    from_wire,
    instant,
    to_wire,
)
from hub_lance.texts import stored

Row = tuple[Any, ...]
Wire = Mapping[str, Json]

ORDINAL = 3
"""Where `storage_ordinal` is in a run row; the store fills it in."""


class Rows(NamedTuple):
    """The rows of one Storyline."""

    document_id: str
    """As a column holds it."""
    run: Row
    steps: list[Row]
    calls: list[Row]
    size: int
    """Bytes of its texts, about."""


def split(storyline: Storyline) -> Rows:
    """Return the rows of *storyline*.

    Raises:
        InvalidDocument: it breaks rules; the problems name its document id.
    """
    wire = to_wire(storyline)
    try:
        from_wire(wire)
    except InvalidDocument as error:
        problems = [problem._replace(document=storyline.document_id) for problem in error.problems]
        raise InvalidDocument(problems) from None
    owner = _Owner(
        stored(storyline.document_id), _text(wire.get("run")), stored(storyline.session_id)
    )
    steps, calls = [], []
    for ordinal, (turn, spelled) in enumerate(zip(storyline.turns, wire["turns"], strict=True)):
        steps.append(_step(owner, ordinal, turn, spelled))
        if turn.tool_calls:
            calls.extend(_calls(owner, spelled))
    run = _run(owner, wire)
    return Rows(owner.document_id, run, steps, calls, sum(map(_size, (run, *steps, *calls))))


class _Owner(NamedTuple):
    """What every row of a Storyline says of it."""

    document_id: str
    run_id: str | None
    session_id: str


def _size(row: Row) -> int:
    return sum(len(cell) for cell in row if type(cell) is bytes or type(cell) is str)


def _text(value: Json) -> str | None:
    return None if value is None else stored(value)


def _json(value: Json) -> bytes | None:
    return None if value is None else dumps(value)


def _run(owner: _Owner, wire: Wire) -> Row:
    """Return the run row; its `storage_ordinal` is the store's to give."""
    agent = wire["agent"]
    return (
        wire["schema_version"],
        _json(wire.get("origin")),
        owner.document_id,
        None,
        "trajectory" in wire,
        owner.run_id,
        _text(wire.get("attempt_id")),
        owner.session_id,
        stored(agent["id"]),
        _text(agent.get("name")),
        _text(agent.get("ver")),
        _text(agent.get("model")),
        _json(agent.get("tools")),
        _json(agent.get("extra")),
        _json(wire.get("parent")),
        _json(wire.get("children")),
        _text(wire.get("notes")),
        _json(wire.get("final_metrics")),
        _text(wire.get("continued_trajectory_ref")),
        _json(wire.get("extra")),
        _json(wire.get("meta")),
        _json(wire.get("unknown_fields")),
        _json(wire.get("unknown_key_counts")),
        _json(wire.get("task")),
        _json(wire.get("started_at")),
        _json(wire.get("finished_at")),
        _json(wire.get("prompt")),
    )


def _step(owner: _Owner, ordinal: int, turn: Turn, wire: Wire) -> Row:
    """Return the row of a turn; its time is the instant in nanoseconds."""
    get = wire.get
    time = get("ts")
    return (
        *owner,
        wire["id"],
        ordinal,
        _text(get("kind")),
        stored(effective_kind(turn)),
        None if time is None else instant(time),
        _json(time),
        stored(wire["src"]),
        dumps(wire["msg"]),
        _text(get("reason")),
        _json(get("effort")),
        _json(get("metrics")),
        _text(get("model")),
        get("nllm"),
        get("copied"),
        get("latency_ms"),
        get("ttft_ms"),
        "tool_calls" in wire,
        "observation" in wire,
        _json(get("observation")),
        _json(get("extra")),
        _json(get("env")),
        _json(get("finished_at")),
        _json(get("prompt")),
    )


def _calls(owner: _Owner, turn: Wire) -> list[Row]:
    """Return the rows of the tool calls of a turn."""
    results = results_by_call(turn.get("observation"))
    rows = []
    for index, call in enumerate(turn["tool_calls"]):
        get = call.get
        rows.append(
            (
                *owner,
                turn["id"],
                index,
                stored(call["tcid"]),
                stored(call["fn"]),
                dumps(call["args"]),
                _json(get("result")),
                dumps(results.get(call["tcid"], [])),
                get("duration_ms"),
                _json(get("extra")),
                _text(get("kind")),
                _json(get("response")),
            )
        )
    return rows


def results_by_call(observation: Json) -> dict[str, list[Json]]:
    """Return the results of an observation that name a call, by that name: what `results_json` is derived from."""
    results = observation.get("results") if isinstance(observation, dict) else None
    found: dict[str, list[Json]] = {}
    for result in results if isinstance(results, list) else ():
        if not isinstance(result, dict):
            continue
        name = "source_call_id" if "source_call_id" in result else "tool_call_id"
        reference = result.get(name)
        if isinstance(reference, str) and reference:
            found.setdefault(reference, []).append(result)
    return found


def with_ordinal(run: Row, ordinal: int) -> Row:
    """Return the run row *run* at the place *ordinal* of the store."""
    return (*run[:ORDINAL], ordinal, *run[ORDINAL + 1 :])
