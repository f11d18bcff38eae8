"""Shared helpers of the tests of the program: its path, runs that must succeed or fail, a small table and a run on it."""
import atexit
import functools
import json
import os
import pathlib
import subprocess
import tempfile
import threading

import numpy as np
import pytest

from programs import ROOT, built

PROGRAM = built("modewise")
DATA = pathlib.Path(os.environ.get("MODEWISE_DATA", ROOT.parent / "shared" / "data"))

SMALL = ["--set", "forecast.lookback=24", "--set", "forecast.horizon=8", "--set", "output.report=false"]
QUICK = SMALL + ["--model", "dlinear", "--set", "train.epochs=2", "--threads", "1"]


# Variables that libraries read when they are loaded: another value needs a start of its own.
READ_ONCE = ("LD_", "OMP_", "GOMP_", "KMP_", "MKL_", "DNNL_", "ONEDNN_", "MALLOC_", "GLIBC_", "ATEN_", "TORCH_", "CUDA_", "LC_", "LANG", "TZ", "MODEWISE_ISA")
BUSY = threading.Lock()


@functools.cache
def program_forks():
    """The program that forks for each command (tests/cli/program_forks.cpp), and its variables that are read once."""
    # os.environ alone: what libraries of this process have set (libtorch's instruction set) is not given.
    started = subprocess.Popen([built("program_forks")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ})
    atexit.register(lambda: (started.stdin.close(), started.wait(timeout=10)))
    return started, read_once(os.environ)


def read_once(environment):
    return {name: value for name, value in environment.items() if name.startswith(READ_ONCE)}


def fork(arguments, cwd, environment, timeout):
    with tempfile.NamedTemporaryFile() as stdout, tempfile.NamedTemporaryFile() as stderr:
        asked = {"arguments": arguments, "environment": environment, "folder": str(cwd or os.getcwd()), "stdout": stdout.name, "stderr": stderr.name,
                 "seconds": timeout}  # fmt: skip
        started, _ = program_forks()
        started.stdin.write(json.dumps(asked) + "\n")
        started.stdin.flush()
        code = int(started.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, *(pathlib.Path(file.name).read_text() for file in (stdout, stderr)))


def modewise(*arguments, cwd=None, env=None, user=None, timeout=600):
    """Runs the program: in a fork of one that is loaded, unless it must be started in another way, or one runs already."""
    arguments, environment = [str(PROGRAM), *map(str, arguments)], {**os.environ, **(env or {})}
    quick = user is None and arguments[1:2] not in (["sweep"], ["reproduce"]) and "".join([*arguments, *environment.values()]).isascii()
    if quick and read_once(environment) == program_forks()[1] and BUSY.acquire(blocking=False):
        try:
            return fork(arguments, cwd, environment, timeout)
        finally:
            BUSY.release()
    return subprocess.run(arguments, capture_output=True, text=True, cwd=cwd, user=user, timeout=timeout, env=environment)


def ok(*arguments, **options):
    result = modewise(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result


def fails(code, *words, arguments, **options):
    """Runs and expects this exit code and one sentence on stderr that holds all words; nothing on stdout."""
    result = modewise(*arguments, **options)
    assert result.returncode == code, (result.returncode, result.stderr)
    assert result.stdout == ""
    last = result.stderr.strip().splitlines()[-1]
    assert "error: " in last
    for word in words:
        assert str(word) in last, f"{word!r} not in {last!r}"
    return last


def hourly(rows, start="2020-01-01T00"):
    first = np.datetime64(start, "h")
    return [str(first + np.timedelta64(i, "h")).replace("T", " ") + ":00:00" for i in range(rows)]


def write_csv(path, rows=400, columns=("a", "b", "c"), edit=None):
    rng = np.random.default_rng(3)
    t = np.arange(rows)
    values = np.stack([np.sin(2 * np.pi * t / 24 + i) + 0.1 * rng.normal(size=rows) for i in range(len(columns))], 1)
    lines = [",".join(("date", *columns))]
    lines += [date + "," + ",".join(f"{v:.4f}" for v in row) for date, row in zip(hourly(rows), values)]
    if edit:
        edit(lines)
    path.write_text("\n".join(lines) + "\n")
    return path


def train(path, *more):
    return ["train", "forecast", "--data", path, "--out", path.parent / "out", *QUICK, *more]


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    data = write_csv(folder / "small.csv")
    ok("train", "forecast", "--data", data, "--out", folder / "run", *QUICK)
    return folder / "run"
