"""mode_scores: S = softmax(scale · q kᵀ) of each sample and head, and its gradients.

q [B, n, H·d], k [B, m, H·d], scores [B, H, n, m]; a row without a key is 0.
"""

import triton
import triton.language as tl


@triton.jit
def _rows(X, sample, head, batch, row, first, size, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The addresses of x[sample, first … first + ROWS, head], and which of them exist."""
    i = first + tl.arange(0, ROWS)
    c = tl.arange(0, WIDTH)
    at = X + tl.cast(sample, tl.int64) * batch + tl.cast(head, tl.int64) * width
    return at + tl.cast(i, tl.int64)[:, None] * row + c[None, :], (i < size)[:, None] & (c < width)[None, :]


@triton.jit
def _cells(X, sample, head, batch, across, row, col, top, left, n, m, ROWS: tl.constexpr, COLS: tl.constexpr):
    """The addresses of x[sample, head, top … top + ROWS, left … left + COLS], and which of them exist."""
    i = top + tl.arange(0, ROWS)
    j = left + tl.arange(0, COLS)
    at = X + tl.cast(sample, tl.int64) * batch + tl.cast(head, tl.int64) * across
    at += tl.cast(i, tl.int64)[:, None] * row + tl.cast(j, tl.int64)[None, :] * col
    return at, (i < n)[:, None] & (j < m)[None, :]


@triton.jit
def _logits(q, K, Keys, Modes, sample, head, kb, kn, ab, ah, am, cn, cm, top, left, n, m, d, scale,
            ROWS: tl.constexpr, COLS: tl.constexpr, D: tl.constexpr, KEYS: tl.constexpr, MODES: tl.constexpr,
            ACC: tl.constexpr):  # fmt: skip
    """scale · q kᵀ of a tile, −∞ at masked keys, and which keys are seen."""
    keys, inside = _rows(K, sample, head, kb, kn, left, m, d, COLS, D)
    k = tl.load(keys, mask=inside, other=0.0)
    j = left + tl.arange(0, COLS)
    kept = j < m
    if KEYS:
        at = Keys + tl.cast(sample, tl.int64) * ab + tl.cast(head, tl.int64) * ah + tl.cast(j, tl.int64) * am
        kept = kept & (tl.load(at, mask=kept, other=0) != 0)
    seen = (top + tl.arange(0, ROWS) < n)[:, None] & kept[None, :]
    if MODES:
        at, inside = _cells(Modes, 0, 0, 0, 0, cn, cm, top, left, n, m, ROWS, COLS)
        seen = seen & (tl.load(at, mask=inside, other=0) != 0)
    logits = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=ACC) * scale
    return tl.where(seen, logits, float("-inf")), seen


@triton.jit(do_not_specialize=["H", "n", "m"])
def mode_scores(Q, K, Keys, Modes, Out, qb, qn, kb, kn, ab, ah, am, cn, cm, ob, oh, on, H, n, m, d, scale,
                ROWS: tl.constexpr, COLS: tl.constexpr, D: tl.constexpr, KEYS: tl.constexpr, MODES: tl.constexpr,
                WIDE: tl.constexpr):  # fmt: skip
    """A program is ROWS queries of a head: it sums their exponentials over all keys, then computes the scores again."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    top = tl.program_id(0) % tl.cdiv(n, ROWS) * ROWS
    group = tl.program_id(0) // tl.cdiv(n, ROWS)
    sample = group // H
    head = group % H
    queries, inside = _rows(Q, sample, head, qb, qn, top, n, d, ROWS, D)
    q = tl.load(queries, mask=inside, other=0.0)
    high = tl.full([ROWS], float("-inf"), ACC)
    total = tl.zeros([ROWS], ACC)
    some = tl.zeros([ROWS], tl.int32)
    for left in range(0, m, COLS):
        logits, seen = _logits(q, K, Keys, Modes, sample, head, kb, kn, ab, ah, am, cn, cm, top, left, n, m, d, scale,
                               ROWS, COLS, D, KEYS, MODES, ACC)  # fmt: skip
        above = tl.maximum(high, tl.max(logits, 1))
        base = tl.where(above == float("-inf"), 0.0, above)  # no key yet
        total = total * tl.exp(high - base) + tl.sum(tl.exp(logits - base[:, None]), 1)
        high = above
        some = tl.maximum(some, tl.max(tl.cast(seen, tl.int32), 1))
    base = tl.where(high == float("-inf"), 0.0, high)
    for left in range(0, m, COLS):
        logits, seen = _logits(q, K, Keys, Modes, sample, head, kb, kn, ab, ah, am, cn, cm, top, left, n, m, d, scale,
                               ROWS, COLS, D, KEYS, MODES, ACC)  # fmt: skip
        scores = tl.where((some > 0)[:, None], tl.exp(logits - base[:, None]) / total[:, None], 0.0)
        at, exist = _cells(Out, sample, head, ob, oh, on, 1, top, left, n, m, ROWS, COLS)
        tl.store(at, tl.cast(scores, Out.dtype.element_ty), mask=exist)


@triton.jit
def _pair(Grad, S, sample, head, gb, gh, gn, gm, sb, sh, sn, sm, top, left, n, m, ROWS: tl.constexpr,
          COLS: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """A tile of the gradient and of the scores."""
    at, inside = _cells(Grad, sample, head, gb, gh, gn, gm, top, left, n, m, ROWS, COLS)
    grad = tl.load(at, mask=inside, other=0.0)
    at, inside = _cells(S, sample, head, sb, sh, sn, sm, top, left, n, m, ROWS, COLS)
    return tl.cast(grad, ACC), tl.cast(tl.load(at, mask=inside, other=0.0), ACC)


@triton.jit(do_not_specialize=["H", "n", "m"])
def mode_scores_backward(Grad, S, Q, K, OfQ, OfK, gb, gh, gn, gm, sb, sh, sn, sm, qb, qn, kb, kn, rb, rn, tb, tn,
                         H, n, m, d, scale,
                         ROWS: tl.constexpr, COLS: tl.constexpr, D: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is a head of at most ROWS queries and COLS keys."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    sample = tl.program_id(0) // H
    head = tl.program_id(0) % H
    grad, s = _pair(Grad, S, sample, head, gb, gh, gn, gm, sb, sh, sn, sm, 0, 0, n, m, ROWS, COLS, ACC)
    slope = tl.cast(s * (grad - tl.sum(grad * s, 1)[:, None]) * scale, Q.dtype.element_ty)
    at, inside = _rows(Q, sample, head, qb, qn, 0, n, d, ROWS, D)
    of_k = tl.dot(tl.trans(slope), tl.load(at, mask=inside, other=0.0), input_precision="ieee", out_dtype=ACC)
    at, inside = _rows(OfK, sample, head, tb, tn, 0, m, d, COLS, D)
    tl.store(at, tl.cast(of_k, OfK.dtype.element_ty), mask=inside)
    at, inside = _rows(K, sample, head, kb, kn, 0, m, d, COLS, D)
    of_q = tl.dot(slope, tl.load(at, mask=inside, other=0.0), input_precision="ieee", out_dtype=ACC)
    at, inside = _rows(OfQ, sample, head, rb, rn, 0, n, d, ROWS, D)
    tl.store(at, tl.cast(of_q, OfQ.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["H", "n", "m"])
def mode_scores_backward_queries(Grad, S, K, OfQ, Means, gb, gh, gn, gm, sb, sh, sn, sm, kb, kn, rb, rn, H, n, m, d, scale,
                                 ROWS: tl.constexpr, COLS: tl.constexpr, D: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is ROWS queries of a head: their gradient, and means = Σ_m grad s."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    top = tl.program_id(0) % tl.cdiv(n, ROWS) * ROWS
    group = tl.program_id(0) // tl.cdiv(n, ROWS)
    sample = group // H
    head = group % H
    mean = tl.zeros([ROWS], ACC)
    for left in range(0, m, COLS):
        grad, s = _pair(Grad, S, sample, head, gb, gh, gn, gm, sb, sh, sn, sm, top, left, n, m, ROWS, COLS, ACC)
        mean += tl.sum(grad * s, 1)
    i = top + tl.arange(0, ROWS)
    tl.store(Means + tl.cast(group, tl.int64) * n + i, mean, mask=i < n)
    of_q = tl.zeros([ROWS, D], ACC)
    for left in range(0, m, COLS):
        grad, s = _pair(Grad, S, sample, head, gb, gh, gn, gm, sb, sh, sn, sm, top, left, n, m, ROWS, COLS, ACC)
        keys, inside = _rows(K, sample, head, kb, kn, left, m, d, COLS, D)
        k = tl.load(keys, mask=inside, other=0.0)
        slope = tl.cast(s * (grad - mean[:, None]) * scale, k.dtype)
        of_q = tl.dot(slope, k, of_q, input_precision="ieee", out_dtype=ACC)
    at, inside = _rows(OfQ, sample, head, rb, rn, top, n, d, ROWS, D)
    tl.store(at, tl.cast(of_q, OfQ.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["H", "n", "m"])
def mode_scores_backward_keys(Grad, S, Q, OfK, Means, gb, gh, gn, gm, sb, sh, sn, sm, qb, qn, tb, tn, H, n, m, d, scale,
                              ROWS: tl.constexpr, COLS: tl.constexpr, D: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is COLS keys of a head."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    left = tl.program_id(0) % tl.cdiv(m, COLS) * COLS
    group = tl.program_id(0) // tl.cdiv(m, COLS)
    sample = group // H
    head = group % H
    of_k = tl.zeros([COLS, D], ACC)
    for top in range(0, n, ROWS):
        grad, s = _pair(Grad, S, sample, head, gb, gh, gn, gm, sb, sh, sn, sm, top, left, n, m, ROWS, COLS, ACC)
        i = top + tl.arange(0, ROWS)
        mean = tl.load(Means + tl.cast(group, tl.int64) * n + i, mask=i < n, other=0.0)
        queries, inside = _rows(Q, sample, head, qb, qn, top, n, d, ROWS, D)
        q = tl.load(queries, mask=inside, other=0.0)
        slope = tl.cast(s * (grad - mean[:, None]) * scale, q.dtype)
        of_k = tl.dot(tl.trans(slope), q, of_k, input_precision="ieee", out_dtype=ACC)
    at, inside = _rows(OfK, sample, head, tb, tn, left, m, d, COLS, D)
    tl.store(at, tl.cast(of_k, OfK.dtype.element_ty), mask=inside)
