"""summary_attention: softmax attention of each token to its window, the first tokens and summary tokens of complete blocks.

q, out [B, n, H, d or e], k, v [B, n, G, d or e], G·R = H; the last dimension is contiguous. Summary tokens (summary_tokens.py):
Keys, Values [B, G, length, d or e], all levels one after the other; Levels int32 [levels, 5]: tokens of a block, siblings, first
summary token, known blocks (0: no excess), first row of the rotary table. Cos, Sin [rows, d/2], multiplied by the gain: rows of the token
positions (given ones, or 0, 1, … relative to the first key of a program), then `far`, the row of the sinks' distance, then
rows of the block positions of each level.
"""

import triton
import triton.language as tl


@triton.jit
def halves(X, rows, inside, D: tl.constexpr, HALF: tl.constexpr):
    """Both halves [rows, HALF] of the heads at the offsets `rows` of X: the pairs of the rotary embedding."""
    FIRST: tl.constexpr = (D + 1) // 2
    c = tl.arange(0, HALF)
    at = X + rows[:, None] + c[None, :]
    a = tl.load(at, mask=inside[:, None] & (c < FIRST)[None, :], other=0.0)
    b = tl.load(at + FIRST, mask=inside[:, None] & (c < D - FIRST)[None, :], other=0.0)
    return a, b


@triton.jit
def store_halves(X, rows, inside, a, b, D: tl.constexpr, HALF: tl.constexpr):
    FIRST: tl.constexpr = (D + 1) // 2
    c = tl.arange(0, HALF)
    at = X + rows[:, None] + c[None, :]
    tl.store(at, tl.cast(a, X.dtype.element_ty), mask=inside[:, None] & (c < FIRST)[None, :])
    tl.store(at + FIRST, tl.cast(b, X.dtype.element_ty), mask=inside[:, None] & (c < D - FIRST)[None, :])


@triton.jit
def whole(X, rows, inside, E: tl.constexpr, WIDTH: tl.constexpr):
    """The heads [rows, WIDTH] at the offsets `rows` of X."""
    c = tl.arange(0, WIDTH)
    return tl.load(X + rows[:, None] + c[None, :], mask=inside[:, None] & (c < E)[None, :], other=0.0)


@triton.jit
def store_whole(X, rows, inside, x, E: tl.constexpr, WIDTH: tl.constexpr):
    c = tl.arange(0, WIDTH)
    at = X + rows[:, None] + c[None, :]
    tl.store(at, tl.cast(x, X.dtype.element_ty), mask=inside[:, None] & (c < E)[None, :])


