import json
import re
import sys

import pytest
from click.testing import CliRunner

from harness import conformance
from harness.cli import main
from harness.cli.tables import print_table
from harness.conformance import Finding
from harness.jobs.workflow import Outcomes
from harness.planning import bundles
from harness.planning.job_files import study_bundles
from harness.planning.workload import load_workload
from harness.records.columns import COLUMNS, NEVER_NULL
from harness.records.journal import Journal
from harness.records.table_writer import write_table

FIXED_NAMES = {
    *("random", "prior", "oracle", "1nn", "svm", "linear-svm", "harmonic", "cmn", "clusk"),
    *("nysck", "rff-mssksc", "nystrom-krr", "budget-kmedoids"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def run(*arguments, status=0):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == status, result.output
        return result.output

    return run


def test_lists_are_tables_or_json(run):
    methods = json.loads(run("methods", "--json"))
    assert {method["name"] for method in methods} >= FIXED_NAMES
    assert all(method["tasks"] and method["plugin_sha256"] for method in methods)
    assert "nysck" in run("methods")
    datasets = json.loads(run("datasets", "--json"))
    assert {"a9a", "digits", "mnist"} <= {entry["name"] for entry in datasets}
    assert "breast_cancer" in run("datasets")
    plugins = json.loads(run("plugins", "--json"))
    assert all(not plugin["failure"] for plugin in plugins)


def test_findings_are_printed_as_they_come_and_alike_ones_once(run, monkeypatch, tmp_path):
    printed = []

    def check_file(file, names):
        for name in ("check_a", "check_b", "check_c"):
            yield Finding("m", name, "took its process down", "fails")
        yield Finding("m", "sizes")
        printed.append("passes" in sys.stdout.buffer.getvalue().decode())
        yield Finding("m", "search space")
        printed.append("passes" in sys.stdout.buffer.getvalue().decode())

    monkeypatch.setattr(conformance, "check_file", check_file)
    said = run("check", str(tmp_path), status=1)
    assert [line.split() for line in said.splitlines()] == [
        ["method", "check", "result", "advice"],
        ["m", "check_a", "and", "2", "more", "fails", "took", "its", "process", "down"],
        ["m", "sizes", "passes"],
        ["m", "search", "space", "passes"],
    ]
    assert printed == [False, True]
    assert len(json.loads(run("check", str(tmp_path), "--json", status=1))) == 5


def test_a_plan_before_anything_ran(run, folder):
    (folder / "plan.yaml").write_text(
        "datasets: [digits-odd]\n"
        "methods: [svm, clusk, budget-kmedoids]\n"
        "labeled: 40\n"
        "budgets: [1kB, 10MB, none]\n"
        "seeds: 7\n"
    )
    plan = json.loads(run("plan", "plan.yaml", "--json"))
    assert plan["trials"] == 2 * 3 * 7
    assert plan["done"] == 0
    cells = {(cell["method"], cell["budget"]): cell for cell in plan["cells"]}
    assert "the budget is 1 kB" in cells["clusk", "1kB"]["reason"]
    assert 0 < cells["clusk", "10MB"]["size"] < cells["clusk", "none"]["size"]
    assert cells["clusk", "10MB"]["planned_bytes"] <= 10_000_000
    assert [pair["method"] for pair in plan["left_out"]] == ["budget-kmedoids"]
    assert plan["untimed"] == ["svm on digits-odd", "clusk on digits-odd"]
    shown = run("plan", "plan.yaml")
    assert "42 trials in 2 jobs, 0 done, 42 to run" in shown
    assert "for workers to start, and the time of the trials\ntime not known" in shown
    assert "left out: budget-kmedoids on digits-odd: budget-kmedoids does clustering" in shown


def test_a_plan_and_the_bar_count_published_rows_without_their_journal(run, folder):
    text = "datasets: [wine]\nmethods: [prior, random]\nlabeled: 20\nseeds: 3\n"
    (folder / "part.yaml").write_text(text)
    workload = load_workload("part.yaml")
    block = workload.blocks[0]
    (bundle,) = study_bundles(workload)
    written = bundles.journal(workload, bundle)
    with Journal(written) as journal:
        for seed in block.seeds:
            said = dict.fromkeys(NEVER_NULL, "x") | {"outcome": "ok", "seed": seed}
            journal.append(said | {"fingerprint": f"{block.fingerprint}-{seed}"})
        journal.publish(bundles.published(workload, bundle))
    for _ in range(2):
        assert "6 trials in 1 job, 3 done, 3 to run" in run("plan", "part.yaml")
        assert Outcomes(workload).count() == {"ok": 3}
        written.unlink(missing_ok=True)


def test_a_plan_reads_the_rows_of_a_data_set_once_however_many_jobs_it_has(
    run, folder, monkeypatch
):
    text = "datasets: [wine]\nmethods: [prior, random]\nlabeled: 20\nseeds: 4\nseeds_per_job: 1\n"
    (folder / "cut.yaml").write_text(text)
    read = []
    monkeypatch.setattr(
        "harness.planning.workload.finished_rows",
        lambda *places, wanted: read.append(places) or {},
    )
    assert "8 trials in 8 jobs, 0 done" in run("plan", "cut.yaml")
    assert len(read) == 1


def test_the_parameters_of_one_method(run):
    rows = {row["parameter"]: row for row in json.loads(run("methods", "budget-svm", "--json"))}
    assert rows["C"]["default"] == "10.0"
    assert rows["C"]["allowed"] == "a number above 0"
    assert rows["C"]["meaning"] == "Weight of the loss."
    assert "to 10000, logarithmic" in rows["C"]["tuned over"]
    assert rows["selector"]["allowed"].startswith("'cssp', 'dbh', 'dbh-hierarchical'")
    assert "did you mean 'budget-svm'" in run("methods", "budget-smv", status=1)


def test_a_plan_says_what_is_not_bounded_not_answered_and_not_to_be_had(run, folder, monkeypatch):
    monkeypatch.delenv("HARNESS_MIRROR", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(folder / "no-cache"))
    (folder / "few.yaml").write_text(
        "datasets: [fashion_mnist]\n"
        "methods: [svm, 1nn, budget-svm]\n"
        "labeled: 40\n"
        "budgets: 10 landmarks\n"
        "published: [castellanos2021/table5-1, castellanos2021/table5-2, hou2017/table3]\n"
    )
    shown = run("plan", "few.yaml")
    without = "castellanos2021/table5-1, hou2017/table3\n"
    assert f"printed tables with no data set and method of the study: {without}" in shown
    assert "not bounded by budgets of landmarks, since they have none: svm, 1nn\n" in shown
    assert "images-idx3-ubyte has no address to download it from; put it at" in shown


@pytest.mark.parametrize("command", ["plan", "run"])
def test_there_is_at_least_one_core(run, command):
    assert "0 is not in the range x>=1" in run(command, "any", "--cores", "0", status=2)


def test_mistakes_are_one_message(run, folder):
    assert "no study 'absent'" in run("plan", "absent", status=1)
    (folder / "wrong.yaml").write_text("datasets: [digits]\nmethods: [svmm]\nlabeled: 20\n")
    output = run("plan", "wrong.yaml", status=1)
    assert "unknown method 'svmm'; did you mean 'svm'?" in output
    assert "Traceback" not in output
    (folder / "good.yaml").write_text("datasets: [digits]\nmethods: [svm]\nlabeled: 20\n")
    absent = f"{folder}/results/good/trials.parquet: no results yet; run the study first"
    for command in (["show", "good.yaml"], ["reproduce", "good.yaml", "0"]):
        assert absent in run(*command, status=1)
    lacking = run("compare", "good.yaml", "hou2017/table3", status=1)
    assert f"{folder}/results/good: no report without trials.parquet" in lacking


def test_results_of_another_study_of_the_same_name_are_told_as_such(run, folder):
    (folder / "other").mkdir()
    for name, dataset in (("twice.yaml", "wine"), ("other/twice.yaml", "iris")):
        text = f"datasets: [{dataset}]\nmethods: [prior]\nlabeled: 20\n"
        (folder / name).write_text(text)
    results = folder / "results" / "twice"
    results.mkdir(parents=True)
    (results / "study.yaml").write_text(text)
    write_table([dict.fromkeys(COLUMNS)], results / "trials.parquet")
    told = "results/twice holds the results of results/twice/study.yaml, not of twice.yaml"
    for command, *more in (["show"], ["compare", "hou2017/table3"], ["reproduce", "9"]):
        result = CliRunner().invoke(main, [command, "twice.yaml", *more])
        assert result.stderr.startswith(told)
        assert told not in result.stdout
    assert "holds the results" not in run("show", "other/twice.yaml")


def test_a_row_of_a_table_is_one_line_where_nothing_has_a_width(capsys):
    print_table([{"a": "word " * 500 + "\nand more", "b": 1}], ["a", "b"])
    _, row = capsys.readouterr().out.splitlines()
    assert "and more" in row


@pytest.mark.parametrize(
    ("width", "left_out"), [(52, "peak bytes, seconds"), (64, "seconds"), (80, "")]
)
def test_a_terminal_leaves_out_what_is_expendable_and_says_so(
    capsys, monkeypatch, width, left_out
):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    row = {"name": "x" * 20, "peak bytes": 393216, "seconds": 0.25, "reason": "word " * 30}
    print_table([row], list(row), expendable=["seconds", "peak bytes"])
    printed = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    table, _, told = printed.partition("left out for want of width: ")
    assert all(len(line) <= width for line in table.splitlines())
    assert "x" * 20 in table
    assert ("393216" in table) == ("peak" not in left_out)
    assert told.startswith(left_out)


@pytest.mark.parametrize(("width", "numbered"), [(48, True), (100, False)])
def test_sentences_that_do_not_fit_stand_below(capsys, monkeypatch, width, numbered):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    sentences = ["needs more than there is of it", "", "needs more than there is of it", "-"]
    rows = [{"name": "x" * 20, "budget": "3MB", "reason": reason} for reason in sentences]
    rows.append(rows[0] | {"reason": "another sentence, and a longer one than that " * 3})
    print_table(rows, list(rows[0]), expendable=["budget"], footnotes=["reason"])
    printed = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    lines = [line.rstrip() for line in printed.splitlines()]
    assert max(map(len, lines)) <= width
    if not numbered:
        assert "[1]" not in printed
        return
    assert [line.split()[-1] for line in lines[1:6]] == ["[1]", "3MB", "[1]", "-", "[2]"]
    assert lines[6] == "[1] needs more than there is of it"
    assert lines[7].startswith("[2] another sentence, and")
    assert lines[8].startswith("    ")


def test_the_doctor_tells_what_is_used_and_why(run):
    assert "used by default" in run("doctor")
    reports = json.loads(run("doctor", "--json"))
    assert reports[0]["name"] == "cgroup-v2"
    assert any(report["available"] for report in reports)
