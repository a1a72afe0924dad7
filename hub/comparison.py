"""Where two lists of Storylines differ, by pointer, their turns aligned.

The formats that they were read from play no part. What belongs together is as in carrier.md 3 and 5, what is equal as
in 4.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Literal

from attrs import Factory, frozen

from hub.alignment import align, is_same, match
from hub.errors import MISSING, Json, show
from hub.pointer import escape
from hub.residuals import equal
from hub.storyline.model import Storyline, Turn
from hub.wire import root_to_wire, to_wire, turn_to_wire

Kind = Literal["added", "removed", "changed"]


@frozen
class Difference:
    """One place where two Storylines differ: a scalar, or a whole value that only one side has."""

    pointer: str
    """Into the first Storyline, or where only the second has the value, into that."""
    first: Json
    """`MISSING` where there is nothing; as is the other one."""
    second: Json

    @property
    def kind(self) -> Kind:
        """Whether the value is in the second Storyline only, in the first only, or in both."""
        if self.first is MISSING:
            return "added"
        return "removed" if self.second is MISSING else "changed"

    def to_json(self) -> dict[str, Json]:
        """Return the difference for programs."""
        sides = {"first": self.first, "second": self.second}
        values = {side: value for side, value in sides.items() if value is not MISSING}
        return {"kind": self.kind, "pointer": self.pointer, **values}

    def __str__(self) -> str:
        return f"{self.pointer}: {show(self.first)} | {show(self.second)}"


@frozen
class TurnPair:
    """Two turns that belong together, or one without a partner."""

    first: int | None
    second: int | None
    differences: list[Difference] = Factory(list)
    turns: tuple[Turn | None, Turn | None] = (None, None)

    @property
    def is_equal(self) -> bool:
        """Whether both sides have the turn, and it is the same."""
        return self.first is not None and self.second is not None and not self.differences

    def to_json(self) -> dict[str, Json]:
        """Return the pair for programs."""
        differences = [difference.to_json() for difference in self.differences]
        return {"first": self.first, "second": self.second, "differences": differences}


@frozen
class StorylinePair:
    """Two Storylines that belong together."""

    first: int
    second: int
    document_id: str
    """Of the first."""
    differences: list[Difference]
    """Those that are not in turns."""
    turns: list[TurnPair]
    """All turns, aligned."""

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and all(turn.is_equal for turn in self.turns)

    def to_json(self) -> dict[str, Json]:
        """Return the pair for programs; turns that are equal are left out."""
        return {
            "first": self.first,
            "second": self.second,
            "document_id": self.document_id,
            "equal": self.is_equal,
            "differences": [difference.to_json() for difference in self.differences],
            "turns": [turn.to_json() for turn in self.turns if not turn.is_equal],
        }


@frozen
class Comparison:
    """What two lists of Storylines have in common, and what not."""

    pairs: list[StorylinePair]
    first_only: list[tuple[int, str]]
    """Index and document id of the Storylines that only the first list has."""
    second_only: list[tuple[int, str]]

    @property
    def is_equal(self) -> bool:
        """Whether both lists have the same Storylines, in whatever order."""
        return not (self.first_only or self.second_only) and all(
            pair.is_equal for pair in self.pairs
        )

    def differences(self) -> Iterator[tuple[StorylinePair, Difference]]:
        """Yield every difference between Storylines that both lists have."""
        for pair in self.pairs:
            yield from ((pair, difference) for difference in pair.differences)
            for turn in pair.turns:
                yield from ((pair, difference) for difference in turn.differences)

    def to_json(self) -> dict[str, Json]:
        """Return the comparison for programs; of Storylines that are equal only their ids."""
        return {
            "version": 1,
            "equal": self.is_equal,
            "storylines": [pair.to_json() for pair in self.pairs],
            "first_only": [_side(one) for one in self.first_only],
            "second_only": [_side(one) for one in self.second_only],
        }

    def to_text(self, *, limit: int = 20, width: int = 100) -> str:
        """Return the comparison for people; nothing when all is equal.

        Of each pair of Storylines that differ the aligned turns side by side, and the first *limit* differences.
        """
        lines: list[str] = []
        for pair in self.pairs:
            if not pair.is_equal:
                lines.extend(_lines(pair, limit, width))
        lines.extend(f"{show(name)}: only in the first" for _, name in self.first_only)
        lines.extend(f"{show(name)}: only in the second" for _, name in self.second_only)
        return "".join(f"{line}\n" for line in lines)


def _side(storyline: tuple[int, str]) -> dict[str, Json]:
    return {"index": storyline[0], "document_id": storyline[1]}


def compare(
    first: Sequence[Storyline], second: Sequence[Storyline], *, ignore: Collection[str] = ()
) -> Comparison:
    """Compare two lists of Storylines, read from whatever formats.

    *ignore* are root members that do not count, by their keys: `origin` and `unknown_fields` say how a Storyline was
    stored rather than what happened in it.
    """
    matching = match(first, second)
    return Comparison(
        pairs=[_pair(first, one, second, other, ignore) for one, other in matching.pairs],
        first_only=[(index, first[index].document_id) for index in matching.first_only],
        second_only=[(index, second[index].document_id) for index in matching.second_only],
    )


def _pair(
    first: Sequence[Storyline],
    one: int,
    second: Sequence[Storyline],
    other: int,
    ignore: Collection[str],
) -> StorylinePair:
    before, after = first[one], second[other]
    return StorylinePair(
        first=one,
        second=other,
        document_id=before.document_id,
        differences=list(_differences(_root(before, ignore), _root(after, ignore), "", "")),
        turns=[
            _turn_pair(before.turns, index, after.turns, partner)
            for index, partner in align(before.turns, after.turns)
        ],
    )


def _root(storyline: Storyline, ignore: Collection[str]) -> dict[str, Json]:
    root = root_to_wire(storyline)
    if storyline.unknown_fields:
        root["unknown_fields"] = to_wire(storyline)["unknown_fields"]
    return {key: value for key, value in root.items() if key not in ignore}


def _turn_pair(
    first: Sequence[Turn], one: int | None, second: Sequence[Turn], other: int | None
) -> TurnPair:
    before = None if one is None else first[one]
    after = None if other is None else second[other]
    if before is not None and after is not None and is_same(before, after):
        return TurnPair(one, other, [], (before, after))
    differences = list(
        _differences(
            MISSING if before is None else turn_to_wire(before),
            MISSING if after is None else turn_to_wire(after),
            f"/turns/{one}",
            f"/turns/{other}",
        )
    )
    return TurnPair(one, other, differences, (before, after))


def _differences(before: Json, after: Json, at: str, other: str) -> Iterator[Difference]:
    """Yield where two values differ, in document order; *at* is their pointer in the first, *other* in the second."""
    todo = [(before, after, at, other)]
    while todo:
        before, after, at, other = todo.pop()
        if before is MISSING:
            yield Difference(other, before, after)
        elif type(before) is type(after) and type(before) in (dict, list) and before and after:
            inner = [
                (one, two, f"{at}/{escape(key)}", f"{other}/{escape(key)}")
                for key, one, two in _members(before, after)
                if not equal(one, two)
            ]
            todo.extend(reversed(inner))
        elif not equal(before, after):
            yield Difference(at, before, after)


def _members(before: Json, after: Json) -> Iterator[tuple[str | int, Json, Json]]:
    """Yield each key or index that one of two objects or arrays has, with the value on both sides."""
    if isinstance(before, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield key, before.get(key, MISSING), after.get(key, MISSING)
        return
    for index in range(max(len(before), len(after))):
        yield (
            index,
            before[index] if index < len(before) else MISSING,
            after[index] if index < len(after) else MISSING,
        )


# For people


def _lines(pair: StorylinePair, limit: int, width: int) -> Iterator[str]:
    yield f"{show(pair.document_id)}:"
    columns = (width - 5) // 2
    for is_equal, run in groupby(pair.turns, key=lambda turn: turn.is_equal):
        turns = list(run)
        if is_equal:
            yield f"  = {len(turns)} equal {'turn' if len(turns) == 1 else 'turns'}"
            continue
        for turn in turns[:limit]:
            start = _shown_from(*turn.turns, columns // 3)
            sides = [
                _cut(_title(index, one, start), columns)
                for index, one in zip((turn.first, turn.second), turn.turns, strict=True)
            ]
            yield f"  {_MARKS[turn.first is None, turn.second is None]} {sides[0]:<{columns}} {sides[1]}".rstrip()
        if len(turns) > limit:
            yield f"  … and {len(turns) - limit} more turns that differ"
    found = [*pair.differences, *(one for turn in pair.turns for one in turn.differences)]
    for difference in found[:limit]:
        yield f"  {difference}"
    if len(found) > limit:
        yield f"  … and {len(found) - limit} more"


_MARKS = {(False, False): "~", (True, False): "+", (False, True): "-"}


_BEFORE = 8
"""Characters that are shown before the first one that differs."""


def _shown_from(before: Turn | None, after: Turn | None, room: int) -> int:
    """Return from which character on two messages are shown: where they differ, if more than *room* are the same."""
    if before is None or after is None:
        return 0
    texts = (before.message, after.message)
    if not all(isinstance(text, str) for text in texts) or texts[0] == texts[1]:
        return 0
    pairs = enumerate(zip(*texts, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(map(len, texts)))
    return same - _BEFORE if same > max(room, _BEFORE) else 0


def _title(index: int | None, turn: Turn | None, start: int) -> str:
    if turn is None:
        return ""
    calls = "".join(f" {call.function_name}()" for call in turn.tool_calls or ())
    text = f"…{turn.message[start:]}" if start else turn.message
    message = f" {show(text)}" if turn.message or not calls else ""
    return f"{index} {turn.source}{message}{calls}"


def _cut(text: str, columns: int) -> str:
    return text if len(text) <= columns else text[: columns - 1] + "…"
