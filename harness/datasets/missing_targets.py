"""Points without a target, which are neither a class of their own nor left out in silence."""

from __future__ import annotations

import numpy as np
import pandas as pd

from harness.datasets.entry import Declared
from harness.errors import HarnessError


def refuse_missing_targets(target: np.ndarray, entry: Declared) -> None:
    """Refuse points without a target, unless the entry says what becomes of them.

    Raises
    ------
    HarnessError
        Naming the first of them.
    """
    missing = np.flatnonzero(pd.isna(pd.Series(target)).to_numpy())
    if len(missing) and entry.other_classes == "error":
        raise HarnessError(
            f"data set {entry.name!r}: the target of row {missing[0]} (numbered from 0; "
            f"{len(missing)} in all) is missing: write `other_classes: drop` to leave such points "
            "out, or `other_classes: unlabeled` to keep them without a label"
        )
