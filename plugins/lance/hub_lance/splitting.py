"""What is made of each input: the rows of its Storylines, or, where they are many, files of them.

It is called where the input is read, which may be another process or another machine; what it returns goes back to the
one that writes the store. Source: storyline.md, A.3 and 8 (ids that are unique in a collection).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from attrs import frozen

from hub import Problem, Storyline, with_unique_ids
from hub_lance.rows import Rows, split
from hub_lance.schema import TABLES

if TYPE_CHECKING:
    from hub_lance.arrow import Tables

HELD = 32 * 2**20
"""Bytes of rows that are held; further ones go to a file first."""


class Made(NamedTuple):
    """What was made of one input."""

    ids: list[str]
    """Of its Storylines, as a column holds them."""
    spooled: Sequence[str]
    """Paths of the files with the rows of the first of them."""
    documents: list[Rows]
    """The rows of the others."""
    problems: list[Problem]
    """What was done to ids that were not unique."""


@frozen
class Splitting:
    """Splits the Storylines of an input."""

    spool: str
    """A folder for files of rows."""

    def __call__(self, storylines: Iterator[Storyline]) -> Made:
        """Return the rows of *storylines*."""
        made = Made([], [], [], [])
        spooled: list[str] = []
        held = 0
        try:
            for storyline, problem in with_unique_ids(storylines):
                rows = split(storyline)
                made.ids.append(rows.document_id)
                made.documents.append(rows)
                if problem is not None:
                    made.problems.append(problem)
                held += rows.size
                if held > HELD:
                    spooled.append(spool(made.documents, self.spool))
                    made.documents.clear()
                    held = 0
        except BaseException:
            for path in spooled:
                Path(path).unlink(missing_ok=True)
            raise
        return made._replace(spooled=spooled)


def spool(documents: Sequence[Rows], folder: str) -> str:
    """Write *documents* to a new file in *folder*, and return its path."""
    import pyarrow as pa

    from hub_lance.arrow import tables

    path = Path(folder) / f"{uuid4().hex}.arrow"
    with path.open("wb") as file:
        for table in tables(documents):
            with pa.ipc.new_stream(file, table.schema) as writer:
                writer.write_table(table)
    return str(path)


def spooled_tables(path: str) -> Tables:
    """Return the tables in a file that `spool` wrote."""
    import pyarrow as pa

    from hub_lance.arrow import Tables

    with Path(path).open("rb") as file:
        found: list[Any] = []
        for _ in TABLES:
            with pa.ipc.open_stream(file) as reader:
                found.append(reader.read_all())
    return Tables(*found)
