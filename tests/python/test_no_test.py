"""`train --no-test` leaves the test split unread: whatever it holds, or nothing, the bytes are the same. `evaluate` then
evaluates it once and writes what a training with a test split writes."""
import gzip
import json
import shutil

import numpy as np
import PIL.Image
import pytest

from cli_helpers import fails, modewise, ok, write_csv
from test_volume_classification import nifti, write_npz
from test_series_classification import write_ts


FEW = ["--set", "train.epochs=2", "--threads", "1", "--set", "train.schedule.warmup_steps=0", "--set", "output.report=false"]
TINY = ["--set", "model.width=16", "--set", "model.hidden=16", "--set", "model.heads=2", "--set", "model.layers=1"]


class Forecast:
    """The last 80 of 400 rows are the test split."""
    command = "forecast"
    options = ["--set", "forecast.lookback=24", "--set", "forecast.horizon=8", "--model", "dlinear"]
    counted = "windows"

    def write(self, folder):
        write_csv(folder / "d.csv")
        return ["--data", folder / "d.csv"]

    def spoil(self, folder):
        def gaps(lines):
            lines[-80:-1] = [line.split(",", 1)[0] + ",,," for line in lines[-80:-1]]  # empty rows at the end would be no rows
        write_csv(folder / "d.csv", edit=gaps)
        yield "gaps"
        def large(lines):
            lines[-80:] = [line.split(",", 1)[0] + ",9999,-9999,1" for line in lines[-80:]]
        write_csv(folder / "d.csv", edit=large)
        yield "large"


class Classify:
    """MedMNIST's six arrays, two of them of the test split."""
    command = "classify-volumes"
    options = [*TINY, "--set", "train.batch_size=16"]
    counted = "samples"

    def write(self, folder):
        write_npz(folder / "boxes.npz")
        return ["--data", folder / "boxes.npz"]

    def spoil(self, folder):
        path = folder / "boxes.npz"
        arrays = dict(np.load(path))
        arrays["test_images"], arrays["test_labels"] = np.full((3, 11, 2, 5), np.nan), np.full(3, -7.5)
        np.savez_compressed(path, **arrays)
        yield "of another shape"
        del arrays["test_images"], arrays["test_labels"]
        np.savez_compressed(path, **arrays)
        yield "absent"


