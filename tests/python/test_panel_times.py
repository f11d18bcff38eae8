"""Times of panels: the step within each series, series of other phases, numbers as times, ids in any order of rows. Oracles: pandas."""
import io
import json

import numpy as np
import pandas
import pytest

import modewise
from cli_helpers import fails, ok
from modewise.errors import UsageError

PANEL = ["--set", "data.panel=yes"]
LOCAL = ["--set", "output.report=false", "--threads", 1]


def written(frame, path):
    frame.to_csv(path, index=False)
    return path


def forecast(table, run, model, *more, horizon=3, steps=()):
    """The CSV of `predict` of a local model that is trained on a table."""
    ok("train", "forecast", table, "--model", model, "--horizon", horizon, "--out", run, *LOCAL, *more)
    return pandas.read_csv(io.StringIO(ok("predict", run, *steps).stdout), dtype={"unique_id": str})


def shown(table, *more):
    return json.loads(ok("data", "show", table, "--json", *more).stdout)


def sales(counter="t", ids="unique_id", texts="{}"):
    """Ten products with one row for each of forty numbers, all products of a number one after the other."""
    rng = np.random.default_rng(3)
    rows = [(f"p{i}", texts.format(t), int(rng.integers(0, 9))) for t in range(1, 41) for i in range(10)]
    return pandas.DataFrame(rows, columns=[ids, counter, "y"])


@pytest.mark.parametrize("order", ["by time", "by id", "shuffled"])
@pytest.mark.parametrize("counter", ["t", "ds", "step", "d", "index", "week"])
def test_numbers_are_the_times_of_interleaved_series(counter, order, tmp_path):
    frame = sales(counter).astype({counter: int})
    frame = frame.drop(index=frame.index[[13, 250]])  # gaps
    frame = frame[(frame.unique_id != "p4") | (frame[counter] <= 31)]  # another end
    if order == "by id":
        frame = frame.sort_values(["unique_id", counter])
    if order == "shuffled":
        frame = frame.sample(frac=1, random_state=0)
    table = written(frame, tmp_path / "s.csv")
    described = shown(table)
    assert described["panel"] and described["series"] == 10 and [one["name"] for one in described["variables"]] == ["y"]
    assert described["rows_of_all_series"] == 10 * 40 - 9 and [described["first"], described["last"]] == ["1", "40"]
    out = forecast(table, tmp_path / "run", "repeat")
    assert list(out.columns[:3]) == ["unique_id", counter, "y"]
    last = frame.sort_values(counter).groupby("unique_id").last()
    for name, own in out.groupby("unique_id"):
        assert own[counter].tolist() == [last[counter][name] + 1 + step for step in range(3)]
        np.testing.assert_allclose(own.y, last.y[name], atol=1e-5)
    newer = frame[frame.unique_id == "p2"].sort_values(counter)
    newer = written(newer.assign(**{counter: newer[counter] + 100}), tmp_path / "n.csv")
    alone = pandas.read_csv(io.StringIO(ok("predict", tmp_path / "run", "--data", newer).stdout))
    assert alone[counter].tolist() == [141, 142, 143]


def test_steps_of_numbers(tmp_path):
    frame = sales().astype({"t": int})
    table = written(frame.assign(t=1980 + 5 * frame.t).rename(columns={"t": "ds"}), tmp_path / "s.csv")
    out = forecast(table, tmp_path / "run", "repeat", *PANEL, "--set", "data.time=ds", "--set", "data.time_format=number")
    assert out.ds[:3].tolist() == [2185, 2190, 2195]
    fails(65, "data.time_format = number needs whole numbers in each row of column 'y'",
          arguments=["data", "show", written(frame.assign(y=0.5), tmp_path / "h.csv"), *PANEL, "--set", "data.time=y", "--set", "data.time_format=number"])
    fails(65, "no column names its series: data.id names the column",
          arguments=["data", "show", written(frame[["t", "y"]], tmp_path / "o.csv"), "--set", "data.time=t", "--set", "data.time_format=number"])


def test_interleaved_ids_of_other_names_are_not_one_series(tmp_path):
    product = written(sales(ids="product"), tmp_path / "p.csv")
    words = "column 'product' names 10 series, but no column holds dates: data.panel = yes reads the rows of each series by the numbers of column 't', data.id = none one series"
    fails(65, words, arguments=["data", "show", product])
    assert shown(product, *PANEL)["series"] == 10
    assert "panel" not in shown(product, "--set", "data.id=none")


