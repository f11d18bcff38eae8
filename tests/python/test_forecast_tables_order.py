"""Order of rows, daylight saving time, ids as they are written, calendars, series in rows."""

import csv
import datetime
import json
import math

import pytest

from cli_helpers import fails, ok

pandas = pytest.importorskip("pandas")
QUICK = ["--model", "dlinear", "--set", "output.report=false", "--set", "train.max_steps=5", "--threads", "1",
         "--set", "forecast.horizon=6", "--set", "forecast.lookback=12"]  # fmt: skip


def wave(i, phase=0.0):
    return round(10 + 3 * math.sin(2 * math.pi * i / 12 + phase), 4)


def show(path, *options):
    return json.loads(ok("data", "show", path, "--json", *options).stdout)


def predicted(path, tmp_path, *options):
    tmp_path.mkdir(exist_ok=True)
    ok("train", "forecast", "--data", path, "--out", tmp_path / "run", *QUICK, *options)
    ok("predict", tmp_path / "run", "--out", tmp_path / "out.csv")
    return list(csv.DictReader((tmp_path / "out.csv").open()))


def write(frame, path):
    frame.to_csv(path, index=False)
    return path


def series(dates, column="date"):
    return pandas.DataFrame({column: dates.strftime("%Y-%m-%d"), "y": [wave(i) for i in range(len(dates))]})


def test_rows_in_any_order_give_the_same_forecast(tmp_path):
    frame = series(pandas.date_range("2024-01-01", periods=90))
    forecasts = []
    for name, order in (("rising", frame), ("falling", frame[::-1]), ("mixed", frame.sample(frac=1, random_state=1))):
        (tmp_path / name).mkdir()
        forecasts.append(predicted(write(order, tmp_path / name / "t.csv"), tmp_path / name))
    assert forecasts[0] == forecasts[1] == forecasts[2]
    assert forecasts[0][0]["date"] == "2024-03-31"


@pytest.mark.parametrize("offset", [pandas.offsets.BDay(), pandas.offsets.MonthEnd(), pandas.offsets.BMonthEnd(), pandas.offsets.BMonthBegin(),
                                    pandas.offsets.QuarterEnd(), pandas.offsets.CustomBusinessDay(weekmask="Sun Mon Tue Wed Thu")],
                         ids=str)  # fmt: skip
def test_forecasts_stay_on_the_calendar_of_pandas(tmp_path, offset):
    dates = pandas.date_range("2015-01-01", periods=120, freq=offset)
    path = write(series(dates), tmp_path / "t.csv")
    assert show(path)["rows"] == 120 and show(path)["missing_cells"] == 0
    rows = predicted(path, tmp_path)
    assert [row["date"] for row in rows] == list(pandas.date_range(dates[-1] + offset, periods=6, freq=offset).strftime("%Y-%m-%d"))


def test_holidays_are_missing_rows_of_business_days(tmp_path):
    dates = pandas.bdate_range("2024-01-01", "2024-06-28").drop(pandas.to_datetime(["2024-03-29", "2024-04-01", "2024-05-01"]))
    path = write(series(dates), tmp_path / "t.csv")
    shown = show(path)
    assert (shown["rows"], shown["missing_cells"], shown["frequency"]) == (130, 3, "1 business day")
    assert show(path, "--set", "data.calendar_days=all")["rows"] == 180
    assert [row["date"] for row in predicted(path, tmp_path)][:2] == ["2024-07-01", "2024-07-02"]
    # A run keeps its calendar for files too short to show it, and refuses a weekend.
    write(series(pandas.bdate_range("2024-07-01", periods=13)), tmp_path / "later.csv")
    ok("predict", tmp_path / "run", "--data", tmp_path / "later.csv", "--out", tmp_path / "later_out.csv")
    assert next(csv.DictReader((tmp_path / "later_out.csv").open()))["date"] == "2024-07-18"
    write(series(pandas.date_range("2024-07-01", periods=13)), tmp_path / "week.csv")
    assert "week.csv:7: 2024-07-06 is outside the calendar of the rows, Monday to Friday; data.calendar_days" in fails(
        65, arguments=["predict", tmp_path / "run", "--data", tmp_path / "week.csv"])


