"""Classification of volumes as its users meet it: exit codes, sentences, files, resuming, the official score files."""
import gzip
import json
import struct
import tomllib

import numpy as np
import pytest

from cli_helpers import fails, ok


SMALL = ["--set", "model.width=16", "--set", "model.hidden=16", "--set", "model.heads=2", "--set", "model.layers=1",
         "--set", "train.epochs=4", "--set", "train.batch_size=16", "--set", "output.report=false",
         "--set", "train.schedule.warmup_steps=0", "--set", "train.optimizer.learning_rate=0.005"]


def volumes(count, seed, classes=2, size=8):
    """Boxes of noise; class k has a bright corner of k + 1 voxels a side at a place of its own."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, size=(count, 1)).astype(np.uint8)
    labels[:classes, 0] = np.arange(classes)
    images = rng.integers(0, 60, size=(count, size, size, size)).astype(np.uint8)
    for image, label in zip(images, labels[:, 0]):
        image[int(label) * 2:int(label) * 2 + 3, 1:5, 1:5] += 150
    return images, labels


def write_npz(path, counts=(60, 20, 24), classes=2, size=8):
    arrays = {}
    for i, (split, count) in enumerate(zip(("train", "val", "test"), counts)):
        arrays[split + "_images"], arrays[split + "_labels"] = volumes(count, i, classes, size)
    np.savez_compressed(path, **arrays)
    return path


def train(path, *more):
    return ["train", "classify-volumes", "--data", path, "--out", path.parent / "out", *SMALL, *more]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("volumes")
    data = write_npz(folder / "boxes.npz")
    ok("train", "classify-volumes", "--data", data, "--out", folder / "run", *SMALL, "--set", "output.report=true", "--set",
       "model.patch.size=4")
    return folder / "run"


def test_a_run_learns_and_keeps_its_files(run):
    for name in ("config.toml", "manifest.json", "data.json", "metrics.json", "metrics.jsonl", "predictions.npz", "report.html"):
        assert (run / name).exists(), name
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["criterion"] == "val_auc"
    assert metrics["test"]["auc"] > 0.95
    assert json.loads((run / "manifest.json").read_text())["task"] == "volume_classification"
    page = (run / "report.html").read_text()
    for words in ("ROC", "Lowest and highest scores", "Attention maps", "Settings"):
        assert words in page


def write_npy(path, images, labels):
    np.save(path, images)
    path.with_suffix(".csv").write_text("label\n" + "".join(f"{label}\n" for label in labels[:, 0]))
    return path, "--labels", path.with_suffix(".csv")


@pytest.mark.parametrize("kind", ["<u2", ">u2", "<u4", "<u8", "<i2", "<i8", "?", "<f2", "<f8"])
def test_voxels_of_any_type_train_alike(tmp_path, kind):
    images, labels = volumes(40, 0)
    images = images > 100 if kind == "?" else images
    best = []
    for number, values in enumerate((images.astype(kind), images.astype("<f4"))):
        (tmp_path / str(number)).mkdir()
        ok(*train(*write_npy(tmp_path / str(number) / "v.npy", values, labels), "--epochs", 1, "--set", "data.intensity=volume"))
        best.append(json.loads((tmp_path / str(number) / "out" / "metrics.json").read_text())["best"])
    assert best[0] == best[1]


@pytest.mark.parametrize("shape, channels", [((8, 8), "none"), ((8, 8, 3), "last"), ((2, 3, 4, 5), "none"), ((8, 8, 8), "none")])
def test_only_volumes_of_three_axes_are_rotated(tmp_path, shape, channels):
    images, labels = np.random.default_rng(0).random((40, *shape), dtype="f4"), volumes(40, 0)[1]
    axes = len(shape) - (channels == "last")
    options = [*write_npy(tmp_path / "v.npy", images, labels), "--epochs", 1, "--set", "data.intensity=none", "--set", f"data.channels={channels}"]
    if axes > 3:
        fails(78, '"linear" is for any number', arguments=train(*options))
        options += ["--set", "model.patch.embedding=linear", "--overwrite"]
    ok(*train(*options))
    assert tomllib.loads((tmp_path / "out" / "config.toml").read_text())["augment"]["rotate"] == (15 if axes == 3 else 0)
    if axes != 3:
        fails(78, f"are for volumes with 3 axes, these have {axes}", arguments=train(*options, "--set", "augment.rotate=5", "--overwrite"))


@pytest.mark.parametrize(("size", "patch"), [(16, 2), (64, 8)])
def test_the_patch_follows_the_volumes_and_is_named_in_the_config(tmp_path, size, patch):
    data = write_npz(tmp_path / "boxes.npz", counts=(4, 4, 4), size=size)
    ok(*train(data, "--set", "train.max_steps=1"))
    lines = (tmp_path / "out" / "config.toml").read_text().splitlines()
    assert f"size = [{patch}]" in lines[lines.index("[model.patch]"):lines.index("[model.position]")]


def test_score_files_are_medmnists(run):
    sklearn = pytest.importorskip("sklearn.metrics")
    (path,) = run.glob("boxes_test_[[]AUC[]]*.csv")
    table = np.loadtxt(path, delimiter=",")
    assert (table[:, 0] == np.arange(24)).all() and np.allclose(table[:, 1:].sum(1), 1)
    labels = np.load(run.parent / "boxes.npz")["test_labels"][:, 0]
    metrics = json.loads((run / "metrics.json").read_text())["test"]
    assert abs(sklearn.roc_auc_score(labels, table[:, -1]) - metrics["auc"]) < 1e-12
    assert abs(sklearn.accuracy_score(labels, table[:, -1] > 0.5) - metrics["accuracy"]) < 1e-12
    assert f"[AUC]{metrics['auc']:.3f}_[ACC]{metrics['accuracy']:.3f}@" in path.name
    again = json.loads(ok("evaluate", path, "--data", run.parent / "boxes.npz", "--json").stdout)
    assert again["auc"] == metrics["auc"] and again["accuracy"] == metrics["accuracy"]
    fails(2, "--data", arguments=["evaluate", path])
    short = path.with_name("short.csv")
    short.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    fails(65, "23 samples", "test split", arguments=["evaluate", short, "--data", run.parent / "boxes.npz"])


def test_later_files_are_scaled_as_in_training(run, tmp_path):
    images = np.load(run.parent / "boxes.npz")["test_images"]
    scores = {}
    for name, values in {"bytes": images, "floats": images.astype(np.float32), "integers": images.astype(np.int32),
                         "wide": images.astype(np.float32) + 200}.items():
        np.savez(tmp_path / f"{name}.npz", images=values, labels=np.arange(24) % 2)
        said = ok("predict", run, "--data", tmp_path / f"{name}.npz", "--json")
        assert ("values outside 0 to 255" in said.stderr) == (name == "wide")
        scores[name] = [one["scores"] for one in json.loads(said.stdout)["volumes"]]
    assert scores["bytes"] == scores["floats"] == scores["integers"] != scores["wide"]
    described = json.loads((run / "data.json").read_text())
    assert (described["intensity"], described["intensity_unit"]) == ("unit", 255)


def test_columns_of_groups_need_a_table(run, tmp_path):
    data = run.parent / "boxes.npz"
    fails(78, f"data.group_column = patient: {data} has no table of labels", arguments=train(data, "--set", "data.group_column=patient"))
    np.save(tmp_path / "scan.npy", np.zeros((4, 4, 4, 4), np.float32))
    (tmp_path / "t.csv").write_text("label,group\n0,AD\n0,AD\n1,CN\n1,CN\n")
    fails(65, "there are no validation volumes: 2 groups in 2 classes are split by data.split_ratios", "(data.group_column)",
          arguments=train(tmp_path / "scan.npy", "--labels", tmp_path / "t.csv"))


def test_explain_takes_away_what_it_says(run, tmp_path):
    # Volumes whose means are whole numbers, so that a slab put at the mean can be written into a file of bytes.
    arrays = dict(np.load(run.parent / "boxes.npz"))
    images = arrays["test_images"][:4].copy()
    for image in images:
        image.reshape(-1)[:-int(image.sum()) % 512] += 1
    means = images.reshape(4, -1).mean(1)
    assert (means == means.astype(int)).all()

    def scores(volumes):
        np.savez(tmp_path / "some.npz", **{**arrays, "test_images": volumes, "test_labels": arrays["test_labels"][:4]})
        answer = json.loads(ok("predict", run, "--data", tmp_path / "some.npz", "--json").stdout)
        return np.array([one["scores"] for one in answer["volumes"][-4:]])

    whole = scores(images)
    result = json.loads(ok("explain", run, "--data", tmp_path / "some.npz", "--samples", 4, "--num-examples", 4, "--json").stdout)
    assert result["modes"] == ["axis 0", "axis 1", "axis 2"]
    for axis, influence in enumerate(result["influence"]):
        assert influence["places"] == ["0 … 3", "4 … 7"]
        for i, effect in enumerate(influence["effect"]):
            slab = images.copy()
            np.moveaxis(slab, axis + 1, 0)[4 * i:4 * i + 4] = means[:, None, None]
            assert np.isclose(np.abs(scores(slab) - whole).mean(), effect, rtol=1e-3, atol=1e-6)
    kept = np.load(run / "explain" / "explain.npz")
    for axis in range(3):
        single = kept[f"layer1_axis_{axis}"].astype(float)
        assert single.shape == (4, 2, 2, 2) and np.allclose(single.sum(-1), 1, atol=1e-5)
        assert np.allclose(single.mean(0), kept[f"layer1_axis_{axis}_mean"], atol=1e-6)
        ranks = np.linalg.norm(single, axis=(-2, -1))**2 / np.linalg.norm(single, 2, axis=(-2, -1))**2
        assert np.allclose(result["stable_rank"][0]["modes"][f"axis {axis}"], ranks.mean(0), rtol=1e-4)
    assert "Attention maps" in (run / "explain" / "explain.html").read_text()


def test_evaluate_predict_report_and_compare(run, tmp_path):
    metrics = json.loads((run / "metrics.json").read_text())
    assert json.loads(ok("evaluate", run, "--json").stdout) == metrics["test"]
    assert json.loads(ok("evaluate", run, "--split", "validation", "--json").stdout) == metrics["validation"]
    assert "precision" in ok("evaluate", run, "--detail").stdout
    sklearn = pytest.importorskip("sklearn.metrics")
    pairs = [(i, j) for i, row in enumerate(metrics["test"]["confusion"]) for j, count in enumerate(row) for _ in range(count)]
    by_class = zip(*sklearn.precision_recall_fscore_support(*zip(*pairs), labels=[0, 1], zero_division=np.nan)[:3])
    for one, wanted in zip(metrics["test"]["classes"], by_class):
        assert np.allclose(np.array([one["precision"], one["recall"], one["f1"]], float), wanted, equal_nan=True)
    assert np.isclose(metrics["test"]["macro_f1"], sklearn.f1_score(*zip(*pairs), average="macro"))
    out = tmp_path / "classes.csv"
    ok("predict", run, "--data", run.parent / "boxes.npz", "--out", out)
    lines = out.read_text().splitlines()
    assert lines[0] == "volume,class,0,1" and len(lines) == 1 + 104
    fails(73, "--overwrite", arguments=["predict", run, "--out", out])
    fails(2, "--steps is only for forecasts", arguments=["predict", run, "--steps", "3"])
    ok("predict", run, "--out", tmp_path / "classes.npz")
    kept = np.load(run / "predictions.npz")
    assert np.allclose(np.load(tmp_path / "classes.npz")["scores"], kept["test_scores"])
    second = tmp_path / "second"
    ok("train", "classify-volumes", "--data", run.parent / "boxes.npz", "--out", second, *SMALL, "--seed", "1",
       "--set", "output.report=true", "--set", "model.patch.size=4")
    groups = json.loads(ok("compare", run, second, "--json").stdout)["groups"]
    assert len(groups) == 1 and len(groups[0]["runs"]) == 2
    assert "±" in ok("compare", run, second).stdout
    ok("report", run, second, "--out", tmp_path / "both.html")
    assert "Comparison of" in (tmp_path / "both.html").read_text()


def test_the_data_and_the_settings_show_themselves(run):
    shown = json.loads(ok("data", "show", run.parent / "boxes.npz", "--json").stdout)
    assert shown["size"] == [8, 8, 8] and shown["splits"]["test"]["volumes"] == 24
    assert "validation" in ok("data", "show", run.parent / "boxes.npz").stdout
    assert "embedding = " in ok("config", "show", "volume_classification").stdout
    assert "width = 16" in ok("config", "show", "--run", run).stdout


def test_stopping_and_resuming_ends_with_the_same_bits(run, tmp_path):
    """Augmentation and dropout are keyed by the step: a run cut short and resumed, on another number of threads, ends alike."""
    data = run.parent / "boxes.npz"
    noisy = ["--set", "augment.flip_axes=[0]", "--set", "augment.rotate=10", "--set", "augment.noise=0.1",
             "--set", "classify.mixup=0.3", "--set", "train.ema_decay=0.9", "--set", "train.schedule.name=constant"]
    ok("train", "classify-volumes", "--data", data, "--out", tmp_path / "whole", *SMALL, *noisy, "--threads", "1")
    ok("train", "classify-volumes", "--data", data, "--out", tmp_path / "cut", *SMALL, *noisy, "--threads", "3",
       "--set", "train.max_steps=5")
    ok("train", "classify-volumes", "--resume", tmp_path / "cut", "--set", "train.max_steps=0", "--allow-config-changes", "--threads", "2")
    for kept in ("model", "ema", "optimizer"):
        bits = [next((tmp_path / name / "checkpoints").glob(f"step_16*/{kept}.safetensors")).read_bytes() for name in ("whole", "cut")]
        assert bits[0] == bits[1], kept


@pytest.mark.parametrize("model", ["transformer", "divided", "pooling-attention", "resnet18"])
def test_every_model_trains(run, tmp_path, model):
    sizes = ["--set", "model.resnet.width=4"] if model == "resnet18" else SMALL[:8]
    result = ok("train", "classify-volumes", "--data", run.parent / "boxes.npz", "--out", tmp_path / model, "--model", model,
                *sizes, *SMALL[8:], "--set", "train.epochs=1", "--json")
    assert json.loads(result.stdout)["test"]["samples"] == 24


# Bad input: each a sentence and the right exit code.


@pytest.mark.parametrize("settings", [["train.batch_size=1"], ["train.batch_size=59"], ["train.batch_size=5", "train.shards=4"]])
def test_one_value_per_channel_cannot_be_normalized(run, tmp_path, settings):
    resnet = ["train", "classify-volumes", "--data", run.parent / "boxes.npz", "--model", "resnet18", "--set", "model.resnet.width=4",
              *SMALL[8:], "--set", "train.epochs=1", *(word for one in settings for word in ("--set", one))]
    fails(78, "more than 1 value per channel", "train.batch_size", "train.drop_last", arguments=[*resnet, "--out", tmp_path / "run"])
    if settings == ["train.batch_size=59"]:
        ok(*resnet, "--out", tmp_path / "dropped", "--set", "train.drop_last=true")


def test_missing_arrays_and_labels_out_of_range(tmp_path):
    path = write_npz(tmp_path / "d.npz")
    arrays = dict(np.load(path))
    arrays.pop("val_images")
    np.savez(tmp_path / "e.npz", **arrays)
    fails(65, "val_images is missing", arguments=train(tmp_path / "e.npz"))
    arrays = dict(np.load(path))
    arrays["test_labels"] = arrays["test_labels"] + 5
    np.savez(tmp_path / "f.npz", **arrays)
    fails(65, "is out of range", arguments=train(tmp_path / "f.npz"))
    arrays["test_labels"] = np.load(path)["test_labels"].astype(float) - 1
    np.savez(tmp_path / "g.npz", **arrays)
    fails(65, "is not a whole number from 0", arguments=train(tmp_path / "g.npz"))
    assert not (tmp_path / "out").exists()


def test_a_known_set_with_wrong_counts(tmp_path):
    path = write_npz(tmp_path / "adrenalmnist3d.npz")
    fails(65, "1188 + 98 + 298", "60 + 20 + 24", arguments=train(path))
    ok(*train(path, "--set", "data.counts=any", "--set", "train.epochs=1"))


def test_a_damaged_file_and_none(tmp_path):
    path = write_npz(tmp_path / "d.npz")
    path.write_bytes(path.read_bytes()[:-100])
    fails(65, "d.npz", arguments=train(path))
    fails(66, "there is no file or folder", arguments=train(tmp_path / "none.npz"))
    fails(2, "no data: give --data FILE", arguments=["train", "classify-volumes"])


def test_one_class_in_validation(tmp_path):
    path = write_npz(tmp_path / "d.npz")
    arrays = dict(np.load(path))
    arrays["val_labels"][:] = 0
    np.savez(tmp_path / "e.npz", **arrays)
    fails(65, "validation volumes are all of one class", arguments=train(tmp_path / "e.npz"))


def test_runs_of_different_tasks_are_kept_apart(run, tmp_path):
    (tmp_path / "s.csv").write_text("a,b\n" + "\n".join(f"{i % 7},{i % 5}" for i in range(300)) + "\n")
    ok("train", "forecast", "--data", tmp_path / "s.csv", "--out", tmp_path / "f", "--model", "repeat",
       "--set", "forecast.lookback=24", "--set", "forecast.horizon=8", "--set", "output.report=false")
    fails(2, "runs of one task", arguments=["compare", run, tmp_path / "f"])
    fails(2, "is a run of the task 'forecasting'", arguments=["train", "classify-volumes", "--resume", tmp_path / "f"])


def test_new_data_must_fit_the_run(run, tmp_path):
    larger = write_npz(tmp_path / "large.npz", size=9)
    fails(65, "volumes of up to 9 × 9 × 9 voxels", "8 × 8 × 8", arguments=["evaluate", run, "--data", larger])
    smaller = write_npz(tmp_path / "small.npz", size=7)
    fails(65, "takes no masks", arguments=["evaluate", run, "--data", smaller])
    many = write_npz(tmp_path / "many.npz", classes=3)
    fails(65, "label 2", "there are 2 classes", arguments=["evaluate", run, "--data", many])


# NIfTI folders: volumes of different sizes in one batch.


def nifti(values):
    """A NIfTI-1 file of float32 voxels of 1 mm, in RAS."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, values.ndim, *values.shape, *[1] * (7 - values.ndim))
    struct.pack_into("<hh", header, 70, 16, 32)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 0, 0, 0, 0)
    struct.pack_into("<ff", header, 108, 352, 1)
    struct.pack_into("<h", header, 254, 1)
    struct.pack_into("<12f", header, 280, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0)
    header[344:348] = b"n+1\0"
    return bytes(header) + values.astype("<f4").tobytes(order="F")


