"""Commands on many inputs: what is shown while they run, and when they end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from hub.batch.outcome import Outcome
from hub.batch.summary import Counts, Summary
from hub.cli.output import NO_FILES, say, say_notes

EVERY = 10.0
"""Seconds between two lines that say how far it is, where no terminal shows it."""


def follow(
    outcomes: Iterator[Outcome],
    *,
    inputs: Sequence[str],
    total: Callable[[], int | None],
    summary: str | None,
    force: bool,
    quiet: bool,
    show: Callable[[Outcome], None],
) -> int:
    """Show what becomes of each of *inputs* and of the files in them, and how far it is; return the exit status."""
    counts = Counts()
    begin = time.monotonic()
    written = nullcontext() if summary is None else Summary(summary, counts, force=force)
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
    with Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=True
    ) as progress:
        task = progress.add_task("", total=total, rate=0.0, failures=0)

        def step() -> None:
            seconds = max(time.monotonic() - begin, 1e-9)
            progress.update(task, advance=1, rate=counts.total / seconds, failures=counts.failures)

        yield step
