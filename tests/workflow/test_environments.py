"""Two plugins whose requirements contradict each other, in one study."""

import json
import zipfile

import pytest
from project import TABLE

pytestmark = pytest.mark.slow

PLUGIN = '''# /// script
# dependencies = ["prior=={version}"]
# ///
"""Scores are those of a package that the harness lacks."""

import numpy as np
import prior
from sklearn.base import BaseEstimator, ClassifierMixin

from harness import Method, hookimpl


class Prior{version}(ClassifierMixin, BaseEstimator):
    def __init__(self, weight=prior.WEIGHT):
        self.weight = weight

    def fit(self, X, y):
        self.classes_ = np.unique(y[y != -1])
        return self

    def decision_function(self, X):
        return prior.SIGN * X[:, 0]

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


@hookimpl
def harness_methods():
    storage = lambda shape, size: shape.data_bytes + 3_000_000
    yield Method("prior-{version}", Prior{version}, storage, tasks={{"binary"}})
'''


def write_wheel(folder, version, sign):
    """A package of one module, as an index would offer it."""
    info = f"prior-{version}.dist-info"
    files = {
        "prior.py": f"SIGN = {sign}\nWEIGHT = {version}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: prior\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{info}/RECORD"
    listed = "".join(f"{name},,\n" for name in [*files, record])
    with zipfile.ZipFile(folder / f"prior-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in {**files, record: listed}.items():
            wheel.writestr(name, text)


@pytest.fixture
def offered(tmp_path):
    """Variables by which pip finds the two versions, and nothing else."""
    folder = tmp_path / "offered"
    folder.mkdir()
    write_wheel(folder, 1, 1)
    write_wheel(folder, 2, -1)
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}


def test_plugins_that_contradict_each_other_run_in_one_study(project, offered):
    for version in (1, 2):
        plugin = project.folder / "plugins" / f"prior_{version}.py"
        plugin.parent.mkdir(exist_ok=True)
        plugin.write_text(PLUGIN.format(version=version))
    study = project.write(
        datasets=["breast_cancer"],
        methods=["prior-1", "prior-2", "1nn"],
        labeled=20,
        budgets="50MB",
        seeds=2,
        metrics=["auc"],
    )
    lacking = project.ask("plan", str(study))
    assert lacking.returncode == 1
    assert "needs prior==1, which is not installed: run `harness environments --make`" in (
        lacking.stderr
    )
    made = project.ask("environments", "--make", "--json", **offered)
    assert made.returncode == 0, made.stderr
    listed = [row for row in json.loads(made.stdout) if "prior" in row["requirements"]]
    assert [row["made"] for row in listed] == [True, True]
    assert len({row["runs in"] for row in listed}) == 2

    status, said = project.run(study, *TABLE)
    assert status == 0, said[-3000:]
    rows = project.rows().set_index(["method", "seed"]).sort_index()
    assert set(rows["outcome"]) == {"ok"}, list(rows["reason"])
    for seed in (0, 1):
        assert rows.loc[("prior-1", seed), "auc"] == pytest.approx(
            1 - rows.loc[("prior-2", seed), "auc"]
        )
    versions = [json.loads(parts)["versions"].get("prior") for parts in rows["decided_by"]]
    assert versions == [None, None, "1", "1", "2", "2"]

    # a row is run again where it was run, and is not run a second time by a study
    again = project.ask("reproduce", str(study), rows.loc[("prior-2", 0), "fingerprint"])
    assert again.returncode == 0, again.stdout + again.stderr
    assert "reproduced bit for bit" in again.stdout
    told = json.loads(project.harness("plan", str(study), "--json"))
    assert (told["done"], told["stale"]) == (6, {})


def test_what_cannot_be_installed_is_said(project, tmp_path):
    plugin = project.folder / "plugins" / "prior_3.py"
    plugin.parent.mkdir(exist_ok=True)
    plugin.write_text(PLUGIN.format(version=3))
    empty = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    made = project.ask("environments", "--make", **empty)
    assert made.returncode == 1
    assert "the environment of prior==3 cannot be made: ERROR: " in made.stderr
    assert "Traceback" not in made.stderr
    again = project.ask("environments", "--json")
    listed = {row["requirements"]: row["made"] for row in json.loads(again.stdout)}
    assert not listed["prior==3"]
