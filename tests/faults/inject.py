"""System calls of a command, listed, and made to end the command or to fail, one at a time (strace).

    calls = list_calls(command, run)                      # those on paths in the folder `run`, in their order
    done = run_with(command, run, calls[3], KILL)         # killed as it makes this call, which is not made
    done = run_with(command, run, calls[3], "error=ENOSPC")

A call is known by its name and by its number among the calls of that name that the main thread makes. Other threads and
processes that the command starts run undisturbed. A command must make the same calls each time: a run that makes another call
in the place of the wanted one is an error.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

KILL = "signal=KILL"
KILLED = (-9, 137)  # exit codes of strace when its command was killed

# What changes a file system. Between two of these calls a kill leaves the same files wherever it strikes.
CHANGING = ("openat", "mkdir", "rename", "link", "symlink", "unlink", "unlinkat", "rmdir", "write", "pwrite64", "copy_file_range",
            "sendfile", "ftruncate", "fchmod")  # fmt: skip
# What touches files besides: synced, locked, looked at, read.
TOUCHING = (*CHANGING, "fsync", "fdatasync", "flock", "fcntl", "newfstatat", "statx", "access", "readlink", "getdents64", "read", "pread64",
            "lseek", "close")  # fmt: skip

_RANDOM = re.compile(r"\.tmp-[0-9a-f]{16}")
# A name in an open folder, an open file, a path.
_PATH = re.compile(r'(?:AT_FDCWD|\d+)<(?P<folder>[^>]*)>, "(?P<name>[^"]+)"|\d+<(?P<open>[^>]*)>|"(?P<path>[^"]*)"')


def _traceable():
    return shutil.which("strace") and subprocess.run(["strace", "-o", "/dev/null", "true"]).returncode == 0


needs_strace = pytest.mark.skipif(not _traceable(), reason="strace is not installed, or may not trace")


@dataclasses.dataclass(frozen=True)
class Call:
    name: str
    number: int  # among the calls of this name
    paths: tuple  # relative to the folder, with * for random digits; those outside are left out
    changes: bool  # whether it may change a file

    def __str__(self):
        return " ".join((self.name, *self.paths))


@dataclasses.dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def _paths(arguments, folder):
    found = []
    for match in _PATH.finditer(arguments):
        path = os.path.join(match["folder"], match["name"]) if match["folder"] else match["open"] or match["path"] or ""
        if path == str(folder) or path.startswith(f"{folder}/"):
            found.append(_RANDOM.sub(".tmp-*", path[len(str(folder)):].lstrip("/") or "."))
    return tuple(found)


def _parse(log, folder):
    """All calls of a log of strace; `paths` is empty for calls on other paths."""
    counts, calls = {}, []
    for line in log.splitlines():
        match = re.match(r"(\w+)\((.*)", line)
        if match is None:
            continue
        name, arguments = match[1], match[2].rsplit(") = ", 1)[0]
        counts[name] = counts.get(name, 0) + 1
        changes = name in CHANGING and (name != "openat" or "O_CREAT" in arguments or "O_TRUNC" in arguments)
        calls.append(Call(name, counts[name], _paths(arguments, folder), changes))
    return calls


def _strace(command, log, names, faults):
    options = [part for fault in faults for part in ("-e", f"inject={fault}")]
    return ["strace", "-o", str(log), "-y", "-s", "0", "-e", f"trace={','.join(names)}", *options, *map(str, command)]


def trace(command, names, env=None):
    """The lines that strace writes of these calls of the command, whose descriptors have their paths behind them."""
    with tempfile.NamedTemporaryFile() as log:
        done = subprocess.run(_strace(command, log.name, names, ()), capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return pathlib.Path(log.name).read_text().splitlines()


def list_calls(command, folder, names=CHANGING, faults=(), env=None):
    """The calls of `command` on paths in `folder`: of CHANGING those that may change a file, of other names all. `faults`, in
    the form of strace's inject, end the command where the list is to end."""
    with tempfile.NamedTemporaryFile() as log:
        done = subprocess.run(_strace(command, log.name, names, faults), capture_output=True, text=True, env=env)
        assert done.returncode == 0 or (faults and done.returncode in KILLED), done.stderr
        calls = _parse(pathlib.Path(log.name).read_text(), folder)
    return [call for call in calls if call.paths and (call.changes or names is not CHANGING)]


class Run:
    """A run of `command` with a fault at one of its calls, begun."""

    def __init__(self, command, folder, call, fault, env=None):
        self.folder, self.call = folder, call
        self.log = tempfile.NamedTemporaryFile()
        line = _strace(command, self.log.name, [call.name], [f"{call.name}:{fault}:when={call.number}"])
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)

    def finish(self, timeout=120):
        stdout, stderr = self.process.communicate(timeout=timeout)
        calls = _parse(pathlib.Path(self.log.name).read_text(), self.folder)
        self.log.close()
        met = [call for call in calls if call.number == self.call.number]
        assert met and str(met[0]) == str(self.call), f"instead of {self.call} the command made {met and str(met[0])}: {stderr}"
        return Done(self.process.returncode, stdout, stderr)


def run_with(command, folder, call, fault, env=None):
    return Run(command, folder, call, fault, env).finish()


def kill_at(command, folder, call, env=None):
    done = run_with(command, folder, call, KILL, env)
    assert done.returncode in KILLED, (str(call), done.returncode, done.stderr)
