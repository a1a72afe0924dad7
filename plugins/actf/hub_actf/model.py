"""ACTF's data model: the members of its objects, and what steps, tools and observations mean by themselves.

A document stays the JSON that was read; the `TypedDict`s say what may be in it, the `Shape`s ask whether it is so.
Every object is open: an unknown member is legal and is kept. There are two outer forms around one trajectory, that of
the RFC and the *record* of AgentCompass.

Source: actf.md 1 and 3; actf-records.md 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Required, TypedDict

from hub import (
    MISSING,
    ExactNumber,
    Json,
    Shape,
    Storyline,
    TaskResult,
    is_integer,
    turn_ids,
)

VERSION = "ACTF_v1.0"
SOURCE = "actf"
"""Name of the format in `origin.format` and `unknown_fields`."""

Text = str | None
"""A nullable string: absent, `null` and `""` are one value, `""`."""
Number = float | None


# The trajectory: actf.md 1


class Tool(TypedDict, total=False):
    """A tool event: a call, and often what came back; everything but `type` and `id` depends on the event."""

    type: Text
    id: Text
    name: Any
    input: Any
    arguments: Any
    function: Any
    """`{name, arguments}`, as OpenAI wraps a call."""
    command: Any
    aggregated_output: Any
    status: Any
    exit_code: Any


class AssistantContent(TypedDict, total=False):
    """What the agent said and did in a step."""

    content: Text
    reasoning_content: Text
    tool_calls: list[Tool] | None
    """The same list as the step's `tools`; read where that is empty."""


class Metric(TypedDict, total=False):
    """What a step cost; any other member is kept as well."""

    prompt_tokens_len: Number
    completion_tokens_len: Number
    llm_infer_ms: Number
    """Duration of the model's answer, in milliseconds."""
    env_action_ms: Number
    """Duration of the tools, in milliseconds."""
    stop_reason: Any


class _StepWithoutTimes(TypedDict, total=False):
    step_id: Required[int]
    """Above 0, and above that of the step before."""
    assistant_content: Required[AssistantContent]
    metric: Required[Metric]
    system_prompt: Text
    user_content: Text
    tools: list[Tool] | None
    observation: list[dict[str, Any]] | None


class Step(_StepWithoutTimes, total=False):
    """One turn of the agent, with what came back."""

    started_at: Required[str]
    finished_at: Required[str]


class RecordStep(_StepWithoutTimes, total=False):
    """A step of a record, whose times may be `null`."""

    started_at: Required[str | None]
    finished_at: Required[str | None]


class Trajectory(TypedDict, total=False):
    """What the agent did in one attempt."""

    schema_version: Required[str]
    started_at: Required[str]
    finished_at: Required[str]
    steps: Required[list[Step]]


class RecordTrajectory(TypedDict, total=False):
    """A trajectory of a record, whose times may be `null`."""

    schema_version: Required[str]
    started_at: Required[str | None]
    finished_at: Required[str | None]
    steps: Required[list[RecordStep]]


# The form of the RFC: actf.md 1


class Attempt(TypedDict, total=False):
    """One try at the task."""

    correct: Required[bool]
    status: Text
    error: Text
    final_answer: Any
    ground_truth: Any
    score: Any
    max_score: Any
    artifacts: Any
    extra: Any
    analysis_result: Any
    meta: Any
    trajectory: Required[dict[str, Any] | list[Any]]
    """A `Trajectory`, or the event array of a failed attempt (actf.md 4)."""


class ActfDocument(TypedDict, total=False):
    """One benchmark task, and the attempts at it."""

    task_id: Required[str]
    category: Required[str]
    k: Required[int]
    """How many attempts were allowed; above 0."""
    correct: Required[bool]
    attempts_tried: Required[int]
    solved_at: Text
    attempts: Required[dict[str, Attempt]]
    retry_count: Any
    retry_counts: Any


# The record: actf-records.md 1


class AttemptPlan(TypedDict):
    """How many attempts there may be, and how they count; closed."""

    k: int
    strategy: str


