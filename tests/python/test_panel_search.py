"""Searches, ensembles, ridge regression, backtests and explanations on panels. Oracles: formulas in numpy."""
import json
import signal
import subprocess
import time

import numpy as np
import pytest

from cli_helpers import PROGRAM, fails, ok
from test_panels import H, made, mase, metrics, panel, predictions, seasonal_naive, train

SEARCH = ["--set", "output.report=false", "--set", "data.panel=yes", "--horizon", H, "--jobs", 1, "--threads", 1]


def ensemble(table, out, *runs):
    return ok("train", "forecast", table, "--model", "ensemble", "--out", out, "--set", "output.report=false",
              "--set", "model.ensemble.runs=" + ",".join(map(str, runs)), "--threads", 1)


def scaled(y, rows):
    return (y - y[:rows].mean()) / y[:rows].std(), y[:rows].mean(), y[:rows].std()


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """A table with the runs of two local and one global model."""
    folder = tmp_path_factory.mktemp("members")
    series = made(seed=5, count=20)
    table = panel(folder / "p.csv", series)
    for model in ("seasonal", "theta", "ridge"):
        train(table, folder / model, "--model", model)
    return folder, table, series


def test_ridge_is_one_regression_over_the_windows_of_all_series(tmp_path):
    series = made(seed=3, count=9)
    lookback, penalty = 8, 0.01
    train(panel(tmp_path / "p.csv", series), tmp_path / "run", "--model", "ridge", "--lookback", lookback, "--set", f"model.ridge.penalty={penalty}")
    x, y = [], []
    for _, values in series.values():
        rows = len(values) - 2 * H
        z = scaled(values, rows)[0]
        for start in range(rows - lookback - H + 1):
            window = z[start:start + lookback + H] - z[start + lookback - 1]
            x.append(window[:lookback])
            y.append(window[lookback:])
    x, y = np.array(x), np.array(y)
    alpha = penalty * np.mean((x ** 2).sum(0))
    centred = x - x.mean(0)
    weight = np.linalg.solve(centred.T @ centred + alpha * np.eye(lookback), centred.T @ (y - y.mean(0)))
    bias = y.mean(0) - x.mean(0) @ weight
    test, truths = metrics(tmp_path / "run")["test"], []
    table = predictions(tmp_path / "run")
    for name, (_, values) in series.items():
        def forecast(history, mean, std):
            past = (history[-lookback:] - mean) / std
            return ((past - past[-1]) @ weight + bias + past[-1]) * std + mean
        rows = len(values) - 2 * H
        truths.append(mase(values[:-H], values[-H:], forecast(values[:-H], *scaled(values, rows)[1:]), 12))
        expected = forecast(values, values.mean(), values.std())
        assert table.y[table.unique_id == name].to_numpy() == pytest.approx(expected, rel=1e-4)
    assert test["mase"] == pytest.approx(np.mean(truths), rel=1e-4)


def test_an_ensemble_mixes_local_and_global_models_by_validation_mase(members, tmp_path):
    folder, table, series = members
    ensemble(table, tmp_path / "e", *(folder / name for name in ("seasonal", "theta", "ridge")))
    result = metrics(tmp_path / "e")
    weights = {one["run"].rsplit("/", 1)[-1]: one["weight"] for one in result["members"]}
    assert sum(weights.values()) == pytest.approx(1)
    alone = {name: metrics(folder / name)["best"]["val_mase"] for name in ("seasonal", "theta", "ridge")}
    assert result["best"]["val_mase"] <= min(alone.values()) + 1e-9
    each = {name: predictions(folder / name).y.to_numpy() for name in weights}
    mixed = sum(weight * each[name] for name, weight in weights.items())
    assert predictions(tmp_path / "e").y.to_numpy() == pytest.approx(mixed, rel=1e-4)
    assert 0 < result["test"]["intervals"][-1]["coverage"] <= 1
    assert ok("evaluate", tmp_path / "e", "--json")


