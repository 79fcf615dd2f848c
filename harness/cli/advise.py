"""What to try on data that nobody has run yet: which methods fit, and what they would score."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import as_json_option
from harness.cli.tables import print_table, tell
from harness.errors import HarnessError
from harness.units import format_bytes

if TYPE_CHECKING:
    from harness.advice.advise import Advice
    from harness.advice.sizes import Fit
    from harness.datasets.entry import Entry
    from harness.report.scores import Score

_COUNT = click.IntRange(min=0)
_TRIED = 5
"""Methods that a study of `-o` tries."""

_MOST_NAMED = 8
"""Methods that a sentence names; --json has all."""


@click.command()
@click.option("--dataset", help="One of the catalog, which tells points, columns and classes.")
@click.option(
    "--n", type=click.IntRange(min=2), help="Points to train on, with and without label."
)
@click.option("--d", type=click.IntRange(min=1), help="Columns.")
@click.option(
    "--labeled", type=_COUNT, help="Points with a label; all by default. 0 is clustering."
)
@click.option("--classes", type=_COUNT, help="0 for regression.  [default: 2]")
@click.option("--task", type=click.Choice(["classification", "regression", "clustering"]))
@click.option(
    "--test", type=_COUNT, default=0, show_default=True, help="Further points to predict."
)
@click.option("--nnz", type=click.IntRange(min=1), help="Nonzeros of all points, if X is sparse.")
@click.option("--float32", is_flag=True, help="Four bytes an element, not eight.")
@click.option("--budget", required=True, help="Bytes that training may take, such as 20MB.")
@click.option("--metric", help="Judge by this one; by default the task's own.")
@click.option("--untuned", is_flag=True, help="Plan for defaults: no search over parameters.")
@click.option("--plugins", "folders", multiple=True, help="A further folder of plugins.")
@click.option("--top", type=_COUNT, default=10, show_default=True, help="Rows; 0 for all.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write a study that tries them."
)
@as_json_option
def advise(
    dataset: str | None,
    n: int | None,
    d: int | None,
    labeled: int | None,
    classes: int | None,
    task: str | None,
    test: int,
    nnz: int | None,
    float32: bool,
    budget: str,
    metric: str | None,
    untuned: bool,
    folders: Sequence[str],
    top: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Say which methods fit a budget on data of a shape, the best expected first.

    Nothing is run. Sizes are those that a study would plan. Scores are those of kept studies, and
    of yours in results/, on data of like shape.
    """
    from harness.advice.advise import advise as give
    from harness.advice.evidence import read_evidence
    from harness.advice.model import scores_of
    from harness.advice.nearness import Query
    from harness.advice.sizes import fit_methods
    from harness.plugin.index import read_index
    from harness.plugin.shape import Shape
    from harness.report.scores import SCORES
    from harness.units import parse_bytes

    many = parse_bytes(budget)
    asked = _Asked(dataset, n, d, labeled, classes, task, test)
    deciding = _metric(metric, asked.task)
    index = read_index([Path(folder) for folder in folders])
    counts = (asked.labeled, asked.n - asked.labeled, asked.d, asked.classes)
    row_nnz = asked.row_nnz if nnz is None else nnz / asked.n
    shape = Shape(*counts, asked.test, 4 if float32 else 8, row_nnz=row_nnz)
    fits = fit_methods(index, shape, asked.task, many, list(map(Path, folders)), not untuned)
    controls = [entry["name"] for entry in index["methods"] if entry["control"]]
    scores = scores_of(read_evidence(), deciding, controls)
    found = give(scores, Query(*counts, many, asked.task), fits)
    if output is not None:
        _write_study(found, asked, budget, deciding, output)
    if as_json:
        told = {"metric": deciding, "near": found.near, "nearest": found.nearest}
        told |= {"cheapest": found.taken, "methods": found.rows()}
        told["refused"] = {fit.method: fit.reason for fit in found.refused}
        click.echo(json.dumps(told, indent=1))
        return
    _show(found, SCORES[deciding], top, asked.n - asked.labeled)
    if output is None and len(found.ranked):
        tell("to try the first five: the same command with -o studies/try.yaml")
    elif output is not None:
        _told_study(output, asked.dataset)


