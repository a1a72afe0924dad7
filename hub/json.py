"""Exact JSON: orjson, and beside it a path for what orjson cannot hold.

The exact path is taken only when a text needs it: integers beyond 64 bits, numbers that no double holds, lone
surrogates. `NaN` and `Infinity` are not JSON: refused on reading and never written. Arrays and objects may be nested
`DEPTH` levels deep, when they are read and when they are written. Source: validation.md 2; storyline.md 1.2.
"""

import gc
import math
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from json import JSONDecodeError, JSONDecoder
from typing import Any, NamedTuple, NoReturn

import orjson

from hub import input_rules as rules
from hub import json_text
from hub.errors import MISSING, HubError, InvalidDocument, Json, Problem, Rule, show
from hub.json_text import LARGEST, SMALLEST
from hub.limits import DEPTH, MAX_TEXT_DEPTH
from hub.pointer import join

Text = bytes | bytearray


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


class Place(NamedTuple):
    """Where a text begins in the input it is a part of; errors count from there."""

    line: int = 1
    offset: int = 0


START = Place()

# Reading


def needs_exact(data: Text) -> bool:
    """Tell whether JSON *data* has what orjson reads without an error, but not as what it says: a huge integer."""
    return json_text.has_huge_integers(data)


def loads(data: Text, *, at: Place = START, notes: list[Problem] | None = None) -> Json:
    """Return the JSON value of UTF-8 *data*, which begins *at* a place of the input.

    *notes* gets an `input.exact` if the exact path was needed.

    Raises:
        InvalidDocument: *data* is no JSON value (`input.json`, `input.trailing`, `input.empty`, `input.encoding`), or
            nested too deep (`input.depth`).
    """
    try:
        value = orjson.loads(data)
        if _is_kept(value, data):
            return value
    except JSONDecodeError:
        pass
    except MemoryError:
        _out_of_memory(data)
    return _loads_exactly(bytes(data), at, notes)


def loads_at_once(data: Text) -> Json:
    """Return the JSON value of *data* if orjson reads it as what it says; `MISSING` if `loads` must tell."""
    try:
        value = orjson.loads(data)
    except (JSONDecodeError, MemoryError):
        return MISSING
    return value if _is_kept(value, data) else MISSING


def check_depth(data: Text, depth: int, *, at: Place = START, begin: int = 0) -> None:
    """Refuse JSON *data*, a text from *begin* on, that has more levels than *depth*, where that is below `DEPTH`.

    Raises:
        InvalidDocument: it has (`input.depth`).
    """
    if depth == DEPTH:
        return
    text = bytes(memoryview(data)[begin:])
    if (place := json_text.too_deep_at(text, depth)) is not None:
        help_ = "; --limit depth=NUMBER allows more"
        _refuse(rules.TOO_DEEP, TOO_DEEP.format(depth), text, place, at, help_)


TOO_DEEP = "more than {} levels of arrays and objects"


def value_of_text(text: str) -> Json:
    """Return the JSON value that a string spells, such as the arguments of a call; `MISSING` if it spells none.

    A text of more than `MAX_TEXT_DEPTH` levels counts as none.
    """
    data = text.encode("utf-8", "surrogatepass")
    if _is_deep(text) and json_text.too_deep_at(data, MAX_TEXT_DEPTH) is not None:
        return MISSING
    try:
        return loads(data)
    except InvalidDocument:
        return MISSING


def values_of_texts(texts: Sequence[str]) -> Iterator[Json]:
    """Yield the JSON value that each of *texts* spells, as `value_of_text`; many at once take half of the time."""
    for start in range(0, len(texts), _SOME):
        yield from _values_of_some(texts[start : start + _SOME])


_SOME = 32
"""So many texts are looked at together: they stay in the caches."""


def _values_of_some(texts: Sequence[str]) -> Iterator[Json]:
    together = "\n".join(texts).encode("utf-8", "surrogatepass")
    # What is found between two texts, if one is no JSON, makes this slower and not wrong.
    is_exact = not json_text.has_long_number(together)
    are_flat = together.count(b"[") + together.count(b"{") <= MAX_TEXT_DEPTH
    for text in texts:
        if is_exact and (are_flat or len(text) <= _FLAT or not _is_deep(text)):
            try:
                yield orjson.loads(text)
            except JSONDecodeError:
                pass
            else:
                continue
        yield value_of_text(text)


