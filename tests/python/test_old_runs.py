"""Runs that older builds made open with what they had: old_runs/make_old_runs.py made them by the build before
head.norm, attention.normalize_sum and attention.feature_draw, when `divided` was called timesformer."""

import json
import pathlib
import shutil
import sys

import numpy as np
import pytest

import modewise
from cli_helpers import ok
from modewise.run_folder import RunFolder

OLD = pathlib.Path(__file__).resolve().parent / "old_runs"
sys.path.insert(0, str(OLD))

import make_old_runs as old  # noqa: E402

EXPECTED = json.loads((OLD / "expected.json").read_text())


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("old")
    return {"table": old.write_table(folder), "volumes": old.write_volumes(folder), "scene": old.write_scene(folder)[0], "folder": folder}


def data_of(name, data):
    return data["volumes"] if name in old.VOLUMES else data["scene"] if name in old.SCENES else data["table"]


def scaled(name, series):
    """The float32 numbers of the model, from which the forecasts in units of all series were made."""
    scaler = json.loads((OLD / name / "data.json").read_text())["scaler"]
    moments = zip(scaler["mean"], scaler.get("std", scaler.get("deviation")), strict=True)
    return [[((np.array(one) - mean) / std).astype(np.float32).tolist() for one in [series["forecast"], *series.get("quantiles", {}).values()]]
            for series, (mean, std) in zip(series, moments, strict=True)]


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_run_predicts_to_the_same_bits(name, data, tmp_path):
    run = shutil.copytree(OLD / name, tmp_path / name)
    got, wanted = old.predicted(run, data_of(name, data), tmp_path), EXPECTED[name]
    if (OLD / name / "data.json").exists() and "scaler" in json.loads((OLD / name / "data.json").read_text()):
        assert [{**one, "forecast": 0, "quantiles": list(one["quantiles"])} for one in got] == [
            {**one, "forecast": 0, "quantiles": list(one["quantiles"])} for one in wanted]  # fmt: skip
        got, wanted = scaled(name, got), scaled(name, wanted)
    assert got == wanted


@pytest.mark.parametrize("name", ["paper-sum", "linear", "volumes-paper-sum", "timesformer"])
def test_an_old_run_loads_in_python_with_the_same_bits(name, data, tmp_path):
    loaded = modewise.load(shutil.copytree(OLD / name, tmp_path / name))
    if name in old.VOLUMES:
        with np.load(data["volumes"]) as arrays:
            images = np.concatenate([arrays[f"{split}_images"] for split in ("train", "val", "test")])
        assert loaded.predict_proba(images[-len(EXPECTED[name]) :]).tolist() == EXPECTED[name]
        return
    rows = np.array([[float(cell) for cell in line.split(",")[1:]] for line in data["table"].read_text().splitlines()[1:]])
    got = [{"forecast": values} for values in loaded.predict(rows).values]
    assert scaled(name, got) == scaled(name, [{"forecast": series["forecast"]} for series in EXPECTED[name]])


@pytest.mark.parametrize("name", EXPECTED)
def test_the_old_names_of_a_run_are_one_warning(name, data, tmp_path):
    """The keys of config.toml and data.json, and the task of the manifest, have the names of their time."""
    run = shutil.copytree(OLD / name, tmp_path / name)
    said = ok("predict", run, "--data", data_of(name, data), *(["--out", tmp_path / "map.npy"] if name in old.SCENES else [])).stderr
    (warning,) = [line for line in said.splitlines() if "docs/renames.md lists all names that have changed" in line]
    assert "' is called '" in warning
    assert ok("config", "show", "--run", run).stdout.count("\nlayers = ") == 1


def test_an_old_run_has_the_current_name_of_its_task():
    tasks = {name: json.loads((OLD / name / "manifest.json").read_text()).get("task", "forecast") for name in EXPECTED}
    assert set(tasks.values()) == {"forecast", "classify", "segment"}
    for name, task in tasks.items():
        assert RunFolder(OLD / name).task == {"forecast": "forecasting", "classify": "volume_classification", "segment": "segmentation"}[task]


def test_the_config_of_an_old_run_shows_what_acted_then(tmp_path):
    def shown(name, task):
        config = json.loads(ok("config", "show", task, "--run", OLD / name, "--json").stdout)
        return {key.removeprefix("model."): value for key, value in config.items() if key.startswith("model.")}

    hot, transformer = shown("paper-sum", "forecasting"), shown("transformer-paper", "forecasting")
    assert [hot[key] for key in ("head.norm", "attention.normalize_sum", "attention.pooling")] == [True, False, "mean"]
    assert transformer["head.norm"] is True
    assert shown("linear", "forecasting")["attention.feature_draw"] == "fixed"
    assert shown("timesformer", "volume_classification")["name"] == "divided"
    assert shown("mvit", "volume_classification")["name"] == "pooling-attention"
    scenes = shown("scenes-paper-sum", "segmentation")
    assert [scenes[key] for key in ("head.norm", "attention.normalize_sum", "layers")] == [True, False, 1]


def test_an_old_name_of_a_model_is_warned_about_once(data, tmp_path):
    arguments = ["train", "classify-volumes", "--data", data["volumes"], "--model", "timesformer", "--set", "train.max_steps=1",
                 "--set", "model.width=8", "--set", "model.heads=2", "--set", "output.report=false"]  # fmt: skip
    warned = ok(*arguments, "--out", tmp_path / "run").stderr
    assert warned.count('model.name = "timesformer" is deprecated: use "divided"') == 1
    assert 'name = \'divided\'' in (tmp_path / "run" / "config.toml").read_text().replace('"', "'")
    assert "deprecated" not in ok("predict", tmp_path / "run", "--json").stderr
