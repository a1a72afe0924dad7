"""Prompts: every step has its system prompt and user content, a turn only where they differ from the first.

Source: actf.md 5.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from hub import Prompt

PromptPair = tuple[str, str]
"""System prompt and user content of a step."""


def prompts_from_pairs(
    pairs: Sequence[PromptPair],
) -> tuple[Prompt | None, Sequence[Prompt | None]]:
    """Return the baseline, the first pair that says something, and for each step its prompt where it differs.

    Neighbours with one prompt share it.
    """
    baseline = next((pair for pair in pairs if pair != ("", "")), None)
    if baseline is None:
        return None, [None] * len(pairs)
    prompts: list[Prompt | None] = []
    before, prompt = baseline, None
    for pair in pairs:
        if pair != before:
            before, prompt = pair, None if pair == baseline else prompt_from_pair(pair)
        prompts.append(prompt)
    return prompt_from_pair(baseline), prompts


def prompt_from_pair(pair: PromptPair) -> Prompt:
    """Return the whole pair, empty members left out; two empty ones clear the prompt."""
    if pair == ("", ""):
        return Prompt(system="", user="")
    return Prompt(system=pair[0] or None, user=pair[1] or None)


def pair_from_prompt(prompt: Prompt | None) -> PromptPair:
    """Return the pair that *prompt* says."""
    return ("", "") if prompt is None else (prompt.system or "", prompt.user or "")
