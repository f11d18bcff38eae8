"""decompose, cost, explain and sweep as their users meet them."""
import collections
import json
import pathlib
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from cli_helpers import PROGRAM, fails, modewise, ok, write_csv


SMALL = ["--set", "forecast.lookback=24", "--set", "forecast.horizon=8", "--set", "output.report=false",
         "--set", "model.patch.length=8", "--set", "model.patch.stride=8", "--set", "model.width=16",
         "--set", "model.heads=2", "--set", "train.epochs=2", "--set", "forecast.train_stride=4"]


def attention(n, seed=0):
    rng = np.random.default_rng(seed)
    a = np.exp(2 * rng.normal(size=(n, n)))
    return a / a.sum(-1, keepdims=True)


# decompose

def test_a_kronecker_product_is_found_at_rank_one(tmp_path):
    factors = [attention(n, n) for n in (3, 4, 2)]
    np.save(tmp_path / "a.npy", np.kron(np.kron(factors[0], factors[1]), factors[2]))
    out = tmp_path / "out"
    result = json.loads(ok("decompose", tmp_path / "a.npy", "--modes", "3,4,2", "--rank", 2, "--out", out, "--json").stdout)
    assert result["kronecker"][0]["error"] < 1e-10
    assert result["kronecker"][0]["parameters"] == 9 + 16 + 4
    assert result["exact_rank"] == 36
    found = np.load(out / "factors.npz")
    back = found["weights"][0] * np.kron(np.kron(found["factor1"][0], found["factor2"][0]), found["factor3"][0])
    assert np.abs(back - np.load(tmp_path / "a.npy")).max() < 1e-9
    assert {p.name for p in out.iterdir()} >= {"decomposition.json", "decomposition.csv", "report.html", "spectrum.svg"}
    fails(73, "--overwrite", arguments=["decompose", tmp_path / "a.npy", "--modes", "3,4,2", "--rank", 1, "--out", out])


def test_spectra_are_numpys(tmp_path):
    a = attention(24)
    np.savez(tmp_path / "a.npz", first=np.stack([a.T, a]), other=a)
    result = json.loads(ok("decompose", tmp_path / "a.npz", "--member", "first", "--index", 1, "--modes", "4,6",
                           "--rank", 3, "--space", "3x8", "--json").stdout)
    vector, folded, other = result["spectra"]
    s = np.linalg.svd(a, compute_uv=False)
    assert np.allclose(vector["singular_values"], s / s[0], atol=1e-12)
    for spectrum, (m, n) in ((folded, (4, 6)), (other, (3, 8))):
        s = np.linalg.svd(a.reshape(m, n, m, n).transpose(0, 2, 1, 3).reshape(m * m, n * n), compute_uv=False)
        assert np.allclose(spectrum["singular_values"], (s / s[0])[:len(spectrum["singular_values"])], atol=1e-12)
        assert np.allclose(spectrum["information"], np.cumsum(s**2) / np.sum(s**2), atol=1e-12)
        assert spectrum["parameters_a_term"] == m * m + n * n


def test_a_class_token_is_skipped(tmp_path):
    a = attention(25)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "rest.npy", a[1:, 1:])
    first, rest = (json.loads(ok("decompose", tmp_path / f"{name}.npy", "--modes", "4,6", "--rank", 2, *more, "--json").stdout)
                   for name, more in (("a", ["--skip-tokens", 1]), ("rest", [])))  # fmt: skip
    assert first.pop("skipped_tokens") == 1 and first == rest
    assert ok("decompose", tmp_path / "a.npy", "--modes", "4,6", "--rank", 1, "--skip-tokens", 1).stdout.startswith("skipped tokens: 1\n24 × 24")


