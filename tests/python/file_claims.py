"""A pytest plugin: several pytest processes (tests/run_python.py) share the test files out. A process claims a file when it
comes to its first test, the slowest files first, so that none is left with a long file when the others are done."""

import functools
import os
import pathlib

import pytest

CLAIMS = os.environ.pop("MODEWISE_TEST_CLAIMS", None)  # a folder with an empty file for each test file that is taken

# The files that take most of the time, slowest first; the others follow as they are collected.
SLOWEST = ["test_ops.py", "test_auto.py", "test_sweep_launchers.py", "test_class_ensembles.py", "test_workers.py", "test_train_crash.py",
           "test_triton.py", "test_devices.py", "test_shared_work.py", "test_no_test.py", "test_first_command.py", "test_run_folder.py", "test_cli.py",
           "test_text_task.py", "test_captioning.py", "test_package_forecaster.py", "test_equal_bits.py", "test_tokenizers.py",
           "test_word_piece.py", "test_future_covariates.py", "test_series_classification.py", "test_volume_classification.py", "test_segmentation.py", "test_tensorboard.py",
           "test_ops_attention.py", "test_ops_equal.py", "test_package_ops.py", "test_local_models.py", "test_analysis.py"]  # fmt: skip


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
