"""Folding: which environment steps become results, of which turns, and what a skeleton says."""

from __future__ import annotations

from typing import Any

import pytest

from hub import Residuals, WriteOptions

from .builders import agent, environment, fields, read_one, storyline, trajectory, turn, write_one

Json = Any

T1, T2, T3 = (f"2026-06-05T03:11:0{second}.000000Z" for second in (1, 2, 3))
USER = {"source": "user", "message": "u"}
METRICS = dict.fromkeys(
    (
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_creation_tokens",
        "cost_usd",
        "duration_ms",
    )
)


def results(value: Json) -> list[list[Json]]:
    """Return for each turn the content of its results."""
    return [
        [result["content"] for result in (turn.observation or {"results": []})["results"]]
        for turn in read_one(value).turns
    ]


class TestFolded:
    def test_by_id_not_by_place(self) -> None:
        """Results go to the turn that made their call, others to the host of the first that has one."""
        assert [["r-gone", "r-a"], ["r-b"], []] == results(
            trajectory(agent("a"), agent("b"), agent(), environment("gone", "a", "b"))
        )

    def test_nearest_agent_turn(self) -> None:
        """Without any such call the nearest agent turn before is the host."""
        assert [[], ["r-gone"], []] == results(
            trajectory(agent("a"), agent(), USER, environment("gone"))
        )

    def test_message_and_error(self) -> None:
        """A message and an error are results without a call, of the default host."""
        source = trajectory(agent("a"), agent(), environment("a", message="changed"))
        source["steps"][2]["observation"]["error"] = "lost"

        found = read_one(source)

        assert [
            {"source_call_id": "a", "content": "r-a"},
            {"content": "changed"},
            {"content": "lost", "is_error": True},
        ] == found.turns[0].observation["results"]

    def test_message_parts(self) -> None:
        """A message of parts is folded as parts, in the spelling of parts."""
        message = [{"type": "image", "image": {"path": "a.png"}}]

        found = read_one(trajectory(agent(), {"source": "environment", "message": message}))

        image = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
        assert {"results": [{"content": [image]}]} == found.turns[0].observation

    @pytest.mark.parametrize(
        "step",
        [
            {"source": "environment"},
            {"source": "environment", "observation": {}},
            {"source": "environment", "metrics": {"input_tokens": 1}},
            environment("a", reasoning=""),
            environment("a", tool_calls=[{"id": "x", "name": "f"}]),
        ],
    )
    def test_not_folded(self, step: Json) -> None:
        """A step with calls or reasoning, or with nothing to fold, stays a turn."""
        assert ["agent", "environment"] == [
            one.source for one in read_one(trajectory(agent("a"), step)).turns
        ]

    def test_no_host(self) -> None:
        """Without an agent turn before it, a step stays a turn."""
        assert ["user", "environment"] == [
            one.source for one in read_one(trajectory(USER, environment("a"))).turns
        ]


class TestFinishedAt:
    def test_last_time(self) -> None:
        """A turn ends at the time of the last step that was folded into it."""
        found = read_one(
            trajectory(
                agent("a", "b", timestamp=T1),
                environment("a", timestamp=T2),
                environment("b", timestamp=T3),
            )
        )

        assert found.turns[0].finished_at == T3

    def test_every_host(self) -> None:
        """Every turn that got something ends at that time, no other does."""
        source = trajectory(agent("a"), agent("b"), agent(), environment("a", "b", timestamp=T2))

        assert [T2, T2, None] == [one.finished_at for one in read_one(source).turns]

    @pytest.mark.parametrize("members", [{"timestamp": T1}, {}, {"timestamp": "noon"}])
    def test_unset(self, members: Json) -> None:
        """The time at which the turn began, no time, and a text that is none leave it unset."""
        found = read_one(trajectory(agent("a", timestamp=T1), environment("a", **members)))

        assert found.turns[0].finished_at is None

    def test_own_observation(self) -> None:
        """The observation of the agent step itself says nothing of an end."""
        own = {"results": [{"tool_call_id": "a"}]}

        assert (
            read_one(trajectory(agent("a", timestamp=T1, observation=own))).turns[0].finished_at
            is None
        )


