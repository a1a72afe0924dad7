"""The difference of two elements, as the operations of a patch.

Long strings that the plain element has are not stored again: the patch copies them. Source: carrier.md 4.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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

    __slots__ = ("_holder", "_intended", "_operations", "_plain", "places")

    def __init__(
        self,
        operations: list[Operation],
        plain: dict[str, Json],
        intended: Callable[[], dict[str, Json]],
        known: "Known",
    ) -> None:
        """*operations* are those that `compare` finds; *intended* gives the intended element."""
        self._operations = operations
        self._plain = plain
        self._intended = intended
        self._holder: Holder | None = None
        """The operation that has all the long strings, if it is one."""
        self.places: Places = {}
        """Where long strings stand in the values of the operations."""
        if len(operations) <= MAX_OPERATIONS:
            self._find_places(known)

    def _find_places(self, known: "Known") -> None:
        holders: list[Holder] = []
        for number, operation in enumerate(self._operations):
            value: Json = operation.get("value")
            kind = type(value)
            if kind is str:
                if len(value) >= LONG:
                    is_element = _is_element(self._intended, operation["path"])
                    place = _Place(operation["path"], is_element, number)
                    holders.append(Holder(operation, number, {value: [place]}))
            elif (kind is dict or kind is list) and value:
                holder = _holder_of(operation, number, known)
                if holder is not None:
                    holders.append(holder)
        if len(holders) == 1:
            self._holder = holders[0]
            self.places = holders[0].places
            return
        for holder in holders:
            for text, found in holder.places.items():
                self.places.setdefault(text, []).extend(found)

    def patch(self, homes: Mapping[str, str], budget: Budget) -> list[Operation]:
        """Return the operations; what has one of *homes* is copied from there, which is taken from *budget*."""
        operations = self._operations
        if len(operations) <= MAX_OPERATIONS:
            if self._holder is not None:
                operations = self._holder.share(operations, homes, budget)
            elif self.places:
                operations = _share(operations, self.places, homes, budget)
            if len(operations) <= MAX_OPERATIONS:
                return operations
        return list(_by_member(self._plain, self._intended()))


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
    change = Change(compare(plain, intended), plain, lambda: intended, {})
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


# Comparing: carrier.md 4.3. One frame a level, and no more levels than a pointer may have tokens. Each function adds
# what differs at a path to the operations, and returns a number of leaves that the second value has at least.


def compare(plain: dict[str, Json], intended: dict[str, Json]) -> list[Operation]:
    """Return the operations that make *intended* of *plain*, long strings written out; empty when they are equal."""
    operations: list[Operation] = []
    _compare_members(plain, intended, "", 0, operations)
    return operations


def compare_objects(
    before: dict[str, Json],
    after: dict[str, Json],
    path: str,
    depth: int,
    operations: list[Operation],
) -> int:
    """Add what makes *after* of *before*, two objects at *path*, which has *depth* tokens."""
    if depth >= MAX_TOKENS:
        return _compare_whole(before, after, path, operations)
    if before.keys().isdisjoint(after) and _are_few(len(before) + len(after), after):
        operations.append({"op": "replace", "path": path, "value": after})
        return 1
    start = len(operations)
    leaves = _compare_members(before, after, path, depth, operations)
    number = len(operations) - start
    if leaves <= number and _are_few(number, after):
        operations[start:] = [{"op": "replace", "path": path, "value": after}]
    return leaves


def compare_arrays(
    before: list[Json], after: list[Json], path: str, depth: int, operations: list[Operation]
) -> int:
    """Add what makes *after* of *before*, two arrays at *path*, which has *depth* tokens."""
    if depth >= MAX_TOKENS:
        return _compare_whole(before, after, path, operations)
    start = len(operations)
    leaves = len(after)
    both = min(len(before), leaves)
    for index in range(both):
        old, new = before[index], after[index]
        if old is new:
            continue
        kind = type(old)
        if kind is type(new):
            if kind is dict:
                leaves += compare_objects(old, new, f"{path}/{index}", depth + 1, operations) - 1
                continue
            if kind is list:
                leaves += compare_arrays(old, new, f"{path}/{index}", depth + 1, operations) - 1
                continue
            if old == new:
                continue
        operations.append({"op": "replace", "path": f"{path}/{index}", "value": new})
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
    number = len(operations) - start
    if leaves <= number and _are_few(number, after):
        operations[start:] = [{"op": "replace", "path": path, "value": after}]
    return leaves


def _compare_members(
    before: dict[str, Json],
    after: dict[str, Json],
    path: str,
    depth: int,
    operations: list[Operation],
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
                if kind is dict:
                    leaves += compare_objects(old, new, path + token, depth + 1, operations) - 1
                    continue
                if kind is list:
                    leaves += compare_arrays(old, new, path + token, depth + 1, operations) - 1
                    continue
                if old == new:
                    continue
            operations.append({"op": "replace", "path": path + token, "value": new})
        elif op == "add":
            operations.append({"op": op, "path": path + token, "value": after[key]})
        else:
            operations.append({"op": op, "path": path + token})
    return leaves


def _compare_whole(before: Json, after: Json, path: str, operations: list[Operation]) -> int:
    """Compare two values below which no pointer goes."""
    if not equal(before, after):
        operations.append({"op": "replace", "path": path, "value": after})
    return 1


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


def _are_few(number: int, value: Json) -> bool:
    """Tell whether the leaves of *value*, an object or array, are at most *number* and that is one at least.

    Leaves are scalars and empty containers.
    """
    if len(value) > number or not number:
        return False
    members = value.values() if type(value) is dict else value
    if _KINDS.isdisjoint(map(type, members)):
        return True
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
_KINDS = frozenset(_CONTAINERS)


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


def _targets(places: Places, homes: Mapping[str, str]) -> Places:
    """Return the places where long strings are copied to: all but the first one, of those without a home."""
    targets = {text: found if text in homes else found[1:] for text, found in places.items()}
    return {text: wanted for text, wanted in targets.items() if wanted}


def _share(
    operations: Sequence[Operation], places: Places, homes: Mapping[str, str], budget: Budget
) -> list[Operation]:
    """Return *operations* with every long string copied that is there already."""
    targets = {
        text: wanted
        for text, wanted in _targets(places, homes).items()
        if budget.take(len(text) * len(wanted))
    }
    by_operation: dict[int, list[_Place]] = {}
    for wanted in targets.values():
        for target in wanted:
            by_operation.setdefault(target.operation, []).append(target)
    parked, copies = _copies(operations, places, homes, targets)
    emptied = [
        one
        for number, operation in enumerate(operations)
        for one in (
            _emptied(operation, by_operation[number]) if number in by_operation else [operation]
        )
    ]
    return [*parked, *emptied, *copies]


class Holder:
    """An operation whose value has long strings.

    The next element often has the very same value at the same place, a prompt say: what was made for one is for all.
    """

    __slots__ = ("_made", "_operation", "number", "places")

    def __init__(self, operation: Operation, number: int, places: Places) -> None:
        self._operation = operation
        self.number = number
        self.places = places
        self._made: dict[tuple[str | None, ...], tuple[int, list[Operation], list[Operation]]] = {}

    def share(
        self, operations: list[Operation], homes: Mapping[str, str], budget: Budget
    ) -> list[Operation]:
        """Return *operations*, in which no other one has long strings, with those copied that are there already."""
        used = tuple([homes.get(text) for text in self.places])
        if used not in self._made:
            if any(home is not None and not home.startswith(IN_TABLE) for home in used):
                return _share(operations, self.places, homes, budget)
            targets = _targets(self.places, homes)
            every = [target for wanted in targets.values() for target in wanted]
            self._made[used] = (
                sum(len(text) * len(wanted) for text, wanted in targets.items()),
                _emptied(self._operation, every) if every else [self._operation],
                _copies((), self.places, homes, targets)[1],
            )
        characters, emptied, copies = self._made[used]
        if not budget.take(characters):
            return _share(operations, self.places, homes, budget)
        number = self.number
        return [*operations[:number], *emptied, *operations[number + 1 :], *copies]


Known = dict[tuple[int, int, str, str], tuple[Json, Holder]]
"""Values with long strings, by their identity, and by the number, the kind and the path of the operation."""


def _holder_of(operation: Operation, number: int, known: Known) -> Holder | None:
    """Return what holds the long strings of an object or array that *operation* has; None if it has none."""
    value, path = operation["value"], operation["path"]
    key = id(value), number, operation["op"], path
    found = known.get(key)
    if found is not None:
        return found[1]
    if not _has_long_text(value):
        return None
    places: Places = {}
    for text, pointer, in_array in long_strings(value, path):
        places.setdefault(text, []).append(_Place(pointer, in_array, number))
    holder = Holder(operation, number, places)
    # The value is kept with it, so that no other one gets its identity.
    known[key] = value, holder
    return holder


def _is_element(intended: Callable[[], dict[str, Json]], path: str) -> bool:
    """Tell whether what the intended element has at *path* is an element of an array."""
    *parents, token = pointers.split(path)
    return token.isdecimal() and isinstance(pointers.get(intended(), parents), list)


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
    operations: Sequence[Operation], places: Places, homes: Mapping[str, str], targets: Places
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


def _emptied(operation: Operation, targets: Sequence[_Place]) -> list[Operation]:
    """Return *operation* with `""` at each of *targets*, which its value has; nothing if it would only add one."""
    path, first = operation["path"], targets[0]
    if first.pointer != path:
        places = [target.pointer[len(path) :] for target in targets]
        return [{**operation, "value": _with_empty_strings(operation["value"], places)}]
    return [{**operation, "value": ""}] if first.in_array else []


def _with_empty_strings(value: Json, places: list[str]) -> Json:
    """Return a copy of *value* with `""` at *places*; what is not on the way there is shared."""
    copy = pointers.CopyOnWrite(value.copy())
    for place in places:
        *parents, token = pointers.split(place)
        holder = copy.container(parents)
        holder[token if isinstance(holder, dict) else int(token)] = ""
    return copy.root
