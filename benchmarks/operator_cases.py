"""Operators and their plain PyTorch equivalents, the cases of operator_errors.py.

A case draws its tensors (by name) and returns the operator and the plain version as functions of them: torch's own function where there
is one, else the reference formula of the tests (tests/python/ops_formulas.py and ops_sequence_formulas.py). Sizes are those of small
models.
"""

import math
import pathlib
import sys

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python"))
import ops_formulas as formulas
import ops_sequence_formulas as sequence_formulas

ops = torch.ops.modewise
CASES = {}
FLOAT32_ONLY = {"adam_step", "update_moments", "summary_join"}  # their in-place arguments are always float32 in training
STARTS = {"language_loss"}  # losses: the incoming gradient is 1


class Draw:
    """Random float32 tensors of one seed; weights(out, in) are scaled to preserve the variance of the input."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, *shape):
        return torch.randn(shape, generator=self.generator)

    def weights(self, *shape):
        return self(*shape) / math.sqrt(shape[-1])

    def integers(self, high, *shape):
        return torch.randint(high, shape, generator=self.generator)

    def kept(self, *shape):
        return torch.rand(shape, generator=self.generator) < 0.7


def case(name):
    def keep(make):
        CASES[name] = make
        return make

    return keep


def heads_first(t):
    return t.transpose(1, 2)


# ---- matrix products

def linear_case(rows, depth, out):
    def make(draw):
        return {"x": draw(rows, depth), "weight": draw.weights(out, depth), "bias": draw(out)}, ops.linear, F.linear

    return make


for rows, depth, out in ((1024, 128, 256), (1024, 512, 128), (33, 2049, 65)):
    case(f"linear, {depth} → {out}")(linear_case(rows, depth, out))


@case("matmul")
def matmul(draw):
    return {"a": draw(4, 65, 300), "b": draw(4, 300, 63)}, ops.matmul, torch.matmul


@case("convolution")
def convolution(draw):
    tensors = {"x": draw(4, 17, 17, 33), "weight": draw.weights(31, 33, 3, 3) / 10, "bias": draw(31)}
    plain = lambda x, w, b: F.conv2d(x.movedim(-1, 1), w, b, 1, 1, 1).movedim(1, -1)
    return tensors, lambda x, w, b: ops.convolution(x, w, b, [1, 1], [1, 1], [1, 1]), plain


@case("mode_product")
def mode_product(draw):
    return ({"x": draw(4, 21, 24, 64), "factor": torch.softmax(draw(4, 4, 21, 21), -1)},
            lambda x, a: ops.mode_product(x, a, 0), lambda x, a: formulas.mode_product(x, a, 0))


@case("mode_contract")
def mode_contract(draw):
    return ({"a": draw(4, 21, 24, 64), "x": draw(4, 21, 24, 64)},
            lambda a, x: ops.mode_contract(a, x, 0, 4), lambda a, x: formulas.mode_contract(a, x, 0, 4))


@case("feed_forward, SwiGLU")
def gated_feed_forward(draw):
    tensors = {"x": draw(512, 128), "first": draw.weights(512, 128), "second": draw.weights(128, 512), "gate": draw.weights(512, 128)}
    return tensors, ops.feed_forward, lambda x, first, second, gate: F.linear(F.silu(F.linear(x, gate)) * F.linear(x, first), second)


@case("feed_forward, GELU")
def feed_forward(draw):
    tensors = {"x": draw(512, 128), "first": draw.weights(512, 128), "second": draw.weights(128, 512), "first_bias": draw(512),
               "second_bias": draw(128)}
    return (tensors, lambda x, first, second, b, c: ops.feed_forward(x, first, second, None, b, c),
            lambda x, first, second, b, c: F.linear(F.gelu(F.linear(x, first, b)), second, c))


# ---- norms, activations, sums

@case("layer_norm")
def layer_norm(draw):
    return ({"x": 2 * draw(512, 128) + 1, "weight": draw(128), "bias": draw(128)}, ops.layer_norm,
            lambda x, weight, bias: F.layer_norm(x, (128,), weight, bias))


@case("rms_norm")
def rms_norm(draw):
    return {"x": 2 * draw(512, 128) + 1, "weight": draw(128)}, ops.rms_norm, lambda x, weight: F.rms_norm(x, (128,), weight, 1e-5)


DROPPED = 0.1, 1, 2, 16  # rate, seed, step, site


def dropped(x):
    """Dropout of x with the operator's own mask, which does not depend on the dtype."""
    kept = ops.dropout_add(None, torch.ones(x.shape, dtype=torch.float64), *DROPPED) > 0
    return x * kept.to(x.dtype).div(1 - DROPPED[0])  # as in torch's dropout


