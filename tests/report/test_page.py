import json
import re
import subprocess

import pandas as pd
import pytest
from browser import needs_browser, shown, violations
from parsed_page import read_page
from synthetic_trials import (
    BUDGETS,
    CONTROLS,
    TINY,
    bad_endings,
    make_trials,
    with_pair_left_out,
    write_results,
)

from harness import ReportSection
from harness.errors import HarnessError
from harness.report import write_report
from harness.report.theme import PALETTES

EVIL = "<script>alert('x')</script><img src=http://evil.example/x onerror=alert(1)>"


def report(directory, trials, metric=None, sections=(), **files):
    path = write_report(write_results(directory, trials, **files), metric, sections)
    assert path == directory / "report.html"
    return read_page(path)


SECTION = ReportSection("More", lambda records: "<p style='height:777px'>plugin</p>")


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A study with every kind of outcome, a picture, a plugin's section, and its report."""
    trials = make_trials(outcome=bad_endings)
    trials["fingerprint"] = [f"f-{i}" for i in trials.index]
    directory = write_results(tmp_path_factory.mktemp("page") / "synthetic", trials)
    samples = [[0.1 * i, 10_000 * i] for i in range(30)]
    seen = trials.index[(trials["method"] == "1nn") & (trials["seed"] == 0)]
    pictures = [
        {"fingerprint": f"f-{i}", "stages": {"fit": [0.1, 2.5]}, "samples": samples} for i in seen
    ]
    (directory / "timelines.json").write_text(json.dumps(pictures))
    write_report(directory, sections=[SECTION])
    return directory


@pytest.fixture
def tiny(tmp_path):
    return write_results(tmp_path / "tiny", make_trials(**TINY))


def few_seeds(trials):
    gone = (trials["seed"] == 2) & (trials["method"] == "svm")
    return trials[~gone]


