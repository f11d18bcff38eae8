"""Panels in Python: long frames with ids into Forecaster, forecasts as long frames, loaded runs."""
import io
import json

import numpy as np
import pandas
import pytest

from cli_helpers import ok

modewise = pytest.importorskip("modewise")
from modewise.errors import DataError, UsageError  # noqa: E402

H = 4
PANEL = {"data.panel": "yes", "output.report": False}


def made(count=12, freq="MS", seed=1):
    rng = np.random.default_rng(seed)
    parts = []
    for i in range(count):
        rows = int(rng.integers(20, 60))
        days = pandas.date_range(f"{2000 + i}-01-01", periods=rows, freq=freq)
        parts.append(pandas.DataFrame({"unique_id": 100 - i, "ds": days, "y": 10.0 ** rng.uniform(0, 4) * (5 + rng.normal(size=rows))}))
    return pandas.concat(parts, ignore_index=True)


def fitted(frame, tmp_path, model="theta", **more):
    settings = PANEL | more.pop("settings", {})
    return modewise.Forecaster(model, horizon=H, settings=settings, run=tmp_path / "run", threads=1, verbosity=-1, **more).fit(frame)


def test_a_long_frame_is_fitted_and_forecast_as_a_panel(tmp_path):
    frame = made()
    forecast = fitted(frame, tmp_path).predict(level=95)
    assert forecast.columns.tolist() == ["unique_id", "ds", "y", "y_q0.025", "y_q0.975"]
    assert forecast.dtypes[["unique_id", "ds"]].tolist() == frame.dtypes[["unique_id", "ds"]].tolist()
    assert forecast.unique_id.tolist() == np.repeat(np.sort(frame.unique_id.unique()), H).tolist()
    for name, mine in forecast.groupby("unique_id"):
        assert mine.ds.tolist() == pandas.date_range(frame.ds[frame.unique_id == name].max(), periods=H + 1, freq="MS")[1:].tolist()
    frame.to_csv(tmp_path / "p.csv", index=False)
    ok("train", "forecast", tmp_path / "p.csv", "--horizon", H, "--model", "theta", "--set", "data.panel=yes", "--out", tmp_path / "program", "--set", "output.report=false")
    table = pandas.read_csv(io.StringIO(ok("predict", tmp_path / "program").stdout)).sort_values("unique_id", kind="stable")
    assert forecast.y.to_numpy() == pytest.approx(table.y.to_numpy(), rel=1e-6)


def test_times_and_ids_come_back_as_they_came(tmp_path):
    frame = made(count=3, freq="D")
    texts = frame.assign(unique_id=frame.unique_id.map("id-{}".format).astype("category"), ds=frame.ds.dt.strftime("%d.%m.%Y"))
    forecast = fitted(texts, tmp_path / "texts").predict()
    last, first = (frame[frame.unique_id == one].ds.max() for one in (100, 98))
    assert forecast.ds.iloc[0] == (last + pandas.Timedelta(days=1)).strftime("%d.%m.%Y") and forecast.unique_id.iloc[0] == "id-100"
    zoned = frame.assign(ds=frame.ds.dt.tz_localize("Europe/Berlin"))
    forecast = fitted(zoned, tmp_path / "zoned").predict()
    assert forecast.ds.iloc[0] == (first + pandas.Timedelta(days=1)).tz_localize("Europe/Berlin")
    indexed = fitted(frame.set_index(["unique_id", "ds"]), tmp_path / "indexed").predict()
    assert indexed.index.names == ["unique_id", "ds"] and indexed.index[0] == (98, first + pandas.Timedelta(days=1))
    two = frame.assign(store=frame.unique_id % 2, item=frame.unique_id).drop(columns="unique_id")
    forecast = modewise.Forecaster("repeat", horizon=H, settings=PANEL, run=tmp_path / "two", verbosity=-1).fit(two, id_col=["store", "item"], target_cols="y").predict()
    assert forecast[["store", "item"]].drop_duplicates().to_numpy().tolist() == [[0, 98], [0, 100], [1, 99]]


def test_a_backtest_of_a_panel_is_a_frame(tmp_path):
    fit = fitted(made(), tmp_path, "repeat", settings={"data.split_windows": 2, "data.test_windows": 2})
    frame = fit.backtest()
    said = frame.attrs["result"]["origins"]
    assert frame["time"].tolist() == [one["time"] for one in said] and len(frame) == 2
    assert frame["mase"].tolist() == [one["mase"] for one in said] and frame["seasonal_mase"].tolist() == [one["seasonal_mase"] for one in said]
    assert frame["coverage_95"].tolist() == [next(i["coverage"] for i in one["intervals"] if i["nominal"] == 0.95) for one in said]


