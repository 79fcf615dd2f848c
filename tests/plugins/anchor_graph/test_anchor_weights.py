"""Weights of points at their anchors, and anchors by k-means."""

import itertools

import numpy as np
import pytest
from anchor_graph.anchors import move_to_means
from anchor_graph.weights import AnchorWeights, embed, project_on_simplex
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

ORIGIN = np.zeros(3)


def points(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def on_a_face(gram, face):
    """Return the weights that minimise z'Gz with sum 1 where only those of a face are not 0."""
    z = np.zeros(len(gram))
    inverse = np.linalg.solve(gram[np.ix_(face, face)], np.ones(len(face)))
    z[face] = inverse / inverse.sum()
    return z


def embedded(gram):
    """Return the best weights of all faces of the simplex that are not negative."""
    s = len(gram)
    faces = [list(f) for k in range(1, s + 1) for f in itertools.combinations(range(s), k)]
    found = [z for z in (on_a_face(gram, face) for face in faces) if z.min() >= 0]
    return min(found, key=lambda z: z @ gram @ z)


@pytest.mark.parametrize("width", [None, 0.5])
@pytest.mark.parametrize("s", [1, 3, 40])
def test_rows_of_z_are_of_the_nearest_anchors_and_sum_to_one(s, width):
    X, U = points(50), points(20, 1).astype(np.float32)
    nearest, weights = AnchorWeights(U, s, width, ORIGIN).of(X)
    assert nearest.shape == weights.shape == (50, min(s, 20))
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    expected = np.sort(np.argsort(cdist(X, U), axis=1)[:, :s], axis=1)
    np.testing.assert_array_equal(np.sort(nearest, axis=1), expected)


def test_kernel_weights_are_gaussians_in_parts_of_their_sum():
    X, U = points(30), points(4, 1).astype(np.float32)
    nearest, weights = AnchorWeights(U, 4, 0.7, ORIGIN).of(X)
    kernel = np.exp(-cdist(X, U, "sqeuclidean") / (2 * 0.7**2))
    expected = kernel / kernel.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weights, np.take_along_axis(expected, nearest, 1), rtol=1e-4)


def test_the_embedding_is_the_best_one_of_all_faces():
    rng = np.random.default_rng(0)
    apart = rng.normal(size=(40, 4, 6)) + 0.3
    gram = np.matmul(apart, apart.transpose(0, 2, 1))
    for G, z in zip(gram, embed(gram), strict=True):
        best = embedded(G)
        assert z @ G @ z <= best @ G @ best * (1 + 1e-4)


def test_a_point_of_the_hull_is_where_its_anchors_say():
    U = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    nearest, weights = AnchorWeights(U, 3, None, ORIGIN).of(np.array([[0.2, 0.3, 0.0]]))
    np.testing.assert_allclose(weights[0] @ U[nearest[0]], [0.2, 0.3, 0], atol=1e-3)


def test_anchors_that_are_the_point_itself_share_it():
    np.testing.assert_allclose(embed(np.zeros((2, 4, 4))), 0.25)


def test_the_nearest_point_of_the_simplex():
    V = np.random.default_rng(0).normal(size=(50, 3))
    found = project_on_simplex(V)
    grid = np.array([(i, j, 20 - i - j) for i in range(21) for j in range(21 - i)]) / 20
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found.min() >= 0
    assert (((found - V) ** 2).sum(axis=1) <= cdist(V, grid, "sqeuclidean").min(axis=1)).all()


def test_anchors_move_as_k_means_has_them():
    X = points(400)
    anchors = X[:10].astype(np.float32)
    move_to_means(X, anchors, ORIGIN, 5)
    kmeans = KMeans(10, init=X[:10], n_init=1, max_iter=5, tol=0).fit(X)
    # scikit-learn's last centers are those of its last assignment, too
    np.testing.assert_allclose(anchors, kmeans.cluster_centers_, atol=0.05)
    settled = anchors.copy()
    move_to_means(X, settled, ORIGIN, 200)
    again = settled.copy()
    move_to_means(X, again, ORIGIN, 1)
    np.testing.assert_array_equal(again, settled)


def test_an_anchor_of_no_point_stays():
    X = points(50)
    anchors = np.concatenate([X[:2], [[1e3] * 3]]).astype(np.float32)
    move_to_means(X, anchors, ORIGIN, 3)
    np.testing.assert_array_equal(anchors[2], 1e3)
