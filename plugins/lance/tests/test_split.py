"""Storylines become rows and come back: storyline.md, A.2 to A.4."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hub_lance.rebuild import Damaged, rebuild
from hub_lance.rows import Rows, split, with_ordinal
from hub_lance.schema import TABLES, TableName
from hub_lance.texts import restored, stored
from hypothesis import given, settings

import hub
from hub.testing.storylines import corpus
from hub.testing.strategies import storylines

from .builders import wire

Row = dict[str, Any]

WHOLE = {
    "schema_version": "storyline/v1",
    "session": "s",
    "trajectory": "t",
    "run": "r",
    "attempt_id": "1",
    "origin": {"format": "atif", "document_id": "d"},
    "agent": {"id": "a", "name": "n", "ver": "2", "model": "m", "tools": [], "extra": {}},
    "parent": {"psid": "p"},
    "children": [],
    "notes": "",
    "final_metrics": {"cost": 1.0},
    "continued_trajectory_ref": "next.json",
    "extra": {"k": None},
    "meta": 0,
    "unknown_fields": {"sources": {"x": {"source_document_id": "d", "fields": {"/a": 1}}}},
    "unknown_key_counts": {"x": {"/a": 1}},
    "task": {"result": {"correct": True}},
    "started_at": "2026-01-05T09:00:00+01:00",
    "finished_at": 1785578400.25,
    "prompt": {"system": "S"},
    "turns": [
        {
            "id": 7,
            "src": "agent",
            "kind": "plan",
            "msg": None,
            "ts": "2026-01-05T09:00:00.123456789Z",
            "reason": "why",
            "effort": "high",
            "metrics": {"prompt_tokens": 5},
            "model": "m2",
            "nllm": 1,
            "copied": False,
            "latency_ms": 12,
            "ttft_ms": 3,
            "tool_calls": [
                {
                    "tcid": "c1",
                    "fn": "f",
                    "args": None,
                    "result": [1],
                    "duration_ms": 9,
                    "extra": {},
                    "kind": "k",
                    "response": {"exit_code": 0},
                },
                {"tcid": "c2", "fn": "g", "args": {"a": 1.0}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c2", "content": "two"},
                    {"tool_call_id": "c1", "content": "one"},
                    {"source_call_id": None, "tool_call_id": "c1"},
                    {"source_call_id": "nobody"},
                    "text",
                    {"source_call_id": "c2"},
                ]
            },
            "extra": {"e": 1},
            "env": {},
            "finished_at": "2026-01-05T09:00:01Z",
            "prompt": {"system": "", "user": ""},
        },
        {"id": -1, "src": "user", "msg": "hi", "tool_calls": []},
    ],
}
NANOSECONDS = 1767603600123456789


def named(rows: Rows) -> tuple[Row, list[Row], list[Row]]:
    """Return rows with the names of their columns."""
    run, *_ = spelled("runs", [with_ordinal(rows.run, 0)])
    return run, spelled("steps", rows.steps), spelled("tool_calls", rows.calls)


def spelled(table: TableName, rows: Iterable[tuple[Any, ...]]) -> list[Row]:
    """Return rows with the names of their columns, JSON text as a text."""
    names = [column.name for column in TABLES[table]]
    return [
        {
            name: cell.decode() if isinstance(cell, bytes) else cell
            for name, cell in zip(names, row, strict=True)
        }
        for row in rows
    ]


def rebuilt(storyline: hub.Storyline) -> hub.Storyline:
    """Return what is rebuilt of the rows of *storyline*."""
    return rebuild(*named(split(storyline)))


class TestSplit:
    def test_run(self) -> None:
        """A run row has a cell for each root field, JSON fields as their compact text."""
        run, _, _ = named(split(hub.from_wire(WHOLE)))
        assert {
            "schema_version": "storyline/v1",
            "origin_json": '{"document_id":"d","format":"atif"}',
            "document_id": "t",
            "storage_ordinal": 0,
            "trajectory_id_explicit": True,
            "run_id": "r",
            "attempt_id": "1",
            "session_id": "s",
            "agent_id": "a",
            "agent_name": "n",
            "agent_version": "2",
            "agent_model_name": "m",
            "agent_tool_definitions_json": "[]",
            "agent_extra_json": "{}",
            "parent_json": '{"psid":"p"}',
            "child_session_ids_json": "[]",
            "notes": "",
            "final_metrics_json": '{"cost":1.0}',
            "continued_trajectory_ref": "next.json",
            "extra_json": '{"k":null}',
            "meta_json": "0",
            "unknown_fields_json": '{"sources":{"x":{"fields":{"/a":1},"source_document_id":"d"}}}',
            "unknown_key_counts_json": '{"x":{"/a":1}}',
            "task_json": '{"result":{"correct":true}}',
            "started_at_json": '"2026-01-05T09:00:00+01:00"',
            "finished_at_json": "1785578400.25",
            "prompt_json": '{"system":"S"}',
        } == run

    def test_steps(self) -> None:
        """A step row has a cell for each field of a turn, and says whether calls and observation are set."""
        _, steps, _ = named(split(hub.from_wire(WHOLE)))
        owner = {"document_id": "t", "run_id": "r", "session_id": "s"}
        unset = dict.fromkeys(column.name for column in TABLES["steps"])
        assert [
            {
                **owner,
                "step_id": 7,
                "turn_ordinal": 0,
                "kind": "plan",
                "effective_kind": "plan",
                "timestamp": NANOSECONDS,
                "timestamp_source_json": '"2026-01-05T09:00:00.123456789Z"',
                "source": "agent",
                "message_json": "null",
                "reasoning_content": "why",
                "reasoning_effort_json": '"high"',
                "metrics_json": '{"prompt_tokens":5}',
                "model_name": "m2",
                "llm_call_count": 1,
                "is_copied_context": False,
                "latency_ms": 12,
                "ttft_ms": 3,
                "had_tool_calls": True,
                "had_observation": True,
                "observation_json": hub.compact(WHOLE["turns"][0]["observation"]),  # type: ignore[index]  # as above
                "extra_json": '{"e":1}',
                "env_json": "{}",
                "finished_at_json": '"2026-01-05T09:00:01Z"',
                "prompt_json": '{"system":"","user":""}',
            },
            {
                **unset,
                **owner,
                "step_id": -1,
                "turn_ordinal": 1,
                "effective_kind": "dialogue",
                "source": "user",
                "message_json": '"hi"',
                "had_tool_calls": True,
                "had_observation": False,
            },
        ] == steps

    def test_calls(self) -> None:
        """A call row has a cell for each field of a call, and the results that name it."""
        _, _, calls = named(split(hub.from_wire(WHOLE)))
        owner = {"document_id": "t", "run_id": "r", "session_id": "s", "step_id": 7}
        unset = dict.fromkeys(column.name for column in TABLES["tool_calls"])
        assert [
            {
                **owner,
                "call_index": 0,
                "tool_call_id": "c1",
                "function_name": "f",
                "arguments_json": "null",
                "result_json": "[1]",
                "results_json": '[{"tool_call_id":"c1","content":"one"}]',
                "duration_ms": 9,
                "extra_json": "{}",
                "kind": "k",
                "response_json": '{"exit_code":0}',
            },
            {
                **unset,
                **owner,
                "call_index": 1,
                "tool_call_id": "c2",
                "function_name": "g",
                "arguments_json": '{"a":1.0}',
                "results_json": '[{"source_call_id":"c2","content":"two"},{"source_call_id":"c2"}]',
            },
        ] == calls

    def test_session_is_the_identity(self) -> None:
        """Without a trajectory the session is the document's id, and it is noted that it is so."""
        run, _, _ = named(split(hub.from_wire(wire("s"))))
        assert ("s", False, None) == (
            run["document_id"],
            run["trajectory_id_explicit"],
            run["run_id"],
        )

    def test_invalid(self) -> None:
        """A Storyline that breaks rules is refused, and the problems name it."""
        storyline = hub.from_wire(wire("s", "a", "b"))
        storyline.turns[1].turn_id = 0
        with pytest.raises(hub.InvalidDocument) as caught:
            split(storyline)
        assert [("s", "storyline.turn-id")] == [
            (one.document, one.rule) for one in caught.value.problems
        ]


