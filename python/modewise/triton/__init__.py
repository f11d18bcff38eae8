"""Triton kernels of the operators, for CUDA tensors.

`register()` lets the operators launch them: the C++ code of an operator (modewise/ops/cuda) chooses tiles and strides,
allocates the results and calls `modewise::launch`. A kernel computes in float32 (products of float32 by `ieee`, without
TF32), or in float64 under Triton's interpreter. Sums have a fixed order: results repeat bit by bit on one device.
"""

from modewise.triton.launcher import register

__all__ = ["register"]