class RecordAttempt(TypedDict, total=False):
    """One try at the task, as AgentCompass keeps it."""

    status: Required[str]
    """One of `STATUSES`."""
    metrics: Required[dict[str, Any]]
    """Booleans and numbers by name: what the grader observed, `correct` and `score` among them."""
    final_answer: Required[Any]
    trajectory: Required[dict[str, Any] | list[Any] | None]
    """A `RecordTrajectory`; `{}` when the attempt never ran."""
    issues: Required[list[dict[str, Any]]]
    """`{severity, phase, code, message}` each."""
    artifacts: Required[dict[str, Any]]
    analysis_result: Required[dict[str, Any]]
    meta: Required[dict[str, Any]]


class RecordDocument(TypedDict, total=False):
    """One benchmark task, as AgentCompass keeps it."""

    task_id: Required[str]
    category: Required[Any]
    ground_truth: Required[Any]
    """Of the task; the RFC has it in the attempt."""
    attempt_plan: Required[Any]
    """An `AttemptPlan`; its presence makes the document a record."""
    retry_count: Required[int]
    """The sum of `retry_counts`."""
    retry_counts: Required[dict[str, int]]
    """Attempt number to how often it was retried, above 0."""
    attempts: Required[dict[str, RecordAttempt]]


STATUSES = (
    "completed",
    "skipped",
    "run_error",
    "eval_error",
    "run_error_or_eval_error",
    "cancelled",
    "interrupted",
)
"""Statuses of a record's attempt."""


class Form(NamedTuple):
    """One of the two outer forms of ACTF, by the shapes of its objects."""

    is_record: bool
    document: Shape
    attempt: Shape
    trajectory: Shape
    step: Shape


RFC = Form(
    is_record=False,
    document=Shape.of(ActfDocument),
    attempt=Shape.of(Attempt),
    trajectory=Shape.of(Trajectory),
    step=Shape.of(Step),
)
RECORD = Form(
    is_record=True,
    document=Shape.of(RecordDocument),
    attempt=Shape.of(RecordAttempt),
    trajectory=Shape.of(RecordTrajectory),
    step=Shape.of(RecordStep),
)
ASSISTANT_CONTENT = Shape.of(AssistantContent)
METRIC = Shape.of(Metric)
TOOL = Shape.of(Tool)

NUMERIC_METRICS = ("prompt_tokens_len", "completion_tokens_len", "llm_infer_ms", "env_action_ms")
METRICS = dict.fromkeys((*NUMERIC_METRICS, "stop_reason"))
"""The standard members of `metric`, as they stand where nothing is known."""


# Values


def text(value: Json) -> str:
    """Return a nullable string; another type counts as `""`, since it is a residual."""
    return value if type(value) is str else ""


def is_blank(value: str) -> bool:
    """Tell whether *value* is empty after white space is stripped: actf.md 3."""
    return not value or value.isspace()


def is_empty(value: Json) -> bool:
    """Tell whether *value* is absent, `null`, `""`, `{}` or `[]`; 0 and `false` are not empty (actf.md 5.1)."""
    return value is None or value in ("", {}, [])


def unless_empty(value: Json) -> Json:
    """Return *value*, or None where it is empty: the Storyline field is then not set."""
    return None if is_empty(value) else value


def of_type(kind: type, value: Json) -> Json:
    """Return *value* if it is of exactly that type; a boolean is no integer."""
    return value if type(value) is kind else None


def first_of_type(kind: type, *values: Json) -> Json:
    """Return the first of *values* that is of exactly that type; None if none is."""
    return next((value for value in values if type(value) is kind), None)


def is_number(value: Json) -> bool:
    """Tell whether *value* is a JSON number; a boolean is none."""
    return type(value) is int or type(value) is float or type(value) is ExactNumber


def attempt_numbers(keys: Iterable[str]) -> list[int]:
    """Return those of the attempt *keys* that are numbers, as numbers."""
    return [int(key) for key in keys if is_attempt_number(key)]


def is_attempt_number(key: str) -> bool:
    """Tell whether *key* is a positive integer without leading zeros."""
    return key.isascii() and key.isdecimal() and key[0] != "0" and len(key) < MAX_DIGITS


MAX_DIGITS = 20
"""No attempt has a number of more digits; Python refuses to convert thousands."""


def outcome(storyline: Storyline) -> TaskResult:
    """Return the outcome of *storyline*; one that says nothing, where there is none."""
    task = storyline.task
    return TaskResult() if task is None or task.result is None else task.result


def budget(storyline: Storyline) -> int | None:
    """Return how many attempts were allowed, if *storyline* says so."""
    task = storyline.task
    return None if task is None or task.llm is None else task.llm.k