class TestTexts:
    @pytest.mark.parametrize("text", ["", "plain", "\x00", "é𝒙", "\ufdd1"])
    def test_as_it_is(self, text: str) -> None:
        """A text is stored as it is."""
        assert text == stored(text) == restored(text)

    @pytest.mark.parametrize(
        ("text", "cell"),
        [
            ("\ud800", '\ufdd0"\\ud800"'),
            ("a\udfffb", '\ufdd0"a\\udfffb"'),
            ("\ufdd0", '\ufdd0"\ufdd0"'),
        ],
    )
    def test_escaped(self, text: str, cell: str) -> None:
        """One that no UTF-8 spells is stored as a mark and its JSON text; so is one that begins with the mark."""
        assert cell == stored(text)
        assert text == restored(cell)


class TestRebuild:
    def test_whole(self) -> None:
        """A Storyline with every field comes back, also its spelling of times."""
        assert WHOLE == hub.to_wire(rebuilt(hub.from_wire(WHOLE)))

    @pytest.mark.parametrize("name", corpus())
    def test_corpus(self, name: str) -> None:
        """The Storylines of the kit come back."""
        for one in corpus()[name]:
            back = rebuilt(one)
            assert one == back
            assert hub.canonical(hub.to_wire(one)) == hub.canonical(hub.to_wire(back))

    @settings(max_examples=40, deadline=None)
    @given(storylines())
    def test_any(self, storyline: hub.Storyline) -> None:
        """So does any Storyline, integers as integers and floats as floats."""
        back = rebuilt(storyline)
        assert storyline == back
        assert hub.canonical(hub.to_wire(storyline)) == hub.canonical(hub.to_wire(back))

    def test_order_of_rows(self) -> None:
        """Rows may come in any order."""
        run, steps, calls = named(split(hub.from_wire(WHOLE)))
        assert WHOLE == hub.to_wire(rebuild(run, steps[::-1], calls[::-1]))

    def test_missing_columns(self) -> None:
        """A nullable column that a table does not have reads as null."""
        run, steps, calls = named(split(hub.from_wire(wire("s"))))
        for row in (run, *steps):
            for column in [name for name, cell in row.items() if cell is None]:
                del row[column]
        assert wire("s") == hub.to_wire(rebuild(run, steps, calls))

    def test_time_without_a_spelling(self) -> None:
        """A time whose spelling is not there is written canonically."""
        run, steps, calls = named(split(hub.from_wire(WHOLE)))
        del steps[0]["timestamp_source_json"]
        back = rebuild(run, steps, calls)
        assert "2026-01-05T09:00:00.123456789Z" == back.turns[0].timestamp


