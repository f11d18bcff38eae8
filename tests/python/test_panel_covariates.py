"""Covariates of panels: future covariates, calendar features and static covariates. Oracles: series made of their covariates."""
import io
import json

import numpy as np
import pandas
import pytest

from cli_helpers import fails, ok

H = 7


def made(count=16, rows=70, seed=3):
    """A frame of series whose values follow a promotion, a region, and a weekday; all columns also for H rows ahead."""
    rng = np.random.default_rng(seed)
    parts = []
    for i in range(count):
        days = pandas.date_range("2022-01-03", periods=rows + H) + pandas.Timedelta(days=int(rng.integers(0, 300)))
        promo = (rng.random(rows + H) < 0.3).astype(float)
        level, region = 10.0 ** rng.uniform(0, 5), ("north", "south")[i % 2]
        shape = 10 + 3 * promo * (1 if region == "north" else -1) + 0.05 * rng.normal(size=rows + H)
        parts.append(pandas.DataFrame({"unique_id": f"s{i:02d}", "ds": days.strftime("%Y-%m-%d"), "promo": promo, "region": region,
                                       "size": 2.0 + i, "y": level * shape, "ahead": np.arange(rows + H) >= rows}))  # fmt: skip
    return pandas.concat(parts, ignore_index=True)


def written(frame, path, *, future=True, columns=("unique_id", "ds", "promo", "region", "size", "y")):
    """The table without the values to forecast, with or without the rows ahead."""
    table = frame.copy()
    table.loc[table.ahead, "y"] = np.nan
    if not future:
        table = table[~table.ahead]
    table[list(columns)].to_csv(path, index=False)
    return path


def train(table, out, *more, lookback=14):
    return ok("train", "forecast", table, "--horizon", H, "--lookback", lookback, "--out", out, "--overwrite", "--threads", 1, "--set", "data.panel=yes",
              "--set", "output.report=false", *more)  # fmt: skip


def mase(run):
    return json.loads((run / "metrics.json").read_text())["test"]["mase"]


def predictions(run, *more):
    return pandas.read_csv(io.StringIO(ok("predict", run, *more).stdout))


FAST = ["--patience", 0, "--set", "train.optimizer.learning_rate=0.01"]
PROMO = ["--set", "data.future_covariates=promo", "--set", "data.drop=size"]


@pytest.fixture(scope="module")
def promo_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("promo")
    frame = made()
    train(written(frame, folder / "p.csv"), folder / "run", "--model", "tide", "--epochs", 120, *FAST, *PROMO, "--set", "data.static_covariates=region")
    return folder, frame


def test_future_and_static_covariates_explain_the_values(promo_run):
    folder, frame = promo_run
    train(written(frame, folder / "past.csv", future=False), folder / "without", "--model", "dlinear", "--epochs", 40, "--set", "data.columns=y")
    assert mase(folder / "run") < 0.5 * mase(folder / "without")
    truth = frame[frame.ahead]
    forecast = predictions(folder / "run")
    assert forecast.unique_id.tolist() == truth.unique_id.tolist() and forecast.ds.tolist() == truth.ds.tolist()
    level = frame.groupby("unique_id").y.transform("mean")[frame.ahead].to_numpy()
    assert np.abs(forecast.y.to_numpy() - truth.y.to_numpy()).mean() < 0.5 * np.abs(truth.y.to_numpy() - level).mean()
    data = json.loads((folder / "run" / "data.json").read_text())
    assert data["ahead"] == {"features": 3, "modes": 0, "missing": False}
    assert data["static_covariates"] == [{"name": "region", "categories": ["north", "south"], "mean": 0, "std": 1}]
    assert data["variables"] == ["y"]


def test_covariates_ahead_may_be_in_a_file_of_their_own(promo_run, tmp_path):
    folder, frame = promo_run
    expected = predictions(folder / "run")
    past = written(frame, tmp_path / "past.csv", future=False)
    ahead = frame[frame.ahead].sample(frac=1, random_state=0)
    ahead[["unique_id", "ds", "promo"]].to_csv(tmp_path / "ahead.csv", index=False)
    assert predictions(folder / "run", "--data", past, "--future", tmp_path / "ahead.csv").equals(expected)
    first = frame[frame.ahead].iloc[0]
    fails(65, "'promo' of series 's00' is missing on", first.ds, "step 1", "--future", arguments=["predict", folder / "run", "--data", past])
    ahead[ahead.unique_id != "s03"].to_csv(tmp_path / "less.csv", index=False)
    less = tmp_path / "less.csv"
    fails(65, f"{less}: ", "'promo' of series 's03'", "the file has no rows of the series; its ids are 's", arguments=["predict", folder / "run", "--data", past, "--future", less])
    ahead[ahead.ds != ahead.ds.max()].to_csv(less, index=False)
    fails(65, f"{less}: ", "is missing on", "the file covers", "and the model needs", arguments=["predict", folder / "run", "--data", past, "--future", less])


