"""How much the hub takes of what comes from outside: every limit, in one place.

Those in `Limits` hold for one input, and who calls chooses them: `--limit NAME=NUMBER`, the variable `HUB_LIMITS`, or
the parameter `limits` of the Python API. The constants hold everywhere: what a document says must not depend on who
opens it. Source: validation.md 2.1; carrier.md 9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from hub.errors import Problem, Rule, UsageError

DEPTH = 512
"""Levels of arrays and objects that a document may have, when it is read and when it is written."""
MAX_VALUES = 100_000
"""Values that a scan reads one by one inside its records, and members of records; what is behind is passed over."""
MAX_TEXT_DEPTH = 256
"""Levels of a JSON text inside a string: its value goes into a document that has levels of its own."""
MAX_ENTRIES = 1_000_000
"""Entries of a node in a carrier."""
MAX_OPERATIONS = 10_000
"""Operations of an entry, turns added and removed whole not counted."""
MAX_TOKENS = 100
"""Tokens of a pointer in an operation."""
MAX_COPIED = 2**28
"""Characters of all strings together that the patches of one node copy."""
MAX_PATHS = 256
"""Files of a directory that a plugin is shown to tell whether it is of its format."""


class Limits(NamedTuple):
    """How much is taken of one input; beyond each of them there is an error with a rule of its own.

    `hub.read("run.json", limits=hub.Limits(size=10_000_000))` lowers one of them for a file from a stranger.
    """

    size: int = 4 << 30
    """Bytes of a file, or of all files of an archive together, unpacked: `input.size`."""
    line: int = 1 << 30
    """Bytes of a line of JSON Lines: `input.line-size`."""
    records: int = 100_000_000
    """Lines or elements that are read: `input.records`."""
    members: int = 1_000_000
    """Files in an archive: `input.members`."""
    depth: int = DEPTH
    """Levels of arrays and objects, 512 at most: `input.depth`."""
    envelope: int = 1 << 30
    """Bytes of an envelope, as compact JSON: `envelope.size`."""
    problems: int = 100_000
    """Problems of an input that are kept to be listed; those beyond are counted: `input.problems`."""
    detect: int = 256 << 20
    """Bytes that are looked at to find the format: `detect.unknown`."""

    @classmethod
    def of(cls, chosen: Mapping[str, str | int]) -> Limits:
        """Return the limits with those *chosen*, by name: `{"size": "2GiB", "depth": 100}`.

        Raises:
            UsageError: there is no such limit, or it cannot be that.
        """
        for name in chosen:
            if name not in cls._fields:
                raise UsageError(f"no limit {name!r}; there are {', '.join(cls._fields)}")
        return checked(cls(**{name: number(name, value) for name, value in chosen.items()}))


DEFAULTS = Limits()
LARGEST = 1 << 62
"""What no input reaches: so much as to be no limit."""


def checked(limits: Limits) -> Limits:
    """Return *limits*, if each of them can be one.

    Raises:
        UsageError: one of them is no number, below 1, or beyond what is safe.
    """
    if limits is DEFAULTS:
        return limits
    for name, value in limits._asdict().items():
        most = DEPTH if name == "depth" else LARGEST
        if type(value) is not int or not 0 < value <= most:
            raise UsageError(f"limit {name}: expected a number from 1 to {most}, found {value!r}")
    return limits


UNITS = {"K": 1, "M": 2, "G": 3, "T": 4}
_NUMBER = r"([0-9]{1,18}) ?(?:([KMGT])(i?))?B?"


def number(name: str, value: str | int) -> int:
    """Return the limit *name* that *value* says: a number, or one with a unit, `10MB` of 1000 and `10MiB` of 1024.

    Raises:
        UsageError: it says none.
    """
    found = re.fullmatch(_NUMBER, str(value), re.IGNORECASE | re.ASCII)
    if found is None:
        raise UsageError(f"limit {name}: {value!r} is no number, such as 1000, 10MB or 2GiB")
    digits, unit, is_binary = found.groups()
    base = 1024 if is_binary else 1000
    factor: int = base ** UNITS[unit.upper()] if unit else 1
    return int(digits) * factor


def exceeded(rule: Rule, name: str, limit: int, what: str, *, place: str = "") -> Problem:
    """Return the problem of an input that goes beyond the *limit* that is called *name*.

    *what* is counted, as it stands behind the number; *place* says where the limit was reached.
    """
    can_more = name != "depth" or limit < DEPTH
    help_ = f"; --limit {name}=NUMBER allows more" if can_more else ""
    wanted = f"at most {limit} {what}"
    message = f"expected {wanted}, found more{place and f' at {place}'}{help_}"
    return rule.at("", message=message)._replace(expected=wanted, found="more")
