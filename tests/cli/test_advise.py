"""`harness advise`: an answer to bet on, and a study that tries it."""

import json

import pytest
import yaml
from terminal import WIDTH, printed, widest

from harness.planning.block_plans import block_plans
from harness.planning.workload import load_workload

ASKED = ("advise", "--n", "5000", "--d", "50", "--labeled", "500", "--budget", "5MB")

PLUGIN = '''
from sklearn.svm import LinearSVC
from harness import Method, hookimpl


@hookimpl
def harness_methods():
    """A method that no study has."""
    yield Method("brand-new", LinearSVC, lambda shape, size: 50_000, tasks={"binary"})
'''


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A folder for all tests here: in a new one plugins are described again, in seconds."""
    return tmp_path_factory.mktemp("advice")


@pytest.fixture(autouse=True)
def folder(shared, monkeypatch):
    """An empty one, but for what can be made again."""
    monkeypatch.chdir(shared)
    return shared


def test_a_table_of_80_columns_the_best_first():
    shown = printed(*ASKED)
    assert "exit status" not in shown
    assert widest(shown) <= WIDTH
    assert "nearest data sets" in shown
    assert "by a formula above trials that were measured" in " ".join(shown.split())


def test_sizes_are_those_that_a_study_plans(folder):
    """And the study that is written runs: its data set is one of the catalog."""
    shape = ("--dataset", "breast_cancer", "--labeled", "50", "--budget", "3MB", "--test", "100")
    told = json.loads(
        printed("advise", *shape, "--json", "-o", "studies/try.yaml").partition("\n")[2]
    )
    study = yaml.safe_load((folder / "studies" / "try.yaml").read_text())
    assert (
        study["methods"] == [row["method"] for row in told["methods"] if row["planned_bytes"]][:5]
    )
    workload = load_workload("try")
    planned = {
        block.method.name: (made.plan.size, made.plan.planned_bytes)
        for block, made in zip(workload.blocks, block_plans(workload), strict=True)
    }
    advised = {row["method"]: (row["size"], row["planned_bytes"]) for row in told["methods"]}
    assert planned == {name: advised[name] for name in study["methods"]}


def test_a_method_of_ones_own_is_listed_and_nothing_is_claimed_of_it(folder):
    (folder / "own").mkdir()
    (folder / "own" / "own.py").write_text(PLUGIN)
    told = json.loads(printed(*ASKED, "--json", "--plugins", "own").partition("\n")[2])
    (row,) = [row for row in told["methods"] if row["method"] == "brand-new"]
    assert (row["score"], row["datasets"], row["planned_bytes"] > 0) == (None, 0, True)


def test_a_budget_that_bears_nothing_names_what_needs_least():
    shown = printed(
        "advise", "--n", "100000", "--d", "5000", "--labeled", "5000", "--budget", "1MB"
    )
    assert "none is known to fit; needing least," in " ".join(shown.split())
    assert "the budget is 1 MB" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--n", "100"), "give --d, or --dataset NAME"),
        (("--n", "9", "--d", "3", "--labeled", "20"), "20 of 9 points: give at most 9"),
        (("--n", "9", "--d", "3", "--labeled", "1"), "1: give at least 2"),
        (("--n", "9", "--d", "3", "--classes", "1"), "1: give 2 or more, or 0 for regression"),
        (("--n", "9", "--d", "3", "--metric", "acuracy"), "did you mean 'accuracy'?"),
        (("--dataset", "bresat_cancer"), "did you mean 'breast_cancer'?"),
        (("--n", "9", "--d", "3", "--budget", "20 M B"), "is not bytes"),
    ],
)
def test_mistakes(words, message):
    shown = printed("advise", "--budget", "3MB", *words)
    assert message in " ".join(shown.split())
    assert "exit status" in shown
