"""Pictures of memory over time: one trial of each block, kept beside the rows and never needed.

A picture is a small JSON file of its own. No row, score or figure comes from it, and where it is
missing the report only says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import DamagedFileError
from harness.files import read_json, write_whole

if TYPE_CHECKING:
    from harness.planning.workload import Workload
    from harness.sandbox import Result
    from harness.study.study import Block

_FROM_ROW = (
    "fingerprint",
    "dataset",
    "method",
    "n_labeled",
    "budget",
    "budget_bytes",
    "seed",
    "planned_bytes",
    "peak_bytes",
    "outcome",
)


def make_timeline(row: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """Describe a sampled trial.

    Returns
    -------
    dict
        What the trial's row says of it, `stages` (name -> [begin, end] in seconds since the trial
        began) and `samples` (list of [seconds, bytes above the baseline]).
    """
    spans = {name: [_rounded(at) for at in stage.span] for name, stage in result.stages.items()}
    samples = [[_rounded(at), size] for at, size in result.timeline]
    return {name: row[name] for name in _FROM_ROW} | {"stages": spans, "samples": samples}


def has_timeline(workload: Workload, block: Block) -> bool:
    """Tell whether a block has a picture, taking over that of another block of the same trials."""
    path = workload.timeline(block)
    if _read(path):
        return True
    wanted = {f"{block.fingerprint}-{seed}" for seed in block.seeds}
    for other in sorted(path.parent.glob(f"*-{block.fingerprint}.json")):
        timeline = _read(other)
        if timeline and timeline.get("fingerprint") in wanted:
            write_json(timeline, path)
            return True
    return False


def join_timelines(workload: Workload) -> list[dict[str, Any]]:
    """Read the pictures of the blocks that are part of the study now, in its order."""
    found = (_read(workload.timeline(block)) for block in workload.blocks)
    return [timeline for timeline in found if timeline]


def write_json(content: Mapping[str, Any] | Iterable[Any], path: Path) -> None:
    """Write a picture, or several, as a whole."""
    write_whole(json.dumps(content, separators=(",", ":")), path)


def _read(path: Path) -> dict[str, Any] | None:
    """Read a picture; None if there is none, or none that a crash of the machine left whole."""
    with suppress(DamagedFileError):
        return read_json(path, dict)
    return None


def _rounded(seconds: float) -> float:
    return round(seconds, 4)
