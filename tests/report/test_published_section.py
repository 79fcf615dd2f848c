import re

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from parsed_page import read_page
from synthetic_trials import make_trials, write_results

from harness.cli import main
from harness.errors import HarnessError
from harness.report import write_report
from harness.report.answers import NO_SCORE
from harness.report.published_comparison import compare
from harness.report.published_layout import headline, layout, leaders, lines, ours_text
from harness.report.results import read_results

METHODS = ("1nn", "svm", "harmonic", "nysck", "random")
STUDY = {"title": "Beside", "metrics": ["auc"], "published": ["hou2017/table3", "hou2017/table2"]}


def ten_percent(directory, seeds=3, study=STUDY):
    """Trials of two data sets of table 3, 10 % of them labeled, one of them failing in part."""
    trials = make_trials(
        [("australian", "binary"), ("diabetes", "binary")],
        methods=METHODS,
        budgets={"none": None},
        seeds=range(seeds),
        labeled=(50,),
    )
    trials["n_unlabeled"], trials["n_test"] = 450, 0
    bad = (trials["dataset"] == "diabetes") & (trials["method"] == "1nn") & (trials["seed"] == 0)
    trials.loc[bad, "outcome"] = "timeout"
    return write_results(directory, trials, study=study)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = ten_percent(tmp_path_factory.mktemp("published") / "beside")
    write_report(directory)
    return directory


@pytest.fixture(scope="module")
def comparison(directory):
    return compare(read_results(directory), ["hou2017/table3"])[0]


def test_a_figure_of_ours_leads_to_its_seeds(directory, comparison):
    html = (directory / "report.html").read_text(encoding="utf-8")
    section = html.partition('<section id="published">')[2].partition("</section>")[0]
    table = section.partition("<h3>hou2017/table3: AUC")[2].partition("<h3>")[0]
    links = [int(number) for number in re.findall(r'<a href="#cell=(\d+)">', table)]
    ran = comparison.cells[comparison.cells["n"] > 0]
    cells = read_results(directory).cells
    ours = cells.set_index(["problem", "budget", "label"])["cell"].to_dict()
    expected = {ours[(*one.place, one.ours)] for one in ran.itertuples()}
    assert set(links) == expected
    assert len(links) == len(ran)


def test_the_section_stands_after_the_answer_and_shows_every_printed_figure(directory, comparison):
    page = read_page(directory / "report.html")
    ids = [name for name in page.ids if name]
    assert ids.index("answer") < ids.index("published") < ids.index("score")
    assert "#published" in page.references
    section = page.text.split("Beside the printed table")[1].split("How well each method does")[0]
    assert (
        f"{comparison.counts} ; margin 0.01; seeds here: 2 to 3, runs in the paper: 30" in section
    )
    assert "hou2017/table3: AUC ↑, 10 % labeled, no limit" in section
    assert "hou2017/table2: CPU seconds ↓" in section
    assert "48 not run" in section
    assert "1,000 labeled, 200MB" in section
    for printed in comparison.cells["printed_text"]:
        assert printed in section
    for cell in comparison.cells.itertuples():
        mean, _, half = ours_text(cell).partition(" ")
        rank = "" if pd.isna(cell.rank) else f"({cell.rank:g})"
        assert " ".join(filter(None, (mean, rank, half))) in section
    assert "svm not printed" in section
    assert "random" not in section
    assert "total rank, printed" in section
    assert "2/3" in section
    assert f"Lowest total rank: {leaders(comparison)}." in section


def test_settings_that_the_study_does_not_have_are_folded_away(directory, comparison):
    made = layout(comparison)
    assert [row["dataset"] for row in made["rows"]] == ["australian", "diabetes"]
    assert len(made["others"]) == 6
    section = (directory / "report.html").read_text().split("Beside the printed table")[1]
    shown, folded = section.split("<summary>6 printed settings that this study does not have")
    assert 'scope="row">australian' in shown
    assert 'scope="row">splice' not in shown
    assert 'scope="row">splice' in folded.split("</details>")[0]
    assert "svm" not in folded.split("</thead>")[0].replace("tsvm", "")


