"""The worked examples of the mapping, one test each: the document, its Storylines, and the document again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hub import Storyline, WriteOptions
from hub.testing import from_wire, to_wire

from .builders import ROOT, read, read_one, write, write_one
from .strict import errors, whole

Json = Any

EXAMPLES: dict[int, dict[str, Json]] = {
    example["example"]: example
    for example in json.loads(
        (Path(__file__).parent / "data" / "examples.json").read_text(encoding="utf-8")
    )
}
"""Those with `read` go from ALE to Storyline and back, the others from a Storyline of another format to ALE."""

READ = [number for number, example in EXAMPLES.items() if example["read"] and "steps" in example]
WRITTEN = [
    number for number, example in EXAMPLES.items() if not example["read"] and "steps" in example
]
WHOLE = [number for number, example in EXAMPLES.items() if not example["read"] and "ale" in example]


def wire(storyline: Storyline) -> dict[str, Json]:
    """Return the JSON of a Storyline without the counts, which are derived."""
    return {key: value for key, value in to_wire(storyline).items() if key != "unknown_key_counts"}


def storyline(body: dict[str, Json]) -> Storyline:
    """Return the Storyline of *body*, which may leave out whatever an example does not show."""
    minimal = {"schema_version": "storyline/v1", "session": "s", "agent": {"id": "a"}}
    found = from_wire(
        {**minimal, **{key: value for key, value in body.items() if key != "unknown_fields"}}
    )
    for name, source in body.get("unknown_fields", {"sources": {}})["sources"].items():
        from hub import add_residuals

        add_residuals(found, name, source["source_document_id"], source["fields"])
    return found


def steps(value: list[Json]) -> Json:
    return whole({**ROOT, "steps": value})["steps"]


class TestReading:
    @pytest.mark.parametrize("number", READ)
    def test_turns(self, number: int) -> None:
        """Steps become the turns and the residuals of the example, and exactly these steps again."""
        example = EXAMPLES[number]

        found = read_one({**ROOT, "steps": example["steps"]})

        shown = {
            key: value for key, value in wire(found).items() if key in ("turns", "unknown_fields")
        }
        assert example["turns"] == shown
        assert steps(example["steps"]) == write_one(found)["steps"]

    @pytest.mark.parametrize("number", [1, 8])
    def test_documents(self, number: int) -> None:
        """A document becomes the Storylines of the example, and an equal document again."""
        example = EXAMPLES[number]
        (source,) = example["ale"]

        found = read(source)

        assert example["storylines"] == [wire(one) for one in found]
        assert (
            whole(source) == write_one(found[0])
            if len(found) == 1
            else [whole(source)] == write(*found)
        )


class TestWriting:
    @pytest.mark.parametrize("number", WRITTEN)
    def test_steps(self, number: int) -> None:
        """Turns of another format, or edited ones, become the steps of the example."""
        example = EXAMPLES[number]
        origin = {"format": "ale" if number == 18 else "other"}

        written = write_one(storyline({"origin": origin, **example["turns"]}))

        assert steps(example["steps"]) == written["steps"]
        assert [] == errors(written)

    @pytest.mark.parametrize("number", WHOLE)
    def test_documents(self, number: int) -> None:
        """Storylines of other formats become the documents of the example."""
        example = EXAMPLES[number]

        written = write(*map(storyline, example["storylines"]))

        assert [whole(one) for one in example["ale"]] == written
        assert [] == [error for one in written for error in errors(one)]

    def test_prompts_come_back(self) -> None:
        """Example 11: the reader puts marked steps back as prompts of the document and of the turn."""
        (body,) = EXAMPLES[11]["storylines"]

        again = wire(read_one(write_one(storyline(body))))

        assert body["turns"] == again["turns"]
        assert body["prompt"] == again["prompt"]

    def test_late_result_comes_back(self) -> None:
        """Example 14: the marks keep the result with its turn, and the environment turn a turn."""
        turns = EXAMPLES[14]["turns"]["turns"]

        again = wire(read_one(write_one(storyline({"origin": {"format": "x"}, "turns": turns}))))[
            "turns"
        ]

        assert turns[:2] == again[:2]
        assert [
            {**turns[2], "kind": "observation", "src": "environment"},
            {**turns[3], "id": 4, "src": "system"},
        ] == again[2:]

    def test_dropped_skeleton(self) -> None:
        """Example 18: a skeleton whose result is gone is dropped with one warning, at the residual."""
        options = WriteOptions()

        write_one(storyline({"origin": {"format": "ale"}, **EXAMPLES[18]["turns"]}), options)

        ((_, problem),) = options.problems
        assert problem.rule == "ale.skeleton"
        assert problem.severity == "warning"
        assert problem.pointer == "/unknown_fields/sources/ale/fields/~1steps~12"
        assert {} == options.unplaced_residuals
