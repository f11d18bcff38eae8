"""Forecaster with the interface of scikit-learn: frames, arrays or files in, frames out."""

import math
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from modewise import tasks
from modewise._aliases import old_keywords
from modewise.errors import DataError, UsageError
from modewise.estimator import Array, Estimator, checked_array
from modewise.frames import Table, forecast_frame, forecast_times, future_table, table_of, write_table
from modewise.labelled_arrays import Grid, grid_of, is_labelled
from modewise.loading import LoadedForecaster, load_forecaster, refuse_panel
from modewise.plots import Past, figure_class, forecast_figure
from modewise.run_folder import RunFolder

if TYPE_CHECKING:
    import matplotlib.figure

Checked = str | Array | Table | Grid


def checked_data(data: Any) -> Checked:
    """A path, an array, a DataArray or a frame, validated, for `written_data`; otherwise DataError."""
    if isinstance(data, (str, os.PathLike)):
        return os.path.abspath(data)
    if is_labelled(data):
        return grid_of(data)
    if isinstance(data, np.ndarray) or hasattr(data, "detach"):
        return checked_array(data, "[T, N_1 … N_j] with at least one row and one series")
    return table_of(data)


def written_data(data: Checked, stem: pathlib.Path) -> str:
    """Writes the data for the program -> their path: stem.npy, stem.csv, stem.data/, or the given path."""
    if isinstance(data, str):
        return data
    if isinstance(data, Table):
        return str(write_table(data, stem).absolute())
    if isinstance(data, Grid):
        return str(data.write(stem).absolute())
    path = stem.with_name(stem.name + ".npy")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, data, allow_pickle=False)
    return str(path.absolute())


def forecast_of(result: dict[str, Any], data: Table | Grid | None) -> Any:
    """The program's `predict --json` in the type of `data`; a pandas frame without data."""
    if isinstance(data, Grid):
        return data.forecast(result)
    forecast = forecast_frame(result, data)
    return forecast if data is None else data.kind.back(forecast)


def require_all_series(run: str, table: Table) -> None:
    """DataError where the program read some columns of a frame as something other than series."""
    described = RunFolder(run).read_json("data.json")
    refuse_panel(described)
    modes = described["modes"]
    found, wanted = math.prod(len(mode["labels"]) for mode in modes), len(table.values.columns)
    if found != wanted:
        raise DataError(f"frame: {wanted} series, but the run has {found}: rename columns that are named like row numbers or "
                        "parts of dates (index, no, year, month, …)")  # fmt: skip


