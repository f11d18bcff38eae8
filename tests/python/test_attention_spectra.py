"""decompose and explain of language and series models: matrices against numpy, means, tables, sentences."""

import json
import random

import numpy as np
import pytest
import safetensors.numpy

from cli_helpers import fails, ok
from test_series_classification import SMALL as SERIES
from test_series_classification import write_ts


LANGUAGE = ["model.width=32", "model.layers=2", "model.heads=4", "model.kv_heads=2", "model.context=64", "train.batch_size=4",
            "train.max_steps=12", "train.optimizer.learning_rate=0.01", "train.schedule.warmup_steps=2", "output.report=false"]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spectra")
    rng = random.Random(1)
    words = "a rope of sand and seven ships went over the hill because it was late".split()
    (folder / "story.txt").write_text("".join(rng.choice(words) + rng.choice("  .\n") for _ in range(4000)))
    attentions = {"full": ["--attention", "full"], "summary": ["--attention", "summary", "--fold", "0,4,8"]}
    for name, attention in attentions.items():
        ok("train", "language", "--data", folder / "story.txt", "--out", folder / name, *attention,
           *sum((["--set", s] for s in LANGUAGE), []))
    write_ts(folder / "Ramps_TRAIN.ts", 40, 1)
    write_ts(folder / "Ramps_TEST.ts", 20, 2)
    for name, more in {"axial": ["--attention", "axial"], "tcn": ["--model", "tcn"]}.items():
        small = SERIES if name == "axial" else ["--set", "train.epochs=1", "--set", "output.report=false"]
        ok("train", "classify-series", "--data", folder, "--out", folder / name, *small, *more, "--set", "data.length=24")
    return folder


def decompose(run, out, *options):
    result = json.loads(ok("decompose", run, "--rank", 2, "--starts", 1, "--out", out, "--json", *options).stdout)
    return result, np.load(out / "matrix.npy") if (out / "matrix.npy").exists() else None


def rotated(x, positions, base):
    half = x.shape[-1] // 2
    angles = positions[:, None] * base ** (-np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], -1)


