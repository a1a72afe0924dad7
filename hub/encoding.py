"""Text encodings: UTF-8, and UTF-16 and UTF-32 where a byte-order mark says so, read as UTF-8.

Source: validation.md 2.1.
"""

from __future__ import annotations

import codecs

from hub.errors import InvalidDocument
from hub.input_rules import ENCODING
from hub.streams import PIECE, Pieces, Stream, look

UTF8_MARK = codecs.BOM_UTF8
MARKS = (
    # That of UTF-16 is the beginning of that of UTF-32.
    (codecs.BOM_UTF32_LE, "UTF-32-LE"),
    (codecs.BOM_UTF32_BE, "UTF-32-BE"),
    (codecs.BOM_UTF16_LE, "UTF-16-LE"),
    (codecs.BOM_UTF16_BE, "UTF-16-BE"),
)
"""Byte-order marks, with the encoding that each stands for."""


def encoding_of(start: bytes) -> tuple[str, bytes] | None:
    """Return the encoding that the mark at the *start* of a text says, and the mark; None for UTF-8."""
    return next(((name, mark) for mark, name in MARKS if start.startswith(mark)), None)


def decoded(stream: Stream) -> tuple[Stream, str | None]:
    """Return *stream* as UTF-8 without a byte-order mark, and its encoding if that is another one."""
    start, stream = look(stream, len(codecs.BOM_UTF32))
    if (other := encoding_of(start)) is not None:
        encoding, mark = other
        stream.read(len(mark))
        return Transcoded(stream, encoding, len(mark)).buffered(), encoding
    if start.startswith(UTF8_MARK):
        stream.read(len(UTF8_MARK))
    return stream, None


class Transcoded(Pieces):
    """A stream of UTF-8 made of one in another encoding."""

    def __init__(self, stream: Stream, encoding: str, offset: int) -> None:
        super().__init__()
        self._stream, self._encoding, self._offset = stream, encoding, offset
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def piece(self) -> bytes:
        """Return the next bytes.

        Raises:
            InvalidDocument: what is read is not in the encoding (`input.encoding`).
        """
        text = read = b""
        while not text:
            read = self._stream.read1(PIECE)
            undecoded = len(self._decoder.getstate()[0])
            try:
                text = self._decoder.decode(read, final=not read).encode()
            except UnicodeDecodeError as error:
                offset = self._offset - undecoded + error.start
                message = f"not {self._encoding}: {error.reason} at offset {offset}"
                raise InvalidDocument([ENCODING.at("", message=message)]) from None
            self._offset += len(read)
            if not read:
                break
        return text

    def close(self) -> None:
        self._stream.close()
        super().close()
