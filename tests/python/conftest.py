"""The package modewise of this clone, with the libraries of the build that is tested."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("MODEWISE_BUILD", str(ROOT / "build"))
sys.path.insert(0, str(ROOT / "python"))

import modewise  # noqa: E402, F401 — it chooses torch's kernels, before a test module runs the first of them
