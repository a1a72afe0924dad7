"""Storylines for tests, as wire JSON and as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hub

Wire = dict[str, Any]


def wire(session: str, *texts: str, **members: Any) -> Wire:
    """Return a Storyline in which a user says *texts*."""
    turns = [
        {"id": number, "src": "user", "msg": text} for number, text in enumerate(texts or ("hi",))
    ]
    root = {"schema_version": "storyline/v1", "session": session, "agent": {"id": "a"}}
    return {**root, "turns": turns, **members}


def story(session: str, *texts: str, **members: Any) -> hub.Storyline:
    """Return the Storyline of `wire`."""
    return hub.from_wire(wire(session, *texts, **members))


def write(path: Path, *stories: Wire) -> Path:
    """Write *stories* to a file: one as an object, several as lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(one) for one in stories]
    path.write_text("\n".join([*lines, ""]) if len(stories) > 1 else lines[0], encoding="utf-8")
    return path


def folder(root: Path, count: int, *, begin: int = 0) -> Path:
    """Write *count* files with a Storyline each: `s0`, `s1` ..."""
    for number in range(begin, begin + count):
        write(root / f"{number:04}.json", wire(f"s{number}", f"text {number}"))
    return root


def sessions(stories: Sequence[hub.Storyline]) -> list[str]:
    """Return their sessions."""
    return [one.session_id for one in stories]
