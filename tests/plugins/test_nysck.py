"""NysCK against the dense cluster kernel, and the paper's formulas taken literally."""

import os

import numpy as np
import nysck
import pytest
from blobs import blobs
from cluster_kernel import ClusterKernelSVM
from dense import dense_cluster_kernel
from nysck import NystromClusterKernelSVM
from nysck.literal import paper_rank
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from harness import Shape, kernels
from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.kernels.transfer_functions import TRANSFERS
from harness.planning.size import plan

(METHOD,) = nysck.harness_methods()

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


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_with_all_points_as_landmarks_it_is_the_cluster_kernel(transfer):
    X, y, _ = blobs(50, 2)
    options = {"transfer": transfer, "epsilon": 0.05, "degree": 3.0}
    model = NystromClusterKernelSVM(n_landmarks=100, **options, **ABSOLUTE).fit(X, y)
    F = model._features(X)
    expected = dense_cluster_kernel(
        X, 0.8, lambda e: kernels.apply_transfer(e, transfer, 12, epsilon=0.05, degree=3.0)
    )
    np.testing.assert_allclose(F @ F.T, expected, atol=3e-5)


@pytest.mark.parametrize("transfer", ["step", "poly-step"])
def test_the_cut_of_steps_can_be_set(transfer):
    X, y, _ = blobs(50, 2)
    options = {"transfer": transfer, **ABSOLUTE}
    usual = NystromClusterKernelSVM(n_landmarks=100, **options).fit(X, y)
    for cut, same in ((20, True), (4, False)):
        model = NystromClusterKernelSVM(n_landmarks=100, cut=cut, **options).fit(X, y)
        F = model._features(X)
        K = dense_cluster_kernel(
            X, 0.8, lambda e, cut=cut: kernels.apply_transfer(e, transfer, 0, cut=cut)
        )
        np.testing.assert_allclose(F @ F.T, K, atol=3e-5)
        found, expected = model.decision_function(X), usual.decision_function(X)
        assert np.allclose(found, expected, atol=1e-3 * np.ptp(expected)) == same


def test_the_literal_variant_keeps_as_many_eigenvectors_as_the_cut_says():
    X, y, _ = blobs(60, 2)
    model = NystromClusterKernelSVM(40, variant="literal", cut=3, **ABSOLUTE).fit(X, y)
    assert model.projection_.shape == (40, 3)


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
    landmarks = model.landmarks_ + model.center_
    expected = literal_samples(X, landmarks, k, 12, D)
    F = model._features(X)
    np.testing.assert_allclose(F @ F.T, expected @ expected.T, atol=3e-5)


@pytest.mark.parametrize("degrees", ["nystrom", "exact"])
def test_one_shot_eigensystem_is_that_of_the_normalised_nystrom_kernel(degrees):
    X, y, _ = blobs(60, 2)
    model = NystromClusterKernelSVM(30, degrees=degrees, **ABSOLUTE).fit(X, y)
    landmarks = model.landmarks_ + model.center_
    C, W = gaussian(X, landmarks), gaussian(landmarks, landmarks)
    K = C @ np.linalg.pinv(W, rcond=1e-8) @ C.T
    D = gaussian(X, X).sum(1) if degrees == "exact" else np.maximum(K.sum(1), 1)
    expected = np.linalg.eigvalsh(K / np.sqrt(np.outer(D, D)))[::-1][: len(model.eigenvalues_)]
    np.testing.assert_allclose(model.eigenvalues_, expected, atol=3e-5)


def test_exact_degrees_change_little_where_landmarks_are_many():
    X, y, _ = blobs(60, 2)
    own = NystromClusterKernelSVM(110, **ABSOLUTE).fit(X, y)
    exact = NystromClusterKernelSVM(110, degrees="exact", **ABSOLUTE).fit(X, y)
    np.testing.assert_allclose(own.eigenvalues_[:20], exact.eigenvalues_[:20], rtol=0.1)


