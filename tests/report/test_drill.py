"""From a cell to its seeds, from a method to its paper: what the page carries, and its links."""

import base64
import gzip
import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from browser import needs_browser, opened, shown
from parsed_page import read_page
from synthetic_trials import bad_endings, make_trials, write_results

from harness.report import page_rows, write_report
from harness.report.page_rows import logs_of_blocks, pack_rows
from harness.report.results import read_results

SETS = (("one", "binary"), ("two", "regression"))
DTYPES = {"Float32Array": "<f4", "Int32Array": "<i4", "Uint8Array": "u1"}


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    trials = make_trials(SETS, outcome=bad_endings)
    cells = trials.groupby(["dataset", "method", "budget"], sort=False).ngroup()
    named = zip(cells, trials["seed"], strict=True)
    trials["fingerprint"] = [f"{cell:012x}-{seed}" for cell, seed in named]
    trials["brier_score"] = (1e-4 + 1e-6 * trials["seed"]).where(trials["dataset"] == "one")
    plugin = {"method": "nysck", "path": "plugins/nysck", "reference": "hou2017"}
    provenance = {"study": "drilled", "plugins": [plugin]}
    directory = tmp_path_factory.mktemp("drill") / "s"
    # a seed that was run later stands before the others
    trials = trials.sort_values("seed", key=lambda seed: seed != 4, kind="stable")
    write_results(directory, trials, provenance=provenance)
    for name in ("jobs/one/j1.json", "logs/one/j1.log"):
        (directory / name).parent.mkdir(parents=True)
    blocks = [
        {"fingerprint": f"{cell:012x}"} for cell in sorted(set(cells[trials["dataset"] == "one"]))
    ]
    (directory / "jobs/one/j1.json").write_text(json.dumps({"blocks": blocks}))
    (directory / "logs/one/j1.log").write_text("")
    write_report(directory)
    return directory


def unpacked(packed):
    content = gzip.decompress(base64.b64decode(packed["bytes"]))
    return {
        name: np.frombuffer(content, DTYPES[kind], packed["n"], at)
        for name, kind, at in packed["columns"]
    }


def test_every_trial_is_in_the_page_under_its_cell(reported):
    packed = json.loads(read_page(reported / "report.html").data)["rows"]
    columns = unpacked(packed)
    trials = pd.read_parquet(reported / "trials.parquet")
    assert packed["n"] == len(trials)
    ends = [*packed["starts"][1:], packed["n"]]
    for start, end, cell in zip(packed["starts"], ends, packed["cells"], strict=True):
        problem, budget, method, _, block = cell
        for at in range(start, end):
            row = trials.iloc[columns["row"][at]]
            assert (row["dataset"], row["budget"], row["method"]) == (problem, budget, method)
            assert row["fingerprint"] == f"{block}-{columns['seed'][at]}"
            assert packed["outcomes"][columns["outcome"][at]] == row["outcome"]
            assert packed["reasons"][columns["reason"][at]] == row["reason"]
            metric = "auc" if problem == "one" else "nmse"
            assert columns[metric][at] == pytest.approx(row[metric], rel=4e-6, nan_ok=True)
            peak = np.nan if pd.isna(row["peak_bytes"]) else row["peak_bytes"]
            assert columns["peak_bytes"][at] == pytest.approx(peak, rel=1.3e-4, nan_ok=True)


def test_more_trials_than_a_page_bears_stand_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr(page_rows, "MOST_ROWS", 10)
    directory = write_results(tmp_path / "s", make_trials(SETS))
    assert pack_rows(read_results(directory)) is None
    write_report(directory)
    assert json.loads(read_page(directory / "report.html").data)["rows"] is None


def test_a_damaged_job_tells_of_no_log(tmp_path):
    for name, text in (("a", "{"), ("b", "[]"), ("c", '{"blocks": [{"fingerprint": "f"}]}')):
        path = tmp_path / "jobs" / "one" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert logs_of_blocks(tmp_path) == {}
    (tmp_path / "logs" / "one").mkdir(parents=True)
    (tmp_path / "logs" / "one" / "c.log").write_text("")
    assert logs_of_blocks(tmp_path) == {"f": ["logs/one/c.log"]}


