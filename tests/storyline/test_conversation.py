"""What a turn means in its context: kind, prompts, environment, results (storyline.md 4.1 to 4.3 and 5.1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from hub.errors import Json
from hub.storyline.conversation import (
    PromptTurn,
    document_prompt_turns,
    effective_env,
    effective_kind,
    effective_prompt,
    observed_results,
    prompt_pair,
    turn_prompt_turns,
    visible_results,
)
from hub.storyline.model import Agent, Env, Llm, Prompt, Storyline, Task, ToolCall, Turn
from hub.testing.strategies import storylines


def turn(source: str = "agent", **members: Any) -> Turn:
    return Turn(turn_id=1, source=source, message="m", **members)


def story(*turns: Turn, **members: Any) -> Storyline:
    return Storyline(session_id="s", agent=Agent(agent_id="a"), turns=list(turns), **members)


def call(call_id: str = "x", **members: Any) -> ToolCall:
    return ToolCall(tool_call_id=call_id, function_name="f", arguments={}, **members)


class TestEffectiveKind:
    @pytest.mark.parametrize(
        ("one", "kind"),
        [
            (turn("user"), "dialogue"),
            (turn("user", tool_calls=[call()]), "dialogue"),
            (turn("system"), "internal"),
            (turn("system", tool_calls=[call()]), "internal"),
            (turn("agent", tool_calls=[call()]), "autonomous"),
            (turn("agent", tool_calls=[]), "dialogue"),
            (turn("agent"), "dialogue"),
            (turn("environment"), "dialogue"),
            (turn("other", tool_calls=[call()]), "dialogue"),
            (turn("user", kind="k"), "k"),
            (turn("agent", kind="", tool_calls=[call()]), ""),
            (turn("agent", tool_calls=[call(kind="k")], observation={"results": []}), "autonomous"),
            (turn("agent", prompt=Prompt(system="s"), env=Env()), "dialogue"),
        ],
    )
    def test_kind(self, one: Turn, kind: str) -> None:
        """A kind that is set counts, also an empty one; else the source and the calls say it."""
        assert kind == effective_kind(one)


class TestPrompts:
    @pytest.mark.parametrize(
        ("prompt", "pair"),
        [
            (None, ("", "")),
            (Prompt(), ("", "")),
            (Prompt(system="s"), ("s", "")),
            (Prompt(user="u"), ("", "u")),
            (Prompt(system="s", user="u"), ("s", "u")),
        ],
    )
    def test_pair(self, prompt: Prompt | None, pair: tuple[str, str]) -> None:
        """What a prompt does not set is empty."""
        assert pair == prompt_pair(prompt)

    def test_turn_replaces_document(self) -> None:
        """The prompt of a turn stands for the whole one of the document, and for that turn only."""
        turns = [
            turn(),
            turn(prompt=Prompt(user="U")),
            turn(prompt=Prompt(system="", user="")),
            turn(),
        ]
        one = story(*turns, prompt=Prompt(system="S", user="D"))
        assert [("S", "D"), ("", "U"), ("", ""), ("S", "D")] == [
            effective_prompt(one, each) for each in turns
        ]

    @pytest.mark.parametrize(
        ("sources", "prompt", "expected"),
        [
            ([], Prompt(system="S", user="U"), [("system", "S"), ("user", "U")]),
            (["agent"], Prompt(system="S", user="U"), [("system", "S"), ("user", "U")]),
            (["agent", "system", "user"], Prompt(system="S"), [("system", "S")]),
            (["system", "agent"], Prompt(system="S", user="U"), [("user", "U")]),
            (["user", "agent"], Prompt(system="S", user="U"), [("system", "S")]),
            (["user", "system"], Prompt(system="S", user="U"), []),
            (["environment", "agent"], Prompt(user="U"), [("user", "U")]),
            (["agent"], None, []),
        ],
    )
    def test_of_the_document(
        self, sources: list[str], prompt: Prompt | None, expected: list[tuple[str, str]]
    ) -> None:
        """The document's prompt is said first, unless a turn before the first agent turn says it."""
        one = story(*map(turn, sources), prompt=prompt)
        assert [PromptTurn(*pair) for pair in expected] == document_prompt_turns(one)

    def test_of_turns(self) -> None:
        """A turn's own prompt is said before it, where it differs from what was in force before."""
        turns = [
            turn(prompt=Prompt(system="S", user="U1")),
            turn(prompt=Prompt(system="S2", user="U1")),
            turn(prompt=Prompt(system="", user="")),
            turn(prompt=Prompt(user="U1")),
            turn(),
            turn(prompt=Prompt(system="S", user="U2")),
            turn(prompt=Prompt(system="S", user="U2")),
        ]
        one = story(*turns, prompt=Prompt(system="S"))
        assert [
            [("user", "U1")],
            [("system", "S2")],
            [],
            [("user", "U1")],
            [],
            [("user", "U2")],
            [],
        ] == [said for _, said in turn_prompt_turns(one)]
        assert all(
            mine is other for mine, (other, _) in zip(turns, turn_prompt_turns(one), strict=True)
        )

    def test_nothing_to_say(self) -> None:
        """Without prompts there is nothing to say."""
        assert [[], []] == [said for _, said in turn_prompt_turns(story(turn(), turn("user")))]

    @given(storylines())
    def test_prompts_said_are_in_force(self, one: Storyline) -> None:
        """What is said before a turn is of its own prompt, and never empty."""
        for each, said in turn_prompt_turns(one):
            in_force = dict(zip(("system", "user"), effective_prompt(one, each), strict=True))
            assert all(in_force[source] == text != "" for source, text in said)
            assert each.prompt is not None or said == []


