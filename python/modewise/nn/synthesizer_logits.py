"""Sources of a synthesizer's logits Z [N, M] (arXiv 2201.01410, section 3; Tay et al. 2020), as low-rank matrices or Kronecker
factors for `modewise.ops.synthesized_attention`. Each head has its own weights."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from modewise import ops
from modewise.nn.basic import Linear


class Logits(NamedTuple):
    """left rightᵀ + outer ⊗ inner, or one of the two terms: left [B, n, H, c], right [B or 1, m, H, c], outer [H, α, β],
    inner [H, α', β']."""

    left: Tensor | None = None
    right: Tensor | None = None
    outer: Tensor | None = None
    inner: Tensor | None = None


class LogitSource(nn.Module):
    """Base of the sources. forward: x [B, N_1 … N_k, D] of the grid `sizes`, or the first tokens of a sequence -> `Logits` with a
    row and a column per token of x."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self.sizes = list(sizes)

    if TYPE_CHECKING:

        def __call__(self, x: Tensor) -> Logits: ...

    def check(self, x: Tensor) -> int:
        """The number of tokens; ValueError if the source was made for other sizes."""
        sizes = list(x.shape[1:-1])
        sequence = len(self.sizes) == 1
        fits = len(sizes) == 1 and sizes[0] <= self.sizes[0] if sequence else sizes == self.sizes
        if not fits:
            takes = "takes at most as many" if sequence else "takes only these"
            raise ValueError(f"a synthesizer built for tokens {self.sizes} {takes}, got {sizes}")
        return math.prod(sizes)


def kronecker_product(a: Tensor, b: Tensor) -> Tensor:
    """a [H, α, β] ⊗ b [H, α', β'] -> [H, α·α', β·β']."""
    return (a.unsqueeze(2).unsqueeze(4) * b.unsqueeze(1).unsqueeze(3)).flatten(3, 4).flatten(1, 2)


def balanced_divisors(n: int, count: int) -> list[int]:
    """`count` divisors with product n, as equal as possible, in descending order."""
    found = []
    for left in range(count, 1, -1):
        divisor = int(n ** (1 / left) + 1e-9)
        while n % divisor != 0:
            divisor -= 1
        found.append(divisor)
        n //= divisor
    return sorted([*found, n], reverse=True)


class Matrices(nn.Module):
    """A parameter [H, rows, columns], or its Kronecker factors factor0, factor1, …"""

    def __init__(self, heads: int, rows: Sequence[int], columns: Sequence[int], std: float) -> None:
        super().__init__()
        self.rows, self.columns = list(rows), list(columns)
        factor_std = std ** (1 / len(self.rows))
        for i, (some_rows, some_columns) in enumerate(zip(self.rows, self.columns, strict=True)):
            self.register_parameter(f"factor{i}", nn.Parameter(torch.randn(heads, some_rows, some_columns) * factor_std))

    def joined(self, like: Tensor, first: int = 0, last: int | None = None) -> Tensor:
        """The Kronecker product of the factors first … last − 1 in the type of `like`; 1 without factors."""
        factors = [parameter.to(like.dtype) for parameter in self.parameters()]
        chosen = factors[first:last]
        if not chosen:
            return torch.ones(factors[0].shape[0], 1, 1, dtype=like.dtype, device=like.device)
        out = chosen[0]
        for factor in chosen[1:]:
            out = kronecker_product(out, factor)
        return out


class DenseLogits(LogitSource):
    """Tay's dense synthesizer: Z_i = W_2 relu(W_1 x_i + b_1) + b_2; row i depends on token i alone. Names: hidden, columns
    [M, H, d], columns_bias [M, H, 1]."""

    def __init__(self, sizes: Sequence[int], width: int, heads: int) -> None:
        super().__init__(sizes)
        self.heads, d = heads, width // heads
        self.hidden = Linear(width, width)
        self.columns = nn.Parameter(torch.randn(math.prod(sizes), heads, d) / math.sqrt(d))
        self.columns_bias = nn.Parameter(torch.zeros(math.prod(sizes), heads, 1))

    def forward(self, x: Tensor) -> Logits:
        count = self.check(x)
        left = torch.relu(self.hidden(x)).flatten(1, -2).unflatten(-1, (self.heads, -1))
        ones = torch.ones(*left.shape[:3], 1, dtype=left.dtype, device=left.device)
        right = torch.cat([self.columns.to(x.dtype), self.columns_bias.to(x.dtype)], -1)
        return Logits(torch.cat([left, ones], -1), right[:count].unsqueeze(0))


AXES = ("height", "width", "channel")


