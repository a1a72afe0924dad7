"""The `_storyline` envelope, version 1: how residuals of other formats travel inside a document.

Envelopes are taken out of a record before the plugin parses it, checked, and attached to the Storylines that the plugin
makes. Source: residuals.md 7; carrier.md 2 for the nodes of a format.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from hub import pointer as pointers
from hub.errors import MISSING, InvalidDocument, Json, Problem, Rule
from hub.hookspecs import FormatInfo
from hub.json import dumps, in_one_piece
from hub.limits import exceeded
from hub.residuals import ENVELOPE, add_residuals, equal
from hub.storyline.model import Residuals, Storyline

SHAPE = Rule("envelope.shape", "fatal", "an envelope of version 1")
VERSION = Rule("envelope.version", "fatal", "1")
CARRIER = Rule("envelope.carrier", "fatal", "the pointer of a node")
OWN_SOURCE = Rule("envelope.own-source", "fatal", "sources of other formats")
CONFLICT = Rule("envelope.conflict", "fatal", "one document id a source, one value a pointer")
SIZE = Rule("envelope.size", "fatal", "an envelope within the limit")
RESERVED = Rule("envelope.reserved", "fatal", "a free place for the envelope")

ROOT_FORM = f"/{ENVELOPE}"
"""Place of the reference's envelopes, which name their carriers: residuals.md 7.4."""

RECORDS = "/*"
"""Pattern of the records of a document that is made of many; not of the members of one that is an object."""

NO_ALIASES: Mapping[str, str] = MappingProxyType({})

POINTER = "an RFC 6901 pointer"

Sources = dict[str, Residuals]


class Envelope(NamedTuple):
    """An envelope as it was found."""

    holder: str
    """Pointer of the object that carrier pointers are relative to: the node, or the root."""
    place: str
    """Pointer of the envelope itself, for messages."""
    value: Json
    refused: Problem | None = None
    """Why it is not opened; its value is gone then."""


class Opened(NamedTuple):
    """What the envelopes of one record hold, by the pointer of the node."""

    by_node: dict[str, Sources]
    places: dict[str, str]
    problems: list[Problem]


# Nodes


