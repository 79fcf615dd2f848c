"""Data sets that a plugin computes: from a seed that follows from the name, and its own files."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from harness.datasets import reading
from harness.datasets.encoding import Source, as_declared
from harness.datasets.entry import Declared
from harness.errors import HarnessError

_CODE = (".py", ".pyc", ".so")

_opened: list[set[Path]] = []
"""Files that were opened, of each `_noting_files` that is under way."""


def read_generated(entry: Declared, read: reading.Generated) -> Source:
    """Call a plugin's function.

    Raises
    ------
    HarnessError
        If it fails, or reads a file beside it that its data set does not declare.
    """
    seed = np.random.SeedSequence(list(entry.name.encode()))
    try:
        with _noting_files() as opened:
            X, y, *facts = read.dataset.generate(np.random.default_rng(seed))
    except Exception as error:
        raise HarnessError(
            f"data set {entry.name!r}: its plugin failed to generate it: "
            f"{type(error).__name__}: {error}"
        ) from error
    undeclared = _undeclared(read.dataset.generate, read.dataset.files, opened)
    if undeclared:
        raise HarnessError(
            f"data set {entry.name!r}: its plugin reads {undeclared[0]}, which it does not "
            "declare: add it to `files` of its GeneratedDataset, so that another content gives "
            "another data set"
        )
    # copies: scaling works in place, and the arrays are the plugin's
    X, y = X.tocsr(copy=True) if sparse.issparse(X) else np.array(X), np.array(y)
    if X.ndim != 2 or y.ndim != 1:
        raise ValueError(f"X of shape (n, d) and y of shape (n,) wanted, got {X.shape}, {y.shape}")
    said = {key: np.array(values).ravel() for key, values in (facts[0] if facts else {}).items()}
    if said.keys() != entry.fact_sources.keys():
        raise ValueError(
            f"with X and y it returns {', '.join(said) or 'nothing'}, and its GeneratedDataset "
            f"declares {', '.join(entry.fact_sources) or 'nothing'} (largest_group, has_order)"
        )
    return Source(as_declared(X, entry), y, [len(y)], said)


@contextmanager
def _noting_files() -> Iterator[set[Path]]:
    _listen()
    _opened.append(set())
    try:
        yield _opened[-1]
    finally:
        _opened.pop()


@functools.cache
def _listen() -> None:
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _opened and isinstance(arguments[0], str):
        with suppress(OSError, ValueError):
            _opened[-1].add(Path(arguments[0]).resolve())


def _undeclared(
    generate: Callable[..., Any], declared: tuple[Path, ...], opened: set[Path]
) -> list[Path]:
    """List files below the folder of the plugin that were read and are not declared."""
    while isinstance(generate, functools.partial):
        generate = generate.func
    try:
        folder = Path(inspect.getfile(inspect.unwrap(generate))).resolve().parent
    except TypeError:  # an object that is called
        folder = Path(inspect.getfile(type(generate))).resolve().parent
    known = {path.resolve() for path in declared}
    return sorted(
        path
        for path in opened - known
        if path.is_relative_to(folder) and path.suffix not in _CODE and path.is_file()
    )
