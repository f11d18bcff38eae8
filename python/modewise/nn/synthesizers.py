"""Attention registry: synthesizers, which have no dot products, and other attention, by name (arXiv 2201.01410, Table 1;
docs/synthesizers.md). All take x [B, N_1 … N_k, D] and mask [B, N_1 … N_k] bool, and have value_proj, out_proj [D, D]."""

import dataclasses
import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from modewise import ops
from modewise._aliases import REGISTRY_ENTRIES, current
from modewise.nn.attention import KroneckerAttention, TokenAttention
from modewise.nn.basic import Linear, TensorModule
from modewise.nn.checks import valid_tokens, width_of_head
from modewise.nn.synthesizer_logits import (
    AXES,
    DenseLogits,
    FactorizedLogits,
    LogitSource,
    MixedLogits,
    RandomLogits,
    TensorLogits,
    balanced_divisors,
    kronecker_product,
)


def by_head(x: Tensor, heads: int) -> Tensor:
    """[B, N_1 … N_k, D] -> [B, N, H, d]."""
    out: Tensor = x.flatten(1, -2).unflatten(-1, (heads, -1))
    return out


def zeroed_tokens(x: Tensor, mask: Tensor | None) -> Tensor:
    """x [..., D] with 0 where the mask [...] is False: a row of logits may depend on every token."""
    return x if mask is None else x.masked_fill(~mask.unsqueeze(-1), 0)


class SynthesizerAttention(TensorModule):
    """out_proj(Σ_s softmax(Z_s) V) over `sources`: one, or three for the type additive (Eq. 14). `causal`: token i attends to
    tokens j ≤ i. Names: logits, or logits0, logits1, …"""

    def __init__(self, width: int, heads: int, sources: Sequence[LogitSource], causal: bool = False) -> None:
        super().__init__()
        self.heads, self.causal, self.count = heads, causal, len(sources)
        for i, source in enumerate(sources):
            self.add_module("logits" if self.count == 1 else f"logits{i}", source)
        self.value_proj = Linear(width, width)
        self.out_proj = Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = zeroed_tokens(valid_tokens("synthesizer", x, mask), mask)
        values = by_head(self.value_proj(x), self.heads)
        kept = None if mask is None else mask.flatten(1)
        sources = [source for source in self.children() if isinstance(source, LogitSource)]
        mixed = [ops.synthesized_attention(values, *source(x), values.shape[1], kept, self.causal) for source in sources]
        total = mixed[0]
        for one in mixed[1:]:
            total = total + one
        return self.out_proj(total.flatten(-2).view(x.shape))


class FactorProductAttention(TensorModule):
    """V ×_1 softmax(R_1) … ×_m softmax(R_m): the softmax of the Kronecker sum of the factors. Names: factor0, …"""

    def __init__(self, sizes: Sequence[int], width: int, heads: int, factors: int = 2) -> None:
        super().__init__()
        self.sizes, self.heads = list(sizes), heads
        self.shapes = balanced_divisors(math.prod(sizes), factors)
        for i, size in enumerate(self.shapes):
            self.register_parameter(f"factor{i}", nn.Parameter(torch.randn(heads, size, size)))
        self.value_proj = Linear(width, width)
        self.out_proj = Linear(width, width)

    def _mixed(self, values: Tensor) -> Tensor:
        """Averages of values [B, N_1', …, N_m', D] along each mode."""
        for mode in range(len(self.shapes)):
            factor = torch.softmax(self.get_parameter(f"factor{mode}"), -1).to(values.dtype)
            values = ops.mode_product(values, factor.unsqueeze(0).expand(values.shape[0], -1, -1, -1), mode)
        return values

    def _masked(self, values: Tensor, valid: Tensor) -> Tensor:
        """The same over the valid cells [B, N_1', …, N_m']: others have weight 0, and the other weights add up to 1. By
        logarithms of weights, as the softmaxes of valid cells may underflow."""
        type = torch.promote_types(values.dtype, torch.float32)
        values = values.to(type).unflatten(-1, (self.heads, -1))
        log_weight = ops.elementary(valid.unsqueeze(-1).expand(*valid.shape, self.heads).to(type), "log")
        for mode in range(len(self.shapes)):
            logits = self.get_parameter(f"factor{mode}").to(type) + log_weight.movedim(mode + 1, -1).unsqueeze(-2)
            largest = logits.detach().amax(-1, keepdim=True)  # [B, …, H, M_i, 1]; −∞: no valid cell
            none = largest.isinf()
            shift = largest.masked_fill(none, 0)
            weights = ops.elementary(logits - shift, "exp")
            total = ops.matmul(weights, weights.new_ones(weights.shape[-1], 1)).masked_fill(none, 1)
            values = ops.matmul(weights / total, values.movedim(mode + 1, -2)).movedim(-2, mode + 1)
            log_weight = (ops.elementary(total, "log") + shift).masked_fill(none, -math.inf).squeeze(-1).movedim(-1, mode + 1)
        return values.flatten(-2)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if list(x.shape[1:-1]) != self.sizes:
            raise ValueError(f"a synthesizer built for tokens {self.sizes} takes only these, got {list(x.shape[1:-1])}")
        values = self.value_proj(valid_tokens("synthesizer", x, mask)).reshape(x.shape[0], *self.shapes, x.shape[-1])
        mixed = self._mixed(values) if mask is None else self._masked(values, mask.reshape(values.shape[:-1]))
        return self.out_proj(mixed.to(values.dtype).reshape(x.shape))


