"""What detection is shown of a small input, made of its whole value: as `hub.scanner` shows it, in less time.

Source: detection.md 1 and 2.
"""

from itertools import islice
from typing import Any

from hub.errors import InvalidDocument, Json
from hub.grammar import MAX_STRING
from hub.json import loads
from hub.scanner import MAX_ELEMENTS, MAX_LEVELS, MAX_MEMBERS, MAX_VALUES, Scan


def glance(text: bytes) -> Scan | None:
    """Return what the whole *text* shows, if it is one object or array; None where a scan must tell."""
    if text.count(b",") + text.count(b"{") + text.count(b"[") > MAX_VALUES:
        return None
    try:
        value = loads(text)
    except InvalidDocument:
        return None
    glance = _Glance()
    if isinstance(value, dict):
        return Scan("object", [glance.members(value, 0)], glance.complete, ends=True)
    if not isinstance(value, list):
        return None
    if len(value) > MAX_ELEMENTS:
        glance.complete = False
    records = [glance.kept(record, 0) for record in value[:MAX_ELEMENTS]]
    return Scan("array", records, glance.complete, ends=True)


class _Glance:
    """Cuts values as the scanner does, and knows whether it has cut any."""

    def __init__(self) -> None:
        self.complete = True

    def kept(self, value: Json, level: int) -> Json:
        """Return what is kept of *value*, which stands *level* levels inside a record."""
        kind = type(value)
        if kind is str:
            return self._text(value)
        if kind is dict:
            return self.members(value, level)
        if kind is list:
            return self._elements(value, level)
        return value

    def members(self, value: dict[str, Json], level: int) -> Json:
        """Return the first members of *value*."""
        if level >= MAX_LEVELS:
            self.complete &= not value
            return {}
        found: Any = value.items()
        if len(value) > MAX_MEMBERS:
            self.complete = False
            found = islice(found, MAX_MEMBERS)
        return {self._text(key): self.kept(one, level + 1) for key, one in found}

    def _elements(self, value: list[Json], level: int) -> Json:
        if level >= MAX_LEVELS:
            self.complete &= not value
            return []
        if len(value) > MAX_ELEMENTS:
            self.complete = False
            value = value[:MAX_ELEMENTS]
        return [self.kept(one, level + 1) for one in value]

    def _text(self, text: str) -> str:
        if len(text) <= MAX_STRING:
            return text
        self.complete = False
        return text[:MAX_STRING]
