"""The stages of a conversion: reading, batches, writing, options."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hub.conversion import (
    Reading,
    batches,
    check_options,
    options_of,
    read_documents,
    split_options,
    write_documents,
)
from hub.errors import MISSING, InvalidDocument, Json, PluginError, Problem, UsageError
from hub.hookspecs import FormatInfo, Option
from hub.reading import Record
from hub.registry import Format, Formats
from hub.residuals import add_residuals
from hub.source import Source
from hub.storyline.model import Agent, Origin, Parent, Storyline, Turn
from hub.storyline.times import Zone
from hub.writing import WriteOptions

STEP = {"step_id": 1, "text": "a"}


def task(*steps: Json, name: str = "t", **members: Json) -> Json:
    """Return a document of the format `tasks` with one attempt."""
    return {"task": name, "attempts": {"1": {"steps": list(steps)} | members}}


def storyline(text: str = "a", origin: str = "other") -> Storyline:
    return Storyline(
        session_id="s",
        agent=Agent(agent_id="a"),
        origin=Origin(format=origin),
        turns=[Turn(turn_id=1, source="user", message=text)],
    )


def linked(notation: str) -> Storyline:
    """Return the Storyline `a` with the children `b` and `c` for `a>b>c`; for `a<` one with a parent."""
    name, *children = notation.rstrip("<").split(">")
    parent = Parent(session_id="p") if notation.endswith("<") else None
    return evolve(storyline(name), trajectory_id=name, child_ids=children, parent=parent)


def rules(problems: list[Problem]) -> list[tuple[str | None, str, str, str]]:
    return [(one.document, one.severity, one.rule, one.pointer) for one in problems]


def with_info(format: Format, **changes: Any) -> Format:
    """Return *format* with another description."""
    changed = copy.copy(format)
    changed.info = format.info._replace(**changes)
    return changed


class TestReading:
    def test_lazily(self, tasks: Format) -> None:
        """Documents are read one by one."""

        def values() -> Iterator[Json]:
            yield task(STEP)
            raise AssertionError

        source = Source()
        source.records = lambda **_: (Record(value) for value in values())  # type: ignore[method-assign]

        assert 1 == len(next(read_documents(tasks, source)).storylines)

    def test_envelopes_are_taken_out(self, tasks: Format) -> None:
        """The plugin sees no envelope, and the values that the caller gave have none any more."""
        sealed = {"unknown_fields": {"version": 1, "by_trajectory": {}}}
        document = task(STEP, _storyline=sealed)

        (reading,) = read_documents(tasks, Source.of(document))

        assert [] == reading.problems
        assert {} == reading.storylines[0].unknown_fields
        assert task(STEP) == document

    def test_every_file_of_a_directory_is_prepared(self, tmp_path: Path) -> None:
        """The records of the files of a directory are prepared like all others."""
        (tmp_path / "a.json").write_text("{}")
        source = Source.open(tmp_path)
        prepared: list[Record] = []
        source.prepare = prepared.append

        records = [record for file in source.files() for record in file.records()]

        assert records == prepared != []

    def test_problems_name_their_place(self, tasks: Format) -> None:
        """Problems of one of several records name it; what is wrong with one costs no other."""
        good, wrong, bad = task(STEP), task({"step_id": 1, "text": 5}), task()
        bad["attempts"]["1"]["steps"] = None

        readings = list(read_documents(tasks, Source.of(good, wrong, bad)))

        assert [1, 1, 0] == [len(reading.storylines) for reading in readings]
        assert [False, False, True] == [reading.is_fatal for reading in readings]
        assert [
            [],
            [("line 2", "error", "tasks.text", "/attempts/1/steps/0/text")],
            [("line 3", "fatal", "tasks.steps", "/attempts/1/steps")],
        ] == [rules(reading.problems) for reading in readings]

    def test_strict(self, tasks: Format) -> None:
        """Strictly, an error is fatal."""
        (reading,) = read_documents(tasks, Source.of(task({"step_id": 1, "text": 5})), strict=True)

        assert [] == reading.storylines
        assert [(None, "fatal", "tasks.text", "/attempts/1/steps/0/text")] == rules(
            reading.problems
        )

    def test_broken_envelope(self, tasks: Format) -> None:
        """A broken envelope refuses the document."""
        (reading,) = read_documents(tasks, Source.of(task(STEP, _storyline=5)))

        assert [] == reading.storylines
        assert [(None, "fatal", "envelope.shape", "/attempts/1/_storyline")] == rules(
            reading.problems
        )

    def test_document_order(self, tasks: Format) -> None:
        """Problems stand in the order of what they point to."""
        wrong = [{"step_id": number, "text": number} for number in range(1, 12)]
        document = task(*wrong)
        document["attempts"] = {"b": {"steps": None}, **document["attempts"]}

        (reading,) = read_documents(tasks, Source.of(document))

        assert ["/attempts/b/steps"] + [
            f"/attempts/1/steps/{index}/text" for index in range(11)
        ] == [problem.pointer for problem in reading.problems]

    def test_error_of_the_plugin(self, tasks: Format) -> None:
        """Whatever a plugin raises names the plugin."""
        with pytest.raises(PluginError, match=r"the plugin 'tasks' .* failed in parse: KeyError"):
            list(read_documents(tasks, Source.of({})))


class TestBatches:
    READINGS = (
        Reading([storyline("a"), storyline("b")], []),
        Reading([], []),
        Reading([storyline("c")], []),
    )

    def texts(
        self, reader: FormatInfo, writer: FormatInfo, readings: Iterable[Reading] = READINGS
    ) -> list[list[str]]:
        return [
            [one.turns[0].message for one in batch] for batch in batches(readings, reader, writer)
        ]

    def test_document(self) -> None:
        """The Storylines of one source document are written together, and those of another apart."""
        one, other = FormatInfo(id="one", title="One"), FormatInfo(id="other", title="Other")

        assert [["a", "b"], ["c"]] == self.texts(one, other)

    def test_input(self) -> None:
        """Where families are spread over documents, they are written together, and what has none by itself."""
        one, other = FormatInfo(id="one", title="One", batch="input"), FormatInfo("other", "Other")
        readings = [Reading([linked(name)], []) for name in ("a>c>b", "b<", "c<", "d", "e")]

        assert [["a", "b", "c"], ["d"], ["e"]] == self.texts(one, other, readings)
        assert [["a", "b", "c"], ["d"], ["e"]] == self.texts(one, one, readings)

    def test_gathered(self) -> None:
        """Where a written document gathers Storylines all come together, but those of its own format."""
        one = FormatInfo(id="one", title="One")
        gathering = FormatInfo(id="other", title="Other", gathers=True)

        assert [["a", "b", "c"]] == self.texts(one, gathering)
        assert [["a", "b"], ["c"]] == self.texts(gathering, gathering)

    @pytest.mark.parametrize(
        ("documents", "expected"),
        [
            (["a", "b"], ["a", "b"]),
            (["a>c>b", "b<", "c", "d"], ["abc", "d"]),
            (["a<", "b>a", "c"], ["ab", "c"]),
            (["a>x", "b", "c"], ["abc"]),
            (["a", "b<", "c"], ["a", "bc"]),
            (["a>x", "x<", "x<", "a>x", "e"], ["ax", "xa", "e"]),
            (["a>x", "x< x<", "a>x", "e"], ["axxa", "e"]),
        ],
    )
    def test_families(self, documents: list[str], expected: list[str]) -> None:
        """A writer that nests gets a Storyline with its parent and its children, whatever documents they were in."""
        readings = [
            Reading([linked(one) for one in document.split()], []) for document in documents
        ]
        one = FormatInfo(id="one", title="One")
        nesting = FormatInfo(id="other", title="Other", nodes=("", "/children/*/**"))

        assert [list(batch) for batch in expected] == self.texts(one, nesting, readings)
        assert len(documents) == len(self.texts(nesting, nesting, readings))

    def test_nothing(self) -> None:
        """Without a Storyline there is no batch."""
        one = FormatInfo(id="one", title="One", batch="input")

        assert [] == list(batches([Reading([], [])], one, one))


class TestWriting:
    def test_residuals_of_a_format_without_envelopes(self, log: Format) -> None:
        """Foreign residuals for which there is no place are reported, each of them."""
        bare = with_info(log, nodes=(), envelope=())
        one = storyline()
        add_residuals(one, "atif", "T", {"/v": 1, "/w": "x"})
        options = WriteOptions()

        (written,) = write_documents(bare, [one], options)

        assert {"title": "s", "entries": [{"who": "user", "says": "a"}]} == written.document
        assert [
            Problem(
                severity="warning",
                rule="residual.unplaced",
                pointer=pointer,
                message="no place for a residual of atif; dropped",
                document="s",
                expected="a place for the residual",
                found=found,
            )
            for pointer, found in (("/v", "1"), ("/w", '"x"'))
        ] == [problem for _, problem in options.problems]

    def test_node_without_a_place(self, log: Format) -> None:
        """Where no node is, there is no place for an envelope either."""
        other = with_info(log, nodes=("/elsewhere/*",))
        one = storyline()
        add_residuals(one, "atif", "T", {"/v": 1})
        options = WriteOptions()

        (written,) = write_documents(other, [one], options)

        assert {"title": "s", "entries": [{"who": "user", "says": "a"}]} == written.document
        assert ["/v"] == [problem.pointer for _, problem in options.problems]

    def test_no_carry_is_silent(self, log: Format) -> None:
        """Who wants no envelope is not told what is not in it."""
        one = storyline()
        add_residuals(one, "atif", "T", {"/v": 1})
        options = WriteOptions(carry=False)

        write_documents(log, [one], options)

        assert [] == options.problems

    def test_native_residual_is_dropped(self, tasks: Format) -> None:
        """A native residual without a place is reported, also when nothing is carried."""
        one = storyline(origin="tasks")
        add_residuals(one, "tasks", "s", {"/gone/v": 1})
        options = WriteOptions(carry=False)

        write_documents(tasks, [one], options)

        assert [("residual.unplaced", "/gone/v", "no place in the document; dropped")] == [
            (one.rule, one.pointer, one.message) for _, one in options.problems
        ]

    def test_storyline_format(self) -> None:
        """The hub's own format stores foreign residuals itself."""
        one = storyline()
        add_residuals(one, "atif", "T", {"/v": 1})
        options = WriteOptions()

        written: list[Json] = [
            one.document for one in write_documents(Formats([])["storyline"], [one], options)
        ]

        assert {"/v": 1} == written[0]["unknown_fields"]["sources"]["atif"]["fields"]
        assert [] == options.problems

    def test_error_in_a_conformed_document(self, tasks: Format) -> None:
        """A conformed document in which its own format finds an error is a bug of the plugin."""

        class Broken(Format):
            def from_storyline(self, *_: Any) -> Any:
                return iter([task({"step_id": 1, "text": 5})])

        broken = copy.copy(tasks)
        broken.__class__ = Broken

        with pytest.raises(PluginError) as caught:
            write_documents(broken, [storyline()], WriteOptions())

        assert str(caught.value).startswith("the plugin 'tasks' (")
        assert str(caught.value).endswith(
            ") wrote what it finds wrong when it reads it: /attempts/1/steps/0/text: error: "
            "expected a string, found 5 [tasks.text]; this is a bug of the plugin"
        )

    def test_error_in_a_restored_document(self, tasks: Format) -> None:
        """A restored document may have the errors of its source, unless it is to conform."""

        class Restoring(Format):
            def from_storyline(self, *_: Any) -> Any:
                return iter([task({"step_id": 1, "text": 5})])

        restoring = copy.copy(tasks)
        restoring.__class__ = Restoring

        assert 1 == len(write_documents(restoring, [storyline(origin="tasks")], WriteOptions()))
        with pytest.raises(PluginError):
            write_documents(
                restoring,
                [storyline(origin="tasks")],
                WriteOptions(options={"conform": "yes"}),
            )

    def test_document_that_cannot_be_read_back(self, tasks: Format) -> None:
        """A document that is refused when it is read back is a bug of the plugin."""

        class Broken(Format):
            def from_storyline(self, *_: Any) -> Any:
                return iter([{"task": "t", "attempts": {"1": {}}}])

        broken = copy.copy(tasks)
        broken.__class__ = Broken

        with pytest.raises(PluginError, match=r"\[tasks\.steps\]; this is a bug of the plugin"):
            write_documents(broken, [storyline(origin="tasks")], WriteOptions())

    def test_rows_of_an_array(self, log: Format) -> None:
        """A document that is an array is read back as its elements, with nodes in it."""

        class Rows(Format):
            def from_storyline(self, storylines: Any, options: Any) -> Any:
                return iter([list(super().from_storyline(storylines, options))])

            def to_storyline(self, document: Any) -> Any:
                for one in super().to_storyline(document):
                    one.node = f"/{document.record.index}"
                    yield one

        rows = with_info(log, nodes=("/*",))
        rows.__class__ = Rows
        batch = [storyline("a"), storyline("b")]

        (written,) = write_documents(rows, batch, WriteOptions())

        document: Json = written.document
        assert [["title", "entries", "_storyline"]] * 2 == [list(row) for row in document]

    def test_taken_place_of_a_shared_map(self, tasks: Format) -> None:
        """What no place can be made for is refused, not dropped."""
        other = with_info(tasks, envelope=("/steps/_storyline",))

        with pytest.raises(InvalidDocument, match=r"envelope\.reserved"):
            write_documents(other, [storyline()], WriteOptions())


