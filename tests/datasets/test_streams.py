"""The order of a stream, and whose labels are told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.datasets.sizes import split_sizes
from harness.datasets.streams import MOST_STRETCHES, PLACES, as_split, draw_stream, in_runs
from harness.errors import HarnessError

RULES = {"prequential": True, "chunk": 10, "delay": 0, "order": "drawn", "points": None}


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 3000), part=st.integers(1, 700), seed=st.integers(0, 9))
def test_every_row_comes_once(n, part, seed):
    order = in_runs(n, part, np.random.default_rng(seed))
    assert sorted(order.tolist()) == list(range(n))


def test_a_part_is_from_all_over_a_file_and_read_in_stretches():
    """As of a file that is sorted by class: each part has its share of both."""
    n, part = 100_000, 1024
    order = in_runs(n, part, np.random.default_rng(0))
    first = [np.mean(order[start : start + part] < n // 2) for start in range(0, n - part, part)]
    # of 64 draws: five standard errors
    assert max(abs(np.array(first) - 0.5)) < 5 * 0.5 / np.sqrt(PLACES)
    rows = np.sort(order[:part])
    assert np.count_nonzero(np.diff(rows) > 1) <= PLACES + 1
    assert not (np.diff(order[:part]) == 1).mean() > 0.1  # in no order within a part


def test_single_rows_are_drawn_where_parts_are_small():
    order = in_runs(5000, 20, np.random.default_rng(0))
    assert np.mean(np.diff(order) == 1) < 0.01


@settings(max_examples=60, deadline=None)
@given(
    points=st.integers(12, 400),
    chunk=st.integers(1, 50),
    delay=st.integers(0, 3),
    labeled=st.one_of(st.just(0), st.integers(1, 400), st.sampled_from([0.01, 0.3])),
    order=st.sampled_from(["drawn", "file"]),
)
def test_each_chunk_has_its_share_of_the_labels(points, chunk, delay, labeled, order):
    rules = RULES | {"chunk": chunk, "delay": delay, "order": order, "points": points}
    try:
        sizes = split_sizes(500, 2, labeled, rules)
    except HarnessError:
        return
    stream, told = draw_stream(500, labeled, rules, np.random.default_rng(0))
    assert len(stream.rows) == points == sizes.n_labeled + sizes.n_unlabeled
    assert told.sum() == sizes.n_labeled
    assert len(stream.scored) == sizes.n_test == points - chunk * (1 + delay)
    assert told[:chunk].any()
    ends = np.minimum(np.arange(1, stream.n_chunks + 1) * chunk, points)
    share = sizes.n_labeled * ends / points
    until = np.cumsum(told)[ends - 1]
    assert ((until >= share - 1e-9) & (until < share + 1)).all()
    if order == "file":
        assert stream.rows.tolist() == list(range(points))
    parts = as_split(stream, told)
    assert sorted(np.concatenate(parts).tolist()) == sorted(stream.rows.tolist())
    assert set(parts.test) == set(stream.scored.tolist())


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_the_curve_has_a_point_for_all_that_is_scored_and_few_points(chunk):
    rules = RULES | {"chunk": chunk, "delay": 1}
    stream, _ = draw_stream(5003, 0, rules, np.random.default_rng(0))
    ends = [number for number in range(stream.n_chunks) if stream.ends_stretch(number)]
    assert 0 < len(ends) <= MOST_STRETCHES
    assert ends[-1] == stream.n_chunks - 1
    assert min(ends) >= stream.first_scored


@pytest.mark.parametrize(
    ("rules", "labeled", "told"),
    [
        ({"points": 101}, 0, "points 101 is more than its 100"),
        ({"chunk": 50, "delay": 1}, 0, "first 2 chunks of 50 points are not scored, .* has 100"),
        ({"points": 60}, 61, "labeled 61 is 61 points; allowed: 1 .. 60, or none said for all"),
        ({}, 0.001, "labeled 0.001 is 0 points"),
    ],
)
def test_what_leaves_nothing_is_refused(rules, labeled, told):
    with pytest.raises(HarnessError, match=told):
        split_sizes(100, 2, labeled, RULES | rules, "moons")
