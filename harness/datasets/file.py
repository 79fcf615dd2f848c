"""One file of a data set: where it is to be had, and which bytes it must have.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator, model_validator

from harness.datasets.strict_model import Strict
from harness.files import why_no_path

Checksum = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class File(Strict):
    """One file that a data set is read from.

    Parameters
    ----------
    name : str, default the last part of `path`
        Its name in the cache and in a mirror, without a packing's ending.
    urls : list of str
        Tried in this order until one gives the bytes that the checksum asks for.
    checked : str, default ""
        How it is known that the addresses have these bytes, and when it was looked at.
    path : str, optional
        A file that is there already, relative to the catalog.
    member : str, optional
        The file that is read, where this one is a zip or tar archive of several.
    sha256 : str, optional
        Checksum of the unpacked bytes, so that plain and packed copies both verify. Of an archive
        it is that of the member.
    packed_sha256 : str, optional
        Checksum of the file as it is downloaded, where only that is known.
    bytes : int, default 0
        Size of the download.
    mirror : str, optional
        Where a mirror keeps it, if not under `<data set>/<name>`.
    """

    name: str = ""
    urls: tuple[str, ...] = ()
    checked: str = ""
    path: Path | None = None
    member: str | None = Field(default=None, min_length=1)
    sha256: Checksum | None = None
    packed_sha256: Checksum | None = None
    bytes: int = Field(default=0, ge=0)
    mirror: str | None = None

    @field_validator("name", "mirror")
    @classmethod
    def _within_its_folder(cls, name: str | None, info: ValidationInfo) -> str | None:
        reason = why_no_path(name) if name else ""
        if not reason and info.field_name == "name" and "/" in (name or ""):
            reason = "it is the name of one file, without a folder"
        if reason:
            raise ValueError(f"names no file of a mirror or the cache: {reason}")
        return name

    @field_validator("path")
    @classmethod
    def _relative_to_the_catalog(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        folder = (info.context or {}).get("folder")
        try:
            return path if path is None or folder is None else (folder / path).resolve()
        except (OSError, RuntimeError) as error:  # links that go round are a RuntimeError
            raise ValueError(f"cannot be followed: {error}") from None

    @model_validator(mode="after")
    def _named(self) -> File:
        if self.path is not None and (self.urls or self.mirror):
            raise ValueError("a file has either a path or urls, not both")
        if not self.name:
            if self.path is None:
                raise ValueError("a file needs a name (or the path of a local file)")
            object.__setattr__(self, "name", self.path.name)
        return self
