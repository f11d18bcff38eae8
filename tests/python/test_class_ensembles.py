"""Ensembles of classifiers: their scores are the members' averaged, their weights those of numpy, and `--model auto` ends with
one to the same bytes however often it is killed."""

import importlib.util
import json
import shutil
import signal
import subprocess
import time
import tomllib

import numpy as np
import pytest
from cli_helpers import PROGRAM, ROOT, fails, modewise, ok

CLASSES = ("up", "down", "flat")
EPOCHS = {"dlinear": 40, "minirocket": 0, "resnet": 10}


def oracle():
    """The script that makes the vectors of the weights: numpy and scikit-learn."""
    path = ROOT / "tests" / "metrics" / "vectors" / "make_class_mixture.py"
    spec = importlib.util.spec_from_file_location("make_class_mixture", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_cases(path, count, seed, noise=1.6, classes=CLASSES):
    """Ramps of 20 steps and 2 variables, hard to tell under their noise."""
    rng = np.random.default_rng(seed)
    lines = ["@problemName Ramps", "@dimensions 2", f"@classLabel true {' '.join(classes)}", "@data"]
    for i in range(count):
        slope = (1, -1, 0)[i % 3]
        series = [slope * np.linspace(-1, 1, 20) + rng.normal(0, noise, 20) for _ in range(2)]
        lines.append(":".join(",".join(f"{x:.4f}" for x in one) for one in series) + f":{classes[i % 3]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def train(folder, out, *more, model="dlinear"):
    return ["train", "classify-series", "--data", folder, "--out", out, "--threads", "1", "--set", "output.report=false",
            "--set", "data.validation_share=0.4", "--set", f"train.epochs={EPOCHS.get(model, -1)}", "--model", model, *more]  # fmt: skip


def ensemble(folder, out, runs, *more):
    return train(folder, out, "--set", "model.ensemble.runs=" + ",".join(map(str, runs)), *more, model="ensemble")


def scores(run, *more):
    return np.array([case["scores"] for case in json.loads(ok("predict", run, *more, "--json").stdout)["cases"]])


def metrics(run):
    return json.loads((run / "metrics.json").read_text())


def weights(run):
    """The weight of each of its runs."""
    named = {one["run"]: one["weight"] for one in metrics(run)["members"]}
    return [named.get(path, 0) for path in tomllib.loads((run / "config.toml").read_text())["model"]["ensemble"]["runs"]]


def kept(run):
    with np.load(run / "predictions.npz") as arrays:
        return arrays["validation_scores"], arrays["validation_labels"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ramps")
    write_cases(folder / "Ramps_TRAIN.ts", 150, 1)
    write_cases(folder / "Ramps_TEST.ts", 30, 2)
    return folder


@pytest.fixture(scope="module")
def members(folder):
    """Runs of three models on two splits, model by model."""
    runs = {}
    for model in EPOCHS:
        for split in (1, 2):
            runs[model, split] = folder / f"{model}-{split}"
            ok(*train(folder, runs[model, split], "--set", f"data.split_seed={split}", model=model))
    return runs


@pytest.fixture(scope="module")
def mixed(folder, members):
    run = folder / "mixed"
    ok(*ensemble(folder, run, [members[model, 1] for model in EPOCHS],
                 "--set", "classify.select=accuracy", "--set", "output.report=true"))  # fmt: skip
    return run


@pytest.fixture(scope="module")
def on_splits(folder, members):
    run = folder / "on-splits"
    ok(*ensemble(folder, run, members.values(), "--set", "model.ensemble.splits=2", "--no-test"))
    return run


def test_scores_are_the_members_averaged(members, mixed):
    runs = [members[model, 1] for model in EPOCHS]
    assert sum(weights(mixed)) == pytest.approx(1, abs=1e-12)
    mean = sum(weight * scores(run) for weight, run in zip(weights(mixed), runs))
    np.testing.assert_allclose(scores(mixed), mean, rtol=0, atol=1e-14)
    with np.load(mixed / "predictions.npz") as arrays:
        np.testing.assert_allclose(arrays["test_scores"], mean, rtol=0, atol=1e-14)


def test_weights_are_those_of_numpy(members, mixed):
    tables = [kept(members[model, 1]) for model in EPOCHS]
    labels, models, by_hand = tables[0][1], [[table] for table, _ in tables], oracle()
    mixed_table = by_hand.evaluated(models, [labels], "accuracy", 50)
    alone = max(by_hand.figure(model, [labels], "accuracy") for model in models)
    assert by_hand.figure(mixed_table, [labels], "accuracy") > alone, "a set on which a mean is better"
    np.testing.assert_allclose(weights(mixed), by_hand.greedy(models, [labels], "accuracy", 50), rtol=0, atol=1e-12)
    np.testing.assert_allclose(kept(mixed)[0], mixed_table[0], rtol=0, atol=1e-14)
    validation = metrics(mixed)["validation"]
    assert validation["accuracy"] == pytest.approx(by_hand.accuracy_score(labels, mixed_table[0].argmax(1)), abs=1e-12)
    assert validation["loss"] == pytest.approx(by_hand.loss(mixed_table[0], labels), abs=1e-12)
    assert metrics(mixed)["best"]["val_accuracy"] == validation["accuracy"]


def test_on_several_splits_a_member_is_the_mean_of_its_trainings(members, on_splits):
    parts = [[kept(members[model, split]) for split in (1, 2)] for model in EPOCHS]
    labels, models, by_hand = [truth for _, truth in parts[0]], [[table for table, _ in one] for one in parts], oracle()
    mixed_table = by_hand.evaluated(models, labels, "loss", 50)
    alone = max(by_hand.figure(model, labels, "loss") for model in models)
    figure = by_hand.figure(mixed_table, labels, "loss")
    assert figure > alone, "a set on which a mean is better"
    wanted = by_hand.greedy(models, labels, "loss", 50)
    np.testing.assert_allclose(weights(on_splits), np.repeat(wanted, 2) / 2, rtol=0, atol=1e-12)
    assert metrics(on_splits)["validation"]["loss"] == pytest.approx(-figure[0], abs=1e-12)
    assert metrics(on_splits)["validation"]["samples"] == sum(map(len, labels))
    # Its arrays are of the first split.
    np.testing.assert_allclose(kept(on_splits)[0], mixed_table[0], rtol=0, atol=1e-14)
    np.testing.assert_array_equal(kept(on_splits)[1], labels[0])
    # Members were trained on samples scaled in other ways; the ensemble scales its own back to theirs.
    mean = sum(weight * scores(run) for weight, run in zip(weights(on_splits), members.values()))
    np.testing.assert_allclose(scores(on_splits), mean, rtol=0, atol=2e-3)
    assert np.abs(scores(on_splits) - mean).mean() < 1e-5


def test_its_validation_is_what_others_chose(on_splits, mixed):
    for run in (on_splits, mixed):
        assert json.loads(ok("evaluate", run, "--split", "validation", "--json").stdout) == metrics(run)["validation"]


def test_it_is_a_run_like_any_other(folder, members, mixed, on_splits, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(mixed, moved)
    assert json.loads(ok("evaluate", moved, "--json").stdout) == metrics(mixed)["test"]
    assert (mixed / "report.html").stat().st_size > 10_000
    ok("report", on_splits, "--out", tmp_path / "page.html")  # by validation: its test split is unread
    assert "are selected on the validation samples, whose metrics are cross-validated" in (tmp_path / "page.html").read_text()
    compared = ok("compare", mixed, members["dlinear", 1]).stdout
    assert "ensemble" in compared and "dlinear" in compared
    explained = json.loads(ok("explain", mixed, "--json", "--out", tmp_path / "explained").stdout)
    assert [one["mode"] for one in explained["influence"]] == ["variable", "time"] and not explained["stable_rank"]
    fails(2, "is a run of 'ensemble', which has no attention matrices", arguments=["decompose", mixed])
    read = json.loads(ok("evaluate", on_splits, "--json").stdout)
    assert read["samples"] == 30 and metrics(on_splits)["test"] == read


def test_a_stopped_ensemble_begins_again(folder, members, mixed, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for name in ("config.toml", "manifest.json", "data.json"):
        shutil.copy(mixed / name, run / name)
    ok("train", "classify-series", "--resume", run, "--set", "output.report=false", "--threads", "1")
    assert metrics(run) == metrics(mixed)
    for file in ("best.safetensors", "model.safetensors"):
        one, other = (next((r / "checkpoints").glob("step_*")) / file for r in (run, mixed))
        assert one.read_bytes() == other.read_bytes()


def test_refusals(folder, members, mixed, tmp_path):
    out, runs = tmp_path / "out", [members["dlinear", 1], members["resnet", 1]]
    fails(2, "an ensemble needs runs: --set model.ensemble.runs=RUN,RUN", arguments=train(folder, out, model="ensemble"))
    fails(2, f"an ensemble needs several runs, got only {runs[0]}", arguments=ensemble(folder, out, runs[:1]))
    fails(66, "no such run folder: /nowhere", arguments=ensemble(folder, out, [runs[0], "/nowhere"]))
    fails(78, f"{mixed}: an ensemble cannot be a member of an ensemble", arguments=ensemble(folder, out, [runs[0], mixed]))
    fails(78, "2 runs are not a multiple of splits = 3", arguments=ensemble(folder, out, runs, "--set", "model.ensemble.splits=3"))
    fails(78, f"data.split_seed = 2, but {runs[0]} has 1", arguments=ensemble(folder, out, [runs[0], members["resnet", 2]]))
    case = tmp_path / "case"
    ok(*train(folder, case, "--set", "data.normalize=sample"))
    fails(78, f"data.normalize = 'sample', but {runs[0]} has 'variable'", arguments=ensemble(folder, out, [runs[0], case]))
    assert not out.exists()

    other = tmp_path / "other"
    other.mkdir()
    write_cases(other / "Ramps_TRAIN.ts", 150, 1, classes=("up", "down", "level"))
    write_cases(other / "Ramps_TEST.ts", 30, 2, classes=("up", "down", "level"))
    fails(65, 'classes is ["up","down","flat"], but ', 'has ["up","down","level"]', arguments=ensemble(other, tmp_path / "classes", runs))
    write_cases(other / "Ramps_TRAIN.ts", 150, 7)
    write_cases(other / "Ramps_TEST.ts", 30, 2)
    fails(65, f"{runs[0]} was trained or validated on different samples than {other}", arguments=ensemble(other, tmp_path / "cases", runs))
    damaged = tmp_path / "damaged"
    shutil.copytree(runs[1], damaged)
    (damaged / "predictions.npz").write_bytes(b"PK")
    fails(65, "predictions.npz", arguments=ensemble(folder, tmp_path / "d", [runs[0], damaged]))
    (damaged / "metrics.json").unlink()
    fails(66, "damaged", arguments=ensemble(folder, tmp_path / "u", [runs[0], damaged]))


def auto(folder, out, *more):
    return ["train", "classify-series", "--data", folder, "--model", "auto", "--budget", "10m", "--jobs", "2", "--threads", "1", "--out", out,
            "--set", "train.epochs=3", *more]  # fmt: skip


def leaderboard(run):
    return [(row["name"], row["stage"], row["steps"], row["/validation/accuracy"], row.get("failure"))
            for row in json.loads((run / "auto" / "leaderboard.json").read_text())]  # fmt: skip


@pytest.fixture(scope="module")
def chosen(folder):
    said = json.loads(ok(*auto(folder, folder / "auto"), "--json").stdout)
    return folder / "auto", said


def test_auto_ends_with_the_trainings_of_all_splits(chosen):
    run, said = chosen
    rows = {row[0]: row for row in reversed(leaderboard(run))}
    best = max(row[3] for row in rows.values() if row[1] == "splits")
    assert (said["chosen"], said["round"]) == ("ensemble", "ensemble")
    assert rows["ensemble"][3] >= best
    config = tomllib.loads((run / "config.toml").read_text())
    assert config["model"]["ensemble"]["splits"] == 5 and config["classify"]["select"] == "accuracy"
    evaluated = [row[0] for row in leaderboard(run) if row[1] == "splits"]
    assert len(config["model"]["ensemble"]["runs"]) == 5 * len(evaluated)
    assert np.isclose(sum(weights(run)), 1) and len(metrics(run)["members"]) % 5 == 0
    assert metrics(run)["test"] == said["test"]
    assert scores(run).shape == (30, 3)


@pytest.mark.long
def test_killed_while_it_puts_runs_together(chosen, tmp_path):
    whole, _ = chosen
    run = tmp_path / "auto"
    shutil.copytree(whole / "auto", run / "auto")
    shutil.rmtree(run / "auto" / "ensemble")
    command = [PROGRAM, "train", "--resume", run]
    rng = np.random.default_rng(3)
    kills = 0
    for _ in range(4):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            if (run / "auto" / "ensemble" / "runs").exists() or child.poll() is not None:
                break
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.3))
        child.kill()
        kills += child.wait() == -signal.SIGKILL and not (run / "config.toml").exists()
        time.sleep(0.3)
    assert kills >= 2
    ok(*map(str, command[1:]))
    # The members were copied with their folder, so that their paths are others.
    ours, theirs = (json.loads((r / "metrics.json").read_text().replace(str(r), "")) for r in (run, whole))
    assert ours == theirs
    assert leaderboard(run) == leaderboard(whole)
    files = [next((r / "checkpoints").glob("step_*")) / "best.safetensors" for r in (run, whole)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_auto_of_images_has_one_validation_split(tmp_path):
    """A mean that no fold of validation finds better is said and not chosen."""
    rng = np.random.default_rng(4)
    arrays = {}
    for split, count in (("train", 60), ("val", 40), ("test", 20)):
        labels = np.arange(count) % 2
        images = rng.integers(0, 200, size=(count, 8, 8, 1))
        images[labels == 1, 2:5, 2:5] += 55
        arrays[f"{split}_images"], arrays[f"{split}_labels"] = images.astype(np.uint8), labels[:, None].astype(np.uint8)
    np.savez(tmp_path / "dots.npz", **arrays)
    said = json.loads(ok("train", "classify-images", "--data", tmp_path / "dots.npz", "--model", "auto", "--budget", "10m", "--jobs", "2",
                         "--threads", "1", "--out", tmp_path / "run", "--set", "train.epochs=2", "--json").stdout)  # fmt: skip
    rows = json.loads((tmp_path / "run" / "auto" / "leaderboard.json").read_text())
    one = next(row for row in rows if row["name"] == "ensemble")
    best = max(row["/validation/accuracy"] for row in rows if row["name"] != "ensemble" and row["/validation/accuracy"] is not None)
    if "failure" in one:
        assert one["failure"].startswith("no ensemble is better than ") and said["chosen"] != "ensemble"
    else:
        assert one["/validation/accuracy"] >= best and said["chosen"] == "ensemble"
    assert modewise("evaluate", tmp_path / "run", "--split", "validation").returncode == 0
