"""Future covariates (data.future_covariates) and the calendar (data.calendar): from files and frames to forecasts, and the gain
that theory predicts."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
import torch

import modewise
from cli_helpers import fails, hourly, ok
from modewise import errors


SIZES = ["--set", "forecast.lookback=24", "--set", "forecast.horizon=6", "--set", "output.report=false", "--threads", "1"]
QUICK = [*SIZES, "--set", "train.max_steps=5"]
PLAN = ["--set", "data.future_covariates=promo,price"]
SMALL = {"hot": ["--set", "model.width=16", "--set", "model.hidden=32"],
         "tide": ["--set", "model.width=32", "--set", "model.hidden=16"]}  # fmt: skip


def plan(rows, ahead=6, seed=5):
    """`rows` rows of a, b, promo, price and `ahead` more of the last two alone, as text: date, a, promo, b, price."""
    rng, t = np.random.default_rng(seed), np.arange(rows + ahead)
    promo, price = rng.integers(0, 2, len(t)), 3 + rng.random(len(t)).round(3)
    values = [np.sin(2 * np.pi * t / 24 + i) + promo - price + 0.1 * rng.normal(size=len(t)) for i in range(2)]
    lines = ["date,a,promo,b,price"]
    for i, date in enumerate(hourly(len(t))):
        a, b = (f"{value[i]:.4f}" if i < rows else "" for value in values)
        lines.append(f"{date},{a},{promo[i]},{b},{price[i]}")
    return lines


def written(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture(scope="module", params=["tide", "hot"])
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    written(folder / "whole.csv", plan(300))
    written(folder / "past.csv", plan(300)[:301])
    ok("train", "forecast", "--data", folder / "whole.csv", "--model", request.param, "--out", folder / "run", *QUICK, *PLAN,
       "--set", 'data.calendar=["auto"]', *SMALL[request.param])  # fmt: skip
    return folder / "run"


def test_they_are_not_forecast_nor_evaluated(run):
    said = rows_of(ok("predict", run).stdout)
    assert [row["date"] for row in said] == hourly(306)[300:]
    assert {name.split("_q")[0] for name in said[0]} == {"date", "a", "b"}
    metrics = json.loads((run / "metrics.json").read_text())
    assert [series["name"] for series in metrics["test"]["by_series"]] == ["a", "b"]
    kept = json.loads((run / "data.json").read_text())
    assert kept["rows"] == 300
    assert kept["ahead"] == {"features": 2 + 2 * 4, "modes": 0}
    assert kept["known"]["modes"] == [{"labels": ["promo", "price"], "name": "known column", "ordered": False}]


def test_they_are_scaled_by_the_training_rows(run):
    known = np.array([[float(row["promo"]), float(row["price"])] for row in rows_of((run.parent / "whole.csv").read_text())])
    scaler = json.loads((run / "data.json").read_text())["known"]["scaler"]
    np.testing.assert_allclose(scaler["mean"], known[:210].mean(0), rtol=1e-13)
    np.testing.assert_allclose(scaler["std"], known[:210].std(0), rtol=1e-13)


def features(path, scaler, dates):
    """promo, price and the calendar of all rows as the models see them: [K, T] float32."""
    known = np.array([[float(row["promo"]), float(row["price"])] for row in rows_of(path.read_text())])
    scaled = ((known - scaler["mean"]) / scaler["std"]).astype(np.float32)
    places = [(dates.hour, 24), (dates.day_of_week, 7), (dates.day - 1, 31), (dates.day_of_year - 1, 366)]
    codes = [f(2 * np.pi * place / steps) for place, steps in places for f in (np.sin, np.cos)]
    return np.vstack([scaled.T, np.array(codes).astype(np.float32)])


def test_the_module_given_them_by_hand_has_the_programs_bits(run):
    loaded = modewise.load(run)
    kept = json.loads((run / "data.json").read_text())
    known = features(run.parent / "whole.csv", kept["known"]["scaler"], pd.date_range("2020-01-01", periods=306, freq="h"))
    values = np.array([[float(row["a"]), float(row["b"])] for row in rows_of((run.parent / "past.csv").read_text())])
    past, observed = loaded.scaled(values)
    with torch.no_grad():
        out = loaded.module(past, observed, torch.tensor([276]), torch.from_numpy(known[None, :, 276:]))
    said = json.loads(ok("predict", run, "--json").stdout)
    wanted = np.array([series["forecast"] for series in said["series"]])
    np.testing.assert_allclose(out[0].numpy() * loaded.std[:, None] + loaded.mean[:, None], wanted, rtol=3e-6)
    with pytest.raises(NotImplementedError, match="its model takes 10 future covariates"):
        loaded.predict(values)
    with pytest.raises(ValueError, match=r"future_covariates must be \[1, 10, 30\], got None"):
        loaded.module(past, observed)


def test_a_file_of_the_future_is_as_good_as_rows_behind_the_data(run, tmp_path):
    whole = plan(300)
    future = written(tmp_path / "future.csv", [",".join(line.split(",")[i] for i in (0, 4, 2)) for line in [whole[0], *whole[300:]]])
    wanted = ok("predict", run).stdout
    assert ok("predict", run, "--data", run.parent / "past.csv", "--future", future).stdout == wanted
    other = written(tmp_path / "other.csv", ["date,promo,price", *(f"{date},1,9" for date in hourly(306)[300:])])
    assert ok("predict", run, "--future", other).stdout != wanted, "the file goes before the rows"


def test_too_few_rows_ahead_are_a_sentence(run, tmp_path):
    past = run.parent / "past.csv"
    fails(65, f"{past}: the future covariate 'promo' is missing on 2020-01-13 12:00:00, step 1 of the forecast; the model needs all 6 rows of its horizon: add them after the last row with other values, or give --future FILE",
          arguments=["predict", run, "--data", past])  # fmt: skip
    lines = plan(300)
    lines[303] = lines[303].rsplit(",", 1)[0] + ","
    fails(65, "the future covariate 'price' is missing on 2020-01-13 14:00:00, step 3 of the forecast",
          arguments=["predict", run, "--data", written(tmp_path / "gap.csv", lines)])  # fmt: skip
    short = written(tmp_path / "short.csv", ["date,promo,price", *(f"{date},1,3" for date in hourly(305)[300:])])
    fails(65, "the future covariate 'promo' is missing on 2020-01-13 17:00:00, step 6 of the forecast",
          arguments=["predict", run, "--future", short])  # fmt: skip


def test_a_gap_in_the_past_needs_a_model_trained_with_gaps(run, tmp_path):
    lines = plan(300)
    lines[290] = lines[290].rsplit(",", 1)[0] + ","
    gap = written(tmp_path / "gap.csv", lines)
    fails(65, "the future covariate 'price' is missing on 2020-01-13 01:00:00; the run was trained on",
          "where no future covariate is missing", arguments=["predict", run, "--data", gap])  # fmt: skip
    ok("train", "forecast", "--data", gap, "--model", "tide", "--out", tmp_path / "run", *QUICK, *PLAN, *SMALL["tide"])
    assert json.loads((tmp_path / "run" / "data.json").read_text())["ahead"] == {"features": 4, "modes": 0}
    ok("predict", tmp_path / "run")
    ok("predict", tmp_path / "run", "--data", run.parent / "whole.csv")


def test_every_command_knows_them(run, tmp_path):
    ok("evaluate", run, "--split", "validation")
    ok("evaluate", run, "--split", "all", "--data", run.parent / "whole.csv")
    ok("backtest", run)
    explained = json.loads(ok("explain", run, "--out", tmp_path / "explained", "--json").stdout)
    influence = {one["mode"]: dict(zip(one["places"], one["effect"], strict=True)) for one in explained["influence"]}["future covariates"]
    assert list(influence) == ["promo", "price", "hour", "weekday", "day", "yearday"]
    assert min(influence["promo"], influence["hour"]) > 0
    ok("report", run, "--out", tmp_path / "report.html")
    assert "future covariates, not forecast: promo, price; 6 rows" in ok("data", "show", run.parent / "whole.csv", *PLAN).stdout


def test_what_stands_in_rows_to_come_changes_no_training(run, tmp_path):
    lines = plan(300)
    lines[301:] = [line.rsplit(",", 1)[0] + ",99" for line in lines[301:]]
    name = run.parent.name.rstrip("0123456789")
    ok("train", "forecast", "--data", written(tmp_path / "whole.csv", lines), "--model", name, "--out", tmp_path / "run", *QUICK, *PLAN,
       "--set", 'data.calendar=["auto"]', *SMALL[name])  # fmt: skip
    for metric in ("test", "best"):
        assert json.loads((tmp_path / "run" / "metrics.json").read_text())[metric] == json.loads((run / "metrics.json").read_text())[metric]


def test_models_that_do_not_look_ahead_say_so(tmp_path):
    path = written(tmp_path / "whole.csv", plan(300))
    for key, options in (("data.future_covariates", PLAN), ("data.calendar", ["--set", "data.calendar=hour"])):
        fails(78, f"{key} needs a model with covariates (hot, transformer, spatial, temporal, tide, "
                  "timesnet, autoformer, fedformer, nonstationary); 'dlinear' has none",
              arguments=["train", "forecast", "--data", path, "--model", "dlinear", "--out", tmp_path / "run", *QUICK, *options])  # fmt: skip
    fails(78, "has no column of numbers 'prise'", "price",
          arguments=["train", "forecast", "--data", path, "--model", "tide", "--out", tmp_path / "run", *QUICK, "--set", "data.future_covariates=prise"])  # fmt: skip
    undated = written(tmp_path / "undated.csv", [line.split(",", 1)[1] for line in plan(300, 0)])
    fails(65, "data.calendar needs dates, but the rows have none",
          arguments=["train", "forecast", "--data", undated, "--model", "tide", "--out", tmp_path / "run", *QUICK, "--set",
                     "data.calendar=hour"])  # fmt: skip
    ok("train", "forecast", "--data", path, "--model", "tide", "--out", tmp_path / "plain", *QUICK, *SMALL["tide"])
    fails(65, "trained without future covariates", arguments=["predict", tmp_path / "plain", "--future", path])


def test_a_long_table_has_a_plan_for_each_series(tmp_path):
    lines = ["unique_id,ds,y,promo"]
    for i, date in enumerate(hourly(206)):
        for k, name in enumerate(("north", "south")):
            promo = (i * (3 + k)) % 5 == 0
            lines.append(f"{name},{date},{f'{np.sin(i / 4 + k) + promo:.3f}' if i < 200 else ''},{int(promo)}")
    path = written(tmp_path / "long.csv", lines)
    for name in ("tide", "hot"):
        ok("train", "forecast", "--data", path, "--model", name, "--out", tmp_path / name, *QUICK, "--set", "data.future_covariates=promo", *SMALL[name])
        said = rows_of(ok("predict", tmp_path / name).stdout)
        assert [(row["unique_id"], row["ds"]) for row in said] == [(name, date) for name in ("north", "south") for date in hourly(206)[200:]]
        assert "promo" not in said[0]
        ahead = [line for line in lines[1:] if line.split(",")[1] >= hourly(201)[200]]
        future = written(tmp_path / "future.csv", ["unique_id,ds,promo", *(",".join(line.split(",")[i] for i in (0, 1, 3)) for line in ahead)])
        assert rows_of(ok("predict", tmp_path / name, "--future", future).stdout) == said
        assert json.loads((tmp_path / name / "data.json").read_text())["ahead"] == {"features": 1, "modes": 1}


def test_auto_chooses_among_the_models_that_look_ahead(tmp_path):
    path = written(tmp_path / "whole.csv", plan(300))
    ok("train", "forecast", "--data", path, "--model", "auto", "--budget", "1h", "--out", tmp_path / "run", "--set", "forecast.horizon=6",
       "--set", "train.epochs=1", *PLAN, "--threads", "1")  # fmt: skip
    tried = {folder.name for folder in (tmp_path / "run" / "auto" / "trial" / "runs").iterdir()}
    assert tried == {"hot-small-cycle", "hot-small", "hot-cycle", "hot", "hot-small-last", "hot-small-week", "hot-small-mse-cycle", "tide"}
    ok("predict", tmp_path / "run")


NOISE, MEMORY, EFFECT, ROWS, HORIZON = 0.3, 0.5, 1.0, 3000, 6


def regression(seed=7):
    """y_t = EFFECT x_t + n_t, n_t = MEMORY n_{t−1} + NOISE e_t, x_t = ±1 by a coin: nothing of x can be forecast."""
    rng = np.random.default_rng(seed)
    x, e, n = rng.choice([-1.0, 1.0], ROWS), rng.normal(size=ROWS), np.zeros(ROWS)
    for t in range(1, ROWS):
        n[t] = MEMORY * n[t - 1] + NOISE * e[t]
    return x, EFFECT * x + n


@pytest.mark.parametrize("name", ["hot", "tide"])
def test_future_covariates_lower_the_error_by_what_they_explain(tmp_path, name):
    """The least mean squared error with x known is that of the noise: NOISE² Σ MEMORY^(2i) at each step. Without x it is
    larger by EFFECT², the variance of what x adds."""
    x, y = regression()
    path = written(tmp_path / "made.csv", ["date,y,x", *(f"{d},{b:.6f},{a:.0f}" for d, a, b in zip(hourly(ROWS), x, y, strict=True))])
    scale = y[: int(0.7 * ROWS)].var()
    lowest = np.mean([NOISE**2 * sum(MEMORY ** (2 * i) for i in range(h)) for h in range(1, HORIZON + 1)]) / scale
    explained = EFFECT**2 / scale
    found = {}
    for known in (True, False):
        columns = ["data.future_covariates=x"] if known else ["data.columns=y"]
        out = tmp_path / f"known-{known}"
        ok("train", "forecast", "--data", path, "--model", name, "--out", out, *SIZES, *SMALL[name], "--set", "forecast.loss=mse", "--set",
           "train.epochs=8", "--set", columns[0])  # fmt: skip
        found[known] = json.loads((out / "metrics.json").read_text())["test"]["scaled"]["mse"]
    assert found[True] < lowest + 0.1 * explained
    assert found[False] - found[True] > 0.85 * explained


def frame(rows=300):
    table = pd.DataFrame(rows_of("\n".join(plan(rows)))).set_index("date").apply(pd.to_numeric)
    table.index = pd.to_datetime(table.index)
    return table


QUICKLY = {"horizon": 6, "lookback": 24, "verbosity": -1, "future_covariates": ["promo", "price"],
           "settings": {"train.max_steps": 5, "output.report": False, "model.width": 32, "model.hidden": 16}}  # fmt: skip


def test_a_frame_with_rows_to_come(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = frame()
    made = modewise.Forecaster("tide", **QUICKLY).fit(whole)
    forecast = made.predict()
    assert list(forecast.index) == list(whole.index[300:])
    assert {str(column).split("_q")[0] for column in forecast} == {"a", "b"}
    pd.testing.assert_frame_equal(made.predict(future=whole.iloc[290:]), forecast)
    later = modewise.Forecaster("tide", **QUICKLY).fit(whole.iloc[:300])
    pd.testing.assert_frame_equal(later.predict(future=whole[["price", "promo"]].iloc[300:].reset_index()), forecast)
    pd.testing.assert_frame_equal(later.predict(2, future=whole.iloc[300:]), forecast.head(2))
    with pytest.raises(errors.DataError, match="the future covariate 'promo' is missing on 2020-01-13 12:00:00, step 1"):
        later.predict()
    with pytest.raises(errors.DataError, match=r"future: there is no column 'price' \(there are promo\)"):
        later.predict(future=whole[["promo"]].iloc[300:])
    assert modewise.Forecaster.from_run(made.run_).future_covariates == ["promo", "price"]
    assert made.plot() is not None


def test_a_long_frame_with_future_covariates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = [frame().rename(columns={"a": "y"}).drop(columns="b").assign(unique_id=name).reset_index(names="ds") for name in ("n", "s")]
    whole = pd.concat(parts, ignore_index=True)
    past = whole[whole["y"].notna()]
    made = modewise.Forecaster("hot", **QUICKLY).fit(past)
    with pytest.raises(errors.DataError, match="future: there is no column 'unique_id'"):
        made.predict(future=whole.drop(columns="unique_id"))
    forecast = made.predict(future=whole)
    assert list(forecast["unique_id"]) == ["n"] * 6 + ["s"] * 6
    assert list(forecast.columns)[:3] == ["unique_id", "ds", "y"]
    assert list(forecast["ds"][:6]) == list(parts[0]["ds"][300:])
    again = modewise.Forecaster("hot", **QUICKLY).fit(whole)
    pd.testing.assert_frame_equal(again.predict(), forecast)


def test_future_covariates_are_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.ConfigError, match="has no column of numbers 'promos'"):
        modewise.Forecaster("tide", **{**QUICKLY, "future_covariates": ["promos"]}).fit(frame())
    made = modewise.Forecaster("tide", **{**QUICKLY, "future_covariates": []}).fit(frame()[["a", "b"]].iloc[:300])
    with pytest.raises(errors.UsageError, match="this forecaster has none: name them in future_covariates"):
        made.predict(future=frame())


@pytest.fixture(scope="module")
def daily(tmp_path_factory):
    """A run on days as day/month/year until 30/04/2025, with the future covariate promo."""
    folder = tmp_path_factory.mktemp("daily")
    days = pd.date_range("2024-11-01", "2025-04-30")
    frame = pd.DataFrame({"date": days.strftime("%d/%m/%Y"), "y": np.arange(len(days)) % 7 + 0.5, "promo": np.arange(len(days)) % 3})
    frame.to_csv(folder / "h.csv", index=False)
    ok("train", "forecast", folder / "h.csv", "--model", "tide", "--lookback", 14, "--horizon", 7, "--out", folder / "run", "--set", "train.max_steps=3",
       "--set", "output.report=false", "--set", "data.future_covariates=promo", *SMALL["tide"])  # fmt: skip
    return folder / "run"


def promo_plan(path, first="2025-05-01", days=7, form="%d/%m/%Y", name="promo", edit=None):
    frame = pd.DataFrame({"date": pd.date_range(first, periods=days).strftime(form), name: np.arange(days) % 2 + 0.0})
    if edit is not None:
        frame.loc[edit, name] = np.nan
    frame.to_csv(path, index=False)
    return path


def test_ambiguous_dates_of_a_plan_have_the_order_of_the_training(daily, tmp_path):
    wanted = ok("predict", daily, "--future", promo_plan(tmp_path / "iso.csv", form="%Y-%m-%d")).stdout
    assert ok("predict", daily, "--future", promo_plan(tmp_path / "plan.csv")).stdout == wanted
    fails(65, "wrong.csv:", "is month/day/year, but the dates of the run's training data are day/month/year",
          arguments=["predict", daily, "--future", promo_plan(tmp_path / "wrong.csv", "2025-05-01", 20, "%m/%d/%Y")])  # fmt: skip


def test_errors_of_a_plan_name_its_file_and_what_it_covers(daily, tmp_path):
    def says(plan, *words, data=()):
        line = fails(65, f"{plan}: ", *words, arguments=["predict", daily, "--future", plan, *data])
        assert "give --future" not in line

    needed = "the model needs all 7 rows of its horizon"
    says(promo_plan(tmp_path / "short.csv", days=5), "'promo' is missing on 06/05/2025, step 6 of the forecast", "the file covers 01/05/2025 to 05/05/2025",
         needed, "01/05/2025 to 07/05/2025")  # fmt: skip
    says(promo_plan(tmp_path / "late.csv", "2025-05-03"), "missing on 01/05/2025", "covers 03/05/2025 to 09/05/2025")
    says(promo_plan(tmp_path / "year.csv", "2024-05-01"), "missing on 01/05/2025", "covers 01/05/2024 to 07/05/2024")
    says(promo_plan(tmp_path / "gap.csv", edit=3), "missing on 04/05/2025", f"the cell is empty: {tmp_path / 'gap.csv'}:5: column 'promo'")
    with_rows = tmp_path / "with.csv"
    plan = pd.read_csv(promo_plan(tmp_path / "ahead.csv"))
    pd.concat([pd.read_csv(daily.parent / "h.csv"), plan]).to_csv(with_rows, index=False)
    says(promo_plan(tmp_path / "short.csv", days=5), "the file covers 01/05/2025 to 05/05/2025", data=["--data", with_rows])
    says(promo_plan(tmp_path / "named.csv", name="promos"), "no column 'promo', a future covariate of the run (did you mean 'promos'?)")
