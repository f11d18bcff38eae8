"""modewise.Forecaster on the forms of frames: times of every type and name, ids of every type, columns named by arguments. The
forecast of the model `repeat` is the last value of each series, so that each value, time and id has an oracle."""

import datetime

import numpy as np
import pandas as pd
import pytest

import modewise
from modewise import errors
from test_package_forecaster import in_a_folder_of_its_own  # noqa: F401 — a fixture

ROWS = 80
VALUES = np.sin(np.arange(ROWS) / 3)
DAYS = pd.date_range("2024-01-31", periods=ROWS, freq="D")


def fitted(data, **arguments):
    settings = {"train.max_steps": 2, "output.report": False} | arguments.pop("settings", {})
    return modewise.Forecaster("repeat", horizon=3, lookback=12, settings=settings, verbosity=-1).fit(data, **arguments)


def wide(index=None, name=None, **columns):
    frame = pd.DataFrame({"a": VALUES, "b": 2 * VALUES} | columns)
    return frame if index is None else frame.set_axis(pd.Index(index, name=name), axis=0)


def long(ids, names=("item_id", "timestamp", "target")):
    parts = [pd.DataFrame(dict(zip(names, ([one] * ROWS, DAYS, VALUES * (place + 1))))) for place, one in enumerate(ids)]
    return pd.concat(parts, ignore_index=True)


def texts(form, times=DAYS):
    return times.strftime(form)


@pytest.mark.parametrize("name", ["timestamp", "Date", "time", "Fecha", "MESS_DATUM", "when"])
def test_texts_of_dates_are_the_times_under_any_name(name):
    got = fitted(wide(**{name: texts("%Y-%m-%d")})).predict()
    assert got.index.name == name
    assert list(got.index) == ["2024-04-20", "2024-04-21", "2024-04-22"]
    np.testing.assert_allclose(got[["a", "b"]], [[VALUES[-1], 2 * VALUES[-1]]] * 3, rtol=1e-6)


@pytest.mark.parametrize("times, following", [
    (texts("%d.%m.%Y"), "20.04.2024"),
    (texts("%m/%d/%Y %H:%M"), "04/20/2024 00:00"),
    (texts("%d/%m/%Y"), "20/04/2024"),
    (texts("%Y%m%dT%H%M%S"), "20240420T000000"),
    (texts("%d %b %Y"), "20 Apr 2024"),
    (texts("%d/%m/%Y", pd.date_range("2001-01-01", periods=ROWS, freq="MS")), "01/09/2007"),
    (texts("%m/%d/%y", pd.date_range("2001-01-01", periods=ROWS, freq="MS")), "09/01/07"),
    (texts("%Y-%m", pd.date_range("2001-01-01", periods=ROWS, freq="MS")), "2007-09"),
    ([f"{2000 + i // 4}Q{i % 4 + 1}" for i in range(ROWS)], "2020Q1"),
])  # fmt: skip
def test_texts_come_back_in_their_form(times, following):
    got = fitted(wide(day=times)).predict()
    assert got.index[0] == following and got.index.dtype == pd.Index(list(times)).dtype


def test_dates_that_may_be_day_or_month_first_are_refused():
    frame = pd.DataFrame({"a": VALUES[:12], "day": [f"{i:02}/01/2024" for i in range(1, 13)]})
    with pytest.raises(errors.DataError) as error:
        fitted(frame)
    assert str(error.value) == ("frame: column 'day' may be day first or month first ('01/01/2024' in row 0): "
                                "pandas.to_datetime(frame['day'], format='%d/%m/%Y') decides")  # fmt: skip


@pytest.mark.parametrize("freq", ["M", "Q", "Q-NOV", "Y", "W", "D", "h"])
def test_periods_are_continued(freq):
    periods = pd.period_range("1950-01-05", periods=ROWS + 3, freq=freq)
    got = fitted(wide(periods[:ROWS], "p")).predict()
    assert got.index.equals(periods[ROWS:]) and got.index.name == "p" and got.index.dtype == periods.dtype
    column = fitted(wide(p=periods[:ROWS])).predict()
    assert column.index.equals(periods[ROWS:]) and column.equals(got)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_dates_keep_their_type_and_name(unit, zone):
    times = pd.date_range("2024-01-01", periods=ROWS + 3, freq="h", tz=zone, unit=unit)
    for name in ("when", None):
        got = fitted(wide(times[:ROWS], name)).predict().index
        assert got.equals(times[ROWS:]) and got.dtype == times.dtype and got.name == name


