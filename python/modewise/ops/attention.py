"""Attention between tokens: full, axial, tensor attention of a folded sequence, Nyström, hashed (LSH), synthesized."""

from collections.abc import Sequence

import torch
from torch import Tensor

from modewise._aliases import ATTENTION_TYPES, current

_ops = torch.ops.modewise


def full_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    heads: int,
    token_mask: Tensor | None = None,
    dropout: float = 0.0,
    seed: int | None = 0,
    step: int = 0,
    site: int = 0,
    causal: bool = False,
) -> Tensor:
    """softmax(q kᵀ / √d) v over all tokens of a tensor, d = D / heads (Vaswani et al. 2017, Eq. 1).

    q [B, N_1 … N_k, D], k and v [B, M_1 … M_j, D], projected -> [B, N_1 … N_k, D]. token_mask [B, M_1 … M_j] bool,
    True = valid: the other keys are masked, rows without a key are 0. `dropout` of the weights, drawn by `seed`, `step`
    and `site`, without a seed by torch's generator. `causal`: a causal mask in row-major order, for as many keys as
    queries.
    """
    out: Tensor = _ops.full_attention(q, k, v, heads, token_mask, dropout, seed, step, site, causal)
    return out


def axis_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    heads: int,
    mode: int,
    token_mask: Tensor | None = None,
    axis_mask: Tensor | None = None,
    dropout: float = 0.0,
    seed: int | None = 0,
    step: int = 0,
    site: int = 0,
) -> Tensor:
    """Axial attention: softmax attention along mode `mode` at fixed positions of the others, scale 1/√d with d = D / heads.

    q, k, v [B, N_1 … N_k, D], projected -> [B, N_1 … N_k, D]. token_mask [B, N_1 … N_k] bool, True = valid;
    axis_mask [N_mode, N_mode] bool, True = may attend; rows without a key are 0. `dropout` of the weights, drawn by
    `seed`, `step` and `site`, without a seed by torch's generator. Ho et al. 2019; the steps of TimeSformer's divided
    attention.
    """
    out: Tensor = _ops.axis_attention(q, k, v, heads, mode, token_mask, axis_mask, dropout, seed, step, site)
    return out


def dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False, scale: float = 1.0) -> Tensor:
    """softmax(scale · q kᵀ) v of each sample and head; heads may share keys and values.

    q [B, n, H, d], k [B, m, G, d], v [B, m, G', e], G and G' divisors of H -> [B, n, H, e]. mask is bool, True =
    attend, and broadcasts to [B, H, n, m]; `causal` (n = m): a causal mask. A row without keys is NaN. The scores are
    computed for a block of rows at a time (Vaswani et al. 2017, Eq. 1).
    """
    out: Tensor = _ops.dot_product_attention(q, k, v, mask, causal, scale)
    return out


def tensor_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    latents: Tensor | None = None,
    frequencies: Tensor | None = None,
    positions: Tensor | None = None,
    token_mask: Tensor | None = None,
    *,
    form: str = "summary",
    fold: Sequence[int] = (),
    modes: int = 0,
    window: int = 0,
    sinks: int = 0,
    density: float = 0.1,
    causal: bool = True,
    scale: float = 0.0,
    gains: Sequence[float] = (),
    dropout: float = 0.0,
    seed: int | None = 0,
    step: int = 0,
    site: int = 0,
) -> Tensor:
    """Tensor attention: attention over a sequence folded into a tensor n_1 × … × n_m, the last mode fastest (Tensorized
    Attention, section 3 and Algorithm 1), its exactly causal type with block summaries, and the baselines.

    q [B, n, H, d], k [B, n, G, d], v [B, n, G, e], not rotated -> [B, n, H, e]; query head h reads key head h·G/H.
    `form`, the type: "summary" (a window and learned summary tokens of complete blocks in one softmax), "full", "window",
    "lambda" (LM-Infinite: the last tokens and the first `sinks`), "axial" (Eqs. 3 and 4), "pooled" (Fig. 2), "random",
    "topk". `fold` n_1 … n_m, n_1 = 0: as large as needed; `modes`: the number of last modes of axial and pooled, 0: all;
    `window`: attended tokens (summary, 0: 2·n_m); `density`: fraction of the tokens attended to by random, topk, window;
    `causal` False for encoders; `scale` of the logits, 0: 1/√d.

    latents [m−1, G, r, d], type summary: latents[l] are the r queries that summarise blocks of level l+1. frequencies
    [levels, d/2] float64, radians per position, with `gains` of cos and sin per level: rotary embedding; positions [n]
    int64, None: 0 … n−1. token_mask [B, n] bool, True = valid. `dropout` of the weights, drawn by `seed`, `step`, `site`,
    without a seed by torch's generator. ValueError for invalid shapes or options.
    """
    form = current(ATTENTION_TYPES, form)
    out: Tensor = _ops.tensor_attention(
        q, k, v, latents, frequencies, positions, token_mask, form=form, fold=fold, modes=modes, window=window,
        sinks=sinks, density=density, causal=causal, scale=scale, gains=gains, dropout=dropout, seed=seed, step=step,
        site=site)  # fmt: skip
    return out


def nystroem_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    kernel: Tensor | None = None,
    token_mask: Tensor | None = None,
    *,
    landmarks: int = 64,
    scale: float = 0.0,
) -> Tensor:
    """Nyström attention softmax(s q k̃ᵀ) Z softmax(s q̃ kᵀ) v + convolution(v) (Nyströmformer, Eqs. 9 to 14).

    q, k [B, n, H, d], v [B, n, H, e] -> [B, n, H, e]. q̃, k̃: means of `landmarks` segments of the valid tokens; Z: the
    pseudo-inverse of softmax(s q̃ k̃ᵀ) by six steps; s = `scale`, 0: 1/√d. A sample with at most `landmarks` valid tokens
    has full attention. kernel [H, w], w odd: a depthwise convolution of the values. token_mask [B, n] bool, True = valid;
    other rows are 0. Xiong et al., AAAI 2021.
    """
    out: Tensor = _ops.nystroem_attention(q, k, v, kernel, token_mask, landmarks=landmarks, scale=scale)
    return out