def test_ids_that_training_has_not_seen(tmp_path):
    forecaster = fitted(made(), tmp_path, "dlinear", epochs=2)
    other = made(count=3, seed=8)
    other["unique_id"] += 1000
    forecast = forecaster.predict(data=other)
    assert forecast.unique_id.unique().tolist() == [1098, 1099, 1100] and np.isfinite(forecast.y).all()


def test_covariates_of_frames(tmp_path):
    frame = made(count=6, freq="D")
    frame["promo"] = (frame.index % 3 == 0).astype(float)
    frame["kind"] = np.where(frame.unique_id % 2 == 0, "even", "odd")
    frame.y *= 1 + frame.promo
    settings = {"data.static_covariates": ["kind"]}
    forecaster = fitted(frame, tmp_path, "tide", epochs=2, future_covariates=["promo"], settings=settings)
    assert json.loads((tmp_path / "run" / "data.json").read_text())["ahead"]["features"] == 3
    ahead = pandas.concat([pandas.DataFrame({"unique_id": name, "ds": pandas.date_range(mine.ds.max(), periods=H + 1)[1:], "promo": 1.0})
                           for name, mine in frame.groupby("unique_id")])  # fmt: skip
    forecast = forecaster.predict(future=ahead)
    assert forecast.columns[2] == "y" and len(forecast) == 6 * H
    with pytest.raises(DataError, match="'promo' of series '100' is missing"):
        forecaster.predict()


def test_frames_of_one_clock_stay_tensors_and_many_ids_are_a_panel(tmp_path):
    wide = pandas.DataFrame({"unique_id": np.repeat(list("ab"), 40), "ds": list(pandas.date_range("2020-01-01", periods=40)) * 2, "y": np.arange(80.0)})
    forecaster = modewise.Forecaster("repeat", horizon=H, run=tmp_path / "tensor", settings={"output.report": False}, verbosity=-1).fit(wide)
    assert "panel" not in json.loads((tmp_path / "tensor" / "data.json").read_text()) and len(forecaster.predict()) == 2 * H
    many = pandas.DataFrame({"unique_id": np.repeat(np.arange(501), 12), "ds": list(pandas.date_range("2020-01-01", periods=12)) * 501, "y": np.arange(501 * 12.0)})
    for panel, expected in (("auto", True), ("no", None)):
        settings = {"output.report": False} | ({} if panel == "auto" else {"data.panel": panel})
        modewise.Forecaster("repeat", horizon=2, lookback=2, run=tmp_path / panel, settings=settings, verbosity=-1).fit(many)
        assert json.loads((tmp_path / panel / "data.json").read_text()).get("panel") == expected


def test_uneven_frames_are_a_panel(tmp_path):
    days, y = pandas.date_range("2020-01-01", periods=40), np.arange(40.0)
    for shortest, panel in ((36, False), (35, True)):  # 90 % of the dates
        frame = pandas.DataFrame({"unique_id": ["a"] * 40 + ["b"] * shortest, "ds": [*days, *days[:shortest]], "y": [*y, *y[:shortest]]})
        run = tmp_path / str(shortest)
        forecast = modewise.Forecaster("repeat", horizon=2, run=run, settings={"output.report": False}, verbosity=-1).fit(frame).predict()
        assert ("panel" in json.loads((run / "data.json").read_text())) == panel
        last = days[shortest - 1] if panel else days[-1]  # a panel's series is forecast from its own end
        assert forecast.ds[forecast.unique_id == "b"].tolist() == [last + pandas.Timedelta(days=1), last + pandas.Timedelta(days=2)]


def test_frames_without_times_are_in_the_order_of_their_rows(tmp_path):
    frame = made(count=5)
    mixed = pandas.concat([mine.assign(row=range(len(mine))) for _, mine in frame.groupby("unique_id")]).sort_values("row", kind="stable")
    forecast = fitted(mixed[["unique_id", "y"]], tmp_path / "bare").predict()
    dated = fitted(frame, tmp_path / "dated", settings={"model.period": 24}).predict().sort_values("unique_id", kind="stable")
    assert forecast.columns[:3].tolist() == ["unique_id", "row", "y"]
    for name, mine in forecast.groupby("unique_id"):
        rows = (frame.unique_id == name).sum()
        assert mine.row.tolist() == [*range(rows, rows + H)]
        assert mine.y.to_numpy() == pytest.approx(dated.y[dated.unique_id == name].to_numpy(), rel=1e-6)


