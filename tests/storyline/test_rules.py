"""The rules of a Storyline: storyline.md 7, each with its pointer and message."""

from __future__ import annotations

from copy import deepcopy

import pytest

from hub.codec import check_model, from_wire, to_valid_wire
from hub.errors import InvalidDocument, Json, Problem, UnsupportedVersion
from hub.storyline.model import (
    Agent,
    Llm,
    Origin,
    Prompt,
    Residuals,
    Response,
    Storyline,
    Task,
    ToolCall,
    Turn,
)
from hub.storyline.rules import RULES, check

ROOT = {"schema_version": "storyline/v1", "session": "s", "agent": {"id": "a"}, "turns": []}


def document(**members: Json) -> dict[str, Json]:
    """Return the smallest Storyline with *members*."""
    return {**deepcopy(ROOT), **members}


def of_turn(**members: Json) -> dict[str, Json]:
    """Return a Storyline of one agent turn with *members*."""
    return document(turns=[{"id": 1, "src": "agent", "msg": "m", **members}])


def of_call(**members: Json) -> dict[str, Json]:
    """Return a Storyline of one turn with one call with *members*."""
    return of_turn(tool_calls=[{"tcid": "x", "fn": "f", "args": {}, **members}])


def without(wire: dict[str, Json], key: str) -> dict[str, Json]:
    """Return *wire* without the member *key*."""
    return {name: member for name, member in wire.items() if name != key}


def breach(rule: str, pointer: str, expected: str, found: str) -> Problem:
    """Return the problem of a value in the usual wording."""
    message = f"expected {expected}, found {found}"
    return Problem("fatal", f"storyline.{rule}", pointer, message, expected=expected, found=found)


def told(rule: str, pointer: str, message: str, expected: str) -> Problem:
    """Return the problem of a value that the message words in its own way."""
    return Problem("fatal", f"storyline.{rule}", pointer, message, expected=expected)


def problems(wire: Json) -> list[Problem]:
    """Return what is wrong with *wire*."""
    try:
        from_wire(wire)
    except InvalidDocument as error:
        return list(error.problems)
    return []


TEXT = "a non-empty string"


