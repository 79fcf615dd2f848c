"""Learned storage models of twelve foreign estimators against the peaks of other trials.

    pip install -e '.[boosting]' river
    python benchmarks/learned_storage.py [--datasets breast_cancer digits ...] [--methods ...]
        [--labeled 400] [--test 300] [--budgets 3MB 8MB 25MB] [--seeds 2] [--cores 2]
        [--folder kept]

Writes a plugin for each estimator, which no one here wrote, none with a storage model, and a study
of them. Of each method on each data set it learns what is held, as the study would, and then runs
trials of other draws at what is planned, each under its budget, and again at less where one runs
over its budget. It prints for each method and each data set how peaks relate to plans: trials that
ended ok, the least, median and greatest ratio, the share within 0.80 and 1.00, the share above 1,
and trials that were taken again; and what learning took on a data set: trials and seconds, in the
mean. A folder that is named is kept, and a run that was ended there goes on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

LOW, HIGH = 0.80, 1.00
LARGE = 1_000_000
"""Bytes of a plan beside which it is little that one mark reads 0.13 MB lower than another."""

SHARES = (1.0, 0.95, 0.9, 0.8, 0.65, 0.5, 0.3)
FIRST_DRAW = 100
"""Repeats that learning measures have smaller numbers."""

HEAD = "from harness import hookimpl, sklearn_method\n"
HOOK = "\n\n@hookimpl\ndef harness_methods():\n    yield sklearn_method("

SUPERVISED = {
    "nearest": ("sklearn.neighbors", 'KNeighborsClassifier, "nearest"'),
    "libsvm": ("sklearn.svm", 'SVC, "libsvm"'),
    "boosting": ("sklearn.ensemble", 'HistGradientBoostingClassifier, "boosting"'),
    "network": ("sklearn.neural_network", 'MLPClassifier, "network"'),
    "forest": (
        "sklearn.ensemble",
        'RandomForestClassifier, "forest", size="n_estimators", sizes=lambda shape: (1, 500)',
    ),
    "logistic-regression": ("sklearn.linear_model", "LogisticRegression"),
    "gaussian-nb": ("sklearn.naive_bayes", 'GaussianNB, "gaussian-nb"'),
    "liblinear": ("sklearn.svm", 'LinearSVC, "liblinear"'),
    "rbf-label-spreading": (
        "sklearn.semi_supervised",
        'LabelSpreading, "rbf-label-spreading", params={"gamma": 0.1}',
    ),
    "propagation-knn": (
        "sklearn.semi_supervised",
        'LabelPropagation, "propagation-knn", params={"kernel": "knn"}',
    ),
    "self-training-svc": (
        "sklearn.svm",
        'SVC, "self-training-svc", unlabeled="self-training", params={"probability": True}, '
        'size="n_unlabeled"',
    ),
    "lightgbm-self-training": (
        "lightgbm",
        'LGBMClassifier, "lightgbm-self-training", unlabeled="self-training", '
        'size="n_estimators", '
        'sizes=lambda shape: (1, 100), params={"n_jobs": 1, "verbose": -1}',
    ),
    "xgboost-self-training": (
        "xgboost",
        'XGBClassifier, "xgboost-self-training", unlabeled="self-training", size="n_estimators", '
        "sizes=lambda shape: (1, 100)",
    ),
}

WRITTEN = {
    "landmarks-ridge": """from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
""",
    "sgd-in-chunks": """from sklearn.linear_model import SGDClassifier


class Streamed(SGDClassifier):
    def fit(self, X, y):
        for start in range(0, len(X), 100):
            rows = slice(start, start + 100)
            self.partial_fit(X[rows], y[rows], classes=range(max(y) + 1))
        return self
""",
    "river": """from river import tree
from river.compat import River2SKLClassifier


class River(River2SKLClassifier):
    def __init__(self):
        super().__init__(tree.HoeffdingTreeClassifier())
