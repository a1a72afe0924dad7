"""The carrier: sealed by every format alike, opened again, and stale where a document was edited."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.carrier import digest, turn_index
from hub.codec import from_wire
from hub.conversion import read_documents, write_documents
from hub.errors import InvalidDocument, Json, Problem
from hub.json import dumps, loads
from hub.registry import Format, Formats
from hub.residuals import add_residuals, equal
from hub.sealing import entries
from hub.source import Source
from hub.storyline.model import Residuals, Storyline
from hub.testing.strategies import json_values, storylines
from hub.wire import to_wire
from hub.writing import WriteOptions

USER = {"id": 1, "src": "user", "msg": "hi"}
AGENT = {"id": 2, "src": "agent", "msg": "ok", "model": "m", "ts": "2026-01-01T00:00:00Z"}


def storyline(*turns: Json, **members: Json) -> Storyline:
    """Return a Storyline of *turns*, of the format `log` unless *members* say otherwise."""
    wire = {
        "schema_version": "storyline/v1",
        "session": "s",
        "agent": {"id": "log"},
        "origin": {"format": "log"},
        "turns": list(turns),
    }
    return from_wire(wire | members)


def write(format: Format, *batch: Storyline, carry: bool = True) -> list[Json]:
    """Return the documents of *batch*, by way of their bytes."""
    written = write_documents(format, batch, WriteOptions(carry=carry))
    documents = [one.document for one in written]
    return [loads(dumps(document)) for document in documents]


def read(format: Format, *documents: Json) -> tuple[list[Storyline], list[Problem]]:
    """Return what is read of *documents*, which stay as they are."""
    source = Source.of(*(loads(dumps(document)) for document in documents))
    readings = list(read_documents(format, source))
    return (
        [storyline for reading in readings for storyline in reading.storylines],
        [problem._replace(document=None) for reading in readings for problem in reading.problems],
    )


def reread(format: Format, *documents: Json) -> list[Storyline]:
    """Return the Storylines of *documents*, in which there is no problem."""
    found, problems = read(format, *documents)
    assert [] == problems
    return found


def warning(rule: str, message: str, pointer: str = "") -> tuple[str, str, str]:
    return (rule, pointer, message)


def warnings(problems: Sequence[Problem]) -> list[tuple[str, str, str]]:
    assert {"warning"} >= {problem.severity for problem in problems}
    return [(problem.rule, problem.pointer, problem.message) for problem in problems]


def fields(document: Json) -> dict[str, Json]:
    """Return the entries that a document with one node, the document itself, carries."""
    carriers = document["_storyline"]["unknown_fields"]["by_trajectory"]
    carried: dict[str, Json] = carriers[""]["sources"]["storyline"]["fields"]
    return carried


def sealed(sources: Json, carrier: str = "") -> Json:
    return {"unknown_fields": {"version": 1, "by_trajectory": {carrier: {"sources": sources}}}}


def assert_same(expected: Sequence[Storyline], found: Sequence[Storyline]) -> None:
    """Check that two lists of Storylines are equal in any order, integer and float kept apart."""

    def order(one: Storyline) -> str:
        return repr(sorted(to_wire(one).items(), key=lambda member: member[0]))

    for one, other in zip(sorted(expected, key=order), sorted(found, key=order), strict=True):
        assert equal(to_wire(one), to_wire(other))


EXAMPLE_1: Json = {
    "title": "s",
    "entries": [{"who": "user", "says": "hi"}, {"who": "agent", "says": "ok"}],
    "_storyline": sealed(
        {
            "storyline": {
                "source_document_id": "s",
                "fields": {
                    "": {
                        "digest": "996a87e2e0e8f155ea41700d49b44200",
                        "patch": [{"op": "add", "path": "/run", "value": "r"}],
                    },
                    "/turns/1": {
                        "digest": "2679354d7103e0e3abc4d6e63ab1b3c9",
                        "patch": [
                            {"op": "add", "path": "/model", "value": "m"},
                            {"op": "add", "path": "/ts", "value": "2026-01-01T00:00:00Z"},
                        ],
                    },
                },
            }
        }
    ),
}


class TestWorkedExamples:
    def test_speaker_and_text_only(self, log: Format) -> None:
        """What the format does not say is carried, element by element (carrier.md 12, example 1)."""
        intended = storyline(USER, AGENT, run="r")

        assert [EXAMPLE_1] == write(log, intended)
        assert [intended] == reread(log, EXAMPLE_1)

    def test_nothing_to_carry(self, log: Format) -> None:
        """Without a difference there is no envelope (example 2)."""
        assert [{"title": "s", "entries": [{"who": "user", "says": "hi"}]}] == write(
            log, storyline(USER)
        )

    def test_turns_that_go_and_come(self) -> None:
        """Turns that the target does not keep are added, turns of its own removed (example 5)."""
        text = "z" * 101
        call = {"tcid": "c", "fn": "f", "args": {}}
        added = {"id": 2, "src": "agent", "msg": "", "tool_calls": [call]}
        intended = storyline(
            USER,
            added,
            {"id": 3, "src": "agent", "msg": text},
            {"id": 4, "src": "user", "msg": "bye"},
        )
        plain = storyline(
            USER,
            {"id": 2, "src": "agent", "msg": text},
            {"id": 3, "src": "note", "msg": "(long)"},
            {"id": 4, "src": "user", "msg": "bye"},
        )
        carried = entries(plain, intended)

        assert ["", "/turns/1"] == list(carried)
        assert {
            "digest": "996a87e2e0e8f155ea41700d49b44200",
            "patch": [
                {"op": "remove", "path": "/turns/2", "digest": "d29f4451f396600015122598dd3cdfcd"},
                {"op": "add", "path": "/turns/1", "value": added},
            ],
        } == carried[""]
        assert [{"op": "replace", "path": "/id", "value": 3}] == carried["/turns/1"]["patch"]

    def test_edited_text(self, log: Format) -> None:
        """An edit wins, and costs what was carried of that turn only (example 6)."""
        document = copy.deepcopy(EXAMPLE_1)
        document["entries"][1]["says"] = "edited"

        found, problems = read(log, document)

        assert [storyline(USER, {"id": 2, "src": "agent", "msg": "edited"}, run="r")] == found
        assert [
            warning("carrier.stale", "/turns/1: the document was edited, the edit wins")
        ] == warnings(problems)

    def test_taken_id(self, log: Format) -> None:
        """An edited turn whose id another turn got takes the next integer above all ids (example 7)."""
        turns = [
            {"id": number, "src": "agent", "msg": f"m{number}", "model": "m"}
            for number in (1, 3, 2)
        ]
        (document,) = write(log, storyline(*turns))
        document["entries"][1]["says"] = "edited"

        found, problems = read(log, document)

        assert [storyline(turns[0], {"id": 4, "src": "agent", "msg": "edited"}, turns[2])] == found
        assert [
            warning("carrier.stale", "/turns/1: the document was edited, the edit wins"),
            warning("carrier.turn-id", "/turns/1: id 2 is taken, 4 is not"),
        ] == warnings(problems)

    def test_two_nodes(self, tasks: Format) -> None:
        """Every node holds its own envelope; the root form is read as well (example 8)."""
        first, second = (
            storyline(
                {"id": 1, "src": "agent", "msg": text, "nllm": 1},
                session=session,
                run="bug-7",
                agent={"id": "tasks"},
                origin={"format": "tasks"},
                **more,
            )
            for text, session, more in (("a", "e1", {"notes": "first"}), ("b", "e2", {}))
        )
        sources = [
            {
                "storyline": {
                    "source_document_id": "e1",
                    "fields": {
                        "": {
                            "digest": "211ccb3df229f7bfe09dcad7ef53a8e2",
                            "patch": [
                                {"op": "remove", "path": "/attempt_id"},
                                {"op": "add", "path": "/notes", "value": "first"},
                                {"op": "replace", "path": "/session", "value": "e1"},
                            ],
                        }
                    },
                }
            },
            {
                "storyline": {
                    "source_document_id": "e2",
                    "fields": {
                        "": {
                            "digest": "8a07b32602d0663120c54ee8c5fb70f7",
                            "patch": [
                                {"op": "remove", "path": "/attempt_id"},
                                {"op": "replace", "path": "/session", "value": "e2"},
                            ],
                        }
                    },
                }
            },
        ]
        attempts: Json = {
            "1": {"steps": [{"step_id": 1, "text": "a"}]},
            "2": {"steps": [{"step_id": 1, "text": "b"}]},
        }
        written = {
            "task": "bug-7",
            "attempts": {
                "1": attempts["1"] | {"_storyline": sealed(sources[0])},
                "2": attempts["2"] | {"_storyline": sealed(sources[1])},
            },
        }
        root_form = {
            "task": "bug-7",
            "attempts": attempts,
            "_storyline": {
                "unknown_fields": {
                    "version": 1,
                    "by_trajectory": {
                        "/attempts/1": {"sources": sources[0]},
                        "/attempts/2": {"sources": sources[1]},
                    },
                }
            },
        }

        assert [written] == write(tasks, first, second)
        assert [first, second] == reread(tasks, written)
        assert [first, second] == reread(tasks, root_form)


class TestRelay:
    """Every Storyline comes back from every format: no plugin helps."""

    @given(one=storylines())
    def test_log(self, log: Format, one: Storyline) -> None:
        """A format that maps messages only relays everything."""
        assert_same([one], reread(log, *write(log, one)))

    @given(batch=st.lists(storylines(max_turns=3), min_size=1, max_size=3))
    def test_tasks(self, tasks: Format, batch: list[Storyline]) -> None:
        """So does one whose documents hold several Storylines."""
        assert_same(batch, reread(tasks, *write(tasks, *batch)))

    @given(one=storylines(max_turns=3))
    def test_chain(self, log: Format, tasks: Format, one: Storyline) -> None:
        """A chain of formats loses nothing, and costs no more than its last step."""
        once = write(log, one)
        (relayed,) = reread(tasks, *write(tasks, one))
        (relayed,) = reread(log, *write(log, relayed))
        (relayed,) = reread(tasks, *write(tasks, relayed))

        assert_same([one], [relayed])
        assert equal(once, write(log, relayed))

    @given(one=storylines(max_turns=3))
    def test_own_format(self, log: Format, one: Storyline) -> None:
        """What a format keeps of its own needs no envelope."""
        (plain,) = reread(log, *write(log, one, carry=False))

        assert "_storyline" not in write(log, plain)[0]

    @given(one=storylines(max_turns=3))
    def test_sharing(self, log: Format, one: Storyline) -> None:
        """Writing changes no Storyline."""
        before = copy.deepcopy(one)

        write(log, one)

        assert equal(to_wire(before), to_wire(one))

    @given(one=storylines())
    def test_without_carrier(self, log: Format, one: Storyline) -> None:
        """Without carrier a document is what the plugin wrote."""
        (document,) = write(log, one, carry=False)

        assert ["title", "entries"] == list(document)

    def test_long_text_is_not_stored_again(self, log: Format) -> None:
        """A long text that the document says already does not stand in its envelope."""
        text = "long " * 30
        (document,) = write(
            log,
            storyline(
                {
                    "id": 1,
                    "src": "agent",
                    "msg": text,
                    "observation": {"results": [{"content": text}]},
                }
            ),
        )

        assert 1 == dumps(document).count(text.encode())

    def test_long_text_of_another_turn(self, log: Format) -> None:
        """A long text that another turn of the document has is named, however far away that is."""
        far, lone = "far " * 500, "lone " * 500
        turns = [{"id": number, "src": "user", "msg": "m"} for number in range(1, 200)]
        turns[0]["model"] = far
        turns[1]["model"] = lone
        turns[150]["msg"] = far
        one = storyline(*turns)
        (written,) = write(log, one)

        assert [{"from": "/turns/150/msg", "digest": digest(far)}] == fields(written)["/texts"]
        assert [{"op": "copy", "from": "/$texts/0", "path": "/model"}] == fields(written)[
            "/turns/0"
        ]["patch"]
        assert [{"op": "add", "path": "/model", "value": lone}] == fields(written)["/turns/1"][
            "patch"
        ]
        assert [one] == reread(log, written)

    def test_storylines_without_keys(self, tasks: Format) -> None:
        """Storylines that read back under other names are matched in order."""
        batch = [
            storyline({"id": 1, "src": "user", "msg": str(number)}, session="same")
            for number in range(12)
        ]

        assert batch == reread(tasks, *write(tasks, *batch))

    def test_deep_values(self, log: Format) -> None:
        """Values nearly as deep as a document may be are carried."""
        value: Json = 1
        for _ in range(480):
            value = [value]
        one = storyline({"id": 1, "src": "user", "msg": "", "extra": value}, extra={"a": value})

        assert_same([one], reread(log, *write(log, one)))

    @pytest.mark.parametrize("place", ["msg", "extra", "metrics", "observation"])
    def test_deep_values_anywhere(self, log: Format, tasks: Format, place: str) -> None:
        """Wherever they are, and by whatever way."""
        value: Json = 1
        for level in range(480):
            value = [value] if level % 2 else {"k": value}
        one = storyline({"id": 1, "src": "user", "msg": ""} | {place: value})

        (relayed,) = reread(log, *write(log, one))

        assert_same([one], reread(tasks, *write(tasks, relayed)))

    def test_too_deep_with_the_envelope(self, log: Format) -> None:
        """A document whose envelope takes it beyond 512 levels is not written (validation.md 9)."""
        value: Json = 1
        for _ in range(505):
            value = [value]

        with pytest.raises(InvalidDocument, match=r"input\.depth"):
            write(log, storyline(USER, extra=value))


class TestResiduals:
    def test_foreign_residuals_travel_beside_the_carrier(self, log: Format) -> None:
        """Foreign residuals stand in the envelope unchanged."""
        one = storyline(
            USER,
            unknown_fields={
                "sources": {"atif": {"source_document_id": "T", "fields": {"/v": None}}}
            },
            unknown_key_counts={"atif": {"/v": 1}},
        )

        (document,) = write(log, one)

        expected = {"atif": {"source_document_id": "T", "fields": {"/v": None}}}
        assert sealed(expected) == document["_storyline"]
        assert [one] == reread(log, document)

    def test_no_carry_leaves_them_out(self, log: Format) -> None:
        """Without carrier there is no envelope for them either."""
        one = storyline(
            USER,
            unknown_fields={
                "sources": {"atif": {"source_document_id": "T", "fields": {"/v": None}}}
            },
            unknown_key_counts={"atif": {"/v": 1}},
        )

        assert [{"title": "s", "entries": [{"who": "user", "says": "hi"}]}] == write(
            log, one, carry=False
        )

    def test_native_residuals_are_restored(self, tasks: Format) -> None:
        """What the format captures it puts back, without an envelope."""
        document = {
            "task": "t",
            "attempts": {"1": {"steps": [{"step_id": 1, "text": "a", "v": None, "_storyline": 2}]}},
        }

        (one,) = reread(tasks, document)

        steps = "/attempts/1/steps/0"
        assert {f"{steps}/v": None, f"{steps}/_storyline": 2} == one.unknown_fields["tasks"].fields
        assert [document] == write(tasks, one)

    def test_unplaced_residual(self, tasks: Format) -> None:
        """A native residual without a place travels under the name of its own format, with a warning."""
        (one,) = reread(
            tasks, {"task": "t", "attempts": {"1": {"steps": [{"step_id": 1, "text": "a"}]}}}
        )
        add_residuals(one, "tasks", "t", {"/attempts/1/steps/5/v": 7})
        options = WriteOptions()

        documents: list[Json] = [
            written.document for written in write_documents(tasks, [one], options)
        ]

        expected = {"tasks": {"source_document_id": "t", "fields": {"/attempts/1/steps/5/v": 7}}}
        assert sealed(expected) == documents[0]["attempts"]["1"]["_storyline"]
        assert [one] == reread(tasks, *documents)
        assert [
            Problem(
                severity="warning",
                rule="residual.unplaced",
                pointer="/attempts/1/steps/5/v",
                message="no place in the document; it travels in the envelope",
                document="t",
                expected="a place for the residual",
                found="7",
            )
        ] == [problem for _, problem in options.problems]

    def test_file_wins_over_the_envelope(self, tasks: Format) -> None:
        """A native residual that the file has too is taken from the file."""
        document = {
            "task": "t",
            "attempts": {
                "1": {
                    "steps": [{"step_id": 1, "text": "a", "v": 1}],
                    "_storyline": sealed(
                        {
                            "tasks": {
                                "source_document_id": "old",
                                "fields": {"/attempts/1/steps/0/v": 2, "/w": 3},
                            }
                        }
                    ),
                }
            },
        }

        (one,) = reread(tasks, document)

        assert (
            Residuals(source_document_id="t", fields={"/attempts/1/steps/0/v": 1, "/w": 3})
            == one.unknown_fields["tasks"]
        )

    def test_carrier_in_a_storyline_document(self, log: Format) -> None:
        """A Storyline document in which a tool left the carrier as a residual is read with it (carrier.md 6)."""
        storyline_format = Formats([])["storyline"]
        plain = storyline(USER, {"id": 2, "src": "agent", "msg": "ok"})
        carried = fields(EXAMPLE_1)
        wire = to_wire(plain) | {
            "unknown_fields": {
                "sources": {"storyline": {"source_document_id": "s", "fields": carried}}
            },
            "unknown_key_counts": {"storyline": {"": 1, "/turns/1": 1}},
        }

        assert reread(log, EXAMPLE_1) == reread(storyline_format, wire)
        assert [storyline(USER, AGENT, run="r")] == reread(storyline_format, wire)


def edited(change: Callable[[Json], object], document: Json = EXAMPLE_1) -> Json:
    """Return a copy of *document* with *change* made to it."""
    document = copy.deepcopy(document)
    change(document)
    return document


def carrying(carried: Json) -> Json:
    """Return the document of example 1 with other entries."""
    sources = {"storyline": {"source_document_id": "s", "fields": carried}}
    return EXAMPLE_1 | {"_storyline": sealed(sources)}


PLAIN = storyline(USER, {"id": 2, "src": "agent", "msg": "ok"})
"""The document of example 1 without its envelope."""

ROOT_DIGEST = "996a87e2e0e8f155ea41700d49b44200"
TURN_DIGEST = "2679354d7103e0e3abc4d6e63ab1b3c9"


class TestEditedDocuments:
    """carrier.md 7."""

    def test_root_value(self, log: Format) -> None:
        """An edited root keeps its plain reading; the turns keep what was carried of them."""

        def change(document: Json) -> None:
            document["title"] = "other"

        found, problems = read(log, edited(change))

        assert [storyline(USER, AGENT, session="other")] == found
        assert [
            warning("carrier.stale", "root: the document was edited, the edit wins")
        ] == warnings(problems)

    def test_deleted_and_inserted_steps(self, tasks: Format) -> None:
        """Where ids are explicit, entries find their turns by digest."""
        turns = [
            {"id": number, "src": "agent", "msg": f"m{number}", "nllm": 1, "model": f"M{number}"}
            for number in (1, 2, 3, 4)
        ]
        (document,) = write(
            tasks,
            storyline(
                *turns, run="s", attempt_id="1", origin={"format": "tasks"}, agent={"id": "tasks"}
            ),
        )

        def change(document: Json) -> None:
            steps = document["attempts"]["1"]["steps"]
            del steps[1]
            steps.insert(0, {"step_id": 9, "text": "new"})

        found, problems = read(tasks, edited(change, document))

        assert [
            {"id": 9, "src": "agent", "msg": "new", "nllm": 1},
            turns[0],
            turns[2],
            turns[3],
        ] == to_wire(found[0])["turns"]
        assert [
            warning(
                "carrier.stale",
                "/turns/1: the document was edited, the edit wins",
                "/attempts/1",
            )
        ] == warnings(problems)

    def test_reordered_steps(self, tasks: Format) -> None:
        """Reordered turns keep what was carried of them."""
        turns = [
            {"id": number, "src": "agent", "msg": "", "nllm": 1, "model": f"M{number}"}
            for number in (1, 2, 3)
        ]
        (document,) = write(tasks, storyline(*turns))

        found, problems = read(
            tasks, edited(lambda document: document["attempts"]["1"]["steps"].reverse(), document)
        )

        assert turns[::-1] == to_wire(found[0])["turns"]
        assert [] == problems

    def test_node_cut_out(self, tasks: Format) -> None:
        """A node that is moved to a document of its own takes its envelope along."""
        batch = [
            storyline({"id": 1, "src": "user", "msg": text}, session=text, run="r", attempt_id=text)
            for text in ("a", "b")
        ]
        (document,) = write(tasks, *batch)
        alone = {"task": "r", "attempts": {"b": document["attempts"]["b"]}}

        found, problems = read(tasks, alone)

        assert to_wire(batch[1])["turns"] == to_wire(found[0])["turns"]
        assert ["root: the document was edited, the edit wins"] == [
            problem.message for problem in problems
        ]

    def test_envelope_removed(self, log: Format) -> None:
        """Without its envelope a document is read plainly."""
        assert [PLAIN] == reread(log, edited(lambda document: document.pop("_storyline")))

    def test_removed_turn_of_the_targets_own_is_edited(self, log: Format) -> None:
        """A turn that was to be removed stays when it was edited; added turns come all the same."""
        note = {"id": 2, "src": "agent", "msg": "ok"}
        new = {"id": 7, "src": "user", "msg": "new"}
        moves = [
            {"op": "remove", "path": "/turns/1", "digest": digest(note)},
            {"op": "add", "path": "/turns/1", "value": new},
        ]
        document = carrying({"": {"digest": ROOT_DIGEST, "patch": moves}})

        assert [storyline(USER, new)] == reread(log, document)

        document["entries"] = [{"who": "user", "says": "hi"}, {"who": "agent", "says": "edited"}]
        document["title"] = "other"
        found, problems = read(log, document)

        assert [
            storyline(USER, new, {"id": 2, "src": "agent", "msg": "edited"}, session="other")
        ] == found
        assert [
            warning("carrier.stale", "/turns/1: expected the turn to remove, found none")
        ] == warnings(problems)

    def test_fewer_turns_than_the_index(self, log: Format) -> None:
        """A turn whose index is beyond the end is added at the end."""
        new = {"id": 7, "src": "user", "msg": "new"}
        moves = [{"op": "add", "path": "/turns/99", "value": new}]

        assert [storyline(USER, {"id": 2, "src": "agent", "msg": "ok"}, new)] == reread(
            log, carrying({"": {"digest": ROOT_DIGEST, "patch": moves}})
        )

    def test_order_of_added_turns(self, log: Format) -> None:
        """Turns are added at their indices among the turns that there are then."""
        first, second = ({"id": number, "src": "user", "msg": "new"} for number in (7, 8))
        moves = [
            {"op": "add", "path": "/turns/2", "value": second},
            {"op": "add", "path": "/turns/0", "value": first},
        ]

        assert [storyline(first, USER, second, {"id": 2, "src": "agent", "msg": "ok"})] == reread(
            log, carrying({"": {"digest": ROOT_DIGEST, "patch": moves}})
        )

    def test_turns_behind_a_removed_one(self, log: Format) -> None:
        """A turn that is removed takes none of those behind it along."""
        moves = [{"op": "remove", "path": "/turns/0", "digest": digest(USER)}]

        assert [storyline({"id": 2, "src": "agent", "msg": "ok"})] == reread(
            log, carrying({"": {"digest": ROOT_DIGEST, "patch": moves}})
        )

    def test_id_of_an_added_turn(self, log: Format) -> None:
        """A plain turn gives way where an added turn has its id."""
        new = {"id": 2, "src": "user", "msg": "new"}
        moves = [{"op": "add", "path": "/turns/0", "value": new}]

        found, problems = read(log, carrying({"": {"digest": ROOT_DIGEST, "patch": moves}}))

        assert [storyline(new, USER, {"id": 3, "src": "agent", "msg": "ok"})] == found
        assert [warning("carrier.turn-id", "/turns/1: id 2 is taken, 3 is not")] == warnings(
            problems
        )

    @given(one=storylines(), data=st.data())
    def test_any_edit(self, log: Format, one: Storyline, data: st.DataObject) -> None:
        """No edit fails or is lost; something carried that had to go has a warning."""
        (document,) = write(log, one)
        edits = data.draw(
            st.lists(st.sampled_from(["title", "say", "delete", "insert", "swap"]), max_size=3)
        )
        entries_ = document["entries"]
        for edit in edits:
            at = data.draw(st.integers(0, max(0, len(entries_) - 1)))
            if edit == "title":
                document["title"] += "!"
            elif edit == "insert":
                entries_.insert(at, {"who": "user", "says": "inserted"})
            elif entries_ and edit == "say":
                entries_[at]["says"] = "said"
            elif entries_ and edit == "delete":
                del entries_[at]
            elif entries_:
                entries_.append(entries_.pop(at))

        (found,), problems = read(log, document)

        assert {"warning"} >= {problem.severity for problem in problems}
        assert edits or [one] == [found]
        if "title" in edits:
            assert document["title"] == found.session_id


def patch_of(*operations: Json, key: str = "/turns/1", guard: str = TURN_DIGEST) -> Json:
    return carrying({key: {"digest": guard, "patch": list(operations)}})


SHAPE = "expected an entry of digest and patch, for the root or a turn"


class TestTampering:
    """An envelope comes from outside: what is wrong with it is named, and never a wrong Storyline."""

    @pytest.mark.parametrize(
        ("carried", "message"),
        [
            ({"/turns/1": None}, f"/turns/1: {SHAPE}"),
            ({"/turns/1": {}}, f"/turns/1: {SHAPE}"),
            ({"/turns/1": {"digest": TURN_DIGEST}}, f"/turns/1: {SHAPE}"),
            ({"/turns/1": {"digest": None, "patch": []}}, f"/turns/1: {SHAPE}"),
            ({"/turns/1": {"digest": TURN_DIGEST, "patch": {}}}, f"/turns/1: {SHAPE}"),
            (
                {"/turns/1": {"digest": TURN_DIGEST, "patch": [], "version": 2}},
                f"/turns/1: {SHAPE}",
            ),
            ({"": {"digest": ROOT_DIGEST}}, f"root: {SHAPE}"),
            ({"/run": {"digest": ROOT_DIGEST, "patch": []}}, f'"/run": {SHAPE}'),
            ({"/turns/01": {"digest": TURN_DIGEST, "patch": []}}, f'"/turns/01": {SHAPE}'),
            ({"/turns/-1": {"digest": TURN_DIGEST, "patch": []}}, f'"/turns/-1": {SHAPE}'),
            ({"/turns/1/msg": {"digest": TURN_DIGEST, "patch": []}}, f'"/turns/1/msg": {SHAPE}'),
            ({"/turns/\u0661": {"digest": TURN_DIGEST, "patch": []}}, f'"/turns/\u0661": {SHAPE}'),
            (
                {"/" + "x" * 500: {"digest": TURN_DIGEST, "patch": []}},
                '"/' + "x" * 77 + f"…: {SHAPE}",
            ),
        ],
    )
    def test_malformed_entry(self, log: Format, carried: Json, message: str) -> None:
        """An entry of another shape is discarded."""
        found, problems = read(log, carrying(carried))

        assert [PLAIN] == found
        assert [warning("carrier.malformed", message)] == warnings(problems)

    @pytest.mark.parametrize(
        ("operation", "message"),
        [
            (
                {"op": "test", "path": "/src", "value": "agent"},
                "expected add, remove, replace, copy or move, with its members",
            ),
            (
                {"op": "add", "path": "", "value": {}},
                "expected a pointer to something in the element",
            ),
            ({"op": "remove", "path": "/model"}, "nothing is where operation 0 goes"),
            ({"op": "copy", "from": "/id", "path": "/model"}, "expected a string to copy"),
            (
                {"op": "add", "path": "/extra" + "/a" * 100, "value": 1},
                "expected pointers of at most 100 tokens",
            ),
            ({"op": "remove", "path": "/id"}, "expected a turn with an integer id"),
            ({"op": "replace", "path": "/id", "value": True}, "expected a turn with an integer id"),
            ({"op": "replace", "path": "/id", "value": 2.0}, "expected a turn with an integer id"),
        ],
    )
    def test_patch_that_fails(self, log: Format, operation: Json, message: str) -> None:
        """A patch that fails or breaks a bound is discarded whole."""
        first = {"op": "add", "path": "/model", "value": "m"}
        document = patch_of(*(() if operation["path"] == "/model" else (first,)), operation)

        found, problems = read(log, document)

        assert [PLAIN] == found
        number = len(fields(document)["/turns/1"]["patch"]) - 1
        message = message.replace("operation 0", f"operation {number}")
        assert [warning("carrier.malformed", f"/turns/1: {message}")] == warnings(problems)

    @pytest.mark.parametrize(
        "path",
        [
            "/turns",
            "/turns/0/msg",
            "/turns/x",
            "/schema_version",
            "/unknown_fields/x",
            "/unknown_key_counts",
        ],
    )
    def test_closed_members_of_the_root(self, log: Format, path: str) -> None:
        """A patch of the root does not reach into turns and residuals."""
        member = path.split("/")[1]

        found, problems = read(
            log, patch_of({"op": "add", "path": path, "value": {}}, key="", guard=ROOT_DIGEST)
        )

        assert [PLAIN] == found
        assert [
            warning("carrier.malformed", f"root: expected no operation on /{member}")
        ] == warnings(problems)

    def test_copy_out_of_a_turn(self, log: Format) -> None:
        """Nor does it copy anything from there."""
        operation = {"op": "copy", "from": "/turns/0/msg", "path": "/notes"}

        found, problems = read(log, patch_of(operation, key="", guard=ROOT_DIGEST))

        assert [PLAIN] == found
        assert [warning("carrier.malformed", "root: expected no operation on /turns")] == warnings(
            problems
        )

    @pytest.mark.parametrize(
        "table", [5, {}, [5], [{}], [{"text": 1}], [{"from": "/x"}], [{"from": 1, "digest": "d"}]]
    )
    def test_table_of_another_shape(self, log: Format, table: Json) -> None:
        """A table of texts that is none is named, and what needs none of it is applied."""
        entry = {"digest": ROOT_DIGEST, "patch": [{"op": "add", "path": "/run", "value": "r"}]}

        found, problems = read(log, carrying({"/texts": table, "": entry}))

        assert [storyline(USER, {"id": 2, "src": "agent", "msg": "ok"}, run="r")] == found
        message = "/texts: expected an array of texts and of places with digests"
        assert [warning("carrier.malformed", message)] == warnings(problems)

    @pytest.mark.parametrize(
        "move",
        [
            {"op": "add", "path": "/turns/0", "value": "turn"},
            {"op": "add", "path": "/turns/0"},
            {"op": "remove", "path": "/turns/0"},
            {"op": "remove", "path": "/turns/0", "digest": 5},
            {"op": "replace", "path": "/turns/0", "value": {}},
            {"op": "move", "from": "/turns/0", "path": "/turns/1"},
        ],
    )
    def test_moves_of_another_shape(self, log: Format, move: Json) -> None:
        """Whole turns are added with their value and removed with their digest, or the entry goes."""
        notes = {"op": "add", "path": "/notes", "value": "n"}

        found, problems = read(log, patch_of(notes, move, key="", guard=ROOT_DIGEST))

        assert [PLAIN] == found
        assert ["carrier.malformed"] == [problem.rule for problem in problems]

    @pytest.mark.parametrize(
        "document",
        [
            patch_of({"op": "add", "path": "/foo", "value": 1}),
            patch_of({"op": "replace", "path": "/src", "value": ""}),
            patch_of({"op": "replace", "path": "/src", "value": 5}),
            patch_of({"op": "copy", "from": "/src", "path": "/$0"}),
            patch_of({"op": "replace", "path": "/id", "value": 2**63}),
            patch_of({"op": "remove", "path": "/agent/id"}, key="", guard=ROOT_DIGEST),
            patch_of({"op": "add", "path": "/turns/0", "value": {}}, key="", guard=ROOT_DIGEST),
            patch_of(
                {"op": "add", "path": "/turns/0", "value": {"id": None, "src": "a", "msg": ""}},
                key="",
                guard=ROOT_DIGEST,
            ),
            carrying(
                {
                    "/turns/0": {
                        "digest": digest(USER),
                        "patch": [{"op": "replace", "path": "/id", "value": 5}],
                    },
                    "/turns/1": {
                        "digest": TURN_DIGEST,
                        "patch": [{"op": "replace", "path": "/id", "value": 5}],
                    },
                }
            ),
        ],
    )
    def test_invalid_storyline(self, log: Format, document: Json) -> None:
        """Patches that would make no valid Storyline are discarded, all of them."""
        found, problems = read(log, document)

        assert [PLAIN] == found
        assert ["carrier.invalid"] == [problem.rule for problem in problems]
        assert problems[0].message.startswith("root: expected a valid Storyline, found ")

    def test_too_many_operations(self, log: Format) -> None:
        """An entry has at most 10 000 operations; whole turns are not counted."""
        operation = {"op": "add", "path": "/notes", "value": "n"}
        moves = [
            {"op": "add", "path": f"/turns/{at}", "value": {"id": at + 9, "src": "a", "msg": ""}}
            for at in range(10_000)
        ]

        (found,) = reread(log, patch_of(*[operation] * 10_000, *moves, key="", guard=ROOT_DIGEST))
        assert 10_002 == len(found.turns)

        found_, problems = read(log, patch_of(*[operation] * 10_001, key="", guard=ROOT_DIGEST))
        assert [PLAIN] == found_
        assert [
            warning("carrier.malformed", "root: expected an array of at most 10000 operations")
        ] == warnings(problems)

    def test_too_many_entries(self, log: Format) -> None:
        """A node has at most 1 000 000 entries."""
        document = carrying({f"/turns/{number}": 0 for number in range(1_000_001)})

        found, problems = read(log, document)

        assert [PLAIN] == found
        assert [warning("carrier.malformed", "root: expected at most 1000000 entries")] == warnings(
            problems
        )

    def test_too_much_text(self, log: Format) -> None:
        """Copies are bounded over all entries of a node."""
        text = "x" * 2**20
        copies = [{"op": "copy", "from": "/msg", "path": "/extra"}] * 200
        document = edited(lambda document: document["entries"][0].update(says=text))
        document |= {"entries": [{"who": "user", "says": text}] * 2}
        turn = {"id": 1, "src": "user", "msg": text}
        document["_storyline"] = sealed(
            {
                "storyline": {
                    "source_document_id": "s",
                    "fields": {
                        "/turns/0": {"digest": digest(turn), "patch": copies},
                        "/turns/1": {"digest": digest(turn | {"id": 2}), "patch": copies},
                    },
                }
            }
        )

        found, problems = read(log, document)

        assert [text, None] == [turn.extra for turn in found[0].turns]
        assert [
            warning(
                "carrier.malformed", "/turns/1: expected copies of at most 268435456 characters"
            )
        ] == warnings(problems)

    def test_a_turn_is_patched_once(self, log: Format) -> None:
        """A second entry for a turn finds it taken."""
        entry = {"digest": TURN_DIGEST, "patch": [{"op": "add", "path": "/model", "value": "m"}]}
        document = carrying({"/turns/1": entry, "/turns/5": entry})

        found, problems = read(log, document)

        assert [storyline(USER, {"id": 2, "src": "agent", "msg": "ok", "model": "m"})] == found
        assert [
            warning("carrier.stale", "/turns/5: the document was edited, the edit wins")
        ] == warnings(problems)

    def test_other_version(self, log: Format) -> None:
        """Another version of the envelope is fatal."""
        version = {"unknown_fields": {"version": 2, "by_trajectory": {}}}

        found, problems = read(log, EXAMPLE_1 | {"_storyline": version})

        assert [] == found
        assert ["envelope.version"] == [problem.rule for problem in problems]

    @given(one=storylines(max_turns=3), data=st.data())
    def test_any_tampering(self, log: Format, one: Storyline, data: st.DataObject) -> None:
        """Whatever stands in an envelope, reading ends with named problems."""
        (document,) = write(log, one)
        if "_storyline" in document:
            _tamper(document, data)

        found, problems = read(log, document)

        assert found or any(problem.severity == "fatal" for problem in problems)
        for one_ in found:
            assert from_wire(to_wire(one_)) == one_


def _tamper(document: Json, data: st.DataObject) -> None:
    """Replace, remove or add something at a random place of the envelope."""
    holder, key = document, "_storyline"
    while isinstance(holder[key], dict | list) and holder[key] and data.draw(st.booleans()):
        holder = holder[key]
        keys: list[Any] = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = data.draw(st.sampled_from(keys))
    what = data.draw(st.sampled_from(["replace", "remove", "add"]))
    if what == "remove":
        del holder[key]
    elif what == "add" and isinstance(holder[key], dict):
        holder[key][data.draw(st.sampled_from(["x", "/turns/0", "", "path"]))] = data.draw(
            json_values(3)
        )
    else:
        holder[key] = data.draw(json_values(4))


class TestWriting:
    def test_place_is_taken(self, log: Format) -> None:
        """A value at the place of the envelope is an error of the writer."""

        class Broken(Format):
            def from_storyline(self, *_: Any) -> Any:
                return iter([{"title": "s", "entries": [], "_storyline": 5}])

        broken = copy.copy(log)
        broken.__class__ = Broken

        with pytest.raises(InvalidDocument) as caught:
            write(broken, storyline(USER))

        assert [("envelope.reserved", "/_storyline")] == [
            (problem.rule, problem.pointer) for problem in caught.value.problems
        ]

    def test_too_few_storylines(self, log: Format) -> None:
        """A Storyline that does not come back would be lost: a bug of the plugin."""

        class Broken(Format):
            def from_storyline(self, *_: Any) -> Any:
                return iter([{"title": "s", "entries": []}])

        broken = copy.copy(log)
        broken.__class__ = Broken

        with pytest.raises(InvalidDocument) as caught:
            write(broken, storyline(USER), storyline(USER, session="t"))

        assert (
            Problem(
                severity="fatal",
                rule="carrier.match",
                pointer="",
                message="wrote 2 Storylines, 1 are read back; this is a bug of the plugin",
                expected="as many Storylines as were written",
            ),
        ) == caught.value.problems

    def test_no_place(self, memo: Format) -> None:
        """So is a node in which none of the places for an envelope can be made."""

        class Broken(Format):
            def from_storyline(self, *_: Any) -> Any:
                return iter([{"title": "s", "extra": 5}])

        broken = copy.copy(memo)
        broken.__class__ = Broken

        with pytest.raises(InvalidDocument) as caught:
            write(broken, storyline(session="s", agent={"id": "memo"}, extra={"a": 1}))

        assert (
            Problem(
                severity="fatal",
                rule="envelope.reserved",
                pointer="/extra/_storyline",
                message="expected a place for the envelope, found none",
                document="s",
                expected="a free place for the envelope",
            ),
        ) == caught.value.problems


class TestKeys:
    @pytest.mark.parametrize(
        ("key", "index"),
        [("/turns/0", 0), ("/turns/12", 12), ("/turns/9999999999999999999", 9999999999999999999)],
    )
    def test_turn(self, key: str, index: int) -> None:
        """The key of a turn names its index."""
        assert index == turn_index(key)

    @pytest.mark.parametrize("key", ["", "/turns", "/turns/", "/turns/00", "/turns/1 ", 5, None])
    def test_no_turn(self, key: Json) -> None:
        """Anything else names no turn."""
        assert turn_index(key) is None

    def test_digest(self) -> None:
        """A digest is that of the canonical JSON: key order does not count, the type of a number does."""
        assert ROOT_DIGEST == digest(
            {
                "session": "s",
                "schema_version": "storyline/v1",
                "origin": {"format": "log"},
                "agent": {"id": "log"},
            }
        )
        assert digest({"a": 1}) != digest({"a": 1.0})


class TestMapOfTheEnvelope:
    """The map that an envelope stands in goes with it when it is left empty: residuals.md 7.4."""

    @staticmethod
    def memo_storyline(**members: Json) -> Storyline:
        return storyline(agent={"id": "memo"}, origin={"format": "memo"}, **members)

    def test_nothing_else_to_carry(self, memo: Format) -> None:
        """An empty map stays where it is: no envelope is written for its sake."""
        one = self.memo_storyline(extra={})
        (written,) = write(memo, one)
        assert {"title": "s", "extra": {}} == written
        assert [one] == reread(memo, written)

    def test_more_to_carry(self, memo: Format) -> None:
        """Beside other things it is carried."""
        one = self.memo_storyline(extra={}, run="r")
        (written,) = write(memo, one)
        assert {"_storyline"} == written["extra"].keys()
        assert [one] == reread(memo, written)

    def test_foreign_residuals(self, memo: Format) -> None:
        """So it is beside residuals of another format."""
        one = self.memo_storyline(extra={})
        add_residuals(one, "vendor", "d", {"/x": 1})
        (written,) = write(memo, one)
        assert {"_storyline"} == written["extra"].keys()
        assert [one] == reread(memo, written)

    def test_another_empty_map(self, memo: Format) -> None:
        """Another empty map that the format lacks is carried as ever."""
        one = self.memo_storyline(extra={}, meta={})
        assert [one] == reread(memo, *write(memo, one))
        other = self.memo_storyline(meta={})
        (written,) = write(memo, other)
        assert {"_storyline"} == written["extra"].keys()
        assert [other] == reread(memo, written)

    def test_many(self, memo: Format) -> None:
        """Of several documents each has what it needs."""
        batch = [
            self.memo_storyline(extra={}),
            self.memo_storyline(extra={}, meta={}),
            self.memo_storyline(),
        ]
        documents = write(memo, *batch)
        assert [{}, ["_storyline"], None] == [
            list(one["extra"]) or {} if "extra" in one else None for one in documents
        ]
        assert batch == reread(memo, *documents)
