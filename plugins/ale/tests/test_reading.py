"""ALE to Storyline: fields, absence, identities, ids, prompts."""

from __future__ import annotations

from typing import Any

import pytest

from hub import Prompt
from hub.testing import to_wire

from .builders import ROOT, agent, environment, fields, read, read_one, trajectory, write, write_one

Json = Any

USER = {"source": "user", "message": "u"}


def wire(value: Json) -> dict[str, Json]:
    return to_wire(read_one(value))


def step_turn(**members: Json) -> dict[str, Json]:
    """Return the wire JSON of the turn that an agent step with *members* becomes."""
    (found,) = wire(trajectory({"source": "agent", "message": "m", **members}))["turns"]
    assert isinstance(found, dict)
    return found


class TestTrajectory:
    def test_every_field(self) -> None:
        """Every member of a trajectory has its place."""
        source = {
            **ROOT,
            "agent": {"name": "cc", "version": "1", "model": "m", "extra": {"a": 1}},
            "variant_index": 2,
            "instruction": "Do it.",
            "started_at": "2026-06-05T03:11:00.000000Z",
            "ended_at": "2026-06-05T03:11:09.000000Z",
            "final_metrics": {
                "total_steps": 3,
                "total_cost_usd": 0.5,
                "reward": 0.25,
                "status": "timeout",
            },
            "continued_trajectory_ref": "part-0.json",
            "extra": {"codex": {}},
            "steps": [],
        }

        assert {
            "schema_version": "storyline/v1",
            "origin": {"format": "ale", "schema_version": "ALE-v1.0"},
            "session": "e1",
            "run": "demo/note#variant-2",
            "agent": {"id": "cc", "name": "cc", "ver": "1", "model": "m", "extra": {"a": 1}},
            "task": {
                "env": {"name": "demo/note", "state": {"variant_index": 2}},
                "result": {"score": 0.25, "status": "timeout"},
            },
            "prompt": {"user": "Do it."},
            "started_at": "2026-06-05T03:11:00.000000Z",
            "finished_at": "2026-06-05T03:11:09.000000Z",
            "final_metrics": {
                "total_steps": 3,
                "total_input_tokens": 0,
                "total_output_tokens": 0,
                "total_cache_read_tokens": 0,
                "total_cache_creation_tokens": 0,
                "total_cost_usd": 0.5,
                "total_duration_ms": 0,
                "reward": 0.25,
                "status": "timeout",
            },
            "continued_trajectory_ref": "part-0.json",
            "extra": {"codex": {}},
            "turns": [],
        } == wire(source)

    def test_absence(self) -> None:
        """Defaults leave everything unset but the turns."""
        source = {
            **ROOT,
            "agent": {"name": "cc", "version": None, "model": None, "extra": {}},
            "instruction": "",
            "steps": [],
            "final_metrics": None,
            "ended_at": None,
            "subagent_trajectories": [],
            "continued_trajectory_ref": None,
            "extra": {},
        }

        expected = {
            "schema_version": "storyline/v1",
            "origin": {"format": "ale", "schema_version": "ALE-v1.0"},
            "session": "e1",
            "run": "demo/note",
            "agent": {"id": "cc", "name": "cc"},
            "task": {"env": {"name": "demo/note", "state": {"variant_index": 0}}},
            "turns": [],
        }
        assert expected == wire(source)
        assert expected == wire(ROOT)

    def test_empty_final_metrics(self) -> None:
        """Final metrics that say nothing are the defaults, and an outcome."""
        found = wire({**ROOT, "final_metrics": {}})

        assert {"status": "completed"} == found["task"]["result"]
        assert {
            "total_steps": 0,
            "total_input_tokens": 0,
            "total_output_tokens": 0,
            "total_cache_read_tokens": 0,
            "total_cache_creation_tokens": 0,
            "total_cost_usd": 0.0,
            "total_duration_ms": 0,
            "status": "completed",
        } == found["final_metrics"]

    def test_blank_status(self) -> None:
        """A blank status, which is an error, is no outcome, and stays among the totals."""
        found = wire({**ROOT, "final_metrics": {"status": ""}})

        assert "result" not in found["task"]
        assert found["final_metrics"]["status"] == ""


