"""Which points are labeled, unlabeled and held out: the same for every method.

A split depends on the targets, what is known of the points besides, the labeled count, the
evaluation and the seed alone. The test points are drawn first, so that a learning curve over
labeled counts is scored on the same points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from harness.datasets.sizes import (
    ALL,
    OFFICIAL,
    count_of,
    home_points,
    outside_share,
    rules_of,
    split_sizes,
    unlabeled_parts,
)
from harness.errors import HarnessError


class Split(NamedTuple):
    """Row numbers of each part: int64, increasing, no row in two parts."""

    labeled: np.ndarray
    unlabeled: np.ndarray
    test: np.ndarray


class PointFacts(NamedTuple):
    """What decides a split besides the targets, each (n,), or None where nothing asks for it.

    Attributes
    ----------
    groups : ndarray of int
        The number of each point's group.
    order : ndarray of int
        Earlier points have smaller numbers. By default points are in the order of their rows.
    feature : ndarray
        The feature beyond whose quantile unlabeled points are taken.
    """

    groups: np.ndarray | None = None
    order: np.ndarray | None = None
    feature: np.ndarray | None = None


_NOTHING_MORE = PointFacts()


def split(
    y: np.ndarray,
    task: str,
    n_labeled: int | float,
    evaluation: str | Mapping[str, Any],
    seed: np.random.SeedSequence | np.random.Generator | int,
    dataset: str = "",
    n_train: int | None = None,
    facts: PointFacts = _NOTHING_MORE,
    given: Split | None = None,
) -> Split:
    """Divide the points of a data set.

    Parameters
    ----------
    y : ndarray (n,)
        Class numbers, or the targets of a regression. Points without a label, which have -1 or
        NaN, are never labeled nor scored.
    task : str
        "regression" is never stratified.
    n_labeled : int or float
        Labeled points: a count, or a share of all points that have a label (0 < share < 1).
    evaluation : "transductive", "official" or mapping
        Transductive: everything else is unlabeled and scored, `test` is empty. Official: the test
        part is that of the data set, all points after `n_train`. A mapping holds `test` (count,
        share or "official", default 0.2) of points that training never sees,
        `unlabeled_per_labeled` (at most so many unlabeled points, default all that are left) and
        `stratified` (default true); or `transductive` (true) and `stratified`. `groups` keeps
        whole groups of points in the test part ("test"), or apart in all parts ("all").
        `temporal` takes the last points for the test ("test"), and the earliest as labeled ones
        besides ("all"). `unlabeled` says which share of the unlabeled points is from outside:
        `other_classes`, or `beyond` the `quantile` of a feature.
    seed : SeedSequence, Generator or int
    dataset : str, default ""
        Its name, for messages.
    n_train : int or None, default None
        Points of the official training part, which come first.
    facts : PointFacts
    given : Split or None, default None
        The training part, as `unlabeled`, and the test part that a file gives.

    Returns
    -------
    Split
        Stratified: every class has its share of each part up to rounding, and at least one labeled
        point. Otherwise each part is drawn uniformly, and a class may have no labeled point.

    Raises
    ------
    HarnessError
        If the parts do not fit, a classification set has fewer than two classes, or there is
        not what the evaluation asks for.
    """
    drawing = _Drawing(np.asarray(y), task, rules_of(evaluation), seed, dataset, facts)
    drawing.refuse_one_class()
    rules, known, groups = drawing.rules, drawing.known, facts.groups
    n_known = int(known.sum())
    if given is None:
        largest = None if groups is None else int(np.bincount(groups[known]).max())
        sizes = split_sizes(
            *(len(y), drawing.n_classes, n_labeled, evaluation, dataset, n_train),
            n_unlabeled=len(y) - n_known,
            largest_group=largest,
        )
        n_labeled, n_test = sizes.n_labeled, sizes.n_test
        if rules["groups"]:  # as near to it as whole groups can be
            n_test = count_of(n_known, rules["test"]) if rules["test"] != OFFICIAL else 0
    else:
        n_labeled, n_test = count_of(n_known, n_labeled), 0
    return drawing.split(n_labeled, n_test, n_train, given)


class _Drawing:
    """The drawing of one split.

    Attributes
    ----------
    known : ndarray of bool (n,)
        Points that have a label.
    rng : Generator
    """

    def __init__(
        self,
        y: np.ndarray,
        task: str,
        rules: dict[str, Any],
        seed: Any,
        dataset: str,
        facts: PointFacts,
    ) -> None:
        self.y, self.task, self.rules, self.facts = y, task, rules, facts
        self.where = f"data set {dataset!r}: " if dataset else ""
        self.rng = np.random.default_rng(seed)
        self.known = np.isfinite(y) if task == "regression" else y >= 0
        self.classes = np.unique(y[self.known]) if task != "regression" else np.empty(0)

    @property
    def n_classes(self) -> int:
        """Classes that occur; 0 for regression."""
        return len(self.classes)

    def refuse_one_class(self) -> None:
        if self.task != "regression" and self.n_classes < 2:
            raise HarnessError(f"{self.where}all points are of one class; at least two are needed")

    def split(
        self, n_labeled: int, n_test: int, n_train: int | None, given: Split | None
    ) -> Split:
        """Draw the parts: the test part first, then labeled points, then unlabeled ones."""
        pool, test, outside = self._parts(n_test, n_train, given)
        first = self._may_be_labeled(pool, n_labeled)
        stratified = self.task != "regression" and self.rules["stratified"]
        if stratified:
            # a training part may lack a class
            labels = self.y[pool]
            strata = [rows for label in self.classes if len(rows := pool[labels == label])]
        else:
            strata = [pool]
        for rows in strata:
            self.rng.shuffle(rows)
        if first is not None:
            strata = [np.concatenate([rows[first[rows]], rows[~first[rows]]]) for rows in strata]
        counts = np.array([len(rows) for rows in strata])
        kept = int(stratified)
        n_drawn = n_test if test is None else 0
        drawn = _allocate(n_drawn, counts, counts - kept, 0 * counts)
        left = counts - drawn
        most = left
        if first is not None:
            most = np.array([int(first[rows].sum()) for rows in strata])
        if n_labeled > most.sum():
            raise HarnessError(
                f"{self.where}labeled {n_labeled} is more than the {most.sum()} points that may "
                "be labeled in this split; ask for fewer"
            )
        labeled = _allocate(n_labeled, counts, most, np.minimum(kept, most))
        spare = most - labeled if first is not None and self.rules["groups"] == ALL else 0 * counts
        left = left - labeled - spare
        if first is not None and self.rules["groups"] == ALL:
            outside = self._apart_from(first, outside)
        n_inside, n_outside = unlabeled_parts(
            int(left.sum()), len(outside), n_labeled, self.rules, self.where
        )
        unlabeled = _allocate(n_inside, left, left, 0 * counts)
        ends = np.cumsum([drawn, labeled, spare, unlabeled], axis=0)

        def part(which: int) -> np.ndarray:
            starts = ends[which] - [drawn, labeled, spare, unlabeled][which]
            taken = zip(strata, starts, ends[which], strict=True)
            return np.concatenate([rows[start:end] for rows, start, end in taken])

        if n_outside < len(outside):
            outside = self.rng.permutation(outside)[:n_outside]
        return Split(
            labeled=np.sort(part(1)),
            unlabeled=np.sort(np.concatenate([part(3), outside])),
            test=np.sort(part(0) if test is None else test),
        )

    def _parts(
        self, n_test: int, n_train: int | None, given: Split | None
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Return what labeled points are drawn from, the test part, and what is from outside.

        The test part is None where it is drawn from the first, class by class.
        """
        known, rules = np.flatnonzero(self.known), self.rules
        outside = np.flatnonzero(~self.known)
        if outside_share(rules) is not None and "beyond" in rules["unlabeled"]:
            assert self.facts.feature is not None, "read where it is asked for"
            ranked = known[np.argsort(self.facts.feature[known], kind="stable")]
            home = home_points(len(known), rules)
            return np.sort(ranked[:home]), None, ranked[home:]
        if given is not None:
            return self._within(given.unlabeled), self._scored(given.test), outside
        if rules["test"] == OFFICIAL:
            assert n_train is not None, "refused where sizes are counted"
            test = known[known >= n_train]
            if self.facts.groups is not None and rules["groups"]:
                self._refuse_shared_groups(known[known < n_train], test)
            return known[known < n_train], self._scored(test), outside[outside < n_train]
        if rules["temporal"] and n_test:
            ordered = self._in_time(known)
            test = np.sort(ordered[-n_test:])
            return np.sort(ordered[:-n_test]), test, self._before(int(ordered[-n_test]), outside)
        if rules["groups"] and n_test:
            test = self._whole_groups(known, n_test)
            groups = self.facts.groups
            assert groups is not None, "refused where sizes are counted"
            outside = outside[~np.isin(groups[outside], groups[test])]
            return np.setdiff1d(known, test), test, outside
        return known, None, outside

    def _apart_from(self, labeled: np.ndarray, rows: np.ndarray) -> np.ndarray:
        assert self.facts.groups is not None, "refused where sizes are counted"
        groups = self.facts.groups
        return rows[~np.isin(groups[rows], groups[labeled])]

    def _within(self, rows: np.ndarray) -> np.ndarray:
        return rows[self.known[rows]]

    def _scored(self, rows: np.ndarray) -> np.ndarray:
        scored = self._within(rows)
        if not len(scored):
            raise HarnessError(f"{self.where}no point of its test part has a label")
        return scored

    def _in_time(self, rows: np.ndarray) -> np.ndarray:
        order = self.facts.order
        return rows if order is None else rows[np.argsort(order[rows], kind="stable")]

    def _before(self, first: int, rows: np.ndarray) -> np.ndarray:
        """Return those rows that are earlier than the first test point."""
        order = self.facts.order
        return rows[rows < first] if order is None else rows[order[rows] < order[first]]

    def _refuse_shared_groups(self, train: np.ndarray, test: np.ndarray) -> None:
        groups = self.facts.groups
        assert groups is not None, "asked for by the evaluation"
        shared = np.intersect1d(groups[train], groups[test])
        if len(shared):
            raise HarnessError(
                f"{self.where}{len(shared)} groups have points in its official test part and in "
                "its training part; leave evaluation.groups out, or give a share such as test: 0.2"
            )

    def _whole_groups(self, rows: np.ndarray, n_test: int) -> np.ndarray:
        """Draw groups until they have as near to so many points as may be; one is left."""
        assert self.facts.groups is not None, "refused where sizes are counted"
        groups = self.facts.groups[rows]
        names, counts = np.unique(groups, return_counts=True)
        taken: list[Any] = []
        total = 0
        for place in self.rng.permutation(len(names))[:-1]:
            over = total + counts[place] - n_test
            if taken and over > n_test - total:
                break
            taken.append(names[place])
            total += counts[place]
            if over >= 0:
                break
        return rows[np.isin(groups, taken)]

    def _may_be_labeled(self, pool: np.ndarray, n_labeled: int) -> np.ndarray | None:
        """Tell for all points which may be labeled; None if all of the pool may."""
        first = np.zeros(len(self.y), dtype=bool)
        if self.rules["temporal"] == ALL:
            first[self._in_time(pool)[:n_labeled]] = True
            return first
        if self.rules["groups"] != ALL:
            return None
        assert self.facts.groups is not None, "refused where sizes are counted"
        groups = self.facts.groups[pool]
        ordered = pool[np.argsort(groups, kind="stable")]
        names, starts = np.unique(self.facts.groups[ordered], return_index=True)
        members = np.split(ordered, starts[1:])
        drawn = self.rng.permutation(len(names))
        if not self.rules["test"]:
            drawn = drawn[:-1]  # one is left to score
        wanted = set(self.classes.tolist()) if self.rules["stratified"] else set()
        total = 0
        for rows in (members[place] for place in drawn):
            brought = set(self.y[rows].tolist()) & wanted
            if total < n_labeled or brought:
                first[rows] = True
                wanted -= brought
                total += len(rows)
            if total >= n_labeled and not wanted:
                break
        return first


def _allocate(total: int, weights: np.ndarray, most: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Share a total among groups by weight, within bounds (method of largest remainders)."""
    share = weights * (total / max(1, weights.sum()))
    taken = np.clip(np.floor(share).astype(np.int64), least, most)
    while taken.sum() != total:
        step = 1 if taken.sum() < total else -1
        free = taken < most if step > 0 else taken > least
        taken[np.argmax(np.where(free, step * (share - taken), -np.inf))] += step
    return taken
