"""Storyline to ALE: the root, turns, results, prompts, families."""

from __future__ import annotations

from typing import Any

import pytest

from hub import Agent, Env, Prompt, Residuals, Response, Task, ToolCall, WriteOptions

from .builders import agent, environment, read_one, storyline, trajectory, turn, write, write_one
from .strict import errors

Json = Any

T1, T2 = "2026-06-05T03:11:01.000000Z", "2026-06-05T03:11:02.000000Z"


def call(call_id: str = "c", arguments: Json = None, **members: Any) -> ToolCall:
    return ToolCall(tool_call_id=call_id, function_name="f", arguments=arguments, **members)


def results(**members: Any) -> list[Json]:
    """Return the results that a turn with *members* shows."""
    observation = write_one(storyline(turn(**members)))["steps"][-1]["observation"]
    assert observation is None or isinstance(observation["results"], list)
    return [] if observation is None else observation["results"]


def texts(shown: list[Json]) -> list[Json]:
    return [[part["text"] for part in result["content"]] for result in shown]


class TestRoot:
    def test_canonical_form(self) -> None:
        """Every key is written, in the order of the tables, but times that are not known."""
        assert {
            "schema_version": "ALE-v1.0",
            "episode_id": "s",
            "agent": {"name": "a", "version": None, "model": None, "extra": {}},
            "task_path": "s",
            "variant_index": 0,
            "instruction": "",
            "steps": [
                {
                    "step_id": 1,
                    "source": "agent",
                    "message": "m",
                    "reasoning": None,
                    "tool_calls": [],
                    "observation": None,
                    "metrics": None,
                    "extra": {},
                }
            ],
            "final_metrics": None,
            "ended_at": None,
            "subagent_trajectories": [],
            "continued_trajectory_ref": None,
            "extra": {},
        } == write_one(storyline(turn()))
        assert [] == errors(write_one(storyline(turn(timestamp=T1), started_at=T1)))

    def test_episode_id(self) -> None:
        """The episode is the identity; of a Storyline from ALE the session."""
        assert write_one(storyline(trajectory_id="t"))["episode_id"] == "t"
        assert write_one(storyline(trajectory_id="t", origin="ale"))["episode_id"] == "s"

    @pytest.mark.parametrize(
        ("agent", "expected"),
        [
            (Agent(agent_id="a"), ("a", None, None, {})),
            (Agent(agent_id="a", name=""), ("", None, None, {})),
            (
                Agent(agent_id="a", name="n", version="1", model_name="m", extra={"k": 1}),
                ("n", "1", "m", {"k": 1}),
            ),
            (Agent(agent_id="a", extra=[1]), ("a", None, None, {})),
        ],
    )
    def test_agent(self, agent: Agent, expected: Json) -> None:
        """The agent has its name, else its id; an extra that is no object stays with the carrier."""
        assert expected == tuple(write_one(storyline(agent=agent))["agent"].values())

    @pytest.mark.parametrize(
        ("members", "options", "expected"),
        [
            ({}, {}, ("s", 0)),
            ({"run_id": "r"}, {}, ("r", 0)),
            (
                {"run_id": "r", "task": Task(env=Env(name="n", state={"variant_index": 2}))},
                {},
                ("n", 2),
            ),
            ({"run_id": "r", "task": Task(env=Env(name=""))}, {}, ("", 0)),
            ({"task": Task(env=Env(state={"variant_index": 2.0}))}, {}, ("s", 2)),
            ({"task": Task(env=Env(state={"variant_index": "2"}))}, {}, ("s", 0)),
            ({"task": Task(env=Env(state={"variant_index": True}))}, {}, ("s", 0)),
            ({"task": Task(env=Env(state={"variant_index": 2**63}))}, {}, ("s", 0)),
            ({"run_id": "r"}, {"task_path": "demo/x", "variant_index": "-3"}, ("demo/x", -3)),
        ],
    )
    def test_task(self, members: dict[str, Any], options: dict[str, str], expected: Json) -> None:
        """The task is as asked for, as the environment says, as the run is called, or the session."""
        written = write_one(storyline(**members), WriteOptions(options=options))

        assert expected == (written["task_path"], written["variant_index"])
        assert type(written["variant_index"]) is int

    def test_task_of_the_parent(self) -> None:
        """A nested trajectory has the task of its parent, unless it names one itself."""
        parent = storyline(
            session_id="p",
            child_ids=["c", "d"],
            task=Task(env=Env(name="n", state={"variant_index": 2})),
        )
        child = storyline(session_id="c", run_id="r")
        other = storyline(session_id="d", task=Task(env=Env(name="own")))

        (written,) = write(parent, child, other)

        assert [("n", 2), ("own", 2)] == [
            (one["task_path"], one["variant_index"]) for one in written["subagent_trajectories"]
        ]

    @pytest.mark.parametrize(
        ("turns", "members", "expected"),
        [
            ([turn(1, "user", "u")], {"prompt": Prompt(user="P")}, "P"),
            ([turn(1, "user", "u")], {"prompt": Prompt(system="S")}, "u"),
            ([turn(1, "user", "old", is_copied_context=True), turn(2, "Human", "new")], {}, "new"),
            ([turn(1, "user", "old", is_copied_context=True)], {}, "old"),
            ([turn(1, "user", [{"type": "text", "text": "a"}, {"type": "x"}, "b"])], {}, "a\nb"),
            ([turn(1, "user", {"type": "text", "text": "a"})], {}, ""),
            ([turn(1, "user", None)], {}, ""),
            ([turn(1, "agent", "a")], {}, ""),
            ([turn(1, "user", "u")], {"origin": "ale"}, ""),
            ([turn(1, "user", "u")], {"origin": "ale", "prompt": Prompt(user="P")}, "P"),
        ],
    )
    def test_instruction(self, turns: list[Any], members: dict[str, Any], expected: str) -> None:
        """The instruction is the user prompt, else what the user said first; from ALE nothing is made up."""
        assert expected == write_one(storyline(*turns, **members))["instruction"]

    @pytest.mark.parametrize(
        ("time", "expected"),
        [
            (T1, T1),
            ("2026-06-05T05:11:01+02:00", T1),
            ("2026-06-05 03:11:01.123456789Z", "2026-06-05T03:11:01.123456Z"),
            (1780629061, T1),
            (1780629061.5, "2026-06-05T03:11:01.500000Z"),
        ],
    )
    def test_times(self, time: Json, expected: str) -> None:
        """Times are UTC with microseconds, further digits cut."""
        written = write_one(storyline(turn(timestamp=time), started_at=time, finished_at=time))

        assert (expected, expected) == (written["started_at"], written["ended_at"])
        assert written["steps"][0]["timestamp"] == expected

    def test_own_times(self) -> None:
        """A Storyline from ALE keeps the text of its times; a number is written like any other."""
        text = "2026-06-05 05:11:01+02:00"

        assert write_one(storyline(started_at=text, origin="ale"))["started_at"] == text
        assert write_one(storyline(started_at=1780629061, origin="ale"))["started_at"] == T1

    def test_continued(self) -> None:
        """Only a Storyline from ALE has a reference to the previous chunk; that of others leads forward."""
        assert (
            write_one(storyline(continued_trajectory_ref="x"))["continued_trajectory_ref"] is None
        )
        assert (
            write_one(storyline(continued_trajectory_ref="x", origin="ale"))[
                "continued_trajectory_ref"
            ]
            == "x"
        )

    def test_extra(self) -> None:
        """The place of the envelope is left out of the extra data, and so to the carrier."""
        assert {"k": 1} == write_one(storyline(extra={"k": 1, "_storyline": 5}))["extra"]
        assert {} == write_one(storyline(extra="x"))["extra"]


