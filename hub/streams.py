"""Where bytes come from: files, standard input, memory; and streams over pieces of bytes.

Source: detection.md 2, step 1 (input that cannot be rewound is buffered).
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol, cast

from hub.errors import HubError, InvalidDocument, UsageError
from hub.input_rules import SIZE
from hub.limits import exceeded

PIECE = 1 << 18
"""Bytes that are read at once."""


class Stream(Protocol):
    """What can be read from: the part of `io.BufferedReader` that is needed."""

    def read(self, size: int, /) -> bytes:
        """Return the next *size* bytes; fewer at the end only."""

    def read1(self, size: int, /) -> bytes:
        """Return bytes that are there, at most *size*, and wait only for the first of them; none at the end."""

    def readline(self, size: int, /) -> bytes:
        """Return the bytes up to the next line end, at most *size*."""

    def seekable(self) -> bool:
        """Tell whether `seek` works."""

    def seek(self, offset: int, /) -> int:
        """Go to *offset*."""

    def close(self) -> None:
        """Give back what the stream holds."""


class Pieces(io.RawIOBase):
    """A stream of bytes that come in pieces of any length."""

    def __init__(self) -> None:
        super().__init__()
        self._rest = memoryview(b"")

    def piece(self) -> bytes:
        """Return the next bytes; none at the end."""
        raise NotImplementedError

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # of any buffer
        if not self._rest:
            self._rest = memoryview(self.piece())
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def buffered(self) -> Stream:
        """Return the stream that reads from this one."""
        return io.BufferedReader(self, PIECE)


class Rewound(Pieces):
    """A stream of which the first bytes were read, and are read again."""

    def __init__(self, start: bytes, stream: Stream) -> None:
        super().__init__()
        self._rest = memoryview(start)
        self._stream = stream

    def piece(self) -> bytes:
        return self._stream.read1(PIECE)

    def close(self) -> None:
        self._stream.close()
        super().close()


class Origin(Protocol):
    """Where the bytes of one input come from."""

    size: int | None
    """How many there are; None if that is not known."""

    def open(self, *, again: bool) -> Stream:
        """Return a stream over all bytes; *again*: they will be asked for again."""


class Memory:
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size: int | None = len(data)

    def open(self, *, again: bool) -> Stream:  # noqa: ARG002  # always again
        return io.BytesIO(self._data)


_LEAST = 4096
"""Bytes that are read at once of a file that says it has fewer."""


class File:
    """A file on disk."""

    def __init__(self, path: str, size: int | None = None) -> None:
        self.path = path
        self.size: int | None = os.stat(path).st_size if size is None else size

    def open(self, *, again: bool) -> Stream:  # noqa: ARG002  # always again
        size = min(PIECE, max(_LEAST, (self.size or 0) + 1))
        return cast("Stream", open(self.path, "rb", size))


class StandardInput:
    """Standard input: what was read of it is kept for as long as it will be asked for again."""

    size: int | None = None

    def __init__(self) -> None:
        self._kept: bytearray | None = bytearray()

    def open(self, *, again: bool) -> Stream:
        if self._kept is None:
            raise HubError("standard input can be read only once")
        if sys.stdin is None or sys.stdin.closed:
            raise HubError("standard input is closed")
        kept = self._kept
        if not again:
            self._kept = None
        return _Kept(kept, sys.stdin.buffer, keep=again).buffered()


class _Kept(Pieces):
    """A stream over what was kept of another, and then over that."""

    def __init__(self, kept: bytearray, stream: BinaryIO, *, keep: bool) -> None:
        super().__init__()
        self._kept, self._stream, self._keep = kept, stream, keep
        self._at = 0

    def piece(self) -> bytes:
        if self._at < len(self._kept):
            piece = bytes(self._kept[self._at : self._at + PIECE])
        else:
            piece = self._stream.read1(PIECE)  # type: ignore[attr-defined]  # every buffered stream has it
            if self._keep:
                self._kept += piece
            else:
                self._kept = bytearray()
        self._at += len(piece)
        return piece


def look(stream: Stream, size: int) -> tuple[bytes, Stream]:
    """Return the first *size* bytes of *stream*, which has not been read from, and a stream that begins with them."""
    start = stream.read(size)
    if stream.seekable():
        stream.seek(0)
        return start, stream
    return start, Rewound(start, stream).buffered()


def fill(room: memoryview, stream: Stream) -> int:
    """Fill *room* with the next bytes of *stream*; return how many, fewer than it takes at the end only."""
    read: int = stream.readinto(room)  # type: ignore[attr-defined]  # every buffered stream has it
    return read


def bytes_left(stream: Stream) -> int:
    """Return how many bytes of a file *stream* has still to give; 0 if it is no plain file, or nobody knows."""
    if not isinstance(stream, io.BufferedReader) or type(stream.raw) is not io.FileIO:
        return 0
    try:
        return max(os.fstat(stream.fileno()).st_size - stream.tell(), 0)
    except OSError:
        return 0


def check_size(size: int, limit: int) -> None:
    """Refuse an input of which *size* bytes have been read, if that is more than the *limit*.

    Raises:
        InvalidDocument: it is (`input.size`).
    """
    if size > limit:
        raise InvalidDocument([exceeded(SIZE, "size", limit, "bytes")])


def is_remote(path: str) -> bool:
    """Tell whether *path* is a URL, such as `s3://bucket/a.json`, which names a file elsewhere."""
    protocol, mark, _ = path.partition("://")
    is_protocol = protocol.isascii() and protocol.replace("+", "").replace("-", "").isalnum()
    return bool(mark) and len(protocol) > 1 and is_protocol and protocol[0].isalpha()


def check_path(path: str) -> None:
    """Refuse a *path* that no file can have.

    Raises:
        UsageError: there is a NUL in it, or a lone surrogate.
    """
    try:
        is_path = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        raise UsageError(f"{path!r}: no name of a file")


def paths_below(
    directory: str,
    refused: Callable[[OSError], object] | None = None,
    most: int | None = None,
) -> Iterator[str]:
    """Yield the relative paths of the files below *directory*, in path order; symbolic links are not followed.

    *refused* is called with the error of a folder in it that cannot be read; without it, that error is raised. No more
    folders in it are looked into than *most*.
    """
    folders = [_listing(directory, "")]
    left = sys.maxsize if most is None else most
    while folders:
        for path, is_folder in folders[-1]:
            if is_folder:
                if not left:
                    continue
                left -= 1
                try:
                    folders.append(_listing(directory, path))
                except OSError as error:
                    if refused is None:
                        raise
                    refused(error)
                    continue
                break
            yield path
        else:
            folders.pop()


def _listing(directory: str, folder: str) -> Iterator[tuple[str, bool]]:
    """Return the relative paths of what is in *folder*, in order, each with whether it is a folder."""
    found = []
    with os.scandir(os.path.join(directory, folder)) as entries:
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder or entry.is_file(follow_symlinks=False):
                found.append((f"{folder}/{entry.name}" if folder else entry.name, is_folder))
    return iter(sorted(found))
