"""Texts as a column of UTF-8 holds them: as they are, but for those that no UTF-8 spells.

A text with a lone surrogate, which JSON can spell and UTF-8 cannot, is stored as U+FDD0 and its JSON text. That
character is none and in no text; a text that begins with it all the same is stored so as well, so that each comes back.
"""

from __future__ import annotations

from hub import Json, compact, loads

MARK = "\ufdd0"


def stored(text: str) -> str:
    """Return *text* as a column holds it."""
    if text.startswith(MARK):
        return MARK + compact(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return MARK + compact(text)
    return text


def restored(cell: str) -> str:
    """Return the text that a column holds as *cell*."""
    return str(value_of(cell[1:])) if cell.startswith(MARK) else cell


def value_of(cell: str) -> Json:
    """Return the value of a cell of JSON text."""
    return loads(cell.encode())
