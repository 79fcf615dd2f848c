"""How true the formulas are that come with the harness, on trials of a study that was run.

`python benchmarks/shipped_storage.py results/NAME/trials.parquet`. Budgets of the study should be
larger than what its methods need. The figures in docs/advice.md are of twelve methods on adult,
cod-rna, kr-vs-kp and digits, and on the first two with 5,000 test points, too; with 400 labels,
100MB and two seeds.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from harness.planning.learned.shipped import ShippedStorage, read_shipped
from harness.planning.size import plan
from harness.plugin.method import N_UNLABELED
from harness.plugin.registry import Registry
from harness.plugin.shape import Shape

_COUNTS = ("n_labeled", "n_unlabeled", "n_features", "n_classes", "n_test")


def compared(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the peak of each trial that ended ok in parts of the formula at its size."""
    methods = {method.name: method for method, _ in Registry.load().items("methods")}
    shipped = read_shipped()
    known = rows["plugin_method"].isin(list(shipped)) & (rows["outcome"] == "ok")
    for row in rows[known].to_dict("records"):
        method = methods[row["plugin_method"]].learned(shipped[row["plugin_method"]])
        shape = Shape(*(int(row[name]) for name in _COUNTS))
        size = None if pd.isna(row["size"]) else int(row["size"])
        fixed = {} if method.size in (None, N_UNLABELED) else {method.size: size}
        made = plan(method, shape, None, fixed, size if method.size == N_UNLABELED else None)
        storage = method.storage
        assert isinstance(storage, ShippedStorage)
        seen = method.training_shape(shape, made.size, made.n_kept)
        yield {
            "method": method.name,
            "within": storage.covers(seen, made.size),
            "share": row["peak_bytes"] / made.planned_bytes,
        }


def main() -> None:
    """Print a table by method, apart where a formula is asked beyond what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trials", type=Path)
    table = pd.DataFrame(compared(pd.read_parquet(parser.parse_args().trials)))
    if table.empty:
        parser.error("no trial that ended ok is of a method with such a formula")
    shares = table.groupby(["method", "within"])["share"]
    print(shares.agg(["count", "min", "median", "max"]).round(2).to_string())


if __name__ == "__main__":
    main()
