"""The store against every format: what comes out of it is what Storylines give, byte for byte.

Driven by the formats that are installed, with the files in `examples/` and `plugins/*/tests/samples/`, and random ones.
HUB_STORE_EXAMPLES says how many of these, for each format.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import hub

from .test_every_pair import FORMATS, SAMPLES, Sample, files

hub_lance: Any = pytest.importorskip("hub_lance")

EXAMPLES = int(os.environ.get("HUB_STORE_EXAMPLES", "3"))


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
        """So does a file with anything in it, in its own format."""

        @settings(max_examples=EXAMPLES, deadline=None, phases=[Phase.generate])
        @given(files(format), st.sampled_from(FORMATS) if EXAMPLES == 3 else st.just(format))  # few
        def check(file: bytes, target: str) -> None:
            folder = tmp_path_factory.mktemp("exact")
            path = folder / "in.jsonl"
            path.write_bytes(file)
            arguments = ([path], format, target, folder)
            assert through_storylines(*arguments) == through_a_store(*arguments)

        check()

    def test_many_files(self, tmp_path: Path) -> None:
        """A store of many files gives of each what the file alone gives, where no id is taken."""
        store = hub_lance.open(tmp_path / "store", create=True)
        added = [
            sample
            for sample in SAMPLES
            if [one.result for one in store.add([sample.path], format=sample.format)] == ["done"]
        ]
        assert len(added) > len(SAMPLES) // 2
        for sample in added:
            ids = [one.document_id for one in hub.read(sample.path, format=sample.format)]
            if len(set(ids)) < len(ids):
                continue
            names = ", ".join("'" + one.replace("'", "''") + "'" for one in ids)
            out = tmp_path / "out.jsonl"
            where = f"document_id IN ({names})"
            store.export(out, to=sample.format, where=where, force=True)
            alone = through_storylines([sample.path], sample.format, sample.format, tmp_path)
            assert alone == out.read_bytes()
