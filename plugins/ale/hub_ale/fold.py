"""Folding: environment steps become results of the turns that they answer.

What the fold does not say of a step is its skeleton: the step without what was folded, with references to where that
went. A reference is `[turn id, index in its results]`. A regular step needs none, because it is written as it was.

Source: ale.md 5.3 (results), 5.4 (resolution), 5.6 and 5.7.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hub import CallIndex, Json, Turn
from hub_ale.content import read_content, read_message
from hub_ale.marks import without_mark
from hub_ale.metrics import read_metrics
from hub_ale.model import Observation, Step, ToolResult

Reference = list[int]
Skeleton = dict[str, Json]


class _Folded(NamedTuple):
    """A step that was folded."""

    position: int
    step: Step
    time: str | None
    """Its time as the file has it."""
    after: int
    """Id of the last turn made when the step was read."""
    results: list[Reference]
    message: Reference | None
    error: Reference | None
    host: int | None
    """Position of its only host if the step is regular as far as it shows by itself; else None."""


class Fold:
    """The turns of one trajectory while its steps are read, and what was folded into them."""

    def __init__(self, step_ids: Sequence[int]) -> None:
        self.turns: list[Turn] = []
        self.calls = CallIndex()
        self._step_ids = step_ids
        self._results: list[list[Json] | None] = []
        """Results of each turn that can be a host, None for the others."""
        self._given: list[int] = []
        """How many steps each turn got something from."""
        self._step_of_last = -1
        self._nearest = -1
        """Position of the nearest agent turn."""
        self._own: dict[int, Skeleton] = {}
        self._folded: list[_Folded] = []

    def add(self, turn: Turn, index: int, step: Step) -> None:
        """Add the turn of the step at *index*, whose calls are in the index of calls already."""
        position = len(self.turns)
        self.turns.append(turn)
        self._given.append(0)
        self._step_of_last = index
        observation = step["observation"]
        if step["source"] != "agent":
            self._results.append(None)
            if observation is not None:
                turn.observation = self._observation(observation)
            return
        self._nearest = position
        self._results.append([])
        if observation is not None:
            self._own[index] = self._own_observation(turn, position, observation)

    def _observation(self, observation: Observation) -> Json:
        """The observation of a turn that is no host stays on it."""
        results = [
            self._answer(result)[0] for result in observation["results"] if result is not None
        ]
        if observation["error"] is None:
            return {"results": results}
        return {"results": results, "error": observation["error"]}

    def _own_observation(self, turn: Turn, position: int, observation: Observation) -> Skeleton:
        """The observation of an agent step is folded into its own turn; the skeleton says so."""
        self._given[position] += 1
        references = [
            self._append(position, self._answer(result)[0])
            for result in observation["results"]
            if result is not None
        ]
        skeleton: Skeleton = {"on": turn.turn_id, "results": references}
        if observation["error"] is not None:
            skeleton["error"] = self._append(position, _error(observation["error"]))
        return skeleton

    def fold(self, index: int, step: Step, time: str | None, *, here: bool) -> None:
        """Fold an environment step; *time* as the file has it, *here*: into the turn directly before it in any case."""
        observation = step["observation"]
        answers = []
        if observation is not None:
            answers = [
                self._answer(result) for result in observation["results"] if result is not None
            ]
        last = len(self.turns) - 1
        if here:
            default = last
            hosts = [last] * len(answers)
        else:
            default = next((host for _, host in answers if host is not None), self._nearest)
            hosts = [default if host is None else host for _, host in answers]
        references = [
            self._append(host, result) for host, (result, _) in zip(hosts, answers, strict=True)
        ]
        message = error = None
        if step["message"] is not None:
            message = self._append(default, {"content": read_message(step["message"])})
        if observation is not None and observation["error"] is not None:
            error = self._append(default, _error(observation["error"]))
        is_default_given = message is not None or error is not None
        for host in {*hosts, default} if is_default_given else set(hosts):
            self._give(host, step["timestamp"])
        is_plain = not is_default_given and self._is_plain(index, step, time, hosts)
        self._folded.append(
            _Folded(
                index,
                step,
                time,
                self.turns[last].turn_id,
                references,
                message,
                error,
                last if is_plain else None,
            )
        )

    def _is_plain(self, index: int, step: Step, time: str | None, hosts: list[int]) -> bool:
        """Tell whether the step is regular, whatever else its host gets."""
        last = len(self.turns) - 1
        turn = self.turns[last]
        return (
            self._step_of_last == index - 1
            and bool(hosts)
            and hosts.count(last) == len(hosts)
            and step["metrics"] is None
            and not without_mark(step["extra"])
            and self._step_ids[index] == self._step_ids[index - 1] + 1
            and time == (turn.timestamp if turn.finished_at is None else turn.finished_at)
        )

    def _answer(self, result: ToolResult) -> tuple[dict[str, Json], int | None]:
        """Return a result with the call that it answers, and the position of the agent turn that made the call."""
        call_id = result["tool_call_id"]
        host = None
        read: dict[str, Json] = {}
        if call_id:
            found = self.calls.answer(call_id)
            if found is None:
                read["source_call_id"] = call_id
            else:
                position, read["source_call_id"] = found
                host = position if self._results[position] is not None else None
        read["content"] = read_content(result["content"])
        if result["is_error"]:
            read["is_error"] = True
        return read, host

    def _append(self, position: int, result: dict[str, Json]) -> Reference:
        """Append *result* to the results of the turn at *position*, made if absent."""
        results: Any = self._results[position]
        turn = self.turns[position]
        if not results:
            turn.observation = {"results": results}
        results.append(result)
        return [turn.turn_id, len(results) - 1]

    def _give(self, position: int, time: str | None) -> None:
        """Note that a step gave something to the turn, which ends at the time of that step."""
        self._given[position] += 1
        if time is not None:
            turn = self.turns[position]
            turn.finished_at = None if time == turn.timestamp else time

    def skeletons(self) -> Iterator[tuple[int, Skeleton]]:
        """Yield index and skeleton of each step that is not regular."""
        yield from self._own.items()
        for folded in self._folded:
            if folded.host is None or self._given[folded.host] > 1:
                yield folded.position, self._skeleton(folded)

    def _skeleton(self, folded: _Folded) -> Skeleton:
        step = folded.step
        step_id = self._step_ids[folded.position]
        extra = without_mark(step["extra"])
        skeleton: Skeleton = {"after": folded.after}
        if step_id != self._step_ids[folded.position - 1] + 1:
            skeleton["step_id"] = step_id
        if folded.time is not None:
            skeleton["timestamp"] = folded.time
        if step["metrics"] is not None:
            skeleton["metrics"] = read_metrics(step["metrics"])
        if extra:
            skeleton["extra"] = extra
        if folded.message is not None:
            skeleton["message"] = folded.message
        if step["observation"] is not None:
            skeleton["results"] = folded.results
        if folded.error is not None:
            skeleton["error"] = folded.error
        return skeleton


def _error(text: str) -> dict[str, Json]:
    return {"content": text, "is_error": True}
