"""Rows of a study's table as `harness show` prints them: chosen, cut short, whole."""

import io
import json

import pandas as pd
import pytest
from click.testing import CliRunner

from harness.cli import main, show
from harness.records import table_writer
from harness.records.columns import COLUMNS
from harness.records.table import read_table
from harness.records.table_writer import rows_as_table, table_file


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """The command on a study of 12 rows, which are kept in parts of 5."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(table_writer, "GROUP", 1)
    study = {"datasets": ["wine"], "methods": ["svm"], "labeled": [20], "budgets": ["3MB"]}
    (tmp_path / "one.yaml").write_text(json.dumps(study | {"seeds": 3}))
    rows = [
        {"dataset": dataset, "method": method, "budget": budget, "seed": seed, "outcome": outcome}
        | {"params": "{}", "auc": seed / 3, "n_labeled": 20, "my_metric": 1.0}
        for dataset in ("wine", "iris")
        for method in ("svm", "=krr")
        for seed, (budget, outcome) in enumerate(
            [("3MB", "ok"), ("none", "ok"), ("none", "over_budget")]
        )
    ]
    whole = rows_as_table([dict.fromkeys(COLUMNS) | row for row in rows])
    with table_file(tmp_path / "results/one/trials.parquet") as table:
        for start in range(0, 12, 5):
            table.add(whole.slice(start, 5))

    def run(*options):
        done = CliRunner().invoke(main, ["show", "one.yaml", *options])
        return done.exit_code, done.stdout, done.stderr

    return run


def numbers(text):
    return [int(line.split()[0]) for line in text.splitlines()[1:]]


CHOSEN = {
    (): list(range(12)),
    ("--dataset", "iris"): [6, 7, 8, 9, 10, 11],
    ("--dataset", "iris", "--dataset", "wine", "--budget", "3MB"): [0, 3, 6, 9],
    ("--method", "=krr", "--outcome", "over_budget"): [5, 11],
    ("--outcome", "ok", "--limit", "5"): [0, 1, 3, 4, 6],
}


@pytest.mark.parametrize("options", CHOSEN)
def test_rows_are_chosen_by_what_they_say_in_all_three_forms(shown, options):
    wanted = CHOSEN[options]
    code, said, told = shown(*options)
    assert (code, numbers(said)) == (0, wanted)
    assert (f"{len(wanted)} of 8 rows; --limit 8 prints" in told) == ("--limit" in options)
    rows = json.loads(shown(*options, "--json")[1])
    assert [row["row"] for row in rows] == wanted
    assert [row["seed"] for row in rows] == [number % 3 for number in wanted]
    table = pd.read_csv(io.StringIO(shown(*options, "--csv")[1]))
    assert list(table["row"]) == wanted
    assert list(table.columns) == ["row", *COLUMNS, "my_metric"]


def test_what_it_prints_as_json_is_the_table(shown, tmp_path):
    rows = json.loads(shown("--json")[1])
    kept = json.loads(
        read_table(tmp_path / "results/one/trials.parquet").to_json(orient="records")
    )
    assert [list(row) for row in rows] == [[*row, "row"] for row in kept]
    assert [row | {"row": 0} for row in rows] == [
        row | {"row": 0, "auc": pytest.approx(row["auc"])} for row in kept
    ]


def test_a_name_that_a_spreadsheet_would_compute_is_text(shown):
    table = pd.read_csv(io.StringIO(shown("--csv", "--method", "=krr")[1]))
    assert set(table["method"]) == {"'=krr"}


def test_long_tables_are_cut_short_and_say_so(shown, monkeypatch):
    monkeypatch.setattr(show, "MOST", 4)
    code, said, told = shown()
    assert (code, numbers(said)) == (0, [0, 1, 2, 3])
    assert "4 of 12 rows; --limit 12 prints all of them" in told


MISTAKES = {
    ("--method", "svn"): "did you mean 'svm'?",
    ("--dataset", "wine", "--method", "svm", "--budget", "3GB"): "budget '3GB'",
    ("--budget", "3MB", "--outcome", "over_budget"): "no row has budget 3MB, outcome over_budget",
    ("--json", "--csv"): "two forms of the same rows: give one",
    ("--limit", "0"): "0 is not in the range",
    ("--outcome", "fine"): "'fine' is not one of",
}


@pytest.mark.parametrize("options", MISTAKES)
def test_mistakes_are_told_in_a_sentence(shown, options):
    code, _, told = shown(*options)
    assert code != 0
    assert MISTAKES[options] in told
    assert "Traceback" not in told
