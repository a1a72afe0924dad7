"""The Lance datasets of a store: opening them at a version, writing rows, making versions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hub_lance.current import Versions, sync_folder
from hub_lance.journal import Chunk
from hub_lance.schema import INDEXES, TABLES, TableName, schema

if TYPE_CHECKING:
    from datetime import timedelta

    import lance
    import pyarrow as pa

STORAGE_VERSION: Literal["2.1"] = "2.1"
BATCH_BYTES = 16 * 2**20
"""Of a batch of a scan: rows with large cells come few at a time."""
AT_ONCE = 500
"""Documents that one condition names."""


def place(root: Path, table: TableName) -> Path:
    """Return the folder of *table*."""
    return root / f"{table}.lance"


def opened(root: Path, table: TableName, version: int | None = None) -> lance.LanceDataset:
    """Return *table* at a *version*; None: the newest that there is, whoever made it."""
    import lance

    options: dict[str, Any] = {"batch_size_bytes": BATCH_BYTES}
    return lance.dataset(place(root, table), version=version, default_scan_options=options)


def created(root: Path) -> Versions:
    """Make three empty tables."""
    import lance

    made = [
        lance.write_dataset(
            schema(name).empty_table(),
            place(root, name),
            schema=schema(name),
            mode="create",
            data_storage_version=STORAGE_VERSION,
        ).version
        for name in TABLES
    ]
    return Versions(*made)


def written(root: Path, table: TableName, rows: pa.Table) -> list[dict[str, Any]]:
    """Write *rows* to files of *table*, and return the fragments, which are in no version yet."""
    from lance.fragment import write_fragments

    if not rows.num_rows:
        return []
    fragments = write_fragments(rows, place(root, table), schema(table), mode="append")
    return [one.to_json() for one in fragments]


def are_there(root: Path, chunks: Iterable[Chunk]) -> bool:
    """Tell whether the files of *chunks* are whole."""
    return all(
        path.is_file() and size in {None, path.stat().st_size}
        for chunk in chunks
        for path, size in _files(root, chunk)
    )


def _files(root: Path, chunk: Chunk) -> Iterator[tuple[Path, int | None]]:
    for name, fragments in chunk.fragments.items():
        for fragment in fragments:
            for file in fragment["files"]:
                yield place(root, name) / "data" / file["path"], file.get("file_size_bytes")


def committed(
    root: Path, base: Versions, replaced: Iterable[str], chunks: Sequence[Chunk]
) -> Versions:
    """Make versions of the tables at *base* without the documents *replaced* and with *chunks*.

    Nobody is told of them.
    """
    gone = sorted(replaced)
    before = {path for name in TABLES for path in _paths(root, name)}
    for chunk in chunks:
        before.difference_update(path for path, _ in _files(root, chunk))
    made = []
    for name, version in zip(TABLES, base, strict=True):
        _at(root, name, version)
        _remove(root, name, gone)
        for removed, fragments in _operations(name, chunks):
            _remove(root, name, removed)
            _append(root, name, fragments)
        index(root, name, behind=BEHIND)
        made.append(opened(root, name).version)
        _sync(path for path in _paths(root, name) if path not in before)
    return Versions(*made)


def _at(root: Path, table: TableName, version: int) -> None:
    """Make the newest version the one that *version* is: others were made by who never published them."""
    if opened(root, table).version != version:
        found: Any = opened(root, table, version)
        found.restore()


def _operations(
    table: TableName, chunks: Sequence[Chunk]
) -> Iterator[tuple[list[str], list[dict[str, Any]]]]:
    """Yield what is removed and then added, as few times as chunks replace what is in those before them."""
    removed: list[str] = []
    fragments: list[dict[str, Any]] = []
    for chunk in chunks:
        if chunk.removed:
            yield removed, fragments
            removed, fragments = chunk.removed, []
        fragments = fragments + chunk.fragments[table]
    yield removed, fragments


def _remove(root: Path, table: TableName, ids: Sequence[str]) -> None:
    for begin in range(0, len(ids), AT_ONCE):
        opened(root, table).delete(one_of("document_id", ids[begin : begin + AT_ONCE]))


def _append(root: Path, table: TableName, fragments: Sequence[dict[str, Any]]) -> None:
    import lance

    if not fragments:
        return
    found = opened(root, table)
    operation = lance.LanceOperation.Append(
        [lance.FragmentMetadata.from_json(json.dumps(one)) for one in fragments]
    )
    lance.LanceDataset.commit(found, operation, read_version=found.version)


def index(root: Path, table: TableName, *, behind: int = 0) -> None:
    """Make the indexes of *table*, or add to them what they do not know.

    A small table has none, for they would cost more than they save; *behind*: so many rows they need not know.
    """
    found = opened(root, table)
    if found.count_rows() < INDEXED_FROM:
        return
    there = {one.name for one in found.describe_indices()}
    missing = [column for column in INDEXES[table] if f"{column}_idx" not in there]
    if there and _unknown_rows(found) > behind:
        found.optimize.optimize_indices()
    for column in missing:
        opened(root, table).create_scalar_index(column, INDEXES[table][column])


INDEXED_FROM = 4096
"""Rows from which on a table has indexes."""
BEHIND = 16 * INDEXED_FROM
"""Rows that indexes need not know after an add: those are looked through."""


def _unknown_rows(found: Any) -> int:
    """Return how many rows the indexes do not know."""
    statistics = found.stats.index_stats("document_id_idx")
    return int(statistics["num_unindexed_rows"])


def one_of(column: str, texts: Iterable[str]) -> str:
    """Return the SQL condition that *column* is one of *texts*."""
    return f"{column} IN ({', '.join(map(quoted, texts))})"


def quoted(text: str) -> str:
    """Return *text* as SQL spells it."""
    return "'" + text.replace("'", "''") + "'"


def _paths(root: Path, table: TableName) -> Iterator[Path]:
    return (path for path in place(root, table).rglob("*") if path.is_file())


def _sync(paths: Iterable[Path]) -> None:
    """Bring files, and their names, to the disk."""
    folders = set()
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())
        folders.add(path.parent)
    for folder in folders:
        sync_folder(folder)


def compacted(root: Path, base: Versions) -> Versions:
    """Make versions of the tables at *base* whose files are few, with indexes that know all rows."""
    made = []
    for name, version in zip(TABLES, base, strict=True):
        _at(root, name, version)
        opened(root, name).optimize.compact_files(batch_size=COMPACTED_AT_ONCE)
        index(root, name)
        made.append(opened(root, name).version)
    return Versions(*made)


COMPACTED_AT_ONCE = 256
"""Rows: they may be large."""


def cleaned(root: Path, older_than: timedelta | None) -> None:
    """Remove versions, and files that are in none."""
    from datetime import timedelta

    age = timedelta(days=1) if older_than is None else older_than
    for name in TABLES:
        opened(root, name).cleanup_old_versions(older_than=age, delete_unverified=True)
