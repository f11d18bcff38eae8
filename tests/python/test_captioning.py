"""Captioning as its users meet it: COCO's files, every command, and what is refused. Scores are those of `modewise score`, which
tests/metrics compares with pycocoevalcap."""
import itertools
import json
import shutil

import numpy as np
import pytest

from cli_helpers import DATA, fails, ok

Image = pytest.importorskip("PIL.Image")

COLORS = {"red": (220, 40, 40), "green": (40, 200, 60), "blue": (50, 60, 230)}
SMALL = ["--size", "16", "--set", "model.encoder.widths=[8,16]", "--set", "model.encoder.heads=2", "--set", "model.encoder.dropout=0",
         "--set", "model.decoder.width=16", "--set", "model.decoder.heads=2", "--set", "model.decoder.layers=1",
         "--set", "model.decoder.dropout=0", "--set", "model.max_words=9", "--set", "caption.label_smoothing=0",
         "--set", "train.batch_size=8", "--set", "train.schedule.warmup_steps=0", "--set", "train.optimizer.learning_rate=0.01",
         "--set", "train.evaluations_per_epoch=1"]
KEYS = ["bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor_exact_stem", "rouge_l", "cider_d"]
COCO = DATA / "captions"


def captions_of(color, side, height):
    return [f"A {color} square at the {height} {side}.", f"There's a {color} box, {side} of the {height}."]


def write_data(folder, copies=3, seed=0, first=1):
    """Squares of a colour in a corner, on noise, with two captions each."""
    rng = np.random.default_rng(seed)
    (folder / "images").mkdir(parents=True)
    images, annotations = [], []
    cases = list(itertools.product(COLORS, ("left", "right"), ("top", "bottom"))) * copies
    for image, (color, side, height) in enumerate(cases, first):
        pixels = rng.integers(0, 50, size=(20, 24, 3))
        top, left = (1 if height == "top" else 11), (1 if side == "left" else 14)
        pixels[top:top + 8, left:left + 9] = COLORS[color]
        name = f"{image:012}.png"
        Image.fromarray(pixels.astype(np.uint8)).save(folder / "images" / name)
        images.append({"id": image, "file_name": name})
        annotations += [{"image_id": image, "caption": caption} for caption in captions_of(color, side, height)]
    (folder / "captions.json").write_text(json.dumps({"images": images, "annotations": annotations}))
    return folder


def source(folder):
    return ["--data", folder / "captions.json", "--images", folder / "images"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("captions") / "squares")


@pytest.fixture(scope="module")
def run(data):
    ok("train", "caption", *source(data), "--out", data.parent / "run", *SMALL, "--set", "train.epochs=25",
       "--set", "model.decoder.attention=dense", timeout=300)
    return data.parent / "run"


def references(data, tmp_path):
    return data / "captions.json"


def test_a_run_learns_its_captions_and_is_evaluated(run, data, tmp_path):
    metrics = json.loads((run / "metrics.json").read_text())
    assert (metrics["train"]["images"], metrics["validation"]["images"], metrics["test"]["images"]) == (29, 3, 4)
    assert metrics["train"]["cider_d"] > 3
    described = json.loads((run / "data.json").read_text())
    assert described["pictures"] == {"train": 29, "validation": 3, "test": 4}
    assert described["words"][:2] == ["a", "the"] and "'s" in described["words"]
    page = (run / "report.html").read_text()
    for words in ("Evaluation", "Attention by word", "data:image/png;base64", "transformer dense, dense words", "Settings"):
        assert words in page, words
    # Figures are those of `score` of the captions that the run keeps.
    scores = json.loads(ok("score", run / "captions.json", data / "captions.json", "--json").stdout)
    assert [scores[key] for key in KEYS] == [metrics["test"][key] for key in KEYS]


