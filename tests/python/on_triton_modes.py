"""The operators of Kronecker attention: mode_product, mode_contract, mode_scores and mode_pool by python/modewise/triton."""

import pytest
import torch

from ops_formulas import mode_contract, mode_pool, mode_product, mode_scores
from ops_records import ops
from ops_samples import bools, drawer
from triton_helpers import ALL_TYPES, assert_close, far_apart, in_turn, launches, ran

from modewise.triton.self_test import SAMPLES


@pytest.fixture(scope="module", autouse=True)
def first_calls():
    """Those compare the kernels with the reference, in launches that the tests do not count."""
    for op, sample in SAMPLES.items():
        if op.startswith("mode_"):
            sample(torch.device("cpu"))


# Sizes of x, heads, length of the mode in the result.
PRODUCTS = [((2, 3, 5, 7, 12), 3, 5), ((2, 17, 3, 5), 1, 33), ((1, 65, 2, 8), 2, 66), ((1, 3, 130, 2), 1, 3), ((1, 1, 1, 1), 1, 1), ((1, 2, 2, 2, 3, 6), 2, 4)]


def places(samples):
    return [(shape, mode, heads, m) for shape, heads, m in samples for mode in range(len(shape) - 2)]


def along(shape, mode, size):
    return (*shape[: mode + 1], size, *shape[mode + 2 :])


def compare_product(x, factor, mode, backward=True):
    """The product and both gradients, by the kernels, against the formula in float64."""
    leaves = [t.detach().requires_grad_() for t in (x, factor)]
    wide = [t.detach().double().requires_grad_() for t in (x, factor)]
    out = ops.mode_product(*leaves, mode)
    assert ran("mode_product")
    wanted = mode_product(*wide, mode)
    assert_close(out, wanted, x.dtype)
    assert out.is_contiguous()
    if backward:
        grad = drawer(x.dtype, 5)(*out.shape)
        got = torch.autograd.grad(out, leaves, grad)
        assert ran("mode_product")
        assert ran("mode_contract")
        assert [t.dtype for t in got] == [x.dtype, factor.dtype]
        for name, a, b in zip(("x", "the factor"), got, torch.autograd.grad(wanted, wide, grad.double())):
            assert_close(a, b, x.dtype, f"gradient of {name}")


@in_turn("shape, mode, heads, m", places(PRODUCTS))
def test_products(shape, mode, heads, m, dtype):
    rand = drawer(dtype)
    compare_product(rand(*shape), rand(shape[0], heads, m, shape[mode + 1]), mode)


@ALL_TYPES
@pytest.mark.parametrize("mode", [0, 1])
def test_one_factor_for_all_samples_and_heads(mode, dtype):
    rand = drawer(dtype)
    compare_product(rand(2, 5, 18, 6), rand(7, (5, 18)[mode]), mode)
    compare_product(rand(2, 5, 18, 6), rand((5, 18)[mode], 7).mT, mode)


def test_float32_factors_of_bfloat16_are_not_rounded():
    """Exact sums of products: a factor rounded to bfloat16, or to two bfloat16 parts, would give 0."""
    x = torch.tensor([1.0, -1.0], dtype=torch.bfloat16).view(1, 2, 1)
    low = 1 + 2.0**-12
    factor = torch.tensor([[low, 1.0], [low + 2.0**-22, low]])
    assert ops.mode_product(x, factor, 0).flatten().tolist() == [2.0**-12, 2.0**-22]
    assert ran("mode_product")
    rand = drawer(torch.bfloat16)
    compare_product(rand(2, 33, 5, 6), rand(2, 3, 17, 33).float(), 0)
    compare_product(rand(1, 3, 65, 4), rand(66, 65).float(), 1)


@ALL_TYPES
def test_any_strides(dtype):
    rand = drawer(dtype)
    compare_product(rand(2, 12, 7, 5).transpose(1, 3), rand(2, 4, 3, 5), 0)  # channels are not contiguous
    compare_product(rand(1, 5, 1, 8).expand(3, 5, 7, 8), rand(1, 2, 1, 5).expand(3, 2, 4, 5), 0)
    compare_product(rand(2, 5, 7, 8), rand(2, 2, 5, 6).mT, 0)
    compare_product(rand(2, 9, 7, 8)[:, 1:8:2, :, ::2], rand(2, 2, 3, 4), 0)
    compare_product(rand(2, 4, 5, 3, 8).transpose(1, 3), rand(2, 2, 6, 5), 1)
    compare_product(rand(2, 4, 5, 3, 8)[:, ::2, :, 1:], rand(2, 2, 6, 2), 2)  # the modes before have no common stride


