"""ClusK against a plain transcription of its four steps."""

from functools import partial

import cluster_kernel
import numpy as np
import pytest
from blobs import blobs
from cluster_kernel import ClusterKernelSVM
from dense import dense_cluster_kernel
from sklearn.svm import LinearSVC

from harness import kernels
from harness.kernels.transfer_functions import TRANSFERS

ABSOLUTE = {"sigma": 1.2, "sigma_unit": "absolute"}


def scores_of(K, known, y, C=1.0):
    """Scores of a linear SVM on explicit features of K; a bias that is scaled up costs little."""
    e, U = np.linalg.eigh(K)
    F = U * np.sqrt(np.maximum(e, 0))
    svm = LinearSVC(C=C, dual=False, tol=1e-9, intercept_scaling=100, max_iter=10_000)
    return svm.fit(F[known], y[known]).decision_function(F)


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_scores_are_those_of_the_dense_kernel(transfer):
    X, y, _ = blobs(51, 2)
    n_labeled = int(np.sum(y != -1))
    K = dense_cluster_kernel(
        X, 1.2, lambda e: kernels.apply_transfer(e, transfer, n_labeled, degree=2.0)
    )
    model = ClusterKernelSVM(transfer=transfer, C=1.0, **ABSOLUTE).fit(X, y)
    expected = scores_of(K, y != -1, y)
    np.testing.assert_allclose(model.decision_scores_, expected, atol=0.01 * np.ptp(expected))


@pytest.mark.parametrize("transfer", ["step", "poly-step"])
def test_the_cut_of_steps_is_the_paper_s_unless_it_is_set(transfer):
    X, y, _ = blobs(51, 2)
    n_labeled = int(np.sum(y != -1))
    scores = {}
    for cut in (None, n_labeled + 8, 3):
        model = ClusterKernelSVM(transfer=transfer, cut=cut, **ABSOLUTE).fit(X, y)
        scores[cut] = model.decision_scores_
    np.testing.assert_array_equal(scores[None], scores[n_labeled + 8])
    phi = {
        "step": lambda e: np.arange(1, len(e) + 1) <= 3,
        "poly-step": lambda e: np.where(np.arange(1, len(e) + 1) < 4, np.sqrt(e), e**2),
    }[transfer]
    K = dense_cluster_kernel(X, 1.2, lambda e: phi(np.clip(e, 0, 1)))
    expected = scores_of(K, y != -1, y)
    np.testing.assert_allclose(scores[3], expected, atol=0.01 * np.ptp(expected))
    assert np.abs(scores[3] - scores[None]).max() > 0.05 * np.ptp(expected)


def rbf_svm_scores(X, X_all, y):
    K = np.exp(-((X_all[:, None] - X_all[None]) ** 2).sum(-1) / (2 * 1.2**2))
    known = np.arange(len(X_all)) < len(X)
    known[: len(X)] &= y != -1
    return scores_of(K, known, np.concatenate([y, np.zeros(len(X_all) - len(X))]), C=10.0)


def test_linear_transfer_is_the_rbf_svm_in_and_out_of_sample():
    X, y, _ = blobs(60, 2)
    new = np.random.default_rng(0).normal(size=(50, 4))
    expected = rbf_svm_scores(X, np.concatenate([X, new]), y)
    model = ClusterKernelSVM(transfer="linear", C=10.0, **ABSOLUTE).fit(X, y)
    found = np.concatenate([model.decision_scores_, model.decision_function(new)])
    np.testing.assert_allclose(found, expected, atol=0.01 * np.ptp(expected))