def test_objects_of_datetime_keep_their_type():
    got = fitted(wide(day=[time.date() for time in DAYS])).predict()
    assert list(got.index) == [datetime.date(2024, 4, 20), datetime.date(2024, 4, 21), datetime.date(2024, 4, 22)]


@pytest.mark.parametrize("name, column", [("load", "load"), (None, "y")])
def test_a_series_is_a_frame_of_one_column(name, column):
    got = fitted(pd.Series(VALUES, index=DAYS, name=name)).predict()
    assert list(got.columns[:2]) == [column, f"{column}_q0.025"] and got.index[0] == pd.Timestamp("2024-04-20")


def test_seconds_since_1970_are_refused_and_years_are_row_numbers():
    with pytest.raises(errors.DataError) as error:
        fitted(wide(timestamp=DAYS.as_unit("s").asi8))
    assert str(error.value) == ("frame: column 'timestamp' must hold times or row numbers, got 1706659200, which looks like a time since 1970: "
                                "pandas.to_datetime(frame['timestamp'], unit='s')")  # fmt: skip
    got = fitted(wide(year=range(1940, 2020))).predict()
    assert list(got.index) == [2020, 2021, 2022] and got.index.name == "year"


@pytest.mark.parametrize("ids, order", [
    ([10, 9, 100], [9, 10, 100]),
    (["08", "007"], ["007", "08"]),
    (pd.Categorical(["x", "y"], categories=["y", "x"]), ["y", "x"]),
    ([True, False], [False, True]),
])  # fmt: skip
def test_ids_keep_their_type(ids, order):
    frame = long(range(len(ids)))
    frame["item_id"] = pd.Series(ids).take(frame["item_id"]).to_numpy() if not isinstance(ids, pd.Categorical) else ids.take(frame["item_id"])
    got = fitted(frame.sample(frac=1, random_state=0)).predict()
    assert got["item_id"].dtype == frame["item_id"].dtype
    assert list(got["item_id"]) == [one for one in order for _ in range(3)]
    assert list(got["timestamp"].head(3)) == list(pd.date_range("2024-04-20", periods=3))
    wanted = [VALUES[-1] * (list(ids).index(one) + 1) for one in got["item_id"]]
    np.testing.assert_allclose(got["target"], wanted, rtol=1e-6)


NAMES = [["DE", "DE-LU"], ["a", "a b", "a-1", "a.b", "a+"], [".a", "..", "b"], ["", "b"], ["s1", "s10", "s2"], ['a"b', "a,b", "a'b"], ["2020-01-01", "2020-01-02"],
         ["a/b", "a\\b", "a%2fb"], [1.5, 2.5], ["x_1_z", "x_2_z"], ["é", "z", "ö", "日本"], ["x" * 300, "x" * 299 + "y"], ["日本" * 60, "b"],
         ["a\nb", "c"]]  # fmt: skip


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("variables", [["load"], ["load", "price"]])
def test_forecasts_go_to_their_series_whatever_their_names(names, variables):
    """The program orders files by their names with the extension, and cuts what all names begin and end with."""
    frame = pd.concat([pd.DataFrame({"item_id": name, "timestamp": DAYS} | {variable: 100.0 * place + 10 * number + VALUES
                                     for number, variable in enumerate(variables)}) for place, name in enumerate(names)], ignore_index=True)  # fmt: skip
    made = fitted(frame)
    for got in (made.predict(), made.predict(data=frame.sample(frac=1, random_state=0))):
        last = frame.groupby("item_id").last()
        for name, mine in got.groupby("item_id"):
            assert np.allclose(mine[variables], last.loc[name, variables].to_numpy(dtype="float64"), rtol=1e-6)


def test_plots_continue_the_rows_of_their_series():
    pytest.importorskip("matplotlib")
    frame = pd.concat([pd.DataFrame({"item_id": name, "timestamp": DAYS, "load": base + VALUES, "price": -base - VALUES})
                       for name, base in (("DE", 100.0), ("DE-LU", 300.0))])  # fmt: skip
    found = {axes.get_title(loc="left"): [line.get_ydata() for line in axes.lines] for axes in fitted(frame).plot().axes}
    assert {name: round(past[-1]) for name, (past, _) in found.items()} == {"DE / load": 101, "DE / price": -101, "DE-LU / load": 301, "DE-LU / price": -301}
    assert all(np.allclose(past[-1], forecast) for past, forecast in found.values())


