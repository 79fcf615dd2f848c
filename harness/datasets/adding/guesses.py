"""What each column is taken as: guessed from profiles, and told.

Nothing is left out or filled in without a sentence that says so and how to have it otherwise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pandas as pd

from harness.datasets.adding.profiles import (
    MOST_CATEGORIES,
    MOST_LABELS,
    ColumnProfile,
    Name,
    gaps_of,
    listed,
    most_remembered,
    quoted,
)
from harness.datasets.adding.tables import Table
from harness.errors import HarnessError, shown, unknown_name

_NAMES_KEPT = 20
"""So many different values are names, however few rows there are."""
_MOST_TOLD = 8
"""Columns that are left out and told of with a reason each."""

_WORDS_OF_A_TEXT = 5
"""Names and addresses have fewer words on average."""

_ODD_TEXTS = 3
_ODD_SHARE = 0.05
"""So few texts among numbers mean that there is no value."""

_TARGET_NAMES = ("target", "class", "label", "y", "outcome", "response")
_ROW_NAMES = re.compile(
    r"(unnamed: ?0|id|index|row|row_?(id|number|names)|.*[_ ]id|rownames|uuid)", re.I
)


@dataclass
class Columns:
    """What the columns of a table are taken as.

    Parameters
    ----------
    numeric, nominal, ignored : list of str or int
    marks : list of str
        Texts that mean that there is no value.
    texts : list of str or int
        Columns of texts, whose words become features.
    gaps : set of {"numeric", "nominal"}
        Kinds of columns in which values are missing.
    n_features : int
        Columns after encoding: one for a number, one for each value of a name, none for a text.
    told : list of str
    """

    numeric: list[Name] = field(default_factory=list)
    nominal: list[Name] = field(default_factory=list)
    ignored: list[Name] = field(default_factory=list)
    texts: list[Name] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    gaps: set[str] = field(default_factory=set)
    n_features: int = 0
    told: list[str] = field(default_factory=list)


def find_target(table: Table, given: str | int | None, where: str) -> Name:
    """Return the column of the target: as given, or by its name, or the last one.

    Raises
    ------
    HarnessError
        If there is no such column, or several of its name.
    """
    if given is None:
        by_name = [name for name in table.columns if str(name).lower() in _TARGET_NAMES]
        return by_name[-1] if len(by_name) == 1 else table.columns[-1]
    return find_column(table, given, "target", where)


def find_column(table: Table, given: str | int, what: str, where: str) -> Name:
    """Return the column that is named so or has this number."""
    if str(given) in table.twice:
        raise HarnessError(f"{where}: {what}: two columns are called {given!r}; rename one")
    if given in table.columns:
        return given
    if re.fullmatch(r"-?\d+", str(given)) and -len(table.columns) <= int(given) < len(
        table.columns
    ):
        return table.columns[int(given)]
    known = [" ".join(str(name).split()) for name in table.columns]
    if all(isinstance(name, int) for name in table.columns):
        raise HarnessError(
            f"{where}: {what}: there is no column {given!r}; the columns have no names and are "
            f"numbered 0 to {len(known) - 1} (--header if the first line names them)"
        )
    raise unknown_name("column", str(given), known[:100], f"{where}: {what}")


def profile_columns(
    table: Table, target: Name, drop: Collection[Name] = ()
) -> tuple[list[ColumnProfile], ColumnProfile]:
    """Pass over a table and return the profiles of its features, and of its target.

    Rows without a target are in the profile of the target alone.
    """
    most = most_remembered(len(table.columns))
    features = [
        ColumnProfile(name, table.decimal, most, table.marked)
        for name in table.columns
        if name != target and name not in drop
    ]
    labels = ColumnProfile(target, table.decimal, MOST_LABELS, table.marked, labels=True)
    row = 0
    for part in table.parts(target):
        part.index = pd.RangeIndex(row, row + len(part))
        row += len(part)
        labels.update(part[target])
        gaps = gaps_of(part[target], table.marked)
        labeled = part[~gaps] if gaps.any() else part
        for profile in features:
            profile.update(labeled[profile.name])
    return features, labels


def largest_group(table: Table, target: Name, groups: Name) -> int:
    """Pass over a table and count the points of its largest group that have a target."""
    counts: Counter[str] = Counter()
    for part in table.parts(target):
        counts.update(part[groups][~gaps_of(part[target], table.marked)].astype(str))
    return max(counts.values(), default=0)


def judge_columns(
    profiles: Sequence[ColumnProfile],
    where: str,
    nominal: Collection[Name] = (),
    keep: Collection[Name] = (),
    target: ColumnProfile | None = None,
    marked: bool = True,
    texts: Collection[Name] | None = (),
) -> Columns:
    """Decide what each column is taken as.

    Parameters
    ----------
    profiles : sequence of ColumnProfile
        Of all columns but the target.
    where : str
        The file, for messages.
    nominal, keep : collections of names
        Columns that are names, and that are not left out, by order.
    target : ColumnProfile, optional
        Its labels are no marks of missing values.
    marked : bool, default True
        Whether the format's reader is told which texts mean that there is no value.
    texts : collection of names, or None, default ()
        Columns of texts, by order; None has them guessed: those with texts of many words that
        mostly differ.
    """
    columns = Columns()
    left_out: list[str] = []
    marks: dict[str, None] = {}
    extra = _extra_marks(profiles, nominal, target) if marked else []
    for profile in profiles:
        if _is_text(profile, nominal, keep) if texts is None else profile.name in texts:
            columns.texts.append(profile.name)
            continue
        reason = _useless(profile, profile.name in nominal)
        if reason:
            if profile.name in keep and (profile.unsuited or not profile.values):
                raise HarnessError(f"{where}: column {quoted(profile.name)} {reason}")
            if profile.name not in keep:
                columns.ignored.append(profile.name)
                left_out.append(f"{quoted(profile.name)} {reason}: left out (--keep keeps it)")
                continue
        _judge(profile, columns, where, profile.name in nominal, extra, marked)
        marks |= dict.fromkeys(profile.marks)
    columns.told += left_out[:_MOST_TOLD]
    if len(left_out) > _MOST_TOLD:
        names = listed(columns.ignored[_MOST_TOLD:])
        columns.told.append(f"left out for such reasons, too: {names} (`ignore` in the entry)")
    if extra:
        marks |= dict.fromkeys(extra)
        columns.told.append(
            f"{listed(extra)} among numbers is read as no value (--nominal takes it as one)"
        )
    columns.marks = sorted(marks, key=lambda mark: (mark != "", mark))
    _tell_constant(profiles, columns)
    if texts is None and columns.texts:
        columns.told.append(
            f"texts, whose words become features: {listed(columns.texts)} (--text names others, "
            "--drop leaves out)"
        )
    if not columns.n_features and not columns.texts:
        raise HarnessError(f"{where}: no feature is left beside the target")
    return columns


def _judge(
    profile: ColumnProfile,
    columns: Columns,
    where: str,
    asked: bool,
    extra: Sequence[str],
    marked: bool,
) -> None:
    texts = {text: count for text, count in profile.texts.items() if text not in extra}
    names = asked or profile.nominal or bool(texts)
    gaps = profile.missing + sum(profile.texts[text] for text in extra)
    if not names:
        columns.numeric.append(profile.name)
        columns.n_features += 1
        if gaps or profile.infinite:
            columns.gaps.add("numeric")
        return
    # numbers that a reader makes of texts may be written in several ways
    written = profile.written.keys() - set(extra)
    values = len(texts) + len(profile.numbers)
    if profile.all_written:
        values = len(written) if texts or not marked else len(profile.numbers)
    if texts and profile.numbers and not asked and values > _NAMES_KEPT:
        text = next(iter(texts))
        raise HarnessError(
            f"{where}: column {quoted(profile.name)} holds numbers and texts, such as "
            f"{shown(text, 40)} in row {profile.first_text} (counted from 0): clean it, or say "
            f"--nominal {profile.name} or --drop {profile.name}"
        )
    if values > MOST_CATEGORIES:
        raise HarnessError(
            f"{where}: column {quoted(profile.name)} has {profile.told(values)} different "
            f"names, each of which would be a feature; at most {MOST_CATEGORIES} are: leave it "
            f"out with --drop {profile.name}"
        )
    columns.nominal.append(profile.name)
    columns.n_features += values + bool(gaps)
    if gaps:
        columns.gaps.add("nominal")


def _is_text(profile: ColumnProfile, nominal: Collection[Name], keep: Collection[Name]) -> bool:
    """Tell whether a column holds texts of many words that mostly differ."""
    held = profile.n_texts
    if profile.unsuited or profile.nominal or profile.name in nominal or profile.name in keep:
        return False
    differ = held and not profile.numbers and len(profile.texts) > max(_NAMES_KEPT, held / 2)
    return bool((differ or profile.many) and profile.words >= _WORDS_OF_A_TEXT)


def _useless(profile: ColumnProfile, asked: bool) -> str:
    """Say why a column tells nothing of a point; empty if it may."""
    if profile.unsuited:
        return f"holds {profile.unsuited}, neither numbers nor names"
    held = profile.n_numbers + profile.n_texts
    if not held:
        return "is empty"
    if asked:
        return ""
    named = isinstance(profile.name, str) and _ROW_NAMES.fullmatch(profile.name.strip())
    if profile.counts_rows and (named or profile.rows >= _NAMES_KEPT):
        return "numbers the rows"
    if profile.distinct and named and profile.whole and profile.rows > 1:
        return "names the rows, each in its own way"
    texts = len(profile.texts)
    if profile.n_texts and not profile.numbers and texts > max(_NAMES_KEPT, held / 2):
        return f"holds {profile.told(texts)} different texts in {held} rows"
    if profile.n_texts and not profile.numbers and texts > MOST_CATEGORIES:
        return f"holds {profile.told(texts)} different texts"
    return ""


def _extra_marks(
    profiles: Sequence[ColumnProfile], nominal: Collection[Name], target: ColumnProfile | None
) -> list[str]:
    """List texts that stand so seldom among numbers that they can only mean a missing one."""
    found: dict[str, None] = {}
    for profile in profiles:
        few = 0 < len(profile.texts) <= _ODD_TEXTS
        seldom = profile.n_texts <= _ODD_SHARE * profile.n_numbers
        if few and seldom and len(profile.numbers) > _NAMES_KEPT and profile.name not in nominal:
            found |= dict.fromkeys(profile.texts)
    return [text for text in found if target is None or text not in target.texts]


def _tell_constant(profiles: Sequence[ColumnProfile], columns: Columns) -> None:
    kept = {*columns.numeric, *columns.nominal}
    constant = [p.name for p in profiles if p.name in kept and p.values == 1 and not p.missing]
    if constant:
        names = listed(constant)
        columns.told.append(f"the same value in every row: {names}, kept (--drop leaves out)")
    few = [
        p.name
        for p in profiles
        if p.name in columns.numeric and p.whole and 2 < len(p.numbers) <= _NAMES_KEPT
    ]
    if few:
        names = listed(few)
        columns.told.append(f"few whole numbers, taken as numbers: {names} (--nominal: as names)")
