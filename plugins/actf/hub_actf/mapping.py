"""Tasks and Storylines: one document is as many Storylines as it has attempts; the pair of functions for each object.

Source: actf.md 5.1, 6.1 and 6.2; actf-records.md 4 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hub import (
    PLACEHOLDER,
    Agent,
    Document,
    Json,
    Llm,
    Origin,
    Residuals,
    Storyline,
    Task,
    TaskResult,
    WriteOptions,
    is_integer,
    merge,
    pointer,
)
from hub_actf import records, rules
from hub_actf.effective import ParsedTask
from hub_actf.grouping import Group, groups
from hub_actf.model import SOURCE
from hub_actf.openclaw import run_from_events
from hub_actf.restoring import native_residuals, put_back
from hub_actf.trajectory import (
    Run,
    record_trajectory_from_storyline,
    run_from_trajectory,
    trajectory_from_storyline,
)
from hub_actf.values import (
    budget,
    final_metrics,
    first_of_type,
    is_blank,
    of_type,
    outcome,
    text,
    unless_empty,
)

# Document: actf.md 5.1 and 6.1


def storylines_from_document(document: Document[ParsedTask]) -> Iterator[Storyline]:
    """Yield one Storyline for each attempt, in the order of the keys."""
    attempts = document.value.value["attempts"]
    order = records.attempt_order if document.value.form.is_record else sorted
    shared, own = _divide(document.residuals)
    for key in order(attempts):
        at = f"/attempts/{pointer.escape(key)}"
        yield storyline_from_attempt(document, key, at, {**shared, **own.get(at, {})})


def _divide(
    residuals: Mapping[str, Json],
) -> tuple[dict[str, Json], dict[str, dict[str, Json]]]:
    """Divide *residuals* into those of the root, which every Storyline gets, and those below each attempt."""
    shared: dict[str, Json] = {}
    own: dict[str, dict[str, Json]] = {}
    for place, value in residuals.items():
        if place.startswith("/attempts/"):
            own.setdefault("/".join(place.split("/", 3)[:3]), {})[place] = value
        else:
            shared[place] = value
    return shared, own


def documents_from_storylines(
    storylines: Iterable[Storyline], options: WriteOptions
) -> Iterator[Json]:
    """Yield the documents that *storylines* make, the attempts of a task together."""
    for group in groups(storylines, conform=options.conform):
        if group.restored:
            residuals = merge(group.attempts.values(), SOURCE)
            fields = {} if residuals is None else residuals.fields
            document = document_from_group(group, fields)
            unplaced = put_back(document, group, fields)
            _warn_of_missing_attempts(document, group, options)
        else:
            document = document_from_group(group, {})
            unplaced = None
        for storyline in group.attempts.values():
            for place, value in native_residuals(storyline).items():
                if unplaced is None or place in unplaced:
                    options.unplaced(storyline, place, value)
        yield document


def document_from_group(group: Group, residuals: Mapping[str, Json]) -> dict[str, Json]:
    """Return the document of *group*; *residuals* are those that will be put back."""
    first = next(iter(group.attempts.values()))
    write = attempt_of_record if group.is_record else attempt_from_storyline
    order = records.attempt_order if group.is_record else sorted
    attempts = {
        key: write(group.attempts[key], f"/attempts/{pointer.escape(key)}", residuals, group)
        for key in order(group.attempts)
    }
    if group.is_record:
        root = records.root_of_record(first, attempts)
    else:
        root = root_from_storyline(first, len(attempts), restored=group.restored)
    task_id = PLACEHOLDER if is_blank(group.task_id) else group.task_id
    return {"task_id": task_id, **root, "attempts": attempts}


def root_from_storyline(storyline: Storyline, number: int, *, restored: bool) -> dict[str, Json]:
    """Return the root members but `task_id` and `attempts`, from the first Storyline of *number* attempts."""
    extras = outcome(storyline).extras
    metrics = final_metrics(storyline)
    category, solved_at = extras.get("category"), extras.get("solved_at")
    allowed, tried = budget(storyline) or number, extras.get("attempts_tried")
    root: dict[str, Json] = {
        "category": category if type(category) is str else PLACEHOLDER,
        "k": allowed,
        "correct": first_of_type(bool, extras.get("task_correct"), metrics.get("task_correct"))
        or False,
        "attempts_tried": tried if type(tried) is int else number,
        "solved_at": solved_at if type(solved_at) is str else None,
    }
    if not restored:
        root["k"] = max(allowed, number)
        root["attempts_tried"] = number
        if is_blank(root["category"]):
            root["category"] = PLACEHOLDER
    for key in ("retry_count", "retry_counts"):
        if extras.get(key) is not None:
            root[key] = extras[key]
    return root


def _warn_of_missing_attempts(document: Json, group: Group, options: WriteOptions) -> None:
    """Warn when a restored document says that more attempts were made than it has."""
    tried, number = document.get("attempts_tried"), len(group.attempts)
    if is_integer(tried) and tried > number:
        rule = rules.ATTEMPTS_TRIED._replace(severity="warning")
        message = f"{number} of {tried} attempts are written"
        place = "/task/result/attempts_tried"
        options.warn(rule.at(place, tried, message=message), next(iter(group.attempts.values())))


# Attempt: actf.md 5.1 and 6.2


def storyline_from_attempt(
    document: Document[ParsedTask], key: str, at: str, residuals: dict[str, Json]
) -> Storyline:
    """Return the Storyline of the attempt at *at*; *residuals* are those known so far, and take those found here."""
    parsed = document.value
    value, attempt = parsed.value, parsed.value["attempts"][key]
    task_id, is_record = value["task_id"], parsed.form.is_record
    run = run_of_attempt(document, key, f"{at}/trajectory", residuals)
    result = (records.result_from_record if is_record else result_from_attempt)(value, attempt)
    allowed = records.allowed_attempts(value) if is_record else value.get("k")
    analysis, meta = attempt.get("analysis_result"), attempt.get("meta")
    if is_record:
        analysis, meta = of_type(dict, analysis), of_type(dict, meta)
    unknown = Residuals(source_document_id=task_id, fields=residuals)
    return Storyline(
        session_id=task_id if len(value["attempts"]) == 1 else f"{task_id}#attempt-{key}",
        agent=Agent(agent_id="actf-agent", name="ACTF Agent", model_name=run.model_name),
        turns=run.turns,
        origin=Origin(format=SOURCE, schema_version=run.version),
        run_id=task_id,
        attempt_id=key,
        task=task_of(run, allowed, result),
        prompt=run.prompt,
        started_at=run.started_at,
        finished_at=run.finished_at,
        final_metrics=promoted_metrics(result, analysis),
        extra=None if is_record else unless_empty(attempt.get("extra")),
        meta=unless_empty(meta),
        unknown_fields={SOURCE: unknown} if residuals else {},
        node=at,
    )


def run_of_attempt(
    document: Document[ParsedTask], key: str, at: str, residuals: dict[str, Json]
) -> Run:
    """Return what the agent did in an attempt, whatever its trajectory is: an object, an event array, or nothing."""
    steps = document.value.steps.get(key)
    trajectory = document.value.value["attempts"][key].get("trajectory")
    if steps is not None:
        return run_from_trajectory(document.value, trajectory, steps, at, residuals)
    if type(trajectory) is list:
        return run_from_events(document, trajectory, at)
    return Run([])


def attempt_from_storyline(
    storyline: Storyline, at: str, residuals: Mapping[str, Json], group: Group
) -> dict[str, Json]:
    """Return the attempt that *storyline* is."""
    result, metrics = outcome(storyline), final_metrics(storyline)
    status = result.status or text(metrics.get("status"))
    analysis = metrics.get("analysis_result")
    if not group.restored:
        status = status or "completed"
        analysis = {} if analysis is None else analysis
    attempt = {
        "correct": first_of_type(bool, result.correct, metrics.get("correct")) or False,
        "final_answer": result.final_answer,
        "ground_truth": "" if result.ground_truth is None else result.ground_truth,
        "status": status,
        "score": metrics.get("score") if result.score is None else result.score,
        "error": result.error or "",
        "artifacts": {} if result.artifacts is None else result.artifacts,
        "extra": {} if storyline.extra is None else storyline.extra,
        "analysis_result": analysis,
        "meta": {} if storyline.meta is None else storyline.meta,
        "trajectory": trajectory_from_storyline(
            storyline, f"{at}/trajectory", residuals, restored=group.restored
        ),
    }
    if result.max_score is not None:
        attempt["max_score"] = result.max_score
    return attempt


def attempt_of_record(
    storyline: Storyline, at: str, residuals: Mapping[str, Json], group: Group
) -> dict[str, Json]:
    """Return the attempt that *storyline* is, as a record has it."""
    del group  # restored, as every record is
    trajectory = record_trajectory_from_storyline(storyline, f"{at}/trajectory", residuals)
    return records.attempt_of_record(storyline, trajectory)


def result_from_attempt(document: Mapping[str, Json], attempt: Mapping[str, Json]) -> TaskResult:
    """Return the outcome of *attempt*, with what the root says of the task."""
    extras = {
        "task_correct": of_type(bool, document.get("correct")),
        "category": of_type(str, document.get("category")),
        "attempts_tried": tried if is_integer(tried := document.get("attempts_tried")) else None,
        "solved_at": text(document.get("solved_at")) or None,
        "retry_count": document.get("retry_count"),
        "retry_counts": document.get("retry_counts"),
    }
    return TaskResult(
        correct=of_type(bool, attempt.get("correct")),
        score=unless_empty(attempt.get("score")),
        max_score=unless_empty(attempt.get("max_score")),
        status=text(attempt.get("status")) or None,
        error=text(attempt.get("error")) or None,
        final_answer=unless_empty(attempt.get("final_answer")),
        ground_truth=unless_empty(attempt.get("ground_truth")),
        artifacts=unless_empty(attempt.get("artifacts")),
        extras={key: value for key, value in extras.items() if value is not None},
    )


def task_of(run: Run, allowed: Json, result: TaskResult) -> Task | None:
    """Return the task; None if nothing is known of it."""
    llm = Llm(k=allowed) if is_integer(allowed) and allowed > 0 else None
    known_result = None if result == NOTHING_KNOWN else result
    if run.env is None and llm is None and known_result is None:
        return None
    return Task(env=run.env, llm=llm, result=known_result)


NOTHING_KNOWN = TaskResult()
"""An outcome that says nothing."""


def promoted_metrics(result: TaskResult, analysis: Json) -> dict[str, Json] | None:
    """Return `final_metrics`: what is promoted, and the analysis, which has its only place there."""
    metrics = {
        "task_correct": result.extras.get("task_correct"),
        "correct": result.correct,
        "status": result.status,
        "score": result.score,
        "max_score": result.max_score,
        "analysis_result": analysis,
    }
    return {key: value for key, value in metrics.items() if value is not None} or None
