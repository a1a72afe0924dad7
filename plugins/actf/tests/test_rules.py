"""Every rule of ACTF: when it is broken, where, how grave that is, and what is kept."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hub_actf import plugin
from hub_actf.rules import RULES, result_call

import hub
from hub import InvalidDocument, Origin, Problem, Residuals, Source, Storyline, WriteOptions
from hub.testing import from_wire

from .builders import (
    M0,
    T0,
    A,
    S,
    T,
    attempt,
    document,
    fields,
    parse,
    problems,
    read,
    read_one,
    record,
    record_attempt,
    record_step,
    step,
    trajectory,
    write,
    written,
    written_step,
)

Json = Any


def without(value: Json, key: str) -> Json:
    """Return *value* without its member *key*."""
    return {name: member for name, member in value.items() if name != key}


def with_attempt(value: Json) -> Json:
    """Return a document with one attempt."""
    return document(attempts={"1": value})


def with_trajectory(value: Json) -> Json:
    """Return a document whose attempt has that trajectory."""
    return with_attempt(attempt(trajectory=value))


class TestCatalogue:
    """The rules as data."""

    def test_ids_are_unique(self) -> None:
        """Every rule has an id of its own, below that of the format."""
        ids = [rule.rule for rule in RULES]

        assert len(set(ids)) == len(ids) == 33
        assert all(one.startswith("actf.") for one in ids)

    def test_no_problem(self) -> None:
        """A sound document breaks none, in either form."""
        assert problems(document(step())) == []
        assert problems(record(record_step())) == []


class TestFatal:
    """Documents of which no Storyline can be made."""

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (5, ": expected an object, found 5 [actf.object]"),
            (
                without(document(), "task_id"),
                "/task_id: expected a non-blank string, found nothing [actf.task-id]",
            ),
            (
                document(task_id=5),
                "/task_id: expected a non-blank string, found 5 [actf.task-id]",
            ),
            (
                document(task_id=" "),
                '/task_id: expected a non-blank string, found " " [actf.task-id]',
            ),
            (
                without(document(), "attempts"),
                (
                    "/attempts: expected an object with at least one attempt, found nothing "
                    "[actf.attempts]"
                ),
            ),
            (
                document(attempts=[1]),
                (
                    "/attempts: expected an object with at least one attempt, found an array of 1 "
                    "[actf.attempts]"
                ),
            ),
            (
                document(attempts={}, attempts_tried=0),
                (
                    "/attempts: expected an object with at least one attempt, found an empty object "
                    "[actf.attempts]"
                ),
            ),
            (with_attempt(5), f"{A}: expected an object, found 5 [actf.attempt]"),
            (
                with_trajectory("x"),
                f'{T}: expected an object or an array, found "x" [actf.trajectory]',
            ),
            (
                with_trajectory(trajectory(schema_version="ACTF_v2")),
                (
                    f'{T}/schema_version: unsupported version "ACTF_v2", supported: ACTF_v1.0 '
                    "[actf.version]"
                ),
            ),
            (
                with_trajectory({**trajectory(), "steps": {}}),
                f"{T}/steps: expected an array of objects, found an empty object [actf.steps]",
            ),
            (
                document(step(), 5),
                f"{T}/steps/1: expected an object, found 5 [actf.steps]",
            ),
        ],
    )
    def test_one_problem(self, value: Json, expected: str) -> None:
        """The problem names the place, what was asked for and what was found."""
        found = parse(value)

        place, _, rest = expected.partition(": ")
        (problem,) = found.problems
        assert str(problem) == (f"{place}: fatal: {rest}" if place else f"fatal: {rest}")
        assert found.is_fatal

    def test_a_fatal_problem_hides_no_other(self) -> None:
        """All problems are reported together."""
        value = document(
            step(metric={"llm_infer_ms": "5"}),
            category=" ",
            attempts={"1": attempt(step(started_at="soon")), "2": 5},
            attempts_tried=3,
        )

        assert [problem.rule for problem in parse(value).problems] == [
            "actf.category",
            "actf.attempts-tried",
            "actf.attempts-over-k",
            "actf.time",
            "actf.attempt",
        ]


class TestRequired:
    """Members that have to be there: read without them, and written with them."""

    @pytest.mark.parametrize("key", ["category", "k", "correct", "attempts_tried"])
    @pytest.mark.parametrize("absent", [True, False])
    def test_of_the_root(self, key: str, absent: bool) -> None:  # noqa: FBT001  # pytest's way
        """A missing member of the root, or one that is null, is reported and not set."""
        value = without(document(), key) if absent else document(**{key: None})
        shown = "nothing" if absent else "null"

        (problem,) = problems(value)
        assert problem.startswith(f"/{key}: error: expected ")
        assert problem.endswith(f", found {shown} [actf.required]")
        assert fields(value) == {}

    @pytest.mark.parametrize("key", ["correct", "trajectory"])
    def test_of_an_attempt(self, key: str) -> None:
        """The same for an attempt; without a trajectory it has no turns."""
        value = with_attempt(without(attempt(step()), key))

        assert [one.split(": ")[0] for one in problems(value)] == [f"{A}/{key}"]
        assert [one.split("[")[-1] for one in problems(value)] == ["actf.required]"]
        assert len(read_one(value)["turns"]) == (0 if key == "trajectory" else 1)

    @pytest.mark.parametrize("key", ["schema_version", "started_at", "finished_at", "steps"])
    def test_of_a_trajectory(self, key: str) -> None:
        """The same for a trajectory."""
        value = with_trajectory(without(trajectory(step()), key))

        assert [one.split(": ")[0] for one in problems(value)] == [f"{T}/{key}"]
        assert fields(value) == {}

    @pytest.mark.parametrize(
        "key", ["step_id", "assistant_content", "metric", "started_at", "finished_at"]
    )
    def test_of_a_step(self, key: str) -> None:
        """The same for a step, with a turn all the same."""
        value = document(without(step(), key))

        assert [one.split(": ")[0] for one in problems(value)] == [f"{S}/{key}"]
        assert fields(value) == {}
        assert len(read_one(value)["turns"]) == 1

    def test_what_is_missing_comes_back(self) -> None:
        """What is written has all of them."""
        value = {"task_id": "t", "attempts": {"1": {"trajectory": {"steps": [{}]}}}}
        filler = "1970-01-01 00:00:00+00:00"
        again = written(value)

        assert again == document(
            category="unknown",
            attempts={
                "1": attempt(
                    ground_truth="",
                    status="",
                    analysis_result=None,
                    trajectory=trajectory(
                        written_step(content="", started_at=filler, finished_at=filler),
                        started_at=filler,
                        finished_at=filler,
                    ),
                )
            },
        )


class TestTypes:
    """Members of another type are residuals, and come back."""

    @pytest.mark.parametrize(
        ("key", "value", "expected"),
        [
            ("category", 5, "a string"),
            ("k", "1", "an integer"),
            ("k", 1.0, "an integer"),
            ("k", True, "an integer"),
            ("k", 2**63, "an integer"),
            ("correct", 1, "a boolean"),
            ("attempts_tried", "1", "an integer"),
            ("solved_at", 5, "a string or null"),
        ],
    )
    def test_of_the_root(self, key: str, value: Json, expected: str) -> None:
        """No type is turned into another."""
        whole = document(written_step(), **{key: value})

        (problem,) = problems(whole)
        assert problem.startswith(f"/{key}: error: expected {expected}, found ")
        assert problem.endswith("[actf.type]")
        assert fields(whole) == {f"/{key}": value}
        assert written(whole) == whole

    @pytest.mark.parametrize("key", ["correct", "status", "error"])
    def test_of_an_attempt(self, key: str) -> None:
        """The same for an attempt."""
        whole = with_attempt(attempt(written_step(), **{key: 5}))

        assert [one.split("[")[-1] for one in problems(whole)] == ["actf.type]"]
        assert fields(whole) == {f"{A}/{key}": 5}
        assert written(whole) == whole

    @pytest.mark.parametrize("key", ["schema_version", "started_at", "finished_at"])
    def test_of_a_trajectory(self, key: str) -> None:
        """The same for a trajectory."""
        whole = with_trajectory(trajectory(written_step(), **{key: 5}))

        assert [one.split("[")[-1] for one in problems(whole)] == ["actf.type]"]
        assert fields(whole) == {f"{T}/{key}": 5}
        assert written(whole) == whole

    @pytest.mark.parametrize(
        "key",
        [
            "step_id",
            "assistant_content",
            "metric",
            "system_prompt",
            "user_content",
            "tools",
            "observation",
            "started_at",
            "finished_at",
        ],
    )
    def test_of_a_step(self, key: str) -> None:
        """The same for a step."""
        whole = document(written_step(content="", **{key: False}))

        assert [one.split("[")[-1] for one in problems(whole)] == ["actf.type]"]
        assert fields(whole) == {f"{S}/{key}": False}
        assert written(whole) == whole

    @pytest.mark.parametrize("key", ["content", "reasoning_content", "tool_calls"])
    def test_of_what_the_agent_said(self, key: str) -> None:
        """The same for `assistant_content`."""
        whole = document(written_step(**{key: 5}))

        assert [one.split("[")[-1] for one in problems(whole)] == ["actf.type]"]
        assert fields(whole) == {f"{S}/assistant_content/{key}": 5}
        assert written(whole) == whole

    def test_of_a_tool(self) -> None:
        """The same for the two members of a tool that have a type."""
        tool = {"id": 5, "type": [], "name": "n", "input": {}}
        whole = document(written_step(tools=[tool], tool_calls=[tool]))

        assert [one.split(": ")[0] for one in problems(whole)] == [
            f"{S}/{place}/0/{key}"
            for place in ("tools", "assistant_content/tool_calls")
            for key in ("id", "type")
        ]
        assert written(whole) == whole

    def test_elements_of_lists(self) -> None:
        """An element that is no object is reported at its place."""
        whole = document(written_step(tools=[5], observation=["o", {"type": 5}]))

        assert problems(whole) == [
            f"{S}/tools/0: error: expected an object, found 5 [actf.type]",
            f'{S}/observation/0: error: expected an object, found "o" [actf.type]',
            f"{S}/observation/1/type: error: expected a string or null, found 5 [actf.type]",
        ]
        assert fields(whole) == {f"{S}/tools": [5]}
        assert written(whole) == whole


class TestValues:
    """Values that break a rule, and what is kept of them."""

    def test_category(self) -> None:
        """A blank category is kept."""
        whole = document(written_step(), category=" ")

        assert problems(whole) == [
            '/category: error: expected a non-blank string, found " " [actf.category]'
        ]
        assert fields(whole) == {}
        assert written(whole) == whole

    def test_k(self) -> None:
        """A `k` below 1 is a residual."""
        whole = document(written_step(), k=0)

        assert problems(whole) == ["/k: error: expected an integer above 0, found 0 [actf.k]"]
        assert fields(whole) == {"/k": 0}
        assert written(whole) == whole

    def test_attempts_tried(self) -> None:
        """Another number than that of the attempts is kept."""
        whole = document(written_step(), k=2, attempts_tried=2)

        assert problems(whole) == [
            "/attempts_tried: error: expected 1, found 2 [actf.attempts-tried]"
        ]
        assert written(whole) == whole

    def test_attempts_over_k(self) -> None:
        """More attempts than allowed are kept."""
        whole = document(
            attempts_tried=2, attempts={"1": attempt(written_step()), "2": attempt(written_step())}
        )

        assert problems(whole) == [
            "/attempts_tried: error: expected at most 1, found 2 [actf.attempts-over-k]"
        ]
        assert written(whole) == whole

    @pytest.mark.parametrize("key", ["", " "])
    def test_attempt_key(self, key: str) -> None:
        """A blank key is kept."""
        whole = document(attempts={key: attempt(written_step(), vendor=1)})

        assert problems(whole) == [
            f'/attempts/{key}: error: expected a non-blank key, found "{key}" [actf.attempt-key]'
        ]
        assert written(whole) == whole

    def test_step_ids(self) -> None:
        """Ids are above 0 and rise; they are kept as they are."""
        whole = document(written_step(step_id=0), written_step(step_id=4), written_step(step_id=2))

        assert problems(whole) == [
            f"{S}/step_id: error: expected an integer above 0, found 0 [actf.step-id]",
            f"{T}/steps/2/step_id: error: expected more than 4, found 2 [actf.step-order]",
        ]
        assert fields(whole) == {}
        assert written(whole) == whole

    @pytest.mark.parametrize("time", ["", "  "])
    def test_time_blank(self, time: str) -> None:
        """A blank time is a residual."""
        whole = document(written_step(finished_at=time))

        assert problems(whole) == [
            (
                f'{S}/finished_at: error: expected a date-time with an offset, found "{time}" '
                "[actf.time-blank]"
            )
        ]
        assert fields(whole) == {f"{S}/finished_at": time}
        assert written(whole) == whole

    def test_time(self) -> None:
        """A time that is no Storyline time is a residual, and the message names the option that reads it."""
        whole = document(written_step(started_at="2026-01-01T00:00:00"))

        assert problems(whole) == [
            (
                f"{S}/started_at: warning: expected a date-time with an offset, found "
                '"2026-01-01T00:00:00"; --assume-timezone ZONE reads it [actf.time]'
            )
        ]
        assert written(whole) == whole

    def test_tools_differ(self) -> None:
        """Of two lists that differ the second is a residual."""
        one, other = {"id": "1", "name": "n", "input": {}}, {"id": "2", "name": "n", "input": {}}
        whole = document(written_step(tools=[one], tool_calls=[other]))

        assert problems(whole) == [
            (
                f"{S}/assistant_content/tool_calls: error: expected the same list as tools, found an "
                "array of 1 [actf.tools-differ]"
            )
        ]
        assert written(whole) == whole

    def test_call_ids(self) -> None:
        """An id twice in a step is an error, an id in two steps worth knowing."""
        tool = {"id": "x", "name": "n", "input": {}}
        whole = document(
            written_step(tools=[tool, tool], tool_calls=[tool, tool]),
            written_step(step_id=2, tool_calls=[tool], tools=[tool]),
        )

        assert problems(whole) == [
            (
                f'{S}/tools/1/id: error: expected an id that no other call of the step has, found "x" '
                "[actf.call-id-unique]"
            ),
            (
                f'{T}/steps/1/tools/0/id: info: expected an id that no earlier step has, found "x" '
                "[actf.call-id-reused]"
            ),
        ]
        assert written(whole) == whole

    def test_positional_ids_count(self) -> None:
        """An id that another call has by its position is twice in the step."""
        tools = [{"name": "n"}, {"id": "step-1-tool-0", "name": "m"}]

        assert [one.split("[")[-1] for one in problems(document(step(tools=tools)))] == [
            "actf.call-id-unique]"
        ]

    def test_metric(self) -> None:
        """A numeric metric that is no number is kept, since the metric is opaque."""
        whole = document(written_step(metric={**M0, "llm_infer_ms": "5", "env_action_ms": True}))

        assert problems(whole) == [
            f'{S}/metric/llm_infer_ms: error: expected a number or null, found "5" [actf.metric]',
            f"{S}/metric/env_action_ms: error: expected a number or null, found true [actf.metric]",
        ]
        assert fields(whole) == {}
        assert written(whole) == whole

    def test_many_result_calls(self) -> None:
        """Four times the calls of one step take some four times as long to check."""
        seconds = []
        for number in (2000, 8000):
            ids = [f"c{index}" for index in range(number)]
            steps = SimpleNamespace(
                observations=[[{"tool_use_id": one} for one in ids]], call_ids=[ids]
            )
            best = 60.0
            for _ in range(3):
                start = time.process_time()
                assert [] == list(result_call(steps, "/steps"))  # type: ignore[arg-type]
                best = min(best, time.process_time() - start)
            seconds.append(best)

        assert seconds[1] < 9 * seconds[0]

    def test_result_call(self) -> None:
        """A reference that names no call of its step is kept."""
        tool = {"id": "c", "name": "n", "input": {}}
        seen = [{"id": "c"}, {"tool_call_id": "d", "id": "c"}, {"tool_use_id": ""}]
        whole = document(
            written_step(tools=[tool], tool_calls=[tool], observation=seen),
            written_step(step_id=2, observation=[{"id": "c"}]),
        )

        assert problems(whole) == [
            (
                f'{S}/observation/1/tool_call_id: error: expected one of "c", found "d" '
                "[actf.result-call]"
            ),
            (
                f'{S}/observation/2/tool_use_id: error: expected one of "c", found "" '
                "[actf.result-call]"
            ),
            (
                f"{T}/steps/1/observation/0/id: error: expected no reference, since the step has no "
                'call, found "c" [actf.result-call]'
            ),
        ]
        assert written(whole) == whole

    def test_many_ids_are_not_all_named(self) -> None:
        """A message names some of the calls, not hundreds."""
        tools = [{"id": f"c{index}", "name": "n", "input": {}} for index in range(300)]
        (problem,) = problems(document(step(tools=tools, observation=[{"id": "d"}])))

        assert problem.endswith('"c7", …, found "d" [actf.result-call]')

    def test_events(self) -> None:
        """An event array is read one way, which is worth a warning."""
        assert problems(with_trajectory([])) == [
            (
                f"{T}: warning: an event array: read one way, what is not mapped is dropped "
                "[actf.events]"
            )
        ]


class TestUnknownMembers:
    """Members that nobody knows are legal, and come back."""

    KEYS = ("", "/", "~", "~1", "0", "ключ", "events")

    def test_everywhere(self) -> None:
        """Every object but those that are copied whole gives its unknown members back."""
        more = {key: [None, {"x": index}] for index, key in enumerate(self.KEYS)}
        tool = {"id": "c", "name": "n", "input": {}, **more}
        inner = written_step(tools=[tool], tool_calls=[tool], **more)
        inner["assistant_content"].update(more)
        whole = document(
            attempts={"a/b~c": attempt(trajectory=trajectory(inner, **more), **more)}, **more
        )

        assert problems(whole) == []
        # root, attempt, trajectory, step, assistant_content, and the tool in both lists
        assert len(fields(whole)) == 7 * len(self.KEYS)
        assert "/attempts/a~1b~0c/trajectory/steps/0/tools/0/~01" in fields(whole)
        assert written(whole) == whole

    def test_the_root_is_everybodys(self) -> None:
        """A member of the root goes to every Storyline, one of an attempt to its own."""
        whole = document(
            k=5,
            attempts_tried=3,
            vendor={"x": [None]},
            attempts={"10": attempt(), "2": attempt(), "b": attempt(vend=1)},
        )
        found = read(whole)

        assert [sorted(one.unknown_fields["actf"].fields) for one in found] == [
            ["/vendor"],
            ["/vendor"],
            ["/attempts/b/vend", "/vendor"],
        ]
        assert {one.unknown_fields["actf"].source_document_id for one in found} == {"t"}
        (again,) = write(found)
        assert again == whole


class TestRestoring:
    """residuals.md 5 and 6, with its examples 13 to 16 and 18."""

    @pytest.mark.parametrize(
        "place",
        [
            "/task_id",
            "/attempts/1/trajectory/steps/5/v",
            "/attempts/1/trajectory/steps/0/tools/0/v",
            "/attempts/1/trajectory/steps/5/tools/0/v",
            "/attempts/1/trajectory/steps/x/tools/0/v",
            "/attempts/1/trajectory/steps",
            "/attempts/2/v",
            "/attempts/2",
            "/attempts/1",
            "/attempts/1/trajectory/steps/0/step_id/v",
            "",
        ],
    )
    def test_without_a_place(self, place: str) -> None:
        """A residual without a place is named to the hub, with the Storyline that it is of."""
        storyline = self.made(place)
        options = WriteOptions()
        write([storyline], options)

        assert options.unplaced_residuals == {id(storyline): {place: {"v": 1}}}

    def test_fillers_give_way(self) -> None:
        """What stands for a field that is not set is replaced by a residual."""
        storyline = self.made("/category", "/attempts/1/meta", "/k", "/attempts/1/score")
        assert storyline.task is not None
        storyline.task.llm = None
        assert storyline.task.result is not None
        del storyline.task.result.extras["category"]
        options = WriteOptions()
        (found,) = write([storyline], options)

        assert (found["category"], found["k"]) == ({"v": 1}, {"v": 1})
        assert (found["attempts"]["1"]["meta"], found["attempts"]["1"]["score"]) == (
            {"v": 1},
            {"v": 1},
        )
        assert options.unplaced_residuals == {}

    @pytest.mark.parametrize(
        ("place", "value"),
        [("/task_id", 5), (f"{T}/schema_version", "ACTF_v2"), (T, "x"), (f"{T}/steps", {})],
    )
    def test_no_residual_makes_a_document_unreadable(self, place: str, value: Json) -> None:
        """What was never read as a residual is not put back, though a filler stands there."""
        storyline = self.made(place)
        storyline.unknown_fields["actf"].fields[place] = value
        storyline.run_id, storyline.session_id, storyline.turns = " ", " ", []
        storyline.unknown_fields["actf"].source_document_id = " "
        storyline.origin = Origin(format="actf")
        storyline.started_at = storyline.finished_at = None
        options = WriteOptions()
        (found,) = write([storyline], options)

        assert found["task_id"] == "unknown"
        assert not parse(found).is_fatal
        assert options.unplaced_residuals == {id(storyline): {place: value}}

    def test_what_the_storyline_says_wins(self) -> None:
        """A residual replaces nothing that a field holds."""
        storyline = self.made(
            "/category", "/k", f"{S}/assistant_content/content", f"{S}/started_at"
        )
        options = WriteOptions()
        (found,) = write([storyline], options)

        assert found == document(written_step())
        assert len(options.unplaced_residuals[id(storyline)]) == 4

    def test_opaque_values_of_the_storyline_are_not_changed(self) -> None:
        """A residual below a value that a Storyline shares goes into a copy of it."""
        storyline = self.made(f"{S}/metric/v", f"{A}/extra/v")
        storyline.extra = {"e": 1}
        (found,) = write([storyline])

        assert found["attempts"]["1"]["extra"] == {"e": 1, "v": {"v": 1}}
        assert storyline.extra == {"e": 1}
        assert storyline.turns[0].metrics == M0

    @pytest.mark.parametrize("observation", ["text", {"error": "e"}, {"results": "r"}])
    def test_an_observation_without_results(self, observation: Json) -> None:
        """An edited observation that holds no results is left to the carrier."""
        storyline = self.made()
        storyline.turns[0].observation = observation

        assert write([storyline]) == [document(written_step())]

    def test_conflicts_are_refused(self) -> None:
        """One pointer with two values in one document is refused."""
        whole = document(v=1, attempts={"1": attempt(), "2": attempt()})
        one, two = read(whole)
        two.unknown_fields["actf"].fields["/v"] = 2

        with pytest.raises(InvalidDocument, match=r"\[residual\.conflict\]"):
            write([one, two])

    def test_some_have_residuals(self) -> None:
        """A Storyline without residuals is written with those that have some."""
        whole = document(attempts_tried=2, k=2, attempts={"1": attempt(), "2": attempt(vendor=1)})

        assert written(whole) == whole

    def test_conformed_residuals_are_not_put_back(self) -> None:
        """A conformed document has no residual in it; all are named to the hub."""
        whole = document(written_step(started_at="soon", vendor=1), k=0)
        (storyline,) = read(whole)
        options = WriteOptions(options={"conform": "yes"})
        (found,) = write([storyline], options)

        filler = "1970-01-01 00:00:00+00:00"
        assert found == document(written_step(started_at=filler))
        assert options.unplaced_residuals == {
            id(storyline): {f"{S}/started_at": "soon", f"{S}/vendor": 1, "/k": 0}
        }

    def test_mixed_origins_are_conformed(self) -> None:
        """A document is written as it was read only if all of it was."""
        (one,) = read(document(step(vendor=1), category=" "))
        other = self.made()
        other.origin, other.attempt_id, other.unknown_fields = None, "2", {}
        options = WriteOptions()
        (found,) = write([one, other], options)

        assert found["category"] == "unknown"
        assert list(found["attempts"]) == ["1", "2"]
        assert options.unplaced_residuals == {id(one): {f"{S}/vendor": 1}}

    def made(self, *places: str) -> Storyline:
        """Return a Storyline of ACTF, with residuals at *places*."""
        storyline = from_wire(read_one(document(step())))
        if places:
            storyline.unknown_fields["actf"] = Residuals(
                source_document_id="t", fields={place: {"v": 1} for place in places}
            )
        return storyline


class TestZones:
    """`--assume-timezone`: storyline.md 6.4."""

    def test_a_zone_for_times_without_one(self, tmp_path: Path) -> None:
        """Times without an offset get that of the zone; the source text comes back."""
        whole = document(written_step(started_at="2026-01-01 00:00:00", finished_at="2026-01-01"))
        path = tmp_path / "run.json"
        path.write_text(json.dumps(whole), encoding="utf-8")
        reported: list[Problem] = []
        (found,) = hub.read(path, format="actf", assume_timezone="+08:00", report=reported.append)
        (turn,) = found.turns

        assert (turn.timestamp, turn.finished_at) == ("2026-01-01 00:00:00+08:00", None)
        assert str(reported[0]) == (
            f'{S}/started_at: warning: no offset in "2026-01-01 00:00:00", assumed +08:00 '
            "[actf.time]"
        )
        assert write([found]) == [whole]


class TestRecordRules:
    """Rules of the other outer form: actf-records.md and validation.md 5."""

    @pytest.mark.parametrize(
        "plan",
        [
            None,
            5,
            {},
            {"k": 1},
            {"k": 0, "strategy": "pass"},
            {"k": "1", "strategy": "pass"},
            {"k": 1, "strategy": 5},
            {"k": 1, "strategy": "pass", "x": 1},
        ],
    )
    def test_plan(self, plan: Json) -> None:
        """A plan of another shape is a residual as a whole."""
        whole = record(record_step(), attempt_plan=plan)

        (problem,) = problems(whole)
        assert problem.startswith("/attempt_plan: error: expected {")
        assert problem.endswith("[actf.record-plan]")
        assert fields(whole) == {"/attempt_plan": plan}
        assert written(whole) == whole

    def test_k_of_the_plan(self) -> None:
        """`k` is not below the largest attempt number; it is kept besides."""
        whole = record(attempts={"3": record_attempt(record_step())})

        assert [one.split("[")[-1] for one in problems(whole)] == ["actf.record-plan]"]
        assert read_one(whole)["task"]["llm"] == {"k": 1}
        assert written(whole) == whole

    @pytest.mark.parametrize("key", ["0", "01", "x", "", "-1", "²", "9" * 30])
    def test_attempt_key(self, key: str) -> None:
        """A key that is no attempt number is kept."""
        whole = record(attempts={key: record_attempt(record_step())})

        assert [one.split("[")[-1] for one in problems(whole)] == ["actf.record-attempt-key]"]
        assert written(whole) == whole

    def test_status(self) -> None:
        """A status that the producer does not have is kept."""
        whole = record(attempts={"1": record_attempt(record_step(), status="odd")})

        (problem,) = problems(whole)
        assert problem.startswith(f"{A}/status: error: expected one of completed, skipped, ")
        assert problem.endswith('found "odd" [actf.record-status]')
        assert read_one(whole)["task"]["result"]["status"] == "odd"
        assert written(whole) == whole

    @pytest.mark.parametrize(
        ("metrics", "place"), [([1], f"{A}/metrics"), ({"f/1": "x"}, f"{A}/metrics/f~11")]
    )
    def test_metrics(self, metrics: Json, place: str) -> None:
        """Metrics that are no booleans or numbers are residuals."""
        whole = record(attempts={"1": record_attempt(record_step(), metrics=metrics)})

        (problem,) = problems(whole)
        assert problem.startswith(f"{place}: error: expected ")
        assert problem.endswith("[actf.record-metrics]")
        assert written(whole) == whole

    @pytest.mark.parametrize(
        ("count", "counts", "place"),
        [
            (1, {}, "/retry_count"),
            (-1, {"1": 1}, "/retry_count"),
            ("0", {}, "/retry_count"),
            (0, {"1": 0}, "/retry_counts"),
            (1, {"x": 1}, "/retry_counts"),
            (0, [], "/retry_counts"),
        ],
    )
    def test_retries(self, count: Json, counts: Json, place: str) -> None:
        """Counts that do not agree are kept."""
        whole = record(record_step(), retry_count=count, retry_counts=counts)

        (problem,) = problems(whole)
        assert problem.startswith(f"{place}: error: expected ")
        assert problem.endswith("[actf.record-retries]")
        assert list(fields(whole)) == ["/attempt_plan/strategy"]
        assert written(whole) == whole

    @pytest.mark.parametrize("key", ["category", "ground_truth", "retry_count", "retry_counts"])
    def test_required(self, key: str) -> None:
        """All members of a record are there."""
        assert [one.split("[")[-1] for one in problems(without(record(), key))] == [
            "actf.required]"
        ]

    @pytest.mark.parametrize("key", list(record_attempt()))
    def test_required_of_an_attempt(self, key: str) -> None:
        """All members of an attempt are there; only the final answer and the trajectory may be null."""
        absent = record(attempts={"1": without(record_attempt(), key)})
        empty = record(attempts={"1": record_attempt(**{key: None})})

        assert [one.split(": ")[0] for one in problems(absent)] == [f"{A}/{key}"]
        nullable = key in ("final_answer", "trajectory")
        assert [one.split(": ")[0] for one in problems(empty)] == (
            [] if nullable else [f"{A}/{key}"]
        )

    @pytest.mark.parametrize("key", ["status", "issues", "artifacts", "analysis_result", "meta"])
    def test_types(self, key: str) -> None:
        """A member of another type is a residual, and comes back."""
        whole = record(attempts={"1": record_attempt(record_step(), **{key: 5})})

        assert [one.split("[")[-1] for one in problems(whole)] == ["actf.type]"]
        assert fields(whole)[f"{A}/{key}"] == 5
        assert written(whole) == whole

    def test_issues(self) -> None:
        """An issue that is no object is reported; the list is kept whole."""
        whole = record(attempts={"1": record_attempt(record_step(), issues=[5])})

        assert problems(whole) == [f"{A}/issues/0: error: expected an object, found 5 [actf.type]"]
        assert written(whole) == whole


class TestRecords:
    """Reading goes on from record to record."""

    def test_every_record_is_a_document(self) -> None:
        """A source of several records gives a document each, also behind one that is refused."""
        source = Source.of(document(), document(task_id=" "), document(task_id="u"))
        found = list(plugin.parse(source))

        assert [one.is_fatal for one in found] == [False, True, False]
        assert [one.record.place for one in found] == ["line 1", "line 2", "line 3"]
        assert T0 in str(found[0].value.value)
