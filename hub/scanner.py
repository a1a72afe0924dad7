"""The records of a bounded head of JSON, cut to what detection keeps: an iterative scan that builds nothing else.

Source: detection.md 1 and 2, steps 3 and 4.
"""

from typing import Literal, NamedTuple

from hub import grammar
from hub.cursor import END_OF_ARRAY, END_OF_OBJECT, Cursor, HeadEnds, closer_of
from hub.errors import InvalidDocument, Json
from hub.grammar import MAX_STRING
from hub.input_rules import TRAILING
from hub.limits import MAX_VALUES

MAX_RECORDS = 8
MAX_ELEMENTS = 8
MAX_MEMBERS = 256
MAX_LEVELS = 6
"""Levels of a record that are kept; a container below them is shown empty."""

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
    that is not JSON is left out too, also the first one when all others are records: reading reports it.

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
    except HeadEnds:
        return scanner.result(container, ends=False)
    except InvalidDocument:
        scanner = _Scanner(text, start, everything=everything)
        scanner.lines()
        if scanner.broken == 1 and any(isinstance(record, dict) for record in scanner.records):
            return scanner.result("lines", ends=True)
        raise
    if not scanner.another_line_follows():
        return scanner.result(container, ends=True)
    if container == "array":
        scanner = _Scanner(text, start, everything=everything)
    scanner.lines()
    return scanner.result("lines", ends=True)


class _Scanner(Cursor):
    """The records that a cursor has read so far."""

    __slots__ = ("broken", "members", "outer", "records", "values", "whole")

    def __init__(self, text: bytes, at: int, *, everything: bool) -> None:
        super().__init__(text, at, everything=everything)
        self.records: list[Json] = []
        self.whole = 0
        """How many of the records have been read to their end."""
        self.broken = 0
        """How many lines were left out because they are not JSON."""
        self.members = 0
        """How many members of records have been read."""
        self.values = 0
        """How many members and containers inside records have been read."""
        self.outer = 0
        """How many containers are open around a record."""

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
        follows = self.peek()
        if not follows:
            return False
        if follows not in _VALUE_STARTS or self.text.find(b"\n", before, self.at) < 0:
            try:
                self.refuse("the end of the input", TRAILING)
            except HeadEnds:
                return False  # the head ends in it, so reading will tell
        return True

    def lines(self) -> None:
        """Read values that stand on lines of their own, behind the records there are; a broken line counts as one."""
        for _ in range(MAX_RECORDS - len(self.records)):
            if not self.peek():
                return
            start = self.at
            try:
                self._line()
            except HeadEnds:
                self.complete = False
                self.at = len(self.text)
            except InvalidDocument:
                self.complete = False
                self.broken += 1
                line_end = self.text.find(b"\n", start)
                self.at = len(self.text) if line_end < 0 else line_end
        if self.peek():
            self.complete = False

    def _line(self) -> None:
        self.depth = 0
        before = self.whole
        try:
            self._record()
            value_end = self.at
            if self.peek() and self.text.find(b"\n", value_end, self.at) < 0:
                self.refuse("a line end", TRAILING)
        except (HeadEnds, InvalidDocument):
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
            value = self.value()
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
        self.skip(closer_of(container))
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
        mark = self.peek()
        if mark == b"]":
            self.at += 1
            return None
        if is_first:
            return ""
        if mark != b",":
            self.refuse('"," or "]"')
        if len(elements) >= MAX_ELEMENTS:
            self.complete = False
            self.skip(END_OF_ARRAY)
            return None
        self.at += 1
        return ""

    def _next_member(self, members: dict[str, Json], *, is_first: bool) -> str | None:
        while True:
            mark = self.peek()
            if mark == b"}":
                self.at += 1
                return None
            if not is_first:
                if mark != b",":
                    self.refuse('"," or "}"')
                if self._is_spent():
                    self.complete = False
                    self.skip(END_OF_OBJECT)
                    return None
                self.at += 1
            key = self.key()
            if len(members) < MAX_MEMBERS or key in members:
                return key
            self.complete = is_first = False
            value = self.value()
            if isinstance(value, (list, dict)):
                self.depth += 1
                self.skip(closer_of(value))
                self.depth -= 1

    def _is_spent(self) -> bool:
        """Count one more member, and tell whether that is too many."""
        if self.depth - self.outer == 1:
            self.members += 1
            return self.members > MAX_VALUES
        self.values += 1
        return self.values > MAX_VALUES


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


_VALUE_STARTS = tuple(bytes((byte,)) for byte in b'{["-0123456789tfn')
