"""dot_product_attention of at most 64 tokens: softmax(scale · q kᵀ) v of one head in one tile.

q, grad, out [B, n, H, d or e], k [B, m, G, d], v [B, m, G', e], G·R = G'·P = H, P = R or 1; HEAD = d, VALUE = e; the last dimension is contiguous.
"""

import triton
import triton.language as tl


@triton.jit
def _rows(X, sample, head, batch, row, across, first, size, width: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The addresses of x[sample, first … first + ROWS, head, 0 … WIDTH], and which of them exist."""
    i = first + tl.arange(0, ROWS)
    c = tl.arange(0, WIDTH)
    at = X + tl.cast(sample, tl.int64) * batch + tl.cast(head, tl.int64) * across
    return at + tl.cast(i, tl.int64)[:, None] * row + c[None, :], (i < size)[:, None] & (c < width)[None, :]


@triton.jit
def _weights(q, k, Mask, sample, head, mb, mh, mn, mm, first, n, m, scale,
             ROWS: tl.constexpr, COLS: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """softmax(scale · q kᵀ) of the queries first … first + ROWS, 0 beyond n and m."""
    i = first + tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLS)[None, :]
    inside = (i < n) & (j < m)
    seen = inside
    if CAUSAL:
        seen = seen & (j <= i)
    if MASKED:
        at = Mask + tl.cast(sample, tl.int64) * mb + tl.cast(head, tl.int64) * mh
        allowed = tl.load(at + tl.cast(i, tl.int64) * mn + tl.cast(j, tl.int64) * mm, mask=inside, other=0)
        seen = seen & (allowed != 0)
    logits = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=ACC) * scale
    logits = tl.where(seen, logits, float("-inf"))
    # A row that sees no key is 0; the sum of any other is at least 1.
    weights = tl.where(seen, tl.exp(logits - tl.max(logits, 1)[:, None]), 0.0)
    total = tl.sum(weights, 1)
    return weights / tl.where(total == 0, 1.0, total)[:, None]


@triton.jit(do_not_specialize=["H", "R", "P", "n", "m"])
def short_attention(Q, K, V, Mask, Out,
                    qb, qn, qh, kb, kn, kh, vb, vn, vh, mb, mh, mn, mm, ob, on, oh, H, R, P, n, m, scale,
                    ROWS: tl.constexpr, COLS: tl.constexpr, D: tl.constexpr, E: tl.constexpr, HEAD: tl.constexpr, VALUE: tl.constexpr,
                    CAUSAL: tl.constexpr, MASKED: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is a head of a sample."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    sample = tl.program_id(0) // H
    head = tl.program_id(0) % H
    at, inside = _rows(Q, sample, head, qb, qn, qh, 0, n, HEAD, ROWS, D)
    q = tl.load(at, mask=inside, other=0.0)
    at, inside = _rows(K, sample, head // R, kb, kn, kh, 0, m, HEAD, COLS, D)
    k = tl.load(at, mask=inside, other=0.0)
    at, inside = _rows(V, sample, head // P, vb, vn, vh, 0, m, VALUE, COLS, E)
    v = tl.load(at, mask=inside, other=0.0)
    p = _weights(q, k, Mask, sample, head, mb, mh, mn, mm, 0, n, m, scale, ROWS, COLS, CAUSAL, MASKED, ACC)
    out = tl.dot(tl.cast(p, v.dtype), v, input_precision="ieee", out_dtype=ACC)
    at, inside = _rows(Out, sample, head, ob, on, oh, 0, n, VALUE, ROWS, E)
    tl.store(at, tl.cast(out, Out.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["H", "R", "P", "n", "m"])
def short_attention_backward(Q, K, V, Grad, Mask, OfQ, OfK, OfV,
                             qb, qn, qh, kb, kn, kh, vb, vn, vh, gb, gn, gh, mb, mh, mn, mm,
                             rb, rn, rh, sb, sn, sh, tb, tn, th, H, R, P, n, m, scale,
                             ROWS: tl.constexpr, COLS: tl.constexpr, D: tl.constexpr, E: tl.constexpr, HEAD: tl.constexpr, VALUE: tl.constexpr,
                             SHARED: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is a key head of a sample: it adds the gradients of its R query heads in order. SHARED: they share a value head
    (P = R), or each has one of its own (P = 1)."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    groups = H // R
    sample = tl.program_id(0) // groups
    group = tl.program_id(0) % groups
    at_k, in_k = _rows(K, sample, group, kb, kn, kh, 0, m, HEAD, COLS, D)
    k = tl.load(at_k, mask=in_k, other=0.0)
    if SHARED:
        at_v, in_v = _rows(V, sample, group, vb, vn, vh, 0, m, VALUE, COLS, E)
        v = tl.load(at_v, mask=in_v, other=0.0)
    of_k = tl.zeros([COLS, D], ACC)
    of_v = tl.zeros([COLS, E], ACC)
    for head in range(group * R, group * R + R):
        if not SHARED:
            at_own, in_own = _rows(V, sample, head, vb, vn, vh, 0, m, VALUE, COLS, E)
            v = tl.load(at_own, mask=in_own, other=0.0)
        for first in range(0, n, ROWS):
            at_q, in_q = _rows(Q, sample, head, qb, qn, qh, first, n, HEAD, ROWS, D)
            at_g, in_g = _rows(Grad, sample, head, gb, gn, gh, first, n, VALUE, ROWS, E)
            q = tl.load(at_q, mask=in_q, other=0.0)
            g = tl.load(at_g, mask=in_g, other=0.0)
            p = _weights(q, k, Mask, sample, head, mb, mh, mn, mm, first, n, m, scale, ROWS, COLS, CAUSAL, MASKED, ACC)
            of_v = tl.dot(tl.cast(tl.trans(p), g.dtype), g, of_v, input_precision="ieee", out_dtype=ACC)
            slope = p * tl.dot(g, tl.trans(v), input_precision="ieee", out_dtype=ACC)
            slope = tl.cast((slope - p * tl.sum(slope, 1)[:, None]) * scale, q.dtype)
            of_k = tl.dot(tl.trans(slope), q, of_k, input_precision="ieee", out_dtype=ACC)
            of_q = tl.dot(slope, k, input_precision="ieee", out_dtype=ACC)
            to_q, _ = _rows(OfQ, sample, head, rb, rn, rh, first, n, HEAD, ROWS, D)
            tl.store(to_q, tl.cast(of_q, OfQ.dtype.element_ty), mask=in_q)
        if not SHARED:
            to_own, _ = _rows(OfV, sample, head, tb, tn, th, 0, m, VALUE, COLS, E)
            tl.store(to_own, tl.cast(of_v, OfV.dtype.element_ty), mask=in_own)
            of_v = tl.zeros([COLS, E], ACC)
    to_k, _ = _rows(OfK, sample, group, sb, sn, sh, 0, m, HEAD, COLS, D)
    tl.store(to_k, tl.cast(of_k, OfK.dtype.element_ty), mask=in_k)
    if SHARED:
        to_v, _ = _rows(OfV, sample, group, tb, tn, th, 0, m, VALUE, COLS, E)
        tl.store(to_v, tl.cast(of_v, OfV.dtype.element_ty), mask=in_v)
