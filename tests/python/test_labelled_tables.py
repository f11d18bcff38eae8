"""Tables of series and texts with classes as people have them: index columns, spaces in labels, missing labels, columns by other names."""
import csv
import os
import subprocess

import numpy as np
import pytest

from cli_helpers import PROGRAM, fails, modewise, ok

NEAREST = ["--model", "nearest", "--threads", "1", "--set", "output.report=false"]
MARK = b"\xef\xbb\xbf"
TINY = ["--tokenizer", "bytes", "--set", "model.width=16", "--set", "model.layers=1", "--set", "model.heads=2",
        "--set", "model.max_positions=32", "--set", "train.max_steps=2", "--threads", "1",
        "--set", "output.report=false", "--set", "output.export_model=false"]


def ramps(rows, seed):
    """Noisy ramps that fall or rise, and their classes."""
    rng = np.random.default_rng(seed)
    classes = np.arange(rows) % 2
    return np.round((2 * classes - 1)[:, None] * np.linspace(0, 1, 8) + rng.normal(0, 0.2, (rows, 8)), 3), classes


def write_ramps(path, rows, seed, name=None, index=None):
    values, classes = ramps(rows, seed)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        first = [] if name is None else [name]
        table.writerow([*first, *range(8), "label"])
        for i in range(rows):
            table.writerow([*([] if name is None else [index(i)]), *values[i], classes[i]])
    return path


@pytest.mark.parametrize(("name", "first"), [(None, 0), ("", 0), ("Unnamed: 0", 0), ("id", 500), ("number", 40)])
def test_an_index_is_no_value_of_the_series(name, first, tmp_path):
    train = write_ramps(tmp_path / "X_TRAIN.csv", 40, 1, name, lambda i: i)
    test = write_ramps(tmp_path / "X_TEST.csv", 20, 2, name, lambda i: first + 3 * i)
    result = ok("train", "classify-series", "--train", train, "--test", test, *NEAREST, "--out", tmp_path / "out")
    assert "1 variables and 8 steps" in result.stderr
    assert ("is left out" in result.stderr) == (name is not None)
    new = write_ramps(tmp_path / "new.csv", 3, 3, name, lambda i: 7 * i * i)
    ok("predict", tmp_path / "out", "--data", new, "--out", tmp_path / "out.csv")
    classes = [row["class"] for row in csv.DictReader((tmp_path / "out.csv").open())]
    assert classes == ["0", "1", "0"]


def test_an_index_may_be_kept_or_asked_about(tmp_path):
    train = write_ramps(tmp_path / "X_TRAIN.csv", 40, 1, "code", lambda i: (7 * i) % 41)
    test = write_ramps(tmp_path / "X_TEST.csv", 20, 2, "code", lambda i: i * i)
    command = ["train", "classify-series", "--train", train, "--test", test, *NEAREST, "--out", tmp_path / "out"]
    fails(65, "X_TRAIN.csv: column 'code' has a different integer in each row (0, 7, …)", "data.index=code", "data.index=none", arguments=command)
    assert "9 steps" in ok(*command, "--set", "data.index=none").stderr
    assert "8 steps" in ok(*command, "--set", "data.index=code", "--overwrite").stderr
    assert ok("evaluate", tmp_path / "out").returncode == 0


def test_forms_of_one_number_are_warned_of(tmp_path):
    table = tmp_path / "x.csv"
    table.write_text("label,a,b\n" + "".join(f"{('1', '1.0', '2')[i % 3]},{i}.5,{-i}.25\n" for i in range(30)))
    shown = ok("data", "show", table, "--task", "classify-series").stdout
    assert "classes '1' and '1.0' differ only in case, spaces or the form of a number" in shown


def write_texts(path, header="text,label", labels=("good", "bad"), rows=60, edit=None):
    lines = [header] + [f"a film {i},{labels[i % len(labels)]}" for i in range(rows)]
    if edit:
        edit(lines)
    path.write_text("\n".join(lines) + "\n")
    return path


def test_labels_with_spaces_and_cases(tmp_path):
    texts = write_texts(tmp_path / "x.csv", labels=("good", "bad", "good "))
    shown = ok("data", "show", texts)
    assert "spaces around 20 labels are ignored, as in 'good '" in shown.stdout + shown.stderr
    assert "2 classes (bad, good)" in ok("train", "text", "--data", texts, *TINY, "--out", tmp_path / "out").stderr
    write_texts(texts, labels=("good", "Good"))
    assert "classes 'Good' and 'good' differ only in case" in ok("train", "text", "--data", texts, *TINY, "--out", tmp_path / "two").stderr


def test_columns_and_rows_are_named(tmp_path):
    texts = write_texts(tmp_path / "x.csv", "review,sentiment")
    command = ["train", "text", "--data", texts, *TINY, "--out", tmp_path / "out"]
    fails(65, "x.csv:1: there is no column 'text'", "data.text=review and data.label=sentiment", "review, sentiment", arguments=command)
    fails(65, "x.csv:1: there is no column 'text'", "data.text=review", arguments=["data", "show", texts])
    assert "48 train, 6 validation, 6 test" in ok(*command, "--set", "data.text=review", "--set", "data.label=sentiment").stderr

    def without(lines):
        lines[9] = "a film 8,"

    write_texts(texts, edit=without)
    fails(65, "x.csv:10: the text has no class: 'label' is empty", "the columns are: text, label", arguments=command)
    write_texts(texts, "text, label")
    fails(65, "x.csv:1: there is no column 'label' (did you mean ' label'?)", arguments=command)


