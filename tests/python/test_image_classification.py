"""Image classification from the command line: folders of PNG and JPEG, CIFAR's batches, every command, and accuracy on
perturbed images. Accuracies are recomputed from predictions.npz and labels with numpy."""
import csv
import json

import numpy as np
import pytest

from cli_helpers import fails, ok
from safetensors.numpy import load_file

Image = pytest.importorskip("PIL.Image")

CLASSES = ["bars", "dots", "rows"]
SMALL = ["--set", "model.cnn.widths=[4,8]", "--set", "train.epochs=4", "--set", "train.batch_size=12",
         "--set", "train.schedule.warmup_steps=0", "--set", "train.optimizer.learning_rate=0.01", "--set", "augment.crop=1"]


def image_of(kind, rng, size=(13, 17)):
    """Noise in three channels with bright columns, rows, or single points."""
    pixels = rng.integers(0, 90, size=(*size, 3))
    if kind == "bars":
        pixels[:, rng.integers(0, 3)::4] += 150
    elif kind == "rows":
        pixels[rng.integers(0, 3)::4] += 150
    else:
        pixels[rng.integers(0, 3)::4, rng.integers(0, 3)::4] += 150
    return Image.fromarray(pixels.astype(np.uint8))


def write_folder(root, counts, seed=0):
    rng = np.random.default_rng(seed)
    for split, count in counts.items():
        for kind in CLASSES:
            folder = root / split / kind
            folder.mkdir(parents=True)
            for i in range(count):
                name = folder / (f"{i:03}.png" if i % 2 else f"{i:03}.jpg")
                image_of(kind, rng).save(name, **({} if i % 2 else {"quality": 95}))
    return root


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("images") / "shapes", {"train": 24, "val": 7, "test": 9})


@pytest.fixture(scope="module")
def run(data):
    ok("train", "classify-images", "--data", data, "--out", data.parent / "run", *SMALL, "--attention", "stt")
    return data.parent / "run"


def accuracy_of(run):
    arrays = np.load(run / "predictions.npz")
    return (arrays["test_scores"].argmax(1) == arrays["test_labels"].ravel()).mean()


def test_a_folder_of_images_trains_and_is_evaluated(run):
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["test"]["samples"] == 27
    assert metrics["test"]["accuracy"] == accuracy_of(run)
    assert metrics["test"]["accuracy"] > 0.9
    described = json.loads((run / "data.json").read_text())
    assert described["classes"] == CLASSES and described["size"] == [13, 17] and described["channels"] == 3
    page = (run / "report.html").read_text()
    for words in ("ROC", "Lowest and highest scores", "data:image/png;base64", "cnn stt", "Settings"):
        assert words in page, words


def test_normalisation_is_that_of_the_training_images(run, data):
    described = json.loads((run / "data.json").read_text())
    pixels = np.stack([np.asarray(Image.open(path)) for path in sorted(data.glob("train/*/*"))]) / 255.0
    # JPEG pixels may differ by a level between libraries, which moves a mean by less than 1e-4.
    np.testing.assert_allclose(described["mean"], pixels.mean((0, 1, 2)), atol=1e-6)
    np.testing.assert_allclose(described["std"], pixels.std((0, 1, 2)), atol=1e-6)


def test_predictions_explanations_and_reports(run, data, tmp_path):
    out = tmp_path / "scores.csv"
    ok("predict", run, "--data", data, "--out", out)
    rows = list(csv.DictReader(out.open()))
    assert len(rows) == 3 * (24 + 7 + 9)  # of new data everything
    ok("predict", run, "--out", tmp_path / "test.npz")
    predicted = np.load(tmp_path / "test.npz")
    np.testing.assert_array_equal(predicted["scores"], np.load(run / "predictions.npz")["test_scores"])
    names = predicted["names"].tobytes().decode().splitlines()
    listed = json.loads(ok("predict", run, "--json").stdout)
    assert names == [image["name"] for image in listed["pictures"]]
    assert predicted["classes"].tobytes().decode().splitlines() == listed["classes"]
    ok("explain", run, "--out", tmp_path / "why")
    arrays = np.load(tmp_path / "why" / "explain.npz")
    assert any(arrays[name].shape[-1] == 12 for name in arrays), {name: arrays[name].shape for name in arrays}  # 3 x 4 cells
    ok("report", run, "--out", tmp_path / "report.html")
    assert "Lowest and highest scores of the true class" in (tmp_path / "report.html").read_text()


