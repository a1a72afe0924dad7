"""Whether a step is sound: the quick question, asked of every step of every file.

Objects of a kind are alike, so what is known of one with the same keys, in the same order, and the same types of values
holds for the next one: that is its signature. Only what depends on values is asked each time. Where the answer is no,
`hub_atif.rules` says what is wrong; an answer of no where nothing is wrong costs time only.

Source: atif.md 1.2 and 6.3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from hub import INTEGERS, Json, Shape
from hub_atif.model import (
    AGENT_ONLY,
    CALL,
    LLM_ONLY,
    METRICS,
    NUMBER_LISTS,
    RESULT,
    STEP,
    element_types,
)
from hub_atif.rules import is_part, references
from hub_atif.times import is_plain_time, is_sound_time

LEAST, GREATEST = INTEGERS[0], INTEGERS[-1]

Members = Mapping[str, Any]
T = TypeVar("T")


# Signatures


class _Kind(Generic[T]):
    """The signatures of one kind of object that fit its shape, each with what is to be asked of the values."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.known: dict[tuple[object, ...], T] = {}

    def learn(self, value: Members) -> T | None:
        """Return what is to be asked of *value* and all like it; None if it does not fit."""
        if not self.shape.fits(value):
            return None
        if len(self.known) >= MAX_KNOWN:
            self.known.clear()
        signature = (*value, *map(type, value.values()))
        questions = self.known[signature] = self.questions(value)
        return questions

    def questions(self, value: Members) -> T:
        raise NotImplementedError


MAX_KNOWN = 4096
"""So many signatures of a kind are remembered; files have a few dozen."""


class _StepQuestions(NamedTuple):
    """What a step with a certain signature has."""

    is_agents: bool
    """Something that only an agent step may have."""
    is_llms: bool
    """Something that only a step with a model call may have."""
    has_count: bool
    has_time: bool
    has_parts: bool
    """A message that is an array."""
    has_calls: bool
    has_observation: bool
    has_metrics: bool


class _StepKind(_Kind[_StepQuestions]):
    def questions(self, value: Members) -> _StepQuestions:
        return _StepQuestions(
            is_agents=any(value.get(key) is not None for key in AGENT_ONLY),
            is_llms=any(value.get(key) is not None for key in LLM_ONLY),
            has_count=value.get("llm_call_count") is not None,
            has_time=value.get("timestamp") is not None,
            has_parts=type(value["message"]) is list,
            has_calls=value.get("tool_calls") is not None,
            has_observation=value.get("observation") is not None,
            has_metrics=value.get("metrics") is not None,
        )


class _ResultQuestions(NamedTuple):
    """What a result with a certain signature has."""

    has_call_id: bool
    has_parts: bool
    has_references: bool


class _ResultKind(_Kind[_ResultQuestions]):
    def questions(self, value: Members) -> _ResultQuestions:
        return _ResultQuestions(
            has_call_id=value.get("source_call_id") is not None,
            has_parts=type(value.get("content")) is list,
            has_references=value.get("subagent_trajectory_ref") is not None,
        )


class _MetricsQuestions(NamedTuple):
    """What metrics with a certain signature have."""

    integers: Sequence[str]
    arrays: Sequence[str]


class _MetricsKind(_Kind[_MetricsQuestions]):
    def questions(self, value: Members) -> _MetricsQuestions:
        return _MetricsQuestions(
            [key for key, one in value.items() if type(one) is int and key != "cost_usd"],
            [key for key in NUMBER_LISTS if value.get(key) is not None],
        )


class _PlainKind(_Kind[bool]):
    def questions(self, value: Members) -> bool:  # noqa: ARG002  # nothing depends on values
        return True


_STEPS = _StepKind(STEP)
_RESULTS = _ResultKind(RESULT)
_METRICS = _MetricsKind(METRICS)
_CALLS = _PlainKind(CALL)


# Questions


