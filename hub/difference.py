"""The difference of two elements, as the operations of a patch.

Long strings that the plain element has are not stored again: the patch copies them. Source: carrier.md 4.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    changes: list[_Change] = []
    _compare_objects(plain, intended, "", changes)
    if len(changes) <= MAX_OPERATIONS:
        operations = _share(plain, changes, budget)
        if len(operations) <= MAX_OPERATIONS:
            return operations
    return [change.operation() for change in _by_member(plain, intended)]


class _Change(NamedTuple):
    """An operation before long strings are shared."""

    op: str
    path: str
    value: Json = None
    in_array: bool = False
    """Whether the path ends in an array index."""

    def operation(self) -> Operation:
        if self.op == "remove":
            return {"op": self.op, "path": self.path}
        return {"op": self.op, "path": self.path, "value": self.value}


def _by_member(plain: dict[str, Json], intended: dict[str, Json]) -> Iterator[_Change]:
    """Yield one change for each member that differs: the way out of a patch that would be too long."""
    for key in sorted(plain.keys() | intended.keys()):
        before, after = plain.get(key, MISSING), intended.get(key, MISSING)
        if not equal(before, after):
            yield _change(f"/{pointers.escape(key)}", before, after)


def _change(path: str, before: Json, after: Json, *, in_array: bool = False) -> _Change:
    if after is MISSING:
        return _Change("remove", path, in_array=in_array)
    return _Change("add" if before is MISSING else "replace", path, after, in_array)


# Comparing: carrier.md 4.3. Two frames a level, and no more levels than a pointer may have tokens.


def _compare_objects(
    before: dict[str, Json], after: dict[str, Json], path: str, changes: list[_Change]
) -> None:
    differing = [key for key, value in after.items() if before.get(key, MISSING) is not value]
    differing.extend(key for key in before if key not in after)
    for key in sorted(differing):
        old, new = before.get(key, MISSING), after.get(key, MISSING)
        at = f"{path}/{pointers.escape(key)}"
        if old is MISSING or new is MISSING:
            changes.append(_change(at, old, new))
        else:
            _compare(old, new, at, changes)


def _compare_arrays(
    before: list[Json], after: list[Json], path: str, changes: list[_Change]
) -> None:
    both = min(len(before), len(after))
    for index in range(both):
        if before[index] is not after[index]:
            _compare(before[index], after[index], f"{path}/{index}", changes, in_array=True)
    changes.extend(
        _Change("remove", f"{path}/{index}", in_array=True)
        for index in range(len(before) - 1, both - 1, -1)
    )
    changes.extend(
        _Change("add", f"{path}/{index}", after[index], in_array=True)
        for index in range(both, len(after))
    )


def _compare(
    before: Json, after: Json, path: str, changes: list[_Change], *, in_array: bool = False
) -> None:
    """Add what differs at *path* to *changes*."""
    kind = type(before)
    if (
        kind is not type(after)
        or (kind is not dict and kind is not list)
        or path.count("/") >= MAX_TOKENS
    ):
        if not equal(before, after):
            changes.append(_Change("replace", path, after, in_array))
        return
    start = len(changes)
    compare = _compare_objects if kind is dict else _compare_arrays
    compare(before, after, path, changes)
    if len(changes) > start and not _has_more_leaves(after, len(changes) - start):
        changes[start:] = [_Change("replace", path, after, in_array)]


def _has_more_leaves(value: Json, number: int) -> bool:
    """Tell whether *value* has more than *number* leaves (scalars, empty containers); looks no further than that."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict | list) and one:
            todo.extend(one.values() if isinstance(one, dict) else one)
        else:
            number -= 1
            if number < 0:
                return True
    return False


# Long strings: carrier.md 4.4


class _Place(NamedTuple):
    """A place where a long string stands."""

    pointer: str
    in_array: bool
    """Whether it is an element of an array."""
    change: int
    """Number of the change in whose value it is."""


_Places = dict[str, list[_Place]]
"""Places by their text, in the order of its first one."""


def _share(plain: dict[str, Json], changes: list[_Change], budget: Budget) -> list[Operation]:
    """Return the operations of *changes*, with every long string that is there already copied."""
    places = _places(changes)
    if not places:
        return [change.operation() for change in changes]
    homes: dict[str, str] = {}
    for text, pointer, _ in _long_strings(plain, "", in_array=False):
        if text in places:
            homes.setdefault(text, pointer)
    targets: _Places = {}
    for text, found in places.items():
        wanted = found if text in homes else found[1:]
        if wanted and budget.take(len(text) * len(wanted)):
            targets[text] = wanted
    replaced = {change.path for change in changes}
    replaced.update(target.pointer for wanted in targets.values() for target in wanted)
    parked, copies = _copies(places, homes, targets, replaced)
    return [*parked, *_emptied(changes, targets), *copies]


def _places(changes: list[_Change]) -> _Places:
    """Return where long strings stand in the values of *changes*, in order."""
    places: _Places = {}
    for number, change in enumerate(changes):
        if type(change.value) in _MAY_HOLD_TEXT:
            found = _long_strings(change.value, change.path, in_array=change.in_array)
            for text, pointer, in_array in found:
                places.setdefault(text, []).append(_Place(pointer, in_array, number))
    return places


_MAY_HOLD_TEXT = frozenset({str, dict, list})


def _long_strings(value: Json, pointer: str, *, in_array: bool) -> Iterator[tuple[str, str, bool]]:
    """Yield each long string of *value* with its pointer, and whether it is in an array, as far as pointers may go.

    In document order, keys sorted.
    """
    todo = [(value, pointer, in_array)]
    while todo:
        value, pointer, in_array = todo.pop()
        if type(value) is str:
            if len(value) >= LONG:
                yield value, pointer, in_array
        elif pointer.count("/") < MAX_TOKENS:
            is_array = type(value) is list
            members = enumerate(value) if is_array else sorted(value.items())
            inner = [
                (member, f"{pointer}/{pointers.escape(key)}", is_array)
                for key, member in members
                if type(member) in _MAY_HOLD_TEXT
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


def _emptied(changes: list[_Change], targets: _Places) -> Iterator[Operation]:
    """Yield the operations of *changes*, with `""` at each target; those that would only add one are left out."""
    by_change: dict[int, list[str]] = {}
    for wanted in targets.values():
        for target in wanted:
            by_change.setdefault(target.change, []).append(target.pointer)
    for number, change in enumerate(changes):
        emptied = by_change.get(number)
        if emptied is None:
            yield change.operation()
        elif emptied != [change.path]:
            value = _with_empty_strings(change.value, [at[len(change.path) :] for at in emptied])
            yield change._replace(value=value).operation()
        elif change.in_array:
            yield change._replace(value="").operation()


def _with_empty_strings(value: Json, places: list[str]) -> Json:
    """Return a copy of *value* with `""` at *places*; what is not on the way there is shared."""
    copy = pointers.CopyOnWrite(value.copy())
    for place in places:
        *parents, token = pointers.split(place)
        holder = copy.container(parents)
        holder[token if isinstance(holder, dict) else int(token)] = ""
    return copy.root
