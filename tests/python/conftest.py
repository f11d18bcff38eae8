"""The package modewise of this clone, with the libraries of the build that is tested; and, where several processes run the tests
(tests/run_python.py), the files that each takes."""

import functools
import os
import pathlib
import signal
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("MODEWISE_BUILD", str(ROOT / "build"))
sys.path.insert(0, str(ROOT / "python"))

import modewise  # noqa: E402, F401 — it chooses torch's kernels, before a test module runs the first of them

# What is ignored here, as in a shell's background job, every program that the tests start would go on ignoring; a handler is not
# inherited.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

CLAIMS = os.environ.pop("MODEWISE_TEST_CLAIMS", None)  # a folder with an empty file for each test file that is taken


@functools.cache
def taken_by_this_process(file):
    try:
        os.close(os.open(pathlib.Path(CLAIMS) / file, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def pytest_collection_modifyitems(items):
    """Each process begins at its own place of the list."""
    if CLAIMS and items:
        number, processes = map(int, os.environ.pop("MODEWISE_TEST_PROCESS").split("/"))
        files = list(dict.fromkeys(item.path for item in items))
        first = files[len(files) * (number - 1) // processes]
        items.sort(key=lambda item: item.path in files[: files.index(first)])  # stable


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    return True if CLAIMS and not taken_by_this_process(item.path.name) else None
