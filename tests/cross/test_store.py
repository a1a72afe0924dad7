"""The store against every format: what comes out of it is what Storylines give, byte for byte.

Driven by the formats that are installed, with the files in `examples/` and `plugins/*/tests/samples/`, and random ones.
HUB_STORE_EXAMPLES says how many of these, for each format.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import hub

from .test_every_pair import FORMATS, SAMPLES, Sample, files

hub_lance: Any = pytest.importorskip("hub_lance")

EXAMPLES = int(os.environ.get("HUB_STORE_EXAMPLES", "3"))
TOGETHER = 25 if EXAMPLES > 100 else 1  # for a thousand a store each would take hours
"""How many random files go into one store."""


def through_storylines(inputs: Sequence[Path], format: str, target: str, folder: Path) -> bytes:
    """Return what *inputs* become through Storylines in memory; back in their own format, through a file as well.

    A file of Storylines has its keys sorted, the store keeps them in their order, as memory does.
    """
    middle, out = folder / "middle.jsonl", folder / "file.jsonl"
    found = [one for path in inputs for one in hub.read(path, format=format)]
    unique = [one for one, _ in hub.with_unique_ids(found)]
    hub.write(unique, middle, to="storyline", force=True)
    hub.convert(middle, out, to=target, force=True)
    from_file = out.read_bytes()
    hub.write(unique, out, to=target, force=True)
    in_memory = out.read_bytes()
    assert target != format or canonical_lines(from_file) == canonical_lines(in_memory)
    return in_memory


def canonical_lines(file: bytes) -> list[bytes]:
    """Return the documents of a file, whatever the order of their keys."""
    return [hub.canonical(hub.loads(line)) for line in file.splitlines()]


def through_a_store(inputs: Sequence[Path], format: str, target: str, folder: Path) -> bytes:
    """Return what *inputs* become through a store."""
    out = folder / "store.jsonl"
    number = sum(1 for _ in folder.iterdir())
    store = hub_lance.open(folder / f"store{number}", create=True)
    assert {"done"} == {one.result for one in store.add(inputs, format=format)}
    store.export(out, to=target, force=True)
    return out.read_bytes()


class TestExact:
    @pytest.mark.parametrize("sample", SAMPLES, ids=str)
    def test_samples(self, sample: Sample, tmp_path: Path) -> None:
        """A real file becomes the same in its own format, and in every other."""
        for target in FORMATS:
            arguments = ([sample.path], sample.format, target, tmp_path)
            assert through_storylines(*arguments) == through_a_store(*arguments), target

    @pytest.mark.parametrize("format", FORMATS)
    def test_random(self, format: str, tmp_path_factory: pytest.TempPathFactory) -> None:
        """So does a file with anything in it, in its own format, whatever the order of its documents."""
        stores: list[_Files] = []

        @settings(max_examples=EXAMPLES, deadline=None, phases=[Phase.generate])
        @given(files(format), st.sampled_from(FORMATS) if EXAMPLES == 3 else st.just(format))  # few
        def check(file: bytes, target: str) -> None:
            names = {name for one in hub.read(file, format=format) for name in names_of(one)}
            found = next((one for one in stores if one.names.isdisjoint(names)), None)
            if found is None:
                stores.append(found := _Files([], set()))
            found.texts.append(file)
            found.names.update(names)
            if len(found.texts) == TOGETHER:
                stores.remove(found)
                compare(found.texts, target)

        def compare(texts: Sequence[bytes], target: str) -> None:
            folder = tmp_path_factory.mktemp("exact")
            path = folder / "in.jsonl"
            path.write_bytes(b"\n".join(texts))
            arguments = ([path], format, target, folder)
            # A store puts next to each other what may belong into one document, a file may have it apart.
            assert sorted(through_storylines(*arguments).splitlines()) == sorted(
                through_a_store(*arguments).splitlines()
            )
            shutil.rmtree(folder)

        check()
        for left in stores:
            compare(left.texts, format)


class _Files(NamedTuple):
    """Files that go into one store: none names a trajectory, a task or a session that another one has."""

    texts: list[bytes]
    names: set[str | None]


def names_of(storyline: hub.Storyline) -> set[str | None]:
    """Return all by which *storyline* may belong together with others."""
    origin, parent = storyline.origin, storyline.parent
    names = {storyline.document_id, storyline.session_id, storyline.run_id}
    names.update(storyline.child_ids or ())
    names.add(None if origin is None else origin.document_id)
    names.add(None if parent is None else parent.session_id)
    return names - {None}
