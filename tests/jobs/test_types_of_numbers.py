"""Trials of one data set in several types of numbers: same scores, and the bytes of each type."""

import numpy as np
import pytest
import yaml
from sklearn.datasets import load_digits

from harness.datasets import prepare
from harness.errors import HarnessError
from harness.jobs.block import run_trials
from harness.planning.block_plans import item_type, plan_trials
from harness.planning.workload import load_workload
from harness.plugin.registry import Registry
from harness.records.journal import Journal
from harness.records.table import read_rows

ENTRY = {
    "task": "multiclass",
    "read": {"format": "npz"},
    "divide_by": 16,
    "files": [{"path": "digits.npz"}],
}
STUDY = {
    "datasets": ["small", "numbers"],
    "methods": ["nystrom-svm", "1nn"],
    "labeled": 200,
    "budgets": "40 landmarks",
    "catalogs": ["mine.yaml"],
    "plugins": [],
}


@pytest.fixture
def study(tmp_path, monkeypatch, built_in):
    """Write a study of digits as small integers and as float32; return its workload."""
    built_in("budget_machines", "supervised")
    monkeypatch.chdir(tmp_path)
    X, y = load_digits(return_X_y=True)
    large = np.kron(X.reshape(-1, 8, 8), np.ones((1, 4, 4))).reshape(len(X), -1)
    np.savez("digits.npz", X=large.astype(np.uint8), y=y)
    entries = {"small": ENTRY | {"dtype": "uint8"}, "numbers": ENTRY | {"dtype": "float32"}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(entries))

    def load(**changes):
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(STUDY | changes))
        return load_workload("study.yaml")

    return load


def planned(workload, block):
    registry = Registry.load()
    found, _ = registry.get("methods", block.method.name)
    return item_type(workload, block, found, {}), plan_trials(workload, block, found, {})[1]


def test_what_a_study_asks_for_is_what_is_given_and_charged(study):
    given = {}
    for dtype in ("as prepared", "float64", "float32"):
        workload = study(dtype=dtype)
        for block in workload.blocks:
            item, plan = planned(workload, block)
            given[dtype, block.dataset, block.method.name] = item, plan.planned_bytes
    svm, nearest = "nystrom-svm", "1nn"
    item, kept = given["as prepared", "small", svm]
    assert (item.dtype, item.divide_by, item.keeps_integers) == ("float32", 16, True)
    item, _ = given["as prepared", "small", nearest]
    assert (item.dtype, item.divide_by, item.keeps_integers) == ("float32", 16, False)
    item, _ = given["float64", "small", svm]
    assert (item.dtype, item.keeps_integers) == ("float64", False)
    for name in (svm, nearest):
        single, double = (given[dtype, "numbers", name][1] for dtype in ("float32", "float64"))
        assert given["as prepared", "numbers", name][1] == single < double
        assert given["float32", "small", name][1] == single
    assert kept < given["as prepared", "numbers", svm][1]


def test_rows_of_a_study_that_asks_for_no_type_stay_what_they_are(study):
    plain = [block.fingerprint for block in study().blocks]
    assert [block.fingerprint for block in study(dtype="as prepared").blocks] == plain
    others = [block.fingerprint for block in study(dtype="float64").blocks]
    assert not set(others) & set(plain)
    with pytest.raises(HarnessError, match=r"study\.yaml: dtype: .*'as prepared', 'float64' or"):
        study(dtype="uint8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("evaluation", "data"), [("transductive", "counted"), ({"test": 500}, "mapped")]
)
def test_scores_are_the_same_whatever_the_type(study, evaluation, data):
    rows = {}
    for dtype in ("as prepared", "float32", "float64"):
        workload = study(dtype=dtype, evaluation=evaluation, data=data)
        for name in STUDY["datasets"]:
            if not workload.prepared(name).exists():
                prepare(workload.catalog[name], workload.prepared(name))
        for block in workload.blocks:
            with Journal(workload.results / f"{dtype}-{block.dataset}.rows") as journal:
                run_trials(workload, block, journal, [0])
            (row,) = read_rows(journal.path)[-1:]
            assert row["outcome"] == "ok", row
            rows[dtype, block.dataset, block.method.name] = row
    for method in STUDY["methods"]:
        for name in STUDY["datasets"]:  # whose splits differ, as their names do
            single = rows["float32", name, method]["accuracy"]
            assert rows["as prepared", name, method]["accuracy"] == single
            assert abs(rows["float64", name, method]["accuracy"] - single) < 0.002
    if data == "counted":
        kept = rows["as prepared", "small", "nystrom-svm"]["data_bytes"]
        held = rows["as prepared", "numbers", "nystrom-svm"]["data_bytes"]
        assert kept < 0.3 * held
