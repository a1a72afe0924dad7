"""Short builders of documents, and what tests do with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hub_actf import plugin

from hub import Document, Json, Source, Storyline, WriteOptions
from hub.testing import from_wire, to_wire

T0 = "2026-01-01 00:00:00+00:00"
T1 = "2026-01-01 00:00:01+00:00"
FILLER = "1970-01-01 00:00:00+00:00"
M0: dict[str, Json] = {
    "prompt_tokens_len": None,
    "completion_tokens_len": None,
    "llm_infer_ms": None,
    "env_action_ms": None,
    "stop_reason": None,
}
A = "/attempts/1"
T = f"{A}/trajectory"
S = f"{T}/steps/0"


def step(**members: Json) -> dict[str, Json]:
    """Return a step without calls, some *members* replaced; `content` and `tool_calls` are those of the agent."""
    content = {"content": "c", "reasoning_content": "", "tool_calls": []}
    for key in ("content", "reasoning_content", "tool_calls"):
        if key in members:
            content[key] = members.pop(key)
    return {
        "step_id": 1,
        "assistant_content": content,
        "metric": {},
        "system_prompt": "",
        "user_content": "",
        "tools": [],
        "observation": [],
        "started_at": T0,
        "finished_at": T1,
        **members,
    }


def written_step(**members: Json) -> dict[str, Json]:
    """Return a step as it is written: with all standard metrics."""
    return step(**{"metric": dict(M0), **members})


def trajectory(*steps: Json, **members: Json) -> dict[str, Json]:
    """Return a trajectory of *steps*."""
    return {
        "schema_version": "ACTF_v1.0",
        "started_at": T0,
        "finished_at": T1,
        "steps": list(steps),
        **members,
    }


def attempt(*steps: Json, **members: Json) -> dict[str, Json]:
    """Return an attempt of *steps*, some *members* replaced."""
    return {
        "correct": False,
        "final_answer": None,
        "ground_truth": "g",
        "status": "completed",
        "score": None,
        "error": "",
        "artifacts": {},
        "extra": {},
        "analysis_result": {},
        "meta": {},
        "trajectory": trajectory(*steps),
        **members,
    }


def document(*steps: Json, **members: Json) -> dict[str, Json]:
    """Return a document with one attempt of *steps*, some root *members* replaced."""
    return {
        "task_id": "t",
        "category": "c",
        "k": 1,
        "correct": False,
        "attempts_tried": 1,
        "solved_at": None,
        "attempts": {"1": attempt(*steps)},
        **members,
    }


def record_step(**members: Json) -> dict[str, Json]:
    """Return a step as AgentCompass writes it without a clock."""
    return step(**{"metric": dict(M0), "started_at": None, "finished_at": None, **members})


def record_attempt(*steps: Json, **members: Json) -> dict[str, Json]:
    """Return an attempt of a record."""
    return {
        "status": "completed",
        "metrics": {"correct": True, "score": 1.0},
        "final_answer": None,
        "trajectory": trajectory(*steps, started_at=None, finished_at=None),
        "issues": [],
        "artifacts": {},
        "analysis_result": {},
        "meta": {},
        **members,
    }


def record(*steps: Json, **members: Json) -> dict[str, Json]:
    """Return a record with one attempt of *steps*."""
    return {
        "task_id": "t",
        "category": "c",
        "ground_truth": None,
        "attempt_plan": {"k": 1, "strategy": "pass"},
        "retry_count": 0,
        "retry_counts": {},
        "attempts": {"1": record_attempt(*steps)},
        **members,
    }


def parse(value: Json) -> Document[Any]:
    """Return the document of *value*."""
    (found,) = plugin.parse(Source.of(value))
    return found


def read(value: Json) -> list[Storyline]:
    """Return the Storylines of *value*."""
    return list(plugin.to_storyline(parse(value)))


def read_one(value: Json) -> dict[str, Json]:
    """Return the only Storyline of *value*, as wire JSON."""
    (storyline,) = read(value)
    return to_wire(storyline)


def problems(value: Json) -> list[str]:
    """Return what is reported of *value*, as for people."""
    found = parse(value)
    if not found.is_fatal:
        list(plugin.to_storyline(found))
    return [str(problem) for problem in found.problems]


def fields(value: Json) -> dict[str, Json]:
    """Return the residuals of the first Storyline of *value*."""
    storyline = read(value)[0]
    residuals = storyline.unknown_fields.get("actf")
    return {} if residuals is None else residuals.fields


def write(storylines: Iterable[Storyline], options: WriteOptions | None = None) -> list[Json]:
    """Return the documents of *storylines*."""
    return list(plugin.from_storyline(storylines, options or WriteOptions()))


def written(value: Json, **given: str) -> Json:
    """Return the document *value* after it was read and written."""
    (again,) = write(read(value), WriteOptions(options=given))
    return again


def storyline(*turns: Json, **members: Json) -> Storyline:
    """Return a Storyline that came from nowhere, of *turns* in wire JSON."""
    return from_wire(
        {
            "schema_version": "storyline/v1",
            "session": "s",
            "agent": {"id": "a"},
            "turns": list(turns),
            **members,
        }
    )


def write_one(*storylines: Storyline, **given: str) -> Json:
    """Return the only document of *storylines*."""
    (only,) = write(storylines, WriteOptions(options=given))
    return only
