"""Commands on data other than those of the training: another file by --data, and the run's own file, changed since."""
import json
import shutil

import numpy as np
import pytest

from cli_helpers import QUICK, fails, modewise, ok, write_csv
from test_folder_forms import image as write_image
from test_no_test import FEW, Language
from test_panels import made, panel
from test_segmentation import QUICK as FEW_STEPS
from test_volume_classification import nifti


def evaluated(run, *more):
    result = ok("evaluate", run, *more, "--json")
    return json.loads(result.stdout), result.stderr


def trained(folder, *more, rows=400):
    data = write_csv(folder / "h.csv", rows)
    ok("train", "forecast", "--data", data, "--out", folder / "run", *QUICK, *more)
    return folder / "run", data


def lines_of(data, first, last):
    lines = data.read_text().splitlines()
    path = data.with_name(f"rows-{first}-{last}.csv")
    path.write_text("\n".join([lines[0], *lines[1 + first:1 + last]]) + "\n")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("other")
    return trained(folder)[0]


def test_the_run_s_own_data_elsewhere_have_its_test_split(run, tmp_path):
    moved = shutil.copy(run.parent / "h.csv", tmp_path / "moved.csv")
    own, elsewhere = evaluated(run)[0], evaluated(run, "--data", moved)
    assert own["split"] == "test" and elsewhere[0] == own and "training data" not in elsewhere[1]


def test_other_rows_are_evaluated_whole(run, tmp_path):
    longer = write_csv(tmp_path / "longer.csv", 500)
    part = lines_of(longer, 400, 450)
    said, log = evaluated(run, "--data", part)
    assert said["split"] == "all" and said["windows"] == 50 - 24 - 8 + 1
    assert "50 rows, which are not the training data of the run" in log and "too good" not in log
    ok("explain", run, "--data", part, "--out", tmp_path / "explained")
    assert len(json.loads(ok("backtest", run, "--data", part, "--json").stdout)["origins"]) == (50 - 24) // 8


@pytest.mark.parametrize(("first", "last", "common"), [(0, 300, 300), (300, 400, 20), (320, 400, 0)])
def test_rows_with_dates_of_the_training_are_counted(run, first, last, common):
    said, log = evaluated(run, "--data", lines_of(run.parent / "h.csv", first, last))
    assert said["split"] == "all"
    assert (f"{common} of its {last - first} rows have dates of the training and validation rows" in log) == (common > 0)
    if common == 0:
        assert "too good" not in log


def contents(run):
    return {name: (run / name).read_bytes() for name in ("metrics.json", "data.json", "predictions.npz")}


@pytest.mark.parametrize("test", [[], ["--no-test"]], ids=["evaluated", "unread"])
def test_evaluate_refuses_the_run_s_file_if_it_has_changed(tmp_path, test):
    run, data = trained(tmp_path, *test)
    whole, before = data.read_text(), contents(run)
    longer = write_csv(tmp_path / "longer.csv", 500).read_text().splitlines()
    data.write_text("\n".join([*whole.splitlines(), *longer[401:]]) + "\n")
    sentence = fails(65, "has changed since the training", "400 rows then, 500 rows now", f"--data {data}", arguments=["evaluate", run])
    assert "other values" not in sentence
    assert evaluated(run, "--data", data)[0]["windows"] == 500 - 24 - 8 + 1
    for command in ("predict", "backtest"):
        assert "has changed" not in ok(command, run).stderr
    data.write_text(whole.replace(",0.", ",1.", 1))
    fails(65, "400 rows then, as many now, with other values", arguments=["evaluate", run])
    for command in ("predict", "backtest"):
        assert ok(command, run).stderr.count("has changed since the training") == 1
    ok("report", run)
    assert contents(run) == before
    data.write_text(whole)
    assert evaluated(run)[0]["split"] == "test"


def test_an_evaluated_run_keeps_to_the_rows_of_its_evaluation(tmp_path):
    """400 rows more after it, the training and validation rows of the split rule are all rows of the training."""
    run, data = trained(tmp_path, "--no-test")
    first = evaluated(run)[0]
    assert json.loads((run / "data.json").read_text())["rows"] == 400
    assert evaluated(run)[0] == first
    longer = write_csv(tmp_path / "longer.csv", 500).read_text().splitlines()
    data.write_text("\n".join([*data.read_text().splitlines(), *longer[401:]]) + "\n")
    fails(65, "400 rows then, 500 rows now", arguments=["evaluate", run])


