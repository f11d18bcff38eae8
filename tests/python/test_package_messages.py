"""What estimators and tasks say: the program's warnings on stderr, and errors about arguments, not about the files written for them."""

import numpy as np
import pytest

import modewise
from modewise import errors

TINY = {"model.width": 8, "model.hidden": 8, "model.heads": 2, "model.layers": 1, "train.max_steps": 2, "output.report": False}
PLACES = np.arange(40) % 2
VOLUMES = (np.random.default_rng(0).random((40, 4, 4, 4)) * 255).astype(np.uint8)
SERIES = np.random.default_rng(1).normal(size=(40, 20))


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def volumes():
    return modewise.VolumeClassifier(settings=TINY, verbosity=-1).fit(VOLUMES, PLACES)


def series():
    return modewise.SeriesClassifier(settings=TINY, verbosity=-1).fit(SERIES, PLACES)


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
