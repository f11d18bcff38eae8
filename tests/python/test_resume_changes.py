"""`train --resume` with other settings or other data: refused with a list, or accepted and written down."""
import json

import numpy as np
import pytest

from cli_helpers import SMALL, fails, hourly, ok

FEW = [*SMALL, "--model", "dlinear", "--epochs", "3", "--threads", "1", "--set", "train.patience=0"]


def write_rows(path, columns="abc", start="2020-01-01T00", scale=1.0, rows=300):
    rng = np.random.default_rng(5)
    values = scale * (np.sin(np.arange(rows)[:, None] / 4 + np.arange(3)) + 0.1 * rng.normal(size=(rows, 3)))
    lines = [",".join(("date", *columns)), *(f"{date},{a},{b},{c}" for date, (a, b, c) in zip(hourly(rows, start), values))]
    path.write_text("\n".join(lines) + "\n")
    return path


def resume(run, *more):
    return ["train", "forecast", "--resume", run, "--threads", "1", *more]


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """A run that max_steps ended, next to its data, which no test resumes successfully."""
    folder = tmp_path_factory.mktemp("cut")
    ok("train", "forecast", write_rows(folder / "d.csv"), *FEW, "--max-steps", "8", "--out", folder / "run")
    return folder / "run"


@pytest.fixture
def run(tmp_path):
    ok("train", "forecast", write_rows(tmp_path / "d.csv"), *FEW, "--max-steps", "8", "--out", tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("change", ["forecast.select=mae", "data.split_ratios=0.7,0.05,0.25", "calibration.intervals=0.5",
                                    "model.weight_init=average", "train.test=false", "data.columns=a,b", "init=other"])
def test_a_setting_of_any_group_is_refused(change, cut):
    fails(78, "started with other settings", change.split("=")[0] + " was ", "--allow-config-changes", arguments=resume(cut, "--set", change))


def test_each_difference_is_listed(cut):
    said = fails(78, arguments=resume(cut, "--set", "forecast.loss=huber", "--batch-size", "8"))
    assert "forecast.loss was 'mae', is 'huber'" in said and "train.batch_size was 32, is 8" in said


def test_output_threads_device_and_moved_data_may_change(run):
    moved = run.parent / "moved.csv"
    (run.parent / "d.csv").rename(moved)
    ok(*resume(run, "--data", moved, "--set", "output.report=true", "--set", "train.prefetch=2", "--set", "train.device=cpu"))


def test_renamed_columns_are_other_data(cut, tmp_path):
    for more in ([], ["--allow-config-changes"]):
        fails(65, "other columns, classes or sizes", "modes.0.labels.2 was \"c\", is \"x\"",
              arguments=resume(cut, "--data", write_rows(tmp_path / "x.csv", "abx"), *more))


def test_other_dates_are_other_data(cut, tmp_path):
    fails(65, "time.start_text was \"2020-01-01", "is \"2021-01-01", "--allow-config-changes",
          arguments=resume(cut, "--data", write_rows(tmp_path / "x.csv", start="2021-01-01T00")))


def test_data_without_the_new_members_are_not_compared(run):
    description = json.loads((run / "data.json").read_text())
    del description["modes"], description["time"]["start_text"]
    (run / "data.json").write_text(json.dumps(description))
    ok(*resume(run))


def test_accepted_data_are_described(run, tmp_path):
    other = write_rows(tmp_path / "other.csv", scale=100)
    before = json.loads((run / "manifest.json").read_text())
    result = ok(*resume(run, "--data", other, "--max-steps", "16", "--allow-config-changes", "--json"))
    description, manifest = (json.loads((run / name).read_text()) for name in ("data.json", "manifest.json"))
    assert description["source"].endswith("other.csv") and manifest["data_hash"] == description["hash"] != before["data_hash"]
    assert manifest["run_id"] == before["run_id"] and manifest["started"] == before["started"]
    trained, again = json.loads(result.stdout)["test"], json.loads(ok("evaluate", run, "--json").stdout)
    assert again["horizons"] == trained["horizons"]
    ok(*resume(run))


def test_accepted_changes_are_written_before_the_next_step(run):
    fails(1, "diverged", arguments=resume(run, "--max-steps", "20", "--lr", "1e30", "--set", "train.clip_norm=0", "--allow-config-changes"))
    config = (run / "config.toml").read_text()
    assert "max_steps = 20" in config and "learning_rate = 1e+30" in config


def test_without_a_step_left_nothing_is_written(run):
    names = ("config.toml", "metrics.json", "timing.json")
    before = [(run / name).read_bytes() for name in names]
    for changes in (["--batch-size", "8", "--allow-config-changes"], []):
        ok(*resume(run, *changes))
        assert [(run / name).read_bytes() for name in names] == before
    kept = (run / "metrics.json").read_bytes()
    fails(78, "no step left to train", "calibration.intervals was", "modewise evaluate",
          arguments=resume(run, "--set", "calibration.intervals=0.5", "--allow-config-changes"))
    fails(78, "no step left to train", "hash was",
          arguments=resume(run, "--data", write_rows(run.parent / "other.csv", scale=2), "--allow-config-changes"))
    assert (run / "metrics.json").read_bytes() == kept


def test_other_batches_train_the_epochs_that_are_left(run):
    length = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
    steps = round(length["step"] / length["epoch"])  # per epoch
    assert steps == 6 and length["step"] == 8
    ok(*resume(run, "--max-steps", "0", "--set", "train.accumulate=2", "--allow-config-changes"))
    metrics, timing = (json.loads((run / name).read_text()) for name in ("metrics.json", "timing.json"))
    assert metrics["epochs"] == 3 and metrics["steps"] == 8 + 5  # 4 of 9 steps of the new length are done
    assert timing["steps"]["count"] == 13
    epochs = [json.loads(line)["epoch"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert epochs == pytest.approx([1, 4 / 3, 2, 3])


def write_classes(path, names):
    rng = np.random.default_rng(1)
    lines = ["label," + ",".join(f"v{i}" for i in range(32))]
    lines += [f"{names[i % 3]}," + ",".join(f"{v:.3f}" for v in i % 3 + rng.normal(size=32) / 5) for i in range(90)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_other_classes_are_refused(tmp_path):
    run = tmp_path / "run"
    ok("train", "classify-series", write_classes(tmp_path / "d.csv", ["low", "mid", "zhigh"]), "--epochs", "2", "--max-steps", "2", "--out", run,
       "--threads", "1")
    again = ["train", "classify-series", "--resume", run, "--threads", "1"]
    fails(78, "augment.noise was", "classify.label_smoothing was",
          arguments=[*again, "--set", "augment.noise=0.1", "--set", "classify.label_smoothing=0.1"])
    other = write_classes(tmp_path / "other.csv", ["xx", "yy", "zz"])
    for more in ([], ["--allow-config-changes", "--max-steps", "4"]):
        fails(65, "classes.0 was \"low\", is \"xx\"", arguments=[*again, "--data", other, *more])