""",
}
NAMED = {
    "landmarks-ridge": 'make_pipeline(Nystroem(), RidgeClassifier()), "landmarks-ridge", '
    'size="nystroem__n_components", sizes=lambda shape: (1, min(3_000, shape.n))',
    "sgd-in-chunks": 'Streamed, "sgd-in-chunks"',
    "river": 'River, "river"',
}

METHODS = (
    *(
        "sgd-in-chunks",
        "landmarks-ridge",
        "boosting",
        "river",
        "xgboost-self-training",
        "rbf-label-spreading",
    ),
    *("nearest", "libsvm", "network", "lightgbm-self-training", "forest", "self-training-svc"),
)
DATASETS = (
    *("kr-vs-kp", "adult", "covertype_subset", "cod-rna", "magic"),
    *("ijcnn1", "splice", "a9a", "shuttle", "mnist-4v9"),
)
STUDY = "learned.yaml"


def plugin(name: str) -> str:
    """Return a plugin of one foreign method."""
    if name in WRITTEN:
        return f"{WRITTEN[name]}\n\n{HEAD}{HOOK}{NAMED[name]})\n"
    module, call = SUPERVISED[name]
    return f"from {module} import {call.partition(',')[0]}\n\n{HEAD}{HOOK}{call})\n"


def main() -> None:
    """Learn and run, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    known = [*SUPERVISED, *WRITTEN]
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=known)
    parser.add_argument("--labeled", type=int, default=400)
    parser.add_argument("--test", type=int, default=300)
    parser.add_argument("--budgets", nargs="+", default=["3MB", "8MB", "25MB"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--pair", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.pair:
        for row in rows(*asked.pair, asked.seeds):
            print(json.dumps(row), flush=True)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = (asked.folder or Path(place)).resolve()
        write_study(folder, asked)
        pairs = [(dataset, name) for dataset in asked.datasets for name in asked.methods]
        with ThreadPoolExecutor(asked.cores) as pool:
            found = pool.map(lambda pair: measured_pair(folder, *pair, asked.seeds), pairs)
            told(pd.DataFrame([row for some in found for row in some]))


def write_study(folder: Path, asked: argparse.Namespace) -> None:
    """Write the plugins and the study, and prepare its data sets."""
    study = {
        "datasets": list(asked.datasets),
        "methods": list(asked.methods),
        "labeled": asked.labeled,
        "evaluation": {"test": asked.test, "unlabeled_per_labeled": 3},
        "budgets": asked.budgets,
        "seeds": asked.seeds,
        "plugins": ["foreign"],
        "limits": {"time": "30s"},
    }
    (folder / "foreign").mkdir(parents=True, exist_ok=True)
    for name in asked.methods:
        path = folder / "foreign" / f"{name.replace('-', '_')}_plugin.py"
        path.write_text(plugin(name))
    (folder / STUDY).write_text(yaml.safe_dump(study))
    listing = "from harness.planning.workload import load_workload\n"
    listing += f"w = load_workload({STUDY!r})\n"
    listing += "print(*(w.prepared(name).name for name in w.datasets()))"
    done = subprocess.run(
        [sys.executable, "-c", listing], cwd=folder, check=True, capture_output=True, text=True
    )
    for directory in done.stdout.split():
        job = [sys.executable, "-m", "harness.jobs", "dataset", STUDY, directory]
        if not (folder / "prepared" / directory / "meta.json").exists():
            subprocess.run(job, cwd=folder, check=True)


def measured_pair(folder: Path, dataset: str, name: str, seeds: int) -> list[dict[str, Any]]:
    """Learn and run one method on one data set in a process of its own."""
    kept = folder / "rows" / f"{dataset}-{name}.jsonl"
    if not kept.exists():
        command = [sys.executable, __file__, "--pair", dataset, name, "--seeds", str(seeds)]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(done.stdout)
    return [json.loads(line) for line in kept.read_text().splitlines()]


def rows(dataset: str, name: str, seeds: int) -> Iterator[dict[str, Any]]:
    """Learn what a method holds, then yield a row for each budget and draw."""
    from harness.threads import one_thread

    one_thread()
    from harness.jobs.block_trials import BlockTrials
    from harness.planning.block_plans import shape_of
    from harness.planning.learned.design import Wanted
    from harness.planning.learned.measuring import measured, opened
    from harness.planning.learned.runs import Run
    from harness.planning.learned.study import asked
    from harness.planning.workload import load_workload

    workload = load_workload(STUDY)
    block = next(
        block for block in workload.blocks if (block.dataset, block.method.name) == (dataset, name)
    )
    about = BlockTrials(workload, block)
    shape = shape_of(workload, block)
    _, question = asked(workload, block, about.method, about.params, shape)
    with opened(question) as (design, run):
        runs: list[Run] = []
        started = time.perf_counter()
        for _ in measured(design, runs, run):
            pass
        seconds = time.perf_counter() - started
        for budget, _ in design.budgets:
            for draw in range(FIRST_DRAW, FIRST_DRAW + seeds):
                row = {"dataset": dataset, "method": name, "budget": budget, "draw": draw}
                row |= {"measured": len(runs), "learning": seconds}
                if not any(one.ok for one in runs):
                    last = runs[-1]
                    yield row | {"outcome": "not learned", "reason": last.reason}
                    continue
                for again, planned in enumerate(plans(design, runs, budget)):
                    if not planned.feasible:
                        row |= {"outcome": planned.outcome, "reason": planned.reason}
                        break
                    wanted = Wanted(planned.size, planned.n_kept, draw, limit=budget)
                    result = run(wanted)
                    row |= {"planned": planned.planned_bytes, "peak": result.peak_bytes}
                    row |= {"outcome": result.outcome, "reason": result.reason, "again": again}
                    row |= {"size": planned.size, "n_kept": planned.n_kept}
                    if result.outcome != "over_budget":
                        break
                yield row


def plans(design: Any, runs: Any, budget: int) -> Iterator[Any]:
    """Yield plans for a budget and for less and less of it, none twice."""
    before = None
    for share in SHARES:
        planned = design.planned(runs, int(share * budget))
        if before is None or (planned.feasible and (planned.size, planned.n_kept) != before):
            yield planned
        before = planned.size, planned.n_kept


def told(table: pd.DataFrame) -> None:
    """Print the ratios, and what learning took."""
    ended = table[table["outcome"] == "ok"].copy()
    line = "{:22}{:>7}{:>7}{:>8}{:>7}{:>8}{:>7}{:>7}{:>10}{:>10}"
    head = ("trials", "least", "median", "most", "within", "above", "again")
    if len(ended):
        ended["ratio"] = (ended["peak"] / ended["planned"]).astype(float)
        print(line.format("method", *head, "measured", "seconds"))
        for method, some in ended.groupby("method"):
            once = some.drop_duplicates("dataset")[["measured", "learning"]].mean()
            print(line.format(method, *figures(some), *(f"{value:.0f}" for value in once)))
        print(line.format("data set", *head, "", ""))
        for dataset, some in ended.groupby("dataset"):
            print(line.format(dataset, *figures(some), "", ""))
        print(line.format("all", *figures(ended), "", ""))
        large = ended[ended["planned"] >= LARGE]
        if len(large):
            print(line.format("planned 1 MB or more", *figures(large), "", ""))
        over = ended["peak"] > ended["budget"] * 1.002 + 50_000
        print(f"ended ok with a peak above the budget: {over.sum()}")
    outcomes = table["outcome"].value_counts().to_dict()
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))


def figures(some: pd.DataFrame) -> list[str]:
    """Return what is printed of some trials."""
    ratio = some["ratio"]
    return [
        str(len(some)),
        *(f"{value:.3f}" for value in (ratio.min(), ratio.median(), ratio.max())),
        f"{ratio.between(LOW, HIGH).mean():.1%}",
        f"{(ratio > HIGH).mean():.1%}",
        str(int((some["again"] > 0).sum())),
    ]


if __name__ == "__main__":
    main()