class TestStructure:
    @pytest.mark.parametrize(
        ("value", "found"),
        [([], "an empty array"), ("s", '"s"'), (1, "1"), (None, "null"), (True, "true")],
    )
    def test_object(self, value: Json, found: str) -> None:
        """A Storyline is an object."""
        assert [breach("object", "", "an object", found)] == problems(value)

    @pytest.mark.parametrize(
        ("wire", "pointer"),
        [
            (without(ROOT, "session"), "/session"),
            (without(ROOT, "agent"), "/agent"),
            (without(ROOT, "turns"), "/turns"),
            (document(agent={"name": "n"}), "/agent/id"),
            (document(origin={}), "/origin/format"),
            (document(parent={}), "/parent/psid"),
            (document(turns=[{"src": "user", "msg": "m"}]), "/turns/0/id"),
            (document(turns=[{"id": 1, "msg": "m"}]), "/turns/0/src"),
            (document(turns=[{"id": 1, "src": "user"}]), "/turns/0/msg"),
            (of_turn(tool_calls=[{"fn": "f", "args": {}}]), "/turns/0/tool_calls/0/tcid"),
            (of_turn(tool_calls=[{"tcid": "x", "args": {}}]), "/turns/0/tool_calls/0/fn"),
            (of_turn(tool_calls=[{"tcid": "x", "fn": "f"}]), "/turns/0/tool_calls/0/args"),
            (document(unknown_fields={}), "/unknown_fields/sources"),
            (
                document(unknown_fields={"sources": {"a/b": {"fields": {}}}}),
                "/unknown_fields/sources/a~1b/source_document_id",
            ),
            (
                document(unknown_fields={"sources": {"x": {"source_document_id": "d"}}}),
                "/unknown_fields/sources/x/fields",
            ),
        ],
    )
    def test_required(self, wire: Json, pointer: str) -> None:
        """A missing member is reported where it would stand."""
        assert [breach("required", pointer, "a value", "nothing")] == problems(wire)

    def test_version_missing(self) -> None:
        """A missing version is a matter of structure."""
        expected = breach("required", "/schema_version", '"storyline/v1"', "nothing")
        assert [expected] == problems(without(ROOT, "schema_version"))

    @pytest.mark.parametrize(
        ("wire", "pointer", "expected", "found"),
        [
            (document(schema_version=1), "/schema_version", '"storyline/v1"', "1"),
            (document(schema_version=None), "/schema_version", '"storyline/v1"', "null"),
            (document(session=1), "/session", "a string", "1"),
            (document(session=None), "/session", "a string", "null"),
            (document(agent=[]), "/agent", "an object", "an empty array"),
            (document(agent=None), "/agent", "an object", "null"),
            (document(agent={"id": 1}), "/agent/id", "a string", "1"),
            (document(agent={"id": "a", "name": []}), "/agent/name", "a string", "an empty array"),
            (document(turns={}), "/turns", "an array", "an empty object"),
            (document(turns=None), "/turns", "an array", "null"),
            (document(turns="m"), "/turns", "an array", '"m"'),
            (document(turns=["m"]), "/turns/0", "an object", '"m"'),
            (document(run=1), "/run", "a string", "1"),
            (document(origin=1), "/origin", "an object", "1"),
            (document(origin={"format": 1}), "/origin/format", "a string", "1"),
            (document(parent={"psid": "p", "ptid": "1"}), "/parent/ptid", "an integer", '"1"'),
            (document(parent={"psid": "p", "rel": 1}), "/parent/rel", "a string", "1"),
            (document(children="c"), "/children", "an array", '"c"'),
            (document(children=["c", 1]), "/children/1", "a string", "1"),
            (document(notes=False), "/notes", "a string", "false"),
            (document(task=1), "/task", "an object", "1"),
            (document(task={"env": 1}), "/task/env", "an object", "1"),
            (document(task={"env": {"name": 1}}), "/task/env/name", "a string", "1"),
            (
                document(task={"env": {"name": "n", "state": []}}),
                "/task/env/state",
                "an object",
                "an empty array",
            ),
            (document(task={"llm": {"k": 1.0}}), "/task/llm/k", "an integer", "1.0"),
            (document(task={"result": 1}), "/task/result", "an object", "1"),
            (document(task={"result": {"correct": 1}}), "/task/result/correct", "a boolean", "1"),
            (document(task={"result": {"status": 1}}), "/task/result/status", "a string", "1"),
            (
                document(task={"result": {"error": []}}),
                "/task/result/error",
                "a string",
                "an empty array",
            ),
            (document(prompt="x"), "/prompt", "an object", '"x"'),
            (document(prompt={"system": 1, "user": "u"}), "/prompt/system", "a string", "1"),
            (document(unknown_fields=[]), "/unknown_fields", "an object", "an empty array"),
            (document(unknown_fields={"sources": 1}), "/unknown_fields/sources", "an object", "1"),
            (
                document(unknown_fields={"sources": {"x": 1}}),
                "/unknown_fields/sources/x",
                "an object",
                "1",
            ),
            (
                document(
                    unknown_fields={"sources": {"x": {"source_document_id": 1, "fields": {}}}}
                ),
                "/unknown_fields/sources/x/source_document_id",
                "a string",
                "1",
            ),
            (
                document(
                    unknown_fields={"sources": {"x": {"source_document_id": "d", "fields": 1}}}
                ),
                "/unknown_fields/sources/x/fields",
                "an object",
                "1",
            ),
            (document(unknown_key_counts=[]), "/unknown_key_counts", "an object", "an empty array"),
            (of_turn(id="1"), "/turns/0/id", "an integer", '"1"'),
            (of_turn(id=1.0), "/turns/0/id", "an integer", "1.0"),
            (of_turn(id=True), "/turns/0/id", "an integer", "true"),
            (of_turn(id=None), "/turns/0/id", "an integer", "null"),
            (of_turn(id=2**63), "/turns/0/id", "an integer", "9223372036854775808"),
            (of_turn(id=-(2**63) - 1), "/turns/0/id", "an integer", "-9223372036854775809"),
            (of_turn(src=None), "/turns/0/src", "a string", "null"),
            (of_turn(kind=1), "/turns/0/kind", "a string", "1"),
            (of_turn(reason=1), "/turns/0/reason", "a string", "1"),
            (of_turn(model={}), "/turns/0/model", "a string", "an empty object"),
            (of_turn(nllm=1.5), "/turns/0/nllm", "an integer", "1.5"),
            (of_turn(copied="true"), "/turns/0/copied", "a boolean", '"true"'),
            (of_turn(copied=1), "/turns/0/copied", "a boolean", "1"),
            (of_turn(latency_ms=False), "/turns/0/latency_ms", "an integer", "false"),
            (of_turn(ttft_ms="1"), "/turns/0/ttft_ms", "an integer", '"1"'),
            (of_turn(env=1), "/turns/0/env", "an object", "1"),
            (of_turn(prompt=1), "/turns/0/prompt", "an object", "1"),
            (of_turn(tool_calls={}), "/turns/0/tool_calls", "an array", "an empty object"),
            (of_turn(tool_calls=[1]), "/turns/0/tool_calls/0", "an object", "1"),
            (of_call(tcid=1), "/turns/0/tool_calls/0/tcid", "a string", "1"),
            (of_call(tcid=None), "/turns/0/tool_calls/0/tcid", "a string", "null"),
            (of_call(fn=None), "/turns/0/tool_calls/0/fn", "a string", "null"),
            (of_call(duration_ms=0.5), "/turns/0/tool_calls/0/duration_ms", "an integer", "0.5"),
            (of_call(kind=1), "/turns/0/tool_calls/0/kind", "a string", "1"),
            (of_call(response=1), "/turns/0/tool_calls/0/response", "an object", "1"),
            (
                of_call(response={"exit_code": "1"}),
                "/turns/0/tool_calls/0/response/exit_code",
                "an integer",
                '"1"',
            ),
            (
                of_call(response={"status": 1}),
                "/turns/0/tool_calls/0/response/status",
                "a string",
                "1",
            ),
        ],
    )
    def test_type(self, wire: Json, pointer: str, expected: str, found: str) -> None:
        """A value of another type is refused, never coerced; `null` of a required member is one."""
        assert [breach("type", pointer, expected, found)] == problems(wire)

    @pytest.mark.parametrize(
        ("wire", "pointer"),
        [
            (document(session_id=1), "/session_id"),
            (document(agent={"id": "a", "x/~": 1}), "/agent/x~1~0"),
            (document(origin={"format": "f", "": 1}), "/origin/"),
            (document(parent={"psid": "p", "x": 1}), "/parent/x"),
            (document(task={"llm": {"k": 1}, "x": 1}), "/task/x"),
            (document(task={"llm": {"k": 1, "x": 1}}), "/task/llm/x"),
            (document(task={"env": {"name": "n", "x": 1}}), "/task/env/x"),
            (document(prompt={"system": "s", "x": 1}), "/prompt/x"),
            (document(unknown_fields={"sources": {}, "x": 1}), "/unknown_fields/x"),
            (
                document(
                    unknown_fields={
                        "sources": {"s": {"source_document_id": "d", "fields": {}, "x": 1}}
                    }
                ),
                "/unknown_fields/sources/s/x",
            ),
            (of_turn(message=1), "/turns/0/message"),
            (of_turn(node=1), "/turns/0/node"),
            (document(node=1), "/node"),
            (of_turn(env={"x": 1}), "/turns/0/env/x"),
            (of_call(name=1), "/turns/0/tool_calls/0/name"),
            (of_call(response={"status": "s", "x": 1}), "/turns/0/tool_calls/0/response/x"),
        ],
    )
    def test_unknown_key(self, wire: Json, pointer: str) -> None:
        """A key that no table declares is refused; long names are none."""
        assert [breach("unknown-key", pointer, "a declared key", "1")] == problems(wire)

    def test_null_of_unknown_key(self) -> None:
        """An undeclared key is refused whatever its value is."""
        assert [breach("unknown-key", "/x", "a declared key", "null")] == problems(document(x=None))

    @pytest.mark.parametrize("pointer", ["/started_at", "/finished_at"])
    def test_root_times(self, pointer: str) -> None:
        """The times of the document are Storyline times."""
        time = "a date-time with an offset, or Unix seconds"
        wire = document(**{pointer[1:]: "2026-01-01"})
        assert [breach("time", pointer, time, '"2026-01-01"')] == problems(wire)

    @pytest.mark.parametrize(
        ("value", "found"),
        [
            ("2026/01/01", '"2026/01/01"'),
            ("", '""'),
            (True, "true"),
            ([], "an empty array"),
            (1.0000000001, "1.0000000001"),
            (10000000000, "10000000000"),
        ],
    )
    def test_turn_times(self, value: Json, found: str) -> None:
        """The times of a turn are Storyline times."""
        time = "a date-time with an offset, or Unix seconds"
        expected = [
            breach("time", "/turns/0/ts", time, found),
            breach("time", "/turns/0/finished_at", time, found),
        ]
        assert expected == problems(of_turn(ts=value, finished_at=value))

    def test_everything_at_once(self) -> None:
        """All problems are reported together: those of the structure, then those of the rules."""
        wire = document(
            session="",
            run=1,
            x=1,
            turns=[
                {"id": 1, "src": "", "msg": "m", "ts": "now"},
                7,
                {"id": 1, "src": "user"},
                {"id": "3", "src": "", "msg": "m", "tool_calls": [3, {"tcid": "", "fn": ""}]},
            ],
        )

        assert {
            ("storyline.unknown-key", "/x"),
            ("storyline.type", "/run"),
            ("storyline.time", "/turns/0/ts"),
            ("storyline.type", "/turns/1"),
            ("storyline.required", "/turns/2/msg"),
            ("storyline.type", "/turns/3/id"),
            ("storyline.type", "/turns/3/tool_calls/0"),
            ("storyline.required", "/turns/3/tool_calls/1/args"),
            ("storyline.session", "/session"),
            ("storyline.source", "/turns/0/src"),
            ("storyline.turn-id", "/turns/2/id"),
            ("storyline.source", "/turns/3/src"),
            ("storyline.call-id", "/turns/3/tool_calls/1/tcid"),
            ("storyline.function", "/turns/3/tool_calls/1/fn"),
        } == {(problem.rule, problem.pointer) for problem in problems(wire)}
        assert 14 == len(problems(wire))


