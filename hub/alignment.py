"""Which Storylines of two sides belong together, which of their turns, and which of these are the same.

Source: carrier.md 3, step 3, and 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from operator import attrgetter
from typing import Any, NamedTuple

import attrs

from hub.json import canonical
from hub.residuals import equal
from hub.storyline.model import Env, Prompt, Response, Storyline, ToolCall, Turn

MAX_BLOCK = 4_000_000
"""Product of the lengths of two lists of turns above which they are one block."""


# Storylines


class Matching(NamedTuple):
    """The Storylines of two sides, by index."""

    pairs: list[tuple[int, int]]
    """In the order of the first side."""
    first_only: list[int]
    second_only: list[int]


def match(first: Sequence[Storyline], second: Sequence[Storyline]) -> Matching:
    """Pair the Storylines of two sides: by document id, by run and attempt, the rest in order (carrier.md 3)."""
    pairs: list[tuple[int, int]] = []
    left, right = list(range(len(first))), list(range(len(second)))
    for key in (_document_id, _attempt):
        found = dict(_unique_pairs(first, left, second, right, key))
        pairs.extend(found.items())
        taken = set(found.values())
        left = [index for index in left if index not in found]
        right = [index for index in right if index not in taken]
    pairs.extend(zip(left, right, strict=False))
    both = min(len(left), len(right))
    return Matching(sorted(pairs), left[both:], right[both:])


_Key = Callable[[Storyline], object]


def _unique_pairs(
    first: Sequence[Storyline],
    left: Iterable[int],
    second: Sequence[Storyline],
    right: Iterable[int],
    key: _Key,
) -> Iterator[tuple[int, int]]:
    """Yield the indices whose keys are equal, and unique on both sides."""
    others = _unique(second, right, key)
    for value, index in _unique(first, left, key).items():
        if value in others:
            yield index, others[value]


def _unique(
    storylines: Sequence[Storyline], indices: Iterable[int], key: _Key
) -> dict[object, int]:
    keys = {index: key(storylines[index]) for index in indices}
    counts = Counter(keys.values())
    return {
        value: index for index, value in keys.items() if value is not None and counts[value] == 1
    }


def _document_id(storyline: Storyline) -> str:
    return storyline.document_id


def _attempt(storyline: Storyline) -> tuple[str, str] | None:
    run, attempt = storyline.run_id, storyline.attempt_id
    return None if run is None or attempt is None else (run, attempt)


# Turns


def align(first: Sequence[Turn], second: Sequence[Turn]) -> Iterator[tuple[int | None, int | None]]:
    """Yield index pairs of the turns that belong together, with None for a turn without a partner: carrier.md 5.

    A turn's key is its call ids and its message. Common keys at the head and at the tail are pairs; of each block that
    differs between them, as many turns as both sides have, in order.
    """
    shorter = min(len(first), len(second))
    head = 0
    while head < shorter and _is_alike(first[head], second[head]):
        head += 1
    tail = 0
    while tail < shorter - head and _is_alike(first[-1 - tail], second[-1 - tail]):
        tail += 1
    yield from ((index, index) for index in range(head))
    ends = len(first) - tail, len(second) - tail
    for a, b, c, d in _blocks(first[head : ends[0]], second[head : ends[1]]):
        paired = min(b - a, d - c)
        yield from ((head + a + n, head + c + n) for n in range(paired))
        yield from ((head + n, None) for n in range(a + paired, b))
        yield from ((None, head + n) for n in range(c + paired, d))
    yield from ((ends[0] + n, ends[1] + n) for n in range(tail))


def _blocks(first: Sequence[Turn], second: Sequence[Turn]) -> Iterator[tuple[int, int, int, int]]:
    if not first and not second:
        return
    if len(first) * len(second) > MAX_BLOCK:
        yield 0, len(first), 0, len(second)
        return
    keys = [_key(turn) for turn in first], [_key(turn) for turn in second]
    for _, a, b, c, d in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        yield a, b, c, d


def _is_alike(one: Turn, other: Turn) -> bool:
    """Tell whether two turns have one key, without making it where the messages are equal."""
    if _call_ids(one) != _call_ids(other):
        return False
    return equal(one.message, other.message) or _key(one) == _key(other)


def _key(turn: Turn) -> tuple[tuple[str, ...], str]:
    message = turn.message
    text = message if isinstance(message, str) else canonical(message).decode()
    return _call_ids(turn), text


def _call_ids(turn: Turn) -> tuple[str, ...]:
    calls = turn.tool_calls
    return tuple([call.tool_call_id for call in calls]) if calls else ()


# Equality

_MEMBERS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    model: attrgetter(*(attribute.name for attribute in attrs.fields(model)))
    for model in (Turn, ToolCall, Response, Env, Prompt)
}


def is_same(one: Any, other: Any) -> bool:
    """Tell whether two turns, or values in them, have the same wire JSON; compared by identity first."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    members = _MEMBERS.get(kind)
    if members is not None:
        return all(map(is_same, members(one), members(other)))
    if kind is list and one and type(one[0]) is ToolCall:
        return len(one) == len(other) and all(map(is_same, one, other))
    return equal(one, other)
