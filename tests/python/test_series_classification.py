"""Classification of series as its users meet it: exit codes, sentences, files, protocols, resuming."""
import csv
import json
import signal
import subprocess
import time

import numpy as np
import pytest

from cli_helpers import PROGRAM, fails, ok


SMALL = ["--set", "model.width=16", "--set", "model.hidden=16", "--set", "model.heads=2", "--set", "model.layers=1",
         "--set", "model.patch.length=4", "--set", "model.patch.stride=2", "--set", "train.epochs=25",
         "--set", "train.batch_size=8", "--set", "output.report=false", "--set", "train.optimizer.learning_rate=0.005"]


def write_ts(path, count, seed, classes=("up", "down"), dimensions=2, labelled=True):
    """Noisy ramps of 12 to 20 steps that rise or fall."""
    rng = np.random.default_rng(seed)
    lines = ["@problemName Ramps", f"@dimensions {dimensions}", "@equalLength false",
             "@classLabel " + ("true " + " ".join(classes) if labelled else "false"), "@data"]
    for i in range(count):
        steps = int(rng.integers(12, 21))
        sign = 1 if i % len(classes) == 0 else -1
        series = [sign * np.linspace(-2, 2, steps) + rng.normal(0, 0.3, steps) for _ in range(dimensions)]
        lines.append(":".join(",".join(f"{x:.4f}" for x in one) for one in series) + (":" + classes[i % len(classes)] if labelled else ""))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series")
    write_ts(folder / "Ramps_TRAIN.ts", 40, 1)
    write_ts(folder / "Ramps_TEST.ts", 20, 2)
    return folder


@pytest.fixture(scope="module")
def run(folder):
    ok("train", "classify-series", "--train", folder / "Ramps_TRAIN.ts", "--test", folder / "Ramps_TEST.ts", "--out", folder / "run",
       *SMALL, "--attention", "axial", "--set", "output.report=true", "--set", "data.length=24")
    return folder / "run"


def test_a_run_learns_and_keeps_its_files(run):
    for name in ("config.toml", "manifest.json", "data.json", "metrics.json", "metrics.jsonl", "predictions.npz", "report.html"):
        assert (run / name).exists(), name
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["criterion"] == "val_loss" and metrics["protocol"] == "official"
    assert metrics["test"]["accuracy"] >= 0.9
    assert json.loads((run / "manifest.json").read_text())["task"] == "series_classification"
    kept = np.load(run / "predictions.npz")
    assert (kept["test_scores"].argmax(1) == kept["test_labels"]).mean() == metrics["test"]["accuracy"]
    page = (run / "report.html").read_text()
    for words in ("Lowest and highest scores", "Settings", "ROC", "Test samples by class"):
        assert words in page


def test_a_model_that_predicts_one_class_says_so(folder, tmp_path):
    rng = np.random.default_rng(5)
    rows = [f"{','.join(f'{x:.3f}' for x in rng.normal(size=12))}:{'rare' if i % 10 == 0 else 'usual'}" for i in range(80)]
    (tmp_path / "n.ts").write_text("\n".join(["@problemName Noise", "@classLabel true usual rare", "@data", *rows]) + "\n")

    def said(path, epochs):
        out = tmp_path / f"{path.stem}-{epochs}"
        text = ok("train", "classify-series", path, "--out", out, *SMALL, "--epochs", epochs).stderr
        return [line for line in text.splitlines() if "are predicted as" in line], json.loads((out / "metrics.json").read_text())["validation"]

    lines, validation = said(tmp_path / "n.ts", 2)
    assert [sum(column) for column in zip(*validation["confusion"])] == [validation["samples"], 0]
    assert len(lines) == 1 and (f"all {validation['samples']} validation samples are predicted as class 'usual': the accuracy of "
                                f"{100 * validation['accuracy']:.1f} % is its share") in lines[0]
    assert said(folder / "Ramps_TRAIN.ts", 25)[0] == []