class TestVersion:
    @pytest.mark.parametrize("version", ["storyline/v2", "storyline/V1", "", "ATIF-v1.7"])
    def test_unsupported(self, version: str) -> None:
        """V1: another version is an error of its own kind, and nothing else is looked at."""
        with pytest.raises(UnsupportedVersion) as caught:
            from_wire(document(schema_version=version, turns=1))

        found = f'"{version}"'
        expected = breach("version", "/schema_version", '"storyline/v1"', found)
        assert (expected,) == caught.value.problems

    def test_checked(self) -> None:
        """V1 is the first of the rules."""
        expected = breach("version", "/schema_version", '"storyline/v1"', '"storyline/v2"')
        wire = document(schema_version="storyline/v2", session="")
        assert expected == next(check(wire))

    def test_others_are_invalid(self) -> None:
        """Every other breach is not of the class *unsupported*."""
        with pytest.raises(InvalidDocument) as caught:
            from_wire(document(session=""))

        assert InvalidDocument is type(caught.value)


class TestRoot:
    @pytest.mark.parametrize(
        ("wire", "rule", "pointer"),
        [
            (document(session=""), "session", "/session"),
            (document(trajectory=""), "trajectory", "/trajectory"),
            (document(agent={"id": ""}), "agent-id", "/agent/id"),
            (document(origin={"format": ""}), "origin", "/origin/format"),
            (
                document(origin={"format": "f", "schema_version": ""}),
                "origin",
                "/origin/schema_version",
            ),
            (document(origin={"format": "f", "document_id": ""}), "origin", "/origin/document_id"),
        ],
    )
    def test_empty(self, wire: Json, rule: str, pointer: str) -> None:
        """V2, V3, V4, V8: names are not empty."""
        assert [breach(rule, pointer, TEXT, '""')] == problems(wire)

    def test_white_space_is_not_empty(self) -> None:
        """Strings are tested for emptiness without trimming."""
        wire = document(session=" ", trajectory=" ", agent={"id": " "}, origin={"format": "\t"})
        assert [] == problems(wire)

    def test_empty_where_it_may_be(self) -> None:
        """Run, attempt, notes and children may be empty."""
        wire = document(run="", attempt_id="", notes="", children=[], parent={"psid": ""})
        assert [] == problems(wire)

    @pytest.mark.parametrize(
        "task",
        [
            {},
            {"result": {}},
            {"env": {"state": {}}},
            {"env": {}, "llm": {}, "result": {}},
            {"env": None, "llm": {"k": None}, "result": {"score": None}},
            {"result": {"correct": "", "score": {}, "artifacts": ""}},
            {"result": {"foo": None}},
        ],
    )
    def test_task_empty(self, task: Json) -> None:
        """V5: a task has a set member; null, empty text and empty objects are none."""
        message = "expected a task with a set member, found none"
        expected = told("task-empty", "/task", message, "a task with a set member")
        assert [expected] == problems(document(task=task))

    @pytest.mark.parametrize(
        "task",
        [
            {"env": {"name": ""}},
            {"env": {"state": {"a": None}}},
            {"llm": {"k": 1}},
            {"result": {"correct": False}},
            {"result": {"score": 0}},
            {"result": {"artifacts": []}},
            {"result": {"foo": ""}},
            {"result": {"foo": {}}},
        ],
    )
    def test_task_with_something(self, task: Json) -> None:
        """False, 0, an empty array, and any result extra but null are values."""
        assert [] == problems(document(task=task))

    @pytest.mark.parametrize("k", [0, -1])
    def test_task_k(self, k: int) -> None:
        """V6: k is above 0."""
        expected = breach("task-k", "/task/llm/k", "an integer above 0", str(k))
        assert [expected] == problems(document(task={"llm": {"k": k}}))

    @pytest.mark.parametrize(
        "prompt", [{}, {"system": ""}, {"system": "", "user": ""}, {"user": None}]
    )
    def test_prompt(self, prompt: Json) -> None:
        """V7: the prompt of the document says something."""
        message = "expected a non-empty system or user text, found none"
        expected = told("prompt", "/prompt", message, "a non-empty system or user text")
        assert [expected] == problems(document(prompt=prompt))


