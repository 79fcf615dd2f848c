"""All that a plugin may provide: the one page that a plugin author reads.

A plugin is a module with one or more functions marked `@hookimpl`, named like the hooks below. A
file in `plugins/`, a folder that a study names under `plugins:`, and an installed package with an
entry point in the group `harness` are found alike. A complete plugin::

    '''Nearest class mean, as an example.'''
    from harness import Method, hookimpl
    from sklearn.neighbors import NearestCentroid

    @hookimpl
    def harness_methods():
        yield Method(
            "class-mean",
            NearestCentroid,
            storage=lambda shape, size: shape.data_bytes + 24 * shape.n * shape.n_features,
            tasks={"binary", "multiclass"},
            uses_unlabeled=False,
        )

`storage` may be left out: studies then learn it by measuring trials.

The estimator of a `Method` is an ordinary scikit-learn estimator:

- `fit(X, y)`; X is read-only and must not be written to; y is -1 (classification) or NaN
  (regression) where a point has no label, and 0 .. n_classes - 1 elsewhere, in the smallest
  integer type that holds them (one byte up to 128 classes: cast before computing). Clustering gets
  `n_clusters` as a parameter and a y that is -1 throughout. Where the data are sparse, X is a
  `scipy.sparse.csr_matrix` if scikit-learn's tags say that it may be (`input_tags.sparse`), and
  the method declines otherwise.
- Of data that are prepared as small integers, X is `harness.kernels.ScaledIntegers` if the
  estimator's `takes_scaled_integers` is true, and float32 otherwise. Such an X gives numbers for
  the rows that are asked for, and is never to be turned into an array as a whole.
- Out of sample it answers `decision_function` (or `predict_proba`) and `predict`. A study whose
  metrics need probabilities has `predict_proba` asked first.
- For the points that `fit` saw it may offer `transduction_` (labels, shape (n,)) together with
  `decision_scores_` (shape (n,) for two classes, else (n, n_classes)) or `label_distributions_`
  (n, n_classes). Where they exist, the harness takes them and does not predict those points again.
- It may split its fit in two, so that a search over parameters computes once what serves all
  folds: `fit_features(X, labeled)` does what neither labels nor the parameters named in
  `Method.head_params` decide (`labeled`: numbers of the rows that may get labels), and
  `fit_labels(y)` the rest, with y for those rows only, -1 (regression: NaN) where a label is held
  out. It leaves the scores of these h points, in their order, in `held_out_scores_`, of shape (h,)
  for two classes, else (h, n_classes), or for regression their values in `held_out_values_`, of
  shape (h,). `fit` then is the two in turn.
- It may learn in steps: `fit_steps(X, y)` is a generator that yields None after every step, when
  it can be asked for predictions as if it were fitted (storage then counts what the iteration
  holds together with what prediction takes), and `fit` is the same as exhausting it. Work that
  only a fit that stops must do is left to `finish_fit()`, if there is one, which does all of it
  whenever it is called: at a pause and after the last step, on the clock. It may offer
  `diagnostics(X)`, numbers about its state by name, such as {"error": ...}; a study with
  `checkpoints` asks for both outside the clock of the fit.
- It may say what its scores are made of, so that its models can be written as ONNX: `layers()`
  returns a list of `harness.layers`, from prepared rows to the columns of `decision_function` (or
  one column of values, or a column a cluster, of which the largest names it).
- All randomness comes from the parameter `random_state`, if there is one.
- A parameter `n_classes`, if there is one, is set to the number of classes of the data.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pluggy

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from harness.plugin.method import Method
    from harness.plugin.search_space import Distribution

PROJECT = "harness"
METRIC_NEEDS = ("labels", "scores", "probabilities", "values", "features")
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Evaluate(Protocol):
    """Scores settings of tuned parameters, for a `Search`.

    Attributes
    ----------
    head_params : set of str
        As in `Method`: other values of these cost little if they are asked for together, or one
        after the other, with all other parameters the same.
    """

    head_params: Set[str]

    def __call__(self, settings: list[dict[str, Any]]) -> list[float]:
        """Return a score for each setting: greater is better, NaN where there is none."""


@dataclass(frozen=True)
class GeneratedDataset:
    """A data set that is computed instead of fetched.

    Parameters
    ----------
    name : str
        What study files call it.
    generate : callable numpy.random.Generator -> (X, y)
        X of shape (n, d), y of shape (n,): class numbers, or real targets for regression. With
        groups or an order it returns (X, y, facts), where facts maps "groups" and "order" to a
        value for each point.
    task : str
        "binary", "multiclass" or "regression".
    n, d : int
        Points and features; checked against what `generate` returns.
    n_classes : int, default 0
        0 for regression.
    scaling : str, default "none"
        "none", "minmax", "standard", "whiten", "unit" or "maxabs", as in `datasets.yaml`.
    dtype : str, default "float64"
        Of the prepared X: "float64" or "float32".
    stand_in_for : str, default ""
        The real set that this one has the shape of, where that is not at hand. What is measured on
        a stand-in is time and memory: no printed figure is judged by it.
    nnz : int, optional
        Nonzeros of X, which is then a sparse matrix, prepared and handed over as one (CSR). By
        default X is dense.
    files : sequence of Path, default ()
        Files beside the plugin that `generate` reads. Another content of them is another data
        set, which is prepared anew.
    largest_group : int, optional
        Points of the largest group, where `generate` returns "groups".
    has_order : bool, default False
        Whether `generate` returns an "order": numbers or dates, smaller of earlier points.
    """

    name: str
    generate: Callable[[np.random.Generator], tuple[Any, ...]]
    task: str
    n: int
    d: int
    n_classes: int = 0
    scaling: str = "none"
    dtype: str = "float64"
    stand_in_for: str = ""
    nnz: int | None = None
    files: Sequence[Path] = ()
    largest_group: int | None = None
    has_order: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", tuple(map(Path, self.files)))
        told = [key for key in ("nnz", "largest_group") if getattr(self, key) is not None]
        for count in ("n", "d", "n_classes", *told):
            object.__setattr__(self, count, operator.index(getattr(self, count)))


@dataclass(frozen=True)
class Metric:
    """A score of predictions against the truth.

    Parameters
    ----------
    name : str
        The column of the record.
    function : callable (y_true, y_predicted) -> float
        `y_predicted` are labels, scores or values as `needs` says.
    tasks : set of str
        Where the metric applies; it is null elsewhere.
    needs : str, default "labels"
        "labels", "scores" (shape (n,) or (n, n_classes)), "probabilities" (shape (n, n_classes),
        of methods that have `predict_proba` or `label_distributions_`), "values" (regression), or
        "features": the function is then called with (X, labels) and the truth is not used.
    greater_is_better : bool, default True
    """

    name: str
    function: Callable[..., float]
    tasks: Set[str]
    needs: str = "labels"
    greater_is_better: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.tasks, str):
            message = (
                f"metric {self.name!r}: tasks = {self.tasks!r}; give a set, {{{self.tasks!r}}}"
            )
            raise ValueError(message)
        object.__setattr__(self, "tasks", frozenset(self.tasks))
        if self.needs not in METRIC_NEEDS:
            message = f"metric {self.name!r}: needs {self.needs!r} is not "
            raise ValueError(message + " or ".join(map(repr, METRIC_NEEDS)))


@dataclass(frozen=True)
class Kernel:
    """A kernel that methods with a `kernel` parameter can be given by name.

    A trial's estimator gets this object in place of the name, for `kernels.bind_kernel`.

    Parameters
    ----------
    name : str
        None of the names of `harness.kernels.KERNELS`, which are built in.
    function : callable (X, Z, width) -> (len(X), len(Z)) array
        May take a further keyword `out`, an array to write to.
    unit : callable X -> float, optional
        The kernel's natural width on X, such as a median distance: what a `sigma` of 1 means.
        None for a kernel without a width; `function` then is given 1.
    diagonal : callable (X, width) -> (len(X),) array, optional
        k(x, x) of each row; by default 1.
    storage : callable (n, m, n_features, itemsize) -> int, optional
        Bytes that `function` holds for n x m values beside X, Z and the values in the type of X;
        by default as many as two matrices of doubles and both sets in doubles, what an expression
        with `scipy.spatial.distance.cdist` in it takes.
    shift_invariant : bool, default False
        Whether values depend on x - z alone. Methods then move points near the origin before they
        round them to float32: of data far from it, rounding would take the digits.
    """

    name: str
    function: Callable[..., np.ndarray]
    unit: Callable[[np.ndarray], float] | None = None
    diagonal: Callable[[np.ndarray, float], np.ndarray] | None = None
    storage: Callable[[int, int, int, int], int] | None = None
    shift_invariant: bool = False


@dataclass(frozen=True)
class LandmarkSelector:
    """A way to choose landmarks, for methods with a `selector` parameter.

    A trial's estimator gets this object in place of the name, for `kernels.select_landmarks`.

    Parameters
    ----------
    name : str
        None of the names of `harness.kernels.SELECTORS`, which are built in.
    function : callable (X, n_landmarks, random_state, kernel) -> row numbers
        `random_state` is a `numpy.random.RandomState`, `kernel` a `kernels.BoundKernel`:
        `kernel(X, Z)` is a matrix, `kernel.diagonal(X)` its k(x, x). The n_landmarks row numbers
        are distinct, in any order.
    storage : callable (n, n_features, n_landmarks, itemsize) -> int, optional
        Bytes held while choosing, beside X; by default nothing is counted.
    """

    name: str
    function: Callable[..., np.ndarray]
    storage: Callable[[int, int, int, int], int] | None = None

    def __call__(self, *arguments: Any) -> np.ndarray:
        """Choose landmarks."""
        return self.function(*arguments)


@dataclass(frozen=True)
class Search:
    """A way to look for good settings of the tuned parameters, for a study's `tuning.search`.

    Parameters
    ----------
    name : str
        Lower case with hyphens; none of "grid", "random" and "sobol", which are built in.
    function : callable (space, evaluate, trials, rng) -> None
        `space` maps parameter names to distributions, whose `at(position)` gives the value at a
        position between 0 and 1; `settings_at(space, positions)` does so for rows of positions.
        `evaluate(settings)` takes a list of settings, each a dict with a value for every name in
        `space`, and returns their scores: greater is better, NaN where nothing could be scored.
        It may be called any number of times, with at most `trials` different settings in all;
        settings of one call share what they have in common, so those that do not depend on each
        other's scores belong into one call. `evaluate.head_params` names parameters of which
        further values cost little. All randomness comes from `rng`, a `numpy.random.Generator`.
        The tuner remembers what was evaluated and chooses among it.
    """

    name: str
    function: Callable[
        [Mapping[str, Distribution], Evaluate, int, np.random.Generator],
        None,
    ]


@dataclass(frozen=True)
class ReportSection:
    """A section at the end of the report.

    Parameters
    ----------
    title : str
    render : callable pandas.DataFrame -> str
        Gets all records of the study, returns HTML that needs nothing from the network.
    """

    title: str
    render: Callable[[pd.DataFrame], str]


@dataclass(frozen=True)
class TrialInfo:
    """One trial, as the hooks around it see it."""

    study: str
    dataset: str
    method: str
    n_labeled: int
    budget: str
    seed: int
    params: Mapping[str, Any] = field(default_factory=dict)


@hookspec
def harness_methods() -> Iterable[Method]:
    """Provide methods."""


@hookspec
def harness_datasets() -> Iterable[GeneratedDataset]:
    """Provide data sets that are generated; fetched ones are entries of a catalog."""


@hookspec
def harness_metrics() -> Iterable[Metric]:
    """Provide metrics; those of the harness come through this hook, too."""


@hookspec
def harness_kernels() -> Iterable[Kernel]:
    """Provide kernels that can be named in a study."""


@hookspec
def harness_landmark_selectors() -> Iterable[LandmarkSelector]:
    """Provide landmark selectors that can be named in a study."""


@hookspec
def harness_searches() -> Iterable[Search]:
    """Provide searches; those of the harness come through this hook, too."""


@hookspec
def harness_report_sections() -> Iterable[ReportSection]:
    """Provide sections of the report."""


@hookspec
def harness_trial_started(trial: TrialInfo) -> None:
    """Be told, in the worker and outside every budget, that a trial is about to start."""


@hookspec
def harness_trial_finished(trial: TrialInfo, record: Mapping[str, Any]) -> None:
    """Be told, in the worker and outside every budget, how a trial ended."""