def test_weights_lower_the_validation_mase_of_each_member_alone(tmp_path):
    """Two members that err in opposite directions: their mean has a MASE near 0, and neither alone has."""
    # The first value breaks the season, whose exact repetition would leave the MASE undefined.
    up = {f"{i}": ("2000-01-01", np.r_[0.25, np.arange(1.0, 40.0) % 2, np.full(2 * H, 0.5)] + i) for i in range(10)}
    table = panel(tmp_path / "p.csv", up)
    train(table, tmp_path / "a", "--model", "seasonal", "--set", "model.period=2")
    train(table, tmp_path / "b", "--model", "repeat")
    ensemble(table, tmp_path / "e", tmp_path / "a", tmp_path / "b")
    best = metrics(tmp_path / "e")["best"]["val_mase"]
    assert best <= min(metrics(tmp_path / name)["best"]["val_mase"] for name in "ab")


def test_members_of_other_rows_are_refused(members, tmp_path):
    folder, _, series = members
    other = panel(tmp_path / "other.csv", made(seed=6, count=20))
    command = ["train", "forecast", other, "--model", "ensemble", "--out", tmp_path / "e", "--set"]
    fails(65, "was trained on other rows", arguments=[*command, f"model.ensemble.runs={folder / 'seasonal'},{folder / 'theta'}"])


def test_runs_on_a_panel_and_on_one_tensor_do_not_mix(members, tmp_path):
    folder, _, _ = members
    shared = panel(tmp_path / "s.csv", {name: ("2000-01-01", np.arange(90.0) + i) for i, name in enumerate("ab")})
    ok("train", "forecast", shared, "--model", "repeat", "--horizon", H, "--out", tmp_path / "tensor", "--set", "output.report=false")
    for first, second, word in ((folder / "theta", tmp_path / "tensor", "one tensor"), (tmp_path / "tensor", folder / "theta", "a panel")):
        fails(78, f"{second}: the run is on {word}", "data.panel",
              arguments=["train", "forecast", shared, "--model", "ensemble", "--out", tmp_path / "e", "--set", f"model.ensemble.runs={first},{second}"])


def test_auto_searches_models_of_a_panel_and_resumes(tmp_path):
    series = made(seed=2, count=16)
    table = panel(tmp_path / "p.csv", series)
    run = tmp_path / "auto"
    result = json.loads(ok("train", "forecast", table, "--model", "auto", "--budget", "10m", "--out", run, *SEARCH, "--json").stdout)
    names = {one["name"] for one in result["leaderboard"]}
    assert {"theta", "optimised-theta", "dynamic-theta", "ets", "ridge", "ridge-mean", "seasonal", "drift", "ensemble"} <= names
    values = [one["/best/val_mase"] for one in result["leaderboard"] if one["/best/val_mase"] is not None]
    assert values == sorted(values)
    validation = [mase(y[:-2 * H], y[-2 * H:-H], seasonal_naive(y[:-2 * H], 12, H), 12) for _, y in series.values()]
    seasonal = next(one for one in result["leaderboard"] if one["name"] == "seasonal")
    assert seasonal["/best/val_mase"] == pytest.approx(np.mean(validation), rel=1e-6)
    assert values[0] <= seasonal["/best/val_mase"]
    assert metrics(run)["best"]["val_mase"] == values[0] and result["test"]["split"] == "test"
    assert predictions(run).unique_id.nunique() == 16


