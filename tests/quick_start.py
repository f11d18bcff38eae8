"""Runs the quick start of README.md as it is printed, with the `modewise` of this environment, and prints times.

    pip install torch==2.13.* build/wheel/modewise-*.whl && python tests/quick_start.py README.md

Needs only the installed wheel: the Python block must print what the page says, and the shell block must forecast a table that is
made here. tests/python/test_wheel.py runs it.
"""

import datetime
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time


def blocks(page):
    """The Python block, what it prints, and the shell block."""
    python, printed = re.search(r"^## Five lines of Python\n\n```python\n(.*?)```\n\n```\n(.*?)```", page, re.S | re.M).groups()
    return python, printed, re.search(r"^## Three lines of shell\n\n```sh\n(.*?)```", page, re.S | re.M)[1]


def run(what, command, folder):
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, env={**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"})
    print(f"{what}: {time.monotonic() - start:.1f} s", flush=True)
    if done.returncode:
        sys.exit(f"{what} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def main(page):
    python, wanted, shell = blocks(pathlib.Path(page).read_text())
    with tempfile.TemporaryDirectory() as folder:
        print(run("modewise --version", ["modewise", "--version"], folder).strip())
        printed = run("five lines of Python", [sys.executable, "-c", python], folder)
        printed = re.sub(r" +$", "", printed, flags=re.M)
        if printed != wanted:
            sys.exit(f"README says\n{wanted}\nand Python printed\n{printed}")
        start, step = datetime.datetime(2026, 1, 1), datetime.timedelta(hours=1)
        rows = [f"{start + hour * step},{50 + 10 * math.sin(hour * math.pi / 12) + hour % 7 / 7:.3f},{30 + hour % 5:.3f}" for hour in range(960)]
        (pathlib.Path(folder) / "your_file.csv").write_text("\n".join(["date,north,south", *rows]) + "\n")
        run("three lines of shell", ["bash", "-euo", "pipefail", "-c", shell], folder)
        forecast = (pathlib.Path(folder) / "forecast.csv").read_text().splitlines()
        if len(forecast) < 25 or not (pathlib.Path(folder) / "runs/your_file-hot/explain/explain.html").is_file():
            sys.exit(f"forecast.csv has {len(forecast)} lines, or there is no explain.html")
    print("the quick start prints what README says")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["README.md"])
