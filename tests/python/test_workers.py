"""torchrun: any number of processes, killed and started again in any way, ends with the bytes of one process.

MODEWISE_KILLS says how many random kills there are (2).
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import nibabel
import numpy
import pytest
from safetensors.torch import load_file

from python_forks import ENVIRONMENT, in_group
from programs import built

PROGRAM = built("modewise")
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
KILLS = int(os.environ.get("MODEWISE_KILLS", "2"))
FORECAST = ["forecast", "--set", "data.simulate=seasonal", "--set", "data.simulate_rows=700", "--model", "hot", "--set", "model.width=16",
            "--set", "model.hidden=16", "--set", "model.heads=2", "--set", "forecast.lookback=48", "--set", "forecast.horizon=12",
            "--set", "train.epochs=2", "--set", "train.patience=0", "--set", "train.checkpoint_every_steps=3",
            "--set", "output.report=false"]  # fmt: skip


def run_together(processes, arguments, cwd="."):
    return in_group(processes, "train", *arguments, cwd=cwd)


def run_alone(arguments, shards=4, cwd=None):
    done = subprocess.run([PROGRAM, "train", *map(str, arguments), "--set", f"train.shards={shards}"], capture_output=True, text=True,
                          timeout=300, env=ENVIRONMENT, cwd=cwd)  # fmt: skip
    assert done.returncode == 0, done.stderr


def newest(run):
    return max((run / "checkpoints").glob("step_*"), key=lambda p: float(p.name.removeprefix("step_")))


def outcome(run):
    names = ["model.safetensors", "optimizer.safetensors", "best.safetensors"]
    return {**{name: (newest(run) / name).read_bytes() for name in names}, "lines": (run / "metrics.jsonl").read_bytes()}


def sentences(text):
    return re.findall(r"^error of process .*$", text, re.MULTILINE)


def said(done):
    """Error messages of failed processes; the first may end the others before they print theirs."""
    assert done.returncode != 0
    return {one.split(": ", 1)[1] for one in sentences(done.stderr)}


def write_volumes(folder):
    rng = numpy.random.default_rng(1)
    for name in ("plain", "bright"):
        (folder / name).mkdir(parents=True)
        for i in range(12):
            volume = rng.normal(size=(10, 10, 10)).astype(numpy.float32)
            if name == "bright":
                volume[2:6, 2:6, 2:6] += 2
            nibabel.save(nibabel.Nifti1Image(volume, numpy.eye(4)), folder / name / f"{i}.nii")


def volumes_training(folder):
    """Batch normalisation: its running means move, too."""
    write_volumes(folder / "volumes")
    return ["classify-volumes", "--data", folder / "volumes", "--model", "cnn",
            "--set", "train.epochs=2", "--set", "train.batch_size=5", "--set", "output.report=false"]  # fmt: skip


def language_training(folder):
    """Its gradient has two messages, of which one leaves while the backward pass makes the other."""
    text = folder / "text.txt"
    text.write_text("".join(f"{i * i} squares, {i} roots\n" for i in range(400)))
    return ["language", "--data", text, "--set", "model.width=128", "--set", "model.hidden=256", "--set", "model.layers=2", "--set", "model.heads=2",
            "--set", "model.kv_heads=2", "--set", "model.context=32", "--set", "train.epochs=1", "--set", "train.batch_size=6", "--set", "model.dropout=0.1",
            "--set", "output.report=false"]  # fmt: skip


TRAININGS = {"forecast": lambda folder: FORECAST, "classify": volumes_training, "language": language_training}


@pytest.mark.parametrize("kind, numbers", [
    ("forecast", (2, 4)),
    ("classify", (2,)),
    ("language", (2,)),
    pytest.param("classify", (2, 4), marks=pytest.mark.long),
    pytest.param("language", (2, 4), marks=pytest.mark.long),
])  # fmt: skip
def test_same_bytes_for_any_number_of_processes(tmp_path, kind, numbers):
    arguments = TRAININGS[kind](tmp_path)
    run_alone([*arguments, "--out", tmp_path / "one"])
    wanted = outcome(tmp_path / "one")
    for processes in numbers:
        run = tmp_path / f"of{processes}"
        done = run_together(processes, [*arguments, "--out", run, "--set", "train.shards=4"])
        assert done.returncode == 0, done.stderr
        assert outcome(run) == wanted
        assert done.stdout.count("run folder:") == 1
    timing = json.loads((tmp_path / "of2" / "timing.json").read_text())
    exchange, steps = timing["exchange"], timing["steps"]
    gradient = sum(4 * tensor.numel() for name, tensor in load_file(newest(tmp_path / "of2") / "optimizer.safetensors").items()
                   if name.startswith("first_moment."))  # fmt: skip
    assert steps["count"] * gradient <= exchange["bytes_sent"] < 1.5 * steps["count"] * gradient
    assert 0 < exchange["seconds_waited_in_steps"] < steps["seconds"]


def children_of(pid):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def kill_one(launcher, run, rng):
    """Kills a random process of the group a while after its training has begun or resumed."""
    lines = run / "log.txt"
    length = lines.stat().st_size if lines.exists() else 0
    while not (run / "config.toml").exists() or not lines.exists() or lines.stat().st_size == length:
        if launcher.poll() is not None:
            return False
        time.sleep(0.02)
    time.sleep(rng.random() * 1.5)
    workers = children_of(launcher.pid)
    if launcher.poll() is not None or not workers:
        return False
    os.kill(rng.choice(workers), signal.SIGKILL)
    return True


@pytest.mark.parametrize("kind, epochs", [  # epochs for each kill
    ("forecast", 6),
    pytest.param("classify", 16, marks=pytest.mark.long),
    pytest.param("language", 2, marks=pytest.mark.long),
])  # fmt: skip
def test_killed_processes_are_started_again(tmp_path, kind, epochs):
    arguments = [*TRAININGS[kind](tmp_path), "--set", f"train.epochs={epochs * KILLS}", "--set", "train.patience=0",
                 "--set", "train.checkpoint_every_steps=3"]  # fmt: skip
    run_alone([*arguments, "--out", tmp_path / "one"], shards=2)
    run = tmp_path / "killed"
    launcher = subprocess.Popen([*TORCHRUN, "--nproc-per-node", "2", "--max-restarts", str(KILLS + 1), "--monitor-interval", "0.1", "-m", "modewise",
                                 "train", *arguments, "--out", str(run)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                env=ENVIRONMENT)  # fmt: skip
    rng = random.Random(5)
    killed = sum(kill_one(launcher, run, rng) for _ in range(KILLS))
    _, errors = launcher.communicate(timeout=300)
    assert launcher.returncode == 0, errors
    assert killed >= (KILLS + 1) // 2, "the training was over before it was killed"
    assert outcome(run) == outcome(tmp_path / "one")


def test_a_process_that_hangs_ends_the_group(tmp_path):
    run = tmp_path / "run"
    launcher = subprocess.Popen([*TORCHRUN, "--nproc-per-node", "2", "--monitor-interval", "0.1", "-m", "modewise", "train", *FORECAST, "--out", str(run),
                                 "--set", "train.epochs=1000", "--set", "train.timeout=0.05"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                env=ENVIRONMENT)  # fmt: skip
    while not list((run / "checkpoints").glob("step_*")):
        assert launcher.poll() is None
        time.sleep(0.02)
    ranks = {int(re.search(rb"\0RANK=(\d)", pathlib.Path(f"/proc/{pid}/environ").read_bytes())[1]): pid for pid in children_of(launcher.pid)}
    os.kill(ranks[1], signal.SIGSTOP)
    began, lines = time.monotonic(), []
    for line in launcher.stderr:
        lines.append(line)
        if line.startswith("error of process"):
            break
    seconds = time.monotonic() - began
    os.kill(ranks[1], signal.SIGCONT)  # the signal by which torchrun ends it
    launcher.communicate(timeout=60)
    assert launcher.returncode != 0
    assert re.match(r"error of process 0 of 2: process 0 of 2 cannot reach process 1, which has exited, hangs, or waits for another that does", lines[-1]), lines
    assert 2 < seconds < 60  # train.timeout is 3 seconds
    done = run_together(2, ["forecast", "--resume", run, "--set", "train.epochs=1", "--allow-config-changes"])
    assert done.returncode == 0, done.stderr


def test_begun_on_four_and_ended_on_two(tmp_path):
    arguments = [*FORECAST, "--set", "train.epochs=8"]
    run_alone([*arguments, "--out", tmp_path / "one"], shards=4)
    run = tmp_path / "run"
    launcher = subprocess.Popen([*TORCHRUN, "--nproc-per-node", "4", "-m", "modewise", "train", *arguments, "--out", str(run)],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)  # fmt: skip
    assert kill_one(launcher, run, random.Random(2))
    _, errors = launcher.communicate(timeout=60)
    assert launcher.returncode != 0
    others = sentences(errors)
    assert all(re.fullmatch(r"error of process \d of 4: process \d of 4 cannot reach process \d, which has exited, hangs, or waits for another that does \(.*\)", one)
               for one in others), others  # fmt: skip
    assert not (run / "metrics.json").exists()
    done = run_together(2, ["forecast", "--resume", run])
    assert done.returncode == 0, done.stderr
    assert outcome(run) == outcome(tmp_path / "one")
    done = subprocess.run([PROGRAM, "train", "forecast", "--resume", run, "-q"], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "setting, data, isas, wanted",
    [
        ("train.seed=$RANK", "a.csv", "avx2 avx2", "the processes disagree: rank 1 has different settings than rank 0"),
        ("train.seed=1", "$RANK.csv", "avx2 avx2", "the processes disagree: rank 1 has different data than rank 0"),
        ("train.seed=1", "a.csv", "avx2 scalar", "the processes disagree: rank 1 has different loops (MODEWISE_ISA) than rank 0"),
    ],
)
def test_processes_that_do_not_train_alike(tmp_path, setting, data, isas, wanted):
    rows = ["date,x"] + [f"2020-01-01 {i // 60:02d}:{i % 60:02d}:00,{(i * 7) % 13}" for i in range(900)]
    for name in ("a.csv", "0.csv"):
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    (tmp_path / "1.csv").write_text("\n".join([*rows[:-1], rows[-1] + "1"]) + "\n")
    for rank in (0, 1):
        (tmp_path / str(rank)).mkdir()
        shutil.copy(tmp_path / data.replace("$RANK", str(rank)), tmp_path / str(rank) / "x.csv")
    # One path of which each process sees another file, as on two machines.
    command = (f"cd {tmp_path}/$RANK && isas=({isas}) && export MODEWISE_ISA=${{isas[$RANK]}} && exec {sys.executable} -m modewise train forecast --data /proc/self/cwd/x.csv --set forecast.lookback=48"
               f" --set forecast.horizon=12 --model dlinear --set {setting} --out {tmp_path}/run")  # fmt: skip
    done = subprocess.run([*TORCHRUN, "--nproc-per-node", "2", "--no-python", "bash", "-c", command], capture_output=True, text=True, timeout=120,
                          env=ENVIRONMENT)  # fmt: skip
    assert said(done) == {wanted}, done.stderr
    assert not (tmp_path / "run").exists()


def test_groups_that_are_refused(tmp_path):
    run = tmp_path / "run"
    done = run_together(3, [*FORECAST, "--out", run])
    assert "error: the number of processes must be a power of two (1, 2, 4, 8, …), got 3" in done.stderr
    done = run_together(2, FORECAST, cwd=tmp_path)
    assert said(done) == {"set --out to train with 2 processes, so that they find the run folder when they are restarted"}
    done = run_together(4, [*FORECAST, "--out", run, "--set", "train.shards=2"])
    assert said(done) == {"train.shards = 2 must be at least the number of processes, 4"}
    done = run_together(2, ["forecast", "--set", "data.simulate=seasonal", "--model", "auto", "--out", run])
    assert said(done) == {"--model auto starts its own trainings: run it as a single process, without torchrun"}
    run_alone([*FORECAST, "--out", tmp_path / "taken"])
    before = outcome(tmp_path / "taken")
    done = run_together(2, [*FORECAST, "--out", tmp_path / "taken"])
    assert done.returncode != 0
    assert any("taken" in one and "--resume" in one for one in sentences(done.stderr)), done.stderr
    assert outcome(tmp_path / "taken") == before
