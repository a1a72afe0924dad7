"""Families: which Storyline nests in which, for formats that nest.

Source: storyline.md 8.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence

from attrs import Factory, define

from hub.storyline.model import Storyline


@define(eq=False)
class Member:
    """A Storyline in its family."""

    storyline: Storyline
    children: list[Member] = Factory(list)


@define(eq=False)
class Families:
    """The members of a batch as trees."""

    roots: list[Member] = Factory(list)
    missing: list[tuple[Storyline, int]] = Factory(list)
    """Each listed child that is not in the batch or has its place already: its parent, and its index in `child_ids`."""
    cyclic: list[Storyline] = Factory(list)
    """Roots only because they were left over: each is, at some remove, its own parent."""


def families(storylines: Sequence[Storyline]) -> Families:
    """Return the trees that `child_ids` make of *storylines*; nesting depth is not bounded by recursion."""
    batch = _Batch(storylines)
    claimed = {child for storyline in storylines for child in storyline.child_ids or ()}
    result = Families()
    for position, storyline in enumerate(storylines):
        if storyline.document_id not in claimed:
            batch.take(position)
            result.roots.append(_family(batch, position, result))
    for position, storyline in enumerate(storylines):
        if batch.is_free(position):
            batch.take(position)
            result.cyclic.append(storyline)
            result.roots.append(_family(batch, position, result))
    return result


class _Batch:
    """The Storylines that have no place yet."""

    def __init__(self, storylines: Sequence[Storyline]) -> None:
        self.storylines = storylines
        self._free: dict[str, list[int]] = defaultdict(list)
        """Positions by document id, each list sorted."""
        for position, storyline in enumerate(storylines):
            self._free[storyline.document_id].append(position)

    def is_free(self, position: int) -> bool:
        free = self._free[self.storylines[position].document_id]
        index = bisect_left(free, position)
        return index < len(free) and free[index] == position

    def take(self, position: int) -> None:
        free = self._free[self.storylines[position].document_id]
        del free[bisect_left(free, position)]

    def take_child(self, document_id: str, parent: int) -> int | None:
        """Take the first free Storyline of *document_id* behind *parent*, else the first one; None if none is free."""
        free = self._free.get(document_id)
        if not free:
            return None
        index = bisect_right(free, parent)
        return free.pop(index if index < len(free) else 0)


def _family(batch: _Batch, position: int, result: Families) -> Member:
    """Return the Storyline at *position* with everything that nests in it; it is taken already."""
    root = Member(batch.storylines[position])
    # Open members, each with its position and the rest of its children: depth-first, in `children` order.
    stack: list[tuple[Member, int, Iterator[tuple[int, str]]]] = []

    def open_member(member: Member, position: int) -> None:
        stack.append((member, position, iter(enumerate(member.storyline.child_ids or ()))))

    open_member(root, position)
    while stack:
        parent, parent_position, children = stack[-1]
        listed = next(children, None)
        if listed is None:
            stack.pop()
            continue
        index, child_id = listed
        child_position = batch.take_child(child_id, parent_position)
        if child_position is None:
            result.missing.append((parent.storyline, index))
            continue
        child = Member(batch.storylines[child_position])
        parent.children.append(child)
        open_member(child, child_position)
    return root
