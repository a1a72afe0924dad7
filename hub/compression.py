"""Compression: gzip, bzip2, xz and zstd, told by the first bytes when reading and by the suffix when writing.

What unpacks is imported when it is needed; zstd is in the standard library from Python 3.14 on, and an extra before.

Source: detection.md 2, step 1; validation.md 2.1.
"""

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, Protocol, cast

from hub.errors import HubError, InvalidDocument
from hub.input_rules import COMPRESSED
from hub.streams import PIECE, Pieces, Stream, look


class Compressor(Protocol):
    """What packs one stream."""

    def compress(self, data: bytes | memoryview, /) -> bytes:
        """Return the next packed bytes."""

    def flush(self) -> bytes:
        """Return the last packed bytes."""


class Decompressor(Protocol):
    """What unpacks one stream, in bounded pieces: the interface of `bz2.BZ2Decompressor`."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether there is nothing more to unpack of what it was given."""

    @property
    def unused_data(self) -> bytes:
        """What it was given behind the end of the stream."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Return the next unpacked bytes, some *max_length* of them."""


class Compression(NamedTuple):
    """One way to compress."""

    name: str
    magic: bytes
    """First bytes of the data."""
    suffix: str
    decompressor: Callable[[], Decompressor]
    compressor: Callable[[], Compressor]


LONGEST_MAGIC = 6
"""Bytes that tell a compression."""


def compression_of(start: bytes) -> Compression | None:
    """Return the compression of data that begins with *start*, which has `LONGEST_MAGIC` bytes or is all."""
    return next((one for one in COMPRESSIONS if start.startswith(one.magic)), None)


def decompressed(stream: Stream) -> Stream:
    """Return *stream* unpacked, if its first bytes are those of a compression; otherwise as it is."""
    start, stream = look(stream, LONGEST_MAGIC)
    compression = compression_of(start)
    return stream if compression is None else Unpacked(stream, compression).buffered()


def compressor(name: str) -> Compressor | None:
    """Return what packs a file of this *name*, by its suffix; None if it is not to be packed.

    Raises:
        HubError: the compression is not installed.
    """
    for compression in COMPRESSIONS:
        if name.endswith(compression.suffix):
            return compression.compressor()
    return None


class Unpacked(Pieces):
    """A stream of what another holds packed; several packed streams in a row are one."""

    def __init__(self, stream: Stream, compression: Compression) -> None:
        super().__init__()
        self._stream, self._compression = stream, compression
        self._read = self._written = 0
        self._unread = b""
        self._inner = self._decompressor()

    def piece(self) -> bytes:
        """Return the next bytes.

        Raises:
            InvalidDocument: the packed data is damaged or cut (`input.compressed`).
        """
        unpacked = b""
        while not unpacked and (not self._inner.eof or self._begins_another()):
            packed = self._packed() if self._inner.needs_input else b""
            try:
                unpacked = self._inner.decompress(packed, PIECE)
            except Exception:  # noqa: BLE001  # every library has errors of its own
                self._refuse("damaged")
        self._written += len(unpacked)
        return unpacked

    def close(self) -> None:
        self._stream.close()
        super().close()

    def _decompressor(self) -> Decompressor:
        try:
            return self._compression.decompressor()
        except HubError as error:
            raise InvalidDocument([COMPRESSED.at("", message=str(error))]) from None

    def _packed(self) -> bytes:
        packed = self._unread or self._more()
        self._unread = b""
        return packed or self._refuse("cut")

    def _more(self) -> bytes:
        packed = self._stream.read1(_PACKED_PIECE)
        self._read += len(packed)
        return packed

    def _begins_another(self) -> bool:
        """Tell whether another packed stream follows the one that has ended; zeros between them are padding."""
        rest = self._inner.unused_data.lstrip(b"\0")
        while len(rest) < len(self._compression.magic) and (more := self._more()):
            rest = (rest + more).lstrip(b"\0")
        if not rest:
            return False
        if not rest.startswith(self._compression.magic):
            self._refuse("followed by something else")
        self._inner, self._unread = self._decompressor(), rest
        return True

    def _refuse(self, what: str) -> NoReturn:
        message = f"the {self._compression.name} data is {what}: {self._read} bytes read, {self._written} unpacked"
        raise InvalidDocument([COMPRESSED.at("", message=message)]) from None


_PACKED_PIECE = 64 * 1024


class _Gzip:
    """The decompressor of zlib, with the interface of the others."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        unpacked = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = not self._inner.unconsumed_tail and len(unpacked) < max_length
        return unpacked


class _Zstandard:
    """The decompressor of the package `zstandard`, which unpacks without a bound, with the interface of the others."""

    _BITE = 1024
    """Bytes that are unpacked at once: they may become a hundred thousand times as many."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._packed = memoryview(b"")

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def needs_input(self) -> bool:
        return not self._packed

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) + bytes(self._packed)

    def decompress(self, data: bytes, _max_length: int) -> bytes:
        self._packed = self._packed or memoryview(data)
        bite, self._packed = self._packed[: self._BITE], self._packed[self._BITE :]
        return bytes(self._inner.decompress(bite))


def _gzip_compressor() -> Compressor:
    import zlib

    return zlib.compressobj(wbits=31)


def _bzip2_decompressor() -> Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _bzip2_compressor() -> Compressor:
    import bz2

    return bz2.BZ2Compressor()


def _xz_decompressor() -> Decompressor:
    import lzma

    return lzma.LZMADecompressor()


def _xz_compressor() -> Compressor:
    import lzma

    return lzma.LZMACompressor()


def _zstd_decompressor() -> Decompressor:
    module, is_standard = _zstd()
    inner = module.ZstdDecompressor()
    return cast("Decompressor", inner) if is_standard else _Zstandard(inner.decompressobj())


def _zstd_compressor() -> Compressor:
    module, is_standard = _zstd()
    packer = module.ZstdCompressor()
    return cast("Compressor", packer if is_standard else packer.compressobj())


def _zstd() -> tuple[Any, bool]:
    """Return the module that does zstd, and whether it is that of the standard library.

    Raises:
        HubError: there is none.
    """
    for name, is_standard in (("compression.zstd", True), ("zstandard", False)):
        try:
            return importlib.import_module(name), is_standard
        except ImportError:
            continue
    raise HubError("zstd needs an extra: pip install 'storyline-hub[zstd]'")


COMPRESSIONS = (
    Compression("gzip", b"\x1f\x8b", ".gz", _Gzip, _gzip_compressor),
    Compression("bzip2", b"BZh", ".bz2", _bzip2_decompressor, _bzip2_compressor),
    Compression("xz", b"\xfd7zXZ\0", ".xz", _xz_decompressor, _xz_compressor),
    Compression("zstd", b"\x28\xb5\x2f\xfd", ".zst", _zstd_decompressor, _zstd_compressor),
)
"""Those that are understood: detection.md 2."""
