"""The difference of two JSON values as RFC 6902 operations, and its application, both bounded.

Long strings that the plain value has already are not stored again: the patch copies them. Source: carrier.md 4 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hub import pointer as pointers
from hub.errors import MISSING, Json
from hub.residuals import equal

Operation = dict[str, Json]

LONG = 128
"""Characters from which a string is shared: carrier.md 4.4."""
MAX_OPERATIONS = 10_000
MAX_TOKENS = 100
MAX_COPIED = 2**28
"""Characters that all copies of one node may make together: carrier.md 9."""


class PatchError(ValueError):
    """A patch that does not fit its element, or breaks a bound."""


class Budget:
    """What is left of the bound on copied text in one node."""

    def __init__(self) -> None:
        self.characters = MAX_COPIED

    def take(self, characters: int) -> bool:
        """Take *characters* from what is left; False, and nothing taken, if that is too much."""
        if characters > self.characters:
            return False
        self.characters -= characters
        return True


# The difference


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


def difference(
    plain: dict[str, Json], intended: dict[str, Json], budget: Budget
) -> list[Operation]:
    """Return the operations that make *intended* of *plain*; empty when they are equal."""
    changes = list(_compare_objects(plain, intended, ""))
    if len(changes) <= MAX_OPERATIONS:
        operations = _share(plain, changes, budget)
        if len(operations) <= MAX_OPERATIONS:
            return operations
    return [change.operation() for change in _by_member(plain, intended)]


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


def _compare(before: Json, after: Json, path: str, *, in_array: bool) -> list[_Change]:
    if before is after:
        return []
    kind = type(before)
    if kind is not type(after) or kind not in (dict, list):
        return [] if equal(before, after) else [_change(path, before, after, in_array=in_array)]
    if path.count("/") >= MAX_TOKENS:
        return [] if equal(before, after) else [_change(path, before, after, in_array=in_array)]
    compare = _compare_objects if kind is dict else _compare_arrays
    changes = list(compare(before, after, path))
    if changes and not _has_more_leaves(after, len(changes)):
        return [_change(path, before, after, in_array=in_array)]
    return changes


def _compare_objects(
    before: dict[str, Json], after: dict[str, Json], path: str
) -> Iterator[_Change]:
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key, MISSING), after.get(key, MISSING)
        if old is new:
            continue
        at = f"{path}/{pointers.escape(key)}"
        if old is MISSING or new is MISSING:
            yield _change(at, old, new)
        else:
            yield from _compare(old, new, at, in_array=False)


def _compare_arrays(before: list[Json], after: list[Json], path: str) -> Iterator[_Change]:
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        yield from _compare(old, new, f"{path}/{index}", in_array=True)
    for index in range(len(before) - 1, len(after) - 1, -1):
        yield _Change("remove", f"{path}/{index}", in_array=True)
    for index in range(len(before), len(after)):
        yield _Change("add", f"{path}/{index}", after[index], in_array=True)


def _has_more_leaves(value: Json, number: int) -> bool:
    """Tell whether *value* has more than *number* leaves (scalars and empty containers); looks no further than that."""
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


# Long strings


class _Place(NamedTuple):
    """A place where a long string stands."""

    pointer: str
    text: str
    in_array: bool
    """Whether it is an element of an array."""


def _share(plain: Json, changes: list[_Change], budget: Budget) -> list[Operation]:
    """Return the operations of *changes*, with every long string copied that is there already: carrier.md 4.4."""
    places: dict[str, list[_Place]] = {}
    for change in changes:
        if change.op != "remove":
            for place in _long_strings(change.value, change.path, in_array=change.in_array):
                places.setdefault(place.text, []).append(place)
    if not places:
        return [change.operation() for change in changes]
    homes: dict[str, str] = {}
    for place in _long_strings(plain, "", in_array=False):
        if place.text in places:
            homes.setdefault(place.text, place.pointer)
    targets = {}
    for text, found in places.items():
        wanted = found if text in homes else found[1:]
        if wanted and budget.take(len(text) * (len(wanted) + 1)):
            targets[text] = wanted
    parked, copies = _copies(changes, targets, homes, places)
    cut = {place.pointer for wanted in targets.values() for place in wanted}
    return [*parked, *_kept(changes, cut), *copies]


def _long_strings(value: Json, pointer: str, *, in_array: bool) -> Iterator[_Place]:
    """Yield each long string of *value*, in document order with keys sorted."""
    kind = type(value)
    if kind is str:
        if len(value) >= LONG:
            yield _Place(pointer, value, in_array)
    elif kind is dict:
        for key in sorted(value):
            if type(value[key]) in _MAY_HOLD_TEXT:
                yield from _long_strings(
                    value[key], f"{pointer}/{pointers.escape(key)}", in_array=False
                )
    elif kind is list:
        for index, member in enumerate(value):
            if type(member) in _MAY_HOLD_TEXT:
                yield from _long_strings(member, f"{pointer}/{index}", in_array=True)


_MAY_HOLD_TEXT = frozenset({str, dict, list})


def _copies(
    changes: list[_Change],
    targets: dict[str, list[_Place]],
    homes: dict[str, str],
    places: dict[str, list[_Place]],
) -> tuple[list[Operation], list[Operation]]:
    """Return the operations that park homes before they are replaced, and those that copy each string to its targets."""
    touched = {change.path for change in changes}
    touched.update(place.pointer for wanted in targets.values() for place in wanted)
    parked: list[Operation] = []
    copies: list[Operation] = []
    for text, wanted in targets.items():
        home = homes.get(text)
        is_parked = home is not None and _is_touched(home, touched)
        if is_parked:
            spot = f"/${len(parked)}"
            parked.append({"op": "copy", "from": home, "path": spot})
            home = spot
        for place in wanted:
            is_last = is_parked and place is wanted[-1]
            source = places[text][0].pointer if home is None else home
            copies.append(
                {"op": "move" if is_last else "copy", "from": source, "path": place.pointer}
            )
            if place.in_array:
                # The copy was inserted before the empty string that stood there.
                array, _, index = place.pointer.rpartition("/")
                copies.append({"op": "remove", "path": f"{array}/{int(index) + 1}"})
    return parked, copies


def _kept(changes: list[_Change], cut: set[str]) -> Iterator[Operation]:
    """Yield the operations of *changes*, `""` standing at the places in *cut*, which are copied afterwards."""
    for change in changes:
        if change.op != "remove":
            if change.path in cut and not change.in_array:
                continue
            value = _without(change.value, change.path, cut)
            yield {"op": change.op, "path": change.path, "value": value}
        else:
            yield change.operation()


def _without(value: Json, pointer: str, cut: set[str]) -> Json:
    kind = type(value)
    if kind is str:
        return "" if len(value) >= LONG and pointer in cut else value
    if kind is dict:
        return {
            key: _without(member, f"{pointer}/{pointers.escape(key)}", cut)
            for key, member in value.items()
        }
    if kind is list:
        return [_without(member, f"{pointer}/{index}", cut) for index, member in enumerate(value)]
    return value


def _is_touched(pointer: str, touched: set[str]) -> bool:
    """Tell whether *pointer*, or a prefix of it, is one of *touched*."""
    while pointer:
        if pointer in touched:
            return True
        pointer = pointer.rpartition("/")[0]
    return False


# Application

_MEMBERS = {
    "add": {"op", "path", "value"},
    "replace": {"op", "path", "value"},
    "remove": {"op", "path"},
    "copy": {"op", "path", "from"},
    "move": {"op", "path", "from"},
}


def apply(
    element: dict[str, Json],
    operations: Json,
    budget: Budget,
    *,
    closed: frozenset[str] = frozenset(),
) -> dict[str, Json]:
    """Return *element* with *operations* applied; *element* and what it shares are not changed.

    *closed* are the members that no operation may touch.

    Raises:
        PatchError: an operation fails or breaks a bound; nothing is applied then.
    """
    if not isinstance(operations, list) or len(operations) > MAX_OPERATIONS:
        raise PatchError(f"not a list of at most {MAX_OPERATIONS} operations")
    target = _Target(dict(element), budget, closed)
    for operation in operations:
        target.apply(operation)
    return target.element


class _Target:
    """An element that is being patched; containers are copied when they are first changed."""

    def __init__(self, element: dict[str, Json], budget: Budget, closed: frozenset[str]) -> None:
        self.element = element
        self._owned = {id(element)}
        self._budget = budget
        self._closed = closed

    def apply(self, operation: Json) -> None:
        kind = operation.get("op") if isinstance(operation, dict) else None
        if not isinstance(kind, str) or kind not in _MEMBERS or operation.keys() != _MEMBERS[kind]:
            raise PatchError("no operation of a known kind")
        tokens = self._tokens(operation["path"])
        if kind in ("copy", "move"):
            source = self._tokens(operation["from"])
            text = self._get(source)
            if not isinstance(text, str):
                raise PatchError(f"{kind} of something that is no string")
            if not self._budget.take(len(text)):
                raise PatchError("too much text is copied")
            if kind == "move":
                self._remove(source)
            self._add(tokens, text)
        elif kind == "add":
            self._add(tokens, operation["value"])
        elif kind == "remove":
            self._remove(tokens)
        else:
            self._replace(tokens, operation["value"])

    def _tokens(self, path: Json) -> list[str]:
        if not isinstance(path, str) or not path or not pointers.is_pointer(path):
            raise PatchError("a path that is no pointer into the element")
        tokens = pointers.split(path)
        if len(tokens) > MAX_TOKENS:
            raise PatchError(f"a pointer of more than {MAX_TOKENS} tokens")
        if tokens[0] in self._closed:
            raise PatchError(f"a path below /{tokens[0]}")
        return tokens

    def _get(self, tokens: list[str]) -> Json:
        try:
            return pointers.get(self.element, tokens)
        except LookupError:
            raise PatchError("nothing at a path") from None

    def _holder(self, tokens: list[str]) -> Json:
        """Return the container of the last token, each container on the way copied once."""
        holder: Json = self.element
        for token in tokens[:-1]:
            key: str | int = token
            if isinstance(holder, list):
                key = _index(token, len(holder) - 1)
            elif not isinstance(holder, dict) or token not in holder:
                raise PatchError("nothing at a path")
            inner = holder[key]
            if isinstance(inner, dict | list) and id(inner) not in self._owned:
                inner = holder[key] = inner.copy()
                self._owned.add(id(inner))
            holder = inner
        if not isinstance(holder, dict | list):
            raise PatchError("nothing at a path")
        return holder

    def _add(self, tokens: list[str], value: Json) -> None:
        holder = self._holder(tokens)
        if isinstance(holder, list):
            holder.insert(_index(tokens[-1], len(holder)), value)
        else:
            holder[tokens[-1]] = value

    def _remove(self, tokens: list[str]) -> None:
        holder = self._holder(tokens)
        if isinstance(holder, list):
            del holder[_index(tokens[-1], len(holder) - 1)]
        elif tokens[-1] in holder:
            del holder[tokens[-1]]
        else:
            raise PatchError("nothing to remove at a path")

    def _replace(self, tokens: list[str], value: Json) -> None:
        holder = self._holder(tokens)
        if isinstance(holder, list):
            holder[_index(tokens[-1], len(holder) - 1)] = value
        elif tokens[-1] in holder:
            holder[tokens[-1]] = value
        else:
            raise PatchError("nothing to replace at a path")


def _index(token: str, last: int) -> int:
    if not pointers.is_index(token) or len(token) > len(str(MAX_COPIED)) or int(token) > last:
        raise PatchError(f"no array index: {token!r}")
    return int(token)
