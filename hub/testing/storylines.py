"""Storylines that a writer must be ready for: each shows one thing that real trajectories have."""

from __future__ import annotations

from collections.abc import Callable

from hub.errors import Json
from hub.json import ExactNumber
from hub.storyline.model import (
    Env,
    Llm,
    Origin,
    Parent,
    Prompt,
    Residuals,
    Response,
    Storyline,
    Task,
    TaskResult,
)
from hub.testing.builders import agent, call, result, storyline, turn

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def corpus() -> dict[str, list[Storyline]]:
    """Return the Storylines of the kit, made anew, by what they show; a list is what one document held."""
    return {make.__name__.strip("_").replace("_", "-"): make() for make in _CORPUS}


def _usual() -> list[Storyline]:
    return [
        storyline(
            turn("system", "You work in a shell.", timestamp="2026-01-05T09:00:00Z"),
            turn("user", "What is the largest file here?", timestamp="2026-01-05T09:00:01Z"),
            turn(
                "agent",
                "I look at the sizes.",
                call("call_1", "bash", {"command": "ls -lS", "timeout": 10}),
                results=[result("call_1", "big.bin\nsmall.txt")],
                timestamp="2026-01-05T09:00:02Z",
                finished_at="2026-01-05T09:00:04Z",
                reasoning_content="`ls -lS` sorts by size.",
                model_name="example-1",
                metrics={"prompt_tokens": 120, "completion_tokens": 24, "cached_tokens": 64},
            ),
            turn("agent", "It is big.bin.", timestamp="2026-01-05T09:00:05Z"),
            session_id="largest-file",
            agent=agent("shell-agent", version="1.2.0", model_name="example-1"),
            origin=Origin(format="vendor", schema_version="3"),
            started_at="2026-01-05T09:00:00Z",
            finished_at="2026-01-05T09:00:05Z",
        )
    ]


def _no_turns() -> list[Storyline]:
    return [storyline()]


def _only_a_prompt() -> list[Storyline]:
    return [storyline(prompt=Prompt(system="Be brief.", user="Say hello."))]


def _parallel_calls() -> list[Storyline]:
    calls = [call(f"c{number}", "fetch", {"page": number}) for number in (1, 2, 3)]
    answers = [result("c2", "two"), result("c1", "one"), result("c2", "two again")]
    return [storyline(turn("user", "Fetch."), turn("agent", "", *calls, results=answers))]


def _results_without_a_call() -> list[Storyline]:
    answers = [result("gone", "late"), result(None, "who asked?"), "bare", 7]
    return [storyline(turn("agent", "m", results=answers), turn("environment", "It rains."))]


def _failed_calls() -> list[Storyline]:
    failed = call(
        "c1", "bash", {"command": "false"}, response=Response(status="error", exit_code=1)
    )
    return [
        storyline(
            turn("agent", "", failed, results=[result("c1", "", is_error=True)]),
            turn("agent", "", call("c2", "bash", result="inside the call", duration_ms=12)),
        )
    ]


def _arguments_of_every_kind() -> list[Storyline]:
    kinds: tuple[Json, ...] = ({"a": 1}, '{"a": 1', "[1]", "", [1], 5, None, {})
    calls = [call(f"c{index}", "f", one) for index, one in enumerate(kinds)]
    calls[6].arguments = None
    return [storyline(turn("agent", "", *calls))]


def _messages_of_every_kind() -> list[Storyline]:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    messages: tuple[Json, ...] = (
        "",
        None,
        [],
        [{"type": "text", "text": "a"}, image],
        {"of": "no kind"},
        5,
        ["b"],
    )
    return [storyline(*(turn(who, one) for one in messages for who in ("user", "agent")))]


def _speakers_of_every_kind() -> list[Storyline]:
    speakers = ("system", "user", "agent", "environment", "critic", "Agent", "tool", "ü")
    return [storyline(*(turn(one, f"I am {one}.") for one in speakers))]


def _times_of_every_kind() -> list[Storyline]:
    times = (
        "2026-01-01T10:00:00Z",
        "2026-01-01T18:00:00+08:00",
        "2026-01-01 10:00:00.123456789Z",
        1767261600,
        1767261600.25,
        None,
    )
    return [storyline(*(turn("agent", "tick", timestamp=time) for time in times))]


def _hostile_values() -> list[Storyline]:
    extra = {
        "": {"/": 1, "~": 1.0, "~1": -0.0},
        "huge": [2**64, -(10**40), ExactNumber("1e400")],
        "lone": "\udc88",
        "zero": "\x00",
        "__proto__": None,
        "_storyline": "not an envelope",
    }
    return [storyline(turn("agent", "lone \udc88", extra=extra), extra=extra, notes="\u2028")]


def _strange_ids() -> list[Storyline]:
    ids = (7, -3, 2**62)
    return [
        storyline(
            *(turn("agent", "m", call(f"a/{one}~", "f"), turn_id=one) for one in ids),
            session_id="../s/é ",
        )
    ]


def _sub_agents() -> list[Storyline]:
    parent = storyline(
        turn("agent", "", call("c1", "ask", {"who": "helper"}), results=[result("c1", "42")]),
        session_id="family",
        trajectory_id="parent",
        child_ids=["child"],
    )
    child = storyline(
        turn("user", "What is the answer?"),
        turn("agent", "42"),
        session_id="family",
        trajectory_id="child",
        agent=agent("helper"),
        parent=Parent(session_id="parent", call_id="c1", turn_id=1),
    )
    return [parent, child]


def _attempts_at_a_task() -> list[Storyline]:
    return [
        storyline(
            turn("user", "Fix it."),
            turn("agent", "Fixed."),
            session_id=f"bug-7#{number}",
            run_id="bug-7",
            attempt_id=number,
            task=Task(
                env=Env(name="repository", state={"branch": "main"}),
                llm=Llm(k=2),
                result=TaskResult(correct=score == 1, score=score, final_answer="Fixed."),
            ),
        )
        for number, score in (("1", 0), ("2", 1))
    ]


def _prompts_and_environments_of_turns() -> list[Storyline]:
    return [
        storyline(
            turn("agent", "a", prompt=Prompt(system="S2"), env=Env(state={"url": "a.example"})),
            turn("agent", "b", env=Env(name="browser")),
            turn("agent", "c", is_copied_context=True, llm_call_count=0),
            prompt=Prompt(system="S1", user="U1"),
        )
    ]


def _residuals_of_another_format() -> list[Storyline]:
    fields = {"/a~1b": [1.0, None], "/steps/0/x": {"": ""}}
    return [
        storyline(
            turn("user", "m"),
            origin=Origin(format="vendor"),
            unknown_fields={"vendor": Residuals(source_document_id="session", fields=fields)},
        )
    ]


_CORPUS: tuple[Callable[[], list[Storyline]], ...] = (
    _usual,
    _no_turns,
    _only_a_prompt,
    _parallel_calls,
    _results_without_a_call,
    _failed_calls,
    _arguments_of_every_kind,
    _messages_of_every_kind,
    _speakers_of_every_kind,
    _times_of_every_kind,
    _hostile_values,
    _strange_ids,
    _sub_agents,
    _attempts_at_a_task,
    _prompts_and_environments_of_turns,
    _residuals_of_another_format,
)
