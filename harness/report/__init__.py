"""The report: a study's records as one self-contained page and as CSV tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.lean_process import importing

if TYPE_CHECKING:
    from harness.plugin.hookspecs import ReportSection

__all__ = ["write_report"]


def write_report(
    directory: Path, metric: str | None = None, sections: Iterable[ReportSection] = ()
) -> Path:
    """Write the report of a study's results.

    Parameters
    ----------
    directory : Path
        Holds `trials.parquet`, `study.yaml`, `provenance.json` and `calibration.json`. Gets
        `report.html`, `tables/*.csv` and `tables/rows.parquet`, each replaced as a whole.
    metric : str, optional
        Judge by this metric wherever it applies; by default the first of the study's `metrics`
        that a data set has, else the default of its task.
    sections : iterable of ReportSection, default ()
        Sections of plugins, shown at the end. One that raises is shown as failed.

    Returns
    -------
    Path
        Of `report.html`.

    Raises
    ------
    HarnessError
        If a file is missing, empty or unreadable, if no data set has the metric, or if the
        directory cannot be written to.
    """
    with importing():
        from harness.report.page import make_report

    return make_report(directory, metric, sections)
