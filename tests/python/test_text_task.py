"""Encoders of texts as their users meet them: GLUE's files and one's own, classes, numbers, hidden tokens, resuming."""
import csv
import json
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from cli_helpers import PROGRAM, ROOT, fails, modewise, ok
from safetensors.numpy import load_file


TINY = ["--tokenizer", "bytes", "--set", "model.width=16", "--set", "model.layers=2", "--set", "model.heads=2",
        "--set", "model.max_positions=48", "--set", "model.dropout=0", "--set", "train.batch_size=16",
        "--set", "train.schedule.warmup_steps=5", "--set", "train.optimizer.learning_rate=0.01", "--threads", "1"]
QUICK = [*TINY, "--set", "output.report=false", "--set", "output.export_model=false"]
WORDS = "red blue green small large round old new cat dog house tree bird fish".split()


def newest(run):
    return max((run / "checkpoints").glob("step_*"), key=lambda path: float(path.name.removeprefix("step_")))


def sentence(rng, sign):
    words = list(rng.choice(WORDS, size=int(rng.integers(2, 5))))
    words.insert(int(rng.integers(0, len(words) + 1)), "good" if sign else "bad")
    return " ".join(words)


def write_sst2(folder, train=160, dev=40):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    for name, count in (("train", train), ("dev", dev)):
        rows = [f"{sentence(rng, i % 2)} \t{i % 2}" for i in range(count)]
        (folder / f"{name}.tsv").write_text("\n".join(["sentence\tlabel", *rows]) + "\n")
    rows = [f"{i}\t{sentence(rng, i % 2)}" for i in range(10)]
    (folder / "test.tsv").write_text("\n".join(["index\tsentence", *rows]) + "\n")
    return folder


