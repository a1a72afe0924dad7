"""Reading Storylines back: few at a time are in memory, however large they are.

Source: storyline.md, A.4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from hub import HubError, Storyline
from hub_lance import tables
from hub_lance.arrow import dictionaries
from hub_lance.rebuild import rebuild
from hub_lance.schema import TABLES, TableName

FEWEST, MOST = 1, 256
"""Storylines that are read at once."""
ENOUGH = 32 * 2**20
"""Bytes of rows that are read at once, about."""


def storylines(datasets: Mapping[TableName, Any], ids: Iterable[str]) -> Iterator[Storyline]:
    """Yield the Storylines with *ids*, in that order; one that is not there is left out.

    Raises:
        Damaged: rows do not fit together.
    """
    remaining = iter(ids)
    count = 16
    while wanted := list(islice(remaining, count)):
        found = {name: _rows(datasets[name], wanted) for name in TABLES}
        size = sum(one.nbytes for one in found.values())
        yield from _rebuilt(found, wanted)
        count = (
            min(MOST, 2 * count) if 2 * size < ENOUGH else max(FEWEST, count * ENOUGH // (2 * size))
        )


def _rows(dataset: Any, ids: list[str]) -> Any:
    try:
        return dataset.to_table(filter=tables.one_of("document_id", ids))
    except (OSError, ValueError) as error:
        raise HubError(f"the store cannot be read: {error}") from error


def _rebuilt(found: Mapping[TableName, Any], ids: list[str]) -> Iterator[Storyline]:
    runs = {row["document_id"]: row for row in dictionaries(found["runs"], "runs")}
    steps, calls = (_by_document(dictionaries(found[name], name)) for name in list(TABLES)[1:])
    for document_id in ids:
        run = runs.get(document_id)
        if run is not None:
            yield rebuild(run, steps.get(document_id, []), calls.get(document_id, []))


def _by_document(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["document_id"]].append(row)
    return found