def test_future_covariates_go_to_their_series_whatever_their_names():
    """A linear model of the covariate alone, whose future is another constant for each series."""
    rng = np.random.default_rng(0)
    parts, future = [], []
    for place, name in enumerate(["DE", "DE-LU", "DE.a"]):
        promo = rng.normal(size=ROWS)
        parts.append(pd.DataFrame({"unique_id": name, "ds": DAYS, "y": 5 * promo, "z": promo, "promo": promo}))
        future.append(pd.DataFrame({"unique_id": name, "ds": pd.date_range("2024-04-20", periods=3), "promo": place - 1.0}))
    made = modewise.Forecaster("tide", horizon=3, lookback=12, epochs=30, future_covariates=["promo"], verbosity=-1,
                               settings={"output.report": False, "train.optimizer.learning_rate": 0.01}).fit(pd.concat(parts))  # fmt: skip
    got = made.predict(future=pd.concat(future).sample(frac=1, random_state=0)).groupby("unique_id")["y"].mean()
    assert got["DE"] < got["DE-LU"] - 2 and got["DE-LU"] < got["DE.a"] - 2


@pytest.mark.parametrize("levels, names", [
    (["item_id", "timestamp"], ["item_id", "timestamp"]),
    (["timestamp", "item_id"], [None, None]),
])  # fmt: skip
def test_ids_and_times_as_the_index_come_back_as_the_index(levels, names):
    frame = long(["007", "08"])
    got = fitted(frame.set_index(levels).rename_axis(names)).predict()
    plain = fitted(frame).predict()
    assert got.index.names == names
    assert list(got.index) == [tuple(row) for row in plain[levels].itertuples(index=False)]
    assert list(got.columns) == list(plain.columns[2:])
    assert np.array_equal(got.to_numpy(), plain[got.columns].to_numpy())


def test_the_only_texts_that_tell_rows_of_one_time_apart_are_ids():
    """As in a file: without a known name, and without id_col."""
    given = long(["Bonn", "Köln"], ("Filiale", "Datum", "Umsatz"))
    named = fitted(given, id_col="Filiale").predict(2)
    assert fitted(given).predict(2).equals(named) and list(named["Filiale"].unique()) == ["Bonn", "Köln"]
    assert fitted(given.astype({"Filiale": "category"})).predict(2)["Umsatz"].equals(named["Umsatz"])
    for unclear in (given.assign(Stadt=given["Filiale"]), given.assign(Filiale="Bonn")):
        with pytest.raises(errors.DataError):
            fitted(unclear)


def test_dates_that_pandas_made_of_numbers_are_refused():
    with pytest.raises(errors.DataError, match=r"column 'ds' are in the first second of 1970.*read_csv dtype=\{'ds': str\}"):
        fitted(wide().assign(ds=pd.to_datetime(range(1012023, 1012023 + len(wide())))))


def test_times_as_the_index_of_a_long_frame():
    got = fitted(long([3, 1]).set_index("timestamp")).predict()
    assert list(got.columns[:3]) == ["item_id", "timestamp", "target"] and list(got["item_id"]) == [1] * 3 + [3] * 3


def test_columns_are_named_by_arguments():
    frame = long([3, 4], ("shop", "when", "sales")).assign(item="q", note="x", price=1.0)
    got = fitted(frame, id_col=["shop", "item"], time_col="when", target_cols="sales").predict()
    assert list(got.columns[:4]) == ["shop", "item", "when", "sales"] and list(got["shop"]) == [3] * 3 + [4] * 3
    assert got["shop"].dtype == "int64" and set(got["item"]) == {"q"}
    named = fitted(frame.drop(columns=["note", "item", "price"]).assign(when=lambda f: f["when"].dt.strftime("%d/%m/%Y")),
                   settings={"data.id": "shop", "data.time": "when", "data.time_format": "%d/%m/%Y"}).predict()  # fmt: skip
    assert list(named["when"].head(3)) == ["20/04/2024", "21/04/2024", "22/04/2024"] and list(named["shop"]) == list(got["shop"])
    assert np.array_equal(named["sales"], got["sales"])


