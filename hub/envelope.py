"""The `_storyline` envelope, version 1: how residuals of other formats travel inside a document.

Envelopes are taken out of a record before the plugin parses it, checked, and attached to the Storylines that the plugin makes.
Source: residuals.md 7; carrier.md 2 for the nodes of a format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import Factory, define, frozen

from hub import pointer as pointers
from hub.errors import Json, Problem, Rule
from hub.hookspecs import FormatInfo
from hub.residuals import ENVELOPE, add_residuals, equal
from hub.storyline.model import Residuals, Storyline

SHAPE = Rule("envelope.shape", "fatal", "an envelope of version 1")
VERSION = Rule("envelope.version", "fatal", "1")
CARRIER = Rule("envelope.carrier", "fatal", "the pointer of a node")
OWN_SOURCE = Rule("envelope.own-source", "fatal", "sources of other formats")
CONFLICT = Rule("envelope.conflict", "fatal", "one document id a source, one value a pointer")
RESERVED = Rule("envelope.reserved", "fatal", "a free place for the envelope")

ROOT_FORM = f"/{ENVELOPE}"
"""Place of the reference's envelopes, which name their carriers: residuals.md 7.4."""

Sources = dict[str, Residuals]


@frozen
class Envelope:
    """An envelope as it was found."""

    holder: str
    """Pointer of the object that carrier pointers are relative to: the node, or the root."""
    place: str
    """Pointer of the envelope itself, for messages."""
    value: Json


@define(eq=False)
class Opened:
    """What the envelopes of one record hold, by the pointer of the node."""

    by_node: dict[str, Sources] = Factory(dict)
    places: dict[str, str] = Factory(dict)
    problems: list[Problem] = Factory(list)


# Nodes


