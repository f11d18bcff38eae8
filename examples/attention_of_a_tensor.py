"""Kronecker attention as a torch module: its factors, one compiled graph, its gradients."""

import torch

from modewise import nn

torch.manual_seed(0)
attention = nn.KroneckerAttention(64, 4, modes=2, rope_modes=[1])  # width, heads; variables × time patches
x = torch.randn(2, 21, 24, 64)
over_variables, over_time = attention.factors(x)
print(tuple(over_variables.shape), tuple(over_time.shape))
print("rows sum to 1:", torch.allclose(over_time.sum(-1), torch.ones(2, 4, 24)))
compiled = torch.compile(attention, fullgraph=True, backend="aot_eager")
print("compiled, bit-identical:", torch.equal(compiled(x), attention(x)))
attention(x).square().mean().backward()
print(sum(parameter.grad is not None for parameter in attention.parameters()), "parameters have gradients")