def test_an_interrupted_search_resumes_and_refits(tmp_path):
    series = made(seed=2, count=8)
    run = tmp_path / "auto"
    command = ["train", "forecast", panel(tmp_path / "p.csv", series), "--model", "auto", "--budget", "20s", "--refit", "--out", run, *SEARCH]
    child = subprocess.Popen([PROGRAM, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and not list((run / "auto" / "baselines" / "runs").glob("*/metrics.json")):
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=120) == 130 and not (run / "config.toml").exists()
    result = json.loads(ok("train", "--resume", run, "--json").stdout)
    assert result["refit"] and result["test"]["windows"] == len(series)
    # The refit has no test windows, and its validation windows are the last rows.
    after = metrics(run)
    assert after["validation"]["windows"] == len(series) and after["validation"]["mase"] != result["test"]["mase"]
    fails(65, "data.test_windows = 0", arguments=["evaluate", run])
    assert predictions(run).unique_id.nunique() == len(series)


def test_a_panel_whose_seasons_repeat_exactly_is_searched_by_mae(tmp_path):
    """Its MASE is undefined in every validation window."""
    rng = np.random.default_rng(7)
    series = {f"{i}": ("2000-01-01", np.r_[np.tile(np.arange(12.0), 7)[:84 - 2 * H], rng.normal(6, 3, size=2 * H)]) for i in range(6)}
    run = tmp_path / "auto"
    said = ok("train", "forecast", panel(tmp_path / "p.csv", series), "--model", "auto", "--budget", "40s", "--out", run, *SEARCH, "--json")
    assert "candidates are ranked by MAE" in said.stderr
    board = json.loads(said.stdout)["leaderboard"]
    errors = [one["/best/val_mae"] for one in board if one["/best/val_mae"] is not None]
    assert len(errors) > 5 and errors == sorted(errors)
    assert metrics(run)["best"]["val_mae"] == errors[0] and metrics(run)["best"]["val_mase"] is None


def test_refit_uses_the_last_rows(tmp_path):
    table = panel(tmp_path / "p.csv", made(seed=2, count=8))
    train(table, tmp_path / "run", "--model", "ridge", "--set", "data.test_windows=0", "--no-test")
    train(table, tmp_path / "before", "--model", "ridge", "--no-test")
    windows = [metrics(tmp_path / name)["validation"] for name in ("run", "before")]
    assert windows[0]["windows"] == windows[1]["windows"] == 8
    assert windows[0]["mase"] != windows[1]["mase"]
    fails(65, "data.test_windows = 0", arguments=["evaluate", tmp_path / "run"])


def test_backtest_of_several_windows(tmp_path):
    series = {name: one for name, one in made(seed=4, count=10).items() if len(one[1]) > 6 * H}
    table = panel(tmp_path / "p.csv", series)
    train(table, tmp_path / "run", "--model", "theta")
    result = json.loads(ok("backtest", tmp_path / "run", "--windows", 3, "--json").stdout)
    assert [one["rows"] for one in result["origins"]] == [3 * H, 2 * H, H]
    assert result["origins"][-1]["mase"] == pytest.approx(metrics(tmp_path / "run")["test"]["mase"], rel=1e-9)
    for one in result["origins"]:
        expected = []
        for _, y in series.values():
            origin = len(y) - one["rows"]
            expected.append(mase(y[:origin], y[origin:origin + H], seasonal_naive(y[:origin], 12, H), 12))
        assert one["seasonal_mase"] == pytest.approx(np.mean(expected), rel=1e-6) and one["windows"] == len(series)
    assert result["mase"] == pytest.approx(np.mean([one["mase"] for one in result["origins"]]), rel=1e-9)
    assert "of seasonal naive" in ok("backtest", tmp_path / "run").stdout
    train(table, tmp_path / "global", "--model", "ridge")
    fails(2, "was trained on", "data.split_windows = 3", arguments=["backtest", tmp_path / "global", "--windows", 3])


def test_explain_shows_what_a_global_model_reads(members, tmp_path):
    folder, table, _ = members
    result = json.loads(ok("explain", folder / "ridge", "--out", tmp_path / "e", "--json").stdout)
    assert "time" in json.dumps(result) and (tmp_path / "e" / "explain.html").exists()
    fails(2, "whole history", "global model", arguments=["explain", folder / "theta", "--out", tmp_path / "t"])


def test_compare_shows_mase(members):
    folder, _, _ = members
    text = ok("compare", folder / "seasonal", folder / "theta").stdout
    assert "MASE" in text and f"{metrics(folder / 'theta')['test']['mase']:.4f}" in text


@pytest.mark.parametrize("setting", ["data.split=ratio", "data.missing_fraction=0.1", "forecast.train_fraction=0.5"])
def test_settings_of_one_tensor_name_the_remedy(setting, tmp_path):
    uneven = {"a": ("2000-01-01", np.arange(60.0)), "b": ("2002-01-01", np.arange(36.0))}
    fails(78, setting.split("=")[0], "data.panel = no",
          arguments=["train", "forecast", panel(tmp_path / "p.csv", uneven), "--horizon", H, "--model", "repeat", "--set", setting, "--out", tmp_path / "run"])
