"""ACTF to Storyline and back: the worked examples of the mapping, with the values that the specification gives."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from hub import Llm, Origin, Storyline, WriteOptions

from .builders import (
    FILLER,
    M0,
    T0,
    T1,
    A,
    S,
    T,
    attempt,
    document,
    fields,
    problems,
    read,
    read_one,
    step,
    storyline,
    trajectory,
    write,
    write_one,
    written,
    written_step,
)

Json = Any

LIST = f"{S}/assistant_content/tool_calls"


def with_tools(*tools: Json, **members: Json) -> Json:
    """Return a document whose only step has *tools*."""
    return document(step(tools=list(tools), **members))


def calls(value: Json) -> Json:
    """Return the calls of the first turn of *value*."""
    return read_one(value)["turns"][0].get("tool_calls")


def written_tools(value: Json) -> tuple[Json, Json]:
    """Return both tool lists of the first step of *value*, after it was read and written."""
    (first, *_) = written(value)["attempts"]["1"]["trajectory"]["steps"]
    return first["tools"], first["assistant_content"]["tool_calls"]


class TestWholeDocument:
    """Examples 1, 2, 12, 19 and 25."""

    def test_every_part_has_its_place(self) -> None:
        """A document with one attempt and one step is one Storyline with one turn."""
        expected = {
            "schema_version": "storyline/v1",
            "origin": {"format": "actf", "schema_version": "ACTF_v1.0"},
            "run": "t",
            "attempt_id": "1",
            "session": "t",
            "agent": {"id": "actf-agent", "name": "ACTF Agent"},
            "task": {
                "llm": {"k": 1},
                "result": {
                    "task_correct": False,
                    "correct": False,
                    "ground_truth": "g",
                    "status": "completed",
                    "category": "c",
                    "attempts_tried": 1,
                },
            },
            "started_at": "2026-01-01 00:00:00+00:00",
            "finished_at": "2026-01-01 00:00:01+00:00",
            "final_metrics": {
                "correct": False,
                "task_correct": False,
                "status": "completed",
                "analysis_result": {},
            },
            "turns": [
                {
                    "id": 1,
                    "src": "agent",
                    "nllm": 1,
                    "msg": "c",
                    "ts": "2026-01-01 00:00:00+00:00",
                    "finished_at": "2026-01-01 00:00:01+00:00",
                    "metrics": {
                        "prompt_tokens_len": None,
                        "completion_tokens_len": None,
                        "llm_infer_ms": None,
                        "env_action_ms": None,
                        "stop_reason": None,
                    },
                }
            ],
        }
        value = document(step())

        assert problems(value) == []
        assert read_one(value) == expected
        assert written(value) == document(step(metric=M0))

    def test_the_node_is_the_attempt(self) -> None:
        """A Storyline knows where in the document its attempt is."""
        value = document(attempts={"a/b~c": attempt()})

        assert [one.node for one in read(value)] == ["/attempts/a~1b~0c"]

    def test_attempts_come_in_the_order_of_their_keys(self) -> None:
        """Several attempts are several Storylines, in byte-wise order of the keys, and come back into one document."""
        value = document(
            k=5,
            attempts_tried=3,
            retry_count=2,
            attempts={
                "b": attempt(step()),
                "10": attempt(step(), correct=True),
                "2": attempt(step()),
            },
        )
        found = read(value)

        assert [one.session_id for one in found] == ["t#attempt-10", "t#attempt-2", "t#attempt-b"]
        assert {one.run_id for one in found} == {"t"}
        assert [one.task and one.task.llm and one.task.llm.k for one in found] == [5, 5, 5]
        results = [one.task.result for one in found if one.task and one.task.result]
        assert [result.correct for result in results] == [True, False, False]
        assert [result.extras["attempts_tried"] for result in results] == [3, 3, 3]
        assert [result.extras["retry_count"] for result in results] == [2, 2, 2]

        (again,) = write(found)
        assert list(again["attempts"]) == ["10", "2", "b"]
        assert (again["k"], again["retry_count"]) == (5, 2)
        assert again["attempts"]["10"]["correct"] is True

    def test_empty_members(self) -> None:
        """What is empty is absent in the Storyline, and is written as the format has it."""
        value = document(
            solved_at="x",
            attempts={
                "1": attempt(
                    step(),
                    status=None,
                    error=None,
                    score={"a": 1},
                    max_score=10,
                    artifacts=[],
                    extra={"e": 1},
                    meta=[1],
                    ground_truth=None,
                    analysis_result=None,
                )
            },
        )
        found = read_one(value)

        assert found["task"]["result"] == {
            "task_correct": False,
            "correct": False,
            "score": {"a": 1},
            "max_score": 10,
            "category": "c",
            "attempts_tried": 1,
            "solved_at": "x",
        }
        assert (found["extra"], found["meta"]) == ({"e": 1}, [1])
        assert found["final_metrics"] == {
            "correct": False,
            "task_correct": False,
            "score": {"a": 1},
            "max_score": 10,
        }
        again = written(value)
        assert again["solved_at"] == "x"
        assert again["attempts"]["1"] == attempt(
            written_step(),
            status="",
            error="",
            score={"a": 1},
            max_score=10,
            artifacts={},
            extra={"e": 1},
            meta=[1],
            ground_truth="",
            analysis_result=None,
        )

    def test_answers(self) -> None:
        """What was answered and what was right, whatever their types, are those of the outcome, and come back."""
        given = attempt(final_answer=["42", 42], ground_truth={"a": 42}, artifacts={"f": "x"})
        value = document(attempts={"1": given})
        result = read_one(value)["task"]["result"]

        assert result["final_answer"] == ["42", 42]
        assert result["ground_truth"] == {"a": 42}
        assert result["artifacts"] == {"f": "x"}
        assert written(value) == value

    @pytest.mark.parametrize(
        "wrong", [{"k": "1"}, {"correct": 1}, {"attempts_tried": 1.5}, {"category": 7}]
    )
    def test_a_root_member_of_another_type(self, wrong: Json) -> None:
        """It is a residual, and takes the place of what is written for want of it."""
        value = document(**wrong)
        ((name, found),) = wrong.items()

        assert fields(value) == {f"/{name}": found}
        assert written(value) == value

    def test_a_root_member_that_was_set(self) -> None:
        """Where the Storyline has come to say it, the residual has no place."""
        wrong: Json = {"k": "1", "correct": 1, "attempts_tried": 1.5, "category": 7}
        (found,) = read(document(**wrong))
        assert found.task is not None
        assert found.task.result is not None
        found.task.llm = Llm(k=3)
        found.task.result.extras.update(task_correct=True, attempts_tried=2, category="d")
        options = WriteOptions()
        (again,) = write([found], options)

        assert {key: again[key] for key in wrong} == {
            "k": 3,
            "correct": True,
            "attempts_tried": 2,
            "category": "d",
        }
        assert list(options.unplaced_residuals.values()) == [
            {f"/{key}": value for key, value in wrong.items()}
        ]

    @pytest.mark.parametrize("score", [0, False, 0.0])
    def test_zero_is_not_empty(self, score: Json) -> None:
        """A score of 0 is a score."""
        found = read_one(document(attempts={"1": attempt(score=score)}))

        assert found["task"]["result"]["score"] is score
        assert found["final_metrics"]["score"] is score

    def test_a_storyline_from_nowhere(self) -> None:
        """A Storyline of another origin is written with every member that the format demands."""
        assert write_one(storyline()) == {
            "task_id": "s",
            "category": "unknown",
            "k": 1,
            "correct": False,
            "attempts_tried": 1,
            "solved_at": None,
            "attempts": {
                "1": {
                    "correct": False,
                    "final_answer": None,
                    "ground_truth": "",
                    "status": "completed",
                    "score": None,
                    "error": "",
                    "artifacts": {},
                    "extra": {},
                    "analysis_result": {},
                    "meta": {},
                    "trajectory": {
                        "schema_version": "ACTF_v1.0",
                        "started_at": "1970-01-01 00:00:00+00:00",
                        "finished_at": "1970-01-01 00:00:00+00:00",
                        "steps": [],
                    },
                }
            },
        }

    def test_nothing_is_changed(self) -> None:
        """Reading changes no document, and writing no Storyline."""
        tool = {"id": "c1", "name": "n", "function": {"x": 1}, "zz": 1}
        seen = {"id": "c1", "aggregated_output": "a", "content": "b", "source_call_id": "z"}
        value = with_tools(tool, observation=[seen])
        before = copy.deepcopy(value)
        found = read(value)
        meant = copy.deepcopy(found)
        write(found)

        assert value == before
        assert found == meant


class TestPrompts:
    """Example 3: a turn has a prompt only where it differs from the first."""

    PAIRS = (("", ""), ("S", "U"), ("S", "U"), ("", "V"), (None, ""))

    def test_the_first_that_says_something_is_the_documents(self) -> None:
        """Each step that differs has its whole pair; two empty texts clear the prompt."""
        steps = [
            step(step_id=index, system_prompt=system, user_content=user)
            for index, (system, user) in enumerate(self.PAIRS, start=1)
        ]
        found = read_one(document(*steps))

        assert found["prompt"] == {"system": "S", "user": "U"}
        assert [turn.get("prompt") for turn in found["turns"]] == [
            {"system": "", "user": ""},
            None,
            None,
            {"user": "V"},
            {"system": "", "user": ""},
        ]
        again = written(document(*steps))["attempts"]["1"]["trajectory"]["steps"]
        assert [(one["system_prompt"], one["user_content"]) for one in again] == [
            ("", ""),
            ("S", "U"),
            ("S", "U"),
            ("", "V"),
            ("", ""),
        ]

    def test_no_prompt_anywhere(self) -> None:
        """Without any text there is no prompt, neither of the document nor of a turn."""
        found = read_one(document(step(), step(step_id=2)))

        assert "prompt" not in found
        assert ["prompt" in turn for turn in found["turns"]] == [False, False]


class TestTools:
    """Examples 4 to 8, and what a call does not hold."""

    def test_function(self) -> None:
        """A call as OpenAI wraps it comes from the second list; unknown members are residuals, put into both."""
        wrapped = {"name": "bash", "arguments": '{"a":1}'}
        tool = {"id": "c1", "type": "function", "function": wrapped, "zz": 1}
        value = document(step(tool_calls=[tool]))
        found = read_one(value)["turns"][0]

        assert found["tool_calls"] == [
            {"tcid": "c1", "fn": "bash", "args": '{"a":1}', "kind": "function"}
        ]
        assert found["kind"] == "autonomous"
        assert fields(value) == {f"{LIST}/0/zz": 1}
        again = [{"id": "c1", "type": "function", "name": "bash", "input": '{"a":1}', "zz": 1}]
        assert written_tools(value) == (again, again)

    def test_function_before_command(self) -> None:
        """`function.arguments` is chosen before `command`, which then is a residual."""
        tool = {
            "id": "c1",
            "type": "x",
            "command": "ls",
            "function": {"name": "n", "arguments": {"q": 1}},
        }

        assert calls(with_tools(tool)) == [{"tcid": "c1", "fn": "n", "kind": "x", "args": {"q": 1}}]
        assert fields(with_tools(tool)) == {f"{S}/tools/0/command": "ls"}

    def test_flat(self) -> None:
        """A tool without any form of arguments is its own arguments."""
        tool = {
            "id": "c1",
            "type": "x",
            "status": "ok",
            "exit_code": 3,
            "name": "nm",
            "foo": 5,
            "aggregated_output": "o",
        }

        assert calls(with_tools(tool)) == [
            {
                "tcid": "c1",
                "fn": "nm",
                "kind": "x",
                "args": {"name": "nm", "foo": 5, "aggregated_output": "o"},
                "result": "o",
                "response": {"status": "ok", "exit_code": 3},
            }
        ]
        assert fields(with_tools(tool)) == {f"{S}/tools/0/foo": 5}

    def test_without_ids(self) -> None:
        """Calls without id get one by position; `null` arguments are arguments."""
        assert calls(
            with_tools({"name": "n", "arguments": "{}"}, {"name": "m", "input": None})
        ) == [
            {"tcid": "step-1-tool-0", "fn": "n", "args": "{}"},
            {"tcid": "step-1-tool-1", "fn": "m", "args": None},
        ]

    def test_without_a_name(self) -> None:
        """A tool that says no name gets the placeholder, and is an error."""
        value = with_tools({"foo": 5})

        assert calls(value) == [{"tcid": "step-1-tool-0", "fn": "unknown", "args": {"foo": 5}}]
        assert fields(value) == {f"{S}/tools/0/foo": 5}
        (problem,) = problems(value)
        assert problem == (
            f"{S}/tools/0/name: error: expected a name, a function.name or a type, found nothing "
            "[actf.function-name]"
        )

    def test_the_same_list_twice(self) -> None:
        """Two equal lists are one list; an unknown member is captured at both places."""
        tool = {"id": "c1", "name": "n", "input": {}, "zz": 1}
        value = with_tools(tool, tool_calls=[tool])

        assert len(calls(value)) == 1
        assert fields(value) == {f"{S}/tools/0/zz": 1, f"{LIST}/0/zz": 1}
        assert written_tools(value) == ([tool], [tool])

    def test_lists_are_equal_but_for_empty_ids_and_types(self) -> None:
        """Absent, null and empty are one value of `type` and `id`."""
        one: Json = {"type": None, "id": "", "name": "n", "input": {}}

        assert problems(with_tools(one, tool_calls=[{"name": "n", "input": {}}])) == []

    @pytest.mark.parametrize(
        "other",
        [
            [{"name": "n", "input": {"a": 1.0}}],
            [{"name": "n", "input": {"a": True}}],
            [{"name": "n", "input": {"a": 1}}, {"name": "m"}],
        ],
    )
    def test_lists_differ_by_json_equality(self, other: Json) -> None:
        """1, 1.0 and true are three values."""
        value = with_tools({"name": "n", "input": {"a": 1}}, tool_calls=other)

        assert [problem.split("[")[-1] for problem in problems(value)] == ["actf.tools-differ]"]

    def test_lists_that_differ(self) -> None:
        """Of two lists that differ the first is read, the other is a residual, and both come back."""
        one, other = {"name": "n", "id": "1"}, {"name": "n", "id": "2", "zz": 1}
        value = with_tools(one, tool_calls=[other])

        assert [call["tcid"] for call in calls(value)] == ["1"]
        assert fields(value) == {LIST: [other]}
        assert written_tools(value) == ([{"id": "1", "name": "n", "input": {"name": "n"}}], [other])

    @pytest.mark.parametrize(
        ("more", "left"),
        [
            ({"arguments": {"a": 1}}, {}),
            ({"arguments": {"a": 2}}, {"arguments": {"a": 2}}),
            ({"arguments": None}, {}),
            ({"command": "ls"}, {"command": "ls"}),
            ({"function": {"name": "n", "arguments": {"a": 1}}}, {}),
            ({"function": {"name": "n"}}, {}),
            ({"function": {}}, {}),
            ({"function": None}, {}),
            ({"function": {"name": "m"}}, {"function": {"name": "m"}}),
            ({"function": {"name": "n", "x": 1}}, {"function": {"name": "n", "x": 1}}),
            ({"function": "f"}, {"function": "f"}),
            ({"status": 1}, {"status": 1}),
            ({"status": ""}, {}),
            ({"exit_code": "0"}, {"exit_code": "0"}),
            ({"exit_code": 1.0}, {"exit_code": 1.0}),
            ({"exit_code": True}, {"exit_code": True}),
            ({"exit_code": 2**63}, {"exit_code": 2**63}),
        ],
    )
    def test_what_a_call_does_not_hold_is_a_residual(self, more: Json, left: Json) -> None:
        """A known member that was not chosen, and says something else, is put back."""
        tool = {"id": "c1", "name": "n", "input": {"a": 1}, **more}
        value = with_tools(tool)

        assert fields(value) == {f"{S}/tools/0/{key}": member for key, member in left.items()}
        again = {"id": "c1", "name": "n", "input": {"a": 1}, **left}
        assert written_tools(value) == ([again], [again])

    def test_half_a_response(self) -> None:
        """A status is kept where the exit code is none."""
        tool = {"id": "c", "name": "n", "input": {}, "status": "s", "exit_code": "x"}

        assert calls(with_tools(tool))[0]["response"] == {"status": "s"}
        assert written_tools(with_tools(tool)) == ([tool], [tool])

    def test_a_command_held_by_the_arguments(self) -> None:
        """`command` beside equal arguments says nothing more."""
        value = with_tools({"id": "c", "name": "n", "input": {"command": "ls"}, "command": "ls"})

        assert fields(value) == {}

    @pytest.mark.parametrize("command", ["ls", "unknown"])
    def test_another_command_of_a_command_execution(self, command: str) -> None:
        """Where `command` is a residual, the arguments are written as `input`."""
        tool = {
            "id": "c",
            "type": "command_execution",
            "input": {"command": command},
            "command": "rm",
        }

        assert written_tools(with_tools(tool)) == ([tool], [tool])

    def test_a_name_that_is_none(self) -> None:
        """A name that is no string is put back where the type stood for it."""
        tool = {"id": "c", "type": "t", "name": 5, "input": {}}

        assert calls(with_tools(tool))[0]["fn"] == "t"
        assert written_tools(with_tools(tool)) == ([tool], [tool])

    def test_a_name_of_the_function(self) -> None:
        """A name that is no string does not take the place of a name that the function says."""
        tool = {"type": "t", "name": 5, "function": {"name": "unknown", "arguments": {}}}

        assert calls(written(with_tools(tool)))[0]["fn"] == "unknown"

    @pytest.mark.parametrize("call_id", [" ", 5, False, [], {}])
    def test_an_id_that_is_none(self, call_id: Json) -> None:
        """An id that cannot name a call is a residual beside the positional one, and is put back."""
        tool = {"name": "n", "input": {}, "id": call_id}
        value = with_tools(tool)

        assert calls(value)[0]["tcid"] == "step-1-tool-0"
        assert fields(value) == {f"{S}/tools/0/id": call_id}
        assert written_tools(value) == ([tool], [tool])

    def test_a_list_that_is_none(self) -> None:
        """A list with an element that is no object is a residual as a whole, and the other one is read."""
        tool = {"id": "c", "name": "n", "input": {}}
        value = with_tools({"name": "m"}, 5, tool_calls=[tool])

        assert [call["fn"] for call in calls(value)] == ["n"]
        assert fields(value) == {f"{S}/tools": [{"name": "m"}, 5]}
        assert written_tools(value) == ([{"name": "m"}, 5], [tool])

    def test_command_execution(self) -> None:
        """A command is written as a command, without a name that repeats the type."""
        tool = {
            "type": "command_execution",
            "id": "c",
            "command": "ls",
            "aggregated_output": "o",
            "status": "s",
            "exit_code": 0,
        }

        assert calls(with_tools(tool)) == [
            {
                "tcid": "c",
                "fn": "command_execution",
                "kind": "command_execution",
                "args": {"command": "ls"},
                "result": "o",
                "response": {"status": "s", "exit_code": 0},
            }
        ]
        assert written_tools(with_tools(tool)) == ([tool], [tool])


class TestCallIds:
    """Examples 9 and 13, and storyline.md 5.2."""

    def test_the_same_id_in_two_steps(self) -> None:
        """The second call is renamed, and its result with it; the source has its text back."""
        tool = {"name": "n", "id": "x"}
        steps = [
            step(
                step_id=number,
                tools=[tool],
                observation=[{"tool_use_id": "x", "content": str(number)}],
            )
            for number in (1, 2)
        ]
        value = document(*steps)
        first, second = read_one(value)["turns"]

        assert [turn["tool_calls"][0]["tcid"] for turn in (first, second)] == ["x", "x#2"]
        assert second["observation"] == {
            "results": [{"tool_use_id": "x", "content": "2", "source_call_id": "x#2"}]
        }
        assert fields(value) == {f"{A}/trajectory/steps/1/tools/0/id": "x"}
        again = written(value)["attempts"]["1"]["trajectory"]["steps"]
        assert [one["tools"][0]["id"] for one in again] == ["x", "x"]
        assert [one["observation"] for one in again] == [one["observation"] for one in steps]

    @pytest.mark.parametrize("blank", ["", " \t", None])
    def test_a_blank_id(self, blank: Json) -> None:
        """It names nothing, so the call gets one by position, whatever ids the others have."""
        tools = [{"name": "n", "id": "x"}, {"name": "m", "id": blank}]
        found = read_one(with_tools(*tools, step_id=3))["turns"][0]["tool_calls"]

        assert [call["tcid"] for call in found] == ["x", "step-3-tool-1"]

    def test_the_same_id_twice_in_a_step(self) -> None:
        """Results are given to the calls of one id in turn."""
        tools = [{"name": "n", "id": "x"}, {"name": "m", "id": "x"}]
        seen = [{"id": "x", "content": 1}, {"id": "x", "content": 2}, {"id": "x", "content": 3}]
        found = read_one(document(step(tools=tools, observation=seen)))["turns"][0]

        assert [call["tcid"] for call in found["tool_calls"]] == ["x", "x#2"]
        assert [result["source_call_id"] for result in found["observation"]["results"]] == [
            "x",
            "x#2",
            "x",
        ]

    def test_a_result_of_an_earlier_step(self) -> None:
        """A reference may name the call of an earlier step, by its id in the source."""
        tool = {"name": "n", "id": "x"}
        value = document(
            step(tools=[tool]),
            step(step_id=2, tools=[tool]),
            step(step_id=3, observation=[{"id": "x"}]),
        )

        assert read_one(value)["turns"][2]["observation"]["results"] == [
            {"id": "x", "source_call_id": "x#2"}
        ]

    def test_an_id_by_position_that_is_taken(self) -> None:
        """A reference names the call that has the id, not the one that would have it by its position."""
        tools = [{"name": "n"}, {"id": "step-1-tool-0", "name": "m"}]
        value = document(step(tools=tools, observation=[{"id": "step-1-tool-0"}]))
        found = read_one(value)["turns"][0]

        assert [call["tcid"] for call in found["tool_calls"]] == [
            "step-1-tool-0#2",
            "step-1-tool-0",
        ]
        assert found["observation"]["results"][0]["source_call_id"] == "step-1-tool-0"

    def test_made_up_ids_mean_no_other_call(self) -> None:
        """An id that is made unique is none that a result names in vain."""
        tools = [{"name": "n", "id": "x"}, {"name": "m", "id": "x"}]
        found = read_one(document(step(tools=tools, observation=[{"id": "x#2"}])))["turns"][0]

        assert [call["tcid"] for call in found["tool_calls"]] == ["x", "x#3"]
        assert found["observation"]["results"][0]["source_call_id"] == "x#2"

    def test_no_such_call(self) -> None:
        """A reference that names no call is kept as it is, and reported."""
        value = with_tools({"name": "n", "id": "x"}, observation=[{"tool_use_id": "y"}])

        assert read_one(value)["turns"][0]["observation"] == {
            "results": [{"tool_use_id": "y", "source_call_id": "y"}]
        }
        (problem,) = problems(value)
        assert problem == (
            f'{S}/observation/0/tool_use_id: error: expected one of "x", found "y" '
            "[actf.result-call]"
        )
        again = written(value)["attempts"]["1"]["trajectory"]["steps"][0]
        assert again["observation"] == [{"tool_use_id": "y"}]


class TestObservations:
    """Example 10, and the ways of a reference."""

    def test_output_is_promoted(self) -> None:
        """`aggregated_output` is the content; another content is a residual, and comes back."""
        seen = [{"id": "x", "aggregated_output": "ao", "content": "q"}, {"content": "only"}]
        value = with_tools({"name": "n", "id": "x", "input": {}}, observation=seen)

        assert read_one(value)["turns"][0]["observation"] == {
            "results": [
                {
                    "id": "x",
                    "aggregated_output": "ao",
                    "content": "ao",
                    "source_call_id": "x",
                },
                {"content": "only"},
            ]
        }
        assert fields(value) == {f"{S}/observation/0/content": "q"}
        again = written(value)["attempts"]["1"]["trajectory"]["steps"][0]
        assert again["observation"] == seen

    @pytest.mark.parametrize(
        ("seen", "named"),
        [
            ({"tool_use_id": "x", "id": "y"}, "x"),
            ({"tool_use_id": None, "tool_call_id": "x"}, "x"),
            ({"tool_use_id": None, "id": "x"}, "x"),
            ({"tool_use_id": 5, "id": "x"}, None),
            ({"content": "x"}, None),
            ({"tool_use_id": ""}, None),
        ],
    )
    def test_the_first_reference_counts(self, seen: Json, named: str | None) -> None:
        """The first of three members that is not null refers to a call, if it is a string that is not empty."""
        value = with_tools({"name": "n", "id": "x", "input": {}}, observation=[seen])
        (result,) = read_one(value)["turns"][0]["observation"]["results"]

        assert result.get("source_call_id") == named
        again = written(value)["attempts"]["1"]["trajectory"]["steps"][0]
        assert again["observation"] == [seen]

    @pytest.mark.parametrize("kind", [None, ""])
    def test_an_empty_type_is_left_out(self, kind: Json) -> None:
        """A type that says nothing is none."""
        value = document(step(observation=[{"type": kind, "content": "c"}]))

        assert read_one(value)["turns"][0]["observation"] == {"results": [{"content": "c"}]}

    def test_an_element_that_is_no_object(self) -> None:
        """Whatever came back is kept."""
        value = document(step(observation=["text", 5, None, [1]]))

        assert read_one(value)["turns"][0]["observation"] == {"results": ["text", 5, None, [1]]}
        again = written(value)["attempts"]["1"]["trajectory"]["steps"][0]
        assert again["observation"] == ["text", 5, None, [1]]

    @pytest.mark.parametrize("seen", [{"source_call_id": "x"}, {"source_call_id": 5, "id": "x"}])
    def test_a_member_with_the_name_of_the_link(self, seen: Json) -> None:
        """A member `source_call_id` of the source comes back as it was, and makes no reference."""
        value = with_tools({"name": "n", "id": "x", "input": {}}, observation=[seen])

        assert fields(value) == {f"{S}/observation/0/source_call_id": seen["source_call_id"]}
        again = written(value)["attempts"]["1"]["trajectory"]["steps"][0]
        assert again["observation"] == [seen]

    @pytest.mark.parametrize("named", ["x", "gone", 5])
    def test_a_link_that_was_added(self, named: Json) -> None:
        """A result that was linked to a call of its turn since it was read refers to that call."""
        value = with_tools({"name": "n", "id": "x", "input": {}}, observation=[{"content": "c"}])
        (found,) = read(value)
        found.turns[0].observation["results"][0] = {"content": "c", "source_call_id": named}
        (again,) = write([found])

        expected = {"content": "c", "tool_use_id": "x"} if named == "x" else {"content": "c"}
        assert again["attempts"]["1"]["trajectory"]["steps"][0]["observation"] == [expected]


class TestMetrics:
    """Examples 11 and 17."""

    def test_the_metric_is_copied_whole(self) -> None:
        """Standard members that lack are null; times in milliseconds are promoted, cut toward zero."""
        metric = {"llm_infer_ms": 3.9, "env_action_ms": -4.5, "zz": 1, "stop_reason": {"a": 1}}
        turn = read_one(with_tools({"name": "n", "input": {}}, metric=metric))["turns"][0]

        assert turn["metrics"] == {
            **metric,
            "prompt_tokens_len": None,
            "completion_tokens_len": None,
        }
        assert turn["latency_ms"] == 3
        assert turn["tool_calls"][0]["duration_ms"] == -4

    def test_no_duration_of_several_calls(self) -> None:
        """The time of the environment is that of a call only where there is one call."""
        tools = [{"name": "n", "input": {}}, {"name": "m", "input": {}}]
        turn = read_one(with_tools(*tools, metric={"env_action_ms": 5}))["turns"][0]

        assert ["duration_ms" in call for call in turn["tool_calls"]] == [False, False]

    @pytest.mark.parametrize("latency", ["5", True, 1e300, None])
    def test_no_latency(self, latency: Json) -> None:
        """What is no number, or none that 64 bits hold, is no latency."""
        turn = read_one(document(step(metric={"llm_infer_ms": latency})))["turns"][0]

        assert "latency_ms" not in turn
        assert turn["metrics"]["llm_infer_ms"] == latency

    def test_a_metric_that_is_none(self) -> None:
        """A metric of another type is a residual, and comes back."""
        value = document(step(metric="m"))

        assert "metrics" not in read_one(value)["turns"][0]
        assert fields(value) == {f"{S}/metric": "m"}
        assert written(value) == value


class TestTimes:
    """storyline.md 6.4 and 6.5."""

    def test_no_storyline_time(self) -> None:
        """A time without an offset is a residual, and comes back."""
        value = document(step(metric=M0, started_at="2026-01-01T00:00:00"))

        assert "ts" not in read_one(value)["turns"][0]
        assert fields(value) == {f"{S}/started_at": "2026-01-01T00:00:00"}
        assert written(value) == value

    def test_times_of_the_trajectory(self) -> None:
        """The same for the trajectory as a whole."""
        inner = trajectory(written_step(), started_at="soon", finished_at=" ")
        value = document(attempts={"1": attempt(trajectory=inner)})
        found = read_one(value)

        assert ("started_at" in found, "finished_at" in found) == (False, False)
        assert written(value) == value

    def test_missing_times_are_taken_from_the_turns(self) -> None:
        """Where a trajectory has no times, its turns have."""
        turns = [
            {"id": 1, "src": "agent", "msg": "a", "ts": T0},
            {"id": 2, "src": "agent", "msg": "b", "ts": T1},
        ]
        found = write_one(storyline(*turns))["attempts"]["1"]["trajectory"]

        assert (found["started_at"], found["finished_at"]) == (T0, T1)
        assert [one["finished_at"] for one in found["steps"]] == [T0, T1]

    @pytest.mark.parametrize(
        ("time", "text"),
        [
            (0, "1970-01-01 00:00:00+00:00"),
            (1785578400.25, "2026-08-01 10:00:00.250+00:00"),
            ("2026-01-01t00:00:01.5z", "2026-01-01t00:00:01.5z"),
        ],
    )
    def test_numbers_are_written_as_text(self, time: Json, text: str) -> None:
        """Seconds are written as UTC text; text is written as it is."""
        found = write_one(storyline({"id": 1, "src": "agent", "msg": "", "ts": time}))

        assert found["attempts"]["1"]["trajectory"]["steps"][0]["started_at"] == text


class TestStepIds:
    """Examples 15 and 23."""

    def test_ids_that_repeat(self) -> None:
        """Turns are numbered where step ids repeat; the ids come back."""
        value = document(step(step_id=2, metric=M0), step(step_id=2, metric=M0))

        assert [turn["id"] for turn in read_one(value)["turns"]] == [1, 2]
        assert fields(value) == {f"{S}/step_id": 2}
        assert written(value) == value

    def test_ids_in_any_order(self) -> None:
        """Different ids are the turn ids, however they stand."""
        value = document(step(step_id=3, metric=M0), step(step_id=0, metric=M0))

        assert [turn["id"] for turn in read_one(value)["turns"]] == [3, 0]
        assert fields(value) == {}
        assert written(value) == value

    @pytest.mark.parametrize("ids", [[3, 2], [0, 1], [-1, 4]])
    def test_conformed_ids_rise(self, ids: list[int]) -> None:
        """Steps that another format numbered otherwise are numbered by position."""
        found = write_one(storyline(*({"id": one, "src": "agent", "msg": ""} for one in ids)))

        steps = found["attempts"]["1"]["trajectory"]["steps"]
        assert [one["step_id"] for one in steps] == [1, 2]

    def test_conformed_ids_may_have_gaps(self) -> None:
        """Rising ids are kept."""
        found = write_one(storyline(*({"id": one, "src": "agent", "msg": ""} for one in (2, 7))))

        steps = found["attempts"]["1"]["trajectory"]["steps"]
        assert [one["step_id"] for one in steps] == [2, 7]


class TestForeignTurns:
    """Examples 20 and 24, and actf.md 6.3 to 6.6."""

    def test_a_user_turn_with_everything(self) -> None:
        """A turn of a user keeps its text from the agent's; metrics get their names here, results their call."""
        turn = {
            "id": 3,
            "src": "user",
            "msg": "m",
            "metrics": {
                "prompt_tokens": 5,
                "finish_reason": "stop",
                "total_latency_ms": 9,
                "x": 1,
            },
            "observation": {
                "results": [
                    {"source_call_id": "c", "content": "r"},
                    {
                        "id": "zz",
                        "type": "command_execution",
                        "source_call_id": "c",
                        "content": "o",
                    },
                ]
            },
            "tool_calls": [
                {
                    "tcid": "c",
                    "fn": "command_execution",
                    "args": {"command": "ls"},
                    "result": "R",
                    "response": {"exit_code": 1},
                }
            ],
        }
        tool = {
            "id": "c",
            "type": "command_execution",
            "command": "ls",
            "aggregated_output": "R",
            "exit_code": 1,
        }
        (found,) = write_one(storyline(turn))["attempts"]["1"]["trajectory"]["steps"]

        assert found == {
            "step_id": 3,
            "assistant_content": {"content": "", "reasoning_content": "", "tool_calls": [tool]},
            "metric": {
                "prompt_tokens": 5,
                "finish_reason": "stop",
                "total_latency_ms": 9,
                "x": 1,
                "prompt_tokens_len": 5,
                "completion_tokens_len": None,
                "llm_infer_ms": 9,
                "env_action_ms": None,
                "stop_reason": "stop",
            },
            "system_prompt": "",
            "user_content": "m",
            "tools": [tool],
            "observation": [
                {"content": "r", "tool_use_id": "c", "type": "tool_result"},
                {"type": "command_execution", "id": "c", "aggregated_output": "o"},
            ],
            "started_at": FILLER,
            "finished_at": FILLER,
        }

    def test_a_result_without_its_call(self) -> None:
        """A reference to no call of the turn is left to the carrier."""
        turn = {
            "id": 1,
            "src": "agent",
            "msg": "",
            "observation": {"results": [{"source_call_id": "c", "content": "r"}]},
        }

        assert self.step(turn)["observation"] == [{"content": "r"}]

    @pytest.mark.parametrize(
        ("observation", "expected"),
        [
            ([{"content": "a"}], [{"content": "a"}]),
            ("text", [{"content": "text"}]),
            ({"results": ["a", 5]}, [{"content": "a"}, {"content": 5}]),
            ({"error": "e"}, [{"content": {"error": "e"}}]),
            ({"results": [{"id": "zz", "content": "a"}]}, [{"content": "a"}]),
            ({"results": [{"type": 5, "content": "a"}]}, [{"content": "a"}]),
            (
                {"results": [{"source_call_id": "c", "id": 1, "tool_call_id": "z"}]},
                [{"id": 1, "tool_call_id": "z", "tool_use_id": "c", "type": "tool_result"}],
            ),
            (
                {"results": [{"source_call_id": "c", "aggregated_output": "x", "content": "y"}]},
                [{"aggregated_output": "y", "tool_use_id": "c", "type": "tool_result"}],
            ),
        ],
    )
    def test_results_break_no_rule(self, observation: Json, expected: Json) -> None:
        """Whatever an observation is, it is written as results that the format allows."""
        turn = {
            "id": 1,
            "src": "agent",
            "msg": "",
            "tool_calls": [{"tcid": "c", "fn": "f", "args": {}}],
            "observation": observation,
        }

        assert self.step(turn)["observation"] == expected
        assert problems(write_one(storyline(turn))) == []

    @pytest.mark.parametrize(
        ("message", "text"),
        [
            ("m", "m"),
            (None, ""),
            ([{"type": "text", "text": "a"}, {"text": "b"}, "c", {"text": 5}], "ab"),
            ({"b": 1, "a": [None]}, '{"b":1,"a":[null]}'),
            (5, "5"),
        ],
    )
    def test_texts(self, message: Json, text: str) -> None:
        """A message that is no string is written as its texts, or as its JSON."""
        turn = {"id": 1, "src": "agent", "msg": message}

        assert self.step(turn)["assistant_content"]["content"] == text

    def test_a_system_turn(self) -> None:
        """What the system said is the system prompt of its step, over that of the document."""
        found = write_one(
            storyline({"id": 1, "src": "system", "msg": "m"}, prompt={"system": "S", "user": "U"})
        )["attempts"]["1"]["trajectory"]["steps"][0]

        assert (found["system_prompt"], found["user_content"]) == ("m", "U")
        assert found["assistant_content"]["content"] == ""

    def test_an_environment_turn(self) -> None:
        """What the environment said comes last among the observations."""
        turn = {"id": 1, "src": "environment", "msg": ["m"], "observation": ["a"]}

        assert self.step(turn)["observation"] == [{"content": "a"}, {"content": ["m"]}]
        assert self.step(turn)["assistant_content"]["content"] == ""
        assert self.step({"id": 1, "src": "environment", "msg": ""})["observation"] == []

    def test_a_call_without_kind(self) -> None:
        """A call gets the usual type."""
        turn = {
            "id": 1,
            "src": "agent",
            "msg": "",
            "tool_calls": [{"tcid": "c", "fn": "f", "args": [1]}],
        }

        assert self.step(turn)["tools"] == [
            {"id": "c", "type": "tool_use", "name": "f", "input": [1]}
        ]

    def test_a_blank_call_id(self) -> None:
        """An id that names nothing in this format is written as one by position, also where a result names it."""
        turn = {
            "id": 4,
            "src": "agent",
            "msg": "",
            "tool_calls": [
                {"tcid": " ", "fn": "f", "args": {}},
                {"tcid": "step-4-tool-0", "fn": "g", "args": {}},
            ],
            "observation": {"results": [{"source_call_id": " "}]},
        }

        assert [tool["id"] for tool in self.step(turn)["tools"]] == [
            "step-4-tool-0#2",
            "step-4-tool-0",
        ]
        assert self.step(turn)["observation"][0]["tool_use_id"] == "step-4-tool-0#2"
        assert problems(write_one(storyline(turn))) == []

    @pytest.mark.parametrize(
        ("metrics", "expected"),
        [
            ({"prompt_tokens_len": "5", "llm_infer_ms": True}, {}),
            ("text", {}),
            ({"input_tokens": 3, "cache_read_tokens": 4, "output_tokens": 1}, None),
        ],
    )
    def test_metrics_break_no_rule(self, metrics: Json, expected: Json) -> None:
        """Only numbers stand where the format wants numbers."""
        found = self.step({"id": 1, "src": "agent", "msg": "", "metrics": metrics})["metric"]
        if expected is None:
            expected = {**metrics, "prompt_tokens_len": 7, "completion_tokens_len": 1}

        assert found == {**M0, **expected}

    def test_latency_without_metrics(self) -> None:
        """The latency of a turn is the time of the model."""
        found = self.step({"id": 1, "src": "agent", "msg": "", "latency_ms": 12})

        assert found["metric"] == {**M0, "llm_infer_ms": 12}

    @staticmethod
    def step(turn: Json) -> Json:
        """Return the step that *turn* is written as."""
        (only,) = write_one(storyline(turn))["attempts"]["1"]["trajectory"]["steps"]
        return only


