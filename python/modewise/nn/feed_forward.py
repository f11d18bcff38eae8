"""Feed-forward networks, with the tensor names of modewise's files. Weights are cast to the type of the activations at use."""

from torch import Tensor

from modewise import ops
from modewise.nn.basic import Dropout, Linear, TensorModule


class SwiGLU(TensorModule):
    """w2(silu(w1 x) · w3 x) without biases: [..., width] -> [..., width] (Shazeer 2020; HOT as released).

    Parameters
    ----------
    width
        D, channels of a token.
    hidden
        Hidden channels.

    Examples
    --------
    >>> import torch
    >>> SwiGLU(4, 8)(torch.ones(2, 4)).shape
    torch.Size([2, 4])
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.w1 = Linear(width, hidden, bias=False)
        self.w2 = Linear(hidden, width, bias=False)
        self.w3 = Linear(width, hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return ops.feed_forward(x, self.w3.weight, self.w2.weight, self.w1.weight)


class GELUNetwork(TensorModule):
    """linear2(dropout(gelu(linear1 x))): [..., width] -> [..., width] (HOT, section 4.3).

    Parameters
    ----------
    width
        D, channels of a token.
    hidden
        Hidden channels.
    dropout
        Dropout probability of the hidden channels.

    Examples
    --------
    >>> import torch
    >>> GELUNetwork(4, 8)(torch.ones(2, 4)).shape
    torch.Size([2, 4])
    """

    def __init__(self, width: int, hidden: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.linear1 = Linear(width, hidden)
        self.linear2 = Linear(hidden, width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        first, second = self.linear1, self.linear2
        if self.dropout.drawn_by_graph():
            return second(self.dropout(ops.elementary(first(x), "gelu")))
        dropout = self.dropout.active()
        return ops.feed_forward(x, first.weight, second.weight, None, first.bias, second.bias, dropout, *self.dropout.key())
