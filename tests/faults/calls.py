"""Reads and writes that end early, and calls that a signal interrupts: a library that is loaded before the program's (short_calls.c)."""

import pathlib
import shutil
import subprocess

from faults.commands import leftovers
from faults.bench import difference, require

SHORT = {"SHORT": "short", "SIGNALS": "interrupted"}


def compile_short_calls(folder):
    library = folder / "short_calls.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, pathlib.Path(__file__).with_name("short_calls.c")], check=True)
    return library


def check_short_calls(bench, kind, library):
    """The row's outcome does not change, and it says nothing."""
    out = bench.new_folder(kind)
    # The inputs and the outputs are in the folder above both.
    environment = {"LD_PRELOAD": str(library), "FAULTS_FOLDER": str(bench.data.parent), "FAULTS_CALLS": SHORT[kind]}
    done = bench.run(bench.command(out), out, environment)
    require(done.code == 0 and not done.said, f"exit code {done.code}: {done.said[-300:]}")
    found = bench.outcome(out)
    require(bench.is_equal(found), difference(found, bench.wanted))
    require(not leftovers(out), "left:", *leftovers(out))
    shutil.rmtree(out)