def test_projections_of_a_matrix(tmp_path):
    np.save(tmp_path / "a.npy", attention(24))
    arguments = ["decompose", tmp_path / "a.npy", "--modes", "4,6", "--rank", 1, "--projections", 9]
    result = json.loads(ok(*arguments, "--json").stdout)["projections"]
    ask = lambda m: 0.5**-2 * 3**(m - 1) * 3 * np.log(24 / result["delta"]) / np.log(2 * m)
    assert result["delta"] == pytest.approx(0.05 / 24) and result["asked"] == pytest.approx([ask(1), ask(2)])
    assert [row["rows"] for row in result["rows"]] == [16, 32, 64] and result["rows"][1]["truncated"] < 1e-12
    assert json.loads(ok(*arguments[:-1], 1, "--json").stdout)["projections"]["rows"]
    text = ok(*arguments).stdout
    assert f"Lemma B.1, as printed, requires {int(np.ceil(ask(1)))} (vector), {int(np.ceil(ask(2)))} (4 × 6) rows" in text


def test_bad_matrices(tmp_path):
    np.save(tmp_path / "a.npy", attention(12))
    np.save(tmp_path / "many.npy", np.stack([attention(12)] * 2))
    nan = attention(12)
    nan[3, 3] = np.nan
    np.save(tmp_path / "nan.npy", nan)
    np.save(tmp_path / "flat.npy", np.zeros(5))
    for name, shape in (("rows", (0, 4)), ("columns", (4, 0))):
        np.save(tmp_path / f"{name}.npy", np.zeros(shape))
        fails(65, f"{name}.npy: the matrix is empty", arguments=["decompose", tmp_path / f"{name}.npy", "--modes", "2,2"])
    fails(65, "10 × 10", "12 × 12", arguments=["decompose", tmp_path / "a.npy", "--modes", "5,2"])
    fails(2, "--skip-tokens 12: the matrix is 12 × 12", arguments=["decompose", tmp_path / "a.npy", "--modes", "5,2", "--skip-tokens", 12])
    fails(2, "--index", arguments=["decompose", tmp_path / "many.npy", "--modes", "3,4"])
    fails(2, "--index", arguments=["decompose", tmp_path / "many.npy", "--modes", "3,4", "--index", 2])
    fails(65, "the matrix has non-finite values", arguments=["decompose", tmp_path / "nan.npy", "--modes", "3,4"])
    fails(65, "matrix", arguments=["decompose", tmp_path / "flat.npy", "--modes", "5"])
    fails(66, "none.npy", arguments=["decompose", tmp_path / "none.npy", "--modes", "5"])
    for option, value in [("--layer", 1), ("--head", 1), ("--samples", 1), ("--sample", 1), ("--data", "x"), ("--tokenizer", "x")]:
        fails(2, "are for runs and models", "a.npy is a file of matrices", arguments=["decompose", tmp_path / "a.npy", "--modes", "3,4", option, value])
    fails(2, "--space", arguments=["decompose", tmp_path / "a.npy", "--modes", "3,4", "--space", "3y4"])
    fails(2, "a space has two sizes or more, got 12", arguments=["decompose", tmp_path / "a.npy", "--modes", "3,4", "--space", "12"])


# cost

def test_cost_prints_the_papers_figures():
    text = ok("cost").stdout
    rows = {line.split("  ")[0]: line for line in text.splitlines()}
    for form, figure in (("Kronecker, released projection", "0.67 G"), ("full", "0.72 G"), ("divided", "0.71 G")):
        assert rows[form].count(figure) >= 2, rows[form]  # ours, and the paper's beside it


