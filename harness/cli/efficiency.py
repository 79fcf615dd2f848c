"""What the jobs of a study were given, and what they took of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import as_json_option
from harness.cli.tables import print_table
from harness.errors import HarnessError
from harness.units import format_bytes, format_duration

if TYPE_CHECKING:
    from harness.jobs.usage import Usage

_COLUMNS = ("rule", "jobs", "memory", "used", "share", "time", "took", "usually", "cores", "busy")


@click.command()
@click.argument("study", default="studies/quickstart.yaml")
@as_json_option
def efficiency(study: str, as_json: bool) -> None:
    """Tell what memory and time the jobs of a study had reserved, and what they used.

    `used` and `took` are of the job that needed most, `usually` of the one in the middle; `busy`
    is the share of its cores' time that all jobs computed.
    """
    from harness.files import below
    from harness.jobs.usage import read_usage
    from harness.planning.workload import RESULTS
    from harness.study.study import load_study

    name = load_study(study).name
    jobs = read_usage(below(RESULTS, name))
    if not jobs:
        raise HarnessError(f"no job of {name} has left what it took: try: harness run {study}")
    if as_json:
        click.echo(json.dumps([asdict(job) for job in jobs], indent=1))
        return
    alike: dict[tuple[Any, ...], list[Usage]] = {}
    for job in sorted(jobs, key=_order):
        alike.setdefault(_order(job), []).append(job)
    print_table([_row(group) for group in alike.values()], _COLUMNS, expendable=["usually"])
    for sentence in _summary(jobs):
        click.echo(sentence)


def _order(job: Usage) -> tuple[Any, ...]:
    given = job.reserved
    return (job.rule, given.mem_mb, given.cores) if given else (job.rule, 0, 0)


def _row(jobs: Sequence[Usage]) -> dict[str, Any]:
    given = jobs[0].reserved
    used, took = max(job.peak_bytes for job in jobs), max(job.seconds for job in jobs)
    row: dict[str, Any] = {
        "rule": jobs[0].rule,
        "jobs": len(jobs),
        "used": format_bytes(used),
        "took": format_duration(took),
        "usually": format_duration(median(job.seconds for job in jobs)),
    }
    if given:
        row |= {
            "memory": format_bytes(given.mem_mb * 10**6),
            "share": f"{used / (given.mem_mb * 10**6):.0%}",
            "time": f"{max(job.reserved.minutes for job in jobs if job.reserved)} min",
            "cores": given.cores,
            "busy": f"{sum(j.cpu_seconds for j in jobs) / (given.cores * _seconds(jobs)):.0%}",
        }
    return row


def _seconds(jobs: Sequence[Usage]) -> float:
    return sum(job.seconds for job in jobs)


def _summary(jobs: Sequence[Usage]) -> list[str]:
    from harness.jobs.usage import NOT_YET, PROCESS

    told = []
    given = [(job, job.reserved) for job in jobs if job.reserved]
    if given:
        reserved = sum(had.mem_mb * 10**6 * job.seconds for job, had in given)
        used = sum(job.peak_bytes * job.seconds for job, _ in given)
        cores = sum(had.cores * job.seconds for job, had in given)
        busy = sum(job.cpu_seconds for job, _ in given)
        minutes = sum(had.minutes for _, had in given)
        told.append(
            f"they took {sum(job.seconds for job, _ in given) / 60 / minutes:.0%} of the minutes "
            "that were reserved"
        )
        told.append(
            f"while they ran, {used / reserved:.0%} of the memory and {busy / cores:.0%} of the "
            "cores that were reserved were used"
        )
    by_process = sum(job.measured_by == PROCESS for job in jobs)
    if by_process:
        told.append(
            f"of {by_process} of {len(jobs)} jobs only the largest process is known: no "
            "scheduler gave them a group"
        )
    ends = Counter(job.ended for job in jobs if job.ended != "ok")
    if ends[NOT_YET]:
        told.append(f"{ends[NOT_YET]} had used nearly all of their minutes when last seen")
    signals = ((ended, count) for ended, count in ends.items() if ended.startswith("signal"))
    told += [f"{count} ended by {ended}" for ended, count in signals]
    if ends["failed"]:
        told.append(f"{ends['failed']} failed; their logs say why")
    return told


COMMANDS = (efficiency,)