class TestResiduals:
    @staticmethod
    def of(source: str, fields: Json, counted: Json = None) -> Json:
        sources = {source: {"source_document_id": "d", "fields": fields}}
        return document(unknown_fields={"sources": sources}, unknown_key_counts=counted)

    @pytest.mark.parametrize(
        ("pointer", "at"), [("a", "a"), ("/~", "~1~0"), ("/~2", "~1~02"), (" /a", " ~1a")]
    )
    def test_pointer(self, pointer: str, at: str) -> None:
        """V9: a residual stands under a pointer, which is one token of the problem's pointer."""
        place = f"/unknown_fields/sources/x/fields/{at}"
        expected = breach("residual-pointer", place, "an RFC 6901 pointer", f'"{pointer}"')
        assert [expected] == problems(self.of("x", {pointer: 1}, {"x": {pointer: 1}}))

    @pytest.mark.parametrize("pointer", ["", "/", "/~0~1", "/a//b"])
    def test_legal_pointer(self, pointer: str) -> None:
        """The whole document, empty tokens and escapes are pointers."""
        assert [] == problems(self.of("x", {pointer: None}, {"x": {pointer: 1}}))

    @pytest.mark.parametrize(
        ("counted", "found"),
        [
            (None, "nothing"),
            ({}, "an empty object"),
            ({"x": {"/a": 2}}, "an object"),
            ({"x": {"/a": 1.0}}, "an object"),
            ({"x": {"/a": True}}, "an object"),
            ({"x": {"/a": 1}, "y": {}}, "an object"),
            ({"y": {"/a": 1}}, "an object"),
        ],
    )
    def test_counts(self, counted: Json, found: str) -> None:
        """V10: the counts are those of the residuals."""
        wanted = 'the counts of unknown_fields, {"x":{"/a":1}}'
        expected = breach("counts", "/unknown_key_counts", wanted, found)
        assert [expected] == problems(self.of("x", {"/a": 1}, counted))

    def test_counts_without_residuals(self) -> None:
        """Counts of residuals that are not there are refused."""
        wanted = "the counts of unknown_fields, {}"
        expected = breach("counts", "/unknown_key_counts", wanted, "an object")
        assert [expected] == problems(document(unknown_key_counts={"x": {"/a": 1}}))

    def test_no_counts_of_nothing(self) -> None:
        """Absent counts equal empty ones, and a source without fields has none."""
        assert [] == problems(document(unknown_key_counts={}))
        assert [] == problems(self.of("x", {}))

    def test_counts_join_array_elements(self) -> None:
        """Indices are replaced where the format of the source has an array."""
        fields = {"/steps/0/x": 1, "/steps/1/x": 2, "/0/x": 3}
        counted = {"atif": {"/steps/*/x": 2, "/0/x": 1}}
        assert [] == problems(self.of("atif", fields, counted))

    def test_counts_of_a_broken_structure(self) -> None:
        """Where residuals have the wrong structure, counts are not compared."""
        wire = document(unknown_fields={"sources": {"x": 1}}, unknown_key_counts={"x": {"/a": 1}})
        assert ["storyline.type"] == [problem.rule for problem in problems(wire)]


