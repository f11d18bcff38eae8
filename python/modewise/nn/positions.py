"""Codes that tell tokens [B, N_1 … N_k, D] apart: learned or fixed, for the places of some modes."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from modewise.nn.basic import TensorModule


def sin_cos_positions(sizes: Sequence[int], width: int) -> Tensor:
    """Sines and cosines of the places along the modes (Vaswani et al. 2017): [N_1 … N_k, width] float32.

    An equal even share of the width a mode, left-over channels 0.
    """
    half = width // (2 * len(sizes))
    out = torch.zeros(*sizes, width)
    for mode, size in enumerate(sizes):
        shape = [1] * len(sizes) + [half]
        shape[mode] = size
        rows = [[place * math.pow(10000.0, -f / half) for f in range(half)] for place in range(size)]
        for part, function in enumerate((math.sin, math.cos)):
            first = (2 * mode + part) * half
            codes = torch.tensor([[function(angle) for angle in row] for row in rows], dtype=torch.float64)
            out[..., first : first + half] = codes.float().view(shape)
    return out


def _view(sizes: Sequence[int], modes: Sequence[int], width: int) -> list[int]:
    """The sizes of `modes` in their places, 1 elsewhere, and the width."""
    return [size if mode in modes else 1 for mode, size in enumerate(sizes)] + [width]


class LearnedCode(TensorModule):
    """A learned code for each place of `modes`, the same along the others; its weight is one-dimensional, so that
    weight decay, which spares vectors, leaves it alone."""

    def __init__(self, sizes: Sequence[int], modes: Sequence[int], width: int, deviation: float = 0.02) -> None:
        super().__init__()
        self.view = _view(sizes, modes, width)
        self.weight = nn.Parameter(torch.randn(math.prod(self.view)) * deviation)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens + code."""
        return tokens + self.weight.view(self.view).to(tokens.dtype)


class SinCosCode(TensorModule):
    """The fixed code of `modes`; it is no part of the state."""

    code: Tensor

    def __init__(self, sizes: Sequence[int], modes: Sequence[int], width: int) -> None:
        super().__init__()
        code = sin_cos_positions([sizes[mode] for mode in modes], width).view(_view(sizes, modes, width))
        self.register_buffer("code", code, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens + code."""
        return tokens + self.code.to(tokens.dtype)
