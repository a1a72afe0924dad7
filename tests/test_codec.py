"""Storylines and their wire JSON: every field both ways, what is normalised, and that opaque values are shared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.codec import from_wire, root_from_wire, to_valid_wire, turn_from_wire
from hub.errors import InvalidDocument, Json, Problem
from hub.json import ExactNumber, dumps, loads
from hub.pointer import get, split
from hub.storyline.model import (
    Agent,
    Env,
    Llm,
    Origin,
    Parent,
    Prompt,
    Residuals,
    Response,
    Storyline,
    Task,
    TaskResult,
    ToolCall,
    Turn,
)
from hub.testing.strategies import json_values, storylines, wire_storylines
from hub.wire import root_to_wire, to_wire, turn_to_wire

WIRE: dict[str, Json] = {
    "schema_version": "storyline/v1",
    "origin": {"format": "actf", "schema_version": "ACTF_v1.0", "document_id": "d"},
    "run": "r",
    "trajectory": "t",
    "session": "s",
    "attempt_id": "1",
    "parent": {"psid": "p", "scid": "c", "ptid": -1, "rel": "fork"},
    "children": ["k"],
    "notes": "n",
    "agent": {
        "id": "a",
        "name": "A",
        "ver": "2",
        "model": "m",
        "tools": [{"name": "f"}],
        "extra": {"e": 1},
    },
    "task": {
        "env": {
            "name": "n",
            "endpoint": "e",
            "id": "i",
            "event_type": "t",
            "request_id": "q",
            "state": {"x": [None]},
        },
        "llm": {"k": 3},
        "result": {
            "correct": False,
            "score": 0,
            "max_score": 1.0,
            "status": "done",
            "error": "e",
            "final_answer": [1],
            "ground_truth": {"g": 1},
            "artifacts": [],
            "category": "c",
            "retry_counts": {},
        },
    },
    "prompt": {"system": "S", "user": "U"},
    "started_at": "2026-01-01T00:00:00Z",
    "finished_at": 1767225600.5,
    "final_metrics": {"tokens": 1},
    "continued_trajectory_ref": "next",
    "extra": {},
    "meta": [],
    "turns": [
        {
            "id": 1,
            "src": "agent",
            "msg": [{"type": "text", "text": "hi"}],
            "kind": "k",
            "ts": "2026-01-01 08:00:00+08:00",
            "finished_at": 0,
            "reason": "because",
            "effort": "high",
            "tool_calls": [
                {
                    "tcid": "x",
                    "fn": "f",
                    "args": {"n": 1},
                    "result": "r",
                    "duration_ms": 5,
                    "extra": 1,
                    "kind": "mcp",
                    "response": {"status": "ok", "exit_code": 0},
                }
            ],
            "observation": {"results": [{"source_call_id": "x", "content": "r"}]},
            "metrics": {"prompt_tokens": 1},
            "model": "m",
            "nllm": 1,
            "copied": False,
            "latency_ms": 7,
            "ttft_ms": 2,
            "extra": False,
            "env": {},
            "prompt": {"system": "", "user": ""},
        }
    ],
    "unknown_fields": {"sources": {"actf": {"source_document_id": "T", "fields": {"/x": None}}}},
    "unknown_key_counts": {"actf": {"/x": 1}},
}
"""A document with every field."""

STORYLINE = Storyline(
    origin=Origin(format="actf", schema_version="ACTF_v1.0", document_id="d"),
    run_id="r",
    trajectory_id="t",
    session_id="s",
    attempt_id="1",
    parent=Parent(session_id="p", call_id="c", turn_id=-1, relation="fork"),
    child_ids=["k"],
    notes="n",
    agent=Agent(
        agent_id="a",
        name="A",
        version="2",
        model_name="m",
        tool_definitions=[{"name": "f"}],
        extra={"e": 1},
    ),
    task=Task(
        env=Env(
            name="n",
            endpoint="e",
            env_id="i",
            event_type="t",
            request_id="q",
            state={"x": [None]},
        ),
        llm=Llm(k=3),
        result=TaskResult(
            correct=False,
            score=0,
            max_score=1.0,
            status="done",
            error="e",
            final_answer=[1],
            ground_truth={"g": 1},
            artifacts=[],
            extras={"category": "c", "retry_counts": {}},
        ),
    ),
    prompt=Prompt(system="S", user="U"),
    started_at="2026-01-01T00:00:00Z",
    finished_at=1767225600.5,
    final_metrics={"tokens": 1},
    continued_trajectory_ref="next",
    extra={},
    meta=[],
    turns=[
        Turn(
            turn_id=1,
            source="agent",
            message=[{"type": "text", "text": "hi"}],
            kind="k",
            timestamp="2026-01-01 08:00:00+08:00",
            finished_at=0,
            reasoning_content="because",
            reasoning_effort="high",
            tool_calls=[
                ToolCall(
                    tool_call_id="x",
                    function_name="f",
                    arguments={"n": 1},
                    result="r",
                    duration_ms=5,
                    extra=1,
                    kind="mcp",
                    response=Response(status="ok", exit_code=0),
                )
            ],
            observation={"results": [{"source_call_id": "x", "content": "r"}]},
            metrics={"prompt_tokens": 1},
            model_name="m",
            llm_call_count=1,
            is_copied_context=False,
            latency_ms=7,
            ttft_ms=2,
            extra=False,
            env=Env(),
            prompt=Prompt(system="", user=""),
        )
    ],
    unknown_fields={"actf": Residuals(source_document_id="T", fields={"/x": None})},
)

B = {"schema_version": "storyline/v1", "session": "s", "agent": {"id": "a"}, "turns": []}


def document(**members: Json) -> dict[str, Json]:
    return {**B, **members}


def of_turn(**members: Json) -> dict[str, Json]:
    return document(turns=[{"id": 1, "src": "agent", "msg": "m", **members}])


def of_call(**members: Json) -> dict[str, Json]:
    return of_turn(tool_calls=[{"tcid": "x", "fn": "f", "args": {}, **members}])


def rewritten(wire: Json) -> Json:
    """Return *wire* as it is written after it has been read."""
    return to_wire(from_wire(wire))


def nested(levels: int) -> Json:
    """Return an array in an array, *levels* deep."""
    value: Json = []
    for _ in range(levels - 1):
        value = [value]
    return value


class TestEveryField:
    def test_read(self) -> None:
        """Every member of the wire form has its attribute."""
        assert STORYLINE == from_wire(WIRE)

    def test_written(self) -> None:
        """Every attribute has its member of the wire form."""
        assert WIRE == to_wire(STORYLINE)
        assert WIRE == to_valid_wire(STORYLINE)

    def test_none_is_missing(self) -> None:
        """The example has every attribute of every class, so that none is left out of these tests."""

        def unset(value: Any) -> list[str]:
            return [
                f"{type(value).__name__}.{field.name}"
                for field in attrs.fields(type(value))
                if getattr(value, field.name) is None
            ]

        turn = STORYLINE.turns[0]
        call = turn.tool_calls and turn.tool_calls[0]
        task = STORYLINE.task
        parts = (task and task.env, task and task.llm, task and task.result, call)
        wholes = (
            STORYLINE,
            STORYLINE.agent,
            STORYLINE.parent,
            STORYLINE.origin,
            task,
            turn,
            *parts,
        )
        assert [] == [name for whole in wholes for name in unset(whole)]

    def test_members_come_in_one_order(self) -> None:
        """The same Storyline is written in the same order of members."""
        shuffled = dict(reversed(WIRE.items()))
        assert json.dumps(rewritten(shuffled)) == json.dumps(to_wire(STORYLINE))

    def test_smallest(self) -> None:
        """What is not set is not written."""
        assert B == rewritten(B)


class TestAbsent:
    @pytest.mark.parametrize(
        "member",
        [
            "origin", "run", "trajectory", "attempt_id", "parent", "children", "notes", "task",
            "prompt", "started_at", "finished_at", "final_metrics", "continued_trajectory_ref",
            "extra", "meta", "unknown_fields", "unknown_key_counts",
        ],
    )  # fmt: skip
    def test_null_at_the_root(self, member: str) -> None:
        """`null` of an optional member is absent, whatever its type is."""
        assert B == rewritten(document(**{member: None}))

    def test_null_in_a_turn(self) -> None:
        """`null` of an optional member of a turn or call is absent; of a message and arguments it is a value."""
        call = WIRE["turns"][0]["tool_calls"][0]
        turn = {**WIRE["turns"][0], "tool_calls": [dict.fromkeys(call) | {"tcid": "x", "fn": "f"}]}
        nulls = dict.fromkeys(turn) | {"id": 1, "src": "agent", "tool_calls": turn["tool_calls"]}
        expected = of_turn(msg=None, tool_calls=[{"tcid": "x", "fn": "f", "args": None}])
        assert expected == rewritten(document(turns=[nulls]))

    def test_null_elsewhere(self) -> None:
        """`null` is absent in every object that has optional members."""
        wire = document(
            agent={"id": "a", "name": None, "ver": None, "tools": None, "extra": None},
            origin={"format": "f", "schema_version": None, "document_id": None},
            parent={"psid": "", "scid": None, "ptid": None, "rel": None},
            task={"env": {"name": "n", "id": None, "state": None}, "llm": None, "result": None},
            prompt={"system": None, "user": "u"},
        )
        expected = document(
            origin={"format": "f"},
            parent={"psid": ""},
            task={"env": {"name": "n"}},
            prompt={"user": "u"},
        )
        assert expected == rewritten(wire)

    @pytest.mark.parametrize(
        "wire",
        [
            document(run="", attempt_id="", notes="", children=[], extra={}, meta={}),
            document(final_metrics={}, continued_trajectory_ref=""),
            document(agent={"id": "a", "name": "", "tools": [], "extra": {}}),
            of_turn(kind="", reason="", effort="", model="", tool_calls=[], env={}),
            of_turn(observation={}, metrics=[], extra=0, nllm=0, copied=False),
            of_call(result="", extra={}, duration_ms=0, response={"status": ""}),
        ],
    )
    def test_empty_is_a_value(self, wire: Json) -> None:
        """Empty text, arrays and objects are kept where nothing else is said."""
        assert wire == rewritten(wire)

    @pytest.mark.parametrize(
        ("wire", "written"),
        [
            (of_call(kind=""), of_call()),
            (of_turn(env={"state": {}}), of_turn(env={})),
            (of_turn(env={"id": "", "state": {}}), of_turn(env={"id": ""})),
            (document(parent={"psid": "p", "rel": "spawn"}), document(parent={"psid": "p"})),
            (
                document(prompt={"system": "s", "user": ""}),
                document(prompt={"system": "s"}),
            ),
            (of_turn(prompt={"system": "", "user": "u"}), of_turn(prompt={"user": "u"})),
            (
                document(task={"env": {}, "llm": {}, "result": {"score": 1}}),
                document(task={"result": {"score": 1}}),
            ),
            (
                document(task={"env": {"state": {}}, "llm": {"k": 1}, "result": {"error": ""}}),
                document(task={"llm": {"k": 1}}),
            ),
            (
                document(
                    task={"result": {"correct": {}, "score": "", "max_score": {}, "status": "",
                                     "final_answer": "", "artifacts": None, "x": "", "y": {}, "z": None}}
                ),
                document(task={"result": {"x": "", "y": {}}}),
            ),
            (
                document(
                    unknown_fields={
                        "sources": {
                            "a": {"source_document_id": "d", "fields": {}},
                            "b": {"source_document_id": "d", "fields": {"": {}}},
                        }
                    },
                    unknown_key_counts={"b": {"": 1}},
                ),
                document(
                    unknown_fields={
                        "sources": {"b": {"source_document_id": "d", "fields": {"": {}}}}
                    },
                    unknown_key_counts={"b": {"": 1}},
                ),
            ),
            (document(unknown_fields={"sources": {}}, unknown_key_counts={}), document()),
        ],
    )  # fmt: skip
    def test_blank_is_absent(self, wire: Json, written: Json) -> None:
        """What the specification calls absent is not written back."""
        assert written == rewritten(wire)
        assert from_wire(written) == from_wire(wire)

    @pytest.mark.parametrize(
        ("storyline", "written"),
        [
            ({"prompt": Prompt()}, {}),
            ({"prompt": Prompt(system="", user="")}, {}),
            ({"prompt": Prompt(system="s", user="")}, {"prompt": {"system": "s"}}),
            ({"task": Task(env=Env(), llm=Llm(k=1))}, {"task": {"llm": {"k": 1}}}),
            (
                {"task": Task(result=TaskResult(score="", extras={"x": None}))},
                {"task": {}},
            ),
            ({"unknown_fields": {"x": Residuals(source_document_id="d", fields={})}}, {}),
        ],
    )
    def test_blank_in_memory(self, storyline: Any, written: Json) -> None:
        """A Storyline in memory may hold what means absent; it is not written."""
        one = Storyline(session_id="s", agent=Agent(agent_id="a"), turns=[], **storyline)
        assert document(**written) == to_wire(one)

    def test_blank_is_not_in_the_model(self) -> None:
        """Two spellings of absent make equal Storylines."""
        assert Env(state={}) == Env()
        assert TaskResult(score={}, status="", error="") == TaskResult()
        assert Prompt(system="", user="u") == Prompt(user="u")
        assert Prompt(system="s", user="") == Prompt(system="s")
        assert Prompt(system="", user="") != Prompt()
        call = ToolCall(tool_call_id="x", function_name="f", arguments=1, kind="")
        assert None is call.kind


class TestOpaque:
    def test_shared(self) -> None:
        """Opaque values are passed on as the objects they are, both ways."""
        value = {"x": [1]}
        wire = of_turn(msg=value, extra=value, observation=value, metrics=value, effort=value)
        turn = from_wire(wire).turns[0]
        written = turn_to_wire(turn)

        for shared in (turn.message, turn.extra, turn.observation, turn.metrics):
            assert value is shared
        for key in ("msg", "extra", "observation", "metrics", "effort"):
            assert value is written[key]

    def test_input_is_not_changed(self) -> None:
        """Reading and writing leave what they are given as it is."""
        before = json.dumps(WIRE)
        rewritten(WIRE)
        assert before == json.dumps(WIRE)

    @pytest.mark.parametrize(
        "value",
        [2**64, -(10**400), ExactNumber("1e400"), "\udc88", 1.0, -0.0, nested(500)],
        ids=["2**64", "-10**400", "1e400", "surrogate", "1.0", "-0.0", "500 levels"],
    )
    def test_anything(self, value: Json) -> None:
        """Opaque values may be any JSON value: huge integers, exact numbers, lone surrogates, deep ones."""
        wire = of_call(args=value, result=value)
        call = rewritten(wire)["turns"][0]["tool_calls"][0]
        assert value is call["args"]
        assert value is call["result"]

    def test_result_extras_keep_their_type(self) -> None:
        """A result extra may have any type, also the names that ACTF interprets."""
        extras = {"task_correct": 1, "category": [], "attempts_tried": "2", "solved_at": 0}
        wire = document(task={"result": {"correct": True, **extras}})
        assert wire == rewritten(wire)


class TestNode:
    def test_node(self) -> None:
        """The node exists at run time only: it is neither written nor compared."""
        one = attrs.evolve(STORYLINE, node="/attempts/1")
        assert STORYLINE == one
        assert WIRE == to_wire(one)
        assert "" == from_wire(WIRE).node


class TestParts:
    def test_root(self) -> None:
        """The root element has neither turns nor residuals."""
        left_out = ("turns", "unknown_fields", "unknown_key_counts")
        root = {key: member for key, member in WIRE.items() if key not in left_out}
        assert root == root_to_wire(STORYLINE)
        assert attrs.evolve(STORYLINE, turns=[], unknown_fields={}) == root_from_wire(root)

    def test_turn(self) -> None:
        """A turn is written and read alone."""
        assert WIRE["turns"][0] == turn_to_wire(STORYLINE.turns[0])
        assert STORYLINE.turns[0] == turn_from_wire(WIRE["turns"][0])

    def test_broken_turn(self) -> None:
        """What is wrong with a turn is told by pointers into the turn."""
        with pytest.raises(InvalidDocument) as caught:
            turn_from_wire({"id": "1", "src": "a", "msg": "m", "x": 1, "tool_calls": [1]})

        assert ["/id", "/tool_calls/0", "/x"] == sorted(
            problem.pointer for problem in caught.value.problems
        )

    @pytest.mark.parametrize("wire", [None, [], "turn", 1])
    def test_no_turn(self, wire: Json) -> None:
        """What is no object is no turn."""
        with pytest.raises(InvalidDocument) as caught:
            turn_from_wire(wire)

        assert [("storyline.type", "")] == [
            (problem.rule, problem.pointer) for problem in caught.value.problems
        ]


@st.composite
def noisy(draw: st.DrawFn) -> tuple[Json, Json]:
    """Return a document, and the same with `null` and blank members that mean absent."""
    wire = draw(wire_storylines())

    def with_noise(value: dict[str, Json], noise: dict[str, Json]) -> dict[str, Json]:
        absent = {key: noise[key] for key in noise.keys() - value.keys() if draw(st.booleans())}
        return {**value, **absent}

    turn_noise = dict.fromkeys(("kind", "ts", "reason", "effort", "observation", "env", "prompt"))
    call_noise = {"result": None, "kind": "", "response": None, "duration_ms": None}
    turns = [
        with_noise(
            {
                **turn,
                **(
                    {"tool_calls": [with_noise(call, call_noise) for call in turn["tool_calls"]]}
                    if "tool_calls" in turn
                    else {}
                ),
            },
            turn_noise,
        )
        for turn in wire["turns"]
    ]
    root_noise = dict.fromkeys(("run", "trajectory", "parent", "task", "prompt", "extra"))
    return wire, {**with_noise(wire, root_noise), "turns": turns}


class Unequal:
    """Something that is no JSON and cannot be compared."""

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError


class TestRefusal:
    @given(wire_storylines(), st.data())
    def test_anything_elsewhere(self, wire: dict[str, Json], data: st.DataObject) -> None:
        """A document with any value in any place is read, or refused with a problem at a place that there is."""
        places = list(containers(wire))
        for holder in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
            key = data.draw(
                st.sampled_from([*holder, "x"] if isinstance(holder, dict) else range(9))
            )
            value = data.draw(json_values(2))
            if isinstance(holder, dict) or key < len(holder):
                holder[key] = value
        problems: Sequence[Problem] = ()
        try:
            storyline = from_wire(wire)
        except InvalidDocument as error:
            problems = error.problems
        else:
            assert storyline == from_wire(to_wire(storyline))
            return
        assert problems
        for problem in problems:
            get(wire, split(problem.pointer)[:-1])

    def test_no_json(self) -> None:
        """An error that is none of the document's is not hidden."""
        with pytest.raises(ArithmeticError):
            from_wire(document(task={"result": {"score": Unequal()}}))


