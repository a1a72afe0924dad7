"""The last members of a large object, read from the end of its text alone.

A writer that sorts keys puts what decides, such as `task_id`, behind megabytes of attempts. Source: design.md, speed.
"""

from __future__ import annotations

import re

from hub.errors import InvalidDocument, Json
from hub.grammar import WHITE_SPACE
from hub.scanner import scan


def last_members(tail: bytes) -> dict[str, Json] | None:
    """Return the last members of the one object whose text ends with *tail*, cut; None when that cannot be told.

    JSON can be read from its end. There is no backslash outside strings, so every quote that none escapes begins or
    ends a string, and how many there are tells whether the tail begins inside one; the closing brackets without an
    opening one tell how deep it begins. What follows the first comma between members of the root is a whole object but
    for its first bracket, and is scanned as one.

    This holds for every object that is JSON. Of other texts the tail may tell anything, which reading then finds out.
    """
    # The first character may be escaped by a backslash that is not seen.
    text = tail.lstrip(b"\\")[1:].rstrip(WHITE_SPACE)
    comma = _first_root_comma(text.replace(b"\\\\", b"__").replace(b'\\"', b"__"))
    if comma is None:
        return None
    try:
        found = scan(b"{" + text[comma + 1 :])
    except InvalidDocument:
        return None
    members: dict[str, Json] = found.records[0]
    return members if found.container == "object" else None


def _first_root_comma(masked: bytes) -> int | None:
    """Return where the first comma between members of the root stands in *masked*, which has no escaped quotes."""
    pieces = masked.split(b'"')
    begins_inside = len(pieces) % 2 == 0
    outside = b"".join(pieces[begins_inside::2])
    depth = sum(map(outside.count, (b"}", b"]"))) - sum(map(outside.count, (b"{", b"[")))
    at = len(pieces[0]) + 1 if begins_inside else 0
    to_bracket = re.compile(rb'(?>(?:[^"{}\[\]]++|"[^"]*+")*)').match
    to_mark = re.compile(rb'(?>(?:[^"{}\[\],]++|"[^"]*+")*)').match
    while depth > 0:
        found = (to_mark if depth == 1 else to_bracket)(masked, at)
        at = found.end() if found else at
        mark = masked[at : at + 1]
        if mark == b",":
            return at
        depth += 1 if mark in (b"{", b"[") else -1
        at += 1
    return None
