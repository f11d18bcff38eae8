"""Splits by the names of folders and files, other folders next to them, and test samples that are also training samples."""
import json

import numpy as np
import pytest

from cli_helpers import fails, ok
from test_volume_classification import nifti

SPLITS = ("train", "val", "test")


def shown(path, task, *settings):
    return ok("data", "show", path, "--task", task, "--json", *sum((["--set", one] for one in settings), []))


def write_images(folder, seed, names=("a", "b")):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(seed)
    for name in names:
        (folder / name).mkdir(parents=True)
        for i in range(3):
            image.fromarray(rng.integers(0, 255, (8, 8, 3)).astype(np.uint8)).save(folder / name / f"{i}.png")


def write_language(folder, names, words="once upon a time there was a model of the"):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{words} {name} " * 40)
    return folder


@pytest.mark.parametrize("names", [("train.txt", "valid.txt", "test.txt"), ("wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"),
                                   ("train/0.txt", "val/0.txt", "test/0.txt"),
                                   ("train-00000-of-00001.txt", "validation-00000-of-00001.txt", "test-00000-of-00001.txt")])
def test_the_texts_of_a_language_model_keep_their_splits(tmp_path, names):
    folder = write_language(tmp_path / "texts", names)
    result = shown(folder, "language_modeling")
    for part, name in zip(("train", "validation", "test"), names):
        assert json.loads(result.stdout)[part]["bytes"] == 40 * len(f"once upon a time there was a model of the {name} ")
    note = f"{folder}: the splits are " + ", ".join(name.split("/")[0] for name in names)
    assert note in result.stdout + result.stderr


def test_settings_win_over_the_names_of_texts(tmp_path):
    folder = write_language(tmp_path / "texts", ("train.txt", "valid.txt", "test.txt", "notes.md"))
    other = write_language(tmp_path, ("mine.txt",)) / "mine.txt"
    result = shown(folder, "language_modeling", f"data.test={other}")
    assert json.loads(result.stdout)["test"]["bytes"] == len(other.read_text())
    assert "notes.md is left out; the splits are" in result.stdout + result.stderr
    assert "train.txt, valid.txt" not in shown(folder, "language_modeling", "data.split=documents").stdout
    write_language(folder, ("train.more.txt",))
    fails(65, "train.more.txt and train.txt are texts of one split", arguments=["data", "show", folder, "--task", "language_modeling"])
    shards = write_language(tmp_path / "shards", ("train-00000-of-00002.txt", "train-00001-of-00002.txt", "test-00000-of-00001.txt"))
    fails(65, "train-00000-of-00002.txt and train-00001-of-00002.txt are texts of one split", arguments=["data", "show", shards, "--task", "language_modeling"])


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "bare.txt").write_bytes(b"once upon a time " * 200)
    (tmp_path / "marked.txt").write_bytes(b"\xef\xbb\xbf" + b"once upon a time " * 200)
    bare, marked = (json.loads(shown(tmp_path / f"{name}.txt", "language_modeling").stdout) for name in ("bare", "marked"))
    assert [marked[part] for part in ("train", "validation", "test")] == [bare[part] for part in ("train", "validation", "test")]


def test_other_folders_than_those_of_splits_are_left_out(tmp_path):
    for i, split in enumerate((*SPLITS, "holdout")):
        write_images(tmp_path / "images" / split, i)
        for name in "ab":
            for sample in "12":
                scan = tmp_path / "scans" / split / name / f"{sample}.nii"
                scan.parent.mkdir(parents=True, exist_ok=True)
                scan.write_bytes(nifti(np.random.default_rng(i).normal(size=(4, 4, 4))))
        for kind in ("scenes", "masks"):
            (tmp_path / kind / split).mkdir(parents=True)
            for tile in range(2):
                x = np.random.default_rng(2 * i + tile).integers(0, 2, (24, 24)) if kind == "masks" else np.ones((24, 24, 3), np.float32) * (tile + 1)
                np.save(tmp_path / kind / split / f"{tile}.npy", x.astype(np.uint8 if kind == "masks" else np.float32))
    for task, data, classes, settings in (("image_classification", "images", ["a", "b"], ()), ("volume_classification", "scans", ["a", "b"], ()),
                                          ("segmentation", "scenes", None, (f"data.masks={tmp_path / 'masks'}",))):
        result = shown(tmp_path / data, task, *settings)
        summary = json.loads(result.stdout)
        assert f"{tmp_path / data}: holdout is left out; the splits are the folders train, val and test" in json.dumps(summary) + result.stderr, task
        if classes:
            assert summary["classes"] == classes, task
        else:
            assert summary["images"] == 6 and "folders" in json.dumps(summary)