def robustness(*arguments):
    return json.loads(ok("evaluate", *arguments, "--robustness", "--json").stdout)


def test_perturbed_images_of_one_run(run):
    (evaluated,) = robustness(run)
    assert evaluated["samples"] == 27 and evaluated["model"] == "cnn stt"
    assert evaluated["clean"] == accuracy_of(run)
    changes = {one["name"]: one for one in evaluated["perturbations"]}
    assert changes["gaussian_noise"]["strengths"] == pytest.approx([i / 100 for i in range(1, 11)])
    assert changes["rotation"]["strengths"] == [30.0 * i for i in range(1, 12)]
    half_turn = changes["rotation"]["accuracy"][changes["rotation"]["strengths"].index(180)]
    assert half_turn == changes["flip_both"]["accuracy"][0]
    assert len(changes) == 13


def test_perturbed_images_of_several_runs(run, data, tmp_path):
    ok("train", "classify-images", "--data", data, "--out", tmp_path / "second", *SMALL, "--attention", "stt", "--seed", "2")
    ok("train", "classify-images", "--data", data, "--out", tmp_path / "plain", *SMALL)
    runs = [run, tmp_path / "second", tmp_path / "plain"]
    evaluated = robustness(*runs, "--perturbations", "contrast,flip_vertical")
    assert [one["model"] for one in evaluated] == ["cnn stt", "cnn stt", "cnn"]
    text = ok("evaluate", *runs, "--robustness", "--perturbations", "contrast,flip_vertical", "--report", tmp_path / "page.html").stdout
    shares = np.array([one["perturbations"][0]["accuracy"] for one in evaluated[:2]]) * 100
    cells = [f"{m:.1f} ± {s:.1f}" for m, s in zip(shares.mean(0), shares.std(0, ddof=1))]
    table = text.split("contrast, by severity")[1].split("flip_vertical")[0]
    row = next(line for line in table.splitlines() if line.startswith("cnn stt"))
    assert all(cell in row for cell in cells), (row, cells)
    assert f"{evaluated[2]['clean'] * 100:.1f}" in next(line for line in table.splitlines() if line.startswith("cnn "[:4]) and "stt" not in line)
    assert "contrast, by severity" in (tmp_path / "page.html").read_text()


def test_perturbed_images_of_runs_with_other_settings_or_data_are_rows_of_their_own(run, data, tmp_path):
    ok("train", "classify-images", "--data", data, "--out", tmp_path / "wide", *SMALL, "--attention", "stt", "--set", "model.cnn.widths=[4,12]")
    other = write_folder(tmp_path / "others", {"train": 8, "val": 3, "test": 5}, seed=3)
    ok("train", "classify-images", "--data", other, "--out", tmp_path / "other", *SMALL, "--attention", "stt")
    flips = ["--robustness", "--perturbations", "flip_both"]
    text = ok("evaluate", run, tmp_path / "wide", *flips).stdout
    rows = [line for line in text.splitlines() if line.startswith("cnn stt")]
    assert len(rows) == 2 and "model.cnn.widths=[4, 12]" in rows[1] and "±" not in text, text
    text = ok("evaluate", run, tmp_path / "other", *flips).stdout
    rows = [line for line in text.splitlines() if "cnn stt" in line]
    assert [line.split(":")[0] for line in rows] == ["shapes", "others"] and "±" not in text, text
    assert [line.split()[3] for line in rows] == ["27", "15"]  # images


