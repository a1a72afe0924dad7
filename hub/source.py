"""Where records come from: files, standard input, directories; bytes to JSON records.

Containers are told apart by content: one object, an array, or JSON Lines. Compression, encodings and torn lines are
dealt with here, once for all formats. Source: validation.md 2; storyline.md 9.2; detection.md 2.
"""

from __future__ import annotations

import gc
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hub import input_rules as rules
from hub.compression import LONGEST_MAGIC, compression_of, decompressed
from hub.encoding import UTF8_MARK, decoded, encoding_of
from hub.errors import MISSING, HubError, InvalidDocument, Json, Problem, UsageError
from hub.limits import DEFAULTS, DEPTH, MAX_VALUES, Limits, checked, exceeded
from hub.problems import Problems
from hub.streams import (
    PIECE,
    File,
    Memory,
    Origin,
    StandardInput,
    Stream,
    check_path,
    check_size,
    is_remote,
    paths_below,
)

if TYPE_CHECKING:
    from hub.reading import Record
    from hub.storyline.times import Zone

    _Entry = tuple[Json, str, list[Problem]]

_COLLECTED_AFTER = 1000
"""Lines after which garbage is collected, where the collector is off: plugins may leave cycles, one a line."""

_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")

OnError = Literal["fail", "skip", "collect"]