class Forecaster(Estimator):
    """Trains and uses one run of the task forecasting, in this process.

    model: any of `modewise train forecast --model` (hot, patchtst, dlinear, ridge, theta, ets, repeat …; docs/models.md).
    horizon, lookback: rows; 0: from the data (docs/forecasting.md). loss: mse, mae, huber or quantile. epochs: None:
    from the data. future_covariates: columns with known values for the rows to forecast (a plan, prices, holidays): inputs of
    the models tide and hot, not forecast. seed: of weights, batch order and dropout. settings: any other config key,
    {"model.width": 128}. run: the new run folder; None: runs/MODEL, numbered. overwrite: replace a run in that folder.
    verbosity: −1 quiet, 0 notes and progress on stderr, 1, 2 more.

    After `fit`: `run_` is the absolute path of the run folder, for the program and `modewise.load`, and `metrics_` its
    metrics.json. The folder contains a fitted frame or array as data/RUN.csv, data/RUN.npy or data/RUN.data/.
    """

    @old_keywords({"exist_ok": "overwrite", "known": "future_covariates"})
    def __init__(
        self,
        model: str = "hot",
        *,
        horizon: int = 0,
        lookback: int = 0,
        loss: str = "mae",
        epochs: int | None = None,
        future_covariates: Sequence[str] = (),
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        run: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        verbosity: int = 0,
    ) -> None:
        self.model = model
        self.horizon = horizon
        self.lookback = lookback
        self.loss = loss
        self.epochs = epochs
        self.future_covariates = future_covariates
        self.seed = seed
        self.settings = settings
        self.run = run
        self.overwrite = overwrite
        self.verbosity = verbosity

    def fit(self, data: Any, y: None = None) -> "Forecaster":
        """Trains on `data`: a frame (wide: a row per time and a column per series; long: unique_id, ds, y, …), an array
        [T, N_1 … N_j], or a path that the program reads. Rows after the last value of a series hold future covariates.
        DataError, ConfigError, … for invalid data and settings; Ctrl-C saves a checkpoint and raises Stopped, `resume`
        continues."""
        if y is not None:
            raise UsageError("Forecaster.fit takes one frame with the history of all series: y must be None")
        checked = checked_data(data)
        if isinstance(checked, Grid) and self.future_covariates:
            raise UsageError("future_covariates are column names, which a DataArray does not have: give a frame, or a path")
        self.given_ = checked if isinstance(checked, (Table, Grid)) else None
        with self._new_run() as run:
            path = checked if isinstance(checked, str) else written_data(checked, run.stem())
            self._train("forecasting", self._all_settings(path), run)
        if isinstance(self.given_, Table):
            self.given_ = self.given_.targets(self.future_covariates)
            require_all_series(self.run_, self.given_)
        return self

    def _all_settings(self, path: str) -> dict[str, Any]:
        settings: dict[str, Any] = {"model.name": self.model, "forecast.horizon": self.horizon, "forecast.lookback": self.lookback,
                                    "forecast.loss": self.loss, "train.epochs": self.epochs, "train.seed": self.seed,
                                    "data.path": path, "data.panel": "no"}  # fmt: skip
        if self.future_covariates:
            settings["data.future_covariates"] = list(self.future_covariates)
        if isinstance(self.given_, Table):
            settings["data.header"] = "yes"
        if isinstance(self.given_, Grid):
            settings |= self.given_.settings()
        return settings | dict(self.settings or {})

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> "Forecaster":
        """A fitted forecaster of a run of `train forecast`."""
        loaded = load_forecaster(run)
        forecast, train = loaded.config["forecast"], loaded.config["train"]
        made = cls(loaded.config["model"]["name"], horizon=forecast["horizon"], lookback=forecast["lookback"],
                   loss=forecast["loss"], epochs=train["epochs"],
                   future_covariates=loaded.config["data"]["future_covariates"], seed=train["seed"], run=run)  # fmt: skip
        made.run_, made.given_ = os.path.abspath(run), None
        return made

    def predict(self, steps: int = 0, data: Any = None, future: Any = None) -> Any:
        """Forecast of the rows after the fitted data, or after other `data` with the same columns: `steps` rows, at most the
        horizon, 0: all -> a frame like the fitted one, with a column for each calibrated quantile ("OT", "OT_q0.025", …),
        in the data's units. `future`: a frame or path with the future covariates of all rows of the horizon, where the data
        do not contain them."""
        with tempfile.TemporaryDirectory() as name:
            run, folder, path, covariates = self._run(), pathlib.Path(name), "", ""
            given = self.given_
            if data is not None:
                checked = checked_data(data)
                path = written_data(checked, folder / "data")
                given = checked.targets(self.future_covariates) if isinstance(checked, Table) else checked if isinstance(checked, Grid) else None
            if future is not None:
                covariates = self._written_future(future, folder / "future", given)
            return forecast_of(tasks.predict(run, data=path, future=covariates, steps=steps), given)

    def _written_future(self, future: Any, stem: pathlib.Path, given: Table | Grid | None) -> str:
        if isinstance(future, (str, os.PathLike)):
            return os.path.abspath(future)
        if not self.future_covariates:
            raise UsageError("future holds future covariates, but this forecaster has none: name them in future_covariates")
        table = future_table(future, self.future_covariates, long=isinstance(given, Table) and given.long)
        return str(write_table(table, stem, by_id=True).absolute())

    def plot(self, steps: int = 0, *, series: Sequence[str] | None = None, past: int = 0) -> "matplotlib.figure.Figure":
        """The forecast as a matplotlib figure: axes for each of `series` (names in the program; None: the first four), a band
        between each pair of quantiles, and the last `past` rows of the fitted frame or array (0: three times the number of
        forecast rows). `figure.savefig(path)` saves it."""
        figure_class()
        result = tasks.predict(self._run(), steps=steps)
        given, rows = self.given_, past or 3 * len(result["series"][0]["forecast"])
        if isinstance(given, Grid):
            times, index, values = given.times_after(len(result["series"][0]["forecast"])), given.times, given.values.reshape(len(given.values), -1)
            return forecast_figure(result, times, Past(index[-rows:], values[-rows:]), series)
        before = None if given is None else Past(given.values.index[-rows:], given.values.to_numpy()[-rows:])
        return forecast_figure(result, forecast_times(result, given), before, series)

    def evaluate(self, data: Any = None, *, split: str = "test", detail: bool = False) -> dict[str, Any]:
        """Errors on the "test", "validation" or "train" split, or on "all" rows of other `data` -> the program's
        `evaluate --json`: {"scaled": {"mse", "mae", …}, "units": …, "quantiles": …}."""
        if data is None:
            return tasks.evaluate(self._run(), split=split, detail=detail)
        with tempfile.TemporaryDirectory() as folder:
            path = written_data(checked_data(data), pathlib.Path(folder) / "data")
            return tasks.evaluate(self._run(), data=path, split=split, detail=detail)

    def backtest(self, stride: int = 0) -> dict[str, Any]:
        """Forecasts from origins every `stride` rows (0: the horizon) on the test split -> `backtest --json`."""
        return tasks.backtest(self._run(), stride=stride)

    def score(self, data: Any = None, y: None = None) -> float:
        """Minus the scaled MSE on the test split, or on all rows of other `data`: higher is better."""
        result = self.evaluate(data, split="test" if data is None else "all")
        return -float(result["scaled"]["mse"])

    def load(self) -> LoadedForecaster:
        """The fitted model as a modewise.nn module."""
        return load_forecaster(self._run())
