"""Rows as Arrow tables, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hub import HubError
from hub_lance.rows import Row, Rows
from hub_lance.schema import TABLES, TableName, schema

if TYPE_CHECKING:
    import pyarrow as pa


class Tables(NamedTuple):
    """The rows of some Storylines, as a table each."""

    runs: pa.Table
    steps: pa.Table
    tool_calls: pa.Table


def tables(documents: Iterable[Rows]) -> Tables:
    """Return the tables that hold *documents*, in their order."""
    found = list(documents)
    return Tables(
        table("runs", [one.run for one in found]),
        table("steps", [row for one in found for row in one.steps]),
        table("tool_calls", [row for one in found for row in one.calls]),
    )


def joined(parts: Sequence[Tables]) -> Tables:
    """Return the rows of all *parts*, in their order; nothing is copied."""
    import pyarrow as pa

    return Tables(*map(pa.concat_tables, zip(*parts, strict=True)))


def table(name: TableName, rows: Sequence[Row]) -> pa.Table:
    """Return *rows* as a table; times are instants in nanoseconds and never pass through a `datetime`.

    Raises:
        HubError: a cell is too large for Arrow: 2 GiB.
    """
    import pyarrow as pa

    wanted = schema(name)
    columns = zip(*rows, strict=True) if rows else ([] for _ in wanted)
    try:
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, wanted, strict=True)
        ]
    except pa.ArrowCapacityError as error:
        raise HubError(f"a value is too large for a cell of a table: {error}") from error
    if any(isinstance(array, pa.ChunkedArray) for array in arrays):
        return pa.table(arrays, wanted)
    return pa.Table.from_arrays(arrays, schema=wanted)


def dictionaries(found: pa.Table, name: TableName) -> list[dict[str, Any]]:
    """Return the rows of *found*, of the table *name*, times as instants in nanoseconds."""
    import pyarrow as pa

    known = {column.name: column for column in TABLES[name]}
    columns = {
        field: (
            found.column(field).cast(pa.int64())
            if known[field].kind == "timestamp"
            else found.column(field)
        ).to_pylist()
        for field in found.column_names
        if field in known
    }
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
