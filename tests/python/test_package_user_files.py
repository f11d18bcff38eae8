"""Files and folders of the user's beside and in the run folder: a fit of any estimator, however it ends, leaves them as they are."""

import os
import pathlib

import numpy as np
import pandas as pd
import pytest
import xarray

import modewise
from modewise import errors, series_classifier

QUIET = {"run": "sales", "verbosity": -1}
TINY = {"model.width": 8, "model.hidden": 8, "model.heads": 2, "model.layers": 1, "train.max_steps": 2, "output.report": False}
ENDINGS = [".csv", ".npy", ".ts", ".jsonl", "_labels.npy", "_mask.npy", ".data/a.csv", ".data/mine/b.csv", ".data2/c.csv"]


def wide():
    return pd.DataFrame(np.sin(np.arange(240.0)[:, None] / [3, 5]), columns=["a", "b"], index=pd.date_range("2026-01-01", periods=240, freq="h"))


def long():
    melted = wide().reset_index(names="ds").melt("ds", var_name="unique_id", value_name="y")
    return melted.assign(twice=2 * melted["y"])


def scene():
    return np.arange(64 * 64 * 2, dtype=np.float32).reshape(64, 64, 2) % 7, np.arange(64 * 64).reshape(64, 64) // 32 % 2 + 1


def volumes():
    return np.arange(40 * 4 * 4 * 4, dtype=np.float32).reshape(40, 4, 4, 4) % 5, np.arange(40) % 2


def cases():
    return np.sin(np.arange(60)[:, None] * np.arange(16.0)[None]), np.arange(60) % 2


def forecaster(data):
    return lambda **given: modewise.Forecaster(**{"model": "dlinear", "horizon": 4, "lookback": 12, "settings": {"train.max_steps": 2, "output.report": False},
                                                  **QUIET, **given}).fit(data())  # fmt: skip


def segmenter(**given):
    settings = {**TINY, "data.window": 16, "train.batch_size": 4}
    return modewise.Segmenter(**{"settings": settings, **QUIET, **given}).fit(*scene())


def volume_classifier(**given):
    return modewise.VolumeClassifier(**{"settings": TINY, **QUIET, **given}).fit(*volumes())


def series_estimator(**given):
    return modewise.SeriesClassifier(**{"settings": TINY, **QUIET, **given}).fit(*cases())


def language_model(**given):
    if "model" in given:
        given["attention"] = given.pop("model")
    settings = {"model.layers": 1, "model.width": 16, "model.heads": 2, "train.max_steps": 2, "train.batch_size": 2, "output.report": False}
    return modewise.LanguageModel(**{"settings": settings, "fold": [0, 4], "context": 16, **QUIET, **given}).fit(["a rope of sand " * 9] * 20)


FITS = {
    "wide frame": forecaster(wide),
    "long frame": forecaster(long),
    "array": forecaster(lambda: wide().to_numpy()),
    "xarray": forecaster(lambda: xarray.DataArray(wide().to_numpy(), dims=("time", "site"))),
    "scene": segmenter,
    "volumes": volume_classifier,
    "series": series_estimator,
    "texts": language_model,
}
WRITERS = [(np, "save"), (pd.DataFrame, "to_csv"), (series_classifier, "write_samples"), (pathlib.Path, "write_text")]
every_estimator = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)


