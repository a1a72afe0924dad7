"""Writing: what a Storyline of another format becomes, and what one of ATIF's own goes back to."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

import hub
from hub import Agent, Origin, Prompt, Residuals, Storyline, ToolCall, WriteOptions

from .builders import (
    CONFORM,
    A,
    V,
    agent,
    back,
    call,
    child,
    fields,
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


def made(arguments: Json = None, call_id: str = "c", **members: Any) -> ToolCall:
    given = {} if arguments is None else arguments
    return ToolCall(tool_call_id=call_id, function_name="f", arguments=given, **members)


def observed(*found: Json, calls: list[ToolCall] | None = None) -> Json:
    """Return the results that *found* become on a turn with *calls*."""
    (step,) = steps_of(turn(tool_calls=calls, observation={"results": list(found)}))
    return step["observation"]["results"]


class TestRoot:
    def test_everything(self) -> None:
        """All that ATIF has a place for is shown, in its order."""
        one = storyline(
            turn(1, "user", "hi"),
            trajectory_id="t",
            agent=Agent(
                agent_id="i",
                name="n",
                version="2",
                model_name="m",
                tool_definitions=[{"type": "function"}],
                extra={"x": 1},
            ),
            notes="",
            final_metrics={"total_steps": 1, "reward": 0.5},
            continued_trajectory_ref="next.json",
            extra={"y": 1},
        )

        written = write_one(one)

        assert {
            **V,
            "session_id": "s",
            "trajectory_id": "t",
            "agent": {
                "name": "n",
                "version": "2",
                "model_name": "m",
                "tool_definitions": [{"type": "function"}],
                "extra": {"x": 1},
            },
            "steps": [{"step_id": 1, "source": "user", "message": "hi"}],
            "notes": "",
            "final_metrics": {"total_steps": 1, "extra": {"reward": 0.5}},
            "continued_trajectory_ref": "next.json",
            "extra": {"y": 1},
        } == written
        assert_accepted(written)

    @pytest.mark.parametrize(
        ("members", "expected"),
        [
            ({"name": ""}, {"name": "i", "version": "unknown"}),
            ({"version": ""}, {"name": "i", "version": "unknown"}),
            ({"tool_definitions": [1]}, {"name": "i", "version": "unknown"}),
            ({"tool_definitions": {}}, {"name": "i", "version": "unknown"}),
            ({"tool_definitions": []}, {"name": "i", "version": "unknown", "tool_definitions": []}),
            ({"extra": [1]}, {"name": "i", "version": "unknown"}),
            ({"extra": {}}, {"name": "i", "version": "unknown", "extra": {}}),
        ],
    )
    def test_agent(self, members: Json, expected: Json) -> None:
        """Name and version are demanded; what is no object, or no array of objects, is left out."""
        assert expected == write_one(storyline(agent=Agent(agent_id="i", **members)))["agent"]

    @pytest.mark.parametrize("extra", [5, "x", [{}]])
    def test_extra(self, extra: Json) -> None:
        """An extra that is no object is left out."""
        assert "extra" not in write_one(storyline(extra=extra))

    def test_backward_reference(self) -> None:
        """ALE's reference names the part before, so it is not shown as the part behind."""
        one = storyline(continued_trajectory_ref="before", origin="ale")
        assert "continued_trajectory_ref" not in write_one(one)

    def test_reserved_key(self, tmp_path: Path) -> None:
        """What stands at the place of the envelope is carried."""
        one = storyline(turn(), extra={"_storyline": 5, "x": 1})
        assert {"x": 1} == write_one(one)["extra"]
        hub.write([one], tmp_path / "x.json", to="atif")
        assert [one] == list(hub.read(tmp_path / "x.json"))

    def test_envelope_beside_a_strange_extra(self, tmp_path: Path) -> None:
        """Where a restored extra is no object, the envelope stands at the root."""
        (one,) = read(trajectory(user(), extra="x"))
        one.run_id = "r"
        hub.write([one], tmp_path / "x.json", to="atif")
        (record,) = hub.Source.open(tmp_path / "x.json").records()
        assert ("x", True) == (record.value["extra"], "_storyline" in record.value)
        assert [one] == list(hub.read(tmp_path / "x.json"))


