"""Panels of many, young and difficult series: memory, levels, intervals, sentences about bad tables, equal bits."""
import ctypes
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
import pandas
import pytest

from cli_helpers import PROGRAM, fails, ok
from test_workers import outcome, run_alone, run_together

H = 4
PANEL = ["--set", "data.panel=yes", "--set", "output.report=false", "--threads", "1"]


def write(path, series, freq="MS"):
    """Writes {id: (start, values)} as unique_id, ds, y."""
    parts = [pandas.DataFrame({"unique_id": name, "ds": pandas.date_range(start, periods=len(values), freq=freq).strftime("%Y-%m-%d"), "y": values})
             for name, (start, values) in series.items()]  # fmt: skip
    pandas.concat(parts).to_csv(path, index=False)
    return path


def train(table, out, *more):
    return ok("train", "forecast", table, "--horizon", H, "--out", out, *PANEL, *more)


def predictions(run, *more):
    return pandas.read_csv(io.StringIO(ok("predict", run, *more).stdout), dtype={"unique_id": str})


def metrics(run):
    return json.loads((run / "metrics.json").read_text())


def levels_and_ages(count=200, seed=7):
    """Levels from 1 to 10^6, starts spread over years, every fourth series of 5 to 19 rows."""
    rng = np.random.default_rng(seed)
    out = {}
    for i in range(count):
        rows = int(rng.integers(5, 20)) if i % 4 == 0 else int(rng.integers(40, 140))
        values = 10.0 ** rng.uniform(0, 6) * (10 + rng.normal(size=rows + H))
        out[f"{i:03d}"] = (f"{1990 + i % 25}-{1 + i % 12:02d}-01", values)
    return out


@pytest.mark.parametrize("model, more", [("theta", ()), ("ets", ()), ("dlinear", ("--epochs", 20)), ("hot", ("--epochs", 3))])
def test_levels_are_kept_and_young_series_have_wide_intervals(model, more, tmp_path):
    series = levels_and_ages()
    train(write(tmp_path / "p.csv", {name: (start, values[:-H]) for name, (start, values) in series.items()}), tmp_path / "run", "--model", model, *more)
    forecast = predictions(tmp_path / "run")
    inside, widths = [], []
    for name, (_, values) in series.items():
        mine, past = forecast[forecast.unique_id == name], values[:-H]
        assert (np.abs(mine.y - past.mean()) < 3 * past.std()).all(), name
        within = (mine["y_q0.025"].to_numpy() <= values[-H:]) & (values[-H:] <= mine["y_q0.975"].to_numpy())
        inside.append((len(past) < 20, within.mean()))
        widths.append((len(past), (mine["y_q0.975"] - mine["y_q0.025"]).mean() / past.std()))
    assert np.mean([share for young, share in inside if young]) >= 0.9
    assert np.mean([share for young, share in inside if not young]) >= 0.9
    assert np.mean([width for rows, width in widths if rows < 10]) > 1.2 * np.mean([width for rows, width in widths if rows >= 40])


