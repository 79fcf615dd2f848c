"""Metrics computed from what trials predicted; nothing is run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import as_json_option, study_argument
from harness.cli.places import results_of
from harness.cli.tables import print_table, tell
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.plugin.hookspecs import Metric, ReportSection
    from harness.study.study import Study

_MOST_TOLD = 6


@click.command()
@study_argument
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    required=True,
    help="A metric by its name, or a file of metrics, my_metric.py; may be given again.",
)
@click.option("--judge", is_flag=True, help="Judge the page by the first of them.")
@as_json_option
def rescore(study: str, metrics: Sequence[str], judge: bool, as_json: bool) -> None:
    """Compute metrics from the predictions that a study kept; nothing is run.

    They are written beside the study's table, and the page and its tables are made again. Commands
    such as `harness best --metric` then know them.
    """
    from harness.planning.workload import PREPARED
    from harness.report import write_report
    from harness.report.predictions import KeptPredictions
    from harness.report.rescoring import refuse_clash, summary, write_rescored
    from harness.report.rescoring import rescore as compute
    from harness.study.study import load_study

    loaded = load_study(study)
    results = results_of(loaded)
    kept = KeptPredictions(results, [PREPARED])
    wanted = _metrics(loaded, metrics)
    refuse_clash(wanted)
    found = compute(kept, wanted)
    names = [metric.name for metric in wanted]
    if not found.table[names].notna().any(axis=None):
        why = "; ".join(found.lacking) or "none of them is for a task of its trials"
        raise HarnessError(f"{results}: {', '.join(names)}: no trial could be scored: {why}")
    write_rescored(results, found, wanted)
    if (results / "report.html").is_file():
        write_report(results, names[0] if judge else None, _sections(loaded))
    rows = summary(found, names)
    if as_json:
        click.echo(json.dumps([_plain(row) for row in rows], indent=1))
    else:
        shown = [
            {n: "" if v != v else f"{v:.4g}" if n in names else str(v) for n, v in row.items()}
            for row in rows
        ]
        print_table(shown, [name for name in rows[0] if name != "task"], expendable=["seeds"])
    for reason, count in list(found.lacking.items())[:_MOST_TOLD]:
        tell(f"{count} trial{'s' * (count != 1)} without a score: {reason}")


def _metrics(study: Study, asked: Sequence[str]) -> list[Metric]:
    found: list[Metric] = []
    for name in dict.fromkeys(asked):
        found += _of_file(Path(name)) if name.endswith(".py") else [_by_name(study, name)]
    return list({metric.name: metric for metric in found}.values())


def _of_file(path: Path) -> list[Metric]:
    from harness.plugin.registry import FileSource, load_plugin

    if not path.is_file():
        raise HarnessError(f"{path}: there is no such file")
    plugin = load_plugin(FileSource(path.stem, str(path.parent), path.resolve()))
    if plugin.failure:
        raise HarnessError(f"{path}: {plugin.failure}")
    if not plugin.provided["metrics"]:
        raise HarnessError(
            f"{path}: provides no metric; harness new metric NAME writes one that does"
        )
    return plugin.provided["metrics"]


def _by_name(study: Study, name: str) -> Metric:
    from harness.metrics.functions import BUILT_IN, asked_metrics
    from harness.plugin.registry import Registry

    built_in = {metric.name: metric for metric in (*BUILT_IN, *asked_metrics([name]))}
    if name in built_in:
        return built_in[name]
    metric: Metric = Registry.load(study.plugin_folders).get("metrics", name)[0]
    return metric


def _sections(study: Study) -> list[ReportSection]:
    from harness.plugin.registry import Registry

    items = Registry.load(study.plugin_folders).items("report sections")
    return [section for section, _ in items]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: None if value != value else getattr(value, "item", lambda v=value: v)()
        for name, value in row.items()
    }


COMMANDS = (rescore,)