class TestTurns:
    def test_source(self) -> None:
        """V11: the source of a turn is not empty."""
        assert [breach("source", "/turns/0/src", TEXT, '""')] == problems(of_turn(src=""))

    def test_copied_prompt(self) -> None:
        """V12: a copied turn has no prompt."""
        expected = breach(
            "copied-prompt", "/turns/0/prompt", "no prompt on a copied turn", "an object"
        )
        assert [expected] == problems(of_turn(copied=True, prompt={"system": "x"}))
        assert [] == problems(of_turn(copied=False, prompt={"system": "x"}))
        assert [] == problems(of_turn(copied=True, prompt=None))

    def test_copied_env(self) -> None:
        """Readers do not refuse an environment on a copied turn."""
        assert [] == problems(of_turn(copied=True, env={"name": "n"}))

    @pytest.mark.parametrize(
        "prompt", [{}, {"system": ""}, {"user": ""}, {"system": None, "user": ""}]
    )
    def test_prompt(self, prompt: Json) -> None:
        """V13: the prompt of a turn says something, or clears both members."""
        message = "expected a non-empty system or user text, or both empty, found neither"
        expected = told("prompt", "/turns/0/prompt", message, "a non-empty system or user text")
        assert [expected] == problems(of_turn(prompt=prompt))

    @pytest.mark.parametrize(
        "prompt", [{"system": "", "user": ""}, {"system": "s"}, {"system": "", "user": "u"}]
    )
    def test_legal_prompt(self, prompt: Json) -> None:
        """The explicit clear, and a text in either member, are legal."""
        assert [] == problems(of_turn(prompt=prompt))

    def test_turn_id(self) -> None:
        """V14: no id is that of an earlier turn; order and sign are free."""
        ids = [5, -1, 0, 5, -1]
        wire = document(turns=[{"id": one, "src": "user", "msg": ""} for one in ids])
        wanted = "an id that no earlier turn has"
        assert [
            breach("turn-id", "/turns/3/id", wanted, "5"),
            breach("turn-id", "/turns/4/id", wanted, "-1"),
        ] == problems(wire)

    def test_call_id(self) -> None:
        """V15: the id of a call is not empty."""
        expected = breach("call-id", "/turns/0/tool_calls/0/tcid", TEXT, '""')
        assert [expected] == problems(of_call(tcid=""))

    def test_function(self) -> None:
        """V16: the function of a call is not empty."""
        expected = breach("function", "/turns/0/tool_calls/0/fn", TEXT, '""')
        assert [expected] == problems(of_call(fn=""))

    @pytest.mark.parametrize(
        ("response", "found"),
        [({}, "an empty object"), ({"status": None}, "an object")],
    )
    def test_response(self, response: Json, found: str) -> None:
        """V17: a response says a status or an exit code."""
        at = "/turns/0/tool_calls/0/response"
        expected = breach("response", at, "a status or an exit code", found)
        assert [expected] == problems(of_call(response=response))

    @pytest.mark.parametrize("response", [{"status": ""}, {"exit_code": 0}, None])
    def test_legal_response(self, response: Json) -> None:
        """An empty status and the exit code 0 are values."""
        assert [] == problems(of_call(response=response))

    def test_unique_call_id(self) -> None:
        """V18: no call has the id of an earlier one, anywhere in the document."""
        call = {"tcid": "x", "fn": "f", "args": {}}
        turn = {"src": "agent", "msg": "m", "tool_calls": [call, {**call, "tcid": "y"}]}
        wire = document(turns=[{**turn, "id": 1}, {**turn, "id": 2}])
        wanted = "an id that no earlier call has"
        assert [
            breach("call-id-unique", "/turns/1/tool_calls/0/tcid", wanted, '"x"'),
            breach("call-id-unique", "/turns/1/tool_calls/1/tcid", wanted, '"y"'),
        ] == problems(wire)

    def test_not_checked(self) -> None:
        """Order of times and ids, references and targets are not checked."""
        wire = document(
            started_at="2026-01-02T00:00:00Z",
            finished_at="2026-01-01T00:00:00Z",
            children=["gone"],
            parent={"psid": "gone"},
            turns=[
                {
                    "id": 2,
                    "src": "agent",
                    "msg": "m",
                    "observation": {"results": [{"source_call_id": "gone"}]},
                },
                {"id": 1, "src": "agent", "msg": "m"},
            ],
        )
        assert [] == problems(wire)