class TestSkeletons:
    @pytest.mark.parametrize(
        "steps",
        [
            [agent("a", timestamp=T1), environment("a", timestamp=T2)],
            [agent("a", timestamp=T1), environment("a", timestamp=T1)],
            [agent("a"), environment("a")],
            [agent("a"), environment("a", timestamp=T1)],
            [agent("a", "b"), environment("b", "a", "gone", "")],
            [agent(), environment("gone")],
            [agent("a"), environment("a", metrics=None, extra={}, reasoning=None)],
        ],
    )
    def test_regular(self, steps: list[Json]) -> None:
        """A regular step needs no skeleton."""
        assert {} == fields(read_one(trajectory(*steps)))

    @pytest.mark.parametrize(
        ("steps", "skeletons"),
        [
            # not directly behind its host
            (
                [agent("a"), USER, environment("a")],
                {"/steps/2": {"after": 2, "results": [[1, 0]]}},
            ),
            # a host that gets something else
            (
                [agent("a", "b"), environment("a"), environment("b")],
                {
                    "/steps/1": {"after": 1, "results": [[1, 0]]},
                    "/steps/2": {"after": 1, "results": [[1, 1]]},
                },
            ),
            # no result, several kinds of content
            (
                [
                    agent("a"),
                    {"source": "environment", "message": "x", "observation": {"error": "e"}},
                ],
                {"/steps/1": {"after": 1, "message": [1, 0], "results": [], "error": [1, 1]}},
            ),
            (
                [agent("a"), {"source": "environment", "message": "x"}],
                {"/steps/1": {"after": 1, "message": [1, 0]}},
            ),
            # metrics and extra
            (
                [
                    agent("a"),
                    environment("a", metrics={"input_tokens": 1, "cost_usd": None}, extra={"k": 1}),
                ],
                {
                    "/steps/1": {
                        "after": 1,
                        "metrics": {"input_tokens": 1},
                        "extra": {"k": 1},
                        "results": [[1, 0]],
                    }
                },
            ),
            (
                [agent("a"), environment("a", metrics={})],
                {"/steps/1": {"after": 1, "metrics": {}, "results": [[1, 0]]}},
            ),
            # another id
            (
                [agent("a"), environment("a", step_id=5)],
                {"/steps/1": {"after": 1, "step_id": 5, "results": [[1, 0]]}},
            ),
            # another time than the writer would give
            (
                [agent("a", timestamp=T1), environment("a")],
                {"/steps/1": {"after": 1, "results": [[1, 0]]}},
            ),
            (
                [agent("a", timestamp=T1), environment("a", timestamp="noon")],
                {"/steps/1": {"after": 1, "timestamp": "noon", "results": [[1, 0]]}},
            ),
            # an own observation beside it
            (
                [agent("a", observation={}), environment("a")],
                {
                    "/steps/0": {"on": 1, "results": []},
                    "/steps/1": {"after": 1, "results": [[1, 0]]},
                },
            ),
            (
                [agent("a", observation={"error": "e"})],
                {"/steps/0": {"on": 1, "results": [], "error": [1, 0]}},
            ),
        ],
    )
    def test_irregular(self, steps: list[Json], skeletons: Json) -> None:
        """Any other has one that says what differs, and is written as it was."""
        source = trajectory(*steps)

        found = read_one(source)

        assert skeletons == fields(found)
        written = write_one(found)["steps"]
        assert [step["step_id"] for step in source["steps"]] == [
            step["step_id"] for step in written
        ]
        assert [step["source"] for step in source["steps"]] == [step["source"] for step in written]
        assert [step.get("timestamp") for step in source["steps"]] == [
            step.get("timestamp") for step in written
        ]
        assert found == read_one(write_one(found))

    def test_repeated_ids(self) -> None:
        """Where ids say nothing but the position, a skeleton says nothing of them either."""
        found = read_one(
            trajectory(agent("a", step_id=1), environment("a", step_id=1, extra={"k": 1}))
        )

        assert {
            "/steps/1/step_id": 1,
            "/steps/1": {"after": 1, "extra": {"k": 1}, "results": [[1, 0]]},
        } == fields(found)

    def test_wrong_time(self) -> None:
        """A time of the wrong type is a residual of its own, and not in the skeleton."""
        found = read_one(trajectory(agent("a"), environment("a", timestamp=5, extra={"k": 1})))

        assert {
            "/steps/1/timestamp": 5,
            "/steps/1": {"after": 1, "extra": {"k": 1}, "results": [[1, 0]]},
        } == fields(found)


