"""Every rule of ALE: when it is broken, where, how grave that is, and what is kept."""

from __future__ import annotations

from typing import Any

import pytest
from hub_ale import plugin
from hub_ale.rules import RULES

from hub import Problem, UsageError, WriteOptions

from .builders import (
    ROOT,
    agent,
    document,
    environment,
    fields,
    problems,
    read,
    read_one,
    storyline,
    trajectory,
    turn,
    write_one,
)

Json = Any

USER = {"source": "user", "message": "u"}


def without(key: str) -> dict[str, Json]:
    return {name: value for name, value in ROOT.items() if name != key}


def part_document(part: Json) -> Json:
    return trajectory({"source": "user", "message": [part]})


class TestCatalogue:
    def test_complete(self) -> None:
        """The format lists every rule that it reports, each once, under its own name."""
        assert {
            "ale.object": "fatal",
            "ale.bare-steps": "fatal",
            "ale.version": "fatal",
            "ale.version-missing": "error",
            "ale.episode-id": "fatal",
            "ale.agent": "fatal",
            "ale.steps": "fatal",
            "ale.required": "error",
            "ale.type": "error",
            "ale.number-form": "info",
            "ale.null": "error",
            "ale.unknown-key": "error",
            "ale.source": "error",
            "ale.status": "error",
            "ale.step-id": "error",
            "ale.step-unique": "error",
            "ale.step-sequence": "warning",
            "ale.time": "warning",
            "ale.time-form": "info",
            "ale.part": "error",
            "ale.inline-image": "warning",
            "ale.call-id-missing": "info",
            "ale.call-id-unique": "warning",
            "ale.empty-name": "warning",
            "ale.result-call": "info",
            "ale.step-shape": "info",
            "ale.totals": "info",
            "ale.episode-unique": "info",
            "ale.skeleton": "warning",
            "ale.status-word": "warning",
            "ale.child-missing": "warning",
            "ale.family": "warning",
        } == {rule.rule: rule.severity for rule in RULES}
        assert len(RULES) == len({rule.rule for rule in RULES})
        assert RULES == plugin.rules()


class TestFatal:
    @pytest.mark.parametrize("value", [5, "x", None, [], [trajectory()]])
    def test_object(self, value: Json) -> None:
        """A document that is no object is no trajectory."""
        assert [("fatal", "ale.object", "")] == problems(value)

    def test_bare_step(self) -> None:
        """A step that stands alone is refused as what it is."""
        (problem,) = document(
            {"schema_version": "ALE-v1.0", "step_id": 1, "source": "user", "message": "x"}
        ).problems

        assert (
            Problem(
                severity="fatal",
                rule="ale.bare-steps",
                pointer="",
                message="a step, not a trajectory",
                expected="a trajectory",
                found="an object",
            )
            == problem
        )

    @pytest.mark.parametrize("version", ["ALE-v2.0", "", "ATIF-v1.7", 1, None])
    def test_version(self, version: Json) -> None:
        """A version that is there must be the one that is known."""
        assert [("fatal", "ale.version", "/schema_version")] == problems(
            {**ROOT, "schema_version": version}
        )

    def test_version_message(self) -> None:
        """The message names the version, and those that are supported."""
        (problem,) = document({**ROOT, "schema_version": "ALE-v2.0"}).problems

        assert problem.message == 'unsupported version "ALE-v2.0", supported: ALE-v1.0'

    @pytest.mark.parametrize("value", [1, None, "", []])
    def test_episode_id(self, value: Json) -> None:
        """An episode needs an id."""
        assert [("fatal", "ale.episode-id", "/episode_id")] == problems(
            {**ROOT, "episode_id": value}
        )

    def test_episode_id_missing(self) -> None:
        """An id that is not there is reported where it would stand."""
        (problem,) = document(without("episode_id")).problems

        assert ("ale.episode-id", "/episode_id", "expected a non-empty string, found nothing") == (
            problem.rule,
            problem.pointer,
            problem.message,
        )

    @pytest.mark.parametrize("value", ["cc", None, []])
    def test_agent(self, value: Json) -> None:
        """The agent is an object."""
        assert [("fatal", "ale.agent", "/agent")] == problems({**ROOT, "agent": value})

    def test_agent_missing(self) -> None:
        """The agent must be there."""
        assert [("fatal", "ale.agent", "/agent")] == problems(without("agent"))

    @pytest.mark.parametrize("key", ["steps", "subagent_trajectories"])
    @pytest.mark.parametrize("value", [5, "x", {}])
    def test_steps(self, key: str, value: Json) -> None:
        """Steps and sub-agents are arrays."""
        assert [("fatal", "ale.steps", f"/{key}")] == problems({**ROOT, key: value})

    @pytest.mark.parametrize("key", ["steps", "subagent_trajectories"])
    def test_elements(self, key: str) -> None:
        """Their elements are objects; every one that is not is named."""
        assert [
            ("fatal", "ale.steps", f"/{key}/0"),
            ("fatal", "ale.steps", f"/{key}/1"),
        ] == problems({**ROOT, key: [5, None]})

    def test_does_not_hide_others(self) -> None:
        """A fatal problem does not hide the others, sub-agents included."""
        child = {**without("episode_id"), "foo": 1, "steps": [{**USER, "step_id": "1"}]}

        assert [
            ("fatal", "ale.version", "/schema_version"),
            ("fatal", "ale.episode-id", "/subagent_trajectories/0/episode_id"),
            ("error", "ale.unknown-key", "/subagent_trajectories/0/foo"),
            ("error", "ale.type", "/subagent_trajectories/0/steps/0/step_id"),
        ] == problems({**ROOT, "schema_version": "x", "subagent_trajectories": [child]})


