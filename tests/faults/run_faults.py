#!/usr/bin/env python3
"""Disturbs commands of the program and of the Python package, and checks that no fault is wrong in silence.

    ./dev faults [--task TASK] [--long] [--points N] [--cuts N] [--kills N] [--seed S] [--only ROW/FAULT/POINT] [--rows ROW,ROW]

Each row of tests/faults/commands.py runs on small made inputs. SIGKILL, ENOSPC, EIO and EINTR are put at its system calls on files
(strace), SHORT makes every read and write end early, MEMORY makes an allocation fail, POWER loses what was not synced, KILLS kills
at random moments. Afterwards the command is given again (a training: --resume); its outputs must have the bytes of an undisturbed
run, and no temporary file may be left. Prints a Markdown table, points tried and failures of each row and fault, and a line that repeats each failure. The exit
code is 1 after a failure.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from faults import commands, power_loss
from faults.calls import SHORT, allocation_points, check_allocation, check_short_calls, compile_library
from faults.bench import FAULTS, Bench, Failure

KINDS = (*FAULTS, *SHORT, "MEMORY", "POWER", "KILLS")


class Session:
    """Benches of the rows, made when they are first needed, and the results."""

    def __init__(self, folder, seed, jobs):
        self.folder, self.seed, self.jobs = folder, seed, jobs
        self.data = folder / "data"
        commands.make_inputs(self.data)
        self.benches, self.starts, self.recordings = {}, {}, {}
        self.libraries = {name: compile_library(name, folder) for name in ("short_calls.c", "failing_memory.cpp")}
        self.tried, self.failures = collections.Counter(), []

    def bench(self, row):
        if row.name not in self.benches:
            if row.start == "search" and "search" not in self.starts:
                self.starts["search"] = self.folder / "search"
                commands.begin_search(self.data, self.starts["search"])
            elif row.start and row.start not in self.starts:
                self.starts[row.start] = self.bench(row_named(row.start)).reference
            self.benches[row.name] = Bench(row, self.data, self.starts, self.folder / row.name)
        return self.benches[row.name]

    def recording(self, row):
        if row.name not in self.recordings:
            self.recordings[row.name] = power_loss.record(self.bench(row))
        return self.recordings[row.name]

    def points(self, row, kind, options):
        """(name, check) of the points of a kind of fault at a row."""
        bench = self.bench(row)
        if kind == "KILLS":
            count = kills_of(row, options)
            return [(str(i), lambda i=i: bench.check_kills(min(8, count - i), self.seed + i)) for i in range(0, count, 8)]
        if row.script:
            return []
        if kind in FAULTS:
            return [(f"{call.name}:{call.number}", lambda call=call: bench.check_point(kind, call))
                    for call in bench.points(kind, options.points, self.seed)]  # fmt: skip
        if kind in SHORT:
            return [("1", lambda: check_short_calls(bench, kind, self.libraries["short_calls.c"]))]
        if kind == "MEMORY":
            library = self.libraries["failing_memory.cpp"]
            numbers = [int(options.only[2])] if options.only else allocation_points(bench, library, options.allocations, self.seed)
            return [(str(number), lambda number=number: check_allocation(bench, library, number)) for number in numbers]
        return power_loss.points(bench, self.recording(row), options.cuts, self.seed, options.only and options.only[2])

    def run(self, row, kinds, options):
        try:
            points = [(kind, *point) for kind in kinds for point in self.points(row, kind, options)]
        except Failure as failure:
            self.failures.append((row.name, kinds[0], "undisturbed", str(failure)))
            return
        if options.only:
            points = [one for one in points if one[1] == options.only[2]]
            if not points:
                sys.exit(f"run_faults: {row.name} has no point {'/'.join(options.only)}: faults at its calls have the names CALL:NUMBER")
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for (kind, name, _), failed in zip(points, pool.map(lambda point: failure_of(point[2]), points)):
                self.tried[row.name, kind] += min(8, kills_of(row, options) - int(name)) if kind == "KILLS" else 1
                if failed:
                    self.failures.append((row.name, kind, name, failed))
                    print(f"{row.name}/{kind}/{name}: {failed}", file=sys.stderr, flush=True)


def kills_of(row, options):
    return min(options.kills, 24) if row.script else options.kills  # Python takes seconds to start


def failure_of(check):
    try:
        check()
    except Failure as failure:
        return str(failure)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def row_named(name):
    return next(row for row in commands.ROWS if row.name == name)


def table(session, rows, kinds, minutes):
    failed = collections.Counter((row, kind) for row, kind, _, _ in session.failures)
    lines = ["| Command | " + " | ".join(kinds) + " |", "|---|" + "---|" * len(kinds)]
    for row in rows:
        cells = []
        for kind in kinds:
            tried, bad = session.tried[row.name, kind], failed[row.name, kind]
            cells.append(f"{tried}, {bad} failed" if bad else str(tried or ""))
        lines.append(f"| {row.name} | " + " | ".join(cells) + " |")
    total = sum(session.tried.values())
    return "\n".join([*lines, "", f"{total:,} points, {len(session.failures)} failures, {minutes:.1f} minutes with {session.jobs} jobs, seed {session.seed}"])


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="./dev faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", help="only the rows of this task: forecast, segment, language, …")
    parser.add_argument("--rows", help="only these rows, with commas between")
    parser.add_argument("--faults", help=f"only these faults, with commas between: {', '.join(KINDS)}")
    parser.add_argument("--long", action="store_true", help="a fault at each kind of call (name and file), 40 power losses, 100 allocations, 200 kills for each training")
    parser.add_argument("--points", type=int, help="calls for each row and fault (2; --long: one of each kind; commands of over 3 seconds: 40)")
    parser.add_argument("--cuts", type=int, help="power losses for each row (2; --long: 40)")
    parser.add_argument("--allocations", type=int, help="allocations that fail, for each row (4; --long: 100)")
    parser.add_argument("--kills", type=int, help="random kills for each training, search and sweep (1; --long: 200), at most 24 for each estimator")
    parser.add_argument("--seed", type=int, default=1, help="draws the points (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="points at once (number of cores)")
    parser.add_argument("--only", help="one point, ROW/FAULT/POINT, as a failure names it")
    parser.add_argument("--folder", type=pathlib.Path, help="work there, and keep what failures left")
    options = parser.parse_args(arguments)
    for name, short, long in (("points", 2, sys.maxsize), ("cuts", 2, 40), ("allocations", 4, 100), ("kills", 1, 200)):
        if getattr(options, name) is None:
            setattr(options, name, long if options.long or options.only else short)
    if options.only:
        options.points = None
    options.only = options.only.split("/") if options.only else None
    return options


def main(arguments=None):
    options = options_of(arguments)
    kinds = [kind for kind in KINDS if not options.faults or kind in options.faults.split(",")]
    rows = [row for row in commands.ROWS if (not options.task or row.task == options.task) and (not options.rows or row.name in options.rows.split(","))]
    if options.only:
        rows, kinds = [row_named(options.only[0])], [options.only[1]]
    if not rows:
        sys.exit(f"run_faults: there is no such row or task (rows: {', '.join(row.name for row in commands.ROWS)})")
    began = time.monotonic()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="faults-"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        session = Session(folder.resolve(), options.seed, options.jobs)
        for row in rows:
            session.run(row, [kind for kind in kinds if kind != "KILLS" or row.run or row.script], options)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(table(session, rows, kinds, (time.monotonic() - began) / 60))
    for row, kind, name, failed in session.failures:
        print(f'\n{failed}\n    ./dev faults --seed {options.seed} --only "{row}/{kind}/{name}"')
    return 1 if session.failures else 0


if __name__ == "__main__":
    sys.exit(main())
