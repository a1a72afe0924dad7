"""The difference of two turns: found on the objects, by identity first; their JSON is made where it differs only.

What comes out is what `hub.difference.compare` finds on their wire JSON. Source: carrier.md 4.1 and 4.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import attrs

from hub.difference import compare_arrays, compare_objects
from hub.errors import Json
from hub.patch import Operation
from hub.storyline.model import Env, Prompt, ToolCall, Turn
from hub.wire import call_to_wire, object_to_wire

Prompts = dict[int, tuple[Prompt, dict[str, Json]]]
"""Prompts by identity, with their wire JSON: neighbouring turns often share one."""


def compare_turns(plain: Turn, intended: Turn, prompts: Prompts) -> list[Operation]:
    """Return the operations that make the wire JSON of *intended* of that of *plain*; empty when they are equal.

    *prompts* is filled on the way.
    """
    operations: list[Operation] = []
    for path, before, after in zip(_PATHS, _values(plain), _values(intended), strict=True):
        if before is after:
            continue
        kind = type(before)
        if kind is type(after):
            if kind is dict:
                compare_objects(before, after, path, 1, operations)
                continue
            if kind is list:
                compare = _compare_calls if path == "/tool_calls" else compare_arrays
                compare(before, after, path, 1, operations)
                continue
            if kind is Prompt or kind is Env:
                wires = object_to_wire(before), _wire(after, prompts)
                compare_objects(*wires, path, 1, operations)
                continue
            if before == after:
                continue
            operations.append({"op": "replace", "path": path, "value": after})
        elif path == "/msg":
            # The one member that is there when it is None: as `null`.
            operations.append({"op": "replace", "path": path, "value": after})
        elif after is None:
            operations.append({"op": "remove", "path": path})
        else:
            op = "add" if before is None else "replace"
            operations.append({"op": op, "path": path, "value": _wire(after, prompts)})
    return operations


_FIELDS = sorted(
    (field.metadata.get("wire", field.name), field.name) for field in attrs.fields(Turn)
)
_PATHS = tuple(f"/{key}" for key, _ in _FIELDS)
_values = attrgetter(*(name for _, name in _FIELDS))


def _wire(value: Any, prompts: Prompts) -> Json:
    """Return the wire JSON of the value of a field."""
    kind = type(value)
    if kind is Prompt:
        known = prompts.get(id(value))
        if known is None:
            known = prompts[id(value)] = (value, object_to_wire(value))
        return known[1]
    if kind is Env:
        return object_to_wire(value)
    if kind is list and value and type(value[0]) is ToolCall:
        return list(map(call_to_wire, value))
    return value


_FEW = 2
"""Operations on a call that are fewer than it has leaves: id, function and arguments are always there."""


def _compare_calls(
    before: Sequence[ToolCall],
    after: Sequence[ToolCall],
    path: str,
    depth: int,
    operations: list[Operation],
) -> None:
    """Add what makes the calls *after* of those *before*."""
    found: list[Operation] = []
    if len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            if old is not new and not _compare_call(old, new, f"{path}/{index}", found):
                break
        else:
            operations.extend(found)
            return
    calls = list(map(call_to_wire, before)), list(map(call_to_wire, after))
    compare_arrays(*calls, path, depth, operations)


def _compare_call(
    before: ToolCall, after: ToolCall, path: str, operations: list[Operation]
) -> bool:
    """Add what makes the call *after* of *before*; False if that takes a look at their JSON."""
    start = len(operations)
    for key, old, new in zip(_CALL_PATHS, _call_values(before), _call_values(after), strict=True):
        if old is new:
            continue
        if type(old) is type(new):
            if type(old) in _OPAQUE or key == "/response":
                return False
            if old == new:
                continue
        elif key == "/response":
            return False
        if key == "/args":
            # null is a value here.
            op = "replace"
        elif new is None:
            operations.append({"op": "remove", "path": path + key})
            continue
        else:
            op = "add" if old is None else "replace"
        operations.append({"op": op, "path": path + key, "value": new})
    return len(operations) - start <= _FEW


_CALL_FIELDS = sorted(
    (field.metadata.get("wire", field.name), field.name) for field in attrs.fields(ToolCall)
)
_CALL_PATHS = tuple(f"/{key}" for key, _ in _CALL_FIELDS)
_call_values = attrgetter(*(name for _, name in _CALL_FIELDS))
_OPAQUE = (dict, list)
