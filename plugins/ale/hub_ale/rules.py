"""The rules of ALE, and the checks of a trajectory whose members have their types.

A check gets one trajectory that `hub_ale.completing` made complete, and its pointer; it yields every breach of its
rule. Rules of types and times are checked where those are read.

Source: validation.md 6; ale.md 1 to 3.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isclose, isfinite
from operator import itemgetter
from typing import TypeGuard

from hub import INTEGERS, Json, Problem, Rule
from hub_ale.model import (
    PAYLOADS,
    SOURCES,
    STATUSES,
    TOTALS,
    VERSION,
    ContentPart,
    Step,
    StepMetrics,
    Trajectory,
)

OBJECT = Rule("ale.object", "fatal", "an object")
BARE_STEPS = Rule("ale.bare-steps", "fatal", "a trajectory")
UNSUPPORTED = Rule("ale.version", "fatal", f'"{VERSION}"')
VERSION_MISSING = Rule("ale.version-missing", "error", f'"{VERSION}"', "unset")
EPISODE_ID = Rule("ale.episode-id", "fatal", "a non-empty string")
AGENT_OBJECT = Rule("ale.agent", "fatal", "an object")
ARRAYS = Rule("ale.steps", "fatal", "an array of objects")
REQUIRED = Rule("ale.required", "error", "a value", "unset")
TYPE = Rule("ale.type", "error", "a value of the model's type", "residual")
NUMBER_FORM = Rule("ale.number-form", "info", "a number of the model's form", "normalised")
NULL = Rule("ale.null", "error", "a value that is not null", "residual")
UNKNOWN_KEY = Rule("ale.unknown-key", "error", "a known key", "residual")
SOURCE = Rule("ale.source", "error", " or ".join(f'"{source}"' for source in SOURCES))
STATUS = Rule("ale.status", "error", " or ".join(f'"{status}"' for status in STATUSES))
STEP_ID = Rule("ale.step-id", "error", "an integer above 0")
STEP_UNIQUE = Rule("ale.step-unique", "error", "an id that no step before has", "renumbered")
STEP_SEQUENCE = Rule("ale.step-sequence", "warning", "the position of the step")
TIME = Rule("ale.time", "warning", "a date-time with an offset", "residual")
TIME_FORM = Rule("ale.time-form", "info", "YYYY-MM-DDTHH:MM:SS.ffffffZ")
PART = Rule("ale.part", "error", "the payload that the type asks for, and no other")
INLINE_IMAGE = Rule("ale.inline-image", "warning", "a path or a URL")
CALL_ID_MISSING = Rule("ale.call-id-missing", "info", "a non-empty string", "positional id")
CALL_ID_UNIQUE = Rule("ale.call-id-unique", "warning", "an id that no call before has", "renamed")
EMPTY_NAME = Rule("ale.empty-name", "warning", "a non-empty string")
RESULT_CALL = Rule("ale.result-call", "info", "the id of an earlier call")
STEP_SHAPE = Rule("ale.step-shape", "info", "what steps of this source normally hold")
TOTALS_DIFFER = Rule("ale.totals", "info", "the sum over the steps")
EPISODE_UNIQUE = Rule("ale.episode-unique", "info", "an id that no trajectory before has")
SKELETON = Rule("ale.skeleton", "warning", "turns and results that are there", "unset")
STATUS_WORD = Rule("ale.status-word", "warning", "a known word for an outcome", "in the carrier")
CHILD_MISSING = Rule("ale.child-missing", "warning", "a child of the batch", "in the carrier")
FAMILY = Rule("ale.family", "warning", "a story that is not its own parent", "in the carrier")

RULES = tuple(value for value in tuple(globals().values()) if isinstance(value, Rule))
"""Every rule, for `FormatInfo.rules`."""

Check = Callable[[Trajectory, str], Iterator[Problem]]


def problems(nodes: Sequence[tuple[str, Trajectory]]) -> Iterator[Problem]:
    """Yield the breaches of all rules in *nodes*, the trajectories of one document by pointer."""
    for at, node in nodes:
        for check in CHECKS:
            yield from check(node, at)
    yield from episode_unique(nodes)


def names(node: Trajectory, at: str) -> Iterator[Problem]:
    """Names of the agent and of the task are not empty."""
    agent = node["agent"]
    if agent is not None and agent["name"] == "":
        yield EMPTY_NAME.at(f"{at}/agent/name", "")
    if node["task_path"] == "":
        yield EMPTY_NAME.at(f"{at}/task_path", "")


def status(node: Trajectory, at: str) -> Iterator[Problem]:
    """The outcome is one of three words."""
    final = node["final_metrics"]
    if final is not None and final["status"] not in STATUSES:
        yield STATUS.at(f"{at}/final_metrics/status", final["status"])


def step_ids(node: Trajectory, at: str) -> Iterator[Problem]:
    """Step ids are 1 ... n; others are allowed as long as they differ and are above 0."""
    ids = [step["step_id"] for step in node["steps"]]
    if ids == list(range(1, len(ids) + 1)):
        return
    seen: set[int] = set()
    is_unique = len(set(ids)) == len(ids) and None not in ids
    for index, step_id in enumerate(ids):
        if step_id is None:
            continue
        pointer = f"{at}/steps/{index}/step_id"
        if step_id < 1:
            yield STEP_ID.at(pointer, step_id)
        if step_id in seen:
            yield STEP_UNIQUE.at(pointer, step_id)
        elif is_unique and step_id != index + 1:
            yield STEP_SEQUENCE.at(pointer, step_id, expected=str(index + 1))
        seen.add(step_id)


def sources(node: Trajectory, at: str) -> Iterator[Problem]:
    """Every step has one of the four sources."""
    if {step["source"] for step in node["steps"]} <= {*SOURCES}:
        return
    for index, step in enumerate(node["steps"]):
        source = step["source"]
        if source not in SOURCES and source is not None:
            yield SOURCE.at(f"{at}/steps/{index}/source", source)


def step_shape(node: Trajectory, at: str) -> Iterator[Problem]:
    """Only agent steps have metrics, reasoning and calls; only other steps have an observation."""
    for index, step in enumerate(node["steps"]):
        if step["source"] == "agent":
            if step["observation"] is None:
                continue
            unusual: tuple[str, ...] = ("observation",)
        else:
            if step["metrics"] is None and step["reasoning"] is None and not step["tool_calls"]:
                continue
            unusual = ("reasoning", "tool_calls", "metrics")
        for key in unusual:
            value = step[key]  # type: ignore[literal-required]  # one of the four above
            if value is not None and value != []:
                message = f"{key} on a step of source {step['source']}"
                yield STEP_SHAPE.at(f"{at}/steps/{index}/{key}", value, message=message)


def calls(node: Trajectory, at: str) -> Iterator[Problem]:
    """Calls have ids, which differ, and names."""
    seen: set[str] = set()
    for index, step in enumerate(node["steps"]):
        if not step["tool_calls"]:
            continue
        for position, call in enumerate(step["tool_calls"]):
            if call is None:
                continue
            call_id = call["id"]
            if call_id and call_id not in seen and call["name"] != "":
                seen.add(call_id)
                continue
            pointer = f"{at}/steps/{index}/tool_calls/{position}"
            if not call_id:
                yield CALL_ID_MISSING.at(f"{pointer}/id", call_id)
            elif call_id in seen:
                yield CALL_ID_UNIQUE.at(f"{pointer}/id", call_id)
            if call["name"] == "":
                yield EMPTY_NAME.at(f"{pointer}/name", "")
            seen.add(call_id)


def result_calls(node: Trajectory, at: str) -> Iterator[Problem]:
    """A result names a call of an earlier step, or of its own."""
    known: set[str] = set()
    for index, step in enumerate(node["steps"]):
        for call in step["tool_calls"]:
            if call is not None:
                known.add(call["id"])
        observation = step["observation"]
        if observation is None:
            continue
        for position, result in enumerate(observation["results"]):
            if result is None or result["tool_call_id"] is None:
                continue
            if result["tool_call_id"] in known and result["tool_call_id"] != "":
                continue
            pointer = f"{at}/steps/{index}/observation/results/{position}"
            yield RESULT_CALL.at(pointer, result["tool_call_id"])


def parts(node: Trajectory, at: str) -> Iterator[Problem]:
    """A part has the payload of its type and no other, an image is not inline."""
    for index, step in enumerate(node["steps"]):
        message, observation = step["message"], step["observation"]
        if type(message) is list:
            yield from _parts(message, f"{at}/steps/{index}/message")
        if observation is None:
            continue
        for position, result in enumerate(observation["results"]):
            if result is not None and not _is_one_text(result["content"]):
                pointer = f"{at}/steps/{index}/observation/results/{position}/content"
                yield from _parts(result["content"], pointer)


def _is_one_text(content: Sequence[ContentPart | None]) -> bool:
    return len(content) == 1 and is_text(content[0])


def _parts(content: Iterable[ContentPart | None], at: str) -> Iterator[Problem]:
    for index, part in enumerate(content):
        if part is None or is_text(part):
            continue
        pointer = f"{at}/{index}"
        # Without a type there is nothing to ask for: `ale.required` and `ale.type` have said so.
        if part["type"] is not None and not is_image(part):
            yield PART.at(pointer, message=f"{PART.expected} {_payloads(part)}")
        image = part["image"]
        if image is not None and image["type"] == "base64":
            yield INLINE_IMAGE.at(f"{pointer}/image", message="an inline image; a path is better")


def is_text(part: ContentPart | None) -> TypeGuard[ContentPart]:
    """Tell whether *part* is a valid text part: ale.md 1.5."""
    return (
        part is not None
        and part["type"] == "text"
        and part["text"] is not None
        and part["image"] is None
    )


def is_image(part: ContentPart) -> bool:
    """Tell whether *part* is a valid image part: ale.md 1.5."""
    image = part["image"]
    if part["type"] != "image" or image is None or part["text"] is not None:
        return False
    payload = PAYLOADS.get(image["type"])
    return payload is not None and image[payload] is not None  # type: ignore[literal-required]  # a key of it


def _payloads(part: ContentPart) -> str:
    """Return the payloads of *part* in words."""
    found = [key for key in ("text", "image") if part[key] is not None]
    image = part["image"]
    inner = [key for key in PAYLOADS.values() if image is not None and image[key] is not None]  # type: ignore[literal-required]
    kind = f"of type {part['type']!r}" + ("" if image is None else f" and {image['type']!r}")
    return f"({kind}, found {', '.join((*found, *inner)) or 'nothing'})"


def totals(node: Trajectory, at: str) -> Iterator[Problem]:
    """Totals are the sums over the steps."""
    final = node["final_metrics"]
    if final is None:
        return
    sums = sum_metrics(node["steps"])
    for key in TOTALS:
        stated: Json = final[key]  # type: ignore[literal-required]  # one of the seven
        expected: Json = sums.get(key, 0)
        is_close = type(stated) is float and isclose(stated, expected, rel_tol=1e-9, abs_tol=1e-9)
        if stated != expected and not is_close:
            yield TOTALS_DIFFER.at(f"{at}/final_metrics/{key}", stated, expected=str(expected))


_members_of_metrics = itemgetter(*StepMetrics.__annotations__)


def sum_metrics(steps: Sequence[Step]) -> dict[str, int | float]:
    """Return the number of *steps*, and of their metrics the sums that are known, by the name of the total.

    A sum that does not fit its slot is not known.
    """
    every = list(map(itemgetter("metrics"), steps))
    metrics = [one for one in every if one is not None] if None in every else every
    sums: dict[str, int | float] = {"total_steps": len(steps)}
    columns = zip(*map(_members_of_metrics, metrics), strict=True)
    for key, values in zip(StepMetrics.__annotations__, columns, strict=False):
        known = [value for value in values if value is not None] if None in values else values
        if not known:
            continue
        total = sum(known)
        if isfinite(total) if type(total) is float else total in INTEGERS:
            sums[f"total_{key}"] = total
    return sums


def episode_unique(nodes: Iterable[tuple[str, Trajectory]]) -> Iterator[Problem]:
    """The trajectories of a document have ids of their own."""
    seen: set[str] = set()
    for at, node in nodes:
        episode_id = node["episode_id"]
        if episode_id in seen:
            yield EPISODE_UNIQUE.at(f"{at}/episode_id", episode_id)
        seen.add(episode_id)


CHECKS: tuple[Check, ...] = (
    names,
    status,
    step_ids,
    sources,
    step_shape,
    calls,
    result_calls,
    parts,
    totals,
)
