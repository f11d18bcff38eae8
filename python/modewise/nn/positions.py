"""Position encodings of tokens [B, N_1 … N_k, D]: learned embeddings or fixed sinusoids of some modes."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from modewise._aliases import old_keywords
from modewise.nn.basic import TensorModule
from modewise.nn.checks import checked_modes


def sin_cos_positions(sizes: Sequence[int], width: int) -> Tensor:
    """Sinusoidal position encoding of a grid (Vaswani et al. 2017): [N_1 … N_k, width] float32.

    Each mode has an equal even number of channels, remaining channels are 0.

    Parameters
    ----------
    sizes
        N_1 … N_k.
    width
        D, channels of a token.

    Returns
    -------
    Tensor [N_1 … N_k, width]

    Examples
    --------
    >>> sin_cos_positions([3, 5], 8).shape
    torch.Size([3, 5, 8])
    """
    half = width // max(2 * len(sizes), 1)
    if half == 0 or not sizes:
        raise ValueError(f"sin_cos_positions: each of {len(sizes)} modes needs two channels, got a width of {width}")
    out = torch.zeros(*sizes, width)
    for mode, size in enumerate(sizes):
        shape = [1] * len(sizes) + [half]
        shape[mode] = size
        rows = [[position * math.pow(10000.0, -f / half) for f in range(half)] for position in range(size)]
        for part, function in enumerate((math.sin, math.cos)):
            first = (2 * mode + part) * half
            values = torch.tensor([[function(angle) for angle in row] for row in rows], dtype=torch.float64)
            out[..., first : first + half] = values.float().view(shape)
    return out


def _view(sizes: Sequence[int], modes: Sequence[int], width: int) -> list[int]:
    """The shape [N_1 … N_k, width] with 1 for modes outside `modes`, which must be distinct."""
    checked_modes("position encoding", "modes", modes, len(sizes))
    return [size if mode in modes else 1 for mode, size in enumerate(sizes)] + [width]


class ModeEmbedding(TensorModule):
    """A learned embedding of the positions of `modes`, shared along the other modes. The weight is a vector, which weight
    decay skips.

    Parameters
    ----------
    sizes
        N_1 … N_k.
    modes
        Modes that the embedding covers.
    width
        D, channels of a token.
    std
        Standard deviation of the initial weights.

    Examples
    --------
    >>> ModeEmbedding([3, 5], [0], 8)(torch.zeros(1, 3, 5, 8)).shape
    torch.Size([1, 3, 5, 8])
    """

    @old_keywords({"deviation": "std"})
    def __init__(self, sizes: Sequence[int], modes: Sequence[int], width: int, std: float = 0.02) -> None:
        super().__init__()
        self.view = _view(sizes, modes, width)
        self.weight = nn.Parameter(torch.randn(math.prod(self.view)) * std)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens + embedding."""
        return tokens + self.weight.view(self.view).to(tokens.dtype)


class SinCosEncoding(TensorModule):
    """The sinusoidal position encoding of `modes`; not saved in the state.

    Parameters
    ----------
    sizes
        N_1 … N_k.
    modes
        Modes that the embedding covers.
    width
        D, channels of a token.

    Examples
    --------
    >>> SinCosEncoding([3, 5], [1], 8)(torch.zeros(1, 3, 5, 8)).shape
    torch.Size([1, 3, 5, 8])
    """

    code: Tensor

    def __init__(self, sizes: Sequence[int], modes: Sequence[int], width: int) -> None:
        super().__init__()
        view = _view(sizes, modes, width)
        encoding = sin_cos_positions([sizes[mode] for mode in sorted(modes)], width).view(view)
        self.register_buffer("code", encoding, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens + encoding."""
        return tokens + self.code.to(tokens.dtype)
