"""Conversion of frames to the program's series; pandas is imported for frames only.

Wide frames have a row per time and a column per series, the times in a column or as the index. Long frames have a row per
series and time: one or more columns of ids, one of times, and one or more columns of values; or ids and times as the index.
"""

import dataclasses
import hashlib
import importlib
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from modewise.errors import DataError, UsageError
from modewise.frame_kinds import Kind, pandas_of
from modewise.frame_times import TimeStyle, file_clock, first, holds_dates, local_times, regular_times, time_column, times_of, zone_of

if TYPE_CHECKING:
    import pandas

IDS = ("unique_id", "item_id", "series_id", "ts_id")


@dataclasses.dataclass(frozen=True)
class Columns:
    """Arguments that name the columns of a frame; None: recognised. `targets`: the columns to forecast; `freq`: a frequency of
    pandas, or a step of row numbers; `time_format`: of texts."""

    time: str | None = None
    ids: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    freq: Any = None
    time_format: str = ""
    time_zone: str = ""
    panel: str = "auto"
    statics: tuple[str, ...] = ()

    def with_settings(self, settings: Mapping[str, object] | None) -> "Columns":
        """The same, with the config keys that describe the columns of a table."""
        given = settings or {}
        ids, time = names(given.get("data.id")), names(given.get("data.time"))
        return dataclasses.replace(self, ids=self.ids or ids, time=self.time or (time[0] if time else None),
                                   time_format=self.time_format or str(given.get("data.time_format", "")),
                                   time_zone=self.time_zone or str(given.get("data.time_zone", "")),
                                   panel=str(given.get("data.panel", usual_panel(given))), statics=names(given.get("data.static_covariates")) or ())  # fmt: skip

    def named(self) -> str:
        """The first argument that is given, "" for none."""
        given = {"time_col": self.time, "id_col": self.ids, "target_cols": self.targets, "freq": self.freq}
        return next((name for name, value in given.items() if value is not None), "")


RECOGNISED = Columns()
COLUMN_KEYS = ("data.id", "data.time", "data.time_column", "data.time_format", "data.time_zone")  # of settings, for frames


def usual_panel(settings: Mapping[str, object]) -> str:
    """data.panel: no if other settings are of one tensor."""
    return "no" if settings.get("data.resample") or settings.get("data.dates") == "rows" else "auto"


def names(value: Any) -> tuple[str, ...] | None:
    """A name, or names in a sequence, array, series or index, as a tuple; None for none."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return None
    several = not isinstance(value, (str, bytes)) and isinstance(value, Iterable)
    return tuple(str(name) for name in value) or None if several else (str(value),)


def some_names(argument: str, value: Any) -> tuple[str, ...] | None:
    """`names` of an argument of `fit`. UsageError for a sequence without any."""
    found = names(value)
    if found is None and value is not None and not isinstance(value, str):
        raise UsageError(f"{argument} has no column: name one, or leave it out")
    return found


def one_name(argument: str, value: Any) -> Any:
    """The name of a column, which may be a number. UsageError for several."""
    if value is not None and not isinstance(value, str) and isinstance(value, Iterable):
        raise UsageError(f"{argument} must be the name of one column, got {value!r:.80}")
    return value


def require_columns(frame: "pandas.DataFrame") -> None:
    """DataError for columns without a text of their own, by which the program knows them."""
    if frame.columns.nlevels > 1:
        raise DataError("frame: its columns have several levels: give each one name, such as frame.set_axis(frame.columns.map('_'.join), axis=1)")
    if not frame.columns.is_unique:
        raise DataError(f"frame: duplicate column '{frame.columns[frame.columns.duplicated()][0]}'")
    texts = frame.columns.map(str)
    if not texts.is_unique:
        twice = texts[texts.duplicated()][0]
        both = [repr(name) for name in frame.columns[texts == twice]]
        raise DataError(f"frame: the columns {' and '.join(both)} are written alike: rename one of them")


@dataclasses.dataclass
class Table:
    """Series of a frame: a row for each time, ascending, a column for each series, NaN for missing values.

    `variables`: the value columns of a long frame; empty for a wide one. `values` has the times as its index and a column
    per series: its name, or (id as text, variable). `clock`: of `file_clock`. `folder`: whether it is written as a file per id.
    """

    values: "pandas.DataFrame"
    style: TimeStyle
    long: bool
    variables: list[str]
    clock: Any
    dated: bool
    folder: bool
    freq: Any = None
    ids: "pandas.DataFrame | None" = None  # of a long frame: a row for each text of `values`, the columns of the id as given
    indexed: "list[Hashable] | None" = None  # names of the index levels, if ids and times are the index
    kind: Kind = dataclasses.field(default_factory=Kind)  # of the given frame

    @property
    def time_name(self) -> str:
        """Name of the times in messages and in frames without an index."""
        return "date" if self.style.name is None else str(self.style.name)

    @property
    def zone(self) -> Any:
        """The time zone of the times, or None."""
        return zone_of(self.values.index)

    def row_text(self, row: int) -> str:
        """A row in messages: its time."""
        return str(self.values.index[row])

    def columns_of(self, names: Sequence[str]) -> dict[str, Any]:
        """The columns of `values` by the program's `names` of their series. DataError unless there is one for each."""
        columns = list(self.values.columns)
        if self.folder:
            files = files_of({name.partition(" / ")[0] for name in names}, [key for key, _ in columns])
            found: dict[str, Any] = {f"{label} / {variable.strip()}": (key, variable) for label, key in files.items() for variable in self.variables}
        else:
            texts = [str(column[0] if self.long else column).strip() for column in columns]
            found = {text or f"column {place + 1 + self.dated}": column for place, (text, column) in enumerate(zip(texts, columns, strict=True))}
        if set(found) != set(names):
            raise DataError(f"frame: its series must be those of the run; {', '.join(sorted(set(found) ^ set(names))[:5])} are in one of them only")
        return found

    def on_business_days(self) -> bool:
        """Whether `freq` leaves out weekends."""
        import pandas

        return isinstance(pandas.tseries.frequencies.to_offset(self.freq), pandas.offsets.BusinessDay)

    def targets(self, covariates: Sequence[str]) -> "Table":
        """The table without the columns `covariates`, and without the rows after the last other value."""
        kept = [column for column in self.values.columns if (column[1] if self.long else column) not in covariates]
        values, variables = self.values[kept], [name for name in self.variables if name not in covariates]
        rows = values.notna().any(axis=1).to_numpy().nonzero()[0]
        values = values.iloc[: int(rows[-1]) + 1] if len(rows) > 0 else values
        return dataclasses.replace(self, values=values, variables=variables)


