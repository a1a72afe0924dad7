"""The promises of `detect`: it knows its own documents, leaves all others alone, and never raises.

Source: detection.md 1, 2 and 5.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import lzma
from typing import Any

from hypothesis import strategies as st

from hub.detection import CANDIDATE, CLEAR, PLUGIN, Answer
from hub.detection import detect as detected
from hub.errors import InvalidDocument, Json, show
from hub.hookspecs import Detection, Sample
from hub.json import dumps
from hub.source import Source
from hub.testing.differences import changed, differences, members
from hub.testing.documents import STRANGERS, samples
from hub.testing.failures import broken, doing, expect
from hub.testing.strategies import json_values
from hub.testing.subject import Subject, for_all

VALUES: tuple[Json, ...] = (None, True, 0, 2**70, 1.5, "", "x", [], [[]], {}, {"": None})
"""A value of each kind, to stand where a plugin expects another."""

CUTS = 40
"""At how many places a sample is cut."""
PLACES = 150
"""At how many places of a sample other values are put."""


class Detecting(Subject):
    """Which inputs the format claims."""

    def test_claims_its_samples(self) -> None:
        """Every sample is found to be of the format, by its content alone."""
        for sample in self._files:
            shown = _alone(copy.deepcopy(sample.records[0]))
            self._asked(shown, sample.name)
            self._check_unchanged(sample.records[:1], shown, sample.name)
            try:
                with doing(f"detecting {sample.name}"):
                    found = detected(Source(sample.data), self._formats)
            except InvalidDocument as error:
                broken(
                    f"{sample.name} is not detected: {error}",
                    f"let `detect` answer with {CLEAR} or more for it (a marker of the format: 100); if another format"
                    " claims it as well, look for what that one does not have",
                )
            expect(
                found.format == self.format,
                f"{sample.name} is taken for {found.format} ({found.confidence}): {found.reason}",
                "answer with more confidence where the format's own marker is there",
            )
            expect(
                found.reason.strip(),
                f"the Detection of {sample.name} has no reason",
                "say what decided: Detection(100, 'format \"x/v1\" at /')",
            )

    def test_claims_no_others(self) -> None:
        """Documents of other formats, and JSON that is no trajectory, are not claimed."""
        foreign = {one.name: one.data for one in samples() if one.format != self.format}
        foreign |= {name: dumps(value) for name, value in STRANGERS.items()}
        for name, data in foreign.items():
            answer = self._answer(data, name)
            expect(
                answer is None or answer.confidence < CANDIDATE,
                f"`detect` claims {name} ({answer})",
                "look for what only this format has: its version marker, or several of its members together; and"
                f" answer with less than {CANDIDATE}, or None, for anything else",
            )

    def test_any_encoding(self) -> None:
        """A sample is the same format in UTF-16, with a byte order mark, or compressed; no plugin sees a difference."""
        for sample in self._files:
            text = sample.data.decode("utf-8-sig", "surrogatepass")
            for how, data in {
                "UTF-8 with a byte order mark": text.encode("utf-8-sig", "surrogatepass"),
                "UTF-16": text.encode("utf-16", "surrogatepass"),
                "UTF-32": text.encode("utf-32", "surrogatepass"),
                "gzip": gzip.compress(sample.data, mtime=0),
                "bzip2": bz2.compress(sample.data),
                "xz": lzma.compress(sample.data),
            }.items():
                answer = self._answer(data, f"{sample.name} as {how}")
                expect(
                    answer is not None and answer.confidence >= CANDIDATE,
                    f"`detect` does not claim {sample.name} as {how} ({answer})",
                    "decide from `sample.records` alone: the hub has unpacked and decoded them",
                )

    def test_cut_samples(self) -> None:
        """A sample that is cut anywhere is nothing that `detect` raises at."""
        for sample in self._files:
            step = max(1, len(sample.data) // CUTS)
            for end in range(0, len(sample.data), step):
                self._answer(sample.data[:end], f"{sample.name} cut after {end} bytes")

    def test_values_of_every_kind(self) -> None:
        """No member of a sample makes `detect` raise, whatever stands there, and nothing is changed."""
        for sample in self._files:
            record = sample.records[0]
            for place in members(record, PLACES):
                for value in VALUES:
                    what = f"{sample.name} with {show(value)} at {place}"
                    self._asked(_alone(changed(record, place, value)), what)

    def test_anything(self) -> None:
        """Any records at all are nothing that `detect` raises at."""
        containers = st.sampled_from(["object", "array", "lines", "text", "directory"])
        records = st.lists(json_values(6), max_size=3)
        for_all(
            st.tuples(records, containers, st.booleans()),
            lambda example: self._ask_of(*example),
        )

    def _ask_of(self, records: list[Json], container: Any, complete: bool) -> None:  # noqa: FBT001
        if container == "directory":
            records = [f"{index}/file.json" for index, _ in enumerate(records)]
        sample = Sample(None, container, records, complete, None)
        what = f"{container} of {records!r:.120}"
        before = copy.deepcopy(sample.records)
        self._asked(sample, what)
        self._check_unchanged(before, sample, what)

    def _asked(self, sample: Sample, what: str) -> None:
        with doing(f"`detect` of {what}"):
            answer = self._format.detect(sample)
        expect(
            answer is None or isinstance(answer, Detection),
            f"`detect` of {what} returns {answer!r:.80}",
            "return a `Detection(confidence, reason)` or None",
        )
        expect(
            answer is None or (type(answer.confidence) is int and 1 <= answer.confidence <= 100),  # noqa: PLR2004
            f"`detect` of {what} has the confidence {answer and answer.confidence!r}",
            "answer with a whole number from 1 to 100, or with None",
        )

    def _check_unchanged(self, before: list[Json], sample: Sample, what: str) -> None:
        difference = next(differences(before, sample.records), None)
        expect(
            difference is None,
            f"`detect` of {what} changes the sample: {difference}",
            "only look at `sample.records`; use `get` where you wrote `pop`, and copy what you must sort or change",
        )

    def _answer(self, data: bytes, what: str) -> Answer | None:
        """Return what the format alone says of a file; a broken file is none of its business."""
        try:
            found = detected(Source(data), {self.format: self._format})
        except InvalidDocument as error:
            failed = [one for one in error.problems if one.rule == PLUGIN.rule]
            expect(
                not failed,
                f"`detect` raises at {what}: {'; '.join(one.message for one in failed)}",
                "check the type of a value before it is used; for anything strange the answer is None",
            )
            return None
        return Answer(found.format, found.confidence, found.reason)


def _alone(record: Json) -> Sample:
    return Sample("x.json", "object", [record], complete=True, size=None)
