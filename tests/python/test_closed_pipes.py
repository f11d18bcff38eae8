"""Readers of stdout and stderr that go away, and what else a parent process may leave its child: ignored signals, small limits."""

import os
import pty
import resource
import shutil
import signal
import subprocess
import sys

import pytest
from cli_helpers import PROGRAM, QUICK, ok, write_csv
from signal_helpers import ENVIRONMENT, as_a_shell_starts

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")


def without_reader(command, *, stderr=subprocess.PIPE, prepare=lambda: None, env=None):
    """The exit code and what was said of a command whose stdout nobody reads."""

    def start():
        as_a_shell_starts()
        prepare()

    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(list(map(str, command)), stdout=writing, stderr=stderr, text=True, timeout=120, env=env or ENVIRONMENT,
                              preexec_fn=start)  # fmt: skip
    finally:
        os.close(writing)
    return done.returncode, done.stderr


@pytest.fixture
def table(tmp_path):
    return write_csv(tmp_path / "d.csv")


def plan_of(table):
    plan = table.parent / "plan.toml"
    plan.write_text('task = "forecasting"\nseeds = [1]\n[[axis]]\nname = "model"\nkey = "model.name"\nvalues = ["dlinear"]\n')
    return ["sweep", plan, "--data", table, "--out", table.parent / "sweep", "--jobs", "1", "--threads", "1", "--set", "train.epochs=2",
            "--set", "forecast.lookback=24", "--set", "forecast.horizon=8", "--set", "output.report=false"]  # fmt: skip


def test_a_training_is_finished_and_then_says_that_nobody_read_it(table):
    run = table.parent / "run"
    code, said = without_reader([PROGRAM, "train", "forecast", "--data", table, "--out", run, *QUICK])
    assert (code, said.splitlines()[-1]) == (74, "error: cannot write to stdout: Broken pipe")
    ok("train", "forecast", "--data", table, "--out", table.parent / "whole", *QUICK)
    for name in ("metrics.jsonl", "metrics.json"):
        assert (run / name).read_bytes() == (table.parent / "whole" / name).read_bytes()


def test_so_is_a_sweep(table):
    code, said = without_reader([PROGRAM, *plan_of(table)])
    assert (code, said.splitlines()[-1]) == (74, "error: cannot write to stdout: Broken pipe")
    assert (table.parent / "sweep" / "table.md").exists()
    assert (table.parent / "sweep" / "runs" / "dlinear_s1" / "metrics.json").exists()


def test_a_training_without_either_reader_is_finished(table):
    run = table.parent / "run"
    code, _ = without_reader([PROGRAM, "train", "forecast", "--data", table, "--out", run, *QUICK], stderr=subprocess.STDOUT)
    assert code == 74
    assert (run / "metrics.json").exists()


@pytest.mark.parametrize("command", [["config", "show"], ["train", "forecast", "--help"], ["--version"]])
def test_a_command_that_only_prints_ends_as_a_filter_does(command):
    assert without_reader([PROGRAM, *command]) == (-signal.SIGPIPE, "")


def test_so_do_lists_and_tables_of_a_sweep(table):
    ok(*plan_of(table))
    for what in ("--dry-run", "--table"):
        assert without_reader([PROGRAM, *plan_of(table), what]) == (-signal.SIGPIPE, "")


def test_so_do_a_prediction_and_a_named_stdout(table):
    ok("train", "forecast", "--data", table, "--out", table.parent / "run", *QUICK)
    assert without_reader([PROGRAM, "predict", table.parent / "run"]) == (-signal.SIGPIPE, "")
    named = ["data", "passkeys", "/dev/stdout", "--count", "3", "--length", "256"]
    assert without_reader([PROGRAM, *named]) == (-signal.SIGPIPE, "")


def test_so_does_the_program_that_python_becomes():
    assert without_reader([sys.executable, "-m", "modewise", "config", "show"]) == (-signal.SIGPIPE, "")


def test_where_sigpipe_is_ignored_it_is_an_error():
    code, said = without_reader([PROGRAM, "config", "show"], prepare=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    assert (code, said) == (74, "error: cannot write to stdout: Broken pipe\n")


def test_a_terminal_that_goes_away_ends_no_training(table):
    """The bar of progress cannot be drawn there any more."""
    terminal, end = pty.openpty()
    run = table.parent / "run"
    process = subprocess.Popen([PROGRAM, "train", "forecast", "--data", table, "--out", run, *QUICK, "--set", "train.epochs=60", "--set",
                                "train.patience=0"], stdout=subprocess.PIPE, stderr=end, text=True, env={**ENVIRONMENT, "TERM": "xterm"},
                               preexec_fn=as_a_shell_starts)  # fmt: skip
    os.close(end)
    shown = b""
    while b"\r\x1b[K[" not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "run folder:" in printed and (run / "metrics.json").exists()


def test_a_closed_stderr_ends_no_prediction(table):
    ok("train", "forecast", "--data", table, "--out", table.parent / "run", *QUICK)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([PROGRAM, "predict", table.parent / "run", "--out", table.parent / "p.csv"], stdout=subprocess.PIPE, stderr=writing,
                          preexec_fn=as_a_shell_starts)  # fmt: skip
    os.close(writing)
    assert done.returncode == 0 and (table.parent / "p.csv").exists()


def test_a_sweep_whose_parent_ignored_sigchld_ends(table):
    """The system would not keep how its processes ended."""

    def start():
        as_a_shell_starts()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    done = subprocess.run([PROGRAM, *map(str, plan_of(table))], capture_output=True, text=True, timeout=60, preexec_fn=start)
    assert done.returncode == 0, done.stderr


def test_a_limit_of_file_sizes_is_an_error(table):
    def start():
        as_a_shell_starts()
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    run = table.parent / "run"
    done = subprocess.run([PROGRAM, "train", "forecast", "--data", str(table), "--out", str(run), *QUICK], capture_output=True, text=True,
                          timeout=120, preexec_fn=start, restore_signals=False)  # fmt: skip
    assert done.returncode == 74, done.stderr
    assert done.stderr.splitlines()[-1].endswith(": File too large")


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("call", ["fsync", "write"])
def test_interrupted_calls_are_made_again(table, call):
    command = ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:error=EINTR:when=1+2",
               PROGRAM, "train", "forecast", "--data", table, "--out", table.parent / "run", *QUICK]  # fmt: skip
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
