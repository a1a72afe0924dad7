"""The difference of two elements, as the operations of a patch.

Long strings that the plain element has are not stored again: the patch copies them. Source: carrier.md 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hub import pointer as pointers
from hub.errors import MISSING, Json
from hub.json import canonical
from hub.patch import MAX_OPERATIONS, MAX_TOKENS, Budget, Operation
from hub.residuals import equal

LONG = 128
"""Characters from which a string is shared."""


def difference(
    plain: dict[str, Json],
    intended: dict[str, Json],
    budget: Budget,
    *,
    spelling: bytes | None = None,
) -> list[Operation]:
    """Return the operations that make *intended* of *plain*; empty when they are equal.

    What they copy is taken from *budget*. *spelling* is the canonical JSON of *plain*, where that is at hand: it tells
    quickly which texts are not in there.
    """
    operations: list[Operation] = []
    _compare_objects(plain, intended, "", operations)
    if len(operations) <= MAX_OPERATIONS:
        places = _places(intended, operations)
        if places:
            homes = _homes(plain, places, canonical(plain) if spelling is None else spelling)
            operations = _share(operations, places, homes, budget)
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


# Comparing: carrier.md 4.3. Two frames a level, and no more levels than a pointer may have tokens. Each function adds
# what differs at a path to the operations, and returns a number of leaves that the second value has at least.


def _compare(before: Json, after: Json, path: str, operations: list[Operation]) -> int:
    kind = type(before)
    if kind is type(after):
        if kind is not dict and kind is not list:
            if before == after:
                return 1
        elif path.count("/") >= MAX_TOKENS:
            if equal(before, after):
                return 1
        elif kind is list or not _are_strangers(before, after):
            start = len(operations)
            compare = _compare_objects if kind is dict else _compare_arrays
            leaves = compare(before, after, path, operations)
            number = len(operations) - start
            if number and leaves <= number and _has_at_most(number, after):
                operations[start:] = [{"op": "replace", "path": path, "value": after}]
            return leaves
    operations.append({"op": "replace", "path": path, "value": after})
    return 1


def _compare_objects(
    before: dict[str, Json], after: dict[str, Json], path: str, operations: list[Operation]
) -> int:
    leaves = len(after)
    differing = [
        (key, old, new)
        for key, new in after.items()
        if (old := before.get(key, MISSING)) is not new
    ]
    if not before.keys() <= after.keys():
        differing.extend([(key, before[key], MISSING) for key in before.keys() - after.keys()])
    if len(differing) > 1:
        differing.sort()  # by key, of which none is there twice
    for key, old, new in differing:
        at = f"{path}/{key if key.isidentifier() else pointers.escape(key)}"
        if old is MISSING:
            operations.append({"op": "add", "path": at, "value": new})
        elif new is MISSING:
            operations.append({"op": "remove", "path": at})
        else:
            leaves += _compare(old, new, at, operations) - 1
    return leaves


def _compare_arrays(
    before: list[Json], after: list[Json], path: str, operations: list[Operation]
) -> int:
    leaves = len(after)
    both = min(len(before), leaves)
    for index in range(both):
        if before[index] is not after[index]:
            leaves += _compare(before[index], after[index], f"{path}/{index}", operations) - 1
    if len(before) > both:
        operations.extend(
            {"op": "remove", "path": f"{path}/{index}"}
            for index in range(len(before) - 1, both - 1, -1)
        )
    elif len(after) > both:
        operations.extend(
            {"op": "add", "path": f"{path}/{index}", "value": value}
            for index, value in enumerate(after[both:], start=both)
        )
    return leaves


def _are_strangers(before: dict[str, Json], after: dict[str, Json]) -> bool:
    """Tell whether two objects have no key in common, and *after* no more leaves than there would be operations."""
    if not before.keys().isdisjoint(after):
        return False
    number = len(before) + len(after)
    return number > 0 and _has_at_most(number, after)


def _has_at_most(number: int, value: Json) -> bool:
    """Tell whether *value*, an object or array, has at most *number* (1 or more) leaves: scalars, empty containers."""
    todo = [value]
    for one in todo:  # grows on the way
        members = one.values() if type(one) is dict else one
        inner = [member for member in members if type(member) in _CONTAINERS and member]
        number -= len(one) - len(inner)
        if number < 0:
            return False
        todo.extend(inner)
    return True


_CONTAINERS = (dict, list)


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
    operations: list[Operation], places: _Places, homes: dict[str, str], budget: Budget
) -> list[Operation]:
    """Return *operations* with every long string copied that is there already."""
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
        if type(value) is str:
            if len(value) >= LONG:
                in_array = _is_element(intended, operation["path"])
                places.setdefault(value, []).append(_Place(operation["path"], in_array, number))
        elif type(value) in _CONTAINERS and _has_long_text(value):
            for text, pointer, in_array in _long_strings(value, operation["path"]):
                places.setdefault(text, []).append(_Place(pointer, in_array, number))
    return places


def _homes(plain: dict[str, Json], places: _Places, spelling: bytes) -> dict[str, str]:
    """Return the first place in *plain* of each text that is there."""
    homes: dict[str, str] = {}
    if any(canonical(text[:_ENOUGH])[1:-1] in spelling for text in places):
        for text, pointer, _ in _long_strings(plain, ""):
            if text in places:
                homes.setdefault(text, pointer)
    return homes


_ENOUGH = 64
"""Characters by which a text is looked for: few are found faster."""


def _is_element(intended: Json, path: str) -> bool:
    """Tell whether what *intended* has at *path* is an element of an array."""
    return isinstance(pointers.get(intended, pointers.split(path)[:-1]), list)


def _has_long_text(value: Json) -> bool:
    """Tell whether *value*, an object or array, has a long string at any depth."""
    todo = [value]
    for one in todo:  # grows on the way
        for member in one.values() if type(one) is dict else one:
            kind = type(member)
            if kind is str:
                if len(member) >= LONG:
                    return True
            elif kind is dict or kind is list:
                todo.append(member)
    return False


def _long_strings(value: Json, pointer: str) -> list[tuple[str, str, bool]]:
    """Return each long string of *value*, an object or array, with its pointer, and whether it is in an array.

    In document order, keys sorted, and as far as pointers may go.
    """
    found: list[tuple[str, str, bool]] = []
    _find_long_strings(value, pointer, found)
    return found


def _find_long_strings(value: Json, pointer: str, found: list[tuple[str, str, bool]]) -> None:
    if pointer.count("/") >= MAX_TOKENS:
        return
    is_array = type(value) is list
    for key in range(len(value)) if is_array else sorted(value):
        member = value[key]
        if type(member) is str:
            if len(member) >= LONG:
                found.append((member, f"{pointer}/{pointers.escape(key)}", is_array))
        elif type(member) in _CONTAINERS:
            _find_long_strings(member, f"{pointer}/{pointers.escape(key)}", found)


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
