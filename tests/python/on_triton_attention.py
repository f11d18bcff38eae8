"""dot_product_attention of at most 64 tokens (python/modewise/triton/short_attention.py) and the operators that call it."""

import pytest
import torch

from ops_formulas import axis_attention, dot_product_attention
from ops_records import ops
from ops_samples import bools, drawer
from ops_sequence_formulas import tensor_formula
from ops_sequence_samples import sequences
from triton_helpers import ALL_TYPES, assert_close, far_apart, in_turn, launch_again, launches, ran

# Samples, queries, keys, query heads, key heads, widths of keys and values. float32 has at most 32 tokens.
SIZES = [(2, 1, 1, 1, 1, 1, 1), (1, 3, 2, 2, 1, 5, 7), (2, 17, 17, 6, 3, 8, 24), (1, 16, 33, 4, 4, 16, 16), (1, 63, 31, 3, 1, 33, 2),
         (3, 33, 33, 2, 2, 17, 65), (1, 64, 63, 2, 1, 64, 64), (1, 31, 64, 1, 1, 64, 128), (2, 32, 32, 4, 2, 128, 127)]


def drawn(dtype, b, n, m, h, g, d, e, seed=0):
    rand = drawer(dtype, seed)
    return rand(b, n, h, d), rand(b, m, g, d), rand(b, m, g, e)


def backward_kernel(dtype):
    """Exact products of float32 need more registers than there are."""
    return "blocks" if dtype == torch.float32 else "triton"


def compare(q, k, v, mask=None, causal=False, scale=0.3, backward=True):
    """The result and the gradients, both by the kernels, against the formula in float64."""
    dtype = q.dtype
    leaves = [t.detach().requires_grad_() for t in (q, k, v)]
    out = ops.dot_product_attention(*leaves, mask, causal, scale)
    assert ran("dot_product_attention")
    wide = [t.detach().double().requires_grad_() for t in (q, k, v)]
    wanted = dot_product_attention(*wide, mask, causal, scale)
    assert_close(out, wanted, dtype)
    assert out.is_contiguous()
    if not backward:
        return
    grad = drawer(dtype, 5)(*out.shape)
    got = torch.autograd.grad(out, leaves, grad)
    assert ops.last_kernel("dot_product_attention_backward") == backward_kernel(dtype)
    for name, x, y in zip("qkv", got, torch.autograd.grad(wanted, wide, grad.double())):
        assert_close(x, y, dtype, f"gradient of {name}")


@in_turn("sizes", SIZES)
def test_sizes(sizes, dtype):
    b, n, m, h, g, d, e = sizes
    if dtype == torch.float32:
        n, m = min(n, 32), min(m, 32)
    compare(*drawn(dtype, b, n, m, h, g, d, e))
    if n == m:
        compare(*drawn(dtype, b, n, m, h, g, d, e, seed=1), causal=True)


@ALL_TYPES
@pytest.mark.parametrize(("h", "g"), [(6, 3), (4, 1)])
def test_each_query_head_may_have_values_of_its_own(h, g, dtype):
    """As from the second mode of axial attention on."""
    q, k, _ = drawn(dtype, 2, 19, 21, h, g, 9, 11)
    mask = bools(2, h, 19, 21, keep=0.6)
    mask[..., 1] = True
    compare(q, k, drawer(dtype, 2)(2, 21, h, 11), mask)


@ALL_TYPES
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 31, 32, 33, 63, 64])
def test_lengths(n, dtype):
    n = min(n, 32) if dtype == torch.float32 else n
    compare(*drawn(dtype, 1, n, n, 2, 1, 3, 5), causal=True, scale=1.7)


@ALL_TYPES
@pytest.mark.parametrize("d", [1, 2, 15, 17, 31, 33, 64, 127, 128])
def test_widths(d, dtype):
    compare(*drawn(dtype, 1, 5, 5, 2, 2, d, 129 - d))


