"""Messages and the content of results, and the parts of both; each pair side by side.

No payload is decoded or joined, no file is opened. Source: ale.md 5.3 and 6.6.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from hub import Json, compact, media_type_of
from hub_ale.model import IMAGE, PAYLOADS, ContentPart, ImageSource
from hub_ale.rules import is_image, is_text

WEB = ("http://", "https://")
INLINE = "data:"
MEDIA_TYPE = "image/png"

_TEXT_TYPES = ("text", "input_text", "output_text")


# Messages


def read_message(message: Json) -> Json:
    """A string and null stay; a list is the list of its parts."""
    return read_parts(message) if type(message) is list else message


def write_message(message: Json) -> Json:
    """A string and null stay; a list is the list of its parts; any other JSON its text."""
    if message is None or type(message) is str:
        return message
    return write_parts(message) if type(message) is list else compact(message)


# Content of results


def read_content(content: Sequence[ContentPart | None]) -> Json:
    """One text part is its string, anything else the list of its parts."""
    if len(content) == 1 and is_text(part := content[0]):
        return part["text"]
    return read_parts(content)


def write_content(content: Json) -> list[ContentPart]:
    """A list is the list of its parts, a string one text part, any other JSON one with its text."""
    if type(content) is list:
        return write_parts(content)
    if content is None:
        return []
    return [text_part(content if type(content) is str else compact(content))]


# Parts


def read_parts(parts: Iterable[ContentPart | None]) -> list[Json]:
    return [read_part(part) for part in parts if part is not None]


def write_parts(elements: list[Json]) -> list[ContentPart]:
    return [write_part(element) for element in elements]


def read_part(part: ContentPart) -> Json:
    """A text, or an image in another spelling if that is written back as it was; else the part as ALE spells it."""
    if is_text(part):
        return {"type": "text", "text": part["text"]}
    source = _read_image(part["image"]) if is_image(part) and part["image"] is not None else None
    if part["image"] is None or source is None:
        return _without_nulls(part)
    alt_text = part["image"]["alt_text"]
    read: dict[str, Json] = {"type": "image", "source": source}
    if alt_text is not None:
        read["alt_text"] = alt_text
    return read


def _read_image(image: ImageSource) -> dict[str, Json] | None:
    """Return the source of an image whose only payload says by itself which type it has; None for any other."""
    kind, media_type = image["type"], image["media_type"]
    payload: Json = image[PAYLOADS[kind]]  # type: ignore[literal-required]  # a key of it
    others = [key for key in PAYLOADS.values() if key != PAYLOADS[kind]]
    if any(image[key] is not None for key in others):  # type: ignore[literal-required]  # a key of it
        return None
    if kind == "base64" and not payload.startswith(INLINE):
        return {"type": "base64", "media_type": media_type, "data": payload}
    if kind == _kind_of(payload, "path"):
        return {"media_type": media_type, "path": payload}
    return None


def _kind_of(location: str, otherwise: str) -> str:
    """Return the type of an image at *location*: ale.md 6.6, L."""
    if location.startswith(INLINE):
        return "base64"
    return "url" if location.startswith(WEB) else otherwise


def _without_nulls(part: ContentPart) -> Json:
    kept: dict[str, Json] = {key: value for key, value in part.items() if value is not None}
    if "image" in kept:
        kept["image"] = {key: value for key, value in kept["image"].items() if value is not None}
    return kept


def write_part(element: Json) -> ContentPart:
    """The part of an element in any of the shapes of storyline.md 4.5; what is none is shown as JSON text."""
    if type(element) is str:
        return text_part(element)
    if type(element) is dict:
        kind, text = element.get("type"), element.get("text")
        if type(kind) is str:
            if kind in _TEXT_TYPES and type(text) is str:
                return text_part(text)
            if kind == "refusal" and type(element.get("refusal")) is str:
                return text_part(element["refusal"])
            image = _write_image(kind, element)
            if image is not None:
                return {"type": "image", "text": None, "image": image}
    return text_part(compact(element))


def text_part(text: str) -> ContentPart:
    return {"type": "text", "text": text, "image": None}


def _write_image(kind: str, element: dict[str, Json]) -> ImageSource | None:
    if kind in ("image_url", "input_image"):
        url = element.get("image_url")
        if kind == "image_url" and type(url) is dict:
            url = url.get("url")
        return _image(_kind_of(url, "url"), url, None, element) if type(url) is str else None
    if kind != "image":
        return None
    own = _own_image(element)
    if own is not None:
        return own
    source = element.get("source")
    if type(source) is not dict:
        return None
    media_type = source.get("media_type")
    for key in ("path", "url"):
        if type(source.get(key)) is str:
            return _image(_kind_of(source[key], key), source[key], media_type, element)
    if source.get("type") == "base64" and type(source.get("data")) is str:
        return _image("base64", source["data"], media_type, element)
    return None


def _own_image(element: dict[str, Json]) -> ImageSource | None:
    """Return the image of a part in ALE's own shape, valid and without any other member, with every key."""
    image: Any = element.get("image")
    if (
        type(image) is not dict
        or not IMAGE.shape.fits(image)
        or not element.keys() <= {"type", "text", "image"}
    ):
        return None
    whole: Any = IMAGE.complete(image)
    part: ContentPart = {"type": "image", "text": element.get("text"), "image": whole}
    return whole if is_image(part) else None


def _image(kind: str, payload: str, media_type: Json, element: dict[str, Json]) -> ImageSource:
    alt_text = element.get("alt_text")
    if type(media_type) is not str:
        media_type = media_type_of(payload) or MEDIA_TYPE
    return {
        "type": kind,  # type: ignore[typeddict-item]  # one of the three
        "path": payload if kind == "path" else None,
        "url": payload if kind == "url" else None,
        "data": payload if kind == "base64" else None,
        "media_type": media_type,
        "alt_text": alt_text if type(alt_text) is str else None,
    }
