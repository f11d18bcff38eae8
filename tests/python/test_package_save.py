"""Runs of estimators in folders: `save` over an earlier save, `load` and clones, a folder whose run another fit replaces."""

import os
import pathlib
import pickle
import resource
import signal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import modewise
from modewise import errors

PLACES = np.arange(24) % 4
SERIES = np.eye(24)[PLACES] * 5 + np.random.default_rng(0).normal(size=(24, 24)) * 0.1
FRAME = pd.DataFrame({"a": np.sin(np.arange(200) / 3)}, index=pd.date_range("2024-01-01", periods=200, freq="h"))


def nearest(labels, **given):
    return modewise.SeriesClassifier("nearest", settings={"output.report": False}, verbosity=-1, **given).fit(SERIES, labels)


def forecaster(**settings):
    return modewise.Forecaster("dlinear", horizon=4, lookback=12, settings={"train.max_steps": 3, "output.report": False} | settings, verbosity=-1).fit(FRAME)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_save_replaces_an_earlier_one_and_nothing_else():
    names = np.array(["a", "b", "c", "d"])[PLACES]
    nearest(PLACES % 3).save("kept")
    pathlib.Path("kept/notes.txt").write_text("mine")
    made = nearest(names)
    made.save("kept", overwrite=True)
    assert np.array_equal(modewise.SeriesClassifier.load("kept").predict(SERIES), made.predict(SERIES))
    assert made.score(SERIES, names) == 1 and pathlib.Path("kept/notes.txt").read_text() == "mine"
    plain, calibrated = forecaster(**{"calibration.method": "none"}), forecaster()
    for one in (calibrated, plain, calibrated):
        one.save("forecaster", overwrite=True)
        assert modewise.Forecaster.load("forecaster").predict().columns.tolist() == one.predict().columns.tolist()
    assert len(calibrated.predict().columns) > len(plain.predict().columns)


def test_a_save_that_cannot_be_written_names_the_folder_alone():
    made, limits = nearest(PLACES), resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(errors.ReadWriteError) as error:
            made.save("kept")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert str(error.value) == "save: cannot copy the run to kept: File too large" and os.listdir("kept") == []


def test_a_save_replaces_only_what_a_run_lists():
    made = nearest(PLACES)
    with pytest.raises(errors.UsageError, match="is the run of this SeriesClassifier itself$"):
        made.save(made.run_, overwrite=True)
    os.mkdir("mine")
    pathlib.Path("mine/report.txt").write_text("mine")
    made.save("mine", overwrite=True)
    pathlib.Path("foreign").mkdir()
    pathlib.Path("foreign/manifest.json").write_text('{"task": "x", "files": ["*", "notes.txt", "manifest.json"]}')
    pathlib.Path("foreign/notes.txt").write_text("mine")
    made.save("foreign", overwrite=True)
    assert pathlib.Path("foreign/notes.txt").read_text() == "mine"
    os.mkdir("theirs")
    pathlib.Path("theirs/data").write_text("mine")
    with pytest.raises(errors.CannotCreateError) as error:
        made.save("theirs", overwrite=True)
    assert str(error.value) == "theirs contains data, which no run manifest lists: move it away, or choose another folder"
    assert os.listdir("theirs") == ["data"] and pathlib.Path("mine/report.txt").read_text() == "mine"


@pytest.mark.parametrize("labels", [[3, 1, 2, 10], [True, False, True, False], ["c", "a", "b", "10"]])
def test_labels_of_type_object_keep_their_types_in_a_saved_run(labels):
    y = np.array(labels, dtype=object)[PLACES]
    made = nearest(y)
    made.save("kept")
    again = modewise.SeriesClassifier.load("kept")
    assert again.classes_.tolist() == made.classes_.tolist() == sorted(set(labels))
    assert list(again.predict(SERIES)) == list(made.predict(SERIES)) and again.score(SERIES, y) == made.score(SERIES, y) > 0.9


def test_an_opened_run_is_cloned_and_trains_runs_of_its_own():
    np.savetxt("a_TRAIN.csv", np.column_stack([SERIES, PLACES]), delimiter=",", header=",".join([*(f"t{step}" for step in range(24)), "kind"]), comments="")
    np.savetxt("b.csv", np.column_stack([SERIES, PLACES])[:12], delimiter=",", header=",".join([*(f"t{step}" for step in range(24)), "kind"]), comments="")
    settings = {"data.train": "a_TRAIN.csv", "data.test": "b.csv", "data.label": "kind", "model.name": "nearest", "output.report": False}
    modewise.tasks.train("series_classification", settings, out="run", verbosity=-1)
    before = {path: path.read_bytes() for path in pathlib.Path("run").rglob("*") if path.is_file()}
    opened = modewise.SeriesClassifier.load("run").set_params(verbosity=-1)
    assert opened.run is None and not any("kind" in str(value) or "csv" in str(value) for value in opened.get_params().values())
    names = np.array(["a", "b", "c", "d"])[PLACES]
    assert clone(opened).fit(SERIES, names).score(SERIES, names) == 1
    assert cross_val_score(opened, SERIES, names, cv=2, error_score="raise").mean() > 0.9
    assert {path: path.read_bytes() for path in pathlib.Path("run").rglob("*") if path.is_file()} == before


def test_a_run_that_another_fit_replaced_is_not_used():
    first = nearest(PLACES, run="shared", overwrite=True)
    kept = pickle.dumps(first)
    second = clone(first).fit(SERIES, np.array(["d", "c", "b", "a"])[PLACES])
    assert second.predict(SERIES[:2]).tolist() == ["d", "c"]
    for use in (first.predict, lambda _: first.save("kept"), lambda _: first.evaluate()):
        with pytest.raises(errors.UsageError) as error:
            use(SERIES)
        assert str(error.value) == (f"the run of this SeriesClassifier in {os.path.abspath('shared')} was replaced by another one: fit it again, and give "
                                    "estimators that are used together, such as clones, run=None or folders of their own")  # fmt: skip
    assert pickle.loads(kept).predict(SERIES[:2]).tolist() == [0, 1]
    assert first.fit(SERIES, PLACES).predict(SERIES[:2]).tolist() == [0, 1]
