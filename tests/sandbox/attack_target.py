"""Where things lie for a method that attacks, and what attacks share."""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
LABELED = 40
NOTE = "harness-attack-note"


@dataclass
class Target:
    """Where things lie; a method finds its features' path in its own memory."""

    y: np.ndarray  # of fit
    features: Path
    mirror: Path
    results: Path
    plugin: Path
    port: int

    @property
    def labels(self):
        return self.features.with_name("y.npy")

    @property
    def journal(self):
        return self.results / "journal.jsonl"

    @property
    def runner(self):
        return os.getppid()

    @property
    def worker(self):
        return int(Path(f"/proc/{self.runner}/stat").read_text().rpartition(")")[2].split()[1])


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class EscapedError(Exception):
    """Did what no trial may do, and no label or file shows it."""