class LinformerAttention(TensorModule):
    """softmax(q (E k)ᵀ / √d) F v with learned E, F [K, N] over the tokens (Wang et al. 2020). Names: query_proj,
    key_proj, key_map, value_map."""

    def __init__(self, sizes: Sequence[int], width: int, heads: int, projected: int = 0) -> None:
        super().__init__()
        self.heads, tokens = heads, math.prod(sizes)
        self.query_proj = Linear(width, width)
        self.key_proj = Linear(width, width)
        self.value_proj = Linear(width, width)
        self.out_proj = Linear(width, width)
        rows = projected or max(tokens // 4, 1)
        self.key_map = nn.Parameter(torch.randn(rows, tokens) / math.sqrt(tokens))
        self.value_map = nn.Parameter(torch.randn(rows, tokens) / math.sqrt(tokens))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = valid_tokens("synthesizer", x, mask)
        tokens = x.flatten(1, -2)
        if tokens.shape[1] > self.key_map.shape[1]:
            raise ValueError(f"linformer built for {self.key_map.shape[1]} keys takes at most as many, got {tokens.shape[1]}")

        def project(linear: Linear, weights: Tensor) -> Tensor:
            rows = linear(tokens)
            if mask is not None:
                rows = rows.masked_fill(~mask.flatten(1).unsqueeze(-1), 0)
            return ops.mode_product(rows, weights[:, : tokens.shape[1]].to(rows.dtype), 0)

        keys, values = project(self.key_proj, self.key_map), project(self.value_proj, self.value_map)
        return self.out_proj(ops.full_attention(self.query_proj(x), keys, values, self.heads))


class PrintedMixtureAttention(TensorModule):
    """softmax(θ_1 softmax(Z) + θ_2 R) V, Eq. 20 as printed; holds N · N numbers per head and sample. Names: inner, random,
    theta."""

    def __init__(self, width: int, heads: int, inner: LogitSource, random: LogitSource) -> None:
        super().__init__()
        self.heads = heads
        self.inner, self.random = inner, random
        self.theta = nn.Parameter(torch.zeros(2))
        self.value_proj = Linear(width, width)
        self.out_proj = Linear(width, width)

    def _weights(self, x: Tensor, mask: Tensor | None) -> Tensor:
        count = math.prod(x.shape[1:-1])
        units = torch.eye(count, dtype=x.dtype, device=x.device).unsqueeze(1).expand(count, self.heads, count)
        kept = None if mask is None else mask.flatten(1)
        inner = ops.synthesized_attention(units.expand(x.shape[0], -1, -1, -1), *self.inner(x), count, kept)
        random = self.random(x)
        assert random.outer is not None and random.inner is not None
        theta = torch.softmax(self.theta, -1).to(x.dtype)
        logits = inner.transpose(1, 2) * theta[0] + kronecker_product(random.outer, random.inner) * theta[1]
        if kept is not None:
            logits = logits.masked_fill(~kept.unsqueeze(1).unsqueeze(1), -1e30)
        return torch.softmax(logits, -1)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = zeroed_tokens(valid_tokens("synthesizer", x, mask), mask)
        values = self.value_proj(x)
        if mask is not None:
            values = values.masked_fill(~mask.unsqueeze(-1), 0)
        mixed = ops.matmul(self._weights(x, mask), by_head(values, self.heads).transpose(1, 2)).transpose(1, 2)
        return self.out_proj(mixed.flatten(-2).reshape(x.shape))


@dataclasses.dataclass
class SynthesizerShape:
    """Shape of the tokens: a grid of `sizes` N_1 … N_k, width D, heads; `factors`: Kronecker factors of the factorized types."""

    sizes: Sequence[int]
    width: int
    heads: int
    factors: int = 2
    causal: bool = False


def _tensor(shape: SynthesizerShape, axis: str, factors: int = 1) -> LogitSource:
    return TensorLogits(shape.sizes, shape.width, shape.heads, axis, factors)


def _factorized(shape: SynthesizerShape) -> LogitSource:
    return FactorizedLogits(shape.sizes, shape.heads, shape.factors)


def _dense(shape: SynthesizerShape) -> LogitSource:
    return DenseLogits(shape.sizes, shape.width, shape.heads)


def _synthesizer(*sources: Callable[[SynthesizerShape], LogitSource]) -> Callable[[SynthesizerShape], TensorModule]:
    return lambda shape: SynthesizerAttention(shape.width, shape.heads, [source(shape) for source in sources], shape.causal)


def _kronecker(combine: str) -> Callable[[SynthesizerShape], TensorModule]:
    return lambda shape: KroneckerAttention(shape.width, shape.heads, len(shape.sizes), combine=combine)


ENTRIES: dict[str, Callable[[SynthesizerShape], TensorModule]] = {
    "dot-product": lambda shape: TokenAttention(shape.width, shape.heads, query_key_norm=False, causal=shape.causal),
    "linformer": lambda shape: LinformerAttention(shape.sizes, shape.width, shape.heads),
    "dense": _synthesizer(_dense),
    "stt": _synthesizer(lambda shape: _tensor(shape, "channel")),
    "tensor-height": _synthesizer(lambda shape: _tensor(shape, "height")),
    "tensor-width": _synthesizer(lambda shape: _tensor(shape, "width")),
    "additive": lambda shape: SynthesizerAttention(shape.width, shape.heads, [_tensor(shape, axis) for axis in AXES]),
    "random": _synthesizer(lambda shape: RandomLogits(shape.sizes, shape.heads)),
    "random-fixed": _synthesizer(lambda shape: RandomLogits(shape.sizes, shape.heads, learned=False)),
    "factorized-dense": _synthesizer(lambda shape: _tensor(shape, "channel", shape.factors)),
    "factorized-random": _synthesizer(_factorized),
    "product-random": lambda shape: FactorProductAttention(shape.sizes, shape.width, shape.heads, shape.factors),
    "mixture": _synthesizer(lambda shape: MixedLogits([_tensor(shape, "channel"), _factorized(shape)])),
    "mixture-dense": _synthesizer(lambda shape: MixedLogits([_dense(shape), _factorized(shape)])),
    "mixture-printed": lambda shape: PrintedMixtureAttention(
        shape.width, shape.heads, _tensor(shape, "channel", shape.factors), _factorized(shape)
    ),
    "kronecker": _kronecker("product"),
    "kronecker-sum": _kronecker("mean"),
}
CAUSAL = ("dot-product", "dense", "random", "random-fixed", "factorized-random", "mixture-dense")


def synthesizer(name: str, sizes: Sequence[int], width: int, heads: int, *, factors: int = 2, causal: bool = False) -> TensorModule:
    """The registry entry `name` for tokens [B, N_1 … N_k, D], N_1 … N_k = `sizes`, D = `width`: dot-product, linformer, dense,
    stt, tensor-height, tensor-width, additive, random, random-fixed, factorized-dense, factorized-random, product-random,
    mixture, mixture-dense, mixture-printed, kronecker, kronecker-sum. `factors`: of factorized types; `causal`: a causal mask
    (dot-product, dense, random, random-fixed, factorized-random, mixture-dense). ValueError for an unknown name, or a type that
    cannot be causal.

    Parameters
    ----------
    name
        Entry of the registry.
    sizes
        N_1 … N_k.
    width
        D, channels of a token.
    heads
        Number of heads, a divisor of the width.
    factors
        Kronecker factors of factorized types.
    causal
        Whether a token attends only to itself and earlier ones.

    Returns
    -------
    TensorModule
        x [B, N_1 … N_k, D], mask or None -> as x.

    Raises
    ------
    ValueError
        For an unknown name, or a type that cannot be causal.

    Examples
    --------
    >>> synthesizer("random", [3, 5], 16, 4)(torch.ones(1, 3, 5, 16)).shape
    torch.Size([1, 3, 5, 16])
    """
    name = current(REGISTRY_ENTRIES, name)
    if name not in ENTRIES:
        raise ValueError(f"unknown attention '{name}' (there are {', '.join(ENTRIES)})")
    if causal and name not in CAUSAL:
        raise ValueError(f"attention '{name}' cannot be causal: each of its rows depends on every token")
    width_of_head(f"attention '{name}'", width, heads)
    return ENTRIES[name](SynthesizerShape(sizes, width, heads, factors, causal))