def test_evaluate_takes_splits_and_other_captions(run, data, tmp_path):
    metrics = json.loads((run / "metrics.json").read_text())
    again = json.loads(ok("evaluate", run, "--json").stdout)
    assert again == metrics["test"]
    held = json.loads(ok("evaluate", run, "--split", "validation", "--json").stdout)
    assert held == metrics["validation"]
    other = write_data(tmp_path / "other", copies=1, seed=5, first=70)
    out = tmp_path / "found.json"
    evaluated = json.loads(ok("evaluate", run, *source(other), "--out", out, "--json").stdout)
    assert evaluated["split"] == "all" and evaluated["images"] == 12
    scores = json.loads(ok("score", out, other / "captions.json", "--json").stdout)
    assert [scores[key] for key in KEYS] == [evaluated[key] for key in KEYS]
    fails(73, "found.json", arguments=["evaluate", run, *source(other), "--out", out])
    one = json.loads(ok("evaluate", run, "--beam-size", "1", "--json").stdout)
    assert one["beams"] == 1 and one["loss"] == again["loss"]


def test_caption_tells_of_files_and_folders_in_cocos_form(run, data, tmp_path):
    images = data / "images"
    text = ok("caption", run, images / "000000000001.png").stdout
    assert text.startswith(f"{images / '000000000001.png'}: ") and len(text.split(": ")[1].split()) > 3
    out = tmp_path / "captions.json"
    assert ok("caption", run, images, "--out", out).stdout.strip() == ""
    results = json.loads(out.read_text())
    assert [one["image_id"] for one in results] == list(range(1, 37))
    assert results[0]["file_name"] == "000000000001.png" and text.strip().endswith(results[0]["caption"])
    kept = {one["image_id"]: one["caption"] for one in json.loads((run / "captions.json").read_text())}
    assert {one["image_id"]: one["caption"] for one in results if one["image_id"] in kept} == kept
    ok("score", out, data / "captions.json")
    shutil.copy(images / "000000000002.png", tmp_path / "no-number.png")
    named = json.loads(ok("caption", run, tmp_path / "no-number.png", images / "000000000007.png", "--json").stdout)
    assert [one["image_id"] for one in named] == [1, 2]
    fails(73, "captions.json", arguments=["caption", run, images, "--out", out])


def test_reports_explanations_and_comparisons(run, data, tmp_path):
    page = tmp_path / "report.html"
    ok("report", run, "--out", page)
    assert "Highest CIDEr-D" in page.read_text()
    ok("explain", run, "--split", "train", "--samples", "4", "--out", tmp_path / "why")
    explained = json.loads((tmp_path / "why" / "explain.json").read_text())
    assert "row" in json.dumps(explained) and "column" in json.dumps(explained)
    compared = json.loads(ok("compare", run, run, "--json").stdout)
    assert "cider_d" in json.dumps(compared)


