"""Semantic segmentation of scenes with the interface of scikit-learn."""

import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeGuard, overload

import numpy as np
import numpy.typing as npt

from modewise import tasks
from modewise._aliases import constructor
from modewise.axis_names import AxisNames, same_pixels
from modewise.errors import DataError, UsageError
from modewise.estimator import AXES, Array, Estimator, checked_array, own_split
from modewise.labelled_arrays import is_labelled
from modewise.run_folder import RunFolder

if TYPE_CHECKING:
    import xarray

SCENE = "[h, w], [h, w, bands] or [dates, h, w, bands] with at least one pixel"


class Segmenter(Estimator):
    """Trains and uses one run of the task segmentation, in this process.

    Parameters
    ----------
    model : str
        hot, transformer, unet.
    epochs : int, optional
        None: the program's default.
    seed : int
        Seed of weights, batch order, dropout and augmentation; `random_state` is the same.
    threads : int
        Threads of computations, −1: one for each core, 0: as torch has it; `n_jobs` is the same. Results do not depend on it.
    device : str
        Device of the model: "auto" (CUDA if torch has it, else the CPU), "cpu", "cuda" or "cuda:1".
    settings : mapping, optional
        Any other config key, {"data.window": 64}.
    run : path, optional
        The new run folder; None: a temporary one, which is removed with this object (`save` keeps it).
    overwrite : bool
        Whether a run in that folder is replaced.
    verbosity : int
        −1 quiet, 0 warnings, notes and progress on stderr, also of `predict` and `evaluate`, 1, 2 more; `verbose` is one more.

    Attributes
    ----------
    run_ : str
        The run folder. It contains fitted arrays as data/RUN.npy and data/RUN_mask.npy.
    metrics_ : dict
        Its metrics.json.
    classes_ : array
        Ids [K] int64 of the classes.
    class_names_ : list of str
        Their names.

    Examples
    --------
    >>> Segmenter(epochs=20).fit(image, mask).predict(image)  # doctest: +SKIP
    """

    TASK = "segmentation"
    ALL_BLOCKS = {"data.test": 0}

    @constructor({"exist_ok": "overwrite"})
    def __init__(
        self,
        model: str = "hot",
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

    def fit(self, X: object, y: object) -> Self:
        """Trains on a scene and its mask, or on files. The scene is cut into blocks; some are the validation split, which selects
        the weights; none is held back for a test (`settings`: data.validation, data.test). Files keep the program's splits.

        Parameters
        ----------
        X
            A scene [h, w], [h, w, bands] or [dates, h, w, bands], NaN for no data, the dimensions of a DataArray in any order; or
            the path of an image (GeoTIFF, NPY, PNG, JPEG) or of a folder of them.
        y
            [h, w] integers or truth values, the class of each pixel (−1 and 255: ignored); or the path of the masks.

        Returns
        -------
        Segmenter
            This object.

        Raises
        ------
        DataError, ConfigError
            For invalid data and settings.
        Stopped
            For Ctrl-C, which saves a checkpoint; `resume` continues.
        """
        if is_path(X) != is_path(y):
            raise UsageError("fit: the scene and its mask must both be arrays or both be paths")
        files = [os.path.abspath(X), os.path.abspath(y)] if is_path(X) and is_path(y) else []
        arrays = [] if files else [checked_scene(X), checked_mask(same_pixels(X, y))]
        axes = AxisNames() if files else AxisNames.of(X, free=("y", "x"))
        with self._new_run() as run:
            paths = self._written(arrays, run.stem().absolute()) if arrays else files
            settings = {"model.name": self.model, "train.epochs": self.epochs, "train.seed": self.seed, "data.path": paths[0],
                        "data.masks": paths[1]}  # fmt: skip
            if arrays:
                axes.write(pathlib.Path(f"{run.stem()}{AXES}"))
            split = own_split(self.settings, self.ALL_BLOCKS) if arrays else {}
            self._train(settings | split | dict(self.settings or {}), run, dict(zip(paths, "Xy", strict=True)) if arrays else None, _axes=axes)
        self._know_classes()
        return self

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> Self:
        """A fitted segmenter of a run of `train segment`."""
        made = cls._of_run(run, {"model": "model.name", "epochs": "train.epochs", "seed": "train.seed"})
        made._know_classes()
        return made

    @overload
    def predict(self, X: "xarray.DataArray") -> "xarray.DataArray": ...
    @overload
    def predict(self, X: npt.ArrayLike | os.PathLike[str]) -> Array: ...
    def predict(self, X: Any) -> Any:
        """The class of each pixel of a scene with the same bands: [h, w] int64 ids of `classes_`, −1 for no data; a DataArray
        for a DataArray.

        Parameters
        ----------
        X
            An image [h, w], [h, w, bands], [dates, h, w, bands], or a path.

        Returns
        -------
        array or DataArray
            Class ids [h, w], −1 where the image has no data.
        """
        if is_path(X):
            return self._map_of(os.fspath(X), {})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "X.npy"
            np.save(path, checked_scene(self._axes.order(X)), allow_pickle=False)
            classes = self._map_of(str(path), {str(path): "X"})
        if not is_labelled(X):
            return classes
        kept = {name: X.coords[name] for name in ("y", "x") if name in X.coords}
        return type(X)(classes, dims=("y", "x"), coords=kept)

    def score(self, X: npt.ArrayLike | os.PathLike[str], y: npt.ArrayLike) -> float:
        """Accuracy on the pixels of a scene that have data and whose class in y is one of `classes_`.

        Parameters
        ----------
        X
            An image.
        y
            Its mask.

        Returns
        -------
        float
            Accuracy.
        """
        mask = checked_mask(same_pixels(X, y))
        predicted = np.asarray(self.predict(X))
        if predicted.shape != mask.shape:
            raise DataError(f"y must be {list(predicted.shape)} for the scene, got {list(mask.shape)}")
        known, with_data = np.isin(mask, self.classes_), predicted != -1
        if not known.any():
            raise DataError("y has no pixel of a fitted class")
        counted = known & with_data
        if not counted.any():
            raise DataError("X has no data in the pixels of y that have a fitted class")
        return float((predicted == mask)[counted].mean())

    def evaluate(self, split: str | None = None, *, detail: bool = False) -> tasks.Result:
        """Accuracy, IoU, … on a split of the fitted data -> the program's `evaluate --json`. split None: the test split if the fit
        held one back, else the validation split.

        Parameters
        ----------
        split
            "test", "validation" or "train"; None: the test split if the fit held one back, else the validation split.
        detail
            Whether figures of each class are included.

        Returns
        -------
        dict
            The program's `evaluate --json`.
        """
        with self._using_run() as run:
            return tasks.evaluate(run, data=self._data_to_evaluate(), split=split or self._evaluated_split(), detail=detail,
                                  verbosity=self._verbosity())  # fmt: skip

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

    def _map_of(self, scene: str, arguments: Mapping[str, str]) -> Array:
        with tempfile.TemporaryDirectory() as folder, self._using_run(arguments) as run:
            path = pathlib.Path(folder) / "map.npy"
            said = tasks.predict(run, data=scene, out=path, verbosity=self._verbosity())
            class_map: Array = np.load(path)
        ids = class_map.astype(np.int64)
        ids[class_map == said["nodata"]] = -1
        return ids


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(data, (str, os.PathLike))


def checked_scene(X: Any) -> Array:
    """A scene [h, w], [h, w, bands] or [dates, h, w, bands]. DataError for other shapes."""
    if is_labelled(X):
        X = placed(X, 4)
    array = checked_array(X, SCENE, "fiub")
    if not 2 <= array.ndim <= 4:
        raise DataError(f"array: it must be {SCENE}, got {list(array.shape)}")
    return array.astype(np.uint8) if array.dtype.kind == "b" else array


def checked_mask(y: Any) -> Array:
    """A mask [h, w] of integers, 0 and 1 for truth values. DataError for other arrays."""
    array = checked_array(placed(y, 2) if is_labelled(y) else y, "[h, w] with at least one pixel", "fiub")
    if array.ndim != 2 or array.dtype.kind == "f":
        raise DataError(f"y must be [h, w] integers, got {list(array.shape)} of {array.dtype}")
    return array.astype(np.uint8) if array.dtype.kind == "b" else array


def placed(data: Any, max_dims: int) -> Any:
    """A DataArray with the dimensions in the program's order: (dates,) y, x (, bands)."""
    others = [name for name in data.dims if name not in ("y", "x")]
    if {"y", "x"} - set(data.dims) or len(data.dims) > max_dims:
        raise DataError(f"a DataArray must have the dimensions y and x, and at most {max_dims - 2} others, got ({', '.join(map(str, data.dims))})")
    dates = others[:1] if len(others) == 2 else []
    return data.transpose(*dates, "y", "x", *others[len(dates) :])
