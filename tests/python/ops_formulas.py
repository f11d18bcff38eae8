"""Reference formulas of the operators in plain torch, written from the definitions. Operators over sequences are in
ops_sequence_formulas.py."""

import functools
import math

import numpy
import torch


def heads_first(x, heads):
    """[B, N…, H·d] -> [B, H, N…, d]"""
    return x.unflatten(-1, (heads, -1)).movedim(-2, 1)


def mode_product(x, factor, mode):
    if factor.dim() == 2:
        return torch.tensordot(x, factor.to(x.dtype), dims=([mode + 1], [1])).movedim(-1, mode + 1)
    heads = factor.size(1)
    moved = heads_first(x, heads).movedim(mode + 2, -1)  # [B, H, others…, d, N]
    extra = (1,) * (moved.dim() - 4)
    a = factor.to(x.dtype).transpose(-1, -2)
    out = moved @ a.reshape(*a.shape[:2], *extra, *a.shape[2:])
    return out.movedim(-1, mode + 2).movedim(1, -2).flatten(-2)


def convolution(x, weight, bias, stride, padding, dilation):
    function = [torch.nn.functional.conv1d, torch.nn.functional.conv2d, torch.nn.functional.conv3d][x.dim() - 3]
    return function(x.movedim(-1, 1), weight, bias, stride, padding, dilation).movedim(1, -1).contiguous()


def dot_product_attention(q, k, v, mask=None, causal=False, scale=1.0):
    """Scores, softmax and weighted sum of values in float32 or wider, like every implementation; a row without keys is 0."""
    wide = q.double() if q.dtype == torch.float64 else q.float()
    keys, values = (t.to(wide.dtype).repeat_interleave(q.shape[2] // t.shape[2], 2) for t in (k, v))
    logits = torch.einsum("bnhd,bmhd->bhnm", wide, keys) * scale
    kept = torch.ones(logits.shape, dtype=torch.bool)
    if mask is not None:
        kept = kept & mask
    if causal:
        kept = kept.tril()
    none = ~kept.any(-1, keepdim=True)
    weights = torch.softmax(logits.masked_fill(~kept & ~none, -torch.inf), -1).masked_fill(none, 0)
    return torch.einsum("bhnm,bmhe->bnhe", weights, values).to(q.dtype).contiguous()


def synthesized_attention(v, left, right, outer, inner, rows, key_mask=None, causal=False):
    """Explicit N × M logits, Kronecker products by torch.kron; a fully masked row is 0."""
    wide = torch.float64 if v.dtype == torch.float64 else torch.float32
    b, m, heads, _ = v.shape
    logits = torch.zeros(b, heads, rows, m, dtype=wide)
    if left is not None:
        logits = logits + torch.einsum("bnhc,bmhc->bhnm", left.to(wide), right.to(wide).expand(b, *right.shape[1:]))
    if outer is not None:
        logits = logits + torch.stack([torch.kron(outer[h].to(wide).contiguous(), inner[h].to(wide).contiguous())[:rows, :m] for h in range(heads)])
    kept = torch.ones(b, heads, rows, m, dtype=torch.bool)
    if key_mask is not None:
        kept = kept & key_mask[:, None, None]
    if causal:
        kept = kept & torch.ones(rows, m, dtype=torch.bool).tril()
    none = ~kept.any(-1, keepdim=True)
    weights = torch.softmax(logits.masked_fill(~kept & ~none, -torch.inf), -1).masked_fill(none, 0)
    return torch.einsum("bhnm,bmhe->bnhe", weights, v.to(wide)).to(v.dtype).contiguous()


def matmul(a, b):
    return torch.matmul(a, b)


def linear(x, weight, bias=None):
    out = x @ weight.T
    return out if bias is None else out + bias


def mode_contract(a, x, mode, heads):
    left = heads_first(a, heads or 1).movedim(mode + 2, 2).flatten(3)
    right = heads_first(x, heads or 1).movedim(mode + 2, 2).flatten(3)
    out = left @ right.transpose(-1, -2)
    return out if heads else out.sum((0, 1))


def mode_pool(x, pooling, token_mask=None):
    modes = x.dim() - 2
    if token_mask is not None:
        x = torch.where(token_mask.unsqueeze(-1), x, torch.zeros((), dtype=x.dtype))
    out = []
    for i in range(modes):
        others = [j + 1 for j in range(modes) if j != i]
        total = x.sum(others) if others else x
        if pooling == "mean":
            cells = torch.ones(x.shape[:-1]) if token_mask is None else token_mask
            count = cells.to(x.dtype).sum(others) if others else cells.to(x.dtype)
            total = total / count.clamp_min(1).unsqueeze(-1)
        out.append(total)
    return out


def mode_scores(q, k, heads, key_mask=None, mode_mask=None):
    q, k = heads_first(q, heads), heads_first(k, heads)
    logits = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    kept = torch.ones(logits.shape, dtype=torch.bool)
    if key_mask is not None:
        kept = kept & (key_mask[:, None, None] if key_mask.dim() == 2 else key_mask[:, :, None])
    if mode_mask is not None:
        kept = kept & mode_mask
    any_key = kept.any(-1, keepdim=True)
    logits = logits.masked_fill(~kept, -torch.inf).masked_fill(~any_key, 0)
    return torch.softmax(logits, -1).masked_fill(~any_key, 0)


def rotary(x, angles, gain=1.0, inverse=False):
    angle = torch.cat([angles, angles], -1) * (-1 if inverse else 1)
    d = x.size(-1)
    turned = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1)  # rotate_half as in transformers' Llama
    return (x * angle.cos().to(x.dtype).unsqueeze(1) + turned * angle.sin().to(x.dtype).unsqueeze(1)) * gain


def rotary_angles(n, d, base=10000.0):
    return torch.outer(torch.arange(n, dtype=torch.float64), base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d))


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    out = (x - mean) / torch.sqrt((x - mean).square().mean(-1, keepdim=True) + eps)
    out = out if weight is None else out * weight.to(x.dtype)
    return out if bias is None else out + bias.to(x.dtype)