def containers(value: Json) -> Iterator[Json]:
    """Yield every object and array in *value* that is not empty."""
    if isinstance(value, dict | list) and value:
        yield value
        for member in value.values() if isinstance(value, dict) else value:
            yield from containers(member)


class TestRoundTrip:
    @given(wire_storylines(exact=True))
    def test_bytes(self, wire: Json) -> None:
        """A document comes back out of its bytes, with exact numbers and lone surrogates."""
        assert from_wire(wire) == from_wire(loads(dumps(to_wire(from_wire(wire)))))

    @given(storylines(sources=("actf", "ale", "atif", "openai-msg", "vendor"), exact=True))
    def test_storyline(self, storyline: Storyline) -> None:
        """A Storyline that is written and read is the same Storyline."""
        assert storyline == from_wire(to_valid_wire(storyline))

    @given(noisy())
    def test_wire(self, pair: tuple[Json, Json]) -> None:
        """A document that is read and written is the same but for members that mean absent."""
        wire, noisy_wire = pair
        assert json.dumps(wire, sort_keys=True) == json.dumps(rewritten(noisy_wire), sort_keys=True)

    @given(storylines())
    def test_parts(self, storyline: Storyline) -> None:
        """Root and turns make the Storyline again."""
        turns = [turn_from_wire(turn_to_wire(turn)) for turn in storyline.turns]
        root = root_from_wire(root_to_wire(storyline))
        whole = attrs.evolve(root, turns=turns, unknown_fields=storyline.unknown_fields)
        assert storyline == whole
