"""Errors of commands on runs name what helps there."""

import shutil

import pytest

from cli_helpers import QUICK, fails, ok, write_csv


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messages")
    ok("train", "forecast", write_csv(folder / "d.csv"), "--out", folder / "run", *QUICK)
    return folder / "run"


def test_settings_of_data_belong_to_the_training(run, tmp_path):
    def irregular(lines):
        del lines[100]
        lines[200] = lines[200].replace(":00:00,", ":20:00,", 1)

    other = write_csv(tmp_path / "other.csv", edit=irregular)
    for command in ("predict", "evaluate"):
        fails(65, "data.resample", f"; data.… are set for a new training only: adapt the data to the settings of {run}", arguments=[command, run, "--data", other])
    last = fails(65, "data.resample", arguments=["train", "forecast", other, "--out", tmp_path / "run", *QUICK])
    assert "for a new training only" not in last


@pytest.mark.parametrize("command", ["evaluate", "predict", "report"])
def test_moved_data_are_named_with_an_option(run, tmp_path, command):
    folder = tmp_path / "moved"
    shutil.copytree(run.parent, folder)
    text = (folder / "run" / "config.toml").read_text()
    (folder / "run" / "config.toml").write_text(text.replace(str(run.parent), str(folder)))
    text = (folder / "run" / "data.json").read_text()
    (folder / "run" / "data.json").write_text(text.replace(str(run.parent), str(folder)))
    (folder / "d.csv").rename(folder / "e.csv")
    fails(66, folder / "d.csv", f"if the data of {folder / 'run'} have moved, name them with --data", arguments=[command, folder / "run"])
    ok(command, folder / "run", "--data", folder / "e.csv")


def test_damaged_json_is_reported_in_words(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "data.json").write_text("{")
    last = fails(65, "data.json: not JSON: parse error at line 1", arguments=["predict", tmp_path / "run"])
    assert "json.exception" not in last


def test_a_run_in_place_of_data_and_a_file_in_place_of_a_run(run):
    fails(2, f"{run} is a run, not data: modewise config show --run {run} lists its settings", arguments=["data", "show", run])
    ok("config", "show", "--run", run)
    fails(66, f"expected a run folder, got a file of one: {run} is the run", arguments=["predict", run / "config.toml"])


def test_data_from_pipes_are_written_to_a_file_first(run):
    fails(2, "--data -: standard input is not read here: write its bytes to a file first", arguments=["data", "show", "-"])
    fails(66, "cannot open -: there is no such file, and standard input is not read here: write its bytes to a file first", arguments=["predict", run, "--data", "-"])
    fails(66, "cannot read /dev/null: expected a regular file, got a pipe or device; write its bytes to a file first", arguments=["predict", run, "--data", "/dev/null"])


def test_a_training_without_test_windows_is_refused(run):
    settings = ["--set", "data.panel=yes", "--set", "data.test_windows=0"]
    fails(78, "data.test_windows = 0 leaves no test windows: use --no-test (train.test = false)", arguments=["train", "forecast", run.parent / "d.csv", "--out", run.parent / "none", *settings])
