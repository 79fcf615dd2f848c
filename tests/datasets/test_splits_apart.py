"""Splits that keep groups, times or kinds of points apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.datasets import Split, split, split_sizes
from harness.datasets.splits import PointFacts
from harness.errors import HarnessError

N = 120


@st.composite
def grouped(draw):
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    groups = rng.integers(0, draw(st.integers(4, 20)), N)
    return rng.integers(0, 3, N), groups, draw(st.integers(3, 20)), draw(st.integers(0, 5))


def divide(y, n_labeled, rules, seed=0, **given):
    return split(y, "multiclass", n_labeled, rules, seed, dataset="mine", **given)


def bounds(y, n_labeled, rules, groups):
    known = y >= 0
    return split_sizes(
        *(len(y), 3, n_labeled, rules),
        n_unlabeled=int((~known).sum()),
        largest_group=int(np.bincount(groups[known]).max()),
    )


def shared(groups, one, other):
    return set(groups[one]) & set(groups[other])


def whole(parts, n):
    rows = np.concatenate(parts)
    assert len(np.unique(rows)) == len(rows)
    assert all(part.dtype == np.int64 and (np.diff(part) > 0).all() for part in parts)
    return rows.size == n


@given(grouped(), st.sampled_from(["test", "all"]))
@settings(max_examples=60, deadline=None)
def test_no_group_is_in_two_parts(problem, kept_apart):
    y, groups, n_labeled, seed = problem
    rules = {"test": 0.25, "groups": kept_apart}
    try:
        most = bounds(y, n_labeled, rules, groups)
    except HarnessError:  # too large a group for so many labels
        return
    parts = divide(y, n_labeled, rules, seed, facts=PointFacts(groups=groups))
    complete = whole(parts, N)
    assert not shared(groups, parts.test, parts.labeled)
    assert not shared(groups, parts.test, parts.unlabeled)
    assert len(parts.labeled) == n_labeled
    assert 0 < len(parts.test) <= most.n_test
    assert len(parts.unlabeled) <= most.n_unlabeled
    # a group is added or left out, whatever is nearer to what was asked for
    assert abs(len(parts.test) - N // 4) <= np.bincount(groups).max()
    if kept_apart == "test":
        assert complete
        assert set(y[parts.labeled]) == set(y[np.concatenate([parts.labeled, parts.unlabeled])])
    else:
        assert not shared(groups, parts.labeled, parts.unlabeled)
    again = divide(y, n_labeled, rules, seed, facts=PointFacts(groups=groups))
    assert [part.tolist() for part in again] == [part.tolist() for part in parts]


@given(grouped())
@settings(max_examples=40, deadline=None)
def test_points_of_labeled_groups_are_not_scored(problem):
    y, groups, n_labeled, seed = problem
    rules = {"transductive": True, "groups": "all"}
    try:
        most = bounds(y, n_labeled, rules, groups)
    except HarnessError:
        return
    parts = divide(y, n_labeled, rules, seed, facts=PointFacts(groups=groups))
    whole(parts, N)
    assert not shared(groups, parts.labeled, parts.unlabeled)
    assert 0 < len(parts.unlabeled) <= most.n_unlabeled


def test_every_group_is_held_out_by_some_seed_and_labeled_points_are_redrawn():
    y, groups = np.arange(N) % 3, np.arange(N) // 12
    facts = PointFacts(groups=groups)
    drawn = [divide(y, 9, {"test": 0.2, "groups": "test"}, s, facts=facts) for s in range(40)]
    assert {group for parts in drawn for group in groups[parts.test]} == set(range(10))
    assert all(len(parts.test) == 24 for parts in drawn)
    few, many = (divide(y, m, {"test": 0.2, "groups": "test"}, 1, facts=facts) for m in (6, 30))
    assert few.test.tolist() == many.test.tolist()


@given(st.integers(0, 20), st.integers(3, 30), st.booleans())
@settings(max_examples=40, deadline=None)
def test_what_is_scored_comes_after_what_is_learned(seed, n_labeled, ordered):
    rng = np.random.default_rng(seed)
    y, times = rng.integers(0, 3, N), rng.integers(0, 50, N)
    order = times if ordered else np.arange(N)
    facts = PointFacts(order=times if ordered else None)
    parts = divide(y, n_labeled, {"test": 0.25, "temporal": "test"}, seed, facts=facts)
    assert whole(parts, N)
    assert len(parts.test) == N // 4
    learned = np.concatenate([parts.labeled, parts.unlabeled])
    assert order[learned].max() <= order[parts.test].min()
    first = divide(y, n_labeled, {"test": 0.25, "temporal": "all"}, seed, facts=facts)
    assert first.test.tolist() == parts.test.tolist()
    assert order[first.labeled].max() <= order[first.unlabeled].min()
    later = divide(y, n_labeled, {"transductive": True, "temporal": "all"}, seed, facts=facts)
    assert later.labeled.tolist() == first.labeled.tolist()
    assert len(later.unlabeled) == N - n_labeled


def test_labeled_points_before_the_test_part_are_drawn_by_the_seed():
    y = np.arange(N) % 3
    rules = {"test": 30, "temporal": "test"}
    first, other = (divide(y, 12, rules, seed) for seed in (0, 1))
    assert first.labeled.tolist() != other.labeled.tolist()
    assert np.bincount(y[first.labeled]).tolist() == [4, 4, 4]
    assert first.test.tolist() == list(range(90, N))


@pytest.mark.parametrize("share", [0, 0.25, 0.5, 0.75, 1])
def test_unlabeled_points_of_other_classes_are_the_share_that_is_asked_for(share):
    """The numbers do not change with the share, so that only the kind of points does."""
    y = np.concatenate([np.arange(60) % 3, np.full(60, -1)])
    rules = {"test": 0.2, "unlabeled_per_labeled": 3, "unlabeled": {"other_classes": share}}
    parts = divide(y, 9, rules)
    assert [len(part) for part in parts] == [9, 27, 12]
    assert (y[parts.labeled] >= 0).all()
    assert (y[parts.test] >= 0).all()
    assert (y[parts.unlabeled] == -1).sum() == round(27 * share)
    assert split_sizes(N, 3, 9, rules, n_unlabeled=60) == (9, 27, 12)
    same = divide(y, 9, rules | {"unlabeled": {"other_classes": 0}})
    assert parts.test.tolist() == same.test.tolist()
    assert parts.labeled.tolist() == same.labeled.tolist()


def test_without_a_share_points_without_a_label_are_unlabeled_as_they_come():
    y = np.concatenate([np.arange(60) % 3, np.full(60, -1)])
    everything = divide(y, 9, {"test": 12})
    assert (y[everything.unlabeled] == -1).sum() == 60
    assert len(everything.unlabeled) == 39 + 60
    some = divide(y, 9, {"test": 12, "unlabeled_per_labeled": 3})
    assert len(some.unlabeled) == 27
    assert abs((y[some.unlabeled] == -1).sum() - 27 * 60 / 99) < 1


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_unlabeled_points_beyond_a_quantile_are_the_share_that_is_asked_for(share):
    rng = np.random.default_rng(3)
    y, feature = rng.integers(0, 3, N), rng.normal(size=N)
    shift = {"beyond": share, "column": 0, "quantile": 0.7}
    rules = {"test": 0.25, "unlabeled_per_labeled": 2, "unlabeled": shift}
    parts = divide(y, 12, rules, facts=PointFacts(feature=feature))
    limit = np.sort(feature)[83]  # of 84 points up to the quantile
    assert feature[np.concatenate([parts.labeled, parts.test])].max() <= limit
    assert (feature[parts.unlabeled] > limit).sum() == round(24 * share)
    assert tuple(map(len, parts)) == split_sizes(N, 3, 12, rules) == (12, 24, 21)


@given(st.integers(0, 50), st.integers(20, 60), st.integers(3, 12), st.booleans())
@settings(max_examples=30, deadline=None)
def test_an_official_test_part_has_only_points_with_a_label(seed, n_train, n_labeled, shifted):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(N) < 0.3, -1, rng.integers(0, 3, N))
    y[:6], y[-1] = [0, 1, 2, 0, 1, 2], 0
    rules = {"test": "official", "unlabeled_per_labeled": 1}
    if shifted:
        rules["unlabeled"] = {"other_classes": 0.0}
    n_labeled = min(n_labeled, int((y[:n_train] >= 0).sum()) // 2)
    parts = divide(y, max(3, n_labeled), rules, seed, n_train=n_train)
    most = split_sizes(
        *(N, 3, max(3, n_labeled), rules), n_train=n_train, n_unlabeled=int((y < 0).sum())
    )
    assert parts.test.tolist() == [row for row in range(n_train, N) if y[row] >= 0]
    assert max(*parts.labeled, *parts.unlabeled) < n_train
    assert all(len(part) <= many for part, many in zip(parts, most, strict=True))


def test_labeled_points_are_drawn_within_the_training_part_of_a_file():
    y = np.arange(N) % 3
    given_parts = Split(np.arange(0), np.arange(0, 60), np.arange(60, 100))
    rules = {"splits": "file", "unlabeled_per_labeled": 2, "stratified": True}
    parts = divide(y, 12, rules, given=given_parts)
    assert parts.test.tolist() == list(range(60, 100))
    assert max(*parts.labeled, *parts.unlabeled) < 60
    assert [len(part) for part in parts] == [12, 24, 40]
    assert np.bincount(y[parts.labeled]).tolist() == [4, 4, 4]
    other = divide(y, 12, rules, 1, given=given_parts)
    assert parts.labeled.tolist() != other.labeled.tolist()


REFUSED = {
    "no groups": ({"groups": "test"}, {}, "its entry tells of none: write `groups: COLUMN`"),
    "few labels left": ({"groups": "test"}, {"largest_group": 70}, "at most 50 of 120 besides 70"),
    "no other classes": (
        {"unlabeled": {"other_classes": 0.5}},
        {},
        "asks for points of other classes, and it has none",
    ),
    "too many": (
        {"unlabeled": {"other_classes": 0.5}, "unlabeled_per_labeled": 2},
        {"n_unlabeled": 10},
        r"'mine': unlabeled_per_labeled 2 is 120 points, .* at most 20 in all",
    ),
    "too many beyond": (
        {"unlabeled": {"beyond": 1.0, "column": 0, "quantile": 0.9}, "unlabeled_per_labeled": 1},
        {},
        "at most 12 in all, as there are 26 of the labeled ones' kind and 12 from outside",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_data_set_does_not_have_is_refused_before_it_is_read(case):
    rules, known, told = REFUSED[case]
    with pytest.raises(HarnessError, match=told):
        split_sizes(N, 2, 60, rules, "mine", **known)


def test_points_without_a_label_cannot_be_scored():
    with pytest.raises(HarnessError, match="30 of its points have no label"):
        split_sizes(N, 2, 20, "transductive", "mine", n_unlabeled=30)


def test_groups_that_are_in_both_official_parts_are_told():
    groups = np.arange(N) % 12
    rules = {"test": "official", "groups": "test"}
    with pytest.raises(HarnessError, match="12 groups have points in its official test part"):
        divide(np.arange(N) % 3, 9, rules, n_train=60, facts=PointFacts(groups=groups))
    apart = np.arange(N) // 12
    parts = divide(np.arange(N) % 3, 9, rules, n_train=60, facts=PointFacts(groups=apart))
    assert parts.test.tolist() == list(range(60, N))


def test_labels_that_a_split_cannot_have_are_told():
    y = np.arange(N) % 3
    file = Split(np.arange(0), np.arange(0, 6), np.arange(60, 100))
    with pytest.raises(HarnessError, match="labeled 12 is more than the 6 points"):
        divide(y, 12, {"splits": "file"}, given=file)
