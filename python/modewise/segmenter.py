"""Classes of the pixels of a scene in scikit-learn's manner over the program's training."""

import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from modewise import tasks
from modewise.errors import DataError, UsageError
from modewise.estimator import Array, Estimator, checked_array
from modewise.run_folder import RunFolder, setting

SCENE = "[h, w], [h, w, bands] or [dates, h, w, bands] with at least one pixel"


class Segmenter(Estimator):
    """Trains and asks one run of the program's task segment, in this process.

    model: hot, transformer, unet. epochs: None: the program's. seed: of weights, order, dropout and augmentation.
    settings: any other option of the program by its name, {"data.window": 64}. run, exist_ok, verbosity: as for
    Forecaster. The scene is cut into blocks, of which some are held back to choose the best weights and some to judge
    them (docs/segmentation.md).

    After `fit`: `run_`, `metrics_`, `classes_` (ids [K] int64) and `class_names_`. Arrays that were fitted lie in the
    folder, as data/RUN.npy and data/RUN_mask.npy.
    """

    def __init__(
        self,
        model: str = "hot",
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

    def fit(self, X: Any, y: Any) -> "Segmenter":
        """X: a scene [h, w], [h, w, bands] or [dates, h, w, bands], NaN where there are no data, and y [h, w] whole numbers,
        the class of each pixel (−1 and 255 count nowhere); or paths of what the program reads, of a GeoTIFF or of folders of
        images and masks. A DataArray's x and y may stand anywhere among its dimensions. DataError, ConfigError, … say what is
        wrong; Ctrl-C saves and raises Stopped, and `resume` goes on."""
        if is_path(X) != is_path(y):
            raise UsageError("fit: a scene and its mask are both arrays or both paths")
        arrays = [] if is_path(X) else [checked_scene(X), checked_mask(y)]
        with self._new_run() as run:
            paths = self._written(arrays, run.stem().absolute()) if arrays else [os.path.abspath(X), os.path.abspath(y)]
            settings = {"model.name": self.model, "train.epochs": self.epochs, "train.seed": self.seed, "data.path": paths[0],
                        "data.masks": paths[1]}  # fmt: skip
            self._train("segment", settings | dict(self.settings or {}), run)
        self._know_classes()
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> "Segmenter":
        """A fitted segmenter of a folder that any `train segment` made."""
        folder = RunFolder(run)
        if folder.task != "segment":
            raise UsageError(f"{folder.path} is a run of the task '{folder.task}', not of 'segment'")
        config = folder.config()
        made = cls(setting(config, "model.name"), epochs=setting(config, "train.epochs"), seed=setting(config, "train.seed"), run=run)
        made.run_ = os.path.abspath(run)
        made._know_classes()
        return made

    def predict(self, X: Any) -> Any:
        """The class of each pixel of a scene of the same bands, [h, w] int64 ids of `classes_`, −1 where it has no data; a
        DataArray comes back for a DataArray."""
        if is_path(X):
            return self._map_of(os.fspath(X))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "scene.npy"
            np.save(path, checked_scene(X), allow_pickle=False)
            classes = self._map_of(str(path))
        if not is_data_array(X):
            return classes
        kept = {name: X.coords[name] for name in ("y", "x") if name in X.coords}
        return type(X)(classes, dims=("y", "x"), coords=kept)

    def score(self, X: Any, y: Any) -> float:
        """The share of the pixels of a scene whose class is told, of those whose class in y is one of `classes_`."""
        mask = checked_mask(y)
        told = np.asarray(self.predict(X))
        if told.shape != mask.shape:
            raise DataError(f"y must be {list(told.shape)} for the scene, got {list(mask.shape)}")
        counted = np.isin(mask, self.classes_)
        if not counted.any():
            raise DataError("y holds no pixel of a class that was fitted")
        return float((told == mask)[counted].mean())

    def evaluate(self, split: str = "test", *, detail: bool = False) -> dict[str, Any]:
        """Accuracy, IoU, … over a part of what was fitted -> the program's `evaluate --json`."""
        return tasks.evaluate(self._run(), split=split, detail=detail)

    @staticmethod
    def _written(arrays: list[Array], stem: pathlib.Path) -> list[str]:
        paths = [f"{stem}{ending}" for ending in (".npy", "_mask.npy")]
        for path, array in zip(paths, arrays, strict=True):
            np.save(path, array, allow_pickle=False)
        return paths

    def _know_classes(self) -> None:
        folder = RunFolder(self._run())
        with folder.reading("data.json"):
            legend = folder.read_json("data.json")["classes"]["classes"]
            self.classes_ = np.array([one["id"] for one in legend], np.int64)
            self.class_names_ = [str(one["name"]) for one in legend]

    def _map_of(self, scene: str) -> Array:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "map.npy"
            said = tasks.predict(self._run(), data=scene, out=path)
            places: Array = np.load(path)
        ids = np.full(256, -1, np.int64)
        ids[[one["id"] for one in said["classes"]]] = self.classes_
        return np.asarray(ids[places])


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def is_data_array(data: Any) -> bool:
    """Of xarray, which need not be there."""
    return hasattr(data, "dims") and hasattr(data, "transpose") and hasattr(data, "coords")


def checked_scene(X: Any) -> Array:
    """[h, w], [h, w, bands] or [dates, h, w, bands]. DataError for what is none."""
    if is_data_array(X):
        X = placed(X, 4)
    array = checked_array(X, SCENE)
    if not 2 <= array.ndim <= 4:
        raise DataError(f"array: it must be {SCENE}, got {list(array.shape)}")
    return array


def checked_mask(y: Any) -> Array:
    """[h, w] whole numbers. DataError for what is none."""
    array = checked_array(placed(y, 2) if is_data_array(y) else y, "[h, w] with at least one pixel")
    if array.ndim != 2 or array.dtype.kind == "f":
        raise DataError(f"y must be [h, w] whole numbers, got {list(array.shape)} of {array.dtype}")
    return array


def placed(data: Any, most: int) -> Any:
    """A DataArray with y and x as the program has them: (dates,) y, x (, bands)."""
    others = [name for name in data.dims if name not in ("y", "x")]
    if {"y", "x"} - set(data.dims) or len(data.dims) > most:
        raise DataError(f"a DataArray must have the dimensions y and x, and at most {most - 2} others, got ({', '.join(map(str, data.dims))})")
    dates = others[:1] if len(others) == 2 else []
    return data.transpose(*dates, "y", "x", *others[len(dates) :])
