"""`train --data X` and `train --resume RUN` without a task."""

import json
import math

from cli_helpers import fails, ok


def test_the_task_is_that_of_the_data(tmp_path):
    table = tmp_path / "series.csv"
    table.write_text("a\n" + "".join(f"{math.sin(i):.4f}\n" for i in range(200)))
    quick = ["--set", "train.max_steps=3", "--set", "output.report=false"]
    said = ok("train", "--data", table, "--model", "dlinear", "--out", tmp_path / "run", *quick).stderr
    assert f"{table} is read as data of 'modewise train forecast'\n" in said
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["task"] == "forecasting"
    reviews = tmp_path / "reviews.csv"
    reviews.write_text("text,label\n" + "".join(f"it is {word},{word}\n" for word in ("good", "bad")) * 20)
    said = ok("train", f"--data={reviews}", "--tokenizer", "bytes", "--out", tmp_path / "texts", "-q",
              "--set", "model.width=8", "--set", "model.layers=1", "--set", "model.heads=1", "--set", "model.max_positions=16", *quick).stderr
    assert said == ""
    assert json.loads((tmp_path / "texts" / "manifest.json").read_text())["task"] == "text"
    assert "resuming from step 3 of 3" in ok("train", "--resume", tmp_path / "run").stderr


def test_unknown_data_is_said(tmp_path):
    assert fails(66, arguments=["train", "--data", tmp_path / "none.csv"]).endswith(f"there is no file or folder {tmp_path / 'none.csv'}")
    assert "expected one of a data file or folder, forecast, " in fails(2, arguments=["train", "--seed", "1"])
    assert "Subcommands" in ok("train", "-h").stdout
