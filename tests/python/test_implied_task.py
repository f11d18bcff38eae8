"""`train --data X` and `train --resume RUN` without a task."""

import json
import math

import numpy as np
import PIL.Image

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


def test_a_setting_of_the_data_names_the_task(tmp_path):
    """PNG files are images to be classified, unless masks are given; an option of another kind is an error as before."""
    for folder in ("photos", "masks"):
        (tmp_path / folder).mkdir()
        for i in range(3):
            pixels = np.arange(64 * 64).reshape(64, 64) * (i + 1) // 7 % (256 if folder == "photos" else 2)
            PIL.Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / folder / f"{i}.png")
    masks = f"data.masks={tmp_path / 'masks'}"
    assert json.loads(ok("data", "show", tmp_path / "photos", "--set", masks, "--json").stdout)["classes"]
    quick = ["--set", "train.max_steps=1", "--set", "output.report=false", "--out", tmp_path / "run", "--overwrite"]
    for given in (["--set", masks], [f"--set={masks}"], ["--masks", tmp_path / "masks"], ["--set", "train.epochs=1", "--set", masks]):
        said = ok("train", tmp_path / "photos", *given, *quick).stderr
        assert f"{tmp_path / 'photos'} is read as data of 'modewise train segment'\n" in said
    table = tmp_path / "series.csv"
    table.write_text("a\n" + "1\n2\n" * 50)
    assert "--window" in fails(2, arguments=["train", table, "--window", "8"])
