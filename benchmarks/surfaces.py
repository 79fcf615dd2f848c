"""Decision surfaces of RFF-MSSKSC: figure 1 of Mehrkanoon & Suykens (2016), moons and spirals.

20,000 points, of which 100 are labeled and 10,000 unlabeled, 300 random Fourier features, settings
chosen on 1,000 further labeled points (the paper does not say how many it validates with).
`python benchmarks/surfaces.py` prints accuracy on all other points; `--folder DIR` writes the
surface of each as SVG and the score on the grid as CSV.
"""

import argparse
import importlib
import itertools
import sys
import warnings
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import threadpoolctl
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
mssksc = importlib.import_module("mssksc")
synthetic = importlib.import_module("synthetic")

SETS = {"two-moons": synthetic.two_moons, "two-spirals": synthetic.two_spirals}
LABELED, VALIDATION = 100, 1000
GRID = {
    "sigma": (0.05, 0.1, 0.2, 0.4),
    "gamma1": (0.0, 0.5, 0.9),
    "gamma2": (1.0, 10.0, 100.0, 1000.0),
}
COLOURS = ("#0173b2", "#de8f05")


def fitted(X: np.ndarray, y: np.ndarray, features: int, **settings: float) -> object:
    """Fit RFF-MSSKSC; settings without a minimum are candidates like others."""
    model = mssksc.PrimalMSSKSC("fourier", features, random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the problem has no minimum")
        return model.fit(X, y)


def surface(model: object, X: np.ndarray, cells: int) -> pd.DataFrame:
    """Return the score on a grid around the points, with the edges of each cell."""
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    edges = [np.linspace(*ends, cells + 1) for ends in zip(low, high, strict=True)]
    centres = [(edge[1:] + edge[:-1]) / 2 for edge in edges]
    x, y = (axis.ravel() for axis in np.meshgrid(*centres))
    step = (high - low) / cells
    score = np.ravel(model.decision_function(np.column_stack([x, y])))
    grid = {"x": x, "y": y, "x2": x + step[0], "y2": y + step[1], "score": score}
    return pd.DataFrame(grid)


def drawn(grid: pd.DataFrame, X: np.ndarray, y: np.ndarray) -> alt.LayerChart:
    """Draw the classes of the grid, and the labeled points on them."""
    alt.data_transformers.disable_max_rows()
    colour = alt.Scale(domain=[0, 1], range=COLOURS)
    cells = grid.assign(label=(grid["score"] > 0).astype(int)).sort_values(["y", "x"])
    # neighbors of one class in a row of the grid are one rectangle
    ends = (cells[["y", "label"]] != cells[["y", "label"]].shift()).any(axis=1).cumsum()
    cells = cells.groupby(ends).agg(
        {"x": "first", "y": "first", "x2": "last", "y2": "first", "label": "first"}
    )
    known = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "label": y})
    axes = {"x": alt.X("x:Q", title=None), "y": alt.Y("y:Q", title=None)}
    ground = (
        alt.Chart(cells)
        .mark_rect(opacity=0.35)
        .encode(**axes, x2="x2", y2="y2", color=alt.Color("label:N", scale=colour, legend=None))
    )
    marks = (
        alt.Chart(known)
        .mark_point(filled=True, size=30, opacity=1, stroke="black", strokeWidth=0.6)
        .encode(**axes, color=alt.Color("label:N", scale=colour, legend=None))
    )
    return (ground + marks).properties(width=320, height=320)


def main() -> None:
    """Print a line a data set, and write its surface if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=300)
    parser.add_argument("--cells", type=int, default=80, help="of the grid, along one side")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with threadpoolctl.threadpool_limits(1):
        for name, generate in SETS.items():
            X, y = generate(np.random.default_rng(0), options.points)
            X = StandardScaler().fit_transform(X)
            order = np.random.default_rng(1).permutation(len(X))
            validation, train = np.split(order[: VALIDATION + len(X) // 2 + LABELED], [VALIDATION])
            known = np.where(np.arange(len(train)) < LABELED, y[train], -1)
            best = (-1.0, {})
            for values in itertools.product(*GRID.values()):
                settings = dict(zip(GRID, values, strict=True))
                model = fitted(X[train], known, options.features, **settings)
                score = float(np.mean(model.predict(X[validation]) == y[validation]))
                best = max(best, (score, settings), key=lambda pair: pair[0])
            model = fitted(X[train], known, options.features, **best[1])
            rest = order[VALIDATION + LABELED :]
            accuracy = np.mean(model.predict(X[rest]) == y[rest])
            told = ", ".join(f"{key}={value:g}" for key, value in best[1].items())
            print(f"{name}: accuracy {accuracy:.4f} on {len(rest):,} points ({told})", flush=True)
            if options.folder:
                options.folder.mkdir(parents=True, exist_ok=True)
                grid = surface(model, X, options.cells)
                columns = ["x", "y", "score"]
                grid.to_csv(
                    options.folder / f"{name}.csv",
                    columns=columns,
                    index=False,
                    float_format="%.4g",
                )
                labeled = train[:LABELED]
                chart = drawn(grid, X[labeled], y[labeled])
                chart.save(options.folder / f"{name}.svg")


if __name__ == "__main__":
    main()