@ALL_TYPES
def test_nan_around_the_tensors_is_not_read(dtype):
    def within(x):
        around = torch.full([size + 2 for size in x.shape], torch.nan, dtype=dtype)
        inner = around[tuple(slice(1, -1) for _ in x.shape)]
        return inner.copy_(x)

    rand = drawer(dtype)
    compare_product(within(rand(2, 3, 17, 2, 6)), within(rand(2, 2, 5, 17)), 1)
    a, x = within(rand(2, 3, 17, 2, 6)), within(rand(2, 3, 4, 2, 6))
    assert_close(ops.mode_contract(a, x, 1, 3), mode_contract(a.double(), x.double(), 1, 3), dtype)
    assert ran("mode_contract")


def test_nan_stays_in_its_fibre():
    x, factor = drawer(torch.float32)(1, 5, 7, 6), drawer(torch.float32, 1)(1, 2, 4, 5)
    x[0, 2, 3, 1] = torch.nan
    compare_product(x, factor, 0, backward=False)
    factor[0, 1, 2, 0] = torch.inf
    compare_product(x, factor, 0, backward=False)


@in_turn("shape, mode, heads, m", places([((2, 2, 65, 6), 0, 5), ((2, 5, 7, 40), 5, 3), ((1, 70, 3), 1, 130), ((1, 1, 1, 1), 1, 1)]))
def test_contractions(shape, mode, heads, m, dtype):
    rand = drawer(dtype)
    leaves = [rand(*along(shape, mode, m), grad=True), rand(*shape, grad=True)]
    wide = [t.detach().double().requires_grad_() for t in leaves]
    out = ops.mode_contract(*leaves, mode, heads)
    assert ran("mode_contract")
    wanted = mode_contract(*wide, mode, heads)
    assert_close(out, wanted, dtype)
    grad = drawer(dtype, 5)(*out.shape)
    got = torch.autograd.grad(out, leaves, grad)
    assert ran("mode_product")
    for name, a, b in zip("ax", got, torch.autograd.grad(wanted, wide, grad.double())):
        assert_close(a, b, dtype, f"gradient of {name}")


@ALL_TYPES
def test_contractions_of_any_strides(dtype):
    rand = drawer(dtype)
    for a, x, mode in [(rand(2, 12, 3, 4).transpose(1, 3), rand(1, 5, 1, 1).expand(2, 5, 3, 12), 0), (rand(1, 1, 1, 1).expand(2, 3, 4, 6), rand(3, 2, 5, 6).transpose(0, 1), 1),
                       (rand(2, 4, 5, 3, 8).transpose(1, 3), rand(2, 3, 6, 8, 8)[:, :, :, ::2], 1)]:
        assert_close(ops.mode_contract(a, x, mode, 2), mode_contract(a.double(), x.double(), mode, 2), dtype)
        assert ran("mode_contract")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_integers_are_exact(dtype):
    """Sums are rounded once: those of some hundreds of numbers are not exact in bfloat16."""
    rand = drawer(dtype, integers=True)
    x, factor, a = (4 + rand(*shape) for shape in ((1, 300, 2, 8), (1, 1, 5, 300), (1, 300, 1, 8)))
    assert torch.equal(ops.mode_product(x, factor, 0), mode_product(x.double(), factor.double(), 0).to(dtype))
    assert ran("mode_product")
    assert torch.equal(ops.mode_contract(a, x, 1, 1), mode_contract(a.double(), x.double(), 1, 1).to(dtype))
    assert ran("mode_contract")
    for pooled, wanted in zip(ops.mode_pool(x, "sum"), mode_pool(x.double(), "sum")):
        assert torch.equal(pooled, wanted.to(dtype))
    assert ran("mode_pool")


def test_long_contractions_are_split_and_repeat_bit_by_bit():
    rand = drawer(torch.float32)
    a, x = rand(1, 500, 3, 8), rand(1, 500, 2, 8)
    with launches() as launched:
        first = ops.mode_contract(a, x, 1, 1)
    assert launched[0]["SPLITS"] > 8
    assert launched[0]["programs"] == launched[0]["SPLITS"]
    assert_close(first, mode_contract(a.double(), x.double(), 1, 1), torch.float32)
    assert torch.equal(ops.mode_contract(a, x, 1, 1), first)


