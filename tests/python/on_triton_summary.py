"""summary_attention and its gradients (python/modewise/triton/summary_attention.py, summary_tokens.py, summary_gradients.py)."""

import pytest
import torch

from ops_records import ops
from ops_samples import drawer
from ops_sequence_formulas import tensor_formula
from ops_sequence_samples import frequency_rows, sequences
from triton_helpers import assert_close, far_apart, in_turn, launches, ran

NAMES = ("q", "k", "v", "latents")
SAMPLES = [
    dict(sizes=(2, 17, 3, 3, 5), fold=(4, 5), slots=1),
    dict(sizes=(1, 33, 4, 2, 8, 6), fold=(0, 4, 3), slots=2, codes=2),
    dict(sizes=(2, 31, 2, 1, 16, 33), fold=(0, 2, 3, 2), slots=3, codes=1, window=3, gains=[1.25, 0.75]),
    dict(sizes=(1, 43, 4, 1, 2, 17), fold=(0, 4, 4), slots=1, codes=3, positions=torch.arange(43) ** 2 // 5),
    dict(sizes=(1, 7, 2, 1, 4), fold=(2, 31), slots=1, codes=2, window=63),
    dict(sizes=(1, 33, 6, 2, 18, 1), fold=(3, 3), slots=5, codes=1, window=20, scale=0.5),
    dict(sizes=(2, 63, 2, 2, 40), form="window", window=7, codes=1),
    dict(sizes=(1, 65, 4, 1, 34, 3), form="lambda", window=5, sinks=3, codes=1, gains=[0.8]),
    dict(sizes=(1, 1, 1, 1, 1), fold=(0, 1, 1), slots=1),
    dict(sizes=(1, 9, 2, 1, 4), fold=(0, 1, 2), slots=4, codes=1, window=2),
]


def close(got, wanted, dtype, name):
    if dtype == torch.bfloat16:  # weights and gradients are rounded before each product
        assert ((got.double() - wanted).norm() / wanted.norm().clamp_min(1e-30)).item() < 1.5e-2, name
    else:
        assert_close(got, wanted, dtype, name)


def arguments(rand, sizes, **options):
    args, kwargs = sequences(rand, *sizes, **options)
    return [None if t is None else t / 2 if i == 3 else t for i, t in enumerate(args)], kwargs


def gradients(function, args, kwargs, grad):
    leaves = [t.detach().requires_grad_() for t in args[:4] if t is not None]
    out = function(*leaves, *([None] * (4 - len(leaves))), *args[4:], **kwargs)
    return out, torch.autograd.grad(out, leaves, grad.to(out.dtype), allow_unused=True)



@in_turn("sample", SAMPLES, ids=lambda sample: f"{sample['sizes']} {sample.get('fold', sample.get('form'))}")
def test_the_formula(sample, dtype):
    rand = drawer(dtype)
    args, kwargs = arguments(rand, **sample)
    grad = rand(*args[0].shape[:3], args[2].size(3))
    with launches() as recorded:
        out, got = gradients(ops.tensor_attention, args, kwargs, grad)
    assert {"summary_attention", "summary_query_gradients", "summary_key_gradients"} <= {launch["kernel"] for launch in recorded}
    assert ran("summary_attention_backward")
    wide = [t.double() if i < 4 and t is not None else t for i, t in enumerate(args)]
    wanted, slopes = gradients(tensor_formula, wide, kwargs, grad)
    close(out, wanted, dtype, "out")
    for name, x, y in zip(NAMES, got, slopes):
        close(x, torch.zeros_like(x).double() if y is None else y, dtype, name)


def operands(rand, b, n, heads, groups, d, e, levels, r):
    return [rand(b, n, heads, d), rand(b, n, groups, d), rand(b, n, groups, e), rand(levels, groups, r, d) / 2]


def compare(inputs, options, dtype, seed=3):
    """Values, logsumexp and gradients against the reference in float64."""
    grad = drawer(dtype, seed)(*inputs[0].shape[:3], inputs[2].size(3))
    results = ops.summary_attention(*inputs, *options)
    assert ran("summary_attention")
    got = ops.summary_attention_backward(grad, *inputs, *results, *options)
    assert ran("summary_attention_backward")
    ops.use_reference(True)
    try:
        wide = [t.double() for t in inputs]
        wanted = ops.summary_attention(*wide, *options)
        slopes = ops.summary_attention_backward(grad.double(), *wide, *wanted, *options)
    finally:
        ops.use_reference(False)
    for name, x, y in zip(("out", "logsumexp", *NAMES), (*results, *got), (*wanted, *slopes)):
        close(x, y, dtype, name)
    return (*results, *got)


@pytest.mark.parametrize("dtype", [pytest.param(torch.float64, marks=pytest.mark.long), torch.bfloat16], ids=str)
def test_gradients_of_split_queries_are_added(dtype):
    """Few keys that many queries see: their gradients are summed over splits of these."""
    options = (frequency_rows(3, 4), None, [2, 5, 8], 3, 2, 0.5, [])
    with launches() as recorded:
        compare(operands(drawer(dtype), 1, 547, 1, 1, 4, 4, 2, 1), options, dtype)
    assert {launch["splits"] for launch in recorded if launch["kernel"] == "summary_key_gradients" and launch["n"] == 547} == {1, 2}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_many_children_and_many_summary_tokens(dtype):
    r = 31 if dtype == torch.bfloat16 else 13
    compare(operands(drawer(dtype), 1, 150, 2, 1, 6, 5, 2, r), (None, None, [2, 2, 37], 4, 0, 0.5, []), dtype)


@pytest.mark.parametrize("dtype", [pytest.param(torch.float32, marks=pytest.mark.long), torch.bfloat16], ids=str)
def test_any_strides(dtype):
    rand = drawer(dtype)
    b, n, heads, groups, d, e = 2, 13, 2, 2, 6, 5
    q, k, v, latents = operands(rand, b, n, heads, groups, d, e, 2, 2)
    options = (frequency_rows(2, d), torch.arange(3 * n)[::3], [0, 3, 2], 4, 1, 0.4, [])
    inputs = [far_apart(q, (heads * d, 180_000_000, d, 1)), far_apart(k, (3 << 29, 7 * d, d, 1)), v.permute(0, 3, 1, 2).contiguous().permute(0, 2, 3, 1),
              latents.mT.contiguous().mT]
    got = compare(inputs, options, dtype)
    wanted = compare([q, k, v, latents], options, dtype)
    assert all(torch.equal(x, y) for x, y in zip(got, wanted))
    grad = rand(1, 1, 1, 1).expand(b, n, heads, e)  # the gradient of a sum
    one, two = (ops.summary_attention_backward(g, *inputs, *got[:2], *options) for g in (grad, grad.contiguous()))
    assert all(torch.equal(x, y) for x, y in zip(one, two))


def test_latents_of_levels_without_complete_blocks_have_no_gradient():
    inputs = operands(drawer(torch.float32), 1, 20, 2, 2, 4, 4, 3, 2)
    got = compare(inputs, (None, None, [2, 3, 4, 4], 4, 0, 0.5, []), torch.float32)
    assert got[-1][0].norm() > 0 and got[-1][1].norm() > 0 and not got[-1][2].any()


@pytest.mark.parametrize("b, n", [(0, 5), (2, 0)])
def test_nothing(b, n):
    inputs = operands(drawer(torch.float32), b, n, 2, 1, 4, 3, 1, 2)
    out, sums = ops.summary_attention(*inputs, None, None, [2, 2], 2, 1, 0.5, [])
    assert ran("summary_attention") and out.shape == (b, n, 2, 3) and sums.shape == (b, 2, n)
    got = ops.summary_attention_backward(out, *inputs, out, sums, None, None, [2, 2], 2, 1, 0.5, [])
    assert [t.shape for t in got] == [t.shape for t in inputs] and not got[3].any()


def test_what_the_kernels_refuse_runs_elsewhere():
    rand = drawer(torch.float32)
    wide = operands(rand, 1, 5, 1, 1, 129, 2, 1, 1)
    out, sums = ops.summary_attention(*wide, None, None, [0, 2], 2, 0, 0.1, [])
    assert ops.last_kernel("summary_attention") == "tiled"
    many = operands(rand, 1, 5, 1, 1, 2, 2, 1, 17)
    out, sums = ops.summary_attention(*many, None, None, [0, 2], 2, 0, 0.1, [])
    assert ran("summary_attention")
    ops.summary_attention_backward(out, *many, out, sums, None, None, [0, 2], 2, 0, 0.1, [])
    assert ops.last_kernel("summary_attention_backward") == "tiled"
