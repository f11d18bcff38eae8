"""Conversion of frames to the program's series and of forecasts to frames; pandas is imported for frames only.

Wide frames have a row per time and a column per series, the times in a column of dates or as the index. Long frames have a
row per series and time: `unique_id`, `ds` and one or more columns of values (`y`, …).
"""

import dataclasses
import importlib
import math
import pathlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from modewise.errors import DataError
from modewise.frame_kinds import Kind, pandas_of

if TYPE_CHECKING:
    import pandas

ID, TIME, TARGET = "unique_id", "ds", "y"


@dataclasses.dataclass
class Table:
    """Series of a frame: a row for each time, ascending, a column for each series, NaN for missing values.

    `variables`: the value columns of a long frame; empty for a wide one. `values` has the times as its index and a column
    per series: its name, or (id, variable).
    """

    values: "pandas.DataFrame"
    time_name: str
    long: bool
    variables: list[str]
    zone: Any  # tz of the times, or None
    dated: bool
    kind: Kind = dataclasses.field(default_factory=Kind)  # of the given frame

    def targets(self, covariates: Sequence[str]) -> "Table":
        """The table without the columns `covariates`, and without the rows after the last other value."""
        kept = [column for column in self.values.columns if (column[1] if self.long else column) not in covariates]
        values, variables = self.values[kept], [name for name in self.variables if name not in covariates]
        rows = values.notna().any(axis=1).to_numpy().nonzero()[0]
        values = values.iloc[: int(rows[-1]) + 1] if len(rows) > 0 else values
        return dataclasses.replace(self, values=values, variables=variables)


def require_times(times: "pandas.Series[Any]", name: str) -> "pandas.Series[Any]":
    """Times as datetimes of one zone or integers, none missing. DataError otherwise."""
    import pandas

    if times.isna().any():
        raise DataError(f"frame: column '{name}' has no time in row {first(times.isna())}")
    if pandas.api.types.is_datetime64_any_dtype(times) or pandas.api.types.is_integer_dtype(times):
        return times
    if not pandas.api.types.is_object_dtype(times) and not pandas.api.types.is_string_dtype(times):
        raise DataError(f"frame: column '{name}' must hold times or row numbers, got {times.dtype}")
    zones = {str(getattr(value, "tzinfo", None)) for value in times if not isinstance(value, str)}
    if len(zones) > 1:
        raise DataError(f"frame: column '{name}' mixes time zones ({', '.join(sorted(zones))}): bring all to one, "
                        f"pandas.to_datetime(frame['{name}'], utc=True)")  # fmt: skip
    try:
        with warnings.catch_warnings(action="ignore"):  # about the format: the error covers it
            parsed = pandas.to_datetime(times)
    except (ValueError, TypeError) as error:
        raise DataError(f"frame: column '{name}' must hold times or row numbers: {str(error).splitlines()[0]}") from None
    if not pandas.api.types.is_datetime64_any_dtype(parsed):
        raise DataError(f"frame: column '{name}' mixes time zones: bring all to one, pandas.to_datetime(frame['{name}'], utc=True)")
    return parsed


def first(flags: Any) -> int:
    """Index of the first True."""
    return int(flags.to_numpy().argmax())


def require_numbers(frame: "pandas.DataFrame", columns: list[str]) -> "pandas.DataFrame":
    """The columns as float64; DataError for a column of other values, and without columns."""
    import pandas

    if not columns:
        raise DataError("frame: there is no column of numbers besides the times")
    for column in columns:
        dtype = frame[column].dtype
        if not pandas.api.types.is_numeric_dtype(dtype) or pandas.api.types.is_complex_dtype(dtype):
            raise DataError(f"frame: column '{column}' must hold numbers, got {dtype}: convert it (pandas.to_numeric) or drop it")
    return frame[columns].astype("float64")


def require_once(times: "pandas.Index[Any]", whose: str) -> None:
    """DataError for a duplicate time."""
    duplicates = times.duplicated()
    if duplicates.any():
        raise DataError(f"frame: {whose} has two rows at {times[duplicates][0]}")


def require_pandas() -> None:
    """ImportError with the remedy unless pandas is installed."""
    try:
        importlib.import_module("pandas")
    except ImportError:
        raise ImportError("frames need pandas, which is not installed: pip install pandas; files and arrays, and "
                          "modewise.tasks.predict(run), work without it") from None  # fmt: skip


