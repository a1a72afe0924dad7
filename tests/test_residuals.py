"""Residuals: capture, counts, merging, equality, restoring."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

from hub.errors import InvalidDocument, Json, Problem
from hub.json import ExactNumber
from hub.residuals import (
    CARRIER,
    ENVELOPE,
    PLACEHOLDER,
    UNPLACED,
    add_residuals,
    counts,
    equal,
    is_derived,
    merge,
    normalise,
    restore,
)
from hub.storyline.model import Agent, Residuals, Storyline
from hub.testing.strategies import json_values


def storyline(**sources: Residuals) -> Storyline:
    return Storyline(session_id="s", agent=Agent(agent_id="a"), turns=[], unknown_fields=sources)


def residuals(fields: dict[str, Json], document_id: str = "t") -> Residuals:
    return Residuals(source_document_id=document_id, fields=fields)


def nested(levels: int, leaf: Json) -> Json:
    """Return *leaf* below *levels* arrays and objects in turn."""
    value = leaf
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


class TestNames:
    def test_reserved(self) -> None:
        """The names that every document bears are those of the specification."""
        assert ("unknown", "storyline", "_storyline") == (PLACEHOLDER, CARRIER, ENVELOPE)

    def test_unplaced(self) -> None:
        """A residual without a place is a warning: nothing is lost by it, as it travels."""
        problem = Problem(
            severity="warning",
            rule="residual.unplaced",
            pointer="/a",
            message="expected a place for the residual, found 1",
            expected="a place for the residual",
            found="1",
        )
        assert problem == UNPLACED.at("/a", 1)


class TestAddResiduals:
    def test_first_field(self) -> None:
        """The first field of a source makes the source."""
        one = storyline()

        add_residuals(one, "atif", "T", {"/v": None})

        assert {"atif": residuals({"/v": None}, "T")} == one.unknown_fields

    def test_more_fields(self) -> None:
        """Further fields join those that are there."""
        one = storyline(atif=residuals({"/v": 1}))

        add_residuals(one, "atif", "t", {"/w": 2})

        assert {"/v": 1, "/w": 2} == one.unknown_fields["atif"].fields

    def test_no_field(self) -> None:
        """A source without a field is not kept."""
        one = storyline()

        add_residuals(one, "atif", "t", {})

        assert {} == one.unknown_fields

    def test_other_document(self) -> None:
        """All fields of one source have one document id."""
        one = storyline(atif=residuals({"/v": 1}))

        with pytest.raises(ValueError, match="residuals of 't', not of 'u'"):
            add_residuals(one, "atif", "u", {"/w": 2})

    def test_source_is_not_shared(self) -> None:
        """The map that is given is not changed by later additions."""
        fields = {"/v": 1}
        one = storyline()
        add_residuals(one, "atif", "t", fields)

        add_residuals(one, "atif", "t", {"/w": 2})

        assert {"/v": 1} == fields


class TestCounts:
    def test_atif(self) -> None:
        """Residuals of several kinds are counted by normalised pointer (residuals.md 8, example 1)."""
        fields = {
            "/agent/va": True,
            "/steps/0/0": "z",
            "/steps/0/vn": None,
            "/steps/0/vs": [1, {"n": None}],
            "/vendor~1root": {"til~de": 7},
        }
        expected = {
            "/agent/va": 1,
            "/steps/*/0": 1,
            "/steps/*/vn": 1,
            "/steps/*/vs": 1,
            "/vendor~1root": 1,
        }

        assert {"atif": expected} == counts({"atif": residuals(fields)})

    def test_same_place_of_several_steps(self) -> None:
        """One place in several elements is one count."""
        fields = {"/steps/0/v": 1, "/steps/1/v": 2, "/steps/10/v": 3}

        assert {"ale": {"/steps/*/v": 3}} == counts({"ale": residuals(fields)})

    def test_unknown_source(self) -> None:
        """Pointers of a source that the hub does not know are literal (residuals.md 8, example 17)."""
        fields = {"/items/0/a": 1, "/items/1/a": 1}

        assert {"vendorfmt": {"/items/0/a": 1, "/items/1/a": 1}} == counts(
            {"vendorfmt": residuals(fields)}
        )

    def test_no_field(self) -> None:
        """A source without fields has no entry."""
        assert {} == counts({"actf": residuals({})})


class TestNormalise:
    @pytest.mark.parametrize(
        ("source", "pointer", "expected"),
        [
            ("actf", "/attempts/1/trajectory/steps/0/v", "/attempts/1/trajectory/steps/*/v"),
            (
                "actf",
                "/attempts/a~1b~0c/trajectory/steps/0/x~1y",
                "/attempts/a~1b~0c/trajectory/steps/*/x~1y",
            ),
            (
                "actf",
                "/attempts/b/trajectory/steps/12/tools/3/x",
                "/attempts/b/trajectory/steps/*/tools/*/x",
            ),
            (
                "actf",
                "/attempts/b/trajectory/steps/0/observation/007",
                "/attempts/b/trajectory/steps/*/observation/*",
            ),
            (
                "actf",
                "/attempts/1/trajectory/steps/0/assistant_content/tool_calls/1/x",
                "/attempts/1/trajectory/steps/*/assistant_content/tool_calls/*/x",
            ),
            ("actf", "/attempts/1/v", "/attempts/1/v"),
            (
                "actf",
                "/attempts/1/trajectory/steps/x/observation/0",
                "/attempts/1/trajectory/steps/x/observation/0",
            ),
            ("actf", "/trajectory/steps/0", "/trajectory/steps/0"),
            ("atif", "/steps/0/tool_calls/2/v", "/steps/*/tool_calls/*/v"),
            (
                "atif",
                "/steps/0/observation/tool_calls/2/v",
                "/steps/*/observation/tool_calls/2/v",
            ),
            (
                "atif",
                "/subagent_trajectories/0/subagent_trajectories/1/steps/2/v",
                "/subagent_trajectories/*/subagent_trajectories/*/steps/*/v",
            ),
            ("atif", "/extra/steps/0", "/extra/steps/0"),
            (
                "openai-msg",
                "/session_steps/1/messages/2/tool_calls/3/x",
                "/session_steps/*/messages/*/tool_calls/*/x",
            ),
            (
                "openai-msg",
                "/session_steps/1/response/tool_calls/3",
                "/session_steps/*/response/tool_calls/*",
            ),
            ("openai-msg", "/messages/1/tool_calls/3/id", "/messages/*/tool_calls/*/id"),
            ("openai-msg", "/1/messages/3", "/1/messages/3"),
            ("ale", "/steps/0/observation/results/1/v", "/steps/*/observation/results/*/v"),
            ("ale", "/subagent_trajectories/0/steps/1", "/subagent_trajectories/*/steps/*"),
            ("ale", "/steps/0/message/1/content/2", "/steps/*/message/*/content/*"),
            ("ale", "/a\nb/steps/0", "/a\nb/steps/*"),
            ("ale", "/a~1steps/0", "/a~1steps/0"),
            ("ale", "/0/1", "/0/1"),
            ("ale", "", ""),
            ("ale", "/steps/", "/steps/"),
        ],
    )
    def test_arrays_of_the_schema(self, source: str, pointer: str, expected: str) -> None:
        """An index is replaced exactly where the schema of the source has an array (residuals.md 4)."""
        assert expected == normalise(source, pointer)

    @pytest.mark.parametrize("token", ["+1", "-1", "1x", "", "²", "\u0661", " 1"])
    def test_digits_only(self, token: str) -> None:
        """An index is a string of ASCII digits."""
        assert f"/steps/{token}" == normalise("ale", f"/steps/{token}")


class TestMerge:
    def test_shared_root_member(self) -> None:
        """A root member that all Storylines have is kept once, others join it (residuals.md 8, example 5)."""
        vendor = {"x": [None]}
        merged = merge(
            [
                storyline(actf=residuals({"/vendor": vendor})),
                storyline(actf=residuals({"/vendor": {"x": [None]}, "/attempts/b/vend": 1})),
            ],
            "actf",
        )

        assert residuals({"/vendor": vendor, "/attempts/b/vend": 1}) == merged

    def test_none_has_residuals(self) -> None:
        """Without residuals there is nothing."""
        assert merge([storyline(), storyline(actf=residuals({}))], "actf") is None

    def test_only_some_have_residuals(self) -> None:
        """A Storyline without residuals contributes nothing (residuals.md 8, example 18)."""
        assert residuals({"/v": 1}) == merge(
            [storyline(), storyline(actf=residuals({"/v": 1})), storyline()], "actf"
        )

    def test_other_sources(self) -> None:
        """Sources of other names do not conflict, also at equal pointers."""
        merged = merge(
            [storyline(actf=residuals({"/v": 1}), ale=residuals({"/v": 2}, "x"))], "actf"
        )

        assert residuals({"/v": 1}) == merged

    def test_conflict(self) -> None:
        """One pointer with two values is a conflict (residuals.md 8, example 13)."""
        stories = [storyline(actf=residuals({"/v": 1})), storyline(actf=residuals({"/v": 2}))]

        with pytest.raises(InvalidDocument) as caught:
            merge(stories, "actf")

        assert [
            Problem(
                severity="fatal",
                rule="residual.conflict",
                pointer="/unknown_fields/sources/actf/fields/~1v",
                message="expected one value for one pointer, found 2",
                expected="one value for one pointer",
                found="2",
            )
        ] == list(caught.value.problems)

    def test_integer_and_float_conflict(self) -> None:
        """Equality keeps integers and floats apart."""
        stories = [storyline(actf=residuals({"/v": 1})), storyline(actf=residuals({"/v": 1.0}))]

        with pytest.raises(InvalidDocument, match=r"residual\.conflict"):
            merge(stories, "actf")

    def test_several_documents(self) -> None:
        """Residuals of two source documents do not go into one."""
        stories = [
            storyline(actf=residuals({"/v": 1}, "t")),
            storyline(actf=residuals({"/w": 1}, "u")),
            storyline(actf=residuals({"/v": 2}, "t")),
        ]

        with pytest.raises(InvalidDocument) as caught:
            merge(stories, "actf")

        assert (
            Problem(
                severity="fatal",
                rule="residual.documents",
                pointer="/unknown_fields",
                message='residuals of "t" and of "u" in one document',
                expected="one source document for all Storylines of a document",
            ),
            Problem(
                severity="fatal",
                rule="residual.conflict",
                pointer="/unknown_fields/sources/actf/fields/~1v",
                message="expected one value for one pointer, found 2",
                expected="one value for one pointer",
                found="2",
            ),
        ) == caught.value.problems

    def test_storylines_are_not_changed(self) -> None:
        """Merging changes no Storyline."""
        first = storyline(actf=residuals({"/v": 1}))

        merge([first, storyline(actf=residuals({"/w": 2}))], "actf")

        assert {"/v": 1} == first.unknown_fields["actf"].fields


class TestEqual:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (1, 1.0),
            (0, False),
            (1, True),
            (1, "1"),
            (None, False),
            ("", None),
            ([], {}),
            ([1, 2], [2, 1]),
            ([1], [1, 1]),
            ({"a": 1}, {"b": 1}),
            ({"a": 1}, {"a": 1, "b": 1}),
            ({"a": [1]}, {"a": [1.0]}),
            ({"a": None}, {}),
            ({"a": None}, {"b": None}),
            (ExactNumber("1e400"), ExactNumber("1e401")),
        ],
    )
    def test_different(self, one: Json, other: Json) -> None:
        """Types count all through, and so does the order of arrays (carrier.md 4.1)."""
        assert equal(one, other) is False
        assert equal(other, one) is False

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (0.0, -0.0),
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
            (10**30, 10**30),
            (ExactNumber("1e400"), ExactNumber("1e400")),
            ([{"a": [None, ""]}], [{"a": [None, ""]}]),
        ],
    )
    def test_equal(self, one: Json, other: Json) -> None:
        """Key order and the sign of zero do not count."""
        assert equal(one, other)
        assert equal(other, one)

    def test_deep(self) -> None:
        """Values as deep as a document may be are compared."""
        assert equal(nested(512, 1), nested(512, 1))
        assert not equal(nested(512, 1), nested(512, 1.0))

    @given(json_values(), json_values())
    def test_agrees_with_spelling(self, one: Json, other: Json) -> None:
        """Values are equal when they are spelled the same."""
        assert equal(one, one)
        assert equal(one, other) == (spelling(one) == spelling(other))


def spelling(value: Json) -> str:
    if isinstance(value, dict):
        return repr({key: spelling(value[key]) for key in sorted(value)})
    if isinstance(value, list):
        return repr([spelling(member) for member in value])
    return repr(value + 0.0 if isinstance(value, float) else value)


def nothing_gives_way(_tokens: Sequence[str], _written: Json, _residual: Json) -> bool:
    return False


class TestRestore:
    def test_members_come_back(self) -> None:
        """Members that are not there are inserted (residuals.md 8, example 3)."""
        document = {
            "schema_version": "ATIF-v1.7",
            "agent": {"name": "a", "version": "1"},
            "steps": [{"step_id": 1, "source": "user", "message": "hi"}],
        }
        fields = {
            "/agent/va": True,
            "/steps/0/0": "z",
            "/steps/0/vn": None,
            "/steps/0/vs": [1, {"n": None}],
            "/vendor~1root": {"til~de": 7},
        }

        assert {} == restore(document, fields, nothing_gives_way)
        assert {
            "schema_version": "ATIF-v1.7",
            "agent": {"name": "a", "version": "1", "va": True},
            "steps": [
                {
                    "step_id": 1,
                    "source": "user",
                    "message": "hi",
                    "0": "z",
                    "vn": None,
                    "vs": [1, {"n": None}],
                }
            ],
            "vendor/root": {"til~de": 7},
        } == document

    def test_escaped_tokens(self) -> None:
        """Tokens are unescaped once (residuals.md 8, example 4)."""
        document: Json = {"attempts": {"a/b~c": {"trajectory": {"steps": [{}]}}}}

        restore(document, {"/attempts/a~1b~0c/trajectory/steps/0/x~1y": 1}, nothing_gives_way)

        assert {"attempts": {"a/b~c": {"trajectory": {"steps": [{"x/y": 1}]}}}} == document

    def test_empty_token(self) -> None:
        """A member may have the empty name."""
        document: Json = {}

        restore(document, {"/": 1}, nothing_gives_way)

        assert {"": 1} == document

    def test_in_pointer_order(self) -> None:
        """A residual may hold the parent of another one."""
        document: Json = {}

        assert {} == restore(document, {"/v/w": 2, "/v": {}}, nothing_gives_way)
        assert {"v": {"w": 2}} == document

    @pytest.mark.parametrize(
        "pointer",
        [
            "",
            "/task_id",
            "/steps/5/v",
            "/steps/00/v",
            "/steps/-/v",
            "/steps/0",
            "/steps/1",
            "/task_id/v",
            "/gone/v",
            "/_storyline",
            "/steps/0/_storyline",
            "/steps/" + "9" * 5000 + "/v",
        ],
    )
    def test_without_a_place(self, pointer: str) -> None:
        """What is there wins, and no structure is made up (residuals.md 8, examples 14 and 15)."""
        document = {"task_id": "t", "steps": [{"step_id": 1}]}

        assert {pointer: {"q": 1}} == restore(document, {pointer: {"q": 1}}, nothing_gives_way)
        assert {"task_id": "t", "steps": [{"step_id": 1}]} == document

    def test_filler_gives_way(self) -> None:
        """A filler of the format gives way (residuals.md 8, example 16)."""
        document: Json = {
            "category": "unknown?",
            "attempts": {"1": {"meta": {}, "extra": {"a": 1}}},
        }
        fields = {"/category": "Z", "/attempts/1/meta": {"q": 1}, "/attempts/1/extra": 1}

        def is_filler(tokens: Sequence[str], written: Json, _residual: Json) -> bool:
            return tokens[-1] != "extra" and written in ("unknown?", {})

        assert {"/attempts/1/extra": 1} == restore(document, fields, is_filler)
        assert {
            "category": "Z",
            "attempts": {"1": {"meta": {"q": 1}, "extra": {"a": 1}}},
        } == document

    def test_derived_id_gives_way(self) -> None:
        """An id that was made unique gives way to the one of the source."""
        document = {"id": "x#2", "other": "y#2"}

        assert {"/other": "x"} == restore(document, {"/id": "x", "/other": "x"}, nothing_gives_way)
        assert {"id": "x", "other": "y#2"} == document

    def test_places_of_envelopes(self) -> None:
        """With the places of envelopes given, a member of that name is restored elsewhere."""
        document: Json = {"attempts": {"1": {"steps": [{}]}}}
        fields = {
            "/_storyline": 1,
            "/attempts/1/_storyline": 2,
            "/attempts/1/steps/0/_storyline": 3,
            "/attempts/1/_storyline/x/_storyline": 4,
            "/other/1/_storyline": 5,
        }
        document["other"] = {"1": {}}
        document["attempts"]["1"]["_storyline"] = {"x": {}}

        unplaced = restore(
            document,
            fields,
            nothing_gives_way,
            places=("/_storyline", "/attempts/*/_storyline"),
        )

        assert {"/_storyline": 1, "/attempts/1/_storyline": 2} == unplaced
        attempt = {"steps": [{"_storyline": 3}], "_storyline": {"x": {"_storyline": 4}}}
        assert {"attempts": {"1": attempt}, "other": {"1": {"_storyline": 5}}} == document

    def test_shared_values_are_not_changed(self) -> None:
        """A value that the document shares is copied before something is put into it."""
        shared: Json = {"a": [{"b": {}}]}
        document: Json = {"extra": shared}

        restore(document, {"/extra/a/0/b/c": 1, "/extra/a/0/d": 2}, nothing_gives_way)

        assert {"a": [{"b": {}}]} == shared
        assert {"extra": {"a": [{"b": {"c": 1}, "d": 2}]}} == document


class TestIsDerived:
    @pytest.mark.parametrize(
        ("written", "residual"),
        [
            ("unknown", 5),
            ("unknown", "unknown name"),
            ("c#2", "c"),
            ("#2", ""),
            ("2026-01-01T00:00:00+08:00", "2026-01-01T00:00:00"),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00"),
        ],
    )
    def test_derived(self, written: Json, residual: Json) -> None:
        """The placeholder, a numbered id and a time with an offset are made from a residual (residuals.md 5)."""
        assert is_derived(written, residual)

    @pytest.mark.parametrize(
        ("written", "residual"),
        [
            ("c", "c#2"),
            ("c#", "c"),
            ("c#x", "c"),
            ("c#\u0662", "c"),
            ("+08:00", ""),
            ("Unknown", "x"),
            (5, 5),
            (None, "x"),
            ("2026-01-01T00:00:00+0800", "2026-01-01T00:00:00"),
        ],
    )
    def test_not_derived(self, written: Json, residual: Json) -> None:
        """Anything else is content of the Storyline."""
        assert is_derived(written, residual) is False
