"""Commands on many inputs: what is shown while they run, and when they end."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

from hub.batch.outcome import Outcome
from hub.batch.summary import Counts, Summary
from hub.cli.output import NO_FILES, say, say_notes

if TYPE_CHECKING:
    from rich.console import Console

EVERY = 10.0
"""Seconds between two lines that say how far it is, where no terminal shows it."""
REDRAWN = 0.1
"""Seconds between two looks of the bar on a terminal."""


def follow(
    outcomes: Iterator[Outcome],
    *,
    inputs: Sequence[str],
    total: Callable[[], int | None],
    summary: str | None,
    force: bool,
    quiet: bool,
    show: Callable[[Outcome], None],
    output: str | None = None,
) -> int:
    """Show what becomes of each of *inputs* and of the files in them, and how far it is; return the exit status.

    The *summary* is written over none of *inputs*, nor over *output*.
    """
    counts = Counts()
    begin = time.monotonic()
    written = (
        nullcontext()
        if summary is None
        else Summary(summary, counts, force=force, inputs=inputs, output=output)
    )
    with written as kept, _progress(counts, total, quiet=quiet) as step:
        for outcome in outcomes:
            counts.add(outcome)
            if kept is not None:
                kept.add(outcome)
            show(outcome)
            step()
    if not counts.total:
        for name in inputs:
            show(Outcome(name, "failed", 1, message=NO_FILES))
    if not quiet:
        seconds = time.monotonic() - begin
        say(f"{_files(counts.total)} in {seconds:.1f} s: {counts}")
    return counts.exit_status


def tell(outcome: Outcome, severities: Collection[str] = ("fatal", "error", "warning")) -> None:
    """Say on standard error what is wrong with an input: problems of some *severities*."""
    if outcome.result == "passed-over":
        say(f"{outcome.input}: skipped: {outcome.problems[0].message}")
    else:
        say_notes([one for one in outcome.problems if one.severity in severities], outcome.input)
    if outcome.message is not None:
        say(f"hub: {outcome.input}: {outcome.message}")


def _files(number: int) -> str:
    return f"{number} {'input' if number == 1 else 'inputs'}"


@contextmanager
def _progress(
    counts: Counts, total: Callable[[], int | None], *, quiet: bool
) -> Iterator[Callable[[], None]]:
    """Show how far it is, and call what is returned after each input: a bar on a terminal, else a line now and then."""
    if quiet:
        yield lambda: None
    elif sys.stderr.isatty():
        with _bar(counts, total()) as step:
            yield step
    else:
        yield _Lines(counts)


class _Lines:
    """Says now and then how far it is."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._begin = self._last = time.monotonic()

    def __call__(self) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            rate = self._counts.total / (now - self._begin)
            say(f"{_files(self._counts.total)}, {rate:.0f}/s, {self._counts.failures} failed")


@contextmanager
def _bar(counts: Counts, total: int | None) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.0f}/s"),
        TextColumn("{task.fields[failures]} failed"),
        TimeRemainingColumn(),
    )
    begin = time.monotonic()
    console = Console(file=sys.stderr)
    # Drawn here and by no thread of its own: a process with one thread only can make workers that are copies of it.
    progress = Progress(
        *columns,
        console=console,
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with progress, _above(console):
        task = progress.add_task("", total=total, rate=0.0, failures=0)
        progress.refresh()
        drawn = begin

        def draw(now: float) -> None:
            rate = counts.total / max(now - begin, 1e-9)
            progress.update(
                task, completed=counts.total, rate=rate, failures=counts.failures, refresh=True
            )

        def step() -> None:
            nonlocal drawn
            now = time.monotonic()
            if now - drawn >= REDRAWN:
                drawn = now
                draw(now)

        yield step
        draw(time.monotonic())


@contextmanager
def _above(console: Console) -> Iterator[None]:
    """Show what is said meanwhile above the bar, on lines as long as they are."""
    streams = sys.stdout, sys.stderr
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout = _Above(console, sys.stdout)
    sys.stderr = _Above(console, sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


class _Above(io.TextIOBase):
    """A stream onto the terminal of a bar, which goes out of the way for each line."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, console: Console, stream: TextIO) -> None:
        super().__init__()
        self._console = console
        self.buffer = stream.buffer
        """For bytes, which are no lines for people."""

    def write(self, text: str, /) -> int:
        if not isinstance(text, str):  # so it is found out that a stream takes no bytes
            raise TypeError(f"expected a text, found {type(text).__name__}")
        self._console.print(text, end="", markup=False, highlight=False, soft_wrap=True)
        return len(text)
