"""Marks: what the writer says of a step so that the reader takes it for what it was.

A step whose `extra` has a member `_storyline` of exactly `{"version": 1, "as": WORD}` was written by this plugin. The
mark is taken out; one that does not fit its step has no effect, so that an edited step is read as it stands.

Source: ale.md 5.6 (which steps are folded), 5.9 and 6.9.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from hub import Json
from hub_ale.model import Step, Trajectory

KEY = "_storyline"

Word = Literal["prompt", "turn-prompt", "turn", "results"]
WORDS = ("prompt", "turn-prompt", "turn", "results")

Role = Literal["turn", "folded", "folded here", "prompt", "turn-prompt"]
"""What becomes of a step: a turn, part of the turns that it answers or of the turn directly before it, or a prompt."""


def mark(word: Word) -> dict[str, Json]:
    """Return the `extra` of a step that is marked with *word* and has nothing else there."""
    return {KEY: {"version": 1, "as": word}}


def marked_as(extra: dict[str, Json]) -> str | None:
    """Return the word of the mark in *extra*; None if there is none."""
    found = extra.get(KEY)
    if type(found) is not dict or found.keys() != {"version", "as"}:
        return None
    is_version_1 = type(found["version"]) is int and found["version"] == 1
    return found["as"] if is_version_1 and found["as"] in WORDS else None


def without_mark(extra: dict[str, Json]) -> dict[str, Json]:
    """Return *extra* without a mark; any other value of its key is ordinary data."""
    if not extra or KEY not in extra or marked_as(extra) is None:
        return extra
    return {key: value for key, value in extra.items() if key != KEY}


def is_foldable(step: Step) -> bool:
    """Tell whether an environment step holds only what can be folded, and anything of it."""
    if step["tool_calls"] or step["reasoning"] is not None:
        return False
    observation = step["observation"]
    if observation is None:
        return step["message"] is not None
    results = observation["results"]
    return (
        (bool(results) and results[0] is not None)
        or step["message"] is not None
        or observation["error"] is not None
        or any(map(_is_there, results))
    )


def _is_there(element: object) -> bool:
    return element is not None


def roles(trajectory: Trajectory) -> Iterator[Role]:
    """Yield what becomes of each step.

    A host for an environment step is there as soon as an agent turn is; which one it is does not matter here.
    """
    steps = trajectory["steps"]
    has_turn = has_agent = is_after_agent = False
    prompts = set()
    for index, step in enumerate(steps):
        source = step["source"]
        word = marked_as(step["extra"]) if step["extra"] else None
        if source == "environment" and has_agent and word != "turn" and is_foldable(step):
            yield "folded here" if word == "results" and is_after_agent else "folded"
            continue
        if word == "prompt" and not has_turn and source not in prompts:
            if _is_document_prompt(step, trajectory):
                prompts.add(source)
                yield "prompt"
                continue
        elif word == "turn-prompt" and _is_turn_prompt(steps, index, has_agent=has_agent):
            yield "turn-prompt"
            continue
        has_turn = True
        is_after_agent = source == "agent"
        has_agent = has_agent or is_after_agent
        yield "turn"


def _is_document_prompt(step: Step, trajectory: Trajectory) -> bool:
    """Tell whether the step is as the writer makes a prompt of the document: nothing but a text, at the start."""
    if not _is_bare(step) or step["timestamp"] != trajectory["started_at"]:
        return False
    return step["source"] == "system" or step["message"] == trajectory["instruction"]


def _is_turn_prompt(steps: Sequence[Step], index: int, *, has_agent: bool) -> bool:
    """Tell whether the step is as the writer makes a turn's prompt: a text, directly before the turn, at its time."""
    step = steps[index]
    if not _is_bare(step):
        return False
    for following in steps[index + 1 : index + 3]:
        if following["timestamp"] != step["timestamp"]:
            return False
        if marked_as(following["extra"]) == "turn-prompt" and _is_bare(following):
            if following["source"] == step["source"]:
                return False
            continue
        return not (
            has_agent
            and following["source"] == "environment"
            and marked_as(following["extra"]) != "turn"
            and is_foldable(following)
        )
    return False


def _is_bare(step: Step) -> bool:
    """Tell whether a system or user step has a text and a mark, and nothing else."""
    return (
        step["source"] in ("system", "user")
        and type(step["message"]) is str
        and step["message"] != ""
        and step["reasoning"] is None
        and step["observation"] is None
        and step["metrics"] is None
        and not step["tool_calls"]
        and len(step["extra"]) == 1
    )