@in_turn("shape", [(), (19,), (19, 1), (1, 19), (21, 19), (4, 1, 1), (1, 21, 19), (4, 21, 19), (3, 1, 1, 19), (3, 1, 21, 19), (1, 4, 1, 19), (3, 4, 21, 19)])
def test_masks_of_every_shape(shape, dtype):
    if shape == (19, 1):
        shape = (21, 1)
    compare(*drawn(dtype, 3, 21, 19, 4, 2, 9, 11), bools(*shape, keep=0.6))


@ALL_TYPES
def test_a_mask_and_causal(dtype):
    mask = bools(2, 1, 18, 18, keep=0.5) | torch.eye(18, dtype=torch.bool)
    compare(*drawn(dtype, 2, 18, 18, 4, 1, 8, 8), mask, causal=True)
    compare(*drawn(dtype, 2, 18, 18, 4, 1, 8, 8), mask.mT, causal=True)  # any strides
    compare(*drawn(dtype, 2, 18, 18, 4, 1, 8, 8), mask.expand(2, 4, 18, 18))


@ALL_TYPES
def test_rows_without_keys_are_zero(dtype):
    mask = torch.ones(1, 1, 17, 19, dtype=torch.bool)
    mask[0, 0, [0, 9, 16]] = False
    compare(*drawn(dtype, 2, 17, 19, 2, 1, 8, 8), mask)
    compare(*drawn(dtype, 1, 17, 19, 2, 2, 8, 8), torch.zeros((), dtype=torch.bool))


@ALL_TYPES
def test_any_strides(dtype):
    rand = drawer(dtype)
    n, h, d = 18, 4, 9
    fused = rand(2, n, 3, h, d)  # q, k and v of one projection
    compare(*fused.unbind(2))
    compare(rand(2, h, n, d).transpose(1, 2), rand(n, 2, 2, d).transpose(0, 1), rand(2, 2, d, n).permute(0, 3, 1, 2))  # v is not dense in its channels
    compare(rand(4, 2 * n, h, d)[::2, ::2], rand(1, n, 1, d).expand(2, n, 2, d), rand(2, n, h, 2 * d)[:, :, ::2, ::2], causal=True)
    out = ops.dot_product_attention(*fused.unbind(2), None, False, 1.0)
    grad = rand(1, 1, 1, 1).expand_as(out)  # the gradient of a sum
    for got, wanted in zip(ops.dot_product_attention_backward(grad, *fused.unbind(2), None, False, 1.0),
                           ops.dot_product_attention_backward(grad.contiguous(), *(t.contiguous() for t in fused.unbind(2)), None, False, 1.0)):
        assert ops.last_kernel("dot_product_attention_backward") == backward_kernel(dtype)
        assert torch.equal(got, wanted)


@ALL_TYPES
def test_nan_in_a_masked_query_stays_in_its_row(dtype):
    q, k, v = drawn(dtype, 1, 17, 17, 2, 2, 8, 8)
    q[0, 3] = torch.nan
    k[0, 16, 1] = torch.nan  # of one head, seen by the last query alone
    compare(q, k, v, causal=True, backward=False)


@ALL_TYPES
def test_nan_around_the_tensors_is_not_read(dtype):
    def within(x):
        around = torch.full([size + 2 for size in x.shape], torch.nan, dtype=dtype)
        around[tuple(slice(1, -1) for _ in x.shape)] = x
        return around[tuple(slice(1, -1) for _ in x.shape)]

    compare(*(within(x) for x in drawn(dtype, 2, 19, 21, 4, 2, 9, 7)))


@ALL_TYPES
def test_large_logits_neither_overflow_nor_vanish(dtype):
    q, k, v = drawn(dtype, 1, 17, 17, 2, 1, 8, 8)
    compare(q.mul(2.0**12).round(), k.mul(2.0**3).round(), v, causal=True, scale=1.0, backward=False)
    compare(q * 4, k * 4, v, scale=1.0, backward=False)  # logits of about 40, which bfloat16 rounds by 0.1
    compare(q, k, v, scale=0.0)
    compare(q, k, v, scale=-1.0)


