"""Data sets: what there is, where its bytes come from, and how they become plain arrays on disk.

`catalog` knows every data set without loading any; `preparation` fetches one, encodes, scales and
writes it once as `X.npy` (`X.npz` of sparse data), `y.npy` and `meta.json`; `rows` and `splits`
are what a trial uses.
Names are imported when they are first used, so that reading a catalog never imports NumPy.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.datasets.catalog import Catalog, load_catalog
    from harness.datasets.entry import Declared, Entry
    from harness.datasets.fetching import missing_bytes, unobtainable
    from harness.datasets.meta import Meta, features_file
    from harness.datasets.preparation import prepare
    from harness.datasets.rows import (
        Features,
        given_row_bytes,
        is_sparse,
        matrix_arrays,
        numbers_at,
        open_mapped,
        read_header,
        read_only,
        read_rows,
        row_blocks,
        scaled,
        x_bytes,
        x_row_bytes,
        x_slice,
    )
    from harness.datasets.sizes import Sizes, split_sizes
    from harness.datasets.sparse_rows import write_sparse
    from harness.datasets.splits import Split, split

_HOME = {
    "Catalog": "catalog",
    "Declared": "entry",
    "Entry": "entry",
    "Features": "rows",
    "Meta": "meta",
    "Sizes": "sizes",
    "Split": "splits",
    "features_file": "meta",
    "given_row_bytes": "rows",
    "is_sparse": "rows",
    "load_catalog": "catalog",
    "matrix_arrays": "rows",
    "missing_bytes": "fetching",
    "numbers_at": "rows",
    "open_mapped": "rows",
    "prepare": "preparation",
    "read_header": "rows",
    "read_only": "rows",
    "read_rows": "rows",
    "row_blocks": "rows",
    "scaled": "rows",
    "split": "splits",
    "split_sizes": "sizes",
    "unobtainable": "fetching",
    "write_sparse": "sparse_rows",
    "x_bytes": "rows",
    "x_row_bytes": "rows",
    "x_slice": "rows",
}

__all__ = [
    "Catalog",
    "Declared",
    "Entry",
    "Features",
    "Meta",
    "Sizes",
    "Split",
    "features_file",
    "given_row_bytes",
    "is_sparse",
    "load_catalog",
    "matrix_arrays",
    "missing_bytes",
    "numbers_at",
    "open_mapped",
    "prepare",
    "read_header",
    "read_only",
    "read_rows",
    "row_blocks",
    "scaled",
    "split",
    "split_sizes",
    "unobtainable",
    "write_sparse",
    "x_bytes",
    "x_row_bytes",
    "x_slice",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
