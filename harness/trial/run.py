"""One trial, as it runs inside its sandbox: load, tune, fit, predict.

This is all that a method's process ever executes. It is given the labels of the labeled points and
nothing of the others; what it predicts is scored elsewhere.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

# what a method finds imported, and so is not charged for, is the same for all
import scipy.stats  # noqa: F401
import sklearn.metrics  # noqa: F401

from harness.datasets import (
    Features,
    matrix_arrays,
    open_mapped,
    read_header,
    read_only,
    read_rows,
    row_blocks,
    scaled,
    x_bytes,
    x_row_bytes,
    x_slice,
)
from harness.plugin.abilities import fits_in_steps, scorer
from harness.plugin.method import Method
from harness.plugin.registry import plugin_location
from harness.plugin.shape import block_rows, target_type
from harness.sandbox import map_array, return_freed
from harness.trial.assignment import Assignment
from harness.trial.checkpoints import fit_in_steps, point
from harness.trial.model_costs import model_costs
from harness.trial.prediction import named, predict, transduction
from harness.trial.searching import searched_setting, space_of
from harness.trial.streaming import (
    Standardised,
    learn_in_parts,
    part_bytes,
    predict_then_learn,
    teach,
)
from harness.trial.taken_home import send_model

if TYPE_CHECKING:
    from harness.sandbox import Monitor

_MOST_NOTED = 10
"""Different warnings of a trial that are kept."""


def run_trial(
    assignment: Assignment, monitor: Monitor
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Run one trial, and send what it predicts as it is predicted.

    Sent are parts of "labels", "scores" (called "probabilities" if they are) or "values", for the
    unlabeled rows (transductive) or the test rows, in the assignment's order: at each checkpoint
    and at the end. Never are predictions of more than a block of rows held beside the estimator.

    Returns
    -------
    facts : dict
        "params" (JSON-ready), "data_bytes", "tuned_score", "warnings" (those of the fit and of
        the predictions), and "end": the last point of the fit's curve, None unless there are
        checkpoints.
    arrays : dict
        Empty: all predictions are sent by then.

    Raises
    ------
    BaseException
        Whatever the method raises, with its place in the plugin as a note.
    """
    try:
        return _run(assignment, monitor), {}
    except BaseException as error:
        place = plugin_location(error)
        if place:
            error.add_note(place)
        raise


def _run(assignment: Assignment, monitor: Monitor) -> dict[str, Any]:
    search_seed, fit_seed = assignment.seed.spawn(2)
    random_state = int(fit_seed.generate_state(1)[0])

    def make(**tuned: Any) -> Any:
        return make_estimator(
            assignment.method,
            {**assignment.params, **tuned},
            size=assignment.size,
            n_classes=assignment.n_classes,
            random_state=random_state,
        )

    fit = _fit if assignment.part is None else _fit_parts
    estimator, facts, unit = fit(assignment, monitor, make, search_seed)
    if assignment.label is not None:
        scale = unit.center, unit.scale
        monitor.epilogue = partial(send_model, estimator, assignment, scale, monitor)
    if assignment.costs:
        monitor.afterwards = partial(model_costs, estimator, assignment, monitor)
    params = {name: _plain(value) for name, value in estimator.get_params().items()}
    return {"params": params, **facts}


def _fit_parts(
    assignment: Assignment,
    monitor: Monitor,
    make: Callable[..., Any],
    search_seed: np.random.SeedSequence,
) -> tuple[Any, dict[str, Any], Standardised]:
    """Tune on the first part, fit to points that are read a part at a time, and predict."""
    end, score = None, None

    def begin(X: Features, y: np.ndarray) -> Any:
        nonlocal score
        if not space_of(assignment):
            return make()
        learn = partial(teach, unit=Standardised(), assignment=assignment)
        with monitor.stage("tune"):
            setting, score = searched_setting(assignment, make, X, y, search_seed, learn)
        return_freed()
        return make(**setting)

    def answer(estimator: Any, unit: Standardised) -> Iterator[dict[str, np.ndarray]]:
        return map(unit.back, _predictions(assignment, estimator, None))

    with _noted_warnings() as noted:
        if assignment.stream is not None:
            estimator, unit = predict_then_learn(begin, assignment, monitor)
        else:
            estimator, unit, end = learn_in_parts(begin, assignment, monitor, answer)
            return_freed()
            with monitor.stage("predict"):
                monitor.send(answer(estimator, unit))
    facts = {"data_bytes": part_bytes(assignment), "tuned_score": score}
    return estimator, {**facts, "warnings": list(noted), "end": end}, unit


def _fit(
    assignment: Assignment,
    monitor: Monitor,
    make: Callable[..., Any],
    search_seed: np.random.SeedSequence,
) -> tuple[Any, dict[str, Any], Standardised]:
    """Tune, fit to all points at once, and predict."""
    with monitor.stage("load"):
        X = _features(assignment)
        y, center, scale = _targets(assignment, X.shape[0])
    unit = Standardised(center, scale)
    read = assignment.mapped is None and "fit" in assignment.method.features
    data_bytes = (x_bytes(X) if read else 0) + y.nbytes
    return_freed()  # what reading took would lie in the heap beside all that follows
    tuned: dict[str, Any] = {}
    score = None
    if space_of(assignment):
        with monitor.stage("tune"):
            shown = _shown(assignment, X, y)
            tuned, score = searched_setting(assignment, make, *shown, search_seed)
            del shown
        return_freed()
    estimator = make(**tuned)
    seen: Features | None = X

    def answer() -> Iterator[dict[str, np.ndarray]]:
        for part in _predictions(assignment, estimator, seen):
            yield unit.back(part)
            del part  # or it would be held while the next one is made

    checkpoints, step, end = assignment.checkpoints, None, None
    with _noted_warnings() as noted:
        if checkpoints and fits_in_steps(estimator):
            step = fit_in_steps(estimator, X, y, checkpoints, monitor, answer)
        else:
            with monitor.stage("fit"):
                estimator.fit(X, y)
        if checkpoints:
            with monitor.stage("checkpoint"):
                end = point(estimator, X, step, monitor)
        if not assignment.predicts_seen:
            # so that what a prediction holds is what it holds on a device: a model that needs the
            # points it was fitted to has kept them
            del X
            seen = None
        return_freed()
        with monitor.stage("predict"):
            monitor.send(answer())
    facts = {
        "data_bytes": data_bytes,
        "tuned_score": score,
        "warnings": list(noted),
        "end": end,
    }
    return estimator, facts, unit


