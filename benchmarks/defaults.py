"""Defaults on problems of no study: decision thresholds, draws, and when a search leaves defaults.

`python benchmarks/defaults.py thresholds` prints mean accuracy, balanced accuracy and AUC of some
methods with `decision_threshold` "zero" and "share", with stratified and with uniform draws of the
labeled points. `python benchmarks/defaults.py tuning` prints the test score of the setting that a
search takes at different `standard_errors`. `python benchmarks/defaults.py spaces --methods
harmonic cmn laprls` prints accuracy and AUC of the setting that a search takes from the ranges of
before and from today's.

The problems are generated, or pairs and parts of sets that come with scikit-learn; with
`HARNESS_MIRROR`, also sets whose targets no study has: "choose" is what defaults were chosen on,
"confirm" are others, which had no part in it; "clusters" are problems of the kind that graphs are
for, on which ranges of widths are compared.
"""

import argparse
import os
import warnings
from collections.abc import Callable

import numpy as np
import threadpoolctl
from sklearn import datasets as generated
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.preprocessing import scale

from harness.datasets import load_catalog, split
from harness.datasets.preparation import load
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.plugin.registry import Registry
from harness.plugin.search_space import choice, log_uniform
from harness.trial.prediction import predict
from harness.trial.run import make_estimator
from harness.trial.search import grid, random
from harness.trial.tuning import tune

SIZES = {"n_landmarks": 100, "n_components": 100, "rank": 100, "cache_rows": 256}
Problem = tuple[np.ndarray, np.ndarray]
SEARCHES = {"grid": grid, "random": random}
EARLIER = {
    "harmonic": {"sigma": choice([0.15, 0.25, 0.5, 1.0])},
    "cmn": {"sigma": choice([0.15, 0.25, 0.5, 1.0])},
    "svm": {"C": log_uniform(1e-2, 1e3), "sigma": choice([0.25, 0.5, 1.0, 2.0])},
    "nysck": {"C": log_uniform(1e-2, 1e3), "sigma": choice([0.25, 0.5, 1.0, 2.0])},
    "laprls": {
        "alpha": log_uniform(1e-6, 0.1),
        "manifold": choice([1.0, 10.0]),
        "sigma": choice([1.0, 3.0]),
    },
}
EARLIER["laprls-landmarks"] = EARLIER["laprls"]


def _pair(name: str, a: int, b: int) -> Problem:
    X, y = load(load_catalog()[name])
    kept = (y == a) | (y == b)
    return X[kept], (y[kept] == b).astype(int)


def _above(name: str, quantile: float) -> Problem:
    X, y = load(load_catalog()[name])
    return X, (y > np.quantile(y, quantile)).astype(int)


def _made(make: Callable, **how: object) -> Problem:
    X, y = make(n_samples=3000, random_state=0, **how)
    return scale(X), (y > 0).astype(int)


def _one(load_set: Callable, label: int) -> Problem:
    X, y = load_set(return_X_y=True)
    return scale(X), (y == label).astype(int)


INFORMATIVE = {"n_features": 20, "n_informative": 6, "weights": [0.8], "flip_y": 0.05}
PROBLEMS = {
    "choose": {
        "quantiles": lambda: _made(generated.make_gaussian_quantiles, n_features=6, n_classes=2),
        "informative": lambda: _made(generated.make_classification, **INFORMATIVE),
        "wine, the first": lambda: _one(generated.load_wine, 0),
    },
    "confirm": {
        "hastie": lambda: _made(generated.make_hastie_10_2),
        "circles": lambda: _made(generated.make_circles, noise=0.2, factor=0.5),
        "iris, the second": lambda: _one(generated.load_iris, 1),
    },
    "clusters": {
        "rings": lambda: _made(generated.make_circles, noise=0.08, factor=0.5),
        "moons": lambda: _made(generated.make_moons, noise=0.15),
    },
}
MIRRORED = {
    "choose": {
        "fashion 2, 4": lambda: _pair("fashion_mnist", 2, 4),
        "abalone, above the median": lambda: _above("abalone", 0.5),
        "elevators, upper quarter": lambda: _above("elevators", 0.75),
        "bank32nh, above the median": lambda: _above("bank32nh", 0.5),
        "covertype 1, 2": lambda: _pair("covertype_subset", 0, 1),
    },
    "confirm": {
        "mnist 3, 5": lambda: _pair("mnist", 3, 5),
        "cpu_act, upper quarter": lambda: _above("cpu_act", 0.75),
        "house_16H, upper quarter": lambda: _above("house_16H", 0.75),
        "ailerons, above the median": lambda: _above("ailerons", 0.5),
    },
}


def draw(problem: Problem, n: int, n_labeled: int, seed: int, stratified: bool) -> tuple:
    """Return X with labeled points first, all labels, and those that are known."""
    X, y = problem
    rows = np.random.default_rng(seed).permutation(len(X))[:n]
    X, y = X[rows], y[rows]
    rules = {"transductive": True, "stratified": stratified}
    parts = split(y, "binary", n_labeled, rules, seed)
    order = np.concatenate([parts.labeled, parts.unlabeled])
    X, y = np.ascontiguousarray(X[order]), y[order]
    return X, y, np.where(np.arange(len(y)) < n_labeled, y, -1)


def fitted(method: object, params: dict, data: tuple, n_labeled: int, seed: int) -> object:
    """Fit a method as a trial would."""
    X, _, known = data
    size = SIZES.get(method.size)
    estimator = make_estimator(method, params, size=size, n_classes=2, random_state=seed)
    seen = slice(None) if method.uses_unlabeled else slice(n_labeled)
    return estimator.fit(X[seen], known[seen])