def test_doubts_stand_with_the_settings_that_bear_them(tmp_path):
    trials = make_trials((("mnist", "multiclass"),), ("budget-svm",), {"10 landmarks": None})
    trials["params"] = '{"kernel": "linear", "selector": "dbh"}'
    study = {"metrics": ["accuracy"], "published": "castellanos2021/table5-1"}
    directory = write_results(tmp_path / "doubts", trials, study=study)
    found = layout(compare(read_results(directory), [study["published"]])[0])
    assert len(found["rows"]) == 1
    assert found["doubts"] == {}
    (words,) = found["other_doubts"]
    assert words.startswith("the standard deviations of this row")
    shown, folded = write_report(directory).read_text().split("that this study does not have")
    assert "Not judged: the standard deviations" not in shown
    assert "Not judged: the standard deviations" in folded.split("</details>")[0]


def test_leaders_have_the_lowest_total_rank(comparison):
    printed, here, of_all = leaders(comparison).split(", ")
    for words, column in ((printed, "printed_rank"), (here, "rank"), (of_all, "rank_of_all")):
        totals = comparison.totals[column]
        assert f"{totals.idxmin()}" in words
        assert f"({totals.min():g})" in words
    assert of_all.startswith("here of all methods ")


def test_every_verdict_has_its_class_and_its_words(directory, comparison):
    html = (directory / "report.html").read_text()
    style = html.split("</style>")[0]
    for verdict in set(comparison.cells["verdict"]) - {""}:
        name = verdict.replace(" ", "-")
        assert f'<td class="num {name}"' in html
        assert f".{name} " in style
        assert f"{verdict}</b>" in html


def test_tables_are_those_of_the_comparison(directory, comparison):
    table = pd.read_csv(directory / "tables" / "published.csv")
    mine = table[table["table"] == "hou2017/table3"]
    assert mine["verdict"].notna().sum() == 56
    assert (table["table"] == "hou2017/table2").sum() == 48
    assert mine["mean"].to_numpy() == pytest.approx(
        comparison.cells["mean"].to_numpy(), nan_ok=True
    )
    means = pd.read_csv(directory / "tables" / "means.csv")
    joined = mine.dropna(subset="mean").merge(means, on=["dataset", "method", "metric"])
    assert len(joined) == 8
    assert joined["mean_x"].to_numpy() == pytest.approx(joined["mean_y"].to_numpy())
    assert joined["ci_low_x"].to_numpy() == pytest.approx(joined["ci_low_y"].to_numpy())
    ranks = pd.read_csv(directory / "tables" / "published_ranks.csv")
    assert set(ranks["method"]) == {"1nn", "svm", "harmonic", "nysck"}


def test_without_the_key_there_is_no_section(tmp_path):
    directory = ten_percent(tmp_path / "plain", study={"metrics": ["auc"]})
    page = read_page(write_report(directory))
    assert "published" not in page.ids
    assert not (directory / "tables" / "published.csv").exists()


def test_the_page_says_why_there_are_fewer_seeds_than_runs(tmp_path):
    study = STUDY | {"published": "hou2017/table3"}
    directory = ten_percent(tmp_path / "mute", study=study)
    assert "(fewer here: the study does not say why)" in read_page(write_report(directory)).text
    reason = "one hour was all there was"
    directory = ten_percent(tmp_path / "said", study=study | {"fewer_seeds": reason})
    text = read_page(write_report(directory)).text
    assert f"seeds here: 2 to 3, runs in the paper: 30 (fewer here: {reason})" in text
    table = pd.read_csv(directory / "tables" / "published.csv")
    printed = table[table["n_scored"] > 0].dropna(subset="printed")
    assert set(printed["runs"]) == {30}
    assert set(printed["why_fewer"]) == {reason}
    directory = ten_percent(tmp_path / "all", seeds=31, study=study | {"fewer_seeds": reason})
    assert "fewer here" not in read_page(write_report(directory)).text