class TestTurns:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            *((word, "user") for word in ("user", "human", "USER")),
            *((word, "agent") for word in ("agent", "assistant", "Assistant")),
            *((word, "system") for word in ("system", "developer", "critic", "unknown")),
            *(
                (word, "environment")
                for word in ("environment", "env", "tool", "function", "observation", "Tool")
            ),
        ],
    )
    def test_sources(self, source: str, expected: str) -> None:
        """Speakers of any format are one of the four sources, strangers the system."""
        assert write_one(storyline(turn(1, source)))["steps"][0]["source"] == expected

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"a": 1}, {"a": 1}),
            (None, {}),
            ([1], {"_raw": [1]}),
            ("{", {"_raw": "{"}),
            (0, {"_raw": 0}),
        ],
    )
    def test_arguments(self, arguments: Json, expected: Json) -> None:
        """Arguments that are no object stand under `_raw`; null is an empty object."""
        step = write_one(storyline(turn(tool_calls=[call(arguments=arguments)])))["steps"][0]

        assert [{"id": "c", "name": "f", "arguments": expected}] == step["tool_calls"]

    def test_extra(self) -> None:
        """An extra that is an object is written, without a mark that a reader would take for ours."""
        mark = {"version": 1, "as": "prompt"}

        written = write_one(
            storyline(
                turn(1, extra={"k": 1, "_storyline": mark}),
                turn(2, extra={"_storyline": "x"}),
                turn(3, extra="x"),
            )
        )

        assert [{"k": 1}, {"_storyline": "x"}, {}] == [step["extra"] for step in written["steps"]]

    def test_environment_step(self) -> None:
        """The results of an agent turn are on an environment step behind it, at the time at which the turn ended."""
        found = write_one(
            storyline(
                turn(
                    timestamp=T1,
                    finished_at=T2,
                    observation={"results": [{"source_call_id": "c", "content": "r"}]},
                )
            )
        )["steps"]

        assert [("agent", T1, None), ("environment", T2, "r")] == [
            (
                step["source"],
                step["timestamp"],
                step["observation"] and step["observation"]["results"][0]["content"][0]["text"],
            )
            for step in found
        ]

    def test_without_end(self) -> None:
        """A turn that does not say when it ended gives its step the time at which it began."""
        steps = write_one(storyline(turn(timestamp=T1, observation={"results": [{}]})))["steps"]

        assert steps[1]["timestamp"] == T1

    def test_nothing_to_show(self) -> None:
        """An agent turn without results has no environment step."""
        assert len(write_one(storyline(turn(observation={"results": []})))["steps"]) == 1


