"""Which points a trial is told to fit, and which its search."""

from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.svm import SVC

from harness.plugin.method import N_UNLABELED, Method
from harness.trial.assignment import Assignment

METHOD = Method("m", SVC, lambda shape, size: 0.0, uses_unlabeled=True)
SUBSAMPLED = replace(METHOD, size=N_UNLABELED)
SUPERVISED = replace(METHOD, uses_unlabeled=False)


def assigned(method=METHOD, shown=0, **changes):
    told = dict.fromkeys(field.name for field in fields(Assignment))
    told |= {
        "method": method,
        "labeled": np.arange(5),
        "unlabeled": np.arange(5, 15),
        "y_labeled": np.arange(5) % 2,
        "y_search": np.full(shown, 7),
        "transductive": True,
    }
    return Assignment(**told | changes)


@pytest.mark.parametrize(
    ("method", "size", "n_kept", "kept"),
    [
        (METHOD, None, None, 10),
        (METHOD, 3, None, 10),
        (METHOD, 3, 4, 4),
        (SUBSAMPLED, 3, None, 3),
        (SUPERVISED, 3, 4, 0),
    ],
)
def test_the_first_of_the_unlabeled_rows_are_kept(method, size, n_kept, kept):
    trial = assigned(method, size=size, n_kept=n_kept)
    assert trial.kept.tolist() == list(range(5, 5 + kept))
    assert trial.seen.tolist() == list(range(5 + kept))
    assert trial.n_seen == 5 + kept
    assert trial.predicts_seen is (kept > 0)
    assert not replace(trial, transductive=False).predicts_seen


def test_one_point_that_fit_was_given_is_predicted_as_such():
    assert assigned(n_kept=1).predicts_seen
    assert not assigned(replace(METHOD, features=set())).predicts_seen


@pytest.mark.parametrize(
    ("method", "size", "n_kept", "shown", "left"),
    [
        (METHOD, 3, None, 4, (3, None)),
        (METHOD, None, 6, 4, (None, 2)),
        (METHOD, 3, 4, 6, (3, 0)),
        (SUBSAMPLED, 6, None, 4, (2, None)),
        (SUBSAMPLED, 3, None, 4, (0, None)),
        (SUBSAMPLED, None, None, 4, (None, None)),
    ],
)
def test_what_a_search_is_shown_is_labeled_and_no_longer_unlabeled(
    method, size, n_kept, shown, left
):
    trial = assigned(method, shown, size=size, n_kept=n_kept)
    searched = trial.searched
    assert searched.labeled.tolist() == list(range(5 + shown))
    assert searched.unlabeled.tolist() == list(range(5 + shown, 15))
    assert searched.y_labeled.tolist() == [0, 1, 0, 1, 0] + [7] * shown
    assert (searched.size, searched.n_kept) == left
    assert assigned().searched.labeled.tolist() == list(range(5))


def test_by_default_a_search_is_shown_nothing():
    told = {f.name: None for f in fields(Assignment)} | {"method": METHOD}
    del told["y_search"]
    assert len(Assignment(**told).y_search) == 0
