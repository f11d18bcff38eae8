"""Signals and closed pipes: what each does to each kind of work, however that was started.

The table has a row for each work and start, and a column for each signal. PIPE is the reader of stderr that goes away. A cell holds
what becomes of the work and the exit code of what was started (−n: ended by signal n):

    saved   a training stopped at a step whose checkpoint is there; a sweep or search let its trainings do so
    whole   the work continued and finished as if nothing had happened
    cut     it ended at once; what was saved before is intact
    none    no result, and no part of one

SIGQUIT (Ctrl-\\) is never taken: it ends the process at once, for work that does not end otherwise. The trainings of a sweep or search
are then asked to stop, as they are whenever it is killed. nohup ignores SIGHUP, and a shell's background job SIGINT and SIGQUIT.
torchrun passes a signal on to its processes and ends with 1. In Python SIGINT becomes Stopped (exit code 130 here); SIGTERM and
SIGHUP end Python after the call.
"""

import contextlib
import json
import os
import signal
import sys

import pytest
from cli_helpers import PROGRAM, SMALL, ok, write_csv
from signal_helpers import SIGNALS, TORCHRUN, Forks, InBackground, Process, catches, children_of, held, is_pending, wait_for

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")

TABLE = """
                      INT          TERM         HUP          QUIT         PIPE
    train   shell     saved 130    saved 143    saved 129    cut -3       whole 0
    train   nohup     whole 0      saved 143    whole 0      whole 0      whole 0
    train   python    saved 130    saved -15    saved -1     cut -3       whole 0
    train   torchrun  saved 1      saved 1      saved 1      cut 1        whole 0
    sweep   shell     saved 130    saved 143    saved 129    saved -3     whole 0
    sweep   nohup     whole 0      saved 143    whole 0      whole 0      whole 0
    sweep   python    saved 130    saved 143    saved 129    saved -3     whole 0
    sweep   torchrun  saved 1      saved 1      saved 1      saved 1      whole 0
    auto    shell     saved 130    saved 143    saved 129    saved -3     whole 0
    auto    nohup     whole 0      saved 143    whole 0      whole 0      whole 0
    auto    python    saved 130    saved 143    saved 129    saved -3     whole 0
    auto    torchrun  saved 1      saved 1      saved 1      saved 1      whole 0
    predict shell     none 130     none 143     none 129     none -3      whole 0
    predict nohup     whole 0      none 143     whole 0      whole 0      whole 0
    predict python    none 130     none -15     none -1      none -3      whole 0
    predict torchrun  none 1       none 1       none 1       none 1       whole 0
"""
NUMBERS = {number.name.removeprefix("SIG"): number for number in SIGNALS}
QUICK = {("train", "torchrun", "TERM"), ("sweep", "python", "TERM")}  # of the slow ones those that are run every time
FINISHED = 30  # epochs of a training that is finished; the others would take hours


def cells():
    names, *rows = [line.split() for line in TABLE.strip("\n").rstrip().split("\n")]
    for work, start, *cell in rows:
        for name, becomes, code in zip(names, cell[::2], cell[1::2], strict=True):
            slow = start == "torchrun" or (start == "python" and work in ("sweep", "auto")) or (work == "auto" and becomes == "whole")
            quick = (work, start, name) in QUICK
            marks = [pytest.mark.long] if slow and not quick else []
            yield pytest.param(work, start, name, becomes, int(code), id=f"{work}-{start}-{name}", marks=marks)


def settings(becomes):
    epochs = FINISHED if becomes == "whole" else 1_000_000
    return [*SMALL, "--set", f"train.epochs={epochs}", "--set", "train.patience=0", "--set", "train.test=false"]


def steps_of(run):
    return {int(path.name.removeprefix("step_")) for path in (run / "checkpoints").glob("step_*") if ".tmp" not in path.name}


def has_saved(run):
    return (run / "checkpoints" / "latest").exists()


def check_training(run, becomes):
    said = (run / "log.txt").read_text()
    assert (run / "metrics.json").exists() == (becomes == "whole")
    assert ("stopped by signal" in said) == (becomes == "saved")
    if becomes == "whole":
        assert json.loads((run / "metrics.json").read_text())["epochs"] == FINISHED
    elif becomes == "saved":
        assert "checkpoint saved: resume with --resume" in said
        assert int(said.split(" at step ")[1].split()[0]) in steps_of(run)
    else:
        assert steps_of(run)
        resumed = Process([PROGRAM, "train", "--resume", run, "--allow-config-changes", "--set", f"train.max_steps={max(steps_of(run))}"])
        assert resumed.end()[0] == 0
        assert (run / "metrics.json").exists()


