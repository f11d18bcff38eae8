"""The classical forecasters from the command line: trained at once, evaluated, predicting beyond the data, in a folder that moves."""

import csv
import json
import shutil

import numpy as np
import pytest
from cli_helpers import fails, ok
from scipy.optimize import minimize

MODELS = ["seasonal-drift", "theta", "optimised-theta", "dynamic-theta", "ets", "ridge"]


def values(rows=144):
    t = np.arange(rows)
    draw = np.random.default_rng(3)
    a = (100 + 2.5 * t) * (1 + 0.2 * np.sin(2 * np.pi * t / 12)) + 5 * draw.normal(size=rows)
    return np.stack([a, np.cumsum(draw.normal(size=rows))], 1).round(3)


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    path = tmp_path_factory.mktemp("months") / "months.csv"
    lines = ["month,passengers,walk"] + [f"{1949 + i // 12}-{i % 12 + 1:02d}-01,{a},{b}" for i, (a, b) in enumerate(values())]
    path.write_text("\n".join(lines) + "\n")
    return path


def train(months, out, name, *more):
    return ok("train", "forecast", "--data", months, "--model", name, "--out", out, *more)


def table(path):
    rows = list(csv.DictReader(path.open()))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0] if name != "month"}


@pytest.mark.parametrize("name", MODELS)
def test_the_whole_way_of_a_run(name, months, tmp_path):
    said = train(months, tmp_path / "run", name).stderr
    period = "" if name == "ridge" else ", model.period = 12"
    assert f"forecast.horizon = 12, forecast.lookback = 36{period}\n" in said
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    shutil.move(tmp_path / "run", tmp_path / "moved")
    assert json.loads(ok("evaluate", tmp_path / "moved", "--json").stdout) == metrics["test"]
    assert [one["nominal"] for one in metrics["test"]["quantiles"]["intervals"]] == [0.8, 0.95]
    ok("predict", tmp_path / "moved", "--out", tmp_path / "out.csv")
    out = table(tmp_path / "out.csv")
    assert list(out) == [f"{s}{q}" for s in ("passengers", "walk") for q in ("", "_q0.025", "_q0.1", "_q0.5", "_q0.9", "_q0.975")]
    assert (out["passengers_q0.025"] < out["passengers_q0.975"]).all()
    back = json.loads(ok("backtest", tmp_path / "moved", "--json").stdout)
    assert back["horizon"] == 12 and len(back["origins"]) == 2
    ok("explain", tmp_path / "moved", "--out", tmp_path / "page")


def test_a_trend_and_a_season_are_gone_on_with(months, tmp_path):
    """The plain seasonal forecast does not know that next year is higher."""
    error = {}
    for name in ("seasonal", "seasonal-drift", "theta", "ets"):
        train(months, tmp_path / name, name, "--set", "output.report=false")
        error[name] = json.loads((tmp_path / name / "metrics.json").read_text())["test"]["by_series"][0]["scaled"]["mae"]
    for name in ("seasonal-drift", "theta", "ets"):
        assert error[name] < error["seasonal"] / 2, error


@pytest.mark.parametrize("name", ["theta", "ets", "ridge"])
def test_quantiles_come_from_the_model_and_are_corrected(name, months, tmp_path):
    train(months, tmp_path / "run", name, "--set", "forecast.loss=quantile", "--set", "output.report=false", "--set", "calibration.method=none")
    ok("predict", tmp_path / "run", "--out", tmp_path / "out.csv")
    out = table(tmp_path / "out.csv")
    levels = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975]
    spread = np.stack([out[f"walk_q{level:g}"] for level in levels], 1)
    assert (np.diff(spread, axis=1) > 0).all()
    # Normal errors: the outer levels stand 1.95996 / 0.67449 times as far from the middle as the quartiles.
    if name != "ets":
        np.testing.assert_allclose((spread[:, 6] - spread[:, 3]) / (spread[:, 4] - spread[:, 3]), 1.959964 / 0.6744898, rtol=1e-5)


