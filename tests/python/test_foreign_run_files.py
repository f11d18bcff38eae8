"""JSON files of a run folder that hold something else: every command ends with a sentence and an exit code of its own, never with 70, and in
Python with an exception of the package. Each value of each file is taken away and replaced by values of every type."""

import copy
import json
import pathlib
import shutil

import numpy as np
import pytest

import cli_helpers
import modewise
from modewise import errors

DEEP = "[" * 100_000 + "]" * 100_000
VALUES = [None, True, -1, 0.5, 10**30, "x", "\x1b[31m", [], {}, [[]], {"a": {}}, "DEEP", "GONE"]
TINY = {"model.width": 8, "model.hidden": 8, "model.heads": 2, "model.layers": 1, "train.max_steps": 2, "train.batch_size": 4,
        "train.evaluations_per_epoch": 1000, "output.report": False}  # fmt: skip


def forecast(folder):
    np.save(folder / "rows.npy", np.sin(np.arange(80.0)[:, None] / [3, 5]))
    return "forecasting", {**TINY, "model.name": "hot", "forecast.lookback": 8, "forecast.horizon": 2, "model.patch.length": 4,
                        "model.patch.stride": 2, "data.path": folder / "rows.npy"}  # fmt: skip


def classify(folder):
    np.save(folder / "boxes.npy", np.arange(30 * 64, dtype=np.float32).reshape(30, 4, 4, 4) % 5)
    np.save(folder / "boxes_labels.npy", np.arange(30) % 2)
    return "volume_classification", {**TINY, "data.path": folder / "boxes.npy"}


def series(folder):
    lines = [f"{','.join(str((i * t) % 7) for t in range(12))}:{i % 2}" for i in range(30)]
    (folder / "samples.ts").write_text("\n".join(["@dimensions 1", "@classLabel true 0 1", "@data", *lines]) + "\n")
    return "series_classification", {**TINY, "data.train": folder / "samples.ts", "data.protocol": "paper", "model.patch.length": 4, "model.patch.stride": 2}


def segment(folder):
    np.save(folder / "scene.npy", np.arange(64 * 64 * 2, dtype=np.float32).reshape(64, 64, 2) % 7)
    np.save(folder / "mask.npy", np.arange(64 * 64).reshape(64, 64) // 32 % 2 + 1)
    return "segmentation", {**TINY, "data.path": folder / "scene.npy", "data.masks": folder / "mask.npy", "data.window": 16}


def language(folder):
    (folder / "texts.jsonl").write_text("".join(json.dumps({"text": "a rope of sand " * 9}) + "\n" for _ in range(20)))
    return "language_modeling", {"model.layers": 1, "model.width": 16, "model.heads": 2, "model.context": 16, "model.attention.fold": [0, 4],
                        "train.max_steps": 2, "train.batch_size": 2, "output.report": False, "data.path": folder / "texts.jsonl"}  # fmt: skip


TASKS = [forecast, classify, series, segment, language]


@pytest.fixture(scope="module", params=TASKS, ids=lambda made: made.__name__)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    task, settings = request.param(folder)
    modewise.tasks.train(task, settings, out=folder / "run", verbosity=-1)
    return folder / "run"


def places(document, path=()):
    """The way to every value of a document; of long lists to the first and the last."""
    yield path
    entries = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    entries = list(entries)
    for key, value in entries if len(entries) < 20 else [entries[0], entries[-1]]:
        yield from places(value, (*path, key))


def changed(document, path, value):
    """The text of a document with another value at a place."""
    if not path:
        return DEEP if value == "DEEP" else "" if value == "GONE" else json.dumps(value)
    document = copy.deepcopy(document)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    if value == "GONE":
        del holder[path[-1]]
        return json.dumps(document)
    holder[path[-1]] = value
    return json.dumps(document).replace('"DEEP"', DEEP)


def cases(run, names, stride):
    """(file, its text) of every place and value, or of one in `stride`."""
    every = []
    for name in names:
        file = run / name
        if not file.exists():
            continue
        text = file.read_text()
        document = json.loads(text.splitlines()[-1] if name.endswith("jsonl") else text)
        begin = "".join(text.splitlines(True)[:-1]) if name.endswith("jsonl") else ""
        every += [(file, begin + changed(document, path, value) + "\n") for path in places(document) for value in VALUES]
    assert len(every) > 100
    return every[::stride]


def ways_in_python(run):
    estimators = {"forecasting": modewise.Forecaster, "volume_classification": modewise.VolumeClassifier,
                  "series_classification": modewise.SeriesClassifier, "segmentation": modewise.Segmenter,
                  "language_modeling": modewise.LanguageModel}  # fmt: skip
    task = json.loads((run / "manifest.json").read_text())["task"]
    tasks = modewise.tasks
    yield from (modewise.load, estimators[task].from_run, tasks.evaluate, tasks.resume)
    yield from () if task in ("language_modeling", "segmentation") else (tasks.predict,)
    yield from () if task == "language_modeling" else (
        lambda path: tasks.explain(path, samples=1, num_examples=0, max_positions=1, overwrite=True),)
    if task == "forecasting":
        yield tasks.backtest


def follow_in_python(run, stride):
    for file, text in cases(run, ["manifest.json", "data.json", "metrics.json", "metrics.jsonl"], stride):
        whole = file.read_bytes()
        for way in ways_in_python(run):
            file.write_text(text)
            try:
                way(run)
            except (errors.ModewiseError, NotImplementedError) as error:
                assert not isinstance(error, errors.InternalError), (file.name, text[:2000], way, error)
            file.write_bytes(whole)


def follow_in_the_program(run, stride, out):
    for file, text in cases(run, ["metrics.json", "data.json", "metrics.jsonl", "manifest.json"], stride):
        whole = file.read_bytes()
        file.write_text(text)
        for command in (["report", run, "--out", out / "report.html", "--overwrite"], ["compare", run, "--json"]):
            said = cli_helpers.modewise(*command)
            assert said.returncode in (0, 2, 65, 66, 78), (file.name, text[:2000], command, said.stderr[-2000:])
        file.write_bytes(whole)


@pytest.fixture
def copied(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return pathlib.Path(shutil.copytree(run, tmp_path / "run"))


def test_foreign_values_are_sentences_in_python(copied):
    follow_in_python(copied, 701)


def test_foreign_values_are_sentences_in_the_program(copied, tmp_path):
    follow_in_the_program(copied, 1999, tmp_path)


@pytest.mark.long
def test_many_foreign_values_are_sentences_in_python(copied):
    follow_in_python(copied, 7)


@pytest.mark.long
def test_many_foreign_values_are_sentences_in_the_program(copied, tmp_path):
    follow_in_the_program(copied, 61, tmp_path)
