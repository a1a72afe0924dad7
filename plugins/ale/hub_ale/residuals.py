"""Own residuals of a Storyline that is written: skeletons that fit, source texts of times, call ids and names.

Source: ale.md 6.10.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hub import (
    INTEGERS,
    MISSING,
    PLACEHOLDER,
    Json,
    Storyline,
    Turn,
    WriteOptions,
    is_derived,
    pointer,
)
from hub_ale.model import STEP_METRICS, StepMetrics, write_source
from hub_ale.rules import SKELETON

_NODE = r"(?:/subagent_trajectories/(?:0|[1-9]\d*))*"
_STEP = r"/steps/(0|[1-9]\d*)"
_TIME = rf"/started_at|/ended_at|{_STEP}/timestamp"
_CALL = rf"{_STEP}/tool_calls/(0|[1-9]\d*)/(id|name)"


class Entry(NamedTuple):
    """A result in the observation of a turn."""

    turn: int
    """Position of the turn."""
    position: int
    result: Json


class Skeleton(NamedTuple):
    """A step that was folded: ale.md 5.7."""

    turn: int
    """Position of the turn that it stands on or after."""
    results: list[Entry] | None
    message: Entry | None = None
    error: Entry | None = None
    step_id: int | None = None
    timestamp: str | None = None
    metrics: StepMetrics | None = None
    extra: Mapping[str, Json] = {}

    @property
    def entries(self) -> Iterator[Entry]:
        """Every entry that it claims."""
        yield from self.results or ()
        if self.message is not None:
            yield self.message
        if self.error is not None:
            yield self.error


class OwnResiduals:
    """The residuals of ALE in one Storyline, sorted by what they are for."""

    def __init__(self, storyline: Storyline, options: WriteOptions) -> None:
        self.on: dict[int, Skeleton] = {}
        """Skeleton of the own observation of a step, by position of its turn."""
        self.after: dict[int, list[Skeleton]] = {}
        """Skeletons of the steps behind a turn, by its position."""
        self.claimed: dict[int, set[int]] = {}
        """Indices of the results that skeletons claim, by position of the turn."""
        self.times: dict[str, tuple[str, str]] = {}
        """Pointer and text, by the pointer relative to the node."""
        self.calls: dict[tuple[int, int, str], tuple[str, str]] = {}
        """Pointer and text, by step, call, and `id` or `name`."""
        self._used: set[str] = set()
        self._storyline = storyline
        self._options = options
        residuals = storyline.unknown_fields.get("ale")
        if residuals is not None:
            self._sort(residuals.fields)

    def _sort(self, fields: Mapping[str, Json]) -> None:
        skeletons: dict[int, tuple[str, Json]] = {}
        for place, value in fields.items():
            relative = place[re.match(_NODE, place, re.ASCII).end() :]  # type: ignore[union-attr]  # matches any text
            if (step := re.fullmatch(_STEP, relative, re.ASCII)) and int(step[1]) not in skeletons:
                skeletons[int(step[1])] = place, value
            elif (
                type(value) is str
                and re.fullmatch(_TIME, relative, re.ASCII)
                and relative not in self.times
            ):
                self.times[relative] = place, value
            elif type(value) is str and (call := re.fullmatch(_CALL, relative, re.ASCII)):
                key = int(call[1]), int(call[2]), call[3]
                if key in self.calls:
                    self._options.unplaced(self._storyline, place, value)
                else:
                    self.calls[key] = place, value
            else:
                self._options.unplaced(self._storyline, place, value)
        if skeletons:
            self._fit([skeletons[index] for index in sorted(skeletons)])

    # Skeletons

    def _fit(self, skeletons: list[tuple[str, Json]]) -> None:
        """Claim the entries of each skeleton that fits; drop the others with a warning."""
        turns = self._storyline.turns
        positions = {turn.turn_id: position for position, turn in enumerate(turns)}
        for place, value in skeletons:
            skeleton = _read_skeleton(value, turns, positions)
            if skeleton is None or not self._claim(skeleton, is_own="on" in value):
                at = pointer.join("unknown_fields", "sources", "ale", "fields", place)
                self._options.warn(SKELETON.at(at, value), self._storyline)

    def _claim(self, skeleton: Skeleton, *, is_own: bool) -> bool:
        """Claim the entries of *skeleton*; False if one is claimed already."""
        entries = [(entry.turn, entry.position) for entry in skeleton.entries]
        if len(set(entries)) != len(entries) or any(
            index in self.claimed.get(turn, ()) for turn, index in entries
        ):
            return False
        if is_own:
            if skeleton.turn in self.on:
                return False
            self.on[skeleton.turn] = skeleton
        else:
            self.after.setdefault(skeleton.turn, []).append(skeleton)
        for turn, index in entries:
            self.claimed.setdefault(turn, set()).add(index)
        return True

    # Texts

    def time(self, relative: str, present: Json) -> str | None:
        """Return the text for the time at *relative*, if the Storyline has none there or one that is made from it."""
        found = self.times.get(relative)
        if found is None or not (present is None or is_derived(present, found[1])):
            return None
        self._used.add(found[0])
        return found[1]

    def restore_calls(self, origins: Sequence[object]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the source ids and the source names of calls, by `tcid`; *origins* holds the turns of main steps."""
        restored: dict[str, dict[str, str]] = {"id": {}, "name": {}}
        for (step, index, key), (place, text) in self.calls.items():
            turn = origins[step] if step < len(origins) else None
            if not isinstance(turn, Turn) or index >= len(turn.tool_calls or ()):
                continue
            call = turn.tool_calls[index]  # type: ignore[index]  # has more
            if key == "id":
                fits = is_call_id_of(call.tool_call_id, text, turn.turn_id, index)
            else:
                fits = call.function_name == PLACEHOLDER
            if fits:
                restored[key][call.tool_call_id] = text
                self._used.add(place)
        return restored["id"], restored["name"]

    def finish(self) -> None:
        """Name the texts that were not put back to the hub, which carries them."""
        for place, text in (*self.times.values(), *self.calls.values()):
            if place not in self._used:
                self._options.unplaced(self._storyline, place, text)


