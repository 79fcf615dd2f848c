"""What `harness add` makes of the files of the catalog's sets, beside what the catalog says.

    HARNESS_MIRROR=dir python benchmarks/adding.py [--datasets a9a wine ...]

By default of every set whose files the mirror has, and of those inside scikit-learn, which are
written as CSV for it. Each is added by the paths of its files alone, read as preparation reads it,
and compared in task, n, d and classes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import pandas as pd

from harness.datasets import load_catalog
from harness.datasets.adding import add
from harness.datasets.entry import Entry
from harness.datasets.fetching import PACKINGS
from harness.datasets.preparation import load
from harness.datasets.texts import read_source
from harness.errors import HarnessError


def files_of(entry: Entry, mirror: Path | None, folder: Path) -> list[Path]:
    """Return the files of a set, none if they are not at hand."""
    if entry.format == "sklearn":
        source = read_source(entry, [])
        frame = pd.DataFrame(source.X).rename(columns=lambda at: f"x{at}").assign(y=source.target)
        frame.to_csv(folder / f"{entry.name}.csv", index=False)
        return [folder / f"{entry.name}.csv"]
    found = []
    for file in entry.files if mirror else ():
        place = file.mirror or f"{entry.name}/{file.name}"
        there = [mirror / f"{place}{packing}" for packing in PACKINGS]
        found += [path for path in there if path.is_file()][:1]
    return found if len(found) == len(entry.files) else []


def outcome(entry: Entry, files: list[Path], catalog: Path) -> str:
    """Add the files and say in what the entry differs from the catalog's."""
    try:
        found = add(files, name="tried", catalog=catalog)
    except HarnessError as error:
        return f"refused: {error}"
    other = Entry.model_validate(
        {"name": entry.name} | found.body, context={"folder": catalog.parent}
    )
    shape = load(other)[0].shape
    if shape != (other.n, other.d):
        return f"WRONG: {shape} came out of {other.n} x {other.d}"
    differing = [
        f"{key} {getattr(other, key)}"
        for key in ("task", "n", "d")
        if getattr(other, key) != getattr(entry, key)
    ]
    if dict(other.classes) != dict(entry.classes):
        differing.append(f"classes {', '.join(other.classes)}")
    return "differs: " + "; ".join(differing) if differing else "same"


def main() -> None:
    """Print a line a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="*")
    options = parser.parse_args()
    catalog = load_catalog()
    mirror = Path(os.environ["HARNESS_MIRROR"]) if os.environ.get("HARNESS_MIRROR") else None
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)  # counts are kept there
        for dataset in options.datasets or catalog:
            entry = catalog.entry(dataset)
            files = files_of(entry, mirror, folder)
            if not files:
                continue
            started = time.perf_counter()
            told = outcome(entry, files, folder / f"{dataset}.yaml")
            seconds = time.perf_counter() - started
            print(f"{dataset:22} {seconds:6.1f} s  {told}", flush=True)
            kind = told.partition(":")[0]
            counts[kind] = counts.get(kind, 0) + 1
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))


if __name__ == "__main__":
    main()
