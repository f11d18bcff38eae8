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
    ("data.calendar_encoding=scaled", "no effect without data.calendar: set data.calendar"),
    ("model.window.cycle_gain=2", "no effect without model.window.cycle: set model.window.cycle"),
    ("model.window.cycle_start=zero", "no effect without model.window.cycle: set model.window.cycle"),
])  # fmt: skip
def test_a_setting_without_effect_is_refused(table, tmp_path, setting, advice):
    fails(78, setting.partition("=")[0], advice, arguments=["train", "forecast", table, "--out", tmp_path / "run", *QUICK, "--set", setting])
    assert not (tmp_path / "run").exists()


def test_with_what_they_need_they_are_taken(table, tmp_path):
    settings = ["data.split=dates", "data.split_dates=2020-01-12,2020-01-14", "forecast.loss=huber", "forecast.huber_delta=2",
                "train.schedule.name=step", "train.schedule.step_at=[1]"]  # fmt: skip
    ok("train", "forecast", table, "--out", tmp_path / "run", *QUICK, *sum((["--set", one] for one in settings), []))
    ok("predict", tmp_path / "run")


def shown(*settings, code=0, task="forecast", words=()):
    arguments = ["config", "show", task, *sum((["--set", one] for one in settings), [])]
    return fails(code, *words, arguments=arguments) if code else ok(*arguments)


@pytest.mark.parametrize("setting,needed,advice", [
    ("model.attention.normalize_sum=true", "model.attention.combine=sum", "with model.attention.combine = product: set model.attention.combine = sum"),
    ("model.future_covariates.width=9", "data.calendar=hour", "without data.future_covariates or data.calendar: set data.future_covariates or data.calendar"),
    ("model.future_covariates.width=9", "data.future_covariates=c", "without data.future_covariates or data.calendar"),
])  # fmt: skip
def test_settings_of_models_that_need_others(setting, needed, advice):
    shown(setting, code=78, words=[setting.partition("=")[0], f"has no effect {advice}"])
    shown(setting, needed)


@pytest.mark.parametrize("task", ["forecast", "classify-volumes", "segment"])
def test_settings_of_models_with_parts_that_are_off(task):
    for setting, off, advice in (("model.hidden=80", "model.feed_forward=none", "model.feed_forward = swiglu or gelu"),
                                 ("model.position.rotary_base=100", "model.position.rotary=none", "model.position.rotary = ordered or time or model.position.rotary_modes")):
        shown(setting, off, code=78, task=task, words=[f"{setting.partition('=')[0]} has no effect with {off.replace('=', ' = ')}: set {advice}, or leave"])
        shown(setting, task=task)
        shown(off, task=task)
    shown("model.position.rotary_base=100", "model.position.rotary=none", "model.position.rotary_modes=0", task=task)


def test_values_of_a_preset_are_not_refused():
    for preset in ("release", "paper"):
        shown(f"model.preset={preset}", "model.feed_forward=none", "model.attention.combine=product")
        shown(f"model.preset={preset}", "model.feed_forward=none", "model.hidden=64", code=78, words=["model.hidden"])


def test_settings_of_a_file_may_lose_their_effect_by_an_assignment(tmp_path):
    """A sweep over the setting that they need has one file."""
    (tmp_path / "c.toml").write_text("[model]\nhidden = 96\n[model.window]\ncycle = 24\ncycle_gain = 1.0\n")
    file = ["config", "show", "forecast", "--config", tmp_path / "c.toml", "--set"]
    ok(*file, "model.feed_forward=none", "--set", "model.window.cycle=0")
    fails(78, "model.hidden has no effect", arguments=[*file, "model.feed_forward=none", "--set", "model.hidden=48"])
    (tmp_path / "c.toml").write_text("[model.window]\ncycle_gain = 1.0\n")
    fails(78, "c.toml", "model.window.cycle_gain has no effect", arguments=[*file, "train.epochs=1"])
    ok(*file, "model.window.cycle=24")


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
