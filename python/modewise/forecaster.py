"""A forecaster in scikit-learn's manner over the program's training: frames, arrays or files in, frames out."""

import math
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from modewise import tasks
from modewise.errors import DataError, UsageError
from modewise.estimator import Array, Estimator, checked_array
from modewise.frames import Table, forecast_frame, forecast_times, future_table, table_of, write_table
from modewise.labelled_arrays import Grid, grid_of, is_labelled
from modewise.loading import LoadedForecaster, load_forecaster
from modewise.plots import Past, figure_class, forecast_figure
from modewise.run_folder import RunFolder

if TYPE_CHECKING:
    import matplotlib.figure

Checked = str | Array | Table | Grid


def checked_data(data: Any) -> Checked:
    """A path, an array, a DataArray or a frame as what `written_data` takes; DataError where it cannot be used."""
    if isinstance(data, (str, os.PathLike)):
        return os.path.abspath(data)
    if is_labelled(data):
        return grid_of(data)
    if isinstance(data, np.ndarray) or hasattr(data, "detach"):
        return checked_array(data, "[T, N_1 … N_j] with at least one row and one series")
    return table_of(data)


def written_data(data: Checked, stem: pathlib.Path) -> str:
    """The path of what the program reads: stem.npy, stem.csv, stem.data/, or the path that was given."""
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
    """The program's `predict --json` as what the data were given as; a pandas frame where there were none."""
    if isinstance(data, Grid):
        return data.forecast(result)
    forecast = forecast_frame(result, data)
    return forecast if data is None else data.kind.back(forecast)


def require_all_series(run: str, table: Table) -> None:
    """DataError where the program took columns of a frame for something else than series."""
    modes = RunFolder(run).read_json("data.json")["modes"]
    found, wanted = math.prod(len(mode["labels"]) for mode in modes), len(table.values.columns)
    if found != wanted:
        raise DataError(f"frame: of its {wanted} series the run has {found}: rename columns that are named like row numbers or "
                        "parts of dates (index, no, year, month, …)")  # fmt: skip


