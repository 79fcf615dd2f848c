"""Kernel spectral clustering: its eigenvalue problem, its code book, the choice by line fit."""

import ksc
import numpy as np
import pytest
from blobs import blobs
from ksc import Codebook, KernelSpectralClustering, balanced_line_fit
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from harness import kernels


def separated(n_clusters, per_cluster=40, seed=0):
    """Return clusters that share no neighbors at a tenth of the median distance."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_clusters), per_cluster)
    centres = 40 * np.eye(n_clusters)[truth]
    return centres + rng.normal(size=centres.shape), truth


def dual(X, width, n_scores):
    """Return eigenvalues and score variables of equation 2."""
    Omega = kernels.gaussian_kernel(X, X, width)
    V = np.diag(1 / Omega.sum(1))
    one = np.ones((len(X), 1))
    centring = np.eye(len(X)) - one @ one.T @ V / V.sum()
    eigenvalues, alpha = np.linalg.eig(V @ centring @ Omega)
    first = np.argsort(-eigenvalues.real)[:n_scores]
    alpha = alpha[:, first].real
    return eigenvalues[first].real, centring @ Omega @ alpha


def test_with_every_point_a_prototype_it_is_the_dual():
    X, _, _ = blobs(40, 3)
    model = KernelSpectralClustering(4, 120, sigma=0.4, random_state=0).fit(X)
    eigenvalues, scores = dual(X, kernels.kernel_width(X, 0.4, "median"), 3)
    np.testing.assert_allclose(model.eigenvalues_, eigenvalues, rtol=1e-6)
    found = model.score_variables(X)
    for ours, theirs in zip(found.T, scores.T, strict=True):
        assert abs(np.corrcoef(ours, theirs)[0, 1]) > 1 - 1e-8
    # b = - 1'V Omega alpha / 1'V 1: the weighted mean of the scores is zero
    degrees = kernels.exact_degrees(X, kernels.kernel_width(X, 0.4, "median"))
    np.testing.assert_allclose((found / degrees[:, None]).sum(0), 0, atol=1e-4)


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_separated_clusters_are_lines_with_eigenvalues_of_one(n_clusters):
    X, truth = separated(n_clusters)
    model = KernelSpectralClustering(n_clusters, len(X), sigma=0.1).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, 1, atol=1e-6)
    assert adjusted_rand_score(truth, model.labels_) == 1
    # alpha = V e / lambda is constant on each cluster, so that e is a multiple of the degree
    degrees = kernels.exact_degrees(X, kernels.kernel_width(X, 0.1, "median"))
    alpha = model.score_variables(X) / degrees[:, None]
    for cluster in range(n_clusters):
        assert np.ptp(alpha[truth == cluster], axis=0).max() < 1e-4 * np.ptp(alpha)
    assert model.balanced_line_fit(X) > 0.99


@pytest.mark.parametrize("decoding", ["hamming", "cosine"])
def test_out_of_sample_is_what_fit_says_and_blocks_do_not_matter(decoding):
    X, _, _ = blobs(60, 3)
    model = KernelSpectralClustering(3, 40, decoding=decoding, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(X[7:9]), model.labels_[7:9])


def test_moons_are_told_apart_and_new_points_too():
    X, truth = make_moons(800, noise=0.05, random_state=0)
    model = KernelSpectralClustering(2, 100, random_state=0).fit(X[:400])
    assert adjusted_rand_score(truth[400:], model.predict(X[400:])) > 0.98


def test_words_are_the_commonest_patterns_and_ties_go_by_angle():
    scores = np.array([[2, 1], [2, 1], [2, 1], [-1, 1], [-1, 1], [1, -2.0]])
    book = Codebook(scores, 2)
    assert book.words.tolist() == [[True, True], [False, True]]
    np.testing.assert_allclose(book.directions, np.array([[2, 1], [-1, 1]]) / np.sqrt([[5], [2]]))
    # (1, -2) differs from (+, +) in one sign and from (-, +) in two; (-1, -2) ties with neither
    new = np.array([[1, -2.0], [-1, -2.0], [3, 0.1], [-3, 0.1]])
    assert book.decode(new, "hamming").tolist() == [0, 1, 0, 1]
    three = Codebook(np.array([[5, 1], [5, 1], [-1, 1], [1, -5.0]]), 3)
    # (-, -) is one step from (-, +) and from (+, -): the nearer direction has it
    assert three.decode(np.array([[-0.1, -1.0], [-1.0, -0.1]]), "hamming").tolist() == [2, 1]


@pytest.mark.parametrize("n_clusters", [3, 9, 12])
def test_decoding_is_the_nearest_word_in_hamming_distance(n_clusters):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, n_clusters - 1)).astype(np.float32)
    book = Codebook(scores, n_clusters)
    assert book.words.shape == (min(n_clusters, 2 ** (n_clusters - 1)), n_clusters - 1)
    distances = ((scores > 0)[:, None] != book.words).sum(-1)
    decoded = book.decode(scores, "hamming")
    np.testing.assert_array_equal(distances[np.arange(300), decoded], distances.min(1))


@pytest.mark.parametrize("n_clusters", [2, 4])
def test_number_of_clusters_and_width_are_those_of_the_best_line_fit(n_clusters):
    X, truth = separated(n_clusters)
    model = KernelSpectralClustering((2, 3, 4, 5), 80, sigma=(0.1, 0.2), random_state=0).fit(X)
    assert model.n_clusters_ == n_clusters
    assert adjusted_rand_score(truth, model.labels_) == 1
    assert model.line_fits_.keys() == {(s, k) for s in (0.1, 0.2) for k in (2, 3, 4, 5)}
    assert model.line_fits_[model.sigma_, n_clusters] == max(model.line_fits_.values())
    assert model.balanced_line_fit(X) == pytest.approx(max(model.line_fits_.values()), abs=1e-6)


def test_widths_are_compared_on_a_sample(monkeypatch):
    monkeypatch.setattr(ksc, "SELECTION_SAMPLE", 60)
    X, truth = separated(4)
    model = KernelSpectralClustering(4, 60, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1


def test_line_fit_of_lines_of_clouds_and_of_unequal_clusters():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 200)
    lines = np.array([[1, 0], [-1, 1], [-1, -2]])[labels] * rng.uniform(1, 2, (600, 1))
    ones = np.ones(600)
    assert balanced_line_fit(lines, ones, labels, 3) == pytest.approx(1)
    clouds = rng.normal(size=(600, 2))
    assert balanced_line_fit(clouds, ones, labels, 3, 0.0) < 0.2
    assert balanced_line_fit(lines[:250], ones[:250], labels[:250], 2, 1.0) == pytest.approx(0.25)
    # one prototype gives one score variable
    assert balanced_line_fit(lines[:, :1], ones, labels, 3) == pytest.approx(1)
    empty = np.where(labels == 2, 1, labels)
    assert balanced_line_fit(lines, ones, empty, 3, 1.0) == 0
    # of two clusters the one score is compared with the degree
    degrees = rng.uniform(1, 2, 600)
    sides = np.where(labels == 0, 1.0, -1.0)
    halves = (labels == 0).astype(int)
    assert balanced_line_fit((degrees * sides)[:, None], degrees, halves, 2, 0.0) > 1 - 1e-9
    loose = rng.normal(size=(600, 1))
    assert balanced_line_fit(loose, degrees, (loose[:, 0] > 0).astype(int), 2, 0.0) < 0.9


def test_single_precision_changes_nothing_to_speak_of():
    X, _, _ = blobs(60, 3)
    model = KernelSpectralClustering(3, 40, sigma=0.4, random_state=0)
    whole = model.fit(X).labels_
    assert adjusted_rand_score(whole, model.fit(X.astype(np.float32)).labels_) > 0.95


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sigma", [1e-300, 1.0, 1e300, (1e-3, 1e3)])
def test_points_that_hardly_differ_and_widths_of_any_size(sigma, dtype):
    for X in (np.ones((20, 3)), np.repeat(np.eye(3), 7, axis=0), blobs(10, 2)[0] + 1e4):
        model = KernelSpectralClustering(3, 50, sigma=sigma, random_state=0).fit(X.astype(dtype))
        assert set(model.labels_) <= {0, 1, 2}
        assert np.isfinite(model.eigenvalues_).all()
    assert (KernelSpectralClustering(3, sigma=sigma).fit(np.ones((20, 3))).labels_ == 0).all()


def test_bad_numbers_are_refused_in_words():
    X = np.random.default_rng(0).normal(size=(6, 2))
    for params, message in (
        ({"n_clusters": 7}, "n_clusters=7 is more than the 6 points"),
        ({"n_clusters": (2, 1)}, "of several numbers all must be 2 or more"),
        ({"n_clusters": [2.5]}, "of several numbers all must be 2 or more"),
        ({"sigma": (0.5, 0.0)}, "must hold widths above 0"),
        ({"sigma": ()}, "must hold widths above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            KernelSpectralClustering(**{"n_clusters": 2, **params}).fit(X)


def test_a_width_below_all_distances_tells_nothing_apart_and_is_not_chosen():
    X, truth = separated(3)
    model = KernelSpectralClustering(3, 60, sigma=(1e-3, 0.1), random_state=0).fit(X)
    assert model.sigma_ == 0.1
    assert adjusted_rand_score(truth, model.labels_) == 1
