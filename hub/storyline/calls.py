"""Call ids, turn ids, and the call that a result answers.

Source: storyline.md 4.4 and 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from hub.errors import MISSING, Json

LEAST, GREATEST = -(2**63), 2**63 - 1
INTEGERS = range(LEAST, GREATEST + 1)
"""What an integer slot takes: storyline.md 1, type words."""


def is_integer(value: Json) -> TypeGuard[int]:
    """Tell whether an integer slot takes *value*; comparing is many times faster than asking so long a range."""
    return type(value) is int and LEAST <= value <= GREATEST


def unique_call_ids(
    ids: Sequence[str | None], positional: Iterable[str], *, reserved: Iterable[str] = ()
) -> list[str]:
    """Return an id for each call of a trajectory, in order, all different.

    *ids* are the usable source ids, None where there is none; *positional* the ids that stand in for those. A source
    id keeps its text the first time it occurs; after that it gets `#2`, `#3`, ... No id that is made up is one of
    *reserved*: say, references to calls that are not there, which must not come to mean a call.
    """
    if None not in ids and len(set(ids)) == len(ids):
        return list(ids)  # type: ignore[arg-type]  # none is None
    taken = {*reserved, *(text for text in ids if text is not None)}
    used: set[str] = set()
    numbers: dict[str, int] = {}
    chosen = []
    for source, fallback in zip(ids, positional, strict=True):
        base = fallback if source is None else source
        text = base
        while text in used or (text in taken and text != source):
            numbers[base] = numbers.get(base, 1) + 1
            text = f"{base}#{numbers[base]}"
        used.add(text)
        chosen.append(text)
    return chosen


def turn_ids(step_ids: Sequence[Json]) -> tuple[list[int], list[int]]:
    """Return the turn ids of steps with *step_ids* (`MISSING` where there is none), and which ids are residuals.

    All different integers are the turn ids. Otherwise the turn ids are the positions 1 ... n, and the second list holds
    the indices of the ids that are there and are not that very integer.
    """
    if all(map(is_integer, step_ids)) and len(set(step_ids)) == len(step_ids):
        return list(step_ids), []
    positions = list(range(1, len(step_ids) + 1))
    return positions, [
        index
        for index, one in enumerate(step_ids)
        if one is not MISSING and not (type(one) is int and one == index + 1)
    ]


class CallIndex:
    """The calls seen so far, to be asked which one a result answers."""

    def __init__(self) -> None:
        self._nearest: dict[str, tuple[int, list[str], list[None]]] = {}
        """By source id: the nearest turn with such a call, its calls with that id, an item for each result they got."""

    def add(self, turn: int, source_id: str, tool_call_id: str) -> None:
        """Add a call of the turn at index *turn*: its id in the source, and its id in the Storyline."""
        calls = self._nearest.get(source_id)
        if calls is None or calls[0] != turn:
            self._nearest[source_id] = turn, [tool_call_id], []
        else:
            calls[1].append(tool_call_id)

    def find(self, source_id: str) -> int | None:
        """Return the index of the turn whose call a result with *source_id* answers, without answering it."""
        calls = self._nearest.get(source_id)
        return None if calls is None else calls[0]

    def answer(self, source_id: str) -> tuple[int, str] | None:
        """Return turn index and id of the call that a result with *source_id* answers; None if there is none.

        The nearest turn that has such a call, and there the first that has no result yet, else the first.
        """
        calls = self._nearest.get(source_id)
        if calls is None:
            return None
        turn, ids, results = calls
        position = len(results) if len(results) < len(ids) else 0
        results.append(None)
        return turn, ids[position]
