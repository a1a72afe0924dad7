"""What a turn means in its context: prompts, environment, kind, and the results that it shows.

Source: storyline.md 4.1 to 4.3 and 5.1.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from hub.errors import Json
from hub.storyline.model import Env, Prompt, Storyline, Turn

PromptPair = tuple[str, str]
"""System and user text; `""` where there is none."""


def effective_kind(turn: Turn) -> str:
    """Return the kind of *turn*, derived where it has none: storyline.md 4.1."""
    if turn.kind is not None:
        return turn.kind
    if turn.source == "system":
        return "internal"
    return "autonomous" if turn.source == "agent" and turn.tool_calls else "dialogue"


def prompt_pair(prompt: Prompt | None) -> PromptPair:
    """Return system and user text of *prompt*, `""` for what it does not set."""
    return ("", "") if prompt is None else (prompt.system or "", prompt.user or "")


def effective_prompt(storyline: Storyline, turn: Turn) -> PromptPair:
    """Return the prompt in force at *turn*: its own, whole, or the document's."""
    return prompt_pair(storyline.prompt if turn.prompt is None else turn.prompt)


def effective_env(storyline: Storyline, turn: Turn) -> Env:
    """Return the environment at *turn*: the task's, with the turn's delta merged over it shallowly.

    Where the turn has none it is the task's own, which is shared.
    """
    base = (storyline.task and storyline.task.env) or Env()
    overlay = turn.env
    if overlay is None:
        return base

    def either(name: str) -> Any:
        value = getattr(overlay, name)
        return getattr(base, name) if value is None else value

    return Env(
        name=either("name"),
        endpoint=either("endpoint"),
        env_id=either("env_id"),
        event_type=either("event_type"),
        request_id=either("request_id"),
        state={**(base.state or {}), **(overlay.state or {})} or None,
    )


class PromptTurn(NamedTuple):
    """A prompt that a format without prompt fields writes as a turn."""

    source: str
    """`system` or `user`."""
    text: str


def document_prompt_turns(storyline: Storyline) -> list[PromptTurn]:
    """Return the turns that say the document's prompt, to stand before the first turn: storyline.md 4.2."""
    system, user = prompt_pair(storyline.prompt)
    if not system and not user:
        return []
    before: set[str] = set()
    for turn in storyline.turns:
        if turn.source == "agent":
            break
        before.add(turn.source)
    said = (("system", system), ("user", user))
    return [PromptTurn(source, text) for source, text in said if text and source not in before]


def turn_prompt_turns(storyline: Storyline) -> Iterator[tuple[Turn, list[PromptTurn]]]:
    """Yield each turn with the turns that say its own prompt, to stand directly before it: storyline.md 4.2."""
    of_document = in_force = prompt_pair(storyline.prompt)
    for turn in storyline.turns:
        if turn.prompt is None:
            in_force = of_document
            yield turn, []
            continue
        before, in_force = in_force, prompt_pair(turn.prompt)
        if in_force == before:
            yield turn, []
            continue
        said = zip(("system", "user"), in_force, before, strict=True)
        yield turn, [PromptTurn(source, text) for source, text, old in said if text and text != old]


def visible_results(turn: Turn) -> list[dict[str, Json]]:
    """Return the results that *turn* shows, each an object: storyline.md 5.1.

    First the elements of the observation, then one for each call that has a `result` which no element names. The
    objects of the observation are shared, not copied, and so may be its list.
    """
    shown = observed_results(turn)
    for call in turn.tool_calls or ():
        if call.result is not None:
            return shown + _results_of_calls(turn, shown)
    return shown


def _results_of_calls(turn: Turn, shown: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Return the results that calls of *turn* have and none of those *shown* names."""
    references = (result.get("source_call_id") for result in shown)
    answered = {reference for reference in references if isinstance(reference, str)}
    return [
        {"source_call_id": call.tool_call_id, "content": call.result}
        for call in turn.tool_calls or ()
        if call.result is not None and call.tool_call_id not in answered
    ]


def observed_results(turn: Turn) -> list[dict[str, Json]]:
    """Return the results of the observation of *turn* alone, each an object; the list may be its own."""
    observation = turn.observation
    if observation is None:
        return []
    results = observation.get("results") if isinstance(observation, dict) else observation
    if not isinstance(results, list):
        return [{"content": observation}]
    for result in results:
        if not isinstance(result, dict):
            return [one if isinstance(one, dict) else {"content": one} for one in results]
    return results