def test_gradients_of_the_heads_of_a_group_are_added_in_float32():
    """The first and the last head cancel; a sum in bfloat16 would have lost the others."""
    q, k, v = drawn(torch.bfloat16, 1, 17, 17, 4, 1, 8, 8)
    grad = drawer(torch.bfloat16, 5)(1, 17, 4, 8)
    grad[:, :, 0] *= 256
    q[:, :, 3], grad[:, :, 3] = q[:, :, 0], -grad[:, :, 0]
    wide = [x.double().requires_grad_() for x in (q, k, v)]
    wanted = torch.autograd.grad(dot_product_attention(*wide, None, False, 0.3), wide, grad.double())
    got = ops.dot_product_attention_backward(grad, q, k, v, None, False, 0.3)
    assert ran("dot_product_attention_backward")
    for name, x, y in zip("qkv", got, wanted):
        assert_close(x, y, torch.bfloat16, f"gradient of {name}")


def test_sizes_of_zero():
    rand = drawer(torch.float32)
    for b, n, m, h, g, e in [(0, 5, 5, 2, 1, 4), (2, 0, 3, 2, 1, 4), (2, 3, 3, 2, 1, 0)]:
        leaves = [t.requires_grad_() for t in (rand(b, n, h, 4), rand(b, m, g, 4), rand(b, m, g, e))]
        out = ops.dot_product_attention(*leaves, None, False, 1.0)
        assert out.shape == (b, n, h, e)
        gradients = torch.autograd.grad(out.sum(), leaves)
        assert [x.shape for x in gradients] == [x.shape for x in leaves]
        assert not any(x.any() for x in gradients)


def test_results_repeat_bit_by_bit():
    q, k, v = drawn(torch.bfloat16, 2, 33, 33, 6, 2, 17, 9)
    first = ops.dot_product_attention(q, k, v, None, True, 0.3)
    assert torch.equal(ops.dot_product_attention(q, k, v, None, True, 0.3), first)
    part = ops.dot_product_attention(q[1:], k[1:], v[1:], None, True, 0.3)
    assert torch.equal(part, first[1:])


def test_use_reference_goes_before_the_kernels():
    q, k, v = drawn(torch.float32, 1, 5, 5, 2, 2, 8, 8)
    with launches() as launched:
        ops.use_reference(True)
        wanted = ops.dot_product_attention(q, k, v, None, False, 0.3)
        assert ops.last_kernel("dot_product_attention") == "reference"
        ops.use_reference(False)
        assert not launched
        assert_close(ops.dot_product_attention(q, k, v, None, False, 0.3), wanted.double(), torch.float32)
    assert ran("dot_product_attention")
    assert [x["kernel"] for x in launched] == ["short_attention"]


@pytest.mark.parametrize("change", [
    dict(n=65, m=65), dict(m=65), dict(d=129), dict(e=129), dict(values=1), dict(m=0), dict(n=33, dtype=torch.float32), dict(m=33, dtype=torch.float32)], ids=str)
def test_others_are_left_to_the_next_kernel(change):
    sizes = dict(n=5, m=5, d=8, e=8, values=2, dtype=torch.bfloat16) | change
    rand = drawer(sizes["dtype"])
    q, k, v = rand(1, sizes["n"], 4, sizes["d"]), rand(1, sizes["m"], 2, sizes["d"]), rand(1, sizes["m"], sizes["values"], sizes["e"])
    with launches() as launched:
        out = ops.dot_product_attention(q, k, v, None, False, 0.3)
        assert ops.last_kernel("dot_product_attention") == "blocks"
        ops.dot_product_attention_backward(rand(*out.shape), q, k, v, None, False, 0.3)
        assert ops.last_kernel("dot_product_attention_backward") == "blocks"
    assert not launched
    if sizes["m"]:
        assert_close(out, dot_product_attention(q.double(), k.double(), v.double(), None, False, 0.3), sizes["dtype"])


FAR = 2**29  # below 2³¹, so that Triton takes the stride for int32; four times as much is not


