"""Classifiers of volumes in Python: the program's scores, bit by bit."""

import os
import warnings

import numpy as np
import pytest
import sklearn.base
import torch

import modewise
from modewise import errors, nn

SMALL = {"model.width": 16, "model.hidden": 16, "model.heads": 2, "model.layers": 2, "train.epochs": 1, "train.batch_size": 16,
         "output.report": False, "train.schedule.warmup_steps": 0}  # fmt: skip
CASES = {
    "hot": {},
    "transformer": {"model.name": "transformer"},
    "divided": {"model.name": "divided"},
    "divided by mode": {"model.name": "divided", "model.position.rotary_modes": [1], "model.attention.query_key_norm": False},
    "release": {"model.preset": "release", "model.width": 16, "model.hidden": 16, "model.heads": 2, "model.layers": 1},
    "paper sum": {"model.preset": "paper", "model.attention.combine": "sum", "model.width": 16, "model.hidden": 16, "model.heads": 2,
                  "model.layers": 1},
    "linear": {"model.attention.kernel": "linear"},
    "uneven patches": {"model.patch.embedding": "relu", "model.patch.size": [2, 3, 5], "model.head.pooling": "attention"},
    "flat": {"model.head.pooling": "flatten", "model.position.encoding": "learned", "model.layer_scale": 0.1},
    "zoo": {"model.attention.type": "mixture"},
    "flips": {"classify.flip_axes": [0, 2]},
    "range": {"data.intensity": "range", "data.intensity_range": [20.0, 150.0]},
    "raw": {"data.intensity": "none"},
    "bf16": {"model.precision": "bf16"},
}


def volumes(count, seed, sizes):
    """Boxes of noise with a bright corner at a place of their class."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 3, size=(count, 1)).astype(np.uint8)
    labels[:3, 0] = [0, 1, 2]
    images = draw.integers(0, 60, size=(count, *sizes)).astype(np.uint8)
    for image, label in zip(images, labels[:, 0], strict=True):
        image[int(label) * 2 : int(label) * 2 + 3, 1:5] += 150
    return images, labels


def write(path, sizes):
    arrays = {}
    for seed, (split, count) in enumerate((("train", 40), ("val", 17), ("test", 19))):
        arrays[f"{split}_images"], arrays[f"{split}_labels"] = volumes(count, seed, sizes)
    np.savez(path, **arrays)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write(tmp_path_factory.mktemp("volumes") / "boxes.npz", (8, 8, 8))


def scores_of(said):
    return np.array([volume["scores"] for volume in said["volumes"]])


def trained(data, run, settings):
    modewise.tasks.train("volume_classification", {**SMALL, **settings, "data.path": data}, out=run, verbosity=-1)
    return modewise.load(run)


@pytest.mark.parametrize("name", CASES)
def test_scores_have_the_programs_bits(data, tmp_path, name):
    loaded = trained(data, tmp_path / "run", CASES[name])
    said = modewise.tasks.predict(tmp_path / "run")
    with np.load(data) as arrays:
        parts = {split: arrays[f"{split}_images"] for split in ("train", "val", "test")}
    asked = {19: parts["test"], 76: np.concatenate(list(parts.values()))}[len(said["volumes"])]
    assert loaded.classes == said["classes"]
    assert np.array_equal(loaded.predict_proba(asked), scores_of(said))
    assert loaded.predict(asked) == [volume["class"] for volume in said["volumes"]]
    assert len(np.unique(scores_of(said))) > 19


def test_an_ensemble_has_the_programs_bits(data, tmp_path):
    runs = [tmp_path / name for name in ("hot", "divided", "by-mode")]
    for run, settings in zip(runs, (CASES["flips"], {"model.name": "divided"}, CASES["divided by mode"])):
        trained(data, run, {"classify.flip_axes": [0, 2], **settings})
    modewise.tasks.train("volume_classification", {"data.path": data, "model.name": "ensemble", "model.ensemble.runs": list(map(str, runs))},
                         out=tmp_path / "run", verbosity=-1)  # fmt: skip
    loaded = modewise.load(tmp_path / "run")
    with np.load(data) as arrays:
        scores = loaded.predict_proba(arrays["test_images"])
    assert np.array_equal(scores, scores_of(modewise.tasks.predict(tmp_path / "run"))[-19:])
    assert loaded.config["classify"]["flip_axes"] == [0, 2]
    assert not any(parameter.requires_grad for parameter in loaded.module.parameters())


def test_voxels_that_are_missing_are_masked(data, tmp_path):
    """Those of value 0 here: they change nothing, and the scores are the program's."""
    loaded = trained(data, tmp_path / "run", {"data.missing_values": [0.0]})
    assert loaded.shape.missing
    with np.load(data) as arrays:
        images = arrays["test_images"]
    valid = torch.from_numpy(images != 0)
    values = loaded.scaled(images)
    with torch.no_grad():
        scores = torch.softmax(loaded.module(values, valid).double(), -1)
        noise = torch.where(valid.unsqueeze(-1), values, torch.full((), 7.0))
        assert torch.equal(torch.softmax(loaded.module(noise, valid).double(), -1), scores)
    said = scores_of(modewise.tasks.predict(tmp_path / "run"))
    assert np.array_equal(scores.numpy(), said[-19:]) and np.array_equal(loaded.predict_proba(images), said[-19:])


