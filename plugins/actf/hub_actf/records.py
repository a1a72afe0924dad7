"""Records: the outer form in which AgentCompass keeps a task, in the places where it differs from the RFC's.

Source: actf-records.md 1, 4 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hub import Json, Storyline, TaskResult, pointer
from hub_actf.model import SOURCE
from hub_actf.values import (
    attempt_numbers,
    budget,
    is_attempt_number,
    is_number,
    outcome,
    text,
    unless_empty,
)

PLAN = "/attempt_plan"

ERRORS = ("error", "fatal")
"""Severities of an issue that say what went wrong with the attempt."""


# What no field holds


def attempt_residuals(attempt: Mapping[str, Json], at: str) -> Iterator[tuple[str, Json]]:
    """Yield the members of an attempt that no field holds, by pointer."""
    metrics, issues = attempt.get("metrics"), attempt.get("issues")
    if type(metrics) is dict:
        held = result_from_metrics(metrics)
        for name, value in metrics.items():
            if name not in held:
                yield f"{at}/metrics/{pointer.escape(name)}", value
    if issues and type(issues) is list:
        yield f"{at}/issues", issues
    if "trajectory" in attempt and never_ran(attempt["trajectory"]):
        yield f"{at}/trajectory", attempt["trajectory"]


def never_ran(trajectory: Json) -> bool:
    """Tell whether *trajectory* is one of an attempt that was not run: `{}`, `[]` or `null`."""
    return trajectory is None or trajectory in ({}, [])


# The outcome


def attempt_order(keys: Iterable[str]) -> list[str]:
    """Return the attempt *keys* by number; those that are none come last, byte-wise."""
    return sorted(
        keys, key=lambda key: (0, int(key), "") if is_attempt_number(key) else (1, 0, key)
    )


def allowed_attempts(document: Mapping[str, Json]) -> Json:
    """Return `k` of the plan."""
    plan = document["attempt_plan"]
    return plan.get("k") if type(plan) is dict else None


def result_from_record(document: Mapping[str, Json], attempt: Mapping[str, Json]) -> TaskResult:
    """Return the outcome of *attempt*."""
    metrics, artifacts = attempt.get("metrics"), attempt.get("artifacts")
    held = result_from_metrics(metrics) if type(metrics) is dict else {}
    extras = {key: document.get(key) for key in ("category", "retry_count", "retry_counts")}
    return TaskResult(
        correct=held.get("correct"),
        score=held.get("score"),
        status=text(attempt.get("status")) or None,
        error=promoted_error(attempt.get("issues")),
        final_answer=unless_empty(attempt.get("final_answer")),
        ground_truth=unless_empty(document.get("ground_truth")),
        artifacts=unless_empty(artifacts) if type(artifacts) is dict else None,
        extras={key: value for key, value in extras.items() if value is not None},
    )


def result_from_metrics(metrics: Mapping[str, Json]) -> dict[str, Json]:
    """Return those two of the grader's observations that the Storyline knows, if they have its types."""
    held = {}
    if type(metrics.get("correct")) is bool:
        held["correct"] = metrics["correct"]
    if is_number(metrics.get("score")):
        held["score"] = metrics["score"]
    return held


def promoted_error(issues: Json) -> str | None:
    """Return the message of the first issue that is an error."""
    for issue in issues if type(issues) is list else ():
        if type(issue) is dict and issue.get("severity") in ERRORS:
            return text(issue.get("message")) or None
    return None


def root_of_record(storyline: Storyline, attempts: Mapping[str, Json]) -> dict[str, Json]:
    """Return the root members of a record but `task_id` and *attempts*, from its first Storyline."""
    result, extras = outcome(storyline), outcome(storyline).extras
    retries: dict[str, Json] = {
        key: extras[key] for key in ("retry_count", "retry_counts") if key in extras
    }
    return {
        "category": extras.get("category"),
        "ground_truth": result.ground_truth,
        "attempt_plan": {"k": budget(storyline) or max([1, *attempt_numbers(attempts)])},
        **retries,
    }


def attempt_of_record(storyline: Storyline, trajectory: dict[str, Json]) -> dict[str, Json]:
    """Return the attempt of a record; its issues, and other metrics, are residuals."""
    result = outcome(storyline)
    measured = {"correct": result.correct, "score": result.score}
    attempt = {
        "status": result.status or "",
        "metrics": {key: value for key, value in measured.items() if value is not None},
        "final_answer": result.final_answer,
        "trajectory": trajectory,
        "issues": [],
        "artifacts": {} if result.artifacts is None else result.artifacts,
        "meta": {} if storyline.meta is None else storyline.meta,
    }
    metrics = storyline.final_metrics
    analysis = metrics.get("analysis_result") if type(metrics) is dict else None
    if analysis is not None:
        attempt["analysis_result"] = analysis
    return attempt


def is_from_record(storyline: Storyline) -> bool:
    """Tell whether *storyline* has the mark of one that was read from a record: a residual of the plan."""
    residuals = storyline.unknown_fields.get(SOURCE)
    return residuals is not None and any(
        one == PLAN or one.startswith(f"{PLAN}/") for one in residuals.fields
    )
