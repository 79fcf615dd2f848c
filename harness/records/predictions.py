"""What a trial predicted, packed: a description, and bytes.

Scores are coded by `harness.records.score_codes`; where few of them differ,
`harness.records.few_values` keeps these. Labels follow from scores, and where codes would say
another one it is listed. Points stand in the order of their numbers, which `splits/` of the
study says. `harness.records.prediction_files` keeps what is packed here.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np

from harness.records import few_values
from harness.records.prediction_files import KINDS, LABEL_TYPES, Kept
from harness.records.score_codes import decode, encode, predicted_labels

_FEW = 8
"""Labels that do not follow from the codes are listed if there is one in so many points."""

_TRIED = 2048
"""Bytes that are packed to see what packing gains."""


def pack(
    trial: str,
    predictions: Mapping[str, np.ndarray],
    points: np.ndarray,
    *,
    split: str,
    part: str,
) -> tuple[Kept, bytes]:
    """Code the predictions of a trial.

    Parameters
    ----------
    trial : str
        Its fingerprint.
    predictions : mapping of str to array
        "values", or "labels" with or without "scores" or "probabilities", of each of the points.
    points : ndarray of int, shape (n,)
        Their numbers, in any order.
    split, part : str
        As in `Kept`.
    """
    if not (points[1:] > points[:-1]).all():
        order = np.argsort(points)
        points = points[order]
        predictions = {name: values[order] for name, values in predictions.items()}
    kind = next(name for name in KINDS if name in predictions)
    content, told, exact, columns, n_values = b"", [], True, 0, 0
    follow = None
    if kind != "labels":
        scores = predictions[kind]
        columns = scores.shape[1] if scores.ndim > 1 else 0
        few = few_values.listed(scores)
        if few is not None:
            values, places = few
            n_values = len(values)
            content = values.astype("<f8").tobytes() + few_values.to_bits(places, n_values)
        else:
            coded = encode(scores, kind)
            content, exact = coded.codes.astype("<i2").tobytes(), coded.exact
            told = [list(scale) for scale in coded.scales]
            scores = decode(coded.codes, coded.scales, kind)
        if kind != "values":
            follow = predicted_labels(scores)
    count, label_type, listed = 0, LABEL_TYPES[0], b""
    if kind != "values":
        count, label_type, listed = _listed(predictions["labels"], follow)
    packed = _closed(content + listed)
    of_points = (split, part, digest(points))
    kept = Kept(
        *(trial, kind, len(points), columns, told, exact, count, label_type, *of_points),
        *(len(packed), n_values),
    )
    return kept, packed


def digest(points: np.ndarray) -> int:
    """Return the CRC-32 of the numbers of points."""
    return zlib.crc32(np.ascontiguousarray(points, "<i8").tobytes())


def unpack(kept: Kept, packed: bytes) -> dict[str, np.ndarray]:
    """Return what was packed, in the order of the points' numbers.

    Returns
    -------
    dict of str to ndarray
        What `pack` was given: "scores" and "probabilities" are of shape (n,) or (n, columns).

    Raises
    ------
    ValueError
        If the bytes are not what is described.
    """
    kind = np.dtype(kept.label_type)
    labels = kept.n * kind.itemsize if kept.labels < 0 else kept.labels * (4 + kind.itemsize)
    size = _scores_bytes(kept)
    content = _opened(packed, size + labels)
    rest = content[size:]
    if kept.kind == "labels":
        return {"labels": _labels(rest, kept, np.zeros(kept.n, np.int64))}
    scores = _scores(content[:size], kept)
    if kept.kind == "values":
        return {"values": scores}
    return {kept.kind: scores, "labels": _labels(rest, kept, predicted_labels(scores))}


def _scores_bytes(kept: Kept) -> int:
    if kept.kind == "labels":
        return 0
    n_scores = kept.n * max(1, kept.columns)
    if kept.values:
        return 8 * kept.values + few_values.n_bytes(n_scores, kept.values)
    return 2 * n_scores


def _scores(content: bytes, kept: Kept) -> np.ndarray:
    shape = (kept.n, kept.columns) if kept.columns else (kept.n,)
    if kept.values:
        values = np.frombuffer(content, "<f8", kept.values)
        n_scores = kept.n * max(1, kept.columns)
        places = few_values.from_bits(content[values.nbytes :], n_scores, kept.values)
        return values[places].reshape(shape)
    scales = [(center, scale, step) for center, scale, step in kept.scales]
    return decode(np.frombuffer(content, "<i2").reshape(shape), scales, kept.kind)


def _closed(content: bytes) -> bytes:
    """Pack bytes; those of which the first gain less than a tenth are stored as they are.

    Ranks of scores that all differ gain 5 % or nothing, for a third of the time of `pack`.
    """
    first = content[:_TRIED]
    gains = len(zlib.compress(first, 1)) < 0.9 * len(first)
    return zlib.compress(content, 1 if gains else 0)


def _opened(packed: bytes, size: int) -> bytes:
    """Unpack so many bytes, and never more of them, whatever they say."""
    opener = zlib.decompressobj()
    try:
        content = opener.decompress(packed, size + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(content) != size or not opener.eof:
        raise ValueError("it has more or fewer predictions than it says")
    return content


def _listed(labels: np.ndarray, follow: np.ndarray | None) -> tuple[int, str, bytes]:
    """List labels that do not follow from scores; return how many, their type, and the list."""
    if follow is not None:
        places = np.flatnonzero(labels != follow)
        if len(places) * _FEW <= len(labels):
            name = _smallest(labels[places])
            listed = places.astype("<u4").tobytes() + labels[places].astype(name).tobytes()
            return len(places), name, listed
    name = _smallest(labels)
    return -1, name, labels.astype(name).tobytes()


def _smallest(labels: np.ndarray) -> str:
    if not len(labels):
        return LABEL_TYPES[0]
    least, most = int(labels.min()), int(labels.max())
    limits = ((name, np.iinfo(name)) for name in LABEL_TYPES)
    return next(name for name, held in limits if held.min <= least and most <= held.max)


def _labels(listed: bytes, kept: Kept, follow: np.ndarray) -> np.ndarray:
    if kept.labels < 0:
        return np.frombuffer(listed, kept.label_type).astype(np.int64)
    places = np.frombuffer(listed, "<u4", kept.labels)
    if len(places) and places.max() >= kept.n:
        raise ValueError("it lists a label of no point")
    follow[places] = np.frombuffer(listed[4 * kept.labels :], kept.label_type)
    return follow
