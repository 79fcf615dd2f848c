"""Semi-supervised kernel spectral learning (Mehrkanoon & Suykens 2016), exact and on features."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from harness import Method, hookimpl, log_uniform, uniform

from .exact import MSSKSC, exact_storage
from .primal import PrimalMSSKSC, primal_storage, sizes


@hookimpl
def harness_methods() -> Iterator[Method]:
    """Provide RFF-, FS- and RD-MSSKSC, and the exact model."""
    mssksc = partial(Method, tasks={"binary", "multiclass"}, reference="mehrkanoon2016")
    share = {"decision_threshold": "share"}
    # k(x, Z) is not whitened: in float32 the identity would be lost beside its squares
    reduced: dict[str, Any] = {"features": "kernel", "gamma2": 100.0, "dtype": "float64"}
    for name, params, gamma2 in [
        ("rff-mssksc", {"features": "fourier"}, log_uniform(0.1, 1e4)),
        ("fs-mssksc", {"features": "nystrom"}, log_uniform(0.1, 1e4)),
        ("rd-mssksc", reduced, log_uniform(1e2, 1e5)),
    ]:
        yield mssksc(
            name,
            PrimalMSSKSC,
            primal_storage,
            size="n_components",
            sizes=sizes,
            params=params | share,
            space={"gamma1": uniform(0, 0.99), "gamma2": gamma2, "sigma": log_uniform(0.06, 4)},
            head_params={"gamma1", "gamma2"},
        )
    exact = {"gamma2": log_uniform(1, 1e4), "sigma": log_uniform(0.1, 2)}
    yield mssksc(
        "mssksc",
        MSSKSC,
        exact_storage,
        size="n_unlabeled",
        params=share,
        space={"gamma1": uniform(0, 0.95), **exact},
        head_params={"gamma2"},
    )
