"""Scores of which few differ come back as they were, in some bits each."""

import json
import zlib
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugin.method import NO_SCORE
from harness.records.few_values import from_bits, listed, n_bytes, to_bits
from harness.records.prediction_files import MOST_VALUES, PredictionsFile, read_kept
from harness.records.predictions import pack, unpack

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def packed(predictions):
    n = len(next(iter(predictions.values())))
    return pack("abc-0", predictions, np.arange(n), split="s", part="test")


@settings(deadline=None)
@given(st.lists(FINITE, min_size=1, max_size=30, unique=True), st.integers(0, 2**32 - 1))
def test_values_and_places_give_the_scores_again_bit_for_bit(given_values, seed):
    rng = np.random.default_rng(seed)
    scores = rng.choice(given_values, size=8 * len(given_values) + 3)
    values, places = listed(scores)
    assert len(values) <= len(given_values)
    content = to_bits(places, len(values))
    assert len(content) == n_bytes(len(scores), len(values))
    np.testing.assert_array_equal(values[from_bits(content, len(scores), len(values))], scores)


def test_a_value_that_comes_once_at_the_end_is_not_lost():
    scores = np.append(np.zeros(50_000), [3.0, 7.0])
    values, places = listed(scores)
    assert values.tolist() == [0, 3, 7]
    assert values[places].tolist() == scores.tolist()


@pytest.mark.parametrize(("n_values", "few"), [(MOST_VALUES, True), (MOST_VALUES + 1, False)])
def test_so_many_values_are_few_and_one_more_is_not(n_values, few):
    scores = np.arange(20 * n_values) % n_values / 7
    assert (listed(scores) is not None) == few
    kept, content = packed({"values": scores})
    assert bool(kept.values) == few
    assert bool(kept.scales) != few
    assert kept.size <= 2.01 * len(scores)
    np.testing.assert_allclose(unpack(kept, content)["values"], scores, atol=0.01)


def test_values_of_which_each_has_few_scores_are_coded_since_a_list_would_be_longer():
    assert listed(np.arange(70) % 10 / 3) is None
    assert listed(np.arange(80) % 10 / 3) is not None


@pytest.mark.parametrize("n_classes", [2, 4])
def test_votes_are_what_they_were(n_classes):
    """Codes moved a probability at the edge of a bin of the calibration error into the other."""
    rng = np.random.default_rng(n_classes)
    votes = rng.multinomial(15, np.full(n_classes, 1 / n_classes), size=900) / 15
    scores = votes[:, 1] - votes[:, 0] if n_classes == 2 else votes
    labels = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    kept, content = packed({"probabilities": scores, "labels": labels})
    found = unpack(kept, content)
    np.testing.assert_array_equal(found["probabilities"], scores)
    np.testing.assert_array_equal(found["labels"], labels)
    assert kept.exact
    assert kept.size < 0.8 * scores.size


def test_a_class_without_labeled_points_is_a_value_like_others():
    scores = np.tile([[NO_SCORE, 0.5, -0.5], [NO_SCORE, -2.0, 2.0]], (40, 1))
    kept, content = packed({"scores": scores, "labels": scores.argmax(axis=1)})
    assert kept.values == 5
    np.testing.assert_array_equal(unpack(kept, content)["scores"], scores)


def test_a_score_beyond_the_list_is_refused():
    kept, _ = packed({"values": np.arange(60) % 5 / 1.0})
    beyond = np.arange(5.0).astype("<f8").tobytes() + b"\xff" * n_bytes(60, 5)  # places are all 7
    with pytest.raises(ValueError, match="score of no value"):
        unpack(kept, zlib.compress(beyond))


@pytest.mark.parametrize("damage", [{"values": 257}, {"values": -1}, {"values": 3.0}])
def test_a_line_that_says_what_cannot_be_is_refused(damage):
    kept, _ = packed({"values": np.arange(60) % 5 / 1.0})
    with pytest.raises(ValueError, match="does not describe"):
        replace(kept, **damage)


def test_what_was_kept_before_there_were_lists_is_read(tmp_path):
    scores = np.linspace(-1, 1, 30)
    kept, content = packed({"values": scores})
    line = {name: value for name, value in asdict(kept).items() if name != "values"}
    path = tmp_path / "job.scores"
    path.write_bytes(json.dumps(line).encode() + b"\n" + content)
    ((found, bytes_found),) = read_kept(path, {"abc-0"})
    np.testing.assert_allclose(unpack(found, bytes_found)["values"], scores, atol=1e-3)


def test_lists_and_codes_stand_in_one_file(tmp_path):
    path = tmp_path / "job.scores"
    few, many = np.arange(60) % 5 / 1.0, np.linspace(0, 1, 60)
    with PredictionsFile(path, ()) as file:
        for number, values in enumerate((few, many)):
            file.append(
                *pack(f"abc-{number}", {"values": values}, np.arange(60), split="s", part="all")
            )
    found = {
        kept.trial: unpack(kept, content)["values"]
        for kept, content in read_kept(path, {"abc-0", "abc-1"})
    }
    np.testing.assert_array_equal(found["abc-0"], few)
    np.testing.assert_allclose(found["abc-1"], many, atol=1e-3)