class TestTree:
    def test_ids_of_the_nested(self) -> None:
        """A nested trajectory has an id, one that no other of the tree has."""
        parent = storyline(turn(), child_ids=["k", "k", "s"])
        children = [storyline(turn(), session_id="k"), storyline(turn(), trajectory_id="k")]
        children.append(evolved(storyline(turn()), session_id="s"))

        (written,) = write(parent, *children[:2])

        assert "trajectory_id" not in written
        assert ["k", "k#2"] == [one["trajectory_id"] for one in written["subagent_trajectories"]]
        assert ["k", "s"] == [one["session_id"] for one in written["subagent_trajectories"]]
        assert_accepted(written)

    def test_no_children(self) -> None:
        """A list of children that are not there is left out, but kept where it was read."""
        assert "subagent_trajectories" not in write_one(storyline(child_ids=["gone"]))
        (root, _) = read(
            trajectory(user(), subagent_trajectories=[child(user(), trajectory_id="c")])
        )
        assert [] == write_one(root)["subagent_trajectories"]

    def test_restored_and_conformed(self) -> None:
        """Each node of a tree is written its own way."""
        (root,) = read(trajectory({**user(), "step_id": 5}))
        root.child_ids = ["c"]
        (written,) = write(root, storyline(turn(5), session_id="c"))
        assert [5] == [one["step_id"] for one in written["steps"]]
        (nested,) = written["subagent_trajectories"]
        assert [1] == [one["step_id"] for one in nested["steps"]]

    def test_deep(self) -> None:
        """Nesting goes as deep as JSON does."""
        source = trajectory(user(), trajectory_id="0")
        for number in range(1, 250):
            source = trajectory(user(), trajectory_id=str(number), subagent_trajectories=[source])
        assert 250 == len(read(source))
        assert source == back(source)
        assert_accepted(back(source, **CONFORM))

    def test_moved(self) -> None:
        """A nested Storyline that is written alone takes what was set aside along."""
        nested = child({**user(), "x": 1}, trajectory_id="c", session_id="s", y=2)
        _, one = read(trajectory(user(), subagent_trajectories=[nested]))
        assert nested == write_one(one)


class TestSessions:
    WITHOUT: ClassVar[Json] = {**V, **A, "steps": [{"step_id": 1, **user()}]}

    def test_derived(self) -> None:
        """A session that was made up is not written, in no node; an empty extra makes no difference."""
        source = {
            **self.WITHOUT,
            "extra": {},
            "subagent_trajectories": [child(user(), trajectory_id="c", extra={})],
        }
        root, nested = read(source)
        assert root.session_id == nested.session_id
        assert root.session_id.startswith("atif-")
        assert source == back(source)
        without = {**self.WITHOUT, "subagent_trajectories": [child(user(), trajectory_id="c")]}
        assert root.session_id == read(without)[0].session_id

    def test_written_when_it_would_be_another(self) -> None:
        """It is written when the document would not be given it again."""
        source = {**self.WITHOUT, "notes": None}
        session = read_one(source).session_id
        assert {**self.WITHOUT, "session_id": session} == back(source)

    def test_looks_like_one(self) -> None:
        """A session that only looks so comes back."""
        source = trajectory(user(), session_id="atif-0123456789abcdef")
        assert source == back(source)
        assert back(source) == back(back(source))

    def test_conformed(self) -> None:
        """Conformed it is written."""
        assert back(self.WITHOUT, **CONFORM)["session_id"].startswith("atif-")


