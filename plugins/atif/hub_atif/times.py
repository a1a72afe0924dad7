"""Times: ISO 8601 text, in the spellings that Harbor accepts and in those that a Storyline holds.

Source: atif.md 5.2 and 6.3; storyline.md 6.5.
"""

import re
from datetime import datetime

from hub import Json, instant, is_timestamp, utc_text

is_plain_time = re.compile(
    r"(?:1[7-9]|2[01])\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])"
    r"[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
).fullmatch
"""Whether a text is beyond doubt a time that both accept, without a look at the calendar."""


def is_accepted(text: str) -> bool:
    """Tell whether Harbor accepts *text* as a time: any ISO 8601 date or date-time that Python reads."""
    try:
        datetime.fromisoformat(text.replace("Z", "+00:00"))  # noqa: FURB162  # as Harbor does it: `z` is refused
    except ValueError:
        return False
    return True


def is_sound_time(value: Json) -> bool:
    """Tell whether both accept *value*, or there is none."""
    return value is None or (
        type(value) is str
        and (bool(is_plain_time(value)) or (is_timestamp(value) and is_accepted(value)))
    )


def write_time(value: Json) -> str | None:
    """Return a Storyline time as Harbor accepts it: text as it is where that will do, else the canonical text."""
    if type(value) is str and (is_plain_time(value) or is_accepted(value)):
        return value
    nanoseconds = instant(value)
    return None if nanoseconds is None else utc_text(nanoseconds) + "Z"