class Source:
    """One input: a file, standard input, a directory or one file of it, or values in memory.

    What is found in the bytes of the input and of its records is in `problems`, also of records that are left out, as
    soon as the record it is about has been asked for.
    """

    def __init__(  # noqa: PLR0913  # settings, each with a default
        self,
        data: bytes = b"",
        *,
        name: str | None = None,
        zone: Zone | None = None,
        options: Mapping[str, str] | None = None,
        on_error: OnError = "fail",
        strict: bool = False,
        thorough: bool = False,
        limits: Limits = DEFAULTS,
    ) -> None:
        """Make a source of bytes in memory; see `open` and `of` for others.

        Args:
            data: the bytes of a file.
            name: name for messages.
            zone: zone for times without one.
            options: read options of the format.
            on_error: whether a broken record is an error, or is left out (`skip`, `collect`).
            strict: a key that an object has twice is an error that refuses the record.
            thorough: look for such keys, which takes several times as long as all other reading.
            limits: how much of it is taken.
        """
        self.name = name
        self.zone = zone
        self.options: Mapping[str, str] = options or {}
        self.on_error: OnError = on_error
        self.strict = strict
        self.thorough = thorough
        self.limits = checked(limits)
        self.path: str | None = None
        """Path of the file or directory; None for everything else."""
        self.problems = Problems(limits.problems)
        self.left_out = 0
        """How many records were left out because they are broken."""
        self.prepare: Callable[[Record], object] | None = None
        """Called with each record before it is handed out."""
        self._origin: Origin = Memory(data)
        self._directory: str | None = None
        self.opened: set[str] = set()
        """Names of the files that were opened, of this source or of all of its directory."""
        self._values: tuple[Json, ...] | None = None
        self._is_array = False
        self._ahead: _Ahead | None = None
        self._extent: int | None = None
        """Bytes of the text that holds the record that is read; None for values in memory."""

    @classmethod
    def open(cls, path: str | os.PathLike[str], **settings: Any) -> Source:
        """Return the source of the file or directory at *path*; `-` is standard input.

        Raises:
            UsageError: there is none, or it is neither.
        """
        path = os.fspath(path)
        source = cls(**{"name": None if path == "-" else path, **settings})
        if path == "-":
            source._origin = StandardInput()
            return source
        check_path(path)
        source.path = path
        if is_remote(path):
            source._open_remote(path)
            return source
        with source._errors():
            found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            source._directory = path
        elif stat.S_ISREG(found.st_mode):
            source._origin = File(path, found.st_size)
        else:
            raise UsageError(f"{path}: neither a file nor a directory; - reads standard input")
        return source

    @classmethod
    def of(cls, *values: Json, **settings: Any) -> Source:
        """Return a source whose records are *values*, which are handed out as they are."""
        source = cls(**settings)
        source._values, source._origin = values, _Values(values)
        return source

    @classmethod
    def of_array(cls, values: Sequence[Json], **settings: Any) -> Source:
        """Return a source whose records are the elements of one array, which are handed out as they are."""
        source = cls(**settings)
        source._values, source._origin = tuple(values), _Values(tuple(values))
        source._is_array = True
        return source

    def _open_remote(self, url: str) -> None:
        from hub import remote

        found = remote.find(url)
        if found.is_folder:
            raise UsageError(
                f"{url}: a folder elsewhere; convert, validate and stats take its files one by one"
            )
        self._origin = remote.RemoteFile(found)

    # The input as a whole

    @property
    def is_directory(self) -> bool:
        """Whether the input is a directory: it has `files`, whose records are its own."""
        return self._directory is not None

    @property
    def size(self) -> int | None:
        """Bytes of the input as it is stored; None when that is not known."""
        return None if self.is_directory else self._origin.size

    def head(self, size: int) -> tuple[bytes, bool]:
        """Return the first *size* bytes of the text and whether that is everything, as often as it is asked.

        The text is unpacked and UTF-8. The last character may be cut.
        """
        with self._text(again=True) as text:
            head = text.read(size + 1)
        return head[:size], len(head) <= size

    def small(self, limit: int) -> Json:
        """Return the one JSON value that an input of at most *limit* bytes is; `MISSING` for every other one.

        So also for one that may have more than `hub.limits.MAX_VALUES` values.

        It is kept until the records are asked for, which then need no look at the bytes.
        """
        from hub.json import loads_at_once
        from hub.json_text import has_values

        size = self._origin.size
        if self.is_directory or size is None or size > min(limit, self.limits.size):
            return MISSING
        if self.limits.depth < DEPTH:
            return MISSING
        with self._errors(), closing(self._origin.open(again=True)) as stream:
            text = stream.read(size + 1)
        is_small = len(text) <= size and not has_values(text, MAX_VALUES)
        value = loads_at_once(text) if is_small else MISSING
        if value is not MISSING:
            self.opened.add(self.name or "")
            self._ahead = _Ahead(value, size, text if self.thorough or self.strict else b"")
        return value

    def tail(self, size: int) -> bytes | None:
        """Return the last *size* bytes of the text; None when that takes reading all of it."""
        if self._origin.size is None:
            return None
        with self._errors(), closing(self._origin.open(again=True)) as stream:
            start = stream.read(LONGEST_MAGIC)
            if compression_of(start) or encoding_of(start):
                return None
            begin = max(
                self._origin.size - size, len(UTF8_MARK) if start.startswith(UTF8_MARK) else 0
            )
            stream.seek(begin)
            return stream.read(size)

    def paths(
        self, limit: int | None = None, *, refused: Callable[[HubError], object] | None = None
    ) -> list[str]:
        """Return the relative paths of the first *limit* files below a directory, in path order.

        With a *limit* those of the first so many folders. Symbolic links are not followed; what is neither a file nor a
        directory is passed over. So are, if only the first files are asked for, folders that cannot be read; otherwise
        *refused* is called with the error of each.

        Raises:
            HubError: a folder cannot be read, and there is no *refused*.
        """
        if self._directory is None:
            return []

        def pass_over(error: OSError) -> None:
            if refused is not None:
                refused(_folder_error(error))

        skips = limit is not None or refused is not None
        with self._errors():
            try:
                found = paths_below(self._directory, pass_over if skips else None, limit)
                return list(islice(found, limit))
            except PermissionError as error:
                raise _folder_error(error) from None

    def files(self) -> Iterator[Source]:
        """Yield the files below a directory, in path order, each named by its relative path."""
        for path in self.paths():
            yield self._beside(os.path.join(self._directory or "", path), path)

    def unread(self) -> list[str]:
        """Return the paths of the JSON files below a directory that nobody has opened, in path order."""
        return [
            path
            for path in self.paths()
            if path.lower().endswith(_JSON_SUFFIXES) and path not in self.opened
        ]

    def folder(self) -> Source | None:
        """Return the directory that holds this file, for formats that spread a document over several files.

        None for what is no file: standard input, values in memory, a directory.
        """
        if self.path is None or self.is_directory or is_remote(self.path):
            return None
        folder = os.path.dirname(self.path) or "."
        return self._beside(folder, folder)

    def _beside(self, path: str, name: str) -> Source:
        """Return the source of another file or directory, with the settings of this one."""
        source = Source.open(
            path,
            name=name,
            zone=self.zone,
            options=self.options,
            on_error=self.on_error,
            strict=self.strict,
            thorough=self.thorough,
            limits=self.limits,
        )
        source.prepare = self.prepare
        if self.is_directory:
            source.opened = self.opened
        return source

    def value(self) -> Json:
        """Return the JSON value that the input is as a whole.

        Raises:
            InvalidDocument: it is none.
        """
        from hub.container import Opening

        with self._text() as text:
            return self._parse(Opening(text, self.limits.size).whole())

    # Records

    def records(self, *, objects: bool = True) -> Iterator[Record]:
        """Yield the records, lazily: the one object, the elements of the array, or the lines.

        Those of a directory are those of the JSON files below it, in path order.

        *objects*: the format wants objects, so an element or a line that is none is broken (`input.record`). Whether
        the only value of an input is what the format wants, the format says.

        Raises:
            InvalidDocument: the input is no JSON or beyond a limit, or a record is broken and `on_error` is `fail`.
        """
        if self.is_directory:
            yield from self._records_below(objects=objects)
            return
        from hub.reading import Record

        for index, (value, place, problems) in enumerate(self._entries()):
            if index >= self.limits.records:
                refused = exceeded(
                    rules.RECORDS, "records", self.limits.records, "records", place=place
                )
                raise InvalidDocument([refused], self.name)
            if objects and place and value is not MISSING and not isinstance(value, dict):
                problems.append(rules.RECORD.at("", value))
            if problems and self._is_refused(place, problems):
                continue
            record = Record(
                value, place, index, self.zone, self.options, self.name, extent=self._extent
            )
            if self.prepare is not None:
                self.prepare(record)
            yield record

    def _records_below(self, *, objects: bool) -> Iterator[Record]:
        """Yield the records of the files below the directory; a file that is no JSON is a broken record."""
        index = 0
        for file in self.files():
            name = file.name or ""
            if not name.lower().endswith(_JSON_SUFFIXES):
                continue
            try:
                for record in file.records(objects=objects):
                    self._take_problems(file.problems, name)
                    record.place = f"{name} {record.place}".rstrip()
                    record.index = index
                    index += 1
                    yield record
            except InvalidDocument as error:
                self._is_refused(name, [_placed(one, name) for one in error.problems])
            self._take_problems(file.problems, name)
        if not self.opened:
            message = "no documents: the directory holds no JSON file"
            raise InvalidDocument([rules.NO_DOCUMENTS.at("", message=message)], self.name)

    def _take_problems(self, problems: Problems, name: str) -> None:
        """Move the *problems* of the file *name* to those of its directory."""
        problems[:] = [_placed(one, name) for one in problems]
        self.problems.take(problems)
        problems.clear()
        problems.beyond.clear()

    def _is_refused(self, place: str, problems: list[Problem]) -> bool:
        """Keep the *problems* of the record at *place*; tell whether it is to be left out.

        Raises:
            InvalidDocument: it is broken, and that is an error.
        """
        problems = [
            problem if problem.document else problem._replace(document=place or None)
            for problem in problems
        ]
        is_broken = any(problem.severity == "fatal" for problem in problems)
        if is_broken and (self.on_error == "fail" or not place):
            raise InvalidDocument(problems, self.name)
        self.problems.extend(problems)
        self.left_out += is_broken
        return is_broken

    def _entries(self) -> Iterator[_Entry]:
        """Yield the value of each record, `MISSING` for one that is no JSON, with its place and what was found."""
        if self._values is not None:
            unit = "element" if self._is_array else "line"
            is_placed = self._is_array or len(self._values) > 1
            for number, value in enumerate(self._values, start=1):
                yield value, f"{unit} {number}" if is_placed else "", []
            return
        if self._ahead is not None:
            ahead, self._ahead = self._ahead, None
            self._extent = ahead.size
            yield from self._elements(ahead.value, self._duplicates(ahead.text))
            return
        from hub.container import Opening

        with self._text() as text:
            opening = Opening(text, self.limits.size)
            if opening.is_lines():
                yield from self._lines(opening.lines())
                return
            buffer = [opening.whole()]
        yield from self._whole(buffer)

    def _whole(self, buffer: list[bytearray]) -> Iterator[_Entry]:
        """Yield the value of the text in *buffer*, which is taken out to be freed, or the elements of the value."""
        self._extent = len(buffer[0]) - DEPTH
        duplicates = self._duplicates(memoryview(buffer[0])[DEPTH:])
        yield from self._elements(self._parse(buffer.pop()), duplicates)

    def _elements(self, value: Json, duplicates: list[Problem]) -> Iterator[_Entry]:
        """Yield *value*, or the elements of the array that it is, which are taken out to be freed."""
        if not isinstance(value, list):
            yield value, "", duplicates
            return
        if not value:
            raise InvalidDocument(
                [rules.NO_DOCUMENTS.at("", message="no documents: []")], self.name
            )
        by_element = _by_element(duplicates)
        value.reverse()
        for index in range(len(value)):
            yield value.pop(), f"element {index + 1}", by_element.get(str(index), [])

    def _lines(self, lines: Stream) -> Iterator[_Entry]:
        from hub.container import numbered_lines
        from hub.json import check_depth, loads

        for at, line in numbered_lines(lines, self.limits):
            if line is None:
                limit = self.limits.line
                yield (
                    MISSING,
                    f"line {at.line}",
                    [exceeded(rules.LINE_SIZE, "line", limit, "bytes")],
                )
                continue
            self._extent = len(line)
            problems: list[Problem] = []
            try:
                check_depth(line, self.limits.depth, at=at)
                value = loads(line.rstrip(b"\r\n"), at=at, notes=problems)
                problems.extend(self._duplicates(line))
            except InvalidDocument as error:
                value = MISSING
                problems = [_line_problem(problem, line) for problem in error.problems]
            yield value, f"line {at.line}", problems
            if at.line % _COLLECTED_AFTER == 0 and not gc.isenabled():
                gc.collect(0)  # only what was made since the last time

    def _parse(self, buffer: bytearray) -> Json:
        from hub.json import check_depth, loads_padded

        with self._errors():
            check_depth(buffer, self.limits.depth, begin=DEPTH)
            return loads_padded(buffer, notes=self.problems)

    def _duplicates(self, text: bytes | memoryview) -> list[Problem]:
        if not (self.thorough or self.strict):
            return []
        from hub.json import duplicate_keys

        found = duplicate_keys(bytes(text))
        return [one._replace(severity="fatal") for one in found] if self.strict else found

    # Bytes

    @contextmanager
    def _text(self, *, again: bool = False) -> Iterator[Stream]:
        """Open the input as UTF-8 text."""
        with self._unpacked(again=again) as stream, closing(stream):
            text, encoding = decoded(stream)
            if encoding is not None:
                note = rules.UTF16.at("", message=f"read as {encoding}, by its byte-order mark")
                if note not in self.problems:
                    self.problems.append(note)
            with closing(text):
                yield text

    @contextmanager
    def _unpacked(self, *, again: bool = False) -> Iterator[Stream]:
        """Open the input, unpacked."""
        if self._directory is not None:
            raise UsageError(f"{self.name}: a directory, not a file")
        self.opened.add(self.name or "")
        with self._errors(), ExitStack() as opened:
            stream = opened.enter_context(closing(self._origin.open(again=again)))
            yield opened.enter_context(closing(decompressed(stream)))

    def _errors(self) -> _Errors:
        """Name the input in errors, and make those of the system the hub's."""
        return _Errors(self.name)

    def bytes(self) -> bytes:
        """Return the bytes of the input, unpacked, whatever they are; for formats that are not JSON."""
        read = bytearray()
        with self._unpacked() as stream:
            while piece := stream.read(PIECE):
                read += piece
                check_size(len(read), self.limits.size)
        return _bytes(read)


