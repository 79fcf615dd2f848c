"""What this machine can enforce and measure, for people."""

from __future__ import annotations

from collections.abc import Iterable

from harness.sandbox.backends import BackendReport, backends


def doctor_text(reports: Iterable[BackendReport] | None = None) -> str:
    """Describe every memory backend: whether it works here, what it sees, what it would take.

    Parameters
    ----------
    reports : iterable of BackendReport, optional
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
        if not report.available:
            lines.append(f"      why not   {report.reason}")
            lines.append(f"      to have   {report.remedy}")
    return "\n".join(lines)
