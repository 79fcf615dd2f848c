"""The tensor sketch is scikit-learn's, and stands for the polynomial kernel."""

import numpy as np
import pytest
from registered import LEARNED
from sklearn.base import clone
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import polynomial_kernel

from harness import Shape
from harness.scikit_learn import foreign

(METHOD,) = (method for method in LEARNED if method.name == "tensor-sketch-ridge")
SKETCH = "polynomialcountsketch__"


@pytest.fixture(scope="module")
def xor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_scores_are_those_of_the_library_bit_for_bit(xor):
    X, y = xor
    known = np.where(np.arange(300) % 3, y, -1)
    ours = METHOD.estimator(**{SKETCH + "n_components": 50}, random_state=7).fit(X, known)
    sketch, ridge = (clone(step) for step in foreign(ours))
    assert (sketch.n_components, sketch.degree, sketch.coef0) == (50, 2, 1)
    ridge.fit(sketch.fit_transform(X[known >= 0]), y[known >= 0])
    expected = ridge.decision_function(sketch.transform(X))
    np.testing.assert_array_equal(ours.decision_function(X), expected)


def test_it_learns_what_no_linear_model_does(xor):
    X, y = xor
    model = METHOD.estimator(**{SKETCH + "n_components": 400}, random_state=0).fit(
        X[:200], y[:200]
    )
    assert (model.predict(X[200:]) == y[200:]).mean() > 0.85
    assert RidgeClassifier().fit(X[:200], y[:200]).score(X[200:], y[200:]) < 0.7


def test_products_of_features_are_the_polynomial_kernel_on_the_mean(xor):
    X = xor[0][:20]
    exact = polynomial_kernel(X, degree=2, gamma=1, coef0=1)
    products = []
    for seed in range(200):
        sketch = PolynomialCountSketch(degree=2, coef0=1, n_components=64, random_state=seed)
        Z = sketch.fit_transform(X)
        products.append(Z @ Z.T)
    error = np.std(products, axis=0) / 200**0.5
    assert (np.abs(np.mean(products, axis=0) - exact) <= 5 * error + 1e-9).all()


def test_its_storage_is_learned_and_its_size_is_the_features_of_the_sketch():
    assert METHOD.learns_storage
    assert METHOD.size == SKETCH + "n_components"
    assert METHOD.sizes(Shape(10, 0, 3, 2)) == (1, 10_000)
