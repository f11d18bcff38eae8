#!/usr/bin/env python3
"""Runs the fuzz targets (libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer) and prints a table.

    tests/fuzz/run_fuzz.py [TARGET...] [--minutes M | --executions N] [--jobs N]

A target starts from its corpus (tests/fuzz/corpus) and from the inputs that earlier runs found (build-fuzz/inputs), which are
minimised after each run. An input that crashes, hangs or takes too much memory is a finding: it is stored in build-fuzz/findings,
and the line that repeats it is printed. One that hung and does not when it is run again is none, but ends the run of its target. Exit status 1 if there is a finding.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIMITS = ["-rss_limit_mb=512", "-malloc_limit_mb=256", "-timeout=5"]  # of one input
SCHEDULE = ["-entropic=0"]  # the entropic schedule takes a third of the time: it looks up every branch of an execution in a list
COLUMNS = ("target", "seeds", "executions", "per second", "branches", "new inputs", "findings")


@dataclasses.dataclass
class Result:
    target: str
    seeds: int
    executions: int
    seconds: float
    branches: int
    inputs: int
    findings: list

    def row(self):
        rate = self.executions / self.seconds if self.seconds else 0
        return (self.target, self.seeds, f"{self.executions:,}", f"{rate:,.0f}", self.branches, self.inputs, len(self.findings))


def targets(build):
    return sorted(path.name.removesuffix("_fuzz") for path in (build / "bin").glob("*_fuzz"))


def count_files(folder):
    return sum(1 for path in folder.iterdir() if path.is_file())


def read_log(text):
    """Executions, seconds and covered branches from the log of libFuzzer."""
    done = re.search(r"Done (\d+) runs in (\d+) second", text)
    last = re.findall(r"^#(\d+)", text, re.M)
    executions = int(done[1]) if done else int(last[-1]) if last else 0
    covered = re.findall(r"\bcov: (\d+)", text)
    return executions, float(done[2]) if done else 0.0, int(covered[-1]) if covered else 0


def fuzz(build, target, corpus, amount):
    """One target; a finding ends its run. The folder of its inputs is replaced by a smaller one with the same branches."""
    found, findings = build / "inputs" / target, build / "findings" / target
    found.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    seeds = count_files(corpus)
    program = build / "bin" / f"{target}_fuzz"
    known = {path: path.stat().st_mtime_ns for path in findings.iterdir()}  # a finding that is made again is written again
    log = subprocess.run([program, *LIMITS, *SCHEDULE, *amount, f"-artifact_prefix={findings}/", found, corpus],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    (build / "findings" / f"{target}.log").write_text(log.stdout)
    new = sorted(path for path in findings.iterdir() if path.stat().st_mtime_ns != known.get(path))
    if log.returncode != 0 and not new:
        raise SystemExit(f"run_fuzz: {target} ended with exit status {log.returncode}: {build / 'findings' / target}.log")
    new = [path for path in new if not ends_in_time(program, path)]
    if not new:
        minimise(program, found, corpus)
    executions, seconds, branches = read_log(log.stdout)
    return Result(target, seeds, executions, seconds, branches, count_files(found), new)


def ends_in_time(program, path):
    """Whether an input that took too long does not do so again, alone, as after a run on a busy machine; it is removed."""
    if not path.name.startswith("timeout-"):
        return False
    if subprocess.run([program, *LIMITS, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        return False
    print(f"{program.name}: stopped early; {path.name} takes less time when it is run again, the machine was busy", file=sys.stderr, flush=True)
    path.unlink()
    return True


def minimise(program, found, corpus):
    """Keeps the inputs in `found` that reach what neither the corpus nor another input reaches."""
    with tempfile.TemporaryDirectory() as folder:
        smaller = pathlib.Path(folder)
        for path in corpus.iterdir():
            os.symlink(path, smaller / path.name)
        done = subprocess.run([program, *LIMITS, "-merge=1", smaller, found], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        kept = {path.name for path in smaller.iterdir() if not path.is_symlink()}
    if done.returncode == 0:
        for path in list(found.iterdir()):
            if path.name not in kept:
                path.unlink()


def print_table(results):
    rows = [COLUMNS, *(tuple(map(str, result.row())) for result in results)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    for row in rows:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*", help="names of readers, as in csv or npz (default: all)")
    parser.add_argument("--minutes", type=float, help="minutes of each target (default 1)")
    parser.add_argument("--executions", type=int, help="executions of each target, instead of minutes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at once (default: cores)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-fuzz", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", type=pathlib.Path, default=HERE / "corpus", help=argparse.SUPPRESS)
    options = parser.parse_args()
    there = targets(options.build)
    if unknown := sorted(set(options.target) - set(there)):
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(there) or 'none'}")
    if options.minutes is not None and options.executions is not None:
        parser.error("--minutes or --executions, not both")
    minutes = 1 if options.minutes is None else options.minutes
    amount = [f"-runs={options.executions}"] if options.executions else [f"-max_total_time={max(1, round(60 * minutes))}"]
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [pool.submit(fuzz, options.build, target, options.corpus / target, amount) for target in options.target or there]
        for one in concurrent.futures.as_completed(running):
            result = one.result()
            print(f"{result.target}: {result.executions:,} executions, {len(result.findings)} findings", file=sys.stderr, flush=True)
            results.append(result)
    results.sort(key=lambda result: result.target)
    print_table(results)
    print(f"{len(results)} targets, {sum(result.executions for result in results):,} executions")
    for result in results:
        for path in result.findings:
            print(f"repeat: {options.build / 'bin' / (result.target + '_fuzz')} {path}")
    return 1 if any(result.findings for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
