"""Fits an estimator of the Python package with the run folder OUT/run, or resumes that run: estimators.py NAME OUT

The predictions go to OUT/result.npy."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import numpy as np

import modewise

rng = np.random.default_rng(4)
SAVES = {"train.checkpoint_every_steps": 2, "output.report": False}
USUAL = {"threads": 1, "verbosity": -1, "overwrite": True}
STEPS = {**SAVES, "train.max_steps": 8}


def forecaster(run):
    data = np.sin(np.arange(300)[:, None] / 4 + np.arange(3)) + 0.1 * rng.normal(size=(300, 3))
    made = modewise.Forecaster("dlinear", horizon=8, lookback=24, settings=STEPS, run=run, **USUAL)
    return made, (data,), lambda fitted: fitted.predict()


def series(run):
    labels = np.arange(40) % 2
    samples = rng.normal(size=(40, 30)) + labels[:, None] * np.linspace(0, 3, 30)
    settings = {**SAVES, "model.width": 16, "model.layers": 1, "model.heads": 2, "model.hidden": 16}
    made = modewise.SeriesClassifier("patchtst", epochs=3, settings=settings, run=run, **USUAL)
    return made, (samples, labels), lambda fitted: fitted.predict_proba(samples)


def segmenter(run):
    scene, mask = rng.normal(size=(96, 96, 2)), (np.add.outer(np.arange(96), np.arange(96)) // 24 % 2).astype(np.int64)
    settings = {**STEPS, "data.window": 16, "model.width": 16, "model.layers": 1, "model.heads": 2, "model.hidden": 16}
    made = modewise.Segmenter("hot", settings=settings, run=run, **USUAL)
    return made, (scene, mask), lambda fitted: fitted.predict(scene)


def language(run):
    texts = ["a rope of sand and seven ships went over the hill because it was late. " * 20 + str(i) for i in range(12)]
    settings = {**STEPS, "model.width": 16, "model.layers": 1, "model.heads": 2, "train.batch_size": 4}
    made = modewise.LanguageModel(context=64, settings=settings, run=run, **USUAL)
    return made, (texts,), lambda fitted: np.array([fitted.generate("a rope", 8)])


name, out = sys.argv[1], pathlib.Path(sys.argv[2])
run = out / "run"
made, data, predict = {"forecaster": forecaster, "series": series, "segmenter": segmenter, "language": language}[name](run)
if (run / "config.toml").exists():
    modewise.tasks.resume(run, verbosity=-1)
    made = type(made).from_run(run)
else:
    made.fit(*data)
np.save(out / "result.npy", np.asarray(predict(made)))
