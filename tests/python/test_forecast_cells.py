"""First rows, dates and largest cells of tables in forecasting, through $MODEWISE_BUILD/bin/modewise."""
import json

import numpy as np
import pytest

from cli_helpers import QUICK, SMALL, fails, hourly, ok


IDS = ("773869", "767541", "767542")
# A model that squares its window, as most do: float32 ends at 3.4e38.
DEEP = SMALL + ["--model", "patchtst", "--set", "model.patch.length=8", "--set", "model.patch.stride=8", "--set", "model.width=8",
                "--set", "model.layers=1", "--set", "model.heads=1", "--set", "train.epochs=1", "--threads", "1"]


def speeds(rows=300, seed=5):
    rng = np.random.default_rng(seed)
    t = np.arange(rows)[:, None]
    return 60 + 5 * np.sin(2 * np.pi * (t / 24 + np.arange(3))) + rng.normal(size=(rows, 3))


def write_plain(path, values, header=()):
    lines = [",".join(header)] if header else []
    path.write_text("\n".join(lines + [",".join(f"{v:.6g}" for v in row) for row in values]) + "\n")
    return path


def write_dated(path, values, names=("a", "b", "c")):
    rows = [f"{date}," + ",".join(f"{v:.6g}" for v in row) for date, row in zip(hourly(len(values)), values)]
    path.write_text("\n".join([",".join(("date", *names)), *rows]) + "\n")
    return path


def write_npy(path, values):
    np.save(path, values)
    return path


def write_npz(path, values):
    np.savez(path, x=values)
    return path


@pytest.fixture(scope="module")
def deep_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deep")
    ok("train", "forecast", "--data", write_dated(folder / "d.csv", speeds()), "--out", folder / "run", *DEEP)
    return folder / "run"


# The header

def test_sensor_ids_are_names_in_every_command(tmp_path):
    path, run = write_plain(tmp_path / "speeds.csv", speeds(), IDS), tmp_path / "run"
    shown = ok("data", "show", path, "--json")
    assert [v["name"] for v in json.loads(shown.stdout)["variables"]] == list(IDS)
    said = f"{path}: the first row (773869, 767541, 767542) is read as column names"
    assert said in shown.stderr
    assert "data.header=no" in shown.stderr
    trained = ok("train", "forecast", "--data", path, "--out", run, *QUICK)
    assert said in trained.stderr
    record = json.loads((run / "data.json").read_text())
    assert record["header"] is True
    assert record["modes"][0]["labels"] == list(IDS)
    np.testing.assert_allclose(record["scaler"]["mean"], np.round(speeds(), 4)[:210].mean(0), rtol=1e-5)
    header = ok("predict", run).stdout.splitlines()[0].split(",")
    assert [name for name in header[1:] if "_q" not in name] == list(IDS)
    ok("backtest", run)
    ok("evaluate", run)
    # Two rows of another file prove nothing by themselves; the run knows.
    continued = write_plain(tmp_path / "next.csv", np.round(speeds(40)), IDS)
    assert ok("predict", run, "--data", continued, "--steps", "1").stdout.splitlines()[0].split(",") == header


def test_the_header_may_be_said(tmp_path):
    path = write_plain(tmp_path / "counts.csv", np.round(speeds()), ("60", "61", "62"))
    auto = ok("data", "show", path, "--json")
    assert json.loads(auto.stdout)["rows"] == 301
    assert "the first row (60, 61, 62) is read as values: data.header=yes reads it as column names" in auto.stderr
    yes = ok("data", "show", path, "--set", "data.header=yes", "--json")
    assert json.loads(yes.stdout)["rows"] == 300
    assert "first row" not in yes.stderr
    run = tmp_path / "run"
    ok("train", "forecast", "--data", path, "--out", run, "--set", "data.header=yes", *QUICK)
    assert "header = 'yes'" in (run / "config.toml").read_text()
    assert ok("predict", run, "--steps", "1").stdout.startswith("row,60,")
    fails(2, "data.header", arguments=["data", "show", path, "--set", "data.header=maybe"])
    assert "whether the first row of a CSV file is a header" in ok("config", "show", "--help-text").stdout


# Dates

@pytest.mark.parametrize("form", ["{d:02}.{m:02}.{y}", "{d:02}-{m:02}-{y}", "{d:02}/{m:02}/{y}", "{d}.{m}.{y} {h:02}:00"])
def test_day_first_dates_of_every_separator(tmp_path, form):
    step = np.timedelta64(1, "h" if "{h" in form else "D")
    stamps = np.datetime64("2020-01-01T00") + step * np.arange(320)
    texts = [form.format(d=s.day, m=s.month, y=s.year, h=s.hour) for s in stamps.astype(object)]
    path = tmp_path / "d.csv"
    path.write_text("date,a\n" + "".join(f"{text},{np.sin(i):.4f}\n" for i, text in enumerate(texts[:312])))
    shown = ok("data", "show", path, "--json")
    document = json.loads(shown.stdout)
    assert (document["first"], document["last"], document["missing_cells"]) == (texts[0], texts[311], 0)
    assert "exchanged" not in shown.stderr
    ok("train", "forecast", "--data", path, "--out", tmp_path / "run", *QUICK)
    rows = ok("predict", tmp_path / "run").stdout.splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == texts[312:]


