"""The short form of `./dev faults`: commands with faults at system calls, reads and writes that end early, signals, failing allocations,
kills and power losses; and that a missing fsync is found. Drawn by a fixed seed; `./dev faults --seed` draws other points."""

import argparse
import random
import re

import pytest
from faults import commands, power_loss
from faults.bench import Failure
from faults.inject import needs_strace
from faults.run_faults import Session, row_named

pytestmark = needs_strace
ROWS = [row.name for row in commands.ROWS if not row.script]
QUICK = ["train-tensor", "train-language", "train-segment", "sweep", "evaluate", "predict", "explain", "convert-shards", "tokenize"]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return Session(tmp_path_factory.mktemp("faults"), seed=1, jobs=2)


def check(session, row, kinds, points=None, cuts=None, allocations=None, kills=1):
    session.failures.clear()
    session.run(row_named(row), kinds, argparse.Namespace(points=points, cuts=cuts, allocations=allocations, kills=kills, only=None))
    assert session.failures == []
    assert all(session.tried[row, kind] > 0 for kind in kinds if kind != "SIGKILL")  # what writes nothing is not killed


@pytest.mark.parametrize("row", [row if row in QUICK else pytest.param(row, marks=pytest.mark.long) for row in ROWS])
def test_a_command_survives_faults(session, row):
    check(session, row, ["SIGKILL", "ENOSPC", "EIO", "SHORT", "SIGNALS", "MEMORY", "POWER"], points=1, cuts=1, allocations=2)


@pytest.mark.parametrize("row", ["train-tensor", "train-language"])
def test_a_training_survives_kills_at_random_moments(session, row):
    check(session, row, ["KILLS"], kills=3)


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS)
def test_a_command_survives_more_faults(session, row):
    check(session, row, ["SIGKILL", "ENOSPC", "EIO", "EINTR", "MEMORY", "POWER"], points=12, cuts=12, allocations=60)


@pytest.mark.long
@pytest.mark.parametrize("row", [row.name for row in commands.ROWS if row.script or row.run])
def test_a_training_survives_more_kills(session, row):
    check(session, row, ["KILLS"], kills=8)


# The model of the disk.


def test_what_was_not_synced_may_be_lost(tmp_path):
    steps = [("mkdir", ("run",)), ("open", ("run/a.tmp", 3, True, False, False)), ("write", ("run/a.tmp", 3, b"new", None)),
             ("sync", ("run/a.tmp",)), ("rename", ("run/a.tmp", "run/a")), ("sync", ("run",)), ("sync", ("",))]  # fmt: skip

    def lost(*names, keep="nothing"):
        disk = power_loss.Disk()
        for method, arguments in [one for i, one in enumerate(steps) if i not in names]:
            getattr(disk, method)(*arguments)
        return disk.lose_power(keep, random.Random(1))

    assert lost() == {"run": None, "run/a": b"new"}
    assert lost(3) == {"run": None, "run/a": b""}
    assert lost(5) == {"run": None}
    assert lost(5, keep="names") == {"run": None, "run/a": b"new"}
    assert lost(6) == {}
    some = {str(power_loss.Disk.lose_power(disk_after(steps, 6), "any", random.Random(seed))) for seed in range(20)}
    assert some == {"{}", str(lost())}


def disk_after(steps, count):
    disk = power_loss.Disk()
    for method, arguments in steps[:count]:
        getattr(disk, method)(*arguments)
    return disk


@pytest.mark.parametrize("synced", [r"fsync run/checkpoints/step_\d+\.tmp-\w+/state\.json$", r"fsync run/checkpoints/step_\d+\.tmp-\w+/model\.safetensors$",
                                    r"fsync run/metrics\.jsonl$", r"fsync run$"])  # fmt: skip
def test_a_missing_fsync_is_found(session, synced):
    """As if the program had not called it."""
    row = row_named("train-panel")
    bench, recording = session.bench(row), session.recording(row)
    ignored = {number for number, (text, _, _) in enumerate(recording.operations) if re.search(synced, text)}
    assert ignored
    last = max(number for number, (text, _, _) in enumerate(recording.operations) if re.search(r"^rename .*/latest\.tmp", text))
    with pytest.raises(Failure):
        for cut in (last + 3, len(recording)):
            power_loss.check(bench, recording, cut, "names" if "tmp" in synced or "jsonl" in synced else "nothing", f"{cut}-planted", set(), ignored)
