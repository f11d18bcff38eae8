"""Benchmark of segmenting a scene of 10,000 × 10,000 pixels × 6 bands (uint8): time and peak memory.

  python benchmarks/large_scene.py [--side 10000] [--model hot] [--folder FOLDER]

Generates a small scene with its mask and a large one (synthetic: smooth classes with distinct spectra, tiled deflate
GeoTIFF in EPSG:32633), trains a few steps on the small one, runs `modewise predict` on the large one in a separate
process, and checks transform and coordinate reference system by rasterio. $MODEWISE_BUILD: build folder of the program.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import rasterio
from rasterio.transform import from_origin
from rasterio.windows import Window

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get("MODEWISE_BUILD", ROOT / "build")) / "bin" / "modewise"
BANDS, CLASSES = 6, 5


def block(row, rows, side, random):
    """Bands [BANDS, rows, side] and classes [rows, side] of rows from `row` on."""
    y, x = np.mgrid[row:row + rows, 0:side].astype(np.float32)
    field = np.sin(x / 61) + np.sin(y / 47) + np.sin((x + y) / 83)
    label = np.clip((field + 3) / 6 * CLASSES, 0, CLASSES - 1).astype(np.uint8)
    spectra = np.random.default_rng(5).uniform(40, 210, (CLASSES, BANDS)).astype(np.float32)
    noise = random.normal(0, 12, (BANDS, rows, side)).astype(np.float32)
    return np.clip(spectra[label].transpose(2, 0, 1) + noise, 0, 255).astype(np.uint8), label


def make(path, mask, side):
    profile = dict(driver="GTiff", width=side, height=side, dtype="uint8", tiled=True, blockxsize=256, blockysize=256,
                   compress="deflate", zlevel=1, crs="EPSG:32633", transform=from_origin(500000, 5200000, 10, 10),
                   BIGTIFF="IF_SAFER")
    random = np.random.default_rng(7)
    with rasterio.open(path, "w", count=BANDS, interleave="pixel", **profile) as image:
        target = rasterio.open(mask, "w", count=1, **profile) if mask else None
        for row in range(0, side, 256):
            rows = min(256, side - row)
            bands, label = block(row, rows, side, random)
            image.write(bands, window=Window(0, row, side, rows))
            if target:
                target.write(label, 1, window=Window(0, row, side, rows))
        if target:
            target.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=10000)
    parser.add_argument("--model", default="hot")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    folder = pathlib.Path(options.folder or tempfile.mkdtemp(prefix="large_scene_"))
    folder.mkdir(parents=True, exist_ok=True)
    large, small, mask = folder / f"large-{options.side}.tif", folder / "small.tif", folder / "small-mask.tif"
    if not large.exists():
        make(large, None, options.side)
    make(small, mask, 512)
    run, out = folder / f"run-{options.model}", folder / f"map-{options.model}.tif"
    threads = ["--threads", str(options.threads), "-q"]
    subprocess.run([PROGRAM, "train", "segment", "--data", small, "--masks", mask, "--model", options.model, "--out", run,
                    "--overwrite", "--set", "train.epochs=3", "--set", "output.report=false", *threads], check=True,
                   stdout=subprocess.DEVNULL)
    started = time.monotonic()
    with open(folder / "predict.json", "w") as answer:
        process = subprocess.Popen([PROGRAM, "predict", run, "--data", large, "--out", out, "--overwrite", "--json", *threads],
                                   stdout=answer)
        _, status, usage = os.wait4(process.pid, 0)  # usage of this process only
    assert status == 0, status
    seconds = time.monotonic() - started
    counts = [c["pixels"] for c in json.loads((folder / "predict.json").read_text())["classes"]]
    with rasterio.open(large) as scene, rasterio.open(out) as predicted:
        assert predicted.crs == scene.crs and predicted.transform == scene.transform, "georeference"
        assert predicted.shape == scene.shape and predicted.count == 1 and predicted.colormap(1)[1][:3] != (0, 0, 0)
        right = total = 0
        for row in range(0, options.side, 1024):
            rows = min(256, options.side - row)
            label = block(row, rows, options.side, np.random.default_rng(0))[1]
            right += int((predicted.read(1, window=Window(0, row, options.side, rows)) == label).sum())
            total += label.size
    print(json.dumps({"side": options.side, "bands": BANDS, "model": options.model, "seconds": round(seconds, 1),
                      "largest_resident_mb": round(usage.ru_maxrss / 1024, 1),
                      "accuracy_on_sampled_rows": round(right / total, 4), "map": str(out),
                      "pixels_by_class": counts}))


if __name__ == "__main__":
    main()
