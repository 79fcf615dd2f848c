"""A fitted method in a file, with all that it takes to predict rows as their source has them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from harness.datasets import Features, x_row_bytes, x_slice
from harness.errors import HarnessError
from harness.plugin.carried_source import CarriedSource
from harness.plugin.shape import block_rows
from harness.trial.prediction import join, predict

if TYPE_CHECKING:
    from harness.datasets.raw_rows import RowPreparation
    from harness.datasets.raw_texts import TextPreparation


class FittedModel:
    """A fitted method that predicts rows.

    Parameters
    ----------
    estimator : fitted estimator
        It takes prepared rows and knows classes by number.
    task : str
    class_names : tuple of str
        By number; empty for regression and clustering.
    n_classes : int
    preparation : RowPreparation, TextPreparation or None
        None where rows can only be given as they are prepared.
    center, scale : float
        Of a regression's targets, which the estimator was given standardised.
    row : mapping
        The row of the study's table that it is of: data set, method, size, seed, fingerprint,
        versions, scores.

    Attributes
    ----------
    estimator, task, class_names, n_classes, preparation, center, scale, row
        As given.
    """

    def __init__(
        self,
        estimator: Any,
        task: str,
        class_names: tuple[str, ...],
        n_classes: int,
        preparation: RowPreparation | TextPreparation | None,
        center: float,
        scale: float,
        row: Mapping[str, Any],
    ) -> None:
        self.estimator = estimator
        self.task = task
        self.class_names = class_names
        self.n_classes = n_classes
        self.preparation = preparation
        self.center, self.scale = center, scale
        self.row = dict(row)

    def __repr__(self) -> str:
        row = self.row
        return f"FittedModel({row['method']} on {row['dataset']}, size {row['size']})"

    def __reduce__(self) -> tuple[Callable[..., FittedModel], tuple[Any, ...]]:
        # the source first: unpickling the estimator asks for its classes
        return _restored, (CarriedSource.of(pickled_without_arrays(self.estimator)), vars(self))

    @property
    def columns(self) -> list[Any]:
        """The columns of a row, in their order."""
        return list(self._prepares().columns)

    def prepare(self, rows: Any) -> Features:
        """Encode and scale rows as the data set was when it was prepared.

        Parameters
        ----------
        rows : DataFrame, or array-like of shape (m, n_columns)
            As the source has them. A data frame is taken by the names of its columns. Where the
            data set has nothing but one column of texts, a list of texts is enough.

        Returns
        -------
        ndarray or csr_matrix of shape (m, n_features)

        Raises
        ------
        HarnessError
            If a column is missing, or a value was not there when the model was fitted.
        """
        return self._prepares()(rows)

    def predict(self, rows: Any, *, prepared: bool = False) -> np.ndarray:
        """Predict rows.

        Parameters
        ----------
        rows : DataFrame, or array-like of shape (m, n_columns)
        prepared : bool, default False
            Whether they are encoded and scaled already. Such rows may be a sparse matrix.

        Returns
        -------
        ndarray of shape (m,)
            Names of classes as the catalog writes them (text), values of a regression, or numbers
            of clusters.
        """
        found = self._predicted(rows, prepared)
        if self.task == "regression":
            return found["values"] * self.scale + self.center
        labels = found["labels"].astype(np.int64)
        return np.array(self.class_names)[labels] if self.class_names else labels

    def decision_function(self, rows: Any, *, prepared: bool = False) -> np.ndarray:
        """Return the scores of classes for rows.

        Parameters
        ----------
        rows : DataFrame, or array-like of shape (m, n_columns)
        prepared : bool, default False
            Whether they are encoded and scaled already.

        Returns
        -------
        ndarray of shape (m,) or (m, n_classes)
            One score for two classes, that of the second; else one for each class in the order of
            `class_names`.

        Raises
        ------
        HarnessError
            If the method has labels only.
        """
        found = self._predicted(rows, prepared)
        if "scores" not in found:
            raise HarnessError(f"{self.row['method']} gives no scores; ask predict")
        return found["scores"]

    def _predicted(self, rows: Any, prepared: bool) -> dict[str, np.ndarray]:
        X = self._as_prepared(rows) if prepared else self.prepare(rows)
        step, n = block_rows(x_row_bytes(X)), X.shape[0]
        blocks = (x_slice(X, start, start + step) for start in range(0, n, step))
        parts = (predict(self.estimator, block, self.task, self.n_classes) for block in blocks)
        return join(parts, n)

    @staticmethod
    def _as_prepared(rows: Any) -> Features:
        return rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows)

    def _prepares(self) -> RowPreparation | TextPreparation:
        if self.preparation is None:
            raise HarnessError(
                f"this model of {self.row['dataset']} does not know how rows are prepared: give "
                "them encoded and scaled, with prepared=True"
            )
        return self.preparation


def _restored(_: CarriedSource, state: dict[str, Any]) -> FittedModel:
    model = FittedModel.__new__(FittedModel)
    vars(model).update(state)
    return model


class _Kept:
    """A file in memory."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, chunk: Any) -> int:
        """Keep a chunk."""
        self.parts.append(bytes(chunk))
        return len(self.parts[-1])


def pickled_without_arrays(estimator: Any) -> bytes:
    """Return the pickle of a model but for the contents of its arrays."""
    kept = _Kept()
    pickle.Pickler(kept, protocol=5, buffer_callback=lambda _: None).dump(estimator)
    return b"".join(kept.parts)


def load_model(path: str | Path) -> FittedModel:
    """Load a model that `harness fit` wrote.

    A model is a pickle, as all files of joblib are: loading one runs code that is in it. Load
    none that you would not run as a program.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    FittedModel

    Raises
    ------
    HarnessError
        If it is no such file, or a package that the model needs is not installed.

    Examples
    --------
    `load_model("model.joblib").predict(table)` gives names of classes for a table of new rows.
    """
    if Path(path).suffix.lower() == ".onnx":
        raise HarnessError(f"{path}: is a file of ONNX, which onnxruntime reads, and no joblib")
    try:
        model = joblib.load(path)
    except OSError as error:
        raise HarnessError(f"{path}: cannot be read: {error.strerror}") from None
    except ModuleNotFoundError as error:
        raise HarnessError(
            f"{path}: the model needs {error.name}, which is not installed here"
        ) from error
    except Exception as error:  # whatever a damaged pickle leads to
        raise HarnessError(
            f"{path}: is no model that harness fit wrote: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(model, FittedModel):
        raise HarnessError(
            f"{path}: is no model that harness fit wrote, but holds a {type(model).__name__}"
        )
    return model