def test_one_class_is_an_error_in_every_task(tmp_path):
    image = pytest.importorskip("PIL.Image")
    texts = write_texts(tmp_path / "x.csv", labels=("good",))
    fails(65, "all texts have the class 'good'", arguments=["train", "text", "--data", texts, *TINY, "--out", tmp_path / "out"])
    np.savez(tmp_path / "v.npz", images=np.random.default_rng(1).random((12, 4, 4, 4)), labels=np.zeros(12, int))
    fails(65, "all training volumes have class '0'", arguments=["train", "classify-volumes", "--data", tmp_path / "v.npz", "--out", tmp_path / "out"])
    for part in ("train", "test"):
        (tmp_path / "images" / part / "cat").mkdir(parents=True)
        for i in range(12):
            image.new("RGB", (8, 8), (i, i, i)).save(tmp_path / "images" / part / "cat" / f"{i}.png")
    result = modewise("train", "classify-images", "--data", tmp_path / "images", "--out", tmp_path / "out")
    assert result.returncode == 65 and "cat" in result.stderr


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_byte_order_mark_is_accepted(ending, tmp_path):
    path = tmp_path / f"x.{ending}"
    rows = [("good", "bad")[i % 2] for i in range(40)]
    if ending == "jsonl":
        text = "".join(f'{{"text": "film {i}", "label": "{label}"}}\n' for i, label in enumerate(rows))
    else:
        comma = "," if ending == "csv" else "\t"
        text = f"text{comma}label\n" + "".join(f"film {i}{comma}{label}\n" for i, label in enumerate(rows))
    path.write_bytes(MARK + text.encode())
    assert "40 texts" in ok("data", "show", path).stdout


def test_other_files_may_begin_with_a_byte_order_mark_too(tmp_path):
    """Configs, .ts and ARFF files, tables of samples, labels of volumes, captions and documents."""
    config = tmp_path / "c.toml"
    config.write_bytes(MARK + b"[train]\nseed = 77\n")
    assert "seed = 77" in ok("config", "show", "text", "--config", config).stdout
    rows = [f"{i}.5,{2 * i}.25,{'ab'[i % 2]}" for i in range(10)]
    for name, text in {
        "x.ts": "@classLabel true a b\n@data\n" + "\n".join(row[::-1].replace(",", ":", 1)[::-1] for row in rows),
        "x.arff": "@attribute t0 real\n@attribute t1 real\n@attribute c {a,b}\n@data\n" + "\n".join(rows),
        "x_TRAIN.csv": "0,1,label\n" + "\n".join(rows),
    }.items():
        (tmp_path / name).write_bytes(MARK + text.encode() + b"\n")
        shown = ok("data", "show", tmp_path / name, "--set", "data.protocol=paper").stdout
        assert "10 samples of 1 variable, 2 steps" in shown, name
    np.save(tmp_path / "v.npy", np.random.default_rng(1).random((20, 4, 4, 4), dtype=np.float32))
    (tmp_path / "labels.csv").write_bytes(MARK + b"label\n" + b"0\n1\n" * 10)
    shown = ok("data", "show", tmp_path / "v.npy", "--task", "classify-volumes", "--set", f"data.labels={tmp_path / 'labels.csv'}").stdout
    assert "20 volumes" in shown
    (tmp_path / "truth.json").write_bytes(MARK + b'{"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [{"id": 1, "image_id": 1, "caption": "a dog runs"}]}')
    (tmp_path / "got.json").write_bytes(MARK + b'[{"image_id": 1, "caption": "a dog runs"}]')
    assert "METEOR" in ok("score", tmp_path / "got.json", tmp_path / "truth.json").stdout


def peak_mib(*arguments):
    """Peak resident memory of the program."""
    child = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return usage.ru_maxrss / 1024


def test_many_short_samples_take_little_memory(tmp_path):
    def samples(count):
        path = tmp_path / f"{count}.ts"
        path.write_text("@classLabel true a b\n@data\n" + "".join(f"{i % 9},1.5:{'ab'[i % 2]}\n" for i in range(count)))
        return path

    few, many = samples(20), samples(500_000)
    used = peak_mib("data", "show", many) - peak_mib("data", "show", few)
    assert used < 2 * many.stat().st_size / 2**20 + 64


def test_an_unlabelled_table_without_a_header_is_predicted(tmp_path):
    def written(name, rows, seed, labelled=True):
        values, classes = ramps(rows, seed)
        lines = [",".join([*([f"class {kind}"] if labelled else []), *map(str, row)]) for row, kind in zip(values, classes, strict=True)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return tmp_path / name

    train, test = written("X_TRAIN.csv", 40, 1), written("X_TEST.csv", 20, 2)
    ok("train", "classify-series", "--train", train, "--test", test, *NEAREST, "--out", tmp_path / "out")
    classes = []
    for labelled in (True, False):
        ok("predict", tmp_path / "out", "--data", written("new.csv", 12, 3, labelled), "--out", tmp_path / "said.csv", "--overwrite")
        classes.append([row["class"] for row in csv.DictReader((tmp_path / "said.csv").open())])
    assert classes[0] == classes[1] == ["class 0", "class 1"] * 6
    longer = tmp_path / "longer.csv"
    longer.write_text("\n".join(f"class 0,{line},0.5" for line in (tmp_path / "new.csv").read_text().splitlines()) + "\n")
    fails(65, "longer.csv: the longest sample has 9 steps", arguments=["predict", tmp_path / "out", "--data", longer])
