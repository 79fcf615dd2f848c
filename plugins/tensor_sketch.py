"""Ridge classification on a tensor sketch of the polynomial kernel, as scikit-learn has both.

Count sketches of x, one a factor, are multiplied by way of the Fourier transform (Pham & Pagh
2013). No formula says what the pipeline holds: its storage is learned, by measuring trials.
"""

from __future__ import annotations

from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from harness import Method, Shape, choice, hookimpl, log_uniform, sklearn_method


def sketch_sizes(shape: Shape) -> tuple[int, int]:
    """Return 10,000 features at the most, as of random Fourier features."""
    return 1, 10_000


@hookimpl
def harness_methods() -> list[Method]:
    """Provide it."""
    return [
        sklearn_method(
            make_pipeline(PolynomialCountSketch(degree=2, coef0=1), RidgeClassifier()),
            "tensor-sketch-ridge",
            size="polynomialcountsketch__n_components",
            sizes=sketch_sizes,
            space={
                "polynomialcountsketch__degree": choice([2, 3]),
                "polynomialcountsketch__gamma": log_uniform(1e-4, 1),
                "ridgeclassifier__alpha": log_uniform(1e-2, 1e3),
            },
            reference="pham2013",
        )
    ]
