"""Inline images of a Storyline that stand in files: the same Storyline, with the paths of the files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from hub.errors import Json
from hub.storyline.content import part
from hub.storyline.model import Storyline, Turn

Paths = Mapping[bytes, str]
"""Relative path of each file by its bytes."""

_DATA_URL = re.compile(r"data:[^,]*;base64,", re.IGNORECASE).match


def with_paths(storyline: Storyline, paths: Paths) -> Storyline:
    """Return *storyline* with each inline image whose bytes are in *paths* as a reference to that path."""
    if not paths:
        return storyline
    return attrs.evolve(storyline, turns=[_turn(turn, paths) for turn in storyline.turns])


def _turn(turn: Turn, paths: Paths) -> Turn:
    message, observation = _content(turn.message, paths), turn.observation
    results = observation.get("results") if isinstance(observation, dict) else observation
    if isinstance(results, list):
        written = [_result(result, paths) for result in results]
        if any(one is not other for one, other in zip(written, results, strict=True)):
            observation = (
                {**observation, "results": written} if isinstance(observation, dict) else written
            )
    if message is turn.message and observation is turn.observation:
        return turn
    return attrs.evolve(turn, message=message, observation=observation)


def _result(result: Json, paths: Paths) -> Json:
    if not isinstance(result, dict):
        return result
    content = _content(result.get("content"), paths)
    return result if content is result.get("content") else {**result, "content": content}


def _content(content: Json, paths: Paths) -> Json:
    """Return *content* with its images replaced; the very object when there is none to replace."""
    if not isinstance(content, list):
        return content
    replaced = [_element(element, paths) for element in content]
    return replaced if any(map(lambda a, b: a is not b, replaced, content)) else content


def _element(element: Json, paths: Paths) -> Json:
    if not isinstance(element, dict):
        return element
    found = part(element)
    if found.kind != "image" or found.payload is None:
        return element
    path = paths.get(_decoded(found.payload))
    if path is None:
        return element
    reference: dict[str, Any] = {
        "type": "image",
        "source": {"media_type": found.media_type or "image/png", "path": path},
    }
    if found.alt_text is not None:
        reference["alt_text"] = found.alt_text
    return reference


def _decoded(payload: str) -> bytes:
    """Return the bytes that *payload*, base64 or a `data:` URL of it, stands for; none if it is neither."""
    from base64 import b64decode

    match = _DATA_URL(payload)
    try:
        return b64decode("".join(payload[match.end() if match else 0 :].split()), validate=True)
    except ValueError:
        return b""
