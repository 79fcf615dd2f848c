"""Pictures that are added: of MNIST's format, or in folders that are called as their class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from harness.datasets.adding.profiles import MOST_LABELS, ColumnProfile
from harness.datasets.adding.tables import reported
from harness.datasets.idx_files import read_idx
from harness.datasets.image_folders import look_at_pictures
from harness.errors import HarnessError


@dataclass(frozen=True)
class Pictures:
    """What is known of pictures without a guess.

    Parameters
    ----------
    read : dict
        `format` and the options by which a catalog reads them.
    labels : ColumnProfile
    where : str
        What holds the labels, for messages.
    d : int
        Numbers of one picture.
    told : list of str
    """

    read: dict[str, Any]
    labels: ColumnProfile
    where: str
    d: int
    told: list[str]


def images_and_labels(paths: Sequence[Path]) -> Pictures:
    """Look at files of images and of labels, which take turns.

    Raises
    ------
    HarnessError
        If they do not, or are not of one size.
    """
    if len(paths) % 2:
        raise HarnessError(f"{paths[-1]}: images and labels are given in turn: add IMAGES LABELS")
    labels = ColumnProfile("labels", most=MOST_LABELS)
    features = set()
    for images, names in zip(paths[::2], paths[1::2], strict=True):
        with reported(images, "idx"):
            X = read_idx(images)
        with reported(names, "idx"):
            y = read_idx(names)
        if X.ndim < 2 or y.ndim != 1 or len(X) != len(y):
            raise HarnessError(
                f"{images}: holds {X.shape}, and {names} {y.shape}: images and labels are given "
                "in turn, as many of each"
            )
        features.add(X[0].size)
        labels.update(pd.Series(y))
    if len(features) > 1:
        raise HarnessError(f"{paths[2]}: the images are of another size than in {paths[0]}")
    told = ["images and labels of MNIST's format"]
    return Pictures({"format": "idx"}, labels, str(paths[1]), features.pop(), told)


def folders_of_pictures(paths: Sequence[Path]) -> Pictures:
    """Look at pictures in folders, or in archives of folders.

    Raises
    ------
    HarnessError
        If there is none, or one cannot be read.
    """
    try:
        looked = look_at_pictures(paths)
    except ValueError as error:
        raise HarnessError(f"{paths[0]}: {error}") from None
    labels = ColumnProfile("folder", most=MOST_LABELS)
    labels.update(pd.Series(looked.labels))
    read: dict[str, Any] = {"format": "images"}
    read |= {"size": list(looked.size)} if looked.differ else {}
    read |= {"color": "rgb"} if looked.in_color else {}
    height, width = looked.size
    told = [f"pictures of {height} x {width}, whose class is the folder"]
    if looked.differ:
        told.append(f"they differ in size: all are brought to {height} x {width} (`size`)")
    many = height * width * (3 if looked.in_color else 1)
    return Pictures(read, labels, str(paths[0]), many, told)