@triton.jit
def rotated(a, b, Cos, Sin, rows, inside, D: tl.constexpr, HALF: tl.constexpr, ACC: tl.constexpr,
            ROTARY: tl.constexpr, TRANSPOSED: tl.constexpr):  # fmt: skip
    """The rotary embedding of rows of the table, or its transpose, applied to halves, in the accumulate type."""
    a = tl.cast(a, ACC)
    b = tl.cast(b, ACC)
    if ROTARY:
        c = tl.arange(0, HALF)
        at = rows[:, None] * (D // 2) + c[None, :]
        mask = inside[:, None] & (c < D // 2)[None, :]
        cos = tl.load(Cos + at, mask=mask, other=0.0)
        sin = tl.load(Sin + at, mask=mask, other=0.0)
        if TRANSPOSED:
            sin = -sin
        first = a * cos - b * sin
        b = b * cos + a * sin
        a = first
    return a, b


@triton.jit
def load_rotated(X, rows, inside, Cos, Sin, at, D: tl.constexpr, HALF: tl.constexpr, ACC: tl.constexpr, ROTARY: tl.constexpr):
    """Halves of heads with the rotary embedding, in the type of X."""
    a, b = halves(X, rows, inside, D, HALF)
    if ROTARY:
        a, b = rotated(a, b, Cos, Sin, at, inside, D, HALF, ACC, True, False)
        a = tl.cast(a, X.dtype.element_ty)
        b = tl.cast(b, X.dtype.element_ty)
    return a, b


@triton.jit
def products(a1, a2, b1, b2, ACC: tl.constexpr):
    """a bᵀ of halves."""
    out = tl.dot(a1, tl.trans(b1), input_precision="ieee", out_dtype=ACC)
    return tl.dot(a2, tl.trans(b2), out, input_precision="ieee", out_dtype=ACC)


@triton.jit
def binary(scale, ACC: tl.constexpr):
    """scale · log₂ e: logits are powers of two."""
    return scale * tl.full([], 1.4426950408889634, ACC)


@triton.jit
def excess(own, known, ACC: tl.constexpr):
    """log₂(own / known), at least 0, subtracted from the logits of `own` blocks of which `known` were trained."""
    share = tl.cast(own, ACC) / tl.cast(tl.maximum(known, 1), ACC)
    return tl.where(known > 0, tl.log2(tl.maximum(share, 1.0)), 0.0)


@triton.jit
def joined(logits, v, high, total, out, ACC: tl.constexpr):
    """Adds keys with logits [rows, keys], −inf where unseen, and values v to an online softmax."""
    above = tl.maximum(high, tl.max(logits, 1))
    zero = tl.where(above == float("-inf"), 0.0, above)  # rows that have seen no key yet
    p = tl.exp2(logits - zero[:, None])
    shrink = tl.exp2(high - zero)
    total = total * shrink + tl.sum(p, 1)
    out = tl.dot(tl.cast(p, v.dtype), v, out * shrink[:, None], input_precision="ieee", out_dtype=ACC)
    return above, total, out


@triton.jit(do_not_specialize=["H", "R", "n", "window", "sinks", "levels", "length", "summaries", "far"])
def summary_attention(Q, K, V, Keys, Values, Levels, Cos, Sin, Out, Sums,
                      qb, qn, qh, kb, kn, kh, vb, vn, vh, H, R, n, window, sinks, levels, length, summaries, far, scale,
                      D: tl.constexpr, E: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr,
                      BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      ROTARY: tl.constexpr, GIVEN: tl.constexpr, SINKS: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is BLOCK_M tokens of a head; the last ones, which see most, come first. Out [B, n, H, e], Sums [B, H, n]."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    blocks = tl.cdiv(n, BLOCK_M)
    head = tl.program_id(0) % H
    rest = tl.program_id(0) // H
    sample = tl.cast(rest // blocks, tl.int64)
    group = tl.cast(head // R, tl.int64)
    begin = (blocks - 1 - rest % blocks) * BLOCK_M
    last = tl.minimum(begin + BLOCK_M, n) - 1
    t = begin + tl.arange(0, BLOCK_M)
    inside = t < n
    Q += sample * qb + tl.cast(head, tl.int64) * qh
    K += sample * kb + group * kh
    V += sample * vb + group * vh
    near = tl.maximum(begin - window + 1, 0)
    origin = 0 if GIVEN else near  # the token of the first row of the table
    queries = tl.cast(t, tl.int64) * qn
    scale2 = binary(scale, ACC)
    high = tl.full([BLOCK_M], float("-inf"), ACC)
    total = tl.zeros([BLOCK_M], ACC)
    out = tl.zeros([BLOCK_M, WIDTH], ACC)

    q1, q2 = load_rotated(Q, queries, inside, Cos, Sin, t - origin, D, HALF, ACC, ROTARY)
    for start in range(near, last + 1, BLOCK_N):
        s = start + tl.arange(0, BLOCK_N)
        exists = s <= last
        k1, k2 = load_rotated(K, tl.cast(s, tl.int64) * kn, exists, Cos, Sin, s - origin, D, HALF, ACC, ROTARY)
        v = whole(V, tl.cast(s, tl.int64) * vn, exists, E, WIDTH)
        distance = t[:, None] - s[None, :]
        seen = (distance >= 0) & (distance < window)
        logits = tl.where(seen, products(q1, q2, k1, k2, ACC) * scale2, float("-inf"))
        high, total, out = joined(logits, v, high, total, out, ACC)

    if SINKS:
        stop = tl.minimum(sinks, last - window + 1)
        q1, q2 = load_rotated(Q, queries, inside, Cos, Sin, far + t * 0, D, HALF, ACC, ROTARY)
        for start in range(0, stop, BLOCK_N):
            s = start + tl.arange(0, BLOCK_N)
            exists = s < stop
            k1, k2 = halves(K, tl.cast(s, tl.int64) * kn, exists, D, HALF)
            v = whole(V, tl.cast(s, tl.int64) * vn, exists, E, WIDTH)
            seen = (t[:, None] - s[None, :] >= window) & exists[None, :]
            logits = tl.where(seen, products(q1, q2, k1, k2, ACC) * scale2, float("-inf"))
            high, total, out = joined(logits, v, high, total, out, ACC)

    first = (sample * (H // R) + group) * length
    for level in range(levels):
        Level = Levels + level * 5
        tokens = tl.load(Level)
        siblings = tl.load(Level + 1)
        own = t // tokens
        place = own % siblings
        stop = last // tokens * summaries
        q1, q2 = load_rotated(Q, queries, inside, Cos, Sin, tl.load(Level + 4) + place, D, HALF, ACC, ROTARY)
        taken = excess(own, tl.load(Level + 3), ACC)
        base = first + tl.load(Level + 2)
        end = own * summaries
        low = (own - place) * summaries
        for start in range(begin // tokens // siblings * siblings * summaries, stop, BLOCK_N):
            j = start + tl.arange(0, BLOCK_N)
            exists = j < stop
            k1, k2 = halves(Keys, (base + j) * D, exists, D, HALF)
            v = whole(Values, (base + j) * E, exists, E, WIDTH)
            seen = (j[None, :] < end[:, None]) & (j[None, :] >= low[:, None])
            logits = products(q1, q2, k1, k2, ACC) * scale2 - taken[:, None]
            high, total, out = joined(tl.where(seen, logits, float("-inf")), v, high, total, out, ACC)

    total = tl.where(inside, total, 1.0)
    out = out / total[:, None]
    row = sample * n + t
    store_whole(Out, (row * H + head) * E, inside, out, E, WIDTH)
    sums = (high + tl.log2(total)) * tl.full([], 0.6931471805599453, ACC)
    tl.store(Sums + (sample * H + head) * n + t, sums, mask=inside)