class TestSteps:
    def test_prompts(self) -> None:
        """Prompts are steps before those that they are for."""
        steps = steps_of(
            turn(1, "user", "u"),
            turn(2, prompt=Prompt(system="T")),
            prompt=Prompt(system="S", user="U"),
        )
        assert [("system", "S"), ("user", "u"), ("system", "T"), ("agent", "m")] == [
            (one["source"], one["message"]) for one in steps
        ]
        assert [1, 2, 3, 4] == [one["step_id"] for one in steps]

    def test_no_turns(self) -> None:
        """Without a turn there is one empty step."""
        assert [{"step_id": 1, "source": "system", "message": ""}] == steps_of()

    @pytest.mark.parametrize(
        ("source", "expected"), [("user", "user"), ("tool", "system"), ("Agent", "system")]
    )
    def test_source(self, source: str, expected: str) -> None:
        """Speakers that Harbor does not know are the system."""
        assert expected == steps_of(turn(source=source))[0]["source"]

    def test_agent_only(self) -> None:
        """What only agents have is left out elsewhere; counts and extras are not."""
        members: dict[str, Any] = {
            "model_name": "m",
            "reasoning_effort": 1.0,
            "reasoning_content": "r",
            "tool_calls": [],
            "metrics": {"prompt_tokens": 1},
            "llm_call_count": 0,
            "is_copied_context": False,
            "extra": {"x": 1},
        }
        expected = {"llm_call_count": 0, "is_copied_context": False, "extra": {"x": 1}}
        assert [{"step_id": 1, "source": "user", "message": "m", **expected}] == steps_of(
            turn(source="user", **members)
        )
        own = {"model_name": "m", "reasoning_effort": 1.0, "tool_calls": []}
        assert [{"step_id": 1, "source": "agent", "message": "m", **own, **expected}] == steps_of(
            turn(**members)
        )

    @pytest.mark.parametrize("count", [None, 1, 2])
    def test_reasoning(self, count: int | None) -> None:
        """Reasoning and metrics stand on a step for which a model was asked, or may have been."""
        members: dict[str, Any] = {"reasoning_content": "", "metrics": {"prompt_tokens": 1}}
        (step,) = steps_of(turn(llm_call_count=count, **members))
        assert {
            "step_id": 1,
            "source": "agent",
            "message": "m",
            **members,
            **({} if count is None else {"llm_call_count": count}),
        } == step

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("reasoning_effort", True),
            ("reasoning_effort", {"level": 1}),
            ("reasoning_effort", 10**400),
            ("llm_call_count", -1),
            ("extra", "x"),
            ("kind", "autonomous"),
            ("finished_at", "2026-01-01T00:00:00Z"),
        ],
    )
    def test_left_out(self, name: str, value: Json) -> None:
        """What Harbor does not know is left out."""
        bare = {"step_id": 1, "source": "agent", "message": "m"}
        assert [bare] == steps_of(turn(**{name: value}))

    @pytest.mark.parametrize(
        ("time", "expected"),
        [
            ("2026-01-01 00:00:00.5+08:00", "2026-01-01 00:00:00.5+08:00"),
            ("2026-01-01t00:00:00Z", "2026-01-01t00:00:00Z"),
            ("2026-01-01T00:00:00z", "2026-01-01T00:00:00Z"),
            ("2026-06-30T23:59:60Z", "2026-07-01T00:00:00Z"),
            (1767225600, "2026-01-01T00:00:00Z"),
            (1767225600.5, "2026-01-01T00:00:00.500Z"),
        ],
    )
    def test_time(self, time: Json, expected: str) -> None:
        """A time that Harbor accepts stays as it is, any other is its instant."""
        assert expected == steps_of(turn(timestamp=time))[0]["timestamp"]


