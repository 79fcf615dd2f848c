import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, unknown_name
from harness.units import (
    format_bytes,
    format_duration,
    format_latency,
    parse_bytes,
    parse_duration,
    parse_latency,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("200MB", 200_000_000),
        ("64 MiB", 64 * 1024**2),
        ("1.5GB", 1_500_000_000),
        ("10kB", 10_000),
        (4096, 4096),
        ("3M", 3_000_000),
        ("3K", 3000),
    ],
)
def test_bytes_are_decimal_unless_marked_binary(text, expected):
    assert parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["200 MBB", "MB", "", "-5MB", "0MB", "ten", True, "1e6"])
def test_bad_bytes_name_what_was_given(text):
    with pytest.raises(HarnessError, match="is not bytes") as caught:
        parse_bytes(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"), [("90s", 90), ("5min", 300), ("2h", 7200), (30, 30), ("1d", 86400)]
)
def test_durations(text, expected):
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "written"),
    [("5ms", 0.005, "5 ms"), ("200us", 2e-4, "0.2 ms"), (2, 2, "2 s"), ("0.05s", 0.05, "50 ms")],
)
def test_latencies(text, expected, written):
    assert parse_latency(text) == pytest.approx(expected)
    assert format_latency(expected) == written


@given(st.integers(1, 10**15))
def test_formatted_bytes_keep_three_digits(count):
    assert parse_bytes(format_bytes(count)) == pytest.approx(count, rel=5.1e-3)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (999, "999 B"),
        (1000, "1 kB"),
        (999_400, "999 kB"),
        (999_600, "1 MB"),
        (-999_600, "-1 MB"),
        (999_600_000, "1 GB"),
        (1_234_000_000_000, "1.23 TB"),
        (10**15, "1000 TB"),
    ],
)
def test_bytes_are_rounded_before_their_unit_is_chosen(count, expected):
    assert format_bytes(count) == expected


def test_durations_are_written_in_two_units():
    assert format_duration(0.012) == "12 ms"
    assert format_duration(4800) == "1 h 20 min"
    assert format_duration(125) == "2 min 5 s"


def test_unknown_name_offers_the_nearest():
    message = str(unknown_name("method", "nyscck", ["nysck", "clusk"], "s.yaml: methods"))
    assert message.startswith("s.yaml: methods: unknown method 'nyscck'; did you mean 'nysck'?")
    assert message.endswith("known: clusk, nysck")