def test_unseen_ids_are_forecast_with_their_covariates(promo_run, tmp_path):
    folder, _ = promo_run
    other = made(count=4, seed=9)
    other["unique_id"] = "new-" + other.unique_id
    forecast = predictions(folder / "run", "--data", written(other, tmp_path / "other.csv"))
    truth = other[other.ahead]
    assert forecast.unique_id.tolist() == truth.unique_id.tolist()
    level = other.groupby("unique_id").y.transform("mean")[other.ahead].to_numpy()
    error = np.abs(forecast.y.to_numpy() - truth.y.to_numpy()) / level
    assert error.mean() < 0.7 * (np.abs(truth.y.to_numpy() - level) / level).mean()


def test_unknown_categories_are_refused(promo_run, tmp_path):
    folder, _ = promo_run
    other = made(count=3, seed=9)
    other["region"] = other.region.mask(other.unique_id == "s01", "west")
    fails(65, "'region' of series 's01' is 'west'", "north, south", arguments=["predict", folder / "run", "--data", written(other, tmp_path / "o.csv")])


def test_static_covariates_must_be_constant(promo_run, tmp_path):
    _, frame = promo_run
    varying = frame.copy()
    varying.loc[75 + H + 1, "region"] = "east"
    table = written(varying, tmp_path / "p.csv")
    more = ["--horizon", H, "--set", "data.panel=yes", "--set", "data.static_covariates=region", "--set", "data.columns=y", "--model", "tide", "--out", tmp_path / "r"]
    line = fails(65, "p.csv:", "static covariate 'region' of series 's01' is east, but south", arguments=["train", "forecast", table, *more])
    assert f"p.csv:{75 + H + 3}:" in line
    fails(78, "no column 'regio'", "region", arguments=["train", "forecast", table, *more[:4], "--set", "data.static_covariates=regio", "--out", tmp_path / "r"])
    fails(78, "data.static_covariates", "data.panel = yes", arguments=["train", "forecast", table, "--set", "data.panel=no", *more[4:]])


@pytest.mark.parametrize("model", ["dlinear", "theta", "patchtst"])
def test_models_without_covariates_say_so(promo_run, model, tmp_path):
    folder, _ = promo_run
    for key, settings in (
        ("data.future_covariates and data.calendar need", ["--set", "data.calendar=auto", "--set", "data.drop=size", "--set", "data.future_covariates=promo"]),
        ("data.future_covariates needs", PROMO), ("data.static_covariates needs", ["--set", "data.static_covariates=region", "--set", "data.columns=y"]),
    ):  # fmt: skip
        fails(78, f"{key} a model with covariates (", f"'{model}' has none", arguments=["train", "forecast", folder / "p.csv", "--horizon", H, "--model", model, "--set", "data.panel=yes",
                                                                 *settings, "--out", tmp_path / "run", "--overwrite"])  # fmt: skip


def test_hot_takes_all_kinds_of_covariates(promo_run, tmp_path):
    folder, _ = promo_run
    train(folder / "p.csv", tmp_path / "run", "--model", "hot", "--epochs", 3, "--set", "data.future_covariates=promo", "--set", "data.calendar=auto",
          "--set", 'data.static_covariates=["region", "size"]')  # fmt: skip
    data = json.loads((tmp_path / "run" / "data.json").read_text())
    assert data["ahead"]["features"] == 1 + 3 * 2 + 2 + 1  # promo; weekday, day and yearday, each sine and cosine; two regions; size
    assert data["static_covariates"][1] == {"name": "size", "categories": [], "mean": 9.5, "std": pytest.approx(np.arange(16).std())}
    assert np.isfinite(predictions(tmp_path / "run").y).all()


def test_calendar_features_find_the_weekday(tmp_path):
    """Each series has one peak a week, on a Saturday, and begins on another weekday; a lookback of three rows does not show it."""
    frame = made(count=21, rows=60)
    frame["y"] = 1.0 + 5 * (pandas.to_datetime(frame.ds).dt.dayofweek == 5)
    table = written(frame, tmp_path / "p.csv", future=False, columns=("unique_id", "ds", "y"))
    train(table, tmp_path / "run", "--model", "tide", "--epochs", 120, *FAST, "--set", "data.calendar=weekday", lookback=3)
    forecast = predictions(tmp_path / "run")
    peaks = pandas.to_datetime(forecast.loc[forecast.groupby("unique_id").y.idxmax(), "ds"]).dt.dayofweek
    assert (peaks == 5).all()


def test_missing_covariates_have_flags(promo_run, tmp_path):
    _, frame = promo_run
    holes = frame.copy()
    holes.loc[[5, 6, 100], "promo"] = np.nan
    train(written(holes, tmp_path / "p.csv"), tmp_path / "run", "--model", "tide", "--epochs", 2, "--set", "data.future_covariates=promo", "--set", "data.columns=y")
    assert json.loads((tmp_path / "run" / "data.json").read_text())["ahead"] == {"features": 2, "modes": 0, "missing": True}
    assert np.isfinite(predictions(tmp_path / "run").y).all()