class TestContent:
    @pytest.mark.parametrize(
        ("part", "expected"),
        [
            ("x", {"type": "text", "text": "x"}),
            ({"type": "output_text", "text": "x"}, {"type": "text", "text": "x"}),
            ({"type": "refusal", "refusal": "no"}, {"type": "text", "text": "no"}),
            ({"type": "text", "text": "x", "y": 1}, {"type": "text", "text": "x"}),
            (
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/gif", "data": "AA"},
                },
                {
                    "type": "image",
                    "source": {"media_type": "image/gif", "path": "data:image/gif;base64,AA"},
                },
            ),
            (
                {"type": "image", "image": {"type": "url", "url": "http://h/a.webp?x"}},
                {
                    "type": "image",
                    "source": {"media_type": "image/webp", "path": "http://h/a.webp?x"},
                },
            ),
            (
                {"type": "image", "source": {"media_type": "image/bmp", "path": "a"}},
                {
                    "type": "text",
                    "text": '{"type":"image","source":{"media_type":"image/bmp","path":"a"}}',
                },
            ),
            (
                {"type": "image_url", "image_url": "http://h/a"},
                {"type": "text", "text": '{"type":"image_url","image_url":"http://h/a"}'},
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}},
                {
                    "type": "audio",
                    "source": {"media_type": "audio/mpeg", "path": "data:audio/mp3;base64,AA"},
                },
            ),
            (
                {
                    "type": "audio",
                    "source": {"media_type": "audio/x-wav", "path": "a", "duration_sec": 2},
                },
                {
                    "type": "audio",
                    "source": {"media_type": "audio/wav", "path": "a", "duration_sec": 2},
                },
            ),
            (
                {
                    "type": "audio",
                    "source": {"media_type": "audio/wav", "path": "a", "duration_sec": -2},
                },
                {"type": "audio", "source": {"media_type": "audio/wav", "path": "a"}},
            ),
            (
                {
                    "type": "audio",
                    "source": {"media_type": "audio/wav", "path": "a", "duration_sec": 0},
                },
                {
                    "type": "audio",
                    "source": {"media_type": "audio/wav", "path": "a", "duration_sec": 0},
                },
            ),
            (
                {"type": "audio", "source": {"path": "a"}},
                {"type": "text", "text": '{"type":"audio","source":{"path":"a"}}'},
            ),
            (5, {"type": "text", "text": "5"}),
            (None, {"type": "text", "text": "null"}),
        ],
    )
    def test_parts(self, part: Json, expected: Json) -> None:
        """Parts of every spelling have Harbor's; what it does not know is shown as text."""
        written = write_one(storyline(turn(message=[part])))
        assert [expected] == written["steps"][0]["message"]
        is_audio = expected["type"] == "audio"
        assert ("ATIF-v1.8" if is_audio else "ATIF-v1.7") == written["schema_version"]
        assert_accepted(written)

    def test_audio_in_a_result(self) -> None:
        """A recording in a result asks for the newer version as well."""
        part = {"type": "audio", "source": {"media_type": "audio/ogg", "path": "a"}}
        one = storyline(turn(observation={"results": [{"content": [part]}]}))
        assert "ATIF-v1.8" == write_one(one)["schema_version"]

    @pytest.mark.parametrize(
        ("message", "expected"),
        [(None, ""), ([], []), ({"a": [1.0]}, '{"a":[1.0]}'), (5, "5"), (False, "false")],
    )
    def test_messages(self, message: Json, expected: Json) -> None:
        """A message is a text or an array of parts."""
        assert expected == steps_of(turn(message=message))[0]["message"]


class TestCalls:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (' {"a": 1.0}\n', {"a": 1.0}),
            ('{"n": 18446744073709551616}', {"n": 2**64}),
            ('{"a": 1} x', {"value": '{"a": 1} x'}),
            ("", {"value": ""}),
            ([1], {"value": [1]}),
            (5, {"value": 5}),
        ],
    )
    def test_arguments(self, arguments: Json, expected: Json) -> None:
        """Arguments are the object that a text is; anything else stands under `value`."""
        (step,) = steps_of(turn(tool_calls=[made(arguments)]))
        assert expected == step["tool_calls"][0]["arguments"]

    @pytest.mark.parametrize(
        ("members", "expected"),
        [
            ({"duration_ms": 7}, {"duration_ms": 7}),
            ({"duration_ms": 7, "extra": {"duration_ms": 7.5}}, {"duration_ms": 7.5}),
            ({"duration_ms": 7, "extra": {"x": 1}}, {"x": 1, "duration_ms": 7}),
            ({"duration_ms": 7, "extra": "x"}, {"duration_ms": 7}),
            ({"extra": {}}, None),
            ({"extra": "x"}, None),
        ],
    )
    def test_extra(self, members: Json, expected: Json) -> None:
        """The duration of a call stands in its extra."""
        (step,) = steps_of(turn(tool_calls=[made(**members)]))
        assert expected == step["tool_calls"][0].get("extra")

    @pytest.mark.parametrize(
        ("result", "expected"),
        [
            ({"source_call_id": "c", "content": "x"}, {"source_call_id": "c", "content": "x"}),
            ({"source_call_id": "gone", "content": "x"}, {"content": "x"}),
            ({"source_call_id": 5}, {}),
            ({"content": None}, {}),
            ({"content": {"a": 1}}, {"content": '{"a":1}'}),
            ({"content": "x", "is_error": True}, {"content": "x", "extra": {"is_error": True}}),
            ({"content": "x", "is_error": False}, {"content": "x"}),
            ({"is_error": True, "extra": {"y": 1}}, {"extra": {"y": 1, "is_error": True}}),
            ({"extra": {"y": 1}}, {"extra": {"y": 1}}),
            ({"extra": {}}, {"extra": {}}),
            ({"is_error": False}, {}),
            ({"content": "x", "extra": []}, {"content": "x"}),
            ({"type": "x"}, {"content": '{"type":"x"}'}),
            ({}, {"content": "{}"}),
            ("bare", {"content": "bare"}),
            (
                {"subagent_trajectory_ref": [{"trajectory_id": "t"}]},
                {"subagent_trajectory_ref": [{"trajectory_id": "t"}]},
            ),
            ({"subagent_trajectory_ref": [{"trajectory_id": "t"}, {}]}, {}),
            ({"subagent_trajectory_ref": [{"trajectory_id": "t", "x": 1}]}, {}),
            ({"subagent_trajectory_ref": []}, {}),
        ],
    )
    def test_results(self, result: Json, expected: Json) -> None:
        """Results name calls of their step, and have what Harbor knows of them."""
        assert [expected] == observed(result, calls=[made()])

    def test_other_results(self) -> None:
        """A result of a call, an error, and an observation of another shape are results."""
        (step,) = steps_of(turn(tool_calls=[made(result={"x": 1})]))
        expected = [{"source_call_id": "c", "content": '{"x":1}'}]
        assert expected == step["observation"]["results"]
        (step,) = steps_of(turn(observation={"results": [], "error": "lost"}))
        assert [{"content": "lost"}] == step["observation"]["results"]
        (step,) = steps_of(turn(observation="plain"))
        assert [{"content": "plain"}] == step["observation"]["results"]
        (step,) = steps_of(turn(observation={"results": []}))
        assert [] == step["observation"]["results"]

    @pytest.mark.parametrize("error", ["", None, 5, {"content": "lost"}])
    def test_no_error(self, error: Json) -> None:
        """Only a text that says something is an error of an observation."""
        (step,) = steps_of(turn(observation={"results": [{"content": "x"}], "error": error}))
        assert [{"content": "x"}] == step["observation"]["results"]

    def test_call_of_no_agent(self) -> None:
        """Calls of others are left out, and so are the names of these."""
        found = {"results": [{"source_call_id": "c", "content": "x"}]}
        (step,) = steps_of(turn(source="user", tool_calls=[made()], observation=found))
        assert {
            "step_id": 1,
            "source": "user",
            "message": "m",
            "observation": {"results": [{"content": "x"}]},
        } == step


