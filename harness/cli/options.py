"""Arguments and options that several commands have."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print objects as JSON.")
study_argument = click.argument("study", default="studies/quickstart.yaml")


def cores_option(told: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option `--cores`, all of them by default; `told` says what they are for."""
    kind, count = click.IntRange(min=1), os.cpu_count()
    return click.option("--cores", type=kind, default=count, show_default=True, help=told)