@case("dropout_add")
def dropout_add(draw):
    return {"residual": draw(512, 128), "x": draw(512, 128)}, lambda r, x: ops.dropout_add(r, x, *DROPPED), lambda r, x: r + dropped(x)


@case("dropout_add_norm")
def dropout_add_norm(draw):
    def plain(residual, x, weight, bias):
        total = residual + dropped(x)
        return total, F.layer_norm(total, (128,), weight, bias)

    tensors = {"residual": draw(512, 128), "x": draw(512, 128), "weight": draw(128), "bias": draw(128)}
    return tensors, lambda r, x, weight, bias: ops.dropout_add_norm(r, x, *DROPPED, weight, bias), plain


@case("swiglu")
def swiglu(draw):
    def plain(x):
        gate, up = x.chunk(2, -1)
        return F.silu(gate) * up

    return {"gate_and_up": 2 * draw(512, 256)}, ops.swiglu, plain


@case("sum_of_squares")
def sum_of_squares(draw):
    """Sums of 64 tensors, because one number per seed is not enough."""
    return ({"x": draw(64, 5000)}, lambda x: torch.stack([ops.sum_of_squares(row) for row in x]),
            lambda x: torch.stack([row.float().square().sum() if row.dtype == torch.bfloat16 else row.square().sum() for row in x]))


@case("batch_norm")
def batch_norm(draw):
    norm = torch.nn.functional.batch_norm
    return ({"x": draw(2048, 128) + 0.5, "weight": draw(128), "bias": draw(128)}, lambda *args: ops.batch_norm(*args)[0],
            lambda x, weight, bias: norm(x, None, None, weight, bias, training=True))


@case("masked_moments")
def masked_moments(draw):
    mask = draw.kept(1024)
    return ({"rows": draw(1024, 128) + 0.5}, lambda rows: ops.masked_moments(rows, mask)[:2],
            lambda rows: (rows[mask].mean(0), rows[mask].var(0, correction=0)))


def changed(op, places):
    """An in-place operator on its arguments at `places` as a function that returns them."""
    def call(*args):
        args = [arg.clone() if i in places else arg for i, arg in enumerate(args)]
        op(*args)
        return tuple(args[i] for i in places)

    return call


@case("update_moments")
def update_moments(draw):
    count, momentum = torch.tensor(37.0, dtype=torch.float64), 0.1
    tensors = {"running_mean": draw(4096), "running_var": draw(4096).square(), "mean": draw(4096), "var": draw(4096).square()}
    return (tensors, lambda *t: changed(ops.update_moments, (0, 1))(*t, count, momentum),
            lambda *t: formulas.update_moments(*t, count, momentum))


@case("adam_step")
def adam_step(draw):
    numbers = 0.9, 0.999, 1e-8, 0.01, 0.5
    tensors = {"parameter": draw(4096), "gradient": draw(4096), "first_moment": draw(4096), "second_moment": draw(4096).square()}
    return (tensors, lambda *t: changed(ops.adam_step, (0, 2, 3))(*t, *numbers), lambda *t: formulas.adam_step(*t, *numbers))


# ---- attention over modes

for pooling in ("sum", "mean"):
    case(f"mode_pool, {pooling}")(lambda draw, pooling=pooling: (
        {"x": draw(4, 21, 24, 64)}, lambda x: ops.mode_pool(x, pooling), lambda x: formulas.mode_pool(x, pooling)))


@case("mode_scores")
def mode_scores(draw):
    return {"q": 2 * draw(4, 33, 64), "k": draw(4, 33, 64)}, lambda q, k: ops.mode_scores(q, k, 4), lambda q, k: formulas.mode_scores(q, k, 4)


@case("rotary")
def rotary(draw):
    angles = formulas.rotary_angles(65, 32)
    return {"x": draw(4, 65, 4, 32)}, lambda x: ops.rotary(x, angles), lambda x: formulas.rotary(x, angles)


