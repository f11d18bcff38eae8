"""Tables of papers (`modewise reproduce`): made official files of the right names and shapes, tables trained on them with tiny settings, and the cells
that they write."""

import datetime
import json
import os
import statistics
import tomllib

import pytest

from cli_helpers import PROGRAM, ROOT, fails, modewise, ok, write_csv
from official_files import write_cifar, write_volumes

PAPERS = ROOT / "experiments" / "papers"
TINY = ["--set", "train.epochs=1", "--set", "model.width=8", "--set", "model.hidden=8", "--set", "model.heads=2", "--set", "model.layers=1"]
TINY_VOLUMES = [*TINY, "--set", "data.counts=any"]  # the made files have few samples

# Copied by hand from the papers.
PRINTED = [
    ("hot", "table1", "HOT (product)", "Weather MSE", "0.245"), ("hot", "table1", "Transformer (non-factorized)", "Traffic MAE", "OOM"),
    ("hot", "table1", "FedFormer", "Solar MAE", "0.38"), ("hot", "table2", "HOT (sum)", "Fracture AUC", "74.9"),
    ("hot", "table2", "MDANet", "Fracture ACC", "-"), ("hot", "table2", "ViT-3D", "Vessel ACC", "90.1"),
    ("hot", "table3", "HOT (product)", "NLCD", "68.6"), ("hot", "table7", "HOT (sum), 3D Absolute PE", "Nodule AUC", "92.8"),
    ("hot", "table8", "feed-forward", "ECL MAE", "0.288"), ("hot", "table8", "HOT (sum), attention", "Solar MAE", "0.272"),
    ("hot", "table9", "HOT (sum)", "Vessel ACC", "90.0 ± 1.2"), ("hot", "table10", "HOT (sum)", "Traffic SMAPE", "0.530 ± 0.004"),
    ("hot-first", "table1", "iTransformer (2024)", "Exchange MSE", "0.360"), ("hot-first", "table2", "HOT (Ours)", "Synapse ACC", "80.9"),
    ("hot-first", "table3", "time", "ECL MSE", "0.180"), ("hot-first", "table4", "height and width", "Vessel AUC", "91.4"),
    ("hot-first", "table5", "full, linear", "Weather MAE", "0.278"), ("hot-first", "table6", "Kronecker", "Nodule AUC", "86.1"),
    ("hot-first", "table10", "HOT (Ours)", "Synapse AUC", "83.4 ± 0.7"), ("hot-first", "table11", "HOT (Ours), 720", "Exchange SMAPE", "0.644 ± 0.005"),
    ("hot-first", "table12", "PatchTST (2023), 336", "Traffic MAE", "0.304"), ("hot-first", "table12", "AutoFormer (2021), 720", "Exchange MSE", "1.447"),
    ("tensorized", "table1", "Mistral-7B-Tens", "SIQA", "49.1"), ("tensorized", "table2", "Llama-8B-Tens", "Time", "0.73×"),
    ("tensorized", "table3", "OpenLlama-3B, PI", "64k", "-"), ("tensorized", "table5", "Rand", "CoLA", "54.3"),
    ("tensorized", "table5", "Tens-2", "RTE", "86.4"), ("tensorized", "table6", "RandomShapelet", "FaultDetectionA", "N/A"),
    ("synthesizers", "table2", "STT", "0.04", "28.11"), ("synthesizers", "table2", "FSD", "0.01", "68.9"),
    ("synthesizers", "table3", "STTH", "ho+ve", "28.9"), ("synthesizers", "table4", "CT", "60", "36.57"),
    ("synthesizers", "table5", "MS", "CIDEr", "0.2104"), ("synthesizers", "table5", "SR", "ROUGE", "0.7213"),
]  # fmt: skip


def cells_of(written):
    return {(row["row"], cell["column"]): cell for row in written["rows"] for cell in row["cells"]}


def lookup(metrics, pointer):
    for part in pointer.strip("/").split("/"):
        metrics = metrics[part]
    return metrics