def batch_norm(x, weight, bias, eps=1e-5):
    rows = x.reshape(-1, x.size(-1))
    mean, var = rows.mean(0), rows.var(0, correction=0)
    out = (rows - mean) / torch.sqrt(var + eps) * weight.to(x.dtype) + bias.to(x.dtype)
    return out.reshape(x.shape), mean, var


def rms_norm(x, weight=None, eps=1e-5):
    out = x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
    return out if weight is None else out * weight.to(x.dtype)


def philox(counter, key):
    """Philox 4x32-10 in Python integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def normals(count, seed, step, site):
    """Box-Muller of words 2i and 2i + 1 of a Philox stream."""
    blocks = range((2 * count + 3) // 4)
    key = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    words = numpy.concatenate([philox((block, 0, step, site), key) for block in blocks])[: 2 * count].astype(float)
    return numpy.sqrt(-2 * numpy.log((words[::2] + 1) * 2.0**-32)) * numpy.cos(2 * numpy.pi * words[1::2] * 2.0**-32)


def dropout_scale(count, p, seed, step, site):
    threshold = min(round(p * 2**32), 2**32 - 1)
    words = {}
    out = []
    for i in range(count):
        block = 16 * (i // 64) + i % 16
        if block not in words:
            words[block] = philox(
                (block & 0xFFFFFFFF, block >> 32, step & 0xFFFFFFFF, site), (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF)
            )
        out.append(0.0 if words[block][i % 64 // 16] < threshold else 1 / (1 - p) if p < 1 else 0.0)
    return torch.tensor(out, dtype=torch.float64)


def dropout_add(residual, x, p, seed, step, site):
    out = x * dropout_scale(x.numel(), p, seed, step, site).reshape(x.shape).to(x.dtype) if p > 0 else x * 1
    return out if residual is None else residual + out


def dropout_add_norm(residual, x, p, seed, step, site, weight=None, bias=None, eps=1e-5):
    total = dropout_add(residual, x, p, seed, step, site)
    return total, layer_norm(total, weight, bias, eps)


def elementary(x, function):
    return torch.nn.functional.gelu(x) if function == "gelu" else getattr(torch, function)(x)


def swiglu(gate_and_up):
    gate, up = gate_and_up.chunk(2, -1)
    return gate * torch.sigmoid(gate) * up


def feed_forward(x, first, second, gate=None, first_bias=None, second_bias=None, p=0.0, seed=0, step=0, site=0):
    up = linear(x, first, first_bias)
    hidden = torch.nn.functional.gelu(up) if gate is None else swiglu(torch.cat([linear(x, gate), up], -1))
    return linear(dropout_add(None, hidden, p, seed, step, site) if p > 0 else hidden, second, second_bias)


def attend(q, k, v, kept):
    """Softmax attention of [..., N, d] with kept [..., N, N]; rows without a key are 0."""
    logits = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    any_key = kept.any(-1, keepdim=True)
    logits = logits.masked_fill(~kept, -torch.inf).masked_fill(~any_key, 0)
    return torch.softmax(logits, -1).masked_fill(~any_key, 0) @ v


def full_attention(q, k, v, heads, token_mask=None, dropout=0.0, seed=0, step=0, site=0, causal=False):
    shape = q.shape
    q, k, v = (heads_first(t.flatten(1, -2), heads) for t in (q, k, v))
    kept = torch.ones(shape[0], 1, 1, k.size(2), dtype=torch.bool)
    if token_mask is not None:
        kept = token_mask.flatten(1)[:, None, None]
    kept = kept.expand(shape[0], heads, q.size(2), k.size(2))
    if causal:
        kept = kept.tril()
    if dropout == 0:
        return attend(q, k, v, kept).transpose(1, 2).reshape(shape)
    scores = attend(q, k, torch.eye(k.size(2), dtype=q.dtype), kept)
    return (dropout_add(None, scores, dropout, seed, step, site) @ v).transpose(1, 2).reshape(shape)


def axis_attention(q, k, v, heads, mode, token_mask=None, axis_mask=None, dropout=0.0, seed=0, step=0, site=0):
    n = q.size(mode + 1)
    kept = torch.ones(q.shape[:-1], dtype=torch.bool) if token_mask is None else token_mask
    kept = kept.unsqueeze(1).movedim(mode + 2, -1).unsqueeze(-2)  # [B, 1, others…, 1, N]
    if axis_mask is not None:
        kept = kept & axis_mask
    q, k, v = (heads_first(t, heads).movedim(mode + 2, -2) for t in (q, k, v))  # [B, H, others…, N, d]
    out = attend(q, k, v, kept.expand(*q.shape[:-2], n, n))
    return out.movedim(-2, mode + 2).movedim(1, -2).flatten(-2)


@functools.cache
def random_projection(width, features, seed, mode, feature_map):
    """Rows ω of Performer's features: orthogonal in blocks, with lengths of Gaussian vectors or all √width (SM-REG)."""
    drawn, lengths = normals(2 * features * width, seed, mode, 3).reshape(2, features, width)
    blocks = []
    for first in range(0, features, width):
        q, r = numpy.linalg.qr(drawn[first : first + width].T)
        blocks.append((q * numpy.sign(numpy.diag(r))).T)  # signs as from Gram-Schmidt
    lengths = numpy.linalg.norm(lengths, axis=1) if feature_map == "softmax" else numpy.full(features, math.sqrt(width))
    return torch.from_numpy(numpy.concatenate(blocks) * lengths[:, None])