def table_of(frame: Any) -> Table:
    """The table of a wide or long frame, rows in any order. DataError names the invalid column, row or series."""
    require_pandas()
    frame, kind = pandas_of(frame)
    if len(frame) == 0:
        raise DataError("frame: it has no rows")
    if not frame.columns.is_unique:
        raise DataError(f"frame: duplicate column '{frame.columns[frame.columns.duplicated()][0]}'")
    table = long_table(frame) if ID in frame.columns else wide_table(frame)
    table.kind = kind
    return table


def future_table(frame: Any, covariates: Sequence[str], *, long: bool) -> Table:
    """The columns `covariates` of a frame with their times, and the ids of a long one. DataError for a missing column."""
    require_pandas()
    import pandas

    frame, _ = pandas_of(frame)
    names = [str(column) for column in frame.columns]
    for name in [*([ID] if long else []), *covariates]:
        if name not in names:
            raise DataError(f"future: there is no column '{name}' (there are {', '.join(names)})")
    times = [column for column in frame.columns if pandas.api.types.is_datetime64_any_dtype(frame[column])]
    return table_of(frame[[column for column in frame.columns if column in times or str(column) in (ID, TIME, "date", *covariates)]])


def long_table(frame: "pandas.DataFrame") -> Table:
    if TIME not in frame.columns:
        raise DataError(f"frame: a long frame (with '{ID}') needs the column '{TIME}' of times, got {', '.join(map(str, frame.columns))}")
    if frame[ID].isna().any():
        raise DataError(f"frame: column '{ID}' has no id in row {first(frame[ID].isna())}")
    variables = [str(column) for column in frame.columns if column not in (ID, TIME)]
    values = require_numbers(frame.rename(columns=str), variables)
    values[TIME] = require_times(frame[TIME], TIME)
    values[ID] = frame[ID].astype(str)
    for name, part in values.groupby(ID, sort=False):
        require_once(part.set_index(TIME).index, f"series '{name}'")
    wide = values.set_index([TIME, ID]).unstack(ID)
    order = [(name, variable) for name in sorted(values[ID].unique(), key=file_name) for variable in variables]
    wide.columns = wide.columns.swaplevel()
    return finished(wide[order], TIME, long=True, variables=variables)


def wide_table(frame: "pandas.DataFrame") -> Table:
    import pandas

    named = frame.rename(columns=str)
    dates = [column for column in named.columns if pandas.api.types.is_datetime64_any_dtype(named[column])]
    index_dated = isinstance(named.index, pandas.DatetimeIndex)
    if len(dates) > 1:
        raise DataError(f"frame: {len(dates)} columns hold times ({', '.join(dates)}): keep one, or make it the index")
    time = TIME if TIME in named.columns else dates[0] if dates else "date" if "date" in named.columns else None
    if time is None or index_dated:
        times, time = pandas.Series(named.index, index=named.index), str(named.index.name or "date")
        if not index_dated and not isinstance(named.index, pandas.RangeIndex) and not pandas.api.types.is_integer_dtype(named.index):
            times = require_times(times, time)
    else:
        times = require_times(named[time], time)
        named = named.drop(columns=time)
    values = require_numbers(named, list(named.columns))
    values.index = pandas.Index(times, name=time)
    require_once(values.index, "it")
    return finished(values, time, long=False, variables=[])


def finished(values: "pandas.DataFrame", time: str, *, long: bool, variables: list[str]) -> Table:
    import pandas

    values = values.sort_index()
    index = values.index
    if isinstance(index, pandas.DatetimeIndex):
        return Table(values, time, long, variables, index.tz, True)
    steps = index[1:].to_numpy() - index[:-1].to_numpy()
    step = int(steps.min()) if len(steps) else 1
    if (steps % step).any():
        raise DataError(f"frame: rows of '{time}' must be equally spaced, got steps of {step} and {int(steps[steps % step != 0][0])}")
    rows = pandas.RangeIndex(int(index[0]), int(index[-1]) + step, step)
    if len(rows) > 2 * len(index):
        raise DataError(f"frame: only {len(index)} of the {len(rows)} rows of '{time}' from {rows[0]} to {rows[-1]} exist")
    return Table(values.reindex(rows), time, long, variables, None, False)


