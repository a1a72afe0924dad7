"""ATIF: the data model of a trajectory, the union of versions 1.0 to 1.8, with the types that Harbor's models ask for.

Every object is closed for Harbor. A document stays the JSON that was read; the `TypedDict`s say what may be in it, the
`Shape`s ask whether it is so. A value of another type in one of the `OPAQUE` slots is kept where it is, anywhere else
it is set aside.

Source: atif.md 1 and 6.3.
"""

import re
from typing import Any, Literal, Required, TypedDict

from hub import Json, Shape

SOURCE = "atif"
"""Name of the format in `origin.format` and `unknown_fields`."""

VERSIONS = tuple(f"ATIF-v1.{minor}" for minor in range(9))
"""What Harbor accepts."""
WRITTEN = "ATIF-v1.7"
WITH_AUDIO = "ATIF-v1.8"
"""Version of a conformed node, without and with an audio part: atif.md 6.2."""

is_version = re.compile(r"ATIF-v1\.(?:0|[1-9]\d*)", re.ASCII).fullmatch
"""Whether a text is a version that is read."""

SOURCES = ("system", "user", "agent")

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
AUDIO_TYPES = frozenset(
    {
        "audio/wav",
        "audio/mpeg",
        "audio/mp4",
        "audio/aac",
        "audio/ogg",
        "audio/flac",
        "audio/webm",
        "audio/aiff",
    }
)
_AUDIO_ALIASES = {
    **dict.fromkeys(("audio/mp3", "audio/mpga", "audio/x-mpeg"), "audio/mpeg"),
    **dict.fromkeys(("audio/x-wav", "audio/wave", "audio/vnd.wave"), "audio/wav"),
    **dict.fromkeys(("audio/x-m4a", "audio/m4a"), "audio/mp4"),
    "audio/x-aac": "audio/aac",
    "audio/x-flac": "audio/flac",
    "audio/x-aiff": "audio/aiff",
}
"""Other names of these types that Harbor reads."""


def audio_type(media_type: Json) -> str | None:
    """Return the audio type that *media_type* names, as Harbor reads it; None if it names none."""
    if type(media_type) is not str:
        return None
    known = media_type.strip().lower()
    known = _AUDIO_ALIASES.get(known, known)
    return known if known in AUDIO_TYPES else None


class ImageSource(TypedDict):
    """Where an image is."""

    media_type: str
    """One of `IMAGE_TYPES`."""
    path: str
    """A path or a URL."""


class AudioSource(TypedDict, total=False):
    """Where a recording is; since 1.8."""

    media_type: Required[str]
    """One of `AUDIO_TYPES`."""
    path: Required[str]
    duration_sec: float | None
    """Not below 0."""


class ContentPart(TypedDict, total=False):
    """A text, an image or a recording; since 1.6."""

    type: Required[Literal["text", "image", "audio"]]
    text: str | None
    """Set if and only if `type` is `text`."""
    source: dict[str, Any] | None
    """Set if and only if `type` is another one."""


class ToolCall(TypedDict, total=False):
    """A call that a step makes."""

    tool_call_id: Required[str]
    function_name: Required[str]
    arguments: Required[dict[str, Any]]
    extra: dict[str, Any] | None


class SubagentTrajectoryRef(TypedDict, total=False):
    """Which trajectory a call was delegated to; one of the first two is set."""

    trajectory_id: str | None
    trajectory_path: str | None
    session_id: str | None
    extra: dict[str, Any] | None


class ObservationResult(TypedDict, total=False):
    """What one call, or the environment, gave back."""

    source_call_id: str | None
    """Names a call of the same step."""
    content: str | list[ContentPart] | None
    subagent_trajectory_ref: list[SubagentTrajectoryRef] | None
    extra: dict[str, Any] | None


class Observation(TypedDict):
    """What came back in a step."""

    results: list[Any]


class Metrics(TypedDict, total=False):
    """LLM accounting of one step."""

    prompt_tokens: int | None
    """All of them, cached ones among them."""
    completion_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    prompt_token_ids: list[int] | None
    completion_token_ids: list[int] | None
    logprobs: list[float] | None
    extra: dict[str, Any] | None


class FinalMetrics(TypedDict, total=False):
    """Totals of a trajectory."""

    total_prompt_tokens: int | None
    total_completion_tokens: int | None
    total_cached_tokens: int | None
    total_cost_usd: float | None
    total_steps: int | None
    """Not below 0."""
    extra: dict[str, Any] | None


class Step(TypedDict, total=False):
    """One entry of the interaction."""

    step_id: Required[int]
    """Its position, from 1."""
    timestamp: str | None
    source: Required[str]
    """One of `SOURCES`."""
    model_name: str | None
    reasoning_effort: str | float | None
    message: Required[str | list[ContentPart]]
    reasoning_content: str | None
    tool_calls: list[Any] | None
    observation: dict[str, Any] | None
    metrics: dict[str, Any] | None
    is_copied_context: bool | None
    llm_call_count: int | None
    """0 on an agent step: no model was asked, and the step has neither metrics nor reasoning."""
    extra: dict[str, Any] | None


class Agent(TypedDict, total=False):
    """Who acted."""

    name: Required[str]
    version: Required[str]
    model_name: str | None
    tool_definitions: list[dict[str, Any]] | None
    extra: dict[str, Any] | None


class Trajectory(TypedDict, total=False):
    """One agent's run; its sub-agents' runs are nested in it."""

    schema_version: str
    session_id: str | None
    """Names the run, which several trajectories may belong to."""
    trajectory_id: str | None
    """Names the trajectory; needed on a nested one, unique among its siblings."""
    agent: Required[dict[str, Any]]
    steps: Required[list[Any]]
    notes: str | None
    final_metrics: dict[str, Any] | None
    continued_trajectory_ref: str | None
    """The file that the trajectory goes on in."""
    extra: dict[str, Any] | None
    subagent_trajectories: list[Any] | None


TRAJECTORY = Shape.of(Trajectory)
AGENT = Shape.of(Agent)
STEP = Shape.of(Step)
CALL = Shape.of(ToolCall)
OBSERVATION = Shape.of(Observation)
RESULT = Shape.of(ObservationResult)
REFERENCE = Shape.of(SubagentTrajectoryRef)
METRICS = Shape.of(Metrics)
FINAL_METRICS = Shape.of(FinalMetrics)
PART = Shape.of(ContentPart)
IMAGE_SOURCE = Shape.of(ImageSource)
AUDIO_SOURCE = Shape.of(AudioSource)

OPAQUE = frozenset(
    {
        "message",
        "reasoning_effort",
        "metrics",
        "final_metrics",
        "tool_definitions",
        "arguments",
        "extra",
    }
)
"""Slots of trajectory, agent, step and call that hold any value: atif.md 1.2."""

AGENT_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
"""What only an agent step may have."""
LLM_ONLY = ("metrics", "reasoning_content")
"""What a step without a model call may not have."""

NUMBER_LISTS = {
    "prompt_token_ids": (frozenset({int}), "an array of integers"),
    "completion_token_ids": (frozenset({int}), "an array of integers"),
    "logprobs": (frozenset({int, float}), "an array of numbers"),
}
"""Types of the elements of the arrays in metrics."""

CHILDREN = "subagent_trajectories"
ENVELOPE = "_storyline"
PLACES = ("/extra/_storyline", "/_storyline")
"""Where a node may hold its envelope: atif.md 6.1."""


def element_types(values: Json) -> set[type]:
    """Return the types of the elements of *values*; of what is no array, none."""
    return set(map(type, values)) if type(values) is list else set()
