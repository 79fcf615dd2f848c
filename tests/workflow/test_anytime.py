"""One real run of a study with checkpoints: the same end, and points on the way to it."""

import json

import pandas as pd
import pytest
from project import PLUGINS, Project

from harness.metrics.names import METRICS

pytestmark = pytest.mark.slow

STEP_S, ASKED_S = 0.02, 0.1


@pytest.fixture(scope="module")
def finished(tmp_path_factory, index_cache):
    project = Project(tmp_path_factory.mktemp("anytime"), index_cache)
    study = project.write(
        datasets=["breast_cancer"],
        methods=["in-steps", "at-once", "takes-too-much"],
        labeled=20,
        budgets="20MB",
        seeds=2,
        checkpoints=[1, 3, 9],
        plugins=[str(PLUGINS / "stepping.py")],
    )
    status, said = project.run(study)
    assert status == 0, said[-3000:]
    return project


@pytest.fixture(scope="module")
def rows(finished):
    return finished.rows().set_index(["method", "seed"])


def curve(rows, method, seed=0):
    return json.loads(rows.loc[(method, seed), "checkpoints"])


@pytest.mark.parametrize("seed", [0, 1])
def test_the_end_is_that_of_the_same_fit_without_pauses(rows, seed):
    paused, plain = rows.loc[("in-steps", seed)], rows.loc[("at-once", seed)]
    assert paused["outcome"] == plain["outcome"] == "ok", paused["reason"]
    scored = [name for name in METRICS if pd.notna(plain[name])]
    assert "auc" in scored
    assert list(paused[scored]) == list(plain[scored])
    for row, name in ((paused, "in-steps"), (plain, "at-once")):
        assert curve(rows, name, seed)[-1]["scores"] == dict(row[scored])
    assert paused["planned_bytes"] == plain["planned_bytes"]
    assert paused["peak_bytes"] <= paused["planned_bytes"]


def test_points_on_the_way(rows):
    points = curve(rows, "in-steps")
    assert [point["step"] for point in points] == [1, 3, 6]
    assert len({point["scores"]["auc"] for point in points}) == 3
    assert all(point["diagnostics"]["norm"] > 0 for point in points)
    (only,) = curve(rows, "at-once")
    assert only["step"] is None


def test_only_the_fit_is_on_its_clock(rows):
    points = curve(rows, "in-steps")
    spent = [point["fit_cpu_s"] for point in points]
    # below what a single question takes, of which there are two before the end
    assert spent == pytest.approx([STEP_S, 3 * STEP_S, 6 * STEP_S], abs=0.4 * ASKED_S)
    row = rows.loc[("in-steps", 0)]
    assert row["fit_s"] == pytest.approx(points[-1]["fit_s"], abs=1e-6)
    assert row["cpu_s"] > 6 * STEP_S + 3 * ASKED_S


def test_a_trial_that_is_stopped_keeps_the_points_it_came_to(rows):
    row = rows.loc[("takes-too-much", 0)]
    assert (row["outcome"], row["auc"]) == ("over_budget", pd.NA)
    assert "allocate" in row["reason"]
    (point,) = curve(rows, "takes-too-much")
    assert point["scores"]["auc"] == curve(rows, "in-steps")[0]["scores"]["auc"]


def test_table_and_section(finished):
    results = finished.folder / "results" / "study"
    table = pd.read_csv(results / "tables" / "checkpoints.csv")
    assert table.groupby("method").size().to_dict() == {
        "at-once": 2,
        "in-steps": 6,
        "takes-too-much": 2,
    }
    assert "While it learns" in (results / "report.html").read_text()
