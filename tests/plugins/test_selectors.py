"""Methods on landmarks with every selector: these are points, as many as asked for, and help."""

from functools import partial

import numpy as np
import pytest
from budget_machines import BudgetLSSVM, BudgetSVM
from mssksc import PrimalMSSKSC
from nysck import NystromClusterKernelSVM
from sklearn.datasets import load_digits
from ssokmf import SSOKMF
from views import XNV

from harness import kernels

SIZE = 40


def prototypes(model):
    return model._map.landmarks


def both_views(model):
    return np.concatenate([view._landmarks for view in model._views]) + model._center


METHODS = {
    "nysck": (
        partial(NystromClusterKernelSVM, n_landmarks=SIZE),
        lambda model: model.landmarks_ + model.center_,
    ),
    "fs-mssksc": (partial(PrimalMSSKSC, n_components=SIZE, features="nystrom"), prototypes),
    "rd-mssksc": (partial(PrimalMSSKSC, n_components=SIZE, features="kernel"), prototypes),
    "xnv": (partial(XNV, n_landmarks=SIZE // 2, combine=True, n_classes=10), both_views),
    **{
        name: (partial(estimator, n_landmarks=SIZE), lambda model: model.landmarks_)
        for name, estimator in {
            "budget-svm": BudgetSVM,
            "budget-lssvm": BudgetLSSVM,
            "ssokmf": SSOKMF,
        }.items()
    },
}


def rows_of(X, points):
    """Return the rows of X, or of X less its middle, that these points are."""
    origins = (0, kernels.column_medians(X))
    squared = min(
        (((points[:, None] - (X - origin)) ** 2).sum(axis=2) for origin in origins),
        key=lambda found: found.min(axis=1).max(),
    )
    assert squared.min(axis=1).max() < 1e-6
    return squared.argmin(axis=1)


@pytest.mark.parametrize("selector", list(kernels.SELECTORS))
@pytest.mark.parametrize("name", METHODS)
def test_landmarks_are_points_and_tell_digits_apart(name, selector):
    """Of 800 points, twice as many as a pool of prototypes has."""
    X, truth = (values[:800] for values in load_digits(return_X_y=True))
    y = np.where(np.arange(800) < 200, truth, -1)
    build, landmarks = METHODS[name]
    chosen = {}
    for name_of_selector in ("uniform", selector):
        model = build(selector=name_of_selector, random_state=0).fit(X, y)
        chosen[name_of_selector] = rows_of(X, landmarks(model))
    assert len(set(chosen[selector])) == len(landmarks(model)) == SIZE
    if selector != "uniform":
        assert set(chosen[selector]) != set(chosen["uniform"])
    assert (model.predict(X[200:]) == truth[200:]).mean() > 0.5
