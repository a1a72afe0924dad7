"""Times: ISO 8601 text in UTC with microseconds, and whatever other legal text real files have.

Source: ale.md 1.7, 6.1 and 6.2; storyline.md 6.
"""

import re
from collections.abc import Collection, Iterable

from hub import Json, instant, time_layouts, utc_text

_CANONICAL = {b"0000-00-00T00:00:00.000000Z"}
"""The layout of times as ALE writes them."""


def are_canonical_times(texts: Collection[str]) -> bool:
    """Tell whether all *texts* are legal times `YYYY-MM-DDTHH:MM:SS.ffffffZ` beyond doubt."""
    layouts = time_layouts(texts)
    return layouts is not None and layouts <= _CANONICAL


def is_canonical_time(text: str) -> bool:
    """Tell whether a legal time is `YYYY-MM-DDTHH:MM:SS.ffffffZ`."""
    return re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", text, re.ASCII) is not None


def write_time(value: Json, *, is_own: bool) -> str | None:
    """Return a time in ALE's form, further digits cut; one that came from ALE as it was."""
    if value is None:
        return None
    if type(value) is str:
        layouts = None if is_own else time_layouts((value,))
        if layouts and layouts <= _ALIKE and value.endswith("+00:00"):
            return f"{value[:10]}T{value[11:26]}Z"
        if is_own or is_canonical_time(value):
            return value
    nanoseconds = instant(value)
    return None if nanoseconds is None else utc_text(nanoseconds, digits=6) + "Z"


def write_times(values: Iterable[Json], *, is_own: bool) -> dict[Json, str | None]:
    """Return what is written for each of *values*, by value."""
    every = {*values}
    if len(every) <= _FEW:
        return {value: write_time(value, is_own=is_own) for value in every}
    texts = [value for value in every if type(value) is str]
    layouts = None if is_own else time_layouts(texts)
    if layouts and layouts <= _ALIKE:
        # What is given for each, for all in one go.
        together = "\n".join(texts)
        if together.count("+00:00") == len(texts):
            in_utc = together.replace(" ", "T").replace("+00:00", "Z").split("\n")
            others = {value: write_time(value, is_own=False) for value in every.difference(texts)}
            return {**others, **dict(zip(texts, in_utc, strict=True))}
    return {value: write_time(value, is_own=is_own) for value in every}


_FEW = 16
"""Times that are written one by one: together they would take longer."""
_ALIKE = {b"0000-00-00 00:00:00.000000+00:00", b"0000-00-00T00:00:00.000000+00:00"}
"""Layouts of times that differ from ALE's in the separator and the offset only."""
