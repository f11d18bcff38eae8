"""Trains small language models by the program: killed at random moments with 1, 2 and 4 threads they end with the same
bytes as one that was left alone; token files, evaluations and continued models agree with each other."""

import functools
import json
import os
import random
import shutil
import signal
import subprocess
import time

import numpy
import pytest
import safetensors.numpy

import cli_helpers
from programs import built

PROGRAM = built("modewise")
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}
SMALL = ["model.width=32", "model.layers=2", "model.heads=2", "model.context=64", "model.attention.fold=0,4,8",
         "model.attention.summary_tokens=2", "model.dropout=0.1", "train.batch_size=4", "output.report=false"]  # fmt: skip


def modewise(*arguments, code=0):
    done = cli_helpers.modewise(*arguments)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if "--json" in arguments else done.stderr


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    rng = random.Random(1)
    words = "a rope of sand and seven ships went over the hill because it was late".split()
    path = tmp_path_factory.mktemp("text") / "story.txt"
    path.write_text("".join(rng.choice(words) + rng.choice("  .\n") for _ in range(4000)))
    return path


def settings(more=()):
    return sum((["--set", s] for s in [*SMALL, *more]), [])


KILLED = ("train.epochs=2", "train.evaluations_per_epoch=2", "train.checkpoint_every_steps=5")


