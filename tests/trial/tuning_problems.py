"""What tests of tuning have in common."""

import numpy as np

from harness.metrics.functions import BUILT_IN

METRICS = {metric.name: metric for metric in BUILT_IN}


def every(settings):
    """Return a search that has these settings scored, whatever the space."""
    return {
        "search": lambda space, evaluate, trials, rng: evaluate(settings),
        "trials": len(settings),
    }


def arguments(**changes):
    return {
        "task": "binary",
        "n_classes": 2,
        "uses_unlabeled": False,
        "metric": METRICS["accuracy"],
        "folds": 5,
        "rng": np.random.default_rng(0),
    } | changes