def scores(estimator: object, data: tuple, n_labeled: int) -> list[float]:
    """Return accuracy, balanced accuracy and AUC on the points without a label."""
    X, y, _ = data
    found = predict(estimator, X[n_labeled:], "binary", 2)
    truth = y[n_labeled:]
    return [
        np.mean(found["labels"] == truth),
        balanced_accuracy_score(truth, found["labels"]),
        roc_auc_score(truth, found["scores"]),
    ]


def problems(options: argparse.Namespace, stratified: bool) -> list[tuple]:
    """Draw every problem of the group, at every number of labels and seed."""
    named = dict(PROBLEMS[options.group])
    if os.environ.get("HARNESS_MIRROR"):
        named |= MIRRORED.get(options.group, {})
    return [
        (draw(problem, options.points, labeled, seed, stratified), labeled, seed)
        for problem in (make() for make in named.values())
        for labeled in options.labeled
        if labeled <= min(options.points, len(problem[1])) // 2
        for seed in range(options.seeds)
    ]


def thresholds(options: argparse.Namespace) -> None:
    """Print what thresholds and draws are worth."""
    print(f"{'':12}{'':12}{'accuracy':>22}{'balanced accuracy':>22}{'AUC':>11}")
    print(f"{'':24}" + f"{'zero':>11}{'share':>11}" * 2 + f"{'either':>11}")
    for stratified in (True, False):
        drawn = problems(options, stratified)
        for name in options.methods:
            method = options.registry.get("methods", name)[0]
            table = [[], []]
            for data, labeled, seed in drawn:
                if len(set(data[1][:labeled])) < 2:
                    continue
                for rows, rule in zip(table, ("zero", "share"), strict=True):
                    model = fitted(method, {"decision_threshold": rule}, data, labeled, seed)
                    rows.append(scores(model, data, labeled))
            zero, share = np.mean(table, axis=1)
            how = "stratified" if stratified else "uniform"
            cells = (zero[0], share[0], zero[1], share[1], zero[2])
            print(f"{name:12}{how:12}" + "".join(f"{cell:11.3f}" for cell in cells), flush=True)


def taken(
    method: object,
    space: dict,
    data: tuple,
    seed: int,
    errors: float,
    search: Callable = grid,
    trials: int = 12,
) -> dict:
    """Return the setting that a search takes, by cross-validated AUC."""
    X, _, known = data

    def make(**setting: object) -> object:
        size = SIZES.get(method.size)
        return make_estimator(method, setting, size=size, n_classes=2, random_state=seed)

    return tune(
        make,
        space,
        X,
        known,
        search=search,
        trials=trials,
        task="binary",
        n_classes=2,
        uses_unlabeled=method.uses_unlabeled,
        metric=primary_metric("binary", (), BUILT_IN),
        folds=5,
        rng=np.random.default_rng(seed),
        head_params=method.head_params,
        defaults={key: method.default(key) for key in space},
        standard_errors=errors,
    )[0]


def spaces(options: argparse.Namespace) -> None:
    """Print what the setting is worth that is taken from ranges of before, and from today's."""
    print(f"{'':24}{'accuracy':>22}{'AUC':>22}")
    print(f"{'':24}" + f"{'before':>11}{'today':>11}" * 2)
    drawn = problems(options, stratified=True)
    search = SEARCHES[options.search], options.trials
    for name in options.methods:
        method = options.registry.get("methods", name)[0]
        found = []
        for data, labeled, seed in drawn:
            row = []
            for space in (EARLIER[name], method.space):
                setting = taken(method, space, data, seed, 1.0, *search)
                row.append(scores(fitted(method, setting, data, labeled, seed), data, labeled))
            found.append(row)
        before, today = np.mean(found, axis=0)
        cells = (before[0], today[0], before[2], today[2])
        print(f"{name:24}" + "".join(f"{cell:11.3f}" for cell in cells), flush=True)


def tuning(options: argparse.Namespace) -> None:
    """Print the scores of the settings that are taken at different `standard_errors`."""
    print(f"{'':36}{'accuracy':>33}{'AUC':>33}")
    print(f"{'standard_errors':36}" + "".join(f"{errors:>11}" for errors in (0, 1, 2) * 2))
    for stratified in (True, False):
        drawn = problems(options, stratified)
        for name in options.methods:
            method = options.registry.get("methods", name)[0]
            found = []
            for data, labeled, seed in drawn:
                # cross-validation needs two labels of a class
                if np.bincount(data[1][:labeled], minlength=2).min() < 2:
                    continue
                row = []
                for errors in (0.0, 1.0, 2.0):
                    setting = taken(method, method.space, data, seed, errors)
                    row.append(scores(fitted(method, setting, data, labeled, seed), data, labeled))
                found.append(row)
            cells = np.mean(found, axis=0)
            how = "stratified" if stratified else "uniform"
            cells = "".join(f"{x:11.3f}" for x in (*cells[:, 0], *cells[:, 2]))
            print(f"{name:24}{how:12}{cells}", flush=True)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["thresholds", "tuning", "spaces"])
    parser.add_argument("--group", choices=list(PROBLEMS), default="choose")
    parser.add_argument("--methods", nargs="+", default=["svm", "nysck", "harmonic", "cmn"])
    parser.add_argument("--labeled", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--search", choices=list(SEARCHES), default="grid")
    parser.add_argument("--trials", type=int, default=24)
    options = parser.parse_args()
    options.registry = Registry.load()
    warnings.simplefilter("ignore")
    with threadpoolctl.threadpool_limits(1):
        {"thresholds": thresholds, "tuning": tuning, "spaces": spaces}[options.what](options)


if __name__ == "__main__":
    main()
