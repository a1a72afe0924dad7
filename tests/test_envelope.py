"""The envelope: found, checked, attached, put in."""

from __future__ import annotations

import copy

import pytest

from hub.envelope import (
    Envelope,
    attach,
    envelope,
    make_room,
    nodes,
    open_all,
    put,
    take,
)
from hub.errors import InvalidDocument, Json, Problem
from hub.hookspecs import FormatInfo
from hub.storyline.model import Agent, Residuals, Storyline
from hub.wire import to_wire

TASKS = FormatInfo(id="tasks", title="Tasks", nodes=("/attempts/*",), envelope=("/_storyline",))
TREE = FormatInfo(
    id="tree",
    title="Tree",
    nodes=("", "/children/*/**"),
    envelope=("/extra/_storyline", "/_storyline"),
)
DEEP = FormatInfo(id="deep", title="Deep", nodes=("",), envelope=("/a/b/_storyline",))

FIELDS: Json = {"/steps/0/v": None, "/vendor~1root": {"a": 1}}


def sealed(sources: Json, carrier: str = "", version: Json = 1) -> Json:
    """Return an envelope with *sources* for *carrier*."""
    return {
        "unknown_fields": {"version": version, "by_trajectory": {carrier: {"sources": sources}}}
    }


def source(fields: Json, document_id: str = "T") -> Json:
    return {"source_document_id": document_id, "fields": fields}


def storyline(node: str = "", **sources: Residuals) -> Storyline:
    return Storyline(
        session_id="s", agent=Agent(agent_id="a"), turns=[], node=node, unknown_fields=sources
    )


def open_into(
    document: Json, info: FormatInfo, *storylines: Storyline, aliases: dict[str, str] | None = None
) -> list[Problem]:
    """Take the envelopes out of *document* and attach them to *storylines*."""
    return attach(open_all(take(document, info), info, aliases or {}), storylines, info)


def rules(problems: list[Problem]) -> list[tuple[str, str]]:
    return [(problem.rule, problem.pointer) for problem in problems]


class TestNodes:
    def test_attempts(self) -> None:
        """A star is any key; what is no object is no node."""
        document: Json = {"attempts": {"1": {"a": 1}, "b/c": {}, "x": [{}], "y": None}}

        assert [("/attempts/1", {"a": 1}), ("/attempts/b~1c", {})] == list(
            nodes(document, TASKS.nodes)
        )

    def test_elements(self) -> None:
        """A star is any index as well."""
        document = [{"a": 1}, 2, {"b": 3}]

        assert [("/0", {"a": 1}), ("/2", {"b": 3})] == list(nodes(document, ("/*",)))

    def test_tree(self) -> None:
        """A pattern that ends in two stars is looked for again below each node, parents first."""
        document = {
            "children": [
                {"n": 1, "children": [{"n": 2}, {"n": 3, "children": [{"n": 4}]}]},
                {"n": 5},
            ]
        }

        assert [
            "",
            "/children/0",
            "/children/1",
            "/children/0/children/0",
            "/children/0/children/1",
            "/children/0/children/1/children/0",
        ] == [pointer for pointer, _ in nodes(document, TREE.nodes)]

    @pytest.mark.parametrize("document", [None, 1, "x", [], {}, {"attempts": 5}, {"attempts": []}])
    def test_none(self, document: Json) -> None:
        """A document of another shape has no node."""
        assert [] == list(nodes(document, TASKS.nodes))

    def test_deep_tree(self) -> None:
        """A tree as deep as a document may be has all its nodes."""
        document: Json = {}
        for _ in range(255):
            document = {"children": [document]}

        assert 256 == len(list(nodes(document, TREE.nodes)))


