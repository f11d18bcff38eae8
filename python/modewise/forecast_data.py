"""Data of forecasters: frames, arrays, DataArrays and paths, validated and written for the program."""

import dataclasses
import importlib
import math
import os
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from modewise import tasks
from modewise.errors import DataError, ModewiseError, UsageError, with_text
from modewise.estimator import Array, checked_array
from modewise.forecast_frames import forecast_frame, of_the_frame, write_table
from modewise.frames import RECOGNISED, Columns, Table, future_table, on_clock_of, table_of
from modewise.labelled_arrays import Grid, grid_of, is_labelled
from modewise.panel_frames import PanelTable, panel_forecast, panel_table
from modewise.run_folder import RunFolder

if TYPE_CHECKING:
    import pandas
    import polars
    import xarray

    Forecast: TypeAlias = pandas.DataFrame | polars.DataFrame | xarray.DataArray  # of the type of the data
Checked = str | Array | Table | PanelTable | Grid


def checked_data(data: Any, columns: Columns = RECOGNISED, covariates: Sequence[str] = ()) -> Checked:
    """A path, an array, a DataArray or a frame, validated, for `written_data`; otherwise DataError."""
    framed = not (isinstance(data, (str, os.PathLike, np.ndarray)) or is_labelled(data) or hasattr(data, "detach"))
    if framed:
        return panel_table(data, columns, covariates, columns.statics) or table_of(data, columns, covariates)
    if columns.named():
        raise UsageError(f"{columns.named()} describes the columns of a frame; data are {type(data).__name__}: for a path give settings data.id, data.time, …")
    if isinstance(data, (str, os.PathLike)):
        return os.path.abspath(data)
    if is_labelled(data):
        return grid_of(data)
    return checked_array(data, "[T, N_1 … N_j] with at least one row and one series")


def like_fitted(data: Checked, fitted: Table | PanelTable | Grid | None) -> Checked:
    """Other data for a run as the fitted data were written: times on the same clock, labels of a DataArray in the same order. DataError
    for other labels, and for times of another kind."""
    if isinstance(data, Grid) and isinstance(fitted, Grid):
        return data.like(fitted)
    if isinstance(data, (Table, PanelTable)) and isinstance(fitted, (Table, PanelTable)):
        return on_clock_of(fitted, data, "frame")  # type: ignore[no-any-return]
    return data


def written_data(data: Checked, stem: pathlib.Path) -> str:
    """Writes the data for the program -> their path: stem.npy, stem.csv, stem.data/, or the given path."""
    if isinstance(data, str):
        return data
    if isinstance(data, Table):
        return str(write_table(data, stem).absolute())
    if isinstance(data, (Grid, PanelTable)):
        return str(data.write(stem).absolute())
    path = stem.with_name(stem.name + ".npy")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, data, allow_pickle=False)
    return str(path.absolute())


def of_the_data(error: ModewiseError, data: Table | PanelTable | Grid | Array, path: str) -> ModewiseError:
    """The program's error about the file of `written_data` as one about the frame or the array."""
    if isinstance(data, (Table, PanelTable)):
        return of_the_frame(error, data, pathlib.Path(path))
    return with_text(error, str(error).replace(path, "the array"))


def written_future(future: Any, stem: pathlib.Path, given: Table | PanelTable | Grid | None, covariates: Sequence[str], columns: Columns) -> str:
    """Writes the future covariates for the program, as the data `given` -> their path. UsageError for a frame without `covariates`."""
    if isinstance(future, (str, os.PathLike)):
        return os.path.abspath(future)
    if not covariates:
        raise UsageError("future holds future covariates, but this forecaster has none: name them in future_covariates")
    if isinstance(given, PanelTable):
        return str(given.future(future, covariates, columns).write(stem).absolute())
    return str(write_table(future_table(future, covariates, given if isinstance(given, Table) else None, columns), stem, by_id=True).absolute())


