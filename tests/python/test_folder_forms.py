"""Forms of folders, lists of labels, tokenizers and texts as people have them: what is read, or the remedy that is named."""

import json

import nibabel
import numpy as np
import pytest
from PIL import Image

from cli_helpers import fails, modewise, ok

TINY = ["--set", "model.context=32", "--set", "model.width=32", "--set", "model.layers=1", "--max-steps", "1", "--no-test", "--set",
        "output.report=false", "--threads", "1"]


def volume(path, seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(np.random.default_rng(seed).normal(size=(4, 4, 4)).astype(np.float32), np.eye(4)), path)


def image(path, seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (8, 8, 3), np.uint8)).save(path)


def listed(folder, extra="", split=()):
    for i in range(8):
        volume(folder / f"s{i}.nii.gz", i)
    rows = [f"s{i}.nii.gz,{'ill' if i % 2 else 'well'}" + (f",{split[i]}" if split else "") for i in range(8)]
    (folder / "labels.csv").write_text("\n".join(["file,label" + (",split" if split else ""), *rows, ""]) + extra)
    return json.loads(ok("data", "show", folder, "--json").stdout)


def test_folders_of_patients_are_no_classes(tmp_path):
    for i in range(4):
        volume(tmp_path / f"sub-{i:02}/anat/sub-{i:02}_T1w.nii.gz", i)
    (tmp_path / "participants.tsv").write_text("participant_id\tgroup\n" + "".join(f"sub-{i:02}\tab\n" for i in range(4)))
    fails(65, "each of the 4 folders has one volume", "sub-00", "labels.csv", arguments=["data", "show", tmp_path])


def test_a_class_of_a_row_without_a_file_is_none(tmp_path):
    shown = listed(tmp_path, extra="total,8\n")
    assert [one["name"] if isinstance(one, dict) else one for one in shown["classes"]] == ["ill", "well"]
    assert any("total" in note for note in shown["notes"])


def test_splits_may_be_named_in_capitals(tmp_path):
    shown = listed(tmp_path, split=["Train", "TRAIN", "training", "train", "Val", "dev", "Test", "testing"])
    assert not any("split by class" in note for note in shown["notes"])


def test_lists_of_labels_of_other_names_are_named(tmp_path):
    for i in range(4):
        image(tmp_path / f"images/{i}.png", i)
    (tmp_path / "train.csv").write_text("file,label\n" + "".join(f"{i}.png,{i % 2}\n" for i in range(4)))
    fails(65, "'images'", "folder for each class", f"--labels {tmp_path / 'train.csv'} (data.labels)", arguments=["data", "show", tmp_path])
    shown = json.loads(ok("data", "show", tmp_path, "--set", f"data.labels={tmp_path / 'train.csv'}", "--json").stdout)
    assert [one["name"] if isinstance(one, dict) else one for one in shown["classes"]] == ["0", "1"]


def test_folders_of_splits_may_have_capitals(tmp_path):
    for split, count in (("Train", 4), ("Test", 2)):
        for i in range(2 * count):
            image(tmp_path / f"{split}/{'cat' if i % 2 else 'dog'}/{i}.png", i)
    shown = json.loads(ok("data", "show", tmp_path, "--json").stdout)
    assert shown["pictures"] == 12 and not any("split by class" in note for note in shown["notes"])


def test_merges_beside_a_vocabulary_are_answered_with_what_makes_a_tokenizer(tmp_path):
    (tmp_path / "vocab.json").write_text("{}")
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    (tmp_path / "text.txt").write_text("a text")
    fails(66, "save_pretrained", "tokenizer.json", arguments=["tokenize", "--tokenizer", tmp_path, tmp_path / "text.txt"])


@pytest.mark.parametrize("begin, kind", [("<!DOCTYPE html><html>", "an HTML page"), ("<?xml version='1.0'?><d>", "an XML document")])
def test_markup_is_said(begin, kind, tmp_path):
    (tmp_path / "page.txt").write_text(begin + "<p>The cat sat on the mat.</p>" * 100)
    result = modewise("train", "language", "--data", tmp_path / "page.txt", "--tokenizer", "bytes", "--out", tmp_path / "run", *TINY)
    assert result.returncode == 0 and f"is {kind}: its tags are used as text" in result.stderr


def test_a_repeated_header_is_no_text(tmp_path):
    rows = "text,label\n" + "".join(f"a film {i},{'pos' if i % 2 else 'neg'}\n" for i in range(20))
    (tmp_path / "joined.csv").write_text(rows + rows)
    shown = json.loads(ok("data", "show", tmp_path / "joined.csv", "--task", "text", "--json").stdout)
    assert shown["texts"] == 40 and len(shown["classes"]) == 2
    assert any("line 22" in note for note in shown["notes"])


def test_the_delimiter_of_texts_is_named(tmp_path):
    (tmp_path / "texts.csv").write_text("text;label\n" + "a;b\n" * 9)
    fails(65, "data.delimiter=semicolon", arguments=["data", "show", tmp_path / "texts.csv", "--task", "text"])


def test_the_number_of_a_patient_is_no_value_of_a_series(tmp_path):
    for part in ("TRAIN", "TEST"):
        rows = [f"{100 + i // 2},{i % 2},1,2,{'ab'[i % 2]}" for i in range(20)]
        (tmp_path / f"X_{part}.csv").write_text("\n".join(["patient,t0,t1,t2,label", *rows, ""]))
    fails(65, "'patient'", "data.index=patient", arguments=["train", "classify-series", "--train", tmp_path / "X_TRAIN.csv", "--test",
          tmp_path / "X_TEST.csv", "--model", "nearest", "--out", tmp_path / "run"])
