"""Runs a row of commands.py with a fault and checks what is left: the command given again ends with the bytes of an undisturbed one."""

import dataclasses
import errno
import os
import random
import re
import shutil
import subprocess
import time

from faults import commands, inject
from faults.commands import leftovers, outcome

ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "MODEWISE_BUILD": str(commands.PROGRAM.parents[1])}  # fmt: skip
ENVIRONMENT.pop("MODEWISE_CLAIM", None)
NAMES = (*(name for name in inject.TOUCHING if name != "fcntl"), "mmap", "fallocate", "readlinkat", "faccessat2", "chmod", "unlinkat")
FAULTS = {  # injection of strace, and the calls that may fail so
    "SIGKILL": ("signal=KILL", inject.CHANGING),
    "ENOSPC": ("error=ENOSPC", ("openat", "mkdir", "write", "pwrite64", "rename", "fallocate", "ftruncate", "copy_file_range", "sendfile", "fsync")),
    "EIO": ("error=EIO", NAMES),
    "EINTR": ("error=EINTR", ("openat", "read", "pread64", "write", "pwrite64", "fsync", "flock", "ftruncate", "fallocate", "close", "copy_file_range",
                              "sendfile")),
}  # fmt: skip
SLOW, SLOW_POINTS = 3, 40  # commands that take longer than SLOW seconds have at most so many points of a fault
IO_CODES = (66, 73, 74)  # input that cannot be opened, output that cannot be created, a read or write that failed


class Failure(Exception):
    """The fault shows in a wrong way."""


def require(condition, *what):
    if not condition:
        raise Failure(" ".join(map(str, what)))


@dataclasses.dataclass
class Done:
    code: int
    said: str


def difference(found, wanted):
    names = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
    return ", ".join(f"{name} ({'missing' if name not in found else 'new' if name not in wanted else 'other bytes'})" for name in names[:5])


def kind_of(call):
    return re.sub(r"\d+", "N", str(call))  # names of files have steps and times


