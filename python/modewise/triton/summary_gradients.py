"""Gradients of summary_attention (summary_attention.py has the shapes) from its output and logsumexp.

With weights p = exp(logits − logsumexp) and delta = Σ grad · out of a row, the gradient of a logit is
p · (grad · value − delta). The weights are computed again: for queries once more key by key, for keys query by query.
"""

import triton
import triton.language as tl

from modewise.triton.summary_attention import binary, excess, halves, load_rotated, products, rotated, store_halves, store_whole, whole


@triton.jit
def _add_slopes(q1, q2, k1, k2, v, grad, seen, high, delta, scale, of1, of2, ACC: tl.constexpr):
    """Adds the gradients of rotated queries through keys; `high` is the logsumexp in powers of two."""
    logits = products(q1, q2, k1, k2, ACC) * scale - high[:, None]
    p = tl.where(seen, tl.exp2(logits), 0.0)
    slope = p * (tl.dot(grad, tl.trans(v), input_precision="ieee", out_dtype=ACC) - delta[:, None])
    slope = tl.cast(slope, k1.dtype)
    of1 = tl.dot(slope, k1, of1, input_precision="ieee", out_dtype=ACC)
    of2 = tl.dot(slope, k2, of2, input_precision="ieee", out_dtype=ACC)
    return of1, of2


