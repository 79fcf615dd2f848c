"""Predictions of a study that is run: kept once for each row, however its jobs are ended."""

import json
import subprocess

import numpy as np
import pytest
from project import TABLE

from harness.jobs.merge import merge
from harness.python.study_results import Results
from harness.records.prediction_files import read_kept

pytestmark = pytest.mark.slow

STUDY = {
    "datasets": ["breast_cancer", "diabetes-sklearn"],
    "methods": ["prior", "svm", "nystrom-krr"],
    "labeled": 40,
    "budgets": ["3MB"],
    "evaluation": {"test": 0.3},
    "metrics": ["auc", "log_loss", "pinball_0.9"],
}

METRIC = """\
from harness import Metric, hookimpl

@hookimpl
def harness_metrics():
    yield Metric("recall", lambda y, labels: (labels[y == 1] == 1).mean(), {"binary"})
"""


class Everything:
    """Contains all there is."""

    def __contains__(self, _):
        return True


def kept(folder):
    """The fingerprints in all files of predictions below a folder."""
    paths = sorted((folder / "predictions").rglob("*.scores"))
    return [one.trial for path in paths for one, _ in read_kept(path, Everything())]


def ended_ok(project):
    rows = project.rows()
    rows = rows[rows["seed"].notna()].set_index("fingerprint")
    assert (rows["outcome"] == "ok").all()
    return rows


def test_each_row_has_its_predictions_once(project, monkeypatch):
    study = project.write("study", seeds=2, **STUDY)
    assert project.run(study)[0] == 0
    results = project.folder / "results/study"
    rows = ended_ok(project)
    assert sorted(kept(results)) == sorted(rows.index)
    told = rows[rows["method"] == "svm"]["reason"]
    assert told.str.contains("no log_loss: its method gives no probabilities").all()
    regression = rows[rows["task"] == "regression"]
    assert regression["pinball_0.9"].notna().all()
    assert rows["log_loss"].isna().all()

    # what trials scored themselves is computed from their predictions, bit for bit by ranks
    monkeypatch.chdir(project.folder)
    again = Results(results).rescore("auc").set_index("fingerprint")["auc"].dropna()
    assert len(again) == 6
    assert (again == rows["auc"].astype(float).reindex(again.index)).all()
    table = Results(results).predictions(dataset="breast_cancer", method="svm")
    assert len(table) == 2 * 171
    right = (table["label"] == table["predicted"]).groupby(table["seed"]).mean()
    then = rows[rows["method"] == "svm"].set_index("seed")["accuracy"].astype(float)
    assert right.to_dict() == pytest.approx(then.to_dict())

    # a metric of one's own, by a file and without a run
    (project.folder / "recall.py").write_text(METRIC)
    asked = ("--metric", "recall.py", "--judge", "--json")
    printed = json.loads(project.harness("rescore", study, *asked))
    assert {row["method"] for row in printed} == {"prior", "svm", "nystrom-krr"}
    best = json.loads(project.harness("best", study, "--metric", "recall", "--json"))
    assert {row["metric"] for row in best if row["dataset"] == "breast_cancer"} == {"recall"}
    assert "recall" in (results / "report.html").read_text()
    means = (results / "tables" / "means.csv").read_text()
    assert ",recall," in means

    # other seeds in other jobs, and a job that was ended between predictions and row
    (journal,) = (results / "journal" / "breast_cancer").glob("*.jsonl")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    (results / "rows" / "breast_cancer" / journal.name).unlink(missing_ok=True)
    study = project.write("study", seeds=3, **STUDY)
    assert project.run(study, *TABLE)[0] == 0
    rows = ended_ok(project)
    assert len(rows) == 15
    assert sorted(kept(results)) == sorted(rows.index)

    # rows that go take their predictions along
    project.harness("retry", study, "--outcome", "ok", "--method", "svm")
    left = rows.index[rows["method"] != "svm"]
    assert sorted(kept(results)) == sorted(left)

    # another site's come with its rows, and none twice
    merged = project.folder / "merged"
    merge([results, results], merged)
    assert sorted(kept(merged)) == sorted(left)
    merge([merged, results], merged)
    assert sorted(kept(merged)) == sorted(left)


def test_a_study_that_says_no_keeps_none_and_gets_probabilities_all_the_same(project):
    settings = STUDY | {"datasets": ["breast_cancer"], "methods": ["prior", "gaussian-nb"]}
    (project.folder / "nb.py").write_text(
        "from harness import Method, hookimpl\n"
        "from sklearn.naive_bayes import GaussianNB\n"
        "@hookimpl\n"
        "def harness_methods():\n"
        "    yield Method('gaussian-nb', GaussianNB, tasks={'binary'}, uses_unlabeled=False,\n"
        "        storage=lambda shape, size: shape.data_bytes + 1_000_000)\n"
    )
    study = project.write("study", plugins=["nb.py"], predictions=False, **settings)
    assert project.run(study, *TABLE)[0] == 0
    results = project.folder / "results/study"
    rows = project.rows().set_index("method")
    assert not (results / "predictions").exists()
    assert np.isfinite(rows.loc["gaussian-nb", "log_loss"])
    with pytest.raises(subprocess.CalledProcessError) as refused:
        project.harness("rescore", study, "--metric", "auc")
    assert "no trial could be scored: no predictions were kept of them" in refused.value.stderr
