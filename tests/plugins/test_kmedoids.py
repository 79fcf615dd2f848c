"""Budgeted k-medoids: monotone, optimal on tiny sets, and what it does to an empty cluster."""

import itertools

import numpy as np
import pytest
from conftest import blobs
from kmedoids import BudgetKernelKMedoids
from sklearn.metrics import adjusted_rand_score


def squared_distances(X, kernel, sigma):
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    return D if kernel == "linear" else 2 - 2 * np.exp(-D / (2 * sigma**2))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("n_landmarks", [20, 200])
def test_objective_never_rises(kernel, n_landmarks):
    X, _, _ = blobs(100, 4)
    for seed in range(5):
        model = BudgetKernelKMedoids(4, n_landmarks, kernel, random_state=seed).fit(X)
        objective = np.array(model.objective_)
        assert (np.diff(objective) <= 1e-9 * objective[0]).all()
        assert objective[-1] < objective[0]


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_best_of_many_starts_is_the_best_there_is(kernel):
    X, _, _ = blobs(6, 2, labeled=1)
    D = squared_distances(X, kernel, 1.0)
    best = min(
        D[:, list(medoids)].min(axis=1).sum() for medoids in itertools.combinations(range(12), 2)
    )
    found = min(
        BudgetKernelKMedoids(2, 12, kernel, 1.0, "absolute", random_state=seed)
        .fit(X)
        .objective_[-1]
        for seed in range(30)
    )
    assert found == pytest.approx(best)


def test_at_the_end_every_medoid_is_the_best_of_its_cluster():
    X, _, _ = blobs(40, 3)
    model = BudgetKernelKMedoids(3, 120, sigma=1.0, sigma_unit="absolute", random_state=0).fit(X)
    D = squared_distances(X, "rbf", 1.0)
    for j, medoid in enumerate(model.medoid_indices_):
        sums = D[:, model.labels_ == j].sum(axis=1)
        assert sums[medoid] == pytest.approx(sums.min())


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
    model = BudgetKernelKMedoids(3, 4, "linear", random_state=seed).fit(X)
    assert len(set(model.medoid_indices_)) == 3


def test_more_clusters_than_points_are_refused():
    with pytest.raises(ValueError, match="n_clusters=5 is more than the 4 points"):
        BudgetKernelKMedoids(5).fit(np.ones((4, 1)))
