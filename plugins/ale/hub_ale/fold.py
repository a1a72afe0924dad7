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

_Regular = tuple[int, Step, str | None, int, int, int]
"""A step that is regular as far as it shows by itself, as nearly every step is: its index, the step, its time as the
file has it, the position of its host, the index of its first result there, and how many it has."""

_Answer = tuple[dict[str, Json], int | None]
"""A result, and the position of the agent turn whose call it answers."""


class _Folded(NamedTuple):
    """A step that was folded."""

    position: int
    step: Step
    time: str | None
    """Its time as the file has it."""
    after: int
    """Id of the last turn made when the step was read."""
    results: list[Reference]
    message: Reference | None = None
    error: Reference | None = None


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
        self._regular: list[_Regular] = []

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
        answers, host = [], None
        if observation is not None:
            for result in observation["results"]:
                if result is not None:
                    answer = self._answer(result)
                    answers.append(answer)
                    host = answer[1] if host is None else host
        last = len(self.turns) - 1
        if here:
            answers = [(result, last) for result, _ in answers]
            host = last
        elif host is None:
            host = self._nearest
        if not self._is_regular(index, step, time, answers):
            self._fold_apart(index, step, time, answers, host)
            return
        results: Any = self._results[last]
        self._regular.append((index, step, time, last, len(results), len(answers)))
        if not results:
            self.turns[last].observation = {"results": results}
        for answer in answers:
            results.append(answer[0])
        self._give(last, step["timestamp"])

    def _is_regular(self, index: int, step: Step, time: str | None, answers: list[_Answer]) -> bool:
        """Tell whether the step is regular, whatever else its host gets; ale.md 5.7."""
        observation = step["observation"]
        if (
            not answers
            or self._step_of_last != index - 1
            or step["message"] is not None
            or step["metrics"] is not None
            or (observation is not None and observation["error"] is not None)
            or (step["extra"] and without_mark(step["extra"]))
            or self._step_ids[index] != self._step_ids[index - 1] + 1
        ):
            return False
        last = len(self.turns) - 1
        for _, host in answers:
            if host != last and (host is not None or self._nearest != last):
                return False
        turn = self.turns[last]
        end = step["timestamp"] if step["timestamp"] is not None else turn.finished_at
        return time == (turn.timestamp if end is None else end)

    def _fold_apart(
        self,
        index: int,
        step: Step,
        time: str | None,
        answers: list[_Answer],
        default: int,
    ) -> None:
        """Fold a step of which something must be kept; *default* is the host of what answers no call."""
        observation, message = step["observation"], step["message"]
        error = None if observation is None else observation["error"]
        hosts = [default if host is None else host for _, host in answers]
        folded = _Folded(
            index,
            step,
            time,
            self.turns[-1].turn_id,
            [self._append(host, answer[0]) for host, answer in zip(hosts, answers, strict=True)],
            None if message is None else self._append(default, {"content": read_message(message)}),
            None if error is None else self._append(default, _error(error)),
        )
        self._folded.append(folded)
        if message is not None or error is not None:
            hosts.append(default)
        for host in set(hosts):
            self._give(host, step["timestamp"])

    def _answer(self, result: ToolResult) -> _Answer:
        """Return a result with the call that it answers, and the position of the agent turn that made the call."""
        call_id = result["tool_call_id"]
        content = result["content"]
        host = None
        read: dict[str, Json] = {}
        if call_id:
            found = self.calls.answer(call_id)
            if found is None:
                read["source_call_id"] = call_id
            else:
                position, read["source_call_id"] = found
                host = position if self._results[position] is not None else None
        read["content"] = read_content(content)
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
            yield folded.position, self._skeleton(folded)
        for position, step, time, host, start, count in self._regular:
            if self._given[host] > 1:
                turn_id = self.turns[host].turn_id
                results = [[turn_id, index] for index in range(start, start + count)]
                yield position, self._skeleton(_Folded(position, step, time, turn_id, results))

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
