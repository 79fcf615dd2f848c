"""Trials that are given their points a part at a time."""

import itertools
import socket
import threading
from dataclasses import replace

import numpy as np
import online_kernels
import pytest
import tabular
from scipy.sparse import load_npz
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDRegressor

from harness import Method, Shape, sklearn_method
from harness.datasets.item_types import ItemType
from harness.datasets.streams import draw_stream
from harness.jobs.label_release import LabelRelease
from harness.sandbox import Monitor
from harness.trial.generated import assign
from harness.trial.run import make_estimator, run_trial
from harness.trial.streaming import LabelsWithheldError, Reader, label_type, part_bytes

METHODS = {m.name: m for m in (*online_kernels.harness_methods(), *tabular.harness_methods())}
METHODS["sgd-regressor"] = sklearn_method(SGDRegressor, "sgd-regressor")
RULES = {"prequential": True, "chunk": 50, "delay": 0, "order": "drawn", "points": None}


class Sent:
    def __init__(self):
        self.arrays = {}

    def event(self, kind, **facts):
        pass

    def array(self, name, array):
        self.arrays.setdefault(name, []).append(array.copy())


def monitor(sent=None):
    return Monitor(sent or Sent(), None, None, -1)


def streamed(method, folder, task="binary", n=330, labeled=0, size=20, **rules):
    """Return a trial on a stream, and what tells its labels."""
    shape = Shape(n, 0, 4, 0 if task == "regression" else 2)
    made = assign(method, task, shape, size if method.size else None, folder)
    truth = np.empty(n)
    truth[made.labeled] = made.y_labeled
    stream, told = draw_stream(n, labeled, RULES | rules, np.random.default_rng(5))
    y = truth[stream.rows].astype(float if task == "regression" else np.int8)
    y[~told] = np.nan if task == "regression" else -1
    nothing = made.labeled[:0]
    changes = {"labeled": nothing, "y_labeled": truth[:0], "test": stream.scored}
    made = replace(made, **changes, transductive=False, part=stream.chunk, stream=stream)
    return made, LabelRelease(stream, y, 2), y


def run(assignment, release):
    """Run a trial here, while another thread tells labels."""
    ours = release.open()

    def serve():
        while release.waited:
            release.serve()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        return run_trial(replace(assignment, dialogue=ours.fileno()), monitor())
    finally:
        ours.close()
        thread.join()


@pytest.mark.parametrize("name", ["rbp", "bsgd", "sgd", "sgd-regressor"])
@pytest.mark.parametrize("rules", [{}, {"labeled": 0.3}, {"delay": 2, "labeled": 60}])
def test_it_is_the_loop_written_out(tmp_path, name, rules):
    """Predict a chunk, then learn from the labels that are told, so many chunks late."""
    task = "regression" if name == "sgd-regressor" else "binary"
    assignment, release, y = streamed(METHODS[name], tmp_path, task, **rules)
    facts, _ = run(assignment, release)
    assert not release.refused
    X, stream, late = np.load(assignment.features), assignment.stream, rules.get("delay", 0)
    seed = int(np.random.SeedSequence(0).spawn(2)[1].generate_state(1)[0])
    machine = make_estimator(
        assignment.method,
        {},
        size=assignment.size,
        n_classes=assignment.n_classes,
        random_state=seed,
    )
    blocks = [slice(start, start + 50) for start in range(0, len(y), 50)]
    known = ~np.isnan(y) if task == "regression" else y != -1
    first = y[:50][known[:50]]
    center, scale = (first.mean(), first.std()) if task == "regression" else (0, 1)
    expected = []
    for number, block in enumerate(blocks):
        if number > late:
            ask = machine.predict if task == "regression" else machine.decision_function
            expected.append(ask(X[stream.rows[block]]) * scale + center)
        if number >= late:
            taught = np.arange(len(y))[blocks[number - late]]
            taught = taught[known[taught]]
            classes = {} if task == "regression" else {"classes": [0, 1]}
            if len(taught):
                values = (y[taught] - center) / scale if task == "regression" else y[taught]
                machine.partial_fit(X[stream.rows[taught]], values, **classes)
    found = release.predictions()
    kind = "values" if task == "regression" else next(n for n in found if n != "labels")
    np.testing.assert_allclose(found[kind], np.concatenate(expected), rtol=1e-12)
    assert len(found[kind]) == len(stream.scored) == len(y) - 50 * (1 + late)
    assert [number for number, _ in release.points] == list(range(1 + late, len(blocks)))
    assert facts["end"] is None


class Watching(ClassifierMixin, BaseEstimator):
    """Looks, whenever it is asked something, for what it can read of the labels to come."""

    seen = ()
    descriptor = -1

    def partial_fit(self, X, y, classes=None):
        self.classes_ = classes
        self._peek()
        return self

    def decision_function(self, X):
        self._peek()
        return np.zeros(len(X))

    def _peek(self):
        with socket.socket(fileno=socket.dup(self.descriptor)) as end:
            try:
                type(self).seen += (end.recv(1 << 16, socket.MSG_DONTWAIT),)
            except BlockingIOError:
                type(self).seen += (None,)


def watching(estimator=Watching):
    return Method("watching", estimator, lambda shape, size: 0, uses_unlabeled=False)


def test_a_method_that_peeks_at_labels_gets_none(tmp_path, monkeypatch):
    assignment, release, _ = streamed(watching(), tmp_path)
    monkeypatch.setattr(Watching, "seen", ())
    ours = release.open()
    monkeypatch.setattr(Watching, "descriptor", ours.fileno())
    monkeypatch.setattr(release, "open", lambda: ours)
    run(assignment, release)
    assert len(Watching.seen) > assignment.stream.n_chunks
    assert set(Watching.seen) == {None}


