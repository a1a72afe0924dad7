"""Opening: what the envelopes of a document carried is given back to its Storylines.

Each patch is applied to the element that it was made for. One that fits nothing is discarded with a warning: the
document was edited, and the edit wins. Nothing here makes a document unreadable. Source: carrier.md 6 and 9.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import attrs

from hub.carrier import (
    CLOSED,
    INVALID,
    MALFORMED,
    ROOT,
    SOURCE,
    STALE,
    TURN_ID,
    digest,
    placeless,
    residual_pointer,
    turn_index,
    turn_key,
)
from hub.codec import (
    check_model,
    root_from_wire,
    turn_from_wire,
)
from hub.envelope import Opened, attach
from hub.errors import InvalidDocument, Json, Problem, Rule, show
from hub.hookspecs import FormatInfo
from hub.limits import MAX_ENTRIES
from hub.patch import Budget, Lookup, Operation, PatchError, apply
from hub.storyline.model import Storyline, Turn
from hub.texts import KEY as TEXTS
from hub.texts import StaleText, Texts
from hub.wire import root_to_wire, turn_to_wire


def open_into(storylines: list[Storyline], opened: Opened, info: FormatInfo) -> list[Problem]:
    """Give *storylines* what the envelopes of their document held; return every problem with that: carrier.md 6."""
    carriers = {
        node: sources.pop(SOURCE) for node, sources in opened.by_node.items() if SOURCE in sources
    }
    problems = attach(opened, storylines, info)
    if problems:
        return problems
    for index, storyline in enumerate(storylines):
        own = storyline.unknown_fields.pop(SOURCE, None)
        for carrier in (carriers.get(storyline.node), own):
            if carrier is not None:
                opening = _Opening(storylines[index], problems, info.source)
                storylines[index] = opening.apply(carrier.fields)
    return problems


_Wire = dict[str, Json]


class _Root(NamedTuple):
    """What the entry of the root says."""

    patched: _Wire | None = None
    """The root with its patch applied; None: it stays plain."""
    moves: list[Operation] = []  # noqa: RUF012  # a tuple's default, never changed
    """Operations on whole turns."""


class _Opening:
    """One Storyline to which carried entries are applied."""

    def __init__(self, plain: Storyline, problems: list[Problem], source: str) -> None:
        self._plain = plain
        self._source = source
        self._problems = problems
        self._budget = Budget()
        self._digests: dict[str, list[int]] | None = None
        self._wires: dict[int, _Wire] = {}
        self._texts: Lookup | None = None
        self._taken: set[int] = set()
        """Indices of the plain turns that an entry, or a removal, was made for."""

    def apply(self, entries: Mapping[str, Json]) -> Storyline:
        """Return the Storyline with *entries* applied, or the plain one if that would be none."""
        if len(entries) > MAX_ENTRIES:
            self._warn(MALFORMED, ROOT, f"expected at most {MAX_ENTRIES} entries")
            return self._plain
        root = _Root()
        turns: dict[int, Json] = {}
        self._open_texts(entries)
        for key, entry in entries.items():
            if key == TEXTS:
                continue
            index = turn_index(key)
            if (key != ROOT and index is None) or not _is_entry(entry):
                what = "expected an entry of digest and patch, for the root or a turn"
                self._warn(MALFORMED, key if index is not None else key and show(key), what)
            elif index is None:
                root = self._root(entry)
            else:
                turns[index] = entry
        patched = {
            index: wire
            for at, entry in sorted(turns.items())
            for index, wire in self._patched_turn(at, entry)
        }
        try:
            return self._rebuilt(root.patched, self._all_turns(patched, root.moves))
        except InvalidDocument as error:
            self._warn(INVALID, ROOT, f"expected a valid Storyline, found {error.problems[0]}")
            return self._plain

    def _open_texts(self, entries: Mapping[str, Json]) -> None:
        if TEXTS not in entries:
            return
        try:
            self._texts = Texts(
                entries[TEXTS],
                self._element,
                len(self._plain.turns),
                partial(self._warn, STALE, TEXTS),
            ).text
        except PatchError as error:
            self._warn(MALFORMED, TEXTS, str(error))

    def _warn(self, rule: Rule, key: str, what: str) -> None:
        message = f"{key or 'root'}: {what}"
        self._problems.append(rule.at(self._plain.node, message=message))

    def _discard(self, key: str, error: PatchError) -> None:
        self._warn(STALE if isinstance(error, StaleText) else MALFORMED, key, str(error))

    def _root(self, entry: Json) -> _Root:
        moves = [one for one in entry["patch"] if _is_move(one)]
        patch = [one for one in entry["patch"] if not _is_move(one) and not self._is_removal(one)]
        for one in entry["patch"]:
            if self._is_removal(one):
                self._remove_residual(one)
        plain = placeless(root_to_wire(self._plain))
        if entry["digest"] != digest(plain):
            if patch:
                self._warn(STALE, ROOT, EDITED)
            return _Root(None, moves)
        try:
            patched = apply(plain, patch, self._budget, closed=CLOSED, texts=self._texts)
            return _Root(self._placed(patched), moves)
        except PatchError as error:
            self._discard(ROOT, error)
            return _Root()

    def _placed(self, root: _Wire) -> _Wire:
        """Return a patched root with the place where it was read, if it is of the format that was read."""
        read, origin = self._plain.origin, root.get("origin")
        if read is None or read.document_id is None or not isinstance(origin, dict):
            return root
        if origin.get("format") != read.format or "document_id" in origin:
            return root
        return {**root, "origin": {**origin, "document_id": read.document_id}}

    def _is_removal(self, operation: Json) -> bool:
        """Tell whether an operation of the root entry takes away a residual of the format's own."""
        return (
            isinstance(operation, dict)
            and operation.get("op") == "remove"
            and isinstance(operation.get("digest"), str)
            and residual_pointer(self._source, operation.get("path")) is not None
        )

    def _remove_residual(self, operation: Operation) -> None:
        """Take away a residual that writing made; one that is not what was written is an edit, and stays."""
        residuals = self._plain.unknown_fields.get(self._source)
        pointer = residual_pointer(self._source, operation["path"])
        if residuals is None or pointer is None or pointer not in residuals.fields:
            return
        if digest(residuals.fields[pointer]) == operation["digest"]:
            del residuals.fields[pointer]
            if not residuals.fields:
                del self._plain.unknown_fields[self._source]

    def _patched_turn(self, at: int, entry: Json) -> Iterator[tuple[int, _Wire]]:
        """Yield index and patched wire JSON of the turn that *entry* fits."""
        index = self._find(at, entry["digest"])
        if index is None:
            self._warn(STALE, turn_key(at), EDITED)
            return
        try:
            wire = apply(self._wire(index), entry["patch"], self._budget, texts=self._texts)
            if type(wire.get("id")) is not int:
                raise PatchError("expected a turn with an integer id")
        except PatchError as error:
            self._discard(turn_key(at), error)
        else:
            yield index, wire

    def _find(self, at: int, guard: str) -> int | None:
        """Return the index of the turn with the digest *guard*, and take it: that at *at*, else the only other one."""
        found = [at]
        is_there = at < len(self._plain.turns) and at not in self._taken
        if not is_there or digest(self._wire(at)) != guard:
            if self._digests is None:
                self._digests = {}
                for index in range(len(self._plain.turns)):
                    self._digests.setdefault(digest(self._wire(index)), []).append(index)
            found = [one for one in self._digests.get(guard, ()) if one not in self._taken]
        if len(found) != 1:
            return None
        self._taken.add(found[0])
        return found[0]

    def _wire(self, index: int) -> _Wire:
        """Return the wire JSON of the plain turn at *index*, made once."""
        wire = self._wires.get(index)
        if wire is None:
            wire = self._wires[index] = turn_to_wire(self._plain.turns[index])
        return wire

    def _element(self, key: str) -> _Wire:
        """Return the wire JSON of the plain element with *key*."""
        index = turn_index(key)
        return root_to_wire(self._plain) if index is None else self._wire(index)

    def _all_turns(self, patched: dict[int, _Wire], moves: list[Operation]) -> list[Turn]:
        """Return the turns: patched ones replaced, removed ones gone, added ones in their place."""
        gone: set[int] = set()
        added: list[tuple[int, _Wire]] = []
        for move in moves:
            at = turn_index(move["path"]) or 0
            if move["op"] == "add":
                added.append((at, move["value"]))
                continue
            index = self._find(at, move["digest"])
            if index is None:
                self._warn(STALE, turn_key(at), "expected the turn to remove, found none")
            else:
                gone.add(index)
        carried = {index: turn_from_wire(wire) for index, wire in patched.items()}
        new = [(at, turn_from_wire(wire)) for at, wire in added]
        kept = self._kept_turns(carried, [turn for _, turn in new], gone)
        return list(_inserted(kept, sorted(new, key=lambda one: one[0])))

    def _kept_turns(
        self, carried: dict[int, Turn], added: list[Turn], gone: set[int]
    ) -> Iterator[Turn]:
        """Yield the turns that were there, in order; one without an entry gives way where its id is taken."""
        used = {turn.turn_id for turn in [*carried.values(), *added]}
        free = max(used.union(turn.turn_id for turn in self._plain.turns), default=0)
        for index, turn in enumerate(self._plain.turns):
            if index in gone:
                continue
            if index in carried:
                yield carried[index]
            elif turn.turn_id in used:
                free += 1
                self._warn(TURN_ID, turn_key(index), f"id {turn.turn_id} is taken, {free} is not")
                yield attrs.evolve(turn, turn_id=free)
            else:
                yield turn

    def _rebuilt(self, root: _Wire | None, turns: list[Turn]) -> Storyline:
        plain = self._plain
        result = attrs.evolve(
            plain if root is None else root_from_wire(root),
            turns=turns,
            unknown_fields=plain.unknown_fields,
            node=plain.node,
        )
        problems = list(check_model(result))
        if problems:
            raise InvalidDocument(problems)
        return result


EDITED = "the document was edited, the edit wins"


def _inserted(turns: Iterator[Turn], added: list[tuple[int, Turn]]) -> Iterator[Turn]:
    """Yield *turns*, with those *added* at their indices; at the end where there are fewer."""
    position = 0
    for at, new in added:
        while position < at and (turn := next(turns, None)) is not None:
            yield turn
            position += 1
        yield new
        position += 1
    yield from turns


def _is_entry(entry: Json) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() == {"digest", "patch"}
        and isinstance(entry["digest"], str)
        and isinstance(entry["patch"], list)
    )


def _is_move(operation: Json) -> bool:
    """Tell whether an operation of a root entry adds or removes a whole turn."""
    if not isinstance(operation, dict) or turn_index(operation.get("path")) is None:
        return False
    if operation.get("op") == "add":
        return isinstance(operation.get("value"), dict)
    return operation.get("op") == "remove" and isinstance(operation.get("digest"), str)
