"""Self-attention over token tensors x [B, N_1 … N_k, D] with an optional mask [B, N_1 … N_k] bool, True = valid."""

import math
import re
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from modewise import ops
from modewise._aliases import old_keywords
from modewise.nn.basic import Dropout, FeatureDraw, LayerNorm, Linear, TensorModule
from modewise.nn.checks import checked_choice, checked_modes, refuse_idle, require_axes, valid_tokens, width_of_head
from modewise.nn.rotary import ROPE_BASE, refuse_idle_base, rotate_heads


def norm_heads(x: Tensor, heads: int, norm: LayerNorm) -> Tensor:
    """LayerNorm of each head of [..., D]."""
    return norm(x.unflatten(-1, (heads, -1))).view(x.shape)


AttentionWeights = tuple[
    Tensor, Tensor | None, Tensor, Tensor | None, Tensor | None, Tensor | None, Tensor | None, Tensor | None
]  # fmt: skip


def cast_like(parameter: Tensor | None, like: Tensor) -> Tensor | None:
    """A parameter in the type of the activations."""
    return None if parameter is None else parameter.to(like.dtype)


def mode_mask(name: str, size: int, device: torch.device) -> Tensor | None:
    """The mask [size, size] of a mode, true where a position may attend: "causal", "band:W", or None for "none"."""
    if name == "none":
        return None
    places = torch.arange(size, device=device)
    distance = places[:, None] - places
    if name == "causal":
        return distance >= 0
    if re.fullmatch(r"band:[0-9]+", name):
        return distance.abs() <= int(name.removeprefix("band:"))
    raise ValueError(f'mode mask: expected none, causal or band:W (positions at most W apart), got "{name}"')


