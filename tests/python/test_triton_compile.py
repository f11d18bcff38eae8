"""The Triton kernels, compiled for NVIDIA GPUs, need no more registers and shared memory than recorded, and spill no more
(triton_compile.py, in a process of its own: it makes the operators launch kernels on CPU tensors)."""

import os
import pathlib
import subprocess
import sys

import pytest

from triton_version import missing

SCRIPT = pathlib.Path(__file__).with_name("triton_compile.py")
pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


def check(*arguments):
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    result = subprocess.run([sys.executable, SCRIPT, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "sm_90" in result.stdout


def test_one_sample_of_each_operator_for_hopper():
    check("--quick", "--arch", "90")


@pytest.mark.long
def test_all_samples_for_three_architectures():
    check()


@pytest.mark.parametrize("change, what", [
    ({}, ""), ({"registers": 65}, "65 instead of 64 registers"), ({"registers": 60, "shared": 20000}, "20000 instead of 16384 bytes of shared memory"),
    ({"spilled": 8}, "8 instead of 0 bytes of spilled registers"), ({"load": 8}, "loads of 8 instead of 16 bytes"), ({"registers": 60}, "")], ids=str)
def test_what_is_worse_is_found(change, what):
    from triton_compile import fault

    assert fault({"registers": 64, "spilled": 0, "shared": 16384, "load": 16} | change, [64, 0, 16384, 16]) == what


def test_what_is_not_recorded_or_does_not_compile_is_found():
    from triton_compile import fault

    assert "not in triton_compiled.toml" in fault({"registers": 255, "spilled": 0, "shared": 0, "load": 16}, None)
    assert fault("AssertionError: no tensor-core instruction", None) == "AssertionError: no tensor-core instruction"
