"""What a trial's search is shown, and what its fit is."""

import warnings
import weakref
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from harness import Kernel, Method, Search, choice
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.plugin.registry import FileSource
from harness.sandbox import Monitor
from harness.study.schema import Tuning
from harness.trial.assignment import Assignment
from harness.trial.run import run_trial
from harness.trial.search import grid
from harness.trial.searched_space import searched_space

FITS = []


class Recorder(BaseEstimator):
    def __init__(self, a=1):
        self.a = a

    def fit(self, X, y):
        known = np.isfinite(y) if y.dtype.kind == "f" else y >= 0
        FITS.append((X[:, 0].astype(int).tolist(), np.flatnonzero(known).tolist()))
        return self

    def predict(self, X):
        return np.zeros(len(X))


SENT = []


class SilentSender:
    def event(self, kind, **facts):
        pass

    def array(self, name, array):
        SENT.append(len(array))


class Noted(Recorder):
    """Notes the settings that are fitted."""

    settings: ClassVar[list] = []

    def __init__(self, a=1, b="x"):
        super().__init__(a)
        self.b = b

    def fit(self, X, y):
        self.settings.append((self.a, self.b))
        return super().fit(X, y)


def all_settings(space, evaluate, trials, rng):
    evaluate([{"a": 1}, {"a": 2}])


def run(
    folder,
    *,
    uses_unlabeled,
    size=None,
    shown=4,
    tuning=None,
    estimator=Recorder,
    transductive=False,
    search=None,
    looks=("fit", "predict"),
    **changes,
):
    n = 40
    X = np.arange(n, dtype=float)[:, None]
    y = 2.0 * X[:, 0]
    np.save(folder / "X.npy", X)
    method = Method(
        "m",
        estimator,
        lambda shape, size: 1.0,
        tasks={"regression"},
        uses_unlabeled=uses_unlabeled,
        size="n_unlabeled" if size else None,
        features=looks,
        space={"a": choice([1, 2])} if looks else {},
    )
    unlabeled = np.arange(6, 30)
    assignment = Assignment(
        method=method,
        params={},
        size=size,
        task="regression",
        n_classes=0,
        features=folder / "X.npy",
        labeled=np.arange(6),
        unlabeled=unlabeled,
        test=np.arange(30, n),
        y_labeled=y[:6],
        transductive=transductive,
        mapped=None,
        tuning=tuning or Tuning(folds=2),
        metric=primary_metric("regression", (), BUILT_IN),
        seed=np.random.SeedSequence(0),
        search=search or Search("all", all_settings),
        y_search=y[unlabeled[:shown]],
        **changes,
    )
    FITS.clear()
    SENT.clear()
    facts, _ = run_trial(assignment, Monitor(SilentSender(), None, None, -1))
    return FITS[:-1], FITS[-1], facts["warnings"]


@pytest.mark.parametrize(("uses_unlabeled", "size"), [(False, None), (True, None), (True, 8)])
def test_a_search_is_shown_more_labels_than_the_fit(tmp_path, uses_unlabeled, size):
    tried, (rows, known), _ = run(tmp_path, uses_unlabeled=uses_unlabeled, size=size)
    kept = range(6 + (size or 24 if uses_unlabeled else 0))
    assert (rows, known) == ([*kept], [*range(6)])
    assert len(tried) == 4
    for points, labels in tried:
        # half of the ten are held out: left out, or without their label
        assert len(labels) == 5
        assert {points[i] for i in labels} <= set(range(10))
        assert points == ([*kept] if uses_unlabeled else sorted(points))
    assert {points[i] for points, labels in tried for i in labels} == set(range(10))


def test_where_a_subsample_is_smaller_than_what_is_shown_the_search_has_more(tmp_path):
    tried, (rows, _), _ = run(tmp_path, uses_unlabeled=True, size=2)
    assert rows == [*range(8)]
    assert all(points == [*range(10)] for points, _ in tried)


def test_points_that_a_budget_does_not_bear_are_predicted_and_not_fitted(tmp_path):
    tried, (rows, known), _ = run(tmp_path, uses_unlabeled=True, n_kept=8, transductive=True)
    assert rows == [*range(14)]
    assert known == [*range(6)]
    assert all(points == [*range(14)] for points, _ in tried)
    assert sum(SENT) == 24


def test_features_that_no_one_looks_at_are_not_read(tmp_path):
    _, (rows, known), _ = run(tmp_path, uses_unlabeled=True, looks=set(), transductive=True)
    assert rows == [0] * 30
    assert known == [*range(6)]
    assert sum(SENT) == 24


class Watches(Recorder):
    """Sees whether the points that it was fitted to are still held while it predicts."""

    held = None

    def fit(self, X, y):
        self.points_ = weakref.ref(X)
        return super().fit(X, y)

    def predict(self, X):
        type(self).held = self.points_() is not None
        return super().predict(X)


