"""Round trips: nothing that ACTF can say is lost, and whatever is written is ACTF."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from hub_actf import plugin
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub import Document, Origin, Storyline, WriteOptions, equal
from hub.testing import from_wire, to_wire
from hub.testing.strategies import storylines

from .builders import parse, read, write, written
from .normal import normal
from .strategies import ODD_TOOLS, damaged, documents, plain_documents, records

Json = Any

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Whole documents take their time on a busy machine."""

ANY = st.one_of(documents(), documents(ODD_TOOLS), records(), records(ODD_TOOLS))


def leaves(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield every scalar of *value* that says something, with its type."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
        elif one is not None and one != "":
            yield type(one).__name__, one


def said(storyline: Storyline) -> Json:
    """Return a Storyline as wire JSON; what is captured in both tool lists, or in one of them, is one residual."""
    wire = to_wire(storyline)
    del wire["origin"]
    wire.pop("unknown_key_counts", None)
    wire["unknown_fields"] = {
        re.sub(
            r"(/steps/\d+)/(?:tools|assistant_content/tool_calls)(/\d+/)", r"\1/*\2", place
        ): value
        for residuals in storyline.unknown_fields.values()
        for place, value in residuals.fields.items()
    }
    return wire


class TestNormalisation:
    """actf.md 7."""

    @relaxed
    @given(plain_documents())
    def test_a_document_comes_back(self, value: Json) -> None:
        """A document of the usual forms comes back in the spelling in which ACTF is written."""
        assert equal(written(value), normal(value))


class TestDocuments:
    """Documents and records, with unknown members everywhere."""

    @relaxed
    @given(ANY)
    def test_reading_again(self, value: Json) -> None:
        """What is written is read as what was meant, but for residuals that found no place."""
        meant, options = read(value), WriteOptions()
        (again,) = write(meant, options)
        found = read(again)

        for one, other in zip(meant, found, strict=True):
            for place in options.unplaced_residuals.get(id(one), ()):
                del one.unknown_fields["actf"].fields[place]
            assert equal(said(one), said(other))

    @relaxed
    @given(st.one_of(ANY, damaged(ANY)))
    def test_nothing_is_lost(self, value: Json) -> None:
        """Every value is in what is written, or is named to the hub; nothing that is read or written is changed."""
        source = copy.deepcopy(value)
        document = parse(value)
        if document.is_fatal:
            return
        meant, options = list(plugin.to_storyline(document)), WriteOptions()
        (again,) = write(meant, options)
        unplaced = list(options.unplaced_residuals.values())

        assert set(leaves(value)) <= {*leaves(again), *leaves(unplaced)}
        assert equal(value, source)
        assert equal(list(map(to_wire, meant)), list(map(to_wire, read(source))))

    @relaxed
    @given(st.one_of(ANY, damaged(ANY)))
    def test_writing_again(self, value: Json) -> None:
        """What was written once is written so ever after."""
        if not parse(value).is_fatal:
            once = written(value)

            assert equal(written(once), once)

    @relaxed
    @given(st.one_of(ANY, damaged(ANY)))
    def test_conformed(self, value: Json) -> None:
        """A conformed document breaks no rule."""
        if not parse(value).is_fatal:
            assert errors(parse(written(value, conform="yes"))) == []

    @relaxed
    @given(damaged(ANY))
    def test_storylines_are_valid(self, value: Json) -> None:
        """Whatever is wrong with a document, its Storylines are valid."""
        document = parse(value)
        for storyline in [] if document.is_fatal else plugin.to_storyline(document):
            assert from_wire(to_wire(storyline)) == storyline


class TestStorylines:
    """Storylines that did not come from ACTF."""

    @relaxed
    @given(st.lists(storylines(), max_size=4))
    def test_of_another_origin(self, batch: list[Storyline]) -> None:
        """Any Storylines are written as sound documents, one attempt each, and are not changed."""
        before = copy.deepcopy(batch)
        found = [parse(one) for one in write(batch)]

        assert batch == before
        assert [errors(one) for one in found] == [[]] * len(found)
        assert sum(len(list(plugin.to_storyline(one))) for one in found) == len(batch)

    @relaxed
    @given(st.lists(storylines(), max_size=4))
    def test_of_one_task(self, batch: list[Storyline]) -> None:
        """Attempts of one task keep their order when they are read again."""
        for number, one in enumerate(batch):
            one.run_id, one.attempt_id, one.parent, one.notes = "r", None, None, str(number)
            one.final_metrics = {"analysis_result": number}
        found = [one for document in write(batch) for one in read(document)]

        assert [one.final_metrics["analysis_result"] for one in found] == list(range(len(batch)))

    @relaxed
    @given(st.lists(storylines(), max_size=4))
    def test_edited(self, batch: list[Storyline]) -> None:
        """Storylines of ACTF are written whatever became of them."""
        for one in batch:
            one.origin = Origin(format="actf")
        found = [parse(one) for one in write(batch)]

        assert not any(one.is_fatal for one in found)
        assert sum(len(list(plugin.to_storyline(one))) for one in found) == len(batch)


def errors(document: Document[Any]) -> list[str]:
    """Return the errors of *document*."""
    return [str(problem) for problem in document.problems if problem.severity in ("error", "fatal")]
