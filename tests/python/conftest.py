"""The package modewise of this clone, with the libraries of the build that is tested; and the rules of which tests run."""

import os
import pathlib
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("MODEWISE_BUILD", str(ROOT / "build"))
sys.path.insert(0, str(ROOT / "python"))
sys.path.append(str(ROOT / "tests"))  # the package faults

import modewise  # noqa: E402, F401 — it chooses torch's kernels, before a test module runs the first of them
from file_claims import pytest_collection_modifyitems, pytest_runtest_protocol  # noqa: E402, F401 — hooks
from file_times import pytest_terminal_summary  # noqa: E402, F401 — hook
from skip_rule import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401 — hooks

# Programs that the tests start would inherit an ignored signal, as in a shell's background job; they do not inherit a handler.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)