class TestResults:
    @pytest.mark.parametrize(
        ("observation", "expected"),
        [
            ({"results": [{"content": "a"}, "b", 5]}, [["a"], ["b"], ["5"]]),
            ([{"content": "a"}, "b"], [["a"], ["b"]]),
            ("state", [["state"]]),
            ({"a": 1}, [['{"a":1}']]),
            ({"results": [{"content": "a"}], "error": "e"}, [["a"], ["e"]]),
            ({"results": [], "error": ""}, []),
            ({"results": [], "error": 5}, []),
            ({"error": "e"}, [['{"error":"e"}']]),
        ],
    )
    def test_visible(self, observation: Json, expected: Json) -> None:
        """Whatever shape an observation has, its results are shown, and for an agent turn its error."""
        assert expected == texts(results(observation=observation))

    def test_result_of_a_call(self) -> None:
        """A call's own result is shown when no element names the call, behind the error."""
        calls = [call("c", result="own"), call("d", result="shown")]
        observation = {"results": [{"source_call_id": "c", "content": "said"}], "error": "e"}

        found = results(tool_calls=calls, observation=observation)

        assert [("c", ["said"], False), ("", ["e"], True), ("d", ["shown"], False)] == [
            (result["tool_call_id"], *texts([result]), result["is_error"]) for result in found
        ]

    @pytest.mark.parametrize(
        ("result", "expected"),
        [
            ({"source_call_id": "a", "tool_use_id": "b"}, "a"),
            ({"source_call_id": "", "tool_use_id": "b"}, "b"),
            ({"source_call_id": None, "tool_call_id": "c", "id": "d"}, "c"),
            ({"id": "d"}, "d"),
            ({"id": 5}, ""),
            ({}, ""),
        ],
    )
    def test_call_id(self, result: Json, expected: str) -> None:
        """The call is the first non-empty text under any of four names."""
        assert [expected] == [
            one["tool_call_id"] for one in results(observation={"results": [result]})
        ]

    @pytest.mark.parametrize(
        ("result", "expected"),
        [
            ({}, False),
            ({"is_error": True}, True),
            ({"is_error": False, "exit_code": 1, "error": "e"}, False),
            ({"isError": True, "exit_code": 0}, True),
            ({"extra": {"is_error": True}}, True),
            ({"is_error": 1, "extra": {"is_error": False}, "exit_code": 1}, False),
            ({"exit_code": 2, "status": "ok"}, True),
            ({"exit_code": 0, "status": "failed"}, False),
            ({"exit_code": True, "status": "failed"}, True),
            ({"status": "Timed Out"}, True),
            ({"status": "timeout"}, True),
            ({"status": "agent_timeout", "error": "e"}, False),
            ({"status": "cancelled"}, True),
            ({"status": "", "error": "e"}, False),
            ({"error": "e"}, True),
            ({"error": 0}, True),
            ({"error": {}}, True),
            ({"error": ""}, False),
            ({"error": False}, False),
            ({"error": None}, False),
        ],
    )
    def test_is_error(self, result: Json, expected: bool) -> None:  # noqa: FBT001  # a row of the table
        """A result is an error by its own word, else its exit code, else its status, else its error."""
        assert [expected] == [one["is_error"] for one in results(observation={"results": [result]})]

    @pytest.mark.parametrize(
        ("result", "response", "expected"),
        [
            ({}, Response(exit_code=2), True),
            ({}, Response(exit_code=0, status="failed"), False),
            ({}, Response(status="failed"), True),
            ({"status": "failed"}, Response(exit_code=0), False),
            ({"status": "ok"}, Response(status="failed"), False),
            ({"is_error": False}, Response(exit_code=2), False),
            ({"error": "e"}, Response(status="ok"), False),
        ],
    )
    def test_response(self, result: Json, response: Response, expected: bool) -> None:  # noqa: FBT001  # a row of the table
        """The state of the call that it answers counts behind its own, name for name."""
        calls = [call(response=response)]

        found = results(
            tool_calls=calls, observation={"results": [{"source_call_id": "c", **result}]}
        )

        assert [expected] == [one["is_error"] for one in found]

    def test_result_of_a_failed_call(self) -> None:
        """A result made from the call's own uses the state of the call."""
        assert [True] == [
            one["is_error"]
            for one in results(tool_calls=[call(result="r", response=Response(exit_code=1))])
        ]

    @pytest.mark.parametrize("source", ["user", "system", "critic"])
    def test_other_turns(self, source: str) -> None:
        """The results of any other turn stay on its step, with its error."""
        written = write_one(
            storyline(turn(1, source, observation={"results": [{"content": "a"}], "error": "e"}))
        )

        (step,) = written["steps"]
        assert [["a"]] == texts(step["observation"]["results"])
        assert step["observation"]["error"] == "e"

    @pytest.mark.parametrize(
        ("observation", "expected"),
        [
            (None, None),
            ([], None),
            ({}, {"results": [], "error": None}),
            ({"results": []}, {"results": [], "error": None}),
            ({"results": [], "error": 5}, {"results": [], "error": None}),
            ({"results": [], "error": ""}, {"results": [], "error": ""}),
        ],
    )
    def test_empty_observations(self, observation: Json, expected: Json) -> None:
        """Of those an observation without results is there when it is an object."""
        (step,) = write_one(storyline(turn(1, "user", observation=observation)))["steps"]

        # An object without `results` is one result of its own, but an empty one says nothing.
        if observation == {}:
            assert texts(step["observation"]["results"]) == [["{}"]]
        else:
            assert expected == step["observation"]