class TestOptions:
    COLOUR = Option("colour", "a colour", "write", ("red", "blue"))
    NAME = Option("name", "a name", "read")

    def test_options_of_a_format(self, log: Format) -> None:
        """Every format that is written has the option to conform."""
        assert ["colour", "conform"] == [
            option.name for option in options_of(with_info(log, options=(self.COLOUR,)))
        ]

    def test_each_side_gets_its_own(self, log: Format, tasks: Format) -> None:
        """Options go to the side that declares them."""
        reader, writer = (
            with_info(log, options=(self.NAME,)),
            with_info(tasks, options=(self.COLOUR,)),
        )

        assert ({"name": "x"}, {"colour": "red", "conform": "yes"}) == split_options(
            {"name": "x", "colour": "red", "conform": "yes"}, reader, writer
        )

    def test_unknown_option(self, log: Format, tasks: Format) -> None:
        """An option that neither side has is misuse."""
        with pytest.raises(UsageError, match="no option 'shape' for log nor tasks"):
            split_options({"shape": "x"}, log, tasks)

    def test_value(self, log: Format) -> None:
        """A value that the option does not take is misuse."""
        with pytest.raises(UsageError, match="takes red or blue, not 'green'"):
            check_options(with_info(log, options=(self.COLOUR,)), {"colour": "green"}, "write")


