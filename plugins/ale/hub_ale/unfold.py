"""Unfolding: the steps of a Storyline's turns, each with its results on an environment step behind it.

Source: ale.md 6.5, 6.7, 6.9 and 6.10.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hub import (
    INTEGERS,
    Json,
    Response,
    Storyline,
    ToolCall,
    Turn,
    WriteOptions,
    document_prompt_turns,
    observed_results,
    turn_prompt_turns,
    visible_results,
)
from hub_ale import model
from hub_ale.content import text_part, write_content, write_message
from hub_ale.marks import is_foldable, mark, without_mark
from hub_ale.metrics import ERROR_WORDS, word, write_metrics
from hub_ale.model import Step, ToolResult, write_source
from hub_ale.residuals import OwnResiduals, Skeleton
from hub_ale.times import write_time, write_times

Result = dict[str, Json]


def write_steps(storyline: Storyline, own: OwnResiduals, options: WriteOptions) -> list[Step]:
    """Return the steps of *storyline*, with source texts of times, call ids and names put back."""
    writer = _Writer(storyline, own, marks=options.carry)
    writer.write()
    if own.calls:
        # Which step a call is on does not depend on its id, but marks do: write again, knowing the ids.
        ids, names = own.restore_calls(writer.origins)
        writer = _Writer(storyline, own, marks=options.carry, ids=ids, names=names)
        writer.write()
    writer.number()
    return writer.steps


_FOREIGN = -1
"""Stands for a turn that is no host, where the reader finds a call in one."""


class _Writer:
    """Writes the turns of one Storyline."""

    def __init__(
        self,
        storyline: Storyline,
        own: OwnResiduals,
        *,
        marks: bool,
        ids: Mapping[str, str] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self.origins: list[Turn | Skeleton | None] = []
        """For each step the turn whose main step it is, or its skeleton."""
        self._storyline = storyline
        self._own = own
        self._marks = marks
        self._is_own = storyline.is_from("ale")
        self._ids = ids or {}
        self._names = names or {}
        self._responses = _responses(storyline)
        self._times = write_times(
            [time for turn in storyline.turns for time in (turn.timestamp, turn.finished_at)],
            is_own=self._is_own,
        )
        """What is written for each time of a turn."""
        self._nearest: dict[str, int] = {}
        """Where the reader finds the call with an id: the position of the agent turn, else `_FOREIGN`."""
        self._has_agent = False

    def write(self) -> None:
        after = self._own.after
        for position, (turn, prompts) in enumerate(self._turns_with_prompts()):
            for source, text in prompts:
                self._prompt(source, text, self._times[turn.timestamp], "turn-prompt")
            self._turn(position, turn)
            if position in after:
                for skeleton in after[position]:
                    self._skeleton(position, turn, skeleton)

    def _turns_with_prompts(self) -> Iterable[tuple[Turn, Sequence[tuple[str, str]]]]:
        """Return each turn with the steps that say its prompt, behind those of the document; ale.md 6.9."""
        storyline = self._storyline
        if self._is_own:
            return ((turn, ()) for turn in storyline.turns)
        for source, text in document_prompt_turns(storyline):
            self._prompt(source, text, write_time(storyline.started_at, is_own=False), "prompt")
        return turn_prompt_turns(storyline)

    def _add(self, step: Any, origin: Turn | Skeleton | None = None) -> None:
        if step["timestamp"] is None:
            del step["timestamp"]
        self.steps.append(step)
        self.origins.append(origin)

    # Prompts

    def _prompt(self, source: str, text: str, time: str | None, as_: Any) -> None:
        step = _empty(len(self.steps) + 1, time, source)
        step["message"] = text
        if self._marks:
            step["extra"] = mark(as_)
        self._add(step)

    # Turns

    def _turn(self, position: int, turn: Turn) -> None:
        """Write the main step of a turn and, for an agent turn with results, its environment step; ale.md 6.5."""
        source = write_source(turn.source)
        index = len(self.steps)
        time = self._times[turn.timestamp]
        if self._own.times:
            restored = self._own.time(f"/steps/{index}/timestamp", turn.timestamp)
            time = time if restored is None else restored
        message, extra = turn.message, turn.extra
        step: Step = {
            "step_id": index + 1,
            "timestamp": time,  # type: ignore[typeddict-item]  # left out below when it is not known
            "source": source,  # type: ignore[typeddict-item]  # one of the four
            "message": message if type(message) is str else write_message(message),
            "reasoning": turn.reasoning_content,
            "tool_calls": self._calls(position, turn.tool_calls, source) if turn.tool_calls else [],
            "observation": None,
            "metrics": write_metrics(turn),
            "extra": without_mark(extra) if type(extra) is dict else {},
        }
        self._add(step, turn)
        results = self._results(position, turn, source)
        if source == "agent":
            self._has_agent = True
            if position in self._own.on:
                step["observation"] = self._skeleton_observation(self._own.on[position])
            if results:
                self._environment(position, turn, results)
        else:
            self._keep_observation(step, turn, results)

    def _calls(self, position: int, calls: Iterable[ToolCall], source: str) -> list[model.ToolCall]:
        host = position if source == "agent" else _FOREIGN
        written: list[model.ToolCall] = []
        for call in calls:
            call_id, arguments = call.tool_call_id, call.arguments
            written_id = self._ids.get(call_id, call_id) if self._ids else call_id
            self._nearest[written_id] = host
            written.append(
                {
                    "id": written_id,
                    "name": self._names.get(call_id, call.function_name)
                    if self._names
                    else call.function_name,
                    "arguments": arguments if type(arguments) is dict else _arguments(arguments),
                }
            )
        return written

    def _results(self, position: int, turn: Turn, source: str) -> list[Result]:
        """Return the results to show: all that are visible, less those that a skeleton claims."""
        results = visible_results(turn)
        observation = turn.observation
        if source == "agent" and type(observation) is dict and "error" in observation:
            error = observation["error"]
            if type(error) is str and error and type(observation.get("results")) is list:
                made = {"content": error, "is_error": True}
                observed = len(observed_results(turn))
                results = [*results[:observed], made, *results[observed:]]
        claimed = self._own.claimed.get(position)
        if claimed:
            results = [result for index, result in enumerate(results) if index not in claimed]
        return results

    def _environment(self, position: int, turn: Turn, results: list[Result]) -> None:
        """Write the environment step of an agent turn."""
        ended = turn.timestamp if turn.finished_at is None else turn.finished_at
        step = _empty(len(self.steps) + 1, self._times[ended], "environment")
        written = [self._result(result) for result in results]
        step["observation"] = {"results": written, "error": None}
        if self._marks and self._is_found_elsewhere(position, written):
            step["extra"] = mark("results")
        self._add(step)

    def _keep_observation(self, step: Step, turn: Turn, results: list[Result]) -> None:
        """Leave the results of any other turn on its step; mark the step if the reader would fold it."""
        observation = turn.observation
        if results or type(observation) is dict:
            error = observation.get("error") if type(observation) is dict else None
            step["observation"] = {
                "results": [self._result(result) for result in results],
                "error": error if type(error) is str else None,
            }
        if (
            self._marks
            and self._has_agent
            and step["source"] == "environment"
            and is_foldable(step)
        ):
            step["extra"] = {**step["extra"], **mark("turn")}

    def _is_found_elsewhere(self, position: int, written: Iterable[ToolResult]) -> bool:
        """Tell whether a mark must keep the reader from folding a result into another turn than that at *position*."""
        for result in written:
            found = self._nearest.get(result["tool_call_id"], position)
            if found not in (position, _FOREIGN):
                return True
        return False

    # Results

    def _result(self, result: Json) -> ToolResult:
        """Write one result, whatever names its members have; one that is no object is its content."""
        if type(result) is not dict:
            result = {"content": result}
        call_id = result.get("source_call_id")
        if not call_id or type(call_id) is not str:
            call_id = _call_id(result)
        content, flag = result.get("content"), result.get("is_error")
        if type(flag) is not bool:
            says_nothing = not self._responses and _SAYS_NOTHING(result)
            flag = not says_nothing and is_error(result, self._responses.get(call_id))
        return {
            "tool_call_id": self._ids.get(call_id, call_id) if self._ids else call_id,
            "content": [text_part(content)] if type(content) is str else write_content(content),
            "is_error": flag,
        }

    # Skeletons

    def _skeleton(self, position: int, turn: Turn, skeleton: Skeleton) -> None:
        """Write a step that was folded, with the present content of what it claims; ale.md 6.10."""
        step = _empty(len(self.steps) + 1, skeleton.timestamp, "environment")
        if skeleton.message is not None:
            step["message"] = write_message(skeleton.message.result["content"])
        if skeleton.results is not None or skeleton.error is not None:
            step["observation"] = self._skeleton_observation(skeleton)
        step["metrics"] = skeleton.metrics
        step["extra"] = {**without_mark(dict(skeleton.extra))}
        is_here = all(entry.turn == position for entry in skeleton.entries)
        if (
            self._marks
            and is_here
            and step["observation"] is not None
            and write_source(turn.source) == "agent"
            and self._is_found_elsewhere(position, step["observation"]["results"])
        ):
            step["extra"].update(mark("results"))
        self._add(step, skeleton)

    def _skeleton_observation(self, skeleton: Skeleton) -> model.Observation:
        return {
            "results": [self._result(entry.result) for entry in skeleton.results or ()],
            "error": None if skeleton.error is None else skeleton.error.result["content"],
        }

    # Ids

    def number(self) -> None:
        """Give the steps of a Storyline from ALE the ids that they had, where positions say less; ale.md 6.10."""
        turn_ids = [turn.turn_id for turn in self._storyline.turns]
        has_own_ids = any(
            skeleton.step_id is not None
            for skeletons in self._own.after.values()
            for skeleton in skeletons
        )
        if not self._is_own or (turn_ids == list(range(1, len(turn_ids) + 1)) and not has_own_ids):
            return
        before = 0
        ids = []
        for origin in self.origins:
            own_id = None
            if origin is not None:
                own_id = origin.step_id if isinstance(origin, Skeleton) else origin.turn_id
            before = before + 1 if own_id is None else own_id
            ids.append(before)
        if len(set(ids)) == len(ids) and all(one >= 1 and one in INTEGERS for one in ids):
            for step, step_id in zip(self.steps, ids, strict=True):
                step["step_id"] = step_id


def _empty(step_id: int, time: str | None, source: str) -> Step:
    """Return a step with every key and no content."""
    return {
        "step_id": step_id,
        "timestamp": time,  # type: ignore[typeddict-item]  # left out later when it is not known
        "source": source,  # type: ignore[typeddict-item]  # one of the four
        "message": None,
        "reasoning": None,
        "tool_calls": [],
        "observation": None,
        "metrics": None,
        "extra": {},
    }


def _arguments(arguments: Json) -> dict[str, Json]:
    """What is no object: null is an empty one, and anything else stands under `_raw`; ale.md 6.8."""
    return {} if arguments is None else {"_raw": arguments}


def _call_id(result: Result) -> str:
    """Return the first non-empty string that names a call, where `source_call_id` does not."""
    for key in ("tool_use_id", "tool_call_id", "id"):
        call_id = result.get(key)
        if type(call_id) is str and call_id:
            return call_id
    return ""


def _responses(storyline: Storyline) -> dict[str, Response]:
    return {
        call.tool_call_id: call.response
        for turn in storyline.turns
        for call in turn.tool_calls or ()
        if call.response is not None
    }


def is_error(result: Result, response: Response | None) -> bool:
    """Tell whether a result that does not say so itself is an error: by exit code, status, error; ale.md 6.7."""
    for flag in (result.get("isError"), _member(result.get("extra"), "is_error")):
        if type(flag) is bool:
            return flag
    exit_code, status = (None, None) if response is None else (response.exit_code, response.status)
    for code in (result.get("exit_code"), exit_code):
        if type(code) is int:
            return code != 0
    for text in (result.get("status"), status):
        if type(text) is str:
            return word(text) in ERROR_WORDS
    error = result.get("error")
    return error is not None and error is not False and error != ""


_SAYS_NOTHING = frozenset({"isError", "extra", "exit_code", "status", "error"}).isdisjoint
"""Whether a result has none of the members that may say that it is an error."""


def _member(value: Json, key: str) -> Json:
    return value.get(key) if type(value) is dict else None
