"""Forecaster with the interface of scikit-learn: frames, arrays or files in, frames out."""

import contextlib
import dataclasses
import numbers
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from modewise import tasks
from modewise._aliases import constructor
from modewise.errors import ModewiseError, UsageError
from modewise.estimator import Estimator, checked_settings, own_split, whole
from modewise.forecast_data import Checked, checked_data, forecast_of, like_fitted, of_the_data, panel_split, require_all_series, require_values, training_rows, with_validation, written_data, written_future
from modewise.forecast_lines import panel_lines, tensor_lines
from modewise.forecast_results import backtest_frame, leaderboard_frame, seconds_of
from modewise.forecast_frames import chosen_quantiles
from modewise.frames import COLUMN_KEYS, RECOGNISED, Columns, Table, names, one_name, some_names
from modewise.labelled_arrays import Grid
from modewise.loading import LoadedForecaster, load_forecaster
from modewise.new_run import NewRun
from modewise.panel_frames import PanelTable
from modewise.plots import figure_class, forecast_figure
from modewise.run_folder import RunFolder

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas

    from modewise.forecast_data import Forecast

ALL_ROWS = {"data.split_ratios": [0.875, 0.125, 0], "data.test_windows": 0}  # training and validation


class Forecaster(Estimator):
    """Trains and uses one run of the task forecasting, in this process.

    Parameters
    ----------
    model : str
        Any of `modewise train forecast --model` (hot, patchtst, dlinear, ridge, theta, ets, repeat …; docs/models.md), or "auto":
        the models are tried within `budget`, and the best on the validation rows is kept (docs/auto.md).
    horizon, lookback : int
        Rows; 0: from the data (docs/forecasting.md).
    loss : str
        mse, mae, huber or quantile. "auto" chooses one for each candidate unless it is quantile, huber or mse.
    epochs : int, optional
        None: from the data.
    future_covariates : sequence of str
        Columns with known values for the rows to forecast (a plan, prices, holidays): inputs of the models tide and hot, not
        forecast.
    budget : str or float, optional
        Time of a search with "auto": "90s", "10m", "1.5h" or seconds; None: five minutes.
    seed : int
        Seed of weights, batch order and dropout; `random_state` is the same.
    threads : int
        Threads of computations, −1: one for each core, 0: as torch has it; `n_jobs` is the same. Results do not depend on it.
    device : str
        Device of the model: "auto" (CUDA if torch has it, else the CPU), "cpu", "cuda" or "cuda:1".
    settings : mapping, optional
        Any other config key, {"model.width": 128}.
    run : path, optional
        The new run folder; None: a temporary one, which is removed with this object (`save` keeps it).
    overwrite : bool
        Whether a run in that folder is replaced.
    verbosity : int
        −1 quiet, 0 warnings, notes and progress on stderr, also of `predict` and `evaluate`, 1, 2 more; `verbose` is one more.

    Attributes
    ----------
    run_ : str
        The run folder, for the program and `modewise.load`. It contains a fitted frame or array as data/RUN.csv, data/RUN.npy
        or data/RUN.data/.
    metrics_ : dict
        Its metrics.json; of "auto" the result of `modewise.tasks.search`.

    Examples
    --------
    >>> forecaster = Forecaster("dlinear", horizon=24).fit(frame)  # doctest: +SKIP
    >>> forecaster.predict(level=[80])  # doctest: +SKIP
    """

    TASK = "forecasting"
    _columns: Columns = RECOGNISED
    given_: Table | PanelTable | Grid | None

    @constructor({"exist_ok": "overwrite", "known": "future_covariates"})
    def __init__(
        self,
        model: str = "hot",
        *,
        horizon: int = 0,
        lookback: int = 0,
        loss: str = "mae",
        epochs: int | None = None,
        future_covariates: Sequence[str] = (),
        budget: str | float | None = None,
        seed: int = 0,
        threads: int = 0,
        device: str = "auto",
        settings: Mapping[str, object] | None = None,
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
        self.budget = budget
        self.seed = seed
        self.threads = threads
        self.device = device
        self.settings = settings
        self.run = run
        self.overwrite = overwrite
        self.verbosity = verbosity

    def fit(
        self,
        data: object,
        y: None = None,
        *,
        validation: object = None,
        time_col: str | None = None,
        id_col: str | Sequence[str] | None = None,
        target_cols: str | Sequence[str] | None = None,
        freq: str | int | None = None,
    ) -> Self:
        """Trains on `data`. No rows are held back for a test: the last eighth, or `validation`, selects the weights and calibrates
        the intervals. `settings` with a split of its own (data.split, data.split_ratios) decide otherwise.

        Parameters
        ----------
        data
            A frame (wide: a row per time and a column per series; long: unique_id or item_id, ds or timestamp, y, …, as columns
            or as the index), a series, an array [T, N_1 … N_j], a DataArray, or a path that the program reads. Rows after the
            last value of a series hold future covariates.
        y
            None.
        validation
            The rows that follow `data`, of the same kind.
        time_col, id_col
            Columns of times and of series ids; None: recognised. Several columns can form the id.
        target_cols
            Columns to forecast; None: all columns of numbers.
        freq
            Frequency of the times, as in pandas ("h", "B", "MS"), or the step of row numbers; None: from the times. Absent rows
            are missing.

        Returns
        -------
        Forecaster
            This object.

        Raises
        ------
        DataError, ConfigError, UsageError
            For invalid data and settings.
        Stopped
            For Ctrl-C, which saves a checkpoint; `resume` continues.
        """
        if y is not None:
            raise UsageError("Forecaster.fit takes one frame with the history of all series: y must be None")
        if self.budget is not None and self.model != "auto":
            raise UsageError(f"budget is the time of Forecaster('auto'), but the model is '{self.model}'")
        named = Columns(one_name("time_col", time_col), some_names("id_col", id_col), some_names("target_cols", target_cols), freq)
        columns, known = self._columns_of(data, named), self._covariates()
        first, checked, rows = (checked_data(data, columns, known), None, 0) if validation is None else with_validation(data, validation, columns, known)
        checked = first if checked is None else checked
        if isinstance(checked, Grid) and known:
            raise UsageError("future_covariates are column names, which a DataArray does not have: give a frame, or a path")
        require_values(checked)
        given = None if isinstance(checked, (str, np.ndarray)) else checked
        with self._new_run() as run:
            path = checked if isinstance(checked, str) else written_data(checked, run.stem())
            with self._errors_of(checked, path):
                settings = self._all_settings(path, given)
                if rows > 0:
                    settings |= panel_split(rows, self.horizon)
                elif validation is not None:
                    with tempfile.TemporaryDirectory() as folder:
                        settings |= training_rows(first, checked, path, pathlib.Path(folder) / "data", settings)
                given = given.targets(known) if isinstance(given, Table) else given
                self._train_or_search(path, settings, run, given_=given, _columns=named)
        if isinstance(given, Table):
            require_all_series(self.run_, given)
        return self

    def _columns_of(self, data: Any, named: Columns) -> Columns:
        """The columns of `data`; for frames also as `settings` name them."""
        return named if isinstance(data, (str, os.PathLike)) else named.with_settings(checked_settings(self.settings))

    def _covariates(self) -> tuple[str, ...]:
        return names(self.future_covariates) or ()

    @contextlib.contextmanager
    def _errors_of(self, data: Checked | None, path: str) -> Iterator[None]:
        """Errors about the file of a frame or an array become errors about these."""
        try:
            yield
        except ModewiseError as error:
            if data is None or isinstance(data, str):
                raise
            raise of_the_data(error, data, path) from None

    def _all_settings(self, path: str, given: Table | PanelTable | Grid | None) -> dict[str, Any]:
        settings: dict[str, Any] = {"model.name": self.model, "forecast.horizon": self.horizon, "forecast.lookback": self.lookback,
                                    "forecast.loss": self.loss, "train.epochs": self.epochs, "train.seed": self.seed,
                                    "data.path": path, "data.panel": "no"}  # fmt: skip
        if self.model == "auto":
            settings = {key: value for key, value in settings.items() if key not in ("model.name", "train.seed") and value not in (0, "mae")}
        if self._covariates():
            settings["data.future_covariates"] = list(self._covariates())
        if isinstance(given, Table):
            settings["data.header"] = "yes"
            if given.dated and given.freq is not None:
                settings["data.calendar_days"] = "business" if given.on_business_days() else "all"
        if isinstance(given, (Grid, PanelTable)):
            settings |= given.settings()
        left_out = COLUMN_KEYS if isinstance(given, (Table, PanelTable)) else ()
        own = {key: value for key, value in (self.settings or {}).items() if key not in left_out}
        return settings | own_split(self.settings, ALL_ROWS) | own

    def _train_or_search(self, path: str, settings: dict[str, Any], run: NewRun, **fitted: Any) -> None:
        if self.model != "auto":
            return self._train(settings, run, **fitted)
        settings.pop("data.path")
        with self._fitted_in(run, fitted):
            self.metrics_ = tasks.search(self.TASK, path, settings, out=run.folder, budget=seconds_of(300 if self.budget is None else self.budget), seed=self.seed,
                                         threads=max(0, whole("threads", self.threads)), no_test=settings.get("train.test") is False,
                                         overwrite=bool(self.overwrite) or run.inputs is not None, verbosity=self._verbosity())  # fmt: skip

    @classmethod
    def from_run(cls, run: str | os.PathLike[str]) -> Self:
        """A fitted forecaster of a run of `train forecast`, or of the folder of `save`.

        Raises
        ------
        NoInputError, UsageError
            For a folder that is not a run, and for a run of another task.
        """
        made = cls._of_run(run, {"model": "model.name", "horizon": "forecast.horizon", "lookback": "forecast.lookback", "loss": "forecast.loss",
                                 "epochs": "train.epochs", "future_covariates": "data.future_covariates", "seed": "train.seed"})  # fmt: skip
        made.given_ = None
        return made

    def predict(
        self,
        steps: object = 0,
        data: object = None,
        future: object = None,
        *,
        h: int | None = None,
        level: float | Sequence[float] | None = None,
        quantiles: float | Sequence[float] | None = None,
    ) -> "Forecast":
        """Forecast of the rows after the fitted data, or after other data.

        Parameters
        ----------
        steps, h
            Number of rows, at most the horizon; 0: all. `predict(data)` is `predict(data=data)`, as scikit-learn calls it.
        data
            Other data with the same columns.
        future
            A frame or path with the future covariates of all rows of the horizon, where the data do not contain them.
        level
            Central intervals in per cent, [80, 95]; their ends are the columns "OT_q0.1", "OT_q0.9", ….
        quantiles
            Quantiles, [0.1, 0.5, 0.9]. Without either: all that the run has calibrated.

        Returns
        -------
        frame or DataArray
            The type of the fitted data, in the data's units, with a column for each quantile.

        Raises
        ------
        UsageError
            For quantiles that the run has not calibrated, and for more steps than the horizon.
        DataError
            For other data that do not fit the run.
        """
        if steps is not None and not isinstance(steps, numbers.Number):  # as a pipeline calls it: predict(X)
            steps, data = 0, steps
        if h is not None and steps not in (None, 0, h):
            raise UsageError(f"predict: steps and h are the same, got {steps} and {h}")
        rows = whole("steps", steps) if h is None else whole("h", h)
        with tempfile.TemporaryDirectory() as name, self._using_run({os.path.join(name, "future.csv"): "future", os.path.join(name, "future.data"): "future"}) as run:
            folder, covariates = pathlib.Path(name), ""
            given, path, checked = self.given_, self._moved_data(), None
            if data is not None:
                known, checked = self._covariates(), self._other_data(data)
                path = written_data(checked, folder / "data")
                given = checked.targets(known) if isinstance(checked, Table) else None if isinstance(checked, (str, np.ndarray)) else checked
            if future is not None:
                covariates = written_future(future, folder / "future", given, self._covariates(), self._columns_of(future, self._columns))
            with self._errors_of(checked if checked is not None else given, path or self._fitted_path()):
                result = tasks.predict(run, data=path, future=covariates, steps=rows, verbosity=self._verbosity())
            return forecast_of(chosen_quantiles(result, level, quantiles), given)

    def _other_data(self, data: Any) -> Checked:
        """Other data for the run, validated, as the fitted data are written."""
        columns = RECOGNISED if isinstance(data, (str, os.PathLike)) else self._columns_of(data, self._columns)
        columns = dataclasses.replace(columns, panel="yes" if RunFolder(self._run()).config()["data"]["panel"] == "yes" else "no")
        return like_fitted(checked_data(data, columns, self._covariates()), self.given_)

    def _fitted_path(self) -> str:
        """Prefix of the fitted data's path in messages."""
        return str(pathlib.Path(self._run()) / "data" / pathlib.Path(self._run()).name) + ".csv"

    def plot(self, steps: int = 0, *, series: Sequence[str] | None = None, past: int = 0) -> "matplotlib.figure.Figure":
        """The forecast as a matplotlib figure; `figure.savefig(path)` saves it.

        Parameters
        ----------
        steps
            Number of forecast rows; 0: the horizon.
        series
            Names of series in the program, an axes for each; None: the first four.
        past
            Number of rows of the fitted frame or array before the forecast; 0: three times the forecast rows.
        """
        figure_class()
        with self._using_run() as run:
            result = tasks.predict(run, data=self._moved_data(), steps=steps, verbosity=self._verbosity())
        lines = panel_lines if "variable" in result["series"][0] else tensor_lines
        return forecast_figure(lines(result, self.given_, series, past), shared_times=lines is tensor_lines)

    def evaluate(self, data: object = None, *, split: str | None = None, detail: bool = False) -> tasks.Result:
        """Errors on a split of the fitted data, or on other data.

        Parameters
        ----------
        data
            Other data with the same columns.
        split : "test", "validation", "train" or "all"
            None: the test split if the fit held one back, else the validation split; of other data all rows, of a panel the last
            horizon of each series.
        detail
            Whether the errors of each series and step are included.

        Returns
        -------
        dict
            The program's `evaluate --json`: {"scaled": {"mse", "mae", …}, "units": …, "quantiles": …}.
        """
        if data is None:
            with self._using_run() as run:
                return tasks.evaluate(run, data=self._moved_data(), split=split or self._evaluated_split(), detail=detail,
                                      verbosity=self._verbosity())  # fmt: skip
        with tempfile.TemporaryDirectory() as folder, self._using_run() as run:
            path = written_data(checked := self._other_data(data), pathlib.Path(folder) / "data")
            with self._errors_of(checked, path):
                return tasks.evaluate(run, data=path, split=split or "all", detail=detail, verbosity=self._verbosity())

    def backtest(self, stride: int = 0) -> "pandas.DataFrame":
        """Forecasts from origins every `stride` rows (0: the horizon) on the test split, or on the validation split if there is none.

        Returns
        -------
        pandas.DataFrame
            A row for each origin: time of its first forecast row, scaled errors, MAE of repeating the last value, coverage and
            width of intervals. `attrs["result"]` is the program's `backtest --json`, with the errors over all origins.
        """
        with self._using_run() as run:
            result = tasks.backtest(run, data=self._moved_data(), stride=stride, split=self._evaluated_split(),
                                    verbosity=self._verbosity())  # fmt: skip
        return backtest_frame(result, self.given_)

    def leaderboard(self) -> "pandas.DataFrame":
        """The trainings of `Forecaster("auto")`, best first.

        Returns
        -------
        pandas.DataFrame
            Columns: model, stage, the validation error, steps, seconds, and failure (why a candidate failed).

        Raises
        ------
        UsageError
            For a run that is not the result of a search.
        """
        return leaderboard_frame(pathlib.Path(self._run()))

    def score(self, data: object = None, y: None = None) -> float:
        """Minus the scaled MSE of `evaluate`, on other `data` if they are given: higher is better."""
        return -float(self.evaluate(data)["scaled"]["mse"])

    def module(self) -> LoadedForecaster:
        """The fitted model as a modewise.nn module."""
        return load_forecaster(self._run())