def test_degrees_of_random_features_are_another_estimate_of_the_same():
    X, y, _ = blobs(150, 2)
    settings = {**ABSOLUTE, "sigma": 2.0}
    exact = NystromClusterKernelSVM(300, degrees="exact", **settings).fit(X, y)
    features = NystromClusterKernelSVM(300, degrees="features", **settings).fit(X, y)
    found, expected = features.decision_function(X), exact.decision_function(X)
    assert 0.98 < np.corrcoef(found, expected)[0, 1] < 1
    np.testing.assert_allclose(features.eigenvalues_[0], 1, atol=0.1)
    assert np.ptp(features.eigenvalues_[:5] / exact.eigenvalues_[:5]) > 1e-4


@pytest.mark.parametrize(
    ("n", "d", "megabytes", "rank"),
    [(32561, 123, 200, 97), (32561, 123, 400, 194), (49749, 300, 200, 36)],
)
def test_the_papers_storage_gives_the_papers_ranks(n, d, megabytes, rank):
    """The largest k with 8 n (d + k log k + 2 k) within the budget."""
    k = np.arange(1, 1000)
    assert int(np.sum(8 * n * (d + k * np.log(k) + 2 * k) <= megabytes * 10**6)) == rank
    shape = Shape(1000, n - 1000, d, 2)
    found = plan(METHOD, shape, megabytes * 10**6, {"storage": "paper"})
    assert paper_rank(found.size) == rank
    assert found.planned_bytes <= megabytes * 10**6


@pytest.mark.parametrize("variant", ["one-shot", "literal"])
@pytest.mark.parametrize("transfer", [None, "poly-step", "step"])
def test_a_fold_is_scored_as_fit_scores_it(variant, transfer):
    X, y, _ = blobs(60, 2, labeled=12)
    rows = np.flatnonzero(y != -1)
    settings = {**ABSOLUTE, "variant": variant, "transfer": transfer}
    model = NystromClusterKernelSVM(90, **settings).fit_features(X, rows)
    for held in (rows[:3], rows[5:9], rows[:3]):
        masked = y.copy()
        masked[held] = -1
        whole = NystromClusterKernelSVM(90, **settings).fit(X, masked)
        found = model.fit_labels(masked[rows]).held_out_scores_
        np.testing.assert_allclose(found, whole.decision_function(X[held]), atol=0.02)


def test_a_rank_that_poly_step_would_square_is_warned_of():
    X, y, _ = blobs(60, 2)
    with pytest.warns(UserWarning, match="squares all but the first 20"):
        NystromClusterKernelSVM(60, rank=30, variant="literal", **ABSOLUTE).fit(X, y)


def test_with_few_labels_the_literal_variant_ends_before_poly_step_squares():
    """k log k <= 250 gives 57; of 12 labels a fold keeps 8, which leave 16 eigenvectors."""
    X, y, _ = blobs(150, 2)
    known = np.flatnonzero(y >= 0)
    model = NystromClusterKernelSVM(250, variant="literal", **ABSOLUTE)
    given = y[known].copy()
    given[::3] = -1
    model.fit_features(X, known).fit_labels(given)
    assert len(model.eigenvalues_) == 20
    assert np.count_nonzero(model.coef_) == 16


def test_default_rank_of_the_literal_variant_is_the_papers():
    assert [paper_rank(s) for s in (1, 444, 2600)] == [1, 97, 428]
    X, y, _ = blobs(100, 2)
    literal = NystromClusterKernelSVM(150, variant="literal", **ABSOLUTE).fit(X, y)
    assert literal.projection_.shape[1] == 20  # n_labeled + 8, below the 41 of k log k


def test_a_point_that_no_landmark_sees_keeps_a_row_of_zeros():
    X, y, _ = blobs(30, 2)
    model = NystromClusterKernelSVM(20, **ABSOLUTE).fit(X, y)
    far = np.full((1, 4), 1e4)
    assert not model._features(far).any()
    assert np.isfinite(model.decision_function(far)).all()