class TestAsRead:
    """A document that comes out as it went in is not read again: nothing of it can be missing."""

    def test_source(self, tasks: Format) -> None:
        """A reading knows its document, unless something else had a part in it."""
        (plain,) = read_documents(tasks, Source.of(task(STEP)))
        assert task(STEP) == plain.source
        (zoned,) = read_documents(tasks, Source.of(task(STEP), zone=Zone("Z")))
        assert MISSING is zoned.source

    def test_not_read_again(self, log: Format) -> None:
        """An equal document is written without a look at it."""
        document = {"title": "s", "entries": []}
        (reading,) = read_documents(log, Source.of(document))
        (written,) = write_documents(
            unreadable(log), reading.storylines, WriteOptions(source=document)
        )
        assert document == written.document

    @pytest.mark.parametrize(
        "source", [MISSING, {"title": "s"}, {"title": "s", "entries": [], "x": None}]
    )
    def test_read_again(self, log: Format, source: Json) -> None:
        """Any other is read again."""
        (reading,) = read_documents(log, Source.of({"title": "s", "entries": []}))
        with pytest.raises(AssertionError):
            write_documents(unreadable(log), reading.storylines, WriteOptions(source=source))


def unreadable(format: Format) -> Format:
    """Return *format*, which fails when it is asked to read."""

    def parse(_: Source) -> Iterator[Any]:
        raise AssertionError

    changed = copy.copy(format)
    changed.parse = parse  # type: ignore[method-assign,assignment]
    return changed
