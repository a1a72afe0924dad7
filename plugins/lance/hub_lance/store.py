"""A store of trajectories: opening it, adding to it, asking it.

A store is a folder with three Lance tables, of which `CURRENT` says the versions that belong together. Whoever has
opened it sees these versions until it is refreshed, whatever others add meanwhile. Source: storyline.md, A.1.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from hub import (
    Conversion,
    HubError,
    Limits,
    Outcome,
    Storyline,
    UsageError,
    formats,
    read_many,
    write_batches,
)
from hub_lance import current, exporting, query, reading, tables
from hub_lance.adding import ON_DUPLICATE, Added, Adding, OnDuplicate
from hub_lance.current import NAME, Versions
from hub_lance.journal import FOLDER, Journal, forget, locked
from hub_lance.schema import TABLES, TableName
from hub_lance.splitting import Splitting
from hub_lance.texts import stored

if TYPE_CHECKING:
    from datetime import timedelta

    import lance
    import pyarrow as pa

Container = Literal["object", "array", "lines", "dir"]


class Health(NamedTuple):
    """What there is to know of one table."""

    rows: int
    version: int
    newest: int
    """The newest version; beyond `version` when an add was cut short."""
    versions: int
    """How many there are."""
    fragments: int
    deleted: int
    """Rows that are deleted and still in the files."""
    size: int
    """Bytes of its files, those of old versions among them."""


def open(path: str | os.PathLike[str], *, create: bool = False) -> Store:  # noqa: A001  # hub_lance.open
    """Open the store in the folder *path*.

    Args:
        path: the folder.
        create: make it if there is none.

    Raises:
        HubError: there is no store, or one of another version.
        UsageError: the folder holds something else, or is a URL.
    """
    if "://" in os.fspath(path):
        raise UsageError(f"{os.fspath(path)}: a store is a folder of this machine, and no URL")
    root = Path(path)
    if create and not (root / NAME).exists():
        _create(root)
    return Store(root, current.read(root))


def _create(root: Path) -> None:
    """Make an empty store; what was left of one that never was is removed."""
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root}: no store, but a file")
    ours = {FOLDER, *(tables.place(root, name).name for name in TABLES)}
    if root.is_dir() and (others := sorted({one.name for one in root.iterdir()} - ours)):
        raise UsageError(f"{root}: no store, and not empty: it holds {others[0]}")
    with locked(root):
        if (root / NAME).exists():
            return
        for name in TABLES:
            shutil.rmtree(tables.place(root, name), ignore_errors=True)
        current.write(root, tables.created(root))


class Store:
    """A store, at the versions that it had when it was opened; see `open`."""

    def __init__(self, root: Path, versions: Versions) -> None:
        """Take the store in *root* at *versions*."""
        self.root = root
        self.versions = versions
        self._datasets: dict[TableName, lance.LanceDataset] = {}

    def __repr__(self) -> str:
        return f"<Store {self.root} {tuple(self.versions)}>"

    def __len__(self) -> int:
        """Return how many trajectories there are."""
        return int(self.dataset("runs").count_rows())

    def refresh(self) -> None:
        """Take the versions that the store has now."""
        self._at(current.read(self.root))

    def _at(self, versions: Versions) -> None:
        self.versions = versions
        self._datasets = {}

    # Asking

    def dataset(self, table: TableName) -> lance.LanceDataset:
        """Return a table as Lance has it, at its version: with it goes what Lance ships for PyTorch and others.

        Raises:
            HubError: it cannot be read.
        """
        if table not in TABLES:
            raise UsageError(f"no table {table!r}; there are {', '.join(TABLES)}")
        if table not in self._datasets:
            try:
                version = getattr(self.versions, table)
                self._datasets[table] = tables.opened(self.root, table, version)
            except (OSError, ValueError) as error:
                raise HubError(f"{self.root}: {table} cannot be read: {error}") from error
        return self._datasets[table]

    def get(self, document_id: str) -> Storyline:
        """Return the trajectory *document_id*: its `trajectory`, or without one its `session`.

        Raises:
            KeyError: the store has none of that id.
        """
        for storyline in self.storylines(ids=[document_id]):
            return storyline
        raise KeyError(document_id)

    def storylines(
        self, *, where: str | None = None, ids: Iterable[str] | None = None
    ) -> Iterator[Storyline]:
        """Yield trajectories, a few at a time in memory, in the order in which they were added.

        Args:
            where: an SQL condition over `runs`.
            ids: those that are wanted, in that order; then *where* does not count.
        """
        wanted = self._ids(where) if ids is None else map(stored, ids)
        return reading.storylines({name: self.dataset(name) for name in TABLES}, wanted)

    def scan(
        self,
        table: TableName,
        *,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        batch_size: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a table as Arrow batches, lazily; *where* is an SQL condition over its columns."""
        scanner = self.dataset(table).scanner(
            columns=None if columns is None else list(columns),
            filter=where,
            batch_size=batch_size,
            batch_size_bytes=None if batch_size else tables.BATCH_BYTES,
        )
        yield from scanner.to_reader()

    def query(self, sql: str) -> pa.Table:
        """Return what a query over `runs`, `steps` and `tool_calls` finds; the store is only read.

        Raises:
            UsageError: it is no query, or one that DuckDB refuses.
        """
        with query.refusals():
            return self.batches(sql).read_all()

    def batches(self, sql: str) -> pa.RecordBatchReader:
        """Return what a query finds, as batches that are made when they are asked for; see `query`."""
        return query.result(self._database(), sql)

    def _database(self) -> Any:
        return query.connection({name: self.dataset(name) for name in TABLES})

    def _ids(self, where: str | None) -> Iterator[str]:
        condition = "" if where is None else f"WHERE ({where}\n)"
        sql = f"SELECT document_id FROM runs {condition} ORDER BY storage_ordinal"  # noqa: S608  # only read
        with query.refusals():
            for batch in self.batches(sql):
                yield from batch.column(0).to_pylist()

    def health(self) -> dict[TableName, Health]:
        """Return what there is to know of each table."""
        return {name: self._health(name) for name in TABLES}

    def _health(self, table: TableName) -> Health:
        found = self.dataset(table)
        files = tables.place(self.root, table).rglob("*")
        return Health(
            rows=found.count_rows(),
            version=found.version,
            newest=found.latest_version,
            versions=len(found.versions()),
            fragments=len(found.get_fragments()),
            deleted=sum(one.num_deletions for one in found.get_fragments()),
            size=sum(path.stat().st_size for path in files if path.is_file()),
        )

    # Adding

    def add(
        self,
        inputs: Sequence[str | os.PathLike[str]],
        *,
        on_duplicate: OnDuplicate = "fail",
        format: str | None = None,
        jobs: int = 1,
        engine: Literal["local", "ray"] = "local",
        resume: bool = False,
        strict: bool = False,
        on_error: Literal["fail", "skip"] = "fail",
        assume_timezone: str | None = None,
        limits: Limits | None = None,
        options: Mapping[str, str] | None = None,
        plugins: Sequence[str] = (),
        report: Callable[[Added], object] | None = None,
    ) -> Iterator[Outcome]:
        """Add the trajectories of files, directories, archives and patterns; yield what became of each, in order.

        All of them are in the store when the iterator has come to its end, and none before.

        Args:
            inputs: as `hub.convert_many` takes them.
            on_duplicate: what becomes of an input with a trajectory that the store has: it fails, that one is
                skipped, or it replaces the one that is there.
            format: that of the inputs; otherwise each is detected.
            jobs: processes that share the work.
            engine: whose processes: of this machine, or of a Ray cluster; then 0 jobs are all it has.
            resume: go on with the same `add` that was cut short.
            strict: take every error for fatal.
            on_error: what becomes of a record that cannot be read.
            assume_timezone: zone of times without one.
            limits: those of an input.
            options: those of formats, for reading.
            plugins: paths of one-file plugins.
            report: called in the end with what was done.

        Raises:
            UsageError: somebody else writes to the store; or there is another run to resume.
        """
        named = [os.fspath(one) for one in inputs]
        settings = {
            "inputs": named,
            "on_duplicate": on_duplicate,
            "format": format,
            "strict": strict,
            "on_error": on_error,
            "assume_timezone": assume_timezone,
            "limits": list(limits or Limits()),
            "options": dict(options or {}),
        }
        with locked(self.root) as folder:
            self.refresh()
            journal = Journal(folder, settings)
            try:
                adding = self._adding(journal, on_duplicate, resume=resume)
                for outcome in read_many(
                    named,
                    Splitting(str(journal.spool)),
                    format=format,
                    jobs=jobs,
                    engine=engine,
                    strict=strict,
                    on_error=on_error,
                    assume_timezone=assume_timezone,
                    limits=limits,
                    options=options,
                    plugins=plugins,
                    known=adding.known,
                    without=self.root,
                ):
                    yield adding.take(outcome)
                done = adding.finish()
            finally:
                journal.close()
            self._at(done.versions)
        if report is not None:
            report(done)

    def add_storylines(
        self, storylines: Iterable[Storyline], *, on_duplicate: OnDuplicate = "fail"
    ) -> Added:
        """Add *storylines*, all or none; as one input of `add`.

        Raises:
            InvalidDocument: one of them breaks rules; or the store has it, unless *on_duplicate* says what then.
        """
        with locked(self.root) as folder:
            self.refresh()
            journal = Journal(folder, {"inputs": None})
            try:
                adding = self._adding(journal, on_duplicate, resume=False)
                made = Splitting(str(journal.spool))(iter(storylines))
                adding.take_whole(made)
                done = adding.finish()
            finally:
                journal.close()
            self._at(done.versions)
        return done

    def _adding(self, journal: Journal, on_duplicate: OnDuplicate, *, resume: bool) -> Adding:
        if on_duplicate not in ON_DUPLICATE:
            takes = ", ".join(map(repr, ON_DUPLICATE))
            raise UsageError(f"on_duplicate takes one of {takes}, not {on_duplicate!r}")
        return Adding(self.root, journal, self.versions, on_duplicate=on_duplicate, resume=resume)

    # Exporting

    def export(
        self,
        output: str | os.PathLike[str],
        *,
        to: str,
        where: str | None = None,
        container: Container | None = None,
        force: bool = False,
        carry: bool = True,
        extract_images: bool = False,
        options: Mapping[str, str] | None = None,
    ) -> Conversion:
        """Write trajectories to *output* in the format *to*, as a conversion of them would; see `hub.write_batches`.

        What was one document is one again: trajectories that belong together are written together.

        Args:
            output: a file or folder; `-` is standard output.
            to: the format.
            where: an SQL condition over `runs`; None: all of them.
            container: how documents are put together.
            force: replace an existing output.
            carry: with the envelopes that bring back what the format cannot hold.
            extract_images: inline images become files beside the output.
            options: those of the format, for writing.
        """
        groups = exporting.groups(self._database(), formats[to].info, where)
        return write_batches(
            (list(self._stored(ids)) for ids in groups),
            output,
            to=to,
            container=cast(Any, container),
            force=force,
            carry=carry,
            extract_images=extract_images,
            options=options,
        )

    def _stored(self, ids: Iterable[str]) -> Iterator[Storyline]:
        return reading.storylines({name: self.dataset(name) for name in TABLES}, ids)

    # Maintaining

    def maintain(self, *, older_than: timedelta | None = None) -> None:
        """Make few large files of many small ones, bring the indexes up to date, and remove what nobody needs.

        Args:
            older_than: age of versions that are removed, a day by default; who reads one of them fails then. What a
                run that was cut short has written is removed as well, and cannot be resumed.

        Raises:
            UsageError: somebody else writes to the store.
        """
        with locked(self.root) as folder:
            self.refresh()
            forget(folder)
            versions = tables.compacted(self.root, self.versions)
            current.write(self.root, versions)
            self._at(versions)
            tables.cleaned(self.root, older_than)
            with suppress(OSError):
                (self.root / f".{NAME}.tmp").unlink()
