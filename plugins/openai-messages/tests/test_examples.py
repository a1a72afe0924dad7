"""The worked examples of the mapping, one test each, with the values that the specification gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

import hub
from hub import WriteOptions
from hub.testing import to_wire

from .builders import (
    Q,
    a,
    answer,
    call,
    fields,
    lines,
    parse,
    problems,
    read,
    read_one,
    result,
    row,
    rows_of,
    storyline,
    tc,
    tool,
    turns,
    u,
    write,
    written,
)

Json = Any

IMPORTED = {"id": "openai-import", "name": "openai-import"}
AGENT = {"agent_id": "openai-import"}


class TestRows:
    def test_1_one_row(self) -> None:
        """A row is a request and a response."""
        expected = {
            "schema_version": "storyline/v1",
            "agent": IMPORTED,
            "origin": {"format": "openai-msg", "document_id": "x.json"},
            "session": "s",
            "turns": [Q, answer("ok")],
        }

        assert read_one([row(response=a("ok"))]) == expected
        assert written([row(response=a("ok"))]) == {
            "session_steps": [{**row(response=a("ok")), **AGENT}]
        }

    def test_2_context(self) -> None:
        """What stands before the last user of the first row is copied context, with its results."""
        messages = [
            {"role": "system", "content": "sys"},
            u("q0"),
            a("a0", tool_calls=[tc("k0")]),
            tool("k0", "res0"),
            u("q1"),
        ]
        value = [row(messages=messages, step_id=3, response=a("r"))]

        assert turns(value) == [
            {"id": 1, "copied": True, "kind": "context", "src": "system", "msg": "sys"},
            {"id": 2, "copied": True, "kind": "llm.request", "src": "user", "msg": "q0"},
            {
                "id": 3,
                "copied": True,
                "kind": "autonomous",
                "src": "agent",
                "msg": "a0",
                "tool_calls": [call("k0", {})],
                "observation": {"results": [result("k0", "res0")]},
            },
            {**Q, "id": 8, "msg": "q1"},
            answer("r", id=9),
        ]
        assert fields(value) == {}
        assert rows_of(value) == [{**value[0], **AGENT}]

    def test_2_kinds(self) -> None:
        """An agent of the context who called nothing answered; who is none of the three makes no turn."""
        messages = [
            a("a0", reasoning_content="why"),
            {"role": "developer", "content": "d"},
            5,
            {"role": "system"},
            u("q"),
        ]
        context = {"copied": True, "src": "agent", "msg": "a0", "reason": "why"}

        assert turns([row(messages=messages, response=a("r"))])[:2] == [
            {"id": 1, "kind": "llm.response", **context},
            {"id": 2, "kind": "context", "copied": True, "src": "system", "msg": None},
        ]

    def test_3_output_in_messages(self) -> None:
        """Without a response the last assistant message that says something came out."""
        value = [row(messages=[u("q"), a("m1"), a("")], response=None)]

        assert turns(value) == [Q, answer("m1")]
        assert fields(value) == {
            "/session_steps/0/messages": value[0]["messages"],
            "/session_steps/0/response": None,
        }
        assert rows_of(value) == [{**value[0], **AGENT}]

    def test_4_markup(self) -> None:
        """A call in the text of a response is one of the turn."""
        text = "<tool_call>run\n<parameter=cmd> ls </parameter>\n<parameter=x>1</parameter></tool_call>"
        value = [row(step_id=3, response=a(text))]
        made = call("embedded-3-run", {"cmd": "ls", "x": "1"}, "run")

        assert turns(value)[1] == answer(text, id=6, kind="autonomous", tool_calls=[made])
        assert rows_of(value) == [{**value[0], **AGENT}]

    def test_5_function_markup(self) -> None:
        """Of several functions in a text the first one is called."""
        text = "text <function=search>\n<parameter=q>a b</parameter></function> tail <function=two>"
        made = call("embedded-1-search", {"q": "a b"}, "search")

        assert turns([row(response=a(text))])[1]["tool_calls"] == [made]

    def test_6_json_in_markup(self) -> None:
        """A call that is spelled as JSON is read as that."""
        text = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'

        assert turns([row(response=a(text))])[1]["tool_calls"] == [call("embedded-1-f", {"a": 1})]

    def test_7_refusal(self) -> None:
        """A refusal is what was said where there is no content, and a residual where there is."""
        refused, both = ([row(response=a(content, refusal="no"))] for content in (None, "yes"))

        assert turns(refused)[1] == answer("no")
        assert fields(refused) == {}
        assert turns(both)[1] == answer("yes")
        assert fields(both) == {"/session_steps/0/response/refusal": "no"}
        assert rows_of(both) == [{**both[0], **AGENT}]

    def test_8_calls(self) -> None:
        """Arguments are JSON, or stay the text that they are; what is no call is kept member by member."""
        made = [
            tc("c1", "{bad"),
            tc("c2", "[1]"),
            tc("c3", {"x": 1}),
            tc("c4", ""),
            {"id": "c5", "type": "custom", "custom": {"name": "g", "input": "zz"}},
            tc(""),
            {"id": "c6", "type": "fn2", "function": {"name": "f"}, "index": 0},
        ]
        value = [row(response=a("t", tool_calls=made))]
        at = "/session_steps/0/response/tool_calls"

        assert turns(value)[1]["tool_calls"] == [
            call("c1", "{bad"),
            call("c2", [1]),
            call("c3", {"x": 1}),
            call("c4", ""),
            call("c6", None),
        ]
        assert fields(value) == {
            f"{at}/4/id": "c5",
            f"{at}/4/type": "custom",
            f"{at}/4/custom": {"name": "g", "input": "zz"},
            f"{at}/5/id": "",
            f"{at}/5/type": "function",
            f"{at}/5/function/name": "f",
            f"{at}/5/function/arguments": "{}",
            f"{at}/6/type": "fn2",
            f"{at}/6/index": 0,
        }
        made[2] = tc("c3", '{"x":1}')
        assert rows_of(value)[0]["response"] == a("t", tool_calls=made)

    def test_9_facts(self) -> None:
        """What a row says beside its messages goes to the agent, the task, the turn and its metrics."""
        state = {
            "prompt_tokens": 5,
            "endpoint": "/v1",
            "event_type": "e",
            "request_id": "r",
            "requested_model": "m",
            "llm_step_index": 1,
            "session_id": "s",
            "total_latency_ms": 12.7,
            "zz": 2,
        }
        meta = {"source": "src", "group_id": "g", "x": 1, "env_state": json.dumps(state)}
        value = [
            row(
                meta_json=json.dumps(meta),
                llm_model="m",
                id="ev1",
                env_name="en",
                dataset_type="dt",
                dt="2026",
                reward=0.5,
                response=a("ok"),
            )
        ]
        found = read_one(value)
        metrics = {"reward": 0.5, "prompt_tokens": 5, "total_latency_ms": 12.7}

        assert found["agent"] == {"id": "src", "name": "src", "model": "m"}
        assert found["task"] == {
            "env": {
                "name": "en",
                "endpoint": "/v1",
                "state": {"dataset_type": "dt", "dt": "2026", "group_id": "g"},
            }
        }
        assert found["turns"][1] == answer(
            "ok",
            metrics=metrics,
            latency_ms=12,
            model="m",
            env={"id": "ev1", "event_type": "e", "request_id": "r"},
        )
        assert found["final_metrics"] == metrics
        assert fields(value) == {
            "/session_steps/0/meta_json/x": 1,
            "/session_steps/0/meta_json/env_state/zz": 2,
        }

    OF_ROW: ClassVar = {
        "reward": 0.5,
        "step_reward": None,
        "is_terminal": True,
        "is_truncated": False,
        "is_session_completed": True,
        "is_trainable": False,
    }
    OF_STATE: ClassVar = {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "total_tokens": 3,
        "request_bytes": 4,
        "response_bytes": 5,
        "output_bytes": 6,
        "output_chunk_count": 7,
        "finish_reason": "stop",
        "status_code": 200,
        "retry_count": 0,
        "upstream_latency_ms": 8.5,
        "gateway_overhead_ms": 9,
        "total_latency_ms": 10,
        "ttft_ms": 11,
        "truncate_reason": None,
        "error_type": "",
        "error_text": "e",
        "client_cancelled": False,
        "upstream_cancelled": True,
        "synthetic_stop": False,
        "max_steps": 12,
        "is_stream": True,
        "payload_sampled": [],
        "created_at": "soon",
        "completed_at": {},
    }

    def test_all_metrics(self) -> None:
        """Every metric of A6, of the row and of its state, is one of the turn, whatever its value."""
        value = [
            row(
                **self.OF_ROW,
                meta_json={"env_state": {**self.OF_STATE, "is_truncated": False}},
                response=a("ok"),
            )
        ]
        found = read_one(value)["turns"][1]

        assert found["metrics"] == {**self.OF_ROW, **self.OF_STATE}
        assert (found["latency_ms"], found["ttft_ms"]) == (10, 11)
        assert fields(value) == {}
        value[0]["meta_json"] = {"env_state": self.OF_STATE}
        assert rows_of(value) == [{**value[0], **AGENT}]

    def test_metrics_of_both(self) -> None:
        """Of a metric that a row has twice the row's counts, and another value in the state is a residual."""
        state = {"is_truncated": True, "is_session_completed": False}
        value = [row(is_truncated=False, meta_json={"env_state": state}, response=a("ok"))]

        assert turns(value)[1]["metrics"] == {"is_truncated": False, "is_session_completed": False}
        assert fields(value) == {"/session_steps/0/meta_json/env_state/is_truncated": True}

    def test_whole_environment(self) -> None:
        """What a state says of the environment, and its group, are of the task, and come back."""
        state = {"redaction_policy": "p", "upstream_base_url": "u", "weight_version": 3}
        value = [row(meta_json={"group_id": "g", "env_state": state}, response=a("ok"))]

        assert read_one(value)["task"] == {"env": {"state": {"group_id": "g", **state}}}
        assert fields(value) == {}
        assert rows_of(value) == [{**value[0], **AGENT}]

    @pytest.mark.parametrize(
        "key",
        [
            "blob_manifest",
            "chosen_response",
            "rejected_response",
            "ground_truth_answer",
            "reference_answer",
        ],
    )
    def test_members_that_are_empty(self, key: str) -> None:
        """Known members that say nothing are left out; what they say otherwise, and other ones, come back."""
        nothing: tuple[Json, ...] = (None, [], {})
        for empty in nothing:
            assert fields([row(**{key: empty}, response=a("ok"))]) == {}
            assert fields([row(vendor=empty, response=a("ok"))]) == {
                "/session_steps/0/vendor": empty
            }
        for said in ("", 0, ["x"], {"x": None}):
            value = [row(**{key: said}, response=a("ok"))]
            assert fields(value) == {f"/session_steps/0/{key}": said}
            assert rows_of(value) == [{**value[0], **AGENT}]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"agent_model": []},
            {"llm_model": {}},
            {"run_id": 1},
            {"run_bucket": True},
            {"job_id": 2.5},
            {"env_name": 5},
            {"env_name": ""},
            {"id": 5},
            {"id": ""},
            {"env_id": "other"},
            {"created_at": []},
            {"meta_json": 5},
            {"meta_json": "["},
            {"meta_json": {"env_state": 5}},
            {"meta_json": {"env_state": "x"}},
            {"meta_json": {"env_state": {"endpoint": 5}}},
            {"meta_json": {"env_state": {"event_type": ""}}},
            {"meta_json": {"env_state": {"request_id": 5}}},
            {"meta_json": {"env_state": {"session_id": "other"}}},
            {"meta_json": {"env_state": {"requested_model": "m"}}},
            {"meta_json": {"env_state": {"requested_model": None}}},
            {"meta_json": {"env_state": {"llm_step_index": 2}}},
            {"meta_json": {"env_state": {"llm_step_index": 1.0}}},
        ],
    )
    def test_what_is_not_taken(self, wrong: dict[str, Json]) -> None:
        """What has another type, or says something else than the session does, is a residual and comes back."""
        place, inner = "/session_steps/0", wrong
        while type(inner) is dict and inner:
            ((key, inner),) = inner.items()
            place = f"{place}/{key}"
        value = [row(**wrong, response=a("ok"))]

        assert fields(value) == {place: inner}
        assert rows_of(value) == [{**AGENT, **value[0]}]

    @pytest.mark.parametrize(
        "key",
        ["agent_id", "run_id", "job_id", "run_bucket", "agent_model", "llm_model", "env_name"],
    )
    def test_another_row(self, key: str) -> None:
        """What the session says by one row takes the place of nothing that another row says."""
        value = [
            row(**{key: "v"}, response=a("x")),
            row(step_id=2, messages=[u("q"), a("x"), u("p")], **{key: 5}, response=a("y")),
        ]

        assert fields(value) == {f"/session_steps/1/{key}": 5}
        first, second = rows_of(value)
        assert second[key] == 5
        assert fields([first, second]) == fields(value)

    @pytest.mark.parametrize("agent_id", [5, ""])
    def test_an_agent_without_a_name(self, agent_id: Json) -> None:
        """Where that which names the agent is taken, the agent is named by the other way."""
        value = [row(agent_id=agent_id, response=a("ok"))]

        assert fields(value) == {"/session_steps/0/agent_id": agent_id}
        (again,) = rows_of(value)
        assert again == {**value[0], "meta_json": {"source": "openai-import"}}
        assert read_one([again])["agent"] == IMPORTED

    def test_10_environment(self) -> None:
        """The environment is that of the first row; a turn has what differs."""
        value = [
            row(
                step_id=number,
                env_name=name,
                dt=f"d{number}",
                id=f"e{number}",
                response=a("ok"),
                meta_json={"env_state": {"endpoint": f"/{name.lower()}"}},
            )
            for number, name in ((1, "A"), (2, "B"))
        ]
        found = read_one(value)

        assert found["task"] == {"env": {"name": "A", "endpoint": "/a", "state": {"dt": "d1"}}}
        assert found["turns"][1]["env"] == {"id": "e1"}
        assert found["turns"][3]["env"] == {
            "id": "e2",
            "name": "B",
            "endpoint": "/b",
            "state": {"dt": "d2"},
        }

    def test_11_tool_loop(self) -> None:
        """The user of a loop asks again in every row; results are with the turn that made the calls."""
        response = a(None, tool_calls=[tc("k1"), tc("k2")])
        messages = [u("q"), response, tool("k1", "r1"), tool("k2", "r2", name="f")]
        value = [
            row(response=response),
            row(step_id=2, messages=messages, response=a("done")),
        ]

        assert turns(value) == [
            Q,
            answer(
                None,
                kind="autonomous",
                tool_calls=[call("k1", {}), call("k2", {})],
                observation={"results": [result("k1", "r1"), result("k2", "r2")]},
            ),
            {**Q, "id": 3},
            answer("done", id=4),
        ]
        assert fields(value) == {"/session_steps/1/messages": messages}
        assert rows_of(value) == [{**one, **AGENT} for one in value]

    def test_12_names(self) -> None:
        """The first model and the first run count; others are residuals in their places."""
        value = [
            row(
                agent_model="m1",
                llm_model="m2",
                agent_id="ag",
                run_id="r1",
                run_bucket="r1",
                job_id="j9",
                env_id="s",
                response=a("ok"),
            )
        ]
        found = read_one(value)
        again = rows_of(value)[0]

        assert found["agent"] == {"id": "ag", "name": "ag", "model": "m1"}
        assert found["run"] == "r1"
        assert fields(value) == {
            "/session_steps/0/job_id": "j9",
            "/session_steps/0/llm_model": "m2",
        }
        assert again == row(
            agent_model="m1",
            llm_model="m2",
            agent_id="ag",
            run_id="r1",
            job_id="j9",
            response=a("ok"),
        )

    def test_13_order(self) -> None:
        """Sessions stand in the order of their first rows, rows in that of their steps."""
        value = [
            row(step_id=2, response=a("b"), vendor={"k": 1}),
            row(session_id="s2", step_id=3, response=a("c")),
            row(step_id=1, response=a("a")),
        ]
        first, second = read(value)

        assert [first.session_id, second.session_id] == ["s", "s2"]
        assert first.unknown_fields["openai-msg"].fields == {"/session_steps/1/vendor": {"k": 1}}
        assert [(one["session_id"], one["step_id"]) for one in rows_of(value)] == [
            ("s", 1),
            ("s", 2),
            ("s2", 3),
        ]
        assert rows_of(value)[1]["vendor"] == {"k": 1}

    def test_14_other_roles(self) -> None:
        """What is neither system, user nor assistant makes no turn, and keeps all messages as they were."""
        messages = [u("q"), {"role": "developer", "content": "d"}, u("r")]
        value = [row(messages=messages, response=a("ok"))]
        shown = [(one["id"], one["src"], one["msg"], one.get("copied")) for one in turns(value)]

        assert shown == [
            (1, "user", "q", True),
            (2, "user", "r", None),
            (3, "agent", "ok", None),
        ]
        assert fields(value) == {"/session_steps/0/messages": messages}
        assert rows_of(value)[0]["messages"] == messages

    @pytest.mark.parametrize("messages", [[{"role": "user"}], [{"role": "system", "content": "x"}]])
    def test_15_no_request(self, messages: Json) -> None:
        """Without a user who says something there is only the response."""
        assert turns([row(messages=messages, response=a("ok"))]) == [answer("ok")]

    @pytest.mark.parametrize(
        ("value", "rule", "place"),
        [
            ([row(session_id="")], "openai.session-id", "/session_steps/0/session_id"),
            ({"session_steps": [5]}, "openai.row", "/session_steps/0"),
            ({"session_steps": []}, "openai.rows", "/session_steps"),
        ],
    )
    def test_16_fatal(self, value: Json, rule: str, place: str) -> None:
        """A row without a session, something else, or no row at all is fatal."""
        assert problems(value) == [("fatal", rule, place)]

    def test_16_repeated_step(self) -> None:
        """Steps with one id are numbered in their order."""
        value = [row(response=a("a")), row(response=a("b"))]

        assert [one["id"] for one in turns(value)] == [1, 2, 3, 4]
        assert fields(value)["/session_steps/1/step_id"] == 1
        assert ("error", "openai.step-id", "/session_steps/1/step_id") in problems(value)
        assert [one["step_id"] for one in rows_of(value)] == [1, 1]

    @pytest.mark.parametrize("step_id", [0, 1.0, "1"])
    def test_16_unusable_step(self, step_id: Json) -> None:
        """A step id that is none is a residual."""
        value = [row(step_id=step_id, response=a("a"))]
        kept = fields(value)["/session_steps/0/step_id"]

        assert turns(value) == [Q, answer("a")]
        assert (type(kept), kept) == (type(step_id), step_id)
        assert rows_of(value)[0]["step_id"] == step_id

    def test_16_no_output(self) -> None:
        """A row without an output has a response that says nothing."""
        assert turns([row()]) == [Q, answer(None)]
        assert problems([row()]) == [("error", "openai.output", "/session_steps/0/response")]
        assert rows_of([row()]) == [{**row(), **AGENT}]

    def test_16_runs(self) -> None:
        """Of two runs the first counts."""
        value = [
            row(run_id="a", response=a("x")),
            row(step_id=2, run_id="b", messages=[u("q"), a("x"), u("q")], response=a("x")),
        ]

        assert read_one(value)["run"] == "a"
        assert fields(value) == {"/session_steps/1/run_id": "b"}
        assert problems(value) == [("error", "openai.run", "/session_steps/1/run_id")]

    def test_16_repeated_call(self) -> None:
        """A call id that comes back gets a number."""
        value = [
            row(response=a("x", tool_calls=[tc("x")])),
            row(step_id=2, response=a("y", tool_calls=[tc("x")])),
        ]
        made = [one["tool_calls"][0]["tcid"] for one in turns(value) if "tool_calls" in one]

        assert made == ["x", "x#2"]
        assert fields(value)["/session_steps/1/response/tool_calls/0/id"] == "x"


