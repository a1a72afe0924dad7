"""`CURRENT`, which says which versions of the three tables belong together: written last, read first.

Source: storyline.md, A.1.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from hub import HubError

SCHEMA_VERSION = 2
NAME = "CURRENT"


class Versions(NamedTuple):
    """The versions of the tables that belong together."""

    runs: int
    steps: int
    tool_calls: int


def read(root: Path) -> Versions:
    """Return what `CURRENT` of the store in *root* says.

    Raises:
        HubError: there is none, or one of another version.
    """
    try:
        text = (root / NAME).read_bytes()
    except FileNotFoundError:
        raise HubError(f"{root}: no store: it has no {NAME}") from None
    except NotADirectoryError:
        raise HubError(f"{root}: no store, but a file") from None
    try:
        found = json.loads(text)
    except ValueError:
        raise HubError(f"{root}: {NAME} is no JSON") from None
    if not isinstance(found, dict) or found.get("schema_version") != SCHEMA_VERSION:
        version = found.get("schema_version") if isinstance(found, dict) else None
        raise HubError(
            f"{root}: {NAME} has schema_version {version!r}; this package reads {SCHEMA_VERSION}"
        )
    numbers = [found.get(f"{name}_version") for name in Versions._fields]
    known = [one for one in numbers if type(one) is int and one > 0]
    if len(known) < len(numbers):
        raise HubError(f"{root}: {NAME} does not say the version of each table")
    return Versions(*known)


def write(root: Path, versions: Versions) -> None:
    """Make *versions* those of the store in *root*: all at once, and for good when this returns."""
    content = {"schema_version": SCHEMA_VERSION}
    content |= {f"{name}_version": number for name, number in versions._asdict().items()}
    temporary = root / f".{NAME}.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(content, file, separators=(",", ":"))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(root / NAME)
    sync_folder(root)


def sync_folder(folder: Path) -> None:
    """Bring the names in *folder* to the disk, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
