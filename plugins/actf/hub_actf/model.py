"""ACTF's data model: the members of its objects.

A document stays the JSON that was read; the `TypedDict`s say what may be in it, the `Shape`s ask whether it is so.
Every object is open: an unknown member is legal and is kept. There are two outer forms around one trajectory, that of
the RFC and the *record* of AgentCompass.

Source: actf.md 1; actf-records.md 1.
"""

from typing import Any, NamedTuple, Required, TypedDict

from hub import Shape

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
