"""The journal of a run: what was begun and what became of it, so that a run that was cut short can go on.

It is a file of JSON Lines in the output folder: what the run is, then a line for each input that is begun, and one for
each that ended. When the run has ended the lines stand in the order of the plan, so that it is the same however often
the run was cut short. An input is not done again if it is what it was, and so are its outputs.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import NoneType
from typing import Any, BinaryIO, get_args

from hub import remote
from hub.batch.outcome import RESULTS, Outcome
from hub.batch.places import below, joined
from hub.batch.planning import STATE, Item
from hub.errors import HubError, Problem, Severity, UsageError
from hub.json import dumps
from hub.streams import is_remote

VERSION = 1
_FILE, _NEXT, _TEMPORARY = "journal.jsonl", "journal.next", "temporary"


class Journal:
    """The journal in an output folder; see `opened`."""

    def __init__(self, folder: str, run: dict[str, Any]) -> None:
        self._folder = folder
        self._state = state_elsewhere(folder) if is_remote(folder) else os.path.join(folder, STATE)
        self._run = run
        self._file: BinaryIO | None = None
        self._next: BinaryIO | None = None
        self._ended: dict[str, int] = {}
        """Where in the file it stands what became of an input, by name."""
        self._lines: dict[str, bytes] = {}
        """What was noted of inputs that have ended before those in front of them."""
        self._earlier: dict[str, dict[str, int]] = {}
        """What an earlier run wrote of an input that is done again: sizes by path, by place."""
        self._begun: set[str] = set()
        """Places whose outputs may be there, though nothing says that they are whole."""

    @property
    def temporary(self) -> str:
        """The folder for temporary files."""
        return os.path.join(self._state, _TEMPORARY)

    def known(self, item: Item) -> Outcome | None:
        """Return what became of *item* in an earlier run, if it need not be done again."""
        at = self._ended.get(item.name)
        if at is None or self._file is None:
            return None
        self._file.seek(at)
        line = self._file.readline()
        entry = json.loads(line)
        self._file.seek(0, os.SEEK_END)
        outcome = self._outcome(entry["outcome"])
        if entry["place"] != item.place:
            return None
        is_same = entry["identity"] == item.identity and entry["sizes"] == _sizes(outcome)
        if outcome.is_failure or not is_same:
            self._earlier[item.place] = dict(
                zip(outcome.outputs, entry["sizes"] or (), strict=False)
            )
            return None
        self._lines[item.place] = line
        return outcome

    def may_be_there(self, item: Item) -> bool:
        """Tell whether an earlier run may have written the output of *item*."""
        return item.place in self._begun

    def again(self, item: Item) -> Item:
        """Return *item*, which is not begun yet, as it is given a second time: its output may be there by then."""
        is_ours = item.place in self._begun or not _exists(joined(self._folder, item.place))
        return item._replace(is_again=item.is_again or is_ours)

    def begun(self, item: Item) -> None:
        """Note that *item* is given to somebody."""
        if item.place not in self._begun and not _exists(joined(self._folder, item.place)):
            self._add(_line({"begun": item.place}))

    def without_earlier(self, item: Item, outcome: Outcome) -> Outcome:
        """Remove what an earlier run wrote of *item* and this one has not; return *outcome*, which then says so.

        What has changed since is not touched, but named.
        """
        earlier = self._earlier.pop(item.place, {})
        words = []
        for path, size in earlier.items():
            if path in outcome.outputs or (found := _size(path)) is None:
                continue
            if found != size:
                words.append(f"{path}, of an earlier run, was changed and stays")
            elif self._remove(path):
                words.append(f"{path}, of an earlier run, is removed")
            else:
                words.append(f"{path}, of an earlier run, cannot be removed and stays")
        if not words:
            return outcome
        return outcome._replace(message="; ".join(filter(None, [outcome.message, *words])))

    def _remove(self, path: str) -> bool:
        """Remove the output at *path*; tell whether that could be done. What a link leads to elsewhere is not ours."""
        try:
            if is_remote(path):
                remote.remove(path)
                return True
            folder, own = os.path.realpath(os.path.dirname(path)), os.path.realpath(self._folder)
            if os.path.commonpath([folder, own]) != own:
                return False
            os.unlink(path)
        except (HubError, OSError):
            return False
        return True

    def ended(self, item: Item, outcome: Outcome) -> None:
        """Note what became of *item*."""
        line = self._lines[item.place] = _line(self._entry(item, outcome))
        self._add(line)

    def flush(self) -> None:
        """Write what was noted to the file."""
        if self._file is not None:
            self._file.flush()

    def in_order(self, item: Item) -> None:
        """Note what became of *item* in the journal of the whole run, which is in the order of the plan."""
        if self._next is not None:
            self._next.write(self._lines.pop(item.place))

    def finish(self) -> None:
        """Put the journal of the whole run in the place of this one."""
        if self._file is not None and self._next is not None:
            self._next.close()
            os.replace(os.path.join(self._state, _NEXT), os.path.join(self._state, _FILE))

    def _entry(self, item: Item, outcome: Outcome) -> dict[str, Any]:
        """Return what is noted of an input that has ended; its outputs by their path below the folder."""
        told = {
            **outcome._asdict(),
            "outputs": [below(self._folder, path) for path in outcome.outputs],
            "problems": [problem._asdict() for problem in outcome.problems],
            "measures": None,
            "made": None,
        }
        return {
            "input": item.name,
            "place": item.place,
            "identity": item.identity,
            "sizes": _sizes(outcome),
            "outcome": told,
        }

    def _outcome(self, told: dict[str, Any]) -> Outcome:
        return Outcome(
            **{
                **told,
                "outputs": [os.path.join(self._folder, path) for path in told["outputs"]],
                "problems": [Problem(**problem) for problem in told["problems"]],
            }
        )

    def _add(self, line: bytes) -> None:
        if self._file is not None:
            self._file.write(line)

    def _open(self, *, resume: bool, force: bool) -> None:
        path = os.path.join(self._state, _FILE)
        is_there = os.path.exists(path)
        if is_there and not resume and not force:
            raise UsageError(
                f"{self._folder}: holds an earlier run;"
                " --resume does what is missing or has changed, --force begins anew"
            )
        os.makedirs(self._state, exist_ok=True)
        self._file = open(path, "a+b")  # noqa: SIM115  # closed by `opened`
        _lock(self._file, self._folder)
        shutil.rmtree(self.temporary, ignore_errors=True)
        os.mkdir(self.temporary)
        if not (is_there and resume and self._load()):
            self._file.truncate(0)
            self._add(_line(self._run))
        self._next = open(os.path.join(self._state, _NEXT), "wb")  # noqa: SIM115  # as above
        self._next.write(_line(self._run))

    def _load(self) -> bool:
        """Read what is there; tell whether anything is.

        Raises:
            UsageError: it is the journal of a run with other settings.
        """
        assert self._file is not None  # noqa: S101  # just opened
        self._file.seek(0)
        run = _object(self._file.readline())
        if run is None:
            return False
        if run != self._run:
            names = [name for name in {**run, **self._run} if run.get(name) != self._run.get(name)]
            raise UsageError(
                f"{self._folder}: the earlier run was another one ({', '.join(names)});"
                " --force begins anew"
            )
        at = self._file.tell()
        for line in iter(self._file.readline, b""):
            entry = _object(line)
            if entry is None or not (_is_begun(entry) or _is_ended(entry)):
                break
            if "begun" in entry:
                self._begun.add(entry["begun"])
            else:
                self._ended[entry["input"]] = at
                if entry["outcome"]["outputs"]:
                    self._begun.add(entry["place"])
                else:
                    self._begun.discard(entry["place"])
            at = self._file.tell()
        self._file.truncate(at)  # the last line may be cut, or somebody has been at it
        self._file.seek(0, os.SEEK_END)
        return True

    def _close(self) -> None:
        for file in (self._next, self._file):
            if file is not None:
                file.close()
        shutil.rmtree(self.temporary, ignore_errors=True)
        with suppress(OSError):
            os.unlink(os.path.join(self._state, _NEXT))


@contextmanager
def opened(folder: str, run: dict[str, Any], *, resume: bool, force: bool) -> Iterator[Journal]:
    """Open the journal of *run* in the output *folder*.

    Raises:
        UsageError: there is one of another run, or of the same without *resume* or *force*; or the run is under way.
    """
    journal = Journal(folder, {"journal": VERSION, **run})
    _refuse_links(journal._state)  # noqa: SLF001  # our own
    try:
        journal._open(resume=resume, force=force)  # noqa: SLF001  # our own
        yield journal
    finally:
        journal._close()  # noqa: SLF001


def _refuse_links(state: str) -> None:
    """Refuse a folder *state* that would have a run write, empty or remove what is elsewhere."""
    for path in (state, *(os.path.join(state, name) for name in (_FILE, _NEXT, _TEMPORARY))):
        if os.path.islink(path):
            raise UsageError(f"{path}: a link, which leads out of the output folder")


def state_elsewhere(folder: str) -> str:
    """Return the folder of this machine for the journal of a run that writes to the URL *folder*."""
    from hashlib import sha256

    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    name = sha256(folder.rstrip("/").encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return os.path.join(home, "storyline-hub", name)


def _lock(file: BinaryIO, folder: str) -> None:
    """Keep others from writing to the same folder, where the system can."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"{folder}: another run writes to it") from None
    except OSError:
        return  # a file system without locks


