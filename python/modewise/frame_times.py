"""Times of frames: dates, periods, texts and row numbers, and forecasts' times in the style of the frame."""

import contextlib
import dataclasses
import datetime
import re
import warnings
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from modewise.errors import ConfigError, DataError, UsageError

if TYPE_CHECKING:
    import pandas

NAMES = ("ds", "timestamp", "datetime", "date_time", "date", "time", "period", "month", "week", "quarter", "year", "day")
COUNTED = ("ds", "timestamp", "datetime", "date_time", "date", "time", "period", "year")  # may hold row numbers
NUMBERED_DATE = re.compile(r"\s*(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)(.*)")
QUARTER = "2024Q1"  # a format that strftime does not have
FORMATS = ("%b-%y", "%b %y", "%y-%b", "%B-%y", "%B %y", "%d-%b-%y", "%d %b %y", "%Y%m")  # that pandas guesses wrongly, or not at all
FULL_YEAR = r"(?<!\d)\d{4}(?!\d)|\d{8}"
OFFSET = re.compile(r".*\d:\d\d\S* ?(?:Z|UTC|GMT|([+-]\d\d):?(\d\d)?)")  # texts of times with a UTC offset
EPOCH = 10**8  # larger numbers are seconds, milliseconds, … since 1970


@dataclasses.dataclass
class TimeStyle:
    """Form of a frame's times, in which its forecast has them."""

    name: Hashable  # of the column or index; None: an index without a name
    dtype: Any = None  # of a column of periods or dates
    text: str = ""  # format of texts, if all have one
    days: bool = False  # objects of datetime.date
    zoneless: bool = False  # local times of data.time_zone

    def back(self, times: Any) -> Any:
        """An index of datetimes in this style."""
        import pandas

        times = times.tz_localize(None) if self.zoneless else times
        if isinstance(self.dtype, pandas.PeriodDtype):
            return times.to_period(self.dtype.freq)
        if self.text == QUARTER:
            return pandas.Index(times.to_period("Q").astype(str))
        if self.text:
            return pandas.Index(times.strftime(self.text))
        if self.days:
            return pandas.Index(times.date)
        return times if self.dtype is None else times.as_unit(getattr(self.dtype, "unit", None) or np.datetime_data(self.dtype)[0])


def first(flags: Any) -> int:
    """Index of the first True."""
    return int(flags.to_numpy().argmax())


def holds_dates(column: "pandas.Series[Any]") -> bool:
    """Whether a column has a type of dates or periods, or holds date objects."""
    import pandas

    if pandas.api.types.is_datetime64_any_dtype(column) or isinstance(column.dtype, pandas.PeriodDtype):
        return True
    values = column.dropna() if column.dtype == object else []
    return len(values) > 0 and all(isinstance(value, (datetime.date, pandas.Period)) for value in values)


def holds_date_texts(column: "pandas.Series[Any]") -> bool:
    """Whether all cells of a column are texts of dates with a separator between their parts."""
    import pandas

    if not (column.dtype == object or pandas.api.types.is_string_dtype(column)):
        return False
    texts = column.dropna()
    if len(texts) == 0 or not all(isinstance(text, str) for text in texts) or texts.str.fullmatch(r"[\d.,+\s-]*?\d*").all() and not texts.str.contains(
        r"\d[./-]\d").all():  # fmt: skip
        return False
    try:
        parsed(texts.head(20), "")
        parsed(texts, "")
    except DataError as error:
        return "day first or month first" in str(error)
    return True


def time_column(frame: "pandas.DataFrame", wanted: str | None, others: set[str]) -> Hashable | None:
    """The column of times; None: the index. `others`: columns that are not. DataError without `wanted`, or for several columns."""
    import pandas

    if wanted is not None:
        if wanted in frame.columns:
            return wanted
        if wanted == frame.index.name:
            return None
        raise DataError(f"frame: there is no column '{wanted}' of times (there are {', '.join(map(str, frame.columns))})")
    if isinstance(frame.index, (pandas.DatetimeIndex, pandas.PeriodIndex)):
        return None
    columns = [name for name in frame.columns if str(name) not in others]
    if "ds" in columns:
        return "ds"
    dates = [name for name in columns if holds_dates(frame[name])] or [name for name in columns if holds_date_texts(frame[name])]
    named = [name for name in dates if str(name).lower() in NAMES]
    if len(dates) > 1 and len(named) != 1:
        raise DataError(f"frame: {len(dates)} columns hold times ({', '.join(map(str, dates))}): keep one, or make it the index")
    texts = [name for name in columns if str(name).lower() in NAMES and not pandas.api.types.is_numeric_dtype(frame[name])]
    numbers = [name for name in columns if str(name).lower() in COUNTED and pandas.api.types.is_integer_dtype(frame[name])]
    found: Hashable | None = next(iter([*named, *dates, *texts, *numbers]), None)
    return found


