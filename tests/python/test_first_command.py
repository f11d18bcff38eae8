"""The first command on files as people have them: `train`, `predict` and `backtest` with --data and --out alone.

Each table is one file; what is forecast of it comes back in its own columns, and the rows may be put below it. Of most
tables the training is cut short: what differs between them is how they are read and written. Labelled data have 30 easy
samples, which the first command must learn.
"""

import csv
import datetime
import json
import math

import nibabel
import numpy as np
import pytest
from PIL import Image

from cli_helpers import fails, ok

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
FIRST_DAY = datetime.date(2020, 1, 1)


def wave(i, phase=0.0, period=7):
    return round(10 + 3 * math.sin(2 * math.pi * i / period + phase) + 0.01 * i, 4)


def day(i):
    return FIRST_DAY + datetime.timedelta(i)


def table(head, line, rows, separator=","):
    return "\n".join([separator.join(head), *(separator.join(map(str, line(i))) for i in range(rows))]) + "\n"


def long_of_unequal_lengths():
    lines = [f"{name},{day(i)},{wave(i, phase)}" for name, begin, phase in (("north", 0, 0), ("south", 40, 1)) for i in range(begin, 120)]
    return "\n".join(["unique_id,ds,y", *lines]) + "\n"


def decimal_commas(i):
    return [day(i).strftime("%d.%m.%Y"), *(str(x).replace(".", ",") for x in (wave(i), wave(i, 1)))]


def words(i):
    return [day(i), wave(i), "yes" if i % 7 < 5 else "no", ["north", "south", "east"][i % 3]]