def test_a_run_without_the_number_of_its_unread_rows_is_evaluated(tmp_path):
    """Runs made before do not have it."""
    run, _ = trained(tmp_path, "--no-test")
    data = json.loads((run / "data.json").read_text())
    assert data["rows"] == 320 and data.pop("unread_rows") == 80
    (run / "data.json").write_text(json.dumps(data))
    assert evaluated(run)[0]["split"] == "test"


def test_panels(tmp_path):
    data = panel(tmp_path / "p.csv", made(count=5))
    ok("train", "forecast", "--data", data, "--set", "data.panel=yes", "--horizon", 6, "--model", "ridge", "--out", tmp_path / "run")
    run = tmp_path / "run"
    for split in ("all", "train"):
        fails(2, f"the split of a panel is test or validation, got '{split}'", arguments=["evaluate", run, "--split", split])
    assert evaluated(run, "--split", "validation")[0]["split"] == "validation"
    own = evaluated(run)[0]
    assert own["split"] == "test"
    assert evaluated(run, "--data", shutil.copy(data, tmp_path / "moved.csv"))[0] == own
    other = panel(tmp_path / "q.csv", {name: (start, values[:9]) for name, (start, values) in made(seed=2, count=3).items()})
    said, log = evaluated(run, "--data", other)
    assert said["windows"] == 3 and "3 series, which are not the training data of the run" in log
    shutil.copy(other, data)
    fails(65, "has changed since the training", "in 5 series then, 27 rows in 3 series now", arguments=["evaluate", run])
    ok("predict", run)


@pytest.fixture(scope="module")
def tiles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiles")
    write_tiles(folder, 8)
    ok("train", "segment", "--data", folder / "images", "--masks", folder / "masks", *FEW_STEPS, "--out", folder / "run")
    return folder


