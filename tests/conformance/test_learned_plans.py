"""A method without a storage model is checked by what a study would learn of it."""

import re
from dataclasses import replace

import pytest

from harness.conformance import check_file, kit
from harness.conformance.learned_plans import learned_workloads
from harness.conformance.measured_storage import is_honest
from harness.planning.learned.model import is_learned
from harness.plugin.registry import FileSource, load_plugin
from harness.sandbox import Sandbox, backends
from harness.trial.warm_up import warm_up

pytestmark = pytest.mark.skipif(
    not any(report.available and report.name != "watch" for report in backends()),
    reason="nothing here measures a peak",
)

PLUGIN = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, hookimpl


class Nearest(ClassifierMixin, BaseEstimator):
    def __init__(self, rank=10):
        self.rank = rank

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        known = y >= 0
        self.classes_ = np.unique(y[known])
        self.held_ = np.ones((len(X), self.rank))
        self.means_ = np.array([X[y == code].mean(axis=0) for code in self.classes_])
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        gaps = [((X - mean) ** 2).sum(axis=1) for mean in self.means_]
        return self.classes_[np.argmin(gaps, axis=0)]


@hookimpl
def harness_methods():
    yield Method("unmeasured", Nearest, size="rank", sizes=lambda shape: (1, 400))
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes the plugin with an edit."""
    monkeypatch.setattr(kit, "sklearn_checks", lambda method: [])

    def write(old="", new=""):
        assert old in PLUGIN
        path = tmp_path / "unmeasured.py"
        path.write_text(PLUGIN.replace(old, new) if old else PLUGIN)
        return path

    return write


@pytest.mark.memory
def test_its_plans_are_held_against_other_points(written):
    findings = {finding.check: finding for finding in check_file(written())}
    assert {f.check: f.advice for f in findings.values() if f.result == "fails"} == {}
    assert findings["storage honest"].result == "passes"
    assert "taken again at less" in findings["smallest budget"].advice
    told = findings["peak"].advice
    found = re.search(r"^(\d+\.?\d*) MB of (\d+\.?\d*) MB planned, in fit, most at (.*)$", told)
    assert found, told
    assert 0.8 <= float(found[1]) / float(found[2]) <= 1.05
    # rows of a class are copied while the rest is held
    assert re.match(r"unmeasured.py, line \d+: self.means_ = ", found[3])


@pytest.mark.memory
def test_trials_that_hold_more_than_was_learned_are_told(written, tmp_path):
    path = written()
    (method,) = load_plugin(FileSource("unmeasured", str(tmp_path), path)).provided["methods"]
    warm_up()
    with Sandbox() as sandbox:
        known, chosen = learned_workloads(method, "binary", sandbox, tmp_path, 60)
        assert is_learned(known)
        assert len({(trial.shape, trial.plan.planned_bytes) for trial in chosen}) == 3
        assert all(trial.plan.planned_bytes <= trial.budget for trial in chosen)
        less = [
            replace(one, plan=replace(one.plan, planned_bytes=one.plan.planned_bytes // 2))
            for one in chosen
        ]
        advice = is_honest(known, "binary", sandbox, tmp_path, 60, less)
    assert "depends on more than the shape: write a `storage`" in advice
    assert float(re.search(r"(\d+\.\d+) of the", advice)[1]) > 1.05


def test_a_fit_that_fails_on_many_points_cannot_be_learned(written):
    line = "        known = y >= 0\n"
    path = written(line, line + "        assert len(X) < 300, 'too many'\n")
    failed = {f.check: f.advice for f in check_file(path) if f.result == "fails"}
    assert list(failed) == ["storage honest"]
    assert failed["storage honest"].startswith("its storage cannot be learned: a trial with n = ")
    assert "AssertionError: too many" in failed["storage honest"]