def nodes(document: Json, patterns: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield pointer and value of each object of *document* where a node can be, parents first (carrier.md 2)."""
    for pattern in patterns:
        repeated = pattern.endswith("/**")
        tokens = pattern.removesuffix("/**").split("/")[1:]
        todo = [("", document)]
        while todo:
            found = list(_matches(*todo.pop(0), tokens))
            yield from found
            if repeated:
                todo.extend(found)


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
            return [(key, member) for key, member in value.items() if key != ENVELOPE]
        return [(token, value[token])] if token in value else []
    return enumerate(value) if isinstance(value, list) and token == "*" else []


# Taking out


def take(document: Json, info: FormatInfo) -> list[Envelope]:
    """Remove the envelopes of *document* and return them; a map that is left empty by that goes with them."""
    taken = []
    for pointer, node in nodes(document, info.nodes):
        for place in info.envelope:
            taken.extend(_take_at(pointer, node, place))
    if ROOT_FORM in info.envelope and isinstance(document, dict):
        taken.extend(_take_at("", document, ROOT_FORM))
    return taken


def _take_at(pointer: str, node: dict[str, Json], place: str) -> Iterator[Envelope]:
    *parents, key = pointers.split(place)
    holder: Json = node
    for token in parents:
        holder = holder.get(token) if isinstance(holder, dict) else None
    if not isinstance(holder, dict) or key not in holder:
        return
    yield Envelope(pointer, pointer + place, holder.pop(key))
    if not holder and len(parents) == 1:
        del node[parents[0]]


# Opening


def open_all(envelopes: Iterable[Envelope], info: FormatInfo) -> Opened:
    """Check *envelopes* and return what they hold by node; everything wrong with them is in `problems`."""
    opened = Opened()
    for envelope in envelopes:
        problems = list(_shape_problems(envelope))
        opened.problems.extend(problems)
        if problems:
            continue
        for carrier, entry in envelope.value["unknown_fields"]["by_trajectory"].items():
            _open_entry(opened, envelope, carrier, entry["sources"], info)
    return opened


def _open_entry(
    opened: Opened, envelope: Envelope, carrier: str, sources: dict[str, Json], info: FormatInfo
) -> None:
    at = f"{envelope.place}/unknown_fields/by_trajectory/{pointers.escape(carrier)}/sources"
    node = envelope.holder + carrier
    opened.places.setdefault(
        node, f"{envelope.place}/unknown_fields/by_trajectory/{pointers.escape(carrier)}"
    )
    held = opened.by_node.setdefault(node, {})
    for name, source in sources.items():
        if carrier and name == info.source:
            opened.problems.append(
                OWN_SOURCE.at(
                    f"{at}/{pointers.escape(name)}",
                    message=f"expected sources of other formats, found {name!r}",
                )
            )
            continue
        opened.problems.extend(_merge(held, name, source, f"{at}/{pointers.escape(name)}"))


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
    at = envelope.place
    value = envelope.value
    yield from _closed(value, ("unknown_fields",), at)
    unknown = value.get("unknown_fields") if isinstance(value, dict) else None
    if unknown is None:
        return
    at += "/unknown_fields"
    yield from _closed(unknown, ("version", "by_trajectory"), at)
    if not isinstance(unknown, dict):
        return
    version = unknown.get("version", 1)
    if type(version) is not int:
        yield SHAPE.at(f"{at}/version", version, expected="the integer 1")
    elif version != 1:
        yield VERSION.at(f"{at}/version", version)
        return
    carriers = unknown.get("by_trajectory", {})
    at += "/by_trajectory"
    yield from _object(carriers, at)
    for carrier, entry in carriers.items() if isinstance(carriers, dict) else ():
        here = f"{at}/{pointers.escape(carrier)}"
        yield from _pointer(carrier, here)
        yield from _closed(entry, ("sources",), here)
        sources = entry.get("sources", {}) if isinstance(entry, dict) else {}
        yield from _object(sources, f"{here}/sources")
        for name, source in sources.items() if isinstance(sources, dict) else ():
            yield from _source_problems(source, f"{here}/sources/{pointers.escape(name)}")


def _source_problems(source: Json, at: str) -> Iterator[Problem]:
    yield from _closed(source, ("source_document_id", "fields"), at)
    if not isinstance(source, dict):
        return
    document_id, fields = source.get("source_document_id", ""), source.get("fields", {})
    if not isinstance(document_id, str):
        yield SHAPE.at(f"{at}/source_document_id", document_id, expected="a string")
    yield from _object(fields, f"{at}/fields")
    for pointer in fields if isinstance(fields, dict) else ():
        yield from _pointer(pointer, f"{at}/fields/{pointers.escape(pointer)}")


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


def _pointer(text: str, at: str) -> Iterator[Problem]:
    if not pointers.is_pointer(text):
        yield SHAPE.at(at, text, expected="an RFC 6901 pointer")


def attach(opened: Opened, storylines: Sequence[Storyline], info: FormatInfo) -> list[Problem]:
    """Add what the envelopes hold to the residuals of *storylines*; return what is wrong, and then add nothing.

    The source `storyline`, the carrier, is not among the residuals: `hub.carrier` takes it out of *opened* first.
    """
    by_node = {storyline.node: storyline for storyline in storylines}
    problems = list(opened.problems)
    problems.extend(
        CARRIER.at(opened.places[node], message=f"expected the pointer of a node, found {node!r}")
        for node in opened.by_node
        if node not in by_node
    )
    if problems:
        return problems
    for node, sources in opened.by_node.items():
        for name, residuals in sources.items():
            _attach_source(by_node[node], name, residuals, is_own=name == info.source)
    return []


def _attach_source(storyline: Storyline, name: str, residuals: Residuals, *, is_own: bool) -> None:
    """Add one source; of the format's own, what reading captured wins (residuals.md 7.4, rule 8)."""
    captured = storyline.unknown_fields.get(name)
    if is_own and captured is not None:
        captured.fields = {**residuals.fields, **captured.fields}
    else:
        add_residuals(storyline, name, residuals.source_document_id, residuals.fields)


# Putting in


def envelope(sources: Sources) -> Json:
    """Return the envelope that holds *sources* for the node it stands in."""
    held = {
        name: {"source_document_id": residuals.source_document_id, "fields": residuals.fields}
        for name, residuals in sources.items()
    }
    return {"unknown_fields": {"version": 1, "by_trajectory": {"": {"sources": held}}}}


def put(node: dict[str, Json], places: Iterable[str], value: Json) -> str | None:
    """Put an envelope into *node* at the first of *places* that can be made, and return that place; None if none can.

    A place can be made when its parents are objects or missing, and nothing stands there.
    """
    for place in places:
        *parents, key = pointers.split(place)
        holder: Json = node
        for token in parents:
            if isinstance(holder, dict):
                holder = holder.setdefault(token, {})
        if isinstance(holder, dict) and key not in holder:
            holder[key] = value
            return place
    return None
