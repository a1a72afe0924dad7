"""The fidelity report: every leaf in its class, measured by converting back."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from hub.codec import from_wire
from hub.errors import Json
from hub.fidelity import CLASSES, DocumentReport, Entry, Report, join, measure
from hub.registry import Format, Formats
from hub.residuals import add_residuals
from hub.source import Source
from hub.storyline.model import Storyline
from hub.testing.strategies import storylines
from hub.wire import to_wire

EXAMPLE: Json = {
    "task": "bug-7",
    "attempts": {
        "1": {
            "steps": [
                {
                    "step_id": 1,
                    "text": "look",
                    "tools": [{"id": "c1", "name": "bash", "input": {"cmd": "ls"}}],
                    "observation": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": "a.txt"}
                    ],
                }
            ]
        }
    },
}
STEP = "/attempts/1/steps/0"


def counts(*numbers: int) -> dict[str, int]:
    return dict(zip(CLASSES, numbers, strict=True))


def entries(report: Report) -> list[tuple[str, str]]:
    return [(one.kind, one.pointer) for document in report.documents for one in document.entries]


class TestClasses:
    def test_kept_and_carried(self, tasks: Format, log: Format) -> None:
        """What the target shows is kept, the rest carried, in document order."""
        report = measure(tasks, log, Source.of(copy.deepcopy(EXAMPLE)))

        assert counts(3, 6, 0, 0, 0) == report.counts
        assert [
            ("carried", f"{STEP}/tools/0/id"),
            ("carried", f"{STEP}/tools/0/name"),
            ("carried", f"{STEP}/tools/0/input/cmd"),
            ("carried", f"{STEP}/observation/0/type"),
            ("carried", f"{STEP}/observation/0/tool_use_id"),
            ("carried", f"{STEP}/observation/0/content"),
        ] == entries(report)

    def test_dropped(self, tasks: Format, log: Format) -> None:
        """Without carrier it is dropped."""
        report = measure(tasks, log, Source.of(copy.deepcopy(EXAMPLE)), carry=False)

        assert counts(3, 0, 0, 6, 0) == report.counts

    def test_target_without_a_place(self, tasks: Format, log: Format) -> None:
        """So it is in a target without a place for an envelope."""
        bare = copy.copy(log)
        bare.info = log.info._replace(nodes=(), envelope=())

        report = measure(tasks, bare, Source.of(copy.deepcopy(EXAMPLE)))

        assert counts(3, 0, 0, 6, 0) == report.counts

    def test_normalised(self, tasks: Format, log: Format) -> None:
        """What the source format itself does not keep is normalised."""
        document = copy.deepcopy(EXAMPLE)
        document["attempts"]["1"]["steps"][0] |= {"observation": [], "tools": []}
        document["note"] = {"a": None}

        report = measure(tasks, log, Source.of(document))

        assert counts(3, 0, 3, 0, 0) == report.counts
        assert [
            ("normalised", f"{STEP}/tools"),
            ("normalised", f"{STEP}/observation"),
            ("normalised", "/note/a"),
        ] == entries(report)

    def test_changed_value(self, tasks: Format, log: Format) -> None:
        """A value that comes back changed is not kept."""

        class Changing(Format):
            def to_storyline(self, document: Json) -> Json:
                for storyline in super().to_storyline(document):
                    for turn in storyline.turns:
                        turn.message = turn.message.replace("x", "y")
                    yield storyline

        changed = copy.copy(log)
        changed.__class__ = Changing
        document = copy.deepcopy(EXAMPLE)
        document["attempts"]["1"]["steps"][0]["text"] = "x"

        assert ("carried", f"{STEP}/text") in entries(measure(tasks, changed, Source.of(document)))

    def test_own_format(self, tasks: Format) -> None:
        """A format keeps what it reads."""
        report = measure(tasks, tasks, Source.of(copy.deepcopy(EXAMPLE)))

        assert counts(9, 0, 0, 0, 0) == report.counts

    def test_envelopes_of_the_source(self, tasks: Format, log: Format) -> None:
        """An envelope of the source is no part of it, but what it carried is converted with it."""
        document = copy.deepcopy(EXAMPLE)
        document["attempts"]["1"]["_storyline"] = {
            "unknown_fields": {
                "version": 1,
                "by_trajectory": {
                    "": {"sources": {"atif": {"source_document_id": "T", "fields": {"/v": 1}}}}
                },
            }
        }

        assert counts(3, 6, 0, 0, 0) == measure(tasks, log, Source.of(document)).counts


class TestSynthesised:
    def test_fields_that_the_target_makes_up(self, tasks: Format, log: Format) -> None:
        """Hub fields that only the output has are synthesised, by their pointer in the Storyline."""

        class Inventive(Format):
            def to_storyline(self, document: Json) -> Json:
                (storyline,) = super().to_storyline(document)
                wire = to_wire(storyline)
                wire["agent"]["name"] = "log"
                wire["task"] = {
                    "env": {"name": "e", "state": {"variant_index": 0}},
                    "result": {"score": {"a": 1}},
                }
                wire["extra"] = {"a": {"b": 1}}
                wire["turns"][0] |= {
                    "model": "m",
                    "metrics": {"a": 1, "b": 2},
                    "prompt": {"system": "s", "user": "u"},
                    "tool_calls": [
                        {"tcid": "c1", "fn": "bash", "args": {}, "duration_ms": 5},
                        {"tcid": "c2", "fn": "bash", "args": {}},
                    ],
                }
                wire["turns"].append({"id": 7, "src": "system", "msg": "more", "model": "m"})
                yield from_wire(wire)

        inventive = copy.copy(log)
        inventive.__class__ = Inventive

        report = measure(tasks, inventive, Source.of(copy.deepcopy(EXAMPLE)), carry=False)

        assert [
            "/agent/name",
            "/extra",
            "/task/env/name",
            "/task/env/state/variant_index",
            "/task/result/score",
            "/turns/0/tool_calls/0/duration_ms",
            "/turns/0/tool_calls/1",
            "/turns/0/metrics",
            "/turns/0/model",
            "/turns/0/prompt/system",
            "/turns/0/prompt/user",
            "/turns/1",
        ] == [pointer for kind, pointer in entries(report) if kind == "synthesised"]
        assert {True} == {
            one.in_storyline for one in report.documents[0].entries if one.kind == "synthesised"
        }

    def test_calls_of_a_turn_without_any(self, log: Format) -> None:
        """Calls that a turn did not have count once."""

        class Calling(Format):
            def to_storyline(self, document: Json) -> Json:
                (storyline,) = super().to_storyline(document)
                wire = to_wire(storyline)
                wire["turns"][0]["tool_calls"] = []
                yield from_wire(wire)

        calling = copy.copy(log)
        calling.__class__ = Calling
        document = {"title": "s", "entries": [{"who": "user", "says": "hi"}]}

        report = measure(log, calling, Source.of(document))

        assert [("synthesised", "/turns/0/tool_calls")] == entries(report)


class TestStorylines:
    def storyline(self) -> Storyline:
        wire = {
            "schema_version": "storyline/v1",
            "session": "s",
            "agent": {"id": "log"},
            "origin": {"format": "log"},
            "turns": [{"id": 1, "src": "user", "msg": "hi", "model": "m"}],
            "notes": "n",
        }
        return from_wire(wire)

    def test_leaves_of_a_storyline(self, log: Format) -> None:
        """A Storyline is compared with what is read of the output."""
        one = self.storyline()
        add_residuals(one, "atif", "T", {"/v": [1, {}]})

        report = measure(Formats([])["storyline"], log, Source.of(to_wire(one)))

        assert [
            ("carried", "/notes"),
            ("carried", "/turns/0/model"),
            ("carried", "/unknown_fields/sources/atif/fields/~1v/0"),
            ("carried", "/unknown_fields/sources/atif/fields/~1v/1"),
            ("carried", "/unknown_fields/sources/atif/source_document_id"),
            ("carried", "/unknown_key_counts/atif/~1v"),
        ] == entries(report)
        assert 7 == report.counts["kept"]

    def test_format_without_a_writer(self, tasks: Format, log: Format) -> None:
        """So is what a format that is only read gives."""
        read_only = copy.copy(tasks)
        vars(read_only)["can_write"] = False
        document = {"task": "t", "attempts": {"1": {"steps": [{"step_id": 1, "text": "a"}]}}}

        report = measure(read_only, log, Source.of(document))

        assert {
            ("carried", "/agent/id"),
            ("carried", "/origin/format"),
            ("carried", "/run"),
            ("carried", "/attempt_id"),
            ("carried", "/turns/0/nllm"),
        } == set(entries(report))

    @given(one=storylines(max_turns=3), carry=st.booleans())
    def test_every_leaf_in_one_class(self, log: Format, one: Storyline, *, carry: bool) -> None:
        """Every leaf is in one class; nothing is dropped with the carrier, nothing carried without."""
        report = measure(Formats([])["storyline"], log, Source.of(to_wire(one)), carry=carry)

        numbers = report.counts
        assert number_of_leaves(to_wire(one)) == sum(numbers.values()) - numbers["synthesised"]
        assert 0 == numbers["dropped" if carry else "carried"]
        assert 0 == numbers["normalised"]


def number_of_leaves(value: Json) -> int:
    if isinstance(value, dict | list) and value:
        return sum(map(number_of_leaves, value.values() if isinstance(value, dict) else value))
    return 1


class TestDocuments:
    def test_several_documents(self, tasks: Format, log: Format) -> None:
        """Each source document has its own part; one that is refused has none."""
        other = {"task": "t", "attempts": {"1": {"steps": [{"step_id": 1, "text": "a", "v": 1}]}}}
        refused: Json = {"task": "t", "attempts": {"1": {"steps": None}}}
        source = Source.of(copy.deepcopy(EXAMPLE), refused, other, name="runs.jsonl")

        report = measure(tasks, log, source)

        assert [
            (0, "runs.jsonl", counts(3, 6, 0, 0, 0)),
            (2, "runs.jsonl", counts(3, 1, 0, 0, 0)),
        ] == [(document.index, document.name, document.counts) for document in report.documents]

    def test_several_storylines_in_a_document(self, tasks: Format, log: Format) -> None:
        """Storylines that go to several documents come back into the one that they are of."""
        steps = [{"step_id": 1, "text": "a"}]
        document = {"task": "t", "attempts": {key: {"steps": steps} for key in ("1", "2", "3")}}

        report = measure(tasks, log, Source.of(document))

        assert 1 == len(report.documents)
        assert 0 == report.counts["dropped"]

    def test_nothing(self, tasks: Format, log: Format) -> None:
        """A source of which nothing can be read has an empty report."""
        report = measure(tasks, log, Source.of({"task": "t", "attempts": {"1": {}}}))

        assert Report("tasks", "log", []) == report
        assert "tasks -> log: 0 kept, 0 carried, 0 normalised, 0 dropped, 0 synthesised\n" == (
            report.to_text()
        )


REPORT = Report(
    "tasks",
    "ale",
    [
        DocumentReport(
            0,
            None,
            7,
            [
                Entry("carried", "/attempts/1/steps/0/observation/0/type"),
                Entry("carried", "/attempts/1/steps/0/observation/0/tool_use_id"),
                Entry("synthesised", "/agent/name", in_storyline=True),
                Entry("synthesised", "/task/env/name", in_storyline=True),
                Entry("synthesised", "/task/env/state/variant_index", in_storyline=True),
            ],
        )
    ],
)
SUMMARY = {"kept": 7, "carried": 2, "normalised": 0, "dropped": 0, "synthesised": 3}


class TestShapes:
    def test_json(self) -> None:
        """The report for programs is that of carrier.md 12, example 9."""
        assert {
            "version": 1,
            "from": "tasks",
            "to": "ale",
            "summary": SUMMARY,
            "documents": [
                {
                    "index": 0,
                    "summary": SUMMARY,
                    "entries": [
                        {"class": "carried", "pointer": "/attempts/1/steps/0/observation/0/type"},
                        {
                            "class": "carried",
                            "pointer": "/attempts/1/steps/0/observation/0/tool_use_id",
                        },
                        {"class": "synthesised", "pointer": "/agent/name", "in": "storyline"},
                        {"class": "synthesised", "pointer": "/task/env/name", "in": "storyline"},
                        {
                            "class": "synthesised",
                            "pointer": "/task/env/state/variant_index",
                            "in": "storyline",
                        },
                    ],
                }
            ],
        } == REPORT.to_json()
        assert list(SUMMARY) == list(REPORT.to_json()["summary"])

    def test_name(self) -> None:
        """A document of a file has the name of the file."""
        named = DocumentReport(3, "run.json", 1, [])

        assert {
            "index": 3,
            "name": "run.json",
            "summary": counts(1, 0, 0, 0, 0),
            "entries": [],
        } == named.to_json()

    def test_text(self) -> None:
        """The report for people is that of carrier.md 12, example 9."""
        assert (
            "tasks -> ale: 7 kept, 2 carried, 0 normalised, 0 dropped, 3 synthesised\n"
            "carried      /attempts/*/steps/*/observation/*/tool_use_id\n"
            "carried      /attempts/*/steps/*/observation/*/type\n"
            "synthesised  /agent/name\n"
            "synthesised  /task/env/name\n"
            "synthesised  /task/env/state/variant_index\n"
        ) == REPORT.to_text()

    def test_residuals(self) -> None:
        """Residuals at places that differ in indices only are one line as well: their pointers stand as keys."""
        entries = [Entry("dropped", f"/fields/~1{index}~1a~01") for index in range(3)]
        report = Report("a", "b", [DocumentReport(0, None, 0, entries)])

        assert "dropped      /fields/~1*~1a~01  (3)" == report.to_text().splitlines()[1]

    def test_equal_lines(self) -> None:
        """Equal lines are one, with their number; classes stand in their order."""
        report = join(
            [
                Report(
                    "a", "b", [DocumentReport(0, None, 0, [Entry("dropped", f"/steps/{index}")])]
                )
                for index in range(3)
            ]
            + [
                Report(
                    "a",
                    "b",
                    [
                        DocumentReport(
                            0, None, 2, [Entry("dropped", "/steps/x1"), Entry("normalised", "/z")]
                        )
                    ],
                )
            ]
        )

        assert (
            "a -> b: 2 kept, 0 carried, 1 normalised, 4 dropped, 0 synthesised\n"
            "normalised   /z\n"
            "dropped      /steps/*  (3)\n"
            "dropped      /steps/x1\n"
        ) == report.to_text()
