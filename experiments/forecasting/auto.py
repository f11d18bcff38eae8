"""`modewise train forecast --model auto` on whole tables, and the test errors of its choice and of each candidate.

    python experiments/forecasting/auto.py unseen --out runs/auto [--budget 5m] [--only co2 sunspots]
    python experiments/forecasting/auto.py known --data ../shared/data --out runs/auto
    python experiments/forecasting/auto.py published --data ../shared/data --out runs/published --budget 30m [--only etth1-96 ...]

The choice is made with --no-test; the test rows are read afterwards, by the chosen run and by the best run of each candidate. Prints a
Markdown table with a row per data set, in the order of the list. Existing results are not computed again.

`known`: ETTh1, ETTm1, Weather, Exchange, Beijing air, ERA5 (recipes of this project were made on them), and simulated series of 30, 144 and 1,000 rows.
`unseen`: tables that pip packages hold, on which nothing was tried before the list was written down (2026-11-24): the files of
vega_datasets and co2 and sunspots of statsmodels; elnino and macrodata of statsmodels, whose dates are in separate columns, as tables
with a date. `pip install statsmodels vega_datasets pandas`.

`published`: ETTh1, ETTm1, Weather and Exchange with the papers' protocol: a lookback of 96, horizons 96, 192, 336 and 720, ETT's 12, 4 and 4
months; also prints the mean over the horizons and the lowest published one (all test windows; docs/results-higher-order-transformers.md has the sources).
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("MODEWISE_BUILD", ROOT / "build")) / "bin" / "modewise"
UNSEEN = ["seattle-temps", "sf-temps", "us-employment", "seattle-weather", "co2", "sunspots", "macrodata", "elnino"]
FILES = {
    "etth1": "forecasting/ETTh1.csv",
    "ettm1": "forecasting/ETTm1.csv",
    "weather": "forecasting/weather.csv",
    "exchange": "forecasting/exchange_rate.txt",
    "beijing-air": "order3/beijing-air",
    "era5": "order3/era5_t2m_uk_2019-03.npy",
}
MADE = {"made-30": 30, "made-144": 144, "made-1000": 1000}
HORIZONS = [96, 192, 336, 720]
PUBLISHED = {"etth1": (0.433, "CycleNet"), "ettm1": (0.377, "TQNet"), "weather": (0.239, "CARD"), "exchange": (0.318, "DUET")}
SETTINGS = {"weather": ["data.dates=rows"]}  # its clock jumps
SPLITS = {"etth1": "ett_hour", "ettm1": "ett_minute"}  # of the papers
LISTS = {
    "known": [*FILES, *MADE],
    "unseen": UNSEEN,
    "published": [f"{name}-{horizon}" for name in PUBLISHED for horizon in HORIZONS],
}


def write_unseen(name, path):
    import importlib.resources as resources

    import pandas

    if name in ("seattle-temps", "sf-temps", "us-employment", "seattle-weather"):
        path.write_bytes((resources.files("vega_datasets") / "_data" / f"{name}.csv").read_bytes())
        return
    source = resources.files("statsmodels.datasets") / name / f"{name}.csv"
    if name in ("co2", "sunspots"):
        path.write_bytes(source.read_bytes())
        return
    with source.open() as file:
        table = pandas.read_csv(file)
    if name == "macrodata":
        month = (3 * table["quarter"] - 2).astype(int).astype(str).str.zfill(2)
        table.insert(0, "date", table["year"].astype(int).astype(str) + "-" + month + "-01")
        table = table.drop(columns=["year", "quarter"])
    else:
        months = table.melt(id_vars="YEAR", var_name="month", value_name="temperature")
        number = months["month"].map({name: i + 1 for i, name in enumerate(table.columns[1:])})
        months.insert(0, "date", months["YEAR"].astype(int).astype(str) + "-" + number.astype(str).str.zfill(2) + "-01")
        table = months.sort_values("date")[["date", "temperature"]]
    table.to_csv(path, index=False)


def input_of(name, data, out):
    """Options for the table, which is written if it does not exist, and its settings."""
    table, _, horizon = name.rpartition("-")
    if table in PUBLISHED:
        settings = [f"data.split={SPLITS.get(table, 'auto')}", "forecast.lookback=96", f"forecast.horizon={horizon}", *SETTINGS.get(table, [])]
        return ["--data", data / FILES[table], *set_options(settings)]
    if name in FILES:
        return ["--data", data / FILES[name], *set_options(SETTINGS.get(name, []))]
    if name in MADE:
        return set_options(["data.simulate=seasonal", f"data.simulate_rows={MADE[name]}"])
    path = out / "tables" / f"{name}.csv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_unseen(name, path)
    return ["--data", path]


def set_options(settings):
    return [part for setting in settings for part in ("--set", setting)]


def test_errors(run):
    """MSE and MAE on the test rows, evaluated if they were not yet."""
    metrics = run / "metrics.json"
    if "test" not in json.loads(metrics.read_text()):
        subprocess.run([PROGRAM, "evaluate", run, "-q"], check=True, stdout=subprocess.DEVNULL)
    scaled = json.loads(metrics.read_text())["test"]["scaled"]
    return scaled["mse"], scaled["mae"]


def search(options, run, arguments):
    """Seconds until the first leaderboard, and in total."""
    begin, first = time.monotonic(), None
    command = [PROGRAM, "train", "forecast", *options, "--model", "auto", "--budget", arguments.budget, "--no-test", "--out", run]
    for option in ("jobs", "threads"):
        if getattr(arguments, option):
            command += [f"--{option}", str(getattr(arguments, option))]
    process = subprocess.Popen([*command, *set_options(arguments.set)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = []
    for line in process.stderr:
        said.append(line)
        if first is None and "so far, by" in line:
            first = time.monotonic() - begin
    if process.wait() != 0:
        raise SystemExit(f"{run}: {said[-1]}")
    return {"first_leaderboard": first, "seconds": time.monotonic() - begin}


def figures_of(name, options, run, arguments):
    times = run / "times.json"
    if not times.exists():
        times.write_text(json.dumps(search(options, run, arguments)))
    members = {}  # each candidate's best run comes first
    for row in json.loads((run / "auto" / "leaderboard.json").read_text()):
        if row["/best/val_mse"] is not None and row["name"] not in members:
            members[row["name"]] = run / row["run"]
    chosen = next(iter(members))
    data = json.loads((run / "data.json").read_text())
    errors = {member: test_errors(folder) for member, folder in members.items()}
    return {"set": name, "chosen": chosen, "test": test_errors(run), "members": errors, "data": data, **json.loads(times.read_text())}


def singles_of(figures):
    """Test MSE and MAE of the candidates, the best by MSE first."""
    return dict(sorted(((name, error) for name, error in figures["members"].items() if name != "ensemble"), key=lambda one: one[1][0]))


def row_of(figures):
    singles = singles_of(figures)
    best = next(iter(singles))
    named = next(name for name in figures["members"] if name in singles)  # the leaderboard's first
    mse, mae = figures["test"]
    place = 1 + sum(one < mse for one, _ in singles.values())
    return (f"| {figures['set']} | {figures['chosen']} | {mse:.4g} / {mae:.4g} | {best} | {singles[best][0]:.4g} / {singles[best][1]:.4g} "
            f"| {mse / singles[best][0]:.3f} | {place} of {len(singles) + 1} | {named} | {mse / singles[named][0]:.3f} "
            f"| {figures['first_leaderboard']:.1f} | {figures['seconds']:.0f} |")  # fmt: skip


def mean_ratios(all_figures):
    """Ratio of the test MSE to that of the best candidate: geometric mean and maximum over the sets, for candidates tried on all."""
    ratios = {}
    for figures in all_figures:
        singles = singles_of(figures)
        best = next(iter(singles.values()))[0]
        for name, mse in [("auto", figures["test"][0]), *((name, error[0]) for name, error in singles.items())]:
            ratios.setdefault(name, []).append(mse / best)
    means = {name: (math.exp(sum(map(math.log, one)) / len(one)), max(one)) for name, one in ratios.items() if len(one) == len(all_figures)}
    return ", ".join(f"{name} {mean:.2f} (at most {worst:.2f})" for name, (mean, worst) in sorted(means.items(), key=lambda one: one[1]))


def print_published(all_figures):
    """The mean over the horizons, for tables with all horizons."""
    print("\n| set | auto, mean over 96, 192, 336, 720: MSE / MAE | lowest published MSE |\n|---|---|---|")
    for table, (error, model) in PUBLISHED.items():
        errors = [figures["test"] for figures in all_figures if figures["set"].rpartition("-")[0] == table]
        if len(errors) == len(HORIZONS):
            mse, mae = (sum(column) / len(errors) for column in zip(*errors))
            print(f"| {table} | {mse:.4f} / {mae:.4f} | {error} {model} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", choices=LISTS)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data", help="folder of the known files")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs")
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--jobs", type=int, help="concurrent trainings")
    parser.add_argument("--threads", type=int, help="of each training")
    parser.add_argument("--only", nargs="+", default=[], help="of the list")
    parser.add_argument("--set", action="append", default=[], help="a setting of every candidate")
    parser.add_argument("--members", action="store_true", help="also a table of every candidate")
    arguments = parser.parse_args()
    all_figures = []
    for name in arguments.only or LISTS[arguments.list]:
        run = arguments.out / name
        run.mkdir(parents=True, exist_ok=True)
        all_figures.append(figures_of(name, input_of(name, arguments.data, arguments.out), run, arguments))
    print("| set | auto chose | its test MSE / MAE | best candidate on test | its MSE / MAE | ratio of MSE | place "
          "| best candidate on validation | ratio of MSE | s to a leaderboard | s |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    print("\n".join(map(row_of, all_figures)))
    print("\nMSE over that of the best candidate, geometric mean of the sets: " + mean_ratios(all_figures))
    if arguments.list == "published":
        print_published(all_figures)
    for figures in all_figures if arguments.members else []:
        print(f"\n{figures['set']}: " + ", ".join(f"{name} {mse:.4g}" for name, (mse, _) in singles_of(figures).items()))


if __name__ == "__main__":
    main()
