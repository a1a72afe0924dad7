"""Workers: how they start, and what they have of the process that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from hub.batch import pool

linux = pytest.mark.skipif(sys.platform != "linux", reason="workers are no copies")


@pytest.fixture
def copied() -> None:
    """Make sure that this process can be copied, whatever tests it has run."""
    if pool.start_method() != "fork":
        pytest.skip("a library that some test has loaded has threads")


class Looking(NamedTuple):
    """Look at the process that does it."""

    def prepare(self) -> None:
        """Nothing."""

    def __call__(self, thing: str) -> object:
        """Return what *thing* names."""
        if thing == "open":
            links = Path("/proc/self/fd").iterdir()
            return [str(link.readlink()) for link in links if link.is_symlink()]
        if thing == "streams":
            return sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__
        if thing == "signals":
            return [
                signal.getsignal(one)
                for one in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
            ], signal.pthread_sigmask(signal.SIG_BLOCK, ())
        if thing == "die":
            os._exit(7)
        return thing

    def lost(self, thing: str, reason: str) -> object:
        """Return that *thing* is lost."""
        return f"{thing}: {reason}"


def results(*things: str, jobs: int = 2) -> list[object]:
    """Return what becomes of *things*."""
    return [
        result for _, result in pool.done(Looking(), ((one, None) for one in things), jobs=jobs)
    ]


def ignore(number: int, frame: object) -> None:
    """Do nothing."""
    del number, frame


class TestStart:
    @linux
    def test_copies(self) -> None:
        """Workers are copies of a process that has one thread, as the program has when it has loaded all formats."""
        code = "import hub.cli.app, hub; list(hub.formats); from hub.batch import pool; print(pool.start_method())"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)  # noqa: S603
        assert b"fork\n" == done.stdout

    @linux
    @pytest.mark.usefixtures("copied")
    def test_libraries(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """They start anew where a library is loaded that does not work in a copy."""
        monkeypatch.setitem(sys.modules, "lance", sys)
        assert "spawn" == pool.start_method()

    def test_threads(self) -> None:
        """Where there are several, workers start anew, since a lock that another one holds would stay held."""
        end = threading.Event()
        thread = threading.Thread(target=end.wait)
        thread.start()
        try:
            assert "spawn" == pool.start_method()
        finally:
            end.set()
            thread.join()

    def test_elsewhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """So do they on other systems, whose own libraries may have threads."""
        monkeypatch.setattr(sys, "platform", "darwin")
        assert "spawn" == pool.start_method()

    @pytest.mark.parametrize("is_anew", [False, True])
    def test_order(self, monkeypatch: pytest.MonkeyPatch, *, is_anew: bool) -> None:
        """Results come in the order of the things, one for each, however workers start, and also if one dies."""
        if is_anew:
            monkeypatch.setattr(pool, "start_method", lambda: "spawn")
        things = [str(number) for number in range(300)]
        things[100] = "die"
        lost = "die: the process that was at it ended with status 7"
        assert [*things[:100], lost, *things[101:]] == results(*things, jobs=3)


@linux
@pytest.mark.usefixtures("copied")
class TestCopy:
    def test_open_files(self, tmp_path: Path) -> None:
        """A copy has open nothing of what the other has: neither its files, with their locks, nor its pipes."""
        with (tmp_path / "journal").open("w") as file:
            first, *others = results(*["open"] * 40)
            assert not file.closed
        for found in (first, *others):
            assert isinstance(found, list)
            assert str(tmp_path / "journal") not in found
            assert 1 == sum(link.startswith("socket:") for link in found)

    def test_streams(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """What a copy prints goes to the streams of the system, not through what stands before them."""
        with (tmp_path / "out").open("w") as file:
            stream: IO[str] = file
            monkeypatch.setattr(sys, "stdout", stream)
            monkeypatch.setattr(sys, "stderr", stream)
            assert [True] == results("streams")

    def test_signals(self) -> None:
        """Signals do in a copy what they do in a program that is started: handlers are gone, ignored ones stay so."""
        before = {
            one: signal.signal(one, what)
            for one, what in (
                (signal.SIGHUP, ignore),
                (signal.SIGUSR1, ignore),
                (signal.SIGUSR2, signal.SIG_IGN),
            )
        }
        try:
            (found,) = results("signals")
        finally:
            for one, what in before.items():
                signal.signal(one, what)
        ignored, default = signal.SIG_IGN, signal.SIG_DFL
        assert ([ignored, default, default, ignored], set()) == found


class TestMostInHand:
    @pytest.mark.parametrize(
        ("paces", "most"),
        [
            ([], 3),
            ([None, 0.001], 3),
            ([0.0001, 1.0], 8),
            ([0.004, 0.008], 5),
            ([2.0], 3),
        ],
    )
    def test_pace(self, paces: list[float | None], most: int) -> None:
        """A worker has in hand what it does in two moments, within bounds; few things until that is known."""
        assert most == pool.most_in_hand(paces)
