"""`python -m modewise sweep FILE --launcher ray`: each run of a sweep is a Ray task, scheduled on a node with free cores.

A task runs the program on one run: `modewise sweep FILE … --only RUN`. The runs are in the sweep's folder, which all nodes
must share; the claims there keep other sweeps from training the same runs.
"""

import argparse
import importlib
import json
import logging
import os
import signal
import subprocess
import sys
from typing import Any

PROGRAM = [sys.executable, "-m", "modewise"]


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options of the launcher, and the arguments of every task."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--launcher")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--threads", type=int, default=1)
    for flag in ("--dry-run", "--table", "--json", "-h", "--help"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--format")
    return parser.parse_known_args(arguments)


def wanted(arguments: list[str]) -> bool:
    """Whether these are the arguments of a sweep on Ray; listings and tables are left to the program."""
    if arguments[:1] not in (["sweep"], ["reproduce"]):
        return False
    try:
        options, _ = parse(arguments)
    except argparse.ArgumentError:
        return False
    return options.launcher == "ray" and not (options.dry_run or options.table or options.h or options.help)


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def task_of(ray: Any, threads: int) -> Any:
    """A Ray task: runs a command in a folder -> its exit code and its last line of output. Ray restarts it if a signal ended
    the command or its worker. A cancelled task makes the command save and exit.
    """

    def train_one(command: list[str], folder: str) -> tuple[int, str]:  # pickled by value: workers need not import modewise
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                _, printed = process.communicate()
            except BaseException:
                process.terminate()
                raise
        if process.returncode < 0:
            raise ChildProcessError(f"ended by signal {-process.returncode}")
        return process.returncode, (["no output", *printed.strip().splitlines()])[-1]

    return ray.remote(num_cpus=threads, max_retries=3, retry_exceptions=[ChildProcessError])(train_one)


def run_tasks(ray: Any, commands: dict[str, list[str]], threads: int, jobs: int, signals: list[int]) -> dict[str, str]:
    """Runs each command, `jobs` at a time, until `signals` is not empty -> the failures by name."""
    task = task_of(ray, threads)
    waiting = list(commands)
    failures: dict[str, str] = {}
    running: dict[Any, str] = {}
    while (waiting or running) and not signals:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            running[task.remote(commands[name], os.getcwd())] = name
        for reference in ray.wait(list(running), num_returns=1, timeout=0.5)[0]:
            name = running.pop(reference)
            try:
                code, line = ray.get(reference)
            except (ray.exceptions.RayError, ChildProcessError) as error:
                code, line = 1, str(error).strip().splitlines()[-1]
            if code != 0:
                failures[name] = line
            done = f"({len(commands) - len(waiting) - len(running)} of {len(commands)})"
            say(f"failed {name} {done}: {line}" if code != 0 else f"finished {name} {done}")
    if running:
        say(f"signal {signals[0]}: waiting for the started runs to save")
        for reference in running:
            ray.cancel(reference)
        ray.wait(list(running), num_returns=len(running), timeout=60)
    return failures


def main(arguments: list[str]) -> int:
    """Runs the sweep -> its exit code: the program's, or 69 if Ray is missing or cannot be reached."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        say("error: --launcher ray needs Ray: pip install ray")
        return 69
    options, same = parse(arguments)
    table = [*PROGRAM, *same, "--table"]
    shared = ["--threads", str(options.threads)] + ([] if options.jobs is None else ["--jobs", str(options.jobs)])
    found = subprocess.run([*table, *shared, "--json"], stdout=subprocess.PIPE, text=True)
    if found.returncode != 0:
        return found.returncode
    names = [run["name"] for run in json.loads(found.stdout)["runs"] if run["state"] == "waiting"]
    only = [*PROGRAM, *same, "--jobs", "1", "--threads", str(options.threads), "--only"]
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "MODEWISE_BUILD") if name in os.environ}
    stopping = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    try:
        ray.init(log_to_driver=False, logging_level=logging.WARNING, runtime_env={"env_vars": kept})
    except (ConnectionError, RuntimeError) as error:
        say(f"error: Ray cannot be reached: {str(error).splitlines()[0]}")
        return 69
    signals: list[int] = []
    for number in stopping:  # replaces Ray's handlers, which end the process
        signal.signal(number, lambda received, _: signals.append(received))
    say(f"{len(names)} runs to train, on {ray.cluster_resources().get('CPU', 0):.0f} cores of Ray, {options.threads} each")
    commands = {name: [*only, name] for name in names}
    failures = run_tasks(ray, commands, options.threads, options.jobs or len(names), signals)
    ray.shutdown()
    if signals:
        return 128 + signals[0]
    shown = subprocess.run([*table, *(["--json"] if options.json else []), *(["--format", options.format] if options.format else [])])
    if failures:
        say(f"error: {len(failures)} of {len(names)} runs failed; run the same command to retry them")
        return 1
    return shown.returncode