_FLAT = 2 * MAX_TEXT_DEPTH
"""So many characters open and close as many levels as a text may have."""


def _is_deep(text: str) -> bool:
    """Tell whether *text* may have more than `MAX_TEXT_DEPTH` levels."""
    return len(text) > _FLAT and text.count("[") + text.count("{") > MAX_TEXT_DEPTH


_LARGE = 2 << 20
"""Bytes of a text whose value is too large for the caches, so that going through it again is slow."""
_PADDING = b"[" * DEPTH, b"]" * DEPTH


def pad() -> bytearray:
    """Return a buffer to which a text is added that `loads_padded` then reads."""
    return bytearray(_PADDING[0])


def loads_padded(buffer: bytearray, *, notes: list[Problem] | None = None) -> Json:
    """Return the JSON value of the text in *buffer*, which is a `pad` and the text; the buffer is used up.

    The pad makes the limit of orjson, which is 1024 levels, the hub's, so that large texts need no look at their depth.

    Raises:
        InvalidDocument: as `loads`.
    """
    end = len(buffer)
    if end < _LARGE:
        del buffer[:DEPTH]
        return loads(buffer, notes=notes)
    try:
        if not json_text.has_huge_integers(buffer, DEPTH, end):
            buffer += _PADDING[1]
            value = _unpad(orjson.loads(buffer))
            if value is not _NOT_PADDED:
                return value
    except JSONDecodeError:
        pass
    except MemoryError:
        _out_of_memory(buffer)
    return _loads_exactly(bytes(buffer[DEPTH:end]), START, notes)


_NOT_PADDED = object()


def _unpad(value: Json) -> Json:
    """Return what is in the brackets of the pad; a text such as `1], [2` has closed some of them."""
    for _ in range(DEPTH):
        if len(value) != 1:
            return _NOT_PADDED
        [value] = value
    return value


_FEW = 64
"""Bytes a value from which on looking at values is cheaper than looking at bytes."""


def _is_kept(value: Json, data: Text) -> bool:
    """Tell whether *value*, which orjson made of *data*, is what it says, and within the limit of depth.

    This goes through the levels of the value, never through its values one by one. In passing it looks for floats that
    may have been huge integers, unless there are so many values that looking for digits in the text is cheaper.
    """
    if len(data) <= 2 * DEPTH:
        # Of so few bytes not enough can be brackets that open.
        return not needs_exact(data)
    left = len(data) // _FEW
    has_large_floats = False
    for depth, level in enumerate(_levels(value)):
        if depth == DEPTH and not {dict, list}.isdisjoint(map(type, level)):
            return False
        left -= len(level)
        if left >= 0 and float in set(map(type, level)):
            floats = [one for one in level if type(one) is float]
            has_large_floats |= max(floats) >= LARGEST or min(floats) <= SMALLEST
    return not ((has_large_floats or left < 0) and needs_exact(data))


def _levels(value: Json) -> Iterator[list[Json]]:
    """Yield all values that are *value*, that are in it, that are in those, and so on."""
    level = [value]
    while level:
        yield level
        level = gc.get_referents(*level)


def _out_of_memory(data: Text) -> NoReturn:
    raise HubError(f"not enough memory to read {len(data)} bytes of JSON") from None


def _loads_exactly(data: bytes, at: Place, notes: list[Problem] | None) -> Json:
    """Return the value of *data*, which orjson has not taken or not kept, or say what is wrong with it."""
    if data.startswith(BOM):
        return loads(data[len(BOM) :], at=Place(at.line, at.offset + len(BOM)), notes=notes)
    text = _decode(data, at)
    if (place := json_text.too_deep_at(data, DEPTH)) is not None:
        _refuse(rules.TOO_DEEP, TOO_DEEP.format(DEPTH), data, place, at)
    decoder = _Decoder()
    try:
        value = decoder.decode(text)
    except MemoryError:
        _out_of_memory(data)
    except RecursionError:
        raise HubError("called too deep in the stack to read exact JSON") from None
    except _Constant as constant:
        place = json_text.find_outside_strings(data, str(constant).encode())
        _refuse(rules.JSON, f"not JSON: {constant}", data, place, at)
    except JSONDecodeError as error:
        place = len(text[: error.pos].encode())
        if error.msg == "Extra data":
            _refuse(rules.TRAILING, "something follows the JSON value", data, place, at)
        what = f"{error.msg[0].lower()}{error.msg[1:]}".removesuffix(" at")
        _refuse(rules.JSON, f"not JSON: {what}", data, place, at)
    if notes is not None:
        # What orjson takes and does not keep is a huge integer; what else it refuses of JSON is a lone surrogate.
        found = sorted(decoder.found) or ["a lone surrogate"]
        notes.append(rules.EXACT.at("", message=f"kept exactly: {', '.join(found)}"))
    return value