def require_numbers(frame: "pandas.DataFrame", columns: list[str]) -> "pandas.DataFrame":
    """The columns as float64; DataError for a column of other values, an infinite value, and without columns."""
    import numpy as np
    import pandas

    if not columns:
        raise DataError("frame: there is no column of numbers besides the times")
    for column in columns:
        dtype = frame[column].dtype
        if not pandas.api.types.is_numeric_dtype(dtype) or pandas.api.types.is_complex_dtype(dtype):
            raise DataError(f"frame: column '{column}' must hold numbers, got {dtype}: convert it (pandas.to_numeric), drop it, or name it in id_col")
    values = frame[columns].astype("float64")
    for column in columns:
        infinite = np.isinf(values[column])
        if infinite.any():
            raise DataError(f"frame: column '{column}', row {first(infinite)}: the value is infinite; NaN is a missing value")
    return values


def require_once(times: "pandas.Index[Any]", whose: str) -> None:
    """DataError for a duplicate time."""
    duplicates = times.duplicated()
    if duplicates.any():
        raise DataError(f"frame: {whose} has two rows at {times[duplicates][0]}")


def require_distinct_outputs(variables: Sequence[str]) -> None:
    """DataError for a column whose name the quantiles of another have in a forecast: a and a_q0.5."""
    for name in variables:
        match = re.fullmatch(r"(.+)_q(0?\.\d+|[01])", name)
        if match and match[1] in variables:
            raise DataError(f"frame: column '{name}' has the name of a quantile of column '{match[1]}' in the forecast: rename one of them")


def require_pandas() -> None:
    """ImportError with the remedy unless pandas is installed."""
    try:
        importlib.import_module("pandas")
    except ImportError:
        raise ImportError("frames need pandas, which is not installed: pip install pandas; files and arrays, and "
                          "modewise.tasks.predict(run), work without it") from None  # fmt: skip


def table_of(frame: Any, columns: Columns = RECOGNISED, covariates: Sequence[str] = ()) -> Table:
    """The table of a wide or long frame, rows in any order. `covariates`: columns kept besides the targets. DataError names the
    invalid column, row or series."""
    require_pandas()
    frame, kind = pandas_of(frame)
    if len(frame) == 0:
        raise DataError("frame: it has no rows")
    require_columns(frame)
    frame, indexed, columns = without_levels(frame, columns)
    ids = ids_of(frame, columns)
    table = wide_table(frame, columns, covariates) if ids is None or ids == ("none",) else long_table(frame, list(ids), columns, covariates)
    table.kind, table.indexed = kind, indexed
    return table