class TestOrder:
    def test_order_of_the_table(self) -> None:
        """Rules are reported in the order of their table."""
        call = {"tcid": "", "fn": "", "args": 1, "response": {}}
        wire = document(
            session="",
            trajectory="",
            agent={"id": ""},
            task={"llm": {"k": 0}},
            prompt={},
            origin={"format": ""},
            unknown_fields={"sources": {"x": {"source_document_id": "d", "fields": {"": 1}}}},
            turns=[
                {"id": 1, "src": "", "msg": 1, "copied": True, "prompt": {}},
                {"id": 1, "src": "a", "msg": 1, "tool_calls": [call, call]},
            ],
        )
        rules = [problem.rule.removeprefix("storyline.") for problem in problems(wire)]
        assert [
            *("session", "trajectory", "agent-id", "task-k", "prompt", "origin", "counts"),
            *("source", "copied-prompt", "prompt", "turn-id"),
            *("call-id", "function", "response"),
            *("call-id", "function", "response", "call-id-unique"),
        ] == rules


class TestModel:
    def test_valid(self) -> None:
        """A Storyline in memory that keeps the rules has no problem."""
        assert [] == list(
            check_model(Storyline(session_id="s", agent=Agent(agent_id="a"), turns=[]))
        )

    def test_every_rule(self) -> None:
        """What is checked of a document is checked of a Storyline in memory."""
        call = ToolCall(tool_call_id="", function_name="", arguments=1, response=Response())
        storyline = Storyline(
            session_id="",
            trajectory_id="",
            agent=Agent(agent_id=""),
            task=Task(llm=Llm(k=0)),
            origin=Origin(format=""),
            unknown_fields={"x": Residuals(source_document_id="d", fields={"a": 1})},
            turns=[
                Turn(turn_id=1, source="", message=1, is_copied_context=True, prompt=Prompt()),
                Turn(turn_id=1, source="a", message=1, tool_calls=[call, call]),
            ],
        )
        rules = [problem.rule.removeprefix("storyline.") for problem in check_model(storyline)]
        assert [
            *("session", "trajectory", "agent-id", "task-k", "origin", "residual-pointer"),
            *("source", "copied-prompt", "prompt", "turn-id"),
            *("call-id", "function", "response"),
            *("call-id", "function", "response", "call-id-unique"),
        ] == rules

    def test_empty_task(self) -> None:
        """A task whose parts are all empty is empty."""
        storyline = Storyline(
            session_id="s", agent=Agent(agent_id="a"), turns=[], task=Task(llm=Llm())
        )
        assert ["storyline.task-empty"] == [problem.rule for problem in check_model(storyline)]

    def test_writing_validates(self) -> None:
        """What is written is validated, types too; problems name the document."""
        turn = Turn(turn_id="1", source="a", message="m")  # type: ignore[arg-type]  # the point
        storyline = Storyline(
            session_id="s", trajectory_id="t", agent=Agent(agent_id=""), turns=[turn]
        )
        with pytest.raises(InvalidDocument) as caught:
            to_valid_wire(storyline)

        assert (
            breach("type", "/turns/0/id", "an integer", '"1"')._replace(document="t"),
            breach("agent-id", "/agent/id", TEXT, '""')._replace(document="t"),
        ) == caught.value.problems