class TestTake:
    def test_in_each_node(self) -> None:
        """Envelopes are taken out of every node."""
        document: Json = {
            "attempts": {"1": {"_storyline": 1, "a": 2}, "_storyline": {"_storyline": 3}}
        }

        assert [
            Envelope("/attempts/1", "/attempts/1/_storyline", 1),
            Envelope("/attempts/_storyline", "/attempts/_storyline/_storyline", 3),
        ] == take(document, TASKS)
        assert {"attempts": {"1": {"a": 2}, "_storyline": {}}} == document

    def test_root_form(self) -> None:
        """A format with the place `/_storyline` is looked at in its root as well."""
        document: Json = {"_storyline": None, "attempts": {}}

        assert [Envelope("", "/_storyline", None)] == take(document, TASKS)
        assert {"attempts": {}} == document

    def test_empty_map_goes(self) -> None:
        """A map that is left empty goes with the envelope; others stay."""
        document: Json = {
            "extra": {"_storyline": 1},
            "children": [{"extra": {"_storyline": 2, "x": 3}}, {"extra": {}}],
        }

        assert ["/extra/_storyline", "/children/0/extra/_storyline"] == [
            one.place for one in take(document, TREE)
        ]
        assert {"children": [{"extra": {"x": 3}}, {"extra": {}}]} == document

    def test_all_places(self) -> None:
        """Every place of a node is looked at."""
        document = {"_storyline": 1, "extra": {"_storyline": 2}}

        assert {"/_storyline", "/extra/_storyline"} == {one.place for one in take(document, TREE)}
        assert {} == document

    def test_deep_place(self) -> None:
        """All maps that are left empty go."""
        document = {"a": {"b": {"_storyline": 1}}, "c": 2}

        take(document, DEEP)

        assert {"c": 2} == document

    @pytest.mark.parametrize(
        "document", [{}, {"extra": 5}, {"extra": None}, {"extra": []}, {"extra": {"a": 1}}, 7, []]
    )
    def test_none(self, document: Json) -> None:
        """Without an envelope nothing changes."""
        before = copy.deepcopy(document)

        assert [] == take(document, TREE)
        assert before == document


