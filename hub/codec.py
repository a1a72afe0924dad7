"""Storylines and their wire JSON.

A document is read by the fast converter; what it refuses is read again by the detailed one, to say what is wrong and
where. Reading never coerces: `"3"` is not 3, `True` is not 1. The converters are imported when something is read:
writing a sound Storyline needs none. Source: storyline.md 1 to 7.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from hub.errors import MISSING, InvalidDocument, Json, Problem, UnsupportedVersion
from hub.storyline import rules
from hub.storyline.model import Storyline, Turn
from hub.storyline.typed import is_typed
from hub.wire import to_wire


def from_wire(data: Json) -> Storyline:
    """Return the Storyline that wire JSON *data* spells.

    Raises:
        UnsupportedVersion: `schema_version` is another one; nothing else is checked.
        InvalidDocument: *data* breaks rules; holds all of them, first those of the structure.
    """
    if type(data) is not dict:
        raise InvalidDocument([rules.OBJECT.at("", data)])
    version = data.get("schema_version")
    if type(version) is str and version != rules.SCHEMA_VERSION:
        raise UnsupportedVersion([rules.VERSION.at("/schema_version", version)])
    from hub import converters

    body = {key: member for key, member in data.items() if key not in _NOT_IN_MODEL}
    storyline: Storyline | None = None
    problems = list(_problems_of_others(data))
    try:
        storyline = converters.fast().structure(body, Storyline)
    except Exception:  # noqa: BLE001  # whatever it is, the detailed converter says it precisely
        problems.extend(converters.problems(body, Storyline))
    is_sound = storyline is not None and rules.are_sound(storyline.turns)
    # Turns that are sound are not looked into again.
    problems.extend(rules.check({**data, "turns": []} if is_sound else data))
    if problems or storyline is None:
        raise InvalidDocument(problems)
    return storyline


_NOT_IN_MODEL = frozenset({"schema_version", "unknown_key_counts"})
"""Root members that have one legal value each: the version, and what is derived from the residuals."""


def _problems_of_others(data: dict[str, Json]) -> Iterator[Problem]:
    """Yield what is wrong with the structure of the root members that are not in the model."""
    version = data.get("schema_version", MISSING)
    if type(version) is not str:
        rule = rules.REQUIRED if version is MISSING else rules.TYPE
        yield rule.at("/schema_version", version, expected=rules.VERSION.expected)
    counted = data.get("unknown_key_counts")
    if counted is not None and type(counted) is not dict:
        yield rules.TYPE.at("/unknown_key_counts", counted, expected="an object")


def to_valid_wire(storyline: Storyline) -> dict[str, Json]:
    """Return the wire JSON of *storyline* after it has been validated: storyline.md 7.

    Raises:
        InvalidDocument: *storyline* breaks rules; the problems name its document id.
    """
    wire = to_wire(storyline)
    if _is_sound(storyline, wire):
        return wire
    try:
        from_wire(wire)
    except InvalidDocument as error:
        problems = [problem._replace(document=storyline.document_id) for problem in error.problems]
        raise InvalidDocument(problems) from None
    return wire


def _is_sound(storyline: Storyline, wire: dict[str, Json]) -> bool:
    """Tell whether *storyline*, whose wire JSON is *wire*, is certainly valid; False says nothing."""
    if not (is_typed(storyline) and rules.are_sound(storyline.turns)):
        return False
    return next(rules.check({**wire, "turns": []}, counts=False), None) is None


def check_model(storyline: Storyline) -> Iterator[Problem]:
    """Yield every rule that *storyline*, whose types are right, breaks: storyline.md 7."""
    is_sound = rules.are_sound(storyline.turns)
    wire = to_wire(attrs.evolve(storyline, turns=[]) if is_sound else storyline)
    yield from rules.check(wire, counts=False)


# Parts of a Storyline


def root_from_wire(wire: dict[str, Json]) -> Storyline:
    """Return the Storyline without turns that a root element spells; raises as `from_wire`."""
    return from_wire({**wire, "turns": []})


def turn_from_wire(wire: Json) -> Turn:
    """Return the turn that *wire* spells.

    Raises:
        InvalidDocument: it is none; pointers are relative to the turn.
    """
    from hub import converters

    try:
        turn: Turn = converters.fast().structure(wire, Turn)
    except Exception:  # noqa: BLE001  # whatever it is, the detailed converter says it precisely
        raise InvalidDocument(converters.problems(wire, Turn)) from None
    return turn