def test_a_folder_of_nifti_of_different_sizes(tmp_path):
    folder = tmp_path / "scans"
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = ["file,label,split"]
    for i in range(48):
        label = i % 2
        shape = (8, 8, 8 if i % 3 else 6)
        values = rng.normal(size=shape)
        values[label * 4:label * 4 + 3] += 3
        if i % 5 == 0:
            values[:, :, 2] = np.nan  # a missing slice
        content = nifti(values)
        (folder / f"scan{i}.nii.gz").write_bytes(gzip.compress(content))
        rows.append(f"scan{i}.nii.gz,{'ab'[label]},{'train' if i < 28 else 'validation' if i < 38 else 'test'}")
    (folder / "labels.csv").write_text("\n".join(rows) + "\n")
    shown = json.loads(ok("data", "show", folder, "--json").stdout)
    assert shown["classes"] == ["a", "b"] and shown["missing"] and shown["size"] == [8, 8, 8]
    result = ok("train", "classify-volumes", "--data", folder, "--out", tmp_path / "run", *SMALL, "--set", "model.patch.size=2",
                "--set", "train.epochs=6", "--json")
    assert json.loads(result.stdout)["test"]["auc"] > 0.9
    fails(78, "does not support masks", arguments=["train", "classify-volumes", "--data", folder, "--model", "resnet18"])


