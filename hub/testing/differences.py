"""Where two JSON values differ, exactly: types and the sign of zero count, the order of members does not."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hub import pointer as pointers
from hub.errors import MISSING, Json, show


class Difference(NamedTuple):
    """One place where a value is not what it was."""

    pointer: str
    before: Json
    after: Json

    def __str__(self) -> str:
        before, after = show(self.before), show(self.after)
        if before == after:
            before, after = (f"{type(one).__name__} {one!r}" for one in (self.before, self.after))
        return f"at {self.pointer or 'the root'} {before} became {after}"


def differences(before: Json, after: Json, at: str = "") -> Iterator[Difference]:
    """Yield where *after* is not exactly *before*."""
    if type(before) is not type(after):
        yield Difference(at, before, after)
    elif isinstance(before, dict):
        for key in {**before, **after}:
            one, other = before.get(key, MISSING), after.get(key, MISSING)
            yield from differences(one, other, f"{at}/{pointers.escape(key)}")
    elif isinstance(before, list):
        for index in range(max(len(before), len(after))):
            one = before[index] if index < len(before) else MISSING
            other = after[index] if index < len(after) else MISSING
            yield from differences(one, other, f"{at}/{index}")
    elif before != after or _is_negative_zero(before) != _is_negative_zero(after):
        yield Difference(at, before, after)


def _is_negative_zero(value: Json) -> bool:
    return type(value) is float and value == 0 and math.copysign(1, value) < 0


def without(document: Json, places: Iterable[str]) -> Json:
    """Return a copy of *document* without the members at *places*."""
    kept = copy.deepcopy(document)
    for place in filter(None, places):
        *parents, key = pointers.split(place)
        try:
            holder = pointers.get(kept, parents)
        except LookupError:
            continue
        if isinstance(holder, dict):
            holder.pop(key, None)
    return kept


def objects(document: Json) -> list[tuple[str, dict[str, Json]]]:
    """Return pointer and value of every object of *document*, the outer ones first."""
    found = []
    todo: list[tuple[str, Json]] = [("", document)]
    for at, value in todo:  # grows on the way
        if isinstance(value, dict):
            found.append((at, value))
            todo += [(f"{at}/{pointers.escape(key)}", member) for key, member in value.items()]
        elif isinstance(value, list):
            todo += [(f"{at}/{index}", element) for index, element in enumerate(value)]
    return found


def members(document: Json, most: int) -> list[str]:
    """Return pointers to at most *most* members of the objects of *document*, spread over all of it."""
    found = [f"{at}/{pointers.escape(key)}" for at, holder in objects(document) for key in holder]
    return found[:: 1 + len(found) // most]


def changed(document: Json, place: str, value: Json) -> Json:
    """Return *document* with *value* at *place*; all the rest is shared."""
    if not place:
        return value
    copied = pointers.CopyOnWrite(copy.copy(document))
    *parents, key = pointers.split(place)
    holder = copied.container(parents)
    holder[key if isinstance(holder, dict) else int(key)] = value
    return copied.root
