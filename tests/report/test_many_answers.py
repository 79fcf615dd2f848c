"""A page of more answers than anyone reads: a summary, and what is chosen."""

import json
import re
import shutil
import subprocess

import pytest
from parsed_page import read_page
from synthetic_trials import BUDGETS, make_trials, write_results

from harness.report import overview, write_report

SETS = (("a", "binary"), ("b", "binary"), ("<c>", "regression"))


@pytest.fixture
def many(tmp_path, monkeypatch):
    """A page of 12 answers that takes 11 to be many."""
    monkeypatch.setattr(overview, "MOST_ANSWERS", 11)
    trials = make_trials(SETS, seeds=range(5))
    # the second half of the seeds of one set, and all of another, ran on a slower machine
    slow = (trials["dataset"] == "b") | ((trials["dataset"] == "a") & (trials["seed"] > 2))
    trials["cpu"], trials["host"] = "Fast CPU", "one"
    trials.loc[slow, ["cpu", "host"]] = ["Slow <CPU>", "two"]
    trials.loc[slow, "fit_s"] *= 3
    write_report(write_results(tmp_path / "s", trials))
    return tmp_path / "s"


def test_the_summary_counts_every_answer_once(many):
    page = read_page(many / "report.html")
    data = json.loads(page.data)["chosen"]
    assert len(data["answers"]) == len(SETS) * len(BUDGETS)
    assert [problem["name"] for problem in data["problems"]] == ["a", "b", "<c>"]
    assert "method best on 1MB 10MB 100MB no limit" in page.text
    (wins,) = re.findall(
        r'class="sortable wins".*?</table>', (many / "report.html").read_text(), re.DOTALL
    )
    assert sum(map(int, re.findall(r"<strong>(\d+)</strong>", wins))) == 12


def test_few_answers_have_no_filter(tmp_path):
    write_report(write_results(tmp_path / "s", make_trials(SETS[:1], seeds=range(5))))
    page = read_page(tmp_path / "s" / "report.html")
    assert json.loads(page.data)["chosen"] is None
    assert "chosen-problem" not in page.ids


BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
BROWSER += ["--disable-background-networking", "--virtual-time-budget=20000", "--dump-dom"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_shows_what_is_chosen(many, tmp_path):
    path = many / "report.html"
    script = """<script>addEventListener("load", () => setTimeout(() => {
      document.getElementById("chosen-problem").value = "2";
      document.getElementById("chosen-budget").value = "1";
      document.getElementById("chosen-budget").dispatchEvent(new Event("change"));
    }, 2000));</script></body>"""
    path.write_text(script.join(path.read_text().rsplit("</body>", 1)))  # Vega has one too
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    done = subprocess.run(
        [*BROWSER, profile, path.as_uri()], capture_output=True, text=True, timeout=300, check=True
    )
    dom = re.sub(r"<script.*?</script>", "", done.stdout, flags=re.DOTALL)
    assert "1 of 12 answers" in dom
    answers = re.search(r'id="answers".*?</table>', dom, re.DOTALL)[0]
    assert answers.count("<td>&lt;c&gt;</td>") == 1
    cells = re.search(r'id="chosen-cells".*?</table>', dom, re.DOTALL)[0]
    assert cells.count("<td>&lt;c&gt;</td>") == 8
    assert dom.count("<h4>&lt;c&gt;</h4>") == 6
    assert "could not be drawn" not in dom
