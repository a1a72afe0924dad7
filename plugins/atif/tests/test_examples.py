"""The worked examples of the mapping, one test each, numbered as there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

import hub
from hub import Problem, Prompt, ToolCall, WriteOptions
from hub.testing import from_wire, to_wire

from .builders import (
    CONFORM,
    HELLO,
    ROOT,
    A,
    V,
    agent,
    back,
    call,
    document,
    fields,
    problems,
    read,
    read_one,
    results,
    steps_of,
    storyline,
    trajectory,
    turn,
    user,
    wire,
    write,
    write_one,
)
from .owner import assert_accepted

Json = Any

ORIGIN = {
    "origin": {"format": "atif", "schema_version": "ATIF-v1.7"},
    "schema_version": "storyline/v1",
}
O: dict[str, Json] = {**ORIGIN, "agent": {"id": "a", "name": "a", "ver": "1"}}  # noqa: E741  # its name there
TURN = {"id": 1, "src": "user", "msg": "hi"}
B = {"name": "b", "version": "2"}


def step(value: Json) -> Json:
    """Return the one turn that a step becomes."""
    (found,) = wire(read_one({**ROOT, "steps": [value]}))["turns"]
    return found


class TestSmallest:
    def test_1(self) -> None:
        """A minimal trajectory, there and back."""
        source = {**V, "session_id": "s", **A, "steps": [HELLO]}

        assert [{**O, "session": "s", "turns": [TURN]}] == list(map(wire, read(source)))
        assert source == back(source)

    def test_2(self) -> None:
        """A step with everything."""
        source = {
            "step_id": 2,
            "source": "agent",
            "message": "ok",
            "tool_calls": [
                {
                    "tool_call_id": "c1",
                    "function_name": "f",
                    "arguments": {"x": 1},
                    "extra": {"duration_ms": 7, "k": 1},
                }
            ],
            "observation": {"results": [{"source_call_id": "c1", "content": "out"}]},
            "metrics": {"prompt_tokens": 3, "latency_ms": 12.9, "ttft_ms": 2},
            "llm_call_count": 1,
            "reasoning_content": "r",
            "reasoning_effort": "low",
            "model_name": "m",
            "timestamp": "2026-01-01T00:00:00Z",
            "extra": {"e": 1},
        }
        expected = {
            "id": 2,
            "kind": "autonomous",
            "ts": "2026-01-01T00:00:00Z",
            "src": "agent",
            "msg": "ok",
            "reason": "r",
            "effort": "low",
            "model": "m",
            "nllm": 1,
            "latency_ms": 12,
            "ttft_ms": 2,
            "metrics": {"prompt_tokens": 3, "latency_ms": 12.9, "ttft_ms": 2},
            "observation": {"results": [{"source_call_id": "c1", "content": "out"}]},
            "tool_calls": [
                {
                    "tcid": "c1",
                    "fn": "f",
                    "args": {"x": 1},
                    "duration_ms": 7,
                    "extra": {"duration_ms": 7, "k": 1},
                }
            ],
            "extra": {"e": 1},
        }

        assert expected == step(source)
        assert {**ROOT, "steps": [source]} == back({**ROOT, "steps": [source]})

    def test_3(self) -> None:
        """A trajectory id alone is the session as well, and is written as such."""
        source = {**V, "trajectory_id": "t1", **A, "steps": [HELLO]}

        found = wire(read_one(source))

        assert {**O, "session": "t1", "trajectory": "t1", "turns": [TURN]} == found
        assert {**source, "session_id": "t1"} == back(source)


class TestTree:
    SOURCE: ClassVar[Json] = {
        **V,
        "session_id": "s",
        "trajectory_id": "root",
        "vendor": 1,
        **A,
        "steps": [HELLO],
        "subagent_trajectories": [
            {
                "schema_version": "ATIF-v1.6",
                "trajectory_id": "c1",
                "vendor": 2,
                "agent": B,
                "steps": [{**HELLO, "zz": 1}],
                "subagent_trajectories": [
                    {
                        **V,
                        "session_id": "own",
                        "trajectory_id": "g1",
                        "agent": {"name": "g", "version": "3", "av": True},
                        "steps": [],
                    }
                ],
            },
            {**V, "trajectory_id": "c2", "agent": B, "steps": []},
        ],
    }

    def test_4(self) -> None:
        """A tree is as many Storylines, linked, each with the residuals of its own node."""
        found = read(self.SOURCE)

        agent_b = {"id": "b", "name": "b", "ver": "2"}
        assert [
            {**O, "session": "s", "trajectory": "root", "children": ["c1", "c2"], "turns": [TURN]},
            {
                **O,
                "origin": {"format": "atif", "schema_version": "ATIF-v1.6"},
                "agent": agent_b,
                "session": "s",
                "trajectory": "c1",
                "parent": {"psid": "root"},
                "children": ["g1"],
                "turns": [TURN],
            },
            {
                **O,
                "agent": {"id": "g", "name": "g", "ver": "3"},
                "session": "own",
                "trajectory": "g1",
                "parent": {"psid": "c1"},
                "turns": [],
            },
            {
                **O,
                "agent": agent_b,
                "session": "s",
                "trajectory": "c2",
                "parent": {"psid": "root"},
                "turns": [],
            },
        ] == list(map(wire, found))
        at = "/subagent_trajectories/0"
        assert [
            {"/vendor": 1},
            {f"{at}/vendor": 2, f"{at}/steps/0/zz": 1},
            {f"{at}/subagent_trajectories/0/agent/av": True},
            {},
        ] == list(map(fields, found))
        counted = {"/subagent_trajectories/*/vendor": 1, "/subagent_trajectories/*/steps/*/zz": 1}
        assert {"atif": counted} == to_wire(found[1])["unknown_key_counts"]
        assert {"688b30b6b9e264126ac700b7f22506165a82170260e05402113f79c7017a7c46"} == {
            one.unknown_fields["atif"].source_document_id for one in found[:3]
        }

    def test_4_back(self) -> None:
        """Written again, the children say which run they belong to."""
        first, second = self.SOURCE["subagent_trajectories"]
        expected = {
            **self.SOURCE,
            "subagent_trajectories": [
                {**first, "session_id": "s"},
                {**second, "session_id": "s"},
            ],
        }

        assert expected == back(self.SOURCE)

    def test_21(self) -> None:
        """A child named as the session of a root without a name is renamed."""
        source = trajectory(
            HELLO,
            subagent_trajectories=[
                {**V, "trajectory_id": "s", "session_id": "s", **A, "steps": [HELLO]}
            ],
        )

        root, found = read(source)

        assert (None, ["s#2"]) == (root.trajectory_id, root.child_ids)
        assert "s#2" == found.trajectory_id
        assert {"/subagent_trajectories/0/trajectory_id": "s"} == fields(found)
        assert source == back(source)


class TestKept:
    def test_5(self) -> None:
        """Unknown keys of every object are residuals, and go back to where they were."""
        source = {
            **V,
            "session_id": "s",
            "agent": {**A["agent"], "av": 1.5},
            "r/o~t": 1,
            "nul": None,
            "steps": [
                {**HELLO, "v": [1, None]},
                {
                    "step_id": 2,
                    **agent(),
                    "tool_calls": [call(ck={"q/r~": 1})],
                    "observation": {"results": [], "ov": 1},
                },
            ],
        }

        found = read_one(source)

        assert {
            "/agent/av": 1.5,
            "/nul": None,
            "/r~1o~0t": 1,
            "/steps/0/v": [1, None],
            "/steps/1/observation/ov": 1,
            "/steps/1/tool_calls/0/ck": {"q/r~": 1},
        } == fields(found)
        places = (
            "/agent/av",
            "/nul",
            "/r~1o~0t",
            "/steps/*/v",
            "/steps/*/observation/ov",
            "/steps/*/tool_calls/*/ck",
        )
        assert {"atif": dict.fromkeys(places, 1)} == to_wire(found)["unknown_key_counts"]
        assert source == back(source)

    def test_6(self, tmp_path: Path) -> None:
        """Step ids out of order stay as they are; conformed they are the positions, and the ids are carried."""
        source = trajectory({**user(), "step_id": 5}, {**user(), "step_id": 3})

        assert [5, 3] == [one.turn_id for one in read_one(source).turns]
        assert ["step-sequence", "step-sequence"] == [rule for _, rule, _ in problems(source)]
        assert source == back(source)
        assert [1, 2] == [one["step_id"] for one in back(source, **CONFORM)["steps"]]
        target = tmp_path / "conformed.json"
        hub.write(read(source), target, to="atif", options=CONFORM)
        (again,) = hub.read(target)
        assert [5, 3] == [one.turn_id for one in again.turns]

    def test_7(self) -> None:
        """A step of an unknown source is dialogue, calls or not."""
        source = {"step_id": 1, "source": "environment", "message": "x", "tool_calls": [call()]}

        assert {
            "id": 1,
            "kind": "dialogue",
            "src": "environment",
            "msg": "x",
            "tool_calls": [{"tcid": "c", "fn": "f", "args": {}}],
        } == step(source)
        assert {**ROOT, "steps": [source]} == back({**ROOT, "steps": [source]})

    @pytest.mark.parametrize(
        ("metrics", "promoted"),
        [
            ({"latency_ms": None, "elapsed_ms": 4}, {}),
            ({"latency_ms": "9", "ttft_ms": "3"}, {}),
            (
                {"duration_ms": -1.9, "ttft_ms": 1e30},
                {"latency_ms": -1, "ttft_ms": 9223372036854775807},
            ),
            ({"elapsed_ms": 8, "duration_ms": 2}, {"latency_ms": 8}),
            (
                {"latency_ms": hub.ExactNumber("1e400"), "ttft_ms": hub.ExactNumber("-1e400")},
                {"latency_ms": 9223372036854775807, "ttft_ms": -9223372036854775808},
            ),
            ({"latency_ms": True, "ttft_ms": 2**70}, {"ttft_ms": 9223372036854775807}),
        ],
    )
    def test_8(self, metrics: Json, promoted: Json) -> None:
        """The latency under the first key that is there is promoted, if it is a number."""
        source = {"step_id": 1, **agent(metrics=metrics)}

        assert {"id": 1, "src": "agent", "msg": "m", "metrics": metrics, **promoted} == step(source)
        assert {**ROOT, "steps": [source]} == back({**ROOT, "steps": [source]})

    def test_9(self) -> None:
        """Any extra of a call is kept, and a result in it; a duration is promoted if it is an integer."""
        calls = [
            call("1", extra={"duration_ms": 7.5}),
            call("2", extra={}),
            call("3", extra="str", result={"k": 1}),
        ]
        source = {**ROOT, "steps": [{"step_id": 1, **agent(tool_calls=calls)}]}

        assert [
            {"tcid": "1", "fn": "f", "args": {}, "extra": {"duration_ms": 7.5}},
            {"tcid": "2", "fn": "f", "args": {}, "extra": {}},
            {"tcid": "3", "fn": "f", "args": {}, "extra": "str", "result": {"k": 1}},
        ] == wire(read_one(source))["turns"][0]["tool_calls"]
        assert source == back(source)

    def test_10(self) -> None:
        """No steps and no children are kept; conformed there is one step, and no list of children."""
        source = {**V, "session_id": "s", **A, "steps": [], "subagent_trajectories": []}

        assert {**O, "session": "s", "children": [], "turns": []} == wire(read_one(source))
        assert source == back(source)
        conformed = back(source, **CONFORM)
        empty = {"step_id": 1, "source": "system", "message": ""}
        assert {**V, "session_id": "s", **A, "steps": [empty]} == conformed
        assert_accepted(conformed)

    def test_11(self) -> None:
        """An empty session or trajectory id is none; a tree without any is named after its content."""
        without = {**V, **A, "steps": [HELLO]}
        first = {**without, "session_id": "", "trajectory_id": "t"}
        second = {**without, "session_id": "s", "trajectory_id": ""}

        assert ("t", "t") == (read_one(first).session_id, read_one(first).trajectory_id)
        assert {**first, "session_id": "t"} == back(first)
        assert ("s", None) == (read_one(second).session_id, read_one(second).trajectory_id)
        assert {"/trajectory_id": ""} == fields(read_one(second))
        assert second == back(second)
        assert [("warning", "no-identity", "")] == problems(without)
        assert read_one(without).session_id == f"atif-{hub.fingerprint(without)[:16]}"
        assert without == back(without)

    def test_12(self) -> None:
        """Two trees know nothing of each other, and may have one session."""
        source = trajectory(user())

        assert [source, source] == write(*read(source), *read(source))


class TestEnvelope:
    HELD: ClassVar[Json] = {"actf": {"source_document_id": "x", "fields": {"/q": 7}}}

    @staticmethod
    def envelope(sources: Json, carrier: str = "") -> Json:
        by_trajectory = {carrier: {"sources": sources}}
        return {"unknown_fields": {"version": 1, "by_trajectory": by_trajectory}}

    def test_13(self, tmp_path: Path) -> None:
        """An envelope at the root is read, and written into `extra`."""
        source = trajectory(user(), _storyline=self.envelope(self.HELD))

        (found,) = hub.read(hub.Source.of(source), format="atif")

        assert {"sources": self.HELD} == to_wire(found)["unknown_fields"]
        assert {"actf": {"/q": 1}} == to_wire(found)["unknown_key_counts"]
        target = tmp_path / "again.json"
        hub.write([found], target, to="atif")
        (record,) = hub.Source.open(target).records()
        expected = trajectory(user(), extra={"_storyline": self.envelope(self.HELD)})
        assert expected == record.value

    def test_13_own_source(self) -> None:
        """In the root form residuals of ATIF itself cannot travel."""
        own = {"atif": {"source_document_id": "x", "fields": {}}}
        source = trajectory(
            user(),
            subagent_trajectories=[{**V, "trajectory_id": "c", **A, "steps": [HELLO]}],
            _storyline=self.envelope(own, "/subagent_trajectories/0"),
        )

        found = hub.validate(hub.Source.of(source), format="atif").problems

        assert [("fatal", "envelope.own-source")] == [(one.severity, one.rule) for one in found]


class TestOpaque:
    @pytest.mark.parametrize(
        ("message", "conformed"), [(None, ""), ({"a": 1}, '{"a":1}'), ("m", "m")]
    )
    def test_14_messages(self, message: Json, conformed: Json) -> None:
        """Any message is kept; conformed it is a text."""
        source = trajectory(user(message))

        assert message == read_one(source).turns[0].message
        assert source == back(source)
        assert conformed == back(source, **CONFORM)["steps"][0]["message"]

    @pytest.mark.parametrize(
        ("arguments", "conformed"),
        [(None, {}), ("str", {"value": "str"}), ('{"x":1}', {"x": 1}), ("[1]", {"value": "[1]"})],
    )
    def test_14_arguments(self, arguments: Json, conformed: Json) -> None:
        """Any arguments are kept; conformed they are an object."""
        made = {"tool_call_id": "c", "function_name": "f", "arguments": arguments}
        source = trajectory(agent(tool_calls=[made]))

        (found,) = list(read_one(source).turns[0].tool_calls or ())
        assert arguments == found.arguments
        assert source == back(source)
        written = back(source, **CONFORM)
        assert conformed == written["steps"][0]["tool_calls"][0]["arguments"]
        assert_accepted(written)


class TestForeign:
    def test_15(self) -> None:
        """A turn of the environment is a system step with what it says."""
        found = steps_of(
            turn(
                7,
                "environment",
                None,
                observation={"results": [{"source_call_id": "c9", "content": "out"}]},
            )
        )

        assert [
            {
                "step_id": 1,
                "source": "system",
                "message": "",
                "observation": {"results": [{"content": "out"}]},
            }
        ] == found

    def test_16(self) -> None:
        """Metrics have Harbor's members, all others stand in their extra; arguments are an object."""
        found = steps_of(
            turn(2, "user", "x"),
            turn(
                3,
                "agent",
                "",
                metrics={"prompt_tokens": 5, "reward": 1},
                latency_ms=4,
                tool_calls=[ToolCall(tool_call_id="a", function_name="f", arguments=[1])],
            ),
        )

        assert {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "metrics": {"prompt_tokens": 5, "extra": {"reward": 1, "latency_ms": 4}},
            "tool_calls": [
                {"tool_call_id": "a", "function_name": "f", "arguments": {"value": [1]}}
            ],
        } == found[1]

    def test_22(self) -> None:
        """A turn of ACTF: prompts are steps, usage has Harbor's names, JSON text is read."""
        wired = {
            "id": 1,
            "src": "agent",
            "nllm": 1,
            "msg": "c",
            "ts": "2026-01-01 00:00:00+00:00",
            "kind": "autonomous",
            "latency_ms": 40,
            "metrics": {
                "prompt_tokens_len": 12,
                "completion_tokens_len": 3,
                "llm_infer_ms": 40,
                "env_action_ms": None,
                "stop_reason": "tool",
            },
            "tool_calls": [{"tcid": "x", "fn": "bash", "kind": "tool_use", "args": '{"a": 1}'}],
            "observation": {
                "results": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "x",
                        "content": "ok",
                        "source_call_id": "x",
                    }
                ]
            },
        }
        (found, *_) = from_wire(
            {
                "schema_version": "storyline/v1",
                "session": "s",
                "agent": {"id": "a"},
                "turns": [wired],
            }
        ).turns

        written = write_one(storyline(found, prompt=Prompt(system="S", user="U")))

        assert [
            {"step_id": 1, "source": "system", "message": "S"},
            {"step_id": 2, "source": "user", "message": "U"},
            {
                "step_id": 3,
                "source": "agent",
                "message": "c",
                "timestamp": "2026-01-01 00:00:00+00:00",
                "metrics": {
                    "prompt_tokens": 12,
                    "completion_tokens": 3,
                    "extra": {
                        "prompt_tokens_len": 12,
                        "completion_tokens_len": 3,
                        "llm_infer_ms": 40,
                        "env_action_ms": None,
                        "stop_reason": "tool",
                        "latency_ms": 40,
                    },
                },
                "tool_calls": [
                    {"tool_call_id": "x", "function_name": "bash", "arguments": {"a": 1}}
                ],
                "observation": {"results": [{"source_call_id": "x", "content": "ok"}]},
                "llm_call_count": 1,
            },
        ] == written["steps"]
        assert_accepted(written)

    def test_23(self) -> None:
        """Parts in the shapes of OpenAI, broken arguments, and a result that is an error."""
        parts = [
            {"type": "text", "text": "see"},
            {"type": "image_url", "image_url": {"url": "https://h/p.png"}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        ]
        text = [{"type": "text", "text": "no"}]

        written = write_one(
            storyline(
                turn(
                    message=parts,
                    tool_calls=[ToolCall(tool_call_id="a", function_name="f", arguments="{bad")],
                    observation={
                        "results": [{"source_call_id": "a", "content": text, "is_error": True}]
                    },
                )
            )
        )

        assert "ATIF-v1.8" == written["schema_version"]
        (found,) = written["steps"]
        image = {"media_type": "image/png", "path": "https://h/p.png"}
        audio = {"media_type": "audio/wav", "path": "data:audio/wav;base64,AAAA"}
        assert [
            {"type": "text", "text": "see"},
            {"type": "image", "source": image},
            {"type": "audio", "source": audio},
        ] == found["message"]
        assert {"value": "{bad"} == found["tool_calls"][0]["arguments"]
        assert [{"source_call_id": "a", "content": text, "extra": {"is_error": True}}] == found[
            "observation"
        ]["results"]
        assert_accepted(written)


class TestMessy:
    def test_17(self, tmp_path: Path) -> None:
        """Two lines in a file that is not named for it are two Storylines, in their order."""
        path = tmp_path / "x.json"
        lines = [trajectory(user(), session_id=name) for name in "ba"]
        path.write_text("\n".join(map(hub.compact, lines)), encoding="utf-8")

        assert ["b", "a"] == [one.session_id for one in hub.read(path)]

    @pytest.mark.parametrize(
        ("time", "is_read", "problem"),
        [
            ("2026-01-01T00:00:00", False, ("warning", "time")),
            ("2026-01-01T00:00:00.5+08:00", True, None),
            ("2026-01-01T00:00Z", False, ("warning", "time")),
            ("", False, ("error", "time-invalid")),
            (1700000000, False, ("error", "type")),
            ("2026-01-01T00:00:60Z", True, ("error", "time-invalid")),
        ],
    )
    def test_18(self, time: Json, is_read: bool, problem: Json) -> None:  # noqa: FBT001  # a column
        """Times that are none are set aside, and every time comes back as it was."""
        source = trajectory(user(timestamp=time))

        found = read_one(source)

        assert (time if is_read else None) == found.turns[0].timestamp
        assert ({} if is_read else {"/steps/0/timestamp": time}) == fields(found)
        at = "/steps/0/timestamp"
        assert ([] if problem is None else [(*problem, at)]) == problems(source)
        assert source == back(source)

    @pytest.mark.parametrize(
        ("source", "residuals", "found"),
        [
            (
                trajectory(user(observation={})),
                {},
                [("error", "required", "/steps/0/observation/results")],
            ),
            (
                trajectory(user(observation=[])),
                {"/steps/0/observation": []},
                [("error", "type", "/steps/0/observation")],
            ),
            (
                trajectory({**user(), "step_id": 1}, {**user(), "step_id": 1}),
                {"/steps/1/step_id": 1},
                [("error", "step-sequence", "/steps/1/step_id")],
            ),
            (
                trajectory(
                    agent("x", **results({"source_call_id": "x", "content": "1"})),
                    agent("x", **results({"source_call_id": "x", "content": "2"})),
                ),
                {
                    "/steps/1/tool_calls/0/tool_call_id": "x",
                    "/steps/1/observation/results/0/source_call_id": "x",
                },
                [("warning", "call-id-unique", "/steps/1/tool_calls/0/tool_call_id")],
            ),
            (
                trajectory(agent(tool_calls=[call(name="")])),
                {"/steps/0/tool_calls/0/function_name": ""},
                [("warning", "function-name", "/steps/0/tool_calls/0/function_name")],
            ),
            (trajectory(user(), notes=5), {"/notes": 5}, [("error", "type", "/notes")]),
            (
                trajectory(user(), agent={"name": "a"}),
                {},
                [("error", "required", "/agent/version")],
            ),
        ],
        ids=["empty", "array", "ids", "calls", "name", "notes", "version"],
    )
    def test_19(self, source: Json, residuals: Json, found: Json) -> None:
        """Broken rules are told, values are kept, and the source comes back."""
        assert residuals == fields(read_one(source))
        assert found == problems(source)
        assert source == back(source)

    def test_19_fields(self) -> None:
        """Ids that repeat are numbered, and what is missing has no value but a placeholder."""
        twice = trajectory(
            agent("x", **results({"source_call_id": "x", "content": "1"})),
            agent("x", **results({"source_call_id": "x", "content": "2"})),
        )

        first, second = read_one(twice).turns

        assert ["x", "x#2"] == [
            one.tool_call_id for found in (first, second) for one in found.tool_calls or ()
        ]
        assert {"results": [{"source_call_id": "x", "content": "1"}]} == first.observation
        assert {"results": [{"source_call_id": "x#2", "content": "2"}]} == second.observation
        assert {} == read_one(trajectory(user(observation={}))).turns[0].observation
        assert [1, 2] == [
            one.turn_id
            for one in read_one(
                trajectory({**user(), "step_id": 1}, {**user(), "step_id": 1})
            ).turns
        ]
        (unnamed,) = read_one(trajectory(agent(tool_calls=[call(name="")]))).turns
        assert ["unknown"] == [one.function_name for one in unnamed.tool_calls or ()]
        assert read_one(trajectory(user(), agent={"name": "a"})).agent.version is None

    @pytest.mark.parametrize(
        ("source", "rule", "pointer"),
        [
            ({**V, "session_id": "s", "steps": [HELLO]}, "atif.agent", "/agent"),
            ({**V, "session_id": "s", **A}, "atif.steps", "/steps"),
            (trajectory(schema_version="ATIF-v2.0"), "atif.version", "/schema_version"),
            (trajectory(schema_version=""), "atif.version", "/schema_version"),
            ({**ROOT, "steps": [HELLO, 5]}, "atif.steps", "/steps/1"),
        ],
    )
    def test_20(self, source: Json, rule: str, pointer: str) -> None:
        """Without an agent or steps, or in another version, nothing is read."""
        fatal = [one for one in document(source).problems if one.severity == "fatal"]

        assert [(rule, pointer)] == [(one.rule, one.pointer) for one in fatal]


class TestReport:
    def test_1(self) -> None:
        """A gap in the step ids is told as such."""
        source = trajectory(user(), agent("c1"), {**user(), "step_id": 4})

        assert [
            Problem(
                "error",
                "atif.step-sequence",
                "/steps/2/step_id",
                "expected 3, found 4",
                expected="3",
                found="4",
            )
        ] == document(source).problems

    def test_2(self) -> None:
        """With strict reading the same is fatal."""
        source = trajectory(user(), {**user(), "step_id": 4})

        (problem,) = hub.validate(hub.Source.of(source), format="atif", strict=True).problems

        assert ("fatal", "atif.step-sequence") == (problem.severity, problem.rule)

    def test_3(self) -> None:
        """A result without a call is told with the calls that there are."""
        source = trajectory(user(), agent("c1", **results({"source_call_id": "gone"})))

        (problem,) = document(source).problems

        assert "/steps/1/observation/results/0/source_call_id" == problem.pointer
        assert 'expected one of "c1", found "gone"' == problem.message

    def test_4_and_5(self) -> None:
        """A newer minor version is a warning, another major one is not read."""
        (newer,) = document(trajectory(user(), schema_version="ATIF-v1.9")).problems
        (other,) = document(trajectory(user(), schema_version="ATIF-v2.0")).problems

        assert ("warning", "atif.version-newer") == (newer.severity, newer.rule)
        assert 'unsupported version "ATIF-v2.0", supported: ATIF-v1.x' == other.message
        with pytest.raises(hub.UnsupportedVersion):
            list(hub.read(hub.Source.of(trajectory(schema_version="ATIF-v2.0")), format="atif"))


class TestResiduals:
    """Those of the examples on residuals that are about ATIF."""

    SOURCE: ClassVar[Json] = {
        **V,
        "trajectory_id": "T",
        "agent": {"name": "a", "version": "1", "va": True},
        "steps": [{**HELLO, "vs": [1, {"n": None}], "vn": None, "0": "z"}],
        "vendor/root": {"til~de": 7},
    }

    def test_1(self) -> None:
        """Residuals have their pointers, the id of the document, and counts."""
        found = read_one(self.SOURCE)

        assert {
            "/agent/va": True,
            "/steps/0/0": "z",
            "/steps/0/vn": None,
            "/steps/0/vs": [1, {"n": None}],
            "/vendor~1root": {"til~de": 7},
        } == fields(found)
        expected = "67d4780222f398f21e9ce4ca1ffe7f767a6f5f19662f173cc4def034e3aaaf03"
        assert expected == found.unknown_fields["atif"].source_document_id
        places = ("/agent/va", "/steps/*/0", "/steps/*/vn", "/steps/*/vs", "/vendor~1root")
        assert {"atif": dict.fromkeys(places, 1)} == to_wire(found)["unknown_key_counts"]

    def test_3(self) -> None:
        """They are back in place."""
        assert {**self.SOURCE, "session_id": "T"} == back(self.SOURCE)

    def test_19(self) -> None:
        """Ids 1, 1 come back; conformed they are 1, 2, and the residual has no place."""
        source = trajectory({**user(), "step_id": 1}, {**user(), "step_id": 1})
        options = WriteOptions(options=CONFORM)

        (written,) = write(*(read_one(source),), options=options)

        assert [1, 2] == [one["step_id"] for one in written["steps"]]
        assert [{"/steps/1/step_id": 1}] == list(options.unplaced_residuals.values())

    def test_20(self) -> None:
        """A date alone is no time, and comes back."""
        source = trajectory(user(timestamp="2026-01-01"))

        assert {"/steps/0/timestamp": "2026-01-01"} == fields(read_one(source))
        assert source == back(source)
