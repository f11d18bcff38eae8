"""Settings of panels: those of one tensor are refused, and what their errors propose."""
import pytest

from cli_helpers import fails, ok
from test_changed_panels import TRAIN, made, written


@pytest.mark.parametrize("setting,reason", [
    ("data.split_ratios=0.5,0.2,0.3", "whose series are split by their last horizons (data.split_windows)"),
    ("data.start=2000-01-01", "whose series have the dates of the table, or the order of its rows"),
    ("data.step=1 h", "whose series have the dates of the table, or the order of its rows"),
    ("data.format=npz", "which are read from a table"),
    ("data.missing_fraction=0.1", "whose missing cells are those of the table"),
    ("data.mode_names=a", "whose series are independent"),
    ("forecast.select=mse", "whose models are selected by MASE"),
])
def test_settings_that_panels_do_not_read_are_refused(setting, reason, tmp_path):
    key = setting.split("=")[0]
    fails(78, f"{key} is not for panels, {reason}: leave it out, or read one tensor with data.panel = no",
          arguments=["train", "forecast", written(made(), tmp_path / "p.csv"), "--out", tmp_path / "run", *TRAIN, "--set", setting])


@pytest.mark.parametrize("panel", ["yes", "no"])
def test_no_test_windows_need_no_test(panel, tmp_path):
    path = written(made(), tmp_path / "p.csv")
    arguments = ["train", "forecast", path, "--out", tmp_path / "run", *TRAIN, "--set", f"data.panel={panel}", "--set", "data.test_windows=0"]
    fails(78, "data.test_windows = 0 leaves no test windows: use --no-test (train.test = false)", arguments=arguments)
    assert not (tmp_path / "run").exists()
    ok(*arguments, "--no-test")