@pytest.fixture(scope="module")
def official(tmp_path_factory):
    folder = tmp_path_factory.mktemp("official")
    (folder / "medmnist").mkdir()
    write_volumes(folder / "medmnist")
    write_cifar(folder)
    return folder


@pytest.fixture(scope="module")
def listed():
    return json.loads(ok("reproduce", "--list", "--json").stdout)


def test_every_table_and_figure_is_listed(listed):
    """The papers' highest numbers, from their text: 10 and 13, 12 and 4, 6 and 13, 5 and 7."""
    names = {(one["paper"], one["table"]) for one in listed}
    for paper, tables, figures in (("hot", 10, 13), ("hot-first", 12, 4), ("tensorized", 6, 13), ("synthesizers", 5, 7)):
        for kind, count in (("table", tables), ("figure", figures)):
            assert {(paper, f"{kind}{i}") for i in range(1, count + 1)} <= names
    assert all(one["state"] == "runs" or one["why"] for one in listed)
    text = ok("reproduce", "--list").stdout
    assert "Higher Order Transformers with Kronecker-Structured Attention" in text
    assert text.index("  table2") < text.index("  table10")


def test_printed_cells_are_those_of_the_papers(official, tmp_path):
    """Read from the files: the tables need no run for that."""
    tables = {}
    for paper, table, row, column, printed in PRINTED:
        if (paper, table) not in tables:
            text = (PAPERS / paper / f"{table}.toml").read_text().split('printed = """\n')[1].split('"""')[0]
            lines = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
            tables[paper, table] = {line[0]: dict(zip(lines[0][1:], line[1:], strict=True)) for line in lines[1:]}
        assert tables[paper, table][row][column] == printed, (paper, table, row, column)


@pytest.mark.parametrize(("table", "data", "printed"), [
    (("hot", "table1"), "exchange", {"HOT--product-": "680K", "HOT--sum-": "680K", "Transformer--non-factorized-": "620K"}),
    (("hot-first", "table1"), "exchange", {"HOT--Ours-": "620K"}),
    (("hot", "table2"), "adrenal", {"HOT--product-": "2M", "HOT--sum-": "2M"}),
])  # fmt: skip
def test_models_have_the_printed_sizes(table, data, printed, official, tmp_path):
    write_csv(tmp_path / "exchange_rate.csv", rows=8000)
    (tmp_path / "medmnist").symlink_to(official / "medmnist")
    costs = json.loads(ok("reproduce", *table, "--data", tmp_path, "--only", data, "--seeds", 1, "--cost", "--json", "--out", tmp_path / "out",
                          *(["--set", "data.counts=any"] if data == "adrenal" else [])).stdout)  # fmt: skip
    sizes = {one["run"].rsplit("_", 2)[0]: one["parameters"] for one in costs}
    for row, size in printed.items():
        unit, step = (1e3, 10) if size.endswith("K") else (1e6, 1)
        assert abs(sizes[row] / unit - float(size[:-1])) < step, row  # cut or rounded, to 10 thousand or to a million


