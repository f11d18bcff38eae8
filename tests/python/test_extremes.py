"""Numbers and documents at the edge of what 64 bits, a stack or a file can hold: refused in a sentence, never taken for
something else."""

import json
import os
import random
import subprocess
import time

import pytest

from cli_helpers import PROGRAM, QUICK, fails, modewise, ok, write_csv

LARGEST = 2**63 - 1


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    ok("train", "forecast", "--data", write_csv(folder / "d.csv"), "--out", folder / "run", *QUICK)
    return folder / "run"


# Integers.


@pytest.mark.parametrize("field", [
    "train.batch_size", "train.epochs", "train.accumulate", "train.max_steps", "train.schedule.warmup_steps",
    "train.schedule.step_epochs", "train.evaluations_per_epoch", "train.checkpoint_every_steps", "train.keep_checkpoints",
    "train.log_every_steps", "train.patience", "forecast.test_drop_last", "output.predictions",
])
@pytest.mark.parametrize("value", [LARGEST, 2**31])
def test_counts_that_overflow_are_refused(tmp_path, run, field, value):
    fails(2, field, "at most 2147483647", arguments=[
        "train", "forecast", "--data", run.parent / "d.csv", "--out", tmp_path / "out", *QUICK, "--set", f"{field}={value}"])
    assert not (tmp_path / "out").exists()


def test_the_largest_counts_still_train(tmp_path, run):
    largest = [f"train.{name}=2147483647" for name in (
        "batch_size", "accumulate", "schedule.warmup_steps", "evaluations_per_epoch", "patience", "keep_checkpoints")]
    settings = sum((["--set", s] for s in largest), [])
    result = json.loads(ok("train", "forecast", "--data", run.parent / "d.csv", "--out", tmp_path / "out", *QUICK, *settings,
                           "--json").stdout)
    assert result["steps"] == 2  # an epoch is one step


@pytest.mark.parametrize("seed", [2**63, 2**64 - 1, 2**64, 10**30])
def test_seeds_beyond_64_bits_are_refused(seed):
    fails(2, "--seed", seed, arguments=["config", "show", "--seed", seed])
    fails(2, "train.seed", seed, arguments=["config", "show", "--set", f"train.seed={seed}"])


@pytest.mark.parametrize("seed", [0, 2**31, 2**53 + 1, LARGEST - 1, LARGEST])
def test_seeds_are_kept_to_the_last_digit(seed):
    for arguments in (["--seed", seed], ["--set", f"train.seed={seed}"]):
        assert json.loads(ok("config", "show", *arguments, "--json").stdout)["train.seed"] == seed


@pytest.mark.parametrize("setting", ["train.epochs=1\ntrain.batch_size=2", "train.epochs=1\n", "train.epochs=1 # 2",
                                     "train.optimizer.betas=[0.9, 0.99]\nb=2"])
def test_nothing_behind_a_value_is_dropped(setting):
    fails(2, setting.split("=")[0], arguments=["config", "show", "--set", setting])


def test_a_context_that_no_checkpoint_holds(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("a rope of sand " * 200)
    settings = ["model.width=16", "model.layers=1", "model.heads=2", "model.attention.type=full", "model.context=32",
                "train.epochs=0", "output.report=false"]
    ok("train", "language", "--data", text, "--out", tmp_path / "run", *sum((["--set", s] for s in settings), []))
    model = tmp_path / "run" / "model"
    ok("convert", model, tmp_path / "small.bin")
    config = json.loads((model / "config.json").read_text())
    config["max_position_embeddings"] = 2**32 + 16
    (model / "config.json").write_text(json.dumps(config))
    result = modewise("convert", model, tmp_path / "large.bin")
    assert result.returncode in (65, 78)
    assert "context" in result.stderr.splitlines()[-1] and "2147483647" in result.stderr.splitlines()[-1]
    assert not (tmp_path / "large.bin").exists()


# Documents of 200,000 levels.

DEEP = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize("name, arguments", [
    ("manifest.json", ["evaluate"]), ("manifest.json", ["train", "forecast", "--resume"]), ("manifest.json", ["compare"]),
    ("metrics.json", ["compare"]), ("metrics.json", ["report"]), ("metrics.jsonl", ["report"]), ("data.json", ["predict"]),
])
def test_deep_documents_are_refused(tmp_path, run, name, arguments):
    copy = tmp_path / "run"
    subprocess.run(["cp", "-a", run, copy], check=True)
    (copy / name).write_text('{"task":"forecasting","test":' + DEEP + "}\n")
    fails(65, name, "nested deeper than 100 levels", arguments=[*arguments, copy])


def test_a_deep_checkpoint_is_passed_over(tmp_path, run):
    copy = tmp_path / "run"
    subprocess.run(["cp", "-a", run, copy], check=True)
    newest = max((copy / "checkpoints").glob("step_*"), key=lambda p: float(p.name.removeprefix("step_")))
    (newest / "manifest.json").write_text('{"format":1,"files":' + DEEP + "}\n")
    result = ok("evaluate", copy)
    assert newest.name in result.stderr and "nested deeper than 100 levels" in result.stderr


def test_deep_lines_of_text_are_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two", "more": ' + DEEP + "}\n")
    fails(65, "a.jsonl:2", "nested deeper than 100 levels", arguments=["tokenize", path, "--out", tmp_path / "a.safetensors"])


# A file that another program cuts while it is read.


def test_a_file_that_shrinks_while_it_is_read(tmp_path):
    rng = random.Random(1)
    words = "a rope of sand and seven ships went over the hill because it was late".split()
    (tmp_path / "a.txt").write_text("".join(rng.choice(words) + " " for _ in range(200_000)))
    tokens = tmp_path / "a.safetensors"
    ok("tokenize", tmp_path / "a.txt", "--out", tokens)
    settings = ["model.width=16", "model.layers=1", "model.heads=2", "model.context=32", "model.attention.fold=0,8",
                "train.batch_size=4", "train.log_every_steps=1", "output.report=false"]
    command = [PROGRAM, "train", "language", "--data", tokens, "--out", tmp_path / "run",
               *sum((["--set", s] for s in settings), [])]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = tmp_path / "run" / "metrics.jsonl"
    while not lines.exists() or lines.stat().st_size == 0:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    os.truncate(tokens, 4096)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 74, (process.returncode, errors)
    assert f"error: cannot read {tokens}: it was truncated while it was read" in errors