class TestMissing:
    def test_version(self) -> None:
        """Without a version the trajectory is read, and its origin has none."""
        source = without("schema_version")

        assert [("error", "ale.version-missing", "/schema_version")] == problems(source)
        origin = read_one(source).origin
        assert origin is not None
        assert origin.schema_version is None

    @pytest.mark.parametrize("key", ["task_path", "variant_index"])
    def test_root(self, key: str) -> None:
        """A required member that is missing is reported where it would stand, and stays unset."""
        assert [("error", "ale.required", f"/{key}")] == problems(without(key))
        assert {} == fields(read_one(without(key)))

    def test_agent_name(self) -> None:
        """An agent without a name has the placeholder for an id, and no name."""
        source = {**ROOT, "agent": {}}

        assert [("error", "ale.required", "/agent/name")] == problems(source)
        found = read_one(source).agent
        assert ("unknown", None) == (found.agent_id, found.name)

    def test_step(self) -> None:
        """A step without id and source is numbered, and its speaker is the placeholder."""
        source = {**ROOT, "steps": [{"message": "x"}]}

        assert [
            ("error", "ale.required", "/steps/0/source"),
            ("error", "ale.required", "/steps/0/step_id"),
        ] == problems(source)
        (found,) = read_one(source).turns
        assert (1, "unknown") == (found.turn_id, found.source)
        assert {} == fields(read_one(source))

    def test_call_result_and_part(self) -> None:
        """So are a call's name, a result's call and a part's type; what is there is kept."""
        source = trajectory(
            {"source": "agent", "tool_calls": [{"id": "c"}]},
            {"source": "environment", "observation": {"results": [{"content": [{"text": "t"}]}]}},
        )

        assert [
            ("error", "ale.required", "/steps/0/tool_calls/0/name"),
            ("error", "ale.required", "/steps/1/observation/results/0/content/0/type"),
            ("error", "ale.required", "/steps/1/observation/results/0/tool_call_id"),
        ] == problems(source)
        (found,) = read_one(source).turns
        assert found.tool_calls is not None
        assert found.tool_calls[0].function_name == "unknown"
        assert {"results": [{"content": [{"text": "t"}]}]} == found.observation