@pytest.mark.parametrize("strides", [(FAR, 40, 8, 1), (40, FAR, 8, 1), (40, 8, FAR, 1)], ids=["samples", "tokens", "heads"])
def test_offsets_beyond_two_gibi_elements(strides):
    q, k, v = drawn(torch.float64, 5, 5, 5, 5, 5, 8, 8)
    compare(*(far_apart(x, strides) for x in (q, k, v)))


@pytest.mark.parametrize("strides", [(FAR, 25, 5, 1), (25, FAR, 5, 1), (25, 5, FAR, 1), (25, 5, 1, FAR)], ids=["samples", "heads", "queries", "keys"])
def test_offsets_of_masks_beyond_two_gibi_elements(strides):
    mask = bools(5, 5, 5, 5) | torch.eye(5, dtype=torch.bool)
    compare(*drawn(torch.float64, 5, 5, 5, 5, 5, 8, 8), far_apart(mask, strides))


@pytest.mark.parametrize("steps", [(FAR, 40, 8, 1), (40, FAR, 8, 1), (40, 8, FAR, 1)], ids=["samples", "tokens", "heads"])
def test_results_beyond_two_gibi_elements(steps):
    with launches() as launched:
        leaves = [x.requires_grad_() for x in drawn(torch.bfloat16, 5, 5, 5, 5, 5, 8, 8)]
        ops.dot_product_attention(*leaves, None, False, 0.3).sum().backward()
    for launch, results in zip(launched, ({"Out": "ob on oh"}, {"OfQ": "rb rn rh", "OfK": "sb sn sh", "OfV": "tb tn th"})):
        others = {name: far_apart(torch.zeros_like(launch[name]), steps) for name in results}
        launch_again(launch, **others, **{stride: step for strides in results.values() for stride, step in zip(strides.split(), steps)})
        for name, other in others.items():
            assert torch.equal(other, launch[name]), name


@in_turn("mode", [0, 1, 2])
def test_axis_attention(mode, dtype):
    leaves = [drawer(dtype, seed)(1, 3, 17, 2, 8).requires_grad_() for seed in range(3)]
    out = ops.axis_attention(*leaves, 2, mode)
    assert ran("dot_product_attention")
    wide = [x.detach().double().requires_grad_() for x in leaves]
    wanted = axis_attention(*wide, 2, mode)
    assert_close(out, wanted, dtype)
    grad = drawer(dtype, 7)(*out.shape)
    gradients = torch.autograd.grad(out, leaves, grad)
    assert ops.last_kernel("dot_product_attention_backward") == backward_kernel(dtype)
    for name, x, y in zip("qkv", gradients, torch.autograd.grad(wanted, wide, grad.double())):
        assert_close(x, y, dtype, f"gradient of {name}")


@in_turn("sizes, options", [
    ((1, 24, 2, 2, 8, 5), dict(fold=(2, 3, 4), codes=3)), ((1, 21, 2, 2, 8), dict(fold=(0, 2, 5))), ((2, 17, 1, 1, 8), dict(fold=(0, 2, 3), causal=False, codes=1)),
    ((1, 12, 4, 2, 8, 5), dict(fold=(3, 4)))])
def test_axial_attention_of_a_sequence(sizes, options, dtype):
    arguments, named = sequences(drawer(dtype), *sizes, form="axial", **options)
    leaves = [x.detach().requires_grad_() for x in arguments[:3]]
    with launches() as launched:
        out = ops.tensor_attention(*leaves, *arguments[3:], **named)
        grad = drawer(dtype, 7)(*out.shape)
        gradients = torch.autograd.grad(out, leaves, grad)
    modes = len(options["fold"])
    assert [x["kernel"] for x in launched] == modes * ["short_attention"] + modes * ["short_attention_backward"] * (dtype != torch.float32)
    wide = [x.detach().double().requires_grad_() for x in leaves]
    wanted = tensor_formula(*wide, *(x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in arguments[3:]), **named)
    assert_close(out, wanted, dtype)
    for name, x, y in zip("qkv", gradients, torch.autograd.grad(wanted, wide, grad.double())):
        assert_close(x, y, dtype, f"gradient of {name}")
