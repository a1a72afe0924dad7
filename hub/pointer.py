"""RFC 6901 JSON Pointers, as strings.

A pointer is a string such as `/turns/0/tool_calls/1/args`; `""` is the whole document. A token is one unescaped part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hub.errors import Json

_INDEX_DIGITS = 19
"""Digits of the largest index that any array has; Python refuses to read very long ones."""


def escape(token: object) -> str:
    """Return *token* (a key or an index) as it stands in a pointer."""
    text = str(token)
    if "~" in text or "/" in text:
        return text.replace("~", "~0").replace("/", "~1")
    return text


def unescape(token: str) -> str:
    """Return the key that a pointer's *token* stands for."""
    return token.replace("~1", "/").replace("~0", "~") if "~" in token else token


def join(*tokens: object) -> str:
    """Return the pointer of unescaped *tokens*: `join("steps", 0)` is `/steps/0`."""
    return "".join(f"/{escape(token)}" for token in tokens)


def is_pointer(text: str) -> bool:
    """Tell whether *text* is a valid pointer: residuals.md 2, rule 2."""
    return (text == "" or text[0] == "/") and not ("~" in text and re.search(r"~(?![01])", text))


def split(pointer: str) -> list[str]:
    """Return the unescaped tokens of *pointer*.

    Raises:
        ValueError: *pointer* is none.
    """
    if not is_pointer(pointer):
        raise ValueError(f"not a JSON Pointer: {pointer!r}")
    tokens = pointer.split("/")[1:]
    return [unescape(token) for token in tokens] if "~" in pointer else tokens


def is_index(token: str) -> bool:
    """Tell whether *token* is an array index: `0`, or ASCII digits without a leading zero."""
    return token.isascii() and token.isdecimal() and (token == "0" or token[0] != "0")


def get(document: Json, tokens: Iterable[str]) -> Json:
    """Return the value of *document* at *tokens*.

    Raises:
        LookupError: nothing is there.
    """
    value = document
    for token in tokens:
        if isinstance(value, list):
            value = value[index(token, len(value) - 1)]
        elif isinstance(value, dict) and token in value:
            value = value[token]
        else:
            raise LookupError(token)
    return value


class CopyOnWrite:
    """A JSON value of which parts may be shared: what is changed is copied first, and once.

    The root is changed in place.
    """

    def __init__(self, root: Json) -> None:
        self.root = root
        self._owned = {id(root): root}  # keeping the copies keeps their ids theirs

    def container(self, tokens: Iterable[str]) -> Json:
        """Return the object or array at *tokens*, ready to be changed.

        Raises:
            LookupError: there is none.
        """
        value = self.root
        for token in tokens:
            key = token if isinstance(value, dict) else index(token, len(value) - 1)
            child = value[key]
            if id(child) not in self._owned:
                if not isinstance(child, dict | list):
                    raise LookupError(token)
                child = value[key] = child.copy()
                self._owned[id(child)] = child
            value = child
        return value


def index(token: str, last: int) -> int:
    """Return the array index that *token* spells.

    Raises:
        LookupError: it is none from 0 to *last*.
    """
    if not is_index(token) or len(token) > _INDEX_DIGITS or int(token) > last:
        raise LookupError(token)
    return int(token)
