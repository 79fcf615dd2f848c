"""Searches: which settings of a method's tuned parameters are tried, and in what order.

A search sees a space and a function that scores settings; cross-validation and the choice between
what was tried are `harness.trial.tuning`'s. The built-in ones name all settings beforehand and
have them scored at once. `plugins/csa.py` is one that goes by the scores.

Neither numpy nor any plugin is imported here: Snakemake checks a study's names in every job.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.plugin.hookspecs import Evaluate, Search, hookimpl
from harness.plugin.search_space import settings_at

if TYPE_CHECKING:
    import numpy as np

    from harness.plugin.search_space import Distribution


def grid(
    space: Mapping[str, Distribution], evaluate: Evaluate, trials: int, rng: np.random.Generator
) -> None:
    """Try a full grid, with as many points per range as the number of trials allows.

    Choices are never thinned, so a grid over many of them may need more trials than it may have
    and is then cut.
    """
    names = sorted(space)
    points = 1
    while points < trials and _grid_size(space, points + 1) <= trials:
        points += 1
    product = itertools.product(*(space[name].grid(points) for name in names))
    settings = itertools.islice(product, trials)
    evaluate([dict(zip(names, values, strict=True)) for values in settings])


def random(
    space: Mapping[str, Distribution], evaluate: Evaluate, trials: int, rng: np.random.Generator
) -> None:
    """Try settings drawn independently and uniformly."""
    evaluate(settings_at(space, rng.random((trials, len(space)))))


def sobol(
    space: Mapping[str, Distribution], evaluate: Evaluate, trials: int, rng: np.random.Generator
) -> None:
    """Try the points of a scrambled Sobol sequence, which leave no large part of the space out."""
    from scipy.stats import qmc

    # rounded up to a power of two, where Sobol points are balanced, then cut
    power = math.ceil(math.log2(trials))
    evaluate(settings_at(space, qmc.Sobol(len(space), rng=rng).random_base2(power)[:trials]))


@hookimpl
def harness_searches() -> tuple[Search, ...]:
    """Provide the searches that come with the harness."""
    return Search("grid", grid), Search("random", random), Search("sobol", sobol)


def _grid_size(space: Mapping[str, Distribution], points: int) -> int:
    return math.prod(len(distribution.grid(points)) for distribution in space.values())
