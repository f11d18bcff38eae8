"""Times of forecasts of frames and files in Python: forms of texts, time zones, frequencies. The oracle is pandas: the times that
follow the given ones. The forecast of `repeat` is the last value of each series, that of `seasonal` the value of a day ago."""

import numpy as np
import pandas as pd
import pytest

import modewise
from modewise import errors
from test_package_forecaster import in_a_folder_of_its_own  # noqa: F401 — a fixture

ROWS = 200
BERLIN = {"data.time_zone": "Europe/Berlin"}


def fitted(data, model="repeat", settings=None, **arguments):
    made = modewise.Forecaster(model, horizon=4, lookback=48, settings={"output.report": False} | (settings or {}), verbosity=-1)
    return made.fit(data, **arguments)


def ending(last, freq="h", rows=ROWS):
    """Times up to `last`, and the four that follow."""
    times = pd.date_range(end=last, periods=rows, freq=freq)
    return times, pd.date_range(times[-1], periods=5, freq=freq)[1:]


def table(times, values=None, column="date"):
    return pd.DataFrame({column: times, "y": np.arange(len(times)) / 100 if values is None else values})


@pytest.mark.parametrize("freq, form", [
    ("D", "%d.%m.%Y"), ("D", "%d/%m/%Y"), ("h", "%d.%m.%Y %H:%M"), ("D", "%d.%m.%y"), ("MS", "%b-%y"), ("MS", "%m/%Y"), ("W-MON", "%G-W%V"),
    ("MS", "%YM%m"), ("D", "%Y-%j"), ("MS", "%Y%m"), ("YS", "%Y"),
])  # fmt: skip
def test_forecasts_of_a_file_have_the_times_that_follow(freq, form):
    """Also where the file writes the day first, or dates that pandas does not read."""
    times = pd.date_range("2004-01-20" if freq in "Dh" else "1985-01-01" if freq == "MS" else "1801-01-01" if freq == "YS" else "2004-01-05", periods=ROWS, freq=freq)
    wanted = pd.date_range(times[-1], periods=5, freq=freq)[1:]
    table(times.strftime(form)).to_csv("table.csv", index=False)
    made = fitted("table.csv", settings={"data.split_ratios": [0.5, 0.2, 0.3]})
    assert list(made.predict().index) == list(wanted)
    origins = made.backtest()["time"]
    assert origins.dtype.kind == "M" and origins[0] == times[140] and (origins.diff().dropna() > pd.Timedelta(0)).all()


def test_panels_of_a_file_have_the_times_that_follow():
    times = pd.date_range("2004-01-20", periods=ROWS, freq="D")
    pd.concat([table(times.strftime("%d.%m.%Y")).assign(unique_id=name) for name in "ab"]).to_csv("panel.csv", index=False)
    found = fitted("panel.csv", settings={"data.panel": "yes"}).predict()
    assert list(found["ds"]) == 2 * list(pd.date_range(times[-1], periods=5)[1:])


@pytest.mark.parametrize("offset", ["Z", "+01:00", "-0330"])
def test_forecasts_of_a_file_keep_the_offset_of_its_times(offset):
    times, following = ending("2024-02-10 07:00")
    table(times.strftime("%Y-%m-%dT%H:%M:%S") + offset).to_csv("table.csv", index=False)
    wanted = pd.to_datetime([str(time) + offset for time in following])
    assert fitted("table.csv").predict().index.equals(wanted.as_unit("us"))


CHANGES = ["2024-03-31 00:00", "2024-03-31 01:00", "2024-10-27 00:00", "2024-10-27 01:00"]


@pytest.mark.parametrize("last", CHANGES)
@pytest.mark.parametrize("freq", [None, "h"])
def test_hours_of_a_zone_go_on_through_a_change_of_the_clock(last, freq):
    times, following = ending(pd.Timestamp(last, tz="Europe/Berlin"))
    assert fitted(table(times), freq=freq).predict().index.equals(pd.DatetimeIndex(following, name="date", freq=None))
    panel = pd.concat([table(times[start:], column="ds").assign(unique_id=name) for name, start in (("a", 0), ("b", 50))])
    found = fitted(panel, settings={"data.panel": "yes"}).predict()
    assert list(found["ds"]) == 2 * list(following)


@pytest.mark.parametrize("freq", ["D", "W-SUN", "MS"])
def test_days_and_longer_steps_of_a_zone_stay_local(freq):
    times, following = ending(pd.Timestamp("2024-03-31", tz="Europe/Berlin").replace(day=1 if freq == "MS" else 31), freq)
    assert list(fitted(table(times)).predict().index) == list(following)
    panel = pd.concat([table(times[start:], column="ds").assign(unique_id=name) for name, start in (("a", 0), ("b", 50))])
    assert list(fitted(panel, settings={"data.panel": "yes"}).predict()["ds"]) == 2 * list(following)


