"""Bitwise equal results on every instruction set with fused multiply-adds: every operator's record, forward and backward, and
longer sums, under the loops for AVX2 and AVX-512. Skipped on a CPU without AVX-512, which has only one such set. bfloat16
products by pairs (avx512bf16) and by tiles (amx, and amx_vectors, which must be equal) have their own bits."""

import numpy as np
import pytest
import torch

from ops_records import RECORDS, ops
from ops_samples import drawer, outputs
from ops_sequence_samples import sequences

OF_BFLOAT16 = {"avx512bf16": "pairs", "amx": "tiles", "amx_vectors": "tiles"}
FUSED = [isa for isa in ops.available_isas() if isa != "scalar"]
pytestmark = pytest.mark.skipif(len(FUSED) < 2, reason=f"this CPU has {FUSED or 'no set with fused multiply-adds'}, and two are compared")
WIDTHS = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 130, 271)


@pytest.fixture(autouse=True)
def restored():
    isa = ops.active_isa()
    yield
    ops.use_isa(isa)


def is_leaf(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def results(call, args, kwargs, differentiable):
    """Results of `call`, and the gradients of a weighted sum of them."""
    if not differentiable:
        return outputs(call(*args, **kwargs))
    leaves = [a.detach().clone(memory_format=torch.preserve_format).requires_grad_() if is_leaf(a) else a for a in args]
    out = outputs(call(*leaves, **kwargs))
    summed = [o for o in out if o.requires_grad]
    wanted = [a for a in leaves if is_leaf(a)]
    rand = drawer(torch.float64, seed=9)
    total = sum((o * rand(*o.shape).to(o.dtype)).sum() for o in summed)
    return [*out, *torch.autograd.grad(total, wanted, allow_unused=True)]


def bits(t):
    """The bits as integers; all NaN are equal."""
    return t.detach().nan_to_num(0.125, float("inf"), float("-inf")).contiguous().reshape(-1).view(torch.uint8)


def check(call, args, kwargs, differentiable, what):
    narrow = any(isinstance(a, torch.Tensor) and a.dtype == torch.bfloat16 for a in args)
    firsts = {}
    for isa in FUSED:
        ops.use_isa(isa)
        found = results(call, args, kwargs, differentiable)
        first = firsts.setdefault(OF_BFLOAT16.get(isa) if narrow else None, found)
        for place, (a, b) in enumerate(zip(first, found, strict=True)):
            if a is None:
                assert b is None, (what, place)
                continue
            assert torch.equal(a.isnan(), b.isnan()), f"{what}, result {place} under {isa}"
            different = int((bits(a) != bits(b)).sum())
            assert different == 0, f"{what}, result {place} under {isa}: {different} bytes of {a.numel()} elements differ"


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_records(record, dtype):
    for i, (args, kwargs) in enumerate(record.samples(drawer(dtype, seed=3))):
        check(record.call, args, kwargs, record.differentiable, f"{record.name}, sample {i}")


def long_sums(rand):
    """(operator, its arguments) with sums longer than any vector and than one piece of a GEMM's depth."""
    for width in WIDTHS:
        weight, bias = rand(width), rand(width)
        yield "layer_norm", [rand(9, width), weight, bias, 1e-5]
        yield "rms_norm", [rand(9, width), weight, 1e-5]
        yield "linear", [rand(5, width), rand(33, width), None]
        yield "matmul", [rand(2, 31, width), rand(2, width, 17)]
        yield "mode_scores", [rand(2, width, 30), rand(2, 65, 30), 2]
        yield "mode_contract", [rand(2, 7, 5, 2 * width), rand(2, 3, 5, 2 * width), 0, 2]
        yield "mode_pool", [rand(2, 5, width, 66), "sum"]
        yield "swiglu", [rand(5, 2 * width)]
    yield "linear", [rand(250, 700), rand(49, 700), rand(49)]
    yield "mode_contract", [rand(2, 21, 24, 48), rand(2, 21, 24, 48), 0, 3]
    yield "mode_product", [rand(2, 21, 24, 48), rand(2, 3, 17, 24), 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_long_sums(dtype):
    for name, args in long_sums(drawer(dtype, seed=4)):
        check(getattr(ops, name), args, {}, True, f"{name} of {[list(a.shape) for a in args if isinstance(a, torch.Tensor)]}")


@pytest.mark.parametrize("width", [6, 16, 34])
def test_long_sequences(width):
    args, kwargs = sequences(drawer(torch.float32, seed=5), 1, 333, 4, 2, width, fold=(0, 8, 8), slots=2, window=24, codes=1)
    check(ops.tensor_attention, args, kwargs, True, f"tensor_attention of width {width}")


def test_every_kind_of_number():
    """Unary functions of numbers of every exponent and sign, infinities and NaN."""
    fractions = np.arange(0, 1 << 23, 50_021, dtype=np.uint32)
    x = (np.arange(512, dtype=np.uint32)[:, None] << 23 | fractions).view(np.float32)
    whole = torch.from_numpy(x[:, :160].reshape(-1).copy())
    check(lambda x: ops.elementary(x, "exp"), [whole], {}, False, "exp")
    check(lambda x: ops.swiglu(torch.stack([x.view(-1, 64), torch.ones(x.numel() // 64, 64)], 1).flatten(1)), [whole], {}, False, "silu")
    gelu = lambda x: ops.feed_forward(x.view(-1, 1), torch.ones(1, 1), torch.ones(1, 1))
    check(gelu, [whole], {}, False, "gelu")
