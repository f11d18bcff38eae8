#!/usr/bin/env python3
"""Prints the SHA-256 of the final weights of a small float32 training of each task, to compare two CPUs.

    tests/equal_bits.py [NAME ...] [--demo] [--program build/bin/modewise] [--check PAGE | --write PAGE]

The same build, libtorch and C library give the same hashes on every x86-64 CPU with AVX2 and FMA. Inputs are made here, from
integers only. --demo adds the two models that `modewise demo` trains (minutes); --check compares with the table of a page,
docs/training.md, and exits with 1 if a hash differs; --write writes the hashes there. Needs Python with NumPy.
"""

import argparse
import hashlib
import io
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
TINY = "model.width=16 model.hidden=16 model.heads=2 model.layers=1"
WINDOWS = "--data series.csv forecast.lookback=24 forecast.horizon=8 train.batch_size=16"
TEXT = "model.width=32 model.layers=2 model.heads=2 model.context=64 train.batch_size=4"
ENCODER = "--tokenizer bytes model.width=16 model.layers=2 model.heads=2 model.max_positions=48 train.batch_size=8"
CAPTIONS = ("--data captions.json --images pictures --size 16 model.encoder.widths=[8,16] model.encoder.heads=2 model.decoder.width=16"
            " model.max_words=9 train.batch_size=8")  # fmt: skip

# Arguments of `modewise train`; a word such as model.width=16 gets --set before it.
TRAININGS = {
    "forecast-hot": f"forecast --model hot {WINDOWS} {TINY} model.patch.length=8 model.patch.stride=4",
    "forecast-transformer": f"forecast --model transformer {WINDOWS} {TINY} model.patch.length=8 model.patch.stride=4",
    "forecast-dlinear": f"forecast --model dlinear {WINDOWS}",
    "forecast-tide": f"forecast --model tide {WINDOWS} model.width=16 model.hidden=16 data.future_covariates=c data.calendar=auto",
    "forecast-known": f"forecast --model hot {WINDOWS} {TINY} model.patch.length=8 model.patch.stride=4 data.future_covariates=c data.calendar=auto",
    "volumes-hot": f"classify-volumes --data boxes.npz {TINY} train.batch_size=16",
    "volumes-resnet18": "classify-volumes --data boxes.npz --model resnet18 model.resnet.width=4 train.batch_size=16",
    "scenes-hot": f"segment --data scene.npy --masks scene_mask.npy data.window=16 {TINY} train.batch_size=4",
    "scenes-unet": "segment --data scene.npy --masks scene_mask.npy data.window=32 --model unet model.unet.width=4 train.batch_size=4",
    "series-causal": f"classify-series --data ramps --attention summary {TINY} model.patch.length=4 model.patch.stride=2 data.length=24 train.batch_size=8",
    "series-tcn": "classify-series --data ramps --model tcn model.convolution.width=8 train.batch_size=8",
    "language-causal": f"language --data story.txt {TEXT} model.attention.fold=0,4,8 model.attention.summary_tokens=2 model.dropout=0.1",
    "language-full": f"language --data story.txt --attention full {TEXT}",
    "pictures-tensor": "classify-images --data shapes --attention stt model.cnn.widths=[4,8] train.batch_size=12 augment.crop=1",
    "text-classes": f"text --data SST-2 {ENCODER}",
    "text-masked": f"text --data story.txt --objective masked_lm {ENCODER}",
    "captions-transformer": f"caption {CAPTIONS} model.decoder.heads=2 model.decoder.layers=1",
    "captions-lstm": f"caption {CAPTIONS} --model lstm",
}
ALWAYS = "train.max_steps=6 train.schedule.warmup_steps=2 output.report=false"


def arguments_of(command):
    return [part for word in command.split() for part in (["--set", word] if re.match(r"[a-z]+\.[a-z_.]+=", word) else [word])]


def write_npz(path, **arrays):
    """numpy.savez without time stamps, which would change the hash of the data."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            np.save(member := io.BytesIO(), array)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())


def write_series(folder, rng):
    steps = rng.integers(-50, 51, size=(400, 3)).cumsum(0)
    days = np.datetime64("2020-01-01") + np.arange(400)
    rows = [f"{day}," + ",".join(f"{value / 100:.2f}" for value in row) for day, row in zip(days, steps)]
    (folder / "series.csv").write_text("\n".join(["date,a,b,c", *rows]) + "\n")
    (folder / "ramps").mkdir()
    for part, count in (("TRAIN", 32), ("TEST", 16)):
        lines = ["@problemName Ramps", "@dimensions 2", "@equalLength false", "@classLabel true up down", "@data"]
        for i in range(count):
            slope = 1 - 2 * (i % 2)
            one = [",".join(f"{(slope * 20 * t + int(rng.integers(-40, 41))) / 100:.2f}" for t in range(12 + i % 9)) for _ in range(2)]
            lines.append(":".join([*one, ("up", "down")[i % 2]]))
        (folder / "ramps" / f"R_{part}.ts").write_text("\n".join(lines) + "\n")


def write_grids(folder, rng):
    arrays = {}
    for split, count in (("train", 60), ("val", 20), ("test", 24)):
        labels = np.arange(count, dtype=np.uint8)[:, None] % 2
        images = rng.integers(0, 60, size=(count, 8, 8, 8)).astype(np.uint8)
        for image, (label,) in zip(images, labels):
            image[2 * label:2 * label + 3, 1:5, 1:5] += 150
        arrays |= {f"{split}_images": images, f"{split}_labels": labels}
    write_npz(folder / "boxes.npz", **arrays)
    label = (np.arange(96)[:, None] // 12 + np.arange(96)[None] // 20) % 3
    np.save(folder / "scene.npy", (60 * label[:, :, None] + rng.integers(0, 30, size=(96, 96, 4))).astype(np.uint16))
    np.save(folder / "scene_mask.npy", (label + 1).astype(np.uint8))


def write_png(path, pixels):
    """pixels [height, width, 3], uncompressed, since compressed bytes depend on zlib's version."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    raw = b"".join(b"\0" + row.tobytes() for row in pixels.astype(np.uint8))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 0)) + chunk(b"IEND", b""))


