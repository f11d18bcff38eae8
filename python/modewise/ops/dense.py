"""Matrix products, convolution, rotary embedding, SwiGLU and elementary functions."""

from collections.abc import Sequence

import torch
from torch import Tensor

_ops = torch.ops.modewise


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x weightᵀ + bias over the last dimension, the same bits for any number of threads.

    x [..., K], weight [M, K], bias [M] -> [..., M] as x. weight and bias may be float32 while x is bfloat16: their
    gradients are then float32. ValueError for incompatible shapes.

    Parameters
    ----------
    x
        [..., K].
    weight
        [M, K].
    bias
        [M], or None.

    Returns
    -------
    Tensor [..., M]
        The product, in the type of x.

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> linear(torch.ones(2, 3), torch.ones(4, 3)).shape
    torch.Size([2, 4])
    """
    out: Tensor = _ops.linear(x, weight, bias)
    return out


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Batched matrix product, the same bits for any number of threads; differentiable to any order.

    a [..., M, K], b [..., K, N] of one type -> [..., M, N], leading sizes broadcast as in torch. Sums in float32 for
    bfloat16.

    Parameters
    ----------
    a
        [..., M, K].
    b
        [..., K, N], of the type of a.

    Returns
    -------
    Tensor [..., M, N]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> matmul(torch.ones(5, 2, 3), torch.ones(3, 4)).shape
    torch.Size([5, 2, 4])
    """
    out: Tensor = _ops.matmul(a, b)
    return out


def convolution(x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]) -> Tensor:
    """Convolution over one to three modes with channels last, the same bits for any number of threads.

    x [B, N_1 … N_k, C], weight [C', C, K_1 … K_k], bias [C'] or None; stride, padding and dilation one a mode ->
    [B, M_1 … M_k, C'], M_i = ⌊(N_i + 2·padding_i − dilation_i·(K_i − 1) − 1) / stride_i⌋ + 1. weight and bias may be
    float32 while x is bfloat16.

    Parameters
    ----------
    x
        [B, N_1 … N_k, C], k from 1 to 3.
    weight
        [C', C, K_1 … K_k].
    bias
        [C'], or None.
    stride, padding, dilation
        One number for each mode.

    Returns
    -------
    Tensor [B, M_1 … M_k, C']

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> convolution(torch.ones(1, 9, 2), torch.ones(4, 2, 3), None, [1], [1], [1]).shape
    torch.Size([1, 9, 4])
    """
    out: Tensor = _ops.convolution(x, weight, bias, stride, padding, dilation)
    return out


def rotary(x: Tensor, angles: Tensor, gain: float = 1.0, inverse: bool = False) -> Tensor:
    """Rotary embedding in the rotate_half layout: (a cos − b sin, b cos + a sin) · gain of the halves a, b.

    x [B, N, H, d], d even, angles [N, d/2] float64, radians -> as x. `inverse` rotates back. Differentiable to
    any order. Su et al. 2021, RoFormer (arXiv 2104.09864).

    Parameters
    ----------
    x
        [B, N, H, d], d even.
    angles
        [N, d/2] float64, radians.
    gain
        Factor of cos and sin.
    inverse
        Whether it rotates back.

    Returns
    -------
    Tensor [B, N, H, d]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> rotary(torch.ones(1, 2, 3, 4), torch.zeros(2, 2, dtype=torch.float64)).sum()
    tensor(24.)
    """
    out: Tensor = _ops.rotary(x, angles, gain, inverse)
    return out


def elementary(x: Tensor, function: str) -> Tensor:
    """f(x) of each element by `function`: "exp", "log", "sqrt", "sin", "cos", "tanh", "gelu" or "gelu_slope".

    x of any shape -> as x. Evaluated in float64 and rounded once, except "exp" of float32: the same bits on every CPU, unlike
    torch's. Differentiable, except "gelu_slope", the derivative of "gelu".

    Parameters
    ----------
    x
        Any shape.
    function
        "exp", "log", "sqrt", "sin", "cos", "tanh", "gelu" or "gelu_slope".

    Returns
    -------
    Tensor
        As x.

    Raises
    ------
    ValueError
        For another function.

    Examples
    --------
    >>> elementary(torch.tensor([0.0, 1.0]), "exp")
    tensor([1.0000, 2.7183])
    """
    out: Tensor = _ops.elementary(x, function)
    return out


def swiglu(gate_and_up: Tensor) -> Tensor:
    """silu(gate) · up, fused (Shazeer 2020, GLU Variants Improve Transformer).

    gate_and_up [..., 2M], gate in the first M channels -> [..., M].

    Parameters
    ----------
    gate_and_up
        [..., 2M], gate in the first M channels.

    Returns
    -------
    Tensor [..., M]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> swiglu(torch.ones(2, 6)).shape
    torch.Size([2, 3])
    """
    out: Tensor = _ops.swiglu(gate_and_up)
    return out


def feed_forward(
    x: Tensor,
    first: Tensor,
    second: Tensor,
    gate: Tensor | None = None,
    first_bias: Tensor | None = None,
    second_bias: Tensor | None = None,
    p: float = 0.0,
    seed: int = 0,
    step: int = 0,
    site: int = 0,
) -> Tensor:
    """Fused feed-forward network of a transformer block, whose hidden activations stay in the CPU cache: second h + second_bias.

    h = silu(gate x) · (first x + first_bias) with a gate (SwiGLU; Shazeer 2020), else gelu(first x + first_bias). x
    [..., K], first and gate [M, K], second [N, M], first_bias [M], second_bias [N] -> [..., N] as x, with the bits of
    `linear`, `swiglu`, `dropout_add` and `linear` one after another. The weights may be float32 while x is bfloat16.
    Dropout of h with probability p draws by seed, step and site, as `dropout_add`.

    Parameters
    ----------
    x
        [..., K].
    first, gate
        [M, K]; gate None: GELU, else SwiGLU.
    second
        [N, M].
    first_bias, second_bias
        [M] and [N], or None.
    p
        Dropout probability of the hidden activations.
    seed, step, site
        Key of the random numbers of dropout.

    Returns
    -------
    Tensor [..., N]

    Raises
    ------
    ValueError
        For incompatible shapes.

    Examples
    --------
    >>> feed_forward(torch.ones(2, 3), torch.ones(8, 3), torch.ones(3, 8)).shape
    torch.Size([2, 3])
    """
    out: Tensor = _ops.feed_forward(x, first, second, gate, first_bias, second_bias, p, seed, step, site)
    return out
