"""Hypothesis strategies: ATIF documents of every version, sound ones and such as break every rule."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from hub.testing.strategies import KEYS, exact_values, json_objects, json_values

Json = Any

VERSIONS = [f"ATIF-v1.{minor}" for minor in range(9)]
TEXTS = st.one_of(st.sampled_from(["", "a", "b", "héllo ~0/ \\u2028"]), st.text(max_size=5))
NAMES = st.sampled_from(["a", "b", "x/y", "ü", "x#2"])
CALL_IDS = st.sampled_from(["c1", "c2", "c3", "c1#2", "call-1-0"])
INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.one_of(INTEGERS, FLOATS, st.sampled_from([0, 1, 1.0, -0.0, 12.9]))
TIMES = st.sampled_from(
    [
        "2026-06-05T03:11:01Z",
        "2026-06-05 05:11:03.5+02:00",
        "2026-06-05T03:11:04.123456789-00:00",
        "2026-06-05T03:11:05",
        "2026-06-05",
    ]
)
"""Times that Harbor accepts; the last two are no Storyline times."""


def members(
    required: dict[str, st.SearchStrategy[Any]] | None = None, **optional: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Json]]:
    """Return objects with all of *required* and any of *optional*."""
    return st.fixed_dictionaries(required or {}, optional=optional)


EXTRAS = json_objects(4)
IMAGES = members(
    {
        "media_type": st.sampled_from(["image/png", "image/jpeg", "image/gif", "image/webp"]),
        "path": st.sampled_from(["shots/1.png", "https://h/x", "data:image/png;base64,AAAA", ""]),
    }
)
AUDIO = members(
    {
        "media_type": st.sampled_from(["audio/wav", "audio/mp3", "AUDIO/x-wav", "audio/ogg"]),
        "path": TEXTS,
    },
    duration_sec=st.sampled_from([None, 0, 1.5, 3]),
)
PARTS = st.one_of(
    members({"type": st.just("text"), "text": TEXTS}, source=st.none()),
    members({"type": st.just("image"), "source": IMAGES}),
    members({"type": st.just("audio"), "source": AUDIO}, text=st.none()),
)
CONTENTS = st.one_of(TEXTS, st.lists(PARTS, max_size=3))
METRICS = members(
    prompt_tokens=INTEGERS,
    completion_tokens=INTEGERS,
    cached_tokens=st.one_of(st.none(), INTEGERS),
    cost_usd=NUMBERS,
    prompt_token_ids=st.lists(st.integers(0, 2**40), max_size=3),
    completion_token_ids=st.lists(st.integers(0, 9), max_size=3),
    logprobs=st.lists(NUMBERS, max_size=3),
    extra=EXTRAS,
)
TOTALS = members(
    total_prompt_tokens=INTEGERS,
    total_completion_tokens=INTEGERS,
    total_cached_tokens=INTEGERS,
    total_cost_usd=NUMBERS,
    total_steps=st.integers(0, 9),
    extra=EXTRAS,
)
CALLS = members(
    {"tool_call_id": CALL_IDS, "function_name": NAMES, "arguments": EXTRAS},
    extra=st.one_of(EXTRAS, st.just({"duration_ms": 7, "x": 1}), st.just({"duration_ms": 7.5})),
)
REFERENCES = st.lists(
    members({"trajectory_path": TEXTS}, trajectory_id=NAMES, session_id=TEXTS, extra=EXTRAS),
    max_size=2,
)


@st.composite
def steps(draw: st.DrawFn, step_id: int) -> dict[str, Json]:
    """Return a step without a fault."""
    source = draw(st.sampled_from(["agent", "agent", "user", "system"]))
    step: dict[str, Json] = draw(
        members(
            {"message": CONTENTS},
            timestamp=TIMES,
            extra=EXTRAS,
            is_copied_context=st.booleans(),
            llm_call_count=st.integers(0, 2),
        )
    )
    step = {"step_id": step_id, "source": source, **step}
    if source == "agent":
        step |= draw(
            members(
                model_name=TEXTS,
                reasoning_effort=st.one_of(TEXTS, NUMBERS),
                tool_calls=st.lists(CALLS, max_size=2),
            )
        )
        if step.get("llm_call_count") != 0:
            step |= draw(members(reasoning_content=TEXTS, metrics=METRICS))
    if draw(st.booleans()):
        ids = [call["tool_call_id"] for call in step.get("tool_calls", ())]
        named: dict[str, Any] = {"source_call_id": st.sampled_from(ids)} if ids else {}
        results = members(
            content=CONTENTS, extra=EXTRAS, subagent_trajectory_ref=REFERENCES, **named
        )
        step["observation"] = {"results": draw(st.lists(results, max_size=3))}
    return step


@st.composite
def trajectories(draw: st.DrawFn, depth: int = 2, name: str | None = None) -> dict[str, Json]:
    """Return a tree without a fault, of any versions, in which every session is written out."""
    body: dict[str, Json] = draw(
        members(
            {"schema_version": st.sampled_from(VERSIONS), "session_id": NAMES},
            notes=TEXTS,
            final_metrics=TOTALS,
            continued_trajectory_ref=TEXTS,
            extra=EXTRAS,
        )
    )
    if name is not None or draw(st.booleans()):
        body["trajectory_id"] = name or draw(NAMES)
    body["agent"] = draw(
        members(
            {"name": NAMES, "version": NAMES},
            model_name=TEXTS,
            tool_definitions=st.lists(EXTRAS, max_size=2),
            extra=EXTRAS,
        )
    )
    body["steps"] = [draw(steps(number)) for number in range(1, draw(st.integers(1, 4)) + 1)]
    if depth and draw(st.booleans()):
        names = draw(st.lists(NAMES, unique=True, max_size=2))
        body["subagent_trajectories"] = [draw(trajectories(depth - 1, name)) for name in names]
    return body


# Faults


def objects(document: Json) -> Iterator[dict[str, Json]]:
    """Yield every object of *document*."""
    todo = [document]
    for one in todo:  # grows on the way
        if isinstance(one, dict):
            yield one
        if isinstance(one, (dict, list)):
            todo.extend(one.values() if isinstance(one, dict) else one)


def modelled(document: Json) -> Iterator[dict[str, Json]]:
    """Yield the trajectories, agents, steps, calls and observations of a sound *document*."""
    yield document
    yield document["agent"]
    for step in document["steps"]:
        yield step
        yield from step.get("tool_calls") or ()
        if step.get("observation") is not None:
            yield step["observation"]
    for child in document.get("subagent_trajectories") or ():
        yield from modelled(child)


UNKNOWN = st.one_of(KEYS, st.sampled_from(["_storyline_", "result ", "vendor/x~y", "steps "]))
VALUES = st.one_of(json_values(4), exact_values(3))


@st.composite
def with_unknown_keys(draw: st.DrawFn, document: Json) -> Json:
    """Return *document* with keys that nobody knows in any of its objects, and any values under them."""
    changed = copy.deepcopy(document)
    for holder in list(modelled(changed)):
        for key, value in draw(st.dictionaries(UNKNOWN, VALUES, max_size=2)).items():
            holder.setdefault(key, value)
    return changed


TELLING: list[Json] = [
    *("", "1", "x", "c1", "x#2", "call-1-0", "user", "agent", "environment", "unknown"),
    *("ATIF-v1.7", "ATIF-v1.9", "image/png", "audio/wav", "text", "image", "audio"),
    *("2026-06-05T03:11:01Z", "2026-06-05T03:11:60Z", "2026-06-05t03:11:01z", "2026-06-05"),
    *(None, True, False, -1, 0, 1, 2, 1.0, -0.5, 2**63, [], {}, [None], ["x"], [{}], [1.5]),
    *({"results": []}, {"results": ["x"]}, [{"type": "text", "text": "x"}], [{"type": "image"}]),
    *([{"trajectory_id": "a"}], [{"session_id": "a"}], {"latency_ms": 12.9, "ttft_ms": 2}),
]
"""Values that mean something in one place or another."""


@st.composite
def with_faults(draw: st.DrawFn, document: Json, most: int = 4) -> Json:
    """Return *document* with other values in any of its objects, keys that are gone, and new ones."""
    changed = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, most))):
        holders = [one for one in objects(changed) if one]
        holder = holders[draw(st.integers(0, len(holders) - 1))]
        key = draw(st.sampled_from(sorted(holder)))
        kind = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if kind == "remove":
            del holder[key]
        else:
            value = draw(
                st.one_of(st.sampled_from(TELLING), st.sampled_from(TELLING), json_values(3))
            )
            holder[key if kind == "replace" else draw(UNKNOWN)] = copy.deepcopy(value)
    return changed
