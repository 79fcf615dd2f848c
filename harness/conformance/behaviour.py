"""What every estimator must do: predict in the agreed form, leave its inputs alone, repeat itself.

Each check takes a method and a problem and returns its advice, empty where it passes.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.conformance.finding import NotApplicableError
from harness.conformance.problems import Problem, build, fitted, predictions
from harness.plugin.abilities import transduced_labels
from harness.plugin.method import Method

SOLVER_SHARE = 0.01
"""Difference of scores, as a share of their spread, that a solver's stopping rule explains."""


def predicts(method: Method, problem: Problem) -> str:
    """Fit where labels are partly missing, predict, and find finite predictions of right shape."""
    estimator = build(method, problem)
    returned = estimator.fit(problem.X.copy(), problem.y.copy())
    if returned is not estimator:
        return f"fit returned {type(returned).__name__}; end it with `return self`"
    try:
        found = predictions(estimator, problem)
    except ValueError as error:
        return f"{error}; correct what it returns (see the page on plugins, `predictions`)"
    except AttributeError as error:
        return f"out of sample the harness calls predict or decision_function: {error}; add it"
    return _wrong_labels(problem, found) or _disagreement(estimator, problem, found)


def _wrong_labels(problem: Problem, found: dict[str, np.ndarray]) -> str:
    for name, values in found.items():
        if name.endswith("labels"):
            foreign = np.setdiff1d(values, np.arange(problem.n_classes))
            if foreign.size:
                points = name.removesuffix(" labels")
                return (
                    f"{points} points got the labels {foreign.tolist()[:5]}; allowed are "
                    f"0 .. {problem.n_classes - 1}: -1 marks a point without a label and is no "
                    "class, so leave it out of classes_"
                )
    return ""


def _disagreement(estimator: Any, problem: Problem, found: dict[str, np.ndarray]) -> str:
    """Compare what is said twice: labels with the scores they must follow from."""
    if problem.task in ("binary", "multiclass"):
        hidden = ~problem.labeled
        said = transduced_labels(estimator)
        if said is not None and "seen scores" in found and hidden.any():
            said = np.asarray(said)
            if said.shape != problem.y.shape:
                return (
                    f"transduction_ has shape {said.shape}, expected {problem.y.shape}: one label "
                    "for each point of fit"
                )
            wrong = np.count_nonzero(said[hidden] != found["seen labels"][hidden])
            if wrong:
                return (
                    f"transduction_ differs from the labels that its scores give for {wrong} of "
                    f"{hidden.sum()} unlabeled points; derive it from decision_scores_ or "
                    "label_distributions_ (positive score: second class; else the largest)"
                )
    if "new scores" in found:
        said = np.asarray(estimator.predict(problem.X_new.copy()))
        wrong = np.count_nonzero(said != found["new labels"])
        if wrong:
            return (
                f"predict differs from the sign or argmax of the scores for {wrong} of "
                f"{len(said)} points; derive predict from decision_function"
            )
    return ""


def leaves_inputs_alone(method: Method, problem: Problem) -> str:
    """Compare X and y before and after, then do it again with arrays that refuse to be written."""
    X, y, X_new = problem.X.copy(), problem.y.copy(), problem.X_new.copy()
    estimator = build(method, problem).fit(X, y)
    estimator.predict(X_new)
    pairs = {"X in fit": (X, problem.X), "y in fit": (y, problem.y)}
    pairs["X in predict"] = (X_new, problem.X_new)
    for name, (after, before) in pairs.items():
        changed = np.count_nonzero(~((after == before) | (np.isnan(after) & np.isnan(before))))
        if changed:
            return (
                f"wrote to {changed} of {before.size} entries of {name}; work on a copy of what "
                "is changed (and count the copy in `storage`)"
            )
    for array in (X, y, X_new):
        array.flags.writeable = False
    try:
        build(method, problem).fit(X, y).predict(X_new)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        return f"needs writable inputs ({error}); a trial's X and y are read-only, so copy first"
    return ""


def can_be_pickled(method: Method, problem: Problem) -> str:
    """Pickle the estimator before and after fit; the copy must predict the same."""
    try:
        pickle.loads(pickle.dumps(build(method, problem)))
        estimator = fitted(method, problem)
        copy = pickle.loads(pickle.dumps(estimator))
    except Exception as error:
        return (
            f"cannot be pickled ({type(error).__name__}: {error}); keep lambdas, open files and "
            "local classes out of its attributes"
        )
    changed = differing(predictions(estimator, problem), predictions(copy, problem))
    if changed:
        return f"predicts other {changed} after pickling; keep all of its state in attributes"
    return ""


def is_deterministic(method: Method, problem: Problem) -> str:
    """Fit twice with one random_state and compare the predictions bit for bit."""
    first = predictions(fitted(method, problem, 7), problem)
    second = predictions(fitted(method, problem, 7), problem)
    changed = differing(first, second)
    if not changed:
        return ""
    if takes_random_state(method):
        return (
            f"two fits with random_state=7 gave different {changed}; draw every random number "
            "from check_random_state(self.random_state) in fit"
        )
    return (
        f"two fits on the same data gave different {changed} and there is no random_state; add "
        "the parameter random_state and draw every random number from it"
    )


def leaves_global_random_state_alone(method: Method, problem: Problem) -> str:
    """See whether numpy's or Python's global generators are used, or set."""
    found = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002 (the legacy state is what is checked)
        random.seed(seed)
        before = _global_state()
        found.append(predictions(fitted(method, problem, 7), problem))
        used = [name for name, state in _global_state().items() if state != before[name]]
        if used:
            which = " and ".join(used)
            return (
                f"drew from or set the global state of {which}; draw from "
                "check_random_state(self.random_state) instead"
            )
    changed = differing(*found)
    if changed and not is_deterministic(method, problem):
        return f"np.random.seed changes its {changed}; draw from random_state only"
    return ""


def space_is_valid(method: Method, problem: Problem) -> str:
    """Fit at both ends of every tuned parameter's range: what tuning may try must work."""
    if not method.space:
        raise NotApplicableError("nothing is tuned")
    for name, distribution in method.space.items():
        values = distribution.grid(2)
        for value in values if len(values) <= 2 else (values[0], values[-1]):
            try:
                predictions(fitted(method, problem, **{name: value}), problem)
            except Exception as error:
                return (
                    f"{name}={value!r}, which `space` allows, raised {type(error).__name__}: "
                    f"{error}; narrow the range or accept the value"
                )
    return ""


def takes_random_state(method: Method) -> bool:
    """Tell whether the estimator has a parameter random_state that the plugin leaves open."""
    return "random_state" in method.parameters and "random_state" not in method.params


def _global_state() -> dict[str, Any]:
    state = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    key, position = state["key"].tobytes(), state["pos"]
    return {"np.random": (key, position), "Python's random": random.getstate()}


def differing(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> str:
    """Name the predictions that are not equal bit for bit; empty where all are."""
    names = [
        name
        for name in first
        if name not in second or not np.array_equal(first[name], second[name])
    ]
    return " and ".join(name.replace("seen", "transductive").replace("new ", "") for name in names)


CHECKS: dict[str, Callable[[Method, Problem], str]] = {
    "inputs unchanged": leaves_inputs_alone,
    "picklable": can_be_pickled,
    "deterministic": is_deterministic,
    "global random state": leaves_global_random_state_alone,
    "search space": space_is_valid,
}
"""What is checked once `predicts` has passed."""
