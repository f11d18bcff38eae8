"""The start of a run, over the real command: killed at any moment, twice at once, in folders that hold other things; and
what of it is durable. The tests that stop or watch system calls need strace and the right to trace."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from cli_helpers import PROGRAM, fails, ok, write_csv
from faults.inject import needs_strace
from modewise.ops import kernels
from test_outputs import train


def traced(*arguments, log="/dev/null", options=()):
    command = ["strace", "-f", "-o", log, *options, PROGRAM, *arguments]
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("data") / "d.csv")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, data):
    run = tmp_path_factory.mktemp("finished") / "out"
    ok(*train(data, run))
    return run


# A folder becomes a run in one step.


@needs_strace
@pytest.mark.parametrize("place", range(1, 7))
def test_killed_at_each_rename_of_the_start(tmp_path, data, finished, place):
    run = tmp_path / "out"
    process = traced(*train(data, run), options=["-e", "trace=rename", "-e", f"inject=rename:signal=KILL:when={place}"])
    process.communicate(timeout=120)
    assert process.returncode in (-9, 137)
    if (run / "config.toml").exists():
        ok("train", "forecast", "--resume", run)
    else:
        fails(66, "not a run folder", arguments=["train", "forecast", "--resume", run])
        ok(*train(data, run, "--overwrite"))
    ok("evaluate", run)
    assert [p.name for p in run.iterdir() if ".tmp-" in p.name] == []
    for name in ("metrics.jsonl", "metrics.json"):
        assert (run / name).read_bytes() == (finished / name).read_bytes()


def test_a_start_that_was_cut_off_says_so(tmp_path, finished, data):
    run = tmp_path / "out"
    run.mkdir()
    for name in ("manifest.json", "data.json"):
        shutil.copy(finished / name, run / name)
    fails(66, "its start was interrupted", "--overwrite", arguments=["train", "forecast", "--resume", run])
    fails(73, "--overwrite", arguments=train(data, run))


# Two trainings at once.


@needs_strace
def test_of_two_starts_in_one_folder_one_goes_on(tmp_path, data):
    """Both stand still where the program asks for its machine: after it looked at the folder, before it writes to it."""
    run = tmp_path / "out"
    run.mkdir()
    stall = ["-P", "/proc/cpuinfo", "-e", "trace=openat", "-e", "inject=openat:delay_enter=3s"]
    both = {seed: traced(*train(data, run, "--seed", seed), options=stall) for seed in ("11", "12")}
    errors = {seed: process.communicate(timeout=300)[1] for seed, process in both.items()}
    codes = {seed: process.returncode for seed, process in both.items()}
    assert sorted(codes.values()) == [0, 73], errors
    winner, loser = sorted(codes, key=codes.get)
    assert "another process is training" in errors[loser].strip().splitlines()[-1]
    assert f"seed = {winner}\n" in (run / "config.toml").read_text()
    assert f'"seed": {winner},' in (run / "manifest.json").read_text()


@needs_strace
def test_a_resume_waits_for_nobody(tmp_path, data):
    run = tmp_path / "out"
    slow = traced(*train(data, run, "--set", "train.epochs=1000", "--set", "train.patience=0"),
                  options=["-e", "trace=fsync", "-e", "inject=fsync:delay_exit=50000"])
    try:
        while not (run / "metrics.jsonl").exists() or (run / "metrics.jsonl").stat().st_size == 0:
            assert slow.poll() is None
            time.sleep(0.02)
        before = (run / "log.txt").read_bytes()
        fails(73, "another process is training", arguments=["train", "forecast", "--resume", run])
        fails(73, "another process is training", arguments=train(data, run, "--overwrite"))
        assert (run / "log.txt").read_bytes().startswith(before)
        assert b"resuming" not in (run / "log.txt").read_bytes()
    finally:  # strace lets go of what it follows when it is ended, so the program itself is
        for child in pathlib.Path(f"/proc/{slow.pid}/task/{slow.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        slow.communicate(timeout=60)


# Files of others stay.


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


@pytest.mark.parametrize("manifest", [None, "{}", '{"name": "a page", "files": ["config.toml", "model"]}'])
def test_overwrite_removes_nothing_of_a_folder_that_is_not_a_run(tmp_path, data, manifest):
    out = tmp_path / "mine"
    (out / "model").mkdir(parents=True)
    (out / "x.tmp-5").mkdir()
    (out / "config.toml").write_text("mine")
    (out / "model" / "w.bin").write_text("mine")
    (out / "x.tmp-5" / "y").write_text("mine")
    if manifest is not None:
        (out / "manifest.json").write_text(manifest)
    before = tree(out)
    fails(73, "mine", "config.toml", arguments=train(data, out, "--overwrite"))
    assert tree(out) == before


def test_overwrite_removes_the_run_and_leaves_other_things(tmp_path, data):
    out = tmp_path / "out"
    ok(*train(data, out, "--seed", 1))
    others = {"notes.txt": "mine", "x.tmp-5/y": "mine", "config.toml.tmp-77": "mine"}
    for name, content in others.items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(content)
    (out / "checkpoints" / "step_999999").mkdir()  # of the earlier run
    ok(*train(data, out, "--overwrite", "--seed", 2))
    assert {name: (out / name).read_text() for name in others} == others
    assert not (out / "checkpoints" / "step_999999").exists()
    assert "seed = 2\n" in (out / "config.toml").read_text()
    ok("evaluate", out)


def test_overwrite_keeps_other_things(tmp_path, data):
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    ok(*train(data, out, "--overwrite"))
    assert (out / "notes.txt").read_text() == "mine"


# Files on the disk.


def synced(calls, path, since):
    """The place of the first fsync of `path` after call `since`."""
    for i in range(since, len(calls)):
        if calls[i][0] == "fsync" and f"<{path}>" in calls[i][1]:
            return i
    raise AssertionError(f"{path} is not synced after call {since}: {calls[since]}")


@needs_strace
def test_the_run_folder_and_its_lines_are_durable(tmp_path, data):
    run, log = tmp_path / "runs" / "out", tmp_path / "log"
    process = traced(*train(data, run), log=log, options=["-y", "-e", "trace=openat,mkdir,fsync,rename"])
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    found = (re.match(r"\d+ +(\w+)\((.*)", line) for line in log.read_text().splitlines())
    calls = [(m[1], m[2]) for m in found if m and not m[2].rstrip().endswith("= -1")]

    def first(call, *words):
        return next(i for i, c in enumerate(calls) if c[0] == call and all(w in c[1] for w in words))

    # Each folder is made and then the one that holds its name synced, before anything is written to it.
    for folder in (run.parent, run):
        made = first("mkdir", f'"{folder}"')
        assert synced(calls, folder.parent, made) < first("openat", f'"{run}/', "O_CREAT")
    # The lines' file and its name, before the first checkpoint counts on them.
    lines = first("openat", f'"{run}/metrics.jsonl"', "O_CREAT")
    counted = first("rename", f'"{run}/checkpoints/step_', ".tmp-")
    assert synced(calls, run / "metrics.jsonl", lines) < synced(calls, run, lines) < counted
    # The checkpoints' folder.
    made = first("mkdir", f'"{run}/checkpoints"')
    assert synced(calls, run, made) < counted
    # The three files that make the folder a run, config.toml last.
    places = [first("rename", f'"{run}/{name}.tmp-') for name in ("manifest.json", "data.json", "config.toml")]
    assert places == sorted(places)
    for place in places:
        assert "fsync" == calls[place - 1][0] and ".tmp-" in calls[place - 1][1]
        assert synced(calls, run, place) == place + 2  # the folder is opened for it


# Which instruction set a run began with.

ISAS = kernels.available_isas()


@pytest.mark.parametrize("precision, began, resumed, other_bits", [
    ("float32", "scalar", "avx2", True),
    ("float32", "avx2", "avx512", False),
    ("float32", "avx512", "avx512bf16", False),
    ("bf16", "avx2", "avx512", False),
    ("bf16", "avx512bf16", "avx512", True),
    ("bf16", "avx2", "amx_vectors", True),
    ("bf16", "amx", "amx_vectors", False),
])  # fmt: skip
def test_a_resume_says_that_the_bits_will_be_others(tmp_path, data, precision, began, resumed, other_bits):
    if missing := {began, resumed} - set(ISAS):
        pytest.skip(f"this CPU has no {missing}")
    run = tmp_path / "out"
    command = train(data, run, "--set", "model.width=16", "--set", f"model.precision={precision}")
    ok(*("hot" if word == "dlinear" else word for word in command), env={"MODEWISE_ISA": began})
    assert json.loads((run / "manifest.json").read_text())["instruction_set"] == began
    said = ok("train", "forecast", "--resume", run, env={"MODEWISE_ISA": resumed}).stderr
    sentence = f"{run} began with kernels for {began}: with those for {resumed} the results are not bit-exact"
    assert (sentence in said) == other_bits


@pytest.mark.parametrize("manifest", ["{}", '{"instruction_set": 5}', None])
def test_a_run_that_does_not_say_its_instruction_set_goes_on(tmp_path, finished, manifest):
    run = tmp_path / "out"
    shutil.copytree(finished, run)
    if manifest is None:
        (run / "manifest.json").unlink()
    else:
        (run / "manifest.json").write_text(manifest)
    assert "began with kernels" not in ok("train", "forecast", "--resume", run).stderr
