"""Conversion of frames of other libraries to pandas and of forecasts back, through the methods of the frames: those
libraries are not imported."""

import dataclasses
from typing import TYPE_CHECKING, Any

from modewise.errors import DataError

if TYPE_CHECKING:
    import pandas


class Kind:
    """Conversion of a pandas forecast to the type of the given frame."""

    def back(self, forecast: "pandas.DataFrame") -> Any:
        """A wide forecast has its times as the index."""
        return forecast


@dataclasses.dataclass
class PolarsKind(Kind):
    """`made_by`: polars.DataFrame; `types`: of the given columns."""

    made_by: Any
    types: dict[str, Any]

    def back(self, forecast: "pandas.DataFrame") -> Any:
        """The times as the first column, with the type and time zone of the given frame."""
        columns = {str(name): column for name, column in with_times(forecast).items()}
        out = self.made_by({name: clock_of(column) for name, column in columns.items()})
        for name, column in columns.items():
            wanted = self.types.get(name)
            if column.dtype.kind == "M" and getattr(wanted, "is_temporal", bool)():
                times = out.get_column(name)
                zoned = times.dt.replace_time_zone("UTC") if getattr(wanted, "time_zone", None) else times
                out = out.with_columns(zoned.cast(wanted))
            elif column.dtype.kind == "O" and wanted is not None and out.schema[name] != wanted:  # ids: categories
                out = out.with_columns(out.get_column(name).cast(wanted))
        return out


@dataclasses.dataclass
class ArrowKind(Kind):
    """`made_by`: the class of a frame with `to_pandas`, such as pyarrow.Table; without `from_pandas` the forecast stays pandas."""

    made_by: Any

    def back(self, forecast: "pandas.DataFrame") -> Any:
        """The times as the first column."""
        return self.made_by.from_pandas(with_times(forecast)) if hasattr(self.made_by, "from_pandas") else forecast


def with_times(forecast: "pandas.DataFrame") -> "pandas.DataFrame":
    """The index as a column, except the row numbers of a long forecast."""
    import pandas

    counts = isinstance(forecast.index, pandas.RangeIndex) and forecast.index.name is None
    return forecast if counts else forecast.reset_index()


def clock_of(column: "pandas.Series[Any]") -> Any:
    """Values as numpy has them; times with a zone in UTC, without it."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return column.dt.as_unit("us").to_numpy() if column.dtype.kind == "M" else column.to_numpy()


def polars_column(frame: Any, name: str) -> "pandas.Series[Any]":
    """DataError for a column of lists, structs and the like."""
    import pandas

    column = frame.get_column(name)
    values = column.to_numpy()
    if values.ndim != 1:
        raise DataError(f"frame: column '{name}' must hold numbers, got {column.dtype}: give each a column of its own")
    series = pandas.Series(values, name=name)
    zone = getattr(column.dtype, "time_zone", None)
    return series.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else series


def pandas_of(data: Any) -> "tuple[pandas.DataFrame, Kind]":
    """A frame of pandas, polars (lazy frames are collected), or any library whose frames have `to_pandas`. DataError for
    anything else."""
    import pandas

    if isinstance(data, pandas.DataFrame):
        return data, Kind()
    if isinstance(data, pandas.Series):
        return data.to_frame("y" if data.name is None else str(data.name)), Kind()
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        data = data.collect()
    if hasattr(data, "to_frame") and hasattr(data, "to_numpy") and not hasattr(data, "schema") and hasattr(data, "name"):
        data = data.to_frame(data.name or "y")  # a polars.Series
    if hasattr(data, "get_column") and hasattr(data, "schema"):
        columns = {name: polars_column(data, name) for name in data.columns}
        return pandas.DataFrame(columns), PolarsKind(type(data), dict(data.schema))
    frame = data.to_pandas() if hasattr(data, "to_pandas") else None
    if not isinstance(frame, pandas.DataFrame):
        raise DataError(f"data must be a frame of pandas or polars, an array, an xarray.DataArray or a path, got {type(data).__name__}")
    return frame, ArrowKind(type(data))
