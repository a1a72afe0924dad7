"""SQL over a store: DuckDB reads the tables where they are, and can do nothing else.

The database is in memory and has three names, `runs`, `steps` and `tool_calls`, and functions for what the metrics of
formats name differently. It reaches no file and no network. Source: storyline.md, A.2 and 4.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hub import HubError, UsageError
from hub_lance.schema import TableName

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

SETTINGS = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}

MACROS = """
-- JSON text that JSON functions can read; the rest, which has a lone surrogate, is NULL instead of an error.
CREATE MACRO sound(text) AS CASE WHEN json_valid(text) THEN text END;

-- The first member of `names` that has the right type counts.
CREATE MACRO json_integer(text, names) AS list_filter(
    list_zip(json_type(sound(text), names), json_extract_string(sound(text), names)),
    lambda one: one[1] IN ('UBIGINT', 'BIGINT'))[1][2]::BIGINT;
CREATE MACRO json_number(text, names) AS list_filter(
    list_zip(json_type(sound(text), names), json_extract_string(sound(text), names)),
    lambda one: one[1] IN ('UBIGINT', 'BIGINT', 'DOUBLE'))[1][2]::DOUBLE;

CREATE MACRO prompt_tokens(metrics) AS coalesce(
    json_integer(metrics, ['$.prompt_tokens', '$.prompt_tokens_len']),
    json_integer(metrics, ['$.input_tokens'])
    + coalesce(json_integer(metrics, ['$.cache_read_tokens', '$.cache_read_input_tokens']), 0)
    + coalesce(json_integer(metrics, ['$.cache_creation_tokens', '$.cache_creation_input_tokens']), 0));
CREATE MACRO completion_tokens(metrics) AS
    json_integer(metrics, ['$.completion_tokens', '$.completion_tokens_len', '$.output_tokens']);
CREATE MACRO cached_tokens(metrics) AS json_integer(metrics,
    ['$.cached_tokens', '$.cache_read_tokens', '$.cache_read_input_tokens', '$.prompt_tokens_details.cached_tokens']);
CREATE MACRO cost_usd(metrics) AS json_number(metrics, ['$.cost_usd', '$.cost']);
CREATE MACRO model_ms(metrics, latency_ms) AS coalesce(latency_ms, json_number(metrics,
    ['$.latency_ms', '$.duration_ms', '$.llm_infer_ms', '$.total_latency_ms', '$.elapsed_ms']));

-- Times have nanoseconds, and SQL does not subtract those.
CREATE MACRO seconds_between(earlier, later) AS (epoch_ns(later) - epoch_ns(earlier)) / 1e9;

-- A call went wrong if what came back says so, or its exit code does.
CREATE MACRO is_error(results_json, response_json) AS
    coalesce(list_contains(json_extract(sound(results_json), '$[*].is_error')::VARCHAR[], 'true'), false)
    OR coalesce(json_integer(response_json, ['$.exit_code']), 0) <> 0;
"""
"""Functions of SQL, beside those of DuckDB: storyline.md 4.6."""


def connection(datasets: Mapping[TableName, Any]) -> duckdb.DuckDBPyConnection:
    """Return a database that has *datasets* as tables, and reaches nothing else."""
    import duckdb

    found = duckdb.connect(config=dict(SETTINGS))
    for name, dataset in datasets.items():
        found.register(name, dataset)
    found.execute(MACROS)
    found.execute("SET lock_configuration = true")
    return found


def result(database: duckdb.DuckDBPyConnection, sql: str) -> pa.RecordBatchReader:
    """Return what the query *sql* finds, as batches that are made when they are asked for.

    Raises:
        UsageError: it is no query, or more than one; or DuckDB refuses it.
    """
    import duckdb

    with refusals():
        statements = database.extract_statements(sql)
        if len(statements) != 1:
            raise UsageError(f"expected one query, found {len(statements)}")
        kind = statements[0].type
        if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
            raise UsageError(f"a store is only read: no {kind.name}")
        return database.sql(sql).to_arrow_reader()


@contextmanager
def refusals() -> Iterator[None]:
    """Make errors of DuckDB and Arrow errors of the hub, also those that come while batches are made."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except (duckdb.Error, pa.ArrowException) as error:
        raise UsageError(f"the query cannot be run: {_in_short(error)}") from error
    except OSError as error:
        raise HubError(f"the store cannot be read: {error}") from error


def _in_short(error: Exception) -> str:
    """Return what *error* says, without the long lists of what else there is."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    return "\n".join(lines[:SHOWN])


SHOWN = 4
"""Lines of a message that are shown."""