class KroneckerAttention(TensorModule):
    """HOT's attention: one attention matrix per mode, applied as mode products (`modewise.ops.kronecker_attention`).

    `modes` is k. query_proj and key_proj [k·D, D] mode-major, or [D, D] with `share_modes`; value_proj, out_proj
    [D, D]; q_norm, k_norm of width D / heads with `query_key_norm`. `feature_key` of the linear kernel: seed of its random
    features, below 2²⁴, saved in the state as feature_draw.numbers, redrawn every `features_redraw_every` training batches
    (0: never); None: the seed is the site of the module's dropout, which only models and encoders number: give each layer of your
    own model another key. The other options are the operator's.

    Parameters
    ----------
    width
        D, channels of a token.
    heads
        Number of heads, a divisor of the width.
    modes
        k, the number of modes.
    query_key_norm
        Whether queries and keys have a LayerNorm.
    dropout
        Dropout probability of the attention weights.
    combine
        "product", "sum" or "mean" of the modes.
    pooling
        "sum" or "mean".
    share_modes
        Whether all modes have the same weights.
    attend_modes
        Attended modes; empty: all.
    mode_masks
        Mask of each mode: "none", "causal" or "band:W" (positions at most W apart); empty: none.
    rope_modes, rope_base
        Modes with a rotary embedding, and its base.
    kernel
        "softmax" or "linear" (random features).
    features, feature_map
        Number of features (0: automatic), and "softmax" or "regularised".
    feature_key, features_redraw_every
        Seed of the features, and training batches between redraws.

    Raises
    ------
    ValueError
        For other names and sizes, and for options without effect: dropout and masks with the linear kernel, the features of another.

    Examples
    --------
    >>> KroneckerAttention(16, 4, modes=2)(torch.ones(1, 3, 5, 16)).shape
    torch.Size([1, 3, 5, 16])
    """

    q_norm: LayerNorm | None
    k_norm: LayerNorm | None
    feature_draw: FeatureDraw | None

    def __init__(
        self,
        width: int,
        heads: int,
        modes: int,
        *,
        query_key_norm: bool = True,
        dropout: float = 0.0,
        combine: str = "product",
        pooling: str = "sum",
        share_modes: bool = False,
        attend_modes: Sequence[int] = (),
        mode_masks: Sequence[str] = (),
        rope_modes: Sequence[int] = (),
        rope_base: float = ROPE_BASE,
        kernel: str = "softmax",
        features: int = 0,
        feature_map: str = "softmax",
        feature_key: int | None = None,
        features_redraw_every: int = 0,
    ) -> None:
        super().__init__()
        checked_choice("KroneckerAttention", "combine", combine, ("product", "sum", "mean"))
        checked_choice("KroneckerAttention", "pooling", pooling, ("sum", "mean"))
        checked_choice("KroneckerAttention", "kernel", kernel, ("softmax", "linear"))
        checked_choice("KroneckerAttention", "feature_map", feature_map, ("softmax", "regularised"))
        for name, number, smallest in (("modes", modes, 1), ("features", features, 0)):
            if number < smallest:
                raise ValueError(f"KroneckerAttention: {name} must be at least {smallest}, got {number}")
        linear, other = (f'kernel = "{kernel}"' if kernel == name else "" for name in ("linear", "softmax"))
        refuse_idle(
            "KroneckerAttention",
            {"dropout": dropout, "mode_masks": mode_masks, "features": features, "feature_map": feature_map, "feature_key": feature_key,
             "features_redraw_every": features_redraw_every},
            {"dropout": 0.0, "mode_masks": (), "features": 0, "feature_map": "softmax", "feature_key": None, "features_redraw_every": 0},
            {"dropout": linear and f"{linear}, which never forms the weights", "mode_masks": linear, "features": other, "feature_map": other,
             "feature_key": other, "features_redraw_every": other or ("feature_key = None" if feature_key is None else "")})  # fmt: skip
        refuse_idle_base("KroneckerAttention", rope_base, rope_modes)
        self.mode_masks, self.rope_base, head = list(mode_masks), rope_base, width_of_head("KroneckerAttention", width, heads)
        if len(self.mode_masks) not in (0, modes):
            raise ValueError(f"KroneckerAttention: mode_masks must be empty or one for each of the {modes} modes, got {len(self.mode_masks)}")
        for name in self.mode_masks:
            mode_mask(name, 1, torch.device("cpu"))
        self.heads, self.modes, self.combine, self.pooling, self.share_modes = heads, modes, combine, pooling, share_modes
        self.attend_modes = checked_modes("KroneckerAttention", "attend_modes", attend_modes, modes)
        self.rope_modes = checked_modes("KroneckerAttention", "rope_modes", rope_modes, modes)
        self.kernel, self.features, self.feature_map = kernel, features, feature_map
        projected = width if share_modes else modes * width
        self.query_proj = Linear(width, projected)
        self.key_proj = Linear(width, projected)
        self.value_proj = Linear(width, width)
        self.out_proj = Linear(width, width)
        self.q_norm = LayerNorm(head) if query_key_norm else None
        self.k_norm = LayerNorm(head) if query_key_norm else None
        self.dropout = Dropout(dropout)
        self.feature_draw = None if feature_key is None else FeatureDraw(feature_key, features_redraw_every)

    def extra_repr(self) -> str:
        kernel = f"{self.kernel}, features={self.features}, {self.feature_map}" if self.kernel == "linear" else self.kernel
        return f"heads={self.heads}, modes={self.modes}, combine={self.combine}, pooling={self.pooling}, kernel={kernel}"

    def _feature_seed(self) -> int:
        return self.dropout.site if self.feature_draw is None else self.feature_draw.seed()

    def _weights(self, like: Tensor) -> AttentionWeights:
        query, key, norms = self.query_proj, self.key_proj, (self.q_norm, self.k_norm)
        q_norm, k_norm = ((None, None) if norm is None else (norm.weight, norm.bias) for norm in norms)
        return (query.weight.to(like.dtype), cast_like(query.bias, like), key.weight.to(like.dtype),
                cast_like(key.bias, like), *q_norm, *k_norm)  # fmt: skip

    def _masks(self, x: Tensor) -> list[Tensor | None]:
        return [mode_mask(name, size, x.device) for name, size in zip(self.mode_masks, x.shape[1:-1], strict=False)]

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x [B, N_1 … N_k, D] -> as x."""
        require_axes("KroneckerAttention", x, self.modes)
        x = valid_tokens("KroneckerAttention", x, mask)
        seed, step, site = self.dropout.weights_key()
        mixed = ops.kronecker_attention(
            x, self.value_proj(x), *self._weights(x), heads=self.heads, combine=self.combine, pooling=self.pooling,
            share_modes=self.share_modes, attend_modes=self.attend_modes, rope_modes=self.rope_modes,
            rope_base=self.rope_base, kernel=self.kernel, features=self.features, feature_map=self.feature_map,
            feature_seed=self._feature_seed(), dropout=self.dropout.active(), seed=seed, step=step, site=site,
            token_mask=mask, mode_masks=self._masks(x))  # fmt: skip
        return self.out_proj(mixed)

    def factors(self, x: Tensor, mask: Tensor | None = None) -> list[Tensor]:
        """Attention matrices S_i [B, heads, N_i, N_i] of the attended modes, before dropout."""
        require_axes("KroneckerAttention", x, self.modes)
        x = valid_tokens("KroneckerAttention", x, mask)
        return ops.mode_attention(
            x, *self._weights(x), heads=self.heads, pooling=self.pooling, share_modes=self.share_modes,
            attend_modes=self.attend_modes, rope_modes=self.rope_modes, rope_base=self.rope_base, kernel=self.kernel,
            features=self.features, feature_map=self.feature_map, feature_seed=self._feature_seed(),
            token_mask=mask, mode_masks=self._masks(x))  # fmt: skip


class TokenAttention(TensorModule):
    """Softmax attention between tokens. `scope`: all tokens ("all"), those of the same time patch ("spatial") or of the same
    series ("temporal"); the last mode is time. `causal`: a causal mask in row-major order, for "all" without rotary embedding.
    query_proj, key_proj, value_proj, out_proj [D, D], q_norm, k_norm.

    Parameters
    ----------
    width
        D, channels of a token.
    heads
        Number of heads, a divisor of the width.
    scope
        "all", "spatial" or "temporal".
    query_key_norm
        Whether queries and keys have a LayerNorm.
    dropout
        Dropout probability of the attention weights.
    rope_modes, rope_base
        Modes with a rotary embedding, and its base.
    causal
        Whether a token attends only to itself and earlier ones.

    Raises
    ------
    ValueError
        For another scope.

    Examples
    --------
    >>> TokenAttention(16, 4)(torch.ones(1, 3, 5, 16)).shape
    torch.Size([1, 3, 5, 16])
    """

    q_norm: LayerNorm | None
    k_norm: LayerNorm | None

    @old_keywords({"reach": "scope"})
    def __init__(
        self,
        width: int,
        heads: int,
        *,
        scope: str = "all",
        query_key_norm: bool = True,
        dropout: float = 0.0,
        rope_modes: Sequence[int] = (),
        rope_base: float = ROPE_BASE,
        causal: bool = False,
    ) -> None:
        super().__init__()
        if causal and (scope != "all" or rope_modes):
            raise ValueError("TokenAttention: causal attention needs scope \"all\" and no rotary embedding")
        refuse_idle_base("TokenAttention", rope_base, rope_modes)
        self.causal, self.scope = causal, checked_choice("TokenAttention", "scope", scope, ("all", "spatial", "temporal"))
        self.heads, self.rope_modes, self.rope_base, head = heads, list(rope_modes), rope_base, width_of_head("TokenAttention", width, heads)
        self.query_proj = Linear(width, width)
        self.key_proj = Linear(width, width)
        self.value_proj = Linear(width, width)
        self.out_proj = Linear(width, width)
        self.q_norm = LayerNorm(head) if query_key_norm else None
        self.k_norm = LayerNorm(head) if query_key_norm else None
        self.dropout = Dropout(dropout)

    def extra_repr(self) -> str:
        return f"heads={self.heads}, scope={self.scope}, causal={self.causal}"

    def _placed(self, projected: Tensor, norm: LayerNorm | None) -> Tensor:
        if norm is not None:
            projected = norm_heads(projected, self.heads, norm)
        return rotate_heads(projected, self.heads, self.rope_modes, self.rope_base)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x [B, N_1 … N_k, D] -> as x."""
        x = valid_tokens("TokenAttention", x, mask)
        q = self._placed(self.query_proj(x), self.q_norm)
        k = self._placed(self.key_proj(x), self.k_norm)
        v = self.value_proj(x)
        drop = (self.dropout.active(), *self.dropout.weights_key())
        if self.scope == "all":
            return self.out_proj(ops.full_attention(q, k, v, self.heads, mask, *drop, self.causal))
        # The series modes are merged: [B, N, P, D].
        folded = (x.shape[0], math.prod(x.shape[1:-2]), x.shape[-2], x.shape[-1])
        folded_mask = None if mask is None else mask.reshape(folded[:-1])
        out = ops.axis_attention(q.reshape(folded), k.reshape(folded), v.reshape(folded), self.heads,
                                 0 if self.scope == "spatial" else 1, folded_mask, None, *drop)  # fmt: skip
        return self.out_proj(out.view(x.shape))


