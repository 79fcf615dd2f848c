"""Known allocations are measured within 1 MB + 1 %."""

import pytest

from harness.errors import HarnessError
from harness.sandbox import calibrate

SIZES = [1_000_000, 10_000_000, 100_000_000, 400_000_000]


@pytest.mark.memory
@pytest.mark.parametrize("kind", ["numpy", "bytes", "thread"])
def test_known_allocations_are_measured_within_1_mb_and_1_percent(sandbox, kind):
    sizes = SIZES[:3] if sandbox.backend == "watch" else SIZES  # which measures as rlimit-data
    rows = sandbox.calibrate(sizes=sizes, kinds=[kind])
    assert [row["allocated_bytes"] for row in rows] == sizes
    for row in rows:
        assert row["within"], row
        assert row["kind"] == kind
        assert row["backend"] == sandbox.backend
        assert row["error_bytes"] == row["measured_bytes"] - row["allocated_bytes"]


def test_a_wrong_figure_is_called_wrong():
    class Liar:
        backend = "liar"

        def run(self, function, limits):
            class Result:
                outcome, peak_bytes = "ok", 12_000_000

            return Result

    (low, right) = calibrate(Liar(), sizes=(10_000_000, 11_000_000), kinds=("numpy",))
    assert (low["within"], low["error_bytes"]) == (False, 2_000_000)
    assert right["within"]


def test_an_unknown_kind_is_named():
    with pytest.raises(HarnessError, match="kind of allocation 'nmpy'; did you mean 'numpy'"):
        calibrate(None, kinds=("nmpy",))
