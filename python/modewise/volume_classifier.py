"""Classifier of volumes, images and other grids with the interface of scikit-learn."""

import os
import tempfile
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modewise import tasks
from modewise._aliases import constructor
from modewise.axis_names import AxisNames
from modewise.classifier import Classifier, checked_labels
from modewise.errors import DataError
from modewise.estimator import Array, checked_array

WANTED = "[n, N_1 … N_k] or [n, N_1 … N_k, C] with at least one sample"


def same_type(held: Array, dtype: np.dtype[Any]) -> Array:
    """Validation samples in the type of those for training. DataError for a value that it cannot hold, apart from rounding to floats."""
    with np.errstate(invalid="ignore", over="ignore"):
        cast = held.astype(dtype, copy=False)
    changed = (np.isfinite(held) & ~np.isfinite(cast)) if dtype.kind == "f" else cast != held
    if changed.any():
        raise DataError(f"validation: samples must be {dtype} like those for training, got {held.dtype} with {held[changed][0]:g}, which {dtype} cannot "
                        f"hold: give both in one type")  # fmt: skip
    return cast


class VolumeClassifier(Classifier):
    """Trains and uses one run of the task volume_classification, in this process.

    Parameters
    ----------
    model : str
        hot, transformer, divided, pooling-attention, vit, resnet18, resnet50, cnn.
    epochs : int, optional
        None: the program's default.
    seed : int
        Seed of weights, batch order, dropout and augmentation; `random_state` is the same.
    threads : int
        Threads of computations, −1: one for each core, 0: as torch has it; `n_jobs` is the same. Results do not depend on it.
    device : str
        Device of the model: "auto" (CUDA if torch has it, else the CPU), "cpu", "cuda" or "cuda:1".
    channels : str
        Whether the last axis of samples holds channels: "auto", "none", "last".
    settings : mapping, optional
        Any other config key, {"model.width": 32}.
    run : path, optional
        The new run folder; None: a temporary one, which is removed with this object (`save` keeps it).
    overwrite : bool
        Whether a run in that folder is replaced.
    verbosity : int
        −1 quiet, 0 warnings, notes and progress on stderr, also of `predict` and `evaluate`, 1, 2 more; `verbose` is one more.

    Attributes
    ----------
    run_ : str
        The run folder. It contains the fitted arrays as data/RUN.npy and data/RUN_labels.npy, or as data/RUN.npz.
    metrics_ : dict
        Its metrics.json.
    classes_ : array
        The labels in ascending order, of the type that `fit` took.

    Examples
    --------
    >>> VolumeClassifier("hot").fit(X, y).predict_proba(X)  # doctest: +SKIP
    """

    TASK = "volume_classification"
    MOVABLE = True
    ALL_SAMPLES = {"data.split_ratios": [0.8, 0.2, 0]}

    @constructor({"exist_ok": "overwrite"})
    def __init__(
        self,
        model: str = "hot",
        *,
        epochs: int | None = None,
        seed: int = 0,
        threads: int = 0,
        device: str = "auto",
        channels: str = "auto",
        settings: Mapping[str, object] | None = None,
        run: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        verbosity: int = 0,
    ) -> None:
        self.model = model
        self.epochs = epochs
        self.seed = seed
        self.threads = threads
        self.device = device
        self.channels = channels
        self.settings = settings
        self.run = run
        self.overwrite = overwrite
        self.verbosity = verbosity

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, *, validation: tuple[npt.ArrayLike, npt.ArrayLike] | None = None) -> Self:
        """Trains on labelled samples. No samples are held back for a test: a fifth of each class, or `validation`, selects the
        weights (`settings`: data.split_ratios).

        Parameters
        ----------
        X
            [n, N_1 … N_k] or with channels last, numbers of any type, or truth values.
        y
            [n] integers, also as floats, or strings.
        validation
            Samples and labels (X, y) of the validation split; samples of another type than X must have values of its type.

        Returns
        -------
        VolumeClassifier
            This object.

        Raises
        ------
        DataError, ConfigError
            For invalid data and settings.
        Stopped
            For Ctrl-C, which saves a checkpoint; `resume` continues.
        """
        axes = AxisNames.of(X)
        samples = checked_array(axes.order(X), WANTED, "fiub")
        names, labels = checked_labels(y, len(samples))
        held = None if validation is None else self._checked_validation(validation, samples, axes, np.unique(np.asarray(y).reshape(-1)))
        with self._new_run() as run:
            stem = run.stem().absolute()
            classes = self._write_classes(y, names, stem)
            settings = {"data.channels": self.channels, "data.classes": names}
            if held is None:
                files = [stem.with_name(stem.name + ending) for ending in (".npy", "_labels.npy")]
                for file, array in zip(files, (samples, labels), strict=True):
                    np.save(file, array, allow_pickle=False)
                self._train_classes(settings | {"data.path": files[0]}, run, {str(files[0]): "X", str(files[1]): "y"}, axes, classes)
            else:
                path = stem.with_name(stem.name + ".npz")
                np.savez(path, train_images=samples, train_labels=labels, val_images=held[0], val_labels=held[1])
                self._train_classes(settings | {"data.path": path}, run, {str(path): "X"}, axes, classes)
        return self

    @staticmethod
    def _checked_validation(validation: tuple[Any, Any], samples: Array, axes: AxisNames, classes: Array) -> tuple[Array, Array]:
        """Samples and class indices of the validation split. DataError for other axes, types and classes than those of training."""
        if not isinstance(validation, (tuple, list)) or len(validation) != 2:
            raise DataError(f"validation must be a pair (X, y), got {type(validation).__name__}")
        held, labels = checked_array(axes.order(validation[0]), WANTED, "fiub"), np.asarray(validation[1]).reshape(-1)
        if held.shape[1:] != samples.shape[1:]:
            raise DataError(f"validation: samples must be {list(samples.shape[1:])} like those for training, got {list(held.shape[1:])}")
        if len(labels) != len(held):
            raise DataError(f"validation: y must have a label for each of the {len(held)} samples, got {len(labels)}")
        unknown = labels[~np.isin(labels, classes)]
        if len(unknown) > 0:
            raise DataError(f"validation: the class '{unknown[0]}' is not among those for training")
        return same_type(held, samples.dtype), np.searchsorted(classes, labels).astype(np.int64)

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> Self:
        """A fitted classifier of a run of `train classify-volumes`, with the run's class names."""
        return cls._of_run(run, {"model": "model.name", "epochs": "train.epochs", "seed": "train.seed", "channels": "data.channels"})

    def predict_proba(self, X: npt.ArrayLike) -> Array:
        """Probabilities [n, K] float64 of new samples, in the order of `classes_`: the scores of `modewise predict`.

        Parameters
        ----------
        X
            Samples, as for `fit`.

        Returns
        -------
        array [samples, classes]
            Probabilities, columns as `classes_`.
        """
        samples = checked_array(self._axes.order(X), WANTED, "fiub")
        with tempfile.TemporaryDirectory() as folder, self._using_run({(path := os.path.join(folder, "X.npy")): "X"}) as run:
            np.save(path, samples, allow_pickle=False)
            np.save(os.path.join(folder, "X_labels.npy"), np.zeros(len(samples), np.int64))  # required, but not used
            result = tasks.predict(run, data=path, verbosity=self._verbosity())
        return np.array([volume["scores"] for volume in result["volumes"]])
