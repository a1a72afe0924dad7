"""Every format against every other one: whatever goes through another format comes back as it was.

Driven by the formats that are installed: one that is added is tested against all others without a line here. Beside
random documents, the files in `examples/` and in `plugins/*/tests/samples/` are taken, whatever format they are.
Source: conversion-matrix.md 4 and 5; carrier.md; residuals.md 7.
"""

from __future__ import annotations

import copy
import importlib
import json
import os
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hub
from hub import Problem, Source, Storyline, WriteOptions, instant
from hub.carrier import SOURCE, turn_index
from hub.conversion import Reading, batches, read_document, read_documents, write_documents
from hub.difference import LONG
from hub.discovery import GROUP, entry_points
from hub.envelope import nodes, take
from hub.fidelity import measure
from hub.json import canonical, dumps, loads
from hub.testing import to_wire
from hub.testing.strategies import KEYS, json_values, storylines
from hub.texts import KEY as TEXTS
from hub.wire import root_to_wire, turn_to_wire

Json = Any

ROOT = Path(__file__).parent.parent.parent
RELAYS = sorted(one.id for one in hub.formats.values() if one.can_write and one.info.envelope)
"""Formats whose documents have a place for an envelope."""
OWN = "storyline"
FORMATS = [OWN, *RELAYS]
PAIRS = list(permutations(FORMATS, 2))
CHAINS = list(permutations(FORMATS, 3))

each_relay = pytest.mark.parametrize("format", RELAYS)
each_pair = pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)