def test_interleaved_ids_without_times_are_not_one_series(tmp_path):
    frame = sales(texts="d_{}")
    words = "column 'unique_id' names 10 series, but no column holds dates: data.panel = yes reads the rows of each series in their order, data.id = none one series"
    for name, one in (("texts", frame), ("none", frame.drop(columns="t"))):
        table = written(one, tmp_path / f"{name}.csv")
        fails(65, words, arguments=["data", "show", table])
        out = forecast(table, tmp_path / name, "repeat", *PANEL)
        np.testing.assert_allclose(out.groupby("unique_id").y.first(), frame.groupby("unique_id").y.last(), atol=1e-5)
    numbers = written(pandas.DataFrame({"store": [3, 8] * 20, "y": range(40)}), tmp_path / "store.csv")
    fails(65, "column 'store' names 2 series", arguments=["data", "show", numbers])


def test_several_columns_of_ids_without_times(tmp_path):
    frame = pandas.DataFrame([(f"i{i}", f"s{s}", i + s + t) for t in range(20) for i in range(3) for s in range(2)], columns=["item_id", "store_id", "y"])
    table = written(frame, tmp_path / "two.csv")
    fails(65, "the columns 'item_id', 'store_id' could be the series id: set data.id to one, or to all, [\"item_id\", \"store_id\"]", arguments=["data", "show", table, *PANEL])
    assert shown(table, *PANEL, "--set", 'data.id=["item_id", "store_id"]')["series"] == 6
    finest = written(frame.assign(id=frame.item_id + frame.store_id), tmp_path / "finest.csv")
    assert shown(finest, *PANEL)["series"] == 6


def test_weekly_series_of_different_weekdays(tmp_path):
    starts = {"W-MON": 60, "W-THU": 61, "W-SUN": 50}
    parts = [pandas.DataFrame({"unique_id": freq, "ds": pandas.date_range("2015-01-01", periods=rows, freq=freq), "y": np.arange(rows) % 4.0}) for freq, rows in starts.items()]
    table = written(pandas.concat(parts), tmp_path / "w.csv")
    for index, more in enumerate(([], ["--set", "data.dates=rows"])):
        described = shown(table, *PANEL, *more)
        assert described["frequency"] == "7 d" and described["rows_of_all_series"] == sum(starts.values())
        assert [described["first"], described["last"]] == ["2015-01-01", max(part.ds.max() for part in parts).date().isoformat()]
        out = forecast(table, tmp_path / f"run{index}", "seasonal", *PANEL, *more, "--set", "model.period=4")
        for part in parts:
            own = out[out.unique_id == part.unique_id[0]]
            assert pandas.DatetimeIndex(own.ds).equals(pandas.date_range(part.ds.max(), periods=4, freq=part.unique_id[0])[1:])
            np.testing.assert_allclose(own.y, (len(part) + np.arange(3)) % 4, atol=1e-5)
    assert any("the rows of each series are 7 d apart, but not on the same dates: 'W-MON' begins on 2015-01-05, 'W-THU' on 2015-01-01" in note for note in shown(table, *PANEL)["notes"])


@pytest.mark.parametrize("freqs", [("MS", "ME"), ("MS", "BME"), ("QS-JAN", "QS-FEB"), ("YS-JAN", "YE-JUN"), ("h", "h+")])
def test_series_of_one_step_and_other_phases(freqs, tmp_path):
    parts = []
    for freq in freqs:
        dates = pandas.date_range("2015-01-01", periods=40, freq=freq.rstrip("+")) + pandas.Timedelta(minutes=20 * freq.endswith("+"))
        parts.append(pandas.DataFrame({"unique_id": freq, "ds": dates, "y": np.arange(40.0)}).drop(index=7))
    table = written(pandas.concat(parts), tmp_path / "p.csv")
    out = forecast(table, tmp_path / "run", "seasonal-drift", *PANEL, "--set", "model.period=1")
    for freq, part in zip(freqs, parts):
        own = out[out.unique_id == freq]
        after = pandas.date_range(part.ds.max(), periods=4, freq=freq.rstrip("+"))[1:] if not freq.endswith("+") else part.ds.max() + pandas.to_timedelta([1, 2, 3], "h")
        assert pandas.DatetimeIndex(own.ds).equals(pandas.DatetimeIndex(after))
        np.testing.assert_allclose(own.y, [40, 41, 42], atol=1e-3)
    assert shown(table, *PANEL)["rows_of_all_series"] == 80


