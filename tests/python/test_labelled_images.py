"""Images whose classes are in a table: pixels, labels and splits equal those of an NPZ that pandas and PIL make; every command."""
import csv
import json

import numpy as np
import pandas
import pytest
from PIL import Image

from cli_helpers import fails, ok

from modewise import tasks

FEW = ["--set", "model.cnn.widths=[4,8]", "--set", "train.epochs=2", "--set", "train.schedule.warmup_steps=0", "--threads", "1", "--set",
       "output.report=false"]


def write_images(folder, count=48, seed=0):
    """Images of two kinds, whose names sort by split, as PNG and JPEG in two folders, and the frame that describes them."""
    rng, rows = np.random.default_rng(seed), []
    for i in range(count):
        split = ("train", "train", "val", "test")[4 * i // count]
        pixels = rng.integers(0, 99, (9, 7, 3), np.uint8)
        pixels[:, :, i % 2] += 120
        path = folder / ("a" if 4 * i < 3 * count else "b") / f"{i:04}.{'jpg' if i % 3 else 'png'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
        rows.append((str(path.relative_to(folder)), ("egg", "ham")[i % 2], split, f"p{i // 2}"))
    return pandas.DataFrame(rows, columns=["file", "label", "split", "patient"])


def write_npz(path, folder, frame):
    """The same data as PIL decodes the files and pandas counts the classes."""
    codes = pandas.Categorical(frame["label"]).codes
    pixels = np.stack([np.asarray(Image.open(folder / name)) for name in frame["file"]])
    arrays = {f"{split}_{kind}": values[frame["split"] == split] for split in ("train", "val", "test")
              for kind, values in {"images": pixels, "labels": codes.astype(np.uint8)}.items()}
    np.savez(path, **arrays)


def data_of(run):
    return json.loads((run / "data.json").read_text())


def train(*arguments):
    return ["train", "classify-images", *arguments, *FEW]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images") / "photos"
    write_images(folder).sample(frac=1, random_state=1).to_csv(folder / "labels.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def run(folder):
    ok(*train("--data", folder, "--out", folder.parent / "run"))
    return folder.parent / "run"


def test_pixels_labels_and_splits_are_those_of_pandas_and_pillow(run, folder, tmp_path):
    frame = pandas.read_csv(folder / "labels.csv").sort_values("file")
    write_npz(tmp_path / "same.npz", folder, frame)
    ok(*train("--data", tmp_path / "same.npz", "--out", tmp_path / "run"))
    found, wanted = data_of(run), data_of(tmp_path / "run")
    assert found["hash"] == wanted["hash"] and found["mean"] == wanted["mean"] and found["samples"] == wanted["samples"]
    assert found["classes"] == ["egg", "ham"]
    assert (run / "metrics.jsonl").read_bytes().count(b"\n") == (tmp_path / "run/metrics.jsonl").read_bytes().count(b"\n")
    for name in ("test_scores", "validation_scores", "test_labels"):
        np.testing.assert_array_equal(np.load(run / "predictions.npz")[name], np.load(tmp_path / "run/predictions.npz")[name])


@pytest.mark.parametrize("form", ["tsv", "numbers", "windows", "one-hot", "stems"])
def test_forms_of_one_table_are_the_same_data(run, folder, form, tmp_path):
    frame = pandas.read_csv(folder / "labels.csv")
    path = tmp_path / "table.csv"
    if form == "tsv":
        path = tmp_path / "table.tsv"
        frame.rename(columns={"file": "image_id", "label": "dx"}).to_csv(path, index=False, sep="\t")
    elif form == "numbers":
        frame.assign(file=frame["file"].str[2:6].astype(float)).to_csv(path, index=False)
    elif form == "windows":
        frame.assign(file=".\\" + frame["file"].str.replace("/", "\\")).to_csv(path, index=False)
    elif form == "one-hot":
        pandas.concat([frame[["file", "split", "patient"]], pandas.get_dummies(frame["label"], dtype=float)], axis=1).to_csv(path, index=False)
    else:
        frame.assign(file=frame["file"].str[2:6]).to_csv(path, index=False)
    ok(*train("--data", folder, "--labels", path, "--no-test", "--out", tmp_path / "run"))
    ok(*train("--data", folder, "--no-test", "--out", tmp_path / "usual"))
    assert data_of(tmp_path / "run")["hash"] == data_of(tmp_path / "usual")["hash"]


def test_new_images_need_no_table(run, folder, tmp_path):
    frame = write_images(tmp_path / "new", 12, seed=1)
    for name in frame["file"]:
        (tmp_path / "new" / name).rename(tmp_path / "new" / name[2:])
    for empty in ("a", "b"):
        (tmp_path / "new" / empty).rmdir()
    ok("predict", run, "--data", tmp_path / "new", "--out", tmp_path / "p.csv")
    predicted = [row["picture"] for row in csv.DictReader((tmp_path / "p.csv").open())]
    assert predicted == list(frame["file"].str[2:])
    fails(65, "0000.png has no class", arguments=["evaluate", run, "--data", tmp_path / "new"])
    names = frame["file"].str[2:]
    pandas.DataFrame({"filename": names, "target": frame["label"]}).iloc[:8].to_csv(tmp_path / "new/labels.csv", index=False)
    found = json.loads(ok("evaluate", run, "--data", tmp_path / "new", "--json").stdout)
    assert found["samples"] == 8
    ok("predict", run, "--data", tmp_path / "new", "--out", tmp_path / "p.csv", "--overwrite")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 13


def test_the_runs_own_data_are_evaluated_again(run):
    found = json.loads(ok("evaluate", run, "--json").stdout)
    assert found["samples"] == 12
    ok("report", run)
    ok("explain", run)


def test_no_task_and_python(run, folder, tmp_path):
    ok("train", folder, *FEW, "--max-steps", "1", "--no-test", "--out", tmp_path / "run")
    assert json.loads((tmp_path / "run/manifest.json").read_text())["task"] == "image_classification"
    settings = {"data.path": folder, "data.labels": folder / "labels.csv", "train.epochs": 1, "output.report": False}
    tasks.train("image_classification", settings, out=tmp_path / "python", verbosity=-1)
    assert data_of(tmp_path / "python")["hash"] == data_of(run)["hash"]
