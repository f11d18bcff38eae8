"""A classifier of volumes, pictures and other grids in scikit-learn's manner over the program's training."""

import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from modewise import tasks
from modewise.errors import DataError, ModewiseError, UsageError
from modewise.estimator import Array, Estimator, checked_array
from modewise.run_folder import RunFolder

WANTED = "[n, N_1 … N_k] or [n, N_1 … N_k, C] with at least one sample"


def checked_labels(y: Any, count: int) -> tuple[list[str], Array]:
    """Names of the classes, in ascending order of the labels, and the place of each sample's among them."""
    labels = np.asarray(y).reshape(-1)
    if len(labels) != count:
        raise DataError(f"y must have a label for each of the {count} samples, got {len(labels)}")
    if labels.dtype.kind == "O" and any(label is None or label != label for label in labels):
        raise DataError("y holds no label for some samples")
    if labels.dtype.kind == "f":
        raise DataError(f"y must hold whole numbers or words, got {labels.dtype}")
    names, places = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        raise DataError(f"y must hold at least two classes, got {', '.join(map(str, names))}")
    return [str(name) for name in names], places.astype(np.int64)


class VolumeClassifier(Estimator):
    """Trains and asks one run of the program's task classify, in this process.

    model: hot, transformer, timesformer, mvit, vit, resnet18, resnet50, cnn. epochs: None: the program's. seed: of
    weights, order, dropout and augmentation. channels: whether the last axis of samples holds channels: "auto", "none",
    "last". settings: any other option of the program by its name, {"model.width": 32}. run, exist_ok, verbosity: as for
    Forecaster. A tenth of each class is held back to choose the best weights and a fifth to judge them
    (`data.split_ratios`).

    After `fit`: `run_`, `metrics_` and `classes_`. What was fitted lies beside the folder, as RUN.npy, RUN_labels.npy.
    """

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
        folder = self._new_folder()
        folder.parent.mkdir(parents=True, exist_ok=True)
        files = [folder.with_name(folder.name + ending) for ending in (".npy", "_labels.npy")]
        for file, array in zip(files, (samples, places), strict=True):
            np.save(file, array, allow_pickle=False)
        settings = {"model.name": self.model, "train.epochs": self.epochs, "train.seed": self.seed, "data.path": files[0].absolute(),
                    "data.channels": self.channels, "data.classes": names}  # fmt: skip
        self.run_ = str(folder.absolute())
        try:
            self.metrics_ = tasks.train("classify", settings | dict(self.settings or {}), out=folder, exist_ok=self.exist_ok,
                                        verbosity=self.verbosity)  # fmt: skip
        except ModewiseError:
            if not (folder / "config.toml").is_file():  # the run did not begin: nothing stays of it
                for file in files:
                    file.unlink()
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()
            raise
        self.classes_ = np.unique(np.asarray(y).reshape(-1))
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> "VolumeClassifier":
        """A fitted classifier of a folder that any `train classify` made; its classes are the names that the run has."""
        folder = RunFolder(run)
        if folder.task != "classify":
            raise UsageError(f"{folder.path} is a run of the task '{folder.task}', not of 'classify'")
        config = folder.config()
        made = cls(config["model"]["name"], epochs=config["train"]["epochs"], seed=config["train"]["seed"],
                   channels=config["data"]["channels"], run=run)  # fmt: skip
        made.run_, made.classes_ = os.path.abspath(run), np.array(folder.read_json("data.json")["classes"])
        return made

    def predict_proba(self, X: Any) -> Array:
        """Probabilities [n, K] float64 of new samples, in the order of `classes_`: the scores of `modewise predict`."""
        samples = checked_array(X, WANTED)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "samples.npy"
            np.save(path, samples, allow_pickle=False)
            np.save(path.with_name("samples_labels.npy"), np.zeros(len(samples), np.int64))  # asked for, and not looked at
            said = tasks.predict(self._run(), data=path)
        return np.array([volume["scores"] for volume in said["volumes"]])

    def predict(self, X: Any) -> Array:
        """The likeliest class of each of new samples, a label as `fit` was given it."""
        places = self.predict_proba(X).argmax(-1)
        return np.asarray(self.classes_[places])

    def score(self, X: Any, y: Any) -> float:
        """The share of new samples whose class is told."""
        return float((self.predict(X) == np.asarray(y).reshape(-1)).mean())

    def evaluate(self, split: str = "test", *, detail: bool = False) -> dict[str, Any]:
        """AUC, accuracy, … over a part of what was fitted -> the program's `evaluate --json`."""
        return tasks.evaluate(self._run(), split=split, detail=detail)