# Name: content, what predict's first columns are called, what stands in them in the first row that is forecast.
TABLES = {
    "wide, ISO dates": (table(["date", "a", "b"], lambda i: [day(i), wave(i), wave(i, 1)], 120), {"date": "2020-04-30"}),
    "long, unequal lengths": (long_of_unequal_lengths(), {"unique_id": "north", "ds": "2020-04-30"}),
    "names of months": (table(["day", "a"], lambda i: [day(i).strftime("%d-%b-%Y"), wave(i)], 120), {"day": "30-Apr-2020"}),
    "seconds since 1970": (table(["time", "a"], lambda i: [1577836800 + 3600 * i, wave(i, 0, 24)], 240), {"time": str(1577836800 + 3600 * 240)}),
    "milliseconds since 1970": (table(["timestamp", "a"], lambda i: [1000 * (1577836800 + 86400 * i), wave(i)], 120),
                                {"timestamp": str(1000 * (1577836800 + 86400 * 120))}),
    "year and month": (table(["year", "month", "a"], lambda i: [2010 + i // 12, i % 12 + 1, wave(i, 0, 12)], 120), {"year": "2020", "month": "1"}),
    "decimal commas": (table(["Datum", "a", "b"], decimal_commas, 120, ";"), {"Datum": "30.04.2020"}),
    "words": (table(["date", "a", "open", "station"], words, 120), {"date": "2020-04-30"}),
    "UTF-16": (table(["Tag", "Höhe"], lambda i: [day(i), wave(i)], 120).encode("utf-16"), {"Tag": "2020-04-30"}),
    "144 months": (table(["month", "passengers"], lambda i: [f"{1949 + i // 12}-{i % 12 + 1:02d}", 10 * wave(i, 0, 12)], 144), {"month": "1961-01"}),
    "30 rows": (table(["date", "a"], lambda i: [day(i), wave(i)], 30), {"date": "2020-01-31"}),
}


WHOLE = ["wide, ISO dates", "30 rows"]  # trained as long as the first command does
SHORT = ["--set", "train.max_steps=30"]


def train_predict_backtest(path, run, *options):
    ok("train", "forecast", "--data", path, "--out", run, *options)
    out = run.with_suffix(".csv")
    ok("predict", run, "--out", out)
    ok("backtest", run)
    return list(csv.DictReader(out.open()))


@pytest.mark.parametrize("name, whole", [*((name, name in WHOLE) for name in TABLES),
                                         pytest.param("long, unequal lengths", True, marks=pytest.mark.long)])  # fmt: skip
def test_a_table_is_forecast_by_the_first_command(tmp_path, name, whole):
    content, first = TABLES[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    rows = train_predict_backtest(path, tmp_path / "run", *([] if whole else SHORT))
    assert {key: rows[0][key] for key in first} == first and list(rows[0])[:len(first)] == list(first)
    assert "row" not in rows[0] and any(key.endswith("_q0.975") for key in rows[0])


def test_uneven_steps_are_pooled(tmp_path):
    rng = np.random.default_rng(5)
    seconds = np.cumsum(rng.integers(200, 2000, 1500))
    begin = datetime.datetime(2020, 1, 1)
    path = tmp_path / "uneven.csv"
    path.write_text("time,load\n" + "".join(f"{begin + datetime.timedelta(seconds=int(s))},{wave(s / 3600, 0, 24)}\n" for s in seconds))
    fails(65, "expected dates at a constant step", arguments=["train", "forecast", "--data", path, "--out", tmp_path / "run"])
    rows = train_predict_backtest(path, tmp_path / "run", "--set", "data.resample=1h", *SHORT)
    last = (begin + datetime.timedelta(seconds=int(seconds[-1]))).replace(minute=0, second=0)
    assert rows[0]["time"] == str(last + datetime.timedelta(hours=1)) and rows[1]["time"] == str(last + datetime.timedelta(hours=2))


def test_what_was_forecast_may_stand_below_the_table(tmp_path):
    """Year and month, words as variables: a later file is read as the run's own."""
    path = tmp_path / "table.csv"
    path.write_text(table(["year", "month", "a", "open"], lambda i: [2010 + i // 12, i % 12 + 1, wave(i, 0, 12), ["no", "yes"][i % 2]], 120))
    quick = ["--model", "dlinear", *SHORT, "--set", "data.categories=open"]
    rows = train_predict_backtest(path, tmp_path / "run", *quick)
    assert list(rows[0])[:3] == ["year", "month", "a"] and "open" in rows[0]
    with path.open("a") as file:
        file.writelines(f"{row['year']},{row['month']},{row['a']},yes\n" for row in rows)
    ok("predict", tmp_path / "run", "--data", path, "--out", tmp_path / "later.csv")
    assert next(csv.DictReader((tmp_path / "later.csv").open()))["year"] == str(int(rows[-1]["year"]) + (int(rows[-1]["month"]) == 12))
    with path.open("a") as file:
        file.write("2030,1,3,maybe\n")
    assert "column 'open' holds 'maybe', but its categories are no, yes" in fails(65, arguments=["predict", tmp_path / "run", "--data", path])


def test_what_is_wrong_with_a_table_is_one_sentence(tmp_path):
    path = tmp_path / "table.csv"

    def refused(content, *options, code=65):
        path.write_text(content)
        return fails(code, arguments=["train", "forecast", "--data", path, "--out", tmp_path / "x", *options]).split("error: ")[1]

    days = table(["date", "a"], lambda i: [day(i), wave(i)], 60)
    repeated = "".join(f"{name},{day(i)},1\n" for i in range(30) for name in "AB")
    assert refused("unique_id,ds,y\n" + repeated + f"A,{day(3)},2\n") == (
        f"{path}:62: series 'A' has a second row for 2020-01-04, the first is in line 8: remove one of them")
    assert refused(days, "--set", "data.resample=1h") == (
        f"{path}: data.resample = 1 h is shorter than the step of the rows: half of them or more are 1 d apart or farther")
    assert refused(days, "--set", "data.resample=often", code=78) == (
        "data.resample: expected a number and a unit (s, min, h, day, week, month, year), got 'often'")


def test_of_two_columns_of_dates_the_first_is_taken_and_the_other_named(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text(table(["ordered", "shipped", "a"], lambda i: [day(i), day(i + 2), wave(i)], 60))
    said = ok("data", "show", path).stderr
    assert said.endswith("orders.csv: columns 'ordered' and 'shipped' both hold dates, the first is the time column: "
                         "data.time = shipped selects the other\n")
    assert "2020-01-03" in ok("data", "show", path, "--set", "data.time=shipped").stdout


# 30 samples of two classes, which rise or fall in time, or are bright on one side or the other.


def rising(i, steps=24):
    rng = np.random.default_rng(i)
    return (1 if i % 2 else -1) * np.linspace(-1, 1, steps) + rng.normal(0, 0.2, steps)


def bright(i, shape):
    rng = np.random.default_rng(i)
    values = rng.normal(60, 10, shape)
    half = values[: shape[0] // 2] if i % 2 else values[shape[0] // 2:]
    half += 120
    return values.clip(0, 255)


def write_tsv(folder):
    for split, samples in (("TRAIN", range(30)), ("TEST", range(30, 50))):
        (folder / f"Ramps_{split}.tsv").write_text("".join("\t".join([str(i % 2 + 1), *map(str, rising(i))]) + "\n" for i in samples))
    return "classify-series", folder


def write_csv(folder):
    path = folder / "samples.csv"
    path.write_text(table(["kind", *(f"t{t}" for t in range(24))], lambda i: [["down", "up"][i % 2], *rising(i)], 30).replace("kind", "label", 1))
    return "classify-series", path


def write_arff(folder):
    path = folder / "samples.arff"
    head = ["@relation ramps", "@attribute dims relational", *(f"@attribute t{t} numeric" for t in range(24)), "@end dims", "@attribute kind {down,up}", "@data"]
    rows = ['"' + "\\n".join(",".join(map(str, rising(i + k))) for k in (0, 100)) + '",' + ["down", "up"][i % 2] for i in range(30)]
    path.write_text("\n".join([*head, *rows]) + "\n")
    return "classify-series", path


def write_arrays(folder):
    path = folder / "volumes.npz"
    np.savez(path, images=np.stack([bright(i, (6, 6, 6)) for i in range(30)]).astype(np.uint8), labels=np.arange(30) % 2)
    return "classify-volumes", path


def write_nifti(folder):
    for i in range(30):
        path = folder / ["ill", "well"][i % 2] / f"{i}.nii.gz"
        path.parent.mkdir(exist_ok=True)
        nibabel.save(nibabel.Nifti1Image(bright(i, (6, 6, 6)).astype(np.float32), np.eye(4)), path)
    return "classify-volumes", folder


def write_png(folder):
    for i in range(30):
        path = folder / ["night", "noon"][i % 2] / f"{i}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(bright(i, (16, 16)).astype(np.uint8)).save(path)
    return "classify-images", folder


@pytest.mark.parametrize("write", [write_tsv, write_arrays, write_png,
                                   *(pytest.param(write, marks=pytest.mark.long) for write in (write_csv, write_arff, write_nifti))])  # fmt: skip
def test_thirty_easy_samples_are_learnt_by_the_first_command(tmp_path, write):
    (tmp_path / "data").mkdir()
    command, path = write(tmp_path / "data")
    run = tmp_path / "run"
    ok("train", command, "--data", path, "--out", run)
    assert json.loads((run / "metrics.json").read_text())["test"]["accuracy"] >= 0.9
    ok("predict", run, "--out", tmp_path / "classes.csv")
    rows = list(csv.DictReader((tmp_path / "classes.csv").open()))
    assert len(rows) >= 4 and {row["class"] for row in rows} <= set(rows[0])
