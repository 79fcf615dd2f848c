"""Where a command runs, and where the results of a study are that it is asked about."""

from __future__ import annotations

import sys
from collections.abc import Sequence
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


def enter_environment_of(plugin: Path) -> None:
    """Have the command go on where a plugin's requirements are met."""
    from harness.plugin.requirements import declared_requirements

    enter_environment(declared_requirements(plugin))


def enter_environment(requirements: Sequence[str]) -> None:
    """Have the command go on in the environment of some requirements."""
    from harness.plugin.environments import enter

    enter(requirements, "harness.cli", sys.argv[1:])
