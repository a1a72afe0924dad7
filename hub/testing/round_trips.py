"""The promises about what is kept: a document comes back as it was, whatever is in it.

Source: residuals.md; carrier.md 1.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial

from hypothesis import strategies as st

from hub import pointer as pointers
from hub.errors import InvalidDocument, Json
from hub.json import ExactNumber, dumps
from hub.registry import Format
from hub.source import Source
from hub.testing.differences import Difference, differences, objects, without
from hub.testing.documents import samples
from hub.testing.failures import doing, expect
from hub.testing.storylines import corpus
from hub.testing.subject import SampleFile, Subject, converted, for_all, records_of, text
from hub.wire import to_wire
from hub.writing import WriteOptions

KEYS = ("", "/", "~", "~1", "a/b", "é", "__proto__", "x-unknown", "\U0001f642", "0 ")
"""Names of members that no format knows."""
HOSTILE: tuple[Json, ...] = (
    *(None, True, 2**64, -(10**40), 1, 1.0, -0.0, ExactNumber("1e400"), "", "\udc88", "\x00"),
    *([], {}, [1.0, {"": -0.0}], {"/": {"~": [2**70]}}),
)
"""Values that careless code changes."""

KEPT = (
    "map the value to a field of the Storyline and back, or hand it over with `add_residuals` under its pointer in the"
    " document and put it back with `restore`; if the format has several spellings of one thing, override `normal`"
)


class RoundTrips(Subject):
    """A document of the format, read and written again, here and by way of other formats."""

    def test_samples_come_back(self) -> None:
        """A sample that is read and written again is exactly what it was: `1.0` is not `1`, no member is gone."""
        for sample in self._writable_files():
            self._check_back(sample, sample.records, sample.name)

    def test_unknown_members_come_back(self) -> None:
        """So is a sample with unknown members anywhere, hostile keys and values among them."""
        for sample in self._writable_files():
            places = [
                (index, at)
                for index, record in enumerate(sample.records)
                for at, _ in objects(record)
                if not self._holds_nodes(at)
            ]
            changes = st.lists(
                st.tuples(st.sampled_from(places), st.sampled_from(KEYS), st.sampled_from(HOSTILE)),
                min_size=1,
                max_size=3,
            )
            for_all(
                changes,
                partial(self._check_changed, sample),
                share=len(self._files),
            )

    def _holds_nodes(self, at: str) -> bool:
        """Tell whether every member of the object at *at* is a trajectory, whatever it is called."""
        return f"{at}/*" in self._format.info.nodes

    def _check_changed(
        self, sample: SampleFile, changes: Sequence[tuple[tuple[int, str], str, Json]]
    ) -> None:
        records = copy.deepcopy(sample.records)
        for (index, at), key, value in changes:
            holder = pointers.get(records[index], pointers.split(at))
            holder.setdefault(key, value)
        if any(one.is_fatal for one in self._read(sample.file(records), sample.name)):
            return  # a format may refuse what it does not know, by name
        shown = ", ".join(f"{key!r}: {value!r} at {at or '/'}" for (_, at), key, value in changes)
        self._check_back(sample, records, f"{sample.name} with {shown}")

    def _check_back(self, sample: SampleFile, records: Sequence[Json], what: str) -> None:
        readings = self._read_well(sample.file(records), what)
        options = WriteOptions()
        written: list[Json] = []
        unplaced: list[dict[str, Json]] = []
        for reading in readings:
            if not reading.storylines:
                continue
            with doing(f"writing {what}"):
                documents = list(self._format.from_storyline(reading.storylines, options))
            written += documents
            places: dict[str, Json] = {}
            for one in reading.storylines:
                places |= options.unplaced_residuals.get(id(one), {})
            unplaced.append(places)
        self._take_envelopes(written)
        back = self.records(written) if sample.container != "object" else written
        expect(
            len(back) == len(records),
            f"of {what} {len(records)} records were read, and {len(back)} written",
            "write a document for each one that was read; see `gathers` and `batch` of `FormatInfo`",
        )
        for index, (before, after) in enumerate(zip(records, back, strict=True)):
            own = unplaced[index] if len(unplaced) == len(records) else {}
            wanted = self.normal(without(before, own))
            changed = next(differences(wanted, self.normal(copy.deepcopy(after))), None)
            expect(changed is None, f"{what} does not come back: {changed}{_fate(changed)}", KEPT)

    def _take_envelopes(self, documents: Sequence[Json]) -> None:
        from hub.envelope import take

        for document in documents:
            take(document, self._format.info)

    def _writable_files(self) -> list[SampleFile]:
        return self._files if self._format.can_write else []

    def test_relay_of_others(self) -> None:
        """A document of any other format that goes through this one comes back as it was, by way of the envelope."""
        own = self._format
        if not (own.can_write and own.info.envelope):
            return  # what a format without a place for the envelope drops is reported
        for other, name, data in self._foreign():
            self._check_relay(data, other, own, name)

    def test_relay_through_others(self) -> None:
        """A document of this format that goes through any other one comes back as it was."""
        own = self._format
        if not own.can_write:
            return
        others = [
            one
            for one in self._formats.values()
            if one.id != own.id and one.can_write and (one.info.envelope or one.id == "storyline")
        ]
        for other in others:
            for sample in self._files:
                self._check_relay(sample.data, own, other, sample.name)

    def _foreign(self) -> list[tuple[Format, str, bytes]]:
        """Return documents of other formats that are installed: the kit's, and its Storylines."""
        found = [
            (self._formats[one.format], one.name, one.data)
            for one in samples()
            if one.format in self._formats and one.format != self.format
        ]
        if self.format != "storyline":
            found += [
                (self._formats["storyline"], name, text(list(map(to_wire, storylines))))
                for name, storylines in corpus().items()
            ]
        return [one for one in found if one[0].can_write]

    def _check_relay(self, data: bytes, first: Format, through: Format, name: str) -> None:
        try:
            with doing(f"converting {name} from {first.id} to {through.id} and back"):
                wanted = converted(data, first, first)
                between = text(converted(data, first, through))
                back = converted(between, through, first)
        except InvalidDocument as error:
            expect(
                error.problems[0].rule in {rule.rule for rule in through.rules},
                f"{name} cannot go from {first.id} through {through.id}: {error}",
                "refuse what cannot be written with an `InvalidDocument` that names a rule of the hook `rules`",
            )
            return
        before, after = _sorted(wanted), _sorted(back)
        changed = next(differences(before, after), None)
        expect(
            changed is None,
            f"{name} does not come back from {first.id} through {through.id}: {changed}",
            "check `nodes` and `envelope` of `format_info`, that `to_storyline` sets `Storyline.node` to the pointer of"
            " the Storyline's object, and that `parse` keeps nothing of an earlier document",
        )


def _fate(changed: Difference | None) -> str:
    lost = changed is not None and repr(changed.after) == "nothing"
    return " (it was dropped)" if lost else ""


def _sorted(documents: Sequence[Json]) -> list[Json]:
    """Return the records of *documents* as they are read of a file, in an order of their own."""
    found = list(Source(text(records_of(documents))).records(objects=False))
    return sorted((one.value for one in found), key=dumps)
