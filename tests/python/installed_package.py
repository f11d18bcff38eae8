"""The files of a wheel in a folder, as pip puts them into site-packages, with torch beside them."""

import os
import pathlib
import re
import shutil
import subprocess
import zipfile

import torch

from cli_helpers import PROGRAM, ROOT


def cmake():
    return re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", (PROGRAM.parents[1] / "CMakeCache.txt").read_text(), re.M)[1]


def install_package(folder):
    """The wheel that MODEWISE_WHEEL names, else the files of `cmake --install build --component python`."""
    if wheel := os.environ.get("MODEWISE_WHEEL"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        (folder / "modewise/bin/modewise").chmod(0o755)
    else:
        subprocess.run([cmake(), "--install", PROGRAM.parents[1], "--component", "python", "--prefix", folder], check=True, capture_output=True)
        shutil.copytree(ROOT / "python/modewise", folder / "modewise", dirs_exist_ok=True)
    packages = pathlib.Path(torch.__file__).parents[1]
    for path in [packages / "torch", *packages.glob("torch-*.dist-info")]:
        (folder / path.name).symlink_to(path)
    return folder
