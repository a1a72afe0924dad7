"""The three tables and their columns, in their order.

`TEXT` is `utf8`, `INTEGER` is `int64`, `TRUTH` is `bool`, `TIME` is `timestamp[ns, UTC]`; a column whose name ends with
`_json` holds compact JSON text, and null means that the field is not set. Source: storyline.md, A.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["utf8", "int64", "bool", "timestamp"]
TableName = Literal["runs", "steps", "tool_calls"]


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: Kind = "utf8"
    nullable: bool = True

    @property
    def is_json(self) -> bool:
        """Whether it holds JSON text."""
        return self.name.endswith("_json")


def _required(name: str, kind: Kind = "utf8") -> Column:
    return Column(name, kind, nullable=False)


RUNS = (
    _required("schema_version"),
    Column("origin_json"),
    _required("document_id"),
    _required("storage_ordinal", "int64"),
    _required("trajectory_id_explicit", "bool"),
    Column("run_id"),
    Column("attempt_id"),
    _required("session_id"),
    _required("agent_id"),
    Column("agent_name"),
    Column("agent_version"),
    Column("agent_model_name"),
    Column("agent_tool_definitions_json"),
    Column("agent_extra_json"),
    Column("parent_json"),
    Column("child_session_ids_json"),
    Column("notes"),
    Column("final_metrics_json"),
    Column("continued_trajectory_ref"),
    Column("extra_json"),
    Column("meta_json"),
    Column("unknown_fields_json"),
    Column("unknown_key_counts_json"),
    Column("task_json"),
    Column("started_at_json"),
    Column("finished_at_json"),
    Column("prompt_json"),
)
"""One row a Storyline; its key is `document_id`."""

STEPS = (
    _required("document_id"),
    Column("run_id"),
    _required("session_id"),
    _required("step_id", "int64"),
    _required("turn_ordinal", "int64"),
    Column("kind"),
    _required("effective_kind"),
    Column("timestamp", "timestamp"),
    Column("timestamp_source_json"),
    _required("source"),
    _required("message_json"),
    Column("reasoning_content"),
    Column("reasoning_effort_json"),
    Column("metrics_json"),
    Column("model_name"),
    Column("llm_call_count", "int64"),
    Column("is_copied_context", "bool"),
    Column("latency_ms", "int64"),
    Column("ttft_ms", "int64"),
    _required("had_tool_calls", "bool"),
    _required("had_observation", "bool"),
    Column("observation_json"),
    Column("extra_json"),
    Column("env_json"),
    Column("finished_at_json"),
    Column("prompt_json"),
)
"""One row a turn; its key is `document_id` and `step_id`, and `turn_ordinal` orders."""

TOOL_CALLS = (
    _required("document_id"),
    Column("run_id"),
    _required("session_id"),
    _required("step_id", "int64"),
    _required("call_index", "int64"),
    _required("tool_call_id"),
    _required("function_name"),
    _required("arguments_json"),
    Column("result_json"),
    _required("results_json"),
    Column("duration_ms", "int64"),
    Column("extra_json"),
    Column("kind"),
    Column("response_json"),
)
"""One row a tool call; its key is `document_id`, `step_id` and `call_index`."""

TABLES: Mapping[TableName, tuple[Column, ...]] = {
    "runs": RUNS,
    "steps": STEPS,
    "tool_calls": TOOL_CALLS,
}

INDEXES: Mapping[TableName, Mapping[str, Literal["BTREE", "BITMAP"]]] = {
    "runs": {"document_id": "BTREE", "session_id": "BTREE", "run_id": "BTREE"},
    "steps": {
        "document_id": "BTREE",
        "session_id": "BTREE",
        "timestamp": "BTREE",
        "effective_kind": "BITMAP",
        "source": "BITMAP",
    },
    "tool_calls": {
        "document_id": "BTREE",
        "session_id": "BTREE",
        "tool_call_id": "BTREE",
        "function_name": "BITMAP",
    },
}
"""Scalar indexes of each table, by column: storyline.md, A.5."""

COMPRESSED = {b"lance-encoding:compression": b"zstd", b"lance-encoding:compression-level": b"1"}
"""How the large values are stored: Lance reads a field by this, and nobody else need know it."""

LARGE = frozenset({"reasoning_content", "notes"})
"""Columns of text that are compressed as JSON text is."""


@cache
def schema(table: TableName) -> pa.Schema:
    """Return the Arrow schema of *table*."""
    import pyarrow as pa

    types = {
        "utf8": pa.utf8(),
        "int64": pa.int64(),
        "bool": pa.bool_(),
        "timestamp": pa.timestamp("ns", tz="UTC"),
    }
    return pa.schema(
        [
            pa.field(
                one.name,
                types[one.kind],
                one.nullable,
                COMPRESSED if one.is_json or one.name in LARGE else None,
            )
            for one in TABLES[table]
        ]
    )