def test_classes_are_the_labels_that_occur(tmp_path):
    images, labels = volumes(60, 0)
    np.savez(tmp_path / "gap.npz", images=images, labels=np.array([3, 7])[labels[:, 0]])
    ok(*train(tmp_path / "gap.npz"))
    run = tmp_path / "out"
    assert json.loads((run / "data.json").read_text())["classes"] == ["3", "7"]
    assert 0 <= json.loads((run / "metrics.json").read_text())["test"]["auc"] <= 1
    np.savez(tmp_path / "seven.npz", images=images[labels[:, 0] == 1], labels=np.full(labels.sum(), 7))
    evaluation = json.loads(ok("evaluate", run, "--data", tmp_path / "seven.npz", "--json").stdout)
    assert sum(evaluation["confusion"][0]) == 0 and sum(evaluation["confusion"][1]) == labels.sum()
    np.savez(tmp_path / "five.npz", images=images, labels=np.full(60, 5))
    fails(65, "label 5 of sample 0 is out of range: there are 2 classes, 3, 7", arguments=["evaluate", run, "--data", tmp_path / "five.npz"])


@pytest.mark.parametrize(("name", "shape", "dtype", "task"), [
    ("x", (8, 8), "u1", "image"), ("x", (8, 8, 3), "u1", "image"), ("x", (8, 8, 8), "u1", "volume"), ("x", (8, 8), "f4", "volume"),
    ("x", (8, 8, 8, 3), "u1", "volume"), ("bloodmnist", (8, 8, 3), "u1", "image")])  # fmt: skip
