"""Times that are written: ale.md 6.1 and 6.2."""

from __future__ import annotations

import pytest
from hub_ale.times import write_time, write_times
from hypothesis import given
from hypothesis import strategies as st

from hub import Json

TIMES = st.from_regex(
    r"20[0-9]{2}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{6}[+-]0[01]:00",
    fullmatch=True,
)


class TestWriteTime:
    @pytest.mark.parametrize(
        ("value", "written"),
        [
            (None, None),
            ("2026-03-03 01:39:38.930000+00:00", "2026-03-03T01:39:38.930000Z"),
            ("2026-03-03T01:39:38.930000Z", "2026-03-03T01:39:38.930000Z"),
            ("2026-03-03 01:39:38.93-00:00", "2026-03-03T01:39:38.930000Z"),
            ("2026-03-03t01:39:38z", "2026-03-03T01:39:38.000000Z"),
            ("2026-03-03T01:39:38.123456789Z", "2026-03-03T01:39:38.123456Z"),
            ("2026-03-03 01:39:38.930000+08:00", "2026-03-02T17:39:38.930000Z"),
            ("2026-03-03 01:39:38.930000-00:30", "2026-03-03T02:09:38.930000Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z"),
            ("2024-02-29 00:00:00.000000+00:00", "2024-02-29T00:00:00.000000Z"),
            (1767225600, "2026-01-01T00:00:00.000000Z"),
            (1767225600.5, "2026-01-01T00:00:00.500000Z"),
            ("2026-02-30 01:39:38.930000+00:00", None),
            ("2026-03-03 01:39:38.930000", None),
            (f"{'2026-03-03 01:39:38.930000+00:00'}\n", None),
            ("\ud800", None),
        ],
    )
    def test_one_and_many(self, value: Json, written: str | None) -> None:
        """A time is UTC with microseconds, by itself and among others; what is no time is none."""
        assert written == write_time(value, is_own=False)
        for number in (1, 30):
            usual = {
                f"2026-03-03 02:{one:02}:00.000000+00:00": f"2026-03-03T02:{one:02}:00.000000Z"
                for one in range(number)
            }
            assert {value: written, **usual} == write_times([value, *usual], is_own=False)

    def test_own(self) -> None:
        """A text of ALE's own is written as it is."""
        texts = ["2026-03-03 01:39:38+08:00", "yesterday"]
        assert {one: one for one in texts} == write_times(texts, is_own=True)

    @given(st.lists(TIMES | st.none() | st.text(max_size=3) | st.integers(-5, 5), max_size=24))
    def test_as_one_by_one(self, values: list[Json]) -> None:
        """Many are written as each is."""
        expected = {value: write_time(value, is_own=False) for value in values}
        assert expected == write_times(values, is_own=False)