def _sizes(outcome: Outcome) -> list[int] | None:
    """Return how large the outputs are; None if one is not there, or is no file."""
    found = [_size(path) for path in outcome.outputs]
    sizes = [size for size in found if size is not None]
    return sizes if len(sizes) == len(found) else None


def _size(path: str) -> int | None:
    """Return how large the file at *path* is; None if there is none, a link is there, or nobody says."""
    try:
        if is_remote(path):
            return remote.find(path).size
        found = os.lstat(path)
    except (HubError, OSError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _object(line: bytes) -> dict[str, Any] | None:
    """Return the object that a *line* of the journal is; None if it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_begun(entry: dict[str, Any]) -> bool:
    return entry.keys() == {"begun"} and isinstance(entry["begun"], str)


def _is_ended(entry: dict[str, Any]) -> bool:
    """Tell whether *entry* is what a run notes of an input that has ended; its outputs are in the folder."""
    told = entry.get("outcome")
    return (
        entry.keys() == {"input", "place", "identity", "sizes", "outcome"}
        and isinstance(entry["input"], str)
        and isinstance(entry["place"], str)
        and isinstance(told, dict)
        and told.keys() == set(Outcome._fields)
        and all(isinstance(told[name], kinds) for name, kinds in _KINDS.items())
        and all(type(number) is int for number in told["redacted"].values())
        and told["result"] in RESULTS
        and all(isinstance(one, str) and _is_inside(one) for one in told["outputs"])
        and all(map(_is_problem, told["problems"]))
    )


_TEXT = (str, NoneType)
_KINDS: dict[str, type | tuple[type, ...]] = {
    "input": str,
    "result": str,
    "status": int,
    "format": _TEXT,
    "version": _TEXT,
    "outputs": list,
    "documents": int,
    "storylines": int,
    "problems": list,
    "message": _TEXT,
    "fidelity": (dict, NoneType),
    "redacted": dict,
    "measures": NoneType,
    "made": NoneType,
}
"""Types of what is told of an input."""


def _is_inside(path: str) -> bool:
    """Tell whether the relative *path* of an output leads nowhere else."""
    return not os.path.isabs(path) and os.pardir not in path.split(os.sep)


def _is_problem(told: Any) -> bool:
    return (
        isinstance(told, dict)
        and told.keys() == set(Problem._fields)
        and all(isinstance(value, _TEXT) for value in told.values())
        and told["severity"] in get_args(Severity)
    )


def _exists(path: str) -> bool:
    return remote.exists(path) if is_remote(path) else os.path.lexists(path)


def _line(value: dict[str, Any]) -> bytes:
    return dumps(value) + b"\n"