class TestAttach:
    def test_root_form(self) -> None:
        """A source goes to the Storyline whose node the carrier names (residuals.md 8, example 6)."""
        document = {
            "_storyline": sealed({"atif": source(FIELDS)}, "/attempts/1"),
            "attempts": {"1": {}},
        }
        one = storyline("/attempts/1")

        assert [] == open_into(document, TASKS, one)
        assert {"atif": Residuals(source_document_id="T", fields=FIELDS)} == one.unknown_fields
        assert {"atif": {"/steps/*/v": 1, "/vendor~1root": 1}} == to_wire(one)["unknown_key_counts"]

    def test_in_the_node(self) -> None:
        """A carrier pointer is relative to the node that holds the envelope."""
        document = {"attempts": {"1": {"_storyline": sealed({"atif": source(FIELDS)})}}}
        one, two = storyline("/attempts/1"), storyline("/attempts/2")

        assert [] == open_into(document, TASKS, one, two)
        assert FIELDS == one.unknown_fields["atif"].fields
        assert {} == two.unknown_fields

    def test_no_field(self) -> None:
        """A source without fields is accepted and not kept (residuals.md 8, example 12)."""
        one = storyline("/attempts/1")
        document = {"attempts": {"1": {"_storyline": sealed({"atif": source({})})}}}

        assert [] == open_into(document, TASKS, one)
        assert {} == one.unknown_fields

    @pytest.mark.parametrize("carrier", ["/attempts/9", "", "/attempts", "/attempts/1/x"])
    def test_no_such_node(self, carrier: str) -> None:
        """A carrier that names no node is fatal (residuals.md 8, example 9)."""
        document = {"_storyline": sealed({"atif": source(FIELDS)}, carrier)}
        at = carrier.replace("/", "~1")

        problems = open_into(document, TASKS, storyline("/attempts/1"))

        assert [
            Problem(
                severity="fatal",
                rule="envelope.carrier",
                pointer=f"/_storyline/unknown_fields/by_trajectory/{at}",
                message=f'expected the pointer of a node, found "{carrier}"',
                expected="the pointer of a node",
                found=f'"{carrier}"',
            )
        ] == problems

    def test_own_source_in_the_root_form(self) -> None:
        """A source of the format itself is fatal in the root form (residuals.md 8, example 10)."""
        document = {"_storyline": sealed({"tasks": source(FIELDS)}, "/attempts/1")}

        problems = open_into(document, TASKS, storyline("/attempts/1"))

        assert [
            Problem(
                severity="fatal",
                rule="envelope.own-source",
                pointer="/_storyline/unknown_fields/by_trajectory/~1attempts~11/sources/tasks",
                message='expected sources of other formats, found "tasks"',
                expected="sources of other formats",
                found='"tasks"',
            )
        ] == problems

    def test_own_source_of_the_node(self) -> None:
        """Unplaced residuals of the format itself come back; what the file says wins, and its document id."""
        document = {
            "attempts": {"1": {"_storyline": sealed({"tasks": source({"/v": 1, "/w": 2}, "old")})}}
        }
        one = storyline("/attempts/1", tasks=Residuals(source_document_id="new", fields={"/v": 3}))

        assert [] == open_into(document, TASKS, one)
        assert {
            "tasks": Residuals(source_document_id="new", fields={"/v": 3, "/w": 2})
        } == one.unknown_fields

    def test_own_source_alone(self) -> None:
        """Without captured residuals those of the envelope keep their document id."""
        document = {"attempts": {"1": {"_storyline": sealed({"tasks": source({"/v": 1}, "old")})}}}
        one = storyline("/attempts/1")

        assert [] == open_into(document, TASKS, one)
        assert {
            "tasks": Residuals(source_document_id="old", fields={"/v": 1})
        } == one.unknown_fields

    def test_several_carriers_of_one_node(self) -> None:
        """What two envelopes say of one node is taken together."""
        document = {
            "_storyline": sealed({"atif": source({"/v": 1, "/x": 1})}),
            "extra": {"_storyline": sealed({"atif": source({"/w": 2, "/x": 1})})},
        }
        one = storyline()

        assert [] == open_into(document, TREE, one)
        assert {"/v": 1, "/w": 2, "/x": 1} == one.unknown_fields["atif"].fields

    def test_several_rows_of_one_storyline(self) -> None:
        """A carrier may be any pointer that stands for the node."""
        rows = FormatInfo(id="rows", title="Rows", nodes=("/*",), envelope=("/_storyline",))
        document = [
            {"_storyline": sealed({"atif": source({"/v": 1})})},
            {"_storyline": sealed({"atif": source({"/w": 2})})},
        ]
        one = storyline("/0")

        assert [] == open_into(document, rows, one, aliases={"/1": "/0"})
        assert {"/v": 1, "/w": 2} == one.unknown_fields["atif"].fields

    def test_conflicting_values(self) -> None:
        """One pointer with two values is fatal."""
        document = {
            "_storyline": sealed({"atif": source({"/v": 1})}),
            "extra": {"_storyline": sealed({"atif": source({"/v": 1.0})})},
        }

        assert [
            (
                "envelope.conflict",
                "/extra/_storyline/unknown_fields/by_trajectory//sources/atif/fields/~1v",
            )
        ] == rules(open_into(document, TREE, storyline()))

    def test_conflicting_documents(self) -> None:
        """One source with two document ids is fatal."""
        document = {
            "_storyline": sealed({"atif": source({"/v": 1})}),
            "extra": {"_storyline": sealed({"atif": source({"/w": 1}, "U")})},
        }

        assert [
            (
                "envelope.conflict",
                "/extra/_storyline/unknown_fields/by_trajectory//sources/atif/source_document_id",
            )
        ] == rules(open_into(document, TREE, storyline()))

    def test_conflict_with_the_storyline(self) -> None:
        """A foreign source that the Storyline has of another document is fatal."""
        one = storyline(atif=Residuals(source_document_id="U", fields={"/v": 1}))
        document = {"extra": {"_storyline": sealed({"atif": source({"/w": 1})})}}

        assert [
            (
                "envelope.conflict",
                "/extra/_storyline/unknown_fields/by_trajectory//sources/atif/source_document_id",
            )
        ] == rules(open_into(document, TREE, one))
        assert {"/v": 1} == one.unknown_fields["atif"].fields

    def test_all_or_nothing(self) -> None:
        """Nothing is attached when anything is wrong, and everything wrong is reported."""
        document = {
            "_storyline": sealed({"atif": source(FIELDS)}, "/attempts/9"),
            "attempts": {
                "1": {"_storyline": sealed({"atif": source(FIELDS)})},
                "2": {"_storyline": 5},
            },
        }
        one = storyline("/attempts/1")

        assert [
            ("envelope.shape", "/attempts/2/_storyline"),
            ("envelope.carrier", "/_storyline/unknown_fields/by_trajectory/~1attempts~19"),
        ] == rules(open_into(document, TASKS, one))
        assert {} == one.unknown_fields