def test_tables_share_runs_and_write_cells_beside_the_printed_ones(official, tmp_path):
    """Tables 2 and 9 of the second paper: the means of the runs' metrics.json, marked as cut; the second trains nothing."""
    out = tmp_path / "out"
    arguments = ["--data", official, "--out", out, "--threads", 1, "--jobs", 1, "--only", "organ", "--only", "HOT (sum)", "--only", "hot-product"]
    written = json.loads(ok("reproduce", "hot", "table2", *arguments, "--seeds", "1,2", *TINY_VOLUMES, "--json").stdout)
    cells = cells_of(written)
    values = {}
    for row, choice in (("HOT (product)", "HOT--product-"), ("HOT (sum)", "HOT--sum-")):
        for column, path in (("Organ AUC", "/test/auc"), ("Organ ACC", "/test/accuracy")):
            runs = [json.loads((out / "cut" / "runs" / f"{choice}_Organ_s{seed}" / "metrics.json").read_text()) for seed in (1, 2)]
            values[row, column] = [100 * lookup(run, path) for run in runs]
            cell = cells[row, column]
            assert cell["values"] == pytest.approx(values[row, column])
            assert cell["mean"] == pytest.approx(statistics.mean(values[row, column]))
            assert cell["std"] == pytest.approx(statistics.stdev(values[row, column]), abs=1e-9)
            assert "train.epochs=1" in cell["cut"] and cell["seeds"] == [1, 2]
    assert cells["HOT (product)", "Organ AUC"]["printed"] == "99.8"
    assert cells["HOT (product)", "Nodule AUC"]["values"] == [] and cells["MDANet", "Organ AUC"]["values"] == []
    assert "MDANet" in written["absent"][0]["rows"]
    text = (out / "table2.md").read_text()
    mean, std = (f(values["HOT (sum)", "Organ ACC"]) for f in (statistics.mean, statistics.stdev))
    assert f"{mean:.1f} ± {std:.1f} (cut)" in text
    assert "82.0 †1" in text and "†1 the first paper's Table 2 has 82.0 for Synapse" in text
    settings = json.loads((out / "cut" / "done" / "HOT--sum-_Organ_s1.started.json").read_text())["settings"]
    assert "model.attention.combine=mean" in settings and f"data.path={official}/medmnist/organmnist3d.npz" in settings
    before = sorted(path.name for path in (out / "cut" / "runs").iterdir())
    again = cells_of(json.loads(ok("reproduce", "hot", "table9", *arguments, "--seeds", "1,2", "--table", "--json").stdout))
    assert again["HOT (sum)", "Organ AUC"]["values"] == pytest.approx(values["HOT (sum)", "Organ AUC"])
    assert again["HOT (sum)", "Organ AUC"]["printed"] == "99.6 ± 0.3"
    assert ("ResNet-18", "Organ AUC") not in again
    assert sorted(path.name for path in (out / "cut" / "runs").iterdir()) == before


def test_noise_flips_and_rotations_are_evaluated_by_each_run(official, tmp_path):
    """Paper 004: three tables from one training of each row; all ten levels and eleven angles."""
    arguments = ["--data", official, "--out", tmp_path, "--threads", 1, "--jobs", 1, "--only", "STT"]
    shares = cells_of(
        json.loads(ok("reproduce", "synthesizers", "table2", *arguments, "--seeds", "1", "--set", "train.max_steps=2", "--json").stdout)
    )
    assert sum(bool(cell["values"]) for (row, _), cell in shares.items() if row == "STT") == 10 + 1
    assert shares["STT", "test CPU s"]["values"][0] > 0
    turned = cells_of(json.loads(ok("reproduce", "synthesizers", "table4", *arguments, "--seeds", "1", "--table", "--json").stdout))
    assert sum(bool(cell["values"]) for (row, _), cell in turned.items() if row == "STT") == 11
    flipped = cells_of(json.loads(ok("reproduce", "synthesizers", "table3", *arguments, "--seeds", "1", "--table", "--json").stdout))
    assert turned["STT", "180"]["values"] == flipped["STT", "ho+ve"]["values"]  # the same images
    # the same as `evaluate --robustness`
    run = tmp_path / "cut" / "runs" / "STT_s1"
    found = json.loads(ok("evaluate", run, "--robustness", "--json").stdout)
    found = found[0] if isinstance(found, list) else found.get("runs", [found])[0]
    noise = next(one for one in found["perturbations"] if one["name"] == "gaussian_noise")
    assert [shares["STT", f"{level:g}"]["values"][0] for level in noise["strengths"]] == pytest.approx([100 * x for x in noise["accuracy"]])
    fails(2, "no perturbation 'gausian_noise'", "gaussian_noise", arguments=["train", "classify-images", "--data", official / "cifar-10-batches-bin",
          "--set", "classify.robustness=gausian_noise", "--out", tmp_path / "x"])  # fmt: skip


