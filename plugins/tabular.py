"""What people use on tables, as scikit-learn has it, on labels alone and in self-training.

No formula says what these hold: their storage is learned, by measuring trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from harness import Method, Shape, choice, hookimpl, log_uniform, sklearn_method


def most_trees(_: Shape) -> tuple[int, int]:
    """Return the range of numbers of trees."""
    return 1, 300


CLASSIFIERS: Mapping[str, tuple[type, dict[str, Any]]] = {
    "hist-boosting": (
        HistGradientBoostingClassifier,
        {
            "size": "max_iter",
            "sizes": most_trees,
            "params": {"early_stopping": False},
            "space": {
                "learning_rate": log_uniform(0.02, 0.5),
                "max_leaf_nodes": choice([3, 7, 15, 31]),
                "l2_regularization": choice([0.0, 0.1, 1.0, 10.0]),
            },
        },
    ),
    "random-forest": (
        RandomForestClassifier,
        {
            "size": "n_estimators",
            "sizes": most_trees,
            "space": {
                "min_samples_leaf": choice([1, 2, 5, 10]),
                "max_features": choice(["sqrt", "log2", 0.5, 1.0]),
            },
        },
    ),
    "logistic": (
        LogisticRegression,
        {"params": {"max_iter": 1000}, "space": {"C": log_uniform(1e-4, 1e4)}},
    ),
    "sgd": (
        SGDClassifier,
        {"params": {"loss": "log_loss"}, "space": {"alpha": log_uniform(1e-6, 1.0)}},
    ),
    "mlp": (
        MLPClassifier,
        {
            "params": {"max_iter": 500},
            "space": {
                "alpha": log_uniform(1e-6, 10),
                "learning_rate_init": log_uniform(1e-4, 1e-1),
            },
        },
    ),
    "knn": (
        KNeighborsClassifier,
        {
            "space": {
                "n_neighbors": choice([1, 2, 3, 5, 10]),
                "weights": choice(["uniform", "distance"]),
            }
        },
    ),
}
"""Names, estimators and what a method says of each."""

_REFERENCE = "scikit-learn"


@hookimpl
def harness_methods() -> Iterator[Method]:
    """Provide each classifier on the labeled points, and in self-training on all."""
    for name, (estimator, about) in CLASSIFIERS.items():
        yield sklearn_method(estimator, name, reference=_REFERENCE, **about)
        # the unlabeled points are given up before trees are
        alone = {key: value for key, value in about.items() if key not in ("size", "sizes")}
        yield sklearn_method(
            estimator,
            f"self-training-{name}",
            unlabeled="self-training",
            size="n_unlabeled",
            reference=_REFERENCE,
            **alone,
        )