def write_stsb(folder, train=160, dev=40):
    """How many of three words two sentences share."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2)
    for name, count in (("train", train), ("dev", dev)):
        rows = []
        for i in range(count):
            score = i % 4
            first = ["x" if k < score else "o" for k in range(3)]
            rows.append(f"{i}\t{' '.join(first)}\tx x x\t{score:.3f}")
            rng.shuffle(first)
        (folder / f"{name}.tsv").write_text("\n".join(["index\tsentence1\tsentence2\tscore", *rows]) + "\n")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    write_sst2(folder / "SST-2")
    write_stsb(folder / "STS-B")
    rng = np.random.default_rng(3)
    (folder / "story.txt").write_text("\n<|endoftext|>\n".join(" ".join(rng.choice(WORDS, size=60)) for _ in range(30)))
    return folder


@pytest.fixture(scope="module")
def run(folder):
    ok("train", "text", "--data", folder / "SST-2", "--out", folder / "run", *TINY, "--set", "train.epochs=20")
    return folder / "run"


@pytest.fixture(scope="module")
def encoder(folder):
    ok("train", "text", "--objective", "masked_lm", "--data", folder / "story.txt", "--out", folder / "encoder", *TINY,
       "--set", "train.epochs=6", "--set", "masking.whole_words=true")
    return folder / "encoder"


def test_a_classifier_learns_and_keeps_its_files(run):
    for name in ("config.toml", "manifest.json", "data.json", "metrics.json", "predictions.npz", "report.html", "tokenizer",
                 "model/config.json", "model/model.safetensors"):
        assert (run / name).exists(), name
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["criterion"] == "val_accuracy"
    assert metrics["test"]["samples"] == 40 and metrics["validation"]["samples"] == 16
    assert metrics["test"]["accuracy"] >= 0.9
    kept = np.load(run / "predictions.npz")
    called = (kept["test_scores"][:, 1] > 0.5).astype(int)
    truth = kept["test_labels"]
    tp, fp, fn = (called & truth).sum(), (called & ~truth & 1).sum(), (~called & 1 & truth).sum()
    assert metrics["test"]["f1"] == pytest.approx(2 * tp / (2 * tp + fp + fn), abs=1e-12)
    assert metrics["test"]["matthews"] == pytest.approx(np.corrcoef(called, truth)[0, 1], abs=1e-12)
    page = (run / "report.html").read_text()
    for words in ("Lowest and highest scores", "Test texts by class", "Matthews", "F1 %"):
        assert words in page


def test_evaluate_predict_explain_and_compare(run, folder, tmp_path):
    metrics = json.loads((run / "metrics.json").read_text())
    assert json.loads(ok("evaluate", run, "--json").stdout) == metrics["test"]
    assert json.loads(ok("evaluate", run, "--data", folder / "SST-2" / "dev.tsv", "--json").stdout)["accuracy"] == \
        metrics["test"]["accuracy"]
    (tmp_path / "new.txt").write_text("a good tree\n\nbad bird house\n")
    ok("predict", run, "--data", tmp_path / "new.txt", "--out", tmp_path / "new.csv")
    rows = list(csv.DictReader((tmp_path / "new.csv").open()))
    assert [row["class"] for row in rows] == ["1", "0"]
    assert [row["text"] for row in rows] == ["1", "3"], "the lines of the file"
    for row in rows:
        assert abs(float(row["0"]) + float(row["1"]) - 1) < 1e-12
    ok("predict", run, "--data", tmp_path / "new.txt", "--out", tmp_path / "new.npz")
    arrays = np.load(tmp_path / "new.npz")
    assert arrays["names"].tobytes() == b"1\n3\n" and arrays["classes"].tobytes() == b"0\n1\n"
    assert len(json.loads(ok("predict", run, "--data", folder / "SST-2" / "test.tsv", "--json").stdout)["texts"]) == 10
    ok("explain", run, "--out", tmp_path / "why")
    why = json.loads((tmp_path / "why" / "explain.json").read_text())
    assert [len(one["tokens"]) for one in why["texts"]] == [len(one["places"]) for one in why["influence"]]
    arrays = np.load(tmp_path / "why" / "explain.npz")
    assert arrays["lengths"].tolist() == [len(one["tokens"]) for one in why["texts"]]
    assert "layer1_full_mean" not in arrays, "texts have different tokens"
    n = len(why["texts"][0]["tokens"])
    assert np.allclose(arrays["layer1_full"][0, :, :n, :n].sum(-1), 1, atol=1e-5)
    assert "Attention of the tokens of" in (tmp_path / "why" / "explain.html").read_text()
    assert "accuracy %" in ok("compare", run).stdout
    ok("report", run, "--out", tmp_path / "report.html")


def test_a_run_whose_file_has_one_class_is_refused(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "copy")
    record = json.loads((copy / "data.json").read_text())
    (copy / "data.json").write_text(json.dumps(record | {"classes": record["classes"][:1]}))
    fails(65, "data.json: classes: expected two or more, got 1", arguments=["evaluate", copy])


def test_numbers_of_pairs(folder, tmp_path):
    ok("train", "text", "--objective", "regression", "--data", folder / "STS-B", "--out", tmp_path / "run", *TINY, "--set", "train.epochs=12")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["criterion"] == "val_pearson"
    assert metrics["test"]["pearson"] > 0.9 and metrics["test"]["spearman"] > 0.9
    assert json.loads(ok("evaluate", tmp_path / "run", "--json").stdout) == metrics["test"]
    predicted = json.loads(ok("predict", tmp_path / "run", "--data", folder / "STS-B" / "dev.tsv", "--json").stdout)["texts"]
    truth = [line.split("\t")[3] for line in (folder / "STS-B" / "dev.tsv").read_text().splitlines()[1:]]
    numbers = [one["number"] for one in predicted]
    truth = np.array(truth, float)
    assert np.corrcoef(numbers, truth)[0, 1] == pytest.approx(metrics["test"]["pearson"], abs=1e-9)
    assert metrics["test"]["mae"] == pytest.approx(np.abs(numbers - truth).mean(), rel=1e-9)
    assert metrics["test"]["loss"] == pytest.approx(((numbers - truth) ** 2).mean(), rel=1e-9)
    assert metrics["test"]["r2"] == pytest.approx(1 - ((numbers - truth) ** 2).mean() / truth.var(), rel=1e-9)
    assert "Largest errors" in (tmp_path / "run" / "report.html").read_text()
    ok("explain", tmp_path / "run", "--out", tmp_path / "why")
    untrained = ok("train", "text", "--objective", "regression", "--data", folder / "STS-B", "--out", tmp_path / "none", *TINY, "--set", "train.epochs=0")
    r2 = json.loads((tmp_path / "none" / "metrics.json").read_text())["test"]["r2"]
    assert r2 <= 0 and f"R² of the test is {r2:.3f}: always predicting the mean target is as good or better" in untrained.stderr


def mnli_rows(rng, count):
    """Whether the second sentence says the same of the same word."""
    rows = []
    for i in range(count):
        label = ("entailment", "neutral", "contradiction")[i % 3]
        second = {"entailment": "good", "neutral": "tree", "contradiction": "bad"}[label]
        cells = [str(i), "fiction", f"good {rng.choice(WORDS)}", f"{rng.choice(WORDS)} {second}", label, label]
        rows.append("\t".join(cells))
    return rows


def test_mnli_is_evaluated_on_both_of_its_sets_and_broken_rows_are_skipped(tmp_path):
    rng, folder = np.random.default_rng(4), tmp_path / "MNLI"
    folder.mkdir()
    header = "index\tgenre\tsentence1\tsentence2\tlabel1\tgold_label"
    for name, count, more in (("train", 150, ["9\tfiction\tcut"]), ("dev_matched", 30, []), ("dev_mismatched", 21, [])):
        (folder / f"{name}.tsv").write_text("\n".join([header, *mnli_rows(rng, count), *more]) + "\n")
    train = ["train", "text", "--data", folder, "--out", tmp_path / "run", *QUICK, "--set", "train.epochs=10"]
    assert fails(65, arguments=train).endswith(
        "train.tsv:152: 3 cells, but the first row has 6 (data.allow_broken skips such rows)")
    printed = ok(*train, "--allow-broken").stderr
    assert "train.tsv: 1 malformed row skipped, in line 152\n" in printed
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert (metrics["test"]["samples"], metrics["validation"]["samples"]) == (30, 15)
    for name, figure in (("dev_matched", "accuracy"), ("dev_mismatched", "mismatched_accuracy")):
        ok("predict", tmp_path / "run", "--data", folder / f"{name}.tsv", "--out", tmp_path / f"{name}.csv")
        predicted = [row["class"] for row in csv.DictReader((tmp_path / f"{name}.csv").open())]
        truth = [line.split("\t")[5] for line in (folder / f"{name}.tsv").read_text().splitlines()[1:]]
        right = sum(a == b for a, b in zip(predicted, truth, strict=True))
        assert metrics["test"][figure] == pytest.approx(right / len(truth), abs=1e-12)
        assert right > len(truth) / 2


def test_numbers_of_a_table_of_ones_own(folder, tmp_path):
    """The fraction of x among three letters, predicted for a file without numbers."""
    rng = np.random.default_rng(5)
    rows = [(" ".join("x" if k < i % 4 else "o" for k in rng.permutation(3)), f"{i % 4 / 3:.4f}") for i in range(120)]
    with (tmp_path / "own.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    ok("train", "text", "--objective", "regression", "--data", tmp_path / "own.csv", "--out", tmp_path / "run", *QUICK,
       "--set", "train.epochs=15", "--set", "text.select=loss")
    with (tmp_path / "new.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text",), ("x x x",), ("o o o",), ("x o x",)])
    ok("predict", tmp_path / "run", "--data", tmp_path / "new.csv", "--out", tmp_path / "predicted.csv")
    predicted = list(csv.DictReader((tmp_path / "predicted.csv").open()))
    assert [row["text"] for row in predicted] == ["1", "2", "3"]  # rows of the file
    assert np.abs(np.array([float(row["number"]) for row in predicted]) - [1, 0, 2 / 3]).max() < 0.15
    (tmp_path / "own.csv").write_text('text,label\n"x, o",N/A\n')
    assert fails(65, arguments=["train", "text", "--objective", "regression", "--data", tmp_path / "own.csv", *QUICK,
                                "--out", tmp_path / "y"]).endswith("own.csv:2: the target 'N/A' is not a number")


def test_targets_far_from_0_are_learnt_in_their_units(folder, tmp_path):
    rng = np.random.default_rng(5)
    rows = [(" ".join("x" if k < i % 4 else "o" for k in rng.permutation(3)), 250_000 + 1000 * (i % 4)) for i in range(120)]
    with (tmp_path / "own.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    learn = ["train", "text", "--objective", "regression", "--data", tmp_path / "own.csv", *TINY, "--set", "output.report=false"]
    run = tmp_path / "run"
    ok(*learn, "--out", run, "--set", "train.epochs=15", "--set", "text.select=loss")
    (tmp_path / "new.txt").write_text("x x x\no o o\nx o x\n")

    def predicted():
        return np.array([one["number"] for one in json.loads(ok("predict", run, "--data", tmp_path / "new.txt", "--json").stdout)["texts"]])

    numbers = predicted()
    assert np.abs(numbers - [253_000, 250_000, 252_000]).max() < 450
    description = json.loads((run / "data.json").read_text())
    scale = description.pop("targets")
    assert 251_000 < scale["mean"] < 252_000 and 1000 < scale["std"] < 1300
    kept, exported = load_file(newest(run) / "best.safetensors"), load_file(run / "model" / "model.safetensors")
    np.testing.assert_allclose(exported["classifier.weight"], kept["output.weight"] * scale["std"], rtol=1e-6)
    np.testing.assert_allclose(exported["classifier.bias"], kept["output.bias"] * scale["std"] + scale["mean"], rtol=1e-6)
    # Its head is that of the other model.
    ok(*learn[:6], "--from", run, "--out", tmp_path / "again", "--set", "train.epochs=0", "--threads", "1")
    first, again = (json.loads((one / "metrics.json").read_text()) for one in (run, tmp_path / "again"))
    assert again["test"]["loss"] == pytest.approx(first["test"]["loss"], rel=0.02) and first["test"]["loss"] < 450**2
    assert again["best"]["val_loss"] == pytest.approx(first["validation"]["loss"] / scale["std"] ** 2, rel=0.02)
    # Runs of earlier versions have weights in units.
    (run / "data.json").write_text(json.dumps(description))
    np.testing.assert_allclose(scale["mean"] + scale["std"] * predicted(), numbers, rtol=1e-6)
    ok("train", "text", "--resume", run, "--set", "train.epochs=16", "--allow-config-changes", "--threads", "1")
    assert json.loads((run / "data.json").read_text())["targets"] == {"mean": 0, "std": 1}


def test_a_correlation_of_constant_predictions_is_null(tmp_path):
    rows = [("x x", "1"), ("o x", "2"), ("o o", "3")] * 8
    for name, texts in (("train", rows), ("validation", [("x o", str(i)) for i in range(6)])):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *texts])
    ok("train", "text", "--objective", "regression", "--data", tmp_path / "train.csv", "--set", f"data.validation={tmp_path / 'validation.csv'}",
       "--set", f"data.test={tmp_path / 'validation.csv'}", "--out", tmp_path / "run", *QUICK, "--set", "train.epochs=4")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [metrics[of]["val_pearson"] for of in ("best", "last")] == [line["val_pearson"] for line in lines][:2] == [None, None]
    assert metrics["best"]["val_loss"] == min(line["val_loss"] for line in lines)


def test_weights_that_are_no_shares_are_said_to_be_none(folder, tmp_path):
    """Linformer multiplies the values with softmax(..) F: F may be below 0."""
    for form, said in (("linformer", True), ("window", False)):
        ok("train", "text", "--data", folder / "SST-2", "--out", tmp_path / form, *QUICK, "--attention", form, "--set", "train.max_steps=2")
        ok("explain", tmp_path / form, "--out", tmp_path / f"{form}-why")
        assert ("they may be negative" in (tmp_path / f"{form}-why" / "explain.html").read_text()) is said


def test_hidden_tokens_then_a_task(encoder, folder, tmp_path):
    lines = [json.loads(line) for line in (encoder / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["val_loss"] < lines[0]["val_loss"]
    metrics = json.loads((encoder / "metrics.json").read_text())
    assert metrics["test"]["perplexity"] == pytest.approx(np.exp(metrics["test"]["loss"]))
    assert json.loads(ok("evaluate", encoder, "--json").stdout) == metrics["test"]
    assert "Masked-token accuracy" in (encoder / "report.html").read_text()
    fails(2, "--from", arguments=["predict", encoder, "--data", folder / "story.txt"])
    ok("explain", encoder, "--out", tmp_path / "why")
    for start in (encoder, encoder / "model"):
        out = tmp_path / start.name
        trained = ok("train", "text", "--data", folder / "SST-2", "--from", start, "--out", out, "--set", "train.max_steps=3",
                     "--set", "output.report=false", "--threads", "1")
        assert "bert 2×16" in trained.stderr
        assert (out / "model" / "model.safetensors").exists()
    longer = ["train", "text", "--data", folder / "SST-2", "--from", encoder, "--length", "96", "--set", "train.max_steps=2"]
    fails(78, "data.length = 96", "48 positions", "text.longer", arguments=[*longer, "--out", tmp_path / "x"])
    for way in ("repeat", "stretch"):
        extended = ok(*longer, "--out", tmp_path / way, "--set", f"text.longer={way}")
        assert f"the embeddings of 48 positions were {way}ed to 96" in extended.stderr


def test_decompose_has_the_matrices_of_transformers(encoder, folder, tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: matrices are not compared")
    model = transformers.AutoModel.from_pretrained(encoder / "model", attn_implementation="eager").eval()
    first = (folder / "story.txt").read_bytes().split(b"\n<|endoftext|>\n")[0]
    for layer, head in ((1, 2), (2, 1)):
        found = json.loads(ok("decompose", encoder, "--modes", "4,4", "--layer", layer, "--head", head, "--sample", 1, "--rank", 1,
                              "--out", tmp_path / str(layer), "--json").stdout)
        assert (found["sample_tokens"], found["sample"], found["samples"]) == (16, "text", 1)
        with torch.no_grad():
            weights = model(input_ids=torch.tensor([[256, *first[:15]]]), output_attentions=True).attentions[layer - 1][0, head - 1]
        assert np.abs(np.load(tmp_path / str(layer) / "matrix.npy") - weights.numpy()).max() < 1e-6
    fails(2, "has attention 'full', which has no fixed fold: set --modes", arguments=["decompose", encoder])
    fails(2, "--tokenizer is for language models", arguments=["decompose", encoder, "--modes", "4,4", "--tokenizer", "bytes"])
    fails(65, "no text has 64 tokens (8 × 8)", arguments=["decompose", encoder, "--modes", "8,8"])


def test_a_stopped_run_goes_on_to_the_same_bits(folder, tmp_path):
    command = ["train", "text", "--objective", "masked_lm", "--data", folder / "story.txt", *QUICK, "--set", "train.epochs=8",
               "--set", "model.dropout=0.1", "--set", "train.checkpoint_every_steps=3"]
    ok(*command, "--out", tmp_path / "whole")
    process = subprocess.Popen([PROGRAM, *map(str, command), "--out", str(tmp_path / "cut")], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    while not list((tmp_path / "cut" / "checkpoints").glob("step_*")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    ok("train", "text", "--resume", tmp_path / "cut", "--threads", "2")
    assert (tmp_path / "cut" / "metrics.jsonl").read_bytes() == (tmp_path / "whole" / "metrics.jsonl").read_bytes()
    cut, whole = (json.loads((tmp_path / name / "metrics.json").read_text()) for name in ("cut", "whole"))
    assert cut["test"] == whole["test"] and cut["validation"] == whole["validation"]


def test_learning_rates_of_layers(folder, tmp_path):
    """With a decay of .01 the codes hardly move in a few steps, the head does."""
    from safetensors.numpy import load_file

    weights = {}
    for name, steps in (("before", 0), ("after", 5)):
        ok("train", "text", "--data", folder / "SST-2", "--out", tmp_path / name, *TINY, "--set", "text.layer_decay=0.01",
           "--set", f"train.max_steps={steps}" if steps else "train.epochs=0", "--set", "output.report=false")
        weights[name] = load_file(tmp_path / name / "model" / "model.safetensors")
    moved = {key: np.abs(weights["after"][key] - weights["before"][key]).max() for key in weights["before"]}
    head = max(value for key, value in moved.items() if key.startswith("classifier"))
    first = max(value for key, value in moved.items() if ".layer.0." in key)
    words = moved["bert.embeddings.word_embeddings.weight"]
    # Five steps of Adam move by at most the sum of their rates: .01 · (1 + 2 + 3 + 4 + 5) / 5.
    assert 0.001 < head <= 0.031
    assert 0 < first <= 0.031 * 1e-4 * 1.01
    assert 0 < words <= 0.031 * 1e-6 * 1.5


def test_what_is_wrong_is_said(folder, tmp_path):
    train = ["train", "text", *QUICK, "--out", tmp_path / "x", "--data"]
    (tmp_path / "RTE").mkdir()
    header, row = "index\tsentence1\tsentence2\tlabel\n", "0\ta\tb\tentailment\n"
    (tmp_path / "RTE" / "dev.tsv").write_text(header + row)
    for text, words in {
        header + row + "1\ta\tb\n": ":3: 3 cells, but the first row has 4 (data.allow_broken skips such rows)",
        header + "0\ta\tb\tperhaps\n": ":2: the label 'perhaps' is not one of entailment, not_entailment",
        header + "0\t\tb\tentailment\n": ":2: the first text of the pair is empty (data.allow_broken skips such rows)",
        header + "0\t" + "a" * (10 << 20) + "\tb\tentailment\n": ":2: a text of 10485760 bytes; the limit is 1048576",
    }.items():
        (tmp_path / "RTE" / "train.tsv").write_text(text)
        assert fails(65, arguments=[*train, tmp_path / "RTE"]).endswith("RTE/train.tsv" + words)
    assert fails(2, arguments=["train", "text", "--data", folder / "SST-2", "--out", tmp_path / "x"]).endswith(
        "no tokenizer: give --tokenizer FOLDER, or a pretrained model with --from FOLDER")
    assert fails(78, arguments=[*train, folder / "STS-B"]).endswith("STS-B is a regression task: text.objective must be \"regression\"")
    assert "is not a metric of" in fails(78, arguments=[*train, folder / "SST-2", "--set", "text.select=pearson"])
    assert not (tmp_path / "x").exists()


def test_data_show_knows_glue(folder):
    shown = json.loads(ok("data", "show", folder / "SST-2", "--json").stdout)
    assert shown["layout"] == "sst2" and shown["classes"] == ["0", "1"]
    assert shown["splits"]["train"]["by_class"] == [72, 72]
    assert modewise("data", "show", "--task", "text", folder / "SST-2").returncode == 0


def tensor_settings(order):
    """Those of Tens-k in the shipped sweep."""
    for run in json.loads(ok("sweep", ROOT / "experiments/text/forms.toml", "--dry-run", "--json", "--seeds", "1").stdout):
        pairs = list(zip(run["arguments"], run["arguments"][1:], strict=False))
        sets = [word for flag, word in pairs if flag == "--set"]
        if "model.attention.type=axial" in sets and f"model.attention.order={order}" in sets:
            config = next(word for flag, word in pairs if flag == "--config")
            return ["--config", config, *(word for one in sets if not one.startswith("data.path") for word in ("--set", one))]
    raise AssertionError(f"no Tens-{order} in the sweep")


@pytest.mark.parametrize(("order", "seen"), [(1, 32), (2, 182), (3, 182)])
def test_the_text_sweeps_tensor_forms_see_the_whole_text(tmp_path, order, seen):
    """Tens-1 is blocks of 2⌈√256⌉ tokens; Tens-2 and Tens-3 fold the whole text, so that its first token sees every other in one layer."""
    for part, count in (("train", 8), ("validation", 4), ("test", 4)):
        lines = [json.dumps({"text": ("xy"[i % 2] + " ") * 90, "label": "ab"[i % 2]}) + "\n" for i in range(count)]
        (tmp_path / f"{part}.jsonl").write_text("".join(lines))
    ok("train", "text", "--data", tmp_path, "--out", tmp_path / "run", *tensor_settings(order), *QUICK, "--set", "model.max_positions=256",
       "--set", "train.max_steps=1")
    ok("explain", tmp_path / "run", "--out", tmp_path / "why", "--num-examples", 1)
    arrays = np.load(tmp_path / "why" / "explain.npz")
    assert ((arrays["layer1_full"][0, 0, 0] > 0) == (np.arange(182) < seen)).all()


@pytest.mark.parametrize("objective", ["classification", "regression"])
def test_texts_that_are_cut_are_counted(tmp_path, objective):
    """With 48 positions and two special tokens, texts of bytes are cut beyond 46; of a pair both texts and three tokens count."""
    lengths = [46, 47, 5, 200, 46, 3, 90, 8, 20, 30, 12, 47] * 4
    label = "abab" if objective == "classification" else "1214"
    data = tmp_path / "texts.csv"
    data.write_text("text,label\n" + "".join(f"{'x y ' * 60:.{n}},{label[i % 4]}\n" for i, n in enumerate(lengths)))
    (tmp_path / "new.txt").write_text("short\n" + "é" * 23 + "\n" + "é" * 24 + "\n")
    once = [*QUICK, "--set", "train.epochs=1", "--objective", objective, "--out", tmp_path / "run"]
    sentence = f"{data}: 16 of 48 texts are cut to 48 tokens (data.length)"
    assert sentence in ok("train", "text", "--data", data, *once).stderr
    assert sentence in ok("evaluate", tmp_path / "run").stderr
    assert f"{tmp_path}/new.txt: 1 of 3 texts is cut to 48 tokens (data.length)" in ok("predict", tmp_path / "run", "--data", tmp_path / "new.txt").stderr
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("text,text2,label\n" + "".join(f"{'x y ' * 60:.{n}},abc,{label[i % 4]}\n" for i, n in enumerate(lengths)))
    said = ok("train", "text", "--data", pairs, *once[:-1], tmp_path / "pair").stderr
    assert f"{pairs}: 24 of 48 pairs of texts are cut to 48 tokens (data.length)" in said
    assert "are cut" not in ok("train", "text", "--data", data, *once[:-1], tmp_path / "long", "--set", "model.max_positions=256").stderr


def test_classes_that_differ_only_in_unicode_normalization_are_a_warning(tmp_path):
    data = tmp_path / "texts.csv"
    classes = ["caf\u00e9", "cafe\u0301", "tea", "\ud55c", "\u1112\u1161\u11ab"]
    data.write_text("text,label\n" + "".join(f"text {i},{classes[i % 5]}\n" for i in range(100)))
    said = ok("train", "text", "--data", data, *QUICK, "--set", "train.epochs=0", "--out", tmp_path / "run").stderr
    rest = "differ only in Unicode normalization (a character such as 'é' is one code point in one of them, two in the other); rename one of them if they are the same class"
    for first, other in (("cafe\u0301", "caf\u00e9"), ("\u1112\u1161\u11ab", "\ud55c")):
        assert f"{data}: classes '{first}' and '{other}' {rest}" in said
    assert said.count("Unicode normalization") == 2


@pytest.mark.parametrize("settings,option", [
    (["masking.mask_rate=0.3"], "masking.mask_rate"), (["text.validation_windows=4"], "text.validation_windows"),
    (["data.separator=blank"], "data.separator"), (["text.objective=regression", "text.class_weights=balanced"], "text.class_weights"),
    (["text.objective=regression", "data.classes=[\"a\",\"b\"]"], "data.classes"), (["text.objective=masked_lm", "data.label=x"], "data.label")])
def test_settings_of_another_objective_are_refused(settings, option, folder, tmp_path):
    assignments = [word for setting in settings for word in ("--set", setting)]
    fails(78, f"{option} has no effect", arguments=["train", "text", "--data", folder / "SST-2", "--out", tmp_path / "r", *QUICK, *assignments])


def test_sizes_that_a_pretrained_model_overrides_are_refused(encoder, folder, tmp_path):
    run = ["train", "text", "--data", folder / "SST-2", "--from", encoder, "--out", tmp_path / "r", "--set", "train.epochs=1"]
    for option, value, has in (("width", 64, 16), ("layers", 3, 2), ("max_positions", 999, 48), ("kind", "roberta", "bert")):
        fails(78, f"model.{option} = {value!r} has no effect: model.from has {has!r}", arguments=[*run, "--set", f"model.{option}={value}"])
    fails(78, "model.vocabulary = 99 has no effect: the tokenizer has ", arguments=[
        "train", "text", "--data", folder / "SST-2", "--out", tmp_path / "r", *TINY, "--set", "model.vocabulary=99"])
    ok(*run)
    ok("train", "text", "--config", tmp_path / "r" / "config.toml", "--out", tmp_path / "again")


def test_rows_that_are_skipped_leave_the_numbers_of_the_others(tmp_path):
    (tmp_path / "p.csv").write_text("text,label\ngood cat,1\n\" \",0\nbad dog,0\nbad tree,0\n")
    (tmp_path / "train.csv").write_text("text,label\n" + "".join(f"{'good' if i % 2 else 'bad'} {WORDS[i % 14]},{i % 2}\n" for i in range(40)))
    ok("train", "text", "--data", tmp_path / "train.csv", "--out", tmp_path / "own", *QUICK, "--set", "train.epochs=1")
    out = ok("predict", tmp_path / "own", "--data", tmp_path / "p.csv", "--out", tmp_path / "o.csv")
    assert "texts are numbered by their lines" in out.stderr + out.stdout
    with open(tmp_path / "o.csv", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == ["2", "4", "5"]
    assert "p.csv: 1 malformed row skipped, in line 3" in out.stderr
    shown = ok("evaluate", tmp_path / "own", "--data", tmp_path / "p.csv", "--json")
    assert json.loads(shown.stdout)["samples"] == 3 and "p.csv: 1 malformed row skipped, in line 3" in shown.stderr
    (tmp_path / "l.txt").write_text("good cat\n\n  \nbad dog\n")
    out = ok("predict", tmp_path / "own", "--data", tmp_path / "l.txt", "--out", tmp_path / "l.csv")
    with open(tmp_path / "l.csv", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == ["1", "4"]
    assert "malformed" not in out.stderr and "l.txt: 2 lines without a text skipped" in out.stderr
    (tmp_path / "r.csv").write_text("review,label\ngood cat,1\n")
    fails(65, f"; data.… are set for a new training only: adapt the data to the settings of {tmp_path / 'own'}", arguments=["predict", tmp_path / "own", "--data", tmp_path / "r.csv"])
    fails(2, "--masks is only for segmentation", arguments=["explain", tmp_path / "own", "--data", tmp_path / "p.csv", "--masks", tmp_path / "p.csv"])


def test_values_as_classes_name_the_regression(tmp_path):
    (tmp_path / "x.csv").write_text("text,label\n" + "".join(f"text {i},{i / 7:.4f}\n" for i in range(60)))
    fails(65, "there are no validation texts: 60 texts in 60 classes", 'labels that are values need text.objective = "regression" (--objective regression)',
          arguments=["train", "text", "--data", tmp_path / "x.csv", "--out", tmp_path / "run", *QUICK])


def test_a_second_text_that_only_later_objects_have_is_an_error(tmp_path):
    lines = [{"text": "a good cat", "label": 1}, {"text": "a bad cat", "text2": "b", "label": 0}] * 10
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    show = ["data", "show", tmp_path / "x.jsonl", "--task", "text"]
    fails(65, "x.jsonl:2: the object has a second text 'text2', but the first object of the file has none", arguments=show)
    ok(*show, "--set", "data.pair=none")


def test_names_that_occur_twice_are_errors(tmp_path):
    (tmp_path / "x.csv").write_text("text,label,label\n" + "a,0,1\nb,1,0\n" * 10)
    show = ["data", "show", tmp_path / "x.csv", "--task", "text"]
    fails(65, "x.csv:1: there is more than one column 'label': rename all but one", arguments=show)
    (tmp_path / "x.csv").write_text("text,label\n" + "a,0\nb,1\n" * 10)
    fails(78, "data.classes names the class '1' twice", arguments=[*show, "--set", 'data.classes=["0", "1", " 1"]'])


def test_metrics_that_the_classes_do_not_define_are_refused(tmp_path):
    (tmp_path / "three.csv").write_text("text,label\n" + "".join(f"{word},{i % 3}\n" for i, word in enumerate(WORDS * 4)))
    fails(78, 'text.select = "f1" needs two classes, but the texts have 3', arguments=[
        "train", "text", "--data", tmp_path / "three.csv", "--out", tmp_path / "r", *QUICK, "--set", "text.select=f1"])
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "train.csv").write_text("text,label\n" + "".join(f"{word},{i % 2}\n" for i, word in enumerate(WORDS * 2)))
    (tmp_path / "two" / "validation.csv").write_text("text,label\nred,1\nblue,1\n")
    (tmp_path / "two" / "test.csv").write_text("text,label\nred,1\nblue,0\n")
    fails(65, "val_auc is not defined on the validation split, whose loss is finite", arguments=[
        "train", "text", "--data", tmp_path / "two", "--out", tmp_path / "r", *QUICK, "--set", "text.select=auc", "--set", "train.epochs=1"])


def test_glue_files_are_known_from_within_their_folder(run, folder):
    wanted = ok("evaluate", run, "--data", folder / "SST-2" / "dev.tsv", "--json").stdout
    for path, place in (("dev.tsv", "SST-2"), ("./dev.tsv", "SST-2"), ("../SST-2/dev.tsv", "STS-B")):
        done = subprocess.run([PROGRAM, "evaluate", run, "--data", path, "--json"], cwd=folder / place, capture_output=True, text=True, check=True)
        assert done.stdout == wanted


def test_a_folder_named_like_a_task_may_hold_ones_own_files(tmp_path):
    (tmp_path / "RTE").mkdir()
    (tmp_path / "RTE" / "train.csv").write_text("text,label\n" + "".join(f"{word},{i % 2}\n" for i, word in enumerate(WORDS * 2)))
    (tmp_path / "RTE" / "test.csv").write_text("text,label\nred,1\nblue,0\n")
    ok("data", "show", tmp_path / "RTE", "--task", "text")


def test_labels_of_minus_one_are_unknown(tmp_path):
    """The test splits of GLUE as Hugging Face distributes them."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "train.jsonl").write_text("".join(json.dumps({"text": word, "label": i % 2}) + "\n" for i, word in enumerate(WORDS * 4)))
    (tmp_path / "d" / "test.jsonl").write_text("".join(json.dumps({"text": word, "label": -1}) + "\n" for word in WORDS))
    ok("train", "text", "--data", tmp_path / "d", "--out", tmp_path / "r", "--no-test", *QUICK, "--set", "train.epochs=1")
    ok("predict", tmp_path / "r", "--data", tmp_path / "d" / "test.jsonl", "--out", tmp_path / "o.csv")
    shown = ok("data", "show", tmp_path / "d", "--task", "text")
    assert "test.jsonl: all labels are -1, so the texts are read as unlabelled" in shown.stdout + shown.stderr


