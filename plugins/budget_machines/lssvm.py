"""The budgeted LSSVM: least squares over all labeled points (Castellanos 2021, algorithm 3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError

from harness import Arrays, Shape, Storage, beside, kernels
from harness.semi_supervised import Labels

from .duality_gap import bounds_bytes, feature_sums
from .least_squares import ROUNDINGS, refine_ridge_machines, train_ridge_machines
from .machine import EXACT, BudgetMachine, held_out_arrays, sgd_phases, shared_phases
from .objective import LandmarkProblem

# Of the gap, where sums of features are not exact enough: at a large C most of the objective are
# losses, and a thousandth of it moves scores by 1.4 % of their range.
_REFINED = 1e-5


class BudgetLSSVM(BudgetMachine):
    """Minimise |w|^2 / 2 + C / 2 sum_i (y_i - f(x_i))^2, least squares (equation 4-13).

    Parameters and attributes are those of `BudgetSVM`, without `smoothing`; "exact" is one pass
    and one factorisation, and up to four passes more where rounding may matter.
    """

    _loss = "squared"
    multiplier_term: bool = False
    """True adds -sum_j alpha_j over the landmarks, as equation 4-13 is printed, where alpha_j =
    y_j a_j; a landmark without a label adds nothing. The term belongs to the dual problem:
    without it the machine with B = X is the LS-SVM of equation 4-9 with gamma = C. A constant,
    y_B' K_BB^-1 y_B / 2, keeps `objective_` from falling below 0.
    """

    def _prepare(self) -> None:
        self._classes: np.ndarray | None = None
        self._codes: np.ndarray  # set with `_classes`
        # Sums over few labels have no full rank, and in those with an outlier are no digits of the
        # others: taking a fold from them would leave rounding.
        features, points = self._features, (self._X, self._rows)
        if len(self._rows) > 2 * features.n_components and not features.is_uneven(*points):
            self._prepared, _ = features.sums(*points, None, 0)

    def _sums(
        self, some: np.ndarray, codes: np.ndarray, n_classes: int
    ) -> tuple[np.ndarray, np.ndarray]:
        return self._features.sums(self._X, self._rows[some], codes[some], n_classes)

    def _minimise(self, labels: Labels, n: int) -> None:
        Q, codes = len(labels.classes), labels.codes_of_all(n)
        counts = np.bincount(labels.codes, minlength=Q)
        center = self._problem(labels).own
        if center is not None:
            center = feature_sums(self._features, center)
        for rounding in ROUNDINGS:
            if not isinstance(self._prepared, np.ndarray) or rounding > ROUNDINGS[0]:
                gram, sums = self._sums(labels.rows, codes, Q)
            else:
                gram, sums = self._without_held_out(self._prepared, labels, codes)
            system = (gram, sums[:, :Q], counts, self.C, rounding, center)
            found = train_ridge_machines(self._features, *system)
            del gram, sums, system
            if found is not None:
                break
        else:
            raise LinAlgError("the sums of features are not positive definite")
        problem = self._problem(labels)
        uneven = self._features.is_uneven(self._X, self._rows[labels.rows])
        if found.doubt > EXACT * found.objective or uneven:
            self._take(*refine_ridge_machines(problem, found, _REFINED))
            return
        self.coef_ = self._features.expansion(found.weights)
        self.intercept_, self.objective_ = found.intercepts, found.objective
        self.gap_ = found.doubt / found.objective

    def _part_that_falls(self, labels: Labels) -> float:
        # with the extra term w = 0 is no start, but far from it
        return 1.0 if self.multiplier_term else super()._part_that_falls(labels)

    def _problem(self, labels: Labels) -> LandmarkProblem:
        problem = super()._problem(labels)
        if not self.multiplier_term:
            return problem
        landmarks = self._chosen[self._features.kept]
        places = np.minimum(np.searchsorted(problem.rows, landmarks), len(problem.rows) - 1)
        own = problem.targets(places) * (problem.rows[places] == landmarks)[:, None]
        return replace(problem, own=own.astype(np.float64))

    def _without_held_out(
        self, whole: np.ndarray, labels: Labels, codes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take the held-out rows from the sums over all rows.

        Folds show the labels of all rows in turn: what is known of a row's class stays known, and
        only rows that are held out, or were so far, are computed again.
        """
        Q, held = len(labels.classes), np.flatnonzero(codes < 0)
        if (
            self._classes is None
            or not np.array_equal(self._classes, labels.classes)
            or ((self._codes >= 0) & (codes >= 0) & (self._codes != codes)).any()
        ):
            self._classes = labels.classes
            self._codes = np.full_like(codes, -1)
            self._by_class: np.ndarray = np.zeros(())
        new = np.flatnonzero((codes >= 0) & (self._codes < 0))
        self._codes[new] = codes[new]
        added = self._features.class_sums(self._X, self._rows[new], codes[new], Q)
        self._by_class = self._by_class + added
        gram, sums = self._sums(held, self._codes, Q)
        gram *= -1
        gram += whole
        return gram, self._by_class - sums


def lssvm_storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "uniform",
    solver: str = "exact",
    multiplier_term: bool = False,
    tuned: bool = False,
) -> Storage:
    """Count b landmarks with their factor, a Gram matrix, and a block of features.

    8 n d + 4 b d + 12 b^2, and 8 b^2 more for the Gram matrix of all folds where C is searched.
    """
    b, Q = min(size, shape.n), max(1, shape.n_classes)
    choosing, held, block, predict = shared_phases(shape, size, kernel, selector)
    if solver == "exact":
        training = _exact_phases(shape, b, block, tuned)
    else:
        training = sgd_phases(shape, b, "squared", block, tuned)
    if multiplier_term:
        # y of the landmarks and what is made of it, and their rows
        held += Arrays(multipliers=8 * 4 * b * Q, landmark_rows=16 * b)
    return Storage(
        fit=choosing | beside(held, training),
        predict=predict,
    )


def _exact_phases(shape: Shape, b: int, block: int, tuned: bool) -> dict[str, Arrays]:
    n, Q = shape.n_labeled, max(1, shape.n_classes)
    columns = b * (Q + 1)
    bounds = bounds_bytes(n, b, shape.n_features, Q, "squared")
    phases = {
        "Gram matrix": Arrays(
            gram=kernels.GramSum.bytes(b),
            features=block,
            panel=kernels.GramSum.panel_bytes(b),
            # which row is of which class, in one byte and in float32
            classes=5 * (Q + 1) * min(n, block // (4 * b)),
            sums_by_class=12 * columns,
        ),
        "solution": Arrays(gram=8 * b * b, right_hand_sides=8 * 3 * columns),
        "duality gap": Arrays(gram=8 * b * b, bounds=bounds),
    }
    if not tuned:
        return phases
    # the matrix of all rows is kept where they are more than twice the features, in which case
    # these may be fewer than landmarks, and L smaller
    few = min(b, n // 2)
    kept = Arrays(
        gram_of_all=max(0, 20 * few * few - 12 * b * b),
        sums_of_all=16 * columns,
        classes_so_far=8 * n,
    )
    phases["held-out scores"] = held_out_arrays(shape)
    return beside(kept, phases)
