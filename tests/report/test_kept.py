import pandas as pd
import pytest
from click.testing import CliRunner
from pandas.testing import assert_frame_equal
from synthetic_trials import make_trials, write_results

from harness.cli import main
from harness.errors import HarnessError
from harness.report import write_report
from harness.report.kept import count_words, judge_kept, write_kept
from harness.report.verdicts import VERDICTS


@pytest.fixture
def folder(tmp_path):
    """What is kept of a study that was compared: its table and its text."""
    trials = make_trials(
        [("australian", "binary"), ("diabetes", "binary")],
        methods=("1nn", "svm", "harmonic", "nysck"),
        budgets={"none": None},
        seeds=range(6),
        labeled=(50,),
    )
    trials["n_unlabeled"], trials["n_test"] = 450, 0
    study = {"metrics": ["auc"], "published": ["hou2017/table3", "hou2017/table2"]}
    study |= {"fewer_seeds": "it is a test"}
    made = write_results(tmp_path / "study", trials, study=study)
    write_report(made)
    (made / "tables" / "published.csv").rename(made / "published.csv")
    return made


def test_judging_anew_by_the_same_rule_changes_nothing(folder):
    before = pd.read_csv(folder / "published.csv")
    judged = judge_kept(folder)
    assert not judged["changed"].any()
    write_kept(folder, judged)
    assert_frame_equal(pd.read_csv(folder / "published.csv"), before, rtol=1e-9)
    assert before["verdict"].nunique() > 2


def test_a_comparison_of_another_rule_gets_the_words_and_columns_of_today(folder):
    path = folder / "published.csv"
    today = pd.read_csv(path)
    new = ["std", "runs", "difference", "difference_half", "margin", "why_fewer"]
    old = today.drop(columns=new).assign(verdict="reproduced")
    old.to_csv(path, index=False)
    made = judge_kept(folder)
    assert made["changed"].any()
    write_kept(folder, made)
    assert_frame_equal(pd.read_csv(path), today, rtol=1e-9)
    lines = count_words(made)
    assert lines[0].startswith("hou2017/table3, auc: ")
    assert sum(int(part.split()[0]) for part in lines[0].split(": ")[1].split(", ")) == 56
    assert set(made["verdict"]) - {""} <= set(VERDICTS)


def test_the_command_writes_where_it_is_asked_to(folder):
    path = folder / "published.csv"
    today = pd.read_csv(path)
    today.assign(verdict=today["verdict"].replace("not run", "reproduced")).to_csv(
        path, index=False
    )
    before = path.read_bytes()
    result = CliRunner().invoke(main, ["judge", str(folder)])
    assert result.exit_code == 0, result.output
    count = (today["verdict"] == "not run").sum()
    assert count > 40
    told = f"study: {count} of them are not what published.csv says; --write replaces it"
    assert result.stdout.splitlines()[-1] == told
    assert path.read_bytes() == before
    result = CliRunner().invoke(main, ["judge", str(folder), "--write"])
    assert told not in result.stdout
    assert_frame_equal(pd.read_csv(path), today, rtol=1e-9)


def test_the_command_names_folder_table_and_counts(folder):
    result = CliRunner().invoke(main, ["judge", str(folder)])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("study: hou2017/table3, auc: ")
    assert "50 not run" in result.stdout
    result = CliRunner().invoke(main, ["judge", str(folder / "none")])
    assert result.exit_code == 1
    assert "there is no kept comparison" in result.stderr


def test_figures_that_are_not_printed_any_more_are_told_with_their_line(folder):
    path = folder / "published.csv"
    text = path.read_text()
    table = pd.read_csv(path)
    table.loc[3, "printed"] = 0.123
    table.to_csv(path, index=False)
    with pytest.raises(HarnessError, match=r"published\.csv: line 5: .* on australian, 0\.123"):
        judge_kept(folder)
    table.assign(ci_low="a word").to_csv(path, index=False)
    with pytest.raises(HarnessError, match="ci_low: holds something else than numbers"):
        judge_kept(folder)
    path.write_text(text.replace("n_scored", "scored"))
    with pytest.raises(HarnessError, match="columns n_scored are missing"):
        judge_kept(folder)
