"""`harness.plan` is `harness plan`, as a data frame."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import harness
from harness.cli import main
from harness.errors import HarnessError

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
STUDY = {
    "datasets": {"mine": (X, (X[:, 0] > 0).astype(int))},
    "methods": ["svm", "nysck"],
    "labeled": 20,
    "budgets": ["1kB", "5MB", "none"],
    "seeds": 3,
}


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("planning"))
        yield harness.plan(STUDY, name="few")


def test_cells_are_those_of_the_command(planned):
    done = CliRunner().invoke(main, ["plan", "few", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)["cells"]
    cells = planned.cells
    assert cells["method"].tolist() == [cell["method"] for cell in told]
    assert cells["planned_bytes"].tolist() == [cell["planned_bytes"] for cell in told]
    assert cells["planned_phase"].tolist() == [cell["planned_phase"] for cell in told]
    assert cells["reason"].tolist() == [cell["reason"] for cell in told]
    assert [
        None if np.ma.is_masked(s) or s != s else int(s) for s in cells["size"].astype(float)
    ] == [cell["size"] for cell in told]


def test_what_fits_has_a_size_and_bytes_within_the_budget(planned):
    cells = planned.cells.set_index(["method", "budget"])
    assert not cells.loc[("nysck", "1kB"), "feasible"]
    assert cells["feasible"].sum() == 4
    assert cells[~cells["feasible"]]["size"].isna().all()
    assert cells[~cells["feasible"]]["reason"].str.len().gt(10).all()
    assert cells.loc[("nysck", "5MB"), "size"] >= 1
    assert cells.loc[("nysck", "5MB"), "size_name"] == "n_landmarks"
    assert 0 < cells.loc[("nysck", "5MB"), "planned_bytes"] <= 5_000_000
    assert set(cells["trials"]) == {3}
    assert set(cells["storage_model"]) == {"written"}


def test_a_notebook_shows_the_cells(planned):
    told = "6 cells, 18 trials, 0 done, nothing fits in 2 cells"
    assert repr(planned) == f"Plan of 'few': {told}"
    shown = planned._repr_html_()
    assert shown.startswith(f"<p><strong>few</strong>: {told}</p>")
    assert shown.count("<tr>") == 7


@pytest.mark.parametrize(
    ("study", "given", "told"),
    [
        (3, {}, "3 is no study: give its file, its name, or a dict with its keys"),
        ("none", {}, "no study 'none'"),
        ("quickstart", {"name": "x"}, "name = 'x': a study in a file is called as its file is"),
        ({**STUDY, "methods": ["svn"]}, {}, "'svn'"),
        ({**STUDY, "budgets": ["5XB"]}, {}, "5XB"),
        (STUDY, {"cores": 0}, "cores = 0: give a whole number above zero"),
    ],
)
def test_a_mistake_is_one_message(study, given, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HarnessError) as refused:
        harness.plan(study, **given)
    assert told in str(refused.value)