def times_of(times: "pandas.Series[Any]", name: Hashable, style: str = "") -> "tuple[pandas.Series[Any], TimeStyle]":
    """Times as datetimes of one zone or integers, none missing, and their style. `style`: the format of texts. DataError otherwise."""
    import pandas

    shown = "date" if name is None else name
    if times.isna().any():
        raise DataError(f"frame: column '{shown}' has no time in row {first(times.isna())}")
    if times.dtype == object and all(isinstance(value, pandas.Period) for value in times):
        times = pandas.Series(pandas.PeriodIndex(times), index=times.index)
    if isinstance(times.dtype, pandas.PeriodDtype):
        return times.dt.to_timestamp(), TimeStyle(name, times.dtype)
    if pandas.api.types.is_datetime64_any_dtype(times):
        if len(times) > 1 and (times.dt.strftime("%Y-%m-%d %H:%M:%S") == "1970-01-01 00:00:00").all():
            raise DataError(f"frame: all dates of column '{shown}' are in the first second of 1970, as pandas.to_datetime makes them of numbers: "
                            f"give it the unit or the texts of the dates, in read_csv dtype={{'{shown}': str}}")  # fmt: skip
        return times, TimeStyle(name, times.dtype)
    if pandas.api.types.is_integer_dtype(times):
        return row_numbers(times, str(shown)), TimeStyle(name)
    if not pandas.api.types.is_object_dtype(times) and not pandas.api.types.is_string_dtype(times):
        raise DataError(f"frame: column '{shown}' must hold times or row numbers, got {times.dtype}")
    zones = {str(getattr(value, "tzinfo", None)) for value in times if not isinstance(value, str)}
    if len(zones) > 1:
        raise DataError(f"frame: column '{shown}' mixes time zones ({', '.join(sorted(zones))}): bring all to one, "
                        f"pandas.to_datetime(frame['{shown}'], utc=True)")  # fmt: skip
    days = all(type(value) is datetime.date for value in times)
    if any(isinstance(value, str) for value in times):
        found = parsed(times, str(shown), style)
        return found, TimeStyle(name, text=format_of(times, found))
    found = pandas.to_datetime(times)
    return found, TimeStyle(name, days=days)


def row_numbers(times: "pandas.Series[Any]", name: str) -> "pandas.Series[Any]":
    if len(times) > 0 and int(times.abs().max()) >= EPOCH:
        value, units = int(times.iloc[0]), {10: "s", 13: "ms", 16: "us", 19: "ns"}
        unit = units.get(len(str(abs(value))), "s")
        raise DataError(f"frame: column '{name}' must hold times or row numbers, got {value}, which looks like a time since 1970: "
                        f"pandas.to_datetime(frame['{name}'], unit='{unit}')")  # fmt: skip
    return times.astype("int64")


def to_datetime(texts: Any, **options: Any) -> Any:
    """pandas.to_datetime without its warnings about formats: the errors cover them."""
    import pandas

    with warnings.catch_warnings(action="ignore"):
        return pandas.to_datetime(texts, **options)


def parsed(texts: "pandas.Series[Any]", name: str, style: str = "") -> "pandas.Series[Any]":
    """Datetimes of texts. DataError for a cell that is none, and for dates that may be day first or month first."""
    import pandas

    parts = [NUMBERED_DATE.fullmatch(text) if isinstance(text, str) else None for text in texts] if not style else [None]
    if parts and all(parts):
        return either_order(texts, [part.groups() for part in parts if part], name)
    try:
        found = to_datetime(texts, format=style) if style else iso_or_guessed(texts, name)
    except DataError:
        raise
    except (ValueError, TypeError) as error:
        raise DataError(f"frame: column '{name}' must hold times or row numbers: {str(error).splitlines()[0]}; "
                        f"pandas.to_datetime(frame['{name}'], format=…) reads other forms") from None  # fmt: skip
    if not pandas.api.types.is_datetime64_any_dtype(found):
        raise DataError(f"frame: column '{name}' mixes time zones: bring all to one, pandas.to_datetime(frame['{name}'], utc=True)")
    return found


