"""The classical forecasters from the command line: trained at once, evaluated, predicting beyond the data, in a folder that moves."""

import csv
import json
import shutil

import numpy as np
import pytest
from cli_helpers import fails, ok
from scipy.optimize import minimize, minimize_scalar

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


def rare_sales(seed=1, rows=110):
    """Daily sales, nearly all on two days of the week, else 0."""
    draw = np.random.default_rng(seed)
    return np.where(draw.random(rows) < np.where(np.arange(rows) % 7 < 2, 0.95, 0.05), draw.poisson(3, rows) + 1, 0)


def daily(path, **columns):
    days = np.arange("2024-01-01", len(next(iter(columns.values()))), dtype="datetime64[D]")
    lines = [",".join(["day", *columns])] + [",".join([str(day), *map(str, row)]) for day, row in zip(days, zip(*columns.values(), strict=True), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def additive_theta(y, period, horizon):
    """Hyndman and Billah's Theta of y without its additive season (classical decomposition), with the season."""
    half = period // 2
    trend = np.convolve(y, np.ones(period) / period, "valid")
    rest = y[half:-half] - trend
    season = np.array([rest[(np.arange(len(rest)) + half) % period == phase].mean() for phase in range(period)])
    season -= season.mean()
    rows = np.arange(len(y) + horizon)
    adjusted = y - season[rows[: len(y)] % period]

    def level_of(alpha):
        level, squares = adjusted[0], 0
        for value in adjusted:
            squares += (value - level) ** 2
            level += alpha * (value - level)
        return level, squares

    grid = np.linspace(1e-4, 1 - 1e-4, 200)
    best = grid[np.argmin([level_of(alpha)[1] for alpha in grid])]
    alpha = minimize_scalar(lambda a: level_of(a)[1], bounds=(max(best - 0.01, 1e-4), min(best + 0.01, 1 - 1e-4)), method="bounded", options={"xatol": 1e-12}).x
    slope = np.polyfit(np.arange(len(y)), adjusted, 1)[0]
    mean = level_of(alpha)[0] + slope / 2 * (np.arange(horizon) + (1 - (1 - alpha) ** len(y)) / alpha)
    return mean + season[rows[len(y) :] % period]


@pytest.mark.parametrize("name", ["theta", "optimised-theta", "dynamic-theta", "ets"])
def test_a_series_with_zeros_is_not_positive(tmp_path, name):
    """The float32 of a scaled 0 is a little above or below it: no multiplicative season, which would divide by it."""
    sales = {f"s{i}": rare_sales(i) for i in range(8)}
    table_path = daily(tmp_path / "sales.csv", **sales, **{f"{one}-": y - 1.5 for one, y in sales.items()})
    train(table_path, tmp_path / "run", name, "--horizon", "7", "--lookback", "70", "--set", "model.period=7", "--set", "output.report=false")
    out = {one["name"]: np.array(one["forecast"]) for one in json.loads(ok("predict", tmp_path / "run", "--json").stdout)["series"]}
    for one, y in sales.items():
        assert (np.abs(out[one]) < y.max()).all()
        np.testing.assert_allclose(out[f"{one}-"], out[one] - 1.5, rtol=1e-4, atol=1e-4)  # both forms are additive
        if name == "theta":
            np.testing.assert_allclose(out[one], additive_theta(y[-70:], 7, 7), rtol=1e-5, atol=1e-5)


def test_the_zero_of_a_series_that_must_be_positive_is_named(tmp_path):
    for seed in range(4):
        table_path = daily(tmp_path / "sales.csv", sales=rare_sales(seed))
        said = fails(65, 'ets.form = "MNN" is multiplicative and needs positive values',
                     arguments=["train", "forecast", table_path, "--model", "ets", "--set", "model.ets.form=MNN", "--horizon", "7", "--out", tmp_path / str(seed)])
        assert said.endswith(", but series 1 has 0")


def test_repeated_values_are_those_of_the_table(tmp_path):
    """Not 139.999999 for 140, nor 2e-8 for 0."""
    draw = np.random.default_rng(2)
    columns = {"counts": rare_sales(), "hundreds": draw.integers(100, 200, 110), "cents": draw.normal(20, 7, 110).round(3), "level": draw.normal(1013, 0.1, 110).round(4)}
    table_path = daily(tmp_path / "d.csv", **columns)
    for name, rows in (("seasonal", 7), ("repeat", 1)):
        train(table_path, tmp_path / name, name, "--horizon", "7", "--set", "output.report=false")
        ok("predict", tmp_path / name, "--out", tmp_path / f"{name}.csv")
        cells = [line.split(",") for line in (tmp_path / f"{name}.csv").read_text().splitlines()]
        series = json.loads(ok("predict", tmp_path / name, "--json").stdout)["series"]
        for one, (column, y) in zip(series, columns.items(), strict=True):
            wanted = np.resize(y[-rows:], 7)
            assert one["forecast"] == wanted.tolist()
            assert [row[cells[0].index(column)] for row in cells[1:]] == list(map(str, wanted))


def test_gaps_are_closed(tmp_path):
    rows = values()
    lines = ["month,passengers,walk"] + [f"{1949 + i // 12}-{i % 12 + 1:02d}-01,{'' if i % 11 == 5 else a},{b}" for i, (a, b) in enumerate(rows)]
    (tmp_path / "gaps.csv").write_text("\n".join(lines) + "\n")
    for name in ("theta", "ets"):
        train(tmp_path / "gaps.csv", tmp_path / name, name, "--set", "output.report=false")
        ok("predict", tmp_path / name, "--out", tmp_path / f"{name}.csv")
        out = table(tmp_path / f"{name}.csv")["passengers"]
        assert (np.abs(out / (rows[-12:, 0] + 30) - 1) < 0.25).all(), name
