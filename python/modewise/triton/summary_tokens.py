"""Summary tokens of complete blocks: softmax(z keysᵀ) (keys, values) of the latents z over the keys of each block.

A level's keys are the tokens (level 1) or the summary tokens of the level below, [B, rows, G, d or e] with any strides; a block
has `children` rows. Its summary token i = block · r + latent is row first + i of Keys, Turned (with the rotary embedding),
Values [B, G, slots, d or e] and Sums [B, G, slots], the logsumexp.
"""

import triton
import triton.language as tl

from modewise.triton.summary_attention import binary, halves, joined, products, rotated, store_halves, store_whole, whole


@triton.jit
def summary_tokens(K, V, Z, Keys, Turned, Values, Sums, Levels, Cos, Sin,
                   kb, kn, kh, vb, vn, vh, zg, zr, G, slots, first, count, children, r, per, turns,
                   level, tokens, siblings, known,
                   D: tl.constexpr, E: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr,
                   ROWS: tl.constexpr, BLOCK_N: tl.constexpr, ROTARY: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is `per` ≤ ROWS of the `count` summary tokens of a head; the first also describes the level in Levels."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    strips = tl.cdiv(count, per)
    begin = tl.program_id(0) % strips * per
    rest = tl.program_id(0) // strips
    group = tl.cast(rest % G, tl.int64)
    sample = tl.cast(rest // G, tl.int64)
    i = begin + tl.arange(0, ROWS)
    end = tl.minimum(begin + per, count)
    inside = i < end
    block = i // r
    K += sample * kb + group * kh
    V += sample * vb + group * vh
    z1, z2 = halves(Z, group * zg + tl.cast(i % r, tl.int64) * zr, inside, D, HALF)
    high = tl.full([ROWS], float("-inf"), ACC)
    total = tl.zeros([ROWS], ACC)
    out = tl.zeros([ROWS, WIDTH], ACC)
    key1 = tl.zeros([ROWS, HALF], ACC)
    key2 = tl.zeros([ROWS, HALF], ACC)
    stop = ((end - 1) // r + 1) * children
    for start in range(begin // r * children, stop, BLOCK_N):
        s = start + tl.arange(0, BLOCK_N)
        exists = s < stop
        k1, k2 = halves(K, tl.cast(s, tl.int64) * kn, exists, D, HALF)
        v = whole(V, tl.cast(s, tl.int64) * vn, exists, E, WIDTH)
        seen = (block[:, None] == (s // children)[None, :]) & exists[None, :]
        logits = tl.where(seen, products(z1, z2, k1, k2, ACC) * binary(1.0, ACC), float("-inf"))
        above = tl.maximum(high, tl.max(logits, 1))
        zero = tl.where(above == float("-inf"), 0.0, above)
        shrink = tl.exp2(high - zero)
        p = tl.cast(tl.exp2(logits - zero[:, None]), K.dtype.element_ty)
        key1 = tl.dot(p, k1, key1 * shrink[:, None], input_precision="ieee", out_dtype=ACC)
        key2 = tl.dot(p, k2, key2 * shrink[:, None], input_precision="ieee", out_dtype=ACC)
        high, total, out = joined(logits, v, high, total, out, ACC)
    total = tl.where(inside, total, 1.0)
    row = (sample * G + group) * slots + first + i
    key1 = key1 / total[:, None]
    key2 = key2 / total[:, None]
    store_halves(Keys, row * D, inside, key1, key2, D, HALF)
    store_whole(Values, row * E, inside, out / total[:, None], E, WIDTH)
    tl.store(Sums + row, (high + tl.log2(total)) * tl.full([], 0.6931471805599453, ACC), mask=inside)
    if ROTARY:
        key1, key2 = rotated(key1, key2, Cos, Sin, turns + block % siblings, inside, D, HALF, ACC, True, False)
        store_halves(Turned, row * D, inside, key1, key2, D, HALF)
    if tl.program_id(0) == 0:
        Level = Levels + level * 5
        tl.store(Level, tokens)
        tl.store(Level + 1, siblings)
        tl.store(Level + 2, first)
        tl.store(Level + 3, known)
        tl.store(Level + 4, turns)
