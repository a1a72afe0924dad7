"""Writing: Storylines, and parts of them, as wire JSON.

Short names in byte order, nothing that is not set, opaque values by reference. Other keys keep their order: what
a format writes as a text, the arguments of a call say, is then the text that it was. This needs no cattrs, which takes
longer to import than a small file to convert. Source: storyline.md 1, 1.1 and 2 to 5.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import attrs

from hub.errors import Json
from hub.residuals import counts
from hub.storyline import model
from hub.storyline.model import Parent, Storyline, Task, TaskResult, ToolCall, Turn
from hub.storyline.rules import SCHEMA_VERSION

Wire = dict[str, Json]


def to_wire(storyline: Storyline) -> Wire:
    """Return the wire JSON of *storyline*: short names, nothing that is not set (storyline.md 2)."""
    wire = root_to_wire(storyline)
    wire["turns"] = list(map(turn_to_wire, storyline.turns))
    sources = {name: one for name, one in storyline.unknown_fields.items() if one.fields}
    if sources:
        wire["unknown_fields"] = {
            "sources": {name: object_to_wire(residuals) for name, residuals in sources.items()}
        }
    counted = counts(storyline.unknown_fields)
    if counted:
        wire["unknown_key_counts"] = counted
    return dict(sorted(wire.items()))


def root_to_wire(storyline: Storyline) -> Wire:
    """Return the wire JSON of *storyline* without `turns` and residuals: the root element of carrier.md 1."""
    wire = {"schema_version": SCHEMA_VERSION, **object_to_wire(storyline)}
    prompt = storyline.prompt
    if prompt is not None and not (prompt.system or prompt.user):
        del wire["prompt"]
    return dict(sorted(wire.items()))


def turn_to_wire(turn: Turn) -> Wire:  # noqa: C901, PLR0912  # a line for each field: the place where most time goes
    """Return the wire JSON of one turn."""
    wire: Wire = {}
    if (is_copied := turn.is_copied_context) is not None:
        wire["copied"] = is_copied
    if (effort := turn.reasoning_effort) is not None:
        wire["effort"] = effort
    if (env := turn.env) is not None:
        wire["env"] = object_to_wire(env)
    if (extra := turn.extra) is not None:
        wire["extra"] = extra
    if (finished_at := turn.finished_at) is not None:
        wire["finished_at"] = finished_at
    wire["id"] = turn.turn_id
    if (kind := turn.kind) is not None:
        wire["kind"] = kind
    if (latency := turn.latency_ms) is not None:
        wire["latency_ms"] = latency
    if (metrics := turn.metrics) is not None:
        wire["metrics"] = metrics
    if (model_name := turn.model_name) is not None:
        wire["model"] = model_name
    wire["msg"] = turn.message
    if (count := turn.llm_call_count) is not None:
        wire["nllm"] = count
    if (observation := turn.observation) is not None:
        wire["observation"] = observation
    if (prompt := turn.prompt) is not None:
        wire["prompt"] = object_to_wire(prompt)
    if (reasoning := turn.reasoning_content) is not None:
        wire["reason"] = reasoning
    wire["src"] = turn.source
    if (calls := turn.tool_calls) is not None:
        wire["tool_calls"] = [call_to_wire(call) for call in calls]
    if (timestamp := turn.timestamp) is not None:
        wire["ts"] = timestamp
    if (first := turn.ttft_ms) is not None:
        wire["ttft_ms"] = first
    return wire


def call_to_wire(call: ToolCall) -> Wire:
    """Return the wire JSON of one tool call."""
    wire: Wire = {"args": call.arguments}
    if (duration := call.duration_ms) is not None:
        wire["duration_ms"] = duration
    if (extra := call.extra) is not None:
        wire["extra"] = extra
    wire["fn"] = call.function_name
    if (kind := call.kind) is not None:
        wire["kind"] = kind
    if (response := call.response) is not None:
        wire["response"] = object_to_wire(response)
    if (result := call.result) is not None:
        wire["result"] = result
    wire["tcid"] = call.tool_call_id
    return wire


def object_to_wire(value: Any) -> Wire:
    """Return the wire JSON of an object of the model; of a Storyline its root only."""
    kind: Any = type(value)
    values, keys, absent, typed, finish = _layout(kind)
    wire: Wire = {
        key: member
        for key, member, left_out in zip(keys, values(value), absent, strict=True)
        if member is not left_out
    }
    for key in typed:
        member = wire.get(key)
        if member:
            are_many = type(member) is list
            wire[key] = list(map(object_to_wire, member)) if are_many else object_to_wire(member)
    return wire if finish is None else finish(value, wire)


_CLASSES = frozenset(
    one for one in vars(model).values() if isinstance(one, type) and attrs.has(one)
)
_REQUIRED = object()


class _Layout(NamedTuple):
    """How an object of one class is written."""

    values: Callable[[Any], tuple[Any, ...]]
    """Gets the value of each field."""
    keys: tuple[str, ...]
    absent: tuple[object, ...]
    """What is left out; for a field that must be there a value that nothing is."""
    typed: tuple[str, ...]
    """Keys of the fields that hold objects of the model, or lists of them."""
    finish: Callable[[Any, Wire], Wire] | None


@cache
def _layout(kind: Any) -> _Layout:
    """Return how an object of that *kind* is written."""
    named = (
        (field.metadata.get("wire", field.name), field)
        for field in attrs.fields(kind)
        if field.name not in _NOT_IN_ROOT
    )
    fields = [
        (field, key)
        for key, field in sorted((one for one in named if one[0] is not None), key=itemgetter(0))
    ]
    names = [field.name for field, _ in fields]
    return _Layout(
        # Of one name the getter gives no tuple.
        attrgetter(*names) if len(names) > 1 else lambda one: (getattr(one, names[0]),),
        tuple([key for _, key in fields]),
        tuple([_REQUIRED if field.default is attrs.NOTHING else None for field, _ in fields]),
        tuple([key for field, key in fields if _holds_objects(field.type)]),
        _FINISH.get(kind),
    )


def _holds_objects(annotation: object) -> bool:
    """Tell whether a field with that *annotation*, a type or its text, holds objects of the model or lists of them."""
    return not _NAMES.isdisjoint(re.findall(r"\w+", str(annotation)))


_NAMES = frozenset(one.__name__ for one in _CLASSES)
_NOT_IN_ROOT = ("turns", "unknown_fields")
"""Fields of a Storyline that `to_wire` writes: no other class has them."""


def _finish_parent(_: Parent, wire: Wire) -> Wire:
    """Leave out the usual relation."""
    return {key: member for key, member in wire.items() if (key, member) != ("rel", "spawn")}


def _finish_task(_: Task, wire: Wire) -> Wire:
    """Leave out parts without a member."""
    return {key: part for key, part in wire.items() if part}


def _finish_result(result: TaskResult, wire: Wire) -> Wire:
    """Add the members that no format is known to have."""
    extras = result.extras.items()
    return {**wire, **{key: member for key, member in extras if member is not None}}


_FINISH: dict[type, Callable[[Any, Wire], Wire]] = {
    Parent: _finish_parent,
    Task: _finish_task,
    TaskResult: _finish_result,
}