def share(parts: list[Any]) -> settings:
    """Return how many examples a test has with each of *parts*: a format that is added takes little time."""
    return settings(max_examples=max(3, settings().max_examples // (1 + len(parts))))


# Converting, as the command does it, from the bytes of a file to those of another one


def text(documents: list[Json]) -> bytes:
    """Return a file with *documents*: one object, or JSON Lines."""
    return b"\n".join(map(dumps, documents))


def read(format: str, file: bytes) -> list[Reading]:
    """Return what is read of each document of *file*, which is none that the format refuses."""
    readings = list(read_documents(hub.formats[format], Source(file)))
    assert [] == [one for reading in readings if reading.is_fatal for one in reading.problems]
    return readings


def is_readable(format: str, file: bytes) -> bool:
    """Tell whether every document of *file* is read."""
    return not any(one.is_fatal for one in read_documents(hub.formats[format], Source(file)))


def written(readings: list[Reading], source: str, target: str, *, carry: bool = True) -> list[Json]:
    """Return the documents of format *target* that the Storylines of *readings* become."""
    reader, writer = hub.formats[source], hub.formats[target]
    return [
        document.document
        for batch in batches(readings, reader.info, writer.info)
        for document in write_documents(writer, batch, WriteOptions(carry=carry))
    ]


def converted(file: bytes, *formats: str, carry: bool = True) -> bytes:
    """Return *file*, of the first of *formats*, after it went through all others."""
    for source, target in pairwise(formats):
        file = text(written(read(source, file), source, target, carry=carry))
    return file


def itself(file: bytes, format: str) -> bytes:
    """Return what the format makes of *file* when it reads and writes it, in memory: X to Storyline to X."""
    return file if format == OWN else text(written(read(format, file), format, format))


def said(file: bytes) -> list[bytes]:
    """Return what the documents of *file* say, whatever the order of keys and of documents."""
    return sorted(canonical(loads(line)) for line in file.split(b"\n"))


# Inputs


class Sample(NamedTuple):
    """A file of this checkout, and its format."""

    path: Path
    format: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}"


def _samples() -> Iterator[Sample]:
    """Yield the files of this checkout that an installed format claims."""
    for path in sorted([*ROOT.glob("examples/*.json*"), *ROOT.glob("plugins/*/tests/samples/*")]):
        try:
            found = hub.detect(path)
        except hub.InvalidDocument:
            continue
        if found.format in FORMATS:
            yield Sample(path, found.format)


SAMPLES = list(_samples())


@cache
def content(sample: Sample) -> bytes:
    """Return a sample, its documents a line each."""
    return text([record.value for record in Source.open(sample.path).records()])


@st.composite
def batches_of_storylines(draw: st.DrawFn) -> list[Storyline]:
    """Return one or two Storylines, some of them attempts at one task, or spawned by one another."""
    found = draw(st.lists(storylines(max_turns=3), min_size=1, max_size=2))
    names = [storyline.document_id for storyline in found]
    for storyline in found:
        if draw(st.booleans()):
            storyline.run_id = "run"
        if draw(st.booleans()):
            storyline.child_ids = draw(st.lists(st.sampled_from(names), max_size=2))
    return found


VALUES = json_values(3)

FILES = batches_of_storylines().map(lambda found: text(list(map(to_wire, found))))
"""Files of Storylines."""


@st.composite
def files(draw: st.DrawFn, format: str) -> bytes:
    """Return a file of *format* with what formats have in common with Storylines, and members that nobody knows.

    The members are added, replaced and taken away at random; where nothing can be read of that, the file is as it was.
    """
    file = draw(FILES)
    if format == OWN:
        return file
    documents = written(read(OWN, file), OWN, format, carry=False)
    changed = text(draw(with_changes(documents)))
    return changed if is_readable(format, changed) else text(documents)


@st.composite
def with_changes(draw: st.DrawFn, documents: list[Json], *, least: int = 0) -> list[Json]:
    """Return a copy of *documents* in which some members are others, or gone, or new."""
    changed = copy.deepcopy(documents)
    for _ in range(draw(st.integers(least, 3))):
        holders = [holder for document in changed for holder in _objects(document)]
        if not holders:
            break
        holder = holders[draw(st.integers(0, len(holders) - 1))]
        known = sorted(holder.keys() - {"_storyline"})
        key = draw(st.one_of(st.sampled_from(known), KEYS) if known else KEYS)
        if key in holder and draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = draw(VALUES)
    return changed


def _objects(document: Json) -> list[dict[str, Json]]:
    """Return every object of *document* but those of envelopes."""
    todo = [document]
    for one in todo:  # grows on the way
        if isinstance(one, dict):
            todo.extend(value for key, value in one.items() if key != "_storyline")
        elif isinstance(one, list):
            todo.extend(one)
    return [one for one in todo if isinstance(one, dict)]


class TestInstalled:
    @pytest.mark.skipif("CI" not in os.environ, reason="only there must all be installed")
    @pytest.mark.parametrize("plugin", sorted(ROOT.glob("plugins/*/pyproject.toml")), ids=str)
    def test_every_plugin(self, plugin: Path) -> None:
        """Every plugin of this checkout is installed, or it would be left out in silence."""
        project = tomllib.loads(plugin.read_text(encoding="utf-8"))["project"]
        for group, points in project["entry-points"].items():
            assert points.items() <= {one.id: one.module for one in entry_points(group)}.items()
            assert group != GROUP or points.keys() <= set(hub.formats)


class TestThereAndBack:
    @pytest.mark.parametrize("target", FORMATS)
    @pytest.mark.parametrize("sample", SAMPLES, ids=str)
    def test_samples(self, sample: Sample, target: str) -> None:
        """A real file comes back from every other format as it comes back from the Storyline."""
        file = content(sample)
        back = converted(file, sample.format, target, sample.format)
        assert said(itself(file, sample.format)) == said(back)

    @pytest.mark.parametrize("sample", SAMPLES, ids=str)
    def test_chains_of_samples(self, sample: Sample) -> None:
        """A real file comes back from any two formats, one behind the other."""
        file = content(sample)
        expected = said(itself(file, sample.format))
        for source, first, second in CHAINS:
            if source == sample.format:
                assert expected == said(converted(file, source, first, second, source))

    @each_pair
    def test_random_files(self, source: str, target: str) -> None:
        """A file with anything in it comes back from another format; integers and floats stay apart."""

        @share(PAIRS)
        @given(files(source))
        def check(file: bytes) -> None:
            back = converted(file, source, target, source)
            assert said(itself(file, source)) == said(back)

        check()

    @pytest.mark.skipif(not CHAINS, reason="needs three formats")
    @share([1, 2])
    @given(st.data())
    def test_random_chains(self, data: st.DataObject) -> None:
        """A file with anything in it comes back from any two formats, one behind the other."""
        source, first, second = data.draw(st.sampled_from(CHAINS))
        file = data.draw(files(source))
        back = converted(file, source, first, second, source)
        assert said(itself(file, source)) == said(back)


@each_relay
class TestOutput:
    def test_carried(self, format: str) -> None:
        """What is written has no error, one envelope a node, no long string twice for that, and is the same every time.

        Whatever the Storylines went through before.
        """

        @share(RELAYS)
        @given(FILES, st.sampled_from(FORMATS))
        def check(file: bytes, through: str) -> None:
            stages = [OWN, format] if through in (OWN, format) else [OWN, through, format]
            output = converted(file, *stages)
            assert output == converted(file, *stages)
            assert [] == errors(format, output)
            assert [] == objections(format, output)
            for document in map(loads, output.split(b"\n")):
                _check_envelopes(format, document)

        check()

    def test_not_carried(self, format: str) -> None:
        """Without carrying, what is written has no error, no envelope and no mark."""

        @share(RELAYS)
        @given(FILES)
        def check(file: bytes) -> None:
            output = converted(file, OWN, format, carry=False)
            assert b'"_storyline"' not in output
            assert [] == errors(format, output)
            assert [] == objections(format, output)

        check()


def errors(format: str, file: bytes) -> list[Problem]:
    """Return what the format finds wrong with *file*."""
    found = hub.validate(Source(file), format=format).problems
    return [problem for problem in found if problem.severity in ("error", "fatal")]


OWNERS = {"atif": ("harbor.models.trajectories", "atif")}
"""Modules with models of a format, its owner's first; those that are installed are asked."""


@cache
def _models(format: str) -> list[Any]:
    found = []
    for name in OWNERS.get(format, ()):
        try:
            found.append(importlib.import_module(name).Trajectory)
        except ImportError:
            assert "HUB_REQUIRE_OWNERS" not in os.environ, f"{name} is not installed"
    return found


def objections(format: str, file: bytes) -> list[str]:
    """Return what the models of *format* have against the documents of *file*, which did not come from that format."""
    found = []
    for model in _models(format):
        for line in file.split(b"\n"):
            try:
                model.model_validate(json.loads(line))
            except ValueError as error:
                found.append(str(error))
    return found


class TestOwners:
    @pytest.mark.parametrize("format", sorted(OWNERS.keys() & set(RELAYS)))
    @pytest.mark.parametrize("sample", SAMPLES, ids=str)
    def test_samples(self, sample: Sample, format: str) -> None:
        """What a real file of another format becomes is accepted by the owner's models, with an envelope or without."""
        if sample.format == format:
            return
        for carry in (True, False):
            file = converted(content(sample), sample.format, format, carry=carry)
            assert [] == objections(format, file)


def _check_envelopes(format: str, document: Json) -> None:
    """Check the envelopes of *document*, and take them out."""
    info = hub.formats[format].info
    places = {pointer for pointer, _ in nodes(document, info.nodes)}
    carried: dict[str, dict[str, Json]] = {}
    for envelope in take(document, info):
        assert envelope.holder in places - carried.keys()
        ((carrier, held),) = envelope.value["unknown_fields"]["by_trajectory"].items()
        assert "" == carrier
        assert not looks_sealed(held)
        carried[envelope.holder] = held["sources"].get(SOURCE, {"fields": {}})["fields"]
    assert not looks_sealed(document)
    for storyline in _plain(format, document):
        _check_texts(storyline, carried.get(storyline.node, {}))


def _check_texts(plain: Storyline, carried: dict[str, Json]) -> None:
    """Check that what is carried for *plain*, whole turns aside, has each long text once, and none that is there."""
    values = [one["text"] for one in carried.pop(TEXTS, ()) if "text" in one]
    for entry in carried.values():
        values += [one.get("value") for one in entry["patch"] if turn_index(one["path"]) is None]
    stored = Counter(_long_strings(values))
    shown = [root_to_wire(plain), *map(turn_to_wire, plain.turns)]
    assert stored.keys().isdisjoint(_long_strings(shown))
    assert set(stored.values()) <= {1}


def looks_sealed(value: Json) -> bool:
    """Tell whether anything in *value* looks like an envelope."""
    return b'"by_trajectory"' in dumps(value)


def _plain(format: str, document: Json) -> list[Storyline]:
    """Return what is read of *document*, whose envelopes were taken out."""
    records = document if isinstance(document, list) else [document]
    parsed = hub.formats[format].parse(Source.of(*records))
    return [one for each in parsed for one in read_document(hub.formats[format], each).storylines]


def _long_strings(value: Json) -> Iterator[str]:
    todo = [value]
    for one in todo:  # grows on the way
        if isinstance(one, str) and len(one) >= LONG:
            yield one
        elif isinstance(one, dict):
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)


