"""An `add` that is killed: at any moment the store is the old one or the new one, and the rerun makes it whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import hub_lance
import pytest
from hub_lance import adding, current, journal, tables

from .builders import folder, sessions, wire, write

ADD = """
import sys, hub_lance
from hub_lance import adding
adding.OFTEN = 4
store = hub_lance.open(sys.argv[1], create=True)
print("begun", flush=True)
list(store.add(sys.argv[2:], on_duplicate="replace", resume=True))
"""


def held(root: Path) -> list[str]:
    """Return the sessions that a store holds, each Storyline rebuilt; none when it has no `CURRENT`."""
    if not (root / "CURRENT").exists():
        return []
    return sessions(list(hub_lance.open(root).storylines()))


class Killed(BaseException):
    """What stands for a kill."""


POINTS: dict[str, tuple[Any, str]] = {
    "rows are written": (tables, "written"),
    "a chunk is noted": (journal.Journal, "note"),
    "versions are put right": (tables, "_at"),
    "rows are removed": (tables, "_remove"),
    "rows are appended": (tables, "_append"),
    "a table is indexed": (tables, "index"),
    "files are brought to the disk": (tables, "_sync"),
    "versions are noted": (journal.Journal, "publish"),
    "versions are published": (current, "write"),
}
"""What happens in an `add`, in its order."""


def killing(function: Callable[..., Any], left: Iterator[int], *, after: bool) -> Any:
    """Return *function*, which is killed before or after it has done its work, some calls from now."""

    def wrapped(*arguments: Any, **settings: Any) -> Any:
        count = next(left)
        if count == 0 and not after:
            raise Killed
        result = function(*arguments, **settings)
        if count == 0:
            raise Killed
        return result

    return wrapped


class TestPoints:
    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    @pytest.mark.parametrize("skipped", [0, 1])
    @pytest.mark.parametrize("point", POINTS)
    def test_killed(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        point: str,
        skipped: int,
        after: bool,  # noqa: FBT001  # before or after
    ) -> None:
        """Killed at any point, the store is the old one or the new one, and the rerun makes it the new one."""
        monkeypatch.setattr(adding, "OFTEN", 2)
        monkeypatch.setattr(tables, "INDEXED_FROM", 1)
        root = tmp_path / "store"
        store = hub_lance.open(root, create=True)
        list(store.add([write(tmp_path / "old.jsonl", wire("s1", "old"), wire("x"))]))
        inputs = folder(tmp_path / "in", 4)
        how: dict[str, Any] = {"on_duplicate": "replace", "resume": True}
        owner, name = POINTS[point]
        with monkeypatch.context() as patch:
            left = iter(range(skipped, -1000, -1))
            patch.setattr(owner, name, killing(getattr(owner, name), left, after=after))
            with suppress(Killed):
                list(store.add([inputs], **how))
        new = ["x", "s0", "s1", "s2", "s3"]
        assert held(root) in (["s1", "x"], new)
        list(hub_lance.open(root).add([inputs], **how))
        assert new == held(root)
        assert "text 1" == hub_lance.open(root).get("s1").turns[0].message
        assert [5, 5, 0] == [one.rows for one in hub_lance.open(root).health().values()]

    @pytest.mark.parametrize("point", ["rows are appended", "versions are published"])
    def test_other_run_after(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
    ) -> None:
        """Another run instead of the rerun finds the old store as well."""
        root = tmp_path / "store"
        store = hub_lance.open(root, create=True)
        list(store.add([folder(tmp_path / "old", 1)]))
        owner, name = POINTS[point]
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, killing(getattr(owner, name), iter([0, 1, 2]), after=False))
            with pytest.raises(Killed):
                list(store.add([folder(tmp_path / "in", 3, begin=1)]))
        list(hub_lance.open(root).add([folder(tmp_path / "more", 1, begin=7)]))
        assert ["s0", "s7"] == held(root)


class TestProcess:
    def test_killed(self, tmp_path: Path) -> None:
        """A process that is killed leaves the old store or the new one; the rerun makes it the new one."""
        chance = random.Random(1)  # noqa: S311  # not for secrets
        root, inputs = tmp_path / "store", folder(tmp_path / "in", 40)
        new = [f"s{number}" for number in range(40)]
        for number in range(3):
            process = subprocess.Popen(  # noqa: S603  # our own interpreter
                [sys.executable, "-c", ADD, str(root), str(inputs)], stdout=subprocess.PIPE
            )
            assert process.stdout is not None
            with process.stdout:
                assert b"begun\n" == process.stdout.readline()
                time.sleep(chance.uniform(0, 0.1 * (number + 1)))
                os.kill(process.pid, signal.SIGKILL)
            process.wait()
            assert held(root) in ([], new)
        list(hub_lance.open(root, create=True).add([inputs], on_duplicate="replace", resume=True))
        assert new == held(root)
