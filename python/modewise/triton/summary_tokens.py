"""Summary tokens of complete blocks: softmax(z keysᵀ) (keys, values) of the latents z over the keys of each block.

A level's keys are the tokens (level 1) or the summary tokens of the level below, [B, rows, G, d or e] with any strides; a block
has `children` rows. Its summary token i = block · r + latent is row first + i of Keys, Rotated (with the rotary embedding),
Values [B, G, length, d or e] and Sums [B, G, length], the logsumexp.
"""

import triton
import triton.language as tl

from modewise.triton.summary_attention import binary, halves, joined, products, rotated, store_halves, store_whole, whole


@triton.jit(do_not_specialize=["G", "length", "first", "count", "children", "r", "per", "rotations", "level", "tokens", "siblings", "known"])
def summary_tokens(K, V, Z, Keys, Rotated, Values, Sums, Levels, Cos, Sin,
                   kb, kn, kh, vb, vn, vh, zg, zr, G, length, first, count, children, r, per, rotations,
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
    row = (sample * G + group) * length + first + i
    key1 = key1 / total[:, None]
    key2 = key2 / total[:, None]
    store_halves(Keys, row * D, inside, key1, key2, D, HALF)
    store_whole(Values, row * E, inside, out / total[:, None], E, WIDTH)
    tl.store(Sums + row, (high + tl.log2(total)) * tl.full([], 0.6931471805599453, ACC), mask=inside)
    if ROTARY:
        key1, key2 = rotated(key1, key2, Cos, Sin, rotations + block % siblings, inside, D, HALF, ACC, True, False)
        store_halves(Rotated, row * D, inside, key1, key2, D, HALF)
    if tl.program_id(0) == 0:
        Level = Levels + level * 5
        tl.store(Level, tokens)
        tl.store(Level + 1, siblings)
        tl.store(Level + 2, first)
        tl.store(Level + 3, known)
        tl.store(Level + 4, rotations)


@triton.jit(do_not_specialize=["G", "length", "first", "count", "children", "r", "per", "rows"])
def summary_tokens_backward(K, V, Z, Keys, Values, Sums, OfKeys, OfValues, OfK, OfV, OfZ,
                            kb, kn, kh, vb, vn, vh, zg, zr, G, length, first, count, children, r, per, rows,
                            D: tl.constexpr, E: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr,
                            ROWS: tl.constexpr, BLOCK_N: tl.constexpr, ADD: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """A program is whole blocks with `per` ≤ ROWS of the `count` summary tokens of a head, whose gradients are OfKeys,
    OfValues [B, count, G, d or e]. It stores those of their keys in OfK, OfV [B, rows, G, d or e] (or ADDs), and each summary
    token's part of the gradient of its latent in OfZ [B, count, G, d]."""
    ACC: tl.constexpr = tl.float64 if WIDE else tl.float32
    strips = tl.cdiv(count, per)
    begin = tl.program_id(0) % strips * per
    member = tl.program_id(0) // strips
    group = tl.cast(member % G, tl.int64)
    sample = tl.cast(member // G, tl.int64)
    i = begin + tl.arange(0, ROWS)
    end = tl.minimum(begin + per, count)
    inside = i < end
    block = i // r
    K += sample * kb + group * kh
    V += sample * vb + group * vh
    z1, z2 = halves(Z, group * zg + tl.cast(i % r, tl.int64) * zr, inside, D, HALF)
    token = (sample * G + group) * length + first + i
    key1, key2 = halves(Keys, token * D, inside, D, HALF)
    value = whole(Values, token * E, inside, E, WIDTH)
    high = tl.load(Sums + token, mask=inside, other=0.0) * binary(1.0, ACC)
    row = (sample * count + i) * G + group
    of_key1, of_key2 = halves(OfKeys, row * D, inside, D, HALF)
    of_value = whole(OfValues, row * E, inside, E, WIDTH)
    delta = tl.sum(of_key1 * tl.cast(key1, ACC), 1) + tl.sum(of_key2 * tl.cast(key2, ACC), 1)
    delta += tl.sum(of_value * tl.cast(value, ACC), 1)
    of_key1 = tl.cast(of_key1, K.dtype.element_ty)
    of_key2 = tl.cast(of_key2, K.dtype.element_ty)
    of_value = tl.cast(of_value, K.dtype.element_ty)
    of_z1 = tl.zeros([ROWS, HALF], ACC)
    of_z2 = tl.zeros([ROWS, HALF], ACC)
    rest = tl.zeros([ROWS], ACC)  # sum of the gradients of a row's logits: 0 but for the rounding of delta, whose effect it removes
    stop = ((end - 1) // r + 1) * children
    for start in range(begin // r * children, stop, BLOCK_N):
        s = start + tl.arange(0, BLOCK_N)
        exists = s < stop
        k1, k2 = halves(K, tl.cast(s, tl.int64) * kn, exists, D, HALF)
        v = whole(V, tl.cast(s, tl.int64) * vn, exists, E, WIDTH)
        seen = (block[:, None] == (s // children)[None, :]) & exists[None, :] & inside[:, None]
        logits = products(z1, z2, k1, k2, ACC) * binary(1.0, ACC) - high[:, None]
        p = tl.where(seen, tl.exp2(logits), 0.0)
        slope = products(of_key1, of_key2, k1, k2, ACC)
        slope = tl.dot(of_value, tl.trans(v), slope, input_precision="ieee", out_dtype=ACC)
        slope = p * (slope - delta[:, None])
        rest += tl.sum(slope, 1)
        slope = tl.cast(slope, K.dtype.element_ty)
        p = tl.cast(p, K.dtype.element_ty)
        of_z1 = tl.dot(slope, k1, of_z1, input_precision="ieee", out_dtype=ACC)
        of_z2 = tl.dot(slope, k2, of_z2, input_precision="ieee", out_dtype=ACC)
        of_k1 = tl.dot(tl.trans(p), of_key1, input_precision="ieee", out_dtype=ACC)
        of_k2 = tl.dot(tl.trans(p), of_key2, input_precision="ieee", out_dtype=ACC)
        of_k1 = tl.dot(tl.trans(slope), z1, of_k1, input_precision="ieee", out_dtype=ACC)
        of_k2 = tl.dot(tl.trans(slope), z2, of_k2, input_precision="ieee", out_dtype=ACC)
        of_v = tl.dot(tl.trans(p), of_value, input_precision="ieee", out_dtype=ACC)
        child = (sample * rows + s) * G + group
        if ADD:
            old1, old2 = halves(OfK, child * D, exists, D, HALF)
            of_k1 += tl.cast(old1, ACC)
            of_k2 += tl.cast(old2, ACC)
            of_v += tl.cast(whole(OfV, child * E, exists, E, WIDTH), ACC)
        store_halves(OfK, child * D, exists, of_k1, of_k2, D, HALF)
        store_whole(OfV, child * E, exists, of_v, E, WIDTH)
    key1, key2 = halves(Keys, token * D, inside, D, HALF)
    of_z1 -= rest[:, None] * tl.cast(key1, ACC)
    of_z2 -= rest[:, None] * tl.cast(key2, ACC)
    store_halves(OfZ, row * D, inside, of_z1, of_z2, D, HALF)
