"""Residual block of TiDE (Das et al., TMLR 2023): a ReLU layer plus a linear skip."""

import torch
from torch import Tensor

from modewise.nn.basic import Dropout, LayerNorm, Linear, TensorModule


class ResidualBlock(TensorModule):
    """norm(dropout(out relu(hidden x)) + skip x): [..., in] -> [..., out]; no norm if `norm` is False.

    Parameters
    ----------
    in_features, hidden, out_features
        Channels.
    dropout
        Dropout probability before the sum.
    norm
        Whether there is a LayerNorm.

    Examples
    --------
    >>> ResidualBlock(3, 8, 4)(torch.ones(2, 3)).shape
    torch.Size([2, 4])
    """

    def __init__(self, in_features: int, hidden: int, out_features: int, dropout: float = 0.0, norm: bool = True) -> None:
        super().__init__()
        self.hidden = Linear(in_features, hidden)
        self.out = Linear(hidden, out_features)
        self.skip = Linear(in_features, out_features)
        self.dropout = Dropout(dropout)
        self.norm = LayerNorm(out_features) if norm else None

    def forward(self, x: Tensor) -> Tensor:
        y = self.dropout.add_to(self.skip(x), self.out(torch.relu(self.hidden(x))))
        return y if self.norm is None else self.norm(y)
