"""`./dev soak` finds what it looks for: commands of the shell with planted faults stand for those of the program."""

import argparse
import random
import time
import types

import pytest
from faults import soak
from faults.bench import Failure

WAITS = "sleep 0.5; "  # a signal comes before the command does anything


class Bench:
    """A command of the shell that writes the file `result`."""

    def __init__(self, folder, script, run=""):
        self.folder, self.data, self.seconds = folder, folder, 0.2
        self.row = types.SimpleNamespace(name="made", run=run, again=lambda data, out: ["sh", "-c", script.format(out=out)])
        self.wanted = {"result": b"right\n"}

    def new_folder(self, name):
        (self.folder / name).mkdir()
        return self.folder / name

    def outcome(self, out):
        return {path.name: path.read_bytes() for path in out.iterdir() if path.name != "stdout"}


@pytest.fixture
def start(tmp_path):
    """Runs a script under disturbance; the counts and the failure."""

    def run(script, seed=1, full=(), twice=""):
        bench = Bench(tmp_path, script, twice)
        disk = types.SimpleNamespace(folder=tmp_path, was_full=lambda since: any(end > since for _, end in full), times=list(full))
        it = soak.Soak(types.SimpleNamespace(), disk, argparse.Namespace(rows=[bench.row], minutes=1, jobs=1, seed=seed))
        it.one(bench, random.Random(seed), "made")
        return it

    return run


def test_a_good_command_ends_with_the_wanted_bytes(start):
    for seed in range(3):
        found = start("echo right > {out}/result", seed)
        assert found.counts["made"]["commands"] == 1
        assert found.memory["made"]


def test_a_signal_ends_a_command_that_is_given_again(start):
    found = start(WAITS + "echo right > {out}/result", seed=7)
    assert found.counts["made"]["signals"] > 0
    assert found.counts["made"]["starts"] > found.counts["made"]["signals"]


@pytest.mark.parametrize("script, what", [
    ("echo wrong > {out}/result", "result (other bytes)"),
    ("true", "result (missing)"),
    ("echo right > {out}/result; touch {out}/a.tmp-1", "a.tmp-1 (new)"),
    ("echo 'error: no' >&2; exit 65", "exit code 65: error: no"),
    ("kill -SEGV $$", "exit code -11"),
    ("echo 'error: cannot write: No space left on device' >&2; exit 74", "exit code 74"),
    ("echo 'error: another process is training in it' >&2; exit 73", "exit code 73"),
    ("echo right > {out}/result; sleep 60 >/dev/null 2>&1 &", "outlive their command"),
])  # fmt: skip
def test_planted_faults_are_found(start, monkeypatch, script, what):
    monkeypatch.setattr(soak, "PATIENCE", 0.5)
    with pytest.raises(Failure) as failure:
        start(script, seed=2)
    assert what in str(failure.value)


def test_a_full_disk_is_a_reason_while_it_is_full(start, tmp_path):
    script = f"test -e {tmp_path}/again && echo right > {{out}}/result && exit; touch {tmp_path}/again; echo 'error: No space left on device' >&2; exit 74"
    found = start(script, full=[(0, time.monotonic() + 60)])
    assert found.counts["made"]["full disk"] == 1


def test_a_growing_memory_is_found():
    it = soak.Soak(None, None, argparse.Namespace(rows=[types.SimpleNamespace(name="made")], minutes=1))
    it.memory["made"] = [(-10, 100), (10, 120)]
    it.check_memory()
    assert it.failures == []
    it.memory["made"].append((11, 130))
    it.check_memory()
    assert it.failures == ["made: peak memory grew from 100 to 130 MiB"]


def test_a_disk_is_full_from_its_filling_to_its_emptying(tmp_path, monkeypatch):
    monkeypatch.setattr(soak.subprocess, "run", lambda *_, **__: types.SimpleNamespace(returncode=1))
    disk = soak.Disk(tmp_path / "disk", 1)
    before = time.monotonic()
    disk.times = [[before - 2, before - 1]]
    assert disk.was_full(before - 1.5)
    assert not disk.was_full(before)
    assert not disk.mounted
