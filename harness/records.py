"""The record: one row a trial, its columns, and how rows are written, read and collected.

A row says what was asked, planned, enforced, measured and scored, or why not. Rows are appended to
a journal, a JSON line each, as soon as a trial ends; a line that a kill cut short is not a row.
`collect` joins journals into one Parquet file.
"""

from __future__ import annotations

OUTCOMES = ("ok", "infeasible", "over_budget", "timeout", "crashed", "error")

METRICS = (
    "auc",
    "accuracy",
    "balanced_accuracy",
    "error_rate",
    "f1_macro",
    "nmse",
    "r2",
    "adjusted_rand",
    "fowlkes_mallows",
    "silhouette",
    "calinski_harabasz",
)

COLUMNS: dict[str, str] = {
    # what was asked
    "study": "string",
    "dataset": "string",
    "task": "string",
    "method": "string",  # the label of the study; `plugin_method` is the method behind it
    "plugin_method": "string",
    "n_labeled": "int64",
    "n_unlabeled": "int64",
    "n_test": "int64",
    "n_features": "int64",
    "n_classes": "int64",
    "budget": "string",  # as written: "200MB", "640 landmarks", "none"
    "budget_bytes": "int64",  # null without a limit on bytes
    "seed": "int64",
    # how it ended
    "outcome": "string",
    "reason": "string",
    # what was planned, enforced and measured; bytes above the idle worker's
    "size": "int64",
    "size_name": "string",
    "planned_bytes": "int64",
    "baseline_bytes": "int64",  # resident size of the idle worker
    "data_bytes": "int64",  # X and y as loaded
    "peak_bytes": "int64",  # the most that was added to the baseline
    "load_peak_bytes": "int64",
    "tune_peak_bytes": "int64",
    "fit_peak_bytes": "int64",
    "predict_peak_bytes": "int64",
    "enforced_by": "string",
    "measured_by": "string",
    "load_s": "float64",
    "tune_s": "float64",
    "fit_s": "float64",
    "predict_s": "float64",
    "wall_s": "float64",
    "cpu_s": "float64",
    "params": "string",  # JSON
    # scores; null where they do not apply
    **dict.fromkeys(METRICS, "float64"),
    # where it comes from
    "fingerprint": "string",
    "dataset_sha256": "string",
    "plugin_sha256": "string",
    "git_sha": "string",
    "git_dirty": "bool",
    "versions": "string",  # JSON
    "host": "string",
    "cpu": "string",
    "threads": "int64",
    "started_at": "string",  # ISO 8601, UTC
    "command": "string",
}
