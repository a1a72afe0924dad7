"""What people read: problems, errors, tables."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import zip_longest
from signal import Signals
from textwrap import wrap

import typer

from hub.batch.outcome import Outcome, failure
from hub.errors import HubError, InvalidDocument, Problem, Stopped

FOLDED_AFTER = 10
"""How many problems of one rule are shown for one document: validation.md 1."""

PASSED_OVER = frozenset({"detect.unknown", "input.empty", "input.encoding"})
"""Rules by which a file that stands in a directory is none of ours."""

NO_FILES = "the directory holds no files; name a file, or a directory that holds some"

SOME_FAILED = 3
INTERNAL_ERROR = 70
TRACEBACK = "HUB_TRACEBACK"
"""Environment variable: when set, an internal error shows its trace."""


def say(text: str) -> None:
    """Tell people something that is no result."""
    # Where nobody can be told, what was asked for is done all the same.
    with suppress(OSError, ValueError):
        typer.echo(printable(text), err=True)


def printable(text: str) -> str:
    """Return *text* with what no terminal should get: control characters and lone surrogates as escapes."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else ascii(one)[1:-1] for one in text)


def problem_lines(problems: Sequence[Problem], name: str | None) -> list[str]:
    """Return a line for each problem; after ten of one rule in one document, how many more there are."""
    totals = Counter((problem.document, problem.rule) for problem in problems)
    shown: Counter[tuple[str | None, str]] = Counter()
    lines = []
    prefix = f"{name}: " if name else ""
    for problem in problems:
        key = (problem.document, problem.rule)
        shown[key] += 1
        if shown[key] <= FOLDED_AFTER:
            lines.append(f"{prefix}{problem}")
        if shown[key] == FOLDED_AFTER < totals[key]:
            place = f"{problem.document}: " if problem.document else ""
            lines.append(f"{prefix}{place}… and {totals[key] - FOLDED_AFTER} more [{problem.rule}]")
    return lines


class Shown:
    """Problems of one input that are shown as they are found: those of one document together."""

    def __init__(self, name: str | None, show: Callable[[str], object]) -> None:
        self._name = name
        self._show = show
        self._held: list[Problem] = []
        self.counts: Counter[str] = Counter()
        """How many there are of each severity."""

    def add(self, problem: Problem) -> None:
        """Add *problem*, and show those of the document before."""
        if self._held and self._held[0].document != problem.document:
            self.end()
        self._held.append(problem)
        self.counts[problem.severity] += 1

    def end(self) -> None:
        """Show what has not been shown."""
        for line in problem_lines(self._held, self._name):
            self._show(line)
        self._held.clear()


def say_problems(problems: Sequence[Problem], name: str | None) -> None:
    """Show *problems* of the input *name* on standard error."""
    for line in problem_lines(problems, name):
        say(line)


def say_notes(problems: Sequence[Problem], name: str) -> None:
    """Show on standard error what was found in the input *name*; what was read all the same stands in groups."""
    say_problems([one for one in problems if one.severity == "fatal"], name)
    lines = grouped_lines([one for one in problems if one.severity != "fatal"])
    if len(lines) == 1:
        say(f"{name}: {lines[0]}")
    elif lines:
        say("\n  ".join([f"{name}:", *lines]))


def grouped_lines(problems: Sequence[Problem]) -> list[str]:
    """Return a line for each of *problems*; for many that say the same, one with the first place; ten of one rule."""
    groups: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.rule, problem.message), []).append(problem)
    by_rule: dict[str, list[str]] = {}
    for (rule, _), group in groups.items():
        lines = by_rule.setdefault(rule, [])
        if len(group) > ALONE:
            lines.append(f"{group[0]} (and at {len(group) - 1} more places)")
        else:
            lines.extend(map(str, group))
    return [
        line
        for rule, lines in by_rule.items()
        for line in _folded(lines, f"… and {len(lines) - FOLDED_AFTER} more [{rule}]")
    ]


ALONE = 3
"""So many problems that say the same are shown one by one."""


def _folded(lines: list[str], rest: str) -> list[str]:
    return lines if len(lines) <= FOLDED_AFTER else [*lines[:FOLDED_AFTER], rest]