class TestMetrics:
    @pytest.mark.parametrize(
        ("metrics", "expected"),
        [
            (None, None),
            ({}, None),
            ({"prompt_tokens": None}, {"prompt_tokens": None}),
            ({"prompt_tokens": "5"}, {"extra": {"prompt_tokens": "5"}}),
            ({"prompt_tokens": 1.0}, {"extra": {"prompt_tokens": 1.0}}),
            ({"cost_usd": 10**400}, {"extra": {"cost_usd": 10**400}}),
            (
                {"logprobs": [0, -0.5], "prompt_token_ids": [1]},
                {"logprobs": [0, -0.5], "prompt_token_ids": [1]},
            ),
            (
                {"logprobs": [None], "prompt_token_ids": [1.0]},
                {"extra": {"logprobs": [None], "prompt_token_ids": [1.0]}},
            ),
            ({"x": 1, "extra": {"x": 2, "y": 3}}, {"extra": {"x": 2, "y": 3}}),
            ({"x": 1, "extra": 5}, {"extra": {"x": 1, "extra": 5}}),
            ({"x": 1, "extra": None}, {"extra": {"x": 1}}),
            (5, {"extra": {"value": 5}}),
            (
                {"input_tokens": 5, "cache_read_tokens": 3, "output_tokens": 2, "cost": 0.5},
                {
                    "prompt_tokens": 8,
                    "completion_tokens": 2,
                    "cached_tokens": 3,
                    "cost_usd": 0.5,
                    "extra": {
                        "input_tokens": 5,
                        "cache_read_tokens": 3,
                        "output_tokens": 2,
                        "cost": 0.5,
                    },
                },
            ),
        ],
    )
    def test_step(self, metrics: Json, expected: Json) -> None:
        """Metrics have Harbor's members; usage is read in every format's words; the rest is in their extra."""
        written = write_one(storyline(turn(metrics=metrics)))
        assert expected == written["steps"][0].get("metrics")
        assert_accepted(written)

    def test_times(self) -> None:
        """What was measured of the time stands in the extra, unless it says so itself."""
        (step,) = steps_of(turn(latency_ms=4, ttft_ms=2))
        assert {"extra": {"latency_ms": 4, "ttft_ms": 2}} == step["metrics"]
        (step,) = steps_of(turn(latency_ms=12, metrics={"latency_ms": 12.9}))
        assert {"extra": {"latency_ms": 12.9}} == step["metrics"]

    @pytest.mark.parametrize(
        ("metrics", "expected"),
        [
            ({}, None),
            ({"total_steps": 0}, {"total_steps": 0}),
            ({"total_steps": -1}, {"extra": {"total_steps": -1}}),
            ({"total_steps": -1, "extra": {"total_steps": 2}}, {"extra": {"total_steps": 2}}),
            (
                {"total_cost_usd": 1, "total_prompt_tokens": 2, "score": 1},
                {"total_cost_usd": 1, "total_prompt_tokens": 2, "extra": {"score": 1}},
            ),
            ([1], {"extra": {"value": [1]}}),
        ],
    )
    def test_totals(self, metrics: Json, expected: Json) -> None:
        """So have totals, to which nothing is added."""
        written = write_one(storyline(turn(), final_metrics=metrics))
        assert expected == written.get("final_metrics")
        assert_accepted(written)


