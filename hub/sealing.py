"""Sealing: what written documents cannot hold of their Storylines goes into the envelope of each node.

The documents are read back and compared with the Storylines that were meant; the difference is carried, for every
format alike. Source: carrier.md 3 to 5; residuals.md 7.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hub.alignment import align, are_same, match
from hub.carrier import (
    MATCH,
    ROOT,
    SOURCE,
    digest,
    digest_of_spelling,
    placeless,
    residual_path,
    turn_index,
    turn_key,
)
from hub.difference import Change, Known, compare
from hub.envelope import RESERVED, Room, Sources, envelope, make_room, nodes, put
from hub.errors import InvalidDocument, Json
from hub.hookspecs import FormatInfo
from hub.json import canonical
from hub.limits import MAX_ENTRIES
from hub.patch import Budget, Operation
from hub.storyline.model import Residuals, Storyline, Turn
from hub.texts import KEY as TEXTS
from hub.texts import Sharing
from hub.turns import Prompts, compare_turns
from hub.wire import root_to_wire, turn_to_wire
from hub.writing import WriteOptions

ReadBack = Callable[[Sequence[Json]], Sequence[tuple[int, Storyline]]]
"""Reads documents in memory: each Storyline with the index of its document."""

Meant = Callable[[Storyline, int], Storyline]
"""Called with a Storyline and the index of its document."""


def seal(  # noqa: PLR0913  # what was written, by which format, and how to read it again
    storylines: Sequence[Storyline],
    documents: Sequence[Json],
    info: FormatInfo,
    options: WriteOptions,
    *,
    read_back: ReadBack,
    meant: Meant = lambda storyline, _: storyline,
) -> list[Storyline]:
    """Put into *documents* the envelopes of *storylines*, which they were written from; return those without a place.

    *meant* gives what reading should bring back of a Storyline, where that is not what was written.

    Raises:
        InvalidDocument: the documents read back as another number of Storylines, or an envelope's place is taken.
    """
    places = [dict(nodes(document, info.nodes)) for document in documents]
    if not any(places):
        return list(storylines)
    rooms = {id(room.node): room for document in documents for room in make_room(document, info)}

    def compared() -> Iterator[tuple[Storyline, dict[str, Any] | None, Sources]]:
        """Yield each Storyline with its node and what that has to hold, as the documents read now."""
        plain = read_back(documents)
        if len(plain) != len(storylines):
            message = f"wrote {len(storylines)} Storylines, {len(plain)} are read back; this is a bug of the plugin"
            raise InvalidDocument([MATCH.at("", message=message)])
        for first, second in match(storylines, [read for _, read in plain]).pairs:
            intended, (document, read) = storylines[first], plain[second]
            node = places[document].get(read.node)
            sources = (
                {}
                if node is None
                else _sources(intended, read, info, options, meant(intended, document))
            )
            yield intended, node, sources

    found = list(compared())
    lone = [
        (node, sources)
        for _, node, sources in found
        if node is not None and id(node) in rooms and _is_empty_map(sources)
    ]
    if lone:
        _keep_maps(lone, rooms, compared)
    homeless = []
    for intended, node, sources in found:
        if node is None:
            homeless.append(intended)
        elif sources:
            _put(node, info, sources, intended)
    for room in rooms.values():
        room.restore()
    return homeless


def _is_empty_map(sources: Sources) -> bool:
    """Tell whether *sources* carry one empty map and nothing else: maybe the one that was taken away."""
    if sources.keys() != {SOURCE} or sources[SOURCE].fields.keys() != {ROOT}:
        return False
    (operation, *others) = sources[SOURCE].fields[ROOT]["patch"]
    return not others and operation["op"] == "add" and operation["value"] == {}


def _keep_maps(
    lone: Sequence[tuple[dict[str, Any], Sources]],
    rooms: Mapping[int, Room],
    compared: Callable[[], Iterable[tuple[Storyline, dict[str, Any] | None, Sources]]],
) -> None:
    """Empty the sources of nodes that lack nothing once the empty map that was taken away is back.

    An envelope that carries only the map which it stands in would be there for its own sake.
    """
    before = {id(node): dict(node) for node, _ in lone}
    for node, _ in lone:
        rooms[id(node)].restore()
    lacking = {id(node) for _, node, sources in compared() if sources}
    for node, sources in lone:
        if id(node) not in lacking:
            sources.clear()
        else:
            node.clear()
            node.update(before[id(node)])


def _put(node: dict[str, Any], info: FormatInfo, sources: Sources, storyline: Storyline) -> None:
    if put(node, info.envelope, envelope(sources)) is None:
        problem = RESERVED.at(
            info.envelope[0], message="expected a place for the envelope, found none"
        )
        raise InvalidDocument([problem._replace(document=storyline.document_id)])


def _sources(
    intended: Storyline, plain: Storyline, info: FormatInfo, options: WriteOptions, meant: Storyline
) -> Sources:
    """Return what goes into the envelope: foreign residuals, native ones that found no place, the carrier."""
    sources = {
        name: residuals
        for name, residuals in intended.unknown_fields.items()
        if name not in (info.source, SOURCE) and residuals.fields
    }
    unplaced = options.unplaced_residuals.get(id(intended))
    native = intended.unknown_fields.get(info.source)
    if unplaced and native is not None:
        sources[info.source] = Residuals(
            source_document_id=native.source_document_id, fields=unplaced
        )
    fields = entries(plain, meant, _made_by_writing(intended, plain, info))
    if fields:
        sources[SOURCE] = Residuals(source_document_id=intended.document_id, fields=fields)
    return sources


def _made_by_writing(intended: Storyline, plain: Storyline, info: FormatInfo) -> list[Operation]:
    """Return operations that take away what reading sets aside of a Storyline of another format.

    A format may show a Storyline with values that it does not read into one itself. They are no residuals of anybody's,
    as long as they are what was written.
    """
    residuals = plain.unknown_fields.get(info.source)
    if residuals is None or intended.is_from(info.source):
        return []
    native = intended.unknown_fields.get(info.source)
    known = {} if native is None else native.fields
    return [
        {"op": "remove", "path": residual_path(info.source, pointer), "digest": digest(value)}
        for pointer, value in residuals.fields.items()
        if pointer not in known
    ]


def entries(
    plain: Storyline, intended: Storyline, removals: Sequence[Operation] = ()
) -> dict[str, Json]:
    """Return what *plain* lacks of *intended*: an entry for the root, then for each turn, where they differ.

    *removals* of residuals go into the entry of the root.
    """
    sealing = _Sealing(plain)
    sealing.root(intended)
    removed: list[int] = []
    added: list[int] = []
    pairs = () if are_same(plain.turns, intended.turns) else align(plain.turns, intended.turns)
    turns = intended.turns
    for before, after in pairs:
        if before is not None and after is not None and sealing.has_room:
            sealing.turn(before, turns[after])
            continue
        if before is not None:
            removed.append(before)
        if after is not None:
            added.append(after)
    moves = [*_removals(plain, removed), *_additions(intended, added)]
    return sealing.entries([*moves, *removals])


class _Sealing:
    """The entries of one node, while they are made."""

    def __init__(self, plain: Storyline) -> None:
        self._plain = plain
        self._root = placeless(root_to_wire(plain))
        self._entries: dict[str, Any] = {}
        self._unsettled: dict[str, Change] = {}
        """Changes whose patches depend on what other entries need."""
        self._prompts: Prompts = {}
        self._known: Known = {}
        self._sharing = Sharing(plain, self._root)
        self._budget = Budget()

    @property
    def has_room(self) -> bool:
        """Whether there may be an entry for another turn, beside that of the root and the table of texts."""
        return len(self._entries) < MAX_ENTRIES - 2

    def root(self, intended: Storyline) -> None:
        """Add what the plain root lacks of *intended*."""
        meant = _meant_root(self._plain, intended)
        operations = compare(self._root, meant)
        if operations:
            change = Change(operations, self._root, lambda: meant, self._known)
            self._add(ROOT, change, self._root)

    def turn(self, index: int, intended: Turn) -> None:
        """Add what the plain turn at *index* lacks of *intended*."""
        turn = self._plain.turns[index]
        operations = compare_turns(turn, intended, self._prompts)
        if operations:
            plain = turn_to_wire(turn)
            change = Change(operations, plain, lambda: turn_to_wire(intended), self._known)
            self._add(turn_key(index), change, plain)

    def _add(self, key: str, change: Change, plain: dict[str, Json]) -> None:
        spelling = canonical(plain)
        homes: dict[str, str] | None = {}
        if change.places:
            homes = self._sharing.add(key, change, plain, spelling)
        if homes is None:
            self._unsettled[key] = change
        patch = [] if homes is None else change.patch(homes, self._budget)
        self._entries[key] = {"digest": digest_of_spelling(spelling), "patch": patch}

    def entries(self, moves: list[Operation]) -> dict[str, Json]:
        """Return the entries, *moves* among those of the root, and the table of the texts they share."""
        self._sharing.settle(self._wire)
        for key, change in self._unsettled.items():
            patch = change.patch(self._sharing.homes(key, change), self._budget)
            self._entries[key]["patch"] = patch
        made = self._entries
        if moves:
            root = made.pop(ROOT, {"digest": digest(self._root), "patch": []})
            made = {ROOT: {**root, "patch": [*root["patch"], *moves]}, **made}
        return {**made, TEXTS: self._sharing.table} if self._sharing.table else made

    def _wire(self, key: str) -> dict[str, Json]:
        """Return the wire JSON of the plain element with *key*."""
        index = turn_index(key)
        return self._root if index is None else turn_to_wire(self._plain.turns[index])


def _meant_root(plain: Storyline, intended: Storyline) -> dict[str, Json]:
    """Return the root of *intended*; without the place where it was read, if reading gives it one of its own."""
    wire, origin = root_to_wire(intended), plain.origin
    if origin is None or origin.document_id is None or not intended.is_from(origin.format):
        return wire
    return placeless(wire)


def _removals(plain: Storyline, removed: Sequence[int]) -> Iterator[Operation]:
    """Yield the operations that remove whole turns, from the last on: carrier.md 5."""
    for index in reversed(removed):
        guard = digest(turn_to_wire(plain.turns[index]))
        yield {"op": "remove", "path": turn_key(index), "digest": guard}


def _additions(intended: Storyline, added: Sequence[int]) -> Iterator[Operation]:
    """Yield the operations that add whole turns: carrier.md 5."""
    for index in added:
        yield {"op": "add", "path": turn_key(index), "value": turn_to_wire(intended.turns[index])}