def opens(table, *arguments):
    """How often the program opens a file."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert watch >= 0 and libc.inotify_add_watch(watch, os.fsencode(table), 0x20 | 0x10) >= 0  # IN_OPEN, IN_CLOSE_NOWRITE: equal events merge
    ok(*arguments)
    events = np.frombuffer(os.read(watch, 1 << 16), np.uint32).reshape(-1, 4)  # wd, mask, cookie, length of no name
    os.close(watch)
    return int((events[:, 1] & 0x20 > 0).sum())


def test_an_uneven_table_is_read_once(tmp_path):
    """The choice of data.panel = auto opens the table for its header; the rows that it reads are not read again."""
    table = write(tmp_path / "p.csv", {"a": ("2020-01-01", np.arange(40.0)), "b": ("2021-01-01", np.arange(25.0))})
    for words in (["data", "show", table], ["train", "forecast", table, "--horizon", H, "--model", "theta", "--set", "output.report=false"]):
        out = [["--out", tmp_path / f"{words[0]}-{choice}"] if words[0] == "train" else [] for choice in ("auto", "yes")]
        auto, given = (opens(table, *words, *more, "--set", f"data.panel={choice}") for more, choice in zip(out, ("auto", "yes"), strict=True))
        assert given <= auto <= given + 2, (auto, given)


def test_ids_that_are_plain_integers_are_read_once(tmp_path):
    """A usual name such as store may be an id: its numbers become texts without a second reading, unless 007 must be kept."""
    series = {name: ("2020-01-01", np.arange(40.0) + i) for i, name in enumerate(("7", "12", "-3"))}
    counts = {}
    for names in (("a", "b", "c"), ("7", "12", "-3"), ("007", "12", "-3"), ("7", "12", "1e3")):
        table = write(tmp_path / "p.csv", dict(zip(names, series.values(), strict=True)))
        table.write_text(table.read_text().replace("unique_id", "store", 1))
        counts[names] = opens(table, "data", "show", table, "--set", "data.panel=yes")
        shown = json.loads(ok("data", "show", table, "--set", "data.panel=yes", "--json").stdout)
        assert shown["modes"][0]["labels"] == pandas.read_csv(table, dtype=str).store.drop_duplicates().tolist() == list(names)
    assert counts["7", "12", "-3"] == counts["a", "b", "c"] < counts["007", "12", "-3"] == counts["7", "12", "1e3"], counts


def test_predictions_are_written_block_by_block(tmp_path):
    """--out writes each block of series once it is forecast: the same text as printed, and as with blocks of another size."""
    table = write(tmp_path / "p.csv", {f"{i:02d}": ("2020-01-01", np.arange(20.0 + i)) for i in range(30)})
    for batch in (7, 64):
        train(table, tmp_path / f"{batch}", "--model", "theta", "--set", f"forecast.evaluation_batch={batch}")
        ok("predict", tmp_path / f"{batch}", "--out", tmp_path / f"{batch}.csv")
    printed = ok("predict", tmp_path / "7").stdout
    assert (tmp_path / "7.csv").read_text() == printed == (tmp_path / "64.csv").read_text()
    assert pandas.read_csv(io.StringIO(printed), dtype=str).unique_id.tolist() == [f"{i:02d}" for i in range(30) for _ in range(H)]


def test_many_series_take_little_memory_and_no_json(tmp_path):
    """20,000 series of 12 rows: twice the file and 64 MiB above what the program takes for a small panel."""
    count, rows = 20_000, 12
    names = np.repeat([f"series_{i:06d}" for i in range(count)], rows)
    days = np.tile(pandas.date_range("2020-01-01", periods=rows).strftime("%Y-%m-%d"), count)
    values = np.random.default_rng(0).normal(size=count * rows).round(3) + 10
    table = tmp_path / "p.csv"
    pandas.DataFrame({"unique_id": names, "ds": days, "y": values}).to_csv(table, index=False)
    small = write(tmp_path / "small.csv", {"a": ("2020-01-01", values[:rows]), "b": ("2020-01-01", values[:rows])}, "D")

    def peak(*arguments):
        code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        return 1024 * int(subprocess.run([sys.executable, "-c", code, PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=True).stdout)

    show = ["data", "show", "--set", "data.panel=yes"]
    assert peak(*show, table) - peak(*show, small) <= 2 * table.stat().st_size + (64 << 20)
    described = json.loads(ok("data", "show", table, "--json").stdout)
    assert described["panel"] and described["series"] == count and described["rows_of_a_series"] == {"min": rows, "median": rows, "max": rows}
    assert described["splits"] == [{"name": name, "windows": count} for name in ("training", "validation", "test")]
    variable = described["variables"][0]
    assert (variable["mean"], variable["std"]) == (pytest.approx(values.mean()), pytest.approx(values.std()))
    train(table, tmp_path / "run", "--model", "theta")
    arrays = np.load(tmp_path / "run" / "test_series.npz")
    assert len(arrays["mase"]) == count and bytes(arrays["names"]).decode().split() == [f"series_{i:06d}" for i in range(count)]
    assert np.nanmean(arrays["mase"]) == pytest.approx(metrics(tmp_path / "run")["test"]["mase"], rel=1e-9)
    for file in ("data.json", "metrics.json", "config.toml"):
        assert (tmp_path / "run" / file).stat().st_size < 20_000, file
    assert peak("predict", tmp_path / "run", "--out", tmp_path / "f.csv") - peak(*show, small) <= 4 * table.stat().st_size + (64 << 20)
    assert sum(1 for _ in open(tmp_path / "f.csv")) == 1 + count * H
    with open(table, "a") as lines:
        lines.write("series_012345,2020-01-07,1\n")
    fails(65, f"p.csv:{count * rows + 2}: series 'series_012345' has a second row for 2020-01-07", arguments=[*show, table])
    pandas.DataFrame({"unique_id": names[::rows], "ds": days[:count], "y": 1.0}).to_csv(table, index=False)
    fails(65, f"each of the {count} rows is its own series with unique_id as series id", arguments=[*show, table])


@pytest.mark.parametrize("series", [2000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_the_benchmark_of_large_panels_stays_within_its_bounds(series, tmp_path):
    benchmark = pathlib.Path(__file__).parents[2] / "benchmarks" / "large_panel.py"
    command = [sys.executable, benchmark, "--series", str(series), "--rows", "12", "--models", "theta,seasonal", "--folder", tmp_path]
    environment = {**os.environ, "MODEWISE_BUILD": str(pathlib.Path(PROGRAM).parents[1])}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    names = [line.split("|")[1].strip() for line in result.stdout.splitlines() if line.startswith("| ")]
    assert names == ["command", "data show", "train theta", "predict theta", "train seasonal", "predict seasonal"]


def test_series_in_any_order_of_rows_are_the_same(tmp_path):
    """The reader stores repeated ids and dates once: shuffled rows, and ids that mostly differ, are read alike."""
    rng = np.random.default_rng(2)
    frame = pandas.DataFrame({"unique_id": [f"k{i % 3000}" for i in range(15000)], "ds": [f"2020-01-{1 + i // 3000:02d}" for i in range(15000)],
                              "y": rng.normal(size=15000)})  # fmt: skip
    forecasts = []
    for name, table in (("by date", frame), ("by id", frame.sort_values(["unique_id", "ds"])), ("shuffled", frame.sample(frac=1, random_state=1))):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        if not forecasts:
            ok("train", "forecast", tmp_path / f"{name}.csv", "--horizon", 1, "--out", tmp_path / "run", "--model", "repeat", *PANEL)
        forecasts.append(predictions(tmp_path / "run", "--data", tmp_path / f"{name}.csv").sort_values("unique_id").y.tolist())
    assert forecasts[0] == forecasts[1] == forecasts[2]
    last = frame[frame.ds == "2020-01-05"].sort_values("unique_id").y
    assert forecasts[0] == pytest.approx(last.tolist(), abs=1e-6)


def test_a_folder_of_files_is_a_panel(tmp_path):
    folder = tmp_path / "shops"
    folder.mkdir()
    rng = np.random.default_rng(4)
    series = {"berlin": ("2020-01-01", 5 + rng.normal(size=40)), "rome": ("2021-03-01", 900 + rng.normal(size=25))}
    for name, (start, values) in series.items():
        dates = pandas.date_range(start, periods=len(values), freq="MS").strftime("%Y-%m-%d")
        pandas.DataFrame({"month": dates, "sales": values}).to_csv(folder / f"shop_{name}.csv", index=False)
    train(folder, tmp_path / "run", "--model", "theta")
    forecast = pandas.read_csv(io.StringIO(ok("predict", tmp_path / "run").stdout))
    assert forecast.columns.tolist()[:3] == ["file", "month", "sales"]
    train(write(tmp_path / "p.csv", series), tmp_path / "table", "--model", "theta")
    expected = predictions(tmp_path / "table")
    assert forecast.file.tolist() == expected.unique_id.tolist() and forecast.month.tolist() == expected.ds.tolist()
    assert forecast.sales.tolist() == expected.y.tolist()
    pandas.DataFrame({"month": pandas.date_range("2020-01-01", periods=30).strftime("%Y-%m-%d"), "sales": 1.0 * np.arange(30)}).to_csv(folder / "shop_z.csv", index=False)
    fails(65, "shop_berlin.csv has steps of 1 month and", "shop_z.csv of 1 d", arguments=["train", "forecast", folder, "--horizon", H, "--out", tmp_path / "r", *PANEL])


@pytest.mark.parametrize("series, words", [
    ({name: ("2020-01-01", [1.0]) for name in "abc"}, ["each of the 3 rows is its own series"]),
    ({name: ("2020-01-01", np.arange(5.0)) for name in "ab"}, ["all 2 series are too short for a validation window of 4 rows"]),
])
def test_panels_of_series_that_are_too_short(series, words, tmp_path):
    fails(65, *words, arguments=["train", "forecast", write(tmp_path / "p.csv", series), "--horizon", H, "--model", "repeat", "--out", tmp_path / "run", *PANEL])


def test_some_series_may_be_shorter_than_the_horizon(tmp_path):
    series = {"long": ("2020-01-01", np.arange(40.0)), "short": ("2020-01-01", [1.0, 2, 3]), "row": ("2020-05-01", [7.0])}
    result = train(write(tmp_path / "p.csv", series), tmp_path / "run", "--model", "repeat")
    assert "2 of 3 series are too short for a validation window" in result.stderr
    assert predictions(tmp_path / "run").y.tolist() == [39.0] * H + [3.0] * H + [7.0] * H


def test_mixed_time_steps_are_refused_with_the_ids(tmp_path):
    table = write(tmp_path / "p.csv", {f"day{i}": ("2020-01-01", np.arange(60.0)) for i in range(3)}, "D")
    monthly = write(tmp_path / "m.csv", {name: ("2019-01-01", np.arange(30.0)) for name in ("month1", "month2")})
    table.write_text(table.read_text() + monthly.read_text().split("\n", 1)[1])
    fails(65, "2 of 5 series", "'month1', 'month2'", "time step", arguments=["train", "forecast", table, "--horizon", H, "--out", tmp_path / "run", *PANEL])


def test_ids_of_two_types_are_texts(tmp_path):
    series = {"12": ("2020-01-01", np.arange(20.0)), "a": ("2020-01-01", np.arange(20.0) + 5), "012": ("2020-01-01", np.arange(20.0) + 9)}
    train(write(tmp_path / "p.csv", series), tmp_path / "run", "--model", "repeat")
    assert predictions(tmp_path / "run").drop_duplicates("unique_id").set_index("unique_id").y.to_dict() == {"12": 19.0, "a": 24.0, "012": 28.0}


def test_constant_series_and_zeros(tmp_path):
    rng = np.random.default_rng(1)
    series = {"flat": ("2020-01-01", np.full(40, 3.0)), "zeros": ("2020-01-01", np.zeros(40)), "minus": ("2020-01-01", rng.normal(size=40)),
              "usual": ("2020-01-01", 20 + rng.normal(size=40))}  # fmt: skip
    table = write(tmp_path / "p.csv", series)
    for model in ("ets", "theta", "seasonal", "dlinear"):
        train(table, tmp_path / model, "--model", model, *(["--epochs", 3] if model == "dlinear" else []))
        forecast = predictions(tmp_path / model).set_index("unique_id").y
        assert np.isfinite(forecast).all()
        assert forecast["flat"].tolist() == pytest.approx([3.0] * H, abs=1e-5 if model != "dlinear" else 1)
        test = metrics(tmp_path / model)["test"]
        assert test["undefined"] == 2 and np.isfinite(test["mase"])
    fails(65, "series 'zeros'", "multiplicative and needs positive values", arguments=["train", "forecast", write(tmp_path / "z.csv", {"usual": series["usual"], "zeros": series["zeros"]}),
                                                                                       "--horizon", H, "--model", "ets", "--set", "model.ets.form=MAN", "--out", tmp_path / "z", *PANEL])  # fmt: skip


@pytest.mark.long
def test_any_number_of_processes_and_a_kill_give_equal_bits(tmp_path):
    table = write(tmp_path / "p.csv", {name: (start, values[:-H]) for name, (start, values) in levels_and_ages(40).items()})
    arguments = ["forecast", table, "--horizon", H, "--model", "hot", "--set", "model.width=16", "--set", "model.heads=2", "--set", "data.panel=yes",
                 "--set", "train.epochs=3", "--set", "train.patience=0", "--set", "train.batch_size=8", "--set", "output.report=false"]  # fmt: skip
    run_alone([*arguments, "--out", tmp_path / "one"])
    expected, test = outcome(tmp_path / "one"), metrics(tmp_path / "one")["test"]
    for processes in (2, 4):
        done = run_together(processes, [*arguments, "--out", tmp_path / f"{processes}", "--set", "train.shards=4"])
        assert done.returncode == 0, done.stderr
        assert outcome(tmp_path / f"{processes}") == expected and metrics(tmp_path / f"{processes}")["test"] == test
    killed = subprocess.Popen([PROGRAM, "train", *map(str, arguments), "--out", tmp_path / "killed", "--set", "train.shards=4", "--set", "train.checkpoint_every_steps=2"],
                              stderr=subprocess.DEVNULL)  # fmt: skip
    for _ in range(2000):
        if len(list((tmp_path / "killed" / "checkpoints").glob("step_*"))) > 1:
            break
        try:
            killed.wait(0.01)
            break
        except subprocess.TimeoutExpired:
            pass
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    ok("train", "--resume", tmp_path / "killed")
    assert metrics(tmp_path / "killed")["test"] == test
    shutil.rmtree(tmp_path / "killed")
