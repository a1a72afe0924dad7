"""Parsing: the JSON of one task to a document, with every breach of a rule reported, and what no field takes set aside.

Nothing is changed or copied. Objects are asked whether they fit their shape, the rules are asked about those that do,
and only what is wrong costs more than that.

Source: actf.md 1, 3 and 5.6; actf-records.md; validation.md 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any

from hub import Document, Json, Problem, Record, Shape, are_timestamps, is_timestamp, pointer
from hub_actf import records, rules
from hub_actf.effective import ParsedTask, Steps, listed_calls
from hub_actf.model import ASSISTANT_CONTENT, METRIC, RECORD, RFC, TOOL, Step, Tool
from hub_actf.values import is_blank

TIMES = ("started_at", "finished_at")

OF_TYPE = {
    "task_id": rules.TASK_ID,
    "attempts": rules.ATTEMPTS,
    "trajectory": rules.TRAJECTORY,
    "steps": rules.STEPS,
    "metrics": rules.RECORD_METRICS,
    "retry_count": rules.RECORD_RETRIES,
    "retry_counts": rules.RECORD_RETRIES,
}
"""Members whose type has a rule of its own; a wrong type elsewhere is `actf.type`."""
OF_ABSENCE = {"task_id": rules.TASK_ID, "attempts": rules.ATTEMPTS}
"""Required members whose absence has a rule of its own; elsewhere it is `actf.required`."""

ARE_SET_ASIDE = frozenset(rule.rule for rule in rules.RULES if rule.keeps == "residual")

Parsed = Document[ParsedTask]


def parse_record(record: Record) -> Parsed:
    """Return the document of one JSON value, whichever of the two outer forms it has."""
    value = record.value
    is_record = type(value) is dict and "attempt_plan" in value
    document = Document(ParsedTask(value, RECORD if is_record else RFC, {}, {}), record=record)
    if type(value) is not dict:
        document.report(rules.OBJECT.at("", value))
        return document
    _check_root(document, value)
    attempts = value.get("attempts")
    if type(attempts) is dict:
        for key, attempt in attempts.items():
            _check_attempt(document, key, attempt)
    return document


def _check_root(document: Parsed, value: dict[str, Json]) -> None:
    _check_shape(document, document.value.form.document, value, "")
    _report(document, rules.task_id(value))
    _report(document, rules.attempts(value))
    if document.value.form.is_record:
        _report(document, rules.record_plan(value))
        _report(document, rules.record_retries(value))
        if records.PLAN not in document.residuals:
            document.set_aside(f"{records.PLAN}/strategy", value["attempt_plan"]["strategy"])
    else:
        _report(document, rules.category(value))
        _report(document, rules.k(value))
        _report(document, rules.attempts_tried(value))


def _check_attempt(document: Parsed, key: str, attempt: Json) -> None:
    at = f"/attempts/{pointer.escape(key)}"
    is_record = document.value.form.is_record
    _report(document, (rules.record_attempt_key if is_record else rules.attempt_key)(key, at))
    if type(attempt) is not dict:
        document.report(rules.ATTEMPT.at(at, attempt))
        return
    _check_shape(document, document.value.form.attempt, attempt, at)
    if is_record:
        _report(document, rules.record_status(attempt, at))
        _report(document, rules.record_metrics(attempt, at))
        document.problems.extend(rules.record_issues(attempt, at))
        document.residuals.update(records.attempt_residuals(attempt, at))
    trajectory = attempt.get("trajectory")
    if type(trajectory) is dict and not (is_record and trajectory == {}):
        document.value.steps[key] = _check_trajectory(document, trajectory, f"{at}/trajectory")
    elif type(trajectory) is list and not (is_record and trajectory == []):
        message = "an event array: read one way, what is not mapped is dropped"
        document.report(rules.EVENTS.at(f"{at}/trajectory", trajectory, message=message))


def _check_trajectory(document: Parsed, trajectory: dict[str, Json], at: str) -> Steps:
    _check_shape(document, document.value.form.trajectory, trajectory, at)
    _report(document, rules.version(trajectory, at))
    _check_times(document, trajectory, at)
    steps = trajectory.get("steps")
    if type(steps) is not list:
        return Steps.of(())
    at = f"{at}/steps"
    strange = [index for index, step in enumerate(steps) if type(step) is not dict]
    for index in strange:
        document.report(rules.STEPS.at(f"{at}/{index}", steps[index], expected="an object"))
    if strange:
        return Steps.of(())
    return _check_steps(document, steps, at)


def _check_steps(document: Parsed, steps: Sequence[Step], at: str) -> Steps:
    parsed = Steps.of(steps)
    for check in STEP_CHECKS:
        _report(document, check(parsed, at))
    for start in range(0, len(steps), BATCH):
        batch = steps[start : start + BATCH]
        for check_batch in (
            _check_step_shapes,
            _check_contents,
            _check_step_times,
            _check_metrics,
            _check_tools,
            _check_observations,
        ):
            check_batch(document, batch, start, at)
    return parsed


BATCH = 128
"""So many steps are asked at once: objects that were looked at for one member are still at hand for the next."""

STEP_CHECKS = (
    rules.step_order,
    rules.tools_differ,
    rules.call_ids,
    rules.function_name,
    rules.result_call,
)


def _check_step_shapes(document: Parsed, steps: Sequence[Step], start: int, at: str) -> None:
    shape = document.value.form.step
    if not shape.all_fit(steps):
        for index, step in enumerate(steps, start):
            _check_shape(document, shape, step, f"{at}/{index}")


def _check_contents(document: Parsed, steps: Sequence[Step], start: int, at: str) -> None:
    contents: list[Json] = [step.get("assistant_content") for step in steps]
    if ASSISTANT_CONTENT.all_fit([one for one in contents if type(one) is dict]):
        return
    for index, content in enumerate(contents, start):
        if type(content) is dict:
            _check_shape(document, ASSISTANT_CONTENT, content, f"{at}/{index}/assistant_content")


def _check_step_times(document: Parsed, steps: Sequence[Step], start: int, at: str) -> None:
    times: list[Json] = [step.get(key) for step in steps for key in TIMES]
    if set(map(type, times)) <= TEXT and are_timestamps({*times} - {None}):
        return
    for index, step in enumerate(steps, start):
        _check_times(document, step, f"{at}/{index}")


def _check_times(document: Parsed, value: Mapping[str, Any], at: str) -> None:
    """Set aside what is no Storyline time: storyline.md 6.4."""
    for key in TIMES:
        time = value.get(key)
        if time is None or (type(time) is str and is_timestamp(time)):
            continue
        place = f"{at}/{key}"
        read = None
        if type(time) is str:
            rule = rules.TIME_BLANK if is_blank(time) else rules.TIME
            read = document.read_time(time, place, rule)
        document.value.times[place] = None if read is None else str(read)


def _check_metrics(document: Parsed, steps: Sequence[Step], start: int, at: str) -> None:
    """Ask the rule about all metrics but those which have the standard members only."""
    metrics: list[Json] = [step.get("metric") for step in steps]
    if METRIC.all_fit([one for one in metrics if type(one) is dict]):
        return
    for index, measured in enumerate(metrics, start):
        if type(measured) is dict:
            _report(document, rules.metric(measured, f"{at}/{index}/metric"))


def _check_tools(document: Parsed, steps: Sequence[Step], start: int, at: str) -> None:
    listed: list[Json] = [step.get("tools") for step in steps]
    called: list[Json] = list(map(listed_calls, steps))
    every = _elements([*listed, *called])
    if set(map(type, every)) <= {dict} and TOOL.all_fit(every):
        return
    for place, lists in (("tools", listed), (rules.CALLS, called)):
        for index, tools in enumerate(lists, start):
            if type(tools) is list:
                _check_tool_list(document, tools, f"{at}/{index}/{place}")


def _check_tool_list(document: Parsed, tools: Sequence[Tool], at: str) -> None:
    """Report what is wrong in one of the two lists; one that is no list of objects is set aside whole."""
    if at in document.residuals:  # actf.tools-differ
        return
    strange = [position for position, tool in enumerate(tools) if type(tool) is not dict]
    for position in strange:
        place = f"{at}/{position}"
        document.report(rules.TYPE.at(place, tools[position], expected="an object"))
    if strange:
        document.set_aside(at, tools)
        return
    for position, tool in enumerate(tools):
        _check_shape(document, TOOL, tool, f"{at}/{position}")


def _check_observations(document: Parsed, steps: Sequence[Step], start: int, at: str) -> None:
    """Observations are objects, in a record also texts and arrays; whatever they are, they are kept."""
    observed: list[Json] = [step.get("observation") for step in steps]
    every = _elements(observed)
    if set(map(type, every)) <= {dict} and {type(one.get("type")) for one in every} <= TEXT:
        return
    also = (str, list) if document.value.form.is_record else ()
    for index, observations in enumerate(observed, start):
        for position, observation in enumerate(_elements([observations])):
            place = f"{at}/{index}/observation/{position}"
            if type(observation) is dict:
                kind = observation.get("type")
                if type(kind) not in TEXT:
                    expected = "a string or null"
                    document.report(rules.TYPE.at(f"{place}/type", kind, expected=expected))
            elif type(observation) not in also:
                document.report(rules.TYPE.at(place, observation, expected="an object"))


TEXT = {str, NoneType}


def _elements(arrays: Iterable[Json]) -> list[Json]:
    """Return the elements of those of *arrays* that are some."""
    return list(chain.from_iterable(array for array in arrays if array and type(array) is list))


def _check_shape(document: Parsed, shape: Shape, value: Mapping[str, Json], at: str) -> None:
    """Set aside unknown members and those of a wrong type; report all but the unknown ones, which are legal."""
    if shape.fits(value):
        return
    for found in shape.deviations(value):
        place = f"{at}/{pointer.escape(found.key)}"
        if found.kind == "unknown":
            document.set_aside(place, found.value)
            continue
        by_key, usual = (
            (OF_TYPE, rules.TYPE) if found.kind == "type" else (OF_ABSENCE, rules.REQUIRED)
        )
        rule = by_key.get(found.key, usual)
        expected = found.expected if rule is usual else None
        _report(document, [rule.at(place, found.value, expected=expected)])


def _report(document: Parsed, problems: Iterable[Problem]) -> None:
    """Report *problems*, and set aside the values that their rules do not keep in a field."""
    for problem in problems:
        document.report(problem)
        if problem.rule in ARE_SET_ASIDE:
            tokens = pointer.split(problem.pointer)
            document.residuals[problem.pointer] = pointer.get(document.value.value, tokens)