class Forecaster(Estimator):
    """Trains and asks one run of the program's task forecast, in this process.

    model: any of `modewise train forecast --model` (hot, patchtst, dlinear, ridge, theta, ets, repeat …; docs/models.md).
    horizon, lookback: rows; 0: from the data (docs/forecasting.md). loss: mse, mae, huber or quantile. epochs: None:
    from the data. known: columns whose values are known for the rows to come too (a plan, prices, holidays): inputs of the
    models tide and hot, not forecast. seed: of weights, order and dropout. settings: any other option of the program by its name,
    {"model.width": 128}. run: the run folder to make; None: runs/MODEL, numbered. exist_ok: it may hold a run, which
    is then replaced. verbosity: −1 quiet, 0 notes and progress on stderr, 1, 2 more.

    After `fit`: `run_` is the folder (its whole path), which the program and `modewise.load` open too, and `metrics_` its metrics.json.
    A frame or array that was fitted lies in the folder, as data/RUN.csv, data/RUN.npy or data/RUN.data/.
    """

    def __init__(
        self,
        model: str = "hot",
        *,
        horizon: int = 0,
        lookback: int = 0,
        loss: str = "mae",
        epochs: int | None = None,
        known: Sequence[str] = (),
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        run: str | os.PathLike[str] | None = None,
        exist_ok: bool = False,
        verbosity: int = 0,
    ) -> None:
        self.model = model
        self.horizon = horizon
        self.lookback = lookback
        self.loss = loss
        self.epochs = epochs
        self.known = known
        self.seed = seed
        self.settings = settings
        self.run = run
        self.exist_ok = exist_ok
        self.verbosity = verbosity

    def fit(self, data: Any, y: None = None) -> "Forecaster":
        """Trains on `data`: a frame (wide: a row a time and a column a series; long: unique_id, ds, y, …), an array
        [T, N_1 … N_j], or a path of what the program reads. Rows behind the last with other values hold what is `known` of
        the future. DataError, ConfigError, … say what is wrong; Ctrl-C saves
        and raises Stopped, and `resume` goes on."""
        if y is not None:
            raise UsageError("Forecaster.fit takes one frame that holds the past of all series: y must be None")
        checked = checked_data(data)
        if isinstance(checked, Grid) and self.known:
            raise UsageError("known names columns, which a DataArray does not have: give a frame, or a path")
        self.given_ = checked if isinstance(checked, (Table, Grid)) else None
        with self._new_run() as run:
            path = checked if isinstance(checked, str) else written_data(checked, run.stem())
            self._train("forecast", self._all_settings(path), run)
        if isinstance(self.given_, Table):
            self.given_ = self.given_.targets(self.known)
            require_all_series(self.run_, self.given_)
        return self

    def _all_settings(self, path: str) -> dict[str, Any]:
        settings: dict[str, Any] = {"model.name": self.model, "forecast.horizon": self.horizon, "forecast.lookback": self.lookback,
                                    "forecast.loss": self.loss, "train.epochs": self.epochs, "train.seed": self.seed,
                                    "data.path": path}  # fmt: skip
        if self.known:
            settings["data.known"] = list(self.known)
        if isinstance(self.given_, Table):
            settings["data.header"] = "yes"
        if isinstance(self.given_, Grid):
            settings |= self.given_.settings()
        return settings | dict(self.settings or {})

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> "Forecaster":
        """A fitted forecaster of a folder that any `train forecast` made."""
        loaded = load_forecaster(run)
        forecast, train = loaded.config["forecast"], loaded.config["train"]
        made = cls(loaded.config["model"]["name"], horizon=forecast["horizon"], lookback=forecast["lookback"],
                   loss=forecast["loss"], epochs=train["epochs"], known=loaded.config["data"]["known"], seed=train["seed"],
                   run=run)  # fmt: skip
        made.run_, made.given_ = os.path.abspath(run), None
        return made

    def predict(self, steps: int = 0, data: Any = None, future: Any = None) -> Any:
        """The rows after the last of the data that was fitted, or of other `data` with its columns: `steps` of them,
        at most the horizon, 0: all -> a frame like the fitted one, with a column for each calibrated quantile
        ("OT", "OT_q0.025", …), in the data's units. `future`: a frame or path with the columns `known` for all rows of the
        horizon, where the data have no rows of them behind the last with other values."""
        with tempfile.TemporaryDirectory() as name:
            run, folder, path, ahead = self._run(), pathlib.Path(name), "", ""
            given = self.given_
            if data is not None:
                checked = checked_data(data)
                path = written_data(checked, folder / "data")
                given = checked.targets(self.known) if isinstance(checked, Table) else checked if isinstance(checked, Grid) else None
            if future is not None:
                ahead = self._written_future(future, folder / "future", given)
            return forecast_of(tasks.predict(run, data=path, future=ahead, steps=steps), given)

    def _written_future(self, future: Any, stem: pathlib.Path, given: Table | Grid | None) -> str:
        if isinstance(future, (str, os.PathLike)):
            return os.path.abspath(future)
        if not self.known:
            raise UsageError("future holds what is known ahead, but this forecaster was made without known")
        table = future_table(future, self.known, long=isinstance(given, Table) and given.long)
        return str(write_table(table, stem, by_id=True).absolute())

    def plot(self, steps: int = 0, *, series: Sequence[str] | None = None, past: int = 0) -> "matplotlib.figure.Figure":
        """The forecast as a figure of matplotlib: a picture for each of `series` (their names in the program; None: the first
        four), a band between each pair of quantiles, and before it the last `past` rows of the frame or array that was
        fitted (0: three times as many as follow). `figure.savefig(path)` keeps it."""
        figure_class()
        result = tasks.predict(self._run(), steps=steps)
        given, rows = self.given_, past or 3 * len(result["series"][0]["forecast"])
        if isinstance(given, Grid):
            times, index, values = given.times_behind(len(result["series"][0]["forecast"])), given.times, given.values.reshape(len(given.values), -1)
            return forecast_figure(result, times, Past(index[-rows:], values[-rows:]), series)
        before = None if given is None else Past(given.values.index[-rows:], given.values.to_numpy()[-rows:])
        return forecast_figure(result, forecast_times(result, given), before, series)

    def evaluate(self, data: Any = None, *, split: str = "test", detail: bool = False) -> dict[str, Any]:
        """Errors over "test", "validation" or "train" rows, or over "all" of other `data` -> the program's
        `evaluate --json`: {"scaled": {"mse", "mae", …}, "units": …, "quantiles": …}."""
        if data is None:
            return tasks.evaluate(self._run(), split=split, detail=detail)
        with tempfile.TemporaryDirectory() as folder:
            path = written_data(checked_data(data), pathlib.Path(folder) / "data")
            return tasks.evaluate(self._run(), data=path, split=split, detail=detail)

    def backtest(self, stride: int = 0) -> dict[str, Any]:
        """Forecasts from origins every `stride` rows (0: the horizon) over the test rows -> `backtest --json`."""
        return tasks.backtest(self._run(), stride=stride)

    def score(self, data: Any = None, y: None = None) -> float:
        """Minus the scaled MSE over the test rows, or over all of other `data`: higher is better."""
        result = self.evaluate(data, split="test" if data is None else "all")
        return -float(result["scaled"]["mse"])

    def load(self) -> LoadedForecaster:
        """The fitted model built of modewise.nn."""
        return load_forecaster(self._run())