def test_a_warm_up_that_the_training_does_not_end_is_a_warning(folder, tmp_path):
    run = ["train", "text", "--data", folder / "SST-2", *QUICK, "--set", "train.max_steps=8"]
    warning = "the warm-up of {} steps is longer than the training of 8: the learning rate reaches only {} % of 0.01; reduce"
    assert warning.format(32, 25) in ok(*run, "--out", tmp_path / "a", "--set", "train.schedule.warmup_steps=32").stderr
    assert "the warm-up of" not in ok(*run, "--out", tmp_path / "b", "--set", "train.schedule.warmup_steps=8").stderr


def test_the_next_command_of_a_masked_language_model_starts_from_it(folder, tmp_path):
    train = ["train", "text", "--objective", "masked_lm", "--data", folder / "story.txt", *TINY, "--set", "train.max_steps=1",
             "--set", "output.report=false"]
    trained = ok(*train, "--out", tmp_path / "run")
    command = f"modewise train text --data DATA --from {tmp_path}/run/model"
    assert f"next: {command}" in trained.stderr
    assert command in fails(2, arguments=["predict", tmp_path / "run"])
    assert "next:" not in ok(*train, "--out", tmp_path / "kept", "--set", "output.export_model=false").stderr


def test_data_show_of_documents_needs_no_tokenizer(folder):
    shown = ok("data", "show", folder / "story.txt", "--task", "text", "--set", "text.objective=masked_lm").stdout
    assert "training tokens in 24 documents" in shown and "(tokenizer bytes)" in shown