def step(column: str, cell: int | str | None) -> Callable[[Row, list[Row], list[Row]], None]:
    """Return what changes a cell of the first step."""
    return lambda _, steps, __: steps[0].update({column: cell})


def call(column: str, cell: int | str | None) -> Callable[[Row, list[Row], list[Row]], None]:
    """Return what changes a cell of the first call."""
    return lambda _, __, calls: calls[0].update({column: cell})


class TestDamaged:
    @pytest.mark.parametrize(
        ("damage", "reason"),
        [
            (step("session_id", "x"), "a step has another document, run or session than its run"),
            (step("run_id", None), "a step has another document, run or session than its run"),
            (call("document_id", "x"), "a tool call has another document, run or session"),
            (call("run_id", "x"), "a tool call has another document, run or session"),
            (step("step_id", -1), "two steps have one step_id"),
            (step("turn_ordinal", 1), "the ordinals of its turns are not 0 to 1"),
            (step("turn_ordinal", 2), "the ordinals of its turns are not 0 to 1"),
            (step("had_observation", 0), "had_observation is not what observation_json says"),
            (step("had_tool_calls", 0), "it has tool calls, and had none"),
            (step("step_id", 8), "a tool call has no step"),
            (call("tool_call_id", "c2"), "two tool calls have one tool_call_id"),
            (call("call_index", 1), "the indexes of its calls are not 0 to 1"),
            (call("results_json", "[]"), "results_json of call 0 is not what its observation says"),
            (step("timestamp", None), "timestamp is not the instant of timestamp_source_json"),
            (step("timestamp", 5), "timestamp is not the instant of timestamp_source_json"),
        ],
    )
    def test_refused(
        self, damage: Callable[[Row, list[Row], list[Row]], None], reason: str
    ) -> None:
        """Rows that do not fit together are refused, with the document and the reason."""
        run, steps, calls = named(split(hub.from_wire(WHOLE)))
        damage(run, steps, calls)
        with pytest.raises(Damaged) as caught:
            rebuild(run, steps, calls)
        assert str(caught.value).startswith("the store is damaged at 't': ")
        assert reason in str(caught.value)

    def test_invalid(self) -> None:
        """Rows that fit together, and spell no valid Storyline, are refused too."""
        run, steps, calls = named(split(hub.from_wire(WHOLE)))
        steps[0]["source"] = ""
        with pytest.raises(hub.InvalidDocument, match=r"storyline\.source"):
            rebuild(run, steps, calls)