def wall_clock(index: "pandas.DatetimeIndex") -> bool:
    """Whether times with a zone are as regular in local time as in UTC: daily ones are, hourly ones are not across a
    change to daylight saving time."""

    def kinds(times: Any) -> int:
        return len(set((times[1:] - times[:-1]).tolist()))

    return kinds(index.tz_localize(None)) <= kinds(index.tz_convert("UTC"))


def written_times(index: Any) -> Any:
    """Times for the file: without a zone."""
    if index.tz is None:
        return index
    return index.tz_localize(None) if wall_clock(index) else index.tz_convert("UTC").tz_localize(None)


def write_table(table: Table, stem: pathlib.Path, *, by_id: bool = False) -> pathlib.Path:
    """Writes the file or folder for the program: stem.csv, or stem.data/ with a file per id for a long frame with several
    variables (for any long frame with `by_id`). Numbers read back to the same bits."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    values = table.values.copy()
    if table.dated:
        times = written_times(values.index)
        if (times != times.floor("s")).any():
            raise DataError(f"frame: times finer than a second are not supported, got {times[times != times.floor('s')][0]}")
        values.index = times.strftime("%Y-%m-%d %H:%M:%S")
        values.index.name = "date"
    if len(table.variables) > 1 or (by_id and table.long):
        folder = stem.with_name(stem.name + ".data")
        folder.mkdir(exist_ok=True)
        for name in values.columns.get_level_values(0).unique():
            values[name].to_csv(folder / f"{file_name(name)}.csv", index=table.dated)
        return folder
    if table.long:
        values.columns = values.columns.get_level_values(0)
    path = stem.with_name(stem.name + ".csv")
    values.to_csv(path, index=table.dated)
    return path


def file_name(name: str) -> str:
    """A file name for an id."""
    return "".join(c if c.isalnum() or c in "._-" else f"%{ord(c):x}" for c in name)


def forecast_times(result: dict[str, Any], table: Table | None) -> Any:
    """Times of a forecast, in the time zone or the row numbers of the frame that it continues."""
    import pandas

    if "rows" in result:
        rows = [int(row) for row in result["rows"]]
        index = table.values.index if table is not None else None
        if not isinstance(index, pandas.RangeIndex):
            return pandas.Index(rows)
        return pandas.Index([index.start + index.step * row for row in rows])
    times = pandas.to_datetime(pandas.Index(result["dates"]))
    if table is None or table.zone is None:
        return times
    if wall_clock(pandas.DatetimeIndex(table.values.index)):
        return times.tz_localize(table.zone, ambiguous=True, nonexistent="shift_forward")
    return times.tz_localize("UTC").tz_convert(table.zone)


def forecast_frame(result: dict[str, Any], table: Table | None) -> "pandas.DataFrame":
    """The program's `predict --json` as a frame like `table`: wide, or long with the columns `unique_id`, `ds`, the values
    (`y`) and their quantiles (`y_q0.025`, …). Without a table: wide."""
    require_pandas()
    import pandas

    times, forecasts = forecast_times(result, table), result["series"]
    if table is None or not table.long:
        name = table.time_name if table is not None else "date" if "dates" in result else "row"
        columns: dict[str, Any] = {}
        for series in forecasts:
            columns |= series_columns(series["name"], series)
        return pandas.DataFrame(columns, index=pandas.Index(times, name=name))
    parts: dict[str, dict[str, Any]] = {}
    for (unique_id, variable), series in zip(table.values.columns, forecasts, strict=True):
        part = parts.setdefault(unique_id, {ID: unique_id, TIME: times})
        part |= series_columns(variable, series)
    return pandas.concat([pandas.DataFrame(part) for part in parts.values()], ignore_index=True)


def series_columns(name: str, series: dict[str, Any]) -> dict[str, list[float]]:
    """Columns of a forecast and its quantiles: "OT", "OT_q0.025", …; NaN for a series that is not forecast."""
    quantiles = {f"{name}_q{level}": values for level, values in series["quantiles"].items()}
    return {column: [math.nan if x is None else x for x in values] for column, values in {name: series["forecast"], **quantiles}.items()}
