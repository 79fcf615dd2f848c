"""Predictions read beside the truth and scored anew, from results that were made by hand."""

import json

import numpy as np
import pandas as pd
import pytest

from harness import Metric
from harness.datasets import Meta, Split
from harness.datasets.meta import content_sha256
from harness.datasets.split_files import write_splits
from harness.errors import DamagedFileError, HarnessError
from harness.metrics.functions import BUILT_IN, evaluate
from harness.records.prediction_files import PredictionsFile
from harness.records.predictions import pack
from harness.records.table import read_table
from harness.records.table_writer import write_table
from harness.report.predictions import KeptPredictions, as_table
from harness.report.rescoring import FILE, read_rescored, rescore, with_rescored, write_rescored

N = 60
TASKS = {"duo": ("binary", 2), "trio": ("multiclass", 3), "line": ("regression", 0)}
METHODS = ("kernel", "forest", "labels")
SEEDS = (0, 1)


def blank(**said):
    usual = {"study": "s", "n_labeled": 10, "budget": "none", "outcome": "ok", "reason": ""}
    return usual | said


def prepare(folder, name, task, n_classes, rng):
    folder.mkdir(parents=True)
    y = np.arange(N) % n_classes if n_classes else rng.normal(size=N)
    np.save(folder / "X.npy", np.column_stack([y, rng.normal(size=N)]).astype(float))
    np.save(folder / "y.npy", y)
    meta = Meta(
        name=name,
        task=task,
        n=N,
        d=2,
        n_train=None,
        n_classes=n_classes,
        class_names=tuple(map(str, range(n_classes))),
        class_counts=(N // n_classes,) * n_classes if n_classes else (),
        dtype="float64",
        itemsize=8,
        scaling="none",
        sha256=content_sha256(folder),
        digest="d",
        citation="",
    )
    meta.write(folder)
    return y, meta


def predict(method, y, n_classes, rng):
    """What a method of each kind says of points."""
    if not n_classes:
        return {"values": y + rng.normal(size=len(y))}
    scores = np.eye(n_classes)[y] + rng.normal(size=(len(y), n_classes))
    if method == "forest":
        p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        scores = p
    labels = scores.argmax(axis=1)
    if method == "labels":
        return {"labels": labels}
    if n_classes == 2:
        scores = scores[:, 1] - scores[:, 0]
    return {"probabilities" if method == "forest" else "scores": scores, "labels": labels}


@pytest.fixture
def study(tmp_path):
    """Three data sets, three methods and two seeds; rows hold what the trials scored."""
    rng = np.random.default_rng(0)
    results, rows = tmp_path / "results" / "s", []
    for name, (task, n_classes) in TASKS.items():
        y, meta = prepare(tmp_path / "prepared" / f"{name}-d", name, task, n_classes, rng)
        orders = {seed: rng.permutation(N) for seed in SEEDS}
        splits = {seed: Split(o[:10], o[10:30], o[30:]) for seed, o in orders.items()}
        write_splits(results / "splits" / f"{name}-10-a.npz", N, splits)
        path = results / "predictions" / name / "job.scores"
        with PredictionsFile(path, ()) as file:
            for method in METHODS:
                for seed in SEEDS:
                    points = splits[seed].test
                    found = predict(method, y[points], n_classes, rng)
                    trial = f"{name}{method}-{seed}"
                    file.append(*pack(trial, found, points, split=f"{name}-10-a", part="test"))
                    row = {"dataset": name, "task": task, "method": method, "seed": seed}
                    row |= {"fingerprint": trial, "dataset_sha256": meta.sha256}
                    rows.append(blank(**row) | evaluate(BUILT_IN, task, y[points], found))
    write_table(rows, results / "trials.parquet")
    return results


@pytest.fixture
def kept(study):
    return KeptPredictions(study, [study.parent.parent / "prepared"])


def test_built_in_metrics_are_those_of_the_trials(study, kept):
    """Those of ranks and labels to the last bit, those of values within what two bytes hold."""
    rows = read_table(study / "trials.parquet").set_index("fingerprint")
    found = rescore(kept, [m for m in BUILT_IN if "clustering" not in m.tasks])
    table = found.table.set_index("fingerprint")
    assert len(table) == len(rows)
    for metric in BUILT_IN:
        if "clustering" in metric.tasks:
            continue
        then = rows[metric.name].astype(float).to_numpy(na_value=np.nan)
        now = table[metric.name].reindex(rows.index).to_numpy()
        of_ranks = metric.needs in ("labels", "scores")
        # a sum of the same numbers may be rounded otherwise where they lie otherwise in memory
        near = 1e-14 if metric.name == "average_precision" else 0
        near = near if of_ranks else 1e-3
        np.testing.assert_allclose(now, then, rtol=near, err_msg=metric.name)
    assert found.lacking["log_loss needs probabilities, and their method gave none"] == 8


def test_a_table_has_a_row_for_each_point_with_its_truth(study, kept):
    y = np.load(study.parent.parent / "prepared" / "duo-d" / "y.npy")
    table = as_table(kept.read(kept.rows(dataset="duo")))
    assert len(table) == len(METHODS) * len(SEEDS) * 30
    assert (table["label"] == y[table["point"]]).all()
    forest = table[table["method"] == "forest"]
    assert forest["probabilities"].all()
    assert ((forest["score"] > 0.5) == forest["predicted"]).all()
    assert table[table["method"] == "labels"]["score"].isna().all()
    three = as_table(kept.read(kept.rows(dataset="trio", method="kernel", seed=1)))
    assert (
        three[["score_0", "score_1", "score_2"]].to_numpy().argmax(1) == three["predicted"]
    ).all()


def test_errors_in_common_ensembles_and_subgroups_are_three_lines_each(kept):
    table = as_table(kept.read(kept.rows(dataset="duo")))
    place = ["dataset", "seed", "point"]

    wrong = table.assign(wrong=table["predicted"] != table["label"])
    wrong = wrong.pivot_table(index=place, columns="method", values="wrong", observed=True)
    overlap = wrong.T.astype(float) @ wrong.astype(float) / len(wrong)
    assert overlap.loc["kernel", "kernel"] == pytest.approx(wrong["kernel"].mean())
    assert overlap.loc["kernel", "forest"] <= overlap.loc["kernel", "kernel"]

    votes = table.groupby(place, observed=True)
    majority = votes["predicted"].agg(lambda said: said.mode()[0])
    assert 0.5 < (majority == votes["label"].first()).mean() <= 1

    right = table["predicted"] == table["label"]
    by_group = right.groupby([table["method"], table["point"] < 30], observed=True).mean()
    assert by_group.shape == (6,)


def test_only_what_is_asked_for_is_read_and_an_unknown_name_is_told(kept):
    assert {one.row["method"] for one in kept.read(kept.rows(method=["forest", "labels"]))} == {
        "forest",
        "labels",
    }
    with pytest.raises(HarnessError, match="unknown method 'forrest'; did you mean 'forest'"):
        kept.rows(method="forrest")


def test_what_is_not_there_is_counted_with_its_reason(study, kept):
    (study / "predictions" / "trio" / "job.scores").unlink()
    path = study / "predictions" / "duo" / "job.scores"
    path.write_bytes(path.read_bytes()[:-5])
    splits = study / "splits" / "line-10-a.npz"
    order = np.arange(N)
    write_splits(splits, N, {seed: Split(order[:10], order[10:30], order[30:]) for seed in SEEDS})
    assert len(list(kept.read())) == 5
    assert kept.lacking == {
        "no predictions were kept of them": 7,
        "their points are not those of the splits that are here": 6,
    }
    splits.unlink()
    list(kept.read())
    assert kept.lacking[f"{splits}: No such file or directory"] == 6


def test_predictions_of_another_version_are_not_mixed_in(study, kept):
    path = study / "predictions" / "duo" / "earlier.scores"
    points = np.arange(5)
    with PredictionsFile(path, ()) as file:
        found = {"labels": np.zeros(5, int)}
        file.append(*pack("duokernelOLD-0", found, points, split="duo-10-a", part="test"))
    assert len(list(kept.read())) == 18


def test_other_data_of_the_same_name_are_not_taken_for_those_of_the_rows(study, kept):
    folder = study.parent.parent / "prepared" / "duo-d"
    (folder / "meta.json").unlink()
    with pytest.raises(HarnessError, match=r"duo: its data, of SHA-256 .* are not in"):
        list(kept.read())


def half(y_true, labels):
    return 0.5


def fails(y_true, labels):
    raise ZeroDivisionError("no")


def test_what_is_rescored_is_read_with_the_table_and_fills_in_what_it_lacks(study, kept):
    own = Metric("half", half, {"binary"})
    write_rescored(study, rescore(kept, [own]), [own])
    (brier,) = (metric for metric in BUILT_IN if metric.name == "brier_score")
    write_rescored(study, rescore(kept, [brier]), [brier])
    table, declared = read_rescored(study)
    assert list(table.columns) == ["half", "brier_score"]
    assert declared["half"] == {"greater_is_better": True, "tasks": ["binary"]}
    assert declared["brier_score"]["greater_is_better"] is False
    assert table["half"].notna().sum() == 6
    cells = pd.DataFrame({"brier_score": [9.0, np.nan]})
    names = pd.Series(["duoforest-0", "duoforest-1"])
    joined = with_rescored(cells, names, table)
    assert joined["half"].tolist() == [0.5, 0.5]
    assert joined["brier_score"].tolist() == [9.0, table.loc["duoforest-1", "brier_score"]]


def test_a_metric_that_fails_costs_its_scores_and_says_why(kept):
    found = rescore(kept, [Metric("fails", fails, {"binary"})])
    assert found.table["fails"].isna().all()
    assert found.lacking == {"fails could not be computed: ZeroDivisionError: no": 6}


def test_a_table_of_something_else_is_refused(study):
    for content in (b"x", (study / "trials.parquet").read_bytes()):
        (study / FILE).write_bytes(content)
        with pytest.raises(DamagedFileError, match="is not what harness rescore writes"):
            read_rescored(study)
    pd.DataFrame({"fingerprint": ["a-0"], "seed": [1.0]}).to_parquet(study / FILE)
    with pytest.raises(DamagedFileError):
        read_rescored(study)


def test_rescoring_names_are_json_that_a_report_may_read(study, kept):
    own = Metric("half", half, {"binary"}, greater_is_better=False)
    write_rescored(study, rescore(kept, [own]), [own])
    assert json.dumps(read_rescored(study)[1])
