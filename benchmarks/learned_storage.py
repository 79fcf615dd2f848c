"""Learned storage models of twelve foreign estimators against the peaks of a study's trials.

    python benchmarks/learned_storage.py [--datasets breast_cancer digits ...] [--methods ...]
        [--labeled 1000] [--test 1500] [--budgets 5MB 20MB] [--seeds 2] [--cores 2]

Writes a plugin of estimators that no one here wrote, none with a storage model, and a study of
them into a temporary folder, runs it, and prints for each method how measured peaks relate to
planned ones: trials that ended ok, the least, median and greatest ratio, the share within 0.80 and
1.00, the share above 1, and trials that were taken again. Of plans below 1 MB little is said by
that: an eighth of a megabyte of each is for what marks differ by. The last lines leave them out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
import yaml

LOW, HIGH = 0.80, 1.00
SMALL = 1_000_000

PLUGIN = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
from sklearn.svm import SVC, LinearSVC

from harness import hookimpl, sklearn_method


class NystroemRidge(ClassifierMixin, BaseEstimator):
    def __init__(self, n_components=100, random_state=None):
        self.n_components, self.random_state = n_components, random_state

    def fit(self, X, y):
        landmarks = Nystroem(n_components=self.n_components, random_state=self.random_state)
        self.pipeline_ = make_pipeline(landmarks, RidgeClassifier()).fit(X, y)
        return self

    def decision_function(self, X):
        return self.pipeline_.decision_function(X)

    def predict(self, X):
        return self.pipeline_.predict(X)


@hookimpl
def harness_methods():
    yield sklearn_method(LabelSpreading)
    yield sklearn_method(LabelPropagation, "propagation-knn", params={"kernel": "knn"})
    yield sklearn_method(KNeighborsClassifier, "nearest")
    yield sklearn_method(SVC, "libsvm")
    yield sklearn_method(
        SVC,
        "self-training-svc",
        unlabeled="self-training",
        params={"probability": True},
        size="n_unlabeled",
    )
    yield sklearn_method(HistGradientBoostingClassifier, "boosting")
    yield sklearn_method(MLPClassifier, "mlp")
    yield sklearn_method(
        RandomForestClassifier, "forest", size="n_estimators", sizes=lambda shape: (1, 500)
    )
    yield sklearn_method(
        NystroemRidge,
        "landmarks-ridge",
        size="n_components",
        sizes=lambda shape: (1, min(3_000, shape.n)),
    )
    yield sklearn_method(LogisticRegression)
    yield sklearn_method(GaussianNB)
    yield sklearn_method(LinearSVC, "liblinear")
"""

METHODS = (
    *("label-spreading", "propagation-knn", "nearest", "libsvm", "self-training-svc", "boosting"),
    *("mlp", "forest", "landmarks-ridge", "logistic-regression", "gaussian-nb", "liblinear"),
)
DATASETS = (
    *("kr-vs-kp", "splice", "magic", "shuttle", "ijcnn1"),
    *("mnist-4v9", "adult", "a9a", "cod-rna", "covertype_subset"),
)


def main() -> None:
    """Run the study and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--labeled", type=int, default=1_000)
    parser.add_argument("--test", type=int, default=1_500)
    parser.add_argument("--budgets", nargs="+", default=["5MB", "20MB"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--cores", type=int, default=2)
    asked = parser.parse_args()
    study = {
        "datasets": list(asked.datasets),
        "methods": list(asked.methods),
        "labeled": asked.labeled,
        "evaluation": {"test": asked.test, "unlabeled_per_labeled": 10},
        "budgets": asked.budgets,
        "seeds": asked.seeds,
        "plugins": ["foreign"],
        "limits": {"time": "60s"},
    }
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "foreign").mkdir()
        (folder / "foreign" / "foreign.py").write_text(PLUGIN)
        (folder / "learned.yaml").write_text(yaml.safe_dump(study))
        command = [sys.executable, "-m", "harness.cli", "run", "learned.yaml"]
        command += ["--cores", str(asked.cores)]
        subprocess.run(command, cwd=folder, check=True, env=os.environ)
        told(folder / "results" / "learned" / "trials.parquet")


def told(path: Path) -> None:
    """Print the ratios of a study's table."""
    from harness.records.table import read_table

    table = read_table(path)
    ended = table[table["outcome"] == "ok"].copy()
    ended["ratio"] = (ended["peak_bytes"] / ended["planned_bytes"]).astype(float)
    line = "{:28}{:>7}{:>8}{:>8}{:>8}{:>9}{:>8}{:>8}"
    print(line.format("method", "trials", "least", "median", "most", "within", "above", "again"))
    for method, rows in ended.groupby("method"):
        print(line.format(str(method), *figures(rows)))
    print(line.format("all", *figures(ended)))
    large = ended[ended["planned_bytes"] >= SMALL]
    if len(large):
        print(line.format("all planned above 1 MB", *figures(large)))
    outcomes = table["outcome"].value_counts().to_dict()
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))


def figures(rows: pd.DataFrame) -> list[str]:
    """Return what is printed of some trials."""
    ratio = rows["ratio"]
    return [
        str(len(rows)),
        *(f"{value:.3f}" for value in (ratio.min(), ratio.median(), ratio.max())),
        f"{ratio.between(LOW, HIGH).mean():.1%}",
        f"{(ratio > HIGH).mean():.1%}",
        str(int((rows["taken_again"] > 0).sum())),
    ]


if __name__ == "__main__":
    main()