class TestEffectiveEnv:
    @pytest.mark.parametrize(
        ("task", "delta", "expected"),
        [
            (None, None, Env()),
            (Task(llm=Llm(k=1)), None, Env()),
            (Task(env=Env(name="n", state={"a": 1})), None, Env(name="n", state={"a": 1})),
            (Task(env=Env(name="n", state={"a": 1})), Env(), Env(name="n", state={"a": 1})),
            (None, Env(request_id="r", state={"a": 1}), Env(request_id="r", state={"a": 1})),
            (
                Task(env=Env(name="n", endpoint="e", env_id="i", event_type="t", request_id="r")),
                Env(name="N", endpoint="", request_id="R"),
                Env(name="N", endpoint="", env_id="i", event_type="t", request_id="R"),
            ),
            (
                Task(env=Env(state={"a": {"x": 1}, "b": 2})),
                Env(state={"a": {"y": 2}, "c": None}),
                Env(state={"a": {"y": 2}, "b": 2, "c": None}),
            ),
        ],
    )
    def test_merged(self, task: Task | None, delta: Env | None, expected: Env) -> None:
        """The turn's members are laid over the task's, and those of its state one by one."""
        one = turn(env=delta)
        assert expected == effective_env(story(one, task=task), one)

    def test_stored_form_is_kept(self) -> None:
        """Merging changes neither of the two."""
        one = turn(env=Env(state={"b": 2}))
        task = Task(env=Env(state={"a": 1}))
        effective_env(story(one, task=task), one)
        assert Env(state={"b": 2}) == one.env
        assert Task(env=Env(state={"a": 1})) == task


class TestVisibleResults:
    @pytest.mark.parametrize(
        ("observation", "shown"),
        [
            (None, []),
            ({"results": []}, []),
            ({"results": [{"content": "a"}], "error": "e"}, [{"content": "a"}]),
            (
                {"results": ["a", None, [1]]},
                [{"content": "a"}, {"content": None}, {"content": [1]}],
            ),
            ({"results": {"content": "a"}}, [{"content": {"results": {"content": "a"}}}]),
            ({"results": None}, [{"content": {"results": None}}]),
            ({"error": "e"}, [{"content": {"error": "e"}}]),
            ({}, [{"content": {}}]),
            ([{"content": "a"}, "b"], [{"content": "a"}, {"content": "b"}]),
            ([], []),
            ("a", [{"content": "a"}]),
            ("", [{"content": ""}]),
            (0, [{"content": 0}]),
            (False, [{"content": False}]),
        ],
    )
    def test_of_the_observation(self, observation: Json, shown: Json) -> None:
        """Results are the elements of `results`, or of the observation; anything else is one result."""
        assert shown == observed_results(turn(observation=observation))
        assert shown == visible_results(turn(observation=observation))

    @pytest.mark.parametrize(
        ("references", "answered"),
        [
            ([], ["x", "y"]),
            (["x"], ["y"]),
            (["y", "x"], []),
            (["gone"], ["x", "y"]),
            ([None], ["x", "y"]),
            ([["x"]], ["x", "y"]),
        ],
    )
    def test_of_the_calls(self, references: list[Json], answered: list[str]) -> None:
        """A call's own result is shown where no element answers the call."""
        observed = [{"source_call_id": one, "content": "o"} for one in references]
        calls = [call("x", result="r"), call("y", result={}), call("z")]
        own = {"x": "r", "y": {}}
        expected = [*observed, *({"source_call_id": one, "content": own[one]} for one in answered)]
        one = turn(tool_calls=calls, observation={"results": observed} if observed else None)
        assert expected == visible_results(one)

    def test_shared(self) -> None:
        """Objects of the observation are shared; the observation is not changed."""
        result = {"source_call_id": "gone"}
        observation = {"results": [result]}
        shown = visible_results(turn(observation=observation, tool_calls=[call(result="r")]))
        assert result is shown[0]
        assert {"results": [{"source_call_id": "gone"}]} == observation

    @given(storylines())
    def test_every_result_is_an_object(self, one: Storyline) -> None:
        """Whatever an observation is, its results are objects."""
        for each in one.turns:
            assert all(isinstance(result, dict) for result in visible_results(each))