class TestReport:
    @pytest.mark.parametrize("target", FORMATS)
    @pytest.mark.parametrize("sample", SAMPLES, ids=str)
    def test_samples(self, sample: Sample, target: str) -> None:
        """Of a real file nothing is dropped, and without envelopes nothing is carried."""
        _check_report(content(sample), sample.format, target)

    @pytest.mark.skipif(not PAIRS, reason="needs two formats")
    @share([1, 2])
    @given(st.data())
    def test_random_documents(self, data: st.DataObject) -> None:
        """Nor of a document with anything in it."""
        source, target = data.draw(st.sampled_from(PAIRS))
        document = data.draw(files(source)).split(b"\n")[0]
        _check_report(document, source, target)


def _check_report(file: bytes, source: str, target: str) -> None:
    formats = hub.formats[source], hub.formats[target]
    sealed, bare = (measure(*formats, Source(file), carry=carry).counts for carry in (True, False))
    assert 0 == sealed["dropped"]
    assert 0 == bare["carried"]
    assert sealed["kept"] == bare["kept"]
    assert sealed["carried"] == bare["dropped"]
    assert sealed["normalised"] == bare["normalised"]


@each_relay
class TestEdits:
    def test_edit_wins(self, format: str) -> None:
        """Whatever is edited by hand in a document is what is read, and what is carried never makes it unreadable."""

        @share(RELAYS)
        @given(st.data())
        def check(data: st.DataObject) -> None:
            documents = written(read(OWN, data.draw(FILES)), OWN, format)
            for document in documents:
                edited = data.draw(with_changes([document], least=1))[0]
                if edited != document:
                    _check_edit(format, document, edited)

        check()


