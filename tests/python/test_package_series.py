"""modewise.SeriesClassifier: arrays and lists of series in, the program's scores out; what is wrong as sentences."""

import os

import numpy as np
import pandas as pd
import pytest
import sklearn.base
import torch

import modewise
from modewise import errors
from modewise.run_folder import RunFolder

SETTINGS = {"model.width": 16, "train.max_steps": 60, "output.report": False}


def waves(count, variables=2, seed=0):
    """Samples [20 to 24, C], slow, middling or fast, some values missing."""
    rng, samples, places = np.random.default_rng(seed), [], np.arange(count) % 3
    for place in places:
        t = np.arange(rng.integers(20, 25))
        sample = np.sin(t[:, None] * (0.4 + 0.5 * place) + np.arange(variables)) + 0.1 * rng.normal(size=(len(t), variables))
        sample[rng.random(sample.shape) < 0.02] = np.nan
        samples.append(sample)
    return samples, np.array(["slow wave", "middling", "fast"])[places]


def fitted(X, y, **changes):
    return modewise.SeriesClassifier(**{"verbosity": -1, "settings": SETTINGS, **changes}).fit(X, y)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_an_estimator_gives_the_programs_scores():
    X, y = waves(60)
    made = fitted(X, y)
    assert list(made.classes_) == ["fast", "middling", "slow wave"]
    new, wanted = waves(30, seed=1)
    proba = made.predict_proba(new)
    said = modewise.tasks.predict(made.run_, data=written(new))
    assert np.array_equal(proba, [sample["scores"] for sample in said["cases"]])
    assert list(made.predict(new)) == [["fast", "middling", "slow wave"][place] for place in proba.argmax(-1)]
    assert made.score(new, wanted) == (made.predict(new) == wanted).mean() > 0.8
    assert made.evaluate() == modewise.tasks.evaluate(made.run_, split="validation")
    assert os.listdir() == ["new.ts"] and os.listdir(f"{made.run_}/data") == ["patchtst.ts"]
    again = modewise.SeriesClassifier.from_run(made.run_)
    assert np.array_equal(again.predict_proba(new), proba)
    assert sklearn.base.clone(made).get_params() == made.get_params()


def written(samples):
    """A table of our own making: the program's scores of the same samples."""
    lines = [":".join(",".join("?" if np.isnan(value) else repr(float(value)) for value in column) for column in sample.T) for sample in samples]
    with open("new.ts", "w") as file:
        file.write("@timeStamps false\n@dimensions 2\n@classLabel false\n@data\n" + "\n".join(lines) + "\n")
    return "new.ts"


def test_arrays_of_one_and_of_several_variables_are_lists_of_cases():
    X = np.array([sample[:20] for sample in waves(60, 1)[0]])
    y = np.arange(60) % 3 * 5
    nearest = {"model": "nearest", "settings": {"output.report": False}}
    one = fitted(X[..., 0], y, **nearest)
    assert list(one.classes_) == [0, 5, 10]
    for same in (X, list(X), [sample[:, 0] for sample in X]):
        assert np.array_equal(fitted(same, y, **nearest).predict_proba(X), one.predict_proba(X[..., 0]))


def test_series_padded_with_nan_are_those_that_end_there():
    X, y = waves(60)
    padded = np.full((60, 30, 2), np.nan)
    for row, sample in zip(padded, X, strict=True):
        sample[-1] = 1
        row[: len(sample)] = sample
    ragged = fitted(X, y)
    made = fitted(padded, y)
    assert made.metrics_["validation"] == ragged.metrics_["validation"]
    assert np.array_equal(made.predict_proba(padded), ragged.predict_proba(X))
    pd.DataFrame(padded[..., 0]).assign(label=y).to_csv("table.csv", index=False)
    modewise.tasks.train("series_classification", {"data.path": "table.csv", "model.name": "nearest", "output.report": False}, out="table", verbosity=-1)
    one = fitted(padded[..., 0], y, **NEAREST)
    of_table, of_array = (RunFolder(run).read_json("data.json") for run in ("table", one.run_))
    assert (of_array["length"], of_array["padded"]) == (of_table["length"], of_table["padded"]) == (24, True)
    with pytest.raises(errors.DataError, match="^X: sample 2 has no value: every one is NaN$"):
        made.predict([*X[:2], np.full((20, 2), np.nan)])


def test_truth_values_are_0_and_1():
    X = np.array([sample[:20] for sample in waves(60, 1)[0]])[..., 0] > 0
    y = np.arange(60) % 3
    assert np.array_equal(fitted(X, y, **NEAREST).predict_proba(X), fitted(X.astype(int), y, **NEAREST).predict_proba(X))


NEAREST = {"model": "nearest", "settings": {"output.report": False}}


