"""Signals during calls of the package: they are raised after the call, as if they had come then."""

import os
import re
import signal

import pytest
from cli_helpers import PROGRAM, ok, write_csv
from signal_helpers import Forks

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")
# Runs CALL; another thread sends SIGNALS as soon as the call has taken Python's handlers. Prints what came of it.
SCRIPT = """
import os, signal, threading, time
from modewise import errors, tasks
from signal_helpers import catches
FOLDER = <FOLDER>
SIMULATED = {"data.simulate": "lorenz96", "data.simulate_rows": 60_000}
LONG = {"data.path": FOLDER + "/d.csv", "forecast.lookback": 24, "forecast.horizon": 8, "output.report": False, "model.name": "dlinear",
        "train.epochs": 1_000_000, "train.patience": 0}
def handle(number, frame):
    print("handled", number, flush=True)
def send():
    while not catches(os.getpid(), <TAKEN>):
        time.sleep(0)
    <WAIT>
    for number in <SIGNALS>:
        os.kill(os.getpid(), number)
    if <CONFIG>:
        open(FOLDER + "/pipe", "w").close()
def call():
    try:
        <CALL>
        print("not raised", flush=True)
    except errors.Stopped as stopped:
        print("Stopped", stopped.exit_code, flush=True)
    except KeyboardInterrupt:
        print("KeyboardInterrupt", flush=True)
threading.Thread(target=send).start()
<HERE>
"""
CALLS = {"config": "tasks.config_toml('forecasting', config=FOLDER + '/pipe')", "show": "tasks.show('forecasting', SIMULATED)",
         "encode": "tasks.encode(FOLDER + '/words', 'of the and to in ' * 100_000)", "train": "tasks.train('forecasting', LONG, out=FOLDER + '/run')"}  # fmt: skip
BEGUN = "while not os.path.exists(FOLDER + '/run/metrics.jsonl') or not os.path.getsize(FOLDER + '/run/metrics.jsonl'): time.sleep(0.002)"


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    (folder / "text.txt").write_text("the of and to in is that it was for on are as with his they " * 40)
    ok("train", "language", "--data", folder / "text.txt", "--out", folder / "run", "--set", "model.layers=1", "--set", "model.width=16",
       "--set", "model.heads=2", "--set", "model.context=32", "--set", "train.max_steps=1", "--set", "output.report=false")  # fmt: skip
    return folder / "run"


@pytest.fixture(scope="module")
def python():
    forks = Forks()
    yield forks
    forks.close()


@pytest.fixture
def outcome(python, tmp_path):
    """(call, *signals): the lines printed and the exit code of a Python in which the signals arrive during a call; `here` makes it."""

    def given(call, *signals, here="call()"):
        begun = BEGUN if call == "train" else "pass"
        taken = signal.SIGTERM if signal.SIGHUP in signals else signal.SIGHUP  # one for which Python has no handler
        words = {"TAKEN": str(int(taken)), "FOLDER": repr(str(tmp_path)), "SIGNALS": repr([int(number) for number in signals]), "CONFIG": str(call == "config"),
                 "WAIT": begun, "CALL": CALLS[call], "HERE": here}  # fmt: skip
        os.mkfifo(tmp_path / "pipe")
        write_csv(tmp_path / "d.csv")
        lines, said, code = python.run(tmp_path, re.sub("<(\\w+)>", lambda match: words[match[1]], SCRIPT))
        assert "Traceback" not in said, said
        return lines, code

    return given


@pytest.mark.parametrize("call", ["config", "show", "encode"])
def test_ctrl_c_is_raised_after_a_call_that_does_not_stop(tmp_path, outcome, words, call):
    (tmp_path / "words").symlink_to(words)
    assert outcome(call, signal.SIGINT) == (["KeyboardInterrupt"], 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_without_a_handler_python_ends_by_the_signal(outcome, number):
    assert outcome("config", number) == ([], -number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("call, then", [("config", "not raised"), ("train", "Stopped {}")])
def test_a_handler_runs_after_the_call(outcome, number, call, then):
    lines, code = outcome(call, number, here=f"signal.signal({int(number)}, handle)\ncall()")
    assert (lines, code) == ([f"handled {int(number)}", then.format(128 + number)], 0)


def test_each_of_several_signals_is_raised(outcome):
    lines, code = outcome("config", signal.SIGINT, signal.SIGHUP, here="signal.signal(signal.SIGHUP, handle)\ncall()")
    assert (sorted(lines), code) == (["KeyboardInterrupt", "handled 1"], 0)


def test_a_signal_that_python_ignores_stays_ignored(outcome):
    assert outcome("config", signal.SIGINT, here="signal.signal(signal.SIGINT, signal.SIG_IGN)\ncall()") == (["not raised"], 0)


def test_a_call_of_another_thread_stops_and_the_main_thread_gets_the_signal(outcome):
    here = """
other = threading.Thread(target=call)
try:
    other.start()
    other.join()
    time.sleep(30)
except KeyboardInterrupt:
    other.join()
    print("main", flush=True)
"""
    assert outcome("train", signal.SIGINT, here=here) == (["Stopped 130", "main"], 0)
