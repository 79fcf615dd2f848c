"""NysCK against the dense cluster kernel, and the paper's formulas taken literally."""

import numpy as np
import pytest
from conftest import blobs
from nysck import NystromClusterKernelSVM, _paper_rank
from test_cluster_kernel import dense_cluster_kernel

from harness import kernels

ABSOLUTE = {"sigma": 0.8, "sigma_unit": "absolute", "random_state": 0}


def gaussian(X, Z):
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / (2 * 0.8**2))


def literal_samples(X, landmarks, k, n_labeled, D):
    """Equations 13, then 3 to 6, with n x s and n x k matrices and any D."""
    n, s = len(X), len(landmarks)
    e, U = np.linalg.eigh(gaussian(landmarks, landmarks))
    e, U = e[::-1][:k], U[:, ::-1][:, :k]
    U = np.sqrt(s / n) * gaussian(X, landmarks) @ U / e
    e = n / s * e
    i = np.arange(1, k + 1)
    root = D[:, None] ** -0.5 * U * np.sqrt(np.where(i < n_labeled + 9, np.sqrt(e), e**2))
    return root / np.sqrt((root**2).sum(1, keepdims=True))


@pytest.mark.parametrize("transfer", kernels.TRANSFERS)
def test_with_all_points_as_landmarks_it_is_the_cluster_kernel(transfer):
    X, y, _ = blobs(50, 2)
    model = NystromClusterKernelSVM(n_landmarks=100, transfer=transfer, **ABSOLUTE).fit(X, y)
    F = model._virtual_samples(X)
    expected = dense_cluster_kernel(X, 0.8, lambda e: kernels.transferred(e, transfer, 12, 2.0))
    found = F @ F.T
    if transfer == "regularized-laplacian":
        # Its multiple of the identity is left out of the features: the diagonal is below one.
        assert (np.diag(found) < 1).all()
        np.fill_diagonal(found, 1)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("degrees", ["ones", "exact", "random"])
def test_literal_variant_is_the_papers_and_d_cancels(degrees):
    X, y, _ = blobs(60, 2)
    model = NystromClusterKernelSVM(40, variant="literal", **ABSOLUTE).fit(X, y)
    D = {
        "ones": np.ones(120),
        "exact": gaussian(X, X).sum(1),
        "random": np.random.default_rng(0).uniform(1, 9, 120),
    }[degrees]
    k = model.projection_.shape[1]
    expected = literal_samples(X, model.landmarks_, k, 12, D)
    F = model._virtual_samples(X)
    np.testing.assert_allclose(F @ F.T, expected @ expected.T, atol=1e-9)


def test_one_shot_eigensystem_is_that_of_the_normalised_nystrom_kernel():
    X, y, _ = blobs(60, 2)
    model = NystromClusterKernelSVM(30, **ABSOLUTE).fit(X, y)
    C, W = gaussian(X, model.landmarks_), gaussian(model.landmarks_, model.landmarks_)
    K = C @ np.linalg.pinv(W, rcond=1e-8) @ C.T
    D = np.maximum(K.sum(1), 1)
    expected = np.linalg.eigvalsh(K / np.sqrt(np.outer(D, D)))[::-1][: len(model.eigenvalues_)]
    np.testing.assert_allclose(model.eigenvalues_, expected, atol=1e-9)


def test_exact_degrees_change_little_where_landmarks_are_many():
    X, y, _ = blobs(60, 2)
    own = NystromClusterKernelSVM(110, **ABSOLUTE).fit(X, y)
    exact = NystromClusterKernelSVM(110, degrees="exact", **ABSOLUTE).fit(X, y)
    np.testing.assert_allclose(own.eigenvalues_[:20], exact.eigenvalues_[:20], rtol=0.1)


def test_a_rank_that_poly_step_would_square_is_warned_of():
    X, y, _ = blobs(60, 2)
    with pytest.warns(UserWarning, match="squares all but the first 20"):
        NystromClusterKernelSVM(60, rank=30, variant="literal", **ABSOLUTE).fit(X, y)


def test_default_rank_of_the_literal_variant_is_the_papers():
    assert [_paper_rank(s) for s in (1, 444, 2600)] == [1, 97, 428]
    X, y, _ = blobs(100, 2)
    literal = NystromClusterKernelSVM(150, variant="literal", **ABSOLUTE).fit(X, y)
    assert literal.projection_.shape[1] == 20  # n_labeled + 8, below the 41 of k log k


def test_a_point_that_no_landmark_sees_keeps_a_row_of_zeros():
    X, y, _ = blobs(30, 2)
    model = NystromClusterKernelSVM(20, **ABSOLUTE).fit(X, y)
    far = np.full((1, 4), 1e4)
    assert not model._virtual_samples(far).any()
    assert np.isfinite(model.decision_function(far)).all()
