"""Kills training at any moment and resumes it: the end has the same bytes as a run that was left alone.

Needs the helper program train_toy (target of the C++ tests); MODEWISE_BUILD names the build folder. The tests
that stop at single system calls need strace and the right to trace.
"""

import functools
import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest
from faults.inject import KILL, KILLED, Run, list_calls, needs_strace

from programs import built

TOY = built("train_toy")
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # threads that wait do not spin: the machine may be busy
CALLS = ("write", "fsync", "rename", "unlink", "unlinkat", "mkdir", "ftruncate", "openat")


def toy(command, *arguments):
    return subprocess.run([TOY, command, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env=ENVIRONMENT)


def outcome(run):
    """The files of a finished run, as bytes."""
    newest = max((run / "checkpoints").glob("step_*"), key=lambda p: float(p.name.removeprefix("step_")))
    files = [run / "metrics.jsonl", run / "metrics.json", *sorted(newest.iterdir())]
    return {path.name: path.read_bytes() for path in files}


def leftovers(run):
    return [str(path) for path in run.rglob("*.tmp-*")]


@functools.cache
def reference(folder, *options):
    run = folder / "reference"
    shutil.rmtree(run, ignore_errors=True)
    done = toy("run", run, *options)
    assert done.returncode == 0, done.stderr
    return outcome(run)


# Kill -9 at random moments of training.


@pytest.mark.parametrize("threads", [2, *(pytest.param(threads, marks=pytest.mark.long) for threads in (1, 4))])
def test_killed_twenty_times_at_random(tmp_path, tmp_path_factory, threads):
    options = ("epochs=16", "checkpoint_every_steps=5")  # 240 steps
    wanted = reference(tmp_path_factory.getbasetemp(), *options)
    rng = random.Random(threads)
    run = tmp_path / "run"
    kills, begun = 0, 0  # begun: the newest step seen to begin, so that many were made
    while True:
        started = (run / "config.toml").exists()
        if not started:
            shutil.rmtree(run, ignore_errors=True)
        child = subprocess.Popen([TOY, "resume" if started else "run", run, f"threads={threads}", "report=true", *options],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        if kills < 22:
            steps = rng.randrange(0, 15)
            first = None
            for line in child.stdout:  # a line as each step begins
                step = int(line)
                if first is None:
                    first = step
                    assert first >= begun // 5 * 5, "more was lost than since the last checkpoint"
                begun = step
                if step >= first + steps:
                    break
            time.sleep(rng.random() * 0.006)
            child.kill()
            child.communicate()
            assert child.returncode in (-signal.SIGKILL, 0)
            kills += child.returncode == -signal.SIGKILL
            if child.returncode == 0:
                break
            continue
        _, errors = child.communicate(timeout=120)
        assert child.returncode == 0, errors
        break
    assert kills >= 20, f"the run ended after {kills} kills"
    assert outcome(run) == wanted
    assert leftovers(run) == []


# Signals that ask to stop.


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_saves_and_exits(tmp_path, tmp_path_factory, number):
    wanted = reference(tmp_path_factory.getbasetemp())
    run = tmp_path / "run"
    child = subprocess.Popen([TOY, "run", run, "report=true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in child.stdout:
        if int(line) == 17:
            break
    began = time.monotonic()
    child.send_signal(number)
    _, errors = child.communicate(timeout=30)
    assert child.returncode == 128 + number, errors
    assert time.monotonic() - began < 5
    assert "checkpoint saved" in errors
    assert toy("resume", run).returncode == 0
    assert outcome(run) == wanted


def test_second_signal_ends_at_once(tmp_path):
    run = tmp_path / "run"
    child = subprocess.Popen([TOY, "run", run, "report=true", "epochs=4000", "stall_at=20"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    for line in child.stdout:
        if int(line) == 20:
            break  # this step takes a minute
    child.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=30)
    assert child.returncode == -signal.SIGTERM
    assert toy("resume", run, "epochs=4000", "max_steps=30", "accept=true").returncode == 0


def test_two_processes_do_not_share_a_run(tmp_path):
    run = tmp_path / "run"
    child = subprocess.Popen([TOY, "run", run, "report=true", "stall_at=6"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True)
    for line in child.stdout:
        if int(line) == 6:
            break
    other = toy("resume", run)
    child.kill()
    child.communicate()
    assert other.returncode == 73
    assert "another process is training" in other.stderr
    assert toy("resume", run).returncode == 0


# A kill or a failure at each system call of a checkpoint's save.


SMALL = ("epochs=1", "checkpoint_every_steps=5", "keep_checkpoints=1")  # saves at 5, 10 and 15


def small_training(run):
    return [TOY, "run", run, *SMALL]


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """The calls of the second save, from its folder's mkdir to the removal of the checkpoint before."""
    run = tmp_path_factory.mktemp("traced") / "run"
    calls = list_calls(small_training(run), run, CALLS, env=ENVIRONMENT)
    first, last = (next(i for i, call in enumerate(calls) if str(call) == f"mkdir checkpoints/step_{step}.tmp-*") for step in (10, 15))
    assert {"mkdir", "write", "fsync", "rename", "unlinkat", "openat"} <= {call.name for call in calls[first:last]}
    return calls[first:last]


def check_after(runs, wanted):
    """Every run has a whole checkpoint of step 5 or later, and ends with the wanted bytes after a resume."""
    for run in runs:
        steps = [int(p.name.removeprefix("step_")) for p in (run / "checkpoints").glob("step_*") if ".tmp" not in p.name]
        assert steps and max(steps) >= 5, run.name
    done = toy("resume-all", *runs, *SMALL)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["code"] for r in results] == [0] * len(runs), done.stderr
    for run in runs:
        assert outcome(run) == wanted, run.name
        assert leftovers(run) == [], run.name
    assert "no checkpoint" not in done.stderr


def inject(folder, points, fault, expected):
    """Runs with `fault` at each of the points; each process must end as expected."""
    runs, pending = [], []

    def finish(one):
        done = one.finish()
        assert expected(done.returncode, done.stderr), (str(one.call), done.returncode, done.stderr[-500:])

    for call in points:
        run = folder / f"{call.name}-{call.number}"
        runs.append(run)
        pending.append(Run(small_training(run), run, call, fault, ENVIRONMENT))
        if len(pending) == 4:
            finish(pending.pop(0))
    for one in pending:
        finish(one)
    return runs


@needs_strace
def test_killed_at_each_system_call_of_a_save(tmp_path, tmp_path_factory, points):
    wanted = reference(tmp_path_factory.getbasetemp(), *SMALL)
    runs = inject(tmp_path, points, KILL, lambda code, _: code in KILLED)
    assert len(runs) >= 30
    check_after(runs, wanted)


@needs_strace
@pytest.mark.parametrize("error, calls", [("ENOSPC", ["write", "mkdir", "openat"]), ("EIO", ["fsync", "write", "rename"]),
                                          ("EROFS", ["openat", "mkdir", "rename", "unlinkat"])])
def test_failing_system_calls_are_io_errors(tmp_path, tmp_path_factory, points, error, calls):
    wanted = reference(tmp_path_factory.getbasetemp(), *SMALL)
    selected = [call for call in points if call.name in calls]

    def expected(code, text):  # 73: a file that cannot be created, here one of the run; those of a checkpoint are errors of the save
        return code == (73 if "cannot create" in text and "timing.json: Read-only" in text else 74) and "error: " in text

    runs = inject(tmp_path, selected, f"error={error}", expected)
    check_after(runs, wanted)
