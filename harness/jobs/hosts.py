"""The machines on which trials ran: what decides their times, once a machine and study.

A row names its host and CPU. The rest is the same in every row of a host and stands beside them.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import DamagedFileError
from harness.files import holds, read_json, write_whole
from harness.jobs.provenance import environment_info

FOLDER = "hosts"

_CPU = Path("/sys/devices/system/cpu/cpu0")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def host_facts() -> dict[str, Any]:
    """Describe this machine.

    Returns
    -------
    dict
        "host", "cpu", "cores" (physical), "threads" (logical), "memory_bytes", "kernel" (of the
        system), "blas" (library, version and the kernel that it chose for this CPU), "governor"
        and "cache" (the largest, as the system writes it). None where it is not known.
    """
    import numpy  # noqa: F401  # the BLAS of which is asked for
    import psutil
    from threadpoolctl import threadpool_info

    around = environment_info()
    known = [library for library in threadpool_info() if library["user_api"] == "blas"]
    words = (
        " ".join(
            str(library[key])
            for key in ("internal_api", "version", "architecture")
            if library.get(key)
        )
        for library in known
    )
    caches = sorted(_CPU.glob("cache/index*/size"))
    return {
        "host": around["host"],
        "cpu": around["cpu"],
        "cores": psutil.cpu_count(logical=False),
        "threads": psutil.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "kernel": around["versions"]["kernel"],
        "blas": ", ".join(dict.fromkeys(words)) or None,
        "governor": _said(_CPU / "cpufreq" / "scaling_governor"),
        "cache": _said(caches[-1]) if caches else None,
    }


def record_host(results: Path) -> None:
    """Keep what this machine is beside the results of a study, unless that is kept already."""
    name = _NOT_IN_A_NAME.sub("_", socket.gethostname()).strip(".") or "host"
    path = results / FOLDER / f"{name[:200]}.json"
    text = json.dumps(host_facts(), indent=1)
    if not holds(path, text):
        write_whole(text, path)


def join_hosts(results: Path, trials: Mapping[tuple[str, str], int]) -> list[dict[str, Any]]:
    """Join what rows say of hosts with what is kept of each.

    Parameters
    ----------
    results : Path
        Of the study.
    trials : mapping of (host, CPU) to int
        How many rows name them.

    Returns
    -------
    list of dict
        Those of `host_facts` where they are kept, and "trials"; most trials first.
    """
    facts = {}
    for path in sorted((results / FOLDER).glob("*.json")):
        try:
            kept = read_json(path, dict)
        except DamagedFileError:  # a machine that crashed; its rows still name it
            continue
        facts[kept.get("host"), kept.get("cpu")] = kept
    return [
        {"host": host, "cpu": cpu, "trials": count} | facts.get((host, cpu), {})
        for (host, cpu), count in sorted(trials.items(), key=lambda item: (-item[1], item[0]))
    ]


def _said(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        return None
