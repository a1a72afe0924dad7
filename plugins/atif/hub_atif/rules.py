"""ATIF's rules: what a breach of each means, and the checks that find them.

A check is a generator named for its rule. Checks of what is inside a step run over the steps whose batch has something
wrong (`hub_atif.parsing` finds out), so that they need not be fast.

Source: validation.md 7; atif.md 1.2 and 6.3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hub import MISSING, Json, Problem, Rule, Shape, pointer, show
from hub_atif.model import (
    AGENT_ONLY,
    AUDIO_SOURCE,
    FINAL_METRICS,
    IMAGE_SOURCE,
    IMAGE_TYPES,
    LLM_ONLY,
    METRICS,
    NUMBER_LISTS,
    PART,
    REFERENCE,
    RESULT,
    SOURCES,
    VERSIONS,
    audio_type,
    element_types,
    is_version,
)

OBJECT = Rule("atif.object", "fatal", "an object", "")
VERSION = Rule("atif.version", "fatal", '"ATIF-v1.<n>"', "")
VERSION_MISSING = Rule("atif.version-missing", "warning", "a version", "unset")
VERSION_NEWER = Rule("atif.version-newer", "warning", "at most ATIF-v1.8", "kept")
AGENT = Rule("atif.agent", "fatal", "an object", "")
STEPS = Rule("atif.steps", "fatal", "an array of objects", "")
STEPS_EMPTY = Rule("atif.steps-empty", "error", "at least one step", "kept")
REQUIRED = Rule("atif.required", "error", "a value", "unset")
TYPE = Rule("atif.type", "error", "a value of the right type", "residual")
VALUE = Rule("atif.value", "error", "a value as Harbor's models have it", "kept")
UNKNOWN_KEY = Rule("atif.unknown-key", "error", "a known key", "residual")
NO_IDENTITY = Rule(
    "atif.no-identity", "warning", "a session_id or a trajectory_id", "session derived"
)
TRAJECTORY_ID_EMPTY = Rule("atif.trajectory-id-empty", "warning", "a non-empty string", "residual")
CHILD_ID = Rule("atif.child-id", "error", "a trajectory_id", "identity derived")
CHILD_ID_UNIQUE = Rule(
    "atif.child-id-unique", "error", "an id that no other trajectory of the tree has", "renamed"
)
AGENT_NAME = Rule("atif.agent-name", "warning", "a non-empty string", "kept")
AGENT_VERSION = Rule("atif.agent-version", "warning", "a non-empty string", "kept")
STEP_SEQUENCE = Rule("atif.step-sequence", "error", "the position of the step", "kept")
SOURCE = Rule("atif.source", "error", "system, user or agent", "kept")
ONLY_AGENT = Rule("atif.agent-only", "error", "a member of agent steps only", "kept")
NO_LLM = Rule("atif.no-llm", "error", "nothing on an agent step with llm_call_count 0", "kept")
LLM_COUNT = Rule("atif.llm-count", "error", "an integer not below 0", "kept")
CONTENT_PART = Rule("atif.content-part", "error", "a text, an image or an audio part", "kept")
CALL_ID = Rule("atif.call-id", "warning", "a non-empty string", "positional id, residual")
CALL_ID_UNIQUE = Rule(
    "atif.call-id-unique", "warning", "an id that no other call of the trajectory has", "renamed"
)
FUNCTION_NAME = Rule("atif.function-name", "warning", "a non-empty string", "residual, placeholder")
RESULT_CALL = Rule("atif.result-call", "error", "the id of a call of the step", "kept")
SUBAGENT_REF = Rule("atif.subagent-ref", "error", "a trajectory_id or a trajectory_path", "kept")
SUBAGENT_REF_TARGET = Rule(
    "atif.subagent-ref-target", "info", "the trajectory_id of an embedded trajectory", "kept"
)
TIME = Rule("atif.time", "warning", "a date-time with an offset", "residual")
TIME_INVALID = Rule(
    "atif.time-invalid", "error", "an ISO 8601 date-time", "kept if a Storyline time, else residual"
)
CHILD_MISSING = Rule(
    "atif.child-missing",
    "warning",
    "a Storyline of the batch that has no place yet",
    "in the carrier",
)
FAMILY = Rule(
    "atif.family", "warning", "children that are not each other's parents", "in the carrier"
)

RULES = tuple(value for value in globals().values() if isinstance(value, Rule))


# The trajectory


def version(trajectory: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """The version is one of 1.0 to 1.8; newer minor versions are read as well."""
    place, value = f"{at}/schema_version", trajectory.get("schema_version", MISSING)
    if value is MISSING:
        yield VERSION_MISSING.at(place, message="no version")
    elif type(value) is not str or not is_version(value):
        message = f"unsupported version {show(value)}, supported: ATIF-v1.x"
        yield VERSION.at(place, value, message=message)
    elif value not in VERSIONS:
        yield VERSION_NEWER.at(place, value)


def steps_empty(trajectory: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """There is at least one step."""
    if trajectory.get("steps") == []:
        yield STEPS_EMPTY.at(f"{at}/steps", [])


def no_identity(trajectory: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """The root says which run, or which trajectory, it is."""
    if not trajectory.get("session_id") and not trajectory.get("trajectory_id"):
        message = "neither session_id nor trajectory_id; the session is named after the content"
        yield NO_IDENTITY.at(at, message=message)


def trajectory_id(
    trajectory: Mapping[str, Json], at: str, *, is_embedded: bool
) -> Iterator[Problem]:
    """A trajectory id is not empty, and an embedded trajectory has one."""
    value = trajectory.get("trajectory_id")
    if value == "":
        yield TRAJECTORY_ID_EMPTY.at(f"{at}/trajectory_id", value)
    elif value is None and is_embedded:
        yield CHILD_ID.at(f"{at}/trajectory_id", trajectory.get("trajectory_id", MISSING))


def agent_texts(agent: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """Name and version of the agent are not empty."""
    for key, rule in (("name", AGENT_NAME), ("version", AGENT_VERSION)):
        if agent.get(key) == "":
            yield rule.at(f"{at}/{key}", "")


def tool_definitions(agent: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """Tool definitions are objects."""
    value = agent.get("tool_definitions")
    if not element_types(value) <= {dict}:
        yield VALUE.at(f"{at}/tool_definitions", value, expected="an array of objects")


def final_metrics(trajectory: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """Final metrics are those that Harbor knows, and the number of steps is not below 0."""
    value, place = trajectory.get("final_metrics"), f"{at}/final_metrics"
    if type(value) is not dict:
        return
    yield from members(value, FINAL_METRICS, place)
    total = value.get("total_steps")
    if type(total) is int and total < 0:
        yield VALUE.at(f"{place}/total_steps", total, expected="an integer not below 0")


def members(value: Mapping[str, Json], shape: Shape, at: str) -> Iterator[Problem]:
    """An object inside an opaque slot has the members that Harbor knows, with their types."""
    if shape.fits(value):
        return
    for found in shape.deviations(value):
        place = f"{at}/{pointer.escape(found.key)}"
        if found.kind == "unknown":
            yield VALUE.at(place, found.value, message="unknown key")
        else:
            yield VALUE.at(place, found.value, expected=found.expected)


# Steps


def step_sequence(step: Mapping[str, Json], at: str, position: int) -> Iterator[Problem]:
    """The id of a step is its position, from 1."""
    value = step.get("step_id")
    if type(value) is int and value != position:
        yield STEP_SEQUENCE.at(f"{at}/step_id", value, expected=str(position))


def source(step: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """Who speaks is the system, the user or the agent."""
    value = step.get("source")
    if type(value) is str and value not in SOURCES:
        yield SOURCE.at(f"{at}/source", value)


def agent_only(step: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """Model, reasoning, calls and metrics stand on agent steps."""
    if type(step.get("source")) is not str or step["source"] == "agent":
        return
    for key in AGENT_ONLY:
        value = step.get(key)
        if value is not None:
            message = (
                f"expected nothing, since the source is {show(step['source'])}, found {show(value)}"
            )
            yield ONLY_AGENT.at(f"{at}/{key}", value, message=message)


def no_llm(step: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """A step for which no model was asked has neither metrics nor reasoning; a count is not negative."""
    count = step.get("llm_call_count")
    if type(count) is not int:
        return
    if count < 0:
        yield LLM_COUNT.at(f"{at}/llm_call_count", count)
    if count == 0 and step.get("source") == "agent":
        for key in LLM_ONLY:
            value = step.get(key)
            if value is not None:
                message = f"expected nothing, since llm_call_count is 0, found {show(value)}"
                yield NO_LLM.at(f"{at}/{key}", value, message=message)


def metrics(step: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """Metrics are those that Harbor knows; token ids and log-probabilities are numbers."""
    value, place = step.get("metrics"), f"{at}/metrics"
    if type(value) is not dict:
        return
    yield from members(value, METRICS, place)
    for key, (types, expected) in NUMBER_LISTS.items():
        if not element_types(value.get(key)) <= types:
            yield VALUE.at(f"{place}/{key}", value[key], expected=expected)


# Content


def content_parts(content: Json, at: str) -> Iterator[Problem]:
    """A message, or the content of a result, that is an array holds parts that Harbor knows."""
    if type(content) is list:
        for index, part in enumerate(content):
            if not is_part(part):
                yield _unknown_part(part, f"{at}/{index}")


def _unknown_part(part: Json, at: str) -> Problem:
    """Return the problem of a part that Harbor does not know, with its type."""
    if type(part) is not dict:
        return CONTENT_PART.at(at, part)
    kind = f"of the type {show(part['type'])}" if "type" in part else "without a type"
    message = f"expected {CONTENT_PART.expected}, found an object {kind}"
    return CONTENT_PART.at(at, part, message=message)


def is_part(part: Json) -> bool:
    """Tell whether *part* is a text, an image or a recording as Harbor wants it: type, keys, media type."""
    if type(part) is not dict or not PART.fits(part):
        return False
    kind, text, media = part["type"], part.get("text"), part.get("source")
    if kind == "text":
        return text is not None and media is None
    if text is not None or media is None:
        return False
    if kind == "image":
        return IMAGE_SOURCE.fits(media) and media["media_type"] in IMAGE_TYPES
    return (
        kind == "audio"
        and AUDIO_SOURCE.fits(media)
        and audio_type(media["media_type"]) is not None
        and not (media.get("duration_sec") or 0) < 0
    )


# Calls and results


def call_ids(calls: Iterable[Mapping[str, Json]], at: str, seen: set[str]) -> Iterator[Problem]:
    """Call ids are not empty, and differ in a trajectory; *seen* has those of earlier steps."""
    for index, call in enumerate(calls):
        call_id = call.get("tool_call_id")
        if type(call_id) is not str:
            continue
        if not call_id:
            yield CALL_ID.at(f"{at}/{index}/tool_call_id", call_id)
        elif call_id in seen:
            yield CALL_ID_UNIQUE.at(f"{at}/{index}/tool_call_id", call_id)
        seen.add(call_id)


def function_name(call: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """The name of a function is not empty."""
    if call.get("function_name") == "":
        yield FUNCTION_NAME.at(f"{at}/function_name", "")


def results(found: Sequence[Json], ids: Sequence[str], at: str) -> Iterator[Problem]:
    """Results are objects as Harbor knows them, and name calls of their step, which has *ids*."""
    known, expected = set(ids), _one_of(ids)
    for index, result in enumerate(found):
        place = f"{at}/{index}"
        if type(result) is not dict:
            yield VALUE.at(place, result, expected="an object")
            continue
        yield from members(result, RESULT, place)
        yield from content_parts(result.get("content"), f"{place}/content")
        yield from references(result, f"{place}/subagent_trajectory_ref")
        call_id = result.get("source_call_id")
        if type(call_id) is str and call_id not in known:
            yield RESULT_CALL.at(f"{place}/source_call_id", call_id, expected=expected)


def _one_of(ids: Sequence[str]) -> str:
    if not ids:
        return "no reference, since the step has no call"
    different = list(dict.fromkeys(ids))
    names = ", ".join(map(show, different[:SHOWN_IDS]))
    return f"one of {names}{', …' if len(different) > SHOWN_IDS else ''}"


SHOWN_IDS = 8
"""So many ids are listed in a message."""


def references(result: Mapping[str, Json], at: str) -> Iterator[Problem]:
    """References to sub-agents are objects as Harbor knows them, and can be followed."""
    found = result.get("subagent_trajectory_ref")
    if type(found) is not list:
        return
    for index, reference in enumerate(found):
        place = f"{at}/{index}"
        if type(reference) is not dict:
            yield VALUE.at(place, reference, expected="an object")
            continue
        yield from members(reference, REFERENCE, place)
        if not is_resolvable(reference):
            yield SUBAGENT_REF.at(place, reference)


def is_resolvable(reference: Mapping[str, Json]) -> bool:
    """Tell whether a reference says where its trajectory is."""
    return (
        reference.get("trajectory_id") is not None or reference.get("trajectory_path") is not None
    )
