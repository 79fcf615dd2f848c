"""What a study has searched, held against its methods: parameters that there are, and a search.

Nothing heavy is imported here: Snakemake reads the study again in every job of a cluster. Whether
an estimator allows the values is asked with those that are fixed (`harness.plugin.parameters`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.errors import HarnessError, unknown_name
from harness.plugin.registry import NAMED
from harness.study.method_choice import MethodChoice
from harness.study.study import Study

_GIVEN = {
    "n_classes": "the data set",
    "n_clusters": "the data set",
    "random_state": "the seed",
}
"""Parameters that a trial sets, and by what."""


def bad_space(
    method: MethodChoice, entry: Mapping[str, Any], index: Mapping[str, Any], where: str
) -> Iterator[HarnessError]:
    """Find parameters of a method's space that it does not have, or that no search can turn.

    Parameters
    ----------
    method : MethodChoice
    entry, index : mapping
        The method's own part of the index, and all of it.
    where : str
        File and key, for the messages.
    """
    at = f"{where}: space of {method.label}"
    set_by = {**_GIVEN, entry["size"]: "the plan"}
    tunable = [name for name in entry["parameters"] if name not in set_by]
    for parameter, written in method.space.items():
        if parameter in set_by:
            allowed = ", ".join(sorted(tunable))
            yield HarnessError(
                f"{at}: {parameter} is set by {set_by[parameter]}; allowed: {allowed}"
            )
        elif parameter not in tunable:
            yield unknown_name("parameter", parameter, tunable, at)
        elif parameter in NAMED:
            # a search hands values over as they are, so not those that plugins provide
            built_in = {
                item["name"] for item in index[NAMED[parameter]] if not item["plugin_sha256"]
            }
            known = built_in | set(entry["own_names"][parameter]["names"])
            for name in written if isinstance(written, list) else [written]:
                if not isinstance(name, str) or name not in known:
                    yield unknown_name(f"{parameter} to search:", str(name), known, at)


def unsearched_spaces(study: Study) -> Iterator[HarnessError]:
    """Find methods whose space no part of the study searches."""
    searched = {str(m) for grid in study.grids if grid.tuning is not None for m in grid.methods}
    for method in {str(m): m for grid in study.grids for m in grid.methods}.values():
        if method.space and str(method) not in searched:
            yield HarnessError(
                f"{study.path}: methods: space of {method.label}: nothing is searched, since "
                "tuning is none; write tuning: {search: grid, trials: 20}, or fix values under "
                "the name"
            )
