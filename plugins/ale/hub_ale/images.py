"""Inline images of a written document, taken out to `screenshots/NNNN.<ext>` beside it.

Names are numbers, so no name comes from a document's text, and no path leaves the folder of the document.
Source: ale.md 3.1 and 6.6; pitfalls of paths: nothing is opened, and only this folder is written to.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from hub import Json, WriteOptions
from hub_ale.rules import INLINE_IMAGE

FOLDER = "screenshots"

EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/jpg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/tiff": "tiff",
    "image/svg+xml": "svg",
    "image/avif": "avif",
}
UNKNOWN_EXTENSION = "bin"

_DATA_URL = re.compile(r"data:([^;,]*)(?:;[^;,]*)*;base64,", re.IGNORECASE).match
_NUMBERED = re.compile(rf"{FOLDER}/(\d{{1,9}})\.", re.ASCII).match
_SPACE = re.compile(r"[ \t\r\n]+")


def attach_images(document: Json, options: WriteOptions) -> list[tuple[str, bytes]]:
    """Replace every inline image of *document* by a path, and return the files; equal images share one.

    Numbers go on behind those that the document refers to already, and behind those of earlier documents of the output.
    An image that is no base64 stays inline, with a warning.
    """
    images = list(_images(document))
    number = max([options.attached, *(_next(image["path"]) for _, image in images)])
    paths: dict[tuple[bytes, str], str] = {}
    for at, image in images:
        if image["type"] != "base64":
            continue
        payload, extension = _decode(image)
        if payload is None:
            message = "no base64: the image stays inline"
            options.warn(INLINE_IMAGE.at(f"{at}/data", image["data"], message=message))
            continue
        path = paths.get((payload, extension))
        if path is None:
            path = paths[payload, extension] = f"{FOLDER}/{number:04}.{extension}"
            number += 1
        image.update(type="path", path=path, data=None)
    options.attached = number
    return [(path, payload) for (payload, _), path in paths.items()]


def _images(document: Json) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield pointer and value of each image of a written document and of what is nested in it."""
    todo = [("", document)]
    for at, node in todo:
        nested = f"{at}/subagent_trajectories"
        todo.extend(
            (f"{nested}/{index}", child)
            for index, child in enumerate(node["subagent_trajectories"])
        )
        for step_at, step in _pointed(node["steps"], f"{at}/steps"):
            yield from _images_of(step["message"], f"{step_at}/message")
            if step["observation"] is None:
                continue
            results = f"{step_at}/observation/results"
            for result_at, result in _pointed(step["observation"]["results"], results):
                yield from _images_of(result["content"], f"{result_at}/content")


def _images_of(parts: Json, at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for part_at, part in _pointed(parts if type(parts) is list else [], at):
        if part["image"] is not None:
            yield f"{part_at}/image", part["image"]


def _pointed(values: list[Any], at: str) -> Iterator[tuple[str, Any]]:
    return ((f"{at}/{index}", value) for index, value in enumerate(values))


def _next(path: str | None) -> int:
    """Return the number behind that of a screenshot at *path*; 0 if it is none."""
    found = _NUMBERED(path) if path is not None else None
    return 0 if found is None else int(found[1]) + 1


def _decode(image: dict[str, Any]) -> tuple[bytes | None, str]:
    """Return the bytes of an inline image and the extension for its media type; None if it is no base64."""
    data, media_type = image["data"], image["media_type"]
    url = _DATA_URL(data)
    if url is not None:
        data, media_type = data[url.end() :], url[1] or media_type
    extension = EXTENSIONS.get(media_type.strip().lower(), UNKNOWN_EXTENSION)
    try:
        return b64decode(_SPACE.sub("", data), validate=True) or None, extension
    except (binascii.Error, ValueError):
        return None, extension