WRONG: list[tuple[Json, str]] = [
    ({**ROOT, "task_path": 5}, "/task_path"),
    ({**ROOT, "variant_index": "0"}, "/variant_index"),
    ({**ROOT, "variant_index": 0.5}, "/variant_index"),
    ({**ROOT, "variant_index": True}, "/variant_index"),
    ({**ROOT, "variant_index": 2**63}, "/variant_index"),
    ({**ROOT, "instruction": ["x"]}, "/instruction"),
    ({**ROOT, "final_metrics": []}, "/final_metrics"),
    ({**ROOT, "final_metrics": {"reward": "1"}}, "/final_metrics/reward"),
    ({**ROOT, "final_metrics": {"total_steps": True}}, "/final_metrics/total_steps"),
    ({**ROOT, "final_metrics": {"total_cost_usd": 2**53 + 1}}, "/final_metrics/total_cost_usd"),
    ({**ROOT, "final_metrics": {"reward": 10**400}}, "/final_metrics/reward"),
    ({**ROOT, "started_at": 1767261600}, "/started_at"),
    ({**ROOT, "ended_at": 1767261600}, "/ended_at"),
    ({**ROOT, "continued_trajectory_ref": {}}, "/continued_trajectory_ref"),
    ({**ROOT, "extra": []}, "/extra"),
    ({**ROOT, "agent": {"name": "a", "version": 2}}, "/agent/version"),
    ({**ROOT, "agent": {"name": "a", "extra": "x"}}, "/agent/extra"),
    (trajectory({**USER, "step_id": "1"}), "/steps/0/step_id"),
    (trajectory({**USER, "timestamp": 5}), "/steps/0/timestamp"),
    (trajectory({**USER, "source": 5}), "/steps/0/source"),
    (trajectory({**USER, "message": {}}), "/steps/0/message"),
    (trajectory({**USER, "message": ["x"]}), "/steps/0/message/0"),
    (trajectory({**USER, "message": [{"type": "text", "text": 5}]}), "/steps/0/message/0/text"),
    (
        trajectory({**USER, "message": [{"type": "image", "image": "x"}]}),
        "/steps/0/message/0/image",
    ),
    (trajectory({**USER, "reasoning": 5}), "/steps/0/reasoning"),
    (trajectory({**USER, "tool_calls": {}}), "/steps/0/tool_calls"),
    (trajectory({**USER, "tool_calls": ["x"]}), "/steps/0/tool_calls/0"),
    (trajectory({**USER, "observation": []}), "/steps/0/observation"),
    (trajectory({**USER, "observation": {"error": 5}}), "/steps/0/observation/error"),
    (trajectory({**USER, "observation": {"results": [5]}}), "/steps/0/observation/results/0"),
    (trajectory({**USER, "metrics": []}), "/steps/0/metrics"),
    (trajectory({**USER, "metrics": {"input_tokens": 1.5}}), "/steps/0/metrics/input_tokens"),
    (trajectory({**USER, "metrics": {"cost_usd": "1"}}), "/steps/0/metrics/cost_usd"),
    (trajectory({**USER, "extra": [1]}), "/steps/0/extra"),
    (trajectory(agent(tool_calls=[{"id": "c", "name": 5}])), "/steps/0/tool_calls/0/name"),
    (trajectory(agent(tool_calls=[{"id": 5, "name": "f"}])), "/steps/0/tool_calls/0/id"),
    (
        trajectory(agent(tool_calls=[{"id": "c", "name": "f", "arguments": "{}"}])),
        "/steps/0/tool_calls/0/arguments",
    ),
    (
        trajectory(environment(observation={"results": [{"tool_call_id": "c", "content": "x"}]})),
        "/steps/0/observation/results/0/content",
    ),
    (
        trajectory(environment(observation={"results": [{"tool_call_id": "c", "is_error": 1}]})),
        "/steps/0/observation/results/0/is_error",
    ),
    (
        trajectory(environment(observation={"results": [{"tool_call_id": 1}]})),
        "/steps/0/observation/results/0/tool_call_id",
    ),
]
"""Documents with one value of the wrong type, and where it is."""

NULLS: list[tuple[Json, str]] = [
    ({**ROOT, "task_path": None}, "/task_path"),
    ({**ROOT, "variant_index": None}, "/variant_index"),
    ({**ROOT, "instruction": None}, "/instruction"),
    ({**ROOT, "steps": None}, "/steps"),
    ({**ROOT, "subagent_trajectories": None}, "/subagent_trajectories"),
    ({**ROOT, "started_at": None}, "/started_at"),
    ({**ROOT, "extra": None}, "/extra"),
    ({**ROOT, "agent": {"name": None}}, "/agent/name"),
    ({**ROOT, "agent": {"name": "a", "extra": None}}, "/agent/extra"),
    ({**ROOT, "final_metrics": {"total_steps": None}}, "/final_metrics/total_steps"),
    ({**ROOT, "final_metrics": {"status": None}}, "/final_metrics/status"),
    (trajectory({**USER, "step_id": None}), "/steps/0/step_id"),
    (trajectory({**USER, "timestamp": None}), "/steps/0/timestamp"),
    (trajectory({**USER, "source": None}), "/steps/0/source"),
    (trajectory({**USER, "tool_calls": None}), "/steps/0/tool_calls"),
    (trajectory({**USER, "observation": {"results": None}}), "/steps/0/observation/results"),
    (trajectory({**USER, "extra": None}), "/steps/0/extra"),
    (trajectory({**USER, "message": [{"type": None, "text": "x"}]}), "/steps/0/message/0/type"),
    (trajectory(agent(tool_calls=[{"id": None, "name": "f"}])), "/steps/0/tool_calls/0/id"),
    (
        trajectory(agent(tool_calls=[{"id": "c", "name": "f", "arguments": None}])),
        "/steps/0/tool_calls/0/arguments",
    ),
]
"""Documents with one `null` where the model has none, and where it is."""

