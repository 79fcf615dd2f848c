"""What `harness new dataset`, `metric`, `kernel`, `search` and `study` write, and that it runs."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from harness.cli.main import main
from harness.cli.new_method import write_method
from harness.cli.new_plugin import write_plugin
from harness.errors import HarnessError
from harness.plugin.registry import FileSource, load_plugin

KINDS = ("dataset", "metric", "kernel", "search")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch, built_in):
    built_in("controls", "supervised", "nysck", "kernel_ridge")
    monkeypatch.chdir(tmp_path)


def load(path):
    return load_plugin(FileSource(path.stem, str(path.parent), path.resolve()))


def run(*arguments, code=0):
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("kind", KINDS)
def test_a_plugin_is_short_and_loads(kind, tmp_path):
    name = "my_own" if kind == "metric" else "my-own"
    path = write_plugin(kind, name, tmp_path / "plugins")
    assert path.name == "my_own.py"
    assert len(path.read_text().splitlines()) <= 25
    plugin = load(path)
    assert plugin.failure == ""
    ((item,),) = [found for found in plugin.provided.values() if found]
    assert item.name == name
    with pytest.raises(HarnessError, match=r"my_own\.py is there already"):
        write_plugin(kind, name, tmp_path / "plugins")
    path.rename(path.with_name("renamed.py"))
    with pytest.raises(
        HarnessError, match=rf"{kind} '{name}' is taken: .*renamed\.py provides it"
    ):
        write_plugin(kind, name, tmp_path / "plugins")


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("metric", "my-own", "joined by underscores, such as 'my_score'"),
        ("dataset", "my_own", "joined by hyphens, such as 'my-data'"),
        ("kernel", "Own", "joined by hyphens"),
        ("search", "", "joined by hyphens"),
        ("metric", "auc", "metric 'auc' is taken: the harness itself provides it"),
        ("metric", "budget", "metric 'budget' is taken: the table of results provides it"),
        ("dataset", "wine", r"dataset 'wine' is taken: .*datasets\.yaml provides it"),
        ("kernel", "rbf", r"kernel 'rbf' is taken: the harness itself provides it"),
        ("search", "grid", "search 'grid' is taken: the harness itself provides it"),
        ("search", "controls", "would stand in place of the plugin 'controls' that came with"),
    ],
)
def test_names_that_are_refused(kind, name, told, tmp_path):
    with pytest.raises(HarnessError, match=told):
        write_plugin(kind, name, tmp_path / "plugins")
    assert not (tmp_path / "plugins").exists()


def test_a_method_does_not_stand_in_place_of_a_plugin_either(tmp_path):
    with pytest.raises(HarnessError, match="in place of the plugin 'controls'"):
        write_method("controls", tmp_path / "plugins")


def test_the_metric_and_the_data_set_compute(tmp_path):
    (metric,) = load(write_plugin("metric", "rare", tmp_path)).provided["metrics"]
    assert metric.function(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 0, 1, 0])) == 0.5
    (dataset,) = load(write_plugin("dataset", "rings", tmp_path)).provided["datasets"]
    X, y = dataset.generate(np.random.default_rng(0))
    assert (X.shape, set(y)) == ((dataset.n, dataset.d), {0, 1})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], {"datasets": ["wine"], "metrics": ["accuracy", "balanced_accuracy"]}),
        (["--dataset", "diabetes-sklearn"], {"methods": ["prior", "krr", "nystrom-krr"]}),
        (
            ["--dataset", "iris", "--dataset", "wine"],
            {"datasets": ["iris", "wine"], "labeled": 50},
        ),
        (
            ["--method", "svm", "--kernel", "laplacian"],
            {"methods": [{"svm": {"kernel": "laplacian"}}]},
        ),
        (["--search", "grid"], {"tuning": {"search": "grid", "trials": 10}}),
        (["--metric", "f1_macro"], {"metrics": ["f1_macro", "accuracy", "balanced_accuracy"]}),
    ],
)
def test_a_study_is_written_for_its_data(arguments, expected):
    assert "wrote studies/mine.yaml; try: harness run mine" in run(
        "new", "study", "mine", *arguments
    )
    study = yaml.safe_load(Path("studies/mine.yaml").read_text())
    assert {key: study[key] for key in expected} == expected


def test_a_study_is_on_the_folder_s_own_data_and_mistakes_are_told():
    Path("x.csv").write_text("".join(f"{row / 3},{row % 2}\n" for row in range(60)))
    run("add", "x.csv", "--no-study")
    run("new", "study", "mine")
    assert yaml.safe_load(Path("studies/mine.yaml").read_text())["datasets"] == ["x"]
    assert "studies/mine.yaml is there already" in run("new", "study", "mine", code=1)
    assert "cannot name a study" in run("new", "study", "../x", code=1)
    assert "--dataset: unknown data set 'y'" in run("new", "study", "z", "--dataset", "y", code=1)


@pytest.mark.slow
def test_a_study_of_all_that_was_written_runs():
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}

    def said(*command):
        done = subprocess.run(
            [sys.executable, "-m", "harness.cli", *command],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    names = {"dataset": "rings", "metric": "rare", "kernel": "soft", "search": "two-rounds"}
    options = []
    for kind, name in names.items():
        last = said("new", kind, name).splitlines()[-1]
        assert f"--{kind} {name} && harness run first-{name}" in last
        options += [f"--{kind}", name]
    said("new", "study", "all", "--method", "svm", *options)
    said("run", "all", "--cores", "2")
    rows = yaml.safe_load(said("show", "all", "--json"))
    assert {row["outcome"] for row in rows} == {"ok"}
    assert all(0 <= row["rare"] <= 1 for row in rows)
    assert (
        {row["params"]["kernel"] for row in rows}
        if isinstance(rows[0].get("params"), dict)
        else True
    )
