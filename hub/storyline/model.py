"""The Storyline, the model in the middle: one trajectory of one agent.

Attributes carry the long names of storyline.md 1.1; `wire` gives the JSON key where it is another. Every optional
attribute is None when it is not set, and what the specification calls absent (an empty `kind`, an empty `state`) is
None once it is in the model. Opaque values (messages, arguments, observations, metrics, extra) stay the JSON that was
read: they are shared, never copied and never changed.

Source: storyline.md 2 to 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any

from attrs import Attribute, Factory, define, field, fields
from attrs.setters import NO_OP

from hub.errors import Json

Timestamp = str | int | float
"""A time exactly as the source spells it: text with an offset, or Unix seconds (storyline.md 6)."""


def wire(key: str | None) -> dict[str, str | None]:
    """Name the JSON key of an attribute, where it is not its own name; None: it has none."""
    return {"wire": key}


def _text(value: str | None) -> str | None:
    """Return *value*, but None for `""`."""
    return value or None


def _value(value: Json) -> Json:
    """Return *value*, but None for `""` and `{}`."""
    return None if type(value) in _EMPTIABLE and not value else value


_EMPTIABLE = frozenset({str, dict})


class _Model:
    """Equal when all is equal, and shown as what is set.

    One for all classes: making a comparison and a text for each would be half of the time that importing takes.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        compared = _compared(type(self))  # type: ignore[arg-type]  # a class has a hash
        return bool(compared(self) == compared(other))

    __hash__ = None  # type: ignore[assignment]  # what is in it may change

    def __repr__(self) -> str:
        members = ((field, getattr(self, field.name)) for field in _fields(type(self)))
        shown = ", ".join(
            f"{field.name}={value!r}" for field, value in members if value is not field.default
        )
        return f"{type(self).__name__}({shown})"


def _fields(kind: Any) -> Iterable[Attribute[Any]]:
    found: Iterable[Attribute[Any]] = fields(kind)
    return found


@cache
def _compared(kind: Any) -> Callable[[object], object]:
    """Return what gets everything of an object of that *kind* that is compared."""
    return attrgetter(*(field.name for field in _fields(kind) if field.eq))


@define(eq=False, repr=False, kw_only=True)
class Agent(_Model):
    """Who acted; storyline.md 3.1."""

    agent_id: str = field(metadata=wire("id"))
    """Not empty."""
    name: str | None = None
    version: str | None = field(default=None, metadata=wire("ver"))
    model_name: str | None = field(default=None, metadata=wire("model"))
    tool_definitions: Json = field(default=None, metadata=wire("tools"))
    extra: Json = None


@define(eq=False, repr=False, kw_only=True)
class Origin(_Model):
    """Where the document came from; never an identity. storyline.md 3.2."""

    format: str
    """Source name of the format, such as `actf`; not empty."""
    schema_version: str | None = None
    document_id: str | None = None


@define(eq=False, repr=False, kw_only=True)
class Parent(_Model):
    """The trajectory that spawned this one; storyline.md 3.3."""

    session_id: str = field(metadata=wire("psid"))
    """Document id of the parent."""
    call_id: str | None = field(default=None, metadata=wire("scid"))
    """Id of the call that spawned this trajectory."""
    turn_id: int | None = field(default=None, metadata=wire("ptid"))
    """Id of the turn in the parent."""
    relation: str = field(default="spawn", metadata=wire("rel"))


@define(eq=False, repr=False, kw_only=True)
class Prompt(_Model):
    """System and user text; both `""` on a turn clears the document's prompt. storyline.md 3.5."""

    system: str | None = None
    """None beside a user text that is not empty."""
    user: str | None = None

    def __attrs_post_init__(self) -> None:
        # An empty member says nothing beside one that is not.
        if self.system and not self.user:
            self.user = None
        elif self.user and not self.system:
            self.system = None


@define(eq=False, repr=False, kw_only=True, on_setattr=NO_OP)
class Env(_Model):
    """The environment of a task or, as a delta, of a turn; storyline.md 3.6."""

    name: str | None = None
    endpoint: str | None = None
    env_id: str | None = field(default=None, metadata=wire("id"))
    event_type: str | None = None
    request_id: str | None = None
    state: dict[str, Any] | None = field(default=None, converter=_value)
    """Never empty."""


@define(eq=False, repr=False, kw_only=True)
class Llm(_Model):
    """Budget of a task; storyline.md 3.4."""

    k: int | None = None
    """How many attempts were allowed; above 0."""