def test_seasonal_drift_is_its_formula(months, tmp_path):
    train(months, tmp_path / "run", "seasonal-drift", "--set", "output.report=false")
    ok("predict", tmp_path / "run", "--out", tmp_path / "out.csv")
    for i, name in enumerate(("passengers", "walk")):
        window = values()[-36:, i]
        wanted = window[-12:] + (window[12:] - window[:-12]).mean()
        np.testing.assert_allclose(table(tmp_path / "out.csv")[name], wanted, rtol=1e-6, atol=1e-6)


def test_prediction_fits_to_all_rows(months, tmp_path):
    """Simple smoothing: α of the largest likelihood over all rows, then the window from the level that fits it best."""
    train(months, tmp_path / "run", "ets", "--set", "model.ets.form=ANN", "--set", "output.report=false")
    ok("predict", tmp_path / "run", "--out", tmp_path / "out.csv")

    def level(y, alpha, first):
        squares = 0
        for value in y:
            squares += (value - first) ** 2
            first += alpha * (value - first)
        return first, squares

    for i, name in enumerate(("passengers", "walk")):
        y = values()[:, i]
        scale = y.std()
        best = min((minimize(lambda p: level(y / scale, min(max(p[0], 1e-4), 1 - 1e-4), p[1])[1], [start, y[0] / scale], method="Nelder-Mead",
                             options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000}) for start in (0.2, 0.8)), key=lambda r: r.fun)
        alpha = min(max(best.x[0], 1e-4), 1 - 1e-4)
        window = y[-36:]
        decay = (1 - alpha) ** np.arange(36)
        from_zero = np.array([level(window[:t], alpha, 0)[0] for t in range(36)])
        first = (decay * (window - from_zero)).sum() / (decay**2).sum()
        np.testing.assert_allclose(table(tmp_path / "out.csv")[name], level(window, alpha, first)[0], rtol=1e-6, atol=1e-6)


def test_threads_change_no_bit(months, tmp_path):
    for name in ("ets", "ridge"):
        for threads in (1, 3):
            train(months, tmp_path / f"{name}{threads}", name, "--threads", threads, "--set", "output.report=false")
        one, three = (json.loads((tmp_path / f"{name}{threads}" / "metrics.json").read_text())["test"] for threads in (1, 3))
        assert one == three


def test_what_does_not_fit_is_said(months, tmp_path):
    arguments = ["train", "forecast", "--data", months, "--out", tmp_path / "run", "--model", "ets"]
    fails(78, 'ets.form = "XYZ" is not a form of exponential smoothing', arguments=[*arguments, "--set", "model.ets.form=XYZ"])
    fails(78, "needs a period of at least 2 and a lookback of at least 24 rows, got 20",
          arguments=[*arguments, "--set", "model.ets.form=ANA", "--set", "forecast.lookback=20"])
    fails(65, "is multiplicative and needs positive values, but series 2 has -", arguments=[*arguments, "--set", "model.ets.form=MAM"])
    fails(78, "ets.form = 'MAM' has no effect: model 'theta' has no such option (it is an option of ets)",
          arguments=["train", "forecast", "--data", months, "--out", tmp_path / "run", "--model", "theta", "--set", "model.ets.form=MAM"])
    assert not (tmp_path / "run" / "metrics.json").exists()


def test_gaps_are_closed(tmp_path):
    rows = values()
    lines = ["month,passengers,walk"] + [f"{1949 + i // 12}-{i % 12 + 1:02d}-01,{'' if i % 11 == 5 else a},{b}" for i, (a, b) in enumerate(rows)]
    (tmp_path / "gaps.csv").write_text("\n".join(lines) + "\n")
    for name in ("theta", "ets"):
        train(tmp_path / "gaps.csv", tmp_path / name, name, "--set", "output.report=false")
        ok("predict", tmp_path / name, "--out", tmp_path / f"{name}.csv")
        out = table(tmp_path / f"{name}.csv")["passengers"]
        assert (np.abs(out / (rows[-12:, 0] + 30) - 1) < 0.25).all(), name