def test_the_same_bits_for_any_threads_and_after_a_resume(data, tmp_path):
    common = ["train", "caption", *source(data), *SMALL, "--set", "train.epochs=4", "--set", "output.report=false",
              "--set", "caption.scheduled_sampling=0.5", "--set", "caption.self_critical_epochs=2",
              "--set", "caption.captions_per_picture=1", "--set", "train.checkpoint_every_steps=3", "--set", "train.keep_checkpoints=99"]
    ok(*common, "--out", tmp_path / "one", "--threads", "1", timeout=200)
    ok(*common, "--out", tmp_path / "two", "--threads", "2", timeout=200)
    one = (tmp_path / "one" / "metrics.json").read_text()
    assert (tmp_path / "two" / "metrics.json").read_text() == one
    assert (tmp_path / "two" / "metrics.jsonl").read_text() == (tmp_path / "one" / "metrics.jsonl").read_text()
    steps = sorted((tmp_path / "two" / "checkpoints").glob("step_*"), key=lambda path: int(path.name.split("_")[1]))
    for later in steps[len(steps) // 2:]:
        shutil.rmtree(later)
    ok("train", "caption", "--resume", tmp_path / "two", timeout=200)
    assert (tmp_path / "two" / "metrics.json").read_text() == one


def test_test_images_left_unread_are_evaluated_once(data, tmp_path):
    out = tmp_path / "run"
    ok("train", "caption", *source(data), *SMALL, "--out", out, "--no-test", "--set", "train.epochs=1", timeout=200)
    metrics = json.loads((out / "metrics.json").read_text())
    assert "test" not in metrics and metrics["test_read"] is False
    evaluated = json.loads(ok("evaluate", out, "--json").stdout)
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["test"] == evaluated and metrics["test_read"] is True
    assert len(json.loads((out / "captions.json").read_text())) == evaluated["images"]


def test_lstm_features_and_no_held_out_images(data, tmp_path):
    ids = np.arange(1, 37)
    pixels = np.stack([np.asarray(Image.open(data / "images" / f"{i:012}.png").resize((3, 2)), np.float32) for i in ids]) / 255
    np.savez(tmp_path / "features.npz", ids=ids.astype(np.int64), features=pixels)
    out = tmp_path / "run"
    ok("train", "caption", "--data", data / "captions.json", "--model", "lstm", "--attention", "none", "--out", out,
       "--set", f"data.features={tmp_path / 'features.npz'}", "--set", "data.split_ratios=[1,0,0]", "--set", "train.epochs=2",
       "--set", "model.decoder.width=16", "--set", "model.max_words=9", timeout=200)
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["validation"]["split"] == "train" and "test" not in metrics
    assert json.loads((out / "data.json").read_text())["size"] == [2, 3, 3]
    fails(2, "was trained on features instead of pixels and cannot caption images", arguments=["caption", out, data / "images"])


BAD = [
    ('{"images": [], "annotations": []}', "captions.json: there is no image with a caption"),
    ('[{"image_id": 1, "caption": "a"}]', "this file is a list, like results"),
    ('{"images": [{"id": 1, "file_name": "1.png"}], "annotations": [{"image_id": 2, "caption": "a"}]}',
     "captions.json: there is no image with a caption"),
    ('{"images": [{"id": 1, "file_name": "9.png"}], "annotations": [{"image_id": 1, "caption": "a"}]}', "1 image of 1 not in"),
    ('{"images": [{"id": 1, "file_name": "1.png"}], "annotations": [{"image_id": 1, "caption": " . "}]}',
     "there is no image with a caption"),
    ('{"images": [{"id": 1, "file_name": "broken.png"}], "annotations": [{"image_id": 1, "caption": "a"}]}', "expected a PNG or JPEG image"),
    ('{"images": [{"id": 1}], "annotations": []}', 'has no "file_name"'),
]


@pytest.mark.parametrize("text, words", BAD)
def test_bad_captions_are_refused_in_a_sentence(tmp_path, text, words):
    (tmp_path / "captions.json").write_text(text)
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "broken.png").write_text("no picture")
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "images" / "1.png")
    fails(65, words, arguments=["train", "caption", *source(tmp_path), "--out", tmp_path / "run"])
    assert not (tmp_path / "run").exists()


def test_wrong_requests_are_refused_in_a_sentence(run, data, tmp_path):
    fails(2, "no captions: give --data FILE, such as COCO's captions.json, and --images FOLDER", arguments=["train", "caption"])
    fails(78, "data.images: expected the folder", arguments=["train", "caption", "--data", data / "captions.json"])
    fails(66, "there is no folder", arguments=["train", "caption", "--data", data / "captions.json", "--images", tmp_path / "none"])
    fails(78, "caption.self_critical_epochs = 9 exceeds train.epochs = 3",
          arguments=["train", "caption", *source(data), "--set", "train.epochs=3", "--set", "caption.self_critical_epochs=9"])
    fails(2, f"{run} is a captioner: use modewise caption", arguments=["predict", run])
    fails(66, "there is no image", arguments=["caption", run, tmp_path])
    (tmp_path / "broken.jpg").write_text("no picture")
    fails(65, "broken.jpg", "expected a PNG or JPEG image", arguments=["caption", run, tmp_path / "broken.jpg"])
    fails(66, "missing.png", arguments=["caption", run, tmp_path / "missing.png"])
    broken = tmp_path / "broken-run"
    shutil.copytree(run, broken)
    description = json.loads((broken / "data.json").read_text())
    description["words"][1] = description["words"][0]
    (broken / "data.json").write_text(json.dumps(description))
    fails(65, "data.json: words[1]: duplicate word 'a'", arguments=["evaluate", broken])
    description["words"] = 3
    (broken / "data.json").write_text(json.dumps(description))
    fails(65, "data.json", arguments=["evaluate", broken])