def test_date_parts_of_series_of_other_phases(tmp_path):
    """tide reads date parts; a series that shares its dates with another has the forecasts that it has with a third on other days."""
    made = {name: pandas.DataFrame({"unique_id": name, "ds": pandas.date_range("2015-01-01", periods=60, freq=freq), "y": np.sin(np.arange(60.0))})
            for name, freq in (("a", "W-MON"), ("b", "W-MON"), ("c", "W-THU"))}
    outs = []
    for name in ("b", "c"):
        table = written(pandas.concat([made["a"], made[name].assign(y=made["b"].y)]), tmp_path / f"{name}.csv")
        out = forecast(table, tmp_path / name, "tide", *PANEL, "--set", "data.calendar=month", "--set", "train.epochs=0")
        outs.append(out[out.unique_id == "a"][["ds", "y"]].reset_index(drop=True))  # intervals are pooled over the series
    pandas.testing.assert_frame_equal(*outs)


def test_equally_spaced_rows_within_each_series(tmp_path):
    rng = np.random.default_rng(0)
    parts = []
    for name, day in (("A", "2024-01-01"), ("B", "2024-02-03")):
        days = pandas.Timestamp(day) + pandas.to_timedelta(np.cumsum(rng.choice([9, 10, 10, 10, 11], 40)), "D")
        parts.append(pandas.DataFrame({"unique_id": name, "ds": days, "y": np.arange(40.0)}))
    table = written(pandas.concat(parts), tmp_path / "j.csv")
    fails(65, "expected dates at a constant step within each series (gaps allowed); the most common step is 10 d", "of series 'A'",
          'data.resample = "10 d"', "data.dates = \"rows\" reads the rows of each series", arguments=["data", "show", table, *PANEL])
    out = forecast(table, tmp_path / "run", "seasonal-drift", *PANEL, "--set", "data.dates=rows", "--set", "model.period=1")
    for part in parts:
        own = out[out.unique_id == part.unique_id.iloc[0]]
        assert pandas.DatetimeIndex(own.ds).equals(pandas.DatetimeIndex(part.ds.max() + pandas.to_timedelta([10, 20, 30], "D")))
        np.testing.assert_allclose(own.y, [40, 41, 42], atol=1e-3)
    assert not any("missing" in note for note in shown(table, *PANEL, "--set", "data.dates=rows")["notes"])
    monthly = pandas.DataFrame({"unique_id": "M", "ds": pandas.date_range("2024-01-01", periods=20, freq="MS"), "y": 1.0})
    fails(65, "most rows within the series are 10 d apart, but not those of 1 of 3 series: 'M'",
          arguments=["data", "show", written(pandas.concat([*parts, monthly]), tmp_path / "m.csv"), *PANEL, "--set", "data.dates=rows"])


@pytest.mark.parametrize("by", ["mean", "sum", "last"])
def test_resampled_panels(by, tmp_path):
    rng = np.random.default_rng(5)
    daily = pandas.DataFrame({"unique_id": "d", "ds": pandas.date_range("2024-01-01", periods=140), "y": rng.normal(size=140), "z": rng.normal(size=140)})
    daily.loc[[3, 20], "y"] = np.nan
    weekly = pandas.DataFrame({"unique_id": "w", "ds": pandas.date_range("2024-02-01", periods=20, freq="W-WED"), "y": rng.normal(size=20), "z": 1.0})
    table = written(pandas.concat([daily, weekly]).sample(frac=1, random_state=1), tmp_path / "r.csv")
    options = [*PANEL, "--set", "data.resample=1 week", "--set", f"data.resample_by={by}"]
    out = forecast(table, tmp_path / "run", "repeat", *options)
    for name, frame in (("d", daily), ("w", weekly)):
        pooled = getattr(frame.set_index("ds")[["y", "z"]].resample("W-MON", label="left", closed="left"), by)()
        own = out[out.unique_id == name]
        assert pandas.Timestamp(own.ds.iloc[0]) == pooled.index[-1] + pandas.Timedelta(7, "D")
        np.testing.assert_allclose(own[["y", "z"]].iloc[0], pooled.iloc[-1], rtol=1e-5)
    described = shown(table, *options)
    assert described["rows_of_all_series"] == 40
    means = pandas.concat([getattr(one.set_index("ds")[["y", "z"]].resample("W-MON", label="left", closed="left"), by)() for one in (daily, weekly)]).mean()
    np.testing.assert_allclose([one["mean"] for one in described["variables"]], means, rtol=1e-9)


