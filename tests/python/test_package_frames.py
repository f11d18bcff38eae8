"""modewise.Forecaster on frames of polars, labelled arrays of xarray, frames that know how to become pandas', and arrays of
every kind: the same training as on a pandas frame, the forecast in the kind that was given, sentences for what is wrong."""

import datetime

import numpy as np
import pandas as pd
import pytest
import torch

from modewise import errors
from test_package_forecaster import QUICK, fitted, in_a_folder_of_its_own, long_frame, wide_frame  # noqa: F401

SERIES = list("abc")


@pytest.fixture
def pl():
    return pytest.importorskip("polars", reason="frames of polars are tested where polars is installed")


@pytest.fixture
def xr():
    return pytest.importorskip("xarray", reason="labelled arrays are tested where xarray is installed")


def in_polars(pl, frame):
    return pl.DataFrame({name: frame[name].to_numpy() for name in frame.columns})


def refused(data, sentence):
    with pytest.raises(errors.DataError) as error:
        fitted(data)
    assert str(error.value) == sentence


@pytest.mark.parametrize("lazy", [False, True])
def test_a_wide_frame_of_polars_comes_back_as_one(pl, lazy):
    wide = wide_frame()
    given = in_polars(pl, wide.reset_index()).cast({"when": pl.Datetime("ms")})
    found, wanted = fitted(given.lazy() if lazy else given).predict(), fitted(wide).predict()
    assert type(found) is pl.DataFrame
    assert found.columns == ["when", *wanted.columns]
    assert found.schema["when"] == pl.Datetime("ms")
    assert found["when"].to_list() == list(wanted.index.to_pydatetime())
    assert np.array_equal(found.drop("when").to_numpy(), wanted.to_numpy())


def test_a_long_frame_of_polars_comes_back_as_one(pl):
    long = long_frame(wide_frame())
    found, wanted = fitted(in_polars(pl, long)).predict(3), fitted(long).predict(3)
    assert found.columns == list(wanted.columns)
    assert found["unique_id"].to_list() == [name for name in SERIES for _ in range(3)]
    assert found["ds"].to_list() == list(wanted["ds"].dt.to_pydatetime())
    assert np.array_equal(found["y"].to_numpy(), wanted["y"])