def edited(*results: Json, **skeletons: Json) -> tuple[list[Json], list[str]]:
    """Return the steps and the warnings of a Storyline from ALE with one agent turn and skeletons by step index."""
    one = storyline(
        turn(observation={"results": list(results)}),
        origin="ale",
        unknown_fields={
            "ale": Residuals(
                source_document_id="s",
                fields={f"/steps/{name[1:]}": value for name, value in skeletons.items()},
            )
        },
    )
    options = WriteOptions()
    steps = write_one(one, options)["steps"]
    assert {} == options.unplaced_residuals
    return steps, [problem.rule for _, problem in options.problems]


FITTING = {"after": 1, "results": [[1, 0]], "timestamp": T2, "extra": {"k": 1}}


class TestFit:
    def test_present_content(self) -> None:
        """A skeleton that fits is written with what its entries hold at present."""
        steps, warnings = edited({"content": "new"}, _1=FITTING)

        assert [] == warnings
        assert {
            "step_id": 2,
            "timestamp": T2,
            "source": "environment",
            "message": None,
            "reasoning": None,
            "tool_calls": [],
            "observation": {
                "results": [
                    {
                        "tool_call_id": "",
                        "content": [{"type": "text", "text": "new", "image": None}],
                        "is_error": False,
                    }
                ],
                "error": None,
            },
            "metrics": None,
            "extra": {"k": 1},
        } == steps[1]

    def test_rest_comes_first(self) -> None:
        """What no skeleton claims is on the turn's own environment step, before the others."""
        steps, _ = edited({"content": "old"}, {"content": "new"}, _1=FITTING)

        assert [None, "new", "old"] == [
            step["observation"] and step["observation"]["results"][0]["content"][0]["text"]
            for step in steps
        ]

    @pytest.mark.parametrize(
        "skeleton",
        [
            5,
            {},
            {"results": [[1, 0]]},
            {"after": 7, "results": [[1, 0]]},
            {"after": "1", "results": [[1, 0]]},
            {"after": True, "results": [[1, 0]]},
            {"after": 1, "results": []},
            {"after": 1},
            {"after": 1, "results": [[1, 1]]},
            {"after": 1, "results": [[1, -1]]},
            {"after": 1, "results": [[2, 0]]},
            {"after": 1, "results": [[1, 0], [1, 0]]},
            {"after": 1, "results": [[1, 0]], "message": [1, 0]},
            {"after": 1, "results": [1]},
            {"after": 1, "results": [[1, 0, 0]]},
            {"after": 1, "results": [[1, True]]},
            {"after": 1, "results": {}},
            {"after": 1, "results": [[1, 0]], "other": 1},
            {"after": 1, "results": [[1, 0]], "timestamp": 5},
            {"after": 1, "results": [[1, 0]], "step_id": "2"},
            {"after": 1, "results": [[1, 0]], "step_id": 2**63},
            {"after": 1, "results": [[1, 0]], "extra": []},
            {"after": 1, "results": [[1, 0]], "metrics": {"cost_usd": 1}},
            {"after": 1, "results": [[1, 0]], "metrics": {"foo": 1}},
            {"after": 1, "results": [[1, 0]], "metrics": 5},
            {"after": 1, "message": [1, 0]},
            {"after": 1, "error": [1, 0]},
            {"on": 1, "results": [[1, 1]]},
            {"on": 1, "after": 1, "results": [[1, 0]]},
            {"on": 1, "results": [[1, 0]], "timestamp": T1},
        ],
    )
    def test_does_not_fit(self, skeleton: Json) -> None:
        """A skeleton that does not fit is dropped with a warning, and its results are shown like any others."""
        steps, warnings = edited({"content": "x", "source_call_id": "c"}, _1=skeleton)

        assert ["ale.skeleton"] == warnings
        assert ["agent", "environment"] == [step["source"] for step in steps]
        assert {} == steps[1]["extra"]

    def test_claimed_twice(self) -> None:
        """Of two skeletons that claim one result the first in the order of steps has it."""
        steps, warnings = edited(
            {"content": "x"}, _10=FITTING, _9={**FITTING, "extra": {"first": 1}}
        )

        assert ["ale.skeleton"] == warnings
        assert [{}, {"first": 1}] == [step["extra"] for step in steps]

    def test_two_own_observations(self) -> None:
        """A step has one observation of its own."""
        steps, warnings = edited(
            {"content": "x"},
            {"content": "y"},
            _0={"on": 1, "results": [[1, 0]]},
            _1={"on": 1, "results": [[1, 1]]},
        )

        assert ["ale.skeleton"] == warnings
        assert ["x", "y"] == [
            step["observation"]["results"][0]["content"][0]["text"] for step in steps
        ]

    @pytest.mark.parametrize("content", [{"content": "x", "extra": 1}, {"content": 5}, "x", {}])
    def test_message_entry(self, content: Json) -> None:
        """A message must still be nothing but content, a text or parts."""
        _, warnings = edited(content, _1={"after": 1, "message": [1, 0]})

        assert ["ale.skeleton"] == warnings

    @pytest.mark.parametrize(
        "content",
        [
            {"content": "x"},
            {"content": "x", "is_error": False},
            {"content": [], "is_error": True},
            "x",
        ],
    )
    def test_error_entry(self, content: Json) -> None:
        """An error must still be nothing but a text and its flag."""
        _, warnings = edited(content, _1={"after": 1, "results": [], "error": [1, 0]})

        assert ["ale.skeleton"] == warnings

    def test_turn_behind(self) -> None:
        """References lead to the turn itself or to turns before it, not behind it."""
        one = storyline(
            turn(1),
            turn(2, observation={"results": [{"content": "x"}]}),
            origin="ale",
            unknown_fields={
                "ale": Residuals(
                    source_document_id="s", fields={"/steps/1": {"after": 1, "results": [[2, 0]]}}
                )
            },
        )
        options = WriteOptions()

        write_one(one, options)

        assert ["ale.skeleton"] == [problem.rule for _, problem in options.problems]

    def test_own_observation_of_another_source(self) -> None:
        """The observation of an agent step does not fit a turn that is written as another source."""
        one = storyline(
            turn(1, "user", observation={"results": [{"content": "x"}]}),
            origin="ale",
            unknown_fields={
                "ale": Residuals(
                    source_document_id="s", fields={"/steps/0": {"on": 1, "results": [[1, 0]]}}
                )
            },
        )
        options = WriteOptions()

        written = write_one(one, options)

        assert ["ale.skeleton"] == [problem.rule for _, problem in options.problems]
        assert written["steps"][0]["observation"]["results"][0]["content"][0]["text"] == "x"

    def test_mark_of_a_skeleton(self) -> None:
        """A skeleton's step is marked when its results would be found elsewhere."""
        mark = {"_storyline": {"version": 1, "as": "results"}}
        source = trajectory(agent("a"), agent(), environment("a", extra={**mark, "k": 1}))

        written = write_one(read_one(source))

        assert {"k": 1, **mark} == written["steps"][2]["extra"]
        assert {"k": 1} == write_one(read_one(source), WriteOptions(carry=False))["steps"][2][
            "extra"
        ]
