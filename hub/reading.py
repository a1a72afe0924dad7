"""What a plugin reads from and what it yields: records with their place, documents with their problems.

Source: design.md, the four hooks; storyline.md 6.4 (times).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from attrs import Factory, define

from hub.envelope import Envelope
from hub.errors import Json, Problem, Rule, show
from hub.storyline.times import Zone, is_timestamp, with_zone

T = TypeVar("T")


@define(eq=False)
class Record:
    """One JSON value of the input: the object, an element of the array, or a line."""

    value: Json
    place: str = ""
    """`line 7` or `element 3`, counted from 1; empty for a single object."""
    index: int = 0
    """Position among the records of the input, from 0."""
    zone: Zone | None = None
    """Zone for times without one (`--assume-timezone`); None: such times are kept, not guessed."""
    options: Mapping[str, str] = Factory(dict)
    """Read options of the format, as given."""
    name: str | None = None
    """Path of the file, for messages and for formats that store it; None for standard input."""
    envelopes: list[Envelope] = Factory(list)
    """Envelopes that the hub took out of the value: residuals.md 7.4."""
    extent: int | None = None
    """Bytes of the text that the value was read from, or of one that it is a part of; None for values in memory."""


@define(eq=False)
class Document(Generic[T]):
    """One source document: the format's own model of it, and what was found while reading it."""

    value: T
    """The format's own model; JSON, attrs objects, whatever `to_storyline` of the same plugin takes."""
    record: Record = Factory(lambda: Record(None))
    problems: list[Problem] = Factory(list)
    residuals: dict[str, Json] = Factory(dict)
    """Values set aside so far, by pointer into the source document; the mapping hands them to the Storylines."""
    aliases: dict[str, str] = Factory(dict)
    """Further pointers that stand for a node, with its pointer: the rows of one Storyline (carrier.md 2)."""

    @property
    def is_fatal(self) -> bool:
        """Whether no Storyline can be made of this document."""
        return any(problem.severity == "fatal" for problem in self.problems)

    def report(self, problem: Problem) -> None:
        """Add *problem*, found in this document."""
        self.problems.append(problem)

    def set_aside(self, pointer: str, value: Json, problem: Problem | None = None) -> None:
        """Keep *value* as the residual at *pointer*, because of *problem*."""
        self.residuals[pointer] = value
        if problem is not None:
            self.problems.append(problem)

    def read_time(
        self, value: Json, pointer: str, rule: Rule, *, numbers: bool = False
    ) -> str | int | float | None:
        """Return *value* if it is a Storyline time; else set it aside, report it, and return None.

        A time without a zone gets `Record.zone`, if there is one: the source text stays a residual, and a warning
        says so. *numbers*: the format itself defines epoch seconds. The caller has checked the JSON type.
        Source: storyline.md 6.4.
        """
        if value is None or is_timestamp(value, numbers=numbers):
            time: str | int | float | None = value
            return time
        self.residuals[pointer] = value
        zone = self.record.zone
        zoned = None if zone is None else with_zone(value, zone)
        if zoned is not None:
            message = f"no offset in {show(value)}, assumed {zone}"
            self.problems.append(rule.at(pointer, value, message=message))
            return zoned
        problem = rule.at(pointer, value)
        if zone is None and with_zone(value, _SOME_ZONE) is not None:
            hint = "--assume-timezone ZONE reads it"
            problem = problem._replace(message=f"{problem.message}; {hint}")
        self.problems.append(problem)
        return None


_SOME_ZONE = Zone("+00:00")
