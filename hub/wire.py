"""Writing: Storylines, and parts of them, as wire JSON.

Short names, nothing that is not set, opaque values by reference. This needs no cattrs, which takes longer to import
than a small file to convert. Source: storyline.md 1.1 and 2 to 5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

import attrs

from hub.errors import Json
from hub.residuals import counts
from hub.storyline import model
from hub.storyline.model import Parent, Storyline, Task, TaskResult, Turn
from hub.storyline.rules import SCHEMA_VERSION

Wire = dict[str, Json]


def to_wire(storyline: Storyline) -> Wire:
    """Return the wire JSON of *storyline*: short names, nothing that is not set (storyline.md 2)."""
    wire: Wire = {"schema_version": SCHEMA_VERSION, **_object(storyline)}
    prompt = storyline.prompt
    if prompt is not None and not (prompt.system or prompt.user):
        del wire["prompt"]
    unknown = wire.pop("unknown_fields", {})
    sources = {name: one for name, one in unknown.items() if one.fields}
    if sources:
        wire["unknown_fields"] = {
            "sources": {name: _object(residuals) for name, residuals in sources.items()}
        }
    counted = counts(storyline.unknown_fields)
    if counted:
        wire["unknown_key_counts"] = counted
    return wire


def root_to_wire(storyline: Storyline) -> Wire:
    """Return the wire JSON of *storyline* without `turns` and residuals: the root element of carrier.md 1."""
    wire = to_wire(attrs.evolve(storyline, turns=[], unknown_fields={}))
    del wire["turns"]
    return wire


def turn_to_wire(turn: Turn) -> Wire:
    """Return the wire JSON of one turn."""
    return _object(turn)


def _object(value: Any) -> Wire:
    kind: Any = type(value)
    values, members = _layout(kind)
    wire: Wire = {}
    for member, (key, absent) in zip(values(value), members, strict=True):
        if member is absent:
            continue
        inner = type(member)
        if inner in _CLASSES:
            wire[key] = _object(member)
        elif inner is list and member and type(member[0]) in _CLASSES:
            wire[key] = list(map(_object, member))
        else:
            wire[key] = member
    return _FINISH[kind](value, wire) if kind in _FINISH else wire


_CLASSES = frozenset(
    one for one in vars(model).values() if isinstance(one, type) and attrs.has(one)
)
_REQUIRED = object()


@cache
def _layout(kind: Any) -> tuple[Callable[[Any], tuple[Any, ...]], list[tuple[str, object]]]:
    """Return what gets the values of an object of that *kind*, and the key of each, with the value that is left out."""
    fields = [
        (field, key)
        for field in attrs.fields(kind)
        if (key := field.metadata.get("wire", field.name)) is not None
    ]
    names = [field.name for field, _ in fields]
    # Of one name the getter gives no tuple.
    values = attrgetter(*names) if len(names) > 1 else lambda one: (getattr(one, names[0]),)
    absent = [_REQUIRED if field.default is attrs.NOTHING else None for field, _ in fields]
    return values, [(key, one) for (_, key), one in zip(fields, absent, strict=True)]


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