UNKNOWN: list[tuple[Json, str]] = [
    (trajectory({**USER, "agent": None}), "/steps/0/agent"),
    ({**ROOT, "foo": 1}, "/foo"),
    ({**ROOT, "": {"a": [1]}}, "/"),
    ({**ROOT, "a/b~c": None}, "/a~1b~0c"),
    ({**ROOT, "agent": {"name": "a", "foo": 1}}, "/agent/foo"),
    ({**ROOT, "final_metrics": {"foo": 1}}, "/final_metrics/foo"),
    (trajectory({**USER, "foo": 1}), "/steps/0/foo"),
    (trajectory({**USER, "schema_version": "ALE-v1.0"}), "/steps/0/schema_version"),
    (trajectory({**USER, "metrics": {"foo": 1}}), "/steps/0/metrics/foo"),
    (
        trajectory({**USER, "message": [{"type": "text", "text": "t", "foo": 1}]}),
        "/steps/0/message/0/foo",
    ),
    (
        trajectory({**USER, "message": [{"type": "image", "image": {"path": "a.png", "foo": 1}}]}),
        "/steps/0/message/0/image/foo",
    ),
    (
        trajectory(agent(tool_calls=[{"id": "c", "name": "f", "foo": 1}])),
        "/steps/0/tool_calls/0/foo",
    ),
    (trajectory({**USER, "observation": {"foo": 1}}), "/steps/0/observation/foo"),
    (
        trajectory({**USER, "observation": {"results": [{"tool_call_id": "", "foo": 1}]}}),
        "/steps/0/observation/results/0/foo",
    ),
    (
        {**ROOT, "subagent_trajectories": [{**ROOT, "episode_id": "e2", "foo": 1}]},
        "/subagent_trajectories/0/foo",
    ),
]
"""Documents with one unknown key, and where it is."""


def at(value: Json, pointer: str) -> Json:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


class TestRefusedMembers:
    @pytest.mark.parametrize(
        ("rule", "source", "pointer"),
        [
            *(("ale.type", *case) for case in WRONG),
            *(("ale.null", *case) for case in NULLS),
            *(("ale.unknown-key", *case) for case in UNKNOWN),
        ],
    )
    def test_set_aside(self, rule: str, source: Json, pointer: str) -> None:
        """The value is an error at its place and a residual there; the rest is read, and goes out without it."""
        errors = [one for one in problems(source) if one[0] == "error"]
        storylines = read(source)
        kept = {key: value for storyline in storylines for key, value in fields(storyline).items()}
        options = WriteOptions()

        write_one(storylines[0], options) if len(storylines) == 1 else list(
            plugin.from_storyline(storylines, options)
        )

        assert [("error", rule, pointer)] == errors
        assert at(source, pointer) == kept[pointer]
        unplaced = {key for residuals in options.unplaced_residuals.values() for key in residuals}
        assert {pointer} == unplaced

    def test_message(self) -> None:
        """A message says what was expected and what was found."""
        (found,) = document({**ROOT, "instruction": 5}).problems
        (null,) = document({**ROOT, "extra": None}).problems
        (unknown,) = document({**ROOT, "foo": 1}).problems

        assert found.message == "expected a string, found 5"
        assert null.message == "expected an object, found null"
        assert unknown.message == "unknown key"

    def test_residual_is_of_its_trajectory(self) -> None:
        """A residual inside a sub-agent goes to the Storyline of that, with the pointer from the root."""
        child = {**ROOT, "episode_id": "e2", "foo": 1}

        root, nested = read({**ROOT, "bar": 2, "subagent_trajectories": [child]})

        assert {"/bar": 2} == fields(root)
        assert {"/subagent_trajectories/0/foo": 1} == fields(nested)
        assert nested.unknown_fields["ale"].source_document_id == "e1"

    def test_others_keep_their_place(self) -> None:
        """An element that is set aside leaves the indices of the others as they are."""
        source = trajectory(
            agent(tool_calls=[5, {"id": "", "name": "f"}]),
            environment(
                observation={
                    "results": [
                        None,
                        {"tool_call_id": "", "content": [1, {"type": "text", "text": "t"}]},
                    ]
                }
            ),
        )

        found = read_one(source)

        assert {
            "/steps/0/tool_calls/0": 5,
            "/steps/0/tool_calls/1/id": "",
            "/steps/1/observation/results/0": None,
            "/steps/1/observation/results/1/content/0": 1,
        } == fields(found)
        (only,) = found.turns
        assert only.tool_calls is not None
        assert ["call-1-1"] == [call.tool_call_id for call in only.tool_calls]
        assert {"results": [{"content": [{"type": "text", "text": "t"}]}]} == only.observation

    def test_no_calls_left(self) -> None:
        """A turn whose calls were all set aside has none."""
        (found,) = read_one(trajectory(agent(tool_calls=[5]))).turns

        assert (None, None) == (found.tool_calls, found.kind)


