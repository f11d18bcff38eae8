"""Event files of `--tensorboard`, read by TensorBoard itself: its event readers and its two servers."""

import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import numpy as np
import pytest

from cli_helpers import hourly, ok
from programs import built

pytest.importorskip("tensorboard", reason="tensorboard is not installed (./dev test installs it)")

from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

TOY = built("train_toy")
SILENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}


def opened(run):
    return EventAccumulator(str(run), size_guidance={"scalars": 0, "images": 0}).Reload()


def curves(run):
    """tag: [(step, value), …] in the order of TensorBoard."""
    events = opened(run)
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def event_files(run):
    return sorted(run.glob("events.out.tfevents.*"))


def lines_of(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small `hot` on a wave, with quantiles, its ranks tracked."""
    folder = tmp_path_factory.mktemp("tensorboard")
    hours = np.arange(400)
    table = np.stack([np.sin(hours / 4), np.cos(hours / 6), np.sin(hours / 9)], 1)
    rows = [f"{time},{','.join(f'{value:.4f}' for value in row)}" for time, row in zip(hourly(400), table)]
    (folder / "waves.csv").write_text("\n".join(["date,a,b,a/b", *rows]) + "\n")
    ok("train", "forecast", "--data", folder / "waves.csv", "--model", "hot", "--out", folder / "run", "--tensorboard", "--track", "stable_rank",
       "--set", "model.width=16", "--set", "model.patch.length=8", "--set", "forecast.loss=quantile", "--set", "forecast.lookback=24", "--set", "forecast.horizon=8",
       "--set", "train.epochs=3", "--set", "train.patience=0", "--set", "train.clip_norm=0.5", "--set", "output.report=false")  # fmt: skip
    return folder / "run"


def test_the_curves_are_those_of_the_metrics(run):
    found, lines = curves(run), lines_of(run)
    steps = lines[-1]["step"]
    assert [step for step, _ in found["train/loss"]] == list(range(1, steps + 1))
    rate = 1e-3 * (1 + np.cos(np.pi * np.arange(steps) / steps)) / 2
    np.testing.assert_allclose([value for _, value in found["train/learning_rate"]], rate, rtol=1e-6)
    assert all(value > 0 for _, value in found["train/gradient_norm"])
    losses = dict(found["train/loss"])
    before = 0
    for line in lines:
        mean = np.mean([losses[step] for step in range(before + 1, line["step"] + 1)])
        np.testing.assert_allclose(mean, line["train_loss"], rtol=1e-6)
        before = line["step"]
    for tag, metric in {"validation/mse": "val_mse", "validation/pinball": "val_pinball", "validation/crps": "val_crps",
                        "stable_rank/mode0": "rank_mode0", "stable_rank/product": "rank_product"}.items():  # fmt: skip
        assert found[tag] == [(line["step"], np.float32(line[metric])) for line in lines]


def test_the_images_are_images(run):
    events, evaluations = opened(run), len(lines_of(run))
    tags = events.Tags()["images"]
    assert {"forecast/a", "forecast/b", "forecast/a/b", "attention/layer0/mode0", "attention/layer0/mode1"} <= set(tags)
    for tag in tags:
        shown = events.Images(tag)
        assert [image.step for image in shown] == [line["step"] for line in lines_of(run)]
        for image in shown:
            png = Image.open(io.BytesIO(image.encoded_image_string))
            assert png.format == "PNG" and png.size == (image.width, image.height)
            assert len(png.convert("RGB").getcolors(png.width * png.height)) >= 3
        assert len({image.encoded_image_string for image in shown}) == evaluations  # training moves them


def test_the_event_file_is_in_the_manifest_and_in_the_config(run):
    assert len(event_files(run)) == 1
    assert re.fullmatch(r"events\.out\.tfevents\.[0-9]{10}\..+", event_files(run)[0].name)
    assert "events.out.tfevents.*" in json.loads((run / "manifest.json").read_text())["files"]
    assert re.search(r"^\[output\]\n(?:.+\n)*tensorboard = true$", (run / "config.toml").read_text(), re.M)


def content(path):
    """A file of a run, less what names the run: its identity, which its settings are part of, and the hashes of files with it."""
    if path.name == "manifest.json":
        return ""
    if path.name == "state.json":
        return {key: value for key, value in json.loads(path.read_text()).items() if key != "run_id"}
    return path.read_bytes()


@pytest.mark.parametrize("task", [["forecast", "--model", "hot", "--set", "data.simulate=lorenz96", "--set", "data.simulate_rows=300", "--set", "model.width=16",
                                   "--set", "forecast.lookback=24", "--set", "forecast.horizon=8"],
                                  ["forecast", "--model", "theta", "--set", "data.simulate=lorenz96", "--set", "data.simulate_rows=300"]],
                         ids=["hot", "theta"])  # fmt: skip
def test_no_byte_of_the_training_changes(tmp_path, task):
    steps = ["--set", "train.evaluations_per_epoch=3"] if "hot" in task else []
    common = [*task, "--set", "train.max_steps=12", *steps, "--set", "output.report=false"]
    ok("train", *common, "--out", tmp_path / "silent")
    ok("train", *common, "--out", tmp_path / "logged", "--set", "output.tensorboard=true")
    assert event_files(tmp_path / "silent") == []
    names = sorted(path.relative_to(tmp_path / "silent") for path in (tmp_path / "silent").rglob("*") if path.is_file())
    differing = [str(name) for name in names if content(tmp_path / "silent" / name) != content(tmp_path / "logged" / name)]
    assert sorted(set(differing) - {"timing.json", "log.txt"}) == ["config.toml"]
    assert set(curves(tmp_path / "logged")) >= {"validation/mse", "validation/mae"}


def test_a_class_of_samples_has_its_attention(tmp_path):
    rng = np.random.default_rng(1)
    counts = {"train": 20, "val": 10, "test": 10}
    arrays = {f"{split}_images": rng.integers(0, 256, (count, 8, 8, 8), dtype=np.uint8) for split, count in counts.items()}
    arrays |= {f"{split}_labels": np.arange(count, dtype=np.uint8)[:, None] % 2 for split, count in counts.items()}
    np.savez(tmp_path / "volumes.npz", **arrays)
    ok("train", "classify-volumes", "--data", tmp_path / "volumes.npz", "--model", "hot", "--out", tmp_path / "run", "--tensorboard", "--set", "model.width=16",
       "--set", "train.max_steps=3", "--set", "output.report=false")  # fmt: skip
    assert {"attention/layer0/mode0", "attention/layer0/mode1", "attention/layer0/mode2"} <= set(opened(tmp_path / "run").Tags()["images"])
    assert set(curves(tmp_path / "run")) >= {"train/loss", "validation/accuracy", "validation/loss"}


# Killed and resumed.

OPTIONS = ("epochs=8", "checkpoint_every_steps=5", "output.tensorboard=true", "report=true")  # 120 steps


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    run = tmp_path_factory.mktemp("whole") / "run"
    subprocess.run([TOY, "run", run, *OPTIONS], check=True, capture_output=True, env=SILENT)
    return curves(run)


def checkpoint_step(run):
    return int((run / "checkpoints/latest").read_text().split("_")[1].split(".")[0])


def killed_run(run, seed, kills=4):
    """Killed at random steps, resumed each time, the last file's last record torn."""
    rng = random.Random(seed)
    for kill in range(kills + 1):
        child = subprocess.Popen([TOY, "resume" if kill else "run", run, *OPTIONS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=SILENT)
        if kill == kills:
            _, errors = child.communicate(timeout=120)
            assert child.returncode == 0, errors
            return
        lines = [child.stdout.readline() for _ in range(rng.randrange(8, 25))]
        time.sleep(rng.random() * 0.005)
        child.kill()
        child.communicate()
        assert lines[-1] != ""
        file = event_files(run)[-1]
        size = file.stat().st_size
        last = list(EventFileLoader(str(file)).Load())[-1].step
        if kill % 2 and last > checkpoint_step(run):  # what a checkpoint holds is on the disk
            os.truncate(file, size - rng.randrange(1, 40))
        else:
            with open(file, "ab") as stream:
                stream.write(b"\0" * rng.randrange(1, 40))  # what a file system may leave after a power cut


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_killed_run_shows_each_step_once(tmp_path, whole, seed):
    killed_run(tmp_path / "run", seed)
    assert len(event_files(tmp_path / "run")) == 5
    found = curves(tmp_path / "run")
    assert set(found) == set(whole)
    for tag, points in found.items():
        steps = [step for step, _ in points]
        assert steps == sorted(steps)
        # An evaluation that was written just before a kill is made again: the same value at the same step.
        assert list(dict.fromkeys(points)) == whole[tag], tag
    assert len(whole["train/loss"]) == 120


def test_a_run_that_began_without_goes_on_with(tmp_path, whole):
    run, silent = tmp_path / "run", [option for option in OPTIONS if option != "output.tensorboard=true"]
    child = subprocess.Popen([TOY, "run", run, *silent], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=SILENT)
    while int(child.stdout.readline()) < 40:
        pass
    child.terminate()
    child.communicate()
    assert child.returncode == 128 + signal.SIGTERM and event_files(run) == []
    first = checkpoint_step(run) + 1
    subprocess.run([TOY, "resume", run, *OPTIONS], check=True, capture_output=True, env=SILENT)
    assert curves(run)["train/loss"] == whole["train/loss"][first - 1 :]
    assert 40 <= first <= 120


class Server:
    """TensorBoard on a folder; `fast`: its data server, else its readers in Python."""

    def __init__(self, folder, fast):
        self.log = open(folder / f"server-{fast}.txt", "w+")
        self.child = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--port", "0", "--host", "127.0.0.1",
                                       f"--load_fast={str(fast).lower()}", "--reload_interval", "1", "--samples_per_plugin", "scalars=10000,images=100"],
                                      stdout=subprocess.DEVNULL, stderr=self.log)  # fmt: skip
        self.url = self.wait(self.address)

    def address(self):
        assert self.child.poll() is None, self.text()
        found = re.search(r"http://127\.0\.0\.1:[0-9]+/", self.text())
        return found and found[0]

    def text(self):
        self.log.seek(0)
        return self.log.read()

    @staticmethod
    def wait(ask, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if answer := ask():
                return answer
            time.sleep(0.2)
        raise AssertionError("TensorBoard did not answer in time")

    def get(self, path, **query):
        with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
            return answer.read()

    def scalars(self, run, tag):
        return [(step, np.float32(value)) for _, step, value in json.loads(self.get("data/plugin/scalars/scalars", run=run, tag=tag))]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()
        self.log.close()


@pytest.mark.parametrize("fast", [True, False], ids=["data-server", "python"])
def test_the_server_shows_a_killed_run_as_one_that_was_not(tmp_path, whole, fast):
    killed_run(tmp_path / "run", 5)
    with Server(tmp_path, fast) as server:
        server.wait(lambda: set(json.loads(server.get("data/plugin/scalars/tags")).get("run", {})) == set(whole))
        for tag, points in whole.items():
            wanted = [(step, np.float32(value)) for step, value in points]
            server.wait(lambda: list(dict.fromkeys(server.scalars("run", tag))) == wanted, seconds=20)


@pytest.mark.parametrize("fast", [True, False], ids=["data-server", "python"])
def test_the_server_shows_images(run, fast):
    with Server(run.parent, fast) as server:
        server.wait(lambda: "forecast/a" in json.loads(server.get("data/plugin/images/tags")).get("run", {}))
        shown = json.loads(server.get("data/plugin/images/images", run="run", tag="forecast/a", sample=0))
        assert [image["step"] for image in shown] == [line["step"] for line in lines_of(run)]
        png = Image.open(io.BytesIO(server.get(f"data/plugin/images/individualImage?{shown[-1]['query']}&x")))
        assert png.size == (480, 160)
