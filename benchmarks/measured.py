"""Claimed against true: known allocations through `harness exec`, `measure` and `budget`.

A NumPy array, a bytes object and native memory (malloc through ctypes) of known size are made and
every page of them written. "held" is still there when the mark is read. "freed" is not: the
kernel then has only the mark that it keeps itself, in batches of pages a core. For a command, what
the same command holds that allocates nothing is taken off. It is to be true to 25 kB + 1 %.

    python benchmarks/measured.py [--sizes 1 10 100] [--backends auto rlimit-data watch] [--json]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys

import numpy as np

from harness import budget, measure
from harness.measuring import run_command


class Native:
    """A block of malloc, given back with this object or with its process."""

    def __init__(self, size: int) -> None:
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        self._free = libc.free
        self._block = ctypes.c_void_p(libc.malloc(ctypes.c_size_t(size)))
        ctypes.memset(self._block, 1, size)

    def __del__(self) -> None:
        self._free(self._block)

    def __reduce__(self) -> tuple:
        return (int, ())  # an address is of no use elsewhere


KINDS = {
    "numpy": lambda size: np.ones(size, dtype=np.uint8),
    "bytes": lambda size: b"1" * size,
    "native": Native,
}


def allocate(kind: str, size: int, end: str) -> object:
    """Allocate, and return it only if it is to be held."""
    made = KINDS[kind](size) if size else None
    return made if end == "held" else None


def by_command(kind: str, size: int, end: str, backend: str) -> int:
    """Return the peak of a command that allocates."""
    command = [sys.executable, __file__, "--allocate", kind, str(size), end]
    result = run_command(command, "1GB", backend=backend)
    if result.outcome != "ok":
        raise SystemExit(f"{kind} of {size} bytes: {result.reason}")
    return result.peak_bytes


def by_block(kind: str, size: int, end: str) -> int:
    """Return the peak of a block."""
    with budget("1GB") as b:
        held = allocate(kind, size, end)
    del held
    return b.peak_bytes


def by_callable(kind: str, size: int, end: str) -> int:
    """Return the peak of a callable."""
    return measure(allocate, kind, size, end, budget="1GB").peak_bytes


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=float, nargs="+", default=[1, 10, 100], help="in MB")
    parser.add_argument("--backends", nargs="+", default=["auto", "rlimit-data", "watch"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--allocate", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.allocate:
        kind, size, end = options.allocate
        held = allocate(kind, int(size), end)
        os._exit(int(held is None and end == "held" and int(size) > 0))
    ways = {"measure": by_callable, "budget": by_block}
    for backend in options.backends:
        bare = by_command("numpy", 0, "freed", backend)
        ways[f"exec, {backend}"] = lambda *what, backend=backend, bare=bare: (
            by_command(*what, backend) - bare
        )
    rows = [
        {"way": way, "kind": kind, "end": end, "true": size, "claimed": claim(kind, size, end)}
        for way, claim in ways.items()
        for kind in KINDS
        for end in ("held", "freed")
        for size in (round(1e6 * size) for size in options.sizes)
    ]
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    print("| way | kind | at the end | true, bytes | claimed, bytes | error | within |")
    print("| --- | --- | --- | ---: | ---: | ---: | --- |")
    for row in rows:
        true, claimed = row["true"], row["claimed"]
        within = "yes" if abs(claimed - true) <= 25_000 + true / 100 else "no"
        print(
            f"| {row['way']} | {row['kind']} | {row['end']} | {true:,} | {claimed:,} "
            f"| {claimed - true:+,} | {within} |"
        )


if __name__ == "__main__":
    main()