class Bench:
    """A row in a folder of its own: its undisturbed outcome, its calls, and folders for disturbed runs."""

    def __init__(self, row, data, starts, folder):
        self.row, self.data, self.start, self.folder = row, data, starts.get(row.start), folder
        self.reference = self.new_folder("reference")
        began = time.monotonic()
        done = self.run(self.command(self.reference), self.reference)
        self.seconds = time.monotonic() - began
        require(done.code == 0 and done.said == "", f"{row.name}, undisturbed: exit code {done.code}: {done.said[-400:]}")
        self.wanted = self.outcome(self.reference)
        self.traced = {}

    def new_folder(self, name):
        out = self.folder / name
        shutil.rmtree(out, ignore_errors=True)
        if self.start is not None:
            shutil.copytree(self.start, out)
        else:
            out.mkdir(parents=True)
        if self.row.script:
            for name in ("mine.csv", "run.csv", "run.ts"):
                (out / name).write_text("of the user\n")
        return out

    def command(self, out):
        return self.row.command(self.data, out)

    def outcome(self, out):
        found = outcome(out, self.row.name)
        if self.row.script:  # the manifest and the names of data folders tell how often it was begun
            found = {name: content for name, content in found.items() if "/" not in name or name.endswith((".safetensors", "metrics.jsonl"))}
        return found

    def folders(self, out):
        return ((out, ""), (self.data, "data/"))

    def run(self, command, out, environment=None):
        with (out / "stdout").open("w") as stdout:
            done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, errors="replace", timeout=600,
                                  env={**ENVIRONMENT, **(environment or {})}, cwd="/")  # fmt: skip
        return Done(done.returncode, done.stderr)

    def calls(self):
        """The calls of the undisturbed command on its files, and that a second run has the same outcome."""
        if not self.traced:
            out = self.new_folder("traced")
            log = self.folder / "calls"
            done = self.run(inject.strace(self.command(out), log, NAMES, ()), out)
            require(done.code == 0 and done.said == "", f"{self.row.name}, traced: exit code {done.code}: {done.said[-400:]}")
            again = self.outcome(out)
            require(self.is_equal(again), "a second run has other bytes:", difference(again, self.wanted))
            for call in inject.parse(log.read_text(), self.folders(out)):
                if call.paths:
                    self.traced[call.name, call.number] = call
            shutil.rmtree(out)
        return list(self.traced.values())

    def points(self, fault, count, seed):
        """Calls at which the fault is tried: all, or `count` of different kinds (call and file, numbers aside), drawn by the seed."""
        names = FAULTS[fault][1]
        mine = [call for call in self.calls() if call.name in names and (call.changes or call.name not in inject.CHANGING or fault in ("EIO", "EINTR"))]
        if fault == "SIGKILL":
            mine = [call for call in mine if not call.paths[0].startswith("data/")]
        if count is None:
            return mine
        kinds = {}
        for call in mine:
            kinds.setdefault(kind_of(call), []).append(call)
        rng = random.Random(f"{seed} {self.row.name} {fault}")
        drawn = rng.sample(sorted(kinds), min(count if self.seconds < SLOW else min(count, SLOW_POINTS), len(kinds)))
        return [rng.choice([kinds[kind][0], kinds[kind][-1], rng.choice(kinds[kind])]) for kind in drawn]

    def check_point(self, fault, call):
        out = self.new_folder(f"{fault}-{call.name}-{call.number}")
        log = out.with_suffix(".log")
        line = inject.strace(self.command(out), log, [call.name], [f"{call.name}:{FAULTS[fault][0]}:when={call.number}"])
        done = self.run(line, out)
        met = [one for one in inject.parse(log.read_text(), self.folders(out)) if one.number == call.number]
        require(met and kind_of(met[0]) == kind_of(call), f"instead of '{call}' the command made '{met and met[0]}'")
        if fault == "SIGKILL":
            require(done.code in inject.KILLED, f"exit code {done.code}")
        elif fault == "EINTR" or done.code == 0:
            require(done.code == 0 and (fault != "EINTR" or not done.said), f"exit code {done.code}: {done.said[-300:]}")
            found = self.outcome(out)
            require(self.is_equal(found), "exit code 0, but", difference(found, self.wanted))
            require(not leftovers(out) or fault != "EINTR", "left:", *leftovers(out))
        else:
            self.check_sentence(fault, done)
        self.check_again(out)
        log.unlink()
        shutil.rmtree(out)

    def check_sentence(self, fault, done):
        require(done.code in IO_CODES, f"exit code {done.code}: {done.said[-300:]}")
        last = done.said.strip().splitlines()[-1:]
        reason = os.strerror(getattr(errno, fault))
        require(last and last[0].startswith("error: ") and reason in last[0], f"exit code {done.code} without '{reason}': {done.said[-300:]}")

    def check_again(self, out):
        """The command given again, or --resume, ends as if nothing had happened; a command that has made all its files need not."""
        if not self.row.run and {**self.outcome(out), "stdout": b""} == {**self.wanted, "stdout": b""}:
            return
        done = self.run(self.row.again(self.data, out), out)
        require(done.code == 0, f"given again: exit code {done.code}: {done.said[-300:]}")
        require("damaged checkpoint" not in done.said, f"given again: {done.said[-300:]}")
        found = self.outcome(out)
        require(self.is_equal(found), "given again:", difference(found, self.wanted))
        require(not leftovers(out), "left:", *leftovers(out))

    def is_equal(self, found):
        if self.row.run:  # --resume prints its tables only where it still has something to do; a search prints times
            return {**found, "stdout": b""} == {**self.wanted, "stdout": b""}
        return found == self.wanted

    def check_kills(self, count, seed):
        """Kills at `count` random moments; after each one the command is given again, until it ends."""
        rng = random.Random(f"{seed} {self.row.name} kills")
        done = 0
        while done < count:
            out = self.new_folder(f"kills-{seed}-{done}")
            moments = []
            for _ in range(8):
                if done == count:
                    break
                command = self.row.again(self.data, out)
                if "--resume" in command:
                    command[-1] = str(rng.choice((1, 2, 4)))  # of --threads: the bytes are the same with any number
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd="/")
                moments.append(rng.uniform(0.1, 1.0) * self.seconds)
                time.sleep(moments[-1])
                process.kill()
                process.communicate()
                if process.returncode != -9:
                    require(process.returncode == 0, f"exit code {process.returncode} after kills at {moments} s")
                    break
                done += 1
            try:
                self.check_again(out)
            except Failure as failure:
                raise Failure(f"after kills {[round(moment, 3) for moment in moments]} s behind each start: {failure}") from None
            shutil.rmtree(out)
        return done
