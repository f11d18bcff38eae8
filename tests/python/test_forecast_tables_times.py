"""The time of a row in the forms of real tables, against pandas; forecasts continue it in the same form."""

import csv
import math

import pytest

from cli_helpers import fails, ok

pd = pytest.importorskip("pandas")

QUICK = ["--model", "dlinear", "--set", "forecast.horizon=6", "--set", "forecast.lookback=24", "--set", "output.report=false", "--set",
         "train.max_steps=5", "--threads", "1"]
HOURS = pd.date_range("2024-01-01", periods=246, freq="h")
MONTHS = pd.date_range("2005-01-01", periods=186, freq="MS")
DAYS = pd.date_range("2023-01-01", periods=206, freq="D")


def wave(i):
    return round(10 + 3 * math.sin(i / 4), 4)


def forecast_times(tmp_path, cells, header, *options):
    """Trains on all rows but the last six; returns the time cells of the six forecast rows, as of the file."""
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*header, "y"])
        writer.writerows([*row, wave(i)] for i, row in enumerate(cells[:-6]))
    ok("train", "forecast", "--data", path, "--out", tmp_path / "run", *QUICK, *options)
    ok("predict", tmp_path / "run", "--out", tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    return [[row[name] for name in header] for row in rows]


@pytest.mark.parametrize("dates,form", [
    (HOURS, "%Y-%m-%d %H:%M:%S UTC"), (HOURS, "%a, %d %b %Y %H:%M:%S GMT"), (HOURS, "%Y%m%dT%H%M%S"), (HOURS, "%Y%m%d%H"),
    (HOURS, "%m/%d/%Y %I:%M %p"), (MONTHS, "%YM%m"), (MONTHS, "%m/%Y"), (MONTHS, "%b-%y"), (MONTHS, "%B, %Y"), (MONTHS, "%Y%m"),
    (DAYS, "%G-W%V-%u"), (DAYS, "%Y-%j"), (DAYS, "%A, %B %d, %Y"),
])
def test_dates_are_read_and_continued_as_pandas_writes_them(tmp_path, dates, form):
    cells = [[date.strftime(form)] for date in dates]
    assert forecast_times(tmp_path, cells, ["date"]) == cells[-6:]


def test_clocks_and_hours_are_read_with_their_dates(tmp_path):
    cells = [[date.strftime("%d/%m/%Y"), date.strftime("%H:%M:%S")] for date in HOURS]
    assert forecast_times(tmp_path, cells, ["Date", "Time"]) == cells[-6:]
    cells = [[date.strftime("%Y-%m-%d"), f"{date.hour + 1:02d}"] for date in HOURS]
    (tmp_path / "hours").mkdir()
    assert forecast_times(tmp_path / "hours", cells, ["Date", "Hr_End"]) == cells[-6:]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_unix_time_has_its_unit(tmp_path, unit):
    cells = [[str(int(date.as_unit("ns").value // 10 ** {"s": 9, "ms": 6, "us": 3, "ns": 0}[unit]))] for date in HOURS]
    assert forecast_times(tmp_path, cells, ["time"]) == cells[-6:]


def test_local_times_of_a_zone_are_those_of_pandas(tmp_path):
    """The forecast begins with the hour that is repeated in autumn."""
    local = pd.date_range("2024-10-17", periods=246, freq="h", tz="UTC").tz_convert("Europe/Berlin")
    cells = [[time.strftime("%Y-%m-%d %H:%M")] for time in local]
    assert cells[240] == cells[241] == ["2024-10-27 02:00"]
    assert forecast_times(tmp_path, cells, ["date"], "--set", "data.time_zone=Europe/Berlin") == cells[-6:]


def test_a_format_may_be_given(tmp_path):
    cells = [[date.strftime("%d%m%y %H%M")] for date in HOURS]
    (tmp_path / "t.csv").write_text("date,y\n" + "".join(f"{cell},{i}\n" for i, (cell,) in enumerate(cells)))
    fails(65, "the name of column 'date' says time", "data.time_format", arguments=["data", "show", tmp_path / "t.csv"])
    assert forecast_times(tmp_path, cells, ["date"], "--set", "data.time_format=%d%m%y %H%M") == cells[-6:]
