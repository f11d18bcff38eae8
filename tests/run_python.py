#!/usr/bin/env python3
"""Runs the Python tests in several pytest processes at once.

    tests/run_python.py [--processes N] [--long] [PYTEST ARGUMENTS]

A process takes a whole file at a time, the next one that no other has taken (tests/python/file_claims.py), so that what a file
prepares is prepared once. Lines come as they are written, with the number of their process before them; at the end stands the
summary of each. The exit status is that of the first process that failed. Tests marked `long` run with --long alone.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent


class Process:
    """One pytest; keeps its lines and passes them on."""

    def __init__(self, number, claims, arguments):
        environment = {**os.environ, "MODEWISE_TEST_CLAIMS": claims, "PYTHONUNBUFFERED": "1"}
        self.number, self.lines = number, []
        self.child = subprocess.Popen([sys.executable, "-m", "pytest", *arguments], env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, errors="replace")
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.child.stdout:
            self.lines.append(line)
            sys.stdout.write(f"[{self.number}] {line}")
            sys.stdout.flush()

    def finish(self):
        self.reader.join()
        return self.child.wait()

    def summary(self):
        """From pytest's list of failures on, or the last line alone."""
        heads = [i for i, line in enumerate(self.lines) if "short test summary info" in line]
        return "".join(self.lines[heads[-1] if heads else -1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=min(os.cpu_count(), 4))
    parser.add_argument("--long", action="store_true", help="run the tests marked long, too")
    options, arguments = parser.parse_known_args()
    arguments = arguments or [str(HERE / "python"), "-q", "-p", "no:cacheprovider"]
    if options.long:
        arguments += ["-m", ""]  # no choice by marks, in place of pyproject.toml's
    if options.processes < 2:
        return subprocess.run([sys.executable, "-m", "pytest", *arguments]).returncode
    with tempfile.TemporaryDirectory() as claims:
        running = [Process(i + 1, claims, arguments) for i in range(options.processes)]
        codes = [process.finish() for process in running]
    for process in running:
        print(f"\nPython tests, process {process.number} of {options.processes}:\n{process.summary()}", end="")
    return next((code for code in codes if code != 0), 0)


if __name__ == "__main__":
    sys.exit(main())
