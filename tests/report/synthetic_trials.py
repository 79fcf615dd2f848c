"""Results of studies that never ran, as the workflow writes them: every outcome and task."""

import json
import zlib

import numpy as np
import pandas as pd
import yaml

from harness.metrics.names import METRICS, PROBABILISTIC
from harness.records.columns import COLUMNS

CONTROLS = ("random", "prior", "oracle")
QUALITY = {
    "binary": ("auc", "average_precision", "accuracy", "error_rate", *PROBABILISTIC),
    "multiclass": ("accuracy", "balanced_accuracy", "error_rate", "f1_macro", "matthews_corrcoef"),
    "regression": ("nmse", "r2", "mean_absolute_error"),
    "clustering": ("adjusted_rand", "fowlkes_mallows", "silhouette", "calinski_harabasz"),
}
REASONS = {
    "infeasible": "the smallest size needs 3.2 MB of 1 MB",
    "over_budget": "MemoryError in fit: could not allocate 2.1 MB",
    "timeout": "stopped after 60 s in tune",
    "crashed": "killed by signal 11 (segmentation fault) in fit",
    "error": "ValueError: n_components must be at most n_samples",
}
BUDGETS = {"1MB": 10**6, "10MB": 10**7, "100MB": 10**8, "none": None}
TINY = {
    "datasets": (("toy", "binary"),),
    "methods": ("1nn", "svm", "random"),
    "budgets": {"1MB": 10**6, "none": None},
    "seeds": [0],
}
METHODS = ("1nn", "svm", "harmonic", "nysck", "rff-mssksc", *CONTROLS)


def _scores(task, method, quality):
    quality = {"oracle": 1.0, "random": 0.0, "prior": 0.05}.get(method, quality)
    if task == "regression":
        return {"nmse": 1 - 0.95 * quality, "r2": 0.95 * quality}
    if task == "clustering":
        return {
            "adjusted_rand": quality,
            "fowlkes_mallows": 0.2 + 0.8 * quality,
            "silhouette": quality / 2,
            "calinski_harabasz": 900 * quality,
        }
    accuracy = 0.5 + 0.5 * quality
    scores = dict.fromkeys(QUALITY[task], accuracy)
    return scores | {"error_rate": 1 - accuracy}


def make_trials(
    datasets=(("breast-cancer", "binary"), ("digits", "multiclass")),
    methods=METHODS,
    budgets=BUDGETS,
    seeds=range(5),
    labeled=(100,),
    outcome=None,
    seed=0,
):
    """Records in which a better method costs more bytes; `outcome(row)` may end a trial badly."""
    generator = np.random.default_rng(seed)
    rows = []
    for dataset, task in datasets:
        ease = 0.3 + 0.4 * (zlib.crc32(dataset.encode()) % 97) / 97
        for n_labeled in labeled:
            for method in methods:
                skill = (zlib.crc32(method.encode()) % 101) / 101
                need = 2e5 * 10 ** (2.2 * skill)
                for text, limit in budgets.items():
                    given = limit or 10**9
                    planned = min(0.95 * given, 40 * need)
                    for trial_seed in seeds:
                        quality = ease + 0.3 * skill * (1 - np.exp(-planned / need))
                        quality = np.clip(quality + generator.normal(0, 0.015), 0, 1)
                        row = dict.fromkeys(COLUMNS) | {
                            "study": "synthetic",
                            "dataset": dataset,
                            "task": task,
                            "method": method,
                            "plugin_method": method,
                            "n_labeled": n_labeled,
                            "n_unlabeled": 400,
                            "n_test": 69,
                            "n_features": 30,
                            "n_classes": {"binary": 2, "regression": 0}.get(task, 10),
                            "budget": text,
                            "budget_bytes": limit,
                            "seed": trial_seed,
                            "outcome": "infeasible" if need > given else "ok",
                            "size": int(planned // 5000),
                            "size_name": "rank",
                            "planned_bytes": int(max(planned, need)),
                            "enforced_by": "rlimit",
                            "measured_by": "vmhwm",
                            "git_dirty": False,
                            "params": "{}",
                            "threads": 1,
                        }
                        if outcome is not None:
                            row["outcome"] = outcome(row) or row["outcome"]
                        row["reason"] = REASONS.get(row["outcome"], "")
                        if row["outcome"] != "infeasible":
                            row["baseline_bytes"] = 90_000_000
                            row["data_bytes"] = 140_000
                            row["peak_bytes"] = int(planned * generator.uniform(0.6, 1.02))
                        if row["outcome"] == "ok":
                            row |= {
                                "load_s": 0.002,
                                "tune_s": 0.4 * skill,
                                "fit_s": 1e-8 * planned * generator.uniform(1, 1.5) + 1e-3,
                                "predict_s": 0.001 + 1e-9 * planned,
                            }
                            row |= _scores(task, method, quality)
                        rows.append(row)
    kinds = {"int64": "Int64", "float64": "float64", "string": "string", "bool": "boolean"}
    return pd.DataFrame(rows).astype({name: kinds[kind] for name, kind in COLUMNS.items()})


def with_pair_left_out(trials, dataset, method, reason="does binary; the data are regression"):
    """Add the row of a data set and a method that do not go together, as the workflow does."""
    row = {"dataset": dataset, "method": method, "outcome": "infeasible", "reason": reason}
    row = pd.DataFrame([dict.fromkeys(COLUMNS) | row]).astype(trials.dtypes)
    return pd.concat([trials, row], ignore_index=True)


def write_results(directory, trials, study=None, provenance=None, calibration=None):
    """Write what the workflow leaves behind, without the report."""
    directory.mkdir(parents=True, exist_ok=True)
    trials.to_parquet(directory / "trials.parquet")
    study = (
        {"title": "Synthetic study", "metrics": ["auc", "accuracy"]} if study is None else study
    )
    (directory / "study.yaml").write_text(yaml.safe_dump(study))
    if provenance is None:
        provenance = {
            "versions": {"python": "3.11.7", "numpy": "2.4.0"},
            "git_sha": "0123456789abcdef0123456789abcdef01234567",
            "git_dirty": True,
            "host": "example",
            "cpu": "Example CPU @ 2.0 GHz",
            "command": "snakemake --cores 2",
            "started_at": "2026-01-02T03:04:05Z",
            "finished_at": "2026-01-02T03:06:07Z",
            "plugins": {"plugins/nearest.py": "ab" * 32},
            "datasets": {
                "digits": {"sha256": "cd" * 32, "citation": "Alpaydin 1998, https://a.b/c"}
            },
        }
    (directory / "provenance.json").write_text(json.dumps(provenance))
    if calibration is None:
        calibration = [
            {
                "kind": kind,
                "allocated_bytes": size,
                "measured_bytes": size + 40_000,
                "error_bytes": 40_000,
                "within": True,
                "backend": "rlimit",
            }
            for kind in ("numpy", "bytes", "thread")
            for size in (10**6, 10**7, 10**8, 4 * 10**8)
        ]
    (directory / "calibration.json").write_text(json.dumps(calibration))
    return directory


def bad_endings(row):
    """Every outcome somewhere, some cells failing on some seeds only."""
    if row["method"] == "svm" and row["budget"] == "10MB":
        return "over_budget" if row["seed"] == 1 else None
    if row["method"] == "harmonic" and row["budget"] == "100MB":
        return ("timeout", "crashed", "error")[row["seed"] % 3]
    return None


assert set(METRICS) == {name for names in QUALITY.values() for name in names}
