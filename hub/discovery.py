"""Which format plugins are installed, without loading any of them.

The answer is that of `importlib.metadata.entry_points(group="storyline_hub.formats")`. Importing that module takes
longer than all else that `hub detect` does, so the `entry_points.txt` files are read here directly where `sys.path`
holds plain folders only; anything else (zip archives, eggs, finders of their own) is left to `importlib.metadata`.
"""

import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from typing import NamedTuple

GROUP = "storyline_hub.formats"
"""Group of the format plugins."""
EXTENSIONS = "storyline_hub.extensions"
"""Group of the extensions: modules with hook wrappers, used when they are asked for."""
COMMANDS = "storyline_hub.commands"
"""Group of the commands: typer applications that stand beside the hub's own commands."""


class EntryPoint(NamedTuple):
    """A plugin that some distribution declares."""

    id: str
    """Name of the entry point: the format id."""
    module: str
    """Module with the hooks; `module:name` for an object in it."""
    distribution: str
    """Name of the distribution; of a one-file plugin its path."""
    version: str
    summary: str = ""
    """What the distribution says of itself in a line."""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip()


def entry_points(group: str = GROUP) -> list[EntryPoint]:
    """Return what a *group* has, sorted; of a distribution that is found twice, the first on `sys.path` counts."""
    return sorted(set(_from_metadata(group) if _is_unusual() else _from_folders(group)))


def normalised(name: str) -> str:
    """Return the *name* of a distribution as all its spellings are compared: lower-case, `-` for `_` and `.`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_unusual() -> bool:
    """Tell whether distributions may be where only `importlib.metadata` finds them."""
    finders = (finder for finder in sys.meta_path if finder is not PathFinder)
    return any(hasattr(finder, "find_distributions") for finder in finders) or any(
        # Zip archives and eggs. `pathlib` costs more than all the rest.
        os.path.isfile(path) or path.endswith(".egg")  # noqa: PTH113
        for path in map(os.fspath, sys.path)
    )


def _from_metadata(group: str = GROUP) -> Iterator[EntryPoint]:
    from importlib import metadata

    for point in metadata.entry_points(group=group):
        module = point.value.partition("[")[0].strip()
        if point.dist is None:
            yield EntryPoint(point.name, module, "", "")
            continue
        summary = str(point.dist.metadata.json.get("summary", ""))
        yield EntryPoint(point.name, module, point.dist.name, point.dist.version, summary)


def _from_folders(group: str = GROUP) -> Iterator[EntryPoint]:
    seen: set[str] = set()
    for folder in _metadata_folders():
        name, _, version = os.path.basename(folder).rpartition(".")[0].partition("-")  # noqa: PTH119
        key = normalised(name)
        if key in seen:
            continue
        seen.add(key)
        points = list(_group(group, _read(f"{folder}/entry_points.txt")))
        header: dict[str, str] = {}
        if points:
            header = _header(_read(f"{folder}/METADATA") or _read(f"{folder}/PKG-INFO"))
            name, version = header.get("name", name), header.get("version", version)
        for point, module in points:
            yield EntryPoint(point, module, name, version, header.get("summary", ""))


def _metadata_folders() -> Iterator[str]:
    """Yield the folders that describe a distribution each, in the order of `sys.path`."""
    for path in sys.path:
        try:
            with os.scandir(path or ".") as entries:
                yield from sorted(
                    entry.path
                    for entry in entries
                    if entry.name.lower().endswith((".dist-info", ".egg-info"))
                )
        except OSError:
            continue


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # as above
            return file.read()
    except OSError:
        return ""


def _group(group: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the `name = module` pairs of the group in the text of an `entry_points.txt`."""
    if group not in text:
        return
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif section == group and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name.strip(), value.partition("[")[0].strip()


def _header(text: str) -> dict[str, str]:
    """Return the fields at the head of a `METADATA` file, by lower-case name."""
    lines = text.partition("\n\n")[0].splitlines()
    fields = (line.partition(":") for line in lines if not line.startswith((" ", "\t")))
    return {name.lower(): value.strip() for name, _, value in fields}