BOM = b"\xef\xbb\xbf"


def _decode(data: bytes, at: Place) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x} at offset {at.offset + error.start}"
        raise _invalid(rules.ENCODING, f"not UTF-8: {found}") from None
    if not text.strip(" \t\r\n"):
        raise _invalid(rules.EMPTY, "the input is empty")
    if (nul := data.find(b"\0")) >= 0:
        raise _invalid(rules.ENCODING, f"not text: a NUL byte at offset {at.offset + nul}")
    return text


_SHOWN_TOKENS = 8
"""Of a pointer hundreds of tokens long, as many are shown."""


def _refuse(  # noqa: PLR0913, PLR0917  # what it says, of which text, and where that begins
    rule: Rule, message: str, data: bytes, place: int, at: Place, help_: str = ""
) -> NoReturn:
    """Raise the error of what stands at byte *place* of *data*, which begins *at* a place of the input."""
    line = at.line + data.count(b"\n", 0, place)
    column = len(data[data.rfind(b"\n", 0, place) + 1 : place].decode("utf-8", "replace")) + 1
    where = f"line {line} column {column} (byte {at.offset + place})"
    tokens = json_text.pointer_at(data, place).split("/")
    raise _invalid(
        rule, f"{message} at {where}{help_}", "/".join(tokens[: _SHOWN_TOKENS + 1])
    ) from None


def _invalid(rule: Rule, message: str, pointer: str = "") -> InvalidDocument:
    return InvalidDocument([rule.at(pointer, message=message)])


class _Constant(ValueError):
    """`NaN`, `Infinity` or `-Infinity`, which the standard library takes for numbers."""


class _Decoder(JSONDecoder):
    """The standard library's decoder with exact numbers; `found` names the kinds that orjson would not have kept."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        # Not its own methods: it would refer to itself, and stay in memory where garbage is not collected.
        super().__init__(
            parse_int=partial(_integer, self.found),
            parse_float=partial(_number, self.found),
            parse_constant=_constant,
        )


def _integer(found: set[str], text: str) -> int | ExactNumber:
    if json_text.is_beyond_64_bits(text):
        found.add("an integer beyond 64 bits")
        if 0 < sys.get_int_max_str_digits() < len(text):
            return ExactNumber(text)
    return int(text)


def _number(found: set[str], text: str) -> float | ExactNumber:
    double = float(text)
    if math.isinf(double):
        found.add("a number that no double holds")
        return ExactNumber(text)
    return double


def _constant(text: str) -> NoReturn:
    raise _Constant(text)


def duplicate_keys(data: Text) -> list[Problem]:
    """Return a problem for each key that stands more than once in one object of *data*, which is JSON."""
    return [
        rules.DUPLICATE_KEY.at(
            found.pointer,
            message=f"key {show(found.key)} {found.times} times in one object: the last value is used, others dropped",
        )
        for found in json_text.duplicate_keys(data)
    ]


# Writing

_INDENT = orjson.OPT_INDENT_2


def dumps(value: Json, *, indent: bool = False, sort_keys: bool = False) -> bytes:
    """Return *value* as UTF-8 JSON; *indent* by two spaces, or compact.

    Floats that are infinite or not a number cannot come from JSON; orjson makes them null. Where values come from
    elsewhere, see `refuse_non_finite`.

    Raises:
        InvalidDocument: more than `DEPTH` levels (`input.depth`).
        TypeError: *value* is not JSON.
    """
    return _dumps(value, (_INDENT if indent else 0) | (orjson.OPT_SORT_KEYS if sort_keys else 0))


def _dumps(value: Json, option: int) -> bytes:
    try:
        return orjson.dumps(value, _exact_number, option)
    except TypeError:
        return b"".join(_exact_pieces(value, option))


def in_one_piece(value: Json) -> Json:
    """Return what is written as the compact text of *value*, also in an indented one; *value* itself if it is deep."""
    try:
        text = orjson.dumps(value, _exact_number)
    except TypeError:
        return value
    return orjson.Fragment(text)


def compact(value: Json) -> str:
    """Return the compact JSON text of *value*: no white space, keys in their order (storyline.md 1.2)."""
    try:
        return orjson.dumps(value, _exact_number).decode()
    except TypeError:
        return dumps(value).decode()


def are_compact(texts: Sequence[str], values: Sequence[Json]) -> list[bool]:
    """Tell of each of *texts*, which spells the one of *values* beside it, whether it is the compact text of that."""
    found: list[bool] = []
    for start in range(0, len(texts), _SOME):
        some, spelled = texts[start : start + _SOME], values[start : start + _SOME]
        if not _has_space(some[0], spelled[0]):
            # No JSON text has a comma outside its brackets and strings: if all are the same together, each is.
            together = b",".join([text.encode("utf-8", "surrogatepass") for text in some])
            if together == dumps(spelled)[1:-1]:
                found += [True] * len(some)
                continue
        found += [
            not _has_space(text, one) and text == compact(one)
            for text, one in zip(some, spelled, strict=True)
        ]
    return found


def _has_space(text: str, value: Json) -> bool:
    """Tell whether *text* spells the object *value* with a space before its first member's value, as Python does."""
    return type(value) is dict and len(value) > 0 and text.startswith(f'{{"{next(iter(value))}": ')


