"""A classifier of series in scikit-learn's manner over the program's training."""

import os
import pathlib
import re
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from modewise import tasks
from modewise.classifier import Classifier, checked_labels
from modewise.errors import DataError
from modewise.estimator import Array, checked_array, dense_array


def checked_series(X: Any) -> list[Array]:
    """Cases [T, C] float64, NaN where missing. DataError for what are none."""
    several = isinstance(X, (list, tuple)) or dense_kind(X) == "O"
    cases = [dense_array(case) for case in X] if several else list(checked_array(X, "[n, T] or [n, T, C] with at least one case"))
    if not cases:
        raise DataError("X must hold at least one case")
    for place, case in enumerate(cases):
        if case.dtype.kind not in "fiu" or case.ndim not in (1, 2) or case.size == 0:
            raise DataError(f"X: case {place} must be [T] or [T, C] of numbers, got {list(case.shape)} of {case.dtype}")
        if np.isinf(case).any():
            raise DataError(f"X: case {place} holds an infinite value")
    columns = [case.astype(np.float64)[:, None] if case.ndim == 1 else case.astype(np.float64) for case in cases]
    other = next((place for place, case in enumerate(columns) if case.shape[1] != columns[0].shape[1]), None)
    if other is not None:
        raise DataError(f"X: case 0 has {columns[0].shape[1]} variables, case {other} has {columns[other].shape[1]}")
    return columns


def dense_kind(X: Any) -> str:
    """Of numpy's types: "O" for an array of arrays."""
    return str(getattr(getattr(X, "dtype", None), "kind", ""))


def write_cases(path: pathlib.Path, cases: list[Array], classes: list[str], places: Array | None) -> None:
    """A .ts file. Numbers are written so that they read back to the same bits."""
    with path.open("w") as file:
        file.write(f"@problemName {path.stem}\n@timeStamps false\n@missing true\n@univariate {str(cases[0].shape[1] == 1).lower()}\n"
                   f"@dimensions {cases[0].shape[1]}\n@equalLength {str(len({len(case) for case in cases}) == 1).lower()}\n")  # fmt: skip
        file.write(f"@classLabel {' '.join(['true', *classes] if places is not None else ['false'])}\n@data\n")
        for number, case in enumerate(cases):
            parts = [",".join("?" if value != value else repr(value) for value in variable) for variable in case.T.tolist()]
            file.write(":".join(parts if places is None else [*parts, classes[places[number]]]) + "\n")


class SeriesClassifier(Classifier):
    """Trains and asks one run of the program's task series, in this process.

    model: patchtst, minirocket, tcn, resnet, nearest, … (docs/series-classification.md). epochs: None: the program's. seed: of weights,
    order and dropout. settings: any other option of the program by its name, {"model.width": 32}. run, exist_ok, verbosity: as
    for Forecaster. A tenth of each class is held back to choose the best weights and a tenth to judge them.

    After `fit`: `run_`, `metrics_` and `classes_`. What was fitted lies in the folder, as data/RUN.ts.
    """

    TASK = "series"

    def __init__(
        self,
        model: str = "patchtst",
        *,
        epochs: int | None = None,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        run: str | os.PathLike[str] | None = None,
        exist_ok: bool = False,
        verbosity: int = 0,
    ) -> None:
        self.model = model
        self.epochs = epochs
        self.seed = seed
        self.settings = settings
        self.run = run
        self.exist_ok = exist_ok
        self.verbosity = verbosity

    def fit(self, X: Any, y: Any) -> "SeriesClassifier":
        """X [n, T] or [n, T, C], or a list of cases [T_i] or [T_i, C] of unequal lengths, NaN where missing; y [n] whole
        numbers or words. DataError, ConfigError, … say what is wrong; Ctrl-C saves and raises Stopped, and `resume` goes on."""
        cases = checked_series(X)
        names, places = checked_labels(y, len(cases))
        words = all(re.fullmatch(r"[\w.+-]+", name) for name in names)  # that a .ts file can hold
        with self._new_run() as run:
            stem = run.stem().absolute()
            file = stem.with_name(stem.name + ".ts")
            write_cases(file, cases, names if words else [f"c{place}" for place in range(len(names))], places)
            self._train_classes({"data.train": file, "data.protocol": "paper"}, run)
        self.classes_ = np.unique(np.asarray(y).reshape(-1))
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> "SeriesClassifier":
        """A fitted classifier of a folder that any `train series` made; its classes are the names that the run has."""
        return cls._of_run(run, {"model": "model.name", "epochs": "train.epochs", "seed": "train.seed"})

    def predict_proba(self, X: Any) -> Array:
        """Probabilities [n, K] float64 of new cases, no longer than the longest that was fitted, in the order of `classes_`:
        the scores of `modewise predict`."""
        run = self._run()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cases.ts"
            write_cases(path, checked_series(X), [], None)
            said = tasks.predict(run, data=path)
        return np.array([case["scores"] for case in said["cases"]])
