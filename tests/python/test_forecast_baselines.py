"""Published baselines from the command line and from Python: training, resuming, panels, refusals."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

import modewise
from cli_helpers import fails, ok, write_csv

QUICK = ["--lookback", 25, "--horizon", 7, "--set", "output.report=false", "--set", "train.schedule.name=constant"]
SMALL = {"crossformer": ["model.width=8", "model.hidden=12", "model.heads=2", "model.layers=2", "model.crossformer.segment=6", "model.crossformer.routers=2"],
         "timesnet": ["model.width=4", "model.hidden=6", "model.timesnet.periods=2", "model.timesnet.kernels=2"],
         "autoformer": ["model.width=8", "model.hidden=12", "model.autoformer.kernel=5"],
         "fedformer": ["model.width=8", "model.hidden=12", "model.heads=2", "model.fedformer.frequencies=4"],
         "nonstationary": ["model.width=8", "model.hidden=12", "model.heads=2", "model.nonstationary.factor_hidden=6"],
         "scinet": ["model.scinet.levels=2", "model.scinet.expansion=2"]}  # fmt: skip


def arguments(name, data, out, *more, threads=1):
    settings = [part for setting in SMALL[name] for part in ("--set", setting)]
    return ["train", "forecast", data, "--model", name, "--out", out, "--threads", threads, *QUICK, *settings, *more]


def forecasts(run):
    return [series["forecast"] for series in json.loads(ok("predict", run, "--json").stdout)["series"]]


@pytest.mark.parametrize("name", SMALL)
def test_resumes_and_predicts_the_same_bits_for_any_threads(tmp_path, name):
    data = write_csv(tmp_path / "d.csv", rows=200)
    ok(*arguments(name, data, tmp_path / "whole", "--epochs", 2))
    ok(*arguments(name, data, tmp_path / "part", "--epochs", 1))
    ok("train", "forecast", "--resume", tmp_path / "part", "--set", "train.epochs=2", "--allow-config-changes", "--threads", 2)
    whole = forecasts(tmp_path / "whole")
    assert np.isfinite(whole).all()
    assert whole == forecasts(tmp_path / "part")
    scores = [json.loads((tmp_path / run / "metrics.json").read_text())["test"]["scaled"] for run in ("whole", "part")]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("name", SMALL)
def test_is_a_global_model_of_a_panel(tmp_path, name):
    rows = np.arange(60)
    days = pd.date_range("2024-01-01", periods=60)
    frame = pd.concat(pd.DataFrame({"unique_id": f"s{i}", "ds": days, "y": np.sin(rows / 3 + i) + i}) for i in range(3))
    frame.to_csv(tmp_path / "p.csv", index=False)
    ok(*arguments(name, tmp_path / "p.csv", tmp_path / "run", "--set", "data.panel=yes", "--epochs", 2))
    ok("predict", tmp_path / "run", "--out", tmp_path / "f.csv")
    assert len(pd.read_csv(tmp_path / "f.csv")) == 3 * 7


CALENDAR = ["--set", 'data.calendar=["auto"]', "--set", "data.calendar_encoding=scaled"]


@pytest.mark.parametrize("name", sorted({*SMALL} - {"crossformer", "scinet"}))
def test_embeds_the_calendar(tmp_path, name):
    data = write_csv(tmp_path / "d.csv", rows=200)
    ok(*arguments(name, data, tmp_path / "run", "--epochs", 1, *CALENDAR))
    assert np.isfinite(forecasts(tmp_path / "run")).all()
    weights = load_file(next((tmp_path / "run" / "checkpoints").rglob("*.safetensors")))
    embeddings = {array.shape for key, array in weights.items() if key.endswith("temporal_embedding.weight")}
    assert embeddings == {(4 if name == "timesnet" else 8, 4)}  # hour, weekday, day, yearday


@pytest.mark.parametrize("name", SMALL)
def test_refuses_what_others_have(tmp_path, name):
    data = write_csv(tmp_path / "d.csv", rows=200)
    if name in ("crossformer", "scinet"):
        fails(78, f"'{name}' has none", arguments=arguments(name, data, tmp_path / "run", *CALENDAR))
    fails(78, "no such option", arguments=arguments(name, data, tmp_path / "run", "--set", "model.dlinear.kernel=5"))


@pytest.mark.parametrize("name", SMALL)
def test_is_a_forecaster_in_python(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    rows = np.arange(150)
    frame = pd.DataFrame({"a": np.sin(rows / 4), "b": np.cos(rows / 4)}, index=pd.date_range("2024-01-01", periods=150, freq="h"))
    settings = dict(one.split("=") for one in SMALL[name]) | {"train.max_steps": 3}
    forecast = modewise.Forecaster(name, horizon=7, lookback=25, verbosity=-1, settings=settings).fit(frame).predict()
    assert forecast.shape[0] == 7
    assert np.isfinite(forecast.to_numpy()).all()


@pytest.mark.parametrize(("missing", "individual", "words"), [(0.005, False, " of 828 training windows: those with a missing cell are left out"),
                                                              (0.05, False, "dlinear and hot train on windows with missing cells"),
                                                              (0.05, True, "of the series with the fewest")])  # fmt: skip
def test_ridge_says_how_many_windows_it_is_fitted_to(tmp_path, missing, individual, words):
    frame = pd.read_csv(write_csv(tmp_path / "d.csv", rows=437))
    arguments = ["--model", "ridge", "--lookback", 24, "--horizon", 6, "--set", f"model.individual={str(individual).lower()}", "--set", "output.report=false"]
    log = ok("train", "forecast", tmp_path / "d.csv", "--out", tmp_path / "whole", *arguments).stderr
    assert "ridge is fitted to" not in log
    values = frame[["a", "b", "c"]].to_numpy(copy=True)
    values[np.random.default_rng(1).random(values.shape) < missing] = np.nan
    frame[["a", "b", "c"]] = values
    frame.to_csv(tmp_path / "d.csv", index=False)
    log = ok("train", "forecast", tmp_path / "d.csv", "--out", tmp_path / "run", *arguments).stderr
    assert "ridge is fitted to " in log and words in log
    assert ("dlinear and hot" in log) == (missing > 0.01)