def test_arrays_of_images_go_to_their_task(tmp_path, name, shape, dtype, task):
    images = np.random.default_rng(0).integers(0, 255, (16, *shape)).astype(dtype)
    arrays = {f"{part}_{kind}": values for part in ("train", "val", "test") for kind, values in (("images", images), ("labels", np.arange(16) % 8))}
    np.savez(tmp_path / f"{name}.npz", **arrays)
    said = json.loads(ok("data", "show", tmp_path / f"{name}.npz", "--json").stdout)
    assert ("pictures" in said) == (task == "image")
    assert (said["classes"][0] == "basophil") == (name == "bloodmnist")


@pytest.mark.parametrize(("shape", "channels"), [((1, 8, 8, 8), "first"), ((3, 8, 8), "first"), ((8, 8, 3), "last"), ((8, 8, 8), None), ((8, 8, 8, 1), None)])
def test_an_axis_that_looks_like_channels_is_named(tmp_path, shape, channels):
    images = np.random.default_rng(0).random((20, *shape), dtype="f4")
    np.savez(tmp_path / "v.npz", images=images, labels=np.arange(20) % 2)
    show = ["data", "show", tmp_path / "v.npz", "--task", "volume_classification"]
    text = ok(*show).stdout
    assert (f'data.channels = "{channels}" takes the axis of' in text) == (channels is not None), text
    if channels:
        said = json.loads(ok(*show, "--json", "--set", f"data.channels={channels}").stdout)
        assert said["channels"] == min(shape) and said["size"] == [8] * (len(shape) - 1) and not any("data.channels" in note for note in said["notes"])


