"""Splits that a study drew, taken by another one from their file."""

import json
import shutil

import numpy as np
import pytest
from project import TABLE

from harness.datasets.split_files import read_splits

pytestmark = pytest.mark.slow

STUDY = {
    "datasets": ["breast_cancer"],
    "methods": ["svm", "prior"],
    "budgets": ["3MB"],
    "seeds": 3,
    "metrics": ["auc"],
}


def test_a_study_writes_its_splits_and_another_takes_them(project):
    drawn = project.write("drawn", labeled=[20, 40], evaluation={"test": 0.3}, **STUDY)
    assert project.run(drawn, *TABLE)[0] == 0
    few, many = sorted((project.folder / "results/drawn/splits").iterdir())
    assert few.name.startswith("breast_cancer-20-")
    found = read_splits(many, 569)
    assert found.seeds == (0, 1, 2)
    assert found.sizes == (40, 358, 171)
    held = found.split(1)
    assert set(held.test) == set(read_splits(few, 569).split(1).test)

    shutil.copy(many, project.folder / "breast_cancer.npz")
    settings = STUDY | {"evaluation": {"splits": "{dataset}.npz"}, "seeds": [2, 0]}
    taken = project.write("taken", **settings)
    status, told = project.run(taken, *TABLE)
    assert status == 0, told
    rows, earlier = project.rows("taken"), project.rows("drawn")
    assert set(rows["n_labeled"]) == {40}
    key = ["method", "seed"]
    earlier = earlier[(earlier["n_labeled"] == 40) & (earlier["seed"] != 1)]
    scores = [table.set_index(key)["auc"].sort_index() for table in (rows, earlier)]
    assert scores[0].equals(scores[1])
    (again,) = (project.folder / "results/taken/splits").iterdir()
    assert read_splits(again, 569).split(2).test.tolist() == (
        read_splits(many, 569).split(2).test.tolist()
    )

    # a split that is another one is run again, and the plan says why
    with np.load(many) as file:
        np.savez(project.folder / "breast_cancer.npz", seeds=[0, 1, 2], part=file["part"][::-1])
    plan = json.loads(project.harness("plan", taken, "--json"))
    assert plan["stale"] == {"the file of splits has changed": 4}
    refused = project.write("refused", **settings | {"seeds": 4})
    status, told = project.run(refused)
    assert status
    assert "breast_cancer.npz: has no split 3; its splits are 0 to 2: give seeds" in told
