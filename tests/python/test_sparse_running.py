"""`harness.run` with a sparse matrix: who takes it, who declines, and a model that comes of it."""

import os
from functools import partial
from pathlib import Path

import forked
import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array
from sklearn.linear_model import LogisticRegression

import harness
from harness.plugin.shape import csr_bytes

pytestmark = pytest.mark.slow

N, D = 400, 3000
X = csr_matrix(random_array((N, D), density=0.01, rng=0))
Y = np.asarray(X[:, :300].sum(axis=1)).ravel() > np.median(np.asarray(X[:, :300].sum(axis=1)))
STUDY = {
    "title": "Words",
    "datasets": {"words": (X, Y.astype(int))},
    "methods": ["linear-svm", "clusk", LogisticRegression, "prior"],
    "labeled": 200,
    "budgets": ["3MB"],
    "seeds": 1,
    "cases": [
        {"data": "counted"},
        {"data": "mapped", "methods": ["linear-svm"], "budgets": ["20MB"]},
    ],
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("sparse"))
    try:
        yield harness.run(STUDY, cores=2).trials
    finally:
        os.chdir(before)


def of(rows, method, budget):
    (row,) = rows[(rows.method == method) & (rows.budget == budget)].itertuples()
    return row


@pytest.mark.parametrize("method", ["linear-svm", "logistic-regression"])
def test_who_takes_it_runs_in_less_than_the_dense_points_take(rows, method):
    row = of(rows, method, "3MB")
    assert (row.outcome, row.reason) == ("ok", "")
    assert row.peak_bytes <= row.planned_bytes < 8 * 200 * D
    assert row.data_bytes < 1.1 * csr_bytes(N, X.nnz) + N


def test_who_takes_dense_data_declines_and_says_so(rows):
    row = of(rows, "clusk", "3MB")
    assert row.outcome == "infeasible"
    assert row.reason.startswith(
        "takes dense data only; the set is sparse, with 3,000 columns and 1 % nonzeros: dense "
        "its 400 points are 9.6 MB"
    )


def test_chance_and_mapped_rows(rows):
    assert of(rows, "prior", "3MB").auc == 0.5
    mapped, counted = of(rows, "linear-svm", "20MB"), of(rows, "linear-svm", "3MB")
    assert mapped.auc == counted.auc
    assert mapped.data_bytes < counted.data_bytes


def test_a_model_is_taken_home_and_takes_sparse_rows(rows):
    number = str(of(rows, "linear-svm", "3MB").Index)
    study = Path("results").iterdir().__next__().name
    fit = partial(forked.command, "fit", study, number, "-o", cwd=Path.cwd())
    done = fit("model.joblib")
    assert done.returncode == 0, done.stderr
    model = harness.load_model("model.joblib")
    sparse = model.decision_function(X, prepared=True)
    np.testing.assert_allclose(sparse, model.decision_function(X.toarray(), prepared=True))
    with pytest.raises(harness.errors.HarnessError, match="give them encoded and scaled"):
        model.predict(X)
    done = fit("model.onnx")
    assert "is of sparse data, and a file of ONNX takes dense rows" in done.stderr