@pytest.mark.skipif(not (COCO / "train2017").exists(), reason=f"{COCO} is not there")
def test_eighty_images_of_coco_are_read(tmp_path):
    shown = json.loads(ok("data", "show", COCO / "annotations" / "captions_train2017.json", "--set", f"data.images={COCO / 'train2017'}",
                          "--set", f"data.test_path={COCO / 'captions_val2017.json'}", "--set", f"data.test_images={COCO / 'val2017'}",
                          "--set", "data.allow_missing=true", "--set", "data.split_ratios=[0.9,0.1,0]", "--json").stdout)
    assert shown["pictures"] == {"train": 72, "validation": 8, "test": 159}


def test_the_run_s_own_captions_elsewhere_have_its_test_split(run, data, tmp_path):
    moved = shutil.copytree(data, tmp_path / "moved")
    own = json.loads(ok("evaluate", run, "--json").stdout)
    again = ok("evaluate", run, *source(moved), "--json")
    assert json.loads(again.stdout) == own and own["split"] == "test" and "too good" not in again.stderr
    captions = json.loads((moved / "captions.json").read_text())
    captions["images"] = captions["images"][:30]
    captions["annotations"] = [one for one in captions["annotations"] if one["image_id"] <= 30]
    (moved / "captions.json").write_text(json.dumps(captions))
    fewer = ok("evaluate", run, *source(moved), "--json")
    assert json.loads(fewer.stdout)["images"] == 30 and "are in the training split of the run" in fewer.stderr
    ok("explain", run, "--data", moved / "captions.json", "--out", tmp_path / "why")
    assert json.loads((tmp_path / "why" / "explain.json").read_text())["facts"]["samples"] == "30 images"


def test_copies_in_the_test_split_and_long_captions_are_counted(data, tmp_path):
    copy = shutil.copytree(data, tmp_path / "copy")
    captions = json.loads((copy / "captions.json").read_text())
    for image in captions["images"]:
        image["file_name"] = f"{image['id'] % 2 + 1:012}.png"
    captions["annotations"][0]["caption"] = "a " * 40
    (copy / "captions.json").write_text(json.dumps(captions))
    shown = ok("data", "show", copy / "captions.json", "--task", "captioning", "--set", f"data.images={copy / 'images'}", "--set", "data.size=16")
    assert "4 of the 4 test images are identical to images of the training or validation split" in shown.stdout
    long = ok("train", "caption", *source(copy), "--out", tmp_path / "run", *SMALL, "--set", "train.max_steps=1", "--set", "data.split_ratios=[0.9,0.1,0]")
    assert "training captions have 9 or more words" in long.stderr and "(model.max_words)" in long.stderr


def test_score_matches_captions_by_file_name(run, data, tmp_path):
    # Own ids, as labelling tools export them: the numbers of the names are the ids of other images.
    captions = json.loads((data / "captions.json").read_text())
    shift = {image["id"]: image["id"] % 36 + 1 for image in captions["images"]}
    for image in captions["images"]:
        image["id"] = shift[image["id"]]
    for caption in captions["annotations"]:
        caption["image_id"] = shift[caption["image_id"]]
    own = tmp_path / "own.json"
    own.write_text(json.dumps(captions))
    out = tmp_path / "captions.json"
    ok("caption", run, data / "images", "--out", out)
    scores = json.loads(ok("score", out, own, "--json").stdout)
    assert scores == json.loads(ok("score", out, data / "captions.json", "--json").stdout)
    evaluated = json.loads(ok("evaluate", run, "--data", own, "--images", data / "images", "--json").stdout)
    assert [scores[key] for key in KEYS] == [evaluated[key] for key in KEYS]
    # Files without ids, whose images are named alone.
    lines = tmp_path / "captions.txt"
    names = {image["id"]: image["file_name"] for image in captions["images"]}
    lines.write_text("image,caption\n" + "".join(f'{names[one["image_id"]]},"{one["caption"]}"\n' for one in captions["annotations"]))
    assert json.loads(ok("score", out, lines, "--json").stdout) == scores
    results = json.loads(out.read_text())
    results[3]["file_name"] = "other.png"
    out.write_text(json.dumps(results))
    fails(65, "[3] is for the file 'other.png', which is not in", arguments=["score", out, own])
    results[3]["file_name"] = results[2]["file_name"]
    out.write_text(json.dumps(results))
    fails(65, "[3]: the file '000000000003.png' has two captions, the first is [2]", arguments=["score", out, own])
    del results[3]["file_name"]
    out.write_text(json.dumps(results))
    ok("score", out, data / "captions.json")  # by image_id
    fails(65, 'has no image ids, so that captions are matched by "file_name"', arguments=["score", out, lines])


