"""ACTF's rules: what a breach of each means, and the checks that find them.

A check is a generator named for its rule; where a value has to be set aside, the problem's rule says so (`keeps`), and
the caller does it. Checks run over what has the right type; what has not is reported by its shape.

Source: validation.md 5; actf.md 3; actf-records.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import lt

from hub import MISSING, Json, Problem, Rule, dumps, equal, is_integer, pointer, show
from hub_actf.effective import Steps, calls_in, reference, reference_key, tool_name, tools_in
from hub_actf.model import NUMERIC_METRICS, STATUSES, VERSION, Step, Tool
from hub_actf.values import attempt_numbers, is_attempt_number, is_blank, is_number

OBJECT = Rule("actf.object", "fatal", "an object", "")
TASK_ID = Rule("actf.task-id", "fatal", "a non-blank string", "")
ATTEMPTS = Rule("actf.attempts", "fatal", "an object with at least one attempt", "")
ATTEMPT = Rule("actf.attempt", "fatal", "an object", "")
TRAJECTORY = Rule("actf.trajectory", "fatal", "an object or an array", "")
VERSION_ = Rule("actf.version", "fatal", f'"{VERSION}"', "")
STEPS = Rule("actf.steps", "fatal", "an array of objects", "")
REQUIRED = Rule("actf.required", "error", "a value", "unset")
TYPE = Rule("actf.type", "error", "a value of the right type", "residual")
CATEGORY = Rule("actf.category", "error", "a non-blank string", "kept")
K = Rule("actf.k", "error", "an integer above 0", "residual")
ATTEMPTS_TRIED = Rule("actf.attempts-tried", "error", "the number of attempts", "kept")
ATTEMPTS_OVER_K = Rule("actf.attempts-over-k", "error", "at most k", "kept")
ATTEMPT_KEY = Rule("actf.attempt-key", "error", "a non-blank key", "kept")
STEP_ID = Rule("actf.step-id", "error", "an integer above 0", "kept")
STEP_ORDER = Rule("actf.step-order", "error", "more than the id of the step before", "kept")
TIME_BLANK = Rule("actf.time-blank", "error", "a date-time with an offset", "residual")
TIME = Rule("actf.time", "warning", "a date-time with an offset", "residual")
TOOLS_DIFFER = Rule("actf.tools-differ", "error", "the same list as tools", "residual")
CALL_ID_UNIQUE = Rule(
    "actf.call-id-unique", "error", "an id that no other call of the step has", "renamed"
)
CALL_ID_REUSED = Rule("actf.call-id-reused", "info", "an id that no earlier step has", "renamed")
FUNCTION_NAME = Rule("actf.function-name", "error", "a name, a function.name or a type", "unset")
METRIC = Rule("actf.metric", "error", "a number or null", "kept")
RESULT_CALL = Rule("actf.result-call", "error", "the id of a call of the step", "kept")
RECORD_PLAN = Rule(
    "actf.record-plan",
    "error",
    '{"k": integer above 0 and not below the largest attempt number, "strategy": string}',
    "residual",
)
RECORD_ATTEMPT_KEY = Rule(
    "actf.record-attempt-key", "error", "a positive integer without leading zeros", "kept"
)
RECORD_STATUS = Rule("actf.record-status", "error", f"one of {', '.join(STATUSES)}", "kept")
RECORD_METRICS = Rule("actf.record-metrics", "error", "booleans and numbers by name", "residual")
RECORD_RETRIES = Rule(
    "actf.record-retries", "error", "integers above 0 by attempt number, and their sum", "kept"
)
RECORD_PATH = Rule("actf.record-path", "error", "a directory inside that of the task", "")
RECORD_MISSING = Rule("actf.record-missing", "error", "a directory with a readable result.json", "")
RECORD_RUNNING = Rule("actf.record-running", "warning", "a task that is finished", "")
EVENTS = Rule("actf.events", "warning", "a trajectory object", "")

RULES = tuple(value for value in globals().values() if isinstance(value, Rule))


# The document: actf.md 1


def task_id(document: Mapping[str, Json]) -> Iterator[Problem]:
    """The id of the task is not blank."""
    value = document.get("task_id")
    if type(value) is str and is_blank(value):
        yield TASK_ID.at("/task_id", value)


def attempts(document: Mapping[str, Json]) -> Iterator[Problem]:
    """There is an attempt."""
    value = document.get("attempts")
    if value == {}:
        yield ATTEMPTS.at("/attempts", value)


def category(document: Mapping[str, Json]) -> Iterator[Problem]:
    """The category is not blank."""
    value = document.get("category")
    if type(value) is str and is_blank(value):
        yield CATEGORY.at("/category", value)


def k(document: Mapping[str, Json]) -> Iterator[Problem]:
    """At least one attempt is allowed."""
    value = document.get("k")
    if is_integer(value) and value < 1:
        yield K.at("/k", value)


def attempts_tried(document: Mapping[str, Json]) -> Iterator[Problem]:
    """`attempts_tried` is the number of attempts, and not above `k`."""
    value, allowed = document.get("attempts_tried"), document.get("k")
    if not is_integer(value) or type(document.get("attempts")) is not dict:
        return
    number = len(document["attempts"])
    if value != number:
        yield ATTEMPTS_TRIED.at("/attempts_tried", value, expected=str(number))
    if is_integer(allowed) and 1 <= allowed < value:
        yield ATTEMPTS_OVER_K.at("/attempts_tried", value, expected=f"at most {allowed}")


def attempt_key(key: str, at: str) -> Iterator[Problem]:
    """The key of an attempt is not blank."""
    if is_blank(key):
        yield ATTEMPT_KEY.at(at, key)


# Steps: actf.md 3


def version(trajectory: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """The version is the one that is known."""
    value = trajectory.get("schema_version")
    if type(value) is str and value != VERSION:
        message = f"unsupported version {show(value)}, supported: {VERSION}"
        yield VERSION_.at(f"{at}/schema_version", value, message=message)


def step_order(steps: Steps, at: str) -> Iterator[Problem]:
    """Step ids are above 0 and strictly increasing; gaps are allowed."""
    ids = steps.turn_ids
    if not steps.replaced_ids and ids[:1] > [0] and all(map(lt, ids, ids[1:])):
        return
    previous = None
    for index, step in enumerate(steps.steps):
        current = step.get("step_id")
        if not is_integer(current):
            continue
        if current < 1:
            yield STEP_ID.at(f"{at}/{index}/step_id", current)
        if previous is not None and current <= previous:
            expected = f"more than {previous}"
            yield STEP_ORDER.at(f"{at}/{index}/step_id", current, expected=expected)
        previous = current


def tools_differ(steps: Steps, at: str) -> Iterator[Problem]:
    """`tools` and `assistant_content.tool_calls` are equal where both have an element."""
    both = [
        (index, tools, calls)
        for index, (step, tools) in enumerate(zip(steps.steps, steps.tools, strict=True))
        if tools and tools is step.get("tools") and (calls := calls_in(step))
    ]
    for start in range(0, len(both), _MANY):
        some = both[start : start + _MANY]
        # Most are one list written twice, and comparing the text of many is quick. Texts that differ prove nothing.
        if dumps([tools for _, tools, _ in some]) == dumps([calls for _, _, calls in some]):
            continue
        for index, tools, calls in some:
            if not equal_tools(tools, calls):
                yield TOOLS_DIFFER.at(f"{at}/{index}/assistant_content/tool_calls", calls)


_MANY = 64
"""So many steps are compared together."""


def equal_tools(tools: Sequence[Tool], calls: Sequence[Tool]) -> bool:
    """Tell whether two tool lists are equal, once absent, `null` and `""` of `type` and `id` are one: actf.md 3."""
    return len(tools) == len(calls) and (
        equal(tools, calls) or equal([_plain(one) for one in tools], [_plain(one) for one in calls])
    )


def _plain(tool: Tool) -> dict[str, Json]:
    return {
        key: value
        for key, value in tool.items()
        if key not in ("type", "id") or value not in (None, "")
    }


def call_ids(steps: Steps, at: str) -> Iterator[Problem]:
    """Effective call ids differ inside a step, which is a rule, and from step to step, which is usual."""
    every = list(chain.from_iterable(steps.call_ids))
    if len(set(every)) == len(every):
        return
    seen: set[str] = set()
    for index, ids in enumerate(steps.call_ids):
        if not ids:
            continue
        of_step = set(ids)
        if len(of_step) < len(ids) or not seen.isdisjoint(ids):
            yield from _repeated(steps, at, index, seen)
        seen |= of_step


def _repeated(steps: Steps, at: str, index: int, earlier: set[str]) -> Iterator[Problem]:
    """Yield the calls of one step whose id another call of it has, or one of an *earlier* step."""
    of_step: set[str] = set()
    for position, call_id in enumerate(steps.call_ids[index]):
        if call_id in of_step:
            yield CALL_ID_UNIQUE.at(_call(steps, at, index, position, "id"), call_id)
        elif call_id in earlier:
            yield CALL_ID_REUSED.at(_call(steps, at, index, position, "id"), call_id)
        of_step.add(call_id)


def function_name(steps: Steps, at: str) -> Iterator[Problem]:
    """A tool has a `name`, a `function.name` or a `type`."""
    every = chain.from_iterable(steps.tools)
    if {type(tool.get("name") or tool.get("type") or None) for tool in every} <= {str}:
        return
    for index, tools in enumerate(steps.tools):
        for position, tool in enumerate(tools):
            if not tool_name(tool):
                name: Json = tool.get("name", MISSING)
                yield FUNCTION_NAME.at(_call(steps, at, index, position, "name"), name)


def _call(steps: Steps, at: str, index: int, position: int, key: str) -> str:
    """Return the pointer of a member of a tool in effect."""
    return f"{at}/{index}/{list_place(steps.steps[index])}/{position}/{key}"


def list_place(step: Step) -> str:
    """Return where in *step* the list stands that is in effect."""
    return "tools" if tools_in(step.get("tools")) else CALLS


CALLS = "assistant_content/tool_calls"
"""Where the second tool list of a step is."""


def metric(measured: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """The numeric metrics are numbers or null."""
    for key in NUMERIC_METRICS:
        value = measured.get(key)
        if value is not None and not is_number(value):
            yield METRIC.at(f"{at}/{key}", value)


def result_call(steps: Steps, at: str) -> Iterator[Problem]:
    """A call reference names a call of its step, by effective id."""
    for index, (observations, ids) in enumerate(
        zip(steps.observations, steps.call_ids, strict=True)
    ):
        known = ids if len(ids) <= SHOWN_IDS else set(ids)
        for position, observation in enumerate(observations):
            named = reference(observation) if type(observation) is dict else None
            if named is not None and named not in known:
                place = f"{at}/{index}/observation/{position}/{reference_key(observation)}"
                yield RESULT_CALL.at(place, named, expected=_one_of(ids))


def _one_of(ids: Sequence[str]) -> str:
    if not ids:
        return "no reference, since the step has no call"
    names = ", ".join(show(one) for one in ids[:SHOWN_IDS])
    return f"one of {names}{', …' if len(ids) > SHOWN_IDS else ''}"


SHOWN_IDS = 8
"""So many ids are listed in a message."""


# Records: actf-records.md 1


def record_plan(document: Mapping[str, Json]) -> Iterator[Problem]:
    """The plan has `k`, not below the largest attempt number, and a strategy, and nothing else."""
    plan, tried = document.get("attempt_plan"), document.get("attempts")
    numbers = attempt_numbers(tried) if type(tried) is dict else []
    fits = (
        type(plan) is dict
        and plan.keys() == {"k", "strategy"}
        and is_integer(plan["k"])
        and plan["k"] >= max([1, *numbers])
        and type(plan["strategy"]) is str
    )
    if not fits:
        yield RECORD_PLAN.at("/attempt_plan", plan)


def record_attempt_key(key: str, at: str) -> Iterator[Problem]:
    """The key of an attempt is its number."""
    if not is_attempt_number(key):
        yield RECORD_ATTEMPT_KEY.at(at, key)


def record_status(attempt: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """The status is one of the producer's."""
    status = attempt.get("status")
    if type(status) is str and status not in STATUSES:
        yield RECORD_STATUS.at(f"{at}/status", status)