def test_trading_hours_are_continued_on_the_next_day(tmp_path):
    days = pandas.bdate_range("2024-01-01", periods=15)
    times = [day + pandas.Timedelta(hours=9, minutes=30 + 30 * i) for day in days for i in range(14)]
    path = write(pandas.DataFrame({"time": times, "y": [wave(i) for i in range(len(times))]}), tmp_path / "t.csv")
    shown = show(path)
    assert (shown["rows"], shown["missing_cells"], shown["frequency"]) == (210, 0, "30 min, Monday to Friday from 09:30 to 16:00")
    assert predicted(path, tmp_path)[0]["time"] == "2024-01-22 09:30:00"


def local_times(form):
    hours = pandas.date_range("2024-03-20", "2024-11-10", freq="h", tz="Europe/Berlin", inclusive="left")
    frame = pandas.DataFrame({"time": hours.strftime("%Y-%m-%d %H:%M"), "y": [wave(i) for i in range(len(hours))]})
    summer = [time.utcoffset() == datetime.timedelta(hours=2) for time in hours]
    if form == "zone":
        frame.insert(1, "zone", ["CEST" if flag else "CET" for flag in summer])
    if form == "number":
        frame["dst"] = [int(flag) for flag in summer]
    if form == "unsorted":
        frame["flag"] = ["Y" if flag else "N" for flag in summer]
        frame = frame.sample(frac=1, random_state=3)
    if form == "descending":
        frame = frame[::-1]
    if form == "panel":
        frame["dst"] = ["Y" if flag else "N" for flag in summer]
        frame = pandas.concat([frame.assign(unique_id=name) for name in "ab"])
    return len(hours), frame


@pytest.mark.parametrize("form", ["plain", "zone", "number", "unsorted", "descending", "panel"])
def test_daylight_saving_time_is_one_series(tmp_path, form):
    hours, frame = local_times(form)
    path = write(frame, tmp_path / "t.csv")
    shown = show(path)
    assert (shown["rows"], shown["missing_cells"]) == (hours, 0), shown["notes"]
    assert shown["modes"][-1]["labels"] == (["a", "b"] if form == "panel" else ["y"])
    assert (shown["first"], shown["last"]) == ("2024-03-20 00:00", "2024-11-09 23:00")
    days = show(path, "--set", "data.resample=1 day", "--set", "data.resample_by=sum")
    one = frame[frame.unique_id == "a"] if form == "panel" else frame
    wanted = one.groupby(one.time.str[:10]).y.sum()
    assert days["rows"] == len(wanted) == 235
    assert {v["name"]: v["max"] for v in days["variables"]}["a" if form == "panel" else "y"] == pytest.approx(wanted.max())


def test_days_of_changing_offsets_are_local(tmp_path):
    hours, frame = local_times("plain")
    frame["time"] = [time.isoformat() for time in pandas.date_range("2024-03-20", "2024-11-10", freq="h", tz="Europe/Berlin", inclusive="left")]
    path = write(frame, tmp_path / "t.csv")
    assert show(path)["rows"] == hours
    days = show(path, "--set", "data.resample=1 day", "--set", "data.resample_by=sum")
    wanted = frame.groupby(frame.time.str[:10]).y.sum()
    assert days["rows"] == 235 and days["variables"][0]["max"] == pytest.approx(wanted.max())


@pytest.mark.parametrize("names", [["000001", "000002", "600000"], ["01", "1"], ["1234567890123456789", "1234567890123456788"],
                                   ["2020-01", "2020-02"], ["1e5", "100000"]])
