"""Short documents and Storylines, and the ways between them."""

from __future__ import annotations

from typing import Any

from hub_atif import plugin
from hub_atif.parsing import parse_record

from hub import Agent, Document, Origin, Record, Storyline, Turn, WriteOptions
from hub.testing import to_wire

Json = Any

V = {"schema_version": "ATIF-v1.7"}
A = {"agent": {"name": "a", "version": "1"}}
ROOT: dict[str, Json] = {**V, "session_id": "s", **A}
HELLO = {"step_id": 1, "source": "user", "message": "hi"}


def trajectory(*steps: Json, **members: Json) -> dict[str, Json]:
    """Return a trajectory of *steps*, numbered where they have no id."""
    numbered = [{"step_id": position, **step} for position, step in enumerate(steps, start=1)]
    return {**ROOT, "steps": numbered, **members}


def child(*steps: Json, **members: Json) -> dict[str, Json]:
    """Return a trajectory to be nested: without a session of its own."""
    whole = trajectory(*steps, **members)
    return {key: value for key, value in whole.items() if key != "session_id" or key in members}


def user(message: Json = "hi", **members: Json) -> dict[str, Json]:
    return {"source": "user", "message": message, **members}


def agent(*calls: str, **members: Json) -> dict[str, Json]:
    """Return an agent step that calls `f` once for each id of *calls*."""
    step: dict[str, Json] = {"source": "agent", "message": "m"}
    if calls:
        step["tool_calls"] = [call(call_id) for call_id in calls]
    return {**step, **members}


def call(call_id: Json = "c", name: Json = "f", arguments: Json = None, **members: Json) -> Json:
    made = {} if arguments is None else arguments
    return {"tool_call_id": call_id, "function_name": name, "arguments": made, **members}


def results(*found: Json) -> dict[str, Json]:
    return {"observation": {"results": list(found)}}


def document(value: Json, **record: Any) -> Document[Any]:
    return parse_record(Record(value, **record))


def problems(value: Json, **record: Any) -> list[tuple[str, str, str]]:
    """Return severity, rule (without `atif.`) and pointer of every problem of *value*, sorted by pointer."""
    found = document(value, **record).problems
    return sorted(
        ((one.severity, one.rule.removeprefix("atif."), one.pointer) for one in found),
        key=lambda one: (one[2], one[1]),
    )


def read(value: Json, **record: Any) -> list[Storyline]:
    return list(plugin.to_storyline(document(value, **record)))


def read_one(value: Json, **record: Any) -> Storyline:
    (storyline,) = read(value, **record)
    return storyline


def fields(storyline: Storyline) -> dict[str, Json]:
    """Return the residuals of ATIF."""
    residuals = storyline.unknown_fields.get("atif")
    return {} if residuals is None else residuals.fields


def wire(storyline: Storyline) -> dict[str, Json]:
    """Return the JSON of a Storyline without residuals and their counts."""
    left_out = ("unknown_fields", "unknown_key_counts")
    return {key: value for key, value in to_wire(storyline).items() if key not in left_out}


def storyline(*turns: Turn, origin: str = "actf", **members: Any) -> Storyline:
    """Return a Storyline that came from the format *origin*."""
    return Storyline(
        **{
            "session_id": "s",
            "agent": Agent(agent_id="a"),
            "origin": Origin(format=origin),
            "turns": list(turns),
            **members,
        }
    )


def turn(turn_id: int = 1, source: str = "agent", message: Json = "m", **members: Any) -> Turn:
    return Turn(turn_id=turn_id, source=source, message=message, **members)


CONFORM = {"conform": "yes"}


def write(*storylines: Storyline, options: WriteOptions | None = None) -> list[Json]:
    return list(
        plugin.from_storyline(list(storylines), WriteOptions() if options is None else options)
    )


def write_one(one: Storyline, options: WriteOptions | None = None) -> dict[str, Json]:
    (written,) = write(one, options=options)
    assert isinstance(written, dict)
    return written


def back(value: Json, **options: str) -> Json:
    """Return the document that *value* is after it was a Storyline; without envelopes."""
    (written,) = write(*read(value), options=WriteOptions(options=options))
    return written


def steps_of(*turns: Turn, **members: Any) -> list[Json]:
    """Return the steps that *turns* of another format become."""
    steps: list[Json] = write_one(storyline(*turns, **members))["steps"]
    return steps