def record_metrics(attempt: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """Metrics are booleans and numbers by name."""
    metrics = attempt.get("metrics")
    if type(metrics) is not dict:
        return
    for name, value in metrics.items():
        if type(value) is not bool and not is_number(value):
            place = f"{at}/metrics/{pointer.escape(name)}"
            yield RECORD_METRICS.at(place, value, expected="a boolean or a number")


def record_issues(attempt: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """Issues are objects; the list is kept whole, whatever is in it."""
    issues = attempt.get("issues")
    if type(issues) is list:
        for index, issue in enumerate(issues):
            if type(issue) is not dict:
                yield TYPE.at(f"{at}/issues/{index}", issue, expected="an object")


def record_retries(document: Mapping[str, Json]) -> Iterator[Problem]:
    """Retries are counted by attempt number, and `retry_count` is their sum."""
    counts, total = document.get("retry_counts"), document.get("retry_count")
    if type(counts) is not dict:
        return
    if not all(
        is_attempt_number(key) and is_integer(count) and count >= 1 for key, count in counts.items()
    ):
        yield RECORD_RETRIES.at("/retry_counts", counts, expected="integers above 0 by attempt")
    elif is_integer(total) and total != sum(counts.values()):
        yield RECORD_RETRIES.at("/retry_count", total, expected=str(sum(counts.values())))
