"""Every method that the project's plugins provide, and variants with other ways through them."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from harness.plugin.registry import find_sources
from harness.project import PLUGINS

SOURCES = [source for source in find_sources() if source.path and source.path.parent == PLUGINS]
MODULES = [importlib.import_module(source.name) for source in SOURCES]
ALL = [
    method
    for module in MODULES
    if hasattr(module, "harness_methods")
    for method in module.harness_methods()
]
METHODS = [method for method in ALL if not method.learns_storage]
LEARNED = [method for method in ALL if method.learns_storage]
CLASSIFIERS = [method for method in METHODS if "binary" in method.tasks]
LEARNERS = [method for method in CLASSIFIERS if "fit" in method.features]

VARIANTS = {
    "anchor-graph": [{"weights": "kernel"}],
    "harmonic": [{"solver": "cg"}, {"n_neighbors": 5}],
    "budget-svm": [{"kernel": "linear"}, {"solver": "sgd", "sigma": 0.5}],
    "budget-lssvm": [{"kernel": "poly2"}, {"solver": "sgd"}],
    "falkon": [{"dtype": "float64"}],
    "logfalkon": [{"dtype": "float64"}],
    "rff-ridge": [{"frequencies": "hadamard", "bits": 4}],
    "pcg-krr": [{"dtype": "float64", "selector": "uniform"}],
    "clusk": [{"transfer": "poly-step"}],
    "nysck": [{"degrees": "features"}, {"degrees": "exact"}, {"variant": "literal"}],
    "sock": [{"degrees": "exact"}, {"transfer": "poly-step"}],
    "xnv": [{"cca": "randomized", "combine": True}],
    "xks": [{"combine": True}, {"frequencies": "hadamard"}],
    "rff-mssksc": [{"penalise_bias": True}, {"normalize": True, "frequencies": "hadamard"}],
    "fogd": [{"frequencies": "orthogonal"}],
    "dual-sgd": [{"frequencies": "hadamard"}],
    "fs-mssksc": [{"normalize": True}, {"degrees": "exact", "dtype": "float64"}],
    "rd-mssksc": [{"normalize": True}],
    "ssokmf": [{"solver": "sgd", "max_iter": 10}],
    "bsgd": [{"maintenance": "removal"}, {"maintenance": "projection"}],
    "tsvm": [{"form": "cccp"}],
    "linear-tsvm": [{"form": "cccp"}],
}
"""Parameters that lead through code which the defaults do not take."""

QUICK = {
    "n_iter": 3,
    "epochs": 10,
    "budget": 20,
    "n_landmarks": 20,
    "n_components": 20,
    "random_state": 0,
}


def named(name):
    """Return the method of a name."""
    (found,) = (method for method in METHODS if method.name == name)
    return found


def with_variants(methods, variant_marks=()):
    """Return cases of pytest: each method with its defaults, and with each of its variants."""
    return [
        pytest.param(
            replace(method, params={**method.params, **params}),
            id=" ".join([method.name, *(f"{name}={value}" for name, value in params.items())]),
            marks=variant_marks if params else (),
        )
        for method in methods
        for params in ({}, *VARIANTS.get(method.name, ()))
    ]


CASES = with_variants(LEARNERS)


def build(method, n_classes=3, **params):
    """Return a quick estimator of a method for classes."""
    quick = {name: value for name, value in QUICK.items() if name in method.parameters}
    if "regression" in method.tasks and "n_classes" in method.parameters:
        # or y would hold values
        quick["n_classes"] = n_classes
    return method.estimator(**{**quick, **method.params, **params})


def all_scores(estimator, X_new):
    """Return the scores of new points and, where `fit` left them, of its own; all finite."""
    found = [estimator.decision_function(X_new)]
    for name in ("decision_scores_", "label_distributions_"):
        if hasattr(estimator, name):
            found.append(getattr(estimator, name))
    assert all(np.isfinite(scores).all() for scores in found)
    assert np.isin(estimator.predict(X_new), estimator.classes_).all()
    return found
