"""The calls whose kernels are compiled ahead of time: those of models with heads of 64 or 128 channels.

Only types, tiles and divisibility matter: an integer that is a multiple of 16 here must be one in every later call, so that
odd sizes stand for any size. `compiled_types` and the rows of CALLS bound the number of files.
"""

from collections.abc import Callable

import torch

_ops = torch.ops.modewise
HEADS = 3


def _short_attention(dtype: torch.dtype, d: int) -> None:
    """Modes of 17 … 32 tokens, and of 33 … 64, such as patches of images."""
    rows = ((31, True), (31, False), (63, False)) if dtype == torch.bfloat16 else ((31, True), (31, False))[: 2 * (d == 64)]
    for n, causal in rows:
        q, k, v, grad = (torch.empty(1, n, HEADS, d, dtype=dtype) for _ in range(4))
        _ops.dot_product_attention(q, k, v, None, causal, 1.0)
        _ops.dot_product_attention_backward(grad, q, k, v, None, causal, 1.0)


CALLS: list[Callable[[torch.dtype, int], None]] = [_short_attention]


def call_all() -> None:
    for call in CALLS:
        for dtype in (torch.bfloat16, torch.float32):
            for d in (64, 128):
                call(dtype, d)