def ids_of(frame: "pandas.DataFrame", columns: Columns) -> tuple[str, ...] | None:
    """Columns of ids: the given ones, a known name, or the only column of texts that tells rows of one time apart; else None."""
    import pandas

    if known := columns.ids or next(((name,) for name in IDS if name in frame.columns), None):
        return known
    time = time_column(frame, columns.time, set())
    if time is None or not frame[time].duplicated().any():
        return None
    found = [name for name in frame.columns
             if name != time and (isinstance(frame[name].dtype, pandas.CategoricalDtype) or pandas.api.types.is_string_dtype(frame[name]))
             and not frame.duplicated([time, name]).any()]  # fmt: skip
    return (str(found[0]),) if len(found) == 1 and isinstance(found[0], str) else None


def without_levels(frame: "pandas.DataFrame", columns: Columns) -> "tuple[pandas.DataFrame, list[Hashable] | None, Columns]":
    """A frame whose index has ids and times as levels, with these as columns; the names of the levels; and their columns."""
    import pandas

    index = frame.index
    if not isinstance(index, pandas.MultiIndex):
        return frame, None, columns
    given = list(index.names)
    levels = [name if name is not None else f"level {number}" for number, name in enumerate(given)]
    out = frame.set_axis(index.set_names(levels), axis=0).reset_index()
    dated = [name for name in levels if holds_dates(out[name])]
    time = columns.time if columns.time in levels else dated[-1] if dated else levels[-1]
    return out, given, dataclasses.replace(columns, time=str(time), ids=columns.ids or tuple(str(name) for name in levels if name != time))


def future_table(frame: Any, covariates: Sequence[str], given: Table | None, columns: Columns) -> Table:
    """The columns `covariates` of a frame with their times, and the ids of a long one. DataError for a missing column."""
    require_pandas()
    frame, _ = pandas_of(frame)
    require_columns(frame)
    frame, _, columns = without_levels(frame, columns)
    long = given is not None and given.long
    ids = list(given.ids.columns) if given is not None and given.ids is not None else []
    shown = [str(column) for column in frame.columns]
    for name in [*map(str, ids), *covariates]:
        if name not in shown:
            raise DataError(f"future: there is no column '{name}' (there are {', '.join(shown)})")
    found = dataclasses.replace(columns, ids=tuple(map(str, ids)) if long else None, targets=tuple(covariates))
    table = table_of(frame, found)
    return table if given is None else on_clock_of(given, table, "future")


def long_table(frame: "pandas.DataFrame", ids: list[str], columns: Columns, covariates: Sequence[str]) -> Table:
    import pandas

    shown = ", ".join(map(str, frame.columns))
    for name in ids:
        if name not in frame.columns:
            raise DataError(f"frame: there is no column '{name}' of ids (there are {shown})")
        if frame[name].isna().any():
            raise DataError(f"frame: column '{name}' has no id in row {first(frame[name].isna())}")
    time = time_column(frame, columns.time, set(ids))
    if time is None and type(frame.index).__name__ not in ("DatetimeIndex", "PeriodIndex") and columns.time is None:
        raise DataError(f"frame: a long frame (with '{ids[0]}') needs the column 'ds' of times, got {shown}")
    times, style = given_times(frame, time, columns, ids)
    named = frame.rename(columns=str)
    variables = wanted_columns(named, [*ids, "" if time is None else str(time)], columns, covariates)
    require_distinct_outputs(variables)
    values = require_numbers(named, variables)
    keys = frame[ids].astype(str).agg(" / ".join, axis=1) if len(ids) > 1 else frame[ids[0]].astype(str)
    found = frame[ids].set_axis(keys.to_numpy(), axis=0)[~keys.duplicated().to_numpy()]
    if len(frame[ids].drop_duplicates()) > len(found):
        raise DataError(f"frame: different ids of '{', '.join(ids)}' are written alike: make them of one type")
    index = pandas.MultiIndex.from_arrays([pandas.Index(times), keys.to_numpy()])
    if index.has_duplicates:
        at, name = index[index.duplicated()][0]
        raise DataError(f"frame: series '{name}' has two rows at {at}")
    wide = values.set_axis(index, axis=0).unstack(1)
    order = [(name, variable) for name in sorted(found.index, key=file_name) for variable in variables]
    wide.columns = wide.columns.swaplevel()
    return finished(wide[order], style, columns.freq, long=True, variables=variables, ids=found)


