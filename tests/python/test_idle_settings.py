"""Settings that would have no effect in a run are refused, with the setting that they need."""

import numpy as np
import pytest

from cli_helpers import QUICK, fails, ok, write_csv
from test_panels import made, panel


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("idle") / "d.csv")


@pytest.mark.parametrize("setting,advice", [
    ("data.split_dates=2020-01-10,2020-01-13", "no effect with data.split = auto: set data.split = dates, or leave data.split_dates out"),
    ("forecast.quantiles=0.1,0.5,0.9", "no effect with forecast.loss = mae: set forecast.loss = quantile"),
    ("forecast.huber_delta=2", "no effect with forecast.loss = mae: set forecast.loss = huber"),
    ("train.schedule.step_at=2,4", "no effect with train.schedule.name = cosine: set train.schedule.name = step"),
    ("data.resample_by=sum", "no effect without data.resample: set data.resample, or leave data.resample_by out"),
    ("data.lorenz96.sites=9", "no effect with data.simulate = : set data.simulate = lorenz96"),
    ("data.split_windows=2", "is for panels, and the data are read as one tensor: leave it out, or set data.panel = yes"),
    ("data.test_windows=2", "is for panels"),
    ("data.array=x", "is for NPZ files, and the data are read as a table"),
    ("data.time_axis=1", "is for arrays (NPY, NPZ), and the data are read as a table"),
    ("forecast.test_drop_last=100", "= 100 needs as many test windows"),
])  # fmt: skip
def test_a_setting_without_effect_is_refused(table, tmp_path, setting, advice):
    fails(78, setting.partition("=")[0], advice, arguments=["train", "forecast", table, "--out", tmp_path / "run", *QUICK, "--set", setting])
    assert not (tmp_path / "run").exists()


def test_with_what_they_need_they_are_taken(table, tmp_path):
    settings = ["data.split=dates", "data.split_dates=2020-01-12,2020-01-14", "forecast.loss=huber", "forecast.huber_delta=2",
                "train.schedule.name=step", "train.schedule.step_at=[1]"]  # fmt: skip
    ok("train", "forecast", table, "--out", tmp_path / "run", *QUICK, *sum((["--set", one] for one in settings), []))
    ok("predict", tmp_path / "run")


def test_in_a_file_and_for_other_tasks(tmp_path):
    (tmp_path / "c.toml").write_text("[train.schedule]\nstep_at = [3]\n")
    for task in ("forecast", "classify-series", "language"):
        fails(78, "c.toml", "train.schedule.step_at has no effect", arguments=["config", "show", task, "--config", tmp_path / "c.toml"])


def test_a_run_with_such_a_setting_goes_on(table, tmp_path):
    """Runs of earlier versions may have them."""
    ok("train", "forecast", table, "--out", tmp_path / "run", *QUICK, "--max-steps", 2)
    config = tmp_path / "run" / "config.toml"
    config.write_text(config.read_text().replace("huber_delta = 1.0", "huber_delta = 2.0"))
    ok("predict", tmp_path / "run")
    ok("config", "show", "--run", tmp_path / "run")


def test_stored_predictions_are_not_for_panels(tmp_path):
    arguments = ["train", "forecast", panel(tmp_path / "p.csv", made(count=3)), "--horizon", 6, "--model", "repeat", "--out", tmp_path / "run"]
    fails(78, "output.predictions is for one tensor, and the data are read as a panel: leave it out, or set data.panel = no",
          arguments=[*arguments, "--set", "data.panel=yes", "--set", "output.predictions=9"])  # fmt: skip
    ok(*arguments, "--set", "data.panel=yes", "--set", "output.predictions=0", "--set", "output.report=false")


def test_a_setting_that_replaces_an_option_is_named(table, tmp_path):
    command = ["train", "forecast", table, "--out", tmp_path / "run", "--model", "dlinear", "--horizon", "4", "--no-test", "--set", "output.report=false"]
    assert "--set train.epochs=1 replaces train.epochs=3 of another option\n" in ok(*command, "--epochs", 3, "--set", "train.epochs=1").stderr
    assert "of another option" not in ok(*command, "--overwrite", "--epochs", 1, "--set", "train.epochs=1").stderr


def test_options_that_contradict_each_other(table, tmp_path):
    command = ["train", "forecast", table, "--out", tmp_path / "run"]
    fails(2, "--model dlinear contradicts --set model.name=hot: give one of them", arguments=[*command, "--model", "dlinear", "--set", "model.name=hot"])
    fails(2, "--seed 3 contradicts --set train.seed=4: give one of them", arguments=[*command, "--seed", "3", "--set", "train.seed=4"])
    fails(2, "contradicts --set data.path=other.csv: give one of them", arguments=[*command, "--set", "data.path=other.csv"])
    fails(2, "--horizon 12 (forecast.horizon) contradicts forecast.horizons = [6, 24], which replace it",
          arguments=[*command, "--horizon", 12, "--set", "forecast.horizons=6,24"])  # fmt: skip
    (tmp_path / "c.toml").write_text("[forecast]\nhorizons = [6, 24]\n")
    fails(2, "contradicts forecast.horizons", arguments=[*command, "--horizon", 12, "--config", tmp_path / "c.toml"])
    assert not (tmp_path / "run").exists()
    (tmp_path / "c.toml").write_text("[forecast]\nhorizon = 96\n")  # a file gives way
    ok("config", "show", "--config", tmp_path / "c.toml", "--set", "forecast.horizons=6,24", "--model", "dlinear", "--set", "model.name=dlinear")


def test_auto_with_dates_retrains_with_all_rows(tmp_path):
    """The split by ratios of --refit leaves out the dates."""
    table = write_csv(tmp_path / "d.csv", rows=300)
    ok("train", "forecast", table, "--model", "auto", "--budget", "20s", "--horizon", 4, "--refit", "--out", tmp_path / "run", "--set", "data.split=dates",
       "--set", "data.split_dates=2020-01-09,2020-01-11")  # fmt: skip
    assert np.isfinite([float(line.split(",")[1]) for line in ok("predict", tmp_path / "run").stdout.splitlines()[1:]]).all()


@pytest.mark.parametrize("options,key", [(["--epochs", 3], "train.epochs"), (["--lr", 0.1], "train.optimizer.learning_rate"), (["--batch-size", 8], "train.batch_size"),
                                         (["--set", "train.schedule.name=step"], "train.schedule.name"), (["--set", "train.ema_decay=0.9"], "train.ema_decay")])  # fmt: skip
def test_models_that_are_not_trained_have_no_settings_of_steps(table, tmp_path, options, key):
    for model, more in (("repeat", []), ("theta", ["--set", "data.panel=yes"])):
        fails(78, f"{key} has no effect with model.name = {model}, which is not trained in steps: leave {key} out",
              arguments=["train", "forecast", table, "--model", model, "--out", tmp_path / "run", *options, *more])  # fmt: skip
        assert not (tmp_path / "run").exists()


def test_models_that_are_not_trained_get_no_advice_on_training(table, tmp_path):
    printed = ok("train", "forecast", table, "--model", "ridge", "--out", tmp_path / "run", "--set", "output.report=false").stderr
    assert "train.epochs" not in printed and "longer training" not in printed
    config = ok("config", "show", "--run", tmp_path / "run", "--section", "train").stdout
    assert "epochs = 0\n" in config
