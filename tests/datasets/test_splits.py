import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.datasets import split, split_sizes
from harness.errors import HarnessError
from harness.study.evaluation import Inductive

COUNTS = st.lists(st.integers(1, 40), min_size=2, max_size=5)


def labels(counts):
    return np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))


@st.composite
def problems(draw):
    counts = draw(COUNTS.filter(lambda c: sum(c) > len(c) + 2))
    n, q = sum(counts), len(counts)
    n_labeled = draw(st.integers(q, n - 1))
    evaluation = "transductive"
    if draw(st.booleans()) and n_labeled < n - 1:
        evaluation = {
            "test": draw(st.integers(1, n - n_labeled)),
            "unlabeled_per_labeled": draw(st.one_of(st.none(), st.floats(0.1, 5))),
            "stratified": draw(st.booleans()),
        }
    return labels(counts), n_labeled, evaluation, draw(st.integers(0, 10))


@given(problems())
@settings(max_examples=200, deadline=None)
def test_parts_are_disjoint_sorted_complete_and_of_the_planned_size(problem):
    y, n_labeled, evaluation, seed = problem
    parts = split(y, "multiclass", n_labeled, evaluation, seed)
    together = np.concatenate(parts)
    assert len(np.unique(together)) == len(together)
    assert ((together >= 0) & (together < len(y))).all()
    for part in parts:
        assert part.dtype == np.int64
        assert (np.diff(part) > 0).all()
    sizes = split_sizes(len(y), len(np.unique(y)), n_labeled, evaluation)
    assert tuple(sizes) == tuple(len(part) for part in parts)
    if evaluation == "transductive":
        assert len(together) == len(y)
        assert not len(parts.test)


@given(problems())
@settings(max_examples=200, deadline=None)
def test_stratified_parts_have_every_class_and_its_share(problem):
    y, n_labeled, evaluation, seed = problem
    if evaluation != "transductive":
        evaluation["stratified"] = True
    parts = split(y, "multiclass", n_labeled, evaluation, seed)
    counts = np.bincount(y)
    labeled = np.bincount(y[parts.labeled], minlength=len(counts))
    assert (labeled >= 1).all()
    if (counts * n_labeled >= len(y)).all() and evaluation == "transductive":
        assert (np.abs(labeled - counts * n_labeled / len(y)) < 1 + 1e-9).all()


