"""What holds for every test."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def same_draws():
    """What is given no seed draws from numpy's global state: the same draws in every run."""
    np.random.seed(0)  # noqa: NPY002 (the global state is what scikit-learn draws from)
