"""ALE-v1.0: the data model of a trajectory, as its tables say it.

Every object is closed. A value of these types is JSON as it was read; `hub_ale.completing` sees to it that every key is
there, with None where a key without default has no usable value. Types are those of a document without errors.

Source: ale.md 1.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any, Literal, NamedTuple, Required, TypedDict

from hub import Json, Shape

VERSION = "ALE-v1.0"

SOURCES = ("system", "user", "agent", "environment")
STATUSES = ("completed", "timeout", "failed")

_SOURCE_OF = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("agent", "assistant"), "agent"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("environment", "env", "tool", "function", "observation"), "environment"),
}


def write_source(source: str) -> str:
    """Return the source of a step for the speaker of a turn, in whatever case: ale.md 6.4."""
    known = _SOURCE_OF.get(source)
    return _SOURCE_OF.get(source.lower(), "system") if known is None else known


class ImageSource(TypedDict, total=False):
    """Where an image is; ale.md 1.5."""

    type: Literal["path", "url", "base64"]
    path: str | None
    """Set when `type` is `path`; relative to the run directory."""
    url: str | None
    data: str | None
    """Set when `type` is `base64`: raw base64 or a `data:` URL."""
    media_type: str
    alt_text: str | None


class ContentPart(TypedDict, total=False):
    """A text or an image; ale.md 1.5."""

    type: Required[Literal["text", "image"]]
    text: str | None
    """Set if and only if `type` is `text`."""
    image: ImageSource | None
    """Set if and only if `type` is `image`."""


class ToolCall(TypedDict, total=False):
    """A call that a step makes; ale.md 1.4."""

    id: str
    name: Required[str]
    arguments: dict[str, Any]


class ToolResult(TypedDict, total=False):
    """The answer to a call of an earlier step; ale.md 1.4."""

    tool_call_id: Required[str]
    content: list[ContentPart]
    is_error: bool


class Observation(TypedDict, total=False):
    """What the environment replied; ale.md 1.4."""

    results: list[ToolResult]
    error: str | None


class StepMetrics(TypedDict, total=False):
    """LLM accounting of one step; ale.md 1.6."""

    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost_usd: float | None
    duration_ms: int | None


class FinalMetrics(TypedDict, total=False):
    """Totals and outcome of a trajectory; ale.md 1.6."""

    total_steps: int
    total_input_tokens: int
    total_output_tokens: int
    total_cache_read_tokens: int
    total_cache_creation_tokens: int
    total_cost_usd: float
    total_duration_ms: int
    reward: float | None
    status: Literal["completed", "timeout", "failed"]


class Step(TypedDict, total=False):
    """One entry of the interaction; ale.md 1.3."""

    step_id: Required[int]
    """Ordinal position, from 1."""
    timestamp: str
    source: Required[Literal["system", "user", "agent", "environment"]]
    message: str | list[ContentPart] | None
    reasoning: str | None
    tool_calls: list[ToolCall]
    observation: Observation | None
    metrics: StepMetrics | None
    extra: dict[str, Any]


class AgentInfo(TypedDict, total=False):
    """Who produced the trajectory; ale.md 1.2."""

    name: Required[str]
    version: str | None
    model: str | None
    extra: dict[str, Any]


class Trajectory(TypedDict, total=False):
    """One agent, one task variant, one episode; ale.md 1.1."""

    schema_version: Required[Literal["ALE-v1.0"]]
    episode_id: Required[str]
    agent: Required[AgentInfo]
    task_path: Required[str]
    variant_index: Required[int]
    instruction: str
    steps: list[Step]
    final_metrics: FinalMetrics | None
    started_at: str
    ended_at: str | None
    subagent_trajectories: list["Trajectory"]
    continued_trajectory_ref: str | None
    """The previous chunk of a split episode."""
    extra: dict[str, Any]


class Kind(NamedTuple):
    """One kind of object: its members, the defaults of 1.1 to 1.6, and which members are floats."""

    shape: Shape
    defaults: Mapping[str, Json]
    """By key, None where a key has no default; in the order of the tables."""
    floats: tuple[str, ...] = ()

    def complete(self, value: Mapping[str, Json]) -> dict[str, Json]:
        """Return *value* with every key, in the order of the tables."""
        return {
            key: value[key] if key in value else copy(default)
            for key, default in self.defaults.items()
        }


def _kind(model: Any, floats: tuple[str, ...] = (), **defaults: Json) -> Kind:
    shape = Shape.of(model)
    return Kind(shape, {key: defaults.get(key) for key in shape.types}, floats)


TRAJECTORY = _kind(Trajectory, instruction="", steps=[], subagent_trajectories=[], extra={})
AGENT = _kind(AgentInfo, extra={})
STEP = _kind(Step, tool_calls=[], extra={})
CALL = _kind(ToolCall, arguments={})
OBSERVATION = _kind(Observation, results=[])
RESULT = _kind(ToolResult, content=[], is_error=False)
PART = _kind(ContentPart)
IMAGE = _kind(ImageSource, type="path", media_type="image/png")
STEP_METRICS = _kind(StepMetrics, ("cost_usd",))
FINAL_METRICS = _kind(
    FinalMetrics,
    ("total_cost_usd", "reward"),
    total_steps=0,
    total_input_tokens=0,
    total_output_tokens=0,
    total_cache_read_tokens=0,
    total_cache_creation_tokens=0,
    total_cost_usd=0.0,
    total_duration_ms=0,
    status="completed",
)

TOTALS = tuple(key for key in FINAL_METRICS.defaults if key.startswith("total_"))
"""The seven totals of final metrics."""

PAYLOADS = {"path": "path", "url": "url", "base64": "data"}
"""The key that an image of each type has its payload under."""
