"""The search of a trial: what its assignment says of tuning, as `tune` takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from harness.datasets import Features
from harness.plugin.search_space import Distribution, contains
from harness.trial.assignment import Assignment
from harness.trial.searched_space import searched_space
from harness.trial.tuning import tune


def space_of(assignment: Assignment) -> Mapping[str, Distribution]:
    """Return over what the parameters of a trial are searched; empty if nothing is."""
    if assignment.tuning is None:
        return {}
    return searched_space(assignment.method, assignment.params, assignment.ranges)


def searched_setting(
    assignment: Assignment,
    make: Callable[..., Any],
    X: Features,
    y: np.ndarray,
    seed: np.random.SeedSequence,
    learn: Callable[[Any, Features, np.ndarray], Any] | None = None,
) -> tuple[dict[str, Any], float | None]:
    """Search on some points, labeled ones first.

    Parameters
    ----------
    assignment : Assignment
        With a space to search.
    make : callable (**setting) -> estimator
    X : (n, d) array or csr_matrix
    y : (n,) array
    seed : SeedSequence
    learn : callable (estimator, X, y), optional
        As `tune` takes it.

    Returns
    -------
    setting : dict
    score : float or None
        None if no fold could be scored.
    """
    tuning, space = assignment.tuning, space_of(assignment)
    assert tuning is not None, "what is not tuned has no space"
    assert assignment.search is not None, "what is tuned is given its search"
    setting, score = tune(
        make,
        space,
        X,
        y,
        search=assignment.search.function,
        trials=tuning.trials,
        task=assignment.task,
        n_classes=assignment.n_classes,
        uses_unlabeled=assignment.method.uses_unlabeled,
        metric=assignment.metric,
        folds=tuning.folds,
        rng=np.random.default_rng(seed),
        head_params=assignment.method.head_params,
        defaults=_defaults(assignment, space),
        standard_errors=tuning.standard_errors,
        groups=assignment.groups[: len(y)] if len(assignment.groups) else None,
        validation=len(assignment.y_search) if tuning.validation else 0,
        learn=learn,
    )
    return setting, None if np.isnan(score) else score


def _defaults(assignment: Assignment, space: Mapping[str, Distribution]) -> dict[str, Any] | None:
    """Return the setting that stands in doubt: none if a study's range leaves it out."""
    defaults = {name: assignment.method.default(name) for name in space}
    left_out = (
        name in space and not contains(over, defaults[name])
        for name, over in assignment.ranges.items()
    )
    return None if any(left_out) else defaults