def auc_by_landmarks(X, truth, n_labeled, sizes, seeds):
    """Return mean AUC on the unlabeled points for each number of landmarks, labels drawn anew."""
    found = np.empty((len(seeds), len(sizes)))
    for i, seed in enumerate(seeds):
        labeled, unlabeled = train_test_split(
            np.arange(len(X)), train_size=n_labeled, random_state=seed, stratify=truth
        )
        y = np.full(len(X), -1)
        y[labeled] = truth[labeled]
        for j, s in enumerate(sizes):
            model = NystromClusterKernelSVM(s, random_state=seed).fit(X, y)
            found[i, j] = roc_auc_score(truth[unlabeled], model.decision_function(X[unlabeled]))
    return found.mean(axis=0)


def cluster_data():
    """Nine clusters in six dimensions, which two classes share by turns."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(9, size=600)
    X = 1.5 * rng.standard_normal((9, 6))[cluster] + rng.standard_normal((600, 6))
    return X, cluster % 2


def cancer_data():
    X, truth = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), truth


@pytest.mark.parametrize(("data", "least"), [(cluster_data, 0.8), (cancer_data, 0.97)])
def test_auc_does_not_fall_as_landmarks_are_added(data, least):
    X, truth = data()
    found = auc_by_landmarks(X, truth, 40, [10, 30, 100, 300, len(X)], range(4))
    assert (found >= np.maximum.accumulate(found) - 0.015).all(), found
    assert found[-1] >= least


def svmguide3_data():
    if not os.environ.get("HARNESS_MIRROR"):
        pytest.skip("HARNESS_MIRROR names no mirror of the real data")
    return load(load_catalog()["svmguide3"])


def some_points(data, n, n_labeled):
    """Return n points of a data set, y of which few are labeled, and the truth."""
    X, truth = data()
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(len(X), n, replace=False))
    y = np.full(n, -1)
    known = rng.choice(n, n_labeled, replace=False)
    y[known] = truth[rows[known]]
    return np.asarray(X[rows], np.float64), y, truth[rows]


def exact_normalised_kernel(X, width):
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * width**2))
    return K / np.sqrt(np.outer(K.sum(1), K.sum(1)))


REAL = pytest.mark.parametrize("data", [cancer_data, svmguide3_data])


@REAL
@pytest.mark.parametrize("sigma", [1.0, 2.0, 4.0])
def test_all_real_points_as_landmarks_are_the_cluster_kernel_at_any_width(data, sigma):
    """Rounding of a sum, divided by small eigenvalues of W, would be eigenvalues of 0.1 here."""
    X, y, _ = some_points(data, 500, 60)
    for transfer in ("regularized-laplacian", "poly-step"):
        options = {"transfer": transfer, "sigma": sigma}
        model = NystromClusterKernelSVM(500, **options, random_state=0).fit(X, y)
        exact = np.linalg.eigvalsh(exact_normalised_kernel(X, model._width))[::-1]
        found = np.zeros(500)
        found[: len(model.eigenvalues_)] = model.eigenvalues_
        np.testing.assert_allclose(found, exact, atol=5e-6)
        scores = ClusterKernelSVM(**options).fit(X, y).decision_scores_
        np.testing.assert_allclose(
            model.decision_function(X), scores, atol=0.02 * np.abs(scores).max()
        )


@REAL
@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_more_landmarks_are_never_a_worse_approximation(data, sigma):
    X, _, _ = some_points(data, 500, 60)
    order = np.random.default_rng(1).permutation(500)
    errors = []
    for s in (10, 30, 100, 250, 400, 500):
        model = NystromClusterKernelSVM(
            s, sigma=sigma, degrees="exact", selector=lambda X, m, *_: order[:m]
        ).fit_features(X, np.arange(60))
        L = exact_normalised_kernel(X, model._width)
        degrees = np.exp(-cdist(X, X, "sqeuclidean") / (2 * model._width**2)).sum(1)
        U = model._map(X) @ model._basis / np.sqrt(degrees)[:, None]
        errors.append(np.linalg.norm(L - (U * model.eigenvalues_) @ U.T))
    assert (np.diff(errors) <= 1e-5).all(), errors
    assert errors[-1] < 1e-4


def test_many_landmarks_rank_as_the_cluster_kernel_does_where_poly_step_takes_roots():
    """1,000 of 1,284 points at 2 medians, where eigenvalues made of rounding cost 0.05 of AUC."""
    X, y, truth = some_points(svmguide3_data, 1284, 200)
    options, rest = {"transfer": "poly-step", "sigma": 2.0}, y < 0
    model = NystromClusterKernelSVM(1000, **options, random_state=0).fit(X, y)
    scores = ClusterKernelSVM(**options).fit(X, y).decision_scores_
    found = roc_auc_score(truth[rest], model.decision_function(X[rest]))
    assert found == pytest.approx(roc_auc_score(truth[rest], scores[rest]), abs=0.003)


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_rows_have_norm_one_or_are_zero_however_far_a_point_is(transfer):
    """At 9 to 15 widths from every landmark, kernel values are numbers and their squares none."""
    X, y, _ = blobs(60, 2)
    model = NystromClusterKernelSVM(30, transfer=transfer, **ABSOLUTE).fit(X, y)
    far = np.zeros((61, 4))
    far[:, 0] = X[:, 0].max() + 0.8 * np.linspace(5, 20, 61)
    norms = np.linalg.norm(model._features(far), axis=1)
    np.testing.assert_allclose(norms[norms > 0], 1, rtol=1e-5)
    assert np.all(norms[:20] > 0)
    assert not norms[-5:].any()


def test_near_zero_eigenvalues_do_not_weigh():
    """Directions that the data hardly have must not change what a point looks like."""
    X, truth = cancer_data()
    y = np.where(np.arange(len(X)) < 40, truth, -1)
    full = NystromClusterKernelSVM(len(X), random_state=0).fit(X, y)
    rank = int(np.sum(full.eigenvalues_ > 1e-3))
    assert rank < len(full.eigenvalues_) / 2
    short = NystromClusterKernelSVM(len(X), rank=rank, random_state=0).fit(X, y)
    found, expected = short.decision_function(X), full.decision_function(X)
    assert np.corrcoef(found, expected)[0, 1] > 0.999


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_that_occur_often_change_nothing(transfer, dtype):
    """Every point three times and all of them landmarks: W is as singular as it can be."""
    X, y, _ = blobs(30, 2)
    X = X.astype(dtype)
    settings = {**ABSOLUTE, "transfer": transfer, "rank": 15}
    once = NystromClusterKernelSVM(60, **settings).fit(X, y)
    often = NystromClusterKernelSVM(180, **settings).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    np.testing.assert_allclose(once.eigenvalues_, often.eigenvalues_, atol=1e-5)
    F, G = once._features(X), often._features(X)
    np.testing.assert_allclose(F @ F.T, G @ G.T, atol=1e-3 if dtype == np.float32 else 1e-5)


def test_float32_agrees_with_float64():
    X, truth = cancer_data()
    y = np.where(np.arange(len(X)) < 40, truth, -1)
    exact, single = (
        NystromClusterKernelSVM(300, random_state=0).fit(X.astype(t), y).decision_function(X)
        for t in (np.float64, np.float32)
    )
    np.testing.assert_allclose(exact, single, atol=2e-3 * np.abs(exact).max())


@pytest.mark.memory
@pytest.mark.parametrize("n_labeled", [1000, 3000])
@pytest.mark.parametrize(("n", "d"), [(32561, 123), (49749, 300)], ids=["a9a", "w8a"])
def test_a_fifth_of_a_small_budget_is_left_at_most(n, d, n_labeled, assert_peak_between):
    """The harness's share of 10 MB is large, and predictions are held after the fit only.

    A tenth where BLAS is that of a processor with AVX-512; others pack less than is planned for.
    """
    shape = Shape(n_labeled, n - n_labeled, d, 2, itemsize=4, mapped=True)
    planned = plan(METHOD, shape, 10**7)
    low = 0.8 * planned.planned_bytes
    assert_peak_between(low, 10**7, METHOD, shape, planned.size, "binary")


@pytest.mark.memory
def test_wide_data_in_float64_are_not_held_twice(assert_peak_between):
    shape = Shape(100, 1900, 3000, 2)
    planned = plan(METHOD, shape, 80 * 10**6)
    assert_peak_between(6 * 10**7, 80 * 10**6, METHOD, shape, planned.size, "binary")