class TestNumberForm:
    @pytest.mark.parametrize(
        ("source", "pointer"),
        [
            ({**ROOT, "variant_index": 3.0}, "/variant_index"),
            ({**ROOT, "final_metrics": {"reward": 1}}, "/final_metrics/reward"),
            (trajectory({**USER, "step_id": 1.0}), "/steps/0/step_id"),
        ],
    )
    def test_noted(self, source: Json, pointer: str) -> None:
        """An integral float for an integer, and an integer for a float, are noted and kept nowhere else."""
        assert ("info", "ale.number-form", pointer) in problems(source)
        assert {} == fields(read_one(source))

    def test_normalised(self) -> None:
        """They are read as numbers of the model's form."""
        source = {
            **trajectory(agent(metrics={"input_tokens": 5.0, "cost_usd": 2})),
            "variant_index": 3.0,
            "final_metrics": {
                "total_steps": 1.0,
                "reward": 1,
                "total_cost_usd": 2,
                "total_input_tokens": 5,
            },
        }

        written = write_one(read_one(source))

        assert (3, int) == (written["variant_index"], type(written["variant_index"]))
        metrics, final = written["steps"][0]["metrics"], written["final_metrics"]
        assert [5, 2.0, 1, 1.0, 2.0] == [
            metrics["input_tokens"],
            metrics["cost_usd"],
            final["total_steps"],
            final["reward"],
            final["total_cost_usd"],
        ]
        assert [int, float, int, float, float] == [
            type(value)
            for value in (
                metrics["input_tokens"],
                metrics["cost_usd"],
                final["total_steps"],
                final["reward"],
                final["total_cost_usd"],
            )
        ]


class TestWords:
    def test_source(self) -> None:
        """A source outside the list is an error, and kept as the text that it is."""
        source = trajectory({"source": "tool", "message": "x"})

        (problem,) = document(source).problems

        assert ("error", "ale.source", "/steps/0/source") == (
            problem.severity,
            problem.rule,
            problem.pointer,
        )
        assert (
            problem.message
            == 'expected "system" or "user" or "agent" or "environment", found "tool"'
        )
        assert read_one(source).turns[0].source == "tool"

    def test_blank_source(self) -> None:
        """A blank source cannot be kept as the speaker: the placeholder stands in, and the text is a residual."""
        found = read_one(trajectory({"source": "", "message": "x"}))

        assert [("error", "ale.source", "/steps/0/source")] == problems(
            trajectory({"source": "", "message": "x"})
        )
        assert found.turns[0].source == "unknown"
        assert {"/steps/0/source": ""} == fields(found)

    def test_status(self) -> None:
        """A status outside the list is an error, and kept."""
        source = {**ROOT, "final_metrics": {"status": "cancelled"}}

        assert [("error", "ale.status", "/final_metrics/status")] == problems(source)
        found = read_one(source)
        assert found.task is not None
        assert found.task.result is not None
        assert ("cancelled", "cancelled") == (
            found.task.result.status,
            found.final_metrics["status"],
        )