def iso_or_guessed(texts: "pandas.Series[Any]", name: str) -> "pandas.Series[Any]":
    """Datetimes of texts: ISO, of `FORMATS`, or as pandas guesses them. DataError for a guess without a year."""
    for known in ("ISO8601", *FORMATS):
        with contextlib.suppress(ValueError):
            return to_datetime(texts, format=known)
    found = to_datetime(texts)
    yearless = ~texts.astype(str).str.contains(FULL_YEAR)
    if yearless.any():
        raise DataError(f"frame: column '{name}' has no year of four digits ('{texts[yearless].iloc[0]}' in row {first(yearless)}): "
                        f"pandas.to_datetime(frame['{name}'], format=…) decides")  # fmt: skip
    return found


def either_order(texts: "pandas.Series[Any]", parts: list[tuple[str, ...]], name: str) -> "pandas.Series[Any]":
    """Dates such as 31.01.2024 and 1/31/2024 13:00: the order that all rows allow, else the one with the more regular steps,
    else, with dots, the day first."""
    import pandas

    def in_order(day: int, month: int) -> "pandas.Series[Any] | None":
        written = [f"{year(part[3])}-{int(part[month]):02}-{int(part[day]):02}{part[4]}" for part in parts]
        try:
            return pandas.Series(to_datetime(written, format="ISO8601"), index=texts.index)
        except ValueError:
            try:
                return pandas.Series(to_datetime(written), index=texts.index)
            except ValueError:
                return None

    day_first, month_first = in_order(0, 2), in_order(2, 0)
    if day_first is None and month_first is None:
        raise DataError(f"frame: column '{name}' must hold times or row numbers: neither day.month.year nor month/day/year fits all rows")
    if day_first is None or month_first is None:
        return month_first if day_first is None else day_first
    kinds = [step_kinds(times) for times in (day_first, month_first)]
    if kinds[0] != kinds[1] and min(kinds) == 1:
        return day_first if kinds[0] < kinds[1] else month_first
    if parts[0][1] != "." and not day_first.equals(month_first):
        raise DataError(f"frame: column '{name}' may be day first or month first ('{texts.iloc[0]}' in row 0): "
                        f"pandas.to_datetime(frame['{name}'], format='%d{parts[0][1]}%m{parts[0][1]}%Y') decides")  # fmt: skip
    return day_first


def step_kinds(times: "pandas.Series[Any]") -> int:
    """Number of different steps between times in ascending order, in months if all have the same day."""
    import pandas

    each = pandas.Series(times.unique()).sort_values()
    steps = (each.dt.year * 12 + each.dt.month if each.dt.day.nunique() == 1 else each).diff().dropna()
    return int(steps.nunique())


def year(text: str) -> int:
    """Of two digits: 1969 to 2068, as %y."""
    return int(text) if len(text) == 4 else int(text) + (1900 if int(text) >= 69 else 2000)


def format_of(texts: "pandas.Series[Any]", times: "pandas.Series[Any]") -> str:
    """The format that writes all `times` as the `texts`; "" if there is none."""
    from pandas.tseries.api import guess_datetime_format

    if getattr(times.dtype, "tz", None) is not None:
        return ""
    if (times.dt.to_period("Q").astype(str) == texts).all():
        return QUARTER
    for day_first in (False, True):
        with warnings.catch_warnings(action="ignore"):
            found = guess_datetime_format(str(texts.iloc[0]), dayfirst=day_first)
        if found and (times.dt.strftime(found) == texts).all():
            return str(found)
    for found in (*FORMATS, "%Y-%m", "%Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%y"):
        if (times.dt.strftime(found) == texts).all():
            return found
    return ""