def test_other_documents_are_evaluated_without_a_split(encoder, folder):
    one = folder / "one.txt"
    one.write_text(" ".join(WORDS * 20))
    evaluated = ok("evaluate", encoder, "--data", one, "--json")
    assert "cut into consecutive" not in evaluated.stderr and json.loads(evaluated.stdout)["split"] == "all"


def test_numbers_are_split_without_classes(tmp_path):
    (tmp_path / "own.csv").write_text("text,label\n" + "".join(f"a {'b ' * (i % 5)}text,{i % 5}.5\n" for i in range(40)))
    shown = ok("data", "show", tmp_path / "own.csv", "--task", "text", "--set", "text.objective=regression")
    assert "class" not in shown.stdout + shown.stderr
    trained = ok("train", "text", "--objective", "regression", "--data", tmp_path / "own.csv", "--out", tmp_path / "run", *QUICK,
                 "--set", "train.max_steps=1")
    assert "split with seed 1: 32 training, 4 validation, 4 test" in trained.stderr


@pytest.mark.parametrize("objective", ["classification", "regression"])
def test_a_folder_without_a_test_file_names_what_to_do(tmp_path, objective):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "train.csv").write_text("text,label\n" + "".join(f"text {i},{i % 2}\n" for i in range(40)))
    train = ["train", "text", "--objective", objective, "--data", tmp_path / "own", "--out", tmp_path / "run", *QUICK, "--set", "train.max_steps=1"]
    fails(65, "own: there are no test texts: there is no test.jsonl", "data.test names a test file, --no-test trains without", arguments=train)
    ok(*train, "--no-test")


