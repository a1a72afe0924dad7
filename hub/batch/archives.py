"""Archives as inputs: tar, packed or not, and zip, taken out safely into a temporary folder.

Nothing is written outside that folder, whatever the names in the archive; links are not followed, devices not made; and
what comes out is bounded by the limit for inputs. Source: validation.md 2.1 (limits).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple, NoReturn, Protocol, cast

from hub.compression import decompressed
from hub.errors import HubError, InvalidDocument
from hub.input_rules import MEMBERS
from hub.limits import DEFAULTS, Limits, exceeded
from hub.sink import numbered, safe_name
from hub.streams import PIECE, File, Stream, check_size

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".zip")


def stem_of(path: str) -> str | None:
    """Return the *path* of an archive without its suffixes; None if it is no archive, by its name."""
    lower = path.lower()
    if not lower.endswith(SUFFIXES):
        return None
    for suffix in SUFFIXES:
        if lower.endswith(suffix) and os.path.basename(lower) != suffix:
            return path[: -len(suffix)]
    return None


class Refused(NamedTuple):
    """A member that was not taken out."""

    name: str
    error: HubError


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def take_out(path: str, folder: str, limits: Limits = DEFAULTS) -> list[Refused]:
    """Take the files of the archive at *path* out into the empty *folder*; return those that were refused.

    Raises:
        HubError: it is no archive, or damaged, or has more bytes or files in it than *limits* allow (`input.size`,
            `input.members`).
    """
    taker = _Taker(folder, limits)
    is_zip = path.lower().endswith(".zip")
    try:
        (_take_zip if is_zip else _take_tar)(path, taker)
    except HubError as error:
        if isinstance(error, InvalidDocument):
            raise InvalidDocument(error.problems, path) from None
        raise
    except OSError as error:
        raise HubError(f"not to be taken out: {error.strerror or error}") from None
    return taker.refused


class _Taker:
    """Writes members to files below a folder."""

    def __init__(self, folder: str, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._count = self._size = 0
        self.refused: list[Refused] = []

    def take(self, name: str, open_member: Callable[[], _Readable | None]) -> None:
        """Write the member *name*; one that cannot be is noted."""
        self._count += 1
        if self._count > self._limits.members:
            problem = exceeded(MEMBERS, "members", self._limits.members, "files in an archive")
            raise InvalidDocument([problem])
        try:
            target = self._target(name)
            member = open_member()
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # of the system, of a library; the others are taken out
            told = error if isinstance(error, HubError) else HubError(_words(error))
            self.refused.append(Refused(name, told))
            return
        if member is None:
            return
        with open(target, "wb") as file:
            while piece := member.read(PIECE):
                self._size += len(piece)
                check_size(self._size, self._limits.size)
                file.write(piece)

    def refuse(self, name: str, reason: str) -> None:
        """Note that the member *name* is not taken out."""
        self.refused.append(Refused(name, HubError(reason)))

    def _target(self, name: str) -> str:
        """Return the path for the member *name*, its folder made; a name that is taken gets a number."""
        place = safe_name(name.removeprefix("./"))
        number = 1
        while os.path.lexists(target := os.path.join(self._folder, *place.split("/"))):
            number += 1
            folder, slash, base = name.removeprefix("./").rpartition("/")
            place = f"{folder}{slash}{numbered(base, number)}"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        return target


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _take_tar(path: str, taker: _Taker) -> None:
    import tarfile

    with closing(decompressed(File(path).open(again=False))) as stream:
        metered = _Metered(stream)
        try:
            with tarfile.open(fileobj=cast("Any", metered), mode="r|") as archive:
                for member in archive:
                    metered.allow(member.size)
                    if member.isreg():
                        taker.take(member.name, lambda m=member: archive.extractfile(m))  # type: ignore[misc]  # m
                    elif member.islnk():
                        taker.refuse(member.name, "a link in the archive, which is not followed")
                    archive.members.clear()  # type: ignore[attr-defined]  # it keeps all, and none is needed again
        except _PASSED_ON:
            raise
        except Exception as error:  # noqa: BLE001  # tarfile has many, of which not all are its own
            _refuse("tar", error)


class _Metered:
    """The stream of a tar archive, which may be read on by no more than the member and a header after it.

    tarfile reads headers into memory, and they say themselves how long they are.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._left = _HEADERS

    def allow(self, size: int) -> None:
        """Let *size* bytes be read, and the next headers."""
        self._left = size + _HEADERS

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most *size*."""
        piece = self._stream.read(size)
        self._left -= len(piece)
        if self._left < 0:
            raise HubError(
                f"no tar archive, or a damaged one: a header of more than {_HEADERS} bytes"
            )
        return piece


_HEADERS = 16 << 20


def _take_zip(path: str, taker: _Taker) -> None:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if not member.is_dir() and not stat.S_ISLNK(member.external_attr >> 16):
                    taker.take(member.filename, lambda m=member: archive.open(m))  # type: ignore[misc]  # m
    except _PASSED_ON:
        raise
    except Exception as error:  # noqa: BLE001  # each compression has errors of its own
        _refuse("zip", error)


_PASSED_ON = (HubError, OSError, MemoryError)


def _refuse(kind: str, error: Exception) -> NoReturn:
    raise HubError(f"no {kind} archive, or a damaged one: {error}") from None