def test_the_first_layers_weights_are_numpys(folder, tmp_path):
    """Window 3 of the text (a mark stands before it) through the exported weights, head by head, in float64."""
    weights = safetensors.numpy.load_file(folder / "full" / "model" / "model.safetensors")
    config = json.loads((folder / "full" / "model" / "config.json").read_text())
    tokens = np.array([256, *(folder / "story.txt").read_bytes()])[128:192]
    x = weights["model.embed_tokens.weight"].astype(np.float64)[tokens]
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + config["rms_norm_eps"]) * weights["model.layers.0.input_layernorm.weight"]
    base = config.get("rope_theta") or config["rope_parameters"]["rope_theta"]
    for head in (1, 4):
        of = {"q": head - 1, "k": (head - 1) // 2}  # four heads read two
        q, k = (rotated(x @ weights[f"model.layers.0.self_attn.{name}_proj.weight"][8 * i:8 * i + 8].T, np.arange(64), base)
                for name, i in of.items())
        logits = np.where(np.tri(64, dtype=bool), q @ k.T / np.sqrt(8), -np.inf)
        wanted = np.exp(logits - logits.max(-1, keepdims=True))
        wanted /= wanted.sum(-1, keepdims=True)
        result, matrix = decompose(folder / "full" / "model", tmp_path / str(head), "--data", folder / "story.txt", "--modes",
                                   "4,4,4", "--layer", 1, "--head", head, "--sample", 3)
        assert np.abs(matrix - wanted).max() < 1e-5
        assert np.ptp(wanted[-1]) > 1e-3  # not all alike
        s = np.linalg.svd(matrix, compute_uv=False)
        assert np.allclose(result["spectra"][0]["singular_values"], s / s[0], atol=1e-9)
        assert result["spectra"][0]["terms_90"] == 1 + np.argmax(np.cumsum(s**2) / np.sum(s**2) >= 0.9)
        assert result["stable_rank"] == pytest.approx(np.sum(s**2) / s[0] ** 2)
        assert (result["layer"], result["head"], result["modes"]) == (1, head, [4, 4, 4])


def test_means_rows_and_what_comes_later(folder, tmp_path):
    common = ["--modes", "2,4,8", "--layer", 2, "--head", 3]
    matrices = [decompose(folder / "summary", tmp_path / f"s{i}", *common, "--sample", i)[1] for i in (1, 2)]
    for matrix in matrices:
        assert np.abs(matrix.sum(-1) - 1).max() < 1e-5
        assert np.all(matrix[np.triu_indices(64, 1)] == 0) and matrix.min() >= 0
    windows = json.loads(ok("decompose", folder / "summary", *common, "--json", "--rank", 1).stdout)["samples"]
    assert 2 < windows <= 32
    data = folder / "two-windows.txt"
    data.write_bytes((folder / "story.txt").read_bytes()[:127])  # with the mark two windows
    result, mean = decompose(folder / "summary", tmp_path / "mean", *common, "--data", data)
    assert result["samples"] == 2
    parts = [decompose(folder / "summary", tmp_path / f"p{i}", *common, "--data", data, "--sample", i)[1] for i in (1, 2)]
    assert np.abs(mean - (parts[0] + parts[1]) / 2).max() < 1e-12


def test_a_table_of_all_heads(folder, tmp_path):
    result, _ = decompose(folder / "full", tmp_path / "all", "--modes", "4,4,4", "--samples", 3, "--space", "16x4")
    assert [(one["layer"], one["head"]) for one in result["heads"]] == [(layer, head) for layer in (1, 2) for head in (1, 2, 3, 4)]
    assert {p.name for p in (tmp_path / "all").iterdir()} >= {"decomposition.json", "decomposition.csv", "report.html"}
    one = json.loads(ok("decompose", folder / "full", "--modes", "4,4,4", "--samples", 3, "--layer", 2, "--head", 2, "--json").stdout)
    row = result["heads"][5]
    assert [s["space"] for s in row["spectra"]] == ["vector", "4 × 16", "4 × 4 × 4", "16 × 4"]
    assert [s["terms_99"] for s in row["spectra"]][:2] == [s["terms_99"] for s in one["spectra"]][:2]
    assert row["stable_rank"] == pytest.approx(one["stable_rank"])
    text = ok("decompose", folder / "full", "--modes", "8,8", "--samples", 2, "--layer", 2).stdout
    assert "mean of 2 windows of 64 tokens" in text and "8 × 8: 99 %" in text
    rows = (tmp_path / "all" / "decomposition.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows[-2:]] == ["median", "random"]
    terms = [int(row.split(",")[3].replace(" ", "")) for row in rows[1:9]]
    assert float(rows[9].split(",")[3]) == np.median(terms)
    assert {"spectrum.svg", "information.svg"} <= {p.name for p in (tmp_path / "all").iterdir()}
    assert [s["space"] for s in result["random"]] == ["vector", "4 × 16", "4 × 4 × 4", "16 × 4"]


def test_threads_change_no_bit(folder, tmp_path):
    for threads in (1, 3):
        decompose(folder / "summary", tmp_path / str(threads), "--modes", "2,4,8", "--layer", 1, "--head", 1, "--threads", threads)
    assert (tmp_path / "1" / "decomposition.json").read_bytes() == (tmp_path / "3" / "decomposition.json").read_bytes()
    assert (tmp_path / "1" / "matrix.npy").read_bytes() == (tmp_path / "3" / "matrix.npy").read_bytes()


def test_series_over_their_patches(folder, tmp_path):
    result, matrix = decompose(folder / "axial", tmp_path / "one", "--layer", 1, "--head", 2)
    assert result["modes"] == [3, 4] and result["sample_tokens"] == 11 and result["samples"] == 20
    # Patches of 4 steps, one every 2, folded to 3 x 4: the last four begin at step 16 and are padding in shorter cases.
    cases = (folder / "Ramps_TEST.ts").read_text().split("@data\n")[1].splitlines()
    long = np.mean([case.split(":")[0].count(",") + 1 > 16 for case in cases])
    assert matrix.shape == (12, 12) and np.abs(matrix[:8].sum(-1) - 1).max() < 1e-5
    assert 0 < long < 1 and np.abs(matrix[8:11].sum(-1) - long).max() < 1e-5
    assert np.all(matrix[11] == 0) and np.all(matrix[:, 11] == 0)
    table = json.loads(ok("decompose", folder / "axial", "--modes", "2,2,3", "--split", "validation", "--json").stdout)
    assert len(table["heads"]) == 2 and table["modes"] == [2, 2, 3]
    fails(2, "11 patches", "the first must be 3", arguments=["decompose", folder / "axial", "--modes", "4,4"])
    fails(2, "which has no attention matrices", arguments=["decompose", folder / "tcn", "--modes", "4,4"])
    explained = json.loads(ok("explain", folder / "axial", "--out", tmp_path / "explain", "--samples", 5, "--json").stdout)
    maps = np.load(tmp_path / "explain" / "explain.npz")
    assert maps["layer1_full_mean"].shape == (2, 11, 11) and maps["layer1_full"].shape == (2, 2, 11, 11)
    assert np.allclose(maps["layer1_full_mean"].sum(-1)[:, :8], 1, atol=1e-5)
    assert len(explained["stable_rank"][0]["full"]) == 2
    variable, time = explained["influence"]
    assert variable["places"] == ["0", "1"] and len(time["places"]) == 12 and max(time["effect"]) > 0
    assert json.loads(ok("explain", folder / "tcn", "--out", tmp_path / "tcn", "--json").stdout)["stable_rank"] == []


def test_sentences_for_what_is_wrong(folder, tmp_path):
    full, summary = folder / "full", folder / "summary"
    fails(2, "no layer 3", "2 layers", arguments=["decompose", full, "--modes", "4,4,4", "--layer", 3])
    fails(2, "no head 5", "4 heads", arguments=["decompose", full, "--modes", "4,4,4", "--head", 5])
    fails(2, "no window 999", arguments=["decompose", full, "--modes", "4,4,4", "--sample", 999])
    fails(2, "which has no fold: set --modes", arguments=["decompose", full])
    fails(2, "grows with the text", "2,4,8", arguments=["decompose", summary])
    fails(2, "80 tokens", "context", arguments=["decompose", full, "--modes", "5,4,4"])
    (tmp_path / "short.txt").write_text("too short")
    fails(65, "10 tokens, fewer than a window of 64", arguments=["decompose", full, "--modes", "8,8", "--data", tmp_path / "short.txt"])
    fails(2, "--member", arguments=["decompose", full, "--modes", "8,8", "--member", "a"])
    fails(2, "set --data", arguments=["decompose", full / "model", "--modes", "8,8"])
    fails(2, "do not multiply", arguments=["decompose", full, "--modes", "8,8", "--layer", 1, "--space", "8x9"])
    np.save(tmp_path / "a.npy", np.eye(4))
    fails(2, "--layer", arguments=["decompose", tmp_path / "a.npy", "--modes", "2,2", "--layer", 1])
    fails(2, "--modes", "4", arguments=["decompose", tmp_path / "a.npy"])
    fails(2, "modewise decompose", arguments=["explain", full])
    fails(66, "nowhere", arguments=["decompose", tmp_path / "nowhere", "--modes", "2,2"])
