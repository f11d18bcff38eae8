"""`modewise score`: captions against those that people wrote. The figures of COCO's validation captions were made by
tests/metrics/vectors/make_caption_metrics.py with pycocoevalcap and METEOR 1.5."""
import csv
import json

import pytest

from cli_helpers import DATA, fails, modewise, ok


CAPTIONS = DATA / "captions" / "captions_val2017.json"
# BLEU-1 to 4, METEOR with exact and stem matches, ROUGE-L, CIDEr
COCO = [0.6344705701552054, 0.4373799065113723, 0.29412868702985323, 0.19553851792504892, 0.2280671505921452, 0.4717574953761089,
        0.8865449702521025]
KEYS = ["bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor_exact_stem", "rouge_l", "cider_d"]


def write_references(path, captions, images=None):
    images = images or sorted({image for image, _ in captions})
    path.write_text(json.dumps({"images": [{"id": image, "file_name": f"{image}.jpg"} for image in images],
                                "annotations": [{"image_id": image, "id": i, "caption": caption} for i, (image, caption) in enumerate(captions)]}))
    return path


def write_results(path, captions):
    path.write_text(json.dumps([{"image_id": image, "caption": caption} for image, caption in captions]))
    return path


REFERENCES = [(7, "A dog runs on the beach."), (7, "Two dogs are running."), (9, "A cat sleeps on a mat."), (11, "A red bus.")]


@pytest.fixture
def references(tmp_path):
    return write_references(tmp_path / "references.json", REFERENCES)


@pytest.mark.skipif(not CAPTIONS.exists(), reason=f"{CAPTIONS} is not there")
def test_the_captions_of_coco(tmp_path):
    """For each of the 5,000 images the caption with the smallest id is evaluated against the others."""
    coco = json.loads(CAPTIONS.read_text())
    first, others = {}, []
    for annotation in sorted(coco["annotations"], key=lambda one: one["id"]):
        if annotation["image_id"] in first:
            others.append((annotation["image_id"], annotation["caption"]))
        else:
            first[annotation["image_id"]] = annotation["caption"]
    results = write_results(tmp_path / "results.json", first.items())
    references = write_references(tmp_path / "references.json", others)
    result = ok("score", results, references, "--json", "--per-image", tmp_path / "images.csv", timeout=120)
    assert result.stderr == ""
    scores = json.loads(result.stdout)
    assert (scores["images"], scores["references"], scores["images_without_caption"], scores["empty_captions"]) == (5000, 20014, 0, 0)
    assert [scores[key] for key in KEYS] == pytest.approx(COCO, abs=1e-9, rel=0)
    rows = list(csv.DictReader((tmp_path / "images.csv").open()))
    assert [int(row["image_id"]) for row in rows] == list(first)
    for key in ("rouge_l", "cider_d"):  # means over the images
        assert sum(float(row[key]) for row in rows) / 5000 == pytest.approx(scores[key], abs=1e-12)


def test_references_need_no_file_names(tmp_path):
    results = write_results(tmp_path / "results.json", [(1, "a dog")])
    named = write_references(tmp_path / "named.json", [(1, "a dog")])
    document = json.loads(named.read_text())
    document["images"] = [{"id": image["id"]} for image in document["images"]]
    (tmp_path / "unnamed.json").write_text(json.dumps(document))
    assert ok("score", results, tmp_path / "unnamed.json", "--json").stdout == ok("score", results, named, "--json").stdout


def test_a_table(tmp_path, references):
    results = write_results(tmp_path / "results.json", [(9, "a cat sleeps on a mat"), (7, "the dog!")])
    result = ok("score", results, references)
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["2", "images,", "3", "references"]
    assert [" ".join(line[:-1]) for line in lines[4:11]] == ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR (exact+stem)", "ROUGE-L", "CIDEr-D"]
    assert "results.json: no caption for 1 of the 3 images with references in" in result.stderr
    scores = json.loads(ok("score", results, references, "--json").stdout)
    assert list(scores) == ["images", "references", "images_without_caption", "empty_captions", *KEYS]
    assert scores["images_without_caption"] == 1
    assert lines[4][-1] == f"{scores['bleu_1']:.4f}"
    # 8 words of 8 are found; 8 words against 6 + 4 of the closest references.
    assert scores["bleu_1"] == pytest.approx(2.718281828459045 ** (1 - 10 / 8), abs=1e-8)


