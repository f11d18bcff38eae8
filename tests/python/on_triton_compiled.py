"""The comparison of compiled kernels with the reference (modewise/ops/cuda/self_test.cpp), here of interpreted ones, and the kernels
that are compiled for its samples (python/modewise/triton/variants.py)."""

import pytest
import torch

from modewise.triton import variants
from modewise.triton.self_test import SAMPLES
from ops_records import ops
from triton_helpers import kernels_replaced


def recorder(found, runs):
    def record(name, kernel, grid, arguments, fixed):
        found.add((name, tuple(x.dtype for x in arguments if isinstance(x, torch.Tensor)), tuple(sorted(fixed.items()))))
        if runs:
            kernel[grid](*arguments, **fixed)
    return record


@pytest.fixture(scope="module")
def compiled():
    """Kernels, types and constants that are compiled. The operators are compared with their references before."""
    for sample in SAMPLES.values():
        sample(torch.device("cpu"))
    found = set()
    with kernels_replaced(recorder(found, runs=False)):
        variants.call_all()
    return found


@pytest.mark.parametrize("op", SAMPLES)
def test_right_kernels_agree_and_their_variants_are_compiled(op, compiled):
    launched = set()
    with kernels_replaced(recorder(launched, runs=True)):
        assert not ops.kernels_fault(op, "cpu")
    halves = {launch for launch in launched if torch.bfloat16 in launch[1]}
    assert halves and halves <= compiled


def test_wrong_kernels_are_found(compiled):
    def wrong(name, kernel, grid, arguments, fixed):
        before = [x.clone() if isinstance(x, torch.Tensor) else x for x in arguments]
        kernel[grid](*arguments, **fixed)
        for now, then in zip(arguments, before):
            if isinstance(now, torch.Tensor) and now.is_floating_point() and not torch.equal(now, then):
                now.mul_(1.1)

    with kernels_replaced(wrong):
        for op in ("mode_pool", "summary_step"):
            assert "differ from the reference by" in ops.kernels_fault(op, "cpu")
    assert ops.kernels_fault("linear", "cpu") == "there is no sample to check them with"
