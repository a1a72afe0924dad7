"""What a run that was killed has left behind: temporary folders, and files that were moved before all of them were.

A run keeps its temporary files in one folder, which it holds locked for as long as it lives. Before more than one file
gets its name it writes a journal there. The next run that writes to the same folder finds temporary folders that nobody
holds: it takes back what the journal says, and removes them. So the old output is whole, or the new one is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

try:
    import fcntl
except (
    ImportError
):  # pragma: no cover  # Windows: nothing is locked, and nothing is taken for left behind
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".storyline-hub.", ".tmp"
JOURNAL = "journal"
TREE = "tree"
"""Name of a whole folder that is being made."""
PATIENCE = 10.0
"""Seconds to wait for another run that is giving its files their names."""


class Move(NamedTuple):
    """A file that is to get its name."""

    temporary: str
    """Its name in the temporary folder; with `.old` behind it, that of what was there before."""
    name: str
    """Path below the folder of the output."""
    inode: int
    """By which it is known again: what has the name and another inode is not ours."""


def make_folder(folder: str) -> tuple[str, int | None]:
    """Make a temporary folder in *folder*, after removing what is left behind there; return its path, and its lock."""
    with locked(folder):
        clean(folder)
        path = os.path.join(folder, f"{PREFIX}{os.urandom(4).hex()}{SUFFIX}")
        os.mkdir(path, 0o700)
        return path, _lock(path)


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """Keep other runs from giving files in *folder* their names, for a moment; where that cannot be, go on without."""
    end = time.monotonic() + PATIENCE
    lock = _lock(folder)
    while lock is None and fcntl is not None and time.monotonic() < end:
        time.sleep(0.01)
        lock = _lock(folder)
    try:
        yield
    finally:
        unlock(lock)


def _lock(folder: str) -> int | None:
    """Return a lock on *folder*; None if another run has it, or the system has none."""
    if fcntl is None:
        return None
    descriptor = None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        unlock(descriptor)
        return None
    return descriptor


def unlock(lock: int | None) -> None:
    """Give a lock back."""
    if lock is not None:
        os.close(lock)


def write_journal(temporary: str, moves: Iterable[Move]) -> None:
    """Write down, in the folder *temporary*, what is about to be moved."""
    import json

    path = os.path.join(temporary, JOURNAL)
    with open(f"{path}.part", "wb") as file:
        file.write(json.dumps(list(moves)).encode("utf-8", "surrogatepass"))
        file.flush()
        os.fsync(file.fileno())
    os.rename(f"{path}.part", path)


def end_journal(temporary: str) -> None:
    """Take the journal away: all files have their names, and keep them."""
    with suppress(OSError):
        os.unlink(os.path.join(temporary, JOURNAL))


def clean(folder: str) -> None:
    """Take back what killed runs of the same user did to *folder* in part, and remove their temporary files."""
    with suppress(OSError), os.scandir(folder) as entries:
        found = [
            entry.path
            for entry in entries
            if entry.name.startswith(PREFIX)
            and entry.name.endswith(SUFFIX)
            and entry.is_dir(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
        ]
        for path in found:
            lock = _lock(path)
            if lock is not None:
                with suppress(OSError):
                    _take_back(folder, path)
                    remove(path)
                unlock(lock)


def _take_back(folder: str, temporary: str) -> None:
    for move in reversed(_read_journal(temporary)):
        path = os.path.join(folder, move.name)
        with suppress(OSError):
            if os.lstat(path).st_ino != move.inode:
                continue
            # Only what the killed run put there is touched, whatever the journal says.
            old = os.path.join(temporary, f"{move.temporary}.old")
            os.replace(old, path) if os.path.lexists(old) else os.unlink(path)


def _read_journal(temporary: str) -> list[Move]:
    import json

    try:
        with open(os.path.join(temporary, JOURNAL), "rb") as file:
            moves = [Move(*one) for one in json.loads(file.read().decode("utf-8", "surrogatepass"))]
    except (OSError, ValueError, TypeError, RecursionError):
        return []
    return [one for one in moves if _is_sound(one)]


def _is_sound(move: Move) -> bool:
    """Tell whether a move is one that is written by this module, and of a file below the folder."""
    return (
        type(move.inode) is int
        and isinstance(move.name, str)
        and isinstance(move.temporary, str)
        and move.temporary.isdigit()
        and not os.path.isabs(move.name)
        and os.pardir not in move.name.split("/")
    )


def remove(temporary: str) -> None:
    """Remove a temporary folder with what is in it; the journal first, by which it counts."""
    end_journal(temporary)
    try:
        os.rmdir(temporary)
    except OSError:
        import shutil

        shutil.rmtree(temporary, ignore_errors=True)
