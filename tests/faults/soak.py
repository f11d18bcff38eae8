#!/usr/bin/env python3
"""Commands side by side in one folder for hours, with random signals and a disk that fills up.

    ./dev soak [--minutes M] [--jobs N] [--seed S] [--rows ROW,ROW] [--folder FOLDER]

Workers run rows of tests/faults/commands.py: trainings, searches, sweeps, predictions, reports. SIGKILL, SIGTERM and SIGINT end some of
them at random moments; some are started twice at once on the same folder. As root they work on a small file system in memory, which is
filled up now and then. A command that was disturbed is given again until it ends: its files must have the bytes of an undisturbed run,
no temporary file may be left, and no process may outlive the command that started it by more than 20 seconds. An exit code must be that
of its signal, or come with a sentence that gives the disk, or the other process, as the reason. The peak memory of the second half of
the time must not exceed that of the first half by more than 10 % and 16 MiB, row by row.

Prints a Markdown table; the exit code is 1 after a failure.
"""

import argparse
import collections
import contextlib
import copy
import errno
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from faults import commands
from faults.bench import ENVIRONMENT, IO_CODES, Done, Failure, difference, require
from faults.commands import leftovers
from faults.run_faults import Session

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MARK = "MODEWISE_SOAK"  # in the environment of all processes of a command
FULL_DISK = (os.strerror(errno.ENOSPC), "a read or write failed, and its log is empty")
OTHER_PROCESS = ("another process is training in", "was taken over by another process")
PATIENCE = 20  # seconds until all processes of a command have ended
REPEATS = 12  # disturbed starts of a command; the next one is left alone


class Disk:
    """The folder in which the commands run: a file system in memory of a size, where that can be mounted, otherwise a plain folder."""

    def __init__(self, folder, megabytes):
        self.folder = folder
        self.times = []  # [begin, end] of each time it was full; the end of the present one is in the future
        folder.mkdir(parents=True)
        options = f"size={megabytes}m"
        self.mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True).returncode == 0

    def fill_up(self, rng):
        """Leaves up to 300 KB free, for up to 3 seconds."""
        filler = self.folder / "filler"
        self.times.append([time.monotonic(), float("inf")])
        try:
            with filler.open("wb", buffering=0) as file:
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(1 << 20))
                file.truncate(max(file.tell() - rng.randrange(300_000), 0))
            time.sleep(rng.uniform(0.3, 3))
        finally:
            filler.unlink(missing_ok=True)
            self.times[-1][1] = time.monotonic()

    def was_full(self, since):
        return any(end >= since for _, end in self.times)

    def unmount(self):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=False)


