"""The calls whose kernels are compiled ahead of time: those of models with heads of 64 or 128 channels.

Types, tiles and the alignment of strides matter: a stride that is a multiple of 64 here must be one of 16 in every later call.
A size stands for all sizes of its tile. Other calls run other kernels of the operators. The rows of CALLS bound the number of
files.
"""

import functools
from collections.abc import Callable

import torch

_ops = torch.ops.modewise
_HEADS = 3


def _empty(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype)


def _axial_attention(causal: bool, dtype: torch.dtype, d: int) -> None:
    """Over modes of 17 … 32 tokens."""
    q, k, v, grad = (_empty(dtype, 1, 31, _HEADS, d) for _ in range(4))
    _ops.dot_product_attention(q, k, v, None, causal, 1.0)
    _ops.dot_product_attention_backward(grad, q, k, v, None, causal, 1.0)


def _kronecker_attention(dtype: torch.dtype, d: int) -> None:
    """Over modes of 17 … 32 tokens."""
    n, width = 31, _HEADS * d
    q, x, scores = _empty(dtype, 1, n, width), _empty(dtype, 1, 5, n, n, width), _empty(dtype, 1, _HEADS, n, n)
    _ops.mode_pool_backward(_ops.mode_pool(x, "mean"), x.shape, "mean")
    _ops.mode_scores(q, q, _HEADS)
    _ops.mode_scores_backward(scores, scores, q, q, _HEADS)
    for factor in (scores, scores.mT):  # the gradient of x is the product with the transposed factor
        _ops.mode_product(x, factor, 1)
    _ops.mode_contract(x, x, 1, _HEADS)


def _summary_attention(dtype: torch.dtype, d: int) -> None:
    """Two levels, so that blocks of summary tokens have summary tokens."""
    q, k, v, grad = (_empty(dtype, 1, 88, _HEADS, d) for _ in range(4))
    for summaries in (1, 3):
        latents = _empty(dtype, 2, _HEADS, summaries, d)
        options: tuple[object, ...] = (torch.ones(3, d // 2, dtype=torch.float64), None, [5, 3, 5], 33, 0, 1.0, [])
        results = _ops.summary_attention(q, k, v, latents, *options)
        _ops.summary_attention_backward(grad, q, k, v, latents, *results, *options)


def _summary_step(dtype: torch.dtype, d: int) -> None:
    """A token, two levels, one summary token of a block; 3 and 4 tokens of a block join its parent."""
    state = torch.float32
    for n in (3, 4):
        q, k = _empty(dtype, 1, 1, _HEADS, d), _empty(dtype, 1, n, _HEADS, d)
        block = [torch.empty(shape, dtype=state) for shape in [(_HEADS, 1, d), (1, _HEADS, 1, 1), (1, _HEADS, 1, 1), (1, _HEADS, 1, d), (1, _HEADS, 1, d)]]
        frequencies, levels = torch.ones(3, d // 2, dtype=torch.float64), [k, k]
        first = k[:, :0]
        _ops.summary_step(q, q, q, q, k, k, first, first, levels, levels, [1, 1], [0.0, 0.0], *block, frequencies, [], n - 1, n, 1.0, True)
        _ops.summary_join(k, k, *block)


HALF, WIDE, SINGLE = (torch.bfloat16, 64), (torch.bfloat16, 128), (torch.float32, 64)
CALLS: tuple[tuple[Callable[[torch.dtype, int], None], tuple[tuple[torch.dtype, int], ...]], ...] = (
    (functools.partial(_axial_attention, True), (HALF, WIDE)),
    (functools.partial(_axial_attention, False), (HALF, SINGLE)),
    (_kronecker_attention, (HALF,)),
    (_summary_attention, (HALF, WIDE, SINGLE)),
    (_summary_step, (HALF, WIDE)),
)


def call_all() -> None:
    for call, kinds in CALLS:
        for dtype, d in kinds:
            call(dtype, d)
