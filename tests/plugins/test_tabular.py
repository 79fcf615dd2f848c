"""What people use on tables: through the harness it is what it is when called directly."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from registered import LEARNED

from harness.conformance import check_methods, kit
from harness.scikit_learn import wraps
from harness.trial.warm_up import warm_up

warm_up_once = functools.cache(warm_up)

ALONE = [
    method
    for method in LEARNED
    if not method.uses_unlabeled and isinstance(wraps(method.estimator)[0], type)
]

ASKED = [method for method in LEARNED if not method.name.startswith("self-training-")]
ASKED += [method for method in LEARNED if method.name == "self-training-sgd"]

OTHERWISE = {
    "logistic": "far from the origin",  # L-BFGS ends elsewhere where columns are far from 0
    "sgd": "sparse input",  # scikit-learn moves the intercept of sparse points less
    "self-training-sgd": "sparse input",
    "xgboost": "sparse input",  # what is not stored is missing to it, and not 0
}
"""Methods that answer one check in another way, as their libraries mean them to."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ASKED, ids=lambda method: method.name)
def test_the_conformance_kit_finds_nothing(method, monkeypatch):
    monkeypatch.setattr(kit, "warm_up", warm_up_once)
    if "max_iter" in method.params:  # what is asked does not depend on it
        method = replace(method, params={**method.params, "max_iter": 20})
    found = list(check_methods([method], seconds=60, measure=False))
    failed = [f.check for f in found if f.result == "fails"]
    other = {check.partition(",")[0] for check in failed} - {OTHERWISE.get(method.name)}
    assert other == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ALONE, ids=lambda method: method.name)
def test_scores_are_those_of_the_library_bit_for_bit(method, two_blobs):
    X, y = two_blobs[:2]
    known = y != -1
    labels = np.where(known, y, -1)
    foreign, _ = wraps(method.estimator)
    params = dict(method.params)
    if method.size:
        params[method.size] = 5
    if "random_state" in method.parameters:
        params["random_state"] = 7
    ours = method.estimator(**params).fit(X, labels)
    theirs = foreign(**params).fit(X[known], y[known])
    score = "decision_function" if hasattr(theirs, "decision_function") else "predict_proba"
    assert np.array_equal(getattr(ours, score)(X), getattr(theirs, score)(X))
