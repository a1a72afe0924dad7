"""Whether a command has one input or many, found out without importing what many need."""

from __future__ import annotations

import os
from collections.abc import Sequence

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".zip")


def are_many(inputs: Sequence[str], format: str | None, output: str | None = None) -> bool:
    """Tell whether *inputs* are more than one document's: several, a pattern, or a directory of files of any kind.

    A directory whose *format* is named is one input when it is to become one file, *output*.
    """
    if len(inputs) != 1:
        return True
    named = inputs[0]
    if "://" in named:
        return _are_many_elsewhere(named)
    if named == "-" or os.path.isfile(named):
        return named.lower().endswith(ARCHIVES)
    if os.path.isdir(named):
        from hub.batch.running import is_whole, names_a_file

        if format is not None and output is not None and names_a_file(output):
            return False
        return not is_whole(named, format)
    return any(mark in named for mark in "*?[") and not os.path.lexists(named)


def _are_many_elsewhere(named: str) -> bool:
    """Tell whether the URL *named* stands for many files, as far as can be told."""
    from hub import remote
    from hub.streams import is_remote

    if not is_remote(named):
        return any(mark in named for mark in "*?[")
    if "*" in named or named.lower().endswith(ARCHIVES):
        return True
    return remote.find(named).is_folder