def test_validation_rows_of_a_panel(tmp_path):
    frame = made(count=5)
    last = frame.groupby("unique_id").ds.rank(ascending=False) <= 2 * H
    forecaster = modewise.Forecaster("repeat", horizon=H, settings=PANEL, run=tmp_path / "run", verbosity=-1).fit(frame[~last], validation=frame[last])
    found = forecaster.evaluate()
    assert found["split"] == "validation" and found["windows"] == 10  # two horizons of five series
    errors = []
    for _, mine in frame.groupby("unique_id"):
        y = mine.y.to_numpy()
        for origin in (len(y) - 2 * H, len(y) - H):
            lag = 12 if origin > 12 else 1
            errors.append(np.mean(np.abs(y[origin : origin + H] - y[origin - 1])) / np.mean(np.abs(y[lag:origin] - y[: origin - lag])))
    assert found["mase"] == pytest.approx(np.mean(errors), rel=1e-6)
    whole = modewise.Forecaster("repeat", horizon=H, settings=PANEL, run=tmp_path / "whole", verbosity=-1).fit(frame).predict()
    assert forecaster.predict().y.tolist() == whole.y.tolist()  # after the validation rows
    for change, kind, words in ((lambda rows: rows[rows.unique_id != 98], DataError, "'98' is in one of them only"),
                                (lambda rows: rows.iloc[1:], DataError, "'100' has 7, '96' 8|'100' has 7, '97' 8|'100' has 7, '98' 8|'100' has 7, '99' 8"),
                                (lambda rows: frame[frame.groupby("unique_id").cumcount() < H], DataError, "series '100' ends at"),
                                (lambda rows: rows[rows.groupby("unique_id").cumcount() < H - 1], UsageError, "3 rows for each series, which must be whole horizons of 4")):  # fmt: skip
        with pytest.raises(kind, match=words):
            modewise.Forecaster("repeat", horizon=H, settings=PANEL, verbosity=-1).fit(frame[~last], validation=change(frame[last]))


def test_plots_of_a_panel_have_a_time_axis_for_each_series(tmp_path):
    pytest.importorskip("matplotlib")
    frame = made(count=6)
    forecaster = fitted(frame, tmp_path, "dlinear", epochs=1)
    said, figure = forecaster.predict(), forecaster.plot(series=["98", "100"], past=7)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["98", "100"] and len(forecaster.plot().axes) == 4
    for axes, name in zip(figure.axes, (98, 100)):
        past, forecast = axes.lines
        mine = frame[frame.unique_id == name]
        assert list(past.get_xdata()) == list(mine.ds[-7:].to_numpy()) and past.get_ydata().tolist() == mine.y[-7:].tolist()
        assert list(forecast.get_xdata()) == list(said.ds[said.unique_id == name]) and forecast.get_ydata().tolist() == said.y[said.unique_id == name].tolist()
    with pytest.raises(UsageError, match="there is no series '7' "):
        forecaster.plot(series=["7"])
    assert len(modewise.Forecaster.from_run(tmp_path / "run").plot().axes[0].lines) == 1  # what came before is not known


@pytest.mark.parametrize("edit, kind, words", [
    (lambda frame: frame.set_index("ds"), DataError, "must be in a column, not in the index"),
    (lambda frame: pandas.concat([frame, frame.iloc[[0]]]), DataError, "series '100' has two rows at 2000-01-01"),
    (lambda frame: frame.assign(unique_id=["12" if i % 2 else 12 for i in range(len(frame))]), DataError, "written alike"),
    (lambda frame: frame.assign(unique_id=frame.unique_id.astype("float").where(frame.index != 3)), DataError, "no id in row 3"),
])
def test_bad_frames(edit, kind, words, tmp_path):
    with pytest.raises(kind, match=words):
        fitted(edit(made(count=3)), tmp_path)


@pytest.mark.parametrize("loss", ["mae", "quantile"])
def test_a_loaded_run_forecasts_a_series_as_the_program_does(loss, tmp_path):
    frame = made()
    forecaster = fitted(frame, tmp_path, "dlinear", epochs=3, loss=loss)
    expected, loaded = forecaster.predict(), modewise.load(tmp_path / "run")
    assert loaded.names == ["y"]
    for name in (100, 95):
        mine = expected[expected.unique_id == name]
        for values in (frame[frame.unique_id == name][["y"]].to_numpy(),):
            result = loaded.predict(values)
            assert result.values[0] == pytest.approx(mine.y.to_numpy(), rel=1e-5)
            columns = [column for column in mine.columns if column.startswith("y_q")]
            assert result.quantiles[0] == pytest.approx(mine[columns].to_numpy(), rel=1e-5)
    assert np.isfinite(loaded.predict(np.array([[3.0], [4.0]])).values).all()
    with pytest.raises(DataError, match=r"\[T, 1\]"):
        loaded.predict(np.zeros((4, 2)))


