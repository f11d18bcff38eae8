"""The first command on a small table: horizon, lookback and epochs come from the data."""

import csv
import json
import math
import random

import pytest
from cli_helpers import ok


def write_months(path, rows=144):
    """A trend, a season and a little noise, as the monthly airline passengers have them."""
    draw = random.Random(3)
    lines = ["month,passengers"]
    for i in range(rows):
        value = (100 + 2.5 * i) * (1 + 0.2 * math.sin(2 * math.pi * (i % 12) / 12)) + draw.gauss(0, 5)
        lines.append(f"{1949 + i // 12}-{i % 12 + 1:02d}-01,{value:.1f}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_144_months_are_forecast_a_year_ahead(tmp_path):
    data = write_months(tmp_path / "months.csv")
    said = ok("train", "forecast", "--data", data, "--out", tmp_path / "run", "--set", "output.report=false").stderr
    assert "chosen for 144 rows, one every 1 month: forecast.horizon = 12, forecast.lookback = 36, train.epochs = 300" in said
    config = (tmp_path / "run" / "config.toml").read_text()
    assert "horizon = 12" in config and "lookback = 36" in config and "epochs = 300" in config and "patience = 30" in config
    ok("predict", tmp_path / "run", "--out", tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert [next(iter(row.values())) for row in rows] == [f"1961-{m:02d}-01" for m in range(1, 13)]
    # Half the error of the same months a year earlier, whose trend it cannot have.
    mse = lambda run: json.loads((tmp_path / run / "metrics.json").read_text())["test"]["scaled"]["mse"]
    ok("train", "forecast", "--data", data, "--out", tmp_path / "seasonal", "--model", "seasonal", "--set", "model.period=12",
       "--set", "output.report=false")
    assert mse("run") < mse("seasonal") / 2


def test_thirty_rows_without_dates(tmp_path):
    path = tmp_path / "short.csv"
    path.write_text("a,b\n" + "".join(f"{i},{math.sin(i):.4f}\n" for i in range(30)))
    said = ok("train", "forecast", "--data", path, "--out", tmp_path / "run", "--set", "output.report=false").stderr
    assert "chosen for 30 rows: forecast.horizon = 2, forecast.lookback = 8, model.patch.length = 8, .stride = 4" in said


MODELS = ["repeat", "seasonal", "seasonal-drift", "ridge", "theta", "ets", "dlinear", "rlinear", "nlinear", "patchtst", "itransformer", "tide", "hot"]


@pytest.mark.parametrize("model", MODELS)
def test_thirty_rows_are_enough_for_each_model(tmp_path, model):
    path = write_months(tmp_path / "short.csv", rows=30)
    ok("train", "forecast", "--data", path, "--model", model, "--out", tmp_path / "run", "--set", "train.max_steps=3", "--set", "output.report=false")
    assert math.isfinite(json.loads((tmp_path / "run" / "metrics.json").read_text())["test"]["scaled"]["mse"])


def test_what_is_given_stays(tmp_path):
    data = write_months(tmp_path / "months.csv")
    said = ok("train", "forecast", "--data", data, "--out", tmp_path / "run", "--set", "forecast.horizon=6", "--set", "forecast.lookback=24",
              "--set", "train.epochs=1", "--set", "output.report=false").stderr
    assert "chosen" not in said and "horizon = 6" in (tmp_path / "run" / "config.toml").read_text()


def test_a_patience_that_is_given_stays(tmp_path):
    data = write_months(tmp_path / "months.csv")
    for options, patience in (["--patience", "3"], 3), ([], 30):
        said = ok("train", "forecast", data, "--out", tmp_path / str(patience), "--max-steps", "1", "--set", "output.report=false", *options).stderr
        assert f"\npatience = {patience}\n" in (tmp_path / str(patience) / "config.toml").read_text()
        assert ("train.patience = 30" in said) == (patience == 30)
