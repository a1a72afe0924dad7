"""Messages and the content of results, as Harbor wants them: a text, or an array of parts.

No payload is decoded or joined, no file is opened. Source: atif.md 6.3, rule 3; storyline.md 4.5.
"""

from typing import Any

from hub import Json, compact, part
from hub_atif.metrics import is_number
from hub_atif.model import IMAGE_TYPES, audio_type
from hub_atif.rules import is_part

_TEXT_KEYS = {"type", "text"}


def write_content(content: Json) -> str | list[Any]:
    """A text stays, null is an empty one, an array is that of its parts, any other JSON its compact text."""
    if type(content) is str:
        return content
    if content is None:
        return ""
    return list(map(write_part, content)) if type(content) is list else compact(content)


def write_part(element: Json) -> dict[str, Json]:
    """A part in any of the shapes of storyline.md 4.5; what Harbor does not know is shown as JSON text."""
    if type(element) is dict and element.keys() == _TEXT_KEYS and is_part(element):
        return element
    found = part(element)
    if found.kind == "image" and found.media_type in IMAGE_TYPES:
        return _media("image", found.media_type, found.location)
    if found.kind == "audio" and (media_type := audio_type(found.media_type)) is not None:
        return _media("audio", media_type, found.location, **_duration(element))
    return {"type": "text", "text": found.text}


def _media(kind: str, media_type: Json, location: Json, **members: Json) -> dict[str, Json]:
    return {"type": kind, "source": {"media_type": media_type, "path": location, **members}}


def _duration(element: Json) -> dict[str, Json]:
    """The duration of a recording, if it is known and not below 0."""
    source = element.get("source")
    seconds = source.get("duration_sec") if type(source) is dict else None
    return {"duration_sec": seconds} if is_number(seconds) and seconds >= 0 else {}


def has_audio(content: Json) -> bool:
    """Tell whether *content*, as written, has a recording in it."""
    return type(content) is list and any(one["type"] == "audio" for one in content)
