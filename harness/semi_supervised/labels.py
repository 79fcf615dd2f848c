"""Labels of partly labeled data: -1 marks a point without one, as in `sklearn.semi_supervised`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Labels:
    """What is known of a partly labeled sample.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        All classes, those without a labeled point included.
    rows : ndarray of shape (n_labeled,)
        Numbers of the labeled rows, ascending.
    codes : ndarray of shape (n_labeled,)
        Their labels, as positions in `classes`; one byte each for up to 128 of them.
    present : ndarray
        The positions in `classes` that have a labeled point.
    """

    classes: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    present: np.ndarray

    @property
    def prior(self) -> np.ndarray:
        """Share of each class among the labeled points, shape (n_classes,)."""
        return np.bincount(self.codes, minlength=len(self.classes)) / len(self.codes)

    def codes_of_all(self, n: int) -> np.ndarray:
        """Return the codes of n rows, -1 of those without a label, in the type of `codes`."""
        codes = np.full(n, -1, self.codes.dtype)
        codes[self.rows] = self.codes
        return codes

    def targets(
        self, part: slice | np.ndarray = slice(None), dtype: type[np.floating] = np.float64
    ) -> np.ndarray:
        """Return +1 for the own class and -1 for others: (n_labeled, n_classes), or (., 1).

        Parameters
        ----------
        part : slice or ndarray of int, default all
            Of the labeled points.
        dtype : type, default numpy.float64
            Of what is returned.
        """
        codes, own, other = self.codes[part], dtype(1), dtype(-1)
        if len(self.classes) == 2:
            return np.where(codes == 1, own, other)[:, None]
        return np.where(codes[:, None] == np.arange(len(self.classes)), own, other)


def read_labels(y: np.ndarray, n_classes: int | None = None) -> Labels:
    """Read the labels of a partly labeled sample.

    Holds 16 bytes a labeled point and one a point, 9 a labeled point afterwards.

    Parameters
    ----------
    y : array-like of shape (n,)
        -1 where there is no label.
    n_classes : int, optional
        The classes are then 0 .. n_classes - 1, whether or not each has a labeled point.

    Raises
    ------
    ValueError
        If no point is labeled, all labels are of one class, or a label is not among the classes.
    """
    y = np.asarray(y)
    rows = np.flatnonzero(y != -1) if y.dtype.kind in "biuf" else np.arange(len(y))
    if not rows.size:
        raise ValueError("y holds no labeled point: every entry is -1")
    known = y[rows]
    # a sorted copy of the labels, and not the order that return_inverse holds as well
    classes = np.unique(known)
    codes = np.searchsorted(classes, known)
    if len(classes) < 2:
        message = f"y holds one class among its labels ({classes.tolist()[0]!r}); two are needed"
        if len(rows) < len(y):
            message += ", and -1 says that a point has no label"
        raise ValueError(message)
    present = np.arange(len(classes))
    if n_classes is not None:
        if not np.isin(classes, np.arange(n_classes)).all():
            message = f"y holds the labels {classes.tolist()}, n_classes={n_classes} allows 0 .. "
            raise ValueError(message + str(n_classes - 1))
        present = classes.astype(np.intp)
        classes = np.arange(n_classes)
    smallest = np.min_scalar_type(-len(classes))
    return Labels(classes, rows, present.astype(smallest)[codes], present)


def expand_scores(scores: np.ndarray, present: np.ndarray, n_classes: int) -> np.ndarray:
    """Give classes that have no labeled point a score too, below all others.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, len(present))
        One column for each class present; one number where there are two of them.
    present : ndarray of int
        Positions of these classes.
    n_classes : int

    Returns
    -------
    ndarray of shape (n,) or (n, n_classes)
    """
    if len(present) == n_classes:
        return scores
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    lowest = scores.min(initial=0.0) - 1
    spread = np.full((len(scores), n_classes), lowest)
    spread[:, present] = scores
    return spread


def as_decision(scores: np.ndarray, present: np.ndarray, n_classes: int) -> np.ndarray:
    """Return one number a point for two classes, else a column a class, as scikit-learn does.

    Parameters
    ----------
    scores : ndarray of shape (n, 1) or (n, n_classes)
        Those of a class without a labeled point mean nothing, and are put below all others, in
        place.
    present : ndarray of int
        Positions of the classes that have one.
    n_classes : int
    """
    if scores.shape[1] == 1:
        return scores[:, 0]
    absent = np.setdiff1d(np.arange(n_classes), present)
    # column by column and in place: scores of all points may be most of what is held
    lowest = min((scores[:, j].min(initial=0.0) for j in present), default=0.0)
    for j in absent:
        scores[:, j] = lowest - 1
    return scores


def transduced(scores: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the classes of the points of `fit` from their scores; labels that were given stay."""
    found = predict_labels(scores, labels.classes)
    found[labels.rows] = labels.classes[labels.codes]
    return found


def predict_labels(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the class of the highest score; of two classes, the second where it is positive."""
    return classes[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]
