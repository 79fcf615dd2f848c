"""One real run of studies on streams: scores, curves, what declines, and what is kept."""

import json

import numpy as np
import pytest
from project import PLUGINS, TABLE, Project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory, index_cache):
    project = Project(tmp_path_factory.mktemp("streams"), index_cache)
    study = project.write(
        datasets=["two-moons"],
        methods=["prior", "fogd", "oracle", "svm", "peeking"],
        budgets="2MB",
        seeds=2,
        evaluation={"prequential": True, "chunk": 200, "delay": 1, "points": 3000},
        labeled=0.5,
        plugins=[str(PLUGINS / "peeking.py")],
        cases=[
            {"methods": ["fogd"], "evaluation": {"test": 1000}, "data": "streamed"},
        ],
    )
    status, said = project.run(study, *TABLE)
    assert status == 0, said[-3000:]
    return project


@pytest.fixture(scope="module")
def rows(finished):
    rows = finished.rows()
    return rows.set_index(["method", "n_test", "seed"])


def test_all_but_the_first_chunks_are_scored(rows):
    for seed in (0, 1):
        row = rows.loc[("fogd", 2600, seed)]
        assert (row["outcome"], row["n_labeled"], row["n_unlabeled"]) == ("ok", 1500, 1500)
        assert row["accuracy"] > 0.85
        assert row["peak_bytes"] <= row["planned_bytes"] <= 2_000_000
        stages = row[["load_s", "fit_s", "predict_s"]].sum()
        expected = row["peak_bytes"] / 1e9 * stages / 3600
        assert row["ram_hours"] == pytest.approx(expected, rel=1e-6)
        assert rows.loc[("oracle", 2600, seed), "accuracy"] == 1


def test_a_method_that_reads_ahead_finds_nothing(rows):
    """With half of the labels it would be right far more often than the commonest class."""
    for seed in (0, 1):
        row = rows.loc[("peeking", 2600, seed)]
        assert row["outcome"] == "ok", row["reason"]
        assert row["auc"] == 0.5


def test_the_curve_is_of_the_chunks_one_by_one(rows):
    row = rows.loc[("fogd", 2600, 0)]
    points = json.loads(row["checkpoints"])
    assert [point["step"] for point in points] == list(range(3, 16))
    mean = np.mean([point["scores"]["accuracy"] for point in points])
    assert mean == pytest.approx(row["accuracy"], abs=1e-12)  # chunks are of one length
    spent = [point["fit_s"] for point in points]
    assert spent == sorted(spent)
    assert "error" in points[0]["diagnostics"]


def test_what_has_no_single_pass_declines(rows):
    row = rows.loc[("svm", 2600, 0)]
    assert row["outcome"] == "infeasible"
    assert row["reason"].startswith("learns from all points at once: it has no partial_fit")


def test_streamed_points_are_a_case_beside_it(rows):
    row = rows.loc[("fogd", 1000, 0)]
    assert (row["outcome"], row["n_labeled"]) == ("ok", 10_000)
    assert row["accuracy"] > 0.9
    assert row["data_bytes"] < 1024 * (2 * 8 + 1) + 1
    assert row["load_s"] > 0


def test_predictions_are_kept_and_a_row_is_reproduced(finished):
    said = finished.harness("rescore", "study.yaml", "--metric", "accuracy", "--json")
    again = {row["method"]: row["accuracy"] for row in json.loads(said) if row["seeds"] == 2}
    rows = finished.rows()
    chosen = rows[(rows["method"] == "prior") & rows["accuracy"].notna()]
    assert again["prior"] == pytest.approx(chosen["accuracy"].mean())
    number = int(np.flatnonzero((rows["method"] == "fogd") & (rows["n_test"] == 2600))[0])
    assert "reproduced bit for bit" in finished.harness("reproduce", "study.yaml", str(number))
