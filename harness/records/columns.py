"""The columns of a row: what each holds, and what every row says."""

from __future__ import annotations

from harness.metrics.names import LATER as LATER_METRICS
from harness.metrics.names import METRICS

OUTCOMES = ("ok", "infeasible", "over_budget", "timeout", "crashed", "error")

COLUMNS: dict[str, str] = {
    # what was asked
    "study": "string",
    "dataset": "string",
    "task": "string",
    "method": "string",  # the label of the study; `plugin_method` is the method behind it
    "plugin_method": "string",
    "control": "string",  # "chance" or "truth" of a control; empty of a method
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
    "reason": "string",  # of any outcome but ok; what the trial warned of where it is ok
    # what was planned, enforced and measured; bytes above the idle worker's
    "size": "int64",
    "size_name": "string",
    "n_kept": "int64",  # unlabeled points that fit was given
    "planned_bytes": "int64",
    "planned_phase": "string",  # when most is held by the plan, as "fit: eigensystem"
    "storage_model": "string",  # "written" or "learned", by measuring trials
    "taken_again": "int64",  # how often the trial ran over a learned plan, at larger sizes
    "baseline_bytes": "int64",  # resident size of the idle worker
    "data_bytes": "int64",  # X and y as loaded
    "peak_bytes": "int64",  # the most that was added to the baseline
    "load_peak_bytes": "int64",
    "tune_peak_bytes": "int64",
    "fit_peak_bytes": "int64",
    "predict_peak_bytes": "int64",
    # of the fitted model, measured when the outcome is settled and charged to nobody
    "model_bytes": "int64",  # as joblib writes it, without compression
    "predict_row_peak_bytes": "int64",  # held above the baseline while one row is predicted
    "predict_row_s": "float64",  # the median of `predict_row_calls` predictions of one row
    "predict_row_p99_s": "float64",  # the 99th percentile; the slowest of fewer than 100
    "predict_row_calls": "int64",
    "enforced_by": "string",
    "measured_by": "string",
    "isolation": "string",
    "load_s": "float64",
    "tune_s": "float64",
    "fit_s": "float64",
    "predict_s": "float64",
    "wall_s": "float64",
    "cpu_s": "float64",
    "ram_hours": "float64",  # GB at the peak times hours of the four stages; of `ok` alone
    "params": "string",  # JSON
    # scores; null where they do not apply
    **dict.fromkeys(METRICS, "float64"),
    "checkpoints": "string",  # JSON: the points of the fit's curve; null if none were asked for
    # where it comes from
    "fingerprint": "string",
    "decided_by": "string",  # JSON: data, code and versions that decide the outcome, part by part
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

MODEL_COSTS = (
    "model_bytes",
    "predict_row_peak_bytes",
    "predict_row_s",
    "predict_row_p99_s",
    "predict_row_calls",
)

LATER = frozenset(
    {
        *("control", "n_kept", "planned_phase", "storage_model", "taken_again", "isolation"),
        *("decided_by", "ram_hours"),
        *MODEL_COSTS,
        *LATER_METRICS,
    }
)
"""Columns that came later: null in a table that was written before."""

JSON_COLUMNS = {
    **dict.fromkeys(("params", "versions", "decided_by"), "object"),
    "checkpoints": "list",
}

NEVER_NULL = ("fingerprint", "dataset", "task", "method", "budget", "seed", "outcome")
"""What every row of a trial says."""
