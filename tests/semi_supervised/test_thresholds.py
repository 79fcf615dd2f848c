"""Thresholds: classes have the shares of the labeled points, and order within a class stays."""

import numpy as np
import pytest

from harness.semi_supervised import read_labels, threshold_rows
from harness.semi_supervised.thresholds import share_offsets


def labels(counts, n_classes=None):
    return read_labels(np.repeat(list(counts), list(counts.values())), n_classes)


@pytest.mark.parametrize(("negative", "positive"), [(5, 5), (9, 3), (1, 19)])
def test_two_classes_have_the_shares_of_the_labeled_points(negative, positive):
    scores = np.random.default_rng(0).exponential(size=400) + 3  # all above zero
    offset = share_offsets(scores, labels({0: negative, 1: positive}))
    share = positive / (negative + positive)
    assert np.mean(scores + offset > 0) == pytest.approx(share, abs=1 / 400)


def test_each_of_several_classes_has_its_share():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(2000, 4)) * [1, 0.1, 3, 1] + [5, 0, 0, -5]
    known = labels({0: 8, 1: 4, 2: 6, 3: 2})
    moved = scores + share_offsets(scores, known)
    shares = np.bincount(moved.argmax(axis=1), minlength=4) / 2000
    np.testing.assert_allclose(shares, [0.4, 0.2, 0.3, 0.1], atol=0.02)


def test_a_class_without_a_labeled_point_stays_below_all_others():
    scores = np.random.default_rng(2).normal(size=(300, 3))
    scores[:, 1] = scores.min() - 1
    moved = scores + share_offsets(scores, labels({0: 9, 2: 1}, 3))
    assert (moved[:, 1] < moved[:, [0, 2]].min(axis=1)).all()
    assert np.mean(moved.argmax(axis=1) == 2) == pytest.approx(0.1, abs=0.01)


def test_rows_are_spread_over_those_without_a_label():
    y = np.full(200_000, -1)
    y[:1000] = np.arange(1000) % 2
    rows = threshold_rows(read_labels(y), len(y))
    assert len(rows) < 40_000
    assert rows.min() >= 1000
    assert rows.max() > 199_990
    few = np.array([0, 1, -1, 1, -1])
    assert threshold_rows(read_labels(few), 5).tolist() == [2, 4]
