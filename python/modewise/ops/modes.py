"""Mode products and attention along the modes of token tensors x [B, N_1 … N_k, D]; modes are counted from 0."""

from collections.abc import Sequence

import torch
from torch import Tensor

_ops = torch.ops.modewise


def mode_product(x: Tensor, factor: Tensor, mode: int) -> Tensor:
    """Mode product of `x` with a matrix along `mode`: out[b, …, m, …, c] = Σ_n factor[m, n] · x[b, …, n, …, c].

    x [B, N_1 … N_k, D]; factor [M, N_mode] for all, or [B, H, M, N_mode] for each sample and head, where head h
    has channels h·D/H … (h+1)·D/H − 1 -> [B, N_1 … M … N_k, D]. Float32, float64 or bfloat16 (summed in float32).
    Differentiable to any order. ValueError for incompatible shapes.
    Kolda and Bader 2009; HOT (arXiv 2412.02919), Definition 3.5.

    Parameters
    ----------
    x
        [B, N_1 … N_k, D].
    factor
        [M, N_mode], or [B, H, M, N_mode] for each sample and head.
    mode
        From 0.

    Returns
    -------
    Tensor [B, N_1 … M … N_k, D]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> mode_product(torch.ones(1, 3, 4, 2), torch.ones(5, 4), mode=1).shape
    torch.Size([1, 3, 5, 2])
    """
    out: Tensor = _ops.mode_product(x, factor, mode)
    return out


def mode_contract(a: Tensor, x: Tensor, mode: int, heads: int) -> Tensor:
    """The adjoint of `mode_product` in its factor: Σ of a · x over the other modes and the channels of a head.

    a [B, N_1 … M … N_k, D], x [B, N_1 … N_k, D] with M and N at `mode` -> [B, heads, M, N]; heads = 0 sums over
    the batch and all channels too: [M, N]. Differentiable to any order. ValueError where a and x differ elsewhere.

    Parameters
    ----------
    a
        [B, N_1 … M … N_k, D].
    x
        [B, N_1 … N_k, D].
    mode
        From 0.
    heads
        0: sums over the batch and all channels.

    Returns
    -------
    Tensor [B, heads, M, N] or [M, N]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> mode_contract(torch.ones(1, 5, 4), torch.ones(1, 3, 4), mode=0, heads=2).shape
    torch.Size([1, 2, 5, 3])
    """
    out: Tensor = _ops.mode_contract(a, x, mode, heads)
    return out


def mode_pool(x: Tensor, pooling: str, token_mask: Tensor | None = None) -> list[Tensor]:
    """Pools `x` onto each of its modes in one pass (HOT, section 4.2, g_pool).

    x [B, N_1 … N_k, D], pooling "sum" or "mean" -> for each mode i a [B, N_i, D]. token_mask [B, N_1 … N_k] bool,
    True = valid: the other tokens are ignored, also NaN. ValueError for another pooling.

    Parameters
    ----------
    x
        [B, N_1 … N_k, D].
    pooling
        "sum" or "mean".
    token_mask
        [B, N_1 … N_k] bool, True = valid; None: all are.

    Returns
    -------
    list of Tensor
        [B, N_i, D] for each mode.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> [out.shape for out in mode_pool(torch.ones(1, 3, 4, 2), "sum")]
    [torch.Size([1, 3, 2]), torch.Size([1, 4, 2])]
    """
    out: list[Tensor] = _ops.mode_pool(x, pooling, token_mask)
    return out


def mode_scores(q: Tensor, k: Tensor, heads: int, key_mask: Tensor | None = None, mode_mask: Tensor | None = None) -> Tensor:
    """softmax(q kᵀ / √d) of each sample and head: the attention matrix S_i of a mode (HOT, Eqs. 3 to 9).

    q [B, N, heads·d], k [B, M, heads·d] -> [B, heads, N, M]. key_mask [B, M] or [B, heads, M] and mode_mask [N, M]
    are bool, True = attend; a row without a key is 0. Softmax in float32 at least.

    Parameters
    ----------
    q
        [B, N, heads·d].
    k
        [B, M, heads·d].
    heads
        Number of heads.
    key_mask
        [B, M] or [B, heads, M] bool, True = attend.
    mode_mask
        [N, M] bool, True = attend.

    Returns
    -------
    Tensor [B, heads, N, M]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> mode_scores(torch.zeros(1, 1, 4), torch.zeros(1, 2, 4), heads=1)
    tensor([[[[0.5000, 0.5000]]]])
    """
    out: Tensor = _ops.mode_scores(q, k, heads, key_mask, mode_mask)
    return out