def linear_scores(q, k, heads, projection, key_mask=None):
    """HOT (arXiv 2412.02919v1), Eq. 10, with Performer's φ(x) = exp(ωx − |x|²/2) of x = q / d^¼."""

    def features(t):
        x = heads_first(t, heads) / (t.size(-1) // heads) ** 0.25
        return torch.exp(x @ projection.to(x.dtype).T - x.square().sum(-1, keepdim=True) / 2)

    products = features(q) @ features(k).transpose(-1, -2)
    if key_mask is not None:
        products = products * key_mask[:, None, None]
    total = products.sum(-1, keepdim=True)
    return products / total.masked_fill(total == 0, 1)


def pooled_queries_keys(x, qw, qb, kw, kb, qnw, qnb, knw, knb, *, heads, pooling="sum", share_modes=False,
                        attend_modes=(), rope_modes=(), rope_base=10000.0, token_mask=None, **_):
    """q, k and the key mask for each mode, in the released order: project every token, then pool, norm, rotate."""
    modes, d = x.dim() - 2, x.size(-1)
    out = {}
    for i in attend_modes or range(modes):
        first = 0 if share_modes else i * d
        sides = []
        for w, b, nw, nb in ((qw, qb, qnw, qnb), (kw, kb, knw, knb)):
            t = x @ w[first : first + d].T
            t = t if b is None else t + b[first : first + d]
            t = mode_pool(t, pooling, token_mask)[i].unflatten(-1, (heads, -1))
            if nw is not None or nb is not None:
                t = layer_norm(t, nw, nb)
            t = t.flatten(-2)
            if i in rope_modes:
                t = t.unflatten(-1, (heads, -1))
                t = rotary(t, rotary_angles(t.size(1), t.size(-1), rope_base)).flatten(-2)
            sides.append(t)
        key_mask = None
        if token_mask is not None:
            others = [j + 1 for j in range(modes) if j != i]
            key_mask = token_mask.sum(others) > 0 if others else token_mask
        out[i] = *sides, key_mask
    return out


def kronecker_factors(*args, heads, mode_masks=None, kernel="softmax", features=0, feature_map="softmax", feature_seed=0,
                      **options):
    factors = {}
    for i, (q, k, key_mask) in pooled_queries_keys(*args, heads=heads, **options).items():
        if kernel == "softmax":
            factors[i] = mode_scores(q, k, heads, key_mask, mode_masks[i] if mode_masks else None)
        else:
            d = q.size(-1) // heads
            count = features or -(-d * math.ceil(math.log(d)) // 8) * 8
            factors[i] = linear_scores(q, k, heads, random_projection(d, count, feature_seed, i, feature_map), key_mask)
    return factors


def renormalised(out, weight):
    inverse = torch.where(weight > 0, 1 / torch.where(weight > 0, weight, 1), 0)
    return (out.unflatten(-1, (weight.size(-1), -1)) * inverse.unsqueeze(-1)).flatten(-2)


def kronecker_attention(x, value, qw, qb, kw, kb, qnw=None, qnb=None, knw=None, knb=None, *, combine="product",
                        dropout=0.0, seed=0, step=0, site=0, **options):
    heads, mask = options["heads"], options.get("token_mask")
    factors = kronecker_factors(x, qw, qb, kw, kb, qnw, qnb, knw, knb, **options)
    dropped = {
        i: dropout_add(None, s, dropout, (seed + i * 0x9E3779B97F4A7C15) % 2**64, step, site) if dropout else s
        for i, s in factors.items()
    }
    if mask is not None:
        value = torch.where(mask.unsqueeze(-1), value, torch.zeros((), dtype=value.dtype))
        cells = mask.to(value.dtype).unsqueeze(-1).expand(*mask.shape, heads)
    if combine == "product":
        out = value
        for i, s in dropped.items():
            out = mode_product(out, s, i)
        if mask is not None:
            for i, s in factors.items():
                cells = mode_product(cells, s, i)
            out = renormalised(out, cells)
        return out
    terms = [mode_product(value, s, i) for i, s in dropped.items()]
    live = len(terms)
    if mask is not None:
        weights = [mode_product(cells, s, i) for i, s in factors.items()]
        terms = [renormalised(term, weight) for term, weight in zip(terms, weights)]
        live = sum((weight > 0).to(value.dtype) for weight in weights).clamp_min(1)
        live = live.repeat_interleave(value.size(-1) // heads, -1)
    return sum(terms) / live * (1 if combine == "mean" else len(terms))


def mode_attention(x, qw, qb, kw, kb, qnw=None, qnb=None, knw=None, knb=None, **options):
    return list(kronecker_factors(x, qw, qb, kw, kb, qnw, qnb, knw, knb, **options).values())


def masked_moments(rows, mask):
    counted = rows[mask] if mask.any() else rows
    return counted.mean(0), counted.var(0, correction=0)


def update_moments(running_mean, running_var, mean, var, count, momentum):
    if count < 2:
        return running_mean, running_var
    unbiased = var * float(count) / (float(count) - 1)
    return torch.lerp(running_mean, mean, momentum), torch.lerp(running_var, unbiased, momentum)


def sum_of_squares(x):
    return (x.double() ** 2).sum().to(x.dtype)


def adam_step(parameter, gradient, first, second, beta1, beta2, epsilon, step_size, root_scale, gradient_scale=1.0, keep=1.0, added_decay=0.0):
    g = gradient * gradient_scale + added_decay * parameter
    m = beta1 * first + (1 - beta1) * g
    v = beta2 * second + (1 - beta2) * g * g
    return parameter * keep - step_size * m / (v.sqrt() / root_scale + epsilon), m, v
