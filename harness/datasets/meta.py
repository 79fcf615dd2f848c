"""What is written beside prepared data, and the checks that it still describes it.

Nothing heavy is imported until arrays are looked at: Snakemake reads `meta.json` in every job.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.errors import DamagedFileError
from harness.files import read_json

DENSE, SPARSE = "X.npy", "X.npz"
"""What prepared features are called."""

FACTS = "facts.npy"
"""What the groups and the order of points are called, a row for each."""

FILES = (DENSE, SPARSE, "y.npy", FACTS, "meta.json")
"""All that may be there; of the first two it is one."""

_BLOCK = 1 << 20


class Meta(BaseModel):
    """The contents of `meta.json`.

    Parameters
    ----------
    name, task, scaling, citation : str
        As in the catalog.
    n, d, n_classes : int
    n_train : int or None
        How many of the first points are the official training part.
    class_names : tuple of str
        Name of each class number; empty for regression.
    class_counts : tuple of int
        Points of each class number.
    dtype : str
        Of X. y is int64 for classification and float64 for regression.
    itemsize : int
        Bytes of one element of X.
    sha256 : str
        Of the features' file followed by `y.npy`, and by `facts.npy` where it is there.
    digest : str
        Of the catalog's entry.
    nnz : int or None, default None
        Nonzeros of X, where it is sparse.
    n_unlabeled : int, default 0
        Points that have no label, of the n.
    facts : tuple of str, default ()
        Which rows `facts.npy` has, in order: "groups", "order".
    largest_group : int or None, default None
        Points with a label of the largest group.
    divide_by : float, default 1
        What small integers are still to be divided by.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    task: Literal["binary", "multiclass", "regression"]
    n: int = Field(gt=0)
    d: int = Field(gt=0)
    n_train: int | None
    n_classes: int
    class_names: tuple[str, ...]
    class_counts: tuple[int, ...]
    dtype: Literal["float32", "float64", "uint8"]
    itemsize: int
    scaling: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    digest: str
    citation: str
    nnz: int | None = None
    n_unlabeled: int = 0
    facts: tuple[str, ...] = ()
    largest_group: int | None = None
    divide_by: float = 1.0

    @classmethod
    def read(cls, directory: Path) -> Meta:
        """Read and check `meta.json` against itself and against the headers of the arrays.

        Raises
        ------
        HarnessError
            If a file is missing, altered or cut short, naming it and what to do.
        """
        directory = Path(directory)
        meta = cls.read_alone(directory)
        target = "float64" if meta.task == "regression" else "int64"
        meta._check_array(directory / meta.features, (meta.n, meta.d), meta.dtype, meta.nnz)
        meta._check_array(directory / "y.npy", (meta.n,), target)
        if meta.facts:
            meta._check_array(directory / FACTS, (len(meta.facts), meta.n), "int64")
        return meta

    @property
    def features(self) -> str:
        """The name of the features' file."""
        return DENSE if self.nnz is None else SPARSE

    @classmethod
    def read_alone(cls, directory: Path) -> Meta:
        """Read and check `meta.json` against itself, without a look at the arrays.

        Raises
        ------
        DamagedFileError
            If it is missing, altered, cut short or of another version, naming it.
        """
        path = Path(directory) / "meta.json"
        raw = read_json(path, dict)
        seal = raw.pop("seal", None)
        try:
            meta = cls.model_validate(raw)
        except ValueError as error:
            reason = " ".join(str(error).splitlines()[:3])
            message = f"{path}: not what this version writes ({reason})"
            raise DamagedFileError(path, message) from None
        if seal != meta._seal():
            raise DamagedFileError(path, f"{path}: was altered after it was written")
        return meta

    def write(self, directory: Path) -> None:
        """Write `meta.json`."""
        text = json.dumps(self._told() | {"seal": self._seal()}, indent=1)
        (Path(directory) / "meta.json").write_text(text + "\n", encoding="utf-8")

    def verify(self, directory: Path) -> None:
        """Compute the hash of the arrays again.

        Raises
        ------
        HarnessError
            If it is not the one that was written.
        """
        found = content_sha256(directory)
        if found != self.sha256:
            raise DamagedFileError(
                Path(directory) / "meta.json",
                f"{directory}: {self.features} and y.npy have sha256 {found}, "
                f"meta.json says {self.sha256}",
            )

    def _seal(self) -> str:
        text = json.dumps(self._told(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _told(self) -> dict[str, Any]:
        # what was written before there was any of these is as it was
        later = {"nnz": None, "n_unlabeled": 0, "facts": (), "largest_group": None}
        usual = later | {"divide_by": 1.0}
        unsaid = {name for name, value in usual.items() if getattr(self, name) == value}
        return self.model_dump(mode="json", exclude=unsaid)

    @staticmethod
    def _check_array(
        path: Path, shape: tuple[int, ...], dtype: str, nnz: int | None = None
    ) -> None:
        import numpy as np

        from harness.datasets.rows import read_header

        header = read_header(path)
        if header.shape != shape or header.dtype != np.dtype(dtype):
            raise DamagedFileError(
                path.with_name("meta.json"),
                f"{path}: holds {header.shape} of {header.dtype}, "
                f"meta.json says {shape} of {dtype}",
            )
        if getattr(header, "nnz", None) != nnz:
            raise DamagedFileError(
                path.with_name("meta.json"), f"{path}: has not the nonzeros that meta.json says"
            )


def features_file(directory: Path) -> Path:
    """Return the file of the prepared features in a folder: of a dense or a sparse matrix."""
    sparse = Path(directory) / SPARSE
    return sparse if sparse.exists() else Path(directory) / DENSE


def content_sha256(directory: Path) -> str:
    """Hash the features' file followed by `y.npy`, and by `facts.npy` where it is there."""
    digest = hashlib.sha256()
    paths = [features_file(directory), Path(directory) / "y.npy", Path(directory) / FACTS]
    for path in paths[: 3 if paths[2].exists() else 2]:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()