def kronecker_attention(
    x: Tensor,
    value: Tensor,
    query_weight: Tensor,
    query_bias: Tensor | None,
    key_weight: Tensor,
    key_bias: Tensor | None,
    query_norm_weight: Tensor | None = None,
    query_norm_bias: Tensor | None = None,
    key_norm_weight: Tensor | None = None,
    key_norm_bias: Tensor | None = None,
    *,
    heads: int,
    combine: str = "product",
    pooling: str = "sum",
    share_modes: bool = False,
    attend_modes: Sequence[int] = (),
    rope_modes: Sequence[int] = (),
    rope_base: float = 10000.0,
    kernel: str = "softmax",
    features: int = 0,
    feature_map: str = "softmax",
    feature_seed: int = 0,
    dropout: float = 0.0,
    seed: int | None = 0,
    step: int = 0,
    site: int = 0,
    token_mask: Tensor | None = None,
    mode_masks: Sequence[Tensor | None] | None = None,
) -> Tensor:
    """Kronecker attention: one attention matrix S_i per mode, applied as mode products (HOT, Eqs. 3 to 9).

    x [B, N_1 … N_k, D] is pooled onto each mode (`pooling` "sum" or "mean"), projected by query_weight, query_bias,
    key_weight, key_bias (a sum has the bias once for each of its cells), normed by query_norm_weight, query_norm_bias,
    key_norm_weight, key_norm_bias, rotated; S_i = softmax(q kᵀ / √d), d = D / heads. The S_i are applied to the projected value [B, N_1 … N_k, D] ->
    [B, N_1 … N_k, D].

    Weights [k·D, D] mode-major and biases [k·D], or [D, D] and [D] with `share_modes`; norms [d]. `combine`:
    "product" V ×_1 S_1 … ×_k S_k, "sum" Σ_i V ×_i S_i, "mean" that sum / k. `attend_modes`: attended modes,
    empty: all; `rope_modes`: modes with a rotary embedding of base `rope_base`. `kernel` "linear": S_i from `features`
    positive random features (0: d·⌈ln d⌉, up to a multiple of 8), never formed; `feature_map` "softmax" or
    "regularised" (arXiv 2412.02919v1), drawn by `feature_seed`. `dropout` of the entries of S_i, drawn by `seed`,
    `step` and `site`, without a seed by torch's generator: 0 in evaluation.

    token_mask [B, N_1 … N_k] bool, True = valid: other positions are ignored, rows still sum to 1. mode_masks: one
    [N_i, N_i] bool per mode, True = may attend, or None; softmax kernel only. ValueError for incompatible shapes.

    Parameters
    ----------
    x
        [B, N_1 … N_k, D], the source of queries and keys.
    value
        [B, N_1 … N_k, D], projected.
    query_weight, key_weight
        [k·D, D] mode-major, or [D, D] with share_modes.
    query_bias, key_bias
        [k·D] or [D], or None.
    query_norm_weight, query_norm_bias, key_norm_weight, key_norm_bias
        [d], LayerNorm of queries and keys, or None.
    heads
        Number of heads, d = D / heads.
    combine
        "product", "sum" or "mean" of the modes.
    pooling
        "sum" or "mean".
    share_modes
        Whether all modes have the same weights.
    attend_modes
        Attended modes; empty: all.
    rope_modes, rope_base
        Modes with a rotary embedding, and its base.
    kernel
        "softmax" or "linear" (random features).
    features, feature_map, feature_seed
        Number of features (0: automatic), "softmax" or "regularised", and their seed.
    dropout
        Dropout probability of the weights; 0 in evaluation.
    seed, step, site
        Key of the random numbers; without a seed torch's generator.
    token_mask
        [B, N_1 … N_k] bool, True = valid; None: all are.
    mode_masks
        [N_i, N_i] bool for each mode, True = may attend, or None.

    Returns
    -------
    Tensor [B, N_1 … N_k, D]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> x, w = torch.ones(1, 3, 4, 8), torch.ones(16, 8)
    >>> kronecker_attention(x, x, w, None, w, None, heads=2).shape
    torch.Size([1, 3, 4, 8])
    """
    out: Tensor = _ops.kronecker_attention(
        x, value, query_weight, query_bias, key_weight, key_bias, query_norm_weight, query_norm_bias, key_norm_weight,
        key_norm_bias, heads=heads, combine=combine, pooling=pooling, share_modes=share_modes,
        attend_modes=attend_modes, rope_modes=rope_modes, rope_base=rope_base, kernel=kernel, features=features,
        feature_map=feature_map, feature_seed=feature_seed, dropout=dropout, seed=seed, step=step, site=site,
        token_mask=token_mask, mode_masks=mode_masks)  # fmt: skip
    return out


