"""SSOKMF: few labels, sizes at the edge, and objectives that its two solvers are honest about."""

import functools
import tracemalloc
import warnings

import numpy as np
import pytest
from blobs import blobs
from dense import SETS, gaussian, off
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from ssokmf import SSOKMF, storage
from ssokmf.factorisation import Factorisation, Moments, Rounds

from harness import Shape


def digits():
    """Return a tenth of the digits' labels, and the truth."""
    X, truth = load_digits(return_X_y=True)
    return X, np.where(np.random.default_rng(0).random(len(X)) < 0.1, truth, -1), truth


def fit(X, y, size=20, **params):
    """Return a model, and the warnings that it gave that it has not converged."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", ConvergenceWarning)
        model = SSOKMF(size, random_state=0, **params).fit(X, y)
    return model, given


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly2"])
def test_the_objective_never_rises(kernel):
    X, y, _ = blobs(50, 3, labeled=20)
    model, _ = fit(X, y, 40, rank=10, kernel=kernel, tol=0)
    found = np.array(model.objective_)
    assert len(found) == 51
    assert (np.diff(found) <= 1e-9 * found[0]).all()
    assert found[-1] < 0.9 * found[0]


def equation_4_16(model, X, y):
    """Return the objective at Wx and Wy, point by point, in float64."""
    k = model._kernel(model._near(X, np.float64), model.landmarks_.astype(float))
    K = model._kernel(*[model.landmarks_.astype(float)] * 2)
    Wx, Wy, total = model.Wx_, model.Wy_, model.l1 * (model.Wx_**2).sum()
    total += model.l2 * (Wy**2).sum()
    for row, own, label in zip(k, model._kernel.diagonal(X), y, strict=True):
        A, right = model.alpha * Wx.T @ K @ Wx, model.alpha * row @ Wx
        A[np.diag_indices(len(A))] += model.l3
        if label >= 0:
            one_hot = np.eye(len(Wy))[label]
            A, right = A + model.beta * Wy.T @ Wy, right + model.beta * one_hot @ Wy
        h = np.linalg.solve(A, right)
        total += model.alpha * (own - 2 * row @ Wx @ h + h @ Wx.T @ K @ Wx @ h)
        total += model.l3 * h @ h
        if label >= 0:
            total += model.beta * ((one_hot - Wy @ h) ** 2).sum()
    return total / 2


@pytest.mark.parametrize("solver", ["als", "sgd"])
def test_the_objective_is_equation_4_16_at_the_end(solver):
    X, y, _ = blobs(60, 3, labeled=30)
    model, _ = fit(X, y, 15, solver=solver, max_iter=4)
    assert model.objective_[-1] == pytest.approx(equation_4_16(model, X, y), rel=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
@pytest.mark.parametrize("beta", [0.001, 1.0])
def test_sgd_that_says_converged_is_within_two_percent_of_least_squares(kernel, beta):
    X, y, _ = digits()
    exact, _ = fit(X, y, kernel=kernel, beta=beta)
    for epochs in (1, 20):
        model, given = fit(X, y, kernel=kernel, beta=beta, solver="sgd", max_iter=epochs)
        near = exact.converged_ and model.objective_[-1] <= 1.02 * exact.objective_[-1]
        assert model.converged_ == near == (not given)
        assert model.n_iter_ == epochs
    assert near == (kernel != "linear")


def test_an_epoch_of_sgd_tells_digits_apart():
    X, y, truth = digits()
    model, _ = fit(X, y, solver="sgd", max_iter=1)
    assert (model.predict(X) == truth).mean() > 0.7


@pytest.mark.parametrize("first", ["als", "sgd"])
def test_nothing_of_another_solver_is_left(first):
    X, y, _ = blobs(60, 3, labeled=30)
    second = "sgd" if first == "als" else "als"
    again, _ = fit(X, y, solver=first, max_iter=20)
    fresh, _ = fit(X, y, solver=second, max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again.set_params(solver=second, max_iter=2).fit(X, y)
    for name in ("objective_", "converged_", "n_iter_"):
        assert getattr(again, name) == getattr(fresh, name)


@functools.cache
def least_objective(kernel, size):
    X, y, _ = digits()
    return fit(X, y, size, kernel=kernel, tol=0, max_iter=400)[0].objective_[-1]


@pytest.mark.parametrize(("size", "rounds"), [(20, 3), (20, 10), (100, 10), (100, 50)])
@pytest.mark.parametrize("kernel", ["rbf", "poly2"])
def test_rounds_that_end_too_early_are_told_of(kernel, size, rounds):
    X, y, _ = digits()
    least = least_objective(kernel, size)
    model, given = fit(X, y, size, kernel=kernel, max_iter=rounds)
    assert model.n_iter_ == rounds == len(model.objective_) - 1
    assert model.converged_ == (not given)
    assert not model.converged_ or model.objective_[-1] <= 1.02 * least
    assert model.converged_ or rounds < 50 or kernel == "poly2"


@pytest.mark.parametrize("sigma", [0.1, 1.0])
def test_a_kernel_with_few_large_eigenvalues_leaves_no_rounding(sigma):
    X, truth = load_breast_cancer(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    y = np.where(np.random.RandomState(0).rand(len(X)) < 0.1, truth, -1)
    model, given = fit(X, y, 100, kernel="poly2", sigma=sigma)
    assert not model.converged_
    assert "raise max_iter" in str(given[0].message)
    assert (np.diff(model.objective_) < 0).all()
    assert np.isfinite(model.decision_function(X)).all()
    descended, _ = fit(X, y, 100, kernel="poly2", sigma=sigma, solver="sgd", max_iter=1)
    assert not descended.converged_


@pytest.mark.parametrize("solver", ["als", "sgd"])
def test_few_labels_tell_classes_apart_that_are_apart(solver):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 60)
    X = rng.normal(size=(180, 3)) + 6 * np.eye(3)[truth]
    y = np.full(180, -1)
    y[::12] = truth[::12]
    model, _ = fit(X, y, 60, rank=20, solver=solver, max_iter=20)
    assert (model.predict(X) == truth).mean() > 0.95


def test_rank_and_landmarks_above_what_there_is():
    X, y, _ = blobs(10, 3)
    model, _ = fit(X, y, 500, rank=1000)
    assert model.Wx_.shape == (30, 30)
    assert np.isfinite(model.decision_function(X)).all()
    one, _ = fit(X, y, 1, rank=5)
    assert one.Wx_.shape == (1, 1)


@pytest.mark.parametrize("solver", ["als", "sgd"])
def test_two_classes_are_told_apart_and_a_third_without_a_label_is_not_seen(solver):
    X, y, truth = blobs(100, 2)
    model, _ = fit(X, y, 30, rank=5, solver=solver)
    scores = model.decision_function(X)[y == -1]
    assert roc_auc_score(truth[y == -1], scores) > 0.8
    third, _ = fit(X, np.where(y >= 0, y + 1, -1), 30, rank=5, solver=solver, n_classes=3)
    assert (third.predict(np.concatenate([X, X + 100])) > 0).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kernel", "batch_size"), [("rbf", 64), ("rbf", 6000), ("linear", 1000), ("chi2", 64)]
)
@pytest.mark.parametrize(("b", "d", "c"), [(300, 5, 3), (20, 300, 3), (50, 10, 26), (150, 150, 2)])
def test_a_batch_holds_what_it_is_charged_for(kernel, b, d, c, batch_size):
    rng = np.random.default_rng(0)
    X, y = rng.random(size=(6000, d)), rng.integers(-1, c, size=6000)
    params = {"kernel": kernel, "solver": "sgd", "batch_size": batch_size}
    model = SSOKMF(b, max_iter=1, n_classes=c, random_state=0, **params)
    tracemalloc.start()
    model.fit(X, y)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    shape = Shape(int((y >= 0).sum()), int((y < 0).sum()), d, c)
    # panels that BLAS packs are not allocated by Python
    phases = storage(shape, b, **params).phases().values()
    charged = max(held.bytes - held.get("blas", 0) for held in phases) - shape.data_bytes
    assert held <= charged
    # the linear kernel has no more eigenvectors than there are features
    assert 0.4 * charged < held or kernel == "linear"


def test_rounds_that_end_in_rounding_are_told_of(monkeypatch):
    ended = Rounds([2.0, 1.0], False)
    monkeypatch.setattr(Factorisation, "alternate", lambda *_: ended)
    X, y, _ = digits()
    given = fit(X, y)[1]
    assert "rounding of the kernel's values" in str(given[0].message)


class InDoubles(SSOKMF):
    """The same, of kernel values and sums in float64."""

    def _rows(self, X):
        return gaussian(X - self.center_, self.landmarks_.astype(np.float64), self._kernel.width)

    def _moments(self, X, codes):
        K, U, own = self._rows(X), self._basis, codes[:, None] == np.arange(len(self.classes_))
        grams = [U.T @ (K[part].T @ K[part]) @ U for part in (codes < 0, codes >= 0)]
        counts = own.sum(axis=0).astype(np.float64)
        return Moments(*grams, U.T @ (K.T @ own), counts, float(len(X)))


@pytest.mark.filterwarnings("ignore:after .* rounds the objective")
@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0, 5.0])
def test_wide_kernels_cost_no_digit_that_counts(sigma, data):
    """Sums in float32 divided by small eigenvalues of the budget's kernel matrix are rounding."""
    X, y = data(1500)
    y = np.where(np.arange(1500) % 10, -1, y)
    found, exact = (
        model(200, sigma=sigma, random_state=0).fit(X, y) for model in (SSOKMF, InDoubles)
    )
    expected = exact._rows(X) @ exact.coef_
    assert off(found.decision_function(X), expected[:, 1] - expected[:, 0]) < 0.003
    assert len(found.objective_) == len(exact.objective_)
    assert found.objective_[-1] == pytest.approx(exact.objective_[-1], rel=1e-4)


def test_moments_that_are_part_of_a_larger_matrix_are_not_copied():
    rng = np.random.default_rng(0)
    b, r, c = 300, 8, 3
    larger = [np.asfortranarray(A @ A.T) for A in rng.normal(size=(2, b + 5, b + 5))]
    moments = Moments(*(A[:b, :b] for A in larger), rng.normal(size=(b, c)), np.ones(c), 1.0)
    model = Factorisation(
        np.ones(b), rng.normal(size=(b, r)), rng.normal(size=(c, r)), 1.0, 1.0, 1.0, 1.0, 1.0
    )
    tracemalloc.start()
    model.codes(moments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * b * b / 2
