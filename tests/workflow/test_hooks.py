"""One plugin that uses every hook, in one real run."""

import json

from project import PLUGINS


def test_every_hook_is_used(project):
    study = project.write(
        datasets=["blobs"],
        methods=[{"kernel-mean": {"kernel": "overlap", "selector": "first-rows"}, "as": "mine"}],
        labeled=20,
        budgets="20MB",
        seeds=2,
        metrics=["hits"],
        tuning={"search": "one-by-one", "trials": 2},
        plugins=[str(PLUGINS / "everything.py")],
    )
    status, said = project.run(study)
    assert status == 0, said[-3000:]
    rows = project.rows()
    assert list(rows["outcome"]) == ["ok", "ok"], list(rows["reason"])
    assert list(rows["hits"]) == [100 * accuracy for accuracy in rows["accuracy"]]
    assert rows["auc"].min() > 0.9
    assert [json.loads(params)["sign"] for params in rows["params"]] == [1, 1]
    told = (project.folder / "told.txt").read_text().splitlines()
    assert told == [
        "started mine 0",
        "finished mine 0 ok",
        "started mine 1",
        "finished mine 1 ok",
    ]
    page = (project.folder / "results" / "study" / "report.html").read_text()
    assert "rows of mine: 2" in page
