"""Loader of the compiled libraries: beside this file in an installed package, in build/ in a clone."""

import json
import os
import pathlib
import re

import torch

PACKAGE = pathlib.Path(__file__).resolve().parent


def native_folder() -> pathlib.Path:
    """The folder that holds lib/ and bin/. `MODEWISE_BUILD` names another build folder of a clone."""
    clone = pathlib.Path(os.environ.get("MODEWISE_BUILD", PACKAGE.parents[1] / "build"))
    for folder in (PACKAGE, clone):
        if (folder / "lib" / "modewise_build.json").is_file():
            return folder
    raise ImportError(f"modewise: there are no libraries in {PACKAGE}/lib or {clone}/lib: "
                      "install a wheel, or build the clone with ./dev build")  # fmt: skip


def minor_version(version: str) -> str:
    """ "2.13" of "2.13.0+cpu"."""
    return ".".join(version.split("+")[0].split(".")[:2])


def require_torch(built_for: str, installed: str) -> None:
    """ImportError unless both have the same minor version: torch changes its binary interface between them."""
    wanted, found = minor_version(built_for), minor_version(installed)
    if wanted != found:
        raise ImportError(f"modewise was built for torch {wanted} and torch {installed} is installed: "
                          f"install torch {wanted} (pip install 'torch=={wanted}.*'), or build modewise against this torch")  # fmt: skip


def load_remedy(reason: str) -> str:
    """Remedy for a library that does not load."""
    if wanted := re.search(r"`?GLIBC_([0-9.]+)'? not found", reason):
        return f"it needs glibc {wanted[1]} or later, and this system has {os.confstr('CS_GNU_LIBC_VERSION')}: use a newer system, or build the clone here with ./dev build"
    return "build it with ./dev build in the clone, or install the package again"


def load_library(name: str) -> None:
    """Loads lib<name>.so and the libraries it links, torch (imported above) among them. ImportError with the remedy if it
    does not exist or does not load."""
    file = NATIVE / "lib" / f"lib{name}.so"
    if not file.is_file():
        raise ImportError(f"modewise: {file} does not exist: {load_remedy('')}")
    try:
        torch.ops.load_library(str(file))
    except OSError as error:
        why = str(error.__cause__ or error).splitlines()[0]
        raise ImportError(f"modewise: {file} cannot be loaded ({why}): {load_remedy(why)}") from error


def library_path() -> str:
    """LD_LIBRARY_PATH by which the program, which is linked with the torch that it finds first, finds this one."""
    paths = [str(pathlib.Path(torch.__file__).parent / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return ":".join(path for path in paths if path)


NATIVE = native_folder()
PROGRAM = str(NATIVE / "bin" / "modewise")
BUILD: dict[str, str] = json.loads((NATIVE / "lib" / "modewise_build.json").read_text())
require_torch(BUILD["torch"], torch.__version__)
load_library("modewise_ops")
