"""The tables are those of the specification: storyline.md, A.2."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hub_lance.schema import INDEXES, TABLES, TableName, schema

RUNS = """
schema_version string!
origin_json string
document_id string!
storage_ordinal int64!
trajectory_id_explicit bool!
run_id string
attempt_id string
session_id string!
agent_id string!
agent_name string
agent_version string
agent_model_name string
agent_tool_definitions_json string
agent_extra_json string
parent_json string
child_session_ids_json string
notes string
final_metrics_json string
continued_trajectory_ref string
extra_json string
meta_json string
unknown_fields_json string
unknown_key_counts_json string
task_json string
started_at_json string
finished_at_json string
prompt_json string
"""

STEPS = """
document_id string!
run_id string
session_id string!
step_id int64!
turn_ordinal int64!
kind string
effective_kind string!
timestamp timestamp[ns, tz=UTC]
timestamp_source_json string
source string!
message_json string!
reasoning_content string
reasoning_effort_json string
metrics_json string
model_name string
llm_call_count int64
is_copied_context bool
latency_ms int64
ttft_ms int64
had_tool_calls bool!
had_observation bool!
observation_json string
extra_json string
env_json string
finished_at_json string
prompt_json string
"""

TOOL_CALLS = """
document_id string!
run_id string
session_id string!
step_id int64!
call_index int64!
tool_call_id string!
function_name string!
arguments_json string!
result_json string
results_json string!
duration_ms int64
extra_json string
kind string
response_json string
"""


def spelled(found: pa.Schema) -> str:
    """Return a line for each column: name, type, and `!` for one that is never null."""
    lines = [f"{one.name} {one.type}{'' if one.nullable else '!'}" for one in found]
    return "\n".join(["", *lines, ""])


class TestSchema:
    @pytest.mark.parametrize(
        ("table", "expected"), [("runs", RUNS), ("steps", STEPS), ("tool_calls", TOOL_CALLS)]
    )
    def test_columns(self, table: TableName, expected: str) -> None:
        """Names, types, order, and what may be null are those of the specification."""
        assert expected == spelled(schema(table))

    def test_counts(self) -> None:
        """There are 27, 26 and 14 columns."""
        assert [27, 26, 14] == [len(columns) for columns in TABLES.values()]

    def test_indexes(self) -> None:
        """An index is of a column that there is."""
        for table, indexes in INDEXES.items():
            assert indexes.keys() <= {column.name for column in TABLES[table]}

    def test_large_values_are_compressed(self) -> None:
        """JSON text is compressed, and what is looked up is not."""
        steps = schema("steps")
        metadata = steps.field("message_json").metadata
        assert b"zstd" == metadata[b"lance-encoding:compression"]
        assert None is steps.field("document_id").metadata
