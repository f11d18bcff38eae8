#!/usr/bin/env python3
"""Runs the Python tests in several pytest processes at once.

    tests/run_python.py [--processes N] [--long] [PYTEST ARGUMENTS]

A process takes whole files, the next one that no other process has claimed (tests/python/file_claims.py), so that the fixtures
of a file are built once. Lines are printed at once, prefixed by the number of their process; the summaries follow at the end.
The exit status is that of the first failed process. Tests marked `long` run with --long only.
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
    """One pytest process; stores and prints its lines."""

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
        """pytest's list of failures and seconds of files (file_times.py), and its last line."""
        heads = [i for i, line in enumerate(self.lines) if "short test summary info" in line or line.startswith("seconds: ")]
        return "".join(self.lines[heads[0] if heads else -1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=min(os.cpu_count(), 4))
    parser.add_argument("--long", action="store_true", help="run the tests marked long, too")
    options, arguments = parser.parse_known_args()
    arguments = arguments or [str(HERE / "python"), "-q", "-p", "no:cacheprovider"]
    if options.long:
        arguments += ["-m", ""]  # no selection by marks, overrides pyproject.toml
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
