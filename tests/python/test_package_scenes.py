"""modewise.Segmenter: scenes in, the program's class maps out; what is wrong as sentences."""

import os

import numpy as np
import pytest
import sklearn.base
import xarray

import modewise
from modewise import errors

SETTINGS = {"data.window": 32, "train.epochs": 3, "train.batch_size": 4, "model.layers": 1, "output.report": False}


def scene(side=96, bands=3, seed=0):
    """[side, side, bands] and ids 3, 7 and 40 that its bands tell."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:side, 0:side]
    place = ((np.sin(x / 9) + np.cos(y / 7)) > 0.3).astype(int) + (x > 0.7 * side)
    image = np.array([[60.0, 90, 20], [120, 40, 80], [10, 150, 160]])[:, :bands][place] + random.normal(0, 8, (side, side, bands))
    return image.astype(np.float32), np.array([3, 7, 40])[place]


def fitted(X, y, **changes):
    return modewise.Segmenter(**{"verbosity": -1, "settings": SETTINGS, **changes}).fit(X, y)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_an_estimator_gives_the_programs_map():
    X, y = scene()
    made = fitted(X, y)
    assert list(made.classes_) == [3, 7, 40] and len(made.class_names_) == 3
    new, wanted = scene(side=57, seed=1)
    new[5:9, 11:20] = np.nan
    predicted = made.predict(new)
    assert predicted.shape == (57, 57) and (predicted[5:9, 11:20] == -1).all() and set(np.unique(predicted)) <= {-1, 3, 7, 40}
    np.save("new.npy", new)
    said = modewise.tasks.predict(made.run_, data="new.npy", out="map.npy")
    assert said["without_data"] == 36
    assert np.array_equal(np.where(predicted < 0, said["nodata"], predicted), np.load("map.npy"))
    assert np.array_equal(made.predict("new.npy"), predicted)
    assert {one["id"]: one["pixels"] for one in said["classes"]} == {id: int((predicted == id).sum()) for id in (3, 7, 40)}
    with_data = predicted != -1
    assert made.score(new, wanted) == (predicted == wanted)[with_data].mean() > 0.75
    assert made.score(new, np.where(wanted == 40, 255, wanted)) == (predicted == wanted)[with_data & (wanted != 40)].mean()
    np.save("new_mask.npy", wanted)
    assert made.score(new, wanted) == pytest.approx(modewise.tasks.evaluate(made.run_, data="new.npy", masks="new_mask.npy", split="all")["accuracy"])
    assert made.evaluate() == modewise.tasks.evaluate(made.run_, split="validation")
    assert not os.path.exists("runs") and sorted(os.listdir(f"{made.run_}/data")) == ["hot.npy", "hot_mask.npy"]
    again = modewise.Segmenter.from_run(made.run_)
    assert np.array_equal(again.predict(new), predicted) and again.get_params()["epochs"] == 3
    assert sklearn.base.clone(made).get_params() == made.get_params()


def test_the_map_as_an_array_is_that_of_the_geotiff():
    tifffile = pytest.importorskip("tifffile")
    X, y = scene()
    made = fitted(X, y)
    modewise.tasks.predict(made.run_, out="array.npy")
    modewise.tasks.predict(made.run_, out="map.tif")
    assert np.array_equal(np.load("array.npy"), tifffile.imread("map.tif")) and os.path.exists("map.png")


def test_other_endings_are_refused():
    made = fitted(*scene())
    with pytest.raises(errors.UsageError, match=r"--out of a class map must end in \.tif or \.npy, got 'map\.jpg'"):
        modewise.tasks.predict(made.run_, out="map.jpg")
    assert not os.path.exists("map.jpg")


def test_ids_beyond_a_byte_come_back():
    X, y = scene()
    made = fitted(X, np.array([3, 700, 40000])[np.searchsorted([3, 7, 40], y)])
    assert list(made.classes_) == [3, 700, 40000]
    assert set(np.unique(made.predict(X))) == {3, 700, 40000}


def test_a_data_array_keeps_its_coordinates_whatever_its_order():
    X, y = scene()
    at = {"y": np.arange(96) * -10.0, "x": np.arange(96) * 10.0}
    bands_first = xarray.DataArray(X.transpose(2, 0, 1), dims=("band", "y", "x"), coords=at)
    made = fitted(bands_first, xarray.DataArray(y.T, dims=("x", "y")))
    plain = fitted(X, y)
    assert made.metrics_["validation"] == plain.metrics_["validation"]
    predicted = made.predict(bands_first.transpose("x", "band", "y"))
    assert predicted.dims == ("y", "x") and np.array_equal(predicted.values, plain.predict(X))
    assert np.array_equal(predicted["y"], at["y"]) and np.array_equal(predicted["x"], at["x"])


def test_truth_values_are_0_and_1():
    X, y = scene()
    made = fitted(X, y == 7)
    assert list(made.classes_) == [0, 1] and np.array_equal(made.predict(X), fitted(X, (y == 7).astype(int)).predict(X))
    assert made.score(X, y == 7) == ((made.predict(X) == 1) == (y == 7)).mean()


def test_dates_are_the_first_dimension():
    X, y = scene()
    dates = np.stack([X, X + 1])
    made = fitted(dates, y)
    assert made.predict(dates).shape == y.shape
    with pytest.raises(errors.DataError, match="1 date"):
        made.predict(X)


@pytest.mark.parametrize("X, y, sentence", [
    (np.zeros((0, 3)), np.zeros((0, 3), int), "array: it must be [h, w], [h, w, bands] or [dates, h, w, bands] with at least one pixel, got [0, 3]"),
    (np.zeros(5), np.zeros((5, 5), int), "array: it must be [h, w], [h, w, bands] or [dates, h, w, bands] with at least one pixel, got [5]"),
    (np.zeros((5, 5)), np.zeros((5, 5)), "y must be [h, w] integers, got [5, 5] of float64"),
    (np.zeros((5, 5)), np.zeros((5, 5, 1), int), "y must be [h, w] integers, got [5, 5, 1] of int64"),
    (np.array([["a"]]), np.zeros((1, 1), int), "array: it must hold numbers, got <U1"),
    (xarray.DataArray(np.zeros((4, 4)), dims=("lat", "lon")), np.zeros((4, 4), int),
     "a DataArray must have the dimensions y and x, and at most 2 others, got (lat, lon)"),
])  # fmt: skip
def test_what_is_no_scene_is_a_sentence(X, y, sentence):
    with pytest.raises(errors.DataError) as error:
        fitted(X, y)
    assert str(error.value) == sentence
    assert not os.path.exists("runs")


def test_a_run_that_does_not_begin_leaves_nothing():
    X, y = scene()
    with pytest.raises(errors.DataError):
        fitted(X, y[:50])
    assert os.listdir() == []
    with pytest.raises(errors.UsageError, match="the scene and its mask must both be arrays or both be paths"):
        fitted(X, "mask.npy")
    with pytest.raises(errors.UsageError, match="this Segmenter is not fitted yet"):
        modewise.Segmenter().predict(X)
    made = fitted(X, y)
    with pytest.raises(errors.DataError, match=r"y must be \[96, 96\] for the scene, got \[50, 96\]"):
        made.score(X, y[:50])
    with pytest.raises(errors.DataError, match="y has no pixel of a fitted class"):
        made.score(X, np.full_like(y, 5))
    with pytest.raises(errors.DataError, match="^X has no data in the pixels of y that have a fitted class$"):
        made.score(np.full_like(X, np.nan), y)
    with pytest.raises(errors.ConfigError, match="^device cuda:99"):
        made.set_params(device="cuda:99").score(X, y)
