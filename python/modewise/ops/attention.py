"""Attention between tokens: full, axial, Nyström, hashed (LSH), synthesized."""

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
    True = valid: the other keys are masked, rows without a key are 0. `dropout` of the weights, drawn by `seed`, `step`
    and `site`, without a seed by torch's generator. `causal`: a causal mask in row-major order, for as many keys as
    queries.

    Parameters
    ----------
    q
        [B, N_1 … N_k, D].
    k, v
        [B, M_1 … M_j, D].
    heads
        Number of heads.
    token_mask
        [B, M_1 … M_j] bool, True = valid; None: all are.
    dropout
        Dropout probability of the weights; 0 in evaluation.
    seed, step, site
        Key of the random numbers; without a seed torch's generator.
    causal
        Whether a token attends only to itself and earlier ones.

    Returns
    -------
    Tensor [B, N_1 … N_k, D]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> x = torch.ones(1, 3, 4, 8)
    >>> full_attention(x, x, x, heads=2).shape
    torch.Size([1, 3, 4, 8])
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

    Parameters
    ----------
    q, k, v
        [B, N_1 … N_k, D].
    heads
        Number of heads.
    mode
        From 0.
    token_mask
        [B, N_1 … N_k] bool, True = valid; None: all are.
    axis_mask
        [N_mode, N_mode] bool, True = may attend.
    dropout
        Dropout probability of the weights; 0 in evaluation.
    seed, step, site
        Key of the random numbers; without a seed torch's generator.

    Returns
    -------
    Tensor [B, N_1 … N_k, D]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> x = torch.ones(1, 3, 4, 8)
    >>> axis_attention(x, x, x, heads=2, mode=1).shape
    torch.Size([1, 3, 4, 8])
    """
    out: Tensor = _ops.axis_attention(q, k, v, heads, mode, token_mask, axis_mask, dropout, seed, step, site)
    return out


def dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False, scale: float = 1.0) -> Tensor:
    """softmax(scale · q kᵀ) v of each sample and head; heads may share keys and values.

    q [B, n, H, d], k [B, m, G, d], v [B, m, G', e], G and G' divisors of H -> [B, n, H, e]. mask is bool, True =
    attend, and broadcasts to [B, H, n, m]; `causal` (n = m): a causal mask. A row without keys is 0. The scores are
    computed for a block of rows at a time (Vaswani et al. 2017, Eq. 1).

    Parameters
    ----------
    q
        [B, n, H, d].
    k, v
        [B, m, G, d] and [B, m, G', e].
    mask
        bool, True = attend; broadcasts to [B, H, n, m].
    causal
        Whether a token attends only to itself and earlier ones.
    scale
        Factor of the scores.

    Returns
    -------
    Tensor [B, n, H, e]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> x = torch.ones(1, 5, 2, 4)
    >>> dot_product_attention(x, x, x, causal=True).shape
    torch.Size([1, 5, 2, 4])
    """
    out: Tensor = _ops.dot_product_attention(q, k, v, mask, causal, scale)
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

    Parameters
    ----------
    q, k
        [B, n, H, d].
    v
        [B, n, H, e].
    kernel
        [H, w], w odd, or None.
    token_mask
        [B, n] bool, True = valid; None: all are.
    landmarks
        Number of landmarks.
    scale
        Factor of the logits; 0: 1/√d.

    Returns
    -------
    Tensor [B, n, H, e]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> x = torch.ones(1, 6, 2, 4)
    >>> nystroem_attention(x, x, x, landmarks=2).shape
    torch.Size([1, 6, 2, 4])
    """
    out: Tensor = _ops.nystroem_attention(q, k, v, kernel, token_mask, landmarks=landmarks, scale=scale)
    return out


def hashed_attention(q: Tensor, v: Tensor, rotations: Tensor, token_mask: Tensor | None = None, *, chunk: int = 64) -> Tensor:
    """LSH attention: attention within hash buckets, over several rounds (Reformer, section 2 and appendix A).

    q [B, n, H, d], normalized to length 1 also the keys, v [B, n, H, e], rotations [rounds, H, d, buckets / 2] ->
    [B, n, H, e]. Tokens are sorted by bucket and cut into chunks of `chunk`; a token attends to its bucket in its own
    chunk and the one before. token_mask [B, n] bool, True = valid; other rows are 0. Kitaev et al., ICLR 2020.

    Parameters
    ----------
    q
        [B, n, H, d], queries and keys.
    v
        [B, n, H, e].
    rotations
        [rounds, H, d, buckets / 2].
    token_mask
        [B, n] bool, True = valid; None: all are.
    chunk
        Tokens of a chunk.

    Returns
    -------
    Tensor [B, n, H, e]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> x = torch.ones(1, 8, 2, 4)
    >>> hashed_attention(x, x, torch.ones(1, 2, 4, 2), chunk=4).shape
    torch.Size([1, 8, 2, 4])
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

    Parameters
    ----------
    v
        [B, m, H, e].
    left, right
        [B, n, H, c] and [B, m, H, c] or [1, m, H, c], or None.
    outer, inner
        [H, α, β] and [H, α', β'], or None.
    rows
        n, the number of queries.
    key_mask
        [B, m] bool, True = attend.
    causal
        Whether row i attends to columns up to i.

    Returns
    -------
    Tensor [B, n, H, e]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> v = torch.ones(1, 6, 2, 4)
    >>> synthesized_attention(v, None, None, torch.ones(2, 2, 2), torch.ones(2, 3, 3), rows=6).shape
    torch.Size([1, 6, 2, 4])
    """
    out: Tensor = _ops.synthesized_attention(v, left, right, outer, inner, rows, key_mask, causal)
    return out