def test_cost_by_size_measured(tmp_path):
    result = json.loads(ok("cost", "--sides", "8,16", "--attention", "linear,full", "--blocks", 1, "--width", 16,
                           "--hidden", 32, "--heads", 2, "--measure", "--repeats", 1, "--out", tmp_path / "out",
                           "--json").stdout)
    assert [e["tokens"] for e in result["entries"]] == [[2, 2, 2], [4, 4, 4]] * 2
    assert all(e["measured"]["training_seconds"] > 0 and e["measured"]["training_bytes"] > 0 for e in result["entries"])
    assert len(result["growth_exponents"]) == 2
    assert {p.name for p in (tmp_path / "out").iterdir()} >= {"cost.json", "cost.csv", "measured.csv", "report.html",
                                                             "multiply_adds.svg", "training_time.svg"}
    for entry in result["entries"]:
        assert sum(layer["parameters"] for layer in entry["layers"]) == entry["parameters"]
    fails(2, "kroneker", arguments=["cost", "--attention", "kroneker"])


def test_cost_of_one_size(tmp_path):
    small = ["cost", "--size", "8,8,8", "--blocks", 2, "--width", 16, "--hidden", 32, "--heads", 2]
    result = json.loads(ok(*small, "--attention", "linear,full", "--measure", "--repeats", 1, "--out", tmp_path / "bars", "--json").stdout)
    for name, key, factor in (("training_time", "training_seconds", 1e3), ("inference_memory", "inference_bytes", 2**-20)):
        root = ElementTree.parse(tmp_path / "bars" / f"{name}.svg").getroot()
        shown = [float(title.text.rsplit(": ")[1].replace(",", "")) for title in root.iter("{http://www.w3.org/2000/svg}title") if ": " in title.text]
        assert shown == pytest.approx([entry["measured"][key] * factor for entry in result["entries"]], rel=0.06, abs=0.006)
    text = ok(*small, "--attention", "linear", "--layers", "--out", tmp_path / "layers").stdout
    entry, = json.loads((tmp_path / "layers" / "cost.json").read_text())["entries"]
    parameters = collections.Counter()
    for line in text[text.index("layer "):].splitlines()[2:]:
        layer, _, count, _ = re.split(r" {2,}", line.strip())
        parameters[layer] += int(count.replace(",", ""))
    assert parameters == {layer["name"]: layer["parameters"] for layer in entry["layers"]} and len(parameters) == 4
    assert parameters.total() == entry["parameters"]
    one_head, = json.loads(ok(*small[:-1], 1, "--attention", "full", "--json").stdout)["entries"]
    two_heads, = json.loads(ok(*small, "--attention", "full", "--json").stdout)["entries"]
    # Each block has two norms (queries, keys) with a weight and a bias, which are as wide as a head: 16 or 8.
    assert one_head["parameters"] - two_heads["parameters"] == 2 * 2 * 2 * (16 - 8)
    fails(2, "--heads", "0", arguments=[*small[:-1], 0, "--attention", "full"])


def test_cost_of_whole_models_measured(tmp_path):
    small = ["--blocks", 1, "--width", 16, "--hidden", 32, "--heads", 2]
    result = json.loads(ok("cost", "--models", "hot,vit,resnet18", "--sides", "5,6", "--patch", 3, *small, "--measure", "--batch", 2,
                           "--repeats", 1, "--out", tmp_path / "out", "--json").stdout)  # fmt: skip
    hot, vit, resnet = (result["entries"][i] for i in (1, 3, 5))
    assert hot["tokens"] == [2, 2, 2] and vit["tokens"] == [9] and resnet["tokens"] == []
    assert resnet["parameters"] == 33140802  # one channel, two classes
    # 27 × 16 + 16; class token, positions; q, k, v, o; feed-forward; three LayerNorms; head
    assert vit["parameters"] == 448 + 16 + 9 * 16 + 4 * (256 + 16) + (512 + 32) + (512 + 16) + 3 * 32 + 34
    assert all(e["measured"]["training_seconds"] > 0 and e["measured"]["inference_bytes"] > 0 for e in result["entries"])
    assert 2 * resnet["measured"]["training_bytes"] > 4 * 33140802  # the gradients of the weights, for two samples
    assert (tmp_path / "out" / "training_time.svg").exists()
    text = ok("cost", "--models", "resnet18").stdout
    assert text.split("\n\n")[1].startswith("model ")
    fails(2, "there is no model 'resnet19' (there are hot", arguments=["cost", "--models", "resnet19"])
    fails(2, "--attention", arguments=["cost", "--models", "vit", "--attention", "sum"])


