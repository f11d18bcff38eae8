"""Panels: long frames of independent series, each with its own start, end and scale, which are not laid side by side."""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from modewise.errors import DataError, UsageError
from modewise.forecast_frames import in_order, series_columns, with_levels
from modewise.frame_kinds import Kind, pandas_of
from modewise.frame_times import TimeStyle, file_clock, first, program_times, shown_times, time_column, written_times, zone_of
from modewise.frames import Columns, given_times, ids_of, on_clock_of, require_columns, require_distinct_outputs, require_numbers, require_pandas, wanted_columns, without_levels
from modewise.plots import Past

if TYPE_CHECKING:
    from collections.abc import Hashable

    import pandas

MAX_TENSOR_SERIES, SHARED_TIMES = 500, 0.9  # as the program's data.panel = auto
ID, TIME = "unique_id", "ds"  # columns of the written file


@dataclasses.dataclass
class PanelTable:
    """Rows of a long frame: ids as texts, times, and columns of values; a row for each series and time, in the frame's order."""

    keys: "pandas.Series[Any]"  # the id of each row as text
    times: "pandas.Series[Any] | None"  # datetimes or whole numbers; None: the rows of each series are in time order
    values: "pandas.DataFrame"  # columns to forecast, covariates, and static covariates
    style: TimeStyle
    ids: "pandas.DataFrame"  # a row for each text of `keys`, the columns of the id as given
    freq: Any
    indexed: "list[Hashable] | None"
    kind: Kind
    clock: Any = None  # of `file_clock`

    @property
    def dated(self) -> bool:
        """Whether the times are dates."""
        return self.times is not None and self.times.dtype.kind == "M"

    def row_text(self, row: int) -> str:
        """A row in messages: its series and time."""
        return f"'{self.keys.iloc[row]}'" + ("" if self.times is None else f" at {self.times.iloc[row]}")

    def settings(self) -> dict[str, Any]:
        """Config keys of the written file."""
        settings: dict[str, Any] = {"data.panel": "yes", "data.header": "yes", "data.id": [ID]}
        if self.times is not None:
            settings["data.time"] = [TIME]
            settings |= {} if self.dated else {"data.time_format": "number"}
        if self.freq is None or not self.dated:
            return settings
        import pandas

        business = isinstance(pandas.tseries.frequencies.to_offset(self.freq), pandas.offsets.BusinessDay)
        return settings | {"data.calendar_days": "business" if business else "all"}

    def write(self, stem: pathlib.Path) -> pathlib.Path:
        """Writes stem.csv; numbers read back to the same bits."""
        import pandas

        stem.parent.mkdir(parents=True, exist_ok=True)
        columns = {ID: self.keys.to_numpy()}
        if self.times is not None and not self.dated:
            columns[TIME] = self.times.to_numpy()
        elif self.times is not None:
            distinct = pandas.DatetimeIndex(self.times.unique())
            texts = pandas.Series(written_times(distinct, self.clock).strftime("%Y-%m-%d %H:%M:%S"), index=distinct)
            columns[TIME] = texts.reindex(pandas.DatetimeIndex(self.times)).to_numpy()
        path = stem.with_name(stem.name + ".csv")
        pandas.DataFrame(columns | {name: self.values[name].to_numpy() for name in self.values.columns}).to_csv(path, index=False)
        return path

    def forecast(self, result: dict[str, Any]) -> Any:
        """The program's `predict --json` as a long frame with the ids and times as the given frame has them."""
        long = panel_forecast(result)
        place_of = {key: place for place, key in enumerate(in_order(self.ids).index)}
        long = long.sort_values(ID, key=lambda ids: ids.map(place_of), kind="stable", ignore_index=True)
        ids, times = long.pop(ID), self.styled(long.pop(TIME))
        known = self.ids.reindex(ids)
        for place, name in enumerate(self.ids.columns):
            given = known[name].array if known[name].notna().all() else ids.to_numpy()
            long.insert(place, name, given)
        name = "row" if self.times is None else TIME if self.style.name is None else self.style.name
        long.insert(len(self.ids.columns), name, times)
        return self.kind.back(long if self.indexed is None else with_levels(long, self))

    def styled(self, times: Any) -> Any:
        """Times of a forecast, in the time zone and the style of the frame; row numbers without dates."""
        if self.times is None or not self.dated:
            return times.to_numpy()
        import pandas

        return self.style.back(shown_times(pandas.DatetimeIndex(times), self.clock, zone_of(self.times)))

    def past(self, key: str, variable: str, rows: int) -> Past | None:
        """The last rows of a variable of the series with this id in the file; None for an unknown id."""
        chosen = (self.keys == key).to_numpy()
        mine = self.values[chosen].reset_index(drop=True)
        if self.times is not None:
            mine = mine.set_axis(self.times[chosen].to_numpy(), axis=0).sort_index()
        return Past(mine.index[-rows:], mine[variable].to_numpy()[-rows:]) if len(mine) > 0 else None

    def followed_by(self, other: "PanelTable") -> "tuple[PanelTable, int]":
        """The table with the rows of `other` after its own, and their number, which all series share. DataError for other ids,
        and for rows before the last of a series."""
        import pandas

        if self.times is None or other.times is None:
            raise UsageError("fit: the validation rows of a panel need times")
        later = other.times if self.clock is None else other.times.dt.tz_convert(zone_of(self.times))
        other = dataclasses.replace(other, times=later)
        first, second = (pandas.DataFrame({"key": keys.to_numpy(), "time": times.to_numpy()}) for keys, times in
                         ((self.keys, self.times), (other.keys, later)))  # fmt: skip
        ends, begins = first.groupby("key").time.max(), second.groupby("key").time.min()
        for key in sorted(set(ends.index) ^ set(begins.index)):
            raise DataError(f"validation: its series must be those of the data; '{key}' is in one of them only")
        for key in begins.index[begins <= ends[begins.index]]:
            raise DataError(f"validation: its rows must come after those of the data, but series '{key}' ends at {ends[key]}, got {begins[key]}")
        counts = second.groupby("key").size()
        if counts.nunique() > 1:
            raise DataError(f"validation: all series of a panel need as many rows; '{counts.idxmin()}' has {counts.min()}, '{counts.idxmax()}' {counts.max()}")
        parts = {name: pandas.concat([getattr(self, name), getattr(other, name)], ignore_index=True) for name in ("keys", "times", "values")}
        return dataclasses.replace(self, **parts), int(counts.iloc[0])

    def future(self, data: Any, covariates: Sequence[str], columns: Columns) -> "PanelTable":
        """The columns `covariates` of a frame of the rows to forecast. DataError for a missing column."""
        ids = tuple(map(str, self.ids.columns))
        table = panel_table(data, dataclasses.replace(columns, ids=columns.ids or ids, targets=tuple(covariates), panel="yes"))
        if table is None:
            raise DataError(f"future: there is no column '{ids[0]}' of ids")
        return on_clock_of(self, table, "future")  # type: ignore[no-any-return]