class DividedAttention(TensorModule):
    """Divided attention: attention along one mode after another, each a residual step; the result is the sum of the updates.
    After TimeSformer (Bertasius et al., ICML 2021), whose block has norms between the steps, output projections and one step
    for all of space. query_proj, key_proj, value_proj [k·D, D], mode-major; q_norm, k_norm.

    Parameters
    ----------
    width
        D, channels of a token.
    heads
        Number of heads, a divisor of the width.
    modes
        k, the number of modes.
    query_key_norm
        Whether queries and keys have a LayerNorm.
    dropout
        Dropout probability of the attention weights.
    rope_modes, rope_base
        Modes with a rotary embedding, and its base.

    Examples
    --------
    >>> DividedAttention(16, 4, modes=2)(torch.ones(1, 3, 5, 16)).shape
    torch.Size([1, 3, 5, 16])
    """

    q_norm: LayerNorm | None
    k_norm: LayerNorm | None

    def __init__(
        self,
        width: int,
        heads: int,
        modes: int,
        *,
        query_key_norm: bool = True,
        dropout: float = 0.0,
        rope_modes: Sequence[int] = (),
        rope_base: float = ROPE_BASE,
    ) -> None:
        super().__init__()
        self.heads, self.modes, self.rope_base, head = heads, modes, rope_base, width_of_head("DividedAttention", width, heads)
        self.rope_modes = checked_modes("DividedAttention", "rope_modes", rope_modes, modes)
        refuse_idle_base("DividedAttention", rope_base, rope_modes)
        self.query_proj = Linear(width, modes * width)
        self.key_proj = Linear(width, modes * width)
        self.value_proj = Linear(width, modes * width)
        self.q_norm = LayerNorm(head) if query_key_norm else None
        self.k_norm = LayerNorm(head) if query_key_norm else None
        self.dropout = nn.ModuleList(Dropout(dropout) for _ in range(modes))

    def extra_repr(self) -> str:
        return f"heads={self.heads}, modes={self.modes}"

    def _placed(self, x: Tensor, linear: Linear, norm: LayerNorm | None, mode: int) -> Tensor:
        projected = self._projected(x, linear, mode)
        if norm is not None:
            projected = norm_heads(projected, self.heads, norm)
        # A query and its keys differ in their position along this mode only.
        return rotate_heads(projected, self.heads, [mode], self.rope_base) if mode in self.rope_modes else projected

    def _projected(self, x: Tensor, linear: Linear, mode: int) -> Tensor:
        rows = slice(mode * x.shape[-1], (mode + 1) * x.shape[-1])
        return ops.linear(x, linear.weight[rows], None if linear.bias is None else linear.bias[rows])

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x [B, N_1 … N_k, D] -> as x."""
        require_axes("DividedAttention", x, self.modes)
        x, total = valid_tokens("DividedAttention", x, mask), None
        for mode, dropout in enumerate(self.dropout):
            assert isinstance(dropout, Dropout)
            here = x if total is None else x + total
            added = ops.axis_attention(
                self._placed(here, self.query_proj, self.q_norm, mode),
                self._placed(here, self.key_proj, self.k_norm, mode), self._projected(here, self.value_proj, mode),
                self.heads, mode, mask, None, dropout.active(), *dropout.weights_key())  # fmt: skip
            total = added if total is None else total + added
        return torch.zeros_like(x) if total is None else total