def compare_scores(q, k, heads, key_mask=None, mode_mask=None, backward=True):
    leaves = [t.detach().requires_grad_() for t in (q, k)]
    wide = [t.detach().double().requires_grad_() for t in (q, k)]
    out = ops.mode_scores(*leaves, heads, key_mask, mode_mask)
    assert ran("mode_scores")
    wanted = mode_scores(*wide, heads, key_mask, mode_mask)
    assert_close(out, wanted, q.dtype)
    assert out.is_contiguous()
    if backward:
        grad = drawer(q.dtype, 5)(*out.shape)
        got = torch.autograd.grad(out, leaves, grad)
        assert ran("mode_scores_backward")
        for name, a, b in zip("qk", got, torch.autograd.grad(wanted, wide, grad.double())):
            assert_close(a, b, q.dtype, f"gradient of {name}")


# Samples, queries, keys, heads, channels of a head: one tile of keys and several.
SCORES = [(2, 3, 3, 2, 3), (1, 17, 5, 1, 63), (1, 16, 33, 2, 16), (1, 66, 17, 1, 8), (1, 33, 64, 1, 17), (1, 34, 130, 1, 128), (1, 2, 2, 1, 1)]


@in_turn("sizes", SCORES)
def test_scores(sizes, dtype):
    b, n, m, heads, d = sizes
    q, k = drawer(dtype)(b, n, heads * d), drawer(dtype, 1)(b, m, heads * d)
    compare_scores(q, k, heads)
    compare_scores(q, k, heads, bools(b, heads, m, keep=0.6), bools(n, m, keep=0.8))


@ALL_TYPES
def test_masks(dtype):
    q, k = drawer(dtype)(2, 6, 8), drawer(dtype, 1)(2, 34, 8)
    compare_scores(q, k, 2, bools(2, 34))
    compare_scores(q, k, 2, bools(34, 2, 2).permute(2, 1, 0))  # any strides
    compare_scores(q, k, 2, None, bools(34, 6).mT)
    compare_scores(q, k, 2, bools(1, 34).expand(2, 34), bools(6, 1).expand(6, 34))


@ALL_TYPES
def test_masked_tiles_before_the_first_key(dtype):
    q, k = drawer(dtype)(1, 5, 8), drawer(dtype, 1)(1, 70, 8)
    seen = bools(5, 70)
    seen[:, :66] = False
    seen[:4, 69] = True
    compare_scores(q, k, 1, None, seen)


@ALL_TYPES
def test_rows_without_a_key_are_zero(dtype):
    """Also where keys of no row are NaN."""
    q, k = drawer(dtype)(2, 19, 8), drawer(dtype, 1)(2, 70, 8)
    pairs, keys = bools(19, 70), torch.ones(2, 70, dtype=torch.bool)
    pairs[[0, 17]] = False
    keys[:, [1, 69]] = False
    k[:, [1, 69]] = torch.nan
    q[0, 17] = torch.nan
    compare_scores(q, k, 2, keys, pairs, backward=False)
    assert (ops.mode_scores(q, k, 2, torch.zeros(2, 70, dtype=torch.bool)) == 0).all()
    assert ran("mode_scores")
    scores = ops.mode_scores(q.nan_to_num(), k.nan_to_num(), 2, keys, pairs)
    assert torch.equal(scores[:, :, [0, 17]], torch.zeros(2, 2, 2, 70, dtype=dtype))


def test_nan_in_a_seen_key_reaches_the_whole_row():
    q, k = drawer(torch.float32)(1, 5, 4), drawer(torch.float32, 1)(1, 40, 4)
    k[0, 39] = torch.nan
    seen = torch.ones(5, 40, dtype=torch.bool)
    seen[2, 39] = False
    wanted = mode_scores(q.double(), k.double(), 1, None, seen)
    out = ops.mode_scores(q, k, 1, None, seen)
    assert ran("mode_scores")
    assert out[0, 0, [0, 1, 3, 4]].isnan().all()
    assert_close(out, wanted, torch.float32)


@ALL_TYPES
def test_large_logits_neither_overflow_nor_vanish(dtype):
    q, k = drawer(dtype)(1, 5, 8).mul(2.0**12).round(), drawer(dtype, 1)(1, 70, 8).mul(2.0**3).round()
    compare_scores(q, k, 2, backward=False)
    compare_scores(q.abs(), -k.abs(), 2, backward=False)


