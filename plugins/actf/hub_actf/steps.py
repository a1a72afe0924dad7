"""Steps and turns: one step is one turn, in the same order, in both directions.

Opaque values are shared between the two sides; an object is copied only where a member of it differs.

Source: actf.md 5.2 and 6.3; actf-records.md 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from hub import (
    CallIndex,
    Json,
    Prompt,
    Storyline,
    ToolCall,
    Turn,
    compact,
    instant,
    observed_results,
    unique_call_ids,
    utc_text,
)
from hub_actf.effective import ParsedTask, Steps, listed_calls, reference, tools_in, usable_id
from hub_actf.metrics import metric_from_metrics, metrics_from_metric, milliseconds
from hub_actf.model import Tool
from hub_actf.prompts import pair_from_prompt
from hub_actf.rules import CALLS
from hub_actf.tools import (
    HAS_NO_PROMOTED,
    call_from_tool,
    conformed_observation,
    function_tool_from_call,
    is_paired_by_position,
    observation_from_result,
    replaced_members,
    result_from_observation,
    tool_from_call,
    unheld_members,
    was_paired_by_position,
)
from hub_actf.values import is_blank, text

FILLER_TIME = "1970-01-01 00:00:00+00:00"
"""Stands where ACTF demands a time and none is known: storyline.md 6.5."""

NOTHING: Mapping[str, Json] = {}

Row = tuple[Mapping[str, Json], int, Sequence[Tool], Sequence[str], Sequence[Json], Prompt | None]
"""A step, the id of its turn, its tools, the Storyline ids of these, its observations, and the prompt of its own."""


# Steps to turns: actf.md 5.2


class StepReader:
    """Maps the steps of one trajectory to turns."""

    def __init__(
        self, parsed: ParsedTask, steps: Steps, at: str, residuals: dict[str, Json]
    ) -> None:
        """*at* is the pointer of the steps; *residuals* takes what no field holds."""
        self.steps = steps
        self.is_record = parsed.form.is_record
        self.times = parsed.times
        self.at = at
        self.residuals = residuals
        self.call_ids = unique_ids(steps)
        self.calls = None if self.call_ids is steps.call_ids else CallIndex()
        """Where calls were renamed: which of them a reference names."""

    def read(self, prompts: Iterable[Prompt | None]) -> list[Turn]:
        """Return the turns, with their own *prompts*."""
        for index in self.steps.replaced_ids:
            step_id = self.steps.steps[index]["step_id"]
            self.residuals[f"{self.at}/{index}/step_id"] = step_id
        steps, call_ids = self.steps, self.call_ids
        rows = zip(
            steps.steps,
            steps.turn_ids,
            steps.tools,
            call_ids,
            steps.observations,
            prompts,
            strict=True,
        )
        return list(map(self.turn, count(), rows))

    def turn(self, index: int, row: Row) -> Turn:
        """Return the turn of the step at *index*, from what was derived of it."""
        step, turn_id, tools, call_ids, observations, prompt = row
        content = step.get("assistant_content")
        content = content if type(content) is dict else NOTHING
        started, finished = step.get("started_at"), step.get("finished_at")
        if self.times:
            started = self.times.get(f"{self.at}/{index}/started_at", started)
            finished = self.times.get(f"{self.at}/{index}/finished_at", finished)
        metrics = metrics_from_metric(step.get("metric"))
        return Turn(
            turn_id=turn_id,
            source="agent",
            llm_call_count=1,
            timestamp=started,
            finished_at=finished,
            message=text(content.get("content")),
            reasoning_content=text(content.get("reasoning_content")) or None,
            metrics=metrics,
            latency_ms=None if metrics is None else milliseconds(metrics["llm_infer_ms"]),
            tool_calls=self.tool_calls(index, tools, call_ids, metrics) if tools else None,
            kind="autonomous" if tools else None,
            observation=self.observation(index, observations, call_ids) if observations else None,
            prompt=prompt,
        )

    def tool_calls(
        self, index: int, tools: Sequence[Tool], call_ids: Sequence[str], metrics: Json
    ) -> list[ToolCall]:
        """Return the calls of the step at *index*, which has *tools*."""
        calls = list(map(call_from_tool, tools, call_ids))
        for position, tool in enumerate(tools):
            source_id = tool.get("id")
            if source_id != call_ids[position] and source_id:
                self.set_aside_tool_member(index, position, "id", source_id)
            unheld = unheld_members(tool, calls[position])
            for key in unheld:
                self.set_aside_tool_member(index, position, key, unheld[key])
        if self.calls is not None:
            for tool, named, call_id in zip(
                tools, self.steps.call_ids[index], call_ids, strict=True
            ):
                # An id by position that had to be changed is written so, and names the call no more.
                if named == call_id or usable_id(tool) is not None:
                    self.calls.add(index, named, call_id)
        if len(calls) == 1 and metrics is not None:
            calls[0].duration_ms = milliseconds(metrics["env_action_ms"])
        return calls

    def set_aside_tool_member(self, index: int, position: int, key: str, value: Json) -> None:
        """Keep a member of a tool as a residual, in each list that has the call."""
        step = self.steps.steps[index]
        for place, tools in (("tools", step.get("tools")), (CALLS, listed_calls(step))):
            at = f"{self.at}/{index}/{place}"
            if tools_in(tools) and at not in self.residuals:
                self.residuals[f"{at}/{position}/{key}"] = value

    def observation(
        self, index: int, observations: Sequence[Json], call_ids: Sequence[str]
    ) -> dict[str, Json]:
        """Return the results of the step at *index*, which has *observations*."""
        is_paired = self.is_record and is_paired_by_position(observations, call_ids)
        results = []
        for position, observation in enumerate(observations):
            if type(observation) is not dict:
                results.append(observation)
                continue
            named = call_ids[position] if is_paired else reference(observation)
            if named and self.calls is not None and not is_paired:
                named = self.renamed(named)
            results.append(result_from_observation(observation, named or None))
            if not HAS_NO_PROMOTED(observation):
                for key, value in replaced_members(observation).items():
                    self.residuals[f"{self.at}/{index}/observation/{position}/{key}"] = value
        return {"results": results}

    def renamed(self, named: str) -> str:
        """Return the id of the call that is *named* so in the source; the name itself where there is no such call."""
        found = None if self.calls is None else self.calls.answer(named)
        return named if found is None else found[1]


def unique_ids(steps: Steps) -> list[list[str]]:
    """Return the Storyline ids of the calls, by step; the very list of effective ids if these all differ."""
    named = [call_id for ids in steps.call_ids for call_id in ids]
    if len(set(named)) == len(named):
        return steps.call_ids
    usable = [usable_id(tool) for tools in steps.tools for tool in tools]
    unique = iter(unique_call_ids(usable, named, reserved=dangling_references(steps, set(named))))
    return [[next(unique) for _ in ids] for ids in steps.call_ids]


def dangling_references(steps: Steps, ids: set[str]) -> Iterable[str]:
    """Yield the call references that name none of *ids*."""
    for observations in steps.observations:
        for observation in observations:
            named = reference(observation) if type(observation) is dict else None
            if named is not None and named not in ids:
                yield named


# Turns to steps: actf.md 6.3


class StepWriter:
    """Maps the turns of one Storyline to steps."""

    def __init__(
        self,
        storyline: Storyline,
        at: str,
        residuals: Mapping[str, Json],
        *,
        restored: bool,
        is_record: bool,
    ) -> None:
        """*at* is the pointer of the steps; *residuals* are those that will be put back."""
        self.turns = storyline.turns
        self.prompt = pair_from_prompt(storyline.prompt)
        self.at = at
        self.residuals = residuals
        self.restored = restored
        self.is_record = is_record

    def write(self) -> list[dict[str, Json]]:
        """Return the steps."""
        ids = [turn.turn_id for turn in self.turns]
        if not self.restored and not is_rising(ids):
            ids = list(range(1, len(ids) + 1))
        return [self.step(index, step_id) for index, step_id in enumerate(ids)]

    def step(self, index: int, step_id: int) -> dict[str, Json]:
        """Return the step of the turn at *index*."""
        turn = self.turns[index]
        ids = tool_ids(turn, step_id, restored=self.restored)
        tools, calls = self.tools(index, turn, ids)
        observation = self.observation(index, turn, ids)
        content = turn.message if type(turn.message) is str else message_text(turn.message)
        system, user = self.prompt if turn.prompt is None else pair_from_prompt(turn.prompt)
        if turn.source == "user":
            content, user = "", content or user
        elif turn.source == "system":
            content, system = "", content or system
        elif turn.source == "environment":
            content = ""
            if turn.message not in (None, ""):
                observation = [*observation, {"content": turn.message}]
        started = time_text(turn.timestamp)
        finished = time_text(turn.finished_at)
        if not self.is_record:
            started = started or FILLER_TIME
            finished = finished or started
        return {
            "step_id": step_id,
            "assistant_content": {
                "content": content,
                "reasoning_content": turn.reasoning_content or "",
                "tool_calls": calls,
            },
            "metric": metric_from_metrics(turn, restored=self.restored),
            "system_prompt": system,
            "user_content": user,
            "tools": tools,
            "observation": observation,
            "started_at": started,
            "finished_at": finished,
        }

    def tools(
        self, index: int, turn: Turn, ids: Sequence[str]
    ) -> tuple[list[dict[str, Json]], list[dict[str, Json]]]:
        """Return the two tool lists of the step; they are one list, but in a record (actf-records.md 5)."""
        if not turn.tool_calls:
            return [], []
        if self.is_record and self.has_functions(index, turn.tool_calls):
            return [], [
                self.function_tool(index, position, call)
                for position, call in enumerate(turn.tool_calls)
            ]
        tools = [
            tool_from_call(call, call_id, restored=self.restored)
            for call, call_id in zip(turn.tool_calls, ids, strict=True)
        ]
        return tools, tools

    def has_functions(self, index: int, calls: Sequence[ToolCall]) -> bool:
        """Tell whether the calls of a record's step are functions, in `tool_calls` only.

        Not where a residual takes the place of that list.
        """
        content = f"{self.at}/{index}/assistant_content"
        return (
            all(call.kind == "function" for call in calls)
            and content not in self.residuals
            and f"{content}/tool_calls" not in self.residuals
        )

    def function_tool(self, index: int, position: int, call: ToolCall) -> dict[str, Json]:
        """Return a call as a function; not where a residual would be read in its stead."""
        for place in ("tools", CALLS):
            at = f"{self.at}/{index}/{place}/{position}"
            if f"{at}/function" in self.residuals or f"{at}/arguments" in self.residuals:
                return tool_from_call(call, call.tool_call_id, restored=True)
        return function_tool_from_call(call)

    def observation(self, index: int, turn: Turn, ids: Sequence[str]) -> list[Json]:
        """Return the observations of the step."""
        if turn.observation is None:
            return []
        named = [call.tool_call_id for call in turn.tool_calls or ()]
        if not self.restored:
            calls = dict(zip(named, ids, strict=True))
            return [conformed_observation(result, calls) for result in observed_results(turn)]
        results = turn.observation.get("results") if type(turn.observation) is dict else None
        if type(results) is not list:
            return []
        if self.is_record and was_paired_by_position(results, named):
            named = []
        return [
            observation_from_result(result, () if self.is_own_link(index, position) else named)
            if type(result) is dict
            else result
            for position, result in enumerate(results)
        ]

    def is_own_link(self, index: int, position: int) -> bool:
        """Tell whether the observation itself had a member `source_call_id`, which will be put back."""
        if not self.residuals:
            return False
        return f"{self.at}/{index}/observation/{position}/source_call_id" in self.residuals


def is_rising(ids: Sequence[int]) -> bool:
    """Tell whether *ids* are above 0 and strictly increasing."""
    return all(one < other for one, other in zip((0, *ids), ids, strict=False))


def tool_ids(turn: Turn, step_id: int, *, restored: bool) -> list[str]:
    """Return the ids that the calls of *turn* are written with: their own, but for blank ones, which name nothing."""
    ids = [call.tool_call_id for call in turn.tool_calls or ()]
    if restored or not any(map(is_blank, ids)):
        return ids
    positional = [f"step-{step_id}-tool-{index}" for index in range(len(ids))]
    return unique_call_ids([None if is_blank(one) else one for one in ids], positional)


def message_text(message: Json) -> str:
    """Return the text of a message that is no string: of parts their texts, of anything else its JSON."""
    if message is None:
        return ""
    if type(message) is not list:
        return compact(message)
    texts = (part.get("text") for part in message if type(part) is dict)
    return "".join(one for one in texts if type(one) is str)


def time_text(time: str | float | None) -> str | None:
    """Return a Storyline time as ACTF has it: text as it is, a number of seconds as UTC text (storyline.md 6.5)."""
    if time is None or type(time) is str:
        return time
    nanoseconds = instant(time)
    return None if nanoseconds is None else f"{utc_text(nanoseconds, ' ')}+00:00"
