"""What a trial is told: data, method, size, settings, and the labels that it may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.datasets.item_types import ItemType
from harness.plugin.hookspecs import Metric, Search
from harness.plugin.method import N_UNLABELED, Method
from harness.plugin.search_space import Distribution
from harness.study.schema import Tuning

if TYPE_CHECKING:
    from harness.datasets.streams import Stream
    from harness.trial.taken_home import Label


@dataclass(frozen=True)
class Assignment:
    """All that one trial needs to know.

    Attributes
    ----------
    method : Method
    params : mapping
        Parameters fixed by the plugin and the study, kernels and selectors already looked up.
    size : int or None
        As planned.
    task : str
    n_classes : int
    features : Path
        The prepared `X.npy`, or `X.npz` of sparse data.
    labeled, unlabeled, test : (n,) int arrays
        Row numbers; the unlabeled ones in the random order in which a subsample is taken.
    y_labeled : (n_labeled,) array
    transductive : bool
        Whether the unlabeled points are predicted, or the test points.
    mapped : Path or None
        A file with the rows of `fit` in their order, to be mapped instead of loaded, so that its
        bytes are not counted.
    tuning : Tuning or None
    metric : Metric
        What tuning goes by.
    seed : numpy.random.SeedSequence
    checkpoints : tuple of int, default ()
        Steps of the fit after which it is paused and its predictions are delivered.
    search : Search or None, default None
        What `tuning.search` names.
    y_search : (k,) array, default of length 0
        Targets of the first k unlabeled rows, for the search alone.
    groups : (n_labeled + k,) int array, default of length 0
        The group of each point that the search is shown the label of. None is in two of its folds.
    ranges : mapping of str to Distribution, default {}
        What a study has some parameters searched over, besides or instead of the method's own.
    n_kept : int or None, default None
        Unlabeled points that `fit` is given, where the size does not say it; None for all.
    costs : bool, default False
        Whether the fitted model is measured once the trial's outcome is settled.
    probabilities : bool, default False
        Whether probabilities are predicted, where the estimator has other scores too.
    item : ItemType or None, default None
        Of which type the numbers of X are; None as they are prepared.
    label : Label or None, default None
        What its file says of the fitted model, which is then handed over.
    part : int or None, default None
        Labeled points that are read and given at a time, in the order of `labeled`; None for all.
    stream : Stream or None, default None
        Points of which each chunk is predicted before its labels are told; the parts above are
        then empty but for `test`, the points that are scored.
    dialogue : int, default -1
        Descriptor through which chunks of a stream are handed in and labels are told.
    """

    method: Method
    params: Mapping[str, Any]
    size: int | None
    task: str
    n_classes: int
    features: Path
    labeled: np.ndarray
    unlabeled: np.ndarray
    test: np.ndarray
    y_labeled: np.ndarray
    transductive: bool
    mapped: Path | None
    tuning: Tuning | None
    metric: Metric
    seed: np.random.SeedSequence
    checkpoints: tuple[int, ...] = ()
    search: Search | None = None
    y_search: np.ndarray = field(default_factory=lambda: np.empty(0))
    groups: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    ranges: Mapping[str, Distribution] = field(default_factory=dict)
    n_kept: int | None = None
    costs: bool = False
    probabilities: bool = False
    item: ItemType | None = None
    label: Label | None = None
    part: int | None = None
    stream: Stream | None = None
    dialogue: int = -1

    @property
    def kept(self) -> np.ndarray:
        """Unlabeled rows that `fit` is given."""
        if not self.method.uses_unlabeled or self.part is not None:
            return self.unlabeled[:0]
        return self.unlabeled[: self.size if self.method.size == N_UNLABELED else self.n_kept]

    @property
    def seen(self) -> np.ndarray:
        """Rows that `fit` is given, labeled ones first."""
        return np.concatenate([self.labeled, self.kept])

    @property
    def n_seen(self) -> int:
        """How many rows `fit` is given; their numbers alone are 8 bytes each."""
        return len(self.labeled) + len(self.kept)

    @property
    def predicts_seen(self) -> bool:
        """Whether points that `fit` is given are among those that are predicted."""
        return self.transductive and len(self.kept) > 0 and "fit" in self.method.features

    def _less(self, shown: int) -> int | None:
        if self.size is None or self.method.size != N_UNLABELED:
            return self.size
        return max(0, self.size - shown)

    @property
    def searched(self) -> Assignment:
        """The same trial as its search sees it: what `y_search` says is labeled."""
        k = len(self.y_search)
        if not k:
            return self
        return replace(
            self,
            labeled=np.concatenate([self.labeled, self.unlabeled[:k]]),
            unlabeled=self.unlabeled[k:],
            y_labeled=np.concatenate([self.y_labeled, self.y_search]),
            size=self._less(k),
            n_kept=None if self.n_kept is None else max(0, self.n_kept - k),
        )