def canonical(value: Json) -> bytes:
    """Return the canonical JSON of *value*: compact, keys sorted (storyline.md 1.2)."""
    return _dumps(value, orjson.OPT_SORT_KEYS)


def canonical_pieces(value: Json) -> Iterator[bytes | memoryview]:
    """Yield the canonical JSON of *value* piece by piece: of one that is large, some elements at a time.

    A digest of a large value is made of these faster than of one text as large as the value.
    """
    return dump_pieces(value, sort_keys=True)


def dump_pieces(
    value: Json, *, level: int = 0, indent: bool = False, sort_keys: bool = False
) -> Iterator[bytes | memoryview]:
    """Yield the text that `dumps` returns, of a value with a long array piece by piece.

    Memory that is new to the program costs more than what is written to it, so a large value is written faster like
    this. With a *level* the text is that of an element inside of so many arrays.

    Raises:
        InvalidDocument: as `dumps`, after the pieces before.
        TypeError: as `dumps`, after the pieces before.
    """
    option = (_INDENT if indent else 0) | (orjson.OPT_SORT_KEYS if sort_keys else 0)
    if _has_long_array(value, _SPLIT):
        yield from _long_pieces(value, option, level, _SPLIT)
    elif level:
        yield _inside([value], option, level - 1)
    else:
        yield _dumps(value, option)


def fingerprint(value: Json) -> str:
    """Return the BLAKE3 digest of the canonical JSON of *value*, 64 hex digits: equal for equal values."""
    from blake3 import blake3

    return blake3(canonical(value)).hexdigest()


def refuse_non_finite(value: Json) -> None:
    """Check a *value* that was not read from JSON.

    Raises:
        ValueError: a float in it is infinite or not a number; the message names its pointer.
        InvalidDocument: it is nested too deep, or without end (`input.depth`).
    """
    containers: list[tuple[tuple[Any, ...], Json]] = [((), [value])]
    while containers:
        path, container = containers.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for token, one in items:
            if isinstance(one, float) and not math.isfinite(one):
                pointer = join(*path[1:], token) if path else ""
                raise ValueError(f"{one} at {pointer!r} is not JSON")
            if isinstance(one, (dict, list, tuple)) and one:
                if len(path) > DEPTH:
                    raise _invalid(rules.TOO_DEEP, TOO_DEEP.format(DEPTH))
                containers.append(((*path, token), one))


def _exact_number(value: object) -> orjson.Fragment:
    if isinstance(value, ExactNumber):
        return orjson.Fragment(value.text)
    raise TypeError(f"not JSON: {type(value).__name__}")


_ORJSON_DEPTH = 254
"""Levels that orjson writes."""


def _exact_pieces(value: Json, option: int) -> Iterator[bytes]:
    """Yield the text of *value*, which orjson does not write as a whole; the parts that it does write are its text."""
    members: list[Iterator[tuple[bytes, Json]]] = [iter([(b"", value)])]
    ends = [b""]
    while members:
        level = len(members)
        for lead, one in members[-1]:
            yield lead
            if (text := _text(one, option, level)) is None:
                ends.append(_line(option, level - 1) + (b"}" if isinstance(one, dict) else b"]"))
                members.append(_members(one, option, level))
                break
            yield text.replace(b"\n", _line(option, level - 1)) if option & _INDENT else text
        else:
            members.pop()
            yield ends.pop()


