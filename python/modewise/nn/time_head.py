"""Forecast head: from the tokens of a series to its forecast, and quantiles without crossings."""

import torch
from torch import Tensor

from modewise.nn.basic import Dropout, LayerNorm, Linear, TensorModule
from modewise.nn.checks import checked_choice, valid_tokens, width_of_head


class TimeHead(TensorModule):
    """tokens [B, N_1 … N_j, P, D], mask [B, N_1 … N_j, P] bool -> [B, N_1 … N_j, outputs].

    `pooling` of the P time tokens: "flatten" (LayerNorm, concatenation of all tokens, masked ones too, as in PatchTST), "mean" (of the valid tokens,
    then LayerNorm, as in HOT as released) or "attention" (LayerNorm, a learned weighted mean per head). `norm`: whether
    there is a LayerNorm. Names: 0 LayerNorm, 2 Linear, score.

    Parameters
    ----------
    pooling
        "flatten", "mean" or "attention".
    patches
        P, time tokens of a series.
    width
        D, channels of a token.
    heads
        Attention heads of the pooling "attention".
    outputs
        Numbers for each series.
    dropout
        Dropout probability before the linear map.
    norm
        Whether there is a LayerNorm.

    Raises
    ------
    ValueError
        For another pooling.

    Examples
    --------
    >>> TimeHead("mean", 5, 16, 4, outputs=24)(torch.ones(1, 3, 5, 16)).shape
    torch.Size([1, 3, 24])
    """

    def __init__(
        self, pooling: str, patches: int, width: int, heads: int, outputs: int, dropout: float = 0.0, norm: bool = True
    ) -> None:
        super().__init__()
        self.pooling, self.heads = checked_choice("TimeHead", "pooling", pooling, ("flatten", "mean", "attention")), heads
        self.add_module("0", LayerNorm(width) if norm else None)
        self.add_module("1", Dropout(dropout))
        self.add_module("2", Linear(patches * width if pooling == "flatten" else width, outputs))
        if pooling == "attention":
            width_of_head("TimeHead", width, heads)
            self.score = Linear(width, heads, bias=False)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        tokens = valid_tokens("TimeHead", tokens, mask)
        dropout, linear = (self.get_submodule(name) for name in "12")
        if self.pooling == "flatten":
            pooled = self._normed(tokens).flatten(-2)
        elif self.pooling == "mean":
            pooled = self._normed(self._mean(tokens, mask))
        else:
            pooled = self._attend(self._normed(tokens), mask)
        out: Tensor = linear(dropout(pooled))
        return out

    def _normed(self, x: Tensor) -> Tensor:
        norm = self._modules["0"]
        return x if norm is None else norm(x)

    def _mean(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return tokens.mean(-2)
        valid = mask.unsqueeze(-1).to(tokens.dtype)
        return (tokens * valid).sum(-2) / valid.sum(-2).clamp_min(1)

    def _attend(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        scores = self.score(tokens).to(torch.float64 if tokens.dtype == torch.float64 else torch.float32)
        if mask is not None:  # finite: a series without a valid token gets equal weights
            scores = scores.masked_fill(~mask.unsqueeze(-1), -1e30)
        weights = torch.softmax(scores, -2).to(tokens.dtype)
        split: Tensor = tokens.unflatten(-1, (self.heads, -1))
        return (split * weights.unsqueeze(-1)).sum(-3).flatten(-2)


def split_quantiles(raw: Tensor) -> tuple[Tensor, Tensor]:
    """raw [..., Q] -> the median [...] and the differences of all quantiles from it [..., Q], ascending, 0 in the middle:
    cumulative sums of softplus(raw), so quantiles cannot cross.

    Parameters
    ----------
    raw
        [..., Q], Q odd.

    Returns
    -------
    (Tensor, Tensor)
        The median [...], and differences [..., Q].

    Examples
    --------
    >>> [out.shape for out in split_quantiles(torch.ones(2, 5))]
    [torch.Size([2]), torch.Size([2, 5])]
    """
    middle = raw.shape[-1] // 2
    base = raw[..., middle : middle + 1]
    above = torch.nn.functional.softplus(raw[..., middle + 1 :]).cumsum(-1)
    below = torch.nn.functional.softplus(raw[..., :middle]).flip(-1).cumsum(-1).flip(-1)
    return base.squeeze(-1), torch.cat([-below, torch.zeros_like(base), above], -1)