def mode_attention(
    x: Tensor,
    query_weight: Tensor,
    query_bias: Tensor | None,
    key_weight: Tensor,
    key_bias: Tensor | None,
    query_norm_weight: Tensor | None = None,
    query_norm_bias: Tensor | None = None,
    key_norm_weight: Tensor | None = None,
    key_norm_bias: Tensor | None = None,
    *,
    heads: int,
    pooling: str = "sum",
    share_modes: bool = False,
    attend_modes: Sequence[int] = (),
    rope_modes: Sequence[int] = (),
    rope_base: float = 10000.0,
    kernel: str = "softmax",
    features: int = 0,
    feature_map: str = "softmax",
    feature_seed: int = 0,
    token_mask: Tensor | None = None,
    mode_masks: Sequence[Tensor | None] | None = None,
) -> list[Tensor]:
    """Attention matrices S_i of `kronecker_attention` for the same arguments, before dropout (HOT, Eqs. 3 to 9).

    x [B, N_1 … N_k, D] with query_weight, query_bias, key_weight, key_bias, query_norm_weight, query_norm_bias,
    key_norm_weight, key_norm_bias, heads, pooling, share_modes, rope_modes, rope_base, token_mask and mode_masks as
    there -> one [B, heads, N_i, N_i] for each of `attend_modes`, in their order (empty: all modes), in x's
    type. For kernel "linear" with features, feature_map and feature_seed its approximation, formed explicitly.

    Parameters
    ----------
    x
        [B, N_1 … N_k, D], the source of queries and keys.
    query_weight, key_weight
        [k·D, D] mode-major, or [D, D] with share_modes.
    query_bias, key_bias
        [k·D] or [D], or None.
    query_norm_weight, query_norm_bias, key_norm_weight, key_norm_bias
        [d], LayerNorm of queries and keys, or None.
    heads
        Number of heads, d = D / heads.
    pooling
        "sum" or "mean".
    share_modes
        Whether all modes have the same weights.
    attend_modes
        Attended modes; empty: all.
    rope_modes, rope_base
        Modes with a rotary embedding, and its base.
    kernel
        "softmax" or "linear" (random features).
    features, feature_map, feature_seed
        Number of features (0: automatic), "softmax" or "regularised", and their seed.
    token_mask
        [B, N_1 … N_k] bool, True = valid; None: all are.
    mode_masks
        [N_i, N_i] bool for each mode, True = may attend, or None.

    Returns
    -------
    list of Tensor
        [B, heads, N_i, N_i] for each attended mode.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> x, w = torch.ones(1, 3, 4, 8), torch.ones(16, 8)
    >>> [out.shape for out in mode_attention(x, w, None, w, None, heads=2)]
    [torch.Size([1, 2, 3, 3]), torch.Size([1, 2, 4, 4])]
    """
    out: list[Tensor] = _ops.mode_attention(
        x, query_weight, query_bias, key_weight, key_bias, query_norm_weight, query_norm_bias, key_norm_weight,
        key_norm_bias, heads=heads, pooling=pooling, share_modes=share_modes, attend_modes=attend_modes,
        rope_modes=rope_modes, rope_base=rope_base, kernel=kernel, features=features, feature_map=feature_map,
        feature_seed=feature_seed, token_mask=token_mask, mode_masks=mode_masks)  # fmt: skip
    return out


def orthogonal_projection(like: Tensor, width: int, features: int, seed: int, mode: int, regularised: bool = False) -> Tensor:
    """Projection of positive random features: blocks of orthogonal rows.

    Drawn by `seed` and `mode`, for heads of `width` -> [features, width] on the device of `like`, in its
    accumulation type. Row lengths are those of Gaussian vectors, an unbiased estimate of the softmax kernel, or all √width
    if `regularised`.
    Performer (arXiv 2009.14794), section 2.4; its SM-REG.

    Parameters
    ----------
    like
        A tensor of the device and type.
    width
        Head width d.
    features
        Number of rows.
    seed, mode
        Key of the random numbers.
    regularised
        Whether all rows have the length √width.

    Returns
    -------
    Tensor [features, width]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> orthogonal_projection(torch.ones(1), 4, 8, seed=1, mode=0).shape
    torch.Size([8, 4])
    """
    out: Tensor = _ops.orthogonal_projection(like, width, features, seed, mode, regularised)
    return out