class TestStep:
    def test_every_field(self) -> None:
        """Every member of a step has its place; nulls among the metrics are left out."""
        assert {
            "id": 1,
            "src": "agent",
            "kind": "autonomous",
            "ts": "2026-06-05T03:11:01.000000Z",
            "msg": "m",
            "reason": "why",
            "tool_calls": [{"tcid": "c", "fn": "bash", "args": {"cmd": "ls"}}],
            "metrics": {"input_tokens": 5, "cost_usd": 0.5, "duration_ms": 900},
            "latency_ms": 900,
            "extra": {"stop_reason": "tool_use"},
        } == step_turn(
            timestamp="2026-06-05T03:11:01.000000Z",
            reasoning="why",
            tool_calls=[{"id": "c", "name": "bash", "arguments": {"cmd": "ls"}}],
            metrics={"input_tokens": 5, "output_tokens": None, "cost_usd": 0.5, "duration_ms": 900},
            extra={"stop_reason": "tool_use"},
        )

    def test_absence(self) -> None:
        """Nulls, no calls and an empty extra are unset; a null message is a message."""
        absent: dict[str, Json] = {
            "reasoning": None,
            "tool_calls": [],
            "observation": None,
            "metrics": None,
            "extra": {},
        }

        assert {"id": 1, "src": "agent", "msg": None} == step_turn(message=None, **absent)

    def test_what_stays(self) -> None:
        """Blank reasoning, blank and empty messages, and metrics of nulls only are there."""
        assert {"id": 1, "src": "agent", "msg": "", "reason": "", "metrics": {}} == step_turn(
            message="", reasoning="", metrics={"input_tokens": None}
        )
        assert {"id": 1, "src": "agent", "msg": []} == step_turn(message=[])

    @pytest.mark.parametrize("source", ["user", "system"])
    def test_observation_of_others(self, source: str) -> None:
        """The observation of a user or system step stays on its turn, error included."""
        observation = {"results": [{"tool_call_id": "c", "content": []}], "error": "lost"}

        (_, found) = wire(trajectory(agent("c"), {"source": source, "observation": observation}))[
            "turns"
        ]

        assert {
            "id": 2,
            "src": source,
            "msg": None,
            "observation": {"results": [{"source_call_id": "c", "content": []}], "error": "lost"},
        } == found

    def test_empty_observation(self) -> None:
        """An observation without results is there."""
        (found,) = wire(
            trajectory({"source": "user", "message": "u", "observation": {"results": []}})
        )["turns"]

        assert {"results": []} == found["observation"]

    def test_kinds(self) -> None:
        """Agent steps with calls are autonomous, environment turns observations; other kinds are derived."""
        found = wire(
            trajectory(
                environment(),
                agent("c"),
                agent(),
                {**USER, "tool_calls": [{"id": "d", "name": "f"}]},
            )
        )

        assert ["observation", "autonomous", None, None] == [
            turn.get("kind") for turn in found["turns"]
        ]


class TestIdentities:
    def test_nested(self) -> None:
        """A sub-agent is a Storyline behind its parent's, linked both ways by identity."""
        grandchild = {**ROOT, "episode_id": "g"}
        child = {**ROOT, "episode_id": "c", "subagent_trajectories": [grandchild]}
        other = {**ROOT, "episode_id": "d"}

        found = read({**ROOT, "subagent_trajectories": [child, other]})

        assert [
            ("e1", None, None, ["c", "d"], ""),
            ("c", "c", "e1", ["g"], "/subagent_trajectories/0"),
            ("g", "g", "c", None, "/subagent_trajectories/0/subagent_trajectories/0"),
            ("d", "d", "e1", None, "/subagent_trajectories/1"),
        ] == [
            (
                one.session_id,
                one.trajectory_id,
                one.parent and one.parent.session_id,
                one.child_ids,
                one.node,
            )
            for one in found
        ]

    def test_taken(self) -> None:
        """An identity that is taken gets the smallest free number; the episode stays the session."""
        child = {**ROOT, "episode_id": "e1"}
        second = {**ROOT, "episode_id": "e1#2"}
        source = {**ROOT, "subagent_trajectories": [child, second, child]}

        found = read(source)

        assert [("e1", None), ("e1", "e1#2"), ("e1#2", "e1#2#2"), ("e1", "e1#3")] == [
            (one.session_id, one.trajectory_id) for one in found
        ]
        (written,) = write(*found)
        assert ["e1", "e1#2", "e1"] == [
            one["episode_id"] for one in written["subagent_trajectories"]
        ]

    def test_deep(self) -> None:
        """Nesting is bounded by no recursion."""
        source: Json = {**ROOT, "episode_id": "leaf"}
        for level in range(250):
            source = {**ROOT, "episode_id": str(level), "subagent_trajectories": [source]}

        found = read(source)

        assert len(found) == 251
        (written,) = write(*found)
        for _ in range(250):
            (written,) = written["subagent_trajectories"]
        assert written["episode_id"] == "leaf"

    @pytest.mark.parametrize(
        ("members", "run"),
        [
            ({"task_path": "t", "variant_index": 0}, "t"),
            ({"task_path": "t", "variant_index": 3}, "t#variant-3"),
            ({"task_path": "t", "variant_index": -1}, "t#variant--1"),
            ({"task_path": "", "variant_index": 3}, None),
        ],
    )
    def test_run(self, members: dict[str, Json], run: str | None) -> None:
        """The run is the task, with the variant when that is not the first."""
        assert run == read_one({**ROOT, **members}).run_id


