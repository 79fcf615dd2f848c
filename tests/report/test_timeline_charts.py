"""Pictures of memory over time: shown where they belong to a row, never needed, never trusted."""

import json

import pytest
import vl_convert
from browser import needs_browser, wait_until, window
from synthetic_trials import make_trials, write_results

from harness.project import TEMPLATES
from harness.report import theme as looks
from harness.report import write_report
from harness.report.results import read_results
from harness.report.timelines import make_timelines, memory_over_time

DRAWN = "[...document.querySelectorAll('#timelines svg.marks')]"
BEYOND = f"""return {DRAWN}.filter((chart) => {{
  const panel = chart.closest(".chart").parentElement;
  return chart.getBoundingClientRect().right > panel.getBoundingClientRect().right + 1;
}}).map((chart) => chart.closest(".chart").getAttribute("aria-label"))"""


def picture(fingerprint, n=80):
    samples = [[round(0.01 * i, 4), 1000 * i if i < n // 2 else 500] for i in range(n)]
    stages = {"load": [0.0, 0.1], "fit": [0.1, 0.5], "predict": [0.5, 0.8]}
    return {"fingerprint": fingerprint, "stages": stages, "samples": samples}


@pytest.fixture(scope="module")
def trials():
    made = make_trials(seeds=range(2), budgets={"10MB": 10**7, "100MB": 10**8})
    return made.assign(fingerprint=[f"f-{i}" for i in range(len(made))], fit_peak_bytes=9_000_000)


def arranged(folder, trials, content=None):
    directory = write_results(folder / "s", trials)
    if content is not None:
        text = content if isinstance(content, str) else json.dumps(content)
        (directory / "timelines.json").write_text(text)
    return directory, make_timelines(read_results(directory))


def first_seeds(trials):
    return trials[(trials["seed"] == 0) & (trials["outcome"] != "infeasible")]["fingerprint"]


def test_every_picture_stands_with_its_problem_budget_and_method(tmp_path, trials):
    wanted = first_seeds(trials)
    content = [picture(fingerprint) for fingerprint in wanted]
    directory, made = arranged(tmp_path, trials, content)
    assert len(made["drawn"]) == len(wanted)
    assert made["note"] == ""
    assert made["stages"] == ["load", "fit", "predict"]
    rows = trials.set_index("fingerprint").loc[wanted]
    for problem in made["problems"]:
        for group in problem["groups"]:
            here = rows[(rows["dataset"] == problem["name"]) & (rows["budget"] == group["budget"])]
            assert [item["panel"].method for item in group["panels"]] == list(here["method"])
            for item, peak in zip(group["panels"], here["peak_bytes"], strict=True):
                assert made["drawn"][item["number"]]["peak"] == peak
    drawn = made["drawn"][0]
    assert len(drawn["s"]) <= 40
    assert max(drawn["b"]) == 39_000
    assert drawn["span"] == (0.1, 0.5)
    page = write_report(directory).read_text(encoding="utf-8")
    assert page.count("data-timeline=") == len(wanted)
    assert "a short peak can lie between two samples" in page


def test_names_above_the_panels_take_two_lines_and_leave_the_button_its_place(tmp_path, trials):
    fits, long = "budget-lssvm[laplacian, cssp, C=0.5]", f"budget-svm[{'x' * 40}, smoothing=0.5]"
    names = {"svm": fits, "nysck": long}
    renamed = trials.assign(method=trials["method"].replace(names))
    content = [picture(fingerprint) for fingerprint in first_seeds(trials)]
    directory, _ = arranged(tmp_path, renamed, content)
    section = write_report(directory).read_text(encoding="utf-8").split('id="timelines"')[1]
    assert f'<h3 title="{fits}">{fits} <small>' in section
    assert f'<h3 title="{long}">budget-svm[xxxxxxxxxxx…xxxxxx, smoothing=0.5] <small>' in section
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    assert ".grid h3, .grid h4, .grid h5 { padding-right" in style


def test_pictures_of_other_trials_are_not_shown(tmp_path, trials):
    _, made = arranged(tmp_path, trials, [picture("gone-0")])
    assert made["problems"] == made["drawn"] == []
    assert made["note"] == "No picture was kept."


def test_missing_pictures_are_counted(tmp_path, trials):
    wanted = first_seeds(trials)
    _, made = arranged(tmp_path, trials, [picture(wanted.iloc[0])])
    assert made["note"].startswith(f"{len(wanted) - 1} cells")


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (None, "No picture was kept."),
        ("", "No picture was kept. 1 could not be read."),
        ("{}", "No picture was kept. 1 could not be read."),
        ([3, {}, {"samples": [[1]]}], "No picture was kept. 3 could not be read."),
    ],
)
def test_a_report_needs_no_pictures(tmp_path, trials, content, note):
    _, made = arranged(tmp_path, trials, content)
    assert made["note"] == note
    assert made["problems"] == []