class Short(Watching):
    """Hands in less than it is asked for, to be told labels all the same."""

    def decision_function(self, X):
        return np.zeros(len(X))

    def _peek(self):
        pass


@pytest.mark.parametrize("given", [[], [3], [50, 1], [51]])
def test_what_is_not_the_predictions_of_a_chunk_gets_no_labels(tmp_path, monkeypatch, given):
    assignment, release, _ = streamed(watching(Short), tmp_path)
    parts = [{"labels": np.zeros(n, np.int64)} for n in given]
    monkeypatch.setattr("harness.trial.streaming._predicted", lambda *_: iter(parts))
    with pytest.raises(LabelsWithheldError, match="its predictions were not accepted"):
        run(assignment, release)
    assert "where it has 50 points" in release.refused
    assert not release.chunks


def test_nothing_is_told_for_more_than_predictions(tmp_path, monkeypatch):
    assignment, release, _ = streamed(watching(Short), tmp_path)
    flood = ({"labels": np.zeros(1 << 16)} for _ in itertools.count())
    monkeypatch.setattr("harness.trial.streaming._predicted", lambda *_: flood)
    with pytest.raises(Exception, match=r"Broken pipe|reset by peer"):
        run(assignment, release)
    assert release.refused.startswith("chunk 2: more came than the predictions of a chunk")


@pytest.mark.parametrize("name", ["projectron", "fogd", "sgd", "sgd-regressor"])
def test_streamed_points_are_learned_once_a_part_at_a_time(tmp_path, name):
    task = "regression" if name == "sgd-regressor" else "binary"
    classes = 0 if task == "regression" else 2
    method = METHODS[name]
    size = 20 if method.size else None
    made = assign(method, task, Shape(200, 0, 4, classes, n_test=70), size, tmp_path, True)
    order = np.random.default_rng(3).permutation(200)
    labeled, y = made.labeled[order], made.y_labeled[order]
    made = replace(made, labeled=labeled, y_labeled=y, part=64, checkpoints=(2,))
    sent = Sent()
    facts, _ = run_trial(made, monitor(sent))
    assert facts["end"]["step"] == 4
    seed = int(np.random.SeedSequence(0).spawn(2)[1].generate_state(1)[0])
    machine = make_estimator(method, {}, size=size, n_classes=classes, random_state=seed)
    X, targets = np.load(made.features), y
    if task == "regression":
        targets = (y - y.mean()) / y.std()
    given = {"classes": [0, 1]} if classes else {}
    answers = []
    for start in range(0, 200, 64):
        part = slice(start, start + 64)
        machine.partial_fit(X[labeled[part]], targets[part], **given)
        if start == 64 or start + 64 >= 200:  # the checkpoint, and the end
            ask = machine.predict if task == "regression" else machine.decision_function
            answers.append(ask(X[made.test]))
    found = sent.arrays["values" if task == "regression" else "scores"]
    expected = np.concatenate(answers)
    if task == "regression":
        expected = expected * y.std() + y.mean()
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-9)


def test_sparse_parts_are_those_rows(tmp_path):
    shape = Shape(200, 0, 30, 2, n_test=20, row_nnz=3.0)
    made = assign(METHODS["sgd"], "binary", shape, None, tmp_path, True)
    sent = Sent()
    run_trial(replace(made, part=64), monitor(sent))
    seed = int(np.random.SeedSequence(0).spawn(2)[1].generate_state(1)[0])
    machine = make_estimator(METHODS["sgd"], {}, size=None, n_classes=2, random_state=seed)
    X = load_npz(made.features)
    for start in range(0, 200, 64):
        part = slice(start, start + 64)
        machine.partial_fit(X[made.labeled[part]], made.y_labeled[part], classes=[0, 1])
    expected = machine.decision_function(X[made.test])
    np.testing.assert_allclose(np.concatenate(sent.arrays["scores"]), expected, rtol=1e-12)


def test_transductive_points_are_all_new_to_a_stream(tmp_path):
    """A method that would see unlabeled points is given none of them, and predicts them all."""
    made = assign(METHODS["sgd"], "binary", Shape(90, 70, 4, 2), None, tmp_path)
    assert made.transductive
    made = replace(made, method=replace(made.method, uses_unlabeled=True), part=64)
    sent = Sent()
    run_trial(made, monitor(sent))
    assert made.n_seen == 90
    assert sum(map(len, sent.arrays["labels"])) == 70


def test_what_is_planned_does_not_grow_with_the_points():
    from harness.planning.size import plan

    for method in METHODS.values():
        if method.learns_storage or not method.learns_in_parts({}):
            continue
        plans = [
            plan(method, Shape(n, 0, 10, 2, n_test=5000, part=1024), None, {method.size: 100})
            for n in (20_000, 10_000_000)
        ]
        assert plans[0].planned_bytes == plans[1].planned_bytes < 4_000_000, method.name


@pytest.mark.parametrize("divide_by", [1.0, 255.0])
def test_parts_are_of_the_type_that_a_trial_is_given(tmp_path, divide_by):
    """Small integers of a file become numbers as they are read, a part at a time."""
    codes = np.random.default_rng(0).integers(0, 256, (330, 4), dtype=np.uint8)
    assignment, _, _ = streamed(METHODS["rbp"], tmp_path)
    np.save(assignment.features, codes)
    item = ItemType("float32", divide_by)
    reader = Reader(replace(assignment, item=item), monitor(), 50)
    rows = np.array([7, 3, 300])
    found = reader.read(rows, "fit")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, codes[rows].astype(np.float32) / np.float32(divide_by))
    stream = assignment.stream
    many = replace(assignment, item=item, part=stream.chunk)
    label = label_type(False, 2).itemsize
    assert part_bytes(many) == stream.chunk * (4 * 4 + label)
