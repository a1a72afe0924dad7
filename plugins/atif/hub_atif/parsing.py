"""Parsing: the JSON of one tree to its nodes, with every breach of a rule reported, and what no field takes set aside.

Nothing is changed; an object is copied only where a member of it was set aside. A step is looked at closely only if it
is not sound (`hub_atif.sound`).

Source: atif.md 1.2, 3 and 5; validation.md 7.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hub import Document, Json, Problem, Record, Rule, Shape, pointer
from hub_atif import rules
from hub_atif.model import AGENT, CALL, CHILDREN, OBSERVATION, OPAQUE, STEP, TRAJECTORY
from hub_atif.sound import embedded_references, has_unique_call_ids, is_sound
from hub_atif.times import is_accepted, is_sound_time
from hub_atif.tree import Node, Tree

Parsed = Document[Tree]
Members = dict[str, Json]

NO_RULES: Mapping[str, Rule | None] = MappingProxyType({})
OWN_RULES: Mapping[str, Rule | None] = {
    "schema_version": None,
    "agent": rules.AGENT,
    "steps": rules.STEPS,
}
"""Members of a trajectory whose type and absence have rules of their own."""


def parse_record(record: Record) -> Parsed:
    """Return the tree of one JSON value."""
    document = Document(Tree(record.value), record=record)
    todo: list[tuple[Json, str, int | None, int]] = [(record.value, "", None, 0)]
    while todo:
        value, at, parent, index = todo.pop()
        if type(value) is not dict:
            document.report(rules.OBJECT.at(at, value))
            continue
        node = _node(document, value, at, parent, index)
        position = len(document.value.nodes)
        document.value.nodes.append(node)
        children: Any = node.trajectory.get("subagent_trajectories") or ()
        todo.extend(
            (child, f"{at}/{CHILDREN}/{place}", position, place)
            for place, child in reversed(list(enumerate(children)))
        )
    if not document.is_fatal:
        _check_identities(document)
        _check_targets(document)
    return document


def _node(document: Parsed, value: Members, at: str, parent: int | None, index: int) -> Node:
    trajectory: Any = _clean(document, TRAJECTORY, value, at, OWN_RULES)
    for check in (rules.version, rules.steps_empty, rules.final_metrics):
        document.problems.extend(check(trajectory, at))
    if parent is None:
        document.problems.extend(rules.no_identity(trajectory, at))
    for problem in rules.trajectory_id(trajectory, at, is_embedded=parent is not None):
        document.report(problem)
        if problem.rule == rules.TRAJECTORY_ID_EMPTY.rule:
            document.residuals[problem.pointer] = ""
    agent: Any = trajectory.get("agent")
    if type(agent) is dict:
        agent = _clean(document, AGENT, agent, f"{at}/agent")
        document.problems.extend(rules.agent_texts(agent, f"{at}/agent"))
        document.problems.extend(rules.tool_definitions(agent, f"{at}/agent"))
    steps = trajectory.get("steps")
    checked = _Steps(document, steps if type(steps) is list else [], f"{at}/steps")
    checked.check()
    known: Any = agent if type(agent) is dict else {}
    return Node(at, parent, index, trajectory, known, checked.steps, checked.has_unique_call_ids)


# Shapes


def _clean(
    document: Parsed,
    shape: Shape,
    value: Members,
    at: str,
    own_rules: Mapping[str, Rule | None] = NO_RULES,
) -> Members:
    """Return *value* without members of a wrong type, which are set aside as those that nobody knows are.

    A member with a rule in *own_rules* is left to that rule; so is one of a wrong type in an opaque slot to its reader.
    """
    if shape.fits(value):
        return value
    wrong = set()
    for found in shape.deviations(value):
        place = f"{at}/{pointer.escape(found.key)}"
        if found.key in own_rules:
            rule = own_rules[found.key]
            if rule is not None:
                document.report(rule.at(place, found.value))
        elif found.kind == "missing":
            document.report(rules.REQUIRED.at(place, expected=found.expected))
        elif found.kind == "unknown":
            problem = rules.UNKNOWN_KEY.at(place, found.value, message="unknown key")
            document.report(problem)
            if not (shape is CALL and found.key == RESULT):
                document.residuals[place] = found.value
        elif found.key in OPAQUE:
            document.report(rules.VALUE.at(place, found.value, expected=found.expected))
        else:
            problem = rules.TYPE.at(place, found.value, expected=found.expected)
            document.set_aside(place, found.value, problem)
            wrong.add(found.key)
    return {key: member for key, member in value.items() if key not in wrong} if wrong else value


RESULT = "result"
"""Key of a call that Harbor does not know, and that is read all the same: atif.md 1.2."""


# Steps


class _Steps:
    """The steps of one node while they are checked."""

    def __init__(self, document: Parsed, steps: Sequence[Json], at: str) -> None:
        self.document = document
        self.at = at
        self.steps: Sequence[Any] = steps
        self.has_unique_call_ids = True
        self._is_own = False

    def check(self) -> None:
        """Look at every step; what was set aside is not in `steps` any more."""
        strange = [index for index, step in enumerate(self.steps) if type(step) is not dict]
        for index in strange:
            found = self.steps[index]
            self.document.report(rules.STEPS.at(f"{self.at}/{index}", found, expected="an object"))
        if strange:
            self.steps = ()
        for index, step in enumerate(self.steps):
            if not is_sound(step, index + 1):
                self.check_step(step, index)
        self.has_unique_call_ids = has_unique_call_ids(self.steps)
        if not self.has_unique_call_ids:
            self._check_call_ids()

    def check_step(self, step: Members, index: int) -> None:
        """Report what is wrong with one step; each check sees what the ones before it left of the step."""
        for check in CHECKS:
            check(self, step, index)
            step = self.steps[index]

    def report(self, problems: Iterable[Problem]) -> None:
        self.document.problems.extend(problems)

    def change(self, index: int, step: Members) -> None:
        """Let *step* stand for the step at *index*."""
        if not self._is_own:
            self.steps = list(self.steps)
            self._is_own = True
        self.steps[index] = step  # type: ignore[index]  # a list of its own

    def check_shape(self, step: Members, index: int) -> None:
        clean = _clean(self.document, STEP, step, f"{self.at}/{index}")
        if clean.get("source") == "":
            self.document.residuals[f"{self.at}/{index}/source"] = ""
        if clean is not step:
            self.change(index, clean)

    def check_members(self, step: Members, index: int) -> None:
        at = f"{self.at}/{index}"
        self.report(rules.step_sequence(step, at, index + 1))
        for check in (rules.source, rules.agent_only, rules.no_llm):
            self.report(check(step, at))

    def check_time(self, step: Members, index: int) -> None:
        """Set aside what is no Storyline time; what is one, Harbor may refuse all the same."""
        time: Any = step.get("timestamp")
        if is_sound_time(time):
            return
        place = f"{self.at}/{index}/timestamp"
        rule = rules.TIME if is_accepted(time) else rules.TIME_INVALID
        before = len(self.document.problems)
        read = self.document.read_time(time, place, rule)
        if len(self.document.problems) == before:
            self.document.report(rule.at(place, time))
        if read is not time:
            self.change(index, {**step, "timestamp": read})

    def check_message(self, step: Members, index: int) -> None:
        self.report(rules.content_parts(step.get("message"), f"{self.at}/{index}/message"))

    def check_metrics(self, step: Members, index: int) -> None:
        self.report(rules.metrics(step, f"{self.at}/{index}"))

    def check_calls(self, step: Members, index: int) -> None:
        calls, at = step.get("tool_calls"), f"{self.at}/{index}/tool_calls"
        if not calls:
            return
        strange = [place for place, call in enumerate(calls) if type(call) is not dict]
        for place in strange:
            self.document.report(rules.TYPE.at(f"{at}/{place}", calls[place], expected="an object"))
        if strange:
            self.document.residuals[at] = calls
            self.change(index, {key: step[key] for key in step if key != "tool_calls"})
            return
        clean = []
        for place, call in enumerate(calls):
            clean.append(_clean(self.document, CALL, call, f"{at}/{place}"))
            for problem in rules.function_name(clean[-1], f"{at}/{place}"):
                self.document.set_aside(problem.pointer, "", problem)
        if any(one is not call for one, call in zip(clean, calls, strict=True)):
            self.change(index, {**step, "tool_calls": clean})

    def check_observation(self, step: Members, index: int) -> None:
        observation, at = step.get("observation"), f"{self.at}/{index}/observation"
        if observation is None:
            return
        clean = _clean(self.document, OBSERVATION, observation, at)
        if not clean.keys() <= OBSERVATION.types.keys():
            clean = {key: clean[key] for key in OBSERVATION.types if key in clean}
        if clean is not observation:
            self.change(index, {**step, "observation": clean})
        ids = [call["tool_call_id"] for call in _of_strings(step.get("tool_calls"))]
        self.report(rules.results(clean.get("results", ()), ids, f"{at}/results"))

    def _check_call_ids(self) -> None:
        seen: set[str] = set()
        for index, step in enumerate(self.steps):
            at = f"{self.at}/{index}/tool_calls"
            for problem in rules.call_ids(step.get("tool_calls") or (), at, seen):
                self.document.report(problem)
                if problem.rule == rules.CALL_ID.rule:
                    self.document.residuals[problem.pointer] = ""


def _of_strings(calls: Json) -> list[Members]:
    """Return the calls whose id is a string."""
    return [call for call in calls or () if type(call.get("tool_call_id")) is str]


CHECKS: Sequence[Callable[[_Steps, Members, int], None]] = (
    _Steps.check_shape,
    _Steps.check_members,
    _Steps.check_time,
    _Steps.check_message,
    _Steps.check_metrics,
    _Steps.check_calls,
    _Steps.check_observation,
)


# Across the tree


def _check_identities(document: Parsed) -> None:
    """Trajectory ids differ in a tree; among siblings Harbor asks for it."""
    nodes = document.value.nodes
    if len(nodes) == 1:
        return
    siblings: dict[int | None, set[str]] = {}
    for node, identity in zip(nodes, document.value.identities, strict=True):
        given = node.trajectory.get("trajectory_id")
        if given is None:
            continue
        place = f"{node.pointer}/trajectory_id"
        known = siblings.setdefault(node.parent, set())
        if given in known:
            document.report(rules.CHILD_ID_UNIQUE.at(place, given))
        elif identity.is_renamed:
            problem = rules.CHILD_ID_UNIQUE.at(place, given)
            document.report(problem._replace(severity="warning"))
        known.add(given)
        if identity.is_renamed:
            document.residuals[place] = given


def _check_targets(document: Parsed) -> None:
    """References that can only be followed inside the tree name a trajectory of it."""
    found = [
        reference
        for node in document.value.nodes
        for reference in embedded_references(node.steps, f"{node.pointer}/steps")
    ]
    if not found:
        return
    ids = {
        node.trajectory.get("trajectory_id")
        for node in document.value.nodes
        if node.parent is not None
    }
    for place, trajectory_id in found:
        if trajectory_id not in ids:
            document.report(rules.SUBAGENT_REF_TARGET.at(place, trajectory_id))