def series_times(series: dict[str, Any]) -> Any:
    """Times of a series of the program's `predict --json`: datetimes, or row numbers."""
    import pandas

    return program_times(series["dates"], series["seconds"]) if "dates" in series else pandas.Index([int(row) for row in series["rows"]])


def panel_forecast(result: dict[str, Any]) -> "pandas.DataFrame":
    """The program's `predict --json` of a panel as a long frame: unique_id, ds, each variable with its quantiles."""
    require_pandas()
    import pandas

    parts: dict[str, dict[str, Any]] = {}
    for series in result["series"]:
        part = parts.setdefault(series["name"], {ID: [series["name"]] * len(series["forecast"]), TIME: series_times(series)})
        part.update(series_columns(series["variable"], series))
    columns: dict[str, list[Any]] = {}
    for part in parts.values():
        for name, values in part.items():
            columns.setdefault(name, []).extend(values)
    return pandas.DataFrame(columns)


def is_panel(frame: "pandas.DataFrame", ids: list[str], time: "Hashable") -> bool:
    """Whether the series of a long frame are too many or too uneven for one tensor."""
    rows = frame.groupby(ids, observed=True, sort=False).size()
    return len(rows) > MAX_TENSOR_SERIES or bool(rows.min() < SHARED_TIMES * frame[time].nunique())


