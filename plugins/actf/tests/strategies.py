"""Hypothesis strategies: ACTF documents and records, with unknown members everywhere, and such that break rules."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

Json = Any
Objects = st.SearchStrategy[dict[str, Json]]

NAMES = st.sampled_from(["bash", "read_file", "command_execution", "function", "ü", "unknown"])
TEXTS = st.sampled_from(["", "a", "b\n", "héllo ~0/ \u2028", "unknown", "\U0001f600"])
NULLABLE_TEXTS = st.one_of(st.none(), TEXTS)
FEW_VALUES: list[Json] = [
    None,
    False,
    True,
    0,
    7,
    -3,
    0.5,
    -0.0,
    2**63,
    "",
    "v",
    "unknown",
    [],
    {},
    [None],
    {"a": 1.0},
    {"": [True, "w"]},
    {"command": "ls"},
    ["x", {"name": "n", "~/": None}],
]
VALUES: st.SearchStrategy[Json] = st.sampled_from([*FEW_VALUES * 2, *range(100, 150)])
"""JSON values of every type; few, so that documents are made fast, and never changed, since they are shared."""
UNKNOWN_KEYS = ["", "/", "~", "~1", "a/b~c", "0", "1", "ключ", "vendor", "events", "#"]
"""Names that no object of ACTF declares."""
UNKNOWN = st.sampled_from(
    [{}] * 10
    + [{key: FEW_VALUES[index]} for index, key in enumerate(UNKNOWN_KEYS)]
    + [dict.fromkeys(UNKNOWN_KEYS, "u")]
)
IDS = st.sampled_from(["c1", "c2", "c3", "c1#2", "step-1-tool-0", "step-2-tool-1", "ид"])
ODD_IDS = st.one_of(IDS, IDS, st.sampled_from(["", " ", None]))
TIMES = st.sampled_from(
    [
        "2026-01-01 00:00:00+00:00",
        "2026-01-01 00:00:01+00:00",
        "2026-01-01T08:00:00.123456789Z",
        "2026-01-01t00:00:01z",
        # no Storyline times: no zone, date only, no such day
        "2026-01-01 00:00:00",
        "2026-01-01",
        "2026-02-30T00:00:00Z",
    ]
)
NUMBERS = st.sampled_from([None, 0, 12, -4, 3.9, -0.5, 1e300, 2**63 - 1, 2**70])
INTEGERS = st.sampled_from([0, 1, 2, -1, 2**63 - 1, -(2**63)])


def having(
    required: dict[str, st.SearchStrategy[Json]] | None = None,
    /,
    **optional: st.SearchStrategy[Json],
) -> Objects:
    """Return objects with all of *required*, any of *optional*, and sometimes members that nobody knows."""
    known = st.fixed_dictionaries(required or {}, optional=optional)
    return st.tuples(known, UNKNOWN).map(lambda parts: {**parts[0], **parts[1]})


# Tools and observations

OUTCOMES: dict[str, st.SearchStrategy[Json]] = {
    "aggregated_output": VALUES,
    "status": NULLABLE_TEXTS,
    "exit_code": st.one_of(st.none(), INTEGERS),
}
ARGUMENTS = st.one_of(
    st.just({"command": "ls"}),
    st.dictionaries(TEXTS, VALUES, max_size=2),
    st.just('{"a": 1}'),
    VALUES,
)
FUNCTIONS = st.fixed_dictionaries({"name": NAMES, "arguments": ARGUMENTS})


def usual_tools(ids: st.SearchStrategy[Json]) -> Objects:
    """Return tools in the forms that they are known to have."""
    return st.one_of(
        having({"name": NAMES, "input": ARGUMENTS}, type=NULLABLE_TEXTS, id=ids, **OUTCOMES),
        having({"name": NAMES, "arguments": ARGUMENTS}, id=ids),
        having({"type": st.just("function"), "function": FUNCTIONS}, id=ids, **OUTCOMES),
        having({"type": st.just("command_execution"), "command": TEXTS}, id=ids, **OUTCOMES),
    )


TOOLS = usual_tools(ODD_IDS)
ODD_TOOLS = having(
    type=NULLABLE_TEXTS,
    id=ODD_IDS,
    name=st.one_of(NAMES, VALUES),
    input=ARGUMENTS,
    arguments=ARGUMENTS,
    function=st.one_of(FUNCTIONS, having(name=NAMES, arguments=ARGUMENTS), VALUES),
    command=st.one_of(TEXTS, VALUES),
    aggregated_output=VALUES,
    status=VALUES,
    exit_code=VALUES,
)
"""Any members of any form together, of any type where ACTF does not say one."""
OBSERVATIONS = having(
    type=NULLABLE_TEXTS,
    tool_use_id=ODD_IDS,
    tool_call_id=ODD_IDS,
    id=st.one_of(ODD_IDS, VALUES),
    content=VALUES,
    aggregated_output=VALUES,
    source_call_id=st.one_of(IDS, VALUES),
    is_error=st.booleans(),
)


@st.composite
def tool_lists(draw: st.DrawFn, tools: Objects) -> tuple[Json, Json]:
    """Return the two lists of a step: one of them, the same twice, or two that differ."""
    empty: st.SearchStrategy[Json] = st.sampled_from([None, []])
    listed = draw(st.lists(tools, max_size=2))
    kind = draw(st.sampled_from(["tools", "calls", "both", "both", "differ"]))
    if kind == "tools":
        return listed, draw(empty)
    if kind == "calls":
        return draw(empty), listed
    return listed, listed if kind == "both" else draw(st.lists(tools, max_size=2))


# Trajectories


@st.composite
def steps(draw: st.DrawFn, step_id: Json, tools: Objects, times: st.SearchStrategy[Json]) -> Json:
    """Return a step with that id."""
    metric = having(
        prompt_tokens_len=NUMBERS,
        completion_tokens_len=NUMBERS,
        llm_infer_ms=NUMBERS,
        env_action_ms=NUMBERS,
        stop_reason=VALUES,
        prompt_tokens=NUMBERS,
        finish_reason=TEXTS,
        total_latency_ms=NUMBERS,
    )
    step = draw(
        having(
            {
                "assistant_content": having(
                    content=NULLABLE_TEXTS, reasoning_content=NULLABLE_TEXTS
                ),
                "metric": metric,
                "started_at": times,
                "finished_at": times,
            },
            system_prompt=st.sampled_from([None, "", "S"]),
            user_content=st.sampled_from([None, "", "U", "V"]),
            observation=st.one_of(st.none(), st.lists(OBSERVATIONS, max_size=2)),
        )
    )
    step["step_id"] = step_id
    listed, called = draw(tool_lists(tools))
    step["tools"], step["assistant_content"]["tool_calls"] = listed, called
    return step


RISING_IDS = st.sampled_from([[], [1], [1], [3], [1, 2], [2, 5]])
STEP_IDS = st.one_of(RISING_IDS, st.sampled_from([[2, 2], [0, 1], [5, 1], [-1], [1, 1, 3]]))


@st.composite
def trajectories(
    draw: st.DrawFn,
    tools: Objects,
    times: st.SearchStrategy[Json],
    ids: st.SearchStrategy[list[int]] = STEP_IDS,
) -> Json:
    """Return a trajectory, the ids of its steps rising or not."""
    return draw(
        having(
            {
                "schema_version": st.just("ACTF_v1.0"),
                "started_at": times,
                "finished_at": times,
                "steps": st.tuples(*[steps(one, tools, times) for one in draw(ids)]).map(list),
            }
        )
    )


# Documents

ATTEMPT_KEYS = st.sampled_from(["1", "2", "10", "b", "a/b~c", "ü", " ", "", "01"])
TASK_IDS = st.sampled_from(["t", "a/b", "ü t"])


def attempts(tools: Objects, ids: st.SearchStrategy[list[int]] = STEP_IDS) -> Objects:
    """Return attempts at a task."""
    return having(
        {"correct": st.booleans(), "trajectory": trajectories(tools, TIMES, ids)},
        status=NULLABLE_TEXTS,
        error=NULLABLE_TEXTS,
        final_answer=VALUES,
        ground_truth=VALUES,
        score=VALUES,
        max_score=VALUES,
        artifacts=VALUES,
        extra=VALUES,
        analysis_result=VALUES,
        meta=VALUES,
    )


def documents(tools: Objects = TOOLS, ids: st.SearchStrategy[list[int]] = STEP_IDS) -> Objects:
    """Return documents with all required members, of the right types, whatever they say."""
    return having(
        {
            "task_id": TASK_IDS,
            "category": TEXTS,
            "k": st.integers(1, 4),
            "correct": st.booleans(),
            "attempts_tried": st.integers(0, 3),
            "attempts": st.dictionaries(ATTEMPT_KEYS, attempts(tools, ids), min_size=1, max_size=3),
        },
        solved_at=NULLABLE_TEXTS,
        retry_count=VALUES,
        retry_counts=VALUES,
    )


def plain_documents() -> Objects:
    """Return documents with tools of the usual forms, whose ids, where they have one, are their own."""
    ids = st.one_of(st.none(), st.just(""), st.sampled_from(["c1", "c2", "ид", " "]))
    return documents(usual_tools(ids), RISING_IDS)


# Records

STATUSES = st.sampled_from(["completed", "run_error", "", "odd"])
ISSUES = st.lists(
    having(
        {
            "severity": st.sampled_from(["warning", "error", "fatal"]),
            "phase": TEXTS,
            "code": TEXTS,
            "message": st.one_of(TEXTS, VALUES),
        }
    ),
    max_size=2,
)
RECORD_TIMES = st.one_of(st.none(), TIMES)


def record_attempts(tools: Objects) -> Objects:
    """Return attempts of a record."""
    return having(
        {
            "status": STATUSES,
            "metrics": st.dictionaries(
                st.sampled_from(["correct", "score", "f1", "", "/"]),
                st.one_of(st.booleans(), NUMBERS, TEXTS),
                max_size=3,
            ),
            "final_answer": VALUES,
            "trajectory": st.one_of(
                trajectories(tools, RECORD_TIMES), st.sampled_from([{}, [], None])
            ),
            "issues": ISSUES,
            "artifacts": having(),
            "analysis_result": having(),
            "meta": having(),
        },
        correct=VALUES,
        score=VALUES,
        extra=VALUES,
    )


def records(tools: Objects = TOOLS) -> Objects:
    """Return records with all required members, of the right types, whatever they say."""
    return having(
        {
            "task_id": TASK_IDS,
            "category": VALUES,
            "ground_truth": VALUES,
            "attempt_plan": st.one_of(
                st.fixed_dictionaries({"k": st.integers(0, 9), "strategy": TEXTS}),
                having(k=st.integers(-1, 9)),
                VALUES,
            ),
            "retry_count": st.integers(0, 2),
            "retry_counts": st.dictionaries(st.sampled_from(["1", "2", "x"]), INTEGERS, max_size=2),
            "attempts": st.dictionaries(
                ATTEMPT_KEYS, record_attempts(tools), min_size=1, max_size=2
            ),
        },
        correct=VALUES,
        k=VALUES,
        attempts_tried=VALUES,
    )


# Documents in which anything may be anything


@st.composite
def damaged(draw: st.DrawFn, whole: Objects) -> Json:
    """Return a document of *whole* in which members are missing, or are something else."""
    value = copy.deepcopy(draw(whole))
    for _ in range(draw(st.integers(1, 4))):
        parent, key = draw(st.sampled_from(list(_places(value))))
        if isinstance(parent, dict) and draw(st.booleans()):
            del parent[key]
        else:
            parent[key] = draw(st.one_of(VALUES, st.just([]), st.just({})))
        if not value:
            break
    return value


def _places(value: Json) -> Any:
    """Yield each member and element of *value*, by its parent and its key."""
    todo = [value]
    while todo:
        parent = todo.pop()
        items = parent.items() if isinstance(parent, dict) else enumerate(parent)
        for key, member in list(items):
            yield parent, key
            if isinstance(member, (dict, list)):
                todo.append(member)
