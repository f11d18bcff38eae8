"""Panels whose file has changed since the training, or has its rows in another order."""
import json

import numpy as np
import pandas as pd
import pytest

from cli_helpers import fails, ok

DAYS = pd.date_range("2015-01-01", periods=100, freq="D")
TRAIN = ["--model", "seasonal", "--horizon", 7, "--set", "data.panel=yes", "--set", "output.report=false", "--threads", "1"]
IDS = ("a", "b", "c")


def made(ids=IDS, rows=100, seed=1):
    values = np.random.default_rng(seed).normal(10, 3, (len(ids), rows)).round(3)
    return pd.concat([pd.DataFrame({"unique_id": name, "ds": DAYS[:rows].strftime("%Y-%m-%d"), "y": values[i]}) for i, name in enumerate(ids)])


def written(frame, path):
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def run(tmp_path):
    ok("train", "forecast", written(made(), tmp_path / "p.csv"), "--out", tmp_path / "run", *TRAIN)
    return tmp_path / "run", tmp_path / "p.csv"


def warnings(*arguments):
    return [line for line in ok(*arguments).stderr.splitlines() if "the training" in line]


def test_unchanged_and_appended_rows_are_forecast_without_a_warning(run):
    folder, path = run
    assert warnings("predict", folder) == warnings("backtest", folder) == []
    written(pd.concat([made(), pd.DataFrame({"unique_id": ["a"], "ds": ["2015-04-11"], "y": [9.0]})]), path)
    assert warnings("predict", folder) == []
    assert warnings("backtest", folder) == [
        f"{path} has more rows of 1 of 3 series than in the training: their test rows begin later now; the backtest uses the test rows of now"]


def test_changed_rows_are_named(run):
    folder, path = run
    frame = made()
    frame.loc[(frame.unique_id == "b") & (frame.ds == "2015-01-05"), "y"] += 1
    written(frame, path)
    changed = f"{path} has changed since the training of {folder}: the rows of 1 of the 3 series of its training are others now: 'b'"
    assert warnings("predict", folder) == warnings("backtest", folder) == [changed]
    fails(65, f"{path} has changed since the training of {folder}: 300 rows in 3 series then, as many now, with other values; --data {path} evaluates",
          arguments=["evaluate", folder])
    written(frame[frame.unique_id != "c"], path)
    assert warnings("predict", folder) == [f"{path} has changed since the training of {folder}: 1 of the 3 series of its training has no rows now", changed]


def test_runs_without_the_test_rows_know_theirs(tmp_path):
    folder, path = tmp_path / "run", written(made(), tmp_path / "p.csv")
    ok("train", "forecast", path, "--out", folder, *TRAIN, "--no-test")
    assert warnings("predict", folder) == []
    frame = made()
    frame.iloc[0, 2] += 1
    written(frame, path)
    assert warnings("predict", folder) == [
        f"{path} has changed since the training of {folder}: the rows of 1 of the 3 series of its training are others now: 'a'"]


def test_new_series_of_other_data_are_counted(run, tmp_path):
    other = written(made(ids=("a", "x")), tmp_path / "q.csv")
    assert f"{other}: 1 of 2 series are new, the training had none of these ids: 'x'" in ok("predict", run[0], "--data", other).stderr


def test_the_order_of_rows_changes_no_interval(tmp_path):
    frame = made(ids=[f"s{i}" for i in range(9)])
    results = []
    for name, rows in (("sorted", frame), ("shuffled", frame.sample(frac=1, random_state=4))):
        ok("train", "forecast", written(rows, tmp_path / f"{name}.csv"), "--out", tmp_path / name, *TRAIN)
        metrics = json.loads((tmp_path / name / "metrics.json").read_text())["test"]
        forecast = pd.read_csv(ok_out(tmp_path / name, tmp_path / f"{name}-f.csv"), index_col=["unique_id", "ds"]).sort_index()
        results.append((metrics["intervals"], forecast))
    for one, other in zip(*(intervals for intervals, _ in results), strict=True):
        assert one == pytest.approx(other)
    pd.testing.assert_frame_equal(results[0][1], results[1][1])


def ok_out(run, path):
    ok("predict", run, "--out", path)
    return path


def weekly(first_of_b):
    values = np.random.default_rng(2).normal(10, 3, (2, 60)).round(3)
    starts = ("2015-01-05", first_of_b)  # series of other weekdays
    return pd.concat([pd.DataFrame({"unique_id": name, "ds": pd.date_range(start, periods=60, freq="7D"), "y": values[i], "promo": i})
                      for i, (name, start) in enumerate(zip("ab", starts, strict=True))])


def test_dates_of_a_series_on_another_weekday_have_changed(tmp_path):
    folder, path = tmp_path / "run", written(weekly("2015-01-08"), tmp_path / "p.csv")
    ok("train", "forecast", path, "--out", folder, *TRAIN, "--set", "data.drop=promo")
    assert warnings("predict", folder) == []
    written(weekly("2015-01-09"), path)
    assert warnings("predict", folder) == [
        f"{path} has changed since the training of {folder}: the rows of 1 of the 2 series of its training are others now: 'b'"]


def test_a_covariate_is_missing_on_the_date_of_its_series(tmp_path):
    path, small = written(weekly("2015-01-08"), tmp_path / "p.csv"), ["--set", "model.width=8", "--set", "train.epochs=1"]
    ok("train", "forecast", path, "--out", tmp_path / "run", "--model", "hot", *TRAIN[2:], *small, "--set", "data.future_covariates=promo")
    plan = pd.concat([pd.DataFrame({"unique_id": name, "ds": pd.date_range(start, periods=60 + rows, freq="7D")[60:], "promo": 1})
                      for name, start, rows in (("a", "2015-01-05", 7), ("b", "2015-01-08", 4))])
    fails(65, "promo", "of series 'b' is missing on 2016-03-31", arguments=["predict", tmp_path / "run", "--future", written(plan, tmp_path / "plan.csv")])
