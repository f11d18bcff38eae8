"""Tensor attention of a folded sequence, and the causal type with summary tokens, step by step."""

from collections.abc import Sequence

import torch
from torch import Tensor

from modewise._aliases import ATTENTION_TYPES, current

_ops = torch.ops.modewise


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
    `causal` False for encoders (summary and lambda are causal all the same); `scale` of the logits, 0: 1/√d.

    latents [m−1, G, r, d], type summary: latents[l] are the r queries that summarise blocks of level l+1. frequencies
    [levels, d/2] float64, radians per position, with `gains` of cos and sin per level: rotary embedding; positions [n]
    int64, None: 0 … n−1. token_mask [B, n] bool, True = valid. `dropout` of the weights (not for summary, lambda
    and causal window), drawn by `seed`, `step`, `site`, without a seed by torch's generator. ValueError for invalid shapes or options.

    Parameters
    ----------
    q
        [B, n, H, d].
    k, v
        [B, n, G, d] and [B, n, G, e].
    latents
        [m−1, G, r, d], queries of the summary tokens.
    frequencies, gains
        [levels, d/2] float64 and a factor for each level: rotary embedding.
    positions
        [n] int64; None: 0 … n−1.
    token_mask
        [B, n] bool, True = valid; None: all are.
    form
        The attention type.
    fold
        Sizes of the modes, the last fastest.
    modes, window, sinks, density
        Options of types, as above.
    causal
        Whether a token attends only to itself and earlier ones.
    scale
        Factor of the logits; 0: 1/√d.
    dropout
        Dropout probability of the weights; 0 in evaluation.
    seed, step, site
        Key of the random numbers; without a seed torch's generator.

    Returns
    -------
    Tensor [B, n, H, e]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> x = torch.ones(1, 12, 2, 4)
    >>> tensor_attention(x, x, x, form="axial", fold=[3, 4], causal=False).shape
    torch.Size([1, 12, 2, 4])
    """
    form = current(ATTENTION_TYPES, form)
    out: Tensor = _ops.tensor_attention(
        q, k, v, latents, frequencies, positions, token_mask, form=form, fold=fold, modes=modes, window=window,
        sinks=sinks, density=density, causal=causal, scale=scale, gains=gains, dropout=dropout, seed=seed, step=step,
        site=site)  # fmt: skip
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

    Parameters
    ----------
    q
        [B, n, H, d].
    k, v
        [B, n, G, d] and [B, n, G, e].
    latents
        [m−1, G, r, d], or None.
    frequencies, gains
        Rotary embedding of each level, as in `tensor_attention`.
    positions
        [n] int64, or None.
    fold
        Sizes of the modes.
    window, sinks
        Attended last and first tokens.
    scale
        Factor of the logits.

    Returns
    -------
    (out, logsumexp)
        [B, n, H, e] and [B, H, n].

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> x = torch.ones(1, 8, 2, 4)
    >>> summary_attention(x, x, x, None, None, None, [8], window=3, sinks=0, scale=0.5, gains=[])[0].shape
    torch.Size([1, 8, 2, 4])
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

    Parameters
    ----------
    q, k, v, turned
        The new tokens; turned: the rotated k.
    ring_keys, ring_values, first_keys, first_values
        Last tokens and attention sinks, changed in place.
    slot_keys, slot_values, places, excess
        Summary tokens of each level, index of the block, and what is subtracted from logits.
    latents, high, total, sum_keys, sum_values
        The partial block, changed in place, or None.
    frequencies, gains
        Rotary embedding of each level.
    first
        Position of the first token.
    window
        Attended last tokens.
    scale
        Factor of the logits.
    attends
        Whether the output is computed.

    Returns
    -------
    Tensor [B, t, H, e], or [0]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> summary_step.__name__  # `modewise.nn.AttentionCache` calls it
    'summary_step'
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

    Parameters
    ----------
    keys, values
        [B, n, G, d] and [B, n, G, e].
    latents
        [G, r, d].
    high, total
        [B, G, r, 1], changed in place.
    sum_keys, sum_values
        [B, G, r, d] and [B, G, r, e], changed in place.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> total = torch.zeros(1, 1, 1, 1)
    >>> summary_join(torch.ones(1, 3, 1, 2), torch.ones(1, 3, 1, 2), torch.zeros(1, 1, 2), torch.full((1, 1, 1, 1), -torch.inf), total, torch.zeros(1, 1, 1, 2), torch.zeros(1, 1, 1, 2))
    >>> total.item()
    3.0
    """
    _ops.summary_join(keys, values, latents, high, total, sum_keys, sum_values)
