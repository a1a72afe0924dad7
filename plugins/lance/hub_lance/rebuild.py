"""Rebuilding: a run row, its step rows and its tool-call rows become the Storyline again.

Rows are mappings from column to cell, the time an instant in nanoseconds; a column that is missing reads as null. What
does not fit together is refused, never mended. Source: storyline.md, A.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from hub import HubError, Json, Storyline, equal, from_wire, instant, utc_text
from hub_lance.rows import results_by_call
from hub_lance.texts import restored, value_of

Row = Mapping[str, Any]
Wire = dict[str, Json]

OWNER = ("document_id", "run_id", "session_id")


class Damaged(HubError):
    """Rows of a store that do not fit together."""


def rebuild(run: Row, steps: Sequence[Row], calls: Sequence[Row]) -> Storyline:
    """Return the Storyline that the rows spell, in whatever order they are.

    Raises:
        Damaged: they do not fit together; the text names the document and says why.
        InvalidDocument: what they spell is no valid Storyline.
    """
    for reason in _misfits(run, steps, calls):
        raise Damaged(f"the store is damaged at {restored(run['document_id'])!r}: {reason}")
    return from_wire(_document(run, steps, calls))


def _misfits(run: Row, steps: Sequence[Row], calls: Sequence[Row]) -> Iterator[str]:
    """Yield why the rows do not fit together."""
    owner = [run.get(name) for name in OWNER]
    for table, rows in (("step", steps), ("tool call", calls)):
        if any([row.get(name) for name in OWNER] != owner for row in rows):
            yield f"a {table} has another document, run or session than its run"
    if len({row["step_id"] for row in steps}) != len(steps):
        yield "two steps have one step_id"
    if sorted(row["turn_ordinal"] for row in steps) != list(range(len(steps))):
        yield f"the ordinals of its turns are not 0 to {len(steps) - 1}"
    if len({row["tool_call_id"] for row in calls}) != len(calls):
        yield "two tool calls have one tool_call_id"
    of_step = _by_step(calls)
    if not of_step.keys() <= {row["step_id"] for row in steps}:
        yield "a tool call has no step"
    for row in steps:
        for reason in _misfits_of_step(row, of_step.get(row["step_id"], ())):
            yield f"step {row['step_id']}: {reason}"


def _misfits_of_step(step: Row, calls: Sequence[Row]) -> Iterator[str]:
    if step["had_observation"] != (step.get("observation_json") is not None):
        yield "had_observation is not what observation_json says"
    if calls and not step["had_tool_calls"]:
        yield "it has tool calls, and had none"
    if sorted(call["call_index"] for call in calls) != list(range(len(calls))):
        yield f"the indexes of its calls are not 0 to {len(calls) - 1}"
    source, time = step.get("timestamp_source_json"), step.get("timestamp")
    if source is not None and (time is None or instant(value_of(source)) != time):
        yield "timestamp is not the instant of timestamp_source_json"
    if calls:
        results = results_by_call(_value(step, "observation_json"))
        for call in calls:
            expected = results.get(restored(call["tool_call_id"]), [])
            if not equal(value_of(call["results_json"]), expected):
                yield f"results_json of call {call['call_index']} is not what its observation says"


def _by_step(calls: Iterable[Row]) -> dict[int, list[Row]]:
    """Return the calls of each step, in their order."""
    ordered = sorted(calls, key=itemgetter("step_id", "call_index"))
    return {id_: list(rows) for id_, rows in groupby(ordered, key=itemgetter("step_id"))}


def _document(run: Row, steps: Sequence[Row], calls: Sequence[Row]) -> Wire:
    of_step = _by_step(calls)
    ordered = sorted(steps, key=itemgetter("turn_ordinal"))
    wire = _set(
        {
            "schema_version": run["schema_version"],
            "session": restored(run["session_id"]),
            "agent": _agent(run),
            "turns": [_turn(row, of_step.get(row["step_id"], [])) for row in ordered],
            "origin": _value(run, "origin_json"),
            "run": _text(run, "run_id"),
            "attempt_id": _text(run, "attempt_id"),
            "parent": _value(run, "parent_json"),
            "children": _value(run, "child_session_ids_json"),
            "notes": _text(run, "notes"),
            "task": _value(run, "task_json"),
            "prompt": _value(run, "prompt_json"),
            "started_at": _value(run, "started_at_json"),
            "finished_at": _value(run, "finished_at_json"),
            "final_metrics": _value(run, "final_metrics_json"),
            "continued_trajectory_ref": _text(run, "continued_trajectory_ref"),
            "extra": _value(run, "extra_json"),
            "meta": _value(run, "meta_json"),
            "unknown_fields": _value(run, "unknown_fields_json"),
            "unknown_key_counts": _value(run, "unknown_key_counts_json"),
        }
    )
    if run["trajectory_id_explicit"]:
        wire["trajectory"] = restored(run["document_id"])
    return wire


def _agent(run: Row) -> Wire:
    return _set(
        {
            "id": restored(run["agent_id"]),
            "name": _text(run, "agent_name"),
            "ver": _text(run, "agent_version"),
            "model": _text(run, "agent_model_name"),
            "tools": _value(run, "agent_tool_definitions_json"),
            "extra": _value(run, "agent_extra_json"),
        }
    )


def _turn(step: Row, calls: Sequence[Row]) -> Wire:
    wire = _set(
        {
            "id": step["step_id"],
            "src": restored(step["source"]),
            "kind": _text(step, "kind"),
            "ts": _time(step),
            "reason": _text(step, "reasoning_content"),
            "effort": _value(step, "reasoning_effort_json"),
            "observation": _value(step, "observation_json"),
            "metrics": _value(step, "metrics_json"),
            "model": _text(step, "model_name"),
            "nllm": step.get("llm_call_count"),
            "copied": step.get("is_copied_context"),
            "latency_ms": step.get("latency_ms"),
            "ttft_ms": step.get("ttft_ms"),
            "extra": _value(step, "extra_json"),
            "env": _value(step, "env_json"),
            "prompt": _value(step, "prompt_json"),
            "finished_at": _value(step, "finished_at_json"),
        }
    )
    wire["msg"] = value_of(step["message_json"])
    if step["had_tool_calls"]:
        wire["tool_calls"] = list(map(_call, calls))
    return wire


def _call(row: Row) -> Wire:
    wire = _set(
        {
            "tcid": restored(row["tool_call_id"]),
            "fn": restored(row["function_name"]),
            "result": _value(row, "result_json"),
            "duration_ms": row.get("duration_ms"),
            "extra": _value(row, "extra_json"),
            "kind": _text(row, "kind"),
            "response": _value(row, "response_json"),
        }
    )
    wire["args"] = value_of(row["arguments_json"])
    return wire


def _time(step: Row) -> Json:
    """Return the time as its source spelled it; of a row that does not say how, the canonical text."""
    time = step.get("timestamp")
    source = _value(step, "timestamp_source_json")
    return f"{utc_text(time)}Z" if source is None and time is not None else source


def _set(members: Wire) -> Wire:
    """Return the members that are set."""
    return {key: member for key, member in members.items() if member is not None}


def _text(row: Row, column: str) -> str | None:
    cell = row.get(column)
    return None if cell is None else restored(cell)


def _value(row: Row, column: str) -> Json:
    cell = row.get(column)
    return None if cell is None else value_of(cell)