class TestEveryMember:
    """A document with every member that the format knows, in the order in which they are written."""

    SOURCE: ClassVar[Json] = {
        "schema_version": "ATIF-v1.8",
        "session_id": "s",
        "trajectory_id": "t",
        "agent": {
            "name": "a",
            "version": "2",
            "model_name": "m",
            "tool_definitions": [{"type": "function"}],
            "extra": {"b": 1},
        },
        "steps": [
            {
                "step_id": 1,
                "timestamp": "2026-01-01T00:00:00Z",
                "source": "agent",
                "model_name": "n",
                "reasoning_effort": "high",
                "message": "hi",
                "reasoning_content": "why",
                "tool_calls": [
                    {
                        "tool_call_id": "c",
                        "function_name": "f",
                        "arguments": {"d": 1},
                        "result": "e",
                        "extra": {"duration_ms": 5},
                    }
                ],
                "observation": {"results": [{"source_call_id": "c", "content": "g"}]},
                "metrics": {"prompt_tokens": 3, "elapsed_ms": 6, "ttft_ms": 4},
                "is_copied_context": False,
                "llm_call_count": 2,
                "extra": {"h": 1},
            }
        ],
        "notes": "o",
        "final_metrics": {"total_steps": 1},
        "continued_trajectory_ref": "next.json",
        "extra": {"p": 1},
        "subagent_trajectories": [],
    }

    def test_read(self) -> None:
        """Each one has its field: atif.md 5.2 and 5.3."""
        assert {
            "schema_version": "storyline/v1",
            "origin": {"format": "atif", "schema_version": "ATIF-v1.8"},
            "session": "s",
            "trajectory": "t",
            "agent": {
                "id": "a",
                "name": "a",
                "ver": "2",
                "model": "m",
                "tools": [{"type": "function"}],
                "extra": {"b": 1},
            },
            "turns": [
                {
                    "id": 1,
                    "src": "agent",
                    "kind": "autonomous",
                    "ts": "2026-01-01T00:00:00Z",
                    "model": "n",
                    "effort": "high",
                    "msg": "hi",
                    "reason": "why",
                    "tool_calls": [
                        {
                            "tcid": "c",
                            "fn": "f",
                            "args": {"d": 1},
                            "result": "e",
                            "duration_ms": 5,
                            "extra": {"duration_ms": 5},
                        }
                    ],
                    "observation": {"results": [{"source_call_id": "c", "content": "g"}]},
                    "metrics": {"prompt_tokens": 3, "elapsed_ms": 6, "ttft_ms": 4},
                    "latency_ms": 6,
                    "ttft_ms": 4,
                    "copied": False,
                    "nllm": 2,
                    "extra": {"h": 1},
                }
            ],
            "notes": "o",
            "final_metrics": {"total_steps": 1},
            "continued_trajectory_ref": "next.json",
            "extra": {"p": 1},
            "children": [],
        } == wire(read_one(self.SOURCE))
        assert {} == fields(read_one(self.SOURCE))

    def test_written(self) -> None:
        """It is written as it was, in the same order; what was promoted is not written again."""
        written = back(self.SOURCE)

        assert self.SOURCE == written
        assert list(self.SOURCE) == list(written)
        assert list(self.SOURCE["steps"][0]) == list(written["steps"][0])