AT = "/attempts/1/_storyline"
UNKNOWN = f"{AT}/unknown_fields"
CARRIERS = f"{UNKNOWN}/by_trajectory"


class TestShape:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (None, [("envelope.shape", AT)]),
            (5, [("envelope.shape", AT)]),
            ([], [("envelope.shape", AT)]),
            ({}, [("envelope.shape", UNKNOWN)]),
            ({"unknown_fields": None}, [("envelope.shape", UNKNOWN)]),
            ({"unknown_fields": []}, [("envelope.shape", UNKNOWN)]),
            (
                {"unknown_fields": {}},
                [("envelope.shape", f"{UNKNOWN}/version"), ("envelope.shape", CARRIERS)],
            ),
            (sealed({}) | {"x/y": 1}, [("envelope.shape", f"{AT}/x~1y")]),
            (
                {"unknown_fields": {"version": 1, "by_trajectory": {}, "x": None}},
                [("envelope.shape", f"{UNKNOWN}/x")],
            ),
            (
                {"unknown_fields": {"version": 1, "by_trajectory": None}},
                [("envelope.shape", CARRIERS)],
            ),
            (
                {"unknown_fields": {"version": 1, "by_trajectory": {"": None}}},
                [("envelope.shape", f"{CARRIERS}/")],
            ),
            (
                {"unknown_fields": {"version": 1, "by_trajectory": {"": {}}}},
                [("envelope.shape", f"{CARRIERS}//sources")],
            ),
            (
                {"unknown_fields": {"version": 1, "by_trajectory": {"bad": {"sources": {}}}}},
                [("envelope.shape", f"{CARRIERS}/bad")],
            ),
            (sealed([]), [("envelope.shape", f"{CARRIERS}//sources")]),
            (sealed({"atif": []}), [("envelope.shape", f"{CARRIERS}//sources/atif")]),
            (
                sealed({"atif": {}}),
                [
                    ("envelope.shape", f"{CARRIERS}//sources/atif/source_document_id"),
                    ("envelope.shape", f"{CARRIERS}//sources/atif/fields"),
                ],
            ),
            (
                sealed({"atif": {"source_document_id": 5, "fields": None, "x": 1}}),
                [
                    ("envelope.shape", f"{CARRIERS}//sources/atif/x"),
                    ("envelope.shape", f"{CARRIERS}//sources/atif/source_document_id"),
                    ("envelope.shape", f"{CARRIERS}//sources/atif/fields"),
                ],
            ),
            (
                sealed({"atif": source({"bad": 1, "/~2": 1, "/ok": 1})}),
                [
                    ("envelope.shape", f"{CARRIERS}//sources/atif/fields/bad"),
                    ("envelope.shape", f"{CARRIERS}//sources/atif/fields/~1~02"),
                ],
            ),
            (sealed({}, version="1"), [("envelope.shape", f"{UNKNOWN}/version")]),
            (sealed({}, version=1.0), [("envelope.shape", f"{UNKNOWN}/version")]),
            (sealed({}, version=True), [("envelope.shape", f"{UNKNOWN}/version")]),
            (sealed({}, version=None), [("envelope.shape", f"{UNKNOWN}/version")]),
            (sealed({}, version=2), [("envelope.version", f"{UNKNOWN}/version")]),
            (sealed({}, version=0), [("envelope.version", f"{UNKNOWN}/version")]),
        ],
    )
    def test_not_version_1(self, value: Json, expected: list[tuple[str, str]]) -> None:
        """Anything but the version-1 shape is fatal (residuals.md 7.4; 8, examples 7, 8 and 11)."""
        one = storyline("/attempts/1")

        problems = open_into({"attempts": {"1": {"_storyline": value}}}, TASKS, one)

        assert expected == rules(problems)
        assert {"fatal"} == {problem.severity for problem in problems}
        assert {} == one.unknown_fields

    def test_message_of_a_version(self) -> None:
        """Another version is named, beside the one that is read."""
        document = {"attempts": {"1": {"_storyline": sealed({}, version=2)}}}

        (problem,) = open_into(document, TASKS, storyline("/attempts/1"))

        assert "expected 1, found 2" == problem.message


