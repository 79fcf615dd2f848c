"""Which cells of two runs moved: by differences of scores, by ratios of seconds and bytes."""

import numpy as np
import pandas as pd
import pytest

from harness.errors import HarnessError
from harness.metrics.names import METRICS
from harness.report.moved import Run, compare_runs, moved_lines, read_run
from harness.report.rows import write_rows

SEEDS = 12


def rows(seed, cpu="a"):
    """Two methods on one data set; what is drawn differs from run to run."""
    rng = np.random.default_rng(seed)
    made = []
    for method in ("steady", "other"):
        score = 0.8 + 0.02 * np.random.default_rng(7).normal(size=SEEDS)
        made.append(
            pd.DataFrame(
                {
                    **{"task": "binary", "dataset": "d", "n_labeled": 10, "n_unlabeled": 90},
                    **{"n_test": 0, "budget": "3MB", "method": method, "seed": range(SEEDS)},
                    **{"outcome": "ok", "size": 5, "planned_bytes": 10, "fingerprint": "f"},
                    **{"predict_peak_bytes": 1, "tune_s": 0.0, "fit_s": 0.1, "predict_s": 0.1},
                    "accuracy": score + 1e-3 * rng.normal(size=SEEDS),
                    "cpu_s": np.exp(0.05 * rng.normal(size=SEEDS)),
                    "peak_bytes": np.round(2e6 * np.exp(0.01 * rng.normal(size=SEEDS))),
                }
            )
        )
    table = pd.concat(made, ignore_index=True).assign(cpu=cpu)
    return table.astype({"peak_bytes": "int64"})


def run(table):
    return Run("somewhere", table, {})


def moved(before, after):
    found = compare_runs(run(before), run(after))
    return found, moved_lines(found.table[found.table["moved"]])


def test_noise_moves_something_in_few_pairs_of_runs():
    found = [moved(rows(2 * draw), rows(2 * draw + 1)) for draw in range(40)]
    # more than seven of 40 have a probability of 0.001 at the level of 0.05
    assert sum(bool(lines) for _, lines in found) <= 7
    assert all(sum(of.counts().values()) == 6 for of, _ in found)


def test_the_same_rows_are_equal():
    found, _ = moved(rows(0), rows(0))
    assert found.counts() == {"moved": 0, "equal": 6, "not shown": 0, "too few": 0}


def test_what_moved_is_named_with_its_size():
    after = rows(1)
    mine = after["method"] == "other"
    after.loc[mine, "accuracy"] -= 0.01
    after.loc[mine, "cpu_s"] *= 2
    after.loc[mine, "peak_bytes"] //= 2
    _, lines = moved(rows(0), after)
    assert [(line["method"], line["what"], line["it is"]) for line in lines] == [
        ("other", "accuracy", "worse"),
        ("other", "CPU time", "more"),
        ("other", "peak", "less"),
    ]
    assert lines[0]["change"].startswith("-0.0")
    ratio = float(lines[1]["change"].split()[1])
    assert 1.9 < ratio < 2.1
    assert lines[2]["before"].endswith("MB")


def test_times_of_different_cpus_are_not_compared():
    found, _ = moved(rows(0, cpu="a"), rows(1, cpu="b"))
    assert found.cpu is None
    assert set(found.table["what"]) == {"accuracy", "peak"}


def test_times_are_of_the_cpu_that_both_have():
    before, after = rows(0), rows(1)
    after.loc[after["seed"] < 4, "cpu"] = "b"
    after.loc[after["seed"] < 4, "cpu_s"] *= 10
    found, lines = moved(before, after)
    assert found.cpu == "a"
    assert "CPU time" not in {line["what"] for line in lines}
    times = found.table[found.table["what"] == "CPU time"]
    assert list(times["n"]) == [SEEDS - 4] * 2


def test_few_pairs_cannot_tell():
    found, lines = moved(rows(0).query("seed < 3"), rows(1).query("seed < 3"))
    assert lines == []
    assert found.counts()["too few"] == 6


def test_files_of_rows_are_read(tmp_path):
    path = tmp_path / "rows.parquet"
    others = dict.fromkeys(set(METRICS) - {"accuracy"}, np.nan)
    write_rows(rows(0).drop(columns="cpu").assign(**others), path)
    found = compare_runs(read_run(path), run(rows(1)))
    assert found.cpu == ""
    assert len(found.table) == 6


def test_runs_without_a_common_trial_are_refused():
    with pytest.raises(HarnessError, match="no trial in common"):
        compare_runs(run(rows(0)), run(rows(1).assign(dataset="e")))