@define(eq=False, repr=False, kw_only=True, on_setattr=NO_OP)
class TaskResult(_Model):
    """Outcome of a task; `null`, `""` and `{}` of a typed member mean absent. storyline.md 3.4."""

    correct: bool | None = None
    score: Json = field(default=None, converter=_value)
    max_score: Json = field(default=None, converter=_value)
    status: str | None = field(default=None, converter=_text)
    error: str | None = field(default=None, converter=_text)
    final_answer: Json = field(default=None, converter=_value)
    ground_truth: Json = field(default=None, converter=_value)
    artifacts: Json = field(default=None, converter=_value)
    extras: dict[str, Any] = field(factory=dict, metadata=wire(None))
    """Result extras: every other member of `task.result`, by its key; none of them is None."""


@define(eq=False, repr=False, kw_only=True)
class Task(_Model):
    """What was to be done and how it went; never wholly empty. storyline.md 3.4."""

    env: Env | None = None
    llm: Llm | None = None
    result: TaskResult | None = None


@define(eq=False, repr=False, kw_only=True)
class Response(_Model):
    """Execution state of a call; at least one member is set. storyline.md 5."""

    status: str | None = None
    exit_code: int | None = None


@define(eq=False, repr=False, kw_only=True, on_setattr=NO_OP)
class ToolCall(_Model):
    """One call of a tool, inside the turn that made it; storyline.md 5."""

    tool_call_id: str = field(metadata=wire("tcid"))
    """Name that a result refers back to; not empty, unique in the Storyline."""
    function_name: str = field(metadata=wire("fn"))
    """Not empty."""
    arguments: Json = field(metadata=wire("args"))
    """None is the JSON value `null`."""
    result: Json = None
    """Output body, where the source keeps it in the call."""
    duration_ms: int | None = None
    """Wall-clock time in milliseconds."""
    extra: Json = None
    kind: str | None = field(default=None, converter=_text)
    """Never `""`."""
    response: Response | None = None


@define(eq=False, repr=False, kw_only=True)
class Turn(_Model):
    """What one participant said, the calls it made, and what came back; storyline.md 4 and 5.1."""

    turn_id: int = field(metadata=wire("id"))
    """Unique in the Storyline; identifies, never orders."""
    source: str = field(metadata=wire("src"))
    """Who speaks: `user`, `agent`, `system`, `environment`, or any other text; not empty."""
    message: Json = field(metadata=wire("msg"))
    """Text, content parts or any JSON; None is the JSON value `null`."""
    kind: str | None = None
    timestamp: Timestamp | None = field(default=None, metadata=wire("ts"))
    """Start of the turn."""
    reasoning_content: str | None = field(default=None, metadata=wire("reason"))
    reasoning_effort: Json = field(default=None, metadata=wire("effort"))
    tool_calls: list[ToolCall] | None = None
    """An empty list differs from None."""
    observation: Json = None
    """By convention `{"results": [...], "error"?: string}`: storyline.md 5.1."""
    metrics: Json = None
    model_name: str | None = field(default=None, metadata=wire("model"))
    llm_call_count: int | None = field(default=None, metadata=wire("nllm"))
    is_copied_context: bool | None = field(default=None, metadata=wire("copied"))
    latency_ms: int | None = None
    ttft_ms: int | None = None
    extra: Json = None
    env: Env | None = None
    prompt: Prompt | None = None
    finished_at: Timestamp | None = None


@define(eq=False, repr=False, kw_only=True)
class Residuals(_Model):
    """Values of one source format that no Storyline field holds, by pointer; residuals.md 2."""

    source_document_id: str
    """Groups the Storylines that came out of one source document."""
    fields: dict[str, Any]


@define(eq=False, repr=False, kw_only=True)
class Storyline(_Model):
    """One trajectory of one agent; storyline.md 2."""

    session_id: str = field(metadata=wire("session"))
    """Not empty."""
    agent: Agent
    turns: list[Turn]
    """In the order of the trajectory; may be empty."""
    origin: Origin | None = None
    run_id: str | None = field(default=None, metadata=wire("run"))
    trajectory_id: str | None = field(default=None, metadata=wire("trajectory"))
    attempt_id: str | None = None
    parent: Parent | None = None
    child_ids: list[str] | None = field(default=None, metadata=wire("children"))
    """Document ids of the children; an empty list differs from None."""
    notes: str | None = None
    task: Task | None = None
    prompt: Prompt | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None
    final_metrics: Json = None
    continued_trajectory_ref: str | None = None
    extra: Json = None
    meta: Json = None
    unknown_fields: dict[str, Residuals] = Factory(dict)
    """Residuals by source name; sources without a field are left out. The counts are derived: residuals.md 4."""

    node: str = field(default="", eq=False, metadata=wire(None))
    """Pointer of this Storyline's node in the document it was read from; at run time only (carrier.md 2)."""

    @property
    def document_id(self) -> str:
        """Identity of the Storyline: `trajectory_id` if set and not empty, else `session_id` (storyline.md 8)."""
        return self.trajectory_id or self.session_id

    def is_from(self, source: str) -> bool:
        """Tell whether the document came from the format named *source*."""
        return self.origin is not None and self.origin.format == source
