"""Every operator as plain torch, written from the definitions: what the operators are compared with."""

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
    """Scores, softmax and the mix of values in float32 at least, as every implementation keeps them."""
    wide = q.double() if q.dtype == torch.float64 else q.float()
    keys, values = (t.to(wide.dtype).repeat_interleave(q.shape[2] // t.shape[2], 2) for t in (k, v))
    logits = torch.einsum("bnhd,bmhd->bhnm", wide, keys) * scale
    if mask is not None:
        logits = logits.masked_fill(~mask, -torch.inf)
    if causal:
        logits = logits.masked_fill(torch.ones(logits.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
    return torch.einsum("bhnm,bmhe->bnhe", torch.softmax(logits, -1), values).to(q.dtype).contiguous()


def synthesized_attention(v, left, right, outer, inner, rows, key_mask=None, causal=False):
    """Explicit N × M logits, Kronecker products by torch.kron; a row that keeps nothing is 0."""
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


def swiglu(gate_and_up):
    gate, up = gate_and_up.chunk(2, -1)
    return gate * torch.sigmoid(gate) * up


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
        blocks.append((q * numpy.sign(numpy.diag(r))).T)  # as Gram-Schmidt gives them
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
    """q, k and the mask of the keys for each mode. The released order: project every token, then pool, norm, rotate."""
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


def turned(x, position, frequencies, gains, level):
    """x [..., d] with the rotary code of one position at a level."""
    if frequencies is None:
        return x
    angle = float(position) * frequencies[min(level, len(frequencies) - 1)]
    gain = gains[min(level, len(gains) - 1)] if gains else 1.0
    cos, sin = torch.cat([angle.cos()] * 2).to(x.dtype) * gain, torch.cat([angle.sin()] * 2).to(x.dtype) * gain
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def visible_blocks(fold, t):
    """(level, tokens in a block, blocks t sees, its own block), all counted from the group's beginning."""
    tokens = 1
    for level, mode in enumerate(range(len(fold) - 1, 0, -1), 1):
        tokens *= fold[mode]
        own = t // tokens
        group = 0 if mode == 1 else own // fold[mode - 1] * fold[mode - 1]
        yield level, tokens, range(group, own), own - group, group


def tensor_attention(q, k, v, latents=None, frequencies=None, positions=None, *, form="causal", fold=(), window=0, sinks=0,
                     causal=True, scale=0.0, gains=()):
    """Token by token: its keys are gathered in a list, as the definitions say it."""
    n, repeats = q.size(1), q.size(2) // k.size(2)
    k, v = k.repeat_interleave(repeats, 2), v.repeat_interleave(repeats, 2)
    z = None if latents is None else latents.repeat_interleave(repeats, 1)
    scale = scale or q.size(-1) ** -0.5
    window = window or (2 * fold[-1] if len(fold) > 1 else n)
    if form == "full":
        window = n
    place = (lambda t: t) if positions is None else (lambda t: positions[t].item())
    slots = {}

    def block_slots(level, block):
        if (level, block) not in slots:
            size = fold[-level]
            if level == 1:
                keys, values = k[:, block * size : (block + 1) * size], v[:, block * size : (block + 1) * size]
            else:
                parts = [block_slots(level - 1, block * size + i) for i in range(size)]
                keys, values = torch.cat([p[0] for p in parts], 1), torch.cat([p[1] for p in parts], 1)
            a = torch.softmax((keys.unsqueeze(2) * z[level - 1].transpose(0, 1)).sum(-1), 1)  # [B, c, r, H]
            slots[level, block] = [(a.unsqueeze(-1) * x.unsqueeze(2)).sum(1) for x in (keys, values)]
        return slots[level, block]

    rows = []
    for t in range(n):
        logits, values = [], []

        def see(query_at, keys, key_at, level, seen, excess=0.0):
            query = turned(q[:, t], query_at, frequencies, gains, level).unsqueeze(1)
            logits.append((query * turned(keys, key_at, frequencies, gains, level)).sum(-1) * scale - excess)
            values.append(seen)

        last = n if form == "full" and not causal else t + 1
        for s in range(max(0, t - window + 1), last):
            see(place(t), k[:, s : s + 1], place(s), 0, v[:, s : s + 1])
        for s in range(min(sinks, t - window + 1) if form == "lambda" else 0):
            see(window, k[:, s : s + 1], 0, 0, v[:, s : s + 1])
        if form == "causal":
            for level, _, blocks, own, group in visible_blocks(fold, t):
                coarsest = level == len(fold) - 1 and fold[0] > 0
                excess = max(0.0, math.log(max(1, len(blocks)) / fold[0])) if coarsest else 0.0
                for block in blocks:
                    keys, seen = block_slots(level, block)
                    see(own, keys, block - group, level, seen, excess)
        weights = torch.softmax(torch.cat(logits, 1), 1).unsqueeze(-1)
        rows.append((weights * torch.cat(values, 1)).sum(1))
    return torch.stack(rows, 1)


def along_modes(q, k, v, latents=None, frequencies=None, positions=None, *, form, fold, causal=True, scale=0.0, gains=(), **_):
    """Forms axial and pooled with the matrices along each mode formed over all tokens."""
    n, repeats, d = q.size(1), q.size(2) // k.size(2), q.size(-1)
    k, out = k.repeat_interleave(repeats, 2), v.repeat_interleave(repeats, 2)
    sizes = list(fold)
    rest = math.prod(sizes[1:])
    sizes[0] = sizes[0] or -(-n // rest)
    cells = [numpy.unravel_index(t, sizes) for t in range(n)]
    for mode in range(len(sizes)):
        level = len(sizes) - 1 - mode
        pairs = [(t, s) for t in range(n) for s in range(n)]
        if form == "axial":
            same = lambda t, s: all(a == b for i, (a, b) in enumerate(zip(cells[t], cells[s])) if i != mode)
            mixed = []
            for t in range(n):
                keys = [s for s in range(n) if same(t, s) and (s <= t or not causal)]
                query = turned(q[:, t], cells[t][mode], frequencies, gains, level)
                logits = torch.stack([(query * turned(k[:, s], cells[s][mode], frequencies, gains, level)).sum(-1)
                                      for s in keys], 1) * (scale or d**-0.5)
                mixed.append((torch.softmax(logits, 1).unsqueeze(-1) * out[:, keys]).sum(1))
            out = torch.stack(mixed, 1)
        else:
            width = d * math.prod(sizes) // sizes[mode]
            logits = {}
            for t, s in pairs:
                if all(a == b for i, (a, b) in enumerate(zip(cells[t], cells[s])) if i != mode):
                    a, b = int(cells[t][mode]), int(cells[s][mode])
                    product = (turned(q[:, t], a, frequencies, gains, level) * turned(k[:, s], b, frequencies, gains, level)).sum(-1)
                    logits[a, b] = logits.get((a, b), 0) + product * (scale or width**-0.5)
            mixed = []
            for t in range(n):
                at = int(cells[t][mode])
                zero = torch.zeros_like(q[:, 0, :, 0])
                weights = torch.softmax(torch.stack([logits.get((at, b), zero) for b in range(sizes[mode])], 1), 1)
                total, share = 0, 0  # empty cells are left out
                for b in range(sizes[mode]):
                    cell = list(cells[t])
                    cell[mode] = b
                    s = int(numpy.ravel_multi_index(cell, sizes))
                    if s < n:
                        total = total + weights[:, b].unsqueeze(-1) * out[:, s]
                        share = share + weights[:, b].unsqueeze(-1)
                mixed.append(total / share)
            out = torch.stack(mixed, 1)
    return out


def sparse(q, k, v, latents=None, frequencies=None, positions=None, *, form, density=0.1, causal=True, scale=0.0, gains=(), **_):
    """One token after another; the draw for tokens t and s is SplitMix64 of 2³² t + s."""

    def draw(x):
        x = x + 0x9E3779B97F4A7C15 & 2**64 - 1
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & 2**64 - 1
        x = (x ^ x >> 27) * 0x94D049BB133111EB & 2**64 - 1
        return ((x ^ x >> 31) >> 40) * 2.0**-24

    n, repeats = q.size(1), q.size(2) // k.size(2)
    k, v = k.repeat_interleave(repeats, 2), v.repeat_interleave(repeats, 2)
    rows = []
    for t in range(n):
        query = turned(q[:, t], t, frequencies, gains, 0)
        seen = range(t + 1) if causal else range(n)
        logits = torch.stack([(query * turned(k[:, s], s, frequencies, gains, 0)).sum(-1) for s in seen], 1)
        logits = logits * (scale or q.size(-1) ** -0.5)
        if form == "random":
            kept = [s == t or draw(2**32 * t + s) < density for s in seen]
            logits = logits[:, kept]
            values = v[:, [s for s, keep in zip(seen, kept) if keep]]
        else:
            last = torch.topk(logits, max(1, math.ceil(density * len(seen))), 1).values[:, -1:]
            logits, values = logits.masked_fill(logits < last, -math.inf), v[:, : len(seen)]
        rows.append((torch.softmax(logits, 1).unsqueeze(-1) * values).sum(1))
    return torch.stack(rows, 1)


def tensor_formula(q, k, v, *args, form="causal", **options):
    if form in ("random", "topk"):
        return sparse(q, k, v, *args, form=form, **options)
    return (along_modes if form in ("axial", "pooled") else tensor_attention)(q, k, v, *args, form=form, **options)


def language_loss(hidden, head, targets, chunk=0):
    logits = (hidden @ head.to(hidden.dtype).T).flatten(0, -2)
    logits = logits.float() if logits.dtype == torch.bfloat16 else logits
    counted = (targets >= 0).sum()
    losses = torch.nn.functional.cross_entropy(logits, targets.flatten().clamp_min(-1), ignore_index=-1, reduction="sum")
    return (losses / counted.clamp_min(1)).to(hidden.dtype)


def token_losses(hidden, head, targets, chunk=0):
    logits = hidden @ head.to(hidden.dtype).T
    scores = torch.log_softmax(logits.float() if logits.dtype == torch.bfloat16 else logits, -1)
    own = scores.gather(-1, targets.clamp_min(0).unsqueeze(-1)).squeeze(-1)
    return torch.where(targets < 0, 0, -own).to(hidden.dtype)


def masked_moments(rows, mask):
    counted = rows[mask] if mask.any() else rows
    return counted.mean(0), counted.var(0, correction=0)


def update_moments(running_mean, running_var, mean, var, count, momentum):
    unbiased = var * float(count) / max(1.0, float(count) - 1)
    return torch.lerp(running_mean, mean, momentum), torch.lerp(running_var, unbiased, momentum)


def sum_of_squares(x):
    return (x.double() ** 2).sum().to(x.dtype)


def adam_step(parameter, gradient, first, second, beta1, beta2, epsilon, step_size, root_scale, gradient_scale=1.0, keep=1.0, added_decay=0.0):
    g = gradient * gradient_scale + added_decay * parameter
    m = beta1 * first + (1 - beta1) * g
    v = beta2 * second + (1 - beta2) * g * g
    return parameter * keep - step_size * m / (v.sqrt() / root_scale + epsilon), m, v


def joined(keys, values, latents, high, total, sum_keys, sum_values):
    """The softmax over rows [B, n, G, .] joins what the sums hold already."""
    keys, values = keys.to(latents.dtype), values.to(latents.dtype)
    logits = torch.einsum("grd,bngd->bgrn", latents, keys)
    top = torch.maximum(high[..., 0], logits.amax(-1))
    before, weights = torch.exp(high[..., 0] - top), torch.exp(logits - top[..., None])
    return (top[..., None], (total[..., 0] * before + weights.sum(-1))[..., None],
            sum_keys * before[..., None] + torch.einsum("bgrn,bngd->bgrd", weights, keys),
            sum_values * before[..., None] + torch.einsum("bgrn,bnge->bgre", weights, values))


def turned_by(x, frequencies, position):
    a, b = x.chunk(2, -1)
    cosine, sine = (torch.cos(position * frequencies).to(x.dtype), torch.sin(position * frequencies).to(x.dtype))
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)


def summary_step(q, k, v, turned, ring_keys, ring_values, first_keys, first_values, latents, high, total, sum_keys, sum_values,
                 frequencies, *, slot_keys, slot_values, places, excess, gains, first, window, scale, attends=True):
    wide = torch.float32 if q.dtype == torch.bfloat16 else q.dtype
    ring_keys, ring_values, first_keys, first_values = (t.clone() for t in (ring_keys, ring_values, first_keys, first_values))
    groups, rows = k.size(2), []
    level_of = lambda values, level: values[min(level, len(values) - 1)]
    for i in range(q.size(1)):
        t = first + i
        ring_keys[:, t % window], ring_values[:, t % window] = turned[:, i], v[:, i]
        if t < first_keys.size(1):
            first_keys[:, t], first_values[:, t] = k[:, i], v[:, i]
        seen = [(ring_keys[:, :min(t + 1, window)], ring_values[:, :min(t + 1, window)], 0, t, 1, 0.0)]
        sinks = min(max(t + 1 - window, 0), first_keys.size(1))
        seen.append((first_keys[:, :sinks], first_values[:, :sinks], 0, window, 2, 0.0))
        for level, (keys, values, place, taken) in enumerate(zip(slot_keys, slot_values, places, excess), 1):
            seen.append((keys, values, level, place, 1, taken))
        logits, shown = [], []
        for keys, values, level, position, power, taken in seen:
            query = q[:, i].to(wide)
            if frequencies is not None:
                query = turned_by(query, level_of(frequencies, level), position) * (level_of(gains, level) if gains else 1.0) ** power
            query = query.unflatten(1, (groups, -1))
            logits.append(torch.einsum("bghd,bngd->bghn", query, keys.to(wide)) * scale - taken)
            shown.append(values.to(wide))
        weights = torch.softmax(torch.cat(logits, -1), -1)
        rows.append(torch.einsum("bghn,bnge->bghe", weights, torch.cat(shown, 1)).flatten(1, 2))
    sums = []
    if latents is not None:
        sums = joined(k.to(wide), v.to(wide), *(t.to(wide) for t in (latents, high, total, sum_keys, sum_values)))
    states = [ring_keys, ring_values, first_keys, first_values, *sums]
    return [t.to(q.dtype) for t in ([torch.stack(rows, 1)] if attends else []) + states]
