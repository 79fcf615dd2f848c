"""The trials as a page carries them: columns in few bytes, which its script unfolds when asked.

A cell of a table leads to its seeds, and a count of bad endings to its trials, without a network.
Columns of numbers are rounded to what is shown and compressed together, ordered by cell.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import yaml

from harness.errors import HarnessError
from harness.files import read_json
from harness.project import TEMPLATES

if TYPE_CHECKING:
    from harness.report.results import Results

MOST_ROWS = 200_000
"""More stand beside the page alone, in `tables/rows.parquet`: some 30 bytes each."""
FIGURES = ("size", "planned_bytes", "peak_bytes", "train_s", "predict_s")
_SCORE_BITS, _FIGURE_BITS = 17, 12
"""Bits of a number that are kept behind the first: five digits of a score, three of others."""
_TYPES = {"float32": "Float32Array", "int32": "Int32Array", "uint8": "Uint8Array"}


def pack_rows(results: Results) -> dict[str, Any] | None:
    """Pack the trials of a study for its page.

    Parameters
    ----------
    results : Results

    Returns
    -------
    dict or None
        `n`; `starts` and `ids`, first row and number of each cell; `cells`, its problem, budget,
        method, label and fingerprint; `names` of outcomes and `reasons`; `metrics`; `columns`
        (name, type and first byte of each) of `bytes`, compressed (gzip) and in base 64. None for
        more than MOST_ROWS trials.
    """
    rows = results.cells
    if len(rows) > MOST_ROWS:
        return None
    needed = (*results.metrics, *FIGURES, "fingerprint")
    rows = rows.assign(**{name: results.column(name) for name in needed})
    rows = rows.iloc[np.argsort(rows["cell"].to_numpy(), kind="stable")]
    metrics = [name for name in results.metrics if rows[name].notna().any()]
    outcome, outcomes = pd.factorize(rows["outcome"])
    reason, reasons = pd.factorize(rows["reason"].fillna(""))
    place, cpus = rows["cpu_place"].to_numpy(), len(results.cpus)
    columns: dict[str, np.ndarray] = {
        "row": rows["row"].to_numpy("int32"),
        "seed": rows["seed"].to_numpy("int64").astype("int32"),
        "reason": reason.astype("int32"),
        **{name: _rounded(rows[name], _SCORE_BITS) for name in metrics},
        **{name: _rounded(rows[name], _FIGURE_BITS) for name in FIGURES},
        "outcome": outcome.astype("uint8"),
        **({"cpu": place.astype("uint8")} if cpus > 1 else {}),
    }
    layout, at = [], 0
    for name, values in columns.items():
        layout.append([name, _TYPES[str(values.dtype)], at])
        at += values.nbytes
    little = (values.astype(values.dtype.newbyteorder("<")) for values in columns.values())
    content = b"".join(values.tobytes() for values in little)
    first = rows.drop_duplicates("cell")
    starts = np.flatnonzero(~rows["cell"].duplicated().to_numpy())
    return {
        "n": len(rows),
        "starts": [int(start) for start in starts],
        "ids": [int(cell) for cell in first["cell"]],
        "cells": [
            [problem, budget, method, label, _block(fingerprint, seed)]
            for problem, budget, method, label, fingerprint, seed in zip(
                *(first[name] for name in ("problem", "budget", "method", "label")),
                first["fingerprint"],
                first["seed"],
                strict=True,
            )
        ],
        "outcomes": list(outcomes),
        "reasons": list(reasons),
        "metrics": metrics,
        "columns": layout,
        # the time of writing would make two pages of the same trials differ
        "bytes": base64.b64encode(gzip.compress(content, 6, mtime=0)).decode("ascii"),
    }


def _rounded(values: pd.Series, bits: int) -> np.ndarray:
    """Round to some bits behind the first, so that what nobody reads costs nothing."""
    numbers = values.to_numpy("float64", na_value=np.nan)
    mantissa, exponent = np.frexp(numbers)
    scale = 2.0 ** (bits + 1)
    return np.ldexp(np.round(mantissa * scale) / scale, exponent).astype("float32")


def _block(fingerprint: Any, seed: int) -> str:
    """Return what the fingerprints of a cell share; "" where they are not of that form."""
    text = fingerprint if isinstance(fingerprint, str) else ""
    end = f"-{seed}"
    return text.removesuffix(end) if text.endswith(end) else ""


def logs_of_blocks(directory: Path) -> dict[str, list[str]]:
    """Tell which logs hold what the trials of a cell printed, by the cell's fingerprint.

    Parameters
    ----------
    directory : Path
        Of the results. Where it lacks the files of its jobs, as a copy of it may, nothing is told.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(directory.glob("jobs/*/*.json")):
        try:
            blocks = read_json(path, dict).get("blocks") or []
        except HarnessError:
            continue
        log = f"logs/{path.parent.name}/{path.stem}.log"
        if (directory / log).is_file():
            for block in blocks:
                if isinstance(block, Mapping) and block.get("fingerprint"):
                    found.setdefault(str(block["fingerprint"]), []).append(log)
    return found


def methods_and_papers(results: Results) -> dict[str, dict[str, str]]:
    """Say where each method of the page comes from: `path`, `sha256` and `reference`.

    A reference that `reports/papers.yaml` knows is written in full.
    """
    papers = yaml.safe_load((TEMPLATES / "papers.yaml").read_text(encoding="utf-8"))
    given = results.provenance.get("plugins")
    entries = [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
    known = {str(one.get("method")): one for one in entries}
    names = results.cells[["method", "plugin_method"]].drop_duplicates()
    found = {}
    for shown, method in zip(names["method"], names["plugin_method"], strict=True):
        entry = known.get(str(method), {})
        told = {key: str(entry.get(key) or "") for key in ("path", "sha256", "reference")}
        told["reference"] = papers.get(told["reference"], told["reference"])
        found[str(shown)] = told | {"name": str(method)}
    return found
