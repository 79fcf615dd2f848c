"""Trials on sparse data: what they predict, and what they read, map and hand to a method."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import load_npz
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from harness import Shape, choice
from harness.plugin.registry import Registry
from harness.plugin.shape import csr_bytes
from harness.sandbox import Monitor
from harness.scikit_learn import sklearn_method
from harness.study.schema import Tuning
from harness.trial.generated import assign
from harness.trial.mapped import write_rows
from harness.trial.run import run_trial

SHAPE = Shape(90, 400, 50, 2, row_nnz=6.0)
LOGISTIC = sklearn_method(
    make_pipeline(MaxAbsScaler(), LogisticRegression(tol=1e-10, max_iter=1000)),
    "logistic",
    space={"logisticregression__C": choice([0.1, 1.0, 10.0])},
)
# of sparse points scikit-learn solves by steps
RIDGE = sklearn_method(Ridge, "ridge", params={"tol": 1e-12})
TUNED = Tuning(search="grid", trials=3, folds=3)


class Kept:
    """What a trial sends."""

    def __init__(self):
        self.parts = []

    def event(self, kind, **facts):
        pass

    def array(self, name, array):
        self.parts.append(np.asarray(array, dtype=np.float64))


def said(assignment):
    kept = Kept()
    # a sequence counts the seeds that it has given
    assignment = replace(assignment, seed=np.random.SeedSequence(0))
    facts, _ = run_trial(assignment, Monitor(kept, None, None, -1))
    return facts, np.concatenate([part.ravel() for part in kept.parts])


def dense(assignment, folder):
    """The same trial on the same points with their zeros."""
    path = folder / "dense.npy"
    np.save(path, load_npz(assignment.features).toarray())
    return replace(assignment, features=path)


@pytest.mark.parametrize("inductive", [False, True])
@pytest.mark.parametrize("tuned", [False, True])
def test_it_predicts_what_it_predicts_of_dense_points(tmp_path, inductive, tuned):
    shape = replace(SHAPE, n_test=1500) if inductive else SHAPE
    trial = assign(LOGISTIC, "binary", shape, None, tmp_path, inductive=inductive)
    if tuned:
        search, _ = Registry([]).get("searches", "grid")
        trial = replace(trial, tuning=TUNED, search=search)
    facts, found = said(trial)
    expected_facts, expected = said(dense(trial, tmp_path))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    assert facts["params"] == expected_facts["params"]
    if tuned:
        assert facts["tuned_score"] == pytest.approx(expected_facts["tuned_score"], abs=1e-9)


def test_a_regression(tmp_path):
    trial = assign(RIDGE, "regression", replace(SHAPE, n_classes=0), None, tmp_path)
    (_, found), (_, expected) = said(trial), said(dense(trial, tmp_path))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_it_holds_the_bytes_of_its_nonzeros(tmp_path):
    """No more than 1.1 times them, of the rows that the fit is given."""
    trial = assign(LOGISTIC, "binary", SHAPE, None, tmp_path)
    facts, _ = said(trial)
    rows = load_npz(trial.features)[trial.seen]
    labels = len(trial.seen)
    assert rows.shape[0] == 90
    assert facts["data_bytes"] == csr_bytes(90, rows.nnz) + labels
    assert facts["data_bytes"] <= 1.1 * csr_bytes(90, rows.nnz)


def test_rows_that_are_mapped_are_those_that_would_be_read(tmp_path):
    trial = assign(LOGISTIC, "binary", SHAPE, None, tmp_path)
    mapped = write_rows(trial, tmp_path / "rows.npz")
    assert (load_npz(mapped.mapped) != load_npz(trial.features)[trial.seen]).nnz == 0
    (facts, found), (_, expected) = said(mapped), said(trial)
    np.testing.assert_array_equal(found, expected)
    assert facts["data_bytes"] == len(trial.seen)