@ALL_TYPES
def test_scores_of_any_strides(dtype):
    rand = drawer(dtype)
    compare_scores(rand(5, 2, 8).transpose(0, 1), rand(2, 8, 5).transpose(1, 2), 2)
    joined = rand(2, 18, 24)
    compare_scores(joined[..., :12], joined[:, ::2, 12:], 3)
    q, k = rand(1, 17, 8), rand(1, 40, 8).expand(2, 40, 8)[:1]
    scores, grad = ops.mode_scores(q, k, 2), rand(1, 1, 40, 1).expand(1, 2, 40, 17).mT
    for a, b in zip(ops.mode_scores_backward(grad, scores.mT.contiguous().mT, q, k, 2), ops.mode_scores_backward(grad.contiguous(), scores, q, k, 2)):
        assert ran("mode_scores_backward")
        assert torch.equal(a, b)


def compare_pool(x, pooling, mask=None):
    leaf, wide = (t.detach().requires_grad_() for t in (x, x.double()))
    pooled, wanted = ops.mode_pool(leaf, pooling, mask), mode_pool(wide, pooling, mask)
    assert ran("mode_pool")
    grads = [drawer(x.dtype, 5 + i)(*t.shape) for i, t in enumerate(pooled)]
    for i, (a, b) in enumerate(zip(pooled, wanted)):
        assert_close(a, b, x.dtype, f"mode {i}")
        assert a.is_contiguous()
    (got,) = torch.autograd.grad(pooled, leaf, grads)
    assert ran("mode_pool_backward")
    assert_close(got, torch.autograd.grad(wanted, wide, [g.double() for g in grads])[0], x.dtype, "gradient")


@in_turn("shape", [(2, 3, 5, 7, 12), (1, 33, 2, 130), (3, 2, 17, 1), (1, 2, 270, 17), (1, 1, 1, 1), (1, 2, 2, 2, 3, 6)])
def test_pooling(shape, dtype):
    x = drawer(dtype)(*shape)
    compare_pool(x, "sum")
    compare_pool(x, "mean", bools(*shape[:-1]))


@ALL_TYPES
def test_pooling_of_any_strides(dtype):
    rand = drawer(dtype)
    compare_pool(rand(2, 5, 3, 4).transpose(1, 3), "mean", bools(3, 1, 2).permute(2, 1, 0).expand(2, 4, 3))
    compare_pool(rand(2, 4, 5, 3, 8)[:, ::2, :, 1:].transpose(1, 2), "sum", bools(2, 5, 4, 2)[:, :, ::2])
    compare_pool(rand(1, 1, 7, 6).expand(2, 5, 7, 6), "mean")


@ALL_TYPES
def test_masked_cells_are_not_pooled(dtype):
    x, mask = drawer(dtype)(2, 3, 19, 6), bools(2, 3, 19)
    mask[0, 1], mask[1, :, 18] = False, False  # positions without a valid cell
    x[~mask] = torch.nan
    compare_pool(x, "mean", mask)
    compare_pool(x, "sum", mask)


def test_pooling_is_split_and_repeats_bit_by_bit():
    x = drawer(torch.float32)(1, 130, 2, 3)
    with launches() as launched:
        first = ops.mode_pool(x, "mean")
    assert launched[0]["programs"] == launched[0]["RANGES"] == 33
    assert_close(first[1], mode_pool(x.double(), "mean")[1], torch.float32)
    assert all(torch.equal(a, b) for a, b in zip(first, ops.mode_pool(x, "mean")))


def test_pooling_of_one_mode_or_of_nothing_is_left_to_the_next_kernel():
    for shape in ((2, 3, 4), (0, 3, 2, 4), (2, 0, 2, 4), (2, 3, 2, 0)):
        x = drawer(torch.float32)(*shape, grad=True)
        pooled = ops.mode_pool(x, "mean")
        assert ops.last_kernel("mode_pool") == "one_pass"
        (grad,) = torch.autograd.grad(sum(t.sum() for t in pooled), x)
        assert ops.last_kernel("mode_pool_backward") == "one_pass"
        assert torch.equal(grad, torch.ones(shape))


