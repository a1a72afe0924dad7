"""Rows and chats of every kind, sound and odd, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from hub.testing.strategies import KEYS, exact_values, json_values

Json = Any

IDS = st.sampled_from(["k1", "k2", "k3", "call-2-0", "k1#2", "embedded-1-f"])
"""Few, so that they repeat."""
TEXTS = st.sampled_from(
    ["", "t", "hi", "é", "two\nlines", "<tool_call>f\n<parameter=a>1</parameter></tool_call>"]
)
VALUES = st.one_of(json_values(4), exact_values(4))
"""What nobody knows: with integers of any size, 1.0 beside 1, lone surrogates."""
PARTS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.just({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}),
    json_values(2),
)
CONTENTS = st.one_of(TEXTS, TEXTS, st.none(), st.lists(PARTS, max_size=2), json_values(2))
ARGUMENTS = st.one_of(
    st.sampled_from(
        [
            "{}",
            '{"x":1}',
            '{"x": 1}',
            '{"x": 1.0}',
            '{"a":1,"a":2}',
            "{bad",
            "",
            "null",
            '"s"',
            "1",
            "18446744073709551616",
        ]
    ),
    json_values(2),
)


def objects(
    required: dict[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Json]]:
    """Return a strategy for objects, some of them with members that nobody knows."""
    known = st.fixed_dictionaries(required, optional=optional)
    extra = st.dictionaries(KEYS.map(lambda key: f"x{key}"), VALUES, max_size=2)

    @st.composite
    def drawn(draw: st.DrawFn) -> dict[str, Json]:  # composite, for others are shown at full length
        more = draw(extra) if draw(st.integers(0, 2)) == 0 else {}
        return {**more, **draw(known)}

    return drawn()


FUNCTIONS = objects({"name": st.sampled_from(["f", "g"])}, arguments=ARGUMENTS)
CALLS = objects(
    {"id": IDS, "type": st.just("function"), "function": FUNCTIONS}, index=st.integers(0, 2)
)
ODD_CALLS = st.one_of(
    CALLS,
    objects(
        {},
        id=st.one_of(IDS, st.sampled_from(["", 5, None])),
        type=st.sampled_from(["function", "custom", "fn2", None]),
        function=st.one_of(FUNCTIONS, objects({}, name=st.sampled_from(["", 5])), json_values(1)),
        custom=objects({}, name=st.sampled_from(["c", ""]), input=ARGUMENTS),
    ),
    json_values(1),
)


def call_lists(calls: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Return a strategy for what stands as `tool_calls`."""
    return st.lists(calls, min_size=1, max_size=2)


USERS = objects({"role": st.just("user"), "content": CONTENTS}, name=st.just("n"))
SYSTEMS = objects({"role": st.sampled_from(["system", "developer"]), "content": CONTENTS})
ASSISTANTS = objects(
    {"role": st.just("assistant")},
    content=CONTENTS,
    tool_calls=call_lists(CALLS),
    reasoning_content=st.one_of(TEXTS, st.none()),
    refusal=st.one_of(TEXTS, st.none()),
)
TOOLS = objects({"role": st.just("tool"), "tool_call_id": IDS, "content": CONTENTS})
SOUND = st.one_of(USERS, SYSTEMS, ASSISTANTS, ASSISTANTS, TOOLS, TOOLS)
ODD = st.one_of(
    SOUND,
    objects(
        {},
        role=st.sampled_from(
            ["user", "assistant", "tool", "function", "critic", "agent", "environment", "", 5]
        ),
        content=CONTENTS,
        name=st.sampled_from(["f", "g", "", None]),
        tool_call_id=st.one_of(IDS, st.sampled_from(["", 5])),
        tool_calls=st.one_of(call_lists(ODD_CALLS), st.just([]), json_values(2)),
        function_call=st.one_of(FUNCTIONS, json_values(1)),
        refusal=CONTENTS,
        reasoning_content=CONTENTS,
    ),
)
ROLES = ODD.filter(lambda one: isinstance(one.get("role"), str))
"""What an element of an array is known by."""
CHATS = objects(
    {"messages": st.lists(ODD, max_size=6)},
    model=st.one_of(TEXTS, st.just(5)),
    tools=st.one_of(st.just([]), json_values(3)),
    id=TEXTS,
)


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, Json]]:
    """Return the rows of some sessions; histories are repeated, or not, or half."""
    found = []
    histories: dict[str, list[Json]] = {}
    message = draw(st.sampled_from([SOUND, ODD]))
    for number in range(1, draw(st.integers(1, 4)) + 1):
        session = draw(st.sampled_from(["s", "s", "s2"]))
        history = histories.setdefault(session, [])
        news = draw(st.lists(st.one_of(message, json_values(1)), max_size=3))
        response = draw(st.one_of(ASSISTANTS, ASSISTANTS, ODD, st.none()))
        kept = history if draw(st.integers(0, 3)) else history[draw(st.integers(0, len(history))) :]
        messages = [*kept, *news]
        one = draw(
            objects(
                {"session_id": st.just(session), "step_id": st.just(number)},
                messages=st.just(messages),
                response=st.just(response),
                created_at=st.sampled_from(
                    ["2026-01-01T00:00:00Z", "2026-01-01", 1767225600, 1.5, None, True]
                ),
                agent_id=st.sampled_from(["ag", "other", "", None]),
                agent_model=st.sampled_from(["m", "m2", "", None]),
                llm_model=st.sampled_from(["m", "m2", 5]),
                run_id=st.sampled_from(["r", "r2", None]),
                job_id=st.sampled_from(["r", "r2", ""]),
                env_name=st.sampled_from(["e", "e2", "", None]),
                dt=st.sampled_from(["d", 1, 1.0]),
                id=st.sampled_from(["i", "", 5]),
                reward=st.one_of(st.floats(0, 1), st.none()),
                is_truncated=st.booleans(),
                env_id=st.sampled_from(["s", "x"]),
                blob_manifest=st.sampled_from([[], {}, None, ["b"]]),
                meta_json=st.one_of(METAS, st.sampled_from([None, {}, [], "{bad", 5])),
            )
        )
        if draw(st.integers(0, 9)) == 0:
            one["step_id"] = draw(st.sampled_from([0, 1, 1.0, "2", 2**63, None]))
        found.append(one)
        history += [*news, *([] if response is None else [response])]
    return found


STATES = objects(
    {},
    prompt_tokens=st.integers(0, 3),
    total_latency_ms=st.sampled_from([1, 2.7, -3.5, 1e300, "x"]),
    ttft_ms=st.sampled_from([1, None]),
    is_truncated=st.booleans(),
    endpoint=st.sampled_from(["/v1", "", 5]),
    request_id=st.sampled_from(["q", ""]),
    weight_version=st.sampled_from([1, 1.0, None]),
    session_id=st.sampled_from(["s", "x"]),
    requested_model=st.sampled_from(["m", "x"]),
    llm_step_index=st.sampled_from([1, 1.0]),
)
METAS = objects(
    {},
    source=st.sampled_from(["src", "ag", "", 5]),
    group_id=st.sampled_from(["g", 1, None]),
    env_state=st.one_of(STATES, st.sampled_from([None, "{", 5])),
)
CORPORA = objects({"session_steps": rows()})
