"""Content parts: text, images and audio in the spellings of all formats, read in one way.

Source: storyline.md 4.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from hub.errors import Json
from hub.json import compact

TEXT_TYPES = frozenset({"text", "input_text", "output_text"})

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
    text: str = ""
    """Of a text part its text; of any other kind the compact JSON text of the element."""
    key: Literal["path", "url", "data"] | None = None
    """The member under which the payload stands: `path`, `url`, or `data` for inline base64."""
    payload: str | None = None
    """As it is spelled: a path, a URL (also a `data:` URL), or raw base64."""
    media_type: str | None = None
    """The one that is given, else that of a `data:` URL, else by suffix; None: unknown."""
    alt_text: str | None = None

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
    if isinstance(element, dict):
        kind = element.get("type")
        if kind in TEXT_TYPES and isinstance(element.get("text"), str):
            return Part("text", element["text"])
        if kind == "refusal" and isinstance(element.get("refusal"), str):
            return Part("text", element["refusal"])
        media = _media(kind, element)
        if media is not None:
            return media
    return Part("other", compact(element))


def _media(kind: Json, element: dict[str, Json]) -> Part | None:
    """Return an image or audio part, by the shapes of storyline.md 4.5."""
    if kind == "image":
        source, image = element.get("source"), element.get("image")
        if isinstance(source, dict):
            return _from_source(element, source, ("path", "url", "data"))
        if isinstance(image, dict):
            named = {"path": "path", "url": "url", "base64": "data"}.get(image.get("type", "path"))
            return None if named is None else _from_source(element, image, (named,))
        return None
    if kind in ("image_url", "input_image"):
        url = element.get("image_url")
        url = url.get("url") if isinstance(url, dict) and kind == "image_url" else url
        return _image(element, "url", url, None) if isinstance(url, str) else None
    if kind == "audio" and isinstance(element.get("source"), dict):
        found = _from_source(element, element["source"], ("path",))
        return None if found is None else found._replace(kind="audio")
    if kind == "input_audio" and isinstance(element.get("input_audio"), dict):
        audio = element["input_audio"]
        data, name = audio.get("data"), audio.get("format")
        if isinstance(data, str) and isinstance(name, str):
            return Part("audio", compact(element), "data", data, f"audio/{name}")
    return None


def _from_source(
    element: dict[str, Json], source: dict[str, Json], keys: tuple[str, ...]
) -> Part | None:
    for key in keys:
        payload = source.get(key)
        if isinstance(payload, str):
            found = _image(element, key, payload, source.get("media_type"))
            alt_text = source.get("alt_text")
            if found.alt_text is None and isinstance(alt_text, str):
                return found._replace(alt_text=alt_text)
            return found
    return None


def _image(element: dict[str, Json], key: str, payload: str, media_type: Json) -> Part:
    alt_text = element.get("alt_text")
    return Part(
        "image",
        compact(element),
        key,  # type: ignore[arg-type]  # one of the three, by the callers
        payload,
        media_type if isinstance(media_type, str) else media_type_of(payload),
        alt_text if isinstance(alt_text, str) else None,
    )


def media_type_of(location: str) -> str | None:
    """Return the media type that a `data:` URL names, or that the suffix of a path or URL stands for."""
    if location.startswith("data:"):
        named = location[5:].split(",", 1)[0].split(";", 1)[0]
        return named or None
    try:
        path = (
            urlsplit(location).path if "://" in location else location.split("?")[0].split("#")[0]
        )
    except ValueError:
        return None
    dot = path.rfind(".")
    return MEDIA_TYPES.get(path[dot:].lower()) if dot >= 0 else None