def with_validation(data: Any, validation: Any, columns: Columns, covariates: Sequence[str]) -> tuple[Checked, Checked, int]:
    """The checked data for training, these with the rows for validation after them, and the number of the latter for each series of
    a panel (0: not a panel). DataError for data of other kinds or columns, and for rows for validation before the last for training."""
    first = checked_data(data, columns, covariates)
    second = checked_data(validation, dataclasses.replace(columns, panel="yes" if isinstance(first, PanelTable) else "no"), covariates)
    if isinstance(first, (Table, PanelTable)) and isinstance(second, (Table, PanelTable)):
        if first.dated != second.dated:
            raise DataError(f"validation: its times are {'dates' if second.dated else 'row numbers'}, those of the data {'dates' if first.dated else 'row numbers'}")
        second = on_clock_of(first, second, "validation")
    if isinstance(first, PanelTable) and isinstance(second, PanelTable):
        both, rows = first.followed_by(second)
        return first, both, rows
    if type(first) is not type(second) or isinstance(first, str):
        raise UsageError("fit: data and validation must both be frames or both be arrays")
    if isinstance(first, Table) and isinstance(second, Table):
        if set(first.values.columns) != set(second.values.columns):
            differing = sorted(map(str, set(first.values.columns) ^ set(second.values.columns)))
            raise DataError(f"validation: its series must be those of the data; {', '.join(differing[:5])} are in one of them only")
        if first.clock is not None:
            second.values = second.values.tz_convert(first.zone)
        last, begin = first.values.index[-1], second.values.index[0]
        if not begin > last:
            raise DataError(f"validation: its rows must come after those of the data, which end at {last}, got {begin}")
        return first, joined_tables(first, second), 0
    if isinstance(first, Grid):
        assert isinstance(second, Grid)
        both = importlib.import_module("xarray").concat([data, second.like(first).given], dim=first.time)
        return first, grid_of(both), 0
    assert isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    if first.shape[1:] != second.shape[1:]:
        raise DataError(f"validation: it must be [T, {', '.join(map(str, first.shape[1:]))}] like the data, got {list(second.shape)}")
    return first, np.concatenate([first, second]), 0


def panel_split(rows: int, horizon: int) -> dict[str, Any]:
    """The split of a panel whose last `rows` rows of each series are for validation. UsageError unless they are whole horizons."""
    if rows % (horizon or rows) != 0:
        raise UsageError(f"validation: it has {rows} rows for each series, which must be whole horizons of {horizon} rows")
    return {"forecast.horizon": horizon or rows, "data.split_windows": rows // (horizon or rows), "data.test_windows": 0, "train.test": False}


def joined_tables(first: Table, second: Table) -> Table:
    """A table with the rows of both."""
    import pandas

    values = pandas.concat([first.values, second.values[first.values.columns]])
    if not first.dated:
        values = values.reindex(pandas.RangeIndex(values.index[0], values.index[-1] + 1, first.values.index.step))
    return dataclasses.replace(first, values=values)


def training_rows(first: Checked, both: Checked, path: str, stem: pathlib.Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The split of the data at `path`, those of `both`, whose first rows `first` are for training and the others for validation."""
    if isinstance(first, Table) and first.dated:
        alone = written_data(first, stem)
        counts = [int(tasks.show("forecasting", settings | {"data.path": where})["rows"]) for where in (alone, path)]
    else:
        counts = [len(one) if isinstance(one, (str, np.ndarray)) else len(one.values) for one in (first, both)]
    ratio = (counts[0] + 0.5) / counts[1]
    return {"data.split": "ratio", "data.split_ratios": [ratio, 1 - ratio, 0], "train.test": False}


def forecast_of(result: dict[str, Any], data: Table | PanelTable | Grid | None) -> "Forecast":
    """The program's `predict --json` in the type of `data`; a pandas frame without data."""
    if isinstance(data, (Grid, PanelTable)):
        return data.forecast(result)
    if "variable" in result["series"][0]:
        return panel_forecast(result)
    forecast = forecast_frame(result, data)
    return forecast if data is None else data.kind.back(forecast)


def require_values(data: Checked) -> None:
    """DataError for a column of a frame without any value, which the program leaves out of a table."""
    if isinstance(data, Table) and len(data.variables) <= 1:
        for name in data.values.columns[data.values.isna().all()]:
            raise DataError(f"frame: series '{name[0]}' has no value: drop it" if data.long else f"frame: column '{name}' has no value: drop it")


def require_all_series(run: str, table: Table) -> None:
    """DataError where the program read some columns of a frame as something other than series."""
    modes = RunFolder(run).read_json("data.json")["modes"]
    found, wanted = math.prod(len(mode["labels"]) for mode in modes), len(table.values.columns)
    if found != wanted:
        raise DataError(f"frame: {wanted} series, but the run has {found}: rename columns that are named like row numbers or "
                        "parts of dates (index, no, year, month, …)")  # fmt: skip
