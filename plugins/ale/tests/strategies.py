"""Hypothesis strategies: ALE documents without errors, and Storylines that ALE has something to say about."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from hub import Storyline
from hub.testing.strategies import json_objects, json_values, storylines

Json = Any

TEXTS = st.sampled_from(["", "a", "b", "text", "héllo ~0/ \u2028"])
TIMES = st.sampled_from(
    [
        "2026-06-05T03:11:01.000000Z",
        "2026-06-05T03:11:02.000000Z",
        "2026-06-05T03:11:02.000000Z",
        "2026-06-05 05:11:03.5+02:00",
        "2026-06-05T03:11:04Z",
        # no Storyline times: no zone, date only, blank, no such day
        "2026-06-05T03:11:05",
        "2026-06-05",
        "",
        "2026-02-30T03:11:05.000000Z",
    ]
)
CALL_IDS = st.sampled_from(["c1", "c2", "c3", "c1#2", "call-1-0", "call-2-0", ""])
INTEGERS = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.one_of(st.none(), st.integers(0, 9), INTEGERS)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
EXTRAS: st.SearchStrategy[dict[str, Json]] = st.one_of(
    st.just({}),
    st.just({}),
    json_objects(4),
    st.just({"_storyline": {"version": 2, "as": "turn"}, "a": 1}),
    st.just({"_storyline": None}),
)
LOCATIONS = st.sampled_from(
    [
        "screenshots/0000.png",
        "http://x/a.png",
        "https://x/a",
        "data:image/png;base64,AAAA",
        "QUJD",
        "",
        "a.jpg",
    ]
)


def some(**members: st.SearchStrategy[Json]) -> st.SearchStrategy[dict[str, Json]]:
    """Return objects with any of *members*: a member with a default may be absent."""
    return st.fixed_dictionaries({}, optional=members)


def having(
    required: dict[str, st.SearchStrategy[Json]], **optional: st.SearchStrategy[Json]
) -> st.SearchStrategy[dict[str, Json]]:
    return st.fixed_dictionaries(required, optional=optional)


@st.composite
def images(draw: st.DrawFn) -> dict[str, Json]:
    """Return an image source that has the payload of its type, and perhaps another one."""
    kind = draw(st.sampled_from(["path", "path", "url", "base64"]))
    payload = {"path": "path", "url": "url", "base64": "data"}[kind]
    image: dict[str, Json] = draw(
        some(
            media_type=st.sampled_from(["image/png", "image/jpeg", ""]),
            alt_text=st.one_of(st.none(), TEXTS),
            path=st.one_of(st.none(), st.none(), LOCATIONS),
        )
    )
    image[payload] = draw(LOCATIONS)
    if kind != "path" or draw(st.booleans()):
        image["type"] = kind
    return image


PARTS = st.one_of(
    having({"type": st.just("text"), "text": TEXTS}, image=st.none()),
    having({"type": st.just("image"), "image": images()}, text=st.none()),
)
CONTENTS = st.lists(PARTS, max_size=2)
MESSAGES = st.one_of(st.none(), TEXTS, CONTENTS)
METRICS = st.one_of(
    st.none(),
    some(
        input_tokens=COUNTS,
        output_tokens=COUNTS,
        cache_read_tokens=COUNTS,
        cache_creation_tokens=COUNTS,
        cost_usd=st.one_of(st.none(), FLOATS),
        duration_ms=COUNTS,
    ),
)
CALLS = having({"name": TEXTS}, id=CALL_IDS, arguments=json_objects(4))
RESULTS = having(
    {"tool_call_id": st.one_of(CALL_IDS, st.just("gone"))}, content=CONTENTS, is_error=st.booleans()
)
OBSERVATIONS = some(
    results=st.lists(RESULTS, max_size=3), error=st.one_of(st.none(), st.none(), TEXTS)
)
MARKS = st.sampled_from(["turn", "results"]).map(
    lambda word: {"_storyline": {"version": 1, "as": word}}
)
"""Marks that a step may have; whether one has any effect depends on the step."""

AGENT_STEPS = some(
    message=MESSAGES,
    reasoning=st.one_of(st.none(), TEXTS),
    tool_calls=st.lists(CALLS, max_size=2),
    observation=st.one_of(st.none(), st.none(), OBSERVATIONS),
    metrics=METRICS,
    extra=EXTRAS,
)
REPLIES = some(observation=OBSERVATIONS)
ENVIRONMENT_STEPS = some(
    message=st.one_of(st.none(), st.none(), MESSAGES),
    observation=st.one_of(st.none(), OBSERVATIONS),
    metrics=st.one_of(st.none(), st.none(), METRICS),
    extra=st.one_of(EXTRAS, MARKS),
    reasoning=st.one_of(st.none(), st.none(), st.none(), TEXTS),
)


@st.composite
def steps(draw: st.DrawFn) -> dict[str, Json]:
    """Return a step without id; most are agent steps and replies, with the time of one clock tick."""
    source = draw(
        st.sampled_from(["agent", "agent", "environment", "environment", "reply", "user", "system"])
    )
    bodies = {"environment": ENVIRONMENT_STEPS, "reply": REPLIES}
    step = {
        "source": "environment" if source == "reply" else source,
        **draw(bodies.get(source, AGENT_STEPS)),
    }
    if draw(st.booleans()):
        step["timestamp"] = draw(TIMES)
    return step


@st.composite
def trajectories(draw: st.DrawFn, depth: int = 2) -> dict[str, Json]:
    """Return an ALE document without errors, defaults absent or spelled out at random."""
    members: dict[str, Json] = draw(
        having(
            {
                "schema_version": st.just("ALE-v1.0"),
                "episode_id": st.sampled_from(["e1", "e2", "e1#2"]),
                "agent": having(
                    {"name": TEXTS},
                    version=st.one_of(st.none(), TEXTS),
                    model=st.one_of(st.none(), TEXTS),
                    extra=json_objects(3),
                ),
                "task_path": TEXTS,
                "variant_index": st.one_of(st.integers(-1, 3), INTEGERS),
            },
            instruction=TEXTS,
            started_at=TIMES,
            ended_at=st.one_of(st.none(), TIMES),
            continued_trajectory_ref=st.one_of(st.none(), TEXTS),
            extra=json_objects(3),
            final_metrics=st.one_of(
                st.none(),
                some(
                    total_steps=INTEGERS,
                    total_input_tokens=INTEGERS,
                    total_duration_ms=INTEGERS,
                    total_cost_usd=FLOATS,
                    reward=st.one_of(st.none(), FLOATS),
                    status=st.sampled_from(["completed", "timeout", "failed"]),
                ),
            ),
        )
    )
    members["steps"] = draw(st.lists(steps(), max_size=4))
    count = len(members["steps"])
    odd = st.lists(st.integers(1, 12), min_size=count, max_size=count, unique=True)
    ids = draw(st.one_of(st.just(list(range(1, count + 1))), odd))
    members["steps"] = [
        {"step_id": step_id, **step} for step_id, step in zip(ids, members["steps"], strict=True)
    ]
    if depth:
        nested = draw(st.lists(trajectories(depth - 1), max_size=1))
        if nested:
            members["subagent_trajectories"] = nested
    return members


# Folding: many short steps, whose results answer all sorts of calls

ANSWERED = st.sampled_from(["c1", "c1", "c2", "c2", "c3", "c4", "gone", ""])
TICKS = st.sampled_from(
    [None, *(f"2026-06-05T03:11:0{second}.000000Z" for second in (1, 1, 2, 3)), "noon"]
)


def _answers(call_ids: list[str], error: str | None = None) -> dict[str, Json]:
    results = [
        {"tool_call_id": call_id, "content": [{"type": "text", "text": f"r{index}"}]}
        for index, call_id in enumerate(call_ids)
    ]
    return {"results": results, "error": error}


@st.composite
def agent_steps(draw: st.DrawFn) -> dict[str, Json]:
    """Return an agent step with calls, seldom with an observation of its own."""
    made = draw(st.lists(st.sampled_from(["c1", "c2", "c3", "c4"]), max_size=2))
    step: dict[str, Json] = {
        "source": "agent",
        "message": "m",
        "tool_calls": [{"id": call_id, "name": "f", "arguments": {}} for call_id in made],
    }
    if draw(st.integers(0, 7)) == 0:
        step["observation"] = _answers(draw(st.lists(ANSWERED, max_size=1)))
    return step


@st.composite
def environment_steps(draw: st.DrawFn) -> dict[str, Json]:
    """Return an environment step that answers calls; some have a message, an error, a mark or data of their own."""
    step: dict[str, Json] = {
        "source": "environment",
        "observation": _answers(draw(st.lists(ANSWERED, min_size=1, max_size=3))),
    }
    oddity = draw(
        st.sampled_from(
            [None] * 8 + ["message", "only message", "error", "extra", "turn"] + ["results"] * 3
        )
    )
    if oddity in ("message", "only message"):
        step["message"] = "changed"
    if oddity == "only message":
        step["observation"] = None
    if oddity == "error":
        step["observation"]["error"] = "lost"
    if oddity == "extra":
        step["extra"] = {"screenshot_index": 0}
    if oddity in ("turn", "results"):
        step["extra"] = {"_storyline": {"version": 1, "as": oddity}}
    return step


@st.composite
def folding_trajectories(draw: st.DrawFn) -> dict[str, Json]:
    """Return a trajectory with steps to be folded in every way."""
    others = st.sampled_from(["user", "system"]).map(
        lambda source: {"source": source, "message": "u"}
    )
    kinds = (
        agent_steps(),
        agent_steps(),
        environment_steps(),
        environment_steps(),
        environment_steps(),
        others,
    )
    found = draw(st.lists(st.one_of(*kinds), max_size=10))
    ticks = draw(st.lists(TICKS, min_size=len(found), max_size=len(found)))
    gap = draw(st.integers(0, max(9, len(found))))
    for position, (step, tick) in enumerate(zip(found, ticks, strict=True), start=1):
        step["step_id"] = position + (position > gap)
        if tick is not None:
            step["timestamp"] = tick
    return {
        "schema_version": "ALE-v1.0",
        "episode_id": "e1",
        "agent": {"name": "cc"},
        "task_path": "demo/note",
        "variant_index": 0,
        "steps": found,
    }


# Documents with errors

VENDOR_KEYS = st.sampled_from(["", "/", "~1", "vendor", "ünknown", "0", "_storyline"])


@st.composite
def with_unknown_keys(draw: st.DrawFn, value: Json) -> Json:
    """Return the document *value* with unknown keys in some of its closed objects, at every level."""
    if isinstance(value, list):
        return [draw(with_unknown_keys(element)) for element in value]
    if not isinstance(value, dict):
        return value
    changed = {
        key: member if key in ("extra", "arguments") else draw(with_unknown_keys(member))
        for key, member in value.items()
    }
    if draw(st.integers(0, 3)) == 0:
        changed[draw(VENDOR_KEYS)] = draw(json_values(3))
    return changed


# Storylines

SOURCES = st.sampled_from(
    ["user", "agent", "Assistant", "system", "environment", "tool", "critic", "HUMAN"]
)
REFERENCES = st.lists(st.lists(st.integers(-1, 4), min_size=2, max_size=2), max_size=3)
SKELETONS = st.one_of(
    having(
        {"after": st.integers(0, 4)},
        results=REFERENCES,
        message=st.lists(st.integers(0, 3), max_size=2),
        error=st.lists(st.integers(0, 3), max_size=2),
        timestamp=st.one_of(TIMES, st.none()),
        step_id=st.integers(-1, 5),
        metrics=st.one_of(METRICS, json_values(3)),
        extra=st.one_of(json_objects(3), st.none()),
        other=st.just(1),
    ),
    having({"on": st.integers(0, 4)}, results=REFERENCES),
    json_values(4),
)
OWN_RESIDUALS = st.one_of(
    st.dictionaries(
        st.sampled_from([f"/steps/{index}" for index in range(4)]), SKELETONS, max_size=3
    ),
    st.dictionaries(
        st.sampled_from(
            [
                "/steps/0/timestamp",
                "/subagent_trajectories/0/steps/1/timestamp",
                "/started_at",
                "/ended_at",
                "/steps/0/tool_calls/0/id",
                "/steps/0/tool_calls/0/name",
                "/steps/1/tool_calls/1/id",
                "/steps/0/vendor",
                "/vendor",
            ]
        ),
        st.one_of(TEXTS, TIMES, json_values(2)),
        max_size=3,
    ),
)
"""Residuals of ALE, some of which fit a Storyline, while most were edited past recognition."""


@st.composite
def any_storylines(draw: st.DrawFn) -> list[Storyline]:
    """Return Storylines of any origin, among them edited ones from ALE, with links among each other."""
    from hub import Origin, Residuals

    found = draw(st.lists(storylines(max_turns=3), min_size=1, max_size=2))
    names = [storyline.document_id for storyline in found]
    for storyline in found:
        for turn in storyline.turns:
            if draw(st.booleans()):
                turn.source = draw(SOURCES)
        if draw(st.booleans()):
            storyline.origin = Origin(format="ale")
        if draw(st.booleans()):
            storyline.child_ids = draw(st.lists(st.sampled_from(names), max_size=2))
        own = draw(OWN_RESIDUALS)
        if own:
            storyline.unknown_fields["ale"] = Residuals(source_document_id="e1", fields=own)
    return found
