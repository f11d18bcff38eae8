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


class _Encoding(TensorModule):
    """An encoding of the positions of `modes`, added to tokens [B, N_1 … N_k, width]. `view`: [N_1 … N_k, width] with 1 for other modes."""

    def __init__(self, sizes: Sequence[int], modes: Sequence[int], width: int) -> None:
        super().__init__()
        self.modes = sorted(checked_modes("position encoding", "modes", modes, len(sizes)))
        self.view = [size if mode in self.modes else 1 for mode, size in enumerate(sizes)] + [width]

    def extra_repr(self) -> str:
        return f"modes={self.modes}, view={self.view}"

    def _plus(self, tokens: Tensor, encoding: Tensor) -> Tensor:
        fixed = [*self.modes, len(self.view) - 1]
        if tokens.dim() != len(self.view) + 1 or any(tokens.shape[axis + 1] != self.view[axis] for axis in fixed):
            wanted = ", ".join(str(size) if axis in fixed else f"N_{axis + 1}" for axis, size in enumerate(self.view))
            raise ValueError(f"{type(self).__name__}: tokens must be [B, {wanted}], got {list(tokens.shape)}")
        return tokens + encoding.to(tokens.dtype)


class ModeEmbedding(_Encoding):
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
        super().__init__(sizes, modes, width)
        self.weight = nn.Parameter(torch.randn(math.prod(self.view)) * std)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens + embedding. ValueError for other sizes of `modes` or another width."""
        return self._plus(tokens, self.weight.view(self.view))


class SinCosEncoding(_Encoding):
    """The sinusoidal position encoding of `modes`, in any order; not saved in the state.

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
        super().__init__(sizes, modes, width)
        encoding = sin_cos_positions([sizes[mode] for mode in self.modes], width).view(self.view)
        self.register_buffer("code", encoding, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens + encoding. ValueError as for ModeEmbedding."""
        return self._plus(tokens, self.code)
