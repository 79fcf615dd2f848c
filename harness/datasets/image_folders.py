"""Pictures in folders, or in an archive of folders: the class of each is its folder's name.

Arrays of NumPy (`.npy`) need no other library. Pictures are decoded by Pillow, the extra `images`:
what PNG and JPEG are is too much to write here, and Pillow itself needs nothing else.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from harness.datasets.encoding import Source
from harness.datasets.picture_keys import Images, Pictures
from harness.errors import HarnessError
from harness.files import files_below, is_folder

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".bmp", ".gif", ".tif", ".tiff"})
ENDINGS = frozenset({*PICTURES, ".webp", ".npy"})

_BILINEAR = 2
"""As Pillow numbers it."""
_NO_PILLOW = "pictures need Pillow: pip install 'memory-budget-harness[images]'"


def read_image_folders(read: Images, paths: Sequence[Path]) -> Source:
    """Read all pictures, in the order of their names: uint8 of shape (n, height x width x colors).

    Raises
    ------
    ValueError
        If there is none, one cannot be read, or they differ in size and `size` is not given.
    """
    X: list[np.ndarray] = []
    names: list[str] = []
    parts: list[int] = []
    first = ""
    for path in paths:
        before = len(X)
        for name, content in pictures(path):
            values = picture_array(name, content, read)
            first = first or name
            refuse_other_size(name, values, first, X[0] if X else values)
            X.append(values)
            names.append(name)
        parts.append(len(X) - before)
        if not parts[-1]:
            raise ValueError(f"{path.name} holds no folder of pictures ({_listed()})")
    flat = np.stack(X).reshape(len(X), -1)
    labels = np.array([PurePosixPath(name).parent.name for name in names])
    return Source(flat, labels, parts, names=names)


def refuse_other_size(name: str, values: np.ndarray, first: str, like: np.ndarray) -> None:
    """Refuse a picture of another size than the first.

    Raises
    ------
    ValueError
        Naming both.
    """
    if values.shape != like.shape:
        raise ValueError(
            f"{name} is {_described(values)} and {first} {_described(like)}: write the size that "
            "all are to have, such as size: [28, 28]"
        )


@dataclass(frozen=True)
class Looked:
    """What there is in folders of pictures.

    Attributes
    ----------
    labels : list of str
        The class of each.
    size : (int, int)
        Height and width that most have.
    differ : bool
        Whether some have another.
    in_color : bool
        Whether some have colors.
    """

    labels: list[str]
    size: tuple[int, int]
    differ: bool
    in_color: bool


def look_at_pictures(paths: Sequence[Path]) -> Looked:
    """Look at all pictures, of which the size is read and no more.

    Raises
    ------
    ValueError
        If there is none, or one cannot be read.
    HarnessError
        If Pillow is needed and not installed.
    """
    labels, sizes, in_color = [], Counter[tuple[int, int]](), False
    for path in paths:
        for name, content in pictures(path):
            labels.append(PurePosixPath(name).parent.name)
            shape = _shape(name, content)
            sizes[shape[0], shape[1]] += 1
            in_color = in_color or len(shape) > 2
    if not labels:
        raise ValueError(f"no folder of pictures in it ({_listed()})")
    return Looked(labels, sizes.most_common(1)[0][0], len(sizes) > 1, in_color)


def _shape(name: str, content: bytes) -> tuple[int, ...]:
    if name.lower().endswith(".npy"):
        return _stored(name, content).shape
    with _decoding(name, content) as image:
        colors = () if image.mode in ("1", "L", "LA", "I", "I;16", "F") else (3,)
        return (image.height, image.width, *colors)


def pictures(path: Path) -> Iterator[tuple[str, bytes]]:
    """Give the name and the bytes of each picture in a folder or an archive, by name.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if is_folder(path):
        for found in files_below(path):
            name = found.relative_to(path).as_posix()
            if is_picture(name):
                yield name, found.read_bytes()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from ((name, archive.read(name)) for name in names_in_zip(path))
    elif tarfile.is_tarfile(path):
        # in the order of the archive: one that is packed can only be read forwards
        yield from sorted(_in_tar(path))
    else:
        raise ValueError(f"{path.name} is no folder and no zip or tar archive")


def names_in_zip(path: Path) -> list[str]:
    """List the pictures in folders of a zip archive."""
    with zipfile.ZipFile(path) as archive:
        return sorted(name for name in archive.namelist() if is_picture(name))


def _in_tar(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member) if is_picture(member.name) else None
            if content is not None:
                yield member.name, content.read()


def is_picture(name: str) -> bool:
    """Whether a name is that of a picture in a folder, by its ending, and not a hidden one."""
    place = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) for part in place.parts)
    return place.suffix.lower() in ENDINGS and len(place.parts) > 1 and not hidden


def picture_array(name: str, content: bytes, read: Pictures) -> np.ndarray:
    """Decode one picture: uint8 of shape (height, width), or (height, width, 3) in color.

    Raises
    ------
    HarnessError
        If Pillow is not installed.
    ValueError
        If it cannot be read.
    """
    if name.lower().endswith(".npy"):
        values = _stored(name, content)
        colors = {"gray": 2, "rgb": 3}[read.color]
        if values.ndim != colors:
            raise ValueError(f"{name} is {_described(values)}: `color: {read.color}` is not it")
        if read.size is not None and values.shape[:2] != read.size:
            raise ValueError(f"{name} is {_described(values)}: no array is brought to a size")
        return values
    with _decoding(name, content) as image:
        converted = image.convert("L" if read.color == "gray" else "RGB")
        if read.size is not None:
            converted = converted.resize(read.size[::-1], _BILINEAR)
        return np.asarray(converted)


@contextmanager
def _decoding(name: str, content: bytes) -> Iterator[Any]:
    try:
        from PIL import Image
    except ImportError:
        raise HarnessError(f"{name}: {_NO_PILLOW}") from None
    try:
        with Image.open(io.BytesIO(content)) as image:
            yield image
    except (OSError, ValueError, SyntaxError) as error:  # Pillow's of damaged files
        raise ValueError(f"{name}: {error}") from None


def _stored(name: str, content: bytes) -> np.ndarray:
    values: np.ndarray = np.load(io.BytesIO(content), allow_pickle=False)
    if values.dtype != np.uint8 or values.ndim not in (2, 3):
        told = f"{_described(values)} of {values.dtype}"
        raise ValueError(f"{name} is {told}: wanted is uint8 of 2 axes, or 3 in color")
    return values


def _described(values: np.ndarray) -> str:
    return " x ".join(map(str, values.shape))


def _listed() -> str:
    return ", ".join(sorted(ENDINGS))
