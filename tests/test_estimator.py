"""Estimators whose parameters are written once."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Literal

import numpy as np
import pytest
from annotated_types import Gt, Interval
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness.estimator import (
    Estimator,
    Fraction,
    NonNegativeInt,
    OneOf,
    PositiveFloat,
    PositiveInt,
    RandomState,
    admits,
    describe,
    listed_names,
    parameters,
    refusal,
    takes_objects,
)
from harness.plugin.parameters import parameter_texts


class Base(Estimator):
    """Has a width."""

    sigma: PositiveFloat = 1.0
    """Width of the kernel,
    in medians.
    """


class NearestMean(ClassifierMixin, Base):
    """The class of the nearest mean."""

    metric: Literal["euclidean", "cityblock"] = "euclidean"
    """What is near."""
    random_state: RandomState = None

    def fit(self, X, y):
        self._validate_params()
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return self.classes_[((X[:, None] - self.means_) ** 2).sum(-1).argmin(1)]


@parametrize_with_checks([NearestMean()])
def test_it_is_what_scikit_learn_calls_an_estimator(estimator, check):
    check(estimator)


def test_parameters_are_the_fields_of_all_bases():
    assert list(parameters(NearestMean)) == ["sigma", "metric", "random_state"]
    estimator = clone(NearestMean(sigma=2.0)).set_params(metric="cityblock")
    given = {"sigma": 2.0, "metric": "cityblock", "random_state": None}
    assert estimator.get_params() == given
    assert repr(estimator) == "NearestMean(metric='cityblock', sigma=2.0)"
    assert estimator != clone(estimator)


def test_texts_are_read_from_below_the_fields():
    expected = {"sigma": "Width of the kernel,\nin medians.", "metric": "What is near."}
    assert parameter_texts(NearestMean) == expected


def test_a_fit_refuses_the_first_value_that_is_not_allowed():
    said = "The 'sigma' parameter of NearestMean must be a number above 0. Got -1 instead."
    with pytest.raises(ValueError, match=said):
        NearestMean(sigma=-1).fit([[0.0], [1.0]], [0, 1])
    assert refusal(NearestMean, "sigma", 0.5, "mine") == ""
    assert refusal(NearestMean, "unknown", 0.5, "mine") == ""
    assert refusal(dict, "sigma", -1, "mine") == ""


Grown = Annotated[str, OneOf({"b": 1, "a": 2})]
Between = Annotated[float, Interval(gt=0, le=1)]
TYPES = [
    (PositiveFloat, [1, 0.5, np.float32(2)], [0, -1, "1", True, np.nan, np.inf, None]),
    (Fraction, [0, 1, 0.5], [-0.1, 1.1]),
    (Between, [0.1, 1], [0, 1.1]),
    (PositiveInt, [1, np.int64(3)], [0, 1.0, True, "1"]),
    (PositiveInt | None, [1, None], [0, "None"]),
    (bool, [True, np.bool_(False)], [0, 1, "yes"]),
    (Literal["a", 1], ["a", 1], ["b", True, 1.0, 2]),
    (Grown, ["a", "b"], ["c", 1]),
    (Grown | Callable, ["a", len], ["c"]),
    (Sequence[int] | int, [[1, 2], (1,), np.arange(2), 3], ["12", 1.5]),
    (RandomState, [None, 0, np.random.RandomState(0)], [-1, 0.5, "0"]),
]


@pytest.mark.parametrize(("allowed", "good", "bad"), TYPES)
def test_a_type_admits_its_values_alone(allowed, good, bad):
    assert [value for value in good if not admits(allowed, value)] == []
    assert [value for value in bad if admits(allowed, value)] == []


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        (PositiveFloat, "a number above 0"),
        (Fraction, "a number of at least 0 and of at most 1"),
        (Annotated[float, Gt(1)] | None, "a number above 1, or None"),
        (Literal["b", "a", "c"], "'b', 'a' or 'c'"),
        (Grown | Callable, "'a' or 'b', or a callable"),
        (RandomState, "a whole number of at least 0, a RandomState, or None"),
        (bool, "true or false"),
    ],
)
def test_a_type_is_described_in_words(allowed, words):
    assert describe(allowed) == words


@pytest.mark.parametrize(
    ("allowed", "names", "objects"),
    [
        (Grown, {"a", "b"}, False),
        (Grown | Callable, {"a", "b"}, True),
        (Literal["a"] | None, {"a"}, False),
        (str | Callable, set(), True),
        (NonNegativeInt, set(), True),
    ],
)
def test_names_that_a_type_lists(allowed, names, objects):
    assert (listed_names(allowed), takes_objects(allowed)) == (names, objects)


class ByKeyword(Estimator):
    _: KW_ONLY
    sigma: PositiveFloat = 1.0
    """Width."""


class Wider(ByKeyword):
    n_landmarks: PositiveInt = 10
    sigma: PositiveFloat = 2.0


def test_another_default_leaves_a_parameter_by_keyword():
    model = Wider(5)
    assert (model.n_landmarks, model.sigma) == (5, 2.0)
    assert Wider(sigma=3.0).sigma == 3.0
    assert parameter_texts(Wider)["sigma"] == "Width."
    with pytest.raises(TypeError):
        Wider(5, 3.0)
