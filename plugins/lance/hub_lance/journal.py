"""What an `add` keeps beside the tables until it is published: its lock, its journal, and files of rows.

The journal is a file of JSON Lines: what the run is, then a line for each chunk of rows that stands in files of the
tables and is in no version yet, with what became of the inputs it is of. A run that was cut short goes on behind the
last whole line. What the folder holds is never part of the store.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from hub import Outcome, Problem, UsageError
from hub_lance.current import Versions
from hub_lance.schema import TABLES, TableName

FOLDER = ".storyline-hub"
VERSION = 1
_JOURNAL, _LOCK, _SPOOL = "add.jsonl", "lock", "rows"


class Chunk(NamedTuple):
    """Rows that are written, and in no version of the tables yet."""

    removed: list[str]
    """Documents of chunks before this one that it replaces."""
    fragments: dict[TableName, list[dict[str, Any]]]
    """Of each table, as Lance spells them."""


class Noted(NamedTuple):
    """An input that was dealt with."""

    name: str
    stamp: str | None
    outcome: Outcome


class State(NamedTuple):
    """How far an `add` is."""

    base: Versions
    """The versions of the tables that it began with."""
    chunks: list[Chunk]
    inputs: dict[str, Noted]
    ids: set[str]
    """Documents that the chunks hold."""
    replaced: set[str]
    """Documents of the store that they replace."""
    next_ordinal: int
    published: Versions | None = None
    """The versions that the run made, if it came to its end."""


@contextmanager
def locked(root: Path) -> Iterator[Path]:
    """Keep others from writing to the store in *root*, and give its folder for what is under way.

    Raises:
        UsageError: somebody else writes to it.
    """
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("a+b") as file:
        _lock(file, root)
        yield folder


def _lock(file: BinaryIO, root: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            f"{root}: another process writes to this store; nothing is added"
        ) from None
    except OSError:
        return  # a file system without locks


class Journal:
    """The journal of an `add` in the folder that `locked` gives."""

    def __init__(self, folder: Path, run: Mapping[str, Any]) -> None:
        """Open the journal of *run*: what makes it the same run."""
        self._folder = folder
        self._run = {"journal": VERSION, **run}
        self._file: BinaryIO | None = None

    @property
    def spool(self) -> Path:
        """The folder for files of rows."""
        return self._folder / _SPOOL

    def begin(self, base: Versions, next_ordinal: int, *, resume: bool) -> State:
        """Return how far the run is; without *resume*, or if the store has changed since, at its beginning.

        Of a run that came to its end it is known what became of its inputs.

        Raises:
            UsageError: there is something to resume, and it is another run.
        """
        self.close()
        self.spool.mkdir()
        path = self._folder / _JOURNAL
        state = self._load(path, base) if resume else None
        if state is not None and state.published is None and state.base == base:
            self._file = path.open("r+b")
            self._file.seek(0, os.SEEK_END)
            return state
        known = state.inputs if state is not None and state.published == base else {}
        self._file = path.open("wb")
        self._add({**self._run, "base": base})
        if known:
            self.note(Chunk([], {}), list(known.values()), [], [], next_ordinal)
        return State(base, [], known, set(), set(), next_ordinal)

    def _load(self, path: Path, now: Versions) -> State | None:
        """Return what the journal says of this run; what is behind its last whole line is cut off.

        Raises:
            UsageError: it is the journal of another run, which was cut short.
        """
        try:
            lines = path.read_bytes().splitlines(keepends=True)
            head = json.loads(lines[0])
        except (FileNotFoundError, IndexError, ValueError):
            return None
        state = State(Versions(*head.pop("base")), [], {}, set(), set(), -1)
        length = len(lines[0])
        for line in lines[1:]:
            if not line.endswith(b"\n"):
                break
            state = _with(state, json.loads(line))
            length += len(line)
        if head != self._run:
            if state.published is None and state.base == now and state.chunks:
                known = {**head, **self._run}
                names = [name for name in known if head.get(name) != self._run.get(name)]
                raise UsageError(
                    f"{self._folder.parent}: the run that was cut short was another one"
                    f" ({', '.join(names)}); without --resume it is given up"
                )
            return None
        os.truncate(path, length)
        return None if state.next_ordinal < 0 else state

    def note(
        self,
        chunk: Chunk,
        inputs: list[Noted],
        ids: list[str],
        replaced: list[str],
        next_ordinal: int,
    ) -> None:
        """Note that the rows of *chunk* are written, and what became of *inputs*."""
        self._add(
            {
                "removed": chunk.removed,
                "fragments": chunk.fragments,
                "ids": ids,
                "replaced": replaced,
                "next": next_ordinal,
                "inputs": [
                    {"name": one.name, "stamp": one.stamp, "outcome": _plain(one.outcome)}
                    for one in inputs
                ],
            }
        )

    def publish(self, versions: Versions) -> None:
        """Note the versions that the run has made, which `CURRENT` is about to name."""
        self._add({"published": versions})
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the journal; files of rows are not needed any more."""
        if self._file is not None:
            self._file.close()
            self._file = None
        shutil.rmtree(self.spool, ignore_errors=True)

    def _add(self, entry: Mapping[str, Any]) -> None:
        assert self._file is not None  # noqa: S101  # begun
        self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self._file.flush()


def forget(folder: Path) -> None:
    """Give up a run that was cut short: what it has written is in no version, and is removed with the next others."""
    (folder / _JOURNAL).unlink(missing_ok=True)
    shutil.rmtree(folder / _SPOOL, ignore_errors=True)


def _with(state: State, entry: Mapping[str, Any]) -> State:
    """Return *state* after what *entry* says."""
    if "published" in entry:
        return state._replace(published=Versions(*entry["published"]))
    fragments = {name: entry["fragments"].get(name, []) for name in TABLES}
    state.chunks.append(Chunk(entry["removed"], fragments))
    for one in entry["inputs"]:
        state.inputs[one["name"]] = Noted(one["name"], one["stamp"], _outcome(one["outcome"]))
    state.ids.update(entry["ids"])
    state.replaced.update(entry["replaced"])
    return state._replace(next_ordinal=entry["next"])


def _plain(outcome: Outcome) -> dict[str, Any]:
    told = outcome._replace(made=None, measures=None)._asdict()
    told["problems"] = [problem._asdict() for problem in outcome.problems]
    return told


def _outcome(told: Mapping[str, Any]) -> Outcome:
    return Outcome(**{**told, "problems": [Problem(**one) for one in told["problems"]]})
