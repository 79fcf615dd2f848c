"""Methods that end badly, one way each, and one that behaves beside them."""

import contextlib
import ctypes
import mmap
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer

from harness import Method, hookimpl


class Behaves(BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y[y >= 0])
        self.center_ = X[y == self.classes_[-1]].mean(axis=0)
        return self

    def decision_function(self, X):
        return X @ self.center_


class Segfaults(Behaves):
    def fit(self, X, y):
        ctypes.string_at(0)


class IsKilled(Behaves):
    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class LoopsInPython(Behaves):
    def fit(self, X, y):
        while True:
            pass


class LoopsInC(Behaves):
    def fit(self, X, y):
        np.sort(np.zeros(1)) if len(X) == 0 else sum(iter(int, 1))


class ForkBomb(Behaves):
    def fit(self, X, y):
        for _ in range(20):
            if os.fork() == 0:
                time.sleep(600)
                os._exit(0)
        return super().fit(X, y)


class ClosesFiles(Behaves):
    def fit(self, X, y):
        os.closerange(3, 256)
        return super().fit(X, y)


class PredictsNaN(Behaves):
    def decision_function(self, X):
        return np.full(len(X), np.nan)


class WrongShape(Behaves):
    def decision_function(self, X):
        return np.zeros((len(X), 7))


class WrongType(Behaves):
    def decision_function(self, X):
        return ["positive"] * len(X)


class Raises(Behaves):
    def fit(self, X, y):
        message = "this method has a bug"
        raise RuntimeError(message)


class TakesTooMuch(Behaves):
    def fit(self, X, y):
        self.hoard_ = np.ones(50_000_000)
        return super().fit(X, y)


class KillsItsParent(Behaves):
    def fit(self, X, y):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)


class StopsItsParent(Behaves):
    def fit(self, X, y):
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(600)


class KillsTheWorker(Behaves):
    def fit(self, X, y):
        stat = Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
        time.sleep(600)


class AltersRows(Behaves):
    """Makes other trials' rows its own way."""

    def fit(self, X, y):
        with contextlib.suppress(FileNotFoundError):
            for path in Path("results").rglob("journal/**/*.jsonl"):
                path.write_text("{}\n")
        return super().fit(X, y)


class WritesItsInput(Behaves):
    def fit(self, X, y):
        X *= 2
        return super().fit(X, y)


class SearchesForLabels(Behaves):
    """Looks through all of its process's own memory for the labels that it must not see.

    What it looks for is kept inverted beside this file, and memory is inverted before it is
    compared, so that the search does not find itself.
    """

    plants = False

    def fit(self, X, y):
        sought = np.load(Path(__file__).with_name("inverted.npy"))
        copy = ~sought if self.plants else None
        pattern = sought.tobytes()
        chunk = mmap.mmap(-1, 1 << 22)
        inverted = np.frombuffer(chunk, dtype=np.uint8)
        own = inverted.__array_interface__["data"][0]
        with (
            Path("/proc/self/maps").open() as maps,
            Path("/proc/self/mem").open("rb", 0) as memory,
        ):
            spans = []
            for line in maps.read().splitlines():
                span, rights, _, _, inode, *_ = line.split()
                start, end = (int(address, 16) for address in span.split("-"))
                if inode != "0" or "r" not in rights or "[v" in line or start <= own < end:
                    continue
                if spans and spans[-1][1] == start:  # the heap may be in several parts
                    start = spans.pop()[0]
                spans.append((start, end))
            for start, end in spans:
                for position in range(start, end, len(chunk) - len(pattern)):
                    memory.seek(position)
                    found = memory.readinto(memoryview(chunk)[: min(len(chunk), end - position)])
                    np.invert(inverted, out=inverted)
                    if chunk.find(pattern, 0, found) >= 0:
                        raise RuntimeError("labels in memory")
        del copy
        return super().fit(X, y)


class PlantsLabels(SearchesForLabels):
    plants = True


def own_features():
    """Find where the features lie, among the variables of those that called the method."""
    frame = sys._getframe()
    while "assignment" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["assignment"].features


class OpensLabels(Behaves):
    """Finds where its features lie and opens the file beside them."""

    def fit(self, X, y):
        path = own_features()
        self.truth_ = np.load(path.with_name("y.npy"))
        return super().fit(X, y)


class LoadsTheSource(Behaves):
    def fit(self, X, y):
        self.truth_ = load_breast_cancer().target
        return super().fit(X, y)


class AltersFeatures(Behaves):
    def fit(self, X, y):
        path = own_features()
        with path.open("r+b") as file:
            file.seek(-8000, os.SEEK_END)
            file.write(bytes(8000))
        return super().fit(X, y)


def no_storage(shape, size):
    raise KeyError("no such constant")


@hookimpl
def harness_methods():
    yield Method("no-storage", Behaves, storage=no_storage)
    for name, estimator in {
        "behaves": Behaves,
        "segfaults": Segfaults,
        "is-killed": IsKilled,
        "loops-in-python": LoopsInPython,
        "loops-in-c": LoopsInC,
        "fork-bomb": ForkBomb,
        "closes-files": ClosesFiles,
        "predicts-nan": PredictsNaN,
        "wrong-shape": WrongShape,
        "wrong-type": WrongType,
        "raises": Raises,
        "takes-too-much": TakesTooMuch,
        "kills-its-parent": KillsItsParent,
        "stops-its-parent": StopsItsParent,
        "kills-the-worker": KillsTheWorker,
        "alters-rows": AltersRows,
        "writes-its-input": WritesItsInput,
        "searches-for-labels": SearchesForLabels,
        "plants-labels": PlantsLabels,
        "opens-labels": OpensLabels,
        "loads-the-source": LoadsTheSource,
        "alters-features": AltersFeatures,
    }.items():
        yield Method(name, estimator, storage=lambda shape, size: 2 * shape.data_bytes)
