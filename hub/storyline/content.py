"""Content parts: text, images and audio in the spellings of all formats, read in one way.

Source: storyline.md 4.5.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from hub.errors import Json
from hub.json import compact

Key = Literal["path", "url", "data"]

_TEXT_MEMBERS = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "refusal",
}
"""Types of text parts, with the member that holds the text."""

_ALE_PAYLOADS: dict[Json, Key] = {"path": "path", "url": "url", "base64": "data"}
"""Types of ALE's images, with the member that holds the payload."""


MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}


class Part(NamedTuple):
    """One content part, whatever its spelling. No payload is split, joined or decoded; no file is opened."""

    kind: Literal["text", "image", "audio", "other"]
    element: Json
    """The part as it is spelled."""
    key: Key | None = None
    """The member under which the payload stands: `path`, `url`, or `data` for inline base64."""
    payload: str | None = None
    """As it is spelled: a path, a URL (also a `data:` URL), or raw base64."""
    media_type: str | None = None
    """The one that is given, else that of a `data:` URL, else by suffix; None: unknown."""
    alt_text: str | None = None
    """Description of an image."""

    @property
    def text(self) -> str:
        """The text of a text part; the compact JSON text of any other."""
        if self.kind != "text":
            return compact(self.element)
        if isinstance(self.element, str):
            return self.element
        text: str = self.element[_TEXT_MEMBERS[self.element["type"]]]
        return text

    @property
    def location(self) -> str | None:
        """Path or URL of the payload; raw base64 as a `data:` URL."""
        if self.key == "data" and self.payload is not None and not self.payload.startswith("data:"):
            return f"data:{self.media_type or ''};base64,{self.payload}"
        return self.payload


def parts(value: Json) -> Iterator[Part]:
    """Yield the parts of *value*: of a list each element, of anything else (but None) the value itself."""
    if isinstance(value, list):
        yield from map(part, value)
    elif value is not None:
        yield part(value)


def text_of(value: Json, separator: str) -> str:
    """Return the texts of the text parts of *value*, joined by *separator*; of a string the string itself."""
    if isinstance(value, str):
        return value
    return separator.join(found.text for found in parts(value) if found.kind == "text")


def part(element: Json) -> Part:
    """Return *element* of a list of parts as a part."""
    if isinstance(element, str):
        return Part("text", element)
    kind = element.get("type") if isinstance(element, dict) else None
    if not isinstance(kind, str):
        return Part("other", element)
    if kind in _TEXT_MEMBERS and isinstance(element.get(_TEXT_MEMBERS[kind]), str):
        return Part("text", element)
    return _image(kind, element) or _audio(kind, element) or Part("other", element)


def _image(kind: str, element: dict[str, Json]) -> Part | None:
    if kind == "image":
        source, image = element.get("source"), element.get("image")
        if isinstance(source, dict):
            return _image_of_source(element, source)
        if isinstance(image, dict) and isinstance(form := image.get("type"), str):
            key = _ALE_PAYLOADS.get(form)
            return None if key is None else _media("image", element, image, key)
    elif kind in ("image_url", "input_image"):
        url = element.get("image_url")
        holder = url if isinstance(url, dict) and kind == "image_url" else {"url": url}
        return _media("image", element, holder, "url")
    return None


def _image_of_source(element: dict[str, Json], source: dict[str, Json]) -> Part | None:
    """Return an image as ATIF (a path) or Anthropic (a URL, base64) spells it."""
    if source.get("type") == "base64":
        return _media("image", element, source, "data")
    return _media("image", element, source, "path") or _media("image", element, source, "url")


def _audio(kind: str, element: dict[str, Json]) -> Part | None:
    source, audio = element.get("source"), element.get("input_audio")
    if kind == "audio" and isinstance(source, dict):
        return _media("audio", element, source, "path")
    if kind == "input_audio" and isinstance(audio, dict) and isinstance(audio.get("format"), str):
        holder = {"data": audio.get("data"), "media_type": f"audio/{audio['format']}"}
        return _media("audio", element, holder, "data")
    return None


def _media(
    kind: Literal["image", "audio"], element: dict[str, Json], holder: dict[str, Json], key: Key
) -> Part | None:
    """Return the part whose payload stands in *holder* under *key*; None if none stands there."""
    payload = holder.get(key)
    if not isinstance(payload, str):
        return None
    given = holder.get("media_type")
    media_type = given if isinstance(given, str) else _media_type(payload, key)
    descriptions = (element.get("alt_text"), holder.get("alt_text")) if kind == "image" else ()
    alt_text = next((text for text in descriptions if isinstance(text, str)), None)
    return Part(kind, element, key, payload, media_type, alt_text)


def _media_type(payload: str, key: Key) -> str | None:
    is_raw = key == "data" and not payload.startswith("data:")
    return None if is_raw else media_type_of(payload)


def media_type_of(location: str) -> str | None:
    """Return the media type that a `data:` URL names, or that the suffix of a path or URL path stands for."""
    data = re.match(r"data:([^;,]*)", location)
    if data is not None:
        return data[1] or None
    bare = location.partition("?")[0].partition("#")[0]
    _, is_url, rest = bare.partition("://")
    path = rest.partition("/")[2] if is_url else bare
    dot = path.rfind(".")
    return MEDIA_TYPES.get(path[dot:].lower()) if dot >= 0 else None
