"""Series that end before the table does: empty rows at the end, and series without a value in what a forecast reads."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from cli_helpers import fails, hourly, ok

SIZES = ["--set", "forecast.lookback=24", "--set", "forecast.horizon=6", "--set", "output.report=false", "--threads", "1"]
H = 6


def table(path, rows, columns, empty=0):
    """Hourly values of `columns`; the `empty` rows after them have none."""
    rng, t = np.random.default_rng(4), np.arange(rows)
    values = {name: 50 + 10 * np.sin(2 * np.pi * t / 24 + i) + rng.normal(size=rows) for i, name in enumerate(columns)}
    frame = pd.DataFrame({"date": hourly(rows + empty), **{name: np.append(v.round(3), [np.nan] * empty) for name, v in values.items()}})
    frame["price"] = np.arange(rows + empty) % 5
    frame.to_csv(path, index=False)
    return path


def train(data, out, *more):
    return ok("train", "forecast", data, "--out", out, *SIZES, *more)


def predicted(run, *more):
    result = ok("predict", run, *more)
    return list(csv.DictReader(io.StringIO(result.stdout))), result.stderr


@pytest.mark.parametrize("columns", [["y"], ["y", "z"]])
def test_empty_rows_at_the_end_are_left_out(tmp_path, columns):
    data, whole = table(tmp_path / "d.csv", 300, columns, empty=20), table(tmp_path / "whole.csv", 300, columns)
    chosen = ["--model", "repeat", "--set", f"data.columns={','.join(columns)}"]
    log = train(data, tmp_path / "run", *chosen).stderr
    assert f"d.csv: 20 rows after the last row with a value to forecast ({hourly(300)[-1]}) are left out" in log
    train(whole, tmp_path / "of_whole", *chosen)
    said, wanted = (json.loads((tmp_path / run / "data.json").read_text()) for run in ("run", "of_whole"))
    assert said["rows"] == 300 and said["hash"] == wanted["hash"] and not said["missing"]
    rows, log = predicted(tmp_path / "run")
    assert [row["date"] for row in rows] == hourly(306)[300:] and "20 rows after the last row" in log
    assert rows == predicted(tmp_path / "of_whole")[0]
    assert ok("evaluate", tmp_path / "run", "--json").stdout == ok("evaluate", tmp_path / "of_whole", "--json").stdout
    assert predicted(tmp_path / "of_whole", "--data", data)[0] == rows
    shown = json.loads(ok("data", "show", data, "--set", f"data.columns={','.join(columns)}", "--json").stdout)
    assert shown["rows"] == 300 and any("20 rows after" in note for note in shown["notes"])


def test_rows_with_and_without_future_covariates_are_the_same(tmp_path):
    data = table(tmp_path / "d.csv", 300, ["y"], empty=H)
    splits = []
    for setting in ("data.future_covariates=price", "data.columns=y"):
        shown = json.loads(ok("data", "show", data, "--set", setting, "--json").stdout)
        splits.append(shown["splits"])
    assert splits[0] == splits[1]


def test_a_run_of_the_empty_rows_says_that_its_data_have_changed(tmp_path):
    data = table(tmp_path / "d.csv", 300, ["y"], empty=20)
    train(data, tmp_path / "run", "--model", "repeat", "--set", "data.columns=y")
    for name in ("data.json", "manifest.json"):  # as an earlier version wrote them
        path = tmp_path / "run" / name
        kept = json.loads(path.read_text())
        kept.update({"rows": 320, "hash": "0" * 16} if name == "data.json" else {"data_hash": "0" * 16})
        path.write_text(json.dumps(kept))
    fails(65, "has changed since the training", "320 rows then, 300 rows now", arguments=["evaluate", tmp_path / "run"])
    assert "d.csv has changed since the training of" in predicted(tmp_path / "run")[1]


def panel_with_empty_ends(path, empty):
    rng = np.random.default_rng(2)
    lines = ["unique_id,ds,y"]
    for i in range(4):
        days = pd.date_range("2024-01-01", periods=40 + i + (empty if i % 2 else 0)).strftime("%Y-%m-%d")
        lines += [f"s{i},{day},{f'{10 + rng.normal():.3f}' if row < 40 + i else ''}" for row, day in enumerate(days)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_each_series_of_a_panel_ends_at_its_last_value(tmp_path):
    data, whole = panel_with_empty_ends(tmp_path / "p.csv", 7), panel_with_empty_ends(tmp_path / "whole.csv", 0)
    options = ["--horizon", H, "--set", "data.panel=yes", "--model", "repeat", "--set", "output.report=false"]
    log = ok("train", "forecast", data, "--out", tmp_path / "run", *options).stderr
    assert "14 rows after the last value to forecast of 2 of 4 series are left out: 's1', 's3'" in log
    ok("train", "forecast", whole, "--out", tmp_path / "of_whole", *options)
    tests = [json.loads((tmp_path / run / "metrics.json").read_text())["test"] for run in ("run", "of_whole")]
    assert tests[0] == tests[1] and tests[0]["windows"] == 4
    rows, log = predicted(tmp_path / "run")
    assert rows == predicted(tmp_path / "of_whole")[0] and "14 rows after" in log
    assert rows[H]["unique_id"] == "s1" and rows[H]["ds"] == "2024-02-11"


def dead(path, rows, last):
    """Two sensors, the second of which has no value after row `last`."""
    table(path, rows, ["a", "b"])
    frame = pd.read_csv(path).drop(columns="price")
    frame.loc[last + 1:, "b"] = np.nan
    frame.to_csv(path, index=False)
    return path


def test_a_series_without_recent_values_is_named(tmp_path):
    data = dead(tmp_path / "d.csv", 400, 199)
    log = train(data, tmp_path / "run", "--model", "repeat").stderr
    wanted = f"no value in the last 24 rows, which a forecast reads, of 'b' (last value on {hourly(200)[-1]})"
    assert wanted in log
    assert "'b' in " in log and "of 75 windows" in log
    rows, log = predicted(tmp_path / "run")
    assert wanted in log and "'a'" not in log
    assert "'b' in 75 of 75 windows" in ok("evaluate", tmp_path / "run").stderr
    assert "'b' in 13 of 13 windows" in ok("backtest", tmp_path / "run").stderr
    width = [float(rows[0][f"{name}_q0.975"]) - float(rows[0][f"{name}_q0.025"]) for name in ("a", "b")]
    assert width[1] > 0.5 * width[0], "as wide as where it was observed, not as narrow as a constant series"


def test_windows_without_a_value_do_not_calibrate(tmp_path):
    frame = pd.read_csv(table(tmp_path / "d.csv", 400, ["a", "b"])).drop(columns="price")
    frame.loc[281:306, "b"] = np.nan  # a gap longer than the lookback, within the validation rows
    frame.to_csv(tmp_path / "d.csv", index=False)
    log = train(tmp_path / "d.csv", tmp_path / "run", "--model", "repeat").stderr
    assert "validation: " in log and "'b' in 3 of 35 windows" in log
    # Margins of a series with few scores are made from all its scores: those of windows with a value.
    truth, scaler = frame["b"].to_numpy(), json.loads((tmp_path / "run" / "data.json").read_text())["scaler"]
    scaled = (truth - scaler["mean"][1]) / scaler["std"][1]
    scores = []
    for first in range(280 - 24, 320 - 24 - H + 1):
        past, future = scaled[first:first + 24], scaled[first + 24:first + 24 + H]
        if not np.isnan(past).all():
            scores += list(future - past[~np.isnan(past)][-1])
    kept = json.loads((tmp_path / "run" / "metrics.json").read_text())["calibration"]
    assert (kept["exponent"], kept["shared_sides"], kept["nominal"][0]) == (0.0, False, 0.8)
    below = np.sort(-np.array(scores)[~np.isnan(scores)])
    wanted = below[int(np.ceil((len(below) + 1) * 0.9 - 1e-9)) - 1]
    np.testing.assert_allclose(np.load(tmp_path / "run" / "calibration.npz")["lower"][0, 1], wanted, rtol=1e-5)
