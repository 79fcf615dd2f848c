"""For each method problems of several MB that have their peak in one phase each.

Found by drawing 900 shapes for each method, and by keeping those in which an array of the phase
that is the peak is a large part of it: together they cover every phase that was the peak of one,
and every array that was an eighth. Widths are so narrow that kernel matrices have full rank.
`least` is what was measured of the plan, less 0.04 to 0.09.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness import Shape


@dataclass(frozen=True)
class Problem:
    """A shape and a size, where their peak is, and the least share of the plan that is held."""

    phase: str
    shape: Shape
    size: int | None
    task: str
    least: float
    params: Mapping[str, Any] = field(default_factory=dict)


PROBLEMS = {
    "nysck": [
        Problem("fit: eigensystem", Shape(36, 547, 25, 2, itemsize=4), 542, "binary", 0.8),
        Problem(
            "fit: Gram matrix",
            Shape(1053, 13087, 61, 3, n_test=1000, itemsize=4),
            325,
            "multiclass",
            0.85,
        ),
        Problem("fit: threshold", Shape(326, 1214, 710, 2, itemsize=4), 1, "binary", 0.75),
        Problem("fit: machines", Shape(2662, 2620, 172, 26, itemsize=4), 2, "multiclass", 0.75),
        Problem("predict: a block", Shape(22, 1815, 317, 2, n_test=1000), 7, "binary", 0.8),
        Problem("fit: width", Shape(273, 3014, 216, 2), 24, "binary", 0.85),
        Problem("fit: labeled features", Shape(2236, 372, 5, 2), 540, "binary", 0.85),
        Problem("fit: machines", Shape(2234, 72, 19, 26, n_test=1000), 613, "multiclass", 0.85),
        Problem(
            "fit: labeled features", Shape(2016, 43, 609, 3, itemsize=4), 315, "multiclass", 0.85
        ),
        Problem("fit: eigensystem", Shape(123, 7601, 115, 10), 360, "multiclass", 0.9),
        Problem(
            "fit: eigensystem",
            Shape(433, 149, 53, 26, n_test=1000),
            446,
            "multiclass",
            0.65,
            {"degrees": "exact"},
        ),
        Problem(
            "fit: landmark features",
            Shape(587, 972, 475, 10, itemsize=4),
            156,
            "multiclass",
            0.7,
            {"degrees": "exact"},
        ),
        Problem(
            "fit: Gram matrix",
            Shape(2608, 3876, 106, 10),
            1,
            "multiclass",
            0.85,
            {"degrees": "exact"},
        ),
        Problem(
            "fit: kernel matrix",
            Shape(1133, 13694, 38, 3),
            331,
            "multiclass",
            0.85,
            {"variant": "literal"},
        ),
        Problem(
            "fit: eigensystem",
            Shape(52, 1378, 691, 26, itemsize=4),
            621,
            "multiclass",
            0.85,
            {"variant": "literal"},
        ),
    ],
    "sock": [
        Problem(
            "predict: a block",
            Shape(1119, 1380, 307, 2, n_test=1000, itemsize=4),
            2,
            "binary",
            0.85,
        ),
        Problem("fit: held-out scores", Shape(2236, 372, 5, 2), 251, "binary", 0.8),
        Problem("fit: degrees", Shape(326, 1214, 710, 2, itemsize=4), 1, "binary", 0.85),
        Problem("predict: seen points", Shape(2608, 3876, 106, 10), 1, "multiclass", 0.75),
        Problem("fit: machines", Shape(4422, 3862, 84, 26, itemsize=4), 23, "multiclass", 0.8),
        Problem("fit: machines", Shape(3339, 56, 18, 10, itemsize=4), 165, "multiclass", 0.9),
        Problem("predict: seen points", Shape(52, 9989, 26, 26), 1, "multiclass", 0.7),
        Problem("fit: held-out scores", Shape(3651, 2543, 80, 3), 24, "multiclass", 0.85),
        Problem("fit: step", Shape(728, 62, 462, 2), 232, "binary", 0.85),
        Problem("fit: step", Shape(433, 149, 53, 26, n_test=1000), 446, "multiclass", 0.8),
        Problem(
            "predict: seen points", Shape(84, 4716, 74, 10, itemsize=4), 144, "multiclass", 0.8
        ),
        Problem(
            "predict: a block", Shape(1171, 5563, 34, 10, n_test=1000), 118, "multiclass", 0.85
        ),
        Problem("fit: step", Shape(67, 4420, 21, 3, itemsize=4), 224, "multiclass", 0.85),
    ],
    "xnv": [
        Problem(
            "fit: coefficients",
            Shape(1172, 1438, 19, 10, n_test=1000, itemsize=4),
            392,
            "multiclass",
            0.9,
        ),
        Problem("fit: Gram matrix", Shape(212, 673, 211, 10), 307, "multiclass", 0.9),
        Problem(
            "fit: rows", Shape(857, 2496, 665, 2, n_test=1000, itemsize=4), 288, "binary", 0.9
        ),
        Problem("fit: coordinates", Shape(888, 52, 747, 2, n_test=1000), 1, "binary", 0.9),
        Problem("predict: a block", Shape(24, 1536, 382, 10), 1, "multiclass", 0.85),
        Problem("fit: width", Shape(1561, 101, 906, 2, n_test=1000, itemsize=4), 3, "binary", 0.9),
        Problem(
            "fit: canonical correlations",
            Shape(24, 917, 124, 0, itemsize=4),
            347,
            "regression",
            0.9,
        ),
        Problem("fit: rows", Shape(24, 1773, 672, 2, n_test=1000, itemsize=4), 17, "binary", 0.9),
        Problem("fit: coefficients", Shape(4304, 80, 194, 2, n_test=1000), 64, "binary", 0.9),
        Problem("fit: Gram matrix", Shape(42, 817, 11, 10), 328, "multiclass", 0.9),
        Problem("fit: canonical correlations", Shape(32, 1662, 348, 2), 350, "binary", 0.9),
    ],
    "xks": [
        Problem("fit: coefficients", Shape(1134, 32, 5, 0), 523, "regression", 0.9),
        Problem("fit: coordinates", Shape(888, 52, 747, 2, n_test=1000), 2, "binary", 0.9),
        Problem("predict: a block", Shape(24, 1536, 382, 10), 2, "multiclass", 0.8),
        Problem("fit: width", Shape(1561, 101, 906, 2, n_test=1000, itemsize=4), 7, "binary", 0.9),
        Problem(
            "fit: Gram matrix",
            Shape(502, 1629, 897, 2, n_test=1000, itemsize=4),
            257,
            "binary",
            0.9,
        ),
        Problem(
            "fit: coefficients", Shape(3329, 1485, 193, 26, itemsize=4), 23, "multiclass", 0.9
        ),
        Problem(
            "fit: canonical correlations", Shape(31, 449, 244, 2, itemsize=4), 383, "binary", 0.9
        ),
        Problem(
            "fit: canonical correlations",
            Shape(145, 2988, 394, 3, n_test=1000, itemsize=4),
            339,
            "multiclass",
            0.9,
        ),
    ],
    "tsvm": [
        Problem("predict: a block", Shape(670, 99, 960, 10), 2, "multiclass", 0.85),
        Problem("fit: kernel matrix", Shape(1542, 420, 22, 2), 1, "binary", 0.9),
        Problem(
            "fit: machine", Shape(2068, 57, 575, 2, n_test=1000, itemsize=4), 2, "binary", 0.9
        ),
        Problem("fit: kernel matrix", Shape(1070, 176, 730, 2), 2, "binary", 0.85),
        Problem("fit: scores", Shape(1642, 874, 160, 26, itemsize=4), 2, "multiclass", 0.85),
        Problem(
            "fit: scores",
            Shape(1423, 1134, 657, 26, n_test=1000, itemsize=4),
            7,
            "multiclass",
            0.9,
        ),
    ],
}
