"""Hypothesis strategies: JSON values, and Storylines of every shape that the model allows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import attrs
from hypothesis import strategies as st

from hub.codec import from_wire
from hub.errors import Json
from hub.json import ExactNumber
from hub.residuals import counts
from hub.storyline.model import Residuals, Storyline

INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LONG_TEXTS = st.sampled_from(["long " * 30, "other " * 30, "x" * 127, "x" * 128])
"""Around and above the length from which the carrier shares strings; few, so that they repeat."""
TEXTS = st.one_of(st.sampled_from(["", "a", "b", "héllo", "~0/"]), st.text(max_size=8), LONG_TEXTS)
KEYS = st.one_of(
    st.sampled_from(["a", "b", "c", "", "/", "~", "~1", "0", "1", "é", "$0", "content"]),
    st.text(max_size=4),
)
"""Names of members; few, so that they meet."""


def json_values(max_leaves: int = 20) -> st.SearchStrategy[Json]:
    """Return a strategy for JSON values, `null` included."""
    scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), INTEGERS, FLOATS, TEXTS)
    return st.recursive(scalars, _containers, max_leaves=max_leaves)


def exact_values(max_leaves: int = 6) -> st.SearchStrategy[Json]:
    """Return a strategy for JSON values with what needs the exact path, such as huge integers (validation.md 2)."""
    exact = st.one_of(
        st.integers(2**63, 10**40),
        st.integers(-(10**40), -(2**63) - 1),
        st.sampled_from(["1e400", "-1.5E+999", "1" + "0" * 400 + ".5"]).map(ExactNumber),
        st.characters(categories=["Cs"]),  # one alone: two may be a character
    )
    return st.recursive(st.one_of(exact, exact, TEXTS), _containers, max_leaves=max_leaves)


def json_objects(max_leaves: int = 20) -> st.SearchStrategy[dict[str, Json]]:
    """Return a strategy for JSON objects."""
    return st.dictionaries(KEYS, json_values(max_leaves), max_size=4)


def _containers(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4))


# Storylines

NAMES = st.one_of(st.sampled_from(["a", "b", "x/y", "ü"]), st.text(min_size=1, max_size=6))
"""Texts that may not be empty."""


def _time_text(
    local: datetime, separator: str, fraction: str, offset: str, *, is_leap: bool
) -> str:
    text = local.isoformat(separator)
    return f"{text[:-2]}60{fraction}{offset}" if is_leap else f"{text}{fraction}{offset}"


TIMES = st.one_of(
    st.sampled_from(
        [
            "2026-01-01T00:00:00Z",
            "2026-01-01T08:00:00.5+08:00",
            "2026-01-01 00:00:00+00:00",
            "2026-01-01t00:00:01.123456789z",
        ]
    ),
    st.builds(
        _time_text,
        st.datetimes(datetime(1678, 1, 2), datetime(2262, 4, 9)).map(  # noqa: DTZ001  # local
            lambda local: local.replace(microsecond=0)
        ),
        st.sampled_from("Tt "),
        st.sampled_from(["", ".0", ".120", ".123456", ".1234567890123"]),
        st.sampled_from(["Z", "z", "+00:00", "-00:00", "+05:45", "-23:59"]),
        is_leap=st.booleans(),
    ),
    st.integers(-(10**9), 2_000_000_000),
    st.sampled_from([1767225600.5, 0.25, -1e-9]),
)
"""Legal times in every spelling, numbers of seconds among them: storyline.md 6."""
POINTERS = st.lists(KEYS, min_size=1, max_size=3).map(
    lambda tokens: "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in tokens)
)


def _set(values: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Leave out `null`, which means absent where a member is optional."""
    return values.filter(lambda value: value is not None)


def _members(
    required: dict[str, st.SearchStrategy[Any]] | None = None, **optional: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Json]]:
    return st.fixed_dictionaries(required or {}, optional=optional)


OPAQUE = _set(json_values(6))

PROMPTS = st.one_of(
    _members({"system": NAMES}, user=NAMES), _members({"user": NAMES}), _members({"system": NAMES})
)
ENVS = _members(
    name=TEXTS,
    endpoint=TEXTS,
    id=TEXTS,
    event_type=TEXTS,
    request_id=TEXTS,
    state=st.dictionaries(KEYS, json_values(3), min_size=1, max_size=3),
)
RESULTS = _members(
    correct=st.booleans(),
    score=st.one_of(st.integers(0, 5), FLOATS),
    max_score=FLOATS,
    status=NAMES,
    error=NAMES,
    final_answer=st.one_of(NAMES, st.lists(json_values(3), max_size=2)),
    ground_truth=NAMES,
    artifacts=st.lists(json_values(3), max_size=2),
    category=OPAQUE,
    attempts_tried=st.integers(0, 5),
    vendor=OPAQUE,
)
TASKS = _members(
    env=ENVS.filter(bool),
    llm=_members({"k": st.integers(1, 9)}),
    result=RESULTS.filter(bool),
).filter(bool)
PARTS = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}),
    st.fixed_dictionaries(
        {"type": st.just("image_url"), "image_url": _members({"url": NAMES}, detail=NAMES)}
    ),
    json_values(3),
)
MESSAGES = st.one_of(TEXTS, TEXTS, st.lists(PARTS, max_size=3), json_values(4))
CALLS = _members(
    {"tcid": NAMES, "fn": NAMES, "args": st.one_of(json_objects(4), json_values(3))},
    result=OPAQUE,
    duration_ms=INTEGERS,
    extra=OPAQUE,
    kind=NAMES,
    response=st.one_of(
        _members({"status": TEXTS}, exit_code=INTEGERS), _members({"exit_code": st.integers(0, 2)})
    ),
)
AGENTS = _members(
    {"id": NAMES}, name=TEXTS, ver=TEXTS, model=TEXTS, tools=OPAQUE, extra=json_objects(4)
)
ORIGINS = _members({"format": NAMES}, schema_version=NAMES, document_id=NAMES)
PARENTS = _members(
    {"psid": TEXTS}, scid=TEXTS, ptid=INTEGERS, rel=NAMES.filter(lambda text: text != "spawn")
)