def write_tiles(folder, count, seed=2):
    rng = np.random.default_rng(seed)
    for kind in ("images", "masks"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for i in range(count):
        mask = (rng.random((32, 32)) > 0.5).astype(np.uint8) + 1
        np.save(folder / "masks" / f"{i}.npy", mask)
        np.save(folder / "images" / f"{i}.npy", rng.normal(mask[..., None], 0.2, (32, 32, 3)).astype(np.float32))


def scene(folder):
    return ["--data", folder / "images", "--masks", folder / "masks"]


def test_two_tiles_are_evaluated_whole(tiles, tmp_path):
    write_tiles(tmp_path, 2, seed=5)
    said, log = evaluated(tiles / "run", *scene(tmp_path))
    assert said["split"] == "all" and said["pixels"] == 2 * 32 * 32
    assert "2 images, which are not the training data of the run" in log


def test_the_run_s_own_tiles_elsewhere_have_its_test_split(tiles, tmp_path):
    for kind in ("images", "masks"):
        shutil.copytree(tiles / kind, tmp_path / kind)
    own = evaluated(tiles / "run")[0]
    assert own["split"] == "test" and evaluated(tiles / "run", *scene(tmp_path))[0] == own
    assert evaluated(tiles / "run", *scene(tmp_path), "--split", "all")[0]["pixels"] == 8 * 32 * 32


def test_changed_tiles_are_refused(tiles, tmp_path):
    shutil.copytree(tiles, tmp_path / "copy")
    run = tmp_path / "copy" / "run"
    config = (run / "config.toml").read_text().replace(str(tiles), str(tmp_path / "copy"))
    (run / "config.toml").write_text(config)
    assert evaluated(run)[0]["split"] == "test"
    write_tiles(tmp_path / "copy", 1, seed=9)
    fails(65, "has changed since the training", "--data", arguments=["evaluate", run])


def write_scans(folder, count, seed=0):
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(seed)
    rows = ["file,label"]
    for i in range(count):
        values = rng.normal(size=(8, 8, 8))
        values[i % 2 * 4:i % 2 * 4 + 3] += 3
        (folder / f"s{i}.nii").write_bytes(nifti(values))
        rows.append(f"s{i},{i % 2}")
    (folder / "labels.csv").write_text("\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize("test", [[], ["--no-test"]], ids=["evaluated", "unread"])
def test_volumes_without_splits_are_evaluated_whole(tmp_path, test):
    data, run = write_scans(tmp_path / "scans", 40), tmp_path / "run"
    ok("train", "classify-volumes", "--data", data, "--model", "hot", "--set", "model.width=8", "--set", "model.heads=2", "--set", "model.layers=1",
       "--set", "model.hidden=8", "--set", "train.max_steps=2", "--out", run, *test)  # fmt: skip
    moved = shutil.copytree(data, tmp_path / "moved")
    before = (run / "metrics.json").read_bytes()
    assert evaluated(run, "--data", moved)[0]["samples"] == 8
    said, log = evaluated(run, "--data", write_scans(tmp_path / "new", 6, seed=4))
    assert said["split"] == "all" and said["samples"] == 6 and "6 volumes, which are not the training data" in log
    write_scans(data, 44, seed=1)
    fails(65, "has changed since the training", "28 training", "now", arguments=["evaluate", run])
    assert (run / "metrics.json").read_bytes() == before


def without_dates(data):
    path = data.with_name("undated.csv")
    path.write_text("".join(line.split(",", 1)[1] + "\n" for line in data.read_text().splitlines()))
    return path


def test_a_run_with_dates_and_a_phase_needs_dates(tmp_path):
    run, data = trained(tmp_path, "--set", "model.window.cycle=24")
    undated = without_dates(lines_of(data, 203, 400))
    for command in (["evaluate", "--split", "all"], ["predict"], ["backtest"]):
        fails(65, "have no dates", "period of 24 rows", "data.start", arguments=[command[0], run, *command[1:], "--data", undated])


def test_a_run_without_a_phase_takes_rows_without_dates(run):
    assert evaluated(run, "--data", without_dates(lines_of(run.parent / "h.csv", 203, 400)))[0]["split"] == "all"


def monthly(path, rows):
    rng = np.random.default_rng(0)
    path.write_text("date,y\n" + "".join(f"{2000 + i // 12}-{1 + i % 12:02d}-01,{rng.normal():.4f}\n" for i in range(rows)))
    return path


@pytest.mark.parametrize(("rows", "scores"), [(40, 4), (400, 0)])
def test_levels_that_few_scores_do_not_support_are_named(tmp_path, rows, scores):
    data = monthly(tmp_path / "m.csv", rows)
    said = ok("train", "forecast", "--data", data, "--model", "repeat", "--horizon", 1, "--lookback", 4, "--out", tmp_path / "run",
              "--set", "calibration.sides=shared").stderr  # fmt: skip
    calibration = json.loads((tmp_path / "run" / "metrics.json").read_text())["calibration"]
    sentence = f"is made from {scores} scores of the validation windows, which support at most 80 %: at 95 % it is the largest score"
    assert said.count(sentence) == (scores > 0)
    assert calibration.get("few_scores") == ({"scores": 4, "largest_nominal": 0.8} if scores else None)
    assert (sentence in (tmp_path / "run" / "report.html").read_text()) == (scores > 0)


@pytest.mark.parametrize("test", [[], ["--no-test"]], ids=["evaluated", "unread"])
def test_an_unfinished_run_is_used_with_a_warning(tmp_path, test):
    run, _ = trained(tmp_path, *test)
    (run / "metrics.json").unlink()
    (run / "calibration.npz").unlink()
    for command in (["predict", run], ["evaluate", run], ["backtest", run], ["explain", run]):
        assert ok(*command).stderr.count("has not finished: its best weights so far are used") == 1
    fails(66, "has not finished", f"--resume {run}", arguments=["report", run])


def write_text(path, seed):
    rng = np.random.default_rng(seed)
    path.write_text(" ".join(rng.choice(["rope", "of", "sand", "ships", "hill"], 1500)))
    return path


@pytest.mark.parametrize("test", [[], ["--no-test"]], ids=["evaluated", "unread"])
def test_changed_text_is_refused(tmp_path, test):
    data, run = write_text(tmp_path / "story.txt", 1), tmp_path / "run"
    ok("train", "language", "--data", data, *Language.options, *FEW, "--out", run, *test)
    write_text(data, 2)
    before = (run / "metrics.json").read_bytes()
    fails(65, "has changed since the training", f"--data {data}", arguments=["evaluate", run])
    assert (run / "metrics.json").read_bytes() == before
    assert evaluated(run, "--data", data, "--lengths", 32)[0]
    write_text(data, 1)
    assert evaluated(run)[0]["own"]["split"] == "test"


def dated(path, first, days, form="%d/%m/%Y", columns=("y",)):
    """Daily rows with a weekly cycle; dates as `form`."""
    days = np.datetime64(first) + np.arange(days)
    lines = [",".join(("date", *columns))]
    for day in days:
        when = day.item()
        values = [f"{10 + (when.toordinal() % 7) + 3 * i + 0.1 * (when.toordinal() % 5):.2f}" for i in range(len(columns))]
        lines.append(",".join((when.strftime(form), *values)))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_ambiguous_dates_of_other_data_have_the_order_of_the_training(tmp_path):
    data = dated(tmp_path / "h.csv", "2025-01-01", 120)
    ok("train", "forecast", data, "--model", "repeat", "--lookback", 8, "--horizon", 3, "--out", tmp_path / "run", "--set", "output.report=false")
    assert json.loads((tmp_path / "run" / "data.json").read_text())["date_order"] == "day_first"
    new = dated(tmp_path / "new.csv", "2025-06-01", 9)
    result = ok("predict", tmp_path / "run", "--data", new)
    assert [line.split(",")[0] for line in result.stdout.splitlines()[1:]] == ["10/06/2025", "11/06/2025", "12/06/2025"]
    assert "ambiguous" not in result.stderr
    newest_first = new.with_name("newest.csv")
    lines = new.read_text().splitlines()
    newest_first.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    assert ok("predict", tmp_path / "run", "--data", newest_first).stdout == result.stdout
    other = dated(tmp_path / "us.csv", "2025-06-10", 9, "%m/%d/%Y")
    fails(65, "us.csv:5: 06/13/2025 is month/day/year, but the dates of the run's training data are day/month/year",
          arguments=["predict", tmp_path / "run", "--data", other])  # fmt: skip
    iso = dated(tmp_path / "iso.csv", "2025-06-01", 9, "%Y-%m-%d")
    assert "2025-06-10" in ok("predict", tmp_path / "run", "--data", iso).stdout


@pytest.mark.parametrize("first, known", [("2025-01-05", True), ("2025-01-01", False)])
def test_runs_of_earlier_versions_have_the_order_of_their_first_date(tmp_path, first, known):
    """Their data.json has no date_order; 01/01/2025 has both orders."""
    data = dated(tmp_path / "h.csv", first, 120)
    run = tmp_path / "run"
    ok("train", "forecast", data, "--model", "repeat", "--lookback", 8, "--horizon", 3, "--out", run, "--set", "output.report=false")
    described = json.loads((run / "data.json").read_text())
    del described["date_order"]
    (run / "data.json").write_text(json.dumps(described))
    new = dated(tmp_path / "new.csv", "2025-06-01", 9)
    if known:
        assert ok("predict", run, "--data", new).stdout.splitlines()[1].startswith("10/06/2025")
    else:
        said = modewise("predict", run, "--data", new)
        assert said.returncode == 65 and "dates are read as month/day/year; day and month are ambiguous in every row" in said.stderr


def test_ambiguous_dates_of_a_panel_have_the_order_of_the_training(tmp_path):
    def long(path, first, days):
        lines = dated(path, first, days).read_text().splitlines()
        path.write_text("\n".join(["unique_id,ds,y", *(f"{name},{line}" for name in ("n", "s") for line in lines[1:])]) + "\n")
        return path

    data = long(tmp_path / "p.csv", "2025-01-01", 60)
    ok("train", "forecast", data, "--model", "repeat", "--horizon", 3, "--out", tmp_path / "run", "--set", "data.panel=yes",
       "--set", "output.report=false")  # fmt: skip
    said = ok("predict", tmp_path / "run", "--data", long(tmp_path / "new.csv", "2025-06-01", 9)).stdout.splitlines()
    assert [line.split(",")[1] for line in said[1:4]] == ["10/06/2025", "11/06/2025", "12/06/2025"]


def test_columns_are_matched_by_name(run, tmp_path):
    lines = [line.split(",") for line in (run.parent / "h.csv").read_text().splitlines()]

    def table(name, columns, extra=False):
        text = [",".join([*(line[i] for i in columns), *(["w" if row == 0 else "7.5"] if extra else [])]) for row, line in enumerate(lines)]
        (tmp_path / name).write_text("\n".join(text) + "\n")
        return tmp_path / name

    wanted = ok("predict", run).stdout
    added = ok("predict", run, "--data", table("added.csv", [0, 1, 2, 3], extra=True))
    assert added.stdout == wanted and "added.csv: columns that the run does not have are left out: w" in added.stderr
    other = ok("predict", run, "--data", table("order.csv", [0, 3, 1, 2]))
    assert other.stdout == wanted and "order.csv: the columns are in another order than in the run, and are matched by name" in other.stderr
    assert evaluated(run, "--data", tmp_path / "order.csv")[0] == evaluated(run)[0]
    fails(65, "'c' missing", arguments=["predict", run, "--data", table("fewer.csv", [0, 1, 2])])


def test_missing_cells_in_the_lookback_name_the_mend(run, tmp_path):
    lines = (run.parent / "h.csv").read_text().splitlines()
    lines[-3] = ",".join([lines[-3].split(",")[0], "", *lines[-3].split(",")[2:]])
    (tmp_path / "gap.csv").write_text("\n".join(lines) + "\n")
    fails(65, "1 cell is missing in its last 24 rows", "fill them, or train on data with missing cells", arguments=["predict", run, "--data", tmp_path / "gap.csv"])


def test_too_few_rows_for_a_split_name_the_file(tmp_path):
    data = write_csv(tmp_path / "short.csv", 60)
    fails(65, f"{data}: the training split has 42 rows", "one window of lookback 24 and horizon 30 needs 54",
          arguments=["train", "forecast", "--data", data, "--out", tmp_path / "run", "--model", "repeat", "--lookback", 24, "--horizon", 30])  # fmt: skip


TINY = ["--model", "hot", "--set", "model.width=8", "--set", "model.heads=2", "--set", "model.layers=1", "--set", "model.hidden=8", "--set",
        "train.max_steps=2", "--set", "output.report=false"]  # fmt: skip


def arrays_of(images, part="", labels=True):
    return {f"{part}images": images} | ({f"{part}labels": np.arange(len(images)) % 2} if labels else {})


def random_volumes(count, seed, size=8):
    return np.random.default_rng(seed).normal(size=(count, size, size, size)).astype(np.float32)


@pytest.fixture(scope="module")
def volumes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("volumes")
    np.savez(folder / "v.npz", **arrays_of(random_volumes(40, 0)))
    ok("train", "classify-volumes", "--data", folder / "v.npz", *TINY, "--out", folder / "run")
    return folder


def test_training_samples_among_other_data_are_counted(volumes, tmp_path):
    np.savez(tmp_path / "fewer.npz", **arrays_of(random_volumes(40, 0)[:36]))
    trained = len(np.load(volumes / "run" / "training_samples.npy"))
    said, log = evaluated(volumes / "run", "--data", tmp_path / "fewer.npz")
    assert said["samples"] == 36 and "split by class" not in log and "not the training data" not in log
    count = int(log.split("36 volumes, of which ")[1].split(" are in the training split of the run")[0])
    assert trained - 4 <= count <= trained == 28 and "too good" in log
    np.savez(tmp_path / "new.npz", **arrays_of(random_volumes(6, 9)))
    assert "too good" not in evaluated(volumes / "run", "--data", tmp_path / "new.npz")[1]
    (volumes / "run" / "training_samples.npy").rename(tmp_path / "list.npy")  # as in a run of an earlier version
    assert "too good" not in evaluated(volumes / "run", "--data", tmp_path / "fewer.npz")[1]
    (tmp_path / "list.npy").rename(volumes / "run" / "training_samples.npy")


def test_other_data_are_explained_whole(volumes, tmp_path):
    np.savez(tmp_path / "two.npz", **arrays_of(random_volumes(2, 3)))
    ok("explain", volumes / "run", "--data", tmp_path / "two.npz", "--out", tmp_path / "why")
    said = json.loads((tmp_path / "why" / "explain.json").read_text())
    assert said["facts"]["samples"] == "2 volumes" and said["samples"] == ["volume 0", "volume 1"]
    assert "of the test split" in json.loads(ok("explain", volumes / "run", "--data", volumes / "v.npz", "--out", tmp_path / "own", "--json").stdout)["facts"]["samples"]


def test_scenes_are_explained_with_masks(tiles, tmp_path):
    write_tiles(tmp_path, 2, seed=5)
    fails(2, "needs --masks: their true classes", arguments=["explain", tiles / "run", "--data", tmp_path / "images", "--out", tmp_path / "why"])


def test_arrays_without_labels_are_predicted(volumes, tmp_path):
    images = random_volumes(5, 4)
    np.save(tmp_path / "plain.npy", images)
    np.savez(tmp_path / "bare.npz", **arrays_of(images, labels=False))
    for name in ("plain.npy", "bare.npz"):
        result = ok("predict", volumes / "run", "--data", tmp_path / name)
        assert [line.split(",")[0] for line in result.stdout.splitlines()] == ["volume", "0", "1", "2", "3", "4"]
        assert "split by class" not in result.stderr and "evaluated" not in result.stderr
        fails(65, "volume 0 has no class", arguments=["evaluate", volumes / "run", "--data", tmp_path / name])
    np.savez(tmp_path / "large.npz", **arrays_of(random_volumes(2, 1, 9)))
    fails(65, "a run trained with data.size resamples them", arguments=["predict", volumes / "run", "--data", tmp_path / "large.npz"])


def test_samples_of_a_file_with_splits_have_different_names(volumes, tmp_path):
    arrays = {}
    for seed, part in enumerate(("train_", "val_", "test_")):
        arrays |= arrays_of(random_volumes(2, seed), part)
    np.savez(tmp_path / "parts.npz", **arrays)
    lines = ok("predict", volumes / "run", "--data", tmp_path / "parts.npz").stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["train 0", "train 1", "val 0", "val 1", "test 0", "test 1"]


def write_table(path, rows, seed, index=False, labels=("a", "b")):
    """Ramps with classes, and their text."""
    rng = np.random.default_rng(seed)
    head = ["id"] * index + [f"s{i}" for i in range(8)] + ["label"]
    lines = [",".join(head)]
    for i in range(rows):
        values = (2 * (i % 2) - 1) * np.linspace(0, 1, 8) + rng.normal(0, 0.3, 8)
        lines.append(",".join([f"p{i}"] * index + [f"{x:.3f}" for x in values] + [labels[i % len(labels)]]))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_sentences(path, rows, seed, labels=("good", "bad")):
    rng = np.random.default_rng(seed)
    words = {"good": ["fine", "lovely"], "bad": ["poor", "dull"]}
    lines = ["text,label"]
    for i in range(rows):
        label = labels[i % len(labels)]
        lines.append(" ".join([*rng.choice(words.get(label, ["odd"]), 3), str(i)]) + "," + label)
    path.write_text("\n".join(lines) + "\n")
    return path


SERIES = ["classify-series", "--model", "nearest", "--threads", 1, "--set", "output.report=false"]
TEXTS = ["text", "--tokenizer", "bytes", "--set", "model.width=16", "--set", "model.layers=1", "--set", "model.heads=2", "--set",
         "model.max_positions=32", "--set", "train.max_steps=2", "--threads", 1, "--set", "output.report=false", "--set",
         "output.export_model=false"]  # fmt: skip


@pytest.mark.parametrize("write, task", [(write_table, SERIES), (write_sentences, TEXTS)], ids=["series", "texts"])
@pytest.mark.parametrize("test", [[], ["--no-test"]], ids=["evaluated", "unread"])
def test_the_run_s_own_table_has_its_splits_elsewhere(write, task, test, tmp_path):
    data = write(tmp_path / "x.csv", 60, 1)
    ok("train", *task, "--data", data, "--out", tmp_path / "run", *test)
    for moved in (data, shutil.copy(data, tmp_path / "moved.csv")):
        for split in ("train", "validation", "test"):
            said, log = evaluated(tmp_path / "run", "--data", moved, "--split", split)
            assert said["split"] == split and "too good" not in log
            if split != "test" or not test:
                assert said == evaluated(tmp_path / "run", "--split", split)[0]
        log = ok("predict", tmp_path / "run", "--data", moved, "--out", tmp_path / "p.csv", "--overwrite").stderr
        assert "x.csv), which makes its results too good" in log
        assert len((tmp_path / "p.csv").read_text().splitlines()) == 61
    said, log = evaluated(tmp_path / "run", "--data", write(tmp_path / "other.csv", 60, 2))
    assert said["split"] == "test" and said["samples"] == 60
    shorter = tmp_path / "shorter.csv"
    shorter.write_text("\n".join(data.read_text().splitlines()[:-1]) + "\n")
    said, log = evaluated(tmp_path / "run", "--data", shorter)
    assert said["samples"] == 59 and "too good" in log


@pytest.mark.parametrize("write, task, known", [(write_table, SERIES, ("a", "b")), (write_sentences, TEXTS, ("good", "bad"))], ids=["series", "texts"])
def test_predict_takes_labels_that_the_run_does_not_know(write, task, known, tmp_path):
    ok("train", *task, "--data", write(tmp_path / "x.csv", 60, 1), "--out", tmp_path / "run")
    for label in ("new", "?"):
        new = write(tmp_path / "new.csv", 6, 3, labels=(*known, label))
        assert len(ok("predict", tmp_path / "run", "--data", new).stdout.splitlines()) == 7
        fails(65, "new.csv", arguments=["evaluate", tmp_path / "run", "--data", new])


def test_images_of_the_training_and_of_other_folders_are_predicted(tmp_path):
    for i in range(24):
        write_image(tmp_path / "photos" / "ab"[i % 2] / f"{i}.png", i)
    run = tmp_path / "run"
    ok("train", "classify-images", tmp_path / "photos", "--out", run, "--set", "train.max_steps=1", "--set", "output.report=false")
    shutil.copytree(tmp_path / "photos", tmp_path / "copy")
    for data in ("photos", "copy"):
        said = ok("predict", run, "--data", tmp_path / data, "--out", tmp_path / "p.csv", "--overwrite").stderr
        assert "24 images, of which 16 are in the training split" in said and "split by class" not in said
    assert evaluated(run, "--data", tmp_path / "copy")[0] == evaluated(run)[0]
    write_image(tmp_path / "new" / "2024-01" / "x.png", 50)
    assert "2024-01/x.png," in ok("predict", run, "--data", tmp_path / "new").stdout
    fails(65, "class '2024-01' is not among data.classes", arguments=["evaluate", run, "--data", tmp_path / "new"])


def test_runs_within_the_data_are_no_data(tmp_path):
    for i in range(24):
        write_image(tmp_path / "photos" / "ab"[i % 2] / f"{i}.png", i)
    train = ["train", "classify-images", ".", "--set", "train.max_steps=1", "--set", "output.report=false"]
    for name in ("photos-cnn", "photos-cnn2"):
        ok(*train, cwd=tmp_path / "photos")
        assert (tmp_path / "photos" / "runs" / name / "metrics.json").exists()
    ok(*train, "--out", "own", cwd=tmp_path / "photos")
    ok("evaluate", "own", cwd=tmp_path / "photos")
    assert len(ok("predict", "runs/photos-cnn", "--data", ".", cwd=tmp_path / "photos").stdout.splitlines()) == 25


@pytest.mark.parametrize("name", ["\u6771\u4eac", "Gr\u00f6\u00dfe"])
def test_runs_have_the_names_of_their_data(name, tmp_path):
    data = write_table(tmp_path / f"{name} 1.csv", 40, 1)
    ok("train", *SERIES, "--data", data, cwd=tmp_path)
    assert (tmp_path / "runs" / f"{name}-1-nearest" / "metrics.json").exists()


def test_ids_of_a_table_name_its_samples(tmp_path):
    data = write_table(tmp_path / "x.csv", 60, 1, index=True)
    ok("train", *SERIES, "--data", data, "--out", tmp_path / "run")
    lines = ok("predict", tmp_path / "run", "--data", data).stdout.splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == [f"p{i}" for i in range(60)]
    own = [line.split(",")[0] for line in ok("predict", tmp_path / "run").stdout.splitlines()[1:]]
    assert len(own) == 12 and set(own) < {f"p{i}" for i in range(60)}
    plain = write_table(tmp_path / "plain.csv", 60, 1)
    ok("train", *SERIES, "--data", plain, "--out", tmp_path / "plain")
    result = ok("predict", tmp_path / "plain", "--out", tmp_path / "p.csv")
    assert "predictions for the test split of" in result.stderr
    own = (tmp_path / "p.csv").read_text().splitlines()[1:]
    whole = ok("predict", tmp_path / "plain", "--data", plain).stdout.splitlines()
    assert set(own) < set(whole)