def link_of(page, method, budget):
    """The address of a cell in the table of means."""
    table = re.search(r'id="means".*?</table>', page, re.DOTALL)[0]
    row = next(
        row
        for row in table.split("<tr")
        if f">{budget}</td>" in row and f">{method}</a>" in row and "<td>one</td>" in row
    )
    return re.search(r'href="#([^"]+)"', row)[1]


@needs_browser
@pytest.mark.slow
def test_a_cell_leads_to_its_seeds_log_and_command(reported):
    page = (reported / "report.html").read_text()
    document = shown(reported / "report.html", at=link_of(page, "nysck", "10MB"))
    dialog = opened(document)
    text = html.unescape(re.sub(r"<.*?>", " ", dialog))
    assert "nysck on one, 10MB" in text
    trials = pd.read_parquet(reported / "trials.parquet")
    mine = trials[(trials["method"] == "nysck") & (trials["budget"] == "10MB")]
    for row in mine[mine["dataset"] == "one"].itertuples():
        assert f"harness reproduce drilled {row.fingerprint}" in text
        assert f"{row.auc:.4f}" in text
        assert f"{row.brier_score:.7f}" in text
    seeds = [int(seed) for seed in re.findall(r"reproduce drilled \w+-(\d+)", text)]
    assert seeds == sorted(seeds)
    assert 'href="logs/one/j1.log"' in dialog
    assert "Copy as CSV" in dialog


@needs_browser
@pytest.mark.slow
def test_a_method_leads_to_its_paper_and_an_outcome_to_its_trials(reported):
    text = opened(shown(reported / "report.html", at="method=nysck"))
    assert "Storage Fit Learning with Unlabeled Data" in text
    assert "plugins/nysck" in text
    dialog = opened(shown(reported / "report.html", at="outcome=over_budget"))
    trials = pd.read_parquet(reported / "trials.parquet")
    n = int((trials["outcome"] == "over_budget").sum())
    assert f"{n} trials." in dialog
    assert dialog.count("<tr>") == n + 1
    nothing = opened(shown(reported / "report.html", at="cell=999999"))
    assert "There is no such thing on this page" in nothing


@needs_browser
@pytest.mark.slow
def test_choices_stand_in_the_address_and_tables_are_copied(reported):
    script = """
      const kept = [];
      navigator.clipboard.writeText = async (text) => kept.push(text);
      const metric = document.getElementById("metric");
      metric.value = "accuracy";
      metric.dispatchEvent(new Event("change"));
      document.querySelector('.legend [data-method="svm"]').click();
      const bar = document.getElementById("means").closest(".scroll").nextElementSibling;
      for (const button of bar.querySelectorAll("button")) button.click();
      document.getElementById("wanted").value = "0.1";
      document.getElementById("wanted").dispatchEvent(new Event("input"));
      await new Promise((resume) => setTimeout(resume, 3000));
      const said = document.createElement("pre");
      said.id = "said";
      said.textContent = JSON.stringify([location.hash, ...kept]);
      document.body.append(said);
    """
    document = shown(reported / "report.html", script=script)
    said = re.search(r'<pre id="said">(.*?)</pre>', document, re.DOTALL)[1]
    address, csv, latex = json.loads(html.unescape(said))
    assert "metric=accuracy" in address
    assert "svm" not in address.partition("methods=")[2]
    assert "accuracy (higher is better)" in document
    trials = pd.read_parquet(reported / "trials.parquet")
    rows = trials.groupby(["dataset", "method", "budget"]).ngroups
    assert len(csv.splitlines()) == rows + 1
    assert csv.startswith("data set,budget,method,metric,mean [95 % interval],std,rank,seeds")
    assert latex.count(" \\\\\n") == rows + 1
    assert "\\begin{tabular}{llllrrrlrrrr}" in latex
    assert "95 \\% interval" in latex
    answer = re.search(r'<output id="wanted-answer".*?</output>', document)[0]
    assert re.search(r"[\d.]+ [kM]B \(\S+ at 1MB\); at least", answer)