def unknown_fields(sources: Sequence[str]) -> st.SearchStrategy[dict[str, Residuals]]:
    """Return a strategy for residuals of some of *sources*."""
    residuals = st.builds(
        Residuals,
        source_document_id=TEXTS,
        fields=st.dictionaries(POINTERS, json_values(3), min_size=1, max_size=2),
    )
    return st.dictionaries(st.sampled_from(sources), residuals, max_size=2)


@st.composite
def observations(draw: st.DrawFn, call_ids: list[str]) -> Json:
    """Return what came back: results of *call_ids* and of unknown calls, an error, or anything else."""
    references = st.sampled_from([*call_ids, "gone"])
    results = st.lists(
        st.one_of(
            _members(
                {"content": MESSAGES},
                source_call_id=references,
                is_error=st.booleans(),
                extra=OPAQUE,
                vendor=OPAQUE,
            ),
            json_values(2),
        ),
        max_size=3,
    )
    usual = _members({"results": results}, error=TEXTS)
    return draw(st.one_of(usual, usual, OPAQUE))


@st.composite
def turns(draw: st.DrawFn, turn_id: int, calls: list[dict[str, Json]] | None) -> dict[str, Json]:
    """Return the wire JSON of one turn that made *calls*."""
    body: dict[str, Json] = draw(
        _members(
            {
                "src": st.one_of(st.sampled_from(["user", "agent", "agent", "system"]), NAMES),
                "msg": MESSAGES,
            },
            kind=TEXTS,
            ts=TIMES,
            finished_at=TIMES,
            reason=TEXTS,
            effort=OPAQUE,
            metrics=OPAQUE,
            model=TEXTS,
            nllm=st.integers(0, 3),
            latency_ms=INTEGERS,
            ttft_ms=INTEGERS,
            extra=OPAQUE,
            env=ENVS,
            prompt=st.one_of(PROMPTS, st.just({"system": "", "user": ""})),
        )
    )
    body["id"] = turn_id
    if calls is not None:
        body["tool_calls"] = calls
    if draw(st.booleans()):
        body["observation"] = draw(observations([call["tcid"] for call in calls or ()]))
    if "prompt" not in body and draw(st.booleans()):
        body["copied"] = draw(st.booleans())
    return body


FOREIGN = ("vendor", "other")
"""Sources that are no format of the hub's."""


@st.composite
def wire_storylines(
    draw: st.DrawFn,
    *,
    max_turns: int = 5,
    sources: Sequence[str] = FOREIGN,
    exact: bool = False,
) -> dict[str, Json]:
    """Return the wire JSON of a valid Storyline.

    Args:
        draw: given by hypothesis.
        max_turns: the most turns it has.
        sources: names of the formats of which it may have residuals.
        exact: whether opaque values may hold what needs the exact path: huge integers, `1e400`, lone surrogates.
    """
    body: dict[str, Json] = draw(
        _members(
            {"session": NAMES, "agent": AGENTS},
            origin=ORIGINS,
            run=TEXTS,
            trajectory=NAMES,
            attempt_id=TEXTS,
            parent=PARENTS,
            children=st.lists(TEXTS, max_size=2),
            notes=TEXTS,
            task=TASKS,
            prompt=PROMPTS,
            started_at=TIMES,
            finished_at=TIMES,
            final_metrics=OPAQUE,
            continued_trajectory_ref=TEXTS,
            extra=OPAQUE,
            meta=OPAQUE,
        )
    )
    ids = draw(
        st.one_of(
            st.integers(0, max_turns).map(lambda number: list(range(1, number + 1))),
            st.lists(st.integers(-3, 9), unique=True, max_size=max_turns),
        )
    )
    most = 2 * len(ids)
    calls = draw(st.lists(CALLS, max_size=most, unique_by=lambda call: str(call["tcid"])))
    body["schema_version"] = "storyline/v1"
    body["turns"] = []
    for turn_id in ids:
        own = [calls.pop() for _ in range(draw(st.integers(0, min(2, len(calls)))))]
        has_calls = bool(own) or draw(st.booleans())
        body["turns"].append(draw(turns(turn_id, own if has_calls else None)))
    if exact:
        body["extra"] = draw(exact_values())
        for turn in body["turns"]:
            turn["msg"] = draw(st.one_of(MESSAGES, exact_values()))
            turn["metrics"] = draw(exact_values())
    found = draw(st.one_of(st.just({}), unknown_fields(sources)))
    if found:
        wire = {name: attrs.asdict(residuals) for name, residuals in found.items()}
        body["unknown_fields"] = {"sources": wire}
        body["unknown_key_counts"] = counts(found)
    return body


def storylines(
    *, max_turns: int = 5, sources: Sequence[str] = FOREIGN, exact: bool = False
) -> st.SearchStrategy[Storyline]:
    """Return a strategy for valid Storylines; the arguments are those of `wire_storylines`."""
    return wire_storylines(max_turns=max_turns, sources=sources, exact=exact).map(from_wire)