def test_too_few_samples_are_said_and_not_drawn(tmp_path, trials):
    short = {"outcome": "crashed", "stages": {}}
    content = [
        picture(name, n) | short
        for name, n in zip(first_seeds(trials)[:4], (0, 1, 3, 4), strict=True)
    ]
    _, made = arranged(tmp_path, trials, content)
    panels = [
        item["panel"]
        for problem in made["problems"]
        for group in problem["groups"]
        for item in group["panels"]
    ]
    said = sorted(panel.few for panel in panels)
    assert said == [
        "",
        *(f"Too short to draw: {n}." for n in ("1 sample", "3 samples", "no samples")),
    ]
    assert len(made["drawn"]) == 1


def test_a_budget_far_above_does_not_flatten_the_curve(tmp_path, trials):
    near, far = (
        trials[(trials["method"] == "svm") & (trials["budget"] == budget)].iloc[0]
        for budget in ("10MB", "100MB")
    )
    fixed = trials.assign(peak_bytes=4_000_000)
    content = [picture(row["fingerprint"]) for row in (near, far)]
    _, made = arranged(tmp_path, fixed, content)
    assert [drawn["limit"] for drawn in made["drawn"]] == [10**7, None]
    told = [group["panels"][0]["panel"].told for group in made["problems"][0]["groups"]]
    assert [words.split(",")[0] for words in told] == ["peak 4 MB of 10MB", "peak 4 MB of 100MB"]


def test_many_pictures_keep_the_page_small(tmp_path):
    made = make_trials(
        [(f"data-{i}", "binary") for i in range(10)],
        [f"method-{i}" for i in range(30)],
        budgets={"100MB": 10**8, "1GB": 10**9},
        seeds=[0],
    )
    made = made.assign(fingerprint=[f"f-{i}" for i in range(len(made))])
    _, arrangement = arranged(tmp_path, made, [picture(f"f-{i}", 200) for i in range(len(made))])
    assert len(arrangement["drawn"]) > 500
    assert not arrangement["open"]
    assert len(json.dumps(arrangement["drawn"])) < 600_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_draws_curve_stages_budget_and_peak(scheme):
    data = {
        "samples": [{"s": 0.0, "b": 0}, {"s": 0.5, "b": 5e6}, {"s": 1.5, "b": 2e6}],
        "stages": [{"stage": "fit", "from": 0.1, "to": 1.0}],
        "marks": [
            {"kind": "budget", "b": 1e7},
            {"kind": "peak", "b": 6e6, "from": 0.1, "to": 1.0},
        ],
    }
    spec = memory_over_time() | {"datasets": data, "width": 200}
    svg = vl_convert.vegalite_to_svg(json.dumps(spec), config=looks.theme(scheme))
    assert "NaN" not in svg
    assert "10MB" in svg
    assert "1.5 s" in svg
    assert svg.count(looks.PALETTES[scheme][2]) == 1
    assert svg.count('stroke-dasharray="2,2"') == 1
    assert looks.GREY in svg


@needs_browser
def test_what_was_drawn_for_the_screen_keeps_within_its_panel_on_paper(tmp_path, trials):
    content = [picture(fingerprint) for fingerprint in first_seeds(trials)]
    directory, _ = arranged(tmp_path, trials, content)
    with window(write_report(directory)) as run:
        wait_until(lambda: run("return document.documentElement.dataset.drawn"))
        assert run(f"return {DRAWN}.length")
        # a browser lays out the paper before anything is drawn for it
        run("addEventListener('resize', (event) => event.stopImmediatePropagation(), true)")
        run(f"for (const chart of {DRAWN}) chart.dataset.before = ''")
        run.order("Emulation.setEmulatedMedia", media="print")
        wait_until(lambda: run(f"return {DRAWN}.every((chart) => !('before' in chart.dataset))"))
        size = {"width": 500, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        run.order("Emulation.setDeviceMetricsOverride", **size)
        assert run(BEYOND) == []
