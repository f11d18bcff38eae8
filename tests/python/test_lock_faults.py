"""Locks and claims where the system fails them: file systems without locks, full disks, stale handles. A lock that cannot be had
is said, a heartbeat that fails is written again, and nothing is written to a run under a claim that was not just looked at."""

import dataclasses
import json
import os
import re
import subprocess

import pytest
from cli_helpers import PROGRAM, QUICK, ok, write_csv
from faults.inject import Run, list_calls, needs_strace, run_with, trace

pytestmark = needs_strace
NO_LOCKS = {"EBADF": "Bad file descriptor", "ENOLCK": "No locks available"}
REASONS = {**NO_LOCKS, "ENOSPC": "No space left on device", "ESTALE": "Stale file handle", "EIO": "Input/output error"}


def run_plain(command, environment):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment)


def train(table, run, *more):
    return [PROGRAM, "train", "forecast", "--data", table, "--out", run, *QUICK, *more]


def results(run):
    return {name: (run / name).read_bytes() for name in ("config.toml", "metrics.jsonl", "metrics.json", "calibration.npz")}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("table") / "t.csv", rows=200, columns=("a",))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, table):
    run = tmp_path_factory.mktemp("whole") / "run"
    ok(*train(table, run)[1:])
    return results(run)


# The lock of a run's folder.


def lock_of(command, run):
    calls = [call for call in list_calls(command, run, ("openat", "flock")) if call.paths == (".lock",)]
    assert [call.name for call in calls] == ["openat", "flock"]
    return {call.name: call for call in calls}


def test_what_is_locked_is_open_for_writing(tmp_path, table):
    """NFS gives an exclusive lock on no other descriptor."""
    write_sweep(tmp_path, epochs=1)
    for command in (train(table, tmp_path / "run"), sweep(tmp_path)):
        lines = trace(command, ("openat", "flock"))
        locked = {match[1] for line in lines if (match := re.match(r"flock\(\d+<([^>]*)>", line))}
        assert locked
        opened = {match[1]: match[2] for line in lines if (match := re.match(r'openat\([^,]*, "([^"]*)", ([A-Z_|]+)', line))}
        assert {path: opened[path].split("|")[0] for path in locked} == dict.fromkeys(locked, "O_RDWR")


@pytest.mark.parametrize("error", NO_LOCKS)
def test_a_file_system_without_locks_is_said_and_trained_on(tmp_path, table, whole, error):
    run = tmp_path / "run"
    call = lock_of(train(table, tmp_path / "other"), tmp_path / "other")["flock"]
    done = run_with(train(table, run), run, call, f"error={error}")
    assert done.returncode == 0, done.stderr
    sentence = f"the file system of {run} has no locks ({NO_LOCKS[error]}): start no second training in this folder"
    assert done.stderr.splitlines().count(sentence) == 1 and done.stderr.count("has no locks") == 1
    assert results(run) == whole
    assert not (run / ".lock").exists()


@pytest.mark.parametrize("name, error, code, sentence", [
    ("flock", "ESTALE", 74, "cannot lock {}/.lock: Stale file handle"),
    ("flock", "EIO", 74, "cannot lock {}/.lock: Input/output error"),
    ("openat", "ENOSPC", 73, "cannot create {}/.lock: No space left on device"),
    ("openat", "ESTALE", 73, "cannot create {}/.lock: Stale file handle"),
])  # fmt: skip
def test_a_lock_that_fails_ends_the_start(tmp_path, table, name, error, code, sentence):
    run = tmp_path / "run"
    call = lock_of(train(table, tmp_path / "other"), tmp_path / "other")[name]
    done = run_with(train(table, run), run, call, f"error={error}")
    assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (code, "error: " + sentence.format(run))
    assert not (run / "config.toml").exists()
    ok(*train(table, run)[1:])  # nothing is in its way


# The claim under which a training works.


@pytest.fixture
def claimed(tmp_path):
    claim = tmp_path / "claims" / "work.json"
    claim.parent.mkdir()
    claim.write_text(json.dumps({"token": "ours"}))
    return claim, {**os.environ, "MODEWISE_CLAIM": f"ours {claim}"}


def test_the_claim_is_looked_at_before_every_write_to_a_run(tmp_path, table, claimed):
    """Every name that appears, every file that is made shorter, every line behind others. The temporaries and log.txt of whoever has
    lost the run do no harm."""
    _, environment = claimed
    settings = ["train.log_every_steps=1", "train.checkpoint_every_steps=3", "output.report=true", "output.tensorboard=true"]
    command = train(table, tmp_path / "run", *(part for one in settings for part in ("--set", one)))
    looked, written = False, set()
    for call in list_calls(command, tmp_path, ("openat", "write", "rename", "ftruncate"), env=environment):
        path = call.paths[-1]
        if path == "claims/work.json":
            looked = True
        elif call.name != "openat" and ".tmp-" not in path and path not in ("run/log.txt", "run/.lock"):
            assert looked, str(call)
            looked = False
            written.add(re.sub(r"\d+.*", "", path))
    assert {f"run/{name}" for name in ("metrics.jsonl", "events.out.tfevents.", "checkpoints/step_", "checkpoints/latest", "metrics.json",
                                       "manifest.json", "data.json", "config.toml", "report.html", "calibration.npz")} <= written  # fmt: skip


