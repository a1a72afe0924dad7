"""Event arrays: a failed attempt may hold the log of OpenClaw in place of a trajectory. Read one way, never written.

Source: actf.md 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hub import Document, Env, Json, Response, ToolCall, Turn, is_integer, unique_call_ids
from hub_actf import rules
from hub_actf.model import VERSION
from hub_actf.trajectory import Run
from hub_actf.values import of_type

ROLES = ("user", "assistant", "toolResult")

RESULT_DETAILS = {
    "status": "status",
    "exitCode": "exit_code",
    "durationMs": "duration_ms",
    "aggregated": "aggregated_output",
}
"""Members of a result's `details`, and what they are called in the Storyline."""


def run_from_events(document: Document[Any], events: Sequence[Json], at: str) -> Run:
    """Return what the event array at *at* says."""
    log = _Log(document, at)
    stamped = []
    for index, event in enumerate(events):
        if type(event) is dict:
            log.read(index, event)
            if type(event.get("timestamp")) is str:
                stamped.append(index)
    log.name_calls()
    ends = (stamped[0], stamped[-1]) if stamped else ()
    started_at, finished_at = [log.time(index, events[index]) for index in ends] or (None, None)
    return Run(
        turns=log.turns,
        started_at=started_at,
        finished_at=finished_at,
        version=VERSION,
        model_name=log.model_name,
        env=log.env,
    )


class _Log:
    """What the events said so far."""

    def __init__(self, document: Document[Any], at: str) -> None:
        self.document = document
        self.at = at
        self.turns: list[Turn] = []
        self.model_name: str | None = None
        self.env: Env | None = None
        self.messages = 0
        """How many messages were accepted; each takes the next id, also a result that is folded away."""
        self.calls: list[ToolCall] = []
        self.nearest: dict[str, tuple[Turn, list[ToolCall]]] = {}
        """By id in the log: the nearest turn so far with calls of that id, and these calls."""
        self.answers: list[tuple[dict[str, Json], ToolCall]] = []
        self.times: dict[int, str | None] = {}

    def read(self, index: int, event: Mapping[str, Json]) -> None:
        """Take in the event at *index*; events of other types say nothing."""
        kind = event.get("type")
        if kind == "session":
            self.env = session_env(event) or self.env
        elif kind == "model_change":
            self.model_name = of_type(str, event.get("modelId")) or None
        elif kind == "message":
            message = event.get("message")
            if type(message) is dict and message.get("role") in ROLES:
                self.messages += 1
                self.read_message(message, self.time(index, event))

    def read_message(self, message: Mapping[str, Json], time: str | None) -> None:
        """Take in a message, the id of which is the number of messages so far."""
        if message["role"] == "toolResult":
            self.read_result(message, time)
        elif message["role"] == "user":
            self.turns.append(
                Turn(
                    turn_id=self.messages,
                    source="user",
                    timestamp=time,
                    message=text(message.get("content"), "text"),
                    model_name=of_type(str, message.get("model")),
                )
            )
        else:
            self.read_answer(message, time)

    def read_answer(self, message: Mapping[str, Json], time: str | None) -> None:
        """Take in what the agent said and called."""
        content = message.get("content")
        calls = list(tool_calls(content))
        turn = Turn(
            turn_id=self.messages,
            source="agent",
            timestamp=time,
            message=text(content, "text"),
            reasoning_content=text(content, "thinking") or None,
            model_name=of_type(str, message.get("model")),
            llm_call_count=1,
            metrics=message.get("usage"),
            tool_calls=calls or None,
            kind="autonomous" if calls else None,
        )
        self.turns.append(turn)
        self.calls.extend(calls)
        of_id: dict[str, list[ToolCall]] = {}
        for call in calls:
            of_id.setdefault(call.tool_call_id, []).append(call)
        self.nearest.update({name: (turn, named) for name, named in of_id.items()})

    def read_result(self, message: Mapping[str, Json], time: str | None) -> None:
        """Fold a result into the nearest earlier turn that called for it; without an id it stays a turn."""
        result = result_from_message(message)
        named = message.get("toolCallId")
        if type(named) is not str:
            extra = {key: message.get(key) for key in ("toolCallId", "toolName")}
            self.turns.append(
                Turn(
                    turn_id=self.messages,
                    source="agent",
                    timestamp=time,
                    message=result["content"],
                    observation={"results": [result]},
                    extra={"openclaw_role": "toolResult", **extra},
                )
            )
        elif named in self.nearest:
            turn, calls = self.nearest[named]
            call = next((one for one in calls if one.result is None), calls[0])
            answer(call, result)
            self.answers.append((result, call))
            if turn.observation is None:
                turn.observation = {"results": []}
            turn.observation["results"].append(result)

    def name_calls(self) -> None:
        """Make the ids of the calls unique, and have the results refer to them: storyline.md 5.2."""
        ids = [call.tool_call_id for call in self.calls]
        for call, call_id in zip(self.calls, unique_call_ids(ids, ids), strict=True):
            call.tool_call_id = call_id
        for result, call in self.answers:
            result["source_call_id"] = call.tool_call_id

    def time(self, index: int, event: Mapping[str, Json]) -> str | None:
        """Return the time of an event; one that is none is reported and, as all of the log, leaves no residual."""
        if index not in self.times:
            self.times[index] = self.read_time(
                event.get("timestamp"), f"{self.at}/{index}/timestamp"
            )
        return self.times[index]

    def read_time(self, value: Json, place: str) -> str | None:
        """Return the time *value*, which stands at *place*; None if it is none."""
        if type(value) is not str:
            if value is not None:
                self.document.report(rules.TIME.at(place, value))
            return None
        time = self.document.read_time(value, place, rules.TIME)
        self.document.residuals.pop(place, None)
        return None if time is None else str(time)


