"""JSON's grammar as byte patterns, and what its scalars stand for.

Every repeat is possessive and every alternative begins with a character of its own, so no pattern goes back: each is
linear in what it passes over. What a scan seldom needs is compiled when it is.

Source: detection.md 2, step 4; RFC 8259.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from hub.errors import Json

MAX_STRING = 1024
"""Characters of a string that detection keeps."""
LONGEST_ESCAPE = 12
"""Bytes of a character that is written as two escapes."""
WHITE_SPACE = b" \t\n\r"

_W = rb"[ \t\n\r]*+"
_PLAIN = rb'[^"\\\x00-\x1f]*+'
_UNCLOSED = rb'"%b(?>(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})%b)*)' % (_PLAIN, _PLAIN)
_STRING = _UNCLOSED + rb'"'
_NUMBER = rb"(?>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"
_SCALAR = rb"(?>%b|%b|true|false|null)" % (_STRING, _NUMBER)
_KEY = _STRING + _W + rb":" + _W


class _Matcher:
    """The `match` of a pattern, which is compiled when it is first used: many inputs need few of them."""

    def __init__(self, pattern: bytes) -> None:
        self._pattern = pattern
        self._match: Callable[[bytes, int], re.Match[bytes] | None] | None = None

    def __call__(self, text: bytes, at: int) -> re.Match[bytes] | None:
        if self._match is None:
            self._match = re.compile(self._pattern).match
        return self._match(text, at)


def _matcher(pattern: bytes) -> Callable[[bytes, int], re.Match[bytes] | None]:
    return _Matcher(pattern)


def _matcher_anywhere(pattern: bytes) -> Callable[[bytes, int], re.Match[bytes]]:
    """Return the matcher of a *pattern* that matches nothing as well."""
    match: Any = _Matcher(pattern)
    return match  # type: ignore[no-any-return]  # it always matches


white_space = _matcher_anywhere(_W)
to_string_end = _matcher_anywhere(rb"(?>(?:%b)?)" % _UNCLOSED)
"""Over a string to its last quote, or to what keeps it from being a string."""
number_or_word = _matcher(rb"%b|true|false|null" % _NUMBER)
number_characters = _matcher_anywhere(rb"[-+.eE0-9]*+")

# Both begin behind an opening bracket, or behind a value.
to_bracket_in_object = _matcher(
    rb'(?:(?<=\{)%(w)b|(?<!\{)%(w)b(?:,%(w)b(?=")|(?=\})))'
    rb'(?>(?:%(key)b%(scalar)b%(w)b(?:,%(w)b(?=")|(?=\})))*)'
    rb"(?:\}|%(key)b[{\[])" % {b"w": _W, b"key": _KEY, b"scalar": _SCALAR}
)
"""Over the members of an object to the first bracket: its end, or the beginning of a member's value."""
to_bracket_in_array = _matcher(
    rb"(?:(?<=\[)%(w)b|(?<!\[)%(w)b(?:,%(w)b(?!\])|(?=\])))"
    rb"(?>(?:%(scalar)b%(w)b(?:,%(w)b(?!\])|(?=\])))*)"
    rb"[\]{\[]" % {b"w": _W, b"scalar": _SCALAR}
)
"""Over the elements of an array to the first bracket: its end, or the beginning of an element."""


def behind_members(text: bytes, at: int) -> int:
    """Return where the first member begins that is not followed by a comma, or has no scalar value."""
    return _matcher_anywhere(_W + rb"(?>(?:%b)*)" % (_KEY + _SCALAR + _W + rb"," + _W))(
        text, at
    ).end()


def behind_elements(text: bytes, at: int) -> int:
    """Return where the first element begins that is not followed by a comma, or is no scalar."""
    return _matcher_anywhere(_W + rb"(?>(?:%b)*)" % (_SCALAR + _W + rb"," + _W))(text, at).end()


def may_go_on(text: bytes, at: int) -> bool:
    """Tell whether *text* ends inside the number or word that begins at *at*, or inside an escape, or before it."""
    pattern = (
        rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]*)?)?"
        rb"|t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?"
        rb"|\\(?:u[0-9a-fA-F]{0,3})?"
    )
    return re.compile(pattern).fullmatch(text, at) is not None


def string(text: bytes, start: int, end: int) -> str:
    """Return the string that *text* holds between its quotes; of a long one its start, more than is kept."""
    raw = text[start : min(end, start + LONGEST_ESCAPE * (MAX_STRING + 2))]
    decoded = raw.decode("utf-8", "replace")
    if "\\" not in decoded:
        return decoded
    decoded = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))").sub(_unescaped, decoded)
    return decoded.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _unescaped(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)


_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def number(token: bytes) -> Json:
    """Return the number that *token* stands for; one beyond every double becomes the largest."""
    if len(token) <= _MAX_DIGITS and token.lstrip(b"-").isdigit():
        return int(token)
    return max(-sys.float_info.max, min(sys.float_info.max, float(token)))


_MAX_DIGITS = 640
"""Python turns so many digits into an integer whatever its settings."""


def place(text: bytes, offset: int) -> str:
    """Return where *offset* of *text* is, for people: line and column count from 1, bytes from 0."""
    line = text.count(b"\n", 0, offset) + 1
    line_start = text.rfind(b"\n", 0, offset) + 1
    column = len(text[line_start:offset].decode("utf-8", "replace")) + 1
    return f"line {line} column {column} (byte {offset})"
