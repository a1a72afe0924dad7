"""Whether turns have fields of the right types, asked for all of them together, column by column.

Types are checked where a Storyline is read. What a plugin made in Python is checked here, before it is written: that
takes a tenth of reading its JSON again. Source: storyline.md 1, 4 and 5.
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
from hub.storyline.model import Timestamp, Turn
from hub.storyline.times import are_timestamps, is_timestamp


def are_typed(turns: Sequence[Turn]) -> bool:
    """Tell whether *turns*, and what is in them, certainly have the types of the model; False says nothing."""
    return _fit(Turn, turns)


def _fit(kind: Any, objects: Sequence[Any]) -> bool:
    if not objects:
        return True
    if set(map(type, objects)) != {kind}:
        return False
    for name, allowed, inner in _columns(kind):
        column = list(map(attrgetter(name), objects))
        found = set(map(type, column))
        if not found <= allowed:
            return False
        if found == {NoneType}:
            continue
        if inner is not None:
            values = [value for value in column if value is not None]
            if not _fit(inner, list(chain.from_iterable(values)) if list in found else values):
                return False
        elif allowed == _TIME:
            if not _are_times([value for value in column if value is not None]):
                return False
        elif int in found:
            numbers = [value for value in column if value is not None]
            if min(numbers) < LEAST or max(numbers) > GREATEST:
                return False
    return True


def _are_times(values: Sequence[Any]) -> bool:
    texts = [value for value in values if type(value) is str]
    return are_timestamps(texts) and (
        len(texts) == len(values)
        or all(is_timestamp(one) for one in values if type(one) is not str)
    )


_Column = tuple[str, frozenset[Any], Any]
"""A field, the types that it may have, and the class of the objects that it holds, or a list of which."""
_TIME = frozenset({*get_args(Timestamp), NoneType})


@cache
def _columns(kind: Any) -> Sequence[_Column]:
    """Return the fields of a class of the model; not those that may be any JSON."""
    columns: list[_Column] = []
    for name, hint in get_type_hints(kind).items():
        members = get_args(hint) if NoneType in get_args(hint) else (hint,)
        if Any in members:
            continue
        allowed = frozenset(get_origin(one) or one for one in members)
        held = [one for each in members for one in (each, *get_args(each)) if attrs.has(one)]
        columns.append((name, allowed, held[0] if held else None))
    return columns