class Nifti(Classify):
    """A folder of files; labels.csv holds their splits."""
    columns = "file,label,split"

    def rows(self):
        return [f"scan{i},{i % 2}" + "," + ("test" if i % 4 == 0 else "val" if i % 4 == 1 else "train") for i in range(48)]

    def test_files(self):
        return [f"scan{i}.nii.gz" for i in range(0, 48, 4)]

    def write(self, folder):
        rng = np.random.default_rng(0)
        scans = folder / "scans"
        scans.mkdir(exist_ok=True)
        for i in range(48):
            values = rng.normal(size=(8, 8, 8))
            label = i // 4 % 2 if i % 4 < 2 else i % 2
            values[label * 4:label * 4 + 3] += 3
            (scans / f"scan{i}.nii.gz").write_bytes(gzip.compress(nifti(values)))
        rows = [row.split(",") for row in self.rows()]
        for i, row in enumerate(rows):
            row[1] = str(i // 4 % 2 if i % 4 < 2 else i % 2)
        (scans / "labels.csv").write_text("\n".join([self.columns, *(",".join(row) for row in rows)]) + "\n")
        return ["--data", scans]

    def spoil(self, folder):
        for name in self.test_files():
            (folder / "scans" / name).write_bytes(b"no NIfTI at all")
        yield "garbage"


class Photos:
    """A folder of images; labels.csv holds their splits."""
    command = "classify-images"
    options = ["--set", "model.cnn.widths=[4,8]", "--set", "train.batch_size=16"]
    counted = "samples"

    def write(self, folder):
        rng = np.random.default_rng(0)
        (folder / "photos").mkdir(exist_ok=True)
        rows = ["file,label,split"]
        for i in range(48):
            pixels = rng.integers(0, 99, (8, 8, 3), np.uint8)
            pixels[:, :, i % 3 % 2] += 100
            PIL.Image.fromarray(pixels).save(folder / f"photos/{i:02}.png")
            rows.append(f"{i},{i % 3 % 2},{'test' if i % 4 == 0 else 'val' if i % 4 == 1 else 'train'}")
        (folder / "photos/labels.csv").write_text("\n".join(rows) + "\n")
        return ["--data", folder / "photos"]

    def spoil(self, folder):
        for i in range(0, 48, 4):
            (folder / f"photos/{i:02}.png").write_bytes(b"no image at all")
        yield "garbage"


class Series:
    """A file of training samples and one of test samples."""
    command = "classify-series"
    options = [*TINY, "--set", "model.patch.length=4", "--set", "model.patch.stride=2", "--set", "data.length=24"]
    counted = "samples"

    def write(self, folder):
        return ["--train", write_ts(folder / "R_TRAIN.ts", 40, 1), "--test", write_ts(folder / "R_TEST.ts", 20, 2)]

    def spoil(self, folder):
        (folder / "R_TEST.ts").write_text("@data\nnothing that reads as a series")
        yield "garbage"
        (folder / "R_TEST.ts").unlink()
        yield "absent"


class Paper(Series):
    """All samples are split again: the test file is read, since its samples are distributed over the splits."""
    options = [*Series.options, "--set", "data.protocol=paper"]

    def spoil(self, folder):
        yield "as it is"


class Language:
    """Test text in a file of its own."""
    command = "language"
    options = ["--set", "model.width=32", "--set", "model.layers=1", "--set", "model.heads=2", "--set", "model.context=32",
               "--set", "model.attention.fold=0,4", "--set", "train.batch_size=4", "--set", "language.lengths=[32, 64]",
               "--set", "language.length_windows=2", "--set", "language.length_stride=16"]
    counted = "tokens"

    def write(self, folder):
        rng = np.random.default_rng(1)
        for name, words in (("story.txt", 1500), ("test.txt", 300)):
            (folder / name).write_text(" ".join(rng.choice(["rope", "of", "sand", "ships", "hill"], words)))
        return ["--data", folder / "story.txt", "--set", f"data.test={folder / 'test.txt'}"]

    def spoil(self, folder):
        (folder / "test.txt").write_text("Ж" * 5000)
        yield "other text"
        (folder / "test.txt").unlink()
        yield "absent"


class Recall(Language):
    """Made-up samples, which no file can spoil."""
    options = [*Language.options[:8], "--set", "model.attention.fold=0,4", "--set", "data.recall.length=32",
               "--set", "data.recall.pairs=[2]", "--set", "data.recall.samples=32", "--set", "data.recall.held_back=16"]
    counted = "asked"

    def write(self, folder):
        return ["--data", "recall"]

    def spoil(self, folder):
        yield "as it is"


class Tiles:
    """A folder of tiles with the folders train, val and test."""
    command = "segment"
    options = [*TINY[:-2], "--set", "model.layers=1", "--set", "data.window=16", "--set", "train.batch_size=4"]
    counted = "pixels"

    def write(self, folder):
        rng = np.random.default_rng(2)
        for part, count in (("train", 4), ("val", 2), ("test", 2)):
            for kind in ("images", "masks"):
                (folder / kind / part).mkdir(parents=True, exist_ok=True)
            for i in range(count):
                mask = (rng.random((16, 16)) > 0.5).astype(np.uint8) + 1
                np.save(folder / "masks" / part / f"{i}.npy", mask)
                np.save(folder / "images" / part / f"{i}.npy", rng.normal(mask[..., None], 0.2, (16, 16, 3)).astype(np.float32))
        return ["--data", folder / "images", "--masks", folder / "masks"]

    def spoil(self, folder):
        for kind in ("images", "masks"):
            for path in (folder / kind / "test").glob("*.npy"):
                path.write_bytes(b"no array at all")
        yield "garbage"


CASES = [Forecast, Classify, Photos, Series, Language, Tiles, *(pytest.param(case, marks=pytest.mark.long) for case in (Nifti, Paper, Recall))]


def newest(run):
    return max((run / "checkpoints").glob("step_*"), key=lambda p: float(p.name.removeprefix("step_")))


def without_times(figures):
    """Language models also say how fast their text was read."""
    if not isinstance(figures, dict):
        return figures
    return {k: without_times(v) for k, v in figures.items() if k not in ("seconds", "tokens_per_second")}


def learnt(run):
    """The results of a run: figures, weights, state, what it keeps of the data."""
    names = ["metrics.jsonl", "data.json", "config.toml", *(str(newest(run) / n) for n in (
        "model.safetensors", "best.safetensors", "optimizer.safetensors", "state.json"))]
    files = {name.rsplit("/", 1)[-1]: (run / name).read_bytes() for name in names}
    return files | {"metrics.json": without_times(json.loads((run / "metrics.json").read_text()))}


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.__name__)
def unread(request, tmp_path_factory):
    """A case, its folder, its command, and a run without the test split."""
    case, folder = request.param(), tmp_path_factory.mktemp("unread")
    command = ["train", case.command, *case.write(folder), *case.options, *FEW]
    ok(*command, "--no-test", "--out", folder / "run")
    return case, folder, command