def start(run, text, threads):
    resume = (run / "config.toml").exists() and (run / "data.json").exists()
    command = [PROGRAM, "train", "language", "-q", "--threads", str(threads)]
    command += ["--resume", run] if resume else ["--data", text, "--out", run, "--overwrite", *settings(KILLED)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


def finish(run, text, threads):
    child = start(run, text, threads)
    _, errors = child.communicate(timeout=300)
    assert child.returncode == 0, errors
    newest = max((run / "checkpoints").glob("step_*"), key=lambda p: float(p.name.removeprefix("step_")))
    names = ["metrics.jsonl", "metrics.json", "model/model.safetensors",
             *(newest / n for n in ("model.safetensors", "best.safetensors"))]  # fmt: skip
    return {str(name).removeprefix(str(newest)): (run / name).read_bytes() for name in names}


@functools.cache
def reference(folder, text):
    began = time.monotonic()
    result = finish(folder / "undisturbed-language", text, 1)
    return result, time.monotonic() - began


@pytest.mark.parametrize("threads", [2, *(pytest.param(threads, marks=pytest.mark.long) for threads in (1, 4))])
def test_killed_runs_end_with_the_same_bytes(tmp_path, tmp_path_factory, text, threads):
    wanted, seconds = reference(tmp_path_factory.getbasetemp(), text)
    rng = random.Random(threads)
    run = tmp_path / "run"
    kills = 0
    while kills < 7:
        child = start(run, text, threads)
        time.sleep(rng.uniform(0.1, 0.6) * seconds)
        child.kill()
        child.communicate()
        if child.returncode == -signal.SIGKILL:
            kills += 1
        elif kills > 0:
            break  # it had finished
        else:  # before the first kill, as the machine has become quicker: once more, and sooner
            shutil.rmtree(run)
            seconds /= 2
    assert kills >= 1
    assert finish(run, text, threads) == wanted


def test_token_files_and_text_train_alike(tmp_path, text):
    made = modewise("tokenize", text, "--out", tmp_path / "story.safetensors", "--json")
    size = text.stat().st_size
    assert made["tokens"] == made["bytes"] == size
    tensors = safetensors.numpy.load_file(tmp_path / "story.safetensors")
    assert tensors["tokens"].dtype == numpy.uint16
    assert tensors["tokens"].astype(numpy.uint8).tobytes() == text.read_bytes()
    results = [modewise("train", "language", "--data", data, "--out", tmp_path / name, "--json", *settings(["train.max_steps=6"]))
               for name, data in [("text", text), ("tokens", tmp_path / "story.safetensors")]]
    for result in results:
        result.pop("run")
    assert results[0] == results[1]


def test_runs_are_whole_and_evaluate_alike(tmp_path, text):
    trained = modewise("train", "language", "--data", text, "--out", tmp_path / "run", "--json",
                       *settings(["train.max_steps=60", "train.schedule.warmup_steps=5", "train.optimizer.learning_rate=0.01", "language.lengths=64,256"]))
    assert trained["test"]["loss"] < 3.5 and trained["parameters"] > 0
    assert set(trained["lengths"]["plain"]) == {"64", "256"}
    again = modewise("evaluate", tmp_path / "run", "--json")
    assert again["own"]["scores"] == trained["test"]
    # The exported model alone, by conventions that predict every token of the text once.
    by_run = modewise("evaluate", tmp_path / "run", "--data", text, "--tokens", 500, "--lengths", 501,
                      "--convention", "sliding,rolling,stream", "--json")["perplexity"]["results"]
    by_model = modewise("evaluate", tmp_path / "run" / "model", "--data", text, "--tokens", 500, "--lengths", 501,
                        "--convention", "sliding", "--json")["perplexity"]["results"]
    losses = [r["loss"] for r in by_run + by_model]
    assert numpy.ptp(losses) < 1e-5 and {r["tokens"] for r in by_run + by_model} == {500}
    continued = modewise("train", "language", "--init", tmp_path / "run", "--attention", "window", "--window", 32,
                         "--data", text, "--out", tmp_path / "next", "--json", "--set", "train.max_steps=2",
                         "--set", "output.report=false")
    assert continued["test"]["loss"] < trained["test"]["loss"] + 0.3


@pytest.mark.parametrize(("ratios", "split"), [("0.8,0.1,0.1", "test"), ("0.9,0.1,0", "validation")])
def test_lengths_of_the_last_split(tmp_path, text, ratios, split):
    """Text of the test split, or of the validation split if there is no test text; too short a text is an error before the training."""
    size = len(text.read_bytes())
    longest = size - round(size * 0.9)
    command = ["train", "language", "--data", text, "--out", tmp_path / "run", "--json",
               *settings(["data.split=cut", f"data.split_ratios={ratios}", "train.max_steps=2"])]
    scores = modewise(*command, "--set", f"language.lengths=16,{longest - 2}")["lengths"]["plain"]
    assert set(scores) == {"16", str(longest - 2)}
    refused = cli_helpers.modewise(*command, "--overwrite", "--set", f"language.lengths=16,{longest + 2}")
    assert refused.returncode == 65 and "step" not in refused.stderr
    assert f"a length of {longest + 2} needs a document of {longest + 3} tokens, and the longest of the {split} text has" in refused.stderr


def test_a_longer_context_is_stretched_or_set(tmp_path, text):
    run = tmp_path / "run"
    small = ["model.width=32", "model.layers=2", "model.heads=2", "model.context=64", "train.max_steps=20", "output.report=false"]
    modewise("train", "language", "--data", text, "--out", run, "--attention", "full", *sum((["--set", one] for one in small), []))
    measure = ["evaluate", run, "--lengths", 128, "--threads", 1]

    def loss(*options):
        (found,) = modewise(*measure, "--json", *options)["perplexity"]["results"]
        return found["loss"]

    stretched = loss("--rope", "linear")  # by 128 / 64
    assert stretched == loss("--rope", "linear", "--factor", 2)
    assert len({stretched, loss(), loss("--rope", "linear", "--factor", 3), loss("--rope", "yarn")}) == 4
    modewise(*measure, "--rope", "linear", "--report", tmp_path / "page.html")
    assert f"{stretched:.4f}" in (tmp_path / "page.html").read_text()
    assert "--factor 2 has no effect without --rope" in modewise(*measure, "--factor", 2, code=2)


def test_recall_is_reported_by_distance_and_pairs(tmp_path):
    trained = modewise("train", "language", "--data", "recall", "--out", tmp_path / "run", "--json", *settings(
        ["train.max_steps=3", "data.recall.length=64", "data.recall.pairs=2,4", "data.recall.held_back=16", "language.lengths=64,128"]))
    assert [one["pairs"] for one in trained["test"]["by_pairs"]] == [2, 4]
    assert sum(one["asked"] for one in trained["test"]["by_distance"]) == trained["test"]["asked"]
    # Beyond the trained length, by training and by evaluation.
    modewise("report", tmp_path / "run", "--out", tmp_path / "page.html")
    assert "<desc>Recall<" in (tmp_path / "page.html").read_text()  # by length
    longer = modewise("evaluate", tmp_path / "run", "--lengths", "64,128", "--json")["recall"]["results"]
    assert [one["length"] for one in longer] == [64, 128]
    assert longer[0]["accuracy"] == trained["test"]["accuracy"] and longer[0]["loss"] == trained["test"]["loss"]
    assert longer[0] == {"length": 64, **trained["lengths"]["plain"]["64"]} and longer[1] == trained["lengths"]["plain"]["128"]
    assert max(one["to"] for one in longer[1]["by_distance"]) > max(one["to"] for one in longer[0]["by_distance"])
    assert "cannot be evaluated on text" in modewise("evaluate", tmp_path / "run", "--passkey", code=2)
    # A longer lesson begins with what the short one taught; another vocabulary is another language.
    longer = ["train", "language", "--data", "recall", "--init", tmp_path / "run", "--set", "data.recall.length=128",
              "--set", "train.max_steps=1", "--set", "train.optimizer.learning_rate=1e-9", "--json"]
    modewise(*longer, "--out", tmp_path / "longer")
    first, second = (safetensors.numpy.load_file(tmp_path / name / "model" / "model.safetensors") for name in ("run", "longer"))
    assert all(numpy.allclose(first[name], second[name], atol=1e-6) for name in first)
    # Another seed trains on other samples, and is evaluated on the same.
    rates = ["--set", "train.optimizer.learning_rate=1e-2", "--set", "train.max_steps=3", "--set", "train.schedule.warmup_steps=0"]
    runs = [modewise(*longer, *rates, "--set", f"train.seed={seed}", "--out", tmp_path / f"seed{seed}") for seed in (1, 2)]
    assert runs[0]["test"]["loss"] != runs[1]["test"]["loss"] and runs[0]["test"]["by_pairs"][0]["asked"] == runs[1]["test"]["by_pairs"][0]["asked"]
    message = modewise(*longer[:-1], "--set", "data.recall.vocabulary=8", "--out", tmp_path / "other", code=78)
    assert "data.path = \"recall\" has 25 tokens" in message and "data.recall.vocabulary" in message


def test_passkey_texts_are_trained_on(tmp_path):
    made = modewise("data", "passkeys", tmp_path / "keys.jsonl", "--count", "60", "--length", "400", "--json")
    assert made["texts"] == 60 and made["bytes"] == (tmp_path / "keys.jsonl").stat().st_size
    modewise("train", "language", "--data", tmp_path / "keys.jsonl", "--out", tmp_path / "run", "--json",
             *settings(["train.max_steps=2", "tokenizer=bytes"]))
    cells = modewise("evaluate", tmp_path / "run", "--passkey", "--lengths", "300,600", "--trials", "1", "--json")["passkey"]
    assert {cell["length"] for cell in cells} == {300, 600}
    assert "at least" in modewise("data", "passkeys", tmp_path / "short.jsonl", "--length", "100", code=65)


def test_sentences_for_what_is_wrong(tmp_path, text):
    assert "--data" in modewise("train", "language", code=2)
    assert "not causal" in modewise("train", "language", "--data", text, "--attention", "pooled", code=78)
    assert "no file" in modewise("train", "language", "--data", tmp_path / "none.txt", code=66)
    (tmp_path / "bad.jsonl").write_text('{"text": 1}\n')
    assert "bad.jsonl:1" in modewise("train", "language", "--data", tmp_path / "bad.jsonl", code=65)
    short = tmp_path / "short.txt"
    short.write_text("too short")
    assert "window" in modewise("train", "language", "--data", short, "--out", tmp_path / "run", code=65)
