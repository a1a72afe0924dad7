"""Which format plugins are installed, without loading any of them.

The answer is that of `importlib.metadata.entry_points(group="storyline_hub.formats")`. Importing that module takes longer than
all else that `hub detect` does, so the `entry_points.txt` files are read here directly where `sys.path` holds plain folders
only; anything else (zip archives, finders of their own) is left to `importlib.metadata`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from typing import NamedTuple

GROUP = "storyline_hub.formats"


class EntryPoint(NamedTuple):
    """A plugin that some distribution declares."""

    id: str
    """Name of the entry point: the format id."""
    module: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


def entry_points() -> list[EntryPoint]:
    """Return the declared plugins, sorted; of a distribution that is found twice, the first on `sys.path` counts."""
    found = sorted(_from_metadata() if _is_unusual() else _from_folders())
    return [one for index, one in enumerate(found) if one not in found[:index]]


def _is_unusual() -> bool:
    """Tell whether distributions may be where only `importlib.metadata` finds them."""
    finders = (finder for finder in sys.meta_path if finder is not PathFinder)
    return any(hasattr(finder, "find_distributions") for finder in finders) or any(
        os.path.isfile(path)
        for path in sys.path  # noqa: PTH113  # pathlib costs more than the rest
    )


def _from_metadata() -> Iterator[EntryPoint]:
    from importlib import metadata

    for point in metadata.entry_points(group=GROUP):
        name, version = ("", "") if point.dist is None else (point.dist.name, point.dist.version)
        yield EntryPoint(point.name, point.value, name, version)


_METADATA_FOLDER = re.compile(r"(?P<name>.+?)-(?P<version>[^-]+)\.(?:dist|egg)-info").fullmatch


def _from_folders() -> Iterator[EntryPoint]:
    seen: set[str] = set()
    for path in sys.path:
        try:
            with os.scandir(path or ".") as entries:
                folders = [entry.path for entry in entries if entry.name.endswith("-info")]
        except OSError:
            continue
        for folder in folders:
            match = _METADATA_FOLDER(os.path.basename(folder))  # noqa: PTH119  # as above
            if match is None:
                continue
            name = re.sub(r"[-_.]+", "-", match["name"]).lower()
            if name in seen:
                continue
            text = _read(f"{folder}/entry_points.txt")
            seen.add(name)
            for point, module in _group(text):
                yield EntryPoint(point, module, name, match["version"])


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123  # as above
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _group(text: str) -> Iterator[tuple[str, str]]:
    """Yield the `name = module` pairs of the group in the text of an `entry_points.txt`."""
    if f"[{GROUP}]" not in text:
        return
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield name.strip(), value.partition("[")[0].strip()
