"""Tables as people have them: long ones, names of months, seconds since 1970, UTF-16; forecasts come back in the table's form."""

import csv
import math

import pytest

from cli_helpers import fails, ok


QUICK = ["--model", "dlinear", "--set", "output.report=false", "--set", "train.max_steps=20", "--threads", "1"]
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def wave(i, phase=0):
    return round(10 + 3 * math.sin(2 * math.pi * i / 12 + phase), 4)


def predicted(path, tmp_path, *options):
    ok("train", "forecast", "--data", path, "--out", tmp_path / "run", *QUICK, *options)
    ok("predict", tmp_path / "run", "--out", tmp_path / "out.csv")
    ok("backtest", tmp_path / "run")
    return list(csv.DictReader((tmp_path / "out.csv").open()))


def test_a_long_table_is_forecast_as_one(tmp_path):
    """Three series, the last begun later; a row is missing."""
    lines = ["unique_id,ds,y"]
    for name, begin in (("north", 0), ("south", 0), ("new, east", 30)):
        lines += [f'"{name}",{1990 + i // 12}-{i % 12 + 1:02d},{wave(i, len(name))}' for i in range(begin, 144) if i != 70]
    path = tmp_path / "long.csv"
    path.write_text("\n".join(lines) + "\n")
    rows = predicted(path, tmp_path)
    assert list(rows[0])[:3] == ["unique_id", "ds", "y"] and "y_q0.025" in rows[0]
    assert [row["unique_id"] for row in rows] == ["north"] * 12 + ["south"] * 12 + ["new, east"] * 12
    assert [row["ds"] for row in rows[:12]] == [f"2002-{m:02d}" for m in range(1, 13)]
    assert all(float(row["y_q0.025"]) <= float(row["y"]) <= float(row["y_q0.975"]) for row in rows)
    # Predictions of a file with the forecast rows appended begin after them.
    with path.open("a") as file:
        file.writelines(f'"{row["unique_id"]}",{row["ds"]},{row["y"]}\n' for row in rows)
    ok("predict", tmp_path / "run", "--data", path, "--out", tmp_path / "later.csv")
    later = list(csv.DictReader((tmp_path / "later.csv").open()))
    assert [later[0]["ds"], later[-1]["ds"]] == ["2003-01", "2003-12"]


def test_long_tables_of_several_columns_stay_long(tmp_path):
    path = tmp_path / "stations.csv"
    lines = ["station;time;t;wind"]
    for i in range(120):
        lines += [f"{name};{1577836800 + 3600 * i};{str(wave(i)).replace('.', ',')};{i % 5}" for name in ("A", "B")]
    path.write_text("\n".join(lines) + "\n")
    rows = predicted(path, tmp_path, "--set", "forecast.horizon=4", "--set", "forecast.lookback=12")
    assert len(rows) == 8 and [row["station"] for row in rows] == ["A"] * 4 + ["B"] * 4
    assert [int(row["time"]) for row in rows[:4]] == [1577836800 + 3600 * (120 + k) for k in range(4)]
    assert list(rows[0])[2] == "t" and "wind_q0.9" in rows[0]


@pytest.mark.parametrize("form,expected", [
    (lambda i: f"01-{MONTHS[i % 12]}-{1990 + i // 12}", "01-Jan-2002"),
    (lambda i: f"{MONTHS[i % 12]} {1990 + i // 12}", "Jan 2002"),
    (lambda i: f"{1954 + i // 4}Q{i % 4 + 1}", "1990Q1"),
    (lambda i: 1000 * (1577836800 + 86400 * i), str(1000 * (1577836800 + 86400 * 144))),
])
def test_dates_are_continued_as_they_are_written(tmp_path, form, expected):
    path = tmp_path / "dates.csv"
    path.write_text("date,value\n" + "".join(f"{form(i)},{wave(i)}\n" for i in range(144)), encoding="utf-16")
    rows = predicted(path, tmp_path)
    assert rows[0]["date"] == expected


def test_files_that_are_no_tables_are_named(tmp_path):
    train = ["train", "forecast", *QUICK, "--out", tmp_path / "x", "--data"]
    (tmp_path / "a.parquet").write_bytes(b"PAR1\x15\x04\x15\x10")
    assert fails(65, arguments=[*train, tmp_path / "a.parquet"]).endswith(
        "a.parquet: expected text, got a Parquet file; write it as CSV, in Python pandas.read_parquet(file).to_csv(…)")
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04\x14\x00\x06\x00")
    assert fails(65, arguments=[*train, tmp_path / "a.xlsx"]).endswith(
        "a.xlsx: expected text, got a ZIP archive, such as .docx, .xlsx, .epub, .npz or .pt; save the sheet as CSV, or unpack the archive")
    (tmp_path / "ids.csv").write_text("unique_id,ds,y\n" + "".join(f"{i},2020-01-{30 - i * 7 % 20:02d},1\n" for i in range(20)))
    assert fails(65, arguments=[*train, tmp_path / "ids.csv"]).endswith(
        "ids.csv: each of the 20 rows is its own series with unique_id as series id; data.id = none reads one series")
