"""Where the results of a study are that a command is asked about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.study.study import Study


def results_of(study: Study) -> Path:
    """Return the folder of a study's results; say so where they are those of another text."""
    from harness.files import below, holds
    from harness.planning.workload import RESULTS

    folder = below(RESULTS, study.name)
    kept = folder / "study.yaml"
    if kept.is_file() and not holds(kept, study.text):
        click.echo(
            f"{folder} holds the results of {kept}, not of {study.path} as it is now: "
            "it was edited since, or another study of its name was run here",
            err=True,
        )
    return folder
