"""The difference of two elements, as the operations of a patch.

Long strings that the plain element has are not stored again: the patch copies them. Source: carrier.md 4.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from hub import pointer as pointers
from hub.errors import MISSING, Json
from hub.patch import MAX_OPERATIONS, MAX_TOKENS, Budget, Operation
from hub.residuals import equal

LONG = 128
"""Characters from which a string is shared."""


def difference(
    plain: dict[str, Json], intended: dict[str, Json], budget: Budget
) -> list[Operation]:
    """Return the operations that make *intended* of *plain*; empty when they are equal.

    What they copy is taken from *budget*.
    """
    operations: list[Operation] = []
    _compare_objects(plain, intended, "", operations)
    if len(operations) <= MAX_OPERATIONS:
        operations = _share(plain, intended, operations, budget)
        if len(operations) <= MAX_OPERATIONS:
            return operations
    return list(_by_member(plain, intended))


def _by_member(plain: dict[str, Json], intended: dict[str, Json]) -> Iterator[Operation]:
    """Yield one operation for each member that differs: the way out of a patch that would be too long."""
    for key in sorted(plain.keys() | intended.keys()):
        before, after = plain.get(key, MISSING), intended.get(key, MISSING)
        if not equal(before, after):
            path = f"/{pointers.escape(key)}"
            if after is MISSING:
                yield {"op": "remove", "path": path}
            else:
                yield {
                    "op": "add" if before is MISSING else "replace",
                    "path": path,
                    "value": after,
                }


# Comparing: carrier.md 4.3. Two frames a level, and no more levels than a pointer may have tokens.


def _compare_objects(
    before: dict[str, Json], after: dict[str, Json], path: str, operations: list[Operation]
) -> None:
    keys = [key for key, value in after.items() if before.get(key, MISSING) is not value]
    if not before.keys() <= after.keys():
        keys.extend(before.keys() - after.keys())
    keys.sort()
    for key in keys:
        at = f"{path}/{pointers.escape(key)}"
        if key not in after:
            operations.append({"op": "remove", "path": at})
        elif key not in before:
            operations.append({"op": "add", "path": at, "value": after[key]})
        else:
            _compare(before[key], after[key], at, operations)


def _compare_arrays(
    before: list[Json], after: list[Json], path: str, operations: list[Operation]
) -> None:
    both = min(len(before), len(after))
    for index in range(both):
        if before[index] is not after[index]:
            _compare(before[index], after[index], f"{path}/{index}", operations)
    operations.extend(
        {"op": "remove", "path": f"{path}/{index}"}
        for index in range(len(before) - 1, both - 1, -1)
    )
    operations.extend(
        {"op": "add", "path": f"{path}/{index}", "value": after[index]}
        for index in range(both, len(after))
    )


def _compare(before: Json, after: Json, path: str, operations: list[Operation]) -> None:
    """Add what differs at *path* to *operations*."""
    kind = type(before)
    if kind is type(after):
        if kind is not dict and kind is not list:
            if before == after:
                return
        elif path.count("/") >= MAX_TOKENS:
            if equal(before, after):
                return
        elif kind is list or not _is_replaced_whole(before, after):
            start = len(operations)
            compare = _compare_objects if kind is dict else _compare_arrays
            compare(before, after, path, operations)
            number = len(operations) - start
            if number and _has_at_most(number, after):
                operations[start:] = [{"op": "replace", "path": path, "value": after}]
            return
    operations.append({"op": "replace", "path": path, "value": after})


def _is_replaced_whole(before: dict[str, Json], after: dict[str, Json]) -> bool:
    """Tell whether the keys alone say that *after* has no more leaves than there would be operations."""
    one_sided = len(before.keys() ^ after.keys())
    return bool(one_sided) and _has_at_most(one_sided, after)


def _has_at_most(number: int, value: Json) -> bool:
    """Tell whether *value*, an object or array, has at most *number* leaves: scalars and empty containers."""
    if len(value) > number:
        return False
    todo = [value]
    for one in todo:  # grows on the way
        kind = type(one)
        if one and (kind is dict or kind is list):
            todo.extend(one.values() if kind is dict else one)
        else:
            number -= 1
            if number < 0:
                return False
    return True


# Long strings: carrier.md 4.4


class _Place(NamedTuple):
    """A place where a long string stands."""

    pointer: str
    in_array: bool
    """Whether it is an element of an array."""
    operation: int
    """Number of the operation in whose value it is."""


_Places = dict[str, list[_Place]]
"""Places by their text, in the order of its first one."""


def _share(
    plain: dict[str, Json],
    intended: dict[str, Json],
    operations: list[Operation],
    budget: Budget,
) -> list[Operation]:
    """Return *operations* with every long string copied that is there already."""
    places = _places(intended, operations)
    if not places:
        return operations
    homes = _homes(plain, places)
    targets: _Places = {}
    for text, found in places.items():
        wanted = found if text in homes else found[1:]
        if wanted and budget.take(len(text) * len(wanted)):
            targets[text] = wanted
    if not targets:
        return operations
    replaced = {operation["path"] for operation in operations}
    replaced.update(target.pointer for wanted in targets.values() for target in wanted)
    parked, copies = _copies(places, homes, targets, replaced)
    return [*parked, *_emptied(operations, targets), *copies]


def _places(intended: dict[str, Json], operations: Sequence[Operation]) -> _Places:
    """Return where long strings stand in the values of *operations*, in order."""
    places: _Places = {}
    for number, operation in enumerate(operations):
        value: Json = operation.get("value")
        kind = type(value)
        if kind is str and len(value) >= LONG:
            in_array = _is_element(intended, operation["path"])
            places.setdefault(value, []).append(_Place(operation["path"], in_array, number))
        elif (kind is dict or kind is list) and _has_long_string(value):
            for text, pointer, in_array in _long_strings(value, operation["path"]):
                places.setdefault(text, []).append(_Place(pointer, in_array, number))
    return places


def _homes(plain: dict[str, Json], places: _Places) -> dict[str, str]:
    """Return the first place in *plain* of each text that is there."""
    homes: dict[str, str] = {}
    if _has_long_string(plain, set(map(len, places))):
        for text, pointer, _ in _long_strings(plain, ""):
            if text in places:
                homes.setdefault(text, pointer)
    return homes


def _is_element(intended: Json, path: str) -> bool:
    """Tell whether what *intended* has at *path* is an element of an array."""
    return isinstance(pointers.get(intended, pointers.split(path)[:-1]), list)


_ANY_LENGTH = range(LONG, sys.maxsize)


def _has_long_string(value: Json, lengths: Container[int] = _ANY_LENGTH) -> bool:
    """Tell whether *value*, an object or array, has a string of one of *lengths*, at any depth."""
    todo = [value]
    for one in todo:  # grows on the way
        for member in one.values() if type(one) is dict else one:
            kind = type(member)
            if kind is str:
                if len(member) in lengths:
                    return True
            elif kind is dict or kind is list:
                todo.append(member)
    return False


def _long_strings(value: Json, pointer: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each long string of *value* with its pointer, and whether it is in an array, as far as pointers may go.

    In document order, keys sorted.
    """
    todo = [(value, pointer, False)]
    while todo:
        value, pointer, in_array = todo.pop()
        if type(value) is str:
            yield value, pointer, in_array
        elif pointer.count("/") < MAX_TOKENS:
            is_array = type(value) is list
            members = enumerate(value) if is_array else sorted(value.items())
            inner = [
                (member, f"{pointer}/{pointers.escape(key)}", is_array)
                for key, member in members
                if type(member) in (dict, list) or (type(member) is str and len(member) >= LONG)
            ]
            todo.extend(reversed(inner))


