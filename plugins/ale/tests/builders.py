"""Short documents and Storylines, and the ways between them."""

from __future__ import annotations

from typing import Any

from hub_ale import plugin
from hub_ale.parsing import parse_record

from hub import Agent, Document, Origin, Record, Storyline, Turn, WriteOptions

Json = Any

ROOT: dict[str, Json] = {
    "schema_version": "ALE-v1.0",
    "episode_id": "e1",
    "agent": {"name": "cc"},
    "task_path": "demo/note",
    "variant_index": 0,
}


def trajectory(*steps: Json, **members: Json) -> dict[str, Json]:
    """Return a trajectory of *steps*, numbered where they have no id."""
    numbered = [{"step_id": position, **step} for position, step in enumerate(steps, start=1)]
    return {**ROOT, "steps": numbered, **members}


def agent(*calls: str, **members: Json) -> dict[str, Json]:
    """Return an agent step that calls `f` once for each id of *calls*."""
    made = [{"id": call_id, "name": "f", "arguments": {}} for call_id in calls]
    return {"source": "agent", "message": "m", "tool_calls": made, **members}


def environment(*answers: str, **members: Json) -> dict[str, Json]:
    """Return an environment step with a result for each id of *answers*."""
    results = [
        {"tool_call_id": call_id, "content": [{"type": "text", "text": f"r-{call_id}"}]}
        for call_id in answers
    ]
    return {"source": "environment", "observation": {"results": results}, **members}


def document(value: Json, **record: Any) -> Document[Any]:
    return parse_record(Record(value, **record))


def problems(value: Json, **record: Any) -> list[tuple[str, str, str]]:
    """Return severity, rule and pointer of every problem of the document *value*, sorted by pointer."""
    found = document(value, **record).problems
    return sorted(
        ((one.severity, one.rule, one.pointer) for one in found), key=lambda one: (one[2], one[1])
    )


def read(value: Json, **record: Any) -> list[Storyline]:
    return list(plugin.to_storyline(document(value, **record)))


def read_one(value: Json, **record: Any) -> Storyline:
    (storyline,) = read(value, **record)
    return storyline


def fields(storyline: Storyline) -> dict[str, Json]:
    """Return the residuals of ALE."""
    residuals = storyline.unknown_fields.get("ale")
    return {} if residuals is None else residuals.fields


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


def write(*storylines: Storyline, options: WriteOptions | None = None) -> list[Json]:
    return list(
        plugin.from_storyline(list(storylines), WriteOptions() if options is None else options)
    )


def write_one(one: Storyline, options: WriteOptions | None = None) -> dict[str, Json]:
    (written,) = write(one, options=options)
    assert isinstance(written, dict)
    return written