def write_paper(folder, **more):
    """A paper with one table: three rows, one without a run, two data sets of which one is missing."""
    (folder / "own").mkdir(parents=True)
    (folder / "own" / "paper.toml").write_text('title = "Own paper"\n')
    top = "".join(f"{key} = {value}\n" for key, value in more.items())
    (folder / "own" / "table1.toml").write_text(
        f'title = "Own"\n{top}printed = """\nmodel | One MSE | Two MSE\nlinear | .5 ± .1 | -\nother | | 3\n"""\ntask = "forecasting"\nseeds = [1, 2]\n'
        '[settings]\noutput.report = false\nforecast.lookback = 24\nforecast.horizon = 8\nmodel.name = "dlinear"\ntrain.epochs = 1\n'
        '[[axis]]\nname = "model"\nchoices = [{ name = "linear" }, { name = "further", set = { model.name = "repeat" } }]\n'
        '[[axis]]\nname = "data"\nacross = true\nchoices = [{ name = "One", files = { data.path = ["absent.csv", "deep/one.csv"] } }, '
        '{ name = "Two", files = { data.path = "two.csv" } }]\n'
        '[[metric]]\nname = "MSE"\npath = ["/test/scaled/mse", "/test/scaled/mae"]\n[[absent]]\nrows = "other"\nwhy = "not built"\n')  # fmt: skip
    return folder


@pytest.fixture
def own(tmp_path):
    (tmp_path / "data" / "deep").mkdir(parents=True)
    write_csv(tmp_path / "data" / "deep" / "one.csv")
    return ["--papers", write_paper(tmp_path / "papers"), "--data", tmp_path / "data", "--out", tmp_path / "out", "--threads", 1, "--jobs", 2]


def test_own_table_with_its_own_settings(own, tmp_path):
    """A table is one file. Runs with its own settings replace cut ones; the mean of two paths; missing data, further rows."""
    ok("reproduce", "own", "table1", *own, "--set", "train.max_steps=1")
    cut = cells_of(json.loads((tmp_path / "out" / "table1.json").read_text()))
    assert cut["linear", "One MSE"]["cut"] == ["train.max_steps=1"]
    result = ok("reproduce", "own", "table1", *own, "--json")
    assert "Two: two.csv is missing" in result.stderr
    written = json.loads(result.stdout)
    cell = cells_of(written)["linear", "One MSE"]
    runs = [json.loads((tmp_path / "out" / "runs" / f"linear_One_s{seed}" / "metrics.json").read_text())["test"]["scaled"] for seed in (1, 2)]
    assert cell["values"] == pytest.approx([(run["mse"] + run["mae"]) / 2 for run in runs])
    assert cell["cut"] == [] and cell["printed"] == ".5 ± .1"
    assert cells_of(written)["further", "One MSE"]["printed"] == ""
    assert written["missing"] == [{"choice": "Two", "setting": "data.path", "names": ["two.csv"]}]
    assert len(written["made"]["commits"]) == 1 and written["made"]["processors"]
    again = ok("reproduce", "own", "table1", *own)  # nothing is trained again
    assert "started" not in again.stderr
    lines = [line for line in again.stdout.splitlines() if line.startswith("|")]
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["linear", "linear", "other", "further"]
    assert "Not available: other: not built" in again.stdout and "Missing data of Two: two.csv" in again.stdout
    made = written["made"]
    assert f"commit {made['commits'][0]}, on {made['processors'][0]}; table written {datetime.date.today()}" in again.stdout


