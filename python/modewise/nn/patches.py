"""Patch embeddings: of the time axis of series, and of grids of any number of modes."""

import math
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from modewise import ops
from modewise.nn.basic import BatchNorm, LayerNorm, TensorModule
from modewise.nn.checks import checked_choice, require_mask

ACTIVATIONS = ("linear", "relu", "relu_norm")


def patch_padding(lookback: int, length: int, stride: int) -> int:
    """The number of copies of the last column to append so that patches cover the whole window."""
    if lookback < length:
        return length - lookback
    return -(lookback - length) % stride


def patch_count(lookback: int, length: int, stride: int) -> int:
    """The number of patches of a window of `lookback` steps."""
    return (lookback + patch_padding(lookback, length, stride) - length) // stride + 1


def unfold(x: Tensor, length: int, stride: int) -> Tensor:
    """[..., L] -> [..., P, length], padded with copies of the last column."""
    padding = patch_padding(x.shape[-1], length, stride)
    if padding > 0:
        x = torch.cat([x, x[..., -1:].expand(*x.shape[:-1], padding)], -1)
    return x.unfold(-1, length, stride)


class _Parts(nn.Module):
    """Parameters under the names of the released code's Sequential."""

    weight: Tensor
    bias: Tensor


def _convolution(width: int, channels: int, patch: Sequence[int]) -> _Parts:
    parts = _Parts()
    bound = 1 / math.sqrt(channels * math.prod(patch))
    parts.register_parameter("weight", nn.Parameter(torch.empty(width, channels, *patch).uniform_(-bound, bound)))
    parts.register_parameter("bias", nn.Parameter(torch.empty(width).uniform_(-bound, bound)))
    return parts


class PatchEmbedding(nn.Module):
    """Time patches as tokens: a convolution along time as one matrix product (HOT; PatchTST).

    `activation`: "linear", "relu" (the paper) or "relu_norm" (ReLU and LayerNorm, as released). `flags`: windows have
    masks, and the observed flags are a second channel. Names: 0.weight [D, 1 or 2, length], 0.bias, 2 the norm.

    Parameters
    ----------
    length, stride
        Steps of a patch, and between patches.
    width
        D, channels of a token.
    activation
        "linear", "relu" or "relu_norm".
    flags
        Whether the observed flags are a second channel.

    Raises
    ------
    ValueError
        For another activation.

    Examples
    --------
    >>> PatchEmbedding(16, 8, 32)(torch.ones(1, 3, 96))[0].shape
    torch.Size([1, 3, 11, 32])
    """

    def __init__(self, length: int, stride: int, width: int, activation: str = "linear", flags: bool = False) -> None:
        super().__init__()
        self.activation = checked_choice("PatchEmbedding", "activation", activation, ACTIVATIONS)
        self.length, self.stride, self.flags = length, stride, flags
        self.add_module("0", _convolution(width, 2 if flags else 1, [length]))
        if activation == "relu_norm":
            self.add_module("2", LayerNorm(width))

    def forward(self, x: Tensor, observed: Tensor | None = None, dtype: torch.dtype | None = None) -> tuple[Tensor, Tensor | None]:
        """x [B, N_1 … N_j, L], 0 where not observed; observed bool of its shape -> tokens [B, N_1 … N_j, P, D] of `dtype`
        (None: x's), and their mask [B, N_1 … N_j, P]: whether any value of the patch was observed."""
        if observed is not None:
            require_mask("PatchEmbedding", "observed", observed, x.shape)
            if not self.flags:
                raise ValueError("PatchEmbedding: observed was given, but the embedding has no flags")
        cells = unfold(x if dtype is None else x.to(dtype), self.length, self.stride)
        mask = None
        if self.flags:
            seen = unfold(torch.ones_like(x, dtype=torch.bool) if observed is None else observed, self.length, self.stride)
            mask = None if observed is None else seen.any(-1)
            cells = torch.cat([cells, seen.to(cells.dtype)], -1)
        parts = cast(_Parts, self.get_submodule("0"))
        tokens = ops.linear(cells, parts.weight.flatten(1), parts.bias)
        if self.activation != "linear":
            tokens = torch.relu(tokens)
        if self.activation == "relu_norm":
            tokens = self.get_submodule("2")(tokens)
        return tokens, mask


