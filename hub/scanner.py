"""The records of a bounded head of JSON, cut to what detection keeps: an iterative scan that builds nothing else.

What is not kept is passed over from one bracket to the next, by patterns that check the grammar on their way.

Source: detection.md 1 and 2, steps 3 and 4.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, NoReturn

from hub import grammar
from hub.errors import InvalidDocument, Json, Rule, show
from hub.grammar import MAX_STRING
from hub.input_rules import DEPTH, JSON, TOO_DEEP, TRAILING

MAX_RECORDS = 8
MAX_ELEMENTS = 8
MAX_MEMBERS = 256
MAX_LEVELS = 6
"""Levels of a record that are kept; a container below them is shown empty."""
MAX_VALUES = 100_000
"""Values that a scan reads one by one inside its records, and members of records; what is behind is passed over."""

Container = Literal["object", "array", "lines", "text"]


class Scan(NamedTuple):
    """What a head shows: see `hub.hookspecs.Sample`."""

    container: Container
    records: list[Json]
    complete: bool
    """True when nothing was cut."""
    ends: bool
    """Whether the end of the last record shown was seen."""

    @property
    def is_settled(self) -> bool:
        """Whether more of the input would not change the records."""
        return self.container in ("lines", "text") and len(self.records) == MAX_RECORDS


def scan(text: bytes, *, everything: bool = True) -> Scan:
    """Return the container and the first records of *text*, the head of an input or *everything* of it.

    Of several records one that the head cuts is left out; the only one is shown as far as it goes. A line of JSON Lines
    that is not JSON is left out too: reading reports it.

    Raises:
        InvalidDocument: *text* is not JSON inside the head (`input.json`, `input.trailing`), or nested too deep
            (`input.depth`).
    """
    start = grammar.white_space(text, 0).end()
    if start == len(text):
        return Scan("text", [], complete=everything, ends=everything)
    scanner = _Scanner(text, start, everything=everything)
    if text[start : start + 1] == b"{":
        container: Container = "object"
        read = scanner.lone_record
    elif text[start : start + 1] == b"[":
        container = "array"
        read = scanner.elements
    else:
        return _scan_text(text, everything=everything)
    try:
        read()
    except _HeadEnds:
        return scanner.result(container, ends=False)
    if not scanner.another_line_follows():
        return scanner.result(container, ends=True)
    if container == "array":
        scanner = _Scanner(text, start, everything=everything)
    scanner.lines()
    return scanner.result("lines", ends=True)


class _HeadEnds(Exception):
    """The head ends inside a value; what was read before stands."""


class _Scanner:
    """A cursor over the text of one head, and the records read so far."""

    __slots__ = (
        "at",
        "complete",
        "depth",
        "everything",
        "members",
        "outer",
        "records",
        "text",
        "values",
        "whole",
    )

    def __init__(self, text: bytes, at: int, *, everything: bool) -> None:
        self.text = text
        self.at = at
        self.everything = everything
        self.records: list[Json] = []
        self.whole = 0
        """How many of the records have been read to their end."""
        self.complete = everything
        self.members = 0
        """How many members of records have been read."""
        self.values = 0
        """How many members and containers inside records have been read."""
        self.outer = 0
        """How many containers are open around a record."""
        self.depth = 0
        """How many containers are open at the cursor."""

    def result(self, container: Container, *, ends: bool) -> Scan:
        """Return what was read; a record that the head cuts counts only when it is the only one."""
        if not ends and self.whole:
            del self.records[self.whole :]
        return Scan(container, self.records, complete=self.complete and ends, ends=ends)

    # Containers of records

    def lone_record(self) -> None:
        """Read one value, the record."""
        self._record()

    def elements(self) -> None:
        """Read the elements of an array, the records."""
        self.at += 1
        self.depth = self.outer = 1
        is_first = True
        while self._next_element(self.records, is_first=is_first) is not None:
            self._record()
            is_first = False

    def another_line_follows(self) -> bool:
        """Tell whether a line end and another value follow.

        Raises:
            InvalidDocument: something else follows.
        """
        before = self.at
        follows = self._peek()
        if not follows:
            return False
        if follows not in _VALUE_STARTS or self.text.find(b"\n", before, self.at) < 0:
            self._refuse("the end of the input", TRAILING)
        return True

    def lines(self) -> None:
        """Read values that stand on lines of their own, behind the records there are; a broken line counts as one."""
        for _ in range(MAX_RECORDS - len(self.records)):
            if not self._peek():
                return
            start = self.at
            try:
                self._line()
            except _HeadEnds:
                self.complete = False
                self.at = len(self.text)
            except InvalidDocument:
                self.complete = False
                line_end = self.text.find(b"\n", start)
                self.at = len(self.text) if line_end < 0 else line_end
        if self._peek():
            self.complete = False

    def _line(self) -> None:
        self.depth = 0
        before = self.whole
        try:
            self._record()
            value_end = self.at
            if self._peek() and self.text.find(b"\n", value_end, self.at) < 0:
                self._refuse("a line end", TRAILING)
        except (_HeadEnds, InvalidDocument):
            del self.records[before:]
            self.whole = before
            raise

    # One record

    def _record(self) -> None:
        """Read the value at the cursor as the next record."""
        kept: list[list[Json] | dict[str, Json]] = []
        parent: list[Json] | dict[str, Json] = self.records
        key: str | None = ""
        while key is not None:
            value = self._value()
            if isinstance(parent, dict):
                parent[key] = value
            else:
                parent.append(value)
            is_first = isinstance(value, (list, dict)) and self._keeps(value, len(kept))
            if is_first:
                kept.append(value)
            key = None
            while kept and key is None:
                parent = kept[-1]
                key = self._next(parent, is_first=is_first)
                if key is None:
                    kept.pop()
                    self.depth -= 1
                    is_first = False
        self.whole = len(self.records)

    def _keeps(self, container: list[Json] | dict[str, Json], level: int) -> bool:
        """Tell whether what is in the *container* just opened is kept; if not, pass over it."""
        self.depth += 1
        self.values += 1
        if level < MAX_LEVELS and (level == 0 or self.values <= MAX_VALUES):
            return True
        start = self.at
        self._skip(_closer(container))
        if grammar.white_space(self.text, start).end() != self.at - 1:
            self.complete = False
        self.depth -= 1
        return False

    def _next(self, container: list[Json] | dict[str, Json], *, is_first: bool) -> str | None:
        """Go to the next kept value of *container* and return its key, `""` in an array; None at the end."""
        if isinstance(container, dict):
            return self._next_member(container, is_first=is_first)
        return self._next_element(container, is_first=is_first)

    def _next_element(self, elements: list[Json], *, is_first: bool) -> str | None:
        mark = self._peek()
        if mark == b"]":
            self.at += 1
            return None
        if is_first:
            return ""
        if mark != b",":
            self._refuse('"," or "]"')
        if len(elements) >= MAX_ELEMENTS:
            self.complete = False
            self._skip(_END_OF_ARRAY)
            return None
        self.at += 1
        return ""

    def _next_member(self, members: dict[str, Json], *, is_first: bool) -> str | None:
        while True:
            mark = self._peek()
            if mark == b"}":
                self.at += 1
                return None
            if not is_first:
                if mark != b",":
                    self._refuse('"," or "}"')
                if self._is_spent():
                    self.complete = False
                    self._skip(_END_OF_OBJECT)
                    return None
                self.at += 1
            key = self._key()
            if len(members) < MAX_MEMBERS or key in members:
                return key
            self.complete = is_first = False
            value = self._value()
            if isinstance(value, (list, dict)):
                self.depth += 1
                self._skip(_closer(value))
                self.depth -= 1

    def _is_spent(self) -> bool:
        """Count one more member, and tell whether that is too many."""
        if self.depth - self.outer == 1:
            self.members += 1
            return self.members > MAX_VALUES
        self.values += 1
        return self.values > MAX_VALUES

    # What is not kept

    def _skip(self, closer: int) -> None:
        """Pass over the rest of the innermost open container, which *closer* ends."""
        text, at = self.text, self.at
        closers = bytearray((closer,))
        room = DEPTH - self.depth + 1
        while closers:
            match = _TO_BRACKET[closers[-1]](text, at)
            if match is None:
                self.at = at
                self._refuse_inside(closers[-1])
            at = match.end()
            opened = _CLOSER_OF.get(text[at - 1])
            if opened is None:
                closers.pop()
            else:
                closers.append(opened)
                if len(closers) > room:
                    where = grammar.place(text, at - 1)
                    message = f"more than {DEPTH} levels of arrays and objects at {where}"
                    raise InvalidDocument([TOO_DEEP.at("", message=message)])
        self.at = at

    def _refuse_inside(self, closer: int) -> NoReturn:
        """Raise for what stands between the cursor and the next bracket of the container that *closer* ends."""
        more = f'"," or "{chr(closer)}"'
        if self.text[self.at - 1] not in _CLOSER_OF:
            if self._peek() != b",":
                self._refuse(more)
            self.at += 1
        if closer == _END_OF_OBJECT:
            self.at = grammar.behind_members(self.text, self.at)
            self._key()
        else:
            self.at = grammar.behind_elements(self.text, self.at)
        self._value()
        self._peek()
        self._refuse(more)

    # Tokens

    def _peek(self) -> bytes:
        """Go to the next character that is no white space and return it, `b""` at the end."""
        self.at = grammar.white_space(self.text, self.at).end()
        return self.text[self.at : self.at + 1]

    def _key(self) -> str:
        """Read a key and its colon."""
        if self._peek() != b'"':
            self._refuse("a key")
        key: str = self._value()
        if self._peek() != b":":
            self._refuse('":"')
        self.at += 1
        return key

    def _value(self) -> Json:
        """Read a scalar, or the opening bracket of a container."""
        mark = self._peek()
        if mark in _EMPTY:
            self.at += 1
            return _EMPTY[mark]()
        match = grammar.scalar(self.text, self.at)
        if match is None:
            return self._string_behind_the_head(mark)
        self.at = match.end()
        if mark == b'"':
            return self._kept(grammar.string(self.text, match.start() + 1, self.at - 1))
        if mark in _LITERALS:
            return _LITERALS[mark]
        if not self.everything and grammar.number_characters(self.text, self.at).end() == len(
            self.text
        ):
            raise _HeadEnds
        return grammar.number(match.group())

    def _string_behind_the_head(self, mark: bytes) -> str:
        """Return what is kept of a string that goes on behind the head, if the head shows so much."""
        if mark != b'"':
            self._refuse("a value")
        if not self._head_ends():
            self.at = grammar.string_fault(self.text, self.at)
            self._refuse("the rest of a string")
        text = grammar.string(self.text, self.at + 1, len(self.text))
        if len(text) <= MAX_STRING + grammar.LONGEST_ESCAPE:
            raise _HeadEnds
        self.at = len(self.text)
        return self._kept(text)

    def _kept(self, text: str) -> str:
        if len(text) > MAX_STRING:
            self.complete = False
        return text[:MAX_STRING]

    def _head_ends(self) -> bool:
        """Tell whether the head ends inside the token at the cursor, or before it."""
        return not self.everything and grammar.may_go_on(self.text, self.at)

    def _refuse(self, expected: str, rule: Rule = JSON) -> NoReturn:
        """Raise for what is at the cursor: the end of the head, or what is not JSON."""
        if self._head_ends():
            raise _HeadEnds
        found = self.text[self.at : self.at + 4].decode("utf-8", "replace")[:1]
        shown = show(found) if found else "the end"
        message = (
            f"not JSON: expected {expected}, found {shown} at {grammar.place(self.text, self.at)}"
        )
        raise InvalidDocument([rule.at("", message=message)])


def _scan_text(text: bytes, *, everything: bool) -> Scan:
    """Return the first lines of a *text* that is no JSON object or array, as strings."""
    records: list[Json] = []
    at = 0
    complete = everything
    while at < len(text) and len(records) < MAX_RECORDS:
        line_end = text.find(b"\n", at)
        if line_end < 0:
            line_end = len(text)
            if records and not everything:
                break
        shown = text[at : min(line_end, at + 4 * (MAX_STRING + 1))].decode("utf-8", "replace")
        line = shown.removesuffix("\r")
        complete = complete and len(line) <= MAX_STRING
        records.append(line[:MAX_STRING])
        at = line_end + 1
    return Scan("text", records, complete=complete and at >= len(text), ends=everything)


def _closer(container: list[Json] | dict[str, Json]) -> int:
    return _END_OF_OBJECT if isinstance(container, dict) else _END_OF_ARRAY


_END_OF_OBJECT = ord("}")
_END_OF_ARRAY = ord("]")
_CLOSER_OF = {ord("{"): _END_OF_OBJECT, ord("["): _END_OF_ARRAY}
_TO_BRACKET = {
    _END_OF_OBJECT: grammar.to_bracket_in_object,
    _END_OF_ARRAY: grammar.to_bracket_in_array,
}
_EMPTY: dict[bytes, type[list[Json] | dict[str, Json]]] = {b"{": dict, b"[": list}
_LITERALS = {b"t": True, b"f": False, b"n": None}
_VALUE_STARTS = tuple(bytes((byte,)) for byte in b'{["-0123456789tfn')
