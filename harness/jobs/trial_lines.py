"""What a job's log says of each trial that it ran, for whoever follows a figure to its origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.metrics.names import METRICS
from harness.records.columns import COLUMNS
from harness.units import format_bytes

_STAGES = ("load", "tune", "fit", "predict")


def trial_lines(row: Mapping[str, Any]) -> str:
    """Return the lines of a trial: how it ended, its size, bytes, seconds, settings and scores.

    A method's own words stay within their line, in characters that any log can hold.

    Parameters
    ----------
    row : mapping
        Of the study's table (see `harness.records.columns`).
    """
    size = "" if row["size"] is None else f"{row['size']} {row['size_name']}, "
    known = {name: value for name, value in row.items() if value is not None}
    peaks = [
        f"{stage} {format_bytes(known[column])}"
        for stage in _STAGES
        if (column := f"{stage}_peak_bytes") in known
    ]
    seconds = [
        f"{stage} {known[column]:.3g} s" for stage in _STAGES if (column := f"{stage}_s") in known
    ]
    scores = [
        f"{name} {value:.6g}"
        for name, value in known.items()
        if name in METRICS or name not in COLUMNS  # of a plugin
    ]
    lines = [
        f"{row['started_at']} {row['dataset']}, {row['method']}, {row['n_labeled']} labeled, "
        f"{row['budget']}, seed {row['seed']}: {row['outcome']}",
        f"  {size}planned {_bytes(known, 'planned_bytes')}, peak {_bytes(known, 'peak_bytes')}",
        f"  held: {', '.join(peaks)}" if peaks else "",
        f"  took: {', '.join(seconds)}" if seconds else "",
        f"  settings: {row['params']}",
        f"  scores: {', '.join(scores)}" if scores else "",
        f"  told: {row['reason']}" if row["reason"] else "",
    ]
    words = "\n".join(line.replace("\n", " ").replace("\r", " ") for line in lines if line)
    return words.encode("ascii", "backslashreplace").decode()


def _bytes(known: Mapping[str, Any], column: str) -> str:
    return format_bytes(known[column]) if column in known else "unknown"
