"""Properties of tensor attention over a folded sequence: receptive fields, kernels, long sequences, memory."""

import math

import pytest
import torch

import ops_formulas as formulas
from ops_records import ops
from ops_samples import drawer
from ops_sequence_formulas import tensor_formula
from ops_sequence_samples import frequency_rows, sequences


def reach(form, fold, n, slots=0, **options):
    """Receptive field [n, n] bool, by the gradient: whether the output of token t depends on the input of token s."""
    rand = drawer(torch.float64, seed=3)
    args, kwargs = sequences(lambda *s: rand(*s, grad=True), 1, n, 1, 1, 4, fold=fold, slots=slots, codes=1, form=form, **options)
    out = ops.tensor_attention(*args, **kwargs)
    seen = torch.zeros(n, n, dtype=torch.bool)
    for t in range(n):
        grads = torch.autograd.grad(out[0, t].sum(), args[:3], retain_graph=True)
        seen[t] = sum(g[0].abs().sum((-1, -2)) for g in grads) > 0
    return seen


FOLDS = [((8, 8), 64), ((4, 4, 4), 64), ((3, 5, 2), 30), ((7, 3, 2, 2), 84), ((4, 4, 4), 53), ((8, 8), 59), ((0, 3, 5), 50), ((2, 3, 5), 50)]


@pytest.mark.parametrize("fold, n", FOLDS, ids=str)
@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("window", [0, 1])
def test_causal_reaches_every_past_token_and_no_future_one(fold, n, slots, window):
    seen = reach("summary", fold, n, slots, window=window and fold[-1])
    assert torch.equal(seen, torch.ones(n, n, dtype=torch.bool).tril())


