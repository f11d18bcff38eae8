"""mode_product and mode_contract along one mode of x [B, before, N, after, H·d]; the modes before and after it are joined.

The columns of a head are the triples (o, i, e) of its fibres and channels, the channel fastest. Offsets inside a sample
are int32.
"""

import triton
import triton.language as tl


@triton.jit
def _columns(first, xo, xi, yo, yi, after, HEAD: tl.constexpr, COLS: tl.constexpr):
    """Offsets of the columns first … first + COLS in x and in y."""
    c = first + tl.arange(0, COLS)
    fibre = c // HEAD
    o = fibre // after
    i = fibre % after
    return o * xo + i * xi + c % HEAD, o * yo + i * yi + c % HEAD


@triton.jit(do_not_specialize=["H", "before", "M", "N", "after"])
def mode_product(X, Factor, Out, xb, xo, xn, xi, ob, oo, om, oi, fb, fh, fm, fn, H, before, M, N, after,
                 HEAD: tl.constexpr, ROWS: tl.constexpr, DEPTH: tl.constexpr, COLS: tl.constexpr,
                 PARTS: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is ROWS × COLS of the product of a head of a sample: out[m, c] = Σ_n factor[m, n] x[n, c].

    A float32 factor of a bfloat16 x is the sum of PARTS = 3 bfloat16 parts, whose products are exact in float32.
    """
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    columns = before * after * HEAD
    head = tl.program_id(0) % H
    place = tl.program_id(0) // H
    m = place % tl.cdiv(M, ROWS) * ROWS + tl.arange(0, ROWS)
    place = place // tl.cdiv(M, ROWS)
    first = place % tl.cdiv(columns, COLS) * COLS
    sample = tl.cast(place // tl.cdiv(columns, COLS), tl.int64)
    exist = first + tl.arange(0, COLS) < columns
    in_x, in_out = _columns(first, xo, xi, oo, oi, after, HEAD, COLS)
    X += sample * xb + head * HEAD
    Factor += sample * fb + tl.cast(head, tl.int64) * fh
    acc = tl.zeros([ROWS, COLS], ACC)
    for start in range(0, N, DEPTH):
        n = start + tl.arange(0, DEPTH)
        at = Factor + m[:, None] * fm + n[None, :] * fn
        factor = tl.load(at, mask=(m < M)[:, None] & (n < N)[None, :], other=0.0)
        at = X + n[:, None] * xn + in_x[None, :]
        x = tl.load(at, mask=(n < N)[:, None] & exist[None, :], other=0.0)
        for part in tl.static_range(PARTS):
            rounded = tl.cast(factor, x.dtype)
            acc = tl.dot(rounded, x, acc, input_precision="ieee", out_dtype=ACC)
            if part + 1 < PARTS:
                factor -= tl.cast(rounded, factor.dtype)
    at = Out + sample * ob + head * HEAD + m[:, None] * om + in_out[None, :]
    tl.store(at, tl.cast(acc, Out.dtype.element_ty), mask=(m < M)[:, None] & exist[None, :])


@triton.jit(do_not_specialize=["H", "before", "M", "N", "after", "SPLITS"])
def mode_contract(A, X, Sums, ab, ao, am, ai, xb, xo, xn, xi, H, before, M, N, after, SPLITS,
                  HEAD: tl.constexpr, ROWS: tl.constexpr, DEPTH: tl.constexpr, COLS: tl.constexpr,
                  WIDE: tl.constexpr):  # fmt: skip
    """A program is ROWS × DEPTH of sums[sample, head, split] [M, N] = Σ_c a[m, c] x[n, c] over its split of the columns."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    columns = before * after * HEAD
    m = tl.program_id(0) % tl.cdiv(M, ROWS) * ROWS + tl.arange(0, ROWS)
    place = tl.program_id(0) // tl.cdiv(M, ROWS)
    n = place % tl.cdiv(N, DEPTH) * DEPTH + tl.arange(0, DEPTH)
    group = place // tl.cdiv(N, DEPTH)
    share = tl.cdiv(tl.cdiv(columns, COLS), SPLITS) * COLS
    first = group % SPLITS * share
    last = tl.minimum(first + share, columns)
    head = group // SPLITS % H
    sample = tl.cast(group // SPLITS // H, tl.int64)
    A += sample * ab + head * HEAD
    X += sample * xb + head * HEAD
    acc = tl.zeros([ROWS, DEPTH], ACC)
    for start in range(first, last, COLS):
        exist = start + tl.arange(0, COLS) < last
        in_a, in_x = _columns(start, ao, ai, xo, xi, after, HEAD, COLS)
        a = tl.load(A + m[:, None] * am + in_a[None, :], mask=(m < M)[:, None] & exist[None, :], other=0.0)
        x = tl.load(X + n[:, None] * xn + in_x[None, :], mask=(n < N)[:, None] & exist[None, :], other=0.0)
        acc = tl.dot(a, tl.trans(x), acc, input_precision="ieee", out_dtype=ACC)
    at = Sums + tl.cast(group, tl.int64) * M * N + m[:, None] * N + n[None, :]
    tl.store(at, acc, mask=(m < M)[:, None] & (n < N)[None, :])
