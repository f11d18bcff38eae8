"""mode_pool and its gradient by one pass over x [B, A, L, D]: L is the last mode, A joins the modes before it.

A tile is LAST × WIDTH cells and channels of one position of A. Row sums [B, A, D] of the tiles are pooled onto the other
modes, and column sums [B, L, D] of ranges of A onto the last one, by ATen: both are small.
"""

import triton
import triton.language as tl


@triton.jit
def _place(A, L, D, RANGES, LAST: tl.constexpr, WIDTH: tl.constexpr):
    """Sample, range of A, tile of L and the tile's cells and channels of a program."""
    c = tl.program_id(0) % tl.cdiv(D, WIDTH) * WIDTH + tl.arange(0, WIDTH)
    place = tl.program_id(0) // tl.cdiv(D, WIDTH)
    tile = place % tl.cdiv(L, LAST)
    part = place // tl.cdiv(L, LAST)
    return tl.cast(part // RANGES, tl.int64), part % RANGES, tile, tile * LAST + tl.arange(0, LAST), c


@triton.jit(do_not_specialize=["A", "L", "RANGES"])
def mode_pool(X, Rows, Columns, Mask, xb, xa, xl, mb, ma, ml, A, L, D, RANGES,
              LAST: tl.constexpr, WIDTH: tl.constexpr, MASKED: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """rows[sample, tile of L, a] = Σ_l x and columns[sample, range, l] = Σ_a x over the valid cells of the program."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    sample, part, tile, i, c = _place(A, L, D, RANGES, LAST, WIDTH)
    cells = tl.cast(i, tl.int64)
    Rows += (sample * tl.cdiv(L, LAST) + tile) * A * D
    Columns += (sample * RANGES + part) * L * D
    first = part * tl.cdiv(A, RANGES)
    total = tl.zeros([LAST, WIDTH], ACC)
    for a in tl.range(first, tl.minimum(first + tl.cdiv(A, RANGES), A), num_stages=3):
        row = tl.cast(a, tl.int64)
        valid = i < L
        if MASKED:
            valid = valid & (tl.load(Mask + sample * mb + row * ma + cells * ml, mask=valid, other=0) != 0)
        at = X + sample * xb + row * xa + cells[:, None] * xl + c[None, :]
        x = tl.cast(tl.load(at, mask=valid[:, None] & (c < D)[None, :], other=0.0), ACC)
        total += x
        tl.store(Rows + row * D + c, tl.sum(x, 0), mask=c < D)
    tl.store(Columns + cells[:, None] * D + c[None, :], total, mask=(i < L)[:, None] & (c < D)[None, :])


@triton.jit(do_not_specialize=["A", "L", "RANGES"])
def mode_pool_backward(Rows, Columns, Out, Mask, mb, ma, ml, A, L, D, RANGES,
                       LAST: tl.constexpr, WIDTH: tl.constexpr, MASKED: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """out[sample, a, l] = rows[sample, a] + columns[sample, l] at valid cells, else 0."""
    sample, part, _, i, c = _place(A, L, D, RANGES, LAST, WIDTH)
    cells = tl.cast(i, tl.int64)
    inside = (i < L)[:, None] & (c < D)[None, :]
    first = part * tl.cdiv(A, RANGES)
    columns = tl.load(Columns + (sample * L + cells)[:, None] * D + c[None, :], mask=inside, other=0.0)
    for a in range(first, tl.minimum(first + tl.cdiv(A, RANGES), A)):
        row = sample * A + a
        out = columns + tl.load(Rows + row * D + c, mask=c < D, other=0.0)[None, :]
        if MASKED:
            at = Mask + sample * mb + tl.cast(a, tl.int64) * ma + cells * ml
            out = tl.where((tl.load(at, mask=i < L, other=0) != 0)[:, None], out, 0.0)
        tl.store(Out + (row * L + cells)[:, None] * D + c[None, :], tl.cast(out, Out.dtype.element_ty), mask=inside)
