"""Base of the classifiers: labels, training, class probabilities, scores."""

import os
import pathlib
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modewise import tasks
from modewise._scikit_learn import ClassifierMixin
from modewise.axis_names import COLUMNS, AxisNames
from modewise.errors import DataError
from modewise.estimator import AXES, Array, Estimator, own_split
from modewise.new_run import NewRun
from modewise.run_folder import RunFolder

CLASSES = "_classes.npy"  # labels beside the fitted data, if they are not texts of the program's class names


def checked_labels(y: Any, count: int) -> tuple[list[str], Array]:
    """Names of the classes in ascending order of the labels (integers, also as floats, or strings), and the index of each sample's class [n] int64."""
    labels = np.asarray(y).reshape(-1)
    if len(labels) != count:
        raise DataError(f"y must have a label for each of the {count} samples, got {len(labels)}")
    if (isinstance(y, np.ma.MaskedArray) and np.ma.getmaskarray(y).any()) or (labels.dtype.kind == "O" and any(map(is_missing, labels))):
        raise DataError("y has no label for some samples")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise DataError("y has no label for some samples")
    if labels.dtype.kind == "f" and (labels != np.round(labels)).any():
        raise DataError(f"y must hold integers or strings, got {labels.dtype}")
    try:
        names, indices = np.unique(labels, return_inverse=True)
    except TypeError:
        raise DataError(f"y must hold labels of one type, got {', '.join(sorted({type(label).__name__ for label in labels}))}") from None
    if len(names) < 2:
        raise DataError(f"y must hold at least two classes, got {', '.join(map(str, names))}")
    return [f"{name:.0f}" if labels.dtype.kind == "f" else str(name) for name in names], indices.astype(np.int64)


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or pandas.NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


class Classifier(ClassifierMixin, Estimator):
    """Base of the classifiers, with scikit-learn's ClassifierMixin where that is installed.

    Attributes
    ----------
    classes_ : array
        The labels in ascending order, of the type that `fit` took.
    feature_names_in_ : array
        The columns of a fitted frame; those of other frames are put in their order.
    """

    ALL_SAMPLES: Mapping[str, Any] = {}  # split into training and validation
    epochs: int | None
    seed: int
    settings: Mapping[str, object] | None
    classes_: Array

    def _write_classes(self, labels: Any, names: list[str], stem: pathlib.Path) -> Array:
        """The classes of `labels` in ascending order, written beside the fitted data unless the program's `names` are the same texts."""
        classes = np.unique(np.asarray(labels).reshape(-1))
        written = np.array(classes.tolist()) if classes.dtype.kind == "O" else classes
        if written.dtype.kind != "O" and written.tolist() != names:
            np.save(f"{stem}{CLASSES}", written, allow_pickle=False)
        return classes

    def _train_classes(self, settings: dict[str, Any], run: NewRun, arguments: Mapping[str, str], axes: AxisNames, classes: Array) -> None:
        axes.write(pathlib.Path(f"{run.stem()}{AXES}"))
        common = {"model.name": self.model, "train.epochs": self.epochs, "train.seed": self.seed}
        self._train(common | own_split(self.settings, self.ALL_SAMPLES) | settings | dict(self.settings or {}), run, arguments, classes_=classes, _axes=axes)

    @property
    def feature_names_in_(self) -> Array:
        """Columns of the fitted frame, as in scikit-learn; missing where they are not strings, and for arrays."""
        if COLUMNS not in self._axes.labels:
            raise AttributeError("feature_names_in_: the fitted samples have no names of columns")
        return np.array(self._axes.labels[COLUMNS], dtype=object)

    @classmethod
    def _of_run(cls, run: str | os.PathLike[str], own: Mapping[str, str]) -> Self:
        """The same, with the run's classes."""
        made, folder = super()._of_run(run, own), RunFolder(run)
        with folder.reading("data.json"):
            made.classes_ = np.array(folder.read_json("data.json")["classes"])
        labels = folder.beside_data(CLASSES)
        if labels.is_file():
            with folder.reading(f"{labels.parent.name}/{labels.name}"):
                made.classes_ = np.load(labels, allow_pickle=False)
        return made

    def predict_proba(self, X: npt.ArrayLike) -> Array:
        """Probabilities [n, K] float64 of new samples, in the order of `classes_`."""
        raise NotImplementedError

    def predict(self, X: npt.ArrayLike) -> Array:
        """The most probable class of each new sample, as a label of the type that `fit` took.

        Parameters
        ----------
        X
            Samples, as for `fit`.

        Returns
        -------
        array [samples]
        """
        indices = self.predict_proba(X).argmax(-1)
        return np.asarray(self.classes_[indices])

    def score(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Accuracy on new samples, weighted by `sample_weight` if it is given. DataError for labels that are strings where `classes_` are
        numbers, and the other way round."""
        labels, found = np.asarray(y).reshape(-1), self.predict(X)
        if len(labels) != len(found):
            raise DataError(f"y must have a label for each of the {len(found)} samples, got {len(labels)}")
        known = self.classes_[:1].tolist()
        for label in labels.tolist():
            if isinstance(label, str) != isinstance(known[0], str):
                raise DataError(f"y must hold labels of the type of classes_, such as {known[0]!r}, got {label!r}")
        right = found == labels
        return float(np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight)))

    def evaluate(self, split: str | None = None, *, detail: bool = False) -> tasks.Result:
        """AUC, accuracy, … on a split of the fitted data.

        Parameters
        ----------
        split : "test", "validation" or "train"
            None: the test split if the fit held one back, else the validation split.
        detail
            Whether the result has the confusion matrix and each class.

        Returns
        -------
        dict
            The program's `evaluate --json`.
        """
        with self._using_run() as run:
            return tasks.evaluate(run, data=self._data_to_evaluate(), split=split or self._evaluated_split(), detail=detail,
                                  verbosity=self._verbosity())  # fmt: skip
