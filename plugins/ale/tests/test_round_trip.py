"""Round trips: nothing that ALE can say is lost, and whatever is written is what the benchmark would write."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hub import Storyline, WriteOptions

from .builders import document, fields, problems, read, write
from .strategies import any_storylines, folding_trajectories, trajectories, with_unknown_keys
from .strict import errors, whole

Json = Any


def said(value: Json) -> Json:
    """Return the document *value* as two readers must agree on it: defaults filled in, marks and made-up ids aside."""
    filled = whole(value)
    todo = [filled]
    while todo:
        node = todo.pop()
        todo.extend(node["subagent_trajectories"])
        for step in node["steps"]:
            mark = step["extra"].get("_storyline")
            if isinstance(mark, dict) and mark.get("version") == 1:
                step["extra"] = {
                    key: member for key, member in step["extra"].items() if key != "_storyline"
                }
    return filled


def same_ids(source: Json, written: Json) -> None:
    """Make the call ids of *source* that are absent those of *written*: the format would make some up."""
    for node, other in zip(
        source["subagent_trajectories"], written["subagent_trajectories"], strict=True
    ):
        same_ids(node, other)
    for step, other in zip(source["steps"], written["steps"], strict=True):
        for call, made in zip(step["tool_calls"], other["tool_calls"], strict=True):
            if call["id"] == "call_generated":
                call["id"] = made["id"]


class TestAleToAle:
    @settings(deadline=None)
    @given(trajectories())
    def test_equal(self, source: Json) -> None:
        """ALE to Storyline to ALE gives an equal document, without an envelope; it is read as the same Storylines."""
        original = copy.deepcopy(source)
        assert [] == [one for one in problems(source) if one[0] in ("fatal", "error")]
        storylines = read(source)
        options = WriteOptions()

        (written,) = write(*storylines, options=options)

        assert original == source
        assert [] == errors(written)
        assert storylines == read(written)
        expected, actual = said(source), said(written)
        same_ids(expected, actual)
        assert expected == actual
        assert [] == options.problems
        assert {} == options.unplaced_residuals

    @settings(deadline=None, max_examples=60)
    @given(trajectories(depth=1).flatmap(with_unknown_keys))
    def test_unknown_keys(self, source: Json) -> None:
        """Every unknown key, wherever it stands, is a residual, and reading again without it changes nothing else."""
        found = document(source)
        unknown = {one.pointer for one in found.problems if one.rule == "ale.unknown-key"}
        storylines = read(source)
        kept: dict[str, Json] = {}
        for storyline in storylines:
            kept.update(fields(storyline))
        options = WriteOptions()

        (written,) = write(*storylines, options=options)

        assert unknown <= kept.keys()
        assert [] == errors(written)
        unplaced = {key for residuals in options.unplaced_residuals.values() for key in residuals}
        assert unknown == unplaced


class TestFolding:
    @settings(deadline=None)
    @given(folding_trajectories())
    def test_equal(self, source: Json) -> None:
        """However environment steps answer calls, they are written as they were, marks that count among them."""
        storylines = read(source)
        options = WriteOptions()

        (written,) = write(*storylines, options=options)

        assert [] == errors(written)
        assert said(source) == said(written)
        assert storylines == read(written)
        assert [] == options.problems
        assert {} == options.unplaced_residuals

    @settings(deadline=None)
    @given(folding_trajectories())
    def test_every_result_once(self, source: Json) -> None:
        """No result is lost or doubled by the fold."""
        (storyline,) = read(source)

        folded = [
            result["content"]
            for turn in storyline.turns
            for result in (turn.observation or {"results": []})["results"]
            if result["content"] not in ("changed", "lost")
        ]

        answers = [
            result["content"][0]["text"]
            for step in source["steps"]
            for result in (step.get("observation") or {"results": []})["results"]
        ]
        assert sorted(answers) == sorted(folded)


class TestAnyToAle:
    @settings(deadline=None, max_examples=60)
    @given(any_storylines(), st.booleans())
    def test_strict(self, storylines: list[Storyline], carry: bool) -> None:  # noqa: FBT001  # hypothesis gives it
        """Any Storylines give the same documents each time: strict, without errors, and read again."""
        before = copy.deepcopy(storylines)

        written = write(*storylines, options=WriteOptions(carry=carry))

        assert before == storylines
        assert written == write(*before, options=WriteOptions(carry=carry))
        assert [] == [error for one in written for error in errors(one)]
        for one in written:
            assert [] == [found for found in problems(one) if found[0] in ("fatal", "error")]
        again = [storyline for one in written for storyline in read(one)]
        assert len(storylines) == len(again)
        if not carry:
            assert "'_storyline': {'version': 1, 'as'" not in str(written)
