"""Which container a text is: one JSON value, or JSON Lines; told by its beginning.

Source: detection.md 2, step 3; validation.md 2.4; storyline.md 9.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hub.errors import InvalidDocument
from hub.json import Place, loads, pad
from hub.limits import Limits
from hub.streams import PIECE, Rewound, Stream, bytes_left, check_size, fill

VALUE_STARTS = b'{["-0123456789tfn'
_BLANK = re.compile(rb"[ \t\r\n]*+")
_OPEN_ENDS = b"{[,:"
_LINES_LOOKED_AT = 8


class Opening:
    """The beginning of a text, of which as much is read as tells the container.

    No parsing is needed for that. A line end does not stand in a string, so a line ends between two tokens. If it ends
    with a bracket that opens, a comma or a colon, the value goes on. Otherwise the value has come to an end if another
    one follows, and goes on if something else does.
    """

    def __init__(self, stream: Stream, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._buffer = pad()
        self._start = len(self._buffer)

    def is_lines(self) -> bool:
        """Tell whether the text is JSON Lines: two values, the second on another line."""
        begin = self._skip_blank(self._start)
        end = self._line_end(begin)
        follows = self._skip_blank(end)
        if not self._is_value_start(begin) or follows == len(self._buffer):
            return False
        if self._last_mark(begin, end) not in _OPEN_ENDS:
            return self._is_value_start(follows)
        return self._has_lone_record(follows)

    def lines(self) -> Stream:
        """Return a stream of the whole text."""
        return Rewound(bytes(self._take()[self._start :]), self._stream).buffered()

    def whole(self) -> bytearray:
        """Return the whole text, behind a `hub.json.pad`."""
        self._read_ahead()
        while self._more():
            pass
        return self._take()

    def _read_ahead(self) -> None:
        """Read what is left of a file at once, to where it is needed."""
        begun, left = len(self._buffer), bytes_left(self._stream)
        check_size(begun - self._start + left, self._limit)
        if left > PIECE:
            whole = bytearray(begun + left)
            whole[:begun] = self._buffer
            with memoryview(whole) as room:
                read = fill(room[begun:], self._stream)
            del whole[begun + read :]
            self._buffer = whole

    def _take(self) -> bytearray:
        buffer, self._buffer = self._buffer, bytearray()
        return buffer

    def _has_lone_record(self, begin: int) -> bool:
        """Tell whether a line soon after a broken first line is a record, which no line of a single value can be."""
        for _ in range(_LINES_LOOKED_AT):
            end = self._line_end(begin)
            follows = self._skip_blank(end)
            is_last = follows == len(self._buffer)
            looks_whole = self._buffer[begin] in b"{[" and self._last_mark(begin, end) in b"}]"
            if looks_whole and self._is_value_start(follows):
                return True
            if is_last:
                return looks_whole and self._is_value(begin, end)
            begin = follows
        return False

    def _is_value_start(self, at: int) -> bool:
        return at < len(self._buffer) and self._buffer[at] in VALUE_STARTS

    def _is_value(self, begin: int, end: int) -> bool:
        try:
            loads(self._buffer[begin:end])
        except InvalidDocument:
            return False
        return True

    def _last_mark(self, begin: int, end: int) -> int:
        """Return the last byte of a line that is not white space; there is one."""
        return self._buffer[begin:end].rstrip(b" \t\r\n")[-1]

    def _line_end(self, begin: int) -> int:
        """Return where the line that begins at *begin* ends, with its line end."""
        searched = begin
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if not self._more():
                return searched
        return end + 1

    def _skip_blank(self, at: int) -> int:
        """Return where the next byte is that is not white space, from *at* on; the end of the text if there is none."""
        while True:
            blank = _BLANK.match(self._buffer, at)
            at = blank.end() if blank else at
            del blank  # it would keep the buffer from growing
            if at < len(self._buffer) or not self._more():
                return at

    def _more(self) -> bool:
        """Read on; tell whether there was more.

        Raises:
            InvalidDocument: the text is longer than the limit (`input.size`).
        """
        piece = self._stream.read1(PIECE)
        self._buffer += piece
        check_size(len(self._buffer) - self._start, self._limit)
        return bool(piece)


def numbered_lines(stream: Stream, limits: Limits) -> Iterator[tuple[Place, bytes | None]]:
    """Yield the lines of *stream* that are not blank, each with its place and its line end; None for one too long.

    Raises:
        InvalidDocument: the lines together are longer than the limit (`input.size`).
    """
    number = offset = 0
    while line := stream.readline(min(limits.line, limits.size - offset) + 1):
        number += 1
        place = Place(number, offset)
        offset += len(line)
        check_size(offset, limits.size)
        if len(line) > limits.line and not line.endswith(b"\n"):
            offset = _pass_over(stream, offset, limits.size)
            yield place, None
        elif line[0] not in b" \t\r\n" or line.strip(b" \t\r\n"):
            yield place, line


def _pass_over(stream: Stream, offset: int, limit: int) -> int:
    """Read on from *offset* to the end of a line, none of which is kept; return where that is."""
    while piece := stream.readline(PIECE):
        offset += len(piece)
        check_size(offset, limit)
        if piece.endswith(b"\n"):
            break
    return offset