def test_data_show_of_a_glue_file(folder):
    shown = json.loads(ok("data", "show", folder / "SST-2" / "dev.tsv", "--json").stdout)
    assert shown["layout"] == "sst2" and shown["texts"] == 40
    rte = folder / "RTE"
    rte.mkdir()
    (rte / "train.tsv").write_text("index\tsentence1\tsentence2\tlabel\n" + "".join(f"{i}\ta {i}\tb\t{('not_', '')[i % 2]}entailment\n" for i in range(40)))
    shown = json.loads(ok("data", "show", rte / "train.tsv", "--json").stdout)
    assert shown["layout"] == "rte" and shown["pairs"] is True


@pytest.mark.parametrize("ending", ["json", "ndjson"])
def test_json_lines_of_other_endings(ending, run, tmp_path):
    lines = "".join(json.dumps({"text": f"a {('bad', 'good')[i % 2]} tree {i}", "label": i % 2}) + "\n" for i in range(40))
    file = tmp_path / f"own.{ending}"
    file.write_text(lines)
    (tmp_path / "own.jsonl").write_text(lines)
    shown = json.loads(ok("data", "show", file, "--json").stdout)
    assert shown["texts"] == 40 and shown["classes"] == ["0", "1"]
    predicted = [ok("predict", run, "--data", path).stdout for path in (file, tmp_path / "own.jsonl")]
    assert predicted[0] == predicted[1] and predicted[0].count("\n") == 41
    file.write_text(json.dumps([json.loads(line) for line in lines.splitlines()], indent=1))
    fails(65, f"own.{ending}: expected JSON lines, got a JSON list; write its records one per line", arguments=["predict", run, "--data", file])


def test_texts_of_standard_input_are_predicted(run, tmp_path):
    (tmp_path / "new.txt").write_text("a good tree\n\nbad bird house\n")
    command = [PROGRAM, "predict", run, "--data", "-"]
    piped = subprocess.run(command, input=(tmp_path / "new.txt").read_text(), capture_output=True, text=True)
    assert piped.returncode == 0 and piped.stdout == ok("predict", run, "--data", tmp_path / "new.txt").stdout
    nothing = subprocess.run(command, input="", capture_output=True, text=True)
    assert nothing.returncode == 65 and "standard input" in nothing.stderr
