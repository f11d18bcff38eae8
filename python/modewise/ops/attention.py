"""Attention among tokens: of all, along one mode, of a folded sequence, by landmarks, by hashes, synthesized."""

from collections.abc import Sequence

import torch
from torch import Tensor

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
    True = valid: other keys are removed, rows without any are 0. `dropout` of the weights, drawn by `seed`, `step`
    and `site`, without a seed by torch's generator. `causal`: a token sees those up to itself in row-major order; as
    many keys as queries.
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
    """Softmax attention along mode `mode` at fixed places of the others, the scale 1/√d with d = D / heads.

    q, k, v [B, N_1 … N_k, D], projected -> [B, N_1 … N_k, D]. token_mask [B, N_1 … N_k] bool, True = valid;
    axis_mask [N_mode, N_mode] bool, True = may attend; rows without a key are 0. `dropout` of the weights, drawn by
    `seed`, `step` and `site`, without a seed by torch's generator. Axial attention (Ho et al. 2019); the steps of
    TimeSformer's divided attention.
    """
    out: Tensor = _ops.axis_attention(q, k, v, heads, mode, token_mask, axis_mask, dropout, seed, step, site)
    return out


def dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False, scale: float = 1.0) -> Tensor:
    """softmax(scale · q kᵀ) v of each sample and head; heads may share keys and values.

    q [B, n, H, d], k [B, m, G, d], v [B, m, G', e], G and G' divisors of H -> [B, n, H, e]. mask is bool, True =
    kept, and broadcasts to [B, H, n, m]; `causal` (n = m) keeps tokens up to the own one. A row of which nothing is
    kept is NaN. The scores are held for a block of rows at a time (Vaswani et al. 2017, Eq. 1).
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
    form: str = "causal",
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
    """Attention of a sequence folded into a tensor n_1 × … × n_m, the last mode fastest (Tensorized Attention,
    section 3 and Algorithm 1), its exactly causal form, and the forms they are compared with.

    q [B, n, H, d], k [B, n, G, d], v [B, n, G, e], not rotated -> [B, n, H, e]; query head h reads key head h·G/H.
    `form`: "causal" (a window and learned summaries of finished blocks in one softmax), "full", "window", "lambda"
    (LM-Infinite: the last tokens and the first `sinks`), "axial" (Eqs. 3 and 4), "pooled" (Fig. 2), "random",
    "topk". `fold` n_1 … n_m, n_1 = 0: as large as needed; `modes`: of axial and pooled, how many last ones, 0: all;
    `window`: tokens seen (causal, 0: 2·n_m); `density`: share of the tokens seen by random, topk, window; `causal`
    False for encoders; `scale` of the logits, 0: 1/√d.

    latents [m−1, G, r, d], form causal: latents[l] are the r queries that summarise blocks of level l+1. frequencies
    [levels, d/2] float64, radians a step, with `gains` of cos and sin a level: rotary codes; positions [n] int64,
    none: 0 … n−1. token_mask [B, n] bool, True = valid. `dropout` of the weights, drawn by `seed`, `step`, `site`,
    without a seed by torch's generator.
    ValueError with the shapes, or the options that do not go together.
    """
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
    """softmax(s q k̃ᵀ) Z softmax(s q̃ kᵀ) v + convolution(v) by landmarks (Nyströmformer, Eqs. 9 to 14).

    q, k [B, n, H, d], v [B, n, H, e] -> [B, n, H, e]. `landmarks` q̃, k̃: means of so many segments of the valid
    tokens; Z: the pseudo-inverse of softmax(s q̃ k̃ᵀ) by six steps; s = `scale`, 0: 1/√d. A sample of no more valid
    tokens than landmarks has full attention. kernel [H, w], w odd: a depthwise convolution of the values.
    token_mask [B, n] bool, True = valid; rows of others are 0. Xiong et al., AAAI 2021.
    """
    out: Tensor = _ops.nystroem_attention(q, k, v, kernel, token_mask, landmarks=landmarks, scale=scale)
    return out


def hashed_attention(q: Tensor, v: Tensor, rotations: Tensor, token_mask: Tensor | None = None, *, chunk: int = 64) -> Tensor:
    """Attention among tokens that hash alike, several rounds joined (Reformer, section 2 and appendix A).

    q [B, n, H, d], which are keys too at length 1, v [B, n, H, e], rotations [rounds, H, d, buckets / 2] ->
    [B, n, H, e]. Tokens are sorted by bucket and cut into chunks of `chunk`; one sees those of its bucket in its own
    chunk and the one before. token_mask [B, n] bool, True = valid; rows of others are 0. Kitaev et al., ICLR 2020.
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
    """softmax(Z) v with logits Z [B, H, n, m] = left rightᵀ + outer ⊗ inner, either part or both; never held whole.

    v [B, m, H, e], n = `rows`; left [B, n, H, c], right [B, m, H, c] or [1, m, H, c]; outer [H, α, β], inner
    [H, α', β'] with α·α' ≥ n and β·β' ≥ m, of which the first n rows and m columns count -> [B, n, H, e]. key_mask
    [B, m] bool, True = kept; `causal` (n ≤ m) keeps column j of row i for j ≤ i. A row of which nothing is kept is 0.
    Synthesizers: Tay et al. 2020; arXiv 2201.01410, Eqs. 11 to 20.
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
    """What stands under the forms causal, window and lambda of `tensor_attention`: one softmax over the last
    `window` tokens, the first `sinks` and the slots of finished blocks of `fold`.

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
    """Tokens of a text that goes on take their places in the cache of form causal, and attend. No gradient.

    q [B, t, H, d], k [B, t, G, d], v [B, t, G, e], turned: k with its rotary code. In place: ring_keys and
    ring_values [B, at most window, G, ·] of the last tokens (token i at row i mod `window`), first_keys and
    first_values of those that stay visible, and the block being filled: latents [G, r, d], high and total
    [B, G, r, 1], sum_keys [B, G, r, d], sum_values [B, G, r, e] in float32 at least. slot_keys and slot_values
    [B, rows, G, ·] a level with `places` of the block among its siblings and `excess` taken from the logits.
    frequencies [levels, d/2] float64 with `gains`; `first`: position of the first token; `scale` of the logits ->
    [B, t, H, e], or [0] unless `attends`.
    """
    out: Tensor = _ops.summary_step(
        q, k, v, turned, ring_keys, ring_values, first_keys, first_values, slot_keys, slot_values, places, excess,
        latents, high, total, sum_keys, sum_values, frequencies, gains, first, window, scale, attends)  # fmt: skip
    return out


def summary_join(keys: Tensor, values: Tensor, latents: Tensor, high: Tensor, total: Tensor, sum_keys: Tensor, sum_values: Tensor) -> None:
    """Adds rows to the block that is being filled, in order and in place. No gradient.

    keys [B, n, G, d], values [B, n, G, e], latents [G, r, d]; high and total [B, G, r, 1]: the largest logit and the
    sum of exp(logit − high); sum_keys [B, G, r, d] and sum_values [B, G, r, e]: not yet divided by it. All but keys
    and values in float32 at least.
    """
    _ops.summary_join(keys, values, latents, high, total, sum_keys, sum_values)
