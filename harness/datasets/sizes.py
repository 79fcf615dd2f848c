"""How many points are labeled, unlabeled and held out: known before any data is loaded.

Nothing heavy is imported here: plans are made from catalog entries alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.errors import HarnessError

OFFICIAL = "official"
"""The test part that a data set comes with, instead of one that is drawn."""

GIVEN = "given"
"""The test part that a file of splits names."""

_OF_FILES = ("names", "first_row", "transpose", "test")
"""What an evaluation says of files of splits, which are read elsewhere."""

ALL = "all"
"""Of groups and of time: all parts are kept apart, not the test part alone."""


class Sizes(NamedTuple):
    """Points of each part of a split; where splits differ, the most that one of them has."""

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
    n_unlabeled: int = 0,
    largest_group: int | None = None,
) -> Sizes:
    """Count the points of each part of a split.

    Parameters
    ----------
    n : int
        Points of the data set.
    n_classes : int
        0 for regression.
    n_labeled : int or float
        A count, or a share of the points that have a label (0 < share < 1).
    evaluation : "transductive" or mapping
        See `harness.datasets.splits.split`.
    dataset : str, default ""
        Its name, for messages.
    n_train : int or None, default None
        Points of the official training part, which come first.
    n_unlabeled : int, default 0
        Points of the data set that have no label, or one of another class.
    largest_group : int or None, default None
        Points of the largest group; None if the data set has no groups.

    Returns
    -------
    Sizes
        Whole groups, and an official test part of which some points have no label, make parts of
        different sizes. They are then the most that a split can have.

    Raises
    ------
    HarnessError
        If the parts do not fit into n, there are fewer labeled points than classes, or the
        evaluation asks for what the data set does not have.
    """
    where = f"data set {dataset!r}: " if dataset else ""
    if isinstance(evaluation, Mapping) and evaluation.get("prequential"):
        return _stream_sizes(n, n_labeled, evaluation, where)
    rules = rules_of(evaluation)
    _refuse_lacking(rules, n_train, n_unlabeled, largest_group, where)
    known, outside = n - n_unlabeled, n_unlabeled
    beyond = (rules["unlabeled"] or {}).get("beyond")
    if beyond is not None:
        home = home_points(known, rules)
        known, outside = home, known - home
    labeled = count_of(known, n_labeled)
    if rules["test"] == OFFICIAL:
        assert n_train is not None, "refused above"
        test = n - n_train
    else:
        test = count_of(known, rules["test"]) if rules["test"] else 0
    if labeled < max(1, n_classes):
        what = f"the {n_classes} classes" if n_classes else "one"
        raise HarnessError(
            f"{where}labeled {n_labeled} is {labeled} of {known} points, fewer than {what}"
        )
    if rules["test"] and not 0 < test < n:
        raise HarnessError(
            f"{where}test {rules['test']} is {test} of {known} points; allowed: 1 .. {known - 1}"
        )
    least, most_test = test, test
    if rules["groups"] and largest_group is not None and rules["test"] != OFFICIAL:
        least, most_test = _group_bounds(known, test, largest_group)
    if n_unlabeled and rules["test"] == OFFICIAL:  # which of them are test points is not known
        least, most_test = max(1, test - n_unlabeled), min(test, known - 1)
    most = known - most_test if test else known - 1
    if rules["groups"] == ALL and not test and largest_group is not None:
        most = known - largest_group
    if rules["test"] == OFFICIAL and n_unlabeled:
        most = min(known - least, n - test)
    if labeled > most:
        left = f"besides {most_test} test points" if test else "with one left to score"
        raise HarnessError(
            f"{where}labeled {n_labeled} is {labeled} points; "
            f"allowed: at most {most} of {known} {left}"
        )
    inside = known - least - labeled
    unlabeled = unlabeled_parts(inside, outside, labeled, rules, where)
    return Sizes(labeled, sum(unlabeled), most_test)


def sizes_within(
    train: tuple[int, int],
    n_test: int,
    known: int,
    n_classes: int,
    n_labeled: int | float,
    evaluation: Mapping[str, Any],
    where: str,
) -> Sizes:
    """Count the points of splits whose training and test part a file gives.

    Parameters
    ----------
    train : (int, int)
        Training points of the smallest and of the largest split.
    n_test : int
        Of the largest.
    known : int
        Points of the data set that have a label, of which `n_labeled` may be a share.
    n_classes, n_labeled, evaluation
        As of `split_sizes`.
    where : str
        The file, for messages.

    Raises
    ------
    HarnessError
        If so many points cannot be labeled in one of the splits.
    """
    labeled, (smallest, largest) = count_of(known, n_labeled), train
    if not max(1, n_classes) <= labeled <= smallest:
        raise HarnessError(
            f"{where}: labeled {n_labeled} is {labeled} points; allowed: {max(1, n_classes)} .. "
            f"{smallest}, the training points of its smallest split"
        )
    unlabeled = unlabeled_parts(largest - labeled, 0, labeled, rules_of(evaluation), where)
    return Sizes(labeled, sum(unlabeled), n_test)


def unlabeled_parts(
    inside: int, outside: int, labeled: int, rules: Mapping[str, Any], where: str = ""
) -> tuple[int, int]:
    """Return how many unlabeled points are of the labeled ones' kind, and how many are not.

    Parameters
    ----------
    inside, outside : int
        How many there are of each.
    labeled : int
    rules : mapping
        As `rules_of` returns them.
    where : str, default ""
        For messages.

    Raises
    ------
    HarnessError
        If a share of points from outside is asked for, and so many are not there.
    """
    asked = rules["unlabeled_per_labeled"]
    share = outside_share(rules)
    if share is None:
        total = inside + outside
        if asked is not None and asked * labeled < total:
            total = _round(asked * labeled)
        taken = _round(total * outside / max(1, inside + outside))
        return total - taken, taken
    most = inside + outside
    if share < 1:
        most = min(most, int(inside / (1 - share) + 1e-9))
    if share > 0:
        most = min(most, int(outside / share + 1e-9))
    total = most if asked is None else _round(asked * labeled)
    if total > most:
        raise HarnessError(
            f"{where}unlabeled_per_labeled {asked} is {total} points, of which a share of {share} "
            f"is from outside; allowed: at most {most} in all, as there are {inside} of the "
            f"labeled ones' kind and {outside} from outside"
        )
    taken = _round(share * total)
    return total - taken, taken


def outside_share(rules: Mapping[str, Any]) -> float | None:
    """Return the share of unlabeled points that is from outside; None if none is asked for."""
    shift = rules["unlabeled"] or {}
    return shift.get("other_classes", shift.get("beyond"))


def home_points(known: int, rules: Mapping[str, Any]) -> int:
    """Return how many points are up to the quantile beyond which unlabeled points are taken."""
    return _round(known * rules["unlabeled"]["quantile"])


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
    rules: dict[str, Any] = {
        "test": 0,
        "unlabeled_per_labeled": None,
        "stratified": True,
        "groups": None,
        "temporal": None,
        "unlabeled": None,
    }
    if evaluation == "transductive":
        return rules
    if isinstance(evaluation, Mapping) and evaluation.get("prequential"):
        return rules  # a stream has none of these
    if evaluation == OFFICIAL:
        return rules | {"test": OFFICIAL}
    if hasattr(evaluation, "model_dump"):
        evaluation = evaluation.model_dump()
    if isinstance(evaluation, Mapping):
        for key, test in (("splits", GIVEN), ("transductive", 0), ("openml", GIVEN)):
            if evaluation.get(key):
                kinds = ("transductive", key, *(_OF_FILES if key == "splits" else ()))
                given = {name: value for name, value in evaluation.items() if name not in kinds}
                allowed = set(rules) - {"test", "unlabeled"}
                if set(given) <= allowed - ({"unlabeled_per_labeled"} if not test else set()):
                    return rules | given | {"test": test}
    if not isinstance(evaluation, Mapping) or not set(evaluation) <= set(rules):
        raise HarnessError(
            f"evaluation {evaluation!r} is neither 'transductive' nor 'official' nor a mapping of "
            f"{', '.join(rules)}, or of transductive, stratified, groups and temporal"
        )
    rules |= {"test": 0.2} | dict(evaluation)
    if rules["unlabeled"]:
        said = rules["unlabeled"].items()
        rules["unlabeled"] = {name: value for name, value in said if value is not None}
    for key in ("test", "unlabeled_per_labeled"):
        if rules[key] not in (None, OFFICIAL) and not rules[key] > 0:
            raise HarnessError(f"evaluation: {key} {rules[key]!r} must be above zero")
    return rules


def count_of(n: int, amount: int | float) -> int:
    """Return how many of n points a count or a share of them asks for."""
    return _round(amount * n) if 0 < amount < 1 else int(amount)


def _round(value: float) -> int:
    return int(value + 0.5)


def _refuse_lacking(
    rules: Mapping[str, Any],
    n_train: int | None,
    n_unlabeled: int,
    largest_group: int | None,
    where: str,
) -> None:
    """Refuse what an evaluation asks for and a data set does not have."""
    if rules["test"] == OFFICIAL and n_train is None:
        raise HarnessError(
            f"{where}evaluation 'official' asks for its own test part, and its entry tells of "
            "none (n_train); allowed: transductive, or a mapping such as {test: 0.2}"
        )
    if rules["groups"] and largest_group is None:
        raise HarnessError(
            f"{where}evaluation.groups asks for its groups, and its entry tells of none: write "
            "`groups: COLUMN` in the entry"
        )
    if n_unlabeled and not rules["test"]:
        raise HarnessError(
            f"{where}{n_unlabeled} of its points have no label, or one of another class, so they "
            "cannot be scored; give held-out points, such as evaluation: {test: 0.2}"
        )
    if "other_classes" in (rules["unlabeled"] or {}) and not n_unlabeled:
        raise HarnessError(
            f"{where}evaluation.unlabeled.other_classes asks for points of other classes, and it "
            "has none: name some of its classes in the entry, and write `other_classes: "
            "unlabeled`"
        )


def _group_bounds(known: int, test: int, largest: int) -> tuple[int, int]:
    """Return the fewest and the most test points that whole groups can make of so many."""
    if not test:
        return 0, 0
    return max(1, test - largest + 1), min(known - 1, max(test + largest // 2, largest))