def test_whatever_the_test_split_holds_the_bytes_are_the_same(unread):
    case, folder, command = unread
    wanted = learnt(folder / "run")
    try:
        for how in case.spoil(folder):
            again = folder / how.replace(" ", "-")
            ok(*command, "--no-test", "--out", again)
            assert learnt(again) == wanted, how
            ok("report", again, "--out", folder / (again.name + ".html"))
    finally:
        case.write(folder)


def test_the_run_says_so(unread):
    case, folder, _ = unread
    metrics = json.loads((folder / "run" / "metrics.json").read_text())
    assert metrics["test_read"] is False and "test" not in metrics and "validation" in metrics
    assert json.loads((folder / "run" / "manifest.json").read_text())["test_read"] is False
    assert "test" not in json.loads((folder / "run" / "timing.json").read_text())
    assert "\ntest = false\n" in (folder / "run" / "config.toml").read_text()
    # Pairs to recall are drawn for each split, so no file holds a test split.
    assert ("test unread" in (folder / "run" / "log.txt").read_text()) == (not isinstance(case, Recall))


def test_kept_predictions_are_those_of_validation_windows(tmp_path):
    """Their sizes were once those of the test windows, which there are none of."""
    case = Forecast()
    ok("train", "forecast", *case.write(tmp_path), *case.options, *FEW, "--no-test", "--out", tmp_path / "run")
    kept = np.load(tmp_path / "run" / "predictions.npz")
    rows = np.loadtxt(tmp_path / "d.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3))
    assert kept["forecast"].shape == kept["truth"].shape == (len(kept["first_row"]), 3, 8)
    for first, past, truth in zip(kept["first_row"], kept["past"], kept["truth"]):
        assert 280 <= first + 24 and first + 32 <= 320  # the validation rows
        np.testing.assert_allclose(past, rows[first:first + 24].T, atol=1e-6)
        np.testing.assert_allclose(truth, rows[first + 24:first + 32].T, atol=1e-6)


def test_evaluate_reads_it_once_and_writes_what_training_would_have(unread, tmp_path):
    case, folder, command = unread
    run, twin = tmp_path / "run", tmp_path / "twin"
    shutil.copytree(folder / "run", run)
    ok(*command, "--out", twin)
    wanted = json.loads((twin / "metrics.json").read_text())
    assert wanted["test_read"] is True and wanted["test"][case.counted] > 0
    timing = json.loads((twin / "timing.json").read_text())
    assert timing["test"]["count"] == 1 and timing["test"]["seconds"] > 0 and timing["test"]["processor_seconds"] > 0
    for name in ("model.safetensors", "best.safetensors"):
        assert (newest(run) / name).read_bytes() == (newest(twin) / name).read_bytes()
    said = json.loads(ok("evaluate", run, "--threads", "1", "--json").stdout)
    assert (said["own"]["scores"] if case.command == "language" else said) == wanted["test"]
    found = json.loads((run / "metrics.json").read_text())
    assert found["test_read"] is True and found["test"] == wanted["test"] and found["best"] == wanted["best"]
    for length, figures in wanted.get("lengths", {}).get("plain", {}).items():
        assert found["lengths"]["plain"][length]["perplexity"] == figures["perplexity"]
    if (twin / "predictions.npz").exists():
        kept, other = np.load(run / "predictions.npz"), np.load(twin / "predictions.npz")
        assert kept.files == other.files
        assert all(kept[name].tobytes() == other[name].tobytes() for name in kept.files)
    assert [p.name for p in run.glob("*_test_*.csv")] == [p.name for p in twin.glob("*_test_*.csv")]
    # Compared as one experiment, whose data are the same.
    assert json.loads((run / "data.json").read_text())["hash"] == json.loads((twin / "data.json").read_text())["hash"]
    table = json.loads(ok("compare", run, twin, "--json").stdout)["groups"]
    assert [len(group["runs"]) for group in table] == [1]  # their seed counts once
    before = (run / "metrics.json").stat().st_mtime_ns
    ok("evaluate", run)
    assert (run / "metrics.json").stat().st_mtime_ns == before


def test_unread_runs_are_compared_by_validation(unread, tmp_path):
    _, folder, _ = unread
    page = tmp_path / "both.html"
    group, = json.loads(ok("compare", folder / "run", "--json").stdout)["groups"]
    assert any(name.startswith("validation") for name in group)
    ok("report", folder / "run", folder / "run", "--out", page)
    assert "still unread" in page.read_text()


def test_resuming_reads_or_not_as_the_run_began(unread):
    case, folder, _ = unread
    fails(2, "--no-test is for new runs", arguments=["train", case.command, "--resume", folder / "run", "--no-test"])
    before = learnt(folder / "run")
    ok("train", case.command, "--resume", folder / "run", "--threads", "1")
    assert learnt(folder / "run") == before


def test_a_resumed_run_that_was_evaluated_reports_its_test_split(tmp_path):
    case = Forecast()
    ok("train", "forecast", *case.write(tmp_path), *case.options, *FEW, "--no-test", "--out", tmp_path / "run",
       "--set", "output.report=true")
    ok("evaluate", tmp_path / "run")
    ok("train", "forecast", "--resume", tmp_path / "run", "--threads", "1")
    assert "test" in json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert "Errors on the test rows" in (tmp_path / "run" / "report.html").read_text()


def test_where_the_test_samples_validate_they_cannot_be_left_unread(tmp_path):
    data = Series().write(tmp_path)
    fails(78, "tslib", "cannot stay unread",
          arguments=["train", "classify-series", *data, *Series.options, *FEW, "--set", "data.protocol=tslib", "--no-test",
                     "--out", tmp_path / "run"])


@pytest.mark.parametrize("case", [Forecast, Classify, Series, Language, Tiles], ids=lambda case: case.command)
def test_training_says_what_it_costs_before_it_starts(case, tmp_path):
    one = case()
    result = modewise("train", one.command, *one.write(tmp_path), *one.options, *FEW, "--set", "train.epochs=30",
                      "--set", "train.patience=0", "--out", tmp_path / "run", "--no-test")
    assert result.returncode == 0, result.stderr
    lines = result.stderr.splitlines()
    cost, = [i for i, line in enumerate(lines) if "multiply-adds" in line]
    estimate, = [i for i, line in enumerate(lines) if "estimated from" in line]
    evaluated = [i for i, line in enumerate(lines) if "best so far" in line]
    assert cost < min(evaluated) and cost < estimate
    assert "parameters" in lines[cost] and "steps, without evaluations)" in lines[estimate]
