"""Sweeps that share a folder: started by the program, by Ray and by (what stands for) Slurm."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cli_helpers import PROGRAM, ROOT, fails, ok, write_csv

SEEDS = list(range(1, 5))
RUNS = [f"{heads}_s{seed}" for heads in (1, 2) for seed in SEEDS]


def write_sweep(folder, epochs=4):
    write_csv(folder / "small.csv")
    (folder / "grid.toml").write_text(
        f'task = "forecasting"\ndata = "small.csv"\nseeds = {SEEDS}\n[settings]\nforecast.lookback = 24\nforecast.horizon = 8\n'
        f'output.report = false\ntrain.epochs = {epochs}\ntrain.patience = 0\n'
        '[[axis]]\nname = "heads"\nkey = "model.heads"\nvalues = [1, 2]\n')  # fmt: skip
    return folder / "grid.toml"


def start(command, **environment):
    return subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": str(ROOT / "python"), **environment})  # fmt: skip


def on_ray(*arguments):
    pytest.importorskip("ray")
    # Ray makes its workers give way to all other processes (niceness 15), such as tests that run beside this one.
    return start([sys.executable, "-m", "modewise", "sweep", *arguments, "--launcher", "ray"], RAY_worker_niceness="0")


def wait_for(condition, seconds=180):
    deadline = time.time() + seconds
    while not condition():
        assert time.time() < deadline
        time.sleep(0.02)


def results(out):
    return {run: (out / "runs" / run / "metrics.jsonl").read_bytes() for run in RUNS}


def starts(out, run):
    """How many processes have trained it, by the log that all of them write to."""
    return (out / "logs" / f"{run}.log").read_text().count("cost: ")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The results of a sweep that nobody shares."""
    folder = tmp_path_factory.mktemp("alone")
    ok("sweep", write_sweep(folder), "--out", folder / "out", "--jobs", 2)
    return results(folder / "out")


def test_a_dry_run_checks_the_settings_of_each_run(tmp_path):
    sweep = write_sweep(tmp_path)
    command = ["sweep", sweep, "--out", tmp_path / "out", "--dry-run"]
    ok(*command)
    fails(2, "1_s1: ", "unknown key 'model.head'", arguments=[*command, "--set", "model.head=2"])
    fails(78, "1_s1: ", "data.split_dates has no effect", arguments=[*command, "--set", "data.split_dates=2020-01-01"])
    sweep.write_text(sweep.read_text() + '[[axis]]\nkey = "train.batch_size"\nvalues = [8, 0]\n')
    fails(2, "1_0_s1: ", "train.batch_size", arguments=command)


def test_settings_in_common_may_have_no_effect_in_some_runs(tmp_path):
    """model.hidden has none without feed-forward network: refused alone, not for the rows of a sweep."""
    write_csv(tmp_path / "a.csv")
    grid = tmp_path / "a.toml"
    grid.write_text('[settings]\nforecast.lookback = 24\nforecast.horizon = 8\nmodel.name = "hot"\nmodel.width = 8\nmodel.heads = 2\nmodel.layers = 1\n'
                    'model.hidden = 8\ntrain.max_steps = 1\noutput.report = false\n[[axis]]\nkey = "model.feed_forward"\nvalues = ["gelu", "none"]\n')  # fmt: skip
    command = ["sweep", grid, "--data", tmp_path / "a.csv", "--out", tmp_path / "out"]
    assert len(json.loads(ok(*command, "--dry-run", "--json").stdout)) == 2
    assert [run["state"] for run in json.loads(ok(*command, "--json").stdout)["runs"]] == ["finished"] * 2
    fails(78, "model.hidden has no effect with model.feed_forward = none",
          arguments=["train", "forecast", tmp_path / "a.csv", "--out", tmp_path / "run", "--set", "model.feed_forward=none", "--set", "model.hidden=8"])


def test_a_sweep_over_horizons_marks_the_best_of_each(tmp_path):
    write_csv(tmp_path / "small.csv")
    (tmp_path / "grid.toml").write_text(
        'task = "forecasting"\ndata = "small.csv"\nseeds = [1]\n[settings]\nforecast.lookback = 24\nmodel.name = "dlinear"\noutput.report = false\n'
        'train.epochs = 1\n[[axis]]\nkey = "forecast.horizon"\nvalues = [4, 8]\n[[axis]]\nkey = "train.optimizer.learning_rate"\nvalues = [0.1, 0.01]\n')  # fmt: skip
    command = ["sweep", tmp_path / "grid.toml", "--out", tmp_path / "out", "--format", "markdown"]
    rows = [line.split("|")[1:-1] for line in ok(*command).stdout.splitlines()[2:]]
    assert [row[1].strip() for row in rows] == ["0.1", "0.01"] * 2
    for metric in (3, 4):
        assert [sum("**" in row[metric] for row in rows[i : i + 2]) for i in (0, 2)] == [1, 1]
    fails(78, "no run has the metric best.val_foo", "best.val_mse, best.val_mae", arguments=[*command, "--metric", "best.val_foo"])
    write_csv(tmp_path / "small.csv", rows=401)
    fails(78, "was trained on other data than its files hold now", arguments=command)


