"""Plugins that are broken in one place each: the example that `harness new` writes, edited."""

import functools

import pytest

from harness.cli.new_method import write_method
from harness.conformance import check_file, kit
from harness.conformance.finding import FAILS
from harness.trial.warm_up import warm_up

warm_up_once = functools.cache(warm_up)


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """The example as it is written, for both tasks."""
    return write_method("example", tmp_path_factory.mktemp("plugins"))


@pytest.fixture(scope="session")
def example_findings(written):
    """All that the kit finds in the example."""
    return list(check_file(written))


@pytest.fixture
def example(tmp_path, written):
    """Return a function that writes the example for the binary task, with edits."""

    def write(edits):
        text = written.read_text().replace('{"binary", "multiclass"}', '{"binary"}')
        for old, new in edits.items():
            assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
            text = text.replace(old, new)
        path = tmp_path / "example.py"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def checked(example, monkeypatch):
    """Return a function that edits the example and returns the findings of a result, by check.

    Without scikit-learn's checks, which take half of the time, unless they are asked for. Where
    only one check is asked for, those that do not lead to it are left out.
    """

    def run(edits=None, measure=False, seconds=10.0, scikit_learn=False, only=None, result=FAILS):
        if not scikit_learn:
            monkeypatch.setattr(kit, "sklearn_checks", lambda method: [])
        monkeypatch.setattr(kit, "warm_up", warm_up_once)
        if only is not None:
            for checks in ("CHECKS", "INPUTS"):
                kept = {name: c for name, c in getattr(kit, checks).items() if name == only}
                monkeypatch.setattr(kit, checks, kept)
            for check in ("split_fit_agrees", "steps_agree", "is_permutation_equivariant",
                          "is_shift_invariant"):  # fmt: skip
                monkeypatch.setattr(kit, check, lambda method, problem: "")
        findings = check_file(example(edits or {}), seconds=seconds, measure=measure)
        return {f.check: f.advice for f in findings if f.result == result}

    return run