class _Errors:
    """Names an input in errors, and makes those of the system the hub's."""

    __slots__ = ("_name",)

    def __init__(self, name: str | None) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        name = self._name or "standard input"
        if isinstance(error, InvalidDocument):
            raise InvalidDocument(error.problems, self._name) from None
        if isinstance(error, FileNotFoundError):
            raise UsageError(f"{name}: no such file or directory") from None
        if isinstance(error, OSError):
            raise HubError(f"{name}: {(error.strerror or str(error)).lower()}") from None
        if isinstance(error, MemoryError):
            raise HubError(f"{name}: not enough memory") from None


class _Ahead(NamedTuple):
    """What was read of a small input before its records were asked for."""

    value: Json
    size: int
    """Bytes of the text."""
    text: bytes
    """The text, if it will be looked at again."""


_bytes = bytes
"""The type, which the method of a source hides."""


class _Values:
    """The origin of values in memory, for those who ask for text."""

    size: int | None = None

    def __init__(self, values: tuple[Json, ...]) -> None:
        self._values = values

    def open(self, *, again: bool) -> Stream:  # noqa: ARG002  # always again
        from hub.json import dumps

        return Memory(b"\n".join(map(dumps, self._values))).open(again=True)


def _placed(problem: Problem, name: str) -> Problem:
    """Return a *problem* of the file *name* as one of its directory."""
    return problem._replace(document=f"{name} {problem.document or ''}".rstrip())


def _folder_error(error: OSError) -> HubError:
    """Return the *error* of a folder as the hub's, with its path."""
    return HubError(f"{error.filename}: {(error.strerror or str(error)).lower()}")


def _by_element(duplicates: list[Problem]) -> dict[str, list[Problem]]:
    """Return the problems of an array by the index of the element, with pointers into it."""
    found: dict[str, list[Problem]] = {}
    for problem in duplicates:
        _, index, *rest = problem.pointer.split("/", 2)
        pointer = "".join(f"/{tokens}" for tokens in rest)
        found.setdefault(index, []).append(problem._replace(pointer=pointer))
    return found


def _line_problem(problem: Problem, line: bytes) -> Problem:
    """Return the *problem* of a text as that of a *line*: validation.md 2."""
    is_cut = not line.endswith(b"\n")
    if problem.rule == rules.TOO_DEEP.rule or (problem.rule == rules.ENCODING.rule and not is_cut):
        return problem
    if is_cut:
        return rules.LINE_CUT.at("", message="the last line is cut")
    return problem._replace(rule=rules.LINE.rule)
