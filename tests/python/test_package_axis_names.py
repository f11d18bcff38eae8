"""Names of axes: columns of frames, dimensions and labels of DataArrays are matched by name, in every estimator of samples and scenes."""

import pickle

import numpy as np
import pandas as pd
import polars
import pytest
import xarray

import modewise
from modewise import errors

PLACES = np.arange(24) % 3
SERIES = np.eye(24)[PLACES] * 5 + np.random.default_rng(0).normal(size=(24, 24)) * 0.1
FRAME = pd.DataFrame(SERIES, columns=[f"t{step}" for step in range(24)])
NEAREST = {"output.report": False, "model.name": "nearest"}
TINY = {"model.width": 8, "model.hidden": 8, "model.heads": 2, "model.layers": 1, "train.max_steps": 3, "output.report": False}
SCENE = {"data.window": 16, "model.layers": 1, "model.width": 16, "train.max_steps": 20, "output.report": False}


def series(X, y=PLACES):
    return modewise.SeriesClassifier("nearest", settings={"output.report": False}, verbosity=-1).fit(X, y)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def opened(made):
    """The estimator, and the same from a saved run and from a pickle."""
    made.save("kept", overwrite=True)
    return [made, type(made).load("kept").set_params(verbosity=-1), pickle.loads(pickle.dumps(made))]


def refused(act, sentence):
    with pytest.raises(errors.DataError) as error:
        act()
    assert str(error.value) == sentence


def test_columns_of_a_frame_are_matched_by_name():
    wanted = series(SERIES).predict_proba(SERIES)
    for one in opened(series(FRAME)):
        for same in (FRAME, FRAME[FRAME.columns[::-1]], SERIES, polars.DataFrame(FRAME[FRAME.columns[::-1]].to_dict("list")), pd.DataFrame(SERIES)):
            assert np.array_equal(one.predict_proba(same), wanted)
        assert list(one.feature_names_in_) == list(FRAME.columns)
        refused(lambda made=one: made.predict(FRAME.reset_index()), "X: its columns must be those of the fitted X; index are in one of them only")
        refused(lambda made=one: made.predict(FRAME.drop(columns="t5")), "X: its columns must be those of the fitted X; t5 are in one of them only")
        twice = FRAME.set_axis([*FRAME.columns[:-1], "t0"], axis=1)
        refused(lambda made=one: made.predict(twice), "X: its columns must be those of the fitted X; t23 are in one of them only")
    assert not hasattr(series(SERIES), "feature_names_in_")


def test_columns_of_a_table_that_the_program_read_are_matched_by_name():
    FRAME.assign(label=PLACES).to_csv("table.csv", index=False)
    modewise.tasks.train("series_classification", NEAREST | {"data.path": "table.csv"}, out="run", verbosity=-1)
    made = modewise.SeriesClassifier.load("run").set_params(verbosity=-1)
    assert np.array_equal(made.predict_proba(FRAME[FRAME.columns[::-1]]), made.predict_proba(SERIES))


def test_variables_of_the_samples_of_a_list_are_matched_by_name():
    samples = [pd.DataFrame({"speed": row, "height": -row[::-1]}) for row in SERIES]
    turned = [sample[["height", "speed"]] for sample in samples]
    made = series(samples)
    assert np.array_equal(made.predict_proba(turned), made.predict_proba(samples))
    assert np.array_equal(series([*samples[:9], *turned[9:]]).predict_proba(samples), made.predict_proba(samples))


def test_dimensions_and_labels_of_samples_are_matched_by_name():
    values = np.stack([SERIES, -SERIES[:, ::-1]], -1)
    given = xarray.DataArray(values, dims=("case", "time", "sensor"), coords={"time": np.arange(24), "sensor": ["speed", "height"], "case": np.arange(24)})
    wanted = series(values).predict_proba(values)
    for one in opened(series(given)):
        for same in (given, given.transpose("sensor", "case", "time"), given.isel(sensor=[1, 0]), given.isel(time=slice(None, None, -1)), given.assign_coords(time=np.arange(24) + 100),
                     given.drop_vars("sensor"), values):  # fmt: skip
            assert np.array_equal(one.predict_proba(same), wanted)
        refused(lambda made=one: made.predict(given.assign_coords(sensor=["speed", "width"])),
                "X: the labels of 'sensor' must be those of the fitted X; height, width are in one of them only")  # fmt: skip
        refused(lambda made=one: made.predict(given.rename(sensor="band")), "X: its dimensions must be case, time, sensor, got case, time, band")


def test_volumes_and_their_validation_are_matched_by_name():
    values = np.random.default_rng(0).normal(size=(24, 4, 5, 6)).astype(np.float32) + PLACES[:, None, None, None]
    given = xarray.DataArray(values, dims=("case", "x", "y", "z"))
    made, plain = (modewise.VolumeClassifier("hot", settings=TINY, verbosity=-1).fit(X, PLACES, validation=(held, PLACES[:6]))
                   for X, held in ((given, given[:6].transpose("case", "z", "y", "x")), (values, values[:6])))  # fmt: skip
    assert made.metrics_["validation"] == plain.metrics_["validation"]
    for one in opened(made):
        assert np.array_equal(one.predict_proba(given.transpose("z", "y", "case", "x")), plain.predict_proba(values))


def test_bands_and_pixels_of_a_scene_are_matched_by_name():
    mask = (np.add.outer(np.arange(48), np.arange(48)) // 12 % 2).astype(np.uint8)
    noise = np.random.default_rng(1).normal(0, 4, (48, 48, 2))
    at = {"y": np.arange(48)[::-1] * 10.0, "x": np.arange(48) * 10.0}
    X = xarray.DataArray(noise + np.stack([mask * 40, 100 - mask * 30], -1), dims=("y", "x", "band"), coords={**at, "band": ["red", "nir"]})
    y = xarray.DataArray(mask, dims=("y", "x"), coords=at)
    made = modewise.Segmenter(settings=SCENE, verbosity=-1).fit(X, y)
    again = modewise.Segmenter(settings=SCENE, verbosity=-1).fit(X, y.sortby("y").transpose("x", "y").assign_coords(y=np.arange(48) * 10.0 + 1e-9))
    assert again.metrics_["validation"] == made.metrics_["validation"]
    wanted, accuracy = made.predict(X), made.score(X, y)
    for one in opened(made):
        assert one.predict(X.isel(band=[1, 0]).transpose("band", "x", "y")).equals(wanted)
        assert one.score(X, y.sortby("y")) == one.score(X.isel(band=[1, 0]), y) == accuracy == one.score(X.values, mask)
        refused(lambda made=one: made.score(X, y.assign_coords(x=at["x"] + 5000)),
                "y: its coordinates 'x' must be those of X, 48 from 0 to 470, got 48 from 5000 to 5470")  # fmt: skip
        refused(lambda made=one: made.predict(X.assign_coords(band=["red", "blue"])),
                "X: the labels of 'band' must be those of the fitted X; blue, nir are in one of them only")  # fmt: skip
    refused(lambda: modewise.Segmenter(settings=SCENE).fit(X, y[:40]), "y: its coordinates 'y' must be those of X, 48 from 470 to 0, got 40 from 470 to 80")