def test_dates_that_stay_open_are_said(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("date,a\n" + "".join(f"{day:02}.01.2020,{day}\n" for day in range(1, 13)))
    shown = ok("data", "show", path)
    assert "dates are read as day.month.year; day and month are ambiguous" in shown.stderr
    assert "from 01.01.2020 to 12.01.2020, every " in shown.stdout


# Large cells

WRITERS = [(write_dated, "csv", "{path}:{line}: column 'b'"), (write_npy, "npy", "{path}: element [{row}, 1]"),
           (write_npz, "npz", "{path}[x]: element [{row}, 1]"), (write_plain, "txt", "{path}:{row1}: cell 2")]


@pytest.mark.parametrize("write,ending,place", WRITERS)
def test_a_fill_value_is_said_and_may_be_named(tmp_path, write, ending, place):
    values = speeds()
    values[[100, 290], 1] = 1e20
    path = write(tmp_path / f"d.{ending}", values)
    where = place.format(path=path, line=102, row=100, row1=101)
    said = f"2 cells hold 1e+20, which usually stands for a missing value, the first at {where}: data.missing_values=1e+20"
    assert said in ok("data", "show", path).stderr
    named = ok("train", "forecast", "--data", path, "--out", tmp_path / "run", "--set", "data.missing_values=1e20", *QUICK)
    assert "usually stands" not in named.stderr
    assert "2 cells of 1e+20 treated as missing" in named.stderr
    document = json.loads(ok("evaluate", tmp_path / "run", "--json").stdout)
    assert document["scaled"]["mse"] < 10
    assert "nan" not in ok("predict", tmp_path / "run").stdout


@pytest.mark.parametrize("write,ending,place", WRITERS)
def test_a_cell_beyond_float32_is_refused_with_its_place(tmp_path, write, ending, place):
    values = speeds()
    values[290, 1] = 3e39
    path = write(tmp_path / f"d.{ending}", values)
    where = place.format(path=path, line=292, row=290, row1=291)
    fails(65, f"{where}: 3e+39 is ", "more than 32-bit floats can hold", "data.missing_values",
          arguments=["train", "forecast", "--data", path, "--out", tmp_path / "run", *QUICK])
    values[290, 1], values[20, 1] = 60, 1e200
    path = write(tmp_path / f"e.{ending}", values)
    where = place.format(path=path, line=22, row=20, row1=21)
    fails(65, f"{where}: 1e+200 is so large that the variance of", "overflows",
          arguments=["train", "forecast", "--data", path, "--out", tmp_path / "run", *QUICK])


def test_no_command_ends_well_with_forecasts_that_are_no_numbers(tmp_path, deep_run):
    values = speeds()
    values[298, 1] = 1e20
    path = write_dated(tmp_path / "late.csv", values)
    cause = f"{path}:300: column 'b': 1e+20 is "
    # The lookback of 24 rows ends at row 300; the forecast begins with the hour after it.
    first = hourly(301)[300]
    fails(65, f"{path}: the forecast of 'b' for {first} is ", "which is not finite", cause, "data.missing_values",
          arguments=["predict", deep_run, "--data", path])
    values[298, 1], values[270, 1] = 60, 1e20
    path = write_dated(tmp_path / "test.csv", values)
    cause = f"{path}:272: column 'b': 1e+20 is "
    for command in (["evaluate", deep_run, "--data", path], ["backtest", deep_run, "--data", path, "--stride", "1"],
                    ["train", "forecast", "--data", path, "--out", tmp_path / "run", *DEEP]):
        # The first window whose lookback holds row 270 is the one whose forecast begins with row 271.
        fails(65, f"{path}: the forecast of 'b' for {hourly(272)[271]} is ", cause, arguments=command)


def test_validation_rows_too(tmp_path):
    values = speeds()
    values[225, 1] = 1e20
    path = write_dated(tmp_path / "d.csv", values)
    fails(65, f"{path}: the forecast of 'b' for {hourly(227)[226]} is ", f"{path}:227: column 'b'",
          arguments=["train", "forecast", "--data", path, "--out", tmp_path / "run", *DEEP])


def test_forecasts_in_large_units_are_written_as_they_are(tmp_path):
    path = write_plain(tmp_path / "d.csv", speeds() * 1e39)
    ok("train", "forecast", "--data", path, "--out", tmp_path / "run", *QUICK)
    rows = np.array([row.split(",")[1:] for row in ok("predict", tmp_path / "run").stdout.splitlines()[1:]], float)
    assert np.isfinite(rows).all()
    assert (rows > 40e39).all() and (rows < 80e39).all()