class Train:
    processes = 2  # of torchrun
    held = False

    def __init__(self, data, folder, becomes):
        self.run = folder / "run"
        given = [*settings(becomes), "--set", f"data.path={data / 'short.csv'}", "--set", "model.name=dlinear"]
        self.command = ["train", "forecast", *given, "--out", self.run, "--threads", "1"]
        self.call = ("train", "forecast", dict(setting.split("=", 1) for setting in given[1::2])), {"out": str(self.run)}

    def has_begun(self, pid):
        return has_saved(self.run)

    def check(self, becomes, printed):
        check_training(self.run, becomes)


class Sweep:
    processes = 1
    held = False

    def __init__(self, data, folder, becomes):
        self.runs = [folder / "out" / "runs" / f"dlinear_s{seed}" for seed in (1, 2)]
        plan = folder / "plan.toml"
        plan.write_text('task = "forecasting"\nseeds = [1, 2]\n[[axis]]\nname = "model"\nkey = "model.name"\nvalues = ["dlinear"]\n')
        self.command = ["sweep", plan, "--data", data / "short.csv", "--out", folder / "out", "--jobs", "2", "--threads", "1",
                        *settings(becomes)]  # fmt: skip

    def has_begun(self, pid):
        return all(map(has_saved, self.runs))

    def check(self, becomes, printed):
        for run in self.runs:  # those of a sweep that is killed are stopped a little later
            wait_for(lambda run=run: (run / "metrics.json").exists() or "stopped by signal" in (run / "log.txt").read_text())
            check_training(run, becomes)


class Auto:
    processes = 1
    held = False

    def __init__(self, data, folder, becomes):
        self.run = folder / "run"
        self.command = ["train", "forecast", "--data", data / "short.csv", "--model", "auto", "--out", self.run, "--jobs", "2", "--threads", "1",
                        "--budget", "60s" if becomes == "whole" else "10m", *SMALL, "--set", "train.epochs=2", "--no-test"]  # fmt: skip

    def has_begun(self, pid):
        return any((self.run / "auto").glob("*/runs/*/log.txt"))

    def check(self, becomes, printed):
        assert (self.run / "auto" / "request.json").exists()
        assert (self.run / "metrics.json").exists() == (self.run / "report.html").exists() == (becomes == "whole")
        wait_for(lambda: not any((self.run / "auto").glob("*/runs/*/checkpoints/*.tmp-*")))


class Predict:
    processes = 1
    held = True  # it takes less time than a signal on its way through torchrun

    def __init__(self, data, folder, becomes):
        self.out = folder / "out"
        self.out.mkdir()
        self.command = ["predict", data / "run", "--data", data / "long.csv", "--out", self.out / "forecast.csv"]
        self.call = ("predict", str(data / "run")), {"data": str(data / "long.csv"), "out": str(self.out / "forecast.csv")}

    def has_begun(self, pid):
        """The process that has begun to predict."""
        return next((process for process in (pid, *children_of(pid)) if catches(process, signal.SIGTERM)), None)

    def check(self, becomes, printed):
        assert [path.name for path in self.out.iterdir()] == (["forecast.csv"] if becomes == "whole" else [])
        if becomes == "whole":
            assert len((self.out / "forecast.csv").read_text().splitlines()) == 1 + 8


@pytest.fixture(scope="module")
def python():
    forks = Forks()
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A table to train on, one that takes a while to read, and a run."""
    folder = tmp_path_factory.mktemp("data")
    write_csv(folder / "short.csv", rows=400)
    write_csv(folder / "long.csv", rows=150_000)
    ok("train", "forecast", "--data", folder / "short.csv", "--out", folder / "run", *SMALL, "--model", "dlinear", "--set", "train.epochs=1")
    return folder


def started(work, start, folder, python):
    if start == "shell":
        return Process([PROGRAM, *work.command])
    if start == "nohup":
        return InBackground([PROGRAM, *work.command], folder)
    if start == "torchrun":
        return Process([*TORCHRUN, work.processes, "-m", "modewise", *work.command])
    if isinstance(work, (Train, Predict)):
        arguments, options = work.call
        return python.start(folder, *arguments, **options)
    return Process([sys.executable, "-m", "modewise", *work.command])


@pytest.mark.parametrize("work, start, name, becomes, code", cells())
def test_what_a_signal_does(data, python, tmp_path, work, start, name, becomes, code):
    made = {"train": Train, "sweep": Sweep, "auto": Auto, "predict": Predict}[work](data, tmp_path, becomes)
    process = started(made, start, tmp_path, python)
    try:
        begun = wait_for(lambda: made.has_begun(process.pid))
        with held(begun) if made.held else contextlib.nullcontext():
            if name == "PIPE":
                process.close_stderr()
            else:
                os.kill(process.pid, NUMBERS[name])
            if made.held and becomes == "none":
                wait_for(lambda: is_pending(begun, NUMBERS[name]))
        ended, printed, said = process.end()
    finally:
        process.kill()
    assert ended == code, said
    made.check(becomes, printed)
