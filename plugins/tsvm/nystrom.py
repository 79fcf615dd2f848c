"""TSVM on Nystrom features of all points, each product with which takes n s operations."""

from __future__ import annotations

import mmap

import numpy as np

from harness import Arrays, Shape, Storage, kernels
from harness.semi_supervised import (
    Labels,
    LandmarkMachine,
    landmark_machine_block,
    landmark_machine_phases,
)

from .machine import TransductiveMachine


class NystromTransductiveSVM(LandmarkMachine, TransductiveMachine):
    """The machine of features z(x) = L^-1 k(B, x), L L' = K_BB, of landmarks B."""

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        self._multiply_with(self._hold_features(X), labeled, np.float32)

    def _weights_of(self, coefficients: np.ndarray) -> np.ndarray:
        return self._expand(coefficients)

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        super()._finish(X, labels)
        self._let_go()


def storage(
    shape: Shape,
    size: int,
    form: str = "switching",
    selector: str | kernels.Selector = "uniform",
) -> Storage:
    """Count features of all points, 4 n s, with landmarks and L, and vectors of one machine."""
    n, Q = shape.n, shape.n_machines
    scores = Arrays(scores=8 * n * Q)
    # vectors as those of the exact machine: `storage` of the plugin
    vectors = 18 if form == "switching" else 20
    machines = scores + Arrays(
        labels=8 * shape.n_labeled * (Q + 2),
        coefficients=4 * n * Q,
        left_in_the_heap=min(6 * 8 * n, 1 << 19),
    )
    training = {
        "machine": machines + Arrays(vectors=vectors * (8 * n + mmap.PAGESIZE)),
        "scores": machines
        + Arrays(
            held_out_scores=8 * shape.n_labeled * Q, order=16 * n, expansion=12 * min(size, n) * Q
        ),
    }
    fit = landmark_machine_phases(shape, size, selector, training)
    new = scores + Arrays(order=8 * n) + landmark_machine_block(shape, size)
    return Storage(fit, {"a block": new}, Arrays(X=shape.data_bytes))
