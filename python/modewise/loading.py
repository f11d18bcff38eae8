"""Models of run folders as torch modules."""

import dataclasses
import math
import operator
import os
import warnings
from collections.abc import Callable
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from modewise import tasks
from modewise._aliases import member
from modewise.calibration import Calibration, window_std
from modewise.devices import device_of, on_cpu, torch_device
from modewise.errors import DataError, UsageError
from modewise.loaded_classifier import LoadedClassifier
from modewise.models.forecast import Forecaster, ForecastShape
from modewise.models.forecast_config import make_forecaster
from modewise.models.language import LanguageModel
from modewise.run_folder import RunFolder
from modewise.unscaled import unscaled

Array = npt.NDArray[Any]


@dataclasses.dataclass
class Forecast:
    """A forecast in the data's units: values [S, H] float64 and quantiles [S, H, Q] of `levels` (None if the run has none);
    series in row-major order over the modes, `names` their joined labels."""

    names: list[str]
    values: Array
    levels: list[float]
    quantiles: Array | None


class LoadedForecaster:
    """A run's forecaster: `module` (of modewise.nn, with the best weights, in evaluation mode), `config` (its resolved
    config.toml), `shape`, the scaler's `mean` and `std` [N_1 … N_j] float64, `names`, and its calibration."""

    origin = "the first row of the run's data (0 if they begin with it)"

    def __init__(self, folder: RunFolder) -> None:
        self.path = folder.path
        self.config = folder.config()
        with folder.reading("data.json"):
            self._read_data(folder.read_json("data.json"))
        with folder.reading("config.toml"):
            self.module: Forecaster = make_forecaster(self.config["model"], self.shape)
        folder.load_weights(self.module)
        file = folder.path / "calibration.npz"
        with folder.reading(file.name):
            self.calibration = Calibration(file) if file.is_file() else None
        self.levels: list[float] = self.config["forecast"]["quantiles"] if self.shape.quantiles > 0 else []
        if self.calibration is not None:
            self.levels = self.calibration.levels()

    def _read_data(self, data: dict[str, Any]) -> None:
        labels = [mode["labels"] for mode in data["modes"]]
        sizes = [len(mode) for mode in labels]
        self.names = [" / ".join(labels[axis][place] for axis, place in enumerate(np.unravel_index(i, sizes)))
                      for i in range(math.prod(sizes))]  # fmt: skip
        self.mean = np.array(data["scaler"]["mean"], dtype=np.float64).reshape(sizes)
        self.std = np.array(member(data["scaler"], "std"), dtype=np.float64).reshape(sizes)
        self.left_out: list[int] = data["scaler"].get("left_out", [])  # series without any value in training
        self.rows: int = data["rows"] + data.get("unread_rows", 0)
        forecast = self.config["forecast"]
        self.shape = ForecastShape(
            series=sizes, ordered=[mode["ordered"] for mode in data["modes"]], lookback=forecast["lookback"],
            horizon=max(forecast["horizons"] or [forecast["horizon"]]),
            quantiles=len(forecast["quantiles"]) if forecast["loss"] == "quantile" else 0, missing=data["missing"],
            future_covariates=data.get("ahead", {}).get("features", 0),
            future_covariate_modes=data.get("ahead", {}).get("modes", 0))  # fmt: skip

    def scaled(self, values: Array) -> tuple[Tensor, Tensor | None]:
        """The last `lookback` rows of values [T, N_1 … N_j], NaN where missing, as past [1, N_1 … N_j, L] and observed, which is None if
        all of the values are."""
        rows = self._checked(values)
        window = rows[-self.shape.lookback :]
        seen = np.isfinite(window)
        if not self.shape.missing and not seen.all():
            raise DataError(f"{self.path}: {int((~seen).sum())} values are missing in the last {self.shape.lookback} rows, but "
                            "the run was trained on data without missing values and its model accepts none")  # fmt: skip
        with np.errstate(over="ignore"):
            past = np.where(seen, (window - self.mean) / self.std, 0).astype(np.float32)
        if not np.isfinite(past).all():
            raise DataError(f"{self.path}: scaled values exceed the range of 32-bit floats")
        self._warn_of_empty(seen)
        masked = self.shape.missing and not np.isfinite(rows).all()
        observed = torch.from_numpy(np.ascontiguousarray(np.moveaxis(seen, 0, -1)))[None] if masked else None
        return torch.from_numpy(np.ascontiguousarray(np.moveaxis(past, 0, -1)))[None], observed

    def _warn_of_empty(self, seen: Array) -> None:
        """Warns, as the program does, of series without a value in the rows `seen` [L, N_1 … N_j] that the model reads."""
        empty = np.flatnonzero(~seen.reshape(len(seen), -1).any(0))
        names = [f"'{self.names[i]}'" for i in empty if i not in self.left_out]
        if names:
            listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            warnings.warn(f"{self.path}: no value in the last {self.shape.lookback} rows, which a forecast reads, of {listed}: a forecast from there is "
                          f"made without recent values of {'it' if len(names) == 1 else 'them'}, and is often the mean of the training rows",
                          stacklevel=5)  # fmt: skip

    def _checked(self, values: Array) -> Array:
        array = np.asarray(values)
        if array.dtype.kind not in "fiu":
            raise DataError(f"values must be numbers, got an array of {array.dtype}")
        if list(array.shape[1:]) != self.shape.series or array.ndim != len(self.shape.series) + 1:
            wanted = ", ".join(map(str, ["T", *self.shape.series]))
            raise DataError(f"values must be [{wanted}], got {list(array.shape)}")
        if array.shape[0] < self.shape.lookback:
            raise DataError(f"values have {array.shape[0]} rows, but the lookback of the model is {self.shape.lookback} rows")
        return self._with_nan(array)

    def _with_nan(self, values: Array) -> Array:
        """Values as float64, NaN for the numbers of `data.missing_values` and the 32-bit floats nearest to them."""
        marks = np.array(self.config["data"]["missing_values"], dtype=np.float64)
        array = values.astype(np.float64, copy=False)
        return np.where(np.isin(array, [*marks, *marks.astype(np.float32)]), np.nan, array) if len(marks) > 0 else array

    def _first_row(self, rows: int, first_row: SupportsIndex | None) -> int:
        """The index of the first of `rows` rows on the clock of the training data, 0 if no phase depends on it."""
        if first_row is not None:
            try:
                return operator.index(first_row)
            except TypeError:
                raise UsageError(f"first_row must be an integer, got {first_row!r}") from None
        cycle: int = self.config["model"]["window"]["cycle"]
        spread = None if self.calibration is None else self.calibration.spread
        periods = [f"a cycle of {cycle} rows"] if cycle > 0 else []
        periods += [] if spread is None else [f"intervals that follow a season of {spread.shape[1]} rows"]
        if rows == self.rows or not periods:
            return 0
        raise UsageError(f"{self.path}: its model has {' and '.join(periods)}, so {rows} rows need first_row, the index of the first of them "
                         f"counted from {self.origin}")  # fmt: skip

    @torch.no_grad()
    def predict(self, values: Array, first_row: SupportsIndex | None = None) -> Forecast:
        """Forecast after values [T, N_1 … N_j] (at least the lookback, in the data's units, NaN or one of `data.missing_values` if
        missing). first_row: index of values[0], counted from the first row of the run's data; a model with a cycle, or intervals that
        follow a season, needs it unless values has as many rows as those data, which are then taken for them. DataError for other
        shapes and types, UsageError without a first_row that is needed, NotImplementedError for a run with data.future_covariates or
        data.calendar, whose `module` takes them scaled."""
        if self.shape.future_covariates > 0:
            raise NotImplementedError(f"{self.path}: its model takes {self.shape.future_covariates} future covariates (data.future_covariates, "
                                      "data.calendar), which are not read in Python yet; use modewise.Forecaster or the program")  # fmt: skip
        past, observed = self.scaled(values)
        begin = self._first_row(len(values), first_row)
        out = on_cpu(self.module, past, observed, torch.tensor([begin + len(values) - self.shape.lookback]))
        count = math.prod(self.shape.series)
        flat = out.reshape(1, count, self.shape.horizon, -1).numpy()
        raw = flat if self.shape.quantiles > 0 else None
        point = flat[..., flat.shape[-1] // 2] if raw is not None else flat[..., 0]
        quantiles = raw
        if self.calibration is not None:
            windows = past.reshape(1, count, -1).numpy()
            seen = None if observed is None else observed.reshape(1, count, -1).numpy()
            quantiles = self.calibration.quantiles(point, raw, window_std(windows, seen), begin + len(values))
        return self._in_units(point[0], None if quantiles is None else quantiles[0])

    def _in_units(self, point: Array, quantiles: Array | None) -> Forecast:
        """Of scaled values [S, H] and quantiles [S, H, Q]."""
        mean, std = self.mean.reshape(-1, 1), self.std.reshape(-1, 1)
        levels = None if quantiles is None else unscaled(quantiles, mean[..., None], std[..., None])
        return Forecast(self.names, unscaled(point, mean, std), self.levels, levels)


class LoadedPanelForecaster(LoadedForecaster):
    """A forecaster of a panel (docs/panels.md): `module`, `config`, `shape`, `names` of the variables, and its calibration. Each
    series is scaled by its own rows."""

    origin = "the first time of the panel"

    def _read_data(self, data: dict[str, Any]) -> None:
        forecast = self.config["forecast"]
        self.names, self.rows, self.left_out = list(data["variables"]), 0, []
        self.shape = ForecastShape(
            series=[len(self.names)], ordered=[False], lookback=forecast["lookback"], horizon=max(forecast["horizons"] or [forecast["horizon"]]),
            quantiles=len(forecast["quantiles"]) if forecast["loss"] == "quantile" else 0, missing=True,
            future_covariates=data.get("ahead", {}).get("features", 0), future_covariate_modes=0)  # fmt: skip

    @torch.no_grad()
    def predict(self, values: Array, first_row: SupportsIndex | None = None) -> Forecast:
        """Forecast after the rows [T, V] of one series, of any length, in its units, missing values as for other runs. first_row:
        index of values[0] on the clock of the panel, which a model with a cycle needs. DataError for other shapes, UsageError without
        a first_row that is needed, NotImplementedError for a run with covariates, whose `module` takes them scaled."""
        if self.shape.future_covariates > 0:
            raise NotImplementedError(f"{self.path}: its model takes {self.shape.future_covariates} covariates, which are not read in Python yet; use "
                                      "modewise.Forecaster or the program")  # fmt: skip
        lookback, array = self.shape.lookback, np.asarray(values, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != len(self.names) or len(array) == 0:
            raise DataError(f"values must be [T, {len(self.names)}], got {list(array.shape)}")
        array, begin = self._with_nan(array), self._first_row(len(array), first_row)
        self.mean, self.std = series_moments(array)
        rows = np.concatenate([np.full((max(lookback - len(array), 0), len(self.names)), np.nan), array])
        past, observed = self.scaled(rows)
        observed = torch.ones_like(past, dtype=torch.bool) if observed is None else observed  # as in the program
        out = on_cpu(self.module, past, observed, torch.tensor([begin + len(array) - lookback]))
        flat = out.reshape(1, len(self.names), self.shape.horizon, -1).numpy()
        raw = flat if self.shape.quantiles > 0 else None
        point = flat[..., flat.shape[-1] // 2]
        quantiles = raw
        if self.calibration is not None:
            wider = np.float32(interval_widening(len(array)))
            quantiles = self.calibration.quantiles(point, raw, window_std(past.numpy(), observed.numpy()), widening=wider)
        return self._in_units(point[0], None if quantiles is None else quantiles[0])


def series_moments(values: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each column without NaN; 1 for a constant one. Sums have the order of the program's."""
    seen = np.isfinite(values)
    count = np.maximum(seen.sum(0), 1)
    mean = np.where(seen, values, 0).cumsum(0)[-1] / count
    std = np.sqrt((np.where(seen, values - mean, 0) ** 2).cumsum(0)[-1] / count)
    return mean, np.where((std > 1e-12 * np.abs(mean)) & (std > 0), std, 1.0)


def interval_widening(rows: int) -> float:
    """Factor of the interval margins of a series of few rows, as the program has it."""
    n, x = max(rows, 1), 1 / max(rows - 1, 1)
    return math.sqrt(1 + 1 / n) * (1 + x * (1.2104 + x * (1.4402 + x * (1.3041 + x * 0.8117))))


class LoadedLanguageModel:
    """A run's language model: `module` (with the best weights, in evaluation mode), `config` (its resolved
    config.toml), and its tokenizer: `encode`, `decode`, `begin_id` (None without a BOS token)."""

    def __init__(self, folder: RunFolder) -> None:
        self.path = folder.path
        self.config = folder.config()
        with folder.reading("config.toml"):
            self.module = LanguageModel(self.config["model"])
        folder.load_weights(self.module)

    def encode(self, text: str) -> Tensor:
        """Token ids [n] int64 of a text, without special tokens."""
        return torch.tensor(tasks.encode(self.path, text)[0], dtype=torch.int64)

    @property
    def begin_id(self) -> int | None:
        """Id of the BOS token."""
        return tasks.encode(self.path, "")[1]

    @property
    def begin_before_text(self) -> int | None:
        """Id of the token before a text, as before the documents of the run; None for none."""
        setting = self.config["data"]["begin_token"]  # true or false in runs of earlier versions
        if setting == "auto":
            return tasks.begin_before_text(self.path)
        return self.begin_id if setting in (True, "yes") else None

    def decode(self, tokens: Tensor) -> str:
        """The text of token ids [n]; invalid UTF-8 becomes U+FFFD."""
        return tasks.decode(self.path, tokens.tolist())

    def generate(self, prompt: str, count: int) -> str:
        """Continues a prompt by `count` tokens, greedily, as `generate --temperature 0 --ignore-eos` does. Ids without a token have no text."""
        if count < 0:
            raise UsageError(f"generate: the number of tokens must not be negative, got {count}")
        begin = self.begin_before_text
        opening = [] if begin is None else [begin]
        tokens = torch.tensor([[*opening, *self.encode(prompt).tolist()]])
        if tokens.numel() == 0:
            raise UsageError("generate: the prompt is empty, and the tokenizer has no BOS token")
        ids = self.module.greedy(tokens.to(device_of(self.module)), count)[0]
        return tasks.decode(self.path, ids.tolist(), skip_missing=True)


def load_forecaster(path: str | os.PathLike[str]) -> LoadedForecaster:
    """`load` for a run of the task forecasting. UsageError for a run of another task."""
    folder = RunFolder(path)
    if folder.task != "forecasting":
        raise UsageError(f"{folder.path} is a run of the task '{folder.task}', not of 'forecasting'")
    return forecaster_of(folder)


def forecaster_of(folder: RunFolder) -> LoadedForecaster:
    return (LoadedPanelForecaster if folder.read_json("data.json").get("panel") else LoadedForecaster)(folder)


LOADERS: dict[str, Callable[[RunFolder], LoadedForecaster | LoadedClassifier | LoadedLanguageModel]] = {
    "forecasting": forecaster_of,
    "volume_classification": LoadedClassifier,
    "language_modeling": LoadedLanguageModel,
}


def load(path: str | os.PathLike[str], device: str = "cpu") -> LoadedForecaster | LoadedClassifier | LoadedLanguageModel:
    """The model of a run folder, as a modewise.nn module with the run's best weights, in evaluation mode: a
    LoadedForecaster, a LoadedClassifier or a LoadedLanguageModel.

    Parameters
    ----------
    path
        A run folder.
    device
        Device of the module: "cpu", "cuda", "cuda:1" or "auto" (CUDA if torch has it, else the CPU). A run opens on any device.

    Returns
    -------
    LoadedForecaster, LoadedClassifier or LoadedLanguageModel
        A torch module in evaluation mode, with the run's best weights.

    Raises
    ------
    NoInputError, DataError, ConfigError
        Without a run or a checkpoint; for damaged files, and those of a newer modewise or of another run; for a missing device.
    NotImplementedError
        For a task or model without a module in Python.

    Examples
    --------
    >>> load("runs/table-hot")  # doctest: +SKIP
    """
    folder = RunFolder(path)
    if folder.task not in LOADERS:
        raise NotImplementedError(f"{folder.path} is a run of the task '{folder.task}', which has no module in Python yet; "
                                  "the program and modewise.tasks run it")  # fmt: skip
    place = torch_device(device)
    loaded = LOADERS[folder.task](folder)
    loaded.module.to(place)
    return loaded
