"""Patterns such as `runs/**/*.json`: what they match, without following a link to a folder.

The module `glob` follows such links: two that lead upwards have it look at more places than it ever gets through.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

MAGIC = re.compile(r"[*?\[]")
"""What makes a name that is no file a pattern."""
ANY_FOLDERS = "**"


def matching(pattern: str) -> list[str]:
    """Return the paths that match *pattern*, in their order; names that begin with a dot are to be asked for."""
    parts: list[str] = []
    for part in pattern.split(os.sep):
        if part != ANY_FOLDERS or parts[-1:] != [ANY_FOLDERS]:
            parts.append(part)
    is_absolute = len(parts) > 1 and not parts[0]
    return sorted(set(_found(os.sep if is_absolute else "", parts[is_absolute:])))


def _found(folder: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield the paths below *folder* that *parts* of a pattern match."""
    part, rest = parts[0], parts[1:]
    if part == ANY_FOLDERS:
        if folder and not rest:
            yield os.path.join(folder, "")
        yield from _found_below(folder, rest)
    elif MAGIC.search(part):
        for path, is_folder in _entries(folder, part):
            if not rest:
                yield path
            elif is_folder:
                yield from _found(path, rest)
    else:
        path = os.path.join(folder, part)
        if rest and os.path.isdir(path):
            yield from _found(path, rest)
        elif not rest and os.path.lexists(path):
            yield path


def _found_below(folder: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield what *parts* match in *folder* and in all folders below it; without any, all that is below it."""
    if parts:
        yield from _found(folder, parts)
    for path, is_folder in _entries(folder, "*"):
        if not parts:
            yield path
        if is_folder:
            yield from _found_below(path, parts)


def _entries(folder: str, part: str) -> Iterator[tuple[str, bool]]:
    """Yield the path of each entry of *folder* whose name matches *part*, and whether it is a folder and no link."""
    try:
        with os.scandir(folder or os.curdir) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return
    for name, is_folder in found:
        if fnmatchcase(name, part) and (part.startswith(".") or not name.startswith(".")):
            yield os.path.join(folder, name), is_folder
