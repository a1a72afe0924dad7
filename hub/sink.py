"""Where documents go: files, standard output, directories; all of them, or nothing.

A file is written under another name in the folder of its target, and gets its own when it is complete. The input is
never overwritten, and what is there already only when that is wanted. Source: design.md, failure; storyline.md 9.2.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

from hub.compression import compressor
from hub.errors import MISSING, HubError, InvalidDocument, Json, UsageError
from hub.input_rules import TOO_DEEP
from hub.json import dump_pieces, dumps
from hub.limits import DEPTH
from hub.staging import Area, Staging, SystemErrors
from hub.streams import check_path, is_remote

if TYPE_CHECKING:
    from hub.source import Source

Container = Literal["object", "array", "lines", "dir"]
Attachments = Iterable[tuple[str, bytes]]

LINES_SUFFIXES = (".jsonl", ".ndjson")


class PipeClosed(HubError):
    """Who reads the output has seen enough; a `with` over the sink ends quietly."""

    exit_status = 0


class Sink:
    """What documents are written to, one after another.

        with Sink.open("run.ale.json", inputs=["run.json"]) as sink:
            sink.write(document)

    Files are there when the `with` ends, and not at all when an exception ends it.
    """

    wants_names = False
    """Whether each document is a file of its own, and so has a name."""

    def __init__(self) -> None:
        self.outputs: list[str] = []
        """Paths of the files that were written, when all are."""

    @staticmethod
    def open(
        target: str | os.PathLike[str],
        *,
        container: Container | None = None,
        force: bool = False,
        inputs: Iterable[str | os.PathLike[str] | Source] = (),
        area: Area | None = None,
    ) -> Sink:
        """Return the sink for *target*: a file, `-` for standard output, or a directory.

        Without *container* it is a directory if *target* is one or ends with a slash; lines if the name of the file
        says so (`.jsonl`, `.ndjson`); otherwise one object for one document, and an array for several. A file whose
        name ends with `.gz`, `.bz2`, `.xz` or `.zst` is compressed.

        Raises:
            UsageError: the target is one of *inputs*, or is there already without *force*, or its folder is not there.
        """
        target = os.fspath(target)
        if target == "-":
            if container == "dir":
                raise UsageError("standard output is no directory; name one")
            return _StreamSink(None, container)
        check_path(target)
        if is_remote(target):
            return _elsewhere(target, container, inputs, area, force=force)
        mode = _mode(target)
        if container is None and (stat.S_ISDIR(mode) or target.endswith(("/", os.sep))):
            container = "dir"
        paths = [path for path in map(_path, inputs) if path is not None]
        if container == "dir":
            staging = Staging(target, force=force, inputs=paths, make=True, area=area)
            return _DirectorySink(staging)
        if mode and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            return _StreamSink(target, container)
        # Somebody named this file, and may mean what it links to; in the area of a run nobody has named a link.
        is_link = area is None and os.path.islink(target)
        folder, name = os.path.split(os.path.realpath(target) if is_link else target)
        staging = Staging(folder, force=force, inputs=paths, make=False, area=area)
        return _FileSink(name, container or _container(name), staging)

    @property
    def container(self) -> Container | None:
        """What the documents are put into; None: one object, or an array of several."""
        raise NotImplementedError

    def prefer(self, container: Container | None) -> None:
        """Put documents into *container*, where the target leaves that open; called before the first is written."""
        raise NotImplementedError

    def write(
        self, document: Json | bytes, *, name: str | None = None, attachments: Attachments = ()
    ) -> None:
        """Write one *document*: JSON, or the bytes of one that is no JSON.

        *name*: relative path, in a directory. *attachments*: files beside the document, by relative path.

        Raises:
            UsageError: the document does not fit into the container, or there is a file of that name.
        """
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        try:
            if kind is None:
                self._commit()
        except PipeClosed:
            return True
        finally:
            self._discard()
        return isinstance(error, PipeClosed)

    def _commit(self) -> None:
        """Write what is left, and make it visible."""
        raise NotImplementedError

    def _discard(self) -> None:
        """Give up what is not committed."""
        raise NotImplementedError


def _elsewhere(
    target: str,
    container: Container | None,
    inputs: Iterable[str | os.PathLike[str] | Source],
    area: Area | None,
    *,
    force: bool,
) -> Sink:
    """Return the sink for a *target* that is a URL: a file, or a folder if it ends with a slash."""
    from hub.uploading import Uploading

    paths = [path for path in map(_path, inputs) if path is not None]
    if container == "dir" or (container is None and target.endswith("/")):
        staging = Uploading(target, force=force, inputs=paths, area=area)
        return _DirectorySink(staging)
    folder, _, name = target.rpartition("/")
    if not name:
        raise UsageError(f"{target}: no name of a file")
    staging = Uploading(folder, force=force, inputs=paths, area=area)
    return _FileSink(name, container or _container(name), staging)


def _path(input: str | os.PathLike[str] | Source) -> str | None:
    """Return the path of one of the inputs."""
    if isinstance(input, str | os.PathLike):
        return os.fspath(input)
    return input.path


def is_device(target: str) -> bool:
    """Tell whether *target* is there and is neither a file nor a directory: a pipe, or the like of `/dev/null`."""
    mode = _mode(target)
    return bool(mode) and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _mode(target: str) -> int:
    """Return the mode of what is at *target*: a file, a directory, the like of `/dev/null`; 0: nothing is there."""
    try:
        return os.stat(target).st_mode
    except OSError:
        return 0


def _container(target: str) -> Container | None:
    stem, suffix = os.path.splitext(target)
    name = stem if suffix in (".gz", ".bz2", ".xz", ".zst") else target
    return "lines" if name.endswith(LINES_SUFFIXES) else None


# Containers


class _Documents:
    """The text of one container, made document by document."""

    def __init__(
        self,
        write: Callable[[bytes | memoryview], object],
        container: Container | None,
        *,
        is_staged: bool = True,
    ) -> None:
        self._write = write
        self._container: Container | None = container
        self._is_staged = is_staged
        """Whether nobody sees what is written when writing fails later on."""
        self._count = 0
        self._held: Json | bytes = MISSING
        """The first document, until it is known whether it is the only one."""
        self._elements = 0

    @property
    def container(self) -> Container | None:
        """What the documents are put into; None: that depends on how many there are."""
        return self._container

    def prefer(self, container: Container | None) -> None:
        """Put documents into *container*, where none is asked for and none was written."""
        if self._container is None and not self._count:
            self._container = container

    def add(self, document: Json | bytes) -> None:
        """Write one more *document*; in lines, one that is an array is made of many records, a line each.

        Raises:
            UsageError: the container does not hold it.
        """
        self._count += 1
        if isinstance(document, bytes) and self._container in ("array", None):
            if self._container == "array" or self._count > 1:
                raise UsageError(
                    "documents that are no JSON do not fit into an array; dir holds them"
                )
            self._container = "object"
        if self._container == "lines":
            for record in document if isinstance(document, list) else [document]:
                self._put(record, indent=False)
                self._write(b"\n")
        elif self._count > 1 and self._container == "object":
            raise UsageError("more than one document; array, lines and dir hold several")
        else:
            self._add_indented(document)

    def _add_indented(self, document: Json | bytes) -> None:
        if self._count == 1 and self._container != "array":
            self._held = document
            return
        if self._held is not MISSING:
            self._container = "array"
            self._element(self._held)
            self._held = MISSING
        self._element(document)

    def end(self) -> None:
        """Write what is left.

        Raises:
            UsageError: there is no document for the object.
        """
        if self._held is not MISSING:
            self._put(self._held)
            self._write(b"" if isinstance(self._held, bytes) else b"\n")
        elif self._container == "object":
            raise UsageError("no document; an object holds one")
        elif self._container != "lines":
            self._write(_CLOSE + b"\n" if self._elements else b"[]\n")

    def _element(self, document: Json) -> None:
        self._write(b",\n  " if self._elements else _OPEN)
        self._elements += 1
        self._put(document, level=1)

    def _put(self, document: Json | bytes, *, level: int = 0, indent: bool = True) -> None:
        """Write the text of *document*, inside of *level* arrays."""
        if isinstance(document, bytes):
            self._write(document)
            return
        try:
            if level or self._is_staged:
                for piece in dump_pieces(document, level=level, indent=indent):
                    self._write(piece)
            else:
                self._write(dumps(document, indent=indent))
        except InvalidDocument as error:
            message = f"the output would have more than {DEPTH} levels of arrays and objects"
            raise InvalidDocument([TOO_DEEP.at("", message=message)]) from error


_OPEN, _CLOSE = b"[\n  ", b"\n]"


# Targets


class _File:
    """One file under way, compressed if its name says so."""

    def __init__(self, staging: Staging, name: str) -> None:
        self._name = name
        self._staging = staging
        self._packer = compressor(name)
        self._file = staging.create(name)

    def write(self, data: bytes | memoryview) -> None:
        with SystemErrors(self._name):
            self._file.write(data if self._packer is None else self._packer.compress(data))

    def complete(self) -> None:
        with SystemErrors(self._name):
            if self._packer is not None:
                self._file.write(self._packer.flush())
            self._staging.complete(self._file)

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()


class _FileSink(Sink):
    """One file; the attachments of its documents are beside it."""

    def __init__(self, name: str, container: Container | None, staging: Staging) -> None:
        super().__init__()
        staging.check(name)
        self._name = name
        self._staging = staging
        self._documents = _Documents(self._put, container)
        self._file: _File | None = None

    @property
    def container(self) -> Container | None:
        """What the documents are put into."""
        return self._documents.container

    def prefer(self, container: Container | None) -> None:
        """Put documents into *container*, unless another one is asked for."""
        self._documents.prefer(container)

    def __enter__(self) -> Self:
        try:
            self._file = _File(self._staging, self._name)
        except BaseException:  # there will be no exit
            self._discard()
            raise
        return self

    def write(
        self, document: Json | bytes, *, name: str | None = None, attachments: Attachments = ()
    ) -> None:
        del name  # the file has one
        self._documents.add(document)
        for path, data in attachments:
            self._staging.write(safe_name(path), data)

    def _put(self, data: bytes | memoryview) -> None:
        if self._file is None:
            raise ValueError("a sink is written to inside its `with`")
        self._file.write(data)

    def _commit(self) -> None:
        self._documents.end()
        if self._file is not None:
            self._file.complete()
            self._file.close()
        self._staging.commit()
        self.outputs = self._staging.paths

    def _discard(self) -> None:
        if self._file is not None:
            self._file.close()
        self._staging.discard()


class _DirectorySink(Sink):
    """A directory; each document is a file in it, its attachments beside it."""

    wants_names = True

    def __init__(self, staging: Staging) -> None:
        super().__init__()
        self._staging = staging
        self._count = 0
        self._taken: dict[str, int] = {}
        """Names that are taken, folded, each with the last number that was given to it."""

    @property
    def container(self) -> Container | None:
        """A directory."""
        return "dir"

    def prefer(self, container: Container | None) -> None:
        """Change nothing: each document is a file of its own."""

    def write(
        self, document: Json | bytes, *, name: str | None = None, attachments: Attachments = ()
    ) -> None:
        self._count += 1
        path = self._unique(safe_name(name or f"document-{self._count}.json"))
        with closing(_File(self._staging, path)) as file:
            documents = _Documents(file.write, "object")
            documents.add(document)
            documents.end()
            file.complete()
        for beside, attached in attachments:
            self._staging.write(
                posixpath.join(posixpath.dirname(path), safe_name(beside)), attached
            )

    def _commit(self) -> None:
        self._staging.commit()
        self.outputs = self._staging.paths

    def _discard(self) -> None:
        self._staging.discard()

    def _unique(self, name: str) -> str:
        """Return *name*, or the first numbered one that no document has: `-2`, `-3`, ..."""
        # Two names that differ in case only are one file on some systems.
        folded = name.casefold()
        one, number = name, self._taken.get(folded, 1)
        while one.casefold() in self._taken:
            number += 1
            one = numbered(name, number)
        self._taken[folded] = number
        self._taken.setdefault(one.casefold(), 1)
        return one


class _StreamSink(Sink):
    """Standard output, or a pipe or device; what is written is written."""

    def __init__(self, target: str | None, container: Container | None) -> None:
        super().__init__()
        self._target = target
        self._documents = _Documents(self._put, container, is_staged=False)
        self._stream: BinaryIO | None = None

    @property
    def container(self) -> Container | None:
        """What the documents are put into."""
        return self._documents.container

    def prefer(self, container: Container | None) -> None:
        """Put documents into *container*, unless another one is asked for."""
        self._documents.prefer(container)

    def __enter__(self) -> Self:
        if self._target is not None:
            with SystemErrors(self._target):
                self._stream = open(self._target, "wb")
        elif sys.stdout is None or sys.stdout.closed:
            raise HubError("standard output is closed")
        else:
            self._stream = sys.stdout.buffer
            with self._pipe_errors():
                sys.stdout.flush()
        return self

    def write(
        self, document: Json | bytes, *, name: str | None = None, attachments: Attachments = ()
    ) -> None:
        del name  # there is no place for one
        self._documents.add(document)
        if self._stream is not None:
            with self._pipe_errors():
                self._stream.flush()  # who reads it need not wait for the next document
        if any(True for _ in attachments):
            raise UsageError("attachments are written beside an output file; name one")

    def _commit(self) -> None:
        self._documents.end()
        if self._stream is not None:
            with self._pipe_errors():
                self._stream.flush()

    def _discard(self) -> None:
        if self._target is not None and self._stream is not None:
            with suppress(OSError):
                self._stream.close()

    def _put(self, data: bytes | memoryview) -> None:
        if self._stream is None:
            raise ValueError("a sink is written to inside its `with`")
        with self._pipe_errors():
            self._stream.write(data)

    @contextmanager
    def _pipe_errors(self) -> Iterator[None]:
        """Make the error of a closed pipe, and others of the system, the hub's."""
        with SystemErrors(self._target or "standard output"):
            try:
                yield
            except BrokenPipeError:
                if self._target is None:
                    _forget_standard_output()
                raise PipeClosed("the output is closed") from None


def _forget_standard_output() -> None:
    """Make what is buffered go nowhere, or Python complains about it when it ends."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


# Names

_SUFFIXES = r"(?:\.[A-Za-z][A-Za-z0-9_-]*)*$"


def safe_name(name: str) -> str:
    """Return the relative path *name*, if it stays below the folder it is relative to, on every system.

    Raises:
        HubError: it does not.
    """
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts) or re.search(r"[\\\0]|^[A-Za-z]:", name):
        raise HubError(f"not a name for a file below the output: {name!r}")
    return name


def numbered(name: str, number: int) -> str:
    """Return *name* with a *number*: in the name of its folder, if it has one, else before its suffixes."""
    folder, base = posixpath.split(name)
    if folder:
        return f"{folder}-{number}/{base}"
    suffixes = re.compile(_SUFFIXES).search(base, 1)
    end = suffixes.start() if suffixes else len(base)
    return f"{base[:end]}-{number}{base[end:]}"
