"""Norms, dropout with the residual sum, and the moments of batch normalization."""

import torch
from torch import Tensor

_ops = torch.ops.modewise


def layer_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """(x − mean) / √(variance + eps) · weight + bias over the last dimension (Ba et al. 2016).

    x [..., D], weight and bias [D], optionally float32 for a bfloat16 x -> as x. Statistics in float32 at least;
    gradients have the same bits for any number of threads.
    """
    out: Tensor = _ops.layer_norm(x, weight, bias, eps)
    return out


def rms_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """x / √(mean(x²) + eps) · weight over the last dimension (Zhang and Sennrich 2019).

    x [..., D], weight [D], optionally float32 for a bfloat16 x -> as x. Statistics in float32 at least.
    """
    out: Tensor = _ops.rms_norm(x, weight, eps)
    return out


def dropout_add(residual: Tensor | None, x: Tensor, p: float, seed: int, step: int, site: int) -> Tensor:
    """residual + dropout(x): elements are kept with probability 1 − p and multiplied by 1 / (1 − p).

    residual (or None) and x of one shape -> as x. The mask depends on `seed`, `step`, `site` and the element's
    index alone (Philox), so nothing is saved for the backward pass. p = 0 draws nothing.
    """
    out: Tensor = _ops.dropout_add(residual, x, p, seed, step, site)
    return out


def dropout_add_norm(
    residual: Tensor,
    x: Tensor,
    p: float,
    seed: int,
    step: int,
    site: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> tuple[Tensor, Tensor]:
    """Fused dropout, residual sum and LayerNorm: (sum, normed).

    sum = `dropout_add`(residual, x, p, seed, step, site), normed = `layer_norm`(sum, weight, bias, eps); residual
    and x [..., D], weight and bias [D] -> both as x.
    """
    out: tuple[Tensor, Tensor] = _ops.dropout_add_norm(residual, x, p, seed, step, site, weight, bias, eps)
    return out


def batch_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalization in training: (x − mean) / √(variance + eps) · weight + bias over all rows (Ioffe and Szegedy 2015).

    x [..., C] with at least one row, weight and bias [C], optionally float32 for a bfloat16 x -> (as x, mean [C], biased
    variance [C]), the last two in float32 at least, without gradient. Gradients have the same bits for any number of threads.
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.batch_norm(x, weight, bias, eps)
    return out


def masked_moments(rows: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, biased variance and number of the rows where a mask is True; of all rows if it is False everywhere.

    rows [n, C], mask [n] bool, True = included -> (mean [C], variance [C], count: a float64 scalar). Mean and
    variance are differentiable in rows.
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.masked_moments(rows, mask)
    return out


def update_moments(running_mean: Tensor, running_var: Tensor, mean: Tensor, var: Tensor, count: Tensor, momentum: float) -> None:
    """In place: running ← (1 − momentum) · running + momentum · new, of running_mean and running_var.

    The variance is made unbiased first: var · count / max(1, count − 1) (Ioffe and Szegedy 2015). running_mean,
    running_var, mean, var [C] of one type, count a float64 scalar. No gradient.
    """
    _ops.update_moments(running_mean, running_var, mean, var, count, momentum)
