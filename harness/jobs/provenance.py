"""Where results come from: versions, machine, commit."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from harness.project import IS_CHECKOUT, ROOT

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "snakemake", "memory-budget-harness")


@functools.cache
def environment_info() -> dict[str, Any]:
    """Return versions, host, processor, and commit of the harness.

    Returns
    -------
    dict
        "versions" (package to version), "host", "cpu", "git_sha" and "git_dirty" (None outside a
        checkout).
    """
    versions = {"python": platform.python_version(), "kernel": platform.release()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    sha = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return {
        "versions": versions,
        "host": socket.gethostname(),
        "cpu": _processor(),
        "git_sha": sha,
        "git_dirty": None if sha is None or changes is None else bool(changes),
    }


def _git(*arguments: str) -> str | None:
    if not IS_CHECKOUT:  # a repository that an environment lies in is another project's
        return None
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
