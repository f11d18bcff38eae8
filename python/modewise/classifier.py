"""Base of the classifiers: labels, training, class probabilities, scores."""

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modewise import tasks
from modewise._scikit_learn import ClassifierMixin
from modewise.errors import DataError, UsageError
from modewise.estimator import Array, Estimator, own_split
from modewise.new_run import NewRun
from modewise.run_folder import RunFolder, setting


def checked_labels(y: Any, count: int) -> tuple[list[str], Array]:
    """Names of the classes in ascending order of the labels, and the index of each sample's class [n] int64."""
    labels = np.asarray(y).reshape(-1)
    if len(labels) != count:
        raise DataError(f"y must have a label for each of the {count} samples, got {len(labels)}")
    if labels.dtype.kind == "O" and any(label is None or label != label for label in labels):
        raise DataError("y has no label for some samples")
    if labels.dtype.kind == "f":
        raise DataError(f"y must hold integers or strings, got {labels.dtype}")
    names, indices = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        raise DataError(f"y must hold at least two classes, got {', '.join(map(str, names))}")
    return [str(name) for name in names], indices.astype(np.int64)


class Classifier(ClassifierMixin, Estimator):
    """Base of the classifiers, with scikit-learn's ClassifierMixin where that is installed.

    Attributes
    ----------
    classes_ : array
        The labels in ascending order, of the type that `fit` took.
    """

    TASK = ""
    ALL_SAMPLES: Mapping[str, Any] = {}  # split into training and validation
    epochs: int | None
    seed: int
    settings: Mapping[str, object] | None
    classes_: Array

    def _train_classes(self, settings: dict[str, Any], run: NewRun) -> None:
        common = {"model.name": self.model, "train.epochs": self.epochs, "train.seed": self.seed}
        self._train(self.TASK, common | own_split(self.settings, self.ALL_SAMPLES) | settings | dict(self.settings or {}), run)

    @classmethod
    def _of_run(cls, run: str | os.PathLike[str], own: Mapping[str, str]) -> Self:
        """A fitted estimator of a run folder; `own`: constructor argument -> the config key it sets (`data.channels`)."""
        folder = RunFolder(run)
        if folder.task != cls.TASK:
            raise UsageError(f"{folder.path} is a run of the task '{folder.task}', not of '{cls.TASK}'")
        config = folder.config()
        made = cls(**{name: setting(config, key) for name, key in own.items()}, run=run)  # type: ignore[call-arg]
        with folder.reading("data.json"):
            made.run_, made.classes_ = os.path.abspath(run), np.array(folder.read_json("data.json")["classes"])
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
        """Accuracy on new samples, weighted by `sample_weight` if it is given."""
        right = self.predict(X) == np.asarray(y).reshape(-1)
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
        with self._computing():
            return tasks.evaluate(self._run(), data=self._data_to_evaluate(), split=split or self._evaluated_split(), detail=detail)
