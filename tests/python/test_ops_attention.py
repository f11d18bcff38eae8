"""Properties of Kronecker attention: the papers' identities, masks, invariances and kernel linear."""

import math

import numpy
import pytest
import scipy.special
import torch

import ops_formulas as formulas
from ops_records import ops
from ops_samples import attention_arguments, bools, drawer


def random_factors(shape, heads, seed=0):
    rand = drawer(torch.float64, seed)
    return [torch.softmax(rand(shape[0], heads, n, n), -1) for n in shape[1:-1]]


def flat_heads(x, heads):
    """[B, N…, H·d] -> [B, H, N_1·…·N_k, d]"""
    return formulas.heads_first(x, heads).flatten(2, -2)


SHAPES = [(2, 5, 6), (2, 3, 5, 8), (1, 2, 3, 4, 6), (2, 2, 3, 1, 2, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_product_is_the_kronecker_matrix(shape):
    """HOT, Proposition 3.8, with numpy's kron as the oracle."""
    x, factors = drawer(torch.float64)(*shape), random_factors(shape, 2)
    out = x
    for mode, s in enumerate(factors):
        out = ops.mode_product(out, s, mode)
    for b in range(shape[0]):
        for h in range(2):
            matrix = numpy.ones((1, 1))
            for s in factors:
                matrix = numpy.kron(matrix, s[b, h].numpy())
            expected = matrix @ flat_heads(x, 2)[b, h].numpy()
            numpy.testing.assert_allclose(flat_heads(out, 2)[b, h].numpy(), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("combine", ["product", "sum", "mean"])
def test_attention_is_the_kronecker_matrix_of_its_maps(shape, combine):
    """Equations 3 and 4: product of the S_i, or (1/k times) their Kronecker sum, formed explicitly."""
    args = attention_arguments(drawer(torch.float64), shape, 2)
    value = args[1]
    out = ops.kronecker_attention(*args, heads=2, combine=combine)
    maps = ops.mode_attention(args[0], *args[2:], heads=2)
    sizes = shape[1:-1]
    for b in range(shape[0]):
        for h in range(2):
            if combine == "product":
                matrix = numpy.ones((1, 1))
                for s in maps:
                    matrix = numpy.kron(matrix, s[b, h].numpy())
            else:
                matrix = 0
                for i, s in enumerate(maps):
                    before, behind = math.prod(sizes[:i]), math.prod(sizes[i + 1 :])
                    matrix = matrix + numpy.kron(numpy.kron(numpy.eye(before), s[b, h].numpy()), numpy.eye(behind))
                matrix = matrix / (len(maps) if combine == "mean" else 1)
            rows = matrix.sum(1)
            numpy.testing.assert_allclose(rows, len(maps) if combine == "sum" else 1.0, rtol=1e-12)
            expected = matrix @ flat_heads(value, 2)[b, h].numpy()
            numpy.testing.assert_allclose(flat_heads(out, 2)[b, h].numpy(), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("combine, rows", [("product", 1), ("mean", 1), ("sum", 3)])
@pytest.mark.parametrize("kernel", ["softmax", "linear"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_rows_sum_to_one(combine, rows, kernel, masked, dtype):
    """Theorem 4.1, also with a token mask: attention to a constant value gives that constant."""
    shape = (3, 4, 5, 3, 8)
    args = list(attention_arguments(drawer(dtype), shape, 2))
    args[1] = torch.ones(shape, dtype=dtype)
    mask = bools(*shape[:-1], keep=0.4) if masked else None
    if masked:
        mask[2] = False
    out = ops.kronecker_attention(*args, heads=2, combine=combine, kernel=kernel, token_mask=mask)
    # In ulp: sums in float32 and float64 accumulate a few, bfloat16 is rounded once at the end.
    tolerance = (1 if dtype == torch.bfloat16 else 4) * torch.finfo(dtype).eps * rows
    wanted = torch.full_like(out, rows)
    if masked:
        wanted[2] = 0  # nothing to attend to
    torch.testing.assert_close(out, wanted, rtol=0, atol=tolerance)


def test_masked_product_is_the_renormalised_kronecker_matrix():
    shape, heads = (2, 3, 4, 5, 6), 2
    args = attention_arguments(drawer(torch.float64), shape, heads)
    mask = bools(*shape[:-1], keep=0.4)
    out = ops.kronecker_attention(*args, heads=heads, token_mask=mask)
    maps = ops.mode_attention(args[0], *args[2:], heads=heads, token_mask=mask)
    for b in range(shape[0]):
        for h in range(heads):
            matrix = numpy.ones((1, 1))
            for s in maps:
                matrix = numpy.kron(matrix, s[b, h].numpy())
            matrix = matrix * mask[b].flatten().numpy()
            matrix = matrix / matrix.sum(1, keepdims=True)
            expected = matrix @ flat_heads(args[1], heads)[b, h].numpy()
            numpy.testing.assert_allclose(flat_heads(out, heads)[b, h].numpy(), expected, rtol=1e-10, atol=1e-12)


def masked_attention(x, value, *weights, heads, combine, token_mask, mode_masks=None, dropout=0.0, **options):
    """Softmax over the valid cells of the whole logits: their sum over the modes, or those of one mode in its line."""
    sizes, modes = x.shape[1:-1], x.dim() - 2
    cell = torch.cartesian_prod(*[torch.arange(n) for n in sizes]).view(-1, modes)
    same = cell[:, None] == cell[None]  # coordinates of queries and keys
    valid = token_mask.flatten(1)[:, None, None, :]
    logits, allowed, kept = [], [], []
    sides = formulas.pooled_queries_keys(x, *weights, heads=heads, token_mask=token_mask, **options)
    for i, (q, k, _) in sides.items():
        q, k = (t.unflatten(-1, (heads, -1)).transpose(1, 2) for t in (q, k))
        rows, columns = cell[:, None, i], cell[None, :, i]
        logits.append((q @ k.transpose(-1, -2) / math.sqrt(q.size(-1)))[:, :, rows, columns])
        moved = list(sides) if combine == "product" else [i]
        reached = same.index_fill(-1, torch.tensor(moved), True).all(-1)
        allowed.append(reached if mode_masks is None else reached & mode_masks[i][rows, columns])
        ones = torch.ones(x.size(0), heads, sizes[i], sizes[i], dtype=x.dtype)
        if dropout:
            ones = formulas.dropout_add(None, ones, dropout, i * 0x9E3779B97F4A7C15 % 2**64, 0, 0)
        kept.append(ones[:, :, rows, columns])
    if combine == "product":
        logits, kept = [sum(logits)], [math.prod(kept)]
        allowed = [torch.stack(allowed).all(0)]
    terms, present = [], []
    for z, allow, keep in zip(logits, allowed, kept):
        allow = allow & valid
        present.append(allow.any(-1, keepdim=True))
        shares = torch.softmax(z.masked_fill(~allow, -1e300), -1).masked_fill(~allow, 0) * keep
        terms.append(shares @ flat_heads(value.masked_fill(~token_mask.unsqueeze(-1), 0), heads))
    if combine != "product":
        live = sum(p.to(x.dtype) for p in present).clamp_min(1) / (len(terms) if combine == "sum" else 1)
        terms = [sum(terms) / live]
    return terms[0].transpose(1, 2).unflatten(1, sizes).flatten(-2)


def far_apart_arguments(dtype, shape, heads):
    """Samples 0 and 2 have logits of some hundred, so that their valid cells have nearly no weight in the S_i."""
    args = list(attention_arguments(drawer(dtype), shape, heads, bias=False, norm=False))
    args[0] = args[0].detach() * torch.tensor([12.0, 0.2, 25.0], dtype=dtype).view(3, *[1] * (len(shape) - 1))
    return [a if a is None else a.detach().requires_grad_() for a in args]


@pytest.mark.parametrize("shape", [(3, 9, 4), (3, 4, 5, 6), (3, 3, 4, 2, 4)], ids=str)
@pytest.mark.parametrize("options", [dict(), dict(mode_masks=True), dict(dropout=0.3), dict(attend_modes=[0])], ids=str)
@pytest.mark.parametrize("combine", ["product", "sum", "mean"])
def test_masked_rows_of_tiny_weight_are_a_softmax(shape, options, combine):
    mask = bools(*shape[:-1], keep=0.6)
    mask[1, 1] = False
    if options.get("mode_masks"):
        options = dict(mode_masks=[bools(n, n, keep=0.7, seed=n) for n in shape[1:-1]])
    options = dict(heads=2, combine=combine, token_mask=mask, **options)
    args = far_apart_arguments(torch.float64, shape, 2)
    out = ops.kronecker_attention(*args, **options)
    wanted = masked_attention(*args, **options)
    torch.testing.assert_close(out, wanted, rtol=1e-9, atol=1e-9)

    slope = drawer(torch.float64, 9)(*shape).detach()
    inputs = [a for a in args if a is not None]
    for grad, expected in zip(torch.autograd.grad(out, inputs, slope), torch.autograd.grad(wanted, inputs, slope)):
        torch.testing.assert_close(grad, expected, rtol=1e-7, atol=1e-7)

    single = far_apart_arguments(torch.float32, shape, 2)
    out = ops.kronecker_attention(*single, **options)
    out.square().sum().backward()
    assert out.isfinite().all() and all(a.grad.isfinite().all() for a in single if a is not None)
    torch.testing.assert_close(out.double(), wanted, rtol=0, atol=2e-3)  # the logits have errors of 1e-4


@pytest.mark.parametrize("combine", ["product", "sum", "mean"])
@pytest.mark.parametrize("kernel", ["softmax", "linear"])
def test_masked_rows_of_tiny_weight_sum_to_one_in_every_dtype(combine, kernel):
    shape = (3, 4, 5, 6)
    mask = bools(*shape[:-1], keep=0.6)
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        args = far_apart_arguments(dtype, shape, 2)
        args[1] = torch.ones_like(args[1])
        out = ops.kronecker_attention(*args, heads=2, combine=combine, kernel=kernel, token_mask=mask)
        total = 2.0 if combine == "sum" else 1.0
        rows = torch.full_like(out, total)
        torch.testing.assert_close(out, rows, rtol=0, atol=8 * total * torch.finfo(dtype).eps)


@pytest.mark.parametrize("combine", ["product", "sum"])
def test_a_sample_of_tiny_weights_changes_no_bit_of_the_others(combine):
    shape = (3, 4, 5, 6)
    mask = bools(*shape[:-1], keep=0.6)
    args = far_apart_arguments(torch.float32, shape, 2)
    both = ops.kronecker_attention(*args, heads=2, combine=combine, token_mask=mask)
    for i in range(3):
        x, value = args[0][i : i + 1], args[1][i : i + 1]
        alone = ops.kronecker_attention(x, value, *args[2:], heads=2, combine=combine, token_mask=mask[i : i + 1])
        assert torch.equal(both[i : i + 1], alone)


@pytest.mark.parametrize("kernel", ["softmax", "linear"])
@pytest.mark.parametrize("combine", ["product", "sum", "mean"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("junk", [1e30, float("nan"), float("inf")])
def test_a_masked_cell_changes_no_bit(kernel, combine, dtype, junk):
    shape = (2, 5, 7, 8)
    mask = bools(*shape[:-1])

    def run(poison):
        args = [a if a is None else a.clone() for a in attention_arguments(drawer(dtype), shape, 2)]
        if poison:
            args[0][~mask] = junk
            args[1][~mask] = junk
        args = [a if a is None else a.requires_grad_() for a in args]
        out = ops.kronecker_attention(*args, heads=2, combine=combine, kernel=kernel, token_mask=mask, rope_modes=[1])
        out.float().square().sum().backward()
        assert (args[0].grad[~mask] == 0).all() and (args[1].grad[~mask] == 0).all()
        return [out] + [a.grad for a in args]

    for clean, poisoned in zip(run(False), run(True)):
        assert torch.equal(clean, poisoned)


@pytest.mark.parametrize("operator", ["full", "axis"])
def test_a_masked_cell_changes_no_bit_of_plain_attention(operator):
    shape = (2, 5, 7, 8)
    mask = bools(*shape[:-1])
    mask[1, 2] = False
    for dropout in (0.0, 0.2):

        def run(junk):
            rand = drawer(torch.float32)
            q, k, v = rand(*shape), rand(*shape), rand(*shape)
            k[~mask], v[~mask] = junk, junk
            if operator == "full":
                return ops.full_attention(q, k, v, 2, mask, dropout, 1, 2, 16)
            return ops.axis_attention(q, k, v, 2, 1, mask, None, dropout, 1, 2, 16)

        assert torch.equal(run(0.0), run(float("nan")))


def test_permutation_equivariance():
    """Without a rotary embedding, permuting a mode's positions permutes the output."""
    shape = (2, 5, 6, 3, 8)
    for combine in ("product", "sum", "mean"):
        args = list(attention_arguments(drawer(torch.float64), shape, 2))
        orders = [torch.randperm(n, generator=torch.Generator().manual_seed(n)) for n in shape[1:-1]]

        def permuted(t):
            for i, order in enumerate(orders):
                t = t.index_select(i + 1, order)
            return t

        out = ops.kronecker_attention(*args, heads=2, combine=combine)
        turned = ops.kronecker_attention(permuted(args[0]), permuted(args[1]), *args[2:], heads=2, combine=combine)
        torch.testing.assert_close(turned, permuted(out))
    ordered = ops.kronecker_attention(permuted(args[0]), permuted(args[1]), *args[2:], heads=2, rope_modes=[1])
    assert not torch.allclose(ordered, permuted(ops.kronecker_attention(*args, heads=2, rope_modes=[1])))


@pytest.mark.parametrize("combine", ["product", "sum", "mean"])
@pytest.mark.parametrize("pooling", ["sum", "mean"])
def test_one_mode_is_standard_attention(combine, pooling):
    rand = drawer(torch.float64)
    x, value, qw, qb, kw, kb, *_ = attention_arguments(rand, (3, 17, 24), 4, norm=False)
    out = ops.kronecker_attention(x, value, qw, qb, kw, kb, heads=4, combine=combine, pooling=pooling)
    head = lambda t: t.unflatten(-1, (4, 6)).transpose(1, 2)
    q, k = torch.nn.functional.linear(x, qw, qb), torch.nn.functional.linear(x, kw, kb)
    expected = torch.nn.functional.scaled_dot_product_attention(head(q), head(k), head(value))
    torch.testing.assert_close(out, expected.transpose(1, 2).flatten(-2))
    torch.testing.assert_close(ops.full_attention(q, k, value, 4), out)
    torch.testing.assert_close(ops.axis_attention(q, k, value, 4, 0), out)


def test_sum_and_mean_pooling_agree_behind_the_norm():
    """LayerNorm follows the pooling, so they differ only through its eps."""
    args = attention_arguments(drawer(torch.float64), (2, 9, 11, 16), 2)
    a = ops.kronecker_attention(*args, heads=2, pooling="sum")
    b = ops.kronecker_attention(*args, heads=2, pooling="mean")
    assert 0 < (a - b).abs().max() < 1e-3


def test_modes_that_are_not_attended_stay_apart():
    args = list(attention_arguments(drawer(torch.float64), (1, 4, 5, 8), 2))
    out = ops.kronecker_attention(*args, heads=2, attend_modes=[1])
    changed = args[1].clone()
    changed[:, 2] += 1
    args[1] = changed
    moved = (ops.kronecker_attention(*args, heads=2, attend_modes=[1]) - out).abs().amax((0, 2, 3))
    assert (moved > 0).tolist() == [False, False, True, False]


def test_dropout_draws_a_stream_a_mode_and_keeps_the_expectation():
    args = attention_arguments(drawer(torch.float32), (4, 9, 9, 16), 2)
    plain = ops.kronecker_attention(*args, heads=2)
    runs = torch.stack([ops.kronecker_attention(*args, heads=2, dropout=0.2, seed=3, step=s, site=16) for s in range(400)])
    standard_error = runs.std(0) / math.sqrt(400)
    assert ((runs.mean(0) - plain).abs() < 6 * standard_error + 1e-6).all()
    assert torch.equal(runs[7], ops.kronecker_attention(*args, heads=2, dropout=0.2, seed=3, step=7, site=16))
    assert not torch.equal(runs[0], ops.kronecker_attention(*args, heads=2, dropout=0.2, seed=3, step=0, site=17))


# ---- kernel linear ----


def regularised_kernel(q, k, heads):
    """Kernel estimated by features with uniform directions and lengths √d: the mean of exp(√d u·z) over unit vectors u
    is 0F1(; d/2; d|z|²/4), at z = q + k; a query's own factor cancels in the rows."""
    d = q.size(-1) // heads
    q, k = (formulas.heads_first(t, heads) / d**0.25 for t in (q, k))
    square = (q.unsqueeze(-2) + k.unsqueeze(-3)).square().sum(-1)
    mean = torch.from_numpy(scipy.special.hyp0f1(d / 2, (d * square / 4).numpy()))
    return torch.exp(-k.square().sum(-1) / 2).unsqueeze(-2) * mean


def linear_limit(args, feature_map):
    """Kernel linear with infinitely many features."""
    if feature_map == "softmax":
        return formulas.kronecker_attention(*args, heads=2)
    out = args[1]
    for mode, (q, k, _) in formulas.pooled_queries_keys(args[0], *args[2:], heads=2).items():
        kernel = regularised_kernel(q, k, 2)
        out = formulas.mode_product(out, kernel / kernel.sum(-1, keepdim=True), mode)
    return out


@pytest.mark.parametrize("feature_map", ["softmax", "regularised"])
def test_linear_form_converges_as_one_over_the_root_of_the_features(feature_map):
    """Queries and keys of length about 0.7: the kernel's variance grows as exp(|q + k|²), which would hide the rate."""
    args = list(attention_arguments(drawer(torch.float64), (1, 24, 20, 16), 2))
    gain = torch.full((8,), 0.25, dtype=torch.float64)
    args[6:] = gain, None, gain, None
    limit = linear_limit(args, feature_map)

    def error(features, seed):
        out = ops.kronecker_attention(*args, heads=2, kernel="linear", features=features, feature_map=feature_map,
                                      feature_seed=seed)
        return (limit - out).square().mean().sqrt().item()

    counts = [64, 256, 1024, 4096]
    errors = [numpy.mean([error(m, seed) for seed in range(16)]) for m in counts]
    slope = numpy.polyfit(numpy.log(counts), numpy.log(errors), 1)[0]
    assert -0.62 < slope < -0.38, (errors, slope)


def test_regularised_features_have_the_same_directions_and_one_length():
    like = torch.empty((), dtype=torch.float64)
    for width, features in [(16, 48), (8, 20), (5, 3), (1, 4)]:
        softmax, regularised = (ops.orthogonal_projection(like, width, features, 7, 2, r) for r in (False, True))
        torch.testing.assert_close(regularised.norm(dim=1), torch.full((features,), math.sqrt(width), dtype=torch.float64))
        torch.testing.assert_close(regularised, torch.nn.functional.normalize(softmax, dim=1) * math.sqrt(width))
        for rows, name in ((softmax, "softmax"), (regularised, "regularised")):
            torch.testing.assert_close(rows, formulas.random_projection(width, features, 7, 2, name))


def test_features_are_blocks_of_orthogonal_rows_with_gaussian_lengths():
    like = torch.empty((), dtype=torch.float64)
    for width, features in [(16, 48), (8, 20), (5, 3), (1, 4)]:
        rows = ops.orthogonal_projection(like, width, features, 7, 0)
        for first in range(0, features, width):
            block = torch.nn.functional.normalize(rows[first : first + width], dim=1)
            torch.testing.assert_close(block @ block.T, torch.eye(len(block), dtype=torch.float64), atol=1e-12, rtol=0)
    rows = ops.orthogonal_projection(like, 16, 40000, 3, 1)
    assert abs(rows.square().sum(1).mean() - 16) < 0.15 and abs(rows.square().sum(1).var() - 32) < 1.5
    assert abs(rows.mean()) < 0.01 and abs((rows**4).mean() - 3) < 0.1  # moments of a standard normal
    assert torch.equal(rows, ops.orthogonal_projection(like, 16, 40000, 3, 1))
    assert not torch.equal(rows[:48], ops.orthogonal_projection(like, 16, 48, 3, 0))
    assert not torch.equal(rows[:48], ops.orthogonal_projection(like, 16, 48, 4, 1))


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (-1, 2), (2**16, 2**15)])
def test_a_projection_has_rows_and_columns(sizes):
    with pytest.raises(ValueError) as error:
        ops.orthogonal_projection(torch.ones(1), *sizes, 0, 0)
    assert str(error.value) == (f"orthogonal_projection: width and features must be positive, and their product at most {2**31 - 1}, "
                                f"got {sizes[0]} and {sizes[1]}")


def test_linear_form_has_no_weights_to_drop():
    args = attention_arguments(drawer(torch.float32), (2, 3, 5, 16), 2)
    plain = ops.kronecker_attention(*args, heads=2, kernel="linear")
    assert torch.equal(ops.kronecker_attention(*args, heads=2, kernel="linear", dropout=0.5, seed=3, step=1, site=16), plain)


def test_linear_form_of_one_sample_does_not_see_the_others():
    args = list(attention_arguments(drawer(torch.float32), (4, 7, 9, 16), 2))
    out = ops.kronecker_attention(*args, heads=2, kernel="linear")
    alone = ops.kronecker_attention(args[0][1:2].clone(), args[1][1:2].clone(), *args[2:], heads=2, kernel="linear")
    changed = [args[0].clone(), args[1].clone()]
    changed[0][2:] *= 100
    changed[1][0] = 1e30
    beside = ops.kronecker_attention(*changed, *args[2:], heads=2, kernel="linear")
    assert torch.equal(out[1], beside[1])
    torch.testing.assert_close(out[1:2], alone)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0, 1e4])
def test_linear_form_is_finite_for_large_queries_and_keys(dtype, scale):
    args = list(attention_arguments(drawer(dtype), (2, 9, 11, 32), 2, norm=False))
    args[2], args[4] = args[2] * scale, args[4] * scale
    args = [a if a is None else a.detach().requires_grad_() for a in args]
    out = ops.kronecker_attention(*args, heads=2, kernel="linear", pooling="mean")
    out.float().square().mean().backward()
    assert out.isfinite().all()
    # Rows are averages: at most the largest value, up to rounding.
    assert out.abs().max() <= (1 + 2 * torch.finfo(dtype).eps) * args[1].abs().max()
    assert all(a.grad.isfinite().all() for a in args if a is not None)


def test_linear_form_default_features():
    """d·ceil(ln d), rounded up to a multiple of 8: 48 at d = 16."""
    args = attention_arguments(drawer(torch.float32), (1, 5, 6, 32), 2)
    assert torch.equal(ops.kronecker_attention(*args, heads=2, kernel="linear"),
                       ops.kronecker_attention(*args, heads=2, kernel="linear", features=48))
    assert not torch.equal(ops.kronecker_attention(*args, heads=2, kernel="linear"),
                           ops.kronecker_attention(*args, heads=2, kernel="linear", feature_seed=1))


@pytest.mark.parametrize("recomputed", [False, True])
@pytest.mark.parametrize("by_head", [False, True])
def test_masked_keys_reach_no_gradient_of_the_scores(by_head, recomputed):
    """NaN and infinities under the mask; the oracle softmax sees the other keys alone."""
    rand = drawer(torch.float64)
    q, k, weights = rand(2, 3, 8), rand(2, 5, 8), rand(2, 2, 3, 5)
    mask = bools(2, 2, 5, keep=0.6) if by_head else bools(2, 5, keep=0.6)
    by_heads = mask if by_head else mask[:, None].expand(2, 2, 5)
    bad = k.unflatten(-1, (2, 4)).masked_fill(~by_heads.transpose(1, 2).unsqueeze(-1), float("nan")).flatten(2).requires_grad_()
    asked = q.clone().requires_grad_()
    before = ops.set_recompute_mode(recomputed)
    scores = ops.mode_scores(asked, bad, 2, mask)
    ops.set_recompute_mode(before)
    got = torch.autograd.grad((scores * weights).sum(), (asked, bad))
    asked, kept = q.clone().requires_grad_(), k.clone().requires_grad_()
    total = sum((torch.softmax(asked[b].view(3, 2, 4)[:, h] @ kept[b].view(5, 2, 4)[by_heads[b, h], h].T / 2, -1) * weights[b, h][:, by_heads[b, h]]).sum()
                for b in range(2) for h in range(2))  # fmt: skip
    for mine, wanted in zip(got, torch.autograd.grad(total, (asked, kept))):
        torch.testing.assert_close(mine, wanted, rtol=1e-12, atol=1e-14)


# ---- infinities, NaN and extreme values ----


def test_scores_at_the_edge():
    huge = torch.tensor([[[1e4], [-1e4], [1e-42]]])
    out = ops.mode_scores(huge, torch.tensor([[[1.0], [-1.0], [0.0]]]), 1)
    torch.testing.assert_close(out[0, 0], torch.tensor([[1.0, 0, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3]]))
    for bad in (float("nan"), float("inf")):
        q = torch.ones(1, 3, 4)
        q[0, 1, 2] = bad
        out = ops.mode_scores(q, torch.ones(1, 3, 4), 2)
        assert out[0, 1, 1].isnan().all()  # the head and row that hold it
        assert out[0, 0].isfinite().all() and out[0, 1, 0].isfinite().all() and out[0, 1, 2].isfinite().all()


@pytest.mark.parametrize("isa", list(ops.available_isas()))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("masked_by", ["keys", "mode"])
@pytest.mark.parametrize("bad", [float("nan"), float("-inf")], ids=str)
def test_a_row_whose_first_keys_are_masked_keeps_what_is_not_a_number(isa, dtype, masked_by, bad):
    """Masked keys fill the first vectors of any width; the other keys make the logits NaN, or all −∞."""
    ops.use_isa(isa)
    n, masked = 35, 33
    q, k = torch.ones(1, n, 2, dtype=dtype), torch.ones(1, n, 2, dtype=dtype)
    k[0, masked:] = bad
    kept = torch.arange(n) >= masked
    mode_mask = torch.ones(n, n, dtype=torch.bool)
    mode_mask[3] = kept
    mode_mask[4] = False
    if masked_by == "keys":
        out = ops.mode_scores(q, k, 1, kept.unsqueeze(0))
        assert out[0, 0].isnan().all()
        assert (ops.mode_scores(q, k, 1, torch.zeros(1, n, dtype=torch.bool)) == 0).all()
    else:
        out = ops.mode_scores(q, k, 1, None, mode_mask)
        assert out[0, 0, 3].isnan().all()
        assert (out[0, 0, 4] == 0).all()  # nothing to attend to, whatever the values
    expected = formulas.mode_scores(q, k, 1, kept.unsqueeze(0) if masked_by == "keys" else None,
                                    mode_mask if masked_by == "mode" else None)
    torch.testing.assert_close(out, expected, equal_nan=True)
    ops.use_isa(ops.available_isas()[-1])


def test_softmax_error_in_roundings():
    rand = drawer(torch.float32, 3)
    q, k = rand(4, 65, 32) * 3, rand(4, 65, 32) * 3
    exact = formulas.mode_scores(q.double(), k.double(), 2)
    # The logits are rounded before the softmax, so the oracle gets logits rounded the same way.
    logits = (formulas.heads_first(q, 2) @ formulas.heads_first(k, 2).transpose(-1, -2)).double() / 4
    softmax = torch.softmax(logits, -1)
    assert ((ops.mode_scores(q, k, 2) - softmax).abs() / softmax).max() < 60 * torch.finfo(torch.float32).eps
    assert ((ops.mode_scores(q, k, 2) - exact).abs()).max() < 10 * torch.finfo(torch.float32).eps


def test_swiglu_at_the_edge():
    gate = torch.tensor([-1e4, -200.0, -100.0, -88.0, -1e-40, 0.0, 1e-40, 50.0, 1e4, float("inf"), float("nan")])
    out = ops.swiglu(torch.cat([gate, torch.ones_like(gate)]))
    expected = torch.nn.functional.silu(gate.double()).float()
    torch.testing.assert_close(out, expected, rtol=3e-7, atol=1e-37, equal_nan=True)


@pytest.mark.parametrize("isa", list(ops.available_isas()))
def test_swiglu_within_a_few_ulp(isa):
    ops.use_isa(isa)
    gate = torch.linspace(-30, 30, 200001)
    out = ops.swiglu(torch.stack([gate, torch.ones_like(gate)], -1).reshape(-1, 2).t().reshape(1, -1)).reshape(-1)
    exact = torch.nn.functional.silu(gate.double())
    assert ((out.double() - exact).abs() / exact.abs().clamp_min(1e-30)).max() < 2.5 * torch.finfo(torch.float32).eps
    ops.use_isa(ops.available_isas()[-1])


# ---- dropout's random numbers ----


def test_dropout_rate_and_independence():
    n = 1 << 20
    masks = [ops.dropout_add(None, torch.ones(n), 0.1, seed, step, site) != 0
             for seed, step, site in [(1, 0, 16), (2, 0, 16), (1, 1, 16), (1, 0, 17)]]
    for kept in masks:
        assert abs(kept.float().mean().item() - 0.9) < 5 * math.sqrt(0.09 / n)
    for other in masks[1:]:
        both = (~masks[0] & ~other).float().mean().item()
        assert abs(both - 0.01) < 5 * math.sqrt(0.01 / n)
    neighbours = (~masks[0][1:] & ~masks[0][:-1]).float().mean().item()
    assert abs(neighbours - 0.01) < 5 * math.sqrt(0.01 / n)


def test_dropout_gradient_uses_the_same_elements():
    x = torch.ones(1000, requires_grad=True)
    residual = torch.zeros(1000, requires_grad=True)
    out = ops.dropout_add(residual, x, 0.3, 5, 6, 16)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach()) and torch.equal(residual.grad, torch.ones(1000))


@pytest.mark.parametrize("isa", list(ops.available_isas()))
def test_dropout_has_the_same_elements_on_every_instruction_set(isa):
    best = ops.dropout_add(None, torch.ones(10007), 0.25, 2**40 + 7, 9, 30)
    ops.use_isa(isa)
    assert torch.equal(best, ops.dropout_add(None, torch.ones(10007), 0.25, 2**40 + 7, 9, 30))
    ops.use_isa(ops.available_isas()[-1])
