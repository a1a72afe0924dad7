"""A third-party format with several attempts at a task in one document.

    {"task": "bug-7", "attempts": {"1": {"steps": [{"step_id": 1, "text": "look",
        "tools": [{"id": "c1", "name": "bash", "input": {}}],
        "observation": [{"type": "tool_result", "tool_use_id": "c1", "content": "a.txt"}]}]}}}

Members of a step that it does not know are residuals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hub import (
    Agent,
    Detection,
    Document,
    FormatInfo,
    Json,
    Origin,
    Rule,
    Sample,
    Source,
    Storyline,
    ToolCall,
    Turn,
    WriteOptions,
    add_residuals,
    compact,
    hookimpl,
    merge,
    pointer,
    restore,
)

STEPS = Rule("tasks.steps", "fatal", "an array of objects")
TEXT = Rule("tasks.text", "error", "a string")
STEP_MEMBERS = {"step_id", "text", "tools", "observation"}
PLACES = ("/_storyline", "/attempts/*/_storyline")


@hookimpl
def format_info() -> FormatInfo:
    return FormatInfo(
        id="tasks",
        title="Tasks",
        nodes=("/attempts/*",),
        envelope=("/_storyline",),
        gathers=True,
    )


@hookimpl
def rules() -> tuple[Rule, ...]:
    return (STEPS, TEXT)


@hookimpl
def detect(sample: Sample) -> Detection | None:
    is_tasks = all(isinstance(record, dict) and "task" in record for record in sample.records)
    return Detection(60, "task at /") if is_tasks else None


@hookimpl
def parse(source: Source) -> Iterator[Document[Json]]:
    for record in source.records():
        document = Document(record.value, record=record)
        for key, attempt in record.value["attempts"].items():
            at = pointer.join("attempts", key, "steps")
            if not isinstance(attempt.get("steps"), list):
                document.report(STEPS.at(at, attempt.get("steps")))
                continue
            for index, step in enumerate(attempt["steps"]):
                if not isinstance(step["text"], str):
                    document.report(TEXT.at(f"{at}/{index}/text", step["text"]))
        yield document


@hookimpl
def to_storyline(document: Document[Json]) -> Iterator[Storyline]:
    task, attempts = document.value["task"], document.value["attempts"]
    for key, attempt in attempts.items():
        node = pointer.join("attempts", key)
        storyline = Storyline(
            session_id=task if len(attempts) == 1 else f"{task}#attempt-{key}",
            run_id=task,
            attempt_id=key,
            agent=Agent(agent_id="tasks"),
            origin=Origin(format="tasks"),
            turns=[_turn(step) for step in attempt["steps"]],
            node=node,
        )
        add_residuals(storyline, "tasks", task, dict(_residuals(attempt["steps"], node)))
        yield storyline


def _turn(step: Json) -> Turn:
    calls = [
        ToolCall(tool_call_id=tool["id"], function_name=tool["name"], arguments=tool["input"])
        for tool in step.get("tools", ())
    ]
    results = [
        {**element, "source_call_id": element["tool_use_id"]}
        if "tool_use_id" in element
        else element
        for element in step.get("observation", ())
    ]
    return Turn(
        turn_id=step["step_id"],
        source="agent",
        message=step["text"],
        kind="autonomous" if calls else None,
        llm_call_count=1,
        tool_calls=calls or None,
        observation={"results": results} if results else None,
    )


def _residuals(steps: Sequence[Json], node: str) -> Iterator[tuple[str, Json]]:
    for index, step in enumerate(steps):
        for key in step:
            if key not in STEP_MEMBERS:
                yield f"{node}/steps/{index}/{pointer.escape(key)}", step[key]


@hookimpl
def from_storyline(storylines: Iterable[Storyline], options: WriteOptions) -> Iterator[Json]:
    by_task: dict[str, list[Storyline]] = {}
    for storyline in storylines:
        by_task.setdefault(storyline.run_id or storyline.session_id, []).append(storyline)
    for task, batch in by_task.items():
        document = {"task": task, "attempts": _attempts(batch)}
        if all(storyline.is_from("tasks") for storyline in batch):
            _restore(document, batch, options)
        yield document


def _attempts(batch: Sequence[Storyline]) -> Json:
    width = len(str(len(batch)))
    attempts: Json = {}
    for position, storyline in enumerate(batch, start=1):
        key = storyline.attempt_id
        if key is None or key in attempts:
            key = f"{position:0{width}}" + "+" * (f"{position:0{width}}" in attempts)
        attempts[key] = {"steps": [_step(turn) for turn in storyline.turns]}
    return attempts


def _restore(document: Json, batch: Sequence[Storyline], options: WriteOptions) -> None:
    native = merge(batch, "tasks")
    fields = native.fields if native else {}
    for where, value in restore(document, fields, lambda *_: False, places=PLACES).items():
        for storyline in batch:
            own = storyline.unknown_fields.get("tasks")
            if own is not None and where in own.fields:
                options.unplaced(storyline, where, value)


def _step(turn: Turn) -> Json:
    message = turn.message
    step = {
        "step_id": turn.turn_id,
        "text": message if isinstance(message, str) else compact(message),
    }
    if turn.tool_calls:
        step["tools"] = [
            {"id": call.tool_call_id, "name": call.function_name, "input": call.arguments}
            for call in turn.tool_calls
        ]
    results = turn.observation.get("results") if isinstance(turn.observation, dict) else None
    if isinstance(results, list) and all(isinstance(result, dict) for result in results):
        step["observation"] = [
            {key: value for key, value in result.items() if key != "source_call_id"}
            for result in results
        ]
    return step
