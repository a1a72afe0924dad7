"""The difference of two elements, as the operations of a patch.

Long strings that the plain element has are not stored again: the patch copies them. Source: carrier.md 4.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from hub import pointer as pointers
from hub.errors import MISSING, Json
from hub.json import canonical
from hub.limits import MAX_OPERATIONS, MAX_TOKENS
from hub.patch import HOLDER, Budget, Operation
from hub.residuals import equal

LONG = 128
"""Characters from which a string is shared."""


class Change:
    """What must change in a plain element to make the intended one of it: operations, and where long strings stand.

    The operations are settled when it is known which of these strings are elsewhere already: see `patch`.
    """

    __slots__ = ("_intended", "_operations", "_plain", "places")

    def __init__(self, plain: dict[str, Json], intended: dict[str, Json]) -> None:
        self._plain = plain
        self._intended = intended
        self._operations: list[Operation] = []
        _compare_objects(plain, intended, "", self._operations)
        self.places: Places = {}
        """Where long strings stand in the values of the operations."""
        if len(self._operations) <= MAX_OPERATIONS:
            self.places = _places(intended, self._operations)

    def __bool__(self) -> bool:
        return bool(self._operations)

    def patch(self, homes: Mapping[str, str], budget: Budget) -> list[Operation]:
        """Return the operations; what has one of *homes* is copied from there, which is taken from *budget*."""
        operations = self._operations
        if len(operations) <= MAX_OPERATIONS:
            if self.places:
                operations = _share(operations, self.places, homes, budget)
            if len(operations) <= MAX_OPERATIONS:
                return operations
        return list(_by_member(self._plain, self._intended))


def homes(plain: dict[str, Json], texts: Collection[str], spelling: bytes) -> dict[str, str]:
    """Return the first place in *plain* of each of *texts* that is there.

    *spelling* is the canonical JSON of *plain*: it tells quickly that a text is not in there.
    """
    found: dict[str, str] = {}
    if any(canonical(text[:_ENOUGH])[1:-1] in spelling for text in texts):
        for text, pointer, _ in long_strings(plain, ""):
            if text in texts:
                found.setdefault(text, pointer)
    return found


def difference(
    plain: dict[str, Json], intended: dict[str, Json], budget: Budget
) -> list[Operation]:
    """Return the operations that make *intended* of *plain*; empty when they are equal.

    What they copy is taken from *budget*.
    """
    change = Change(plain, intended)
    own = homes(plain, change.places, canonical(plain)) if change.places else {}
    return change.patch(own, budget)


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


_ENOUGH = 64
"""Characters by which a text is looked for: few are found faster."""


# Comparing: carrier.md 4.3. Two frames a level, and no more levels than a pointer may have tokens. Each function adds
# what differs at a path to the operations, and returns a number of leaves that the second value has at least.


def _compare(before: Json, after: Json, path: str, operations: list[Operation]) -> int:
    kind = type(before)
    if kind is type(after):
        if kind is dict or kind is list:
            return _compare_containers(before, after, path, operations)
        if before == after:
            return 1
    operations.append({"op": "replace", "path": path, "value": after})
    return 1


def _compare_containers(before: Json, after: Json, path: str, operations: list[Operation]) -> int:
    is_object = type(before) is dict
    if path.count("/") >= MAX_TOKENS:
        if equal(before, after):
            return 1
    elif not (is_object and _are_strangers(before, after)):
        start = len(operations)
        compare = _compare_objects if is_object else _compare_arrays
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
    is_small = len(before) + leaves <= _MANY
    for key, token, op in (_known_members if is_small else _members)(tuple(before), tuple(after)):
        if op is None:
            old, new = before[key], after[key]
            if old is new:
                continue
            kind = type(old)
            if kind is type(new):
                if kind is dict or kind is list:
                    leaves += _compare_containers(old, new, path + token, operations) - 1
                    continue
                if old == new:
                    continue
            operations.append({"op": "replace", "path": path + token, "value": new})
        elif op == "add":
            operations.append({"op": op, "path": path + token, "value": after[key]})
        else:
            operations.append({"op": op, "path": path + token})
    return leaves


_Member = tuple[str, str, Literal["add", "remove"] | None]
"""A key, its token in a path, and what is to be done where only one of two objects has it."""


def _members(before: tuple[str, ...], after: tuple[str, ...]) -> list[_Member]:
    """Return the keys that two objects have, in code point order."""
    old, new = set(before), set(after)
    return [
        (
            key,
            f"/{pointers.escape(key)}",
            "add" if key not in old else "remove" if key not in new else None,
        )
        for key in sorted(old | new)
    ]


_MANY = 64
"""Keys above which an object is one of a kind."""
_known_members = lru_cache(maxsize=512)(_members)
"""Most objects have the keys of some that were compared before."""


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


Places = dict[str, list[_Place]]
"""Places by their text, in the order of its first one."""


def _share(
    operations: list[Operation], places: Places, homes: Mapping[str, str], budget: Budget
) -> list[Operation]:
    """Return *operations* with every long string copied that is there already."""
    targets: Places = {}
    for text, found in places.items():
        wanted = found if text in homes else found[1:]
        if wanted and budget.take(len(text) * len(wanted)):
            targets[text] = wanted
    if not targets:
        return operations
    parked, copies = _copies(operations, places, homes, targets)
    return [*parked, *_emptied(operations, targets), *copies]


def _places(intended: dict[str, Json], operations: Sequence[Operation]) -> Places:
    """Return where long strings stand in the values of *operations*, in order."""
    places: Places = {}
    for number, operation in enumerate(operations):
        value: Json = operation.get("value")
        if type(value) is str:
            if len(value) >= LONG:
                in_array = _is_element(intended, operation["path"])
                places.setdefault(value, []).append(_Place(operation["path"], in_array, number))
        elif type(value) in _CONTAINERS and _has_long_text(value):
            for text, pointer, in_array in long_strings(value, operation["path"]):
                places.setdefault(text, []).append(_Place(pointer, in_array, number))
    return places


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


def long_strings(value: Json, pointer: str) -> list[tuple[str, str, bool]]:
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
    operations: list[Operation], places: Places, homes: Mapping[str, str], targets: Places
) -> tuple[list[Operation], list[Operation]]:
    """Return the operations that park homes which are replaced, and those that copy each string to its targets."""
    parked: list[Operation] = []
    copies: list[Operation] = []
    replaced: set[str] = set()
    if any(text in homes and not homes[text].startswith(IN_TABLE) for text in targets):
        replaced.update(operation["path"] for operation in operations)
        replaced.update(target.pointer for wanted in targets.values() for target in wanted)
    for number, (text, found) in enumerate(places.items()):
        wanted = targets.get(text)
        if wanted is None:
            continue
        home = homes.get(text, found[0].pointer)
        is_parked = bool(replaced) and text in homes and _is_replaced(home, replaced)
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


IN_TABLE = f"/{HOLDER}/"
"""How the pointer of a text begins that is copied from the table of the node."""


def _is_replaced(pointer: str, replaced: set[str]) -> bool:
    """Tell whether *pointer*, or a prefix of it, is one of *replaced*."""
    while pointer:
        if pointer in replaced:
            return True
        pointer = pointer.rpartition("/")[0]
    return False


def _emptied(operations: Sequence[Operation], targets: Places) -> list[Operation]:
    """Return *operations* with `""` at each target; those that would only add one are left out."""
    by_operation: dict[int, list[_Place]] = {}
    for wanted in targets.values():
        for target in wanted:
            by_operation.setdefault(target.operation, []).append(target)
    emptied = list(operations)
    for number in sorted(by_operation, reverse=True):
        operation, first = operations[number], by_operation[number][0]
        path = operation["path"]
        if first.pointer != path:
            places = [target.pointer[len(path) :] for target in by_operation[number]]
            emptied[number] = {
                **operation,
                "value": _with_empty_strings(operation["value"], places),
            }
        elif first.in_array:
            emptied[number] = {**operation, "value": ""}
        else:
            del emptied[number]
    return emptied


def _with_empty_strings(value: Json, places: list[str]) -> Json:
    """Return a copy of *value* with `""` at *places*; what is not on the way there is shared."""
    copy = pointers.CopyOnWrite(value.copy())
    for place in places:
        *parents, token = pointers.split(place)
        holder = copy.container(parents)
        holder[token if isinstance(holder, dict) else int(token)] = ""
    return copy.root