def session_env(event: Mapping[str, Json]) -> Env | None:
    """Return the environment of a session event; None if it says nothing of one."""
    env_id, folder = event.get("id"), event.get("cwd")
    env_id = env_id if type(env_id) is str and env_id else None
    state = {"cwd": folder} if type(folder) is str else None
    return None if env_id is None and state is None else Env(env_id=env_id, state=state)


def text(content: Json, part: str) -> str:
    """Return the text of the parts of *content* of type *part*; a string is that text, whatever the type."""
    if type(content) is str:
        return content
    if type(content) is not list:
        return ""
    texts = (
        one.get(part, one.get("text"))
        for one in content
        if type(one) is dict and one.get("type") == part
    )
    return "\n".join(one for one in texts if type(one) is str)


def tool_calls(content: Json) -> Iterator[ToolCall]:
    """Yield the calls among the parts of *content* that have both an id and a name."""
    for part in content if type(content) is list else ():
        if type(part) is not dict or part.get("type") != "toolCall":
            continue
        call_id, name = part.get("id"), part.get("name")
        if type(call_id) is str and call_id and type(name) is str and name:
            yield ToolCall(
                tool_call_id=call_id,
                function_name=name,
                arguments=part.get("arguments", {}),
                kind="function",
            )


def result_from_message(message: Mapping[str, Json]) -> dict[str, Json]:
    """Return the result that a `toolResult` message is; its values are copied as they are."""
    result: dict[str, Json] = {"content": text(message.get("content"), "text")}
    if "toolCallId" in message:
        result["tool_use_id"] = result["source_call_id"] = message["toolCallId"]
    if "toolName" in message:
        result["name"] = message["toolName"]
    details = message.get("details")
    if type(details) is dict:
        for key, name in RESULT_DETAILS.items():
            if key in details:
                result[name] = details[key]
    return result


def answer(call: ToolCall, result: Mapping[str, Json]) -> None:
    """Set on *call* what *result* says of it, in the place of what an earlier one said."""
    status, exit_code = of_type(str, result.get("status")), result.get("exit_code")
    exit_code = exit_code if is_integer(exit_code) else None
    duration = result.get("duration_ms")
    call.result = result["content"]
    call.duration_ms = duration if is_integer(duration) else None
    has_response = status is not None or exit_code is not None
    call.response = Response(status=status, exit_code=exit_code) if has_response else None