def final_metrics(storyline: Storyline) -> Mapping[str, Json]:
    """Return the final metrics of *storyline*; none, if they are no object."""
    metrics = storyline.final_metrics
    return metrics if type(metrics) is dict else {}


# Steps: actf.md 3.1 and 3.2


def tools_in(value: Json) -> list[Tool]:
    """Return the tools of a tool list; none if it is no list of objects, for then it is one residual."""
    if type(value) is not list:
        return []
    for tool in value:
        if type(tool) is not dict:
            return []
    return value


def listed_calls(step: Step) -> Json:
    """Return what the step has as `assistant_content.tool_calls`."""
    content: Json = step.get("assistant_content")
    return content.get("tool_calls") if type(content) is dict else None


def calls_in(step: Step) -> list[Tool]:
    """Return the tools in the step's `assistant_content.tool_calls`."""
    return tools_in(listed_calls(step))


def effective_tools(step: Step) -> list[Tool]:
    """Return `tools` if there are any, else `assistant_content.tool_calls`."""
    tools: Json = step.get("tools")
    listed = tools_in(tools) if tools else None
    if listed:
        return listed
    tools = listed_calls(step)
    return tools_in(tools) if tools else []


def usable_id(tool: Tool) -> str | None:
    """Return the tool's id; None if it has none that is not blank."""
    source = tool.get("id")
    return source if type(source) is str and source and not source.isspace() else None


def tool_name(tool: Tool) -> str | None:
    """Return the first of `name`, `function.name` and `type` that is a string and not empty (actf.md 5.4)."""
    name = tool.get("name")
    if type(name) is str and name:
        return name
    function = tool.get("function")
    if type(function) is dict:
        name = function.get("name")
        if type(name) is str and name:
            return name
    name = tool.get("type")
    return name if type(name) is str and name else None


class Steps(NamedTuple):
    """The steps of one trajectory, and what follows from each: lists of one length."""

    steps: Sequence[Step]
    turn_ids: list[int]
    tools: list[list[Tool]]
    """The tools in effect."""
    call_ids: list[list[str]]
    """Their effective ids: the tool's own, or `step-{step_id}-tool-{index}`."""
    observations: list[list[Json]]
    replaced_ids: list[int]
    """Not one a step, but the indices of the steps whose id is there and is not that of the turn."""

    @classmethod
    def of(cls, steps: Sequence[Step]) -> "Steps":
        """Derive the rest from *steps*, which are objects."""
        ids = [step.get("step_id") for step in steps]
        turns, replaced = turn_ids([MISSING if one is None else one for one in ids])
        tools = list(map(effective_tools, steps))
        numbers = turns
        if turns != ids:
            numbers = [
                one if is_integer(one) else turn for one, turn in zip(ids, turns, strict=True)
            ]
        call_ids = list(map(effective_ids, tools, numbers))
        seen: list[Json] = [step.get("observation") for step in steps]
        observations = [one if type(one) is list else [] for one in seen]
        return cls(steps, turns, tools, call_ids, observations, replaced)


def effective_ids(tools: Sequence[Tool], number: int) -> list[str]:
    """Return the effective ids of the *tools* of the step with that *number*."""
    if not tools:
        return []
    return [usable_id(tool) or f"step-{number}-tool-{index}" for index, tool in enumerate(tools)]


def reference_key(observation: Mapping[str, Json]) -> str | None:
    """Return the member that refers to a call: the first of three that is there and not null (actf.md 3.2)."""
    for key in ("tool_use_id", "tool_call_id", "id"):
        if observation.get(key) is not None:
            return key
    return None


def reference(observation: Mapping[str, Json]) -> str | None:
    """Return the call that *observation* refers to; None also where the member is no string."""
    named = observation.get("tool_use_id")
    if named is None:
        named = observation.get("tool_call_id")
        if named is None:
            named = observation.get("id")
    return named if type(named) is str else None


class ParsedTask(NamedTuple):
    """One document: its JSON, and what reading it has to know of its trajectories."""

    value: Json
    form: Form
    steps: dict[str, Steps]
    """Of each attempt whose trajectory is an object."""
    times: dict[str, str | None]
    """What is read at a pointer where there is no Storyline time: the text with a zone added, or nothing."""
