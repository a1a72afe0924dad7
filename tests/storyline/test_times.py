"""Times: what is one, its instant, its texts, and times without a zone (storyline.md 6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import Json, UsageError
from hub.storyline.times import (
    Zone,
    are_timestamps,
    canonical,
    instant,
    is_timestamp,
    time_layouts,
    utc_text,
    with_zone,
)

TIMES = st.from_regex(
    r"(1[67]|20|22)[0-9]{2}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9]"
    r"(\.[0-9]{1,10})?([Zz]|[+-][0-2][0-9]:[0-5][0-9])",
    fullmatch=True,
)
"""Texts most of which are times."""
SECOND = 1_000_000_000
DAY = 86_400 * SECOND
NEW_YEAR = 1767225600 * SECOND
"""2026-01-01T00:00:00Z."""


class TestText:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-01-01T00:00:00Z", NEW_YEAR),
            ("2026-01-01t00:00:00z", NEW_YEAR),
            ("2026-01-01 00:00:00Z", NEW_YEAR),
            ("2026-01-01T08:00:00+08:00", NEW_YEAR),
            ("2025-12-31T18:30:00-05:30", NEW_YEAR),
            ("2026-01-01T00:00:00+00:00", NEW_YEAR),
            ("2026-01-01T00:00:00-00:00", NEW_YEAR),
            ("2026-01-01T23:59:00+23:59", NEW_YEAR),
            ("2025-12-31T00:01:00-23:59", NEW_YEAR),
            ("2026-01-01T00:00:00.5Z", NEW_YEAR + SECOND // 2),
            ("2026-01-01T00:00:00.123456789Z", NEW_YEAR + 123_456_789),
            ("2026-01-01T00:00:00.0000000019999Z", NEW_YEAR + 1),
            ("2026-01-01T00:00:00.99999999999999999999Z", NEW_YEAR + 999_999_999),
            ("2024-02-29T00:00:00Z", 1709164800 * SECOND),
            ("2000-02-29T00:00:00Z", 951782400 * SECOND),
            ("2026-12-31T23:59:59Z", 1798761599 * SECOND),
            ("1969-12-31T23:59:59.5Z", -SECOND // 2),
        ],
    )
    def test_legal(self, text: str, expected: int) -> None:
        """Date, separator, time, fraction and offset make an instant; digits after the ninth are cut."""
        assert is_timestamp(text)
        assert is_timestamp(text, numbers=False)
        assert expected == instant(text)

    @pytest.mark.parametrize(
        ("text", "same"),
        [
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
            ("2017-01-01T08:59:60.5+09:00", "2017-01-01T00:00:00.5Z"),
            ("2026-05-05T12:30:60Z", "2026-05-05T12:31:00Z"),
        ],
    )
    def test_leap_second(self, text: str, same: str) -> None:
        """Second 60 is the instant one second after second 59."""
        assert is_timestamp(text)
        assert instant(same) == instant(text)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00Z",
            "2026-01-01T00:00:00+0800",
            "2026-01-01T00:00:00+08",
            "2026-01-01T00:00:00+8:00",
            "2026-01-01T00:00:00 +08:00",
            "2026/01/01T00:00:00Z",
            "20260101T000000Z",
            "2026-W01-1T00:00:00Z",
            "2026-01-01_00:00:00Z",
            "2026-01-01T00:00:00,5Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T0:00:00Z",
            " 2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00Z ",
            "2026-01-01T00:00:00Z\n",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:61Z",
            "2026-01-01T00:00:00+24:00",
            "2026-01-01T00:00:00+00:60",
            "2026-00-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-32T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "-2026-01-01T00:00:00Z",
            "12026-01-01T00:00:00Z",
            "\u0662\u0660\u0662\u0666-01-01T00:00:00Z",
            "2026-01-01T00:00:00.\u0665Z",
            "2026-01-01T00:00:00\u221208:00",
            "1767225600",
            "now",
        ],
    )
    def test_illegal(self, text: str) -> None:
        """A text of another form, or of no real date or time, is none."""
        assert not is_timestamp(text)
        assert None is instant(text)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("1677-09-21T00:12:43.145224192Z", -(2**63)),
            ("1677-09-21T00:12:43.145224191Z", None),
            ("1677-09-20T23:12:43.145224192-01:00", -(2**63)),
            ("1677-09-21T00:12:42+00:00", None),
            ("2262-04-11T23:47:16.854775807Z", 2**63 - 1),
            ("2262-04-11T23:47:16.854775808Z", None),
            ("2262-04-12T00:47:16.8547758079+01:00", 2**63 - 1),
            ("2262-04-11T23:47:17Z", None),
            ("0001-01-01T00:00:00+23:59", None),
            ("9999-12-31T23:59:60-23:59", None),
        ],
    )
    def test_range(self, text: str, expected: int | None) -> None:
        """The instant fits 64 bits of nanoseconds, or the text is none."""
        assert expected == instant(text)
        assert (expected is not None) is is_timestamp(text)

    @given(
        st.datetimes(datetime(1678, 1, 2), datetime(2262, 4, 10)),  # noqa: DTZ001  # any local time
        st.integers(-1439, 1439),
        st.sampled_from("Tt "),
    )
    def test_agrees_with_the_standard_library(
        self, local: datetime, minutes: int, separator: str
    ) -> None:
        """What the standard library takes from such a text, this takes too."""
        offset = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
        text = f"{local.isoformat(separator)}{offset}"
        since = datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)

        assert is_timestamp(text)
        assert since // timedelta(microseconds=1) * 1000 == instant(text)

    @given(st.from_regex(r"\A\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-6]\d:[0-6]\d(\.\d+)?Z\Z"))
    def test_one_answer(self, text: str) -> None:
        """A text is a time exactly when it has an instant."""
        assert is_timestamp(text) is (instant(text) is not None)


USUAL = "2026-03-03 01:39:38.930000+00:00"


MANY = [f"2026-01-01T00:00:{second:02}Z" for second in range(30)]
"""Usual times, so many that they are looked at together."""


class TestMany:
    @pytest.mark.parametrize(
        "text",
        [
            "2026-01-01T00:00:00Z",
            "2026-01-01t23:59:59.123456789-23:59",
            "1700-12-31 00:00:00.5+08:00",
            "2199-02-28T12:00:00Z",
            "2016-12-31T23:59:60Z",
            "2026-01-01t00:00:00z",
            "2026-01-01T00:00:00.0000000019999Z",
            "1677-09-21T00:12:43.145224193Z",
        ],
    )
    def test_legal(self, text: str) -> None:
        """A legal time among usual ones is legal, whether it is usual or not."""
        assert is_timestamp(text)
        assert are_timestamps([USUAL, text])
        assert are_timestamps([*MANY, text])

    @pytest.mark.parametrize(
        "text",
        [
            "2026-02-30 01:39:38.930000+00:00",
            "2026-13-03 01:39:38.930000+00:00",
            "2026-03-03 24:00:00.000000+00:00",
            "2026-03-03 01:60:38.930000+00:00",
            "2026-03-03 01:39:61.930000+00:00",
            "2026-03-03 01:39:38.930000+24:00",
            "2026-03-03 01:39:38.930000+01:60",
            "2026-03-03_01:39:38.930000+00:00",
            "2026-W10-3 01:39:38.930000+00:00",
            "2026-03-03 01:39:38,930000+00:00",
            "2026-03-03 01:39:38.930000",
            "2300-03-03 01:39:38.930000+00:00",
            "1600-03-03 01:39:38.930000+00:00",
            f"{USUAL}\n{USUAL}",
            f"{USUAL}\n",
            "\u0662026-03-03 01:39:38.930000+00:00",
            "\ud800",
            "",
        ],
    )
    def test_illegal(self, text: str) -> None:
        """A text that is no time among usual ones is found."""
        assert not is_timestamp(text)
        assert not are_timestamps([USUAL, text])
        assert not are_timestamps([*MANY, text])
        assert not are_timestamps([text])

    def test_layouts(self) -> None:
        """The layout is the text with `0` for every digit; none is told where a time is not usual."""
        assert {b"0000-00-00 00:00:00.000000+00:00"} == time_layouts([USUAL, USUAL])
        assert {b"0000-00-00T00:00:00Z"} == time_layouts(MANY)
        assert {b"0000-00-00T00:00:00Z", b"0000-00-00T00:00:00-00:00"} == time_layouts(
            ["2026-01-01T00:00:00Z", "2026-01-01t00:00:00-01:30".upper()]
        )
        assert set() == time_layouts([])
        assert time_layouts(["2016-12-31T23:59:60Z"]) is None
        assert time_layouts([*MANY, "2016-12-31T23:59:60Z"]) is None

    @given(st.lists(TIMES | st.text("0123456789-:.TZ +\n", max_size=33), max_size=4))
    def test_as_one_by_one(self, texts: list[str]) -> None:
        """Many are times when each is one."""
        assert all(map(is_timestamp, texts)) == are_timestamps(texts)
        assert all(map(is_timestamp, texts)) == are_timestamps([*MANY, *texts])
        assert (time_layouts(texts) is None) == (time_layouts([*MANY, *texts]) is None)


class TestNumber:
    @pytest.mark.parametrize(
        ("number", "expected"),
        [
            (0, 0),
            (1767225600, NEW_YEAR),
            (-1, -SECOND),
            (1785578400.25, 1785578400250000000),
            (1.0, SECOND),
            (-0.0, 0),
            (-1.5, -1_500_000_000),
            (1e-9, 1),
            (1.000000001, 1_000_000_001),
            (1e-7, 100),
            (1785578400.123457, 1785578400123457000),
            (9223372036, 9223372036 * SECOND),
            (-9223372036, -9223372036 * SECOND),
            (1e9, 10**18),
        ],
    )
    def test_legal(self, number: float, expected: int) -> None:
        """A number is seconds, exact to the nanosecond in its shortest decimal text."""
        assert is_timestamp(number)
        assert expected == instant(number)

    @pytest.mark.parametrize(
        "number",
        [
            1.0000000001,
            1e-10,
            5e-324,
            10000000000,
            -10000000000,
            9223372037,
            -9223372037,
            9223372036.9,
            1e10,
            1e300,
            10**400,
            float("nan"),
            float("inf"),
            float("-inf"),
        ],
    )
    def test_illegal(self, number: float) -> None:
        """A number finer than a nanosecond, or out of range, is none."""
        assert not is_timestamp(number)
        assert None is instant(number)

    def test_where_numbers_are_none(self) -> None:
        """A number is a time only where the format defines epoch seconds."""
        assert not is_timestamp(0, numbers=False)
        assert not is_timestamp(0.5, numbers=False)

    @given(st.integers(-(9 * 10**17), 9 * 10**17))
    def test_decimal(self, microseconds: int) -> None:
        """Whole microseconds of a double are what its shortest text says."""
        number = microseconds / 10**6
        exact = Fraction(repr(number)) * SECOND

        expected = int(exact) if exact.denominator == 1 and abs(exact) < 2**63 else None
        assert expected == instant(number)

    @pytest.mark.parametrize("value", [None, True, False, [], {}, ["2026-01-01T00:00:00Z"]])
    def test_other_types(self, value: Json) -> None:
        """Booleans, arrays and objects are no times."""
        assert not is_timestamp(value)
        assert None is instant(value)


class TestCanonical:
    @pytest.mark.parametrize(
        ("nanoseconds", "text"),
        [
            (0, "1970-01-01T00:00:00Z"),
            (NEW_YEAR, "2026-01-01T00:00:00Z"),
            (NEW_YEAR + 500_000_000, "2026-01-01T00:00:00.500Z"),
            (NEW_YEAR + 120_000_000, "2026-01-01T00:00:00.120Z"),
            (NEW_YEAR + 1_000, "2026-01-01T00:00:00.000001Z"),
            (NEW_YEAR + 1, "2026-01-01T00:00:00.000000001Z"),
            (NEW_YEAR + 123_456_000, "2026-01-01T00:00:00.123456Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (-(2**63), "1677-09-21T00:12:43.145224192Z"),
            (2**63 - 1, "2262-04-11T23:47:16.854775807Z"),
        ],
    )
    def test_text(self, nanoseconds: int, text: str) -> None:
        """The canonical text is UTC with the shortest exact fraction of 0, 3, 6 or 9 digits."""
        assert text == canonical(nanoseconds)

    @given(st.integers(-(2**63), 2**63 - 1))
    def test_round_trip(self, nanoseconds: int) -> None:
        """The canonical text of an instant is a time of that instant."""
        assert nanoseconds == instant(canonical(nanoseconds))

    @pytest.mark.parametrize(
        ("separator", "digits", "text"),
        [
            ("T", 6, "2026-01-01T00:00:00.123456"),
            (" ", None, "2026-01-01 00:00:00.123456789"),
            ("T", 0, "2026-01-01T00:00:00"),
            ("T", 9, "2026-01-01T00:00:00.123456789"),
        ],
    )
    def test_other_texts(self, separator: str, digits: int | None, text: str) -> None:
        """Formats write UTC with their own separator and number of digits; further ones are cut."""
        assert text == utc_text(NEW_YEAR + 123_456_789, separator, digits=digits)


class TestZone:
    @pytest.mark.parametrize(
        ("name", "text", "expected"),
        [
            ("Asia/Shanghai", "2026-01-01T08:00:00", "2026-01-01T08:00:00+08:00"),
            ("UTC", "2026-01-01 08:00:00.123", "2026-01-01 08:00:00.123+00:00"),
            ("+05:30", "2026-01-01t08:00:00", "2026-01-01t08:00:00+05:30"),
            ("-08:00", "2026-01-01T08:00:00", "2026-01-01T08:00:00-08:00"),
            ("America/New_York", "2026-07-01T12:00:00", "2026-07-01T12:00:00-04:00"),
            ("America/New_York", "2026-01-01T12:00:00", "2026-01-01T12:00:00-05:00"),
            ("America/St_Johns", "2026-01-01T12:00:00", "2026-01-01T12:00:00-03:30"),
            ("Asia/Shanghai", "2016-12-31T23:59:60", "2016-12-31T23:59:60+08:00"),
        ],
    )
    def test_offset(self, name: str, text: str, expected: str) -> None:
        """A time without an offset gets the one that the zone has at that local time."""
        assert expected == with_zone(text, Zone(name))

    def test_twice(self) -> None:
        """Of two instants with one local time, the earlier one is taken."""
        zone = Zone("Europe/Berlin")
        assert "2026-10-25T02:30:00+02:00" == with_zone("2026-10-25T02:30:00", zone)
        assert "2026-10-25T03:00:00+01:00" == with_zone("2026-10-25T03:00:00", zone)

    def test_never(self) -> None:
        """A local time that the clocks leap over has the offset from before."""
        zone = Zone("Europe/Berlin")
        assert "2026-03-29T02:30:00+01:00" == with_zone("2026-03-29T02:30:00", zone)

    def test_local_mean_time(self) -> None:
        """An offset of minutes and seconds is rounded to minutes, the finest that a time can spell."""
        zone = Zone("Asia/Shanghai")
        assert "1890-01-01T00:00:00+08:06" == with_zone("1890-01-01T00:00:00", zone)

    @pytest.mark.parametrize(
        "value",
        [
            None, 5, "", "now", "2026-01-01", "2026-01-01T00:00", "2026-01-01T00:00:00Z",
            "2026-02-30T00:00:00", "2026-01-01T00:00:00+0800", "0001-01-01T00:00:00",
            "9999-12-31T00:00:00",
        ],
    )  # fmt: skip
    def test_no_such_text(self, value: Json) -> None:
        """Whatever lacks more than an offset, or has one, gets none."""
        assert None is with_zone(value, Zone("+01:00"))

    @pytest.mark.parametrize(
        "name",
        ["Mars/Base", "", "Z", "+8", "+24:00", "+08:60", "../../etc/passwd", "/etc/passwd", "a\0b", "America"],
    )  # fmt: skip
    def test_unknown(self, name: str) -> None:
        """A zone that is not known is the user's mistake, and named."""
        with pytest.raises(UsageError, match="no time zone named"):
            Zone.named(name)

    def test_known(self) -> None:
        """A zone that is known is itself, by name."""
        assert Zone("Asia/Tokyo") == Zone.named("Asia/Tokyo")
        assert "Asia/Tokyo" == str(Zone.named("Asia/Tokyo"))
        assert "+05:45" == str(Zone.named("+05:45"))