def test_scores_of_each_image(tmp_path, references):
    results = write_results(tmp_path / "results.json", [(9, "A cat sleeps on a mat!"), (7, "")])
    result = ok("score", results, references, "--json", "--per-image", tmp_path / "images.csv")
    assert "results.json: captions without words: 1, the first is [1]; they score 0" in result.stderr
    assert json.loads(result.stdout)["empty_captions"] == 1
    rows = list(csv.reader((tmp_path / "images.csv").open()))
    assert rows[0] == ["image_id", *KEYS]
    assert [row[0] for row in rows[1:]] == ["9", "7"]
    assert [float(value) for value in rows[1][1:]] == pytest.approx([1, 1, 1, 1, 1, 1, 10], abs=1e-8)
    assert [float(value) for value in rows[2][1:]] == pytest.approx([0] * 7, abs=1e-12)
    fails(73, "images.csv", arguments=["score", results, references, "--per-image", tmp_path / "images.csv"])
    ok("score", results, references, "--per-image", tmp_path / "images.csv", "--overwrite")


def test_references_without_words(tmp_path):
    references = write_references(tmp_path / "references.json", [(1, "..."), (1, "a dog")])
    result = ok("score", write_results(tmp_path / "results.json", [(1, "a dog")]), references)
    assert "references.json: captions without words: 1, the first is annotations[0]; they remain references" in result.stderr


@pytest.mark.parametrize("captions,words", [
    ([(7, "a"), (8, "b")], ["results.json: [1] is for image 8, which is not in", "references.json"]),
    ([(7, "a"), (12, "b")], ["results.json: [1] is for image 12, which has no caption in", "references.json"]),
    ([(7, "a"), (9, "b"), (7, "c")], ["results.json: [2]: image 7 has two captions, the first is [0]"]),
    ([], ["results.json: the list has no captions"]),
    ([(7, "a " * 1001)], ["results.json: [0] has 1001 words; the maximum is 1000"]),
])
def test_captions_that_do_not_fit(tmp_path, captions, words):
    references = write_references(tmp_path / "references.json", REFERENCES, images=[7, 9, 11, 12])
    fails(65, *words, arguments=["score", write_results(tmp_path / "results.json", captions), references])


@pytest.mark.parametrize("content,words", [
    ('[{"image_id": 7}]', ['bad.json: [0] (byte 1) has no "caption"']),
    ('[{"image_id": "7", "caption": "a"}]', ['bad.json: [0] (byte 1) needs an integer as "image_id"']),
    ('{"annotations": []}', ["bad.json: expected results, a list"]),
    ('[{"image_id": 7, "caption": "a"}', ["bad.json: the JSON is wrong at byte 32"]),
    ("[" * 100_000_000, ["bad.json: the JSON is wrong at byte 512: values are nested deeper than 512"]),
    ("", ["bad.json: expected results, a list"]),
], ids=["no caption", "image as text", "an object", "cut", "100 MB of brackets", "empty"])
def test_files_that_are_no_results(tmp_path, references, content, words):
    (tmp_path / "bad.json").write_text(content)
    fails(65, *words, arguments=["score", tmp_path / "bad.json", references])


def test_files_exchanged(tmp_path, references):
    results = write_results(tmp_path / "results.json", [(7, "a")])
    fails(65, "results.json: expected caption annotations, an object", "this file is a list, like results", arguments=["score", references, results])
    fails(65, "references.json: expected results, a list", "this file is an object, like annotations", arguments=["score", references, references])
    fails(65, "results.json: expected caption annotations, an object", "this file is a list", arguments=["score", results, results])


def test_files_that_are_not_there(tmp_path, references):
    fails(66, "none.json", "No such file", arguments=["score", tmp_path / "none.json", references])
    fails(66, "none.json", "No such file", arguments=["score", write_results(tmp_path / "r.json", [(7, "a")]), tmp_path / "none.json"])


def test_usage(references):
    assert modewise("score", references).returncode == 2
    assert modewise("score", references, references, references).returncode == 2
