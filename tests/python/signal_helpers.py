"""Processes that the tests of signals start: as a shell, nohup, Python and torchrun start them, with the signals' default actions
whatever the tests' own process was started with."""

import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

from programs import ROOT
from python_forks import ENVIRONMENT

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
IN_BACKGROUND = 'nohup "$@" & echo $! > "$PID_FILE"; wait $!'  # of a shell that is not interactive: it ignores SIGINT and SIGQUIT
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--monitor-interval", "0.1", "--nproc-per-node"]
# Python that waits for requests, a call of modewise.tasks or a script, and answers each in a fork of its own, so that torch is
# imported once. It prints the fork's number when it begins and its exit code when it has ended.
FORKS = """
import json, os, sys
from modewise import errors, tasks
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, file in ((1, asked.get("stdout")), (2, asked["stderr"])):
            if file:
                os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
        if "script" in asked:
            exec(asked["script"], {})
            os._exit(0)
        try:
            getattr(tasks, asked["call"])(*asked["arguments"], **asked["options"])
        except errors.Stopped as stopped:
            os._exit(stopped.exit_code)
        except KeyboardInterrupt:
            os._exit(77)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def as_a_shell_starts():
    """Called in a child before exec."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)
    return value


def children_of(pid):
    with contextlib.suppress(FileNotFoundError):
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def has_bit(pid, field, number):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    return has_bit(pid, "SigCgt:", number)


def is_pending(pid, number):
    """Whether the signal was sent to the process, which has not seen it yet."""
    return has_bit(pid, "ShdPnd:", number)


def is_stopped(pid):
    """Whether every thread of the process has stopped."""
    try:
        stats = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
    except OSError:  # a thread that ended meanwhile
        return False
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


@contextlib.contextmanager
def held(pid):
    """The process is stopped meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_for(lambda: is_stopped(pid))
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


class Process:
    """A process, `pid`, whose stderr the test reads: until close_stderr() or, in end(), until it has ended."""

    def __init__(self, command, environment=None):
        self.started = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**ENVIRONMENT, **(environment or {})}, preexec_fn=as_a_shell_starts)  # fmt: skip
        self.pid = self.started.pid

    def close_stderr(self):
        self.started.stderr.close()

    def end(self):
        """Its exit code, what it printed, and what it said."""
        if self.started.stderr.closed:
            with self.started.stdout:
                printed = self.started.stdout.read()
            return self.started.wait(timeout=60), printed, ""
        printed, said = self.started.communicate(timeout=60)
        return self.started.returncode, printed, said

    def kill(self):
        if self.started.poll() is None:
            self.started.kill()
            self.started.communicate()


class InBackground(Process):
    """`nohup COMMAND &` in a shell; `pid` is the command's."""

    def __init__(self, command, folder):
        file = folder / "pid"
        super().__init__(["sh", "-c", IN_BACKGROUND, "sh", *command], {"PID_FILE": str(file)})
        self.pid = int(wait_for(lambda: file.exists() and file.read_text().strip()))

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        super().kill()


class Forks:
    """The Python that forks for each request."""

    def __init__(self):
        self.server = subprocess.Popen([sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                       env={**ENVIRONMENT, "PYTHONPATH": f"{ROOT / 'python'}:{ROOT / 'tests' / 'python'}"},
                                       preexec_fn=as_a_shell_starts)  # fmt: skip

    def start(self, folder, call, *arguments, **options):
        return Fork(self.server, folder, {"call": call, "arguments": arguments, "options": options})

    def run(self, folder, script):
        """The lines that a script prints, what it says and its exit code. A script flushes what it prints."""
        fork = Fork(self.server, folder, {"script": script, "stdout": str(folder / "stdout")})
        code, _, said = fork.end()
        return (folder / "stdout").read_text().splitlines(), said, code

    def close(self):
        self.server.stdin.close()
        self.server.wait(timeout=10)


class Fork:
    """A child of Forks, with the interface of Process."""

    def __init__(self, server, folder, asked):
        pipe = folder / "stderr"
        os.mkfifo(pipe)
        self.server = server
        server.stdin.write(json.dumps({**asked, "stderr": str(pipe)}) + "\n")
        server.stdin.flush()
        self.stderr = pipe.open()
        self.pid = int(server.stdout.readline())
        self.ended = False

    def close_stderr(self):
        self.stderr.close()

    def end(self):
        said = "" if self.stderr.closed else self.stderr.read()
        code = int(self.server.stdout.readline())
        self.ended = True
        return code, "", said

    def kill(self):
        self.stderr.close()
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            self.end()
