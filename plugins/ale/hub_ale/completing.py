"""Documents with every member in place: what the closed model refuses is set aside, what is absent gets its default.

A value of the wrong type, an unknown key, and `null` where the type has none are residuals, and the key is then read as
absent. An object that needs nothing of this is not copied; the source is never changed. An element of a list of calls,
results or parts that is no object leaves None in its place, so that all others keep their index.

Source: ale.md 2 and 5.8; validation.md 6; storyline.md 6.4.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from hub import INTEGERS, MISSING, Deviation, Document, Json, Rule, is_timestamp, pointer
from hub_ale import rules
from hub_ale.model import (
    AGENT,
    CALL,
    FINAL_METRICS,
    IMAGE,
    OBSERVATION,
    PART,
    RESULT,
    STEP,
    STEP_METRICS,
    TRAJECTORY,
    VERSION,
    ContentPart,
    Kind,
    Observation,
    Step,
    ToolCall,
    ToolResult,
    Trajectory,
)
from hub_ale.times import is_canonical_time, is_plain_time

Object = dict[str, Any]


class Node(NamedTuple):
    """A trajectory and its place in the document."""

    pointer: str
    trajectory: Trajectory
    parent: int | None
    """Index of the trajectory that it is nested in."""


_FATAL = {
    "schema_version": rules.UNSUPPORTED,
    "episode_id": rules.EPISODE_ID,
    "agent": rules.AGENT_OBJECT,
    "steps": rules.ARRAYS,
    "subagent_trajectories": rules.ARRAYS,
}
"""Members without which a trajectory cannot be read, whatever is wrong with them."""


def complete(document: Document[Any], value: Object) -> list[Node]:
    """Return the trajectories of the document *value*, parents before children, each with every key.

    What is wrong with them goes to *document*.
    """
    completion = _Completion(document)
    nodes: list[Node] = []
    todo: list[tuple[str, Object, int | None]] = [("", value, None)]
    while todo:
        at, own, parent = todo.pop()
        trajectory = completion.trajectory(own, at)
        nested = completion.objects(
            trajectory["subagent_trajectories"], f"{at}/subagent_trajectories"
        )
        todo.extend((place, child, len(nodes)) for place, child in reversed(nested))
        nodes.append(Node(at, trajectory, parent))
    return nodes


class _Completion:
    """Completes the objects of one document."""

    def __init__(self, document: Document[Any]) -> None:
        self.document = document

    def trajectory(self, value: Object, at: str) -> Trajectory:
        node: Any = self.members(value, TRAJECTORY, at)
        version = node["schema_version"]
        if version is not None and version != VERSION:
            message = f'unsupported version "{version}", supported: {VERSION}'
            self.document.report(
                rules.UNSUPPORTED.at(f"{at}/schema_version", version, message=message)
            )
        if node["episode_id"] == "":
            self.document.report(rules.EPISODE_ID.at(f"{at}/episode_id", ""))
        if node["agent"] is not None:
            node["agent"] = self.members(node["agent"], AGENT, f"{at}/agent")
        node["steps"] = self.steps(node["steps"], f"{at}/steps")
        if node["final_metrics"] is not None:
            final = self.members(node["final_metrics"], FINAL_METRICS, f"{at}/final_metrics")
            node["final_metrics"] = final
        node["started_at"] = self.time(node["started_at"], f"{at}/started_at")
        node["ended_at"] = self.time(node["ended_at"], f"{at}/ended_at")
        return node  # type: ignore[no-any-return]  # complete, by the lines above

    def objects(self, values: list[Json], at: str) -> list[tuple[str, Object]]:
        """Return the elements of *values* with their pointers; any that is no object is fatal."""
        found = []
        for index, value in enumerate(values):
            if type(value) is dict:
                found.append((f"{at}/{index}", value))
            else:
                self.document.report(rules.ARRAYS.at(f"{at}/{index}", value, expected="an object"))
        return found

    # Steps

    def steps(self, values: list[Json], at: str) -> list[Step]:
        """Return the steps; none when an element is no object, since nothing can be said of their order."""
        steps = []
        for index, value in enumerate(values):
            if not _is_step(value):
                if type(value) is not dict:
                    self.objects(values, at)
                    return []
                value = self.step(value, f"{at}/{index}")  # noqa: PLW2901  # the same step, complete
            time = value["timestamp"]
            if time is not None and not is_plain_time(time):
                read = self.time(time, f"{at}/{index}/timestamp")
                if read is not time:
                    value = {**value, "timestamp": read}  # noqa: PLW2901  # the same step
            steps.append(value)
        return steps

    def step(self, value: Object, at: str) -> Object:
        step = self.members(value, STEP, at)
        if type(step["message"]) is list:
            step["message"] = self.elements(step["message"], _is_part, self.part, f"{at}/message")
        if step["tool_calls"]:
            step["tool_calls"] = self.elements(
                step["tool_calls"], _is_call, self.call, f"{at}/tool_calls"
            )
        if step["observation"] is not None:
            step["observation"] = self.observation(step["observation"], f"{at}/observation")
        if step["metrics"] is not None:
            step["metrics"] = self.members(step["metrics"], STEP_METRICS, f"{at}/metrics")
        return step

    def call(self, value: Object, at: str) -> Object:
        return self.members(value, CALL, at)

    def observation(self, value: Object, at: str) -> Object:
        observation = self.members(value, OBSERVATION, at)
        observation["results"] = self.elements(
            observation["results"], _is_result, self.result, f"{at}/results"
        )
        return observation

    def result(self, value: Object, at: str) -> Object:
        result = self.members(value, RESULT, at)
        result["content"] = self.elements(result["content"], _is_part, self.part, f"{at}/content")
        return result

    def part(self, value: Object, at: str) -> Object:
        part = self.members(value, PART, at)
        if part["image"] is not None:
            part["image"] = self.members(part["image"], IMAGE, f"{at}/image")
        return part

    def elements(
        self,
        values: list[Json],
        is_complete: Callable[[Json], bool],
        completed: Callable[[Object, str], Object],
        at: str,
    ) -> list[Json]:
        """Return the elements of *values*, each *completed*; None for one that is no object."""
        return [
            value if is_complete(value) else self.element(value, completed, f"{at}/{index}")
            for index, value in enumerate(values)
        ]

    def element(
        self, value: Json, completed: Callable[[Object, str], Object], at: str
    ) -> Object | None:
        if type(value) is dict:
            return completed(value, at)
        self.document.set_aside(at, value, rules.TYPE.at(at, value, expected="an object"))
        return None

    # Members

    def members(self, value: Object, kind: Kind, at: str) -> Object:
        """Return a copy of *value* with every key of its *kind*, and without what that refuses."""
        if not kind.shape.fits(value):
            value = {**value}
            for deviation in list(kind.shape.deviations(value)):
                place = f"{at}/{pointer.escape(deviation.key)}"
                fatal = _FATAL.get(deviation.key) if kind is TRAJECTORY else None
                if fatal is None or not self.is_fatal(deviation, fatal, place):
                    read = self.deviating(deviation, place)
                else:
                    read = MISSING
                if read is MISSING:
                    value.pop(deviation.key, None)
                else:
                    value[deviation.key] = read
        whole = kind.complete(value)
        for key in kind.floats:
            if type(whole[key]) is int:
                whole[key] = self.as_float(whole[key], f"{at}/{key}", kind.defaults[key])
        return whole

    def is_fatal(self, deviation: Deviation, fatal: Rule, at: str) -> bool:
        """Report a member without which a trajectory cannot be read; False if it can be, in this case."""
        if deviation.kind == "null" and fatal is rules.ARRAYS:
            return False
        if deviation.kind == "missing":
            fatal = rules.VERSION_MISSING if fatal is rules.UNSUPPORTED else fatal
            self.document.report(fatal.at(at))
        else:
            self.document.report(fatal.at(at, deviation.value))
        return True

    def deviating(self, deviation: Deviation, at: str) -> Json:
        """Report a member that is not as its shape says; return what it is read as, `MISSING` for nothing."""
        kind, _, value, expected = deviation
        if kind == "missing":
            self.document.report(rules.REQUIRED.at(at, expected=expected))
        elif kind == "unknown":
            self.document.set_aside(
                at, value, rules.UNKNOWN_KEY.at(at, value, message="unknown key")
            )
        elif kind == "null":
            self.document.set_aside(at, value, rules.NULL.at(at, value, expected=expected))
        elif type(value) is float and "integer" in expected and _is_integral(value):
            self.document.report(rules.NUMBER_FORM.at(at, value, expected=expected))
            return int(value)
        else:
            self.document.set_aside(at, value, rules.TYPE.at(at, value, expected=expected))
        return MISSING

    def as_float(self, value: int, at: str, default: Json) -> Json:
        """Return the integer *value* of a float slot as a float, if one is exactly that."""
        try:
            number = float(value)
        except OverflowError:
            number = 0.0
        if number == value:
            self.document.report(rules.NUMBER_FORM.at(at, value, expected="a float"))
            return number
        self.document.set_aside(at, value, rules.TYPE.at(at, value, expected="a float"))
        return default

    def time(self, text: str | None, at: str) -> str | None:
        """Return *text* if it is a Storyline time, with the zone that was asked for if it has none."""
        if text is None or is_plain_time(text):
            return text
        if is_timestamp(text, numbers=False):
            if not is_canonical_time(text):
                self.document.report(rules.TIME_FORM.at(at, text))
            return text
        return self.document.read_time(text, at, rules.TIME)  # type: ignore[return-value]  # a text stays one


def _is_integral(value: float) -> bool:
    return value.is_integer() and int(value) in INTEGERS


# The fast question: has an object every key, and each value its type? Nearly every object of nearly every file has.

_members_of_step = itemgetter(*Step.__annotations__)
_members_of_call = itemgetter(*ToolCall.__annotations__)
_members_of_observation = itemgetter(*Observation.__annotations__)
_members_of_result = itemgetter(*ToolResult.__annotations__)
_members_of_part = itemgetter(*ContentPart.__annotations__)
_members_of_metrics = itemgetter(*STEP_METRICS.defaults)
_members_of_image = itemgetter(*IMAGE.defaults)
(
    _STEP_SIZE,
    _CALL_SIZE,
    _OBSERVATION_SIZE,
    _RESULT_SIZE,
    _PART_SIZE,
    _IMAGE_SIZE,
    _STEP_METRICS_SIZE,
) = (len(kind.defaults) for kind in (STEP, CALL, OBSERVATION, RESULT, PART, IMAGE, STEP_METRICS))


def _is_step(value: Json) -> bool:
    try:
        step_id, time, source, message, reasoning, calls, observation, metrics, extra = (
            _members_of_step(value)
        )
    except (KeyError, TypeError):
        return False
    if (
        len(value) != _STEP_SIZE
        or type(step_id) is not int
        or step_id not in INTEGERS
        or type(time) is not str
        or type(source) is not str
        or type(calls) is not list
        or type(extra) is not dict
        or not (reasoning is None or type(reasoning) is str)
    ):
        return False
    for call in calls:
        if not _is_call(call):
            return False
    return (
        (observation is None or _is_observation(observation))
        and (message is None or type(message) is str or _are(message, _is_part))
        and (metrics is None or _is_metrics(metrics))
    )


def _are(values: Json, is_complete: Callable[[Json], bool]) -> bool:
    if type(values) is not list:
        return False
    for value in values:  # noqa: SIM110  # half as fast with `all`: most lists have one element
        if not is_complete(value):
            return False
    return True


def _is_call(value: Json) -> bool:
    try:
        call_id, name, arguments = _members_of_call(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _CALL_SIZE
        and type(call_id) is str
        and type(name) is str
        and type(arguments) is dict
    )


def _is_observation(value: Json) -> bool:
    try:
        results, error = _members_of_observation(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _OBSERVATION_SIZE
        and (error is None or type(error) is str)
        and _are(results, _is_result)
    )


def _is_result(value: Json) -> bool:
    try:
        call_id, content, is_error = _members_of_result(value)
    except (KeyError, TypeError):
        return False
    if (
        len(value) != _RESULT_SIZE
        or type(call_id) is not str
        or type(is_error) is not bool
        or type(content) is not list
    ):
        return False
    for part in content:  # noqa: SIM110  # half as fast with `all`: most lists have one element
        if not _is_part(part):
            return False
    return True


def _is_part(value: Json) -> bool:
    try:
        kind, text, image = _members_of_part(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _PART_SIZE
        and type(kind) is str
        and (text is None or type(text) is str)
        and (image is None or _is_image(image))
    )


def _is_image(value: Json) -> bool:
    try:
        kind, path, url, data, media_type, alt_text = _members_of_image(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _IMAGE_SIZE
        and type(kind) is type(media_type) is str
        and all(text is None or type(text) is str for text in (path, url, data, alt_text))
    )


def _is_metrics(value: Json) -> bool:
    try:
        fresh, output, reads, writes, cost, duration = _members_of_metrics(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _STEP_METRICS_SIZE
        and (fresh is None or (type(fresh) is int and fresh in INTEGERS))
        and (output is None or (type(output) is int and output in INTEGERS))
        and (reads is None or (type(reads) is int and reads in INTEGERS))
        and (writes is None or (type(writes) is int and writes in INTEGERS))
        and (cost is None or type(cost) is float)
        and (duration is None or (type(duration) is int and duration in INTEGERS))
    )