class TestResolution:
    def test_nearest_turn(self) -> None:
        """A result answers the nearest turn before it that has the call."""
        found = read_one(trajectory(agent("c"), agent("c"), environment("c")))

        assert found.turns[0].observation is None
        assert {"results": [{"source_call_id": "c#2", "content": "r-c"}]} == found.turns[
            1
        ].observation

    def test_first_without_result(self) -> None:
        """Of several calls with its id there, it answers the first that has no result yet, else the first."""
        found = read_one(trajectory(agent("c", "c"), environment("c", "c", "c")))

        results = found.turns[0].observation["results"]
        assert ["c", "c#2", "c"] == [result["source_call_id"] for result in results]

    def test_not_a_later_call(self) -> None:
        """It never answers a call that comes after it."""
        found = read_one(trajectory(agent(), environment("c"), agent("c")))

        assert {"results": [{"source_call_id": "c", "content": "r-c"}]} == found.turns[
            0
        ].observation
        assert found.turns[1].observation is None

    def test_call_of_another_source(self) -> None:
        """The call of a user step is found, but its turn is no host."""
        caller = {**USER, "tool_calls": [{"id": "c", "name": "f"}, {"id": "c", "name": "f"}]}

        found = read_one(trajectory(agent(), caller, environment("c", "c")))

        results = found.turns[0].observation["results"]
        assert ["c", "c#2"] == [result["source_call_id"] for result in results]
        assert found.turns[1].observation is None


