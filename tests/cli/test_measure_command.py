"""`harness measure`, and methods whose storage is learned, on the command line."""

import json
import re

import pytest
from click.testing import CliRunner

from harness.cli.main import main

PLUGIN = """
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from harness import hookimpl, sklearn_method

@hookimpl
def harness_methods():
    yield sklearn_method(GaussianNB, "bayes", tasks={"binary"})
"""


def run(*words):
    return CliRunner().invoke(main, words)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a plugin that has no storage model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "foreign.py").write_text(PLUGIN)
    return tmp_path


@pytest.mark.slow
def test_peaks_formula_and_a_storage_model_to_paste(project):
    before = run("storage", "bayes")
    assert before.exit_code
    assert "nothing of it is measured yet: harness measure bayes" in before.stderr

    first = run("measure", "bayes", "--n", "400", "--json")
    assert first.exit_code == 0, first.output
    (told,) = json.loads(first.stdout)
    assert told["method"] == "bayes"
    assert {run["outcome"] for run in told["measured"]} == {"ok"}
    assert {run["type"] for run in told["measured"]} == {"float32", "float64"}
    assert len({run["d"] for run in told["measured"]}) == 2
    assert all(factor > 0 for terms in told["terms"].values() for factor in terms.values())
    compile(told["storage"], "pasted", "exec")

    (kept,) = (project / ".harness" / "storage").glob("*.json")
    written = kept.read_bytes()
    again = run("measure", "plugins/foreign.py", "--n", "400")
    assert again.exit_code == 0, again.output
    assert kept.read_bytes() == written
    assert again.stdout.startswith("bayes: ")
    assert "def storage(shape, size):" in again.stdout

    phases = json.loads(run("storage", "bayes", "--n", "400", "--d", "20", "--json").stdout)
    # Peaks of a few hundred kilobytes may differ by some pages from run to run.
    assert re.fullmatch(
        r"fit: (measured|extrapolated)(, peaks differ by \d+%)?", phases[0]["phase"]
    )
    assert run("storage", "bayes", "--n", "100000", "--labeled", "90000").stdout.count(
        "extrapolated"
    )


def test_what_cannot_be_measured_is_told_in_one_sentence(project):
    (project / "broken.py").write_text("import nothing_there")
    (project / "empty.py").write_text("")
    for words, told in [
        (["no-such-method"], "no-such-method"),
        (["broken.py"], "No module named 'nothing_there'"),
        (["empty.py"], "provides no method"),
        (["plugins/foreign.py", "--method", "naive"], "known: bayes"),
    ]:
        result = run("measure", *words)
        assert result.exit_code, words
        assert told in result.output
        assert "Traceback" not in result.output