@pytest.mark.parametrize("rule", ["auto", "none"])
def test_volumes_of_floats_with_gaps_have_the_programs_scores(labelled, rule):
    X, y = labelled
    X = X.astype(np.float32)
    X[::3, 2, :3], X[1::3, 5:, 4] = np.nan, -9
    made = fitted(X, y, settings={**SMALL, "data.intensity": rule, "data.missing_values": [-9], "classify.flip_axes": [1]})
    loaded = modewise.load(made.run_)
    assert np.array_equal(loaded.predict_proba(X), made.predict_proba(X))
    assert torch.equal(loaded.valid(X), torch.from_numpy(np.isfinite(X) & (X != -9))) and loaded.valid(X[2::3]) is None
    assert not loaded.scaled(X)[~loaded.valid(X)].any() and loaded.predict_proba(X[:0]).shape == (0, 3)
    with pytest.raises(errors.DataError, match=r"^every voxel of volume 1 is missing$"):
        loaded.predict(np.stack([X[2], np.full((8, 8, 8), np.nan)]))
    whole = fitted(X[2::3], y[2::3], settings={**SMALL, "data.intensity": rule})
    with pytest.raises(errors.DataError) as error:
        modewise.load(whole.run_).predict_proba(X[:1])
    assert str(error.value) == f"{whole.run_}: 24 voxels are missing, but the run was trained on complete volumes and its model accepts none"


def test_the_state_loads_both_ways_and_trains(data, tmp_path):
    loaded = trained(data, tmp_path / "run", {"model.name": "divided"})
    module = loaded.module.train()
    x, labels = torch.rand(6, 8, 8, 8, 1), torch.tensor([0, 1, 2, 0, 1, 2])
    optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(module(x), labels)
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    assert losses[-1] < losses[0] / 2
    assert all(parameter.grad is not None for parameter in module.parameters())


