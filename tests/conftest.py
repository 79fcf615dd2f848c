"""What holds for every test."""

import pytest

from harness.threads import one_thread

# As in a trial, and before NumPy is imported: on small matrices threads cost many times the work.
one_thread()


@pytest.fixture(autouse=True)
def same_draws():
    """What is given no seed draws from numpy's global state: the same draws in every run."""
    import numpy as np

    np.random.seed(0)  # noqa: NPY002 (the global state is what scikit-learn draws from)