CHAT = {"messages": [u("hi"), a("yo")]}
CHAT_TURNS = [
    {"id": 1, "kind": "llm.request", "src": "user", "msg": "hi"},
    {"id": 2, "kind": "llm.response", "src": "agent", "msg": "yo", "nllm": 1},
]


class TestChats:
    @pytest.mark.parametrize(
        ("value", "tag"), [(CHAT, "chat/object"), (CHAT["messages"], "chat/array")]
    )
    def test_17_and_18(self, value: Json, tag: str) -> None:
        """A chat is an object or an array, and comes back as that."""
        assert read_one(value) == {
            "schema_version": "storyline/v1",
            "session": "chat-07f65e56b8f53751",
            "agent": IMPORTED,
            "origin": {"format": "openai-msg", "schema_version": tag, "document_id": "x.json"},
            "turns": CHAT_TURNS,
        }
        assert written(value) == value

    def test_arguments_through_a_storyline_file(self, tmp_path: Path) -> None:
        """The text of arguments comes back from a file of Storylines with its keys in their order."""
        source, middle, back = (tmp_path / name for name in ("a.json", "b.json", "c.json"))
        calls = [tc("1", '{"path":"p","mode":{"z":1,"a":2}}')]
        chat = {"messages": [u("w"), a("x", tool_calls=calls), tool("1", "A")]}
        source.write_text(json.dumps(chat))
        hub.convert(source, middle, to="storyline")
        hub.convert(middle, back, to="openai-messages")

        assert json.loads(back.read_text()) == chat

    def test_19_fine_tuning(self) -> None:
        """A line for fine-tuning comes back exactly."""
        line = {
            "messages": [
                {"role": "developer", "content": "d"},
                u("w"),
                {
                    "role": "assistant",
                    "tool_calls": [tc("1", '{"x": 1}'), tc("2", "{}", "g")],
                    "weight": 0,
                },
                tool("1", "A"),
                tool("2", "B"),
                a("z"),
            ],
            "tools": [],
            "parallel_tool_calls": True,
        }
        (document, other) = parse(line, CHAT, name="ft.jsonl")
        del other
        found = read_one(text=lines(line) + b"\n", name="ft.jsonl")
        assert document.value.document_id == "ft.jsonl#1"
        assert document.value.tag == "chat/jsonl"
        assert found["agent"] == {**IMPORTED, "tools": []}
        assert found["turns"] == [
            {"id": 1, "src": "system", "kind": "context", "msg": "d"},
            {"id": 2, "src": "user", "kind": "llm.request", "msg": "w"},
            {
                "id": 3,
                "src": "agent",
                "kind": "autonomous",
                "nllm": 1,
                "msg": None,
                "tool_calls": [call("1", {"x": 1}), call("2", {}, "g")],
                "observation": {"results": [result("1", "A"), result("2", "B")]},
            },
            answer("z", id=6),
        ]
        assert found["unknown_fields"]["sources"]["openai-msg"]["fields"] == {
            "/messages/0/role": "developer",
            "/messages/2/weight": 0,
            "/messages/2/tool_calls/0/function/arguments": '{"x": 1}',
            "/parallel_tool_calls": True,
        }
        assert written(line) == line

    def test_20_function_call(self) -> None:
        """The deprecated call is one of its own kind, answered by name."""
        chat = {
            "messages": [
                u("q"),
                a(None, function_call={"name": "f", "arguments": "{}"}),
                {"role": "function", "name": "f", "content": "out"},
            ]
        }
        assert turns(chat)[1] == answer(
            None,
            kind="autonomous",
            tool_calls=[call("function_call:1", {}, kind="function_call")],
            observation={"results": [result("function_call:1", "out")]},
        )
        assert fields(chat) == {"/messages/1/content": None}
        assert written(chat) == chat

    @pytest.mark.parametrize(
        ("role", "source", "kind"),
        [
            ("system", "system", "context"),
            ("developer", "system", "context"),
            ("user", "user", "llm.request"),
            ("tool", "environment", "dialogue"),
            ("function", "environment", "dialogue"),
            ("critic", "critic", "dialogue"),
            ("", "unknown", "dialogue"),
            (5, "unknown", "dialogue"),
            (None, "unknown", "dialogue"),
        ],
    )
    def test_roles(self, role: Json, source: str, kind: str) -> None:
        """Who said a message, and in which way; an answer to no call is the environment's."""
        chat = {"messages": [u("q"), {"role": role, "content": "x", "name": "n"}]}

        is_held = role in ("system", "user", "critic")
        assert turns(chat)[1] == {"id": 2, "src": source, "kind": kind, "msg": "x"}
        assert fields(chat) == {
            "/messages/1/name": "n",
            **({} if is_held else {"/messages/1/role": role}),
        }
        assert written(chat) == chat

    @pytest.mark.parametrize(
        ("members", "said", "left"),
        [
            ({"content": None, "refusal": "no"}, "no", {"/content": None, "/refusal": "no"}),
            ({"content": "yes", "refusal": "no"}, "yes", {"/refusal": "no"}),
            ({"content": "yes", "refusal": None}, "yes", {"/refusal": None}),
            ({"content": None, "refusal": None}, None, {"/content": None, "/refusal": None}),
            ({"content": None, "refusal": ""}, None, {"/content": None, "/refusal": ""}),
            ({}, None, {}),
            ({"content": "", "refusal": "no"}, "no", None),
            ({"content": [], "refusal": "no"}, "no", None),
        ],
    )
    def test_refusals(self, members: dict[str, Json], said: Json, left: Json) -> None:
        """An assistant who refused, and said nothing else, said that."""
        chat = {"messages": [u("q"), {"role": "assistant", **members}]}

        assert turns(chat)[1]["msg"] == said
        assert fields(chat) == (
            {"/messages": chat["messages"]}
            if left is None
            else {f"/messages/1{at}": value for at, value in left.items()}
        )
        assert written(chat) == chat

    @pytest.mark.parametrize(
        "answered",
        [
            tool("k", "x"),
            tool("k", None),
            {"role": "tool", "tool_call_id": "k"},
            tool("k", [{"type": "text", "text": "x"}]),
        ],
    )
    def test_results(self, answered: Json) -> None:
        """A result has the content that its message has, or none."""
        chat = {"messages": [u("q"), a("x", tool_calls=[tc("k")]), answered]}
        content = {"content": answered["content"]} if "content" in answered else {}

        assert turns(chat)[1]["observation"] == {"results": [{"source_call_id": "k", **content}]}
        assert fields(chat) == {}
        assert written(chat) == chat


