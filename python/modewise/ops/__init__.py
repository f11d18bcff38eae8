"""Typed functions of the operators of torch.ops.modewise.

Letters: B batch, H heads, N_1 … N_k token modes, D width, d head width. Tensors are [B, N_1 … N_k, D], channels last.
Invalid arguments raise ValueError with the expected and the actual shapes. Operators of the backward pass are in
`modewise.ops.gradients`, kernels and instruction sets in `modewise.ops.kernels`.
"""

import torch as _torch

from modewise import _native as _native
from modewise import triton as _triton
from modewise.ops import autocast as _autocast
from modewise.ops import gradients, kernels
from modewise.ops.attention import (
    axis_attention,
    dot_product_attention,
    full_attention,
    hashed_attention,
    nystroem_attention,
    synthesized_attention,
)
from modewise.ops.dense import convolution, elementary, feed_forward, linear, matmul, rotary, swiglu
from modewise.ops.folded import summary_attention, summary_join, summary_step, tensor_attention
from modewise.ops.modes import (
    kronecker_attention,
    mode_attention,
    mode_contract,
    mode_pool,
    mode_product,
    mode_scores,
    orthogonal_projection,
)
from modewise.ops.normalisation import batch_norm, dropout_add, dropout_add_norm, layer_norm, masked_moments, rms_norm, update_moments
from modewise.ops.training import adam_step, language_loss, sum_of_squares, token_losses

_autocast.register()
if _torch.backends.cuda.is_built():
    _triton.register()

__all__ = [
    "adam_step",
    "axis_attention",
    "batch_norm",
    "convolution",
    "dot_product_attention",
    "dropout_add",
    "dropout_add_norm",
    "elementary",
    "feed_forward",
    "full_attention",
    "gradients",
    "hashed_attention",
    "kernels",
    "kronecker_attention",
    "language_loss",
    "layer_norm",
    "linear",
    "masked_moments",
    "matmul",
    "mode_attention",
    "mode_contract",
    "mode_pool",
    "mode_product",
    "mode_scores",
    "nystroem_attention",
    "orthogonal_projection",
    "rms_norm",
    "rotary",
    "sum_of_squares",
    "summary_attention",
    "summary_join",
    "summary_step",
    "swiglu",
    "synthesized_attention",
    "tensor_attention",
    "token_losses",
    "update_moments",
]
