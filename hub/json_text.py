"""What orjson does not tell of a JSON text: integers that it would change, depth, keys given twice, places.

Source: validation.md 2; storyline.md 1.2.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hub.pointer import join

Text = bytes | bytearray
"""UTF-8 JSON; every function takes the part of it from a start to an end."""

# Integers that orjson would change

SMALLEST, LARGEST = -(2**63), 2**64 - 1
"""The integers that orjson keeps; it makes others floats, in silence."""

_LONG = 19
"""Digits of the shortest integer beyond them, -9223372036854775809."""
_STEP = 4
_SAMPLES = b"0" * (_LONG // _STEP)
_CHUNK = _STEP * 16 * 1024
_MANY = 32
_SHORT = 4096
_DIGITS = bytes(0x30 if byte in b"0123456789" else 0x20 for byte in range(256))
_RUN = re.compile(rb"[0-9]++")
_INTEGER = re.compile(rb"(?<![^ \t\r\n\[,:])-?[1-9][0-9]++(?![^ \t\r\n\],}])")


def has_huge_integers(text: Text, start: int = 0, end: int | None = None) -> bool:
    """Tell whether JSON *text* has an integer that orjson reads, but not as what it says.

    Few texts have a run of 19 digits, so those are looked for first. Then each is looked at: whether it is an integer,
    how large it is, and whether it is in a string.
    """
    stop = len(text) if end is None else end
    if stop - start <= _SHORT and not has_long_number(text):
        return False
    runs = _long_runs(text, start, stop)
    places = (begin for begin in runs if _is_huge_integer(text, begin, start, stop))
    return _has_one_outside_strings(text, start, places)


def has_values(text: Text, number: int) -> bool:
    """Tell whether JSON *text* may have more than *number* values; False: it certainly has not."""
    # Marks that stand before a value; the first one has none, and in strings they stand before nothing.
    return len(text) > number and sum(map(text.count, (b",", b":", b"["))) >= number


def has_long_number(text: Text) -> bool:
    """Tell whether *text*, JSON or not, has a run of so many digits that one may be a huge integer."""
    return text.translate(_DIGITS).find(b"0" * _LONG) >= 0


def _long_runs(text: Text, start: int, end: int) -> Iterator[int]:
    """Yield where each run of 19 or more digits begins.

    Every fourth byte is enough to find one: four neighbours among them are digits. A time of day, whose digits come in
    twos with something between, never has four. Where many other things have, such as floats with 17 digits, looking at
    every byte of a chunk is faster than looking at each of them.
    """
    beyond = start
    for chunk in range(start, end, _CHUNK):
        stop = min(chunk + _CHUNK + _LONG, end)
        step, pattern, looked_at = _STEP, _SAMPLES, 0
        samples = text[chunk:stop:step].translate(_DIGITS)
        found = samples.find(pattern)
        while found >= 0:
            place = begin = chunk + found * step
            if place >= beyond and text[place : place + _LONG - _STEP + 1].isdigit():
                while begin > start and text[begin - 1] in b"0123456789":
                    begin -= 1
                run = _RUN.match(text, place, end)
                beyond = run.end() if run else place
                if beyond - begin >= _LONG:
                    yield begin
            looked_at += 1
            if looked_at == _MANY:
                step, pattern = 1, b"0" * _LONG
                samples = text[chunk:stop].translate(_DIGITS)
                found = place - chunk
            found = samples.find(pattern, max(found + 1, (beyond - chunk) // step))


def _is_huge_integer(text: Text, begin: int, start: int, end: int) -> bool:
    """Tell whether the digits from *begin* on are an integer as it stands in JSON, and too large."""
    sign = begin > start and text[begin - 1] == ord("-")
    found = _INTEGER.match(text, begin - sign, end)
    return found is not None and is_beyond_64_bits(found[0].decode())


def is_beyond_64_bits(integer: str) -> bool:
    """Tell whether *integer* is one that orjson does not keep."""
    return len(integer) > _LONG + 2 or not SMALLEST <= int(integer) <= LARGEST


def _has_one_outside_strings(text: Text, start: int, places: Iterable[int]) -> bool:
    """Tell whether an even number of quotes is before one of *places*, which rise."""
    quotes, at = 0, start
    for place in places:
        while at < place:
            stop = min(at + _CHUNK, place)
            while stop < place and text[stop - 1] == ord("\\"):
                stop += 1
            quotes += _quotes(text[at:stop])
            at = stop
        if quotes % 2 == 0:
            return True
    return False


def _quotes(piece: Text) -> int:
    """Return how many quotes of *piece*, which no backslash ends, are not escaped."""
    if b"\\" in piece:
        piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
    return piece.count(b'"')


# Brackets and keys

_BRACKETS = rb'[\[{]|([\]}])|"[^"\\]*+(?>(?:\\.?[^"\\]*+)*)"?'
_MARKS = rb'[\[\]{},]|"([^"\\]*+(?>(?:\\.?[^"\\]*+)*))"?([ \t\r\n]*+:)?'


def too_deep_at(text: Text, limit: int) -> int | None:
    """Return where *text*, JSON or not, opens more than *limit* arrays and objects; None if it does not."""
    depth = 0
    for mark in re.finditer(_BRACKETS, text, re.DOTALL):
        if mark[1]:
            depth -= 1
        elif mark[0][0] != ord('"'):
            depth += 1
            if depth > limit:
                return mark.start()
    return None


def find_outside_strings(text: Text, word: bytes) -> int:
    """Return where *word*, which has no quote, first stands outside the strings of *text*; -1 if it does not."""
    pattern = rb'(%b)|"[^"\\]*+(?>(?:\\.?[^"\\]*+)*)"?' % re.escape(word)
    for found in re.finditer(pattern, text, re.DOTALL):
        if found[1]:
            return found.start()
    return -1


class DuplicateKey(NamedTuple):
    """A key that an object has more than once."""

    pointer: str
    """Pointer of the object."""
    key: str
    times: int


def duplicate_keys(text: Text) -> Iterator[DuplicateKey]:
    """Yield the keys that stand more than once in one object of *text*, which is JSON, as the objects end."""
    path: list[str | int | None] = []
    for mark, keys in _objects(text, path):
        if text[mark] == ord("}") and len(keys) != sum(keys.values()):
            pointer = join(*path[:-1])
            yield from (DuplicateKey(pointer, key, n) for key, n in keys.items() if n > 1)


def pointer_at(text: Text, position: int) -> str:
    """Return the pointer of the value of *text* that is under way at byte *position*; it is JSON up to there."""
    path: list[str | int | None] = []
    for _ in _objects(text[:position], path):
        pass
    return join(*(token for token in path if token is not None))


def _objects(text: Text, path: list[str | int | None]) -> Iterator[tuple[int, dict[str, int]]]:
    """Yield the place of each bracket that closes, with the keys of what it closes, counted; keep *path* up to date."""
    opened: list[dict[str, int]] = []
    for found in re.finditer(_MARKS, text, re.DOTALL):
        mark = text[found.start()]
        if mark == ord('"'):
            if found[2] and opened:
                key = _unescape(found[1])
                path[-1] = key
                opened[-1][key] = opened[-1].get(key, 0) + 1
        elif mark == ord(","):
            if path:
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif mark in b"[{":
            path.append(0 if mark == ord("[") else None)
            opened.append({})
        elif opened:
            yield found.start(), opened[-1]
            path.pop()
            opened.pop()


def _unescape(key: Text) -> str:
    if b"\\" not in key:
        return key.decode("utf-8", "replace")
    import json

    try:
        text: str = json.loads(b'"%b"' % bytes(key))
    except ValueError:
        # The text may turn out to be no JSON.
        return key.decode("utf-8", "replace")
    return text