def test_other_data_are_read_on_the_clock_of_the_fitted_data():
    """Of days of Berlin, given in UTC; and of hours, with and without a change of the clock in the rows."""
    hours = pd.date_range("2024-02-01", "2024-04-15", freq="h", tz="Europe/Berlin")
    daily = np.where(hours.tz_convert("UTC").hour < 12, 10.0, 0.0)
    made = fitted(table(hours[:800], daily[:800]), "seasonal")
    for rows in (table(hours, daily), table(hours[-150:], daily[-150:]), table(hours.tz_convert("UTC"), daily)):
        found = made.predict(data=rows)
        assert list(found.index) == list(pd.date_range(rows["date"].iloc[-1], periods=5, freq="h")[1:])
        assert np.allclose(found["y"], [10.0 if time.tz_convert("UTC").hour < 12 else 0.0 for time in found.index], atol=1e-4)
    days, following = ending(pd.Timestamp("2024-04-20", tz="Europe/Berlin"), "D")
    weekly = np.arange(ROWS) % 7.0
    by_week = fitted(table(days, weekly), "seasonal")
    found = by_week.predict(data=table(days.tz_convert("UTC"), weekly))
    assert list(found.index) == list(following.tz_convert("UTC")) and str(found.index.tz) == "UTC"
    assert np.array_equal(found["y"], by_week.predict()["y"])


def test_times_with_and_without_a_zone_are_not_mixed():
    times, following = ending("2024-02-10 07:00")
    bare, zoned = table(times), table(times.tz_localize("UTC"))
    for whose, ask in (("frame", lambda: fitted(bare).predict(data=zoned)), ("frame", lambda: fitted(bare).score(zoned)),
                       ("validation", lambda: fitted(bare.head(150), validation=zoned.tail(50)))):  # fmt: skip
        with pytest.raises(errors.DataError) as error:
            ask()
        assert str(error.value) == f"{whose}: its times are with a time zone, those of the fitted data without a time zone"
    with pytest.raises(errors.DataError) as error:
        fitted(bare.head(150), validation=bare.tail(50).reset_index(drop=True)[["y"]])
    assert str(error.value) == "validation: its times are row numbers, those of the data dates"
    both = fitted(zoned.head(150), validation=zoned.tail(50).assign(date=lambda f: f["date"].dt.tz_convert("Asia/Tokyo"))).predict()
    assert list(both.index) == list(following.tz_localize("UTC"))


def test_the_last_rows_without_values_are_forecast():
    times, following = ending("2024-02-10 07:00")
    values = np.arange(ROWS) % 24 * 1.0
    values[-3:] = np.nan
    for freq in (None, "h"):
        found = fitted(table(times, values), "seasonal", freq=freq).predict()
        assert list(found.index) == [*times[-3:], following[0]]
        assert np.allclose(found["y"], (np.arange(ROWS - 3, ROWS + 1)) % 24, atol=1e-3)


@pytest.mark.parametrize("form", ["%b-%y", "%b %y", "%y-%b", "%B %y", "%b %Y", "%Y%m", "%d-%b-%y"])
def test_texts_of_months_are_months(form):
    times = pd.date_range("1995-01-01", periods=ROWS, freq="MS")
    wanted = pd.date_range(times[-1], periods=5, freq="MS")[1:]
    found = fitted(table(times.strftime(form), column="month")).predict()
    assert list(found.index) == list(wanted.strftime(form) if form != "%b %Y" else wanted)
    assert np.allclose(found["y"], (ROWS - 1) / 100)


@pytest.mark.parametrize("form, reason", [("%m/%y", r"has no year of four digits \('12/01' in row 0\): "), ("%y/%m", r"has no year of four digits \('01/12' in row 0\): "),
                                          ("%Y-%j", "must hold times or row numbers: ")])  # fmt: skip
def test_other_texts_name_what_reads_them(form, reason):
    frame = table(pd.date_range("2001-12-01", periods=20, freq="MS").strftime(form), column="month")
    with pytest.raises(errors.DataError, match=rf"^frame: column 'month' {reason}.*pandas\.to_datetime\(frame\['month'\], format=…\)"):
        fitted(frame)


def test_a_time_zone_of_the_settings_reads_local_times_as_in_a_file():
    """The hour that is repeated in autumn, and the one that is skipped in spring."""
    autumn, after = ending(pd.Timestamp("2024-10-27 12:00", tz="Europe/Berlin"))
    spring, later = ending(pd.Timestamp("2024-03-31 00:00", tz="Europe/Berlin"))
    for times, following in ((autumn, after), (spring, later)):
        local = table(times.tz_localize(None))
        local.to_csv("table.csv", index=False)
        found = fitted(local, settings=BERLIN).predict().index
        assert list(found) == list(following.tz_localize(None)) and list(found) == list(fitted("table.csv", settings=BERLIN).predict().index)
        long = pd.concat([local.rename(columns={"date": "ds"}).assign(unique_id=name) for name in "ab"])
        for panel in ("no", "yes"):
            assert list(fitted(long, settings=BERLIN | {"data.panel": panel}).predict()["ds"]) == 2 * list(found)
    for zone, kind, sentence in (
        ("Mars/Base", errors.ConfigError, "data.time_zone: expected a name such as Europe/Berlin or an offset such as +01:00, got 'Mars/Base'"),
        ("Europe/Berlin", errors.DataError, "frame: the clock of Europe/Berlin skips the time 2024-03-31 02:00:00 in row 197"),
    ):
        with pytest.raises(kind) as error:
            fitted(table(pd.date_range(end="2024-03-31 04:00", periods=ROWS, freq="h")), settings={"data.time_zone": zone})
        assert str(error.value) == sentence