@pytest.fixture
def copied(tmp_path):
    rng = np.random.default_rng(0)
    rows = ["label,a,b,c,d"] + [f"{'xy'[i % 2]},{','.join(f'{v:.3f}' for v in rng.normal(size=4))}" for i in range(20)]
    (tmp_path / "series.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "texts.csv").write_text("text,label\n" + "".join(f"text number {i},{'xy'[i % 2]}\n" for i in range(20)))
    write_images(tmp_path / "images" / "train", 0)
    write_images(tmp_path / "images" / "test", 0)
    volumes, labels = rng.normal(size=(6, 4, 4, 4)), np.arange(6) % 2
    np.savez(tmp_path / "v.npz", train_images=volumes, train_labels=labels, test_images=volumes[1:4], test_labels=labels[1:4])
    return tmp_path


@pytest.mark.parametrize("task, settings, words", [
    ("series_classification", ("data.path=series.csv", "data.test=series.csv"), "20 of the 20 test samples are"),
    ("text", ("data.path=texts.csv", "data.test=texts.csv"), "20 of the 20 test texts are"),
    ("volume_classification", ("data.path=v.npz",), "3 of the 3 test volumes are"),
    ("image_classification", ("data.path=images",), "6 of the 6 test images are")])
def test_test_samples_that_are_training_samples_are_warned_of(copied, task, settings, words):
    settings = [one.replace("=", f"={copied}/") for one in settings]
    result = shown(settings[0].split("=")[1], task, *settings[1:])
    assert result.stdout.count(words + " identical to") == 1, result.stdout


def test_different_test_samples_are_not(copied):
    (copied / "other.csv").write_text("text,label\n" + "".join(f"another text {i},{'xy'[i % 2]}\n" for i in range(20)) + " text number 3 ,x\n")
    result = shown(copied / "texts.csv", "text", f"data.test={copied / 'other.csv'}")
    assert "1 of the 21 test texts is identical to" in result.stdout


def test_a_class_may_be_called_train(tmp_path):
    write_images(tmp_path / "vehicles", 0, ("bus", "car", "train"))
    assert json.loads(shown(tmp_path / "vehicles", "image_classification").stdout)["classes"] == ["bus", "car", "train"]


def test_a_test_folder_without_classes_is_left_out(tmp_path):
    write_images(tmp_path / "train", 0)
    write_images(tmp_path / "loose", 1)
    (tmp_path / "loose" / "a").rename(tmp_path / "test")
    result = shown(tmp_path, "image_classification")
    summary = json.loads(result.stdout)
    assert summary["pictures"] == 6 and summary["splits"]["test"]["pictures"] == 2
    said = json.dumps(summary["notes"])
    assert f"{tmp_path / 'test'}: left out, because it has no folder of images per class" in said and "loose is left out" in said


@pytest.mark.parametrize("kind", ["arrays", "folders"])
def test_validation_volumes_are_taken_from_the_training_volumes(tmp_path, kind):
    rng = np.random.default_rng(0)
    images, labels = rng.normal(size=(20, 4, 4, 4)), np.arange(20) % 2
    if kind == "arrays":
        np.savez(tmp_path / "v.npz", train_images=images, train_labels=labels, test_images=images[:4] + 1, test_labels=labels[:4])
    for split, count in ({"train": 20, "test": 4} if kind == "folders" else {}).items():
        for i in range(count):
            scan = tmp_path / "v" / split / "ab"[i % 2] / f"{i}.nii"
            scan.parent.mkdir(parents=True, exist_ok=True)
            scan.write_bytes(nifti(images[i] + (split == "test")))
    for share, validation in (("0.1", 2), ("0.2", 4)):
        path = tmp_path / ("v.npz" if kind == "arrays" else "v")
        splits = json.loads(shown(path, "volume_classification", f"data.validation_share={share}").stdout)["splits"]
        assert [splits[one]["volumes"] for one in ("train", "validation", "test")] == [20 - validation, validation, 4]
