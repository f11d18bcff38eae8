"""Base of the classifiers: labels, training, class probabilities, scores."""

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from modewise import tasks
from modewise.errors import DataError, UsageError
from modewise.estimator import Array, Estimator
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


class Classifier(Estimator):
    """Base of the classifiers. `TASK`: the name of its task. After `fit`: `run_`, `metrics_` and `classes_`."""

    TASK = ""
    epochs: int | None
    seed: int
    settings: Mapping[str, Any] | None
    classes_: Array

    def _train_classes(self, settings: dict[str, Any], run: NewRun) -> None:
        common = {"model.name": self.model, "train.epochs": self.epochs, "train.seed": self.seed}
        self._train(self.TASK, common | settings | dict(self.settings or {}), run)

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

    def predict_proba(self, X: Any) -> Array:
        """Probabilities [n, K] float64 of new samples, in the order of `classes_`."""
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """The most probable class of each new sample, as a label of the type that `fit` took."""
        indices = self.predict_proba(X).argmax(-1)
        return np.asarray(self.classes_[indices])

    def score(self, X: Any, y: Any) -> float:
        """Accuracy on new samples."""
        return float((self.predict(X) == np.asarray(y).reshape(-1)).mean())

    def evaluate(self, split: str = "test", *, detail: bool = False) -> dict[str, Any]:
        """AUC, accuracy, … on a split of the fitted data -> the program's `evaluate --json`."""
        return tasks.evaluate(self._run(), split=split, detail=detail)
