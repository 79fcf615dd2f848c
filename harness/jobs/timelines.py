"""Pictures of memory over time: one trial of each cell, kept beside the rows and never needed.

A picture is a line of JSON, in a file a job. No row, score or figure comes from it, and where it
is missing the report only says so.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.files import write_whole

if TYPE_CHECKING:
    from harness.planning.workload import Workload
    from harness.sandbox import Result
    from harness.study.study import Block

MOST_JOINED = 5000
"""Pictures in the file of a study, of some 1.4 kB each; those of all cells are kept beside it."""

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


class Pictures:
    """The pictures that one job keeps: one of each cell that has none yet.

    Parameters
    ----------
    path : Path
        Of the job's own; those of others of the same data set are beside it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cells = {_cell(timeline) for timeline in _all(path.parent)}

    def wants(self, block: Block) -> bool:
        """Tell whether a block's cell has no picture."""
        return block.fingerprint not in self._cells

    def keep(self, timeline: Mapping[str, Any]) -> None:
        """Add one."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(timeline, separators=(",", ":")) + "\n")
        self._cells.add(_cell(timeline))


def join_timelines(workload: Workload) -> list[dict[str, Any]]:
    """Read a picture of each cell that is part of the study now, in its order.

    A page shows a thousand of them at most, so no more than those of the first MOST_JOINED cells
    are joined.
    """
    cells = dict.fromkeys(block.fingerprint for block in workload.blocks)
    wanted = dict.fromkeys(itertools.islice(cells, MOST_JOINED))
    pictures = _all(workload.results / "timelines")
    found = {_cell(picture): picture for picture in pictures if _cell(picture) in wanted}
    return [found[cell] for cell in wanted if cell in found]


def write_json(content: Mapping[str, Any] | Iterable[Any], path: Path) -> None:
    """Write a picture, or several, as a whole."""
    write_whole(json.dumps(content, separators=(",", ":")), path)


def _all(folder: Path) -> Iterator[dict[str, Any]]:
    """Read the pictures below a folder, but what a crash of the machine did not leave whole."""
    for path in sorted(folder.rglob("*.jsonl")):
        with suppress(OSError):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                with suppress(ValueError, TypeError, AttributeError):
                    timeline = json.loads(line)
                    if _cell(timeline):
                        yield timeline


def _cell(timeline: Mapping[str, Any]) -> str:
    return str(timeline.get("fingerprint", "")).rpartition("-")[0]


def _rounded(seconds: float) -> float:
    return round(seconds, 4)
