"""What there is to do: the inputs of a run, each with the place that its output gets.

Files, directories and patterns become items in a fixed order, found while the run goes on: nothing is held but the
names that are taken. Symbolic links are not followed. Source: detection.md 5.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from hub import remote
from hub.batch.archives import stem_of, take_out
from hub.batch.patterns import MAGIC, matching
from hub.batch.places import Places, relative_to, shared_folder
from hub.errors import HubError
from hub.limits import DEFAULTS, Limits
from hub.source import Source
from hub.streams import is_remote, paths_below

STATE = ".storyline-hub"
"""The folder in an output folder in which a run keeps its journal; what begins with it is never an input."""

Claims = Callable[[Source], str | None]
"""Returns the id of the format that claims a directory as a whole."""


class Item(NamedTuple):
    """One input of a run."""

    path: str
    """What is read: a file, or a directory that a format claims as a whole."""
    name: str
    """Path of the input as people know it."""
    place: str
    """Where its output stands below the output folder, with `/` between the parts."""
    is_found: bool = True
    """Whether a directory holds it; otherwise somebody named it."""
    error: HubError | None = None
    """Why it cannot be read at all."""
    container: str | None = None
    """Stamp of the archive that holds it."""
    identity: str | None = None
    """The stamp that it had before it was read."""
    is_again: bool = False
    """Whether its output may be there: an earlier run began with it."""

    def stamp(self) -> str | None:
        """Return what changes when the input does: size and times of the file, or of all files of the directory."""
        try:
            return self._stamp()
        except (HubError, OSError):
            return None

    def _stamp(self) -> str | None:
        if self.container is not None:
            return self.container
        if is_remote(self.path):
            return self.identity or remote.find(self.path).stamp
        found = os.stat(self.path)
        if not stat.S_ISDIR(found.st_mode):
            return _stamp(found)
        digest = hashlib.sha256()
        for path in paths_below(self.path):
            one = _stamp(os.stat(os.path.join(self.path, path)))
            digest.update(f"{path}\0{one}\0".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()


def _stamp(found: os.stat_result) -> str:
    return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ctime_ns}"


class _Root(NamedTuple):
    """One of the inputs, as it was named."""

    path: str
    base: str
    """The folder to which places below it are relative, if it is the only one."""
    is_pattern: bool = False
    is_folder: bool = False
    """Whether it is a folder elsewhere."""


class Spool(NamedTuple):
    """Where archives are taken out."""

    folder: str
    """An empty folder, which somebody removes."""
    limits: Limits = DEFAULTS
    """What one archive may hold."""


def plan(
    inputs: Sequence[str],
    claims: Claims,
    places: Places,
    *,
    without: str | None = None,
    spool: Spool | None = None,
) -> Iterator[Item]:
    """Yield an item for each file of *inputs*, in the order of the inputs and then of paths.

    With one input, places are relative to it; with several, to the folder that holds all of them, or where one of
    them is elsewhere, each to the input that it is of. *without* is a folder that is left out: that of the outputs,
    where it lies among the inputs. With a *spool* the files of archives are inputs, without one an archive is one.
    """
    roots = [_root(one) for one in inputs]
    is_shared = len(roots) > 1 and not any(is_remote(one.path) for one in roots)
    shared = shared_folder([one.base for one in roots]) if is_shared else None
    seen: set[int] = set()
    avoided = without if without is None or is_remote(without) else os.path.realpath(without)
    for root in roots:
        for item in _with_archives(_items(root, claims, avoided), claims, spool):
            if len(roots) > 1 or root.is_pattern:
                key = hash(os.path.realpath(item.name))
                if key in seen:
                    continue
                seen.add(key)
            yield _placed(item, places, shared or root.base)


def _placed(item: Item, places: Places, base: str) -> Item:
    """Return *item* with the place that it gets; one that gets none has an error."""
    if item.error is None:
        try:
            return item._replace(place=places.of(relative_to(base, item.place or item.path)))
        except HubError as error:
            item = item._replace(error=error)
    return item._replace(place=places.of(f"?/{item.name}"))  # nothing is written there


def _with_archives(items: Iterable[Item], claims: Claims, spool: Spool | None) -> Iterator[Item]:
    """Yield *items*, and in the place of each archive its files."""
    for item in items:
        stem = None if spool is None or item.error is not None else stem_of(item.path)
        if spool is None or stem is None or os.path.isdir(item.path):
            yield item
        else:
            yield from _taken_out(item, stem, claims, spool)


def _taken_out(item: Item, stem: str, claims: Claims, spool: Spool) -> Iterator[Item]:
    """Yield an item for each file of the archive that *item* is, or for the archive if nothing can be taken out."""
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(dir=spool.folder)
    fetched = tempfile.mkdtemp(dir=spool.folder) if is_remote(item.path) else None
    try:
        path = item.path
        if fetched is not None:
            path = os.path.join(fetched, os.path.basename(path))
            remote.get(item.path, path)
        refused = take_out(path, folder, spool.limits)
    except HubError as error:
        shutil.rmtree(folder, ignore_errors=True)
        yield item._replace(error=error)
        return
    finally:
        if fetched is not None:
            shutil.rmtree(fetched, ignore_errors=True)
    archive = item.stamp() or "-"
    for one in refused:
        name = f"{item.path}/{one.name}"
        yield Item(item.path, name, "", error=one.error, container=archive)
    for found in _below(folder, claims, None):
        inside = os.path.relpath(found.path, folder)
        inside = "" if inside == "." else inside
        yield found._replace(
            name=os.path.join(item.path, inside),
            place=os.path.join(stem, inside),
            container=archive,
        )


def _root(named: str) -> _Root:
    if is_remote(named):
        return _root_elsewhere(named)
    if os.path.isdir(named):
        return _Root(named, named)
    if MAGIC.search(named) and not os.path.lexists(named):
        fixed = named[: MAGIC.search(named).start()]  # type: ignore[union-attr]  # it is there
        return _Root(named, os.path.dirname(fixed) or os.curdir, is_pattern=True)
    return _Root(named, stem_of(named) or os.path.dirname(named) or os.curdir)


def _root_elsewhere(named: str) -> _Root:
    if "*" in named:
        return _Root(named, named.partition("*")[0].rpartition("/")[0], is_pattern=True)
    try:
        is_folder = remote.find(named).is_folder
    except HubError:
        is_folder = False  # it is said when it is read
    base = named.rstrip("/") if is_folder else stem_of(named) or named.rpartition("/")[0]
    return _Root(named, base, is_folder=is_folder)


def _elsewhere(root: _Root, avoided: str | None) -> Iterator[Item]:
    """Yield an item for each file elsewhere that *root* stands for; no format claims a folder there."""
    if not (root.is_pattern or root.is_folder):
        yield Item(root.path, root.path, root.path.partition("?")[0], is_found=False)
        return
    try:
        number = 0
        for found in (remote.matching if root.is_pattern else remote.below)(root.path):
            url = found.url
            is_output = avoided is not None and url.startswith(f"{avoided.rstrip('/')}/")
            if not is_output and f"/{STATE}" not in url:
                number += 1
                yield Item(url, url, url.partition("?")[0], identity=found.stamp)
        if root.is_pattern and not number:
            raise HubError("no file matches")
    except HubError as error:
        yield Item(root.path, root.path, "", is_found=False, error=error)


def _items(root: _Root, claims: Claims, avoided: str | None) -> Iterator[Item]:
    if is_remote(root.path):
        yield from _elsewhere(root, avoided)
    elif root.is_pattern:
        yield from _matching(root, claims, avoided)
    elif os.path.isdir(root.path):
        yield from _below(root.path, claims, avoided)
    else:
        yield Item(root.path, root.path, "", is_found=False)


def _matching(root: _Root, claims: Claims, avoided: str | None) -> Iterator[Item]:
    """Yield an item for each file that matches the pattern of *root*, and for those of folders that do."""
    matches = matching(root.path)
    if not matches:
        error = HubError("no file matches")
        yield Item(root.path, root.path, "", is_found=False, error=error)
    for match in matches:
        if not os.path.isdir(match):
            yield Item(match, match, "")
        elif not root.path.endswith("**") and not os.path.islink(match):
            yield from _below(match, claims, avoided)


def _below(folder: str, claims: Claims, avoided: str | None) -> Iterator[Item]:
    """Yield an item for each file below *folder*, and for each directory that a format claims as a whole.

    A format may claim a directory for what stands deep in it, so the deepest ones are taken: files beside them, which
    the format would not read, are items of their own.
    """
    if avoided is not None and os.path.realpath(folder) == avoided:
        return
    try:
        is_claimed = claims(Source.open(folder)) is not None
        entries = _entries(folder)
    except (HubError, OSError) as error:
        told = (
            error
            if isinstance(error, HubError)
            else HubError((error.strerror or str(error)).lower())
        )
        yield Item(folder, folder, "", error=told)
        return
    if is_claimed and not any(
        is_folder and claims(Source.open(path)) is not None for path, is_folder in entries
    ):
        yield Item(folder, folder, "")
        return
    for path, is_folder in entries:
        if is_folder:
            yield from _below(path, claims, avoided)
        else:
            yield Item(path, path, "")


def _entries(folder: str) -> list[tuple[str, bool]]:
    """Return the paths of the files and folders in *folder*, in order, each with whether it is a folder."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not entry.name.startswith(STATE) and (
                is_folder or entry.is_file(follow_symlinks=False)
            ):
                found.append((os.path.join(folder, entry.name), is_folder))
    return sorted(found)
