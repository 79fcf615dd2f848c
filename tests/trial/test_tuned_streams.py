"""Parameters that are tuned on the first part of points that come a part at a time."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from harness import Method, Shape, choice
from harness.datasets.streams import draw_stream
from harness.jobs.label_release import LabelRelease
from harness.planning.size import plan
from harness.plugin.hookspecs import Search
from harness.plugin.registry import Registry
from harness.sandbox import Monitor
from harness.study.schema import Tuning
from harness.trial.generated import assign
from harness.trial.run import run_trial

RULES = {"prequential": True, "chunk": 60, "delay": 1, "order": "drawn", "points": None}
TUNING = Tuning(search="every", trials=5, folds=3, standard_errors=0)


class Noted(ClassifierMixin, BaseEstimator):
    """Knows the sign of one feature, or its opposite; notes what it is shown."""

    taught = ()

    def __init__(self, right=False):
        self.right = right

    def partial_fit(self, X, y, classes=None):
        self.classes_ = classes
        self.sign_ = getattr(self, "sign_", 0) + np.sum(np.sign(X[:, 0]) * (2 * y - 1.0))
        type(self).taught += ((self.right, X[:, 1].tolist()),)
        return self

    def decision_function(self, X):
        return X[:, 0] * np.sign(self.sign_) * (1 if self.right else -1)


def every(space, evaluate, trials, rng):
    evaluate([{"right": True}, {"right": False}])


class Sink:
    def event(self, kind, **facts):
        pass

    def array(self, name, array):
        pass


METHOD = Method(
    *("noted", Noted, lambda shape, size: 0),
    space={"right": choice([False, True])},
    uses_unlabeled=False,
)
ASKED = {"tuning": TUNING, "search": Search("every", every)}


@pytest.fixture
def assignment(tmp_path, monkeypatch):
    """Points whose label is the sign of a feature; the other feature is their row."""
    monkeypatch.setattr(Noted, "taught", ())
    made = assign(METHOD, "binary", Shape(300, 0, 2, 2, n_test=40), None, tmp_path, True)
    X = np.column_stack([np.random.default_rng(1).normal(size=340), np.arange(340)])
    np.save(made.features, X)
    labels = (X[made.labeled, 0] > 0).astype(int)
    return replace(made, y_labeled=labels, **ASKED), X


def monitor():
    return Monitor(Sink(), None, None, -1)


def shown(taught):
    return {int(row) for _, rows in taught for row in rows}


def test_streamed_points_are_searched_on_their_first_part(assignment):
    made, _ = assignment
    facts, _ = run_trial(replace(made, part=64), monitor())
    assert facts["params"]["right"] is True
    assert facts["tuned_score"] == 1
    searched, learned = Noted.taught[:6], Noted.taught[6:]  # two settings, three folds
    assert shown(searched) == set(made.labeled[:64].tolist())
    assert shown(learned) == set(made.labeled.tolist())
    assert {right for right, _ in learned} == {True}


def test_a_stream_is_searched_on_the_told_labels_of_its_first_chunk(assignment):
    made, X = assignment
    stream, told = draw_stream(300, 150, RULES, np.random.default_rng(5))
    y = (X[stream.rows, 0] > 0).astype(np.int8)
    y[~told] = -1
    nothing = made.labeled[:0]
    changes = {"labeled": nothing, "y_labeled": nothing, "test": stream.scored}
    made = replace(made, **changes, part=stream.chunk, stream=stream)
    release = LabelRelease(stream, y, 2)
    ours = release.open()

    def serve():
        while release.waited:
            release.serve()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        facts, _ = run_trial(replace(made, dialogue=ours.fileno()), monitor())
    finally:
        ours.close()
        thread.join()
    assert not release.refused
    assert facts["params"]["right"] is True
    assert shown(Noted.taught[:6]) == set(stream.rows[:60][told[:60]].tolist())
    assert shown(Noted.taught) == set(stream.rows[: 60 * 4][told[: 60 * 4]].tolist())


def test_a_first_part_that_tells_nothing_leaves_the_defaults(assignment):
    made, _ = assignment
    facts, _ = run_trial(
        replace(made, y_labeled=np.zeros_like(made.y_labeled), part=64), monitor()
    )
    assert facts["params"]["right"] is False


@pytest.mark.parametrize("tuned", [False, True])
def test_what_a_search_needs_does_not_grow_with_the_points(tuned):
    for name in ("nystrom-krr", "fogd", "bsgd"):
        method = Registry.load(()).get("methods", name)[0]
        plans = [
            plan(
                method,
                Shape(n, 0, 10, 2, n_test=5000, part=1024),
                None,
                {method.size: 100},
                space=method.space if tuned else {},
            )
            for n in (20_000, 10_000_000)
        ]
        assert plans[0].planned_bytes == plans[1].planned_bytes, name