def test_only_runs_with_equal_settings_have_a_mean(own, tmp_path):
    """Cut runs of other settings are left out and named; several ways of cutting a table are numbered; a misspelt path is named."""
    table = ["reproduce", "own", "table1", *own]
    file = tmp_path / "papers" / "own" / "table1.toml"
    file.write_text(file.read_text().replace("seeds = [1, 2]", "seeds = [1, 2, 3]"))
    for seed, choice, steps in ((1, "linear", 1), (2, "linear", 2), (1, "further", 1), (2, "further", 2), (3, "further", 2)):
        ok(*table, "--only", choice, "--seeds", seed, "--set", f"data.split_ratios=0.{9 - steps},0.1,0.{steps}")
    text = ok(*table, "--table").stdout
    cells = cells_of(json.loads((tmp_path / "out" / "table1.json").read_text()))
    assert cells["linear", "One MSE"]["seeds"] == [1] and cells["further", "One MSE"]["seeds"] == [2, 3]
    assert "(cut 1): runs with other settings than the table's: data.split_ratios=0.8,0.1,0.1" in text
    assert "(cut 2): runs with other settings than the table's: data.split_ratios=0.7,0.1,0.2" in text
    assert "Left out: runs whose settings differ from those of other seeds in their cell: data.split_ratios=0.7,0.1,0.2, data.split_ratios=0.8" in text
    moved = (tmp_path / "data").rename(tmp_path / "moved")
    assert "(cut 1)" in ok(*[moved if part == tmp_path / "data" else part for part in table], "--table").stdout
    file.write_text(file.read_text().replace('"/test/scaled/mae"', '"/test/scaled/smape", "/test/scaled/maee"'))
    again = ok(*[moved if part == tmp_path / "data" else part for part in table], "--table").stdout
    assert "No finished run has /test/scaled/maee, the path of a metric of table1.toml" in again


def test_only_names_a_choice_exactly_first(own, tmp_path):
    file = tmp_path / "papers" / "own" / "table1.toml"
    axis = '[[axis]]\nname = "share"\nchoices = [{ name = "1.0" }, { name = "10" }, { name = "α" }, { name = "βγ" }]\n[[metric]]'
    file.write_text(file.read_text().replace("[[metric]]", axis))
    for name, count in (("10", 4), ("1.0", 4), ("α", 4), ("1-0", 8), ("linear", 8)):
        listed = json.loads(ok("reproduce", "own", "table1", *own, "--dry-run", "--json", "--only", name).stdout)
        assert len(listed) == count, name


