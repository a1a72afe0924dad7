"""What a plugin is told when it writes, and how it answers: options, warnings, residuals without a place.

Source: carrier.md 2; residuals.md 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import Factory, define

from hub.errors import MISSING, Json, Problem
from hub.storyline.model import Storyline


@define(eq=False)
class WriteOptions:
    """How one conversion is to be written, and what the writer has to say about it."""

    options: Mapping[str, str] = Factory(dict)
    """Write options of the format, as given with `--option name=value`."""
    carry: bool = True
    """False with `--no-carry`: no envelopes, and no marks of the format's own."""
    problems: list[tuple[Storyline | None, Problem]] = Factory(list)
    """Warnings of the writer, with the Storyline they are about."""
    unplaced_residuals: dict[int, dict[str, Json]] = Factory(dict)
    """Native residuals without a place, by `id` of their Storyline, then by pointer."""

    container: Literal["object", "array", "lines", "dir"] | None = None
    """What the documents are put into, where the target says so. Where it does not, a writer may name what they are to
    be put into. In lines, a document that is an array is made of many records, a line each."""
    source: Json = MISSING
    """The document of the same format that the batch was read from, and nothing was changed since; else `MISSING`."""

    homeless: int = 0
    """How many Storylines went into documents without an envelope: what these cannot hold is left out."""
    attached: int = 0
    """How many files were attached to documents of this output so far: the next document's numbers go on from there."""

    @property
    def conform(self) -> bool:
        """Whether every Storyline is written as the format owner's validator wants it: residuals.md 5."""
        return self.options.get("conform") == "yes"

    def warn(self, problem: Problem, storyline: Storyline | None = None) -> None:
        """Report *problem*; its pointer is one into *storyline*."""
        document = None if storyline is None else storyline.document_id
        self.problems.append((storyline, problem._replace(document=document)))

    def unplaced(self, storyline: Storyline, pointer: str, value: Json) -> None:
        """Name a native residual of *storyline* that could not be put back; the hub carries it."""
        self.unplaced_residuals.setdefault(id(storyline), {})[pointer] = value