class TestFinalMetrics:
    """actf.md 6.1 and 6.2: what a Storyline says only there."""

    def test_outcomes_are_taken_from_the_final_metrics(self) -> None:
        """Where no outcome is set, the final metrics are asked, if they have the right type."""
        metrics = {
            "task_correct": True,
            "correct": True,
            "score": 2,
            "status": "s",
            "analysis_result": [1],
        }
        found = write_one(storyline(final_metrics=metrics))
        one = found["attempts"]["1"]

        assert (found["correct"], one["correct"], one["score"]) == (True, True, 2)
        assert (one["status"], one["analysis_result"]) == ("s", [1])

    @pytest.mark.parametrize("metrics", ["text", {"task_correct": "x", "correct": 1, "status": 5}])
    def test_other_types_do_not_count(self, metrics: Json) -> None:
        """Anything else says nothing."""
        assert write_one(storyline(final_metrics=metrics)) == write_one(storyline())


class TestDocuments:
    """Examples 21 and 22, and actf.md 6.1: which Storylines are attempts of one task."""

    @staticmethod
    def stories(*settings: Json) -> list[Storyline]:
        """Return a Storyline for each of *settings*."""
        return [storyline(**one) for one in settings]

    def keys(self, *settings: Json) -> list[tuple[str, list[str]]]:
        """Return task and attempt keys of each document that Storylines of *settings* make."""
        found = write(self.stories(*settings))
        return [(one["task_id"], list(one["attempts"])) for one in found]

    def test_other_sessions_are_other_tasks(self) -> None:
        """Without a run, each session is a task of its own."""
        assert self.keys({"session": "a"}, {"session": "b"}) == [("a", ["1"]), ("b", ["1"])]

    def test_one_run_is_one_task(self) -> None:
        """Storylines of one run are attempts of it, as many as were allowed."""
        (found,) = write(self.stories({"run": "r"}, {"run": "r"}))

        assert (found["task_id"], list(found["attempts"])) == ("r", ["1", "2"])
        assert (found["k"], found["attempts_tried"]) == (2, 2)

    def test_numbers_keep_their_order(self) -> None:
        """Keys that are made up have leading zeros to one length."""
        ((_, keys),) = self.keys(*[{"run": "r"}] * 12)

        assert keys == ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"]

    def test_numbers_that_are_taken(self) -> None:
        """A key that a Storyline brings along is given to no other."""
        assert self.keys({"run": "r"}, {"run": "r", "attempt_id": "1"}, {"run": "r"}) == [
            ("r", ["1", "2", "3"])
        ]

    def test_one_key_twice_is_two_documents(self) -> None:
        """Two documents about one task stay two."""
        one, two = {"run": "r", "attempt_id": "1"}, {"run": "r", "attempt_id": "2"}

        assert self.keys(one, two, one, two) == [("r", ["1", "2"]), ("r", ["1", "2"])]

    def test_the_latest_document_without_the_key(self) -> None:
        """A Storyline joins the latest document of its task that lacks its key."""
        one, two = {"run": "r", "attempt_id": "1"}, {"run": "r", "attempt_id": "2"}

        assert self.keys(one, one, one, two, two) == [
            ("r", ["1"]),
            ("r", ["1", "2"]),
            ("r", ["1", "2"]),
        ]

    def test_a_subagent_is_no_attempt(self) -> None:
        """A Storyline with a parent is a task of its own, by its document id."""
        child = {"run": "r", "session": "c", "trajectory": "tr", "parent": {"psid": "s"}}

        assert self.keys({"run": "r"}, child) == [("r", ["1"]), ("tr", ["1"])]

    def test_blank_names(self) -> None:
        """What is blank names nothing."""
        found = write_one(
            storyline(
                session=" ",
                run=" ",
                attempt_id=" ",
                task={"result": {"category": " "}},
            )
        )

        assert (found["task_id"], found["category"]) == ("unknown", "unknown")
        assert list(found["attempts"]) == ["1"]

    def test_a_version_of_another_type(self) -> None:
        """It is a residual that comes back, but not where the Storyline has come to say a version."""
        inner = trajectory(written_step(), schema_version=5)
        value = document(attempts={"1": attempt(trajectory=inner)})
        (found,) = read(value)
        assert written(value) == value

        found.origin = Origin(format="actf", schema_version="ACTF_v1.0")
        options = WriteOptions()
        (again,) = write([found], options)

        assert again["attempts"]["1"]["trajectory"]["schema_version"] == "ACTF_v1.0"
        assert list(options.unplaced_residuals.values()) == [{f"{T}/schema_version": 5}]

    @pytest.mark.parametrize("origin", [{}, {"origin": {"format": "actf"}}])
    def test_blank_attempt_keys(self, origin: Json) -> None:
        """Blank keys are none, so that the attempts are numbered, unless all were read so and are restored."""
        one = {"run": "r", "attempt_id": " ", **origin}
        (found,) = write(self.stories(one, one), WriteOptions(options={"conform": "yes"}))
        restored = [list(one["attempts"]) for one in write(self.stories(one, one))]

        assert list(found["attempts"]) == ["1", "2"]
        assert restored == ([[" "], [" "]] if origin else [["1", "2"]])

    def test_conformed_counts(self) -> None:
        """Counts are those of the attempts that are written."""
        task = {"llm": {"k": 1}, "result": {"attempts_tried": 9, "retry_counts": [1]}}
        found = write_one(storyline(run="r", task=task), storyline(run="r"))

        assert (found["k"], found["attempts_tried"], found["retry_counts"]) == (2, 2, [1])

    def test_some_attempts_of_a_document(self) -> None:
        """A restored document of which some attempts are written keeps what it said, with a warning."""
        value = document(
            k=2,
            attempts_tried=2,
            attempts={"1": attempt(), "2": attempt()},
        )
        options = WriteOptions()
        (found,) = write(read(value)[:1], options)

        assert (found["attempts_tried"], list(found["attempts"])) == (2, ["1"])
        ((_, problem),) = options.problems
        assert str(problem) == (
            "t#attempt-1 /task/result/attempts_tried: warning: 1 of 2 attempts are written "
            "[actf.attempts-tried]"
        )
