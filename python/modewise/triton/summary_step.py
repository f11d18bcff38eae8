"""summary_step, one step of incremental decoding, and summary_join, of partial blocks.

q, out [B, t, H, d or e], k, v, rotated [B, t, G, d or e], G·R = H, contiguous. Ring, First and the levels' rows are
[B, rows, G, d or e], contiguous within a sample. A program is a key head of a sample.
"""

import triton
import triton.language as tl

from modewise.triton.summary_attention import binary, halves, joined, products, store_halves, store_whole, whole


@triton.jit
def _cos_sin(angle, ACC: tl.constexpr):
    """Cosine and sine of a float64 angle, by their series in [−π/4, π/4]. π/2 is the sum of two numbers, of which the first has
    33 bits, so that its product with fewer than 2²⁰ quarters of a circle is exact."""
    quarter = tl.floor(angle * tl.full([], 0.6366197723675814, tl.float64) + 0.5)
    x = angle - quarter * tl.full([], 1.5707963267341256, tl.float64)
    x = tl.cast(x - quarter * tl.full([], 6.077100506506192e-11, tl.float64), ACC)
    y = x * x
    sin = tl.full([], -1 / 1307674368000, ACC)
    sin = sin * y + tl.full([], 1 / 6227020800, ACC)
    sin = sin * y + tl.full([], -1 / 39916800, ACC)
    sin = sin * y + tl.full([], 1 / 362880, ACC)
    sin = sin * y + tl.full([], -1 / 5040, ACC)
    sin = sin * y + tl.full([], 1 / 120, ACC)
    sin = sin * y + tl.full([], -1 / 6, ACC)
    sin = sin * y * x + x
    cos = tl.full([], 1 / 20922789888000, ACC)
    cos = cos * y + tl.full([], -1 / 87178291200, ACC)
    cos = cos * y + tl.full([], 1 / 479001600, ACC)
    cos = cos * y + tl.full([], -1 / 3628800, ACC)
    cos = cos * y + tl.full([], 1 / 40320, ACC)
    cos = cos * y + tl.full([], -1 / 720, ACC)
    cos = cos * y + tl.full([], 1 / 24, ACC)
    cos = cos * y + tl.full([], -1 / 2, ACC)
    cos = cos * y + 1.0
    side = tl.cast(quarter, tl.int64) & 3
    odd = (side & 1) == 1
    c = tl.where(odd, sin, cos)
    s = tl.where(odd, cos, sin)
    return tl.where((side == 1) | (side == 2), -c, c), tl.where(side >= 2, -s, s)


