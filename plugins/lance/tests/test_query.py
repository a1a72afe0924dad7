"""Questions in SQL: what can be asked, and that nothing else can be done."""

from __future__ import annotations

from pathlib import Path

import hub_lance
import pytest

import hub

from .builders import story, wire


def one(store: hub_lance.Store, expression: str) -> object:
    """Return what an expression of SQL is."""
    return store.query(f"SELECT {expression} AS x").column(0)[0].as_py()


class TestReadOnly:
    @pytest.mark.parametrize(
        "sql",
        [
            "DROP VIEW runs",
            "CREATE TABLE x AS SELECT 1",
            "INSERT INTO runs SELECT * FROM runs",
            "DELETE FROM runs",
            "UPDATE runs SET notes = ''",
            "ATTACH 'x.db'",
            "COPY runs TO 'x.csv'",
            "SET threads = 1",
            "PRAGMA version",
            "INSTALL httpfs",
            "LOAD httpfs",
        ],
    )
    def test_only_read(self, store: hub_lance.Store, sql: str) -> None:
        """Whatever is no query is refused."""
        with pytest.raises(hub.UsageError, match="a store is only read: no "):
            store.query(sql)

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT * FROM read_csv('{path}')",
            "SELECT * FROM read_text('{path}')",
            "SELECT * FROM read_parquet('https://example.org/x.parquet')",
            "SELECT * FROM '{path}'",
            "SELECT * FROM glob('/*')",
            "SELECT * FROM store",
            "SELECT 1 FROM",
        ],
    )
    def test_reaches_nothing_else(self, store: hub_lance.Store, tmp_path: Path, sql: str) -> None:
        """A query reaches no file, no network, and no variable of the program."""
        path = tmp_path / "x.csv"
        path.write_text("a,b\n1,2\n")
        with pytest.raises(hub.UsageError, match="the query cannot be run: "):
            store.query(sql.format(path=path))

    @pytest.mark.parametrize(("sql", "count"), [("SELECT 1; SELECT 2", 2), ("", 0), ("-- x", 0)])
    def test_one_query(self, store: hub_lance.Store, sql: str, count: int) -> None:
        """A query is one statement."""
        with pytest.raises(hub.UsageError, match=f"expected one query, found {count}"):
            store.query(sql)

    def test_error_on_the_way(self, store: hub_lance.Store) -> None:
        """An error that comes while rows are made is told as one of the query."""
        store.add_storylines([story("s", extra={"a": "\ud800"})])
        with pytest.raises(hub.UsageError, match=r"the query cannot be run: .*surrogate"):
            store.query("SELECT json_extract(extra_json, '$.a') FROM runs")
        assert None is one(store, "(SELECT json_extract(sound(extra_json), '$.a') FROM runs)")


class TestQuery:
    def test_tables(self, store: hub_lance.Store) -> None:
        """The three tables have their names and columns."""
        store.add_storylines([story("a", "x", "y"), story("b", "z", run="r")])
        assert [{"session_id": "a", "n": 2}, {"session_id": "b", "n": 1}] == store.query(
            "SELECT runs.session_id, count(*) AS n FROM runs JOIN steps USING (document_id)"
            " GROUP BY ALL ORDER BY ALL"
        ).to_pylist()
        assert [{"document_id": "b"}] == store.query(
            "WITH found AS (SELECT * FROM runs WHERE run_id = 'r') SELECT document_id FROM found"
        ).to_pylist()
        assert 0 == one(store, "(SELECT count(*) FROM tool_calls)")

    def test_empty_store(self, store: hub_lance.Store) -> None:
        """Of an empty store there is nothing to be found."""
        assert [] == store.query("SELECT * FROM steps").to_pylist()


class TestFunctions:
    @pytest.mark.parametrize(
        ("metrics", "prompt", "completion", "cached", "cost"),
        [
            ({"prompt_tokens": 5, "completion_tokens": 2}, 5, 2, None, None),
            ({"prompt_tokens_len": 5, "completion_tokens_len": 0}, 5, 0, None, None),
            ({"prompt_tokens": "5", "prompt_tokens_len": 6}, 6, None, None, None),
            ({"prompt_tokens": 5.0, "cost_usd": 1}, None, None, None, 1.0),
            (
                {"input_tokens": 1, "cache_read_tokens": 10, "cache_creation_input_tokens": 100},
                111,
                None,
                10,
                None,
            ),
            ({"input_tokens": 1, "output_tokens": 7, "cost": 0.5}, 1, 7, None, 0.5),
            ({"prompt_tokens_details": {"cached_tokens": 3}}, None, None, 3, None),
            ({"prompt_tokens": True}, None, None, None, None),
            ({"prompt_tokens": 2**80}, None, None, None, None),
            ([1], None, None, None, None),
            ("text", None, None, None, None),
            (None, None, None, None, None),
            ({"x": "\ud800", "prompt_tokens": 5}, None, None, None, None),
        ],
    )
    def test_usage(  # noqa: PLR0913, PLR0917  # a row of the table of names
        self,
        store: hub_lance.Store,
        metrics: object,
        prompt: int | None,
        completion: int | None,
        cached: int | None,
        cost: float | None,
    ) -> None:
        """Tokens and cost are read by the names that formats use; a value of another type does not count."""
        turn = {"id": 1, "src": "agent", "msg": "", "metrics": metrics}
        store.add_storylines([hub.from_wire({**wire("s"), "turns": [turn]})])
        names = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")
        calls = ", ".join(f"{name}(metrics_json) AS {name}" for name in names)
        sql = f"SELECT {calls} FROM steps"  # noqa: S608  # our own names
        assert [dict(zip(names, (prompt, completion, cached, cost), strict=True))] == store.query(
            sql
        ).to_pylist()

    @pytest.mark.parametrize(
        ("metrics", "latency", "expected"),
        [
            ({"llm_infer_ms": 5.5}, None, 5.5),
            ({"duration_ms": 5}, 7, 7.0),
            ({"duration_ms": "5"}, None, None),
        ],
    )
    def test_model_ms(
        self, store: hub_lance.Store, metrics: object, latency: int | None, expected: float | None
    ) -> None:
        """So is the time that the model took; that of the turn counts first."""
        turn = {"id": 1, "src": "agent", "msg": "", "metrics": metrics, "latency_ms": latency}
        store.add_storylines([hub.from_wire({**wire("s"), "turns": [turn]})])
        assert expected == one(store, "(SELECT model_ms(metrics_json, latency_ms) FROM steps)")

    @pytest.mark.parametrize(
        ("results", "response", "expected"),
        [
            ([{"is_error": True}], None, True),
            ([{"is_error": False}, {"is_error": True}], None, True),
            ([{"is_error": False}], None, False),
            ([{"is_error": "true"}], {"exit_code": 0}, False),
            ([], {"exit_code": 1}, True),
            ([], {"status": "failed"}, False),
            ([], None, False),
        ],
    )
    def test_is_error(
        self,
        store: hub_lance.Store,
        results: list[dict[str, object]],
        response: dict[str, object] | None,
        expected: bool,  # noqa: FBT001  # what is expected
    ) -> None:
        """A call went wrong when a result says so, or its exit code does."""
        call = {"tcid": "c", "fn": "f", "args": {}, "response": response}
        turn = {
            "id": 1,
            "src": "agent",
            "msg": "",
            "tool_calls": [call],
            "observation": {"results": [{"source_call_id": "c", **one} for one in results]},
        }
        store.add_storylines([hub.from_wire({**wire("s"), "turns": [turn]})])
        sql = "(SELECT is_error(results_json, response_json) FROM tool_calls)"
        assert expected is one(store, sql)
