"""Families: which Storyline nests in which, for formats that nest.

Source: storyline.md 8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

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
    positions: dict[str, list[int]] = defaultdict(list)
    for position, storyline in enumerate(storylines):
        positions[storyline.document_id].append(position)
    claimed = {child for storyline in storylines for child in storyline.child_ids or ()}
    placed: set[int] = set()
    result = Families()

    def place(root: int) -> None:
        placed.add(root)
        member = Member(storylines[root])
        result.roots.append(member)
        # A stack of open members, each with the rest of its children: depth-first, in `children` order.
        stack = [(member, root, iter(enumerate(member.storyline.child_ids or ())))]
        while stack:
            parent, parent_position, children = stack[-1]
            index, child_id = next(children, (None, ""))
            if index is None:
                stack.pop()
                continue
            free = [one for one in positions.get(child_id, ()) if one not in placed]
            if not free:
                result.missing.append((parent.storyline, index))
                continue
            position = next((one for one in free if one > parent_position), free[0])
            placed.add(position)
            child = Member(storylines[position])
            parent.children.append(child)
            stack.append((child, position, iter(enumerate(child.storyline.child_ids or ()))))

    for position, storyline in enumerate(storylines):
        if position not in placed and storyline.document_id not in claimed:
            place(position)
    for position, storyline in enumerate(storylines):
        if position not in placed:
            result.cyclic.append(storyline)
            place(position)
    return result