class TestMarks:
    def mark(self, word: str, **members: Json) -> dict[str, Json]:
        return {
            "source": "user",
            "message": "P",
            "extra": {"_storyline": {"version": 1, "as": word}},
            **members,
        }

    def test_document_prompts(self) -> None:
        """Marked steps at the start are the prompts of the document, and no turns."""
        source = trajectory(
            self.mark("prompt", source="system", message="S"),
            self.mark("prompt"),
            agent(),
            instruction="P",
        )

        found = read_one(source)

        assert Prompt(system="S", user="P") == found.prompt
        assert [(1, "agent")] == [(one.turn_id, one.source) for one in found.turns]
        assert {} == fields(found)

    def test_turn_prompts(self) -> None:
        """A turn prompt is in force from its turn on, until it is what the document says."""
        source = trajectory(
            self.mark("prompt", source="system", message="S"),
            self.mark("turn-prompt", message="U2"),
            agent(),
            agent(),
            self.mark("turn-prompt", source="system", message="S2"),
            self.mark("turn-prompt", message="P"),
            agent(),
            self.mark("turn-prompt", source="system", message="S"),
            agent(),
            instruction="P",
        )

        prompts = [one.prompt for one in read_one(source).turns]

        second = Prompt(system="S", user="U2")
        assert [second, second, Prompt(system="S2", user="P"), None] == prompts

    @pytest.mark.parametrize(
        "step",
        [
            {"source": "agent"},
            {"source": "environment"},
            {"message": "Q"},
            {"message": ""},
            {"message": None},
            {"message": [{"type": "text", "text": "P"}]},
            {"timestamp": "2026-06-05T03:11:01.000000Z"},
            {"reasoning": "r"},
            {"metrics": {}},
            {"observation": {}},
            {"tool_calls": [{"name": "f"}]},
            {"extra": {"_storyline": {"version": 1, "as": "prompt"}, "a": 1}},
        ],
    )
    def test_edited_prompt(self, step: dict[str, Json]) -> None:
        """A prompt step that was edited is an ordinary turn, without the mark."""
        source = trajectory(self.mark("prompt", **step), agent(), instruction="P")

        found = read_one(source)

        assert len(found.turns) == 2
        assert Prompt(user="P") == found.prompt
        assert found.turns[0].extra == ({"a": 1} if "extra" in step else None)

    def test_prompt_behind_a_turn(self) -> None:
        """Only steps before any turn are prompts of the document, and each source once."""
        late = trajectory(agent(), self.mark("prompt"), instruction="P")
        twice = trajectory(self.mark("prompt"), self.mark("prompt"), agent(), instruction="P")

        assert ["agent", "user"] == [one.source for one in read_one(late).turns]
        assert ["user", "agent"] == [one.source for one in read_one(twice).turns]

    @pytest.mark.parametrize(
        "following",
        [
            [],
            [{"source": "agent", "timestamp": "2026-06-05T03:11:01.000000Z"}],
            [environment("c")],
            ["again", agent()],
        ],
    )
    def test_turn_prompt_without_its_turn(self, following: list[Json]) -> None:
        """A turn prompt that does not stand directly before its turn is an ordinary turn."""
        steps = [
            self.mark("turn-prompt", message="X") if step == "again" else step for step in following
        ]
        source = trajectory(agent("c"), self.mark("turn-prompt"), *steps)

        assert "P" in [one.message for one in read_one(source).turns]

    @pytest.mark.parametrize(
        "following",
        [
            {"extra": {"a": 1}},
            {"reasoning": "r"},
            {"metrics": {"input_tokens": 1}},
            {"extra": {"_storyline": {"version": 1, "as": "prompt"}}},
        ],
    )
    def test_turn_prompt_before_one_that_is_none(self, following: dict[str, Json]) -> None:
        """A step of the same source that is no prompt itself is the turn, if it stands directly behind."""
        step = self.mark("turn-prompt", message="Q", **following)

        (found,) = read_one(trajectory(self.mark("turn-prompt"), step)).turns

        assert ("Q", Prompt(user="P")) == (found.message, found.prompt)

    def test_turn_prompt_before_a_marked_turn(self) -> None:
        """The turn of the environment that is not folded has its prompt like any other."""
        source = trajectory(
            agent(),
            self.mark("turn-prompt"),
            environment("c", extra=self.mark("turn")["extra"]),
        )

        assert [None, Prompt(user="P")] == [one.prompt for one in read_one(source).turns]

    def test_environment_turn(self) -> None:
        """An environment step that is marked as a turn is not folded."""
        found = read_one(
            trajectory(agent("c"), environment("c", extra={**self.mark("turn")["extra"], "a": 1}))
        )

        assert ["agent", "environment"] == [one.source for one in found.turns]
        assert {"a": 1} == found.turns[1].extra
        assert {} == fields(found)

    def test_results_here(self) -> None:
        """An environment step that is marked as results belongs to the turn before it, whatever it answers."""
        found = read_one(
            trajectory(agent("c"), agent(), environment("c", extra=self.mark("results")["extra"]))
        )

        assert found.turns[0].observation is None
        assert {"results": [{"source_call_id": "c", "content": "r-c"}]} == found.turns[
            1
        ].observation
        assert {} == fields(found)

    def test_results_behind_another_turn(self) -> None:
        """That mark has no effect behind a turn which is no host."""
        found = read_one(
            trajectory(agent("c"), USER, environment("c", extra=self.mark("results")["extra"]))
        )

        assert {"results": [{"source_call_id": "c", "content": "r-c"}]} == found.turns[
            0
        ].observation

    @pytest.mark.parametrize(
        "mark",
        [
            {"version": 2, "as": "turn"},
            {"version": 1.0, "as": "turn"},
            {"version": True, "as": "turn"},
            {"version": 1, "as": "other"},
            {"version": 1, "as": ["turn"]},
            {"version": 1},
            {"version": 1, "as": "turn", "more": 1},
            "turn",
            None,
        ],
    )
    def test_ordinary_data(self, mark: Json) -> None:
        """Any other value of the key is ordinary data, and goes back."""
        source = trajectory(agent("c"), environment("c", extra={"_storyline": mark}))

        found = read_one(source)

        assert len(found.turns) == 1
        assert {"_storyline": mark} == fields(found)["/steps/1"]["extra"]
        assert {"_storyline": mark} == write_one(found)["steps"][1]["extra"]