class Keeps(Watches):
    def fit(self, X, y):
        self.X_ = X
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "transductive", "uses_unlabeled", "held"),
    [
        (Watches, False, True, False),
        (Keeps, False, True, True),
        (Watches, True, True, True),
        (Watches, True, False, False),
    ],
)
def test_points_of_the_fit_are_let_go_where_new_ones_are_predicted(
    tmp_path, estimator, transductive, uses_unlabeled, held
):
    run(tmp_path, uses_unlabeled=uses_unlabeled, estimator=estimator, transductive=transductive)
    assert estimator.held == held


def test_an_exception_of_a_plugin_notes_its_place_there(tmp_path):
    plugin = tmp_path / "raising.py"
    plugin.write_text(
        "from test_run import Recorder\n"
        "class Raising(Recorder):\n"
        "    def fit(self, X, y):\n"
        "        return np.linalg.inv([[0]])\n"
        "import numpy as np\n"
    )
    raising = FileSource("raising", "", plugin).load().Raising
    with pytest.raises(np.linalg.LinAlgError) as raised:
        run(tmp_path, uses_unlabeled=True, tuning=Tuning(folds=2), estimator=raising)
    assert raised.value.__notes__ == ["(raising.py, line 4)"]


def test_warnings_of_the_fit_are_told_once_and_those_of_the_search_are_not(tmp_path, monkeypatch):
    def fit(self, X, y):
        FITS.append((X, y))
        if len(X) == 6:
            for _ in range(2):
                warnings.warn("no minimum", UserWarning, stacklevel=1)
        else:
            warnings.warn("of the search", UserWarning, stacklevel=1)
        return self

    monkeypatch.setattr(Recorder, "fit", fit)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        *_, told = run(tmp_path, uses_unlabeled=False, shown=0)
    assert told == ["UserWarning: no minimum"]


def test_nothing_shown_changes_nothing(tmp_path):
    tried, *_ = run(tmp_path, uses_unlabeled=True, shown=0)
    assert all({points[i] for i in labels} <= set(range(6)) for points, labels in tried)


@pytest.mark.parametrize("uses_unlabeled", [False, True])
def test_a_validation_set_scores_fits_to_the_trials_own_labels(tmp_path, uses_unlabeled):
    tried, last, _ = run(tmp_path, uses_unlabeled=uses_unlabeled, tuning=Tuning(validation=4))
    assert tried == [last] * 2


@pytest.mark.parametrize(
    ("params", "searched"),
    [
        ({}, {"C", "sigma"}),
        ({"C": 1.0}, {"sigma"}),
        ({"kernel": "poly2"}, {"C", "sigma"}),
        ({"kernel": "linear"}, {"C"}),
        ({"kernel": Kernel("product", np.matmul)}, {"C"}),
        ({"kernel": Kernel("wide", np.matmul, unit=np.std)}, {"C", "sigma"}),
        ({"kernel": "one of its own"}, {"C", "sigma"}),
    ],
)
def test_a_search_does_not_turn_the_width_of_a_kernel_that_has_none(params, searched):
    class Machine:
        def __init__(self, kernel="rbf", sigma=1.0, C=1.0):
            pass

    space = {"sigma": choice([0.5, 1.0]), "C": choice([1.0, 10.0])}
    method = Method("machine", Machine, lambda shape, size: 8, space=space)
    assert set(searched_space(method, params)) == searched


def test_nor_where_the_method_itself_fixes_the_kernel():
    class Machine:
        def __init__(self, kernel="rbf", sigma=1.0):
            pass

    fixed = Method(
        "machine",
        Machine,
        lambda shape, size: 8,
        space={"sigma": choice([0.5, 1.0])},
        params={"kernel": "linear"},
    )
    assert not searched_space(fixed, {})


@pytest.mark.parametrize(
    ("ranges", "tried"),
    [
        ({}, {(1, "x"), (2, "x")}),
        # what the method has no space for, and the defaults too
        ({"b": choice(["x", "y"])}, {(1, "x"), (2, "x"), (1, "y"), (2, "y")}),
        # a range that leaves the default out is all that is tried
        ({"a": choice([3, 4])}, {(3, "x"), (4, "x")}),
        ({"a": choice([3, 1])}, {(3, "x"), (1, "x")}),
    ],
)
def test_a_study_s_ranges_are_searched(tmp_path, ranges, tried):
    Noted.settings.clear()
    run(
        tmp_path,
        uses_unlabeled=True,
        estimator=Noted,
        shown=0,
        search=Search("grid", grid),
        ranges=ranges,
    )
    assert set(Noted.settings) == tried
