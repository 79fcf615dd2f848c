"""Budgeted k-medoids: monotone, optimal on tiny sets, and what it does to an empty cluster."""

import itertools
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from blobs import blobs
from kmedoids import BudgetKernelKMedoids, harness_methods
from sklearn.metrics import adjusted_rand_score

from harness import Shape, kernels


def squared_distances(X, kernel, sigma):
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    return D if kernel == "linear" else 2 - 2 * np.exp(-D / (2 * sigma**2))


KERNELS = pytest.mark.parametrize("kernel", ["rbf", "linear"])


def cost(D, medoids):
    return D[:, list(medoids)].min(axis=1).sum()


@pytest.mark.parametrize("refine", ["swap", "none"])
@KERNELS
@pytest.mark.parametrize("n_landmarks", [20, 200])
def test_objective_never_rises(kernel, n_landmarks, refine):
    X, _, _ = blobs(100, 4)
    for seed in range(5):
        model = BudgetKernelKMedoids(4, n_landmarks, refine, kernel=kernel, random_state=seed)
        objective = model.fit(X).objective_
        assert (np.diff(objective) < 0).all()
        assert len(objective) > 1


@KERNELS
@pytest.mark.parametrize("n_clusters", [1, 2, 3])
def test_it_finds_the_best_medoids_there_are(kernel, n_clusters):
    for seed in range(5):
        X, _, _ = blobs(6, 2, labeled=1, seed=seed)
        D = squared_distances(X, kernel, 1.0)
        best = min(cost(D, medoids) for medoids in itertools.combinations(range(12), n_clusters))
        absolute = {"kernel": kernel, "sigma_unit": "absolute", "random_state": seed}
        model = BudgetKernelKMedoids(n_clusters, 12, n_init=4, **absolute).fit(X)
        assert model.objective_[-1] == pytest.approx(best)
        assert cost(D, model.medoid_indices_) == pytest.approx(best)


def test_no_swap_is_left_that_would_lower_the_objective():
    X, _, _ = blobs(40, 3)
    D = squared_distances(X, "rbf", 1.0)
    model = BudgetKernelKMedoids(3, 120, sigma_unit="absolute", random_state=0).fit(X)
    medoids, found = model.medoid_indices_, model.objective_[-1]
    assert found == pytest.approx(cost(D, medoids))
    for j, point in itertools.product(range(3), range(120)):
        swapped = [*np.delete(medoids, j), point]
        assert cost(D, swapped) >= found * (1 - 1e-5)


def test_swaps_only_lower_what_the_algorithm_ends_with():
    X, _, _ = blobs(100, 4)
    for seed in range(5):
        plain = BudgetKernelKMedoids(6, 200, "none", random_state=seed).fit(X)
        refined = BudgetKernelKMedoids(6, 200, random_state=seed).fit(X)
        assert refined.objective_[: len(plain.objective_)] == plain.objective_
        assert refined.objective_[-1] <= plain.objective_[-1]


@pytest.mark.parametrize("refine", ["swap", "none"])
def test_at_the_end_every_medoid_is_the_best_of_its_cluster(refine):
    X, _, _ = blobs(40, 3)
    model = BudgetKernelKMedoids(3, 120, refine, sigma_unit="absolute", random_state=0).fit(X)
    D = squared_distances(X, "rbf", 1.0)
    for j, medoid in enumerate(model.medoid_indices_):
        sums = D[:, model.labels_ == j].sum(axis=1)
        assert sums[medoid] == pytest.approx(sums.min(), rel=1e-4)


def test_small_blocks_change_nothing(monkeypatch):
    X, _, _ = blobs(100, 3)
    whole = BudgetKernelKMedoids(3, 50, "none", random_state=0).fit(X)
    monkeypatch.setattr("harness.kernels.gaussian.BLOCK_BYTES", 1)
    parts = BudgetKernelKMedoids(3, 50, "none", random_state=0).fit(X)
    np.testing.assert_array_equal(parts.medoid_indices_, whole.medoid_indices_)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)


@pytest.mark.parametrize("kernel", ["poly2", "chi2", "laplacian"])
def test_other_kernels_and_selectors(kernel):
    X, _, truth = blobs(40, 3)
    X = X - X.min(axis=0)
    model = BudgetKernelKMedoids(3, 60, kernel=kernel, selector="k-means++", random_state=0)
    labels = model.fit(X).labels_
    assert adjusted_rand_score(truth, labels) > 0.3
    np.testing.assert_array_equal(labels, model.predict(X))


