"""Methods whose bytes are known, and the runs that measuring them would give."""

import json

from harness.planning.learned.design import Design
from harness.planning.learned.runs import GENERATED, Run
from harness.planning.own_bytes import handed_bytes, standing_bytes


class Estimator:
    def __init__(self, rank=1):
        self.rank = rank


def run_of(design, wanted, own, noise=0.0):
    """The run of a trial that holds `own(shape, size)` in fit and half of it in prediction.

    A tuned parameter `factor` multiplies that.
    """
    seen = design.method.training_shape(design.shape, wanted.size, wanted.n_kept)
    factor = json.loads(wanted.setting).get("factor", 1) if wanted.setting else 1
    held = int(own(seen, wanted.size) * factor * (1 + noise))
    fit = held + standing_bytes(seen, False)
    predict = held // 2 + standing_bytes(seen, False) + handed_bytes(seen)
    limit = wanted.limit or design.most_bytes
    over = fit > limit
    return Run(
        data=design.data,
        shape=seen,
        size=wanted.size,
        repeat=wanted.repeat,
        outcome="over_budget" if over else "ok",
        reason="",
        fit=limit if over else fit,
        predict=0 if over else predict,
        seconds=0.1,
        setting=wanted.setting,
        limit=wanted.limit,
    )


def measured(method, shape, budgets, own, noise=lambda repeat: 0.0, settings=(), known=()):
    """All runs that a design asks for beside those known, one after the other, and the design."""
    pairs = [(many, None) for many in budgets]
    design = Design(method, shape, pairs, {}, GENERATED, settings, bool(settings))
    runs = list(known)
    while (wanted := design.next(runs)) is not None:
        runs.append(run_of(design, wanted, own, noise(wanted.repeat)))
        assert len(runs) < 60 + len(known)
    return design, runs
