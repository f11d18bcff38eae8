"""Threads that wait for each other spin only briefly, unless the environment says otherwise: the machine may have other work."""

import os
import subprocess
import sys

import pytest

from cli_helpers import PROGRAM, ROOT

PYTHON = [sys.executable, "-c", "import modewise"]


def spin_count(command, **environment):
    """GOMP_SPINCOUNT as libgomp prints it when it is loaded."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    run = subprocess.run(command, capture_output=True, text=True, check=True,
                         env={**inherited, "PYTHONPATH": str(ROOT / "python"), "OMP_DISPLAY_ENV": "VERBOSE", **environment})  # fmt: skip
    return [line.split("'")[1] for line in run.stderr.splitlines() if "GOMP_SPINCOUNT" in line]


@pytest.mark.parametrize("command", [[PROGRAM, "info"], PYTHON])
def test_threads_spin_briefly(command):
    assert spin_count(command) == ["3000"]


@pytest.mark.parametrize("command", [[PROGRAM, "info"], PYTHON])
def test_the_environment_decides(command):
    assert spin_count(command, OMP_WAIT_POLICY="passive") == ["0"]
    assert spin_count(command, GOMP_SPINCOUNT="77") == ["77"]
