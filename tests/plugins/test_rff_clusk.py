"""The cluster kernel on random features against one that is written out in dense float64."""

import numpy as np
import nysck
import pytest
import rff_clusk
from blobs import blobs
from dense import dense_cluster_kernel, off
from rff_clusk import RandomFeatureClusterKernelSVM

from harness import Shape, kernels
from harness.kernels.transfer_functions import TRANSFERS
from harness.planning.size import plan

(METHOD,) = rff_clusk.harness_methods()

ABSOLUTE = {"sigma": 0.8, "sigma_unit": "absolute", "random_state": 0}


def virtual_samples(model, X, phi):
    """Rows of L's eigenvectors, of the features that the model drew, a line for each step."""
    phases = (X - kernels.column_medians(X)) @ model._fourier.frequencies.matrix().astype(float)
    Z = np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(phases.shape[1])
    K = Z @ Z.T
    D = np.maximum(K.sum(axis=1), 1)
    e, U = np.linalg.eigh(K / np.sqrt(np.outer(D, D)))
    kept = e > 1e-6
    e, U = e[kept][::-1], U[:, kept][:, ::-1]
    F = U * np.sqrt(phi(e))
    return e, F / np.linalg.norm(F, axis=1, keepdims=True)


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_it_is_the_cluster_kernel_of_its_features(transfer):
    X, y, _ = blobs(50, 2)
    options = {"transfer": transfer, "epsilon": 0.05, "degree": 3.0}
    model = RandomFeatureClusterKernelSVM(60, **options, **ABSOLUTE).fit(X, y)
    e, F = virtual_samples(
        model, X, lambda e: kernels.apply_transfer(e, transfer, 12, epsilon=0.05, degree=3.0)
    )
    np.testing.assert_allclose(model.eigenvalues_, e, atol=1e-4)
    found = model._features(X)
    np.testing.assert_allclose(found @ found.T, F @ F.T, atol=1e-3)


def test_it_comes_near_the_exact_kernel_as_features_grow():
    X, y, _ = blobs(60, 2)
    K = dense_cluster_kernel(X, 0.8, lambda e: kernels.apply_transfer(e, TRANSFERS[-1], 12))
    errors = []
    for n_components in (60, 1000):
        F = RandomFeatureClusterKernelSVM(n_components, **ABSOLUTE).fit(X, y)._features(X)
        errors.append(np.abs(F @ F.T - K).max())
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.25


def test_the_rank_keeps_the_first_eigenvectors():
    X, y, _ = blobs(50, 2)
    whole = RandomFeatureClusterKernelSVM(60, **ABSOLUTE).fit(X, y)
    few = RandomFeatureClusterKernelSVM(60, rank=5, **ABSOLUTE).fit(X, y)
    np.testing.assert_array_equal(few.eigenvalues_, whole.eigenvalues_[:5])
    assert few.projection_.shape == (60, 5)


@pytest.mark.parametrize("transfer", ["regularized-laplacian", "poly-step"])
def test_a_fold_is_scored_as_fit_scores_it(transfer):
    X, y, _ = blobs(60, 2, labeled=12)
    rows, settings = np.flatnonzero(y != -1), {**ABSOLUTE, "transfer": transfer}
    model = RandomFeatureClusterKernelSVM(90, **settings).fit_features(X, rows)
    for held in (rows[:3], rows[5:9], rows[:3]):
        masked = y.copy()
        masked[held] = -1
        whole = RandomFeatureClusterKernelSVM(90, **settings).fit(X, masked)
        found = model.fit_labels(masked[rows]).held_out_scores_
        assert off(found, whole.decision_function(X[held])) < 1e-4


def test_bytes_do_not_grow_with_the_points():
    def own(n):
        shape = Shape(100, n, 20, 2, itemsize=4, n_test=1000)
        held = METHOD.held(shape, 200, METHOD.params, False, False).phases()
        return max(arrays.bytes for arrays in held.values()) - shape.data_bytes - 2 * shape.n

    assert own(10**6) == own(10**4)


def test_few_bytes_hold_more_features_than_landmarks():
    """Frequencies of wide points take half of what landmarks do."""
    (landmarks,) = nysck.harness_methods()
    shape = Shape(100, 10_000, 500, 2, itemsize=4, n_test=1000)
    budget = shape.data_bytes + 10**7
    assert plan(METHOD, shape, budget).size > 1.1 * plan(landmarks, shape, budget).size