@pytest.mark.parametrize("ids", ["unique_id", "store", "product"])
def test_new_series_of_one_row(ids, tmp_path):
    frame = pandas.concat([pandas.DataFrame({ids: f"s{i}", "ds": pandas.date_range("2024-01-01", periods=30 + i), "y": 5.0 + i}) for i in range(3)])
    forecast(written(frame, tmp_path / "t.csv"), tmp_path / "run", "repeat", *PANEL)
    new = pandas.DataFrame({ids: ["new"], "ds": ["2024-05-11"], "y": [22.5]})
    for rows, names in ((new, ["new"]), (pandas.concat([new, new.assign(**{ids: "other", "ds": "2024-06-01"})]), ["new", "other"])):
        out = pandas.read_csv(io.StringIO(ok("predict", tmp_path / "run", "--data", written(rows, tmp_path / "n.csv")).stdout))
        assert out[ids].unique().tolist() == names and out.ds[:3].tolist() == ["2024-05-12", "2024-05-13", "2024-05-14"]
        np.testing.assert_allclose(out.y, 22.5)


def test_text_as_future_covariate(tmp_path):
    frame = pandas.DataFrame({"unique_id": ["a"] * 40 + ["b"] * 40, "ds": [*pandas.date_range("2024-01-01", periods=40)] * 2, "promo": ["yes", "no"] * 40, "y": 1.0})
    table = written(frame, tmp_path / "c.csv")
    for panel in ("yes", "no"):
        fails(78, "data.future_covariates: column 'promo' of ", "must hold numbers, it holds text ('yes' in line 2); data.categories = promo one-hot encodes it",
              arguments=["data", "show", table, "--set", f"data.panel={panel}", "--set", "data.future_covariates=promo"])


def test_tables_that_are_no_panels_name_the_way(tmp_path):
    wide = written(pandas.DataFrame({"date": pandas.date_range("2024-01-01", periods=30), "a": 1.0, "b": 2.0}), tmp_path / "w.csv")
    fails(65, "a table with a column or a row for each series is made long by pandas.melt, or read as one tensor with data.panel = no", arguments=["data", "show", wide, *PANEL])
    (tmp_path / "m.tsf").write_text("@relation m\n@attribute series_name string\n@frequency monthly\n@data\nT1:1,2,3,4\n")
    for more in (PANEL, []):
        fails(65, "files of the Monash archive (.tsf) are not read: write them as a long table", arguments=["train", "forecast", tmp_path / "m.tsf", "--out", tmp_path / "r", *more])


def test_forecaster_with_numbers_as_times():
    frame = sales().astype({"t": int}).rename(columns={"t": "ds"})
    frame = frame[(frame.unique_id != "p4") | (frame.ds <= 31)].sample(frac=1, random_state=0)
    last = frame.sort_values("ds").groupby("unique_id").last()
    for settings in ({"data.panel": "yes"}, {}):
        out = modewise.Forecaster("repeat", horizon=2, settings=settings).fit(frame).predict()
        assert list(out.columns[:3]) == ["unique_id", "ds", "y"] and out.ds.dtype.kind == "i"
        for name, own in out.groupby("unique_id"):
            assert own.ds.tolist() == [last.ds[name] + 1, last.ds[name] + 2]
            np.testing.assert_allclose(own.y, last.y[name], atol=1e-5)
    with pytest.raises(UsageError, match="^freq: most row numbers of 'ds' within a series are 1 apart, got 2: leave it out$"):
        modewise.Forecaster("repeat", horizon=2, settings={"data.panel": "yes"}).fit(frame, freq=2)
