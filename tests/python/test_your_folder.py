"""docs/your-folder.md lists folders, commands on them and what these print: each is made and run here.

`python tests/python/test_your_folder.py` writes the outputs into the page.
"""

import json
import pathlib
import re
import sys
import tempfile

import nibabel
import numpy as np
import pytest
from PIL import Image

from cli_helpers import ROOT, fails, ok

rasterio = pytest.importorskip("rasterio")

PAGE = ROOT / "docs/your-folder.md"
FILES = re.compile(r"```text (\S+)\n(.*?)```", re.S)
TEXTS = re.compile(r"```(?:csv|json) (\S+)\n(.*?)```", re.S)
COMMANDS = re.compile(r"```sh\nmodewise (.*?)\n```\n\n```\n(.*?)```", re.S)


def classes(side=16):
    return (np.add.outer(np.arange(side), np.arange(side)) // 4 % 2).astype(np.uint8)


def write(path, seed):
    """A small file of the kind that its name says; hidden ones are junk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    name, random = path.name.lower(), np.random.default_rng(seed)
    if name.startswith(".") or name.endswith((".db", ".txt")):
        path.write_bytes(b"junk")
    elif name.endswith((".png", ".jpg", ".jpeg", ".jpe")):
        kind = "PNG" if name.endswith("png") else "JPEG"
        Image.fromarray(random.integers(0, 256, (8, 8, 3), np.uint8)).save(path, kind)
    elif name.endswith(".nii.gz"):
        data = nibabel.Nifti1Image(random.normal(size=(4, 4, 4)).astype(np.float32), np.eye(4))
        path.with_name("x.nii.gz").write_bytes(b"")
        nibabel.save(data, path.with_name("x.nii.gz"))
        path.with_name("x.nii.gz").rename(path)
    else:
        is_mask = "mask" in "/".join(path.parts[-2:])
        side, white = (16, 255) if "tiles" in str(path) else (48, 1)
        values = white * classes(side) if is_mask else random.normal(size=(side, side)).astype(np.float32)
        if path.name == "scene.npy":
            values[::7, ::5] = -9999
        if name.endswith(".npy"):
            np.save(path, values)
        else:
            with rasterio.open(path, "w", driver="GTiff", height=side, width=side, count=1, dtype=values.dtype) as file:
                file.write(values, 1)


def make_folders(folder):
    text = PAGE.read_text()
    for number, (name, listing) in enumerate(FILES.findall(text)):
        for seed, line in enumerate(listing.split()):
            write(folder / name / line, 100 * number + seed)
    for name, content in TEXTS.findall(text):
        (folder / name).write_text(content)


def printed_by(command, folder):
    """The output of a command in `folder`, without the folder's own path."""
    return ok(*command.split(), cwd=folder).stdout.replace(f"{folder}/", "")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folders")
    make_folders(folder)
    return folder


@pytest.mark.parametrize("command, printed", COMMANDS.findall(PAGE.read_text()))
def test_a_command_prints_what_the_page_says(folders, command, printed):
    assert printed_by(command, folders) == printed


def test_the_page_has_an_example_of_each_form():
    assert len(COMMANDS.findall(PAGE.read_text())) == len(FILES.findall(PAGE.read_text())) == 8


def test_a_list_is_refused_where_it_is_strict(folders):
    fails(65, "1 row of ", "listed-scans: p7 (data.strict)",
          arguments=["data", "show", "listed-scans", "--set", "data.strict=true"], cwd=folders)
    fails(65, "1 image of 5 not in ", "album: 6.png (image 6) (data.strict)",
          arguments=["data", "show", "album/captions.json", "--set", "data.images=album", "--set", "data.strict=true"], cwd=folders)


def test_a_broken_photo_is_left_out_where_that_is_allowed(folders, tmp_path):
    for i in range(12):
        write(tmp_path / f"photos/{'cat' if i % 2 else 'dog'}/{i}.png", i)
    (tmp_path / "photos/cat/1.png").write_bytes(b"RIFF....WEBPVP8 ")
    show = ["data", "show", "photos"]
    fails(65, "photos/cat/1.png: expected a PNG or JPEG image; this is a WebP image; data.skip_broken = 1", arguments=show, cwd=tmp_path)
    found = json.loads(ok(*show, "--set", "data.skip_broken=0.1", "--json", cwd=tmp_path).stdout)
    assert found["notes"][0].replace(f"{tmp_path}/", "").startswith("1 of 12 files cannot be read and is left out; the first is photos/cat/1.png")


def test_masks_of_one_class_train_nothing(folders, tmp_path):
    np.save(tmp_path / "scene.npy", np.random.default_rng(1).normal(size=(48, 48, 2)).astype(np.float32))
    for name, values in {"grey": 255 * classes(48), "one": np.ones((48, 48), np.uint8), "void": np.where(classes(48) == 1, 255, 1).astype(np.uint8)}.items():
        np.save(tmp_path / f"{name}.npy", values)
    command = ["train", "segment", "--data", "scene.npy", "--set", "train.epochs=1", "--set", "data.window=16", "--set", "model.layers=1",
               "--set", "output.report=false", "--threads", "1"]
    for name in ("one", "void"):
        fails(65, f"{name}.npy: expected masks of at least two classes", arguments=[*command, "--masks", f"{name}.npy", "--out", name], cwd=tmp_path)
        assert not (tmp_path / name).exists()
    ok(*command, "--masks", "grey.npy", "--out", "grey", cwd=tmp_path)
    assert [one["id"] for one in json.loads((tmp_path / "grey/data.json").read_text())["classes"]["classes"]] == [0, 255]


def write_page():
    with tempfile.TemporaryDirectory() as name:
        make_folders(pathlib.Path(name))
        fill = lambda match: f"```sh\nmodewise {match[1]}\n```\n\n```\n{printed_by(match[1], name)}```"
        PAGE.write_text(COMMANDS.sub(fill, PAGE.read_text()))


if __name__ == "__main__":
    sys.exit(write_page())
