"""modewise.Forecaster and modewise.tasks: frames, arrays and files in, frames out; what the program gives; errors."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib

import numpy as np
import pandas as pd
import pytest
import sklearn.base
import torch

import modewise
from cli_helpers import ROOT, ok
from modewise import errors

QUICK = {"train.max_steps": 4, "output.report": False}
PARAMETERS = {"model": "dlinear", "horizon": 8, "lookback": 24, "settings": QUICK, "verbosity": -1}


def wide_frame(rows=300, start="2020-01-01", freq="h", name="when"):
    rng, t = np.random.default_rng(3), np.arange(rows)
    values = {column: np.sin(2 * np.pi * t / 24 + i) + 0.1 * rng.normal(size=rows) for i, column in enumerate("abc")}
    return pd.DataFrame(values, index=pd.date_range(start, periods=rows, freq=freq, name=name))


def long_frame(wide):
    long = wide.reset_index(names="ds").melt("ds", var_name="unique_id", value_name="y")
    return long.sample(frac=1, random_state=1)


def fitted(data, **changes):
    return modewise.Forecaster(**{**PARAMETERS, **changes}).fit(data)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A fitted forecaster, and the frame."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("wide"))
    frame = wide_frame()
    made = fitted(frame, run=os.path.abspath("run"))
    os.chdir(before)
    return made, frame


def test_a_wide_frame_is_continued_as_the_program_does(wide):
    made, frame = wide
    got = made.predict()
    said = json.loads(ok("predict", made.run_, "--json").stdout)
    levels = list(said["series"][0]["quantiles"])
    assert list(got.columns) == [name for s in "abc" for name in (s, *(f"{s}_q{level}" for level in levels))]
    assert levels == ["0.025", "0.1", "0.5", "0.9", "0.975"]
    assert got.index.equals(pd.date_range("2020-01-13 12:00", periods=8, freq="h", name="when"))
    for series in said["series"]:
        assert np.array_equal(got[series["name"]], series["forecast"])
        for level in levels:
            assert np.array_equal(got[f"{series['name']}_q{level}"], series["quantiles"][level])
    assert made.predict(3).equals(got.head(3))


def test_the_frame_reaches_the_program_with_its_bits(wide):
    made, frame = wide
    loaded = made.load()
    train = frame.to_numpy()[: int(300 * 0.875)]
    np.testing.assert_allclose(loaded.mean, train.mean(0), rtol=1e-14)
    got = loaded.predict(frame.to_numpy())
    assert np.array_equal(got.values.T, made.predict()[list("abc")].to_numpy())


def test_evaluate_is_the_programs(wide):
    made, frame = wide
    assert made.evaluate() == json.loads(ok("evaluate", made.run_, "--json", "--split", "validation").stdout)
    assert made.evaluate(split="train", detail=True) == json.loads(ok("evaluate", made.run_, "--json", "--split", "train", "--detail").stdout)
    assert made.score() == -made.evaluate()["scaled"]["mse"]
    assert made.metrics_["run"] == made.run_


def test_other_data_are_predicted_and_evaluated(wide):
    made, frame = wide
    later = frame.head(200)
    got = made.predict(2, data=later)
    assert list(got.index) == [pd.Timestamp("2020-01-09 08:00"), pd.Timestamp("2020-01-09 09:00")]
    assert np.array_equal(got[list("abc")].to_numpy().T, made.load().predict(later.to_numpy()).values[:, :2])
    assert made.score(later) == -made.evaluate(later, split="all")["scaled"]["mse"]
    assert not os.listdir()


def test_long_frames_wide_frames_and_arrays_are_one(wide):
    made, frame = wide
    wanted = made.predict()[list("abc")].to_numpy()
    made_of_long = fitted(long_frame(frame))
    got = made_of_long.predict()
    assert list(got.columns[:3]) == ["unique_id", "ds", "y"]
    assert list(got["unique_id"]) == ["a"] * 8 + ["b"] * 8 + ["c"] * 8
    assert np.array_equal(got["y"].to_numpy().reshape(3, 8).T, wanted)
    assert list(got["ds"].head(8)) == list(made.predict().index)
    array = frame.to_numpy().copy()
    array.flags.writeable = False
    for data in (array, np.asfortranarray(array), torch.from_numpy(frame.to_numpy().copy())):
        made_of_array = fitted(data)
        rows = made_of_array.predict()
        assert list(rows.index) == list(range(300, 308))
        assert np.array_equal(rows[["0", "1", "2"]].to_numpy(), wanted)
        assert os.listdir(f"{made_of_array.run_}/data") == ["dlinear.npy"]
    assert os.listdir(f"{made_of_long.run_}/data") == ["dlinear.csv"]
    assert os.listdir() == []


def test_a_long_frame_with_several_values_is_a_tensor(wide):
    _, frame = wide
    long = long_frame(frame).assign(twice=lambda f: 2 * f["y"])
    made = fitted(long, model="repeat")
    loaded = made.load()
    assert loaded.shape.series == [3, 2]
    got = made.predict(1)
    last = frame.iloc[-1].to_numpy()
    np.testing.assert_allclose(got["y"], last, rtol=1e-6)
    np.testing.assert_allclose(got["twice"], 2 * last, rtol=1e-6)
    assert list(got["unique_id"]) == ["a", "b", "c"]


def test_ids_that_are_numbers_keep_their_places(wide):
    _, frame = wide
    long = long_frame(frame.rename(columns={"a": 10, "b": 9, "c": 100}))
    got = fitted(long, model="repeat").predict(1).set_index("unique_id")["y"]
    np.testing.assert_allclose(got[[10, 9, 100]], frame.iloc[-1], rtol=1e-6)


def test_gaps_are_missing_cells(wide):
    _, frame = wide
    gaps = frame.mask(np.random.default_rng(5).random(frame.shape) < 0.1)
    made = fitted(gaps)
    assert made.load().shape.missing
    long = long_frame(gaps).dropna()
    tensor = fitted(long, settings={**QUICK, "data.panel": "no"})  # each series has 90 % of the times
    assert np.array_equal(tensor.predict()["y"].to_numpy().reshape(3, 8).T, made.predict()[list("abc")].to_numpy())


@pytest.mark.parametrize("freq, following", [("h", "2020-01-13 13:00+01:00"), ("D", "2020-10-27 00:00+01:00")])
def test_time_zones_come_back(freq, following):
    """Hours are regular in UTC, days on the clocks of Berlin: in summer and winter."""
    frame = wide_frame(freq="h") if freq == "h" else wide_frame(freq="D")
    frame.index = frame.index.tz_localize("UTC").tz_convert("Europe/Berlin") if freq == "h" else frame.index.tz_localize("Europe/Berlin")
    got = fitted(frame).predict(2).index
    assert str(got.tz) == "Europe/Berlin"
    assert got[0] == pd.Timestamp(following)
    assert got[1] == frame.index[-1] + 2 * frame.index.freq


def test_rows_without_dates_go_on_counting(wide):
    _, frame = wide
    counted = frame.set_axis(range(10, 610, 2)).drop(index=[20])
    got = fitted(counted).predict(2)
    assert list(got.index) == [610, 612]
    assert list(fitted(frame.reset_index(drop=True)).predict(2).index) == [300, 301]


def test_scikit_learn_clones_and_sets(wide):
    made, _ = wide
    copy = sklearn.base.clone(made)
    assert copy.get_params() == made.get_params()
    assert not hasattr(copy, "run_")
    assert copy.set_params(horizon=3) is copy
    assert copy.horizon == 3
    assert repr(modewise.Forecaster("hot", horizon=3)) == "Forecaster(horizon=3)"
    with pytest.raises(errors.UsageError) as error:
        copy.set_params(width=3)
    assert str(error.value) == ("Forecaster has no parameter 'width' (there are model, horizon, lookback, loss, epochs, "
                                "future_covariates, budget, seed, threads, device, settings, run, overwrite, verbosity)")  # fmt: skip


def test_a_run_of_the_program_is_opened(wide):
    made, _ = wide
    again = modewise.Forecaster.from_run(made.run_)
    assert again.predict().reset_index(drop=True).equals(made.predict().reset_index(drop=True))
    assert (again.model, again.horizon, again.lookback) == ("dlinear", 8, 24)


def test_training_here_is_training_in_the_program(wide, tmp_path):
    """The same weights, byte by byte, whatever torch was set to before."""
    made, frame = wide
    settings = [part for key, value in QUICK.items() for part in ("--set", f"{key}={str(value).lower()}")]
    ok("train", "forecast", "--data", made.run_ + "/data/run.csv", "--model", "dlinear", "--out", tmp_path / "theirs", *settings,
       "--set", "forecast.lookback=24", "--set", "forecast.horizon=8", "--set", "data.split_ratios=0.875,0.125,0", "--no-test")  # fmt: skip
    theirs = (tmp_path / "theirs/checkpoints/step_4/best.safetensors").read_bytes()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            fitted(frame, run=tmp_path / "mine")
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert (tmp_path / "mine/checkpoints/step_4/best.safetensors").read_bytes() == theirs


def test_pythons_lock_is_free_meanwhile(wide):
    _, frame = wide
    stop, ticks = threading.Event(), []

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    fitted(frame, model="hot", settings={**QUICK, "train.max_steps": 30})
    end = time.monotonic()
    stop.set()
    thread.join()
    inside = [t for t in ticks if begin < t < end]
    assert len(inside) > (end - begin) / 0.05


def test_threads_take_turns(wide):
    """Several at once: each gets its own answer."""
    made, frame = wide
    wanted, found = made.evaluate(split="train"), {}

    def ask(place):
        found[place] = (fitted(frame).metrics_["steps"], made.evaluate(split="train"))

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(range(3), (4, wanted))


STOPPED = """
import sys
sys.path.insert(0, "tests/python")
import modewise
from test_package_forecaster import PARAMETERS, wide_frame
made = modewise.Forecaster(**{**PARAMETERS, "model": "hot", "run": sys.argv[1], "verbosity": 0,
                              "settings": {"train.max_steps": 60, "train.epochs": 1000, "train.patience": 1000, "output.report": False}})
