"""What is counted in a trajectory: turns, calls, tokens, costs, durations, outcome.

Tokens, costs and durations are those that the metrics of the turns name; turns that were copied from elsewhere do not
count. Where no turn names any, those of the whole trajectory count. What nothing says is not there.
Source: storyline.md 3.6, 4.6 and 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from hub.batch.outcome import Outcome, failure
from hub.batch.planning import Item
from hub.batch.work import Reading
from hub.errors import Json
from hub.storyline.conversation import visible_results
from hub.storyline.model import Storyline, Turn
from hub.storyline.times import instant
from hub.storyline.usage import (
    cached_tokens,
    completion_tokens,
    cost_usd,
    duration_ms,
    prompt_tokens,
)

Number = int | float


class Measures(NamedTuple):
    """What is counted in one trajectory; None: nothing says."""

    format: str
    """Id of the format that was read."""
    version: str | None
    session: str
    agent: str
    models: tuple[str, ...]
    """Those that the agent and its turns name, in order."""
    outcome: str
    """`correct`, `incorrect`, the status of the task, or `unknown`."""
    turns: int
    agent_turns: int
    tool_calls: int
    tool_errors: int
    """Results that say that they are errors, and calls that ended with a status other than 0."""
    prompt_tokens: Number | None
    completion_tokens: Number | None
    cached_tokens: Number | None
    cost_usd: Number | None
    model_ms: Number | None
    """Time that model calls took."""
    seconds: Number | None
    """Time from the start to the end."""


NANOSECONDS = 10**9
BEYOND = 2**63
"""A number that is larger counts nothing."""
NUMBERS = Measures._fields[Measures._fields.index("turns") :]
"""Names of what is counted."""


def measures(storyline: Storyline, format: str) -> Measures:
    """Return what is counted in *storyline*, which was read as *format*."""
    turns = storyline.turns
    origin = storyline.origin
    final = storyline.final_metrics
    own = [turn for turn in turns if turn.source == "agent"]
    named = [storyline.agent.model_name, *(turn.model_name for turn in own)]
    return Measures(
        format=format,
        version=None if origin is None else origin.schema_version,
        session=storyline.session_id,
        agent=storyline.agent.name or storyline.agent.agent_id,
        models=tuple(dict.fromkeys(name for name in named if name)),
        outcome=outcome(storyline),
        turns=len(turns),
        agent_turns=len(own),
        tool_calls=sum(len(turn.tool_calls or ()) for turn in turns),
        tool_errors=sum(map(_errors, turns)),
        prompt_tokens=_total(turns, prompt_tokens, final, "prompt_tokens"),
        completion_tokens=_total(turns, completion_tokens, final, "completion_tokens"),
        cached_tokens=_total(turns, cached_tokens, final, "cached_tokens"),
        cost_usd=_total(turns, cost_usd, final, "cost_usd"),
        model_ms=_sum(duration_ms(turn.metrics, turn.latency_ms) for turn in own),
        seconds=_seconds(storyline),
    )


def outcome(storyline: Storyline) -> str:
    """Return how the task ended: whether it is correct, else its status."""
    result = None if storyline.task is None else storyline.task.result
    if result is None:
        return "unknown"
    if result.correct is not None:
        return "correct" if result.correct else "incorrect"
    return result.status or ("error" if result.error else "unknown")


def _errors(turn: Turn) -> int:
    """Return how many calls of *turn* went wrong, by what came back."""
    if turn.observation is None and not turn.tool_calls:
        return 0
    results = sum(
        isinstance(one, dict) and one.get("is_error") is True for one in visible_results(turn)
    )
    exits = sum(
        call.response is not None and call.response.exit_code not in {None, 0}
        for call in turn.tool_calls or ()
    )
    return max(results, exits)


def _total(
    turns: Iterable[Turn], read: Callable[[Json], Number | None], final: Json, name: str
) -> Number | None:
    found = _sum(read(turn.metrics) for turn in turns if not turn.is_copied_context)
    if found is not None or not isinstance(final, dict):
        return found
    whole = final.get(f"total_{name}", final.get(name))
    return _sum([whole]) if type(whole) in {int, float} else None


def _sum(values: Iterable[Number | None]) -> Number | None:
    found = [value for value in values if value is not None and abs(value) < BEYOND]
    return sum(found) if found else None


def _seconds(storyline: Storyline) -> Number | None:
    """Return the time from the first to the last instant that the trajectory names."""
    times = (
        storyline.started_at,
        storyline.finished_at,
        *(time for turn in storyline.turns for time in (turn.timestamp, turn.finished_at)),
    )
    instants = [found for time in times if time is not None if (found := instant(time)) is not None]
    if len(instants) < 2:  # noqa: PLR2004  # a span has two ends
        return None
    return (max(instants) - min(instants)) / NANOSECONDS


class Counting(NamedTuple):
    """Count what is in each input."""

    reading: Reading

    def prepare(self) -> None:
        """Load what is needed."""
        self.reading.prepare()

    def __call__(self, item: Item) -> Outcome:
        """Return what became of *item*, with the `Measures` of each of its trajectories."""
        from hub import api

        try:
            if item.error is not None:
                raise item.error
            source = self.reading.source(item)
            reader = api.formats[self.reading.format or api.detect(source).format].id
            problems: list[Any] = []
            storylines = api.read(
                source,
                format=reader,
                strict=self.reading.strict,
                options=self.reading.options,
                report=problems.append,
            )
            found = [measures(storyline, reader) for storyline in storylines]
            skipped = source.left_out
        except Exception as error:  # noqa: BLE001  # one bad file costs itself only
            return failure(item.name, error, is_found=item.is_found)
        return Outcome(
            item.name,
            "partial" if skipped else "done",
            3 if skipped else 0,
            reader,
            storylines=len(found),
            measures=found,
        )

    def lost(self, item: Item, reason: str) -> Outcome:
        """Return what is said of *item*, at which a worker died."""
        return Outcome(item.name, "failed", 1, message=reason)