class TestPut:
    def test_first_place(self) -> None:
        """The first place is taken, and its map made where it is missing."""
        node: Json = {"a": 1}

        assert "/extra/_storyline" == put(node, TREE.envelope, 5)
        assert {"a": 1, "extra": {"_storyline": 5}} == node

    def test_shared_map(self) -> None:
        """A map that the document shares with a Storyline is not changed."""
        extra = {"x": 1}
        node: Json = {"extra": extra}

        put(node, TREE.envelope, 5)

        assert {"extra": {"x": 1, "_storyline": 5}} == node
        assert {"x": 1} == extra

    @pytest.mark.parametrize("extra", [None, [], "x", {"_storyline": 0}])
    def test_second_place(self, extra: Json) -> None:
        """A place whose map is none, or which is taken, cannot be made."""
        node: Json = {"extra": extra}

        assert "/_storyline" == put(node, TREE.envelope, 5)
        assert {"extra": extra, "_storyline": 5} == node

    def test_no_place(self) -> None:
        """Without a place that can be made the node stays as it is."""
        node: Json = {"a": {"b": 1}}

        assert put(node, DEEP.envelope, 5) is None
        assert {"a": {"b": 1}} == node

    def test_shape(self) -> None:
        """The envelope of a node has the one carrier `""` (residuals.md 7.1 and 7.2)."""
        assert {
            "unknown_fields": {
                "version": 1,
                "by_trajectory": {
                    "": {"sources": {"atif": {"source_document_id": "T", "fields": {"/v": 1}}}}
                },
            }
        } == envelope({"atif": Residuals(source_document_id="T", fields={"/v": 1})})


class TestMakeRoom:
    def test_empty_map_is_taken_and_put_back(self) -> None:
        """A map that would hold nothing but the envelope goes for the time of reading back."""
        document: Json = {"a": 1, "extra": {}, "b": 2, "children": [{"extra": {"x": 1}}]}

        rooms = make_room(document, TREE)

        assert {"a": 1, "b": 2, "children": [{"extra": {"x": 1}}]} == document
        for room in rooms:
            room.restore()
        assert ["a", "extra", "b", "children"] == list(document)
        assert {} == document["extra"]

    def test_envelope_was_put(self) -> None:
        """A map that was made anew for the envelope stays, in the place of the old one."""
        document: Json = {"a": 1, "extra": {}, "b": 2}

        rooms = make_room(document, TREE)
        put(document, TREE.envelope, 5)
        for room in rooms:
            room.restore()

        assert [("a", 1), ("extra", {"_storyline": 5}), ("b", 2)] == list(document.items())

    def test_deep_place(self) -> None:
        """Maps that are shared are not changed."""
        shared: Json = {"b": {}}
        document: Json = {"a": shared}

        rooms = make_room(document, DEEP)

        assert {} == document
        rooms[0].restore()
        assert {"a": {"b": {}}} == document
        assert {"b": {}} == shared

    @pytest.mark.parametrize(
        ("document", "pointer"),
        [
            ({"extra": {"_storyline": 1}}, "/extra/_storyline"),
            ({"_storyline": None}, "/_storyline"),
            ({"children": [{"_storyline": {}}]}, "/children/0/_storyline"),
        ],
    )
    def test_taken(self, document: Json, pointer: str) -> None:
        """What stands at the place of an envelope is an error (residuals.md 7.3)."""
        with pytest.raises(InvalidDocument) as caught:
            make_room(document, TREE)

        assert [("envelope.reserved", pointer)] == rules(list(caught.value.problems))