def is_sound(step: Members, position: int) -> bool:
    """Tell whether nothing is wrong with the step at *position*, from 1, for which no other step needs to be known."""
    known = _STEPS.known.get((*step, *map(type, step.values()))) or _STEPS.learn(step)
    if known is None or step["step_id"] != position:
        return False
    is_agents, is_llms, has_count, has_time, has_parts, has_calls, has_observation, has_metrics = (
        known
    )
    source = step["source"]
    if (
        (source != "agent" and (is_agents or source not in _OTHERS))
        # 0 only where nothing says that a model was asked
        or (has_count and not is_llms <= step["llm_call_count"] <= GREATEST)
        or (has_time and not (is_plain_time(step["timestamp"]) or is_sound_time(step["timestamp"])))
        or (has_parts and not all(map(is_part, step["message"])))
        or (has_metrics and not _are_sound_metrics(step["metrics"]))
    ):
        return False
    calls = step["tool_calls"] if has_calls else ()
    for call in calls:
        if (
            type(call) is not dict
            or not (_CALLS.known.get((*call, *map(type, call.values()))) or _CALLS.learn(call))
            or not call["tool_call_id"]
            or not call["function_name"]
        ):
            return False
    if not has_observation:
        return True
    observation = step["observation"]
    return len(observation) == 1 and _are_sound_results(observation.get("results"), calls)


_OTHERS = frozenset({"system", "user"})


def _are_sound_metrics(metrics: Members) -> bool:
    signature = (*metrics, *map(type, metrics.values()))
    known = _METRICS.known.get(signature) or _METRICS.learn(metrics)
    if known is None:
        return False
    integers, arrays = known
    for key in integers:
        if not LEAST <= metrics[key] <= GREATEST:
            return False
    return not arrays or all(element_types(metrics[key]) <= NUMBER_LISTS[key][0] for key in arrays)


def _are_sound_results(results: Json, calls: Sequence[Members]) -> bool:
    if type(results) is not list:
        return False
    are_few = len(calls) <= FEW
    for result in results:
        if type(result) is not dict:
            return False
        signature = (*result, *map(type, result.values()))
        known = _RESULTS.known.get(signature) or _RESULTS.learn(result)
        if known is None:
            return False
        has_call_id, has_parts, has_references = known
        if (
            (has_call_id and are_few and not _names_one_of(result["source_call_id"], calls))
            or (has_parts and not all(map(is_part, result["content"])))
            or (has_references and any(references(result, "")))
        ):
            return False
    return are_few or _name_some_of(results, calls)


def _names_one_of(call_id: str, calls: Sequence[Members]) -> bool:
    for call in calls:  # noqa: SIM110  # half as fast with `any`: most steps have one call
        if call["tool_call_id"] == call_id:
            return True
    return False


def _name_some_of(results: Sequence[Members], calls: Sequence[Members]) -> bool:
    """Tell whether all *results* of a step with many calls name one of these, or none."""
    ids = {call["tool_call_id"] for call in calls}
    return ids.issuperset(
        result["source_call_id"] for result in results if result.get("source_call_id") is not None
    )


FEW = 8
"""Up to so many calls it is quicker to look at each than to make a set of their ids."""


# Across steps


def has_unique_call_ids(steps: Sequence[Members]) -> bool:
    """Tell whether all calls of a trajectory have ids, and all of them different ones."""
    try:
        ids = list(map(_call_id, chain.from_iterable(_calls(steps))))
    except KeyError:
        return False
    return len(set(ids)) == len(ids) and "" not in ids and set(map(type, ids)) <= {str}


_call_id = itemgetter("tool_call_id")


def _calls(steps: Iterable[Members]) -> Iterator[Sequence[Members]]:
    """Yield the calls of each step that has some."""
    return (step["tool_calls"] for step in steps if step.get("tool_calls"))


def embedded_references(steps: Sequence[Members], at: str) -> Iterator[tuple[str, str]]:
    """Yield pointer and id of each reference that names a trajectory and no file."""
    for index, step in enumerate(steps):
        observation: Json = step.get("observation")
        for place, result in enumerate(observation.get("results", ()) if observation else ()):
            if type(result) is dict and "subagent_trajectory_ref" in result:
                here = f"{at}/{index}/observation/results/{place}/subagent_trajectory_ref"
                found = result["subagent_trajectory_ref"]
                for number, reference in enumerate(found if type(found) is list else ()):
                    if type(reference) is dict and _is_embedded(reference):
                        yield f"{here}/{number}", reference["trajectory_id"]


def _is_embedded(reference: Members) -> bool:
    return type(reference.get("trajectory_id")) is str and reference.get("trajectory_path") is None
