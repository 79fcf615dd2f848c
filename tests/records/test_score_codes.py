"""Scores in two bytes: order and ties as they were, values as near as two bytes allow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.metrics import log_loss

from harness.metrics.functions import auc
from harness.plugin.method import NO_SCORE
from harness.records.predictions import digest, pack, unpack
from harness.records.score_codes import decode, encode

FINITE = st.floats(-1e30, 1e30)  # far from the score of a class that was not there


def roundtrip(scores, kind="scores"):
    coded = encode(scores, kind)
    assert coded.codes.dtype == np.int16
    assert coded.codes.shape == scores.shape
    return decode(coded.codes, coded.scales, kind), coded


@settings(deadline=None)
@given(st.lists(FINITE, min_size=1, max_size=60), st.sampled_from(["scores", "values"]))
def test_codes_never_turn_an_order_round_and_say_whether_they_kept_it(given, kind):
    scores = np.array(given) * (1 if kind == "scores" else 1e270)
    found, coded = roundtrip(scores, kind)
    assert np.isfinite(found).all()
    order = np.argsort(scores, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    kept = rankdata(found, "dense").tolist() == rankdata(scores, "dense").tolist()
    assert kept or not coded.exact


@pytest.mark.parametrize("n", [2, 50, 1000, 30_000])
@pytest.mark.parametrize("ties", [False, True])
def test_ranks_are_kept_and_so_is_auc_to_the_last_bit(n, ties):
    rng = np.random.default_rng(n)
    scores = rng.normal(size=n)
    scores = np.round(scores, 1) if ties else scores
    y = np.arange(n) % 2
    found, coded = roundtrip(scores)
    assert coded.exact
    np.testing.assert_array_equal(rankdata(found), rankdata(scores))
    np.testing.assert_array_equal(found > 0, scores > 0)
    assert auc(y, found) == auc(y, scores)
    assert np.abs(found - scores).max() < 1e-4 * np.ptp(scores)


def test_more_scores_than_codes_are_near_and_the_codes_say_that_some_are_equal():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=80_000)
    y = (scores + rng.normal(size=len(scores)) > 0).astype(int)
    found, coded = roundtrip(scores)
    assert not coded.exact
    assert len(np.unique(found)) < len(scores)
    assert abs(auc(y, found) - auc(y, scores)) < 1e-6
    assert np.abs(found - scores).max() < 1e-4 * np.ptp(scores)


def test_an_outlier_and_a_distant_center_cost_the_others_few_digits():
    rng = np.random.default_rng(1)
    near = rng.normal(size=999)
    found, _ = roundtrip(np.append(near, 1e6))
    assert np.abs(found[:-1] - near).max() < 0.01
    values = 1e6 + rng.normal(size=999)
    found, _ = roundtrip(values, "values")
    assert np.abs(found - values).max() < 1e-3


def test_log_loss_of_sure_probabilities_is_what_it_was():
    """Half-precision floats have no number between 0.9995 and 1."""
    rng = np.random.default_rng(2)
    odds = rng.normal(0, 8, 4000)
    y = (rng.random(4000) < 1 / (1 + np.exp(-odds))).astype(int)
    scores = np.tanh(odds / 2)
    found, coded = roundtrip(scores, "probabilities")
    assert coded.exact
    before, after = (log_loss(y, (1 + one) / 2) for one in (scores, found))
    assert after == pytest.approx(before, abs=1e-5)
    half = scores.astype(np.float16).astype(float)
    assert abs(log_loss(y, (1 + half) / 2) - before) > 1e-5


def test_probabilities_of_nought_and_one_stay_what_they_are():
    p = np.array([[0, 1, 0], [1e-300, 0.5, 0.5], [1, 1e-12, 0], [0.25, 0.5, 0.25]])
    found, coded = roundtrip(p, "probabilities")
    assert coded.exact
    for end in (0, 1):
        np.testing.assert_array_equal(found == end, p == end)
    np.testing.assert_allclose(found, p, rtol=0.02)
    ends = np.array([-1.0, 1.0, 0.0])
    np.testing.assert_array_equal(roundtrip(ends, "probabilities")[0], ends)


def test_the_score_of_a_class_that_no_labeled_point_had_takes_no_digits():
    scores = np.column_stack([np.full(50, NO_SCORE), np.linspace(-1, 1, 50)])
    scores[3, 1] = NO_SCORE
    found, _ = roundtrip(scores)
    np.testing.assert_array_equal(found == NO_SCORE, scores == NO_SCORE)
    rest = scores != NO_SCORE
    np.testing.assert_allclose(found[rest], scores[rest], atol=1e-4)


def packed(predictions, points):
    return pack("f-0", predictions, points, split="s", part="test")


@pytest.mark.parametrize("n_classes", [2, 5])
def test_predictions_come_back_in_the_order_of_their_points(n_classes):
    rng = np.random.default_rng(3)
    points = rng.permutation(500)[:300]
    scores = rng.normal(size=(300, n_classes) if n_classes > 2 else 300)
    labels = scores.argmax(axis=1) if n_classes > 2 else (scores > 0).astype(np.int64)
    labels[:9] = (labels[:9] + 1) % n_classes  # not what the scores say, and so are listed
    kept, content = packed({"scores": scores, "labels": labels}, points)
    assert (kept.kind, kept.n, kept.labels) == ("scores", 300, 9)
    assert kept.points == digest(np.sort(points)) != digest(points)
    found = unpack(kept, content)
    order = np.argsort(points)
    np.testing.assert_array_equal(found["labels"], labels[order])
    np.testing.assert_allclose(found["scores"], scores[order], atol=2e-4)
    assert kept.size < 2.1 * scores.size + 60


def test_labels_alone_and_values_are_kept_too():
    points = np.arange(40)
    labels = np.arange(40) * 10 - 1
    kept, content = packed({"labels": labels}, points)
    assert (kept.kind, kept.label_type) == ("labels", "<i2")
    assert unpack(kept, content)["labels"].tolist() == labels.tolist()
    values = np.linspace(-3, 700, 40)
    kept, content = packed({"values": values}, points)
    np.testing.assert_allclose(unpack(kept, content)["values"], values, atol=0.02)


def test_what_does_not_describe_its_bytes_is_refused():
    kept, content = packed({"labels": np.arange(40)}, np.arange(40))
    for damaged in (
        content[:-3],
        b"x" + content,
        packed({"labels": np.arange(9)}, np.arange(9))[1],
    ):
        with pytest.raises(ValueError):  # zlib's words, or ours
            unpack(kept, damaged)
