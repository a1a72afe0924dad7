"""What is shown while a run is under way: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from hub.batch.outcome import Outcome
from hub.cli import bulk

pty = pytest.importorskip("pty", reason="no pseudo terminals")
pytest.importorskip("rich")

STORY = {
    "schema_version": "storyline/v1",
    "session": "a",
    "agent": {"id": "a"},
    "turns": [{"id": 1, "src": "user", "msg": "hi"}],
}
CONVERT = [sys.executable, "-m", "hub", "convert", "in", "--to", "storyline", "-o", "out"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with inputs, some of which are broken."""
    (tmp_path / "in").mkdir()
    for number in range(40):
        text = json.dumps(STORY) if number % 10 else '{"schema_version": '
        (tmp_path / f"in/{number:02}.json").write_text(text)
    return tmp_path


def on_a_terminal(command: list[str], folder: Path, *, is_all: bool = False) -> tuple[int, str]:
    """Run *command* with a terminal for its messages, or for *all*; return its exit status, and what that got."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    out = theirs if is_all else subprocess.DEVNULL
    with subprocess.Popen(  # noqa: S603  # the hub
        command, cwd=folder, env=environment, stdout=out, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while piece := _read(ours):
            shown += piece
    os.close(ours)
    return process.returncode, shown.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # the other end is closed
        return b""


class TestTerminal:
    def test_bar(self, folder: Path) -> None:
        """A bar shows how many of how many are done, how fast, how many failed and how long it takes; then it goes."""
        status, shown = on_a_terminal(CONVERT, folder)
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
        assert 3 == status
        assert re.search(r"40/40 +\d+/s +4 failed +(\d:\d\d:\d\d|-:--:--)", plain)
        assert "━" in plain
        last = shown.rstrip().splitlines()[-1]
        assert re.search(r"40 inputs in \d+\.\d s: 36 done, 4 failed$", last)
        assert "\x1b[2K" in shown, "the bar is wiped away"

    def test_messages_stay_whole(self, folder: Path) -> None:
        """Messages stand above the bar, each on lines of its own."""
        _, shown = on_a_terminal(CONVERT, folder)
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "\n")
        assert 4 == len(re.findall(r"(?m)^in/\d0\.json: fatal: not JSON", plain))

    def test_workers(self, folder: Path) -> None:
        """So it is with several workers."""
        status, shown = on_a_terminal([*CONVERT, "--jobs", "2"], folder)
        assert 3 == status
        assert "40/40" in shown

    def test_results_too(self, folder: Path) -> None:
        """Results that go to the same terminal stand above the bar as well."""
        _, shown = on_a_terminal([*CONVERT[:3], "validate", "in"], folder, is_all=True)
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "\n")
        assert 36 == len(re.findall(r"(?m)^in/\d\d\.json: valid storyline: no problems$", plain))

    def test_documents_too(self, folder: Path) -> None:
        """Documents that go to the same terminal come whole."""
        merge = [*CONVERT[:4], "in", "--to", "storyline", "--merge", "lines"]
        status, shown = on_a_terminal(merge, folder, is_all=True)
        assert 3 == status
        assert 36 == shown.count('"session":"a"')

    def test_quiet(self, folder: Path) -> None:
        """With `--quiet` there is no bar."""
        _, shown = on_a_terminal([*CONVERT, "--quiet"], folder)
        assert "━" not in shown
        assert 4 == len(shown.splitlines())


class TestPiped:
    def test_lines(
        self, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Piped, a line now and then says how far it is."""
        ticks = count(step=4)
        monkeypatch.setattr("hub.cli.bulk.time.monotonic", lambda: next(ticks))

        def outcomes() -> Iterator[Outcome]:
            for number in range(6):
                yield Outcome(f"{number}.json", "failed" if number == 1 else "done")

        bulk.follow(
            outcomes(),
            inputs=["in"],
            total=lambda: 6,
            summary=None,
            force=False,
            quiet=False,
            show=lambda _: None,
        )
        err = capfd.readouterr().err
        assert [
            "3 inputs, 0/s, 1 failed",
            "6 inputs, 0/s, 1 failed",
            "6 inputs in 32.0 s: 5 done, 1 failed",
        ] == err.splitlines()
