"""Times: the source's spelling is kept, an instant is derived from it only where one is needed.

An instant is a signed 64-bit count of nanoseconds since 1970-01-01T00:00:00Z. Source: storyline.md 6.
"""

import re
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from hub.errors import UsageError

_CLOCK = r"[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?"
_OFFSET = r"(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))"
_LOCAL_TIME = r"(\d{4}-\d\d-\d\d)" + _CLOCK
_TIME = _LOCAL_TIME + _OFFSET

_LAYOUTS = frozenset(
    f"0000-00-00{separator}00:00:00{'.' if digits else ''}{'0' * digits}{offset}".encode()
    for separator in "Tt "
    for digits in range(10)
    for offset in ("Z", "+00:00", "-00:00")
)
"""What usual times look like with `0` for every digit."""
_AS_LAYOUT = bytes.maketrans(b"123456789", b"000000000")

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # UTC throughout, and the text of a naive one has no offset
_SECOND = 1_000_000_000
_LEAST, _LARGEST = -(2**63), 2**63 - 1


class Zone(NamedTuple):
    """A zone that a user named for times without one: an IANA name, or `+HH:MM` / `-HH:MM`."""

    name: str

    @classmethod
    def named(cls, name: str) -> "Zone":
        """Return the zone *name*.

        Raises:
            UsageError: there is no such zone.
        """
        zone = cls(name)
        zone.offset(_EPOCH)
        return zone

    def __str__(self) -> str:
        return self.name

    def offset(self, local: datetime) -> str:
        """Return the offset at the naive time *local*, as `+HH:MM`; the one of the earlier instant where there are two.

        Raises:
            UsageError: there is no such zone.
        """
        if self.name not in ("Z", "z") and re.fullmatch(_OFFSET, self.name, re.ASCII):
            return self.name
        from zoneinfo import ZoneInfo

        try:
            delta = local.replace(tzinfo=ZoneInfo(self.name), fold=0).utcoffset() or timedelta()
        except (LookupError, ValueError, OSError) as error:  # a missing zone is a KeyError
            raise UsageError(
                f"no time zone named {self.name!r}; use an IANA name such as Asia/Shanghai, or +HH:MM"
            ) from error
        minutes = round(delta.total_seconds() / 60)
        return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def is_timestamp(value: Any, *, numbers: bool = True) -> bool:
    """Tell whether *value* is a Storyline time; *numbers*: Unix seconds count as one."""
    if type(value) is str:
        return _layout(value) is not None or instant(value) is not None
    return numbers and instant(value) is not None


def are_timestamps(texts: Collection[str]) -> bool:
    """Tell whether all *texts* are Storyline times; asking for many at once takes a fraction of the time."""
    return time_layouts(texts) is not None or all(map(is_timestamp, texts))


def time_layouts(texts: Collection[str]) -> set[bytes] | None:
    """Return how *texts* are laid out, with `0` for every digit, if each is a usual time; None if one may not be."""
    if len(texts) <= _FEW:
        few = set(map(_layout, texts))
        return None if None in few else few  # type: ignore[return-value]  # none of them is None
    together = "\n".join(texts).encode("utf-8", "surrogatepass")
    layouts = together.translate(_AS_LAYOUT).split(b"\n")
    found = set(layouts)
    if len(layouts) != len(texts) or not found <= _LAYOUTS:
        return None
    if min(texts) < "17" or max(texts) >= "22":  # not every such instant has 64 bits
        return None
    if b"24:00:00" in together:  # which later versions of Python take for the end of the day
        return None
    ends = {text[-2:] for text in texts}
    if any(end[1] != "Z" and end >= "60" for end in ends):  # minutes that Python takes in an offset
        return None
    try:
        for _ in map(datetime.fromisoformat, texts):
            pass
    except ValueError:
        return None
    return found


_FEW = 16
"""So many texts are looked at one by one: together they would take longer."""


@lru_cache(maxsize=4096)
def _layout(text: str) -> bytes | None:
    """Return the layout of one text, as `time_layouts`; whoever reads, checks and writes a time asks about the same."""
    layout = text.encode("utf-8", "surrogatepass").translate(_AS_LAYOUT)
    if layout not in _LAYOUTS or not "17" <= text < "22" or "24:00:00" in text:
        return None
    if text[-1] != "Z" and text[-2:] >= "60":
        return None
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    return layout


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
    return nanoseconds if nanoseconds is not None and _LEAST <= nanoseconds <= _LARGEST else None


def _instant_of_text(text: str) -> int | None:
    match = re.fullmatch(_TIME, text, re.ASCII)
    if match is None:
        return None
    date, hour, minute, second, fraction, sign, offset_hour, offset_minute = match.groups()
    try:
        days = (datetime.fromisoformat(date) - _EPOCH).days
    except ValueError:
        return None
    # Second 60 is one second after second 59, which is what the sum makes of it.
    seconds = days * 86_400 + int(hour) * 3600 + int(minute) * 60 + int(second)
    if sign is not None:
        shift = int(offset_hour) * 3600 + int(offset_minute) * 60
        seconds += shift if sign == "-" else -shift
    return seconds * _SECOND + int((fraction or "")[:9].ljust(9, "0"))


def _instant_of_float(value: float) -> int | None:
    from decimal import Decimal

    if not abs(value) <= _LARGEST // _SECOND + 1:  # NaN, infinities and what is far out of range
        return None
    nanoseconds = Decimal(repr(value)) * _SECOND
    return int(nanoseconds) if nanoseconds == nanoseconds.to_integral_value() else None


def canonical(nanoseconds: int) -> str:
    """Return the canonical text of an instant: UTC, a fraction of 0, 3, 6 or 9 digits, `Z` (storyline.md 6.3)."""
    return utc_text(nanoseconds) + "Z"


def utc_text(nanoseconds: int, separator: str = "T", *, digits: int | None = None) -> str:
    """Return an instant as UTC date and time without an offset.

    *digits*: fraction digits, further ones are cut; None: the shortest exact one of 0, 3, 6 and 9.
    """
    seconds, rest = divmod(nanoseconds, _SECOND)
    fraction = f"{rest:09}"
    if digits is None:
        digits = next(count for count in (0, 3, 6, 9) if not fraction[count:].strip("0"))
    text = (_EPOCH + timedelta(seconds=seconds)).isoformat(separator)
    return f"{text}.{fraction[:digits]}" if digits else text


def with_zone(value: Any, zone: Zone) -> str | None:
    """Return *value*, a time without offset, with that of *zone* added; None if it is none (storyline.md 6.4)."""
    match = re.fullmatch(_LOCAL_TIME, value, re.ASCII) if type(value) is str else None
    if match is None:
        return None
    date, hour, minute, second, _ = match.groups()
    try:
        local = datetime.fromisoformat(f"{date}T{hour}:{minute}:{min(second, '59')}")
    except ValueError:
        return None
    text: str = value + zone.offset(local)
    return text if instant(text) is not None else None