def _text(value: Json, option: int, level: int) -> bytes | None:
    """Return the text of *value*, which has a *level*; None for a container that orjson does not write, or too deep.

    Raises:
        InvalidDocument: the level is beyond the limit.
    """
    is_container = isinstance(value, dict | list | tuple)
    if is_container and level > DEPTH:
        raise _invalid(rules.TOO_DEEP, TOO_DEEP.format(DEPTH))
    if is_container and value and level > DEPTH - _ORJSON_DEPTH:
        return None
    try:
        return orjson.dumps(value, _exact_number, option)
    except TypeError:
        if is_container:
            return None
        if isinstance(value, str):
            return b'"%b"' % b"".join(map(_characters, re.split(_SURROGATE, value)))
        if isinstance(value, int):
            return str(value).encode()
        raise


_SURROGATE = "([\ud800-\udfff])"


def _characters(text: str) -> bytes:
    if re.match(_SURROGATE, text):
        return b"\\u%04x" % ord(text)
    return orjson.dumps(text)[1:-1]


def _members(container: Json, option: int, level: int) -> Iterator[tuple[bytes, Json]]:
    """Yield what stands before each member or element of *container*, and its value."""
    line = _line(option, level)
    colon = b": " if option & _INDENT else b":"
    if not isinstance(container, dict):
        lead = b"["
        for element in container:
            yield lead + line, element
            lead = b","
        return
    lead = b"{"
    for key in sorted(container) if option & orjson.OPT_SORT_KEYS else container:
        if not isinstance(key, str):
            raise TypeError(f"not JSON: a key of type {type(key).__name__}")
        yield b"".join((lead, line, _text(key, 0, 0) or b"", colon)), container[key]
        lead = b","


def _line(option: int, level: int) -> bytes:
    return b"\n" + b"  " * level if option & _INDENT else b""


# Long arrays

_MANY = 64
"""Elements of an array that is written as one piece."""
_PIECE = 1 << 16
"""Bytes that pieces of a longer one should have."""
_SPLIT = 4
"""So many levels above such an array are taken apart."""
_LOOKED_AT = 3
"""Elements of an array that is not long of which is asked whether they have one that is."""
_CONTAINERS = frozenset({dict, list})


def _has_long_array(value: Json, levels: int) -> bool:
    """Tell whether *value* is a long array, or has one in its first *levels*; an array is told by a few elements."""
    kind = type(value)
    if kind is list and len(value) > _MANY:
        return True
    if kind not in _CONTAINERS or levels == 0:
        return False
    for one in value.values() if kind is dict else value[:_LOOKED_AT]:
        if type(one) in _CONTAINERS and _has_long_array(one, levels - 1):
            return True
    return False


def _long_pieces(value: Json, option: int, level: int, levels: int) -> Iterator[bytes | memoryview]:
    """Yield the text of *value*, which is inside of *level* containers, and has a long array in its first *levels*."""
    if type(value) is list and len(value) > _MANY:
        yield from _some_at_a_time(value, option, level)
        return
    for lead, one in _members(value, option, level + 1):
        yield lead
        if _has_long_array(one, levels - 1):
            yield from _long_pieces(one, option, level + 1, levels - 1)
        else:
            yield _inside([one], option, level)
    yield _line(option, level) + (b"}" if type(value) is dict else b"]")


def _some_at_a_time(array: Json, option: int, level: int) -> Iterator[bytes | memoryview]:
    """Yield the text of a long *array*, which is inside of *level* containers."""
    line = _line(option, level + 1)
    lead = b"[" + line
    start, number = 0, _MANY
    while start < len(array):
        text = _inside(array[start : start + number], option, level)
        yield lead
        yield text
        lead = b"," + line
        start += number
        number = max(number * _PIECE // len(text), 1)
    yield _line(option, level) + b"]"


def _inside(elements: Json, option: int, level: int) -> memoryview:
    """Return the text of the *elements* of an array which is inside of *level* others."""
    for _ in range(level):
        elements = [elements]
    ends = [len(_line(option, depth)) + 1 for depth in range(level + 2)]
    return memoryview(_dumps(elements, option))[sum(ends[1:]) : -sum(ends[:-1])]
