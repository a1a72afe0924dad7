"""The carrier: what a document cannot hold of a Storyline travels in its envelope, for every format alike.

It is the source `storyline` of an envelope: for each element that would come back changed, the root or a turn, the
digest of what the document says and the patch to what was meant. `hub.sealing` makes it when a document is written,
`hub.opening` applies it when one is read. Source: carrier.md 1, 4.2 and 9.
"""

from __future__ import annotations

import re

from blake3 import blake3

from hub.errors import Json, Rule
from hub.json import canonical
from hub.pointer import join, unescape

STALE = Rule("carrier.stale", "warning", "the element that the entry was made for", "the edit")
MALFORMED = Rule("carrier.malformed", "warning", "an entry that applies", "the plain element")
TURN_ID = Rule("carrier.turn-id", "warning", "a turn id that is not taken", "another id")
INVALID = Rule("carrier.invalid", "warning", "a valid Storyline", "the plain reading")
MATCH = Rule("carrier.match", "fatal", "as many Storylines as were written")

RULES = (STALE, MALFORMED, TURN_ID, INVALID, MATCH)

SOURCE = "storyline"
"""Name of the carrier among the sources of an envelope."""

ROOT = ""
"""Key of the entry of the root, which holds added and removed turns as well."""

CLOSED = frozenset({"schema_version", "turns", "unknown_fields", "unknown_key_counts"})
"""Members of the root that no patch of it touches, but for turns added and removed whole."""

_TURN = re.compile(r"/turns/(0|[1-9]\d{0,18})", re.ASCII).fullmatch


def turn_key(index: int) -> str:
    """Return the key of the entry of the turn at *index*, which is also the path of the turn."""
    return f"/turns/{index}"


def turn_index(key: Json) -> int | None:
    """Return the index of the turn that *key* names; None if it names none."""
    match = _TURN(key) if isinstance(key, str) else None
    return None if match is None else int(match[1])


def placeless(root: dict[str, Json]) -> dict[str, Json]:
    """Return the wire JSON of a plain root without `origin.document_id`.

    A format may read it from the path of the file; what a document says does not depend on where it is.
    """
    origin = root.get("origin")
    if origin is None or "document_id" not in origin:
        return root
    kept = {key: value for key, value in origin.items() if key != "document_id"}
    return {**root, "origin": kept}


def residual_path(source: str, pointer: str) -> str:
    """Return the path of the residual of *source* at *pointer* in a Storyline."""
    return join("unknown_fields", "sources", source, "fields", pointer)


def residual_pointer(source: str, path: Json) -> str | None:
    """Return the pointer of the residual of *source* that *path* names; None if it names none."""
    start = residual_path(source, "")
    if not isinstance(path, str) or not path.startswith(start):
        return None
    token = path[len(start) :]
    return None if "/" in token else unescape(token)


def digest(element: Json) -> str:
    """Return the digest of an element, 32 hex digits: carrier.md 4.2."""
    return digest_of_spelling(canonical(element))


def digest_of_spelling(spelling: bytes) -> str:
    """Return the digest of the element whose canonical JSON is *spelling*."""
    return blake3(spelling).hexdigest(16)