def test_cost_of_volumes_and_of_sequences_have_options_of_their_own():
    for option in (["--attention", "full"], ["--models", "vit"], ["--size", "8,8"], ["--sides", "8"], ["--patch", 2], ["--blocks", 2], ["--layers"]):
        fails(2, "excludes", "--tokens", option[0], arguments=["cost", "--tokens", 64, *option])
    fails(2, "excludes", "--sides", "--size", arguments=["cost", "--size", "14,14,14", "--sides", 28])


def test_the_partial_count_is_not_of_synthesizers():
    """Their maps and products are counted together."""
    entries = json.loads(ok("cost", "--size", "28,28", "--attention", "full,dot-product,stt", "--json").stdout)["entries"]
    assert [entry["linear_and_all_token"] is None for entry in entries] == [False, True, True]


def test_costs_replace_earlier_ones_and_name_bytes(tmp_path):
    small = ["cost", "--blocks", 1, "--width", 16, "--hidden", 32, "--heads", 2, "--attention", "linear", "--out", tmp_path / "out"]
    ok(*small, "--sides", "8,16", "--measure", "--repeats", 1)
    header, row, _ = (tmp_path / "out" / "cost.csv").read_text().splitlines()
    (*_, entry) = json.loads((tmp_path / "out" / "cost.json").read_text())["entries"][:1]
    assert header.endswith('"saved activations, bytes"') and float(row.rsplit(",", 1)[1]) == entry["activation_bytes"]
    assert (tmp_path / "out" / "measured.csv").read_text().splitlines()[0].endswith('"training memory, bytes","inference memory, bytes"')
    (tmp_path / "out" / "mine.svg").write_text("<svg/>")
    ok(*small, "--size", "8,8,8", "--overwrite")
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"cost.json", "cost.csv", "report.html", "mine.svg"}


# explain and track

@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    data = write_csv(folder / "small.csv")
    for name, more in {"hot": [], "transformer": [], "dlinear": []}.items():
        options = SMALL if name != "dlinear" else SMALL[:6] + SMALL[-4:]
        ok("train", "forecast", "--data", data, "--model", name, "--out", folder / name, "--threads", 1,
           "--track", "stable_rank", *options, *more)
    return folder


