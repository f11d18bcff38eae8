"""Panels: long tables of independent series, each with its own start, end and scale. Oracles: formulas in numpy."""
import csv
import io
import json
import re

import numpy as np
import pandas
import pytest

from cli_helpers import fails, ok

H = 6


def panel(path, series, freq="MS", order="by id", ids=None):
    """Writes {id: (start, values)} as unique_id, ds, y; NaN values are left out."""
    rows = []
    for name, (start, values) in series.items():
        dates = pandas.date_range(start, periods=len(values), freq=freq)
        rows += [(name, date.date().isoformat(), value) for date, value in zip(dates, values) if np.isfinite(value)]
    if order == "by date":
        rows.sort(key=lambda row: row[1])
    if order == "shuffled":
        np.random.default_rng(0).shuffle(rows)
    text = "unique_id,ds,y\n" + "".join(f"{name},{date},{float(value)!r}\n" for name, date, value in rows)
    path.write_text(text)
    return path


def made(seed=1, count=12):
    rng = np.random.default_rng(seed)
    out = {}
    for i in range(count):
        rows = int(rng.integers(30, 120))
        level = 10.0 ** rng.uniform(0, 5)
        season = np.tile(rng.normal(size=12), rows // 12 + 1)[:rows]
        out[f"{i:03d}"] = (f"{2000 + i}-{1 + i % 12:02d}-01", level * (5 + season + 0.1 * rng.normal(size=rows)))
    return out


def train(table, out, *more):
    return ok("train", "forecast", table, "--horizon", H, "--out", out, "--set", "data.panel=yes", "--set", "output.report=false", "--threads", 1, *more)


def metrics(run):
    return json.loads((run / "metrics.json").read_text())


def predictions(run, *more):
    return pandas.read_csv(io.StringIO(ok("predict", run, *more).stdout), dtype={"unique_id": str})


def mase(history, truth, forecast, season):
    scale = np.mean(np.abs(history[season:] - history[:-season])) if len(history) > season else 0
    if not scale > 0:
        scale = np.mean(np.abs(np.diff(history)))
    return np.mean(np.abs(truth - forecast)) / scale


def seasonal_naive(history, season, steps):
    return np.array([history[len(history) - season + step % season] for step in range(steps)])


def test_seasonal_naive_equals_its_formula(tmp_path):
    series = made()
    result = train(panel(tmp_path / "p.csv", series), tmp_path / "run", "--model", "seasonal")
    assert "12 series of " in result.stderr
    expected = [mase(y[:-H], y[-H:], seasonal_naive(y[:-H], 12, H), 12) for _, y in series.values()]
    test = metrics(tmp_path / "run")["test"]
    assert test["mase"] == pytest.approx(np.mean(expected), rel=1e-6)
    squares = [np.sqrt(np.mean((y[-H:] - seasonal_naive(y[:-H], 12, H)) ** 2) / np.mean(np.diff(y[:-H]) ** 2)) for _, y in series.values()]
    assert test["rmsse"] == pytest.approx(np.mean(squares), rel=1e-6)
    assert [one["name"] for one in test["best"]] == [list(series)[i] for i in np.argsort(expected, kind="stable")[:5]]
    table = predictions(tmp_path / "run")
    assert table.unique_id.unique().tolist() == list(series)
    for name, (start, y) in series.items():
        mine = table[table.unique_id == name]
        assert mine.y.to_numpy() == pytest.approx(seasonal_naive(y, 12, H), rel=1e-6)
        dates = pandas.date_range(start, periods=len(y) + H, freq="MS")[-H:]
        assert pandas.to_datetime(mine.ds).tolist() == dates.tolist()


@pytest.mark.parametrize("order", ["by date", "shuffled"])
def test_the_order_of_rows_does_not_matter(order, tmp_path):
    series = made(count=5)
    runs = []
    for name in ("by id", order):
        train(panel(tmp_path / f"{name}.csv", series, order=name), tmp_path / name, "--model", "theta")
        runs.append((metrics(tmp_path / name)["test"]["mase"], predictions(tmp_path / name).sort_values(["unique_id", "ds"]).y.to_numpy()))
    assert runs[0][0] == pytest.approx(runs[1][0], rel=1e-12)
    assert (runs[0][1] == runs[1][1]).all()


def test_a_global_model_is_better_than_the_last_value_and_keeps_levels(tmp_path):
    series = made(count=30)
    table = panel(tmp_path / "p.csv", series)
    for model, more in (("dlinear", ("--epochs", 30)), ("repeat", ()), ("hot", ("--epochs", 10))):
        train(table, tmp_path / model, "--model", model, *more)
    repeat = metrics(tmp_path / "repeat")["test"]["mase"]
    for model in ("dlinear", "hot"):
        test = metrics(tmp_path / model)["test"]
        assert test["mase"] < repeat and 0 < test["intervals"][-1]["coverage"] <= 1
        forecast = predictions(tmp_path / model)
        for name, (_, y) in series.items():
            values = forecast[forecast.unique_id == name].y.to_numpy()
            assert (abs(values - y.mean()) < 4 * y.std()).all()


def test_the_training_loss_is_in_units_of_mase(tmp_path):
    rng = np.random.default_rng(4)
    series = {f"{i}": ("2000-01-01", 10.0**i * (20 + np.cumsum(rng.normal(size=60)))) for i in range(6)}
    table = panel(tmp_path / "p.csv", series)
    rows, last = 60 - 2 * H, 60 - 3 * H  # of training; a lookback of twice `last` leaves one origin for the windows
    # The last layer is zero and stays so: the forecast is the last value before the origin, which centres the window.
    train(table, tmp_path / "run", "--model", "hot", "--lookback", 2 * last, "--epochs", 1, "--lr", 0, "--batch-size", 64, "--no-test",
          "--set", "model.head.zero_start=true")  # fmt: skip
    first = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[0])
    errors = [mase(y[:rows], y[last:rows], np.full(H, y[last - 1]), 12) for _, y in series.values()]
    assert first["train_loss"] == pytest.approx(np.mean(errors), rel=1e-5)