class TestStepIds:
    def test_in_order(self) -> None:
        """Ids 1 to n say nothing."""
        assert [] == problems(trajectory(USER, USER, USER))

    def test_sequence(self) -> None:
        """Other ids that differ are a warning each, and are the turn ids."""
        source = trajectory(
            {**USER, "step_id": 10}, {**USER, "step_id": 2}, {**USER, "step_id": 20}
        )

        found = document(source).problems

        assert [
            ("/steps/0/step_id", "expected 1, found 10"),
            ("/steps/2/step_id", "expected 3, found 20"),
        ] == [(one.pointer, one.message) for one in found]
        assert {"ale.step-sequence"} == {one.rule for one in found}
        assert [10, 2, 20] == [one.turn_id for one in read_one(source).turns]

    def test_unique(self) -> None:
        """A repeated id is an error; turns are numbered, and ids that are not their position are residuals."""
        source = trajectory({**USER, "step_id": 1}, {**USER, "step_id": 1}, {**USER, "step_id": 3})

        assert [("error", "ale.step-unique", "/steps/1/step_id")] == problems(source)
        found = read_one(source)
        assert [1, 2, 3] == [one.turn_id for one in found.turns]
        assert {"/steps/1/step_id": 1} == fields(found)

    def test_below_one(self) -> None:
        """An id below 1 is an error, and kept where ids differ."""
        source = trajectory({**USER, "step_id": 0}, {**USER, "step_id": 1})

        assert [
            ("error", "ale.step-id", "/steps/0/step_id"),
            ("warning", "ale.step-sequence", "/steps/0/step_id"),
            ("warning", "ale.step-sequence", "/steps/1/step_id"),
        ] == problems(source)
        found = read_one(source)
        assert [0, 1] == [one.turn_id for one in found.turns]
        assert [1, 2] == [step["step_id"] for step in write_one(found)["steps"]]


class TestTimes:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "2026-06-05",
            "2026-06-05T03:11:01",
            "2026-06-05T03:11:01+0800",
            "2026-02-29T00:00:00.000000Z",
            "now",
        ],
    )
    def test_no_time(self, text: str) -> None:
        """A text that is no Storyline time is a warning and a residual, and goes back where it was."""
        source = trajectory({**USER, "timestamp": text}, started_at=text, ended_at=text)

        assert [
            ("warning", "ale.time", "/ended_at"),
            ("warning", "ale.time", "/started_at"),
            ("warning", "ale.time", "/steps/0/timestamp"),
        ] == problems(source)
        found = read_one(source)
        assert {"/started_at": text, "/ended_at": text, "/steps/0/timestamp": text} == fields(found)
        assert (None, None, None) == (found.started_at, found.finished_at, found.turns[0].timestamp)
        written = write_one(found)
        assert (text, text, text) == (
            written["started_at"],
            written["ended_at"],
            written["steps"][0]["timestamp"],
        )

    @pytest.mark.parametrize(
        "text",
        ["2026-06-05 05:11:01.5+02:00", "2026-06-05T03:11:01Z", "2026-06-05t03:11:01.000000z"],
    )
    def test_form(self, text: str) -> None:
        """A legal time in another spelling is noted, kept, and goes back as it is."""
        source = trajectory({**USER, "timestamp": text})

        assert [("info", "ale.time-form", "/steps/0/timestamp")] == problems(source)
        assert read_one(source).turns[0].timestamp == text
        assert write_one(read_one(source))["steps"][0]["timestamp"] == text

    @pytest.mark.parametrize(
        "text",
        [
            "2026-06-05T03:11:01.000000Z",
            "2024-02-29T03:11:01.000000Z",
            "2026-01-31T23:59:60.000000Z",
        ],
    )
    def test_canonical(self, text: str) -> None:
        """The form of the benchmark says nothing, on whatever day."""
        assert [] == problems(trajectory({**USER, "timestamp": text}))

    def test_zone(self) -> None:
        """With a zone to assume, a time without one gets it; the source text stays a residual and goes back."""
        from hub.storyline.times import Zone

        source = trajectory({**USER, "timestamp": "2026-06-05T03:11:01"})

        found = read_one(source, zone=Zone("+08:00"))

        assert found.turns[0].timestamp == "2026-06-05T03:11:01+08:00"
        assert {"/steps/0/timestamp": "2026-06-05T03:11:01"} == fields(found)
        assert write_one(found)["steps"][0]["timestamp"] == "2026-06-05T03:11:01"