TOY = TINY["datasets"]
SCENARIOS = {
    "every outcome": None,  # the one that `reported` holds
    "mixed tasks": lambda: make_trials(
        [(task, task) for task in ("binary", "multiclass", "regression", "clustering")],
        seeds=range(3),
    ),
    "seeds partly missing": lambda: few_seeds(make_trials(TOY)),
    "one seed": lambda: make_trials(TOY, seeds=[7]),
    "one method": lambda: make_trials(TOY, methods=("svm",)),
    "only controls": lambda: make_trials(TOY, methods=CONTROLS),
    "one budget, none": lambda: make_trials(TOY, budgets={"none": None}),
    "nothing fits at a budget": lambda: make_trials(budgets={"10kB": 10**4, "1MB": 10**6}),
    "nothing fits at all": lambda: make_trials(TOY, budgets={"10kB": 10**4}),
    "budgets of size": lambda: make_trials(TOY, budgets={"80 landmarks": None, "1MB": 10**6}),
    "several labeled counts": lambda: make_trials(TOY, labeled=(50, 100), seeds=range(2)),
    "many": lambda: make_trials(
        [(f"data-{i}", "binary") for i in range(10)],
        (*CONTROLS, *(f"method-{i}" for i in range(27))),
        seeds=[0],
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_page_holds_for(tmp_path, reported, name):
    directory = tmp_path / "s"
    if SCENARIOS[name] is None:
        directory = reported
        trials = pd.read_parquet(directory / "trials.parquet")
        page = read_page(directory / "report.html")
    else:
        trials = SCENARIOS[name]()
        page = report(directory, trials)
    problems = trials.groupby(["dataset", "n_labeled"]).ngroups
    data = json.loads(page.data)
    assert sum(name.isdigit() for name in data["cells"]) == problems
    assert f"{len(trials):,} trials" in page.text
    means = pd.read_csv(directory / "tables" / "means.csv")
    assert len(means) >= trials.groupby(["dataset", "n_labeled", "budget", "method"]).ngroups
    said = {
        "one seed": "One seed: no intervals.",
        "seeds partly missing": "1 seed missing",
        "only controls": "only controls were run",
        "nothing fits at a budget": "At 10kB",
        "nothing fits at all": "No method has a score on this data set.",
        "one method": "It is the only method.",
        "one budget, none": "on 1 data set without a memory limit",
        "every outcome": "4/5 ok",
        "many": "The 8 methods of best mean rank are drawn in colour",
    }
    assert said.get(name, "") in page.text


def test_names_from_outside_stay_text(tmp_path):
    trials = make_trials(**TINY | {"datasets": ((EVIL, "binary"),), "methods": (EVIL, "svm")})
    trials["reason"] = EVIL
    page = report(
        tmp_path / "s",
        trials,
        study={"title": EVIL},
        provenance={"command": EVIL, "plugins": {EVIL: EVIL}, "unheard": {"of": EVIL}},
        calibration=[{"kind": EVIL, "within": False}],
        sections=[ReportSection(EVIL, lambda records: 1 / 0)],
    )
    assert "img" not in page.tags
    assert page.tags.count("script") == 3
    assert page.text.count("alert('x')") > 8
    assert EVIL in json.loads(page.data)["cells"]["0"]["method"]


def test_a_section_that_fails_is_shown_as_its_own_failure(tmp_path):
    def fails(records):
        raise RuntimeError("no <such> column")

    page = report(
        tmp_path / "s",
        make_trials(**TINY),
        sections=[
            ReportSection("Broken", fails),
            ReportSection("Not text", lambda records: 3),
            ReportSection("Leaves", lambda records: exit(3)),
            ReportSection("Works", lambda records: f"<p>{len(records)} rows</p><!-- <table>"),
        ],
    )
    assert "could not be made: RuntimeError: no <such> column" in page.text
    assert "could not be made: TypeError: render returned int" in page.text
    assert "could not be made: SystemExit: 3" in page.text
    assert page.tags.count("iframe") == 1


def test_a_section_cannot_change_the_records_of_the_next(tmp_path):
    seen = []

    def spoils(records):
        seen.append(records["seed"].tolist())
        records["seed"] = 0
        records.drop(columns="method", inplace=True)
        return ""

    sections = [ReportSection("One", spoils), ReportSection("Two", spoils)]
    report(tmp_path / "s", make_trials(**TINY | {"seeds": [1, 2]}), sections=sections)
    assert seen[0] == seen[1]


def test_tables_have_their_columns_and_agree_with_the_rows(reported):
    tables = {path.stem: pd.read_csv(path) for path in (reported / "tables").glob("*.csv")}
    assert set(tables) == {
        "means",
        "ranks",
        "outcomes",
        "best",
        "decision",
        "front",
        "least_bytes",
        "profiles",
        "switch_points",
        "planned_vs_measured",
        "calibration",
    }
    wanted = ["dataset", "budget", "method", "n_ok", "n", "metric", "mean", "ci_low", "ci_high"]
    assert {*wanted, "std", "rank"} <= set(tables["means"].columns)
    trials = pd.read_parquet(reported / "trials.parquet")
    assert tables["outcomes"]["count"].sum() == (trials["outcome"] != "ok").sum()
    assert len(tables["best"]) == 2 * len(BUDGETS)
    assert tables["best"]["sentence"].str.contains("is best").all()
    assert len(tables["calibration"]) == 12


def test_the_best_method_stands_with_its_peak_while_predicting(tmp_path):
    trials = make_trials(**TINY)
    assert "while predicting" not in report(tmp_path / "unknown", trials).text
    trials["predict_peak_bytes"] = 4_321_000
    page = report(tmp_path / "known", trials)
    assert "4.32 MB while predicting" in page.text
    best = pd.read_csv(tmp_path / "known" / "tables" / "best.csv")
    assert (best["predict_peak_bytes"] == 4_321_000).all()
    trials["model_bytes"] = 1_234_000
    page = report(tmp_path / "model", trials)
    assert "4.32 MB while predicting, 1.23 MB in a file" in page.text


def test_the_metric_asked_for_is_the_one_shown(tmp_path):
    page = report(tmp_path / "s", make_trials(**TINY), metric="error_rate")
    assert "error rate, lower is better" in page.text
    assert page.text.count("AUC") == 1  # what charts can be switched to


@pytest.mark.parametrize(
    ("budgets", "said", "unsaid"),
    [
        ({"none": None}, "without a memory limit", "Thick grey line"),
        ({"10MB": 10**7}, "under a memory budget of 10MB", "What more memory buys"),
    ],
)
def test_with_one_budget_nothing_is_drawn_against_budgets(tmp_path, budgets, said, unsaid):
    page = report(tmp_path / "s", make_trials(TOY, budgets=budgets))
    assert said in page.text
    assert "How well each method does" in page.text
    assert "against budget" not in page.text
    assert unsaid not in page.text
    assert "memory budget" not in json.dumps(json.loads(page.data)["specs"])


def test_a_pair_that_was_left_out_stands_among_outcomes_alone(tmp_path):
    trials = make_trials(**TINY, labeled=(50, 100))
    trials = with_pair_left_out(trials, "toy", "krr", "krr does not")
    page = report(tmp_path / "s", trials)
    assert "toy krr every infeasible krr does not" in page.text
    assert page.text.count("krr") == 2
    assert "nan" not in page.text.split("Provenance")[0].lower().split()


def test_times_below_a_millisecond_are_told(tmp_path):
    trials = make_trials(**TINY)
    trials["predict_s"] = 0.00042
    assert "0.42 ms" in report(tmp_path / "s", trials).text


def test_uncommitted_changes_and_a_failed_calibration_are_pointed_out(tmp_path):
    calibration = [{"kind": "numpy", "allocated_bytes": 10, "within": False}]
    page = report(tmp_path / "s", make_trials(**TINY), calibration=calibration)
    assert "with uncommitted changes" in page.text
    assert "0 of 1 known allocations" in page.text
    assert "not to be trusted" in page.text


def test_a_study_that_stored_nothing_about_itself_still_has_a_page(tmp_path):
    page = report(tmp_path / "s", make_trials(**TINY), provenance={}, calibration=[])
    assert "No calibration was stored" in page.text
    assert "The study as run" in page.text


def test_the_same_records_give_the_same_page(tiny):
    first = write_report(tiny).read_bytes()
    assert write_report(tiny).read_bytes() == first


def test_a_report_that_cannot_be_written_leaves_the_old_one(tiny, monkeypatch):
    (tiny / "report.html").write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(tiny)
    monkeypatch.undo()
    assert (tiny / "report.html").read_text() == "old"
    assert not [path for path in tiny.rglob(".*") if path.is_file()]


def test_a_directory_in_the_way_is_one_clear_error(tiny):
    (tiny / "report.html").mkdir()
    with pytest.raises(HarnessError, match=r"report\.html: cannot be written"):
        write_report(tiny)


@needs_browser
def test_a_browser_draws_every_chart_in_the_readers_colours(reported, tmp_path):
    path = reported / "report.html"
    done = subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--blink-settings=preferredColorScheme=0",
            "--virtual-time-budget=20000",
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    dom = done.stdout
    assert 'data-drawn="all"' in dom
    drawn = re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL)
    assert "could not be drawn" not in drawn
    n_charts = 2 * 6 + 2 + 2 + 1 + 2 + len(BUDGETS)  # per data set, over them, profiles, others
    assert drawn.count('aria-roledescription="visualization"') == n_charts
    assert f'stroke="{PALETTES["dark"][0]}"' in drawn
    assert f'stroke="{PALETTES["light"][0]}"' not in drawn
    assert int(re.search(r"<iframe[^>]*height: (\d+)px", dom)[1]) >= 777


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_keeps_a_reader_with_other_senses_from_the_page(reported, dark):
    assert violations(reported / "report.html", dark) == []


@needs_browser
def test_on_paper_every_group_of_charts_names_the_methods_that_are_drawn(reported):
    document = shown(reported / "report.html", "methods=svm")
    legends = re.findall(r'<p class="on-paper">(.*?)</p>', document, re.DOTALL)
    assert len(legends) == 6
    for legend in legends:
        assert re.sub(r"<.*?>|\s", "", legend) == "svm"
        assert "<svg" in legend