class TensorLogits(LogitSource):
    """Z = X ×_1 A_H ×_2 A_W ×_3 A_C (Eq. 11 and the variants after Eq. 13), X [H, W, C] with H all modes but the last; axis
    `reduced` becomes 1, the two others N each. With `factors` > 1 each A is a Kronecker product (Eqs. 16, 17). Names: height,
    width, channel."""

    def __init__(self, sizes: Sequence[int], width: int, heads: int, reduced: str = "channel", factors: int = 1) -> None:
        super().__init__(sizes)
        self.reduced = AXES.index(reduced)
        count = math.prod(sizes)
        for axis, size in enumerate((count // self.sizes[-1], self.sizes[-1], width)):
            rows = balanced_divisors(1 if axis == self.reduced else count, factors)
            self.add_module(AXES[axis], Matrices(heads, rows, balanced_divisors(size, factors), 1 / math.sqrt(size)))

    def _joined(self, axis: int, like: Tensor) -> Tensor:
        matrices = self.get_submodule(AXES[axis])
        assert isinstance(matrices, Matrices)
        return matrices.joined(like)

    def forward(self, x: Tensor) -> Logits:
        self.check(x)
        rows, columns = 1 if self.reduced == 0 else 0, 1 if self.reduced == 2 else 2
        grid = x.reshape(x.shape[0], math.prod(self.sizes[:-1]), self.sizes[-1], x.shape[-1])
        weights = self._joined(self.reduced, x)[:, 0].t()
        core = ops.matmul(grid.movedim(self.reduced + 1, -1), weights)  # [B, rows, columns, H]
        left = ops.matmul(self._joined(rows, x), core.movedim(-1, 1))  # [B, H, N, c]
        return Logits(left.transpose(1, 2), self._joined(columns, x).transpose(0, 1).unsqueeze(0))


class RandomLogits(LogitSource):
    """Z = R (Eq. 15), the same for all samples: learned, or fixed. Name: logits [H, N, M]."""

    logits: Tensor

    def __init__(self, sizes: Sequence[int], heads: int, learned: bool = True) -> None:
        super().__init__(sizes)
        values = torch.randn(heads, math.prod(sizes), math.prod(sizes))
        if learned:
            self.logits = nn.Parameter(values)
        else:
            self.register_buffer("logits", values)

    def forward(self, x: Tensor) -> Logits:
        count = self.check(x)
        one = torch.ones(self.logits.shape[0], 1, 1, dtype=x.dtype, device=x.device)
        return Logits(outer=self.logits.to(x.dtype)[:, :, :count], inner=one)


class FactorizedLogits(LogitSource):
    """Z = R_1 ⊗ … ⊗ R_m (Eq. 18), row-major, never formed. Name: factors."""

    def __init__(self, sizes: Sequence[int], heads: int, factors: int = 2) -> None:
        super().__init__(sizes)
        shapes = balanced_divisors(math.prod(sizes), factors)
        self.factors = Matrices(heads, shapes, shapes, 1.0)
        entries = [math.prod(shapes[:split]) ** 2 + math.prod(shapes[split:]) ** 2 for split in range(1, factors + 1)]
        self.split = entries.index(min(entries)) + 1

    def forward(self, x: Tensor) -> Logits:
        self.check(x)
        return Logits(outer=self.factors.joined(x, 0, self.split), inner=self.factors.joined(x, self.split))


class MixedLogits(LogitSource):
    """Z = Σ θ_i Z_i, θ a softmax of learned numbers (Eq. 19); at most one source has Kronecker factors. Names: source0, source1,
    …, theta."""

    def __init__(self, sources: Sequence[LogitSource]) -> None:
        super().__init__(sources[0].sizes)
        for i, source in enumerate(sources):
            self.add_module(f"source{i}", source)
        self.theta = nn.Parameter(torch.zeros(len(sources)))

    def forward(self, x: Tensor) -> Logits:
        weights = torch.softmax(self.theta, -1).to(x.dtype)
        left, right, outer, inner = [], [], None, None
        sources = [source for source in self.children() if isinstance(source, LogitSource)]
        for weight, one in zip(weights, (source(x) for source in sources), strict=True):
            if one.left is not None and one.right is not None:
                left.append(one.left * weight)
                right.append(one.right)
            if one.outer is not None:
                if outer is not None:
                    raise ValueError("a mixture takes one source with Kronecker factors, got two")
                outer, inner = one.outer * weight, one.inner
        if not left:
            return Logits(outer=outer, inner=inner)
        return Logits(torch.cat(left, -1), torch.cat(right, -1), outer, inner)
