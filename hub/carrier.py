"""The carrier: what a document cannot hold of a Storyline travels in its envelope, for every format alike.

After a plugin wrote a batch, its documents are read back, compared with the Storylines that were meant, and the difference is
sealed into the envelope of each node. On reading, each difference is applied to the element it was made for; one that fits
nothing is discarded with a warning: the document was edited, and the edit wins. Source: carrier.md 3 to 9.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from operator import attrgetter, is_
from typing import Any

import attrs

from hub import pointer as pointers
from hub.codec import root_from_wire, root_to_wire, turn_from_wire, turn_to_wire
from hub.envelope import RESERVED, Opened, Sources, attach, envelope, nodes, put
from hub.errors import InvalidDocument, Json, Problem, Rule
from hub.hookspecs import FormatInfo
from hub.json import canonical
from hub.difference import difference
from hub.patch import Budget, Operation, PatchError, apply
from hub.residuals import UNPLACED, equal
from hub.storyline.model import Residuals, Storyline, Turn
from hub.storyline.rules import check_model
from hub.writing import WriteOptions

STALE = Rule("carrier.stale", "warning", "the element that the entry was made for", "the edit")
MALFORMED = Rule(
    "carrier.malformed", "warning", "an entry of digest and patch", "the plain element"
)
TURN_ID = Rule("carrier.turn-id", "warning", "a turn id that is not taken", "another id")
INVALID = Rule("carrier.invalid", "warning", "a valid Storyline", "the plain reading")
MATCH = Rule("carrier.match", "fatal", "as many Storylines as were written")

RULES = (STALE, MALFORMED, TURN_ID, INVALID, MATCH)

SOURCE = "storyline"
"""Name of the carrier among the sources of an envelope."""

MAX_ENTRIES = 1_000_000
MAX_BLOCK = 4_000_000
"""Product of the lengths of two lists of turns above which they are one block: carrier.md 5."""

CLOSED = frozenset({"schema_version", "turns", "unknown_fields", "unknown_key_counts"})
"""Members of the root that no patch of it may touch, but for turns added and removed whole."""

_ENTRY = re.compile(r"/turns/(0|[1-9]\d{0,18})", re.ASCII).fullmatch

ReadBack = Callable[[Sequence[Json]], Sequence[tuple[int, Storyline]]]
"""Reads documents in memory: each Storyline with the index of its document."""


def digest(element: Json) -> str:
    """Return the digest of an element, 32 hex digits: carrier.md 4.2."""
    from blake3 import blake3

    return str(blake3(canonical(element)).hexdigest()[:32])


# Writing


def seal(
    storylines: Sequence[Storyline],
    documents: Sequence[Json],
    info: FormatInfo,
    options: WriteOptions,
    read_back: ReadBack,
) -> None:
    """Put into *documents* the envelopes of *storylines*, which they were written from: carrier.md 3.

    Raises:
        InvalidDocument: the documents read back as another number of Storylines, or an envelope's place is taken.
    """
    spare = list(_take_empty_maps(documents, info))
    plain = read_back(documents)
    for intended, (index, read) in _match(storylines, plain):
        sources = _residual_sources(intended, info, options)
        entries = _entries(read, intended)
        if entries:
            sources[SOURCE] = Residuals(source_document_id=intended.document_id, fields=entries)
        if sources:
            node = pointers.get(documents[index], pointers.split(read.node))
            if put(node, info.envelope, envelope(sources)) is None:
                message = f"the place of the envelope is taken at {read.node!r}"
                problem = RESERVED.at("/extra", message=message)
                raise InvalidDocument([problem._replace(document=intended.document_id)])
    for node, key in spare:
        node.setdefault(key, {})


def _take_empty_maps(
    documents: Sequence[Json], info: FormatInfo
) -> Iterator[tuple[dict[str, Json], str]]:
    """Remove the maps that would hold nothing but the envelope, as a reader does; yield their node and key."""
    for document in documents:
        for _, node in nodes(document, info.nodes):
            for place in info.envelope:
                key, _, rest = place[1:].partition("/")
                if rest and node.get(key) == {}:
                    del node[key]
                    yield node, key


def _residual_sources(storyline: Storyline, info: FormatInfo, options: WriteOptions) -> Sources:
    """Return the foreign residuals of *storyline*, and the native ones that found no place: residuals.md 7.3."""
    sources = {
        name: residuals
        for name, residuals in storyline.unknown_fields.items()
        if name not in (info.source, SOURCE) and residuals.fields
    }
    unplaced = options.unplaced_residuals.get(id(storyline))
    native = storyline.unknown_fields.get(info.source)
    if unplaced and native is not None:
        sources[info.source] = Residuals(
            source_document_id=native.source_document_id, fields=unplaced
        )
        for pointer in unplaced:
            problem = UNPLACED.at(
                pointer, message="no place in the document; it travels in the envelope"
            )
            options.warn(problem, storyline)
    return sources


def _match(
    intended: Sequence[Storyline], plain: Sequence[tuple[int, Storyline]]
) -> Iterator[tuple[Storyline, tuple[int, Storyline]]]:
    """Yield each Storyline with the one that was read back for it: carrier.md 3, step 3."""
    if len(intended) != len(plain):
        message = f"wrote {len(intended)} Storylines, {len(plain)} are read back; this is a bug of the plugin"
        raise InvalidDocument([MATCH.at("", message=message)])
    left, right = list(intended), list(plain)
    for key in (_document_id, _attempt):
        found = _by_key(left, right, key)
        yield from found
        taken = {id(one) for one, _ in found}, {id(two) for _, (_, two) in found}
        left = [one for one in left if id(one) not in taken[0]]
        right = [two for two in right if id(two[1]) not in taken[1]]
    yield from zip(left, right, strict=True)


def _by_key(
    left: Sequence[Storyline],
    right: Sequence[tuple[int, Storyline]],
    key: Callable[[Storyline], Any],
) -> list[tuple[Storyline, tuple[int, Storyline]]]:
    """Return the pairs of equal keys that are unique on both sides."""
    counts = Counter(map(key, left)), Counter(key(two[1]) for two in right)
    unique = {key(two[1]): two for two in right if counts[1][key(two[1])] == 1}
    return [
        (one, unique[at])
        for one in left
        if (at := key(one)) is not None and counts[0][at] == 1 and at in unique
    ]


def _document_id(storyline: Storyline) -> str:
    return storyline.document_id


def _attempt(storyline: Storyline) -> tuple[str, str] | None:
    run, attempt = storyline.run_id, storyline.attempt_id
    return None if run is None or attempt is None else (run, attempt)


def _entries(plain: Storyline, intended: Storyline) -> dict[str, Json]:
    """Return what *plain* lacks of *intended*, by element: carrier.md 1 and 5."""
    budget = Budget()
    turns: dict[str, Json] = {}
    removed: list[int] = []
    added: list[int] = []
    for before, after in _align(plain.turns, intended.turns):
        if after is None and before is not None:
            removed.append(before)
        elif before is None and after is not None:
            added.append(after)
        elif before is not None and after is not None:
            entry = _turn_entry(plain.turns[before], intended.turns[after], budget)
            if entry is not None:
                turns[f"/turns/{before}"] = entry
    root = _root_entry(plain, intended, removed, added, budget)
    return turns if root is None else {"": root, **turns}


def _root_entry(
    plain: Storyline, intended: Storyline, removed: list[int], added: list[int], budget: Budget
) -> Json | None:
    before, after = root_to_wire(plain), root_to_wire(intended)
    patch: list[Operation] = difference(before, after, budget)
    patch += [
        {
            "op": "remove",
            "path": f"/turns/{index}",
            "digest": digest(turn_to_wire(plain.turns[index])),
        }
        for index in reversed(removed)
    ]
    patch += [
        {"op": "add", "path": f"/turns/{index}", "value": turn_to_wire(intended.turns[index])}
        for index in added
    ]
    return {"digest": digest(before), "patch": patch} if patch else None


_members_of_turn = attrgetter(*(attribute.name for attribute in attrs.fields(Turn)))


def _turn_entry(plain: Turn, intended: Turn, budget: Budget) -> Json | None:
    if all(map(is_, _members_of_turn(plain), _members_of_turn(intended))):
        return None
    before, after = turn_to_wire(plain), turn_to_wire(intended)
    patch = difference(before, after, budget)
    return {"digest": digest(before), "patch": patch} if patch else None


# Alignment


def _align(
    plain: Sequence[Turn], intended: Sequence[Turn]
) -> Iterator[tuple[int | None, int | None]]:
    """Yield index pairs of the turns that belong together, with None for a turn without a partner: carrier.md 5."""
    shorter = min(len(plain), len(intended))
    head = 0
    while head < shorter and _is_alike(plain[head], intended[head]):
        head += 1
    tail = 0
    while tail < shorter - head and _is_alike(plain[-1 - tail], intended[-1 - tail]):
        tail += 1
    yield from ((index, index) for index in range(head))
    ends = len(plain) - tail, len(intended) - tail
    for a, b, c, d in _blocks(plain[head : ends[0]], intended[head : ends[1]]):
        paired = min(b - a, d - c)
        yield from ((head + a + n, head + c + n) for n in range(paired))
        yield from ((head + n, None) for n in range(a + paired, b))
        yield from ((None, head + n) for n in range(c + paired, d))
    yield from ((ends[0] + n, ends[1] + n) for n in range(tail))


def _blocks(plain: Sequence[Turn], intended: Sequence[Turn]) -> Iterator[tuple[int, int, int, int]]:
    if not plain and not intended:
        return
    if len(plain) * len(intended) > MAX_BLOCK:
        yield 0, len(plain), 0, len(intended)
        return
    matcher = SequenceMatcher(
        None, list(map(_key, plain)), list(map(_key, intended)), autojunk=False
    )
    for _, a, b, c, d in matcher.get_opcodes():
        yield a, b, c, d


def _is_alike(one: Turn, other: Turn) -> bool:
    """Tell whether two turns have one key, without making it."""
    if not equal(one.message, other.message) and _key(one) != _key(other):
        return False
    return _call_ids(one) == _call_ids(other)


def _key(turn: Turn) -> tuple[tuple[str, ...], str]:
    message = turn.message
    text = message if isinstance(message, str) else canonical(message).decode()
    return _call_ids(turn), text


def _call_ids(turn: Turn) -> tuple[str, ...]:
    return tuple(call.tool_call_id for call in turn.tool_calls) if turn.tool_calls else ()


# Reading


def open_into(storylines: list[Storyline], opened: Opened, info: FormatInfo) -> list[Problem]:
    """Give *storylines* what the envelopes of their document carried; return every problem with that: carrier.md 6."""
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
                storylines[index] = _Opening(storylines[index], problems).apply(carrier.fields)
    return problems


class _Opening:
    """One Storyline to which carried entries are applied."""

    def __init__(self, plain: Storyline, problems: list[Problem]) -> None:
        self._plain = plain
        self._problems = problems
        self._budget = Budget()
        self._wires = [turn_to_wire(turn) for turn in plain.turns]
        self._digests: dict[str, list[int]] | None = None

    def apply(self, entries: dict[str, Json]) -> Storyline:
        """Return the Storyline with *entries* applied, or the plain one if that would be none."""
        if len(entries) > MAX_ENTRIES:
            self._warn(MALFORMED, "root", f"more than {MAX_ENTRIES} entries")
            return self._plain
        known, turn_operations, root = self._split(entries)
        patched = self._patched_turns(known)
        wires = self._moved_turns(patched, turn_operations)
        try:
            return self._rebuilt(root, wires)
        except InvalidDocument as error:
            self._warn(INVALID, "root", f"the patched Storyline is none: {error.problems[0]}")
            return self._plain

    def _warn(self, rule: Rule, entry: str, what: str) -> None:
        self._problems.append(rule.at(self._plain.node, message=f"{entry}: {what}"))

    def _split(
        self, entries: dict[str, Json]
    ) -> tuple[dict[int, Json], list[Operation], dict[str, Json] | None]:
        """Return the entries of turns by index, the operations on whole turns, and the patched root (None: plain)."""
        turns: dict[int, Json] = {}
        turn_operations: list[Operation] = []
        root = None
        for key, entry in entries.items():
            match = _ENTRY(key)
            if (key and match is None) or not _is_entry(entry):
                self._warn(
                    MALFORMED, key or "root", "no entry of digest and patch for the root or a turn"
                )
            elif match is not None:
                turns[int(match[1])] = entry
            else:
                own = [one for one in entry["patch"] if not _is_turn_operation(one)]
                turn_operations = [one for one in entry["patch"] if _is_turn_operation(one)]
                root = self._patched_root(entry["digest"], own)
        return dict(sorted(turns.items())), turn_operations, root

    def _patched_root(self, guard: str, patch: list[Operation]) -> dict[str, Json] | None:
        plain = root_to_wire(self._plain)
        if guard != digest(plain):
            if patch:
                self._warn(STALE, "root", "the document was edited, the edit wins")
            return None
        try:
            return apply(plain, patch, self._budget, closed=CLOSED)
        except PatchError as error:
            self._warn(MALFORMED, "root", str(error))
            return None

    def _patched_turns(self, entries: dict[int, Json]) -> dict[int, dict[str, Json]]:
        """Return the patched wire JSON of each turn that an entry fits, by the turn's index."""
        patched: dict[int, dict[str, Json]] = {}
        for at, entry in entries.items():
            index = self._find(at, entry["digest"], patched.keys())
            if index is None:
                self._warn(STALE, f"/turns/{at}", "the document was edited, the edit wins")
                continue
            try:
                wire = apply(self._wires[index], entry["patch"], self._budget)
                if type(wire.get("id")) is not int:
                    raise PatchError("it leaves the turn without an integer id")  # noqa: TRY301
            except PatchError as error:
                self._warn(MALFORMED, f"/turns/{at}", str(error))
                continue
            patched[index] = wire
        return patched

    def _find(self, at: int, guard: str, taken: Any) -> int | None:
        """Return the index of the turn that has the digest *guard*: the one at *at*, else the only other one."""
        if at < len(self._wires) and at not in taken and digest(self._wires[at]) == guard:
            return at
        if self._digests is None:
            self._digests = {}
            for index, wire in enumerate(self._wires):
                self._digests.setdefault(digest(wire), []).append(index)
        free = [index for index in self._digests.get(guard, ()) if index not in taken]
        return free[0] if len(free) == 1 else None

    def _moved_turns(
        self, patched: dict[int, dict[str, Json]], operations: list[Operation]
    ) -> list[dict[str, Json]]:
        """Return the wire JSON of all turns: patched ones replaced, removed ones gone, added ones in their place."""
        gone: set[int] = set()
        added: list[tuple[int, dict[str, Json]]] = []
        for operation in operations:
            at = int(operation["path"].rpartition("/")[2])
            if operation["op"] == "add":
                added.append((at, operation["value"]))
                continue
            index = self._find(at, operation["digest"], gone)
            if index is None:
                self._warn(STALE, f"/turns/{at}", "the turn to remove is not there")
            else:
                gone.add(index)
        fixed = [wire for _, wire in added] + [
            wire for index, wire in patched.items() if index not in gone
        ]
        wires = []
        used = {wire["id"] for wire in fixed if type(wire.get("id")) is int}
        for index, wire in enumerate(self._wires):
            if index in gone:
                continue
            own = patched.get(index)
            if own is None and wire["id"] in used:
                self._warn(TURN_ID, f"/turns/{index}", f"its id {wire['id']} is taken")
                wires.append({**wire, "id": None})
            else:
                wires.append(wire if own is None else own)
        for at, wire in sorted(added, key=lambda one: one[0]):
            wires.insert(at, wire)
        return _with_free_ids(wires)

    def _rebuilt(self, root: dict[str, Json] | None, wires: list[dict[str, Json]]) -> Storyline:
        plain = self._plain
        kept = {id(wire): turn for wire, turn in zip(self._wires, plain.turns, strict=True)}
        storyline = plain if root is None else root_from_wire(root)
        result = attrs.evolve(
            storyline,
            turns=[kept.get(id(wire)) or turn_from_wire(wire) for wire in wires],
            unknown_fields=plain.unknown_fields,
            node=plain.node,
        )
        problems = list(check_model(result))
        if problems:
            raise InvalidDocument(problems)
        return result


def _with_free_ids(wires: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Give each turn without an id the next integer above all ids, in order."""
    free = max((wire["id"] for wire in wires if type(wire.get("id")) is int), default=0) + 1
    for wire in wires:
        if "id" in wire and wire["id"] is None:
            wire["id"], free = free, free + 1
    return wires


def _is_entry(entry: Json) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() == {"digest", "patch"}
        and isinstance(entry["digest"], str)
        and isinstance(entry["patch"], list)
    )


def _is_turn_operation(operation: Json) -> bool:
    """Tell whether an operation of a root entry adds or removes a whole turn."""
    if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
        return False
    if _ENTRY(operation["path"]) is None:
        return False
    if operation.get("op") == "add":
        return operation.keys() == {"op", "path", "value"} and isinstance(operation["value"], dict)
    return (
        operation.get("op") == "remove"
        and operation.keys() == {"op", "path", "digest"}
        and isinstance(operation["digest"], str)
    )
