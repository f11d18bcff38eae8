"""Fault injection with strace: lists the system calls of a command, and makes one of them fail or kill the command.

    calls = list_calls(command, run)                      # calls on paths in the folder `run`, in order
    done = run_with(command, run, calls[3], KILL)         # killed at this call, which is not executed
    done = run_with(command, run, calls[3], "error=ENOSPC")

A call is identified by its name and its number among the calls of that name in the main thread. Other threads and child
processes run undisturbed. A command must make the same calls each time: a run with another call in place of the selected one
is an error.
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

# Calls that change the file system. A kill between two of them leaves the same files at any point.
CHANGING = ("openat", "mkdir", "rename", "link", "symlink", "unlink", "unlinkat", "rmdir", "write", "pwrite64", "copy_file_range",
            "sendfile", "ftruncate", "fchmod")  # fmt: skip
# Other calls on files: sync, lock, stat, read.
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
    number: int  # index among the calls of this name
    paths: tuple  # relative to the folder, with * for random digits; paths outside are dropped
    changes: bool  # whether it may change a file

    def __str__(self):
        return " ".join((self.name, *self.paths))


@dataclasses.dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def _paths(arguments, folders):
    found = []
    for match in _PATH.finditer(arguments):
        path = os.path.join(match["folder"], match["name"]) if match["folder"] else match["open"] or match["path"] or ""
        for folder, name in folders:
            if path == str(folder) or path.startswith(f"{folder}/"):
                found.append(_RANDOM.sub(".tmp-*", name + path[len(str(folder)):].lstrip("/") or "."))
    return tuple(found)


def parse(log, folders):
    """All calls of a log of strace, with their paths in `folders`, pairs of a folder and the beginning of the names of its files."""
    counts, calls = {}, []
    for line in log.splitlines():
        match = re.match(r"(\w+)\((.*)", line)
        if match is None:
            continue
        name, arguments = match[1], match[2].rsplit(") = ", 1)[0]
        counts[name] = counts.get(name, 0) + 1
        changes = name in CHANGING and (name != "openat" or "O_CREAT" in arguments or "O_TRUNC" in arguments)
        calls.append(Call(name, counts[name], _paths(arguments, folders), changes))
    return calls


def strace(command, log, names, faults):
    """The command under strace, which writes these calls of its main thread to `log` and injects the faults."""
    options = [part for fault in faults for part in ("-e", f"inject={fault}")]
    return ["strace", "-o", str(log), "-y", "-s", "0", "-e", f"trace={','.join(names)}", *options, *map(str, command)]


def trace(command, names, env=None):
    """strace's lines for these calls of the command, with the path after each descriptor."""
    with tempfile.NamedTemporaryFile() as log:
        done = subprocess.run(strace(command, log.name, names, ()), capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return pathlib.Path(log.name).read_text().splitlines()


def list_calls(command, folder, names=CHANGING, faults=(), env=None):
    """The calls of `command` on paths in `folder`: for names in CHANGING only those that may change a file. `faults`, in
    the syntax of strace's inject, end the command where the list should end."""
    with tempfile.NamedTemporaryFile() as log:
        done = subprocess.run(strace(command, log.name, names, faults), capture_output=True, text=True, env=env)
        assert done.returncode == 0 or (faults and done.returncode in KILLED), done.stderr
        calls = parse(pathlib.Path(log.name).read_text(), ((folder, ""),))
    return [call for call in calls if call.paths and (call.changes or names is not CHANGING)]


class Run:
    """Starts `command` with a fault at one of its calls."""

    def __init__(self, command, folder, call, fault, env=None):
        self.folder, self.call = folder, call
        self.log = tempfile.NamedTemporaryFile()
        line = strace(command, self.log.name, [call.name], [f"{call.name}:{fault}:when={call.number}"])
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)

    def finish(self, timeout=120):
        stdout, stderr = self.process.communicate(timeout=timeout)
        calls = parse(pathlib.Path(self.log.name).read_text(), ((self.folder, ""),))
        self.log.close()
        met = [call for call in calls if call.number == self.call.number]
        assert met and str(met[0]) == str(self.call), f"instead of {self.call} the command made {met and str(met[0])}: {stderr}"
        return Done(self.process.returncode, stdout, stderr)


def run_with(command, folder, call, fault, env=None):
    return Run(command, folder, call, fault, env).finish()


def kill_at(command, folder, call, env=None):
    done = run_with(command, folder, call, KILL, env)
    assert done.returncode in KILLED, (str(call), done.returncode, done.stderr)