def test_a_frequency_fills_absent_rows():
    days = pd.bdate_range("2024-01-01", periods=ROWS + 3)
    frame = wide(days[:ROWS]).drop(days[10])
    got = fitted(frame, freq="B").predict()
    assert got.index.equals(days[ROWS:])
    for freq, begin in (("MS", "2001-01-01"), ("ME", "2001-01-31"), ("15min", "2001-01-01"), ("W-SUN", "2001-01-07")):
        times = pd.date_range(begin, periods=ROWS + 3, freq=freq)
        assert fitted(wide(times[:ROWS]), freq=freq).predict().index.equals(times[ROWS:])
    assert list(fitted(wide(range(0, 2 * ROWS, 2)), freq=2).predict().index) == [160, 162, 164]


BROKEN = [
    (wide(DAYS, c=["x"] * ROWS), {"target_cols": ["z"]}, "frame: there is no column 'z' to forecast (there are a, b, c)"),
    (wide(DAYS), {"time_col": "z"}, "frame: there is no column 'z' of times (there are a, b)"),
    (long([1, 2]), {"id_col": "z"}, "frame: there is no column 'z' of ids (there are item_id, timestamp, target)"),
    (wide(DAYS + pd.to_timedelta(np.arange(ROWS) % 2, "h")), {"freq": "D"}, "frame: the time 2024-02-01 01:00:00 of 'date' is not one of the "
                                                                           "frequency 'D' from 2024-01-31 00:00:00 on"),
    (wide(DAYS), {"freq": "xx"}, "freq: expected a frequency of pandas such as 'h', '15min', 'D', 'B', 'W-SUN', 'MS' or 'QE', got 'xx'"),
    (wide(DAYS).rename(columns={"b": "a_q0.5"}), {}, "frame: column 'a_q0.5' has the name of a quantile of column 'a' in the forecast: rename one of "
                                                     "them"),
    (wide(DAYS).replace({0.0: np.inf}), {}, "frame: column 'a', row 0: the value is infinite; NaN is a missing value"),
    (wide(DAYS).assign(b=np.nan), {}, "frame: column 'b' has no value: drop it"),
    (wide(DAYS).assign(a=lambda f: f["a"] * 1e200), {}, "the frame's column 'a', row of 2024-03-04 00:00:00: -9.999902065507034e+199 is so large "
     "that the variance of 'a' overflows; if it stands for a missing value, name it in data.missing_values"),
    (wide(DAYS).head(8), {}, "the frame: a window of lookback 12 and horizon 3 is longer than the data, 8 rows"),
    (VALUES[:, None], {"time_col": "x"}, "time_col describes the columns of a frame; data are ndarray: for a path give settings data.id, data.time, …"),
]  # fmt: skip


@pytest.mark.parametrize("data, arguments, sentence", BROKEN)
def test_errors_speak_of_the_frame(data, arguments, sentence):
    with pytest.raises(errors.ModewiseError) as error:
        fitted(data, **arguments)
    assert str(error.value) == sentence


def test_uneven_times_and_other_columns_speak_of_the_frame():
    uneven = wide(DAYS[:-1].append(pd.DatetimeIndex(["2024-06-01 03:17:11"])))
    made = fitted(wide(DAYS))
    for ask in (lambda: fitted(uneven), lambda: made.predict(data=wide(DAYS).rename(columns={"b": "z"})), lambda: made.predict(data=wide(DAYS).head(5))):
        with pytest.raises(errors.DataError) as error:
            ask()
        assert str(error.value).startswith("the frame") and "/" not in str(error.value) and "line" not in str(error.value)


def test_ids_and_categories_of_polars_keep_their_type():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({name: long([3, 1])[name].to_numpy() for name in ("item_id", "timestamp", "target")})
    for dtype in (pl.Int32, pl.String, pl.Categorical):
        given = frame.with_columns(pl.col("item_id").cast(pl.String).cast(dtype))
        got = fitted(given).predict()
        assert got.schema["item_id"] == given.schema["item_id"] and got["item_id"].cast(pl.String).to_list() == ["1"] * 3 + ["3"] * 3