def require_steps(times: "pandas.Series[Any]", keys: "pandas.Series[Any]", freq: Any, name: str) -> None:
    """UsageError unless the row numbers of each series are whole steps `freq` apart, and most of them one; None: any."""
    if freq is None:
        return
    if not isinstance(freq, (int, np.integer)) or freq < 1:
        raise UsageError(f"freq: times are row numbers, so it must be a whole number of at least 1, got {freq!r}")
    steps = times.groupby(keys.to_numpy()).apply(lambda own: own.sort_values().diff().dropna())
    usual = steps.mode()
    if len(steps) > 0 and int(usual.iloc[0]) != freq:
        raise UsageError(f"freq: most row numbers of '{name}' within a series are {int(usual.iloc[0])} apart, got {freq!r}: leave it out")


def panel_table(data: Any, columns: Columns, covariates: Sequence[str] = (), statics: Sequence[str] = ()) -> PanelTable | None:
    """The rows of a long frame that is a panel: data.panel is yes, or auto and there are more than 500 ids, static covariates, or a
    series with fewer than 90 % of the times. None for other frames, which are one tensor."""
    if columns.panel == "no":
        return None
    require_pandas()
    import pandas

    frame, kind = pandas_of(data)
    require_columns(frame)
    frame, indexed, columns = without_levels(frame, columns)
    names = ids_of(frame, columns)
    if names is None or names == ("none",) or not set(names) <= set(frame.columns):
        return None
    ids, chosen = list(names), columns.panel == "yes" or bool(statics)
    time = time_column(frame, columns.time, set(ids))
    if not chosen and (time is None or not is_panel(frame, ids, time)):
        return None
    for name in ids:
        if frame[name].isna().any():
            raise DataError(f"frame: column '{name}' has no id in row {first(frame[name].isna())}")
    keys = frame[ids].astype(str).agg(" / ".join, axis=1) if len(ids) > 1 else frame[ids[0]].astype(str)
    found = frame[ids].set_axis(keys.to_numpy(), axis=0)[~keys.duplicated().to_numpy()]
    if len(frame[ids].drop_duplicates()) > len(found):
        raise DataError(f"frame: different ids of '{', '.join(ids)}' are written alike: make them of one type")
    times, style = None, TimeStyle(None)
    if time is None and not pandas.api.types.is_integer_dtype(frame.index):
        raise DataError("frame: the times of a panel must be in a column, not in the index: reset_index() makes it one")
    if time is not None:
        times, style = given_times(frame, time, columns, ids)
        if not pandas.api.types.is_datetime64_any_dtype(times):
            require_steps(times, keys, columns.freq, str(time))
        if times.isna().any():
            raise DataError(f"frame: column '{time}' has no time in row {first(times.isna())}")
        twice = pandas.DataFrame({"key": keys.to_numpy(), "time": times.to_numpy()}).duplicated()
        if twice.any():
            raise DataError(f"frame: series '{keys.iloc[first(twice)]}' has two rows at {times.iloc[first(twice)]}")
    named = frame.rename(columns=str)
    for name in statics:
        if name not in named.columns:
            raise DataError(f"frame: there is no column '{name}' of static covariates (there are {', '.join(named.columns)})")
    variables = wanted_columns(named, [*map(str, ids), *([] if time is None else [str(time)]), *statics], columns, covariates)
    require_distinct_outputs(variables)
    values = pandas.concat([require_numbers(named, variables), named[list(statics)]], axis=1)
    return PanelTable(keys, times, values, style, found, columns.freq, indexed, kind, file_clock(times, keys) if times is not None and times.dtype.kind == "M" else None)
