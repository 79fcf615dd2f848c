"""Tasks of OpenML that are added by their number, from answers that were recorded."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
import yaml
from click.testing import CliRunner
from openml_answers import N, described, folds

from harness import add
from harness.cli import main
from harness.datasets import load_catalog
from harness.errors import HarnessError

pytestmark = pytest.mark.usefixtures("in_a_folder")

FRAME = pd.DataFrame(
    {
        "class": pd.Categorical(["no" if row % 2 else "yes" for row in range(N)]),
        "size": np.arange(N) ** 2.0,
        "price": np.arange(N) + 0.5,
    }
)


@pytest.fixture
def openml(tmp_path, monkeypatch):
    """Put answers of OpenML into a mirror."""
    monkeypatch.setenv("HARNESS_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "mirror/openml").mkdir(parents=True)
    asked = []

    def fetch(**options):
        asked.append(options["data_id"])
        return SimpleNamespace(frame=FRAME.copy())

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)

    def answers(rows=N, repeats=2, **changes):
        for ending, text in (("json", described(**changes)), ("arff", folds(repeats, rows))):
            (tmp_path / f"mirror/openml/task-59.{ending}").write_text(text)
        return asked

    return answers


def test_a_task_gives_an_entry_and_a_study_of_its_folds(openml, tmp_path):
    asked = openml()
    done = CliRunner().invoke(main, ["add", "openml-task:59"])
    assert done.exit_code == 0, done.output
    assert set(asked) == {61}
    entry = load_catalog()["openml-task-59"]
    assert (entry.openml_id, entry.read.target, entry.n, entry.d) == (61, "class", N, 2)
    assert "task 59 has 4 splits: `evaluation: {openml: 59}`" in " ".join(done.output.split())
    study = yaml.safe_load((tmp_path / "studies/openml-task-59.yaml").read_text())
    assert study["evaluation"] == {"openml": 59}
    assert (study["seeds"], study["datasets"], study["labeled"]) == (4, ["openml-task-59"], 3)
    planned = CliRunner().invoke(main, ["plan", "openml-task-59"])
    assert planned.exit_code == 0, planned.output


def test_a_task_of_regression_is_one_though_its_values_look_like_classes(openml):
    openml(type="2", target_feature="size")
    found = add("openml-task:59", dry_run=True)
    assert found.body["task"] == "regression"
    assert (found.folds.task, found.folds.count, found.folds.smallest) == (59, 4, 4)


@pytest.mark.parametrize(
    ("answers", "wishes", "told"),
    [
        ({"type": "5"}, {}, "openml-task:59: the task is of OpenML's type 5; allowed are 1"),
        ({}, {"target": "price"}, "--target is 'price', but the task predicts 'class'"),
        ({"rows": 8}, {}, "has 10 points, but OpenML task 59 is of 8 rows"),
        ({"target_feature": "kind"}, {}, "target: unknown column 'kind'"),
    ],
)
def test_a_task_that_cannot_be_taken_is_told(openml, tmp_path, answers, wishes, told):
    openml(**answers)
    with pytest.raises(HarnessError, match=told):
        add("openml-task:59", **wishes)
    assert not (tmp_path / "datasets.yaml").exists()


def test_a_number_that_is_none_is_told():
    with pytest.raises(HarnessError, match="openml-task:x: write the number of the task, such as"):
        add("openml-task:x")
