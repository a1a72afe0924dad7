"""The promises of `from_storyline`: any Storyline is written or refused by name, unchanged, the same every time.

Source: validation.md 9; carrier.md 2.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections.abc import Sequence

from hypothesis import strategies as st

from hub.conversion import read_documents, write_documents
from hub.errors import InvalidDocument, PluginError
from hub.source import Source
from hub.storyline.model import Storyline
from hub.testing.differences import differences
from hub.testing.failures import broken, doing, expect
from hub.testing.storylines import corpus
from hub.testing.strategies import storylines
from hub.testing.subject import Subject, for_all, text
from hub.wire import to_wire
from hub.writing import WriteOptions

WORLDS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns"},
)
"""Environments in which the same must be written."""

_WRITE_ALL = """
import sys
from hub.testing.making import everything
sys.stdout.buffer.write(everything(sys.argv[1], sys.argv[2:]))
"""


class Making(Subject):
    """What the format makes of the Storylines of others."""

    def test_writes_the_corpus(self) -> None:
        """Every Storyline of the kit is written, with an envelope and without, or refused by the name of a rule."""
        for name, batch in corpus().items() if self._format.can_write else ():
            self._check_written(batch, f"the Storylines of the kit that show {name}")

    def test_writes_any_storyline(self) -> None:
        """So is any valid Storyline."""
        if not self._format.can_write:
            return
        batches = st.lists(storylines(max_turns=3), min_size=1, max_size=2)
        for_all(batches, lambda batch: self._check_written(batch, f"{batch!r:.300}"))

    def _check_written(self, batch: Sequence[Storyline], what: str) -> None:
        before = list(map(to_wire, copy.deepcopy(batch)))
        for carry in (True, False):
            try:
                files = [self._written(batch, what, carry=carry) for _ in range(2)]
            except InvalidDocument as error:
                self._check_refusal(error, what)
                continue
            expect(
                files[0] == files[1],
                f"{what} give other documents the second time",
                "make ids and orders from the Storyline alone: no clock, no random numbers, no counter of the module",
            )
            self._check_read_again(files[0], what)
        change = next(differences(before, list(map(to_wire, batch))), None)
        expect(
            change is None,
            f"writing {what} changes them: {change}",
            "build new objects, and copy what you add to: messages, arguments, `extra` are shared with the Storyline",
        )

    def _written(self, batch: Sequence[Storyline], what: str, *, carry: bool) -> bytes:
        with doing(f"writing {what}"):
            written = write_documents(self._format, batch, WriteOptions(carry=carry))
        return text([one.document for one in written])

    def _check_refusal(self, error: InvalidDocument, what: str) -> None:
        names = {rule.rule for rule in self._format.rules}
        unknown = [one.rule for one in error.problems if one.rule not in names]
        expect(
            error.problems and not unknown,
            f"{what} are refused by {', '.join(unknown) or 'no rule'}: {error}",
            "raise an `InvalidDocument` of problems by rules that the hook `rules` names, or write what can be written",
        )

    def _check_read_again(self, file: bytes, what: str) -> None:
        with doing(f"reading what was written of {what}"):
            readings = list(read_documents(self._format, Source(file))) if file else []
        wrong = [
            one
            for reading in readings
            for one in reading.problems
            if one.severity in ("error", "fatal")
        ]
        expect(
            not wrong,
            f"what is written of {what} is wrong by the format's own rules: {'; '.join(map(str, wrong[:3]))}",
            "write what the format demands: a documented placeholder where a Storyline has no value, and a text"
            " (`text_of`) where a message may be anything",
        )

    def test_inputs_are_left_alone(self) -> None:
        """Reading a document does not change it, and what is read shares nothing that a second reading would see."""
        for sample in self._files:
            first, second = (self._shown(sample.data, sample.name) for _ in range(2))
            change = next(differences(first, second), None)
            expect(
                change is None,
                f"{sample.name} is read differently the second time: {change}",
                "keep nothing of a document in the module: no global list, no default argument that is changed",
            )
            before = copy.deepcopy(sample.records)
            with doing(f"reading {sample.name}"):
                is_array = sample.container == "array"
                source = Source.of_array(sample.records) if is_array else Source.of(*sample.records)
                for document in self._format.parse(source):
                    if not document.is_fatal:
                        list(self._format.to_storyline(document))
            change = next(differences(before, sample.records), None)
            expect(
                change is None,
                f"reading {sample.name} changes the document: {change}",
                "read with `get`, and copy an object before you take something out of it",
            )

    def _shown(self, data: bytes, what: str) -> list[object]:
        return [to_wire(one) for reading in self._read(data, what) for one in reading.storylines]

    def test_same_everywhere(self) -> None:
        """The same bytes are written with every hash seed and in every time zone."""
        outputs = [self._elsewhere(world) for world in WORLDS]
        for world, output in zip(WORLDS[1:], outputs[1:], strict=True):
            expect(
                output == outputs[0],
                f"with {world} another document is written than with {WORLDS[0]}",
                "do not go through a `set` where order shows (sort it, or use `dict.fromkeys`); give no time a zone of"
                " this machine",
            )

    def _elsewhere(self, world: dict[str, str]) -> bytes:
        names = [str(path.resolve()) for path in self._paths]
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", _WRITE_ALL, self.format, *names],
            env={**os.environ, **world},
            capture_output=True,
            check=False,
        )
        if done.returncode:
            broken(
                f"with {world} nothing is written: {done.stderr.decode(errors='replace')[-500:]}",
                "mend what the other tests of the contract show first",
            )
        return done.stdout


def everything(format: str, files: Sequence[str]) -> bytes:
    """Return what *format* writes of the corpus, and of *files* of its own."""
    from hub.api import formats

    chosen = formats[format]
    batches = list(corpus().values()) if chosen.can_write else []
    shown = []
    for name in files:
        for reading in read_documents(chosen, Source.open(name)):
            shown.append(text(list(map(to_wire, reading.storylines))))
            if chosen.can_write and reading.storylines:
                batches.append(reading.storylines)
    for batch in batches:
        try:
            written = write_documents(chosen, batch, WriteOptions())
        except (InvalidDocument, PluginError) as error:
            shown.append(str(error).encode("utf-8", "backslashreplace"))
        else:
            shown.append(text([one.document for one in written]))
    return b"\n".join(shown)
