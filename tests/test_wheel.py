"""The wheel, built and installed without a network, runs a new project in an empty folder."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
import yaml

from harness.planning.workload import load_workload
from harness.project import ROOT
from harness.records.table import read_table
from harness.threads import THREAD_VARIABLES

pytestmark = pytest.mark.slow

PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in {*THREAD_VARIABLES, "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
}
TOP = ("Snakefile", "datasets.yaml", "plugins", "profiles", "reports", "rules", "studies")


def said(*command, folder):
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    offline = ("--no-build-isolation", "--no-deps", "--no-index")
    said(*PIP, "wheel", *offline, "--wheel-dir", folder, ROOT, folder=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment with the wheel and, by a path, what is installed here besides the harness."""
    folder = tmp_path_factory.mktemp("environment")
    said(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    python = folder / "bin" / "python"
    said(*PIP, "--python", python, "install", "--no-deps", "--no-index", wheel, folder=folder)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(said(python, "-c", ask, folder=folder).strip())
    # .pth files of a folder that is named so are not read: the editable harness is not found
    here = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    (packages / "besides.pth").write_text("\n".join(sorted(here)) + "\n")
    return folder


def files_of(folder):
    return {p for p in folder.rglob("*") if p.is_file() and p.parent.name != "__pycache__"}


def test_it_has_what_stands_beside_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    beside = [ROOT / name for name in TOP if (ROOT / name).is_file()]
    beside += [p for name in TOP for p in (ROOT / name).rglob("*") if p.is_file()]
    expected = {p.relative_to(ROOT).as_posix() for p in beside if p.suffix != ".pyc"}
    assert {f"harness/_project/{name}" for name in expected} <= names
    assert "harness/py.typed" in names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"harness"}


def test_two_trials_of_a_new_project(installed, tmp_path, monkeypatch):
    before = files_of(installed)
    python, harness = installed / "bin" / "python", installed / "bin" / "harness"
    imported = Path(said(python, "-c", "import harness; print(harness.__file__)", folder=tmp_path))
    assert imported.is_relative_to(installed)
    said(harness, "init", "my", folder=tmp_path)
    my = tmp_path / "my"
    first = my / "studies" / "first.yaml"
    settings = yaml.safe_load(first.read_text())
    two = {"methods": ["my-method"], "budgets": "3MB", "seeds": 2}
    first.write_text(yaml.safe_dump(settings | two))
    said(harness, "run", "first", "--cores", "2", folder=my)
    rows = read_table(my / "results" / "first" / "trials.parquet")
    assert rows["outcome"].tolist() == ["ok", "ok"]
    assert rows["dataset"].unique().tolist() == ["my-wine"]
    assert rows["git_sha"].isna().all()
    assert (my / "results" / "first" / "report.html").is_file()
    assert files_of(installed) == before
    # a checkout goes on where an installed harness has stopped
    monkeypatch.chdir(my)
    blocks = load_workload("first").blocks
    wanted = {f"{block.fingerprint}-{seed}" for block in blocks for seed in block.seeds}
    assert set(rows["fingerprint"]) == wanted


def test_a_new_user_has_a_report_and_his_best_model_in_a_file(installed, tmp_path):
    """Own CSV, three foreign classes, no formula, from an empty folder."""
    python, harness = installed / "bin" / "python", installed / "bin" / "harness"
    lines = [
        f"{('north', 'south')[i % 3 > 0]},{20 + i % 7},{'' if i == 5 else (i * 37) % 11 / 10},"
        f"{('broken', 'ok')[i % 7 > 2]}"
        for i in range(240)
    ]
    table = "\n".join(["site,temperature,vibration,state", *lines]) + "\n"
    (tmp_path / "sensors.csv").write_text(table)
    said(harness, "add", "sensors.csv", "--target", "state", folder=tmp_path)
    foreign = {
        "spreading": "sklearn.semi_supervised.LabelSpreading",
        "neighbors": "sklearn.neighbors.KNeighborsClassifier",
        "bayes": "sklearn.naive_bayes.GaussianNB",
    }
    for name, path in foreign.items():
        said(harness, "new", "method", name, "--from", path, folder=tmp_path)
    study = tmp_path / "studies" / "sensors.yaml"
    settings = yaml.safe_load(study.read_text())
    some = {"methods": [*foreign], "budgets": "4MB", "seeds": 2, "labeled": 40}
    settings = {key: settings[key] for key in ("datasets", "title") if key in settings}
    study.write_text(yaml.safe_dump(settings | some))
    said(harness, "run", "sensors", "--cores", "2", folder=tmp_path)
    assert (tmp_path / "results" / "sensors" / "report.html").is_file()
    rows = json.loads(said(harness, "show", "sensors", "--json", folder=tmp_path))
    assert {(row["method"], row["outcome"]) for row in rows} == {(name, "ok") for name in foreign}
    (best,) = json.loads(
        said(harness, "best", "sensors", "--fits", "4MB", "--json", folder=tmp_path)
    )
    said(harness, "fit", "sensors", best["rows"][0], "-o", "model.joblib", folder=tmp_path)
    asked = "import harness, pandas; model = harness.load_model('model.joblib')"
    asked += "; print(*model.predict(pandas.read_csv('sensors.csv').drop(columns='state')[:9]))"
    assert set(said(python, "-c", asked, folder=tmp_path).split()) <= {"ok", "broken"}


def test_a_packaged_plugin_is_there_in_every_folder(installed, tmp_path):
    page = (ROOT / "docs" / "how-to" / "package-a-plugin.md").read_text()
    python, harness = installed / "bin" / "python", installed / "bin" / "harness"
    package = tmp_path / "nearest-mean"
    module = package / "src" / "nearest_mean_budget"
    said(harness, "new", "method", "nearest-mean", "--folder", module, folder=tmp_path)
    (module / "__init__.py").touch()
    (package / "pyproject.toml").write_text(re.search(r"(?s)```toml\n(.*?)```", page)[1])
    offline = ("--no-build-isolation", "--no-deps", "--no-index")
    said(*PIP, "--python", python, "install", *offline, package, folder=tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    found = json.loads(said(harness, "plugins", "--json", folder=elsewhere))
    assert {"nearest_mean_budget.nearest_mean"} <= {plugin["path"] for plugin in found}
    assert "sigma" in said(harness, "methods", "nearest-mean", folder=elsewhere)