class TestParts:
    @pytest.mark.parametrize(
        "part",
        [
            {"type": "text"},
            {"type": "text", "text": None},
            {"type": "text", "text": "t", "image": {"path": "a.png"}},
            {"type": "text", "image": {"path": "a.png"}},
            {"type": "image"},
            {"type": "image", "text": "t"},
            {"type": "image", "text": "t", "image": {"path": "a.png"}},
            {"type": "image", "image": {}},
            {"type": "image", "image": {"type": "url", "path": "a.png"}},
            {"type": "image", "image": {"type": "ftp", "path": "a.png"}},
            {"type": "audio", "text": "t"},
        ],
    )
    def test_payload(self, part: Json) -> None:
        """A part with the wrong payload or none is an error, stays as it is, and is shown as its text or as JSON."""
        from hub import compact

        assert [("error", "ale.part", "/steps/0/message/0")] == problems(part_document(part))
        found = read_one(part_document(part))
        (kept,) = found.turns[0].message
        assert kept["type"] == part["type"]
        assert {} == fields(found)
        (written,) = write_one(found)["steps"][0]["message"]
        shown = "t" if part["type"] == "text" and part.get("text") else compact(kept)
        assert {"type": "text", "text": shown, "image": None} == written

    def test_in_a_result(self) -> None:
        """Parts of results are checked as well."""
        source = trajectory(
            environment(
                observation={"results": [{"tool_call_id": "", "content": [{"type": "text"}]}]}
            )
        )

        assert ("error", "ale.part", "/steps/0/observation/results/0/content/0") in problems(source)

    @pytest.mark.parametrize(
        "image",
        [
            {"path": ""},
            {"type": "url", "url": "x"},
            {"path": "a.png", "url": "http://x", "alt_text": "a"},
        ],
    )
    def test_good_image(self, image: Json) -> None:
        """An image that has the payload of its type is fine, whatever else it has."""
        assert [] == problems(part_document({"type": "image", "image": image}))

    def test_inline_image(self) -> None:
        """An inline image is legal, and a warning."""
        part = {"type": "image", "image": {"type": "base64", "data": "QUJD"}}

        assert [("warning", "ale.inline-image", "/steps/0/message/0/image")] == problems(
            part_document(part)
        )


class TestCalls:
    @pytest.mark.parametrize("call", [{"name": "f"}, {"name": "f", "id": ""}])
    def test_id_missing(self, call: Json) -> None:
        """A call without an id is noted and gets one from its place."""
        source = trajectory(USER, agent(tool_calls=[{"id": "c", "name": "f"}, call]))

        assert [("info", "ale.call-id-missing", "/steps/1/tool_calls/1/id")] == problems(source)
        calls = read_one(source).turns[1].tool_calls
        assert calls is not None
        assert ["c", "call-2-1"] == [one.tool_call_id for one in calls]

    def test_blank_id_goes_back(self) -> None:
        """An id that is blank is a residual and goes back; one that is absent becomes explicit."""
        source = trajectory(agent(tool_calls=[{"id": "", "name": "f"}, {"name": "f"}]))

        found = read_one(source)

        assert {"/steps/0/tool_calls/0/id": ""} == fields(found)
        assert ["", "call-1-1"] == [
            call["id"] for call in write_one(found)["steps"][0]["tool_calls"]
        ]

    def test_id_unique(self) -> None:
        """A repeated id is a warning; the call is renamed, and goes back under its old id."""
        source = trajectory(agent("c"), agent("c"), agent("c#2"))

        assert [("warning", "ale.call-id-unique", "/steps/1/tool_calls/0/id")] == problems(source)
        found = read_one(source)
        assert ["c", "c#3", "c#2"] == [
            call.tool_call_id for one in found.turns for call in one.tool_calls or ()
        ]
        assert {"/steps/1/tool_calls/0/id": "c"} == fields(found)
        ids = [call["id"] for step in write_one(found)["steps"] for call in step["tool_calls"]]
        assert ["c", "c", "c#2"] == ids

    def test_made_up_ids_mean_nothing_else(self) -> None:
        """An id that is made up is none that a result names, so that no stray result comes to answer a call."""
        source = trajectory(agent("c"), agent("c", ""), environment("c#2", "call-2-1"))

        found = read_one(source)

        assert ["c#3", "call-2-1#2"] == [
            call.tool_call_id for call in found.turns[1].tool_calls or ()
        ]
        results = write_one(found)["steps"][2]["observation"]["results"]
        assert ["c#2", "call-2-1"] == [result["tool_call_id"] for result in results]

    def test_empty_names(self) -> None:
        """Blank names of agent, task and tool are warnings; they are kept, the tool's as a residual."""
        source = {
            **trajectory(agent(tool_calls=[{"id": "c", "name": ""}])),
            "agent": {"name": ""},
            "task_path": "",
        }

        assert [
            ("warning", "ale.empty-name", "/agent/name"),
            ("warning", "ale.empty-name", "/steps/0/tool_calls/0/name"),
            ("warning", "ale.empty-name", "/task_path"),
        ] == problems(source)
        found = read_one(source)
        assert ("unknown", "", None) == (found.agent.agent_id, found.agent.name, found.run_id)
        assert found.task is not None
        assert found.task.env is not None
        assert found.task.env.name == ""
        assert {"/steps/0/tool_calls/0/name": ""} == fields(found)
        written = write_one(found)
        assert ("", "", "") == (
            written["agent"]["name"],
            written["task_path"],
            written["steps"][0]["tool_calls"][0]["name"],
        )

    @pytest.mark.parametrize("call_id", ["gone", "", "later"])
    def test_result_call(self, call_id: str) -> None:
        """A result that names no earlier call is noted and kept."""
        source = trajectory(agent("c"), environment("c", call_id), agent("later"))

        assert [("info", "ale.result-call", "/steps/1/observation/results/1")] == problems(source)
        results = read_one(source).turns[0].observation["results"]
        assert call_id == results[1].get("source_call_id", "")