def test_the_program_and_ray_on_one_folder_train_each_run_once(tmp_path, alone):
    sweep, out = write_sweep(tmp_path), tmp_path / "out"
    ray = on_ray(sweep, "--out", out, "--json")
    wait_for(lambda: any((out / "logs").glob("*.log")) or ray.poll() is not None)
    local = start([PROGRAM, "sweep", sweep, "--out", out, "--jobs", 1, "--threads", 1, "--json"])
    (shown, said), (local_shown, local_said) = ray.communicate(timeout=300), local.communicate(timeout=300)
    assert (ray.returncode, local.returncode) == (0, 0), said + local_said
    for text in (shown, local_shown):
        assert [run["state"] for run in json.loads(text)["runs"]] == ["finished"] * len(RUNS)
    assert [starts(out, run) for run in RUNS] == [1] * len(RUNS)
    ours = local_said.count("] finished ") + local_said.count("\nfinished ")
    assert 0 < local_said.count("started ") < len(RUNS), local_said
    assert said.count("finished ") == len(RUNS) - said.count("failed ") and ours <= len(RUNS)
    assert results(out) == alone
    assert [file.name for file in (out / "claims").iterdir()] == ["lock"]


@pytest.mark.long
def test_what_a_killed_sweep_was_at_is_taken_over(tmp_path, alone):
    sweep, out = write_sweep(tmp_path), tmp_path / "out"
    local = start([PROGRAM, "sweep", sweep, "--out", out, "--jobs", 1, "--threads", 1])
    wait_for(lambda: (out / "claims" / "1_s2.json").exists())
    local.kill()
    local.communicate()
    assert (out / "claims" / "1_s2.json").exists()
    ray = on_ray(sweep, "--out", out)
    _, said = ray.communicate(timeout=300)
    assert ray.returncode == 0, said
    assert results(out) == alone


@pytest.mark.long
def test_a_worker_of_ray_that_is_killed_is_replaced(tmp_path, alone):
    sweep, out = write_sweep(tmp_path), tmp_path / "out"
    ray = on_ray(sweep, "--out", out)
    wait_for(lambda: any((out / "claims").glob("*.json")) or ray.poll() is not None)
    claim = next((out / "claims").glob("*.json"))
    os.kill(json.loads(claim.read_text())["process"], signal.SIGKILL)
    _, said = ray.communicate(timeout=300)
    assert ray.returncode == 0, said
    assert results(out) == alone


@pytest.mark.long
def test_ray_that_is_terminated_lets_its_runs_save(tmp_path, alone):
    sweep, out = write_sweep(tmp_path), tmp_path / "out"
    ray = on_ray(sweep, "--out", out)
    wait_for(lambda: any((out / "runs").glob("*/metrics.jsonl")) or ray.poll() is not None)
    ray.terminate()
    _, said = ray.communicate(timeout=120)
    assert ray.returncode == 143 and "waiting for the started runs to save" in said, said
    wait_for(lambda: not any((out / "claims").glob("*.json")), 30)
    assert not all((out / "done" / f"{run}.json").exists() for run in RUNS)
    ok("sweep", sweep, "--out", out, "--jobs", 2)
    assert results(out) == alone


def test_an_array_of_slurm_trains_all_runs(tmp_path, alone):
    sbatch = tmp_path / "bin" / "sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text('#!/bin/bash\ncp "$1" "$(dirname "$0")/script"\nfor i in {0..7}; do\n'
                      '  SLURM_ARRAY_TASK_ID=$i bash "$1" > /dev/null 2>> "$(dirname "$0")/errors" || exit 1\ndone\n'
                      'echo "Submitted batch job 7"\n')  # fmt: skip
    sbatch.chmod(0o755)
    out = tmp_path / "out put"
    result = ok("sweep", write_sweep(tmp_path), "--out", out, "--launcher", "slurm", "--sbatch=--partition=long", "--jobs", 3,
                env={"PATH": f"{sbatch.parent}:{os.environ['PATH']}"})  # fmt: skip
    assert result.stdout == "Submitted batch job 7: 8 runs; --table shows finished runs\n"
    script = (sbatch.parent / "script").read_text()
    assert "#SBATCH --array=0-7%3\n" in script and "#SBATCH --partition=long\n" in script
    assert results(out) == alone
    assert json.loads((out / "sweep.json").read_text())["rows"][1]["finished"] == 4
    fails(2, "no unfinished runs to submit", arguments=["sweep", tmp_path / "grid.toml", "--out", out, "--launcher", "slurm"])


def test_ray_is_reached_from_python_alone(tmp_path):
    fails(2, "python -m modewise sweep grid.toml --launcher ray", arguments=["sweep", "grid.toml", "--launcher", "ray"])


def test_bad_arguments_end_as_the_programs_do(tmp_path):
    for arguments, code in ((["none.toml"], 66), (["none.toml", "--threads", "x"], 2)):
        ray = on_ray(*arguments)
        shown, said = ray.communicate(timeout=120)
        assert (ray.returncode, shown) == (code, ""), said
        assert "error: " in said.strip().splitlines()[-1]
