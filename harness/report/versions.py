"""With which versions of libraries rows were made, told apart where they are several."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

NO_ARITHMETIC = {"kernel", "snakemake", "pandas", "pyarrow"}
"""What computes no score."""


def count_versions(rows: Mapping[str | None, int]) -> dict[str, dict[str, int]]:
    """Count the trials of each version of each package, most trials first.

    Parameters
    ----------
    rows : mapping of str or None to int
        The column `versions` of trials, and how many say so.

    Returns
    -------
    dict of str to dict of str to int
        By package; of trials whose row says no versions nothing is known.
    """
    counted: dict[str, Counter[str]] = {}
    for said, trials in rows.items():
        for package, version in (json.loads(said) if said else {}).items():
            counted.setdefault(package, Counter())[str(version)] += trials
    return {package: dict(versions.most_common()) for package, versions in counted.items()}


def several_versions(counted: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Warn where what computes scores is of several versions: a sentence, or none."""
    mixed = [
        f"{package} {in_words(versions)}"
        for package, versions in sorted(counted.items())
        if len(versions) > 1 and package not in NO_ARITHMETIC
    ]
    if not mixed:
        return []
    return [
        "These rows were made with several versions, which may be why some differ: "
        f"{'; '.join(mixed)}."
    ]


def in_words(versions: Mapping[str, int]) -> str:
    """Write the versions of a package with their trials: "1.9.1 (40 trials), 1.8.0 (2 trials)"."""
    return ", ".join(f"{version} ({trials:,} trials)" for version, trials in versions.items())
