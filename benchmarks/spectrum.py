"""Eigenvalues of the cluster kernel's L on whole data sets, beside what Hou et al. (2017) say.

The paper explains why NysCK does well on svmguide3 and SoCK on splice by their spectra: "the
spectrum in svmguide3 is highly skewed where the biggest eigenvalue is 1 and the others are almost
0 while in splice most eigenvalues are 1 and few are 0". `python benchmarks/spectrum.py svmguide3
splice` prints a row a width: eigenvalues of L = D^-1/2 K D^-1/2 in their order, shares of them,
and the effective rank, (sum e)^2 / sum e^2. Widths are in medians of the distances, and the
paper's 0.55 as it stands. `--csv FILE` writes the rows.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import threadpoolctl

from harness import kernels
from harness.datasets import load_catalog
from harness.datasets.preparation import load

PLACES = (1, 2, 3, 10, 100)


def spectrum(X: np.ndarray, sigma: float, unit: str) -> np.ndarray:
    """Return the eigenvalues of L in descending order, in double precision."""
    width = kernels.kernel_width(X, sigma, unit)
    K = kernels.gaussian_kernel(X, X, width)
    scale = K.sum(axis=1) ** -0.5
    K *= scale[:, None] * scale
    return np.linalg.eigvalsh(K)[::-1]


def summary(values: np.ndarray) -> dict[str, float]:
    """Return what the paper speaks of: how many eigenvalues are near 1, and how many near 0."""
    found = {f"e{place}": values[place - 1] for place in PLACES if place <= len(values)}
    return found | {
        "above 0.9": np.mean(values > 0.9),
        "above 0.5": np.mean(values > 0.5),
        "below 0.01": np.mean(values < 0.01),
        "effective rank": values.sum() ** 2 / np.sum(values**2),
    }


def main() -> None:
    """Print a row a data set and width."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--medians", type=float, nargs="+", default=[0.1, 0.25, 0.5, 1.0, 2.0])
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    widths = [("absolute", 0.55), *(("median", medians) for medians in options.medians)]
    rows = []
    with threadpoolctl.threadpool_limits(1):
        for name in options.sets:
            X, _ = load(load_catalog()[name])
            for unit, sigma in widths:
                values = spectrum(np.asarray(X, float), sigma, unit)
                named = {"data set": name, "n": len(X), "sigma": sigma, "unit": unit}
                rows.append(named | summary(values))
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    if options.csv:
        table.to_csv(options.csv, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