def plain_scores(x, qw, qb, kw, kb, qnw, qnb, knw, knb, heads):
    """S_i in the released order: project every token, pool, norm; then the scores."""
    out = []
    for mode in range(x.dim() - 2):
        others, d, sides = [i + 1 for i in range(x.dim() - 2) if i != mode], x.size(-1), []
        for w, b, nw, nb in ((qw, qb, qnw, qnb), (kw, kb, knw, knb)):
            rows = slice(mode * d, (mode + 1) * d)
            pooled = F.linear(x, w[rows], b[rows]).sum(others).unflatten(-1, (heads, -1))
            sides.append(F.layer_norm(pooled, (d // heads,), nw, nb).transpose(1, 2))
        out.append(torch.softmax(sides[0] @ sides[1].mT / math.sqrt(d // heads), -1))
    return out


def plain_attention(x, value, *weights, heads):
    for mode, scores in enumerate(plain_scores(x, *weights, heads)):
        value = formulas.mode_product(value, scores, mode)
    return value


def attention_weights(draw, width, heads, modes=2):
    norm = lambda: {"weight": 1 + 0.1 * draw(width // heads), "bias": 0.1 * draw(width // heads)}
    out = {f"{side}_{part}": draw.weights(modes * width, width) if part == "weight" else draw(modes * width)
           for side in ("query", "key") for part in ("weight", "bias")}
    return out | {f"{side}_norm_{part}": t for side in ("query", "key") for part, t in norm().items()}


@case("kronecker_attention")
def kronecker_attention(draw):
    tensors = {"x": draw(4, 11, 12, 64), "value": draw(4, 11, 12, 64), **attention_weights(draw, 64, 4)}
    return tensors, lambda *t: ops.kronecker_attention(*t, heads=4), lambda *t: plain_attention(*t, heads=4)


@case("kronecker_attention, linear")
def linear_kronecker_attention(draw):
    weights = {name: t for name, t in attention_weights(draw, 64, 4).items() if "norm" not in name}
    options = dict(heads=4, pooling="mean", kernel="linear", features=32)
    return ({"x": draw(4, 11, 12, 64), "value": draw(4, 11, 12, 64), **weights},
            lambda *t: ops.kronecker_attention(*t, **options), lambda *t: formulas.kronecker_attention(*t, **options))


@case("mode_attention")
def mode_attention(draw):
    tensors = {"x": draw(4, 11, 12, 64), **attention_weights(draw, 64, 4)}
    return tensors, lambda *t: ops.mode_attention(*t, heads=4), lambda *t: plain_scores(*t, heads=4)


@case("full_attention")
def full_attention(draw):
    split = lambda t: heads_first(t.flatten(1, -2).unflatten(-1, (4, -1)))
    plain = lambda q, k, v: heads_first(F.scaled_dot_product_attention(split(q), split(k), split(v))).reshape(q.shape)
    return {n: draw(2, 11, 12, 64) for n in "qkv"}, lambda q, k, v: ops.full_attention(q, k, v, 4), plain


@case("axis_attention")
def axis_attention(draw):
    def plain(q, k, v):
        b, n, m, d = q.shape
        split = lambda t: t.unflatten(-1, (4, -1)).movedim(1, 3).flatten(0, 1)  # [B·N_2, H, N_1, d]
        return F.scaled_dot_product_attention(split(q), split(k), split(v)).unflatten(0, (b, m)).movedim(3, 1).reshape(q.shape)

    return {n: draw(2, 31, 12, 64) for n in "qkv"}, lambda q, k, v: ops.axis_attention(q, k, v, 4, 0), plain


# ---- attention over sequences

@case("dot_product_attention")
def dot_product_attention(draw):
    plain = lambda q, k, v: heads_first(F.scaled_dot_product_attention(*map(heads_first, (q, k, v)), is_causal=True))
    return {n: draw(2, 200, 4, 32) for n in "qkv"}, lambda q, k, v: ops.dot_product_attention(q, k, v, None, True, 32**-0.5), plain


def plain_causal(q, k, v, latents):
    """Fold n·4·5 and window 10: tokens and summary tokens of complete blocks as one masked list of keys."""
    q, k, v, n = *map(heads_first, (q, k, v)), q.size(1)
    token, keys, values, masks = torch.arange(n)[:, None], [k], [v], []
    masks.append((torch.arange(n) <= token) & (torch.arange(n) > token - 10))
    for level, (size, tokens, group) in enumerate(((5, 5, 4), (4 * latents.size(2), 20, n))):
        blocks = keys[-1].size(2) // size
        parts = [kept[-1][:, :, : blocks * size].unflatten(2, (blocks, size)) for kept in (keys, values)]
        weights = torch.softmax(latents[level][:, None] @ parts[0].mT, -1)  # [B, G, blocks, r, rows of a block]
        for kept, part in zip((keys, values), parts):
            kept.append((weights @ part).flatten(2, 3))
        block, own = torch.arange(blocks).repeat_interleave(latents.size(2)), token // tokens
        masks.append((block < own) & (block >= own // group * group))
    out = F.scaled_dot_product_attention(q, torch.cat(keys, 2), torch.cat(values, 2), attn_mask=torch.cat(masks, 1))
    return heads_first(out)


@case("tensor_attention, summary")
def tensor_attention(draw):
    tensors = {**{n: draw(2, 90, 2, 32) for n in "qkv"}, "latents": draw(2, 2, 2, 32)}
    return tensors, lambda *t: ops.tensor_attention(*t, form="summary", fold=[0, 4, 5], window=10), plain_causal


for form, options, kept in (("window", dict(window=24), lambda n: torch.ones(n, n, dtype=torch.bool).tril().triu(-23)),
                            ("full", {}, lambda n: torch.ones(n, n, dtype=torch.bool).tril())):
    case(f"tensor_attention, {form}")(lambda draw, form=form, options=options, kept=kept: (
        {n: draw(2, 200, 4, 32) for n in "qkv"}, lambda *t: ops.tensor_attention(*t, form=form, **options),
        lambda *t: heads_first(F.scaled_dot_product_attention(*map(heads_first, t), attn_mask=kept(200)))))

def along_modes(q, k, v, attend):
    """attend(q, k, v), [B, H, N, rest, d] each, along mode 0 and then mode 1 of the fold 6·8."""
    q, k, v = (t.unflatten(1, (6, 8)) for t in (q, k, v))
    for mode in (1, 2):
        first = lambda t: t.movedim((3, mode), (1, 2))
        v = attend(first(q), first(k), first(v)).movedim((1, 2), (3, mode))
    return v.flatten(1, 2)


def attend_fibres(q, k, v):
    fibres = lambda t: t.movedim(3, 1).flatten(0, 1)  # [B·rest, H, N, d]
    return F.scaled_dot_product_attention(*map(fibres, (q, k, v))).unflatten(0, (q.size(0), -1)).movedim(1, 3)


def attend_shared(q, k, v):
    weights = torch.softmax(q.flatten(3) @ k.flatten(3).mT / math.sqrt(q[0, 0, 0].numel()), -1)
    return (weights @ v.flatten(3)).view(v.shape)


for form, attend in (("axial", attend_fibres), ("pooled", attend_shared)):
    case(f"tensor_attention, {form}")(lambda draw, form=form, attend=attend: (
        {n: draw(2, 48, 2, 16) for n in "qkv"}, lambda *t: ops.tensor_attention(*t, form=form, fold=[6, 8], causal=False),
        lambda *t: along_modes(*t, attend)))


@case("nystroem_attention")
def nystroem_attention(draw):
    return ({**{n: draw(2, 96, 2, 16) for n in "qkv"}, "kernel": draw(2, 5)}, lambda *t: ops.nystroem_attention(*t, None, landmarks=8),
            lambda *t: sequence_formulas.nystroem_attention(*t, None, landmarks=8))


def plain_hashed(q, v, normal, chunk):
    """One round of two buckets: masked softmax over full matrices, with the tokens of the same bucket in the same chunk and
    the previous one."""
    x, n = heads_first(q), q.size(1)
    keys = x / (x.square().sum(-1, keepdim=True) + 1e-6 * x.size(-1)).sqrt()
    bucket = torch.einsum("bhnd,hd->bhn", x, normal.to(x.dtype)) < 0
    chunks = (bucket * n + torch.arange(n)).argsort(-1).argsort(-1) // chunk
    back = chunks.unsqueeze(-1) - chunks.unsqueeze(-2)
    seen = (bucket.unsqueeze(-1) == bucket.unsqueeze(-2)) & ((back == 0) | (back == 1))
    logits = (x @ keys.mT).masked_fill(~seen, -math.inf) - 1e5 * torch.eye(n, dtype=x.dtype)
    return heads_first(torch.softmax(logits, -1) @ heads_first(v))


@case("hashed_attention")
def hashed_attention(draw):
    """Two buckets, and queries so far from their boundary that rounding changes no bucket."""
    normal = F.normalize(draw(1, 2, 16, 1), dim=2)
    q = draw(2, 64, 2, 16)
    along = torch.einsum("bnhd,hd->bnh", q, normal[0, :, :, 0]).unsqueeze(-1)
    q = q + normal[0, :, :, 0] * (2 * along.sign() - along)
    return ({"q": q, "v": draw(2, 64, 2, 16)}, lambda q, v: ops.hashed_attention(q, v, normal.to(q.dtype), chunk=16),
            lambda q, v: plain_hashed(q, v, normal[0, :, :, 0], 16))


@case("synthesized_attention, dense")
def dense_synthesizer(draw):
    plain = lambda v, left, right: torch.einsum("bhnm,bmhe->bnhe", torch.softmax(torch.einsum("bnhc,bmhc->bhnm", left, right), -1), v)
    return ({"v": draw(2, 96, 2, 32), "left": draw(2, 96, 2, 16) / 4, "right": draw(2, 96, 2, 16)},
            lambda v, left, right: ops.synthesized_attention(v, left, right, None, None, 96), plain)


@case("synthesized_attention, factors")
def factor_synthesizer(draw):
    def plain(v, outer, inner):
        logits = torch.stack([torch.kron(a, b) for a, b in zip(outer, inner)])
        return torch.einsum("hnm,bmhe->bnhe", torch.softmax(logits, -1), v)

    return ({"v": draw(2, 96, 2, 32), "outer": draw(2, 8, 8), "inner": draw(2, 12, 12)},
            lambda v, outer, inner: ops.synthesized_attention(v, None, None, outer, inner, 96), plain)


@case("summary_step")
def summary_step(draw):
    """Only its result: a token attends to its window and to two levels of summary tokens."""
    names = ("q", "k", "v", "turned", "ring_keys", "ring_values", "first_keys", "first_values", "keys_1", "values_1", "keys_2", "values_2")
    rows = (1, 1, 1, 1, 32, 32, 2, 2, 24, 24, 16, 16)

    def ours(q, k, v, turned, ring_keys, ring_values, first_keys, first_values, *slots):
        states = [t.clone() for t in (ring_keys, ring_values, first_keys, first_values)]
        return ops.summary_step(q, k, v, turned, *states, list(slots[::2]), list(slots[1::2]), [1, 2], [0.0, 0.25], None, None, None,
                                None, None, None, [], 40, 32, 0.2, True)

    def plain(*t):
        return sequence_formulas.summary_step(*t[:8], *[None] * 6, slot_keys=t[8::2], slot_values=t[9::2], places=[1, 2],
                                              excess=[0.0, 0.25], gains=[], first=40, window=32, scale=0.2)[0]

    return {name: draw(8, count, 4, 32) for name, count in zip(names, rows)}, ours, plain


@case("summary_join")
def summary_join(draw):
    """Tokens update the partial blocks in order, in the plain version too."""
    def plain(keys, values, latents, *sums):
        for token in range(keys.size(1)):
            sums = sequence_formulas.joined(keys[:, token : token + 1], values[:, token : token + 1], latents, *sums)
        return sums

    tensors = {"keys": draw(8, 32, 4, 32), "values": draw(8, 32, 4, 32), "latents": draw(4, 2, 32) / 4, "high": draw(8, 4, 2, 1),
               "total": 1 + draw(8, 4, 2, 1).square(), "sum_keys": draw(8, 4, 2, 32), "sum_values": draw(8, 4, 2, 32)}
    return tensors, changed(ops.summary_join, (3, 4, 5, 6)), plain


# ---- language

def losses(draw):
    targets = draw.integers(300, 16, 12)
    return {"hidden": draw(16, 12, 64), "head": draw.weights(300, 64)}, targets


@case("language_loss")
def language_loss(draw):
    """Losses of 16 sequences."""
    tensors, targets = losses(draw)
    logits = lambda hidden, head: F.linear(hidden, head).float() if hidden.dtype == torch.bfloat16 else F.linear(hidden, head)
    return (tensors, lambda hidden, head: torch.stack([ops.language_loss(h, head, t) for h, t in zip(hidden, targets)]),
            lambda hidden, head: torch.stack([F.cross_entropy(logits(h, head), t) for h, t in zip(hidden, targets)]))


@case("token_losses")
def token_losses(draw):
    tensors, targets = losses(draw)

    def plain(hidden, head):
        logits = F.linear(hidden, head)
        return F.cross_entropy((logits.float() if logits.dtype == torch.bfloat16 else logits).mT, targets, reduction="none")

    return tensors, lambda hidden, head: ops.token_losses(hidden, head, targets), plain
