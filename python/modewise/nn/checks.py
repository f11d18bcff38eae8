"""Checks of arguments that modules share: heads, modes, named options and masks. ValueError for wrong ones."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def width_of_head(module: str, width: int, heads: int) -> int:
    """The channels of a head, whose number must divide the width."""
    if heads < 1 or width % heads != 0:
        raise ValueError(f"{module}: heads = {heads} must divide the width {width}")
    return width // heads


def checked_modes(module: str, name: str, modes: Sequence[int], count: int) -> list[int]:
    """Modes of a tensor with `count` of them, each at most once."""
    for mode in modes:
        if not 0 <= mode < count:
            raise ValueError(f"{module}: {name} must be from 0 to {count - 1}, got {mode}")
    if len(set(modes)) < len(modes):
        raise ValueError(f"{module}: {name} must not repeat a mode, got {list(modes)}")
    return list(modes)


def checked_choice(module: str, name: str, value: str, choices: Sequence[str]) -> str:
    """One of the `choices`."""
    if value not in choices:
        raise ValueError(f"{module}: {name} must be {', '.join(choices[:-1])} or {choices[-1]}, got {value!r}")
    return value


def require_axes(module: str, x: torch.Tensor, modes: int) -> None:
    """Tokens must have `modes` modes."""
    if x.dim() != modes + 2:
        raise ValueError(f"{module}: x must have {modes + 2} axes (batch, modes, channels), got {list(x.shape)}")


def refuse_idle(module: str, options: dict[str, Any], usual: dict[str, Any], reasons: dict[str, str]) -> None:
    """ValueError for an option that has a reason to have no effect ("": none) and differs from its usual value."""
    for name in idle_options(options, usual, reasons):
        value = f'"{options[name]}"' if isinstance(options[name], str) else _plain(options[name])
        raise ValueError(f"{module}: {name} = {value} has no effect with {reasons[name]}")


def idle_options(options: dict[str, Any], usual: dict[str, Any], reasons: dict[str, str]) -> list[str]:
    """Options that differ from their usual values and have a reason to have no effect."""
    return [name for name, reason in reasons.items() if reason and _plain(options[name]) != _plain(usual[name])]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def require_mask(module: str, name: str, mask: Tensor, shape: Sequence[int]) -> None:
    """A mask must be bool and of this shape."""
    if mask.dtype != torch.bool or list(mask.shape) != list(shape):
        raise ValueError(f"{module}: {name} must be bool [{', '.join(map(str, shape))}], got {mask.dtype} {list(mask.shape)}")


def valid_tokens(module: str, x: Tensor, mask: Tensor | None) -> Tensor:
    """Tokens x [..., D] with 0 for NaN and infinities where the mask [...] is False: there they must not reach a gradient, as 0 times
    NaN is NaN. Finite values stay, as in the program."""
    if mask is None:
        return x
    require_mask(module, "mask", mask, x.shape[:-1])
    return x.masked_fill(~(mask.unsqueeze(-1) | x.isfinite()), 0)
