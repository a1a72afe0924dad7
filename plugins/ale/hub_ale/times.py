"""Times: ISO 8601 text in UTC with microseconds, and whatever other legal text real files have.

Source: ale.md 1.7, 6.1 and 6.2; storyline.md 6.
"""

import re

from hub import Json, instant, utc_text

is_canonical_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII).fullmatch
"""Whether a legal time is `YYYY-MM-DDTHH:MM:SS.ffffffZ`."""

is_plain_time = re.compile(
    r"(?:1[7-9]|2[01])\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z",
    re.ASCII,
).fullmatch
"""Whether a text is a legal time in that form beyond doubt, without a look at the calendar."""


_plain_utc = re.compile(
    r"(?:1[7-9]|2[01])\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])"
    r"[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d+))?(?:[Zz]|[+-]00:00)",
    re.ASCII,
).fullmatch
"""Matches a text that is a legal time in UTC beyond doubt; the group holds its fraction."""


def write_time(value: Json, *, is_own: bool) -> str | None:
    """Return a time in ALE's form, further digits cut; one that came from ALE as it was."""
    if value is None:
        return None
    if type(value) is str:
        if is_own or is_canonical_time(value):
            return value
        plain = _plain_utc(value)
        if plain is not None:
            # What `instant` and `utc_text` give, without the way through numbers.
            return f"{value[:10]}T{value[11:19]}.{(plain[1] or '')[:6]:0<6}Z"
    nanoseconds = instant(value)
    return None if nanoseconds is None else utc_text(nanoseconds, digits=6) + "Z"