def nodes(document: Json, patterns: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield pointer and value of each object of *document* where a node can be, parents first (carrier.md 2)."""
    for pattern in patterns:
        if pattern == RECORDS and not isinstance(document, list):
            continue
        tokens = pointers.split(pattern.removesuffix("/**"))
        is_repeated = pattern.endswith("/**") and bool(tokens)
        todo = [("", document)]
        for pointer, value in todo:  # grows on the way
            for match in _matches(pointer, value, tokens):
                yield match
                if is_repeated:
                    todo.append(match)


def _matches(
    pointer: str, value: Json, tokens: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if not tokens:
        if isinstance(value, dict):
            yield pointer, value
        return
    for key, member in _members(value, tokens[0]):
        yield from _matches(f"{pointer}/{pointers.escape(key)}", member, tokens[1:])


def _members(value: Json, token: str) -> Iterable[tuple[object, Json]]:
    if isinstance(value, dict):
        if token == "*":
            return list(value.items())
        return [(token, value[token])] if token in value else []
    return enumerate(value) if isinstance(value, list) and token == "*" else []


def _places(document: Json, info: FormatInfo) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield pointer and value of each object that may hold an envelope, and the place of it in there."""
    if ROOT_FORM in info.envelope and isinstance(document, dict):
        yield "", document, ROOT_FORM
    for pointer, node in nodes(document, info.nodes):
        for place in info.envelope:
            yield pointer, node, place


def _holder(node: dict[str, Any], parents: Iterable[str]) -> dict[str, Any] | None:
    """Return the map below *node* in which the envelope is; None if there is no such map."""
    holder: Json = node
    for token in parents:
        holder = holder.get(token) if isinstance(holder, dict) else None
    return holder if isinstance(holder, dict) else None


def _prune(node: dict[str, Any], parents: Sequence[str]) -> None:
    """Remove the map at *parents* if it is empty, and those that this leaves empty."""
    for end in range(len(parents), 0, -1):
        holder = _holder(node, parents[: end - 1])
        if holder is None or holder[parents[end - 1]]:
            return
        del holder[parents[end - 1]]


@lru_cache(maxsize=64)
def _split(place: str) -> tuple[str, ...]:
    """Return the tokens of a *place* for envelopes, of which there are few."""
    return tuple(pointers.split(place))


# Taking out


def take(document: Json, info: FormatInfo) -> list[Envelope]:
    """Remove the envelopes of *document* and return them; a map that is left empty by that goes with them."""
    taken = []
    for pointer, node, place in _places(document, info):
        *parents, key = _split(place)
        holder = _holder(node, parents)
        if holder is not None and key in holder:
            taken.append(Envelope(pointer, pointer + place, holder.pop(key)))
            _prune(node, parents)
    return taken


def bounded(envelope: Envelope, limit: int) -> Envelope:
    """Return *envelope*, without its value if that is longer than *limit*: bytes, as compact JSON."""
    if len(dumps(envelope.value)) <= limit:
        return envelope
    problem = exceeded(SIZE, "envelope", limit, "bytes")._replace(pointer=envelope.place)
    return envelope._replace(value=None, refused=problem)


# Opening


def open_all(
    envelopes: Iterable[Envelope], info: FormatInfo, aliases: Mapping[str, str] = NO_ALIASES
) -> Opened:
    """Check *envelopes* and return what they hold by node; everything wrong with them is in `problems`.

    *aliases* are further pointers that stand for a node (the rows of one Storyline), with the pointer of that node.
    """
    opened = Opened({}, {}, [])
    for envelope in envelopes:
        problems = [envelope.refused] if envelope.refused else list(_shape_problems(envelope))
        opened.problems.extend(problems)
        if problems:
            continue
        at = f"{envelope.place}/unknown_fields/by_trajectory"
        for carrier, entry in envelope.value["unknown_fields"]["by_trajectory"].items():
            node = aliases.get(envelope.holder + carrier, envelope.holder + carrier)
            here = f"{at}/{pointers.escape(carrier)}"
            opened.places.setdefault(node, here)
            held = opened.by_node.setdefault(node, {})
            for name, source in entry["sources"].items():
                place = f"{here}/sources/{pointers.escape(name)}"
                if carrier and name == info.source:
                    opened.problems.append(OWN_SOURCE.at(place, name))
                else:
                    opened.problems.extend(_merge(held, name, source, place))
    return opened


def _merge(held: Sources, name: str, source: dict[str, Json], at: str) -> Iterator[Problem]:
    known = held.get(name)
    if known is None:
        held[name] = Residuals(
            source_document_id=source["source_document_id"], fields=dict(source["fields"])
        )
        return
    if known.source_document_id != source["source_document_id"]:
        yield CONFLICT.at(f"{at}/source_document_id", source["source_document_id"])
        return
    for pointer, value in source["fields"].items():
        if not equal(known.fields.setdefault(pointer, value), value):
            yield CONFLICT.at(f"{at}/fields/{pointers.escape(pointer)}", value)


def _shape_problems(envelope: Envelope) -> Iterator[Problem]:
    """Yield what is not exactly the version-1 shape: residuals.md 7.1 and 7.4, rules 2 to 4."""
    at, value = envelope.place, envelope.value
    yield from _closed(value, ("unknown_fields",), at)
    unknown = _member(value, "unknown_fields", {"version": 1, "by_trajectory": {}})
    at += "/unknown_fields"
    yield from _closed(unknown, ("version", "by_trajectory"), at)
    version = _member(unknown, "version", 1)
    if type(version) is not int:
        yield SHAPE.at(f"{at}/version", version, expected="the integer 1")
    elif version != 1:
        yield VERSION.at(f"{at}/version", version)
        return
    carriers = _member(unknown, "by_trajectory", {})
    at += "/by_trajectory"
    yield from _object(carriers, at)
    for carrier, entry in _items(carriers):
        here = f"{at}/{pointers.escape(carrier)}"
        if not pointers.is_pointer(carrier):
            yield SHAPE.at(here, carrier, expected=POINTER)
        yield from _closed(entry, ("sources",), here)
        sources = _member(entry, "sources", {})
        yield from _object(sources, f"{here}/sources")
        for name, source in _items(sources):
            yield from _source_problems(source, f"{here}/sources/{pointers.escape(name)}")


def _source_problems(source: Json, at: str) -> Iterator[Problem]:
    yield from _closed(source, ("source_document_id", "fields"), at)
    document_id = _member(source, "source_document_id", "")
    if not isinstance(document_id, str):
        yield SHAPE.at(f"{at}/source_document_id", document_id, expected="a string")
    fields = _member(source, "fields", {})
    yield from _object(fields, f"{at}/fields")
    for pointer, _ in _items(fields):
        if not pointers.is_pointer(pointer):
            yield SHAPE.at(f"{at}/fields/{pointers.escape(pointer)}", pointer, expected=POINTER)


def _member(value: Json, key: str, default: Json) -> Json:
    """Return a member, or *default*, which has no problem, where one is reported already."""
    return value.get(key, default) if isinstance(value, dict) else default


def _items(value: Json) -> Iterable[tuple[str, Json]]:
    return value.items() if isinstance(value, dict) else ()


def _object(value: Json, at: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield SHAPE.at(at, value, expected="an object")


def _closed(value: Json, keys: tuple[str, ...], at: str) -> Iterator[Problem]:
    """Yield a problem unless *value* is an object with exactly *keys*."""
    if not isinstance(value, dict):
        yield SHAPE.at(at, value, expected="an object")
        return
    for key in keys:
        if key not in value:
            yield SHAPE.at(f"{at}/{key}", expected="a value")
    for key in value:
        if key not in keys:
            yield SHAPE.at(f"{at}/{pointers.escape(key)}", value[key], expected="no further key")


# Attaching


def attach(opened: Opened, storylines: Sequence[Storyline], info: FormatInfo) -> list[Problem]:
    """Add what the envelopes hold to the residuals of *storylines*; return what is wrong, and then add nothing.

    The source `storyline`, the carrier, is not among the residuals: `hub.carrier` takes it out of *opened* first.
    """
    by_node = {storyline.node: storyline for storyline in storylines}
    problems = list(opened.problems)
    for node, sources in opened.by_node.items():
        if node in by_node:
            problems.extend(_conflicts(by_node[node], sources, info, opened.places[node]))
        else:
            problems.append(CARRIER.at(opened.places[node], node))
    if problems:
        return problems
    for node, sources in opened.by_node.items():
        for name, residuals in sources.items():
            _attach_source(by_node[node], name, residuals, is_own=name == info.source)
    return []


def _conflicts(
    storyline: Storyline, sources: Sources, info: FormatInfo, at: str
) -> Iterator[Problem]:
    """Yield the foreign sources that *storyline* has already, with the id of another document."""
    for name, residuals in sources.items():
        known = storyline.unknown_fields.get(name)
        if name == info.source or known is None or not residuals.fields:
            continue
        if known.source_document_id != residuals.source_document_id:
            place = f"{at}/sources/{pointers.escape(name)}/source_document_id"
            yield CONFLICT.at(place, residuals.source_document_id)


def _attach_source(storyline: Storyline, name: str, residuals: Residuals, *, is_own: bool) -> None:
    """Add one source; of the format's own, what reading captured wins (residuals.md 7.4, rule 8)."""
    captured = storyline.unknown_fields.get(name)
    if is_own and captured is not None:
        captured.fields = {**residuals.fields, **captured.fields}
    else:
        add_residuals(storyline, name, residuals.source_document_id, residuals.fields)


# Putting in


class Room(NamedTuple):
    """A node whose map was taken away because it would hold nothing but the envelope."""

    node: dict[str, Any]
    before: dict[str, Any]
    """The members of the node with that map, in their order."""

    def restore(self) -> None:
        """Put the map back, unless it has been made anew for an envelope."""
        members = {**self.before, **self.node}
        self.node.clear()
        self.node.update(members)


def make_room(document: Json, info: FormatInfo) -> list[Room]:
    """Take away the maps of *document* that would hold nothing but the envelope, as a reader does.

    Source: carrier.md 3, step 1.

    Raises:
        InvalidDocument: something stands at the place of an envelope.
    """
    rooms = []
    for pointer, node, place in _places(document, info):
        *parents, key = pointers.split(place)
        holder = _holder(node, parents)
        if holder is None:
            continue
        if key in holder:
            raise InvalidDocument([RESERVED.at(pointer + place, holder[key])])
        if parents and not holder:
            rooms.append(Room(node, dict(node)))
            _own(node, parents)
            _prune(node, parents)
    return rooms


def envelope(sources: Sources) -> Json:
    """Return the envelope that holds *sources* for the node it stands in."""
    held = {
        name: {"source_document_id": residuals.source_document_id, "fields": residuals.fields}
        for name, residuals in sources.items()
    }
    return {"unknown_fields": {"version": 1, "by_trajectory": {"": {"sources": held}}}}


def put(node: dict[str, Any], places: Iterable[str], value: Json) -> str | None:
    """Put an envelope into *node* at the first of *places* that can be made, and return that place; None if none can.

    A place can be made when its parents are objects or missing, and nothing stands there.
    """
    for place in places:
        *parents, key = pointers.split(place)
        if _can_make(node, parents) and key not in (_holder(node, parents) or {}):
            _own(node, parents)[key] = value
            return place
    return None


def _can_make(node: dict[str, Any], parents: Iterable[str]) -> bool:
    holder: Json = node
    for token in parents:
        holder = holder.get(token, MISSING)
        if not isinstance(holder, dict):
            return holder is MISSING
    return True


def _own(node: dict[str, Any], parents: Iterable[str]) -> dict[str, Any]:
    """Return the map below *node*, after all on the way to it were copied, which a Storyline may share, or made."""
    holder = node
    for token in parents:
        holder[token] = dict(holder.get(token, ()))
        holder = holder[token]
    return holder


_NEAR = 200
"""Tokens of a pointer up to which no envelope that is written as one piece can make a document too deep."""


def compact(document: Json, info: FormatInfo) -> None:
    """Make the text of each envelope in *document* compact, even where the document's is indented.

    Nobody reads it there, and indented it would be longer than what it is about.
    """
    for pointer, node, place in _places(document, info):
        *parents, key = pointers.split(place)
        holder = _holder(node, parents)
        if holder is not None and key in holder and pointer.count("/") <= _NEAR:
            holder[key] = in_one_piece(holder[key])
