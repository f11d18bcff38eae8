"""Errors of naive forecasts beside those of a trained model."""

import json

import numpy as np
import pandas as pd
import pytest

from cli_helpers import ok

LOOKBACK, HORIZON, SEASON, ROWS = 52, 30, 24, 400
OPTIONS = ["--lookback", LOOKBACK, "--horizon", HORIZON, "--set", "output.report=false", "--threads", 1]


def hours(missing=0.0):
    """Two variables with a day of 24 hours; the second has another level."""
    random = np.random.default_rng(7)
    rows = np.arange(ROWS)
    values = np.stack([np.sin(rows / 24 * 2 * np.pi), 5 + 3 * np.cos(rows / 24 * 2 * np.pi)], 1)
    frame = pd.DataFrame(values + 0.3 * random.standard_normal(values.shape), columns=["a", "b"])
    frame = frame.mask(random.random(frame.shape) < missing)
    frame.insert(0, "date", pd.date_range("2024-01-01", periods=ROWS, freq="h"))
    return frame


def expected(frame, season):
    """MSE and MAE of the last value of the same hour (season 1: of any hour) by pandas, over all test windows."""
    values = frame.drop(columns="date")
    train = values[: int(ROWS * 0.7)]
    scaled = (values - train.mean()) / train.std(ddof=0)
    begin = ROWS - int(ROWS * 0.2)
    errors = []
    for origin in range(begin, ROWS - HORIZON + 1):
        window = scaled[origin - LOOKBACK : origin]
        newest = window.ffill().iloc[-1]
        for step in range(HORIZON):
            same = window[(origin + step - window.index) % season == 0].ffill()
            forecast = same.iloc[-1].fillna(newest)
            errors.append(scaled.loc[origin + step] - forecast)
    errors = pd.DataFrame(errors).to_numpy()
    return np.nanmean(errors**2), np.nanmean(np.abs(errors)), np.isfinite(errors).sum()


def results(run):
    return json.loads((run / "metrics.json").read_text())["test"]


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_naive_errors_equal_those_of_pandas(tmp_path, missing):
    frame = hours(missing)
    frame.to_csv(tmp_path / "d.csv", index=False)
    printed = ok("train", "forecast", tmp_path / "d.csv", "--model", "dlinear", "--epochs", 1, "--out", tmp_path / "run", *OPTIONS)
    naive = results(tmp_path / "run")["naive"]
    assert [(row["name"], row["season"]) for row in naive] == [("repeat", 1), ("seasonal", SEASON)]
    for row in naive:
        mse, mae, count = expected(frame, row["season"])
        assert row["scaled"]["count"] == count
        np.testing.assert_allclose([row["scaled"]["mse"], row["scaled"]["mae"]], [mse, mae], rtol=2e-6)
        name = "repeat, scaled" if row["season"] == 1 else "seasonal (24), scaled"
        assert f"{mse:.4f}" in next(line for line in printed.stdout.splitlines() if line.startswith(name))


@pytest.mark.parametrize("name", ["repeat", "seasonal"])
def test_naive_errors_equal_those_of_the_model_of_that_name(tmp_path, name):
    hours(0.2).to_csv(tmp_path / "d.csv", index=False)
    ok("train", "forecast", tmp_path / "d.csv", "--model", name, "--out", tmp_path / "run", *OPTIONS)
    test = results(tmp_path / "run")
    row = next(row for row in test["naive"] if row["name"] == name)
    assert row["scaled"] == test["scaled"]
    assert row["units"] == test["units"]


def test_without_a_season_only_the_last_value_is_repeated(tmp_path):
    frame = hours()
    frame.drop(columns="date").to_csv(tmp_path / "rows.csv", index=False)
    ok("train", "forecast", tmp_path / "rows.csv", "--model", "dlinear", "--epochs", 1, "--out", tmp_path / "rows", *OPTIONS)
    assert [row["name"] for row in results(tmp_path / "rows")["naive"]] == ["repeat"]
    frame.to_csv(tmp_path / "d.csv", index=False)
    short = ["--lookback", SEASON - 1, *OPTIONS[2:]]
    ok("train", "forecast", tmp_path / "d.csv", "--model", "dlinear", "--epochs", 1, "--out", tmp_path / "short", *short)
    assert [row["name"] for row in results(tmp_path / "short")["naive"]] == ["repeat"]


def test_a_model_with_higher_errors_than_a_naive_forecast_is_a_warning(tmp_path):
    hours().to_csv(tmp_path / "d.csv", index=False)
    worse = ok("train", "forecast", tmp_path / "d.csv", "--model", "repeat", "--out", tmp_path / "worse", *OPTIONS)
    assert "repeating the last 24 rows has lower test errors (MSE " in worse.stderr
    assert "): --model auto may help" in worse.stderr and "longer training" not in worse.stderr
    ok("train", "forecast", tmp_path / "d.csv", "--model", "repeat", "--no-test", "--out", tmp_path / "kept", *OPTIONS)
    assert "has lower validation errors" in (tmp_path / "kept" / "log.txt").read_text()
    better = ok("train", "forecast", tmp_path / "d.csv", "--model", "seasonal", "--out", tmp_path / "better", *OPTIONS)
    assert "has lower" not in better.stderr


def test_of_several_horizons_the_longest_is_compared(tmp_path):
    hours().to_csv(tmp_path / "d.csv", index=False)
    printed = ok("train", "forecast", tmp_path / "d.csv", "--model", "dlinear", "--epochs", 1, "--out", tmp_path / "run", *OPTIONS, "--set", "forecast.horizons=[8,30]").stdout
    names = [line.split("  ")[0] for line in printed.splitlines()]
    assert "scaled, horizon 8" in names and "repeat, scaled, horizon 30" in names and "seasonal (24), scaled, horizon 30" in names
    mse, mae, _ = expected(hours(), 1)
    row = results(tmp_path / "run")["naive"][0]["scaled"]
    np.testing.assert_allclose([row["mse"], row["mae"]], [mse, mae], rtol=2e-6)