def test_series_that_end_early_continue_from_their_own_end(tmp_path):
    ended = np.full(40, 7.0) + np.arange(40)
    series = {"old": ("2000-01-01", ended), "new": ("2010-01-01", 100 + np.arange(80) % 12), "point": ("2016-01-01", np.array([3.0]))}
    train(panel(tmp_path / "p.csv", series), tmp_path / "run", "--model", "repeat")
    table = predictions(tmp_path / "run")
    assert table.ds[table.unique_id == "old"].iloc[0] == "2003-05-01"
    assert table.y[table.unique_id == "old"].tolist() == [46.0] * H
    assert table.ds[table.unique_id == "point"].iloc[0] == "2016-02-01"
    assert table.y[table.unique_id == "point"].tolist() == [3.0] * H


def test_arrays_have_the_numbers_of_the_table(tmp_path):
    run = tmp_path / "run"
    train(panel(tmp_path / "p.csv", made(count=3)), run, "--model", "hot", "--set", "train.epochs=1")
    ok("predict", run, "--out", tmp_path / "f.npz")
    table, arrays = predictions(run), np.load(tmp_path / "f.npz")
    names = arrays["names"].tobytes().decode().splitlines()
    assert names == list(dict.fromkeys(table.unique_id))
    columns = list(table.columns)
    for i, name in enumerate(names):
        rows = table[table.unique_id == name]
        assert np.array_equal(pandas.to_datetime(arrays["times"][i], unit="s"), pandas.to_datetime(rows[columns[1]]))
        np.testing.assert_allclose(arrays["forecast"][i, 0], rows[columns[2]], rtol=1e-5)
        for k, level in enumerate(arrays["levels"]):
            np.testing.assert_allclose(arrays["quantiles"][i, 0, :, k], rows[columns[3 + k]], rtol=1e-5, err_msg=f"{level} {columns}")


