"""Times: the source's spelling is kept, an instant is derived from it only where one is needed.

An instant is a signed 64-bit count of nanoseconds since 1970-01-01T00:00:00Z. Source: storyline.md 6.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from hub.errors import UsageError

_LOCAL = r"(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:)([0-5]\d|60)(?:\.(\d+))?"
_TIME = re.compile(_LOCAL + r"([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII).fullmatch
_TIME_WITHOUT_OFFSET = re.compile(_LOCAL, re.ASCII).fullmatch
_OFFSET = re.compile(r"([+-])((?:[01]\d|2[0-3])):([0-5]\d)", re.ASCII).fullmatch

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000_000
_MIN, _MAX = -(2**63), 2**63 - 1
_SAFE_YEARS = ("1678", "2261")
"""Every time of these years, and of those between, fits 64 bits whatever its offset."""


class Zone(NamedTuple):
    """A zone that a user named for times without one: an IANA name, or `+HH:MM` / `-HH:MM`."""

    name: str

    def __str__(self) -> str:
        return self.name

    def offset(self, local: datetime) -> str:
        """Return the offset at the naive time *local*, as `+HH:MM`; the earlier instant where there are two.

        Raises:
            UsageError: there is no such zone.
        """
        if _OFFSET(self.name):
            return self.name
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            delta = local.replace(tzinfo=ZoneInfo(self.name), fold=0).utcoffset()
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise UsageError(
                f"no time zone named {self.name!r}; use an IANA name such as Asia/Shanghai, or +HH:MM"
            ) from error
        minutes = round((delta or timedelta()).total_seconds() / 60)
        sign = "-" if minutes < 0 else "+"
        return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def is_timestamp(value: Any, *, numbers: bool = True) -> bool:
    """Tell whether *value* is a Storyline time; *numbers*: Unix seconds count as one."""
    if type(value) is not str:
        return numbers and instant(value) is not None
    match = _TIME(value)
    if match is None:
        return False
    if value[17:19] != "60" and _SAFE_YEARS[0] <= value[:4] <= _SAFE_YEARS[1]:
        return value[8:10] <= "28" or _is_date(value[:10])
    return instant(value) is not None


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def instant(value: Any) -> int | None:
    """Return the instant of a Storyline time in nanoseconds since the epoch; None if *value* is none."""
    if type(value) is str:
        nanoseconds = _instant_of_text(value)
    elif type(value) is int:
        nanoseconds = value * _SECOND
    elif type(value) is float:
        nanoseconds = _instant_of_float(value)
    else:
        return None
    return nanoseconds if nanoseconds is not None and _MIN <= nanoseconds <= _MAX else None


def _instant_of_text(text: str) -> int | None:
    match = _TIME(text)
    if match is None:
        return None
    date, clock, second, fraction, offset = match.groups()
    try:
        local = datetime.fromisoformat(f"{date}T{clock}{min(second, '59')}+00:00")
    except ValueError:
        return None
    since = local - _EPOCH
    seconds = since.days * 86_400 + since.seconds + (second == "60")
    if (shift := _OFFSET(offset)) is not None:
        sign, hours, minutes = shift.groups()
        seconds -= int(f"{sign}1") * (int(hours) * 3600 + int(minutes) * 60)
    return seconds * _SECOND + int((fraction or "0")[:9].ljust(9, "0"))


def _instant_of_float(value: float) -> int | None:
    from decimal import Decimal

    if value != value or value in (float("inf"), float("-inf")):
        return None
    if abs(value) > _MAX // _SECOND + 1:
        return None
    nanoseconds = Decimal(repr(value)) * _SECOND
    return int(nanoseconds) if nanoseconds == nanoseconds.to_integral_value() else None


def canonical(nanoseconds: int) -> str:
    """Return the canonical text of an instant: UTC, a fraction of 0, 3, 6 or 9 digits, `Z` (storyline.md 6.3)."""
    return utc_text(nanoseconds, "T", digits=None) + "Z"


def utc_text(nanoseconds: int, separator: str = "T", *, digits: int | None = None) -> str:
    """Return an instant as UTC date and time without an offset.

    *digits*: fraction digits, further ones are cut; None: the shortest exact one of 0, 3, 6 and 9.
    """
    seconds, fraction = divmod(nanoseconds, _SECOND)
    text = (_EPOCH + timedelta(seconds=seconds)).strftime(f"%m-%d{separator}%H:%M:%S")
    year = (_EPOCH + timedelta(seconds=seconds)).year
    decimals = f"{fraction:09}"
    if digits is None:
        digits = next(length for length in (0, 3, 6, 9) if not decimals[length:].strip("0"))
    return f"{year:04}-{text}" + (f".{decimals[:digits]}" if digits else "")


def with_zone(value: Any, zone: Zone) -> str | None:
    """Return the text *value*, a time without an offset, with the offset of *zone* added; None if it is no such text."""
    match = _TIME_WITHOUT_OFFSET(value) if type(value) is str else None
    if match is None:
        return None
    date, clock, second, _ = match.groups()
    try:
        local = datetime.fromisoformat(f"{date}T{clock}{min(second, '59')}")
    except ValueError:
        return None
    text = value + zone.offset(local)
    return text if instant(text) is not None else None
