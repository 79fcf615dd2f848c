"""What a row says of how its trial ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.trial.model_costs import HELD, ROW, percentiles
from harness.trial.reach import isolation_told

if TYPE_CHECKING:
    from harness.jobs.trial_process import TrialRunner
    from harness.sandbox import Result
    from harness.trial.assignment import Assignment

STAGES = ("load", "tune", "fit", "predict")
GIGABYTE, HOUR = 1e9, 3600


def measured(result: Result) -> dict[str, Any]:
    """Return the columns that tell how a trial ended and what it used."""
    row = {
        "outcome": result.outcome,
        "reason": result.reason,
        "baseline_bytes": result.baseline_bytes,
        "peak_bytes": result.peak_bytes,
        "enforced_by": result.enforced_by,
        "measured_by": result.measured_by,
        "isolation": isolation_told(result.isolation),
        "wall_s": result.seconds,
        "cpu_s": result.cpu_seconds,
    }
    for stage in STAGES:
        if stage in result.stages:
            row[f"{stage}_s"] = result.stages[stage].seconds
            row[f"{stage}_peak_bytes"] = result.stages[stage].peak_bytes
    if result.outcome == "ok" and result.peak_bytes is not None:
        seconds = sum(result.stages[stage].seconds for stage in STAGES if stage in result.stages)
        row["ram_hours"] = result.peak_bytes / GIGABYTE * seconds / HOUR
    return row


def costs_told(result: Result) -> tuple[dict[str, Any], str]:
    """Return the columns of what the fitted model costs in use, and why some are empty."""
    costs = result.afterwards
    if costs is None:
        return {}, "the fitted model was not measured: its process ended over it"
    row: dict[str, Any] = {"model_bytes": costs["model_bytes"]}
    if costs["row_seconds"]:
        held, peak = (result.stages[stage].peak_bytes for stage in (HELD, ROW))
        if held is not None and peak is not None:
            peak = max(peak, held + costs["row_bytes"])
        median, slow = percentiles(costs["row_seconds"])
        row |= {
            "predict_row_peak_bytes": peak,
            "predict_row_s": median,
            "predict_row_p99_s": slow,
            "predict_row_calls": len(costs["row_seconds"]),
        }
    return row, costs["reason"]


def is_answer(value: Mapping[str, Any]) -> bool:
    """Tell whether a trial sent what a trial sends: a method can write into its pipe."""
    end, told = value.get("end", ""), value.get("warnings")
    return (
        isinstance(value.get("params"), dict)
        and "data_bytes" in value
        and isinstance(told, list)
        and all(isinstance(text, str) for text in told)
        and (end is None or (isinstance(end, dict) and "step" in end))
    )


def given_up(assignment: Assignment) -> str:
    """Say what a budget took beside the size; empty if it took nothing."""
    if assignment.n_kept is None:
        return ""
    of = len(assignment.unlabeled)
    return f"fitted to {len(assignment.kept):,} of {of:,} unlabeled points: no more fit the budget"


def runner_lost(runner: TrialRunner) -> dict[str, Any]:
    """Return the columns of a trial that took the runner with it, twice."""
    reason = f"{runner.lost}, twice; its own use of memory is not known"
    return {"outcome": "crashed", "reason": reason, "isolation": isolation_told(runner.isolation)}


def endless(runner: TrialRunner, why: str) -> dict[str, Any]:
    """Return the columns of a trial that is not begun again, for want of an end."""
    reason = f"{why}; harness retry has it run again"
    return {"outcome": "crashed", "reason": reason, "isolation": isolation_told(runner.isolation)}
