"""What is written beside prepared data, and the checks that it still describes it.

Nothing heavy is imported until arrays are looked at: Snakemake reads `meta.json` in every job.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.errors import DamagedFileError
from harness.files import read_json

FILES = ("X.npy", "y.npy", "meta.json")

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
        Of `X.npy` followed by `y.npy`.
    digest : str
        Of the catalog's entry.
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
    dtype: Literal["float32", "float64"]
    itemsize: int
    scaling: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    digest: str
    citation: str

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
        meta._check_array(directory / "X.npy", (meta.n, meta.d), meta.dtype)
        meta._check_array(directory / "y.npy", (meta.n,), target)
        return meta

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
        text = json.dumps(self.model_dump(mode="json") | {"seal": self._seal()}, indent=1)
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
                f"{directory}: X.npy and y.npy have sha256 {found}, meta.json says {self.sha256}",
            )

    def _seal(self) -> str:
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @staticmethod
    def _check_array(path: Path, shape: tuple[int, ...], dtype: str) -> None:
        import numpy as np

        from harness.datasets.rows import read_header

        header = read_header(path)
        if header.shape != shape or header.dtype != np.dtype(dtype):
            raise DamagedFileError(
                path.with_name("meta.json"),
                f"{path}: holds {header.shape} of {header.dtype}, "
                f"meta.json says {shape} of {dtype}",
            )


def content_sha256(directory: Path) -> str:
    """Hash `X.npy` followed by `y.npy`."""
    digest = hashlib.sha256()
    for name in FILES[:2]:
        with (Path(directory) / name).open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()
