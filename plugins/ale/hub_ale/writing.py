"""Storyline to ALE: families are nested, a turn is one step, and its results are an environment step behind it.

Source: ale.md 6.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hub import (
    INTEGERS,
    Families,
    Json,
    Member,
    Storyline,
    UsageError,
    WriteOptions,
    families,
    text_of,
)
from hub_ale.marks import KEY
from hub_ale.metrics import write_final
from hub_ale.model import VERSION, AgentInfo, Trajectory, write_source
from hub_ale.residuals import OwnResiduals
from hub_ale.rules import CHILD_MISSING, FAMILY
from hub_ale.times import write_time
from hub_ale.unfold import write_steps

TASK_PATH = "task_path"
VARIANT_INDEX = "variant_index"


class Run(NamedTuple):
    """The task of a trajectory; a nested one has that of its parent when it names none of its own."""

    task_path: str | None
    variant_index: int | None


def write(storylines: Sequence[Storyline], options: WriteOptions) -> Iterator[Trajectory]:
    """Yield one document for each root of the families that *storylines* are."""
    asked = _asked(options)
    found = families(storylines)
    _warn(found, options)
    for root in found.roots:
        yield _write_family(root, asked, options)


def _asked(options: WriteOptions) -> Run:
    """Return the task that the options name.

    Raises:
        UsageError: the variant is no integer.
    """
    text = options.options.get(VARIANT_INDEX)
    if text is None:
        variant_index = None
    else:
        is_integer = re.fullmatch(r"-?\d{1,19}", text, re.ASCII)
        variant_index = int(text) if is_integer else INTEGERS.stop
        if variant_index not in INTEGERS:
            raise UsageError(f"option {VARIANT_INDEX!r} of ale takes an integer, not {text!r}")
    return Run(options.options.get(TASK_PATH), variant_index)


def _warn(found: Families, options: WriteOptions) -> None:
    """Say which links the nesting leaves to the carrier: ale.md 6.11."""
    for storyline, index in found.missing:
        child = (storyline.child_ids or [])[index]
        options.warn(CHILD_MISSING.at(f"/children/{index}", child), storyline)
    for storyline in found.cyclic:
        options.warn(FAMILY.at("/children", storyline.child_ids), storyline)


def _write_family(root: Member, asked: Run, options: WriteOptions) -> Trajectory:
    """Return the trajectory of *root* with those of its descendants; nesting depth is not bounded by recursion."""
    tree: list[Trajectory] = []
    todo: list[tuple[Member, Run | None, list[Trajectory]]] = [(root, None, tree)]
    while todo:
        member, parent, siblings = todo.pop()
        run = _run(member.storyline, asked, parent)
        trajectory = trajectory_from_storyline(member.storyline, run, options)
        siblings.append(trajectory)
        nested = trajectory["subagent_trajectories"]
        todo.extend((child, run, nested) for child in reversed(member.children))
    return tree[0]


def _run(storyline: Storyline, asked: Run, parent: Run | None) -> Run:
    """The task: as asked for, as the environment says, as the parent's, else what the run is called; ale.md 6.2."""
    env = storyline.task.env if storyline.task is not None else None
    name = env.name if env is not None else None
    index = (env.state or {}).get("variant_index") if env is not None else None
    if type(index) is float and index.is_integer():
        index = int(index)
    if type(index) is not int or index not in INTEGERS:
        index = None
    inherited = parent if parent is not None else Run(None, None)
    paths = (asked.task_path, name, inherited.task_path, storyline.run_id)
    indices = (asked.variant_index, index, inherited.variant_index)
    return Run(
        next((path for path in paths if path is not None), storyline.session_id),
        next((one for one in indices if one is not None), 0),
    )


# Trajectory


def trajectory_from_storyline(storyline: Storyline, run: Run, options: WriteOptions) -> Trajectory:
    """A Storyline as a trajectory, without what is nested in it; ale.md 6.1 to 6.3."""
    is_own = storyline.is_from("ale")
    own = OwnResiduals(storyline, options)
    steps = write_steps(storyline, own, options)
    trajectory: Any = {
        "schema_version": VERSION,
        "episode_id": storyline.session_id if is_own else storyline.document_id,
        "agent": info_from_agent(storyline),
        "task_path": run.task_path,
        "variant_index": run.variant_index,
        "instruction": _instruction(storyline, is_own=is_own),
        "steps": steps,
        "final_metrics": write_final(storyline, steps, options),
        "started_at": _time(storyline, "/started_at", storyline.started_at, own),
        "ended_at": _time(storyline, "/ended_at", storyline.finished_at, own),
        "subagent_trajectories": [],
        "continued_trajectory_ref": storyline.continued_trajectory_ref if is_own else None,
        "extra": _extra(storyline.extra),
    }
    if trajectory["started_at"] is None:
        del trajectory["started_at"]
    own.finish()
    return trajectory  # type: ignore[no-any-return]  # every key, in the order of the table


def info_from_agent(storyline: Storyline) -> AgentInfo:
    """Who acted; ale.md 6.2."""
    agent = storyline.agent
    return {
        "name": agent.agent_id if agent.name is None else agent.name,
        "version": agent.version,
        "model": agent.model_name,
        "extra": agent.extra if type(agent.extra) is dict else {},
    }


def _instruction(storyline: Storyline, *, is_own: bool) -> str:
    """The user prompt, else the text of the first user turn that is no copied context, else of the first."""
    if storyline.prompt is not None and storyline.prompt.user:
        return storyline.prompt.user
    if is_own:
        return ""
    said = [turn for turn in storyline.turns if write_source(turn.source) == "user"]
    fresh = [turn for turn in said if not turn.is_copied_context]
    for turn in (*fresh[:1], *said[:1]):
        return text_of(turn.message, "\n") if type(turn.message) in (str, list) else ""
    return ""


def _extra(extra: Json) -> dict[str, Json]:
    """The object, without the place of the envelope."""
    if type(extra) is not dict:
        return {}
    return {key: value for key, value in extra.items() if key != KEY} if KEY in extra else extra


def _time(storyline: Storyline, at: str, value: Json, own: OwnResiduals) -> str | None:
    restored = own.time(at, value)
    return write_time(value, is_own=storyline.is_from("ale")) if restored is None else restored
