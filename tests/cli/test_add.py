"""`harness add`: from a CSV file to a study that runs, in one command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from harness.cli.main import main
from harness.datasets import load_catalog
from harness.planning.study_plan import plan_study
from harness.planning.workload import load_workload
from harness.project import ROOT

HARNESS = [sys.executable, "-m", "harness.cli"]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch, built_in):
    built_in("controls", "supervised", "nysck", "kernel_ridge")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table(tmp_path):
    """A table of what a shop might have: a number of the row, names, numbers, gaps."""
    frame = pd.DataFrame(
        {
            "order": range(1001, 1201),
            "city": [["Rome", "Oslo", None, "Bern"][row % 4] for row in range(200)],
            "price": [None if row % 17 == 0 else row % 40 / 4 for row in range(200)],
            "class": ["kept" if row % 40 < 20 else "returned" for row in range(200)],
        }
    )
    frame.to_csv(tmp_path / "orders.csv", index=False, sep=";")
    return frame


def run(*arguments, code=0):
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code == code, done.output
    return done.output


def test_one_command_leaves_an_entry_and_a_study(table):
    told = run("add", "orders.csv", "--target", "class")
    for part in (
        "orders:\n  task: binary\n  n: 200\n  d: 5\n",
        "'order' numbers the rows: left out (--keep keeps it)",
        "class 1, which AUC is about, is 'returned' (--positive)",
        "wrote orders to datasets.yaml",
        "wrote studies/orders.yaml; try: harness run orders",
    ):
        assert part in told
    made = plan_study(load_workload("orders"), cores=2)
    assert made.trials > 0
    assert {cell.reason for cell in made.cells} == {""}


def test_the_manual_shows_what_is_printed():
    text = (ROOT / "docs" / "datasets.md").read_text()
    shown = re.search(r"```console\n\$ harness (add [^\n]*)\n(.*?)```", text, re.DOTALL)
    Path("sensors.csv").write_text(re.search(r"```csv\n(.*?)```", text, re.DOTALL)[1])
    assert run(*shown[1].split()) == shown[2]


def test_every_option_says_otherwise(table):
    told = run(
        *("add", "orders.csv", "--name", "mine", "--task", "multiclass", "--target", "class"),
        *("--nominal", "price", "--drop", "city", "--keep", '"order"', "--header", "--no-study"),
    )
    assert "try: harness new study first --dataset mine" in told
    assert not Path("studies").exists()
    entry = load_catalog()["mine"]
    assert (entry.task, entry.read.ignore, entry.read.nominal) == (
        "multiclass",
        ("city",),
        ("price",),
    )
    told = run("add", "orders.csv", "--positive", "kept", "--dry-run")
    assert "positive: kept" in told
    assert told.endswith("nothing was written (--dry-run)\n")
    assert "orders" not in load_catalog()
    assert "is there already: --force" in run("add", "orders.csv", "--name", "mine", code=1)
    assert "wrote mine" in run("add", "orders.csv", "--name", "mine", "--force", "--no-study")


def test_a_study_that_is_there_is_kept(table):
    Path("studies").mkdir()
    Path("studies/orders.yaml").write_text("title: mine\n")
    told = run("add", "orders.csv")
    assert "studies/orders.yaml is there already and was kept; try: harness plan orders" in told
    assert Path("studies/orders.yaml").read_text() == "title: mine\n"


def test_mistakes_are_one_line(table):
    for arguments, told in (
        (["none.csv"], "Error: none.csv: there is no such file"),
        (["orders.csv", "--target", "clas"], "unknown column 'clas'; did you mean 'class'?"),
        (["orders.csv", "--drop", "pric"], "orders.csv: --drop: unknown column 'pric'; did you"),
    ):
        output = run("add", *arguments, code=1)
        assert told in output
        assert len(output.strip().splitlines()) == 1


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("n", [6, 60, 3000])
def test_the_study_fits_the_data(task, n):
    column = {"binary": [0, 1], "multiclass": [0, 1, 2], "regression": None}[task]
    y = (
        [row * 0.37 for row in range(n)]
        if column is None
        else [column[row % len(column)] for row in range(n)]
    )
    frame = pd.DataFrame(
        {f"x{at}": [(row * (at + 3)) % 7 / 3 for row in range(n)] for at in range(20)}
    )
    frame.assign(y=y).to_csv("mine.csv", index=False)
    run("add", "mine.csv", "--task", task)
    made = plan_study(load_workload("mine"), cores=2)
    assert {cell.reason for cell in made.cells} == {""}
    assert made.trials >= 20


def test_wrong_entries_are_told_where_data_sets_are_listed(table):
    run("add", "orders.csv", "--no-study")
    catalog = Path("datasets.yaml")
    assert "orders" in run("datasets")
    catalog.write_text(catalog.read_text().replace("d: 5", "d: 6"))
    told = run("datasets", code=1)
    assert (
        "datasets.yaml: orders: found 200 x 5 points and features, the catalog says 200 x 6"
        in told
    )
    lines = [line for line in catalog.read_text().splitlines() if line[2:4] not in ("n:", "d:")]
    catalog.write_text("\n".join(lines) + "\n")
    assert load_catalog()["orders"].d == 5
    row = next(line for line in run("datasets").splitlines() if line.startswith("orders"))
    assert row.split()[1:7] == ["binary", "200", "-", "5", "-", "2"]


@pytest.mark.slow
def test_a_study_runs_on_a_table_after_one_command(table, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}

    def said(*command):
        done = subprocess.run(
            [*HARNESS, *command], capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    last = said("add", "orders.csv").splitlines()[-1]
    _, _, command = last.partition("; try: harness ")
    said(*command.split(), "--cores", "2")
    assert Path("results/orders/report.html").is_file()
    assert " ok " in said("show", "orders")


def test_texts_get_a_study_of_methods_that_take_them(tmp_path):
    texts = [f"a text of some words and number {row}" for row in range(30)]
    lines = ["body,y", *(f"{text},{row % 2}" for row, text in enumerate(texts))]
    (tmp_path / "reviews.csv").write_text("\n".join(lines))
    done = CliRunner().invoke(main, ["add", "reviews.csv"])
    assert done.exit_code == 0, done.output
    assert "linear-svm" in (tmp_path / "studies" / "reviews.yaml").read_text()
