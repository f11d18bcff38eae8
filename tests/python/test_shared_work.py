"""torchrun: evaluations, backtests and class maps that processes make in shares are those of one process, byte by byte."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy
import pytest
import rasterio
from cli_helpers import ok
from python_forks import ENVIRONMENT, in_group, in_one_or_more

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def printed(processes, *arguments):
    done = in_one_or_more(processes, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def said(done):
    assert done.returncode != 0 and done.stdout == ""
    return {one.split(": ", 1)[1] for one in re.findall(r"^error of process .*$", done.stderr, re.MULTILINE)}


@pytest.fixture(scope="module")
def forecasts(tmp_path_factory):
    """A run whose test split is unread."""
    folder = tmp_path_factory.mktemp("forecasts")
    ok("train", "forecast", "--set", "data.simulate=seasonal", "--set", "data.simulate_rows=700", "--model", "hot", "--set", "model.width=16",
       "--set", "model.hidden=16", "--set", "model.heads=2", "--set", "forecast.lookback=48", "--set", "forecast.horizon=12",
       "--set", "forecast.evaluation_batch=7", "--set", "train.epochs=1", "--set", "output.report=false", "--no-test", "--threads", "1",
       "--out", folder / "run")  # fmt: skip
    return folder / "run"


def write_scene(folder, name, height, width):
    rng = numpy.random.default_rng(5)
    label = (numpy.add.outer(numpy.sin(numpy.arange(height) / 9), numpy.cos(numpy.arange(width) / 7)) > 0).astype(numpy.uint8)
    image = (100 + 60 * label + rng.normal(0, 15, (2, height, width))).clip(1, 255).astype(numpy.uint16)
    image[:, 10:60, 20:70] = 0
    for path, data, nodata in ((folder / f"{name}.tif", image, 0), (folder / f"{name}_mask.tif", label[None] + 1, None)):
        with rasterio.open(path, "w", driver="GTiff", height=height, width=width, count=len(data), dtype=data.dtype, nodata=nodata, crs="EPSG:32633",
                           transform=rasterio.transform.from_origin(300000, 5000000, 10, 10)) as file:  # fmt: skip
            file.write(data)
    return folder / f"{name}.tif", folder / f"{name}_mask.tif"


@pytest.fixture(scope="module")
def segmenter(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    scene, masks = write_scene(folder, "scene", 128, 112)
    ok("train", "segment", "--data", scene, "--masks", masks, "--set", "data.window=16", "--set", "train.epochs=1", "--set", "model.layers=1",
       "--set", "output.report=false", "--threads", "1", "--out", folder / "run")  # fmt: skip
    return folder / "run"


def test_backtests_and_evaluations(forecasts):
    for processes, arguments in ((2, ["backtest", forecasts, "--json"]), (4, ["backtest", forecasts, "--stride", "5"]),
                                 (4, ["evaluate", forecasts, "--split", "train", "--json"]), (2, ["predict", forecasts, "--steps", "3"])):  # fmt: skip
        wanted = printed(1, *arguments)
        assert wanted.count("\n") > 2
        assert printed(processes, *arguments) == wanted


def test_a_test_split_that_is_evaluated_at_last(forecasts, tmp_path):
    files = ("metrics.json", "predictions.npz", "data.json")
    for processes in (1, 4):
        shutil.copytree(forecasts, tmp_path / str(processes))
        printed(processes, "evaluate", tmp_path / str(processes))
        for name in files:
            assert (tmp_path / str(processes) / name).read_bytes() == (tmp_path / "1" / name).read_bytes(), name
    assert json.loads((tmp_path / "4" / "metrics.json").read_text())["test_read"]


def test_maps(segmenter, tmp_path):
    folder = tmp_path / "scenes"
    folder.mkdir()
    for name, height, width in (("flat", 20, 300), ("high", 150, 16)):
        write_scene(folder, name, height, width)[1].unlink()
    wanted = printed(1, "predict", segmenter, "--data", folder, "--out", tmp_path / "one", "--json")
    evaluated = printed(1, "evaluate", segmenter, "--split", "validation", "--json")
    out = tmp_path / "of4"
    assert printed(4, "predict", segmenter, "--data", folder, "--out", out, "--json") == wanted.replace(str(tmp_path / "one"), str(out))
    assert sorted(file.name for file in out.iterdir()) == ["flat.png", "flat.tif", "high.png", "high.tif"]
    for file in out.iterdir():
        assert file.read_bytes() == (tmp_path / "one" / file.name).read_bytes()
    assert printed(2, "evaluate", segmenter, "--split", "validation", "--json") == evaluated
    with rasterio.open(tmp_path / "one" / "high.tif") as file:
        assert set(numpy.unique(file.read(1))) <= {0, 1, 2}


def test_a_process_that_dies_leaves_no_map(segmenter, tmp_path):
    scene, masks = write_scene(tmp_path, "large", 3000, 3000)
    masks.unlink()
    launcher = subprocess.Popen([*TORCHRUN, "-m", "modewise", "predict", segmenter, "--data", scene, "--out", tmp_path / "map.tif"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)  # fmt: skip
    children = []
    while len(children) < 2 or not any(name.startswith("map.tif.") for name in os.listdir(tmp_path)):
        assert launcher.poll() is None
        with open(f"/proc/{launcher.pid}/task/{launcher.pid}/children") as file:
            children = [int(child) for child in file.read().split()]
        time.sleep(0.05)
    os.kill(max(children), signal.SIGKILL)  # not rank 0: it was started first
    _, errors = launcher.communicate(timeout=60)
    assert launcher.returncode != 0
    sentences = re.findall(r"^error of process .*$", errors, re.MULTILINE)  # none where torchrun ends the other one first
    assert all("process 0 of 2 cannot reach process 1, which has exited, hangs, or waits for another that does" in one for one in sentences), errors
    assert [file.name for file in tmp_path.iterdir()] == ["large.tif"]


def test_what_is_refused(forecasts, tmp_path):
    assert said(in_group(2, "report", forecasts)) == {
        "torchrun is for the commands train, evaluate, predict, backtest: run this command as a single process"
    }
    (tmp_path / "text.txt").write_text("".join(f"{i * i} squares, {i} roots\n" for i in range(300)))
    ok("train", "language", "--data", tmp_path / "text.txt", "--set", "model.width=16", "--set", "model.layers=1", "--set", "model.heads=2",
       "--set", "model.kv_heads=2", "--set", "model.context=16", "--set", "train.max_steps=2", "--set", "output.report=false",
       "--out", tmp_path / "text")  # fmt: skip
    assert said(in_group(2, "evaluate", tmp_path / "text")) == {"only a single process can evaluate runs of the task 'language_modeling': start it without torchrun"}
    command = f'exec {sys.executable} -m modewise backtest {forecasts} --stride "$((RANK + 3))"'
    done = subprocess.run([*TORCHRUN, "--no-python", "bash", "-c", command], capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    assert said(done) == {"the processes disagree: rank 1 has different settings than rank 0"}