def hashed_attention(q: Tensor, v: Tensor, rotations: Tensor, token_mask: Tensor | None = None, *, chunk: int = 64) -> Tensor:
    """LSH attention: attention within hash buckets, over several rounds (Reformer, section 2 and appendix A).

    q [B, n, H, d], normalized to length 1 also the keys, v [B, n, H, e], rotations [rounds, H, d, buckets / 2] ->
    [B, n, H, e]. Tokens are sorted by bucket and cut into chunks of `chunk`; a token attends to its bucket in its own
    chunk and the one before. token_mask [B, n] bool, True = valid; other rows are 0. Kitaev et al., ICLR 2020.
    """
    out: Tensor = _ops.hashed_attention(q, v, rotations, token_mask, chunk=chunk)
    return out


def synthesized_attention(
    v: Tensor,
    left: Tensor | None,
    right: Tensor | None,
    outer: Tensor | None,
    inner: Tensor | None,
    rows: int,
    key_mask: Tensor | None = None,
    causal: bool = False,
) -> Tensor:
    """softmax(Z) v with logits Z [B, H, n, m] = left rightᵀ + outer ⊗ inner, or one of the terms; Z is never materialized.

    v [B, m, H, e], n = `rows`; left [B, n, H, c], right [B, m, H, c] or [1, m, H, c]; outer [H, α, β], inner
    [H, α', β'] with α·α' ≥ n and β·β' ≥ m, of which the first n rows and m columns are used -> [B, n, H, e]. key_mask
    [B, m] bool, True = attend; `causal` (n ≤ m): row i attends to columns j ≤ i. A row without keys is 0. Synthesizers:
    Tay et al. 2020; arXiv 2201.01410, Eqs. 11 to 20.
    """
    out: Tensor = _ops.synthesized_attention(v, left, right, outer, inner, rows, key_mask, causal)
    return out


def summary_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    latents: Tensor | None,
    frequencies: Tensor | None,
    positions: Tensor | None,
    fold: Sequence[int],
    window: int,
    sinks: int,
    scale: float,
    gains: Sequence[float],
) -> tuple[Tensor, Tensor]:
    """The types summary, window and lambda of `tensor_attention`: one softmax over the last `window` tokens, the first
    `sinks` tokens and the summary tokens of complete blocks of `fold`.

    q [B, n, H, d], k [B, n, G, d], v [B, n, G, e], latents [m−1, G, r, d] or None, frequencies [levels, d/2]
    float64 with `gains`, positions [n] int64, `scale` of the logits -> (out [B, n, H, e], logsumexp of the logits
    [B, H, n] in float32 at least, which has no gradient).
    """
    out: tuple[Tensor, Tensor] = _ops.summary_attention(q, k, v, latents, frequencies, positions, fold, window, sinks, scale, gains)
    return out


def summary_step(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    turned: Tensor,
    ring_keys: Tensor,
    ring_values: Tensor,
    first_keys: Tensor,
    first_values: Tensor,
    slot_keys: Sequence[Tensor],
    slot_values: Sequence[Tensor],
    places: Sequence[int],
    excess: Sequence[float],
    latents: Tensor | None,
    high: Tensor | None,
    total: Tensor | None,
    sum_keys: Tensor | None,
    sum_values: Tensor | None,
    frequencies: Tensor | None,
    gains: Sequence[float],
    first: int,
    window: int,
    scale: float,
    attends: bool,
) -> Tensor:
    """A decoding step of the type summary: appends tokens to the cache and attends from them. No gradient.

    q [B, t, H, d], k [B, t, G, d], v [B, t, G, e], turned: the rotated k. In place: ring_keys and ring_values
    [B, at most window, G, ·] of the last tokens (token i at row i mod `window`), first_keys and first_values of the
    attention sinks, and the partial block: latents [G, r, d], high and total [B, G, r, 1], sum_keys [B, G, r, d],
    sum_values [B, G, r, e] in float32 at least. slot_keys and slot_values: the summary tokens [B, rows, G, ·] of each
    level, with `places`, the index of the block among its siblings, and `excess`, subtracted from the logits.
    frequencies [levels, d/2] float64 with `gains`; `first`: position of the first token; `scale` of the logits ->
    [B, t, H, e], or [0] unless `attends`.
    """
    out: Tensor = _ops.summary_step(
        q, k, v, turned, ring_keys, ring_values, first_keys, first_values, slot_keys, slot_values, places, excess,
        latents, high, total, sum_keys, sum_values, frequencies, gains, first, window, scale, attends)  # fmt: skip
    return out


def summary_join(keys: Tensor, values: Tensor, latents: Tensor, high: Tensor, total: Tensor, sum_keys: Tensor, sum_values: Tensor) -> None:
    """Adds rows to the partial block, in order and in place. No gradient.

    keys [B, n, G, d], values [B, n, G, e], latents [G, r, d]; high and total [B, G, r, 1]: the largest logit and the
    sum of exp(logit − high); sum_keys [B, G, r, d] and sum_values [B, G, r, e]: not yet divided by it. All except
    keys and values in float32 at least.
    """
    _ops.summary_join(keys, values, latents, high, total, sum_keys, sum_values)