def test_gaps_are_missing_rows(tmp_path):
    y = np.arange(60.0)
    y[[10, 11, 30]] = np.nan
    series = {"a": ("2000-01-01", y), "b": ("2005-01-01", np.arange(20.0))}
    result = train(panel(tmp_path / "p.csv", series), tmp_path / "run", "--model", "repeat")
    assert "3 missing rows" in result.stderr
    assert predictions(tmp_path / "run").ds.iloc[0] == "2005-01-01"


def test_unseen_ids_are_forecast_by_a_global_model(tmp_path):
    train(panel(tmp_path / "p.csv", made(1)), tmp_path / "run", "--model", "dlinear", "--epochs", 2)
    other = panel(tmp_path / "other.csv", {f"new-{name}": one for name, one in made(2).items()})
    table = predictions(tmp_path / "run", "--data", other)
    assert table.unique_id.nunique() == 12 and np.isfinite(table.y).all()
    # --overwrite removes the files of a run, and no others.
    own = json.loads((tmp_path / "run" / "manifest.json").read_text())["files"]
    assert {file.name for file in (tmp_path / "run").iterdir()} <= {*own, ".lock"}


def test_a_resumed_panel_has_the_same_bits(tmp_path):
    table = panel(tmp_path / "p.csv", made())
    train(table, tmp_path / "whole", "--model", "hot", "--epochs", 4, "--patience", 0)
    train(table, tmp_path / "part", "--model", "hot", "--epochs", 4, "--patience", 0, "--max-steps", 1)
    ok("train", "--resume", tmp_path / "part", "--set", "train.max_steps=0", "--allow-config-changes")
    assert metrics(tmp_path / "part")["test"] == metrics(tmp_path / "whole")["test"]
    assert predictions(tmp_path / "part").equals(predictions(tmp_path / "whole"))


def test_data_show_describes_a_panel(tmp_path):
    table = panel(tmp_path / "p.csv", {"a": ("2000-01-01", np.arange(60.0)), "b": ("2001-01-01", np.arange(20.0)), "c": ("2000-06-01", np.arange(31.0))})
    lines = ok("data", "show", table, "--set", "data.panel=yes").stdout.splitlines()
    assert lines[0] == f"{table}: a panel of 3 series of 20 to 60 rows (median 31), 111 rows in all"
    assert lines[1] == "from 2000-01-01 to 2004-12-01, every 1 month"
    assert next(line for line in lines if line.startswith("y ")).split() == ["y", "0", "0", *(f"{x:.6g}" for x in (
        np.mean([*range(60), *range(20), *range(31)]), 59, np.std([*range(60), *range(20), *range(31)])))]


def test_auto_reads_many_or_uneven_series_as_a_panel(tmp_path):
    shared = {name: ("2000-01-01", np.arange(60.0) + i) for i, name in enumerate("ab")}
    short = ["--horizon", H, "--model", "repeat", "--set", "output.report=false"]
    result = ok("train", "forecast", panel(tmp_path / "p.csv", shared), *short, "--out", tmp_path / "tensor")
    assert "2 series share one clock and are read as one tensor; data.panel = yes" in result.stderr
    assert "mase" not in metrics(tmp_path / "tensor")["test"]
    train(tmp_path / "p.csv", tmp_path / "panel", "--model", "repeat")
    assert predictions(tmp_path / "panel").y.tolist() == predictions(tmp_path / "tensor").y.tolist()
    uneven = panel(tmp_path / "u.csv", shared | {"b": ("2001-01-01", np.arange(48.0))})
    result = ok("train", "forecast", uneven, *short, "--out", tmp_path / "uneven")
    assert "read as a panel of independent series, because series 'b' has 48 of 60 dates; data.panel = no" in result.stderr
    assert "mase" in metrics(tmp_path / "uneven")["test"]
    almost = panel(tmp_path / "n.csv", shared | {"b": ("2000-07-01", np.arange(54.0))})
    ok("train", "forecast", almost, *short, "--out", tmp_path / "almost")
    assert "mase" not in metrics(tmp_path / "almost")["test"]
    many = panel(tmp_path / "m.csv", {f"{i}": ("2000-01-01", np.arange(20.0) + i) for i in range(501)})
    result = ok("train", "forecast", many, *short, "--out", tmp_path / "many")
    assert "501 series are read as a panel" in result.stderr and "more than 500" in result.stderr and "mase" in metrics(tmp_path / "many")["test"]


