"""Documents with every member in place: what the closed model refuses is set aside, what is absent gets its default.

A value of the wrong type, an unknown key, and `null` where the type has none are residuals, and the key is then read as
absent. An object that needs nothing of this is not copied; the source is never changed. An element of a list of calls,
results or parts that is no object leaves None in its place, so that all others keep their index.

Source: ale.md 2 and 5.8; validation.md 6; storyline.md 6.4.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from hub import INTEGERS, MISSING, Deviation, Document, Json, Rule, is_timestamp, pointer
from hub_ale import rules
from hub_ale.intact import is_call, is_part, is_result, is_step
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
    Kind,
    Step,
    Trajectory,
)
from hub_ale.times import are_canonical_times, is_canonical_time

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
        times = [value.get("timestamp") for value in values if type(value) is dict]
        are_canonical = are_canonical_times([time for time in times if type(time) is str])
        for index, value in enumerate(values):
            if not is_step(value):
                if type(value) is not dict:
                    self.objects(values, at)
                    return []
                value = self.step(value, f"{at}/{index}")  # noqa: PLW2901  # the same step, complete
            time = value["timestamp"]
            if time is not None and not are_canonical:
                read = self.time(time, f"{at}/{index}/timestamp")
                if read is not time:
                    value = {**value, "timestamp": read}  # noqa: PLW2901  # the same step
            steps.append(value)
        return steps

    def step(self, value: Object, at: str) -> Object:
        step = self.members(value, STEP, at)
        if type(step["message"]) is list:
            step["message"] = self.elements(step["message"], is_part, self.part, f"{at}/message")
        if step["tool_calls"]:
            step["tool_calls"] = self.elements(
                step["tool_calls"], is_call, self.call, f"{at}/tool_calls"
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
            observation["results"], is_result, self.result, f"{at}/results"
        )
        return observation

    def result(self, value: Object, at: str) -> Object:
        result = self.members(value, RESULT, at)
        result["content"] = self.elements(result["content"], is_part, self.part, f"{at}/content")
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
        if text is None:
            return None
        if is_timestamp(text, numbers=False):
            if not is_canonical_time(text):
                self.document.report(rules.TIME_FORM.at(at, text))
            return text
        return self.document.read_time(text, at, rules.TIME)  # type: ignore[return-value]  # a text stays one


def _is_integral(value: float) -> bool:
    return value.is_integer() and int(value) in INTEGERS