class _Asked:
    """What was asked, completed by the catalog and by defaults."""

    def __init__(
        self,
        dataset: str | None,
        n: int | None,
        d: int | None,
        labeled: int | None,
        classes: int | None,
        task: str | None,
        test: int,
    ) -> None:
        self.dataset, self.test = dataset, test
        self.row_nnz: float | None = None
        if dataset is not None:
            entry = _entry(dataset)
            self.row_nnz = entry.row_nnz
            n = entry.n - test if n is None else n
            d = entry.d if d is None else d
            classes = entry.n_classes if classes is None else classes
        if n is None or d is None:
            lacking = [name for name, given in (("--n", n), ("--d", d)) if given is None]
            raise click.UsageError(f"give {' and '.join(lacking)}, or --dataset NAME")
        self.n, self.d = n, d
        self.classes = 2 if classes is None else classes
        if task == "regression":
            self.classes = 0
        self.task = {0: "regression", 2: "binary"}.get(self.classes, "multiclass")
        self.labeled = n if labeled is None else labeled
        if task == "clustering" or (task is None and self.labeled == 0 and self.classes > 1):
            self.task, self.labeled = "clustering", 0
        self._refuse(task)

    def _refuse(self, task: str | None) -> None:
        if self.n < 1:
            raise click.BadParameter(f"leaves no point to train on: {self.n}", param_hint="--test")
        if self.classes == 1 or (not self.classes and task in ("classification", "clustering")):
            message = f"{self.classes}: give 2 or more, or 0 for regression"
            raise click.BadParameter(message, param_hint="--classes")
        if self.labeled > self.n:
            message = f"{self.labeled} of {self.n} points: give at most {self.n}"
            raise click.BadParameter(message, param_hint="--labeled")
        least = max(1, self.classes)
        if self.task != "clustering" and self.labeled < least:
            message = f"{self.labeled}: give at least {least}"
            raise click.BadParameter(message, param_hint="--labeled")


def _entry(name: str) -> Entry:
    from harness.planning.workload import read_catalog
    from harness.plugin.index import read_index

    return read_catalog(None, read_index()).entry(name, "--dataset")


def _metric(asked: str | None, task: str) -> str:
    from harness.advice.evidence import METRICS as KEPT
    from harness.errors import unknown_name
    from harness.metrics.names import METRICS, PRIMARY

    if asked is None:
        return PRIMARY[task]
    known = [name for name in KEPT if task in METRICS[name]]
    if asked not in known:
        raise unknown_name(f"metric of {task} with kept scores:", asked, known, "--metric")
    return asked


def _show(found: Advice, score: Score, top: int, unlabeled: int) -> None:
    """Print the table, and below it what it does not tell."""
    rows = list(found.ranked.itertuples(index=False))
    shown = rows[:top] if top else rows
    if not rows:
        tell(f"no kept study tells {score.label} of a method that fits")
    else:
        table = [
            {
                "method": row.method,
                "size": found.fits[row.method].size_words,
                "of the unlabeled": _kept(found.fits[row.method], unlabeled),
                "holds": _holds(found.fits[row.method]),
                score.label: f"{row.score:.3f}",
                "from .. to": f"{_end(row.low)} .. {_end(row.high)}",
                "behind": f"{row.behind:.3f}" if place else "-",
                "at most": f"{max(row.behind, row.behind_high):.3f}" if place else "-",
                "data sets": str(row.datasets),
            }
            for place, row in enumerate(shown)
        ]
        print_table(table, list(table[0]), expendable=["of the unlabeled", "data sets", "at most"])
    for sentence in _sentences(found, len(rows) - len(shown)):
        tell(f"- {sentence}", hanging=2)