@pytest.mark.parametrize("column", ["unique_id", "symbol"])
def test_ids_come_back_as_written(tmp_path, names, column):
    lines = [f"{column},ds,y"] + [f"{name},2024-01-{day:02d},{wave(day)}" for day in range(1, 32) for name in names]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    options = ["--set", f"data.id=[\"{column}\"]"] if names[0] == "2020-01" else []
    assert show(tmp_path / "t.csv", *options)["modes"][0]["labels"] == names
    rows = predicted(tmp_path / "t.csv", tmp_path, *options, "--set", "forecast.horizon=2", "--set", "forecast.lookback=4")
    assert list(dict.fromkeys(row[column] for row in rows)) == names


def test_series_one_after_the_other_and_two_candidates(tmp_path):
    months = pandas.date_range("2004-01-01", periods=240, freq="MS").strftime("%Y-%m-%d")
    lines = [f"{'A' if i < 120 else 'B'},{month},{i}" for i, month in enumerate(months)]
    (tmp_path / "t.csv").write_text("unique_id,ds,y\n" + "\n".join(lines) + "\n")
    assert show(tmp_path / "t.csv")["modes"][0]["labels"] == ["A", "B"]
    (tmp_path / "d.csv").write_text("date,depth,y\n" + "".join(f"2024-01-{d:02d},{k},1.5\n" for d in range(1, 9) for k in (5, 9)))
    assert fails(65, arguments=["data", "show", tmp_path / "d.csv"]).endswith(
        "d.csv: dates repeat, and the column 'depth' could name the series: data.id = depth reads a long table, data.id = none one series")
    rows = "".join(f"2024-01-{d:02d},{a},{b},1.5\n" for d in range(1, 9) for a in ("east", "west") for b in ("tea", "rye"))
    (tmp_path / "e.csv").write_text("date,region,good,y\n" + rows)
    assert fails(65, arguments=["data", "show", tmp_path / "e.csv"]).endswith('data.id = ["region", "good"] reads a long table, data.id = none one series')


def test_words_of_the_row_are_not_ids(tmp_path):
    lines = [f"2024-03-{31 - i:02d},{wave(i)},{'sunny' if i % 3 else 'rain'},{-i / 100:.2f}%" for i in range(30)]
    (tmp_path / "t.csv").write_text("date,y,sky,change\n" + "\n".join(lines) + "\n")
    assert [mode["labels"] for mode in show(tmp_path / "t.csv")["modes"]] == [["y", "change"]]


def test_numbered_columns_need_an_orientation(tmp_path):
    (tmp_path / "m4.csv").write_text('"V1","V2","V3","V4","V5","V6","V7","V8"\nY1,1,2,3,4,5,6,7\nY2,1,2,3,4,5,,\nY3,2,2,3,4,5,9,\n')
    assert fails(65, arguments=["data", "show", tmp_path / "m4.csv"]).endswith(
        "m4.csv: each row has another text in column 'V1' and the values of 'V2' to 'V8': data.orient = rows if the rows are the series, "
        "data.orient = columns if the columns are the variables")
    shown = show(tmp_path / "m4.csv", "--set", "data.orient=rows")
    assert (shown["rows"], shown["missing_cells"], shown["modes"]) == (7, 3, [{"name": "V1", "ordered": False, "labels": ["Y1", "Y2", "Y3"]}])
    assert "2 series end before the last column and are read as ending with the others" in shown["notes"]
    assert show(tmp_path / "m4.csv", "--set", "data.orient=columns")["rows"] == 3