def _copies(
    places: _Places, homes: dict[str, str], targets: _Places, replaced: set[str]
) -> tuple[list[Operation], list[Operation]]:
    """Return the operations that park homes which are *replaced*, and those that copy each string to its targets."""
    parked: list[Operation] = []
    copies: list[Operation] = []
    for number, (text, found) in enumerate(places.items()):
        wanted = targets.get(text, [])
        home = homes.get(text, found[0].pointer)
        is_parked = bool(wanted) and text in homes and _is_replaced(home, replaced)
        if is_parked:
            parked.append({"op": "copy", "from": home, "path": f"/${number}"})
            home = f"/${number}"
        for target in wanted:
            kind = "move" if is_parked and target is wanted[-1] else "copy"
            copies.append({"op": kind, "from": home, "path": target.pointer})
            if target.in_array:
                # The copy was inserted before the empty string that stood there.
                array, _, index = target.pointer.rpartition("/")
                copies.append({"op": "remove", "path": f"{array}/{int(index) + 1}"})
    return parked, copies


def _is_replaced(pointer: str, replaced: set[str]) -> bool:
    """Tell whether *pointer*, or a prefix of it, is one of *replaced*."""
    while pointer:
        if pointer in replaced:
            return True
        pointer = pointer.rpartition("/")[0]
    return False


def _emptied(operations: Sequence[Operation], targets: _Places) -> Iterator[Operation]:
    """Yield *operations* with `""` at each target; those that would only add one are left out."""
    by_operation: dict[int, list[_Place]] = {}
    for wanted in targets.values():
        for target in wanted:
            by_operation.setdefault(target.operation, []).append(target)
    for number, operation in enumerate(operations):
        emptied = by_operation.get(number)
        path = operation["path"]
        if emptied is None:
            yield operation
        elif emptied[0].pointer != path:
            places = [target.pointer[len(path) :] for target in emptied]
            yield {**operation, "value": _with_empty_strings(operation["value"], places)}
        elif emptied[0].in_array:
            yield {**operation, "value": ""}


def _with_empty_strings(value: Json, places: list[str]) -> Json:
    """Return a copy of *value* with `""` at *places*; what is not on the way there is shared."""
    copy = pointers.CopyOnWrite(value.copy())
    for place in places:
        *parents, token = pointers.split(place)
        holder = copy.container(parents)
        holder[token if isinstance(holder, dict) else int(token)] = ""
    return copy.root
