"""A classifier of volumes, pictures and other grids in scikit-learn's manner over the program's training."""

import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from modewise import tasks
from modewise.classifier import Classifier, checked_labels
from modewise.estimator import Array, checked_array

WANTED = "[n, N_1 … N_k] or [n, N_1 … N_k, C] with at least one sample"


class VolumeClassifier(Classifier):
    """Trains and asks one run of the program's task classify, in this process.

    model: hot, transformer, divided, pooling-attention, vit, resnet18, resnet50, cnn. epochs: None: the program's. seed: of
    weights, order, dropout and augmentation. channels: whether the last axis of samples holds channels: "auto", "none",
    "last". settings: any other option of the program by its name, {"model.width": 32}. run, exist_ok, verbosity: as for
    Forecaster. A tenth of each class is held back to choose the best weights and a fifth to judge them
    (`data.split_ratios`).

    After `fit`: `run_`, `metrics_` and `classes_`. What was fitted lies in the folder, as data/RUN.npy and data/RUN_labels.npy.
    """

    TASK = "classify"

    def __init__(
        self,
        model: str = "hot",
        *,
        epochs: int | None = None,
        seed: int = 0,
        channels: str = "auto",
        settings: Mapping[str, Any] | None = None,
        run: str | os.PathLike[str] | None = None,
        exist_ok: bool = False,
        verbosity: int = 0,
    ) -> None:
        self.model = model
        self.epochs = epochs
        self.seed = seed
        self.channels = channels
        self.settings = settings
        self.run = run
        self.exist_ok = exist_ok
        self.verbosity = verbosity

    def fit(self, X: Any, y: Any) -> "VolumeClassifier":
        """X [n, N_1 … N_k] or with channels last, of any type of numbers; y [n] whole numbers or words. DataError,
        ConfigError, … say what is wrong; Ctrl-C saves and raises Stopped, and `resume` goes on."""
        samples = checked_array(X, WANTED)
        names, places = checked_labels(y, len(samples))
        with self._new_run() as run:
            stem = run.stem().absolute()
            files = [stem.with_name(stem.name + ending) for ending in (".npy", "_labels.npy")]
            for file, array in zip(files, (samples, places), strict=True):
                np.save(file, array, allow_pickle=False)
            self._train_classes({"data.path": files[0], "data.channels": self.channels, "data.classes": names}, run)
        self.classes_ = np.unique(np.asarray(y).reshape(-1))
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> "VolumeClassifier":
        """A fitted classifier of a folder that any `train classify` made; its classes are the names that the run has."""
        return cls._of_run(run, {"model": "model.name", "epochs": "train.epochs", "seed": "train.seed", "channels": "data.channels"})

    def predict_proba(self, X: Any) -> Array:
        """Probabilities [n, K] float64 of new samples, in the order of `classes_`: the scores of `modewise predict`."""
        samples = checked_array(X, WANTED)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "samples.npy"
            np.save(path, samples, allow_pickle=False)
            np.save(path.with_name("samples_labels.npy"), np.zeros(len(samples), np.int64))  # asked for, and not looked at
            said = tasks.predict(self._run(), data=path)
        return np.array([volume["scores"] for volume in said["volumes"]])
