"""Norms, dropout with the residual sum, and the moments of batch normalization."""

import torch
from torch import Tensor

_ops = torch.ops.modewise


def layer_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """(x − mean) / √(variance + eps) · weight + bias over the last dimension (Ba et al. 2016).

    x [..., D], weight and bias [D], optionally float32 for a bfloat16 x -> as x. Statistics in float32 at least;
    gradients have the same bits for any number of threads.

    Parameters
    ----------
    x
        [..., D].
    weight, bias
        [D], or None.
    eps
        Added to the variance.

    Returns
    -------
    Tensor [..., D]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> layer_norm(torch.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]])
    """
    out: Tensor = _ops.layer_norm(x, weight, bias, eps)
    return out


def rms_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """x / √(mean(x²) + eps) · weight over the last dimension (Zhang and Sennrich 2019).

    x [..., D], weight [D], optionally float32 for a bfloat16 x -> as x. Statistics in float32 at least.

    Parameters
    ----------
    x
        [..., D].
    weight
        [D], or None.
    eps
        Added to the mean of squares.

    Returns
    -------
    Tensor [..., D]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> rms_norm(torch.tensor([[3.0, 3.0]]))
    tensor([[1.0000, 1.0000]])
    """
    out: Tensor = _ops.rms_norm(x, weight, eps)
    return out


def dropout_add(residual: Tensor | None, x: Tensor, p: float, seed: int, step: int, site: int) -> Tensor:
    """residual + dropout(x): elements are kept with probability 1 − p and multiplied by 1 / (1 − p).

    residual (or None) and x of one shape -> as x. The mask depends on `seed`, `step`, `site` and the element's
    index alone (Philox), so nothing is saved for the backward pass. p = 0 draws nothing.

    Parameters
    ----------
    residual
        As x, or None.
    x
        Any shape.
    p
        Probability that an element is dropped.
    seed, step, site
        Key of the random numbers.

    Returns
    -------
    Tensor
        As x.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> dropout_add(torch.ones(3), torch.ones(3), 0.0, seed=0, step=0, site=0)
    tensor([2., 2., 2.])
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

    Parameters
    ----------
    residual, x
        [..., D].
    p
        Probability that an element is dropped.
    seed, step, site
        Key of the random numbers.
    weight, bias
        [D], or None.
    eps
        Added to the variance.

    Returns
    -------
    (sum, normed)
        Both as x.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> [out.shape for out in dropout_add_norm(torch.ones(2, 4), torch.ones(2, 4), 0.0, 0, 0, 0)]
    [torch.Size([2, 4]), torch.Size([2, 4])]
    """
    out: tuple[Tensor, Tensor] = _ops.dropout_add_norm(residual, x, p, seed, step, site, weight, bias, eps)
    return out


def batch_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalization in training: (x − mean) / √(variance + eps) · weight + bias over all rows (Ioffe and Szegedy 2015).

    x [..., C] with at least one row, weight and bias [C], optionally float32 for a bfloat16 x -> (as x, mean [C], biased
    variance [C]), the last two in float32 at least, without gradient. Gradients have the same bits for any number of threads.

    Parameters
    ----------
    x
        [..., C], at least one row.
    weight, bias
        [C].
    eps
        Added to the variance.

    Returns
    -------
    (out, mean, variance)
        As x, [C] and [C].

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> batch_norm(torch.tensor([[1.0], [3.0]]), torch.ones(1), torch.zeros(1))[1]
    tensor([2.])
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.batch_norm(x, weight, bias, eps)
    return out


def masked_moments(rows: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, biased variance and number of the rows where a mask is True; of all rows if it is False everywhere.

    rows [n, C], mask [n] bool, True = included -> (mean [C], variance [C], count: a float64 scalar). Mean and
    variance are differentiable in rows.

    Parameters
    ----------
    rows
        [n, C].
    mask
        [n] bool, True = included.

    Returns
    -------
    (mean, variance, count)
        [C], [C] and a float64 scalar.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> masked_moments(torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([True, True, False]))[0]
    tensor([2.])
    """
    out: tuple[Tensor, Tensor, Tensor] = _ops.masked_moments(rows, mask)
    return out


def update_moments(running_mean: Tensor, running_var: Tensor, mean: Tensor, var: Tensor, count: Tensor, momentum: float) -> None:
    """In place: running ← (1 − momentum) · running + momentum · new, of running_mean and running_var.

    The variance is made unbiased first: var · count / (count − 1) (Ioffe and Szegedy 2015). One row has no variance: with
    count < 2 nothing changes. running_mean, running_var, mean, var [C] of one type, count a float64 scalar. No gradient.

    Parameters
    ----------
    running_mean, running_var
        [C], changed in place.
    mean, var
        [C], of the new rows; var biased.
    count
        Number of the new rows, a float64 scalar.
    momentum
        Weight of the new rows.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> running = torch.zeros(1)
    >>> update_moments(running, torch.ones(1), torch.ones(1), torch.ones(1), torch.tensor(5.0, dtype=torch.float64), 0.1)
    >>> running
    tensor([0.1000])
    """
    _ops.update_moments(running_mean, running_var, mean, var, count, momentum)
