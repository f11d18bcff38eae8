"""`modewise report A B`: the bars have the mean and spread of the runs' metrics, each model has its curves."""

import csv
import json
import math
import re
import shutil

import numpy as np
import pytest

from cli_helpers import QUICK, SMALL, ok, write_csv
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


def drawn(page, title):
    """The figure with this title."""
    return next(figure for figure in re.findall(r"<svg.*?</svg>", page.read_text(encoding="utf-8"), re.S) if f">{title}</text>" in figure)


def copies(runs, folder, file, change):
    """Copies of runs whose `file` is change(its texts): a list of texts."""
    texts = change([(run / file).read_text() for run in runs])
    for run, text in zip(runs, texts, strict=True):
        shutil.copytree(run, folder / run.name)
        (folder / run.name / file).write_text(text)
    return [folder / run.name for run in runs]


def mean_of_steps(texts):
    """metrics.json with the mean over the seeds of the errors by step."""
    metrics = [json.loads(text) for text in texts]
    steps = [{key: float(np.mean([row[key] for row in rows])) for key in rows[0]} for rows in zip(*(one["test"]["by_step"] for one in metrics))]
    return [json.dumps({**one, "test": {**one["test"], "by_step": steps}}) for one in metrics]


def mean_of_lines(texts):
    """metrics.jsonl with the mean over the seeds of each line."""
    lines = zip(*([json.loads(line) for line in text.splitlines()] for text in texts))
    means = [{key: float(np.mean([row[key] for row in rows])) for key in ("step", "epoch", "train_loss", "val_loss") if key in rows[0]} for rows in lines]
    return ["\n".join(map(json.dumps, means)) + "\n"] * len(texts)


def test_errors_by_step_are_means_over_the_seeds(tmp_path):
    table = write_csv(tmp_path / "d.csv")
    runs = [dlinear(table, tmp_path / f"s{seed}", "--seed", seed) for seed in (1, 2)]
    ok("report", *runs, "--out", tmp_path / "page.html")
    ok("report", *copies(runs, tmp_path / "means", "metrics.json", mean_of_steps), "--out", tmp_path / "means.html")
    ok("report", *copies(runs, tmp_path / "first", "metrics.json", lambda texts: [texts[0]] * 2), "--out", tmp_path / "first.html")
    for title in ("MSE by forecast step", "MAE by forecast step"):
        of_seeds, of_means, of_first = (drawn(tmp_path / page, title) for page in ("page.html", "means.html", "first.html"))
        assert of_seeds == of_means != of_first and "(seed" not in of_seeds
    assert "dlinear (seed 1)" in figures(tmp_path / "page.html")["a"]
    ok("report", runs[1], dlinear(table, tmp_path / "rate", "--lr", 0.01), "--out", tmp_path / "single.html")
    assert "(seed" not in (tmp_path / "single.html").read_text()


@pytest.mark.parametrize("command,title", [(["language"], "Validation loss"), (["text", "--objective", "masked_lm", "--set", "model.max_positions=48"], None)])
def test_learning_curves_are_means_over_equal_steps(data, tmp_path, command, title):
    runs = [tmp_path / f"s{seed}" for seed in (1, 2)]
    for seed, run in enumerate(runs, 1):
        ok("train", *command, "--data", data / "story.txt", *TEXT, "--seed", seed, "--out", run, "--set", "train.evaluations_per_epoch=3")
    ok("report", *runs, "--out", tmp_path / "page.html")
    ok("report", *copies(runs, tmp_path / "means", "metrics.jsonl", mean_of_lines), "--out", tmp_path / "means.html")
    shorter = copies(runs, tmp_path / "shorter", "metrics.jsonl", lambda texts: [texts[0].rsplit("\n", 2)[0] + "\n", texts[1]])
    ok("report", *shorter, "--out", tmp_path / "shorter.html")
    title = title or next(name for name in figures(tmp_path / "page.html") if not name.startswith("Accuracy"))
    assert drawn(tmp_path / "page.html", title) == drawn(tmp_path / "means.html", title) and "(seed" not in drawn(tmp_path / "page.html", title)
    assert "(seed 1)" in (tmp_path / "shorter.html").read_text()


def groups(*runs):
    return json.loads(ok("compare", *runs, "--json").stdout)["groups"]


def test_an_evaluated_seed_stays_in_its_group(tmp_path):
    table = write_csv(tmp_path / "d.csv")
    runs = [dlinear(table, tmp_path / f"s{seed}", "--seed", seed, "--no-test") for seed in (1, 2)]
    other = dlinear(table, tmp_path / "rate", "--lr", 0.01, "--no-test")
    ok("evaluate", runs[1])
    assert [[run["seed"] for run in group["runs"]] for group in groups(*runs, other)] == [[1, 2], [0]]
    first, second = ok("compare", *runs, other).stdout.splitlines()[2:]
    mse = json.loads((runs[1] / "metrics.json").read_text())["test"]["scaled"]["mse"]
    assert f" {mse:.4f} (1 of 2) " in first and first.split()[0] == "d," and second.startswith(" ")
    changed = write_csv(tmp_path / "e.csv", edit=lambda lines: lines.__setitem__(20, lines[20].split(",")[0] + ",1,2,3"))
    assert len({json.dumps(group["task"]) for group in groups(runs[0], runs[1], dlinear(changed, tmp_path / "changed", "--no-test"))}) == 2


def test_ensembles_are_named_by_their_folder(tmp_path):
    table = write_csv(tmp_path / "d.csv")
    members = [dlinear(table, tmp_path / f"m{i}", "--seed", i) for i in range(3)]
    for count in (2, 3):
        ok("train", "forecast", table, "--model", "ensemble", *SMALL, "--out", tmp_path / f"e{count}", "--set",
           "model.ensemble.runs=" + ",".join(map(str, members[:count])))  # fmt: skip
    ensembles = [tmp_path / "e2", tmp_path / "e3"]
    assert [group["model"] for group in groups(*ensembles)] == [f"ensemble ({run})" for run in ensembles]
    assert [group["model"] for group in groups(*ensembles, members[0])] == [*(f"ensemble ({run})" for run in ensembles), "dlinear"]


def test_each_row_of_csv_has_its_task(tmp_path):
    table = write_csv(tmp_path / "d.csv")
    runs = [dlinear(table, tmp_path / "usual"), dlinear(table, tmp_path / "rate", "--lr", 0.01)]
    rows = list(csv.DictReader(ok("compare", *runs, "--format", "csv").stdout.splitlines()))
    assert [row["task"] for row in rows] == ["d, lookback 24, horizon 8"] * 2
    assert ok("compare", *runs).stdout.count("lookback 24") == 1


def test_data_at_another_place_are_the_same(data, tmp_path):
    runs = []
    for seed, folder in ((1, tmp_path / "one"), (2, tmp_path / "two")):
        folder.mkdir()
        for name in ("train", "validation", "test"):
            shutil.copy(data / "story.txt", folder / f"{name}.txt")
        runs.append(folder / "run")
        ok("train", "language", "--data", folder / "train.txt", "--set", f"data.validation={folder / 'validation.txt'}", "--set",
           f"data.test={folder / 'test.txt'}", *TEXT, "--seed", seed, "--out", runs[-1])  # fmt: skip
    (group,) = groups(*runs)
    assert [run["seed"] for run in group["runs"]] == [1, 2] and "data." not in group["model"]
