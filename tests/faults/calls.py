"""Faults by a library that is loaded before the program's: reads and writes that end early, calls that a signal interrupts
(short_calls.c), and allocations that fail (failing_memory.cpp)."""

import pathlib
import random
import re
import shutil
import signal
import subprocess

from faults.commands import PROGRAM, leftovers
from faults.bench import difference, require

SHORT = {"SHORT": "short", "SIGNALS": "interrupted"}


def compile_library(source, folder):
    library = folder / f"{source}.so"
    compiler = ["cc"] if source.endswith(".c") else ["c++", "-std=c++20"]
    subprocess.run([*compiler, "-shared", "-fPIC", "-O2", "-o", library, pathlib.Path(__file__).with_name(source)], check=True)
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


# Allocations. A number is the same allocation each time if only one thread runs.

# Functions of libraries that allocate and must not throw: a failure there ends the process, as SIGKILL does.
NOEXCEPT = re.compile(r"torch::autograd::CppNode<.*>::(release_resources|~CppNode)|torch::autograd::Node::~Node|nlohmann::.*::json_value::destroy|"
                      r"std::filesystem::.*directory_iterator::")  # fmt: skip
# toml++ reads a number from a stream of the standard library, which makes an exception a failed read.
READ_BY_STREAM = re.compile(r"must be a number, got '[\d.e+-]+'$|Error while parsing floating-point: '[\d.e+-]+' could not be interpreted")


def called_functions(said):
    """Names of the functions in the calls that failing_memory.cpp prints."""
    names = []
    for file, symbol, offset in re.findall(r"^(/[^(\s]+)\(([^)+]*)\+(0x[0-9a-f]+)\)", said, re.MULTILINE):
        tool = ["c++filt", symbol] if symbol else ["addr2line", "-Cfe", file, offset]
        names.append(subprocess.run(tool, capture_output=True, text=True, check=True).stdout.split("\n")[0])
    return names


def allocations(library, file, run, failing=None):
    """What `run(environment)` returns, and how many allocations were made. Number `failing` of them fails."""
    file.write_bytes(bytes(8))
    fails = {} if failing is None else {"FAULTS_FAILS": str(failing)}
    done = run({"LD_PRELOAD": str(library), "FAULTS_ALLOCATIONS": str(file)} | fails)
    return done, int.from_bytes(file.read_bytes(), "little", signed=True)


def allocation_points(bench, library, count, seed):
    """Numbers of allocations of the row's command that come after those of loading the program: all, or `count` drawn by the seed."""
    out, file = bench.new_folder("allocations"), bench.folder / "allocations.count"
    loading = allocations(library, file, lambda environment: bench.run([str(PROGRAM), "--version"], out, environment))[1]
    done, last = allocations(library, file, lambda environment: bench.run(bench.command(out), out, environment))
    require(done.code == 0 and done.said == "", f"with counted allocations: exit code {done.code}: {done.said[-300:]}")
    require(loading < last, f"loading the program makes {loading} allocations, the command {last}")
    shutil.rmtree(out)
    numbers = range(loading + 1, last + 1)
    if count is None or count >= len(numbers):
        return list(numbers)
    return sorted(random.Random(f"{seed} {bench.row.name} memory").sample(numbers, count))


def check_allocation(bench, library, number):
    """The command says that it is out of memory, has the whole outcome, or ends in a function of NOEXCEPT; given again it ends as if
    nothing had happened."""
    out = bench.new_folder(f"memory-{number}")
    file = out.with_suffix(".count")
    done = allocations(library, file, lambda environment: bench.run(bench.command(out), out, environment), number)[0]
    if done.code == -signal.SIGABRT:
        names = called_functions(done.said)
        require(any(NOEXCEPT.search(name) for name in names), "an exception that nothing catches:", *(f"\n  {name}" for name in names))
    elif done.code == 0:
        require(not done.said, f"exit code 0, but: {done.said[-300:]}")
        require(bench.is_equal(bench.outcome(out)), "exit code 0, but", difference(bench.outcome(out), bench.wanted))
    else:
        last = (done.said.strip().splitlines() or [""])[-1]
        said_so = done.code == 1 and last.startswith("error: ") and "out of memory" in last
        require(said_so or READ_BY_STREAM.search(last), f"exit code {done.code}: {done.said[-300:]}")
    bench.check_again(out)
    file.unlink()
    shutil.rmtree(out)