@pytest.mark.parametrize("classes", [
    np.array(["sit, still", "walk: fast"]), np.array(['say "a"', "it's"]), np.array(["", "?", " a "]), np.array(["true", "false"]), np.array(["a\nb", "a"]),
    np.array(["ü", "日本"]), np.array([10, 2]), np.array([2.0, -1.0]), np.array([-1, 1], np.int8), np.array([2**63, 1], np.uint64), np.array([True, False]),
])  # fmt: skip
def test_classes_keep_their_names_and_types_in_a_saved_run(classes):
    X, _ = waves(60)
    y = np.asarray(classes)[np.arange(60) % 3 % len(classes)]
    made = fitted(X, y, **NEAREST)
    made.save("saved")
    for one in (made, modewise.SeriesClassifier.load("saved")):
        assert one.classes_.dtype == np.unique(y).dtype and np.array_equal(one.classes_, np.unique(y))
        assert one.score(X, y) == (one.predict(X) == y).mean() > 0.6
    if classes.dtype.kind == "f":
        assert [one["name"] for one in made.evaluate(detail=True)["classes"]] == ["-1", "2"]
    if classes.dtype.kind == "U" and "a\nb" not in classes:
        assert [one["name"] for one in made.evaluate(detail=True)["classes"]] == list(np.unique(y))


def test_labels_of_pandas_and_torch_and_numbers_with_missing_ones():
    X, y = np.array([sample[:20] for sample in waves(60, 1)[0]])[..., 0], np.arange(60) % 3
    wanted = fitted(X, y, **NEAREST).predict_proba(X)
    for labels in (pd.Series(y, dtype="Int64"), torch.tensor(y), pd.Series(y), np.ma.masked_array(y, mask=False)):
        assert np.array_equal(fitted(X, labels, **NEAREST).predict_proba(X), wanted)
    assert np.array_equal(fitted(X.astype(object), y.astype(float), **NEAREST).predict_proba(X.astype(object)), wanted)
    frame = pd.DataFrame(X).astype("Float64")
    assert np.array_equal(fitted(frame, y, **NEAREST).predict_proba(frame), wanted)
    names = pd.Series(["a", "b", "c"], dtype="string")[y].reset_index(drop=True)
    names[3] = pd.NA
    for labels, sentence in ((names, "y has no label for some samples"), (np.where(y == 1, np.nan, y), "y has no label for some samples"), (np.ma.masked_array(y, mask=y == 1), "y has no label for some samples"),
                             (np.array([1, "a", "b"], dtype=object)[y], "y must hold labels of one type, got int, str")):  # fmt: skip
        with pytest.raises(errors.DataError) as error:
            fitted(X, labels, **NEAREST)
        assert str(error.value) == sentence
    with pytest.raises(errors.DataError) as error:
        fitted(X, y, **NEAREST).score(X, y[:3])
    assert str(error.value) == "y must have a label for each of the 60 samples, got 3"


@pytest.mark.parametrize("X, y, sentence", [
    ([], [], "X must hold at least one sample"),
    ([[1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]]], [0, 1], "X: sample 0 has 1 variables, sample 1 has 2"),
    ([[1.0, 2.0], ["x"]], [0, 1], "X: sample 1 must be [T] or [T, C] of numbers, got [1] of <U1"),
    ([[1.0, 2.0], []], [0, 1], "X: sample 1 must be [T] or [T, C] of numbers, got [0] of float64"),
    (np.zeros((2, 3, 4, 5)), [0, 1], "X: sample 0 must be [T] or [T, C] of numbers, got [3, 4, 5] of float64"),
    (np.zeros((0, 3)), [], "array: it must be [n, T] or [n, T, C] with at least one sample, got [0, 3]"),
    ([[1.0, np.inf]], [0], "X: sample 0 holds an infinite value"),
    ([[1.0, 2.0], [1.0, 2.0]], [0], "y must have a label for each of the 2 samples, got 1"),
    ([[1.0, 2.0], [1.0, 2.0]], [3, 3], "y must hold at least two classes, got 3"),
])  # fmt: skip
def test_bad_series_are_sentences(X, y, sentence):
    with pytest.raises(errors.DataError) as error:
        fitted(X, y)
    assert str(error.value) == sentence
    assert os.listdir() == []


def test_a_fit_that_did_not_begin_leaves_nothing():
    with pytest.raises(errors.UsageError):
        fitted(*waves(30), model="nothing")
    assert os.listdir() == []
    with pytest.raises(errors.UsageError) as error:
        modewise.SeriesClassifier().predict(waves(3)[0])
    assert str(error.value) == "this SeriesClassifier is not fitted yet: call fit, or open a run with SeriesClassifier.from_run"
