"""Whether a Storyline has fields of the right types, asked for all turns together, column by column.

Types are checked where a Storyline is read. What a plugin made in Python is checked here, before it is written: that
takes a tenth of reading its JSON again, and no cattrs. Source: storyline.md 1 to 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import attrs

from hub.storyline.calls import GREATEST, LEAST
from hub.storyline.model import Storyline, Timestamp, Turn
from hub.storyline.rules import RESULT_MEMBERS
from hub.storyline.times import are_timestamps, is_timestamp


def is_typed(storyline: Storyline) -> bool:
    """Tell whether *storyline*, and what is in it, certainly has the types of the model; False says nothing."""
    if not _fit(Storyline, [storyline]):
        return False
    result = None if storyline.task is None else storyline.task.result
    # An extra of that name would be written in the place of a typed member.
    return result is None or RESULT_MEMBERS.isdisjoint(result.extras)


def are_typed(turns: Sequence[Turn]) -> bool:
    """Tell whether *turns*, and what is in them, certainly have the types of the model; False says nothing."""
    return _fit(Turn, turns)


def _fit(kind: Any, objects: Sequence[Any]) -> bool:
    if not objects:
        return True
    if set(map(type, objects)) != {kind}:
        return False
    for name, allowed, inner in _columns(kind):
        member = attrgetter(name)
        found = set(map(type, map(member, objects)))
        if not found <= allowed:
            return False
        if found == _NONE or (inner is None and int not in found and not allowed >= _TIME):
            continue
        values = [one for one in map(member, objects) if one is not None]
        if inner is not None:
            if not _fit_inside(inner, found, values):
                return False
        elif allowed >= _TIME:
            if not _are_times(values):
                return False
        elif int in found and (min(values) < LEAST or max(values) > GREATEST):
            return False
    return True


def _fit_inside(inner: Any, found: set[type], values: Sequence[Any]) -> bool:
    """Tell whether *values*, of the types *found*, hold objects of the class *inner* only, or are such objects."""
    if list in found:
        return _fit(inner, list(chain.from_iterable(values)))
    if dict in found:
        return _fit(str, list(chain.from_iterable(values))) and _fit(
            inner, [one for value in values for one in value.values()]
        )
    return _fit(inner, values)


def _are_times(values: Sequence[Any]) -> bool:
    texts = [value for value in values if type(value) is str]
    return are_timestamps(texts) and (
        len(texts) == len(values)
        or all(is_timestamp(one) for one in values if type(one) is not str)
    )


_Column = tuple[str, frozenset[Any], Any]
"""A field, the types that it may have, and the class of what it holds: itself, in a list, or in a mapping."""
_NONE = frozenset({NoneType})
_TIME = frozenset(get_args(Timestamp))


@cache
def _columns(kind: Any) -> Sequence[_Column]:
    """Return the fields of a class of the model; not those that may be any JSON."""
    columns: list[_Column] = []
    for name, hint in get_type_hints(kind).items() if attrs.has(kind) else ():
        members = get_args(hint) if NoneType in get_args(hint) else (hint,)
        if Any in members:
            continue
        allowed = frozenset(get_origin(one) or one for one in members)
        held = [inner for inner in map(_held, members) if inner is not None]
        columns.append((name, allowed, held[0] if held else None))
    return columns


def _held(hint: Any) -> Any:
    """Return the class of what a value of the type *hint* holds, or of which it is; None: that needs no second look."""
    *_, inner = get_args(hint) or (hint,)
    is_looked_at = attrs.has(inner) or get_origin(hint) is list
    return inner if is_looked_at else None