_MEMBERS = {
    "after": {"after", "step_id", "timestamp", "metrics", "extra", "message", "results", "error"},
    "on": {"on", "results", "error"},
}


def _read_skeleton(value: Json, turns: list[Turn], positions: Mapping[int, int]) -> Skeleton | None:
    """Return the skeleton *value*; None if it does not fit *turns*."""
    if type(value) is not dict:
        return None
    key = "on" if "on" in value else "after"
    turn = value.get(key)
    if type(turn) is not int or turn not in positions or not value.keys() <= _MEMBERS[key]:
        return None
    if key == "on" and write_source(turns[positions[turn]].source) != "agent":
        return None
    last = positions[turn]
    found = {
        name: _entries(turns, positions, last, references)
        for name, references in (
            ("results", value.get("results", MISSING)),
            ("message", [value["message"]] if "message" in value else MISSING),
            ("error", [value["error"]] if "error" in value else MISSING),
        )
        if references is not MISSING
    }
    if any(entries is None for entries in found.values()) or not _has_step_types(value):
        return None
    message, error = (_single(found.get(name)) for name in ("message", "error"))
    if (message and not _is_message(message.result)) or (error and not _is_error(error.result)):
        return None
    skeleton = Skeleton(
        last,
        found.get("results"),
        message,
        error,
        value.get("step_id"),
        value.get("timestamp"),
        _metrics(value.get("metrics")),
        value.get("extra", {}),
    )
    # A step with nothing folded was never one.
    return skeleton if key == "on" or any(skeleton.entries) else None


def _entries(
    turns: list[Turn], positions: Mapping[int, int], last: int, references: Json
) -> list[Entry] | None:
    """Return the entries that *references* name, in the turn at *last* or before; None if one does not exist."""
    if type(references) is not list:
        return None
    entries = []
    for reference in references:
        if type(reference) is not list or [type(part) for part in reference] != [int, int]:
            return None
        turn_id, index = reference
        position = positions.get(turn_id)
        if position is None or position > last:
            return None
        results = _results(turns[position])
        if not 0 <= index < len(results):
            return None
        entries.append(Entry(position, index, results[index]))
    return entries


def _results(turn: Turn) -> list[Json]:
    observation = turn.observation
    results: Any = observation.get("results") if type(observation) is dict else None
    return results if type(results) is list else []


def _single(entries: list[Entry] | None) -> Entry | None:
    return entries[0] if entries else None


def _is_message(result: Json) -> bool:
    return (
        type(result) is dict
        and result.keys() == {"content"}
        and type(result["content"]) in (str, list)
    )


def _is_error(result: Json) -> bool:
    return (
        type(result) is dict
        and result.keys() == {"content", "is_error"}
        and type(result["content"]) is str
        and result["is_error"] is True
    )


def _has_step_types(value: Mapping[str, Json]) -> bool:
    """Tell whether the members that are written as they are have the types of a step."""
    step_id, metrics = value.get("step_id"), value.get("metrics")
    return (
        (step_id is None or (type(step_id) is int and step_id in INTEGERS))
        and type(value.get("timestamp", "")) is str
        and (metrics is None or (type(metrics) is dict and _fits_metrics(metrics)))
        and type(value.get("extra", {})) is dict
    )


def _fits_metrics(metrics: dict[str, Json]) -> bool:
    return STEP_METRICS.shape.fits(metrics) and type(metrics.get("cost_usd")) is not int


def _metrics(metrics: Json) -> StepMetrics | None:
    whole: Any = None if metrics is None else STEP_METRICS.complete(metrics)
    return whole  # type: ignore[no-any-return]  # complete


def is_call_id_of(tool_call_id: str, source: str, turn_id: int, index: int) -> bool:
    """Tell whether *tool_call_id* stands for the id *source* of the call at *index* of a turn."""
    base, number = (source, r"#\d+") if source else (positional_id(turn_id, index), r"(?:#\d+)?")
    rest = tool_call_id.removeprefix(base)
    return len(base) + len(rest) == len(tool_call_id) and bool(re.fullmatch(number, rest, re.ASCII))


def positional_id(turn_id: int, index: int) -> str:
    """Return the id of a call that has none: ale.md 5.4."""
    return f"call-{turn_id}-{index}"
