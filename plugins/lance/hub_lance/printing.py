"""What a query finds, for programs and people."""

from __future__ import annotations

import os
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hub import UsageError
from hub_lance.query import refusals

if TYPE_CHECKING:
    import pyarrow as pa


def plain(value: Any) -> Any:
    """Return *value*, which Arrow gave, as JSON has it: numbers as numbers, times as text, bytes as hex."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, float) and (value != value or value in {float("inf"), -float("inf")}):  # noqa: PLR0124  # NaN
        return str(value)
    return value


def write_parquet(batches: pa.RecordBatchReader, path: str, *, force: bool) -> None:
    """Write what a query finds to a Parquet file, whole or not at all.

    Raises:
        UsageError: it exists, unless *force* says so.
    """
    import pyarrow.parquet as pq

    target = Path(path)
    if target.exists() and not force:
        raise UsageError(f"{path}: exists; --force replaces it")
    part = target.with_name(f".{target.name}.part")
    try:
        with refusals(), pq.ParquetWriter(part, batches.schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        os.replace(part, target)  # noqa: PTH105  # the same, and says what it does
    finally:
        part.unlink(missing_ok=True)
