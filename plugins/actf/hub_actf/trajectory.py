"""Trajectories: what the agent did in one attempt, in both directions.

Source: actf.md 5.1, 5.3 and 6.2; actf-records.md 5.
"""

from collections.abc import Mapping
from typing import NamedTuple

from hub import Env, Json, Prompt, Storyline, Turn
from hub_actf.effective import ParsedTask, Steps
from hub_actf.model import VERSION
from hub_actf.prompts import prompts_from_pairs
from hub_actf.steps import FILLER_TIME, StepReader, StepWriter, time_text
from hub_actf.values import text


class Run(NamedTuple):
    """What is read of one trajectory."""

    turns: list[Turn]
    prompt: Prompt | None = None
    started_at: str | None = None
    finished_at: str | None = None
    version: str | None = None
    """None where the trajectory does not say it."""
    model_name: str | None = None
    env: Env | None = None


def run_from_trajectory(
    parsed: ParsedTask,
    trajectory: Mapping[str, Json],
    steps: Steps,
    at: str,
    residuals: dict[str, Json],
) -> Run:
    """Return what the trajectory at *at* says; *residuals* takes what no field holds."""
    pairs = list(zip(texts(steps, "system_prompt"), texts(steps, "user_content"), strict=True))
    baseline, prompts = prompts_from_pairs(pairs)
    started_at, finished_at = (
        parsed.times.get(f"{at}/{key}", trajectory.get(key))
        for key in ("started_at", "finished_at")
    )
    return Run(
        turns=StepReader(parsed, steps, f"{at}/steps", residuals).read(prompts),
        prompt=baseline,
        started_at=started_at,
        finished_at=finished_at,
        version=text(trajectory.get("schema_version")) or None,
    )


def texts(steps: Steps, key: str) -> list[str]:
    """Return the text that each step has under *key*."""
    values: list[Json] = [step.get(key) for step in steps.steps]
    return values if set(map(type, values)) <= {str} else list(map(text, values))


def trajectory_from_storyline(
    storyline: Storyline, at: str, residuals: Mapping[str, Json], *, restored: bool
) -> dict[str, Json]:
    """Return the trajectory of *storyline*, with the times that ACTF demands."""
    turns = storyline.turns
    started_at = time_text(storyline.started_at)
    finished_at = time_text(storyline.finished_at)
    if turns:
        started_at = started_at or time_text(turns[0].timestamp)
        last = turns[-1]
        finished_at = finished_at or time_text(last.finished_at) or time_text(last.timestamp)
    started_at = started_at or FILLER_TIME
    steps = StepWriter(storyline, f"{at}/steps", residuals, restored=restored, is_record=False)
    return {
        "schema_version": VERSION,
        "started_at": started_at,
        "finished_at": finished_at or started_at,
        "steps": steps.write(),
    }


def record_trajectory_from_storyline(
    storyline: Storyline, at: str, residuals: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the trajectory of *storyline* as a record has it: a time that is not known is `null`."""
    steps = StepWriter(storyline, f"{at}/steps", residuals, restored=True, is_record=True)
    return {
        "schema_version": VERSION,
        "started_at": time_text(storyline.started_at),
        "finished_at": time_text(storyline.finished_at),
        "steps": steps.write(),
    }
