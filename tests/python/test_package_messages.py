"""What estimators and tasks say: the program's warnings on stderr, and errors about arguments, not about the files written for them."""

import numpy as np
import pandas
import pytest

import modewise
from modewise import errors

TINY = {"model.width": 8, "model.hidden": 8, "model.heads": 2, "model.layers": 1, "train.max_steps": 2, "output.report": False}
PLACES = np.arange(40) % 2
VOLUMES = (np.random.default_rng(0).random((40, 4, 4, 4)) * 255).astype(np.uint8)
SERIES = np.random.default_rng(1).normal(size=(40, 20))


WIDE = pandas.DataFrame({"y": np.arange(80.0) % 7}, index=pandas.date_range("2024-01-01", periods=80))
PANEL = pandas.DataFrame({"unique_id": np.repeat(["a", "b"], 40), "ds": [*pandas.date_range("2024-01-01", periods=40), *pandas.date_range("2024-03-01", periods=40)],
                          "y": np.arange(80.0) % 7})  # fmt: skip
PLAN = pandas.DataFrame({"promo": 1.0}, index=pandas.date_range("2024-03-21", periods=7))


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def volumes():
    return modewise.VolumeClassifier(settings=TINY, verbosity=-1).fit(VOLUMES, PLACES)


def series():
    return modewise.SeriesClassifier(settings=TINY, verbosity=-1).fit(SERIES, PLACES)


def segments():
    draw = np.random.default_rng(2)
    return modewise.Segmenter(settings=TINY, verbosity=-1).fit(draw.random((48, 48, 3)), draw.integers(0, 2, (48, 48)))


def forecaster(data):
    return modewise.Forecaster("seasonal", horizon=7, lookback=14, settings={"output.report": False}, verbosity=-1).fit(data)


def planned():
    settings = {"train.max_steps": 2, "output.report": False}
    return modewise.Forecaster("tide", horizon=7, lookback=14, settings=settings, future_covariates=["promo"], verbosity=-1).fit(WIDE.assign(promo=1.0))


def test_warnings_of_predictions_are_shown_unless_verbosity_is_below_0(capfd):
    made = volumes()
    for verbosity, shown in ((-1, False), (0, True)):
        capfd.readouterr()
        made.set_params(verbosity=verbosity).predict_proba(VOLUMES / 255)
        assert ("all values are between 0 and" in capfd.readouterr().err) == shown


def test_warnings_of_tasks_are_shown(capfd):
    made = series()
    for task, given in ((modewise.tasks.evaluate, {"split": "all"}), (modewise.tasks.predict, {})):
        capfd.readouterr()
        task(made.run_, data=f"{made.run_}/data/patchtst.ts", **given)
        shown = capfd.readouterr().err
        task(made.run_, data=f"{made.run_}/data/patchtst.ts", **given, verbosity=-1)
        assert "are in the training split of the run" in shown and capfd.readouterr().err == ""


@pytest.mark.parametrize("act, sentence", [
    (lambda: series().predict(np.hstack([SERIES, SERIES])), "X: the longest sample has 40 steps"),
    (lambda: series().predict(np.full((2, 5), 1e39)), "X: sample 0 holds 1e+39, which exceeds the range of float32"),
    (lambda: modewise.SeriesClassifier(settings=TINY, verbosity=-1).fit(SERIES * 1e39, PLACES), "X: sample 0 holds"),
    (lambda: volumes().predict(VOLUMES[:, :3]), "X: "),
    (lambda: modewise.Segmenter(settings=TINY, verbosity=-1).fit(np.zeros((32, 32)), np.zeros((32, 30), int)), "y: "),
    (lambda: segments().predict(np.zeros((32, 32, 2))), "X: 1 dates of 2 bands, but the run was trained on 1 of 3 (the fitted data)"),
    (lambda: forecaster(WIDE.to_numpy()[:5]), "the array: a window of lookback 14 and horizon 7 is longer than the data, 5 rows"),
    (lambda: forecaster(WIDE.to_numpy()).evaluate(WIDE.to_numpy()[:3]), "the array: a window of lookback 14 and horizon 7 is longer than the data, 3 rows"),
    (lambda: forecaster(WIDE).evaluate(WIDE[:3]), "the frame: a window of lookback 14 and horizon 7 is longer than the data, 3 rows"),
    (lambda: forecaster(WIDE).predict(data=WIDE[::7]), "the frame: its rows are 7 d apart, but the run was trained on the fitted data with 1 d"),
    (lambda: forecaster(PANEL.groupby("unique_id").head(5)), "the frame: all 2 series are too short for a validation window of 7 rows"),
    (lambda: forecaster(PANEL).predict(data=PANEL.iloc[::7]), "the frame: its rows are 7 d apart, but those of the run's training 1 d"),
    (lambda: forecaster(PANEL).predict(data=PANEL.assign(y=np.nan)), "the frame: 2 of 2 series have no value: 'a', 'b'"),
    (lambda: planned().predict(future=PLAN[:3]), "future: the future covariate 'promo' is missing on 2024-03-24 00:00:00"),
])  # fmt: skip
def test_errors_name_the_argument(act, sentence):
    with pytest.raises(errors.ModewiseError) as error:
        act()
    assert str(error.value).startswith(sentence) and "/tmp" not in str(error.value)


def test_texts_are_generated_on_the_device():
    settings = {"model.layers": 1, "model.width": 16, "model.heads": 2, "train.max_steps": 2, "train.batch_size": 2, "output.report": False}
    made = modewise.LanguageModel(fold=[0, 4], context=16, settings=settings, verbosity=-1).fit(["a rope of sand " * 9] * 20)
    assert made.generate("a rope", 3) == made.set_params(device="cpu").generate("a rope", 3)
    with pytest.raises(errors.ConfigError, match="^device cuda:99"):
        made.set_params(device="cuda:99").generate("a rope", 3)
