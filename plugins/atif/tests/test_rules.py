"""Rules: what is reported of which document, where, and what is kept of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from hub_atif import plugin
from hub_atif.model import AUDIO_TYPES, IMAGE_TYPES

import hub
from hub import Parent, Problem, WriteOptions

from .builders import (
    HELLO,
    ROOT,
    A,
    V,
    agent,
    back,
    call,
    child,
    document,
    fields,
    problems,
    read,
    read_one,
    results,
    storyline,
    trajectory,
    user,
    write,
)

Json = Any


def only(value: Json) -> Problem:
    """Return the one problem of *value*."""
    (found,) = document(value).problems
    return found


def without(value: Json, *keys: str) -> Json:
    return {key: member for key, member in value.items() if key not in keys}


class TestCatalogue:
    def test_ids(self) -> None:
        """Every rule of the catalogue is declared, with its severity; those of writing among them."""
        fatal = {"object", "version", "agent", "steps"}
        info = {"subagent-ref-target"}
        warning = {
            "version-missing",
            "version-newer",
            "no-identity",
            "trajectory-id-empty",
            "agent-name",
            "agent-version",
            "call-id",
            "call-id-unique",
            "function-name",
            "time",
            "child-missing",
            "family",
        }
        error = {
            "steps-empty",
            "required",
            "type",
            "value",
            "unknown-key",
            "child-id",
            "child-id-unique",
            "step-sequence",
            "source",
            "agent-only",
            "no-llm",
            "llm-count",
            "content-part",
            "result-call",
            "subagent-ref",
            "time-invalid",
        }
        expected = {
            **dict.fromkeys(fatal, "fatal"),
            **dict.fromkeys(error, "error"),
            **dict.fromkeys(warning, "warning"),
            **dict.fromkeys(info, "info"),
        }
        assert expected == {
            rule.rule.removeprefix("atif."): rule.severity for rule in plugin.rules()
        }

    def test_nothing_wrong(self) -> None:
        """A sound document has no problem."""
        assert [] == problems(trajectory(user(), agent("c", **results({"source_call_id": "c"}))))


class TestFatal:
    @pytest.mark.parametrize("value", [5, [], "x", None])
    def test_object(self, value: Json) -> None:
        """A trajectory is an object, nested or not."""
        assert [("fatal", "object", "")] == problems(value)
        source = trajectory(user(), subagent_trajectories=[value])
        assert [("fatal", "object", "/subagent_trajectories/0")] == problems(source)

    @pytest.mark.parametrize(
        "version",
        ["", "ATIF-v2.0", "ATIF-v1", "ATIF-v1.", "ATIF-v1.07", "atif-v1.7", 1.7, None, []],
    )
    def test_version(self, version: Json) -> None:
        """Another version, or what is no version, is not read."""
        source = trajectory(user(), schema_version=version)
        assert [("fatal", "version", "/schema_version")] == problems(source)

    @pytest.mark.parametrize("value", [None, [], "a"])
    def test_agent(self, value: Json) -> None:
        """The agent is an object."""
        assert [("fatal", "agent", "/agent")] == problems(trajectory(user(), agent=value))

    @pytest.mark.parametrize("value", [None, {}, "a"])
    def test_steps(self, value: Json) -> None:
        """The steps are an array."""
        assert [("fatal", "steps", "/steps")] == problems({**ROOT, "steps": value})

    def test_every_problem_is_told(self) -> None:
        """A fatal problem hides no other one."""
        source = {
            "steps": [5, HELLO, None],
            "x": 1,
            "subagent_trajectories": [{**V, "steps": [HELLO]}],
        }
        assert [
            ("warning", "no-identity", ""),
            ("fatal", "agent", "/agent"),
            ("warning", "version-missing", "/schema_version"),
            ("fatal", "steps", "/steps/0"),
            ("fatal", "steps", "/steps/2"),
            ("fatal", "agent", "/subagent_trajectories/0/agent"),
            ("error", "child-id", "/subagent_trajectories/0/trajectory_id"),
            ("error", "unknown-key", "/x"),
        ] == problems(source)

    def test_nothing_comes_of_it(self) -> None:
        """Nothing is converted then."""
        with pytest.raises(hub.InvalidDocument):
            list(hub.read(hub.Source.of({**V, "steps": []}), format="atif"))


class TestVersions:
    @pytest.mark.parametrize("minor", range(9))
    def test_known(self, minor: int) -> None:
        """Versions 1.0 to 1.8 are read, and come back."""
        source = trajectory(user(), schema_version=f"ATIF-v1.{minor}")
        assert [] == problems(source)
        assert source == back(source)

    @pytest.mark.parametrize("minor", [9, 10, 1000])
    def test_newer(self, minor: int) -> None:
        """Newer minor versions are read with a warning, and come back."""
        source = trajectory(user(), schema_version=f"ATIF-v1.{minor}")
        assert [("warning", "version-newer", "/schema_version")] == problems(source)
        assert source == back(source)
        assert "ATIF-v1.7" == back(source, conform="yes")["schema_version"]

    def test_missing(self) -> None:
        """Without a version there is none in the Storyline, and none afterwards."""
        source = without(trajectory(user()), "schema_version")
        assert [("warning", "version-missing", "/schema_version")] == problems(source)
        origin = read_one(source).origin
        assert origin is not None
        assert origin.schema_version is None
        assert source == back(source)


class TestShapes:
    @pytest.mark.parametrize(
        ("members", "rule", "pointer", "residuals"),
        [
            ({"notes": 5}, "type", "/notes", {"/notes": 5}),
            ({"session_id": 5}, "type", "/session_id", {"/session_id": 5}),
            ({"trajectory_id": ["t"]}, "type", "/trajectory_id", {"/trajectory_id": ["t"]}),
            (
                {"continued_trajectory_ref": {}},
                "type",
                "/continued_trajectory_ref",
                {"/continued_trajectory_ref": {}},
            ),
            (
                {"subagent_trajectories": {"0": {}}},
                "type",
                "/subagent_trajectories",
                {"/subagent_trajectories": {"0": {}}},
            ),
            ({"final_metrics": 5}, "value", "/final_metrics", {}),
            ({"final_metrics": {"x": 5}}, "value", "/final_metrics/x", {}),
            ({"final_metrics": {"total_steps": -1}}, "value", "/final_metrics/total_steps", {}),
            ({"final_metrics": {"total_steps": 1.0}}, "value", "/final_metrics/total_steps", {}),
            ({"extra": [1]}, "value", "/extra", {}),
            ({"x/y": None}, "unknown-key", "/x~1y", {"/x~1y": None}),
            ({"steps": []}, "steps-empty", "/steps", {}),
            (
                {"agent": {"name": "a", "version": 2}},
                "type",
                "/agent/version",
                {"/agent/version": 2},
            ),
            ({"agent": {"version": "2"}}, "required", "/agent/name", {}),
            (
                {"agent": {**A["agent"], "model_name": []}},
                "type",
                "/agent/model_name",
                {"/agent/model_name": []},
            ),
            (
                {"agent": {**A["agent"], "tool_definitions": {}}},
                "value",
                "/agent/tool_definitions",
                {},
            ),
            (
                {"agent": {**A["agent"], "tool_definitions": [1]}},
                "value",
                "/agent/tool_definitions",
                {},
            ),
            ({"agent": {**A["agent"], "extra": "x"}}, "value", "/agent/extra", {}),
            ({"agent": {**A["agent"], "x": 1}}, "unknown-key", "/agent/x", {"/agent/x": 1}),
        ],
    )
    def test_trajectory_and_agent(
        self, members: Json, rule: str, pointer: str, residuals: Json
    ) -> None:
        """A typed member of another type is set aside, an opaque one is kept; both come back."""
        source = {**trajectory(user()), **members}
        if "session_id" in members:
            source["trajectory_id"] = "t"
        assert [("error", rule, pointer)] == problems(source)
        assert residuals == fields(read_one(source))
        assert source == back(source)

    @pytest.mark.parametrize(
        ("members", "rule", "key", "residual"),
        [
            ({"source": 5}, "type", "source", True),
            ({"source": ""}, "source", "source", True),
            ({"source": "robot"}, "source", "source", False),
            ({"message": 5}, "value", "message", False),
            ({"message": None}, "value", "message", False),
            ({"message": {"a": 1}}, "value", "message", False),
            ({"timestamp": 5}, "type", "timestamp", True),
            ({"model_name": 5}, "type", "model_name", True),
            ({"reasoning_content": ["r"]}, "type", "reasoning_content", True),
            ({"reasoning_effort": True}, "value", "reasoning_effort", False),
            ({"reasoning_effort": {}}, "value", "reasoning_effort", False),
            ({"tool_calls": {}}, "type", "tool_calls", True),
            ({"observation": "x"}, "type", "observation", True),
            ({"metrics": 5}, "value", "metrics", False),
            ({"extra": "x"}, "value", "extra", False),
            ({"llm_call_count": 1.0}, "type", "llm_call_count", True),
            ({"llm_call_count": True}, "type", "llm_call_count", True),
            ({"llm_call_count": 2**63}, "type", "llm_call_count", True),
            ({"llm_call_count": -1}, "llm-count", "llm_call_count", False),
            ({"is_copied_context": 0}, "type", "is_copied_context", True),
            ({"vendor": None}, "unknown-key", "vendor", True),
        ],
    )
    def test_step(self, members: Json, rule: str, key: str, residual: bool) -> None:  # noqa: FBT001  # a column
        """The same of the members of a step."""
        source = trajectory({**agent(), **members})
        at = f"/steps/0/{key}"
        assert [("error", rule, at)] == problems(source)
        assert ({at: members[key]} if residual else {}) == fields(read_one(source))
        assert source == back(source)

    @pytest.mark.parametrize(
        ("made", "rule", "key", "residual"),
        [
            (call(5), "type", "tool_call_id", True),
            (call(name=5), "type", "function_name", True),
            (call(arguments=[]), "value", "arguments", False),
            (call(extra=[]), "value", "extra", False),
            (call(kind=1), "unknown-key", "kind", True),
            (call(result="r"), "unknown-key", "result", False),
        ],
    )
    def test_call(self, made: Json, rule: str, key: str, residual: bool) -> None:  # noqa: FBT001  # a column
        """The same of the members of a call; a result in a call is read, though Harbor does not know it."""
        source = trajectory(agent(tool_calls=[made]))
        at = f"/steps/0/tool_calls/0/{key}"
        assert [("error", rule, at)] == problems(source)
        assert ({at: made[key]} if residual else {}) == fields(read_one(source))
        assert source == back(source)

    def test_strange_call(self) -> None:
        """Calls of which one is no object are set aside together."""
        source = trajectory(agent(tool_calls=[call(), "x"]))
        assert [("error", "type", "/steps/0/tool_calls/1")] == problems(source)
        assert {"/steps/0/tool_calls": [call(), "x"]} == fields(read_one(source))
        assert None is read_one(source).turns[0].tool_calls
        assert source == back(source)

    def test_missing_in_step_and_call(self) -> None:
        """What is missing is told, and written with what stands for it."""
        source = {
            **ROOT,
            "steps": [{"source": "agent", "tool_calls": [{}]}, {"step_id": 7, "message": "m"}],
        }
        assert [
            ("error", "required", "/steps/0/message"),
            ("error", "required", "/steps/0/step_id"),
            ("error", "required", "/steps/0/tool_calls/0/arguments"),
            ("error", "required", "/steps/0/tool_calls/0/function_name"),
            ("error", "required", "/steps/0/tool_calls/0/tool_call_id"),
            ("error", "required", "/steps/1/source"),
            ("error", "step-sequence", "/steps/1/step_id"),
        ] == problems(source)
        made = {"tool_call_id": "call-1-0", "function_name": "unknown", "arguments": None}
        assert [
            {"step_id": 1, "source": "agent", "message": None, "tool_calls": [made]},
            {"step_id": 7, "source": "unknown", "message": "m"},
        ] == back(source)["steps"]

    def test_observation(self) -> None:
        """An observation has results; anything else in it is set aside."""
        source = trajectory(user(observation={"results": {}, "took": 3}))
        assert [
            ("error", "type", "/steps/0/observation/results"),
            ("error", "unknown-key", "/steps/0/observation/took"),
        ] == problems(source)
        assert {} == read_one(source).turns[0].observation
        assert source == back(source)

    @pytest.mark.parametrize(
        ("metrics", "key"),
        [
            ({"prompt_tokens": "1"}, "prompt_tokens"),
            ({"prompt_tokens": 1.0}, "prompt_tokens"),
            ({"completion_tokens": True}, "completion_tokens"),
            ({"cached_tokens": []}, "cached_tokens"),
            ({"cost_usd": "1"}, "cost_usd"),
            ({"prompt_token_ids": [1, 2.0]}, "prompt_token_ids"),
            ({"completion_token_ids": 5}, "completion_token_ids"),
            ({"logprobs": [0.5, None]}, "logprobs"),
            ({"extra": 5}, "extra"),
            ({"reward": 1}, "reward"),
        ],
    )
    def test_metrics(self, metrics: Json, key: str) -> None:
        """Metrics that Harbor does not know are told and kept."""
        source = trajectory(agent(metrics=metrics))
        assert [("error", "value", f"/steps/0/metrics/{key}")] == problems(source)
        assert {} == fields(read_one(source))
        assert source == back(source)

    @pytest.mark.parametrize(
        "metrics",
        [
            {},
            {"prompt_tokens": None, "cost_usd": 1, "logprobs": [0, -0.5], "extra": {"x": 1}},
            {"prompt_token_ids": [], "completion_token_ids": [2**70], "cost_usd": None},
        ],
    )
    def test_sound_metrics(self, metrics: Json) -> None:
        """Metrics as Harbor has them are sound."""
        assert [] == problems(trajectory(agent(metrics=metrics)))


class TestIdentity:
    def test_no_identity(self) -> None:
        """Only a root without both ids is told of."""
        nested = child(user(), trajectory_id="c")
        source = without(trajectory(user(), subagent_trajectories=[nested]), "session_id")
        assert [("warning", "no-identity", "")] == problems(source)
        assert [] == problems({**source, "trajectory_id": "t"})

    def test_child_id(self) -> None:
        """A nested trajectory needs an id; without one it is named after its place."""
        source = trajectory(
            user(), subagent_trajectories=[child(user()), child(user(), trajectory_id=None)]
        )
        assert [
            ("error", "child-id", "/subagent_trajectories/0/trajectory_id"),
            ("error", "child-id", "/subagent_trajectories/1/trajectory_id"),
        ] == problems(source)
        assert [None, "s/0", "s/1"] == [one.trajectory_id for one in read(source)]
        assert ["s/0", "s/1"] == [
            one["trajectory_id"] for one in back(source)["subagent_trajectories"]
        ]

    def test_empty_ids(self) -> None:
        """An empty id is none, and comes back; two of them are no siblings for Harbor."""
        nested = child(user(), trajectory_id="", session_id="s")
        source = trajectory(user(), trajectory_id="", subagent_trajectories=[nested, nested])
        at = "/subagent_trajectories"
        assert [
            ("warning", "trajectory-id-empty", f"{at}/0/trajectory_id"),
            ("error", "child-id-unique", f"{at}/1/trajectory_id"),
            ("warning", "trajectory-id-empty", f"{at}/1/trajectory_id"),
            ("warning", "trajectory-id-empty", "/trajectory_id"),
        ] == problems(source)
        assert [None, "s/0", "s/1"] == [one.trajectory_id for one in read(source)]
        assert source == back(source)

    def test_unique(self) -> None:
        """An id that is taken is numbered: an error among siblings, else a warning."""
        inner = child(user(), trajectory_id="x", session_id="s")
        other = child(user(), trajectory_id="x", session_id="s", subagent_trajectories=[inner])
        source = trajectory(user(), trajectory_id="x", subagent_trajectories=[inner, other])
        at = "/subagent_trajectories"
        assert [
            ("warning", "child-id-unique", f"{at}/0/trajectory_id"),
            ("warning", "child-id-unique", f"{at}/1/subagent_trajectories/0/trajectory_id"),
            ("error", "child-id-unique", f"{at}/1/trajectory_id"),
        ] == problems(source)
        found = read(source)
        assert ["x", "x#2", "x#3", "x#4"] == [one.trajectory_id for one in found]
        assert [["x#2", "x#3"], None, ["x#4"], None] == [one.child_ids for one in found]
        assert [None, Parent(session_id="x"), Parent(session_id="x"), Parent(session_id="x#3")] == [
            one.parent for one in found
        ]
        assert source == back(source)

    def test_numbered_already(self) -> None:
        """A number that is taken is passed over."""
        ids = ["x#2", "x", "x"]
        nested = [child(user(), trajectory_id=name, session_id="s") for name in ids]
        source = trajectory(user(), subagent_trajectories=nested)
        assert [None, "x#2", "x", "x#3"] == [one.trajectory_id for one in read(source)]
        assert source == back(source)

    @pytest.mark.parametrize("key", ["name", "version"])
    def test_empty_agent(self, key: str) -> None:
        """An agent without a name, or a version, is told of, and kept."""
        source = trajectory(user(), agent={**A["agent"], key: ""})
        assert [("warning", f"agent-{key}", f"/agent/{key}")] == problems(source)
        assert ("unknown" if key == "name" else "a") == read_one(source).agent.agent_id
        assert source == back(source)


class TestSteps:
    @pytest.mark.parametrize("ids", [[1, 2, 4], [2, 1], [0, 1], [-1, 2]])
    def test_sequence(self, ids: list[int]) -> None:
        """Ids are positions; others that differ are the ids of the turns."""
        source = trajectory(*({**user(), "step_id": one} for one in ids))
        expected = [
            ("error", "step-sequence", f"/steps/{index}/step_id")
            for index, one in enumerate(ids)
            if one != index + 1
        ]
        assert expected == problems(source)
        assert ids == [turn.turn_id for turn in read_one(source).turns]
        assert source == back(source)

    def test_one_of_many(self) -> None:
        """In a long trajectory the one step is named."""
        steps = [{"step_id": number, **user()} for number in range(1, 301)]
        steps[200] = {**steps[200], "step_id": 7, "vendor": 1}
        assert [
            ("error", "step-sequence", "/steps/200/step_id"),
            ("error", "unknown-key", "/steps/200/vendor"),
        ] == problems({**ROOT, "steps": steps})

    @pytest.mark.parametrize("source", ["system", "user", "robot"])
    def test_agent_only(self, source: str) -> None:
        """What only agents have is told of on other steps, empty lists among it."""
        members = {
            "model_name": "m",
            "reasoning_effort": 1,
            "reasoning_content": "",
            "tool_calls": [],
            "metrics": {},
        }
        value = trajectory({"source": source, "message": "", **members})
        found = [one for one in problems(value) if one[1] == "agent-only"]
        assert sorted(("error", "agent-only", f"/steps/0/{key}") for key in members) == found
        assert value == back(value)

    def test_agent_only_null(self) -> None:
        """Null is nothing."""
        assert [] == problems(trajectory(user(metrics=None, tool_calls=None, llm_call_count=0)))

    def test_no_llm(self) -> None:
        """Without a model call there are no metrics and no reasoning."""
        source = trajectory(agent(llm_call_count=0, metrics={}, reasoning_content=""))
        assert [
            ("error", "no-llm", "/steps/0/metrics"),
            ("error", "no-llm", "/steps/0/reasoning_content"),
        ] == problems(source)
        assert [] == problems(trajectory(agent(llm_call_count=0, metrics=None)))
        assert 'expected nothing, since llm_call_count is 0, found ""' in str(
            document(source).problems
        )


class TestContent:
    IMAGE: ClassVar[Json] = {"media_type": "image/png", "path": "p"}
    AUDIO: ClassVar[Json] = {"media_type": "audio/wav", "path": "p", "duration_sec": 1}

    @pytest.mark.parametrize(
        "part",
        [
            {"type": "text", "text": ""},
            {"type": "text", "text": "x", "source": None},
            *({"type": "image", "source": {"media_type": one, "path": ""}} for one in IMAGE_TYPES),
            *({"type": "audio", "source": {"media_type": one, "path": ""}} for one in AUDIO_TYPES),
            {"type": "audio", "source": {**AUDIO, "media_type": " Audio/MP3"}},
            {"type": "audio", "source": {**AUDIO, "duration_sec": None}, "text": None},
            {"type": "audio", "source": {**AUDIO, "duration_sec": 0}},
        ],
    )
    def test_sound(self, part: Json) -> None:
        """Parts as Harbor has them are sound, in messages and in results."""
        assert [] == problems(trajectory(user([part]), user(**results({"content": [part]}))))

    @pytest.mark.parametrize(
        "part",
        [
            "x",
            None,
            {},
            {"type": "text"},
            {"type": "text", "text": 5},
            {"type": "text", "text": "x", "source": IMAGE},
            {"type": "text", "text": "x", "alt": ""},
            {"type": ["text"], "text": "x"},
            {"type": "image"},
            {"type": "image", "source": AUDIO},
            {"type": "image", "source": {**IMAGE, "media_type": "image/bmp"}},
            {"type": "image", "source": {**IMAGE, "x": 1}},
            {"type": "image", "source": {"path": "p"}},
            {"type": "image", "source": IMAGE, "text": ""},
            {"type": "audio", "source": IMAGE},
            {"type": "audio", "source": {**AUDIO, "duration_sec": -1}},
            {"type": "audio", "source": {**AUDIO, "media_type": 5}},
            {"type": "video", "source": IMAGE},
        ],
    )
    def test_not_sound(self, part: Json) -> None:
        """Any other part is told of, and kept."""
        good = {"type": "text", "text": "x"}
        source = trajectory(user([good, part]), user(**results({"content": [part]})))
        assert [
            ("error", "content-part", "/steps/0/message/1"),
            ("error", "content-part", "/steps/1/observation/results/0/content/0"),
        ] == problems(source)
        assert source == back(source)

    @pytest.mark.parametrize(
        ("part", "found"),
        [
            ({"type": "video"}, 'an object of the type "video"'),
            ({"text": "x"}, "an object without a type"),
            (5, "5"),
        ],
    )
    def test_message(self, part: Json, found: str) -> None:
        """The message names the type of the part."""
        (problem,) = document(trajectory(user([part]))).problems
        assert f"expected a text, an image or an audio part, found {found}" == problem.message


class TestCalls:
    def test_ids(self) -> None:
        """Empty ids are told of, and get one from their place; so do missing ones."""
        source = trajectory(
            agent(tool_calls=[call(""), call("x"), call("")]), agent(tool_calls=[call("")])
        )
        assert [
            ("warning", "call-id", "/steps/0/tool_calls/0/tool_call_id"),
            ("warning", "call-id", "/steps/0/tool_calls/2/tool_call_id"),
            ("warning", "call-id", "/steps/1/tool_calls/0/tool_call_id"),
        ] == problems(source)
        assert ["call-1-0", "x", "call-1-2", "call-2-0"] == [
            one.tool_call_id for turn in read_one(source).turns for one in turn.tool_calls or ()
        ]
        assert source == back(source)

    def test_results_follow(self) -> None:
        """Results of a step answer its calls in order, later ones those of the nearest step."""
        same = {"source_call_id": "x"}
        source = trajectory(
            agent("x", "x", **results(same, same, same)), agent("x"), user(**results(same))
        )
        turns = read_one(source).turns
        named = [
            result["source_call_id"]
            for turn in turns
            for result in (turn.observation or {"results": ()})["results"]
        ]
        assert ["x", "x#2", "x", "x#3"] == named
        assert source == back(source)

    def test_made_up_ids_name_nothing(self) -> None:
        """No id that is made up is what a result says that names no call."""
        source = trajectory(
            agent("x", "x", tool_calls=[call("x"), call("x"), call("")]),
            user(**results({"source_call_id": "x#2"}, {"source_call_id": "call-1-2"})),
        )
        assert ["x", "x#3", "call-1-2#2"] == [
            one.tool_call_id for one in read_one(source).turns[0].tool_calls or ()
        ]
        assert source == back(source)

    @pytest.mark.parametrize(
        ("result", "rule", "place"),
        [
            ("x", "value", ""),
            ({"x": 1}, "value", "/x"),
            ({"source_call_id": 5}, "value", "/source_call_id"),
            ({"source_call_id": "gone"}, "result-call", "/source_call_id"),
            ({"source_call_id": ""}, "result-call", "/source_call_id"),
            ({"content": {}}, "value", "/content"),
            ({"extra": 5}, "value", "/extra"),
            ({"subagent_trajectory_ref": {}}, "value", "/subagent_trajectory_ref"),
            ({"subagent_trajectory_ref": [5]}, "value", "/subagent_trajectory_ref/0"),
            ({"subagent_trajectory_ref": [{}]}, "subagent-ref", "/subagent_trajectory_ref/0"),
            (
                {"subagent_trajectory_ref": [{"session_id": "s"}]},
                "subagent-ref",
                "/subagent_trajectory_ref/0",
            ),
            (
                {"subagent_trajectory_ref": [{"trajectory_path": "p", "x": 1}]},
                "value",
                "/subagent_trajectory_ref/0/x",
            ),
            (
                {"subagent_trajectory_ref": [{"trajectory_path": 5}]},
                "value",
                "/subagent_trajectory_ref/0/trajectory_path",
            ),
        ],
    )
    def test_results(self, result: Json, rule: str, place: str) -> None:
        """Results that Harbor does not know are told of, and kept."""
        source = trajectory(agent("c", **results({"source_call_id": "c"}, result)))
        at = f"/steps/0/observation/results/1{place}"
        assert [("error", rule, at)] == problems(source)
        assert source == back(source)

    @pytest.mark.parametrize(
        "result", [{}, {"source_call_id": None, "content": None, "extra": None}]
    )
    def test_sound_results(self, result: Json) -> None:
        """A result may say nothing."""
        assert [] == problems(trajectory(user(**results(result))))

    def test_no_calls(self) -> None:
        """Where a step has no call, no reference is right."""
        source = trajectory(user(**results({"source_call_id": "c"})))
        expected = 'expected no reference, since the step has no call, found "c"'
        assert expected == only(source).message

    def test_many_calls(self) -> None:
        """Of many calls the first few are listed."""
        ids = [f"c{number}" for number in range(10)]
        source = trajectory(agent(*ids, **results({"source_call_id": "x"})))
        listed = ", ".join(f'"{one}"' for one in ids[:8])
        assert f'expected one of {listed}, …, found "x"' == only(source).message

    @pytest.mark.parametrize("number", [1, 8, 9, 2000])
    def test_all_answered(self, number: int) -> None:
        """However many calls a step has, their results name them."""
        ids = [f"c{index}" for index in range(number)]
        answers = [{"source_call_id": one} for one in reversed(ids)]
        assert [] == problems(trajectory(agent(*ids, **results(*answers, {"content": "x"}))))
        lost = agent(*ids, **results(*answers, {"source_call_id": "gone"}))
        at = f"/steps/0/observation/results/{number}/source_call_id"
        assert [("error", "result-call", at)] == problems(trajectory(lost))

    def test_reference_target(self) -> None:
        """A reference without a path names a trajectory of the tree."""
        found = [
            {"trajectory_id": "in"},
            {"trajectory_id": "out"},
            {"trajectory_id": "out", "trajectory_path": "p"},
        ]
        inner = child(user(), trajectory_id="in")
        outer = child(user(), trajectory_id="mid", subagent_trajectories=[inner])
        source = trajectory(
            user(**results({"subagent_trajectory_ref": found})), subagent_trajectories=[outer]
        )
        at = "/steps/0/observation/results/0/subagent_trajectory_ref/1"
        assert [("info", "subagent-ref-target", at)] == problems(source)


class TestTimes:
    @pytest.mark.parametrize(
        "time",
        [
            "2026-01-01T00:00:00Z",
            "2026-01-01 00:00:00.123456789+05:30",
            "2024-02-29T23:59:59-00:00",
            "1999-12-31t23:59:59Z",
        ],
    )
    def test_sound(self, time: str) -> None:
        """Times of both are sound."""
        assert [] == problems(trajectory(user(timestamp=time)))

    @pytest.mark.parametrize(
        "time", ["2026-01-01", "20260101T000000Z", "2026-01-01T00:00:00+0800", "2026-W01-1"]
    )
    def test_harbors_only(self, time: str) -> None:
        """Harbor reads more than a Storyline holds."""
        assert [("warning", "time", "/steps/0/timestamp")] == problems(
            trajectory(user(timestamp=time))
        )

    @pytest.mark.parametrize(
        ("time", "is_read"),
        [
            ("2026-01-01T00:00:00z", True),
            ("2026-06-30T23:59:60Z", True),
            ("yesterday", False),
            ("2026-02-30T00:00:00Z", False),
            ("", False),
            ("\ud800", False),
        ],
    )
    def test_invalid(self, time: str, is_read: bool) -> None:  # noqa: FBT001  # a column
        """What Harbor refuses is an error, and kept if it is a time."""
        source = trajectory(user(timestamp=time))
        assert [("error", "time-invalid", "/steps/0/timestamp")] == problems(source)
        assert (time if is_read else None) == read_one(source).turns[0].timestamp
        assert source == back(source)

    def test_assumed_zone(self, tmp_path: Path) -> None:
        """A zone that is assumed is added, and taken away again."""
        source = trajectory(user(timestamp="2026-01-01T00:00:00"))
        path = tmp_path / "x.atif.json"
        path.write_text(hub.compact(source), encoding="utf-8")
        (found,) = hub.read(path, assume_timezone="+02:00")
        assert "2026-01-01T00:00:00+02:00" == found.turns[0].timestamp
        assert {"/steps/0/timestamp": "2026-01-01T00:00:00"} == fields(found)
        assert [source] == write(found)


class TestWriting:
    def test_child_missing(self) -> None:
        """A child that is not there is told of."""
        options = WriteOptions()
        write(storyline(child_ids=["gone"]), options=options)
        ((_, problem),) = options.problems
        assert ("atif.child-missing", "/children/0", "s") == (
            problem.rule,
            problem.pointer,
            problem.document,
        )

    def test_family(self) -> None:
        """Storylines that are each other's children are told of."""
        options = WriteOptions()
        one, two = (
            storyline(session_id="1", child_ids=["2"]),
            storyline(session_id="2", child_ids=["1"]),
        )
        (root,) = write(one, two, options=options)
        assert ["2"] == [nested["session_id"] for nested in root["subagent_trajectories"]]
        assert ["atif.family", "atif.child-missing"] == sorted(
            (problem.rule for _, problem in options.problems), reverse=True
        )
