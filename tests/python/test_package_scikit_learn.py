"""The estimators as scikit-learn's: clone, parameters, cross-validation, grids, pipelines, pickles, temporary runs, splits."""

import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import modewise
from cli_helpers import ROOT
from modewise import errors
from modewise.run_folder import RunFolder

QUICK = {"train.max_steps": 3, "output.report": False}
LABELS = np.array(["a", "b"] * 12)
SERIES = np.random.default_rng(0).normal(size=(24, 16)) + 3 * np.sin(np.arange(16)) * (LABELS == "b")[:, None]
VOLUMES = np.random.default_rng(1).normal(size=(24, 4, 4, 4)).astype(np.float32) + 3 * (LABELS == "b")[:, None, None, None]
FRAME = pd.DataFrame({"a": np.sin(np.arange(200) / 3)}, index=pd.date_range("2024-01-01", periods=200, freq="h"))


def series():
    return modewise.SeriesClassifier("minirocket", settings={"output.report": False}, verbosity=-1)


def volumes():
    return modewise.VolumeClassifier("cnn", settings=QUICK, verbosity=-1)


def forecaster(**changes):
    return modewise.Forecaster(**{"model": "dlinear", "horizon": 4, "lookback": 12, "settings": QUICK, "verbosity": -1} | changes)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert not os.path.exists("runs")


@pytest.mark.parametrize("made", [series(), volumes(), forecaster(), modewise.Segmenter(), modewise.LanguageModel()])
def test_estimators_are_scikit_learns(made):
    assert isinstance(made, BaseEstimator) and is_classifier(made) == isinstance(made, ClassifierMixin)
    assert isinstance(made, ClassifierMixin) == (type(made).__name__ in ("SeriesClassifier", "VolumeClassifier"))
    assert clone(made).get_params() == made.get_params()
    assert made.set_params(random_state=5, n_jobs=2, verbose=0) is made
    assert (made.seed, made.threads, made.verbosity) == (5, 2, -1)
    assert type(made)(random_state=5).seed == 5
    with pytest.raises(TypeError, match="'random_state' is another name of 'seed', and both were given"):
        type(made)(random_state=5, seed=5)


@pytest.mark.parametrize("make, X", [(series, SERIES), (volumes, VOLUMES)])
def test_classifiers_are_validated_searched_and_piped(make, X):
    found = cross_val_score(make(), X, LABELS, cv=2, error_score="raise")
    parts = [np.arange(24) < 12, np.arange(24) >= 12]  # the labels alternate: StratifiedKFold takes halves
    wanted = [make().fit(X[~part], LABELS[~part]).score(X[part], LABELS[part]) for part in parts]
    assert list(found) == wanted
    grid = GridSearchCV(make(), {"seed": [0, 1]}, cv=2, error_score="raise").fit(X, LABELS)
    assert grid.best_estimator_.seed in (0, 1) and list(grid.classes_) == ["a", "b"]
    piped = make_pipeline(FunctionTransformer(lambda array: array * 2) if X.ndim > 2 else StandardScaler(), make()).fit(X, LABELS)
    assert set(piped.predict(X)) <= {"a", "b"} and piped.predict_proba(X).shape == (24, 2)


def test_forecasters_are_validated_and_searched():
    cut = TimeSeriesSplit(2, test_size=40)
    found = cross_val_score(forecaster(), FRAME, cv=cut, error_score="raise")
    wanted = [forecaster().fit(FRAME.iloc[train]).score(FRAME.iloc[test]) for train, test in cut.split(FRAME)]
    assert list(found) == wanted
    assert GridSearchCV(forecaster(), {"loss": ["mse", "mae"]}, cv=cut, error_score="raise").fit(FRAME).best_params_["loss"] in ("mse", "mae")
    assert make_pipeline(forecaster()).fit(FRAME).predict(FRAME.head(100)).index[0] == FRAME.index[100]


