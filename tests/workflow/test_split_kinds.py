"""Studies whose parts are whole groups, times, folds of OpenML, or of other classes."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from project import ENVIRONMENT, TABLE

from harness.datasets.split_files import read_splits

pytestmark = pytest.mark.slow

N = 200


def write_data(folder):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "site": np.char.add("s", rng.integers(0, 12, N).astype(str)),
            "day": rng.permutation(N),
            "a": rng.normal(size=N),
            "b": rng.normal(size=N),
        }
    )
    frame["state"] = np.where(frame["a"] + 0.3 * rng.normal(size=N) > 0, "high", "low")
    frame.loc[rng.random(N) < 0.3, "state"] = "unknown"
    frame.to_csv(folder / "rows.csv", index=False)
    entry = {
        "task": "binary",
        "classes": ["low", "high"],
        "positive": "high",
        "other_classes": "unlabeled",
        "read": {"format": "csv", "header": True, "target": "state"},
        "groups": "site",
        "order": "day",
        "files": [{"path": "rows.csv"}],
    }
    folds = [
        f"{'TEST' if row % 5 == fold else 'TRAIN'},{row},0,{fold}"
        for row in range(569)
        for fold in range(5)
    ]
    header = ["type {TRAIN,TEST}", "rowid INTEGER", "repeat INTEGER", "fold INTEGER"]
    lines = ["@RELATION r", *(f"@ATTRIBUTE {one}" for one in header), "@DATA", *folds]
    source = {"data_set_id": "1510", "target_feature": "Class"}
    inputs = [{"name": "source_data", "data_set": source}]
    (folder / "mirror/openml").mkdir(parents=True)
    (folder / "mirror/openml/task-7.arff").write_text("\n".join(lines))
    (folder / "mirror/openml/task-7.json").write_text(json.dumps({"task": {"input": inputs}}))
    bundled = {
        "task": "binary",
        "positive": "malignant",
        "read": {"format": "sklearn", "loader": "breast_cancer"},
        "openml": 1510,
    }
    catalog = {"rows": entry, "folds": bundled}
    (folder / "mine.yaml").write_text(yaml.safe_dump(catalog))
    return frame


def test_splits_of_every_kind_are_drawn_run_and_kept(project, monkeypatch):
    frame = write_data(project.folder)
    monkeypatch.setitem(ENVIRONMENT, "HARNESS_MIRROR", str(project.folder / "mirror"))
    rows = {"datasets": ["rows"], "labeled": 30}
    kinds = {
        "groups": {"test": 0.25, "groups": "all"},
        "temporal": {"test": 0.25, "temporal": "test"},
        "mismatch": {"test": 0.3, "unlabeled_per_labeled": 1, "unlabeled": {"other_classes": 0.5}},
        "beyond": {
            "test": 0.25,
            "unlabeled_per_labeled": 1,
            "unlabeled": {"beyond": 1, "column": 0},
        },
    }
    cases = [
        rows | {"evaluation": said, "methods": [{"svm": {"C": 1}, "as": kind}]}
        for kind, said in kinds.items()
    ]
    folds = {"datasets": ["folds"], "labeled": 20, "methods": ["self-training", "prior"]}
    cases.append(folds | {"evaluation": {"openml": 7}})
    study = project.write(
        *("kinds",),
        catalogs=["mine.yaml"],
        budgets=["10MB"],
        seeds=2,
        tuning={"search": "random", "trials": 2, "folds": 3},
        cases=cases,
    )
    status, told = project.run(study, *TABLE)
    assert status == 0, told
    table = project.rows("kinds")
    assert set(table["outcome"]) == {"ok"}
    assert len(table) == 2 * (len(kinds) + 2)

    groups, days = frame["site"].to_numpy(), frame["day"].to_numpy()
    labels = frame["state"].to_numpy()
    files = [read_splits(p, N) for p in (project.folder / "results/kinds/splits").glob("rows-*")]
    assert len(files) == len(kinds)
    for file in files:
        parts = file.split(1)
        assert set(labels[parts.labeled]) == {"low", "high"}
        assert "unknown" not in labels[parts.test]
        learned = np.concatenate([parts.labeled, parts.unlabeled])
        whole = not set(groups[learned]) & set(groups[parts.test])
        timely = days[learned].max() < days[parts.test].min()
        even = np.mean(labels[parts.unlabeled] == "unknown") == 0.5
        shifted = frame["a"][parts.unlabeled].min() > frame["a"][parts.test].max()
        assert whole + timely + even + shifted == 1
    (file,) = (project.folder / "results/kinds/splits").glob("folds-*")
    assert read_splits(file, 569).split(1).test.tolist() == list(range(1, 569, 5))
    again = json.loads(project.harness("plan", study, "--json"))
    assert again["stale"] == {}
