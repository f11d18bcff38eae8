"""Writes the runs in this folder: small trainings by the build of commit 31e8c8e, before the keys head.norm,
attention.normalize_sum and attention.feature_draw, and what that build predicts with them (expected.json).

    MODEWISE_BUILD=BUILD_OF_THAT_COMMIT python make_old_runs.py
"""

import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from cli_helpers import ok, write_csv  # noqa: E402

COMMON = {"output.report": "false", "train.max_steps": "4", "train.batch_size": "8", "train.optimizer.learning_rate": "0.01", "train.ema_decay": "0"}
TINY = {"model.width": "8", "model.hidden": "8", "model.heads": "2", "model.blocks": "1", **COMMON}
KEPT = ("config.toml", "data.json", "manifest.json", "metrics.json", "calibration.npz")
SERIES = {"forecast.lookback": "24", "forecast.horizon": "4", **TINY}
FORECASTS = {
    "paper-sum": {"model.preset": "paper", "model.attention.combine": "sum", **SERIES},
    "transformer-paper": {"model.name": "transformer", "model.preset": "paper", **SERIES},
    "linear": {"model.attention.kernel": "linear", **SERIES},
    "transformer-linear": {"model.name": "transformer", "model.attention.kernel": "linear", **SERIES},
}
VOLUMES = {
    "timesformer": {"model.name": "timesformer", **TINY},
    "mvit": {"model.name": "mvit", **TINY},
    "volumes-paper-sum": {"model.preset": "paper", "model.attention.combine": "sum", **TINY},
}
SCENES = {"scenes-paper-sum": {"model.preset": "paper", "model.attention.combine": "sum", "data.window": "16", "train.epochs": "1", **TINY}}


def write_table(folder):
    return write_csv(folder / "waves.csv", rows=160)


def write_volumes(folder):
    draw, arrays = np.random.default_rng(5), {}
    for split, count in (("train", 24), ("val", 9), ("test", 9)):
        labels = (np.arange(count) % 2).astype(np.uint8)[:, None]
        images = draw.integers(0, 60, size=(count, 6, 6, 6)).astype(np.uint8)
        images[labels[:, 0] == 1, 1:4, 2:5] += 150
        arrays |= {f"{split}_images": images, f"{split}_labels": labels}
    np.savez(folder / "boxes.npz", **arrays)
    return folder / "boxes.npz"


def write_scene(folder):
    draw, side = np.random.default_rng(7), 64
    y, x = np.mgrid[0:side, 0:side]
    label = ((np.sin(x / 9) + np.cos(y / 7)) > 0.3).astype(np.uint8)
    image = np.where(label[..., None] == 1, 150, 90) + draw.normal(0, 10, (side, side, 3))
    np.save(folder / "scene.npy", image.astype(np.float32))
    np.save(folder / "mask.npy", label)
    return folder / "scene.npy", folder / "mask.npy"


def settings(values):
    return [part for key, value in values.items() for part in ("--set", f"{key}={value}")]


def predicted(run, data, folder):
    """What `predict` says of its task's data, without the paths in it."""
    if data.suffix == ".npy":
        ok("predict", run, "--data", data, "--out", folder / "map.npy")
        return np.load(folder / "map.npy").tolist()
    said = json.loads(ok("predict", run, "--data", data, "--json").stdout)
    return said["series"] if "series" in said else [volume["scores"] for volume in said["volumes"]]


def prune(run):
    """What opens a run, and its newest checkpoint."""
    for path in run.iterdir():
        if path.is_file() and path.name not in KEPT:
            path.unlink()
    newest = (run / "checkpoints" / "latest").read_text().strip()
    for path in (run / "checkpoints").iterdir():
        if path.is_dir() and path.name != newest:
            shutil.rmtree(path)


def main():
    folder = pathlib.Path(tempfile.gettempdir()) / "old-runs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    table, volumes, (scene, mask) = write_table(folder), write_volumes(folder), write_scene(folder)
    expected = {}
    for name, values in {**FORECASTS, **VOLUMES, **SCENES}.items():
        run = folder / name
        task = ["forecast", "--data", table] if name in FORECASTS else ["classify", "--data", volumes] if name in VOLUMES else [
            "segment", "--data", scene, "--masks", mask]  # fmt: skip
        ok("train", *task, "--out", run, "--threads", "1", *settings(values))
        data = table if name in FORECASTS else volumes if name in VOLUMES else scene
        expected[name] = predicted(run, data, folder)
    ensemble = folder / "ensemble"
    members = ",".join(str(folder / name) for name in ("paper-sum", "transformer-paper", "linear"))
    ok("train", "forecast", "--data", table, "--out", ensemble, "--model", "ensemble", "--threads", "1",
       *settings({"model.ensemble.runs": members, "output.report": "false"}))  # fmt: skip
    expected["ensemble"] = predicted(ensemble, table, folder)
    for name in expected:
        prune(folder / name)
        manifest = folder / name / "manifest.json"
        said = json.loads(manifest.read_text())
        said["command_line"] = ["modewise", *said["command_line"][1:]]
        said["machine"] |= {"host": "host", "system": "Linux", "processor": "a processor"}
        manifest.write_text(json.dumps(said, indent=1) + "\n")
        shutil.rmtree(HERE / name, ignore_errors=True)
        shutil.copytree(folder / name, HERE / name)
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
