"""Operators and modules on a device that is not the CPU (on_a_device.py), in a process of its own: libtorch starts the threads
of the backward pass, one a device that there is, when the first backward pass of a process begins."""

import pathlib
import subprocess
import sys


def test_on_a_device_of_our_own():
    cases = pathlib.Path(__file__).with_name("on_a_device.py")
    result = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cases], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-20_000:] + result.stderr
    assert int(result.stdout.split(" passed")[0].split()[-1]) >= 130
