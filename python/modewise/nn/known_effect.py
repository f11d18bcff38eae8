"""What the known columns of a step add to each series at that step: a regression beside a forecaster."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from modewise import ops
from modewise.nn.basic import Linear, TensorModule


class KnownEffect(TensorModule):
    """known [B, N_1 … N_i, K, T] -> effect [B, N_1 … N_j, T]: each series of `series` N_1 … N_j has its own coefficients
    (0 at the start) of the K numbers of a step, which differ along the first `modes` of them, and of `hidden` ReLUs of them,
    which all share."""

    def __init__(self, series: Sequence[int], modes: int, known: int, hidden: int) -> None:
        super().__init__()
        self.series, self.places = list(series), math.prod(series[:modes])
        self.hidden = Linear(known, hidden) if hidden > 0 else None
        self.coefficients = nn.Parameter(torch.zeros(math.prod(series), known + hidden))

    def forward(self, known: Tensor) -> Tensor:
        batch, steps = known.shape[0], known.shape[-1]
        x = known.reshape(batch, self.places, known.shape[-2], steps).transpose(2, 3)  # [B, P, T, K]
        if self.hidden is not None:
            x = torch.cat([x, torch.relu(self.hidden(x))], -1)
        x = x.transpose(0, 1).reshape(self.places, batch * steps, x.shape[-1])
        weights = self.coefficients.view(self.places, -1, x.shape[-1]).transpose(1, 2)
        out = ops.matmul(x, weights).view(self.places, batch, steps, -1)
        return out.permute(1, 0, 3, 2).reshape(batch, *self.series, steps)