class TestMarks:
    def test_turn(self) -> None:
        """A turn of the environment that the reader would fold is marked, any other is not."""
        written = write_one(
            storyline(
                turn(1, "tool", "before any agent"),
                turn(2, "agent"),
                turn(3, "tool", "folded otherwise", extra={"k": 1}),
                turn(4, "tool", None),
                turn(5, "tool", "thinks", reasoning_content="r"),
            )
        )

        mark = {"_storyline": {"version": 1, "as": "turn"}}
        assert [{}, {}, {"k": 1, **mark}, {}, {}] == [step["extra"] for step in written["steps"]]

    def test_results(self) -> None:
        """An environment step is marked when the reader would find one of its calls in another agent turn."""
        late = {"results": [{"source_call_id": "c", "content": "late"}]}
        written = write_one(
            storyline(
                turn(1, tool_calls=[call("c")]),
                turn(2, "user", tool_calls=[call("d")]),
                turn(3, observation=late),
                turn(
                    4,
                    observation={
                        "results": [{"source_call_id": "d", "content": "x"}, {"content": "y"}]
                    },
                ),
            )
        )

        mark = {"_storyline": {"version": 1, "as": "results"}}
        assert [mark, {}] == [
            step["extra"] for step in written["steps"] if step["source"] == "environment"
        ]

    def test_prompts(self) -> None:
        """Prompts are marked steps, at the time of the document and of the turn."""
        written = write_one(
            storyline(
                turn(1),
                turn(2, timestamp=T2, prompt=Prompt(user="U2")),
                prompt=Prompt(system="S", user="U"),
                started_at=T1,
            )
        )

        assert [
            ("system", "S", T1, "prompt"),
            ("user", "U", T1, "prompt"),
            ("agent", "m", None, None),
            ("user", "U2", T2, "turn-prompt"),
            ("agent", "m", T2, None),
        ] == [
            (
                step["source"],
                step["message"],
                step.get("timestamp"),
                step["extra"].get("_storyline", {}).get("as"),
            )
            for step in written["steps"]
        ]

    def test_no_carry(self) -> None:
        """Without the carrier there are no marks: the steps are ordinary ones."""
        source = storyline(
            turn(1, tool_calls=[call("c")]),
            turn(2, observation={"results": [{"source_call_id": "c"}]}, prompt=Prompt(user="U2")),
            turn(3, "tool", "x"),
            prompt=Prompt(system="S"),
        )

        written = write_one(source, WriteOptions(carry=False))

        assert ["system", "agent", "user", "agent", "environment", "environment"] == [
            step["source"] for step in written["steps"]
        ]
        assert [{}] * 6 == [step["extra"] for step in written["steps"]]

    def test_own_prompts(self) -> None:
        """A Storyline from ALE has no prompt steps."""
        source = storyline(
            turn(1, prompt=Prompt(user="U2")), prompt=Prompt(system="S", user="U"), origin="ale"
        )

        assert len(write_one(source)["steps"]) == 1


