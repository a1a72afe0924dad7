"""Files elsewhere: `s3://`, `gs://`, `hf://`, `https://` and whatever else fsspec knows, as inputs and as outputs.

A file that is written appears as a whole, as object stores have it; several files appear one after another. fsspec is
an extra, imported when a place is asked for that is not on this machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from hub.errors import HubError, UsageError
from hub.streams import Stream, is_remote

READ_ONLY = ("http", "https")
"""Protocols by which nothing is written."""


class Found(NamedTuple):
    """What is at a URL."""

    url: str
    is_folder: bool
    size: int | None
    stamp: str | None
    """What changes when the file does: its size, and the tag or time that the place gives it; None if it says none."""


def find(url: str) -> Found:
    """Return what is at *url*.

    Raises:
        UsageError: nothing is there, or the protocol is not known or not installed.
        HubError: the place cannot be reached, or does not let us in.
    """
    files, path = _opened(url)
    with _errors(url):
        return _found(url, files.info(path))


def exists(url: str) -> bool:
    """Tell whether something is at *url*.

    Raises:
        HubError: the place cannot be reached, or does not let us in.
    """
    files, path = _opened(url)
    with _errors(url):
        return bool(files.exists(path))


def below(folder: str) -> Iterator[Found]:
    """Yield the files below the folder at a URL, in path order.

    Raises:
        HubError: as `find`.
    """
    files, path = _opened(folder)
    with _errors(folder):
        entries = files.find(path, detail=True)
    yield from _all(folder, entries)


def matching(pattern: str) -> Iterator[Found]:
    """Yield the files whose URLs match *pattern*, and those below folders that do, in path order.

    Raises:
        HubError: as `find`.
    """
    files, path = _opened(pattern)
    with _errors(pattern):
        entries = files.glob(path, detail=True)
    for found in _all(pattern, entries, folders=True):
        if found.is_folder:
            yield from below(found.url)
        else:
            yield found


def put(local: str, url: str) -> None:
    """Make the file at the path *local* that at *url*, in the place of any that is there.

    Raises:
        HubError: it cannot be written.
    """
    files, path = _opened(url)
    refuse_read_only(url)
    with _errors(url):
        files.makedirs(files._parent(path), exist_ok=True)  # noqa: SLF001  # what fsspec has for it
        files.put_file(local, path)


def get(url: str, local: str) -> None:
    """Copy the file at *url* to the path *local*.

    Raises:
        HubError: it cannot be read.
    """
    files, path = _opened(url)
    with _errors(url):
        files.get_file(path, local)


def remove(url: str) -> None:
    """Remove the file at *url*.

    Raises:
        HubError: it cannot be removed.
    """
    files, path = _opened(url)
    with _errors(url):
        files.rm_file(path)


def refuse_read_only(url: str) -> None:
    """Refuse a *url* to which nothing can be written.

    Raises:
        UsageError: it is one.
    """
    protocol = url.partition("://")[0].lower()
    if protocol in READ_ONLY:
        raise UsageError(
            f"{url}: {protocol} is only read; outputs go to files, s3://, gs:// or the like"
        )


class RemoteFile:
    """The bytes of one file elsewhere."""

    def __init__(self, found: Found) -> None:
        self._url = found.url
        self.size = found.size

    def open(self, *, again: bool) -> Stream:  # noqa: ARG002  # always again
        """Return a stream over all bytes."""
        files, path = _opened(self._url)
        with _errors(self._url):
            return _RemoteStream(files.open(path, "rb"), self._url)


class _RemoteStream:
    """A stream of fsspec's, whose errors are the hub's."""

    def __init__(self, stream: Any, url: str) -> None:
        self._stream = stream
        self._url = url

    def read(self, size: int, /) -> bytes:
        """Return the next *size* bytes; fewer at the end only."""
        pieces = []
        with _errors(self._url):
            while size > 0 and (piece := self._stream.read(size)):
                pieces.append(piece)
                size -= len(piece)
        return b"".join(pieces) if len(pieces) != 1 else bytes(pieces[0])

    def readline(self, size: int, /) -> bytes:
        """Return the bytes up to the next line end, at most *size*."""
        with _errors(self._url):
            return bytes(self._stream.readline(size))

    def seekable(self) -> bool:
        """Tell whether `seek` works."""
        return bool(self._stream.seekable())

    def seek(self, offset: int, /) -> int:
        """Go to *offset*."""
        with _errors(self._url):
            return int(self._stream.seek(offset))

    def close(self) -> None:
        """Give back what the stream holds."""
        self._stream.close()


def _opened(url: str) -> tuple[Any, str]:
    """Return the file system of *url*, and the path in it."""
    try:
        core: Any = import_module("fsspec.core")
    except ImportError:
        raise UsageError(f"{url}: needs an extra: pip install 'storyline-hub[remote]'") from None
    try:
        files, path = core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        raise UsageError(
            f"{url}: needs an extra: pip install 'storyline-hub[remote]' ({error})"
        ) from None
    except ValueError as error:
        raise UsageError(f"{url}: {_words(error)}") from None
    except Exception as error:  # noqa: BLE001  # a file system may raise anything
        raise HubError(f"{url}: {_words(error)}") from None
    return files, path


def _found(url: str, info: dict[str, Any]) -> Found:
    """Return what *info* of fsspec says of what is at *url*."""
    size = info.get("size")
    marks = [
        info.get(name) for name in ("ETag", "etag", "LastModified", "mtime", "updated", "blob_id")
    ]
    told = [str(mark) for mark in (size, *marks) if mark is not None]
    is_folder = info.get("type") == "directory" or url.endswith("/")
    return Found(url, is_folder, size, "-".join(told) or None)


def _all(
    asked: str, entries: dict[str, dict[str, Any]], *, folders: bool = False
) -> Iterator[Found]:
    """Yield what fsspec found for the URL that was *asked* for, with URLs such as that is."""
    protocol = asked.partition("://")[0]
    for path in sorted(entries):
        info = entries[path]
        url = path if is_remote(path) else f"{protocol}://{path.lstrip('/')}"
        found = _found(url, info)
        # A store shows a folder that somebody made as an object whose name ends with a slash.
        if folders or not found.is_folder:
            yield found


@contextmanager
def _errors(url: str) -> Iterator[None]:
    """Make errors of a place elsewhere, which may be any, the hub's."""
    try:
        yield
    except HubError:
        raise
    except FileNotFoundError:
        raise UsageError(f"{url}: no such file or directory") from None
    except PermissionError as error:
        raise HubError(f"{url}: no permission: {_words(error)}") from None
    except NotImplementedError:
        raise UsageError(f"{url}: this place does not do that") from None
    except (ImportError, ValueError) as error:
        raise UsageError(f"{url}: {_words(error)}") from None
    except Exception as error:  # noqa: BLE001  # whatever a client raises, most often of a place that is not there
        raise HubError(f"{url}: cannot be reached: {_words(error)}") from None


def _words(error: Exception) -> str:
    """Return what *error* says, in one line."""
    text = " ".join(str(error).split())
    return text[:300] or type(error).__name__