def _sentences(found: Advice, hidden: int) -> list[str]:
    told = []
    if hidden:
        told.append(f"{hidden} more are ranked: --top 0 shows them")
    if found.taken is not None and len(found.ranked) > 1:
        row = found.ranked.set_index("method").loc[found.taken]
        holds = _holds(found.fits[found.taken])
        told.append(
            f"cheapest of those that cannot be told apart from the first: {found.taken}, {holds}, "
            f"{row['score']:.3f} from {_end(row['low'])} to {_end(row['high'])}"
        )
        told.append(
            "from .. to: where four of five data sets lie; behind: how far below the first, at "
            "most in nine of ten samples of data sets"
        )
        nearest = ", ".join(found.nearest)
        told.append(
            f"nearest data sets: {nearest}"
            if found.near
            else f"no kept study of this shape: the order is that of all shapes, first {nearest}"
        )
    told += _measured([found.fits[name] for name in found.ranked["method"]])
    unknown = [fit for fit in found.fits.values() if fit.unknown]
    if unknown:
        told.append(
            f"what they hold is not known: {_named(unknown)}; {unknown[0].method}: "
            f"{unknown[0].unknown}"
        )
    untold = [fit for fit in found.unranked if fit.fits]
    if untold:
        told.append(f"these fit, and no kept study of this shape has them: {_named(untold)}")
    if found.refused:
        told.append(f"these do not fit: {_named(found.refused)}")
    if found.refused and not any(fit.fits for fit in found.fits.values()):
        least = min(found.refused, key=lambda fit: fit.planned_bytes or 0)
        told.append(f"none is known to fit; needing least, {least.method} {least.reason}")
    return told


def _measured(fits: Sequence[Fit]) -> list[str]:
    """Say where bytes are from that no storage model was written for."""
    measured = [fit for fit in fits if fit.measured_with]
    if not measured:
        return []
    among = sorted({one for fit in measured for one in fit.measured_with.split(", ")})
    told = [f"~: by a formula above trials that were measured, with {', '.join(among)}"]
    if beyond := [fit for fit in measured if fit.extrapolated]:
        told.append(f"beyond what was measured, so less sure: {_named(beyond)}")
    return told


def _named(fits: Sequence[Fit]) -> str:
    names = [fit.method for fit in fits[:_MOST_NAMED]]
    more = len(fits) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _kept(fit: Fit, unlabeled: int) -> str:
    if fit.unknown or not fit.uses_unlabeled:
        return "-"
    if fit.size_name == "n_unlabeled" and fit.size is not None:
        return f"{fit.size:,} of {unlabeled:,}" if fit.size < unlabeled else "all"
    return "all" if fit.n_kept is None else f"{fit.n_kept:,} of {unlabeled:,}"


def _holds(fit: Fit) -> str:
    if fit.planned_bytes is None:
        return "?"
    return ("~" if fit.measured_with else "") + format_bytes(fit.planned_bytes)


def _end(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "?"


def _write_study(found: Advice, asked: _Asked, budget: str, metric: str, path: Path) -> None:
    from harness.advice.next_study import study_text
    from harness.cli.new_plugin import write_new
    from harness.cli.new_study import study_of

    named = [*found.ranked["method"], *(fit.method for fit in found.unranked)]
    tried = [found.fits[name] for name in named if found.fits[name].fits][:_TRIED]
    if not tried:
        raise HarnessError(f"no method is known to fit {budget}: {path} was not written")
    write_new(
        study_text(
            tried,
            asked.dataset,
            asked.labeled,
            asked.test,
            budget,
            metric,
            asked.task,
            study_of(path),
        ),
        path,
    )


def _told_study(path: Path, dataset: str | None) -> None:
    from harness.cli.new_study import study_of

    first = "" if dataset else "harness add FILE --name my-data --no-study && "
    click.echo(f"wrote {path}; try: {first}harness run {study_of(path)}")


COMMANDS = (advise,)