@contextlib.contextmanager
def _noted_warnings() -> Iterator[dict[str, None]]:
    """Note each warning once, in the order in which they come, and let it be shown as ever."""
    noted: dict[str, None] = {}
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if len(noted) < _MOST_NOTED:
                noted.setdefault(f"{category.__name__}: {message}")
            show(message, category, filename, lineno, file, line)

        warnings.showwarning = note
        yield noted


def _shown(assignment: Assignment, X: Features, y: np.ndarray) -> tuple[Features, np.ndarray]:
    """Return the points and targets of the search, which are those of `fit` if none are shown."""
    searched = assignment.searched
    if searched is assignment:
        return X, y
    if searched.n_seen > X.shape[0]:
        X = _features(replace(searched, mapped=None))
    return X, _targets(searched, X.shape[0])[0]


def _features(assignment: Assignment) -> Features:
    if "fit" not in assignment.method.features:
        return _zeros(assignment, assignment.n_seen)
    if assignment.mapped is not None:
        mapped = open_mapped(assignment.mapped)
        for array in matrix_arrays(mapped):
            map_array(array)
        item = assignment.item
        return scaled(mapped, item) if item is not None and item.keeps_integers else mapped
    return read_only(read_rows(assignment.features, assignment.seen, assignment.item))


def _zeros(assignment: Assignment, n: int) -> np.ndarray:
    """Return n rows that no one looks at: one number, repeated."""
    header = read_header(assignment.features)
    kind = header.dtype if assignment.item is None else assignment.item.dtype
    return np.broadcast_to(np.zeros(1, kind), (n, *header.shape[1:]))


def _targets(assignment: Assignment, n: int) -> tuple[np.ndarray, float, float]:
    """Targets of `fit`; regression targets are standardised by the labeled ones."""
    n_labeled = len(assignment.y_labeled)
    if assignment.task != "regression":
        y = np.full(n, -1, dtype=target_type(assignment.n_classes))
        if assignment.task != "clustering":
            y[:n_labeled] = assignment.y_labeled
        y.flags.writeable = False
        return y, 0.0, 1.0
    center = float(np.mean(assignment.y_labeled))
    scale = float(np.std(assignment.y_labeled)) or 1.0
    y = np.full(n, np.nan)
    y[:n_labeled] = (assignment.y_labeled - center) / scale
    y.flags.writeable = False
    return y, center, scale


def make_estimator(
    method: Method,
    params: Mapping[str, Any],
    *,
    size: int | None,
    n_classes: int,
    random_state: int,
) -> Any:
    """Return a method's estimator as a trial fits it: given and planned parameters set."""
    params = {**method.params, **params}
    given = {
        "random_state": random_state,
        "n_classes": n_classes,
        method.size: size,
    }
    if n_classes:
        given["n_clusters"] = n_classes
    for name, value in given.items():
        if name in method.parameters:
            params.setdefault(name, value)
    return method.estimator(**params)


def _predictions(
    assignment: Assignment, estimator: Any, X: Features | None
) -> Iterator[dict[str, np.ndarray]]:
    """Predict what is scored; X, the points of the fit, is needed if some are among it.

    A kind of prediction that is not there for all points, as scores of those that fit saw may not
    be, is there for none.
    """
    n_labeled, task, n_classes = len(assignment.labeled), assignment.task, assignment.n_classes
    asked = assignment.probabilities
    unseen = assignment.test
    if assignment.transductive:
        seen = len(assignment.kept) if assignment.predicts_seen else 0
        unseen = assignment.unlabeled[seen:]
    found = None
    if assignment.predicts_seen:
        assert X is not None, "the points of the fit are held until they are predicted"
        found = transduction(estimator, X.shape[0], task, n_classes, asked)
    sources = [found.name] if found else []
    if len(unseen) or not found:
        scoring = scorer(estimator, asked)
        sources.append(scoring[0] if scoring else "")
    scores = found is None or found.has_scores
    if found is not None:
        for part in found.blocks(slice(n_labeled, assignment.n_seen)):
            yield named(part, *sources)
            del part
    elif assignment.predicts_seen:
        assert X is not None, "they are held until then"
        for block in _blocks(X, n_labeled):
            yield named(predict(estimator, block, task, n_classes, asked), *sources)
    if "predict" in assignment.method.features:
        blocks = row_blocks(assignment.features, unseen, assignment.item)
    else:
        blocks = _blocks(_zeros(assignment, len(unseen)))
    for block in blocks:
        part = named(predict(estimator, block, task, n_classes, asked), *sources)
        yield part if scores else {"labels": part["labels"]}
        del part


def _blocks(X: Features, first: int = 0) -> Iterator[Features]:
    step = block_rows(x_row_bytes(X))
    for start in range(first, X.shape[0], step):
        yield x_slice(X, start, start + step)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    return getattr(value, "name", getattr(value, "__name__", str(value)))