def test_labels_are_what_predict_says_and_find_clear_clusters():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 50)
    X = rng.normal(size=(150, 2)) + 12 * np.eye(3)[truth][:, :2]
    model = min(
        (BudgetKernelKMedoids(3, 60, random_state=seed).fit(X) for seed in range(8)),
        key=lambda model: model.objective_[-1],
    )
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    np.testing.assert_array_equal(X[model.medoid_indices_], model.cluster_centers_)


@pytest.mark.parametrize("seed", range(6))
def test_an_empty_cluster_keeps_its_medoid(seed):
    # Of equal medoids the first takes all points. A sum over no points would be least at row 0,
    # and empty clusters would meet there.
    X = np.array([[0.0], [0.0], [0.0], [10.0]])
    model = BudgetKernelKMedoids(3, 4, "none", kernel="linear", random_state=seed).fit(X)
    assert len(set(model.medoid_indices_)) == 3


def test_more_clusters_than_points_are_refused():
    with pytest.raises(ValueError, match="n_clusters=5 is more than the 4 points"):
        BudgetKernelKMedoids(5).fit(np.ones((4, 1)))


def test_more_clusters_than_distinct_points_leave_some_empty():
    X = np.repeat(np.eye(3), 4, axis=0)
    model = BudgetKernelKMedoids(5, 12, random_state=0).fit(X)
    assert model.objective_[-1] == pytest.approx(0, abs=1e-6)
    assert len(set(model.labels_)) == 3


def test_values_that_overflow_are_told_of():
    X, _, _ = blobs(50, 2)
    with pytest.raises(ValueError, match="overflow"), np.errstate(all="ignore"):
        BudgetKernelKMedoids(2, kernel="linear").fit((X * 1e20).astype(np.float32))


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "gives values that are not finite"), (-1e308, "kernel values overflow in float64")],
)
def test_a_kernel_of_ones_own_that_is_no_number_is_told_of(value, message):
    kernel = SimpleNamespace(
        function=lambda X, Z, width: np.full((len(X), len(Z)), value), unit=None, diagonal=None
    )
    with pytest.raises(ValueError, match=message), np.errstate(all="ignore"):
        BudgetKernelKMedoids(2, kernel=kernel).fit(np.eye(4))


@pytest.mark.parametrize("refine", ["swap", "none"])
@pytest.mark.parametrize("max_iter", [1, 2, 100])
def test_iterations_are_counted(max_iter, refine):
    X, _, _ = blobs(100, 4)
    most = max_iter * (2 if refine == "swap" else 1)
    for seed in range(5):
        model = BudgetKernelKMedoids(4, 200, refine, max_iter=max_iter, random_state=seed).fit(X)
        assert model.n_iter_ <= most
        if refine == "none":
            # each but perhaps the last changes a medoid
            assert model.n_iter_ in (len(model.objective_), len(model.objective_) - 1)
        if max_iter == 1:
            assert model.n_iter_ == most


SHAPES = [(12000, 10, 10, 3), (12000, 20, 10, 3), (12000, 10, 100, 50), (3000, 30, 300, 3)]


@pytest.mark.parametrize(("n", "d", "b", "n_clusters"), SHAPES)
@pytest.mark.parametrize("kernel", list(kernels.KERNELS))
def test_blocks_hold_what_the_storage_model_says(kernel, n, d, b, n_clusters):
    X = np.abs(np.random.default_rng(0).normal(size=(n, d)))
    model = BudgetKernelKMedoids(n_clusters, b, kernel=kernel, max_iter=2, random_state=0)
    model.fit(X[:100])
    tracemalloc.start()
    model.fit(X)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # of another number of clusters than classes, as a study may ask for
    shape, (method,) = Shape(0, n, d, 2), harness_methods()
    params = {"kernel": kernel, "n_clusters": n_clusters}
    stated = max(method.peaks(shape, b, params)) - shape.data_bytes
    # NumPy broadcasts by way of a buffer of 8,192 numbers; chi2 is charged for blocks of all rows
    assert 0.4 * stated < held < stated + 75_000
