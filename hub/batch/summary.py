"""The summary of a run for programs: every input with its outcome, format, outputs and problems."""

from __future__ import annotations

import json
import os
from collections import Counter
from types import TracebackType
from typing import Any, Self

from hub.batch.outcome import Outcome, Result, exit_status
from hub.errors import UsageError
from hub.sink import LINES_SUFFIXES
from hub.staging import system_errors

RESULTS: tuple[Result, ...] = ("done", "partial", "failed", "passed-over")


class Counts:
    """How many inputs came to which end."""

    def __init__(self) -> None:
        self.results: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()

    def add(self, outcome: Outcome) -> None:
        """Count *outcome*."""
        self.results[outcome.result] += 1
        if outcome.result != "passed-over":
            self._statuses[outcome.status] += 1

    @property
    def total(self) -> int:
        """How many there are."""
        return self.results.total()

    @property
    def failures(self) -> int:
        """How many fell short."""
        return self.results["failed"] + self.results["partial"]

    @property
    def exit_status(self) -> int:
        """That of the run."""
        return 3 if self.results["partial"] else exit_status(self._statuses)

    def __str__(self) -> str:
        shown = [
            f"{self.results[one]} {one.replace('-', ' ')}" for one in RESULTS if self.results[one]
        ]
        return ", ".join(shown) or "no input"


class Summary:
    """A summary under way: one JSON object, or JSON Lines if the name of the file says so.

    It is written as the run goes on, and is there when the run has ended.
    """

    def __init__(self, path: str, counts: Counts, *, force: bool = False) -> None:
        if os.path.lexists(path) and not force:
            raise UsageError(f"{path}: exists; --force replaces it")
        folder, name = os.path.split(path)
        self._path = path
        self._part = os.path.join(folder, f".{name}.part")
        """Where it is until it is whole; the same place each time, so that a run that is killed leaves no litter."""
        with system_errors(path):
            self._file = open(self._part, "wb")  # noqa: SIM115  # closed at the end of the `with`
        self._counts = counts
        self._lines = path.endswith(LINES_SUFFIXES)
        self._is_first = True

    def __enter__(self) -> Self:
        return self

    def add(self, outcome: Outcome) -> None:
        """Add what became of the next input."""
        text = _json(outcome.to_json())
        if self._lines:
            self._file.write(text + b"\n")
        else:
            self._file.write((b'{"inputs": [\n' if self._is_first else b",\n") + text)
        self._is_first = False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._file:
            if kind is None and not self._lines:
                counts = {result: self._counts.results[result] for result in RESULTS}
                begin = b'{"inputs": [' if self._is_first else b"\n"
                self._file.write(begin + b'], "counts": ' + _json(counts) + b"}\n")
        if kind is None:
            os.replace(self._part, self._path)
        else:
            os.unlink(self._part)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
