"""Tables as files for the program, and its forecasts as frames."""

import math
import pathlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from modewise.errors import ModewiseError, UsageError, with_text
from modewise.frame_times import program_times, shown_times, written_times
from modewise.frames import Table, file_name, require_pandas

if TYPE_CHECKING:
    import pandas


def write_table(table: Table, stem: pathlib.Path, *, by_id: bool = False) -> pathlib.Path:
    """Writes the file or folder for the program: stem.csv, or stem.data/ with a file per id for a long frame with several
    variables (for any long frame with `by_id`). Numbers read back to the same bits."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    values = table.values.copy()
    if table.dated:
        values.index = written_times(values.index, table.clock).strftime("%Y-%m-%d %H:%M:%S")
        values.index.name = "date"
    if table.folder or (by_id and table.long):
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


def of_the_frame(error: ModewiseError, table: Any, path: pathlib.Path) -> ModewiseError:
    """The program's error about the file or folder of a Table or PanelTable, as one about the frame: a line becomes the time of its
    row, the file of an id its series."""

    def place(match: re.Match[str]) -> str:
        name, line = match["file"], match["line"]
        series = next((one for one in table.values.columns.get_level_values(0) if name == f"/{file_name(one)}.csv"), "") if name else ""
        where = f"the frame's series '{series}'" if series else "the frame"
        row = int(line) - 2 if line else -1
        return where + (f", row of {table.row_text(row)}" if 0 <= row < len(table.values) else "")

    text = re.sub(re.escape(str(path)) + r"(?P<file>/[^/:]+\.csv)?(?::(?P<line>\d+))?", place, str(error))
    if text == str(error):
        return error
    text = re.sub(r"the frame('s series '[^']*')?(, row of [^:]*(?::\d\d)*): (column '[^']*')",
                  lambda found: f"the frame{found[1] + ',' if found[1] else chr(39) + 's'} {found[3]}{found[2]}", text)  # fmt: skip
    text = re.sub(r" \(lines \d+ and \d+\)", "", text).replace("but the file has only", "but the frame has only")
    return with_text(error, text)


def forecast_times(result: dict[str, Any], table: Table | None) -> Any:
    """Times of a forecast as datetimes, in the time zone or the row numbers of the frame that it continues."""
    import pandas

    if "rows" in result:
        rows = [int(row) for row in result["rows"]]
        index = table.values.index if table is not None else None
        if not isinstance(index, pandas.RangeIndex):
            return pandas.Index(rows)
        return pandas.Index([index.start + index.step * row for row in rows])
    times = program_times(result["dates"], result["seconds"])
    if table is None:
        return times
    times = shown_times(times, table.clock, table.zone)
    return times if table.freq is None else pandas.date_range(times[0], periods=len(times), freq=table.freq)


def forecast_frame(result: dict[str, Any], table: Table | None) -> "pandas.DataFrame":
    """The program's `predict --json` as a frame like `table`: wide, or long with the columns of ids, times, values and their
    quantiles (`y_q0.025`, …), ids ascending. Without a table: wide."""
    require_pandas()
    import pandas

    times, forecasts = forecast_times(result, table), result["series"]
    if table is not None and "dates" in result:
        times = table.style.back(times)
    if table is None or not table.long:
        name = table.style.name if table is not None else "date" if "dates" in result else "row"
        shown = {} if table is None else table.columns_of([series["name"] for series in forecasts])
        columns: dict[str, Any] = {}
        for series in forecasts:
            columns |= series_columns(str(shown.get(series["name"], series["name"])), series)
        return pandas.DataFrame(columns, index=pandas.Index(times, name=name))
    parts: dict[str, dict[str, Any]] = {}
    by_name = {series["name"]: series for series in forecasts}
    for name, (key, variable) in table.columns_of([*by_name]).items():
        parts[key] = parts.get(key, {}) | series_columns(variable, by_name[name])
    assert table.ids is not None
    ids = in_order(table.ids)
    long = pandas.concat([pandas.DataFrame(parts[key]) for key in ids.index], ignore_index=True)
    for place, name in enumerate(ids.columns):
        long.insert(place, name, ids[name].repeat(len(times)).array)
    long.insert(len(ids.columns), "ds" if table.style.name is None else table.style.name, times.repeat(1).append([times] * (len(ids) - 1)) if len(ids) > 1 else times)
    return long if table.indexed is None else with_levels(long, table)


def in_order(ids: "pandas.DataFrame") -> "pandas.DataFrame":
    """Ids in ascending order; in that of their texts if they cannot be compared."""
    try:
        return ids.sort_values(list(ids.columns))
    except TypeError:
        return ids.sort_index()


def with_levels(long: "pandas.DataFrame", table: Any) -> "pandas.DataFrame":
    """Ids and times as the levels of the index, under their names and in their places in the given frame."""
    levels = [name if name is not None else f"level {number}" for number, name in enumerate(table.indexed or [])]
    out = long.set_index(levels)
    out.index.names = table.indexed
    return out


def chosen_quantiles(result: dict[str, Any], level: Any, quantiles: Any) -> dict[str, Any]:
    """A forecast with the quantiles of central intervals (`level=[80, 95]`, in per cent) or the given `quantiles` alone; all of
    them if both are None. UsageError for one that the run has not calibrated."""
    if level is None and quantiles is None:
        return result
    if level is not None and quantiles is not None:
        raise UsageError("predict: give level or quantiles, not both")
    given = level if quantiles is None else quantiles
    try:
        numbers = [float(one) for one in one_or_more(given)]
    except (TypeError, ValueError):
        raise UsageError(f"predict: level and quantiles must be numbers, got {given!r}") from None
    wanted = numbers if level is None else [side for one in numbers for side in sides(one)]
    series = [dict(one) for one in result["series"]]
    for one in series:
        kept = {}
        for q in sorted(set(wanted)):
            name = next((name for name in one["quantiles"] if math.isclose(float(name), q, abs_tol=1e-9)), None)
            if name is None:
                there = ", ".join(one["quantiles"]) or "none"
                raise UsageError(f"predict: the run has no quantile {q:g} (there are {there}): fit with settings={{'calibration.intervals': …}}, or with "
                                 "loss='quantile' and settings={'forecast.quantiles': …}")  # fmt: skip
            kept[name] = one["quantiles"][name]
        one["quantiles"] = kept
    return result | {"series": series}


def one_or_more(value: Any) -> Sequence[Any]:
    return value if hasattr(value, "__len__") or hasattr(value, "__iter__") else [value]


def sides(level: float) -> tuple[float, float]:
    """The quantiles of a central interval of `level` per cent. UsageError for a level outside 0 to 100."""
    if not 0 < level < 100:
        raise UsageError(f"predict: a level is a number of per cent between 0 and 100, got {level:g}")
    return round(0.5 - level / 200, 10), round(0.5 + level / 200, 10)


def series_columns(name: str, series: dict[str, Any]) -> dict[str, list[float]]:
    """Columns of a forecast and its quantiles: "OT", "OT_q0.025", …; NaN for a series that is not forecast."""
    quantiles = {f"{name}_q{level}": values for level, values in series["quantiles"].items()}
    return {column: [math.nan if x is None else x for x in values] for column, values in {name: series["forecast"], **quantiles}.items()}