@pytest.mark.parametrize("fold, share", [((8, 8), 0.62), ((4, 4, 4), 0.48), ((3, 3, 3, 3), 0.39)], ids=str)
def test_axial_sees_no_future_and_this_share_of_the_past(fold, share):
    n = math.prod(fold)
    seen = reach("axial", fold, n)
    assert not seen.triu(1).any()
    # Exactly the tokens that are not later along any mode.
    assert seen.sum() == math.prod(size * (size + 1) // 2 for size in fold)
    assert round(seen.sum().item() / (n * (n + 1) / 2), 2) == share


def test_pooled_sees_the_future():
    """Type pooled is rejected for causal models because every token depends on every other."""
    assert reach("pooled", (4, 4), 16, causal=False).all()


def weights_of(form, fold, q, k):
    """The matrix [n, n] that the attention of one head applies to the values."""
    n = math.prod(fold)
    return ops.tensor_attention(q, k, torch.eye(n, dtype=q.dtype).reshape(1, n, 1, n), None, None, None, None, form=form, fold=list(fold), causal=False)[0, :, 0]


@pytest.mark.parametrize("first, second", [((3, 4), (4, 3)), ((5, 2), (2, 5))], ids=str)
def test_pooled_is_a_kronecker_product_in_any_order_and_axial_a_product_of_blocks_whose_order_matters(first, second):
    """Tensorized Attention, Figure 2 and Equations 3 and 4. `second` is the fold with the modes exchanged, and its tokens in that order."""
    rand = drawer(torch.float64, seed=5)
    m, n = first
    size, d = m * n, m * n
    q, k = rand(1, size, 1, d), rand(1, size, 1, d)
    exchanged = torch.arange(size).reshape(m, n).T.flatten()
    grid_q, grid_k = q.reshape(m, n, d), k.reshape(m, n, d)

    pooled = weights_of("pooled", first, q, k)
    rows = torch.softmax(torch.einsum("and,bnd->ab", grid_q, grid_k) / math.sqrt(n * d), 1)
    columns = torch.softmax(torch.einsum("mad,mbd->ab", grid_q, grid_k) / math.sqrt(m * d), 1)
    torch.testing.assert_close(pooled, torch.kron(rows, columns), rtol=1e-12, atol=1e-14)
    other = weights_of("pooled", second, q[:, exchanged], k[:, exchanged])
    torch.testing.assert_close(other, pooled[exchanged][:, exchanged], rtol=1e-12, atol=1e-14)

    axial = weights_of("axial", first, q, k)
    along_rows = torch.softmax(torch.einsum("and,bnd->nab", grid_q, grid_k) / math.sqrt(d), 2)
    along_columns = torch.softmax(torch.einsum("mad,mbd->mab", grid_q, grid_k) / math.sqrt(d), 2)
    row_blocks = torch.zeros(m, n, m, n, dtype=torch.float64)
    for j in range(n):
        row_blocks[:, j, :, j] = along_rows[j]
    row_blocks, column_blocks = row_blocks.reshape(size, size), torch.block_diag(*along_columns)
    torch.testing.assert_close(axial, column_blocks @ row_blocks, rtol=1e-12, atol=1e-14)
    other = weights_of("axial", second, q[:, exchanged], k[:, exchanged])
    torch.testing.assert_close(other, (row_blocks @ column_blocks)[exchanged][:, exchanged], rtol=1e-12, atol=1e-14)
    assert (column_blocks @ row_blocks - row_blocks @ column_blocks).abs().max() > 0.01


@pytest.mark.parametrize("n", [1500, 2300])
@pytest.mark.parametrize("options", [dict(fold=(0, 16, 8), slots=2, window=40), dict(fold=(0, 100), slots=1, window=1100),
                                     dict(fold=(0, 7, 5, 3), slots=1), dict(fold=(2, 16, 8), slots=2), dict(form="lambda", window=900, sinks=3)], ids=str)
def test_strips_and_chunks_meet(n, options):
    """Sequences longer than the kernel's strips and chunks: values and gradients against the reference kernel."""
    rand = drawer(torch.float64, seed=2)
    args, kwargs = sequences(lambda *s: rand(*s, grad=True), 1, n, 2, 1, 6, codes=2, **options)
    weights = rand(1, n, 2, 6)
    leaves = [a for a in args[:4] if a is not None]
    out = ops.tensor_attention(*args, **kwargs)
    grads = torch.autograd.grad((out * weights).sum(), leaves)
    ops.use_reference(True)
    try:
        strips = ops.tensor_attention(*args, **kwargs)
        torch.testing.assert_close(out, strips, rtol=1e-11, atol=1e-12)
        for own, other in zip(grads, torch.autograd.grad((strips * weights).sum(), leaves)):
            torch.testing.assert_close(own, other, rtol=1e-10, atol=1e-11)
    finally:
        ops.use_reference(False)
    step = 1e-6
    for leaf, grad in zip(leaves, grads):
        direction = rand(*leaf.shape)
        moved = [[leaf + sign * step * direction if a is leaf else a for a in args] for sign in (1, -1)]
        high, low = ((ops.tensor_attention(*m, **kwargs) * weights).sum() for m in moved)
        assert ((high - low) / (2 * step)).item() == pytest.approx((grad * direction).sum().item(), rel=1e-6, abs=1e-5)


def test_the_tiled_kernel_ran_and_says_so():
    args, kwargs = sequences(drawer(torch.float32), 1, 33, 2, 1, 8, fold=(0, 4, 4), slots=2)
    ops.tensor_attention(*args, **kwargs)
    assert ops.last_kernel("summary_attention") == "tiled"
    ops.use_reference(True)
    ops.tensor_attention(*args, **kwargs)
    ops.use_reference(False)
    assert ops.last_kernel("summary_attention") == "reference"


def test_mean_pooling_is_where_latents_begin():
    """With zero latents a summary token is the mean of its block, so that a block of equal tokens acts like one of them."""
    rand = drawer(torch.float64)
    k, v = rand(1, 1, 1, 4).expand(1, 12, 1, 4), rand(1, 1, 1, 4).expand(1, 12, 1, 4)
    out = ops.tensor_attention(rand(1, 12, 1, 4), k, v, torch.zeros(1, 1, 2, 4, dtype=torch.float64), fold=[0, 4])
    torch.testing.assert_close(out, v)


def test_blocks_beyond_the_known_ones_share_their_weight():
    """Equal keys: the outermost blocks have the total weight of n_1 blocks, for any number of blocks."""
    n, k = 64, torch.zeros(1, 64, 1, 4, dtype=torch.float64)
    v = torch.arange(n, dtype=torch.float64).ge(60).double().view(1, n, 1, 1)  # 1 for tokens of the last block
    out = ops.tensor_attention(k, k, v, torch.zeros(1, 1, 1, 4, dtype=torch.float64), fold=[3, 4], window=4)[0, :, 0, 0]
    # Token 63 attends to four tokens of value 1 and 15 blocks of value 0 with total weight three.
    assert out[63].item() == pytest.approx(4 / 7, abs=1e-15)
    free = ops.tensor_attention(k, k, v, torch.zeros(1, 1, 1, 4, dtype=torch.float64), fold=[0, 4], window=4)[0, :, 0, 0]
    assert free[63].item() == pytest.approx(4 / 19, abs=1e-15)


def test_a_target_beyond_the_vocabulary_is_named():
    hidden, head = torch.zeros(3, 2), torch.zeros(5, 2)
    for name in ("language_loss", "token_losses"):
        with pytest.raises(IndexError) as error:
            getattr(ops, name)(hidden, head, torch.tensor([4, -1, 5]))
        assert str(error.value).splitlines()[0] == "language_loss: targets must be below the vocabulary size 5, got 5"


def test_the_loss_of_a_large_vocabulary_is_summed_in_strips():
    """A strip of the reference has 2^24 logits: 279 tokens of 60,000 words."""
    rand = drawer(torch.float64)
    hidden, head = rand(600, 3, grad=True), rand(60_000, 3, grad=True)
    targets = torch.arange(600) * 97 % 60_000
    targets[::7] = -1
    wanted = torch.nn.functional.cross_entropy(hidden @ head.T, targets, ignore_index=-1)
    ops.use_reference(True)
    try:
        loss = ops.language_loss(hidden, head, targets)
        losses = ops.token_losses(hidden.detach(), head.detach(), targets)
        found = torch.autograd.grad(loss, (hidden, head))
    finally:
        ops.use_reference(False)
    torch.testing.assert_close(loss, wanted, rtol=1e-12, atol=0)
    torch.testing.assert_close(losses.sum() / targets.ge(0).sum(), wanted.detach(), rtol=1e-12, atol=0)
    for own, other in zip(found, torch.autograd.grad(wanted, (hidden, head))):
        torch.testing.assert_close(own, other, rtol=1e-10, atol=1e-16)


def test_frequencies_of_a_level_act_on_its_blocks_alone():
    rand = drawer(torch.float64)
    args, kwargs = sequences(rand, 1, 24, 1, 1, 4, fold=(0, 4), slots=1)
    args = list(args)
    args[4] = frequency_rows(2, 4)
    near = ops.tensor_attention(*args, **kwargs)
    args[4] = torch.stack([args[4][0], args[4][1] * 3])
    far = ops.tensor_attention(*args, **kwargs)
    assert torch.equal(near[:, :4], far[:, :4]) and not torch.allclose(near[:, 8:], far[:, 8:])


@pytest.mark.parametrize("isa", list(ops.available_isas()))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_a_row_without_keys_is_zero_and_has_no_gradient(causal, dtype, isa):
    """By the kernels of the CPU and by the reference; the other rows see their keys, of a mask and of the order at once."""
    ops.use_isa(isa)
    rand = drawer(dtype, 2)
    n = 37
    kept = torch.rand(2, 1, n, n, generator=torch.Generator().manual_seed(3)) < 0.5
    kept[0, 0, 5] = False
    kept[1, 0, :, 0] = False  # the first row of a causal mask
    q, k, v = rand(2, n, 4, 8), rand(2, n, 2, 8), rand(2, n, 4, 3)
    wide = [t.double().requires_grad_() for t in (q, k, v)]
    wanted = formulas.dot_product_attention(*wide, kept, causal, 0.4)
    slopes = torch.autograd.grad(wanted.sum(), wide)
    for reference in (False, True):
        ops.use_reference(reference)
        leaves = [t.detach().requires_grad_() for t in (q, k, v)]
        out = ops.dot_product_attention(*leaves, kept, causal, 0.4)
        of_q, of_k, of_v = torch.autograd.grad(out.sum(), leaves)
        assert (out[0, 5] == 0).all() and (of_q[0, 5] == 0).all()
        assert not causal or ((out[1, 0] == 0).all() and (of_q[1, 0] == 0).all())
        tolerance = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 4e-2}[dtype]
        for got, exact in zip((out, of_q, of_k, of_v), (wanted, *slopes)):
            assert (got.double() - exact).abs().max() < tolerance * exact.abs().max()
    ops.use_reference(False)
    ops.use_isa(ops.available_isas()[-1])