def foreign() -> Any:
    """Return the Storyline of examples 21 and 22."""
    return storyline(
        {"id": 1, "src": "system", "msg": "S"},
        {"id": 2, "src": "user", "msg": "q"},
        {
            "id": 3,
            "src": "agent",
            "msg": "",
            "tool_calls": [call("k", {"x": 1})],
            "observation": {"results": [result("k", "R")]},
        },
        {"id": 4, "src": "agent", "msg": "done"},
        {"id": 5, "src": "user", "msg": "thanks"},
    )


class TestForeign:
    def test_21_rows(self) -> None:
        """Each agent turn closes a row; what follows the last one is a row with a placeholder."""
        (document,) = write([foreign()])
        rows = document["session_steps"]

        assert rows == [
            {
                "session_id": "s",
                "step_id": 1,
                "messages": [{"role": "system", "content": "S"}, u("q")],
                "response": a("", tool_calls=[tc("k", '{"x":1}')]),
                "agent_id": "a",
            },
            {
                "session_id": "s",
                "step_id": 2,
                "messages": [tool("k", "R")],
                "response": a("done"),
                "agent_id": "a",
            },
            {
                "session_id": "s",
                "step_id": 3,
                "messages": [u("thanks")],
                "response": a("[no response]"),
                "agent_id": "a",
            },
        ]
        assert [
            (one["id"], one["src"], one["msg"], one.get("copied")) for one in turns(document)
        ] == [
            (1, "system", "S", True),
            (2, "user", "q", None),
            (3, "agent", "", None),
            (5, "agent", "done", None),
            (6, "user", "thanks", None),
            (7, "agent", "[no response]", None),
        ]
        assert turns(document)[2]["observation"] == {"results": [result("k", "R")]}

    def test_22_chat(self) -> None:
        """The same as a chat."""
        (document,) = write([foreign()], variant="chat")

        assert document == {
            "messages": [
                {"role": "system", "content": "S"},
                u("q"),
                a("", tool_calls=[tc("k", '{"x":1}')]),
                tool("k", "R"),
                a("done"),
                u("thanks"),
            ]
        }

    def test_23_parts(self) -> None:
        """What nobody said is shown as a user's; media are parts of users, and texts elsewhere."""

        def image(path: str) -> Json:
            return {"type": "image", "source": {"media_type": "image/png", "path": path}}

        (document,) = write(
            [
                storyline(
                    {"id": 1, "src": "environment", "msg": "[file_change]"},
                    {
                        "id": 2,
                        "src": "user",
                        "msg": [{"type": "text", "text": "see"}, image("p.png")],
                    },
                    {
                        "id": 3,
                        "src": "agent",
                        "msg": "",
                        "tool_calls": [call("k", {})],
                        "observation": {
                            "results": [
                                result("k", [{"type": "text", "text": "ok"}, image("q.png")])
                            ]
                        },
                    },
                )
            ],
            variant="chat",
        )

        assert document["messages"] == [
            {"role": "user", "name": "environment", "content": "[file_change]"},
            u([
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": "p.png"}},
            ]),
            a("", tool_calls=[tc("k", "{}")]),
            tool("k", "ok\n[image: q.png]"),
        ]  # fmt: skip


class TestNothingIsChanged:
    def test_writing(self) -> None:
        """Writing does not change what it is given."""
        one = foreign()
        before = to_wire(one)
        write([one], WriteOptions(options={"variant": "chat"}))
        write([one])

        assert to_wire(one) == before