def test_robustness_uses_the_images_that_evaluate_uses(run, data, tmp_path):
    flips = ["--robustness", "--perturbations", "flip_both"]
    rng = np.random.default_rng(9)
    for kind in CLASSES:
        (tmp_path / "new" / kind).mkdir(parents=True)
        for i in range(10):
            image_of(kind, rng).save(tmp_path / "new" / kind / f"{i}.png")
    plain = json.loads(ok("evaluate", run, "--data", tmp_path / "new", "--json").stdout)
    evaluated = ok("evaluate", run, "--data", tmp_path / "new", *flips, "--json")
    (found,) = json.loads(evaluated.stdout)
    assert (found["samples"], found["clean"], found["data"], found["split"]) == (30, plain["accuracy"], "new", "all")
    assert "all of them are used, without a split" in evaluated.stderr
    known = ok("evaluate", run, "--data", data / "train", *flips)
    assert "are in the training split of the run" in known.stderr
    # Images that changed since the training.
    copy = write_folder(tmp_path / "copy", {"train": 8, "val": 3, "test": 5}, seed=3)
    ok("train", "classify-images", "--data", copy, "--out", tmp_path / "copied", *SMALL)
    image_of("bars", rng).save(copy / "test" / "dots" / "001.png")
    fails(65, "has changed since the training of", arguments=["evaluate", tmp_path / "copied", *flips])


def test_draws_are_those_of_the_seed(run):
    noise = ["--perturbations", "gaussian_noise"]
    first, again, other = (robustness(run, *noise, "--seed", seed) for seed in ("3", "3", "4"))
    assert first == again
    assert first[0]["seed"] == other[0]["seed"]  # of the training


@pytest.mark.parametrize("arguments, words", [
    (["--limit", "5"], "--limit has no effect without --robustness"),
    (["--robustness", "--detail"], "--detail has no effect with --robustness, which has no further tables"),
    (["--data", __file__, "--masks", __file__], "--masks is only for segmentation"),
    (["--robustness", "--perturbations", "gausian_noise"], "gaussian_noise"),
    (["--convention", "sliding"], "is of the task 'image_classification', which has no --convention"),
])
def test_flags_that_do_not_fit(run, arguments, words):
    fails(2, words, arguments=["evaluate", run, *arguments])


def test_several_runs_want_robustness(run):
    fails(2, "only --robustness evaluates several runs together", arguments=["evaluate", run, run])


def test_images_of_another_size_are_fitted(run, tmp_path):
    rng = np.random.default_rng(5)
    for kind in CLASSES:
        (tmp_path / "big" / kind).mkdir(parents=True)
        for i in range(3):
            image_of(kind, rng).resize((34, 26), Image.NEAREST).save(tmp_path / "big" / kind / f"{i}.png")
    evaluated = json.loads(ok("evaluate", run, "--data", tmp_path / "big", "--split", "all", "--json").stdout)
    assert evaluated["samples"] == 9


def test_images_without_a_class_are_predicted(run, data, tmp_path):
    loose = tmp_path / "loose"
    loose.mkdir()
    named = sorted((data / "test").glob("*/*"))
    for i, path in enumerate(named):
        (loose / f"{i:02}{path.suffix}").write_bytes(path.read_bytes())
    ok("predict", run, "--data", loose, "--out", tmp_path / "loose.npz")
    scores = np.load(tmp_path / "loose.npz")["scores"]
    np.testing.assert_array_equal(scores, np.load(run / "predictions.npz")["test_scores"])
    rows = json.loads(ok("predict", run, "--data", loose / "03.png", "--json").stdout)
    (one,) = rows["pictures"]
    assert list(one.values())[0] == "03.png" and one["class"] == CLASSES[scores[3].argmax()]
    fails(65, "has no class", arguments=["evaluate", run, "--data", loose])
    fails(65, "loose", arguments=["train", "classify-images", "--data", loose, "--out", tmp_path / "none"])
    classes = ["--set", "data.classes=['bars', 'dots', 'rows']"]
    fails(65, "training", arguments=["train", "classify-images", "--data", loose, "--out", tmp_path / "none", *classes])


def test_bad_folders_are_sentences(tmp_path):
    def refused(code, word, folder):
        fails(code, word, arguments=["train", "classify-images", "--data", folder, "--out", tmp_path / "run"])

    (tmp_path / "empty").mkdir()
    refused(65, "empty", tmp_path / "empty")
    broken = write_folder(tmp_path / "broken", {"train": 2, "val": 1, "test": 1})
    (broken / "train" / "bars" / "001.png").write_bytes((broken / "train" / "bars" / "001.png").read_bytes()[:60])
    refused(65, "001.png", broken)
    refused(66, "no file or folder", tmp_path / "nowhere")
    fails(2, "give --data FOLDER", arguments=["train", "classify-images", "--out", tmp_path / "run"])
    assert not (tmp_path / "run").exists()


