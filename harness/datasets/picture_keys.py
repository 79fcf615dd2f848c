"""What a catalog says of pictures: those of folders, and those in a column of a table."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.datasets.strict_model import Strict


class Pictures(Strict):
    """How pictures become features: gray or in color, all of one size.

    Parameters
    ----------
    size : [int, int], optional
        Height and width that all are brought to. By default all are of one size already.
    color : {"gray", "rgb"}, default "gray"
    """

    size: tuple[Annotated[int, Field(gt=0)], Annotated[int, Field(gt=0)]] | None = None
    color: Literal["gray", "rgb"] = "gray"


class Images(Pictures):
    """Pictures in folders that are called as their class, or in an archive of such folders."""

    format: Literal["images"]


class PictureColumn(Pictures):
    """A column of encoded pictures, as data sets of Hugging Face have them.

    Parameters
    ----------
    column : str, default "image"
        Its name.
    """

    column: str = "image"
