"""Whether Storylines have the types of the model: what is right is seen at once, what is wrong is named as ever."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given

from hub.codec import to_valid_wire
from hub.errors import InvalidDocument
from hub.storyline.model import (
    Agent,
    Env,
    Llm,
    Prompt,
    Residuals,
    Response,
    Storyline,
    Task,
    TaskResult,
    ToolCall,
    Turn,
)
from hub.storyline.rules import are_sound
from hub.storyline.typed import are_typed, is_typed
from hub.testing.strategies import storylines

make: Any = attrs.evolve
"""Makes what a type checker would not let pass."""
CALL = ToolCall(tool_call_id="c", function_name="f", arguments={})
TURN = Turn(turn_id=1, source="agent", message="hi", tool_calls=[CALL])
RESIDUALS = Residuals(source_document_id="d", fields={"/a": 1})
STORYLINE = Storyline(session_id="s", agent=Agent(agent_id="a"), turns=[TURN])


def problems(turn: Turn) -> list[tuple[str, str]]:
    """Return pointer and rule of what is wrong with a Storyline of one turn."""
    return problems_of(attrs.evolve(STORYLINE, turns=[turn]))


def problems_of(storyline: Storyline) -> list[tuple[str, str]]:
    """Return pointer and rule of what is wrong with a Storyline."""
    with pytest.raises(InvalidDocument) as caught:
        to_valid_wire(storyline)
    return [(problem.pointer, problem.rule) for problem in caught.value.problems]


class TestRight:
    """Turns whose types are right."""

    @pytest.mark.parametrize("turns", [[], [TURN], [TURN, attrs.evolve(TURN, tool_calls=None)]])
    def test_plain(self, turns: list[Turn]) -> None:
        """With calls, without, and none at all."""
        assert are_typed(turns)

    @given(storylines())
    def test_any_storyline(self, storyline: Storyline) -> None:
        """Every valid Storyline; and whatever is sound is valid."""
        assert is_typed(storyline)
        assert storyline.turns == [] or "turns" in to_valid_wire(storyline)

    def test_prompts_and_responses(self) -> None:
        """Objects in turns and in calls do not make them doubtful."""
        call = attrs.evolve(CALL, response=Response(exit_code=0))
        turn = attrs.evolve(TURN, tool_calls=[call], prompt=Prompt(user="u"), env=Env(name="e"))
        assert are_typed([turn])
        assert are_sound([turn])


class TestWrong:
    """One value of a wrong type."""

    @pytest.mark.parametrize(
        ("changes", "pointer"),
        [
            ({"turn_id": True}, "/turns/0/id"),
            ({"turn_id": 1.0}, "/turns/0/id"),
            ({"turn_id": 1 << 63}, "/turns/0/id"),
            ({"source": None}, "/turns/0/src"),
            ({"kind": 1}, "/turns/0/kind"),
            ({"timestamp": "yesterday"}, "/turns/0/ts"),
            ({"timestamp": float("inf")}, "/turns/0/ts"),
            ({"finished_at": True}, "/turns/0/finished_at"),
            ({"reasoning_content": ["x"]}, "/turns/0/reason"),
            ({"model_name": 4}, "/turns/0/model"),
            ({"llm_call_count": 1.5}, "/turns/0/nllm"),
            ({"is_copied_context": 1}, "/turns/0/copied"),
            ({"latency_ms": "3"}, "/turns/0/latency_ms"),
            ({"ttft_ms": -(1 << 63) - 1}, "/turns/0/ttft_ms"),
            ({"tool_calls": [make(CALL, tool_call_id=3)]}, "/turns/0/tool_calls/0/tcid"),
            ({"tool_calls": [make(CALL, function_name=None)]}, "/turns/0/tool_calls/0/fn"),
            (
                {"tool_calls": [make(CALL, duration_ms=0.5)]},
                "/turns/0/tool_calls/0/duration_ms",
            ),
            (
                {"tool_calls": [make(CALL, response=make(Response(), exit_code="0"))]},
                "/turns/0/tool_calls/0/response/exit_code",
            ),
            ({"env": make(Env(), name=1)}, "/turns/0/env/name"),
            ({"env": make(Env(), state=[1])}, "/turns/0/env/state"),
        ],
    )
    def test_is_named(self, changes: dict[str, Any], pointer: str) -> None:
        """The turn is not taken for right, and the problem has its place."""
        turn = attrs.evolve(TURN, **changes)
        assert not are_typed([TURN, turn])
        assert [pointer] == [at for at, _ in problems(turn)]

    def test_prompt_without_text(self) -> None:
        """Types alone do not make a Storyline valid."""
        turn = attrs.evolve(TURN, prompt=Prompt())
        assert are_typed([turn])
        assert [("/turns/0/prompt", "storyline.prompt")] == problems(turn)

    def test_copied_turn_with_a_prompt(self) -> None:
        """Nor does a prompt with a text, in a turn that was copied."""
        turn = attrs.evolve(TURN, prompt=Prompt(user="u"), is_copied_context=True)
        assert [("/turns/0/prompt", "storyline.copied-prompt")] == problems(turn)

    def test_empty_response(self) -> None:
        """Nor a response that says nothing."""
        turn = attrs.evolve(TURN, tool_calls=[attrs.evolve(CALL, response=Response())])
        ((pointer, _),) = problems(turn)
        assert "/turns/0/tool_calls/0/response" == pointer


class TestWrongRoot:
    """One value of a wrong type outside the turns."""

    @pytest.mark.parametrize(
        ("changes", "pointers"),
        [
            ({"agent": make(STORYLINE.agent, name=["x"])}, ["/agent/name"]),
            ({"run_id": True}, ["/run"]),
            ({"child_ids": ["a", 1]}, ["/children/1"]),
            ({"child_ids": [None]}, ["/children/0"]),
            ({"started_at": "soon"}, ["/started_at"]),
            ({"task": Task(llm=make(Llm(), k=0.5))}, ["/task/llm/k"]),
            ({"task": Task(result=make(TaskResult(), correct=1))}, ["/task/result/correct"]),
            (
                {"task": Task(result=TaskResult(score=1, extras={"status": 5}))},
                ["/task/result/status"],
            ),
            ({"prompt": make(Prompt(user="u"), user=3)}, ["/prompt/user"]),
            (
                {"unknown_fields": {"x": make(RESIDUALS, source_document_id=4)}},
                ["/unknown_fields/sources/x/source_document_id"],
            ),
        ],
    )
    def test_is_named(self, changes: dict[str, Any], pointers: list[str]) -> None:
        """The Storyline is not taken for right, and the problem has its place."""
        storyline = attrs.evolve(STORYLINE, **changes)
        assert not is_typed(storyline)
        assert pointers == [at for at, _ in problems_of(storyline)]

    def test_name_of_a_source(self) -> None:
        """Nor is one whose residuals are named by what is no text."""
        unknown: Any = {1: RESIDUALS}
        assert not is_typed(attrs.evolve(STORYLINE, unknown_fields=unknown))

    def test_broken_rules(self) -> None:
        """Types alone do not make a Storyline valid."""
        storyline = attrs.evolve(STORYLINE, session_id="", agent=Agent(agent_id=""))
        assert is_typed(storyline)
        assert [
            ("/session", "storyline.session"),
            ("/agent/id", "storyline.agent-id"),
        ] == problems_of(storyline)