def test_an_empty_split_is_explained(tmp_path):
    command = ["train", "classify-images", "--out", tmp_path / "run", "--data"]
    few = write_folder(tmp_path / "few", {"train": 3}) / "train"
    fails(65, "there are no validation images: 9 images in 3 classes are split by data.split_ratios = [0.7, 0.1, 0.2] of each class", arguments=[*command, few])
    two = write_folder(tmp_path / "two", {"train": 3, "test": 2})
    for share in (0.1, 0):
        fails(65, f"there are no validation images: data.validation_share = {share} takes none of any class of 9 training images",
              arguments=[*command, two, "--set", f"data.validation_share={share}"])


def test_data_show_counts_by_class(data):
    text = ok("data", "show", data).stdout
    assert "13 × 17 pixels" in text and "bars" in text


def test_a_mixture_of_named_types(data, tmp_path):
    mix = ["train", "classify-images", "--data", data, "--out", tmp_path / "run", *SMALL, "--set", "train.epochs=1", "--set", "output.report=false"]
    ok(*mix, "--attention", "mixture", "--set", "model.cnn.mixture=dense,random,tensor-height")
    weights = load_file(max((tmp_path / "run" / "checkpoints").glob("step_*")) / "best.safetensors")
    assert {name: tensor.shape for name, tensor in weights.items() if "theta" in name} == {"attention.logits.theta": (3,)}
    assert any(name.startswith("attention.logits.source1.") for name in weights)
    fails(78, "cnn.mixture has no effect", arguments=[*mix, "--overwrite", "--attention", "dense", "--set", "model.cnn.mixture=dense,random"])
    fails(2, "model.cnn.mixture", "must be one of dense, stt", "got 'dense,linformer'", arguments=[*mix, "--overwrite", "--attention", "mixture", "--set", "model.cnn.mixture=dense,linformer"])


def test_threads_change_no_bit(data, tmp_path):
    scores = []
    for threads in ("1", "2"):
        ok("train", "classify-images", "--data", data, "--out", tmp_path / threads, *SMALL, "--attention", "mixture", "--threads", threads,
           "--set", "output.report=false")
        scores.append(np.load(tmp_path / threads / "predictions.npz")["test_scores"])
    np.testing.assert_array_equal(*scores)
    assert scores[0].std() > 0.01


@pytest.mark.parametrize(("attention", "sums"), [("stt", True), ("additive", False)])
def test_rows_of_attention_sum_to_one_where_it_is_said(data, tmp_path, attention, sums):
    ok("train", "classify-images", "--data", data, "--out", tmp_path / "run", *SMALL, "--attention", attention, "--set", "train.max_steps=2")
    ok("explain", tmp_path / "run", "--out", tmp_path / "why")
    arrays = np.load(tmp_path / "why" / "explain.npz")
    rows = [arrays[name].sum(-1) for name in arrays if name.startswith("layer")]
    assert rows and all(np.allclose(one, 1, atol=1e-3) for one in rows) == sums
    assert ("rows sum to 1" in (tmp_path / "why" / "explain.html").read_text()) == sums


def test_cifar_folders_are_recognised_and_pickles_named(tmp_path):
    rng = np.random.default_rng(4)
    cifar = tmp_path / "cifar-10-batches-bin"
    cifar.mkdir()
    for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
        records = np.concatenate([np.arange(20).reshape(20, 1) % 10, rng.integers(0, 256, (20, 3072))], 1)
        (cifar / name).write_bytes(records.astype(np.uint8).tobytes())
    (cifar / "batches.meta.txt").write_text("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n")
    shown = json.loads(ok("data", "show", cifar, "--json").stdout)
    assert shown["pictures"] == 120 and shown["classes"][0] == "airplane"
    pickles = tmp_path / "cifar-10-batches-py"
    pickles.mkdir()
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch", "batches.meta"]:
        (pickles / name).write_bytes(b"\x80\x02}q\x01.")
    for arguments in (["data", "show", pickles], ["train", pickles], ["train", "classify-images", "--data", pickles]):
        fails(65, "cifar-10-batches-py: CIFAR-10's Python version, which modewise does not read; its binary version", arguments=arguments)
