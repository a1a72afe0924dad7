"""Sealing: what written documents cannot hold of their Storylines goes into the envelope of each node.

The documents are read back and compared with the Storylines that were meant; the difference is carried, for every
format alike. Source: carrier.md 3 to 5; residuals.md 7.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hub.alignment import align, is_same, match
from hub.carrier import (
    MATCH,
    MAX_ENTRIES,
    ROOT,
    SOURCE,
    digest,
    digest_of_spelling,
    placeless,
    residual_path,
    turn_key,
)
from hub.codec import root_to_wire, turn_to_wire
from hub.difference import difference
from hub.envelope import RESERVED, Sources, envelope, make_room, nodes, put
from hub.errors import InvalidDocument, Json
from hub.hookspecs import FormatInfo
from hub.json import canonical
from hub.patch import Budget, Operation
from hub.storyline.model import Residuals, Storyline, Turn
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
    rooms = [room for document in documents for room in make_room(document, info)]
    plain = read_back(documents)
    if len(plain) != len(storylines):
        message = f"wrote {len(storylines)} Storylines, {len(plain)} are read back; this is a bug of the plugin"
        raise InvalidDocument([MATCH.at("", message=message)])
    homeless = []
    for first, second in match(storylines, [read for _, read in plain]).pairs:
        intended, (document, read) = storylines[first], plain[second]
        node = places[document].get(read.node)
        if node is None:
            homeless.append(intended)
        elif sources := _sources(intended, read, info, options, meant(intended, document)):
            _put(node, info, sources, intended)
    for room in rooms:
        room.restore()
    return homeless


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
    budget = Budget()
    turns: dict[str, Json] = {}
    removed: list[int] = []
    added: list[int] = []
    for before, after in align(plain.turns, intended.turns):
        if before is not None and after is not None and len(turns) < MAX_ENTRIES - 1:
            entry = _turn_entry(plain.turns[before], intended.turns[after], budget)
            if entry is not None:
                turns[turn_key(before)] = entry
            continue
        if before is not None:
            removed.append(before)
        if after is not None:
            added.append(after)
    moves = [*_moved_turns(plain, removed, intended, added), *removals]
    root = _entry(placeless(root_to_wire(plain)), _meant_root(plain, intended), budget, moves)
    return turns if root is None else {ROOT: root, **turns}


def _meant_root(plain: Storyline, intended: Storyline) -> dict[str, Json]:
    """Return the root of *intended*; without the place where it was read, if reading gives it one of its own."""
    wire, origin = root_to_wire(intended), plain.origin
    if origin is None or origin.document_id is None or not intended.is_from(origin.format):
        return wire
    return placeless(wire)


def _turn_entry(plain: Turn, intended: Turn, budget: Budget) -> Json | None:
    if is_same(plain, intended):
        return None
    return _entry(turn_to_wire(plain), turn_to_wire(intended), budget)


def _entry(
    plain: dict[str, Json],
    intended: dict[str, Json],
    budget: Budget,
    moves: Sequence[Operation] = (),
) -> Json | None:
    """Return the entry that makes *intended* of *plain*, with the *moves* of whole turns; None if there is none."""
    spelling = canonical(plain)
    patch = [*difference(plain, intended, budget, spelling=spelling), *moves]
    return {"digest": digest_of_spelling(spelling), "patch": patch} if patch else None


def _moved_turns(
    plain: Storyline, removed: Sequence[int], intended: Storyline, added: Sequence[int]
) -> Iterator[Operation]:
    """Yield the operations that remove and add whole turns: carrier.md 5."""
    for index in reversed(removed):
        guard = digest(turn_to_wire(plain.turns[index]))
        yield {"op": "remove", "path": turn_key(index), "digest": guard}
    for index in added:
        yield {"op": "add", "path": turn_key(index), "value": turn_to_wire(intended.turns[index])}
