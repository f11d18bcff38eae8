"""Transformer block: x + drop(attention(LN x)), then + drop(feed-forward(LN x)) (HOT, section 4.3)."""

import torch
from torch import Tensor, nn

from modewise import ops
from modewise.nn.basic import Dropout, LayerNorm, TensorModule
from modewise.nn.checks import valid_tokens


class Block(TensorModule):
    """Attention and feed-forward network with norms and residual sums; None: the block lacks that branch.

    `layer_scale`: initial value of a learned scale per channel of each branch (Touvron et al. 2021); 0: none.

    Parameters
    ----------
    width
        D, channels of a token.
    attention, feedforward
        The two branches, or None.
    dropout
        Dropout probability of the branches.
    layer_scale
        Initial value of a learned scale; 0: none.
    eps
        Added to the variance.

    Examples
    --------
    >>> from modewise import nn as layers
    >>> block = Block(16, layers.KroneckerAttention(16, 4, modes=2), layers.SwiGLU(16, 32))
    >>> block(torch.ones(1, 3, 5, 16)).shape
    torch.Size([1, 3, 5, 16])
    """

    norm1: LayerNorm | None
    norm2: LayerNorm | None
    scale1: Tensor | None
    scale2: Tensor | None

    def __init__(
        self,
        width: int,
        attention: TensorModule | None,
        feedforward: TensorModule | None,
        *,
        dropout: float = 0.0,
        layer_scale: float = 0.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.norm1 = LayerNorm(width, eps) if attention is not None else None
        self.norm2 = LayerNorm(width, eps) if feedforward is not None else None
        self.attention = attention
        self.feedforward = feedforward
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        for name, branch in (("scale1", attention), ("scale2", feedforward)):
            start = torch.full((width,), layer_scale) if layer_scale > 0 and branch is not None else None
            self.register_parameter(name, None if start is None else nn.Parameter(start))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x [B, N_1 … N_k, D], mask [B, N_1 … N_k] bool -> as x."""
        x = valid_tokens("Block", x, mask)
        if self.attention is None or self.norm1 is None:
            return x if self.norm2 is None else self.dropout2.add_to(x, self._fed(self.norm2(x)))
        attended = scaled(self.attention(self.norm1(x), mask), self.scale1)
        if self.norm2 is None:
            return self.dropout1.add_to(x, attended)
        if self.dropout1.drawn_by_graph():
            total = self.dropout1.add_to(x, attended)
            return self.dropout2.add_to(total, self._fed(self.norm2(total)))
        total, normed = ops.dropout_add_norm(x, attended, self.dropout1.active(), *self.dropout1.key(),
                                             self.norm2.weight, self.norm2.bias, self.norm2.eps)  # fmt: skip
        return self.dropout2.add_to(total, self._fed(normed))

    def _fed(self, normed: Tensor) -> Tensor:
        return normed if self.feedforward is None else scaled(self.feedforward(normed), self.scale2)


def scaled(branch: Tensor, scale: Tensor | None) -> Tensor:
    """A branch times its learned scale."""
    return branch if scale is None else branch * scale.to(branch.dtype)