def cut_grid(x: Tensor, patch: Sequence[int]) -> Tensor:
    """x [B, N_1 … N_k, C] -> [B, n_1 … n_k, p_1·…·p_k·C], n_i = ⌈N_i / p_i⌉: padded with zeros at the end, patches in row-major
    order, channels last."""
    modes = len(patch)
    padding = [0, 0]
    for mode in reversed(range(modes)):
        padding += [0, -x.shape[mode + 1] % patch[mode]]
    if any(padding):
        x = nn.functional.pad(x, padding)
    counts = [x.shape[mode + 1] // patch[mode] for mode in range(modes)]
    split = [size for pair in zip(counts, patch, strict=True) for size in pair]
    order = [0, *range(1, 2 * modes, 2), *range(2, 2 * modes + 1, 2), 2 * modes + 1]
    return x.reshape(x.shape[0], *split, x.shape[-1]).permute(order).reshape(x.shape[0], *counts, math.prod(patch) * x.shape[-1])


class Convolution(TensorModule):
    """x [B, N_1 … N_k, C] -> [B, M_1 … M_k, C'], with one kernel size, stride and padding for all modes; weight [C', C, K …],
    initially normal with std √(2 / (C'·K^k)) (He et al. 2015).

    Parameters
    ----------
    modes
        k, from 1 to 3.
    channels, outputs
        Channels of input and output.
    kernel, stride, padding
        One number for all modes.

    Examples
    --------
    >>> Convolution(2, 3, 4, kernel=3, padding=1)(torch.ones(1, 5, 7, 3)).shape
    torch.Size([1, 5, 7, 4])
    """

    def __init__(self, modes: int, channels: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0) -> None:
        super().__init__()
        self.stride, self.padding, self.dilation = [stride] * modes, [padding] * modes, [1] * modes
        std = math.sqrt(2 / (outputs * kernel**modes))
        self.weight = nn.Parameter(torch.randn(outputs, channels, *[kernel] * modes) * std)

    def forward(self, x: Tensor) -> Tensor:
        return ops.convolution(x, self.weight, None, self.stride, self.padding, self.dilation)


class GridStem(nn.Module):
    """log2(patch) convolutions of kernel 3 and stride 2, each followed by BatchNorm and ReLU; the width doubles up to D (the
    multilayer encoder of HOT, arXiv 2412.02919v1, appendix B). Names: conv.N.weight, norm.N.

    Parameters
    ----------
    modes
        k.
    channels
        Channels of the input.
    patch
        Voxels of a patch along each mode, a power of 2.
    width
        D, channels of a token.

    Raises
    ------
    ValueError
        For a patch that is not a power of 2.

    Examples
    --------
    >>> GridStem(2, 3, 4, 16).conv[0].weight.shape
    torch.Size([8, 3, 3, 3])
    """

    def __init__(self, modes: int, channels: int, patch: int, width: int) -> None:
        super().__init__()
        if patch < 2 or patch & (patch - 1) != 0:
            raise ValueError(f"GridStem: patch must be a power of 2, at least 2, got {patch}")
        self.modes = modes
        self.conv, self.norm = nn.ModuleList(), nn.ModuleList()
        reduction = 2
        while reduction <= patch:
            outputs = max(width * reduction // patch, 1)
            self.conv.append(Convolution(modes, channels, outputs, 3, 2, 1))
            self.norm.append(BatchNorm(outputs))
            channels, reduction = outputs, 2 * reduction

    def forward(self, values: Tensor, valid: Tensor | None = None, dtype: torch.dtype | None = None) -> tuple[Tensor, Tensor | None]:
        """Shapes as in GridPatches."""
        if valid is not None:
            require_mask("GridStem", "valid", valid, values.shape[:-1])
        x, mask = values if dtype is None else values.to(dtype), None
        for i, (convolution, norm) in enumerate(zip(self.conv, self.norm, strict=True)):
            x = convolution(x)
            if valid is not None:
                mask = cut_grid(valid.unsqueeze(-1), [2 ** (i + 1)] * self.modes).any(-1)
            x = torch.relu(norm(x, mask))
            # Invalid positions must not affect their neighbours in the next convolution.
            x = x if mask is None else x.masked_fill(~mask.unsqueeze(-1), 0)
        return x, mask


class GridPatches(nn.Module):
    """Patches of a grid (image, volume) as tokens: a convolution whose stride is its kernel size.

    `activation` as in PatchEmbedding, with batch normalization for "relu_norm". Names: conv.0.weight
    [D, C, p_1 … p_k], conv.0.bias, conv.2 the norm.

    Parameters
    ----------
    channels
        Channels of the input.
    patch
        p_1 … p_k.
    width
        D, channels of a token.
    activation
        "linear", "relu" or "relu_norm".

    Raises
    ------
    ValueError
        For another activation.

    Examples
    --------
    >>> GridPatches(3, [4, 4], 16).patch
    [4, 4]
    """

    def __init__(self, channels: int, patch: Sequence[int], width: int, activation: str = "linear") -> None:
        super().__init__()
        self.patch, self.activation = list(patch), checked_choice("GridPatches", "activation", activation, ACTIVATIONS)
        self.conv = nn.Module()
        self.conv.add_module("0", _convolution(width, channels, self.patch))
        if activation == "relu_norm":
            self.conv.add_module("2", BatchNorm(width))

    def forward(self, values: Tensor, valid: Tensor | None = None, dtype: torch.dtype | None = None) -> tuple[Tensor, Tensor | None]:
        """values [B, N_1 … N_k, C], 0 where not valid; valid [B, N_1 … N_k] bool -> tokens [B, n_1 … n_k, D] of
        `dtype`, and their mask: whether any position of the patch is valid."""
        if valid is not None:
            require_mask("GridPatches", "valid", valid, values.shape[:-1])
        mask = None if valid is None else cut_grid(valid.unsqueeze(-1), self.patch).any(-1)
        parts = cast(_Parts, self.conv.get_submodule("0"))
        weight = parts.weight.movedim(1, -1).flatten(1)  # channels last, as in cut_grid
        cells = cut_grid(values if dtype is None else values.to(dtype), self.patch)
        tokens = ops.linear(cells, weight, parts.bias)
        if self.activation != "linear":
            tokens = torch.relu(tokens)
        if self.activation == "relu_norm":
            tokens = self.conv.get_submodule("2")(tokens, mask)
        return tokens, mask
