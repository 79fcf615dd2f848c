"""What the task is, and which labels there are: guessed from the target, and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.datasets.adding.profiles import ColumnProfile, listed, quoted
from harness.datasets.encoding import label_texts
from harness.errors import HarnessError, shown, unknown_name

MOST_CLASSES = 1000

_CLASSES_OF_NUMBERS = 20
"""Up to so many different whole numbers are classes."""

_POSITIVE = ("1", "yes", "true", "positive", "pos", "+", "y", "t")
"""Labels of class 1, if one of two is among them."""


@dataclass(frozen=True)
class Target:
    """What the target is taken as.

    Parameters
    ----------
    task : {"binary", "multiclass", "regression"}
    classes : mapping of str to int
        Points of each label; empty for regression.
    positive : tuple of str
        Labels of class 1; empty unless the task is binary.
    told : list of str
    """

    task: str
    classes: Mapping[str, int]
    positive: tuple[str, ...]
    told: list[str]


def judge_target(
    profile: ColumnProfile, where: str, task: str | None = None, positive: Sequence[str] = ()
) -> Target:
    """Decide what the task is.

    Parameters
    ----------
    profile : ColumnProfile
        Of the target, rows without one left out.
    where : str
        The file, for messages.
    task : {"binary", "multiclass", "regression"}, optional
    positive : sequence of str, default ()
        Labels of class 1.

    Raises
    ------
    HarnessError
        If the target cannot be that of the task, or of any.
    """
    column = f"{where}: the target {quoted(profile.name)}"
    if profile.unsuited:
        raise HarnessError(f"{column} holds {profile.unsuited}, neither numbers nor labels")
    if not profile.n_numbers + profile.n_texts + profile.infinite:
        raise HarnessError(f"{column} has no value in any row")
    names = profile.nominal or profile.n_texts > 0
    if profile.infinite and not names:
        raise HarnessError(f"{column} is infinite in {profile.infinite} rows")
    if profile.values == 1 and not profile.many:
        raise HarnessError(f"{column} has the same value in every row: there is nothing to learn")
    guessed = task or _task(profile, names, positive)
    if guessed == "regression":
        return _regression(profile, column, names, positive)
    labels = {} if profile.many else _labels(profile)
    continuous = not names and not profile.whole and profile.values > _CLASSES_OF_NUMBERS
    if continuous or (profile.many and not names):
        number = next(iter(profile.numbers))
        raise HarnessError(
            f"{column} holds {profile.told(profile.values)} different numbers, such as "
            f"{number:g}: that is --task regression, not {guessed}"
        )
    if len(labels) > MOST_CLASSES or profile.many:
        raise HarnessError(
            f"{column} has {profile.told(profile.values)} different labels; at most "
            f"{MOST_CLASSES:,} are classes"
        )
    if len(labels) == profile.rows and names:
        raise HarnessError(f"{column} has a label of its own in every row: is it another column?")
    return _classes(labels, guessed, column, positive, task is None)


def _task(profile: ColumnProfile, names: bool, positive: Sequence[str]) -> str:
    few = profile.whole and profile.values <= _CLASSES_OF_NUMBERS and not profile.many
    if names or positive or few or profile.values == 2:
        return "binary" if profile.values == 2 or positive else "multiclass"
    return "regression"


def _regression(
    profile: ColumnProfile, column: str, names: bool, positive: Sequence[str]
) -> Target:
    if names:
        text = next(iter(profile.texts), "names")
        raise HarnessError(
            f"{column} holds {shown(text, 40)} in row {profile.first_text or 0} (counted from 0), "
            "which is no number: --task binary or multiclass takes it as a label"
        )
    if positive:
        raise HarnessError(f"{column}: --positive names labels, and regression has none")
    low, high = min(profile.numbers), max(profile.numbers)
    reach = "" if profile.many else f" from {low:g} to {high:g}"
    told = f"{quoted(profile.name)} holds {profile.told(profile.values)} different numbers{reach}"
    return Target("regression", {}, (), [f"{told}: regression (--task says otherwise)"])


def _classes(
    labels: dict[str, int], task: str, column: str, positive: Sequence[str], guessed: bool
) -> Target:
    unknown = [label for label in positive if label not in labels]
    if unknown:
        raise unknown_name("label", unknown[0], labels, f"{column}: --positive")
    told = []
    if task == "binary" and len(labels) > 2 and not positive:
        raise HarnessError(
            f"{column} has {len(labels)} labels: say which are class 1 with --positive, or "
            "--task multiclass"
        )
    if task == "multiclass" and positive:
        raise HarnessError(f"{column}: --positive is for two classes, not for --task multiclass")
    if guessed:
        told.append(f"{len(labels)} labels: {task} (--task says otherwise)")
    if task == "multiclass":
        seldom = [label for label, count in labels.items() if count < 2]
        if seldom:
            told.append(f"labels of a single point: {listed(seldom)}")
        return Target(task, labels, (), told)
    if len(positive) == len(labels):
        raise HarnessError(f"{column}: --positive names all labels; some must be class 0")
    if not positive:
        likely = [label for label in labels if label.lower() in _POSITIVE]
        positive = likely if len(likely) == 1 else [list(labels)[-1]]
        told.append(f"class 1, which AUC is about, is {quoted(positive[0])} (--positive)")
    return Target(task, labels, tuple(positive), told)


def _labels(profile: ColumnProfile) -> dict[str, int]:
    """Count the labels as a catalog writes them, in ascending order."""
    if profile.texts or profile.nominal:
        counts = profile.written if profile.written else profile.texts
        return {text: counts[text] for text in sorted(counts)}
    values = sorted(profile.numbers)
    texts = label_texts(np.array(values, dtype=np.float64))
    return {text: profile.numbers[value] for text, value in zip(texts, values, strict=True)}
