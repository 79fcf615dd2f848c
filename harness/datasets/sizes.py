"""How many points are labeled, unlabeled and held out: known before any data is loaded.

Nothing heavy is imported here: plans are made from catalog entries alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.errors import HarnessError

OFFICIAL = "official"
"""The test part that a data set comes with, instead of one that is drawn."""


class Sizes(NamedTuple):
    """Points of each part of a split."""

    n_labeled: int
    n_unlabeled: int
    n_test: int


def split_sizes(
    n: int,
    n_classes: int,
    n_labeled: int | float,
    evaluation: str | Mapping[str, Any] = "transductive",
    dataset: str = "",
    n_train: int | None = None,
) -> Sizes:
    """Count the points of each part of a split.

    Parameters
    ----------
    n : int
        Points of the data set.
    n_classes : int
        0 for regression.
    n_labeled : int or float
        A count, or a share of all points (0 < share < 1).
    evaluation : "transductive" or mapping
        See `harness.datasets.splits.split`.
    dataset : str, default ""
        Its name, for messages.
    n_train : int or None, default None
        Points of the official training part, which come first.

    Raises
    ------
    HarnessError
        If the parts do not fit into n, there are fewer labeled points than classes, or an official
        test part is asked for and there is none.
    """
    where = f"data set {dataset!r}: " if dataset else ""
    if isinstance(evaluation, Mapping) and evaluation.get("prequential"):
        return _stream_sizes(n, n_labeled, evaluation, where)
    labeled = count_of(n, n_labeled)
    rules = rules_of(evaluation)
    if rules["test"] == OFFICIAL:
        if n_train is None:
            raise HarnessError(
                f"{where}evaluation 'official' asks for its own test part, and its entry tells of "
                "none (n_train); allowed: transductive, or a mapping such as {test: 0.2}"
            )
        test = n - n_train
    else:
        test = count_of(n, rules["test"]) if rules["test"] else 0
    if labeled < max(1, n_classes):
        what = f"the {n_classes} classes" if n_classes else "one"
        raise HarnessError(
            f"{where}labeled {n_labeled} is {labeled} of {n} points, fewer than {what}"
        )
    if rules["test"] and not 0 < test < n:
        raise HarnessError(
            f"{where}test {rules['test']} is {test} of {n} points; allowed: 1 .. {n - 1}"
        )
    most = n - test if test else n - 1
    if labeled > most:
        left = f"besides {test} test points" if test else "with one left to score"
        raise HarnessError(
            f"{where}labeled {n_labeled} is {labeled} points; "
            f"allowed: at most {most} of {n} {left}"
        )
    unlabeled = n - test - labeled
    if rules["unlabeled_per_labeled"] is not None:
        asked = rules["unlabeled_per_labeled"] * labeled
        unlabeled = unlabeled if asked >= unlabeled else _round(asked)
    return Sizes(labeled, unlabeled, test)


def _stream_sizes(n: int, n_labeled: int | float, rules: Mapping[str, Any], where: str) -> Sizes:
    """Count the points of a stream: those whose label is told, the others, those scored."""
    points = rules["points"] or n
    if points > n:
        raise HarnessError(f"{where}evaluation: points {points} is more than its {n} points")
    labeled = count_of(points, n_labeled) if n_labeled else points
    unscored = rules["chunk"] * (1 + rules["delay"])
    if unscored >= points:
        raise HarnessError(
            f"{where}evaluation: the first {1 + rules['delay']} chunks of {rules['chunk']} points "
            f"are not scored, and the stream has {points}: give a smaller chunk or delay"
        )
    if not 0 < labeled <= points:
        raise HarnessError(
            f"{where}labeled {n_labeled} is {labeled} points; allowed: 1 .. {points}, or none "
            "said for all"
        )
    return Sizes(labeled, points - labeled, points - unscored)


def rules_of(evaluation: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return what an evaluation says, with its defaults.

    Raises
    ------
    HarnessError
        If it is neither "transductive" nor "official" nor a mapping with known keys.
    """
    rules: dict[str, Any] = {"test": 0, "unlabeled_per_labeled": None, "stratified": True}
    if evaluation == "transductive":
        return rules
    if evaluation == OFFICIAL:
        return rules | {"test": OFFICIAL}
    if hasattr(evaluation, "model_dump"):
        evaluation = evaluation.model_dump()
    if isinstance(evaluation, Mapping) and evaluation.get("transductive"):
        given = {key: value for key, value in evaluation.items() if key != "transductive"}
        if set(given) <= {"stratified"}:
            return rules | given
    if not isinstance(evaluation, Mapping) or not set(evaluation) <= set(rules):
        raise HarnessError(
            f"evaluation {evaluation!r} is neither 'transductive' nor 'official' nor a mapping of "
            f"{', '.join(rules)}, or of transductive and stratified"
        )
    rules |= {"test": 0.2} | dict(evaluation)
    for key in ("test", "unlabeled_per_labeled"):
        if rules[key] not in (None, OFFICIAL) and not rules[key] > 0:
            raise HarnessError(f"evaluation: {key} {rules[key]!r} must be above zero")
    return rules


def count_of(n: int, amount: int | float) -> int:
    """Return how many of n points a count or a share of them asks for."""
    return _round(amount * n) if 0 < amount < 1 else int(amount)


def _round(value: float) -> int:
    return int(value + 0.5)