@pytest.mark.parametrize("masked", [False, True])
def test_pooled_rows_of_tiny_weight_are_a_softmax(masked):
    """Cells without a token hold nearly all of the weight of some rows; sample 1 has small logits."""
    size = torch.tensor([9.0, 0.5, 14.0], dtype=torch.float64).view(3, 1, 1, 1)
    mask = None
    if masked:
        mask = torch.ones(3, 21, dtype=torch.bool)
        mask[:, [0, 4, 11, 12]] = False
    args, kwargs = sequences(drawer(torch.float64, seed=5), 3, 21, 2, 2, 8, fold=(5, 5), form="pooled", causal=False, mask=mask)
    q, k, v = [(x.detach() * scale).requires_grad_() for x, scale in zip(args[:3], (size, size, 1.0))]
    out, wanted = (run(q, k, v, *args[3:], **kwargs) for run in (ops.tensor_attention, tensor_formula))
    torch.testing.assert_close(out, wanted, rtol=1e-9, atol=1e-10)
    slope = drawer(torch.float64, seed=6)(*out.shape).detach()
    for grad, expected in zip(torch.autograd.grad(out, (q, k, v), slope), torch.autograd.grad(wanted, (q, k, v), slope)):
        torch.testing.assert_close(grad, expected, rtol=1e-7, atol=1e-7)

    single = [x.detach().float().requires_grad_() for x in (q, k, v)]
    out = ops.tensor_attention(*single, *args[3:], **kwargs)
    torch.testing.assert_close(out.double(), wanted, rtol=0, atol=1e-3)
    out.square().sum().backward()
    assert all(x.grad.isfinite().all() for x in single)
    alone = [x[1:2] for x in single]
    alone = ops.tensor_attention(*alone, *args[3:6], None if mask is None else mask[1:2], **kwargs)
    assert torch.equal(out[1:2], alone)
