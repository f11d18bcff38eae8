"""`modewise report A B`: the bars have the mean and spread of the runs' metrics, each model has its curves."""

import json
import math
import re

import numpy as np
import pytest

from cli_helpers import ok

WORDS = "a rope of sand and seven ships went over the hill because it was late".split()
TEXT = ["--tokenizer", "bytes", "--set", "model.width=16", "--set", "model.layers=1", "--set", "model.heads=2", "--set", "train.batch_size=8",
        "--set", "train.max_steps=40", "--set", "train.optimizer.learning_rate=0.02", "--set", "output.report=false", "--set", "output.export_model=false", "--threads", "1"]  # fmt: skip
SERIES = ["--set", "forecast.lookback=24", "--set", "forecast.horizon=8", "--set", "train.epochs=1", "--set", "output.report=false", "--threads", "1"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    rng = np.random.default_rng(1)
    (folder / "story.txt").write_text(" ".join(rng.choice(WORDS, size=1500)))
    rows = [f"2020-01-{1 + i // 24:02d} {i % 24:02d}:00,{math.sin(i / 4):.3f},{math.cos(i / 6):.3f}" for i in range(24 * 31)]
    (folder / "waves.csv").write_text("\n".join(["date,a,b", *rows]) + "\n")
    return folder


def figures(page):
    """{title: the other texts, then the lines with their values} of the figures of a page, in order."""
    out = {}
    for figure in re.findall(r"<svg.*?</svg>", page.read_text(encoding="utf-8"), re.S):
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", figure)
        out[texts[0]] = texts[1:] + re.findall(r"<title>([^<]*)</title>", figure)
    return out


def trained(command, runs):
    """The metrics on the test split of runs with other settings."""
    for run, settings in runs.items():
        ok(*command, "--out", run, *settings)
    return [json.loads((run / "metrics.json").read_text())["test"] for run in runs]


def shows(label, values):
    """Whether "NAME: MEAN ± SPREAD" has the values' mean and standard deviation, rounded to its decimals."""
    numbers = label.rsplit(": ")[-1].split(" ± ")
    rounding = [0.5001 * 10.0 ** -len(number.partition(".")[2]) for number in numbers]
    return np.all(np.abs(np.array(numbers, float) - [np.mean(values), np.std(values, ddof=1)]) <= rounding) and np.std(values) > 0


def test_forecasts(data, tmp_path):
    runs = {tmp_path / model: ["--model", model] for model in ("dlinear", "hot")}
    metrics = trained(["train", "forecast", "--data", data / "waves.csv", *SERIES], runs)
    ok("report", *runs, "--out", tmp_path / "page.html")
    found = figures(tmp_path / "page.html")
    assert list(found) == ["MSE, scaled", "MSE by forecast step", "MAE by forecast step", "a", "b"]
    for name, one in zip(("dlinear", "hot"), metrics, strict=True):
        assert f"{name}, MSE, scaled: {one['scaled']['mse']:.3f}" in found["MSE, scaled"]
        assert all(name in found[title] for title in list(found)[1:])
    assert all("truth" in found[series] for series in "ab")


def test_language_models(data, tmp_path):
    runs = {tmp_path / str(seed): ["--set", f"train.seed={seed}", "--attention", "full"] for seed in (1, 2)}
    metrics = trained(["train", "language", "--data", data / "story.txt", *TEXT], runs)
    ok("report", *runs, "--out", tmp_path / "page.html")
    found = figures(tmp_path / "page.html")
    assert list(found) == ["Bits per byte", "Validation loss"]
    assert shows(found["Bits per byte"][-1], [one["bits_per_byte"] for one in metrics])
    assert "step" in found["Validation loss"]


def test_text_encoders(data, tmp_path):
    command = ["train", "text", "--objective", "masked_lm", "--data", data / "story.txt", "--set", "model.max_positions=48", *TEXT]
    metrics = trained(command, runs := {tmp_path / str(steps): ["--set", f"train.max_steps={steps}"] for steps in (1, 40)})
    ok("report", *runs, "--out", tmp_path / "page.html")
    labels = figures(tmp_path / "page.html")["Accuracy %"][-2:]
    for steps, label, one in zip((1, 40), labels, metrics, strict=True):  # two models, each with one seed
        name, value = label.split(", Accuracy %: ")
        assert name.endswith(f"train.max_steps={steps}") and float(value) == pytest.approx(100 * one["accuracy"], abs=0.05)
    assert metrics[0]["accuracy"] != metrics[1]["accuracy"]
