"""What this machine can enforce and measure, for people."""

from __future__ import annotations

from collections.abc import Iterable

from harness.sandbox.backends import BackendReport, backends
from harness.sandbox.isolation import IsolationReport, isolations


def doctor_text(
    reports: Iterable[BackendReport] | None = None,
    confining: Iterable[IsolationReport] | None = None,
) -> str:
    """Describe what limits memory and what confines trials here, and what better would take.

    Parameters
    ----------
    reports : iterable of BackendReport, optional
        This machine's by default.
    confining : iterable of IsolationReport, optional
        This machine's by default.
    """
    reports = list(backends() if reports is None else reports)
    lines = ["Memory limits, the strongest first:"]
    chosen = False
    for report in reports:
        state = "available" if report.available else "not available"
        if report.available and not chosen:
            state, chosen = "available, used by default", True
        lines.append(f"  {report.name:<12} {state}")
        lines.append(f"      how       {report.means}")
        lines.append(f"      sees      {', '.join(report.sees)}")
        if report.refuses:
            lines.append(f"      refuses   {', '.join(report.refuses)}")
        lines.append(f"      not seen  {', '.join(report.blind)}")
        if not report.available:
            lines.append(f"      why not   {report.reason}")
            lines.append(f"      to have   {report.remedy}")
    lines.append("What keeps trials from the files and processes of others; all of it is used:")
    for found in isolations() if confining is None else confining:
        lines.append(f"  {found.name:<12} {'available' if found.available else 'not available'}")
        lines.append(f"      prevents  {found.prevents}")
        lines.append(f"      leaves    {found.leaves}")
        if not found.available:
            lines.append(f"      to have   {found.remedy}")
    return "\n".join(lines)
