"""Benchmark of panels of many series: time and peak memory of `data show`, `train` and `predict`.

  python benchmarks/large_panel.py [--series 1000000] [--rows 20] [--models theta,repeat,seasonal] [--folder FOLDER]

Writes a long table unique_id, ds, y of daily random walks, and one of two series for the memory of the program itself.
Memory is the peak above that of `data show` on the small table; the bound is twice the file and 64 MiB for `data show`, four
times the file and 64 MiB for the others. $MODEWISE_BUILD: build folder of the program.
"""

import argparse
import pathlib
import shutil
import tempfile
import time

import numpy as np
from memory_by_format import MIB, bytes_of, peak

BLOCK = 10_000  # series that are written at once


def make(path, series, rows):
    days = np.datetime_as_string(np.datetime64("2020-01-01") + np.arange(rows))
    random = np.random.default_rng(0)
    with open(path, "w") as table:
        table.write("unique_id,ds,y\n")
        for first in range(0, series, BLOCK):
            values = 50 + random.normal(size=(min(BLOCK, series - first), rows)).cumsum(1)
            table.write("".join(f"series_{first + i:06d},{day},{value:.3f}\n"
                                for i, one in enumerate(values) for day, value in zip(days, one, strict=True)))  # fmt: skip
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=1_000_000, help="series of the table (default 1000000)")
    parser.add_argument("--rows", type=int, default=20, help="rows of a series (default 20)")
    parser.add_argument("--horizon", type=int, default=4, help="rows to forecast (default 4)")
    parser.add_argument("--models", default="theta,repeat,seasonal", help="names separated by commas (default theta,repeat,seasonal)")
    parser.add_argument("--folder", type=pathlib.Path, help="where the files are kept (default: a temporary folder, removed)")
    options = parser.parse_args()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="large_panel_"))
    folder.mkdir(parents=True, exist_ok=True)
    table, small = make(folder / "panel.csv", options.series, options.rows), make(folder / "small.csv", 2, options.rows)
    panel = ["--set", "data.panel=yes"]
    base = peak(["data", "show", small, *panel])[1]
    print(f"{options.series:,} series of {options.rows} rows, {bytes_of(table) / 1e6:.0f} MB; the program itself {base / MIB:.0f} MiB\n")
    print("| command | seconds | seconds on a core | peak, MiB | bound, MiB |\n|---|---|---|---|---|")
    failed = False

    def measure(name, factor, *arguments):
        nonlocal failed
        started = time.monotonic()
        code, memory, errors, processor = peak(arguments)
        if code != 0:
            raise SystemExit(f"{name}: exit code {code}: {errors}")
        used, bound = memory - base, factor * bytes_of(table) + 64 * MIB
        failed = failed or used > bound
        print(f"| {name} | {time.monotonic() - started:.0f} | {processor:.0f} | {used / MIB:.0f} | {bound / MIB:.0f} |", flush=True)

    measure("data show", 2, "data", "show", table, *panel)
    for model in options.models.split(","):
        run, out = folder / f"run-{model}", folder / f"{model}.csv"
        measure(f"train {model}", 4, "train", "forecast", table, "--horizon", options.horizon, "--model", model, "--out", run, "--overwrite",
                "--set", "output.report=false", *panel)  # fmt: skip
        measure(f"predict {model}", 4, "predict", run, "--out", out, "--overwrite")
        with open(out) as lines:
            written = sum(1 for _ in lines)
        assert written == 1 + options.series * options.horizon, f"{out}: {written} lines"
    if not options.folder:
        shutil.rmtree(folder)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