@pytest.mark.parametrize("made, data, changes", [
    (forecaster(settings={**QUICK, "model.dlinear.kernel": 7}), (FRAME,), {"model": "dlineer"}),
    (volumes(), (VOLUMES, LABELS), {"settings": {"model.widt": 3}}),
    (series(), (SERIES, LABELS), {"settings": {"data.split_ratios": 7}}),
])
def test_an_opened_run_is_cloned_with_its_settings_and_survives_a_failed_fit(made, data, changes):
    """A fit that fails before it trains leaves what was fitted, and what was not."""
    made = made.fit(*data)
    opened = type(made).from_run(made.run_)
    again = clone(opened).set_params(run=None, verbosity=-1).fit(*data)
    config, wanted = (RunFolder(one.run_).config() for one in (again, made))
    for table in ("model", "train", "output"):
        assert config[table] == wanted[table]
    assert opened.metrics_ == made.metrics_
    before, score = dict(vars(made)), made.evaluate()
    for one in (made, clone(made)):
        others = data if len(data) > 1 else (pd.DataFrame({"z": np.arange(90.0)}),)
        with pytest.raises((errors.ConfigError, errors.UsageError)):
            one.set_params(**changes).fit(*others, **({"target_cols": "z"} if len(data) == 1 else {}))
        assert one.__sklearn_is_fitted__() == (one is made)
        one.set_params(**{name: before[name] for name in changes})
    assert vars(made) == before and made.evaluate() == score


def test_runs_without_a_module_are_opened():
    made = forecaster(model="theta", settings={"output.report": False}).fit(FRAME)
    made.save("kept")
    opened = modewise.Forecaster.load("kept")
    assert np.array_equal(opened.predict()["a"], made.predict()["a"]) and opened.model == "theta"
    with pytest.raises(NotImplementedError):
        opened.load()


def test_labels_of_another_type_have_no_score():
    for labels, others in ((LABELS, LABELS == "b"), (np.where(LABELS == "b", 7, 3), np.where(LABELS == "b", "7", "3"))):
        made = series().fit(SERIES, labels)
        with pytest.raises(errors.DataError) as error:
            made.score(SERIES, others)
        assert str(error.value) == f"y must hold labels of the type of classes_, such as {labels[0].item()!r}, got {others[0].item()!r}"
        assert made.score(SERIES, labels.astype(object)) == made.score(SERIES, labels) > 0.9


OTHER_PROCESS = """
import pickle, sys
made, X, wanted = pickle.load(open(sys.argv[1], "rb"))
found = made.predict() if X is None else made.predict_proba(X)
assert found.equals(wanted) if X is None else (found == wanted).all()
print(made.run_)
"""


