"""Online kernel machines on a budget of support vectors: one pass, prequential mistakes.

Each keeps at most B points of all that it has seen. They differ in what they do about one too
many: forget it at random or by age, project it, merge it, or move it to explicit features.
"""

from __future__ import annotations

from functools import partial

from harness import Arrays, Method, Shape, Storage, choice, hookimpl, kernels, log_uniform

from .bogd import BoundedOGD
from .bsgd import BudgetedSGD
from .dual_space import DualSpaceSGD
from .feature_descent import FourierOGD, NystromOGD, fourier_sizes, fourier_storage
from .machine import ROWS, kernel_storage
from .merging import merging_bytes
from .passive_aggressive import BudgetPassiveAggressive, update_bytes
from .perceptrons import Forgetron, RandomizedBudgetPerceptron, oldest_bytes
from .projectrons import Projectron, ProjectronPlusPlus
from .support import InverseGram
from .windows import WINDOW

Kernel = str | kernels.KernelFunction


def sizes(shape: Shape) -> tuple[int, int]:
    """Return one support vector at the least, and a quarter of the points or 200 at the most.

    No more are ever there, unless more than a quarter of the points taught something: a budget
    beyond that would be planned and not used.
    """
    n = shape.n_labeled
    return 1, max(1, min(n, max(200, n // 4)))


def _capacity(shape: Shape, size: int) -> int:
    return min(size, shape.n_labeled)


def rbp_storage(shape: Shape, size: int, kernel: Kernel = "rbf", paused: bool = False) -> Storage:
    """Count support vectors and a window."""
    return kernel_storage(shape, _capacity(shape, size), kernel, paused=paused)


def forgetron_storage(
    shape: Shape, size: int, kernel: Kernel = "rbf", paused: bool = False
) -> Storage:
    """Count kernel values of the oldest support vector besides."""
    b = _capacity(shape, size)
    oldest = Arrays(oldest=oldest_bytes(b, shape.n_features, kernel))
    return kernel_storage(shape, b, kernel, oldest, paused=paused)


def projectron_storage(
    shape: Shape, size: int, kernel: Kernel = "rbf", paused: bool = False
) -> Storage:
    """Count the inverse of the support vectors' kernel matrix besides."""
    b = _capacity(shape, size)
    return kernel_storage(shape, b, kernel, InverseGram.arrays(b), paused=paused)


def bpa_storage(shape: Shape, size: int, kernel: Kernel = "rbf", paused: bool = False) -> Storage:
    """Count what an update computes for each support vector besides."""
    b = _capacity(shape, size)
    return kernel_storage(shape, b, kernel, Arrays(update=update_bytes(b)), paused=paused)


def bsgd_storage(
    shape: Shape,
    size: int,
    kernel: Kernel = "rbf",
    maintenance: str = "merging",
    paused: bool = False,
) -> Storage:
    """Count one support vector more, and what brings them back to the budget."""
    b, besides = _capacity(shape, size) + 1, Arrays()
    if maintenance == "merging":
        besides = Arrays(partners=merging_bytes(b, shape.n_features))
    elif maintenance == "projection":
        besides = InverseGram.arrays(b, renewed=True)
    return kernel_storage(shape, b, kernel, besides, paused=paused)


def dual_storage(
    shape: Shape,
    size: int,
    kernel: Kernel = "rbf",
    n_components: int = 200,
    k: int = 20,
    frequencies: str = "gaussian",
    paused: bool = False,
) -> Storage:
    """Count random features of a window and of those given up besides."""
    b, m = _capacity(shape, size) + 1, min(WINDOW, shape.n_labeled)
    d, D, Q = shape.n_features, n_components, shape.n_machines
    kept = Arrays(
        frequencies=kernels.frequency_bytes(frequencies, d, max(1, D // 2), 4),
        auxiliary=8 * D * Q,
        phases=kernels.phase_bytes(frequencies, WINDOW, d, 4),
    )
    features = Arrays(
        features=4 * (m + min(k, b)) * D,
        single_auxiliary=4 * D * Q,
        converted=8 * min(8192, D * Q),  # a buffer of NumPy's, where it is added in float64
    )
    storage = kernel_storage(shape, b, kernel, features, kept, paused)
    assert storage.predict is not None, "what predicts is told apart"
    rows = Arrays(feature_rows=4 * min(ROWS, shape.block_rows) * (D + d))
    expansion = storage.predict["a block"]
    # after the kernel expansion, whose rows are gone by then
    beside = {name: many for name, many in expansion.items() if name not in ("rows", "kernel")}
    fit = dict(storage.fit)
    if paused:
        fit["a pause"] = fit["a pause"] + rows
    return Storage(fit, {**storage.predict, "features of a block": rows + beside})


def nogd_storage(
    shape: Shape,
    size: int,
    kernel: Kernel = "rbf",
    rank: int | None = None,
    paused: bool = False,
) -> Storage:
    """Count the eigensystem of the support vectors' kernel matrix, and then features."""
    b, m, Q = _capacity(shape, size), min(WINDOW, shape.n_labeled), shape.n_machines
    r = min(rank or max(1, size // 5), b)
    kept = Arrays(projection=4 * b * r, weights=8 * r * Q)
    window = Arrays(features=8 * m * r + 12 * r * Q + 4 * m * m)
    storage = kernel_storage(shape, b, kernel, window, kept, paused)
    if b < size:
        return storage
    square = Arrays(kernels.eigen_arrays(b)) + Arrays(single=4 * b * b)
    phase = storage.fit["a window"] + square
    return Storage({**storage.fit, "eigenvectors": phase}, storage.predict)


@hookimpl
def harness_methods() -> list[Method]:
    """Provide online kernel machines."""
    online = partial(
        Method, size="budget", sizes=sizes, tasks={"binary", "multiclass"}, uses_unlabeled=False
    )
    width = {"sigma": choice([0.25, 0.5, 1.0, 2.0, 4.0])}
    eta = {"eta": log_uniform(0.01, 1)}
    rate, alpha = {"eta0": log_uniform(0.01, 10)}, {"alpha": log_uniform(1e-6, 1e-2)}
    return [
        online(
            "rbp", RandomizedBudgetPerceptron, rbp_storage, space=width, reference="cavallanti2007"
        ),
        online("forgetron", Forgetron, forgetron_storage, space=width, reference="dekel2008"),
        online(
            "projectron",
            Projectron,
            projectron_storage,
            space=width | eta,
            reference="orabona2009",
        ),
        online(
            "projectron-pp",
            ProjectronPlusPlus,
            projectron_storage,
            space=width | eta,
            reference="orabona2009",
        ),
        online(
            "bpa-s",
            BudgetPassiveAggressive,
            bpa_storage,
            space=width | {"C": log_uniform(0.01, 100)},
            reference="wang2010",
        ),
        online("bsgd", BudgetedSGD, bsgd_storage, space=width | alpha, reference="wang2012"),
        online("bogd", BoundedOGD, rbp_storage, space=width | rate, reference="zhao2012"),
        online("nogd", NystromOGD, nogd_storage, space=width | rate, reference="lu2016"),
        online(
            "fogd",
            FourierOGD,
            fourier_storage,
            size="n_components",
            sizes=fourier_sizes,
            space=width | rate,
            reference="lu2016",
        ),
        online("dual-sgd", DualSpaceSGD, dual_storage, space=width | alpha, reference="le2016"),
    ]