@pytest.mark.parametrize("rows, words", [
    (["a,2000-01-01,1", "a,2000-01-01,2", "a,2000-02-01,2", "b,2000-01-01,1"], ["p.csv:3", "series 'a' has a second row"]),
    (["a,2000-01-01,1", "a,2000-02-01,2", "a,,2", "b,2000-01-01,1"], ["p.csv:4", "expected a date"]),
    (["a,2000-01-01,1", "b,2000-01-01,1"], ["each of the 2 rows is its own series"]),
    ([f"s{d},2000-01-{d:02d},1" for d in range(1, 25)], ["several rows for an id"]),
    ([f"{name},2000-01-{d:02d},{'' if name == 'b' else d}" for name in "abc" for d in range(1, 25)], ["1 of 3 series has no value: 'b'; leave out their rows"]),
    ([f"a,2000-01-{d:02d},1" for d in range(1, 25)] + [f"b,{year}-01-01,1" for year in (2000, 2001, 2002)],
     ["more than half of the rows of 1 of 2 series would be missing at the time step of 1 d: 'b'; the series of a panel have one time step"]),
    ([f"a,2000-01-{d:02d},1" for d in range(1, 25)] + ["b,2000-01-01T06:00:00,1", "b,2000-01-01T18:00:00,1"], ["expected dates at a constant step"]),
])
def test_bad_panels(rows, words, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("unique_id,ds,y\n" + "\n".join(rows) + "\n")
    fails(65, *words, arguments=["train", "forecast", path, "--horizon", 2, "--set", "data.panel=yes", "--out", tmp_path / "run"])


def test_wide_tables_are_no_panels(tmp_path):
    path = tmp_path / "w.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("date", "a"), *((f"2000-01-{d:02d}", d) for d in range(1, 29))])
    fails(65, "long table", "data.id", arguments=["train", "forecast", path, "--horizon", 2, "--set", "data.panel=yes", "--out", tmp_path / "run"])


@pytest.mark.parametrize("variables", [1, 2])
def test_a_report_of_a_panel(variables, tmp_path):
    series = made(count=4)
    table = panel(tmp_path / "p.csv", series)
    if variables == 2:  # charts draw the first
        frame = pandas.read_csv(table, dtype={"unique_id": str})
        frame.assign(z=1000 * frame.y.max() - frame.y).to_csv(table, index=False)
    train(table, tmp_path / "run", "--model", "seasonal")
    ok("report", tmp_path / "run", "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "best MASE" in page
    charts = re.findall(r'<svg[^>]*class="mw"(.*?)</svg>', page, re.S)
    charts = [chart for chart in charts if re.search(r">truth</text>", chart)]
    names = [re.search(r"<text[^>]*>([^<]*)</text>", chart)[1] for chart in charts]
    assert set(names) == set(series)
    for name, chart in zip(names, charts):
        values = series[name][1]
        ticks = [float(text.replace(",", "")) for text in re.findall(r'text-anchor="end"[^>]*>([0-9.,]+)</text>', chart)]
        assert len(ticks) >= 2 and values.min() / 2 < ticks[0] and ticks[-1] < 1.5 * values.max()
        band = re.search(r'<path d="M([^"z]*)z"[^>]*fill-opacity="0.2"', chart[chart.index(">95 %<"):])[1]
        points = [tuple(map(float, point.split())) for point in band.split("L")]
        upper, lower = points[:H], points[:H - 1:-1]
        assert all(x == other and 0 < low - high < 50 for (x, high), (other, low) in zip(upper, lower, strict=True))
    ok("compare", tmp_path / "run")


def test_a_season_without_error_has_no_mase_and_is_named(tmp_path):
    rng = np.random.default_rng(5)
    week = np.array([1, 2, 3, 4, 5, 6, 20.0])
    values = {"flat": np.tile(week, 10), "noisy": np.tile(week, 10) + rng.normal(size=70)}
    table = panel(tmp_path / "p.csv", {name: ("2024-01-01", v) for name, v in values.items()}, freq="D")
    result = train(table, tmp_path / "run", "--model", "repeat")
    test = metrics(tmp_path / "run")["test"]
    assert test["season"] == 7 and test["windows"] == 2
    assert (test["undefined"], test["mase_of_lag_1"]) == (1, 0)
    assert "1 of 2 windows have no MASE" in result.stderr and "'flat'" in result.stderr.split("no MASE")[1].splitlines()[0]
    assert "MASE (season 7)" in result.stdout
    backtested = json.loads(ok("backtest", tmp_path / "run", "--json").stdout)
    assert backtested["season"] == 7 and backtested["undefined"] == 1
    assert "MASE (season 7)" in ok("backtest", tmp_path / "run").stdout


def test_exact_forecasts_lie_within_their_intervals(tmp_path):
    """Bounds of width 0 are included, whatever the scale and the number of rows of a series."""
    rng = np.random.default_rng(8)
    weeks = {f"{digits} {rows}": np.tile((rng.normal(size=7) * scale).round(digits), rows)[: 7 * rows - digits]
             for digits, scale, rows in ((0, 3, 9), (1, 20, 14), (2, 1000, 21), (3, 0.1, 33), (12, 5, 12))}
    table = panel(tmp_path / "p.csv", {name: ("2024-01-01", y) for name, y in weeks.items()}, freq="D")
    for more in ([], ["--set", "forecast.loss=quantile"]):
        run = tmp_path / f"run{len(more)}"
        train(table, run, "--model", "seasonal", *more)
        for test in (metrics(run)["test"], json.loads(ok("evaluate", run, "--json").stdout), json.loads(ok("backtest", run, "--json").stdout)):
            assert test["rmsse"] == 0 and test["scaled"] == {"mse": 0, "mae": 0}
            assert [interval["coverage"] for interval in test["intervals"]] == [1] * len(test["intervals"]) and test["intervals"]
        out = predictions(run)
        for name, y in weeks.items():
            rows = out[out.unique_id == name].drop(columns=["unique_id", "ds"]).to_numpy()
            wanted = np.resize(y[-7:], H)[:, None].repeat(rows.shape[1], 1)
            if name.startswith("12"):
                np.testing.assert_allclose(rows, wanted, rtol=0, atol=2e-7 * y.std())
            else:
                np.testing.assert_array_equal(rows, wanted)


def test_a_series_of_counts_and_zeros_leaves_the_intervals_of_others(tmp_path):
    """Zeros are not positive, so that no model divides by them. The errors of one series would give all of them wide intervals."""
    rng = np.random.default_rng(1)
    y = {f"s{i}": np.where(rng.random(110) < 0.25, rng.poisson(3, 110) + 1, 0) for i in range(5)}
    table = panel(tmp_path / "p.csv", {name: ("2024-01-01", values) for name, values in y.items()}, freq="D")
    for model in ("theta", "ets"):
        train(table, tmp_path / model, "--model", model)
        assert metrics(tmp_path / model)["test"]["mase"] < 2
        out = predictions(tmp_path / model)
        assert out["y"].abs().max() < 10 and (out["y_q0.975"] - out["y_q0.025"]).max() < 50  # they were thousands


def test_a_series_no_longer_than_a_season_is_measured_by_lag_1_and_counted(tmp_path):
    rng = np.random.default_rng(6)
    values = {"long": 5 + rng.normal(size=60), "short": 5 + rng.normal(size=13)}
    result = train(panel(tmp_path / "p.csv", {name: ("2024-01-01", v) for name, v in values.items()}, freq="D"), tmp_path / "run", "--model", "repeat",
                   "--set", "data.test_windows=1")  # fmt: skip
    test = metrics(tmp_path / "run")["test"]
    expected = [mase(v[:-H], v[-H:], np.full(H, v[-H - 1]), 7) for v in values.values()]
    assert test["mase"] == pytest.approx(np.mean(expected), rel=1e-5)
    assert (test["undefined"], test["mase_of_lag_1"]) == (0, 1)
    assert "the MASE of 1 window is relative to the error of repeating the row before" in result.stderr