def test_one_seed_is_no_verdict(tmp_path):
    directory = ten_percent(
        tmp_path / "one", seeds=1, study=STUDY | {"published": "hou2017/table3"}
    )
    page = read_page(write_report(directory))
    assert "cannot tell the interval reaches over the margin, or there are fewer than five seeds"
    # three methods of the paper on two data sets, one of them with its only seed failed
    assert "5 cannot tell, 51 not run" in page.text
    assert "reproduced" not in page.text


def test_a_table_that_is_not_there_is_told_with_its_study(tmp_path):
    directory = ten_percent(tmp_path / "lost", study=STUDY | {"published": "hou2017/table9"})
    with pytest.raises(HarnessError, match=r"study\.yaml: published: unknown printed table"):
        write_report(directory)


def test_layout_says_once_what_all_settings_share(directory):
    third, second = compare(read_results(directory), STUDY["published"])
    assert layout(third)["shared"] == "10 % labeled, no limit"
    assert {row["words"] for row in layout(third)["rows"]} == {""}
    assert layout(second)["shared"] == ""
    assert layout(second)["others"][0]["words"] == "1,000 labeled, 200MB"
    assert headline(second) == "hou2017/table2: CPU seconds, lower is better"
    assert "setting" in lines(second, all_settings=True)[0]
    assert "setting" not in lines(third)[0]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command line where a study and its results are."""
    ten_percent(tmp_path / "results" / "beside")
    study = {"datasets": ["australian"], "methods": ["svm"], "labeled": 0.1}
    for name, published in {"beside": "hou2017/table3", "plain": None}.items():
        content = study | ({"published": published} if published else {})
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(content))
    monkeypatch.chdir(tmp_path)

    def run(*arguments, status=0):
        result = CliRunner().invoke(main, ["compare", *arguments])
        assert result.exit_code == status, result.output
        return result.output if status else result.stdout

    return run


def test_the_command_prints_what_the_page_shows(run, comparison):
    said = run("beside.yaml")
    assert said.startswith("hou2017/table3: AUC, higher is better, 10 % labeled, no limit\n")
    assert comparison.counts in said
    assert sum(line.startswith("total rank") for line in said.splitlines()) == 4
    assert '"verdict":"not run"' in run("beside.yaml", "--json")
    assert "CPU seconds" in run("beside.yaml", "hou2017/table2")


def test_the_command_folds_settings_that_the_study_does_not_have(run):
    said, whole = run("beside.yaml"), run("beside.yaml", "--all")
    folded = "6 printed settings that this study does not have; --all prints them"
    assert folded in said
    assert folded not in whole
    assert "splice" not in said
    assert whole.count("splice") == 7
    assert whole.count("\n") - said.count("\n") == 6 * 7 - 1
    none = run("beside.yaml", "hou2017/table2").splitlines()
    assert len(none) == 3
    assert none[1].startswith("12 printed settings")


def test_the_column_of_ours_has_one_number_of_digits(directory):
    (made,) = compare(read_results(directory), ["hou2017/table3"])
    scored = made.cells.index[made.cells["n_scored"] > 0]
    for end, half in (("ci_low", -1e-5), ("ci_high", 1e-5)):
        made.cells.loc[scored[0], end] = made.cells.loc[scored[0], "mean"] + half
    alone = [ours_text(cell).split()[0] for cell in made.cells.loc[scored].itertuples()]
    assert len({len(mean) for mean in alone}) == 2
    texts = [line["ours"] for line in lines(made) if line.get("ours", NO_SCORE) != NO_SCORE]
    figures = [part for text in texts for part in text.split(" ± ")]
    # one more than the paper prints: more are of no use beside it
    assert {len(figure.partition(".")[2]) for figure in figures} == {4}


def test_mistakes_of_the_command(run):
    assert "plain.yaml: published: names no table" in run("plain.yaml", status=1)
    assert "did you mean 'hou2017/table3'?" in run("beside.yaml", "hou2017/table31", status=1)
