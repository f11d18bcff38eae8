"""Kills the training of a HOT forecaster at random moments, with 1, 2 and 4 threads: after resuming, its weights and
metric lines have the same bytes as those of a run with one thread that was left alone."""

import functools
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

from programs import built

PROGRAM = built("modewise")
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}
OPTIONS = [
    "data.simulate=lorenz96", "data.simulate_rows=800", "data.missing_fraction=0.02", "forecast.lookback=48",
    "forecast.horizon=12", "model.width=32", "model.attention.dropout=0.1", "train.epochs=3", "train.ema_decay=0.9",
    "train.evaluations_per_epoch=2", "train.checkpoint_every_steps=2", "output.report=false",
]  # fmt: skip


def start(run, threads):
    resume = (run / "config.toml").exists() and (run / "data.json").exists()
    command = [PROGRAM, "train", "forecast", "-q", "--threads", str(threads)]
    command += ["--resume", run] if resume else ["--out", run, "--overwrite", *sum((["--set", o] for o in OPTIONS), [])]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


def finish(run, threads):
    child = start(run, threads)
    _, errors = child.communicate(timeout=300)
    assert child.returncode == 0, errors
    newest = max((run / "checkpoints").glob("step_*"), key=lambda p: float(p.name.removeprefix("step_")))
    names = ["metrics.jsonl", "metrics.json", *(newest / n for n in ("model.safetensors", "best.safetensors"))]
    return {pathlib.Path(name).name: (run / name).read_bytes() for name in names}


@functools.cache
def reference(folder):
    began = time.monotonic()
    result = finish(folder / "undisturbed", 1)
    return result, time.monotonic() - began


@pytest.mark.parametrize("threads", [2, *(pytest.param(threads, marks=pytest.mark.long) for threads in (1, 4))])
def test_killed_runs_end_with_the_same_bytes(tmp_path, tmp_path_factory, threads):
    wanted, seconds = reference(tmp_path_factory.getbasetemp())
    rng = random.Random(threads)
    run = tmp_path / "run"
    kills = 0
    while kills < 7:  # each resumes from the checkpoint of the one before, so most runs end before the seventh
        child = start(run, threads)
        time.sleep(rng.uniform(0.1, 0.6) * seconds)
        child.kill()
        child.communicate()
        if child.returncode != -signal.SIGKILL:
            break  # it had finished
        kills += 1
    assert kills >= 1
    assert finish(run, threads) == wanted
