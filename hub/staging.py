"""Files that are written under temporary names, and get their own when all of them are complete.

Source: design.md, failure.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import BinaryIO, NamedTuple

from hub import leftovers
from hub.errors import HubError, UsageError


class Area(NamedTuple):
    """A folder that one run fills with files, many of them: what is temporary is in one place, to be found again.

    Its files are not brought to the disk one by one: a run that is cut short looks at what it left.
    """

    folder: str
    temporary: str
    """A folder on the same disk, which exists."""


class Staging:
    """The files below one folder that are to be there together, or not at all."""

    def __init__(
        self,
        folder: str,
        *,
        force: bool,
        inputs: Sequence[str],
        make: bool,
        area: Area | None = None,
    ) -> None:
        """Plan files below *folder*.

        Args:
            folder: where the files are to be.
            force: replace files that are there.
            inputs: files and folders that are never written over.
            make: make *folder* if there is none; otherwise it must exist, unless it is in an *area*.
            area: that of which *folder* is a part.

        Raises:
            UsageError: *folder* is none.
        """
        if not os.path.isdir(folder or os.curdir):
            may_be_made = make or area is not None
            if not may_be_made or os.path.lexists(folder):
                raise UsageError(f"{folder}: no such folder")
        self._folder = folder
        self._force = force
        self._inputs = inputs
        self._make = make
        self._area = area
        self._token = os.urandom(4).hex()
        self._temporary_folder: str | None = None
        self._lock: int | None = None
        """That of the temporary folder, by which other runs know that this one lives."""
        self._checked: str | None = None
        """The name that was checked last; all are checked again when they get their files."""
        self._staged: dict[str, str] = {}
        """Where each file is, by its name."""
        self._kept: list[tuple[str, str | None]] = []
        """Files that got their path, with what was there before."""
        self._made: list[str] = []
        """Folders that were made for them."""
        self._is_committed = False

    @property
    def paths(self) -> list[str]:
        """Paths that the files get, in the order they were written."""
        return [os.path.join(self._folder, name) for name in self._staged]

    def check(self, name: str) -> str:
        """Return the path that the file *name* gets.

        Raises:
            UsageError: it is an input, or it is there already and is not to be replaced.
        """
        path = os.path.join(self._folder, name)
        self._checked = name
        is_flat = self._area is None or self._folder == self._area.folder
        if os.path.dirname(name) or not is_flat:
            self._refuse_outside(path)
        if os.path.lexists(path):
            self._refuse_existing(path)
        return path

    def _refuse_existing(self, path: str) -> None:
        """Refuse the *path* of what is there, unless that may be replaced."""
        for one in self._inputs:
            if _is_same(path, one):
                raise UsageError(f"{path}: the output is the input {one}")
        if os.path.isdir(path):
            raise UsageError(f"{path}: a directory")
        if not self._force:
            raise UsageError(f"{path}: exists; --force replaces it")

    def write(self, name: str, data: bytes) -> None:
        """Add the file *name* with this *data*."""
        with self.create(name) as file:
            file.write(data)
            self.complete(file)

    def complete(self, file: BinaryIO) -> None:
        """Bring all of *file* to the disk."""
        file.flush()
        if self._area is None:
            os.fsync(file.fileno())

    def create(self, name: str) -> BinaryIO:
        """Add the file *name*, and return it, to be written and made `complete`.

        Raises:
            UsageError: as `check`; or it was added before.
        """
        path = os.path.join(self._folder, name)
        if name != self._checked:
            self.check(name)
        if name in self._staged:
            raise UsageError(f"{path}: written twice")
        with SystemErrors(path):
            # Known before it is there: a signal may come in between.
            temporary = self._staged[name] = self._temporary()
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
                descriptor = os.open(temporary, flags, 0o666)
            except OSError:
                del self._staged[name]
                raise
        return os.fdopen(descriptor, "wb", _BUFFER)

    def commit(self) -> None:
        """Give every file its own name.

        Raises:
            UsageError: as `check`; nothing is changed then.
        """
        if self._area is not None:
            self._commit(None)
        elif self._temporary_folder is not None:
            with leftovers.locked(os.path.dirname(self._temporary_folder) or os.curdir):
                self._commit(self._temporary_folder)
            for folder in {os.path.dirname(path) for path in self.paths}:
                _sync(folder or os.curdir)
        self._is_committed = True
        self.discard()

    def _commit(self, temporary_folder: str | None) -> None:
        try:
            if temporary_folder is None:
                self._move_all()
            elif self._make and not os.path.lexists(self._folder):
                self._make_whole(os.path.join(temporary_folder, leftovers.TREE))
            else:
                if len(self._staged) > 1:
                    self._write_journal(temporary_folder)
                self._move_all()
                leftovers.end_journal(temporary_folder)
        except BaseException:
            self._undo()
            raise

    def _move_all(self) -> None:
        for name, temporary in self._staged.items():
            with SystemErrors(os.path.join(self._folder, name)):
                self._move(temporary, name)

    def _make_whole(self, tree: str) -> None:
        """Make the folder, which is not there, with all files at once: as *tree*, which then gets its name."""
        with SystemErrors(self._folder):
            os.mkdir(tree)
        for name, temporary in self._staged.items():
            path = os.path.join(self._folder, name)
            with SystemErrors(path):
                self.check(name)
                os.makedirs(os.path.join(tree, os.path.dirname(name)), exist_ok=True)
                os.replace(temporary, os.path.join(tree, name))
        with SystemErrors(self._folder):
            whole = self._folder.rstrip(os.sep)
            self._make_folders(os.path.dirname(whole))
            os.rename(tree, whole)

    def _write_journal(self, temporary_folder: str) -> None:
        base = os.path.dirname(temporary_folder)
        folder = os.path.relpath(os.path.abspath(self._folder), base or os.curdir)
        moves = [
            leftovers.Move(
                os.path.basename(temporary), os.path.join(folder, name), os.stat(temporary).st_ino
            )
            for name, temporary in self._staged.items()
        ]
        with SystemErrors(self._folder):
            leftovers.write_journal(temporary_folder, moves)

    def discard(self) -> None:
        """Remove everything temporary."""
        temporary = [] if self._is_committed else list(self._staged.values())
        for path in temporary + [old for _, old in self._kept if old]:
            with suppress(OSError):
                os.unlink(path)
        if self._temporary_folder is not None:
            leftovers.remove(self._temporary_folder)
            leftovers.unlock(self._lock)
            self._temporary_folder = self._lock = None

    def _temporary(self) -> str:
        """Return the path of the next temporary file."""
        if self._area is not None:
            return os.path.join(self._area.temporary, f"{self._token}-{len(self._staged)}")
        return os.path.join(self._make_temporary_folder(), str(len(self._staged)))

    def _make_temporary_folder(self) -> str:
        """Return the folder of the temporary files, on the disk of the folder."""
        if self._temporary_folder is None:
            folder = self._folder
            if folder and not os.path.isdir(folder):
                folder = os.path.abspath(folder)
            while folder and not os.path.isdir(folder):
                folder = os.path.dirname(folder)
            made = leftovers.make_folder(folder or os.curdir)
            self._temporary_folder, self._lock = made
        return self._temporary_folder

    def _move(self, temporary: str, name: str) -> None:
        path = self.check(name)
        self._make_folders(os.path.dirname(path))
        old = None
        if self._force and len(self._staged) > 1 and os.path.lexists(path):
            old = f"{temporary}.old"
            os.link(path, old, follow_symlinks=False)
        if self._force:
            os.replace(temporary, path)
        else:
            _rename_new(temporary, path)
        self._kept.append((path, old))

    def _make_folders(self, folder: str) -> None:
        missing = []
        while folder and not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for one in reversed(missing):
            with suppress(FileExistsError):  # another process was faster
                os.mkdir(one)
                self._made.append(one)

    def _undo(self) -> None:
        for path, old in reversed(self._kept):
            with suppress(OSError):
                os.unlink(path) if old is None else os.replace(old, path)
        for folder in reversed(self._made):
            with suppress(OSError):
                os.rmdir(folder)

    def _refuse_outside(self, path: str) -> None:
        """Refuse a *path* that a symbolic link leads out of the folder, or out of the area that it is in."""
        top = self._folder if self._area is None else self._area.folder
        folder = os.path.realpath(top)
        if os.path.commonpath([folder, os.path.realpath(os.path.dirname(path))]) != folder:
            raise UsageError(f"{path}: a link leads out of {top}")


_BUFFER = 1 << 16
_BINARY: int = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class SystemErrors:
    """Makes errors of the system the hub's, and names what they are about.

    Entered for each piece that is written, so it is no generator.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError):
            raise HubError(f"{self._name}: {(error.strerror or str(error)).lower()}") from None


def _is_same(path: str, other: str) -> bool:
    """Tell whether writing to *path* changes *other*: the same file, whatever its name, or one below the folder."""
    try:
        if os.path.isdir(other):
            below = os.path.realpath(path).startswith(os.path.join(os.path.realpath(other), ""))
            return below and os.path.exists(path)
    except OSError:
        return False
    return is_same_file(path, other)


def is_same_file(path: str, other: str) -> bool:
    """Tell whether both paths are of one file, whatever their names; one that is not there is none."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def _rename_new(temporary: str, path: str) -> None:
    """Rename *temporary* to *path*, unless that has come to be there meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise UsageError(f"{path}: exists; --force replaces it") from None
    except OSError:
        # A file system without hard links.
        os.rename(temporary, path)
    else:
        os.unlink(temporary)


def _sync(folder: str) -> None:
    """Bring the names in *folder* to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