def test_same_seed_same_split_and_other_seed_another():
    y = labels([50, 50])
    first, again, other = (split(y, "binary", 10, "transductive", seed) for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert (first.labeled != other.labeled).any()
    sequence = split(y, "binary", 10, "transductive", np.random.SeedSequence(1))
    assert (sequence.labeled == first.labeled).all()


def test_held_out_points_do_not_depend_on_the_labeled_count():
    y = labels([60, 30, 10])
    few, many = (split(y, "multiclass", m, {"test": 0.2}, 3) for m in (5, 40))
    assert (few.test == many.test).all()
    assert set(few.labeled) <= set(many.labeled)


def test_points_are_equally_likely_to_be_labeled():
    y = labels([30, 10])
    hits = np.zeros(40)
    for seed in range(2000):
        hits[split(y, "binary", 8, "transductive", seed).labeled] += 1
    # 2,000 draws with probability 0.2: standard deviation 18
    assert np.abs(hits - 400).max() < 5 * 18


def test_shares_counts_and_the_study_s_own_rules():
    assert split_sizes(690, 2, 0.1) == (69, 621, 0)
    assert split_sizes(1000, 2, 100, {"test": 0.2, "unlabeled_per_labeled": 3}) == (100, 300, 200)
    assert split_sizes(1000, 2, 100, {"test": 150}) == (100, 750, 150)
    assert split_sizes(1000, 2, 100, {"unlabeled_per_labeled": 50}) == (100, 700, 200)
    assert split_sizes(1000, 2, 100, Inductive(test=0.3)) == (100, 600, 300)


def test_regression_is_drawn_uniformly():
    y = np.random.default_rng(0).normal(size=200)
    parts = split(y, "regression", 50, {"test": 0.25}, 0)
    assert [len(part) for part in parts] == [50, 100, 50]


@pytest.mark.parametrize(
    ("n_labeled", "evaluation", "said"),
    [
        (101, "transductive", r"data set 'mine': labeled 101 is 101 points; .*at most 99 of 100"),
        (100, "transductive", r"at most 99 of 100 with one left to score"),
        (1, "transductive", r"labeled 1 is 1 of 100 points, fewer than the 2 classes"),
        (0.001, "transductive", r"labeled 0.001 is 0 of 100 points"),
        (50, {"test": 0.999}, r"'mine': test 0.999 is 100 of 100 points; allowed: 1 .. 99"),
        (50, {"test": 60}, r"at most 40 of 100 besides 60 test points"),
        (50, {"test": 0.001}, r"test 0.001 is 0 of 100 points"),
        (50, {"test": -1}, r"test -1 must be above zero"),
        (50, {"tset": 0.1}, r"neither 'transductive' nor 'official' nor a mapping"),
        (50, "inductive", r"'inductive' is neither"),
        (50, "official", r"'mine': evaluation 'official' .* tells of none \(n_train\); allowed"),
        (50, {"test": "official"}, r"evaluation 'official' asks for its own test part"),
    ],
)
def test_what_does_not_fit_is_told_with_what_is_allowed(n_labeled, evaluation, said):
    with pytest.raises(HarnessError, match=said):
        split(labels([60, 40]), "binary", n_labeled, evaluation, 0, dataset="mine")


@given(COUNTS.filter(lambda c: sum(c) > 2 * len(c) + 4), st.data())
@settings(max_examples=200, deadline=None)
def test_an_official_test_part_is_all_that_comes_after_training_points(counts, data):
    y, classes = labels(counts), len(counts)
    n_train = data.draw(st.integers(classes, len(y) - 1))
    n_labeled = data.draw(st.integers(classes, n_train))
    stratified, seed = data.draw(st.booleans()), data.draw(st.integers(0, 3))
    rules = {"test": "official", "stratified": stratified}
    if data.draw(st.booleans()):
        rules["unlabeled_per_labeled"] = data.draw(st.floats(0.1, 3))
    parts = split(y, "multiclass", n_labeled, rules, seed, n_train=n_train)
    assert parts.test.tolist() == list(range(n_train, len(y)))
    assert (np.diff(parts.labeled) > 0).all()
    assert not set(parts.labeled) & set(parts.unlabeled)
    assert max(*parts.labeled, *parts.unlabeled) < n_train
    sizes = split_sizes(len(y), classes, n_labeled, rules, n_train=n_train)
    assert tuple(sizes) == tuple(len(part) for part in parts)
    if stratified:
        assert set(y[parts.labeled]) == set(y[:n_train])


def test_an_official_test_part_of_a_regression_and_its_short_name():
    y = np.linspace(0, 1, 50)
    named = split(y, "regression", 10, "official", 0, n_train=30)
    written = split(y, "regression", 10, {"test": "official"}, 0, n_train=30)
    assert [part.tolist() for part in named] == [part.tolist() for part in written]
    assert [len(part) for part in named] == [10, 20, 20]
    with pytest.raises(HarnessError, match=r"at most 30 of 50 besides 20 test points"):
        split(y, "regression", 31, "official", 0, n_train=30)


def test_one_class_is_refused():
    with pytest.raises(HarnessError, match=r"'mine': all points are of one class"):
        split(np.zeros(10, dtype=int), "binary", 2, "transductive", 0, dataset="mine")


def test_labeled_points_of_a_transductive_draw_may_be_drawn_uniformly():
    y = np.repeat([0, 1], [150, 50])
    stratified = split(y, "binary", 40, {"transductive": True}, 0)
    assert (
        stratified.labeled.tolist() == split(y, "binary", 40, "transductive", 0).labeled.tolist()
    )
    uniform = {"transductive": True, "stratified": False}
    assert split_sizes(200, 2, 40, uniform) == (40, 160, 0)
    counts = [int(y[split(y, "binary", 40, uniform, seed).labeled].sum()) for seed in range(200)]
    # hypergeometric: mean 10, standard deviation 2.5
    assert 9.3 < np.mean(counts) < 10.7
    assert 1.9 < np.std(counts) < 3.1
    with pytest.raises(HarnessError, match="mapping of test, unlabeled_per_labeled, stratified"):
        split_sizes(200, 2, 40, {"transductive": True, "test": 0.2})


def test_test_points_leave_a_point_of_each_class_to_learn_from():
    """However many points are held out."""
    y = labels([2, 2, 30])
    for seed in range(20):
        parts = split(y, "multiclass", 3, {"test": 31}, seed)
        assert sorted(y[parts.labeled]) == [0, 1, 2]
        assert len(parts.test) == 31


def test_parts_have_the_shares_of_the_classes_as_near_as_whole_points_can():
    """Largest remainders: 10 of 25, 15 and 10 points are 5, 3 and 2, in whatever part."""
    y = labels([25, 15, 10])
    parts = split(y, "multiclass", 10, {"test": 10, "unlabeled_per_labeled": 1}, 0)
    assert [np.bincount(y[part]).tolist() for part in parts] == [[5, 3, 2]] * 3


def test_of_a_regression_no_part_need_have_every_value():
    parts = split(np.arange(20.0), "regression", 2, {"test": 17}, 0)
    assert [len(part) for part in parts] == [2, 1, 17]