def test_zones_days_words_and_missing_cells_of_polars(pl):
    wide = wide_frame()
    given = in_polars(pl, wide.reset_index())
    zoned = given.with_columns(pl.col("when").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin"))
    found = fitted(zoned, model="repeat").predict(2)
    assert found.schema["when"].time_zone == "Europe/Berlin"
    assert [str(time) for time in found["when"]] == ["2020-01-13 13:00:00+01:00", "2020-01-13 14:00:00+01:00"]
    days = in_polars(pl, wide_frame(freq="D").reset_index()).cast({"when": pl.Date})
    found = fitted(days, model="repeat").predict(1)
    assert found["when"].to_list() == [datetime.date(2020, 10, 27)]
    words = given.with_columns(pl.col("when").dt.strftime("%Y-%m-%d %H:%M").alias("ds")).drop("when")
    assert fitted(words, model="repeat").predict(1)["ds"].to_list() == ["2020-01-13 12:00"]
    gaps = given.with_columns(pl.when(pl.int_range(300) == 7).then(None).otherwise(pl.col("a")).alias("a"))
    masked = wide.copy()
    masked.iloc[7, 0] = np.nan
    assert np.array_equal(fitted(gaps).predict().drop("when").to_numpy(), fitted(masked).predict().to_numpy())


def test_rows_of_polars_without_times_are_counted(pl):
    found = fitted(in_polars(pl, wide_frame()), model="repeat").predict(2)
    assert found.columns[1] == "a"
    assert found[found.columns[0]].to_list() == [300, 301]


def test_bad_frames_of_polars_are_sentences(pl):
    given = in_polars(pl, wide_frame(60).reset_index())
    refused(given.with_columns(pl.lit("x").alias("b")), "frame: column 'b' must hold numbers, got str: convert it (pandas.to_numeric), drop it, or name it in id_col")
    refused(pl.concat([given, given[3:4]]), "frame: it has two rows at 2020-01-01 03:00:00")
    refused(given.head(0), "frame: it has no rows")
    refused(given.with_columns(pl.concat_arr("a", "b").alias("b")),
            "frame: column 'b' must hold numbers, got Array(Float64, shape=(2,)): give each a column of its own")  # fmt: skip


def test_frames_that_know_pandas_come_back_in_their_kind():
    class Table:
        def __init__(self, frame):
            self.frame = frame

        @classmethod
        def from_pandas(cls, frame):
            return cls(frame)

        def to_pandas(self):
            return self.frame

    wide = wide_frame()
    found, wanted = fitted(Table(wide.reset_index())).predict(), fitted(wide).predict()
    assert type(found) is Table
    assert found.frame.equals(wanted.reset_index())
    refused(type("Odd", (), {"to_pandas": lambda self: [1]})(),
            "data must be a frame of pandas or polars, an array, an xarray.DataArray or a path, got Odd")  # fmt: skip


def cube(xr, rows=200, freq="h"):
    """[height, time, site], time amid, with coordinates and one that follows the sites."""
    t = np.arange(rows)
    values = np.stack([[np.sin(2 * np.pi * t / 24 + i + j) for j in range(3)] for i in range(2)])  # [height, site, time]
    coordinates = {"height": [10, 80], "time": pd.date_range("2020-01-01", periods=rows, freq=freq), "site": SERIES, "owner": ("site", ["x", "y", "z"])}
    return xr.DataArray(np.moveaxis(values, 2, 1), dims=("height", "time", "site"), coords=coordinates, name="wind", attrs={"units": "m/s"})


def test_a_labelled_array_comes_back_with_its_coordinates(xr):
    given = cube(xr)
    made = fitted(given)
    assert made.load().shape.series == [2, 3]
    found, wanted = made.predict(), fitted(given.transpose("time", ...).values).predict()
    assert type(found) is xr.DataArray
    assert (found.dims, found.name, found.attrs) == (given.dims, "wind", {"units": "m/s"})
    assert found.sizes == {"height": 2, "time": 8, "site": 3}
    assert list(found["height"].values) == [10, 80]
    assert list(found["owner"].values) == ["x", "y", "z"]
    assert list(found["time"].values) == list(pd.date_range("2020-01-09 08:00", periods=8, freq="h").values)
    names = [name for name in wanted.columns if "_q" not in name]
    assert np.array_equal(found.transpose("time", "height", "site").values.reshape(8, 6), wanted[names].to_numpy())
    highest = found["q0.975"].transpose("time", "height", "site").values.reshape(8, 6)
    assert np.array_equal(highest, wanted[[f"{name}_q0.975" for name in names]].to_numpy())
    assert made.predict(2).sizes["time"] == 2
    later = given.isel(time=slice(0, 100))
    assert made.predict(1, data=later)["time"].values == np.datetime64("2020-01-05T04:00")


def test_another_labelled_array_is_read_by_its_labels(xr):
    given = cube(xr)
    made = fitted(given)
    wanted, score = made.predict(data=given), made.score(given)
    turned = given.sel(site=["c", "a", "b"], height=[80, 10]).transpose("site", "height", "time")
    assert made.predict(data=turned).identical(wanted) and made.score(turned) == score
    assert np.array_equal(made.predict(data=given.drop_vars(["site", "height", "owner"])).values, wanted.values)
    for other, sentence in (
        (given.assign_coords(site=["a", "b", "q"]), "array: the labels of 'site' must be those of the fitted array; c, q are in one of them only"),
        (cube(xr, freq="D"), "array: the step of 'time' is 86400 s, that of the fitted array 3600 s"),
        (given.rename(site="place"), "array: its dimensions must be height, time, site, got height, time, place"),
        (given.isel(site=0), "array: its dimensions must be height, time, site, got height, time"),
    ):
        for ask in (made.predict, made.score):
            with pytest.raises(errors.DataError) as error:
                ask(data=other)
            assert str(error.value) == sentence


def test_times_of_labelled_arrays_in_any_order_with_gaps_and_by_months(xr):
    given = cube(xr)
    wanted = fitted(given).predict()
    assert fitted(given.isel(time=np.random.default_rng(2).permutation(200))).predict().identical(wanted)
    gaps = given.drop_isel(time=[7, 8, 50])
    full = given.transpose("time", ...).values.copy()
    full[[7, 8, 50]] = np.nan
    names = ["height", "time", "site"]
    found = fitted(gaps).predict().transpose("time", "height", "site").values.reshape(8, 6)
    masked = fitted(full).predict()
    assert np.array_equal(found, masked[[name for name in masked.columns if "_q" not in name]].to_numpy())
    assert list(fitted(given).predict().dims) == names
    for freq, following in (("MS", ["2036-09-01", "2036-10-01"]), ("ME", ["2036-09-30", "2036-10-31"]), ("D", ["2020-07-19", "2020-07-20"])):
        times = fitted(cube(xr, freq=freq), model="repeat").predict(2)["time"].values
        assert [str(time)[:10] for time in times] == following


def test_labelled_arrays_of_one_dimension_and_of_counted_rows(xr):
    one = fitted(cube(xr)[0, :, 0].drop_vars("owner"), model="repeat").predict(3)
    assert one.dims == ("time",)
    assert one.coords["height"] == 10
    counted = xr.DataArray(np.sin(np.arange(600).reshape(300, 2)), dims=("step", "site"), coords={"step": range(10, 610, 2)})
    assert list(fitted(counted, model="repeat").predict(2)["step"].values) == [610, 612]
    bare = xr.DataArray(np.sin(np.arange(600).reshape(300, 2)), dims=("time", "site"))
    assert list(fitted(bare, model="repeat").predict(2)["time"].values) == [300, 301]


def test_bad_labelled_arrays_are_sentences(xr):
    given = cube(xr, rows=60)
    refused(xr.Dataset({"wind": given}), "data must be one xarray.DataArray, got a Dataset: take a variable of it, or to_dataarray()")
    refused(given.astype(str), "array: it must hold numbers, got <U32")
    refused(given.isel(time=slice(0, 0)), "array: it must have a dimension of times and at least one row and one series, got "
                                          "{'height': 2, 'time': 0, 'site': 3}")  # fmt: skip
    refused(given.isel(time=[0, 1, 1, 2]), "array: it has two rows at 2020-01-01 01:00:00")
    refused(given.isel(time=[0]), "array: dimension 'time' has one time, which defines no step")
    times = given["time"].values.copy()
    times[3] = np.datetime64("NaT")
    refused(given.assign_coords(time=times), "array: coordinate 'time' has no time at index 3")
    refused(given.assign_coords(time=[f"day {i}" for i in range(60)]),
            "array: coordinate 'time' must hold times (datetime64) or row numbers, got str")  # fmt: skip
    uneven = given["time"].values.copy()
    uneven[-1] += np.timedelta64(20, "m")
    refused(given.assign_coords(time=uneven), "array: times of 'time' must be equally spaced; 2020-01-03 11:20:00 is not a multiple of the step of 0 "
                                              "days 01:00:00")  # fmt: skip
    far = given["time"].values.copy()
    far[-1] += np.timedelta64(900, "D")
    refused(given.assign_coords(time=far), "array: more than half of the times of 'time' from 2020-01-01 00:00:00 to 2022-06-21 11:00:00 by a step "
                                           "of 0 days 01:00:00 are missing")  # fmt: skip
    refused(given.assign_coords(time=pd.date_range("2020-01-01", periods=60, freq="100ms")),
            "array: times of 'time' must be whole seconds, got steps of 0 days 00:00:00.100000")  # fmt: skip
    refused(given.isel(site=slice(0, 2)).assign_coords(site=pd.date_range("2020-01-01", periods=2)),
            "array: 2 dimensions hold times (time, site): keep one")  # fmt: skip


def test_ids_in_any_order_come_back_in_ascending_order_and_lengths_may_differ():
    wide = wide_frame()
    long = long_frame(wide[["c", "a", "b"]])
    assert list(fitted(long, model="repeat").predict(1)["unique_id"]) == SERIES
    short = long[(long["unique_id"] != "b") | (long["ds"] >= wide.index[40])]
    masked = wide.copy()
    masked.iloc[:40, 1] = np.nan
    tensor = fitted(short, settings={**QUICK, "data.panel": "no"})  # short of 90 % of the times
    assert np.array_equal(tensor.predict()["y"].to_numpy().reshape(3, 8).T, fitted(masked).predict()[SERIES].to_numpy())


ARRAYS = {
    "requiring gradients": lambda x: torch.from_numpy(x.copy()).requires_grad_(),
    "of a module": lambda x: torch.nn.Parameter(torch.from_numpy(x.copy())),
    "bfloat16": lambda x: torch.from_numpy(x.copy()).bfloat16(),
    "half": lambda x: torch.from_numpy(x.copy()).half(),
    "not contiguous": lambda x: torch.from_numpy(x.T.copy()).T,
    "big endian": lambda x: x.astype(">f8"),
    "of 80 bits": lambda x: x.astype(np.longdouble),
    "of whole numbers": lambda x: (100 * x).astype(np.int16),
    "every second row backwards": lambda x: np.repeat(x, 2, 0)[::-1][::2][::-1],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_every_kind_are_their_numbers(name):
    given = ARRAYS[name](wide_frame().to_numpy())
    plain = given.detach().double().numpy() if isinstance(given, torch.Tensor) else np.array(given, dtype=np.float64)
    assert fitted(given).predict().equals(fitted(plain).predict())


def test_masked_numbers_are_missing_and_odd_arrays_are_sentences():
    x = wide_frame().to_numpy()
    hidden = np.random.default_rng(1).random(x.shape) < 0.1
    assert fitted(np.ma.MaskedArray(x, hidden)).predict().equals(fitted(np.where(hidden, np.nan, x)).predict())
    refused(torch.eye(3).to_sparse(), "array: it must be dense, got a tensor of layout torch.sparse_coo: data.to_dense()")
    refused(x.astype(complex), "array: it must hold numbers, got complex128")
    refused(x > 0, "array: it must hold numbers, got bool")