def test_a_model_below_the_most_frequent_class_says_so(tmp_path):
    """Noise has no classes to learn; the model, chosen by its loss, predicts both."""
    rng = np.random.default_rng(7)
    rows = [f"{','.join(f'{x:.3f}' for x in rng.normal(size=12))}:{'rare' if i % 3 == 0 else 'usual'}" for i in range(90)]
    (tmp_path / "n.ts").write_text("\n".join(["@problemName Noise", "@classLabel true usual rare", "@data", *rows]) + "\n")
    said = ok("train", "classify-series", tmp_path / "n.ts", "--out", tmp_path / "n", *SMALL, "--set", "classify.select=loss").stderr
    test = json.loads((tmp_path / "n" / "metrics.json").read_text())["test"]
    counts = [sum(row) for row in test["confusion"]]
    assert test["majority_accuracy"] == max(counts) / sum(counts)
    wanted = (f"always predicting the most frequent class, 'usual', has a test accuracy of {100 * test['majority_accuracy']:.1f} %; "
              f"the model has {100 * test['accuracy']:.1f} %")
    assert test["accuracy"] <= test["majority_accuracy"] and wanted in said


def test_evaluate_predict_report_and_compare(run, folder, tmp_path):
    metrics = json.loads((run / "metrics.json").read_text())
    assert json.loads(ok("evaluate", run, "--json").stdout) == metrics["test"]
    assert json.loads(ok("evaluate", run, "--split", "validation", "--json").stdout) == metrics["validation"]
    again = json.loads(ok("evaluate", run, "--data", folder / "Ramps_TEST.ts", "--json").stdout)
    assert again["accuracy"] == metrics["test"]["accuracy"]
    assert "precision" in ok("evaluate", run, "--detail").stdout
    ok("predict", run, "--data", write_ts(tmp_path / "new.ts", 5, 3, labelled=False), "--out", tmp_path / "new.csv")
    rows = list(csv.DictReader((tmp_path / "new.csv").open()))
    # Every second one of the five new samples falls.
    assert [row["class"] for row in rows] == ["up", "down", "up", "down", "up"]
    for row in rows:
        assert abs(float(row["up"]) + float(row["down"]) - 1) < 1e-12
        assert row["class"] == max(("up", "down"), key=lambda name: float(row[name]))
    ok("report", run, "--out", tmp_path / "report.html")
    table = json.loads(ok("compare", run, "--json").stdout)
    assert json.dumps(table).count("accuracy") > 0
    fails(2, "--steps", arguments=["predict", run, "--steps", "3"])


def test_validation_is_evaluated_where_the_longest_sample_is_a_test_sample(tmp_path):
    write_ts(tmp_path / "Ramps_TRAIN.ts", 40, 1)
    lines = write_ts(tmp_path / "Ramps_TEST.ts", 4, 2).read_text().splitlines()
    longest = ",".join("0.5" for _ in range(25))  # the training samples have at most 20 steps
    (tmp_path / "Ramps_TEST.ts").write_text("\n".join([*lines, f"{longest}:{longest}:up"]) + "\n")
    ok("train", "classify-series", "--data", tmp_path, "--out", tmp_path / "run", *SMALL, "--set", "train.epochs=1")
    assert json.loads((tmp_path / "run" / "data.json").read_text())["length"] == 25
    evaluated = json.loads(ok("evaluate", tmp_path / "run", "--split", "validation", "--json").stdout)
    assert evaluated["accuracy"] == json.loads((tmp_path / "run" / "metrics.json").read_text())["validation"]["accuracy"]
    ok("explain", tmp_path / "run", "--split", "validation", "--num-examples", "1")


def test_refuses_what_does_not_fit(run, folder, tmp_path):
    other = write_ts(tmp_path / "other.ts", 4, 1, classes=("up", "down", "left"))
    fails(65, "other.ts: sample 3 has class 'left', which no training sample has", arguments=["evaluate", run, "--data", other])
    fails(65, "trained on 2", arguments=["predict", run, "--data", write_ts(tmp_path / "one.ts", 4, 1, dimensions=1)])
    unlabelled = write_ts(tmp_path / "plain.ts", 4, 1, labelled=False)
    fails(65, "sample 1 has no class", arguments=["evaluate", run, "--data", unlabelled])
    fails(66, "cannot open", arguments=["train", "classify-series", "--train", tmp_path / "no.ts", "--test", unlabelled])
    fails(2, "no data", arguments=["train", "classify-series"])
    small = ["--set", "model.patch.length=4", "--set", "model.patch.stride=2", "--out", tmp_path / "x"]
    for settings, sentence in [
            (["--attention", "axial", "--fold", "1,2"], "attention.fold [1, 2] has 2 cells, but the sequence has"),
            (["--attention", "pooled", "--fold", "0,512"], "do not fill attention.fold [0, 512]: the sizes after the first already hold 512"),
            (["--attention", "topk", "--set", "model.attention.density=0"], "attention.density must be above 0: with 0 a token would attend to nothing"),
            (["--attention", "linformer", "--set", "model.attention.projected=99"], "attention.projected = 99 exceeds the"),
            (["--attention", "nystroemformer", "--set", "model.attention.kernel=4"], "attention.kernel must be odd"),
            (["--attention", "axial", "--set", "model.attention.order=3", "--fold", "0,2"], "attention.order = 3 exceeds the number of modes of attention.fold [0, 2]"),
            (["--attention", "window", "--set", "model.attention.order=1"], 'attention.order has no effect with attention.type = "window"')]:
        fails(78, sentence, arguments=["train", "classify-series", "--data", folder, *small, *settings])
    (tmp_path / "bad.ts").write_text("@classLabel true a b\n@data\n1,2:3:a\n")
    fails(65, "bad.ts:3: dimension 2 has 1 value", arguments=["train", "classify-series", "--train", tmp_path / "bad.ts", "--test", unlabelled])


