"""Normalization of a window to zero centre and unit standard deviation, and denormalization of its forecast (RevIN, Kim et al.,
ICLR 2022, and variants), with CycleNet's residual cycle (Lin et al., NeurIPS 2024)."""

import dataclasses
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from modewise import ops
from modewise._aliases import old_fields
from modewise.nn.checks import checked_choice, refuse_idle

EPSILON = 1e-5


@old_fields({"deviation": "std"})
@dataclasses.dataclass
class NormalizedWindow:
    """values [B, N_1 … N_j, L], 0 where not observed, and the statistics for denormalization.

    Examples
    --------
    >>> NormalizedWindow(torch.ones(1, 3, 8), None, None, None).values.shape
    torch.Size([1, 3, 8])
    """

    values: Tensor
    centre: Tensor | None  # [B, N_1 … N_j, 1]
    std: Tensor | None  # [B, N_1 … N_j, 1]
    first_step: Tensor | None  # [B]


def last_observed(past: Tensor, observed: Tensor | None) -> Tensor:
    """The last observed value of each series [B, N_1 … N_j, 1]; 0 without observations."""
    if observed is None:
        return past[..., -1:]
    steps = torch.arange(past.shape[-1], device=past.device)
    return past.gather(-1, torch.where(observed, steps, 0).amax(-1, keepdim=True))


class WindowNormalization(nn.Module):
    """Window normalization. `series` N_1 … N_j; `centre` "mean", "last" or "none"; `scale`: divide by √(biased variance +
    1e-5); `affine`: a learned weight and bias per series; `cycle`: rows W of CycleNet's profile, `cycle_gain` times its parameter.
    Names: affine_weight, affine_bias [N], cycle [N · W].

    Parameters
    ----------
    series
        N_1 … N_j.
    centre
        "mean", "last" or "none".
    scale
        Whether the window is divided by its standard deviation.
    affine
        Whether each series has a learned weight and bias.
    cycle, cycle_gain
        Rows of the residual cycle (0: none), and factor of its parameter.

    Examples
    --------
    >>> WindowNormalization([3]).normalize(torch.ones(1, 3, 8), None, None).centre.shape
    torch.Size([1, 3, 1])
    """

    affine_weight: Tensor
    affine_bias: Tensor

    def __init__(
        self,
        series: Sequence[int],
        *,
        centre: str = "mean",
        scale: bool = True,
        affine: bool = False,
        cycle: int = 0,
        cycle_gain: float = 1.0,
    ) -> None:
        super().__init__()
        self.centre = checked_choice("WindowNormalization", "centre", centre, ("mean", "last", "none"))
        self.series, self.scale, self.affine = list(series), scale, affine
        refuse_idle("WindowNormalization", {"cycle_gain": cycle_gain}, {"cycle_gain": 1.0}, {"cycle_gain": "" if cycle > 0 else "cycle = 0"})
        self.rows, self.cycle_gain = cycle, cycle_gain
        count = math.prod(self.series)
        if affine:
            self.affine_weight = nn.Parameter(torch.ones(count))
            self.affine_bias = nn.Parameter(torch.zeros(count))
        if cycle > 0:
            self.cycle = nn.Parameter(torch.zeros(count * cycle))

    def normalize(self, past: Tensor, observed: Tensor | None = None, first_step: Tensor | None = None) -> NormalizedWindow:
        """past [B, N_1 … N_j, L], 0 where not observed; observed bool; first_step [B] int64, for the cycle only."""
        flags = None if observed is None else observed.to(past.dtype)
        count = None if flags is None else flags.sum(-1, keepdim=True).clamp_min(1)

        def mean_of(x: Tensor) -> Tensor:
            return x.mean(-1, keepdim=True) if count is None else x.sum(-1, keepdim=True) / count

        centre = std = None
        if self.scale or self.centre == "mean":
            mean = mean_of(past)
            centre = mean if self.centre == "mean" else None
            if self.scale:
                squares = (past - mean).square()
                std = ops.elementary(mean_of(squares if flags is None else squares * flags) + EPSILON, "sqrt")
        if self.centre == "last":
            centre = last_observed(past, observed)
        values = past if centre is None else past - centre
        if std is not None:
            values = values / std
        if self.affine:
            values = values * self._per_series(self.affine_weight) + self._per_series(self.affine_bias)
        if self.rows > 0:
            values = values - self._cycle_at(first_step, 0, past.shape[-1])
        if flags is not None:
            values = values * flags
        return NormalizedWindow(values, centre, std, first_step)

    def denormalize(self, forecast: Tensor, window: NormalizedWindow) -> Tensor:
        """forecast [B, N_1 … N_j, H] -> the same in the window's scale."""
        out = forecast
        if self.rows > 0:
            out = out + self._cycle_at(window.first_step, window.values.shape[-1], forecast.shape[-1])
        if self.affine:
            out = (out - self._per_series(self.affine_bias)) / (self._per_series(self.affine_weight) + EPSILON * EPSILON)
        if window.std is not None:
            out = out * window.std
        return out if window.centre is None else out + window.centre

    def denormalize_differences(self, differences: Tensor, window: NormalizedWindow) -> Tensor:
        """Differences [B, N_1 … N_j, H, Q] of forecasts -> the same in the window's scale."""
        return differences if window.std is None else differences * window.std.unsqueeze(-1)

    def _per_series(self, parameter: Tensor) -> Tensor:
        return parameter.view(*self.series, 1)

    def _cycle_at(self, first_step: Tensor | None, offset: int, count: int) -> Tensor:
        """The profile at steps offset … offset+count−1 after each window's first: [B, N_1 … N_j, count]."""
        if first_step is None:
            raise ValueError("WindowNormalization: a cycle needs first_step [B]")
        series, batch = math.prod(self.series), first_step.shape[0]
        steps = first_step.unsqueeze(1) + torch.arange(offset, offset + count, device=first_step.device)
        rows = steps.remainder(self.rows).unsqueeze(1).expand(batch, series, count)
        profile = (self.cycle * self.cycle_gain).view(1, series, self.rows)
        return profile.expand(batch, series, self.rows).gather(-1, rows).view(batch, *self.series, count)
