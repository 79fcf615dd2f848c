"""scikit-learn imported without pandas, which it would load with Arrow and use nowhere here.

One of its modules imports pandas if there is any, under a name that nothing of it asks for. Left
out, a job starts 0.4 s sooner, and each trial inherits 30 MB less. Whoever imports pandas later
has it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_LEFT_OUT = ("pandas", "pyarrow")


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Let imports of some modules fail that are not loaded yet."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


def import_scikit_learn() -> None:
    """Import what of scikit-learn every trial needs."""
    with without(*_LEFT_OUT):
        import sklearn.utils.fixes  # noqa: F401
