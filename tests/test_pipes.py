"""JSON Lines through a pipe: what comes in goes out at once, and little is held."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hub import api

PATIENCE = 30
"""Seconds; who waits so long waits for ever."""
STREAMED = ("storyline", "actf", "ale", "atif")
"""Formats whose records are documents of their own; rows of messages are none, those of a session may be anywhere."""
WRITTEN = ("storyline", "ale", "atif")
"""Formats of which a document holds no Storylines of several documents."""


def story(number: int, size: int = 10) -> dict[str, Any]:
    """Return a Storyline."""
    return {
        "schema_version": "storyline/v1",
        "session": f"s{number}",
        "agent": {"id": "a", "name": "n"},
        "turns": [
            {"id": 1, "src": "user", "msg": "x" * size},
            {"id": 2, "src": "agent", "msg": "done"},
        ],
    }


def command(from_: str, to: str) -> list[str]:
    """Return the command that converts what comes through a pipe."""
    options = ["--from", from_, "--to", to, "--container", "lines", "--quiet"]
    return [sys.executable, "-m", "hub", "convert", "-", *options]


def lines(format: str, count: int) -> list[bytes]:
    """Return as many lines of *format*, each made by itself."""
    made = []
    for number in range(count):
        done = subprocess.run(  # noqa: S603  # the hub
            command("storyline", format),
            input=json.dumps(story(number)).encode(),
            capture_output=True,
            check=True,
        )
        made.append(done.stdout)
    return made


@contextmanager
def running(from_: str, to: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a conversion whose ends are in our hands."""
    with subprocess.Popen(  # noqa: S603  # the hub
        command(from_, to), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: subprocess.Popen[bytes]) -> bytes:
    """Return the next line that comes out."""
    assert process.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        assert ready, "nothing comes out"
        piece = os.read(process.stdout.fileno(), 1)
        assert piece, "the output has ended"
        line += piece
    return line


def installed(*formats: str) -> list[str]:
    """Return those of *formats* that are installed."""
    return [one for one in formats if one in api.formats]


@pytest.mark.skipif(sys.platform == "win32", reason="no select on pipes")
class TestSlowWriter:
    @pytest.mark.parametrize("from_", installed(*STREAMED))
    def test_first_line_comes_before_the_last_is_in(self, from_: str) -> None:
        """While the input is open, each document is out when the next one begins."""
        first, second, third = lines(from_, 3)
        for to in installed(*WRITTEN, from_):
            with running(from_, to) as process:
                assert process.stdin is not None
                process.stdin.write(first + second)
                process.stdin.flush()
                one = json.loads(next_line(process))
                two = json.loads(next_line(process))
                assert one != two
                process.stdin.write(third)
                process.stdin.flush()
                assert json.loads(next_line(process)) not in (one, two)
                process.stdin.close()
                assert process.stdout is not None
                assert b"" == process.stdout.read()
                assert 0 == process.wait(PATIENCE)


@pytest.mark.skipif(sys.platform == "win32", reason="no resource limits")
class TestMemory:
    @pytest.mark.parametrize("from_", installed(*STREAMED))
    def test_bounded(self, from_: str) -> None:
        """Many lines take no more memory than few."""
        assert self.peak(from_, 60) < 1.15 * self.peak(from_, 2)

    def peak(self, from_: str, megabytes: int) -> int:
        """Return the memory that so much input takes."""
        (line,) = lines(from_, 1)
        text = line.replace(b"xxxxxxxxxx", b"x" * 100_000)
        with subprocess.Popen(  # noqa: S603  # the hub
            command(from_, "storyline"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as process:
            assert process.stdin is not None
            for _ in range(megabytes * 10):
                process.stdin.write(text)
            process.stdin.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert 0 == process.returncode
        return usage.ru_maxrss