def regular_times(index: Any, freq: Any, name: str) -> Any:
    """All times from the first to the last by `freq`, a pandas frequency or a step of row numbers. DataError for a time between
    them, UsageError for an unknown frequency."""
    import pandas

    if not isinstance(index, pandas.DatetimeIndex):
        if not isinstance(freq, (int, np.integer)) or freq < 1:
            raise UsageError(f"freq: times are row numbers, so it must be a whole number of at least 1, got {freq!r}")
        full: Any = pandas.RangeIndex(index[0], index[-1] + 1, freq)
    else:
        try:
            offset = pandas.tseries.frequencies.to_offset(freq)
            full = pandas.date_range(index[0], index[-1], freq=offset)
        except (ValueError, TypeError):
            raise UsageError(f"freq: expected a frequency of pandas such as 'h', '15min', 'D', 'B', 'W-SUN', 'MS' or 'QE', got {freq!r}") from None
    between = index.difference(full)
    if len(between) > 0:
        raise DataError(f"frame: the time {between[0]} of '{name}' is not one of the frequency {freq!r} from {index[0]} on")
    return full


def zone_of(times: Any) -> Any:
    """The time zone of a column or index of times; None for times without one, and for row numbers."""
    return getattr(times.dtype, "tz", None)


def local_times(times: "pandas.Series[Any]", zone: str, ids: "pandas.DataFrame") -> "pandas.Series[Any]":
    """Times of the clock of `zone` (data.time_zone): of two equal ones of a series, in the hour that is repeated in autumn, the
    first row is the earlier. DataError for a time that the clock skips, ConfigError for an unknown zone."""
    earlier = ~ids.assign(**{"": times}).duplicated(keep="last" if times.is_monotonic_decreasing else "first").to_numpy()
    try:
        found = times.dt.tz_localize(zone, ambiguous=earlier, nonexistent="NaT")
    except (LookupError, ValueError, OSError):
        raise ConfigError(f"data.time_zone: expected a name such as Europe/Berlin or an offset such as +01:00, got '{zone}'") from None
    if found.isna().any():
        raise DataError(f"frame: the clock of {zone} skips the time {times[found.isna()].iloc[0]} in row {first(found.isna())}")
    return found


def file_clock(times: Any, keys: Any = None) -> Any:
    """The zone whose clock a file shows: that of the times for days and longer steps of each series, UTC for shorter ones, so that a
    change of the clock does not part them; None for times without a zone. `keys`: the series of each time."""
    import pandas

    zone, series = zone_of(times), pandas.Series(times)
    if zone is None:
        return None
    local = series.dt.tz_localize(None)
    since_midnight = local - local.dt.normalize()
    different = since_midnight.nunique() if keys is None else since_midnight.groupby(keys.to_numpy()).nunique().max()
    return zone if different <= 1 else "UTC"


def written_times(index: "pandas.DatetimeIndex", clock: Any) -> "pandas.DatetimeIndex":
    """Times for the file: without a zone, on the clock of `file_clock`. DataError for times finer than a second."""
    times = index if clock is None else index.tz_convert(clock).tz_localize(None)
    finer = times != times.floor("s")
    if finer.any():
        raise DataError(f"frame: times finer than a second are not supported, got {times[finer][0]}")
    return times


def shown_times(times: "pandas.DatetimeIndex", clock: Any, zone: Any) -> "pandas.DatetimeIndex":
    """Times of the file of `written_times` in the zone of the frame."""
    return times if clock is None else times.tz_localize(clock, ambiguous=True, nonexistent="shift_forward").tz_convert(zone)


def program_times(texts: Sequence[str], seconds: Sequence[int]) -> "pandas.DatetimeIndex":
    """Times of the program's JSON: `seconds` on the clock of `texts`, in the UTC offset that these end in; in UTC if it changes."""
    import pandas

    times = pandas.to_datetime(pandas.Index(seconds, dtype="int64"), unit="s")
    offsets = [OFFSET.fullmatch(text) for text in texts]
    if not all(offsets):
        return times
    minutes = [60 * int(offset[1] or 0) + int((offset[1] or "+")[0] + (offset[2] or "0")) for offset in offsets if offset]
    if len(set(minutes)) > 1:
        return (times - pandas.to_timedelta(minutes, unit="min")).tz_localize("UTC")
    return times.tz_localize(datetime.timezone(datetime.timedelta(minutes=minutes[0])) if minutes[0] else "UTC")