def test_sizes_of_zero():
    rand = drawer(torch.float32)
    for shape, factor in [((0, 5, 7, 8), (0, 2, 3, 5)), ((2, 0, 7, 8), (2, 2, 3, 0)), ((2, 5, 0, 8), (2, 2, 3, 5)), ((2, 5, 7, 8), (2, 2, 0, 5)), ((2, 5, 7, 0), (2, 2, 3, 5)), ((0, 5, 7, 8), (3, 5))]:
        leaves = [rand(*shape, grad=True), rand(*factor, grad=True)]
        out = ops.mode_product(*leaves, 0)
        assert ran("mode_product")
        assert out.shape == along(shape, 0, factor[-2])
        assert not out.any()
        gradients = torch.autograd.grad(out.sum(), leaves)
        assert [x.shape for x in gradients] == [x.shape for x in leaves]
        assert not any(x.any() for x in gradients)
    for b, n, m, width in [(0, 3, 3, 4), (2, 0, 3, 4), (2, 3, 0, 4), (2, 0, 70, 4), (2, 70, 0, 4), (2, 3, 3, 0)]:
        leaves = [rand(b, n, width, grad=True), rand(b, m, width, grad=True)]
        out = ops.mode_scores(*leaves, 2)
        assert ran("mode_scores")
        assert out.shape == (b, 2, n, m)
        if width:
            gradients = torch.autograd.grad(out.sum(), leaves)
            assert ran("mode_scores_backward")
            assert not any(x.any() for x in gradients)


def test_samples_beyond_two_gibi_numbers():
    """Offsets of samples and of a factor's heads are int64; others are int32, and larger ones are left to the next kernel. Triton
    takes strides below 2³¹ for int32, so that the offset of the third one may overflow."""
    x, factor = drawer(torch.float32)(3, 4, 3, 6), drawer(torch.float32, 1)(3, 2, 5, 4)
    far = far_apart(x, (2**30 + 7, 18, 6, 1))
    compare_product(far, far_apart(factor, (2**30, 2**29, 4, 1)), 0)
    compare_product(x, far_apart(drawer(torch.float32, 2)(3, 3, 5, 4), (20, 2**30 + 8, 4, 1)), 0)
    with launches() as launched:
        far = far_apart(x, (18, 2**29, 6, 1))
        assert_close(ops.mode_product(far, factor, 0), mode_product(x.double(), factor.double(), 0), torch.float32)
        assert_close(ops.mode_product(x, far_apart(factor, (8, 4, 2**28, 1)), 0), mode_product(x.double(), factor.double(), 0), torch.float32)
        assert ops.last_kernel("mode_product") == "strided"
        assert_close(ops.mode_contract(x, far, 0, 1), mode_contract(x.double(), x.double(), 0, 1), torch.float32)
        assert ops.last_kernel("mode_contract") == "strided"
    assert not launched
    q, k = drawer(torch.float32)(2, 3, 8), drawer(torch.float32, 1)(2, 5, 8)
    compare_scores(far_apart(q, (2**31, 2**30, 1)), far_apart(k, (2**29, 2**30, 1)), 2, far_apart(bools(2, 5), (2**31, 2**29)), far_apart(bools(3, 5), (2**30, 2**29)))
    q, k = drawer(torch.float32)(3, 3, 8), drawer(torch.float32, 1)(3, 5, 8)
    compare_scores(q, k, 2, far_apart(bools(3, 5), (2**30 + 8, 1)))


def test_wide_heads_are_left_to_the_next_kernel():
    q, k = drawer(torch.float32)(1, 3, 129), drawer(torch.float32, 1)(1, 4, 129)
    with launches() as launched:
        scores = ops.mode_scores(q, k, 1)
        assert ops.last_kernel("mode_scores") == "fused"
        ops.mode_scores_backward(scores, scores, q, k, 1)
        assert ops.last_kernel("mode_scores_backward") == "fused"
    assert not launched
    assert_close(scores, mode_scores(q.double(), k.double(), 1), torch.float32)


def test_what_is_launched():
    """One program of mode_product a tile: 32 rows of bfloat16 by 128 columns, in one step."""
    rand = drawer(torch.bfloat16)
    with launches() as launched:
        ops.mode_product(rand(2, 28, 3, 28, 64), rand(2, 4, 28, 28), 0)
    columns = 3 * 28 * 16
    wanted = dict(kernel="mode_product", programs=2 * 4 * -(-columns // 128), before=84, after=1, ROWS=32, DEPTH=32, COLS=128, HEAD=16, PARTS=1)
    assert {name: launched[0][name] for name in wanted} == wanted
    with launches() as launched:
        for m in (28, 65):
            q, k = rand(1, 28, 16), rand(1, m, 16)
            ops.mode_scores_backward(*2 * [ops.mode_scores(q, k, 1)], q, k, 1)
    assert [x["kernel"] for x in launched] == ["mode_scores", "mode_scores_backward", "mode_scores", "mode_scores_backward_queries", "mode_scores_backward_keys"]