def error_status(error: BaseException, name: str | None = None) -> int:
    """Tell what went wrong, without a traceback, and return the exit status."""
    if isinstance(error, KeyboardInterrupt | Stopped):
        number = error.signal if isinstance(error, Stopped) else Signals.SIGINT
        what = "interrupted" if number == Signals.SIGINT else f"stopped by {Signals(number).name}"
        say(f"hub: {what}; nothing half-written was left behind")
        return Stopped(number).status
    if isinstance(error, BrokenPipeError):
        return 0
    if isinstance(error, InvalidDocument):
        say_problems(error.problems, error.name or name)
        for note in getattr(error, "__notes__", ()):
            say(f"hub: {note}")
        return error.exit_status
    prefix = f"hub: {name}: " if name and not str(error).startswith(name) else "hub: "
    if isinstance(error, HubError):
        if error.exit_status:
            say(f"{prefix}{error}")
        return error.exit_status
    if isinstance(error, OSError):
        target = f"{error.filename}: " if error.filename is not None else ""
        say(f"hub: {target}{(error.strerror or str(error)).lower()}")
        return 1
    if isinstance(error, RecursionError):
        say(f"{prefix}the input is nested too deeply [input.depth]")
        return 1
    if isinstance(error, MemoryError):
        say(f"{prefix}out of memory")
        return 1
    if os.environ.get(TRACEBACK):
        raise error
    say(f"{prefix}internal error: {type(error).__name__}: {error}")
    say(f"hub: this is a bug of the hub; {TRACEBACK}=1 shows the trace, please report it")
    return INTERNAL_ERROR


def each_input(
    files: Sequence[str],
    command: Callable[[str], int],
    failed: Callable[[Outcome], object] | None = None,
) -> int:
    """Call *command* with each input that *files* stand for, and return the exit status of all.

    *failed* is called with what became of each input that fell short; then its problems are not told on standard error.
    A file of a directory of which no format is found is passed over with one line: detection.md 5.
    """
    from hub.api import expand

    statuses: list[int] = []

    def fell_short(error: Exception, name: str) -> None:
        if failed is not None:
            failed(failure(name, error, is_found=False))
        if failed is not None and isinstance(error, InvalidDocument):
            statuses.append(error.exit_status)
        else:
            statuses.append(error_status(error, name))

    def refused(error: HubError) -> None:
        folder = str(error).rpartition(": ")[0]
        fell_short(error, folder)

    for file in files:
        before = len(statuses)
        try:
            members = expand(file, refused)
        except Exception as error:  # noqa: BLE001  # the other files go on
            fell_short(error, file)
            continue
        if not members and len(statuses) == before:
            fell_short(HubError(NO_FILES), file)
        for member in members:
            try:
                statuses.append(command(member.path))
            except InvalidDocument as error:
                if member.directory is not None and error.problems[0].rule in PASSED_OVER:
                    say(f"{member.path}: skipped: {error.problems[0].message}")
                else:
                    fell_short(error, member.path)
            except Exception as error:  # noqa: BLE001  # as above
                fell_short(error, member.path)
    return _status_of_all(statuses)


def _status_of_all(statuses: Sequence[int]) -> int:
    failures = [status for status in statuses if status]
    if len(failures) < len(statuses):
        return SOME_FAILED if failures else 0
    return failures[0] if failures else 1


def print_json(value: object) -> None:
    """Print *value* as one line of JSON."""
    typer.echo(json_line(value))


def json_line(value: object) -> str:
    """Return *value* as one line of JSON, as it is printed."""
    import json

    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print *rows* below the names of their *columns*; on a terminal long cells are folded, else a row is a line."""
    table = [list(map(printable, row)) for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if sys.stdout.isatty():
        _narrow(widths, shutil.get_terminal_size().columns - len(GAP) * (len(widths) - 1))
    for row in table:
        cells = [wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = map(str.ljust, parts, widths)
            typer.echo(GAP.join(padded).rstrip())


GAP = "  "
"""What stands between two columns."""
NARROWEST = 10
"""Characters that every column keeps."""


def _narrow(widths: list[int], room: int) -> None:
    """Make the widest of *widths* narrower, until all of them have *room*, or none can give way."""
    while sum(widths) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