@pytest.mark.parametrize("error", ["ESTALE", "EIO", "ENOSPC", "EBADF", "ENOLCK"])
def test_a_claim_that_is_stale_once_is_read_again(tmp_path, table, whole, claimed, error):
    claim, environment = claimed
    run = tmp_path / "run"
    calls = list_calls(train(table, tmp_path / "other"), claim.parent, ("openat",), env=environment)
    done = Run(train(table, run), claim.parent, calls[len(calls) // 2], f"error={error}", environment).finish()
    assert done.returncode == 0, done.stderr
    assert results(run) == whole


def test_a_claim_that_cannot_be_read_is_not_said_to_be_lost(tmp_path, table, claimed):
    claim, environment = claimed
    claim.unlink()
    claim.mkdir()
    done = run_plain(train(table, tmp_path / "run"), environment)
    assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (66, f"error: {claim} is a folder, not a file")
    claim.rmdir()
    done = run_plain(train(table, tmp_path / "run"), environment)
    assert done.returncode == 73
    assert done.stderr.strip().splitlines()[-1] == (
        f"error: the claim on this work was released by the program that started it: {claim} does not exist, so nothing is saved")


# Heartbeats of a sweep.


def write_sweep(folder, epochs=400):
    """A sweep of one run, which takes some seconds."""
    write_csv(folder / "t.csv", rows=200, columns=("a",))
    (folder / "grid.toml").write_text(
        'task = "forecasting"\ndata = "t.csv"\nseeds = [1]\n[settings]\nforecast.lookback = 24\nforecast.horizon = 8\noutput.report = false\n'
        f'train.epochs = {epochs}\ntrain.patience = 0\n[[axis]]\nname = "model"\nkey = "model.name"\nvalues = ["dlinear"]\n')
    return folder / "grid.toml"


def sweep(folder):
    return [PROGRAM, "sweep", folder / "grid.toml", "--out", folder / "out", "--jobs", "1", "--threads", "1", "--claim-timeout", "4"]


@pytest.fixture(scope="module")
def heartbeat(tmp_path_factory):
    """The calls of the first heartbeat of a sweep with one run: from the lock of the claims to the sync of their folder."""
    folder = tmp_path_factory.mktemp("beats")
    write_sweep(folder)
    names = ("openat", "flock", "read", "write", "fsync", "rename")
    calls = [call for call in list_calls(sweep(folder), folder / "out", names) if call.paths[0].split("/")[0] == "claims"]
    starts = [i for i, call in enumerate(calls) if str(call) == "openat claims/lock"]
    held = [calls[start:end] for start, end in zip(starts, [*starts[1:], len(calls)])]  # the calls of each lock
    written = [group for group in held if any(call.name == "rename" for call in group)]
    assert len(written) >= 2, "the run was too quick"  # to claim the run, and a heartbeat
    calls = written[1]
    assert [call.name for call in calls if call.name != "read"] == ["openat", "flock", "openat", "openat", "write", "fsync", "rename", "openat", "fsync"]
    return calls


def check_heartbeat(folder, call, error):
    """The sweep ends well, and says what failed at most once."""
    write_sweep(folder)
    done = run_with(sweep(folder), folder / "out", call, f"error={error}")
    assert done.returncode == 0, done.stderr
    assert (folder / "out" / "runs" / "dlinear_s1" / "metrics.json").exists()
    unlocked = call.name == "flock" and error in NO_LOCKS
    read = call.name == "read" or call.paths == ("claims/dlinear_s1.json",)
    failed = 0 if unlocked or read else 1
    assert done.stderr.count("cannot write the heartbeat of dlinear_s1: ") == failed, done.stderr
    assert done.stderr.count(f": {REASONS[error]}; retrying until the claim timeout") == failed, done.stderr
    assert done.stderr.count("the heartbeat of dlinear_s1 works again") == failed
    assert (folder / "out" / "logs" / "dlinear_s1.log").read_text().count("cost: ") == 1


@pytest.mark.parametrize("name, error", [("openat", "ESTALE"), ("flock", "ENOLCK"), ("write", "ENOSPC"), ("fsync", "ESTALE")])
def test_one_heartbeat_that_fails_is_written_again(tmp_path, heartbeat, name, error):
    check_heartbeat(tmp_path, next(call for call in heartbeat if call.name == name), error)


@pytest.mark.long
@pytest.mark.parametrize("error", ["EBADF", "ENOLCK", "ENOSPC", "ESTALE"])
def test_each_call_of_a_heartbeat_that_fails_is_made_again(tmp_path, heartbeat, error):
    for i, call in enumerate(heartbeat):
        folder = tmp_path / str(i)
        folder.mkdir()
        check_heartbeat(folder, call, error)


def test_a_sweep_on_a_file_system_without_locks_says_so_once(tmp_path, heartbeat):
    write_sweep(tmp_path, epochs=1)
    first = dataclasses.replace(next(call for call in heartbeat if call.name == "flock"), number=1)
    done = run_with(sweep(tmp_path), tmp_path / "out", first, "error=ENOLCK")
    assert done.returncode == 0, done.stderr
    sentence = f"the file system of {tmp_path / 'out'} has no locks (No locks available): do not start a second sweep in it, which might train the same runs"
    assert done.stderr.count(sentence) == 1 and done.stderr.count("has no locks") == 1