def test_the_phase_of_a_cycle_follows_the_dates_of_the_training(tmp_path):
    """Of later rows alone, of rows beside a series that began earlier, and in Python."""
    days, rng = pandas.date_range("2020-01-06", periods=200), np.random.default_rng(0)
    frame = pandas.concat([pandas.DataFrame({"unique_id": name, "ds": days[begin:], "y": 10 + 5 * (np.arange(begin, 200) % 7 == 2) + rng.normal(size=200 - begin)})
                           for begin, name in enumerate("abc")])  # fmt: skip
    older = pandas.DataFrame({"unique_id": "old", "ds": pandas.date_range(end="2020-01-15", periods=30), "y": rng.normal(size=30)})
    made = modewise.Forecaster("dlinear", horizon=H, lookback=10, run=tmp_path / "run", settings=PANEL | {"model.window.cycle": 7}, epochs=3, threads=1,
                               verbosity=-1).fit(frame)  # fmt: skip
    whole = made.predict()
    beside = made.predict(pandas.concat([frame, older]))
    assert beside[beside.unique_id != "old"].y.tolist() == whole.y.tolist()
    late, loaded = frame[frame.ds >= "2020-02-05"], modewise.load(tmp_path / "run")
    predicted = made.predict(late)
    for begin, name in enumerate("abc"):
        for rows, forecast, first_row in ((frame, whole, begin), (late, predicted, 30)):
            values = rows[rows.unique_id == name][["y"]].to_numpy()
            assert loaded.predict(values, first_row=first_row).values[0] == pytest.approx(forecast[forecast.unique_id == name].y.to_numpy(), rel=1e-5)
            assert loaded.predict(values, first_row=first_row + 1).values[0] != pytest.approx(forecast[forecast.unique_id == name].y.to_numpy(), rel=1e-3)
    with pytest.raises(UsageError, match="run: its model has a cycle of 7 rows, so 200 rows need first_row, the index of the first of them counted from the "
                                         "first time of the panel$"):  # fmt: skip
        loaded.predict(frame[frame.unique_id == "a"][["y"]].to_numpy())


def test_a_run_of_the_program_is_opened(tmp_path):
    made().to_csv(tmp_path / "p.csv", index=False)
    ok("train", "forecast", tmp_path / "p.csv", "--horizon", H, "--model", "dlinear", "--epochs", 2, "--set", "data.panel=yes", "--out", tmp_path / "run")
    forecast = modewise.Forecaster.from_run(tmp_path / "run").predict()
    assert forecast.columns.tolist()[:3] == ["unique_id", "ds", "y"] and len(forecast) == 12 * H


def mase(frame, season=12):
    """Mean MASE of repeating the value before the last H rows of each series."""
    series = [mine.y.to_numpy() for _, mine in frame.groupby("unique_id")]
    naive = [np.abs(y[season:-H] - y[:-H - season]).mean() for y in series]
    return np.mean([np.abs(y[-H:] - y[-H - 1]).mean() / one for y, one in zip(series, naive, strict=True)])


def test_the_last_horizon_of_each_series_of_other_data_is_evaluated(tmp_path):
    fit = fitted(made(), tmp_path, "repeat")
    for frame, windows in ((made(seed=5), 12), (made(count=3, seed=8), 3), (made(), 12)):
        found = fit.evaluate(frame)
        assert found["mase"] == pytest.approx(mase(frame), rel=1e-6) and (found["split"], found["windows"]) == ("test", windows)
        assert fit.score(frame) == -found["scaled"]["mse"]
    made(seed=5).to_csv(tmp_path / "p.csv", index=False)
    assert json.loads(ok("evaluate", fit.run_, "--data", tmp_path / "p.csv", "--json").stdout)["mase"] == fit.evaluate(made(seed=5))["mase"]
    assert modewise.Forecaster.from_run(fit.run_).evaluate(made(seed=5))["mase"] == pytest.approx(mase(made(seed=5)), rel=1e-6)
    with pytest.raises(DataError, match="^the fitted data: the run was trained without test windows"):
        fit.evaluate(split="test")


def test_other_data_are_a_panel_as_the_fitted_data_are(tmp_path):
    """Also rows of one time step, of which no column of ids would be recognised."""
    fit = modewise.Forecaster("repeat", horizon=H, run=tmp_path / "run", settings={"output.report": False}, verbosity=-1).fit(made(freq="D"))
    few = made(count=3, freq="D").groupby("unique_id").tail(2)
    assert fit.predict(data=few).y.to_numpy() == pytest.approx(np.repeat(few.groupby("unique_id").y.last().to_numpy(), H))
