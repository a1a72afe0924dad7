"""Grouping: which Storylines make one document, and under which key each is an attempt of it.

Source: actf.md 6.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from hub import Storyline
from hub_actf.model import SOURCE
from hub_actf.records import is_from_record
from hub_actf.values import is_blank


class Group:
    """The Storylines of one document."""

    def __init__(self) -> None:
        self.members: list[tuple[Storyline, str | None]] = []
        """In their order, each with its own attempt key if it has one."""
        self.attempts: dict[str, Storyline] = {}
        """The same by final key."""
        self.task_id = ""
        self.restored = False
        """Whether all are written as they were read: residuals.md 5."""
        self.is_record = False
        """Whether all are restored, and were read from a record: actf-records.md 5."""


def groups(storylines: Iterable[Storyline], *, conform: bool) -> list[Group]:
    """Return the documents that *storylines* make; those of one task are attempts at it.

    A Storyline joins the latest document with its group key that does not have its attempt key yet; where every one has
    it, it starts another.
    """
    found: list[Group] = []
    of_key: dict[str, _Candidates] = {}
    for storyline in storylines:
        own = attempt_key(storyline, restored=not conform and storyline.is_from(SOURCE))
        candidates = of_key.setdefault(group_key(storyline), _Candidates())
        group = candidates.latest_without(own)
        if group is None:
            group = candidates.start(own)
            found.append(group)
        group.members.append((storyline, own))
    for group in found:
        _settle(group, conform=conform)
    return found


def _settle(group: Group, *, conform: bool) -> None:
    """Decide how *group* is written, and the keys of its attempts."""
    storylines = [storyline for storyline, _ in group.members]
    group.task_id = task_id(storylines[0])
    group.restored = not conform and all(one.is_from(SOURCE) for one in storylines)
    group.is_record = group.restored and all(map(is_from_record, storylines))
    keys = [
        None if own is not None and is_blank(own) and not group.restored else own
        for _, own in group.members
    ]
    group.attempts = dict(zip(completed_keys(keys), storylines, strict=True))


def group_key(storyline: Storyline) -> str:
    """Return what the Storylines of one document have in common."""
    residuals = storyline.unknown_fields.get(SOURCE)
    if residuals is not None and residuals.fields:
        return residuals.source_document_id
    if storyline.parent is not None:  # a sub-agent is no attempt of its parent's task
        return storyline.document_id
    return run_or(storyline, storyline.session_id)


def task_id(storyline: Storyline) -> str:
    """Return the id of the task, from the first Storyline of a document."""
    residuals = storyline.unknown_fields.get(SOURCE)
    if residuals is not None and residuals.fields:
        return run_or(storyline, residuals.source_document_id)
    return group_key(storyline)


def run_or(storyline: Storyline, otherwise: str) -> str:
    """Return the run of *storyline* if it is set and not blank."""
    return otherwise if storyline.run_id is None or is_blank(storyline.run_id) else storyline.run_id


def attempt_key(storyline: Storyline, *, restored: bool) -> str | None:
    """Return the attempt key that *storyline* brings along; a blank one counts only where it was read."""
    key = storyline.attempt_id
    return None if key is None or (is_blank(key) and not restored) else key


def completed_keys(keys: Collection[str | None]) -> list[str]:
    """Return *keys*, with the smallest numbers that none of them has in the place of each None.

    The numbers have leading zeros to one length, so that they keep their order when they are read again.
    """
    missing = sum(key is None for key in keys)
    if not missing:
        return [key for key in keys if key is not None]
    taken = {key for key in keys if key is not None}
    width = 1
    while True:
        numbers = _free_numbers(taken, missing, width)
        if len(numbers[-1]) == width:
            break
        width = len(numbers[-1])
    free = iter(numbers)
    return [next(free) if key is None else key for key in keys]


def _free_numbers(taken: Collection[str], count: int, width: int) -> list[str]:
    """Return the first *count* numbers that are not *taken*, as they are or with leading zeros to *width*."""
    numbers: list[str] = []
    number = 0
    while len(numbers) < count:
        number += 1
        key = str(number).zfill(width)
        if key not in taken and str(number) not in taken:
            numbers.append(key)
    return numbers


class _Candidates:
    """The documents of one group key, to be asked for the latest that lacks an attempt key.

    For each attempt key, the documents that lack it are held as spans of their indices, latest last: only the latest
    ever leaves, so no document is looked at twice.
    """

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.lacking: dict[str, tuple[list[tuple[int, int]], int]] = {}
        """By attempt key: spans of documents without it, and how many documents there were."""

    def latest_without(self, key: str | None) -> Group | None:
        """Return the latest document without *key*, which then gets it; None if there is none."""
        if not self.groups:
            return None
        if key is None:
            return self.groups[-1]
        spans, seen = self.lacking.get(key, ([], 0))
        if seen < len(self.groups):
            spans.append((seen, len(self.groups)))
        self.lacking[key] = spans, len(self.groups)
        if not spans:
            return None
        start, end = spans.pop()
        if start < end - 1:
            spans.append((start, end - 1))
        return self.groups[end - 1]

    def start(self, key: str | None) -> Group:
        """Add a document, which gets *key*."""
        self.groups.append(Group())
        if key is not None:
            spans, _ = self.lacking.get(key, ([], 0))
            self.lacking[key] = spans, len(self.groups)
        return self.groups[-1]
