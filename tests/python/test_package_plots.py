"""Forecaster.plot draws what predict says; explain is the program's, from every estimator."""

import json
import os
import sys

import numpy as np
import pandas as pd
import pytest
import xarray

import modewise
from modewise import errors

matplotlib = pytest.importorskip("matplotlib")

QUICK = {"train.max_steps": 4, "output.report": False}
HOURS = pd.date_range("2026-01-01", periods=300, freq="h", name="when")
VALUES = np.stack([np.sin(2 * np.pi * (np.arange(300) + 5 * i) / 24) for i in range(5)], 1) + 0.1 * np.random.default_rng(0).normal(size=(300, 5))


def fitted(data, **changes):
    return modewise.Forecaster(**{"model": "dlinear", "horizon": 8, "lookback": 24, "settings": QUICK, "verbosity": -1, **changes}).fit(data)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_axes_of_a_series_with_its_past_and_its_bands():
    frame = pd.DataFrame(VALUES, index=HOURS, columns=list("abcde"))
    made = fitted(frame)
    figure = made.plot(series=["c", "a"], past=30)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["c", "a"]
    said = made.predict()
    for axes, name in zip(figure.axes, "ca"):
        past, forecast = axes.lines
        assert np.array_equal(past.get_ydata(), frame[name].to_numpy()[-30:])
        assert list(past.get_xdata()) == list(HOURS[-30:])
        assert np.array_equal(forecast.get_ydata(), said[name]) and list(forecast.get_xdata()) == list(said.index)
        corners = axes.collections[0].get_paths()[0].vertices[:, 1]
        assert corners.min() == said[f"{name}_q0.025"].min() and corners.max() == said[f"{name}_q0.975"].max()
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["past", "forecast", "95 %", "80 %"]
    assert [axes.get_title(loc="left") for axes in made.plot(3).axes] == list("abcd")
    assert len(made.plot(3).axes[0].lines[0].get_ydata()) == 9 and len(made.plot(3).axes[0].lines[1].get_ydata()) == 3
    figure.savefig("forecast.png")
    assert os.path.getsize("forecast.png") > 10000


def test_long_frames_grids_and_paths():
    long = pd.DataFrame(VALUES[:, :2], index=HOURS, columns=["p", "q"]).reset_index(names="ds").melt("ds", var_name="unique_id", value_name="y")
    axes = fitted(long).plot(past=5).axes
    assert np.array_equal(axes[1].lines[0].get_ydata(), VALUES[-5:, 1])
    grid = xarray.DataArray(VALUES.T.reshape(5, 1, 300), dims=("site", "level", "time"), coords={"time": HOURS.rename("time")})
    made = fitted(grid)
    figure = made.plot(past=7)
    assert np.array_equal(figure.axes[3].lines[0].get_ydata(), VALUES[-7:, 3])
    assert np.array_equal(figure.axes[0].lines[1].get_ydata(), made.predict().values[0, 0])
    again = modewise.Forecaster.from_run(made.run_)
    assert len(again.plot().axes[0].lines) == 1  # what came before is not known


def test_wrong_names_and_no_matplotlib_are_sentences(monkeypatch):
    made = fitted(pd.DataFrame(VALUES[:, :2], index=HOURS, columns=["a", "b"]))
    with pytest.raises(errors.UsageError, match=r"^plot: there is no series 'z' \(there are a, b\)$"):
        made.plot(series=["a", "z"])
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"^plots need matplotlib, which is not installed: pip install matplotlib$"):
        made.plot()


def test_explain_is_the_programs():
    made = fitted(VALUES, model="hot", settings=QUICK | {"model.width": 16, "model.hidden": 16, "model.heads": 2})
    said = made.explain(samples=3)
    assert said["report"] == f"{made.run_}/explain/explain.html" and os.path.getsize(said["report"]) > 1000
    written = json.load(open(f"{made.run_}/explain/explain.json"))
    assert {name: said[name] for name in written} == written
    again = modewise.tasks.explain(made.run_, samples=3, split="validation", out="told")
    assert {**again, "report": 0} == {**said, "report": 0} and sorted(os.listdir("told")) == ["explain.html", "explain.json", "explain.npz"]
    with pytest.raises(errors.CannotCreateError, match="told/explain.html exists already"):
        modewise.tasks.explain(made.run_, samples=3, split="validation", out="told")
    for wrong, sentence in (({"split": "all"}, "split must be test, validation or train, got 'all'"), ({"samples": 0}, "samples must be at least 1, got 0")):
        with pytest.raises(errors.UsageError, match=sentence):
            modewise.tasks.explain(made.run_, **wrong)


def test_weights_from_a_file_or_a_run_are_a_runs_start():
    import safetensors.torch

    made = fitted(VALUES)
    loaded = made.load()
    for tensor in loaded.module.parameters():
        tensor.data += 0.25
    safetensors.torch.save_file(loaded.module.state_dict(), "moved.safetensors")
    held = fitted(VALUES, epochs=0, settings={"output.report": False, "init": os.path.abspath("moved.safetensors")})
    state = held.load().module.state_dict()
    assert all(np.array_equal(state[name], tensor) for name, tensor in loaded.module.state_dict().items())
    assert np.array_equal(held.predict().to_numpy()[:, ::6], loaded.predict(VALUES).values.T)
    taken = fitted(VALUES, epochs=0, settings={"output.report": False, "init": made.run_})
    assert taken.evaluate()["scaled"] == made.evaluate()["scaled"]
    with pytest.raises(errors.DataError, match="tensor"):
        fitted(VALUES, lookback=12, settings=QUICK | {"init": os.path.abspath("moved.safetensors")})
    with pytest.raises(errors.ConfigError, match="init: this model has no weights to load from .*moved.safetensors"):
        fitted(VALUES, model="repeat", settings={"init": os.path.abspath("moved.safetensors")})
    with pytest.raises(errors.NoInputError, match="gone.safetensors"):
        fitted(VALUES, settings=QUICK | {"init": os.path.abspath("gone.safetensors")})
