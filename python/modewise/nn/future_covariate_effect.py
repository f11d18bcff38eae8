"""Effect of the future covariates of a step on each series: a regression added to a forecaster."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from modewise import ops
from modewise._aliases import old_keywords
from modewise.nn.basic import Linear, TensorModule


class FutureCovariateEffect(TensorModule):
    """covariates [B, N_1 … N_i, K, T] -> effect [B, N_1 … N_j, T]. Each series of `series` N_1 … N_j has its own coefficients,
    initially 0, for the K covariates of a step, which differ along the first `modes` modes, and for `hidden` ReLU features of
    them, which all series share.

    Parameters
    ----------
    series
        N_1 … N_j.
    modes
        Modes along which the covariates differ.
    covariates
        K, covariates of a step.
    hidden
        ReLU features of the covariates; 0: a linear effect.

    Examples
    --------
    >>> FutureCovariateEffect([3], 0, covariates=2, hidden=4)(torch.ones(1, 2, 6)).shape
    torch.Size([1, 3, 6])
    """

    @old_keywords({"known": "covariates"})
    def __init__(self, series: Sequence[int], modes: int, covariates: int, hidden: int) -> None:
        super().__init__()
        self.series, self.groups = list(series), math.prod(series[:modes])
        self.hidden = Linear(covariates, hidden) if hidden > 0 else None
        self.coefficients = nn.Parameter(torch.zeros(math.prod(series), covariates + hidden))

    def forward(self, covariates: Tensor) -> Tensor:
        batch, steps = covariates.shape[0], covariates.shape[-1]
        x = covariates.reshape(batch, self.groups, covariates.shape[-2], steps).transpose(2, 3)  # [B, P, T, K]
        if self.hidden is not None:
            x = torch.cat([x, torch.relu(self.hidden(x))], -1)
        x = x.transpose(0, 1).reshape(self.groups, batch * steps, x.shape[-1])
        weights = self.coefficients.view(self.groups, -1, x.shape[-1]).transpose(1, 2)
        out = ops.matmul(x, weights).view(self.groups, batch, steps, -1)
        return out.permute(1, 0, 3, 2).reshape(batch, *self.series, steps)