def test_batch_norm_is_torchs():
    torch.manual_seed(0)
    ours, theirs = nn.BatchNorm(5).double(), torch.nn.BatchNorm1d(5).double()
    x = torch.randn(31, 5, dtype=torch.float64)
    for _ in range(3):
        torch.testing.assert_close(ours(x), theirs(x), rtol=1e-12, atol=1e-12)
    for ours_state, theirs_state in ((ours.running_mean, theirs.running_mean), (ours.running_var, theirs.running_var)):
        torch.testing.assert_close(ours_state, theirs_state, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x), rtol=1e-12, atol=1e-12)
    kept = torch.arange(31) % 3 > 0
    masked, part = nn.BatchNorm(5).double(), nn.BatchNorm(5).double()
    torch.testing.assert_close(masked(x, kept)[kept], part(x[kept]), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(masked.running_var, part.running_var, rtol=1e-12, atol=1e-12)


def test_batch_norm_of_one_value_per_channel_is_refused_as_in_torch():
    for norm in (nn.BatchNorm(5), torch.nn.BatchNorm1d(5)):
        with pytest.raises(ValueError, match="xpected more than 1 value per channel"):
            norm(torch.randn(1, 5))
    norm = nn.BatchNorm(5)
    norm(torch.randn(3, 5), torch.tensor([True, False, False]))
    assert (norm.running_mean == 0).all() and (norm.running_var == 1).all()


def test_wrong_volumes_are_sentences(data, tmp_path):
    loaded = trained(data, tmp_path / "run", {})
    with pytest.raises(errors.DataError) as error:
        loaded.predict_proba(np.zeros((2, 8, 8, 7), np.uint8))
    assert str(error.value) == "volumes must be [B, 8, 8, 8, 1], got [2, 8, 8, 7, 1]"
    with pytest.raises(errors.DataError) as error:
        loaded.predict_proba(np.zeros((2, 8, 8, 8), object))
    assert str(error.value) == "volumes must be numbers, got an array of object"
    with pytest.raises(ValueError, match=r"^classifier: valid was given, but the model was built for complete volumes$"):
        loaded.module(torch.zeros(1, 8, 8, 8, 1), torch.ones(1, 8, 8, 8, dtype=torch.bool))
    with pytest.raises(NotImplementedError) as error:
        trained(data, tmp_path / "other", {"model.name": "pooling-attention"})
    assert str(error.value) == 'model.name = "pooling-attention" has no module in Python yet; the program and modewise.tasks run it'


@pytest.fixture(scope="module")
def labelled(data):
    """Samples with words for classes."""
    with np.load(data) as arrays:
        images = np.concatenate([arrays[f"{split}_images"] for split in ("train", "val", "test")])
        places = np.concatenate([arrays[f"{split}_labels"] for split in ("train", "val", "test")])[:, 0]
    return images, np.array(["oak", "ash", "elm"])[places]


def fitted(X, y, **changes):
    settings = {**SMALL, "train.epochs": 3}
    return modewise.VolumeClassifier(**{"verbosity": -1, "settings": settings, **changes}).fit(X, y)


def test_an_estimator_gives_the_programs_scores(labelled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = labelled
    made = fitted(X, y)
    assert list(made.classes_) == ["ash", "elm", "oak"]
    proba = made.predict_proba(X[:7])
    assert np.array_equal(proba, modewise.load(made.run_).predict_proba(X[:7]))
    assert list(made.predict(X[:7])) == [["ash", "elm", "oak"][place] for place in proba.argmax(-1)]
    assert made.score(X, y) == (made.predict(X) == y).mean()
    assert made.evaluate() == modewise.tasks.evaluate(made.run_, split="validation")
    assert os.listdir() == [] and sorted(os.listdir(f"{made.run_}/data")) == ["hot.npy", "hot_labels.npy"]
    again = modewise.VolumeClassifier.from_run(made.run_)
    assert np.array_equal(again.predict_proba(X[:7]), proba)
    assert list(again.predict(X[:7])) == list(made.predict(X[:7]))
    copy = sklearn.base.clone(made)
    assert copy.get_params() == made.get_params()
    numbers = fitted(X[..., None], np.unique(y, return_inverse=True)[1] * 5, channels="last")
    assert list(numbers.classes_) == [0, 5, 10]
    assert np.array_equal(numbers.predict_proba(X[:7, ..., None]), proba)


@pytest.mark.parametrize("change, sentence", [
    ({"y": lambda y: y[:-1]}, "y must have a label for each of the 76 samples, got 75"),
    ({"y": lambda y: ["oak"] * len(y)}, "y must hold at least two classes, got oak"),
    ({"y": lambda y: np.arange(len(y)) / 2}, "y must hold integers or strings, got float64"),
    ({"y": lambda y: [None, *y[1:]]}, "y has no label for some samples"),
    ({"X": lambda X: X[:0]}, "array: it must be [n, N_1 … N_k] or [n, N_1 … N_k, C] with at least one sample, got [0, 8, 8, 8]"),
    ({"X": lambda X: X.astype(str)}, "array: it must hold numbers, got <U3"),
])  # fmt: skip
def test_bad_samples_are_sentences(labelled, tmp_path, monkeypatch, change, sentence):
    monkeypatch.chdir(tmp_path)
    X, y = (change.get(name, lambda same: same)(values) for name, values in zip("Xy", labelled, strict=True))
    with pytest.raises(errors.DataError) as error:
        fitted(X, y)
    assert str(error.value) == sentence
    assert os.listdir() == []


def test_validation_samples_of_another_type_keep_their_values(labelled):
    X, y = labelled

    def validated(X, held):
        return modewise.VolumeClassifier(settings=SMALL, verbosity=-1).fit(X, y, validation=(held, y[:20])).metrics_["validation"]

    held, floats = X[:20], X.astype(np.float32)
    assert validated(X, held.astype(np.int64)) == validated(X, held.astype(np.float32)) == validated(X, held)
    assert validated(floats, held + 1e-12) == validated(floats, held) == validated(floats, floats[:20])
    for others, dtype, value in ((held / 255, np.uint8, r"float64 with 0\.\d+"), (held.astype(np.int64) + 256, np.uint8, r"int64 with \d+"),
                                 (np.where(held > 100, np.nan, held), np.int16, "float64 with nan"), (held * 1e6, np.float16, r"float64 with \S+")):  # fmt: skip
        name = np.dtype(dtype).name
        with pytest.raises(errors.DataError, match=f"^validation: samples must be {name} like those for training, got {value}, which {name} cannot hold: "):
            validated(X.astype(dtype), others)


def test_truth_values_are_volumes(labelled):
    X, y = labelled
    made = fitted(X > 100, y)
    assert np.array_equal(made.predict_proba(X > 100), made.predict_proba((X > 100).astype(np.uint8)))


def test_a_fit_that_did_not_begin_leaves_nothing(labelled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.UsageError) as error:
        fitted(*labelled, model="nothing")
    assert error.value.exit_code == 2
    assert os.listdir() == []
    with pytest.raises(errors.UsageError) as error:
        modewise.VolumeClassifier().predict(labelled[0])
    assert str(error.value) == "this VolumeClassifier is not fitted yet: call fit, or open a run with VolumeClassifier.from_run"


def test_values_that_do_not_fit_are_warned_of(data, tmp_path):
    loaded = trained(data, tmp_path / "run", {})
    images = np.load(data)["test_images"]
    for change, words in ((images / 255.0, "all values are between 0 and"), (images.astype(np.float32) + 200, "values outside 0 to 255")):
        with pytest.warns(UserWarning, match=words):
            loaded.predict_proba(change)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(loaded.predict_proba(images), loaded.predict_proba(images.astype(np.float64)))
