"""Document ids that are unique, for Storylines that go into one store.

Source: storyline.md 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from hub.errors import Problem
from hub.storyline.model import Storyline
from hub.storyline.rules import DOCUMENT_ID


def with_unique_ids(
    storylines: Iterable[Storyline],
) -> Iterator[tuple[Storyline, Problem | None]]:
    """Yield each Storyline with a document id that none before it has, and the warning where that took a new one.

    A Storyline that is renamed is a copy: the second `a` is `a#1`, the third `a#2`.
    """
    used: set[str] = set()
    numbers: dict[str, int] = {}
    for storyline in storylines:
        document_id = taken = storyline.document_id
        while document_id in used:
            numbers[taken] = numbers.get(taken, 0) + 1
            document_id = f"{taken}#{numbers[taken]}"
        used.add(document_id)
        if document_id == taken:
            yield storyline, None
        elif storyline.trajectory_id:
            yield attrs.evolve(storyline, trajectory_id=document_id), _renamed("/trajectory", taken)
        else:
            yield attrs.evolve(storyline, session_id=document_id), _renamed("/session", taken)


def _renamed(pointer: str, taken: str) -> Problem:
    return DOCUMENT_ID.at(pointer, taken)._replace(document=taken)
