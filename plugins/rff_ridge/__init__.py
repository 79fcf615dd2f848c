"""Ridge regression on random Fourier features: independent, orthogonal, structured, in few bits.

How much accuracy a byte of features buys is the subject of Yu et al. (2016), whose frequencies
take less memory, and of Zhang, May, Dao & Re (2019), whose features do.
"""

from __future__ import annotations

from harness import Method, Shape, choice, hookimpl, log_uniform

from .ridge import RandomFourierRidge
from .storage import ridge_storage


def feature_sizes(shape: Shape) -> tuple[int, int]:
    """Return a pair of features at the least, and 20,000 at the most."""
    return 2, 20_000


@hookimpl
def harness_methods() -> list[Method]:
    """Provide it."""
    return [
        Method(
            "rff-ridge",
            RandomFourierRidge,
            ridge_storage,
            size="n_components",
            sizes=feature_sizes,
            tasks={"regression", "binary", "multiclass"},
            space={
                "sigma": choice([0.25, 0.5, 1.0, 2.0, 4.0]),
                "alpha": log_uniform(1e-2, 100),
            },
            uses_unlabeled=False,
            reference="zhang2019",
        )
    ]
