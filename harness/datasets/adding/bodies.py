"""What an entry says once its columns and its target are known: the same for all formats."""

from __future__ import annotations

from typing import Any

from harness.datasets.adding.targets import Target
from harness.datasets.counting import Counts


def finished(
    body: dict[str, Any],
    n: int,
    d: int,
    judged: Target,
    gaps: set[str],
    unlabeled: int,
    told: list[str],
    nnz: int | None = None,
    scaling: str = "standard",
) -> tuple[dict[str, Any], Counts, list[str]]:
    """Return an entry's keys and values in the order in which catalogs have them.

    Parameters
    ----------
    body : dict
        What is known of how it is read.
    n, d : int
        Of texts, d has the other columns alone.
    judged : Target
    gaps : set of {"numeric", "nominal"}
        Kinds of columns in which values are missing.
    unlabeled : int
        Rows without a target.
    told : list of str
        What was guessed so far; extended.
    nnz : int, optional
        Nonzeros of a sparse source.
    scaling : {"standard", "none"}, default "standard"
        Of what is neither sparse nor text.

    Returns
    -------
    body : dict
    counts : Counts
    told : list of str
    """
    said: dict[str, Any] = {"task": judged.task, "n": n, "d": d}
    if judged.classes:
        said["classes"] = dict(judged.classes)
    if judged.positive:
        several = len(judged.positive) > 1
        said["positive"] = list(judged.positive) if several else judged.positive[0]
    body = said | body
    if gaps:
        ways = {"numeric": "median", "nominal": "own"}
        body["missing"] = {kind: ways[kind] for kind in ways if kind in gaps}
        meant = {"numeric": "numbers by the median", "nominal": "names by a value of their own"}
        filled = " and ".join(meant[kind] for kind in meant if kind in gaps)
        told.append(f"values are missing: {filled} (`missing` in the entry says otherwise)")
    if unlabeled:
        body["other_classes"] = "drop"
        rows = f"{unlabeled} row{' has' if unlabeled == 1 else 's have'}"
        told.append(f"{rows} no target: left out")
    if nnz is not None:
        body |= {"sparse": True, "nnz": nnz, "scaling": "maxabs"}
        share = f"{100 * nnz / (n * d):.2g} %"
        told.append(f"{share} is not zero: kept as a sparse matrix (`sparse` in the entry)")
        told.append("columns are divided by their largest magnitude (`scaling` in the entry)")
        return body, Counts(n, d, judged.classes, nnz), told
    if "text" in body:
        # how many words there are is counted where the entry is tried
        body["scaling"] = "unit"
        told.append("words are weighted by TF-IDF (`text` in the entry), each row by its norm")
        return body, Counts(n, d, judged.classes), told
    body["scaling"] = scaling
    meant = {"standard": "scaled to mean 0 and variance 1", "none": "divided by 255"}
    told.append(f"numbers are {meant[scaling]} (`scaling` in the entry)")
    return body, Counts(n, d, judged.classes), told