@triton.jit
def _queries(Q, rows, inside, positions, Frequencies, D: tl.constexpr, HALF: tl.constexpr, ACC: tl.constexpr, ROTARY: tl.constexpr):
    """Halves of the queries at the offsets `rows`, with the rotary embedding of their positions, in the type of Q."""
    a, b = halves(Q, rows, inside, D, HALF)
    if ROTARY:
        c = tl.arange(0, HALF)
        frequencies = tl.load(Frequencies + c, mask=c < D // 2, other=0.0)
        cos, sin = _cos_sin(tl.cast(positions, tl.float64)[:, None] * frequencies[None, :], ACC)
        first = tl.cast(a, ACC) * cos - tl.cast(b, ACC) * sin
        b = tl.cast(tl.cast(b, ACC) * cos + tl.cast(a, ACC) * sin, Q.dtype.element_ty)
        a = tl.cast(first, Q.dtype.element_ty)
    return a, b


@triton.jit
def _see(q1, q2, K, V, count, limit, newest, window, scale, excess, high, total, out, across_k, across_v,
         D: tl.constexpr, E: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr, COLS: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """Attends to `count` rows of keys and values, of which a query sees the first `limit` ones, or the newest ones of a ring
    buffer (newest ≥ 0: its last token)."""
    for start in range(0, count, COLS):
        j = start + tl.arange(0, COLS)
        exists = j < count
        place = tl.where(newest >= 0, (newest - j) % window, j)
        at = tl.cast(j, tl.int64)
        k1, k2 = halves(K, at * across_k, exists, D, HALF)
        v = whole(V, at * across_v, exists, E, WIDTH)
        seen = (place[None, :] < limit[:, None]) & exists[None, :]
        logits = products(q1, q2, k1, k2, ACC) * binary(scale, ACC) - binary(excess, ACC)
        high, total, out = joined(tl.where(seen, logits, float("-inf")), v, high, total, out, ACC)
    return high, total, out


@triton.jit
def _join(K, V, n, Latents, High, Total, SumK, SumV, r, across_k, across_v,
          D: tl.constexpr, E: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr, COLS: tl.constexpr,
          SUMMARIES: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """Adds n rows to a partial block: its latents [r, d], high, total [r] and sums [r, d or e] of one head."""
    i = tl.arange(0, SUMMARIES)
    inside = i < r
    z1, z2 = halves(Latents, i * D, inside, D, HALF)
    high = tl.load(High + i, mask=inside, other=0.0)
    total = tl.load(Total + i, mask=inside, other=0.0)
    sum1, sum2 = halves(SumK, i * D, inside, D, HALF)
    sums = whole(SumV, i * E, inside, E, WIDTH)
    for start in range(0, n, COLS):
        j = start + tl.arange(0, COLS)
        exists = j < n
        at = tl.cast(j, tl.int64)
        k1, k2 = halves(K, at * across_k, exists, D, HALF)
        k1 = tl.cast(k1, ACC)
        k2 = tl.cast(k2, ACC)
        v = tl.cast(whole(V, at * across_v, exists, E, WIDTH), ACC)
        logits = tl.where(exists[None, :], products(z1, z2, k1, k2, ACC), float("-inf"))
        above = tl.maximum(high, tl.max(logits, 1))
        p = tl.exp(logits - above[:, None])
        shrink = tl.exp(high - above)
        total = total * shrink + tl.sum(p, 1)
        sum1 = tl.dot(p, k1, sum1 * shrink[:, None], input_precision="ieee", out_dtype=ACC)
        sum2 = tl.dot(p, k2, sum2 * shrink[:, None], input_precision="ieee", out_dtype=ACC)
        sums = tl.dot(p, v, sums * shrink[:, None], input_precision="ieee", out_dtype=ACC)
        high = above
    tl.store(High + i, high, mask=inside)
    tl.store(Total + i, total, mask=inside)
    store_halves(SumK, i * D, inside, sum1, sum2, D, HALF)
    store_whole(SumV, i * E, inside, sums, E, WIDTH)


@triton.jit
def _put(X, rows, inside, To, at, D: tl.constexpr, WIDTH: tl.constexpr):
    """Copies rows of heads at the offsets `rows` of X to the offsets `at`."""
    store_whole(To, at, inside, whole(X, rows, inside, D, WIDTH), D, WIDTH)


@triton.jit(do_not_specialize=["G", "R", "t", "first", "window", "sinks", "levels", "n1", "n2", "n3", "p1", "p2", "p3", "r"])
def summary_step(Q, K, V, Rotated, RingK, RingV, FirstK, FirstV, K1, V1, K2, V2, K3, V3, Frequencies,
                 Latents, High, Total, SumK, SumV, Out, rk, rv, fk, fv, k1b, v1b, k2b, v2b, k3b, v3b, level,
                 G, R, t, first, window, sinks, levels, n1, n2, n3, p1, p2, p3, r,
                 scale, far, scale1, scale2, scale3, excess1, excess2, excess3,
                 D: tl.constexpr, E: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
                 COLS: tl.constexpr, SUMMARIES: tl.constexpr, ATTENDS: tl.constexpr, ROTARY: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """t ≤ window tokens from position `first` on. SUMMARIES: of a partial block, or 0. levels: rows of the frequencies."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    sample = tl.cast(tl.program_id(0) // G, tl.int64)
    group = tl.cast(tl.program_id(0) % G, tl.int64)
    across_k = G * D
    across_v = G * E
    new = sample * t * G + group
    K += new * D
    V += new * E
    Rotated += new * D
    RingK += sample * rk + group * D
    RingV += sample * rv + group * E
    FirstK += sample * fk + group * D
    FirstV += sample * fv + group * E
    if ATTENDS:
        for top in range(0, t * R, ROWS):
            m = top + tl.arange(0, ROWS)
            inside = m < t * R
            i = m // R
            row = (sample * t + i) * (G * R) + group * R + m % R
            high = tl.full([ROWS], float("-inf"), ACC)
            total = tl.zeros([ROWS], ACC)
            out = tl.zeros([ROWS, WIDTH], ACC)
            for part in range(6):
                # The tokens themselves: token i sees i + 1 of them, at its own position.
                keys, values, count = Rotated, V, t
                limit, growth, newest = 1, 1, -1
                position, moves, row_of_level = first, 1, 0
                factor, taken = scale, excess1 * 0.0
                if part == 1:  # the ring buffer as it was before
                    keys, values, count = RingK, RingV, tl.minimum(first, window)
                    limit, growth, newest = window - 1, -1, first - 1
                elif part == 2:  # the first tokens
                    keys, values, count = FirstK, FirstV, tl.minimum(sinks, first + t - window)
                    limit, position, moves, factor = first + 1 - window, window, 0, far
                elif part == 3:  # summary tokens
                    keys, values, count = K1 + sample * k1b + group * D, V1 + sample * v1b + group * E, n1
                    limit, growth, position, moves, row_of_level, factor, taken = n1, 0, p1, 0, 1, scale1, excess1
                elif part == 4:
                    keys, values, count = K2 + sample * k2b + group * D, V2 + sample * v2b + group * E, n2
                    limit, growth, position, moves, row_of_level, factor, taken = n2, 0, p2, 0, 2, scale2, excess2
                elif part == 5:
                    keys, values, count = K3 + sample * k3b + group * D, V3 + sample * v3b + group * E, n3
                    limit, growth, position, moves, row_of_level, factor, taken = n3, 0, p3, 0, 3, scale3, excess3
                if count > 0:
                    rotation = Frequencies + tl.minimum(row_of_level, levels - 1) * level
                    a, b = _queries(Q, row * D, inside, position + i * moves, rotation, D, HALF, ACC, ROTARY)
                    high, total, out = _see(a, b, keys, values, count, limit + i * growth, newest, window, factor, taken,
                                            high, total, out, across_k, across_v, D, E, HALF, WIDTH, COLS, ACC)  # fmt: skip
            total = tl.where(inside, total, 1.0)
            store_whole(Out, row * E, inside, out / total[:, None], E, WIDTH)
    tl.debug_barrier()  # every thread has read the rows of the ring buffer that are replaced
    for start in range(0, t, 16):
        i = start + tl.arange(0, 16)
        at = tl.cast(i, tl.int64)
        place = tl.cast((first + i) % window, tl.int64)
        _put(Rotated, at * across_k, i < t, RingK, place * across_k, D, 2 * HALF)
        _put(V, at * across_v, i < t, RingV, place * across_v, E, WIDTH)
        kept = (i < t) & (first + i < sinks)
        place = tl.cast(first + i, tl.int64)
        _put(K, at * across_k, kept, FirstK, place * across_k, D, 2 * HALF)
        _put(V, at * across_v, kept, FirstV, place * across_v, E, WIDTH)
    if SUMMARIES > 0:
        state = (sample * G + group) * r
        _join(K, V, t, Latents + group * r * D, High + state, Total + state, SumK + state * D, SumV + state * E, r,
              across_k, across_v, D, E, HALF, WIDTH, 16, SUMMARIES, ACC)  # fmt: skip


@triton.jit(do_not_specialize=["G", "n", "r"])
def summary_join(K, V, Latents, High, Total, SumK, SumV, G, n, r,
                 D: tl.constexpr, E: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr,
                 SUMMARIES: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    sample = tl.cast(tl.program_id(0) // G, tl.int64)
    group = tl.cast(tl.program_id(0) % G, tl.int64)
    new = sample * n * G + group
    state = (sample * G + group) * r
    _join(K + new * D, V + new * E, n, Latents + group * r * D, High + state, Total + state, SumK + state * D, SumV + state * E, r,
          G * D, G * E, D, E, HALF, WIDTH, 16, SUMMARIES, ACC)  # fmt: skip
