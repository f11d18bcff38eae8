"""Rotary position embedding of the modes of token tensors."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from modewise import ops
from modewise.nn.checks import checked_modes, refuse_idle

ROPE_BASE = 10000.0


def rotary_angles(sizes: Sequence[int], modes: Sequence[int], width: int, base: float) -> Tensor:
    """Rotary angles [N_1·…·N_k, width/2] float64 of the positions of a grid of `sizes`, for `modewise.ops.rotary`.

    Each of `modes` has s angles, of frequencies base^(−c/s), c < s; the remaining angles are 0. One mode gives the usual
    base^(−2c/width) (Su et al. 2021).

    Parameters
    ----------
    sizes
        N_1 … N_k.
    modes
        Modes with a rotary embedding.
    width
        Head width d.
    base
        Base of the rotary frequencies.

    Returns
    -------
    Tensor [N_1·…·N_k, width/2], float64

    Examples
    --------
    >>> rotary_angles([3, 4], [1], 8, 10000.0).shape
    torch.Size([12, 4])
    """
    if not 0 < base < math.inf:
        raise ValueError(f"rotary_angles: base must be positive and finite, got {base}")
    modes = checked_modes("rotary_angles", "modes", modes, len(sizes))
    count = width // 2 // max(len(modes), 1)
    if count == 0:
        raise ValueError(f"rotary_angles: {len(modes)} modes need heads of at least {2 * max(len(modes), 1)} channels, got {width}")
    frequencies = torch.pow(base, torch.arange(count, dtype=torch.float64) * (-1 / count))
    angles = torch.zeros(*sizes, width // 2, dtype=torch.float64)
    for i, mode in enumerate(modes):
        positions = torch.arange(sizes[mode], dtype=torch.float64)
        shape = [1] * len(sizes)
        shape[mode] = sizes[mode]
        angles[..., i * count : (i + 1) * count] = (positions[:, None] * frequencies).view(*shape, count)
    return angles.view(-1, width // 2)


def rotate_heads(x: Tensor, heads: int, modes: Sequence[int], base: float) -> Tensor:
    """Applies the rotary embedding of `modes` to tokens x [B, N_1 … N_k, D]; x itself without modes."""
    if not modes:
        return x
    width = x.shape[-1] // heads
    angles = rotary_angles(x.shape[1:-1], modes, width, base).to(x.device)
    return ops.rotary(x.flatten(1, -2).unflatten(-1, (heads, width)), angles).view(x.shape)


def refuse_idle_base(module: str, rope_base: float, rope_modes: Sequence[int]) -> None:
    """ValueError for the base of a rotary embedding that no mode has."""
    refuse_idle(module, {"rope_base": rope_base}, {"rope_base": ROPE_BASE}, {"rope_base": "" if rope_modes else "rope_modes = []"})
