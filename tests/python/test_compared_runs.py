"""`modewise report A B`: the bars have the mean and spread of the runs' metrics, each model has its curves."""

import json
import math
import re

import numpy as np
import pytest

from cli_helpers import QUICK, ok, write_csv
from test_panels import made, panel

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


def dlinear(table, out, *more):
    ok("train", "forecast", table, "--out", out, *QUICK, *more)
    return out


def test_a_seed_counts_once(tmp_path):
    table = write_csv(tmp_path / "d.csv")
    one, three, again = (dlinear(table, tmp_path / name, "--seed", seed) for name, seed in (("s1", 1), ("s3", 3), ("s3b", 3)))
    result = ok("compare", one, one, three, again, "--json")
    (group,) = json.loads(result.stdout)["groups"]
    assert [run["seed"] for run in group["runs"]] == [1, 3] and len(group["mse"]["values"]) == 2
    assert f"duplicate run {one}: it counts once" in result.stderr
    assert f"{again} has the settings, data and seed of {three} and does not count as another seed" in result.stderr
    assert "±" not in ok("compare", one, one).stdout
    ok("report", one, one, "--out", tmp_path / "page.html")
    assert "1 run<" in (tmp_path / "page.html").read_text()


def marks(*runs):
    """Whether there is a mark of the best among the values of each column of numbers that `compare` shows."""
    header, *lines = ok("compare", *runs, "--format", "markdown").stdout.splitlines()
    cells = [line.strip("|").split("|") for line in lines[1:]]
    return {name.strip(): any("**" in row[i] for row in cells) for i, name in enumerate(header.strip("|").split("|")) if i > 2}


def test_the_best_is_marked_among_equal_test_rows_and_levels(tmp_path):
    table = write_csv(tmp_path / "d.csv")
    usual = dlinear(table, tmp_path / "usual")
    rate = dlinear(table, tmp_path / "rate", "--lr", 0.01)
    assert [name for name, mark in marks(usual, rate).items() if mark] == ["MSE", "MAE", "CRPS"]
    fewer = dlinear(table, tmp_path / "fewer", "--set", "data.split_ratios=0.7,0.2,0.1")
    assert not any(marks(usual, fewer).values())
    levels = dlinear(table, tmp_path / "levels", "--lr", 0.01, "--set", "calibration.intervals=0.5,0.9")
    assert [name for name, mark in marks(usual, levels).items() if mark] == ["MSE", "MAE"]


def test_panels_show_their_coverage(tmp_path):
    run = tmp_path / "run"
    ok("train", "forecast", panel(tmp_path / "p.csv", made()), "--horizon", 6, "--model", "repeat", "--out", run, "--set", "data.panel=yes", "--set",
       "output.report=false")  # fmt: skip
    (group,) = json.loads(ok("compare", run, "--json").stdout)["groups"]
    intervals = json.loads((run / "metrics.json").read_text())["test"]["intervals"]
    assert group["coverage_80"]["values"] == [one["coverage"] for one in intervals if one["nominal"] == pytest.approx(0.8)]