def lines(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_stable_rank_is_recorded_at_each_evaluation(runs):
    hot = [line for line in lines(runs / "hot") if "val_mae" in line]
    assert len(hot) == 2
    for line in hot:
        assert 1 <= line["rank_mode0"] <= 3 and 1 <= line["rank_mode1"] <= 3
        assert 1 <= line["rank_product"] <= 9 and 1 <= line["rank_sum"] <= 9
        assert 1 <= line["rank_train_mode0"] <= 3 and 1 <= line["rank_train_product"] <= 9
        assert line["rank_train_mode1"] != line["rank_mode1"]
    assert all(1 <= line["rank_full"] <= 9 for line in lines(runs / "transformer") if "val_mae" in line)
    assert not any("rank" in key for line in lines(runs / "dlinear") for key in line)


def test_stable_rank_is_drawn_in_the_report(runs):
    for name in ("hot", "dlinear"):
        ok("report", runs / name)
    page = (runs / "hot" / "report.html").read_text()
    for text in ("Stable rank of the attention matrices", "mode 0", "mode 1, training", "product", "sum, training"):
        assert text in page, text
    assert "Stable rank of the attention" not in (runs / "dlinear" / "report.html").read_text()


def test_tracking_changes_no_weights_and_no_threads_change_it(runs, tmp_path):
    data = runs / "small.csv"
    plain, threads = tmp_path / "plain", tmp_path / "threads"
    ok("train", "forecast", "--data", data, "--out", plain, "--threads", 1, *SMALL)
    ok("train", "forecast", "--data", data, "--out", threads, "--threads", 3, "--track", "stable_rank", *SMALL)
    assert (threads / "metrics.jsonl").read_bytes() == (runs / "hot" / "metrics.jsonl").read_bytes()
    kept = [{k: v for k, v in line.items() if not k.startswith("rank")} for line in lines(threads)]
    assert kept == lines(plain)


def test_explain_writes_maps_ranks_and_influences(runs):
    result = json.loads(ok("explain", runs / "hot", "--samples", 5, "--num-examples", 5, "--json").stdout)
    arrays = np.load(runs / "hot" / "explain" / "explain.npz")
    assert result["modes"] == ["variable", "time"]
    for layer in (1, 2):
        mean, single = arrays[f"layer{layer}_variable_mean"], arrays[f"layer{layer}_variable"]
        assert mean.shape == (2, 3, 3) and single.shape == (5, 2, 3, 3)
        assert np.allclose(mean.sum(-1), 1, atol=1e-5)
        # All samples are kept, so the stable ranks are those of numpy, a mean over samples for each head.
        single = single.astype(float)
        ranks = np.linalg.norm(single, axis=(-2, -1))**2 / np.linalg.norm(single, 2, axis=(-2, -1))**2
        assert np.allclose(result["stable_rank"][layer - 1]["modes"]["variable"], ranks.mean(0), rtol=1e-4)
    variable, past = result["influence"]
    assert variable["places"] == ["a", "b", "c"] and len(past["places"]) == 3
    assert np.array(variable["matrix"]).size == 9
    # The matrix's mean over the targets is the effect.
    assert np.allclose(np.array(variable["matrix"]).reshape(3, 3).mean(0), variable["effect"], rtol=1e-4)
    assert "Stable rank" in (runs / "hot" / "explain" / "explain.html").read_text()


def test_explain_works_for_other_models(runs, tmp_path):
    full = json.loads(ok("explain", runs / "transformer", "--out", tmp_path, "--json").stdout)
    assert len(full["stable_rank"][0]["full"]) == 2
    assert np.load(tmp_path / "explain.npz")["layer1_full_mean"].shape == (2, 9, 9)
    linear = json.loads(ok("explain", runs / "dlinear", "--json").stdout)
    assert linear["stable_rank"] == [] and len(linear["influence"]) == 2
    # A linear model of each series alone: taking one away changes no other.
    matrix = np.array(linear["influence"][0]["matrix"]).reshape(3, 3)
    assert np.count_nonzero(matrix - np.diag(np.diag(matrix))) == 0
    fails(66, "nowhere", arguments=["explain", tmp_path / "nowhere"])


def test_explain_overwrites_what_is_not_the_runs_own_only_when_asked(runs, tmp_path):
    files = ["explain.html", "explain.json", "explain.npz"]
    for file in files:
        out = tmp_path / file
        out.mkdir()
        (out / file).write_text("mine")
        fails(73, file, "--overwrite", arguments=["explain", runs / "dlinear", "--out", out])
        assert [(path.name, path.read_text()) for path in out.iterdir()] == [(file, "mine")]
        ok("explain", runs / "dlinear", "--out", out, "--overwrite")
        assert sorted(path.name for path in out.iterdir()) == files and (out / file).read_bytes() != b"mine"
    for _ in range(2):  # RUN/explain is made from the run, and may be made again
        ok("explain", runs / "dlinear")


# sweep

def write_sweep(folder, heads="[1, 2]", more=""):
    settings = "\n".join(s.replace("=", " = ", 1) for s in SMALL[1::2])
    path = folder / "grid.toml"
    path.write_text(f'task = "forecasting"\ndata = "small.csv"\nseeds = [1, 2]\n[settings]\n{settings}\n{more}\n'
                    f'[[axis]]\nname = "heads"\nkey = "model.heads"\nvalues = {heads}\n')
    return path


def test_a_sweep_trains_tables_and_goes_on(tmp_path):
    write_csv(tmp_path / "small.csv")
    out = tmp_path / "out"
    result = json.loads(ok("sweep", write_sweep(tmp_path), "--out", out, "--jobs", 2, "--threads", 1, "--json").stdout)
    assert [r["state"] for r in result["runs"]] == ["finished"] * 4
    for row, heads in zip(result["rows"], (1, 2)):
        values = [json.loads((out / "runs" / f"{heads}_s{seed}" / "metrics.json").read_text())["best"]["val_mse"]
                  for seed in (1, 2)]
        cell = row["metrics"]["/best/val_mse"]
        assert cell["values"] == values
        assert np.isclose(cell["mean"], np.mean(values)) and np.isclose(cell["std"], np.std(values, ddof=1))
    assert "±" in (out / "table.md").read_text() and "heads" in (out / "table.csv").read_text()
    before = (out / "runs" / "1_s1" / "metrics.json").stat().st_mtime_ns
    again = json.loads(ok("sweep", write_sweep(tmp_path, "[1, 2, 4]"), "--out", out, "--jobs", 3, "--threads", 1,
                          "--metric", "best.val_mae", "--json").stdout)
    assert len(again["runs"]) == 6 and list(again["rows"][0]["metrics"]) == ["/best/val_mae"]
    for run in again["runs"]:
        metrics = json.loads((pathlib.Path(run["folder"]) / "metrics.json").read_text())
        assert metrics["test_read"] is False and "test" not in metrics
    fails(78, "does not evaluate the test split", arguments=["sweep", write_sweep(tmp_path), "--metric", "test.scaled.mse"])
    assert (out / "runs" / "1_s1" / "metrics.json").stat().st_mtime_ns == before
    assert "| heads" in ok("sweep", write_sweep(tmp_path), "--out", out, "--table", "--format", "markdown").stdout
    fails(78, "other settings", arguments=["sweep", write_sweep(tmp_path), "--out", out, "--set", "train.epochs=3"])


def test_a_failing_run_is_reported_and_does_not_stop_the_others(tmp_path):
    write_csv(tmp_path / "small.csv")
    result = modewise("sweep", write_sweep(tmp_path, "[3, 2]"), "--out", tmp_path / "out", "--jobs", 2, "--threads", 1)
    assert result.returncode == 1
    assert "3_s1 failed with exit code 78" in result.stderr and "heads" in result.stderr
    assert "2 of 4 runs failed" in result.stderr.splitlines()[-1]
    assert "0 of 2" in result.stdout


def test_a_stopped_sweep_ends_with_the_bits_of_one_that_was_not(tmp_path):
    write_csv(tmp_path / "small.csv")
    sweep = write_sweep(tmp_path, "[2]")
    long = ["--set", "train.epochs=12", "--set", "train.patience=0", "--jobs", 2, "--threads", 1]
    ok("sweep", sweep, "--out", tmp_path / "whole", *long)
    process = subprocess.Popen([PROGRAM, "sweep", sweep, "--out", tmp_path / "cut", *map(str, long)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines_file = tmp_path / "cut" / "runs" / "2_s1" / "metrics.jsonl"
    deadline = time.time() + 120
    while time.time() < deadline and not (lines_file.exists() and lines_file.read_text().count("\n") >= 2):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 143  # it had not ended by itself
    ok("sweep", sweep, "--out", tmp_path / "cut", *long)
    for run in ("2_s1", "2_s2"):
        for name in ("metrics.jsonl", "metrics.json"):
            assert (tmp_path / "cut" / "runs" / run / name).read_bytes() == \
                (tmp_path / "whole" / "runs" / run / name).read_bytes()


SHIPPED_SWEEPS = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "sweeps"


def shipped_runs(file):
    """The task of each run of seed 1, and its --config and --set."""
    for run in json.loads(ok("sweep", file, "--dry-run", "--json", "--seeds", "1").stdout):
        arguments = run["arguments"]
        pairs = [(a, b) for a, b in zip(arguments, arguments[1:]) if a in ("--config", "--set")]
        yield arguments[1], [word for pair in pairs for word in pair]


def test_the_shipped_sweeps_are_plans_whose_settings_exist():
    files = sorted(SHIPPED_SWEEPS.glob("*.toml"))
    assert len(files) >= 10
    shown = set()  # a run is checked if it has a setting that no run before it had: 0.6 s each
    for file in files:
        for task, settings in shipped_runs(file):
            if new := {(task, *pair) for pair in zip(settings[::2], settings[1::2])} - shown:
                ok("config", "show", task, *settings)
                shown |= new


def test_the_shipped_sweeps_of_ETTh1_are_of_models_that_can_be_made():
    files = sorted(SHIPPED_SWEEPS.glob("etth1-*.toml"))
    assert len(files) >= 6
    for file in files:
        for task, settings in shipped_runs(file):
            assert task in ("forecast", "forecasting")
            ok("info", "--series", 7, *settings)


@pytest.mark.long
def test_the_shipped_sweeps_of_Adrenal_train(tmp_path):
    rng = np.random.default_rng(0)
    volumes = tmp_path / "volumes.npz"
    np.savez(volumes, **{f"{split}_{name}": value for split in ("train", "val", "test") for name, value in (
        ("images", rng.integers(0, 256, (4, 28, 28, 28), dtype=np.uint8)), ("labels", np.array([[0], [1], [0], [1]], np.uint8)))})
    files = sorted(SHIPPED_SWEEPS.glob("adrenal-*.toml"))
    assert len(files) >= 7
    for file in files:
        for i, (task, settings) in enumerate(shipped_runs(file)):
            assert task in ("classify-volumes", "volume_classification")
            ok("train", "classify-volumes", "--data", volumes, *settings, "--set", "train.epochs=1", "--no-test",
               "--out", tmp_path / f"{file.stem}-{i}", "--threads", 1)


def test_other_data_are_explained_in_the_scale_of_the_training(runs, tmp_path):
    table = [line.split(",") for line in (runs / "small.csv").read_text().splitlines()]
    effects = {}
    for factor in (2, 20):
        rows = [[row[0], *(str(factor * float(cell)) for cell in row[1:])] for row in table[1:]]
        (tmp_path / f"{factor}.csv").write_text("\n".join(",".join(row) for row in [table[0], *rows]) + "\n")
        ok("explain", runs / "dlinear", "--data", tmp_path / f"{factor}.csv", "--out", tmp_path / str(factor))
        influences = json.loads((tmp_path / str(factor) / "explain.json").read_text())["influence"]
        effects[factor] = np.concatenate([one["effect"] for one in influences])
    assert effects[2].max() > 0
    np.testing.assert_allclose(effects[20], 10 * effects[2], rtol=1e-3)  # a linear model


@pytest.mark.parametrize("command, name", [(["language"], "language_modeling"), (["caption"], "captioning"),
                                           (["text", "--set", "text.objective=masked_lm"], "text, objective masked_lm"),
                                           (["text", "--set", "text.objective=regression"], "text, objective regression")])  # fmt: skip
def test_stable_ranks_are_refused_where_none_are_recorded(tmp_path, command, name):
    data = tmp_path / "words.txt"
    data.write_text("some words of text\n" * 200)
    last = fails(78, arguments=["train", *command, "--data", data, "--track", "stable_rank", "--out", tmp_path / "run"])
    assert last == (f"error: options: train.track = stable_rank has no effect for the task '{name}': it records no stable ranks; "
                    "remove it (modewise decompose analyses a finished run)")  # fmt: skip
    assert not (tmp_path / "run").exists()
