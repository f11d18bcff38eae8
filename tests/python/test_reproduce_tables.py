"""Whole tables of the papers on made official files: every row with a run has a value in each column. Long tests, ten minutes in all."""

import json

import pytest

import official_files
from cli_helpers import ok
from test_generate import small_folder

pytestmark = pytest.mark.long
SMALL = ["--set", "train.epochs=1", "--set", "model.width=16", "--set", "model.hidden=16", "--set", "model.layers=1"]
TINY = ["--set", "train.epochs=1", "--set", "model.width=8", "--set", "model.hidden=8", "--set", "model.heads=2", "--set", "model.layers=1"]
STEP = ["--set", "train.max_steps=1"]
ANY_COUNT = ["--set", "data.counts=any"]  # the made volumes are few
# The first version has rows of models without width and heads: no model settings, and only the quick rows.
QUICK_ROWS = ["HOT (Ours)", "TiDE (2023)", "RLinear (2023)", "DLinear (2023)"]
# ResNets take minutes, and have no width.
SMALL_ROWS = ["ViT-3D", "TimeSformer", "MViT", "Transformer (non-factorized)", "HOT (product)", "HOT (sum)"]
NOT_MEASURED = ("Params", "GFLOPS", "Complexity", "Pretraining", "Average")  # columns that are not results of a run


@pytest.fixture(scope="module")
def official(tmp_path_factory):
    folder = tmp_path_factory.mktemp("official")
    for write in (official_files.write_tables, official_files.write_volumes, official_files.write_cifar, official_files.write_scenes,
                  official_files.write_glue, official_files.write_long_series, official_files.write_texts, official_files.write_coco):  # fmt: skip
        write(folder)
    official_files.write_roberta(folder / "roberta-base")
    return folder


def reproduce(official, out, paper, table, *more):
    arguments = ["--data", official, "--out", out, "--seeds", 1, "--threads", 1, "--json"]
    return json.loads(ok("reproduce", paper, table, *arguments, *more, timeout=3000).stdout)


def full_rows(written, table):
    """The rows with a run have a value in each column of the data at hand."""
    missing = {one["choice"] for one in written["missing"]}
    rows = 0
    for row in written["rows"]:
        if any(cell["values"] for cell in row["cells"]):
            rows += 1
            empty = [cell["column"] for cell in row["cells"] if not cell["values"]]
            assert all(column in NOT_MEASURED or column.split()[0] in missing for column in empty), (table, row["row"], empty)
    return rows


def only(rows):
    return [part for row in rows for part in ("--only", row)]


@pytest.mark.parametrize(("paper", "table", "rows"), [("hot", "table1", 10), ("hot", "table10", 2), ("hot", "table8", 5), ("hot", "figure3", 3),
                         ("hot-first", "table3", 4), ("hot-first", "table5", 4), ("hot-first", "table12", 16)])  # fmt: skip
def test_forecasting_tables(official, tmp_path, paper, table, rows):
    small = {"table1": SMALL, "table12": only(QUICK_ROWS)}.get(table, TINY)  # Autoformer has no heads
    written = reproduce(official, tmp_path, paper, table, *small, *STEP, "--set", "forecast.validation_stride=50")
    if table == "figure3":
        assert all(any(cell["values"] for cell in row["cells"]) for row in written["rows"] if row["row"].startswith("HOT"))
    else:
        assert full_rows(written, table) == rows


@pytest.mark.parametrize(("paper", "table", "rows"), [("hot", "table2", 6), ("hot", "table7", 8), ("hot-first", "table4", 4), ("hot-first", "table6", 4)])  # fmt: skip
def test_volume_tables(official, tmp_path, paper, table, rows):
    written = reproduce(official, tmp_path, paper, table, *TINY, *ANY_COUNT, *(only(SMALL_ROWS) if table == "table2" else []))
    assert full_rows(written, table) == rows


def test_the_table_of_scenes(official, tmp_path):
    assert full_rows(reproduce(official, tmp_path, "hot", "table3", *TINY, *STEP), "table3") == 2


def test_image_tables(official, tmp_path):
    assert full_rows(reproduce(official, tmp_path, "synthesizers", "table2", *STEP), "table2") == 11
    for table in ("table3", "table4"):
        assert full_rows(reproduce(official, tmp_path, "synthesizers", table, "--table"), table) == 11


def test_the_table_of_captions(official, tmp_path):
    assert full_rows(reproduce(official, tmp_path, "synthesizers", "table5", *STEP), "table5") == 6


def test_the_table_of_glue(official, tmp_path):
    assert full_rows(reproduce(official, tmp_path, "tensorized", "table5", *STEP), "table5") == 7


def test_the_table_of_long_series(official, tmp_path):
    small = ["--set", "train.epochs=1", *STEP]
    assert full_rows(reproduce(official, tmp_path, "tensorized", "table6", *small), "table6") == 9


def test_the_table_of_lengths(official, tmp_path):
    small = ["--set", "model.width=16", "--set", "model.layers=1", "--set", "model.heads=2", "--set", "language.length_windows=1"]
    written = reproduce(official, tmp_path, "tensorized", "table3-small", *small, *STEP)
    values = {row["row"]: {cell["column"] for cell in row["cells"] if cell["values"]} for row in written["rows"]}
    plain = {"1×", "4×", "16×", "32×", "64×", "tokens/s 32×"}
    assert len(values) == 4 and all(columns >= plain for columns in values.values())
    assert values["full"] >= {"PI 32×", "NTK 32×", "YaRN 32×", "InfLM 32×"}


@pytest.mark.parametrize(("group", "columns"), [("lm_eval", 9), ("longbench", 7)])
def test_the_questions_of_two_tables(tmp_path, group, columns):
    """Tables 1 and 2 of the paper on tensorized attention, of a model at hand."""
    official_files.write_questions(tmp_path)
    model = small_folder(tmp_path / "model", max_position_embeddings=1024)
    evaluate = ["evaluate", model, "--tokenizer", "bytes", "--tasks", group, "--task-data", tmp_path]
    tasks = json.loads(ok(*evaluate, "--json").stdout)["tasks"]
    assert len(tasks) == columns and all(one["questions"] == 2 and one["seconds"] >= 0 for one in tasks)
    assert {one["kind"] for one in tasks if group == "longbench"} <= {"generate"}
    names = [line.split()[0] for line in ok(*evaluate, "--limit", 1).stdout.splitlines() if line.split()[1:2] == ["1"]]
    assert names == [one["name"] for one in tasks]


def test_the_settings_of_every_run_are_valid(tmp_path):
    """On empty files of all official names, each setting of a table is accepted in some run."""
    listed = json.loads(ok("reproduce", "--list", "--json").stdout)
    for one in listed:
        for file in one["files"]:
            path = tmp_path / file["names"][0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    seen_by_task = {}
    for one in listed:
        if one["state"] != "runs":
            continue
        seen = seen_by_task.setdefault(one["task"], set())
        for run in json.loads(ok("reproduce", one["paper"], one["table"], "--data", tmp_path, "--dry-run", "--json", "--seeds", 1).stdout):
            settings = [part for before, part in zip(run["arguments"], run["arguments"][1:]) if before == "--set"]
            if seen.issuperset(settings):
                continue
            seen.update(settings)
            ok("config", "show", one["task"], *(part for setting in settings for part in ("--set", setting)))