class Soak:
    def __init__(self, session, disk, options):
        self.session, self.disk, self.options = session, disk, options
        self.began = time.monotonic()
        self.lock = threading.Lock()
        self.counts = {row.name: collections.Counter() for row in options.rows}
        self.memory = {row.name: [] for row in options.rows}  # (seconds since the start, MiB) of the commands that ended by themselves
        self.failures = []

    def seconds(self):
        return time.monotonic() - self.began

    def is_over(self):
        return self.seconds() > 60 * self.options.minutes

    def count(self, row, *what):
        with self.lock:
            self.counts[row.name].update(what)

    def start(self, command, out, mark):
        stdout = open(os.devnull, "wb") if out is None else (out / "stdout").open("wb")
        with stdout:
            return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, env={**ENVIRONMENT, MARK: mark}, cwd="/")

    def wait(self, process, row, sent=None):
        """Done, with the peak memory counted; `sent` (after seconds, signal) is sent to the process."""
        said = []
        reader = threading.Thread(target=lambda: said.append(process.stderr.read()))
        reader.start()
        timer = threading.Timer(sent[0], process.send_signal, [sent[1]]) if sent else None
        if timer:
            timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if timer:
            timer.cancel()
        reader.join(PATIENCE)
        process.stderr.close()
        if process.returncode == 0:
            with self.lock:
                self.memory[row.name].append((self.seconds(), usage.ru_maxrss / 1024))
        return Done(process.returncode, b"".join(said).decode(errors="replace"))

    def check_end(self, row, done, sent, since, twice):
        """How the command, started at the time `since`, ended; a Failure if it should have ended well."""
        if done.code == 0:
            return "well"
        if sent and done.code in (-sent[1], 128 + sent[1]):
            return "signals"
        last = (done.said.strip().splitlines() or [""])[-1]
        # A sweep ends with 1 and names the runs that failed, with their reasons.
        reason = done.said if row.name == "sweep" and done.code == 1 else last if done.code in IO_CODES else ""
        disk = any(text in reason for text in FULL_DISK) and self.disk.was_full(since)
        other = twice and any(text in last for text in OTHER_PROCESS)
        require(disk or other, f"exit code {done.code}: {last[-300:]}")
        return "full disk" if disk else "other process"

    def require_no_process(self, mark):
        deadline = time.monotonic() + PATIENCE
        while found := [pid for pid in os.listdir("/proc") if pid.isdigit() and has_mark(pid, mark)]:
            require(time.monotonic() < deadline, f"processes {', '.join(found)} outlive their command")
            time.sleep(0.2)

    @staticmethod
    def has_outcome(bench, out):
        return {**bench.outcome(out), "stdout": b""} == {**bench.wanted, "stdout": b""}

    def one(self, bench, rng, name):
        row, mark, out = bench.row, uuid.uuid4().hex, None
        while out is None:
            try:
                out = bench.new_folder(name)
            except (OSError, shutil.Error):  # a full disk
                time.sleep(0.5)
        for repeat in range(REPEATS + 1):
            calm = repeat == REPEATS or rng.random() < 0.3
            since = time.monotonic()
            command = row.again(bench.data, out)
            try:
                process = self.start(command, None if row.name == "sweep" else out, mark)
            except OSError:
                continue
            second = None
            if row.run and not calm and rng.random() < 0.2:
                second = self.start(row.again(bench.data, out), None, mark)
            sent = None if calm else (rng.uniform(0.05, 3) * bench.seconds, rng.choice(SIGNALS))
            done = self.wait(process, row, sent)
            ends = [self.check_end(row, done, sent, since, second is not None)]
            if second is not None:
                ends.append(self.check_end(row, self.wait(second, row), None, since, True))
            self.require_no_process(mark)
            self.count(row, "starts", *(["twice"] if second else []), *(end for end in ends if end != "well"))
            # One of two may have begun the run again that the other one ended.
            if set(ends) <= {"well", "other process"} and "well" in ends:
                break
            if not row.run and self.has_outcome(bench, out):  # such as a model, which is not written twice
                break
        else:
            raise Failure(f"does not end after {REPEATS + 1} starts")
        require(self.has_outcome(bench, out), "other bytes:", difference(bench.outcome(out), bench.wanted))
        require(not leftovers(out), "left:", *leftovers(out))
        shutil.rmtree(out)
        self.count(row, "commands")

    def work(self, worker):
        rng = random.Random(f"{self.options.seed} {worker}")
        number = 0
        while not self.is_over():
            row = rng.choice(self.options.rows)
            with self.lock:
                bench = copy.copy(self.session.bench(row))
            bench.folder = self.disk.folder
            number += 1
            name = f"{row.name}-{worker}-{number}"
            try:
                self.one(bench, rng, name)
            except (Failure, OSError, ValueError, shutil.Error) as failure:
                with self.lock:
                    self.failures.append(f"{name}: {failure}")
                print(f"{name}: {failure}", file=sys.stderr, flush=True)
                with contextlib.suppress(OSError):
                    shutil.move(self.disk.folder / name, self.options.folder / "failed" / name)

    def fill_now_and_then(self):
        rng = random.Random(f"{self.options.seed} disk")
        while not self.is_over():
            time.sleep(min(rng.uniform(10, 40), 60 * self.options.minutes))
            if self.disk.mounted and not self.is_over():
                self.disk.fill_up(rng)

    def run(self):
        threads = [threading.Thread(target=self.work, args=(worker,)) for worker in range(self.options.jobs)]
        threads.append(threading.Thread(target=self.fill_now_and_then))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.check_memory()

    def check_memory(self):
        half = self.seconds() / 2
        for name, found in self.memory.items():
            first, second = [mib for at, mib in found if at < half], [mib for at, mib in found if at >= half]
            if first and second and max(second) > 1.1 * max(first) + 16:
                self.failures.append(f"{name}: peak memory grew from {max(first):.0f} to {max(second):.0f} MiB")

    def table(self):
        kinds = ("commands", "starts", "signals", "twice", "full disk", "other process")
        lines = ["| Command | " + " | ".join(kinds) + " | peak, first half, MiB | second half |", "|---|" + "---|" * (len(kinds) + 2)]
        half = self.seconds() / 2
        for name, counts in self.counts.items():
            peaks = [max((mib for at, mib in self.memory[name] if (at >= half) == later), default=float("nan")) for later in (False, True)]
            lines.append(f"| {name} | " + " | ".join(str(counts[kind]) for kind in kinds) + f" | {peaks[0]:.0f} | {peaks[1]:.0f} |")
        disk = f"the disk was full {len(self.disk.times)} times" if self.disk.mounted else "the disk was never full: only root can mount one"
        total = sum(counts["starts"] for counts in self.counts.values())
        return "\n".join([*lines, "", f"{total:,} starts, {len(self.failures)} failures, {self.seconds() / 60:.0f} minutes with "
                                      f"{self.options.jobs} workers, seed {self.options.seed}; {disk}"])  # fmt: skip


def has_mark(pid, mark):
    try:
        environment = pathlib.Path("/proc", pid, "environ").read_bytes()
        return f"{MARK}={mark}".encode() in environment.split(b"\0")
    except OSError:
        return False


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120, help="how long (120)")
    parser.add_argument("--jobs", type=int, default=3, help="commands at once (3)")
    parser.add_argument("--megabytes", type=int, default=192, help="size of the file system in memory (192)")
    parser.add_argument("--rows", help="only these rows, with commas between (all commands of the program)")
    parser.add_argument("--seed", type=int, default=1, help="draws commands, signals and moments (1)")
    parser.add_argument("--folder", type=pathlib.Path, help="work there, and keep what failures left")
    options = parser.parse_args(arguments)
    names = options.rows.split(",") if options.rows else [row.name for row in commands.ROWS if not row.script]
    options.rows = [row for row in commands.ROWS if row.name in names]
    if len(options.rows) != len(names):
        parser.error(f"the rows are {', '.join(row.name for row in commands.ROWS if not row.script)}")
    return options


def main(arguments=None):
    options = options_of(arguments)
    keep = options.folder is not None
    options.folder = (options.folder or pathlib.Path(tempfile.mkdtemp(prefix="soak-"))).resolve()
    (options.folder / "failed").mkdir(parents=True)
    session = Session(options.folder, options.seed, options.jobs)
    for row in options.rows:
        session.bench(row)  # undisturbed, before anything else runs
    disk = Disk(options.folder / "disk", options.megabytes)
    try:
        soak = Soak(session, disk, options)
        soak.run()
    finally:
        disk.unmount()
        if not keep:
            shutil.rmtree(options.folder, ignore_errors=True)
    print(soak.table())
    for failure in soak.failures:
        print(f"\n{failure}")
    return 1 if soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())
