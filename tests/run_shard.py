#!/usr/bin/env python3
"""Runs one shard of a GoogleTest program: every COUNT-th of its tests, in one process, which loads libtorch once.

    tests/run_shard.py PROGRAM SHARD COUNT [--long] [--timeout SECONDS]

SHARD counts from 1. Tests named LONG_… run with --long, the others without. The output of passing tests is dropped. A test
that ends the program or exceeds the timeout fails, and another process runs the remaining tests of the shard.
A skipped test fails unless allowed_skips.py allows the skip. The last lines name the failed tests. GoogleTest's variables
(GTEST_FILTER, GTEST_SHUFFLE …) work.
"""

import argparse
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time

import allowed_skips

EVENT = re.compile(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w/.]+)")
PLANNED = re.compile(r"\[=+\] Running (\d+) tests? from")
STATES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


class Shard:
    """The tests of one shard: state and output of each test that ran."""

    def __init__(self, program, number, count, timeout, long):
        self.program, self.number, self.count, self.timeout = program, number, count, timeout
        self.environment = {"GTEST_FILTER": "*.LONG_*" if long else "-*.LONG_*", **os.environ}
        self.name = pathlib.Path(program).name.removesuffix("_test")
        self.states, self.output = {}, {}
        self.planned = 0
        self.running, self.deadline = None, None
        self.outside = []  # lines printed between the tests
        self.end = ""  # how the last process ended, unless with exit status 0

    def run(self):
        self.run_process({"GTEST_TOTAL_SHARDS": str(self.count), "GTEST_SHARD_INDEX": str(self.number - 1)})
        planned = self.planned
        while self.running:
            self.states[self.running] = self.end or "ended the program with exit status 0"
            self.running, self.end = None, ""
            left = [test for test in self.tests() if test not in self.states]
            if left:
                self.run_process({"GTEST_FILTER": ":".join(left)})
        self.planned = planned

    def run_process(self, variables):
        child = subprocess.Popen([self.program, "--gtest_color=no"], env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        if not self.follow(child.stdout):
            child.kill()
        code = child.wait()
        if code == -signal.SIGKILL and time.monotonic() >= self.deadline:
            self.end = f"ran longer than {self.timeout:g} s"
        elif code:
            self.end = "ended the program with " + (f"exit status {code}" if code > 0 else f"signal {-code}")

    def follow(self, pipe):
        """Reads lines until the pipe is closed; False if a test takes too long."""
        self.deadline = time.monotonic() + self.timeout
        rest = b""
        while select.select([pipe], [], [], max(0, self.deadline - time.monotonic()))[0]:
            block = os.read(pipe.fileno(), 1 << 16)
            *lines, rest = (rest + block).split(b"\n") if block else (rest, b"")
            for line in lines:
                self.take(line.decode(errors="replace"))
            if not block:
                return True
        return False

    def take(self, line):
        event, planned = EVENT.search(line), PLANNED.match(line)
        if planned:
            self.planned = int(planned[1])
        if event and event[1] == "RUN":
            self.running = event[2]
            self.output[self.running] = []
            self.deadline = time.monotonic() + self.timeout
        elif event and event[2] == self.running:
            self.output[self.running].append(line[: event.start()])
            self.states[self.running] = STATES[event[1]]
            self.running = None
        else:
            (self.output[self.running] if self.running else self.outside).append(line)

    def tests(self):
        """The names of the shard's tests, distributed as GoogleTest does."""
        listed = subprocess.run([self.program, "--gtest_list_tests"], env=self.environment, capture_output=True, text=True, check=True).stdout
        names, suite = [], ""
        for line in listed.splitlines():
            name = line.split("#")[0].rstrip()
            if not name.startswith(" "):
                suite = name
            elif "DISABLED_" not in suite + name:
                names.append(suite + name.strip())
        return names[self.number - 1 :: self.count]

    def failures(self):
        """Test and reason of each failure; the test is None if the shard failed outside its tests."""
        found = [(test, state) for test, state in self.states.items() if state not in ("passed", "skipped")]
        if self.end and not found:
            found.append((None, self.end))
        if len(self.states) < self.planned:
            found.append((None, f"ran {len(self.states)} tests of {self.planned}"))
        if not self.states and "GTEST_FILTER" not in os.environ:
            found.append((None, "has no test"))
        for test in self.skipped():
            text = " ".join(line for line in self.output[test] if line and not line.endswith(": Skipped"))
            refusal = allowed_skips.refusal(f"{self.name}.{test}", text)
            if refusal:
                found.append((test, refusal))
        return found

    def skipped(self):
        return [test for test, state in self.states.items() if state == "skipped"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("shard", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--long", action="store_true", help="run the tests named LONG_… instead of the others")
    parser.add_argument("--timeout", type=float, default=600, help="seconds that one test may take (default 600)")
    options = parser.parse_args()
    shard = Shard(options.program, options.shard, options.count, options.timeout, options.long)
    shard.run()
    failures = shard.failures()
    for test, reason in failures:
        print(f"---- {test or 'outside of the tests'}: {reason}", *(shard.output[test] if test else shard.outside), sep="\n")
    for test in shard.skipped():
        print(f"SKIPPED {shard.name}.{test}")
    passed = list(shard.states.values()).count("passed")
    print(f"{shard.name}, shard {shard.number} of {shard.count}: {passed} tests passed, {len(shard.skipped())} skipped, {len(failures)} failures")
    for test, reason in failures:
        place = f"{shard.name}.{test}" if test else f"{shard.name}, shard {shard.number} of {shard.count},"
        print(f"FAILED {place} {reason}" + (f"; alone: {shard.program} --gtest_filter={test}" if test else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