@pytest.mark.parametrize("make, X", [(series, SERIES), (volumes, VOLUMES), (forecaster, None)])
def test_pickles_carry_the_run_to_another_process(make, X):
    made = make().fit(FRAME) if X is None else make().fit(X, LABELS)
    wanted = made.predict() if X is None else made.predict_proba(X)
    place = made.run_
    with open("made.pickle", "wb") as file:
        pickle.dump((made, X, wanted), file)
    assert os.path.isdir(place)
    del made
    gc.collect()
    assert not os.path.exists(place)  # the temporary run lived as long as the estimator
    said = subprocess.run([sys.executable, "-c", OTHER_PROCESS, "made.pickle"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")})  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert said.stdout.strip() != place and not os.path.exists(said.stdout.strip())


def test_a_saved_run_is_loaded():
    made = forecaster().fit(FRAME)
    made.save("kept")
    wanted = made.predict()
    evaluated = made.evaluate()
    del made
    gc.collect()
    again = modewise.Forecaster.load("kept")
    assert np.array_equal(again.predict().to_numpy(), wanted.to_numpy())
    assert again.evaluate() == evaluated
    assert type(again.load()).__name__ == "LoadedForecaster"
    with pytest.raises(errors.CannotCreateError, match="^kept exists already"):
        again.save("kept")


def test_no_samples_are_held_back_for_a_test():
    splits = modewise.tasks.show("forecasting", {"data.path": write(FRAME), "data.split_ratios": [0.875, 0.125, 0], "train.test": False})["splits"]
    assert [(one["name"], one["rows"]) for one in splits] == [("training", 175), ("validation", 25)]
    made = forecaster().fit(FRAME)
    assert made.evaluate() == made.evaluate(split="validation") and made.evaluate()["windows"] == 25 - 4 + 1
    assert made.evaluate(split="train")["windows"] == 175 - 12 - 4 + 1
    assert RunFolder(made.run_).config()["data"]["split_ratios"] == [0.875, 0.125, 0]
    for fitted in (series().fit(SERIES, LABELS), volumes().fit(VOLUMES, LABELS)):
        counts = [fitted.evaluate(split=split)["samples"] for split in ("train", "validation")]
        assert sum(counts) == 24 and fitted.evaluate()["samples"] == counts[1]
    held = forecaster(settings=QUICK | {"data.split_ratios": [0.7, 0.1, 0.2]}).fit(FRAME)
    assert held.evaluate() == held.evaluate(split="test")


def write(frame):
    frame.to_csv("frame.csv")
    return "frame.csv"


def test_validation_data_are_the_validation_split():
    gap = FRAME.drop(FRAME.index[100])
    for first, second in ((gap.head(149), gap.tail(50)), (FRAME.to_numpy()[:150], FRAME.to_numpy()[150:])):
        made = forecaster().fit(first, validation=second)
        assert made.evaluate()["windows"] == 50 - 4 + 1
        assert made.load().mean[0] == pytest.approx(np.nanmean(np.asarray(first)), rel=1e-12)
    made = volumes().fit(VOLUMES, LABELS, validation=(VOLUMES[:6], LABELS[:6]))
    assert (made.evaluate()["samples"], made.evaluate(split="train")["samples"]) == (6, 24)
    with pytest.raises(errors.DataError, match="^validation: its rows must come after those of the data, which end at 2024-01-09 07:00:00, got 2024-01-01"):
        forecaster().fit(FRAME.tail(150), validation=FRAME.head(50))
    with pytest.raises(errors.DataError, match="^validation: the class 'c' is not among those for training"):
        volumes().fit(VOLUMES, LABELS, validation=(VOLUMES[:1], ["c"]))


def test_levels_and_quantiles_are_chosen():
    made = forecaster().fit(FRAME)
    every = made.predict()
    assert made.predict(h=2, level=[80, 95]).equals(every.head(2)[["a", "a_q0.025", "a_q0.1", "a_q0.9", "a_q0.975"]])
    assert made.predict(quantiles=0.5).equals(every[["a", "a_q0.5"]])
    for wrong, sentence in (({"level": 90}, "predict: the run has no quantile 0.05 "), ({"level": 0}, "predict: a level is a number of per cent"),
                            ({"level": 80, "quantiles": 0.1}, "predict: give level or quantiles, not both"),
                            ({"steps": 2, "h": 3}, "predict: steps and h are the same, got 2 and 3")):  # fmt: skip
        with pytest.raises(errors.UsageError, match=f"^{sentence}"):
            made.predict(**wrong)


def test_a_backtest_is_a_frame():
    made = forecaster(settings=QUICK | {"data.split_ratios": [0.7, 0.1, 0.2]}).fit(FRAME)
    frame, said = made.backtest(8), modewise.tasks.backtest(made.run_, stride=8)
    assert frame.attrs["result"] == said
    assert list(frame["mse"]) == [one["scaled"]["mse"] for one in said["origins"]]
    assert list(frame["time"]) == [pd.Timestamp(one["time"]) for one in said["origins"]]


def test_a_backtest_without_a_test_split_is_on_the_validation_split():
    frame = forecaster().fit(FRAME).backtest()
    assert list(frame["time"]) == list(FRAME.index[175:197:4])


def test_a_search_is_a_forecaster():
    with pytest.raises(errors.UsageError, match="^leaderboard: this run is not the result of a search"):
        forecaster().fit(FRAME).leaderboard()
    for budget in ("x", "-3s", 0):
        with pytest.raises(errors.UsageError, match="^budget must be a time such as '90s', '10m' or '1.5h', or a number of seconds, got "):
            modewise.Forecaster("auto", budget=budget, verbosity=-1).fit(FRAME)
    with pytest.raises(errors.UsageError, match="^budget is the time of Forecaster"):
        modewise.Forecaster("hot", budget=3).fit(FRAME)


@pytest.mark.long
def test_a_search_has_a_leaderboard():
    made = modewise.Forecaster("auto", budget="1m", horizon=4, verbosity=-1, settings={"output.report": False}).fit(FRAME)
    board = made.leaderboard()
    assert list(board.columns) == ["model", "stage", "steps", "seconds", "val_mse", "failure"]
    assert board["model"][0] == made.metrics_["chosen"] and board["val_mse"].dropna().is_monotonic_increasing
    assert made.predict().shape == (4, 6) and pickle.loads(pickle.dumps(made)).leaderboard().equals(board)


def test_a_library_that_is_not_built_is_a_sentence(monkeypatch, tmp_path):
    from modewise import _native

    monkeypatch.setattr(_native, "NATIVE", tmp_path)
    with pytest.raises(ImportError) as error:
        _native.load_library("modewise_python")
    assert str(error.value) == (f"modewise: {tmp_path}/lib/libmodewise_python.so does not exist: build it with ./dev build in the clone, or install the "
                                "package again")  # fmt: skip
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libmodewise_python.so").write_text("x")
    with pytest.raises(ImportError, match="cannot be loaded .*: build it with ./dev build"):
        _native.load_library("modewise_python")
