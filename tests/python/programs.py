"""The programs of the build that is tested. A missing program is an error, not a reason to skip its tests."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MODEWISE_BUILD", ROOT / "build"))


def built(name):
    program = BUILD / "bin" / name
    if not program.exists():
        raise FileNotFoundError(f"{program} is not built: ./dev test builds it")
    return program