def given_times(
    frame: "pandas.DataFrame", time: Hashable | None, columns: Columns, ids: Sequence[Hashable] = ()
) -> "tuple[pandas.Series[Any], TimeStyle]":
    """The times of a column, or of the index, of a frame with these columns of ids."""
    import pandas

    if time is not None:
        times, style = times_of(frame[time], time, columns.time_format)
    else:
        index = frame.index
        bare = isinstance(index, pandas.RangeIndex) or pandas.api.types.is_integer_dtype(index)
        series = pandas.Series(index, index=index)
        times, style = (series, TimeStyle(index.name)) if bare else times_of(series, index.name, columns.time_format)
    if columns.time_zone and times.dtype.kind == "M" and zone_of(times) is None:
        return local_times(times, columns.time_zone, frame[list(ids)]), dataclasses.replace(style, zoneless=True)
    return times, style


def wanted_columns(frame: "pandas.DataFrame", taken: list[str], columns: Columns, covariates: Sequence[str]) -> list[str]:
    """The columns of values: the targets and the covariates, or all that are not `taken`. DataError for a missing one."""
    every = [str(column) for column in frame.columns if str(column) not in taken]
    if columns.targets is None:
        return every
    for name in columns.targets:
        if name not in every:
            raise DataError(f"frame: there is no column '{name}' to forecast (there are {', '.join(every)})")
    return [name for name in every if name in columns.targets or name in covariates]


def wide_table(frame: "pandas.DataFrame", columns: Columns, covariates: Sequence[str]) -> Table:
    import pandas

    time = time_column(frame, columns.time, set())
    times, style = given_times(frame, time, columns)
    named = frame.rename(columns=str)
    variables = wanted_columns(named, ["" if time is None else str(time)], columns, covariates)
    require_distinct_outputs(variables)
    values = require_numbers(named, variables)
    values.index = pandas.Index(times, name=style.name)
    require_once(values.index, "it")
    return finished(values, style, columns.freq, long=False, variables=[])


def finished(values: "pandas.DataFrame", style: TimeStyle, freq: Any, *, long: bool, variables: list[str], ids: "pandas.DataFrame | None" = None) -> Table:
    import pandas

    values = values.sort_index()
    index, name = values.index, "date" if style.name is None else style.name
    if freq is not None:
        values = values.reindex(regular_times(index, freq, str(name)))
        index = values.index
    if isinstance(index, pandas.DatetimeIndex):
        return Table(values, style, long, variables, file_clock(index), True, len(variables) > 1, freq, ids)
    steps = index[1:].to_numpy() - index[:-1].to_numpy()
    step = int(steps.min()) if len(steps) else 1
    if (steps % step).any():
        raise DataError(f"frame: rows of '{name}' must be equally spaced, got steps of {step} and {int(steps[steps % step != 0][0])}")
    rows = pandas.RangeIndex(int(index[0]), int(index[-1]) + step, step)
    if len(rows) > 2 * len(index):
        raise DataError(f"frame: only {len(index)} of the {len(rows)} rows of '{name}' from {rows[0]} to {rows[-1]} exist")
    return Table(values.reindex(rows), style, long, variables, None, False, len(variables) > 1, freq, ids)


def file_name(name: str) -> str:
    """A file name for an id, neither empty nor that of a hidden file; of a long id its beginning and a checksum."""
    text = "".join(c if c.isalnum() or c in "._-" else f"%{ord(c):x}" for c in name)
    if len(text.encode()) > 200:
        text = f"{text.encode()[:150].decode(errors='ignore')}%{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return f"%2e{text[1:]}" if text.startswith(".") else text or "%"


def files_of(labels: set[str], keys: Sequence[str]) -> dict[str, str]:
    """The id of each of the program's labels, which are the file names without what all begin and end with; {} if they are others."""
    stems = {file_name(key): key for key in keys}
    cut = sum(map(len, stems)) - sum(map(len, labels))
    each = cut // len(stems)
    for begin in range(each + 1):
        found = {stem[begin : len(stem) - each + begin]: key for stem, key in stems.items()}
        if set(found) == labels:
            return found
    return {}


def on_clock_of(fitted: Any, other: Any, whose: str) -> Any:
    """The table `other`, written on the clock of the table `fitted`. DataError if one alone has times with a zone."""
    if not fitted.dated or not other.dated:
        return other
    kinds = ["without a time zone" if one.clock is None else "with a time zone" for one in (fitted, other)]
    if kinds[0] != kinds[1]:
        raise DataError(f"{whose}: its times are {kinds[1]}, those of the fitted data {kinds[0]}")
    return dataclasses.replace(other, clock=fitted.clock)