def test_voxels_of_different_sizes_are_named(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(40):
        scan = tmp_path / "scans" / "ab"[i % 2] / f"{i}.nii"
        scan.parent.mkdir(parents=True, exist_ok=True)
        header = bytearray(nifti(rng.normal(size=(8, 8, 8)) + i % 2))
        struct.pack_into("<f", header, 88, 1 + i % 4 // 2)
        struct.pack_into("<f", header, 280 + 4 * 10, 1 + i % 4 // 2)
        scan.write_bytes(bytes(header))
    said = ok(*train(tmp_path / "scans", "--set", "train.max_steps=1")).stderr
    assert "voxels of 1 × 1 × 1 to 1 × 1 × 2 mm; data.spacing resamples volumes to one voxel size" in said
    struct.pack_into("<f", header, 88, 5)
    struct.pack_into("<f", header, 280 + 4 * 10, 5)
    (tmp_path / "thick.nii").write_bytes(bytes(header))
    assert "voxels of 1 × 1 × 5 mm, but the run was trained on 1 × 1 × 1 to 1 × 1 × 2 mm" in ok("predict", tmp_path / "out", "--data", tmp_path / "thick.nii").stderr
    assert " mm" not in ok("predict", tmp_path / "out", "--data", scan).stderr


def test_settings_without_effect_on_arrays_with_splits_are_refused(tmp_path):
    data = write_npz(tmp_path / "boxes.npz", (12, 6, 6))
    fails(78, "boxes.npz: data.labels = ", "l.csv has no effect, as the file has MedMNIST's arrays", arguments=train(data, "--labels", tmp_path / "l.csv"))
    fails(78, "data.images = x has no effect", arguments=train(data, "--set", "data.images=x"))
    images, labels = volumes(8, 1)
    np.savez(tmp_path / "xy.npz", X=images, y=labels)
    fails(65, "train_images is missing (there are: X, y); data.images and data.labels name arrays without splits",
          arguments=train(tmp_path / "xy.npz"))
    np.savez(tmp_path / "named.npz", images=images, labels=np.array(["ill", "well"])[labels[:, 0]])
    fails(65, "texts of type '<U4' are not read", "numpy.unique(labels, return_inverse=True)[1]", arguments=train(tmp_path / "named.npz"))


def test_only_axes_of_the_volumes_are_flipped(tmp_path):
    data = write_npz(tmp_path / "boxes.npz", (12, 6, 6))
    for key in ("classify", "augment"):
        fails(78, f"{key}.flip_axes contains 3, but the volumes have axes 0 to 2", arguments=train(data, "--set", f"{key}.flip_axes=3"))


def test_score_files_are_read_as_medmnist_does(run, tmp_path):
    kept = np.load(run / "predictions.npz")
    data = run.parent / "boxes.npz"

    def write(name, rows):
        (tmp_path / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        return tmp_path / name

    rows = [[i, *scores] for i, scores in enumerate(kept["test_scores"])]
    file = write("scores.csv", rows[::-1])
    said = json.loads(ok("evaluate", file, "--data", data, "--json").stdout)
    test = json.loads((run / "metrics.json").read_text())["test"]
    assert said["auc"] == test["auc"] and said["accuracy"] == test["accuracy"]
    fails(65, "scores.csv:3: the first column must have the indices of the samples, 0 to 23, each once, got 1",
          arguments=["evaluate", write("scores.csv", [rows[0], rows[1], rows[1], *rows[3:]]), "--data", data])
    fails(65, "scores.csv:1: the first column", arguments=["evaluate", write("scores.csv", [[i + 1, *r[1:]] for i, r in enumerate(rows)][::-1]), "--data", data])
    validation = write("boxmnist_val_mine.csv", [[i, *scores] for i, scores in enumerate(kept["validation_scores"])])
    assert json.loads(ok("evaluate", validation, "--data", data, "--json").stdout)["split"] == "validation"
    logits = write("logits.csv", [[i, -1.5, 1.5] for i in range(24)])
    assert "the scores of 24 samples, the first of index 0, are not probabilities" in ok("evaluate", logits, "--data", data).stderr