class TestShape:
    def test_unusual_members(self) -> None:
        """Metrics, reasoning and calls of other steps, and an observation of an agent step, are noted."""
        source = trajectory(
            {**USER, "metrics": {}, "reasoning": "", "tool_calls": [{"id": "c", "name": "f"}]},
            agent(observation={"results": []}, metrics={}, reasoning="r"),
            {"source": "system", "metrics": {"input_tokens": 1}},
        )

        assert [
            ("info", "ale.step-shape", "/steps/0/metrics"),
            ("info", "ale.step-shape", "/steps/0/reasoning"),
            ("info", "ale.step-shape", "/steps/0/tool_calls"),
            ("info", "ale.step-shape", "/steps/1/observation"),
            ("info", "ale.step-shape", "/steps/2/metrics"),
        ] == problems(source)

    def test_totals(self) -> None:
        """Totals that are not the sums are noted, each with the sum that was expected."""
        metrics = {"input_tokens": 2, "output_tokens": 3, "cost_usd": 0.1, "duration_ms": 5}
        right = {
            "total_steps": 2,
            "total_input_tokens": 4,
            "total_output_tokens": 6,
            "total_cost_usd": 0.2,
            "total_duration_ms": 10,
        }
        source = trajectory(agent(metrics=metrics), agent(metrics=metrics))

        assert [] == problems({**source, "final_metrics": right})
        found = document(
            {**source, "final_metrics": {**right, "total_steps": 3, "total_cost_usd": 0.25}}
        ).problems
        assert [
            ("/final_metrics/total_steps", "expected 2, found 3"),
            ("/final_metrics/total_cost_usd", "expected 0.2, found 0.25"),
        ] == [(one.pointer, one.message) for one in found]
        assert {("info", "ale.totals")} == {(one.severity, one.rule) for one in found}

    def test_float_sums(self) -> None:
        """Sums of floats need not be exact."""
        steps = [agent(metrics={"cost_usd": 0.1}) for _ in range(3)]

        assert [] == problems(
            {**trajectory(*steps), "final_metrics": {"total_steps": 3, "total_cost_usd": 0.3}}
        )

    def test_episode_unique(self) -> None:
        """An episode id twice in a document is noted at the second place."""
        child = {**ROOT, "subagent_trajectories": [{**ROOT, "episode_id": "e2"}]}

        assert [("info", "ale.episode-unique", "/subagent_trajectories/0/episode_id")] == problems(
            {**ROOT, "subagent_trajectories": [child]}
        )


class TestWriting:
    def test_status_word(self) -> None:
        """An outcome in an unknown word is a warning that points into the Storyline."""
        from hub import Task, TaskResult

        options = WriteOptions()

        written = write_one(storyline(task=Task(result=TaskResult(status="Weird"))), options)

        assert written["final_metrics"]["status"] == "completed"
        ((_, problem),) = options.problems
        assert ("warning", "ale.status-word", "/task/result/status", "s") == (
            problem.severity,
            problem.rule,
            problem.pointer,
            problem.document,
        )

    def test_children(self) -> None:
        """A child that is not there, and stories that are each other's children, are warnings."""
        options = WriteOptions()
        one = storyline(turn(), session_id="one", child_ids=["two", "gone"])
        two = storyline(turn(), session_id="two", child_ids=["one"])

        documents = list(plugin.from_storyline([one, two], options))

        assert len(documents) == 1
        assert [
            ("ale.child-missing", "one", "/children/1"),
            ("ale.child-missing", "two", "/children/0"),
            ("ale.family", "one", "/children"),
        ] == sorted(
            (problem.rule, problem.document, problem.pointer) for _, problem in options.problems
        )

    @pytest.mark.parametrize("text", ["x", "", "1.0", str(2**63)])
    def test_variant_option(self, text: str) -> None:
        """A variant that is no integer is the caller's mistake."""
        with pytest.raises(UsageError, match=r"option 'variant_index' of ale takes an integer"):
            write_one(storyline(), WriteOptions(options={"variant_index": text}))
