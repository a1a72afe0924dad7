"""Whether the steps of a batch are sound: the quick questions, asked of all of them at once.

Where an answer is no, `hub_atif.rules` says what is wrong. An answer of no where nothing is wrong costs time only.

Source: atif.md 1.2 and 6.3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import Any

from hub import Json
from hub_atif.model import (
    AGENT_ONLY,
    CALL,
    METRICS,
    NUMBER_LISTS,
    OBSERVATION,
    RESULT,
    STEP,
    element_types,
)
from hub_atif.rules import is_part, references
from hub_atif.times import is_sound_time

Steps = Sequence[Mapping[str, Any]]

_NOT_FOR_OTHERS = frozenset(AGENT_ONLY)
_OTHERS = frozenset({"system", "user"})
_TEXTS = frozenset({str, NoneType})
_DICTS = frozenset({dict})
_call_id = itemgetter("tool_call_id")
_function_name = itemgetter("function_name")


def shapes(steps: Steps, _: int) -> bool:
    """Members are known and have their types; the source is not empty."""
    return STEP.all_fit(steps) and "" not in {step["source"] for step in steps}


def order(steps: Steps, start: int) -> bool:
    """Ids are the positions."""
    ids = [step.get("step_id") for step in steps]
    return ids == list(range(start + 1, start + len(steps) + 1))


def sources(steps: Steps, _: int) -> bool:
    """Sources are known, members are those of the source, and counts of model calls agree with them."""
    for step in steps:
        source = step.get("source")
        if source == "agent":
            if "llm_call_count" in step and not _is_counted(step["llm_call_count"]):
                return False
        elif source not in _OTHERS or not _is_for_others(step):
            return False
    return True


def _is_for_others(step: Mapping[str, Any]) -> bool:
    return _NOT_FOR_OTHERS.isdisjoint(step) and (step.get("llm_call_count") or 0) >= 0


def _is_counted(count: Json) -> bool:
    return count is None or (type(count) is int and count > 0)


def times(steps: Steps, _: int) -> bool:
    """Times are such as both Harbor and a Storyline accept."""
    for step in steps:  # noqa: SIM110  # half as fast with `all`
        if not is_sound_time(step.get("timestamp")):
            return False
    return True


def messages(steps: Steps, _: int) -> bool:
    """Messages are texts, or parts that Harbor knows."""
    said = [step.get("message") for step in steps]
    return set(map(type, said)) <= {str} or all(map(_is_content, said))


def _is_content(content: Json) -> bool:
    return type(content) is not list or all(map(is_part, content))


def metrics(steps: Steps, _: int) -> bool:
    """Metrics are as Harbor wants them."""
    measured: list[Json] = [step["metrics"] for step in steps if "metrics" in step]
    measured = [one for one in measured if type(one) is dict]
    if not METRICS.all_fit(measured):
        return False
    return all(
        element_types(one[key]) <= types
        for key, (types, _) in NUMBER_LISTS.items()
        for one in measured
        if key in one
    )


def calls(steps: Steps, _: int) -> bool:
    """Calls are as Harbor wants them, and their functions have names."""
    made = list(chain.from_iterable(_calls(steps)))
    return (
        set(map(type, made)) <= _DICTS
        and CALL.all_fit(made)
        and "" not in set(map(_function_name, made))
    )


def _calls(steps: Iterable[Mapping[str, Any]]) -> Iterator[Sequence[Any]]:
    for step in steps:
        found = step.get("tool_calls")
        if found:
            yield found


def observations(steps: Steps, _: int) -> bool:
    """Observations are as Harbor wants them, and their results name calls of the same step."""
    observed = [step for step in steps if step.get("observation") is not None]
    found: list[Any] = [step["observation"] for step in observed]
    if not OBSERVATION.all_fit(found):
        return False
    results = list(chain.from_iterable(one["results"] for one in found))
    return (
        set(map(type, results)) <= _DICTS
        and RESULT.all_fit(results)
        and _are_contents([result.get("content") for result in results])
        and all(map(_names_own_call, observed))
        and not any(
            list(references(result, ""))
            for result in results
            if "subagent_trajectory_ref" in result
        )
    )


def _are_contents(contents: list[Json]) -> bool:
    return set(map(type, contents)) <= _TEXTS or all(map(_is_content, contents))


def _names_own_call(step: Mapping[str, Any]) -> bool:
    """Tell whether the results of a step name calls of it, or none."""
    ids: list[Json] = [call.get("tool_call_id") for call in step.get("tool_calls") or ()]
    for result in step["observation"]["results"]:
        call_id = result.get("source_call_id")
        if call_id is not None and call_id not in ids:
            return False
    return True


def has_unique_call_ids(steps: Steps) -> bool:
    """Tell whether all calls of a trajectory have ids, and all of them different ones."""
    try:
        ids = list(map(_call_id, chain.from_iterable(_calls(steps))))
    except KeyError:
        return False
    return set(map(type, ids)) <= {str} and len(set(ids)) == len(ids) and "" not in ids


def embedded_references(steps: Steps, at: str) -> Iterator[tuple[str, str]]:
    """Yield pointer and id of each reference that names a trajectory and no file."""
    for index, step in enumerate(steps):
        observation = step.get("observation")
        for place, result in enumerate(observation.get("results", ()) if observation else ()):
            if type(result) is dict and "subagent_trajectory_ref" in result:
                here = f"{at}/{index}/observation/results/{place}/subagent_trajectory_ref"
                found = result["subagent_trajectory_ref"]
                for number, reference in enumerate(found if type(found) is list else ()):
                    if type(reference) is dict and _is_embedded(reference):
                        yield f"{here}/{number}", reference["trajectory_id"]


def _is_embedded(reference: Mapping[str, Json]) -> bool:
    return type(reference.get("trajectory_id")) is str and reference.get("trajectory_path") is None