class TestOwnResiduals:
    def own(
        self, fields: dict[str, Json], *turns: Any, **members: Any
    ) -> tuple[dict[str, Json], dict[str, Json]]:
        """Return what is written of a Storyline with residuals of ALE, and those without a place."""
        residuals = {"ale": Residuals(source_document_id="s", fields=fields)}
        source = storyline(*turns, origin="ale", unknown_fields=residuals, **members)
        options = WriteOptions()
        written = write_one(source, options)
        return written, options.unplaced_residuals.get(id(source), {})

    def test_times(self) -> None:
        """Texts that are no times go back where the Storyline has none, or one made from them."""
        fields = {
            "/started_at": "",
            "/ended_at": "noon",
            "/steps/0/timestamp": "2026-06-05T03:11:01",
        }

        written, unplaced = self.own(fields, turn(timestamp="2026-06-05T03:11:01+02:00"))

        assert ("", "noon", "2026-06-05T03:11:01") == (
            written["started_at"],
            written["ended_at"],
            written["steps"][0]["timestamp"],
        )
        assert {} == unplaced

    def test_set_since(self) -> None:
        """A time that was set in the hub wins, and the text is left to the envelope."""
        fields = {
            "/started_at": "noon",
            "/steps/0/timestamp": "noon",
            "/steps/7/timestamp": "noon",
            "/ended_at": 5,
        }

        written, unplaced = self.own(fields, turn(timestamp=T1), started_at=T1)

        assert (T1, T1, None) == (
            written["started_at"],
            written["steps"][0]["timestamp"],
            written["ended_at"],
        )
        assert fields == unplaced

    def test_nested_pointers(self) -> None:
        """A residual is taken relative to its trajectory, wherever that is written."""
        pointer = "/subagent_trajectories/3/subagent_trajectories/0/steps/0/timestamp"

        written, unplaced = self.own({pointer: "noon"}, turn())

        assert (written["steps"][0]["timestamp"], unplaced) == ("noon", {})

    def test_same_place_twice(self) -> None:
        """Of two residuals for one place the first is used."""
        fields = {
            "/steps/0/timestamp": "a",
            "/subagent_trajectories/0/steps/0/timestamp": "b",
            "/steps/0/tool_calls/0/id": "c",
            "/subagent_trajectories/0/steps/0/tool_calls/0/id": "d",
        }

        written, unplaced = self.own(fields, turn(tool_calls=[call("c#2")]))

        assert (written["steps"][0]["timestamp"], written["steps"][0]["tool_calls"][0]["id"]) == (
            "a",
            "c",
        )
        assert set(unplaced) == {key for key in fields if key.startswith("/sub")}

    def test_call_ids(self) -> None:
        """Ids go back to calls that were renamed, or named by their place, and to the results that name them."""
        fields = {
            "/steps/0/tool_calls/0/id": "c",
            "/steps/0/tool_calls/1/id": "",
            "/steps/0/tool_calls/2/id": "other",
            "/steps/0/tool_calls/9/id": "",
            "/steps/1/tool_calls/0/id": "",
            "/steps/5/tool_calls/0/id": "",
        }
        calls = [call("c#12"), call("call-1-1"), call("d")]
        answers = [{"source_call_id": name} for name in ("c#12", "call-1-1", "d", "gone")]

        written, unplaced = self.own(
            fields, turn(tool_calls=calls, observation={"results": answers})
        )

        main, reply = written["steps"]
        assert ["c", "", "d"] == [one["id"] for one in main["tool_calls"]]
        assert ["c", "", "d", "gone"] == [
            one["tool_call_id"] for one in reply["observation"]["results"]
        ]
        assert set(fields) - {"/steps/0/tool_calls/0/id", "/steps/0/tool_calls/1/id"} == set(
            unplaced
        )

    def test_names(self) -> None:
        """A name goes back where the placeholder stands."""
        fields = {"/steps/0/tool_calls/0/name": "", "/steps/0/tool_calls/1/name": ""}
        placeholder = ToolCall(tool_call_id="c", function_name="unknown", arguments={})

        written, unplaced = self.own(fields, turn(tool_calls=[placeholder, call("d")]))

        assert ["", "f"] == [one["name"] for one in written["steps"][0]["tool_calls"]]
        assert {"/steps/0/tool_calls/1/name": ""} == unplaced

    @pytest.mark.parametrize(
        "pointer",
        [
            "",
            "/",
            "/vendor",
            "/steps/0/step_id",
            "/steps/00",
            "/steps/0/tool_calls/0",
            "/steps/0/extra/id",
        ],
    )
    def test_everything_else(self, pointer: str) -> None:
        """All others are named to the hub, which carries them."""
        _, unplaced = self.own({pointer: 1}, turn())

        assert {pointer: 1} == unplaced

    def test_step_ids(self) -> None:
        """Step ids of ALE come back, unless they would repeat or fall below 1."""
        source = trajectory(agent("a", step_id=3), environment("a", step_id=4), agent(step_id=9))
        found = read_one(source)

        assert [3, 4, 9] == [step["step_id"] for step in write_one(found)["steps"]]
        found.turns[1].turn_id = 4
        assert [1, 2, 3] == [step["step_id"] for step in write_one(found)["steps"]]
        found.turns[1].turn_id = -1
        assert [1, 2, 3] == [step["step_id"] for step in write_one(found)["steps"]]

    def test_step_ids_of_others(self) -> None:
        """The turn ids of other formats say nothing of steps."""
        assert [1, 2] == [
            step["step_id"] for step in write_one(storyline(turn(5), turn(9)))["steps"]
        ]

    def test_largest_step_id(self) -> None:
        """No step id leaves the range of an integer."""
        last = turn(2**63 - 1, observation={"results": [{}]})

        assert [1, 2] == [
            step["step_id"] for step in write_one(storyline(last, origin="ale"))["steps"]
        ]


class TestFamilies:
    def test_nesting(self) -> None:
        """Children are nested in their parent, in its order, and never roots."""
        parent = storyline(session_id="p", child_ids=["b", "a"])
        grandchild = storyline(session_id="g")

        written = write(
            storyline(session_id="a", child_ids=["g"]),
            grandchild,
            parent,
            storyline(session_id="b"),
            storyline(session_id="x"),
        )

        assert ["p", "x"] == [one["episode_id"] for one in written]
        nested = written[0]["subagent_trajectories"]
        assert ["b", "a"] == [one["episode_id"] for one in nested]
        assert ["g"] == [one["episode_id"] for one in nested[1]["subagent_trajectories"]]

    def test_nothing(self) -> None:
        """No Storylines, no documents."""
        assert [] == write()
