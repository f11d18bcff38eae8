"""Operators of the backward pass. Autograd calls them; they are public for tests and benchmarks."""

from collections.abc import Sequence

import torch
from torch import Tensor

_ops = torch.ops.modewise


def linear_backward(
    grad: Tensor, x: Tensor, weight: Tensor, x_wanted: bool = True, weight_wanted: bool = True, bias_wanted: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `linear` in x, weight and bias.

    grad [..., M], x [..., K], weight [M, K] -> as x, weight, bias [M]; [0] unless x_wanted, weight_wanted,
    bias_wanted.
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.linear_backward(grad, x, weight, x_wanted, weight_wanted, bias_wanted)
    return out


def convolution_backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    x_wanted: bool = True,
    weight_wanted: bool = True,
    bias_wanted: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `convolution` in x, weight and bias.

    grad [B, M_1 … M_k, C'], x [B, N_1 … N_k, C], weight [C', C, K_1 … K_k], stride, padding, dilation as there -> as
    x, weight, bias [C']; [0] unless x_wanted, weight_wanted, bias_wanted.
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.convolution_backward(
        grad, x, weight, stride, padding, dilation, x_wanted, weight_wanted, bias_wanted)  # fmt: skip
    return out


def dot_product_attention_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `dot_product_attention` in q, k and v; the weights are recomputed.

    grad [B, n, H, e]; q, k, v, mask, causal, scale as there -> as q, k, v.
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.dot_product_attention_backward(grad, q, k, v, mask, causal, scale)
    return out


def synthesized_attention_backward(
    grad: Tensor,
    v: Tensor,
    left: Tensor | None,
    right: Tensor | None,
    outer: Tensor | None,
    inner: Tensor | None,
    rows: int,
    key_mask: Tensor | None,
    causal: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients of `synthesized_attention` in v, left, right, outer and inner; the weights are recomputed.

    grad [B, n, H, e]; v, left, right, outer, inner, rows, key_mask, causal as there -> as v, left, right, outer and
    inner, [0] of those that are None.
    """
    out: tuple[Tensor, Tensor, Tensor, Tensor, Tensor] = _ops.synthesized_attention_backward(
        grad, v, left, right, outer, inner, rows, key_mask, causal)  # fmt: skip
    return out


def summary_attention_backward(
    grad: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    latents: Tensor | None,
    out: Tensor,
    logsumexp: Tensor,
    frequencies: Tensor | None,
    positions: Tensor | None,
    fold: Sequence[int],
    window: int,
    sinks: int,
    scale: float,
    gains: Sequence[float],
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of `summary_attention` in q, k, v and latents.

    grad and out [B, n, H, e], logsumexp [B, H, n]; q, k, v, latents, frequencies, positions, fold, window, sinks,
    scale, gains as there -> as q, k, v and latents ([0] without).
    """
    grads: tuple[Tensor, Tensor, Tensor, Tensor] = _ops.summary_attention_backward(
        grad, q, k, v, latents, out, logsumexp, frequencies, positions, fold, window, sinks, scale, gains)  # fmt: skip
    return grads


def mode_pool_backward(grads: Sequence[Tensor], sizes: Sequence[int], pooling: str, token_mask: Tensor | None = None) -> Tensor:
    """The gradient of `mode_pool` in x.

    grads: a [B, N_i, D] for each mode; sizes B, N_1 … N_k, D; pooling and token_mask as there -> [B, N_1 … N_k, D].
    """
    out: Tensor = _ops.mode_pool_backward(grads, sizes, pooling, token_mask)
    return out


def mode_scores_backward(grad: Tensor, scores: Tensor, q: Tensor, k: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    """Gradients of `mode_scores` in q and k, given the scores, whose masked entries are 0.

    grad and scores [B, heads, N, M], q [B, N, heads·d], k [B, M, heads·d] -> as q and k.
    """
    out: tuple[Tensor, Tensor] = _ops.mode_scores_backward(grad, scores, q, k, heads)
    return out


def feed_forward_kept(
    x: Tensor,
    first: Tensor,
    second: Tensor,
    gate: Tensor | None,
    first_bias: Tensor | None,
    second_bias: Tensor | None,
    p: float,
    seed: int,
    step: int,
    site: int,
) -> tuple[Tensor, Tensor]:
    """`feed_forward` with the tensors that its backward pass needs.

    x [..., K] with first, second, gate, first_bias, second_bias, p, seed, step and site as there -> its result [..., N] and
    the pre-activations, [..., 2M] with a gate (the gate first), [..., M] without.
    """
    out: tuple[Tensor, Tensor] = _ops.feed_forward_kept(x, first, second, gate, first_bias, second_bias, p, seed, step, site)
    return out


def feed_forward_backward(
    grad: Tensor,
    x: Tensor,
    kept: Tensor | None,
    first: Tensor,
    second: Tensor,
    gate: Tensor | None,
    first_bias: Tensor | None,
    p: float,
    seed: int,
    step: int,
    site: int,
    wanted: Sequence[bool],
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients of `feed_forward` in x, first, second, gate, first_bias and second_bias, from the saved tensors.

    grad [..., N], kept: the pre-activations of `feed_forward_kept`, or None: recomputed; x, first, second, gate, first_bias, p,
    seed, step and site as there -> the six gradients, [0] where `wanted` is False.
    """
    out: tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor] = _ops.feed_forward_backward(
        grad, x, kept, first, second, gate, first_bias, p, seed, step, site, wanted)  # fmt: skip
    return out


def swiglu_backward(grad: Tensor, gate_and_up: Tensor) -> Tensor:
    """The gradient of `swiglu`: grad [..., M], gate_and_up [..., 2M] -> [..., 2M]."""
    out: Tensor = _ops.swiglu_backward(grad, gate_and_up)
    return out


def layer_norm_stats(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """`layer_norm` with the statistics for its backward pass: (result, mean, 1 / std).

    x [..., D], weight and bias [D] or None, eps as there -> as x, and two numbers per row, float32 at least.
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.layer_norm_stats(x, weight, bias, eps)
    return out


def layer_norm_backward(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, grad_sum: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `layer_norm` in x, weight and bias; grad_sum is added to that of x.

    grad and x [..., D], mean and rstd from `layer_norm_stats`, weight [D] or None, grad_sum [..., D] or None -> as
    x, weight [D], bias [D].
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.layer_norm_backward(grad, x, mean, rstd, weight, grad_sum)
    return out


def dropout_add_norm_stats(
    residual: Tensor, x: Tensor, p: float, seed: int, step: int, site: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`dropout_add_norm` with the statistics for its backward pass: (sum, normed, mean, 1 / std).

    residual and x [..., D], p, seed, step, site, weight, bias, eps as there -> sum and normed as x; mean and
    1 / std: a number per row.
    """
    out: tuple[Tensor, Tensor, Tensor, Tensor] = _ops.dropout_add_norm_stats(residual, x, p, seed, step, site, weight, bias, eps)
    return out


def rms_norm_stats(x: Tensor, weight: Tensor | None, eps: float) -> tuple[Tensor, Tensor]:
    """`rms_norm` with the statistics for its backward pass: (result, 1 / root of the mean square).

    x [..., D], weight [D] or None, eps as there -> as x, and a number per row, float32 at least.
    """
    out: tuple[Tensor, Tensor] = _ops.rms_norm_stats(x, weight, eps)
    return out


def rms_norm_backward(grad: Tensor, x: Tensor, rstd: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """Gradients of `rms_norm` in x and weight.

    grad and x [..., D], rstd from `rms_norm_stats`, weight [D] or None -> as x, weight [D].
    """
    out: tuple[Tensor, Tensor] = _ops.rms_norm_backward(grad, x, rstd, weight)
    return out


def batch_norm_backward(grad: Tensor, x: Tensor, mean: Tensor, var: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `batch_norm` in x, weight and bias.

    grad and x [..., C], mean and var [C] from `batch_norm`, weight [C], eps as there -> as x, and weight [C], bias [C]
    as mean.
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.batch_norm_backward(grad, x, mean, var, weight, eps)
    return out


def masked_moments_backward(grad_mean: Tensor, grad_var: Tensor, rows: Tensor, mask: Tensor, mean: Tensor) -> Tensor:
    """The gradient of `masked_moments` in rows.

    grad_mean, grad_var and mean [C], rows [n, C], mask [n] bool -> as rows.
    """
    out: Tensor = _ops.masked_moments_backward(grad_mean, grad_var, rows, mask, mean)
    return out


def language_loss_gradients(
    hidden: Tensor, head: Tensor, targets: Tensor, chunk: int, hidden_wanted: bool, head_wanted: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """`language_loss` with its gradients, from one pass: (loss, of hidden, of head).

    hidden [..., D], head [V, D], targets [...], chunk as there -> a scalar, as hidden, as head; [0] unless
    hidden_wanted, head_wanted.
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.language_loss_gradients(hidden, head, targets, chunk, hidden_wanted, head_wanted)
    return out