class TestRestored:
    def test_numbered_time(self) -> None:
        """A time that is a number was never ATIF's, and is written as its instant."""
        (one,) = read(trajectory(user()))
        one.turns[0].timestamp = 1767225600
        assert "2026-01-01T00:00:00Z" == write_one(one)["steps"][0]["timestamp"]

    @pytest.mark.parametrize("version", ["ATIF-v2.0", "x"])
    def test_other_version(self, version: str) -> None:
        """What claims a version that is not read is written as Harbor wants it."""
        one = storyline(turn(5))
        one.origin = Origin(format="atif", schema_version=version)
        written = write_one(one)
        assert ("ATIF-v1.7", 1) == (written["schema_version"], written["steps"][0]["step_id"])

    def test_edits_win(self) -> None:
        """What was edited is not overwritten by what was set aside."""
        source = trajectory(
            user(timestamp="2026-01-01"),
            agent(tool_calls=[call("")], timestamp="x", reasoning_content=5),
            notes=5,
        )
        (one,) = read(source)
        one.notes = "n"
        one.turns[0].timestamp = "2026-01-02T00:00:00Z"
        (edited,) = list(one.turns[1].tool_calls or ())
        edited.tool_call_id = "mine"
        options = WriteOptions()

        written = write_one(one, options)

        assert "n" == written["notes"]
        assert "2026-01-02T00:00:00Z" == written["steps"][0]["timestamp"]
        assert "mine" == written["steps"][1]["tool_calls"][0]["tool_call_id"]
        assert ("x", 5) == tuple(
            written["steps"][1][key] for key in ("timestamp", "reasoning_content")
        )
        assert [
            {
                "/notes": 5,
                "/steps/0/timestamp": "2026-01-01",
                "/steps/1/tool_calls/0/tool_call_id": "",
            }
        ] == list(options.unplaced_residuals.values())

    def test_turn_removed(self) -> None:
        """What was set aside of a step that is gone has no place."""
        (one,) = read(trajectory(user(), {**user(), "x": 1}))
        del one.turns[1]
        options = WriteOptions()
        assert 1 == len(write_one(one, options)["steps"])
        assert [{"/steps/1/x": 1}] == list(options.unplaced_residuals.values())

    def test_two_for_one_place(self) -> None:
        """Of two values for one place of a node the first one has it."""
        (one,) = read(trajectory(user()))
        found = {"/x": 1, "/subagent_trajectories/3/x": 2}
        one.unknown_fields["atif"] = Residuals(source_document_id="d", fields=found)
        options = WriteOptions()
        assert 1 == write_one(one, options)["x"]
        assert [{"/subagent_trajectories/3/x": 2}] == list(options.unplaced_residuals.values())

    def test_place_of_the_envelope(self) -> None:
        """Nothing is put where an envelope can be."""
        (one,) = read(trajectory(user(), extra={}))
        found = {"/_storyline": 1, "/extra/_storyline": 2, "/extra/x": 3}
        one.unknown_fields["atif"] = Residuals(source_document_id="d", fields=found)
        options = WriteOptions()
        assert {"x": 3} == write_one(one, options)["extra"]
        assert [{"/_storyline": 1, "/extra/_storyline": 2}] == list(
            options.unplaced_residuals.values()
        )

    def test_foreign_with_native_residuals(self) -> None:
        """A Storyline of another format keeps residuals of ATIF in its envelope."""
        one = storyline(turn())
        one.unknown_fields["atif"] = Residuals(source_document_id="d", fields={"/x": 1})
        options = WriteOptions()
        assert "x" not in write_one(one, options)
        assert [{"/x": 1}] == list(options.unplaced_residuals.values())

    def test_shared_values_stay(self) -> None:
        """What a document shares with a Storyline is not changed by putting something back."""
        source = trajectory(
            agent("x", "x", **results({"source_call_id": "x"}, {"source_call_id": "x"}))
        )
        (one,) = read(source)
        before = [dict(result) for result in one.turns[0].observation["results"]]
        assert source == write_one(one)
        assert before == one.turns[0].observation["results"]
        assert [{"source_call_id": "x"}, {"source_call_id": "x#2"}] == before
        assert {
            "/steps/0/tool_calls/1/tool_call_id": "x",
            "/steps/0/observation/results/1/source_call_id": "x",
        } == fields(one)


def evolved(one: Storyline, **members: Any) -> Storyline:
    for name, value in members.items():
        setattr(one, name, value)
    return one
