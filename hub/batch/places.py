"""Where outputs stand below the output folder: the tree of the inputs, with the names of the target's format."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence

from hub.sink import numbered, safe_name
from hub.streams import is_remote

PACKED = (".gz", ".bz2", ".xz", ".zst")
COMMON = (".json", ".jsonl", ".ndjson")


class Places:
    """Gives each input of a run a place of its own.

    A suffix of some format gives way to that of the target: `a.actf.json` becomes `a.ale.json`. The first input that
    asks for a name gets it, the next ones get numbers: `a-2.json`. Names that differ in case only are one, as on some
    systems.
    """

    def __init__(
        self,
        suffixes: Collection[str],
        suffix: str | None,
        *,
        folders: bool = False,
        plain: bool = False,
    ) -> None:
        """Plan names.

        Args:
            suffixes: those of the formats that may be read.
            suffix: that of the target.
            folders: each input becomes a folder, not a file.
            plain: no output is compressed because its input is.
        """
        self._suffixes = sorted((one for one in suffixes if _is_own(one)), key=len, reverse=True)
        self._suffix = suffix if suffix is not None and _is_own(suffix) else None
        self._folders = folders
        self._plain = plain
        self._taken: set[int] = set()
        """Hashes of names: a long run has many of them."""

    def of(self, path: str) -> str:
        """Return the place for the input at the relative *path*, `/` between its parts; `.` is the input itself."""
        wanted = self._stem(path) if self._folders else self._renamed(path)
        place, number = wanted, 1
        while (key := hash(place.casefold())) in self._taken:
            number += 1
            place = _numbered(wanted, number)
        self._taken.add(key)
        return place

    def _renamed(self, path: str) -> str:
        stem, packed = _unpacked(path)
        packed = "" if self._plain else packed
        lower = stem.lower()
        for suffix in self._suffixes:
            if lower.endswith(suffix) and not lower.endswith("/" + suffix):
                return stem[: -len(suffix)] + (self._suffix or ".json") + packed
        if lower.endswith(COMMON):
            return stem + packed
        return f"{stem}.json{packed}"

    def _stem(self, path: str) -> str:
        stem, _ = _unpacked(path)
        for suffix in (*self._suffixes, *COMMON):
            if stem.lower().endswith(suffix) and len(stem) > len(suffix):
                return stem[: -len(suffix)]
        return stem


def _is_own(suffix: str) -> bool:
    """Tell whether *suffix* says something about a format."""
    return suffix.startswith(".") and suffix not in COMMON


def _unpacked(path: str) -> tuple[str, str]:
    """Return *path* without the suffix of a compression, and that suffix."""
    stem, suffix = os.path.splitext(path)
    return (stem, suffix) if suffix in PACKED else (path, "")


def _numbered(place: str, number: int) -> str:
    folder, slash, base = place.rpartition("/")
    return f"{folder}{slash}{numbered(base, number)}"


def relative_to(base: str, path: str) -> str:
    """Return *path* relative to *base*, which holds it, with `/` between the parts; of *base* itself, its name."""
    if is_remote(path):
        return safe_name(path.removeprefix(base).lstrip("/"))
    place = below(base, path).replace(os.sep, "/")
    return os.path.basename(os.path.realpath(path)) or "root" if place == "." else place


def below(folder: str, path: str) -> str:
    """Return *path* relative to *folder*: what `os.path.relpath` does, in less time where it is plain."""
    start = os.path.join(folder, "")
    rest = path[len(start) :]
    if start and path.startswith(start) and rest and not _WINDING.search(rest):
        return rest
    return os.path.relpath(path, folder)


_WINDING = re.compile(r"(?:^|/)(?:\.{0,2})(?:/|$)|\\")
"""What makes a path one that has to be looked at part by part."""


def joined(folder: str, place: str) -> str:
    """Return the path of *place* below *folder*, which may be a URL."""
    if is_remote(folder):
        return f"{folder.rstrip('/')}/{place}"
    return os.path.join(folder, *place.split("/"))


def shared_folder(folders: Sequence[str]) -> str:
    """Return the deepest folder that holds all of *folders*."""
    return os.path.commonpath([os.path.abspath(one) for one in folders])
