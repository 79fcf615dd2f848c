"""How good the order of `harness advise` is: every data set left out once, and advised on.

    python benchmarks/advice.py [--metrics auc accuracy nmse] [--results results] [--scales]

For each setting of the data set that is left out (its points, labels and budget), methods are
those that have a score there. The regret of a rule is the best of their mean scores less that of
the method which the rule takes. It is averaged over the settings of a data set, then over data
sets; intervals are of 95 % over data sets. Sets of one source, such as german and credit-g, are
left out together. Generated ones are evidence, but nothing is judged by them.

Rules: `advise` is the first of its table; `fixed` always takes svm (krr for regression); `rank`
the method of the best mean rank on all other data sets; `mean` that of the best mean difference
there; `any` one at random. `fixed-` and `rank-` are how far `advise` is below theirs.
The last line says how often a score is within the interval that is told for it: 80 % are asked.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from harness.advice.advise import told_of
from harness.advice.evidence import read_evidence
from harness.advice.model import (
    Scores,
    fit_effects,
    level_interval,
    scores_of,
    setting_levels,
    shares,
)
from harness.advice.nearness import FAR, NEAR
from harness.report.statistics import half_width

ONE_SOURCE = (
    ("mnist", "mnist-4v9"),
    ("fashion_mnist", "fashion_mnist-0v6"),
    ("a9a", "adult"),
    ("w8a", "w8a-sparse"),
    ("german", "credit-g"),
    ("australian", "credit-a"),
    ("digits", "digits-odd"),
    ("sarcos_test", "sarcos_test-5", "sarcos_test-7"),
    ("abalone", "abalone-shucked"),
    ("covertype_subset", "covertype_subset-2", "covertype-shape"),
)
GENERATED = ("two-moons", "two-spirals", "covertype-shape", "susy-shape", "sylva-shape")
CONTROLS = ("prior", "random", "oracle")
FIXED = {"nmse": "krr", "r2": "krr"}
FEWEST = 3
"""Methods of a setting at least: among two there is little to choose."""


def main() -> None:
    """Print the regrets of all rules, a table a metric."""
    asked = _arguments()
    evidence = read_evidence(asked.results)
    for metric in asked.metrics:
        scores = scores_of(evidence, metric, CONTROLS)
        for scale in (0.25, NEAR, 1.0, 2.0, np.inf) if asked.scales else (NEAR,):
            print(f"{metric}, distances of {scale:g}")
            _print(pd.DataFrame(left_out(scores, FIXED.get(metric, "svm"), scale)))


def left_out(scores: Scores, fixed: str, scale: float) -> Iterator[dict[str, float | str]]:
    """Yield the regrets in each setting of each data set, told by the others."""
    source = {name: names[0] for names in ONE_SOURCE for name in names}
    sources = scores.settings["dataset"].map(lambda name: source.get(name, name))
    judged = ~scores.settings["dataset"].isin(GENERATED)
    for name in sorted(set(sources[judged])):
        others = scores.some((sources != name).to_numpy())
        mine = scores.some(((sources == name) & judged).to_numpy())
        everywhere = fit_effects(others.table, shares(others, mine.places[0], np.inf))
        ranked = _mean_ranks(others)
        for place, row in zip(mine.places, mine.table, strict=True):
            had = np.isfinite(row) & np.isfinite(others.table).any(axis=0)
            if had.sum() < FEWEST or not had[scores.methods.index(fixed)]:
                continue
            within = [scores.methods[at] for at in np.flatnonzero(had)]
            told, wide = told_of(others, place, within)
            effect = fit_effects(
                others.table, shares(others, place, scale if wide == NEAR else wide)
            )
            taken = {
                "advise": max(told, key=lambda name: effect[scores.methods.index(name)]),
                "fixed": fixed,
                "rank": scores.methods[int(np.argmin(np.where(had, ranked, np.inf)))],
                "mean": scores.methods[int(np.argmax(np.where(had, everywhere, -np.inf)))],
            }
            best = row[had].max()
            regrets = {rule: best - row[scores.methods.index(of)] for rule, of in taken.items()}
            low, _, high = level_interval(
                setting_levels(others, effect), shares(others, place, FAR)
            )
            inside = (row[had] >= low + effect[had]) & (row[had] <= high + effect[had])
            yield {
                "source": name,
                **regrets,
                "any": best - row[had].mean(),
                "inside": inside.mean(),
                "open": not np.isfinite(high - low),
            }


def _mean_ranks(scores: Scores) -> np.ndarray:
    """Return the mean rank of each method, as a share of the methods; data sets count alike."""
    count = np.isfinite(scores.table).sum(axis=1)[:, None]
    ranks = (pd.DataFrame(scores.table).rank(axis=1, ascending=False).to_numpy() - 0.5) / count
    means = pd.DataFrame(ranks).groupby(scores.datasets).mean().mean().to_numpy()
    return np.where(np.isfinite(means), means, np.inf)


def _print(settings: pd.DataFrame) -> None:
    means = settings.groupby("source").mean()
    for rule in ("fixed", "rank"):
        means[f"{rule}-"] = means[rule] - means["advise"]
    print(f"{len(means)} sources, {len(settings)} settings")
    print("rule      regret  95 % over data sets")
    for rule in ("advise", "fixed", "rank", "mean", "any", "fixed-", "rank-"):
        mean, half = means[rule].mean(), float(half_width(means[rule].std(), len(means)))
        print(f"{rule:<8}  {mean:.4f}  [{mean - half:.4f}, {mean + half:.4f}]")
    inside, unbounded = means["inside"].mean(), means["open"].mean()
    print(f"within the interval: {inside:.0%}; intervals without an end: {unbounded:.0%}")
    print()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--metrics", nargs="+", default=["auc", "accuracy", "nmse"])
    parser.add_argument("--results", type=Path, help="Studies of one's own, beside the kept ones.")
    parser.add_argument("--scales", action="store_true", help="Other distances than 0.5, too.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