def test_data_show_and_protocols(folder):
    shown = json.loads(ok("data", "show", folder, "--json").stdout)
    assert shown["variables"] == 2 and shown["splits"]["train"]["by_class"] == [16, 16]
    shown = json.loads(ok("data", "show", folder, "--set", "data.protocol=paper", "--json").stdout)
    assert [shown["splits"][s]["cases"] for s in ("train", "validation", "test")] == [48, 6, 6]
    shown = ok("data", "show", folder, "--set", "data.protocol=tslib").stdout
    assert "ON THE TEST SAMPLES" in shown


def test_the_cost_of_every_type_over_tokens():
    rows = {row["attention"]: row for row in json.loads(ok("cost", "--tokens", "256", "--json").stdout)}
    assert {name: rows[name]["weight_share"] for name in ("full", "Tens-1", "Tens-2", "Tens-3", "linformer")} == {
        "full": 1, "Tens-1": 0.125, "Tens-2": 0.125, "Tens-3": 20 * 294 / 256**2, "linformer": 0.25}
    assert rows["full"]["parameters"] == 4 * 128 * 129
    assert rows["linformer"]["parameters"] == 4 * 128 * 129 + 2 * 64 * 256
    assert {name: [rows[name][step] for step in ("logits", "softmax", "mixing")] for name in ("full", "Tens-3")} == {
        "full": [256 * 256 * 128, 256 * 256 * 8, 256 * 256 * 128], "Tens-3": [20 * 294 * 128, 20 * 294 * 8, 20 * 294 * 128]}
    fails(2, "--heads 3 must divide --width 128", arguments=["cost", "--tokens", "256", "--heads", "3"])


def longest_path(adjacent):
    """Steps from any node to any other, at most; None if some cannot be reached. adjacent: [n, n] bool."""
    reached, steps = np.eye(len(adjacent), dtype=bool), 0
    while not reached.all():
        further, steps = (reached.astype(int) @ adjacent.astype(int) > 0) | reached, steps + 1
        if (further == reached).all():
            return None
        reached = further
    return steps


