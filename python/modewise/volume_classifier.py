"""Classifier of volumes, images and other grids with the interface of scikit-learn."""

import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from modewise import tasks
from modewise._aliases import old_keywords
from modewise.classifier import Classifier, checked_labels
from modewise.estimator import Array, checked_array

WANTED = "[n, N_1 … N_k] or [n, N_1 … N_k, C] with at least one sample"


class VolumeClassifier(Classifier):
    """Trains and uses one run of the task volume_classification, in this process.

    model: hot, transformer, divided, pooling-attention, vit, resnet18, resnet50, cnn. epochs: None: the program's default. seed:
    of weights, batch order, dropout and augmentation. channels: whether the last axis of samples holds channels: "auto", "none",
    "last". settings: any other config key, {"model.width": 32}. run, overwrite, verbosity: as for Forecaster. A tenth of each
    class is the validation split, which selects the best weights, a fifth the test split (`data.split_ratios`).

    After `fit`: `run_`, `metrics_` and `classes_`. The run folder contains the fitted arrays as data/RUN.npy and
    data/RUN_labels.npy.
    """

    TASK = "volume_classification"

    @old_keywords({"exist_ok": "overwrite"})
    def __init__(
        self,
        model: str = "hot",
        *,
        epochs: int | None = None,
        seed: int = 0,
        channels: str = "auto",
        settings: Mapping[str, Any] | None = None,
        run: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        verbosity: int = 0,
    ) -> None:
        self.model = model
        self.epochs = epochs
        self.seed = seed
        self.channels = channels
        self.settings = settings
        self.run = run
        self.overwrite = overwrite
        self.verbosity = verbosity

    def fit(self, X: Any, y: Any) -> "VolumeClassifier":
        """X [n, N_1 … N_k] or with channels last, numbers of any type; y [n] integers or strings. DataError, ConfigError, …
        for invalid data and settings; Ctrl-C saves a checkpoint and raises Stopped, `resume` continues."""
        samples = checked_array(X, WANTED)
        names, labels = checked_labels(y, len(samples))
        with self._new_run() as run:
            stem = run.stem().absolute()
            files = [stem.with_name(stem.name + ending) for ending in (".npy", "_labels.npy")]
            for file, array in zip(files, (samples, labels), strict=True):
                np.save(file, array, allow_pickle=False)
            self._train_classes({"data.path": files[0], "data.channels": self.channels, "data.classes": names}, run)
        self.classes_ = np.unique(np.asarray(y).reshape(-1))
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> "VolumeClassifier":
        """A fitted classifier of a run of `train classify-volumes`, with the run's class names."""
        return cls._of_run(run, {"model": "model.name", "epochs": "train.epochs", "seed": "train.seed", "channels": "data.channels"})

    def predict_proba(self, X: Any) -> Array:
        """Probabilities [n, K] float64 of new samples, in the order of `classes_`: the scores of `modewise predict`."""
        samples = checked_array(X, WANTED)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "samples.npy"
            np.save(path, samples, allow_pickle=False)
            np.save(path.with_name("samples_labels.npy"), np.zeros(len(samples), np.int64))  # required, but not used
            result = tasks.predict(self._run(), data=path)
        return np.array([volume["scores"] for volume in result["volumes"]])
