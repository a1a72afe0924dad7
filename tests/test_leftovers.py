"""What a killed run leaves behind: the next run to the same folder takes it back, and nothing else."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hub import UsageError, leftovers
from hub.sink import Sink

OLD = {"a.json": b"old a", "sub/b.json": b"old b", "other.json": b"other"}
NEW = {"a.json": b"[\n  1\n]\n", "sub/b.json": b"[\n  2\n]\n", "c.json": b"[\n  3\n]\n"}

KILLED = """
import os, signal, sys
from hub.sink import Sink

function, number, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
inner, calls = getattr(os, function), []

def killed(*arguments, **settings):
    calls.append(arguments)
    if len(calls) == number:
        os.kill(os.getpid(), signal.SIGKILL)
    return inner(*arguments, **settings)

setattr(os, function, killed)
with Sink.open(target, force=True) as sink:
    for value, name in enumerate(("a.json", "sub/b.json", "c.json"), start=1):
        sink.write([value], name=name)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def below(folder: Path) -> dict[str, bytes]:
    """Return the files below *folder*, hidden and temporary ones as well."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def lay(folder: Path, files: dict[str, bytes]) -> None:
    """Write *files* below *folder*."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def kill(function: str, number: int, target: str) -> None:
    """Let a run be killed at the call of that *number* of a *function* of the system."""
    done = subprocess.run(  # noqa: S603  # our own
        [sys.executable, "-c", KILLED, function, str(number), target], check=False
    )
    assert -signal.SIGKILL == done.returncode


class TestKilled:
    @pytest.mark.parametrize(
        ("function", "number"),
        [
            ("mkdir", 1),
            ("open", 4),
            ("fsync", 2),
            ("rename", 1),
            *[("link", number) for number in (1, 2)],
            *[("replace", number) for number in (1, 2, 3)],
        ],
    )
    def test_old_folder(self, here: Path, function: str, number: int) -> None:
        """Wherever a run is killed before its last file has its name, the next run puts the old files back."""
        lay(here / "out", OLD)

        kill(function, number, "out")
        with Sink.open("out") as sink:
            sink.write({}, name="new.json")

        assert {**OLD, "new.json": b"{}\n"} == below(here / "out")

    def test_all_named(self, here: Path) -> None:
        """When every file has its name, they keep it."""
        lay(here / "out", OLD)

        kill("unlink", 2, "out")
        with Sink.open("out") as sink:
            sink.write({}, name="new.json")

        assert {**OLD, **NEW, "new.json": b"{}\n"} == below(here / "out")

    @pytest.mark.parametrize(
        ("function", "number"), [("mkdir", 2), ("replace", 1), ("replace", 3), ("rename", 1)]
    )
    def test_new_folder(self, here: Path, function: str, number: int) -> None:
        """A folder that is not there comes with all its files, or not at all."""
        kill(function, number, "out/")

        assert not (here / "out").exists()
        with Sink.open("x.json") as sink:
            sink.write({})
        assert {"x.json": b"{}\n"} == below(here)
        assert ["x.json"] == [path.name for path in here.iterdir()]

    def test_one_file(self, here: Path) -> None:
        """The temporary file of a killed run is removed by the next one."""
        lay(here, OLD)

        kill("fsync", 1, "a.json")
        assert OLD != below(here)
        with Sink.open("new.json") as sink:
            sink.write({})

        assert {**OLD, "new.json": b"{}\n"} == below(here)


class TestOthers:
    def test_run_that_lives(self, here: Path) -> None:
        """What a run that is under way has written is left alone, and two runs do not get into each other's way."""
        with Sink.open("x.json") as first:
            first.write({"a": 1})
            with Sink.open("y.json") as second:
                second.write({"b": 1})

        assert {"x.json", "y.json"} == below(here).keys()

    def test_two_outputs_in_one_place(self, here: Path) -> None:
        """Of two runs that write the same files with force, the last one wins as a whole."""
        with Sink.open("out/", force=True) as first, Sink.open("out/", force=True) as second:
            for sink, value in ((first, 1), (second, 2)):
                for name in ("a.json", "b.json"):
                    sink.write([value], name=name)

        one = b"[\n  1\n]\n"
        assert {"out/a.json": one, "out/b.json": one} == below(here)

    def test_without_force(self, here: Path) -> None:
        """Without force the one that ends first wins, and the other one changes nothing."""
        with (  # noqa: PT012  # it fails when it ends
            pytest.raises(UsageError, match=r"^out/a\.json: exists"),
            Sink.open("out/") as first,
            Sink.open("out/") as second,
        ):
            for sink, value in ((first, 1), (second, 2)):
                for name in ("a.json", "b.json"):
                    sink.write([value], name=name)

        two = b"[\n  2\n]\n"
        assert {"out/a.json": two, "out/b.json": two} == below(here)

    @pytest.mark.parametrize(
        "journal",
        [
            b"",
            b"[",
            b"5",
            b"[5]",
            b"[[]]",
            b'[["0", "a.json", 1, 2]]',
            b'[["0", "a.json", "1"]]',
            b'[["../a.json", "a.json", INODE]]',
            b'[["0", "../out/a.json", INODE]]',
            b'[["0", "/etc/passwd", 1]]',
            b'[["0", "a.json", 1]]',
            b'[[0, "a.json", INODE]]',
            b"[" * 100_000,
        ],
    )
    def test_strange_journal(self, here: Path, journal: bytes) -> None:
        """A journal that is none, or names what no killed run put there, changes nothing."""
        lay(here / "out", OLD)
        temporary = here / "out/.storyline-hub.0.tmp"
        inode = str((here / "out/a.json").stat().st_ino).encode()
        lay(temporary, {"journal": journal.replace(b"INODE", inode), "0.old": b"evil"})

        leftovers.clean("out")

        assert OLD == below(here / "out")

    def test_links(self, here: Path) -> None:
        """A link with the name of a temporary folder is not followed."""
        lay(here, {"secret/journal": b"[]", "secret/x": b"x"})
        (here / "out").mkdir()
        (here / "out/.storyline-hub.0.tmp").symlink_to(here / "secret")
        lay(here / "out/.storyline-hub.1.tmp", {"0": b""})
        (here / "out/.storyline-hub.1.tmp/1").symlink_to(here / "secret/x")

        leftovers.clean("out")

        assert [".storyline-hub.0.tmp"] == [path.name for path in (here / "out").iterdir()]
        assert ["journal", "x"] == sorted(path.name for path in (here / "secret").iterdir())

    def test_journal(self, here: Path) -> None:
        """The journal says for each file its temporary name, its name and its inode."""
        leftovers.write_journal(".", [leftovers.Move("0", "a\udcff.json", 7)])

        assert [["0", "a\udcff.json", 7]] == json.loads((here / "journal").read_bytes())