@pytest.mark.parametrize("tokens", [2, 3, 7, 30, 97, 256, 500])
def test_hops_are_the_longest_path_between_tokens(tokens):
    def along(fold, attended):
        """Tokens that differ in one of the last modes of the fold at most."""
        place = np.stack(np.unravel_index(np.arange(tokens), fold))
        differ = place[:, :, None] != place[:, None, :]
        return (differ.sum(0) <= 1) & ~differ[:len(fold) - attended].any(0)

    def side(modes):
        return next(size for size in range(1, tokens + 1) if size**modes >= tokens)

    window = -(-tokens // 10)  # 10 %, around the token, but for the ends
    first = np.clip(np.arange(tokens) - window // 2, 0, tokens - window)[:, None]
    keys = np.arange(tokens)[None]
    block = min(2 * side(2), tokens)
    cube = side(3)
    expected = {"full": np.ones((tokens, tokens), bool), "Tens-1": along([-(-tokens // block), block], 1), "Tens-2": along([side(2), side(2)], 2),
                "Tens-3": along([cube, cube, cube], 3), "window 10 %": (keys >= first) & (keys < first + window)}
    rows = {row["attention"]: row["hops"] for row in json.loads(ok("cost", "--tokens", tokens, "--json").stdout)}
    assert {name: rows[name] for name in expected} == {name: longest_path(adjacent) for name, adjacent in expected.items()}
    assert rows["topk 10 %"] is rows["random 10 %"] is rows["reformer 4×64"] is None and rows["pooled"] == rows["performer"] == 1


@pytest.mark.parametrize("attention", ["pooled", "window", "random", "topk", "linformer", "performer", "nystroemformer", "reformer", "axial"])
def test_every_type_of_attention_trains(attention, folder, tmp_path):
    more = {"nystroemformer": ["--set", "model.attention.landmarks=4"], "reformer": ["--set", "model.attention.chunk=4"]}.get(attention, [])
    trained = ok("train", "classify-series", "--data", folder, "--attention", attention, "--out", tmp_path / attention, "--set", "output.report=false",
                 "--set", "model.patch.length=4", "--set", "model.patch.stride=2", "--set", "train.epochs=2", *more)
    # Masks are laid on the whole matrix.
    assert ("% of the n² weights" in trained.stderr) == (attention not in ("window", "random", "topk"))
    metrics = json.loads((tmp_path / attention / "metrics.json").read_text())
    assert json.loads(ok("evaluate", tmp_path / attention, "--json").stdout) == metrics["test"]
    ok("explain", tmp_path / attention, "--out", tmp_path / "page")


def test_baselines_train(folder, tmp_path):
    for name in ("nearest", "dlinear", "tcn", "resnet", "shapelet-forest", "minirocket"):
        more = ["--set", "train.epochs=30", "--set", "train.optimizer.learning_rate=0.01"]
        more += ["--set", "model.convolution.width=8"] if name in ("tcn", "resnet") else []
        ok("train", "classify-series", "--data", folder, "--model", name, "--out", tmp_path / name, "--set", "output.report=false", *more)
        metrics = json.loads((tmp_path / name / "metrics.json").read_text())
        assert metrics["test"]["accuracy"] >= 0.8, name
        assert json.loads(ok("evaluate", tmp_path / name, "--json").stdout) == metrics["test"]


def test_threads_and_a_kill_change_no_bit(folder, tmp_path):
    arguments = ["train", "classify-series", "--data", folder, *SMALL, "--attention", "summary", "--set", "augment.noise=0.1"]
    for threads in (1, 3):
        ok(*arguments, "--threads", threads, "--out", tmp_path / f"t{threads}")
    lines = (tmp_path / "t1" / "metrics.jsonl").read_bytes()
    assert lines == (tmp_path / "t3" / "metrics.jsonl").read_bytes()
    process = subprocess.Popen([str(x) for x in (PROGRAM, *arguments, "--out", tmp_path / "k")], stderr=subprocess.DEVNULL)
    while process.poll() is None and not ((tmp_path / "k" / "metrics.jsonl").exists()
                                          and (tmp_path / "k" / "metrics.jsonl").read_bytes().count(b"\n") >= 3):
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL  # it had not ended by itself
    ok("train", "classify-series", "--resume", tmp_path / "k")
    assert (tmp_path / "k" / "metrics.jsonl").read_bytes() == lines
    assert json.loads((tmp_path / "k" / "metrics.json").read_text())["test"] == json.loads((tmp_path / "t1" / "metrics.json").read_text())["test"]


def test_tables_of_samples_are_the_same_as_their_ts_files(tmp_path):
    """Two classes of series of one variable, some shorter, as .ts, as UCR's .tsv and as CSV with a header."""
    rng = np.random.default_rng(6)
    for part, count in (("TRAIN", 30), ("TEST", 21)):
        samples = [(i % 2, (np.sin(np.arange(24) * (0.3 + 0.3 * (i % 2))) + rng.normal(0, 0.1, 24)).round(3)[: 24 - i % 4]) for i in range(count)]
        lines = ["@problemName Waves", "@univariate true", "@equalLength false", "@classLabel true 1 2", "@data"]
        lines += [",".join(map(str, x)) + f":{label + 1}" for label, x in samples]
        padded = [[str(label + 1), *map(str, x), *["NaN"] * (24 - len(x))] for label, x in samples]
        for name, text in {"ts": "\n".join(lines), "tsv": "\n".join("\t".join(row) for row in padded),
                           "csv": "\n".join([",".join(["label", *(f"t{i}" for i in range(24))]), *(",".join(row) for row in padded)])}.items():
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / f"Waves_{part}.{name}").write_text(text + "\n")
    results = {}
    for name in ("ts", "tsv", "csv"):
        ok("train", "--data", tmp_path / name, "--out", tmp_path / f"run-{name}", "--set", "train.epochs=3", "--set", "output.report=false",
           "--set", "model.patch.length=4", "--set", "model.patch.stride=4", "--threads", "1")
        results[name] = json.loads((tmp_path / f"run-{name}" / "metrics.json").read_text())["test"]
    assert results["ts"]["samples"] == 21
    assert results["tsv"] == results["ts"] and results["csv"] == results["ts"]
    ok("predict", tmp_path / "run-tsv", "--data", tmp_path / "tsv" / "Waves_TEST.tsv", "--out", tmp_path / "predicted.csv")
    assert len((tmp_path / "predicted.csv").read_text().splitlines()) == 22


def show(path, *settings):
    return ok("data", "show", path, "--task", "series_classification", *sum((["--set", one] for one in settings), []))


def grouped(path, group, delimiter="\t", further=""):
    """Series of numbers around 1000 whose thousands are grouped."""
    rows = [delimiter.join(["label", *[f"t{i}" for i in range(5)]])]
    for i in range(12):
        values = [f"{v:,}".replace(",", group) for v in (900 + i, 950, 999 + i, 1001 + i)]
        rows.append(delimiter.join(["ab"[i % 2], *values, further or f"{500 + i}"]))
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("group, delimiter", [(",", "\t"), (",", ";"), (".", ";")])
def test_grouped_thousands_of_tables_are_no_decimals(tmp_path, group, delimiter):
    path = grouped(tmp_path / "x.csv", group, delimiter)
    fails(65, "column 't2' holds '1" + group, f"set data.thousands = {group} if {group and ('the comma' if group == ',' else 'the point')} groups",
          arguments=["data", "show", path, "--task", "series_classification"])
    assert f"{'the comma' if group == ',' else 'the point'} groups thousands" in show(path, f"data.thousands={group}").stdout
    assert "20 samples" not in show(path, f"data.decimal={group}").stdout
    other = "," if group == "." else "."
    # The marks of one column tell those of all, since a row is one series.
    assert "groups thousands" in show(grouped(path, group, delimiter, f"0{other}5")).stdout
    assert "groups thousands" not in show(grouped(path, group, delimiter, f"0{group}5")).stdout


def test_columns_of_one_table_have_one_decimal_mark(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("label;a;b\n" + "".join(f"{'xy'[i % 2]};0,{i}5;0.{i}5\n" for i in range(9)))
    fails(65, "the decimal mark is the point in column 'b', but the comma in column 'a'", "data.decimal",
          arguments=["data", "show", path, "--task", "series_classification"])


def test_classes_are_read_as_they_are(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("label,a,b\n" + "".join(f"{['5 mg', '10 mg'][i % 2]},0.{i}5,1.{i}\n" for i in range(8)))
    shown = json.loads(ok("data", "show", path, "--task", "series_classification", "--json").stdout)
    assert shown["classes"] == ["10 mg", "5 mg"]


def table(path, names, rows, label="label", first=True):
    rng = np.random.default_rng(5)
    values = {f"t{i}": np.round(rng.normal(size=24), 3) for i in range(8)}
    lines = [",".join([label, *names] if first else [*names, label])]
    for row in rows:
        cells = [str(values[name][row] if name in values else row) for name in names]
        lines.append(",".join(["ab"[row % 2], *cells] if first else [*cells, "ab"[row % 2]]))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_tables_are_matched_by_the_names_of_their_columns(tmp_path):
    names = [f"t{i}" for i in range(8)]
    train = table(tmp_path / "A_TRAIN.csv", names, range(16))
    test = table(tmp_path / "A_TEST.csv", names, range(16, 24))
    run = ["train", "classify-series", "--data", train, "--model", "dlinear", "--set", "train.epochs=2", "--set", "output.report=false", "--json"]
    expected = json.loads(ok(*run, "--out", tmp_path / "one").stdout)["test"]
    table(test, names[::-1], range(16, 24), first=False)
    result = ok(*run, "--out", tmp_path / "two")
    assert json.loads(result.stdout)["test"] == expected
    assert "A_TEST.csv: the columns are in another order than in the training table, and are matched by name" in result.stderr
    new = table(tmp_path / "new.csv", names, range(16, 24))
    ok("predict", tmp_path / "one", "--data", new, "--out", tmp_path / "new_one.csv")
    table(new, names[::-1], range(16, 24))
    ok("predict", tmp_path / "one", "--data", new, "--out", tmp_path / "new_two.csv")
    assert (tmp_path / "new_one.csv").read_text() == (tmp_path / "new_two.csv").read_text()
    for others, words in ((names[:3] + names[4:], "missing t3;"), (["age", *names], "unknown age;"), ([*names[:7], "u"], "missing t7, unknown u;")):
        fails(65, "new.csv: the columns of the values differ from those of the training table: " + words,
              arguments=["predict", tmp_path / "one", "--data", table(new, others, range(16, 24))])
    fails(65, "A_TEST.csv", "missing t3;", arguments=["data", "show", train, "--set", f"data.test={table(test, names[:3] + names[4:], range(16, 24))}"])


def test_names_that_only_count_are_positions(tmp_path):
    train = tmp_path / "A_TRAIN.csv"
    train.write_text("label,0,1,2,3\n" + "".join(f"{'ab'[i % 2]},{i}.5,2.{i},3.5,4.5\n" for i in range(8)))
    (tmp_path / "A_TEST.csv").write_text("label,0,1,2\n" + "".join(f"{'ab'[i % 2]},{i}.5,7.{i},3.5\n" for i in range(8)))
    assert "16 samples" in show(train).stdout
    (tmp_path / "A_TEST.csv").write_text("".join(f"{'ab'[i % 2]},{i}.5,7.{i},3.5\n" for i in range(8)))
    assert "16 samples" in show(train).stdout


def test_attributes_of_arff_are_matched_by_name(tmp_path):
    def arff(name, order):
        rng = np.random.default_rng(1)
        x = np.round(rng.normal(size=(12, 4)), 3)
        rows = [",".join("?" if (k, i) == (0, 3) else str(x[k][i]) for i in order) + "," + "ab"[k % 2] for k in range(12)]
        attributes = [f"@attribute t{i} numeric" for i in order]
        (tmp_path / name).write_text("\n".join(["@relation r", *attributes, "@attribute c {a,b}", "@data", *rows]) + "\n")
    arff("O_TRAIN.arff", [0, 1, 2, 3])
    arff("O_TEST.arff", [3, 1, 2, 0])
    result = show(tmp_path / "O_TRAIN.arff").stdout
    assert "O_TEST.arff: the columns are in another order" in result
    assert "12 of the 12 test samples are identical" in result
    arff("O_TEST.arff", [3, 1, 2])
    fails(65, "O_TEST.arff", "missing t0;", arguments=["data", "show", tmp_path / "O_TRAIN.arff"])


def test_a_test_file_replaces_that_of_the_data(folder, tmp_path):
    other = write_ts(tmp_path / "other.ts", 6, 3)
    for number, data in enumerate((folder, folder / "Ramps_TRAIN.ts", folder / "Ramps_TEST.ts")):
        out = tmp_path / str(number)
        ok("train", "classify-series", data, "--test", other, "--model", "nearest", "--out", out, "--set", "output.report=false")
        assert json.loads((out / "data.json").read_text())["samples"] == {"train": 32, "validation": 8, "test": 6}
    fails(78, "data.test has no effect with simulated series", arguments=["train", "classify-series", "motifs", "--test", other])


def test_settings_of_steps_are_named_for_a_model_without_steps(folder, tmp_path):
    train = ["train", "classify-series", folder, "--set", "output.report=false"]
    said = ok(*train, "--model", "nearest", "--out", tmp_path / "a", "--epochs", 3, "--set", "classify.mixup=0.2", "--set", "augment.noise=0.1").stderr
    assert "augment.noise, classify.mixup, train.epochs have no effect with model.name = nearest" in said
    said = ok(*train, "--model", "minirocket", "--out", tmp_path / "b").stderr
    assert "no effect" not in said and "optimizer steps" not in said


def test_a_patch_longer_than_the_series_names_its_settings(folder):
    fails(78, "patch.length = 30 is longer than the series of 20 steps: set model.patch.length to at most that, and model.patch.stride",
          arguments=["train", "classify-series", folder, "--set", "model.patch.length=30"])