def test_inverse_and_eigenvectors_give_the_same_matrix():
    X, _, _ = blobs(31, 3)
    everything = np.arange(len(X))
    vectors = np.random.default_rng(0).normal(size=(len(X), 2))
    inverse = cluster_kernel.InverseSpectrum(X, 1.0, 0.3)
    phi = partial(kernels.apply_transfer, transfer="regularized-laplacian", epsilon=0.3)
    eigen = cluster_kernel.EigenSpectrum(X, 1.0, phi)
    gram = eigen.gram(everything, 5)
    np.testing.assert_allclose(inverse.gram(everything, 5), gram, atol=1e-6)
    np.testing.assert_allclose(inverse.diagonal(), eigen.diagonal(), atol=1e-12)
    np.testing.assert_allclose(inverse.apply(vectors), eigen.apply(vectors), atol=1e-11)


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_a_fold_is_scored_as_fit_scores_it(transfer):
    X, y, _ = blobs(40, 2, labeled=12)
    rows = np.flatnonzero(y != -1)
    model = ClusterKernelSVM(transfer=transfer, **ABSOLUTE).fit_features(X, rows)
    for held in (rows[:3], rows[5:9], rows[:3]):
        masked = y.copy()
        masked[held] = -1
        whole = ClusterKernelSVM(transfer=transfer, **ABSOLUTE).fit(X, masked)
        found = model.fit_labels(masked[rows]).held_out_scores_
        np.testing.assert_allclose(found, whole.decision_scores_[held], atol=1e-3)


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_nystrom_extension_is_nearly_what_fit_says_of_points_it_has_seen(transfer):
    X, y, _ = blobs(150, 2, d=2, labeled=10)
    model = ClusterKernelSVM(transfer=transfer, sigma=0.7, sigma_unit="absolute").fit(X, y)
    seen, unlabeled = model.decision_function(X), y == -1
    assert np.corrcoef(seen[unlabeled], model.decision_scores_[unlabeled])[0, 1] > 0.99


@pytest.mark.parametrize("transfer", ["regularized-laplacian", "polynomial", "poly-step"])
def test_new_points_are_scored_as_with_the_exact_diagonal(transfer):
    X, y, _ = blobs(100, 2)
    model = ClusterKernelSVM(transfer=transfer, **ABSOLUTE).fit(X, y)
    rng = np.random.default_rng(0)
    new = X[rng.integers(len(X), size=150)] + 0.4 * rng.normal(size=(150, 4))
    K = np.exp(-((new[:, None] - X[None]) ** 2).sum(-1) / (2 * 1.2**2))
    L = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * 1.2**2))
    D = L.sum(1)
    e, U = np.linalg.eigh(L / np.sqrt(np.outer(D, D)))
    e, U = e[::-1], U[:, ::-1]
    phi = kernels.apply_transfer(np.clip(e, 0, 1), transfer, np.count_nonzero(y >= 0))
    # rows of U at new points, each of which counts itself among its neighbors
    V = K / np.sqrt(np.outer(1 + K.sum(1), D)) @ U / np.maximum(e, 1e-10)
    exact = (V**2 @ np.where(e > 1e-10, phi, 0)) ** -0.5
    values = (model.decision_function(new) - model._intercepts) / exact
    extension = K / np.sqrt(1 + K.sum(1))[:, None] @ model._extension[:, 2:]
    assert np.corrcoef(values, extension[:, 0])[0, 1] > 0.99
    # where points are close; where they are far apart the diagonal is known to half of it only
    ratios = values / extension[:, 0]
    np.testing.assert_allclose(np.median(ratios), 1, atol=0.06)
    assert np.percentile(np.abs(ratios - 1), 90) < 0.2


@pytest.mark.parametrize("seed", range(20))
def test_a_point_outside_the_eigenvectors_that_are_kept_has_no_part(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), np.full(60, -1)
    y[:4] = 0, 1, 0, 1
    model = ClusterKernelSVM(transfer="step", sigma=0.01).fit(X, y)
    for scores in (model.decision_scores_, model.decision_function(X + 0.01)):
        assert np.abs(scores).max() < 30


def test_extension_of_the_regularised_laplacian_agrees_on_unlabeled_points():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 4])
    y = np.full(300, -1)
    y[[0, 1, 2, 150, 151, 152]] = [0, 0, 0, 1, 1, 1]
    model = ClusterKernelSVM(sigma=0.5).fit(X[:-1], y[:-1])
    new = model.decision_function(X[3:150])
    assert np.corrcoef(new, model.decision_scores_[3:150])[0, 1] > 0.99


def test_three_classes_are_told_apart():
    X, y, truth = blobs(60, 3, labeled=12)
    model = ClusterKernelSVM().fit(X, y)
    assert model.decision_scores_.shape == (180, 3)
    assert np.mean(model.transduction_ == truth) > 0.65
    assert np.mean(model.predict(X) == model.transduction_) > 0.9
