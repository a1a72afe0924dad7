"""An `add` under way: inputs become rows, rows become files of the tables, and in the end all of them a version.

Nothing is in the store before all is: the versions of the tables that hold the new rows are named by `CURRENT` last.
What was written until a run is cut short stands in its journal, and the next run goes on from there.
Source: storyline.md, A.1, A.3 and A.5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hub import InvalidDocument, Outcome, Problem
from hub_lance import current, tables
from hub_lance.current import Versions
from hub_lance.journal import Chunk, Journal, Noted
from hub_lance.known import KnownIds
from hub_lance.rows import Rows, with_ordinal
from hub_lance.schema import TABLES, TableName
from hub_lance.splitting import Made, spooled_tables
from hub_lance.texts import restored

if TYPE_CHECKING:
    from hub_lance.arrow import Tables

OnDuplicate = Literal["fail", "skip", "replace"]
ON_DUPLICATE = ("fail", "skip", "replace")

HELD = 64 * 2**20
"""Bytes of rows that are held before they go to a file."""
PACKED = 8 * 2**20
"""Bytes of rows that are held as objects, before they become tables: objects take several times their room."""
OFTEN = 4096
"""Inputs after which rows go to a file all the same, so that a run that is cut short need not do many again."""

DUPLICATE = "store.duplicate"
"""Rule of a document that the store has already."""


class Added(NamedTuple):
    """What an `add` did."""

    versions: Versions
    added: int
    replaced: int
    skipped: int


class Adding:
    """An `add` under way; whoever has it holds the lock of the store."""

    def __init__(
        self,
        root: Path,
        journal: Journal,
        base: Versions,
        *,
        on_duplicate: OnDuplicate,
        resume: bool,
    ) -> None:
        self._root = root
        self._journal = journal
        self._base = base
        self._on_duplicate = on_duplicate
        self._known = KnownIds(root, base)
        state = journal.begin(base, self._known.next_ordinal(), resume=resume)
        if state.published is None and not tables.are_there(root, state.chunks):
            state = journal.begin(base, self._known.next_ordinal(), resume=False)
        self._state = state
        self._ordinal = state.next_ordinal
        self._stamps: deque[tuple[str, str | None]] = deque()
        """Name and stamp of inputs that are given to somebody, in order."""
        self._pending: list[Rows] = []
        self._pending_size = self._size = 0
        self._packed: list[Tables] = []
        self._noted: list[Noted] = []
        self._chunk = _empty()
        self._ids: list[str] = []
        self._replaced: list[str] = []
        self.added = self.skipped = 0

    # Inputs

    def known(self, name: str, stamp: str | None) -> Outcome | None:
        """Return what became of the input *name* in the run that is gone on with, if it is what it was."""
        noted = self._state.inputs.get(name)
        is_same = noted is not None and stamp is not None and noted.stamp == stamp
        if noted is not None and is_same and not noted.outcome.is_failure:
            self._stamps.append((name, None))
            return noted.outcome
        self._stamps.append((name, stamp))
        return None

    def take(self, outcome: Outcome) -> Outcome:
        """Add what was made of the next input, and return what became of it."""
        name, stamp = self._stamps.popleft() if self._stamps else (outcome.input, None)
        made = outcome.made
        if not isinstance(made, Made):
            if stamp is not None:
                self._noted.append(Noted(name, stamp, outcome))
            return outcome
        told = self._told(outcome._replace(made=None), made)
        self._noted.append(Noted(name, stamp, told))
        if self._size > HELD or len(self._noted) >= OFTEN or any(self._chunk.fragments.values()):
            self._flush()
        return told

    def take_whole(self, made: Made) -> None:
        """Add *made*, or nothing.

        Raises:
            InvalidDocument: the store has some of it, and nobody said what then.
        """
        told = self._told(Outcome("storylines", "done"), made)
        if told.is_failure:
            raise InvalidDocument(told.problems)

    def _told(self, outcome: Outcome, made: Made) -> Outcome:
        duplicates = [one for one in made.ids if self._is_here(one)]
        problems = [*outcome.problems, *made.problems, *map(self._problem, duplicates)]
        if duplicates and self._on_duplicate == "fail":
            for path in made.spooled:
                Path(path).unlink(missing_ok=True)
            return outcome._replace(result="failed", status=1, problems=problems)
        skipped = frozenset(duplicates if self._on_duplicate == "skip" else ())
        if self._on_duplicate == "replace":
            self._replace(duplicates)
        self._put(made, skipped)
        fresh = [one for one in made.ids if one not in skipped]
        self._state.ids.update(fresh)
        self._ids.extend(fresh)
        self.added += len(fresh)
        self.skipped += len(skipped)
        return outcome._replace(problems=problems)

    def _is_here(self, document_id: str) -> bool:
        if document_id in self._state.ids:
            return True
        return document_id in self._known and document_id not in self._state.replaced

    def _problem(self, document_id: str) -> Problem:
        severity: Any = "fatal" if self._on_duplicate == "fail" else "info"
        fate = {"fail": "nothing of this input is added", "skip": "left out", "replace": "replaced"}
        message = f"the store has a trajectory of this id; {fate[self._on_duplicate]}"
        return Problem(severity, DUPLICATE, "", message, document=restored(document_id))

    def _replace(self, duplicates: Sequence[str]) -> None:
        """Note that the documents *duplicates* go, whether an earlier add has them or this one."""
        own = [one for one in duplicates if one in self._state.ids]
        if own:
            self._flush()
            self._chunk = self._chunk._replace(removed=own)
        stored = [one for one in duplicates if one in self._known]
        fresh = [one for one in stored if one not in self._state.replaced]
        self._state.replaced.update(fresh)
        self._replaced.extend(fresh)

    # Rows

    def _put(self, made: Made, skipped: Collection[str]) -> None:
        if made.spooled:
            self._write_pending()
        for path in made.spooled:
            self._write(_without(spooled_tables(path), skipped))
            Path(path).unlink(missing_ok=True)
        for rows in made.documents:
            if rows.document_id not in skipped:
                self._pending.append(rows._replace(run=with_ordinal(rows.run, self._ordinal)))
                self._ordinal += 1
                self._pending_size += rows.size
                if self._pending_size > PACKED:
                    self._pack()

    def _pack(self) -> None:
        """Make tables of the rows that are held as objects."""
        from hub_lance.arrow import tables as tables_of

        if self._pending:
            self._packed.append(tables_of(self._pending))
        self._size += self._pending_size
        self._pending, self._pending_size = [], 0

    def _write_pending(self) -> None:
        from hub_lance.arrow import joined

        self._pack()
        if self._packed:
            self._put_down(joined(self._packed))
        self._packed, self._size = [], 0

    def _write(self, found: Tables) -> None:
        """Write rows of Storylines that have no place in the store yet."""
        import pyarrow as pa

        count = found.runs.num_rows
        ordinals = pa.array(range(self._ordinal, self._ordinal + count), pa.int64())
        at = found.runs.schema.get_field_index("storage_ordinal")
        runs = found.runs.set_column(at, found.runs.schema.field(at), ordinals)
        self._ordinal += count
        self._put_down(found._replace(runs=runs))

    def _put_down(self, found: Tables) -> None:
        for name, table in zip(TABLES, found, strict=True):
            self._chunk.fragments[name].extend(tables.written(self._root, name, table))

    def _flush(self) -> None:
        """Write what is held, and note it in the journal."""
        self._write_pending()
        if not self._noted and not any(self._chunk.fragments.values()):
            return
        self._journal.note(self._chunk, self._noted, self._ids, self._replaced, self._ordinal)
        self._state.chunks.append(self._chunk)
        self._chunk = _empty()
        self._noted, self._ids, self._replaced = [], [], []

    # The end

    def finish(self) -> Added:
        """Publish what was added, all at once."""
        self._flush()
        versions = self._base
        chunks = self._state.chunks
        has_rows = any(any(chunk.fragments.values()) for chunk in chunks)
        if self._state.published is None and (has_rows or self._state.replaced):
            versions = tables.committed(self._root, self._base, self._state.replaced, chunks)
            self._journal.publish(versions)
            current.write(self._root, versions)
        return Added(versions, self.added, len(self._state.replaced), self.skipped)


def _empty() -> Chunk:
    fragments: dict[TableName, list[dict[str, Any]]] = {name: [] for name in TABLES}
    return Chunk([], fragments)


def _without(found: Tables, skipped: Collection[str]) -> Tables:
    """Return *found* without the rows of the documents *skipped*."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not skipped:
        return found
    ids = pa.array(sorted(skipped), pa.utf8())
    return type(found)(
        *(
            table.filter(pc.invert(pc.is_in(table.column("document_id"), value_set=ids)))
            for table in found
        )
    )
