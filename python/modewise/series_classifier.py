"""Series classifier with the interface of scikit-learn."""

import os
import pathlib
import re
import tempfile
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modewise import tasks
from modewise._aliases import constructor
from modewise.axis_names import COLUMNS, AxisNames
from modewise.classifier import Classifier, checked_labels
from modewise.errors import DataError
from modewise.estimator import Array, checked_array, dense_array
from modewise.run_folder import RunFolder

LARGEST = np.finfo(np.float32).max


def checked_series(X: Any) -> list[Array]:
    """Samples [T, C] float64, NaN if missing; steps at the end that are NaN in all variables are left out, as in a table. DataError for
    an invalid sample."""
    several = isinstance(X, (list, tuple)) or dense_kind(X) == "O"
    samples = [dense_array(sample) for sample in X] if several else list(checked_array(X, "[n, T] or [n, T, C] with at least one sample", "fiub"))
    if not samples:
        raise DataError("X must hold at least one sample")
    for index, sample in enumerate(samples):
        if sample.dtype.kind not in "fiub" or sample.ndim not in (1, 2) or sample.size == 0:
            raise DataError(f"X: sample {index} must be [T] or [T, C] of numbers, got {list(sample.shape)} of {sample.dtype}")
        if np.isinf(sample).any():
            raise DataError(f"X: sample {index} holds an infinite value")
        if (np.abs(sample) > LARGEST).any():
            raise DataError(f"X: sample {index} holds {np.nanmax(np.abs(sample)):g}, which exceeds the range of float32")
    columns = [until_last_value(sample.astype(np.float64).reshape(len(sample), -1)) for sample in samples]
    empty = next((index for index, sample in enumerate(columns) if len(sample) == 0), None)
    if empty is not None:
        raise DataError(f"X: sample {empty} has no value: every one is NaN")
    other = next((index for index, sample in enumerate(columns) if sample.shape[1] != columns[0].shape[1]), None)
    if other is not None:
        raise DataError(f"X: sample 0 has {columns[0].shape[1]} variables, sample {other} has {columns[other].shape[1]}")
    return columns


def until_last_value(sample: Array) -> Array:
    """The steps of a sample [T, C] up to the last one with a value."""
    steps = np.flatnonzero(~np.isnan(sample).all(-1))
    return sample[: steps[-1] + 1 if len(steps) > 0 else 0]


def dense_kind(X: Any) -> str:
    """The kind of a NumPy dtype: "O" for an array of arrays."""
    return str(getattr(getattr(X, "dtype", None), "kind", ""))


def writable_names(names: list[str]) -> list[str]:
    """Names of classes for a .ts file: c0, c1, … where one has a line end or quotes of both kinds."""
    writable = not any(re.search(r"[\r\n\0]", name) or {"'", '"'} <= set(name) for name in names)
    return names if writable else [f"c{number}" for number in range(len(names))]


def quoted(name: str) -> str:
    """A class in a .ts file, in quotes where it needs them."""
    return name if re.fullmatch(r"[\w.+-]+", name) else f"'{name}'" if '"' in name else f'"{name}"'


def write_samples(path: pathlib.Path, samples: list[Array], classes: list[str], labels: Array | None) -> None:
    """Writes a .ts file. Numbers read back to the same bits."""
    classes = [quoted(name) for name in classes]
    with path.open("w") as file:
        file.write(f"@problemName {path.stem}\n@timeStamps false\n@missing true\n@univariate {str(samples[0].shape[1] == 1).lower()}\n"
                   f"@dimensions {samples[0].shape[1]}\n@equalLength {str(len({len(sample) for sample in samples}) == 1).lower()}\n")  # fmt: skip
        file.write(f"@classLabel {' '.join(['true', *classes] if labels is not None else ['false'])}\n@data\n")
        for number, sample in enumerate(samples):
            parts = [",".join("?" if value != value else repr(value) for value in variable) for variable in sample.T.tolist()]
            file.write(":".join(parts if labels is None else [*parts, classes[labels[number]]]) + "\n")


