"""Which Storylines of a store are written together: those that may belong into one document.

A conversion gets the Storylines of a whole input at once; a store may hold a million inputs. So Storylines are put
together by what documents have in common: the source document, the family, and where a format gathers attempts at a
task into one document, the run. Source: storyline.md 8; carrier.md 1 (batch).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hub import FormatInfo
from hub_lance import query
from hub_lance.tables import quoted
from hub_lance.texts import stored, value_of

Key = tuple[str, ...]


def groups(database: Any, info: FormatInfo, where: str | None) -> Iterator[list[str]]:
    """Yield the document ids of each group, in the order of its first Storyline, and in it in the order of the store.

    *where* is an SQL condition over `runs`.
    """
    if info.batch == "input":  # the hub's own format: each is a document
        for document_id, *_ in _runs(database, info, where):
            yield [document_id]
        return
    links = _Links()
    first: dict[Key, int] = {}
    ids: list[str] = []
    for number, row in enumerate(_runs(database, info, where)):
        ids.append(row[0])
        links.add(number)
        for key in _keys(row, info):
            links.join(number, first.setdefault(key, number))
    found: dict[int, list[str]] = {}
    for number, document_id in enumerate(ids):
        found.setdefault(links.root(number), []).append(document_id)
    yield from found.values()


def _runs(database: Any, info: FormatInfo, where: str | None) -> Iterator[tuple[Any, ...]]:
    mark = quoted(f'"{info.source}"')
    condition = "" if where is None else f"WHERE ({where}\n)"
    sql = f"""
        SELECT document_id, session_id, run_id, origin_json, parent_json, child_session_ids_json,
            CASE WHEN contains(unknown_fields_json, {mark}) THEN unknown_fields_json END
        FROM runs {condition} ORDER BY storage_ordinal
    """  # noqa: S608  # a database that is only read
    for batch in query.result(database, sql):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _keys(row: tuple[Any, ...], info: FormatInfo) -> Iterator[Key]:
    """Yield what a Storyline has in common with those that belong to it."""
    document_id, session_id, run_id, *cells = row
    origin, parent, children, unknown = (None if one is None else value_of(one) for one in cells)
    yield "document", document_id
    if parent is not None:
        yield "document", stored(parent["psid"])
    for child in children or ():
        yield "document", stored(child)
    if origin is not None and origin.get("document_id") is not None:
        yield "origin", origin["format"], origin["document_id"]
    source = unknown["sources"].get(info.source) if unknown is not None else None
    if source is not None:
        yield "source", source["source_document_id"]
    if info.gathers:
        yield "session", session_id
        if run_id is not None:
            yield "session", run_id


class _Links:
    """Numbers, and which of them belong together; the smallest of those stands for all."""

    def __init__(self) -> None:
        self._above: list[int] = []

    def add(self, number: int) -> None:
        self._above.append(number)

    def root(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._above[second] = first
