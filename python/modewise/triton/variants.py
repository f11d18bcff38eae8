"""The calls whose kernels are compiled ahead of time: those of models with heads of 64 or 128 channels.

Types, tiles and divisibility matter: an integer that is a multiple of 16 here must be one in every later call, so that an odd
size stands for any size of the same tile. Other calls run other kernels of the operators. The rows of CALLS and TYPES bound
the number of files.
"""

from collections.abc import Callable

import torch

_ops = torch.ops.modewise
_HEADS = 3


def _empty(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype)


def _short_attention(dtype: torch.dtype, d: int) -> None:
    """Axial attention over modes of 17 … 32 tokens; heads of 64 channels also of 33 … 64, such as patches of images."""
    for n, causal in ((31, True), (31, False), (63, False))[: 3 if d == 64 and dtype == torch.bfloat16 else 2]:
        q, k, v, grad = (_empty(dtype, 1, n, _HEADS, d) for _ in range(4))
        _ops.dot_product_attention(q, k, v, None, causal, 1.0)
        _ops.dot_product_attention_backward(grad, q, k, v, None, causal, 1.0)


def _kronecker_attention(dtype: torch.dtype, d: int) -> None:
    """Scores and products over a mode of 17 … 32 tokens."""
    n, width = 31, _HEADS * d
    q, x, scores = _empty(dtype, 1, n, width), _empty(dtype, 1, 5, n, 3, width), _empty(dtype, 1, _HEADS, n, n)
    _ops.mode_scores(q, q, _HEADS)
    _ops.mode_scores_backward(scores, scores, q, q, _HEADS)
    for factor in (scores, scores.mT):  # the gradient of x is the product with the transposed factor
        _ops.mode_product(x, factor, 1)
    _ops.mode_contract(x, x, 1, _HEADS)


def _summary_attention(dtype: torch.dtype, d: int) -> None:
    """Two levels, so that blocks of summary tokens have summary tokens."""
    q, k, v, grad = (_empty(dtype, 1, 83, _HEADS, d) for _ in range(4))
    for summaries in (1, 3):
        latents = _empty(dtype, 2, _HEADS, summaries, d)
        options: tuple[object, ...] = (torch.ones(3, d // 2, dtype=torch.float64), None, [5, 3, 5], 33, 0, 1.0, [])
        results = _ops.summary_attention(q, k, v, latents, *options)
        _ops.summary_attention_backward(grad, q, k, v, latents, *results, *options)


TYPES = ((torch.bfloat16, 64), (torch.bfloat16, 128), (torch.float32, 64))
CALLS: tuple[Callable[[torch.dtype, int], None], ...] = (_short_attention, _kronecker_attention, _summary_attention)


def call_all() -> None:
    for call in CALLS:
        for dtype, d in TYPES:
            call(dtype, d)
