"""What trainers load: `datasets` reads the files that are written, with one type a column."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import hub

from .builders import a, call, lines, result, row, tc, tool, u

Json = Any

SCRIPT = """
import json, sys
import datasets
found = datasets.load_dataset("json", data_files=sys.argv[1], split="train", chunksize=int(sys.argv[3]))
with open(sys.argv[2], "w") as output:
    json.dump([str(found.features), [one["messages"] for one in found]], output)
"""


def loaded(path: Path, folder: Path, chunk: int = 10 << 20) -> tuple[str, Json]:
    """Return the types of the columns and the conversations; types are those of the first *chunk* of bytes.

    Members that are not there have no value.
    """
    output = folder / "loaded.json"
    environment = {**os.environ, "HF_HOME": str(folder / "cache"), "HF_DATASETS_OFFLINE": "1"}
    subprocess.run(  # noqa: S603  # our own script
        [sys.executable, "-c", SCRIPT, str(path), str(output), str(chunk)],
        check=True,
        env=environment,
    )
    features, conversations = json.loads(output.read_text())
    return features, [without_nothing(one) for one in conversations]


def without_nothing(value: Json) -> Json:
    """Return *value* without members that have no value: a table has a cell for each member in each row."""
    if isinstance(value, dict):
        return {key: without_nothing(one) for key, one in value.items() if one is not None}
    return [without_nothing(one) for one in value] if isinstance(value, list) else value


def conversations_in(path: Path) -> Json:
    """Return what a file of lines holds."""
    return [without_nothing(json.loads(line)["messages"]) for line in path.read_text().splitlines()]


def storylines() -> list[Json]:
    """Return conversations that differ in everything that a chat can show."""

    def one(session: str, *turns: Json) -> Json:
        return {
            "schema_version": "storyline/v1",
            "session": session,
            "agent": {"id": "a"},
            "turns": [{**turn, "id": number} for number, turn in enumerate(turns, start=1)],
        }

    ask = {
        "src": "agent",
        "msg": None,
        "tool_calls": [
            call("k", {"path": "x", "n": 1}),
            call("l", None, "g"),
            call("m", [1.5], "h"),
        ],
        "observation": {
            "results": [result("k", "R"), result("l", [{"type": "text", "text": "T"}])]
        },
    }
    return [
        one("1", {"src": "user", "msg": "q"}, {"src": "agent", "msg": "x"}),
        one("2", {"src": "user", "msg": ["a", {"x": 1}]}, ask, {"src": "agent", "msg": "done"}),
        one("3", {"src": "environment", "msg": 5}, {"src": "agent", "msg": None, "reason": "r"}),
        one("4"),
    ]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("datasets") is None, reason="needs `datasets`: make slow")
class TestDatasets:
    @pytest.mark.parametrize(
        "options",
        [
            {"null-content": "empty"},
            {"null-content": "keep", "reasoning": "yes"},
            {"arguments": "object"},
        ],
    )
    def test_other_formats(self, tmp_path: Path, options: dict[str, str]) -> None:
        """Conversations of another format are loaded as they were written, whichever comes first."""
        types = set()
        for found in (storylines(), storylines()[::-1]):
            source, target = tmp_path / "in.jsonl", tmp_path / "train.jsonl"
            source.write_bytes(lines(*found))
            hub.convert(
                source,
                target,
                to="openai-messages",
                options={"variant": "chat-jsonl", **options},
                force=True,
            )
            features, conversations = loaded(target, tmp_path)
            assert conversations == conversations_in(target)
            types.add(features)
        assert len(types) == 1

    def test_members_that_come_late(self, tmp_path: Path) -> None:
        """A large file whose later lines have members that the first ones have not is loaded in one chunk."""
        source, target = tmp_path / "rows.jsonl", tmp_path / "train.jsonl"
        text = "x" * 10_000
        ask = a(None, tool_calls=[tc("j")])
        rows = [
            row(session_id=f"s{number}", response=a(text))
            if number < 1500
            else row(
                session_id=f"s{number}", messages=[ask, tool("j", "R"), u("q")], response=a(text)
            )
            for number in range(3000)
        ]
        source.write_bytes(lines(*rows))
        options = {"variant": "chat-jsonl", "null-content": "empty"}
        hub.convert(source, target, to="openai-messages", options=options)
        assert target.stat().st_size > 20 << 20
        _, conversations = loaded(target, tmp_path, target.stat().st_size)
        assert conversations == conversations_in(target)