class SeriesClassifier(Classifier):
    """Trains and uses one run of the task series_classification, in this process.

    Parameters
    ----------
    model : str
        patchtst, minirocket, tcn, resnet, nearest, … (docs/series-classification.md).
    epochs : int, optional
        None: the program's default.
    seed : int
        Seed of weights, batch order and dropout; `random_state` is the same.
    threads : int
        Threads of computations, −1: one for each core, 0: as torch has it; `n_jobs` is the same. Results do not depend on it.
    device : str
        Device of the model: "auto" (CUDA if torch has it, else the CPU), "cpu", "cuda" or "cuda:1".
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
        The run folder. It contains the fitted series as data/RUN.ts.
    metrics_ : dict
        Its metrics.json.
    classes_ : array
        The labels in ascending order, of the type that `fit` took.

    Examples
    --------
    >>> SeriesClassifier("minirocket").fit(X, y).predict(X)  # doctest: +SKIP
    """

    TASK = "series_classification"
    ALL_SAMPLES = {"data.protocol": "official"}

    @constructor({"exist_ok": "overwrite"})
    def __init__(
        self,
        model: str = "patchtst",
        *,
        epochs: int | None = None,
        seed: int = 0,
        threads: int = 0,
        device: str = "auto",
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
        self.settings = settings
        self.run = run
        self.overwrite = overwrite
        self.verbosity = verbosity

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Trains on series with classes. No samples are held back for a test: a fifth of each class is the validation split, which
        selects the weights (`settings`: data.protocol, data.validation_share).

        Parameters
        ----------
        X
            [n, T] or [n, T, C], or a list of samples [T_i] or [T_i, C] of unequal lengths, NaN if missing; NaN of all variables at the end of a
            sample end it.
        y
            [n] integers, also as floats, or strings.

        Returns
        -------
        SeriesClassifier
            This object.

        Raises
        ------
        DataError, ConfigError
            For invalid data and settings.
        Stopped
            For Ctrl-C, which saves a checkpoint; `resume` continues.
        """
        axes = AxisNames.of(X)
        samples = checked_series(axes.order(X))
        names, labels = checked_labels(y, len(samples))
        with self._new_run() as run:
            stem = run.stem().absolute()
            file = stem.with_name(stem.name + ".ts")
            names = writable_names(names)
            write_samples(file, samples, names, labels)
            classes = self._write_classes(y, names, stem)
            self._train_classes({"data.train": file}, run, {str(file): "X"}, axes, classes)
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> Self:
        """A fitted classifier of a run of `train classify-series`, with the run's class names."""
        made = cls._of_run(run, {"model": "model.name", "epochs": "train.epochs", "seed": "train.seed"})
        folder = RunFolder(run)
        data = folder.read_json("data.json")
        with folder.reading("data.json"):  # a table's, whose columns are the steps
            if not made._axes.labels and data["variables"] == 1 and len(data.get("columns", [])) == data["length"]:
                made._axes = AxisNames(labels={COLUMNS: data["columns"]})
        return made

    def predict_proba(self, X: npt.ArrayLike) -> Array:
        """Probabilities [n, K] float64 of new samples, no longer than the longest fitted one, in the order of `classes_`: the
        scores of `modewise predict`.

        Parameters
        ----------
        X
            Samples, as for `fit`.

        Returns
        -------
        array [samples, classes]
            Probabilities, columns as `classes_`.
        """
        self._run()
        samples = checked_series(self._axes.order(X))
        with tempfile.TemporaryDirectory() as folder, self._using_run({(path := os.path.join(folder, "X.ts")): "X"}) as run:
            write_samples(pathlib.Path(path), samples, [], None)
            result = tasks.predict(run, data=path, verbosity=self._verbosity())
        return np.array([sample["scores"] for sample in result["cases"]])
