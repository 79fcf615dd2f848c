"""What is kept of studies, and what those of the current folder add."""

import pandas as pd
import pytest

from harness.advice.evidence import COLUMNS, KEPT, METRICS, one_a_method, read_evidence
from harness.errors import HarnessError
from harness.project import ROOT
from harness.records.columns import COLUMNS as OF_TRIALS

STUDIES = sorted((ROOT / "docs" / "results").glob("*/means.csv"))
HINT = "run python -m harness.advice.collecting, and commit what it writes"


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.parent.name)
def test_kept_scores_are_those_of_the_kept_studies(path):
    means = pd.read_csv(path, usecols=["metric", "mean"])
    means = means[means["metric"].isin(METRICS)]
    kept = pd.read_parquet(KEPT)
    kept = kept[kept["study"] == path.parent.name]
    for metric, mine in means.groupby("metric"):
        found = kept.loc[kept["metric"] == metric, "mean"]
        assert sorted(found.fillna(-1)) == pytest.approx(sorted(mine["mean"].fillna(-1))), HINT


def test_no_study_is_kept_that_is_gone():
    assert set(pd.read_parquet(KEPT)["study"]) <= {path.parent.name for path in STUDIES}, HINT


def trials(study, methods=("svm",), outcome="ok", **columns):
    row = dict.fromkeys(OF_TRIALS) | {"dataset": "mine", "task": "binary", "outcome": outcome}
    row |= {"n_labeled": 50, "n_unlabeled": 100, "n_test": 9, "n_features": 4, "n_classes": 2}
    row |= {"budget": "3MB", "budget_bytes": 3 * 10**6, "fingerprint": "f", "planned_bytes": 10**6}
    rows = [
        row | {"method": label, "plugin_method": label.split("[")[0], "seed": seed, "auc": auc}
        for label in methods
        for seed, auc in enumerate(columns.get("auc", (0.7, 0.8)))
    ]
    kinds = {"int64": "Int64", "float64": "float64", "string": "string", "bool": "boolean"}
    table = pd.DataFrame(rows).astype({name: kinds[kind] for name, kind in OF_TRIALS.items()})
    study.mkdir(parents=True)
    table.to_parquet(study / "trials.parquet")


def test_own_studies_count_too(tmp_path):
    trials(tmp_path / "mine", methods=("svm", "nysck"))
    found = read_evidence(tmp_path)
    own = found[(found["study"] == "mine") & (found["metric"] == "auc")]
    assert sorted(own["method"]) == ["nysck", "svm"]
    assert own["mean"].tolist() == pytest.approx([0.75, 0.75])
    assert own["n_features"].tolist() == [4, 4]
    assert len(found) == len(read_evidence(None)) + 2


def test_an_own_run_of_a_kept_study_counts_in_its_place(tmp_path):
    trials(tmp_path / STUDIES[0].parent.name)
    found = read_evidence(tmp_path)
    own = found[found["study"] == STUDIES[0].parent.name]
    assert own["dataset"].tolist() == ["mine"]


def test_trials_that_failed_have_no_score(tmp_path):
    trials(tmp_path / "mine", outcome="crashed", auc=(None, None))
    assert "mine" not in set(read_evidence(tmp_path)["study"])


def test_a_damaged_table_is_passed_over(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "trials.parquet").write_bytes(b"PAR1 no more")
    assert len(read_evidence(tmp_path)) == len(read_evidence(None))


def test_damaged_kept_scores_are_told(tmp_path):
    path = tmp_path / "kept.parquet"
    path.write_bytes(b"")
    with pytest.raises(HarnessError, match=r"kept\.parquet: cannot be read"):
        read_evidence(None, path)


def test_the_plain_variant_stands_for_a_method_else_the_median():
    labels = {"plain": 0.6, "plain[kernel=linear]": 0.9}
    labels |= {"varied[a=1]": 0.5, "varied[a=2]": 0.7, "varied[a=3]": 0.9}
    kept = pd.read_parquet(KEPT).iloc[[0] * len(labels)]
    kept = kept.assign(
        label=list(labels), mean=list(labels.values()), method=[k.split("[")[0] for k in labels]
    )
    found = one_a_method(kept).set_index("method")["mean"]
    assert found.to_dict() == pytest.approx({"plain": 0.6, "varied": 0.7})
    assert set(one_a_method(kept).columns) == set(COLUMNS)
