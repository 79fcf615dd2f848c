# /// script
# dependencies = ["lightgbm>=4.6,<5", "xgboost-cpu>=3,<4"]
# ///
"""Gradient boosting as most people use it: LightGBM and XGBoost, on the labeled points.

`pip install 'memory-budget-harness[boosting]'`, or `harness environments --make`. Both count their
threads by themselves unless they are told, and a trial has one.
"""

from __future__ import annotations

from collections.abc import Iterator

from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

from harness import Method, Shape, choice, hookimpl, log_uniform, sklearn_method


def most_trees(_: Shape) -> tuple[int, int]:
    """Return the range of numbers of trees."""
    return 1, 300


@hookimpl
def harness_methods() -> Iterator[Method]:
    """Provide both, with trees for their size."""
    yield sklearn_method(
        LGBMClassifier,
        "lightgbm",
        size="n_estimators",
        sizes=most_trees,
        params={"n_jobs": 1, "verbose": -1, "min_child_samples": 5},
        space={
            "learning_rate": log_uniform(0.02, 0.5),
            "num_leaves": choice([3, 7, 15, 31]),
            "reg_lambda": choice([0.0, 0.1, 1.0, 10.0]),
        },
        reference="ke2017",
    )
    yield sklearn_method(
        XGBClassifier,
        "xgboost",
        size="n_estimators",
        sizes=most_trees,
        # what its own None stands for, so that a search begins there
        params={"n_jobs": 1, "learning_rate": 0.3, "max_depth": 6, "reg_lambda": 1.0},
        space={
            "learning_rate": log_uniform(0.02, 0.5),
            "max_depth": choice([2, 3, 4, 6]),
            "reg_lambda": choice([0.0, 0.1, 1.0, 10.0]),
        },
        reference="chen2016",
    )
