"""A pytest plugin: several pytest processes (tests/run_python.py) share the test files out. A process claims a file when it
comes to its first test, the slowest files first, so that none is left with a long file when the others are done."""

import functools
import os
import pathlib

import pytest

CLAIMS = os.environ.pop("MODEWISE_TEST_CLAIMS", None)  # a folder with an empty file for each test file that is taken

# Files that take more than 15 seconds, slowest first.
SLOWEST = []


@functools.cache
def taken_by_this_process(file):
    try:
        os.close(os.open(pathlib.Path(CLAIMS) / file, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def pytest_collection_modifyitems(items):
    if CLAIMS:
        places = {name: place for place, name in enumerate(SLOWEST)}
        items.sort(key=lambda item: places.get(item.path.name, len(places)))  # stable


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    return True if CLAIMS and not taken_by_this_process(item.path.name) else None