def test_months_in_columns_are_one_series(tmp_path):
    """Against pandas.melt of the same table; the last year ends in April."""
    months = pandas.date_range("2001-01-01", periods=12, freq="MS").strftime("%b").tolist()
    table = pandas.DataFrame([[2001 + y, *(wave(12 * y + m) if y < 9 or m < 4 else None for m in range(12)), 0.5] for y in range(10)],
                             columns=["Year", *months, "mean"])  # fmt: skip
    table.to_csv(tmp_path / "wide.csv", index=False)
    long = table.melt("Year", months, "month", "value").dropna()
    long["date"] = pandas.to_datetime(long["Year"].astype(str) + long["month"], format="%Y%b")
    long.sort_values("date")[["date", "value"]].to_csv(tmp_path / "long.csv", index=False)
    wide = predicted(tmp_path / "wide.csv", tmp_path / "w", "--set", "data.orient=periods")
    melted = predicted(tmp_path / "long.csv", tmp_path / "l")
    assert [row["Year"] for row in wide] == [f"2010-{month:02d}" for month in range(5, 11)]
    assert [row["value"] for row in wide] == [row["value"] for row in melted]


def test_dates_in_the_header_are_forecast(tmp_path):
    dates = pandas.date_range("2020-01-22", periods=60)
    head = ",".join(f"{date.month}/{date.day}/{date.year % 100}" for date in dates)
    (tmp_path / "t.csv").write_text(f"Province,Country,Lat,{head}\n" + "".join(
        f"{p},{c},{k}.5,{','.join(str(wave(i, k)) for i in range(60))}\n" for k, (p, c) in enumerate([("", "Chad"), ("Hubei", "China"), ("Jilin", "China")])))
    assert show(tmp_path / "t.csv")["modes"] == [{"name": "Province/Country", "ordered": False, "labels": ["Chad", "Hubei/China", "Jilin/China"]}]
    rows = predicted(tmp_path / "t.csv", tmp_path)
    assert rows[0]["date"] == "3/22/20" and "Hubei/China_q0.9" in rows[0]
    (tmp_path / "years.csv").write_text("Country Name,1960,1961,1962,1963,\nAruba,1,2,3,4,\nBenin,,2,3,4,\n")
    shown = show(tmp_path / "years.csv")
    assert (shown["rows"], shown["missing_cells"], shown["frequency"]) == (4, 1, "1 year")


def test_a_series_that_begins_late_is_not_forecast(tmp_path):
    months = pandas.date_range("2004-01-01", periods=240, freq="MS").strftime("%Y-%m-%d")
    lines = [f"A,{month},{wave(i)}" for i, month in enumerate(months)] + [f"B,{month},{25 + wave(i)}" for i, month in enumerate(months) if i >= 204]
    (tmp_path / "t.csv").write_text("unique_id,ds,y\n" + "\n".join(lines) + "\n")
    trained = ok("train", "forecast", "--data", tmp_path / "t.csv", "--out", tmp_path / "run", *QUICK, "--set", "data.panel=no")
    assert "'B' begins after the training rows and is not forecast" in trained.stderr
    result = ok("predict", tmp_path / "run", "--out", tmp_path / "out.csv")
    assert "'B' begins after the training rows and is not forecast" in result.stderr
    assert {row["unique_id"] for row in csv.DictReader((tmp_path / "out.csv").open())} == {"A"}
    wide = pandas.DataFrame({"ds": months, "A": [wave(i) for i in range(240)], "B": [None] * 204 + [25 + wave(i) for i in range(36)]})
    wide.to_csv(tmp_path / "wide.csv", index=False)
    ok("train", "forecast", "--data", tmp_path / "wide.csv", "--out", tmp_path / "run2", *QUICK)
    ok("predict", tmp_path / "run2", "--out", tmp_path / "out2.csv")
    assert {row["B"] for row in csv.DictReader((tmp_path / "out2.csv").open())} == {""}


def test_index_columns_are_left_out(tmp_path):
    for name, numbers in (("", [3, 4, 9, 12, 20, 21]), ("Unnamed: 0", [5, 4, 3, 2, 1, 0]), ("Unnamed: 0", [2, 0, 1, 3, 5, 4])):
        (tmp_path / "t.csv").write_text(f"{name},value\n" + "".join(f"{n},{i}.5\n" for i, n in enumerate(numbers)))
        assert show(tmp_path / "t.csv")["modes"][0]["labels"] == ["value"]
