"""The comparison of kernels with the reference when a device first runs them (python/modewise/triton/self_test.py): here every kernel
computes wrong numbers. The first call of an operator in a process decides, so each has one test."""

import os
import subprocess
import sys
import warnings

import pytest
import torch

from modewise.triton.self_test import SAMPLES
from ops_records import ops
from triton_helpers import kernels_replaced, ran

CPU = torch.device("cpu")


def wrong(name, kernel, grid, arguments, constants):
    """The kernel, whose results are then a tenth too large."""
    tensors = [x for x in arguments if isinstance(x, torch.Tensor)]
    before = [x.clone() for x in tensors]
    kernel[grid](*arguments, **constants)
    for now, then in zip(tensors, before):
        if now.is_floating_point() and not torch.equal(now, then):
            now.mul_(1.1)


def outputs(op):
    """The results of the operator's sample, and the warnings that it printed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = SAMPLES[op](CPU)
    return results, [str(w.message) for w in caught if f"Triton kernels of {op} " in str(w.message)]


@pytest.mark.parametrize("op", SAMPLES)
def test_wrong_kernels_are_not_used(op):
    state = torch.get_rng_state()
    with kernels_replaced(wrong):
        first, said = outputs(op)
        assert len(said) == 1
        assert f"modewise: the Triton kernels of {op} are not used on cpu: they differ from the reference by" in said[0]
        again, said = outputs(op)
    assert not said
    assert not ran(op)
    assert torch.equal(torch.get_rng_state(), state)
    ops.use_reference(True)
    wanted, _ = outputs(op)
    ops.use_reference(False)
    for x, y, z in zip(first, again, wanted):
        assert (x.double() - z.double()).norm() < 1e-2 * z.double().norm()
        assert torch.equal(x, y)


FAILS = """
import checked_interpreter, torch, modewise
from modewise.triton import launcher
from modewise.triton.self_test import SAMPLES
checked_interpreter.start()
def kernel(name):
    raise RuntimeError("the compiler is not there")
launcher.kernel = kernel
ops = torch.ops.modewise
for op in SAMPLES:
    SAMPLES[op](torch.device("cpu"))
    SAMPLES[op](torch.device("cpu"))
    print(op, ops.last_kernel(op))
"""


def test_kernels_that_fail_are_not_used():
    paths = os.pathsep.join(path for path in sys.path if path)
    result = subprocess.run([sys.executable, "-c", FAILS], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(SAMPLES)
    assert "triton" not in result.stdout.replace("_triton", "")
    for op in SAMPLES:
        assert result.stderr.count(f"the Triton kernels of {op} are not used on cpu: RuntimeError: the compiler is not there") == 1

