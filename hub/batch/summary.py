"""The summary of a run for programs: every input with its outcome, format, outputs and problems."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Any, BinaryIO, Self

from hub.batch.outcome import RESULTS, Outcome, exit_status
from hub.errors import UsageError
from hub.sink import LINES_SUFFIXES, is_device
from hub.staging import Staging, SystemErrors, is_same_file
from hub.streams import check_path


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

    def __init__(
        self,
        path: str,
        counts: Counts,
        *,
        force: bool = False,
        inputs: Sequence[str] = (),
        output: str | None = None,
    ) -> None:
        """Begin the summary of *inputs*, of which none is written over, nor is *output*.

        Raises:
            UsageError: *path* is one of them, or names no file, or is there without *force*.
        """
        if path in {"", "-"}:
            raise UsageError(f"--summary takes the name of a file, not {path!r}")
        check_path(path)
        if output is not None and os.path.realpath(output) == os.path.realpath(path):
            raise UsageError(f"{path}: the summary would be written over the output")
        self._path = path
        self._staging: Staging | None = None
        self._file: BinaryIO
        if is_device(path):
            with SystemErrors(path):
                self._file = open(path, "wb")  # noqa: SIM115  # closed at the end of the `with`
        else:
            folder, name = os.path.split(os.path.realpath(path) if os.path.islink(path) else path)
            self._staging = Staging(folder, force=force, inputs=inputs, make=False)
            self._file = self._staging.create(name)
        self._counts = counts
        self._lines = path.endswith(LINES_SUFFIXES)
        self._is_first = True

    def __enter__(self) -> Self:
        return self

    def add(self, outcome: Outcome) -> None:
        """Add what became of the next input.

        Raises:
            UsageError: the summary has the place of that input, or of an output.
        """
        for one in (outcome.input, *outcome.outputs):
            if is_same_file(self._path, one):
                raise UsageError(f"{self._path}: the summary would be written over {one}")
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
        try:
            with self._file:
                if kind is None:
                    self._end()
            if kind is None and self._staging is not None:
                self._staging.commit()
        finally:
            if self._staging is not None:
                self._staging.discard()

    def _end(self) -> None:
        if not self._lines:
            counts = {result: self._counts.results[result] for result in RESULTS}
            begin = b'{"inputs": [' if self._is_first else b"\n"
            self._file.write(begin + b'], "counts": ' + _json(counts) + b"}\n")
        if self._staging is not None:
            self._staging.complete(self._file)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