def tree(but=None):
    """Every file and folder with its content, but for the run."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(pathlib.Path().rglob("*"))
            if but is None or pathlib.Path(but) not in (path, *path.parents)}  # fmt: skip


@pytest.fixture(autouse=True)
def foreign_files(tmp_path, monkeypatch):
    """Files of the user, with the names that estimators once gave to their data."""
    monkeypatch.chdir(tmp_path)
    for ending in [*ENDINGS, "_old/config.toml"]:
        for stem in ("sales", "runs/hot"):
            file = pathlib.Path(stem + ending)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"mine: {file}")
    pathlib.Path("data").mkdir()
    pathlib.Path("data/sales.csv").write_text("mine too")


@every_estimator
def test_a_fit_that_fails_at_once_changes_nothing(fit):
    before = tree()
    for given in ({}, {"overwrite": True}, {"run": None}, {"run": "new/deep/run"}):
        with pytest.raises(errors.ModewiseError):
            fit(model="nosuchmodel", **given)
        assert tree() == before


@every_estimator
def test_a_fit_that_succeeds_changes_the_run_alone(fit):
    before = tree()
    made = fit()
    assert tree(but="sales") == before
    assert (os.listdir("sales/data")[0]).startswith("sales")
    assert made.run_ == os.path.abspath("sales")
    made.evaluate()
    assert tree(but="sales") == before


@every_estimator
def test_a_fit_that_fails_late_changes_the_run_alone(fit, monkeypatch):
    """The run has begun, so that it stays with its data and can be resumed."""
    before, train = tree(), modewise.tasks.train

    def fail_late(*arguments, **named):
        train(*arguments, **named)
        raise errors.ReadWriteError("the disk is full")

    with monkeypatch.context() as patched, pytest.raises(errors.ReadWriteError):
        patched.setattr(modewise.tasks, "train", fail_late)
        fit()
    assert tree(but="sales") == before
    assert os.path.isfile("sales/config.toml") and os.listdir("sales/data")
    modewise.tasks.resume("sales", verbosity=-1)


def interrupted(*_, **__):
    raise KeyboardInterrupt


@every_estimator
@pytest.mark.parametrize("place", ["while the data are written", "before the run begins"])
def test_a_fit_that_is_interrupted_changes_nothing(fit, place, monkeypatch):
    before = tree()
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        if place == "before the run begins":
            patched.setattr(modewise.tasks, "train", interrupted)
        else:
            for owner, name in WRITERS:
                patched.setattr(owner, name, written_in_part(getattr(owner, name)))
        fit()
    assert tree() == before


def written_in_part(write):
    def write_and_stop(*arguments, **named):
        write(*arguments, **named)
        raise KeyboardInterrupt

    return write_and_stop


@every_estimator
def test_a_disk_that_takes_nothing_is_a_sentence(fit, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "sales/data/x")

    before = tree()
    with monkeypatch.context() as patched, pytest.raises(errors.ReadWriteError, match="^cannot write sales/data/x: No space left on device$"):
        for owner, name in WRITERS:
            patched.setattr(owner, name, full)
        fit()
    assert tree() == before


@every_estimator
def test_a_run_that_is_replaced_keeps_what_is_not_its_own(fit):
    fit()
    pathlib.Path("sales/notes.txt").write_text("mine")
    pathlib.Path("sales/data2").mkdir()
    pathlib.Path("sales/data2/x.csv").write_text("mine")
    before, beside = tree(), tree(but="sales")
    with pytest.raises(errors.CannotCreateError, match="^sales exists already"):
        fit()
    with pytest.raises(errors.ModewiseError):
        fit(model="nosuchmodel", overwrite=True)
    assert tree() == before  # the earlier run is whole
    fit(overwrite=True, seed=1)
    assert tree(but="sales") == beside
    assert not os.path.exists("sales/data") and os.listdir("sales/data3")
    assert pathlib.Path("sales/notes.txt").read_text() == pathlib.Path("sales/data2/x.csv").read_text() == "mine"
    modewise.tasks.evaluate("sales", split="validation")


def test_a_folder_of_the_users_is_no_run_to_begin_in():
    pathlib.Path("sales").mkdir()
    pathlib.Path("sales/model").write_text("mine")
    before = tree()
    with pytest.raises(errors.CannotCreateError, match="^sales exists already"):
        FITS["wide frame"]()
    with pytest.raises(errors.CannotCreateError, match="^sales contains model, which no run manifest lists"):
        FITS["wide frame"](overwrite=True)
    assert tree() == before


@pytest.mark.parametrize("run", ["sales.csv", "sales.csv/run"])
def test_a_file_is_no_folder(run):
    before = tree()
    with pytest.raises(errors.CannotCreateError, match="^cannot create sales.csv"):
        FITS["wide frame"](run=run)
    assert tree() == before


def test_an_empty_folder_stays_where_the_run_does_not_begin():
    pathlib.Path("sales").mkdir()
    with pytest.raises(errors.UsageError):
        FITS["wide frame"](model="nosuchmodel")
    assert os.listdir("sales") == []


def test_data_of_the_run_that_would_be_replaced_are_refused():
    FITS["wide frame"]()
    before, file = tree(), os.path.abspath("sales/data/sales.csv")
    with pytest.raises(errors.UsageError) as error:
        forecaster(lambda: file)(overwrite=True)
    assert str(error.value) == f"{file} belongs to the run in sales, which the new run would replace: copy it elsewhere, or choose another folder"
    assert tree() == before


def test_a_run_with_its_data_beside_it_still_opens():
    """As estimators made them before: the data keep their place when the run is opened, evaluated and replaced."""
    wide().to_csv("old.csv", index_label="date")
    settings = {"model.name": "dlinear", "forecast.horizon": 4, "forecast.lookback": 12, "train.max_steps": 2, "output.report": False,
                "data.path": os.path.abspath("old.csv")}  # fmt: skip
    modewise.tasks.train("forecasting", settings, out="old", verbosity=-1)
    before = tree(but="old")
    made = modewise.Forecaster.from_run("old")
    assert made.predict(2).shape == (2, 12)
    assert made.evaluate() == modewise.tasks.evaluate("old")
    FITS["wide frame"](run="old", overwrite=True)
    assert tree(but="old") == before