def write_images(folder, rng):
    for split, count in (("train", 24), ("val", 6), ("test", 6)):
        for place, kind in enumerate(("bars", "rows")):
            for i in range(count):
                pixels = rng.integers(0, 90, size=(13, 17, 3))
                pixels[(slice(None), slice(i % 3, None, 4)) if place == 0 else slice(i % 3, None, 4)] += 150
                write_png(folder / "shapes" / split / kind / f"{i:03}.png", pixels)
    images, annotations = [], []
    for i in range(36):
        color, left = i % 3, i // 3 % 2
        pixels = rng.integers(0, 50, size=(20, 24, 3))
        pixels[4:14, 12 * left + 1:12 * left + 10, color] += 180
        write_png(folder / "pictures" / f"{i + 1:012}.png", pixels)
        images.append({"id": i + 1, "file_name": f"{i + 1:012}.png"})
        words = f"A {('red', 'green', 'blue')[color]} square at the {('left', 'right')[left]}."
        annotations += [{"image_id": i + 1, "caption": words}] * 2
    (folder / "captions.json").write_text(json.dumps({"images": images, "annotations": annotations}))


def write_texts(folder, rng):
    words = "red blue green small large round old new cat dog house tree bird fish".split()
    some = lambda count: " ".join(words[i] for i in rng.integers(0, len(words), size=count))
    (folder / "story.txt").write_text("\n<|endoftext|>\n".join(some(60) for _ in range(30)))
    (folder / "SST-2").mkdir()
    for name, count in (("train", 80), ("dev", 20)):
        rows = [f"{some(3)} {('bad', 'good')[i % 2]} {some(2)} \t{i % 2}" for i in range(count)]
        (folder / "SST-2" / f"{name}.tsv").write_text("\n".join(["sentence\tlabel", *rows]) + "\n")
    (folder / "SST-2" / "test.tsv").write_text("\n".join(["index\tsentence", *(f"{i}\t{some(4)}" for i in range(10))]) + "\n")


def write_inputs(folder):
    """All files that TRAININGS names, with the same bytes at each call."""
    rng = np.random.default_rng(7)
    for write in (write_series, write_grids, write_images, write_texts):
        write(folder, rng)


def run(program, arguments, folder, environment):
    result = subprocess.run([program, *arguments], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"modewise {' '.join(map(str, arguments))}: {result.stderr[-2000:]}")


def hash_of(run_folder):
    """Hash of the weights at the last step."""
    last = max((run_folder / "checkpoints").glob("step_*"), key=lambda path: int(path.name.removeprefix("step_")))
    return hashlib.sha256((last / "model.safetensors").read_bytes()).hexdigest()


def trained_hash(program, name, inputs, out, **environment):
    run(program, ["train", *arguments_of(TRAININGS[name]), "--out", out / name, *arguments_of(ALWAYS)], inputs, environment)
    return hash_of(out / name)


def demo_hashes(program, out):
    run(program, ["demo", "--out", out / "demo"], out, {})
    return {f"demo-{name}": hash_of(out / "demo" / name) for name in ("hot", "dlinear")}


def row(name, value):
    return f"| `{name}` | `{value}` |"


def expected_hashes(page):
    return dict(re.findall(r"^\| `([a-z0-9-]+)` \| `([0-9a-f]{64})` \|", page.read_text(), re.M))


def write_hashes(page, found):
    text = page.read_text()
    for name, value in found.items():
        text = re.sub(rf"^\| `{name}` \| `[0-9a-f]{{64}}` \|", row(name, value), text, flags=re.M)
    page.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="trainings; all when not given: " + ", ".join(TRAININGS))
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "bin" / "modewise")
    parser.add_argument("--check", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE")
    options = parser.parse_args()
    if unknown := set(options.names) - set(TRAININGS):
        parser.error(f"no such training: {', '.join(sorted(unknown))}")
    program, expected = options.program.resolve(), expected_hashes(options.check) if options.check else {}
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_inputs(folder)
        found = {name: trained_hash(program, name, folder, folder) for name in options.names or TRAININGS}
        if options.demo:
            found |= demo_hashes(program, folder)
    if options.write:
        write_hashes(options.write, found)
    for name, value in found.items():
        mark = "" if not options.check else " the same" if expected.get(name) == value else " OTHER" if name in expected else " not in the page"
        different += mark not in ("", " the same")
        print(row(name, value) + mark)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