@triton.jit(do_not_specialize=["H", "R", "n", "window", "sinks", "levels", "length", "summaries", "far"])
def summary_query_gradients(Q, K, V, Keys, Values, Levels, Cos, Sin, Grad, Out, Sums, Delta, OfQ,
                            qb, qn, qh, kb, kn, kh, vb, vn, vh, gb, gn, gh, ob, on, oh,
                            H, R, n, window, sinks, levels, length, summaries, far, scale,
                            D: tl.constexpr, E: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr,
                            BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                            ROTARY: tl.constexpr, GIVEN: tl.constexpr, SINKS: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is BLOCK_M tokens of a head, as in summary_attention. OfQ [B, n, H, d], Delta [B, H, n]."""
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
    t8 = tl.cast(t, tl.int64)
    Q += sample * qb + tl.cast(head, tl.int64) * qh
    K += sample * kb + group * kh
    V += sample * vb + group * vh
    row = (sample * H + head) * n + t
    high = binary(tl.load(Sums + row, mask=inside, other=0.0), ACC)
    grad = whole(Grad + sample * gb + tl.cast(head, tl.int64) * gh, t8 * gn, inside, E, WIDTH)
    out = whole(Out + sample * ob + tl.cast(head, tl.int64) * oh, t8 * on, inside, E, WIDTH)
    delta = tl.sum(tl.cast(grad, ACC) * tl.cast(out, ACC), 1)
    tl.store(Delta + row, delta, mask=inside)
    near = tl.maximum(begin - window + 1, 0)
    origin = 0 if GIVEN else near
    scale2 = binary(scale, ACC)

    q1, q2 = load_rotated(Q, t8 * qn, inside, Cos, Sin, t - origin, D, HALF, ACC, ROTARY)
    of1 = tl.zeros([BLOCK_M, HALF], ACC)
    of2 = tl.zeros([BLOCK_M, HALF], ACC)
    for start in range(near, last + 1, BLOCK_N):
        s = start + tl.arange(0, BLOCK_N)
        exists = s <= last
        k1, k2 = load_rotated(K, tl.cast(s, tl.int64) * kn, exists, Cos, Sin, s - origin, D, HALF, ACC, ROTARY)
        v = whole(V, tl.cast(s, tl.int64) * vn, exists, E, WIDTH)
        distance = t[:, None] - s[None, :]
        seen = (distance >= 0) & (distance < window)
        of1, of2 = _add_slopes(q1, q2, k1, k2, v, grad, seen, high, delta, scale2, of1, of2, ACC)
    of1, of2 = rotated(of1, of2, Cos, Sin, t - origin, inside, D, HALF, ACC, ROTARY, True)

    if SINKS:
        stop = tl.minimum(sinks, last - window + 1)
        q1, q2 = load_rotated(Q, t8 * qn, inside, Cos, Sin, far + t * 0, D, HALF, ACC, ROTARY)
        part1 = tl.zeros([BLOCK_M, HALF], ACC)
        part2 = tl.zeros([BLOCK_M, HALF], ACC)
        for start in range(0, stop, BLOCK_N):
            s = start + tl.arange(0, BLOCK_N)
            exists = s < stop
            k1, k2 = halves(K, tl.cast(s, tl.int64) * kn, exists, D, HALF)
            v = whole(V, tl.cast(s, tl.int64) * vn, exists, E, WIDTH)
            seen = (t[:, None] - s[None, :] >= window) & exists[None, :]
            part1, part2 = _add_slopes(q1, q2, k1, k2, v, grad, seen, high, delta, scale2, part1, part2, ACC)
        part1, part2 = rotated(part1, part2, Cos, Sin, far + t * 0, inside, D, HALF, ACC, ROTARY, True)
        of1 += part1
        of2 += part2

    first = (sample * (H // R) + group) * length
    for level in range(levels):
        Level = Levels + level * 5
        tokens = tl.load(Level)
        siblings = tl.load(Level + 1)
        own = t // tokens
        place = own % siblings
        stop = last // tokens * summaries
        at = tl.load(Level + 4) + place
        q1, q2 = load_rotated(Q, t8 * qn, inside, Cos, Sin, at, D, HALF, ACC, ROTARY)
        taken = high + excess(own, tl.load(Level + 3), ACC)
        base = first + tl.load(Level + 2)
        end = own * summaries
        low = (own - place) * summaries
        part1 = tl.zeros([BLOCK_M, HALF], ACC)
        part2 = tl.zeros([BLOCK_M, HALF], ACC)
        for start in range(begin // tokens // siblings * siblings * summaries, stop, BLOCK_N):
            j = start + tl.arange(0, BLOCK_N)
            exists = j < stop
            k1, k2 = halves(Keys, (base + j) * D, exists, D, HALF)
            v = whole(Values, (base + j) * E, exists, E, WIDTH)
            seen = (j[None, :] < end[:, None]) & (j[None, :] >= low[:, None])
            part1, part2 = _add_slopes(q1, q2, k1, k2, v, grad, seen, taken, delta, scale2, part1, part2, ACC)
        part1, part2 = rotated(part1, part2, Cos, Sin, at, inside, D, HALF, ACC, ROTARY, True)
        of1 += part1
        of2 += part2

    store_halves(OfQ, ((sample * n + t) * H + head) * D, inside, of1 * scale, of2 * scale, D, HALF)


@triton.jit(do_not_specialize=["B", "H", "R", "n", "rows", "added", "splits", "chunk", "window", "tokens", "siblings", "summaries",
                               "known", "rotations"])  # fmt: skip
def summary_key_gradients(Q, K, V, Grad, Sums, Delta, Cos, Sin, OfK, OfV,
                          qb, qn, qh, kb, kn, kh, vb, vn, vh, gb, gn, gh,
                          B, H, R, n, rows, added, splits, chunk, window, tokens, siblings, summaries, known, rotations, scale,
                          D: tl.constexpr, E: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr,
                          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, LEVEL: tl.constexpr, SINKS: tl.constexpr,
                          ROTARY: tl.constexpr, GIVEN: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is BLOCK_N of the keys of a head and a chunk of the queries that see them; it adds the R query heads in order.

    Keys are the first `rows` tokens, seen by the window, or by later tokens (SINKS), or the rotated summary tokens of a
    LEVEL; row `rotations` of the table is that of the sinks' distance, or the level's first. OfK, OfV [splits, B, rows, G,
    d or e]; their first `added` rows hold gradients already, to which these are added.
    """
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    tiles = tl.cdiv(rows, BLOCK_N)
    G = H // R
    begin = tl.program_id(0) % tiles * BLOCK_N
    rest = tl.program_id(0) // tiles
    split = rest % splits
    rest = rest // splits
    group = rest % G
    sample = tl.cast(rest // G, tl.int64)
    last = tl.minimum(begin + BLOCK_N, rows) - 1
    s = begin + tl.arange(0, BLOCK_N)
    exists = s < rows
    s8 = tl.cast(s, tl.int64)
    K += sample * kb + tl.cast(group, tl.int64) * kh
    V += sample * vb + tl.cast(group, tl.int64) * vh
    origin = 0 if GIVEN else begin
    if LEVEL:
        first = (begin // summaries + 1) * tokens
        stop = (last // summaries // siblings + 1) * siblings * tokens
        k1, k2 = halves(K, s8 * kn, exists, D, HALF)
    elif SINKS:
        first = begin + window
        stop = n
        k1, k2 = halves(K, s8 * kn, exists, D, HALF)
    else:
        first = begin
        stop = last + window
        k1, k2 = load_rotated(K, s8 * kn, exists, Cos, Sin, s - origin, D, HALF, ACC, ROTARY)
    v = whole(V, s8 * vn, exists, E, WIDTH)
    first += split * chunk
    stop = tl.minimum(tl.minimum(stop, first + chunk), n)
    scale2 = binary(scale, ACC)
    of_k1 = tl.zeros([BLOCK_N, HALF], ACC)
    of_k2 = tl.zeros([BLOCK_N, HALF], ACC)
    of_v = tl.zeros([BLOCK_N, WIDTH], ACC)
    steps = tl.cdiv(tl.maximum(stop - first, 0), BLOCK_M)  # of each query head
    for step in range(steps * R):
        head = tl.cast(group * R + step // steps, tl.int64)
        t = first + step % steps * BLOCK_M + tl.arange(0, BLOCK_M)
        t8 = tl.cast(t, tl.int64)
        inside = t < stop
        row = (sample * H + head) * n + t
        high = binary(tl.load(Sums + row, mask=inside, other=0.0), ACC)
        delta = tl.load(Delta + row, mask=inside, other=0.0)
        if LEVEL:
            own = t // tokens
            place = own % siblings
            at = rotations + place
            high += excess(own, known, ACC)
            seen = (s[:, None] < (own * summaries)[None, :]) & (s[:, None] >= ((own - place) * summaries)[None, :])
        elif SINKS:
            at = rotations + t * 0
            seen = t[None, :] - s[:, None] >= window
        else:
            at = t - origin
            seen = (t[None, :] >= s[:, None]) & (t[None, :] - s[:, None] < window)
        seen = seen & inside[None, :] & exists[:, None]
        q1, q2 = load_rotated(Q + sample * qb + head * qh, t8 * qn, inside, Cos, Sin, at, D, HALF, ACC, ROTARY)
        grad = whole(Grad + sample * gb + head * gh, t8 * gn, inside, E, WIDTH)
        logits = products(k1, k2, q1, q2, ACC) * scale2 - high[None, :]
        p = tl.where(seen, tl.exp2(logits), 0.0)
        of_v = tl.dot(tl.cast(p, grad.dtype), grad, of_v, input_precision="ieee", out_dtype=ACC)
        slope = p * (tl.dot(v, tl.trans(grad), input_precision="ieee", out_dtype=ACC) - delta[None, :])
        slope = tl.cast(slope, q1.dtype)
        of_k1 = tl.dot(slope, q1, of_k1, input_precision="ieee", out_dtype=ACC)
        of_k2 = tl.dot(slope, q2, of_k2, input_precision="ieee", out_dtype=ACC)
    row = ((tl.cast(split, tl.int64) * B + sample) * rows + s) * G + group
    if not (LEVEL or SINKS):
        of_v += tl.cast(whole(OfV, row * E, s < added, E, WIDTH), ACC)
    store_whole(OfV, row * E, exists, of_v, E, WIDTH)  # first: registers for the rotation
    if LEVEL:
        of_k1, of_k2 = rotated(of_k1, of_k2, Cos, Sin, rotations + s // summaries % siblings, exists, D, HALF, ACC, ROTARY, True)
    elif not SINKS:
        of_k1, of_k2 = rotated(of_k1, of_k2, Cos, Sin, s - origin, exists, D, HALF, ACC, ROTARY, True)
    of_k1 *= scale
    of_k2 *= scale
    if not (LEVEL or SINKS):
        old1, old2 = halves(OfK, row * D, s < added, D, HALF)
        of_k1 += tl.cast(old1, ACC)
        of_k2 += tl.cast(old2, ACC)
    store_halves(OfK, row * D, exists, of_k1, of_k2, D, HALF)