def test_costs_and_commands(own, tmp_path):
    listed = json.loads(ok("reproduce", "own", "table1", *own, "--dry-run", "--json", "--only", "linear").stdout)
    assert [one["name"] for one in listed] == ["linear_One_s1", "linear_One_s2"]
    assert "--no-test" not in listed[0]["arguments"]  # nothing is chosen among the runs of a table
    costs = json.loads(ok("reproduce", "own", "table1", *own, "--cost", "--only", "linear", "--json").stdout)
    assert costs[0]["parameters"] == 2 * (24 * 8 + 8) and len(costs) == 1  # DLinear: two linear maps with bias
    measured = json.loads(ok("reproduce", "own", "table1", *own, "--measure", 2, "--only", "linear", "--json").stdout)[0]
    assert measured["steps"] == pytest.approx(-(-(280 - 24 - 8 + 1) // 32), abs=1) and measured["seconds"] > 0
    assert not (tmp_path / "out" / "runs").exists() and not list((tmp_path / "out").glob("measured-*"))
    chosen = ["--set", "train.epochs=-1"]  # by the size of the data
    measured = json.loads(ok("reproduce", "own", "table1", *own, "--measure", 2, "--only", "linear", *chosen, "--json").stdout)[0]
    assert measured["steps"] > 10 and measured["seconds"] > 0


def test_the_cost_of_a_language_model_needs_no_long_text(tmp_path):
    """The lengths of the table are evaluated after a training, so that a measurement of steps does without."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "short.txt").write_text("a rope of sand and a ship of straw\n" * 400)
    table = ["reproduce", "tensorized", "table3-small", "--data", tmp_path, "--only", "window-64", "--out", tmp_path / "out"]
    small = [part for key in ("width=16", "layers=1", "heads=2", "context=32") for part in ("--set", f"model.{key}")]
    measured = json.loads(ok(*table, *small, "--measure", 2, "--json").stdout)
    assert [one["steps"] for one in measured] == [20 * 25] and measured[0]["seconds_per_step"] > 0
    whole = modewise(*table, *small, "--seeds", 1)
    assert whole.returncode != 0 and "a length of 32768 needs a document of 32769 tokens, and the longest of the test text has 1120" in whole.stderr


def test_slurm_gets_the_wanted_runs(own, tmp_path):
    """A stand-in for sbatch runs the array; each of its tasks trains one run of the table."""
    sbatch = tmp_path / "bin" / "sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text('#!/bin/bash\nfor i in 0 1; do SLURM_ARRAY_TASK_ID=$i bash "$1" > /dev/null 2>&1 || exit 1; done\necho "Submitted batch job 7"\n')
    sbatch.chmod(0o755)
    path = {"PATH": f"{sbatch.parent}:{os.environ['PATH']}"}
    shown = ok("reproduce", "own", "table1", *own, "--only", "linear", "--launcher", "slurm", env=path).stdout
    assert shown == "Submitted batch job 7: 2 runs; --table shows finished runs\n"
    written = json.loads(ok("reproduce", "own", "table1", *own, "--only", "linear", "--table", "--json").stdout)
    assert cells_of(written)["linear", "One MSE"]["seeds"] == [1, 2] and cells_of(written)["further", "One MSE"]["seeds"] == []
    assert [(run["name"], run["state"]) for run in written["runs"]] == [("linear_One_s1", "finished"), ("linear_One_s2", "finished")]
    one = json.loads(ok("reproduce", "own", "table1", *own, "--only", "linear", "--only", "linear_One_s2", "--dry-run", "--json").stdout)
    assert [run["name"] for run in one] == ["linear_One_s2"]  # as the tasks of Ray are started


def test_refusals(own, official, tmp_path):
    fails(66, "no paper 'hut'", "did you mean 'hot'", arguments=["reproduce", "hut", "table1", "--data", official])
    fails(66, "no 'table111'", "--list", arguments=["reproduce", "hot", "table111", "--data", official])
    fails(2, "--list", arguments=["reproduce", "hot"])
    fails(2, "--data FOLDER", arguments=["reproduce", "hot", "table2"])
    fails(66, "no such folder", arguments=["reproduce", "hot", "table2", "--data", tmp_path / "nowhere"])
    fails(66, "electricity.csv", "weather.csv", arguments=["reproduce", "hot", "table1", "--data", official / "medmnist"])
    fails(2, "no runs", "drawing", arguments=["reproduce", "hot", "figure1", "--data", official])
    fails(2, "--only orgon", "Organ", arguments=["reproduce", "hot", "table2", "--data", official, "--only", "orgon", "--dry-run"])
    fails(2, "python -m modewise", arguments=["reproduce", "hot", "table2", "--data", official, "--launcher", "ray"])
    write_csv(tmp_path / "data" / "two.csv")
    (tmp_path / "data" / "again").mkdir()
    write_csv(tmp_path / "data" / "again" / "two.csv")
    fails(2, "several files are named two.csv", "again/two.csv", arguments=["reproduce", "own", "table1", *own])
    write_paper(tmp_path / "wrong", titel='"x"')
    fails(78, "unknown key 'titel'", "title", arguments=["reproduce", "--list", "--papers", tmp_path / "wrong"])


def test_wheel_and_build_have_the_same_tables():
    """The build folder links to the source's tables and questions; both install rules name the same folders."""
    for name in ("papers", "questions"):
        assert (PROGRAM.parent.parent / "share" / "modewise" / name).resolve() == PAPERS.parent / name
    rules = (ROOT / "cmake" / "modewise_install.cmake").read_text()
    assert rules.count("install(DIRECTORY experiments/papers experiments/questions DESTINATION") == 2


def settings_of(node, path=""):
    """(dotted key, value) of every entry of a TOML file, those of lists of tables included."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from settings_of(value, f"{path}.{key}")
    elif isinstance(node, list) and node and isinstance(node[0], dict):
        for one in node:
            yield from settings_of(one, path)
    else:
        yield path, node


def test_no_recipe_adds_weight_decay_to_the_gradients_of_adam():
    """Adam divides it by the size of the gradients: .01 already makes a transformer's output constant."""
    adam = []
    for file in sorted((ROOT / "experiments").rglob("*.toml")):
        settings = list(settings_of(tomllib.loads(file.read_text())))
        if any(key.endswith("optimizer.name") and value == "adam" for key, value in settings):
            adam.append(file.name)
            assert all(value == 0 for key, value in settings if key.endswith("optimizer.weight_decay")), file
    assert len(adam) >= 10
