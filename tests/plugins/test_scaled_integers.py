"""Methods that take small integers: the same scores, bit for bit, from a quarter of the bytes."""

from dataclasses import replace

import numpy as np
import pytest
from registered import LEARNERS, VARIANTS, named

from harness import Shape
from harness.kernels import KERNELS, OF_SCALED_INTEGERS, SELECTORS, ScaledIntegers
from harness.planning.own_bytes import converting_bytes
from harness.planning.size import plan
from harness.sandbox import Limits, Sandbox
from harness.trial.generated import assign
from harness.trial.run import make_estimator, run_trial

TAKING = [method for method in LEARNERS if method.takes_scaled_integers({})]
N, D, LABELED = 360, 40, 50


class NeverWhole(ScaledIntegers):
    """Refuses to become an array as a whole."""

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("all of it is converted at once")


def problem(n_classes):
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=N)
    codes = np.clip(rng.normal(90 + 30 * truth[:, None], 50, (N, D)), 0, 255).astype(np.uint8)
    y = truth.astype(np.int8)
    y[LABELED:] = -1
    return codes, y


def decisions(method, X, y, new, n_classes, **params):
    size = None if method.size in (None, "n_unlabeled") else 20
    make = {"size": size, "n_classes": n_classes, "random_state": 0}
    estimator = make_estimator(method, params, **make).fit(X, y)
    return estimator.decision_function(new)


def assert_same(method, n_classes=3, **params):
    codes, y = problem(n_classes)
    X = codes.astype(np.float32) / np.float32(255)
    kept = NeverWhole(codes, 255)
    np.testing.assert_array_equal(np.asarray(ScaledIntegers(codes, 255)), X)
    of_numbers = decisions(method, X, y, X[:90], n_classes, **params)
    of_integers = decisions(method, kept, y, X[:90], n_classes, **params)
    np.testing.assert_array_equal(of_integers, of_numbers)


def test_these_are_all_that_take_them():
    assert {method.name for method in TAKING} == {
        *("anchor-graph", "budget-lssvm", "budget-svm", "clusk", "cmn", "fs-mssksc", "harmonic"),
        *("label-propagation", "label-spreading", "logfalkon", "mssksc", "nysck", "nystrom-svm"),
        *("poisson-learning", "rd-mssksc", "rff-mssksc", "sock", "ssokmf"),
        *("falkon", "lapsvm", "tsvm"),
        *("knn-clusk", "nystrom-tsvm", "pvm", "rff-clusk", "s4vm"),
    }


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", TAKING, ids=lambda m: m.name)
def test_scores_are_those_of_the_numbers(method, n_classes):
    assert_same(method, n_classes)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        (method.name, params)
        for method in TAKING
        for params in VARIANTS.get(method.name, [])
        if method.takes_scaled_integers(params)
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scores_of_other_ways_through_a_method(name, params):
    assert_same(named(name), **params)


@pytest.mark.parametrize("kernel", sorted(OF_SCALED_INTEGERS))
@pytest.mark.parametrize("selector", sorted(SELECTORS))
def test_scores_of_any_selector(selector, kernel):
    assert_same(named("budget-svm"), selector=selector, kernel=kernel)


def test_other_kernels_are_given_numbers():
    for kernel in KERNELS.keys() - OF_SCALED_INTEGERS:
        assert not named("budget-svm").takes_scaled_integers({"kernel": kernel})


SHAPE = Shape(150, 2_850, 784, 3, itemsize=4, held_itemsize=1)


@pytest.mark.parametrize("method", TAKING, ids=lambda m: m.name)
def test_a_plan_charges_what_is_held(method):
    size = None if method.size in (None, "n_unlabeled") else 30
    kept, numbers = (
        plan(method, shape, None, largest=size).planned_bytes
        for shape in (SHAPE, replace(SHAPE, held_itemsize=None))
    )
    seen = method.training_shape(SHAPE)
    assert kept >= seen.data_bytes == seen.n * seen.n_features
    if method.uses_unlabeled:  # else its peak is none of X
        saved = 3 * seen.n * seen.n_features - converting_bytes(seen)
        assert saved > 0.4 * 3 * seen.n * seen.n_features
        assert numbers - kept >= 0.99 * saved


@pytest.mark.slow
@pytest.mark.memory
@pytest.mark.parametrize("method", TAKING, ids=lambda m: m.name)
def test_a_trial_holds_no_more_than_was_planned(method, tmp_path):
    planned = plan(method, SHAPE, None, largest=30 if method.bounded_by_landmarks else None)
    trial = assign(method, "multiclass", SHAPE, planned.size, tmp_path, near=True)
    with Sandbox() as sandbox:
        result = sandbox.run(lambda monitor: run_trial(trial, monitor), Limits(seconds=300))
    assert (result.outcome, result.reason) == ("ok", "")
    assert result.peak_bytes <= planned.planned_bytes