FORMATS = {
    "Flickr8k.token.txt": lambda rows: "".join(f"{name}#{i}\t{text}\n" for name, texts in rows for i, text in enumerate(texts)),
    "captions.txt": lambda rows: "image,caption\n" + "".join(f'{name},"{text}"\n' for name, texts in rows for text in texts),
    "results.csv": lambda rows: "image_name| comment_number| comment\n" + "".join(
        f"{name}| {i}| {text}\n" for name, texts in rows for i, text in enumerate(texts)),
    "metadata.jsonl": lambda rows: "".join(json.dumps({"file_name": name, "text": text}) + "\n" for name, texts in rows for text in texts),
    "list.json": lambda rows: json.dumps([{"image": name, "caption": texts} for name, texts in rows]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_captions_are_read_in_their_usual_formats(data, tmp_path, name):
    captions = json.loads((data / "captions.json").read_text())
    rows = [(image["file_name"], [one["caption"] for one in captions["annotations"] if one["image_id"] == image["id"]])
            for image in captions["images"]]
    (tmp_path / name).write_text(FORMATS[name](rows))
    images = ["--set", f"data.images={data / 'images'}", "--set", "data.size=16", "--json"]
    shown = json.loads(ok("data", "show", tmp_path / name, *images).stdout)
    assert shown["hash"] == json.loads(ok("data", "show", data / "captions.json", *images).stdout)["hash"]  # ids count from 1, too


def test_a_file_without_ids_trains_and_is_scored(data, tmp_path):
    captions = json.loads((data / "captions.json").read_text())
    names = {image["id"]: image["file_name"] for image in captions["images"]}
    split = {"train": 24, "val": 30, "test": 36}
    karpathy = {"images": [{"filename": names[i], "imgid": i, "split": next(part for part, last in split.items() if i <= last),
                            "sentences": [{"raw": one["caption"]} for one in captions["annotations"] if one["image_id"] == i]}
                           for i in names], "dataset": "squares"}
    (tmp_path / "dataset.json").write_text(json.dumps(karpathy))
    out = tmp_path / "run"
    trained = ok("train", tmp_path / "dataset.json", "--images", data / "images", *SMALL, "--out", out, "--set", "train.epochs=1", timeout=200)
    assert f"next: modewise caption {out} IMAGES" in trained.stderr
    metrics = json.loads((out / "metrics.json").read_text())
    assert (metrics["train"]["images"], metrics["validation"]["images"], metrics["test"]["images"]) == (24, 6, 6)
    scores = json.loads(ok("score", out / "captions.json", tmp_path / "dataset.json", "--json").stdout)
    assert [scores[key] for key in KEYS] == [metrics["test"][key] for key in KEYS]
    everything = ok("evaluate", out, "--split", "all", "--json")
    assert json.loads(everything.stdout)["images"] == 36 and "24 are in the training split of the run" in everything.stderr
    (tmp_path / "broken.jpg").write_text("no picture")
    fails(65, "; --skip-broken 1 (a number of files, or a fraction below 1) leaves it out",
          arguments=["caption", out, tmp_path / "broken.jpg"])
    fails(2, "--out must end in .json, got 'o.csv'", arguments=["caption", out, data / "images", "--out", "o.csv"])
    fails(78, f"expected a file of captions, got the folder {data}", arguments=["train", "caption", "--data", data, "--images", data / "images"])
