"""Peak memory of reading files of several formats, by the cells of benchmarks/memory_by_format.py; what compressed files may unpack to."""

import importlib.util
import json

import numpy as np
import pytest

from allowed_skips import sanitized
from cli_helpers import ROOT, fails, ok

pytestmark = pytest.mark.skipif(sanitized(), reason="sanitizers, coverage or no optimisation")

specification = importlib.util.spec_from_file_location("memory_by_format", ROOT / "benchmarks" / "memory_by_format.py")
memory = importlib.util.module_from_spec(specification)
specification.loader.exec_module(memory)


@pytest.mark.parametrize(("name", "worst", "refused"), [
    ("nii", False, False), ("npz of volumes", False, False), ("npy of volumes", True, False), ("npy of scenes", True, False),
    ("CIFAR-10", False, False), ("png", True, True), ("jpeg", True, True), ("ts", False, False)])
def test_reading_takes_at_most_the_bound(tmp_path, name, worst, refused):
    size, used, code, said = memory.measured(tmp_path / "files", name, worst, 10_000_000)
    assert used <= memory.bound_of(name, size), f"{used / memory.MIB:.0f} MiB for {size / 1e6:.1f} MB"
    assert code == (65 if refused else 0) and (not refused or "--allow-size" in said)


def test_compressed_volumes_unpack_to_512_mib_or_32_times_their_files(tmp_path):
    """400 x 400 x 840 bytes take 513 MiB as float32; their file has 130 KB."""
    for name, depth in (("a", 8), ("b", 840)):
        (tmp_path / name).mkdir()
        memory.nifti(tmp_path / name / "v.nii.gz", np.zeros([400, 400, depth], np.uint8))
    fails(65, "b/v.nii.gz", "--allow-size", arguments=["data", "show", tmp_path])


def test_grey_and_colour_images_mix(tmp_path):
    """Pixels that were stored as grey before the first colour image; the oracle is a set whose images all are in colour."""
    shown = []
    random = np.random.default_rng(4)
    images = [random.integers(0, 255, [8, 8], dtype=np.uint8) for _ in range(12)]
    for folder, colour in (("mixed", range(7, 12)), ("colour", range(12))):
        for i, pixels in enumerate(images):
            file = tmp_path / folder / "ab"[i % 2] / f"{i:02d}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(memory.png(np.stack([pixels] * 3, -1) if i in colour else pixels))
        run = tmp_path / f"run-{folder}"
        ok("train", "classify-images", "--data", tmp_path / folder, "--out", run, "--model", "resnet18", "--max-steps", "1",
           "--set", "model.resnet.width=8", "--set", "train.batch_size=4", "--set", "output.report=false")
        shown.append(json.loads((run / "data.json").read_text())["hash"])
    assert shown[0] == shown[1]
