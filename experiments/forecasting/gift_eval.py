#!/usr/bin/env python3
"""MASE and WQL on the ett1 and jena_weather configurations of GIFT-Eval, beside rows of its board.

    experiments/forecasting/gift_eval.py --program build/bin/modewise --data ../shared/data/forecasting --models auto --budget 90s
    experiments/forecasting/gift_eval.py --models none    # checks the seasonal naive row alone

ett1 is ETTm1.csv and its means over hours, days and weeks, jena_weather is weather.csv and its means over hours and days, all without an
incomplete last mean. The test windows are the last min(20, ⌈0.1·rows/horizon⌉) horizons, one after the other. A model is trained on the
rows before all of them, of which the last eighth selects weights and models, and forecasts each window from the rows before it. MASE is
the mean over series and windows, with the seasonal naive error within all rows before the window as scale; WQL is over the quantiles 0.1
to 0.9. The seasonal naive row, with normal quantiles by the standard deviation of its errors, must equal the board's; the table in
Markdown goes to stdout. Finished runs are not trained again.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess

import numpy as np
import pandas

LEVELS = np.arange(1, 10) / 10
SEASONS = {"15t": 96, "10t": 144, "h": 24, "d": 1, "w": 1}
TERMS = {"short": 48, "medium": 480, "long": 720}
HISTORY = 5000  # rows before a window that a forecast may read
# The board's seasonal naive row: MASE, WQL.
BOARD = {
    "ett1/15t/short": (0.9342, 0.2414),
    "ett1/15t/medium": (1.1883, 0.3216),
    "ett1/15t/long": (1.1909, 0.3402),
    "ett1/h/short": (0.9773, 0.2404),
    "ett1/h/medium": (1.5678, 0.4349),
    "ett1/h/long": (1.4787, 0.4711),
    "ett1/d/short": (1.7784, 0.4084),
    "ett1/w/short": (1.7689, 0.3118),
    "jena_weather/10t/short": (0.7429, 0.1552),
    "jena_weather/10t/medium": (0.7160, 0.2118),
    "jena_weather/10t/long": (0.7615, 0.2372),
    "jena_weather/h/short": (0.7229, 0.1542),
    "jena_weather/h/medium": (0.8886, 0.3428),
    "jena_weather/h/long": (1.2677, 0.4191),
    "jena_weather/d/short": (1.5734, 0.2106),
}
# Geometric means of the board's ratios to seasonal naive over these configurations; trained: on the data sets, the others are zero-shot.
PUBLISHED = {
    "Chronos-2": (0.782, 0.386),
    "Chronos-Bolt-small": (0.825, 0.437),
    "xLSTM-Mixer (trained)": (0.862, 0.405),
    "FLAIR": (0.905, 0.505),
    "iTransformer (trained)": (0.934, 0.469),
    "PatchTST (trained)": (0.988, 0.468),
    "DLinear (trained)": (1.194, 0.681),
}


def table_of(config, folder):
    """The values of a configuration, a row for each time."""
    name, step, _ = config.split("/")
    file = "ETTm1.csv" if name == "ett1" else "weather.csv"
    table = pandas.read_csv(folder / file, parse_dates=["date"], index_col="date", encoding="latin-1")
    rule = {"h": "h", "d": "D", "w": "W-THU"}.get(step)
    if rule is None:
        return table
    means, last = table.resample(rule).mean(), table.index[-1] + (table.index[1] - table.index[0])
    whole = means.index[-1] + pandas.tseries.frequencies.to_offset(rule) if step != "w" else means.index[-1] + pandas.Timedelta(days=1)
    return means if last >= whole else means[:-1]


def windows_of(config, rows):
    """Horizon and first rows of the test windows."""
    step, term = config.split("/")[1:]
    horizon = {"d": 30, "w": 8}.get(step, TERMS[term])
    count = min(20, math.ceil(0.1 * rows / horizon))
    return horizon, [rows - horizon * (count - i) for i in range(count)]


def naive_forecast(past, season, horizon):
    """Quantiles [9, H] of the seasonal naive forecast of one series."""
    errors = past[season:] - past[:-season]
    stddev = np.sqrt(np.nansum(errors**2) / len(errors)) * np.sqrt(np.arange(horizon) // season + 1)
    normal = [statistics.NormalDist().inv_cdf(level) for level in LEVELS]
    return np.resize(past[-season:], horizon) + np.outer(normal, stddev)


def scores(values, origins, horizon, season, forecasts):
    """(MASE, WQL) of quantiles [9, H, V] for each window."""
    errors, loss, size = [], 0.0, 0.0
    for origin, forecast in zip(origins, forecasts, strict=True):
        past, truth = values[:origin], values[origin : origin + horizon]
        scale = np.nanmean(np.abs(past[season:] - past[:-season]), axis=0)
        errors.append(np.nanmean(np.abs(truth - forecast[4]), axis=0)[scale > 0] / scale[scale > 0])
        gap, level = truth - forecast, LEVELS[:, None, None]
        loss += np.nansum(2 * np.maximum(level * gap, (level - 1) * gap)) / len(LEVELS)
        size += np.nansum(np.abs(truth))
    return float(np.mean(errors)), float(loss / size)


def model_forecasts(options, model, config, table, origins, horizon):
    """Quantiles [9, H, V] for each window of a model that is trained on the rows before the first."""
    stem = options.out / config.replace("/", "-")
    run = stem.with_name(f"{stem.name}-{model}")
    rows = ["--set", "data.dates=rows"] if config.startswith("jena_weather/10t") else []  # its clock jumps

    def call(*words, **more):
        return subprocess.run([str(word) for word in (options.program, *words)], check=True, **more).stdout

    if not (run / "metrics.json").exists():
        table[: origins[0]].to_csv(stem.with_suffix(".csv"))
        words = ["--model", model, "--horizon", horizon, "--no-test", "--out", run, "--overwrite", "--set", "data.panel=no"]
        words += ["--set", "data.split_ratios=[0.875,0.125,0]", "--set", "calibration.intervals=[0.2,0.4,0.6,0.8]"]
        words += ["--set", "calibration.select=pinball", *rows]  # the loss that WQL is a mean of
        words += ["--budget", options.budget] if model == "auto" else ["--set", "output.report=false"]
        call("train", "forecast", stem.with_suffix(".csv"), *words, *options.arguments)
    history, forecasts = stem.with_name(f"{stem.name}-history.csv"), []
    for origin in origins:
        table[max(0, origin - HISTORY) : origin].to_csv(history)
        found = json.loads(call("predict", run, "--data", history, "--json", "-q", capture_output=True))
        series = [{level: one["quantiles"][f"{level:g}"] for level in LEVELS if level != 0.5} | {0.5: one["forecast"]} for one in found["series"]]
        forecasts.append(np.array([[one[level] for one in series] for level in LEVELS], dtype=float).transpose(0, 2, 1))
    return forecasts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bin/modewise")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data/forecasting"), help="folder of ETTm1.csv and weather.csv")
    parser.add_argument("--models", nargs="+", default=["auto"])
    parser.add_argument("--budget", default="90s", help="time of each search, for --models auto")
    parser.add_argument("--only", nargs="+", default=list(BOARD), choices=list(BOARD), metavar="CONFIGURATION")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/gift-eval"))
    parser.add_argument("arguments", nargs="*", help="further arguments of train forecast, after --")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    models = [model for model in options.models if model != "none"]
    ratios = {model: [] for model in models}
    print("| configuration | windows | seasonal naive | board | " + "".join(f"{model} | " for model in models))
    print("|---|---|---|---|" + "---|" * len(models))
    for config in options.only:
        table = table_of(config, options.data)
        values, season = table.to_numpy(dtype=float), SEASONS[config.split("/")[1]]
        horizon, origins = windows_of(config, len(values))
        naive = scores(values, origins, horizon, season,
                       [np.stack([naive_forecast(values[:o, v], season, horizon) for v in range(values.shape[1])], axis=2) for o in origins])  # fmt: skip
        cells = [config, len(origins), *(f"{a:.4f} / {b:.4f}" for a, b in (naive, BOARD[config]))]
        for model in models:
            found = scores(values, origins, horizon, season, model_forecasts(options, model, config, table, origins, horizon))
            ratios[model].append((found[0] / BOARD[config][0], found[1] / BOARD[config][1]))
            cells.append(f"{found[0]:.4f} / {found[1]:.4f}")
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    if not models:
        return
    print("\n| geometric mean of ratios to seasonal naive | MASE | WQL |\n|---|---|---|")
    means = {f"{model} (trained on each table)": tuple(np.exp(np.mean(np.log(found), axis=0))) for model, found in ratios.items()}
    for row, (mase, wql) in (means | (PUBLISHED if len(options.only) == len(BOARD) else {})).items():
        print(f"| {row} | {mase:.3f} | {wql:.3f} |")


if __name__ == "__main__":
    main()
