"""Exact JSON: orjson, and beside it a path for what orjson cannot hold.

The exact path is taken only when a text needs it: integers beyond 64 bits, numbers that no double holds, lone surrogates.
`NaN` and `Infinity` are not JSON: refused on reading and never written. Source: validation.md 2; storyline.md 1.2.
"""

from __future__ import annotations

import orjson

from hub.errors import Json


class ExactNumber:
    """A JSON number that no Python number holds, such as `1e400`, kept as its text."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExactNumber) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


def loads(data: bytes) -> Json:
    """Return the JSON value of UTF-8 *data*."""
    return orjson.loads(data)


def dumps(value: Json, *, indent: bool = False, sort_keys: bool = False) -> bytes:
    """Return *value* as UTF-8 JSON; *indent* by two spaces, or compact."""
    option = (orjson.OPT_INDENT_2 if indent else 0) | (orjson.OPT_SORT_KEYS if sort_keys else 0)
    return orjson.dumps(value, option=option)


def compact(value: Json) -> str:
    """Return the compact JSON text of *value*: no white space, keys in their order (storyline.md 1.2)."""
    return dumps(value).decode()


def canonical(value: Json) -> bytes:
    """Return the canonical JSON of *value*: compact, keys sorted (storyline.md 1.2)."""
    return dumps(value, sort_keys=True)