class TestCatalogue:
    def test_ids(self) -> None:
        """The rules are those of the specification, fatal but for the one about stores."""
        assert [
            "object", "required", "type", "unknown-key", "time", "version", "session", "trajectory",
            "agent-id", "task-empty", "task-k", "prompt", "origin", "residual-pointer", "counts",
            "source", "copied-prompt", "turn-id", "call-id", "function", "response",
            "call-id-unique", "document-id",
        ] == [rule.rule.removeprefix("storyline.") for rule in RULES]  # fmt: skip
        assert ["storyline.document-id"] == [
            rule.rule for rule in RULES if rule.severity != "fatal"
        ]

    @pytest.mark.parametrize(
        "value", [None, 1, "x", [], [[]], {"": {}}, {"sources": []}, {"results": 1}, [{}], [None]]
    )
    def test_any_shape(self, value: Json) -> None:
        """Checks pass over whatever has the wrong type, wherever it stands."""
        for key in ("agent", "task", "prompt", "origin", "unknown_fields", "turns"):
            list(check(document(**{key: value})))
        for key in ("id", "src", "prompt", "tool_calls", "copied"):
            list(check(of_turn(**{key: value})))
        for key in ("tcid", "fn", "response"):
            list(check(of_call(**{key: value})))
        for key in ("env", "llm", "result"):
            list(check(document(task={key: value})))
        list(check(document(unknown_fields={"sources": {"x": value}}, unknown_key_counts=value)))
