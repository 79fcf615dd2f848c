"""`harness storage`: what a method would hold."""

import json

from click.testing import CliRunner

from harness.cli.main import main


def storage(*words):
    return CliRunner().invoke(main, ["storage", *words])


def test_the_largest_phase_fits_the_budget_and_one_landmark_more_would_not():
    told = storage("nysck", "--budget", "10MB", "--json")
    phases = json.loads(told.stdout)
    largest = max(phase["bytes"] for phase in phases)
    assert largest <= 10_000_000
    assert all(phase["bytes"] == sum(phase["arrays"].values()) for phase in phases)
    page = storage("nysck", "--budget", "10MB").stdout
    size = int(page.rsplit("n_landmarks = ", 1)[1].split()[0])
    more = json.loads(storage("nysck", "--size", str(size + 1), "--json").stdout)
    assert max(phase["bytes"] for phase in more) > largest
    assert page.endswith("most in fit: eigensystem\n")
    assert max(map(len, page.splitlines())) <= 80


def test_what_cannot_be_answered_is_told_in_one_sentence():
    for words, told in [
        (["no-such-method"], "no-such-method"),
        (["laprls", "--budget", "1kB"], "the budget is 1 kB"),
        (["svm", "--n", "5", "--labeled", "6"], "give at most 5"),
        (["svm", "--budget", "many"], "many"),
    ]:
        result = storage(*words)
        assert result.exit_code, words
        assert told in result.stderr
        assert "Traceback" not in result.output