try:
    made.fit(wide_frame())
except KeyboardInterrupt as stopped:
    print(type(stopped).__name__, stopped.signal, stopped.exit_code, stopped)
    made.resume()
print(made.metrics_["steps"])
"""


def stopped_or_not(run, interrupt):
    child = subprocess.Popen([sys.executable, "-c", STOPPED, run], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "PYTHONPATH": str(ROOT / "python")})  # fmt: skip
    lines = run / "metrics.jsonl"
    while interrupt and child.poll() is None and not (lines.exists() and lines.read_text()):
        time.sleep(0.005)
    if interrupt:
        child.send_signal(signal.SIGINT)
    printed, said = child.communicate(timeout=120)
    assert child.returncode == 0, said
    return printed.splitlines()


def test_ctrl_c_saves_and_resume_ends_with_the_same_bits(tmp_path):
    assert stopped_or_not(tmp_path / "whole", False) == ["60"]
    assert stopped_or_not(tmp_path / "stopped", True) == ["Stopped 2 130 train was interrupted by signal 2", "60"]
    weights = "checkpoints/step_60/model.safetensors"
    assert (tmp_path / "stopped" / weights).read_bytes() == (tmp_path / "whole" / weights).read_bytes()


def test_after_a_call_pythons_own_handlers_are_back(wide):
    made, _ = wide
    handler = signal.default_int_handler
    before = signal.signal(signal.SIGINT, handler)  # in the background of a shell it is ignored
    try:
        made.evaluate()
        assert signal.getsignal(signal.SIGINT) is handler
        with pytest.raises(KeyboardInterrupt) as stopped:
            signal.raise_signal(signal.SIGINT)
        assert not isinstance(stopped.value, errors.Stopped)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("settings, kind, code, sentence", [
    ({"model.widht": 3}, errors.UsageError, 2, "--set model.widht: unknown key 'model.widht' (did you mean 'model.width'?)"),
    ({"train.batch_size": 0}, errors.UsageError, 2, "--set train.batch_size: must be a number of at least 1, got '0'"),
    ({"model.name": "hot", "model.heads": 3}, errors.ConfigError, 78, "model: width = 64 must be a multiple of heads = 3"),
    ({"data.path": "/nowhere.csv"}, errors.NoInputError, 66, "cannot open /nowhere.csv: No such file or directory"),
])  # fmt: skip
def test_the_programs_errors_are_exceptions(wide, settings, kind, code, sentence):
    _, frame = wide
    with pytest.raises(kind) as error:
        fitted(frame, settings=settings)
    assert error.value.exit_code == code
    assert str(error.value) == sentence
    assert os.listdir() == []
    long = long_frame(frame).assign(z=1.0)
    with pytest.raises(kind):
        fitted(long, settings=settings, run="here")
    assert os.listdir() == []


@pytest.mark.parametrize("key, value, line", [
    ("train.epochs", 7, "epochs = 7"),
    ("train.min_delta", 1e-07, "min_delta = 1e-07"),
    ("output.report", False, "report = false"),
    ("data.path", "a b, 'c'.csv", None),
    ("data.columns", ["x, y", 'say "z"', "ä"], "columns = ['x, y', 'say \"z\"', 'ä']"),
    ("model.attention.attend_modes", (1, 0), "attend_modes = [1, 0]"),
    ("calibration.intervals", [0.5, 0.9], "intervals = [0.5, 0.9]"),
])  # fmt: skip
def test_settings_reach_the_program_as_they_are(key, value, line):
    toml = modewise.tasks.config_toml("forecasting", {key: value})
    if line is not None:
        assert line in toml.splitlines()
    read = tomllib.loads(toml)
    for part in key.split("."):
        read = read[part]
    assert (os.path.basename(read) if key == "data.path" else read) == (list(value) if isinstance(value, tuple) else value)


@pytest.mark.parametrize("value, text", [
    (np.float64(1e-3), "0.001"),
    (np.float32(0.1), "0.10000000149011612"),
    (np.longdouble(0.5), "0.5"),
    (np.float64("inf"), "inf"),
    (np.int64(4), "4"),
    (np.uint64(2**64 - 1), "18446744073709551615"),
    (np.bool_(True), "true"),
    (np.str_("a b"), "a b"),
    (np.bytes_(b"a"), "a"),
    (torch.tensor(3), "3"),
    (np.array([1, 2]), "[1, 2]"),
    (np.array(["x", "y, z"]), '["x", "y, z"]'),
    ([np.float64(0.5), np.int8(-1), np.bool_(False), np.str_("q")], '[0.5, -1, false, "q"]'),
    (["a/b", pathlib.Path("c d")], '["a/b", "c d"]'),
])  # fmt: skip
def test_scalars_of_numpy_are_settings(value, text):
    assert modewise.tasks.assignments({"x": value}) == [f"x={text}"]


@pytest.mark.parametrize("value", [{"a": 1}, 1j, np.complex64(1), object(), [None], [[{}]]])
def test_other_types_of_settings_are_a_sentence(value):
    with pytest.raises(errors.UsageError, match=r"^a setting must be a number, a string, a path or a list of these, got "):
        modewise.tasks.config_toml("forecasting", {"data.path": value})


def test_an_estimator_of_numpys_scalars_is_one_of_pythons(wide, tmp_path):
    _, frame = wide
    ratios = [0.7, 0.1, 0.2]
    one = fitted(frame, run=tmp_path / "run", epochs=1, seed=3,
                 settings={**QUICK, "train.optimizer.learning_rate": 1e-3, "data.split_ratios": ratios})  # fmt: skip
    before, wanted = (tmp_path / "run/config.toml").read_text(), (one.predict(2), one.evaluate(detail=True), one.backtest(4))
    other = fitted(frame, run=tmp_path / "run", model=np.str_("dlinear"), horizon=np.int64(8), lookback=np.int32(24), epochs=np.int64(1),
                   seed=np.uint8(3), overwrite=np.bool_(True), verbosity=np.int64(-1), loss=np.str_("mae"),
                   settings={"train.max_steps": np.int64(4), "output.report": np.bool_(False), "data.split_ratios": np.array(ratios),
                             "train.optimizer.learning_rate": np.float64(1e-3)})  # fmt: skip
    assert (tmp_path / "run/config.toml").read_text() == before.replace("/run/data/", "/run/data2/")
    assert other.predict(np.int64(2)).equals(wanted[0])
    assert other.evaluate(detail=np.bool_(True)) == wanted[1]
    assert other.backtest(np.int16(4)).equals(wanted[2])


def test_a_path_that_is_not_utf_8_is_a_sentence():
    with pytest.raises(errors.UsageError, match="^predict: texts and paths must be UTF-8, got "):
        modewise.tasks.predict("run\udcff")


def test_nothing_is_overwritten_unasked(wide, tmp_path):
    made, frame = wide
    before = open(made.run_ + "/data/run.csv").read()
    with pytest.raises(errors.CannotCreateError) as error:
        fitted(frame * 2, run=made.run_)
    assert str(error.value) == f"{made.run_} exists already: choose another run, or overwrite=True to replace the run in it"
    assert error.value.exit_code == 73
    assert open(made.run_ + "/data/run.csv").read() == before
    first = fitted(frame, run=tmp_path / "again")
    second = fitted(frame * 2, run=tmp_path / "again", overwrite=True)
    np.testing.assert_allclose(second.load().mean, 2 * made.load().mean, rtol=1e-14)
    assert first.run_ == second.run_


def test_what_is_no_run_says_so(tmp_path):
    with pytest.raises(errors.NoInputError) as error:
        modewise.tasks.resume(tmp_path)
    assert str(error.value) == f"{tmp_path} is not a run folder: it has no config.toml"
    with pytest.raises(errors.NoInputError) as error:
        modewise.tasks.predict(tmp_path / "none")
    assert str(error.value) == f"no such run folder: {tmp_path}/none"


def test_without_pandas_files_and_arrays_are_fitted(wide, monkeypatch):
    _, frame = wide
    monkeypatch.setitem(sys.modules, "pandas", None)
    made = fitted(frame.to_numpy())
    assert len(modewise.tasks.predict(made.run_)["series"]) == 3
    for ask in (made.predict, lambda: fitted([1.0])):
        with pytest.raises(ImportError) as error:
            ask()
        assert str(error.value) == ("frames need pandas, which is not installed: pip install pandas; files and arrays, and "
                                    "modewise.tasks.predict(run), work without it")  # fmt: skip


def test_what_is_not_fitted_says_so():
    with pytest.raises(errors.UsageError) as error:
        modewise.Forecaster().predict()
    assert str(error.value) == "this Forecaster is not fitted yet: call fit, or open a run with Forecaster.from_run"


def test_targets_beside_the_frame_are_refused(wide):
    with pytest.raises(errors.UsageError) as error:
        modewise.Forecaster("repeat", horizon=4).fit(wide[0], y=[1])
    assert str(error.value) == "Forecaster.fit takes one frame with the history of all series: y must be None"


def bad_frames():
    wide = wide_frame(60)
    long = long_frame(wide)
    mixed = [pd.Timestamp("2020-01-01", tz="UTC"), pd.Timestamp("2020-01-02", tz="Europe/Berlin")]
    yield "no rows", wide.head(0), "frame: it has no rows"
    yield "duplicate times", pd.concat([wide, wide.iloc[[3]]]), "frame: it has two rows at 2020-01-01 03:00:00"
    yield ("duplicate times of an id", pd.concat([long, long[(long["unique_id"] == "b") & (long["ds"] == "2020-01-01 05:00")]]),
           "frame: series 'b' has two rows at 2020-01-01 05:00:00")  # fmt: skip
    yield ("mixed zones", pd.DataFrame({"ds": pd.Series(mixed, dtype=object), "a": [1.0, 2.0]}),
           "frame: column 'ds' mixes time zones (Europe/Berlin, UTC): bring all to one, pandas.to_datetime(frame['ds'], utc=True)")  # fmt: skip
    yield ("objects", wide.assign(b=["x"] * 60), "frame: column 'b' must hold numbers, got str: convert it (pandas.to_numeric), drop it, or name it in id_col")
    yield ("no id", long.assign(unique_id=["a", None, *["b"] * 178]), "frame: column 'unique_id' has no id in row 1")
    yield ("no time", wide.reset_index().assign(when=[pd.NaT, *wide.index[1:]]), "frame: column 'when' has no time in row 0")
    yield ("no ds", long.drop(columns="ds"), "frame: a long frame (with 'unique_id') needs the column 'ds' of times, got unique_id, y")
    yield ("no values", long[["unique_id", "ds"]], "frame: there is no column of numbers besides the times")
    yield ("two columns alike", pd.concat([wide, wide["a"]], axis=1), "frame: duplicate column 'a'")
    yield ("words for times", pd.DataFrame({"ds": ["x", "y"], "a": [1.0, 2.0]}), None)
    yield ("two columns of times", wide.reset_index().assign(other=wide.index), "frame: 2 columns hold times (when, other): keep one, or make it the index")
    yield ("uneven rows", wide.set_axis([*range(0, 177, 3), 178]), "frame: rows of 'date' must be equally spaced, got steps of 3 and 4")
    yield ("hardly any rows", wide.set_axis([*range(59), 1000]), "frame: only 60 of the 1001 rows of 'date' from 0 to 1000 exist")
    yield ("finer than seconds", wide.set_axis(pd.date_range("2020-01-01", periods=60, freq="100ms")),
           "frame: times finer than a second are not supported, got 2020-01-01 00:00:00.100000")  # fmt: skip
    yield ("a list", [1, 2, 3], "data must be a frame of pandas or polars, an array, an xarray.DataArray or a path, got list")
    yield ("array of objects", np.array([["x"]]), "array: it must hold numbers, got <U1")
    yield ("empty array", np.zeros((0, 3)), "array: it must be [T, N_1 … N_j] with at least one row and one series, got [0, 3]")
    yield ("another device", torch.zeros(3, 3, device="meta"), "array: it must be on the CPU, got a tensor on meta")


BAD = [pytest.param(data, sentence, id=name) for name, data, sentence in bad_frames()]


@pytest.mark.parametrize("data, sentence", BAD)
def test_bad_data_are_sentences(data, sentence):
    with pytest.raises(errors.DataError) as error:
        fitted(data)
    assert error.value.exit_code == 65
    if sentence is None:
        assert re.fullmatch(r"frame: column 'ds' must hold times or row numbers: [^\n]+", str(error.value))
    else:
        assert str(error.value) == sentence


def test_columns_that_are_taken_for_dates_or_row_numbers_are_said(wide):
    _, frame = wide
    for data in (frame.assign(index=range(300)), frame.reset_index(drop=True).assign(no=range(1, 301))):
        with pytest.raises(errors.DataError) as error:
            fitted(data, model="repeat")
        assert str(error.value) == ("frame: 4 series, but the run has 3: rename columns that are named like row numbers or parts of dates "
                                    "(index, no, year, month, …)")  # fmt: skip


def test_names_of_any_kind_are_kept(wide):
    _, frame = wide
    names = ["a,b", 'say "x"', "2020"]
    got = fitted(frame.set_axis(names, axis=1), model="repeat").predict(1)
    assert [name for name in got.columns if "_q" not in name] == names
    np.testing.assert_allclose(got[names].iloc[0], frame.iloc[-1], rtol=1e-6)


def test_a_frame_of_other_columns_is_refused(wide):
    made, frame = wide
    with pytest.raises(errors.DataError, match="'c'"):
        made.predict(data=frame[["a", "b"]])
