"""What detection is shown of a small input, made of its whole value: as `hub.scanner` shows it, in less time.

Source: detection.md 1 and 2.
"""

from itertools import islice
from typing import Any

from hub import json_text
from hub.errors import Json
from hub.grammar import MAX_STRING
from hub.json import loads_at_once
from hub.limits import MAX_VALUES
from hub.scanner import MAX_ELEMENTS, MAX_LEVELS, MAX_MEMBERS, Scan


def glance(text: bytes) -> Scan | None:
    """Return what the whole *text* shows, if it is one object or array; None where a scan must tell."""
    if json_text.has_values(text, MAX_VALUES):
        return None
    return glance_at(loads_at_once(text))


def glance_at(value: Json) -> Scan | None:
    """Return what the text of *value* shows, which has no more values than a scan reads; None if a scan must tell."""
    glance = _Glance()
    if isinstance(value, dict):
        return Scan("object", [glance.members(value, 0)], glance.complete, ends=True)
    if not isinstance(value, list):
        return None
    if len(value) > MAX_ELEMENTS:
        glance.complete = False
    records = [glance.kept(record, 0) for record in value[:MAX_ELEMENTS]]
    return Scan("array", records, glance.complete, ends=True)


_SCALARS = frozenset({int, float, bool, type(None)})


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
        return {
            key if len(key) <= MAX_STRING else self._text(key): one
            if (kind := type(one)) in _SCALARS or (kind is str and len(one) <= MAX_STRING)
            else self.kept(one, level + 1)
            for key, one in found
        }

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
