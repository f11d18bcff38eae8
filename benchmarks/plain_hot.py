"""Higher-order transformer in plain PyTorch, the baseline of the benchmarks.

It follows the released layout (queries and keys projected on the full tensor and pooled by sum, one pair of
norms, rotary embedding, separate factors per mode, SwiGLU, pre-norm), neither tuned nor deliberately slow.
"""

import torch
from torch import nn
from torch.nn import functional as F


def rotate(x, positions):
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-torch.arange(half, dtype=torch.float32) / half)
    angle = positions[:, None].float() * frequency
    angle = torch.cat([angle, angle], -1)
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return (x * angle.cos() + turned * angle.sin()).to(x.dtype)


class KroneckerAttention(nn.Module):
    def __init__(self, width, modes, heads, rotary_modes, dropout):
        super().__init__()
        self.modes, self.heads, self.rotary_modes, self.dropout = modes, heads, rotary_modes, dropout
        self.query = nn.Linear(width, width * modes)
        self.key = nn.Linear(width, width * modes)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.query_norm = nn.LayerNorm(width // heads)
        self.key_norm = nn.LayerNorm(width // heads)

    def forward(self, x):
        batch, *sizes, width = x.shape
        head_width = width // self.heads
        value = self.value(x).view(batch, *sizes, self.heads, head_width)
        queries = self.query(x).chunk(self.modes, -1)
        keys = self.key(x).chunk(self.modes, -1)
        for mode in range(self.modes):
            others = [i + 1 for i in range(self.modes) if i != mode]
            pooled = []
            for t, norm in ((queries[mode], self.query_norm), (keys[mode], self.key_norm)):
                t = t.sum(others) if others else t
                t = norm(t.view(batch, -1, self.heads, head_width)).transpose(1, 2)
                if mode in self.rotary_modes:
                    t = rotate(t, torch.arange(t.shape[2]))
                pooled.append(t)
            scores = pooled[0] @ pooled[1].transpose(-1, -2) / head_width**0.5
            scores = F.dropout(scores.softmax(-1), self.dropout, self.training)
            # [B, N_1..N_k, H, d] -> [B, H, N_mode, rest·d]: one batched product, then back
            moved = value.movedim(-2, 1).movedim(mode + 2, 2)
            product = scores.to(moved.dtype) @ moved.flatten(3) if moved.dim() > 4 else scores.to(moved.dtype) @ moved
            value = product.view(moved.shape).movedim(2, mode + 2).movedim(1, -2)
        return self.out(value.reshape(batch, *sizes, width))


class Block(nn.Module):
    def __init__(self, width, hidden, modes, heads, rotary_modes, dropout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = KroneckerAttention(width, modes, heads, rotary_modes, dropout)
        self.w1 = nn.Linear(width, hidden, bias=False)
        self.w2 = nn.Linear(hidden, width, bias=False)
        self.w3 = nn.Linear(width, hidden, bias=False)
        self.dropout = dropout

    def forward(self, x):
        x = x + F.dropout(self.attention(self.norm1(x)), self.dropout, self.training)
        y = self.norm2(x)
        return x + F.dropout(self.w2(F.silu(self.w1(y)) * self.w3(y)), self.dropout, self.training)


class Stack(nn.Module):
    """Stack of `blocks` layers on [B, N_1, ..., N_k, D]."""

    def __init__(self, blocks, width, hidden, modes, heads, rotary_modes, dropout=0.1):
        super().__init__()
        self.blocks = nn.ModuleList(
            Block(width, hidden, modes, heads, rotary_modes, dropout) for _ in range(blocks)
        )

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