def _check_edit(format: str, document: Json, edited: Json) -> None:
    bare = [copy.deepcopy(document), copy.deepcopy(edited)]
    for one in bare:
        take(one, hub.formats[format].info)
    if not is_readable(format, text([bare[1]])):
        return
    before = [_shown(storyline) for storyline in _plain(format, bare[0])]
    known = {one for elements in before for one in elements}
    after = _plain(format, bare[1])
    (reading,) = read(format, text([edited]))
    assert len(after) == len(reading.storylines)
    for plain, storyline in zip(after, reading.storylines, strict=True):
        new = [one for one in _shown(plain) if one not in known]
        found = _shown(storyline)
        assert [] == [one for one in new if one not in found]


def _shown(storyline: Storyline) -> list[bytes]:
    """Return the elements of *storyline*: the root, and each turn without its id."""
    turns = [{**turn_to_wire(turn), "id": 0} for turn in storyline.turns]
    return [canonical(root_to_wire(storyline)), *map(canonical, turns)]


MEASURED = ("metrics", "latency_ms", "ttft_ms", "final_metrics")
UNKNOWN = ("model", "effort", "env", "notes", "children", "parent")
EPOCH = instant("1970-01-01T00:00:00Z")
CALLS = [{"tcid": "c", "fn": "f", "args": {}}]


@st.composite
def bare_storylines(draw: st.DrawFn) -> Json:
    """Return a Storyline which says who spoke and what was called, and nothing about when, how long or with what."""
    sources = draw(
        st.lists(st.sampled_from(["user", "agent", "system", "environment"]), max_size=4)
    )
    turns: list[Json] = [
        {"id": number, "src": source, "msg": "m"} for number, source in enumerate(sources, start=1)
    ]
    if draw(st.booleans()) and turns:
        turns[draw(st.integers(0, len(turns) - 1))]["tool_calls"] = CALLS
    return {
        "schema_version": "storyline/v1",
        "session": "s",
        "agent": {"id": "a"},
        "turns": turns,
    }


@each_relay
class TestNothingInvented:
    def test_bare_storyline(self, format: str) -> None:
        """No number is measured, no name known and no time but the placeholder where the source has none of them."""

        @share(RELAYS)
        @given(bare_storylines())
        def check(storyline: Json) -> None:
            file = converted(text([storyline]), OWN, format, OWN, carry=False)
            (back,) = map(loads, file.split(b"\n"))
            for element in (back, back["agent"], *back["turns"]):
                assert [] == [key for key in UNKNOWN if key in element]
                numbers = [key for key in MEASURED if any(_numbers(element.get(key)))]
                assert [] == numbers
                times = [element.get(key) for key in ("ts", "started_at", "finished_at")]
                assert {EPOCH} >= {instant(time) for time in times if time is not None}

        check()


def _numbers(value: Json) -> Iterator[bool]:
    """Yield whether *value*, and each value in it, is a number."""
    yield type(value) in (int, float)
    if isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _numbers(member)
