"""What became of one input of many.

Source: validation.md 1 (exit status), 2.4; detection.md 5 (files of a directory that are none of ours).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from hub.errors import HubError, InvalidDocument, Problem

Result = Literal["done", "partial", "failed", "passed-over"]
"""Partial: records were left out, as asked for. Passed over: a file that a directory holds, and none of ours."""

PASSED_OVER = frozenset({"detect.unknown", "input.empty", "input.encoding"})
"""Rules by which a file that stands in a directory is none of ours."""

RESULTS: tuple[Result, ...] = ("done", "partial", "failed", "passed-over")

INTERNAL_ERROR = 70


class Outcome(NamedTuple):
    """What became of one input: all that a summary says of it."""

    input: str
    """Path of the input, as people know it."""
    result: Result
    status: int = 0
    """The exit status of a command that had this input alone."""
    format: str | None = None
    """Id of the format that was read; None: that was not found out."""
    version: str | None = None
    outputs: Sequence[str] = ()
    documents: int = 0
    storylines: int = 0
    problems: Sequence[Problem] = ()
    message: str | None = None
    """What went wrong, where that is no problem of a document."""
    fidelity: Mapping[str, int] | None = None
    """How many values were kept, carried and so on, where that was measured."""
    redacted: Mapping[str, int] = {}  # a tuple's default, never changed
    """How much of each kind was hidden."""
    measures: Any = None
    """What was counted in the input, where that was asked for."""
    made: Any = None
    """What was made of the Storylines of the input, where that was asked for (`read_many`)."""

    @property
    def is_failure(self) -> bool:
        """Whether the input fell short, at least in part."""
        return self.result in {"failed", "partial"}

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as it stands in a summary."""
        shown: dict[str, Any] = {
            "input": self.input,
            "outcome": self.result,
            "format": self.format,
            "outputs": list(self.outputs),
            "documents": self.documents,
            "storylines": self.storylines,
            "problems": [problem._asdict() for problem in self.problems],
        }
        if self.message is not None:
            shown["message"] = self.message
        if self.fidelity is not None:
            shown["fidelity"] = dict(self.fidelity)
        return shown


def failure(input: str, error: Exception, *, is_found: bool) -> Outcome:
    """Return the outcome of *input*, on which *error* was raised; *is_found*: a directory held it, nobody named it."""
    if isinstance(error, InvalidDocument):
        problems = tuple(error.problems)
        if is_found and problems[0].rule in PASSED_OVER:
            return Outcome(input, "passed-over", problems=problems[:1])
        notes = "; ".join(getattr(error, "__notes__", ())) or None
        return Outcome(input, "failed", error.exit_status, problems=problems, message=notes)
    status, message = _told(error)
    return Outcome(input, "failed", status, message=message.removeprefix(f"{input}: "))


def _told(error: Exception) -> tuple[int, str]:
    """Return the exit status and the words for *error*, which is not about a document."""
    if isinstance(error, HubError):
        return error.exit_status, str(error)
    if isinstance(error, OSError):
        target = f"{error.filename}: " if error.filename is not None else ""
        return 1, f"{target}{error.strerror or error}"
    if isinstance(error, RecursionError):
        return 1, "the input is nested too deeply [input.depth]"
    if isinstance(error, MemoryError):
        return 1, "out of memory"
    return INTERNAL_ERROR, f"internal error: {type(error).__name__}: {error}"


def exit_status(counts: Mapping[int, int]) -> int:
    """Return the exit status of a run, given how many inputs had each: all, none or some of them failed."""
    failed = [status for status in counts if status]
    if failed and len(failed) < len(counts):
        return SOME_FAILED
    return next(iter(failed or counts), 1)


SOME_FAILED = 3
