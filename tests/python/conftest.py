"""The package modewise of this clone, with the libraries of the build that is tested; and the rules of which tests run."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("MODEWISE_BUILD", str(ROOT / "build"))
sys.path.insert(0, str(ROOT / "python"))

import modewise  # noqa: E402, F401 — it chooses torch's kernels, before a test module runs the first of them
from file_claims import pytest_collection_modifyitems, pytest_runtest_protocol  # noqa: E402, F401 — hooks
from skip_rule import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401 — hooks
