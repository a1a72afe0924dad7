"""Which Storylines of two sides belong together, which of their turns, and which of these are the same.

Source: carrier.md 3, step 3, and 5.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from hub.json import canonical
from hub.residuals import equal
from hub.storyline.model import Env, Storyline, ToolCall, Turn

MAX_BLOCK = 4_000_000
"""Product of the lengths of two lists of turns above which they are one block."""
MAX_COMPARISONS = 50_000_000
"""The same for the work that finding blocks may be: pairs of equal turns, for each turn of the shorter list.

It is far from what trajectories need. Where the same few messages come again and again, between others that differ, the
time would grow with the third power of their number.
"""


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
    """Return which of *indices* has each key that one of them has alone; None is no key."""
    found: dict[object, int] = {}
    repeated: set[object] = {None}
    for index in indices:
        value = key(storylines[index])
        if value in found:
            repeated.add(value)
        found[value] = index
    return {value: index for value, index in found.items() if value not in repeated}


def _document_id(storyline: Storyline) -> str:
    return storyline.document_id


def _attempt(storyline: Storyline) -> tuple[str, str] | None:
    run, attempt = storyline.run_id, storyline.attempt_id
    return None if run is None or attempt is None else (run, attempt)


# Turns


def align(first: Sequence[Turn], second: Sequence[Turn]) -> list[tuple[int | None, int | None]]:
    """Return index pairs of the turns that belong together, with None for a turn without a partner: carrier.md 5.

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
    pairs: list[tuple[int | None, int | None]] = [(index, index) for index in range(head)]
    ends = len(first) - tail, len(second) - tail
    for a, b, c, d in _blocks(first[head : ends[0]], second[head : ends[1]]):
        paired = min(b - a, d - c)
        pairs.extend((head + a + n, head + c + n) for n in range(paired))
        pairs.extend((head + n, None) for n in range(a + paired, b))
        pairs.extend((None, head + n) for n in range(c + paired, d))
    pairs.extend((ends[0] + n, ends[1] + n) for n in range(tail))
    return pairs


def _blocks(first: Sequence[Turn], second: Sequence[Turn]) -> Iterator[tuple[int, int, int, int]]:
    if not first and not second:
        return
    if len(first) * len(second) > MAX_BLOCK:
        yield 0, len(first), 0, len(second)
        return
    keys = [_key(turn) for turn in first], [_key(turn) for turn in second]
    if _number_of_equal(*keys) * min(map(len, keys)) > MAX_COMPARISONS:
        yield 0, len(first), 0, len(second)
        return
    for _, a, b, c, d in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        yield a, b, c, d


def _number_of_equal(first: Sequence[object], second: Sequence[object]) -> int:
    """Return how many pairs of equal values there are."""
    counts = Counter(second)
    return sum(counts[one] for one in first)


def _is_alike(one: Turn, other: Turn) -> bool:
    """Tell whether two turns have one key, without making it where the messages are equal."""
    calls, others = one.tool_calls or (), other.tool_calls or ()
    if len(calls) != len(others):
        return False
    for call, match in zip(calls, others, strict=True):
        if call.tool_call_id != match.tool_call_id:
            return False
    same = one.message is other.message or equal(one.message, other.message)
    return same or _key(one) == _key(other)


def _key(turn: Turn) -> tuple[tuple[str, ...], str]:
    message = turn.message
    text = message if isinstance(message, str) else canonical(message).decode()
    return _call_ids(turn), text


def _call_ids(turn: Turn) -> tuple[str, ...]:
    calls = turn.tool_calls
    return tuple([call.tool_call_id for call in calls]) if calls else ()


# Equality, field by field and by identity first: what a plugin passes on costs nothing.


def are_same(first: Sequence[Turn], second: Sequence[Turn]) -> bool:
    """Tell whether two lists of turns are equal."""
    return len(first) == len(second) and all(map(is_same, first, second))


def is_same(one: Turn, other: Turn) -> bool:
    """Tell whether two turns are equal, `1` and `1.0` apart."""
    return (
        one.turn_id == other.turn_id
        and one.source == other.source
        and (one.message is other.message or equal(one.message, other.message))
        and one.kind == other.kind
        and (one.timestamp is other.timestamp or equal(one.timestamp, other.timestamp))
        and one.reasoning_content == other.reasoning_content
        and (
            one.reasoning_effort is other.reasoning_effort
            or equal(one.reasoning_effort, other.reasoning_effort)
        )
        and (
            one.tool_calls is other.tool_calls or _are_same_calls(one.tool_calls, other.tool_calls)
        )
        and (one.observation is other.observation or equal(one.observation, other.observation))
        and (one.metrics is other.metrics or equal(one.metrics, other.metrics))
        and one.model_name == other.model_name
        and one.llm_call_count == other.llm_call_count
        and one.is_copied_context == other.is_copied_context
        and one.latency_ms == other.latency_ms
        and one.ttft_ms == other.ttft_ms
        and (one.extra is other.extra or equal(one.extra, other.extra))
        and (one.env is other.env or _is_same_env(one.env, other.env))
        and one.prompt == other.prompt
        and (one.finished_at is other.finished_at or equal(one.finished_at, other.finished_at))
    )


def _are_same_calls(first: list[ToolCall] | None, second: list[ToolCall] | None) -> bool:
    if first is None or second is None:
        return first is second
    return len(first) == len(second) and all(map(_is_same_call, first, second))


def _is_same_call(one: ToolCall, other: ToolCall) -> bool:
    return (
        one.tool_call_id == other.tool_call_id
        and one.function_name == other.function_name
        and (one.arguments is other.arguments or equal(one.arguments, other.arguments))
        and (one.result is other.result or equal(one.result, other.result))
        and one.duration_ms == other.duration_ms
        and (one.extra is other.extra or equal(one.extra, other.extra))
        and one.kind == other.kind
        and one.response == other.response
    )


def _is_same_env(one: Env | None, other: Env | None) -> bool:
    return one == other and equal(one and one.state, other and other.state)
